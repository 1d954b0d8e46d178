/* What is known of a study while it runs: the runs of this session, a line a trial, and how long it will still take. */
#ifndef YS_STUDY_LIVE_PROGRESS_H
#define YS_STUDY_LIVE_PROGRESS_H

#include "base/buf.h"
#include "base/json/json.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YS_LIVE_WIDTH 79 /* of a line; one less than 80, so that no terminal of 80 columns wraps it */

struct ys_live_trial {
    const char *id;        /* borrowed */
    int64_t planned, done; /* runs, those of earlier sessions included */
    int failed;            /* of those done */
    bool over;             /* it gets no more runs */
    double *rates;         /* owned: of the successful runs of this session */
    size_t count, capacity;
    double spent_s;   /* by the runs of this session, with all that belongs to them */
    int64_t spent_on; /* how many these are */
};

struct ys_live {
    struct ys_live_trial *trials; /* owned */
    size_t count;
    double pause_s; /* before each run */
    char *known;    /* owned: what is known of the comparisons so far; NULL */
};

void ys_live_init(struct ys_live *live, size_t trials);
void ys_live_fini(struct ys_live *live); /* a zeroed one is fine */

/** Takes the speed of a run out of its metrics, {name: {value}}; one without is no success. */
void ys_live_add(struct ys_live_trial *trial, const ys_json *metrics);

/** Seconds that the runs which are lacking will take: each as the mean of its trial's of this session, of a trial
 * without any as the mean of all, and the pauses; less what the run under way of `current` (NULL: none is) has taken,
 * `current_s`. That one will take `whole_s` (NAN: not known yet), which counts as a run of its trial. A run beyond
 * those planned, of a round that is repeated, is what is left of it. NaN while nothing tells. */
double ys_live_left_s(const struct ys_live *live, const struct ys_live_trial *current, double current_s,
                      double whole_s);

/** A line a trial: its name, how many of its runs are done, its median speed so far. Lines are at most YS_LIVE_WIDTH
 * columns wide; at most `most` of them (at least 3), the last of which then says how many trials it leaves out,
 * and below them what is known of the comparisons. */
void ys_live_print(const struct ys_live *live, size_t most, struct ys_buf *out);

#endif
