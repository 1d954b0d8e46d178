#include "framework/framework_list.h"

#include "base/files/fs.h"
#include "base/json/shared_words.h"
#include "base/mem.h"
#include "framework/environment.h"
#include "framework/environment_lock.h"
#include "framework/framework.h"

#include <string.h>

static const char *const state_words[] = {"ready", "missing", "unsupported", "damaged"};
const struct ys_names ys_entry_states = YS_NAMES("state", state_words);
static const char *const kind_words[] = {"program", "shared", "build", "packages"};
const struct ys_names ys_entry_kinds = YS_NAMES("kind", kind_words);

#define CHANGED struct ys_entry_changed
static const struct ys_field changed_fields[] = {
    YS_FIELD(CHANGED, count, YS_FIELD_INT, "1", 0, "files that are not as they were installed"),
    YS_FIELD(CHANGED, missing, YS_FIELD_INT, "1", 0, "those of them that are gone"),
    YS_FIELD(CHANGED, first, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "one of them"),
};
static const struct ys_record changed_record = YS_RECORD("changed", CHANGED, changed_fields);

#define ENTRY               struct ys_framework_entry
#define TEXT(member, what)  YS_FIELD(ENTRY, member, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, what)
#define BYTES(member, what) YS_FIELD(ENTRY, member, YS_FIELD_TIME, "B", YS_FIELD_NULL, what)
#define STATE               YS_FIELD_NAMED(ENTRY, state, &ys_entry_states, 0, "whether it can be used here")
static const struct ys_field fields[] = {
    TEXT(name, "of the framework"),
    TEXT(spec, "as a job writes it"),
    TEXT(title, "for people"),
    YS_FIELD(ENTRY, versions, YS_FIELD_TEXTS, NULL, 0, "that the recipe has, newest first"),
    TEXT(version, "that the spec means"),
    STATE,
    TEXT(reason, "of that state"),
    TEXT(command, "what would help"),
    YS_FIELD_OF(ENTRY, changed, YS_FIELD_OBJECT_OWNED, &changed_record, YS_FIELD_NULL, "null where no file is"),
    YS_FIELD(ENTRY, modes, YS_FIELD_TEXTS, NULL, 0, "of its adapter"),
    {"double", YS_FIELD_FLAG, offsetof(ENTRY, has_double), NULL, 0, "its adapter runs in f64", NULL, NULL},
    YS_FIELD(ENTRY, no_work, YS_FIELD_FLAG, NULL, 0, "its adapter does none"),
    YS_FIELD(ENTRY, options, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "that a job can set"),
    TEXT(limits, "what it is known not to do"),
    YS_FIELD_NAMED(ENTRY, kind, &ys_entry_kinds, 0, "how it is come by"),
    TEXT(uses, "the recipe whose environment it runs in"),
    BYTES(download_bytes, "as the recipe says"),
    BYTES(disk_bytes, "as the recipe says"),
    TEXT(python, "version of its interpreter"),
    BYTES(size_bytes, "on disk; null unless installed"),
    TEXT(recipe, "path"),
};
const struct ys_record ys_framework_entry_record = YS_RECORD("framework", ENTRY, fields);

static const struct ys_field damaged_fields[] = {TEXT(name, "of the framework"), TEXT(spec, "as a job writes it"),
                                                 STATE, TEXT(reason, "what is wrong with its recipe")};
static const struct ys_record damaged_record = YS_RECORD("framework", ENTRY, damaged_fields);

const struct ys_record *ys_framework_entry_told(const struct ys_framework_entry *entry)
{
    return entry->state == YS_ENTRY_DAMAGED ? &damaged_record : &ys_framework_entry_record;
}

static void fill_recipe(struct ys_framework_entry *entry, const struct ys_recipe *recipe)
{
    entry->title = ys_strdup(recipe->title);
    for (size_t i = 0; recipe->versions[i]; i++)
        if (recipe->versions[i][0])
            ys_list_add_text(&entry->versions, recipe->versions[i]);
    for (int mode = 0; mode < YS_MODE_COUNT; mode++)
        if (recipe->has_mode[mode])
            ys_list_add_text(&entry->modes, ys_name_of(&ys_modes, mode));
    entry->has_double = recipe->has_double;
    entry->no_work = recipe->no_work;
    entry->options = ys_json_copy(recipe->options);
    entry->limits = ys_strdup(recipe->limits);
    entry->kind = recipe->program ? YS_ENTRY_PROGRAM
                  : recipe->uses  ? YS_ENTRY_SHARED
                  : recipe->get   ? YS_ENTRY_BUILD
                                  : YS_ENTRY_PACKAGES;
    entry->uses = ys_strdup(recipe->uses);
    entry->download_bytes = recipe->download_bytes;
    entry->disk_bytes = recipe->disk_bytes;
    entry->recipe = ys_strdup(recipe->path);
}

