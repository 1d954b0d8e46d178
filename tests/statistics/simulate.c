/* What the statistics of src/stat do in thousands of made-up studies whose truth is known. Prints the tables of
 * docs/statistics.md; each table also asserts what is claimed of it (cells.h). */
#include "base/rng.h"
#include "metric/run/run_windows.h"
#include "stat/compare.h"
#include "stat/family.h"
#include "stat/power.h"
#include "stat/signed_rank.h"
#include "stat/steady.h"
#include "stat/unpaired.h"
#include "statistics/cells.h"
#include "tap.h"

#include <stdlib.h>

enum { MAX_ROUNDS = YS_POWER_MOST_ROUNDS, MAX_TRIALS = 16, MAX_BLOCKS = 200 };

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
    for (int i = 0; i < n; i++)
        ratios[i] = study->a[i] / study->b[i];
    return ys_stat_summarize(ratios, (size_t)n).interval;
}

static struct ys_comparison compare(const struct study *study, int n, double margin)
{
    struct ys_comparison found = {0};
    ys_compare_ratio(study->a, study->b, (size_t)n, YS_BETTER_HIGHER, margin, &found);
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
            make_study(&rng, NORMAL, 0.01, n, 1.03, &study);
            old += rank_interval(&study, n).lo > 1.02;
            found += compare(&study, n, 0.02).verdict == YS_VERDICT_BETTER;
        }
        (void)ys_signed_rank((size_t)n, YS_STAT_LEVEL, &level);
        printf("# | %d |", n);
        (void)print_share(old, count);
        double share = print_share(found, count);
        printf(" %.1f |\n", 100 * level);
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
        printf("# | %d | %.1f |", n, 100 * ys_stat_quantile(sizes, (size_t)count, 0.5));
        CHECK(print_share(found, count) >= 90 - slack(90, count));
        printf("\n");
        free(sizes);
    }
}

/* As `doctor --noise` and then `run` go: pairs of a trial with itself say how many rounds 3 % needs at margin 0, and a
 * study of so many rounds meets a true 3 %. */
