/* How the clock of another host relates to this one's. It is asked for the time some times, and of the answer that took
 * least the middle is compared: the error is at most half of what it took, whichever way was the slower one (Cristian,
 * 1989). Asked again after the run, the clocks are taken to drift evenly in between; answers during the run tell by how
 * much they did not at least. */
#ifndef YS_RUN_CLOCKS_H
#define YS_RUN_CLOCKS_H

#include "crew/run_spec.h"

struct ys_clock_look {
    bool is_known;
    uint64_t at_ns;    /* by our clock */
    int64_t offset_ns; /* theirs less ours */
    int64_t error_ns;  /* at most */
};

struct ys_clock_pair {
    bool is_one; /* it is the same clock: all offsets are 0 */
    struct ys_clock_look before, after;
    struct ys_clock_look *during; /* one answer each, in the order of time; owned */
    size_t count, capacity;
};
void ys_clock_free(struct ys_clock_pair *pair);

/** Takes an answer into account: it was asked at `asked_ns` and there at `answered_ns`, by our clock, and said that it
 * was `theirs_ns`. `look` begins as 0. */
void ys_clock_take(struct ys_clock_look *look, uint64_t asked_ns, int64_t theirs_ns, uint64_t answered_ns);

/** The same of a single answer during the run. */
void ys_clock_take_during(struct ys_clock_pair *pair, uint64_t asked_ns, int64_t theirs_ns, uint64_t answered_ns);

/** A time of theirs by our clock. Where there is no second look, the offset is that of the first. */
int64_t ys_clock_ours(const struct ys_clock_pair *pair, int64_t theirs_ns);
/** By how much theirs gains on ours, as a part of the time that passes; NaN: unknown. */
double ys_clock_drift(const struct ys_clock_pair *pair);
/** The larger error of the looks before and after, and by how much those in between contradict at most what these make
 * of them, each with its own error granted; 0 of one clock. */
int64_t ys_clock_error_ns(const struct ys_clock_pair *pair);

/** Makes all times in what is known of a rank those of our clock. */
void ys_clock_record(const struct ys_clock_pair *pair, struct ys_run_record *record);

#endif
