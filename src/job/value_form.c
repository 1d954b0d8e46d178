#include "job/value_form.h"

#include "base/number_text.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define NUMBER_SIZE 64

static void trim(const char **from, const char **to)
{
    while (*from < *to && (**from == ' ' || **from == '\t'))
        ++*from;
    while (*to > *from && ((*to)[-1] == ' ' || (*to)[-1] == '\t'))
        --*to;
}

static bool read_number(const char *from, const char *to, double *value)
{
    char number[NUMBER_SIZE];
    trim(&from, &to);
    if (to - from >= NUMBER_SIZE)
        return false;
    memcpy(number, from, (size_t)(to - from));
    number[to - from] = 0;
    return ys_value_real(number, value);
}

/* The numbers between `from` and `to`, separated by commas; false when one is none, or they are too many. */
static bool read_numbers(const char *from, const char *to, double arguments[YS_FORM_ARGUMENTS], size_t *count)
{
    for (*count = 0; *count < YS_FORM_ARGUMENTS;) {
        const char *comma = memchr(from, ',', (size_t)(to - from));
        if (!read_number(from, comma ? comma : to, &arguments[(*count)++]))
            return false;
        if (!comma)
            return true;
        from = comma + 1;
    }
    return false;
}

static const struct ys_form *find(const struct ys_form *forms, const char *from, const char *to, size_t count)
{
    size_t length = (size_t)(to - from);
    for (; forms->name; forms++)
        if (forms->count == count && strlen(forms->name) == length && strncasecmp(forms->name, from, length) == 0)
            return forms;
    return NULL;
}

static ys_status refuse(const struct ys_form *forms, const char *what)
{
    struct ys_buf all = {0};
    ys_form_print_all(forms, &all);
    ys_status status = ys_fail(YS_EINVAL, "this is no %s: write %s", what, ys_buf_text(&all));
    ys_buf_free(&all);
    return status;
}

static ys_status check(const struct ys_form_argument *argument, double value)
{
    bool above = argument->above_low ? value > argument->low : value >= argument->low;
    bool below = argument->below_high ? value < argument->high : value <= argument->high;
    if (above && below && (!argument->whole || value == floor(value)))
        return YS_OK;
    if (argument->whole)
        return ys_fail(YS_EINVAL, "%s must be a whole number, %.16g to %.16g", argument->name, argument->low,
                       argument->high);
    return ys_fail(YS_EINVAL, "%s must be %s %.16g and %s %.16g", argument->name,
                   argument->above_low ? "above" : "at least", argument->low,
                   argument->below_high ? "below" : "at most", argument->high);
}

ys_status ys_form_parse(const struct ys_form *forms, const char *what, const char *text, size_t length,
                        const struct ys_form **form, double arguments[YS_FORM_ARGUMENTS])
{
    const char *from = text, *to = text + length;
    size_t count = 0;
    memset(arguments, 0, YS_FORM_ARGUMENTS * sizeof *arguments);
    trim(&from, &to);
    const char *open = memchr(from, '(', (size_t)(to - from)), *end = open ? open : to;
    if (open && (to[-1] != ')' || !read_numbers(open + 1, to - 1, arguments, &count)))
        return refuse(forms, what);
    trim(&from, &end);
    *form = find(forms, from, end, count);
    if (!*form)
        return refuse(forms, what);
    for (size_t i = 0; i < count; i++)
        YS_TRY(check(&(*form)->arguments[i], arguments[i]));
    return YS_OK;
}

void ys_form_print(const struct ys_form *form, const double *arguments, struct ys_buf *out)
{
    ys_buf_puts(out, form->name);
    for (size_t i = 0; i < form->count; i++) {
        ys_buf_puts(out, i ? "," : "(");
        ys_buf_put_real(out, arguments[i]);
    }
    ys_buf_puts(out, form->count ? ")" : "");
}

void ys_form_print_all(const struct ys_form *forms, struct ys_buf *out)
{
    for (size_t k = 0; forms[k].name; k++) {
        ys_buf_printf(out, "%s%s", k == 0 ? "" : forms[k + 1].name ? ", " : " or ", forms[k].name);
        for (size_t i = 0; i < forms[k].count; i++)
            ys_buf_printf(out, "%s%s", i ? ", " : "(", forms[k].arguments[i].name);
        ys_buf_puts(out, forms[k].count ? ")" : "");
    }
}
