/* How far a back end may be from the exact result: bounds by numeric format, carried through a network.
 *
 * Weights and the values between operators are rounded with unit roundoff u (2^-24 in float, 2^-8 in bf16); sums inside
 * an operator, statistics, logits and loss with unit = 2^-24. gamma(k) = k unit / (1 - k unit) bounds the relative
 * error of k roundings in a row (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 3.1). With J the
 * matrix of dy_i / dx_j of an operator, errors of x reach y in the largest norm by at most the largest row sum of |J|.
 * Gradients go back by the transpose of J: in the sum norm by at most the largest row sum again, in the largest norm by
 * at most the largest column sum, and from the sum norm to the largest by at most the largest element; the smaller
 * holds. The first pixels are exact in every format (net_rows). All is to first order; slack makes up for the rest. */
#ifndef YS_TESTS_BACKEND_OPERATOR_BOUNDS_H
#define YS_TESTS_BACKEND_OPERATOR_BOUNDS_H

#include "unit/backend/operator_naive.h"

static const double slack = 1.25, unit = 0x1p-24;

struct norms {
    double top, sum; /* of the absolute values of all elements */
};

struct bound {
    double top, forward;          /* largest |element|; largest error of an element */
    struct norms gradient, wrong; /* of dL/dx, and of its error */
};

struct bounds {
    const struct naive *e;
    double u;
    struct bound value[NET_MAX];
    double loss, param[NET_MAX]; /* of an element of the parameter's gradient */
};

/** What one operator does to errors. */
struct local {
    double row, column, element; /* of |J|: largest row sum, column sum, element */
    double forward;              /* error of an element of the result by rounding alone */
    double relative; /* error of the product with J by rounding alone, in parts of the bound of that product */
};

static double gamma_of(double roundings)
{
    return roundings * unit / (1 - roundings * unit);
}

static double largest(const double *values, int64_t count)
{
    double top = 0;
    for (int64_t i = 0; i < count; i++)
        top = fmax(top, fabs(values[i]));
    return top;
}

/** The largest sum of |w| over the parts that one output (along axis 0) or one input (axis 1) has. */
static double weight_sum(const struct bounds *b, const struct ys_node *node, int axis)
{
    const struct ys_param *p = &b->e->n->params[node->weight];
    int64_t inputs = p->shape[1], taps = ys_param_elements(p) / (p->shape[0] * inputs);
    const struct ys_window *window = ys_node_window(node);
    const int64_t groups = window ? window->group : 1;
    double *sums = calloc((size_t)(p->shape[0] + inputs * groups), sizeof *sums), top;
    for (int64_t o = 0; o < p->shape[0]; o++)
        for (int64_t i = 0; i < inputs; i++)
            for (int64_t t = 0; t < taps; t++)
                sums[axis == 0 ? o : o * groups / p->shape[0] * inputs + i] +=
                    fabs(b->e->param[node->weight][(o * inputs + i) * taps + t]);
    top = largest(sums, p->shape[0] + inputs * groups);
    free(sums);
    return top;
}

static struct local local_product(const struct bounds *b, const struct ys_node *node)
{
    const struct ys_param *p = &b->e->n->params[node->weight];
    double bias = node->bias >= 0 ? largest(b->e->param[node->bias], p->shape[0]) : 0;
    double terms = (double)(ys_param_elements(p) / p->shape[0]), outputs = (double)(ys_param_elements(p) / p->shape[1]);
    return (struct local){.row = weight_sum(b, node, 0),
                          .column = weight_sum(b, node, 1),
                          .element = largest(b->e->param[node->weight], ys_param_elements(p)),
                          .forward = (weight_sum(b, node, 0) * b->value[node->in[0]].top + bias) *
                                     (2 * b->u + gamma_of(terms + 1)),
                          .relative = 3 * b->u + gamma_of(outputs)};
}

