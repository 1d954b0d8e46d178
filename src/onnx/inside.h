/* What an opened ONNX file holds on to. Nothing outside onnx/proto.c and onnx/external.c needs it. */
#ifndef YS_ONNX_INSIDE_H
#define YS_ONNX_INSIDE_H

#include "onnx/proto.h"

#define YS_ONNX_MAX_FILES 64 /* of external data */

struct ys_onnx_kept { /* stands before each piece of memory */
    struct ys_onnx_kept *next;
    max_align_t align[];
};

struct ys_onnx_map {
    char *path;
    struct ys_span bytes;
};

struct ys_onnx_inside {
    struct ys_onnx_kept *kept;
    size_t map_count;
    struct ys_onnx_map maps[1 + YS_ONNX_MAX_FILES]; /* the file itself, unless it was in memory, and external data */
};

#endif
