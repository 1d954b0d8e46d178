#include "backend/integer/integer.h"

#include "backend/level.h"
#include "base/mem.h"
#include "graph/op.h"
#include "quant/rounding.h"
#include <math.h>
#include <string.h>

YS_FORMS(const struct ys_integer_kernels, ys_kernels_integer);

const struct ys_integer_kernels *ys_integer_kernels(void)
{
    return YS_FORM(ys_kernels_integer);
}

struct ys_integer_found ys_integer_find(const float *x, size_t count)
{
    float low = 0, high = 0;
    for (size_t i = 0; i < count; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    float scale = (float)(((double)high - (double)low) / 255);
    if (!(scale >= 1.17549435e-38F))
        scale = 1;
    return (struct ys_integer_found){.scale = scale,
                                     .zero = ys_quant_u8(0, 1, (int)ys_quant_round((double)-low / (double)scale))};
}

/* A kernel, its context and how its units are divided. */
struct shared_call {
    ys_parallel_body body;
    int threads;
    size_t units, grain;
    void *owned; /* that the context points to */
    union {
        struct ys_integer_product product;
        struct ys_integer_requantise requantise;
        struct ys_integer_numbers numbers;
        struct ys_integer_sum sum;
        struct ys_integer_table table;
        struct ys_integer_order order;
        struct ys_integer_pool pool;
        struct ys_integer_quantise quantise;
        struct ys_integer_dequantise dequantise;
        struct ys_integer_pixels pixels;
        size_t count;
    };
};

static ys_status run_shared(void *context, void *const *operand)
{
    const struct shared_call *c = context;
    ys_parallel_for(c->threads, c->units, c->grain, c->body, &c->product, operand);
    return YS_OK;
}

static void free_shared(void *context)
{
    ys_free(((struct shared_call *)context)->owned);
    ys_free(context);
}

/** `c` is copied, but for what it owns, which is the call's from here on, also on failure. */
static ys_status append(struct ys_lowering *low, const struct ys_node *node, const struct shared_call *c,
                        ys_call_run run, const struct ys_operand *operands, size_t count)
{
    struct shared_call *own = ys_alloc(1, sizeof *own);
    if (!own) {
        ys_free(c->owned);
        return ys_out_of_memory();
    }
    *own = *c;
    own->threads = low->config.threads;
    return ys_lower_call(low, node->name, run, own, free_shared, operands, count);
}

static struct ys_operand at(int buffer)
{
    return (struct ys_operand){.buffer = buffer};
}

static int64_t elements(const struct ys_integer_image *image)
{
    return image->rows * image->height * image->width * image->channels;
}

static size_t positions(const struct ys_integer_image *image)
{
    return (size_t)(image->rows * image->height * image->width);
}

static size_t lines(const struct ys_integer_image *image)
{
    return (size_t)(image->rows * image->height);
}

static ys_status make_bytes(struct ys_lowering *low, int value)
{
    const struct ys_integer_image image = ys_integer_image(low, value);
    return ys_program_buffer(low->program, (size_t)elements(&image), false, &low->integer[value]);
}

/* ---- between numbers and bytes */

/** The numbers of a quantised value, for a node in float or as the logits. */
static ys_status dequantise(struct ys_lowering *low, const struct ys_node *node, int value,
                            const struct ys_integer_backend *backend)
{
    const struct ys_activation_scale *scale = ys_integer_scale(low, value);
    const struct ys_integer_image image = ys_integer_image(low, value);
    struct shared_call c = {.body = ys_integer_kernels()->dequantise, .units = (size_t)image.rows, .grain = 1};
    c.dequantise.image = image;
    for (int q = 0; q < 256; q++)
        c.dequantise.table[q] = (float)((double)(q - (int)scale->zero_point) * scale->scale);
    low->value[value] = low->logits;
    if (value != low->graph->output)
        YS_TRY(ys_program_buffer(low->program, (size_t)elements(&image) * sizeof(float), false, &low->value[value]));
    YS_TRY(append(low, node, &c, run_shared, (struct ys_operand[]){at(low->integer[value]), at(low->value[value])}, 2));
    ys_lower_mark(low, YS_CALL_LAYOUT);
    return backend->adopt(low, value);
}

/** The bytes of a value that lies in float. `pad`: NULL for none; `found`: -1, or where scale and zero point lie. */
static ys_status quantise(struct ys_lowering *low, const struct ys_node *node, int value, const int64_t *pad, int found,
                          const struct ys_integer_backend *backend)
{
    const struct ys_integer_image image = ys_integer_image(low, value);
    struct shared_call c = {.body = ys_integer_kernels()->quantise, .grain = 1};
    struct ys_operand operands[3] = {{0}};
    c.quantise = (struct ys_integer_quantise){.image = image, .is_found = found >= 0};
    struct ys_integer_image padded = image;
    if (pad) {
        memcpy(c.quantise.pad, pad, sizeof c.quantise.pad);
        padded.height += pad[0] + pad[2];
        padded.width += pad[1] + pad[3];
    }
    if (found < 0) {
        c.quantise.scale = ys_integer_scale(low, value)->scale;
        c.quantise.zero = (int)ys_integer_scale(low, value)->zero_point;
    } else {
        operands[2] = at(found);
    }
    c.units = lines(&padded);
    YS_TRY(backend->plain(low, node, value, &operands[0]));
    YS_TRY(ys_program_buffer(low->program, (size_t)elements(&padded), false, &low->integer[value]));
    operands[1] = at(low->integer[value]);
    YS_TRY(append(low, node, &c, run_shared, operands, found < 0 ? 2 : 3));
    ys_lower_mark(low, YS_CALL_LAYOUT);
    return YS_OK;
}

/** Pixels that a normalize node takes to bytes: what it would make of each is looked up. */
static ys_status lower_pixels(struct ys_lowering *low, const struct ys_node *node)
{
    const int value = node->out[0];
    const struct ys_activation_scale *scale = ys_integer_scale(low, value);
    const struct ys_normalize *n = &node->normalize;
    struct shared_call c = {.body = ys_integer_kernels()->pixels, .grain = 1};
    c.pixels.image = ys_integer_image(low, value);
    c.units = lines(&c.pixels.image);
    uint8_t *table = ys_alloc((size_t)c.pixels.image.channels, 256);
    if (!table)
        return ys_out_of_memory();
    for (int64_t i = 0; i < c.pixels.image.channels * 256; i++) {
        const size_t channel = n->channels == 1 ? 0 : (size_t)(i / 256);
        const float x = ((float)(i % 256) * (float)n->scale - (float)n->mean[channel]) / (float)n->std[channel];
        table[i] = ys_quant_u8((double)x, scale->scale, (int)scale->zero_point);
    }
    c.owned = table;
    c.pixels.table = table;
    ys_status status = make_bytes(low, value);
    if (status != YS_OK) {
        ys_free(table);
        return status;
    }
    YS_TRY(append(
        low, node, &c, run_shared,
        (struct ys_operand[]){at(low->inputs[ys_graph_input_of(low->graph, node->in[0])]), at(low->integer[value])},
        2));
    ys_lower_mark(low, YS_CALL_LAYOUT);
    return YS_OK;
}

static ys_status lower_float(struct ys_lowering *low, const struct ys_node *node,
                             const struct ys_integer_backend *backend)
{
    const bool is_quantised = low->quant.scale_of[node->out[0]] >= 0;
    if (node->op == YS_OP_NORMALIZE && is_quantised && low->graph->values[node->in[0]].dtype == YS_U8 &&
        ys_graph_input_of(low->graph, node->in[0]) >= 0)
        return lower_pixels(low, node);
    for (size_t k = 0; k < node->in_count; k++)
        if (low->quant.scale_of[node->in[k]] >= 0 && low->value[node->in[k]] < 0)
            YS_TRY(dequantise(low, node, node->in[k], backend));
    YS_TRY(backend->in_float(low, node));
    for (size_t k = 0; k < node->out_count; k++) {
        const int value = node->out[k];
        if (low->quant.scale_of[value] < 0)
            continue;
        YS_TRY(quantise(low, node, value, NULL, -1, backend));
        low->value[value] = -1; /* who reads it in float reads what became of it */
    }
    return YS_OK;
}

/* ---- products */

static ys_status run_find(void *context, void *const *operand)
{
    const struct shared_call *c = context;
    *(struct ys_integer_found *)operand[1] = ys_integer_find(operand[0], c->count);
    return YS_OK;
}

static ys_status lower_find(struct ys_lowering *low, const struct ys_node *node, int value, int *found,
                            const struct ys_integer_backend *backend)
{
    const struct ys_integer_image image = ys_integer_image(low, value);
    const struct shared_call c = {.count = (size_t)elements(&image)};
    struct ys_operand operands[2] = {{0}};
    YS_TRY(backend->plain(low, node, value, &operands[0]));
    YS_TRY(ys_program_buffer(low->program, sizeof(struct ys_integer_found), false, found));
    operands[1] = at(*found);
    return append(low, node, &c, run_find, operands, 2);
}

/** The sums of a product, by plain loops. */
static ys_status lower_sums(struct ys_lowering *low, const struct ys_node *node, int found, int sums)
{
    const struct ys_window whole = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .group = 1};
    struct shared_call c = {.body = ys_integer_kernels()->product, .grain = 1};
    c.product = (struct ys_integer_product){.in = ys_integer_image(low, node->in[0]),
                                            .out = ys_integer_image(low, node->out[0]),
                                            .window = node->op == YS_OP_CONV ? node->window : whole,
                                            .is_found = found >= 0};
    if (found < 0)
        c.product.zero = (int)ys_integer_scale(low, node->in[0])->zero_point;
    c.units = lines(&c.product.out);
    struct ys_operand weight = ys_lower_param_at(low, low->weights, node->weight);
    weight.offset_bytes += ys_integer_sums_bytes(low, node);
    YS_TRY(append(low, node, &c, run_shared,
                  (struct ys_operand[]){at(low->integer[node->in[0]]), weight, at(sums), at(found)}, 3 + (found >= 0)));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return YS_OK;
}

