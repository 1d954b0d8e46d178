/* From what a job file says to a typed value, one option at a time. */
#include "base/files/fs.h"
#include "base/json/shared_words.h"
#include "base/mem.h"
#include "base/nearest_name.h"
#include "base/number_text.h"
#include "data/dataset.h"
#include "graph/model.h"
#include "job/loss.h"
#include "job/optimizer.h"
#include "job/option.h"
#include "job/quant.h"
#include "job/schedule.h"
#include "job/goal.h"
#include "robust/attack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SHOWN       60  /* bytes of a value that an error quotes */
#define NAME_LIMIT  64  /* bytes of a name */
#define NAMES_LIMIT 256 /* names that a list of candidates holds */

static ys_status refuse(const char *key, const char *text, const char *what, const struct ys_option *option)
{
    struct ys_buf values = {0};
    ys_option_print_values(option, &values);
    ys_status status = ys_fail(YS_EINVAL, "%s = %.*s: %s: write %s", key, SHOWN, text, what, ys_buf_text(&values));
    ys_buf_free(&values);
    return status;
}

/* The one of `list`, words separated by '|', that `word` is but for capitals, - and _; NULL. *length is its own. */
static const char *find_among(const char *word, const char *list, size_t *length)
{
    for (const char *at = list; at && *at; at += *length, at += *at == '|') {
        *length = strcspn(at, "|");
        if (ys_is_spelled(at, *length, word))
            return at;
    }
    return NULL;
}

static bool is_among(const char *word, const char *list)
{
    size_t length;
    return find_among(word, list, &length) != NULL;
}

/* Of `list`, "fp32=f32|float32=f32", what `word` means; NULL. */
static const char *find_also(const char *word, const char *list, size_t *length)
{
    for (const char *at = list; at && *at; at += strcspn(at, "|"), at += *at == '|') {
        const char *means = at + strcspn(at, "=") + 1;
        *length = strcspn(means, "|");
        if (ys_is_spelled(at, (size_t)(means - 1 - at), word))
            return means;
    }
    return NULL;
}

static bool is_in_range(const struct ys_option *option, double value)
{
    return (option->above_low ? value > option->low : value >= option->low) && value <= option->high;
}

/* YS_EINVAL where `text`, which begins with `whole` digits, is a range as other programs write it. */
static ys_status fail_range(const char *key, const char *text, size_t whole)
{
    const char *rest = text + whole;
    const size_t mark = strncmp(rest, "..", 2) == 0 ? 2 : *rest == '-' || *rest == ':';
    if (!whole || !mark || !rest[mark] || rest[mark + strspn(rest + mark, "0123456789")])
        return YS_OK;
    return ys_fail(YS_EINVAL, "%s = %.*s: a range is written {%.*s..%s}, in a shell between quotes", key, SHOWN, text,
                   (int)whole, text, rest + mark);
}

static ys_status parse_number(const struct ys_option *option, const char *key, const char *text, ys_json **value)
{
    int64_t integer = 0;
    double real = 0;
    bool is_number = false;
    const char *what = "this is no number";
    switch (option->type) {
    case YS_OPTION_INT:
        is_number = ys_value_int(text, &integer);
        real = (double)integer;
        what = "this is no whole number";
        break;
    case YS_OPTION_SHARE:
        is_number = ys_value_share(text, &real);
        break;
    case YS_OPTION_DURATION:
        is_number = ys_value_duration(text, &real);
        what = "this is no time with a unit (ns, us, ms, s, min, h, d)";
        break;
    case YS_OPTION_SIZE:
        is_number = ys_value_size(text, &real);
        what = "this is no size with a unit (B, kB, MB, GB, TB, or KiB, MiB, GiB, TiB, for which K, M, G, T stand too)";
        break;
    default:
        is_number = ys_value_real(text, &real);
        break;
    }
    const size_t whole = strspn(text, "0123456789"),
                 fraction = whole && text[whole] == ',' ? strspn(text + whole + 1, "0123456789") : 0;
    if (!is_number && fraction && (option->type == YS_OPTION_REAL || option->type == YS_OPTION_SHARE))
        return ys_fail(YS_EINVAL, "%s = %.*s: a fraction is written with a point: %.*s.%s", key, SHOWN, text,
                       (int)whole, text, text + whole + 1);
    if (!is_number && option->axis && fail_range(key, text, whole) != YS_OK)
        return YS_EINVAL;
    if (!is_number)
        return refuse(key, text, what, option);
    if (!is_in_range(option, real))
        return refuse(key, text, "out of range", option);
    if (option->type == YS_OPTION_SIZE)
        integer = (int64_t)real;
    *value =
        option->type == YS_OPTION_INT || option->type == YS_OPTION_SIZE ? ys_json_int(integer) : ys_json_real(real);
    return YS_OK;
}

