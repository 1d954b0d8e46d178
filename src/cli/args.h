/* The command line, split: a verb, words, flags of the verb, and flags that are keys of a job. */
#ifndef YS_CLI_ARGS_H
#define YS_CLI_ARGS_H

#include "base/status.h"
#include "job/job.h"

#include <stdbool.h>
#include <stddef.h>

enum ys_format { YS_FORMAT_TABLE, YS_FORMAT_JSON, YS_FORMAT_CSV, YS_FORMAT_MD, YS_FORMAT_JUNIT, YS_FORMAT_TRACE };

struct ys_args {
    const char *verb;   /* "run", "list", ...; "" when none was given */
    const char **words; /* after the verb, without flags */
    size_t word_count;
    struct ys_job_flags flags; /* keys of a job, in order */
    const char **recipe_dirs;  /* ended by NULL */
    const char **rules;        /* gate: ended by NULL */
    const char *rule_file;     /* gate */
    const char *results;       /* NULL: the default folder */
    const char *from;          /* data fetch --from PLACE, install --from PROGRAM */
    const char *check;         /* list frameworks --check NAME */
    /* export --model NAME --out FILE */
    const char *model, *data, *seed, *precision, *weights, *out, *input, *output, *layout;
    const char *wish;                  /* recommend; tune: a metric, too */
    const char *knobs;                 /* tune: names with commas between; NULL: all */
    const char *over, *search;         /* tune: hyper-parameters with their values, and how; NULL: knobs */
    const char *good, *bad, *versions; /* bisect */
    const char *metric;                /* history, bisect: NULL is the speed */
    const char *budget;                /* compare, gate: with confirm, NULL is 10 minutes; tune */
    const char *margin;                /* compare: what counts as the same; NULL: as the base's study says */
    const char *compare;               /* report: another study, or a file; NULL */
    const char *comparisons;           /* show, report: "axes" or "all"; NULL: as the study says */
    const char *times;                 /* doctor --self-test, --perturbation: how often; NULL: as it sees fit */
    const char *noise;                 /* doctor: for how long; NULL: not asked for */
    enum ys_format format;
    bool format_given, quick, quiet, debug, help, version, unverified, fresh, all_steps, trace, dry_run, repair,
        any_index, verify, self_test;
    bool perturbation, peak, details, follow, confirm, history, install;
    char *command; /* the whole line, quoted so that a shell reads it back */
};

/** Splits argv. Which flags there are, and whose they are, stands in cli/verb.h; they may stand before and after words,
 * and what follows "--" are words. YS_EINVAL names the verb and the flag. */
ys_status ys_args_parse(int argc, char **argv, struct ys_args *args) YS_MUST_CHECK;
void ys_args_fini(struct ys_args *args);

#endif
