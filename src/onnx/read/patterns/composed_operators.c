/* Operators that files spell in several nodes, which are known by these alone. Before anything else is read the last of
 * them becomes the operator, of what the first one reads, so that the others are needed no more:
 *
 *   Gelu, approximated   x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, before operator set 20
 *   HardSigmoid          clip(x + 3, 0, 6) / 6; times x it is a HardSwish, which composed_activations.c sees
 *   HardSwish            x clip(x + 3, 0, 6) / 6, divided last
 *   LayerNormalization   (x - mean) / sqrt(mean of (x - mean)^2 + epsilon) * scale + bias, before operator set 17;
 *                        means over the last axes, as numbers below 0: others are only known by the rank of x
 *   RMSNormalization     x / sqrt(mean of x^2 + epsilon) * scale, the mean over the last axis, called -1; before set 23
 *   RotaryEmbedding      x cos + y sin of constants, y the other numbers of the pairs by Gather; or y both halves of
 * the last axis exchanged, the first less than nothing, as Llama's code in PyTorch has it Softmax              e / sum
 * of e along an axis, with e = exp(x), or exp(x - max of x along it) LogSoftmax           log of that, or of a Softmax;
 * x - log(sum of exp(x)), x perhaps less its maximum */
#include "base/mem.h"
#include "onnx/read/reader_state.h"

#include <math.h>
#include <string.h>

struct finder {
    struct ys_onnx_reading *r;
    ys_json *makers;                     /* name to the node that makes it, or from `node_count` on to an initializer */
    ys_json *readers;                    /* name to how often it is read; the output of the file counts too */
    struct ys_onnx_constant **constants; /* of those, what was asked for: many nodes may read one large table */
};

static void note_reader(struct finder *f, const char *name)
{
    ys_json_set_int(f->readers, name, ys_json_get_int(f->readers, name, 0) + 1);
}

static void note_makers(struct finder *f)
{
    const struct ys_onnx_file *file = f->r->file;
    for (size_t i = 0; i < file->node_count; i++) {
        for (size_t k = 0; k < file->nodes[i].out_count; k++)
            ys_json_set_int(f->makers, file->nodes[i].out[k], (int64_t)i);
        for (size_t k = 0; k < file->nodes[i].in_count; k++)
            note_reader(f, file->nodes[i].in[k]);
    }
    for (size_t i = 0; i < file->output_count; i++)
        note_reader(f, file->outputs[i].name);
    for (size_t i = 0; i < file->tensor_count; i++)
        ys_json_set_int(f->makers, file->tensors[i].name, (int64_t)(file->node_count + i));
}

/* The node of that operator of ONNX that makes `name`; NULL for none. */
static const struct ys_onnx_node_in *made_by(const struct finder *f, const char *name, const char *op)
{
    const struct ys_onnx_file *file = f->r->file;
    const int64_t at = name ? ys_json_get_int(f->makers, name, -1) : -1;
    if (at < 0 || at >= (int64_t)file->node_count)
        return NULL;
    const struct ys_onnx_node_in *node = &file->nodes[at];
    const bool is_own = !node->domain[0] || strcmp(node->domain, "ai.onnx") == 0;
    return is_own && strcmp(node->op, op) == 0 ? node : NULL;
}

#define DEEPEST 4 /* nodes between what is asked for and what the file holds: exporters have no more */

/* The constant of that name, perhaps shared by an Identity, as exporters share what is equal, or of another type or
 * shape; NULL where it is none that can be read: what is wrong with it is said where it is read. */
static struct ys_onnx_constant *constant_below(const struct finder *f, const char *name, int depth)
{
    static const char *const passing[] = {"Cast", "Reshape", "Squeeze", "Unsqueeze"};
    struct ys_onnx_file *file = f->r->file;
    const struct ys_onnx_node_in *shared = made_by(f, name, "Identity");
    name = shared && shared->in_count == 1 ? shared->in[0] : name;
    const struct ys_onnx_node_in *node = made_by(f, name, "Constant");
    const int64_t at = ys_json_get_int(f->makers, name, -1), count = (int64_t)file->node_count;
    struct ys_onnx_constant *c = NULL, *in[2] = {NULL, NULL};
    ys_status status = YS_ENOTFOUND;
    if (at >= 0 && f->constants[at])
        return f->constants[at];
    for (size_t i = 0; !node && depth > 0 && i < sizeof passing / sizeof *passing; i++)
        node = made_by(f, name, passing[i]);
    if (node && node->in_count > 2)
        return NULL;
    for (size_t i = 0; node && i < node->in_count; i++) {
        in[i] = constant_below(f, node->in[i], depth - 1);
        if (!in[i])
            return NULL;
    }
    if (node)
        status = ys_onnx_fold(&f->r->folding, node, in, &c);
    else if (at >= count)
        status = ys_onnx_constant_of(&f->r->folding, &file->tensors[at - count], &c);
    if (status == YS_OK)
        f->constants[at] = c;
    return status == YS_OK ? c : NULL;
}