static void three_per_cent_are_found_with_the_runs_that_are_asked_for(void)
{
    static const enum family families[] = {NORMAL, BIMODAL, SPIKES};
    static const int pairs[] = {12, 40};
    static const double scatter[] = {0.02, 0.01, 0.007};
    struct ys_rng rng = stream("asked");
    int count = studies() / 4;
    printf("# | scatter of each trial | runs asked for after 12 pairs, median | found, %% | after 40 | found, %% |\n"
           "# | --- | --- | --- | --- | --- |\n");
    for (int f = 0; f < 3; f++) {
        printf("# | %s, %.1f %% |", family_names[families[f]], 100 * scatter[f]);
        for (int k = 0; k < 2; k++) {
            double *asked = calloc((size_t)count, sizeof *asked), ratios[MAX_ROUNDS];
            int found = 0;
            REQUIRE(asked);
            for (int s = 0; s < count; s++) {
                struct study study;
                size_t n;
                make_study(&rng, families[f], scatter[f], pairs[k], 1, &study);
                for (int i = 0; i < pairs[k]; i++)
                    ratios[i] = study.a[i] / study.b[i];
                n = ys_power_rounds(&(struct ys_power_seen){ratios, NULL, (size_t)pairs[k]}, 0, 0.03);
                asked[s] = n ? (double)n : MAX_ROUNDS;
                make_study(&rng, families[f], scatter[f], (int)asked[s], 1.03, &study);
                found += compare(&study, (int)asked[s], 0).verdict == YS_VERDICT_BETTER;
            }
            ys_stat_sort(asked, (size_t)count);
            printf(" %.0f |", ys_stat_quantile(asked, (size_t)count, 0.5));
            CHECK(print_share(found, count) >= 90 - slack(90, count));
            free(asked);
        }
        printf("\n");
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
    double zeros[MAX_ROUNDS] = {0};
    struct family_result result = {0};
    for (int t = 0; t < trials; t++) {
        draw(rng, NORMAL, sd, n, zeros, &values[t * n]);
        for (int b = 0; b < (all ? t : t > 0); b++)
            pairs[count++] = (struct ys_family_pair){(size_t)t, (size_t)b};
        for (int r = 0; t == trials - 1 && r < n; r++)
            values[t * n + r] += log(effect);
    }
    const struct ys_family family = {(size_t)trials, (size_t)n, values, pairs, count, YS_STAT_LEVEL};
    const double stretch = ys_family_stretch(&family);
    for (size_t p = 0; p < count; p++) {
        struct study study;
        for (int r = 0; r < n; r++) {
            study.a[r] = exp(values[(int)pairs[p].a * n + r]);
            study.b[r] = exp(values[(int)pairs[p].b * n + r]);
        }
        const struct ys_compare_rule rule = {.better = YS_BETTER_HIGHER, .margin = 0.02, .stretch = stretch};
        struct ys_comparison found = {0};
        ys_compare(study.a, study.b, (size_t)n, &rule, &found);
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
    printf(
        "# | trials, pairs | runs | false verdict each alone, %% | as a family, %% | 10 %% found each alone, %% | as a "
        "family, %% |\n");
    printf("# | --- | --- | --- | --- | --- | --- |\n");
    for (int k = 0; k < 3; k++) {
        for (int all = 0; all < 2; all++) {
            int count = trials[k] == 16 ? studies() / 2 : studies();
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
                printf("# | %d, %s | %d |", trials[k], trials[k] == 2 ? "one" : all ? "all" : "with the first", n);
                (void)print_share(old_false, count);
                CHECK(print_share(is_false, count) <= 5 + slack(5, count));
                printf(" %.0f | %.0f |\n", 100.0 * old_found / count, 100.0 * is_found / count);
            }
        }
    }
}

/* Sixteen equal trials at margin 0, whose scatter is `first` times that of most others for the first, and up to
 * `others` times as large for the others. Rounds share five times the scatter. */
static void draw_sixteen(struct ys_rng *rng, int n, double first, int others, double *values)
{
    double shared[MAX_ROUNDS];
    for (int r = 0; r < n; r++)
        shared[r] = 0.05 * ys_rng_normal(rng);
    for (int t = 0; t < MAX_TRIALS; t++)
        draw(rng, NORMAL, 0.01 * (t ? 1 + t % others : first), n, shared, &values[t * n]);
}

/* Which pairs of them are compared; of each but one the intervals hold together. */
enum compared { WITH_FIRST, ALL, WITH_BEST, WITH_BEST_AS_WITH_FIRST, COMPARED };
static const char *const compared_names[] = {"with the first", "all", "the best with each",
                                             "the best with each, as if it were the first"};

static int best_of(const double *values, int n)
{
    double most = -INFINITY, sorted[MAX_ROUNDS];
    int best = 0;
    for (int t = 0; t < MAX_TRIALS; t++) {
        memcpy(sorted, &values[t * n], (size_t)n * sizeof *sorted);
        ys_stat_sort(sorted, (size_t)n);
        double median = ys_stat_quantile(sorted, (size_t)n, 0.5);
        best = median > most ? t : best;
        most = fmax(most, median);
    }
    return best;
}

/* Pairs of each with each, or of each with one. */
static size_t pairs_of(int one, struct ys_family_pair *pairs)
{
    size_t count = 0;
    for (int t = 0; one >= 0 && t < MAX_TRIALS; t++)
        if (t != one)
            pairs[count++] = (struct ys_family_pair){(size_t)t, (size_t)one};
    return one >= 0 ? count : ys_family_each_with_each(MAX_TRIALS, pairs);
}

/* Whether a pair of them has a verdict. */
static bool has_false_verdict(const double *values, int n, enum compared compared)
{
    struct ys_family_pair pairs[MAX_TRIALS * (MAX_TRIALS - 1) / 2];
    const int best = best_of(values, n);
    size_t count = pairs_of(compared == WITH_FIRST ? 0 : compared == WITH_BEST_AS_WITH_FIRST ? best : -1, pairs);
    bool is_false = false;
    const struct ys_family family = {MAX_TRIALS, (size_t)n, values, pairs, count, YS_STAT_LEVEL};
    const double stretch = ys_family_stretch(&family);
    if (compared == WITH_BEST)
        count = pairs_of(best, pairs);
    for (size_t p = 0; p < count && !is_false; p++) {
        struct study study;
        struct ys_comparison found = {0};
        for (int r = 0; r < n; r++) {
            study.a[r] = exp(values[(int)pairs[p].a * n + r]);
            study.b[r] = exp(values[(int)pairs[p].b * n + r]);
        }
        const struct ys_compare_rule rule = {.better = YS_BETTER_HIGHER, .margin = 0, .stretch = stretch};
        ys_compare(study.a, study.b, (size_t)n, &rule, &found);
        is_false = found.verdict == YS_VERDICT_BETTER || found.verdict == YS_VERDICT_WORSE;
    }
    return is_false;
}

static void no_margin_is_needed_for_it(void)
{
    static const struct {
        const char *name;
        double first;
        int others;
    } cases[] = {{"all alike", 1, 1},
                 {"the others' up to four times the first's", 1, 4},
                 {"the first's a fifth of the others'", 0.2, 1},
                 {"the first's five times the others'", 5, 1}};
    static const int rounds[] = {6, 8};
    struct ys_rng rng = stream("margin 0");
    int count = studies() / 2;
    printf("# | scatter of 16 trials, pairs | 6 runs | 8 |\n# | --- | --- | --- |\n");
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        int is_false[COMPARED][2] = {{0}};
        for (int i = 0; i < 2; i++) {
            for (int s = 0; s < count; s++) {
                static double values[MAX_TRIALS * MAX_ROUNDS];
                draw_sixteen(&rng, rounds[i], cases[k].first, cases[k].others, values);
                for (int compared = 0; compared < COMPARED; compared++)
                    is_false[compared][i] += has_false_verdict(values, rounds[i], (enum compared)compared);
            }
        }
        for (int compared = 0; compared < COMPARED; compared++) {
            printf("# | %s, %s |", cases[k].name, compared_names[compared]);
            for (int i = 0; i < 2; i++) {
                const double share = print_share(is_false[compared][i], count);
                CHECK(compared == WITH_BEST_AS_WITH_FIRST || share <= 5 + slack(5, count));
            }
            printf("\n");
        }
    }
}

