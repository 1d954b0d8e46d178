#include "base/files/fs.h"
#include "base/mem.h"
#include "job/job_section.h"
#include "stat/looks.h"

#include <string.h>

#define NAME_LIMIT 64

/* The first line of a study says which language it is in, before anything else of it can be understood. */
static ys_status check_version(const struct ys_resolver *resolver)
{
    const struct ys_ini *ini = &resolver->ini;
    struct ys_ini_place start = {resolver->path, 1, 1};
    if (ini->entry_count == 0)
        return ys_ini_fail(ini->section_count > 1 ? &ini->sections[1].place : &start,
                           "the study has no keys: it must begin with version = 1 (yardstick init writes an example)");
    const struct ys_ini_entry *first = &ini->entries[0];
    if (first->section != 0)
        return ys_ini_fail(&ini->sections[1].place, "a study must begin with version = 1, and this begins with [%s]",
                           ini->sections[1].name);
    if (strcmp(first->key, "version") != 0)
        return ys_ini_fail(&first->place, "a study must begin with version = 1, and this begins with %s", first->key);
    if (strcmp(first->value, "1") != 0)
        return ys_ini_fail(&first->value_place, "version = %.60s is not known here: this program reads version 1",
                           first->value);
    return YS_OK;
}

/* The file's name without its ending, made a name; what comes through a pipe has none. */
static char *default_name(const struct ys_resolver *resolver)
{
    if (!resolver->has_file || resolver->ini.is_stream)
        return ys_strdup("run");
    char *name = ys_strdup(ys_path_base(resolver->path));
    char *dot = strrchr(name, '.');
    if (dot && dot > name)
        *dot = 0;
    for (char *at = name; *at; at++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", *at))
            *at = '-';
    if (strlen(name) > NAME_LIMIT)
        name[NAME_LIMIT] = 0;
    return name;
}

static bool decides_by_default(const struct ys_resolver *resolver, const char *key)
{
    return !resolver->has_file && strcmp(key, "repeat") == 0;
}

/* The study's keys, typed, given or default. */
static ys_status fill_study(const struct ys_resolver *resolver, ys_json *study)
{
    for (const struct ys_option *option = ys_options(); option->name; option++) {
        if (option->group != YS_OPTION_STUDY || option->file_only)
            continue;
        const struct ys_setting *setting = ys_layer_find(&resolver->study, option->name);
        char name[64];
        size_t length = strlen(option->name);
        YS_ASSERT(length + 3 <= sizeof name);
        memcpy(name, option->name, length + 1);
        if (option->type == YS_OPTION_DURATION)
            memcpy(name + length, "_s", 3);
        ys_json *value = NULL;
        if (setting)
            value = ys_json_copy(setting->values[0]);
        else if (decides_by_default(resolver, option->name))
            value = ys_json_null();
        else
            YS_TRY(ys_option_standard(option, &value));
        ys_json_set(study, name, value);
    }
    if (ys_layer_find(&resolver->study, "name"))
        return YS_OK;
    char *name = default_name(resolver);
    ys_json_set_string(study, "name", name);
    ys_free(name);
    return YS_OK;
}

/* One value of a setting as a file would write it. */
static void print_value(const struct ys_setting *setting, size_t index, struct ys_buf *out)
{
    const char *text = setting->axis.texts[index];
    bool plain = setting->axis.is_axis ? !strpbrk(text, ",;#\"{}()") : !strpbrk(text, ";#\"{}");
    if (plain && *text && *text != ' ') {
        ys_buf_puts(out, text);
        return;
    }
    ys_ini_put_quoted(out, text);
}

static void print_setting(const struct ys_setting *setting, struct ys_buf *out)
{
    ys_buf_printf(out, "%s = %s", setting->key, setting->axis.is_axis ? "{" : "");
    for (size_t i = 0; i < setting->axis.count; i++) {
        ys_buf_puts(out, i ? ", " : "");
        print_value(setting, i, out);
    }
    ys_buf_printf(out, "%s\n", setting->axis.is_axis ? "}" : "");
}

/* A file that means what the flags mean. */
static void print_flags(const struct ys_resolver *resolver, struct ys_buf *out)
{
    const struct ys_section *section = resolver->sections[0];
    ys_buf_puts(out, "version = 1\n");
    if (!ys_layer_find(&resolver->study, "repeat"))
        ys_buf_puts(out, "repeat = decide\n");
    for (size_t i = 0; i < resolver->study.count; i++)
        print_setting(resolver->study.items[i], out);
    ys_buf_printf(out, "\n[%s]\n", section->name);
    for (size_t i = 0; i < section->all.count; i++)
        print_setting(section->all.items[i], out);
    for (size_t i = 0; i < resolver->flag_count; i++)
        if (strcmp(resolver->flags[i].key, "exclude") == 0)
            ys_buf_printf(out, "exclude = %s\n", resolver->flags[i].value);
}

static ys_status check_flags(const struct ys_resolver *resolver)
{
    for (size_t i = 0; i < resolver->flag_count; i++) {
        const struct ys_job_flag *flag = &resolver->flags[i];
        if (!ys_ini_is_text(flag->value, strlen(flag->value)))
            return ys_fail(YS_EINVAL, "command line: --%s has a value that is no UTF-8 text without control characters",
                           flag->key);
    }
    return YS_OK;
}

enum { USUAL_MOST = 20 };

static int64_t least_rounds(const ys_json *study)
{
    return ys_json_get_int(study, "repeat", ys_json_get_int(study, "repeat_most", YS_LOOKS_FIRST));
}

/* How many rounds a study may have that goes on until it is decided. */
static void fill_most(struct ys_job *job, int64_t most_runs)
{
    const int64_t trials = (int64_t)ys_json_size(job->trials), room = trials > 0 ? most_runs / trials : USUAL_MOST;
    if (ys_json_get_int(job->study, "repeat", 0) || ys_json_get_int(job->study, "repeat_most", 0))
        return;
    ys_json_set_int(job->study, "repeat_most", room < USUAL_MOST ? room : USUAL_MOST);
}

static ys_status resolve(struct ys_resolver *resolver, struct ys_job *job)
{
    YS_TRY(check_flags(resolver));
    if (resolver->has_file) {
        YS_TRY(check_version(resolver));
        YS_TRY(ys_ini_check_unique(&resolver->ini, "exclude"));
    }
    YS_TRY(ys_resolver_find_sections(resolver));
    ys_status status = fill_study(resolver, job->study);
    const int64_t most_runs = ys_json_get_int(job->study, "max_runs", 1);
    if (status == YS_OK)
        status = ys_resolver_expand(resolver, least_rounds(job->study), most_runs, job->trials);
    if (status == YS_OK)
        fill_most(job, most_runs);
    if (!resolver->has_file && status == YS_OK)
        print_flags(resolver, &resolver->ini.text);
    job->text = status == YS_OK ? ys_buf_take(&resolver->ini.text) : NULL;
    return status;
}

static void fini(struct ys_resolver *resolver)
{
    for (size_t i = 0; i < resolver->setting_count; i++)
        ys_setting_fini(&resolver->settings[i]);
    for (size_t i = 0; i < resolver->exclude_count; i++)
        ys_exclude_fini(&resolver->excludes[i]);
    for (size_t i = 0; i < resolver->section_count; i++)
        ys_free(resolver->sections[i]);
    ys_free(resolver->settings);
    ys_free(resolver->excludes);
    ys_free(resolver->sections);
    ys_ini_fini(&resolver->ini);
}

/* `resolver` has its `ini`, which is freed here. */
static ys_status load(struct ys_resolver *resolver, const struct ys_job_flag *flags, size_t count,
                      const struct ys_job_hooks *hooks, struct ys_job *job)
{
    resolver->flags = flags;
    resolver->flag_count = count;
    resolver->hooks = hooks;
    *job = (struct ys_job){.study = ys_json_object(), .trials = ys_json_array()};
    ys_status status = resolve(resolver, job);
    fini(resolver);
    if (status != YS_OK)
        ys_job_fini(job);
    return status;
}

ys_status ys_job_load(const char *path, const struct ys_job_flag *flags, size_t count, const struct ys_job_hooks *hooks,
                      struct ys_job *job)
{
    const bool is_input = path && strcmp(path, "-") == 0;
    struct ys_resolver resolver = {.path = is_input ? "standard input"
                                           : path   ? path
                                                    : "command line",
                                   .has_file = path != NULL};
    *job = (struct ys_job){0};
    if (path)
        YS_TRY(ys_ini_read_any(is_input ? NULL : path, &resolver.ini));
    return load(&resolver, flags, count, hooks, job);
}

ys_status ys_job_parse(const char *name, const char *text, size_t size, const struct ys_job_flag *flags, size_t count,
                       const struct ys_job_hooks *hooks, struct ys_job *job)
{
    struct ys_resolver resolver = {.path = name, .has_file = true};
    *job = (struct ys_job){0};
    YS_TRY(ys_ini_parse(name, text, size, NULL, &resolver.ini));
    return load(&resolver, flags, count, hooks, job);
}

void ys_job_fini(struct ys_job *job)
{
    ys_free(job->text);
    ys_json_free(job->study);
    ys_json_free(job->trials);
    *job = (struct ys_job){0};
}