/** The same with the axes of the weight in each other's place. */
static struct local local_transposed(const struct bounds *b, const struct ys_node *node)
{
    const struct ys_param *p = &b->e->n->params[node->weight];
    double bias =
        node->bias >= 0 ? largest(b->e->param[node->bias], ys_param_elements(&b->e->n->params[node->bias])) : 0;
    double terms = (double)(ys_param_elements(p) / p->shape[1]), outputs = (double)(ys_param_elements(p) / p->shape[0]);
    return (struct local){.row = weight_sum(b, node, 1),
                          .column = weight_sum(b, node, 0),
                          .element = largest(b->e->param[node->weight], ys_param_elements(p)),
                          .forward = (weight_sum(b, node, 1) * b->value[node->in[0]].top + bias) *
                                     (2 * b->u + gamma_of(terms + 1)),
                          .relative = 3 * b->u + gamma_of(outputs)};
}

/** An element is read at most once for each step of the padding, along each axis. */
static struct local local_padded(const struct ys_node *node)
{
    double reads = 1;
    for (size_t axis = 1; node->pad.mode != YS_PAD_CONSTANT && axis < node->pad.rank; axis++)
        reads *= (double)(1 + node->pad.before[axis] + node->pad.after[axis]);
    return (struct local){.row = 1, .column = reads, .element = reads, .relative = gamma_of(reads)};
}

/** A pixel lies in at most as many windows as a window has taps; padding may leave a window a single pixel. */
static struct local local_pool(const struct bounds *b, const struct ys_node *node)
{
    bool is_max = node->op == YS_OP_MAXPOOL || node->op == YS_OP_GLOBAL_MAXPOOL;
    bool is_whole = node->op == YS_OP_GLOBAL_AVERAGEPOOL || node->op == YS_OP_MEAN;
    const struct ys_window *window = ys_node_window(node);
    double taps = window ? (double)(window->kernel[0] * window->kernel[1]) : 1, all;
    all = (double)(naive_count(b->e, node->in[0]) / naive_count(b->e, node->out[0]));
    struct local l = {.row = 1, .column = taps, .element = 1, .relative = b->u + gamma_of(taps + 2)};
    if (!is_max)
        l.forward = b->value[node->in[0]].top * (b->u + gamma_of((is_whole ? all : taps) + 2));
    if (is_whole)
        l.column = l.element = 1 / all;
    return l;
}

/** Statistics of a batch normalisation's input: largest 1 / sqrt(variance + epsilon), largest |x - mean| times that. */
static void normalised(const struct bounds *b, const struct ys_node *node, double *r, double *z)
{
    *r = *z = 0;
    for (int64_t c = 0; c < extent_at(b->e, node->in[0], 1); c++) {
        double mean = b->e->param[node->running_mean][c], variance = b->e->param[node->running_var][c];
        if (b->e->mode == YS_ENGINE_TRAIN)
            channel_statistics(b->e, node->in[0], c, &mean, &variance);
        double inverse = 1 / sqrt(variance + node->batchnorm.epsilon);
        *r = fmax(*r, inverse);
        *z = fmax(*z, (b->value[node->in[0]].top + fabs(mean)) * inverse);
    }
}

/** Error of z = (x - mean) r by rounding: the mean is wrong by |x| gamma(n), the deviation by a part of gamma(n + 8).
 */
static double normalised_error(const struct bounds *b, const struct ys_node *node, double r, double z)
{
    double n = (double)(naive_count(b->e, node->in[0]) / extent_at(b->e, node->in[0], 1));
    return r * b->value[node->in[0]].top * gamma_of(n) + z * gamma_of(n + 8);
}

/** y = g z + bias, dx = g r (dy - mean of dy - z mean of dy z): in training the statistics move with every x. */
static struct local local_batchnorm(const struct bounds *b, const struct ys_node *node)
{
    double r, z, wrong = b->value[node->in[0]].forward, channels = (double)extent_at(b->e, node->in[0], 1);
    double n = (double)naive_count(b->e, node->in[0]) / channels;
    double scale = largest(b->e->param[node->weight], (int64_t)channels);
    double bias = largest(b->e->param[node->bias], (int64_t)channels);
    normalised(b, node, &r, &z);
    double z_error = normalised_error(b, node, r, z);
    struct local l = {.row = scale * r * (2 + z), .column = scale * r * (2 + z)};
    l.element = scale * r * (1 + (1 + z * z) / n);
    l.forward = scale * z_error + (scale * z + bias) * (b->u + 4 * unit);
    l.relative = 3 * b->u + gamma_of(2 * n + 16) + r * z * wrong + 2 * (z_error + r * (2 + z) * wrong);
    return l;
}

