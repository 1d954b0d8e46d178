#include "campaign/bisect.h"

#include "base/log.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/size_text.h"
#include "campaign/arms.h"
#include "framework/framework.h"
#include "framework/framework_list.h"
#include "job/settings.h"
#include "metric/metric.h"
#include "stat/compare.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const int YS_BISECT_ROUNDS[YS_BISECT_LOOKS] = {10, 16, 24};
enum { ROUNDS_MOST = YS_BISECT_ROUNDS_MOST, TEAM = YS_BISECT_TEAM };
enum { SPARE = 2 }; /* questions more than halving takes, for versions of which nothing can be told */

struct bisecting {
    const struct ys_bisect_wish *wish;
    struct ys_store *store;
    struct ys_bisected *out;
    char *versions[YS_BISECT_MOST]; /* owned */
    bool skipped[YS_BISECT_MOST];
    size_t count;
    size_t metric; /* place in ys_metric_infos() */
    double margin;
    int64_t seed; /* of the next round */
    int questions_left;
    bool by_rightness; /* the ends differ in that one of them is wrong */
};

/* A run can fail by chance, a version cannot: it is wrong where its proof or every run of it fails. */
enum version_standing { SOUND, SHAKY, WRONG };

static enum version_standing standing_of(const struct ys_arm *arm)
{
    if (arm->disproved || (arm->runs > 0 && arm->failed == arm->runs))
        return WRONG;
    return arm->failed ? SHAKY : SOUND;
}

/* What is measured of one question: good, bad, and the version between. */
struct team {
    const char *names[TEAM];
    size_t count, metric;
    struct ys_arms arms;
    struct ys_bisect_speeds speeds, settled; /* the second were what is left of warm-up gone */
    int rounds;
};

static enum version_standing standing_in(const struct team *team, size_t i)
{
    return standing_of(&team->arms.items[i]);
}

/* What is wrong with it; new. */
static char *fault_of(const struct team *team, size_t i)
{
    const struct ys_arm *arm = &team->arms.items[i];
    return arm->disproved
               ? ys_strdup("its proof failed")
               : ys_format("%s: %s", ys_run_status_name(arm->status), arm->reason ? arm->reason : "no run succeeded");
}

static const char *valueless_of(const struct team *team, size_t i)
{
    const struct ys_trial_metric *metric = &team->arms.last.trials[i].values[team->metric];
    return metric->n ? "all are 0" : metric->reason ? metric->reason : "no run has one";
}

/* ---- the versions */

static ys_status add_version(struct bisecting *bisecting, char *spec)
{
    if (bisecting->count < YS_BISECT_MOST) {
        bisecting->versions[bisecting->count++] = spec;
        return YS_OK;
    }
    ys_free(spec);
    return ys_fail(YS_EINVAL, "--versions: at most %d can be told apart", YS_BISECT_MOST);
}

static bool is_end(const struct ys_bisect_wish *wish, const char *spec)
{
    return strcmp(spec, wish->good) == 0 || strcmp(spec, wish->bad) == 0;
}

/* "2.0.1" of --good=pytorch@1.13.1 is pytorch@2.0.1. */
static char *spec_of(const struct ys_bisect_wish *wish, const char *word, size_t length)
{
    const size_t name = strcspn(wish->good, "@");
    const bool bare = length && word[0] >= '0' && word[0] <= '9' && wish->good[name];
    return bare ? ys_format("%.*s@%.*s", (int)name, wish->good, (int)length, word) : ys_strndup(word, length);
}

static ys_status take_given(struct bisecting *bisecting)
{
    const struct ys_bisect_wish *wish = bisecting->wish;
    for (const char *at = wish->versions; *at; at += strspn(at, ", ")) {
        const size_t length = strcspn(at, ", ");
        char *spec = spec_of(wish, at, length);
        at += length;
        if (is_end(wish, spec))
            ys_free(spec);
        else
            YS_TRY(add_version(bisecting, spec));
    }
    return YS_OK;
}

