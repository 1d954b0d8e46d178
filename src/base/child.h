/* Helper programs that are not being measured: pip, a Python that tells its version, the evaluator. Measured programs
 * are started by `run` alone. */
#ifndef YS_BASE_CHILD_H
#define YS_BASE_CHILD_H

#include "base/buf.h"
#include "base/status.h"
#include <stdbool.h>

struct ys_child_options {
    const char *const *env; /* NULL-terminated "NAME=value" put over the parent's own; may be NULL */
    const char *folder;     /* working folder; NULL for the parent's */
    double timeout_s;       /* 0 for none; after it everything is killed and YS_ETIMEOUT returned */
    bool merge_stderr;      /* stderr goes where stdout goes; otherwise to the parent's stderr */
    /** Called with every complete line as it arrives (without the newline); may be NULL. */
    void (*on_line)(void *context, const char *line);
    void (*on_wait)(void *context); /* called after each second in which it said nothing; may be NULL */
    void *context;
};

/** Runs `argv` (argv[0] searched on PATH) with stdin from /dev/null in a session of its own, and waits.
 * `output` (may be NULL) receives stdout, at most 16 MiB. `exit_code` is 0..255, or 128 + signal.
 * YS_OK whenever the program ran, whatever its exit code. YS_ENOTFOUND when there is no such program or
 * folder; YS_EINTR when ys_stop_signal() is set or becomes so.
 * Between yardstick and the program stands a keeper (base/keep.h): in every case, also when yardstick is killed, all
 * that the program has started is killed too, wherever it has gone; the locks that yardstick holds (base/lock.h) stay
 * taken until then. */
ys_status ys_child_run(const char *const *argv, const struct ys_child_options *options, struct ys_buf *output,
                       int *exit_code) YS_MUST_CHECK;

#endif
