/* When ranks computed: what tools/timetable.py takes from a measured run, and yardstick-null sleeps in its place. */
#ifndef YS_BUILTIN_TIMETABLE_H
#define YS_BUILTIN_TIMETABLE_H

#include "base/json/record.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#define YS_TIMETABLE_FORMAT "yardstick/timetable/1"

/** Of one rank that was measured; both lists are of int64_t, ns at least 0, and of one step each. */
struct ys_timetable_rank {
    struct ys_list before_ns; /* until the step's own gradients were there */
    struct ys_list after_ns;  /* from when they were those of all to the end of the step */
};

struct ys_timetable {
    char *format;
    char *of;             /* what was measured, for people */
    int64_t numbers;      /* floats that ranks exchange in each step */
    struct ys_list ranks; /* of struct ys_timetable_rank, all with as many steps */
};

/** `table` is overwritten; on failure it owns nothing. YS_EFORMAT: it is no such file, the message names it and what is
 * wrong; else as for ys_json_read(). */
ys_status ys_timetable_read(const char *path, struct ys_timetable *table) YS_MUST_CHECK;
void ys_timetable_fini(struct ys_timetable *table);

struct ys_timetable_step {
    int64_t before_ns, after_ns;
};
/** Step `step` of rank `rank` of `world`. More steps than were measured begin again with the first. More ranks than
 * were measured take turns with their tables, each from another step on, evenly apart: they have the same speeds, and
 * are not slow at the same time. */
struct ys_timetable_step ys_timetable_at(const struct ys_timetable *table, int64_t rank, int64_t world, int64_t step);

#endif
