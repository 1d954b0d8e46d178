/* Bytes that processes read and wrote, by the kernel's count for those that were waited for: what their keeper's
 * /proc/PID/io grew by. Asked for are those of system calls, whoever had the pages, pipes and terminals included; of
 * the disk those that had to be fetched from storage, or were made dirty to be sent there. */
#include "probe/observed/observation.h"
#include "probe/procfs.h"
#include <stdio.h>

struct process_io {
    bool is_known;
    int64_t read_bytes, written_bytes, disk_read_bytes, disk_written_bytes;
};

static struct process_io read_io(pid_t pid)
{
    char path[64], text[512];
    struct process_io io = {0};
    snprintf(path, sizeof path, "/proc/%d/io", pid);
    io.is_known = pid > 0 && ys_procfs_read("", path, text, sizeof text) > 0 &&
                  ys_procfs_field(text, "rchar", &io.read_bytes) && ys_procfs_field(text, "wchar", &io.written_bytes) &&
                  ys_procfs_field(text, "read_bytes", &io.disk_read_bytes) &&
                  ys_procfs_field(text, "write_bytes", &io.disk_written_bytes);
    return io;
}

static void begin_io(void *state, const struct ys_probed *session)
{
    *(struct process_io *)state = read_io(session->keeper);
}

static void end_io(void *state, const struct ys_probed *session, struct ys_observation *found)
{
    const struct process_io *before = state, after = read_io(session->keeper);
    if (!before->is_known || !after.is_known)
        return;
    found->read_bytes = after.read_bytes - before->read_bytes;
    found->written_bytes = after.written_bytes - before->written_bytes;
    found->disk_read_bytes = after.disk_read_bytes - before->disk_read_bytes;
    found->disk_written_bytes = after.disk_written_bytes - before->disk_written_bytes;
}

const struct ys_probe ys_process_io_probe = {.size_bytes = sizeof(struct process_io), .begin = begin_io, .end = end_io};
