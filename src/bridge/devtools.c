#include "bridge/devtools.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

struct ys_devtools {
    int in_fd, out_fd;
    const char *session;
    int64_t next;
    struct ys_buf come; /* what is not yet a whole message */
    ys_json *kept;      /* array of events, oldest first; owned */
    size_t first;       /* of them that was not yet taken */
};

ys_status ys_devtools_open(int in_fd, int out_fd, struct ys_devtools **pipe)
{
    *pipe = ys_alloc(1, sizeof **pipe);
    **pipe = (struct ys_devtools){.in_fd = in_fd, .out_fd = out_fd, .next = 1, .kept = ys_json_array()};
    return YS_OK;
}

void ys_devtools_close(struct ys_devtools *pipe)
{
    if (!pipe)
        return;
    close(pipe->in_fd);
    close(pipe->out_fd);
    ys_buf_free(&pipe->come);
    ys_json_free(pipe->kept);
    ys_free(pipe);
}

int ys_devtools_fd(const struct ys_devtools *pipe)
{
    return pipe->in_fd;
}

bool ys_devtools_has_event(const struct ys_devtools *pipe)
{
    return pipe->first < ys_json_size(pipe->kept) || (pipe->come.size && memchr(pipe->come.data, 0, pipe->come.size));
}

void ys_devtools_use(struct ys_devtools *pipe, const char *session)
{
    pipe->session = session;
}

static ys_status write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        const ssize_t done = write(fd, data, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return ys_fail(YS_EIO, "the browser takes no more: %s", strerror(errno));
        data += done;
        size -= (size_t)done;
    }
    return YS_OK;
}

ys_status ys_devtools_send(struct ys_devtools *pipe, const char *method, ys_json *params, int64_t *id)
{
    ys_json *command = ys_json_object();
    const int64_t number = pipe->next++;
    ys_status status = ys_json_set_int(command, "id", number);
    if (status == YS_OK)
        status = ys_json_set_string(command, "method", method);
    if (status == YS_OK && pipe->session)
        status = ys_json_set_string(command, "sessionId", pipe->session);
    if (params)
        status = status == YS_OK ? ys_json_set(command, "params", params) : (ys_json_free(params), status);
    char *text = status == YS_OK ? ys_json_dump(command, YS_JSON_COMPACT) : NULL;
    if (text)
        status = write_all(pipe->out_fd, text, strlen(text) + 1);
    ys_free(text);
    ys_json_free(command);
    if (id)
        *id = number;
    return status;
}

/* Reads what is there, waiting for it until the deadline. */
static ys_status read_more(struct ys_devtools *pipe, uint64_t deadline_ns)
{
    char part[65536];
    const uint64_t now_ns = ys_time_ns();
    const uint64_t left_ms = deadline_ns > now_ns ? (deadline_ns - now_ns) / 1000000 + 1 : 0;
    struct pollfd waits = {.fd = pipe->in_fd, .events = POLLIN};
    const int ready = poll(&waits, 1, left_ms > 1000000 ? 1000000 : (int)left_ms);
    if (ready < 0 && errno == EINTR)
        return YS_OK;
    if (ready <= 0)
        return ready == 0 && ys_time_ns() < deadline_ns ? YS_OK : ys_fail(YS_ETIMEOUT, "the browser says nothing");
    const ssize_t done = read(pipe->in_fd, part, sizeof part);
    if (done <= 0)
        return ys_fail(YS_EIO, "the browser has gone");
    if (pipe->come.size > YS_DEVTOOLS_LINE_LIMIT)
        return ys_fail(YS_EPROTOCOL, "the browser sends a message of more than %zu bytes", YS_DEVTOOLS_LINE_LIMIT);
    return ys_buf_append(&pipe->come, part, (size_t)done);
}

/* The next message as it comes. */
static ys_status take_message(struct ys_devtools *pipe, uint64_t deadline_ns, ys_json **message)
{
    size_t looked = 0;
    const char *end;
    while (!(end = pipe->come.size ? memchr(pipe->come.data + looked, 0, pipe->come.size - looked) : NULL)) {
        looked = pipe->come.size;
        YS_TRY(read_more(pipe, deadline_ns));
    }
    const size_t size = (size_t)(end - pipe->come.data), rest = pipe->come.size - size - 1;
    ys_status status = ys_json_parse(pipe->come.data, size, "what the browser says", message);
    memmove(pipe->come.data, end + 1, rest);
    pipe->come.size = rest;
    return status == YS_EFORMAT ? ys_fail(YS_EPROTOCOL, "%s", ys_error()) : status;
}

ys_status ys_devtools_event(struct ys_devtools *pipe, uint64_t deadline_ns, ys_json **event)
{
    if (pipe->first == ys_json_size(pipe->kept))
        return take_message(pipe, deadline_ns, event);
    *event = ys_json_ref(ys_json_at(pipe->kept, pipe->first++));
    if (pipe->first == ys_json_size(pipe->kept)) {
        ys_json_free(pipe->kept);
        pipe->kept = ys_json_array();
        pipe->first = 0;
    }
    return YS_OK;
}

/* What an answer holds, or the browser's refusal as an error. */
static ys_status take_answer(const char *method, const ys_json *answer, ys_json **result)
{
    const ys_json *error = ys_json_get(answer, "error");
    if (error)
        return ys_fail(YS_EPROTOCOL, "the browser refuses %s: %s", method,
                       ys_json_get_text(error, "message", "no reason"));
    if (result)
        *result = ys_json_ref(ys_json_get(answer, "result"));
    return YS_OK;
}

ys_status ys_devtools_ask(struct ys_devtools *pipe, const char *method, ys_json *params, double limit_s,
                          ys_json **result)
{
    const uint64_t deadline_ns = ys_time_ns() + (uint64_t)(limit_s * 1e9);
    int64_t id = 0;
    YS_TRY(ys_devtools_send(pipe, method, params, &id));
    for (;;) {
        ys_json *message = NULL;
        YS_TRY(take_message(pipe, deadline_ns, &message));
        if (ys_json_get_int(message, "id", 0) == id) {
            ys_status status = take_answer(method, message, result);
            ys_json_free(message);
            return status;
        }
        YS_TRY(ys_json_append(pipe->kept, message));
    }
}
