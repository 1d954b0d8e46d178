/* `check` and `verify`: what would run, and whether it is the same work. Neither measures anything. */
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "framework/own_settings.h"
#include "framework/recipe.h"
#include "graph/model.h"
#include "metric/metric.h"
#include "onnx/read/onnx_read.h"
#include "prepare/noted_noise.h"
#include "prepare/work.h"
#include "robust/attack.h"
#include "stat/steady.h"
#include "stat/summary.h"
#include "store/stored_study.h"
#include "study/decide.h"
#include "study/job_listing.h"
#include "study/make_checks.h"
#include "study/state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Without a measurement to go by, a run is guessed from its multiply-adds: three passes (forward and twice backward),
 * one where nothing is trained, at this many multiply-adds a second and thread, after this long a start. Rough, and
 * called so. */
static const double GUESSED_RATE = 2e10, GUESSED_START_S = 3, GUESSED_LOOK_S = 0.1;
/* Of a model that is stored: a process more, what zstd takes of each byte of it, and eight forward passes of an oracle
 * in double (prepare/stored_run.h), at a tenth of the rate. */
static const double GUESSED_ZSTD_BYTES_PER_S = 3e6, GUESSED_ORACLE_PASSES = 80;
static const size_t STUDIES_LOOKED_AT = 10;

static bool are_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool are_equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Two whose weights are attacked alike. */
static bool are_attacked_alike(const struct ys_trial_settings *a, const struct ys_trial_settings *b)
{
    return are_same(a->attack, b->attack) && are_same(a->attack_curve, b->attack_curve) &&
           a->attack_rows == b->attack_rows && a->attack_restarts == b->attack_restarts &&
           a->attack_twins == b->attack_twins;
}

/* Two trials whose runs should take equally long. */
static bool alike(const struct ys_trial_record *one, const struct ys_trial_record *other)
{
    const struct ys_trial_settings *a = &one->keys, *b = &other->keys;
    return a->mode == b->mode && are_same(a->framework, b->framework) && are_same(a->model, b->model) &&
           are_same(a->data, b->data) && a->batch == b->batch && a->steps == b->steps && a->epochs == b->epochs &&
           a->requests == b->requests && a->block == b->block && are_same(a->until, b->until) &&
           (!a->until || a->eval_every == b->eval_every) && a->threads == b->threads && a->precision == b->precision &&
           are_same(a->optimizer, b->optimizer) && (a->mode != YS_MODE_ATTACK || are_attacked_alike(a, b)) &&
           ys_json_equal(one->options, other->options);
}

/* Two whose weights are the same training. */
static bool are_taught_alike(const struct ys_trial_settings *a, const struct ys_trial_settings *b)
{
    return are_same(a->model, b->model) && are_same(a->data, b->data) &&
           ys_settings_taught_batch(a) == ys_settings_taught_batch(b) && a->steps == b->steps &&
           a->epochs == b->epochs && are_same(a->optimizer, b->optimizer) && are_equal(a->lr, b->lr) &&
           are_equal(a->momentum, b->momentum) && are_equal(a->weight_decay, b->weight_decay) &&
           are_same(a->schedule, b->schedule) && are_equal(a->clip_norm, b->clip_norm) && are_same(a->loss, b->loss);
}

/* Wall times of the stored runs that ended well. */
struct walls {
    double *items; /* owned */
    size_t count, capacity;
    bool is_ok; /* the run that is told of */
};

static ys_status see_run(void *context, const struct ys_run_row *row)
{
    struct walls *walls = context;
    walls->is_ok = ys_name_find(&ys_run_statuses, row->status) == YS_RUN_OK;
    return YS_OK;
}

static ys_status see_wall(void *context, const struct ys_metric_row *row)
{
    struct walls *walls = context;
    if (!row || !walls->is_ok || !(row->value > 0))
        return YS_OK;
    walls->items = ys_grown(walls->items, walls->count, &walls->capacity, sizeof *walls->items);
    walls->items[walls->count++] = row->value;
    return YS_OK;
}

/* Median wall time of the stored runs of `trial_id` that ended well; 0 without one. */
static ys_status measured_in(struct ys_store *store, int64_t trial_id, double *seconds)
{
    struct walls walls = {0};
    const struct ys_run_reader reader = {&walls, {"wall_s"}, see_run, see_wall};
    ys_status status = ys_store_runs_each(store, trial_id, &reader);
    *seconds = status == YS_OK && walls.count ? ys_stat_summarize(walls.items, walls.count).median : 0;
    ys_free(walls.items);
    return status;
}

