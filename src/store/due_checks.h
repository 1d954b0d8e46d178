/* The checks of a trial's runs, beside its proof: which are due, and what came of each. One list a trial, the member
 * `due` of its stored proof, filled by study/make_checks.h and judged here, for whoever concludes from its runs or
 * shows them. docs/proof.md, "Checks that are due". */
#ifndef YS_STORE_DUE_CHECKS_H
#define YS_STORE_DUE_CHECKS_H

#include "base/json/record.h"

enum ys_due_check {
    YS_DUE_FIRST_LOSS,
    YS_DUE_WEIGHTS,
    YS_DUE_ANSWERS,
    YS_DUE_OUTCOMES,
    YS_DUE_STORED,
    YS_DUE_INTEGERS,
    YS_DUE_AUDIT,
    YS_DUE_CHECKS
};
extern const struct ys_names
    ys_due_checks; /* "first loss", "weights", "answers", "outcomes", "stored model", "integers", "audit" */

/* From good to bad: of the runs of a trial the worst counts. */
enum ys_due_state {
    YS_DUE_PASS,
    YS_DUE_WEAK,
    YS_DUE_NOT,     /* nobody could make it, as was known before; `reason` says why */
    YS_DUE_YET,     /* it is to come */
    YS_DUE_MISSING, /* it should have been made, and was not, twice */
    YS_DUE_FAIL,
};
extern const struct ys_names ys_due_states; /* "pass", "weak", "not due", "not yet", "missing", "fail" */

struct ys_due {
    int check;    /* enum ys_due_check */
    int state;    /* enum ys_due_state */
    char *reason; /* of a check that is not due, missing or failed; NULL */
};
extern const struct ys_record ys_due_record;

/** The list in a stored proof (NULL: no proof), into *due, which is overwritten; empty where it has none, as those of
 * older versions. Struct ys_due; to be freed with ys_list_fini(). YS_EFORMAT. */
ys_status ys_due_read(const ys_json *proof, struct ys_list *due) YS_MUST_CHECK;
/** That of one check; NULL: it is no check of such a trial. */
struct ys_due *ys_due_find(const struct ys_list *due, enum ys_due_check check);
/** Whether a list lacks a check that was due and was not made. */
bool ys_due_lacks(const struct ys_list *due);

/** Why nothing may be concluded from the runs of a trial with this proof, in words that follow its name; NULL where
 * something may. `is_over`: its study has ended, so that what is yet to come does not come by itself. */
ys_status ys_due_fault(const ys_json *proof, bool is_over, char **reason) YS_MUST_CHECK;
/** Adds to `texts`, an array, a sentence of each check that was not made, or failed. */
ys_status ys_due_say(const ys_json *proof, ys_json *texts) YS_MUST_CHECK;

#endif
