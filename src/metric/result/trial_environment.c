#include "metric/result/trial_environment.h"

#include "base/buf.h"
#include "base/mem.h"
#include "crew/ranks.h"

#include <stdio.h>
#include <string.h>

/* One framework and its versions. */
struct versions {
    char *framework;
    struct ys_list values;
};
static const struct ys_field versions_fields[] = {
    YS_FIELD(struct versions, framework, YS_FIELD_TEXT, NULL, 0, "as trials ask for it"),
    YS_FIELD_OF(struct versions, values, YS_FIELD_LIST, &ys_shared_value_record, 0, "its versions"),
};
static const struct ys_record versions_record = YS_RECORD("versions", struct versions, versions_fields);

/* How an aspect of a run is written; false when the run does not say. */
typedef bool (*aspect_of)(const struct ys_metric_view_run *run, struct ys_buf *text);

static bool version_of(const struct ys_metric_view_run *run, struct ys_buf *text)
{
    const struct ys_facts_self_report *said = &run->facts.said;
    if (said->version)
        ys_buf_printf(text, "%s %s", said->framework ? said->framework : "?", said->version);
    return said->version != NULL;
}

static bool runtime_of(const struct ys_metric_view_run *run, struct ys_buf *text)
{
    const char *runtime = run->facts.said.runtime;
    ys_buf_puts(text, runtime ? runtime : "");
    return runtime != NULL;
}

static bool libraries_of(const struct ys_metric_view_run *run, struct ys_buf *text)
{
    const ys_json *libraries = run->facts.said.libraries;
    for (size_t i = 0; i < ys_json_size(libraries); i++)
        ys_buf_printf(text, "%s%s", i ? ", " : "", ys_json_text(ys_json_at(libraries, i), "?"));
    if (ys_json_type_of(libraries) == YS_JSON_ARRAY && text->size == 0)
        ys_buf_puts(text, "none named");
    return ys_json_type_of(libraries) == YS_JSON_ARRAY;
}

/* The entry of `values` for `value`, made when absent. */
static struct ys_shared_value *entry_for(struct ys_list *values, const char *value)
{
    struct ys_shared_value *items = values->items;
    for (size_t i = 0; i < values->count; i++) {
        if (strcmp(items[i].value, value) == 0)
            return &items[i];
    }
    struct ys_shared_value *entry = ys_list_add(&ys_shared_value_record, values);
    entry->value = ys_strdup(value);
    return entry;
}

/* Trials are added one after the other, so that of several runs of one trial the last entry tells. */
static void add_value(struct ys_list *values, const char *value, const char *id)
{
    struct ys_shared_value *entry = entry_for(values, value);
    char *const *trials = entry->trials.items;
    if (entry->trials.count == 0 || strcmp(trials[entry->trials.count - 1], id) != 0)
        ys_list_add_text(&entry->trials, id);
}

static void note_aspect(struct ys_list *values, const struct ys_metric_view_trial *trial, aspect_of aspect)
{
    struct ys_buf text = {0};
    for (size_t r = 0; r < trial->run_count; r++) {
        ys_buf_clear(&text);
        if (aspect(&trial->runs[r], &text))
            add_value(values, ys_buf_text(&text), trial->id);
    }
    ys_buf_free(&text);
}

/* One framework of one trial key is meant to be one version everywhere; frameworks differ by intent. */
static void note_version(struct ys_list *versions, const struct ys_metric_view_trial *trial)
{
    const char *framework = trial->record->keys.framework ? trial->record->keys.framework : "";
    struct versions *items = versions->items, *found = NULL;
    for (size_t i = 0; !found && i < versions->count; i++)
        found = strcmp(items[i].framework, framework) == 0 ? &items[i] : NULL;
    if (!found) {
        found = ys_list_add(&versions_record, versions);
        found->framework = ys_strdup(framework);
    }
    note_aspect(&found->values, trial, version_of);
}

/* Of one process. */
static int64_t most_threads(const struct ys_facts *facts)
{
    const struct ys_facts_rank *ranks = facts->ranks.items;
    int64_t most = facts->ranks.count ? YS_FIELD_NONE : facts->observed.threads_peak;
    for (size_t i = 0; i < facts->ranks.count; i++)
        most = ranks[i].threads_peak > most ? ranks[i].threads_peak : most;
    return most;
}

