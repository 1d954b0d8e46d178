#include "framework/recipe.h"

#include "base/files/fs.h"
#include "base/json/shared_words.h"
#include "base/mem.h"
#include "base/nearest_name.h"
#include "framework/knobs.h"
#include "framework/own_settings.h"
#include "job/ini.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char SUFFIX[] = ".recipe";

static void free_texts(char **texts)
{
    for (size_t i = 0; texts && texts[i]; i++)
        ys_free(texts[i]);
    ys_free(texts);
}

void ys_recipe_free(struct ys_recipe *recipe)
{
    if (!recipe)
        return;
    char *texts[] = {recipe->path,      recipe->folder,    recipe->text,    recipe->name,     recipe->title,
                     recipe->program,   recipe->adapter,   recipe->uses,    recipe->python,   recipe->requirements,
                     recipe->index,     recipe->get,       recipe->limits,  recipe->unpinned, recipe->resolved,
                     recipe->elsewhere, recipe->converter, recipe->convert, recipe->make,     recipe->made,
                     recipe->quantiser, recipe->quantise};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ys_free(texts[i]);
    free_texts(recipe->versions);
    free_texts(recipe->also);
    free_texts(recipe->forms);
    free_texts(recipe->env);
    ys_json_free(recipe->options);
    ys_json_free(recipe->own);
    ys_list_fini(&ys_knob_record, &recipe->knobs);
    ys_free(recipe);
}

/* Appends a copy of `text` to a list ended by NULL. */
static void add_text(char ***list, const char *text)
{
    size_t count = 0;
    while (*list && (*list)[count])
        count++;
    char **grown = ys_realloc(*list, count + 2, sizeof *grown), *copy = ys_strdup(text);
    *list = grown;
    grown[count] = copy;
    grown[count + 1] = NULL;
}

/* "1, 2,3" or "1 2 3" into a list. */
static void add_words(char ***list, const char *text, const char *separators)
{
    while (*text) {
        size_t length = strcspn(text, separators);
        if (length > 0) {
            char *word = ys_strndup(text, length);
            add_text(list, word);
            ys_free(word);
        }
        text += length + (text[length] != 0);
    }
}

static ys_status set_bool(bool *field, const struct ys_ini_entry *entry)
{
    bool yes = strcmp(entry->value, "yes") == 0;
    if (!yes && strcmp(entry->value, "no") != 0)
        return ys_ini_fail(&entry->value_place, "%s = %s: write yes or no", entry->key, entry->value);
    *field = yes;
    return YS_OK;
}

static ys_status set_size(uint64_t *field, const struct ys_ini_entry *entry)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"MB", 1e6}, {"GB", 1e9}};
    char *end = NULL;
    double value = strtod(entry->value, &end);
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (end != entry->value && strcmp(end, units[i].unit) == 0 && value > 0 && value < 1e6) {
            *field = (uint64_t)(value * units[i].factor);
            return YS_OK;
        }
    }
    return ys_ini_fail(&entry->value_place, "%s = %s: write a size such as 190 MB or 1.6 GB", entry->key, entry->value);
}

/* modes = train infer */
static ys_status set_modes(struct ys_recipe *recipe, const struct ys_ini_entry *entry)
{
    char **words = NULL;
    add_words(&words, entry->value, ", ");
    ys_status status = YS_OK;
    recipe->has_mode[YS_MODE_TRAIN] = recipe->has_mode[YS_MODE_INFER] = recipe->has_mode[YS_MODE_ATTACK] = false;
    for (size_t i = 0; status == YS_OK && words && words[i]; i++) {
        const int mode = ys_name_find(&ys_modes, words[i]);
        if (mode != YS_NAME_NONE)
            recipe->has_mode[mode] = true;
        else
            status = ys_ini_fail(&entry->value_place, "modes = %s: write train, infer or both", entry->value);
    }
    free_texts(words);
    return status;
}

