/* An ONNX file as a graph with initial values: docs/onnx.md says which operators are read as what, what is trained and
 * what is refused. */
#ifndef YS_ONNX_READ_ONNX_READ_H
#define YS_ONNX_READ_ONNX_READ_H

#include "base/json/json.h"
#include "graph/model.h"

struct ys_onnx_import {
    struct ys_graph *graph;
    /* Of each parameter of the graph, what the file holds, in C order, and whether that is the memory of an earlier
     * one: copies of a vector begin with the same numbers. */
    float **values;
    bool *borrows;
    size_t value_count;
    /* {"file", "producer", "opset", "nodes": [{"name", "op", "shape"}], "parameters": [{"name", "shape", "role",
     * "from", "trained"}], "notes": [text]}: what was read as what, and what was changed and why. */
    ys_json *report;
    const ys_json *notes; /* those texts, borrowed */
    char *producer;       /* "" where the file names none */
    int64_t opset;
    bool normalizes; /* it begins with a normalize node */
};

/** YS_ENOTFOUND, YS_EIO: the file or its external data; YS_EFORMAT: damaged; YS_EUNSUPPORTED: read, but not understood:
 * the message names every node that is not, as far as it has room. YS_EINVAL: the inputs of `feed`, which may be NULL.
 */
ys_status ys_onnx_read(const char *path, const struct ys_model_feed *feed,
                       struct ys_onnx_import **import) YS_MUST_CHECK;
/** The same of a file in memory; external data are looked for beside `path`. */
ys_status ys_onnx_read_bytes(const char *path, const void *bytes, size_t size, const struct ys_model_feed *feed,
                             struct ys_onnx_import **import) YS_MUST_CHECK;
/** The JSON form of its graph, for ys_model_read_onnx(). `hash`: SHA-256 of the file, with external data that of the
 * text of the sums of all its files, itself first. With `graph` NULL it looks only whether it is an ONNX file. */
ys_status ys_onnx_read_graph(const char *path, const struct ys_model_feed *feed, ys_json **graph,
                             char hash[65]) YS_MUST_CHECK;
void ys_onnx_import_free(struct ys_onnx_import *import); /* NULL is fine */

/** Writes the values as safetensors, named as in the graph, in its order. `hash`, which may be NULL, receives the
 * SHA-256 of the values alone. */
ys_status ys_onnx_write_values(const struct ys_onnx_import *import, const char *path, char hash[65]) YS_MUST_CHECK;

/** Writes the values that the file `onnx`, read for `feed`, holds as those of `graph`, which was made of it and may
 * since have other parameters tied or untied (graph/change.h). */
ys_status ys_onnx_write_initial(const char *onnx, const struct ys_model_feed *feed, const struct ys_graph *graph,
                                const char *path) YS_MUST_CHECK;

#endif
