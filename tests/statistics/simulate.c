/* What the statistics of src/stat do in thousands of made-up studies whose truth is known. Prints the tables of
 * docs/statistics.md; each table also asserts what is claimed of it. YS_STATISTICS_STUDIES says how many studies a cell
 * has (default 200: quick, with wider limits). Seeds are fixed. */
#include "base/rng.h"
#include "stat/compare.h"
#include "stat/family.h"
#include "stat/signed_rank.h"
#include "stat/steady.h"
#include "tap.h"

#include <stdlib.h>

enum { SEED = 20261122, MAX_ROUNDS = 30, MAX_TRIALS = 16, MAX_BLOCKS = 200 };

static int studies(void)
{
    const char *text = getenv("YS_STATISTICS_STUDIES");
    int count = text ? atoi(text) : 0;
    return count > 0 ? count : 200;
}

static struct ys_rng stream(const char *name)
{
    struct ys_rng rng;
    ys_rng_init(&rng, SEED, name);
    return rng;
}

/* Three standard errors of a share of `n`, in per cent. */
static double slack(double percent, int n)
{
    return 3 * sqrt(percent * (100 - percent) / n);
}

enum family { NORMAL, LOGNORMAL, BIMODAL, SPIKES, DRIFT, SHARED, OWN_5, OWN_8, OWN_95, FAMILIES };
static const char *const family_names[FAMILIES] = {"normal",
                                                   "log-normal",
                                                   "two modes",
                                                   "spikes",
                                                   "drift shared by the rounds",
                                                   "correlation 0.8 shared by the rounds",
                                                   "each trial's own, 0.5",
                                                   "each trial's own, 0.8",
                                                   "each trial's own, 0.95"};

/* The logarithms of one trial's runs, scattered by `sd`; `shared` is what the rounds share. */
static void draw(struct ys_rng *rng, enum family family, double sd, int n, const double *shared, double *values)
{
    double keep = family == OWN_5 ? 0.5 : family == OWN_8 ? 0.8 : family == OWN_95 ? 0.95 : 0;
    double state = ys_rng_normal(rng);
    for (int i = 0; i < n; i++) {
        double z = ys_rng_normal(rng);
        state = keep * state + sqrt(1 - keep * keep) * z;
        if (family == LOGNORMAL)
            z = exp(z);
        else if (family == BIMODAL)
            z = 0.2 * z + (ys_rng_below(rng, 2) ? 3 : 0);
        else if (family == SPIKES)
            z = ys_rng_below(rng, 10) ? z : 10 * fabs(z);
        else if (keep > 0)
            z = state;
        values[i] = sd * z + shared[i];
    }
}

static void draw_shared(struct ys_rng *rng, enum family family, double sd, int n, double *shared)
{
    double state = ys_rng_normal(rng);
    for (int i = 0; i < n; i++) {
        state = 0.8 * state + 0.6 * ys_rng_normal(rng);
        shared[i] = family == DRIFT ? 10 * sd * i / n : family == SHARED ? 5 * sd * state : 0;
    }
}

/* A study of two trials, a the faster one by `effect`. */
struct study {
    double a[MAX_ROUNDS], b[MAX_ROUNDS];
};

static void make_study(struct ys_rng *rng, enum family family, double sd, int n, double effect, struct study *study)
{
    double shared[MAX_ROUNDS];
    draw_shared(rng, family, sd, n, shared);
    draw(rng, family, sd, n, shared, study->a);
    draw(rng, family, sd, n, shared, study->b);
    for (int i = 0; i < n; i++) {
        study->a[i] = effect * exp(study->a[i]);
        study->b[i] = exp(study->b[i]);
    }
}

/* The method before: the rank interval of the median of the ratios. */
static struct ys_interval rank_interval(const struct study *study, int n)
{
    double ratios[MAX_ROUNDS];
    struct ys_summary summary = {0};
    for (int i = 0; i < n; i++)
        ratios[i] = study->a[i] / study->b[i];
    CHECK(ys_stat_summarize(ratios, (size_t)n, &summary) == YS_OK);
    return summary.interval;
}

static struct ys_comparison compare(const struct study *study, int n, double margin)
{
    struct ys_comparison found = {0};
    CHECK(ys_compare_ratio(study->a, study->b, (size_t)n, YS_BETTER_HIGHER, margin, &found) == YS_OK);
    return found;
}

static bool covers(const struct ys_interval *interval, double truth)
{
    return interval->lo <= truth && truth <= interval->hi;
}

