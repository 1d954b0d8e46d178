/* What is not the same on both sides. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/size_text.h"
#include "judge/judge_parts.h"
#include "store/stored_study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add(const char *what, const char *base, const char *candidate, struct ys_list *differences)
{
    struct ys_judged_difference *one = ys_list_add(&ys_judged_difference_record, differences);
    one->what = ys_strdup(what);
    one->base = ys_strdup(base);
    one->candidate = ys_strdup(candidate);
}

void ys_judge_differ_text(const char *what, const char *base, const char *candidate, struct ys_list *differences)
{
    const char *empty = "";
    if (strcmp(base ? base : empty, candidate ? candidate : empty) != 0)
        add(what, base, candidate, differences);
}

/* "avx, fma" of an array, "level 1, type Data; level 2, type Unified" of one of objects. */
static void put_value(struct ys_buf *out, const ys_json *value, const char *between)
{
    const char *word = ys_json_text(value, NULL);
    char *dumped = NULL;
    switch (ys_json_type_of(value)) {
    case YS_JSON_ARRAY:
        for (size_t i = 0; i < ys_json_size(value); i++) {
            const bool object = ys_json_type_of(ys_json_at(value, i)) == YS_JSON_OBJECT;
            ys_buf_puts(out, i == 0 ? "" : object ? "; " : between);
            put_value(out, ys_json_at(value, i), between);
        }
        break;
    case YS_JSON_OBJECT:
        for (void *it = ys_json_iter(value), *first = it; it; it = ys_json_next(value, it)) {
            ys_buf_printf(out, "%s%s ", it == first ? "" : between, ys_json_iter_key(it));
            put_value(out, ys_json_iter_value(it), " ");
        }
        break;
    default:
        dumped = word ? NULL : ys_json_dump(value, 0);
        ys_buf_puts(out, word ? word : dumped);
        ys_free(dumped);
    }
}

/* The text of a value that is called `what`; NULL for null. Bytes are also said in larger units. */
static char *text_of(const char *what, const ys_json *value)
{
    static const char bytes[] = "_bytes";
    const size_t length = strlen(what), end = sizeof bytes - 1;
    const double number = ys_json_number(value, NAN);
    struct ys_buf out = {0};
    char size[YS_SIZE_TEXT];
    if (ys_json_type_of(value) == YS_JSON_NULL)
        return NULL;
    ys_buf_puts(&out, "");
    put_value(&out, value, ", ");
    if (number >= 1000 && number < 1e18 && length > end && strcmp(what + length - end, bytes) == 0)
        ys_buf_printf(&out, " (%s)", ys_size_text((uint64_t)number, size));
    return ys_buf_take(&out);
}

static void differ_values(const char *what, const ys_json *base, const ys_json *candidate, struct ys_list *differences)
{
    if (base && candidate && ys_json_equal(base, candidate))
        return;
    char *of_base = text_of(what, base), *of_candidate = text_of(what, candidate);
    ys_judge_differ_text(what, of_base, of_candidate, differences);
    ys_free(of_base);
    ys_free(of_candidate);
}

