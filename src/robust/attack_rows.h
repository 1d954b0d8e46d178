/* One attack over all rows that were right, group by group, and its outcomes as they are judged again. */
#ifndef YS_ROBUST_ATTACK_ROWS_H
#define YS_ROBUST_ATTACK_ROWS_H

#include "robust/attack_group.h"

struct ys_attacked_rows {
    const struct ys_attacked *model;
    const struct ys_attack_spec *spec;
    bool *is_right;   /* [rows], before, as judged */
    double *smallest; /* [rows], L2 of the smallest change that broke it so far; 0 of one that was wrong before */
    size_t clean;
    size_t attacks_done, attacks_to_do; /* for those who watch */
    const struct ys_attack *asked;      /* the one of the spec's that is under way; NULL: one that an alarm asks for */
};

/** Judges the rows as they are; ys_attacked_rows_fini() frees. */
ys_status ys_attacked_rows_init(const struct ys_attacked *model, const struct ys_attack_spec *spec,
                                struct ys_attacked_rows *rows) YS_MUST_CHECK;
void ys_attacked_rows_fini(struct ys_attacked_rows *rows);
/** The first `most` of the rows in `list` (there are `count`), as a group that has done nothing yet; `images` and what
 * else it has is the group's. */
ys_status ys_attacked_rows_group(const struct ys_attacked_rows *rows, const size_t *list, size_t count,
                                 struct ys_attack_group *group) YS_MUST_CHECK;
/** Tells who watches that a part `part` of the next attack is done, which `what` names. */
void ys_attacked_rows_progress(const struct ys_attacked_rows *rows, double part, const char *what);
/** `attack` against all rows that were right; result [out], to be freed by its record. */
ys_status ys_attack_rows(struct ys_attacked_rows *rows, const struct ys_attack *attack,
                         struct ys_attack_result *result) YS_MUST_CHECK;
/** The class of each of `count` rows of logits, the first of equals. YS_EINVAL: they are no finite numbers. */
ys_status ys_judged_classes(const double *logits, size_t count, size_t classes, int64_t *judged) YS_MUST_CHECK;
/** Behind all of them: the median of `smallest`, which it sorts; NaN where it is infinite or no row was right before.
 */
double ys_attacked_rows_smallest(struct ys_attacked_rows *rows);

#endif
