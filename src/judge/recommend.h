/* Which of a study's trials to take for a wish: what stands against what, how sure that is, and what would change it.
 *
 * A trial meets a bound where the whole interval of its median lies inside, misses it where that lies outside, and may
 * meet it otherwise; of a speed that is a range (docs/proof.md) both ends must. The choice is, of those that meet all
 * bounds, the one with the best median of what is wished; where none does, of those that may. The others that meet the
 * bounds are compared with it round by round, all together at 95 % (stat/family.h): those that are not worse beyond the
 * study's margin are not told apart from it. The front (Pareto's) is of all trials that are fit, whether they meet the
 * bounds or not: those of which no other has as good a median in every metric of the wish and a better one in one.
 * Nothing is weighed against anything else. */
#ifndef YS_JUDGE_RECOMMEND_H
#define YS_JUDGE_RECOMMEND_H

#include "judge/study_pair.h"
#include "judge/wish.h"

#define YS_RECOMMEND_SCHEMA "yardstick/recommend/1"

enum ys_standing { YS_STANDS_CHOSEN, YS_STANDS_MEETS, YS_STANDS_MAY, YS_STANDS_MISSES, YS_STANDS_UNFIT };
extern const struct ys_names ys_standings; /* "chosen", "meets", "may meet", "misses", "unfit" */

/** One metric of the wish, of one trial. */
struct ys_recommend_value {
    char *metric, *unit;
    double value; /* median; NaN: none */
    int64_t n;
    struct ys_list ci; /* double: both ends, or empty */
};

struct ys_recommend_trial {
    char *trial;
    int standing;          /* enum ys_standing */
    bool front;            /* no other is as good in everything and better in something */
    struct ys_list values; /* struct ys_recommend_value: what is wished first, then the bounds' */
    struct ys_list misses; /* char *: the bounds that it misses, or only may meet */
    char *reason;          /* why it is unfit: failed, not proven, drawn in software; NULL */
    bool better;           /* its median is better than that of the choice: it would be chosen without what it misses */
    /* Against the choice; only of those that meet the bounds as the choice does. */
    double ratio, difference;
    struct ys_list ci;         /* double: both ends, together with those of the others; or empty */
    struct ys_list settled_ci; /* likewise, were what is left of warm-up gone */
    int verdict;               /* enum ys_verdict; YS_NAME_NONE: not compared */
    char *doubt;               /* why it is unclear; NULL */
};

struct ys_recommended {
    char *schema, *wish;
    struct ys_judged_side study;
    char *metric; /* what is wished */
    bool highest;
    char *choice;          /* a trial; NULL: none meets the wish, nor may */
    bool sure;             /* it meets every bound with its whole interval */
    char *proof, *audit;   /* words on its work: "pass", "weak"; audit: NULL where there was none */
    int64_t rounds;        /* runs that its value is of; YS_FIELD_NONE without a choice */
    double margin;         /* what counts as the same */
    struct ys_list bounds; /* char *: as they were understood */
    struct ys_list trials; /* struct ys_recommend_trial: the choice, then by standing, the best first */
    struct ys_list alike;  /* char *: not told apart from the choice */
    struct ys_list lines;  /* char *: of a job file's section, that give the choice again */
    int64_t left_out;      /* trials of other keys than the wish has */
};
extern const struct ys_record ys_recommended_record, ys_recommend_trial_record, ys_recommend_value_record;

/** `recommended` is overwritten. YS_EINVAL: no trial of the study has the keys of the wish. */
ys_status ys_recommend(const struct ys_side *side, const struct ys_wish *wish,
                       struct ys_recommended *recommended) YS_MUST_CHECK;

/** What a trial was set to, borrowed: {key: value} of its settings, its options and its environment variables. NULL has
 * none. */
struct ys_recommend_of {
    const ys_json *keys, *options, *env;
    const char *framework, *version; /* its name, and the version that did the work; NULL or "": it has none */
    int64_t seed;                    /* of the study; YS_FIELD_NONE: not known */
};
/** The settings of a trial as lines of a job file's section: "threads = 2". What is as by default stands there too,
 * below the others, so that they give the same trial whatever the default is later; the framework is written with its
 * version. Keys that were left open (a null, as no limit) are left out, as are those of the study, but for a comment
 * with its seed. Added to a list of texts. */
ys_status ys_recommend_lines_of(const struct ys_recommend_of *of, struct ys_list *lines) YS_MUST_CHECK;
/** The same of a trial of `side`. */
ys_status ys_recommend_lines(const struct ys_side *side, const struct ys_result_trial *trial,
                             struct ys_list *lines) YS_MUST_CHECK;

#endif
