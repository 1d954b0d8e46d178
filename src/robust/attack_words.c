#include "base/buf.h"
#include "base/mem.h"
#include "base/nearest_name.h"
#include "base/number_text.h"
#include "robust/attack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MOST    100000
#define QUERIES_MOST  1000000
#define CLASSES_LEAST 4 /* of the ratio of differences, which divides by the third and fourth logit */
#define BLANKS        " \t\r\n"

struct attack_number {
    const char *name;
    double low, high;
    double taken; /* where it is not said; NAN: it must be */
    bool above_low, whole;
    bool of_eps; /* `taken` is a share of EPS */
};

struct attack_form {
    enum ys_attack_norm norm;
    size_t count;
    struct attack_number numbers[YS_ATTACK_NUMBERS];
};

#define EPS                                                                                                            \
    {                                                                                                                  \
        .name = "EPS", .high = 1, .taken = NAN                                                                         \
    }
#define STEPS(taken_)                                                                                                  \
    {                                                                                                                  \
        .name = "STEPS", .low = 1, .high = STEPS_MOST, .taken = (taken_), .whole = true                                \
    }
#define STEP                                                                                                           \
    {                                                                                                                  \
        .name = "STEP", .high = 1, .taken = 10, .above_low = true, .of_eps = true                                      \
    }

/* clang-format off */
static const struct attack_form forms[YS_ATTACK_KINDS] = {
    [YS_ATTACK_FGSM] = {YS_CHANGE_LARGEST, 1, {EPS}},
    [YS_ATTACK_BIM] = {YS_CHANGE_LARGEST, 3, {EPS, STEPS(40), STEP}},
    [YS_ATTACK_PGD] = {YS_CHANGE_LARGEST, 3, {EPS, STEPS(40), STEP}},
    [YS_ATTACK_DEEPFOOL] = {YS_CHANGE_L2, 2, {STEPS(50), {.name = "OVERSHOOT", .high = 1, .taken = 0.02}}},
    [YS_ATTACK_CW] = {YS_CHANGE_L2, 2,
                      {{.name = "SEARCHES", .low = 1, .high = 100, .taken = 6, .whole = true}, STEPS(300)}},
    [YS_ATTACK_DDN] = {YS_CHANGE_L2, 1, {STEPS(100)}},
    [YS_ATTACK_JSMA] = {YS_CHANGE_PIXELS, 2, {{.name = "THETA", .high = 1, .taken = 1, .above_low = true},
                                              {.name = "GAMMA", .high = 1, .taken = 0.1, .above_low = true}}},
    [YS_ATTACK_APGD_CE] = {YS_CHANGE_LARGEST, 1, {EPS}},
    [YS_ATTACK_APGD_T] = {YS_CHANGE_LARGEST, 1, {EPS}},
    [YS_ATTACK_FAB_T] = {YS_CHANGE_LARGEST, 1, {EPS}},
    [YS_ATTACK_SQUARE] = {YS_CHANGE_LARGEST, 2, {EPS, {.name = "QUERIES", .low = 1, .high = QUERIES_MOST,
                                                       .taken = 5000, .whole = true}}},
    [YS_ATTACK_AUTOATTACK] = {YS_CHANGE_LARGEST, 1, {EPS}},
    [YS_ATTACK_CORRUPTIONS] = {YS_CHANGE_PIXELS, 1, {{.name = "SEVERITY", .low = 1, .high = YS_SEVERITIES,
                                                      .taken = NAN, .whole = true}}},
};
/* clang-format on */

static const char *const names[] = {[YS_ATTACK_FGSM] = "fgsm",
                                    [YS_ATTACK_BIM] = "bim",
                                    [YS_ATTACK_PGD] = "pgd",
                                    [YS_ATTACK_DEEPFOOL] = "deepfool",
                                    [YS_ATTACK_CW] = "cw",
                                    [YS_ATTACK_DDN] = "ddn",
                                    [YS_ATTACK_JSMA] = "jsma",
                                    [YS_ATTACK_APGD_CE] = "apgd-ce",
                                    [YS_ATTACK_APGD_T] = "apgd-t",
                                    [YS_ATTACK_FAB_T] = "fab-t",
                                    [YS_ATTACK_SQUARE] = "square",
                                    [YS_ATTACK_AUTOATTACK] = "autoattack",
                                    [YS_ATTACK_CORRUPTIONS] = "corruptions",
                                    [YS_ATTACK_KINDS] = NULL};
const struct ys_names ys_attack_kinds = {"attack", names, YS_ATTACK_KINDS};

enum ys_attack_norm ys_attack_norm(enum ys_attack_kind kind)
{
    return forms[kind].norm;
}