enum warm_up { NONE, CORRELATED, FADES, FADES_SLOWLY, QUARTER, LONG, MIDDLE, LATER, SAW, SAW_QUARTER, WARM_UPS };
static const char *const warm_up_names[WARM_UPS] = {
    "none",
    "none, blocks correlated 0.8",
    "+10 %, time constant a fifth of the run",
    "+10 %, time constant half the run",
    "first quarter slower by a third",
    "first 70 % slower by a fifth",
    "slower by half from a quarter to three quarters",
    "slower by a tenth from half way on",
    "every second block longer by two thirds, all shorter by a quarter in the end",
    "the same, and the first quarter twice as long"};

/* Seconds a step of one run, whose plateau is 1; blocks scatter by `noise`. */
static void draw_blocks(struct ys_rng *rng, enum warm_up warm_up, double noise, int n, double *x)
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
        else if (warm_up == SAW || warm_up == SAW_QUARTER)
            slow = (i % 2 ? 1.25 : 0.75) * (1.3 - 0.3 * at);
        if ((warm_up == QUARTER || warm_up == SAW_QUARTER) && at < 0.25)
            slow *= warm_up == QUARTER ? 4.0 / 3 : 2;
        x[i] = slow * exp(noise * (warm_up == CORRELATED ? state : z));
    }
}

/* One run: its speed over its own part, whether the two halves of that were shown to be alike, and what is known of its
 * other windows. */
struct warm_run {
    double speed;
    bool equivalent;
    struct ys_steady steady;
    struct ys_windows windows;
};

