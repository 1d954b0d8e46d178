/* Messages for the user: always on stderr, never on stdout. Results are printed by `report` and `cli` only. */
#ifndef YS_BASE_LOG_H
#define YS_BASE_LOG_H

#include "base/status.h"
#include <stdbool.h>

enum ys_log_level { YS_LOG_ERROR, YS_LOG_WARN, YS_LOG_INFO, YS_LOG_DEBUG };

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
/** From here on, where stderr is no terminal, what ys_progress() says is a line of its own, one in `every_s` seconds at
 * most and the first after as long; 0: none, as at the beginning. For work of which nobody expects that it takes
 * minutes.
 */
void ys_progress_in_lines(double every_s);

#endif
