/* Files that people have in the place of a network's. */
#ifndef YS_GRAPH_FOREIGN_FORMAT_H
#define YS_GRAPH_FOREIGN_FORMAT_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

/** For a file that could not be read as ONNX, or else as a graph: YS_EFORMAT says what it is and what to do about it,
 * of files that are known; YS_OK: nothing is known. */
ys_status ys_model_foreign(const char *bytes, size_t size, bool is_onnx) YS_MUST_CHECK;
/** The same for a file of numbers, which may begin as any kind does whose sign is short. */
ys_status ys_model_foreign_numbers(const char *bytes, size_t size) YS_MUST_CHECK;

#endif
