#include "verify/oracle/tensor_error.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A tensor this small against the largest of its kind is noise where the largest is signal: it is judged absolutely. */
static const double SMALL = 1e-6;

#define CHUNK 1024 /* elements that are widened at a time: three chunks lie in the first-level cache */

void ys_worst_raise(struct ys_worst *worst, double error, const char *name)
{
    if (error <= worst->error)
        return;
    worst->error = isnan(error) ? INFINITY : error;
    snprintf(worst->name, sizeof worst->name, "%s", name);
}

static bool same_shape(const struct ys_tensor *a, const struct ys_tensor *b)
{
    if (!a || !b || a->rank != b->rank)
        return false;
    for (size_t i = 0; i < a->rank; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    return true;
}

/* Elements `first` to `first + count` as doubles: the two formats of large files without a branch for each element. */
static void widen(const struct ys_tensor *tensor, size_t first, size_t count, double *values)
{
    if (tensor->dtype == YS_F64) {
        memcpy(values, (const double *)tensor->data + first, count * sizeof *values);
    } else if (tensor->dtype == YS_F32) {
        const float *from = (const float *)tensor->data + first;
        for (size_t i = 0; i < count; i++)
            values[i] = from[i];
    } else {
        for (size_t i = 0; i < count; i++)
            values[i] = ys_tensor_value(tensor, first + i);
    }
}

static size_t chunk_at(size_t first, size_t count)
{
    return count - first < CHUNK ? count - first : CHUNK;
}

/* What is largest so far. */
struct extremes {
    double difference, reference;
};

/* Elements `first` to `first + count`; false where a difference is not finite. */
static bool widen_extremes(struct extremes *found, const struct ys_tensor *a, const struct ys_tensor *ref, size_t first,
                           size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        double r = ys_tensor_value(ref, i), d = fabs(ys_tensor_value(a, i) - r);
        if (!isfinite(d))
            return false;
        found->difference = fmax(found->difference, d);
        found->reference = fmax(found->reference, fabs(r));
    }
    return true;
}

static double relate(struct extremes found)
{
    return found.reference > 0 ? found.difference / found.reference : found.difference;
}

double ys_error_max(const struct ys_tensor *a, const struct ys_tensor *ref)
{
    struct extremes found = {0};
    bool finite = same_shape(a, ref) && widen_extremes(&found, a, ref, 0, ys_tensor_count(ref));
    return finite ? relate(found) : INFINITY;
}

double ys_error_columns(const struct ys_tensor *a, const struct ys_tensor *ref, int64_t offset, int64_t length)
{
    struct extremes found = {0};
    bool finite = same_shape(a, ref) && ref->rank == 2 && offset >= 0 && offset + length <= ref->shape[1];
    for (int64_t row = 0; finite && row < ref->shape[0]; row++)
        finite = widen_extremes(&found, a, ref, (size_t)(row * ref->shape[1] + offset), (size_t)length);
    return finite ? relate(found) : INFINITY;
}

double ys_error_scalar(const struct ys_tensor *a, const struct ys_tensor *ref)
{
    /* [] and [1] both are one loss. */
    if (!a || !ref || ys_tensor_count(a) != 1 || ys_tensor_count(ref) != 1)
        return INFINITY;
    double r = ys_tensor_value(ref, 0), d = fabs(ys_tensor_value(a, 0) - r);
    return !isfinite(d) ? INFINITY : r != 0 ? d / fabs(r) : d;
}

struct distance {
    double difference; /* norm(a - ref) */
    double scale;      /* norm(ref - start), or norm(ref) */
};

/* One pass over all of them. `start` NULL: from zero. */
static struct distance measure(const struct ys_tensor *a, const struct ys_tensor *ref, const struct ys_tensor *start)
{
    double va[CHUNK], vr[CHUNK], vs[CHUNK] = {0};
    double difference = 0, scale = 0;
    size_t count = ys_tensor_count(ref);
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t n = chunk_at(first, count);
        widen(a, first, n, va);
        widen(ref, first, n, vr);
        if (start)
            widen(start, first, n, vs);
        for (size_t i = 0; i < n; i++) {
            difference += (va[i] - vr[i]) * (va[i] - vr[i]);
            scale += (vr[i] - vs[i]) * (vr[i] - vs[i]);
        }
    }
    return (struct distance){.difference = isfinite(difference) ? sqrt(difference) : INFINITY, .scale = sqrt(scale)};
}

/* The tensor whose name is `prefix` followed by `name`. */
static const struct ys_tensor *find(const struct ys_safetensors *file, const char *prefix, const char *name)
{
    size_t length = strlen(prefix);
    for (size_t i = 0; file && i < ys_safetensors_count(file); i++) {
        const struct ys_tensor *tensor = ys_safetensors_at(file, i);
        if (strncmp(tensor->name, prefix, length) == 0 && strcmp(tensor->name + length, name) == 0)
            return tensor;
    }
    return NULL;
}

