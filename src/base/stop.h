/* The user's wish to stop. One flag and one descriptor for the whole program: SIGINT, SIGTERM and SIGHUP set them. */
#ifndef YS_BASE_STOP_H
#define YS_BASE_STOP_H

#include "base/status.h"
#include <stdbool.h>

/** Installs the handlers (SIGPIPE and SIGXFSZ are ignored from then on). Further signals do not kill: what was measured
 * is kept. A signal that was ignored when the program began, as by nohup, stays so. */
ys_status ys_stop_install(void) YS_MUST_CHECK;
/** From here on there is nothing to keep: the signals end the program at once, as they end any other. So does one that
 * came before, unless it is `heeded`, the one that the caller has ended its work for (0: none). */
void ys_stop_release(int heeded);
/** In a copy of the process that fork() made: from here on signals that come to the one are no wish of the other's.
 * False with errno. */
bool ys_stop_renew(void);
/** 0, or the signal that asked to stop. */
int ys_stop_signal(void);
/** Whether another one came, a second or more after the first: what is still waited for may be given up. (Those that
 * come at once are one wish: timeout, say, sends each signal twice.) It interrupts what waits in poll(). */
bool ys_stop_insisted(void);
/** A descriptor that polls readable once a signal came; -1 before install. Never read from it. */
int ys_stop_fd(void);
/** How often this program was told to go on (SIGCONT): it may have been stopped before. 0 before install. */
int ys_stop_continued(void);
/** The failure that every long operation returns when ys_stop_signal() is set. */
ys_status ys_stopped(void);

#endif
