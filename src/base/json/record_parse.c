/* From the text of an object straight into a struct. What is plain is taken as it stands; a value that takes more (an
 * escape, a list) is parsed as JSON alone, and a text in which anything is amiss is left to
 * ys_json_parse() and ys_record_read(), which say what. */
#include "base/json/record.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEPTH  64
#define MOST_FIELDS 64

struct scan {
    const char *at, *end;
    ys_status status; /* of memory that ran out */
};

struct span {
    const char *begin;
    size_t size;
};

static void skip_blanks(struct scan *scan)
{
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t' || *scan->at == '\r'))
        scan->at++;
}

static bool take(struct scan *scan, char wanted)
{
    skip_blanks(scan);
    if (scan->at == scan->end || *scan->at != wanted)
        return false;
    scan->at++;
    return true;
}

/* A string, quotes included; *plain: it is its own text. */
static bool take_string(struct scan *scan, struct span *span, bool *plain)
{
    skip_blanks(scan);
    span->begin = scan->at;
    *plain = true;
    if (!take(scan, '"'))
        return false;
    for (; scan->at < scan->end && *scan->at != '"'; scan->at++) {
        unsigned char c = (unsigned char)*scan->at;
        if (c < 0x20)
            return false;
        if (c == '\\' || c >= 0x80) {
            *plain = false;
            scan->at += c == '\\';
        }
    }
    if (scan->at >= scan->end)
        return false;
    scan->at++;
    span->size = (size_t)(scan->at - span->begin);
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t count_digits(const struct scan *scan, const char *from)
{
    size_t count = 0;
    while (from + count < scan->end && is_digit(from[count]))
        count++;
    return count;
}

/* A number as JSON writes one; *fraction is where its decimals begin, NULL without; *whole: it has no exponent. */
static bool take_number(struct scan *scan, struct span *span, const char **fraction, bool *plain)
{
    span->begin = scan->at;
    *fraction = NULL;
    *plain = true;
    scan->at += *scan->at == '-';
    size_t digits = count_digits(scan, scan->at);
    if (digits == 0 || (digits > 1 && *scan->at == '0'))
        return false;
    scan->at += digits;
    if (scan->at < scan->end && *scan->at == '.') {
        *fraction = ++scan->at;
        digits = count_digits(scan, scan->at);
        scan->at += digits;
        if (digits == 0)
            return false;
    }
    if (scan->at < scan->end && (*scan->at == 'e' || *scan->at == 'E')) {
        *plain = false;
        scan->at++;
        scan->at += scan->at < scan->end && (*scan->at == '+' || *scan->at == '-');
        digits = count_digits(scan, scan->at);
        scan->at += digits;
        if (digits == 0)
            return false;
    }
    span->size = (size_t)(scan->at - span->begin);
    return true;
}

static bool take_word(struct scan *scan, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length) != 0)
        return false;
    scan->at += length;
    return true;
}

static bool is_sound(const struct span *string)
{
    ys_json *value = NULL;
    bool sound = ys_json_parse(string->begin, string->size, "a text", &value) == YS_OK;
    ys_json_free(value);
    return sound;
}

static bool skip_value(struct scan *scan, int depth);

static bool skip_members(struct scan *scan, bool named, char close, int depth)
{
    struct span name;
    bool plain;
    scan->at++;
    if (take(scan, close))
        return true;
    do {
        if (named && (!take_string(scan, &name, &plain) || !plain || !take(scan, ':')))
            return false;
        if (!skip_value(scan, depth + 1))
            return false;
    } while (take(scan, ','));
    return take(scan, close);
}

static bool skip_value(struct scan *scan, int depth)
{
    struct span span;
    const char *fraction;
    bool plain;
    skip_blanks(scan);
    if (scan->at == scan->end || depth > MOST_DEPTH)
        return false;
    switch (*scan->at) {
    case '"':
        return take_string(scan, &span, &plain) && (plain || is_sound(&span));
    case '{':
        return skip_members(scan, true, '}', depth);
    case '[':
        return skip_members(scan, false, ']', depth);
    case 't':
        return take_word(scan, "true");
    case 'f':
        return take_word(scan, "false");
    case 'n':
        return take_word(scan, "null");
    default:
        return take_number(scan, &span, &fraction, &plain);
    }
}

