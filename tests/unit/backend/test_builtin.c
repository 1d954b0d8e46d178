/* The program yardstick-builtin, spoken to as yardstick speaks to it, over a small network and made-up data. */
#include "unit/engine/net.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
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

static const char *in_folder(const char *name)
{
    static char path[4][128];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static char *program_path(void)
{
    const char *build = getenv("YS_BUILD_ROOT");
    char *path = build ? ys_format("%s/src/yardstick-builtin", build) : NULL;
    if (path && access(path, X_OK) == 0)
        return path;
    ys_free(path);
    return NULL;
}

static void fixture_net(struct net *n)
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

static bool write_weights(const struct net *n, const char *path, float factor)
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

static bool write_order(const char *path, uint32_t rows)
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

static void remove_folder(void)
{
    if (ys_fs_remove_tree(folder) != YS_OK)
        printf("# %s\n", ys_error());
}

/** Graph, weights, data and orders in a folder of their own; once. */
static bool make_fixture(void)
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

static ys_json *make_plan(const char *precision)
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

static bool start(struct program *p)
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
static int stop(struct program *p)
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

static ys_json *receive(struct program *p)
{
    ys_json *reply = NULL;
    ys_status status = ys_channel_receive(p->channel, ys_time_ns() + 60000000000U, &reply);
    tap_check(status == YS_OK, __LINE__, "no answer: %s", ys_error());
    return reply;
}

/** Sends the message (taken) and gives the answer. */
static ys_json *request(struct program *p, ys_json *message)
{
    CHECK(ys_channel_send(p->channel, message) == YS_OK);
    ys_json_free(message);
    return receive(p);
}

static ys_json *parse(const char *text)
{
    ys_json *value = NULL;
    CHECK(ys_json_parse(text, strlen(text), "message", &value) == YS_OK);
    return value;
}

/** Opens the plan (taken); the answer. */
static ys_json *open_plan(struct program *p, ys_json *plan)
{
    ys_json *message = parse("{\"type\":\"open\"}");
    CHECK(ys_json_set(message, "plan", plan) == YS_OK);
    return request(p, message);
}

static bool start_open(struct program *p, const char *precision)
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
static struct ys_safetensors *tensors(struct program *p, const char *text)
{
    struct ys_safetensors *file = NULL;
    ys_json *reply = request(p, parse(text));
    CHECK_TEXT(ys_json_get_text(reply, "type", ""), "tensors");
    ys_status status = ys_safetensors_open(ys_json_get_text(reply, "path", ""), &file);
    tap_check(status == YS_OK, __LINE__, "%s %s", ys_error(), ys_json_get_text(reply, "message", ""));
    ys_json_free(reply);
    return file;
}

static bool same_tensors(const struct ys_safetensors *a, const struct ys_safetensors *b)
{
    bool same = a && b && ys_safetensors_count(a) == ys_safetensors_count(b) && ys_safetensors_count(a) > 0;
    for (size_t i = 0; same && i < ys_safetensors_count(a); i++) {
        const struct ys_tensor *t = ys_safetensors_at(a, i), *u = ys_safetensors_find(b, t->name);
        same = u && u->size_bytes == t->size_bytes && memcmp(t->data, u->data, t->size_bytes) == 0;
    }
    return same;
}

static void check_lists(const ys_json *hello, const char *member, const char *word)
{
    const ys_json *list = ys_json_get(hello, member);
    bool found = false;
    for (size_t i = 0; i < ys_json_size(list); i++)
        found |= strcmp(ys_json_text(ys_json_at(list, i), ""), word) == 0;
    tap_check(found, __LINE__, "%s lists no %s", member, word);
}

static void hello_says_what_it_can_do(void)
{
    struct program p;
    if (!start(&p))
        return;
    ys_json *hello = request(&p, parse("{\"type\":\"hello\",\"protocol\":1}"));
    CHECK_TEXT(ys_json_get_text(hello, "type", ""), "hello");
    CHECK_TEXT(ys_json_get_text(hello, "adapter", ""), "builtin");
    check_lists(hello, "ops", "Conv");
    check_lists(hello, "precisions", "f64");
    check_lists(hello, "precisions", "f32");
    check_lists(hello, "optimizers", "adamw");
    check_lists(hello, "features", "infer");
    CHECK(!ys_json_get_bool(hello, "no_work", true));
    ys_json_free(hello);
    CHECK_INT(stop(&p), 0);
}

static void open_says_parameters_threads_and_library(void)
{
    struct program p;
    if (!start(&p))
        return;
    ys_json *opened = open_plan(&p, make_plan("f32"));
    CHECK_TEXT(ys_json_get_text(opened, "type", ""), "opened");
    CHECK_INT(ys_json_get_int(opened, "parameters", 0), 16 * 9 + 16 + 16 * 16 * 5 + 5);
    CHECK_INT(ys_json_get_int(opened, "threads", 0), 2);
    CHECK_HAS(ys_json_text(ys_json_at(ys_json_get(opened, "libraries"), 0), ""), "oneDNN");
    CHECK_INT(ys_json_size(ys_json_get(opened, "deviations")), 0);
    ys_json_free(opened);
    CHECK_INT(stop(&p), 0);
}

static void option_backend_is_a_deviation(void)
{
    struct program p;
    if (!start(&p))
        return;
    ys_json *plan = make_plan("f32");
    CHECK(ys_json_set(plan, "options", parse("{\"backend\":\"ref\"}")) == YS_OK);
    ys_json *opened = open_plan(&p, plan);
    CHECK_TEXT(ys_json_text(ys_json_at(ys_json_get(opened, "deviations"), 0), ""), "back end ref");
    CHECK_INT(ys_json_get_int(opened, "threads", 0), 1);
    ys_json_free(opened);
    CHECK_INT(stop(&p), 0);
}

/** Each wrong plan: what is changed, and what the error says. */
static void plans_that_it_cannot_run_are_refused(void)
{
    static const struct {
        const char *key, *value, *code, *word;
    } wrong[] = {
        {"precision", "\"f16\"", "unsupported", "f16"},
        {"loss", "\"nll\"", "build_failed", "nll"},
        {"label_smoothing", "0.1", "build_failed", "label_smoothing"},
        {"device", "\"cuda\"", "unsupported", "cuda"},
        {"optimizer", "{\"name\":\"lion\"}", "unsupported", "lion"},
        {"mode", "\"guess\"", "unsupported", "guess"},
        {"options", "{\"speed\":\"high\"}", "build_failed", "speed"},
        {"options", "{\"backend\":\"cudnn\"}", "build_failed", "cudnn"},
        {"weights", "\"/nonexistent/w\"", "load_failed", "/nonexistent/w"},
        {"batch", "7", "load_failed", "order"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct program p;
        if (!start(&p))
            return;
        ys_json *plan = make_plan("f32"), *value = NULL;
        char wrapped[128];
        snprintf(wrapped, sizeof wrapped, "{\"v\":%s}", wrong[i].value);
        value = parse(wrapped);
        CHECK(ys_json_set(plan, wrong[i].key, ys_json_ref(ys_json_get(value, "v"))) == YS_OK);
        ys_json *error = open_plan(&p, plan);
        CHECK_TEXT(ys_json_get_text(error, "type", ""), "error");
        CHECK_TEXT(ys_json_get_text(error, "code", ""), wrong[i].code);
        CHECK_HAS(ys_json_get_text(error, "message", ""), wrong[i].word);
        ys_json_free(error);
        ys_json_free(value);
        CHECK_INT(stop(&p), 0);
    }
}

static void a_row_beyond_the_data_is_an_error_and_no_crash(void)
{
    struct program p;
    if (!start(&p))
        return;
    ys_json *plan = make_plan("f32"), *input = ys_json_get(plan, "input");
    CHECK(ys_json_set_string(input, "order", in_folder("far.safetensors")) == YS_OK);
    ys_json_free(open_plan(&p, plan));
    ys_json *error = request(&p, parse("{\"type\":\"step\",\"n\":8}"));
    CHECK_TEXT(ys_json_get_text(error, "type", ""), "error");
    CHECK_HAS(ys_json_get_text(error, "message", ""), "row");
    ys_json_free(error);
    CHECK_INT(stop(&p), 0);
}

static void no_steps_give_back_the_weights_loaded(void)
{
    static const char *const precisions[] = {"f32", "f64"};
    for (int k = 0; k < 2; k++) {
        struct program p;
        struct ys_safetensors *loaded = NULL;
        if (!start_open(&p, precisions[k]))
            return;
        struct ys_safetensors *file = tensors(&p, "{\"type\":\"step\",\"n\":0}");
        CHECK(ys_safetensors_open(in_folder("weights.safetensors"), &loaded) == YS_OK);
        for (size_t i = 0; file && loaded && i < ys_safetensors_count(loaded); i++) {
            const struct ys_tensor *t = ys_safetensors_at(loaded, i), *u = ys_safetensors_find(file, t->name);
            if (!CHECK(u && ys_tensor_count(u) == ys_tensor_count(t)))
                continue;
            CHECK_INT(u->dtype, k ? YS_F64 : YS_F32);
            size_t differ = 0;
            for (size_t e = 0; e < ys_tensor_count(t); e++)
                differ += ys_tensor_value(t, e) != ys_tensor_value(u, e);
            CHECK_INT(differ, 0);
        }
        ys_safetensors_close(file);
        ys_safetensors_close(loaded);
        CHECK_INT(stop(&p), 0);
    }
}

static void forward_gives_rows_as_ordered_and_their_logits(void)
{
    struct program p;
    struct ys_safetensors *data = NULL;
    if (!start_open(&p, "f64"))
        return;
    struct ys_safetensors *file = tensors(&p, "{\"type\":\"forward\",\"batch\":2,\"mode\":\"eval\"}");
    CHECK(ys_safetensors_open(in_folder("train.safetensors"), &data) == YS_OK);
    REQUIRE(file && data);
    const struct ys_tensor *x = ys_safetensors_find(file, "x"), *y = ys_safetensors_find(file, "y");
    const struct ys_tensor *logits = ys_safetensors_find(file, "logits"), *loss = ys_safetensors_find(file, "loss");
    REQUIRE(x && y && logits && loss);
    CHECK_INT(x->dtype, YS_U8);
    CHECK_INT(x->shape[0], BATCH);
    CHECK_INT(logits->dtype, YS_F64);
    CHECK_INT(loss->rank, 0);
    double expected = 0;
    for (size_t i = 0; i < BATCH; i++) {
        size_t row = (2 * BATCH + i) * 7 % ROWS;
        const struct ys_tensor *all = ys_safetensors_find(data, "x"), *labels = ys_safetensors_find(data, "y");
        CHECK(memcmp((const uint8_t *)x->data + 64 * i, (const uint8_t *)all->data + 64 * row, 64) == 0);
        CHECK_NEAR(ys_tensor_value(y, i), ys_tensor_value(labels, row), 0);
        double sum = 0;
        for (size_t k = 0; k < 5; k++)
            sum += exp(ys_tensor_value(logits, 5 * i + k));
        expected += (log(sum) - ys_tensor_value(logits, 5 * i + (size_t)ys_tensor_value(y, i))) / BATCH;
    }
    CHECK_NEAR(ys_tensor_value(loss, 0), expected, 1e-12); /* some dozen roundings of numbers below 10 */
    ys_safetensors_close(file);
    ys_safetensors_close(data);
    CHECK_INT(stop(&p), 0);
}

static void backward_has_every_gradient_and_changes_nothing(void)
{
    struct program p, q;
    if (!start_open(&p, "f32") || !start_open(&q, "f32"))
        return;
    struct ys_safetensors *gradients = tensors(&p, "{\"type\":\"backward\",\"batch\":1,\"mode\":\"train\"}");
    REQUIRE(gradients != NULL);
    CHECK_INT(ys_safetensors_count(gradients), 5);
    CHECK(ys_safetensors_find(gradients, "loss") && ys_safetensors_find(gradients, "grad.p0") &&
          ys_safetensors_find(gradients, "grad.p3"));
    ys_safetensors_close(gradients);
    ys_safetensors_close(tensors(&p, "{\"type\":\"forward\",\"batch\":3,\"mode\":\"train\"}"));
    struct ys_safetensors *a = tensors(&p, "{\"type\":\"step\",\"n\":3}");
    struct ys_safetensors *first = a;
    /* Both programs write to one folder under the same name: the first file stays mapped. */
    struct ys_safetensors *b = tensors(&q, "{\"type\":\"step\",\"n\":3}");
    CHECK(same_tensors(first, b));
    ys_safetensors_close(a);
    ys_safetensors_close(b);
    CHECK_INT(stop(&p), 0);
    CHECK_INT(stop(&q), 0);
}

/** Collects the losses of `train`; returns how many. */
static int train(struct program *p, int from, int to, double *losses)
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

static void training_repeats_after_reset_and_follows_step(void)
{
    struct program p;
    double first[STEPS], second[STEPS];
    if (!start_open(&p, "f32"))
        return;
    CHECK_INT(train(&p, 0, STEPS, first), STEPS);
    struct ys_safetensors *trained = tensors(&p, "{\"type\":\"step\",\"n\":0}");
    ys_json_free(request(&p, parse("{\"type\":\"reset\"}")));
    CHECK_INT(train(&p, 0, STEPS, second), STEPS);
    CHECK(memcmp(first, second, sizeof first) == 0);
    ys_json_free(request(&p, parse("{\"type\":\"reset\"}")));
    ys_safetensors_close(tensors(&p, "{\"type\":\"step\",\"n\":5}"));
    CHECK_INT(train(&p, 5, STEPS, second), STEPS - 5);
    CHECK(memcmp(first + 5, second, 3 * sizeof *first) == 0);
    struct ys_safetensors *again = tensors(&p, "{\"type\":\"step\",\"n\":0}");
    CHECK(same_tensors(trained, again));
    ys_safetensors_close(trained);
    ys_safetensors_close(again);
    CHECK_INT(stop(&p), 0);
}

static void unknown_messages_are_unsupported(void)
{
    struct program p;
    if (!start_open(&p, "f32"))
        return;
    ys_json *error = request(&p, parse("{\"type\":\"input_gradient\"}"));
    CHECK_TEXT(ys_json_get_text(error, "code", ""), "unsupported");
    ys_json_free(error);
    CHECK_INT(stop(&p), 0);
}

/** Opens the plan for requests in place of training. */
static bool start_infer(struct program *p, const char *precision)
{
    if (!start(p))
        return false;
    ys_json *plan = make_plan(precision);
    CHECK(ys_json_set_string(plan, "mode", "infer") == YS_OK);
    ys_json *opened = open_plan(p, plan);
    bool ok = CHECK(strcmp(ys_json_get_text(opened, "type", ""), "opened") == 0);
    ys_json_free(opened);
    return ok;
}

/** How many requests were told of, each with a latency above 0. */
static int64_t answered(struct program *p, const char *text)
{
    int64_t told = 0;
    ys_json *reply = request(p, parse(text));
    while (reply && strcmp(ys_json_get_text(reply, "type", ""), "latencies") == 0) {
        const ys_json *latencies = ys_json_get(reply, "latency_ns");
        CHECK_INT(ys_json_get_int(reply, "first", -1), told);
        for (size_t i = 0; i < ys_json_size(latencies); i++)
            CHECK(ys_json_integer(ys_json_at(latencies, i), 0) > 0);
        told += (int64_t)ys_json_size(latencies);
        ys_json_free(reply);
        reply = receive(p);
    }
    CHECK_TEXT(ys_json_get_text(reply, "type", ""), "done");
    ys_json_free(reply);
    return told;
}

static void requests_are_answered_and_change_nothing(void)
{
    static const char *const formats[] = {"f32", "f64"};
    for (int k = 0; k < 2; k++) {
        struct program p;
        if (!start_infer(&p, formats[k]))
            return;
        struct ys_safetensors *before = tensors(&p, "{\"type\":\"step\",\"n\":0}");
        CHECK_INT(answered(&p, "{\"type\":\"infer\",\"requests\":19,\"batch\":6}"), 19);
        struct ys_safetensors *after = tensors(&p, "{\"type\":\"step\",\"n\":0}");
        CHECK(same_tensors(before, after));
        ys_safetensors_close(before);
        ys_safetensors_close(after);
        ys_json *error = request(&p, parse("{\"type\":\"backward\",\"batch\":0,\"mode\":\"train\"}"));
        CHECK_TEXT(ys_json_get_text(error, "code", ""), "protocol_error");
        ys_json_free(error);
        CHECK_INT(stop(&p), 0);
    }
}

/* In double, where both run the same loops in the same order. */
static void a_plan_that_infers_gives_the_logits_of_one_that_trains(void)
{
    struct program p, q;
    if (!start_infer(&p, "f64") || !start_open(&q, "f64"))
        return;
    struct ys_safetensors *a = tensors(&p, "{\"type\":\"forward\",\"batch\":2,\"mode\":\"eval\"}");
    struct ys_safetensors *b = tensors(&q, "{\"type\":\"forward\",\"batch\":2,\"mode\":\"eval\"}");
    CHECK(same_tensors(a, b));
    ys_safetensors_close(a);
    ys_safetensors_close(b);
    CHECK_INT(stop(&p), 0);
    CHECK_INT(stop(&q), 0);
}

/** Runs the program with arguments after its name; its exit code, stdout in *output. */
static int run_program(const char *const *arguments, struct ys_buf *output)
{
    const char *argv[16] = {program_path()};
    int code = -1;
    size_t count = 1;
    for (; *arguments; arguments++)
        argv[count++] = *arguments;
    struct ys_child_options options = {.timeout_s = 60};
    CHECK(ys_child_run(argv, &options, output, &code) == YS_OK);
    ys_free((void *)(uintptr_t)argv[0]);
    return code;
}

/** `evaluate` with these weights and batch; the parsed object, or NULL. */
static ys_json *evaluate(const char *weights, const char *batch, int expected_code)
{
    struct ys_buf output = {0};
    ys_json *object = NULL;
    const char *const arguments[] = {"evaluate",
                                     "--graph",
                                     in_folder("graph.json"),
                                     "--weights",
                                     weights,
                                     "--data",
                                     in_folder("train.safetensors"),
                                     "--threads",
                                     "2",
                                     "--batch",
                                     batch,
                                     NULL};
    CHECK_INT(run_program(arguments, &output), expected_code);
    if (expected_code == 0)
        CHECK(ys_json_parse(ys_buf_text(&output), output.size, "evaluate", &object) == YS_OK);
    else
        CHECK_INT(output.size, 0);
    ys_buf_free(&output);
    return object;
}

static void saved_weights_are_evaluated(void)
{
    struct program p;
    double losses[STEPS];
    if (!start_open(&p, "f32"))
        return;
    train(&p, 0, STEPS, losses);
    char text[256];
    snprintf(text, sizeof text, "{\"type\":\"save\",\"format\":\"safetensors\",\"path\":\"%s/saved.safetensors\"}",
             folder);
    ys_json *saved = request(&p, parse(text));
    CHECK_TEXT(ys_json_get_text(saved, "type", ""), "saved");
    CHECK(ys_json_get_int(saved, "bytes", 0) > 4 * 1445);
    ys_json_free(saved);
    CHECK_INT(stop(&p), 0);
    char path[128];
    snprintf(path, sizeof path, "%s/saved.safetensors", folder);
    ys_json *whole = evaluate(path, "250", 0), *parts = evaluate(path, "7", 0);
    CHECK_INT(ys_json_get_int(whole, "count", 0), ROWS);
    CHECK_INT(ys_json_get_int(whole, "correct", -1), ys_json_get_int(parts, "correct", -2));
    CHECK_NEAR(ys_json_get_number(whole, "accuracy", NAN), (double)ys_json_get_int(whole, "correct", -1) / ROWS, 1e-15);
    /* Logits of 256 products in float, of the order of one: some 256 * 2^-24 = 1.5e-5 at most. */
    CHECK_NEAR(ys_json_get_number(whole, "loss", NAN), ys_json_get_number(parts, "loss", NAN), 2e-5);
    ys_json_free(whole);
    ys_json_free(parts);
}

static void weights_of_nan_have_no_loss(void)
{
    char *path = program_path();
    if (!path || !CHECK(make_fixture())) {
        tap_skip("yardstick-builtin is not built");
        return;
    }
    ys_free(path);
    ys_json *result = evaluate(in_folder("nan.safetensors"), "250", 0);
    CHECK(result && ys_json_get(result, "loss") && ys_json_type_of(ys_json_get(result, "loss")) == YS_JSON_NULL);
    CHECK(ys_json_get_number(result, "accuracy", NAN) <= 1);
    ys_json_free(result);
}

static void wrong_arguments_exit_2(void)
{
    char *path = program_path();
    if (!path || !CHECK(make_fixture())) {
        tap_skip("yardstick-builtin is not built");
        return;
    }
    ys_free(path);
    static const char *const wrong[][4] = {{"--peak"},   {"--floor", "lenet"},    {"nonsense"},
                                           {"evaluate"}, {"evaluate", "--graph"}, {"evaluate", "--threads", "0"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ys_buf output = {0};
        const char *arguments[5] = {wrong[i][0], wrong[i][1], wrong[i][2], NULL};
        CHECK_INT(run_program(arguments, &output), 2);
        CHECK_INT(output.size, 0);
        ys_buf_free(&output);
    }
    ys_json_free(evaluate("/nonexistent/weights", "250", 2));
    struct ys_buf output = {0};
    CHECK_INT(run_program((const char *const[]){"--version", NULL}, &output), 0);
    CHECK_HAS(ys_buf_text(&output), "yardstick-builtin");
    ys_buf_free(&output);
}

TAP_MAIN(TAP_CASE(hello_says_what_it_can_do), TAP_CASE(open_says_parameters_threads_and_library),
         TAP_CASE(option_backend_is_a_deviation), TAP_CASE(plans_that_it_cannot_run_are_refused),
         TAP_CASE(a_row_beyond_the_data_is_an_error_and_no_crash), TAP_CASE(no_steps_give_back_the_weights_loaded),
         TAP_CASE(forward_gives_rows_as_ordered_and_their_logits),
         TAP_CASE(backward_has_every_gradient_and_changes_nothing),
         TAP_CASE(training_repeats_after_reset_and_follows_step), TAP_CASE(unknown_messages_are_unsupported),
         TAP_CASE(requests_are_answered_and_change_nothing),
         TAP_CASE(a_plan_that_infers_gives_the_logits_of_one_that_trains), TAP_CASE(saved_weights_are_evaluated),
         TAP_CASE(weights_of_nan_have_no_loss), TAP_CASE(wrong_arguments_exit_2))
