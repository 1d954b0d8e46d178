#include "report/view/view.h"
#include "base/mem.h"
#include "report/clean_text.h"
#include "report/draw/svg.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const ys_json *ys_view_value(const struct ys_view_trial *trial, const char *name)
{
    const ys_json *value = ys_json_get(trial->told->factors, name);
    if (!value)
        value = ys_json_get(trial->keys, name);
    return value ? value : ys_json_get(trial->told->options, name);
}

void ys_view_put_value(struct ys_buf *out, const ys_json *value)
{
    char *text;
    switch (ys_json_type_of(value)) {
    case YS_JSON_NULL:
        ys_buf_puts(out, "none");
        break;
    case YS_JSON_BOOL:
        ys_buf_puts(out, ys_json_truth(value, false) ? "on" : "off");
        break;
    case YS_JSON_STRING:
        ys_text_clean(out, ys_json_text(value, ""), false);
        break;
    default:
        text = ys_json_dump(value, YS_JSON_COMPACT);
        ys_text_clean(out, text, false);
        ys_free(text);
    }
}

static bool is_threads(const char *name)
{
    return strcmp(name, "threads") == 0;
}

bool ys_view_is_alone(const struct ys_view_trial *trial)
{
    return trial->told->threads_shared == 0;
}

const char *ys_view_joint(const struct ys_view_trial *trial, const char *name)
{
    const bool is_place = strcmp(name, "ranks") == 0 || (is_threads(name) && !ys_view_is_alone(trial));
    return is_place ? "on" : "with";
}

const char *ys_view_short_axis(const char *axis)
{
    const char *dot = strrchr(axis, '.');
    return dot && dot[1] ? dot + 1 : axis;
}

void ys_view_put_factor(struct ys_buf *out, const struct ys_view_trial *trial, const char *name, const ys_json *value)
{
    if (is_threads(name) || strcmp(name, "ranks") == 0) {
        ys_view_put_value(out, value);
        ys_buf_printf(out, " %.*s%s%s", (int)strlen(name) - 1, name, ys_json_integer(value, 0) == 1 ? "" : "s",
                      is_threads(name) && ys_view_is_alone(trial) ? " asked for" : "");
        return;
    }
    ys_text_clean(out, ys_view_short_axis(name), false);
    ys_buf_puts(out, " ");
    ys_view_put_value(out, value);
}

static const char *framework_name(const struct ys_view_trial *trial)
{
    const char *name = trial->found.name;
    return name && name[0] ? name : "unknown";
}

static const char *framework_version(const struct ys_view_trial *trial)
{
    return ys_view_or(trial->found.version, "");
}

/** {framework: its version, or null when trials have several}. */
static ys_json *find_versions(const struct ys_view *view)
{
    ys_json *found = ys_json_object();
    for (size_t i = 0; i < view->count; i++) {
        const char *name = framework_name(&view->trials[i]), *version = framework_version(&view->trials[i]);
        const ys_json *known = ys_json_get(found, name);
        if (!known)
            ys_json_set_string(found, name, version);
        else if (strcmp(ys_json_text(known, version), version) != 0)
            ys_json_set(found, name, ys_json_null());
    }
    return found;
}

static bool says_no_work(const char *reason)
{
    return reason && strstr(reason, "does no work");
}

/** The document has no word for it; the proof and the metrics say why they have nothing. */
static bool does_no_work(const struct ys_view_trial *trial)
{
    return trial->found.no_work || says_no_work(ys_view_metric(trial, "final_loss").reason) ||
           says_no_work(ys_view_metric(trial, "accuracy").reason) || says_no_work(trial->proof.reason);
}

bool ys_view_is_common(const struct ys_view *view, enum ys_view_member of, const char *name, const ys_json *value)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct ys_view_trial *trial = &view->trials[i];
        const ys_json *other = ys_json_get(of == YS_VIEW_FACTORS ? trial->told->factors : trial->keys, name);
        if (!other || !ys_json_equal(other, value))
            return false;
    }
    return true;
}

