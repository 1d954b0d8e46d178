/* The built-in engine as an adapter. */
#include "engine/backend.h"
#include "unit/builtin/program.h"

static bool lists(const ys_json *hello, const char *member, const char *word)
{
    const ys_json *list = ys_json_get(hello, member);
    for (size_t i = 0; i < ys_json_size(list); i++)
        if (strcmp(ys_json_text(ys_json_at(list, i), ""), word) == 0)
            return true;
    return false;
}

static void hello_says_what_it_can_do(void)
{
    struct program p;
    if (!start(&p))
        return;
    ys_json *hello = request(&p, parse("{\"type\":\"hello\",\"protocol\":1}"));
    CHECK_TEXT(ys_json_get_text(hello, "type", ""), "hello");
    CHECK_TEXT(ys_json_get_text(hello, "adapter", ""), "builtin");
    CHECK(lists(hello, "ops", "Conv"));
    CHECK(lists(hello, "precisions", "f64"));
    CHECK(lists(hello, "precisions", "f32"));
    CHECK(lists(hello, "optimizers", "adamw"));
    CHECK(lists(hello, "features", "infer"));
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
    const struct ys_backend *usual = ys_backends()[0]; /* the best that is built in; `ref` takes one thread */
    const ys_json *libraries = ys_json_get(opened, "libraries");
    CHECK_INT(ys_json_get_int(opened, "threads", 0), strcmp(usual->name, "ref") == 0 ? 1 : 2);
    CHECK_INT(ys_json_size(libraries), usual->library ? 2 : 1);
    CHECK_HAS(ys_json_text(ys_json_at(libraries, 0), ""), usual->library ? usual->library() : "instructions: ");
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
        {"options", "{\"speed\":\"high\"}", "unsupported", "speed"},
        {"optimizer", "{\"name\":\"sgd\",\"momentum\":\"much\"}", "protocol_error", "optimizer.momentum is a text"},
        {"threads", "\"two\"", "protocol_error", "plan.threads is a text"},
        {"input", "{\"kind\":\"file\",\"path\":\"/d\"}", "build_failed", "input.order"},
        {"graph", "null", "build_failed", "\"graph\""},
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
    ys_json *error = request(&p, parse("{\"type\":\"dance\"}"));
    CHECK_TEXT(ys_json_get_text(error, "code", ""), "unsupported");
    ys_json_free(error);
    CHECK_INT(stop(&p), 0);
}

enum { ELEMENTS = 16 * 9 + 16 + 16 * 16 * 5 + 5 };

/** The values of p0 to p3, behind `prefix`, one after the other. */
static bool flatten(const struct ys_safetensors *file, const char *prefix, double *values)
{
    size_t count = 0;
    for (int p = 0; file && p < 4; p++) {
        char name[24];
        snprintf(name, sizeof name, "%sp%d", prefix, p);
        const struct ys_tensor *t = ys_safetensors_find(file, name);
        for (size_t i = 0; t && i < ys_tensor_count(t) && count < ELEMENTS; i++)
            values[count++] = ys_tensor_value(t, i);
    }
    return CHECK(count == ELEMENTS);
}

struct rule {
    const char *text; /* the plan's optimizer */
    int kind;         /* 0 sgd, 1 adam, 2 adamw, 3 rmsprop */
    bool nesterov;
    double momentum, decay, beta1, beta2, alpha, epsilon, clip_norm;
};