/* What a trial took before: 0 where it is not known. */
struct before {
    double run_s, session_s; /* a run alone, and with its share of all that was done between runs */
    double audit_s;          /* its share of what followed the rounds */
    double attack_s;         /* a run's share of attacks on weights; NAN: of those that are asked for it is not known */
    struct ys_apart_speeds apart;
};

/* What a study took beside its runs is shared out among them; where runs took turns it took less than they add up to.
 */
static ys_status add_session(struct ys_store *store, int64_t study_id, size_t trials, struct before *before)
{
    ys_json *document = NULL;
    struct ys_study_record told;
    struct ys_study_timing timing;
    double walls_s = 0;
    int64_t runs = 0;
    before->session_s = before->run_s;
    YS_TRY(ys_store_study_get(store, study_id, &document));
    ys_study_record_read(document, &told, &timing);
    ys_status status = ys_store_wall_s(store, study_id, &walls_s, &runs);
    if (status == YS_OK && walls_s > 0 && timing.measure_s > walls_s)
        before->session_s = before->run_s + (timing.measure_s - walls_s) / (double)runs;
    else if (status == YS_OK && walls_s > 0 && timing.measure_s > 0)
        before->session_s = before->run_s * timing.measure_s / walls_s;
    if (status == YS_OK && runs > 0 && timing.attack_s > 0)
        before->attack_s = timing.attack_s / (double)runs;
    if (status == YS_OK && timing.audit_s > 0)
        before->audit_s = timing.audit_s / (double)trials;
    ys_json_free(document);
    return status;
}

/* What `trial` took in the latest of the last studies that had one like it. */
static ys_status measured_before(struct ys_store *store, const struct ys_trial_record *trial, struct before *before)
{
    ys_json *studies = NULL;
    *before = (struct before){.attack_s = NAN, .apart = {NAN, NAN}};
    if (!store)
        return YS_OK;
    YS_TRY(ys_store_studies(store, &studies));
    size_t count = ys_json_size(studies), looked = 0;
    bool is_attacked_so = false;
    ys_status status = YS_OK;
    for (size_t i = count; status == YS_OK && before->run_s <= 0 && i-- > 0 && looked++ < STUDIES_LOOKED_AT;) {
        struct ys_trial_records trials = {0};
        struct ys_study_record told;
        struct ys_study_timing timing;
        ys_study_record_read(ys_json_at(studies, i), &told, &timing);
        status = ys_store_trials_load(store, told.id, &trials);
        for (size_t k = 0; status == YS_OK && before->run_s <= 0 && k < trials.count; k++)
            if (alike(trial, &trials.items[k])) {
                is_attacked_so = trial->keys.attack && are_attacked_alike(&trial->keys, &trials.items[k].keys);
                status = measured_in(store, trials.items[k].trial_id, &before->run_s);
                if (status == YS_OK && before->run_s > 0)
                    status = ys_metric_apart_speeds(store, told.id, trials.items[k].id, &before->apart);
            }
        if (status == YS_OK && before->run_s > 0)
            status = add_session(store, told.id, trials.count, before);
        before->attack_s = is_attacked_so ? before->attack_s : (double)NAN;
        ys_trial_records_fini(&trials);
    }
    ys_json_free(studies);
    return status;
}

static double guess_s(double multiply_adds, double rows, int threads)
{
    return GUESSED_START_S + multiply_adds * rows / (GUESSED_RATE * threads);
}

/* Of same weights: what training them may take in every round, where `trial` is the first that wants them. */
static double guess_taught_s(const struct ys_trial_set *set, const struct ys_trial *trial)
{
    for (const struct ys_trial *other = set->items; other < trial; other++)
        if (ys_trial_can_run(other) && other->taught_steps &&
            are_taught_alike(&other->record.keys, &trial->record.keys))
            return 0;
    double rows = 3 * (double)trial->taught_steps * (double)ys_settings_taught_batch(&trial->record.keys);
    return trial->taught_steps ? guess_s((double)trial->multiply_adds, rows, ys_host_cpus_allowed()) : 0;
}

/* Forward passes of a row that its attacks take: of each gradient one, and two back. */
static double passes_of_attacks(const struct ys_trial_settings *keys)
{
    struct ys_attacks attacks;
    double eps[YS_ATTACKS_MOST];
    size_t curve = 0;
    if (!keys->attack || ys_attacks_read(keys->attack, &attacks) != YS_OK ||
        (keys->attack_curve && ys_attack_read_curve(keys->attack_curve, eps, &curve) != YS_OK))
        return 0;
    return 3 * ys_attacks_gradients(&attacks, (double)keys->attack_restarts, (double)curve);
}

