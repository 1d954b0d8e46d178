#include "job/axis.h"

#include "base/mem.h"
#include "base/number_text.h"
#include "job/ini.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN       60
#define NUMBER_SIZE 64

/* What is being read; every message begins with "KEY = TEXT: ". */
struct axis_text {
    const struct ys_option *option;
    const char *key, *text;
};

YS_PRINTF(2, 3) static ys_status refuse(const struct axis_text *source, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return ys_fail(YS_EINVAL, "%s = %.*s: %s", source->key, SHOWN, source->text, message);
}

static ys_status add(const struct axis_text *source, struct ys_axis *axis, const char *text, size_t length)
{
    if (axis->count == YS_AXIS_LIMIT)
        return refuse(source, "more than %d values on one axis", YS_AXIS_LIMIT);
    if ((axis->count & (axis->count - 1)) == 0) { /* grow at each power of two */
        axis->texts = ys_realloc(axis->texts, axis->count ? 2 * axis->count : 1, sizeof *axis->texts);
    }
    char *copy = ys_strndup(text, length);
    axis->texts[axis->count++] = copy;
    return YS_OK;
}

/* `digits`: significant ones. */
static ys_status add_number(const struct axis_text *source, struct ys_axis *axis, int digits, double value)
{
    char text[NUMBER_SIZE];
    snprintf(text, sizeof text, "%.*g", digits, value);
    return add(source, axis, text, strlen(text));
}

/* Copies [from, to) without the blanks around it; false when it is too long to be a number. */
static bool copy_number(const char *from, const char *to, char number[NUMBER_SIZE])
{
    while (from < to && *from == ' ')
        from++;
    while (to > from && to[-1] == ' ')
        to--;
    if (to - from >= NUMBER_SIZE)
        return false;
    memcpy(number, from, (size_t)(to - from));
    number[to - from] = 0;
    return true;
}

static bool read_number(const char *from, const char *to, bool whole, double *value)
{
    char number[NUMBER_SIZE];
    int64_t integer;
    if (!copy_number(from, to, number))
        return false;
    if (!whole)
        return ys_value_real(number, value) && isfinite(*value);
    if (!ys_value_int(number, &integer))
        return false;
    *value = (double)integer;
    return true;
}

/* "A..B", "A..B +S", "A..B *F". `dots` points at the "..". */
static ys_status add_range(const struct axis_text *source, struct ys_axis *axis, const char *from, const char *dots,
                           const char *to)
{
    bool whole = source->option->type == YS_OPTION_INT;
    const char *end = dots + 2; /* of the last number */
    while (end < to && *end != ' ' && *end != '*')
        end++;
    const char *step = end;
    while (step < to && *step == ' ')
        step++;
    char sign = step < to ? *step : whole ? '+' : 0;
    double first, last, by = 1;
    if (!read_number(from, dots, whole, &first) || !read_number(dots + 2, end, whole, &last) ||
        (sign != 0 && sign != '+' && sign != '*') || (step < to && !read_number(step + 1, to, whole, &by)))
        return refuse(source, "this is no range: write {1..8}, {0..10 +2} or {1..64 *2}");
    if (!sign)
        return refuse(source, "a range of numbers needs a step: write {%g..%g +STEP} or {%g..%g *FACTOR}", first, last,
                      first, last);
    if (last < first)
        return refuse(source, "the range falls: write the smaller end first");
    if (sign == '+' && !(by > 0))
        return refuse(source, "the step must be above 0");
    if (sign == '*' && !(by > 1 && first > 0))
        return refuse(source, "the factor must be above 1, and the first end above 0");
    /* the slack keeps the last end in when rounding puts it a little too far: 0.1 + 2 * 0.1 > 0.3 */
    double value = first, slack = whole ? 0 : 1e-9 * (sign == '+' ? by : last);
    for (int k = 1; value <= last + slack; k++) {
        YS_TRY(add_number(source, axis, whole ? 17 : 12, value));
        value = sign == '+' ? first + k * by : value * by;
    }
    return YS_OK;
}

