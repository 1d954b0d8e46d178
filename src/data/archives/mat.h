/* Arrays of whole numbers out of a MAT-file of format 5.
 *
 * Format: MathWorks, "MAT-File Format", chapter 1: a header of 128 bytes, then elements with a type and a size each, an
 * array being one of them, as a rule compressed by zlib. Files of the format 7.3 are HDF5 and are not read.
 *
 * Files are strangers' work: every size is compared with what is there, and an array with its limit, before anything is
 * allocated for it. */
#ifndef YS_DATA_ARCHIVES_MAT_H
#define YS_DATA_ARCHIVES_MAT_H

#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

#define YS_MAT_MAX_RANK     4
#define YS_MAT_MAX_ELEMENTS 16                  /* arrays of a file */
#define YS_MAT_MAX_BYTES    ((size_t)256 << 20) /* of an array, expanded */

struct ys_mat_array {
    const char *name; /* in the file */
    size_t rank;      /* 2 to YS_MAT_MAX_RANK: a column is [n, 1] */
    int64_t shape[YS_MAT_MAX_RANK];
    size_t count;    /* of values */
    uint8_t *values; /* owned; the first index changes fastest */
};

/** Fills `arrays`, `count` of them, which say their names and nothing else; other arrays are passed over. `name` begins
 * messages. YS_EFORMAT: no such file, damaged, an array that is missing, comes twice, or has a number that is not 0 to
 * 255 and whole. On failure no array has values. */
ys_status ys_mat_read(const uint8_t *bytes, size_t size, const char *name, struct ys_mat_array *arrays,
                      size_t count) YS_MUST_CHECK;
void ys_mat_fini(struct ys_mat_array *array); /* one without values is fine */

#endif