/* By the numbers in them: 1.9 before 1.13. */
static int by_number(const char *a, const char *b)
{
    while (*a && *b) {
        const bool are_numbers = isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
        char *end_a = (char *)(uintptr_t)a, *end_b = (char *)(uintptr_t)b;
        const unsigned long one = are_numbers ? strtoul(a, &end_a, 10) : 0,
                            other = are_numbers ? strtoul(b, &end_b, 10) : 0;
        if (end_a != a && end_b != b && one != other)
            return one < other ? -1 : 1;
        if (end_a == a || end_b == b) {
            if (*a != *b)
                return *a < *b ? -1 : 1;
            end_a = (char *)(uintptr_t)a + 1;
            end_b = (char *)(uintptr_t)b + 1;
        }
        a = end_a;
        b = end_b;
    }
    return (*a != 0) - (*b != 0);
}

static const char *number_of(const char *spec)
{
    const char *at = strchr(spec, '@');
    return at ? at + 1 : "";
}

static int by_version(const void *a, const void *b)
{
    return by_number(number_of(*(char *const *)a), number_of(*(char *const *)b));
}

/* Those of the same name that there are recipes of, and that lie between the ends, whichever of these is older. */
static ys_status take_known(struct bisecting *bisecting)
{
    const struct ys_bisect_wish *wish = bisecting->wish;
    const size_t name = strcspn(wish->good, "@");
    const bool upwards = by_number(number_of(wish->good), number_of(wish->bad)) <= 0;
    const char *low = number_of(upwards ? wish->good : wish->bad), *high = number_of(upwards ? wish->bad : wish->good);
    struct ys_list list;
    ys_framework_list(wish->recipe_dirs, &list);
    const struct ys_framework_entry *entries = list.items;
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < list.count; i++) {
        char *const *versions = entries[i].versions.items;
        if (!entries[i].name || strlen(entries[i].name) != name || strncmp(entries[i].name, wish->good, name) != 0)
            continue;
        for (size_t k = 0; status == YS_OK && k < entries[i].versions.count; k++)
            if (by_number(low, versions[k]) < 0 && by_number(versions[k], high) < 0)
                status = add_version(bisecting, ys_format("%.*s@%s", (int)name, wish->good, versions[k]));
    }
    ys_list_fini(&ys_framework_entry_record, &list);
    if (status == YS_OK)
        qsort(bisecting->versions + 1, bisecting->count - 1, sizeof bisecting->versions[0], by_version);
    for (size_t i = 1; status == YS_OK && !upwards && i < 1 + (bisecting->count - 1) / 2; i++) {
        char *kept = bisecting->versions[i];
        bisecting->versions[i] = bisecting->versions[bisecting->count - i];
        bisecting->versions[bisecting->count - i] = kept;
    }
    return status;
}

/* Versions that are not installed, and what that would take. */
struct lacking {
    struct ys_buf names;
    size_t count;
    uint64_t download_bytes, disk_bytes;
};

static void add_lacking(const struct ys_framework *framework, struct lacking *lacking)
{
    ys_buf_printf(&lacking->names, "%s%s", lacking->count++ ? ", " : "", framework->spec);
    lacking->download_bytes += framework->download_bytes;
    lacking->disk_bytes += framework->disk_bytes;
}

/* Nobody who asks which version is slower has asked for gigabytes. */
static ys_status refuse_lacking(const struct lacking *lacking)
{
    char download[YS_SIZE_TEXT], disk[YS_SIZE_TEXT];
    if (!lacking->download_bytes)
        return ys_fail(
            YS_EINVAL,
            "not installed: %s. With --install bisect installs what it comes to; how much that is their recipes "
            "do not say",
            ys_buf_text(&lacking->names));
    return ys_fail(YS_EINVAL,
                   "not installed: %s. With --install bisect installs what it comes to, up to about %s to download and "
                   "%s on disk",
                   ys_buf_text(&lacking->names), ys_size_text(lacking->download_bytes, download),
                   ys_size_text(lacking->disk_bytes, disk));
}

