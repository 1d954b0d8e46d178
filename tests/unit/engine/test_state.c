/* What an optimizer keeps, taken out of one engine and put into another: both then go on alike. */
#include "unit/engine/open.h"

#include "base/status.h"

static const struct rule {
    const char *name, *mean, *square; /* as ys_engine_state_name() calls them; NULL: it keeps none */
    struct ys_engine_optimizer optimizer;
} rules[] = {
    {"sgd", NULL, NULL, {.rule = YS_ENGINE_SGD, .weight_decay = 0.01}},
    {"sgd with momentum", "velocity", NULL, {.rule = YS_ENGINE_SGD, .momentum = 0.9, .weight_decay = 0.01}},
    {"nesterov", "velocity", NULL, {.rule = YS_ENGINE_SGD, .momentum = 0.8, .nesterov = true}},
    {"adam",
     "exp_avg",
     "exp_avg_sq",
     {.rule = YS_ENGINE_ADAM, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .weight_decay = 0.01}},
    {"adamw",
     "exp_avg",
     "exp_avg_sq",
     {.rule = YS_ENGINE_ADAMW, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-6, .weight_decay = 0.01}},
    {"rmsprop", NULL, "exp_avg_sq", {.rule = YS_ENGINE_RMSPROP, .alpha = 0.95, .epsilon = 1e-6}},
    {"rmsprop with momentum",
     "velocity",
     "exp_avg_sq",
     {.rule = YS_ENGINE_RMSPROP, .alpha = 0.9, .epsilon = 1e-6, .momentum = 0.7}},
};
enum { RULES = sizeof rules / sizeof rules[0], STEPS = 3 };
static const enum ys_engine_state kinds[] = {YS_ENGINE_STATE_MEAN, YS_ENGINE_STATE_SQUARE};

struct bench {
    struct net net;
    void *x;
    int64_t *y;
};

static void bench_make(struct bench *b)
{
    small_net(&b->net, 5);
    b->x = net_rows(&b->net, "x");
    b->y = net_labels(&b->net, "y");
}

static void bench_free(struct bench *b)
{
    free(b->x);
    free(b->y);
}

static struct ys_engine *open_rule(const struct bench *b, const struct backend_case *c, const struct rule *rule)
{
    struct ys_engine_config config = config_of(&b->net, c);
    config.optimizer = rule->optimizer;
    return open_with(&b->net, &config);
}

static void train(struct ys_engine *e, const struct bench *b)
{
    for (int t = 0; t < STEPS; t++)
        CHECK(ys_engine_step(e, b->x, b->y, 0.05, NULL) == 0);
}

static void carry_over(struct ys_engine *from, struct ys_engine *to, const struct rule *rule)
{
    const struct ys_graph *graph = ys_engine_graph(from);
    for (size_t p = 0; p < graph->param_count; p++) {
        double *values = calloc((size_t)ys_param_elements(&graph->params[p]), sizeof *values);
        REQUIRE(values != NULL);
        CHECK(ys_engine_param_get(from, p, YS_ENGINE_F64, values) == 0);
        CHECK(ys_engine_param_set(to, p, YS_ENGINE_F64, values) == 0);
        for (size_t k = 0; k < 2; k++) {
            if (!ys_engine_state_name(&rule->optimizer, kinds[k]))
                continue;
            CHECK(ys_engine_state_get(from, kinds[k], p, YS_ENGINE_F64, values) == 0);
            CHECK(ys_engine_state_set(to, kinds[k], p, YS_ENGINE_F64, values) == 0);
        }
        free(values);
    }
    ys_engine_steps_set(to, ys_engine_steps(from));
}

/* Doubles hold what floats are, so nothing is rounded on the way, and both go on to the same bit. */
static void check_that_both_go_on_alike(const struct backend_case *c)
{
    struct bench b;
    bench_make(&b);
    for (size_t r = 0; r < RULES; r++) {
        struct ys_engine *one = open_rule(&b, c, &rules[r]), *other = open_rule(&b, c, &rules[r]);
        size_t count;
        REQUIRE(one && other);
        train(one, &b);
        carry_over(one, other, &rules[r]);
        CHECK_INT(ys_engine_steps(other), STEPS);
        train(one, &b);
        train(other, &b);
        double *a = flat_of(one, false, &count), *d = flat_of(other, false, &count);
        tap_check(memcmp(a, d, count * sizeof *a) == 0, __LINE__, "%s on %s: weights differ", rules[r].name, c->name);
        free(a);
        free(d);
        ys_engine_close(one);
        ys_engine_close(other);
    }
    bench_free(&b);
}

static void both_go_on_alike_ref_f64(void)
{
    check_that_both_go_on_alike(&ref64);
}

