/* What shells complete, and the manual pages: made of the tables of verbs (cli/verb.h) and of keys (job/option.h). All
 * of these append to `out`. */
#ifndef YS_CLI_COMPLETION_H
#define YS_CLI_COMPLETION_H

#include "base/buf.h"

void ys_completion_bash(struct ys_buf *out);
void ys_completion_zsh(struct ys_buf *out);
void ys_completion_fish(struct ys_buf *out);
void ys_manual_program(struct ys_buf *out); /* yardstick(1), roff with the man macros */
void ys_manual_study(struct ys_buf *out);   /* yardstick-study(5) */

#endif
