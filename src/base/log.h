/* Messages for the user: always on stderr, never on stdout. Results are printed by `report` and `cli` only. */
#ifndef YS_BASE_LOG_H
#define YS_BASE_LOG_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

enum ys_log_level { YS_LOG_ERROR, YS_LOG_WARN, YS_LOG_INFO, YS_LOG_DEBUG };

/** Whether `fd` is a terminal that colours and moves a cursor; TERM=dumb, or none, says that it does not. */
bool ys_log_is_terminal(int fd);
/** Messages above `level` are dropped; the default is YS_LOG_INFO, `--quiet` sets YS_LOG_WARN. */
void ys_log_set_level(enum ys_log_level level);

void ys_log_error(const char *format, ...) YS_PRINTF(1, 2); /* "yardstick: error: ..." */
void ys_log_warn(const char *format, ...) YS_PRINTF(1, 2);  /* "yardstick: warning: ..." */
void ys_log_info(const char *format, ...) YS_PRINTF(1, 2);  /* the text alone */
void ys_log_debug(const char *format, ...) YS_PRINTF(1, 2);

/** Replaces the progress line (one line, rewritten in place). Shown only when stderr is a terminal and the level is at
 * least YS_LOG_INFO; any other message first clears it. NULL clears it. */
void ys_progress(const char *format, ...) YS_PRINTF(1, 2);
void ys_progress_clear(void);
/** Shows none from here on. */
void ys_progress_off(void);
/** Lines, each with its line end, that stand above the progress line wherever it is shown, until others take their
 * place; "": none. At most as many as ys_progress_room() said, or they are cut; each is cut to the terminal's width. */
void ys_progress_above(const char *lines);
/** How many lines there is room for above the progress line: 0 where nothing is shown. */
size_t ys_progress_room(void);
/** Where stderr is no terminal the progress line is said as a message of YS_LOG_INFO, each time that `seconds` have
 * passed since the last one (or since the first call of ys_progress()); 30 unless it is set. */
void ys_progress_every(double seconds);

#endif
