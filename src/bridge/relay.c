#include "bridge/relay.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const double LOAD_LIMIT_S = 120, PING_LIMIT_S = 5;
enum { LOOKS_AT_FIRST = 50, LOOKS_BESIDE = 10, LOOKS_BETWEEN = 2 };

static ys_json *params_of(const char *key, const char *value)
{
    ys_json *params = ys_json_object();
    if (ys_json_set_string(params, key, value) != YS_OK) { /* the command then fails with the browser's words */
        ys_json_free(params);
        return NULL;
    }
    return params;
}

/* The page's script runs `text`; its value is the caller's. */
static ys_status evaluate(struct ys_relay *relay, const char *text, ys_json **value)
{
    ys_json *params = params_of("expression", text), *result = NULL;
    if (!value)
        return ys_devtools_send(relay->browser.pipe, "Runtime.evaluate", params, NULL);
    YS_TRY(ys_devtools_ask(relay->browser.pipe, "Runtime.evaluate", params, PING_LIMIT_S, &result));
    *value = ys_json_ref(ys_json_get(ys_json_get(result, "result"), "value"));
    ys_json_free(result);
    return YS_OK;
}

static ys_status look_at_clock(struct ys_relay *relay, int times, bool sets)
{
    struct ys_page_look look = {0};
    for (int i = 0; i < times; i++) {
        ys_json *value = NULL;
        const uint64_t asked_ns = ys_time_ns();
        YS_TRY(evaluate(relay, "performance.now()", &value));
        const uint64_t answered_ns = ys_time_ns();
        const double theirs_ms = ys_json_number(value, NAN);
        ys_json_free(value);
        if (isnan(theirs_ms))
            return ys_fail(YS_EPROTOCOL, "the page has no clock");
        ys_page_look_take(&look, asked_ns, (int64_t)llround(theirs_ms * 1e6), answered_ns);
    }
    (sets ? ys_page_clock_set : ys_page_clock_check)(&relay->clock, &look);
    return YS_OK;
}

/* What the page says. */

