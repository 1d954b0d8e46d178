/* safetensors files: a u64 little-endian header length, a JSON header, raw little-endian tensors.
 * Format: https://github.com/huggingface/safetensors (README, "Format"). Reading validates everything: lengths against
 * the file, products of shapes against overflow, offsets contiguous without hole or overlap, no duplicate names. */
#ifndef YS_BASE_STORED_SAFETENSORS_H
#define YS_BASE_STORED_SAFETENSORS_H

#include "base/json/json.h"
#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

enum ys_dtype { YS_F64, YS_F32, YS_BF16, YS_I64, YS_I32, YS_U32, YS_U8, YS_DTYPE_COUNT };
#define YS_MAX_RANK 8

size_t ys_dtype_size(enum ys_dtype dtype);      /* bytes of one element */
const char *ys_dtype_name(enum ys_dtype dtype); /* "F32", as the format spells it */
ys_status ys_dtype_parse(const char *name, enum ys_dtype *dtype) YS_MUST_CHECK;

struct ys_tensor {
    const char *name; /* borrowed from the file, or from the caller when writing */
    enum ys_dtype dtype;
    size_t rank;                /* 0 to YS_MAX_RANK; rank 0 is a scalar */
    int64_t shape[YS_MAX_RANK]; /* each at least 0 */
    const void *data;           /* size_bytes bytes, little-endian, C order; at least 8-byte aligned when read */
    size_t size_bytes;
};

/** Number of elements of `tensor`. */
size_t ys_tensor_count(const struct ys_tensor *tensor);
/** Element `i` widened to double, for any dtype. */
double ys_tensor_value(const struct ys_tensor *tensor, size_t i);

/* Reading: the file is mapped read-only; tensors point into the mapping (into a copy where the file
 * does not align them) until close. Order is that of the data. Whoever makes a mapped file shorter ends the process. */
struct ys_safetensors;
ys_status ys_safetensors_open(const char *path, struct ys_safetensors **file) YS_MUST_CHECK;
/** The same of a file that others may still change: it is read into memory as it is now. */
ys_status ys_safetensors_load(const char *path, struct ys_safetensors **file) YS_MUST_CHECK;
void ys_safetensors_close(struct ys_safetensors *file); /* NULL is fine */
size_t ys_safetensors_count(const struct ys_safetensors *file);
const struct ys_tensor *ys_safetensors_at(const struct ys_safetensors *file, size_t index);
/** NULL when there is no tensor of that name. */
const struct ys_tensor *ys_safetensors_find(const struct ys_safetensors *file, const char *name);
/** As find, but a failure that names file and tensor; also checks dtype, and rank and shape where rank is not SIZE_MAX.
 * A NULL `shape` checks the rank alone. */
ys_status ys_safetensors_need(const struct ys_safetensors *file, const char *name, enum ys_dtype dtype, size_t rank,
                              const int64_t *shape, const struct ys_tensor **tensor) YS_MUST_CHECK;
/** A string of `__metadata__`, NULL when absent. */
const char *ys_safetensors_meta(const struct ys_safetensors *file, const char *key);

/** Writes atomically (temporary name, sync, rename). Data is written in order of falling alignment, then as given.
 * `meta`: NULL or an object of strings. */
ys_status ys_safetensors_write(const char *path, const struct ys_tensor *tensors, size_t count,
                               const ys_json *meta) YS_MUST_CHECK;
/** As write, but not synced: for a file that another process reads at once and that nobody keeps. */
ys_status ys_safetensors_pass(const char *path, const struct ys_tensor *tensors, size_t count) YS_MUST_CHECK;

/* A file whose values are put in place one after the other, in any order: a mapping of it, so that no more of them lies
 * in memory than the kernel keeps. It gets its name in the end, as by ys_safetensors_pass(). */
struct ys_safetensors_draft;
/** Room on the disk for `tensors`, whose data is not looked at. YS_EIO: there is none. */
ys_status ys_safetensors_draft_open(const char *path, const struct ys_tensor *tensors, size_t count,
                                    struct ys_safetensors_draft **draft) YS_MUST_CHECK;
/** Where the values of tensors[index] go. */
void *ys_safetensors_draft_at(const struct ys_safetensors_draft *draft, size_t index);
/** Both free it. */
ys_status ys_safetensors_draft_commit(struct ys_safetensors_draft *draft) YS_MUST_CHECK;
void ys_safetensors_draft_discard(struct ys_safetensors_draft *draft); /* NULL is fine */

#endif