double ys_attack_eps(const struct ys_attack *attack)
{
    return forms[attack->kind].norm == YS_CHANGE_LARGEST ? attack->numbers[0] : (double)NAN;
}

/** How many parts of 255, or tenths of them, make that number; 0: none do, or it has few decimals as it is. */
static double parts_of_255(double value)
{
    const double parts = nearbyint(value * 2550) / 10;
    return parts / 255 == value && nearbyint(value * 1e4) / 1e4 != value ? parts : 0;
}

/** A part of EPS, so that it is written as EPS is. */
static double part_of(double eps, double divisor)
{
    const double parts = parts_of_255(eps);
    return parts > 0 ? parts / divisor / 255 : eps / divisor;
}

/** Numbers from number `from` on as they are where they are not said. */
static void take_numbers(struct ys_attack *attack, size_t from)
{
    const struct attack_form *form = &forms[attack->kind];
    for (size_t i = from; i < form->count; i++) {
        const struct attack_number *number = &form->numbers[i];
        attack->numbers[i] = number->of_eps ? part_of(attack->numbers[0], number->taken) : number->taken;
        attack->was_taken[i] = true;
    }
}

struct ys_attack ys_attack_at(enum ys_attack_kind kind, double eps)
{
    struct ys_attack attack = {.kind = kind, .numbers = {eps}};
    take_numbers(&attack, 1);
    return attack;
}

size_t ys_attacks_severities(const struct ys_attacks *attacks)
{
    size_t count = 0;
    for (size_t i = 0; i < YS_SEVERITIES; i++)
        count += attacks->corrupts[i];
    return count;
}

ys_status ys_attacks_check(const struct ys_attacks *attacks, size_t classes, const struct ys_picture_shape *shape)
{
    if (ys_attacks_severities(attacks) > 0)
        YS_TRY(ys_corruption_check(shape));
    for (size_t i = 0; i < attacks->count && classes < CLASSES_LEAST; i++) {
        const enum ys_attack_kind kind = attacks->items[i].kind;
        if (kind == YS_ATTACK_APGD_T || kind == YS_ATTACK_AUTOATTACK)
            return ys_fail(YS_EINVAL,
                           "%s needs %d classes, because its loss divides by the third and the fourth logit, and the "
                           "model has %zu: use apgd-ce, fab-t and square",
                           names[kind], CLASSES_LEAST, classes);
    }
    return YS_OK;
}

/** Parts of 255 as they are usually written: 8/255. */
static void put_number(struct ys_buf *text, double value)
{
    const double parts = parts_of_255(value);
    if (parts > 0)
        ys_buf_printf(text, "%.16g/255", parts);
    else
        ys_buf_put_real(text, value);
}

char *ys_attack_text(const struct ys_attack *attack)
{
    struct ys_buf text = {0};
    ys_buf_puts(&text, names[attack->kind]);
    for (size_t i = 0; i < forms[attack->kind].count; i++) {
        ys_buf_puts(&text, i ? ", " : "(");
        put_number(&text, attack->numbers[i]);
    }
    ys_buf_puts(&text, ")");
    return ys_buf_take(&text);
}

char *ys_attacks_text(const struct ys_attacks *attacks)
{
    struct ys_buf text = {0};
    for (size_t i = 0; i < attacks->count; i++) {
        char *word = ys_attack_text(&attacks->items[i]);
        ys_buf_printf(&text, "%s%s", text.size ? " " : "", word ? word : "");
        ys_free(word);
    }
    for (int severity = 1; severity <= YS_SEVERITIES; severity++)
        if (attacks->corrupts[severity - 1])
            ys_buf_printf(&text, "%s%s(%d)", text.size ? " " : "", names[YS_ATTACK_CORRUPTIONS], severity);
    return ys_buf_take(&text);
}

static void put_form(struct ys_buf *text, int kind)
{
    ys_buf_puts(text, names[kind]);
    for (size_t i = 0; i < forms[kind].count; i++)
        ys_buf_printf(text, "%s%s", i ? ", " : "(", forms[kind].numbers[i].name);
    ys_buf_puts(text, ")");
}

char *ys_attack_forms(void)
{
    struct ys_buf text = {0};
    for (int kind = 0; kind < YS_ATTACK_KINDS; kind++) {
        ys_buf_puts(&text, kind == 0 ? "" : kind + 1 < YS_ATTACK_KINDS ? ", " : " or ");
        put_form(&text, kind);
    }
    return ys_buf_take(&text);
}

