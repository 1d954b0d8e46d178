/* Key `form`: which of the forms of stored models a trial has, which its framework's recipe lists. */
#include "base/mem.h"
#include "job/job_section.h"

#include <string.h>

static ys_status ask(const struct ys_job_hooks *hooks, const char *framework, ys_json **forms)
{
    *forms = ys_json_array();
    if (!hooks || !hooks->forms)
        return YS_OK;
    ys_json_free(*forms);
    *forms = NULL;
    return hooks->forms(hooks->context, framework, forms);
}

/* Once each, whatever names it. */
static void add(const char *form, ys_json **values, size_t *count)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(ys_json_text(values[i], ""), form) == 0)
            return;
    values[(*count)++] = ys_json_string(form);
}

ys_status ys_forms_expand(const struct ys_job_hooks *hooks, const char *framework, const struct ys_setting *setting,
                          ys_json ***values, size_t *count)
{
    ys_json *forms;
    *count = 0;
    YS_TRY(ask(hooks, framework, &forms));
    const size_t known = ys_json_size(forms);
    ys_json **made = ys_alloc(setting->axis.count + known, sizeof *made);
    for (size_t i = 0; i < setting->axis.count; i++) {
        const char *text = ys_json_text(setting->values[i], "");
        const bool is_all = strcmp(text, "all") == 0, is_own = strcmp(text, "own") == 0;
        for (size_t f = 0; (is_all || is_own) && f < known && (is_all || f == 0); f++)
            add(ys_json_text(ys_json_at(forms, f), ""), made, count);
        if ((!is_all && !is_own) || known == 0)
            add(known == 0 ? "own" : text, made, count);
    }
    ys_json_free(forms);
    *values = made;
    return YS_OK;
}

ys_status ys_forms_finish(const struct ys_job_hooks *hooks, const char *framework, ys_json *keys, char **unsupported)
{
    ys_json *forms;
    if (strcmp(ys_json_get_text(keys, "mode", ""), "size") != 0)
        return ys_json_set(keys, "form", ys_json_null());
    YS_TRY(ask(hooks, framework, &forms));
    const char *form = ys_json_get_text(keys, "form", "own");
    struct ys_buf known = {0};
    bool is_known = false;
    for (size_t i = 0; i < ys_json_size(forms); i++) {
        const char *name = ys_json_text(ys_json_at(forms, i), "");
        ys_buf_printf(&known, "%s%s", i ? ", " : "", name);
        is_known |= strcmp(name, form) == 0;
    }
    if (known.size == 0)
        *unsupported = ys_format("%s stores no whole model: its recipe has no forms", framework);
    else if (strcmp(form, "own") == 0)
        ys_json_set_string(keys, "form", ys_json_text(ys_json_at(forms, 0), ""));
    else if (!is_known)
        *unsupported = ys_format("form = %s: %s has %s", form, framework, ys_buf_text(&known));
    ys_buf_free(&known);
    ys_json_free(forms);
    return YS_OK;
}
