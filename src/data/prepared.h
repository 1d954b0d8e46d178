/* The prepared files in the cache: written whole or not at all, read without reading the inputs.
 *
 *   data/NAME/VERSION/    a version: both files, sealed (base/stored/sealed.h); VERSION is the SHA-256 of its manifest
 *   data/NAME/current     the name of the version that studies begin with
 *   data/NAME/lock        held by who adds a version or removes some
 *   data/working-XXXXXX/  a version that is being made */
#ifndef YS_DATA_PREPARED_H
#define YS_DATA_PREPARED_H

#include "data/dataset.h"

/** The files that images lie in (data/listed_images.h): of each row where its path begins, its bytes, its time and its
 * sum. */
struct ys_data_files {
    const char *paths;
    size_t paths_bytes;
    const int64_t *starts, *sizes, *times;
    const uint8_t *sums;
};

/** Rows of one half: `count` rows of each of the source's inputs, then of its target. */
struct ys_data_rows {
    int64_t count;
    size_t input_count;
    void *array[YS_ROWS_MAX_INPUTS + 1];
    const struct ys_data_files *files; /* in the place of the first input; NULL: that is here */
};
/** Room for `count` rows of that form. */
void ys_data_rows_init(struct ys_data_rows *rows, const struct ys_rows *form, int64_t count);
/** Of images with a class each. */
static inline uint8_t *ys_data_pixels(const struct ys_data_rows *rows)
{
    return rows->array[0];
}
static inline int64_t *ys_data_labels(const struct ys_data_rows *rows)
{
    return rows->array[rows->input_count];
}
void ys_data_rows_fini(struct ys_data_rows *rows);

/** Writes both halves as a version and makes it the current one. `origin` is for people. */
ys_status ys_prepared_write(const struct ys_data_source *source, const struct ys_data_rows *train,
                            const struct ys_data_rows *test, const char *origin, bool verified) YS_MUST_CHECK;

/** Opens and holds the current version, or with `wanted` (may be NULL) the one that has these rows. YS_ENOTFOUND when
 * nothing of this edition is prepared; YS_EFORMAT when the files are damaged. */
ys_status ys_prepared_load(const struct ys_data_source *source, const struct ys_data_wanted *wanted,
                           struct ys_dataset *dataset) YS_MUST_CHECK;

/** Where an earlier version of yardstick left its files, data/NAME/train.safetensors and test.safetensors: makes them
 * a version, if they are whole, and removes them. YS_OK also when there are none; YS_EFORMAT: they are damaged. */
ys_status ys_prepared_adopt(const struct ys_data_source *source) YS_MUST_CHECK;

/** Removes what killed processes left, and with `versions` those that are neither current nor held. */
void ys_prepared_sweep(const struct ys_sweep *sweep, bool versions);

#endif
