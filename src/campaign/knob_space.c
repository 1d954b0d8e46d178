#include "campaign/knob_space.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "campaign/halving.h"
#include "probe/cpus.h"
#include "probe/host.h"
#include "probe/procfs.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char PRELOAD[] = "env.LD_PRELOAD=";

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_wanted(const char *wanted, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = wanted; at && *at; at += strspn(at, ", ")) {
        const size_t size = strcspn(at, ", ");
        if (size == length && memcmp(at, name, size) == 0)
            return true;
        at += size;
    }
    return !wanted;
}

static void note_lacking(struct ys_space *space, const struct ys_knob *knob, const struct ys_knob_value *value,
                         char *reason)
{
    struct ys_space_lacking *lacking = ys_list_add(&ys_space_lacking_record, &space->lacking);
    lacking->name = ys_format("%s=%s", knob->name, value->name);
    lacking->reason = reason;
}

static void add_value(struct ys_knob *knob, const char *name, const char *key)
{
    struct ys_knob_value *value = ys_list_add(&ys_knob_value_record, &knob->values);
    value->name = ys_strdup(name);
    ys_list_add_text(&value->keys, key);
}

/* All numbers up to eight, then each power of two and half way to the next, and the most. */
static void add_threads(int64_t most, struct ys_knob *knob)
{
    int64_t step = 1;
    for (int64_t n = 1; n <= most; n = n == most || n + step <= most ? n + step : most) {
        char name[24], *key = ys_format("threads=%lld", (long long)n);
        snprintf(name, sizeof name, "%lld", (long long)n);
        add_value(knob, name, key);
        ys_free(key);
        if (n >= 8 && (n & (n - 1)) == 0)
            step = n / 2;
    }
}

/* The path of a library that the loader would find by its name; new, NULL: there is none. */
static char *find_library(const char *name)
{
    static const char *const folders[] = {
        "/usr/lib/*-linux-gnu*", "/lib/*-linux-gnu*", "/usr/local/lib", "/usr/lib64", "/lib64", "/usr/lib"};
    char *path = NULL;
    for (size_t i = 0; !path && i < sizeof folders / sizeof folders[0]; i++) {
        char *pattern = ys_format("%s/%s", folders[i], name);
        glob_t found;
        if (glob(pattern, 0, NULL, &found) == 0) {
            path = ys_strdup(found.gl_pathv[0]);
            globfree(&found);
        }
        ys_free(pattern);
    }
    return path;
}

/* Writes the path of a library in the place of its name. New reason: it is not there. */
static char *place_library(char **key)
{
    const char *name = *key + sizeof PRELOAD - 1;
    if (!begins(*key, PRELOAD) || strchr(name, '/'))
        return NULL;
    char *path = find_library(name);
    if (!path)
        return ys_format("%s is not installed", name);
    char *placed = ys_format("%s%s", PRELOAD, path);
    ys_free(path);
    ys_free(*key);
    *key = placed;
    return NULL;
}

static bool shares_cores(void)
{
    struct ys_cpus cpus;
    bool shares = false;
    if (ys_cpus_read(ys_procfs_root(), &cpus) != YS_OK)
        return false;
    for (size_t i = 0; i < cpus.count; i++)
        shares |= cpus.items[i].sibling > 0;
    ys_cpus_fini(&cpus);
    return shares;
}

/* Why a value says nothing here; new, NULL: it does. */
static char *lacks(const struct ys_trial_settings *settings, struct ys_knob_value *value)
{
    char **keys = value->keys.items, *reason = NULL;
    for (size_t i = 0; !reason && i < value->keys.count; i++) {
        if (strcmp(keys[i], "cpus=" YS_KNOB_PACKED) == 0)
            reason = settings->cpus.count ? ys_strdup("the study says which CPUs")
                     : shares_cores()     ? NULL
                                          : ys_strdup("no two CPUs that yardstick may use share a core");
        else
            reason = place_library(&keys[i]);
    }
    return reason;
}

/* The values of a knob that this machine has. */
static ys_status take_knob(const struct ys_trial_settings *settings, const struct ys_knob *knob, struct ys_space *space)
{
    const struct ys_knob_value *values = knob->values.items;
    struct ys_knob *taken = ys_list_add(&ys_knob_record, &space->knobs);
    taken->name = ys_strdup(knob->name);
    taken->why = ys_strdup(knob->why);
    taken->from = ys_strdup(knob->from);
    for (size_t v = 0; v < knob->values.count && taken->values.count < YS_HALVING_VALUES; v++) {
        char *const *keys = values[v].keys.items;
        if (strcmp(keys[0], "threads=" YS_KNOB_EACH) == 0) {
            add_threads(settings->cpus.count ? (int64_t)settings->cpus.count : ys_host_cpus_allowed(), taken);
            continue;
        }
        struct ys_knob_value value;
        YS_TRY(ys_record_copy(&ys_knob_value_record, &values[v], &value));
        char *equals = strchr(value.name, '='), *reason = lacks(settings, &value);
        if (equals)
            memmove(value.name, equals + 1, strlen(equals)); /* "on" of opt.xla=on */
        if (reason)
            note_lacking(space, knob, &value, reason);
        else
            YS_TRY(ys_record_copy(&ys_knob_value_record, &value, ys_list_add(&ys_knob_value_record, &taken->values)));
        ys_record_fini(&ys_knob_value_record, &value);
    }
    if (taken->values.count)
        return YS_OK;
    ys_record_fini(&ys_knob_record, taken);
    space->knobs.count--;
    return YS_OK;
}