/* Any value by way of JSON. */
static bool take_parsed(struct scan *scan, const struct ys_field *field, void *place)
{
    ys_json *value = NULL;
    const char *begin = scan->at;
    if (!skip_value(scan, 0))
        return false;
    ys_status status = ys_json_parse(begin, (size_t)(scan->at - begin), "a value", &value);
    if (status == YS_OK)
        status = ys_record_read_field(field, value, place);
    ys_json_free(value);
    if (status == YS_ENOMEM)
        scan->status = status;
    return status == YS_OK;
}

/* A number with many digits or an exponent. Whole ones too large for an integer, and what no real holds, are left. */
static bool read_long(const struct span *span, bool whole, double *real)
{
    char text[64];
    if (span->size >= sizeof text || (whole && span->size > 18))
        return false;
    memcpy(text, span->begin, span->size);
    text[span->size] = 0;
    *real = strtod(text, NULL);
    return isfinite(*real);
}

/* Up to 15 digits are exact, and so is a division by up to 10^22: the quotient is rounded once, as reading it is. */
static bool take_real(struct scan *scan, double *real)
{
    static const double tens[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    struct span span;
    const char *fraction;
    bool plain;
    if (!take_number(scan, &span, &fraction, &plain))
        return false;
    if (!plain || span.size > 15)
        return read_long(&span, plain && !fraction, real);
    double sum = 0;
    for (const char *c = span.begin; c < scan->at; c++)
        if (is_digit(*c))
            sum = 10 * sum + (*c - '0');
    if (fraction)
        sum /= tens[scan->at - fraction];
    *real = *span.begin == '-' && (fraction || sum > 0) ? -sum : sum; /* -0 is a whole number, which has no sign */
    return true;
}

static bool take_whole(struct scan *scan, int64_t *whole)
{
    struct span span;
    const char *fraction;
    bool plain;
    if (!take_number(scan, &span, &fraction, &plain) || !plain || fraction || span.size > 18)
        return false;
    *whole = 0;
    for (const char *c = span.begin + (*span.begin == '-'); c < scan->at; c++)
        *whole = 10 * *whole + (*c - '0');
    if (*span.begin == '-')
        *whole = -*whole;
    return true;
}

static bool take_text(struct scan *scan, char **text)
{
    struct span span;
    bool plain;
    if (!take_string(scan, &span, &plain) || !plain)
        return false;
    *text = ys_strndup(span.begin + 1, span.size - 2);
    if (!*text)
        scan->status = ys_out_of_memory();
    return *text != NULL;
}

static bool take_name(struct scan *scan, const struct ys_names *names, int *name)
{
    struct span span;
    bool plain;
    if (!take_string(scan, &span, &plain) || !plain)
        return false;
    for (size_t i = 0; i < names->count; i++)
        if (names->names[i] && strlen(names->names[i]) == span.size - 2 &&
            memcmp(names->names[i], span.begin + 1, span.size - 2) == 0) {
            *name = (int)i;
            return true;
        }
    return false;
}

static bool take_record(struct scan *scan, const struct ys_record *record, void *item);

/* An empty list, which is what the field is already. */
static bool take_nothing(struct scan *scan)
{
    return take(scan, '[') && take(scan, ']');
}

/* Whole numbers of few digits. */
static bool take_wholes(struct scan *scan, struct ys_list *list)
{
    size_t most = 1;
    if (!take(scan, '['))
        return false;
    if (take(scan, ']'))
        return true;
    for (const char *c = scan->at; c < scan->end && *c != ']'; c++)
        most += *c == ',';
    int64_t *items = ys_alloc(most, sizeof *items);
    if (!items) {
        scan->status = ys_out_of_memory();
        return false;
    }
    size_t count = 0;
    do
        skip_blanks(scan);
    while (count < most && scan->at < scan->end && take_whole(scan, &items[count]) && ++count && take(scan, ','));
    if (!take(scan, ']') || count != most) {
        ys_free(items);
        return false;
    }
    *list = (struct ys_list){items, count};
    return true;
}

static bool take_owned(struct scan *scan, const struct ys_record *record, void **place)
{
    void *item = ys_alloc(1, record->size);
    if (!item) {
        scan->status = ys_out_of_memory();
        return false;
    }
    if (!take_record(scan, record, item)) {
        ys_record_free(record, item);
        return false;
    }
    *place = item;
    return true;
}

static bool take_plain(struct scan *scan, const struct ys_field *field, void *place)
{
    switch (field->kind) {
    case YS_FIELD_FLAG:
        *(bool *)place = *scan->at == 't';
        return take_word(scan, *scan->at == 't' ? "true" : "false");
    case YS_FIELD_INT:
        return take_whole(scan, place);
    case YS_FIELD_REAL:
        return take_real(scan, place);
    case YS_FIELD_TEXT:
        return take_text(scan, place);
    case YS_FIELD_ENUM:
        return take_name(scan, field->names, place);
    case YS_FIELD_INTS:
        return take_wholes(scan, place);
    case YS_FIELD_LIST:
    case YS_FIELD_TEXTS:
    case YS_FIELD_REALS:
        return take_nothing(scan);
    default:
        return false;
    }
}

static bool take_field(struct scan *scan, const struct ys_field *field, void *place)
{
    const char *begin = scan->at;
    if (field->kind == YS_FIELD_OBJECT)
        return take_record(scan, field->record, place);
    if (field->kind == YS_FIELD_OBJECT_OWNED)
        return take_owned(scan, field->record, place);
    if (take_plain(scan, field, place))
        return true;
    scan->at = begin;
    return scan->status == YS_OK && take_parsed(scan, field, place);
}

/* The place of the field of that name; members mostly come in the order of the table, so the search begins at `next`.
 * `count` where the table does not know it. */
static size_t find_field(const struct ys_record *record, const struct span *name, size_t next)
{
    for (size_t k = 0; k < record->count; k++) {
        size_t i = next + k < record->count ? next + k : next + k - record->count;
        const char *known = record->fields[i].name;
        if (strncmp(known, name->begin + 1, name->size - 2) == 0 && known[name->size - 2] == 0)
            return i;
    }
    return record->count;
}

static bool take_member(struct scan *scan, const struct ys_record *record, size_t *next, uint64_t *seen, void *item)
{
    struct span name;
    bool plain;
    if (!take_string(scan, &name, &plain) || !plain || !take(scan, ':'))
        return false;
    skip_blanks(scan);
    size_t place = find_field(record, &name, *next);
    if (place == record->count)
        return skip_value(scan, 0);
    const struct ys_field *field = &record->fields[place];
    if (scan->at == scan->end || (*seen >> place & 1))
        return false;
    *seen |= UINT64_C(1) << place;
    *next = place + 1 < record->count ? place + 1 : 0;
    bool may_be_null = (field->flags & YS_FIELD_NULL) || field->kind == YS_FIELD_TIME;
    if (may_be_null && take_word(scan, "null"))
        return true;
    return take_field(scan, field, (char *)item + field->offset);
}

static bool take_record(struct scan *scan, const struct ys_record *record, void *item)
{
    uint64_t seen = 0;
    size_t next = 0;
    ys_record_init(record, item);
    if (record->count > MOST_FIELDS || !take(scan, '{'))
        return false;
    if (!take(scan, '}')) {
        do {
            if (!take_member(scan, record, &next, &seen, item))
                return false;
        } while (take(scan, ','));
        if (!take(scan, '}'))
            return false;
    }
    for (size_t i = 0; i < record->count; i++)
        if (!(seen >> i & 1) && !(record->fields[i].flags & (YS_FIELD_MAY_LACK | YS_FIELD_LATER)))
            return false;
    return true;
}

ys_status ys_record_parse(const struct ys_record *record, const char *text, size_t size, const char *label, void *item)
{
    struct scan scan = {text, text + size, YS_OK};
    bool taken = take_record(&scan, record, item);
    skip_blanks(&scan);
    if (taken && scan.at == scan.end)
        return YS_OK;
    ys_record_fini(record, item);
    YS_TRY(scan.status);
    ys_json *value = NULL;
    YS_TRY(ys_json_parse(text, size, label, &value));
    ys_status status = ys_record_read(record, value, label, item);
    ys_json_free(value);
    return status;
}