static void intervals_cover_what_they_claim(void)
{
    static const int rounds[] = {6, 7, 8, 10, 15, 30};
    struct ys_rng rng = stream("coverage");
    int count = studies();
    printf("# | coverage, %% (rank interval / signed ranks) | 6 runs | 7 | 8 | 10 | 15 | 30 |\n");
    printf("# | --- | --- | --- | --- | --- | --- | --- |\n");
    for (enum family family = NORMAL; family <= SHARED; family++) {
        printf("# | %s |", family_names[family]);
        for (int k = 0; k < 6; k++) {
            int rank = 0, signed_rank = 0;
            for (int s = 0; s < count; s++) {
                struct study study;
                make_study(&rng, family, 0.03, rounds[k], 1, &study);
                struct ys_interval old = rank_interval(&study, rounds[k]);
                rank += covers(&old, 1);
                struct ys_comparison found = compare(&study, rounds[k], 0);
                signed_rank += covers(&found.interval, 1);
            }
            double share = 100.0 * signed_rank / count;
            printf(" %.1f / %.1f |", 100.0 * rank / count, share);
            CHECK(share >= 95 - slack(95, count));
        }
        printf("\n");
    }
}

static void correlation_between_rounds_is_said(void)
{
    static const int rounds[] = {7, 12, 20, 30};
    struct ys_rng rng = stream("correlation");
    int count = studies();
    printf("# | coverage, %% (said to be correlated, %%) | 7 runs | 12 | 20 | 30 |\n");
    printf("# | --- | --- | --- | --- | --- |\n");
    for (enum family family = OWN_5; family < FAMILIES + 1; family++) {
        enum family drawn = family == FAMILIES ? NORMAL : family;
        printf("# | %s |", drawn == NORMAL ? "none" : family_names[drawn]);
        for (int k = 0; k < 4; k++) {
            int covered = 0, said = 0;
            for (int s = 0; s < count; s++) {
                struct study study;
                make_study(&rng, drawn, 0.03, rounds[k], 1, &study);
                struct ys_comparison found = compare(&study, rounds[k], 0);
                covered += covers(&found.interval, 1);
                said += found.correlated;
            }
            double share = 100.0 * said / count;
            if (rounds[k] < YS_COMPARE_ROUNDS_MIN)
                printf(" %.1f (cannot be told) |", 100.0 * covered / count);
            else
                printf(" %.1f (%.1f) |", 100.0 * covered / count, share);
            CHECK(drawn != NORMAL || share <= 1 + slack(1.5, count));
            CHECK(drawn != OWN_8 || rounds[k] < 30 || share > 75);
        }
        printf("\n");
    }
}

static void power_grows_with_every_run(void)
{
    static const int rounds[] = {6, 7, 8, 9, 10, 12, 15, 30};
    struct ys_rng rng = stream("power");
    int count = studies();
    double before = 0, level;
    printf("# | runs | rank interval, found %% | signed ranks, found %% | level, %% |\n# | --- | --- | --- | --- |\n");
    for (int k = 0; k < 8; k++) {
        int old = 0, found = 0, n = rounds[k];
        for (int s = 0; s < count; s++) {
            struct study study;
            make_study(&rng, NORMAL, 0.01 * sqrt(2), n, 1.015, &study);
            old += rank_interval(&study, n).lo > 1;
            found += compare(&study, n, 0).verdict == YS_VERDICT_BETTER;
        }
        double share = 100.0 * found / count;
        (void)ys_signed_rank((size_t)n, &level);
        printf("# | %d | %.0f | %.0f | %.1f |\n", n, 100.0 * old / count, share, 100 * level);
        CHECK(found >= old);
        CHECK(share >= before - slack(50, count));
        before = share;
    }
}

static void what_could_have_been_shown_is_found_nine_times_of_ten(void)
{
    static const int rounds[] = {6, 7, 8, 10, 15, 30};
    struct ys_rng rng = stream("resolution");
    int count = studies();
    printf("# | runs | resolution, median %% | found, %% |\n# | --- | --- | --- |\n");
    for (int k = 0; k < 6; k++) {
        int found = 0, n = rounds[k];
        double *sizes = calloc((size_t)count, sizeof *sizes);
        REQUIRE(sizes);
        for (int s = 0; s < count; s++) {
            struct study first, second;
            make_study(&rng, NORMAL, 0.03, n, 1, &first);
            sizes[s] = compare(&first, n, 0.02).resolution;
            make_study(&rng, NORMAL, 0.03, n, 1 + sizes[s], &second);
            found += compare(&second, n, 0.02).verdict == YS_VERDICT_BETTER;
        }
        ys_stat_sort(sizes, (size_t)count);
        printf("# | %d | %.1f | %.1f |\n", n, 100 * ys_stat_quantile(sizes, (size_t)count, 0.5), 100.0 * found / count);
        CHECK(100.0 * found / count >= 90 - slack(90, count));
        free(sizes);
    }
}

