/* The command line, split: a verb, words, flags of the program, and flags that are keys of a job. */
#ifndef YS_CLI_ARGS_H
#define YS_CLI_ARGS_H

#include "base/status.h"
#include "job/job.h"

#include <stdbool.h>
#include <stddef.h>

enum ys_format { YS_FORMAT_TABLE, YS_FORMAT_JSON, YS_FORMAT_CSV, YS_FORMAT_MD };

struct ys_args {
    const char *verb;   /* "run", "list", ... */
    const char **words; /* after the verb, without flags */
    size_t word_count;
    struct ys_job_flags flags; /* keys of a job, in order */
    const char **recipe_dirs;  /* ended by NULL */
    const char *results;       /* NULL: the default folder */
    const char *from;          /* data fetch --from DIR, install --from PROGRAM */
    const char *check;         /* list frameworks --check NAME */
    /* export --model NAME --out FILE */
    const char *model, *data, *seed, *precision, *weights, *out;
    enum ys_format format;
    bool format_given, quiet, debug, help, version, unverified, fresh, trace;
    bool verify;   /* show --verify */
    char *command; /* the whole line, quoted so that a shell reads it back */
};

/** Splits argv. Keys of a job are flags of run, check and verify only, opt.* and env.* of list too. YS_EINVAL names the
 * flag and the nearest one. */
ys_status ys_args_parse(int argc, char **argv, struct ys_args *args) YS_MUST_CHECK;
void ys_args_fini(struct ys_args *args);

#endif
