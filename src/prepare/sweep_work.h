/* What killed processes left in the cache. */
#ifndef YS_PREPARE_SWEEP_WORK_H
#define YS_PREPARE_SWEEP_WORK_H

#include "base/files/working_folder.h"

/** Removes it, wherever this user may: what was being made of data, works, proofs and checks, and versions of data that
 * are neither current nor held. What a living process is at stays, also that of another container. Environments are not
 * looked at. */
void ys_cache_sweep(const struct ys_sweep *sweep);

#endif