static const char *section_of(const struct ys_view_trial *trial)
{
    return ys_view_or(trial->told->section, "");
}

/** `seen` is {factor: true} of those that were looked at. */
static void find_axes(struct ys_view *view, ys_json *seen)
{
    view->axes = ys_json_array();
    for (size_t i = 0; i < view->count; i++) {
        const ys_json *factors = view->trials[i].told->factors;
        view->many_sections |= strcmp(section_of(&view->trials[0]), section_of(&view->trials[i])) != 0;
        for (void *it = ys_json_iter(factors); it; it = ys_json_next(factors, it)) {
            const char *name = ys_json_iter_key(it);
            if (strcmp(name, "framework") == 0 || ys_json_get(seen, name))
                continue;
            ys_json_set_bool(seen, name, true);
            if (!ys_view_is_common(view, YS_VIEW_FACTORS, name, ys_json_iter_value(it)))
                ys_json_append(view->axes, ys_json_string(name));
        }
    }
}

static void name_trial(const struct ys_view *view, const ys_json *all_versions, struct ys_view_trial *trial)
{
    struct ys_buf name = {0};
    const char *version = framework_version(trial);
    bool versions = ys_json_type_of(ys_json_get(all_versions, framework_name(trial))) == YS_JSON_NULL;
    ys_text_clean(&name, framework_name(trial), false);
    if (versions) {
        ys_buf_puts(&name, "@");
        ys_text_clean(&name, version[0] ? version : "unknown", false);
    }
    trial->framework = ys_buf_take(&name);
    const char *title = ys_view_or(trial->found.title, "");
    ys_text_clean(&name, title[0] ? title : framework_name(trial), false);
    if (versions && version[0]) {
        ys_buf_puts(&name, " ");
        ys_text_clean(&name, version, false);
    }
    trial->title = ys_buf_take(&name);
    ys_buf_puts(&name, trial->framework);
    for (size_t i = 0; i < ys_view_axes(view); i++) {
        const ys_json *value = ys_json_get(trial->told->factors, ys_view_axis(view, i));
        if (value) {
            ys_buf_puts(&name, ", ");
            ys_view_put_factor(&name, trial, ys_view_axis(view, i), value);
        }
    }
    if (view->many_sections) {
        ys_buf_puts(&name, " (");
        ys_text_clean(&name, section_of(trial), false);
        ys_buf_puts(&name, ")");
    }
    trial->name = ys_buf_take(&name);
}

static void judge_trial(struct ys_view_trial *trial)
{
    const struct ys_result_trial *told = trial->told;
    trial->id = ys_view_or(told->id, "");
    trial->status = told->status == YS_NAME_NONE ? YS_RUN_SKIPPED : (enum ys_run_status)told->status;
    trial->runs = told->runs;
    trial->failed = told->failed;
    bool tried =
        trial->status != YS_RUN_MISSING && trial->status != YS_RUN_UNSUPPORTED && trial->status != YS_RUN_SKIPPED;
    bool all_failed = trial->status != YS_RUN_OK && trial->failed >= trial->runs;
    trial->measured = tried && !all_failed && trial->runs > trial->failed;
    trial->no_work = does_no_work(trial);
}

/** Gives equal names their number; `names` is {name: true} of the trials before. */
static void tell_apart(struct ys_view_trial *trial, size_t place, ys_json *names)
{
    if (ys_json_get(names, trial->name)) {
        char *name = ys_format("%s #%zu", trial->name, place + 1);
        ys_free(trial->name);
        trial->name = name;
    }
    ys_json_set_bool(names, trial->name, true);
}

/** Counts frameworks and their trials; `frameworks` is {framework: the last trial of it}. */
static void count_trial(struct ys_view *view, size_t place, ys_json *frameworks)
{
    struct ys_view_trial *trial = &view->trials[place];
    int64_t last = ys_json_get_int(frameworks, trial->framework, -1);
    trial->group = last < 0 ? (int)ys_json_size(frameworks) : view->trials[last].group;
    trial->member = last < 0 ? 0 : view->trials[last].member + 1;
    ys_json_set_int(frameworks, trial->framework, (int64_t)place);
}

