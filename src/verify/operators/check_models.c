#include "verify/operators/check_models.h"
#include "verify/operators/check_cases.h"
#include "graph/builder.h"
#include <stdio.h>
#include <string.h>

/* What a case is built in. */
struct case_site {
    struct ys_build *b;
    const char *name; /* of the case: begins the names of its nodes */
    int nodes;        /* of the case so far, to number them */
    int raw, pixels;  /* the graph's input, and the same normalised and flattened: -1 until a case wants it */
    int64_t classes;
    int total; /* the logits so far; -1 without */
    char text[96];
};

typedef int add_case(struct case_site *s);

static const char *next_name(struct case_site *s)
{
    snprintf(s->text, sizeof s->text, "%s_%d", s->name, s->nodes++);
    return s->text;
}

static int alike_of(struct case_site *s, int v, struct ys_node as)
{
    return ys_build_node(s->b, &as, &v, 1, next_name(s));
}
#define alike(s, v, ...)       alike_of(s, v, (struct ys_node){__VA_ARGS__})
#define maxpool(s, v, ...)     alike(s, v, .op = YS_OP_MAXPOOL, .window = {__VA_ARGS__})
#define averagepool(s, v, ...) alike(s, v, .op = YS_OP_AVERAGEPOOL, .window = {__VA_ARGS__})
#define transpose(s, v, ...)   alike(s, v, .op = YS_OP_TRANSPOSE, .permutation = {__VA_ARGS__})

static int gemm(struct case_site *s, int v, int64_t out, bool with_bias)
{
    return with_bias ? ys_build_gemm(s->b, v, out, next_name(s)) : ys_build_gemm_plain(s->b, v, out, next_name(s));
}