static double judge(struct distance distance, double largest)
{
    double against = distance.scale > SMALL * largest ? distance.scale : largest;
    return against > 0 ? distance.difference / against : distance.difference;
}

/* Rounding to float32 moves a value by 2^-24 of it at most, and one too small for a normal number by 2^-150. */
static double without_rounding(double difference, const struct ys_tensor *a)
{
    double squares = 0;
    if (a->dtype != YS_F32)
        return difference;
    for (size_t i = 0; i < ys_tensor_count(a); i++) {
        double moved = fabs(ys_tensor_value(a, i)) * 0x1.00001p-24 + 0x1p-150;
        squares += moved * moved;
    }
    return fmax(difference - sqrt(squares), 0);
}

/* What a comparison is of. */
struct sides {
    const char *prefix;
    const struct ys_safetensors *a, *ref, *start;
    bool saved; /* `a` may be rounded to float32 */
};

static void each(const struct ys_graph *graph, enum ys_role role, const struct sides *sides, double *errors)
{
    struct distance *distances = ys_alloc(graph->param_count, sizeof *distances);
    double largest = 0;
    for (size_t p = 0; p < graph->param_count; p++) {
        const char *name = graph->params[p].name;
        if (graph->params[p].role != role)
            continue;
        const struct ys_tensor *ta = find(sides->a, sides->prefix, name), *tr = find(sides->ref, sides->prefix, name);
        const struct ys_tensor *ts = sides->start ? find(sides->start, sides->prefix, name) : NULL;
        bool comparable = same_shape(ta, tr) && (!sides->start || same_shape(ts, tr));
        distances[p] = comparable ? measure(ta, tr, ts) : (struct distance){.difference = INFINITY};
        if (comparable && sides->saved)
            distances[p].difference = without_rounding(distances[p].difference, ta);
        largest = fmax(largest, distances[p].scale);
    }
    for (size_t p = 0; p < graph->param_count; p++)
        errors[p] = graph->params[p].role == role ? judge(distances[p], largest) : 0;
    ys_free(distances);
}

void ys_error_each(const struct ys_graph *graph, enum ys_role role, const char *prefix, const struct ys_safetensors *a,
                   const struct ys_safetensors *ref, const struct ys_safetensors *start, double *errors)
{
    const struct sides sides = {.prefix = prefix, .a = a, .ref = ref, .start = start};
    each(graph, role, &sides, errors);
}

/* Raises `all` by every parameter, and `matrices`, unless it is NULL, by those of more than one dimension. */
static void raise_by(const struct ys_graph *graph, enum ys_role role, const struct sides *sides, struct ys_worst *all,
                     struct ys_worst *matrices)
{
    double *errors = ys_alloc(graph->param_count, sizeof *errors);
    each(graph, role, sides, errors);
    for (size_t p = 0; p < graph->param_count; p++) {
        ys_worst_raise(all, errors[p], graph->params[p].name);
        if (matrices && graph->params[p].rank > 1)
            ys_worst_raise(matrices, errors[p], graph->params[p].name);
    }
    ys_free(errors);
}

void ys_error_parameters(const struct ys_graph *graph, enum ys_role role, const char *prefix,
                         const struct ys_safetensors *a, const struct ys_safetensors *ref,
                         const struct ys_safetensors *start, struct ys_worst *worst)
{
    const struct sides sides = {.prefix = prefix, .a = a, .ref = ref, .start = start};
    *worst = (struct ys_worst){0};
    raise_by(graph, role, &sides, worst, NULL);
}

void ys_error_gradients(const struct ys_graph *graph, const struct ys_safetensors *a, const struct ys_safetensors *ref,
                        struct ys_worst *all, struct ys_worst *matrices)
{
    const struct sides sides = {.prefix = "grad.", .a = a, .ref = ref};
    raise_by(graph, YS_ROLE_WEIGHT, &sides, all, matrices);
}

void ys_error_saved(const struct ys_graph *graph, enum ys_role role, const struct ys_safetensors *a,
                    const struct ys_safetensors *ref, const struct ys_safetensors *start, struct ys_worst *worst)
{
    const struct sides sides = {.prefix = "", .a = a, .ref = ref, .start = start, .saved = true};
    *worst = (struct ys_worst){0};
    raise_by(graph, role, &sides, worst, NULL);
}

bool ys_tensors_equal(const struct ys_tensor *a, const struct ys_tensor *b)
{
    double va[CHUNK], vb[CHUNK];
    if (!same_shape(a, b))
        return false;
    size_t count = ys_tensor_count(a);
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t n = chunk_at(first, count);
        widen(a, first, n, va);
        widen(b, first, n, vb);
        for (size_t i = 0; i < n; i++)
            if (va[i] != vb[i])
                return false;
    }
    return true;
}