/** As a batch normalisation in training, each line by itself. */
static void lines_of(const struct bounds *b, const struct ys_node *node, double *r, double *z)
{
    int64_t count = extent_at(b->e, node->in[0], b->e->n->values[node->in[0]].rank - 1);
    *r = *z = 0;
    for (int64_t at = 0; at < naive_count(b->e, node->in[0]); at += count) {
        double mean, variance;
        line_of_node(b->e, node, at, &mean, &variance);
        double inverse = 1 / sqrt(variance + node->epsilon);
        *r = fmax(*r, inverse);
        *z = fmax(*z, (b->value[node->in[0]].top + fabs(mean)) * inverse);
    }
}

static double line_error(const struct bounds *b, const struct ys_node *node, double r, double z)
{
    double n = (double)extent_at(b->e, node->in[0], b->e->n->values[node->in[0]].rank - 1);
    return r * b->value[node->in[0]].top * gamma_of(n) + z * gamma_of(n + 8);
}

static struct local local_layernorm(const struct bounds *b, const struct ys_node *node)
{
    double r, z, wrong = b->value[node->in[0]].forward;
    int64_t count = extent_at(b->e, node->in[0], b->e->n->values[node->in[0]].rank - 1);
    double n = (double)count, scale = largest(b->e->param[node->weight], count);
    double bias = node->bias >= 0 ? largest(b->e->param[node->bias], count) : 0;
    lines_of(b, node, &r, &z);
    double z_error = line_error(b, node, r, z);
    struct local l = {.row = scale * r * (2 + z), .column = scale * r * (2 + z)};
    l.element = scale * r * (1 + (1 + z * z) / n);
    l.forward = scale * z_error + (scale * z + bias) * (b->u + 4 * unit);
    l.relative = 3 * b->u + gamma_of(2 * n + 16) + r * z * wrong + 2 * (z_error + r * (2 + z) * wrong);
    return l;
}

/** Of a pair, cos a - sin b and cos b + sin a: row and column sums are at most sqrt(2); sines are rounded themselves,
 * and two products added. */
static struct local local_rotary(const struct bounds *b, const struct ys_node *node)
{
    const double root = sqrt(2);
    return (struct local){.row = root,
                          .column = root,
                          .element = 1,
                          .forward = root * b->value[node->in[0]].top * (b->u + gamma_of(3)),
                          .relative = 3 * b->u + gamma_of(3)};
}

/** y = x B^-beta with B >= bias, dy_i/dx_j = B^-beta - 2 alpha beta / size x_i x_j B^(-beta - 1). */
static struct local local_lrn(const struct bounds *b, const struct ys_node *node)
{
    const struct ys_lrn *l = &node->lrn;
    double x = b->value[node->in[0]].top, base_error = gamma_of((double)l->size + 4), smallest = pow(l->bias, -l->beta);
    double sum = smallest * (1 + 2 * l->alpha * l->beta * x * x / l->bias);
    return (struct local){.row = sum,
                          .column = sum,
                          .element = sum,
                          .forward = x * smallest * (b->u + l->beta * base_error + 16 * unit),
                          .relative = 3 * b->u + 2 * (l->beta + 1) * base_error + gamma_of((double)l->size + 32)};
}

/** Of K elements: y_i = exp(x_i - log sum), dy_i/dx_j = y_i (d_ij - y_j), which adds up to less than 1 both ways; the
 * logarithm's derivative d_ij - y_j adds up to 2 over j, and to 1 + K y_j over i. */
