#include "framework/knobs.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "framework/recipe.h"
#include "job/option.h"

#include <string.h>

static const char OPTION[] = "opt.";

static ys_status fail_value(const struct ys_ini_entry *entry, const char *value, size_t length)
{
    return ys_ini_fail(&entry->value_place,
                       "%s: \"%.*s\" is no value: write KEY=VALUE with blanks between, or NAME(KEY=VALUE ...)",
                       entry->key, (int)length, value);
}

/* Found by who searches. */
static bool is_word(const char *key, const char *text)
{
    return (strcmp(key, "threads") == 0 && strcmp(text, YS_KNOB_EACH) == 0) ||
           (strcmp(key, "cpus") == 0 && strcmp(text, YS_KNOB_PACKED) == 0);
}

/* A key that changes the work is none: what it makes faster is other work. */
static ys_status check_key(const struct ys_ini_entry *entry, const char *key, const char *text, bool is_recipe)
{
    const struct ys_option *option = ys_option_find(key);
    ys_json *value = NULL;
    if (is_recipe && strncmp(key, OPTION, sizeof OPTION - 1) == 0)
        return YS_OK; /* ys_knobs_check() */
    if (!option || (option->group != YS_OPTION_MACHINE && strcmp(key, "input") != 0))
        return ys_ini_fail(&entry->value_place,
                           "%s: %s is no key of the machine, nor input%s: it could change what is computed", entry->key,
                           key, is_recipe ? ", nor an option of this recipe (opt.NAME)" : "");
    if (is_word(key, text) || option->type == YS_OPTION_ENV)
        return YS_OK;
    const ys_status status = ys_option_parse(option, key, text, &value);
    ys_json_free(value);
    return status == YS_OK ? YS_OK : ys_ini_fail_in(&entry->value_place, status);
}

static ys_status add_key(const struct ys_ini_entry *entry, const char *word, size_t length, bool is_recipe,
                         struct ys_knob_value *value)
{
    const char *equals = memchr(word, '=', length);
    if (!equals || equals == word)
        return fail_value(entry, word, length);
    char *pair = ys_strndup(word, length), *key = ys_strndup(word, (size_t)(equals - word));
    ys_status status = check_key(entry, key, pair + (equals - word) + 1, is_recipe);
    if (status == YS_OK)
        status = ys_list_add_text(&value->keys, pair);
    ys_free(pair);
    ys_free(key);
    return status;
}

/* "kept(env.A=1 env.B=2)", "threads=each" */
static ys_status add_value(const struct ys_ini_entry *entry, const char *text, size_t length, bool is_recipe,
                           struct ys_knob *knob)
{
    const char *open = memchr(text, '(', length), *equals = memchr(text, '=', length), *end = text + length;
    const bool is_named = open && (!equals || open < equals);
    if (!length || (is_named && (end[-1] != ')' || open == text)))
        return fail_value(entry, text, length);
    struct ys_knob_value *value = ys_list_add(&ys_knob_value_record, &knob->values);
    value->name = ys_strndup(text, is_named ? (size_t)(open - text) : length);
    const char *at = is_named ? open + 1 : text;
    end -= is_named;
    while (at < end) {
        const size_t blanks = strspn(at, " "), size = strcspn(at + blanks, " ");
        at += blanks;
        const size_t rest = (size_t)(end - at);
        if (at < end)
            YS_TRY(add_key(entry, at, size < rest ? size : rest, is_recipe, value));
        at += size;
    }
    return value->keys.count ? YS_OK : fail_value(entry, text, length);
}

static ys_status add_values(const struct ys_ini_entry *entry, const char *end, bool is_recipe, struct ys_knob *knob)
{
    for (const char *at = entry->value; at < end;) {
        const char *bar = strstr(at, " | ");
        const char *stop = bar && bar < end ? bar : end;
        at += strspn(at, " ");
        size_t length = stop > at ? (size_t)(stop - at) : 0;
        while (length && at[length - 1] == ' ')
            length--;
        YS_TRY(add_value(entry, at, length, is_recipe, knob));
        at = stop == end ? end : stop + 3;
    }
    return YS_OK;
}

ys_status ys_knob_add(const struct ys_ini_entry *entry, const char *name, bool is_recipe, struct ys_list *knobs)
{
    const char *colon = strstr(entry->value, ": ");
    const bool is_removed = is_recipe && strcmp(entry->value, "none") == 0;
    if (!*name)
        return ys_ini_fail(&entry->place, "%s: write tune.KNOB, such as tune.layout", entry->key);
    if (!colon && !is_removed)
        return ys_ini_fail(&entry->value_place, "%s = %s: write VALUES: why%s", entry->key, entry->value,
                           is_recipe ? ", or none" : "");
    struct ys_knob *knob = ys_list_add(&ys_knob_record, knobs);
    knob->name = ys_strdup(name);
    knob->from = ys_strdup(ys_path_base(entry->place.file));
    knob->why = ys_strdup(is_removed ? "" : colon + 2 + strspn(colon + 2, " "));
    return is_removed ? YS_OK : add_values(entry, colon, is_recipe, knob);
}

