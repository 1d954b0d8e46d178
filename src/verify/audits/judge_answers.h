/* Whether what an adapter answered while it was timed are the answers to its requests: of those that were seen in the
 * ring (crew/shown_answers.h) the built-in engine computes some rows again, with the run's own weights. See
 * docs/proof.md, "The audit of inference". */
#ifndef YS_VERIFY_AUDITS_JUDGE_ANSWERS_H
#define YS_VERIFY_AUDITS_JUDGE_ANSWERS_H

#include "crew/run_spec.h"
#include "framework/framework.h"
#include "verify/audit.h"

#define YS_ANSWERS_LEAST   8           /* that looks meet while it answers: with fewer the audit is weak */
#define YS_ANSWERS_ROWS    8           /* of an answer, at most */
#define YS_ANSWERS_DOUBLE  500000000   /* multiply-adds of all rows together that the oracle goes through in double */
#define YS_ANSWERS_SINGLE  20000000000 /* and the engine in single precision, where four rows are more than that */
#define YS_ANSWERS_SLACK_S 1e-3        /* that two processes' views of one moment may lie apart */
#define YS_ANSWERS_SHARE   0.5         /* of the time in which they were answered, latencies take at least */
#define YS_ANSWERS_SPAN_S  1.0         /* in a shorter time that is not judged */

struct ys_answers_evidence {
    const struct ys_framework *engine; /* the built-in one */
    const struct ys_plan *plan;        /* of the run; its files are there */
    int64_t requests;
    const struct ys_run_record *record;
};

/** Judges a run that went well. `audit` was set up by ys_record_init(). YS_EPROTOCOL: the engine broke off; also
 * YS_EIO, YS_EINTR. */
ys_status ys_answers_judge(const struct ys_answers_evidence *evidence, struct ys_audit *audit) YS_MUST_CHECK;

/** Whether what was seen in the ring agrees with when the adapter says that it answered. YS_EFORMAT says what does not.
 */
ys_status ys_answers_check_times(const struct ys_answers *answers, const struct ys_series_set *series) YS_MUST_CHECK;

#endif
