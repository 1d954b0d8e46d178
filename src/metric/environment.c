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
    const ys_json *hello = ys_json_get(run->facts, "hello");
    const char *version = ys_json_get_text(hello, "version", NULL);
    if (version)
        ys_buf_printf(text, "%s %s", ys_json_get_text(hello, "framework", "?"), version);
    return version != NULL;
}

static bool runtime_of(const struct ys_metric_view_run *run, struct ys_buf *text)
{
    const char *runtime = ys_json_get_text(ys_json_get(run->facts, "hello"), "runtime", NULL);
    ys_buf_puts(text, runtime ? runtime : "");
    return runtime != NULL;
}

static bool libraries_of(const struct ys_metric_view_run *run, struct ys_buf *text)
{
    const ys_json *libraries = ys_json_get(ys_json_get(run->facts, "opened"), "libraries");
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

static ys_json *group_by(ys_status *status, const struct ys_view *view, const char *framework, aspect_of aspect)
{
    ys_json *values = ys_json_array();
    struct ys_buf text = {0};
    for (size_t t = 0; t < view->trial_count; t++) {
        const struct ys_metric_view_trial *trial = &view->trials[t];
        const char *name = ys_json_get_text(ys_json_get(trial->json, "keys"), "framework", "");
        for (size_t r = 0; r < trial->run_count && (!framework || strcmp(framework, name) == 0); r++) {
            ys_buf_clear(&text);
            bool said = aspect(&trial->runs[r], &text);
            if (text.failed && *status == YS_OK)
                *status = ys_out_of_memory();
            if (!said)
                continue;
            ys_json *entry = entry_for(status, values, ys_buf_text(&text));
            if (entry)
                ys_add_text_once(status, ys_json_get(entry, "trials"), trial->id);
        }
    }
    ys_buf_free(&text);
    return values;
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
                           ys_json *values_taken)
{
    if (ys_json_size(values_taken) < 2) {
        ys_json_free(values_taken);
        return;
    }
    struct ys_buf text = {0};
    ys_buf_puts(&text, begin);
    for (size_t i = 0; i < ys_json_size(values_taken); i++)
        ys_buf_printf(&text, "%s%s", i ? "; " : ": ", ys_json_get_text(ys_json_at(values_taken, i), "value", ""));
    add_difference(status, differences, what, ys_buf_text(&text), values_taken);
    if (text.failed && *status == YS_OK)
        *status = ys_out_of_memory();
    ys_buf_free(&text);
}

/* One framework of one trial key is meant to be one version everywhere; frameworks differ by intent. */
static void add_versions(ys_status *status, const struct ys_view *view, ys_json *differences)
{
    for (size_t t = 0; t < view->trial_count; t++) {
        const char *framework = ys_json_get_text(ys_json_get(view->trials[t].json, "keys"), "framework", "");
        bool seen = false;
        for (size_t s = 0; s < t && !seen; s++)
            seen = strcmp(ys_json_get_text(ys_json_get(view->trials[s].json, "keys"), "framework", ""), framework) == 0;
        char begin[200];
        snprintf(begin, sizeof begin, "%s changed its version during the study", framework);
        if (!seen)
            add_if_several(status, differences, "version", begin, group_by(status, view, framework, version_of));
    }
}

static void add_threads(ys_status *status, const struct ys_metric_view_trial *trial, ys_json *differences)
{
    int64_t asked = ys_json_get_int(ys_json_get(trial->json, "keys"), "threads", 0), opened = -1, peak = -1;
    for (size_t i = 0; i < trial->run_count; i++) {
        int64_t said = ys_json_get_int(ys_json_get(trial->runs[i].facts, "opened"), "threads", -1);
        int64_t seen = ys_json_get_int(ys_json_get(trial->runs[i].facts, "observed"), "threads_peak", -1);
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
        ys_add_text_once(status, ys_json_get(entry, "trials"), trial->id);
    add_difference(status, differences, "threads", text, values);
}

/* What `member` of the trials' frameworks says, a sentence for each that says it: `begin` and its text. */
static void add_stated(ys_status *status, const struct ys_view *view, ys_json *differences, const char *what,
                       const char *member, const char *begin)
{
    ys_json *values = ys_json_array();
    for (size_t t = 0; t < view->trial_count; t++) {
        const struct ys_metric_view_trial *trial = &view->trials[t];
        const char *said = ys_json_get_text(ys_json_get(trial->json, "framework"), member, NULL);
        ys_json *entry = said ? entry_for(status, values, said) : NULL;
        if (entry)
            ys_add_text_once(status, ys_json_get(entry, "trials"), trial->id);
    }
    for (size_t i = 0; i < ys_json_size(values); i++) {
        ys_json *entry = ys_json_at(values, i), *alone = ys_json_array();
        char *text = ys_format("%s%s", begin, ys_json_get_text(entry, "value", ""));
        if (!text && *status == YS_OK)
            *status = ys_out_of_memory();
        ys_add(status, alone, ys_json_ref(entry));
        add_difference(status, differences, what, text ? text : "", alone);
        ys_free(text);
    }
    ys_json_free(values);
}

ys_status ys_environment_differences(const struct ys_view *view, ys_json **differences)
{
    ys_status status = YS_OK;
    ys_json *array = ys_json_array();
    add_versions(&status, view, array);
    add_if_several(&status, array, "runtime", "the trials run on different runtimes",
                   group_by(&status, view, NULL, runtime_of));
    add_if_several(&status, array, "libraries", "the trials compute with different libraries",
                   group_by(&status, view, NULL, libraries_of));
    add_stated(&status, view, array, "recipe", "recipe", "a recipe is none of yardstick's own: ");
    add_stated(&status, view, array, "files", "changes", "");
    for (size_t t = 0; t < view->trial_count; t++)
        add_threads(&status, &view->trials[t], array);
    return ys_built(status, array, differences);
}
