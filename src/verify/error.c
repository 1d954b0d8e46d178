#include "verify/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A tensor this small against the largest of its kind is noise where the largest is signal: it is judged absolutely. */
static const double SMALL = 1e-6;

static bool same_shape(const struct ys_tensor *a, const struct ys_tensor *b)
{
    if (!a || !b || a->rank != b->rank)
        return false;
    for (size_t i = 0; i < a->rank; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    return true;
}

double ys_error_max(const struct ys_tensor *a, const struct ys_tensor *ref)
{
    if (!same_shape(a, ref))
        return INFINITY;
    double difference = 0, largest = 0;
    size_t count = ys_tensor_count(ref);
    for (size_t i = 0; i < count; i++) {
        double r = ys_tensor_value(ref, i), d = fabs(ys_tensor_value(a, i) - r);
        if (!isfinite(d))
            return INFINITY;
        difference = fmax(difference, d);
        largest = fmax(largest, fabs(r));
    }
    return largest > 0 ? difference / largest : difference;
}

double ys_error_norm(const struct ys_tensor *a, const struct ys_tensor *ref)
{
    if (!same_shape(a, ref))
        return INFINITY;
    double sum = 0;
    size_t count = ys_tensor_count(ref);
    for (size_t i = 0; i < count; i++) {
        double d = ys_tensor_value(a, i) - ys_tensor_value(ref, i);
        sum += d * d;
    }
    return isfinite(sum) ? sqrt(sum) : INFINITY;
}

double ys_tensor_norm(const struct ys_tensor *a)
{
    double sum = 0;
    size_t count = ys_tensor_count(a);
    for (size_t i = 0; i < count; i++) {
        double v = ys_tensor_value(a, i);
        sum += v * v;
    }
    return sqrt(sum);
}

static void keep_worst(struct ys_worst *worst, double error, const char *name)
{
    if (!(error <= worst->error)) {
        worst->error = isnan(error) ? INFINITY : error;
        snprintf(worst->name, sizeof worst->name, "%s", name);
    }
}

/* Judges norm(difference) of one tensor against its own scale, or against the largest scale where its own is noise. */
static double judge(double difference, double scale, double largest)
{
    double against = scale > SMALL * largest ? scale : largest;
    return against > 0 ? difference / against : difference;
}

void ys_error_gradients(const struct ys_safetensors *a, const struct ys_safetensors *ref, const char *prefix,
                        struct ys_worst *worst)
{
    *worst = (struct ys_worst){0};
    double largest = 0;
    for (size_t i = 0; i < ys_safetensors_count(ref); i++) {
        const struct ys_tensor *r = ys_safetensors_at(ref, i);
        if (strncmp(r->name, prefix, strlen(prefix)) == 0)
            largest = fmax(largest, ys_tensor_norm(r));
    }
    for (size_t i = 0; i < ys_safetensors_count(ref); i++) {
        const struct ys_tensor *r = ys_safetensors_at(ref, i);
        if (strncmp(r->name, prefix, strlen(prefix)) != 0)
            continue;
        double difference = ys_error_norm(ys_safetensors_find(a, r->name), r);
        keep_worst(worst, judge(difference, ys_tensor_norm(r), largest), r->name);
    }
}

void ys_error_weights(const struct ys_safetensors *a, const struct ys_safetensors *ref,
                      const struct ys_safetensors *start, struct ys_worst *worst)
{
    *worst = (struct ys_worst){0};
    double largest = 0;
    for (size_t i = 0; i < ys_safetensors_count(ref); i++) {
        const struct ys_tensor *r = ys_safetensors_at(ref, i);
        largest = fmax(largest, ys_error_norm(ys_safetensors_find(start, r->name), r));
    }
    for (size_t i = 0; i < ys_safetensors_count(ref); i++) {
        const struct ys_tensor *r = ys_safetensors_at(ref, i);
        double way = ys_error_norm(ys_safetensors_find(start, r->name), r);
        double difference = ys_error_norm(ys_safetensors_find(a, r->name), r);
        keep_worst(worst, judge(difference, way, largest), r->name);
    }
}

bool ys_tensors_equal(const struct ys_tensor *a, const struct ys_tensor *b)
{
    if (!same_shape(a, b))
        return false;
    size_t count = ys_tensor_count(a);
    for (size_t i = 0; i < count; i++)
        if (ys_tensor_value(a, i) != ys_tensor_value(b, i))
            return false;
    return true;
}
