/* Series: what a run produced, number after number, kept raw. */
#ifndef YS_STAT_SERIES_H
#define YS_STAT_SERIES_H

#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

struct ys_series {
    char name[40]; /* "block_end_ns": unit in the name */
    size_t count, capacity;
    int is_real; /* which of the two pointers is in use */
    int64_t *ints;
    double *reals; /* may hold NaN and infinities: a loss that diverged */
};

struct ys_series_set {
    struct ys_series *items;
    size_t count, capacity;
};

/** The series of that name, made (empty) when absent. Pointers are invalid after the next new name. */
struct ys_series *ys_series_get(struct ys_series_set *set, const char *name, int is_real);
/** NULL when absent. */
const struct ys_series *ys_series_find(const struct ys_series_set *set, const char *name);
/** The integers of a series, NULL: there is none; *rows becomes smaller where it has fewer. */
const int64_t *ys_series_column(const struct ys_series_set *set, const char *name, size_t *rows);
void ys_series_add_int(struct ys_series_set *set, const char *name, int64_t value);
void ys_series_add_real(struct ys_series_set *set, const char *name, double value);
/** `count` numbers of the kind said; of none no series is made. */
void ys_series_add_numbers(struct ys_series_set *set, const char *name, int is_real, const void *numbers, size_t count);
/** Its numbers from that one on, of its kind. */
const void *ys_series_numbers(const struct ys_series *series, size_t first);
/** Notes that row `row` of a table of series is of process `rank` among those of one run. Of rank 0 nothing is noted: a
 * column whose ranks are all 0 is absent, as it is from what was stored before there were ranks. */
void ys_series_add_rank(struct ys_series_set *set, const char *name, size_t row, int64_t rank);
/** The rank of a row: 0 where the column is absent (NULL) or ends before. */
int64_t ys_series_rank(const struct ys_series *ranks, size_t row);
/** Adds the rows of another process's tables (block_*, request_*, sample_*, exchange_*), as those of rank `rank`; other
 * series are left out. */
void ys_series_add_process(struct ys_series_set *set, const struct ys_series_set *more, int64_t rank);
/** The same set with the rows of these tables that are of `rank`, and without the columns of ranks. */
void ys_series_take_process(const struct ys_series_set *set, int64_t rank, struct ys_series_set *of_rank);
/** Of how many processes its blocks are: one more than the largest rank. */
int64_t ys_series_processes(const struct ys_series_set *set);
/** Makes room for `count` more numbers, so that adding them allocates nothing. */
void ys_series_reserve(struct ys_series_set *set, const char *name, int is_real, size_t count);
void ys_series_set_free(struct ys_series_set *set);

/** Compact bytes for the store. Integers: zigzag varints of the second differences (times grow evenly); reals: 8 bytes
 * little-endian. New bytes (ys_free) in *data. */
void ys_series_encode(const struct ys_series *series, unsigned char **data, size_t *size);
/** The inverse; damaged bytes are YS_EFORMAT. */
ys_status ys_series_decode(const char *name, int is_real, const unsigned char *data, size_t size, size_t count,
                           struct ys_series_set *set) YS_MUST_CHECK;

#endif