static struct local local_softmax(const struct bounds *b, const struct ys_node *node)
{
    double k = (double)extent_at(b->e, node->in[0], (size_t)node->axis), rounding = gamma_of(k + 16);
    double x = b->value[node->in[0]].top, y = b->value[node->out[0]].top, wrong = 2 * b->value[node->in[0]].forward;
    struct local l = {.row = 1, .column = 1, .element = 1, .forward = b->u + rounding + 4 * x * unit};
    l.relative = 2 * b->u + 2 * rounding + (k + 2) * (l.forward + wrong);
    if (node->op == YS_OP_SOFTMAX)
        return l;
    return (struct local){2, 1 + k, 1, b->u * y + rounding * (1 + y) + 4 * x * unit, l.relative};
}

/** Functions of one element. */
static struct local local_pointwise(const struct bounds *b, const struct ys_node *node)
{
    const struct pointwise *f = &pointwise[node->op];
    double y = b->value[node->out[0]].top, wrong = b->value[node->in[0]].forward;
    struct local l = {.row = f->slope, .column = f->slope, .element = f->slope};
    l.forward = f->units > 0 ? b->u * y + f->units * fmax(y, 1) * unit : 2 * b->u * y;
    l.relative = 3 * b->u + f->curvature * (l.forward + wrong) / f->slope + f->units * unit;
    return l;
}

/** The second operand: a value, or a parameter, which is exact. */
static struct bound second_of(const struct bounds *b, const struct ys_node *node, const double **elements,
                              int64_t *count)
{
    if (node->in_count == 2) {
        *elements = b->e->value[node->in[1]];
        *count = naive_count(b->e, node->in[1]);
        return b->value[node->in[1]];
    }
    *elements = b->e->param[node->weight];
    *count = ys_param_elements(&b->e->n->params[node->weight]);
    return (struct bound){.top = largest(*elements, *count)};
}

/** Of two operands. An element of one that is stretched is read `reads` times: so many terms has the sum that its
 * gradient is. Derivatives of a / b are 1 / b and -a / b^2, with b at least m. */
static struct local local_pair(const struct bounds *b, const struct ys_node *node)
{
    const double *second;
    int64_t count;
    const struct bound x[2] = {b->value[node->in[0]], second_of(b, node, &second, &count)};
    const double results = (double)naive_count(b->e, node->out[0]);
    double slope = 1, m = INFINITY, wrong = 0;
    double reads = fmax(results / (double)naive_count(b->e, node->in[0]), results / (double)count);
    if (node->op == YS_OP_MUL) {
        slope = fmax(x[0].top, x[1].top);
        wrong = fmax(x[0].forward, x[1].forward) / slope;
    } else if (node->op == YS_OP_DIV) {
        for (int64_t i = 0; i < count; i++)
            m = fmin(m, fabs(second[i]));
        slope = fmax(1 / m, x[0].top / (m * m));
        wrong = (x[0].forward + 2 * x[1].forward) / m;
    }
    return (struct local){.row = slope,
                          .column = slope * reads,
                          .element = slope,
                          .forward = 2 * b->u * b->value[node->out[0]].top,
                          .relative = 3 * b->u + wrong + gamma_of(reads + 4)};
}

/** What makes each element of its result from one of each input. */
static struct local local_each(const struct bounds *b, const struct ys_node *node)
{
    double y = b->value[node->out[0]].top, slope = 1;
    struct local l = {.forward = 2 * b->u * y, .relative = 3 * b->u};
    switch (node->op) {
    case YS_OP_ADD:
    case YS_OP_SUB:
    case YS_OP_MUL:
    case YS_OP_DIV:
        return local_pair(b, node);
    case YS_OP_SINUSOID: /* a sine below 1 is rounded, and the sum */
        l.forward = b->u * y + 2 * unit;
        break;
    case YS_OP_DROPOUT:
        slope = 1 / (1 - node->ratio);
        break;
    case YS_OP_NORMALIZE: /* x scale - mean may cancel: each lies below (1 + mean) / std, four times the result */
        slope = node->normalize.scale / node->normalize.std[0];
        l.forward = y * (b->u + 12 * unit);
        break;
    case YS_OP_FLATTEN:
    case YS_OP_RESHAPE:
    case YS_OP_TRANSPOSE:
    case YS_OP_CONCAT:
    case YS_OP_SPLIT:
        l.forward = l.relative = 0;
        break;
    default:
        CHECK(pointwise[node->op].formula);
        return local_pointwise(b, node);
    }
    l.row = l.column = l.element = slope;
    return l;
}