static struct ys_onnx_constant *constant_of(const struct finder *f, const char *name)
{
    return constant_below(f, name, DEEPEST);
}

/* Whether `name` is a constant of one element, and no wider than the narrowest value: the batch and another axis. */
static bool read_number(const struct finder *f, const char *name, double *number)
{
    struct ys_onnx_constant *c = constant_of(f, name);
    if (!c || c->count != 1 || c->rank > 2 || !c->is_real || ys_onnx_constant_load(&f->r->folding, c) != YS_OK)
        return false;
    *number = ys_onnx_constant_real(c, 0);
    if (c->type == YS_ONNX_FLOAT)
        *number = ys_onnx_short_real((float)*number);
    return true;
}

/* And as near to `wanted` as floats are. */
static bool is_number(const struct finder *f, const char *name, double wanted)
{
    double number;
    return read_number(f, name, &number) && fabs(number - wanted) <= 1e-6 * wanted;
}

/* The operand beside that number; NULL where it is none of the two. */
static const char *beside(const struct finder *f, const struct ys_onnx_node_in *node, double number)
{
    for (size_t i = 0; node && node->in_count == 2 && i < 2; i++)
        if (is_number(f, node->in[i], number))
            return node->in[1 - i];
    return NULL;
}

/* The operand beside `name`. */
static const char *other(const struct ys_onnx_node_in *node, const char *name)
{
    for (size_t i = 0; node && node->in_count == 2 && i < 2; i++)
        if (strcmp(node->in[i], name) == 0)
            return node->in[1 - i];
    return NULL;
}

static bool is_cube(const struct finder *f, const char *name, const char *x)
{
    const struct ys_onnx_node_in *power = made_by(f, name, "Pow");
    if (power)
        return power->in_count == 2 && strcmp(power->in[0], x) == 0 && is_number(f, power->in[1], 3);
    const char *square = other(made_by(f, other(made_by(f, name, "Mul"), x), "Mul"), x);
    return square && strcmp(square, x) == 0;
}

/* 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)) */
static bool is_lifted(const struct finder *f, const char *name, const char *x)
{
    const struct ys_onnx_node_in *curve = made_by(f, beside(f, made_by(f, name, "Add"), 1), "Tanh");
    if (!curve || curve->in_count != 1)
        return false;
    const char *sum = beside(f, made_by(f, curve->in[0], "Mul"), sqrt(2 / acos(-1)));
    const char *term = other(made_by(f, sum, "Add"), x);
    const char *cube = beside(f, made_by(f, term, "Mul"), 0.044715);
    return cube && is_cube(f, cube, x);
}

/* x of a product of x, 1/2 and that, in whatever order its two nodes have them; NULL where it is no such product. */
static const char *find_x(const struct finder *f, const struct ys_onnx_node_in *node)
{
    for (size_t side = 0; node->in_count == 2 && side < 2; side++) {
        const struct ys_onnx_node_in *inner = made_by(f, node->in[side], "Mul");
        if (!inner || inner->in_count != 2)
            continue;
        const char *const factors[3] = {node->in[1 - side], inner->in[0], inner->in[1]};
        for (size_t half = 0; half < 3; half++)
            for (size_t x = 0; x < 3; x++)
                if (x != half && is_lifted(f, factors[3 - half - x], factors[x]) && is_number(f, factors[half], 0.5))
                    return factors[x];
    }
    return NULL;
}

/* The node of that operator that makes `name`, which is read `times` times and by no others. */
static const struct ys_onnx_node_in *inner(const struct finder *f, const char *name, const char *op, int64_t times)
{
    const struct ys_onnx_node_in *node = made_by(f, name, op);
    return node && ys_json_get_int(f->readers, name, 0) == times ? node : NULL;
}