/** One step of one weight by the formulas of docs/protocol.md; `gradient` is clipped already. */
static double stepped(const struct rule *r, double w, double gradient, int t, double *first, double *second)
{
    const double lr = 0.1; /* of the first steps of the order */
    double g = r->kind == 2 ? gradient : gradient + r->decay * w;
    if (r->kind == 0) {
        *first = r->momentum * *first + g;
        return w - lr * (r->nesterov ? g + r->momentum * *first : *first);
    }
    if (r->kind == 3) {
        *second = r->alpha * *second + (1 - r->alpha) * g * g;
        *first = r->momentum * *first + g / (sqrt(*second) + r->epsilon);
        return w - lr * *first;
    }
    if (r->kind == 2)
        w -= lr * r->decay * w;
    *first = r->beta1 * *first + (1 - r->beta1) * g;
    *second = r->beta2 * *second + (1 - r->beta2) * g * g;
    return w - lr * (*first / (1 - pow(r->beta1, t))) / (sqrt(*second / (1 - pow(r->beta2, t))) + r->epsilon);
}

static void check_rule(const struct rule *r)
{
    static double weights[ELEMENTS], gradients[ELEMENTS], first[ELEMENTS], second[ELEMENTS], got[ELEMENTS];
    struct program p;
    if (!start(&p))
        return;
    ys_json *plan = make_plan("f64");
    CHECK(ys_json_set(plan, "optimizer", parse(r->text)) == YS_OK);
    ys_json_free(open_plan(&p, plan));
    memset(first, 0, sizeof first);
    memset(second, 0, sizeof second);
    struct ys_safetensors *file = tensors(&p, "{\"type\":\"step\",\"n\":0}");
    bool known = flatten(file, "", weights);
    ys_safetensors_close(file);
    for (int t = 1; known && t <= 3; t++) {
        char text[64];
        double norm = 0, error = 0;
        snprintf(text, sizeof text, "{\"type\":\"backward\",\"batch\":%d,\"mode\":\"train\"}", t - 1);
        file = tensors(&p, text);
        known = flatten(file, "grad.", gradients);
        ys_safetensors_close(file);
        file = tensors(&p, "{\"type\":\"step\",\"n\":1}");
        known = known && flatten(file, "", got);
        ys_safetensors_close(file);
        for (size_t i = 0; i < ELEMENTS; i++)
            norm += gradients[i] * gradients[i];
        double factor = r->clip_norm > 0 && sqrt(norm) > r->clip_norm ? r->clip_norm / sqrt(norm) : 1;
        for (size_t i = 0; known && i < ELEMENTS; i++) {
            double expected = stepped(r, weights[i], factor * gradients[i], t, &first[i], &second[i]);
            error = fmax(error, fabs(got[i] - expected) / (1 + fabs(expected)));
            weights[i] = got[i];
        }
        tap_check(error <= 1e-13, __LINE__, "%s: step %d is off by %g", r->text, t, error);
    }
    CHECK_INT(stop(&p), 0);
}

