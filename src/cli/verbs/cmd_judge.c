/* compare, gate, history, results import: verdicts across studies. */
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number_text.h"
#include "base/stop.h"
#include "cli/command.h"
#include "cli/verbs/confirm.h"
#include "job/settings.h"
#include "judge/gate.h"
#include "judge/history.h"
#include "judge/study_pair.h"
#include "report/judged/judged.h"
#include "store/import_study.h"
#include "study/study.h"

#include <math.h>
#include <string.h>

/* --margin as a job has it; NaN: as the base's study says. */
static ys_status margin_of(const struct ys_args *args, double *margin)
{
    *margin = NAN;
    if (args->margin && (!ys_value_real(args->margin, margin) || !(*margin >= 0) || *margin > 1))
        return ys_fail(YS_EINVAL, "--margin=%s: write a share from 0 to 1, such as 0.02", args->margin);
    return YS_OK;
}

static void print_two(const struct ys_args *args, const struct ys_judged *judged, ys_json *all, struct ys_buf *out)
{
    if (args->format == YS_FORMAT_JSON) {
        ys_json_append(all, ys_record_json(&ys_judged_record, judged));
        return;
    }
    if (out->size)
        ys_buf_puts(out, "\n");
    ys_report_judged(judged, ys_command_width(), ys_command_colour(), out);
}

static ys_status compare_with(const struct ys_args *args, const struct ys_side *base, const char *word, double margin,
                              ys_json *all, struct ys_buf *out)
{
    struct ys_side candidate;
    struct ys_judged judged;
    YS_TRY(ys_side_load(ys_command_results(args), word, &candidate));
    ys_judge_two(base, &candidate, margin, NULL, &judged);
    ys_status status = args->confirm ? ys_confirm_judged(args, base, &candidate, &judged) : YS_OK;
    ys_side_fini(&candidate);
    if (status == YS_OK)
        print_two(args, &judged, all, out);
    ys_record_fini(&ys_judged_record, &judged);
    return status;
}

static ys_status compare(const struct ys_args *args, ys_json *all, struct ys_buf *out)
{
    struct ys_side base;
    double margin;
    if (args->word_count < 2)
        return ys_fail(YS_EINVAL, "compare needs two studies: yardstick compare BASE CANDIDATE, each a SELECTOR or a "
                                  "file that `export` wrote");
    YS_TRY(margin_of(args, &margin));
    YS_TRY(ys_side_load(ys_command_results(args), args->words[0], &base));
    ys_status status = YS_OK;
    for (size_t i = 1; status == YS_OK && i < args->word_count; i++)
        status = compare_with(args, &base, args->words[i], margin, all, out);
    ys_side_fini(&base);
    return status;
}

/* One judgement as it is, several as an array. */
static int print_json(ys_json *all)
{
    ys_json *one = ys_json_size(all) == 1 ? ys_json_ref(ys_json_at(all, 0)) : ys_json_ref(all);
    ys_json_free(all);
    return ys_command_print_json(one);
}

int ys_command_compare(const struct ys_args *args)
{
    struct ys_buf out = {0};
    ys_json *all = ys_json_array();
    if (!args->confirm)
        ys_stop_release(0);
    ys_status status = compare(args, all, &out);
    if (status == YS_OK && args->format == YS_FORMAT_JSON)
        return print_json(all);
    ys_json_free(all);
    if (status == YS_OK)
        return ys_command_print(&out);
    ys_buf_free(&out);
    return ys_command_fail(status);
}

static ys_status rules_of(const struct ys_args *args, struct ys_rules *rules)
{
    for (const char **rule = args->rules; *rule; rule++)
        YS_TRY(ys_rules_add(rules, *rule));
    if (args->rule_file)
        YS_TRY(ys_rules_read(rules, args->rule_file));
    return rules->count ? YS_OK : ys_rules_default(rules);
}

static void print_gate(const struct ys_args *args, const struct ys_gate *gate, struct ys_buf *out)
{
    if (args->format == YS_FORMAT_MD) {
        ys_report_gate_markdown(gate, out);
    } else if (args->format == YS_FORMAT_JUNIT) {
        ys_report_gate_junit(gate, out);
    } else if (args->format != YS_FORMAT_JSON) {
        ys_report_gate(gate, ys_command_width(), ys_command_colour(), out);
    } else {
        ys_json *json = ys_record_json(&ys_gate_record, gate);
        char *text = ys_json_dump(json, YS_JSON_INDENT);
        ys_buf_printf(out, "%s\n", text);
        ys_free(text);
        ys_json_free(json);
    }
}

/* Whether the candidate is a study that is still to be run: a file of that name which no `export` wrote. */
static bool runs_candidate(const struct ys_args *args)
{
    const char *word = args->word_count > 1 ? args->words[1] : "";
    const size_t length = strlen(word);
    return length > 3 && strcmp(word + length - 3, ".ys") == 0;
}

static ys_status run_study(const struct ys_args *args, const struct ys_job *job, struct ys_store *store,
                           struct ys_side *candidate)
{
    const struct ys_study_options options = {.recipe_dirs = args->recipe_dirs, .command = args->command};
    int64_t study_id = 0;
    int exit_code = 0;
    YS_TRY(ys_study_run(job, &options, store, &study_id, &exit_code));
    if (ys_stop_signal())
        return ys_stopped();
    ys_log_info("study %lld of %s is measured", (long long)study_id, ys_store_folder(store));
    return ys_side_load_stored(store, study_id, 0, args->words[1], candidate);
}

