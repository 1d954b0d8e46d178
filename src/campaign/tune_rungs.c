#include "campaign/tune_rungs.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "campaign/target_rounds.h"
#include "framework/framework.h"
#include "framework/start_env.h"
#include "judge/recommend.h"
#include "metric/metric.h"
#include "probe/host.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t as_by_default[YS_HALVING_KNOBS];
enum { OTHER_SEEDS = 1000 }; /* farther than a rung has rounds */

/* ---- the trial as it is */

/* "for PyTorch alone: OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive python3 ..., with channels_last = true" */
static char *say_outside(const struct ys_framework *framework, const struct ys_trial_record *trial)
{
    char **env;
    struct ys_buf text = {0};
    ys_start_env(framework, (int)trial->keys.threads, trial->options, trial->env, &env);
    ys_buf_printf(&text, "for %s alone:", framework->title);
    for (size_t i = 0; env[i]; i++) {
        bool is_recipes = false;
        for (size_t k = 0; framework->env[k]; k++)
            is_recipes |= strncmp(env[i], framework->env[k], strcspn(framework->env[k], "=") + 1) == 0;
        if (!is_recipes) {
            ys_buf_puts(&text, " ");
            ys_buf_put_word(&text, env[i]);
        }
    }
    ys_buf_puts(&text, " python3 ...");
    for (void *it = ys_json_iter(trial->options); it; it = ys_json_next(trial->options, it)) {
        char *value = ys_json_dump(ys_json_iter_value(it), YS_JSON_COMPACT);
        ys_buf_printf(&text, ", with %s = %s", ys_json_iter_key(it), ys_json_text(ys_json_iter_value(it), value));
        ys_free(value);
    }
    ys_start_env_free(env);
    return ys_buf_take(&text);
}

/* A name alone, and the version that it means now. */
static ys_status lines_of(const struct ys_trial_record *trial, const char *const *recipe_dirs, struct ys_list *lines,
                          char **outside)
{
    struct ys_framework *framework = NULL;
    YS_TRY(ys_framework_find(trial->keys.framework, recipe_dirs, &framework));
    ys_json *keys = ys_record_json(&ys_trial_settings_record, &trial->keys);
    const struct ys_recommend_of of = {.keys = keys,
                                       .options = trial->options,
                                       .env = trial->env,
                                       .framework = framework->name,
                                       .version = framework->version,
                                       .seed = YS_FIELD_NONE};
    ys_status status = ys_recommend_lines_of(&of, lines);
    if (outside && framework->environment && trial->keys.threads != YS_FIELD_NONE)
        *outside = say_outside(framework, trial);
    ys_json_free(keys);
    ys_framework_free(framework);
    return status;
}

/* All threads are a number, so that a candidate of as many is told for the same. */
static void settle_threads(struct ys_trial_settings *keys)
{
    if (ys_settings_ranks(keys) == 1 && keys->threads == YS_FIELD_NONE)
        keys->threads = keys->cpus.count ? (int64_t)keys->cpus.count : ys_host_cpus_allowed();
}

static ys_status take_lines(struct ys_tuning *tuning)
{
    struct ys_list list = {0};
    struct ys_buf text = {0};
    ys_status status = lines_of(&tuning->trial, tuning->wish->recipe_dirs, &list, NULL);
    char *const *lines = list.items;
    for (size_t i = 0; i < list.count; i++) {
        ys_buf_printf(&text, "%s\n", lines[i]);
        ys_free(lines[i]);
    }
    ys_free(list.items);
    tuning->lines = ys_buf_take(&text);
    return status;
}

ys_status ys_tuning_open(const struct ys_tune_wish *wish, const struct ys_wish *aim, const struct ys_job *job,
                         const struct ys_trial_record *trial, struct ys_tuning *tuning)
{
    size_t count;
    struct ys_study_settings keys;
    *tuning = (struct ys_tuning){.wish = wish, .aim = aim, .study = job->study};
    ys_study_settings_read(job->study, &keys);
    tuning->seed = keys.seed;
    tuning->metric = (size_t)(aim->metric - ys_metric_infos(&count));
    YS_TRY(ys_record_copy(&ys_trial_record, trial, &tuning->trial));
    settle_threads(&tuning->trial.keys);
    YS_TRY(ys_space_open(&tuning->trial.keys, wish->knobs, wish->recipe_dirs, &tuning->space));
    return take_lines(tuning);
}