/* opt.NAME = bool: help   |   number: help   |   text: help   |   one of a b c: help */
static ys_status set_option(ys_json *options, const struct ys_ini_entry *entry)
{
    const char *name = entry->key + strlen("opt."), *colon = strchr(entry->value, ':');
    if (!*name || !colon)
        return ys_ini_fail(&entry->value_place,
                           "%s = %s: write TYPE: HELP, where TYPE is bool, number, text or one of A B C", entry->key,
                           entry->value);
    char *type = ys_strndup(entry->value, (size_t)(colon - entry->value));
    ys_json *option = ys_json_object();
    ys_status status = YS_OK;
    if (strcmp(type, "bool") == 0 || strcmp(type, "number") == 0 || strcmp(type, "text") == 0) {
        ys_json_set_string(option, "type", type);
    } else if (strncmp(type, "one of ", 7) == 0) {
        char **words = NULL;
        ys_json *choices = ys_json_array();
        add_words(&words, type + 7, " ");
        for (size_t i = 0; words && words[i]; i++)
            ys_json_append(choices, ys_json_string(words[i]));
        free_texts(words);
        ys_json_set_string(option, "type", "choice");
        ys_json_set(option, "choices", choices);
    } else {
        status = ys_ini_fail(&entry->value_place, "%s: \"%s\" is no type: write bool, number, text or one of A B C",
                             entry->key, type);
    }
    ys_json_set_string(option, "help", colon + 1 + strspn(colon + 1, " "));
    ys_free(type);
    ys_status set = ys_json_set(options, name, option);
    return status != YS_OK ? status : set;
}

/* kind = tool */
static ys_status set_kind(struct ys_recipe *recipe, const struct ys_ini_entry *entry)
{
    recipe->is_tool = strcmp(entry->value, "tool") == 0;
    return recipe->is_tool ? YS_OK
                           : ys_ini_fail(&entry->value_place, "kind = %s: write tool, or leave it away", entry->value);
}

/* make = TARGET FILE */
static ys_status set_make(struct ys_recipe *recipe, const struct ys_ini_entry *entry)
{
    const size_t length = strcspn(entry->value, " ");
    const char *file = entry->value + length + strspn(entry->value + length, " ");
    if (!*file)
        return ys_ini_fail(&entry->value_place, "make = %s: write TARGET FILE", entry->value);
    recipe->make = ys_strndup(entry->value, length);
    recipe->made = ys_strdup(file);
    return YS_OK;
}

static const char *const keys[] = {
    "name",     "title",     "program",  "adapter",      "uses",     "versions",  "python",    "requirements",
    "index",    "get",       "limits",   "download",     "disk",     "no_work",   "double",    "model_format",
    "modes",    "env.NAME",  "opt.NAME", "own.DATA.KEY", "unpinned", "elsewhere", "also",      "kind",
    "forms",    "converter", "convert",  "tune.KNOB",    "npm",      "make",      "quantiser", "quantise",
    "emulated", NULL};