static double mean_of(const double *x, int n, double *error)
{
    double mean = 0, squares = 0;
    for (int i = 0; i < n; i++)
        mean += x[i] / n;
    for (int i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    *error = sqrt(squares / (n - 1) / n);
    return mean;
}

/* Two one-sided tests at 5 % (Schuirmann 1987) of one run by itself: its halves differ by less than half of the usual
 * margin. The quantile is Student's, by 1 / degrees. */
static bool halves_are_alike(const double *x, int n)
{
    double error[2], first = mean_of(x, n / 2, &error[0]), last = mean_of(x + n / 2, n - n / 2, &error[1]);
    double quantile = 1.645 * (1 + 0.93 / (n - 2));
    return fabs(log(first / last)) + quantile * hypot(error[0] / first, error[1] / last) < 0.01;
}

static struct warm_run make_warm_run(struct ys_rng *rng, enum warm_up warm_up, double noise, int n)
{
    double x[MAX_BLOCKS], sum = 0;
    int64_t span_ns[MAX_BLOCKS];
    struct warm_run run = {0};
    struct ys_run_windows stored = {0};
    draw_blocks(rng, warm_up, noise, n, x);
    for (int i = 0; i < n; i++)
        span_ns[i] = llround(1e9 * x[i]);
    ys_steady_find(x, (size_t)n, &run.steady);
    for (int i = (int)run.steady.from; i < n; i++)
        sum += x[i];
    run.speed = (double)(n - (int)run.steady.from) / sum;
    run.equivalent =
        run.steady.answer == YS_STEADY_FOUND && halves_are_alike(&x[run.steady.from], n - (int)run.steady.from);
    const struct ys_window_blocks blocks = {.count = (size_t)n, .span_ns = span_ns};
    ys_json *json = ys_window_measure(&blocks, &run.steady);
    CHECK(ys_record_read(&ys_run_windows_record, json, "a run", &stored) == YS_OK);
    ys_window_take(&stored, (int64_t)run.steady.from + 1, run.steady.left, &run.windows);
    ys_record_fini(&ys_run_windows_record, &stored);
    ys_json_free(json);
    return run;
}

enum { WARM_ROUNDS = 7, MANY_ROUNDS = 20 };
struct warm_study {
    int rounds;
    struct warm_run a[MAX_ROUNDS], b[MAX_ROUNDS];
    double noise[MAX_ROUNDS]; /* of the ratio of the two */
};

static void make_warm_study(struct ys_rng *rng, const enum warm_up of[2], double noise, int n, struct warm_study *study)
{
    for (int r = 0; r < study->rounds; r++) {
        study->noise[r] = exp(0.005 * ys_rng_normal(rng));
        study->a[r] = make_warm_run(rng, of[0], noise, n);
        study->b[r] = make_warm_run(rng, of[1], noise, n);
    }
}

enum way { OWN_PARTS, OWN_PARTS_BOUND, COMMON_WINDOW, WAYS };

/* Trial a is `effect` times as fast as it was made. */
static struct ys_comparison compare_warm(const struct warm_study *study, enum way way, double effect, double margin)
{
    double a[MAX_ROUNDS], b[MAX_ROUNDS], bias[MAX_ROUNDS];
    struct ys_comparison comparison = {0};
    for (int r = 0; r < study->rounds; r++) {
        const struct warm_run *of_a = &study->a[r], *of_b = &study->b[r];
        const struct ys_run_window own = {.mark = -1}, common = ys_window_common(&of_a->windows, &of_b->windows);
        const struct ys_run_window *window = way == COMMON_WINDOW ? &common : &own;
        a[r] = effect * study->noise[r] * ys_window_value(&of_a->windows, window, 0, of_a->speed);
        b[r] = ys_window_value(&of_b->windows, window, 0, of_b->speed);
        bias[r] = way == COMMON_WINDOW ? common.bias : of_a->steady.left - of_b->steady.left;
    }
    const struct ys_compare_rule rule = {
        .better = YS_BETTER_HIGHER, .margin = margin, .stretch = 1, .bias = way == OWN_PARTS ? NULL : bias};
    ys_compare(a, b, (size_t)study->rounds, &rule, &comparison);
    return comparison;
}

static bool says(enum ys_verdict verdict)
{
    return verdict == YS_VERDICT_BETTER || verdict == YS_VERDICT_WORSE;
}

static void warm_up_makes_no_false_verdict(void)
{
    static const int blocks[] = {30, 60, 200};
    struct ys_rng rng = stream("steady");
    int count = studies() / 4;
    printf(
        "# | warm-up of one of two equal trials | blocks | runs called steady, %% | bias of the speed, %% | false "
        "verdict by own parts, %% | and with what is left, %% | by the common window, %% | the same at margin 0, %% | "
        "with 20 rounds, %% |\n# | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (enum warm_up warm_up = NONE; warm_up <= LATER; warm_up++) {
        for (int k = 0; k < 3; k++) {
            const enum warm_up of[2] = {warm_up, NONE};
            int found = 0, said[WAYS] = {0}, without_margin = 0, by_many = 0;
            double bias = 0;
            for (int s = 0; s < count; s++) {
                static struct warm_study study;
                study.rounds = MANY_ROUNDS;
                make_warm_study(&rng, of, 0.02, blocks[k], &study);
                by_many += says(compare_warm(&study, COMMON_WINDOW, 1, 0).verdict);
                study.rounds = WARM_ROUNDS;
                for (int r = 0; r < WARM_ROUNDS; r++) {
                    found += study.a[r].steady.answer == YS_STEADY_FOUND;
                    bias += study.a[r].speed - 1;
                }
                for (enum way way = OWN_PARTS; way < WAYS; way++)
                    said[way] += says(compare_warm(&study, way, 1, 0.02).verdict);
                without_margin += says(compare_warm(&study, COMMON_WINDOW, 1, 0).verdict);
            }
            double runs = (double)WARM_ROUNDS * count, share = 100.0 * said[COMMON_WINDOW] / count;
            printf("# | %s | %d | %.0f | %.1f | %.0f | %.0f | %.0f | %.0f | %.0f |\n", warm_up_names[warm_up],
                   blocks[k], 100.0 * found / runs, 100.0 * bias / runs, 100.0 * said[OWN_PARTS] / count,
                   100.0 * said[OWN_PARTS_BOUND] / count, share, 100.0 * without_margin / count,
                   100.0 * by_many / count);
            /* A slowdown that stays is no warm-up, and a verdict on it no false one. */
            share = fmax(share, 100.0 * fmax(without_margin, by_many) / count);
            CHECK(warm_up == LATER || share <= 5 + slack(5, count));
        }
    }
}

static void a_common_window_takes_away_what_both_trials_share(void)
{
    static const enum warm_up pairs[][2] = {
        {NONE, NONE}, {QUARTER, NONE}, {FADES, FADES}, {FADES_SLOWLY, FADES_SLOWLY}, {SAW_QUARTER, SAW}};
    static const int blocks[] = {30, 60, 200};
    struct ys_rng rng = stream("window");
    int count = studies() / 4;
    printf(
        "# | warm-up of the two | blocks | error of the ratio, %% | equal: same, %% | equal: false verdict, %% | 5 %% "
        "apart: found, %% |\n# | --- | --- | --- | --- | --- | --- |\n");
    for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++) {
        for (int k = 0; k < 3; k++) {
            double error[WAYS] = {0}, same[WAYS] = {0}, is_false[WAYS] = {0}, found[WAYS] = {0};
            for (int s = 0; s < count; s++) {
                static struct warm_study study;
                study.rounds = WARM_ROUNDS;
                make_warm_study(&rng, pairs[p], 0.02, blocks[k], &study);
                for (enum way way = OWN_PARTS; way < WAYS; way++) {
                    struct ys_comparison equal = compare_warm(&study, way, 1, 0.02);
                    error[way] += 100.0 * log(equal.value) / count;
                    same[way] += 100.0 * (equal.verdict == YS_VERDICT_SAME) / count;
                    is_false[way] += 100.0 * says(equal.verdict) / count;
                    found[way] += 100.0 * (compare_warm(&study, way, 1.05, 0.02).verdict == YS_VERDICT_BETTER) / count;
                }
            }
            printf("# | %s; %s | %d | %.1f / %.1f | %.0f / %.0f | %.0f / %.0f | %.0f / %.0f |\n",
                   warm_up_names[pairs[p][0]], warm_up_names[pairs[p][1]], blocks[k], error[OWN_PARTS_BOUND],
                   error[COMMON_WINDOW], same[OWN_PARTS_BOUND], same[COMMON_WINDOW], is_false[OWN_PARTS_BOUND],
                   is_false[COMMON_WINDOW], found[OWN_PARTS_BOUND], found[COMMON_WINDOW]);
            CHECK(is_false[COMMON_WINDOW] <= 5 + slack(5, count));
            /* Means of seven ratios that scatter by less than 1.5 %, and of all studies of the cell. */
            CHECK(fabs(error[COMMON_WINDOW]) <= 0.1 + 3 * 1.5 / sqrt((double)WARM_ROUNDS * count));
        }
    }
}