void ys_tuning_close(struct ys_tuning *tuning)
{
    for (size_t i = 0; i < tuning->made_count; i++)
        ys_record_fini(&ys_trial_record, &tuning->made[i]);
    ys_free(tuning->made);
    ys_halving_fini(&tuning->halving);
    ys_space_fini(&tuning->space);
    ys_record_fini(&ys_trial_record, &tuning->trial);
    ys_free(tuning->lines);
    *tuning = (struct ys_tuning){0};
}

/* ---- candidates as sections of a job */

/* "3.threads-2.wait-passive": what of a name a section may have. */
static void put_section(const struct ys_tuning *tuning, size_t number, const uint8_t *values, struct ys_buf *text)
{
    char *name = ys_space_name(&tuning->space, values);
    for (char *at = name; *at; at++)
        if (*at == ' ')
            *at = '.';
        else if (!isalnum((unsigned char)*at) && *at != '_' && *at != '.')
            *at = '-';
    ys_buf_printf(text, "[%zu.%s : default]\n", number, name);
    ys_free(name);
}

static void put_head(const struct ys_tuning *tuning, struct ys_buf *text)
{
    ys_buf_printf(text, "version = 1\nname = tune\n\n[default]\n%s", tuning->lines);
}

static ys_status parse(const struct ys_tuning *tuning, struct ys_buf *text, struct ys_job *job)
{
    const struct ys_job_hooks hooks = ys_study_job_hooks(tuning->wish->recipe_dirs);
    ys_status status = ys_job_parse("settings", ys_buf_text(text), text->size, NULL, 0, &hooks, job);
    ys_buf_free(text);
    return status;
}

/* The trial that a set of values makes. YS_EINVAL: the framework refuses one. */
static ys_status make_trial(const struct ys_tuning *tuning, const uint8_t *values, bool *is_clear,
                            struct ys_trial_record *trial)
{
    struct ys_buf text = {0};
    struct ys_job job;
    put_head(tuning, &text);
    put_section(tuning, 1, values, &text);
    *is_clear = ys_space_put_lines(&tuning->space, values, &text);
    YS_TRY(parse(tuning, &text, &job));
    ys_status status = ys_record_read(&ys_trial_record, ys_json_at(job.trials, 1), "trial", trial);
    ys_job_fini(&job);
    return status;
}

static bool are_same(const struct ys_trial_record *a, const struct ys_trial_record *b)
{
    ys_json *one = ys_record_json(&ys_trial_settings_record, &a->keys),
            *other = ys_record_json(&ys_trial_settings_record, &b->keys);
    const bool same =
        ys_json_equal(one, other) && ys_json_equal(a->options, b->options) && ys_json_equal(a->env, b->env);
    ys_json_free(one);
    ys_json_free(other);
    return same;
}

/* Taken. */
static void keep_made(struct ys_tuning *tuning, const struct ys_trial_record *trial)
{
    tuning->made = ys_realloc(tuning->made, tuning->made_count + 1, sizeof *tuning->made);
    tuning->made[tuning->made_count++] = *trial;
}

/* The default is as it is parsed, so that equals are told by what parsing makes of both. */
static ys_status make_default(struct ys_tuning *tuning)
{
    struct ys_buf text = {0};
    struct ys_job job;
    struct ys_trial_record trial;
    put_head(tuning, &text);
    YS_TRY(parse(tuning, &text, &job));
    ys_status status = ys_record_read(&ys_trial_record, ys_json_at(job.trials, 0), "trial", &trial);
    ys_job_fini(&job);
    if (status == YS_OK)
        keep_made(tuning, &trial);
    return status;
}

static struct ys_tuned_point *add_point(struct ys_tuning *tuning, const uint8_t *values)
{
    struct ys_tuned_point *point = ys_list_add(&ys_tuned_point_record, &tuning->out->points);
    point->settings = ys_space_name(&tuning->space, values);
    point->rung = point->rounds = 0;
    return point;
}

static void put_out(struct ys_tuned_point *point, const char *out, const char *reason)
{
    ys_set_text(&point->out, out);
    ys_set_text(&point->reason, reason);
}

/* Points stand in the order of the halving's candidates; those that cannot be tried are told behind them. */
static void refuse(struct ys_tuning *tuning, const uint8_t *values, const char *why)
{
    struct ys_space_lacking *lacking = ys_list_add(&ys_space_lacking_record, &tuning->space.lacking);
    lacking->name = ys_space_name(&tuning->space, values);
    const char *behind = strncmp(why, "settings:", strlen("settings:")) == 0 ? strstr(why, ": ") : NULL;
    lacking->reason = ys_strdup(behind ? behind + 2 : why);
}

