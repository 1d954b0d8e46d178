/* One recipe file, parsed. */
#ifndef YS_FRAMEWORK_RECIPE_H
#define YS_FRAMEWORK_RECIPE_H

#include "base/json/record.h"
#include "base/modes.h"
#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>

struct ys_recipe {
    char *path, *folder; /* of the recipe file, absolute */
    char *text;          /* the file as it stands */
    char *name, *title;
    char **also;        /* what else people call it, ended by NULL; NULL: nothing */
    char *program;      /* an executable and its arguments, for adapters that need no environment; NULL otherwise */
    char *adapter;      /* a file that the environment's interpreter runs, or a page's script; NULL otherwise */
    char *make;         /* of a program: the target of yardstick's own Makefile that makes what it needs, */
    char *made;         /* and that file, relative to the recipe's folder; NULL: it needs nothing */
    char *uses;         /* name of another recipe whose environment the adapter runs in; NULL: its own */
    char **versions;    /* newest first, ended by NULL; at least one entry ("" for a program without) */
    char *python;       /* "3.11": the version an environment is made with; space-separated when several will do */
    char *requirements; /* pattern with {version} and {python}, relative to the recipe's folder;
                           of packages of npm the package-lock.json, beside which package.json lies */
    char *unpinned;     /* packages that a version outside `versions` is resolved from, with {version}; NULL: none is */
    char *resolved;     /* such a version, asked of ys_recipe_version(); NULL */
    char *index;        /* package index of the framework's makers, or NULL */
    char *elsewhere;    /* what a version that is not pinned brings where that index does not give it; NULL: no more */
    char *converter;    /* name of a recipe of kind tool, in whose environment networks are converted; NULL: not so */
    char *convert;      /* a Python file that does it, run by that environment's interpreter; NULL likewise */
    char *quantiser;    /* such a recipe for its own quantiser, which makes networks in integers; NULL: none is known */
    char *quantise;     /* the file that calls it; NULL likewise */
    char *get;          /* how to come by what no package index has, a clause; NULL for an environment of packages */
    char *limits;       /* what it is known not to do, or NULL */
    uint64_t download_bytes, disk_bytes; /* 0 when the recipe does not say */
    bool anywhere;                       /* asked for: such a version may come from any index. Not of the file */
    bool foreign;                        /* it lies elsewhere than in yardstick's own frameworks/ */
    bool is_tool;                        /* an environment alone: nothing that a study could name runs in it */
    bool is_npm;                         /* its packages are npm's, and its adapter runs in a page */
    bool no_work, has_double, reads_onnx;
    bool emulated;                /* its program runs under an emulator */
    bool has_mode[YS_MODE_COUNT]; /* of its adapter; train and infer without a key `modes` */
    char **forms;                 /* of stored models, its own first, ended by NULL; NULL: its adapter has none */
    char **env;                   /* "NAME=value", ended by NULL */
    ys_json *options;             /* as in struct ys_framework */
    ys_json *own;                 /* defaults by data set, see framework/own_settings.h */
    struct ys_list knobs;         /* struct ys_knob of framework/knobs.h, with its options by their names alone */
};

/** What is meant by the `spec` that a user wrote, new: with the name that a recipe has, where its key `also` or another
 * spelling (capitals, - and _) says it; torch==2.13.0 as pip has it is pytorch@2.13.0. What nobody knows stays as it
 * is.
 */
char *ys_recipe_named(const char *spec, const char *const *dirs);
/** Finds and reads the recipe of `spec`: of "NAME@VERSION" the file NAME@VERSION.recipe, which holds for that version
 * alone, wherever there is one; else NAME.recipe, whether or not it has the version. Errors as ys_framework_find(). */
ys_status ys_recipe_find(const char *spec, const char *const *dirs, struct ys_recipe **recipe) YS_MUST_CHECK;
/** The one of yardstick's own frameworks/, whatever else there is of that name. YS_ENOTFOUND: there is none. */
ys_status ys_recipe_find_own(const char *name, struct ys_recipe **recipe) YS_MUST_CHECK;
ys_status ys_recipe_read(const char *path, struct ys_recipe **recipe) YS_MUST_CHECK;
void ys_recipe_free(struct ys_recipe *recipe);

/** "pytorch@2.13.0" into its two halves, new strings; the version is "" when the spec has none. Free both in any case.
 */
void ys_recipe_split(const char *spec, char **name, char **version);
/** Which of the recipe's versions `asked` means, "" the newest; borrowed from the recipe. One that it does not have is
 * kept as `resolved` where it has a key `unpinned` and `asked` begins as a version does. YS_ENOTFOUND lists them. */
ys_status ys_recipe_version(struct ys_recipe *recipe, const char *asked, const char **version) YS_MUST_CHECK;
/** Whether `version` is none that the recipe pins. */
bool ys_recipe_is_unpinned(const struct ys_recipe *recipe, const char *version);

/** The file that a recipe's `adapter`, `convert` or `quantise` means: beside the recipe, or one of yardstick's own; new
 * string. It need not exist. */
char *ys_recipe_find_code(const struct ys_recipe *recipe, const char *name);

/** What finds each recipe in them, NAME or NAME@VERSION, sorted, each once. */
ys_json *ys_recipe_specs(const char *const *dirs);

#endif
