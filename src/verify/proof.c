#include "verify/proof.h"

#include "base/json/shared_words.h"
#include "base/mem.h"
#include "protocol/run_status.h"

#include <math.h>
#include <string.h>

static const char *const half_words[] = {
    [YS_PROOF_WORK] = "work", [YS_PROOF_MEANING] = "meaning", [YS_PROOF_NUMERICS] = "numerics"};
const struct ys_names ys_proof_halves = YS_NAMES("half of a proof", half_words);

enum { MAY_LACK = YS_FIELD_NULL | YS_FIELD_MAY_LACK, LATER = YS_FIELD_NULL | YS_FIELD_LATER };

#define OF_CHECK(member, kind, flags, what) YS_FIELD(struct ys_proof_check, member, kind, NULL, flags, what)
static const struct ys_field check_fields[] = {
    YS_FIELD_NAMED(struct ys_proof_check, half, &ys_proof_halves, 0, "the group that it belongs to"),
    OF_CHECK(name, YS_FIELD_TEXT, 0, "what is compared"),
    OF_CHECK(error, YS_FIELD_REAL, YS_FIELD_NULL, "relative, or a count; null: infinite"),
    OF_CHECK(bound, YS_FIELD_REAL, YS_FIELD_NULL, "that it must not pass; null: infinite"),
    OF_CHECK(pass, YS_FIELD_FLAG, 0, "whether it does not"),
    OF_CHECK(worst, YS_FIELD_TEXT, LATER, "where the error was found"),
};
static const struct ys_record check_record = YS_RECORD("check", struct ys_proof_check, check_fields);

#define OF_TWINS(member, kind, flags, what) YS_FIELD(struct ys_proof_twins, member, kind, NULL, flags, what)
static const struct ys_field twins_fields[] = {
    OF_TWINS(count, YS_FIELD_INT, 0, "how many they were"),
    OF_TWINS(batch, YS_FIELD_INT, YS_FIELD_LATER, "the batch that numerics was judged on"),
    OF_TWINS(forward, YS_FIELD_REAL, LATER, "their worst error of logits and loss"),
    OF_TWINS(forward_ceiling, YS_FIELD_REAL, MAY_LACK, "above which no bound of it can lie"),
    OF_TWINS(gradients, YS_FIELD_REAL, MAY_LACK, "and of gradients; absent of inference"),
    OF_TWINS(gradients_ceiling, YS_FIELD_REAL, MAY_LACK, "above which no bound of it can lie"),
    OF_TWINS(input_gradient, YS_FIELD_REAL, MAY_LACK, "and of the gradient by the input; of mode attack alone"),
    OF_TWINS(input_gradient_ceiling, YS_FIELD_REAL, MAY_LACK, "above which no bound of it can lie"),
};
const struct ys_record ys_proof_twins_record = YS_RECORD("twins", struct ys_proof_twins, twins_fields);

static const struct ys_field whole_fields[] = {
    YS_FIELD(struct ys_proof_whole, rows, YS_FIELD_INT, NULL, 0, "rows of the whole batch"),
    YS_FIELD(struct ys_proof_whole, in_double, YS_FIELD_FLAG, NULL, 0, "whether it was looked at in double"),
    YS_FIELD_OF(struct ys_proof_whole, twins, YS_FIELD_OBJECT_OWNED, &ys_proof_twins_record, YS_FIELD_NULL,
                "those of the whole batch; null in double"),
};
static const struct ys_record whole_record = YS_RECORD("whole", struct ys_proof_whole, whole_fields);

#define OF_PLACE(member, kind, flags, what) YS_FIELD(struct ys_proof_place, member, kind, NULL, flags, what)
static const struct ys_field place_fields[] = {
    OF_PLACE(node, YS_FIELD_TEXT, 0, "its name"),
    OF_PLACE(op, YS_FIELD_TEXT, 0, "its operator"),
    OF_PLACE(name, YS_FIELD_TEXT, 0, "of the value or parameter"),
    OF_PLACE(error, YS_FIELD_REAL, YS_FIELD_NULL, "as of a check"),
    OF_PLACE(bound, YS_FIELD_REAL, YS_FIELD_NULL, "as of a check"),
    OF_PLACE(pass, YS_FIELD_FLAG, 0, "as of a check"),
};
static const struct ys_record place_record = YS_RECORD("place", struct ys_proof_place, place_fields);

