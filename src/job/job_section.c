/* Which keys hold in which section: [global], parents, own keys, flags. */
#include "job/job_section.h"

#include "base/mem.h"
#include "base/nearest_name.h"

#include <string.h>

static ys_status put(struct ys_layer *layer, struct ys_setting *setting)
{
    for (size_t i = 0; i < layer->count; i++)
        if (ys_setting_replaces(setting, layer->items[i])) {
            layer->items[i] = setting;
            return YS_OK;
        }
    if (layer->count == YS_JOB_KEY_LIMIT)
        return ys_ini_fail(&setting->place, "with %s more than %d keys hold in one section", setting->key,
                           YS_JOB_KEY_LIMIT);
    layer->items[layer->count++] = setting;
    return YS_OK;
}

static ys_status put_all(struct ys_layer *layer, const struct ys_layer *from)
{
    for (size_t i = 0; i < from->count; i++)
        YS_TRY(put(layer, from->items[i]));
    return YS_OK;
}

static ys_status put_exclude(struct ys_exclude_list *list, struct ys_exclude *exclude)
{
    if (list->count == YS_JOB_KEY_LIMIT)
        return ys_ini_fail(&exclude->place, "more than %d exclude lines hold in one section", YS_JOB_KEY_LIMIT);
    list->items[list->count++] = exclude;
    return YS_OK;
}

static ys_status put_all_excludes(struct ys_exclude_list *list, const struct ys_exclude_list *from)
{
    for (size_t i = 0; i < from->count; i++)
        YS_TRY(put_exclude(list, from->items[i]));
    return YS_OK;
}

/* Checks that neither group of keys stands where the other belongs. */
static ys_status check_group(const struct ys_ini_entry *entry, const struct ys_option *option)
{
    bool is_study = option->group == YS_OPTION_STUDY;
    if (is_study && entry->section != 0)
        return ys_ini_fail(&entry->place, "%s is a key of the study: put it before the first section", entry->key);
    if (!is_study && entry->section == 0)
        return ys_ini_fail(&entry->place, "%s is a key of sections: put it into [global] or another section",
                           entry->key);
    return YS_OK;
}

static ys_status read_exclude(struct ys_resolver *resolver, const char *text, const struct ys_ini_place *place,
                              const struct ys_ini_place *value_place, struct ys_exclude_list *list)
{
    struct ys_exclude *exclude = &resolver->excludes[resolver->exclude_count++];
    exclude->place = *place;
    exclude->value_place = *value_place;
    ys_status status = ys_exclude_parse(resolver, text, exclude);
    return status == YS_OK ? put_exclude(list, exclude) : ys_ini_fail_in(value_place, status);
}

static ys_status read_entry(struct ys_resolver *resolver, const struct ys_ini_entry *entry, struct ys_layer *layer,
                            struct ys_exclude_list *excludes)
{
    const struct ys_option *option = ys_option_find(entry->key);
    if (option)
        YS_TRY(check_group(entry, option));
    if (option && option->type == YS_OPTION_EXCLUDE)
        return read_exclude(resolver, entry->value, &entry->place, &entry->value_place, excludes);
    struct ys_setting *setting = &resolver->settings[resolver->setting_count++];
    YS_TRY(ys_setting_parse(resolver, entry->key, entry->value, entry->quoted ? YS_AXIS_QUOTED : YS_AXIS_FILE,
                            &entry->place, &entry->value_place, setting));
    for (size_t i = 0; i < layer->count; i++)
        if (ys_setting_replaces(
                setting,
                layer->items[i])) /* the same key twice was refused before: these are batches, or epochs and the like */
            return ys_ini_fail(&entry->place, "%s and %s (line %d) both say how %s is: keep one of them", entry->key,
                               layer->items[i]->key, layer->items[i]->place.line,
                               strstr(entry->key, "batch") ? "large a batch" : "long a run");
    return put(layer, setting);
}

