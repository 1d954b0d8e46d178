/* What is kept of an attack so that other weights can be shown its images: a folder with the network, the weights, what
 * was found, and the image of every row that an attack broke. */
#ifndef YS_BUILTIN_KEPT_IMAGES_H
#define YS_BUILTIN_KEPT_IMAGES_H

#include "robust/transfer.h"

#include <stdio.h>

#define YS_KEPT_GRAPH   "graph.json"
#define YS_KEPT_WEIGHTS "weights.safetensors"
#define YS_KEPT_FOUND   "found.json" /* struct ys_robustness, with outcomes; the last to be written */

struct ys_kept_images {
    char *folder; /* owned; NULL: nothing is kept */
    FILE *file;
    const int64_t *labels; /* of the rows; borrowed */
    size_t pixels;
    char *reason; /* owned; why not all could be kept; NULL */
};

/** Makes the folder and keeps network and weights, these as a link where that can be. What cannot be kept is no
 * failure: `reason` says it, and nothing more is kept. */
void ys_kept_images_begin(const char *folder, const char *graph, const char *weights, const int64_t *labels,
                          size_t pixels, struct ys_kept_images *kept);
/** As struct ys_attack_spec has `broken`; `of` is a struct ys_kept_images. */
ys_status ys_kept_images_add(void *of, size_t attack, size_t row, const float *image);
/** Writes `found`; NULL: the attacks were not finished, and nothing is kept. `reason` stays the caller's, to be freed.
 */
void ys_kept_images_end(struct ys_kept_images *kept, const struct ys_robustness *found);

/** Shows the images that are kept in `folder` to the model of `transfer`, which was begun. YS_EFORMAT: the file is cut
 * off, or of images of another size. */
ys_status ys_kept_images_show(const char *folder, struct ys_transfer *transfer) YS_MUST_CHECK;
/** `found` of a folder; ys_robustness_fini() frees. */
ys_status ys_kept_images_found(const char *folder, struct ys_robustness *found) YS_MUST_CHECK;

#endif
