/* Which version of a framework made it slower, or wrong. docs/judging.md.
 *
 * Of versions in order, the first of which is good and the last bad, the middle one is measured in turn with both ends,
 * round by round, and counts to the end to which it lies nearer (of speeds: on which side of the geometric mean of the
 * two it lies); then the half between is looked at in the same way. Each question is asked after so many rounds as
 * YS_BISECT_ROUNDS says and no more often, each time by a signed-rank test whose level is 5 % divided by all looks at
 * all questions that there can be (halving takes so many, and two more, yet no version is asked for twice): what it
 * concludes as a whole is wrong in at most 5 of 100 cases, where the change lies at one version.
 *
 * A version is wrong where its proof fails, or every run of it; a run that fails among others that succeed says
 * nothing. Where the bad end is wrong each question takes YS_BISECT_RIGHTNESS_ROUNDS rounds, of which all runs of a
 * version have to fail, or none, while those of the good end succeed and those of the bad one fail. */
#ifndef YS_CAMPAIGN_BISECT_H
#define YS_CAMPAIGN_BISECT_H

#include "base/json/record.h"
#include "job/job.h"
#include "store/store.h"

#define YS_BISECT_SCHEMA "yardstick/bisect/1"
#define YS_BISECT_LEVEL  0.05 /* of all that is concluded together */
enum {
    YS_BISECT_LOOKS = 3,
    YS_BISECT_ROUNDS_MOST = 24,
    YS_BISECT_RUNS_MOST = 2 * YS_BISECT_ROUNDS_MOST, /* with those that were run again */
    YS_BISECT_TEAM = 3, /* measured in turn: the good end, the bad one, the version between */
    YS_BISECT_RIGHTNESS_ROUNDS = 3,
    YS_BISECT_MOST = 64 /* versions */
};
extern const int YS_BISECT_ROUNDS[YS_BISECT_LOOKS]; /* rounds after which it is looked: 10, 16, 24 */

enum ys_bisect_side { YS_BISECT_GOOD, YS_BISECT_BAD, YS_BISECT_SKIPPED, YS_BISECT_UNCLEAR };
extern const struct ys_names ys_bisect_sides; /* "good", "bad", "skipped", "unclear" */

struct ys_bisect_wish {
    const char *path; /* of a study of one trial; NULL: flags alone */
    const struct ys_job_flag *flags;
    size_t flag_count;
    const char *good, *bad; /* as jobs name frameworks: "pytorch@1.13.1" */
    const char *versions;   /* those between, in order, separated by commas: "1.13.1,2.0.1" or whole words; NULL: those
                               that there are recipes of */
    const char *metric;
    const char *const *recipe_dirs;
    const char *command;
    bool install; /* what is not installed is; else it is refused, with what that would take */
};

/** One question: the ends against each other, or a version against them. */
struct ys_bisect_step {
    char *version;
    int side; /* enum ys_bisect_side; of the ends bad where they differ, unclear where they do not */
    int64_t rounds;
    double p;               /* of the last look; NaN: not by numbers */
    double to_good, to_bad; /* centre of its ratio to either; of the ends bad / good, and NaN */
    char *reason;           /* why it is skipped, or what is wrong with it; NULL */
    struct ys_list studies; /* int64_t: where its runs are stored */
};

struct ys_bisected {
    char *schema, *good, *bad, *metric;
    struct ys_list versions; /* char *: in order, ends included */
    struct ys_list unpinned; /* char *: those of them whose packages are not pinned */
    struct ys_list steps;    /* struct ys_bisect_step */
    double level;            /* of each look */
    bool decided;
    char *last_good, *first_bad; /* NULL where nothing is decided; what is between them was skipped */
    char *sentence;
};
extern const struct ys_record ys_bisected_record, ys_bisect_step_record;

/** Measures into `store`, a study for each look. `bisected` is overwritten.
 *   YS_EINVAL  a version that is none, or not installed; more than one trial; a metric that is unknown or that an end
 * has no value of YS_EINTR   asked to stop */
ys_status ys_bisect(const struct ys_bisect_wish *wish, struct ys_store *store,
                    struct ys_bisected *bisected) YS_MUST_CHECK;

/** The most questions that a search among so many versions (two at least, ends included) can take, that of the ends
 * among them. */
int ys_bisect_questions(size_t versions);

/** Logarithms of the speeds of a question, by version of the team and round; NaN: none, or it cannot be told. `taken`:
 * what a value would be more were what the machine took from that run given back; infinite, by the sign of the side on
 * which it may have been faster: nobody knows how much it took. */
struct ys_bisect_speeds {
    double values[YS_BISECT_TEAM][YS_BISECT_RUNS_MOST], taken[YS_BISECT_TEAM][YS_BISECT_RUNS_MOST];
    int again; /* attempts at rounds that were run again, from YS_BISECT_ROUNDS_MOST on: they are put back alone */
};

/** What these rounds say by a signed-rank test at `level`, of `speeds` with what was taken given back to either side,
 * and of `settled`, which are the same were what is left of warm-up gone: only what all say counts, where `settled` has
 * a value wherever `speeds` has one (else it cannot be told, and `speeds` count alone). Rounds of which nobody knows
 * what was taken are left out, and all must say the same with them put back, each at the worse of its own value and the
 * farthest of those that were kept, and with attempts that were run again; with more than a third of them left out it
 * is unclear. Both set `p`, `to_good` (and ys_bisect_place() `to_bad`) of `step` by `speeds` as they are, and its
 * `side`.
 *
 * ys_bisect_tell_apart() asks of the two ends: bad where the bad one is faster, or slower, in all of them by more than
 * `margin` (a share), else unclear. ys_bisect_place() asks of the version between: good or bad, where it lies on that
 * side of the middle, else unclear. */
void ys_bisect_tell_apart(const struct ys_bisect_speeds *speeds, const struct ys_bisect_speeds *settled, int rounds,
                          double level, double margin, struct ys_bisect_step *step);
void ys_bisect_place(const struct ys_bisect_speeds *speeds, const struct ys_bisect_speeds *settled, int rounds,
                     double level, struct ys_bisect_step *step);

#endif