static double *make_factors(const struct ys_lowering *low, const struct ys_node *node)
{
    const int64_t channels = low->graph->params[node->weight].shape[0];
    double *factors = ys_alloc((size_t)channels, sizeof *factors);
    for (int64_t c = 0; factors && c < channels; c++)
        factors[c] = ys_integer_factor(low, node, c);
    return factors;
}

static ys_status requantise(struct ys_lowering *low, const struct ys_node *node, int sums, bool is_raw)
{
    const struct ys_integer_image image = ys_integer_image(low, node->out[0]);
    struct shared_call c = {.body = ys_integer_kernels()->requantise, .units = positions(&image), .grain = 16};
    struct ys_operand operands[4] = {at(sums), ys_lower_param_at(low, low->weights, node->weight)};
    const int result = ys_quant_result(low->graph, &low->quant, node);
    YS_TRY(make_bytes(low, result));
    c.owned = make_factors(low, node);
    if (!c.owned)
        return ys_out_of_memory();
    c.requantise = (struct ys_integer_requantise){
        .channels = image.channels, .factor = c.owned, .ends = ys_integer_ends(low, node), .has_bias = node->bias >= 0};
    if (is_raw)
        c.requantise.zero = (int)ys_integer_scale(low, node->in[0])->zero_point;
    operands[2] = at(low->integer[result]);
    if (node->bias >= 0)
        operands[3] = ys_lower_param_at(low, low->weights, node->bias);
    return append(low, node, &c, run_shared, operands, 3 + (node->bias >= 0));
}