ys_status ys_space_open(const struct ys_trial_settings *settings, const char *wanted, const char *const *recipe_dirs,
                        struct ys_space *space)
{
    struct ys_list knobs;
    *space = (struct ys_space){.threads = settings->threads};
    YS_TRY(ys_knobs_of(settings->framework, recipe_dirs, &knobs));
    const struct ys_knob *all = knobs.items;
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < knobs.count; i++) {
        if (!is_wanted(wanted, all[i].name))
            continue;
        status = space->knobs.count < YS_HALVING_KNOBS
                     ? take_knob(settings, &all[i], space)
                     : ys_fail(YS_EINVAL, "%s has more than %d knobs: name some, --knobs=threads,wait",
                               settings->framework, YS_HALVING_KNOBS);
    }
    ys_list_fini(&ys_knob_record, &knobs);
    return status;
}

void ys_space_fini(struct ys_space *space)
{
    ys_list_fini(&ys_knob_record, &space->knobs);
    ys_list_fini(&ys_space_lacking_record, &space->lacking);
}

static const struct ys_knob *knob_at(const struct ys_space *space, size_t k)
{
    return (const struct ys_knob *)space->knobs.items + k;
}

/* NULL: as by default. */
static const struct ys_knob_value *value_at(const struct ys_space *space, size_t k, const uint8_t *values)
{
    return values[k] ? (const struct ys_knob_value *)knob_at(space, k)->values.items + values[k] - 1 : NULL;
}

/* The text behind `key` in the set; NULL: it does not set it. */
static const char *text_of(const struct ys_space *space, const uint8_t *values, const char *key, size_t length,
                           size_t *times)
{
    const char *text = NULL;
    *times = 0;
    for (size_t k = 0; k < space->knobs.count; k++) {
        const struct ys_knob_value *value = value_at(space, k, values);
        for (size_t i = 0; value && i < value->keys.count; i++) {
            const char *pair = ((char *const *)value->keys.items)[i];
            if (strncmp(pair, key, length) != 0 || pair[length] != '=')
                continue;
            text = pair + length + 1;
            ++*times;
        }
    }
    return text;
}

static int by_core(const void *a, const void *b)
{
    const struct ys_cpu *x = a, *y = b;
    const int differ[] = {x->kind - y->kind, x->package - y->package, x->core - y->core, x->sibling - y->sibling};
    for (size_t i = 0; i < sizeof differ / sizeof differ[0]; i++)
        if (differ[i])
            return differ[i];
    return x->number - y->number;
}

static void put_packed(int64_t threads, struct ys_buf *lines)
{
    struct ys_cpus cpus;
    if (ys_cpus_read(ys_procfs_root(), &cpus) != YS_OK)
        return;
    qsort(cpus.items, cpus.count, sizeof *cpus.items, by_core);
    for (size_t i = 0; i < cpus.count && i < (size_t)threads; i++)
        ys_buf_printf(lines, "%s%d", i ? "," : "", cpus.items[i].number);
    ys_cpus_fini(&cpus);
}

static void put_pair(const struct ys_space *space, const uint8_t *values, const char *pair, struct ys_buf *lines)
{
    size_t times;
    const size_t length = strcspn(pair, "=");
    const char *threads = text_of(space, values, "threads", strlen("threads"), &times);
    ys_buf_printf(lines, "%.*s = ", (int)length, pair);
    if (strcmp(pair, "cpus=" YS_KNOB_PACKED) == 0)
        put_packed(threads ? strtoll(threads, NULL, 10) : space->threads, lines);
    else
        ys_ini_put_value(lines, pair + length + 1);
    ys_buf_puts(lines, "\n");
}

bool ys_space_put_lines(const struct ys_space *space, const uint8_t *values, struct ys_buf *lines)
{
    bool is_clear = true;
    for (size_t k = 0; k < space->knobs.count; k++) {
        const struct ys_knob_value *value = value_at(space, k, values);
        for (size_t i = 0; value && i < value->keys.count; i++) {
            const char *pair = ((char *const *)value->keys.items)[i];
            size_t times;
            (void)text_of(space, values, pair, strcspn(pair, "="), &times);
            is_clear &= times == 1;
            put_pair(space, values, pair, lines);
        }
    }
    return is_clear;
}

char *ys_space_name(const struct ys_space *space, const uint8_t *values)
{
    struct ys_buf name = {0};
    for (size_t k = 0; k < space->knobs.count; k++) {
        const struct ys_knob_value *value = value_at(space, k, values);
        if (value)
            ys_buf_printf(&name, "%s%s=%s", name.size ? " " : "", knob_at(space, k)->name, value->name);
    }
    char *text = ys_strdup(ys_buf_text(&name));
    ys_buf_free(&name);
    return text;
}

const char *ys_space_preload(const struct ys_space *space, const uint8_t *values)
{
    size_t times;
    return text_of(space, values, "env.LD_PRELOAD", strlen("env.LD_PRELOAD"), &times);
}

bool ys_space_has(const struct ys_space *space, const uint8_t *values, const char *knob)
{
    for (size_t k = 0; k < space->knobs.count; k++)
        if (values[k] && strcmp(knob_at(space, k)->name, knob) == 0)
            return true;
    return false;
}

static const struct ys_field lacking_fields[] = {
    YS_FIELD(struct ys_space_lacking, name, YS_FIELD_TEXT, NULL, 0, "KNOB=VALUE"),
    YS_FIELD(struct ys_space_lacking, reason, YS_FIELD_TEXT, NULL, 0, "why it cannot be had here"),
};
const struct ys_record ys_space_lacking_record = YS_RECORD("lacking", struct ys_space_lacking, lacking_fields);