/* x of clip(x + 3, 0, 6); NULL where `name` is none. */
static const char *find_clipped(const struct finder *f, const char *name)
{
    const struct ys_onnx_node_in *clip = name ? inner(f, name, "Clip", 1) : NULL;
    double low = -1, high = -1;
    if (!clip || clip->in_count < 1)
        return NULL;
    const bool attributes =
        ys_onnx_real(clip, "min", &low) == YS_OK && ys_onnx_real(clip, "max", &high) == YS_OK && low == 0 && high == 6;
    const bool inputs = clip->in_count == 3 && is_number(f, clip->in[1], 0) && is_number(f, clip->in[2], 6);
    return attributes || inputs ? beside(f, inner(f, clip->in[0], "Add", 1), 3) : NULL;
}

/* What is divided by 6, or multiplied by a sixth; NULL. */
static const char *find_divided(const struct finder *f, const struct ys_onnx_node_in *node)
{
    if (strcmp(node->op, "Mul") == 0)
        return beside(f, node, 1.0 / 6);
    const bool divides = strcmp(node->op, "Div") == 0 && node->in_count == 2 && is_number(f, node->in[1], 6);
    return divides ? node->in[0] : NULL;
}

/* x of clip(x + 3, 0, 6) / 6, or of the same times x, which `*is_swish` says. */
static const char *find_hard(const struct finder *f, const struct ys_onnx_node_in *node, bool *is_swish)
{
    const char *divided = find_divided(f, node);
    *is_swish = false;
    if (!divided)
        return NULL;
    const struct ys_onnx_node_in *product = inner(f, divided, "Mul", 1);
    for (size_t i = 0; product && product->in_count == 2 && i < 2; i++) {
        const char *x = find_clipped(f, product->in[i]);
        *is_swish = x && strcmp(x, product->in[1 - i]) == 0;
        if (*is_swish)
            return x;
    }
    return find_clipped(f, divided);
}

/* How many axes a mean is over if these are the last ones, each called by a number below 0, and they are kept; 0. */
static int64_t count_last_axes(const struct finder *f, const struct ys_onnx_node_in *mean)
{
    int64_t axes[YS_MAX_RANK], keepdims = 1;
    size_t count = 0;
    unsigned seen = 0;
    struct ys_onnx_constant *in = mean->in_count > 1 ? constant_of(f, mean->in[1]) : NULL;
    if ((mean->in_count > 1 && (!in || in->count > YS_MAX_RANK)) ||
        ys_onnx_integer(mean, "keepdims", &keepdims) != YS_OK || keepdims != 1 ||
        ys_onnx_numbers(&f->r->folding, mean, in, "axes", axes, YS_MAX_RANK, &count) != YS_OK)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (axes[i] >= -(int64_t)count && axes[i] < 0)
            seen |= 1U << -axes[i];
    return seen == (1U << (count + 1)) - 2 ? (int64_t)count : 0; /* bits 1 to `count` */
}

/* Whether `name` has a number for each place of the last `axes` axes, as far as its shape says so. */
static bool spans(const struct finder *f, const char *name, int64_t axes)
{
    const struct ys_onnx_constant *c = constant_of(f, name);
    bool is_whole = c && c->is_real && (int64_t)c->rank == axes;
    for (size_t i = 0; is_whole && i < c->rank; i++)
        is_whole = c->shape[i] != 1;
    return is_whole;
}

/* (x - mean) / sqrt(mean of (x - mean)^2 + epsilon): its x, NULL where `name` is none. */
static const char *find_normed(const struct finder *f, const char *name, struct ys_onnx_joined *joined)
{
    const struct ys_onnx_node_in *quotient = inner(f, name, "Div", 1);
    if (!quotient || quotient->in_count != 2)
        return NULL;
    const char *centred = quotient->in[0];
    const struct ys_onnx_node_in *root = inner(f, quotient->in[1], "Sqrt", 1);
    const struct ys_onnx_node_in *sum = root && root->in_count == 1 ? inner(f, root->in[0], "Add", 1) : NULL;
    const struct ys_onnx_node_in *variance = NULL;
    for (size_t i = 0; sum && sum->in_count == 2 && !variance && i < 2; i++)
        if (read_number(f, sum->in[1 - i], &joined->epsilon) && joined->epsilon > 0 && joined->epsilon < 1e30)
            variance = inner(f, sum->in[i], "ReduceMean", 1);
    if (!variance || variance->in_count < 1)
        return NULL;
    const struct ys_onnx_node_in *power = inner(f, variance->in[0], "Pow", 1);
    const struct ys_onnx_node_in *square = power ? power : inner(f, variance->in[0], "Mul", 1);
    if (!square || square->in_count != 2 || strcmp(square->in[0], centred) != 0 ||
        (power ? !is_number(f, power->in[1], 2) : strcmp(square->in[1], centred) != 0))
        return NULL;
    const struct ys_onnx_node_in *less = inner(f, centred, "Sub", power ? 2 : 3);
    const struct ys_onnx_node_in *mean = less && less->in_count == 2 ? inner(f, less->in[1], "ReduceMean", 1) : NULL;
    if (!mean || mean->in_count < 1 || strcmp(mean->in[0], less->in[0]) != 0)
        return NULL;
    const int64_t axes = count_last_axes(f, mean);
    joined->axis = -axes;
    return axes > 0 && axes == count_last_axes(f, variance) ? less->in[0] : NULL;
}