static ys_status read_flags(struct ys_resolver *resolver, struct ys_layer *layer, struct ys_exclude_list *excludes)
{
    for (size_t i = 0; i < resolver->flag_count; i++) {
        const struct ys_job_flag *flag = &resolver->flags[i];
        const struct ys_option *option = ys_option_find(flag->key);
        struct ys_ini_place place = {.file = "command line"};
        if (option && option->file_only)
            return ys_ini_fail(&place, "--%s=%s: %s stands in files only", flag->key, flag->value, flag->key);
        if (option && option->type == YS_OPTION_EXCLUDE) {
            YS_TRY(read_exclude(resolver, flag->value, &place, &place, excludes));
            continue;
        }
        struct ys_setting *setting = &resolver->settings[resolver->setting_count++];
        YS_TRY(ys_setting_parse(resolver, flag->key, flag->value, YS_AXIS_FLAG, &place, &place, setting));
        setting->yields = flag->yields;
        for (size_t k = 0; k < layer->count; k++)
            if (ys_setting_replaces(setting, layer->items[k]))
                return ys_ini_fail(&place, "--%s and --%s cannot both be given: keep one of them", layer->items[k]->key,
                                   flag->key);
        YS_TRY(put(layer, setting));
    }
    return YS_OK;
}

/* The entries of section `index`, from entry *next on. */
static ys_status read_entries(struct ys_resolver *resolver, size_t index, size_t *next, struct ys_layer *layer,
                              struct ys_exclude_list *excludes)
{
    for (; *next < resolver->ini.entry_count && resolver->ini.entries[*next].section == index; ++*next)
        YS_TRY(read_entry(resolver, &resolver->ini.entries[*next], layer, excludes));
    return YS_OK;
}

static ys_status find_parent(const struct ys_resolver *resolver, const struct ys_ini_section *section,
                             const struct ys_section **parent)
{
    const char *names[YS_JOB_SECTION_LIMIT + 1] = {NULL};
    if (strcmp(section->parent, "global") == 0)
        return ys_ini_fail(&section->parent_place, "[global] holds for every section after it anyway: write [%s]",
                           section->name);
    for (size_t i = 0; i < resolver->section_count; i++) {
        names[i] = resolver->sections[i]->name;
        if (strcmp(names[i], section->parent) == 0) {
            *parent = resolver->sections[i];
            return YS_OK;
        }
    }
    const char *nearest = ys_nearest(section->parent, names);
    return ys_ini_fail(&section->parent_place, "there is no section [%s] above%s%s%s", section->parent,
                       nearest ? "; did you mean [" : ": a parent stands before its children", nearest ? nearest : "",
                       nearest ? "]?" : "");
}

static ys_status add_section(struct ys_resolver *resolver, const char *name, const struct ys_ini_place *place,
                             struct ys_section **section)
{
    for (size_t i = 0; i < resolver->section_count; i++)
        if (strcmp(resolver->sections[i]->name, name) == 0)
            return ys_ini_fail(place, "there are two sections [%s], the first in %s line %d: rename one", name,
                               resolver->sections[i]->place.file, resolver->sections[i]->place.line);
    if (resolver->section_count == YS_JOB_SECTION_LIMIT)
        return ys_ini_fail(place, "more than %d sections", YS_JOB_SECTION_LIMIT);
    *section = ys_alloc(1, sizeof **section);
    (*section)->name = name;
    (*section)->place = *place;
    resolver->sections[resolver->section_count++] = *section;
    return YS_OK;
}

/* What was given outside of the section itself. */
struct around {
    struct ys_layer global, flags;
    struct ys_exclude_list global_excludes, flag_excludes;
    const struct ys_ini_section *open_global; /* the last [global], while no section follows it */
};

static ys_status complete(struct ys_section *section, const struct around *around)
{
    YS_TRY(put_all(&section->all, &around->global));
    YS_TRY(put_all(&section->all, &section->own));
    for (size_t i = 0; i < around->flags.count; i++)
        if (around->flags.items[i]->option->group != YS_OPTION_STUDY)
            YS_TRY(put(&section->all, around->flags.items[i]));
    for (size_t i = 0; i < section->all.count; i++)
        section->all.items[i]->chosen = true;
    if (around->flag_excludes.count > 0)
        return put_all_excludes(&section->excludes, &around->flag_excludes);
    YS_TRY(put_all_excludes(&section->excludes, &around->global_excludes));
    return put_all_excludes(&section->excludes, &section->own_excludes);
}