static ys_status take_versions(struct bisecting *bisecting)
{
    const struct ys_bisect_wish *wish = bisecting->wish;
    if (strcmp(wish->good, wish->bad) == 0)
        return ys_fail(YS_EINVAL, "--good and --bad are both %s: nothing lies between", wish->good);
    YS_TRY(add_version(bisecting, ys_strdup(wish->good)));
    YS_TRY(wish->versions ? take_given(bisecting) : take_known(bisecting));
    YS_TRY(add_version(bisecting, ys_strdup(wish->bad)));
    ys_status status = YS_OK;
    struct lacking lacking = {0};
    for (size_t i = 0; status == YS_OK && i < bisecting->count; i++) {
        struct ys_framework *framework = NULL;
        status = ys_framework_find(bisecting->versions[i], wish->recipe_dirs, &framework);
        if (status == YS_OK && framework->state == YS_FRAMEWORK_MISSING && !wish->install)
            add_lacking(framework, &lacking);
        if (status == YS_OK && framework->unpinned)
            ys_list_add_text(&bisecting->out->unpinned, bisecting->versions[i]);
        if (status == YS_OK)
            ys_list_add_text(&bisecting->out->versions, bisecting->versions[i]);
        ys_framework_free(framework);
    }
    if (status == YS_OK && lacking.count)
        status = refuse_lacking(&lacking);
    ys_buf_free(&lacking.names);
    return status;
}

/* *reason is new where this version cannot be had, which is no failure of the search. */
static ys_status make_ready(const struct bisecting *bisecting, const char *spec, char **reason)
{
    struct ys_framework *framework = NULL;
    YS_TRY(ys_framework_find(spec, bisecting->wish->recipe_dirs, &framework));
    const bool missing = framework->state == YS_FRAMEWORK_MISSING;
    if (framework->state == YS_FRAMEWORK_UNSUPPORTED)
        *reason = ys_strdup(framework->reason);
    ys_framework_free(framework);
    if (!missing)
        return YS_OK;
    ys_log_info("%s is being installed", spec);
    ys_status status = ys_framework_install(spec, bisecting->wish->recipe_dirs);
    if (status == YS_EINTR)
        return status;
    if (status != YS_OK)
        *reason = ys_strdup(ys_error());
    return YS_OK;
}

/* ---- one look */

static ys_status load_job(const struct bisecting *bisecting, const struct team *team, struct ys_job *job)
{
    const struct ys_bisect_wish *wish = bisecting->wish;
    char frameworks[TEAM * 128], seed[32];
    snprintf(frameworks, sizeof frameworks, "{%s,%s%s%s}", team->names[0], team->names[1],
             team->count == TEAM ? "," : "", team->count == TEAM ? team->names[2] : "");
    snprintf(seed, sizeof seed, "%lld", (long long)bisecting->seed);
    const struct ys_arms_key keys[] = {{"framework", frameworks, YS_ARMS_SET},
                                       {"repeat", "1", YS_ARMS_SET},
                                       {"audit", "off", YS_ARMS_SET},
                                       {"interleave", "auto", YS_ARMS_USUAL},
                                       {bisecting->seed == YS_FIELD_NONE ? NULL : "seed", seed, YS_ARMS_SET},
                                       {NULL, NULL, YS_ARMS_SET}};
    return ys_arms_load(wish->path, wish->flags, wish->flag_count, keys, wish->recipe_dirs, team->count, job);
}

static ys_status open_arms(const struct bisecting *bisecting, struct team *team)
{
    struct ys_job job;
    YS_TRY(load_job(bisecting, team, &job));
    const struct ys_arms_wish wish = {.job = &job,
                                      .recipe_dirs = bisecting->wish->recipe_dirs,
                                      .store = bisecting->store,
                                      .command = bisecting->wish->command};
    team->metric = bisecting->metric;
    return ys_arms_open(&wish, &team->arms);
}

