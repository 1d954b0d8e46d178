/* --confirm of compare and gate: what fresh rounds of both sides in turn (campaign/confirm_rounds.h) say of a
 * judgement. Both end with --budget. */
#ifndef YS_CLI_VERBS_CONFIRM_H
#define YS_CLI_VERBS_CONFIRM_H

#include "cli/args.h"
#include "judge/gate.h"

/** Of each check that does not hold and has values, after 8, 20 and 50 rounds and at no other time, each look at 5 %
 * / 3. What cannot be run here stays as it was, with the reason. YS_EINVAL: --budget; YS_EINTR. */
ys_status ys_confirm_gate(const struct ys_args *args, const struct ys_side *base, const struct ys_side *candidate,
                          const struct ys_rules *rules, struct ys_gate *gate) YS_MUST_CHECK;
/** Of each pair of which something may be concluded, 10 rounds. Likewise. */
ys_status ys_confirm_judged(const struct ys_args *args, const struct ys_side *base, const struct ys_side *candidate,
                            struct ys_judged *judged) YS_MUST_CHECK;

#endif