static ys_status read_section(struct ys_resolver *resolver, size_t index, size_t *next, struct around *around)
{
    const struct ys_ini_section *header = &resolver->ini.sections[index];
    if (strcmp(header->name, "global") == 0) {
        if (header->parent)
            return ys_ini_fail(&header->parent_place, "[global] inherits from nothing: write [global]");
        struct ys_layer own = {.count = 0};
        around->open_global = header;
        YS_TRY(read_entries(resolver, index, next, &own, &around->global_excludes));
        return put_all(&around->global, &own);
    }
    const struct ys_section *parent = NULL;
    struct ys_section *section;
    if (header->parent)
        YS_TRY(find_parent(resolver, header, &parent));
    YS_TRY(add_section(resolver, header->name, &header->place, &section));
    struct ys_layer own = {.count = 0};
    if (parent) {
        YS_TRY(put_all(&section->own, &parent->own));
        YS_TRY(put_all_excludes(&section->own_excludes, &parent->own_excludes));
    }
    YS_TRY(read_entries(resolver, index, next, &own, &section->own_excludes));
    YS_TRY(put_all(&section->own, &own));
    around->open_global = NULL;
    return complete(section, around);
}

static bool says(const struct ys_layer *layer, const char *key)
{
    for (size_t i = 0; i < layer->count; i++)
        if (strcmp(layer->items[i]->key, key) == 0)
            return true;
    return false;
}

static ys_status put_study_flags(struct ys_resolver *resolver, const struct ys_layer *flags)
{
    for (size_t i = 0; i < flags->count; i++) {
        struct ys_setting *setting = flags->items[i];
        if (setting->option->group == YS_OPTION_STUDY && !(setting->yields && says(&resolver->study, setting->key)))
            YS_TRY(put(&resolver->study, setting));
    }
    return YS_OK;
}

static ys_status read_sections(struct ys_resolver *resolver, struct around *around)
{
    size_t next = 0;
    YS_TRY(read_entries(resolver, 0, &next, &resolver->study,
                        NULL)); /* no exclude comes this far: it is a key of sections */
    YS_TRY(put_study_flags(resolver, &around->flags));
    for (size_t i = 1; i < resolver->ini.section_count; i++)
        YS_TRY(read_section(resolver, i, &next, around));
    if (around->open_global)
        return ys_ini_fail(&around->open_global->place,
                           "[global] holds for the sections after it, and none follows: add a section");
    struct ys_ini_place place = {resolver->path, 0, 0};
    if (resolver->has_file && resolver->section_count == 0)
        return ys_ini_fail(&place,
                           "the study has no section, so there is nothing to run: add [NAME] and the work's keys");
    if (resolver->has_file)
        return YS_OK;
    struct ys_section *section;
    YS_TRY(add_section(resolver, "run", &place, &section));
    return complete(section, around);
}

ys_status ys_resolver_find_sections(struct ys_resolver *resolver)
{
    if (resolver->ini.entry_count > YS_JOB_ENTRY_LIMIT)
        return ys_ini_fail(&resolver->ini.entries[YS_JOB_ENTRY_LIMIT].place, "more than %d keys: that is no study",
                           YS_JOB_ENTRY_LIMIT);
    size_t most = resolver->ini.entry_count + resolver->flag_count;
    struct around *around = ys_alloc(1, sizeof *around);
    resolver->settings = ys_alloc(most, sizeof *resolver->settings);
    resolver->excludes = ys_alloc(most, sizeof *resolver->excludes);
    resolver->sections = ys_alloc(YS_JOB_SECTION_LIMIT, sizeof *resolver->sections);
    ys_status status = read_flags(resolver, &around->flags, &around->flag_excludes);
    if (status == YS_OK)
        status = read_sections(resolver, around);
    ys_free(around);
    return status;
}
