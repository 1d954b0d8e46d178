/* The settings among which one trial is tuned: knobs of its framework (framework/knobs.h) with the values that this
 * machine has, and what each set of them makes of the trial, as lines of a section of a job file. */
#ifndef YS_CAMPAIGN_KNOB_SPACE_H
#define YS_CAMPAIGN_KNOB_SPACE_H

#include "base/buf.h"
#include "framework/knobs.h"
#include "job/job.h"
#include "job/settings.h"

/** A value that cannot be had here. */
struct ys_space_lacking {
    char *name, *reason; /* "malloc=jemalloc", "libjemalloc.so.2 is not installed ..." */
};

/** Owned by ys_space_fini(). */
struct ys_space {
    struct ys_list knobs;   /* struct ys_knob, without those that say nothing here; at most YS_HALVING_KNOBS */
    struct ys_list lacking; /* struct ys_space_lacking */
    int64_t threads;        /* of the trial without a word */
};
extern const struct ys_record ys_space_lacking_record;

/** Of a trial with these settings. `wanted`: names of knobs, with commas between; NULL: all. `space` is overwritten.
 * Errors as of ys_knobs_of(). */
ys_status ys_space_open(const struct ys_trial_settings *settings, const char *wanted, const char *const *recipe_dirs,
                        struct ys_space *space) YS_MUST_CHECK;
void ys_space_fini(struct ys_space *space); /* a zeroed one is fine */

/** Appends lines KEY = VALUE of the set that has values[i] of knob i, 0 of none. False: two of them set one key. */
bool ys_space_put_lines(const struct ys_space *space, const uint8_t *values, struct ys_buf *lines);
/** "threads=2 wait=passive", new; "" of none. */
char *ys_space_name(const struct ys_space *space, const uint8_t *values);
/** The file that the set asks to be loaded first (LD_PRELOAD), borrowed; NULL: none. */
const char *ys_space_preload(const struct ys_space *space, const uint8_t *values);
/** Whether it has a value of that knob. */
bool ys_space_has(const struct ys_space *space, const uint8_t *values, const char *knob);

#endif
