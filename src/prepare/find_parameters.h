/* How often the parameters of a network stand in the bytes of files, in which type, and in which order of their axes.
 *
 * Looked for are the float32 numbers themselves, and each rounded to float16 or bfloat16 (to nearest, ties to even), in
 * the order of the graph and in the usual others: a matrix transposed, kernels OIHW as HWIO, OHWI and HWOI. A parameter
 * whose numbers are all the same, or that is shorter than 16 bytes, cannot be told from other bytes: it is taken to be
 * there as often as the others. */
#ifndef YS_PREPARE_FIND_PARAMETERS_H
#define YS_PREPARE_FIND_PARAMETERS_H

#include "base/status.h"
#include "base/stored/safetensors.h"
#include "crew/facts.h"

struct ys_found_parameters {
    int64_t elements;         /* of all of them */
    int64_t known;            /* of those that can be told from other bytes */
    int64_t found;            /* of these, such as were found at least once */
    int64_t copies;           /* of elements, of these; 3 times the elements of one that is there 3 times */
    int64_t bytes;            /* of these copies */
    enum ys_stored_type type; /* that most of these bytes are of; YS_STORED_F32 where there are none */
};

struct ys_bytes {
    const unsigned char *data;
    size_t size;
};

/** Looks for the tensors of `weights`, F32, in `files`, count of them. */
ys_status ys_parameters_find(const struct ys_safetensors *weights, const struct ys_bytes *files, size_t count,
                             struct ys_found_parameters *found) YS_MUST_CHECK;

/** A float32 as the nearest number of `type`, again as float32. */
float ys_stored_round(float value, enum ys_stored_type type);

#endif
