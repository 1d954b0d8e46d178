#include "protocol/channel.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/stop.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 1 << 16, QUOTED_BYTES = 60 };

static const uint64_t SEND_LIMIT_NS = 60ULL * 1000000000ULL;

struct ys_channel {
    int fd, out_fd;
    bool is_socket; /* both are one */
    bool eof, too_long, ignores_stop;
    char *data; /* data[begin .. end) has arrived and is not yet handed out */
    size_t capacity, begin, end;
    size_t scanned; /* data[begin .. scanned) holds no newline */
};

ys_status ys_channel_open(int fd, struct ys_channel **channel)
{
    YS_TRY(ys_channel_open_pair(fd, fd, channel));
    (*channel)->is_socket = true;
    return YS_OK;
}

ys_status ys_channel_open_pair(int in_fd, int out_fd, struct ys_channel **channel)
{
    struct ys_channel *made = ys_alloc(1, sizeof *made);
    if (!made)
        return ys_out_of_memory();
    *made = (struct ys_channel){
        .fd = in_fd, .out_fd = out_fd, .capacity = FIRST_CAPACITY, .data = ys_alloc(FIRST_CAPACITY, 1)};
    if (!made->data) {
        ys_free(made);
        return ys_out_of_memory();
    }
    *channel = made;
    return YS_OK;
}

void ys_channel_close(struct ys_channel *channel)
{
    if (!channel)
        return;
    ys_free(channel->data);
    ys_free(channel);
}

void ys_channel_ignore_stop(struct ys_channel *channel)
{
    channel->ignores_stop = true;
}

int ys_channel_fd(const struct ys_channel *channel)
{
    return channel->fd;
}

bool ys_channel_eof(const struct ys_channel *channel)
{
    return channel->eof;
}

/* Waits until it is ready for `events`, the user asks to stop, or the deadline passes (YS_ETIMEOUT, no
 * message). */
static ys_status wait_ready(const struct ys_channel *channel, short events, uint64_t deadline_ns, bool *timed_out)
{
    *timed_out = false;
    for (;;) {
        uint64_t now_ns = ys_time_ns(), left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
        struct timespec left = {.tv_sec = (time_t)(left_ns / 1000000000U), .tv_nsec = (long)(left_ns % 1000000000U)};
        struct pollfd fds[2] = {{.fd = events == POLLOUT ? channel->out_fd : channel->fd, .events = events},
                                {.fd = channel->ignores_stop ? -1 : ys_stop_fd(), .events = POLLIN}};
        int ready = ppoll(fds, 2, deadline_ns == UINT64_MAX ? NULL : &left, NULL); /* a negative fd is passed over */
        if (ready < 0 && errno != EINTR)
            return ys_fail(YS_EIO, "cannot wait for the other side of the protocol: %s", strerror(errno));
        if (ready > 0 && fds[1].revents)
            return ys_stopped();
        if (ready > 0)
            return YS_OK;
        if (ready == 0) {
            *timed_out = true;
            return YS_OK;
        }
    }
}

ys_status ys_channel_push(struct ys_channel *channel, const char **line, size_t *size)
{
    if (*size > YS_CHANNEL_LINE_LIMIT + 1)
        return ys_fail(YS_EPROTOCOL,
                       "a message of %zu bytes is longer than the %zu that the protocol allows; large arrays "
                       "travel as files",
                       *size - 1, YS_CHANNEL_LINE_LIMIT);
    while (*size > 0) {
        ssize_t sent = channel->is_socket ? send(channel->fd, *line, *size, MSG_NOSIGNAL | MSG_DONTWAIT)
                                          : write(channel->out_fd, *line, *size);
        if (sent >= 0) {
            *line += sent;
            *size -= (size_t)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return YS_OK;
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return ys_fail(YS_EIO, "the other side of the protocol has closed the connection");
        } else if (errno != EINTR) {
            return ys_fail(YS_EIO, "cannot send a message: %s", strerror(errno));
        }
    }
    return YS_OK;
}

ys_status ys_channel_send_line(struct ys_channel *channel, const char *line, size_t size)
{
    YS_ASSERT(size > 0 && line[size - 1] == '\n');
    for (;;) {
        bool timed_out;
        YS_TRY(ys_channel_push(channel, &line, &size));
        if (size == 0)
            return YS_OK;
        YS_TRY(wait_ready(channel, POLLOUT, ys_time_ns() + SEND_LIMIT_NS, &timed_out));
        if (timed_out)
            return ys_fail(YS_ETIMEOUT, "the other side of the protocol took no data for a minute");
    }
}

