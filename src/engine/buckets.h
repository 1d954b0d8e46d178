/* The gradient as buckets: parts of it that are complete before the backward pass ends, in the order in which they are.
 * Of this room alone. */
#ifndef YS_ENGINE_BUCKETS_H
#define YS_ENGINE_BUCKETS_H

#include "engine/backend.h"
#include "engine/engine.h"

struct ys_bucket {
    size_t first_span, span_count;
    size_t end_call; /* its gradients are complete when the calls before this one have run */
};

/** Each trained parameter is in one bucket. */
struct ys_buckets {
    struct ys_bucket *items;
    size_t count;
    struct ys_engine_span *spans; /* of all buckets in a row */
};

/** Of a planned program that trains. Parameters are taken in the order in which their gradients are complete, the last
 * of the network first among equals; a bucket is full as soon as it holds `bucket_bytes` (0: never). YS_ENOMEM: nothing
 * is owned. */
ys_status ys_buckets_plan(const struct ys_lowering *low, size_t bucket_bytes, struct ys_buckets *buckets) YS_MUST_CHECK;
void ys_buckets_fini(struct ys_buckets *buckets);

#endif
