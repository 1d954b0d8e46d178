#include "store/due_checks.h"

#include "base/mem.h"

#include <string.h>

static const char *const check_words[] = {[YS_DUE_FIRST_LOSS] = "first loss",
                                          [YS_DUE_WEIGHTS] = "weights",
                                          [YS_DUE_ANSWERS] = "answers",
                                          [YS_DUE_OUTCOMES] = "outcomes",
                                          [YS_DUE_STORED] = "stored model",
                                          [YS_DUE_INTEGERS] = "integers",
                                          [YS_DUE_AUDIT] = "audit"};
const struct ys_names ys_due_checks = YS_NAMES("check of runs", check_words);

static const char *const state_words[] = {
    [YS_DUE_PASS] = "pass",   [YS_DUE_WEAK] = "weak",       [YS_DUE_NOT] = "not due",
    [YS_DUE_YET] = "not yet", [YS_DUE_MISSING] = "missing", [YS_DUE_FAIL] = "fail"};
const struct ys_names ys_due_states = YS_NAMES("state of a check", state_words);

static const struct ys_field fields[] = {
    YS_FIELD_NAMED(struct ys_due, check, &ys_due_checks, 0, "of the trial's runs"),
    YS_FIELD_NAMED(struct ys_due, state, &ys_due_states, 0, "what came of it"),
    YS_FIELD(struct ys_due, reason, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "why it was not made, or fails"),
};
const struct ys_record ys_due_record = YS_RECORD("due", struct ys_due, fields);

/* What was not done, in words that follow a trial's name. */
static const char *const undone[] = {[YS_DUE_FIRST_LOSS] = "its first losses not compared",
                                     [YS_DUE_WEIGHTS] = "its weights not evaluated",
                                     [YS_DUE_ANSWERS] = "its answers not audited",
                                     [YS_DUE_OUTCOMES] = "what attacks did to it not compared",
                                     [YS_DUE_STORED] = "its stored model not judged",
                                     [YS_DUE_INTEGERS] = "its integers not proven",
                                     [YS_DUE_AUDIT] = "not audited"};

struct holder {
    struct ys_list due;
};
static const struct ys_field holder_fields[] = {
    YS_FIELD_OF(struct holder, due, YS_FIELD_LIST, &ys_due_record, YS_FIELD_LATER, "checks of its runs"),
};
static const struct ys_record holder_record = YS_RECORD("proof", struct holder, holder_fields);

ys_status ys_due_read(const ys_json *proof, struct ys_list *due)
{
    struct holder holder;
    *due = (struct ys_list){0};
    if (ys_json_type_of(proof) != YS_JSON_OBJECT)
        return YS_OK;
    YS_TRY(ys_record_read(&holder_record, proof, "a stored proof", &holder));
    *due = holder.due;
    return YS_OK;
}

struct ys_due *ys_due_find(const struct ys_list *due, enum ys_due_check check)
{
    struct ys_due *items = due->items;
    for (size_t i = 0; i < due->count; i++)
        if (items[i].check == (int)check)
            return &items[i];
    return NULL;
}

bool ys_due_lacks(const struct ys_list *due)
{
    const struct ys_due *items = due->items;
    for (size_t i = 0; i < due->count; i++)
        if (items[i].state == YS_DUE_MISSING)
            return true;
    return false;
}

static char *words_of(const struct ys_due *due)
{
    const char *reason = due->reason ? due->reason : "no reason is known", *what = undone[due->check];
    if (due->state == YS_DUE_FAIL)
        return ys_format("its check \"%s\" fails: %s", ys_name_of(&ys_due_checks, due->check), reason);
    if (due->state == YS_DUE_YET)
        return ys_format("%s yet", what);
    return due->state == YS_DUE_MISSING ? ys_format("%s, and should have been: %s", what, reason)
                                        : ys_format("%s (%s)", what, reason);
}

ys_status ys_due_fault(const ys_json *proof, bool is_over, char **reason)
{
    struct ys_list due;
    const struct ys_due *worst = NULL;
    *reason = NULL;
    YS_TRY(ys_due_read(proof, &due));
    const struct ys_due *items = due.items;
    for (size_t i = 0; i < due.count; i++) {
        const bool is_fault = items[i].state >= YS_DUE_MISSING || (items[i].state == YS_DUE_YET && is_over);
        if (is_fault && (!worst || items[i].state > worst->state))
            worst = &items[i];
    }
    *reason = worst ? words_of(worst) : NULL;
    ys_list_fini(&ys_due_record, &due);
    return YS_OK;
}

ys_status ys_due_say(const ys_json *proof, ys_json *texts)
{
    struct ys_list due;
    ys_status status = ys_due_read(proof, &due);
    const struct ys_due *items = due.items;
    for (size_t i = 0; status == YS_OK && i < due.count; i++) {
        if (items[i].state <= YS_DUE_WEAK)
            continue;
        char *words = words_of(&items[i]);
        ys_json_append(texts, ys_json_string(words));
        ys_free(words);
    }
    ys_list_fini(&ys_due_record, &due);
    return status;
}
