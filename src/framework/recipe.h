/* One recipe file, parsed. */
#ifndef YS_FRAMEWORK_RECIPE_H
#define YS_FRAMEWORK_RECIPE_H

#include "base/json.h"
#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>

struct ys_recipe {
    char *path, *folder; /* of the recipe file, absolute */
    char *text;          /* the file as it stands */
    char *name, *title;
    char *program;      /* an executable and its arguments, for adapters that need no environment; NULL otherwise */
    char *adapter;      /* a Python file, run by the environment's interpreter; NULL otherwise */
    char *uses;         /* name of another recipe whose environment the adapter runs in; NULL: its own */
    char **versions;    /* newest first, ended by NULL; at least one entry ("" for a program without) */
    char *python;       /* "3.11": the version an environment is made with; space-separated when several will do */
    char *requirements; /* pattern with {version} and {python}, relative to the recipe's folder */
    char *index;        /* package index of the framework's makers, or NULL */
    char *limits;       /* what it is known not to do, or NULL */
    uint64_t download_bytes, disk_bytes; /* 0 when the recipe does not say */
    bool no_work, has_double;
    char **env;       /* "NAME=value", ended by NULL */
    ys_json *options; /* as in struct ys_framework */
};

/** Finds and reads the recipe called `name`. Errors as ys_framework_find(). */
ys_status ys_recipe_find(const char *name, const char *const *dirs, struct ys_recipe **recipe) YS_MUST_CHECK;
ys_status ys_recipe_read(const char *path, struct ys_recipe **recipe) YS_MUST_CHECK;
void ys_recipe_free(struct ys_recipe *recipe);

/** The folders that are searched, existing or not, as an array of strings. */
ys_status ys_recipe_dirs(const char *const *dirs, ys_json **folders) YS_MUST_CHECK;
/** The names of all recipes in them, sorted, each once. */
ys_status ys_recipe_names(const char *const *dirs, ys_json **names) YS_MUST_CHECK;

#endif
