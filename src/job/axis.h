/* From the text of a value to the values it stands for.
 *
 *     {a, b, c}             these; a value with a comma stands in quotes: {"0,2", 1-3}
 *     {1..8}                whole numbers from 1 to 8; {0..10 +2} by 2; {1..64 *2} doubling
 *     {log 1e-4..1e-1 x 7}  7 numbers at equal ratios, both ends among them, to 6 significant digits
 *
 * On the command line the braces may be left out, except around lists of CPUs: 1,2,4. */
#ifndef YS_JOB_AXIS_H
#define YS_JOB_AXIS_H

#include "job/option.h"

struct ys_axis {
    char **texts; /* as an unquoted single value would be written */
    size_t count; /* at least 1 */
    bool is_axis; /* written as an axis, be it of one value */
};

#define YS_AXIS_LIMIT 1000 /* values of an axis */

enum ys_axis_form {
    YS_AXIS_FILE,   /* stood in a file: braces make an axis */
    YS_AXIS_QUOTED, /* stood in quotes, which are gone: one value as it is */
    YS_AXIS_FLAG,   /* stood on the command line: braces or commas make an axis */
};

/** YS_EINVAL: "KEY = TEXT: what is wrong and what to write". `axis` is empty on failure. */
ys_status ys_axis_parse(const struct ys_option *option, const char *key, const char *text, enum ys_axis_form form,
                        struct ys_axis *axis) YS_MUST_CHECK;
void ys_axis_fini(struct ys_axis *axis);

#endif
