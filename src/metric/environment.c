#include "metric/environment.h"

#include "base/buf.h"
#include "base/mem.h"
#include "metric/build.h"

#include <stdio.h>
#include <string.h>

/* How an aspect of a run is written; false when the run does not say. */
typedef bool (*aspect_of)(const struct ys_metric_view_run *run, struct ys_buf *text);

static bool version_of(const struct ys_metric_view_run *run, struct ys_buf *text)
{
    const struct ys_facts_said *said = &run->facts.said;
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
static ys_json *entry_for(ys_status *status, ys_json *values, const char *value)
{
    for (size_t i = 0; i < ys_json_size(values); i++) {
        if (strcmp(ys_json_get_text(ys_json_at(values, i), "value", ""), value) == 0)
            return ys_json_at(values, i);
    }
    ys_json *entry = ys_json_object();
    ys_put_text(status, entry, "value", value);
    ys_put(status, entry, "trials", ys_json_array());
    ys_add(status, values, entry);
    return *status == YS_OK ? ys_json_at(values, ys_json_size(values) - 1) : NULL;
}

/* Trials are added one after the other, so that of several runs of one trial the last entry tells. */
static void add_trial(ys_status *status, ys_json *entry, const char *id)
{
    ys_json *trials = ys_json_get(entry, "trials");
    size_t count = ys_json_size(trials);
    if (count == 0 || strcmp(ys_json_text(ys_json_at(trials, count - 1), ""), id) != 0)
        ys_add(status, trials, ys_json_string(id));
}

static void note_aspect(ys_status *status, ys_json *values, const struct ys_metric_view_trial *trial, aspect_of aspect)
{
    struct ys_buf text = {0};
    for (size_t r = 0; r < trial->run_count; r++) {
        ys_buf_clear(&text);
        bool said = aspect(&trial->runs[r], &text);
        if (text.failed && *status == YS_OK)
            *status = ys_out_of_memory();
        ys_json *entry = said ? entry_for(status, values, ys_buf_text(&text)) : NULL;
        if (entry)
            add_trial(status, entry, trial->id);
    }
    ys_buf_free(&text);
}

static void add_difference(ys_status *status, ys_json *differences, const char *what, const char *text,
                           ys_json *values_taken)
{
    ys_json *object = ys_json_object();
    ys_put_text(status, object, "what", what);
    ys_put_text(status, object, "text", text);
    ys_put(status, object, "values", values_taken);
    ys_add(status, differences, object);
}

static void add_if_several(ys_status *status, ys_json *differences, const char *what, const char *begin,
                           ys_json *values)
{
    if (ys_json_size(values) < 2)
        return;
    struct ys_buf text = {0};
    ys_buf_puts(&text, begin);
    for (size_t i = 0; i < ys_json_size(values); i++)
        ys_buf_printf(&text, "%s%s", i ? "; " : ": ", ys_json_get_text(ys_json_at(values, i), "value", ""));
    add_difference(status, differences, what, ys_buf_text(&text), ys_json_ref(values));
    if (text.failed && *status == YS_OK)
        *status = ys_out_of_memory();
    ys_buf_free(&text);
}

/* One framework of one trial key is meant to be one version everywhere; frameworks differ by intent. */
static void note_version(ys_status *status, ys_json *versions, const struct ys_metric_view_trial *trial)
{
    const char *framework = ys_json_get_text(ys_json_get(trial->json, "keys"), "framework", "");
    if (!ys_json_get(versions, framework))
        ys_put(status, versions, framework, ys_json_array());
    if (*status == YS_OK)
        note_aspect(status, ys_json_get(versions, framework), trial, version_of);
}

static void add_threads(ys_status *status, const struct ys_metric_view_trial *trial, ys_json *differences)
{
    int64_t asked = ys_json_get_int(ys_json_get(trial->json, "keys"), "threads", 0), opened = -1, peak = -1;
    for (size_t i = 0; i < trial->run_count; i++) {
        int64_t said = trial->runs[i].facts.said.threads, seen = trial->runs[i].facts.observed.threads_peak;
        opened = opened < 0 || (said >= 0 && said != asked) ? said : opened;
        peak = seen > peak ? seen : peak;
    }
    if (asked <= 0 || (peak <= asked && (opened < 0 || opened == asked)))
        return;
    char text[400], value[32];
    if (opened >= 0 && opened != asked)
        snprintf(text, sizeof text, "%s was asked for %lld threads, says it uses %lld, and had up to %lld", trial->id,
                 (long long)asked, (long long)opened, (long long)peak);
    else
        snprintf(text, sizeof text,
                 "%s was asked for %lld threads and had up to %lld, helpers of its runtime among them", trial->id,
                 (long long)asked, (long long)peak);
    snprintf(value, sizeof value, "%lld", (long long)peak);
    ys_json *values = ys_json_array();
    ys_json *entry = entry_for(status, values, value);
    if (entry)
        add_trial(status, entry, trial->id);
    add_difference(status, differences, "threads", text, values);
}

/* What `member` of the trial's framework says, where it says anything. */
static void note_stated(ys_status *status, ys_json *values, const struct ys_metric_view_trial *trial,
                        const char *member)
{
    const char *said = ys_json_get_text(ys_json_get(trial->json, "framework"), member, NULL);
    ys_json *entry = said ? entry_for(status, values, said) : NULL;
    if (entry)
        add_trial(status, entry, trial->id);
}

/* A sentence for each of `values`: `begin` and what it says. */
static void add_stated(ys_status *status, ys_json *differences, const char *what, const char *begin,
                       const ys_json *values)
{
    for (size_t i = 0; i < ys_json_size(values); i++) {
        ys_json *entry = ys_json_at(values, i), *alone = ys_json_array();
        char *text = ys_format("%s%s", begin, ys_json_get_text(entry, "value", ""));
        if (!text && *status == YS_OK)
            *status = ys_out_of_memory();
        ys_add(status, alone, ys_json_ref(entry));
        add_difference(status, differences, what, text ? text : "", alone);
        ys_free(text);
    }
}

ys_status ys_environments_add(struct ys_environments *environment, const struct ys_metric_view_trial *trial)
{
    ys_status status = YS_OK;
    if (!environment->versions) {
        *environment = (struct ys_environments){.versions = ys_json_object(),
                                                .runtimes = ys_json_array(),
                                                .libraries = ys_json_array(),
                                                .recipes = ys_json_array(),
                                                .files = ys_json_array(),
                                                .threads = ys_json_array()};
        if (!environment->versions || !environment->runtimes || !environment->libraries || !environment->recipes ||
            !environment->files || !environment->threads)
            return ys_out_of_memory();
    }
    note_version(&status, environment->versions, trial);
    note_aspect(&status, environment->runtimes, trial, runtime_of);
    note_aspect(&status, environment->libraries, trial, libraries_of);
    note_stated(&status, environment->recipes, trial, "recipe");
    note_stated(&status, environment->files, trial, "changes");
    add_threads(&status, trial, environment->threads);
    return status;
}

ys_status ys_environment_differences(const struct ys_environments *environment, ys_json **differences)
{
    ys_status status = YS_OK;
    ys_json *array = ys_json_array();
    const ys_json *versions = environment->versions;
    for (void *it = ys_json_iter(versions); it; it = ys_json_next(versions, it)) {
        char begin[200];
        snprintf(begin, sizeof begin, "%s changed its version during the study", ys_json_iter_key(it));
        add_if_several(&status, array, "version", begin, ys_json_iter_value(it));
    }
    add_if_several(&status, array, "runtime", "the trials run on different runtimes", environment->runtimes);
    add_if_several(&status, array, "libraries", "the trials compute with different libraries", environment->libraries);
    add_stated(&status, array, "recipe", "a recipe is none of yardstick's own: ", environment->recipes);
    add_stated(&status, array, "files", "", environment->files);
    for (size_t i = 0; i < ys_json_size(environment->threads); i++)
        ys_add(&status, array, ys_json_ref(ys_json_at(environment->threads, i)));
    return ys_built(status, array, differences);
}

void ys_environments_fini(struct ys_environments *environment)
{
    ys_json_free(environment->versions);
    ys_json_free(environment->runtimes);
    ys_json_free(environment->libraries);
    ys_json_free(environment->recipes);
    ys_json_free(environment->files);
    ys_json_free(environment->threads);
    *environment = (struct ys_environments){0};
}