/* What there is of its environment. */
static void fill_environment(struct ys_framework_entry *entry, const struct ys_recipe *recipe)
{
    struct ys_environment environment = {0};
    if (recipe->adapter && !recipe->uses)
        ys_environment_read(recipe, entry->version, &environment);
    if (environment.complete)
        entry->size_bytes = environment.size_bytes;
    entry->python = ys_strdup(environment.complete && *environment.python ? environment.python : recipe->python);
    ys_environment_fini(&environment);
}

static void fill_changed(struct ys_framework_entry *entry, const struct ys_env_files *files)
{
    if (ys_env_files_count(files) == 0)
        return;
    entry->changed = ys_alloc(1, sizeof *entry->changed);
    entry->changed->count = (int64_t)ys_env_files_count(files);
    entry->changed->missing = (int64_t)files->missing;
    entry->changed->first = ys_strdup(files->first);
}

/* One whose files changed is ready still; why it might better not be used, and what to do, stand where others have it.
 */
static ys_status fill_state(struct ys_framework_entry *entry, struct ys_framework *framework)
{
    static const enum ys_entry_state states[] = {[YS_FRAMEWORK_READY] = YS_ENTRY_READY,
                                                 [YS_FRAMEWORK_MISSING] = YS_ENTRY_MISSING,
                                                 [YS_FRAMEWORK_UNSUPPORTED] = YS_ENTRY_UNSUPPORTED};
    struct ys_env_files files;
    YS_TRY(ys_framework_look(framework, &files));
    fill_changed(entry, &files);
    ys_env_files_fini(&files);
    entry->state = states[framework->state];
    entry->version = ys_strdup(framework->version);
    entry->reason = ys_strdup(framework->changes ? framework->changes : framework->reason);
    if (!framework->changes) {
        entry->command = ys_strdup(framework->command);
        return YS_OK;
    }
    entry->command = ys_format("yardstick install --repair %s", ys_path_base(framework->environment));
    return YS_OK;
}

static ys_status fill(struct ys_framework_entry *entry, const char *spec, const char *const *recipe_dirs)
{
    struct ys_recipe *recipe = NULL;
    struct ys_framework *framework = NULL;
    ys_status status = ys_recipe_find(spec, recipe_dirs, &recipe);
    if (status == YS_OK)
        status = ys_framework_find(spec, recipe_dirs, &framework);
    if (status == YS_OK)
        fill_recipe(entry, recipe);
    if (status == YS_OK)
        status = fill_state(entry, framework);
    if (status == YS_OK)
        fill_environment(entry, recipe);
    ys_recipe_free(recipe);
    ys_framework_free(framework);
    return status;
}

static bool is_tool(const char *spec, const char *const *recipe_dirs)
{
    struct ys_recipe *recipe = NULL;
    const bool is = ys_recipe_find(spec, recipe_dirs, &recipe) == YS_OK && recipe->is_tool;
    ys_recipe_free(recipe);
    return is;
}

static void add_entry(const char *spec, const char *const *recipe_dirs, struct ys_list *list)
{
    if (is_tool(spec, recipe_dirs))
        return;
    struct ys_framework_entry *entry = ys_list_add(&ys_framework_entry_record, list);
    if (fill(entry, spec, recipe_dirs) != YS_OK) {
        ys_record_fini(&ys_framework_entry_record, entry);
        entry->state = YS_ENTRY_DAMAGED;
        entry->reason = ys_strdup(ys_error());
    }
    entry->name = ys_strndup(spec, strcspn(spec, "@"));
    entry->spec = ys_strdup(spec);
}

void ys_framework_list(const char *const *recipe_dirs, struct ys_list *list)
{
    ys_json *specs = ys_recipe_specs(recipe_dirs);
    *list = (struct ys_list){0};
    for (size_t i = 0; i < ys_json_size(specs); i++)
        add_entry(ys_json_text(ys_json_at(specs, i), ""), recipe_dirs, list);
    ys_json_free(specs);
}
