#include "framework/framework.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "framework/environment.h"
#include "framework/recipe.h"
#include "job/nearest.h"
#include "job/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        ys_free(list[i]);
    ys_free(list);
}

void ys_framework_free(struct ys_framework *framework)
{
    if (!framework)
        return;
    char *texts[] = {framework->spec,        framework->name,   framework->version, framework->title,
                     framework->recipe_path, framework->reason, framework->command};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ys_free(texts[i]);
    free_list(framework->argv);
    free_list(framework->env);
    ys_json_free(framework->options);
    ys_free(framework);
}

/* "pytorch@2.13.0" into its two halves; the version is "" when the spec has none. */
static ys_status split_spec(const char *spec, char **name, char **version)
{
    const char *at = strchr(spec, '@');
    *name = at ? ys_strndup(spec, (size_t)(at - spec)) : ys_strdup(spec);
    *version = ys_strdup(at ? at + 1 : "");
    return *name && *version ? YS_OK : ys_out_of_memory();
}

static ys_status pick_version(const struct ys_recipe *recipe, const char *asked, const char **version)
{
    struct ys_buf known = {0};
    *version = NULL;
    for (size_t i = 0; recipe->versions[i]; i++) {
        if (!*asked || strcmp(asked, recipe->versions[i]) == 0) {
            *version = recipe->versions[i];
            break;
        }
        ys_buf_printf(&known, "%s%s", i ? ", " : "", recipe->versions[i]);
    }
    ys_status status = YS_OK;
    if (!*version)
        status = ys_fail(YS_ENOTFOUND, "the recipe of %s has no version \"%s\" (it has: %s)", recipe->name, asked,
                         ys_buf_text(&known));
    ys_buf_free(&known);
    return status;
}

/* Mixes one file's content into the closure; a file that cannot be read mixes in its absence. */
static void mix_file(struct ys_buf *closure, const char *path)
{
    char hash[YS_SHA256_TEXT];
    bool there = path && ys_fs_exists(path) && ys_sha256_file(path, hash) == YS_OK;
    ys_buf_printf(closure, "%s|", there ? hash : "absent");
}

/* argv[0] of a program: beside the recipe when it has a '/', else one of yardstick's own, else whatever PATH gives. */
static char *find_program(const struct ys_recipe *recipe, const char *word)
{
    if (word[0] == '/')
        return ys_strdup(word);
    if (strchr(word, '/'))
        return ys_path_join(recipe->folder, word);
    char *own = ys_find_support(word);
    if (own)
        return own;
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        char *candidate = ys_format("%.*s/%s", (int)length, path, word);
        if (candidate && ys_fs_is_executable(candidate))
            return candidate;
        ys_free(candidate);
        path += length + (path[length] == ':');
    }
    return ys_strdup(word);
}

/* An argument that names a file beside the recipe becomes its path: programs start in another folder. */
static char *find_argument(const struct ys_recipe *recipe, const char *word)
{
    char *beside = ys_path_join(recipe->folder, word);
    if (beside && word[0] != '/' && ys_fs_exists(beside))
        return beside;
    ys_free(beside);
    return ys_strdup(word);
}

#define MAX_WORDS 32

static ys_status use_program(struct ys_framework *framework, const struct ys_recipe *recipe, struct ys_buf *closure)
{
    framework->argv = ys_alloc(MAX_WORDS + 1, sizeof *framework->argv);
    if (!framework->argv)
        return ys_out_of_memory();
    size_t count = 0;
    for (const char *at = recipe->program + strspn(recipe->program, " "); *at;) {
        size_t length = strcspn(at, " ");
        if (count == MAX_WORDS)
            return ys_fail(YS_EFORMAT, "%s: program has more than %d words", recipe->path, MAX_WORDS);
        char *word = ys_strndup(at, length);
        if (!word)
            return ys_out_of_memory();
        framework->argv[count] = count ? find_argument(recipe, word) : find_program(recipe, word);
        ys_free(word);
        if (!framework->argv[count])
            return ys_out_of_memory();
        mix_file(closure, framework->argv[count++]);
        at += length + strspn(at + length, " ");
    }
    if (ys_fs_is_executable(framework->argv[0]))
        return YS_OK;
    framework->state = YS_FRAMEWORK_MISSING;
    framework->reason = ys_format("its program %s is not there or may not be executed", framework->argv[0]);
    return framework->reason ? YS_OK : ys_out_of_memory();
}

