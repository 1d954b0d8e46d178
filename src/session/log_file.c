#include "session/log_file.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK_BYTES = 65536, BLOCKS_AT_ONCE = 16 };

ys_status ys_log_file_open(struct ys_log_file *log, int pipe_fd, const char *path, size_t limit)
{
    int file_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_fd < 0)
        return ys_fail(YS_EIO, "cannot write %s: %s", path, strerror(errno));
    *log = (struct ys_log_file){.pipe_fd = pipe_fd, .file_fd = file_fd, .limit = limit};
    return YS_OK;
}

static void remember(struct ys_log_file *log, const char *data, size_t size)
{
    if (size >= sizeof log->tail) {
        memcpy(log->tail, data + size - sizeof log->tail, sizeof log->tail);
        log->tail_size = sizeof log->tail;
        return;
    }
    size_t kept = log->tail_size;
    if (kept + size > sizeof log->tail) {
        size_t excess = kept + size - sizeof log->tail;
        memmove(log->tail, log->tail + excess, kept - excess);
        kept -= excess;
    }
    memcpy(log->tail + kept, data, size);
    log->tail_size = kept + size;
}

static void write_all(struct ys_log_file *log, const char *data, size_t size)
{
    while (size > 0 && !log->failure) {
        ssize_t written = write(log->file_fd, data, size);
        if (written > 0) {
            data += written;
            size -= (size_t)written;
            log->written += (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            log->failure = written == 0 ? EIO : errno;
        }
    }
    log->dropped += size;
}

static void keep(struct ys_log_file *log, const char *data, size_t size)
{
    size_t room = log->limit > log->written ? log->limit - log->written : 0;
    size_t part = size < room ? size : room;
    remember(log, data, size);
    log->dropped += size - part;
    write_all(log, data, part);
}

void ys_log_file_drain(struct ys_log_file *log)
{
    char block[BLOCK_BYTES];
    for (int i = 0; i < BLOCKS_AT_ONCE && log->pipe_fd >= 0; i++) {
        ssize_t got = read(log->pipe_fd, block, sizeof block);
        if (got > 0) {
            keep(log, block, (size_t)got);
        } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        } else {
            close(log->pipe_fd);
            log->pipe_fd = -1;
        }
    }
}

void ys_log_file_close(struct ys_log_file *log)
{
    if (log->pipe_fd >= 0)
        close(log->pipe_fd);
    if (log->dropped > 0 && !log->failure)
        (void)dprintf(log->file_fd, "\n[yardstick: %" PRIu64 " more bytes were printed and dropped]\n", log->dropped);
    close(log->file_fd);
    log->pipe_fd = log->file_fd = -1;
}

char *ys_log_file_tail(const struct ys_log_file *log)
{
    size_t begin = log->tail_size, lines = 0;
    while (begin > 0) {
        if (log->tail[begin - 1] == '\n' && begin < log->tail_size && ++lines == YS_LOG_TAIL_LINES)
            break;
        begin--;
    }
    size_t size = log->tail_size - begin;
    char *text = ys_alloc(size + 1, 1);
    for (size_t i = 0; i < size; i++)
        text[i] = log->tail[begin + i] ? log->tail[begin + i] : '?'; /* a 0 byte would end the text */
    return text;
}