/* 1 / sqrt(mean of x^2 + epsilon), as what x is multiplied by or, where not `inverted`, its root that divides x. */
static bool is_root_of_squares(const struct finder *f, const char *name, bool inverted, const char *x, double *epsilon)
{
    const struct ys_onnx_node_in *inverse = inverted ? inner(f, name, "Reciprocal", 1) : NULL;
    const struct ys_onnx_node_in *quotient = inverted && !inverse ? inner(f, name, "Div", 1) : NULL;
    if (inverse)
        name = inverse->in_count == 1 ? inverse->in[0] : "";
    else if (inverted)
        name = quotient && quotient->in_count == 2 && is_number(f, quotient->in[0], 1) ? quotient->in[1] : "";
    const struct ys_onnx_node_in *root = inner(f, name, "Sqrt", 1);
    const struct ys_onnx_node_in *sum = root && root->in_count == 1 ? inner(f, root->in[0], "Add", 1) : NULL;
    const struct ys_onnx_node_in *mean = NULL;
    for (size_t i = 0; sum && sum->in_count == 2 && !mean && i < 2; i++)
        if (read_number(f, sum->in[1 - i], epsilon) && *epsilon > 0 && *epsilon < 1e30)
            mean = inner(f, sum->in[i], "ReduceMean", 1);
    if (!mean || mean->in_count < 1 || count_last_axes(f, mean) != 1)
        return false;
    const struct ys_onnx_node_in *power = inner(f, mean->in[0], "Pow", 1);
    const struct ys_onnx_node_in *square = power ? power : inner(f, mean->in[0], "Mul", 1);
    return square && square->in_count == 2 && strcmp(square->in[0], x) == 0 &&
           (power ? is_number(f, power->in[1], 2) : strcmp(square->in[1], x) == 0);
}

/* Of a product with a scale: x of x / sqrt(mean of x^2 + epsilon), NULL where `name` is no such thing. What is centred
 * is left to the normalisation that also adds. */
static const char *find_rms(const struct finder *f, const char *name, double *epsilon)
{
    const struct ys_onnx_node_in *quotient = inner(f, name, "Div", 1), *product = inner(f, name, "Mul", 1);
    const char *x = NULL;
    if (quotient && quotient->in_count == 2 && is_root_of_squares(f, quotient->in[1], false, quotient->in[0], epsilon))
        x = quotient->in[0];
    for (size_t i = 0; product && product->in_count == 2 && !x && i < 2; i++)
        if (is_root_of_squares(f, product->in[1 - i], true, product->in[i], epsilon))
            x = product->in[i];
    return x && !made_by(f, x, "Sub") ? x : NULL;
}

/* Whether the node reduces along one axis, which is kept. */
static bool find_axis(const struct finder *f, const struct ys_onnx_node_in *node, int64_t *axis)
{
    int64_t keepdims = 1;
    size_t count = 0;
    struct ys_onnx_constant *in = node->in_count > 1 ? constant_of(f, node->in[1]) : NULL;
    return (node->in_count < 2 || (in && in->count == 1)) && ys_onnx_integer(node, "keepdims", &keepdims) == YS_OK &&
           keepdims == 1 && ys_onnx_numbers(&f->r->folding, node, in, "axes", axis, 1, &count) == YS_OK && count == 1;
}

/* x of x - max of x along that axis, which is read `times` times; `name` itself where it is none: the result of a
 * softmax is the same. */
