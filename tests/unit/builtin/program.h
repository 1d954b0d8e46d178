/* The program yardstick-builtin, spoken to as yardstick speaks to it, over a small network and made-up data. */
#ifndef YS_TESTS_BUILTIN_PROGRAM_H
#define YS_TESTS_BUILTIN_PROGRAM_H

#include "unit/engine/net.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "protocol/channel.h"
#include "tap.h"
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 40, BATCH = 6, STEPS = 8 };

static char folder[] = "/tmp/ys-builtin-XXXXXX";

struct program {
    pid_t pid;
    int fd;
    struct ys_channel *channel;
};

__attribute__((unused)) static const char *in_folder(const char *name)
{
    static char path[4][128];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

__attribute__((unused)) static char *program_path(void)
{
    const char *build = getenv("YS_BUILD_ROOT");
    char *path = build ? ys_format("%s/src/yardstick-builtin", build) : NULL;
    if (path && access(path, X_OK) == 0)
        return path;
    ys_free(path);
    return NULL;
}

/** Runs the program with words after its name (ended by NULL); its exit code, stdout in *output. */
__attribute__((unused)) static int run_program(const char *const *words, struct ys_buf *output)
{
    const char *argv[32] = {program_path()};
    int code = -1;
    for (size_t count = 1; *words; words++)
        argv[count++] = *words;
    struct ys_child_options options = {.timeout_s = 120};
    CHECK(ys_child_run(argv, &options, output, &code) == YS_OK);
    ys_free((void *)(uintptr_t)argv[0]);
    return code;
}

__attribute__((unused)) static void fixture_net(struct net *n)
{
    struct ys_window three = {{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1},
                     halve = {{2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, 1};
    net_input(n, YS_U8, ROWS, 1, 8, 8);
    strcpy(n->value_names[0], "x");
    net_normalize(n, 1, 1.0 / 255);
    net_conv(n, 16, three, 1);
    net_relu(n);
    net_pool(n, halve);
    net_flatten(n);
    net_gemm(n, 5, 1);
}

__attribute__((unused)) static bool write_weights(const struct net *n, const char *path, float factor)
{
    struct ys_tensor tensors[NET_MAX];
    float *values[NET_MAX];
    for (size_t p = 0; p < n->graph.param_count; p++) {
        const struct ys_param *param = &n->params[p];
        size_t count = (size_t)ys_param_elements(param);
        values[p] = net_weights(n, p, 0.3);
        for (size_t i = 0; i < count; i++)
            values[p][i] *= factor;
        tensors[p] = (struct ys_tensor){.name = param->name,
                                        .dtype = YS_F32,
                                        .rank = param->rank,
                                        .data = values[p],
                                        .size_bytes = count * sizeof(float)};
        memcpy(tensors[p].shape, param->shape, sizeof param->shape);
    }
    bool ok = ys_safetensors_write(path, tensors, n->graph.param_count, NULL) == YS_OK;
    for (size_t p = 0; p < n->graph.param_count; p++)
        free(values[p]);
    return ok;
}

__attribute__((unused)) static bool write_order(const char *path, uint32_t rows)
{
    uint32_t order[STEPS * BATCH];
    double lr[STEPS];
    for (uint32_t i = 0; i < STEPS * BATCH; i++)
        order[i] = i * 7 % rows;
    for (int s = 0; s < STEPS; s++)
        lr[s] = s < 4 ? 0.1 : 0.01;
    struct ys_tensor tensors[] = {{"order", YS_U32, 2, {STEPS, BATCH}, order, sizeof order},
                                  {"lr", YS_F64, 1, {STEPS}, lr, sizeof lr}};
    return ys_safetensors_write(path, tensors, 2, NULL) == YS_OK;
}

__attribute__((unused)) static void remove_folder(void)
{
    if (ys_fs_remove_tree(folder) != YS_OK)
        printf("# %s\n", ys_error());
}

/** Graph, weights, data and orders in a folder of their own; once. */
__attribute__((unused)) static bool make_fixture(void)
{
    static int made;
    if (made)
        return made > 0;
    made = -1;
    struct net n;
    fixture_net(&n);
    n.batch = ROWS;
    uint8_t *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    ys_json *graph = ys_graph_to_json(&n.graph);
    struct ys_tensor rows[] = {{"x", YS_U8, 4, {ROWS, 1, 8, 8}, x, ROWS * 64}, {"y", YS_I64, 1, {ROWS}, y, ROWS * 8}};
    if (mkdtemp(folder) && graph && ys_json_write(in_folder("graph.json"), graph) == YS_OK &&
        write_weights(&n, in_folder("weights.safetensors"), 1) &&
        write_weights(&n, in_folder("nan.safetensors"), NAN) &&
        ys_safetensors_write(in_folder("train.safetensors"), rows, 2, NULL) == YS_OK &&
        write_order(in_folder("order.safetensors"), ROWS) && write_order(in_folder("far.safetensors"), ROWS + 7))
        made = 1;
    atexit(remove_folder);
    ys_json_free(graph);
    free(x);
    free(y);
    return made > 0;
}

__attribute__((unused)) static ys_json *make_plan(const char *precision)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        "{\"format\":\"yardstick-plan\",\"version\":1,\"mode\":\"train\",\"model\":\"test\",\"graph\":\"%s/"
        "graph.json\","
        "\"weights\":\"%s/weights.safetensors\",\"input\":{\"kind\":\"file\",\"path\":\"%s/train.safetensors\","
        "\"order\":\"%s/order.safetensors\"},\"batch\":%d,\"steps\":%d,\"block\":3,\"seed\":1,\"precision\":\"%s\","
        "\"loss\":\"softmax_cross_entropy\",\"optimizer\":{\"name\":\"sgd\",\"momentum\":0.9,\"nesterov\":false,"
        "\"weight_decay\":0.0005,\"clip_norm\":null},\"threads\":2,\"cpus\":[0,1],\"device\":\"cpu\",\"options\":{},"
        "\"dist\":{\"rank\":0,\"world\":1,\"rendezvous\":null},\"folder\":\"%s\"}",
        folder, folder, folder, folder, BATCH, STEPS, precision, folder);
    ys_json *plan = NULL;
    CHECK(ys_json_parse(text, strlen(text), "plan", &plan) == YS_OK);
    return plan;
}

__attribute__((unused)) static bool start(struct program *p)
{
    int fds[2];
    char *path = program_path();
    *p = (struct program){.pid = -1, .fd = -1};
    if (!path) {
        tap_skip("yardstick-builtin is not built");
        return false;
    }
    if (!CHECK(make_fixture()) || !CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0)) {
        ys_free(path);
        return false;
    }
    p->pid = fork();
    if (p->pid == 0) {
        char number[16];
        int copy = dup(fds[1]);
        snprintf(number, sizeof number, "%d", copy);
        setenv("YARDSTICK_FD", number, 1);
        close(fds[0]);
        close(fds[1]);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    p->fd = fds[0];
    ys_free(path);
    return CHECK(p->pid > 0) && CHECK(ys_channel_open(p->fd, &p->channel) == YS_OK);
}

/** Says bye and gives the exit code. */
__attribute__((unused)) static int stop(struct program *p)
{
    int state = -1;
    ys_json *bye = ys_json_object();
    if (p->pid > 0 && ys_json_set_string(bye, "type", "bye") == YS_OK) {
        CHECK(ys_channel_send(p->channel, bye) == YS_OK);
        waitpid(p->pid, &state, 0);
    }
    ys_json_free(bye);
    ys_channel_close(p->channel);
    close(p->fd);
    return state >= 0 && WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

__attribute__((unused)) static ys_json *receive(struct program *p)
{
    ys_json *reply = NULL;
    ys_status status = ys_channel_receive(p->channel, ys_time_ns() + 60000000000U, &reply);
    tap_check(status == YS_OK, __LINE__, "no answer: %s", ys_error());
    return reply;
}

/** Sends the message (taken) and gives the answer. */
__attribute__((unused)) static ys_json *request(struct program *p, ys_json *message)
{
    CHECK(ys_channel_send(p->channel, message) == YS_OK);
    ys_json_free(message);
    return receive(p);
}

__attribute__((unused)) static ys_json *parse(const char *text)
{
    ys_json *value = NULL;
    CHECK(ys_json_parse(text, strlen(text), "message", &value) == YS_OK);
    return value;
}

/** Opens the plan (taken); the answer. */
__attribute__((unused)) static ys_json *open_plan(struct program *p, ys_json *plan)
{
    ys_json *message = parse("{\"type\":\"open\"}");
    CHECK(ys_json_set(message, "plan", plan) == YS_OK);
    return request(p, message);
}

__attribute__((unused)) static bool start_open(struct program *p, const char *precision)
{
    if (!start(p))
        return false;
    ys_json *opened = open_plan(p, make_plan(precision));
    CHECK_TEXT(ys_json_get_text(opened, "type", ""), "opened");
    bool ok = strcmp(ys_json_get_text(opened, "type", ""), "opened") == 0;
    if (!ok)
        printf("# %s\n", ys_json_get_text(opened, "message", ""));
    ys_json_free(opened);
    return ok;
}

/** Asks for tensors and opens their file. */
__attribute__((unused)) static struct ys_safetensors *tensors(struct program *p, const char *text)
{
    struct ys_safetensors *file = NULL;
    ys_json *reply = request(p, parse(text));
    CHECK_TEXT(ys_json_get_text(reply, "type", ""), "tensors");
    ys_status status = ys_safetensors_open(ys_json_get_text(reply, "path", ""), &file);
    tap_check(status == YS_OK, __LINE__, "%s %s", ys_error(), ys_json_get_text(reply, "message", ""));
    ys_json_free(reply);
    return file;
}

__attribute__((unused)) static bool same_tensors(const struct ys_safetensors *a, const struct ys_safetensors *b)
{
    bool same = a && b && ys_safetensors_count(a) == ys_safetensors_count(b) && ys_safetensors_count(a) > 0;
    for (size_t i = 0; same && i < ys_safetensors_count(a); i++) {
        const struct ys_tensor *t = ys_safetensors_at(a, i), *u = ys_safetensors_find(b, t->name);
        same = u && u->size_bytes == t->size_bytes && memcmp(t->data, u->data, t->size_bytes) == 0;
    }
    return same;
}

/** Collects the losses of `train`; returns how many. */
__attribute__((unused)) static int train(struct program *p, int from, int to, double *losses)
{
    char text[96];
    int count = 0;
    snprintf(text, sizeof text, "{\"type\":\"train\",\"from\":%d,\"to\":%d,\"block\":3}", from, to);
    ys_json *reply = request(p, parse(text));
    uint64_t before = 0;
    while (reply && strcmp(ys_json_get_text(reply, "type", ""), "block") == 0) {
        uint64_t start_ns = (uint64_t)ys_json_get_int(reply, "t_start_ns", 0),
                 end_ns = (uint64_t)ys_json_get_int(reply, "t_end_ns", 0);
        CHECK(start_ns >= before && end_ns > start_ns);
        CHECK((uint64_t)ys_json_get_int(reply, "input_ns", -1) <= end_ns - start_ns);
        CHECK_INT(ys_json_get_int(reply, "first", -1), from + count);
        before = end_ns;
        for (size_t i = 0; i < ys_json_size(ys_json_get(reply, "loss")) && count < STEPS; i++)
            losses[count++] = ys_json_number(ys_json_at(ys_json_get(reply, "loss"), i), NAN);
        ys_json_free(reply);
        reply = receive(p);
    }
    CHECK_TEXT(ys_json_get_text(reply, "type", ""), "done");
    ys_json_free(reply);
    return count;
}

#endif
