/* Knobs: what a user may set of a machine or a framework, so that the same work is done faster, and to which values.
 * They stand in files: frameworks/common.knobs, a line a knob, and the lines tune.KNOB of recipes.
 *
 *     KNOB = VALUES: why
 *     tune.KNOB = VALUES: why    in a recipe: in the place of the common one of that name, or one more
 *     tune.KNOB = none           in a recipe: it says nothing here
 *
 * VALUES are separated by " | ". Each is a set of keys of a job, KEY=VALUE with blanks between, and has a name before
 * brackets where that is long: kept(env.A=1 env.B=2). Keys are those of the machine, `input`, and in a recipe its
 * options (opt.NAME): none of them changes what is computed beyond its rounding. What is as it was without a word is no
 * value: the search has it in any case.
 *
 * Three values are found by who searches, on the machine and in the trial: threads=each, cpus=packed (as many CPUs as
 * threads, on as few cores as hold them), and a library of env.LD_PRELOAD without a path. */
#ifndef YS_FRAMEWORK_KNOBS_H
#define YS_FRAMEWORK_KNOBS_H

#include "base/json/record.h"
#include "job/ini.h"

struct ys_knob_value {
    char *name;          /* "kept"; without one its keys, "threads=each" */
    struct ys_list keys; /* char *: "env.MALLOC_MMAP_MAX_=0" */
};

struct ys_knob {
    char *name, *why;
    char *from;            /* the file that says it: its base name */
    struct ys_list values; /* struct ys_knob_value; empty: removed */
};
extern const struct ys_record ys_knob_record, ys_knob_value_record;

#define YS_KNOB_EACH   "each"   /* of threads */
#define YS_KNOB_PACKED "packed" /* of cpus */

/** Adds the knob of one entry, `name` = VALUES: why, to a list of struct ys_knob. `is_recipe`: options are allowed, and
 * none. YS_EINVAL with the entry's place. */
ys_status ys_knob_add(const struct ys_ini_entry *entry, const char *name, bool is_recipe,
                      struct ys_list *knobs) YS_MUST_CHECK;
/** YS_EFORMAT: a value has an option that is not in `options` ({NAME: ...} of the recipe at `path`). */
ys_status ys_knobs_check(const char *path, const struct ys_list *knobs, const ys_json *options) YS_MUST_CHECK;

/** Those of the framework `spec`, common ones first, options as a job writes them (opt.FRAMEWORK.NAME); of NULL the
 * common ones alone. `knobs` is overwritten. Errors as ys_framework_find(); YS_EFORMAT: common.knobs is damaged. */
ys_status ys_knobs_of(const char *spec, const char *const *recipe_dirs, struct ys_list *knobs) YS_MUST_CHECK;

#endif
