/* Inside the room: what was given (settings), where it holds (layers, sections), what is left out (excludes). */
#ifndef YS_JOB_JOB_SECTION_H
#define YS_JOB_JOB_SECTION_H

#include "job/axis.h"
#include "job/ini.h"
#include "job/job.h"
#include "job/option.h"

#define YS_JOB_ENTRY_LIMIT   20000  /* keys in all files of a study */
#define YS_JOB_SECTION_LIMIT 1000   /* sections of a study */
#define YS_JOB_KEY_LIMIT     200    /* keys that hold in one section, and its exclude lines */
#define YS_JOB_VALUE_LIMIT   100000 /* values of all keys of a study */
#define YS_JOB_POINT_LIMIT   100000 /* points of all sections, before excludes */
#define YS_JOB_TERM_LIMIT    20     /* key=value of one exclude line */

/* One key as given somewhere, its values typed. */
struct ys_setting {
    const struct ys_option *option;
    const char *key; /* borrowed from the file or the flag, or `named` */
    char *named;     /* YS_OPTION_OPT: by the name that the framework's recipe has */
    struct ys_ini_place place, value_place;
    struct ys_axis axis;
    ys_json **values; /* axis.count of them; NULL for YS_OPTION_OPT, which only a framework can type */
    bool flag;
    bool yields;  /* as of struct ys_job_flag */
    bool chosen;  /* it holds in some section */
    bool matched; /* YS_OPTION_OPT: some trial there is of its framework */
};

struct ys_layer {
    struct ys_setting *items[YS_JOB_KEY_LIMIT];
    size_t count;
};

struct ys_exclude_term {
    const struct ys_option *option;
    char *key, *text;
    ys_json *value; /* NULL for YS_OPTION_OPT */
};

struct ys_exclude {
    struct ys_ini_place place, value_place;
    struct ys_exclude_term terms[YS_JOB_TERM_LIMIT];
    size_t term_count;
    bool matched; /* it removed a point */
};

struct ys_exclude_list {
    struct ys_exclude *items[YS_JOB_KEY_LIMIT];
    size_t count;
};

struct ys_section {
    const char *name;
    struct ys_ini_place place;
    struct ys_layer own; /* with what its parents own: what a child inherits */
    struct ys_layer all; /* [global], own, flags */
    struct ys_exclude_list own_excludes, excludes;
};

/* A study while it is being resolved. */
struct ys_resolver {
    struct ys_ini ini; /* empty without a file */
    const char *path;  /* for messages; "command line" without a file */
    bool has_file;
    const struct ys_job_flag *flags;
    size_t flag_count;
    const struct ys_job_hooks *hooks;

    struct ys_layer study;       /* the study's keys, flags included */
    struct ys_setting *settings; /* one for each flag and entry, in that order */
    size_t setting_count, value_count;
    struct ys_exclude *excludes;
    size_t exclude_count;
    struct ys_section **sections; /* those that are expanded */
    size_t section_count;
};

/** Types the values of one key. `form` tells how `text` was written. */
ys_status ys_setting_parse(struct ys_resolver *resolver, const char *key, const char *text, enum ys_axis_form form,
                           const struct ys_ini_place *place, const struct ys_ini_place *value_place,
                           struct ys_setting *setting) YS_MUST_CHECK;
void ys_setting_fini(struct ys_setting *setting);
/** Whether a value of `a` takes the place of a value of `b`: the same key, or two of epochs, steps and requests. */
bool ys_setting_replaces(const struct ys_setting *a, const struct ys_setting *b);
/** The setting of exactly `key`, NULL when the layer has none. */
struct ys_setting *ys_layer_find(const struct ys_layer *layer, const char *key);

ys_status ys_exclude_parse(const struct ys_resolver *resolver, const char *text,
                           struct ys_exclude *exclude) YS_MUST_CHECK;
void ys_exclude_fini(struct ys_exclude *exclude);

/** The values that `setting` of key form has for a framework (new, count of them): names as they are, "own" its first,
 * "all" all of them, each once; "own" where it has none. */
ys_status ys_forms_expand(const struct ys_job_hooks *hooks, const char *framework, const struct ys_setting *setting,
                          ys_json ***values, size_t *count) YS_MUST_CHECK;
/** Makes "own" of a trial's keys the name that it has, null outside of mode size. *unsupported (new) says why a trial
 * cannot be run; else it stays. */
ys_status ys_forms_finish(const struct ys_job_hooks *hooks, const char *framework, ys_json *keys,
                          char **unsupported) YS_MUST_CHECK;

/** Whether a mode is of same weights alone. */
bool ys_mode_needs_same(const char *mode);
/** The mode whose keys say something: of what needs the same weights that of training, in which they come about. */
const char *ys_mode_of_keys(const char *mode);
/** Refuses keys of a section that say nothing, or do not go together. `standards`: {key: default} of every option that
 * is resolved. */
ys_status ys_section_check(const struct ys_resolver *resolver, const ys_json *standards,
                           const struct ys_section *section) YS_MUST_CHECK;

/** Finds the sections of what was read, and what holds in each. */
ys_status ys_resolver_find_sections(struct ys_resolver *resolver) YS_MUST_CHECK;
/** The trials of all sections, as in struct ys_job. `repeat` and `max_runs` are those of the study. */
ys_status ys_resolver_expand(struct ys_resolver *resolver, int64_t repeat, int64_t max_runs,
                             ys_json *trials) YS_MUST_CHECK;

#endif
