/* The parts of view.h that make words. */
#include "base/mem.h"
#include "metric/metric.h"
#include "report/clean_text.h"
#include "report/view/view.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *ys_view_metric_title(const char *name)
{
    const struct ys_metric_info *info = ys_metric_find(name);
    return info ? info->title : name;
}

struct ys_label ys_view_metric_head(const char *name, bool narrow)
{
    const struct ys_metric_info *info = ys_metric_find(name);
    const char *head = info && info->head ? info->head : info ? info->title : name;
    struct ys_label label;
    size_t end = 0;
    while (narrow && head[end] && head[end] != '-' && !(head[end] == ' ' && isalpha((unsigned char)head[end + 1])))
        end++;
    if (narrow && head[end])
        snprintf(label.text, sizeof label.text, "%.*s\n%s", (int)end + (head[end] == '-'), head, head + end + 1);
    else
        snprintf(label.text, sizeof label.text, "%s", head);
    if (!narrow)
        label.text[0] = (char)toupper((unsigned char)label.text[0]);
    return label;
}

const char *ys_view_part(const char *name)
{
    const struct ys_metric_info *info = ys_metric_find(name);
    return info ? info->part : name;
}

struct ys_label ys_view_part_head(const char *name, bool narrow)
{
    const struct ys_metric_info *info = ys_metric_find(name);
    struct ys_label label;
    snprintf(label.text, sizeof label.text, "%s", narrow && info ? info->part_head : ys_view_part(name));
    if (!narrow)
        label.text[0] = (char)toupper((unsigned char)label.text[0]);
    return label;
}

const char *ys_view_ratio_words(const char *name)
{
    const struct ys_metric_info *info = ys_metric_find(name);
    return info ? info->ratio : "its value";
}

enum ys_kind ys_view_kind(const char *name)
{
    const struct ys_metric_info *info = ys_metric_find(name);
    return info ? info->kind : YS_KIND_NUMBER;
}

/** ": text", cleaned, without the blanks and stops at its end. */
static void put_part(struct ys_buf *out, const char *before, const char *text)
{
    size_t length = strlen(text);
    while (length > 0 && strchr(" .\n\r\t", text[length - 1]))
        length--;
    char *part = ys_strndup(text, length);
    if (part && part[0]) {
        ys_buf_puts(out, before);
        ys_text_clean(out, part, false);
    }
    ys_free(part);
}

void ys_view_put_failure(struct ys_buf *out, const struct ys_view_trial *trial)
{
    if (trial->status == YS_RUN_OK && trial->failed == 0)
        return;
    const char *reason = ys_view_or(trial->told->reason, "");
    const char *command = ys_view_or(trial->told->command, "");
    const char *stage = ys_stage_name(trial->told->stage);
    const char *word = trial->status == YS_RUN_OK ? "failed" : ys_run_status_name(trial->status);
    if (trial->failed > 0 && trial->runs > 0)
        ys_buf_printf(out, "%lld of %lld runs ", (long long)trial->failed, (long long)trial->runs);
    ys_buf_puts(out, word);
    if (stage)
        ys_buf_printf(out, " (%s)", stage);
    put_part(out, ": ", reason);
    if (command[0] && !strstr(reason, command)) {
        put_part(out, "; to get it: `", command);
        ys_buf_puts(out, "`");
    }
}

const char *ys_view_no_run(const struct ys_view_trial *trial)
{
    return trial->found.emulated ? "emulated" : "no complete run";
}

/** The value that tells the two apart: the framework's name, or "2 threads". */
static void put_side(struct ys_buf *out, const struct ys_view_trial *trial, const char *varies)
{
    if (strcmp(varies, "framework") == 0)
        ys_buf_puts(out, trial->framework);
    else
        ys_view_put_factor(out, trial, varies, ys_view_value(trial, varies));
}

void ys_view_put_pair(struct ys_buf *out, const struct ys_view *view, const struct ys_result_comparison *comparison)
{
    const char *a_id = ys_view_or(comparison->told.a, "?"), *b_id = ys_view_or(comparison->told.b, "?");
    const struct ys_view_trial *a = ys_view_find(view, a_id), *b = ys_view_find(view, b_id);
    const char *varies = ys_view_or(comparison->told.varies, "");
    bool known = a && b && (strcmp(varies, "framework") == 0 || (ys_view_value(a, varies) && ys_view_value(b, varies)));
    if (!known) {
        ys_text_clean(out, a ? a->name : a_id, false);
        ys_buf_puts(out, " vs ");
        ys_text_clean(out, b ? b->name : b_id, false);
        return;
    }
    put_side(out, a, varies);
    ys_buf_puts(out, " vs ");
    put_side(out, b, varies);
    if (strcmp(varies, "framework") != 0)
        ys_buf_printf(out, ", %s", a->framework);
    for (size_t i = 0; i < ys_view_axes(view); i++) {
        const char *axis = ys_view_axis(view, i);
        const ys_json *value = ys_json_get(a->told->factors, axis);
        if (value && strcmp(axis, varies) != 0) {
            ys_buf_puts(out, ", ");
            ys_view_put_factor(out, a, axis, value);
        }
    }
    if (view->many_sections) {
        ys_buf_puts(out, " (");
        ys_text_clean(out, ys_view_or(a->told->section, ""), false);
        ys_buf_puts(out, ")");
    }
}