static const struct ys_field pass_fields[] = {
    YS_FIELD(struct ys_proof_pass, reason, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "why there is no answer"),
    YS_FIELD(struct ys_proof_pass, first, YS_FIELD_INT, NULL, YS_FIELD_NULL, "index of the first that does not pass"),
    {"nodes", YS_FIELD_LIST, offsetof(struct ys_proof_pass, places), NULL, 0, "in the order in which a mistake spreads",
     &place_record, NULL},
};
const struct ys_record ys_proof_pass_record = YS_RECORD("pass", struct ys_proof_pass, pass_fields);

static const struct ys_field trace_fields[] = {
    YS_FIELD_NAMED(struct ys_proof_trace, precision, &ys_precisions, 0, "that it was made in"),
    YS_FIELD_OF(struct ys_proof_trace, forward, YS_FIELD_OBJECT, &ys_proof_pass_record, 0, "values of nodes"),
    YS_FIELD_OF(struct ys_proof_trace, backward, YS_FIELD_OBJECT_OWNED, &ys_proof_pass_record, YS_FIELD_NULL,
                "gradients of parameters; null of inference"),
};
const struct ys_record ys_proof_trace_record = YS_RECORD("trace", struct ys_proof_trace, trace_fields);

#define SAYS(member, kind, unit, flags, what)  YS_FIELD(struct ys_proof, member, kind, unit, flags, what)
#define HAS(member, kind, record, flags, what) YS_FIELD_OF(struct ys_proof, member, kind, record, flags, what)
static const struct ys_field fields[] = {
    SAYS(key, YS_FIELD_TEXT, NULL, MAY_LACK, "its name in the cache"),
    SAYS(cached, YS_FIELD_TRUTH, NULL, MAY_LACK, "whether it was taken from there"),
    SAYS(framework, YS_FIELD_TEXT, NULL, MAY_LACK, "as the job names it"),
    SAYS(version, YS_FIELD_TEXT, NULL, MAY_LACK, "of the framework"),
    SAYS(seed, YS_FIELD_INT, NULL, MAY_LACK, "of the plan"),
    SAYS(rows, YS_FIELD_INT, NULL, MAY_LACK, "rows of a batch"),
    SAYS(batches, YS_FIELD_INT, NULL, MAY_LACK, "batches, which are the steps too"),
    SAYS(positions, YS_FIELD_INT, NULL, MAY_LACK, "of a row that were proven, where it has more"),
    SAYS(date, YS_FIELD_TEXT, NULL, MAY_LACK, "when it was made"),
    HAS(checks, YS_FIELD_LIST, &check_record, YS_FIELD_LATER, "empty where nothing could be compared"),
    YS_FIELD_NAMED(struct ys_proof, ended, &ys_run_statuses, MAY_LACK,
                   "as what the adapter broke off, or unsupported where the twins lack the work"),
    YS_FIELD_NAMED(struct ys_proof, verdict, &ys_proof_verdicts, 0, "what the checks come to"),
    SAYS(reason, YS_FIELD_TEXT, NULL, LATER, "a sentence; null when it passed"),
    SAYS(lasting, YS_FIELD_TRUTH, NULL, MAY_LACK, "whether it may be kept: false when somebody broke off"),
    HAS(twins, YS_FIELD_OBJECT_OWNED, &ys_proof_twins_record, MAY_LACK, "what rounding alone does"),
    HAS(whole, YS_FIELD_OBJECT_OWNED, &whole_record, MAY_LACK, "where a whole batch was looked at"),
    SAYS(seconds, YS_FIELD_REAL, "s", MAY_LACK, "that it took"),
    SAYS(open_s, YS_FIELD_REAL, "s", MAY_LACK, "that `open` took in it"),
    SAYS(open_cpu_s, YS_FIELD_REAL, "s", MAY_LACK, "its processor time"),
    SAYS(first_s, YS_FIELD_REAL, "s", MAY_LACK, "that a first question and a first step took in it"),
    SAYS(first_cpu_s, YS_FIELD_REAL, "s", MAY_LACK, "their processor time"),
    SAYS(features, YS_FIELD_TEXTS, NULL, YS_FIELD_MAY_LACK, "that its sessions told"),
    HAS(trace, YS_FIELD_OBJECT_OWNED, &ys_proof_trace_record, MAY_LACK, "where it was asked for"),
    HAS(audit, YS_FIELD_OBJECT_OWNED, &ys_audit_record, MAY_LACK, "of the trial's runs"),
    HAS(due, YS_FIELD_LIST, &ys_due_record, YS_FIELD_MAY_LACK, "the checks of the trial's runs"),
    SAYS(diagnosis, YS_FIELD_TEXTS, NULL, YS_FIELD_MAY_LACK, "sentences of older versions"),
};
const struct ys_record ys_proof_record = YS_RECORD("proof", struct ys_proof, fields);