static const char *find_unshifted(const struct finder *f, const char *name, int64_t axis, int64_t times)
{
    int64_t along = 0;
    const struct ys_onnx_node_in *less = inner(f, name, "Sub", times);
    const struct ys_onnx_node_in *most = less && less->in_count == 2 ? inner(f, less->in[1], "ReduceMax", 1) : NULL;
    const bool is_it = most && most->in_count > 0 && strcmp(most->in[0], less->in[0]) == 0 &&
                       find_axis(f, most, &along) && along == axis;
    return is_it ? less->in[0] : name;
}

/* u of the sum of exp(u) along an axis; `times`: how often exp(u), which is `*power`, is read. */
static const char *find_summed(const struct finder *f, const char *name, int64_t times, int64_t *axis,
                               const char **power)
{
    const struct ys_onnx_node_in *sum = inner(f, name, "ReduceSum", 1);
    const struct ys_onnx_node_in *exponents =
        sum && sum->in_count > 0 && find_axis(f, sum, axis) ? inner(f, sum->in[0], "Exp", times) : NULL;
    if (!exponents || exponents->in_count != 1)
        return NULL;
    *power = sum->in[0];
    return exponents->in[0];
}

/* x of its softmax along an axis; NULL where the node is none. */
static const char *find_softmax(const struct finder *f, const struct ys_onnx_node_in *node, int64_t *axis)
{
    const char *power = NULL;
    if (node->in_count != 2)
        return NULL;
    const char *u = find_summed(f, node->in[1], 2, axis, &power);
    return u && strcmp(power, node->in[0]) == 0 ? find_unshifted(f, u, *axis, 1) : NULL;
}

/* x of x less the logarithm of its summed exponents; NULL where the node is none. */
static const char *find_log_softmax(const struct finder *f, const struct ys_onnx_node_in *node, int64_t *axis)
{
    const char *power = NULL;
    if (node->in_count != 2)
        return NULL;
    const struct ys_onnx_node_in *log = inner(f, node->in[1], "Log", 1);
    const char *u = log && log->in_count == 1 ? find_summed(f, log->in[0], 1, axis, &power) : NULL;
    return u && strcmp(u, node->in[0]) == 0 ? find_unshifted(f, u, *axis, 2) : NULL;
}

struct norm {
    const char *x, *scale, *bias;
    struct ys_onnx_joined joined;
};

static bool find_norm(const struct finder *f, const struct ys_onnx_node_in *add, struct norm *norm)
{
    for (size_t side = 0; add->in_count == 2 && side < 2; side++) {
        const struct ys_onnx_node_in *scaled = inner(f, add->in[side], "Mul", 1);
        for (size_t i = 0; scaled && scaled->in_count == 2 && i < 2; i++) {
            norm->x = find_normed(f, scaled->in[i], &norm->joined);
            norm->scale = scaled->in[1 - i];
            norm->bias = add->in[1 - side];
            if (norm->x && spans(f, norm->scale, -norm->joined.axis) && spans(f, norm->bias, -norm->joined.axis))
                return true;
        }
    }
    return false;
}

/* Lets the node be that operator. */
static void become(struct finder *f, struct ys_onnx_node_in *node, const char *op, const char *const *in,
                   size_t in_count, const struct ys_onnx_joined *joined)
{
    const char *before = node->op;
    struct ys_onnx_joined *kept = ys_onnx_file_keep(f->r->file, 1, sizeof *kept);
    const char **inputs = ys_onnx_file_keep(f->r->file, in_count, sizeof *inputs);
    *kept = *joined;
    memcpy(inputs, in, in_count * sizeof *in);
    node->op = op;
    node->in = inputs;
    node->in_count = in_count;
    node->joined = kept;
    ys_onnx_note(f->r, "node %.100s (%s) and what leads to it is a %s%s", node->name, before, op,
                 joined->approximate ? ", approximated by tanh" : "");
}

static void join_product(struct finder *f, struct ys_onnx_node_in *node)
{
    bool is_swish = false;
    const char *x = strcmp(node->op, "Mul") == 0 ? find_x(f, node) : NULL;
    if (x) {
        become(f, node, "Gelu", &x, 1, &(struct ys_onnx_joined){.approximate = "tanh"});
        return;
    }
    x = find_hard(f, node, &is_swish);
    if (!x)
        return;
    become(f, node, is_swish ? "HardSwish" : "HardSigmoid", &x, 1, &(struct ys_onnx_joined){.alpha = 1.0 / 6});
}