static ys_status parse_word(const struct ys_option *option, const char *key, const char *text, ys_json **value)
{
    size_t length;
    const char *word = find_among(text, option->choices, &length);
    if (!word)
        word = find_also(text, option->also, &length);
    if (!word)
        return refuse(key, text, "there is no such choice", option);
    char *spelled = ys_strndup(word, length);
    *value = spelled ? ys_json_string(spelled) : NULL;
    ys_free(spelled);
    return YS_OK;
}

static ys_status parse_bool(const struct ys_option *option, const char *key, const char *text, ys_json **value)
{
    bool on = is_among(text, "on|yes|true|1");
    if (!on && !is_among(text, "off|no|false|0"))
        return refuse(key, text, "this is neither on nor off", option);
    *value = ys_json_bool(on);
    return YS_OK;
}

static ys_status parse_text(const struct ys_option *option, const char *key, const char *text, ys_json **value)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t length = strlen(text), name = strspn(text, letters);
    if (option->type == YS_OPTION_NAME && (name < length || length == 0 || length > NAME_LIMIT))
        return refuse(key, text, "this is no name", option);
    if (option->type == YS_OPTION_PATH && length == 0)
        return refuse(key, text, "this is empty", option);
    if (option->type == YS_OPTION_FRAMEWORK) {
        bool has_version = text[name] == '@' || strncmp(text + name, "==", 2) == 0; /* torch==2.13.0, as pip has it */
        const char *version = text + name + (text[name] == '@' ? 1 : has_version ? 2 : 0);
        size_t version_length = strspn(version, letters) + strspn(version + strspn(version, letters), "+");
        version_length += strspn(version + version_length, letters); /* 2.13.0+cpu */
        if (name == 0 || length > NAME_LIMIT || version[version_length] || (has_version && version_length == 0))
            return refuse(key, text, "this is no framework", option);
    }
    *value = ys_json_string(text);
    return YS_OK;
}

static ys_status append_cpu_range(ys_json *list, bool *seen, const char *from, size_t length)
{
    char item[32];
    int64_t first = 0, last = 0;
    while (length > 0 && *from == ' ') {
        from++;
        length--;
    }
    while (length > 0 && from[length - 1] == ' ')
        length--;
    if (length == 0 || length >= sizeof item)
        return YS_EINVAL;
    memcpy(item, from, length);
    item[length] = 0;
    char *dash = strchr(item + 1, '-');
    if (dash)
        *dash = 0;
    if (!ys_value_int(item, &first) || !ys_value_int(dash ? dash + 1 : item, &last))
        return YS_EINVAL;
    if (first < 0 || last > 4095 || first > last)
        return YS_EINVAL;
    for (int64_t cpu = first; cpu <= last; cpu++) {
        if (seen[cpu])
            return YS_EFORMAT;
        seen[cpu] = true;
        ys_json_append(list, ys_json_int(cpu));
    }
    return YS_OK;
}

static ys_status parse_cpus(const struct ys_option *option, const char *key, const char *text, ys_json **value)
{
    bool seen[4096] = {false};
    ys_json *list = ys_json_array();
    ys_status status = YS_OK;
    for (const char *at = text; status == YS_OK; at++) {
        size_t length = strcspn(at, ",");
        status = append_cpu_range(list, seen, at, length);
        at += length;
        if (!*at)
            break;
    }
    if (status == YS_OK) {
        *value = list;
        return YS_OK;
    }
    ys_json_free(list);
    if (status == YS_EFORMAT)
        return refuse(key, text, "a CPU stands here twice", option);
    return status == YS_EINVAL ? refuse(key, text, "this is no list of CPUs", option) : status;
}