static struct local local_of(const struct bounds *b, const struct ys_node *node)
{
    switch (node->op) {
    case YS_OP_CONV:
    case YS_OP_GEMM:
        return local_product(b, node);
    case YS_OP_CONV_TRANSPOSE:
        return local_transposed(b, node);
    case YS_OP_PAD:
        return local_padded(node);
    case YS_OP_MAXPOOL:
    case YS_OP_AVERAGEPOOL:
    case YS_OP_GLOBAL_MAXPOOL:
    case YS_OP_GLOBAL_AVERAGEPOOL:
    case YS_OP_MEAN:
        return local_pool(b, node);
    case YS_OP_BATCHNORM:
        return local_batchnorm(b, node);
    case YS_OP_LAYERNORM:
    case YS_OP_RMSNORM:
        return local_layernorm(b, node);
    case YS_OP_ROTARY:
        return local_rotary(b, node);
    case YS_OP_LRN:
        return local_lrn(b, node);
    case YS_OP_SOFTMAX:
    case YS_OP_LOG_SOFTMAX:
        return local_softmax(b, node);
    default:
        return local_each(b, node);
    }
}

/** The gradient by the logits, and its error where they are wrong by d: cross-entropy moves by 2 d, each softmax p by a
 * factor within exp(+-2 d). */
static void loss_bounds(struct bounds *b, const int64_t *y, double expected_loss)
{
    const struct ys_graph *g = &b->e->n->graph;
    struct bound *z = &b->value[g->output];
    int64_t classes = extent_at(b->e, g->output, 1);
    double d = z->forward, rounding = gamma_of((double)naive_count(b->e, g->output) + 16);
    double batch = (double)b->e->n->batch, smoothed = g->label_smoothing / (double)classes;
    for (int64_t row = 0; row < b->e->n->batch; row++) {
        double sum = 0;
        for (int64_t k = 0; k < classes; k++)
            sum += exp(*pixel(b->e, g->output, row, k, 0, 0));
        for (int64_t k = 0; k < classes; k++) {
            double at = *pixel(b->e, g->output, row, k, 0, 0), p = exp(at) / sum, t = k == y[row], gradient, wrong;
            if (g->loss == YS_LOSS_SOFTMAX_CROSS_ENTROPY) {
                gradient = fabs(p - smoothed - (1 - g->label_smoothing) * t) / batch;
                wrong = 2.1 * d * p / batch;
            } else {
                gradient = g->loss == YS_LOSS_NLL ? t / batch : 2 * fabs(at - t) / (batch * (double)classes);
                wrong = g->loss == YS_LOSS_NLL ? 0 : 2 * d / (batch * (double)classes);
            }
            z->gradient.top = fmax(z->gradient.top, gradient);
            z->gradient.sum += gradient;
            z->wrong.top = fmax(z->wrong.top, wrong + rounding * gradient);
            z->wrong.sum += wrong + rounding * gradient;
        }
    }
    double slope = g->loss == YS_LOSS_SOFTMAX_CROSS_ENTROPY ? 2 : g->loss == YS_LOSS_NLL ? 1 : 2 * (z->top + 1);
    b->loss = slope * d + rounding * (fabs(expected_loss) + z->top);
}

/** Of a parameter that is the second operand: its gradient is the sum of so many terms as results read an element. */
static void operand_bounds(struct bounds *b, const struct ys_node *node)
{
    const struct bound *y = &b->value[node->out[0]];
    const struct local l = local_pair(b, node);
    double reads = (double)naive_count(b->e, node->out[0]) / (double)ys_param_elements(&b->e->n->params[node->weight]);
    double gradient = fmin(y->gradient.sum, reads * y->gradient.top);
    double wrong = fmin(y->wrong.sum, reads * y->wrong.top);
    b->param[node->weight] += l.row * (wrong + l.relative * gradient);
}

