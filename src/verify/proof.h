/* A proof as a struct, and its way to JSON and back: docs/proof.md has the members. Made by prove.c and proof_checks.c,
 * kept in the cache (cached_proofs.h), stored with the trial, shown in results.
 *
 * An error that is infinite, because something is missing or no number, is NaN here and null in JSON. */
#ifndef YS_VERIFY_PROOF_H
#define YS_VERIFY_PROOF_H

#include "base/json/record.h"
#include "base/status.h"
#include "store/due_checks.h"
#include "store/stored_trial.h"
#include "verify/audit.h"

enum ys_proof_half { YS_PROOF_WORK, YS_PROOF_MEANING, YS_PROOF_NUMERICS };
extern const struct ys_names ys_proof_halves; /* "work", "meaning", "numerics" */

struct ys_proof_check {
    int half; /* enum ys_proof_half */
    char *name;
    double error, bound;
    bool pass;
    char *worst; /* the parameter, the batch, or "logits" or "loss" in which the error was found; NULL */
};

/** The worst figures of the twins in the trial's format. */
struct ys_proof_twins {
    int64_t count, batch; /* how many they were; the batch that numerics was judged on */
    double forward,
        forward_ceiling; /* the latter that of their bound (verify/oracle/ceiling.h); NaN of older versions */
    double gradients, gradients_ceiling;           /* NaN of inference */
    double input_gradient, input_gradient_ceiling; /* of mode attack alone; else NaN */
};
extern const struct ys_record ys_proof_twins_record;

/** Of a whole batch. */
struct ys_proof_whole {
    int64_t rows;
    bool in_double;
    struct ys_proof_twins *twins; /* owned; NULL: none were asked, as in double */
};

/** A node of a trace: forward a value of it, backward the gradient of one of its parameters. */
struct ys_proof_place {
    char *node, *op, *name; /* of the value or the parameter */
    double error, bound;
    bool pass;
};

struct ys_proof_pass {
    char *reason;          /* why there is no answer; NULL */
    int64_t first;         /* index of the first place that does not pass; YS_FIELD_NONE without one */
    struct ys_list places; /* struct ys_proof_place, in the order in which a mistake spreads; in JSON `nodes` */
};
extern const struct ys_record ys_proof_pass_record;

struct ys_proof_trace {
    int precision; /* enum ys_precision */
    struct ys_proof_pass forward;
    struct ys_proof_pass *backward; /* owned; NULL of inference */
};
extern const struct ys_record ys_proof_trace_record;

/** Texts, lists and what is pointed to are owned. Of a proof for which nobody was asked there are verdict and reason
 * alone. */
struct ys_proof {
    char *key;             /* its name in the cache; NULL */
    int cached;            /* 1: taken from there; YS_NAME_NONE: nobody was asked */
    char *framework;       /* as the job names it; NULL */
    char *version;         /* NULL */
    int64_t seed;          /* YS_FIELD_NONE, as the next ones, where nobody was asked */
    int64_t rows, batches; /* rows of a batch; batches, which are the steps too */
    int64_t positions;     /* of a row that were proven, where it has more; YS_FIELD_NONE: all */
    char *date;            /* when it was made; NULL */
    struct ys_list checks; /* struct ys_proof_check; empty where nothing could be compared */
    int ended;    /* enum ys_run_status with which the adapter broke off, or the twins lack the work; YS_NAME_NONE */
    int verdict;  /* enum ys_proof_verdict */
    char *reason; /* a sentence; NULL when it passed */
    int lasting;  /* 1: may be kept; 0: somebody broke off; YS_NAME_NONE: the work itself is no work to prove */
    struct ys_proof_twins *twins;
    struct ys_proof_whole *whole;
    double seconds; /* that it took; NaN */
    /* The longest `open`, and first question with a first step, of its sessions of some rows, with the most processor
     * time of either; NaN: of an older version. */
    double open_s, open_cpu_s, first_s, first_cpu_s;
    struct ys_list features;      /* char *: that its sessions told (docs/protocol.md) */
    struct ys_proof_trace *trace; /* only where it was asked for */
    struct ys_audit *audit;       /* of the trial's runs, afterwards (study/audit_trainings.c); NULL */
    struct ys_list due;           /* struct ys_due: the checks of the trial's runs (store/due_checks.h) */
    struct ys_list diagnosis;     /* char *: sentences of older versions */
};
/** The fields, in the order of JSON. */
extern const struct ys_record ys_proof_record;

void ys_proof_init(struct ys_proof *proof); /* nobody was asked; YS_PROOF_NONE */
void ys_proof_fini(struct ys_proof *proof); /* it is then as after ys_proof_init() */
/** As ys_record_read(); stored proofs of every version are readable. YS_EFORMAT (`proof` is then as after
 * ys_proof_init()). */
ys_status ys_proof_read(const ys_json *json, const char *label, struct ys_proof *proof) YS_MUST_CHECK;

/** Verdict and reason (copied; may be NULL). */
void ys_proof_settle(struct ys_proof *proof, enum ys_proof_verdict verdict, const char *reason);
/** One line more, which passes if the error is within the bound. Texts are copied; `worst` may be NULL. */
void ys_proof_add_check(struct ys_proof *proof, enum ys_proof_half half, const char *name, double error, double bound,
                        const char *worst);
/** Whether it was the oracle or a twin that failed, not the adapter: a check that was due and was not made. */
bool ys_proof_lacks_judge(const struct ys_proof *proof);
/** Without checks, and without what they were held against: twins, whole batch. */
void ys_proof_drop_checks(struct ys_proof *proof);
/** The check of that half and name, and the one at `index`; borrowed. */
const struct ys_proof_check *ys_proof_find(const struct ys_proof *proof, enum ys_proof_half half,
                                           const char *name); /* NULL without one */
const struct ys_proof_check *ys_proof_check_at(const struct ys_proof *proof, size_t index);

/** One place more, which passes if the error is within the bound. Texts are copied. */
void ys_proof_add_place(struct ys_proof_pass *pass, const char *node, const char *op, const char *name, double error,
                        double bound);

#endif