/* The text of `type` in the one way that equal values share. Appended. */
static ys_status print_form(enum ys_option_type type, const char *text, struct ys_buf *out)
{
    struct ys_schedule schedule;
    struct ys_job_optimizer optimizer;
    struct ys_job_loss loss;
    struct ys_goal goal;
    switch (type) {
    case YS_OPTION_GOAL:
        YS_TRY(ys_goal_parse(text, &goal));
        ys_goal_print(&goal, out);
        return YS_OK;
    case YS_OPTION_SCHEDULE:
        YS_TRY(ys_schedule_parse(text, &schedule));
        ys_schedule_print(&schedule, out);
        return YS_OK;
    case YS_OPTION_OPTIMIZER:
        YS_TRY(ys_job_optimizer_parse(text, &optimizer));
        ys_job_optimizer_print(&optimizer, out);
        return YS_OK;
    case YS_OPTION_CALIBRATION:
        return ys_job_calibration_print(text, out);
    default:
        YS_TRY(ys_job_loss_parse(text, &loss));
        ys_job_loss_print(&loss, out);
        return YS_OK;
    }
}

static ys_status parse_form(enum ys_option_type type, const char *key, const char *text, ys_json **value)
{
    struct ys_buf canonical = {0};
    ys_status status = print_form(type, text, &canonical);
    if (status != YS_OK)
        status = ys_fail_in(status, "%s = %.*s", key, SHOWN, text);
    else
        *value = ys_json_string(ys_buf_text(&canonical));
    ys_buf_free(&canonical);
    return status;
}

/* Words apart by blanks, each as attacks are written. Appended. */
static ys_status print_attacks(const char *text, struct ys_buf *out)
{
    struct ys_attacks attacks;
    YS_TRY(ys_attacks_read(text, &attacks));
    char *words = ys_attacks_text(&attacks);
    ys_buf_puts(out, words);
    ys_free(words);
    return YS_OK;
}

/* Ascending, without equals. Appended. */
static ys_status print_curve(const char *text, struct ys_buf *out)
{
    double eps[YS_ATTACKS_MOST];
    size_t count;
    YS_TRY(ys_attack_read_curve(text, eps, &count));
    for (size_t i = 0; i < count; i++) {
        ys_buf_puts(out, i ? " " : "");
        ys_buf_put_real(out, eps[i]);
    }
    return YS_OK;
}

static ys_status parse_attacks(const struct ys_option *option, const char *key, const char *text, ys_json **value)
{
    struct ys_buf canonical = {0};
    ys_status status =
        option->type == YS_OPTION_ATTACK ? print_attacks(text, &canonical) : print_curve(text, &canonical);
    if (status == YS_OK)
        *value = ys_json_string(ys_buf_text(&canonical));
    else
        status = ys_fail_in(status, "%s = %.*s", key, SHOWN, text);
    ys_buf_free(&canonical);
    return status;
}

/* The names of the models or data sets there are, ended by NULL. */
static void known_names(enum ys_option_type type, const char *names[NAMES_LIMIT])
{
    size_t count = 0;
    const struct ys_model *const lists[] = {ys_models(), ys_models_more()};
    if (type == YS_OPTION_MODEL)
        for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
            for (const struct ys_model *model = lists[i]; model->name && count < NAMES_LIMIT - 1; model++)
                names[count++] = model->name;
    else
        for (const struct ys_data_source *source = ys_data_sources(); source->name && count < NAMES_LIMIT - 1; source++)
            names[count++] = source->name;
    names[count] = NULL;
}

static ys_status put_path(const char *path, ys_json **value)
{
    YS_TRY(ys_path_check_text(path));
    *value = ys_json_string(path);
    return YS_OK;
}

/* A graph's file: its absolute path, links resolved, so that one file is one value. Not of an ONNX file, whose external
 * data lie beside its name: in the caches of model hubs that is a link. */
static ys_status parse_model_file(const char *folder, const char *key, const char *text, ys_json **value)
{
    char *path = ys_path_join(folder, text), *real = !ys_model_is_onnx(path) ? realpath(path, NULL) : NULL;
    char *absolute = real ? ys_strdup(real) : path ? ys_path_absolute(path) : NULL;
    free(real);
    ys_free(path);
    ys_status status = ys_model_check(absolute);
    if (status == YS_OK)
        status = put_path(absolute, value);
    ys_free(absolute);
    return status == YS_OK ? YS_OK : ys_fail_in(status, "%s = %s", key, text);
}

/* A folder of images or a list of them: its absolute path, links resolved, so that one folder is one value. */
static ys_status parse_data_path(const char *folder, const char *key, const char *text, ys_json **value)
{
    char *path = ys_path_join(folder, text), *real = realpath(path, NULL);
    const int error = errno;
    ys_status status = YS_OK;
    if (!real)
        status = ys_fail(YS_EINVAL, "%s = %s: there is no such folder of images: %s", key, text, strerror(error));
    if (real) {
        status = put_path(real, value);
        status = status == YS_OK ? YS_OK : ys_fail_in(status, "%s = %s", key, text);
    }
    ys_free(path);
    free(real);
    return status;
}