/* A study of `trials` equal trials, the last one `effect` times as fast: whether a pair of equal ones has a verdict,
 * and whether that last one was found against the first. */
struct family_result {
    bool old_false, is_false, old_found, is_found;
};

static struct family_result judge_family(struct ys_rng *rng, int trials, int n, double sd, double effect, bool all)
{
    static double values[MAX_TRIALS * MAX_ROUNDS];
    struct ys_family_pair pairs[MAX_TRIALS * (MAX_TRIALS - 1) / 2];
    size_t count = 0;
    double zeros[MAX_ROUNDS] = {0}, stretch = NAN;
    struct family_result result = {0};
    for (int t = 0; t < trials; t++) {
        draw(rng, NORMAL, sd, n, zeros, &values[t * n]);
        for (int b = 0; b < (all ? t : t > 0); b++)
            pairs[count++] = (struct ys_family_pair){(size_t)t, (size_t)b};
        for (int r = 0; t == trials - 1 && r < n; r++)
            values[t * n + r] += log(effect);
    }
    const struct ys_family family = {(size_t)trials, (size_t)n, values, pairs, count};
    CHECK(ys_family_stretch(&family, &stretch) == YS_OK);
    for (size_t p = 0; p < count; p++) {
        struct study study;
        for (int r = 0; r < n; r++) {
            study.a[r] = exp(values[(int)pairs[p].a * n + r]);
            study.b[r] = exp(values[(int)pairs[p].b * n + r]);
        }
        const struct ys_compare_rule rule = {.better = YS_BETTER_HIGHER, .margin = 0.02, .stretch = stretch};
        struct ys_comparison found = {0};
        CHECK(ys_compare(study.a, study.b, (size_t)n, &rule, &found) == YS_OK);
        struct ys_interval old = rank_interval(&study, n);
        bool old_says = old.lo > 1.02 || old.hi < 1 / 1.02;
        bool says = found.verdict == YS_VERDICT_BETTER || found.verdict == YS_VERDICT_WORSE;
        bool differs = effect != 1 && (int)pairs[p].a == trials - 1;
        result.old_false |= !differs && old_says;
        result.is_false |= !differs && says;
        result.old_found |= differs && pairs[p].b == 0 && old.lo > 1.02;
        result.is_found |= differs && pairs[p].b == 0 && found.verdict == YS_VERDICT_BETTER;
    }
    return result;
}

static void equal_trials_have_a_false_verdict_in_five_studies_of_a_hundred(void)
{
    static const int trials[] = {2, 4, 16};
    struct ys_rng rng = stream("family");
    printf("# | trials, pairs | runs | false verdict before, %% | now, %% | 10 %% found before, %% | now, %% |\n");
    printf("# | --- | --- | --- | --- | --- | --- |\n");
    for (int k = 0; k < 3; k++) {
        for (int all = 0; all < 2; all++) {
            int count = trials[k] == 16 ? studies() / (all ? 8 : 2) : studies();
            for (int n = 6; n <= 10; n++) {
                int old_false = 0, is_false = 0, old_found = 0, is_found = 0;
                if (all && trials[k] == 2)
                    continue;
                for (int s = 0; s < count; s++) {
                    struct family_result equal = judge_family(&rng, trials[k], n, 0.05, 1, all);
                    struct family_result faster = judge_family(&rng, trials[k], n, 0.02, 1.1, all);
                    old_false += equal.old_false;
                    is_false += equal.is_false;
                    old_found += faster.old_found;
                    is_found += faster.is_found;
                }
                printf("# | %d, %s | %d | %.1f | %.1f | %.0f | %.0f |\n", trials[k],
                       trials[k] == 2 ? "one"
                       : all          ? "all"
                                      : "with the first",
                       n, 100.0 * old_false / count, 100.0 * is_false / count, 100.0 * old_found / count,
                       100.0 * is_found / count);
                CHECK(100.0 * is_false / count <= 5 + slack(5, count));
            }
        }
    }
}

enum warm_up { NONE, CORRELATED, FADES, FADES_SLOWLY, LONG, MIDDLE, LATER, WARM_UPS };
static const char *const warm_up_names[WARM_UPS] = {"none",
                                                    "none, blocks correlated 0.8",
                                                    "+10 %, time constant a fifth of the run",
                                                    "+10 %, time constant half the run",
                                                    "first 70 % slower by a fifth",
                                                    "slower by half from a quarter to three quarters",
                                                    "slower by a tenth from half way on"};