/* The adapter's file: beside the recipe, or one of yardstick's own. */
static char *find_adapter(const struct ys_recipe *recipe)
{
    char *beside =
        recipe->adapter[0] == '/' ? ys_strdup(recipe->adapter) : ys_path_join(recipe->folder, recipe->adapter);
    if (beside && ys_fs_exists(beside))
        return beside;
    char *own = ys_find_support(recipe->adapter);
    if (!own)
        return beside;
    ys_free(beside);
    return own;
}

static ys_status not_ready(struct ys_framework *framework, const struct ys_environment *environment,
                           const char *installs)
{
    framework->state = environment->unsupported ? YS_FRAMEWORK_UNSUPPORTED : YS_FRAMEWORK_MISSING;
    framework->reason = ys_strdup(environment->reason);
    framework->command = ys_format("yardstick install %s", installs);
    return framework->reason && framework->command ? YS_OK : ys_out_of_memory();
}

static ys_status use_python(struct ys_framework *framework, const struct ys_recipe *recipe,
                            const struct ys_recipe *home, const char *version, struct ys_buf *closure)
{
    struct ys_environment environment;
    YS_TRY(ys_environment_read(home, version, &environment));
    char *adapter = find_adapter(recipe), *folder = adapter ? ys_path_dir(adapter) : NULL;
    char *common = folder ? ys_path_join(folder, "common.py") : NULL;
    char *installs = version == home->versions[0] ? ys_strdup(home->name) : ys_format("%s@%s", home->name, version);
    ys_status status = common && installs ? YS_OK : ys_out_of_memory();
    if (status == YS_OK) {
        mix_file(closure, adapter);
        mix_file(closure, common);
        ys_buf_printf(closure, "%s|%s|", home->text, environment.requirements_hash);
        if (!ys_fs_exists(adapter)) {
            framework->state = YS_FRAMEWORK_MISSING;
            framework->reason = ys_format("its adapter %s is not there", adapter);
        } else if (!environment.complete) {
            status = not_ready(framework, &environment, installs);
        } else {
            framework->argv = ys_alloc(3, sizeof *framework->argv);
            if (framework->argv) {
                framework->argv[0] = ys_strdup(environment.python);
                framework->argv[1] = ys_strdup(adapter);
            }
            status = framework->argv && framework->argv[0] && framework->argv[1] ? YS_OK : ys_out_of_memory();
        }
    }
    ys_free(adapter);
    ys_free(folder);
    ys_free(common);
    ys_free(installs);
    ys_environment_fini(&environment);
    return status;
}

/* The environment of every adapter, then the recipe's own variables over it. */
static ys_status copy_env(struct ys_framework *framework, const struct ys_recipe *recipe)
{
    static const char *const always[] = {"PYTHONNOUSERSITE=1", "PYTHONHASHSEED=0"};
    size_t count = 0, own = recipe->adapter ? sizeof always / sizeof always[0] : 0;
    while (recipe->env[count])
        count++;
    framework->env = ys_alloc(count + own + 1, sizeof *framework->env);
    for (size_t i = 0; framework->env && i < count + own; i++) {
        framework->env[i] = ys_strdup(i < own ? always[i] : recipe->env[i - own]);
        if (!framework->env[i])
            return ys_out_of_memory();
    }
    return framework->env ? YS_OK : ys_out_of_memory();
}

