#include "framework/framework.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/nearest_name.h"
#include "base/number_text.h"
#include "framework/adapter_closure.h"
#include "framework/converter.h"
#include "framework/environment.h"
#include "framework/environment_lock.h"
#include "framework/recipe.h"
#include "onnx/write/onnx_write.h"

#include <dirent.h>
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
    ys_held_release(framework->held);
    char *texts[] = {framework->spec,        framework->name,    framework->version, framework->title,
                     framework->recipe_path, framework->reason,  framework->command, framework->environment,
                     framework->foreign,     framework->changes, framework->cache,   framework->unpinned};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ys_free(texts[i]);
    free_list(framework->argv);
    free_list(framework->env);
    ys_json_free(framework->options);
    ys_json_free(framework->forms);
    ys_converter_free(framework->converter);
    ys_converter_free(framework->quantiser);
    ys_free(framework);
}

/* argv[0] of a program: beside the recipe when it has a '/', one of yardstick's own by its name, else whatever PATH
 * gives. Neither stands in for the other: beside an installed yardstick there may be a python3 that PATH does not mean.
 */
static char *find_program(const struct ys_recipe *recipe, const char *word)
{
    if (word[0] == '/')
        return ys_strdup(word);
    if (strchr(word, '/'))
        return ys_path_join(recipe->folder, word);
    if (strncmp(word, "yardstick-", strlen("yardstick-")) == 0) {
        char *own = ys_find_support(word);
        return own ? own : ys_strdup(word);
    }
    char *found = recipe->foreign || recipe->emulated ? ys_find_on_path(word) : NULL;
    return found ? found : ys_strdup(word);
}

/* An argument that names a file beside the recipe becomes its path: programs start in another folder. */
static char *find_argument(const struct ys_recipe *recipe, const char *word)
{
    char *beside = ys_path_join(recipe->folder, word);
    if (word[0] != '/' && ys_fs_exists(beside))
        return beside;
    ys_free(beside);
    return ys_strdup(word);
}

/* The word that begins at *at, new, and *at behind the blanks behind it. A blank behind a backslash is part of it. */
static char *take_word(const char **at)
{
    char *word = ys_alloc(strlen(*at) + 1, 1);
    size_t length = 0;
    for (; **at && **at != ' '; ++*at) {
        if ((*at)[0] == '\\' && (*at)[1] == ' ')
            ++*at;
        word[length++] = **at;
    }
    *at += strspn(*at, " ");
    return word;
}

/* A page needs what shows it. */
static void need_browser(struct ys_framework *framework)
{
    char *browser = ys_find_browser();
    if (!browser) {
        framework->state = YS_FRAMEWORK_MISSING;
        framework->reason = ys_strdup("no browser is on PATH: install the package chromium");
    }
    ys_free(browser);
}

/* Of what yardstick's Makefile makes for a program, and of the words of that which begin with "../", the first that is
 * not there, new; NULL. Who made it before may lack a file that it is given since. */
static char *find_unmade(const struct ys_recipe *recipe)
{
    char *path = ys_path_join(recipe->folder, recipe->made);
    bool there = ys_fs_exists(path);
    for (const char *at = recipe->program + strspn(recipe->program, " "); *at && there;) {
        char *word = take_word(&at);
        if (strncmp(word, "../", 3) == 0) {
            ys_free(path);
            path = ys_path_join(recipe->folder, word);
            there = ys_fs_exists(path);
        }
        ys_free(word);
    }
    if (!there)
        return path;
    ys_free(path);
    return NULL;
}

/* What is made for a program counts as its code does; its words are in the closure already. */
static void need_made(struct ys_framework *framework, const struct ys_recipe *recipe, struct ys_buf *closure)
{
    char *made = ys_path_join(recipe->folder, recipe->made), *unmade = find_unmade(recipe);
    ys_closure_mix_file(closure, made);
    if (unmade) {
        framework->state = YS_FRAMEWORK_MISSING;
        framework->reason = ys_format("what `make %s` makes, %s, is not there", recipe->make, unmade);
        framework->command = ys_format("yardstick install %s", recipe->name);
    }
    ys_free(made);
    ys_free(unmade);
}

