/* Every recipe with the state of what it describes, as JSON. */
#include "framework/framework.h"

#include "base/fs.h"
#include "base/mem.h"
#include "framework/environment.h"
#include "framework/hold.h"

#include <string.h>

static void put_versions(ys_json *entry, const struct ys_recipe *recipe)
{
    ys_json *versions = ys_json_array();
    for (size_t i = 0; recipe->versions[i]; i++)
        if (recipe->versions[i][0])
            ys_json_append(versions, ys_json_string(recipe->versions[i]));
    ys_json_set(entry, "versions", versions);
}

static void put_abilities(ys_json *entry, const struct ys_recipe *recipe)
{
    ys_json *modes = ys_json_array();
    if (recipe->trains)
        ys_json_append(modes, ys_json_string("train"));
    if (recipe->infers)
        ys_json_append(modes, ys_json_string("infer"));
    ys_json_set(entry, "modes", modes);
    ys_json_set_bool(entry, "double", recipe->has_double);
    ys_json_set_bool(entry, "no_work", recipe->no_work);
    ys_json_set(entry, "options", ys_json_copy(recipe->options));
    ys_json_set_string(entry, "limits", recipe->limits);
}

static void put_size(ys_json *entry, const char *key, uint64_t size_bytes)
{
    ys_json_set(entry, key, size_bytes ? ys_json_int((int64_t)size_bytes) : ys_json_null());
}

/* What it takes to install it, and what is there. */
static ys_status put_environment(ys_json *entry, const struct ys_recipe *recipe, const char *version)
{
    struct ys_environment environment = {0};
    const char *python = recipe->python;
    bool own = recipe->adapter && !recipe->uses;
    ys_json_set_string(entry, "kind",
                       recipe->program ? "program"
                       : recipe->uses  ? "shared"
                       : recipe->get   ? "build"
                                       : "packages");
    ys_json_set_string(entry, "uses", recipe->uses);
    put_size(entry, "download_bytes", recipe->download_bytes);
    put_size(entry, "disk_bytes", recipe->disk_bytes);
    if (own)
        YS_TRY(ys_environment_read(recipe, version, &environment));
    if (environment.complete && *environment.python)
        python = environment.python;
    ys_json_set_string(entry, "python", python);
    put_size(entry, "size_bytes", environment.complete ? environment.size_bytes : 0);
    ys_environment_fini(&environment);
    return YS_OK;
}

/* One whose files changed is ready still; why it might better not be used, and what to do, stand where others have it.
 */
static ys_status put_state(ys_json *entry, struct ys_framework *framework)
{
    static const char *const states[] = {"ready", "missing", "unsupported"};
    struct ys_env_files files;
    YS_TRY(ys_framework_look(framework, &files));
    ys_json *changed = ys_env_files_count(&files) ? ys_json_object() : ys_json_null();
    if (ys_env_files_count(&files)) {
        ys_json_set_int(changed, "count", (int64_t)ys_env_files_count(&files));
        ys_json_set_int(changed, "missing", (int64_t)files.missing);
        ys_json_set_string(changed, "first", files.first);
    }
    ys_env_files_fini(&files);
    char *command =
        framework->changes ? ys_format("yardstick install --repair %s", ys_path_base(framework->environment)) : NULL;
    ys_json_set_string(entry, "state", states[framework->state]);
    ys_json_set_string(entry, "reason", framework->changes ? framework->changes : framework->reason);
    ys_json_set_string(entry, "command", command ? command : framework->command);
    ys_free(command);
    return ys_json_set(entry, "changed", changed);
}

static ys_status put_found(ys_json *entry, const struct ys_recipe *recipe, struct ys_framework *framework)
{
    ys_json_set_string(entry, "title", recipe->title);
    put_versions(entry, recipe);
    ys_json_set_string(entry, "version", framework->version);
    YS_TRY(put_state(entry, framework));
    put_abilities(entry, recipe);
    YS_TRY(put_environment(entry, recipe, framework->version));
    return ys_json_set_string(entry, "recipe", recipe->path);
}

static ys_status describe(const char *spec, const char *const *recipe_dirs, ys_json *entry)
{
    struct ys_recipe *recipe = NULL;
    struct ys_framework *framework = NULL;
    char *name = ys_strndup(spec, strcspn(spec, "@"));
    ys_json_set_string(entry, "name", name);
    ys_json_set_string(entry, "spec", spec);
    ys_free(name);
    ys_status status = ys_recipe_find(spec, recipe_dirs, &recipe);
    if (status == YS_OK)
        status = ys_framework_find(spec, recipe_dirs, &framework);
    if (status == YS_OK)
        status = put_found(entry, recipe, framework);
    if (status != YS_OK && status != YS_ENOMEM) {
        ys_json_set_string(entry, "state", "damaged");
        ys_json_set_string(entry, "reason", ys_error());
        status = YS_OK;
    }
    ys_recipe_free(recipe);
    ys_framework_free(framework);
    return status;
}

ys_status ys_framework_list(const char *const *recipe_dirs, ys_json **list)
{
    ys_json *specs = NULL, *entries = ys_json_array();
    ys_status status = ys_recipe_specs(recipe_dirs, &specs);
    for (size_t i = 0; status == YS_OK && i < ys_json_size(specs); i++) {
        ys_json *entry = ys_json_object();
        status = describe(ys_json_text(ys_json_at(specs, i), ""), recipe_dirs, entry);
        ys_status added = ys_json_append(entries, entry);
        if (status == YS_OK)
            status = added;
    }
    ys_json_free(specs);
    if (status != YS_OK) {
        ys_json_free(entries);
        return status;
    }
    *list = entries;
    return YS_OK;
}