static ys_status fill(struct ys_framework *framework, const struct ys_recipe *recipe, const struct ys_recipe *home,
                      const char *version)
{
    struct ys_buf closure = {0};
    framework->version = ys_strdup(version);
    framework->title = ys_strdup(recipe->title);
    framework->recipe_path = ys_strdup(recipe->path);
    framework->no_work = recipe->no_work;
    framework->has_double = recipe->has_double;
    framework->options = ys_json_copy(recipe->options);
    if (!framework->version || !framework->title || !framework->recipe_path || !framework->options)
        return ys_out_of_memory();
    ys_status status = copy_env(framework, recipe);
    ys_buf_printf(&closure, "%s|%s|", recipe->text, version);
    if (status == YS_OK)
        status = recipe->program ? use_program(framework, recipe, &closure)
                                 : use_python(framework, recipe, home, version, &closure);
    if (closure.failed)
        status = ys_out_of_memory();
    ys_sha256_text(ys_buf_text(&closure), closure.size, framework->closure);
    ys_buf_free(&closure);
    return status;
}

ys_status ys_framework_find(const char *spec, const char *const *recipe_dirs, struct ys_framework **framework)
{
    struct ys_framework *f = ys_alloc(1, sizeof *f);
    struct ys_recipe *recipe = NULL, *used = NULL;
    char *asked = NULL;
    const char *version = NULL;
    if (!f)
        return ys_out_of_memory();
    f->spec = ys_strdup(spec);
    ys_status status = f->spec ? split_spec(spec, &f->name, &asked) : ys_out_of_memory();
    if (status == YS_OK)
        status = ys_recipe_find(f->name, recipe_dirs, &recipe);
    if (status == YS_OK && recipe->uses)
        status = ys_recipe_find(recipe->uses, recipe_dirs, &used);
    if (status == YS_OK)
        status = pick_version(used ? used : recipe, asked, &version);
    if (status == YS_OK)
        status = fill(f, recipe, used ? used : recipe, version);
    ys_recipe_free(recipe);
    ys_recipe_free(used);
    ys_free(asked);
    if (status == YS_OK)
        *framework = f;
    else
        ys_framework_free(f);
    return status;
}

ys_status ys_framework_option(const struct ys_framework *framework, const char *option, const char *text,
                              ys_json **value)
{
    const ys_json *known = ys_json_get(framework->options, option), *choices = ys_json_get(known, "choices");
    if (!known)
        return ys_fail(YS_EINVAL, "%s has no option \"%s\": see yardstick list frameworks %s", framework->name, option,
                       framework->name);
    const char *type = ys_json_get_text(known, "type", "text");
    bool is_number = strcmp(type, "number") == 0;
    struct ys_buf allowed = {0};
    double number;
    *value = NULL;
    if (strcmp(type, "text") == 0)
        *value = ys_json_string(text);
    else if (is_number && ys_value_real(text, &number) && number > 0 && isfinite(number))
        *value = ys_json_real(number);
    else if (strcmp(type, "bool") == 0 && (strcmp(text, "on") == 0 || strcmp(text, "off") == 0))
        *value = ys_json_bool(strcmp(text, "on") == 0);
    for (size_t i = 0; i < ys_json_size(choices); i++) {
        const char *choice = ys_json_text(ys_json_at(choices, i), "");
        ys_buf_printf(&allowed, "%s%s", i ? ", " : "", choice);
        if (strcmp(choice, text) == 0)
            *value = ys_json_string(text);
    }
    ys_status status = YS_OK;
    if (!*value)
        status = ys_fail(YS_EINVAL, "opt.%s.%s = %s: write %s%s", framework->name, option, text,
                         ys_json_size(choices) ? "one of "
                         : is_number           ? "a number above 0"
                                               : "on or off",
                         ys_buf_text(&allowed));
    ys_buf_free(&allowed);
    return status;
}

static ys_json *list_versions(const struct ys_recipe *recipe)
{
    ys_json *versions = ys_json_array();
    for (size_t i = 0; recipe->versions[i]; i++)
        if (recipe->versions[i][0])
            ys_json_append(versions, ys_json_string(recipe->versions[i]));
    return versions;
}

