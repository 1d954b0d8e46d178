/* Work that goes on beside what yardstick does itself: in a copy of the process, which says at its end what it found.
 * It ends when yardstick does, and what it starts with it (base/process/keeper_duties.h). */
#ifndef YS_BASE_PROCESS_FORKED_TASK_H
#define YS_BASE_PROCESS_FORKED_TASK_H

#include "base/buf.h"
#include "base/status.h"
#include <stdint.h>
#include <sys/types.h>

/** Called in the copy, which sees everything as it was when it was made and changes nothing that yardstick sees but
 * files. What it puts into `told` is handed over. It prints no progress and leaves the store alone. */
typedef ys_status ys_aside_work(void *context, struct ys_buf *told);

struct ys_aside {
    pid_t pid; /* 0: none */
    int fd;    /* our end of a pipe from it */
};
#define YS_ASIDE_NONE ((struct ys_aside){.fd = -1})

/** Begins `work`. The calling process has one thread. YS_EIO: no process can be made. */
ys_status ys_aside_begin(ys_aside_work *work, void *context, struct ys_aside *aside) YS_MUST_CHECK;
/** Waits until it says something or ends, a wish to stop comes, or that time (ys_time_ns()) is reached. */
void ys_aside_wait(const struct ys_aside *aside, uint64_t until_ns);
/** Waits for its end, which a wish to stop (base/stop.h) that came to yardstick alone is passed on to, and appends what
 * it told to `told`. The result and its message are those of `work`; YS_EINTERNAL: it was killed. One that is
 * YS_ASIDE_NONE is fine. */
ys_status ys_aside_end(struct ys_aside *aside, struct ys_buf *told) YS_MUST_CHECK;

#endif