/* The same runs as two studies have them, which are not matched: each over its own part, trial a `effect` times as
 * fast. *alone: by one interval; returned is what is said, by that and the one without what is left of warm-up. */
static enum ys_verdict compare_apart(const struct warm_study *study, double effect, enum ys_verdict *alone)
{
    double a[2][MAX_ROUNDS], b[2][MAX_ROUNDS];
    struct ys_compare_ends ends[2];
    const char *reason;
    for (int r = 0; r < study->rounds; r++) {
        a[0][r] = log(effect * study->noise[r] * study->a[r].speed);
        b[0][r] = log(study->b[r].speed);
        a[1][r] = a[0][r] + study->a[r].steady.left;
        b[1][r] = b[0][r] + study->b[r].steady.left;
    }
    for (int i = 0; i < 2; i++) {
        const size_t n = (size_t)study->rounds;
        struct ys_centre found;
        ys_unpaired_centre(a[i], n, b[i], n, &found);
        CHECK(found.interval.known);
        ends[i] = (struct ys_compare_ends){found.interval.lo, found.interval.hi, -log(1.02), log(1.02)};
    }
    *alone = ys_compare_verdict_settled(&ends[0], NULL, YS_BETTER_HIGHER, &reason);
    return ys_compare_verdict_settled(&ends[0], &ends[1], YS_BETTER_HIGHER, &reason);
}