/* What attacking the weights of its runs may take in all rounds, and its twins, where `trial` is the first that has
 * them. In mode attack it is the run itself. */
static double guess_attacks_s(const struct ys_trial_set *set, const struct ys_trial *trial, double rounds)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    double twins = keys->attack_twins > 0 ? (double)keys->attack_twins : 0;
    const double work = (double)trial->multiply_adds * (double)keys->attack_rows * passes_of_attacks(keys),
                 trained = 3 * (double)trial->steps * (double)ys_settings_rows(keys);
    if (!keys->attack || keys->mode == YS_MODE_ATTACK)
        return 0;
    for (const struct ys_trial *other = set->items; other < trial; other++)
        if (ys_trial_can_run(other) && are_taught_alike(&other->record.keys, keys) &&
            are_attacked_alike(&other->record.keys, keys))
            twins = 0;
    return (rounds + twins) * work / (GUESSED_RATE * ys_host_cpus_allowed()) +
           twins * guess_s((double)trial->multiply_adds, trained, ys_host_cpus_allowed());
}

/* Of a run with a target each look at it is a forward pass over the rows to test on; and a program's start. */
static double guess_looks_s(const struct ys_trial *trial)
{
    const int64_t looks = ys_trial_looks(trial);
    if (looks == YS_FIELD_NONE || !trial->data)
        return 0;
    return (double)looks * (GUESSED_LOOK_S + (double)trial->multiply_adds * (double)trial->data->test_count /
                                                 (GUESSED_RATE * ys_host_cpus_allowed()));
}

static double guess_of_run_s(const struct ys_trial *trial)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    if (keys->mode == YS_MODE_ATTACK)
        return guess_s((double)trial->multiply_adds, passes_of_attacks(keys) * (double)keys->attack_rows,
                       trial->threads);
    if (keys->mode == YS_MODE_SIZE)
        return GUESSED_START_S + 4 * (double)trial->parameters / GUESSED_ZSTD_BYTES_PER_S +
               guess_s((double)trial->multiply_adds, GUESSED_ORACLE_PASSES * (double)keys->rows, trial->threads);
    const double requests = (double)ys_trial_requests(trial);
    const double passes = requests > 0 ? requests : 3 * (double)trial->steps;
    return guess_s((double)trial->multiply_adds, passes * (double)ys_settings_rows(keys), trial->threads) +
           guess_looks_s(trial);
}

/* Of the trials of a study together. */
struct estimate {
    double known_s, guess_of_known_s; /* runs that were measured before, and what would have been guessed */
};

static void estimate(struct ys_study *study, const struct ys_trial *trial, struct ys_listing_trial *line,
                     struct ys_listing *listing, struct estimate *sums)
{
    struct before before;
    ys_status status = measured_before(study->store, &trial->record, &before);
    if (status != YS_OK) { /* what cannot be read was not measured */
        ys_log_warn("%s", ys_error());
        study->store = NULL;
        before = (struct before){.attack_s = NAN, .apart = {NAN, NAN}};
    }
    line->known = before.run_s > 0;
    line->apart_times = before.apart.times;
    line->apart_steps = before.apart.steps;
    line->run_s = line->known ? before.run_s : guess_of_run_s(trial);
    if (line->known) {
        sums->known_s += before.run_s;
        sums->guess_of_known_s += guess_of_run_s(trial);
        listing->estimate_s += before.session_s * (double)study->rounds + before.audit_s;
    }
    listing->estimate_s += guess_taught_s(&study->set, trial) * (double)study->rounds;
    listing->estimate_s += isnan(before.attack_s) ? guess_attacks_s(&study->set, trial, (double)study->rounds)
                                                  : before.attack_s * (double)study->rounds;
}

/* Where some were measured here, their guesses say by how much the others are off. */
static void add_guesses(const struct ys_study *study, const struct estimate *sums, struct ys_listing *listing)
{
    struct ys_listing_trial *lines = listing->trials.items;
    const double factor = sums->known_s > 0 ? sums->known_s / sums->guess_of_known_s : 1;
    for (size_t i = 0; i < listing->trials.count; i++) {
        if (lines[i].known != 0)
            continue;
        lines[i].run_s *= factor;
        listing->estimate_s += lines[i].run_s * (double)study->rounds;
    }
}

/* Blocks after the first step, or requests after the first. */
static int64_t blocks_of(const struct ys_trial *trial)
{
    if (trial->record.keys.mode == YS_MODE_ATTACK)
        return YS_STEADY_MIN_BLOCKS; /* as many as its attacks ask for */
    int64_t requests = ys_trial_requests(trial), block = trial->record.keys.block > 0 ? trial->record.keys.block : 1;
    return requests ? requests - 1 : (trial->steps - 1 + block - 1) / block;
}

