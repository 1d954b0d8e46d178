/* Key `tune.rows`: training rows that are kept from training, to be evaluated in the place of the test rows, which stay
 * unseen while settings are chosen. */
#ifndef YS_PREPARE_TUNE_ROWS_H
#define YS_PREPARE_TUNE_ROWS_H

#include "data/dataset.h"
#include "job/settings.h"

/** YS_EINVAL: rows of that kind, or of that input, cannot be kept from training. `carries`: the network's state goes on
 * from row to row. */
ys_status ys_tune_rows_check(const struct ys_trial_settings *keys, const struct ys_dataset *data,
                             bool carries) YS_MUST_CHECK;

/** Writes the `kept` rows of the prepared file `train_path`, which has `n` and holds them by `seed` (ys_order_kept()),
 * in their order, as a file of the same form. YS_EFORMAT: it has another number of rows. */
ys_status ys_tune_rows_write(const char *train_path, uint64_t seed, int64_t n, int64_t kept,
                             const char *path) YS_MUST_CHECK;

#endif
