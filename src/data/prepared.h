/* The prepared files in the cache: written whole or not at all, read without reading the pixels. */
#ifndef YS_DATA_PREPARED_H
#define YS_DATA_PREPARED_H

#include "data/dataset.h"

/** Rows of one half: `count` images of the source's shape, uint8, and their labels. */
struct ys_data_rows {
    int64_t count;
    uint8_t *x;
    int64_t *y;
};
/** Room for `count` images of `image_size` bytes. */
ys_status ys_data_rows_init(struct ys_data_rows *rows, int64_t count, int64_t image_size) YS_MUST_CHECK;
void ys_data_rows_fini(struct ys_data_rows *rows);

/** Writes both halves into a folder of their own, then puts it in the place of what was there, in one step. `origin` is
 * for people. */
ys_status ys_prepared_write(const struct ys_data_source *source, const struct ys_data_rows *train,
                            const struct ys_data_rows *test, const char *origin, bool verified) YS_MUST_CHECK;

/** YS_ENOTFOUND when nothing of this edition is prepared; YS_EFORMAT when the files are damaged. */
ys_status ys_prepared_load(const struct ys_data_source *source, struct ys_dataset *dataset) YS_MUST_CHECK;

#endif