/* Seconds a step of one run, whose plateau is 1, block noise of 2 %. */
static void draw_blocks(struct ys_rng *rng, enum warm_up warm_up, int n, double *x)
{
    double state = ys_rng_normal(rng);
    for (int i = 0; i < n; i++) {
        double z = ys_rng_normal(rng), at = (double)i / n, slow = 1;
        state = 0.8 * state + 0.6 * z;
        if (warm_up == FADES || warm_up == FADES_SLOWLY)
            slow = 1 + 0.1 * exp(-at / (warm_up == FADES ? 0.2 : 0.5));
        else if (warm_up == LONG)
            slow = at < 0.7 ? 1.2 : 1;
        else if (warm_up == MIDDLE)
            slow = at >= 0.25 && at < 0.75 ? 1.5 : 1;
        else if (warm_up == LATER)
            slow = at >= 0.5 ? 1 / 0.9 : 1;
        x[i] = slow * exp(0.02 * (warm_up == CORRELATED ? state : z));
    }
}

/* One run: speed of the part that is used, and what is left in it. */
static double run_speed(struct ys_rng *rng, enum warm_up warm_up, int n, struct ys_steady *steady)
{
    double x[MAX_BLOCKS], sum = 0;
    draw_blocks(rng, warm_up, n, x);
    CHECK(ys_steady_find(x, (size_t)n, steady) == YS_OK);
    for (int i = (int)steady->from; i < n; i++)
        sum += x[i];
    return (double)(n - (int)steady->from) / sum;
}

/* Seven rounds of two trials of one plateau, `warm_up` in one of them alone. */
static struct ys_comparison compare_warm(struct ys_rng *rng, enum warm_up warm_up, int n, bool with_bias, int *found,
                                         double *bias)
{
    enum { ROUNDS = 7 };
    double a[ROUNDS], b[ROUNDS], left[ROUNDS];
    struct ys_comparison comparison = {0};
    for (int r = 0; r < ROUNDS; r++) {
        struct ys_steady of_a, of_b;
        double noise = exp(0.005 * ys_rng_normal(rng));
        a[r] = run_speed(rng, warm_up, n, &of_a);
        b[r] = run_speed(rng, NONE, n, &of_b);
        *found += of_a.answer == YS_STEADY_FOUND;
        *bias += a[r] - 1;
        a[r] *= noise;
        left[r] = of_a.left - of_b.left;
    }
    const struct ys_compare_rule rule = {
        .better = YS_BETTER_HIGHER, .margin = 0.02, .stretch = 1, .bias = with_bias ? left : NULL};
    CHECK(ys_compare(a, b, ROUNDS, &rule, &comparison) == YS_OK);
    return comparison;
}

static void warm_up_makes_no_false_verdict(void)
{
    static const int blocks[] = {30, 60, 200};
    struct ys_rng rng = stream("steady");
    int count = studies() / 4;
    printf("# | warm-up of one of two equal trials | blocks | runs called steady, %% | bias of the speed, %% | false "
           "verdict without the bound, %% | with it, %% |\n# | --- | --- | --- | --- | --- | --- |\n");
    for (enum warm_up warm_up = NONE; warm_up < WARM_UPS; warm_up++) {
        for (int k = 0; k < 3; k++) {
            int found = 0, without = 0, with = 0;
            double bias = 0;
            for (int s = 0; s < count; s++) {
                struct ys_rng again = rng;
                int found_again = 0;
                double bias_again = 0;
                enum ys_verdict plain =
                    compare_warm(&again, warm_up, blocks[k], false, &found_again, &bias_again).verdict;
                enum ys_verdict bound = compare_warm(&rng, warm_up, blocks[k], true, &found, &bias).verdict;
                without += plain == YS_VERDICT_BETTER || plain == YS_VERDICT_WORSE;
                with += bound == YS_VERDICT_BETTER || bound == YS_VERDICT_WORSE;
            }
            double share = 100.0 * with / count;
            printf("# | %s | %d | %.0f | %.1f | %.0f | %.0f |\n", warm_up_names[warm_up], blocks[k],
                   100.0 * found / (7.0 * count), 100.0 * bias / (7.0 * count), 100.0 * without / count, share);
            /* A slowdown that stays is no warm-up, and a verdict on it no false one. */
            CHECK(warm_up == LATER || share <= 5 + slack(5, count));
        }
    }
}

TAP_MAIN(TAP_CASE(intervals_cover_what_they_claim), TAP_CASE(correlation_between_rounds_is_said),
         TAP_CASE(power_grows_with_every_run), TAP_CASE(what_could_have_been_shown_is_found_nine_times_of_ten),
         TAP_CASE(equal_trials_have_a_false_verdict_in_five_studies_of_a_hundred),
         TAP_CASE(warm_up_makes_no_false_verdict))