static int reshape_to(struct case_site *s, int v, size_t rank, const int64_t *extents)
{
    struct ys_node as = {.op = YS_OP_RESHAPE, .shape_rank = rank + 1, .shape = {YS_BATCH}};
    memcpy(as.shape + 1, extents, rank * sizeof *extents);
    return alike_of(s, v, as);
}
#define reshape(s, v, ...)                                                                                             \
    reshape_to(s, v, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

static int features(struct case_site *s, int64_t count)
{
    if (s->pixels < 0)
        s->pixels = ys_build_flatten(s->b, ys_build_normalize(s->b, s->raw, 1.0 / 255, 0.5, 0.25, "normalize"), "flat");
    return gemm(s, s->pixels, count, true);
}

static int image(struct case_site *s, int64_t channels, int64_t height, int64_t width)
{
    return reshape(s, features(s, channels * height * width), channels, height, width);
}

/* An image, or features where there is no height. */
static int stem(struct case_site *s, const int64_t extents[3])
{
    return extents[1] ? image(s, extents[0], extents[1], extents[2]) : features(s, extents[0]);
}

/* The value, flattened and through a dense layer, becomes a part of the logits. */
static void add_logits(struct case_site *s, int v)
{
    int made = gemm(s, ys_build_flatten(s->b, v, next_name(s)), s->classes, true);
    const char *sum = next_name(s); /* taken in any case: names, and so weights, are the same alone and with others */
    s->total = s->total < 0 ? made : ys_build_add(s->b, s->total, made, sum);
}

static int normalize_all(struct case_site *s)
{
    return ys_build_normalize(s->b, s->raw, 1.0 / 200, 0.3, 0.7, next_name(s));
}

static int normalize_each(struct case_site *s)
{
    return ys_build_normalize_each(s->b, s->raw, 1.0 / 255, (const double[]){0.1, -0.4, 0.7},
                                   (const double[]){0.3, 1.5, 0.2}, next_name(s));
}

static int conv_of(struct case_site *s, int v, int64_t out, struct ys_window window, bool with_bias)
{
    return ys_build_conv_window(s->b, v, out, &window, NULL, with_bias, next_name(s));
}
#define conv(s, v, out, ...)       conv_of(s, v, out, (struct ys_window){__VA_ARGS__}, true)
#define conv_plain(s, v, out, ...) conv_of(s, v, out, (struct ys_window){__VA_ARGS__}, false)

/* Every third pair of channels is absent; of 4 input channels each output keeps two or three. */
static int conv_table(struct case_site *s, int v, int64_t out)
{
    unsigned char connected[64];
    for (size_t i = 0; i < sizeof connected; i++)
        connected[i] = i % 3 != 1;
    return ys_build_conv_table(s->b, v, out, 3, connected, next_name(s));
}

static int transposed_of(struct case_site *s, int v, int64_t out, struct ys_window window)
{
    return ys_build_conv_transpose(s->b, v, out, &window, next_name(s));
}
#define transposed(s, v, out, ...) transposed_of(s, v, out, (struct ys_window){__VA_ARGS__})

/* Of tokens from 0 to 255, as `synthetic` draws them. */
static int embedding(struct case_site *s, int64_t width)
{
    return ys_build_embedding(s->b, s->raw, 256, width, next_name(s));
}

static int last(struct case_site *s, int v)
{
    return ys_build_node(s->b, &(struct ys_node){.op = YS_OP_LAST}, (const int[]){v, s->raw}, 2, next_name(s));
}

static int attention_over(struct case_site *s, struct ys_attention how, const int in[3])
{
    return ys_build_node(s->b, &(struct ys_node){.op = YS_OP_ATTENTION, .attention = how}, in, 3, next_name(s));
}

/* `width` and `value_width` of all heads of queries and of their results. */
static int attention_of(struct case_site *s, int64_t queries, int64_t keys, int64_t width, int64_t value_width,
                        struct ys_attention how)
{
    const int64_t group = how.heads / how.kv_heads;
    const int q = reshape(s, features(s, queries * width), queries, width);
    const int k = reshape(s, features(s, keys * width / group), keys, width / group);
    const int v = reshape(s, features(s, keys * value_width / group), keys, value_width / group);
    return attention_over(s, how, (const int[]){q, k, v});
}
#define attention(s, queries, keys, width, value_width, ...)                                                           \
    attention_of(s, queries, keys, width, value_width, (struct ys_attention){__VA_ARGS__})

/* One value in three places. */
static int attention_of_itself(struct case_site *s)
{
    const int v = reshape(s, features(s, 24), 4, 6);
    return attention_over(s, (struct ys_attention){.heads = 2, .kv_heads = 2, .causal = true}, (const int[]){v, v, v});
}

static int matmul_of(struct case_site *s, int a, int b)
{
    return ys_build_node(s->b, &(struct ys_node){.op = YS_OP_MATMUL}, (const int[]){a, b}, 2, next_name(s));
}

/* `count` pairs of matrices in each row; 0: one, and no axis for them. */
static int matmul(struct case_site *s, int64_t count, int64_t rows, int64_t inner, int64_t columns)
{
    const int a = count ? image(s, count, rows, inner) : reshape(s, features(s, rows * inner), rows, inner);
    const int b = count ? image(s, count, inner, columns) : reshape(s, features(s, inner * columns), inner, columns);
    return matmul_of(s, a, b);
}

/* A square matrix times itself: two gradients add up. */
static int matmul_of_itself(struct case_site *s)
{
    const int v = reshape(s, features(s, 16), 4, 4);
    return matmul_of(s, v, v);
}

static int recurrent(struct case_site *s, enum ys_op op, int64_t positions, int64_t width, int64_t hidden)
{
    const int v = reshape(s, features(s, positions * width), positions, width);
    return ys_build_recurrent(s->b, op, v, hidden, next_name(s));
}

/* Two layers of the same parameters: their gradients add up. */
static int recurrent_again(struct case_site *s, enum ys_op op)
{
    const int v = recurrent(s, op, 4, 3, 3);
    return ys_build_shared(s->b, v, v, next_name(s));
}

/* `pads`: before and behind channels, rows and columns. */
static int padded_of(struct case_site *s, int v, enum ys_pad_mode mode, double value, const int64_t pads[6])
{
    struct ys_node as = {.op = YS_OP_PAD, .pad = {.mode = mode, .value = value, .rank = 4}};
    memcpy(as.pad.before + 1, pads, 3 * sizeof *pads);
    memcpy(as.pad.after + 1, pads + 3, 3 * sizeof *pads);
    return alike_of(s, v, as);
}
#define padded(s, v, mode, value, ...) padded_of(s, v, mode, value, (const int64_t[6]){__VA_ARGS__})

static void factors(struct case_site *s)
{
    ys_build_factors(s->b, 0.5, 3, 2, 0);
}

/* Weights keep their values; biases learn. */
static void frozen(struct case_site *s)
{
    ys_build_factors(s->b, 0, 0, 1, 1);
}

static int batchnorm(struct case_site *s, int v, double epsilon, double momentum)
{
    return ys_build_batchnorm_of(s->b, v, (struct ys_batchnorm){epsilon, momentum}, next_name(s));
}

static int layernorm(struct case_site *s, int v, double epsilon)
{
    return ys_build_layernorm(s->b, v, epsilon, next_name(s));
}

static int rmsnorm(struct case_site *s, int v, double epsilon)
{
    return ys_build_rmsnorm(s->b, v, epsilon, next_name(s));
}

static int places_of(struct case_site *s, enum ys_op op, int64_t positions, int64_t width, struct ys_rotary how)
{
    return alike(s, reshape(s, features(s, positions * width), positions, width), .op = op, .rotary = how);
}
#define places(s, op, positions, width, ...) places_of(s, op, positions, width, (struct ys_rotary){__VA_ARGS__})

static int join(struct case_site *s, enum ys_op op, int a, int b)
{
    return ys_build_node(s->b, &(struct ys_node){.op = op}, (const int[]){a, b}, 2, next_name(s));
}

static int both(struct case_site *s, enum ys_op op, int64_t channels, int64_t height, int64_t width)
{
    const int64_t extents[3] = {channels, height, width};
    int first = stem(s, extents);
    return join(s, op, first, stem(s, extents));
}

static int twice(struct case_site *s, enum ys_op op, int v)
{
    return join(s, op, v, v);
}

/* A framework may not let the Relu write over its input, which is read once more. */
static int beside_relu(struct case_site *s, enum ys_op op, int v)
{
    return join(s, op, ys_build_relu(s->b, v, next_name(s)), v);
}

/* `count` values, every other one of extent `other` along the axis. */
static int concat(struct case_site *s, int axis, int64_t channels, int64_t height, int64_t width, int64_t other,
                  size_t count)
{
    int values[YS_NODE_MAX_IN];
    for (size_t i = 0; i < count; i++) {
        int64_t extents[3] = {channels, height, width};
        if (i % 2)
            extents[axis - 1] = other;
        values[i] = stem(s, extents);
    }
    return ys_build_node(s->b, &(struct ys_node){.op = YS_OP_CONCAT, .axis = axis}, values, count, next_name(s));
}

static int concat_itself(struct case_site *s, int v)
{
    return ys_build_node(s->b, &(struct ys_node){.op = YS_OP_CONCAT, .axis = 1}, (const int[]){v, v}, 2, next_name(s));
}

/* Each part has logits of its own, so that none can be taken for another. */
static int split_to(struct case_site *s, int v, int axis, size_t count, const int64_t *extents)
{
    struct ys_node as = {.op = YS_OP_SPLIT, .axis = axis, .out_count = count};
    memcpy(as.split, extents, count * sizeof *extents);
    int first = alike_of(s, v, as);
    for (size_t k = 0; first >= 0 && k + 1 < count; k++)
        add_logits(s, first + (int)k);
    return first < 0 ? first : first + (int)count - 1;
}
#define split(s, v, axis, ...)                                                                                         \
    split_to(s, v, axis, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

/* Of two parts the first is read by nobody. */
static int second_part(struct case_site *s, int v, int axis, int64_t first, int64_t second)
{
    v = alike(s, v, .op = YS_OP_SPLIT, .axis = axis, .out_count = 2, .split = {first, second});
    return v < 0 ? v : v + 1;
}

/* Between 0 and 1, for what is defined of no others. */
static int positive(struct case_site *s, int v)
{
    return ys_build_plain(s->b, YS_OP_SIGMOID, v, next_name(s));
}

/* Between 1/2 and 3/4, for divisors: training a smaller one goes astray. */
static int divisor(struct case_site *s, int v)
{
    return positive(s, positive(s, v));
}

/* An image and a number for each of its channels. */
static int stretched(struct case_site *s, enum ys_op op)
{
    int v = image(s, 3, 4, 5);
    return join(s, op, v, divisor(s, image(s, 3, 1, 1)));
}

/* With a parameter of these extents. */
static int operand_of(struct case_site *s, enum ys_op op, int v, size_t rank, const int64_t *shape)
{
    return ys_build_operand(s->b, op, v, shape, rank, (struct ys_initializer){YS_INIT_UNIFORM, 0.5, 1.5}, next_name(s));
}
#define operand(s, op, v, ...)                                                                                         \
    operand_of(s, op, v, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

/* `reduced`: bit a stands for axis a. */
static int mean(struct case_site *s, int v, bool keepdims, unsigned reduced)
{
    struct ys_node as = {.op = YS_OP_MEAN, .keepdims = keepdims};
    for (size_t axis = 0; axis < YS_MAX_RANK; axis++)
        as.reduced[axis] = reduced >> axis & 1;
    return alike_of(s, v, as);
}

static ys_status begin(const char *name, const struct ys_model_input *input, struct case_site *s)
{
    *s = (struct case_site){.pixels = -1, .classes = input->classes, .total = -1};
    YS_TRY(ys_build_new(name, input->shape, input->shape[1] ? 3 : 1, input->dtype, &s->b));
    s->raw = ys_build_input(s->b);
    return YS_OK;
}

/* Cases one beside the other; their logits are added up. Biases begin away from 0, so that decay shows on them. */
static ys_status build(const char *model, const struct ys_model *cases, add_case *const *adds, size_t count,
                       const struct ys_model_input *input, struct ys_graph **graph)
{
    struct case_site s;
    YS_TRY(begin(model, input, &s));
    for (size_t i = 0; i < count; i++) {
        s.name = cases[i].name + strlen(YS_CHECK_PREFIX);
        s.nodes = 0;
        ys_build_draw(s.b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_UNIFORM(0.2));
        ys_build_factors(s.b, 1, 1, 1, 1);
        add_logits(&s, adds[i](&s));
    }
    return ys_build_finish(s.b, s.total, graph);
}

/* Three channels, for the normalisation of each; little else of it matters. */
#define USUAL                                                                                                          \
    {                                                                                                                  \
        .shape = {3, 4, 5}, .dtype = YS_U8, .scale = 1.0 / 255, .classes = 7                                           \
    }
#define TITLE "a case of list frameworks --check"

#define DECLARE(id, ...)                                                                                               \
    static int add_##id(struct case_site *s)                                                                           \
    {                                                                                                                  \
        return __VA_ARGS__;                                                                                            \
    }                                                                                                                  \
    static ys_status build_##id(const struct ys_model_input *input, struct ys_graph **graph);
#define ENTER_ADD(id, ...)   add_##id,
#define ENTER_MODEL(id, ...) {YS_CHECK_PREFIX #id, TITLE, USUAL, build_##id},
#define COUNT(id, ...)       +1
#define DEFINE(id, ...)                                                                                                \
    static ys_status build_##id(const struct ys_model_input *input, struct ys_graph **graph)                           \
    {                                                                                                                  \
        static const struct ys_model alone = {YS_CHECK_PREFIX #id, TITLE, USUAL, build_##id};                          \
        return build(alone.name, &alone, &(add_case *const){add_##id}, 1, input, graph);                               \
    }

#define OPERATOR(OP)                                                                                                   \
    YS_CASES_##OP(DECLARE) static add_case *const adds_##OP[] = {YS_CASES_##OP(ENTER_ADD)};                            \
    static struct ys_model cases_##OP[] = {YS_CASES_##OP(ENTER_MODEL){NULL}};                                          \
    YS_CASES_##OP(DEFINE) static ys_status build_##OP(const struct ys_model_input *input, struct ys_graph **graph)     \
    {                                                                                                                  \
        return build(ys_check_groups()[YS_OP_##OP].whole.name, cases_##OP, adds_##OP, YS_CASES_##OP(COUNT), input,     \
                     graph);                                                                                           \
    }
YS_OPS(OPERATOR)

#define GROUP(OP) {YS_OP_##OP, {NULL, TITLE, USUAL, build_##OP}, cases_##OP, YS_CASES_##OP(COUNT)},

static char group_names[YS_OP_COUNT][40];
static struct ys_check_group groups[YS_OP_COUNT] = {YS_OPS(GROUP)};

/* The usual row as tokens: what an embedding reads. */
static const struct ys_rows rows_of_tokens = {
    .unit = "sequences",
    .input_count = 1,
    .inputs = {{.name = "x", .dtype = YS_I32, .rank = 3, .shape = {3, 4, 5}}},
    .kind = YS_TARGET_CLASS,
    .target = {.name = YS_TARGET_NAME, .dtype = YS_I64},
    .classes = 7,
};

/* Tokens that end before the row does. */
static const struct ys_rows rows_of_positions = {
    .unit = "sequences",
    .input_count = 1,
    .inputs = {{.name = "x", .dtype = YS_I32, .rank = 1, .shape = {6}, .padded = true}},
    .kind = YS_TARGET_CLASS,
    .target = {.name = YS_TARGET_NAME, .dtype = YS_I64},
    .classes = 7,
};

static void take_rows(struct ys_model *model, const struct ys_rows *rows)
{
    model->rows = rows;
    model->usual.dtype = rows->inputs[0].dtype;
    for (size_t i = 0; i < 3; i++)
        model->usual.shape[i] = rows->inputs[0].shape[i];
}

static void take_rows_of_all(struct ys_check_group *group, struct ys_model *cases, const struct ys_rows *rows)
{
    take_rows(&group->whole, rows);
    for (struct ys_model *model = cases; model->name; model++)
        take_rows(model, rows);
}

const struct ys_check_group *ys_check_groups(void)
{
    take_rows_of_all(&groups[YS_OP_EMBEDDING], cases_EMBEDDING, &rows_of_tokens);
    take_rows_of_all(&groups[YS_OP_LAST], cases_LAST, &rows_of_positions);
    for (size_t i = 0; i < YS_OP_COUNT && !groups[i].whole.name; i++) {
        snprintf(group_names[i], sizeof group_names[i], YS_CHECK_PREFIX "%s", ys_op_name(groups[i].op));
        groups[i].whole.name = group_names[i];
    }
    return groups;
}

#define ADDS(OP) adds_##OP,

static ys_status build_each(const struct ys_model_input *input, struct ys_graph **graph)
{
    static add_case *const *const adds[] = {YS_OPS(ADDS)};
    const struct ys_check_group *all = ys_check_groups();
    struct ys_model first[YS_OP_COUNT];
    add_case *add[YS_OP_COUNT];
    size_t count = 0;
    for (size_t op = 0; op < YS_OP_COUNT; op++) {
        if (all[op].cases->rows)
            continue;
        first[count] = all[op].cases[0];
        add[count++] = adds[op][0];
    }
    return build(YS_CHECK_PREFIX "each", first, add, count, input, graph);
}

/* Small, but with everything that an optimizer may treat in its own way: weights of rank 4, 2 and 1, biases, the two of
 * batch normalisation, buffers, and factors on rate and decay. */
static int add_images(struct case_site *s)
{
    const struct ys_window window = {WINDOW(3, 3, 1, 1, 0, 1, 2, 1)};
    int v = ys_build_normalize(s->b, s->raw, 1.0 / 255, 0.5, 0.25, "normalize");
    v = ys_build_relu(s->b, ys_build_conv_window(s->b, v, 6, &window, NULL, true, "conv"), "relu1");
    v = ys_build_batchnorm(s->b, v, "bn"); /* not straight behind the convolution: its bias would have gradient 0 */
    v = ys_build_flatten(s->b, ys_build_maxpool(s->b, v, 2, 2, 0, "pool"), "flatten");
    ys_build_factors(s->b, 1, 2, 2, 0);
    return ys_build_relu(s->b, ys_build_gemm(s->b, v, 9, "fc1"), "relu2");
}

static int add_dense(struct case_site *s)
{
    int v = ys_build_normalize(s->b, s->raw, 1.0 / 255, 0.5, 0.25, "normalize");
    v = ys_build_relu(s->b, ys_build_gemm(s->b, ys_build_flatten(s->b, v, "flatten"), 11, "fc1"), "relu1");
    ys_build_factors(s->b, 1, 2, 2, 0);
    return ys_build_relu(s->b, ys_build_gemm(s->b, v, 9, "fc2"), "relu2");
}

/* Layers that stand at two places each, convolutions of both kinds among them. */
static int add_shared(struct case_site *s)
{
    const struct ys_window plain = {WINDOW(3, 3, 1, 1, 1, 1, 1, 1)}, depthwise = {GROUPS(3, 1, 1, 5)};
    int v = ys_build_normalize(s->b, s->raw, 1.0 / 255, 0.5, 0.25, "normalize");
    v = ys_build_conv(s->b, v, 5, 1, 1, 0, "widen");
    int first = ys_build_conv_window(s->b, v, 5, &plain, NULL, true, "conv");
    v = ys_build_shared(s->b, first, ys_build_plain(s->b, YS_OP_TANH, first, "tanh1"), "conv_again");
    first = ys_build_conv_window(s->b, v, 5, &depthwise, NULL, true, "depthwise");
    v = ys_build_shared(s->b, first, ys_build_plain(s->b, YS_OP_TANH, first, "tanh2"), "depthwise_again");
    v = ys_build_gemm(s->b, ys_build_flatten(s->b, v, "flatten"), 9, "fc1");
    ys_build_factors(s->b, 1, 2, 2, 0);
    first = ys_build_gemm(s->b, ys_build_plain(s->b, YS_OP_TANH, v, "tanh3"), 9, "fc2");
    return ys_build_shared(s->b, first, ys_build_plain(s->b, YS_OP_TANH, first, "tanh4"), "fc2_again");
}

static ys_status build_network(const char *name, add_case *add, bool nll, const struct ys_model_input *input,
                               struct ys_graph **graph)
{
    struct case_site s;
    YS_TRY(begin(name, input, &s));
    ys_build_draw(s.b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_UNIFORM(0.2));
    int v = add(&s);
    ys_build_factors(s.b, 1, 1, 1, 1);
    v = ys_build_gemm(s.b, v, input->classes, "logits");
    if (nll) {
        v = ys_build_log_softmax(s.b, v, "log_softmax");
        ys_build_loss(s.b, YS_LOSS_NLL);
    }
    return ys_build_finish(s.b, v, graph);
}

#define NETWORK(id, add, nll)                                                                                          \
    static ys_status build_##id(const struct ys_model_input *input, struct ys_graph **graph)                           \
    {                                                                                                                  \
        return build_network(YS_CHECK_PREFIX #id, add, nll, input, graph);                                             \
    }
NETWORK(small, add_images, false)
NETWORK(small_nll, add_images, true)
NETWORK(dense, add_dense, false)
NETWORK(dense_nll, add_dense, true)
NETWORK(shared, add_shared, false)

/* Rows that are no images: a sequence of 6 positions of 5 numbers, and 5 numbers that belong to all of them. One dense
 * layer, as a convolution of a pixel, brings both to 8 numbers a position; what belongs to all positions is added to
 * each of them, and scales each. */
static int add_positions(struct ys_build *b, int sequence, int context)
{
    int v = ys_build_node(b, &(struct ys_node){.op = YS_OP_RESHAPE, .shape_rank = 4, .shape = {YS_BATCH, 5, 6, 1}},
                          &sequence, 1, "positions");
    int all = ys_build_node(b, &(struct ys_node){.op = YS_OP_RESHAPE, .shape_rank = 4, .shape = {YS_BATCH, 5, 1, 1}},
                            &context, 1, "all");
    v = ys_build_conv(b, v, 8, 1, 1, 0, "dense");
    all = ys_build_shared(b, v, all, "dense_all");
    v = ys_build_plain(b, YS_OP_TANH, ys_build_add(b, all, v, "add_all"), "tanh");
    return ys_build_mul(b, v, ys_build_plain(b, YS_OP_SIGMOID, all, "share"), "scale_all");
}

static ys_status build_rows(const struct ys_model_input *input, struct ys_graph **graph)
{
    (void)input;
    struct ys_build *b;
    YS_TRY(ys_build_new(YS_CHECK_PREFIX "rows", (const int64_t[]){5, 6}, 2, YS_F32, &b));
    int context = ys_build_more_input(b, "context", (const int64_t[]){5}, 1, YS_F32);
    ys_build_draw(b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_UNIFORM(0.2));
    int v = ys_build_conv(b, add_positions(b, ys_build_input(b), context), 3, 1, 1, 0, "logits");
    v = ys_build_node(b, &(struct ys_node){.op = YS_OP_RESHAPE, .shape_rank = 3, .shape = {YS_BATCH, 3, 6}}, &v, 1,
                      "by_class");
    v = ys_build_node(b, &(struct ys_node){.op = YS_OP_TRANSPOSE, .permutation = {0, 2, 1}}, &v, 1, "by_position");
    ys_build_target(b, YS_TARGET_CLASSES);
    return ys_build_finish(b, v, graph);
}

static const struct ys_rows rows_of_rows = {
    .unit = "sequences",
    .input_count = 2,
    .inputs = {{.name = "x", .dtype = YS_F32, .rank = 2, .shape = {5, 6}},
               {.name = "context", .dtype = YS_F32, .rank = 1, .shape = {5}}},
    .kind = YS_TARGET_CLASSES,
    .target = {.name = YS_TARGET_NAME, .dtype = YS_I64, .rank = 1, .shape = {6}},
    .classes = 3,
};

/* Integers in, numbers out: dense layers, the second of which comes twice, and the distance from a vector. */
static ys_status build_numbers(const struct ys_model_input *input, struct ys_graph **graph)
{
    (void)input;
    struct ys_build *b;
    YS_TRY(ys_build_new(YS_CHECK_PREFIX "numbers", (const int64_t[]){7}, 1, YS_I32, &b));
    ys_build_draw(b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_UNIFORM(0.2));
    int v = ys_build_normalize(b, ys_build_input(b), 1.0 / 255, 0.5, 0.25, "normalize");
    v = ys_build_plain(b, YS_OP_TANH, ys_build_gemm(b, v, 4, "fc1"), "tanh1");
    v = ys_build_gemm(b, v, 4, "fc2");
    v = ys_build_shared(b, v, ys_build_plain(b, YS_OP_TANH, v, "tanh2"), "fc2_again");
    ys_build_target(b, YS_TARGET_VECTOR);
    ys_build_loss(b, YS_LOSS_MEAN_SQUARED_ERROR);
    return ys_build_finish(b, v, graph);
}

static const struct ys_rows rows_of_numbers = {
    .unit = "rows",
    .input_count = 1,
    .inputs = {{.name = "x", .dtype = YS_I32, .rank = 1, .shape = {7}}},
    .kind = YS_TARGET_VECTOR,
    .target = {.name = YS_TARGET_NAME, .dtype = YS_F32, .rank = 1, .shape = {4}},
};

/* Tokens that end before the row does: attention of all that count, then one of grouped heads that is causal too. */
static ys_status build_padded(const struct ys_model_input *input, struct ys_graph **graph)
{
    (void)input;
    struct ys_build *b;
    YS_TRY(ys_build_new(YS_CHECK_PREFIX "padded", (const int64_t[]){7}, 1, YS_I32, &b));
    const int tokens = ys_build_input(b);
    ys_build_draw(b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_UNIFORM(0.2));
    int v = ys_build_embedding(b, tokens, 12, 8, "embed");
    const struct ys_node all = {.op = YS_OP_ATTENTION, .attention = {.heads = 2, .kv_heads = 2}};
    v = ys_build_node(b, &all, (const int[]){v, v, v, tokens}, 4, "attend_all");
    const int k = ys_build_gemm(b, v, 4, "keys"), q = ys_build_gemm(b, v, 8, "queries");
    const struct ys_node before = {.op = YS_OP_ATTENTION,
                                   .attention = {.heads = 4, .kv_heads = 2, .causal = true, .scale = 0.8}};
    v = ys_build_node(b, &before, (const int[]){q, k, k, tokens}, 4, "attend_before");
    v = ys_build_gemm(b, v, 3, "logits");
    ys_build_target(b, YS_TARGET_CLASSES);
    return ys_build_finish(b, v, graph);
}

static const struct ys_rows rows_of_padded = {
    .unit = "sequences",
    .input_count = 1,
    .inputs = {{.name = "x", .dtype = YS_I32, .rank = 1, .shape = {7}, .below = 12, .padded = true}},
    .kind = YS_TARGET_CLASSES,
    .target = {.name = YS_TARGET_NAME, .dtype = YS_I64, .rank = 1, .shape = {7}},
    .classes = 3,
};

/* All that knows its place, of which each sees those before it alone: what can be answered position by position. */
static ys_status build_pieces(const struct ys_model_input *input, struct ys_graph **graph)
{
    (void)input;
    struct ys_build *b;
    YS_TRY(ys_build_new(YS_CHECK_PREFIX "pieces", (const int64_t[]){8}, 1, YS_I32, &b));
    ys_build_draw(b, YS_DRAW_UNIFORM_FAN_IN(3), YS_DRAW_UNIFORM(0.2));
    int v = ys_build_embedding(b, ys_build_input(b), 11, 8, "embed");
    v = ys_build_operand(b, YS_OP_ADD, v, (const int64_t[]){8, 8}, 2, (struct ys_initializer){YS_INIT_UNIFORM, -1, 1},
                         "places");
    const struct ys_node waves = {.op = YS_OP_SINUSOID, .rotary = {.base = 100}},
                         turn = {.op = YS_OP_ROTARY, .rotary = {.heads = 2, .base = 100}},
                         before = {.op = YS_OP_ATTENTION, .attention = {.heads = 4, .kv_heads = 2, .causal = true}};
    v = ys_build_node(b, &waves, &v, 1, "waves");
    int k = ys_build_gemm(b, v, 4, "keys");
    const int q = ys_build_gemm(b, v, 8, "queries"), values = ys_build_gemm(b, v, 6, "values");
    k = ys_build_node(b, &turn, &k, 1, "turn");
    v = ys_build_node(b, &before, (const int[]){q, k, values}, 3, "attend_before");
    v = ys_build_gemm(b, ys_build_layernorm(b, v, 1e-5, "norm"), 5, "logits");
    ys_build_target(b, YS_TARGET_CLASSES);
    return ys_build_finish(b, v, graph);
}

static const struct ys_rows rows_of_pieces = {
    .unit = "sequences",
    .input_count = 1,
    .inputs = {{.name = "x", .dtype = YS_I32, .rank = 1, .shape = {8}, .below = 11}},
    .kind = YS_TARGET_CLASSES,
    .target = {.name = YS_TARGET_NAME, .dtype = YS_I64, .rank = 1, .shape = {8}},
    .classes = 5,
};

static const struct ys_model networks[] = {
    ENTER_MODEL(small, 0) ENTER_MODEL(small_nll, 0) ENTER_MODEL(dense, 0) ENTER_MODEL(dense_nll, 0){
        .name = YS_CHECK_PREFIX "rows", .title = TITLE, .build = build_rows, .rows = &rows_of_rows},
    {.name = YS_CHECK_PREFIX "numbers", .title = TITLE, .build = build_numbers, .rows = &rows_of_numbers},
    {.name = YS_CHECK_PREFIX "padded", .title = TITLE, .build = build_padded, .rows = &rows_of_padded},
    {.name = YS_CHECK_PREFIX "pieces", .title = TITLE, .build = build_pieces, .rows = &rows_of_pieces},
    ENTER_MODEL(shared, 0) ENTER_MODEL(each, 0){NULL}};

const struct ys_model *ys_check_networks(void)
{
    return networks;
}

static const struct ys_model *find_in(const struct ys_model *models, const char *name)
{
    for (const struct ys_model *model = models; model->name; model++)
        if (strcmp(model->name, name) == 0)
            return model;
    return NULL;
}

const struct ys_model *ys_check_find(const char *name)
{
    const struct ys_check_group *all = ys_check_groups();
    const struct ys_model *found = find_in(networks, name);
    for (size_t i = 0; i < YS_OP_COUNT && !found; i++)
        found = strcmp(all[i].whole.name, name) == 0 ? &all[i].whole : find_in(all[i].cases, name);
    return found;
}
