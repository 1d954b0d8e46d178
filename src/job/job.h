/* Job files: from the text of a study to its trials. docs/job-file.md describes the language.
 *
 * Everything that can be known to be wrong without looking at data, frameworks' environments or the machine is said
 * here, as YS_EINVAL with "file:line:column: what, value, remedy" (or "--flag: ..."). */
#ifndef YS_JOB_JOB_H
#define YS_JOB_JOB_H

#include "base/json/json.h"
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

/* A study, resolved.
 *
 * `study`: {name, repeat, order, seed, time_limit_s (null: none), cooldown_s, results, margin, max_runs}.
 *
 * `trials`: in the order of the file, the first key slowest, each an object of
 *
 * `id`: "lenet:framework=pytorch,threads=2", section and factors as written; unique in the study: a value that
 * could be read as more factors (",threads=" in it, say) stands in quotes.
 *
 * `index`: 3. `section`: "lenet".
 *
 * `factors`: {"framework": "pytorch", "threads": 2}, keys with several values in this section; options that vary are
 * called "opt.pytorch.channels_last", variables "env.NAME".
 *
 * `keys`: every work, machine and observation key of the option table, typed; durations in seconds, sizes in bytes;
 * null: not given, or without meaning in the trial's mode. Of epochs, steps and requests exactly one
 * is not null. Beside them beta1, beta2, alpha and epsilon of the optimizer, null where it has no such number.
 * With compare = same-weights mode is "infer", requests is null until the data are known, and the keys of training say
 * how the weights are trained (of epochs and steps one is not null). With compare = own own_of and own_data are never
 * null; model is where there are no such defaults, and then `unsupported` of the trial says why.
 *
 * `options`: of the trial's framework, {"channels_last": true}. `env`: texts. */
struct ys_job {
    char *text; /* as given, each include replaced by its file's lines; without a file, a file that means the same */
    ys_json *study, *trials;
};

/* What only higher floors know. `context` is handed to each. Each function may be NULL: then any name is right, values
 * of options are booleans (on, off, true, false), numbers, or text, and no framework has defaults. */
struct ys_job_hooks {
    void *context;
    /** The name that `framework` means, new (ys_free): "pytorch" of "torch"; one that nobody knows as it is. */
    ys_status (*name_framework)(void *context, const char *framework, char **name);
    /** YS_OK when there is a recipe for `framework` ("pytorch" or "pytorch@2.13.0"). */
    ys_status (*check_framework)(void *context, const char *framework);
    /** The typed value of an option; a failure names option, value and what is allowed. */
    ys_status (*check_option)(void *context, const char *framework, const char *option, const char *text,
                              ys_json **value);
    /** What a framework (no version) comes with for the data set `data`: *own is a new object {key: typed value} of
     * work keys; NULL, with *reason (new, ys_free), where it has none. YS_ENOTFOUND: there is no such framework. */
    ys_status (*own_settings)(void *context, const char *framework, const char *data, ys_json **own, char **reason);
    /** The forms in which a framework stores a model, its own first: a new array of texts, empty where it has none. */
    ys_status (*forms)(void *context, const char *framework, ys_json **forms);
};

struct ys_job_flag {
    char *key;   /* a key of the option table; "run-time-limit" has become "run_time_limit" */
    char *value; /* as given */
    bool yields; /* of a key of the study: to what the file says */
};

struct ys_job_flags {
    struct ys_job_flag *items;
    size_t count;
};

/** Takes argv[*at] when it is a flag of the option table: `--key=value`, or `--key value` with the value in the next
 * argument. *taken tells; if so, *at is at the last argument used. YS_EINVAL: it is such a flag, and has no value or
 * was given before (`exclude` may come again). Anything that is no key of the table is left alone with YS_OK. */
ys_status ys_job_flags_take(struct ys_job_flags *flags, int argc, char *const *argv, int *at,
                            bool *taken) YS_MUST_CHECK;
/** Adds a flag as it was given. */
void ys_job_flags_add(struct ys_job_flags *flags, const char *key, const char *value);
void ys_job_flags_fini(struct ys_job_flags *flags);

/** Reads the study at `path`, which may be a pipe, "-" for standard input; NULL: `flags` alone describe it, in one
 * section called "run". `hooks` may be NULL. YS_EINTR: asked to stop while waiting for a pipe. YS_ENOTFOUND and YS_EIO:
 * the file cannot be opened. `job` needs no initial value and is empty on failure. */
ys_status ys_job_load(const char *path, const struct ys_job_flag *flags, size_t count, const struct ys_job_hooks *hooks,
                      struct ys_job *job) YS_MUST_CHECK;
/** The same for `size` bytes of text, which errors call `name`; includes are refused. */
ys_status ys_job_parse(const char *name, const char *text, size_t size, const struct ys_job_flag *flags, size_t count,
                       const struct ys_job_hooks *hooks, struct ys_job *job) YS_MUST_CHECK;
void ys_job_fini(struct ys_job *job);

#endif