/* What is in it is looked at where the hosts are wanted. */
static ys_status parse_hosts(const char *folder, const char *key, const char *text, ys_json **value)
{
    char *joined = strchr(text, '/') ? ys_path_join(folder, text) : NULL;
    char *path = joined ? ys_path_absolute(joined) : NULL;
    ys_status status = YS_OK;
    if (!*text)
        status = ys_fail(YS_EINVAL, "%s is empty: name hosts, or a file with a / in its path", key);
    if (status == YS_OK) {
        status = put_path(path ? path : text, value);
        status = status == YS_OK ? YS_OK : ys_fail_in(status, "%s = %s", key, text);
    }
    ys_free(joined);
    ys_free(path);
    return status;
}

static ys_status parse_known_name(const struct ys_option *option, const char *key, const char *text, ys_json **value)
{
    bool is_model = option->type == YS_OPTION_MODEL;
    const struct ys_model *model = is_model ? ys_model_find(text) : NULL;
    const struct ys_data_source *data = is_model ? NULL : ys_data_named(text);
    if (model || data) {
        *value = ys_json_string(model ? model->name : data->name);
        return YS_OK;
    }
    const char *names[NAMES_LIMIT];
    known_names(option->type, names);
    const char *nearest = ys_nearest(text, names), *what = is_model ? "model" : "data set";
    if (nearest)
        return ys_fail(YS_EINVAL, "%s = %.*s: there is no such %s; did you mean %s?", key, SHOWN, text, what, nearest);
    struct ys_buf list = {0};
    for (size_t i = 0; names[i]; i++)
        ys_buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    ys_status status =
        ys_fail(YS_EINVAL, "%s = %.*s: there is no such %s: use one of %s", key, SHOWN, text, what, ys_buf_text(&list));
    ys_buf_free(&list);
    return status;
}

ys_status ys_option_parse(const struct ys_option *option, const char *key, const char *text, ys_json **value)
{
    return ys_option_parse_in(".", option, key, text, value);
}

ys_status ys_option_parse_in(const char *folder, const struct ys_option *option, const char *key, const char *text,
                             ys_json **value)
{
    if (option->none && strcasecmp(text, option->none) == 0) {
        *value = ys_json_null();
        return YS_OK;
    }
    switch (option->type) {
    case YS_OPTION_INT:
    case YS_OPTION_REAL:
    case YS_OPTION_SHARE:
    case YS_OPTION_DURATION:
    case YS_OPTION_SIZE:
        return parse_number(option, key, text, value);
    case YS_OPTION_BOOL:
        return parse_bool(option, key, text, value);
    case YS_OPTION_WORD:
        return parse_word(option, key, text, value);
    case YS_OPTION_CPUS:
        return parse_cpus(option, key, text, value);
    case YS_OPTION_CALIBRATION:
    case YS_OPTION_SCHEDULE:
    case YS_OPTION_OPTIMIZER:
    case YS_OPTION_LOSS:
    case YS_OPTION_GOAL:
        return parse_form(option->type, key, text, value);
    case YS_OPTION_MODEL:
        if (ys_model_is_file(text))
            return parse_model_file(folder, key, text, value);
        return parse_known_name(option, key, text, value);
    case YS_OPTION_DATA:
        if (ys_data_is_path(folder, text))
            return parse_data_path(folder, key, text, value);
        return parse_known_name(option, key, text, value);
    case YS_OPTION_ATTACK:
    case YS_OPTION_CURVE:
        return parse_attacks(option, key, text, value);
    case YS_OPTION_HOSTS:
        return parse_hosts(folder, key, text, value);
    case YS_OPTION_NAME:
    case YS_OPTION_PATH:
    case YS_OPTION_FRAMEWORK:
    case YS_OPTION_EXCLUDE:
    case YS_OPTION_ENV:
    case YS_OPTION_OPT:
    case YS_OPTION_TYPE_COUNT:
        break;
    }
    return parse_text(option, key, text, value);
}

ys_status ys_option_standard(const struct ys_option *option, ys_json **value)
{
    if (option->standard)
        return ys_option_parse(option, option->name, option->standard, value);
    *value = ys_json_null();
    return YS_OK;
}
