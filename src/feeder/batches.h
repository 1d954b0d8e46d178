/* Batches of a prepared file by their number: the rows that the order of a run names, decoded where the file only lists
 * images (data/listed_images.h), and changed by lot where the job says so (feeder/augment.h). What a batch holds hangs
 * on its number alone, so that a run, its proof and its audit get the same bytes, in whatever order they ask. */
#ifndef YS_FEEDER_BATCHES_H
#define YS_FEEDER_BATCHES_H

#include "base/status.h"
#include "base/stored/safetensors.h"

#include <stdbool.h>
#include <stdint.h>

enum { YS_BATCHES_ARRAYS = 16 };

struct ys_batches_asked {
    const char *data;    /* path of the prepared file */
    const char *order;   /* path of the rows of each step, with the epoch that it lies in; NULL: each row once, alone */
    const char *augment; /* name of an augmentation; NULL: nothing by lot */
    uint64_t seed;       /* of what is drawn by lot */
    int64_t crop;        /* side of the square that is cut out of an image, by lot or in its middle; 0: none */
    bool floats;         /* pixels come as numbers, F32, also where they stay whole */
    bool reduces;        /* JPEG may be decoded at a reduced size, where that still has the pixels of a row */
    bool evaluates;      /* as rows to test on: nothing is drawn by lot */
};

struct ys_batches;

/** YS_EIO, YS_EFORMAT: a file cannot be read, or names rows that there are not. YS_EINVAL: no such augmentation, the
 * rows are no images, or too small for the crop. */
ys_status ys_batches_open(const struct ys_batches_asked *asked, struct ys_batches **batches) YS_MUST_CHECK;
int64_t ys_batches_count(const struct ys_batches *batches);
/** Its arrays as one batch has them: name, type, shape (the batch first) and size; `data` is NULL. *count of them. */
const struct ys_tensor *ys_batches_arrays(const struct ys_batches *batches, size_t *count);
/** Fills the places, one for each array, with batch `number`. From any number of threads. YS_EFORMAT: an
 * image is damaged, or is not the one that was listed; YS_EIO. */
ys_status ys_batches_make(const struct ys_batches *batches, int64_t number, void *const *places) YS_MUST_CHECK;
void ys_batches_close(struct ys_batches *batches); /* NULL is fine */

/** Writes all batches, one after the other, as a prepared file of count * batch rows. */
ys_status ys_batches_write(const struct ys_batches *batches, const char *path) YS_MUST_CHECK;

#endif