/* Runs the study as `run` would, into its own results folder or --results. */
static ys_status load_by_running(const struct ys_args *args, struct ys_side *candidate)
{
    struct ys_job_hooks hooks = ys_study_job_hooks(args->recipe_dirs);
    struct ys_study_settings settings;
    struct ys_store *store = NULL;
    struct ys_job job = {0};
    if (!ys_fs_exists(args->words[1]))
        return ys_fail(YS_EINVAL, "there is no study file %s; `yardstick init %s` writes an example", args->words[1],
                       args->words[1]);
    ys_status status = ys_job_load(args->words[1], NULL, 0, &hooks, &job);
    if (status != YS_OK)
        return status == YS_EIO ? YS_EINVAL : status;
    ys_study_settings_read(job.study, &settings);
    status = ys_store_open(args->results || !settings.results ? ys_command_results(args) : settings.results,
                           YS_STORE_WRITE, &store);
    if (status == YS_OK)
        status = run_study(args, &job, store, candidate);
    ys_store_close(store);
    ys_job_fini(&job);
    return status;
}

/* The baseline is read first: what is wrong with it is said before anything is measured, and `last` is the study before
 * the one that is run. */
static ys_status judge_gate(const struct ys_args *args, const struct ys_rules *rules, struct ys_gate *gate)
{
    struct ys_side base, candidate;
    const char *results = ys_command_results(args);
    YS_TRY(ys_side_load_single(results, args->words[0], &base));
    ys_status status = runs_candidate(args)
                           ? load_by_running(args, &candidate)
                           : ys_side_load(results, args->word_count > 1 ? args->words[1] : "last", &candidate);
    if (status == YS_OK) {
        status = ys_gate_judge(&base, &candidate, rules, gate);
        if (status == YS_OK && args->confirm && gate->outcome != YS_GATE_HOLDS) {
            status = ys_confirm_gate(args, &base, &candidate, rules, gate);
            if (status != YS_OK)
                ys_record_fini(&ys_gate_record, gate);
        }
        ys_side_fini(&candidate);
    }
    ys_side_fini(&base);
    return status;
}

static ys_status gate_of(const struct ys_args *args, struct ys_gate *gate)
{
    struct ys_rules rules = {0};
    if (args->word_count == 0)
        return ys_fail(YS_EINVAL, "say against what: yardstick gate BASELINE [SELECTOR] --rule='rate_per_s >= -3 %%'");
    ys_status status = rules_of(args, &rules);
    if (status == YS_OK)
        status = judge_gate(args, &rules, gate);
    ys_rules_fini(&rules);
    return status;
}

int ys_command_gate(const struct ys_args *args)
{
    static const int codes[] = {[YS_GATE_HOLDS] = 0, [YS_GATE_BROKEN] = 3, [YS_GATE_OPEN] = 4};
    struct ys_gate gate;
    struct ys_buf out = {0};
    if (!args->confirm && !runs_candidate(args))
        ys_stop_release(0);
    ys_status status = gate_of(args, &gate);
    if (status != YS_OK)
        return ys_command_fail(status);
    print_gate(args, &gate, &out);
    int code = codes[gate.outcome];
    ys_record_fini(&ys_gate_record, &gate);
    const int printed = ys_command_print(&out);
    return printed ? printed : code;
}

static ys_status history_of(const struct ys_args *args, struct ys_history *history)
{
    struct ys_store *store = NULL;
    int64_t study_id = 0, trial_id = 0;
    YS_TRY(ys_store_open(ys_command_results(args), YS_STORE_READ, &store));
    ys_status status = ys_store_select(store, args->word_count ? args->words[0] : "last", &study_id, &trial_id);
    if (status == YS_OK)
        status = ys_history_load(store, study_id, trial_id, args->metric ? args->metric : "rate_per_s", history);
    ys_store_close(store);
    return status;
}

int ys_command_history(const struct ys_args *args)
{
    struct ys_history history;
    struct ys_buf out = {0};
    ys_stop_release(0);
    ys_status status = history_of(args, &history);
    if (status != YS_OK)
        return ys_command_fail(status);
    if (args->format == YS_FORMAT_JSON) {
        ys_json *json = ys_record_json(&ys_history_record, &history);
        ys_record_fini(&ys_history_record, &history);
        return ys_command_print_json(json);
    }
    ys_report_history(&history, ys_command_width(), ys_command_colour(), &out);
    ys_record_fini(&ys_history_record, &history);
    return ys_command_print(&out);
}

static ys_status import_results(const struct ys_args *args, int64_t *study_id)
{
    struct ys_store *store = NULL;
    if (args->word_count != 2 || strcmp(args->words[0], "import") != 0)
        return ys_fail(YS_EINVAL, "write: yardstick results import FILE, a file that `yardstick export` wrote");
    if (!ys_fs_exists(args->words[1]) || ys_fs_is_dir(args->words[1]))
        return ys_fail(YS_ENOTFOUND, "%s: there is no such file", args->words[1]);
    YS_TRY(ys_store_open(ys_command_results(args), YS_STORE_WRITE, &store));
    bool was_there = false;
    ys_status status = ys_store_import(store, args->words[1], study_id, &was_there);
    ys_store_close(store);
    if (status == YS_OK && was_there)
        ys_log_info("%s is study %lld already: nothing was added", args->words[1], (long long)*study_id);
    return status;
}

int ys_command_results_import(const struct ys_args *args)
{
    struct ys_buf out = {0};
    int64_t study_id = 0;
    ys_stop_release(0);
    ys_status status = import_results(args, &study_id);
    if (status != YS_OK)
        return ys_command_fail(status);
    ys_buf_printf(&out, "%lld\n", (long long)study_id);
    return ys_command_print(&out);
}