/* The page has kept the answers to the requests of a message, and could not know which one it would be asked for. */
static ys_status show_answer(struct ys_relay *relay, const ys_json *latencies)
{
    const int64_t first = ys_json_get_int(latencies, "first", 0), count = ys_json_get_int(latencies, "count", 0);
    const int64_t steps = ys_json_get_int(relay->files.plan, "steps", 1);
    uint64_t drawn = 0;
    if (!relay->ring || count < 1 || first < 0 || steps < 1 || getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
        return YS_OK;
    const int64_t request = first + (int64_t)(drawn % (uint64_t)count);
    struct ys_buf values = {0};
    char *text = ys_format("yardstickShow(%" PRId64 ")", request);
    ys_json *shown = NULL;
    ys_status status = evaluate(relay, text, &shown);
    ys_free(text);
    if (status == YS_OK)
        status = ys_base64_get(&values, ys_json_text(shown, "none"));
    if (status == YS_OK)
        ys_ring_write(relay->ring, request, request % steps, values.data, values.size / sizeof(float), false);
    ys_buf_free(&values);
    ys_json_free(shown);
    return status;
}

static ys_status move_stamps(struct ys_relay *relay, ys_json *message)
{
    int64_t start_ns = ys_json_get_int(message, "t_start_ns", 0), end_ns = ys_json_get_int(message, "t_end_ns", 0);
    ys_page_clock_span(&relay->clock, relay->asked_ns, (int64_t)ys_time_ns(), &start_ns, &end_ns);
    YS_TRY(ys_json_set_int(message, "t_start_ns", start_ns));
    return ys_json_set_int(message, "t_end_ns", end_ns);
}

static ys_status tell_opened(struct ys_relay *relay, ys_json *message)
{
    relay->clock.tick_ns = ys_json_get_int(message, "clock_tick_ns", 0);
    YS_TRY(look_at_clock(relay, LOOKS_AT_FIRST, true));
    YS_TRY(ys_json_set_int(message, "clock_error_ns", ys_page_clock_error_ns(&relay->clock)));
    YS_TRY(ys_json_set_int(message, "download_code_bytes", relay->files.code_bytes));
    YS_TRY(ys_json_set_int(message, "download_model_bytes", relay->files.model_bytes));
    char *browser =
        ys_format("%s%s", relay->browser.product, relay->browser.sandboxed ? "" : ", without its sandbox (root)");
    ys_status status = ys_json_append(ys_json_get(message, "libraries"), ys_json_string(browser));
    ys_free(browser);
    return status;
}

static ys_status tell_saved(ys_json *message)
{
    struct stat about;
    const char *path = ys_json_get_text(message, "path", "");
    if (stat(path, &about) != 0)
        return ys_fail(YS_EIO, "cannot see %s: %s", path, strerror(errno));
    return ys_json_set_int(message, "bytes", about.st_size);
}

/* A message of the page on its way to yardstick. */
static ys_status pass_on(struct ys_relay *relay, ys_json *message)
{
    const char *type = ys_json_get_text(message, "type", "");
    const bool is_part = strcmp(type, "latencies") == 0 || strcmp(type, "block") == 0;
    ys_status status = YS_OK;
    if (is_part)
        status = move_stamps(relay, message);
    if (is_part && status == YS_OK)
        status = show_answer(relay, message);
    if (strcmp(type, "opened") == 0) {
        relay->is_open = true;
        status = tell_opened(relay, message);
    }
    if (strcmp(type, "saved") == 0)
        status = tell_saved(message);
    if (status == YS_OK)
        status = ys_channel_send(relay->channel, message);
    if (!is_part) {
        ys_free(relay->stage);
        relay->stage = NULL;
    }
    return status == YS_OK && is_part ? look_at_clock(relay, LOOKS_BETWEEN, false) : status;
}

/* Whether the page may write there: below the plan's folder, and no file of another. */
static bool may_write(const struct ys_relay *relay, const char *path)
{
    const char *folder = ys_json_get_text(relay->files.plan, "folder", "");
    char *dir = ys_path_dir(path), *real = *folder ? ys_path_real_below(dir, folder) : NULL;
    const bool is_there = real || strcmp(dir, folder) == 0;
    ys_free(dir);
    ys_free(real);
    return is_there;
}

/* A part of a file: {path, first, last, data}. */
static ys_status write_part(const struct ys_relay *relay, const ys_json *part)
{
    const char *path = ys_json_get_text(part, "path", "");
    struct ys_buf bytes = {0};
    if (!may_write(relay, path))
        return ys_fail(YS_EPROTOCOL, "the page writes %s, which is not in the plan's folder", path);
    YS_TRY(ys_base64_get(&bytes, ys_json_get_text(part, "data", "")));
    const int flags = ys_json_get_bool(part, "first", false) ? O_CREAT | O_TRUNC : 0;
    const int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0666);
    size_t done = 0;
    ssize_t now = 1;
    while (fd >= 0 && done < bytes.size && (now = write(fd, bytes.data + done, bytes.size - done)) > 0)
        done += (size_t)now;
    ys_status status =
        fd >= 0 && done == bytes.size ? YS_OK : ys_fail(YS_EIO, "cannot write %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    ys_buf_free(&bytes);
    return status;
}

/* Events. */

static ys_status hear_binding(struct ys_relay *relay, const ys_json *params, bool *is_ready)
{
    const char *payload = ys_json_get_text(params, "payload", "");
    ys_json *said = NULL;
    YS_TRY(ys_json_parse(payload, strlen(payload), "what the page says", &said));
    ys_status status = YS_OK;
    if (strcmp(ys_json_get_text(params, "name", ""), "yardstickWrite") == 0)
        status = write_part(relay, said);
    else if (strcmp(ys_json_get_text(said, "type", ""), "ready") == 0)
        *is_ready = true;
    else
        status = pass_on(relay, said);
    ys_json_free(said);
    return status;
}

static const char *exception_text(const ys_json *params)
{
    const ys_json *details = ys_json_get(params, "exceptionDetails");
    return ys_json_get_text(ys_json_get(details, "exception"), "description",
                            ys_json_get_text(details, "text", "no reason"));
}

static ys_status hear(struct ys_relay *relay, const ys_json *event, bool *is_ready)
{
    const char *method = ys_json_get_text(event, "method", "");
    const ys_json *params = ys_json_get(event, "params");
    if (strcmp(method, "Runtime.bindingCalled") == 0)
        return hear_binding(relay, params, is_ready);
    if (strcmp(method, "Fetch.requestPaused") == 0)
        return ys_page_files_answer(&relay->files, relay->browser.pipe, event);
    if (strcmp(method, "Inspector.targetCrashed") == 0 || strcmp(method, "Target.targetCrashed") == 0)
        return ys_fail(YS_EIO, "the page's tab crashed");
    if (strcmp(method, "Runtime.exceptionThrown") == 0 && !*is_ready)
        return ys_fail(YS_EFORMAT, "the page's script failed: %s", exception_text(params));
    if (strcmp(method, "Runtime.exceptionThrown") == 0)
        fprintf(stderr, "page: %s\n", exception_text(params));
    return YS_OK;
}

static ys_status hear_next(struct ys_relay *relay, uint64_t deadline_ns, bool *is_ready)
{
    ys_json *event = NULL;
    YS_TRY(ys_devtools_event(relay->browser.pipe, deadline_ns, &event));
    ys_status status = hear(relay, event, is_ready);
    ys_json_free(event);
    return status;
}

/* Loading. */

static ys_status make_page(struct ys_relay *relay)
{
    struct ys_devtools *pipe = relay->browser.pipe;
    ys_json *made = NULL, *attached = NULL;
    YS_TRY(ys_devtools_ask(pipe, "Target.createTarget", params_of("url", "about:blank"), LOAD_LIMIT_S, &made));
    ys_json *params = params_of("targetId", ys_json_get_text(made, "targetId", ""));
    ys_json_free(made);
    YS_TRY(ys_json_set_bool(params, "flatten", true));
    YS_TRY(ys_devtools_ask(pipe, "Target.attachToTarget", params, LOAD_LIMIT_S, &attached));
    relay->session = ys_strdup(ys_json_get_text(attached, "sessionId", ""));
    ys_json_free(attached);
    ys_devtools_use(pipe, relay->session);
    return YS_OK;
}

ys_status ys_relay_load(struct ys_relay *relay)
{
    static const char *const enabled[] = {"Inspector.enable", "Runtime.enable", "Fetch.enable"};
    static const char *const bound[] = {"yardstickSend", "yardstickWrite"};
    struct ys_devtools *pipe = relay->browser.pipe;
    const uint64_t deadline_ns = ys_time_ns() + (uint64_t)(LOAD_LIMIT_S * 1e9);
    bool is_ready = false;
    YS_TRY(make_page(relay));
    for (size_t i = 0; i < sizeof enabled / sizeof enabled[0]; i++)
        YS_TRY(ys_devtools_ask(pipe, enabled[i], NULL, LOAD_LIMIT_S, NULL));
    for (size_t i = 0; i < sizeof bound / sizeof bound[0]; i++)
        YS_TRY(ys_devtools_ask(pipe, "Runtime.addBinding", params_of("name", bound[i]), LOAD_LIMIT_S, NULL));
    YS_TRY(ys_devtools_send(pipe, "Page.navigate", params_of("url", YS_PAGE_ORIGIN "/"), NULL));
    while (!is_ready)
        YS_TRY(hear_next(relay, deadline_ns, &is_ready));
    return YS_OK;
}

/* What yardstick says. */

static ys_status prepare_question(struct ys_relay *relay, const char *type, ys_json *message)
{
    if (strcmp(type, "open") == 0 && !relay->is_open) { /* one that failed may be followed by another */
        ys_json_free(relay->files.plan);
        relay->files.plan = ys_json_copy(ys_json_get(message, "plan"));
    }
    if (strcmp(type, "infer") != 0)
        return YS_OK;
    const char *answers = ys_json_get_text(message, "answers", NULL);
    ys_ring_close(relay->ring);
    relay->ring = NULL;
    if (answers) {
        YS_TRY(ys_ring_open(answers, &relay->ring));
        YS_TRY(ys_json_set_bool(message, "answers", true));
    }
    return look_at_clock(relay, LOOKS_BESIDE, true);
}

static ys_status ask_page(struct ys_relay *relay, ys_json *message)
{
    const char *type = ys_json_get_text(message, "type", "");
    ys_free(relay->stage);
    relay->stage = ys_strdup(type);
    YS_TRY(prepare_question(relay, type, message));
    char *line = ys_json_dump(message, YS_JSON_COMPACT);
    if (!line)
        return ys_out_of_memory();
    char *text = ys_format("yardstickReceive(%s)", line);
    relay->asked_ns = (int64_t)ys_time_ns();
    ys_status status = evaluate(relay, text, NULL);
    ys_free(text);
    ys_free(line);
    return status;
}

/* A question, where there is one; *ended: there will be no more. */
static ys_status hear_yardstick(struct ys_relay *relay, bool *ended)
{
    ys_json *message = NULL;
    ys_status status = ys_channel_receive(relay->channel, 0, &message);
    if (status == YS_ETIMEOUT)
        return YS_OK;
    *ended = status != YS_OK || strcmp(ys_json_get_text(message, "type", ""), "bye") == 0;
    if (*ended && ys_channel_eof(relay->channel))
        status = YS_OK;
    if (status == YS_OK && !*ended)
        status = ask_page(relay, message);
    ys_json_free(message);
    return status;
}

static ys_status serve_next(struct ys_relay *relay, bool *ended)
{
    bool is_ready = true;
    struct pollfd waits[] = {{.fd = ys_channel_fd(relay->channel), .events = POLLIN},
                             {.fd = ys_devtools_fd(relay->browser.pipe), .events = POLLIN}};
    if (!ys_devtools_has_event(relay->browser.pipe) && poll(waits, 2, -1) < 0 && errno != EINTR)
        return ys_fail(YS_EIO, "cannot wait: %s", strerror(errno));
    if (waits[0].revents)
        YS_TRY(hear_yardstick(relay, ended));
    while (!*ended && (waits[1].revents || ys_devtools_has_event(relay->browser.pipe))) {
        waits[1].revents = 0;
        YS_TRY(hear_next(relay, UINT64_MAX, &is_ready));
    }
    return YS_OK;
}

/* To yardstick, in the page's place. */
static void say_error(struct ys_relay *relay, ys_status status)
{
    ys_json *error = ys_json_object();
    const char *code = status == YS_EPROTOCOL ? "protocol_error" : "crashed";
    char *words = ys_strdup(ys_error());
    if (ys_json_set_string(error, "type", "error") == YS_OK && ys_json_set_string(error, "code", code) == YS_OK &&
        ys_json_set_string(error, "stage", relay->stage ? relay->stage : "open") == YS_OK &&
        ys_json_set_string(error, "message", words) == YS_OK && ys_channel_send(relay->channel, error) != YS_OK)
        ys_log_warn("%s", ys_error());
    ys_free(words);
    ys_json_free(error);
}

ys_status ys_relay_serve(struct ys_relay *relay)
{
    bool ended = false;
    ys_status status = YS_OK;
    while (status == YS_OK && !ended)
        status = serve_next(relay, &ended);
    if (status != YS_OK)
        say_error(relay, status);
    return status;
}

void ys_relay_fini(struct ys_relay *relay)
{
    ys_ring_close(relay->ring);
    ys_page_files_fini(&relay->files);
    ys_chromium_end(&relay->browser);
    ys_free(relay->session);
    ys_free(relay->stage);
}