void ys_proof_init(struct ys_proof *proof)
{
    ys_record_init(&ys_proof_record, proof);
    proof->verdict = YS_PROOF_NONE;
}

void ys_proof_fini(struct ys_proof *proof)
{
    ys_record_fini(&ys_proof_record, proof);
    proof->verdict = YS_PROOF_NONE;
}

ys_status ys_proof_read(const ys_json *json, const char *label, struct ys_proof *proof)
{
    ys_status status = ys_record_read(&ys_proof_record, json, label, proof);
    if (status != YS_OK)
        ys_proof_init(proof);
    return status;
}

void ys_proof_settle(struct ys_proof *proof, enum ys_proof_verdict verdict, const char *reason)
{
    char *copy = reason ? ys_strdup(reason) : NULL;
    ys_free(proof->reason);
    proof->reason = copy;
    proof->verdict = verdict;
}

/* Room for one more of `record`, set up. */
static void *grow(struct ys_list *list, const struct ys_record *record)
{
    char *items = ys_realloc(list->items, list->count + 1, record->size);
    list->items = items;
    void *item = items + list->count++ * record->size;
    ys_record_init(record, item);
    return item;
}

static double finite_or_nan(double value)
{
    return isfinite(value) ? value : (double)NAN;
}

void ys_proof_add_check(struct ys_proof *proof, enum ys_proof_half half, const char *name, double error, double bound,
                        const char *worst)
{
    struct ys_proof_check *check = grow(&proof->checks, &check_record);
    check->half = half;
    check->name = ys_strdup(name);
    check->error = finite_or_nan(error);
    check->bound = finite_or_nan(bound);
    check->pass = error <= bound;
    check->worst = worst ? ys_strdup(worst) : NULL;
}

bool ys_proof_lacks_judge(const struct ys_proof *proof)
{
    return proof->verdict == YS_PROOF_NONE && proof->ended == YS_NAME_NONE && proof->lasting == 0;
}

void ys_proof_drop_checks(struct ys_proof *proof)
{
    ys_list_fini(&check_record, &proof->checks);
    ys_record_free(&ys_proof_twins_record, proof->twins);
    ys_record_free(&whole_record, proof->whole);
    proof->twins = NULL;
    proof->whole = NULL;
}

const struct ys_proof_check *ys_proof_check_at(const struct ys_proof *proof, size_t index)
{
    return (const struct ys_proof_check *)proof->checks.items + index;
}

const struct ys_proof_check *ys_proof_find(const struct ys_proof *proof, enum ys_proof_half half, const char *name)
{
    for (size_t i = 0; i < proof->checks.count; i++) {
        const struct ys_proof_check *check = ys_proof_check_at(proof, i);
        if (check->half == (int)half && strcmp(check->name, name) == 0)
            return check;
    }
    return NULL;
}

void ys_proof_add_place(struct ys_proof_pass *pass, const char *node, const char *op, const char *name, double error,
                        double bound)
{
    struct ys_proof_place *place = grow(&pass->places, &place_record);
    place->node = ys_strdup(node);
    place->op = ys_strdup(op);
    place->name = ys_strdup(name);
    place->error = finite_or_nan(error);
    place->bound = finite_or_nan(bound);
    place->pass = error <= bound;
    if (!place->pass && pass->first == YS_FIELD_NONE)
        pass->first = (int64_t)pass->places.count - 1;
}
