/* Saved weights as a model to attack: the engine in float, one in double that judges, and the images. */
#ifndef YS_BUILTIN_ATTACKED_ENGINE_H
#define YS_BUILTIN_ATTACKED_ENGINE_H

#include "builtin/plan_rows.h"
#include "robust/attack.h"

struct ys_attacked_engine {
    struct ys_graph *graph;        /* whose input takes pixels of [0, 1] as floats */
    struct ys_engine *whole, *few; /* of a whole batch, and of a few rows, which the last ones to go on are */
    struct ys_engine *judge;       /* in double; NULL: a twin has none */
    size_t batch, few_rows;
    float *cotangents;        /* [batch, classes] */
    struct ys_attacked model; /* asks these; it points to this struct, which stays where it is */
};

/** Images and labels of the first rows of a data file. */
struct ys_attacked_images {
    float *pixels; /* [rows, pixels] in [0, 1] */
    int64_t *labels;
    size_t rows;
};

/** The first `rows` rows of the file `data`, or all where there are fewer, for the network of the file `graph`.
 * YS_EUNSUPPORTED: it has no single input of images of bytes, a target that is no class, or a state that it carries. */
ys_status ys_attacked_images_read(const char *graph, const char *data, size_t rows,
                                  struct ys_attacked_images *images) YS_MUST_CHECK;
void ys_attacked_images_free(struct ys_attacked_images *images);

/** Opens the network with the weights of a file, on `threads` threads; `twin` above 0: each trained number is moved
 * by rounding alone (base/stored/moved_numbers.h), by the lots of that number. */
ys_status ys_attacked_engine_open(const char *graph, const char *weights, int threads, size_t rows, int twin,
                                  struct ys_attacked_engine *engine) YS_MUST_CHECK;
void ys_attacked_engine_close(struct ys_attacked_engine *engine);
/** As struct ys_attack_spec has it; `of` is a struct ys_attacked_engine that is no twin. */
ys_status ys_attacked_engine_judge(void *of, const float *images, size_t count, double *logits) YS_MUST_CHECK;

#endif