/** Groups of trials that do work. */
static size_t count_working(const struct ys_view *view)
{
    size_t count = 0;
    for (size_t i = 0; i < view->count; i++) {
        bool is_first = !view->trials[i].no_work;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = view->trials[k].group != view->trials[i].group;
        count += is_first;
    }
    return count;
}

static void number_trials(struct ys_view *view)
{
    ys_json *names = ys_json_object(), *frameworks = ys_json_object();
    view->places = ys_json_object();
    for (size_t i = 0; i < view->count; i++) {
        struct ys_view_trial *trial = &view->trials[i];
        tell_apart(trial, i, names);
        count_trial(view, i, frameworks);
        if (!ys_json_get(view->places, trial->id))
            ys_json_set_int(view->places, trial->id, (int64_t)i);
    }
    view->frameworks = count_working(view);
    view->works_at_all = view->frameworks > 0;
    if (view->frameworks == 0)
        view->frameworks = ys_json_size(frameworks);
    const bool alone = view->frameworks == 1;
    for (size_t i = 0; i < view->count; i++) {
        struct ys_view_trial *trial = &view->trials[i];
        trial->hue = alone ? trial->member : trial->group;
        trial->dashes = alone ? trial->member / YS_SVG_GROUPS : trial->member;
    }
    ys_json_free(names);
    ys_json_free(frameworks);
}

static void name_trials(struct ys_view *view)
{
    ys_json *seen = ys_json_object(), *versions = find_versions(view);
    find_axes(view, seen);
    for (size_t i = 0; i < view->count; i++) {
        judge_trial(&view->trials[i]);
        name_trial(view, versions, &view->trials[i]);
    }
    ys_json_free(seen);
    ys_json_free(versions);
    number_trials(view);
}

/* Of all works, where they have one; documents that were stored by earlier versions say none. */
static void read_unit(struct ys_view *view)
{
    const char *unit = NULL;
    for (size_t i = 0; i < view->work_count; i++) {
        const char *own = ys_view_or(view->works[i].unit, "rows");
        unit = !unit || strcmp(unit, own) == 0 ? own : "rows";
    }
    struct ys_buf clean = {0};
    ys_text_clean(&clean, unit ? unit : "rows", false);
    view->unit = ys_strdup(ys_buf_text(&clean));
    ys_buf_free(&clean);
}

bool ys_view_counts(const struct ys_view_trial *trial)
{
    return trial->measured && !trial->no_work && ys_view_verdict(trial) != YS_PROOF_FAIL;
}

static int by_speed(const void *x, const void *y)
{
    const struct ys_view_trial *a = *(const struct ys_view_trial *const *)x,
                               *b = *(const struct ys_view_trial *const *)y;
    const double speed_a = ys_view_number(a, "rate_per_s"), speed_b = ys_view_number(b, "rate_per_s"),
                 of_a = isfinite(speed_a) ? speed_a : -INFINITY, of_b = isfinite(speed_b) ? speed_b : -INFINITY;
    if (of_a != of_b)
        return of_a < of_b ? 1 : -1;
    return (a > b) - (a < b);
}

/* `told` is NULL of a document of earlier versions, where all of its trials are one group. */
static void find_group(const struct ys_view *view, const struct ys_result_group *told, struct ys_view_group *group)
{
    const size_t count = told ? told->trials.count : view->count;
    group->trials = ys_alloc(count + 1, sizeof(struct ys_view_trial *));
    for (size_t i = 0; i < count; i++) {
        const struct ys_view_trial *trial =
            told ? ys_view_find(view, ((char *const *)told->trials.items)[i]) : &view->trials[i];
        if (trial)
            group->trials[group->count++] = trial;
    }
    qsort(group->trials, group->count, sizeof *group->trials, by_speed);
    while (group->measured < group->count && isfinite(ys_view_number(group->trials[group->measured], "rate_per_s")))
        group->measured++;
    group->best = told && told->best ? ys_view_find(view, told->best) : NULL;
    for (size_t i = 0; !told && !group->best && i < group->measured; i++)
        group->best = ys_view_counts(group->trials[i]) ? group->trials[i] : NULL;
}

