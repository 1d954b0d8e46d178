/* The checks of a proof, and what a failure most likely means. */
#ifndef YS_VERIFY_ORACLE_PROOF_CHECKS_H
#define YS_VERIFY_ORACLE_PROOF_CHECKS_H

#include "verify/oracle/findings.h"
#include "verify/proof.h"

#define YS_CHECK_TRAIN_LOSS      "loss of training"
#define YS_CHECK_INPUT_GRADIENT  "gradient by the input"
#define YS_CHECK_TIES            "gradient of equal values"
#define YS_CHECK_WHOLE           ", whole batch" /* behind the names of its checks */
#define YS_CHECK_WHOLE_GRADIENTS "gradients" YS_CHECK_WHOLE
#define YS_CHECK_VECTORS         "gradients of vectors" /* where they lie beyond the bound of the others, in bf16 */

/** The session of a whole batch. */
struct ys_check_whole {
    const struct ys_reference *reference;
    const struct ys_findings *found;
    const struct ys_findings *twins;     /* where it was in the trial's own format; NULL: it was in double */
    const struct ys_findings *in_double; /* as below */
};

/** Fills verdict, reason, checks and lasting (may it be cached?) of `proof`.
 * @param meaning   the session in double, NULL when the framework has none; one that ended as `unsupported` is as NULL
 * @param numerics  the session in the trial's own format; NULL when it was not begun: `meaning` had
 *                  failed, or is all that was wanted
 * @param twins     the largest figures of the twins in that format
 * @param in_double the largest figures of those of the oracle; NULL where they were not asked
 * @param whole     NULL where the proof's own rows are the trial's whole batch, or no session came so far */
void ys_check_all(const struct ys_reference *reference, const struct ys_findings *meaning,
                  const struct ys_findings *numerics, const struct ys_findings *twins,
                  const struct ys_findings *in_double, const struct ys_check_whole *whole, struct ys_proof *proof);

/** Of the lots of a session in the trial's own format the one that is judged, which lies lowest below its bound: a ReLU
 * that rounding flips in one flips in no other, and coarse arithmetic shows in all. */
int ys_check_input_lot(const struct ys_findings *found, const struct ys_findings *twins);

/** What the checks of a proof come to: fail, pass, or weak where none shows the meaning. */
enum ys_proof_verdict ys_check_verdict(const struct ys_proof *proof);

/** Whether rounding alone may have failed the meaning half: each of its errors is below YS_VERIFY_MEANING_LIMIT. */
bool ys_check_may_be_rounding(const struct ys_proof *proof);

/** Where nothing failed but gradients of the numerics half: those of the proof's own rows, or else of a whole batch.
 * One ReLU that rounding flips does that, in a framework or in a twin; it does not come back on other batches. */
enum ys_check_flip { YS_CHECK_FLIP_NONE, YS_CHECK_FLIP_FEW, YS_CHECK_FLIP_WHOLE };
enum ys_check_flip ys_check_flip(const struct ys_proof *proof);

#endif