/* What libraries say of themselves, without what stands in brackets and what follows their version: "Intel oneAPI Math
 * Kernel Library Version 2024.2" is said to be for what, and built when, in JSON. */
static void put_libraries(struct ys_buf *out, const char *text)
{
    static const char *const ends[] = {"-Product", " for Intel"};
    struct ys_buf whole = {0}, brief = {0};
    ys_text_clean(&whole, text, false);
    for (const char *at = ys_buf_text(&whole); *at;) {
        if (*at == '(' && strchr(at, ')')) {
            at = strchr(at, ')') + 1;
            while (brief.size > 0 && brief.data[brief.size - 1] == ' ' && (!*at || strchr(" ,;)", *at)))
                brief.data[--brief.size] = 0;
            continue;
        }
        bool cut = false;
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
            cut |= strncmp(at, ends[i], strlen(ends[i])) == 0;
        if (cut)
            at += strcspn(at, ",;");
        else
            ys_buf_append(&brief, at++, 1);
    }
    ys_buf_puts(out, ys_buf_text(&brief));
    ys_buf_free(&whole);
    ys_buf_free(&brief);
}

void ys_view_put_difference(struct ys_buf *out, const struct ys_difference *difference)
{
    if (difference->what == YS_DIFFERENCE_LIBRARIES)
        put_libraries(out, difference->text);
    else
        ys_text_clean(out, difference->text, false);
}

ys_json *ys_view_common(const struct ys_view *view)
{
    static const char *const first[] = {"mode",     "model",     "data",    "batch",    "epochs",       "steps",
                                        "requests", "optimizer", "lr",      "momentum", "weight_decay", "schedule",
                                        "loss",     "precision", "threads", "device",   "block",        "compare"};
    ys_json *found = ys_json_object();
    const ys_json *keys = view->count ? view->trials[0].keys : NULL;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        const ys_json *value = ys_json_get(keys, first[i]);
        if (value && ys_json_type_of(value) != YS_JSON_NULL && ys_view_is_common(view, YS_VIEW_KEYS, first[i], value))
            ys_json_set(found, first[i], ys_json_copy(value));
    }
    for (void *it = ys_json_iter(keys); it; it = ys_json_next(keys, it)) {
        const ys_json *value = ys_json_iter_value(it);
        const char *key = ys_json_iter_key(it);
        if (!ys_json_get(found, key) && strcmp(key, "framework") != 0 && ys_json_type_of(value) != YS_JSON_NULL &&
            ys_view_is_common(view, YS_VIEW_KEYS, key, value))
            ys_json_set(found, key, ys_json_copy(value));
    }
    return found;
}

void ys_view_put_name_without(struct ys_buf *out, const struct ys_view *view, const struct ys_view_trial *trial,
                              const char *without)
{
    ys_buf_puts(out, trial->title);
    for (size_t i = 0; i < ys_view_axes(view); i++) {
        const char *axis = ys_view_axis(view, i);
        const ys_json *value = ys_view_value(trial, axis);
        if (strcmp(axis, without) == 0 || !value)
            continue;
        ys_buf_puts(out, ", ");
        ys_view_put_factor(out, trial, axis, value);
    }
    if (view->many_sections) {
        ys_buf_puts(out, " (");
        ys_text_clean(out, ys_view_or(trial->told->section, ""), false);
        ys_buf_puts(out, ")");
    }
}

bool ys_view_is_alike(const struct ys_view_group *group, const char *factor)
{
    const ys_json *first = group->count ? ys_json_get(group->trials[0]->told->factors, factor) : NULL;
    for (size_t i = 0; i < group->count; i++) {
        const ys_json *value = ys_json_get(group->trials[i]->told->factors, factor);
        if (!value || !first || !ys_json_equal(value, first))
            return false;
    }
    return group->count > 0;
}

void ys_view_put_phrase(struct ys_buf *out, const struct ys_view *view, const struct ys_view_trial *trial,
                        const struct ys_view_group *group)
{
    bool with = false;
    ys_buf_puts(out, trial->title);
    for (size_t i = 0; i < ys_view_axes(view); i++) {
        const char *axis = ys_view_axis(view, i);
        const ys_json *value = ys_json_get(trial->told->factors, axis);
        const char *joint = ys_view_joint(trial, axis);
        if (!value || (group && ys_view_is_alike(group, axis)))
            continue;
        const bool is_with = strcmp(joint, "with") == 0;
        if (is_with && with)
            ys_buf_puts(out, ", ");
        else
            ys_buf_printf(out, " %s ", joint);
        with |= is_with;
        ys_view_put_factor(out, trial, axis, value);
    }
    if (view->many_sections) {
        ys_buf_puts(out, " (");
        ys_text_clean(out, ys_view_or(trial->told->section, ""), false);
        ys_buf_puts(out, ")");
    }
}
