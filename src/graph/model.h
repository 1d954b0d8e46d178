/* The named models, built for a data set's shape and classes. */
#ifndef YS_GRAPH_MODEL_H
#define YS_GRAPH_MODEL_H

#include "graph/graph.h"

/** What a network of images is built for. */
struct ys_model_input {
    int64_t shape[3];    /* channels, height, width */
    enum ys_dtype dtype; /* of the pixels as stored: YS_U8 or YS_F32 */
    double scale;        /* pixel * scale is in [0, 1] */
    int64_t classes;
};

struct ys_model {
    const char *name, *title;
    struct ys_model_input usual; /* the input it is known by; `list models` counts with it */
    /** `input` says nothing to a network with rows of its own. */
    ys_status (*build)(const struct ys_model_input *input, struct ys_graph **graph);
    const struct ys_rows *rows; /* NULL: images; else the one form of rows that it takes, unit included */
};

/** The rows that the model is known by. */
struct ys_rows ys_model_rows(const struct ys_model *model);
/** All models, ended by a NULL name. */
const struct ys_model *ys_models(void);
/** Of those, and of what ys_model_find_also() added; NULL when there is none of that name. */
const struct ys_model *ys_model_find(const char *name);
/** Lets ys_model_find() ask `find`, which may answer NULL, for names of models that are not listed: the networks that
 * check adapters (verify/check_models.h) lie on a higher floor. One at most; before there are threads. */
void ys_model_find_also(const struct ys_model *(*find)(const char *name));

/** The initial values of one parameter, from a stream of its own (seed, its name). */
void ys_param_draw(const struct ys_param *param, uint64_t seed, float *values);
/** Draws every parameter's initial values as float32, each from its own stream (seed, parameter name), and writes them
 * as safetensors in graph order. `hash` receives the SHA-256 of the values alone, in graph order. */
ys_status ys_graph_write_weights(const struct ys_graph *graph, uint64_t seed, const char *path,
                                 char hash[65]) YS_MUST_CHECK;

#endif