/* With few blocks no run can be called steady, which is better known before it is measured. */
static void warn_of_few_blocks(const struct ys_trial_set *set)
{
    const struct ys_trial *least = NULL;
    size_t few = 0;
    for (const struct ys_trial *trial = set->items; trial < set->items + set->count; trial++) {
        if (!ys_trial_can_run(trial) || blocks_of(trial) >= YS_STEADY_MIN_BLOCKS)
            continue;
        few++;
        least = !least || blocks_of(trial) < blocks_of(least) ? trial : least;
    }
    if (least)
        ys_log_warn("too few blocks in %zu of %zu trial%s to tell where warm-up ends: %s has %lld after the first "
                    "step, %d are needed; lower `block` or raise `steps` (`requests`)",
                    few, set->count, set->count == 1 ? "" : "s", least->record.id, (long long)blocks_of(least),
                    YS_STEADY_MIN_BLOCKS);
}

static ys_status list(struct ys_study *study, const struct ys_trial *trial, struct ys_listing *listing,
                      struct estimate *sums)
{
    struct ys_listing_trial *line;
    ys_listing_add(listing, trial, &line);
    if (!ys_trial_can_run(trial))
        return YS_OK;
    if (ys_stop_signal())
        return ys_stopped();
    YS_TRY(ys_due_plan(trial, (enum ys_audits)study->keys.audit, &line->due));
    estimate(study, trial, line, listing, sums);
    return YS_OK;
}

/* Whether a trial before number `index` has the same model, and has it trained in the same way. */
static bool was_there(const struct ys_trial_set *set, size_t index)
{
    const struct ys_trial_settings *a = &set->items[index].record.keys;
    for (size_t i = 0; i < index; i++) {
        const struct ys_trial_settings *b = &set->items[i].record.keys;
        if (!set->items[i].impossible && are_same(a->model, b->model) && are_same(a->model_freeze, b->model_freeze) &&
            are_same(a->model_train, b->model_train) && are_same(a->model_tie, b->model_tie) &&
            are_same(a->model_untie, b->model_untie) && a->init == b->init)
            return true;
    }
    return false;
}

static ys_status add_file(const struct ys_trial *trial, struct ys_listing *listing)
{
    const struct ys_model_feed feed = ys_trial_feed(&trial->record.keys);
    struct ys_onnx_import *import = NULL;
    struct ys_graph *graph = NULL;
    ys_status status = ys_onnx_read(trial->record.keys.model, &feed, &import);
    if (status == YS_OK)
        status = ys_work_graph(trial, &graph);
    ys_json *notes = status == YS_OK ? ys_json_copy(import->notes) : NULL;
    if (status == YS_OK && are_same(trial->record.keys.data, "synthetic"))
        ys_json_append(notes, ys_json_string("the data are synthetic: rows drawn at random in the shape of its "
                                             "inputs, in which there is nothing to learn; data = NAME has others"));
    const bool is_file = trial->record.keys.init == YS_INIT_FROM_FILE;
    if (status == YS_OK)
        ys_json_append(notes, ys_json_string(is_file ? "the weights are those of the file"
                                                     : "the weights are drawn with the seed: init = file "
                                                       "takes those of the file"));
    if (status == YS_OK)
        ys_listing_add_file(listing, trial, graph, notes);
    ys_json_free(notes);
    ys_graph_free(graph);
    ys_onnx_import_free(import);
    return status;
}

/* What the trials' ONNX files are: what is trained of each, what reading it changed, left out and assumed. */
static ys_status add_files(const struct ys_trial_set *set, struct ys_listing *listing)
{
    for (size_t i = 0; i < set->count; i++) {
        const char *path = set->items[i].record.keys.model;
        if (path && ys_model_is_onnx(path) && !set->items[i].impossible && !was_there(set, i))
            YS_TRY(add_file(&set->items[i], listing));
    }
    return YS_OK;
}

/* With what the first of them costs, which is known before. */
static void add_looks(const struct ys_study *study, struct ys_listing *listing)
{
    struct ys_look looks[YS_LOOKS_MOST];
    const size_t count = ys_decide_looks(study, looks);
    struct ys_listing_look *made = ys_alloc(count + 1, sizeof *made);
    listing->looks = (struct ys_list){made, count};
    for (size_t i = 0; i < count; i++) {
        made[i].rounds = (int64_t)looks[i].rounds;
        made[i].runs = listing->runs / study->rounds * made[i].rounds;
        made[i].estimate_s = listing->estimate_s / (double)study->rounds * (double)made[i].rounds;
    }
    if (count && study->keys.time_limit_s > 0 && made[0].estimate_s > study->keys.time_limit_s)
        ys_log_warn(
            "the first look, after %lld rounds, will come at about %.0f s, behind the study's time limit of %g s: "
            "it would decide nothing; give it more time, or shorter runs",
            (long long)made[0].rounds, made[0].estimate_s, study->keys.time_limit_s);
}