ys_status ys_channel_send(struct ys_channel *channel, const ys_json *message)
{
    char *text = ys_json_dump(message, YS_JSON_COMPACT);
    if (!text)
        return ys_out_of_memory();
    size_t size = strlen(text);
    text[size] = '\n'; /* the terminating 0 gives its place: send_line goes by the size */
    ys_status status = ys_channel_send_line(channel, text, size + 1);
    ys_free(text);
    return status;
}

/* Makes room for at least one more byte: moves what is left to the front, then doubles. */
static ys_status make_room(struct ys_channel *channel)
{
    if (channel->begin > 0) {
        memmove(channel->data, channel->data + channel->begin, channel->end - channel->begin);
        channel->end -= channel->begin;
        channel->scanned -= channel->begin;
        channel->begin = 0;
    }
    if (channel->end < channel->capacity)
        return YS_OK;
    size_t limit = YS_CHANNEL_LINE_LIMIT + 1, wanted = channel->capacity * 2 < limit ? channel->capacity * 2 : limit;
    if (channel->capacity == limit) {
        channel->too_long = true;
        return YS_OK;
    }
    char *larger = ys_realloc(channel->data, wanted, 1);
    if (!larger)
        return ys_out_of_memory();
    channel->data = larger;
    channel->capacity = wanted;
    return YS_OK;
}

/* Reads what has arrived, waiting until the deadline for the first byte. */
static ys_status fill(struct ys_channel *channel, uint64_t deadline_ns)
{
    if (channel->end == channel->capacity || channel->begin == channel->end)
        YS_TRY(make_room(channel));
    if (channel->too_long)
        return YS_OK;
    bool timed_out;
    YS_TRY(wait_ready(channel, POLLIN, deadline_ns, &timed_out));
    if (timed_out)
        return ys_fail(YS_ETIMEOUT, "the other side of the protocol sent no message in time");
    char *place = channel->data + channel->end;
    const size_t room = channel->capacity - channel->end;
    ssize_t got = channel->is_socket ? recv(channel->fd, place, room, MSG_DONTWAIT) : read(channel->fd, place, room);
    if (got > 0)
        channel->end += (size_t)got;
    else if (got == 0 || errno == ECONNRESET)
        channel->eof = true;
    else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        return ys_fail(YS_EIO, "cannot receive a message: %s", strerror(errno));
    return YS_OK;
}

/* Rubbish may hold anything: the first bytes, with what is not plain ASCII shown as '?'. */
static const char *quoted(const char *line, size_t size, char text[QUOTED_BYTES + 4])
{
    size_t shown = size < QUOTED_BYTES ? size : QUOTED_BYTES;
    for (size_t i = 0; i < shown; i++)
        text[i] = line[i] >= 0x20 && line[i] < 0x7f ? line[i] : '?';
    strcpy(text + shown, shown < size ? "..." : "");
    return text;
}

static ys_status parse_line(const char *line, size_t size, ys_json **message)
{
    char start[QUOTED_BYTES + 4];
    ys_json *value = NULL;
    ys_status status = ys_json_parse(line, size, "message", &value);
    if (status == YS_ENOMEM)
        return status;
    if (status != YS_OK)
        return ys_fail(YS_EPROTOCOL, "a line that is not JSON: \"%s\"", quoted(line, size, start));
    if (ys_json_type_of(value) != YS_JSON_OBJECT || !ys_json_get_text(value, "type", NULL)) {
        ys_json_free(value);
        return ys_fail(YS_EPROTOCOL, "a line that is not a JSON object with a text member \"type\": \"%s\"",
                       quoted(line, size, start));
    }
    *message = value;
    return YS_OK;
}

ys_status ys_channel_receive(struct ys_channel *channel, uint64_t deadline_ns, ys_json **message)
{
    for (;;) {
        char *newline = memchr(channel->data + channel->scanned, '\n', channel->end - channel->scanned);
        if (newline) {
            const char *line = channel->data + channel->begin;
            channel->begin = channel->scanned = (size_t)(newline + 1 - channel->data);
            return parse_line(line, (size_t)(newline - line), message);
        }
        channel->scanned = channel->end;
        if (channel->too_long)
            return ys_fail(YS_EPROTOCOL, "a line longer than the %zu bytes that the protocol allows",
                           YS_CHANNEL_LINE_LIMIT);
        if (channel->eof && channel->end > channel->begin)
            return ys_fail(YS_EPROTOCOL, "the connection was closed in the middle of a message");
        if (channel->eof)
            return ys_fail(YS_EPROTOCOL, "the connection was closed");
        YS_TRY(fill(channel, deadline_ns));
    }
}
