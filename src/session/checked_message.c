#include "session/checked_message.h"
#include <math.h>
#include <stddef.h>
#include <string.h>

enum member_kind { TEXT, WHOLE, TRUTH, ARRAY, TEXTS, PATH };

static const char *const KIND_NAMES[] = {
    [TEXT] = "a string",  [WHOLE] = "an integer of 0 or more", [TRUTH] = "a boolean",
    [ARRAY] = "an array", [TEXTS] = "an array of strings",     [PATH] = "an absolute path"};

/* The tables of docs/protocol.md. What stands in arrays of numbers is looked at where they are taken (take_blocks.c).
 */
static const struct rule {
    const char *type, *member;
    enum member_kind kind;
    bool required;
    size_t offset;
} RULES[] = {
#define RULE(type, member, kind, required)                                                                             \
    {#type, #member, (kind), (required), offsetof(struct ys_message, type.member)},
    YS_MEMBERS(RULE)
#undef RULE
};

bool ys_message_has_feature(const ys_json *hello, const char *feature)
{
    return ys_json_lists(ys_json_get(hello, "features"), feature);
}

static bool is_texts(const ys_json *value)
{
    bool fits = ys_json_type_of(value) == YS_JSON_ARRAY;
    for (size_t i = 0; fits && i < ys_json_size(value); i++)
        fits = ys_json_type_of(ys_json_at(value, i)) == YS_JSON_STRING;
    return fits;
}

/* 5.0 is an integer, as JSON has one kind of number. All of them count something, or are times: none is below 0. */
static bool is_whole(const ys_json *value)
{
    double number = ys_json_number(value, NAN);
    return number >= 0 && (ys_json_type_of(value) == YS_JSON_INT || (number < 0x1p63 && number == trunc(number)));
}

static bool is_of_kind(const ys_json *value, enum member_kind kind)
{
    enum ys_json_type type = ys_json_type_of(value);
    switch (kind) {
    case TEXT:
        return type == YS_JSON_STRING;
    case WHOLE:
        return is_whole(value);
    case TRUTH:
        return type == YS_JSON_BOOL;
    case ARRAY:
        return type == YS_JSON_ARRAY;
    case TEXTS:
        return is_texts(value);
    case PATH:
        return ys_json_text(value, "")[0] == '/';
    }
    return false;
}

static const char *fault_of(const ys_json *value)
{
    return !value ? "is missing" : ys_json_number(value, 0) < 0 ? "is below 0" : "is of another type";
}

ys_status ys_message_check(const ys_json *message)
{
    const char *type = ys_message_type(message);
    for (size_t i = 0; i < sizeof RULES / sizeof RULES[0]; i++) {
        const struct rule *rule = &RULES[i];
        if (strcmp(rule->type, type) != 0)
            continue;
        const ys_json *value = ys_json_get(message, rule->member);
        if (value ? !is_of_kind(value, rule->kind) : rule->required)
            return ys_fail(YS_EPROTOCOL, "member \"%s\" of the message \"%s\" %s: it must be %s", rule->member, type,
                           fault_of(value), KIND_NAMES[rule->kind]);
    }
    return YS_OK;
}

const char *ys_message_type(const ys_json *message)
{
    return ys_json_get_text(message, "type", "");
}

static void read_member(enum member_kind kind, const ys_json *value, void *place)
{
    bool fits = value && is_of_kind(value, kind);
    switch (kind) {
    case TEXT:
    case PATH:
        *(const char **)place = fits ? ys_json_text(value, NULL) : NULL;
        break;
    case WHOLE:
        *(int64_t *)place = fits ? ys_json_integer(value, -1) : -1;
        break;
    case TRUTH:
        *(bool *)place = fits && ys_json_truth(value, false);
        break;
    case ARRAY:
    case TEXTS:
        *(const ys_json **)place = fits ? value : NULL;
        break;
    }
}

void ys_message_read(const ys_json *message, struct ys_message *read)
{
    *read = (struct ys_message){.type = ys_message_type(message)};
    for (size_t i = 0; i < sizeof RULES / sizeof RULES[0]; i++)
        read_member(RULES[i].kind,
                    strcmp(RULES[i].type, read->type) == 0 ? ys_json_get(message, RULES[i].member) : NULL,
                    (char *)read + RULES[i].offset);
}