static void two_studies_make_no_verdict_of_warm_up(void)
{
    static const enum warm_up pairs[][2] = {
        {NONE, NONE}, {FADES, NONE}, {FADES_SLOWLY, NONE}, {LONG, NONE}, {FADES_SLOWLY, FADES_SLOWLY}};
    static const int blocks[] = {30, 60, 200};
    struct ys_rng rng = stream("apart");
    int count = studies() / 4;
    printf("# | warm-up of the two | blocks | equal: same, %% | equal: false verdict, %% | 5 %% apart: found, %% |\n"
           "# | --- | --- | --- | --- | --- |\n");
    for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++) {
        for (int k = 0; k < 3; k++) {
            double same[2] = {0}, is_false[2] = {0}, found[2] = {0};
            for (int s = 0; s < count; s++) {
                static struct warm_study study;
                enum ys_verdict said[2];
                study.rounds = WARM_ROUNDS;
                make_warm_study(&rng, pairs[p], 0.02, blocks[k], &study);
                said[1] = compare_apart(&study, 1, &said[0]);
                for (int i = 0; i < 2; i++) {
                    same[i] += 100.0 * (said[i] == YS_VERDICT_SAME) / count;
                    is_false[i] += 100.0 * says(said[i]) / count;
                }
                said[1] = compare_apart(&study, 1.05, &said[0]);
                for (int i = 0; i < 2; i++)
                    found[i] += 100.0 * (said[i] == YS_VERDICT_BETTER) / count;
            }
            printf("# | %s; %s | %d | %.0f / %.0f | %.0f / %.0f | %.0f / %.0f |\n", warm_up_names[pairs[p][0]],
                   warm_up_names[pairs[p][1]], blocks[k], same[0], same[1], is_false[0], is_false[1], found[0],
                   found[1]);
            CHECK(is_false[1] <= 5 + slack(5, count));
        }
    }
}

/* "Shown not to drift by more than half of the margin" asked of each run by itself, as against asked of the difference
 * of two trials over all rounds, which is what bias_bound <= margin says (twice the drift is taken, or more). */
static void drift_is_judged_over_rounds_because_one_run_cannot_show_it(void)
{
    static const double noises[] = {0.005, 0.02, 0.05};
    static const int blocks[] = {30, 60, 200};
    static const enum warm_up pairs[2][2] = {{NONE, NONE}, {FADES_SLOWLY, NONE}};
    struct ys_rng rng = stream("equivalence");
    int count = studies() / 4;
    printf("# | blocks scatter by | blocks | one run shown, %% | seven shown of seven, %% | by seven rounds, %% | "
           "drifting: one run shown, %% | by seven rounds, %% |\n# | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            int runs[2] = {0}, all[2] = {0}, bound[2] = {0};
            for (int s = 0; s < 2 * count; s++) {
                static struct warm_study study;
                int shown = 0, drifts = s % 2;
                study.rounds = WARM_ROUNDS;
                make_warm_study(&rng, pairs[drifts], noises[i], blocks[k], &study);
                for (int r = 0; r < WARM_ROUNDS; r++)
                    shown += study.a[r].equivalent;
                runs[drifts] += shown;
                all[drifts] += shown == WARM_ROUNDS;
                bound[drifts] += compare_warm(&study, COMMON_WINDOW, 1, 0.02).bias_bound <= 0.02;
            }
            printf("# | %.1f %% | %d | %.0f | %.0f | %.0f | %.0f | %.0f |\n", 100 * noises[i], blocks[k],
                   100.0 * runs[0] / WARM_ROUNDS / count, 100.0 * all[0] / count, 100.0 * bound[0] / count,
                   100.0 * runs[1] / WARM_ROUNDS / count, 100.0 * bound[1] / count);
            CHECK(100.0 * bound[1] / count <= 5 + slack(5, count)); /* it drifts by more than that */
            CHECK(bound[0] >= all[0]);
        }
    }
}

