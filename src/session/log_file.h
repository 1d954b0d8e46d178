/* What an adapter prints: read as it comes, kept up to a limit, its end remembered. The adapter never waits for us
 * longer than until the next read, however much it prints. */
#ifndef YS_SESSION_LOG_FILE_H
#define YS_SESSION_LOG_FILE_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { YS_LOG_TAIL_BYTES = 8192, YS_LOG_TAIL_LINES = 20 };

struct ys_log_file {
    int pipe_fd; /* -1 once the last writer has closed */
    int file_fd;
    size_t limit, written;
    uint64_t dropped;
    int failure;                  /* errno with which writing the file failed; 0: it has not. Reading goes on */
    char tail[YS_LOG_TAIL_BYTES]; /* the last bytes that were printed, dropped ones included */
    size_t tail_size;
};

/** Takes over `pipe_fd`, which must not block. YS_EIO when `path` cannot be written: then pipe_fd stays the caller's.
 */
ys_status ys_log_file_open(struct ys_log_file *log, int pipe_fd, const char *path, size_t limit) YS_MUST_CHECK;
/** Takes what is there, at most about a MiB, without waiting and without allocating. */
void ys_log_file_drain(struct ys_log_file *log);
/** Notes in the file how much was dropped, and closes everything. */
void ys_log_file_close(struct ys_log_file *log);
/** The last lines, at most YS_LOG_TAIL_LINES. New string; NULL without memory. */
char *ys_log_file_tail(const struct ys_log_file *log);

#endif
