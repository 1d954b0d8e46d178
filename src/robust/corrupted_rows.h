/* Corruptions of all rows, and how many of them a model is right on then. */
#ifndef YS_ROBUST_CORRUPTED_ROWS_H
#define YS_ROBUST_CORRUPTED_ROWS_H

#include "robust/attack_rows.h"

/** Every kind at every severity that the spec asks for, into found->corruptions; nothing where it asks for none. The
 * model is asked for its logits, which are not judged again: nobody looked for these pictures. YS_EINVAL: logits of a
 * picture are no finite numbers. YS_EINTR: the user asked to stop; found is then as it was. */
ys_status ys_corrupt_rows(struct ys_attacked_rows *rows, struct ys_robustness *found) YS_MUST_CHECK;

#endif
