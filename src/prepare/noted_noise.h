/* How much a trial differs from itself on this machine, as it was measured and kept, and so what a study here could
 * show. */
#ifndef YS_PREPARE_NOTED_NOISE_H
#define YS_PREPARE_NOTED_NOISE_H

#include "base/json/json.h"
#include "base/json/record.h"
#include "base/status.h"
#include <stdbool.h>

/* A study of so many runs finds a difference as large nine times of ten, beyond a margin of 0; 0.05 is a ratio of 1.05.
 */
struct ys_noise_step {
    int64_t runs; /* none: even YS_POWER_MOST_ROUNDS are too few */
    double difference;
};

struct ys_noise {
    char *date, *host, *trial;
    char *interleave; /* how the pairs shared the machine: "runs", "blocks" */
    double seconds;
    int64_t pairs, disturbed; /* rounds with a speed of both; runs that were disturbed, of both */
    double ratio;             /* of the two, centre; 1 but for chance */
    struct ys_list ci;        /* double: its interval at 95 %; empty with fewer than 6 pairs */
    struct ys_list ratios;    /* double, one a pair */
    struct ys_list biases;    /* double: of each what is left of both warm-ups; empty where that cannot be told */
    struct ys_list tells_apart, needed; /* struct ys_noise_step: for some numbers of runs, for some differences */
    char *reason;                       /* why the last three are empty; NULL */
};
extern const struct ys_record ys_noise_record;

/** Fills `tells_apart` and `needed` from the ratios. */
void ys_noise_foresee(struct ys_noise *noise);
/** Keeps it beside what was found in the other manner (prepare/machine_notes.h). */
ys_status ys_noise_keep(const struct ys_noise *noise, bool by_turns) YS_MUST_CHECK;

/** "with 7 runs this study can tell 4 % apart (...)", by what was kept of the manner of it and is fresh
 * (prepare/machine_notes.h), of two trials of a study with these study keys
 * (`study` of struct ys_job): new; NULL where nothing fresh was kept or the runs are too few. */
char *ys_noise_say(const ys_json *study);

/** How many rounds of runs two trials need that differ by `difference` (as of struct ys_noise_step), beyond the margin
 * `margin`, by what was kept and is fresh; 0: nothing was, or even YS_POWER_MOST_ROUNDS are too few. */
size_t ys_noise_rounds(double difference, double margin);

#endif
