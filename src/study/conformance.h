/* The check of an adapter: does it do exactly what it declares?
 *
 * Its hello; every operator that it declares, over a grid of shapes and attributes (verify/check_models.h); whole
 * networks; optimizers, schedules, losses, formats; the errors of the protocol; weights saved and loaded. Operators and
 * networks are judged by the proof of `verify`, in double alone where a small network is only there for its meaning. */
#ifndef YS_STUDY_CONFORMANCE_H
#define YS_STUDY_CONFORMANCE_H

#include "base/json.h"
#include "job/job.h"
#include <stdbool.h>

struct ys_conformance_options {
    const char *const *recipe_dirs; /* ended by NULL, or NULL */
    bool fresh;                     /* prove again although proofs are cached */
    const struct ys_job_flag *keys; /* the mode to check it in: opt.FRAMEWORK.OPTION and env.NAME, one value each */
    size_t key_count;
    /** Called with every case as it is known: {part ("hello", "operators", "networks", "training", "protocol",
     * "weights"), name, cases (how many it stands for), verdict ("pass", "weak", "unsupported", "fail"), check (the one
     * that failed, or came closest), error (null: infinite), bound, worst, message, run (the command that repeats it)};
     * members that do not apply are null or left out. The first has `hello` too. May be NULL. */
    void (*on_case)(void *context, const ys_json *line);
    void *context;
};

/** Checks the adapter of `spec`. *report: {framework, mode (the keys, "--opt..."), title, version, state, reason,
 * command, hello, cases: [as above], passed, failed, unsupported: counts of cases}. *exit_code: 0 all that it declares
 * holds, 5 a case failed, 6 the framework is not installed, 1 its adapter does not say hello. YS_ENOTFOUND: there is no
 * such framework. YS_EINVAL: a key that does not fit it. */
ys_status ys_conformance_check(const char *spec, const struct ys_conformance_options *options, ys_json **report,
                               int *exit_code) YS_MUST_CHECK;

#endif