/* In double some dozen roundings of 1e-16 stand between two ways to write one formula. */
static void every_member_of_the_optimizer_counts(void)
{
#define MEMBERS "\"momentum\":0.8,\"weight_decay\":0.03,\"beta1\":0.7,\"beta2\":0.95,\"alpha\":0.85,\"epsilon\":0.001,"
    static const struct rule rules[] = {
        {"{\"name\":\"sgd\"," MEMBERS "\"nesterov\":true,\"clip_norm\":null}", 0, true, 0.8, 0.03, 0, 0, 0, 0, 0},
        {"{\"name\":\"sgd\"," MEMBERS "\"nesterov\":false,\"clip_norm\":0.05}", 0, false, 0.8, 0.03, 0, 0, 0, 0, 0.05},
        {"{\"name\":\"adam\"," MEMBERS "\"nesterov\":false,\"clip_norm\":null}", 1, false, 0, 0.03, 0.7, 0.95, 0, 0.001,
         0},
        {"{\"name\":\"adamw\"," MEMBERS "\"nesterov\":false,\"clip_norm\":0.05}", 2, false, 0, 0.03, 0.7, 0.95, 0,
         0.001, 0.05},
        {"{\"name\":\"rmsprop\"," MEMBERS "\"nesterov\":false,\"clip_norm\":null}", 3, false, 0.8, 0.03, 0, 0, 0.85,
         0.001, 0},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        check_rule(&rules[i]);
}

static void what_is_written_in_bf16_is_float(void)
{
    struct program p;
    if (!start(&p))
        return;
    ys_json *hello = request(&p, parse("{\"type\":\"hello\",\"protocol\":1}"));
    bool has = lists(hello, "precisions", "bf16");
    ys_json_free(hello);
    ys_json *opened = open_plan(&p, make_plan("bf16"));
    /* It may multiply matrices in bf16, and have no convolution for this processor. */
    if (has && strcmp(ys_json_get_text(opened, "code", ""), "unsupported") == 0) {
        tap_skip("%s", ys_json_get_text(opened, "message", ""));
        has = false;
    } else {
        CHECK_TEXT(ys_json_get_text(opened, has ? "type" : "code", ""), has ? "opened" : "unsupported");
    }
    ys_json_free(opened);
    for (int k = 0; has && k < 3; k++) {
        static const char *const questions[] = {"{\"type\":\"forward\",\"batch\":0,\"mode\":\"train\"}",
                                                "{\"type\":\"backward\",\"batch\":0,\"mode\":\"train\"}",
                                                "{\"type\":\"step\",\"n\":2}"};
        struct ys_safetensors *file = tensors(&p, questions[k]);
        for (size_t i = 0; file && i < ys_safetensors_count(file); i++) {
            const struct ys_tensor *t = ys_safetensors_at(file, i);
            if (strcmp(t->name, "x") != 0 && strcmp(t->name, "y") != 0)
                CHECK_INT(t->dtype, YS_F32);
        }
        ys_safetensors_close(file);
    }
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

enum { PIXELS = 64, CLASSES = 5 };

/** Asks for the batch x, in `slope` for the sum of slope * logits, which is returned; the gradient goes where
 * `gradient` points, unless it is NULL: then there is no cotangent. */
static double slope_at(struct program *p, const float *x, const double *slope, double *gradient)
{
    const struct ys_tensor pixels = {"x", YS_F32, 4, {BATCH, 1, 8, 8}, x, (size_t)BATCH * PIXELS * sizeof *x};
    const struct ys_tensor numbers = {"cotangent",      YS_F64, 2,
                                      {BATCH, CLASSES}, slope,  (size_t)BATCH * CLASSES * sizeof *slope};
    char text[512];
    double sum = 0;
    CHECK(ys_safetensors_pass(in_folder("pixels"), &pixels, 1) == YS_OK);
    CHECK(ys_safetensors_pass(in_folder("slope"), &numbers, 1) == YS_OK);
    snprintf(text, sizeof text, "{\"type\":\"input_gradient\",\"path\":\"%s/pixels\"%s%s%s}", folder,
             gradient ? ",\"cotangent\":\"" : "", gradient ? folder : "", gradient ? "/slope\"" : "");
    struct ys_safetensors *file = tensors(p, text);
    const struct ys_tensor *logits = file ? ys_safetensors_find(file, "logits") : NULL,
                           *found = file ? ys_safetensors_find(file, "grad.x") : NULL;
    CHECK((found != NULL) == (gradient != NULL));
    for (size_t i = 0; logits && i < BATCH * CLASSES; i++)
        sum += slope[i] * ys_tensor_value(logits, i);
    for (size_t i = 0; found && i < BATCH * PIXELS; i++)
        gradient[i] = ys_tensor_value(found, i);
    ys_safetensors_close(file);
    return sum;
}

/** The network is linear between its kinks: differences over 2^-9 of a grey level are the gradient, but for the
 * rounding of sums below 100, 1e-14, divided by that. */
static void pixels_have_the_gradient_of_the_weights_as_they_are(void)
{
    struct program p;
    double slope[BATCH * CLASSES], before[BATCH * PIXELS], after[BATCH * PIXELS];
    float x[BATCH * PIXELS];
    if (!start_open(&p, "f64"))
        return;
    for (size_t i = 0; i < BATCH * CLASSES; i++)
        slope[i] = (double)(i * 7 % 11) - 5;
    for (size_t i = 0; i < BATCH * PIXELS; i++)
        x[i] = (float)(i * 37 % 256);
    slope_at(&p, x, slope, before);
    ys_safetensors_close(tensors(&p, "{\"type\":\"step\",\"n\":3}"));
    slope_at(&p, x, slope, after);
    CHECK(memcmp(before, after, sizeof before) != 0);
    for (size_t i = 5; i < BATCH * PIXELS; i += 61) {
        const float old = x[i];
        x[i] = old + 0x1p-10F;
        const double more = slope_at(&p, x, slope, NULL);
        x[i] = old - 0x1p-10F;
        CHECK_NEAR((more - slope_at(&p, x, slope, NULL)) * 0x1p9, after[i], 1e-11);
        x[i] = old;
    }
    ys_json_free(request(&p, parse("{\"type\":\"reset\"}")));
    slope_at(&p, x, slope, after);
    CHECK(memcmp(before, after, sizeof before) == 0);
    CHECK_INT(stop(&p), 0);
}

/** In f32 of a plan that infers, files that do not fit are errors and the program goes on. */
static void files_of_pixels_that_do_not_fit_are_refused(void)
{
    static const struct {
        const char *members, *code, *word;
    } wrong[] = {
        {"", "protocol_error", "path"},
        {",\"path\":\"pixels\"", "protocol_error", "absolute"},
        {",\"path\":\"/nonexistent/x\"", "crashed", "/nonexistent/x"},
        {",\"path\":\"%s/train.safetensors\"", "crashed", "x"},
        {",\"path\":\"%s/six\",\"cotangent\":7", "protocol_error", "cotangent"},
        {",\"path\":\"%s/six\",\"cotangent\":\"%s/six\"", "crashed", "cotangent"},
    };
    static const float x[BATCH * PIXELS];
    const struct ys_tensor pixels = {"x", YS_F32, 4, {BATCH, 1, 8, 8}, x, sizeof x};
    struct program p;
    char text[512];
    if (!start_infer(&p, "f32"))
        return;
    CHECK(ys_safetensors_pass(in_folder("six"), &pixels, 1) == YS_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char *whole = ys_replace(wrong[i].members, "%s", folder);
        snprintf(text, sizeof text, "{\"type\":\"input_gradient\"%s}", whole);
        ys_json *error = request(&p, parse(text));
        CHECK_TEXT(ys_json_get_text(error, "code", ""), wrong[i].code);
        CHECK_HAS(ys_json_get_text(error, "message", ""), wrong[i].word);
        ys_json_free(error);
        ys_free(whole);
    }
    CHECK_INT(stop(&p), 0);
}

TAP_MAIN(TAP_CASE(hello_says_what_it_can_do), TAP_CASE(open_says_parameters_threads_and_library),
         TAP_CASE(option_backend_is_a_deviation), TAP_CASE(plans_that_it_cannot_run_are_refused),
         TAP_CASE(a_row_beyond_the_data_is_an_error_and_no_crash), TAP_CASE(no_steps_give_back_the_weights_loaded),
         TAP_CASE(forward_gives_rows_as_ordered_and_their_logits),
         TAP_CASE(backward_has_every_gradient_and_changes_nothing),
         TAP_CASE(training_repeats_after_reset_and_follows_step), TAP_CASE(unknown_messages_are_unsupported),
         TAP_CASE(every_member_of_the_optimizer_counts), TAP_CASE(what_is_written_in_bf16_is_float),
         TAP_CASE(requests_are_answered_and_change_nothing),
         TAP_CASE(a_plan_that_infers_gives_the_logits_of_one_that_trains),
         TAP_CASE(pixels_have_the_gradient_of_the_weights_as_they_are),
         TAP_CASE(files_of_pixels_that_do_not_fit_are_refused))