static ys_status describe(const char *name, const char *const *recipe_dirs, ys_json *entry)
{
    static const char *const states[] = {"ready", "missing", "unsupported"};
    struct ys_recipe *recipe = NULL;
    struct ys_framework *framework = NULL;
    ys_json_set_string(entry, "name", name);
    ys_status status = ys_recipe_find(name, recipe_dirs, &recipe);
    if (status == YS_OK)
        status = ys_framework_find(name, recipe_dirs, &framework);
    if (status == YS_OK) {
        ys_json_set_string(entry, "title", recipe->title);
        ys_json_set(entry, "versions", list_versions(recipe));
        ys_json_set_string(entry, "version", framework->version);
        ys_json_set_string(entry, "state", states[framework->state]);
        ys_json_set_string(entry, "reason", framework->reason);
        ys_json_set_string(entry, "command", framework->command);
        ys_json_set_string(entry, "limits", recipe->limits);
        ys_json_set(entry, "options", ys_json_copy(framework->options));
        ys_json_set_string(entry, "recipe", recipe->path);
        struct ys_environment environment = {0};
        if (recipe->adapter && !recipe->uses &&
            ys_environment_read(recipe, framework->version, &environment) == YS_OK && environment.complete)
            ys_json_set_int(entry, "size_bytes", (int64_t)environment.size_bytes);
        ys_environment_fini(&environment);
    } else if (status != YS_ENOMEM) {
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
    ys_json *names = NULL, *entries = ys_json_array();
    ys_status status = ys_recipe_names(recipe_dirs, &names);
    for (size_t i = 0; status == YS_OK && i < ys_json_size(names); i++) {
        ys_json *entry = ys_json_object();
        status = describe(ys_json_text(ys_json_at(names, i), ""), recipe_dirs, entry);
        ys_status added = ys_json_append(entries, entry);
        if (status == YS_OK)
            status = added;
    }
    ys_json_free(names);
    if (status != YS_OK) {
        ys_json_free(entries);
        return status;
    }
    *list = entries;
    return YS_OK;
}

/* The recipe of `spec` and the version meant; only recipes that have an environment of their own can be installed. */
static ys_status find_installable(const char *spec, const char *const *recipe_dirs, struct ys_recipe **recipe,
                                  const char **version)
{
    char *name = NULL, *asked = NULL;
    ys_status status = split_spec(spec, &name, &asked);
    if (status == YS_OK)
        status = ys_recipe_find(name, recipe_dirs, recipe);
    if (status == YS_OK)
        status = pick_version(*recipe, asked, version);
    ys_free(name);
    ys_free(asked);
    return status;
}

ys_status ys_framework_install(const char *spec, const char *const *recipe_dirs)
{
    struct ys_recipe *recipe = NULL;
    const char *version = NULL;
    struct ys_environment environment = {0};
    ys_status status = find_installable(spec, recipe_dirs, &recipe, &version);
    if (status == YS_OK && (recipe->program || recipe->uses)) {
        ys_log_info("%s needs no installation%s%s", recipe->name, recipe->uses ? " of its own: it uses " : "",
                    recipe->uses ? recipe->uses : "");
    } else if (status == YS_OK) {
        status = ys_environment_read(recipe, version, &environment);
        if (status == YS_OK && environment.complete)
            ys_log_info("%s %s is installed in %s (%.1f GB)", recipe->title, version, environment.folder,
                        (double)environment.size_bytes * 1e-9);
        else if (status == YS_OK)
            status = ys_environment_make(recipe, version);
    }
    ys_environment_fini(&environment);
    ys_recipe_free(recipe);
    return status;
}

ys_status ys_framework_uninstall(const char *spec, const char *const *recipe_dirs)
{
    struct ys_recipe *recipe = NULL;
    const char *version = NULL;
    struct ys_environment environment = {0};
    ys_status status = find_installable(spec, recipe_dirs, &recipe, &version);
    if (status == YS_OK && (recipe->program || recipe->uses))
        status = ys_fail(YS_EINVAL, "%s has no environment of its own, so there is nothing to remove", recipe->name);
    if (status == YS_OK)
        status = ys_environment_read(recipe, version, &environment);
    if (status == YS_OK)
        status = ys_environment_remove(&environment);
    if (status == YS_OK)
        ys_log_info("removed %s", environment.folder);
    ys_environment_fini(&environment);
    ys_recipe_free(recipe);
    return status;
}
