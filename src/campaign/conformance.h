/* The check of an adapter: does it do exactly what it declares?
 *
 * Its hello; every operator that it declares, over a grid of shapes and attributes (verify/operators/check_models.h);
 * whole networks; optimizers, schedules, losses, formats; the errors of the protocol; weights saved and loaded. A quick
 * check has each operator in one shape and few of the rest. Operators and networks are judged by the proof of `verify`,
 * in double alone where a small network is only there for its meaning. */
#ifndef YS_CAMPAIGN_CONFORMANCE_H
#define YS_CAMPAIGN_CONFORMANCE_H

#include "base/json/record.h"
#include "job/job.h"
#include <stdbool.h>

/** What a case is about, which decides the members that it has as JSON. */
enum ys_conformance_about {
    YS_CASE_WORD,    /* something that is so or not: a message alone */
    YS_CASE_HELLO,   /* what the adapter says of itself */
    YS_CASE_PROOF,   /* a proof */
    YS_CASE_MEASURE, /* an error against a bound */
};

enum ys_conformance_verdict { YS_CASE_PASS, YS_CASE_WEAK, YS_CASE_UNSUPPORTED, YS_CASE_FAIL };
extern const struct ys_names ys_conformance_verdicts; /* "pass", "weak", "unsupported", "fail" */

/** One case; texts are borrowed, NULL where there is nothing to say. */
struct ys_conformance_case {
    enum ys_conformance_about about;
    const char *part; /* "hello", "operators", "networks", "training", "protocol", "weights" */
    const char *name;
    int64_t cases;       /* how many it stands for */
    int verdict;         /* enum ys_conformance_verdict */
    const char *check;   /* the one that failed, or came closest */
    double error, bound; /* error NaN: infinite; bound NaN: there is none */
    const char *worst, *message;
    const char *run;      /* the command that repeats it, of one that failed */
    const ys_json *hello; /* of the first: what was said */
};
/** The members that a case has as a JSON object. */
const struct ys_record *ys_conformance_case_record(enum ys_conformance_about about);

struct ys_conformance_options {
    const char *const *recipe_dirs; /* ended by NULL, or NULL */
    bool fresh;                     /* prove again although proofs are cached */
    bool quick;                     /* not all of it, and few starts of the framework */
    const struct ys_job_flag *keys; /* the mode to check it in: opt.FRAMEWORK.OPTION and env.NAME, one value each */
    size_t key_count;
    /** Called with every case as it is known. May be NULL. */
    void (*on_case)(void *context, const struct ys_conformance_case *told);
    void *context;
};

/** What was found; owned, freed by ys_record_fini(). */
struct ys_conformance {
    char *framework;
    struct ys_list mode; /* char *: the keys, "--opt..." */
    char *title, *version;
    char *state; /* "ready" or "missing" */
    char *reason, *command;
    ys_json *hello;                      /* NULL: it said none */
    ys_json *cases;                      /* array of the cases as JSON */
    int64_t passed, failed, unsupported; /* counts of cases */
};
extern const struct ys_record ys_conformance_record;

/** Checks the adapter of `spec`. *report is overwritten, and as after ys_record_init() on failure. *exit_code: 0 all
 * that it declares holds, 5 a case failed, 6 the framework is not installed, 1 its adapter does not say hello.
 * YS_ENOTFOUND: there is no such framework. YS_EINVAL: a key that does not fit it. */
ys_status ys_conformance_check(const char *spec, const struct ys_conformance_options *options,
                               struct ys_conformance *report, int *exit_code) YS_MUST_CHECK;

#endif