/* The value of a member of the team, at that place of its speeds. */
static void take_value(struct team *team, size_t i, int at, struct ys_arms_value of)
{
    size_t count;
    const bool is_rate = ys_metric_infos(&count)[team->metric].kind == YS_KIND_RATE;
    const double value = of.value > 0 ? log(of.value) : NAN, back = ys_compare_given_back(of.taken);
    team->speeds.taken[i][at] = team->settled.taken[i][at] = is_rate ? back : -back;
    team->speeds.values[i][at] = value;
    team->settled.values[i][at] = value + of.bias;
}

static void take_values(struct team *team, int rounds)
{
    const int room = YS_BISECT_RUNS_MOST - YS_BISECT_ROUNDS_MOST,
              again = team->arms.again < (size_t)room ? (int)team->arms.again : room;
    for (size_t i = 0; i < team->count; i++) {
        for (int r = team->rounds; r < team->rounds + rounds; r++)
            take_value(team, i, r, ys_arms_value(&team->arms, i, team->metric, (size_t)r));
        for (int k = team->speeds.again; k < again; k++)
            take_value(team, i, YS_BISECT_ROUNDS_MOST + k, ys_arms_again(&team->arms, i, team->metric, (size_t)k));
    }
    team->speeds.again = team->settled.again = again;
    team->rounds += rounds;
}

static void add_study(struct ys_bisect_step *step, int64_t study_id)
{
    int64_t *more = ys_realloc(step->studies.items, step->studies.count + 1, sizeof *more);
    step->studies.items = more;
    more[step->studies.count++] = study_id;
}

static ys_status measure(struct bisecting *bisecting, struct team *team, int rounds, struct ys_bisect_step *step)
{
    ys_log_info("%s: rounds %d to %d of %s, side by side", step->version, team->rounds + 1, team->rounds + rounds,
                team->count == TEAM ? "it and both ends" : "both ends");
    YS_TRY(ys_arms_measure(&team->arms, rounds));
    bisecting->seed = team->arms.seed;
    take_values(team, rounds);
    add_study(step, team->arms.study_id);
    return YS_OK;
}

/* Which of the team has no value of the metric in any round, though its runs succeed; `count` where each has one, or
 * where only the rounds of one never meet those of another. */
static size_t without_values(const struct team *team)
{
    for (size_t i = 0; i < team->count; i++) {
        bool any = false;
        for (int r = 0; r < team->rounds; r++)
            any |= isfinite(team->speeds.values[i][r]);
        if (!any)
            return i;
    }
    return team->count;
}

/* The ends differ where the bad one is wrong, or by more than the margin. */
static ys_status judge_ends(struct bisecting *bisecting, const struct team *team, struct ys_bisect_step *step)
{
    const size_t lacking = without_values(team);
    const bool is_good_wrong = standing_in(team, 0) == WRONG;
    if (is_good_wrong || standing_in(team, 1) == WRONG) {
        step->side = YS_BISECT_BAD;
        step->reason = fault_of(team, is_good_wrong ? 0 : 1);
        bisecting->by_rightness = true;
        if (is_good_wrong)
            return ys_fail(YS_EINVAL, "--good=%s is not good: %s", team->names[0], step->reason);
        return YS_OK;
    }
    if (lacking < team->count)
        return ys_fail(YS_EINVAL,
                       "--metric=%s: %s has no value above 0 of it here (%s): choose one that this study has",
                       bisecting->out->metric, team->names[lacking], valueless_of(team, lacking));
    ys_bisect_tell_apart(&team->speeds, &team->settled, team->rounds, bisecting->out->level, bisecting->margin, step);
    return YS_OK;
}

