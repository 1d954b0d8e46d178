#include "framework/own_settings.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/nearest_name.h"
#include "data/dataset.h"
#include "framework/recipe.h"
#include "job/option.h"

#include <string.h>

/* What a framework's own example decides; the rest (threads, precision, blocks) is the study's. */
static const char *const keys[] = {"model",    "batch",        "epochs",   "steps",     "optimizer", "lr",
                                   "momentum", "weight_decay", "schedule", "clip_norm", "loss",      NULL};

static ys_status fail_key(const struct ys_ini_entry *entry, const char *key)
{
    const char *near = ys_nearest(key, keys);
    return ys_ini_fail(&entry->place, "%s: %s is no key that a framework has defaults for%s%s%s", entry->key, key,
                       near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* The table of one data set, made where there is none yet. */
static ys_json *find_table(ys_json *own, const char *data)
{
    if (!ys_json_get(own, data))
        ys_json_set(own, data, ys_json_object());
    return ys_json_get(own, data);
}

static ys_status set(ys_json *own, const struct ys_ini_entry *entry, const char *data, const char *key)
{
    ys_json *value = NULL;
    size_t known = 0;
    while (keys[known] && strcmp(keys[known], key) != 0)
        known++;
    if (!keys[known])
        return fail_key(entry, key);
    if (!ys_data_find(data))
        return ys_ini_fail(&entry->place, "%s: there is no data set %s: see `yardstick list datasets`", entry->key,
                           data);
    char *folder = ys_path_dir(entry->place.file);
    ys_status status = ys_option_parse_in(folder, ys_option_find(key), key, entry->value, &value);
    ys_free(folder);
    if (status != YS_OK)
        return ys_ini_fail_in(&entry->value_place, status);
    ys_json *table = find_table(own, data);
    ys_json_set(table, key, value);
    if (ys_json_get(table, "epochs") && ys_json_get(table, "steps"))
        return ys_ini_fail(&entry->place, "%s: epochs and steps both say how long a run is: remove one", entry->key);
    return YS_OK;
}

ys_status ys_own_set(ys_json *own, const struct ys_ini_entry *entry)
{
    const char *data = entry->key + strlen("own."), *dot = strchr(data, '.');
    if (!dot || dot == data || !dot[1])
        return ys_ini_fail(&entry->place, "%s: write own.DATA.KEY, such as own.mnist.lr", entry->key);
    char *name = ys_strndup(data, (size_t)(dot - data));
    ys_status status = set(own, entry, name, dot + 1);
    ys_free(name);
    return status;
}

/* "own_of can be caffe, theano": who has defaults for `data`. A damaged recipe has none. */
static void name_others(const char *data, const char *const *recipe_dirs, struct ys_buf *out)
{
    ys_json *specs = ys_recipe_specs(recipe_dirs);
    size_t count = 0;
    for (size_t i = 0; i < ys_json_size(specs); i++) {
        const char *spec = ys_json_text(ys_json_at(specs, i), "");
        struct ys_recipe *recipe = NULL;
        if (strchr(spec, '@') || ys_recipe_find(spec, recipe_dirs, &recipe) != YS_OK)
            continue;
        if (ys_json_get(recipe->own, data))
            ys_buf_printf(out, "%s%s", count++ ? ", " : ": own_of can be ", spec);
        ys_recipe_free(recipe);
    }
    ys_json_free(specs);
    if (!count)
        ys_buf_puts(out, ", nor has any other: give model and settings, without compare = own");
}

ys_status ys_framework_own(const char *name, const char *data, const char *const *recipe_dirs, ys_json **own,
                           char **reason)
{
    struct ys_recipe *recipe = NULL;
    struct ys_buf text = {0};
    *own = NULL;
    *reason = NULL;
    YS_TRY(ys_recipe_find(name, recipe_dirs, &recipe));
    const ys_json *table = ys_json_get(recipe->own, data);
    if (table) {
        *own = ys_json_copy(table);
    } else {
        ys_buf_printf(&text, "the recipe of %s has no defaults for %s", name, data);
        name_others(data, recipe_dirs, &text);
        *reason = ys_buf_take(&text);
    }
    ys_recipe_free(recipe);
    return YS_OK;
}
