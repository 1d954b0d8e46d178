#include "base/process/forked_task.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the copy says first; then come its message and what it tells. */
struct heading {
    int32_t status; /* ys_status */
    uint32_t message_bytes;
};

static bool send_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno != EINTR)
            return false;
        bytes += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

static _Noreturn void be_the_copy(ys_aside_work *work, void *context, pid_t origin, int fd)
{
    struct ys_buf told = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != origin || !ys_stop_renew()) /* it ended before that took effect */
        _exit(1);
    ys_progress_off();
    ys_status status = work(context, &told);
    const char *message = status == YS_OK ? "" : ys_error();
    const struct heading heading = {status, (uint32_t)strlen(message)};
    bool sent = send_all(fd, (const char *)&heading, sizeof heading) && send_all(fd, message, heading.message_bytes) &&
                send_all(fd, ys_buf_text(&told), told.size);
    _exit(sent ? 0 : 1); /* nothing is closed: what is open is the other's, a database among it */
}

ys_status ys_aside_begin(ys_aside_work *work, void *context, struct ys_aside *aside)
{
    int ends[2];
    const pid_t origin = getpid();
    *aside = YS_ASIDE_NONE;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return ys_fail(YS_EIO, "cannot make a pipe: %s", strerror(errno));
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        be_the_copy(work, context, origin, ends[1]);
    }
    const int error = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return ys_fail(YS_EIO, "cannot make another process: %s", strerror(error));
    }
    *aside = (struct ys_aside){.pid = pid, .fd = ends[0]};
    return YS_OK;
}

void ys_aside_wait(const struct ys_aside *aside, uint64_t until_ns)
{
    struct pollfd sources[] = {{.fd = aside->fd, .events = POLLIN}, {.fd = ys_stop_fd(), .events = POLLIN}};
    for (uint64_t now_ns; !ys_stop_signal() && (now_ns = ys_time_ns()) < until_ns;)
        if (poll(sources, 2, (int)((until_ns - now_ns) / 1000000) + 1) > 0 && sources[0].revents)
            return;
}

/* Everything that it says, to its end. */
static ys_status hear(const struct ys_aside *aside, struct ys_buf *said)
{
    bool has_told_to_stop = false;
    for (;;) {
        char bytes[4096];
        struct pollfd sources[] = {{.fd = aside->fd, .events = POLLIN},
                                   {.fd = has_told_to_stop ? -1 : ys_stop_fd(), .events = POLLIN}};
        if (poll(sources, 2, -1) < 0 && errno != EINTR)
            return ys_fail(YS_EIO, "cannot wait: %s", strerror(errno));
        if (ys_stop_signal() && !has_told_to_stop) {
            kill(aside->pid, ys_stop_signal()); /* nobody has waited for it: the number is its own */
            has_told_to_stop = true;
        }
        if (!sources[0].revents)
            continue;
        ssize_t got = read(aside->fd, bytes, sizeof bytes);
        if (got == 0)
            return YS_OK;
        if (got > 0)
            YS_TRY(ys_buf_append(said, bytes, (size_t)got));
        else if (errno != EINTR)
            return ys_fail(YS_EIO, "cannot read from a pipe: %s", strerror(errno));
    }
}

static ys_status take(const struct ys_buf *said, struct ys_buf *told)
{
    struct heading heading;
    if (said->size < sizeof heading)
        return ys_fail(YS_EINTERNAL, "a process of yardstick's own was ended before it had said what it found");
    memcpy(&heading, said->data, sizeof heading);
    const char *rest = said->data + sizeof heading;
    const size_t rest_bytes = said->size - sizeof heading;
    if (rest_bytes < heading.message_bytes)
        return ys_fail(YS_EINTERNAL, "a process of yardstick's own was ended while it said what it found");
    if (heading.status != YS_OK)
        return ys_fail((ys_status)heading.status, "%.*s", (int)heading.message_bytes, rest);
    return ys_buf_append(told, rest + heading.message_bytes, rest_bytes - heading.message_bytes);
}

ys_status ys_aside_end(struct ys_aside *aside, struct ys_buf *told)
{
    struct ys_buf said = {0};
    int state;
    if (aside->pid <= 0)
        return YS_OK;
    ys_status status = hear(aside, &said);
    if (status != YS_OK)
        kill(aside->pid, SIGKILL);
    close(aside->fd);
    while (waitpid(aside->pid, &state, 0) < 0 && errno == EINTR)
        ;
    *aside = YS_ASIDE_NONE;
    if (WIFEXITED(state) && WEXITSTATUS(state) == YS_EXIT_MEMORY)
        status = ys_out_of_memory();
    if (status == YS_OK)
        status = take(&said, told);
    ys_buf_free(&said);
    return status;
}