/* "toy@3.0: 1 of 3 runs failed: crashed: ...", new. */
static char *conduct_of(const struct team *team, size_t i)
{
    const struct ys_arm *arm = &team->arms.items[i];
    char *fault = fault_of(team, i), *text = arm->disproved
                                                 ? ys_format("%s: %s", team->names[i], fault)
                                                 : ys_format("%s: %lld of %lld runs failed: %s", team->names[i],
                                                             (long long)arm->failed, (long long)arm->runs, fault);
    ys_free(fault);
    return text;
}

/* The first of the team, from the version asked for on, that is not as it has to be. */
static void say_conduct(const struct team *team, bool bad_fails, struct ys_bisect_step *step)
{
    const size_t lacking = without_values(team);
    size_t i = TEAM;
    while (i-- > 0) {
        const bool expected = bad_fails && i == 1 && standing_in(team, i) == WRONG;
        if (standing_in(team, i) != SOUND && !expected)
            break;
    }
    if (i < TEAM)
        step->reason = conduct_of(team, i);
    else if (lacking < team->count)
        step->reason =
            ys_format("%s has no value of the metric: %s", team->names[lacking], valueless_of(team, lacking));
    else
        step->reason = ys_strdup("the ends do not behave as they did");
}

/* Where the good end fails as well, or the bad one no more, it is not the version that made it. */
static void judge_rightness(const struct team *team, struct ys_bisect_step *step)
{
    const enum version_standing standing = standing_in(team, 2);
    const bool ends_hold = standing_in(team, 0) == SOUND && standing_in(team, 1) == WRONG;
    if (!ends_hold || standing == SHAKY) {
        step->side = YS_BISECT_SKIPPED;
        say_conduct(team, true, step);
        return;
    }
    step->side = standing == WRONG ? YS_BISECT_BAD : YS_BISECT_GOOD;
    if (standing == WRONG)
        say_conduct(team, true, step);
}

static void judge_speed(const struct bisecting *bisecting, const struct team *team, struct ys_bisect_step *step)
{
    bool wrong = false;
    for (size_t i = 0; i < team->count; i++)
        wrong |= standing_in(team, i) == WRONG;
    if (wrong || without_values(team) < team->count) {
        step->side = YS_BISECT_SKIPPED;
        say_conduct(team, false, step);
        return;
    }
    ys_bisect_place(&team->speeds, &team->settled, team->rounds, bisecting->out->level, step);
}

/* Asks one question until a look answers it. */
static ys_status ask(struct bisecting *bisecting, struct team *team, struct ys_bisect_step *step)
{
    const bool ends = team->count < TEAM;
    ys_status status = YS_OK;
    step->side = YS_BISECT_UNCLEAR;
    bisecting->questions_left--;
    for (int look = 0; status == YS_OK && step->side == YS_BISECT_UNCLEAR && look < YS_BISECT_LOOKS; look++) {
        const int rounds = bisecting->by_rightness ? YS_BISECT_RIGHTNESS_ROUNDS : YS_BISECT_ROUNDS[look] - team->rounds;
        status = measure(bisecting, team, rounds, step);
        if (status == YS_OK && ends)
            status = judge_ends(bisecting, team, step);
        else if (status == YS_OK && bisecting->by_rightness)
            judge_rightness(team, step);
        else if (status == YS_OK)
            judge_speed(bisecting, team, step);
    }
    step->rounds = team->rounds;
    return status;
}

static ys_status question(struct bisecting *bisecting, size_t good, size_t bad, size_t middle, int *side)
{
    struct team team = {.names = {bisecting->versions[good], bisecting->versions[bad], bisecting->versions[middle]},
                        .count = middle == bad ? 2 : TEAM};
    struct ys_bisect_step *step = ys_list_add(&ys_bisect_step_record, &bisecting->out->steps);
    char *reason = NULL;
    step->version = ys_strdup(bisecting->versions[middle]);
    step->rounds = 0;
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && !reason && i < team.count; i++)
        status = make_ready(bisecting, team.names[i], &reason);
    if (status == YS_OK && reason && middle == bad)
        status = ys_fail(YS_EINVAL, "an end of the search cannot be had: %s", reason);
    if (status == YS_OK && reason) {
        step->side = YS_BISECT_SKIPPED;
        step->reason = reason;
        reason = NULL;
    } else if (status == YS_OK) {
        status = open_arms(bisecting, &team);
        if (status == YS_OK)
            status = ask(bisecting, &team, step);
    }
    ys_free(reason);
    ys_arms_close(&team.arms);
    *side = step->side;
    return status;
}