/** A number, or a quotient of two, between blanks. */
static bool read_number(const char *from, size_t length, double *value)
{
    char text[64], *slash;
    double divisor = 1;
    while (length > 0 && strchr(BLANKS, *from))
        from++, length--;
    while (length > 0 && strchr(BLANKS, from[length - 1]))
        length--;
    if (length >= sizeof text)
        return false;
    memcpy(text, from, length);
    text[length] = 0;
    slash = strchr(text, '/');
    if (slash)
        *slash = 0;
    if (!ys_value_real(text, value) || (slash && (!ys_value_real(slash + 1, &divisor) || divisor == 0)))
        return false;
    *value /= divisor;
    return true;
}

static ys_status check_number(const struct attack_number *number, double value)
{
    const bool is_above = number->above_low ? value > number->low : value >= number->low;
    if (is_above && value <= number->high && (!number->whole || value == floor(value)))
        return YS_OK;
    if (number->whole)
        return ys_fail(YS_EINVAL, "%s must be a whole number, %.16g to %.16g", number->name, number->low, number->high);
    return ys_fail(YS_EINVAL, "%s must be %s %.16g and at most %.16g", number->name,
                   number->above_low ? "above" : "at least", number->low, number->high);
}

static ys_status refuse_form(int kind, const char *why)
{
    struct ys_buf form = {0};
    put_form(&form, kind);
    ys_status status = ys_fail(YS_EINVAL, "%s: write %s", why, ys_buf_text(&form));
    ys_buf_free(&form);
    return status;
}

/** The numbers between parentheses; `length` 0: none are said. */
static ys_status read_numbers(const char *from, size_t length, struct ys_attack *attack)
{
    const struct attack_form *form = &forms[attack->kind];
    const char *end = from + length;
    size_t count = 0;
    while (count == 0 ? from < end : from <= end) {
        const char *comma = memchr(from, ',', (size_t)(end - from)), *to = comma ? comma : end;
        if (count == form->count)
            return refuse_form((int)attack->kind, "too many numbers");
        if (!read_number(from, (size_t)(to - from), &attack->numbers[count]))
            return refuse_form((int)attack->kind, "that is no number, nor a quotient of two");
        YS_TRY(check_number(&form->numbers[count], attack->numbers[count]));
        count++;
        from = to + 1;
    }
    if (count < form->count && isnan(form->numbers[count].taken) && attack->kind == YS_ATTACK_CORRUPTIONS)
        return ys_fail(YS_EINVAL, "SEVERITY is missing, a whole number of 1 to %d: write %s(3)", YS_SEVERITIES,
                       names[attack->kind]);
    if (count < form->count && isnan(form->numbers[count].taken))
        return ys_fail(YS_EINVAL, "EPS is missing, the largest change of a pixel, 0 to 1: write %s(0.1) or %s(8/255)",
                       names[attack->kind], names[attack->kind]);
    take_numbers(attack, count);
    return YS_OK;
}

static ys_status find_kind(const char *from, size_t length, enum ys_attack_kind *kind)
{
    char *name = ys_strndup(from, length), *all = ys_attack_forms();
    const int found = name ? ys_name_find(&ys_attack_kinds, name) : YS_NAME_NONE;
    const char *nearest = name ? ys_nearest(name, names) : NULL;
    ys_status status = YS_OK;
    if (!name || !all)
        status = ys_out_of_memory();
    else if (found == YS_NAME_NONE && nearest)
        status = ys_fail(YS_EINVAL, "there is no attack \"%s\"; did you mean %s? There are %s", name, nearest, all);
    else if (found == YS_NAME_NONE)
        status = ys_fail(YS_EINVAL, "there is no attack \"%s\"; there are %s", name, all);
    else
        *kind = (enum ys_attack_kind)found;
    ys_free(name);
    ys_free(all);
    return status;
}

static bool is_same(const struct ys_attack *a, const struct ys_attack *b)
{
    return a->kind == b->kind && a->numbers[0] == b->numbers[0] && a->numbers[1] == b->numbers[1] &&
           a->numbers[2] == b->numbers[2];
}

static bool has(const struct ys_attacks *attacks, const struct ys_attack *attack)
{
    if (attack->kind == YS_ATTACK_CORRUPTIONS)
        return attacks->corrupts[(size_t)attack->numbers[0] - 1];
    for (size_t i = 0; i < attacks->count; i++)
        if (is_same(&attacks->items[i], attack))
            return true;
    return false;
}

static ys_status add(struct ys_attacks *attacks, const struct ys_attack *attack)
{
    if (has(attacks, attack)) {
        char *text = ys_attack_text(attack);
        ys_status status = ys_fail(YS_EINVAL, "%s stands there twice: write it once", text ? text : "an attack");
        ys_free(text);
        return status;
    }
    if (attack->kind == YS_ATTACK_CORRUPTIONS) {
        attacks->corrupts[(size_t)attack->numbers[0] - 1] = true;
        return YS_OK;
    }
    if (attacks->count == YS_ATTACKS_MOST)
        return ys_fail(YS_EINVAL, "these are more than %d attacks: use fewer", YS_ATTACKS_MOST);
    attacks->items[attacks->count++] = *attack;
    return YS_OK;
}