static bool is_new(void *context, const struct ys_halving *halving, const uint8_t *values)
{
    struct ys_tuning *tuning = context;
    struct ys_trial_record trial;
    bool is_clear = true, is_other = true;
    (void)halving;
    if (make_trial(tuning, values, &is_clear, &trial) != YS_OK) {
        refuse(tuning, values, ys_error());
        return false;
    }
    for (size_t i = 0; is_other && i < tuning->made_count; i++)
        is_other = !are_same(&tuning->made[i], &trial);
    if (!is_clear || !is_other) {
        ys_record_fini(&ys_trial_record, &trial);
        return false;
    }
    keep_made(tuning, &trial);
    add_point(tuning, values);
    return true;
}

/* ---- measuring */

/* Keys of the study by which candidates are measured. All begin with one seed, so that a proof, which is of a seed, is
 * made once; but what was learned is confirmed with others than it was found with. */
static void set_study(const struct ys_tuning *tuning, bool is_search, struct ys_job *job)
{
    struct ys_study_settings keys;
    ys_study_settings_read(tuning->study, &keys);
    char *name = ys_format("%s-tuned", keys.name);
    ys_json_free(job->study);
    job->study = ys_json_copy(tuning->study);
    ys_json_set_string(job->study, "name", name);
    ys_json_set_int(job->study, "seed", tuning->seed + (tuning->aim->metric->learning && !is_search ? OTHER_SEEDS : 0));
    ys_json_set_string(job->study, "interleave", "runs"); /* how threads wait shows where nothing else lives beside */
    if (is_search) {
        ys_json_set_string(job->study, "audit", "off");
        ys_json_set_string(job->study, "anchor", "off");
        ys_json_set_string(job->study, "on_disturbance", "mark");
    }
    ys_free(name);
}

static ys_status open_arms(struct ys_tuning *tuning, struct ys_buf *text, bool is_search, struct ys_arms_wish wish,
                           struct ys_arms *arms)
{
    struct ys_job job;
    *arms = (struct ys_arms){0};
    YS_TRY(parse(tuning, text, &job));
    set_study(tuning, is_search, &job);
    wish.job = &job;
    wish.recipe_dirs = tuning->wish->recipe_dirs;
    wish.command = tuning->wish->command;
    return ys_arms_open(&wish, arms);
}

ys_status ys_tuning_open_sections(struct ys_tuning *tuning, const char *sections, int64_t seed, bool is_search,
                                  struct ys_store *store, struct ys_arms *arms)
{
    struct ys_buf text = {0};
    struct ys_job job;
    *arms = (struct ys_arms){0};
    ys_buf_printf(&text, "version = 1\nname = tune\n\n[global]\n%s\n%s", tuning->lines, sections);
    YS_TRY(parse(tuning, &text, &job));
    for (size_t i = 0; !is_search && i < ys_json_size(job.trials); i++) {
        struct ys_trial_record trial;
        YS_TRY(ys_record_read(&ys_trial_record, ys_json_at(job.trials, i), "trial", &trial));
        keep_made(tuning, &trial);
    }
    set_study(tuning, is_search, &job);
    ys_json_set_int(job.study, "seed", seed);
    ys_json_set_string(job.study, "comparisons", "all");
    const struct ys_arms_wish wish = {.job = &job,
                                      .recipe_dirs = tuning->wish->recipe_dirs,
                                      .store = store,
                                      .command = tuning->wish->command,
                                      .unproven = is_search};
    return ys_arms_open(&wish, arms);
}

static uint64_t deadline_of(const struct ys_tuning *tuning, double deadline_s)
{
    return tuning->began_ns + (uint64_t)(fmax(deadline_s - tuning->spent_s, 0.001) * 1e9);
}

ys_status ys_tuning_open_pair(struct ys_tuning *tuning, size_t candidate, struct ys_store *store, double deadline_s,
                              struct ys_arms *arms)
{
    struct ys_buf text = {0};
    put_head(tuning, &text);
    ys_buf_puts(&text, "[tuned : default]\n");
    ys_space_put_lines(&tuning->space, tuning->halving.items[candidate].values, &text);
    return open_arms(tuning, &text, false,
                     (struct ys_arms_wish){.store = store, .deadline_ns = deadline_of(tuning, deadline_s)}, arms);
}

double ys_tuning_spent_s(const struct ys_tuning *tuning)
{
    return tuning->spent_s + (double)(ys_time_ns() - tuning->began_ns) * 1e-9;
}