static ys_status check_value(const char *path, const struct ys_knob *knob, const struct ys_knob_value *value,
                             const ys_json *options)
{
    char *const *keys = value->keys.items;
    for (size_t i = 0; i < value->keys.count; i++) {
        if (strncmp(keys[i], OPTION, sizeof OPTION - 1) != 0)
            continue;
        char *name = ys_strndup(keys[i] + sizeof OPTION - 1, strcspn(keys[i], "=") - (sizeof OPTION - 1));
        const bool is_known = ys_json_get(options, name) != NULL;
        ys_status status =
            is_known ? YS_OK
                     : ys_fail(YS_EFORMAT, "%s: tune.%s: the recipe has no option opt.%s", path, knob->name, name);
        ys_free(name);
        YS_TRY(status);
    }
    return YS_OK;
}

ys_status ys_knobs_check(const char *path, const struct ys_list *knobs, const ys_json *options)
{
    const struct ys_knob *all = knobs->items;
    for (size_t i = 0; i < knobs->count; i++) {
        const struct ys_knob_value *values = all[i].values.items;
        for (size_t v = 0; v < all[i].values.count; v++)
            YS_TRY(check_value(path, &all[i], &values[v], options));
    }
    return YS_OK;
}

static ys_status read_common(struct ys_list *knobs)
{
    struct ys_ini ini;
    char *path = ys_find_support("frameworks/common.knobs");
    if (!path)
        return ys_fail(YS_ENOTFOUND, "yardstick's own frameworks/common.knobs is not there");
    ys_status status = ys_ini_read(path, &ini);
    ys_free(path);
    YS_TRY(status);
    if (ini.section_count > 1)
        status = ys_ini_fail(&ini.sections[1].place, "a file of knobs has no sections");
    if (status == YS_OK)
        status = ys_ini_check_unique(&ini, NULL);
    for (size_t i = 0; status == YS_OK && i < ini.entry_count; i++)
        status = ys_knob_add(&ini.entries[i], ini.entries[i].key, false, knobs);
    ys_ini_fini(&ini);
    return status == YS_EINVAL ? YS_EFORMAT : status;
}

/* "opt.xla=on" of the recipe of tensorflow as a job writes it. */
static void name_options(const char *framework, struct ys_knob *knob)
{
    struct ys_knob_value *values = knob->values.items;
    for (size_t v = 0; v < knob->values.count; v++) {
        char **keys = values[v].keys.items;
        for (size_t i = 0; i < values[v].keys.count; i++) {
            if (strncmp(keys[i], OPTION, sizeof OPTION - 1) != 0)
                continue;
            char *named = ys_format("opt.%s.%s", framework, keys[i] + sizeof OPTION - 1);
            ys_free(keys[i]);
            keys[i] = named;
        }
    }
}

static size_t place_of(const struct ys_list *knobs, const char *name)
{
    const struct ys_knob *all = knobs->items;
    size_t i = 0;
    while (i < knobs->count && strcmp(all[i].name, name) != 0)
        i++;
    return i;
}

static void take_out(struct ys_list *knobs, size_t place)
{
    struct ys_knob *all = knobs->items;
    if (place >= knobs->count)
        return;
    ys_record_fini(&ys_knob_record, &all[place]);
    memmove(&all[place], &all[place + 1], (--knobs->count - place) * sizeof *all);
}

/* What a recipe says takes the place of what is common. */
static ys_status lay_over(const struct ys_recipe *recipe, struct ys_list *knobs)
{
    const struct ys_knob *own = recipe->knobs.items;
    for (size_t i = 0; i < recipe->knobs.count; i++) {
        take_out(knobs, place_of(knobs, own[i].name));
        if (!own[i].values.count)
            continue;
        struct ys_knob *knob = ys_list_add(&ys_knob_record, knobs);
        YS_TRY(ys_record_copy(&ys_knob_record, &own[i], knob));
        name_options(recipe->name, knob);
    }
    return YS_OK;
}

ys_status ys_knobs_of(const char *spec, const char *const *recipe_dirs, struct ys_list *knobs)
{
    struct ys_recipe *recipe = NULL;
    *knobs = (struct ys_list){0};
    ys_status status = read_common(knobs);
    if (status == YS_OK && spec)
        status = ys_recipe_find(spec, recipe_dirs, &recipe);
    if (status == YS_OK && recipe)
        status = lay_over(recipe, knobs);
    ys_recipe_free(recipe);
    if (status != YS_OK)
        ys_list_fini(&ys_knob_record, knobs);
    return status;
}

static const struct ys_field value_fields[] = {
    YS_FIELD(struct ys_knob_value, name, YS_FIELD_TEXT, NULL, 0, "of the value"),
    YS_FIELD(struct ys_knob_value, keys, YS_FIELD_TEXTS, NULL, 0, "of a job, KEY=VALUE"),
};
const struct ys_record ys_knob_value_record = YS_RECORD("knob value", struct ys_knob_value, value_fields);

static const struct ys_field knob_fields[] = {
    YS_FIELD(struct ys_knob, name, YS_FIELD_TEXT, NULL, 0, "as --knobs writes it"),
    YS_FIELD(struct ys_knob, why, YS_FIELD_TEXT, NULL, 0, "what it changes"),
    YS_FIELD(struct ys_knob, from, YS_FIELD_TEXT, NULL, 0, "the file that says it"),
    YS_FIELD_OF(struct ys_knob, values, YS_FIELD_LIST, &ys_knob_value_record, 0, "beside what is so without a word"),
};
const struct ys_record ys_knob_record = YS_RECORD("knob", struct ys_knob, knob_fields);
