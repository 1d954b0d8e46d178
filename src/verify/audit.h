/* Whether some steps in the middle of a run are those that its plan says: the built-in engine goes through them again
 * from the weights that the run had there. See docs/proof.md, "The audit". */
#ifndef YS_VERIFY_AUDIT_H
#define YS_VERIFY_AUDIT_H

#include "base/json/record.h"
#include "crew/run_spec.h"
#include "framework/framework.h"

#define YS_AUDIT_LEAST_STEPS  30   /* of a run: three times what a proof has */
#define YS_AUDIT_STEPS        4    /* that are gone through again, at most */
#define YS_AUDIT_TWINS_RANDOM 32   /* with dropout, each with masks of its own */
#define YS_AUDIT_ROUNDINGS    16   /* a way of fewer roundings to float32 is not judged */
#define YS_AUDIT_LOOSE        0.2  /* a bound above this shows little */
#define YS_AUDIT_FLIP         0.08 /* over the rows of a batch: what a ReLU that rounding flips may move a way by */
#define YS_AUDIT_WIDE         2048 /* units that twins move by which are asked what a flip does. */
#define YS_AUDIT_FLIP_FACTOR  2    /* and how much further than the worst of them a way may lie */
#define YS_AUDIT_FLIP_MOST    0.1  /* further than this no flip moves a way while losses hold, and */
#define YS_AUDIT_TRIES        3    /* at so many places a flip is met by chance in few studies of a million */
#define YS_AUDIT_WAY_LEAST    1e-3 /* a way's bound at least */
#define YS_AUDIT_LOSS_LEAST   1e-5 /* a loss' bound at least, as of the first loss */

/* Why nobody could, known from the plan. */
#define YS_AUDIT_TOO_SHORT "its runs have fewer than 30 steps"
_Static_assert(YS_AUDIT_LEAST_STEPS == 30, "the sentence has the number");

/* From good to bad. */
enum ys_audit_verdict {
    YS_AUDIT_PASS,
    YS_AUDIT_WEAK,
    YS_AUDIT_NONE,    /* nobody could make one */
    YS_AUDIT_MISSING, /* it should have been made, and was not */
    YS_AUDIT_FAIL
};

struct ys_audit {
    int verdict;         /* enum ys_audit_verdict */
    char *reason;        /* why it is not pass; NULL */
    char *place;         /* "loss of step 31", or a tensor: the one closest to its bound or furthest beyond; NULL */
    double error, bound; /* there; an infinite error is NaN */
    int64_t round, step, steps;    /* what was gone through; YS_FIELD_NONE where nothing was */
    int64_t tensors, small, loose; /* of weights and buffers: all; ways too small to be judged; bounds above 0.2 */
    int64_t answers;               /* of inference: answers that were judged, of all runs; YS_FIELD_NONE of training */
    int64_t compared, same; /* losses of the timed run that were compared with this one's; how many, from the first on,
                               are the same to the bit */
    int64_t tries;          /* runs that were gone through, the last of which counts; YS_FIELD_NONE of inference */
    bool may_be_flip;       /* it fails by ways alone, and by no more than a ReLU that rounding flips can move them;
                               not recorded */
    double run_s, judge_s;  /* what it took: the run; going through its steps again. NAN: of inference */
};
extern const struct ys_names ys_audit_verdicts;
extern const struct ys_record ys_audit_record;

/** How a plan is audited. */
struct ys_audit_manner {
    bool ways;               /* the optimizer's state can be inferred: the ways of tensors are judged, not losses
                                alone; they are of any optimizer where the adapter saves its state */
    bool random;             /* dropout */
    bool carried;            /* a state goes from batch to batch */
    struct ys_run_audit run; /* what the run is asked for, at a place drawn by getrandom */
};

/** YS_ENOTFOUND with a reason: a run of `plan` cannot be audited. */
ys_status ys_audit_plan(const struct ys_plan *plan, struct ys_audit_manner *manner) YS_MUST_CHECK;

/** What a run under audit left behind. Everything is borrowed. */
struct ys_audit_evidence {
    const struct ys_framework *engine; /* the built-in one */
    const struct ys_plan *plan;
    const char *folder;   /* of the run, with the files of struct ys_run_audit; files to work with go there too */
    const double *losses; /* of each step of the run */
    size_t loss_count;
    const double *timed; /* the same of the run of that round that was timed; NULL: it is not known */
    size_t timed_count;
    bool saves_state; /* the adapter has the feature `state` */
    bool is_builtin;  /* the engine itself is repeated by its plain back end */
};

/** Judges. `audit` was set up by ys_record_init(). YS_EPROTOCOL: the engine broke off. */
ys_status ys_audit_judge(const struct ys_audit_manner *manner, const struct ys_audit_evidence *evidence,
                         struct ys_audit *audit) YS_MUST_CHECK;
/** Audits one place with `place`, which sets `audit` up and gives it to `context`'s trial; where that fails as a
 * flipped ReLU may (may_be_flip), other places, up to YS_AUDIT_TRIES in all: a flip comes and goes, other work stays,
 * so the first place that is no such failure counts. Times are those of all tries. Stops where a signal asks to.
 * Results are those of `place`. */
typedef ys_status ys_audit_place(void *context, struct ys_audit *audit);
ys_status ys_audit_try_places(ys_audit_place *place, void *context, struct ys_audit *audit) YS_MUST_CHECK;
/** Ends an audit without judgement. */
void ys_audit_settle(struct ys_audit *audit, enum ys_audit_verdict verdict, const char *reason);
/** The same of one that broke off with the recorded message: what the engine lacks (YS_EUNSUPPORTED) nobody can do for
 * it, whatever else breaks off should not have. */
void ys_audit_settle_broken(struct ys_audit *audit, ys_status broken);

#endif
