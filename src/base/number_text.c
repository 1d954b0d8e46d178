#include "base/number_text.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name;
    double factor;
};

static const struct unit time_units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1},     {"sec", 1},
                                         {"m", 60},    {"min", 60},  {"h", 3600},  {"d", 86400}, {NULL, 0}};

static const struct unit size_units[] = {{"B", 1},
                                         {"kB", 1e3},
                                         {"MB", 1e6},
                                         {"GB", 1e9},
                                         {"TB", 1e12},
                                         {"KiB", 1024.0},
                                         {"MiB", 1048576.0},
                                         {"GiB", 1073741824.0},
                                         {"TiB", 1099511627776.0},
                                         /* as fio and ulimit have them */
                                         {"K", 1024.0},
                                         {"M", 1048576.0},
                                         {"G", 1073741824.0},
                                         {"T", 1099511627776.0},
                                         {NULL, 0}};

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

bool ys_value_int(const char *text, int64_t *value)
{
    const char *first = text + (*text == '-' || *text == '+');
    size_t length = digits(first);
    if (length == 0 || length > 18 || first[length])
        return false;
    *value = strtoll(text, NULL, 10);
    return true;
}

/* The length of the number that `text` begins with, 0 when it begins with none. */
static size_t real_length(const char *text)
{
    const char *at = text + (*text == '-' || *text == '+');
    size_t whole = digits(at), fraction = 0;
    at += whole;
    if (*at == '.') {
        fraction = digits(at + 1);
        at += 1 + fraction;
    }
    if (whole + fraction == 0)
        return 0;
    if (*at == 'e' || *at == 'E') {
        const char *exponent = at + 1 + (at[1] == '-' || at[1] == '+');
        if (digits(exponent) > 0)
            at = exponent + digits(exponent);
    }
    return (size_t)(at - text);
}

bool ys_value_real(const char *text, double *value)
{
    size_t length = real_length(text);
    if (length == 0 || text[length])
        return false;
    *value = strtod(text, NULL);
    return true;
}

static bool value_with_unit(const char *text, const struct unit *units, double *value)
{
    size_t length = real_length(text);
    if (length == 0)
        return false;
    double number = strtod(text, NULL);
    const char *unit = text + length + strspn(text + length, " ");
    for (; units->name; units++)
        if (strcasecmp(units->name, unit) == 0) {
            /* a division by the exact 1e9 rounds once, a multiplication by the inexact 1e-9 twice */
            *value = units->factor < 1 ? number / round(1 / units->factor) : number * units->factor;
            return true;
        }
    *value = number;
    return *unit == 0 && number == 0;
}

bool ys_value_duration(const char *text, double *value_s)
{
    return value_with_unit(text, time_units, value_s);
}

bool ys_value_size(const char *text, double *size_bytes)
{
    if (!value_with_unit(text, size_units, size_bytes))
        return false;
    *size_bytes = floor(*size_bytes);
    return true;
}

bool ys_value_share(const char *text, double *value)
{
    size_t length = real_length(text);
    const char *rest = text + length + strspn(text + length, " ");
    if (length == 0 || (*rest && strcmp(rest, "%") != 0))
        return false;
    *value = *rest ? strtod(text, NULL) / 100 : strtod(text, NULL);
    return true;
}

void ys_buf_put_real(struct ys_buf *buf, double value)
{
    char text[64];
    int digits = 15;
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (digits++ < 17 && strtod(text, NULL) != value);
    ys_buf_puts(buf, text);
}