#define MAX_WORDS 32

static ys_status use_program(struct ys_framework *framework, const struct ys_recipe *recipe, struct ys_buf *closure)
{
    framework->argv = ys_alloc(MAX_WORDS + 1, sizeof *framework->argv);
    size_t count = 0;
    for (const char *at = recipe->program + strspn(recipe->program, " "); *at;) {
        if (count == MAX_WORDS)
            return ys_fail(YS_EFORMAT, "%s: program has more than %d words", recipe->path, MAX_WORDS);
        char *word = take_word(&at);
        bool beside = count > 0 || (strchr(word, '/') && word[0] != '/');
        framework->argv[count] = count ? find_argument(recipe, word) : find_program(recipe, word);
        ys_free(word);
        if (beside)
            ys_closure_mix_code(closure, framework->argv[count++]);
        else
            ys_closure_mix_file(closure, framework->argv[count++]);
    }
    if (!ys_fs_is_executable(framework->argv[0])) {
        framework->state = YS_FRAMEWORK_MISSING;
        framework->reason = ys_format("its program %s is not there or may not be executed", framework->argv[0]);
        if (recipe->emulated)
            framework->command = ys_strdup("apt-get install qemu-user");
        return YS_OK;
    }
    if (recipe->make)
        need_made(framework, recipe, closure);
    if (framework->state == YS_FRAMEWORK_READY && strcmp(ys_path_base(framework->argv[0]), YS_BRIDGE) == 0)
        need_browser(framework);
    return YS_OK;
}

static void not_ready(struct ys_framework *framework, const struct ys_environment *environment,
                      const struct ys_recipe *home, const char *version)
{
    /* Asked for by its name alone the newest version of NAME.recipe comes; any other has to be named. */
    bool newest = version == home->versions[0] && !strchr(ys_path_base(home->path), '@');
    framework->state = environment->unsupported ? YS_FRAMEWORK_UNSUPPORTED : YS_FRAMEWORK_MISSING;
    framework->reason = ys_strdup(environment->reason);
    framework->command = ys_format("yardstick install %s%s%s%s", home->name, newest ? "" : "@", newest ? "" : version,
                                   home->get ? " --from=PROGRAM" : "");
}

static void start_with(struct ys_framework *framework, const char *interpreter, const char *adapter)
{
    framework->argv = ys_alloc(3, sizeof *framework->argv);
    framework->argv[0] = ys_strdup(interpreter);
    framework->argv[1] = ys_strdup(adapter);
}

/* Where a framework keeps what it compiled and downloaded, unless its recipe or the job says otherwise: not among what
 * the user's own copy of it keeps, and gone with the environment. */
#define CACHE_FOLDER "{environment}/cache"
static const char CACHE_VARIABLE[] = "XDG_CACHE_HOME=" CACHE_FOLDER;

/* The variables of every adapter, then the recipe's own; `environment` is NULL for a program, which has none. */
static void copy_env(struct ys_framework *framework, const struct ys_recipe *recipe,
                     const struct ys_environment *environment, bool has_cache)
{
    size_t count = 0, general = 0, own = 0;
    while (environment && ys_environment_variables[general])
        general++;
    while (recipe->env[own])
        own++;
    framework->env = ys_alloc(general + own + 2, sizeof *framework->env);
    for (size_t i = 0; i < general; i++)
        framework->env[count++] = ys_strdup(ys_environment_variables[i]);
    if (has_cache)
        framework->env[count++] = ys_environment_fill_in(environment, CACHE_VARIABLE);
    for (size_t i = 0; i < own; i++)
        framework->env[count++] =
            environment ? ys_environment_fill_in(environment, recipe->env[i]) : ys_strdup(recipe->env[i]);
}

