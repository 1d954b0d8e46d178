/* The name that was probably meant. */
#ifndef YS_BASE_NEAREST_NAME_H
#define YS_BASE_NEAREST_NAME_H

#include <stddef.h>

/** Edits that turn `a` into `b`: letters inserted, deleted, replaced, or swapped with their neighbour (Damerau 1964, in
 * the restricted form that edits no letter twice). Names longer than 63 bytes are SIZE_MAX away from everything. */
size_t ys_edit_distance(const char *a, const char *b);

/** Of `candidates` (ended by NULL) the nearest to `name`, of equals one that is as long, else the first; NULL when even
 * that one is farther than a third of the longer name (1 edit for two letters, none for one), so that nothing absurd is
 * suggested. */
const char *ys_nearest(const char *name, const char *const *candidates);

#endif
