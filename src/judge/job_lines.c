/* A trial's settings as lines of a job file. */
#include "base/mem.h"
#include "job/ini.h"
#include "job/option.h"
#include "judge/recommend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_cpus(const ys_json *value, struct ys_buf *out)
{
    for (size_t i = 0; i < ys_json_size(value); i++)
        ys_buf_printf(out, "%s%lld", i ? "," : "", (long long)ys_json_integer(ys_json_at(value, i), 0));
}

/* The shortest that is read as the same number. */
static void put_real(double value, struct ys_buf *out)
{
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    ys_buf_puts(out, text);
}

/* Typed as the resolved settings have it, written as a file has it. Shares and counts are plain numbers. */
static void put_value(const struct ys_option *option, const ys_json *value, struct ys_buf *out)
{
    switch (ys_json_type_of(value)) {
    case YS_JSON_INT:
        ys_buf_printf(out, "%lld%s", (long long)ys_json_integer(value, 0), option->type == YS_OPTION_SIZE ? "B" : "");
        break;
    case YS_JSON_REAL:
        put_real(ys_json_number(value, 0), out);
        ys_buf_puts(out, option->type == YS_OPTION_DURATION ? "s" : "");
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

static void add_line(struct ys_buf *line, struct ys_list *lines)
{
    ys_list_add_text(lines, ys_buf_text(line));
    ys_buf_free(line);
}

static bool is_word(const ys_json *keys, const char *key, const char *word)
{
    return strcmp(ys_json_get_text(keys, key, ""), word) == 0;
}

static bool is_given(const ys_json *keys, const char *key)
{
    return ys_json_type_of(ys_json_get(keys, key)) != YS_JSON_NULL;
}

/* What resolving made of other keys, beside which a file must not have it: the share of each rank, and the requests
 * of same weights. */
static bool follows_from_others(const ys_json *keys, const char *key)
{
    if (strcmp(key, "batch") == 0)
        return is_given(keys, "global_batch");
    return strcmp(key, "requests") == 0 && is_word(keys, "compare", "same-weights");
}

/* "threads = 2". Empty: the key says nothing here. */
static void put_setting(const struct ys_recommend_of *of, const struct ys_option *option, struct ys_buf *line)
{
    const ys_json *value = ys_json_get(of->keys, option->name);
    const bool lacks =
        ys_json_type_of(value) == YS_JSON_NULL || (ys_json_type_of(value) == YS_JSON_ARRAY && ys_json_size(value) == 0);
    const bool taken_back = lacks && option->standard && option->none; /* a limit that there would be without a word */
    if ((lacks && !taken_back) || follows_from_others(of->keys, option->name))
        return;
    ys_buf_printf(line, "%s = ", option->name);
    if (strcmp(option->name, "mode") == 0 && is_word(of->keys, "compare", "same-weights") &&
        is_word(of->keys, "mode", "infer"))
        ys_buf_puts(line, "train"); /* as the file had it: the weights are trained first */
    else if (lacks)
        ys_buf_puts(line, option->none);
    else
        put_value(option, value, line);
    if (option->type == YS_OPTION_FRAMEWORK && of->version && *of->version && !strchr(ys_json_text(value, ""), '@'))
        ys_buf_printf(line, "@%s", of->version);
}

/* Whether it is as a study has it that does not say it. */
static ys_status is_usual(const ys_json *keys, const struct ys_option *option, bool *usual)
{
    ys_json *standard = NULL;
    YS_TRY(ys_option_standard(option, &standard));
    *usual = !option->required && option->type != YS_OPTION_FRAMEWORK && standard &&
             ys_json_equal(ys_json_get(keys, option->name), standard);
    ys_json_free(standard);
    return YS_OK;
}

/* Those that are usual, or the others. */
static ys_status add_settings(const struct ys_recommend_of *of, bool usual, struct ys_list *lines)
{
    for (const struct ys_option *option = ys_options(); option->name; option++) {
        struct ys_buf line = {0};
        bool found = false;
        if (!ys_option_is_resolved(option) || !ys_json_get(of->keys, option->name))
            continue;
        YS_TRY(is_usual(of->keys, option, &found));
        if (found == usual)
            put_setting(of, option, &line);
        if (line.size)
            add_line(&line, lines);
    }
    return YS_OK;
}

/* {name: value} of options or variables, as their types are. */
static void add_named(const char *prefix, const char *of, const ys_json *values, struct ys_list *lines)
{
    static const struct ys_option plain = {.name = "", .type = YS_OPTION_PATH};
    for (void *it = ys_json_iter(values); it; it = ys_json_next(values, it)) {
        struct ys_buf line = {0};
        ys_buf_printf(&line, "%s.%s%s%s = ", prefix, of, *of ? "." : "", ys_json_iter_key(it));
        put_value(&plain, ys_json_iter_value(it), &line);
        add_line(&line, lines);
    }
}

ys_status ys_recommend_lines_of(const struct ys_recommend_of *of, struct ys_list *lines)
{
    struct ys_buf seed = {0};
    if (of->seed != YS_FIELD_NONE) {
        ys_buf_printf(&seed, "; before the first section: seed = %lld", (long long)of->seed);
        add_line(&seed, lines);
    }
    YS_TRY(add_settings(of, false, lines));
    add_named("opt", of->framework ? of->framework : "", of->options, lines);
    add_named("env", "", of->env, lines);
    ys_list_add_text(lines, "; as by default when this was measured:");
    return add_settings(of, true, lines);
}

ys_status ys_recommend_lines(const struct ys_side *side, const struct ys_result_trial *trial, struct ys_list *lines)
{
    ys_json *keys = ys_record_json(&ys_trial_settings_record, &trial->keys);
    const struct ys_trial_framework *framework = trial->framework;
    const struct ys_recommend_of of = {.keys = keys,
                                       .options = trial->options,
                                       .env = trial->env,
                                       .framework = framework ? framework->name : NULL,
                                       .version = framework ? framework->version : NULL,
                                       .seed = side->result.study.seed};
    ys_status status = ys_recommend_lines_of(&of, lines);
    ys_json_free(keys);
    return status;
}