ys_status ys_study_check(const struct ys_job *job, const struct ys_study_options *options, struct ys_store *store,
                         struct ys_listing *listing)
{
    struct ys_study study;
    struct estimate sums = {0};
    *listing = (struct ys_listing){0};
    YS_TRY(ys_study_open(job->study, job->trials, options, store, &study));
    listing->study = ys_json_copy(job->study);
    listing->runs = study.runs_total;
    /* as it was settled */
    ys_json_set_string(listing->study, "interleave", ys_name_of(&ys_interleaves, study.keys.interleave));
    ys_status status = add_files(&study.set, listing);
    for (size_t i = 0; status == YS_OK && i < study.set.count; i++)
        status = list(&study, &study.set.items[i], listing, &sums);
    if (status == YS_OK)
        add_guesses(&study, &sums, listing);
    if (status == YS_OK)
        add_looks(&study, listing);
    if (status == YS_OK)
        listing->noise = ys_noise_say(listing->study);
    warn_of_few_blocks(&study.set);
    ys_study_close(&study);
    if (status != YS_OK)
        ys_listing_fini(listing);
    return status;
}

static ys_status add_proof(struct ys_study *study, const struct ys_trial *trial, struct ys_listing *listing)
{
    struct ys_listing_trial *line;
    ys_listing_add(listing, trial, &line);
    if (!ys_trial_can_run(trial))
        return YS_OK;
    struct ys_proof *proof = ys_alloc(1, sizeof *proof);
    ys_status status = ys_study_prove_one(study, trial, proof);
    if (status != YS_OK) {
        ys_free(proof);
        return status;
    }
    line->proof = proof;
    study->proof_failed |= proof->verdict == YS_PROOF_FAIL || ys_proof_lacks_judge(proof);
    return YS_OK;
}

ys_status ys_study_verify(const struct ys_job *job, const struct ys_study_options *options, struct ys_listing *listing,
                          int *exit_code)
{
    struct ys_study study;
    *listing = (struct ys_listing){0};
    YS_TRY(ys_study_open(job->study, job->trials, options, NULL, &study));
    ys_status status = ys_study_check_cache(&study);
    if (status == YS_OK)
        status = ys_study_hold(&study);
    for (size_t i = 0; status == YS_OK && i < study.set.count; i++)
        status = add_proof(&study, &study.set.items[i], listing);
    *exit_code = study.proof_failed ? YS_EXIT_PROOF_FAILED : study.runnable ? YS_EXIT_OK : YS_EXIT_NOTHING_RAN;
    ys_study_close(&study);
    if (status != YS_OK)
        ys_listing_fini(listing);
    return status;
}

static ys_status name_framework(void *context, const char *framework, char **name)
{
    *name = ys_recipe_named(framework, context);
    return YS_OK;
}

static ys_status check_framework(void *context, const char *name)
{
    struct ys_framework *framework = NULL;
    ys_status status = ys_framework_find(name, context, &framework);
    ys_framework_free(framework);
    return status;
}

static ys_status check_option(void *context, const char *name, const char *option, const char *text, ys_json **value)
{
    struct ys_framework *framework = NULL;
    YS_TRY(ys_framework_find(name, context, &framework));
    ys_status status = ys_framework_option(framework, option, text, value);
    ys_framework_free(framework);
    return status;
}

static ys_status own_settings(void *context, const char *framework, const char *data, ys_json **own, char **reason)
{
    return ys_framework_own(framework, data, context, own, reason);
}

static ys_status forms_of(void *context, const char *name, ys_json **forms)
{
    struct ys_framework *framework = NULL;
    YS_TRY(ys_framework_find(name, context, &framework));
    *forms = ys_json_copy(framework->forms);
    ys_framework_free(framework);
    return YS_OK;
}

struct ys_job_hooks ys_study_job_hooks(const char *const *recipe_dirs)
{
    return (struct ys_job_hooks){
        .context = (void *)(uintptr_t)recipe_dirs,
        .name_framework = name_framework,
        .check_framework = check_framework,
        .check_option = check_option,
        .own_settings = own_settings,
        .forms = forms_of,
    };
}