static double spent_s(void *context)
{
    return ys_tuning_spent_s(context);
}

void ys_tuning_note(struct ys_tuning *tuning, const char *what, int64_t runs)
{
    struct ys_tuned_part *part = ys_list_add(&ys_tuned_part_record, &tuning->out->spent);
    const double now_s = ys_tuning_spent_s(tuning);
    part->what = ys_strdup(what);
    part->seconds = now_s - tuning->spent_s;
    part->runs = runs;
    tuning->spent_s = now_s;
    tuning->began_ns = ys_time_ns();
}

void ys_tuning_set_ends(const struct ys_interval *interval, struct ys_list *ci)
{
    if (!interval->known)
        return;
    double *ends = ys_alloc(2, sizeof *ends);
    ends[0] = interval->lo;
    ends[1] = interval->hi;
    *ci = (struct ys_list){ends, 2};
}

/* More is better; -INFINITY of a run that did not get there. */
static double value_of(const struct ys_tuning *tuning, double value)
{
    const double sign = tuning->aim->highest ? 1 : -1;
    return sign * (tuning->aim->metric->kind == YS_KIND_SHARE ? value : value > 0 ? log(value) : (double)NAN);
}

static bool has_mapped(const struct ys_arms *arms, size_t arm, const char *path)
{
    const struct ys_result_observed *observed = arms->last.trials[arm].observed;
    char *const *libraries = observed ? observed->libraries.items : NULL;
    for (size_t i = 0; observed && i < observed->libraries.count; i++)
        if (strcmp(libraries[i], ys_path_base(path)) == 0)
            return true;
    return false;
}

/* The bound of the wish that the medians of an arm break; NULL. */
static const char *broken_bound(const struct ys_tuning *tuning, const struct ys_result_trial *trial)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    for (size_t i = 0; i < tuning->aim->bound_count; i++) {
        const struct ys_wish_bound *bound = &tuning->aim->bounds[i];
        const struct ys_trial_metric *metric = &trial->values[bound->metric - infos];
        const double median = metric->summary.median;
        if (!metric->n || (bound->at_least ? median < bound->limit : median > bound->limit))
            return bound->text;
    }
    return NULL;
}

/* Whether a candidate goes on, and why not. */
static bool judge_arm(const struct ys_tuning *tuning, const struct ys_arms *arms, size_t arm, const char *preload,
                      struct ys_tuned_point *point)
{
    const struct ys_arm *measured = &arms->items[arm];
    const struct ys_result_trial *trial = &arms->last.trials[arm];
    const char *bound = arm ? broken_bound(tuning, trial) : NULL; /* as it is it stays, to compare with */
    if (ys_target_failed(arms, arm, tuning->aim->metric) > 0)
        put_out(point, ys_run_status_name((enum ys_run_status)measured->status), measured->reason);
    else if (measured->disproved)
        put_out(point, "not proven", "its proof failed");
    else if (preload && trial->runs && !has_mapped(arms, arm, preload))
        put_out(point, "unsupported", "the library that was to be loaded first was not mapped");
    else if (bound && trial->runs)
        put_out(point, "misses a bound", bound);
    return point->out != NULL;
}

static ys_status take_rung(struct ys_tuning *tuning, const struct ys_halving *halving,
                           const struct ys_halving_rung *rung, struct ys_arms *arms, double *values, bool *out)
{
    struct ys_tuned_point *points = tuning->out->points.items;
    for (size_t i = 0; i < rung->count; i++) {
        const size_t place = rung->candidates[i];
        const char *preload = ys_space_preload(&tuning->space, halving->items[place].values);
        out[i] = judge_arm(tuning, arms, i, preload, &points[place]);
        for (int r = 0; r < rung->rounds; r++)
            values[i * (size_t)rung->rounds + (size_t)r] =
                value_of(tuning, ys_arms_value(arms, i, tuning->metric, (size_t)r).value);
    }
    if (!out[0])
        return YS_OK;
    return ys_fail(YS_EUNSUPPORTED, "as it is it %s in the search: %s", points[0].out,
                   points[0].reason ? points[0].reason : "no reason is known");
}