/* `interpreter`: runs the adapter in place of the environment's own; NULL for that. */
static void use_adapter(struct ys_framework *framework, const struct ys_recipe *recipe, const struct ys_recipe *home,
                        const char *version, const char *interpreter, struct ys_buf *closure)
{
    struct ys_environment environment;
    ys_environment_read(home, version, &environment);
    char *adapter = ys_recipe_find_code(recipe, recipe->adapter);
    framework->environment = ys_strdup(environment.folder);
    framework->cache = ys_environment_fill_in(&environment, CACHE_FOLDER);
    if (ys_recipe_is_unpinned(home, version))
        framework->unpinned = ys_format("the packages of %s@%s are not pinned: they are those that were resolved when "
                                        "it was installed",
                                        home->name, version);
    ys_closure_mix_code(closure, adapter);
    copy_env(framework, recipe, &environment, !home->get);
    ys_buf_printf(closure, "%s|%s|", home->text, environment.made_from);
    if (!ys_fs_exists(adapter)) {
        framework->state = YS_FRAMEWORK_MISSING;
        framework->reason = ys_format("its adapter %s is not there", adapter);
    } else if (environment.complete || interpreter) {
        start_with(framework, interpreter ? interpreter : environment.interpreter, adapter);
        if (home->is_npm)
            need_browser(framework);
    } else {
        not_ready(framework, &environment, home, version);
    }
    ys_free(adapter);
    ys_environment_fini(&environment);
}

/* What converts its networks counts as the adapter does. */
static void use_converter(struct ys_framework *framework, struct ys_buf *closure)
{
    const struct ys_converter *converter = framework->converter;
    if (!converter)
        return;
    ys_buf_printf(closure, "converter %s|", converter->closure);
    if (framework->state != YS_FRAMEWORK_READY || !converter->reason)
        return;
    framework->state = YS_FRAMEWORK_MISSING;
    framework->reason = ys_format("what converts its networks, %s: %s", converter->spec, converter->reason);
    framework->command = ys_format("yardstick install %s", framework->name);
}

static ys_status fill(struct ys_framework *framework, const struct ys_recipe *recipe, const struct ys_recipe *home,
                      const char *version, const char *interpreter)
{
    struct ys_buf closure = {0};
    framework->version = ys_strdup(version);
    framework->title = ys_strdup(recipe->title);
    framework->recipe_path = ys_strdup(recipe->path);
    bool foreign = recipe->foreign || home->foreign;
    if (foreign)
        framework->foreign = ys_strdup(recipe->foreign ? recipe->path : home->path);
    framework->no_work = recipe->no_work;
    framework->emulated = recipe->emulated;
    framework->has_double = recipe->has_double;
    framework->download_bytes = home->download_bytes;
    framework->disk_bytes = home->disk_bytes;
    framework->reads_onnx = recipe->reads_onnx;
    framework->options = ys_json_copy(recipe->options);
    framework->forms = ys_json_array();
    for (size_t i = 0; recipe->forms && recipe->forms[i]; i++)
        ys_json_append(framework->forms, ys_json_string(recipe->forms[i]));
    ys_buf_printf(&closure, "%s|%s|", recipe->text, version);
    if (recipe->reads_onnx)
        ys_buf_printf(&closure, "onnx %d|", YS_ONNX_VERSION);
    ys_status status = YS_OK;
    if (recipe->program) {
        copy_env(framework, recipe, NULL, false);
        status = use_program(framework, recipe, &closure);
    } else {
        use_adapter(framework, recipe, home, version, interpreter, &closure);
    }
    use_converter(framework, &closure);
    ys_sha256_text(ys_buf_text(&closure), closure.size, framework->closure);
    ys_buf_free(&closure);
    return status;
}