/* The untried version nearest to the middle between the two; `good` where there is none. */
static size_t choose(const struct bisecting *bisecting, size_t good, size_t bad)
{
    const size_t middle = good + (bad - good) / 2;
    for (size_t away = 0; away < bad - good; away++) {
        if (middle + away < bad && middle + away > good && !bisecting->skipped[middle + away])
            return middle + away;
        if (middle > good + away && !bisecting->skipped[middle - away])
            return middle - away;
    }
    return good;
}

int ys_bisect_questions(size_t versions)
{
    int questions = 1 + SPARE; /* 1: of the ends */
    for (size_t left = versions - 1; left > 1; left = (left + 1) / 2)
        questions++;
    return questions < (int)versions - 1 ? questions : (int)versions - 1;
}

static void conclude(struct bisecting *bisecting, size_t good, size_t bad)
{
    struct ys_bisected *out = bisecting->out;
    out->decided = true;
    out->last_good = ys_strdup(bisecting->versions[good]);
    out->first_bad = ys_strdup(bisecting->versions[bad]);
    out->sentence = bad == good + 1
                        ? ys_format("%s is the first that is bad%s; %s is still good.", out->first_bad,
                                    bisecting->by_rightness ? "" : ", at a level of 95 % for all that was concluded",
                                    out->last_good)
                        : ys_format("The change lies after %s and not after %s; what is between could not be told.",
                                    out->last_good, out->first_bad);
}

static ys_status search(struct bisecting *bisecting)
{
    size_t good = 0, bad = bisecting->count - 1, middle;
    int side;
    YS_TRY(question(bisecting, good, bad, bad, &side));
    if (side != YS_BISECT_BAD) {
        bisecting->out->sentence = ys_format("%d rounds do not tell %s and %s apart by more than the margin of %g %%: "
                                             "there is nothing to search for.",
                                             YS_BISECT_ROUNDS[YS_BISECT_LOOKS - 1], bisecting->versions[good],
                                             bisecting->versions[bad], 100 * bisecting->margin);
        return YS_OK;
    }
    while (bisecting->questions_left > 0 && (middle = choose(bisecting, good, bad)) != good) {
        YS_TRY(question(bisecting, good, bad, middle, &side));
        if (side == YS_BISECT_GOOD)
            good = middle;
        else if (side == YS_BISECT_BAD)
            bad = middle;
        else
            bisecting->skipped[middle] = true;
    }
    conclude(bisecting, good, bad);
    return YS_OK;
}

/* What of the study counts for all looks; and whether it is of one trial at all. */
static ys_status read_study(struct bisecting *bisecting)
{
    const struct team ends = {.names = {bisecting->versions[0], bisecting->versions[bisecting->count - 1]}, .count = 2};
    struct ys_job job;
    struct ys_study_settings keys;
    bisecting->seed = YS_FIELD_NONE;
    YS_TRY(load_job(bisecting, &ends, &job));
    ys_study_settings_read(job.study, &keys);
    bisecting->margin = keys.margin;
    bisecting->seed = keys.seed;
    ys_job_fini(&job);
    return YS_OK;
}