static void join_norm(struct finder *f, struct ys_onnx_node_in *node)
{
    struct norm norm = {0};
    if (f->r->file->opset < 7 || !find_norm(f, node, &norm)) /* an attribute says which axes are added there */
        return;
    const char *const in[3] = {norm.x, norm.scale, norm.bias};
    become(f, node, "LayerNormalization", in, 3, &norm.joined);
}

static void join_rms(struct finder *f, struct ys_onnx_node_in *node)
{
    struct ys_onnx_joined joined = {.axis = -1};
    for (size_t i = 0; node->in_count == 2 && i < 2; i++) {
        const char *x = find_rms(f, node->in[i], &joined.epsilon);
        const char *const in[2] = {x, node->in[1 - i]};
        if (x && spans(f, in[1], 1)) {
            become(f, node, "RMSNormalization", in, 2, &joined);
            return;
        }
    }
}

static bool is_table(const struct finder *f, struct ys_onnx_constant *c, int64_t positions, int64_t width)
{
    return c && c->is_real && c->rank >= 2 && c->count == positions * width && c->shape[c->rank - 1] == width &&
           c->shape[c->rank - 2] == positions && ys_onnx_constant_load(&f->r->folding, c) == YS_OK;
}

/* One number that a Slice or a Split has of the last axis. */
static bool is_last(const struct finder *f, const struct ys_onnx_node_in *node, size_t in, int64_t wanted, bool is_axis)
{
    struct ys_onnx_constant *c = in < node->in_count ? constant_of(f, node->in[in]) : NULL;
    if (!c || c->is_real || c->count != 1 || ys_onnx_constant_load(&f->r->folding, c) != YS_OK)
        return false;
    const int64_t number = ys_onnx_constant_whole(c, 0).fixed;
    return is_axis ? number == -1 || number == 3 : number == wanted;
}

/* x of its part from `start` on along the last of four axes, half of `width` long; NULL for none. */
static const char *find_half(const struct finder *f, const char *name, int64_t start, int64_t width)
{
    const struct ys_onnx_node_in *slice = name ? inner(f, name, "Slice", 1) : NULL;
    const bool is_it = slice && (slice->in_count == 4 || (slice->in_count == 5 && is_last(f, slice, 4, 1, false))) &&
                       is_last(f, slice, 1, start, false) && is_last(f, slice, 3, 0, true) &&
                       (start > 0 || is_last(f, slice, 2, width / 2, false));
    struct ys_onnx_constant *end = is_it ? constant_of(f, slice->in[2]) : NULL;
    const bool ends = end && end->count == 1 && ys_onnx_constant_load(&f->r->folding, end) == YS_OK &&
                      (start == 0 || ys_onnx_constant_whole(end, 0).fixed >= width);
    return ends ? slice->in[0] : NULL;
}

/* x of its halves along the last axis exchanged, the one that is then the first with its sign turned. */
static const char *find_exchanged(const struct finder *f, const struct ys_onnx_node_in *concat, int64_t width)
{
    int64_t axis = 0;
    if (!concat || concat->in_count != 2 || ys_onnx_integer(concat, "axis", &axis) != YS_OK ||
        (axis != -1 && axis != 3))
        return NULL;
    const struct ys_onnx_node_in *minus = inner(f, concat->in[0], "Neg", 1);
    const char *second = minus && minus->in_count == 1 ? find_half(f, minus->in[0], width / 2, width) : NULL;
    const char *first = find_half(f, concat->in[1], 0, width);
    return first && second && strcmp(first, second) == 0 ? first : NULL;
}

/* The constant of a product and what stands beside it. */
static struct ys_onnx_constant *table_of(const struct finder *f, const struct ys_onnx_node_in *product,
                                         const char **beside_it)
{
    for (size_t i = 0; product && product->in_count == 2 && i < 2; i++) {
        struct ys_onnx_constant *c = constant_of(f, product->in[i]);
        *beside_it = product->in[1 - i];
        if (c && c->rank >= 2)
            return c;
    }
    return NULL;
}