static void both_go_on_alike_ref_f32(void)
{
    check_that_both_go_on_alike(&ref32);
}

static void both_go_on_alike_onednn(void)
{
    check_that_both_go_on_alike(&onednn1);
}

static void both_go_on_alike_simd(void)
{
    check_that_both_go_on_alike(&simd1);
}

/* Without its state an engine goes on otherwise: the test above would notice. */
static void without_its_state_it_goes_on_otherwise(void)
{
    struct bench b;
    bench_make(&b);
    for (size_t r = 1; r < RULES; r++) {
        struct ys_engine *one = open_rule(&b, &ref64, &rules[r]), *other = open_rule(&b, &ref64, &rules[r]);
        size_t count;
        REQUIRE(one && other);
        train(one, &b);
        carry_over(one, other, &rules[0]); /* the weights alone, and the count of steps */
        train(one, &b);
        train(other, &b);
        double *a = flat_of(one, false, &count), *d = flat_of(other, false, &count);
        tap_check(memcmp(a, d, count * sizeof *a) != 0, __LINE__, "%s: weights are the same", rules[r].name);
        free(a);
        free(d);
        ys_engine_close(one);
        ys_engine_close(other);
    }
    bench_free(&b);
}

static void each_rule_names_what_it_keeps(void)
{
    for (size_t r = 0; r < RULES; r++) {
        const char *const expected[] = {rules[r].mean, rules[r].square};
        for (size_t k = 0; k < 2; k++) {
            const char *name = ys_engine_state_name(&rules[r].optimizer, kinds[k]);
            tap_check(!name == !expected[k] && (!name || strcmp(name, expected[k]) == 0), __LINE__, "%s keeps %s",
                      rules[r].name, name ? name : "nothing");
        }
    }
}

/* After a reset all of it is 0, and so is the count of steps. */
static void a_reset_forgets_it(void)
{
    struct bench b;
    bench_make(&b);
    struct ys_engine *e = open_rule(&b, &onednn1, &rules[3]);
    REQUIRE(e != NULL);
    size_t n = (size_t)ys_param_elements(&b.net.params[0]);
    double *values = calloc(n, sizeof *values), sum = 0;
    train(e, &b);
    CHECK(ys_engine_state_get(e, YS_ENGINE_STATE_SQUARE, 0, YS_ENGINE_F64, values) == 0);
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    CHECK(sum > 0);
    ys_engine_reset(e);
    CHECK_INT(ys_engine_steps(e), 0);
    CHECK(ys_engine_state_get(e, YS_ENGINE_STATE_SQUARE, 0, YS_ENGINE_F64, values) == 0);
    for (size_t i = 0; i < n; i++)
        CHECK(values[i] == 0);
    free(values);
    ys_engine_close(e);
    bench_free(&b);
}

static void what_is_not_kept_is_refused(void)
{
    struct bench b;
    double value = 0;
    bench_make(&b);
    struct ys_engine *plain = open_rule(&b, &ref64, &rules[0]), *adam = open_rule(&b, &ref64, &rules[3]);
    REQUIRE(plain && adam);
    CHECK(ys_engine_state_get(plain, YS_ENGINE_STATE_MEAN, 0, YS_ENGINE_F64, &value) == YS_EINVAL);
    CHECK_HAS(ys_engine_error(), "keeps no such array");
    CHECK(ys_engine_state_set(plain, YS_ENGINE_STATE_SQUARE, 0, YS_ENGINE_F64, &value) == YS_EINVAL);
    CHECK(ys_engine_state_get(adam, YS_ENGINE_STATE_MEAN, NET_MAX, YS_ENGINE_F64, &value) != 0);
    ys_engine_close(plain);
    ys_engine_close(adam);
    struct ys_engine_config config = config_of(&b.net, &ref64);
    config.optimizer = rules[3].optimizer;
    config.training = false;
    struct ys_engine *predicts = open_with(&b.net, &config);
    REQUIRE(predicts != NULL);
    CHECK(ys_engine_state_get(predicts, YS_ENGINE_STATE_MEAN, 0, YS_ENGINE_F64, &value) == YS_EINVAL);
    ys_engine_close(predicts);
    bench_free(&b);
}

TAP_MAIN(TAP_CASE(both_go_on_alike_ref_f64), TAP_CASE(both_go_on_alike_ref_f32), TAP_CASE(both_go_on_alike_onednn),
         TAP_CASE(both_go_on_alike_simd), TAP_CASE(without_its_state_it_goes_on_otherwise),
         TAP_CASE(each_rule_names_what_it_keeps), TAP_CASE(a_reset_forgets_it), TAP_CASE(what_is_not_kept_is_refused))