static ys_status bisect(struct bisecting *bisecting)
{
    const struct ys_bisect_wish *wish = bisecting->wish;
    struct ys_bisected *out = bisecting->out;
    size_t count;
    const struct ys_metric_info *info;
    ys_status status = ys_metric_named(wish->metric, &info);
    if (status != YS_OK)
        return ys_fail_in(status, "--metric=%s", wish->metric);
    bisecting->metric = (size_t)(info - ys_metric_infos(&count));
    out->schema = ys_strdup(YS_BISECT_SCHEMA);
    out->good = ys_strdup(wish->good);
    out->bad = ys_strdup(wish->bad);
    out->metric = ys_strdup(info->name);
    YS_TRY(take_versions(bisecting));
    bisecting->questions_left = ys_bisect_questions(bisecting->count);
    out->level = YS_BISECT_LEVEL / (YS_BISECT_LOOKS * bisecting->questions_left);
    YS_TRY(read_study(bisecting));
    return search(bisecting);
}

ys_status ys_bisect(const struct ys_bisect_wish *wish, struct ys_store *store, struct ys_bisected *bisected)
{
    struct bisecting bisecting = {.wish = wish, .store = store, .out = bisected};
    ys_record_init(&ys_bisected_record, bisected);
    ys_status status = bisect(&bisecting);
    for (size_t i = 0; i < bisecting.count; i++)
        ys_free(bisecting.versions[i]);
    if (status != YS_OK)
        ys_record_fini(&ys_bisected_record, bisected);
    return status;
}

/* ---- the document */

static const char *const side_words[] = {"good", "bad", "skipped", "unclear"};
const struct ys_names ys_bisect_sides = YS_NAMES("side", side_words);

#define STEP struct ys_bisect_step
static const struct ys_field step_fields[] = {
    YS_FIELD(STEP, version, YS_FIELD_TEXT, NULL, 0, "that was looked at; first the bad end against the good"),
    YS_FIELD_NAMED(STEP, side, &ys_bisect_sides, 0, "to which it counts"),
    YS_FIELD(STEP, rounds, YS_FIELD_INT, "1", 0, "that it took"),
    YS_FIELD(STEP, p, YS_FIELD_REAL, "1", YS_FIELD_NULL, "of the last look; null: not by numbers"),
    YS_FIELD(STEP, to_good, YS_FIELD_REAL, "1", YS_FIELD_NULL, "centre of its ratio to the good end of the question"),
    YS_FIELD(STEP, to_bad, YS_FIELD_REAL, "1", YS_FIELD_NULL, "to the bad one"),
    YS_FIELD(STEP, reason, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "why it is skipped, or what is wrong with it"),
    YS_FIELD(STEP, studies, YS_FIELD_INTS, NULL, 0, "where its runs are stored"),
};
const struct ys_record ys_bisect_step_record = YS_RECORD("step", STEP, step_fields);

#define ALL                       struct ys_bisected
#define TEXT(member, flags, what) YS_FIELD(ALL, member, YS_FIELD_TEXT, NULL, flags, what)
static const struct ys_field all_fields[] = {
    TEXT(schema, 0, "of this document"),
    TEXT(good, 0, "one end"),
    TEXT(bad, 0, "the other"),
    TEXT(metric, 0, "that is looked at"),
    YS_FIELD(ALL, versions, YS_FIELD_TEXTS, NULL, 0, "in order, with both ends"),
    YS_FIELD(ALL, unpinned, YS_FIELD_TEXTS, NULL, 0, "those whose packages were resolved when they were installed"),
    YS_FIELD_OF(ALL, steps, YS_FIELD_LIST, &ys_bisect_step_record, 0, "questions, one by one"),
    YS_FIELD(ALL, level, YS_FIELD_REAL, "1", 0, "of each look"),
    YS_FIELD(ALL, decided, YS_FIELD_FLAG, NULL, 0, "the ends differ, and it was searched"),
    TEXT(last_good, YS_FIELD_NULL, "where it was decided"),
    TEXT(first_bad, YS_FIELD_NULL, "likewise"),
    TEXT(sentence, 0, "what came out"),
};
const struct ys_record ys_bisected_record = YS_RECORD("bisection", ALL, all_fields);
