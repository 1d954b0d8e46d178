/* Values of the form NAME or NAME(NUMBER, ...), as step(30, 0.1): a key has a table of those it takes. */
#ifndef YS_JOB_VALUE_FORM_H
#define YS_JOB_VALUE_FORM_H

#include "base/buf.h"
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

#define YS_FORM_ARGUMENTS 3

struct ys_form_argument {
    const char *name; /* as the manual writes it, "STEPS" */
    double low, high;
    bool whole, above_low, below_high; /* a whole number; `low` itself, `high` itself is out of range */
};

struct ys_form {
    const char *name; /* several forms of one name differ in their number of arguments */
    struct ys_form_argument arguments[YS_FORM_ARGUMENTS];
    size_t count;
};

/** Reads the `length` bytes at `text`; blanks may stand between the parts. `forms` is ended by a NULL name. On success
 * *form is one of them and `arguments` [out, YS_FORM_ARGUMENTS] its arguments, those that it lacks 0. YS_EINVAL: "this
 * is no `what`: write ..." or "STEPS must be ...". */
ys_status ys_form_parse(const struct ys_form *forms, const char *what, const char *text, size_t length,
                        const struct ys_form **form, double arguments[YS_FORM_ARGUMENTS]) YS_MUST_CHECK;

/** The same value written in the one way that equal values share: step(30,0.1). Appended. */
void ys_form_print(const struct ys_form *form, const double *arguments, struct ys_buf *out);
/** "constant, step(STEPS, FACTOR) or cosine". Appended. */
void ys_form_print_all(const struct ys_form *forms, struct ys_buf *out);

#endif