static bool set_words(struct ys_recipe *recipe, const struct ys_ini_entry *entry)
{
    const struct {
        const char *key;
        char ***field;
    } lists[] = {{"versions", &recipe->versions}, {"also", &recipe->also}, {"forms", &recipe->forms}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (strcmp(entry->key, lists[i].key) == 0) {
            add_words(lists[i].field, entry->value, ", ");
            recipe->has_mode[YS_MODE_SIZE] = recipe->forms != NULL;
            return true;
        }
    return false;
}

static bool set_text(struct ys_recipe *recipe, const struct ys_ini_entry *entry)
{
    const struct {
        const char *key;
        char **field;
    } texts[] = {
        {"name", &recipe->name},
        {"title", &recipe->title},
        {"program", &recipe->program},
        {"adapter", &recipe->adapter},
        {"uses", &recipe->uses},
        {"python", &recipe->python},
        {"requirements", &recipe->requirements},
        {"unpinned", &recipe->unpinned},
        {"index", &recipe->index},
        {"elsewhere", &recipe->elsewhere},
        {"get", &recipe->get},
        {"converter", &recipe->converter},
        {"convert", &recipe->convert},
        {"quantiser", &recipe->quantiser},
        {"quantise", &recipe->quantise},
        {"limits", &recipe->limits},
        {"npm", &recipe->requirements},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(entry->key, texts[i].key) == 0) {
            *texts[i].field = ys_strdup(entry->value);
            recipe->is_npm |= strcmp(entry->key, "npm") == 0;
            return true;
        }
    return false;
}

static ys_status set_key(struct ys_recipe *recipe, const struct ys_ini_entry *entry)
{
    if (set_text(recipe, entry) || set_words(recipe, entry))
        return YS_OK;
    const bool is_disk = strcmp(entry->key, "disk") == 0;
    if (is_disk || strcmp(entry->key, "download") == 0)
        return set_size(is_disk ? &recipe->disk_bytes : &recipe->download_bytes, entry);
    if (strcmp(entry->key, "no_work") == 0)
        return set_bool(&recipe->no_work, entry);
    if (strcmp(entry->key, "emulated") == 0)
        return set_bool(&recipe->emulated, entry);
    if (strcmp(entry->key, "double") == 0)
        return set_bool(&recipe->has_double, entry);
    if (strcmp(entry->key, "model_format") == 0) {
        recipe->reads_onnx = strcmp(entry->value, "onnx") == 0;
        return recipe->reads_onnx ? YS_OK
                                  : ys_ini_fail(&entry->value_place, "model_format = %s: write onnx", entry->value);
    }
    if (strcmp(entry->key, "modes") == 0)
        return set_modes(recipe, entry);
    if (strcmp(entry->key, "kind") == 0)
        return set_kind(recipe, entry);
    if (strcmp(entry->key, "make") == 0)
        return set_make(recipe, entry);
    if (strncmp(entry->key, "opt.", 4) == 0)
        return set_option(recipe->options, entry);
    if (strncmp(entry->key, "own.", 4) == 0)
        return ys_own_set(recipe->own, entry);
    if (strncmp(entry->key, "tune.", 5) == 0)
        return ys_knob_add(entry, entry->key + 5, true, &recipe->knobs);
    if (strncmp(entry->key, "env.", 4) == 0 && entry->key[4]) {
        char *pair = ys_format("%s=%s", entry->key + 4, entry->value);
        add_text(&recipe->env, pair);
        ys_free(pair);
        return YS_OK;
    }
    const char *near = ys_nearest(entry->key, keys);
    return ys_ini_fail(&entry->place, "a recipe has no key \"%s\"%s%s%s", entry->key, near ? "; did you mean \"" : "",
                       near ? near : "", near ? "\"?" : "");
}

/* Whether the file is called NAME.recipe, or NAME@VERSION.recipe and has that version alone. */
static ys_status check_file_name(const struct ys_recipe *recipe)
{
    const char *base = ys_path_base(recipe->path), *at = strchr(base, '@'), *version = recipe->versions[0];
    const char *plain[] = {recipe->name, SUFFIX, NULL}, *special[] = {recipe->name, "@", version, SUFFIX, NULL};
    const char **parts = at ? special : plain;
    const char *rest = base;
    for (size_t i = 0; rest && parts[i]; i++)
        rest = strncmp(rest, parts[i], strlen(parts[i])) == 0 ? rest + strlen(parts[i]) : NULL;
    if (rest && !*rest && (!at || !recipe->versions[1]))
        return YS_OK;
    if (at)
        return ys_fail(YS_EFORMAT, "%s: a file of that name needs name = %.*s and versions = %.*s", recipe->path,
                       (int)(at - base), base, (int)(strlen(at + 1) - (sizeof SUFFIX - 1)), at + 1);
    return ys_fail(YS_EFORMAT, "%s: its name is \"%s\": the file must be called %s%s", recipe->path, recipe->name,
                   recipe->name, SUFFIX);
}

/* {opt.NAME} in a variable must name an option of the recipe. */
static ys_status check_env(const struct ys_recipe *recipe)
{
    for (size_t i = 0; recipe->env[i]; i++) {
        for (const char *at = recipe->env[i]; (at = strstr(at, "{opt."));) {
            at += strlen("{opt.");
            char *name = ys_strndup(at, strcspn(at, "}"));
            bool known = ys_json_get(recipe->options, name) != NULL;
            ys_status status = known ? YS_OK
                                     : ys_fail(YS_EFORMAT, "%s: env.%s: the recipe has no option opt.%s", recipe->path,
                                               recipe->env[i], name);
            ys_free(name);
            YS_TRY(status);
        }
    }
    return YS_OK;
}

/* What belongs to the recipe whose environment is used; `versions` is "" where there was no such key. */
static ys_status check_uses(const struct ys_recipe *recipe)
{
    const struct {
        const char *key;
        bool given;
    } theirs[] = {{"versions", recipe->versions[0][0] != 0},
                  {"python", recipe->python},
                  {"requirements", recipe->requirements},
                  {"unpinned", recipe->unpinned},
                  {"index", recipe->index},
                  {"elsewhere", recipe->elsewhere},
                  {"get", recipe->get},
                  {"program", recipe->program}};
    for (size_t i = 0; recipe->uses && i < sizeof theirs / sizeof theirs[0]; i++)
        if (theirs[i].given)
            return ys_fail(YS_EFORMAT, "%s: with uses = %s it runs in that one's environment: leave %s away",
                           recipe->path, recipe->uses, theirs[i].key);
    return YS_OK;
}

/* A tool is its packages, and nothing that speaks the protocol. */
static ys_status check_tool(const struct ys_recipe *recipe)
{
    const bool speaks =
        recipe->program || recipe->adapter || recipe->uses || recipe->get || recipe->converter || recipe->quantiser;
    if (!speaks && recipe->versions[0][0] && recipe->python && recipe->requirements)
        return YS_OK;
    return ys_fail(
        YS_EFORMAT,
        "%s: with kind = tool it needs versions, python and requirements, and no program, adapter, uses, get, "
        "converter or quantiser",
        recipe->path);
}

static ys_status check(const struct ys_recipe *recipe)
{
    if (!recipe->name)
        return ys_fail(YS_EFORMAT, "%s: a recipe needs name = NAME", recipe->path);
    YS_TRY(check_file_name(recipe));
    if (recipe->is_tool)
        return check_tool(recipe);
    if (!recipe->program == !recipe->adapter)
        return ys_fail(YS_EFORMAT, "%s: a recipe needs program = EXECUTABLE or adapter = FILE.py, and not both",
                       recipe->path);
    YS_TRY(check_uses(recipe));
    if (recipe->make && !recipe->program)
        return ys_fail(YS_EFORMAT, "%s: make = %s %s goes with program = EXECUTABLE", recipe->path, recipe->make,
                       recipe->made);
    if (!recipe->converter != !recipe->convert || (recipe->convert && (recipe->program || recipe->reads_onnx)))
        return ys_fail(YS_EFORMAT,
                       "%s: converter = RECIPE and convert = FILE.py belong together, to an adapter that reads no ONNX",
                       recipe->path);
    if (!recipe->quantiser != !recipe->quantise || (recipe->quantise && recipe->program))
        return ys_fail(YS_EFORMAT, "%s: quantiser = RECIPE and quantise = FILE.py belong together, to an adapter",
                       recipe->path);
    if (recipe->is_npm && (recipe->python || !recipe->adapter || recipe->uses || recipe->unpinned || recipe->index))
        return ys_fail(YS_EFORMAT,
                       "%s: npm = LOCK goes with versions and adapter = FILE.js, and with none of python, "
                       "uses, unpinned and index",
                       recipe->path);
    bool packages = (recipe->python || recipe->is_npm) && recipe->requirements;
    if (recipe->adapter && !recipe->uses && (!recipe->versions[0][0] || packages == (recipe->get != NULL)))
        return ys_fail(
            YS_EFORMAT,
            "%s: an adapter needs versions, python and requirements, or versions and npm, or versions and get, or "
            "uses = RECIPE",
            recipe->path);
    YS_TRY(ys_knobs_check(recipe->path, &recipe->knobs, recipe->options));
    return check_env(recipe);
}

static ys_status fill(struct ys_recipe *recipe, const struct ys_ini *ini)
{
    if (ini->section_count > 1)
        return ys_ini_fail(&ini->sections[1].place, "a recipe has no sections");
    YS_TRY(ys_ini_check_unique(ini, NULL));
    for (size_t i = 0; i < ini->entry_count; i++)
        YS_TRY(set_key(recipe, &ini->entries[i]));
    if (!recipe->versions)
        add_text(&recipe->versions, "");
    if (!recipe->env)
        recipe->env = ys_alloc(1, sizeof *recipe->env);
    if (!recipe->title && recipe->name)
        recipe->title = ys_strdup(recipe->name);
    return check(recipe);
}

/* yardstick's own frameworks/, asked for by a file that is certainly there: other folders beside the program may be
 * called frameworks too. New string, NULL where it is not found. */
static char *own_dir(void)
{
    char *builtin = ys_find_support("frameworks/builtin.recipe"), *own = builtin ? ys_path_dir(builtin) : NULL;
    ys_free(builtin);
    return own;
}

static bool is_foreign(const char *folder)
{
    struct stat here, there;
    char *own = own_dir();
    bool same = own && stat(folder, &here) == 0 && stat(own, &there) == 0 && here.st_dev == there.st_dev &&
                here.st_ino == there.st_ino;
    ys_free(own);
    return !same;
}

ys_status ys_recipe_read(const char *path, struct ys_recipe **recipe)
{
    struct ys_ini ini;
    YS_TRY(ys_ini_read(path, &ini));
    struct ys_recipe *r = ys_alloc(1, sizeof *r);
    r->path = ys_path_absolute(path);
    r->folder = ys_path_dir(r->path);
    r->foreign = is_foreign(r->folder);
    r->text = ys_strdup(ys_buf_text(&ini.text));
    r->options = ys_json_object();
    r->own = ys_json_object();
    r->has_mode[YS_MODE_TRAIN] = r->has_mode[YS_MODE_INFER] = true;
    ys_status status = fill(r, &ini);
    ys_ini_fini(&ini);
    if (status != YS_OK) {
        ys_recipe_free(r);
        return status == YS_EINVAL ? YS_EFORMAT : status;
    }
    *recipe = r;
    return YS_OK;
}

char *ys_recipe_find_code(const struct ys_recipe *recipe, const char *name)
{
    char *beside = name[0] == '/' ? ys_strdup(name) : ys_path_join(recipe->folder, name);
    if (beside && ys_fs_exists(beside))
        return beside;
    char *own = ys_find_support(name);
    if (!own)
        return beside;
    ys_free(beside);
    return own;
}

static void add_user_dir(ys_json *folders)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char *path = NULL;
    if (config && config[0] == '/')
        path = ys_format("%s/yardstick/recipes", config);
    else if (home && home[0] == '/')
        path = ys_format("%s/.config/yardstick/recipes", home);
    if (path)
        ys_json_append(folders, ys_json_string(path));
    ys_free(path);
}