/** Gradients of a node's parameters: sums over M places of gradient times value. */
static void param_bounds(struct bounds *b, const struct ys_node *node)
{
    if (ys_op_rule(node->op)->params == YS_PARAMS_OPERAND) {
        if (node->weight >= 0)
            operand_bounds(b, node);
        return;
    }
    const struct bound *x = &b->value[node->in[0]], *y = &b->value[node->out[0]];
    const bool lines = node->op == YS_OP_LAYERNORM || node->op == YS_OP_RMSNORM;
    size_t axis = lines ? b->e->n->values[node->out[0]].rank - 1 : 1; /* of the parameters */
    double places = (double)(naive_count(b->e, node->out[0]) / extent_at(b->e, node->out[0], axis));
    double gradient = fmin(y->gradient.sum, places * y->gradient.top);
    double wrong = fmin(y->wrong.sum, places * y->wrong.top) + gradient * gamma_of(places);
    if (node->bias >= 0)
        b->param[node->bias] = wrong + b->u * gradient;
    if (node->op == YS_OP_BATCHNORM || lines) {
        const bool batch = node->op == YS_OP_BATCHNORM;
        double r, z;
        (batch ? normalised : lines_of)(b, node, &r, &z);
        double z_error = (batch ? normalised_error : line_error)(b, node, r, z);
        b->param[node->weight] = z * (wrong + b->u * gradient) + gradient * (z_error + r * (2 + z) * x->forward);
    } else if (node->weight >= 0) {
        b->param[node->weight] = x->top * (wrong + 2 * b->u * gradient) + gradient * x->forward;
    }
}

/** Norms of the transpose of J times what has these. */
static struct norms back(const struct local *l, struct norms of)
{
    return (struct norms){fmin(l->column * of.top, l->element * of.sum), l->row * of.sum};
}

static void backward_bounds(struct bounds *b, const struct ys_node *node)
{
    struct local l = local_of(b, node);
    struct norms gradient = {0}, wrong = {0};
    for (size_t k = 0; k < node->out_count; k++) {
        const struct bound *y = &b->value[node->out[k]];
        gradient = (struct norms){fmax(gradient.top, y->gradient.top), gradient.sum + y->gradient.sum};
        wrong = (struct norms){fmax(wrong.top, y->wrong.top), wrong.sum + y->wrong.sum};
    }
    gradient = back(&l, gradient);
    wrong = back(&l, wrong);
    for (size_t k = 0; k < node->in_count; k++) {
        struct bound *x = &b->value[node->in[k]];
        x->gradient = (struct norms){x->gradient.top + gradient.top, x->gradient.sum + gradient.sum};
        x->wrong.top += wrong.top + (l.relative + b->u) * gradient.top;
        x->wrong.sum += wrong.sum + (l.relative + b->u) * gradient.sum;
    }
    param_bounds(b, node);
}

static void bounds_of(struct bounds *b, const struct naive *e, double u, const int64_t *y, double expected_loss)
{
    const struct ys_graph *g = &e->n->graph;
    *b = (struct bounds){.e = e, .u = u};
    for (int i = 0; i < (int)g->value_count; i++)
        b->value[i].top = largest(e->value[i], naive_count(e, i));
    for (size_t i = 0; i < g->node_count; i++) {
        const struct ys_node *node = &g->nodes[i];
        struct local l = local_of(b, node);
        double wrong = 0;
        for (size_t k = 0; k < node->in_count; k++)
            wrong += b->value[node->in[k]].forward;
        for (size_t k = 0; k < node->out_count; k++)
            b->value[node->out[k]].forward = l.row * wrong + l.forward;
    }
    loss_bounds(b, y, expected_loss);
    for (size_t i = g->node_count; i-- > 0;)
        backward_bounds(b, &g->nodes[i]);
}

#endif
