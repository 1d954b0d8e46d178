/* The option table: every key of a job file, once. The parser, the flags, `--help`, `list keys`, the table in
 * docs/job-file.md and the resolved JSON all read it, so they cannot disagree.
 *
 * To add a key, add its entry to the table in option.c. */
#ifndef YS_JOB_OPTION_H
#define YS_JOB_OPTION_H

#include "base/buf.h"
#include "base/json/json.h"
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

enum ys_option_group {
    YS_OPTION_STUDY,
    YS_OPTION_WORK,
    YS_OPTION_MACHINE,
    YS_OPTION_OBSERVATION,
    YS_OPTION_GROUP_COUNT
};

/* Beside each: how it is written, and what it is in the resolved JSON. */
enum ys_option_type {
    YS_OPTION_INT,         /* 64; integer */
    YS_OPTION_REAL,        /* 0.01, 1e-3; real */
    YS_OPTION_SHARE,       /* 2% or 0.02; real */
    YS_OPTION_BOOL,        /* on, off; true, false */
    YS_OPTION_WORD,        /* one of `choices`; string */
    YS_OPTION_NAME,        /* letters, digits, _ - and .; string */
    YS_OPTION_PATH,        /* any text; string */
    YS_OPTION_DURATION,    /* 30s, 1.5h; real, seconds */
    YS_OPTION_SIZE,        /* 2GiB; integer, bytes */
    YS_OPTION_CPUS,        /* 0-3,5; array of integers */
    YS_OPTION_SCHEDULE,    /* constant, step(30, 0.1); string, equal for equal schedules */
    YS_OPTION_OPTIMIZER,   /* sgd, adam(0.9, 0.99, 1e-8); string, equal for equal optimizers */
    YS_OPTION_CALIBRATION, /* minmax, percentile(99.9); string, equal for equal calibrations */
    YS_OPTION_LOSS,        /* auto, nll, softmax_cross_entropy(0.1); string, equal for equal losses */
    YS_OPTION_GOAL,        /* accuracy >= 98 %; string, equal for equal targets */
    YS_OPTION_MODEL,     /* a name that ys_model_find() knows, or a graph's file; string, of a file its absolute path */
    YS_OPTION_DATA,      /* a name of ys_data_sources(), or images; string, of images their absolute path */
    YS_OPTION_ATTACK,    /* fgsm(0.1) pgd(8/255); string, equal for equal attacks */
    YS_OPTION_CURVE,     /* 0.05 8/255; string, the numbers ascending */
    YS_OPTION_HOSTS,     /* names with commas between, or a path with a /; string, of a file its absolute path */
    YS_OPTION_FRAMEWORK, /* NAME or NAME@VERSION; string. Whether there is such a recipe is not checked here */
    YS_OPTION_EXCLUDE,   /* key=value ...; not in the JSON */
    YS_OPTION_ENV,       /* env.NAME: any text; in `env` of a trial */
    YS_OPTION_OPT,       /* opt.FRAMEWORK.NAME: any text; in `options` of a trial */
    YS_OPTION_TYPE_COUNT,
};

struct ys_option {
    const char *name; /* for YS_OPTION_ENV and YS_OPTION_OPT the pattern, as "env.NAME" */
    enum ys_option_group group;
    enum ys_option_type type;
    bool axis;            /* may take several values */
    bool file_only;       /* is no flag */
    bool above_low;       /* `low` itself is out of range */
    const char *mode;     /* the one mode in which it says something, null in the others; NULL: every mode */
    const char *compare;  /* the one value of compare under which it may be given; NULL: every one */
    double low, high;     /* numbers, shares, durations (seconds), sizes (bytes): the allowed range */
    const char *unit;     /* of the value in the resolved JSON; NULL when it has none */
    const char *choices;  /* YS_OPTION_WORD: "random|fixed" */
    const char *also;     /* other words for choices: "fp32=f32|float32=f32" */
    const char *says;     /* what a text is, as "ARRAY=INPUT"; NULL: as its type says */
    const char *standard; /* the default, as a file would write it; NULL: null in the resolved JSON, or required */
    const char *none;     /* the word that stands for null, as "none"; NULL when a value cannot be taken back */
    bool required;        /* every section needs it */
    const char *help;     /* one sentence without full stop */
};

/** All options in the order of the manual, ended by a NULL name. */
const struct ys_option *ys_options(void);
/** The option that `key` belongs to ("env.OMP_WAIT_POLICY" belongs to "env.NAME"); NULL when there is none. */
const struct ys_option *ys_option_find(const char *key);
/** The key most like `key`; NULL when none is near. */
const char *ys_option_nearest(const char *key);
/** Whether it is a member of a trial's `keys` (work, machine and observation keys with a value of their own). */
bool ys_option_is_resolved(const struct ys_option *option);

/** The typed value of `text`. YS_EINVAL: "KEY = TEXT: what is wrong and what is allowed". `key` is the key as written.
 * The file of a model, or of data, starts at the current folder, or at `folder`. */
ys_status ys_option_parse_in(const char *folder, const struct ys_option *option, const char *key, const char *text,
                             ys_json **value) YS_MUST_CHECK;
ys_status ys_option_parse(const struct ys_option *option, const char *key, const char *text,
                          ys_json **value) YS_MUST_CHECK;
/** The default, typed; null when it has none. */
ys_status ys_option_standard(const struct ys_option *option, ys_json **value) YS_MUST_CHECK;

/* Texts made from the table. */
/** What may be written: "whole number, 1 to 4096, or all". Appended. */
void ys_option_print_values(const struct ys_option *option, struct ys_buf *out);
/** The full help of one key, several lines. YS_ENOTFOUND names the nearest key. Appended. */
ys_status ys_option_help_text(const char *key, struct ys_buf *out) YS_MUST_CHECK;
/** One line a key, in groups, at most 80 columns: for the usage message and `list keys`. Appended. */
void ys_job_keys_text(struct ys_buf *out);
/** The table of docs/job-file.md, Markdown. Appended. */
void ys_options_markdown(struct ys_buf *out);
/** Array of {name, group, type, values, unit, low, high, choices, default, axis, mode, compare, flag, available, help}.
 */
ys_json *ys_options_json(void);

#endif
