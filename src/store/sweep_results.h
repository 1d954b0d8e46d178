/* What runs leave in the results folder when they, or yardstick, end badly. Of this room alone. */
#ifndef YS_STORE_SWEEP_RESULTS_H
#define YS_STORE_SWEEP_RESULTS_H

#include "store/database.h"

/** Removes what was left in the folders of the studies that did not end, and in the results folder itself. `store` is
 * open for writing, so nobody works there. */
void ys_sweep_unended(struct ys_store *store);

#endif
