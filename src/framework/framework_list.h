/* Every framework that there is a recipe of, with the state of what it describes: `list frameworks`. */
#ifndef YS_FRAMEWORK_FRAMEWORK_LIST_H
#define YS_FRAMEWORK_FRAMEWORK_LIST_H

#include "base/json/record.h"

enum ys_entry_state {
    YS_ENTRY_READY,
    YS_ENTRY_MISSING,
    YS_ENTRY_UNSUPPORTED,
    YS_ENTRY_DAMAGED, /* the recipe is: nothing is known but name, spec and reason */
};
extern const struct ys_names ys_entry_states; /* "ready", "missing", "unsupported", "damaged" */

enum ys_entry_kind {
    YS_ENTRY_PROGRAM,  /* it needs no environment */
    YS_ENTRY_SHARED,   /* it runs in another's */
    YS_ENTRY_BUILD,    /* it is in no package index */
    YS_ENTRY_PACKAGES, /* it has an environment of its own */
};
extern const struct ys_names ys_entry_kinds; /* "program", "shared", "build", "packages" */

/** Files of an environment that are not as they were installed. */
struct ys_entry_changed {
    int64_t count, missing;
    char *first;
};

/** One of them. Texts are owned; NULL where there is nothing to say. */
struct ys_framework_entry {
    char *name, *spec; /* spec: as a job writes it, NAME, or NAME@VERSION of a recipe of one version */
    char *title;
    struct ys_list versions;          /* char * */
    char *version;                    /* that the spec means */
    int state;                        /* enum ys_entry_state */
    char *reason, *command;           /* why it is not ready, or might better not be used, and what to do */
    struct ys_entry_changed *changed; /* NULL: none; the state is "missing" where some of them are, else "ready" */
    struct ys_list modes;             /* char *: "train", "infer" */
    bool has_double, no_work;
    ys_json *options; /* as in struct ys_framework */
    char *limits;
    int kind;                            /* enum ys_entry_kind */
    char *uses;                          /* the recipe whose environment it runs in */
    uint64_t download_bytes, disk_bytes; /* as the recipe says; 0 where it does not */
    char *python;                        /* the environment's, else those that it may be made with */
    uint64_t size_bytes;                 /* on disk; 0 unless installed */
    char *recipe;                        /* path */
};
extern const struct ys_record ys_framework_entry_record;
/** That, or the few of its members that are told of one that is damaged. */
const struct ys_record *ys_framework_entry_told(const struct ys_framework_entry *entry);

/** All of them, sorted: a list of struct ys_framework_entry, which is overwritten; ys_list_fini() frees it. Looks at
 * every environment; damaged recipes are entries, tools are none. YS_EIO. */
void ys_framework_list(const char *const *recipe_dirs, struct ys_list *list);

#endif