static ys_json *searched_folders(const char *const *dirs)
{
    ys_json *list = ys_json_array();
    char *own = own_dir();
    for (size_t i = 0; dirs && dirs[i]; i++)
        ys_json_append(list, ys_json_string(dirs[i]));
    add_user_dir(list);
    if (own)
        ys_json_append(list, ys_json_string(own));
    ys_free(own);
    return list;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What finds each recipe of one folder; a folder that is not there holds none. */
static void list_folder(const char *folder, char ***names)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        size_t length = strlen(entry->d_name), suffix = sizeof SUFFIX - 1;
        if (length <= suffix || entry->d_name[0] == '.' || strcmp(entry->d_name + length - suffix, SUFFIX) != 0)
            continue;
        char *name = ys_strndup(entry->d_name, length - suffix);
        add_text(names, name);
        ys_free(name);
    }
    if (dir)
        closedir(dir);
}

/* All names, sorted, ended by NULL; free with free_texts(). */
static char **collect_names(const char *const *dirs)
{
    char **names = NULL;
    ys_json *folders = searched_folders(dirs);
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < ys_json_size(folders); i++)
        list_folder(ys_json_text(ys_json_at(folders, i), ""), &names);
    ys_json_free(folders);
    while (names && names[count])
        count++;
    if (count)
        qsort(names, count, sizeof *names, by_text);
    for (size_t i = 0; i < count; i++)
        if (kept && strcmp(names[kept - 1], names[i]) == 0)
            ys_free(names[i]);
        else
            names[kept++] = names[i];
    if (names)
        names[kept] = NULL;
    return names;
}