static bool is_among(const char *name, const char *const *names)
{
    for (; names && *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static void differ_member(const char *what, const ys_json *base, const ys_json *candidate, const char *const *except,
                          struct ys_list *differences)
{
    bool objects =
        ys_json_type_of(base) == YS_JSON_OBJECT && (!candidate || ys_json_type_of(candidate) == YS_JSON_OBJECT);
    objects |= !base && ys_json_type_of(candidate) == YS_JSON_OBJECT;
    if (is_among(what, except))
        return;
    if (objects)
        ys_judge_differ(base, candidate, what, except, differences);
    else
        differ_values(what, base, candidate, differences);
}

/* Members of `from`; of the second object those that the first has not. */
static void differ_members(const ys_json *from, const ys_json *other, bool swapped, const char *prefix,
                           const char *const *except, struct ys_list *differences)
{
    for (void *it = ys_json_iter(from); it; it = ys_json_next(from, it)) {
        const char *name = ys_json_iter_key(it);
        const ys_json *mine = ys_json_iter_value(it), *theirs = ys_json_get(other, name);
        if (swapped && theirs)
            continue;
        char *what = *prefix ? ys_format("%s.%s", prefix, name) : ys_strdup(name);
        differ_member(what, swapped ? NULL : mine, swapped ? mine : theirs, except, differences);
        ys_free(what);
    }
}

void ys_judge_differ(const ys_json *base, const ys_json *candidate, const char *prefix, const char *const *except,
                     struct ys_list *differences)
{
    differ_members(base, candidate, false, prefix, except, differences);
    differ_members(candidate, base, true, prefix, except, differences);
}

/* What of a machine is another from minute to minute, or explains what else is there. */
static const char *const passing[] = {"load", "warnings", "reasons", "self_test", "memory.available_bytes", NULL};

void ys_judge_differ_studies(const struct ys_side *base, const struct ys_side *candidate, struct ys_list *differences)
{
    char seeds[2][32];
    snprintf(seeds[0], sizeof seeds[0], "%lld", (long long)base->result.study.seed);
    snprintf(seeds[1], sizeof seeds[1], "%lld", (long long)candidate->result.study.seed);
    ys_judge_differ_text("yardstick", base->result.study.version, candidate->result.study.version, differences);
    ys_judge_differ_text("seed", seeds[0], seeds[1], differences);
    ys_judge_differ_text("interleave", base->result.study.interleave, candidate->result.study.interleave, differences);
    ys_judge_differ(base->result.host, candidate->result.host, "", passing, differences);
}

static void differ_settings(const struct ys_result_trial *base, const struct ys_result_trial *candidate,
                            const char *const *except, struct ys_list *differences)
{
    ys_json *keys[2] = {ys_record_json(&ys_trial_settings_record, &base->keys),
                        ys_record_json(&ys_trial_settings_record, &candidate->keys)};
    if (except)
        ys_judge_differ(keys[0], keys[1], "", except, differences);
    for (size_t i = 0; !except && ys_settings_surroundings[i]; i++)
        differ_values(ys_settings_surroundings[i], ys_json_get(keys[0], ys_settings_surroundings[i]),
                      ys_json_get(keys[1], ys_settings_surroundings[i]), differences);
    ys_json_free(keys[0]);
    ys_json_free(keys[1]);
}

void ys_judge_differ_observed(const struct ys_result_trial *base, const struct ys_result_trial *candidate,
                              struct ys_list *differences)
{
    const struct ys_record *record = &ys_result_observed_record;
    ys_json *a = base->observed ? ys_record_json(record, base->observed) : NULL,
            *b = candidate->observed ? ys_record_json(record, candidate->observed) : NULL;
    ys_judge_differ(a, b, "observed", NULL, differences);
    ys_json_free(a);
    ys_json_free(b);
}

void ys_judge_differ_trials(const struct ys_result_trial *base, const struct ys_result_trial *candidate,
                            struct ys_list *differences)
{
    const struct ys_trial_framework none = {0}, *a = base->framework ? base->framework : &none,
                                    *b = candidate->framework ? candidate->framework : &none;
    differ_settings(base, candidate, NULL, differences);
    ys_judge_differ_text("framework.name", a->name, b->name, differences);
    ys_judge_differ_text("framework.version", a->version, b->version, differences);
    ys_judge_differ_text("framework.closure", a->closure, b->closure, differences);
    ys_judge_differ_text("framework.recipe", a->recipe, b->recipe, differences);
    ys_judge_differ_text("framework.fingerprint", a->fingerprint, b->fingerprint, differences);
    ys_judge_differ_text("framework.changes", a->changes, b->changes, differences);
    ys_judge_differ(base->options, candidate->options, "opt", NULL, differences);
    ys_judge_differ(base->env, candidate->env, "env", NULL, differences);
}

/* A file or folder of the user's own is known by its content, below: two checkouts have it in two places. */
static bool is_path(const char *data)
{
    return data && strchr(data, '/');
}

void ys_judge_differ_work(const struct ys_side *base, const struct ys_result_trial *of_base,
                          const struct ys_side *candidate, const struct ys_result_trial *of_candidate,
                          struct ys_list *differences)
{
    struct ys_study_work work[2];
    const char *except[YS_SETTINGS_SURROUNDINGS + 2] = {NULL};
    size_t count = YS_SETTINGS_SURROUNDINGS - 1;
    char text[2][64];
    ys_study_work_find(base->result.work, of_base->keys.model, of_base->keys.data, &work[0]);
    ys_study_work_find(candidate->result.work, of_candidate->keys.model, of_candidate->keys.data, &work[1]);
    memcpy(except, ys_settings_surroundings, sizeof ys_settings_surroundings);
    if (work[0].model_hash && work[1].model_hash)
        except[count++] = "model";
    if (is_path(of_base->keys.data) && is_path(of_candidate->keys.data))
        except[count++] = "data";
    differ_settings(of_base, of_candidate, except, differences);
    for (size_t i = 0; i < 2; i++)
        snprintf(text[i], sizeof text[i], "%lld parameters, %lld multiply-adds", (long long)work[i].parameters,
                 (long long)work[i].multiply_adds);
    ys_judge_differ_text("network", text[0], text[1], differences);
    ys_judge_differ_text("network file", work[0].model_hash, work[1].model_hash, differences);
    ys_judge_differ_text("training data", work[0].train_hash, work[1].train_hash, differences);
    ys_judge_differ_text("test data", work[0].test_hash, work[1].test_hash, differences);
}