static ys_status measure(void *context, const struct ys_halving *halving, const struct ys_halving_rung *rung,
                         double *values, bool *out, int *complete)
{
    struct ys_tuning *tuning = context;
    struct ys_buf text = {0};
    struct ys_arms arms;
    /* A study counts its rounds against a limit, and proves before them. */
    const double proofs_s = rung->proven ? tuning->proof_s * (double)(rung->count - 1) : 0;
    put_head(tuning, &text);
    for (size_t i = 1; i < rung->count; i++) {
        put_section(tuning, i, halving->items[rung->candidates[i]].values, &text);
        ys_space_put_lines(&tuning->space, halving->items[rung->candidates[i]].values, &text);
    }
    ys_log_info("%s: rung %d, %zu settings beside those as they are, %d round%s%s", tuning->out->trial,
                halving->rungs + 1, rung->count - 1, rung->rounds, rung->rounds == 1 ? "" : "s",
                rung->proven ? ", proven" : "");
    ys_status status = open_arms(tuning, &text, true,
                                 (struct ys_arms_wish){.unproven = !rung->proven,
                                                       .deadline_ns = deadline_of(tuning, tuning->search_s - proofs_s)},
                                 &arms);
    if (status == YS_OK)
        status = ys_arms_measure(&arms, rung->rounds);
    if (status == YS_OK && arms.rounds) {
        *complete = (int)arms.complete;
        status = take_rung(tuning, halving, rung, &arms, values, out);
    }
    ys_arms_close(&arms);
    char *what = ys_format("rung %d: %zu settings, %d rounds%s", halving->rungs + 1, rung->count, *complete,
                           rung->proven ? ", with proofs" : "");
    ys_tuning_note(tuning, what, (int64_t)rung->count * *complete);
    ys_free(what);
    return status;
}

const struct ys_halving_ops ys_tuning_ops = {.measure = measure, .is_new = is_new, .spent_s = spent_s};

/* Sets `cannot_run` where it does not run, with the reason for its sentence. */
static ys_status judge_probe(struct ys_tuning *tuning, const struct ys_arms *arms)
{
    const struct ys_arm *arm = &arms->items[0];
    const struct ys_result_trial *trial = &arms->last.trials[0];
    tuning->cannot_run = ys_target_failed(arms, 0, tuning->aim->metric) > 0 || arm->disproved;
    if (tuning->cannot_run) {
        tuning->out->sentence =
            ys_format("%s cannot be tuned: as it is %s%s%s.", tuning->out->trial,
                      arm->disproved ? "its proof failed" : ys_run_status_name((enum ys_run_status)arm->status),
                      arm->disproved || !arm->reason ? "" : ": ", arm->disproved || !arm->reason ? "" : arm->reason);
        return YS_OK;
    }
    const double value = ys_arms_value(arms, 0, tuning->metric, 0).value;
    if (!isnan(value_of(tuning, value)))
        return YS_OK;
    const struct ys_trial_metric *metric = &trial->values[tuning->metric];
    return ys_fail(YS_EINVAL, "--for=%s: %s has no value above 0 of it (%s): choose one that this study has",
                   tuning->wish->wanted, tuning->out->trial, metric->reason ? metric->reason : "no run has one");
}

/* One round of it alone, with its proof or without. */
static ys_status probe_once(struct ys_tuning *tuning, bool proven)
{
    struct ys_buf text = {0};
    struct ys_arms arms;
    put_head(tuning, &text);
    ys_status status = open_arms(tuning, &text, true, (struct ys_arms_wish){.unproven = !proven}, &arms);
    if (status == YS_OK)
        status = ys_arms_measure(&arms, 1);
    if (status == YS_OK && proven)
        status = judge_probe(tuning, &arms);
    ys_arms_close(&arms);
    return status;
}

ys_status ys_tuning_probe(struct ys_tuning *tuning)
{
    tuning->began_ns = ys_time_ns();
    YS_TRY(make_default(tuning));
    add_point(tuning, as_by_default);
    ys_status status = probe_once(tuning, true);
    const uint64_t first_ns = ys_time_ns();
    if (status == YS_OK && !tuning->cannot_run)
        status = probe_once(tuning, false);
    const double first_s = (double)(first_ns - tuning->began_ns) * 1e-9;
    tuning->run_s = (double)(ys_time_ns() - first_ns) * 1e-9;
    tuning->proof_s = fmax(first_s - tuning->run_s, 0);
    ys_tuning_note(tuning, "as it is: a proof, two runs", tuning->cannot_run ? 1 : 2);
    return status;
}

ys_status ys_tuning_tell(const struct ys_tuning *tuning, size_t candidate, struct ys_list *lines, char **outside)
{
    return lines_of(&tuning->made[candidate], tuning->wish->recipe_dirs, lines, outside);
}
