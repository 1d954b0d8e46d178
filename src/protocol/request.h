/* What yardstick asks of an adapter: the messages of docs/protocol.md, made in one place. Each is a new value; NULL
 * without memory. */
#ifndef YS_PROTOCOL_REQUEST_H
#define YS_PROTOCOL_REQUEST_H

#include "protocol/plan.h"

/** One without members but its type. */
ys_json *ys_request(const char *type);
ys_json *ys_request_open(const struct ys_plan *plan);
/** forward or backward; `mode` is "train" or "eval". */
ys_json *ys_request_pass(const char *type, int64_t batch, const char *mode);
ys_json *ys_request_step(int64_t n);
ys_json *ys_request_train(int64_t from, int64_t to, int64_t block);
/** Paths of files; `cotangent` may be NULL. */
ys_json *ys_request_input_gradient(const char *path, const char *cotangent);
/** Safetensors; `dtype` is "f32", "f64", or NULL: the adapter's choice. */
ys_json *ys_request_save(const char *path, const char *dtype);

#endif