/* The sum of x times a table and of the other numbers of x times another. */
static const char *find_turned(const struct finder *f, const struct ys_onnx_node_in *add, size_t side,
                               struct ys_onnx_joined *joined)
{
    const char *x = NULL, *other = NULL;
    int64_t axis = 0;
    struct ys_onnx_waves w = {.cosines = table_of(f, inner(f, add->in[side], "Mul", 1), &x),
                              .sines = table_of(f, inner(f, add->in[1 - side], "Mul", 1), &other)};
    if (!w.cosines || !w.sines)
        return NULL;
    w.positions = w.cosines->shape[w.cosines->rank - 2];
    w.width = w.cosines->shape[w.cosines->rank - 1];
    if (w.width < 2 || w.width % 2 || !is_table(f, w.cosines, w.positions, w.width) ||
        !is_table(f, w.sines, w.positions, w.width))
        return NULL;
    const struct ys_onnx_node_in *gather = inner(f, other, "Gather", 1);
    const char *of = find_exchanged(f, inner(f, other, "Concat", 1), w.width);
    if (gather && gather->in_count == 2 && ys_onnx_integer(gather, "axis", &axis) == YS_OK && axis == 2) {
        w.others = constant_of(f, gather->in[1]);
        of = w.others && !w.others->is_real && w.others->count == w.width &&
                     ys_onnx_constant_load(&f->r->folding, w.others) == YS_OK
                 ? gather->in[0]
                 : NULL;
    }
    return of && strcmp(of, x) == 0 && ys_onnx_find_waves(&w, joined) ? x : NULL;
}

static void join_turned(struct finder *f, struct ys_onnx_node_in *node)
{
    struct ys_onnx_joined joined = {0};
    for (size_t side = 0; node->in_count == 2 && side < 2; side++) {
        const char *x = find_turned(f, node, side, &joined);
        if (x) {
            become(f, node, "RotaryEmbedding", &x, 1, &joined);
            return;
        }
    }
}

static void join_softmax(struct finder *f, struct ys_onnx_node_in *node)
{
    int64_t axis = 0;
    const bool is_log = strcmp(node->op, "Sub") == 0;
    const char *x = is_log ? find_log_softmax(f, node, &axis) : find_softmax(f, node, &axis);
    if (x)
        become(f, node, is_log ? "LogSoftmax" : "Softmax", &x, 1, &(struct ys_onnx_joined){.axis = axis});
}

/* The logarithm of a softmax: that one's attributes, or what it was joined of, are its own. */
static void join_log(struct finder *f, struct ys_onnx_node_in *node)
{
    const struct ys_onnx_node_in *softmax = node->in_count == 1 ? inner(f, node->in[0], "Softmax", 1) : NULL;
    if (!softmax || softmax->in_count != 1)
        return;
    become(f, node, "LogSoftmax", softmax->in, 1, &(struct ys_onnx_joined){0});
    node->joined = softmax->joined;
    node->attrs = softmax->attrs;
    node->attr_count = softmax->attr_count;
}

static void join(struct finder *f)
{
    struct ys_onnx_file *file = f->r->file;
    note_makers(f);
    for (size_t i = 0; i < file->node_count; i++) {
        struct ys_onnx_node_in *node = &file->nodes[i];
        if (strcmp(node->op, "Mul") == 0 || strcmp(node->op, "Div") == 0)
            join_product(f, node);
        else if (strcmp(node->op, "Add") == 0)
            join_norm(f, node);
        if (strcmp(node->op, "Mul") == 0)
            join_rms(f, node);
        else if (strcmp(node->op, "Add") == 0)
            join_turned(f, node);
        if (strcmp(node->op, "Log") == 0)
            join_log(f, node);
        if (strcmp(node->op, "Div") == 0 || strcmp(node->op, "Sub") == 0)
            join_softmax(f, node);
    }
}

void ys_onnx_join_spelled(struct ys_onnx_reading *r)
{
    static const char *const signs[] = {"Tanh", "Clip",   "Sqrt", "Exp",
                                        "Log",  "Gather", "Neg"}; /* each of them has one of these */
    bool any = false;
    for (size_t i = 0; i < r->file->node_count; i++)
        for (size_t k = 0; k < sizeof signs / sizeof signs[0]; k++)
            any = any || strcmp(r->file->nodes[i].op, signs[k]) == 0;
    if (!any)
        return;
    struct finder f = {.r = r,
                       .makers = ys_json_object(),
                       .readers = ys_json_object(),
                       .constants = ys_alloc(r->file->node_count + r->file->tensor_count, sizeof *f.constants)};
    join(&f);
    ys_json_free(f.makers);
    ys_json_free(f.readers);
    ys_free(f.constants);
}