/** One word from *at on, which is moved behind it. */
static ys_status read_word(const char **at, struct ys_attack *attack)
{
    const char *word = *at, *open = word + strcspn(word, "(" BLANKS);
    const size_t length = (size_t)(open - word);
    open += strspn(open, BLANKS);
    YS_TRY(find_kind(word, length, &attack->kind));
    if (*open != '(') {
        *at = open;
        ys_status status = read_numbers(open, 0, attack);
        return status == YS_OK ? YS_OK : ys_fail_in(status, "%.*s", (int)length, word);
    }
    const char *close = strchr(open, ')');
    if (!close)
        return ys_fail(YS_EINVAL, "%s: the parenthesis is not closed", word);
    *at = close + 1;
    ys_status status = read_numbers(open + 1, (size_t)(close - open - 1), attack);
    return status == YS_OK ? YS_OK : ys_fail_in(status, "%.*s", (int)(close + 1 - word), word);
}

ys_status ys_attacks_read(const char *text, struct ys_attacks *attacks)
{
    struct ys_attacks found = {0};
    const char *at = text;
    while (at += strspn(at, BLANKS), *at) {
        struct ys_attack attack = {0};
        YS_TRY(read_word(&at, &attack));
        YS_TRY(add(&found, &attack));
    }
    if (found.count == 0 && ys_attacks_severities(&found) == 0) {
        char *all = ys_attack_forms();
        ys_status status = ys_fail(YS_EINVAL, "no attack is named: write %s", all ? all : "one");
        ys_free(all);
        return status;
    }
    *attacks = found;
    return YS_OK;
}

static int compare_reals(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

ys_status ys_attack_read_curve(const char *text, double *eps, size_t *count)
{
    double found[YS_ATTACKS_MOST];
    size_t n = 0, unequal = 0;
    for (const char *at = text; at += strspn(at, BLANKS), *at;) {
        const size_t length = strcspn(at, BLANKS);
        if (n == YS_ATTACKS_MOST)
            return ys_fail(YS_EINVAL, "these are more than %d values of EPS: use fewer", YS_ATTACKS_MOST);
        if (!read_number(at, length, &found[n]) || found[n] < 0 || found[n] > 1)
            return ys_fail(YS_EINVAL, "\"%.*s\" is no EPS: write numbers of 0 to 1 apart by blanks, as 0.05 8/255",
                           (int)length, at);
        n++;
        at += length;
    }
    if (n == 0)
        return ys_fail(YS_EINVAL, "no EPS is named: write numbers of 0 to 1 apart by blanks, as 0.05 8/255");
    qsort(found, n, sizeof *found, compare_reals);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || found[i] != found[i - 1])
            eps[unequal++] = found[i];
    *count = unequal;
    return YS_OK;
}

static double gradients_of(const struct ys_attack *attack, double restarts)
{
    const double *numbers = attack->numbers;
    const double counts[YS_ATTACK_KINDS] = {
        [YS_ATTACK_FGSM] = 1,
        [YS_ATTACK_BIM] = numbers[1],
        [YS_ATTACK_PGD] = numbers[1] * restarts + 1, /* and fgsm of the same EPS, for the alarm */
        [YS_ATTACK_DEEPFOOL] = 3 * 10,               /* classes, in a few steps whatever may be taken */
        [YS_ATTACK_CW] = numbers[0] * numbers[1],    /* at most */
        [YS_ATTACK_DDN] = numbers[0],
        [YS_ATTACK_JSMA] = 2 * numbers[1] * 1000 / 2, /* target and others, for each pair of pixels */
        [YS_ATTACK_APGD_CE] = 100,
        [YS_ATTACK_APGD_T] = 100 * 9, /* classes, where none breaks the row */
        [YS_ATTACK_FAB_T] = 100 * 9,
        [YS_ATTACK_SQUARE] = numbers[1] / 3, /* without a backward pass */
        [YS_ATTACK_AUTOATTACK] = 100 + 2 * 100 * 9 + 5000.0 / 3,
    };
    return counts[attack->kind];
}

double ys_attacks_gradients(const struct ys_attacks *attacks, double restarts, double curve)
{
    const double pgd = 40; /* that of the alarm, and of each EPS of the curve */
    const double logits = (double)ys_attacks_severities(attacks) * YS_CORRUPTIONS_MOST;
    double sum = (attacks->count > 0 ? pgd : 0) + curve * pgd * restarts + logits / 3; /* without a backward pass */
    for (size_t i = 0; i < attacks->count; i++)
        sum += gradients_of(&attacks->items[i], restarts);
    return sum;
}