/* What runs of blocks scatter by, each trial's own speed and each block. */
static void make_scattered_study(struct ys_rng *rng, double scatter, int blocks, int rounds, struct warm_study *study)
{
    study->rounds = rounds;
    make_warm_study(rng, (const enum warm_up[2]){NONE, NONE}, 0.02, blocks, study);
    for (int r = 0; r < rounds; r++)
        study->noise[r] = exp(sqrt(2) * scatter * ys_rng_normal(rng));
}

/* The same as without blocks (three_per_cent_are_found_with_the_runs_that_are_asked_for), where also what may be left
 * of warm-up is estimated of blocks that scatter: the whole way of `doctor --noise`, and then of a study. */
static void as_many_are_found_with_what_may_be_left_of_warm_up(void)
{
    static const int blocks[] = {30, 60, 200}, pairs[] = {12, 40};
    static struct warm_study study;
    struct ys_rng rng = stream("asked of blocks");
    int count = studies() / 4;
    printf("# | blocks | runs asked for after 12 pairs, median | found, %% | after 40 | found, %% |\n"
           "# | --- | --- | --- | --- | --- |\n");
    for (int f = 0; f < 3; f++) {
        printf("# | %d |", blocks[f]);
        for (int k = 0; k < 2; k++) {
            double *asked = calloc((size_t)count, sizeof *asked), ratios[MAX_ROUNDS], biases[MAX_ROUNDS];
            int found = 0;
            REQUIRE(asked);
            for (int s = 0; s < count; s++) {
                size_t n;
                make_scattered_study(&rng, 0.01, blocks[f], pairs[k], &study);
                for (int r = 0; r < pairs[k]; r++) {
                    struct ys_run_window common = ys_window_common(&study.a[r].windows, &study.b[r].windows);
                    ratios[r] = study.noise[r] * ys_window_value(&study.a[r].windows, &common, 0, study.a[r].speed) /
                                ys_window_value(&study.b[r].windows, &common, 0, study.b[r].speed);
                    biases[r] = common.bias;
                }
                const struct ys_power_seen seen = {ratios, biases, (size_t)pairs[k]};
                n = ys_power_rounds(&seen, 0, 0.03);
                asked[s] = n ? (double)n : MAX_ROUNDS;
                make_scattered_study(&rng, 0.01, blocks[f], (int)asked[s], &study);
                found += compare_warm(&study, COMMON_WINDOW, 1.03, 0).verdict == YS_VERDICT_BETTER;
            }
            ys_stat_sort(asked, (size_t)count);
            printf(" %.0f |", ys_stat_quantile(asked, (size_t)count, 0.5));
            CHECK(print_share(found, count) >= 90 - slack(90, count));
            free(asked);
        }
        printf("\n");
    }
}

TAP_MAIN(TAP_CASE(intervals_cover_what_they_claim), TAP_CASE(correlation_between_rounds_is_said),
         TAP_CASE(power_grows_with_every_run), TAP_CASE(what_could_have_been_shown_is_found_nine_times_of_ten),
         TAP_CASE(three_per_cent_are_found_with_the_runs_that_are_asked_for),
         TAP_CASE(equal_trials_have_a_false_verdict_in_five_studies_of_a_hundred), TAP_CASE(no_margin_is_needed_for_it),
         TAP_CASE(warm_up_makes_no_false_verdict), TAP_CASE(a_common_window_takes_away_what_both_trials_share),
         TAP_CASE(two_studies_make_no_verdict_of_warm_up),
         TAP_CASE(drift_is_judged_over_rounds_because_one_run_cannot_show_it),
         TAP_CASE(as_many_are_found_with_what_may_be_left_of_warm_up))
