#include "metric/result/run_warnings.h"

#include "base/mem.h"
#include "metric/compare/decision_looks.h"
#include "metric/json_builder.h"
#include "metric/result_document.h"
#include "stat/steady.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void ys_warn_of_wire(ys_json *array, const struct ys_metric_view_trial *trial, enum ys_wire_fault fault)
{
    char said[400], text[440];
    for (size_t r = 0; r < trial->run_count; r++) {
        const struct ys_metric_view_run *run = &trial->runs[r];
        if (!run->counted || !run->ok ||
            ys_wire_judge(&run->facts, trial->record->keys.precision, said, sizeof said) != fault)
            continue;
        snprintf(text, sizeof text, "in round %lld %s", (long long)run->round + 1, said);
        ys_add_text_once(array, text);
        return;
    }
}

int64_t ys_warnings_planned(const struct ys_metric_view *view, const struct ys_metric_view_trial *trial)
{
    return ys_trial_record_can_run(trial->record) ? ys_moments_rounds(view) : 0;
}

int64_t ys_warnings_lacking(const struct ys_metric_view *view, const struct ys_metric_view_trial *trial)
{
    int64_t missing = ys_warnings_planned(view, trial) - (int64_t)trial->counted;
    return missing > 0 ? missing : 0;
}

/* Rounds that others have and this trial has not. */
static int64_t lacks(const struct ys_metric_view *view, const struct ys_metric_view_trial *trial)
{
    size_t most = 0;
    for (size_t i = 0; i < view->rounds.count; i++)
        most += view->rounds.items[i].present > 0;
    return trial->counted >= most && !trial->record->given_up ? 0 : ys_warnings_lacking(view, trial);
}

static void warn_of_lacking(ys_json *array, const struct ys_metric_view *view, const struct ys_metric_view_trial *trial)
{
    const struct ys_trial_given_up *given_up = trial->record->given_up;
    char text[300];
    if (!lacks(view, trial))
        return;
    snprintf(text, sizeof text, "%lld of %lld rounds have no run of it%s%s",
             (long long)ys_warnings_lacking(view, trial), (long long)ys_warnings_planned(view, trial),
             given_up ? ": it " : "", given_up && given_up->reason ? given_up->reason : "");
    ys_add_text_once(array, text);
}

static void warn_of_disturbed(ys_json *array, const struct ys_metric_view_trial *trial)
{
    char text[300];
    for (size_t r = 0; r < trial->run_count; r++) {
        const struct ys_metric_view_run *run = &trial->runs[r];
        char *const *causes = run->facts.disturbed.items;
        if (!run->counted || !run->disturbed)
            continue;
        snprintf(text, sizeof text, "%zu of %zu runs were disturbed; in round %lld %s", trial->disturbed,
                 trial->counted, (long long)run->round + 1, causes[0]);
        ys_add_text_once(array, text);
        return;
    }
}

/* Runs whose speed is of no steady part: too short to tell, or not steady; and those that are ok. */
struct unsettled {
    size_t few, unsteady, ok;
};

static struct unsettled count_unsettled(const struct ys_metric_view_trial *trial)
{
    struct unsettled found = {0};
    for (size_t r = 0; r < trial->run_count; r++) {
        const struct ys_metric_view_run *run = &trial->runs[r];
        bool steady = !run->counted || !run->ok || ys_metric_view_metric(run, "rate_per_s")->steady != 0;
        found.ok += run->counted && run->ok;
        found.unsteady += !steady && isfinite(run->windows.drift);
        found.few += !steady && !isfinite(run->windows.drift);
    }
    return found;
}

static void warn_of_unsettled(ys_json *array, const struct unsettled *found)
{
    char text[200];
    if (found->few) {
        snprintf(text, sizeof text,
                 "%zu of %zu runs have too few blocks to tell where warm-up ends, %d are needed: their speed is that "
                 "of the last half",
                 found->few, found->ok, YS_STEADY_MIN_BLOCKS);
        ys_add_text_once(array, text);
    }
    if (found->unsteady) {
        snprintf(text, sizeof text, "no steady part was found in %zu of %zu runs: their speed is that of the last half",
                 found->unsteady, found->ok);
        ys_add_text_once(array, text);
    }
}

/* One more run of a kind; of `text`, NULL but of YS_WARNED_SAID. */
static void count(struct ys_list *warned, enum ys_warned kind, size_t runs, const char *text)
{
    struct ys_result_warned *known = warned->items, *found = NULL;
    for (size_t i = 0; i < warned->count; i++)
        if (known[i].kind == (int)kind && (!text || strcmp(known[i].text, text) == 0))
            found = &known[i];
    if (runs == 0)
        return;
    if (!found) {
        found = ys_list_add(&ys_result_warned_record, warned);
        found->kind = (int)kind;
        found->runs = 0;
        found->text = ys_strdup(text);
    }
    found->runs += (int64_t)runs;
}

ys_json *ys_warnings_find(const struct ys_metric_view *view, const struct ys_metric_view_trial *trial,
                          struct ys_list *warned)
{
    ys_json *array = ys_json_array();
    const struct unsettled unsettled = count_unsettled(trial);
    ys_warn_of_wire(array, trial, YS_WIRE_MORE);
    for (size_t r = 0; r < trial->run_count; r++) {
        const struct ys_metric_view_run *run = &trial->runs[r];
        char *const *said = run->facts.warnings.items;
        for (size_t i = 0; i < run->facts.warnings.count; i++) {
            ys_add_text_once(array, said[i]);
            count(warned, YS_WARNED_SAID, 1, said[i]);
        }
    }
    warn_of_unsettled(array, &unsettled);
    warn_of_disturbed(array, trial);
    warn_of_lacking(array, view, trial);
    count(warned, YS_WARNED_SHORT, unsettled.few, NULL);
    count(warned, YS_WARNED_UNSTEADY, unsettled.unsteady, NULL);
    count(warned, YS_WARNED_DISTURBED, trial->disturbed, NULL);
    count(warned, YS_WARNED_LACKING, (size_t)lacks(view, trial), NULL);
    return array;
}
