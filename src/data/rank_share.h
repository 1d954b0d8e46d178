/* What each of several ranks counts for in the mean over a batch. They have as many rows, and each row as many targets;
 * but where targets are hidden, a mean over the others is of more of one rank's than of another's. */
#ifndef YS_DATA_RANK_SHARE_H
#define YS_DATA_RANK_SHARE_H

#include "base/status.h"
#include <stdint.h>

struct ys_shares;

/** Of batches of the rows of `data` (docs/data.md) as the file `order` has them (data/row_order.h), which `ranks`
 * divide. *shares is NULL where no target is hidden, so that all count the same. What is no such file, or does not fit
 * the other, has no shares either: who reads rows from it says so. YS_ENOMEM. */
ys_status ys_shares_open(const char *data, const char *order, int64_t ranks, struct ys_shares **shares) YS_MUST_CHECK;
void ys_shares_close(struct ys_shares *shares); /* NULL is fine */

/** The share that rank `rank` has of the targets of batch `step` that are not hidden: from 0 to 1, of all ranks
 * together 1; 0 where all are hidden. Of `shares` NULL, and of a step that there is not: 1 / ranks. */
double ys_share_of(const struct ys_shares *shares, int64_t ranks, int64_t step, int64_t rank);

#endif
