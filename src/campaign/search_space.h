/* The grid that `tune --over` searches: keys of training with their values, as a job file writes them. */
#ifndef YS_CAMPAIGN_SEARCH_SPACE_H
#define YS_CAMPAIGN_SEARCH_SPACE_H

#include "base/buf.h"
#include "job/axis.h"

enum { YS_GRID_KEYS = 7, YS_GRID_POINTS = 100000 };

struct ys_grid_key {
    const char *name; /* of the option table */
    struct ys_axis axis;
};
struct ys_grid {
    struct ys_grid_key keys[YS_GRID_KEYS];
    size_t count, points;
};

/** "lr={log 1e-4..1e-1 x 13} momentum={0, 0.9}": braces as in a job file. `grid` is overwritten. YS_EINVAL: no key of
 * training, one twice, a value that it cannot have, a single point, more than YS_GRID_POINTS. */
ys_status ys_grid_read(const char *text, struct ys_grid *grid) YS_MUST_CHECK;
void ys_grid_fini(struct ys_grid *grid);

/** Which value of key `k` point `place` has. */
size_t ys_grid_value(const struct ys_grid *grid, size_t place, size_t k);
/** Appends lines KEY = VALUE of a point. */
void ys_grid_put_lines(const struct ys_grid *grid, size_t place, struct ys_buf *lines);
/** "lr=0.01 momentum=0.9", new. */
char *ys_grid_name(const struct ys_grid *grid, size_t place);

#endif