/* "log A..B x N", `from` after the "log ". */
static ys_status add_log_range(const struct axis_text *source, struct ys_axis *axis, const char *from, const char *to)
{
    const char *dots = memmem(from, (size_t)(to - from), "..", 2),
               *times = dots ? memchr(dots, 'x', (size_t)(to - dots)) : NULL;
    double first, last, count;
    if (source->option->type != YS_OPTION_REAL)
        return refuse(source, "log makes numbers with fractions, which %s cannot be: write {1..64 *2}", source->key);
    if (!dots || !times || !read_number(from, dots, false, &first) || !read_number(dots + 2, times, false, &last) ||
        !read_number(times + 1, to, true, &count))
        return refuse(source, "this is no logarithmic range: write {log 1e-4..1e-1 x 7}");
    if (!(first > 0) || !(last > first) || count < 2 || count > YS_AXIS_LIMIT)
        return refuse(source, "a logarithmic range rises from a number above 0, in 2 to %d values", YS_AXIS_LIMIT);
    for (int k = 0; k < (int)count; k++) {
        double share = k / (count - 1);
        /* %.6g of pow() is the same on every machine: an error of an ulp does not reach the sixth digit in practice */
        double value = k == 0 ? first : share >= 1 ? last : first * pow(last / first, share);
        YS_TRY(add_number(source, axis, 6, value));
    }
    return YS_OK;
}

static ys_status add_item(const struct axis_text *source, struct ys_axis *axis, const char *from, const char *to)
{
    while (from < to && (*from == ' ' || *from == '\t'))
        from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
        to--;
    if (from == to)
        return refuse(source, "a value is missing between the commas");
    if (*from == '"') {
        char *unquoted;
        ys_status status = ys_ini_unquote(from, (size_t)(to - from), &unquoted);
        if (status != YS_OK)
            return ys_fail_in(status, "%s", source->key);
        status = add(source, axis, unquoted, strlen(unquoted));
        ys_free(unquoted);
        return status;
    }
    if (memchr(from, '{', (size_t)(to - from)) || memchr(from, '}', (size_t)(to - from)))
        return refuse(source, "braces stand once, around all values: {a, b, c}");
    bool is_number = source->option->type == YS_OPTION_INT || source->option->type == YS_OPTION_REAL;
    const char *dots = memmem(from, (size_t)(to - from), "..", 2);
    if (to - from > 4 && memcmp(from, "log ", 4) == 0 && dots)
        return add_log_range(source, axis, from + 4, to);
    if (is_number && dots)
        return add_range(source, axis, from, dots, to);
    return add(source, axis, from, (size_t)(to - from));
}

/* The end of the item at `from`: the first comma outside of quotes and parentheses, or `to`. */
static const char *item_end(const char *from, const char *to)
{
    bool quoted = false;
    int depth = 0;
    for (; from < to; from++) {
        if (quoted && *from == '\\' && from + 1 < to)
            from++;
        else if (*from == '"')
            quoted = !quoted;
        else if (!quoted && *from == '(')
            depth++;
        else if (!quoted && *from == ')')
            depth--;
        else if (!quoted && depth <= 0 && *from == ',')
            break;
    }
    return from;
}

static ys_status add_items(const struct axis_text *source, struct ys_axis *axis, const char *from, const char *to)
{
    for (;;) {
        const char *end = item_end(from, to);
        YS_TRY(add_item(source, axis, from, end));
        if (end == to)
            return YS_OK;
        from = end + 1;
    }
}

static ys_status parse(const struct axis_text *source, enum ys_axis_form form, struct ys_axis *axis)
{
    const char *text = source->text;
    size_t length = strlen(text);
    bool single = !source->option->axis || source->option->type == YS_OPTION_CPUS;
    if (form == YS_AXIS_QUOTED)
        return add(source, axis, text, length);
    if (text[0] == '{' && !source->option->axis)
        return refuse(source, "%s takes one value, not an axis: remove the braces", source->key);
    if (text[0] == '{') {
        axis->is_axis = true;
        if (length < 2 || text[length - 1] != '}')
            return refuse(source, "the closing brace is missing: write {a, b, c}");
        if (strspn(text + 1, " \t") == length - 2)
            return refuse(source, "this axis has no values: write {a, b, c}");
        return add_items(source, axis, text + 1, text + length - 1);
    }
    if (form == YS_AXIS_FILE)
        return add(source, axis, text, length);
    if (!single && item_end(text, text + length) < text + length) {
        axis->is_axis = true;
        return add_items(source, axis, text, text + length);
    }
    return text[0] == '"' ? add_item(source, axis, text, text + length) : add(source, axis, text, length);
}

ys_status ys_axis_parse(const struct ys_option *option, const char *key, const char *text, enum ys_axis_form form,
                        struct ys_axis *axis)
{
    struct axis_text source = {option, key, text};
    *axis = (struct ys_axis){0};
    ys_status status = parse(&source, form, axis);
    if (status != YS_OK)
        ys_axis_fini(axis);
    return status;
}

void ys_axis_fini(struct ys_axis *axis)
{
    for (size_t i = 0; i < axis->count; i++)
        ys_free(axis->texts[i]);
    ys_free(axis->texts);
    *axis = (struct ys_axis){0};
}