static ys_status make_sums(struct ys_lowering *low, const struct ys_node *node, int *sums)
{
    const struct ys_integer_image image = ys_integer_image(low, node->out[0]);
    return ys_program_buffer(low->program, (size_t)elements(&image) * sizeof(int32_t), false, sums);
}

static enum ys_integer_own own_of(const struct ys_lowering *low, const struct ys_node *node,
                                  const struct ys_integer_backend *backend)
{
    return backend->own ? backend->own(low, node) : YS_INTEGER_NONE;
}

static ys_status lower_static_product(struct ys_lowering *low, const struct ys_node *node,
                                      const struct ys_integer_backend *backend)
{
    const enum ys_integer_own own = own_of(low, node, backend);
    int sums = -1;
    if (own == YS_INTEGER_BYTES) {
        YS_TRY(make_bytes(low, ys_quant_result(low->graph, &low->quant, node)));
        return backend->product(low, node, sums);
    }
    YS_TRY(make_sums(low, node, &sums));
    YS_TRY(own == YS_INTEGER_SUMS ? backend->product(low, node, sums) : lower_sums(low, node, -1, sums));
    return requantise(low, node, sums, own == YS_INTEGER_SUMS);
}

static ys_status lower_dynamic_product(struct ys_lowering *low, const struct ys_node *node,
                                       const struct ys_integer_backend *backend)
{
    const int out = node->out[0];
    const struct ys_integer_image image = ys_integer_image(low, out);
    struct shared_call c = {.body = ys_integer_kernels()->numbers, .units = (size_t)image.rows, .grain = 1};
    int found, sums;
    const bool is_own = own_of(low, node, backend) == YS_INTEGER_SUMS;
    YS_TRY(lower_find(low, node, node->in[0], &found, backend));
    YS_TRY(
        quantise(low, node, node->in[0], is_own && node->op == YS_OP_CONV ? node->window.pad : NULL, found, backend));
    YS_TRY(make_sums(low, node, &sums));
    YS_TRY(is_own ? backend->product(low, node, sums) : lower_sums(low, node, found, sums));
    low->value[out] = low->logits;
    if (out != low->graph->output)
        YS_TRY(ys_program_buffer(low->program, (size_t)elements(&image) * sizeof(float), false, &low->value[out]));
    c.owned = make_factors(low, node);
    if (!c.owned)
        return ys_out_of_memory();
    c.numbers =
        (struct ys_integer_numbers){.image = image, .factor = c.owned, .is_raw = is_own, .has_bias = node->bias >= 0};
    struct ys_operand operands[5] = {at(sums), ys_lower_param_at(low, low->weights, node->weight), at(found),
                                     at(low->value[out])};
    if (node->bias >= 0)
        operands[4] = ys_lower_param_at(low, low->weights, node->bias);
    YS_TRY(append(low, node, &c, run_shared, operands, 4 + (node->bias >= 0)));
    return backend->adopt(low, out);
}

