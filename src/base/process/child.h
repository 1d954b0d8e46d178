/* Helper programs that are not being measured: pip, a Python that tells its version, the evaluator. Measured programs
 * are started by `run` alone. */
#ifndef YS_BASE_PROCESS_CHILD_H
#define YS_BASE_PROCESS_CHILD_H

#include "base/buf.h"
#include "base/status.h"
#include <stdbool.h>
#include <stdio.h>

struct ys_child_options {
    const char *const *env; /* NULL-terminated "NAME=value" put over the parent's own; may be NULL */
    const char *folder;     /* working folder; NULL for the parent's */
    double timeout_s;       /* 0 for none; after it everything is killed and YS_ETIMEOUT returned */
    bool merge_stderr;      /* stderr goes where `output` comes from; otherwise to the parent's stderr */
    bool
        is_own; /* a program of yardstick's own: of the parent's variables it gets none that steer libraries
                   (base/process/steering.h), and what it answers comes by a descriptor of its own (ys_child_answers()),
                   so that libraries may print what they like; its stdout is the parent's stderr */
    /** Called with every complete line as it arrives (without the newline); may be NULL. */
    void (*on_line)(void *context, const char *line);
    void (*on_wait)(void *context); /* called after each second in which it said nothing; may be NULL */
    void *context;
};

/** Runs `argv` (argv[0] searched on PATH) with stdin from /dev/null in a session of its own, and waits.
 * `output` (may be NULL) receives stdout, or of an own program what it answers, at most 16 MiB. `exit_code` is 0..255,
 * or 128 + signal. YS_OK whenever the program ran, whatever its exit code. YS_ENOTFOUND when there is no such program
 * or folder; YS_EINTR when ys_stop_signal() is set or becomes so. Between yardstick and the program stands a keeper
 * (base/process/keeper_duties.h): in every case, also when yardstick is killed, all that the program has started is
 * killed too, wherever it has gone; the locks that yardstick holds (base/files/lock.h) stay taken until then. */
ys_status ys_child_run(const char *const *argv, const struct ys_child_options *options, struct ys_buf *output,
                       int *exit_code) YS_MUST_CHECK;

/** The last line of what a program said: its answer, or where it failed why. Cuts newlines off the end of `text`. */
const char *ys_child_last_line(char *text);

/** In an own program: where its answers go. A descriptor that yardstick gave it, or stdout where a person runs it. */
FILE *ys_child_answers(void);

#endif
