#include "run/message.h"
#include <math.h>
#include <string.h>

enum kind { TEXT, WHOLE, TRUTH, ARRAY, TEXTS, PATH };

static const char *const KIND_NAMES[] = {
    [TEXT] = "a string",  [WHOLE] = "an integer",          [TRUTH] = "a boolean",
    [ARRAY] = "an array", [TEXTS] = "an array of strings", [PATH] = "an absolute path"};

/* The tables of docs/protocol.md. What stands in arrays of numbers is looked at where they are taken (block.c). */
static const struct rule {
    const char *type, *member;
    enum kind kind;
    bool required;
} RULES[] = {
    {"hello", "protocol", WHOLE, true},
    {"hello", "adapter", TEXT, false},
    {"hello", "framework", TEXT, false},
    {"hello", "version", TEXT, false},
    {"hello", "runtime", TEXT, false},
    {"hello", "devices", TEXTS, false},
    {"hello", "precisions", TEXTS, false},
    {"hello", "ops", TEXTS, false},
    {"hello", "optimizers", TEXTS, false},
    {"hello", "features", TEXTS, false},
    {"hello", "no_work", TRUTH, false},
    {"opened", "parameters", WHOLE, false},
    {"opened", "threads", WHOLE, false},
    {"opened", "libraries", TEXTS, false},
    {"opened", "deviations", TEXTS, false},
    {"tensors", "path", PATH, true},
    {"tensors", "multiply_adds", WHOLE, false},
    {"block", "first", WHOLE, true},
    {"block", "count", WHOLE, true},
    {"block", "t_start_ns", WHOLE, true},
    {"block", "t_end_ns", WHOLE, true},
    {"block", "input_ns", WHOLE, true},
    {"block", "loss", ARRAY, true},
    {"latencies", "first", WHOLE, true},
    {"latencies", "count", WHOLE, true},
    {"latencies", "t_start_ns", WHOLE, true},
    {"latencies", "t_end_ns", WHOLE, true},
    {"latencies", "latency_ns", ARRAY, true},
    {"saved", "path", PATH, true},
    {"saved", "bytes", WHOLE, true},
    {"error", "code", TEXT, true},
    {"error", "stage", TEXT, false},
    {"error", "op", TEXT, false},
    {"error", "message", TEXT, false},
};

static bool is_texts(const ys_json *value)
{
    bool fits = ys_json_type_of(value) == YS_JSON_ARRAY;
    for (size_t i = 0; fits && i < ys_json_size(value); i++)
        fits = ys_json_type_of(ys_json_at(value, i)) == YS_JSON_STRING;
    return fits;
}

/* 5.0 is an integer, as JSON has one kind of number. */
static bool is_whole(const ys_json *value)
{
    double number = ys_json_number(value, NAN);
    return ys_json_type_of(value) == YS_JSON_INT || (fabs(number) < 0x1p63 && number == trunc(number));
}

static bool is_of_kind(const ys_json *value, enum kind kind)
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

ys_status ys_message_check(const ys_json *message)
{
    const char *type = ys_json_get_text(message, "type", "");
    for (size_t i = 0; i < sizeof RULES / sizeof RULES[0]; i++) {
        const struct rule *rule = &RULES[i];
        if (strcmp(rule->type, type) != 0)
            continue;
        const ys_json *value = ys_json_get(message, rule->member);
        if (value ? !is_of_kind(value, rule->kind) : rule->required)
            return ys_fail(YS_EPROTOCOL, "member \"%s\" of the message \"%s\" %s: it must be %s", rule->member, type,
                           value ? "is of another type" : "is missing", KIND_NAMES[rule->kind]);
    }
    return YS_OK;
}