/* ---- what follows */

static ys_status lower_sum(struct ys_lowering *low, const struct ys_node *node)
{
    const int result = ys_quant_result(low->graph, &low->quant, node);
    const struct ys_integer_image image = ys_integer_image(low, result);
    const double scale = ys_integer_scale(low, result)->scale;
    struct shared_call c = {.body = ys_integer_kernels()->sum, .units = (size_t)elements(&image), .grain = 4096};
    c.sum.ends = ys_integer_ends(low, node);
    for (int k = 0; k < 2; k++) {
        c.sum.factor[k] = ys_integer_scale(low, node->in[k])->scale / scale;
        c.sum.zero[k] = (int)ys_integer_scale(low, node->in[k])->zero_point;
    }
    YS_TRY(make_bytes(low, result));
    return append(
        low, node, &c, run_shared,
        (struct ys_operand[]){at(low->integer[node->in[0]]), at(low->integer[node->in[1]]), at(low->integer[result])},
        3);
}

/** Into channels from `first` on of the result, each byte by itself. */
static ys_status lower_table(struct ys_lowering *low, const struct ys_node *node, int value, int64_t first)
{
    const int result = node->out[0];
    const struct ys_integer_image x = ys_integer_image(low, value), y = ys_integer_image(low, result);
    const struct ys_activation_scale *from = ys_integer_scale(low, value);
    const double factor = from->scale / ys_integer_scale(low, result)->scale;
    const struct ys_integer_ends ends = ys_integer_ends(low, node);
    struct shared_call c = {.body = ys_integer_kernels()->table, .units = positions(&x), .grain = 64};
    c.table = (struct ys_integer_table){.channels = x.channels, .of = y.channels, .first = first};
    for (int q = 0; q < 256; q++)
        c.table.table[q] = ys_quant_steps((double)(q - (int)from->zero_point) * factor, ends.zero, ends.low, ends.high);
    return append(low, node, &c, run_shared, (struct ys_operand[]){at(low->integer[value]), at(low->integer[result])},
                  2);
}