/* The recipe whose environment `recipe` uses, at the version asked for ("" for the newest); NULL for its own. */
static ys_status find_home(const struct ys_recipe *recipe, const char *asked, const char *const *recipe_dirs,
                           struct ys_recipe **home)
{
    *home = NULL;
    if (!recipe->uses)
        return YS_OK;
    char *spec = *asked ? ys_format("%s@%s", recipe->uses, asked) : ys_strdup(recipe->uses);
    ys_status status = ys_recipe_find(spec, recipe_dirs, home);
    ys_free(spec);
    return status == YS_ENOTFOUND ? ys_fail_in(status, "%s: uses = %s", recipe->path, recipe->uses) : status;
}

static ys_status check_build(const struct ys_recipe *recipe, const char *interpreter)
{
    if (!interpreter)
        return YS_OK;
    if (!recipe->get)
        return ys_fail(YS_EINVAL, "%s comes from packages: leave --from=%s away", recipe->name, interpreter);
    if (!ys_fs_is_executable(interpreter))
        return ys_fail(YS_EINVAL, "--from=%s: there is no such program, or it may not be executed", interpreter);
    return YS_OK;
}

/* `own`: among yardstick's own alone. */
static ys_status find(const char *spec, const char *const *recipe_dirs, bool own, const char *interpreter,
                      struct ys_framework **framework)
{
    struct ys_framework *f = ys_alloc(1, sizeof *f);
    struct ys_recipe *recipe = NULL, *used = NULL;
    char *asked = NULL;
    const char *version = NULL;
    spec = f->spec = ys_recipe_named(spec, recipe_dirs);
    ys_recipe_split(spec, &f->name, &asked);
    ys_status status = own ? ys_recipe_find_own(spec, &recipe) : ys_recipe_find(spec, recipe_dirs, &recipe);
    if (status == YS_OK && recipe->is_tool)
        status =
            ys_fail(YS_EINVAL, "%s is a tool and no framework: `yardstick install %s` installs it, no study runs it",
                    recipe->name, recipe->name);
    if (status == YS_OK)
        status = check_build(recipe, interpreter);
    if (status == YS_OK)
        status = find_home(recipe, asked, recipe_dirs, &used);
    if (status == YS_OK)
        status = ys_recipe_version(used ? used : recipe, asked, &version);
    if (status == YS_OK && recipe->converter)
        status = ys_converter_find(recipe, "converter", recipe_dirs, &f->converter);
    if (status == YS_OK && recipe->quantiser)
        status = ys_converter_find(recipe, "quantiser", recipe_dirs, &f->quantiser);
    if (status == YS_OK)
        status = fill(f, recipe, used ? used : recipe, version, interpreter);
    ys_recipe_free(recipe);
    ys_recipe_free(used);
    ys_free(asked);
    if (status == YS_OK)
        *framework = f;
    else
        ys_framework_free(f);
    return status;
}

ys_status ys_framework_find(const char *spec, const char *const *recipe_dirs, struct ys_framework **framework)
{
    return find(spec, recipe_dirs, false, NULL, framework);
}

ys_status ys_framework_find_own(const char *name, struct ys_framework **framework)
{
    YS_TRY(find(name, NULL, true, NULL, framework));
    (*framework)->is_own = true;
    return YS_OK;
}

ys_status ys_framework_try(const char *spec, const char *const *recipe_dirs, const char *interpreter,
                           struct ys_framework **framework)
{
    return find(spec, recipe_dirs, false, interpreter, framework);
}

ys_status ys_framework_option(const struct ys_framework *framework, const char *option, const char *text,
                              ys_json **value)
{
    const ys_json *known = ys_json_get(framework->options, option), *choices = ys_json_get(known, "choices");
    if (!known)
        return ys_fail(YS_EINVAL, "%s has no option \"%s\": see `yardstick list frameworks %s`", framework->name,
                       option, framework->name);
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