static void find_groups(struct ys_view *view)
{
    const struct ys_result_group *told = view->told_groups->items;
    const size_t count = told ? view->told_groups->count : 1;
    view->groups = ys_alloc(count, sizeof *view->groups);
    for (; view->group_count < count; view->group_count++)
        find_group(view, told ? &told[view->group_count] : NULL, &view->groups[view->group_count]);
}

void ys_view_init(struct ys_view *view, const struct ys_result *result)
{
    *view = (struct ys_view){0};
    ys_view_read(view, result);
    read_unit(view);
    name_trials(view);
    find_groups(view);
}

void ys_view_fini(struct ys_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        ys_free(view->trials[i].framework);
        ys_free(view->trials[i].title);
        ys_free(view->trials[i].name);
        ys_json_free(view->trials[i].keys);
    }
    for (size_t i = 0; i < view->group_count; i++)
        ys_free(view->groups[i].trials);
    ys_free(view->groups);
    ys_free(view->trials);
    ys_free(view->works);
    ys_free(view->unit);
    ys_json_free(view->axes);
    ys_json_free(view->places);
    *view = (struct ys_view){0};
}

bool ys_view_is_known(const struct ys_view *view, const char *name)
{
    for (size_t i = 0; i < view->count; i++)
        if (isfinite(ys_view_number(&view->trials[i], name)))
            return true;
    return false;
}

bool ys_view_has_mode(const struct ys_view *view, enum ys_mode mode)
{
    for (size_t i = 0; i < view->count; i++)
        if (view->trials[i].told->keys.mode == (int)mode)
            return true;
    return false;
}

const struct ys_view_trial *ys_view_find(const struct ys_view *view, const char *id)
{
    int64_t place = ys_json_get_int(view->places, id, -1);
    return place < 0 ? NULL : &view->trials[place];
}

size_t ys_view_axes(const struct ys_view *view)
{
    return ys_json_size(view->axes);
}

const char *ys_view_axis(const struct ys_view *view, size_t index)
{
    return ys_json_text(ys_json_at(view->axes, index), "");
}

double ys_view_number(const struct ys_view_trial *trial, const char *name)
{
    return trial->measured ? ys_view_metric(trial, name).value : NAN;
}

struct ys_measure ys_view_measure(struct ys_view_metric metric)
{
    return ys_measure(metric.kind, metric.value, metric.lo, metric.hi);
}

struct ys_label ys_view_label(struct ys_view_metric metric)
{
    struct ys_label label = ys_label_value(metric.kind, metric.value),
                    limit = ys_label_value(metric.kind, metric.limit);
    if (isinf(metric.value))
        snprintf(label.text, sizeof label.text, "more than %.30s", limit.text);
    return label;
}

enum ys_proof_verdict ys_view_verdict(const struct ys_view_trial *trial)
{
    const int verdict = trial->proof.verdict;
    return verdict == YS_NAME_NONE ? YS_PROOF_NONE : (enum ys_proof_verdict)verdict;
}

const char *ys_view_verdict_word(const struct ys_result_comparison *comparison)
{
    const int verdict = comparison->told.verdict;
    return ys_name_of(&ys_verdicts, verdict == YS_NAME_NONE ? (int)YS_VERDICT_UNCLEAR : verdict);
}

const char *ys_view_proof_mark(const struct ys_view_trial *trial)
{
    static const char *const marks[] = {
        [YS_PROOF_PASS] = "", [YS_PROOF_WEAK] = " *", [YS_PROOF_FAIL] = " !", [YS_PROOF_NONE] = " ?"};
    const enum ys_proof_verdict verdict = ys_view_verdict(trial);
    if ((trial->no_work || !trial->measured) && verdict != YS_PROOF_FAIL)
        return "";
    return verdict == YS_PROOF_PASS && ys_json_size(trial->told->doubts) > 0 ? " ~" : marks[verdict];
}