static ys_status lower_concat(struct ys_lowering *low, const struct ys_node *node)
{
    int64_t first = 0;
    YS_TRY(make_bytes(low, node->out[0]));
    for (size_t k = 0; k < node->in_count; k++) {
        YS_TRY(lower_table(low, node, node->in[k], first));
        first += ys_integer_image(low, node->in[k]).channels;
    }
    return YS_OK;
}

static ys_status lower_activation(struct ys_lowering *low, const struct ys_node *node)
{
    YS_TRY(make_bytes(low, node->out[0]));
    return lower_table(low, node, node->in[0], 0);
}

static ys_status lower_pool(struct ys_lowering *low, const struct ys_node *node)
{
    const bool is_average = node->op == YS_OP_AVERAGEPOOL || node->op == YS_OP_GLOBAL_AVERAGEPOOL;
    const struct ys_window *window = ys_node_window(node);
    struct shared_call c = {.body = is_average ? ys_integer_kernels()->averagepool : ys_integer_kernels()->maxpool,
                            .grain = 1};
    c.pool.in = ys_integer_image(low, node->in[0]);
    c.pool.out = ys_integer_image(low, node->out[0]);
    c.pool.window =
        window ? *window
               : (struct ys_window){
                     .kernel = {c.pool.in.height, c.pool.in.width}, .stride = {1, 1}, .dilation = {1, 1}, .group = 1};
    c.units = lines(&c.pool.out);
    if (is_average) {
        c.pool.factor = ys_integer_scale(low, node->in[0])->scale / ys_integer_scale(low, node->out[0])->scale;
        c.pool.zero = (int)ys_integer_scale(low, node->in[0])->zero_point;
        c.pool.ends = ys_integer_ends(low, node);
    }
    YS_TRY(make_bytes(low, node->out[0]));
    return append(low, node, &c, run_shared,
                  (struct ys_operand[]){at(low->integer[node->in[0]]), at(low->integer[node->out[0]])}, 2);
}

static ys_status lower_order(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_integer_image x = ys_integer_image(low, node->in[0]), y = ys_integer_image(low, node->out[0]);
    struct shared_call c = {.body = ys_integer_kernels()->order, .units = (size_t)x.rows, .grain = 1};
    c.order = (struct ys_integer_order){x.height * x.width, x.channels, y.height * y.width, y.channels};
    if (c.order.area == c.order.to_area) {
        low->integer[node->out[0]] = low->integer[node->in[0]];
        return YS_OK;
    }
    YS_TRY(make_bytes(low, node->out[0]));
    return append(low, node, &c, run_shared,
                  (struct ys_operand[]){at(low->integer[node->in[0]]), at(low->integer[node->out[0]])}, 2);
}

static ys_status lower_integer(struct ys_lowering *low, const struct ys_node *node,
                               const struct ys_integer_backend *backend)
{
    if (node->op == YS_OP_CONV || node->op == YS_OP_GEMM)
        return lower_static_product(low, node, backend);
    if (node->op == YS_OP_ADD)
        return lower_sum(low, node);
    if (node->op == YS_OP_CONCAT)
        return lower_concat(low, node);
    if (node->op == YS_OP_RELU || node->op == YS_OP_CLIP)
        return lower_activation(low, node);
    if (ys_op_rule(node->op)->kind == YS_OPKIND_POOL)
        return lower_pool(low, node);
    return lower_order(low, node);
}

ys_status ys_integer_forward(struct ys_lowering *low, const struct ys_node *node,
                             const struct ys_integer_backend *backend)
{
    const enum ys_quant_way way = ys_integer_way(low, node);
    if (way == YS_QUANT_JOINED)
        return YS_OK;
    if (way == YS_QUANT_IN_INTEGER && low->scales->rule.kind == YS_QUANT_DYNAMIC)
        return lower_dynamic_product(low, node, backend);
    YS_TRY(way == YS_QUANT_IN_FLOAT ? lower_float(low, node, backend) : lower_integer(low, node, backend));
    const int result = ys_quant_result(low->graph, &low->quant, node);
    const bool is_last = result == low->graph->output && low->quant.scale_of[result] >= 0;
    return is_last ? dequantise(low, node, result, backend) : YS_OK;
}
