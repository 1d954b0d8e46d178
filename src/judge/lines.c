/* A trial's settings as lines of a job file. */
#include "base/mem.h"
#include "job/ini.h"
#include "job/option.h"
#include "judge/recommend.h"

#include <stdio.h>
#include <string.h>

static void put_cpus(const ys_json *value, struct ys_buf *out)
{
    for (size_t i = 0; i < ys_json_size(value); i++)
        ys_buf_printf(out, "%s%lld", i ? "," : "", (long long)ys_json_integer(ys_json_at(value, i), 0));
}

/* Typed as the resolved settings have it, written as a file has it. Shares and counts are plain numbers. */
static void put_value(const struct ys_option *option, const ys_json *value, struct ys_buf *out)
{
    switch (ys_json_type_of(value)) {
    case YS_JSON_INT:
        ys_buf_printf(out, "%lld%s", (long long)ys_json_integer(value, 0), option->type == YS_OPTION_SIZE ? "B" : "");
        break;
    case YS_JSON_REAL:
        ys_buf_printf(out, "%.15g%s", ys_json_number(value, 0), option->type == YS_OPTION_DURATION ? "s" : "");
        break;
    case YS_JSON_BOOL:
        ys_buf_puts(out, ys_json_truth(value, false) ? "on" : "off");
        break;
    case YS_JSON_ARRAY:
        put_cpus(value, out);
        break;
    default:
        ys_ini_put_value(out, ys_json_text(value, ""));
    }
}

static ys_status add_line(struct ys_buf *line, struct ys_list *lines)
{
    ys_status status = line->failed ? ys_out_of_memory() : ys_list_add_text(lines, ys_buf_text(line));
    ys_buf_free(line);
    return status;
}

static ys_status add_setting(const struct ys_option *option, const ys_json *value, struct ys_list *lines)
{
    struct ys_buf line = {0};
    ys_json *standard = NULL;
    const bool lacks =
        ys_json_type_of(value) == YS_JSON_NULL || (ys_json_type_of(value) == YS_JSON_ARRAY && ys_json_size(value) == 0);
    const bool taken_back = lacks && option->standard && option->none; /* a limit that there would be without a word */
    if (lacks && !taken_back)
        return YS_OK;
    YS_TRY(ys_option_standard(option, &standard));
    const bool usual =
        !option->required && option->type != YS_OPTION_FRAMEWORK && standard && ys_json_equal(value, standard);
    ys_json_free(standard);
    if (usual)
        return YS_OK;
    ys_buf_printf(&line, "%s = ", option->name);
    if (lacks)
        ys_buf_puts(&line, option->none);
    else
        put_value(option, value, &line);
    return add_line(&line, lines);
}

/* {name: value} of options or variables. */
static ys_status add_named(const char *prefix, const char *of, const ys_json *values, struct ys_list *lines)
{
    for (void *it = ys_json_iter(values); it; it = ys_json_next(values, it)) {
        struct ys_buf line = {0};
        ys_buf_printf(&line, "%s.%s%s%s = ", prefix, of, *of ? "." : "", ys_json_iter_key(it));
        ys_ini_put_value(&line, ys_json_text(ys_json_iter_value(it), ""));
        YS_TRY(add_line(&line, lines));
    }
    return YS_OK;
}

ys_status ys_recommend_lines_of(const ys_json *keys, const char *framework, const ys_json *options, const ys_json *env,
                                struct ys_list *lines)
{
    for (const struct ys_option *option = ys_options(); option->name; option++)
        if (ys_option_is_resolved(option) && ys_json_get(keys, option->name))
            YS_TRY(add_setting(option, ys_json_get(keys, option->name), lines));
    YS_TRY(add_named("opt", framework ? framework : "", options, lines));
    return add_named("env", "", env, lines);
}

ys_status ys_recommend_lines(const struct ys_result_trial *trial, struct ys_list *lines)
{
    ys_json *keys = ys_record_json(&ys_trial_settings_record, &trial->keys);
    ys_status status = keys ? ys_recommend_lines_of(keys, trial->framework ? trial->framework->name : NULL,
                                                    trial->options, trial->env, lines)
                            : ys_out_of_memory();
    ys_json_free(keys);
    return status;
}