ys_json *ys_recipe_specs(const char *const *dirs)
{
    char **list = collect_names(dirs);
    ys_json *array = ys_json_array();
    for (size_t i = 0; list && list[i]; i++)
        ys_json_append(array, ys_json_string(list[i]));
    free_texts(list);
    return array;
}

/* Its name, and what else people call it. A damaged recipe has no more than its name. */
static void add_words_of(const char *spec, const char *const *dirs, char ***words)
{
    struct ys_recipe *recipe = NULL;
    add_text(words, spec);
    const bool read = ys_recipe_find(spec, dirs, &recipe) == YS_OK;
    for (size_t i = 0; read && recipe->also && recipe->also[i]; i++)
        add_text(words, recipe->also[i]);
    ys_recipe_free(recipe);
}

static ys_status no_such(const char *name, const char *const *dirs)
{
    char **names = collect_names(dirs), **words = NULL;
    struct ys_buf known = {0};
    for (size_t i = 0; names && names[i]; i++) {
        add_words_of(names[i], dirs, &words);
        ys_buf_printf(&known, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = words ? ys_nearest(name, (const char *const *)words) : NULL;
    const ys_status status = ys_fail(
        YS_ENOTFOUND, "there is no recipe for a framework \"%s\"%s%s%s (there are: %s; --recipes=DIR adds others)",
        name, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "", ys_buf_text(&known));
    ys_buf_free(&known);
    free_texts(words);
    free_texts(names);
    return status;
}

/* Reads the file BASE.recipe of the first folder that has it; *recipe stays NULL where none has. */
static ys_status find_file(const ys_json *folders, const char *base, struct ys_recipe **recipe)
{
    for (size_t i = 0; i < ys_json_size(folders); i++) {
        char *path = ys_format("%s/%s%s", ys_json_text(ys_json_at(folders, i), ""), base, SUFFIX);
        bool there = ys_fs_exists(path);
        ys_status status = there ? ys_recipe_read(path, recipe) : YS_OK;
        ys_free(path);
        if (there)
            return status;
    }
    return YS_OK;
}

/* Whether the recipe that `spec` finds says that its framework is called `name` too. A damaged recipe says nothing. */
static bool is_called(const char *spec, const char *const *dirs, const char *name, size_t length)
{
    struct ys_recipe *recipe = NULL;
    bool is = false;
    if (ys_recipe_find(spec, dirs, &recipe) != YS_OK)
        return false;
    for (size_t i = 0; recipe->also && recipe->also[i] && !is; i++)
        is = ys_is_spelled(name, length, recipe->also[i]);
    ys_recipe_free(recipe);
    return is;
}

/* The name that `name` means, of `specs`; NULL where none or several could be meant. */
static const char *find_meant(char *const *specs, const char *const *dirs, const char *name, size_t length)
{
    for (int by_also = 0; by_also < 2; by_also++) {
        const char *found = NULL;
        for (size_t i = 0; specs && specs[i]; i++) {
            if (strchr(specs[i], '@') ||
                !(by_also ? is_called(specs[i], dirs, name, length) : ys_is_spelled(name, length, specs[i])))
                continue;
            if (found)
                return NULL;
            found = specs[i];
        }
        if (found)
            return found;
    }
    return NULL;
}

static bool has_recipe(char *const *specs, const char *name, size_t length)
{
    for (; specs && *specs; specs++)
        if (strncmp(*specs, name, length) == 0 && (!(*specs)[length] || (*specs)[length] == '@'))
            return true;
    return false;
}

char *ys_recipe_named(const char *spec, const char *const *dirs)
{
    const size_t length = strcspn(spec, "@=");
    const bool has_equals = strncmp(spec + length, "==", 2) == 0;
    const char *rest = spec + length + 2 * has_equals;
    char **specs = collect_names(dirs);
    const char *name = has_recipe(specs, spec, length) ? NULL : find_meant(specs, dirs, spec, length);
    char *named = name ? ys_format("%s%s%s", name, has_equals ? "@" : "", rest)
                       : ys_format("%.*s%s%s", (int)length, spec, has_equals ? "@" : "", rest);
    free_texts(specs);
    return named;
}

ys_status ys_recipe_find(const char *spec, const char *const *dirs, struct ys_recipe **recipe)
{
    size_t length = strcspn(spec, "@");
    *recipe = NULL;
    if (!length || strchr(spec, '/'))
        return ys_fail(YS_ENOTFOUND, "\"%s\" is not the name of a framework", spec);
    char *name = ys_strndup(spec, length);
    ys_json *folders = searched_folders(dirs);
    ys_status status = YS_OK;
    if (spec[length])
        status = find_file(folders, spec, recipe);
    if (status == YS_OK && !*recipe)
        status = find_file(folders, name, recipe);
    if (status == YS_OK && !*recipe)
        status = no_such(name, dirs);
    ys_json_free(folders);
    ys_free(name);
    return status;
}

ys_status ys_recipe_find_own(const char *name, struct ys_recipe **recipe)
{
    char *relative = ys_format("frameworks/%s%s", name, SUFFIX), *path = ys_find_support(relative);
    ys_status status =
        path ? ys_recipe_read(path, recipe) : ys_fail(YS_ENOTFOUND, "yardstick's own %s is not there", relative);
    ys_free(relative);
    ys_free(path);
    return status;
}

void ys_recipe_split(const char *spec, char **name, char **version)
{
    size_t length = strcspn(spec, "@");
    *name = ys_strndup(spec, length);
    *version = ys_strdup(spec[length] ? spec + length + 1 : "");
}

/* Digits first, then what versions are written with. */
static bool is_version(const char *text)
{
    static const char characters[] = "0123456789abcdefghijklmnopqrstuvwxyz.+-";
    return isdigit((unsigned char)*text) && !text[strspn(text, characters)];
}

bool ys_recipe_is_unpinned(const struct ys_recipe *recipe, const char *version)
{
    return recipe->resolved && strcmp(recipe->resolved, version) == 0;
}

ys_status ys_recipe_version(struct ys_recipe *recipe, const char *asked, const char **version)
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
    if (!*version && recipe->unpinned && is_version(asked)) {
        ys_free(recipe->resolved);
        recipe->resolved = ys_strdup(asked);
        *version = recipe->resolved;
        status = YS_OK;
    } else if (!*version)
        status = ys_fail(YS_ENOTFOUND, "the recipe of %s has no version \"%s\" (it has: %s)", recipe->name, asked,
                         known.size ? ys_buf_text(&known) : "none");
    ys_buf_free(&known);
    return status;
}