static void note_threads(struct ys_list *differences, const struct ys_metric_view_trial *trial)
{
    int64_t asked = trial->record->keys.threads, opened = -1, peak = -1;
    if (asked > 0)
        asked = ys_rank_threads(asked, ys_settings_sharers(&trial->record->keys));
    for (size_t i = 0; i < trial->run_count; i++) {
        int64_t said = trial->runs[i].facts.said.threads, seen = most_threads(&trial->runs[i].facts);
        opened = opened < 0 || (said >= 0 && said != asked) ? said : opened;
        peak = seen > peak ? seen : peak;
    }
    if (asked <= 0 || (peak <= asked && (opened < 0 || opened == asked)))
        return;
    char *text, value[32];
    if (opened >= 0 && opened != asked)
        text = ys_format("%s was asked for %lld thread%s, says it uses %lld, and had up to %lld", trial->id,
                         (long long)asked, asked == 1 ? "" : "s", (long long)opened, (long long)peak);
    else
        text = ys_format("%s was asked for %lld thread%s and had up to %lld, helpers of its runtime among them",
                         trial->id, (long long)asked, asked == 1 ? "" : "s", (long long)peak);
    snprintf(value, sizeof value, "%lld", (long long)peak);
    struct ys_difference *made = ys_list_add(&ys_difference_record, differences);
    *made = (struct ys_difference){.what = YS_DIFFERENCE_THREADS, .text = text};
    add_value(&made->values, value, trial->id);
}

void ys_environments_add(struct ys_environments *environment, const struct ys_metric_view_trial *trial)
{
    const struct ys_trial_framework *framework = trial->record->framework;
    note_version(&environment->versions, trial);
    note_aspect(&environment->runtimes, trial, runtime_of);
    note_aspect(&environment->libraries, trial, libraries_of);
    if (framework && framework->recipe)
        add_value(&environment->recipes, framework->recipe, trial->id);
    if (framework && framework->changes)
        add_value(&environment->files, framework->changes, trial->id);
    if (framework && framework->unpinned)
        add_value(&environment->files, framework->unpinned, trial->id);
    note_threads(&environment->threads, trial);
}

/* Takes `text` and what is in `values`. */
static void tell(struct ys_list *told, enum ys_difference_of what, char *text, struct ys_list *values)
{
    struct ys_difference *difference = ys_list_add(&ys_difference_record, told);
    *difference = (struct ys_difference){.what = what, .text = text, .values = *values};
    *values = (struct ys_list){0};
}

/* One difference where there are several values. */
static void tell_if_several(struct ys_list *told, enum ys_difference_of what, const char *begin, struct ys_list *values)
{
    const struct ys_shared_value *items = values->items;
    struct ys_buf text = {0};
    if (values->count < 2)
        return;
    ys_buf_puts(&text, begin);
    for (size_t i = 0; i < values->count; i++)
        ys_buf_printf(&text, "%s%s", i ? "; " : ": ", items[i].value);
    tell(told, what, ys_buf_take(&text), values);
}

/* One for each of `values`: `begin` and what it says. */
static void tell_each(struct ys_list *told, enum ys_difference_of what, const char *begin, struct ys_list *values)
{
    struct ys_shared_value *items = values->items;
    for (size_t i = 0; i < values->count; i++) {
        struct ys_list one = {0};
        *(struct ys_shared_value *)ys_list_add(&ys_shared_value_record, &one) = items[i];
        tell(told, what, ys_format("%s%s", begin, items[i].value), &one);
    }
    ys_free(items); /* what they held was taken */
    *values = (struct ys_list){0};
}

struct ys_list ys_environment_differences(struct ys_environments *environment)
{
    struct ys_list told = {0};
    struct versions *versions = environment->versions.items;
    for (size_t i = 0; i < environment->versions.count; i++) {
        char begin[200];
        snprintf(begin, sizeof begin, "%s changed its version during the study", versions[i].framework);
        tell_if_several(&told, YS_DIFFERENCE_VERSION, begin, &versions[i].values);
    }
    tell_if_several(&told, YS_DIFFERENCE_RUNTIME, "the trials run on different runtimes", &environment->runtimes);
    tell_if_several(&told, YS_DIFFERENCE_LIBRARIES, "the trials compute with different libraries",
                    &environment->libraries);
    tell_each(&told, YS_DIFFERENCE_RECIPE, "a recipe is none of yardstick's own: ", &environment->recipes);
    tell_each(&told, YS_DIFFERENCE_FILES, "", &environment->files);
    struct ys_difference *threads = environment->threads.items;
    for (size_t i = 0; i < environment->threads.count; i++)
        tell(&told, YS_DIFFERENCE_THREADS, ys_strdup(threads[i].text), &threads[i].values);
    return told;
}

void ys_environments_fini(struct ys_environments *environment)
{
    ys_list_fini(&versions_record, &environment->versions);
    ys_list_fini(&ys_shared_value_record, &environment->runtimes);
    ys_list_fini(&ys_shared_value_record, &environment->libraries);
    ys_list_fini(&ys_shared_value_record, &environment->recipes);
    ys_list_fini(&ys_shared_value_record, &environment->files);
    ys_list_fini(&ys_difference_record, &environment->threads);
    *environment = (struct ys_environments){0};
}
