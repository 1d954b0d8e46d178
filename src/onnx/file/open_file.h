/* What an opened ONNX file holds on to. Nothing outside onnx/file/parse_proto.c and onnx/file/external_data.c needs it.
 */
#ifndef YS_ONNX_FILE_OPEN_FILE_H
#define YS_ONNX_FILE_OPEN_FILE_H

#include "onnx/file/proto.h"

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
