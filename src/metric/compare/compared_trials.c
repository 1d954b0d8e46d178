#include "metric/compare/compared_trials.h"

#include "base/buf.h"
#include "base/mem.h"
#include "metric/json_builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool counts(const char *factor, bool frameworks_differ)
{
    return !frameworks_differ || strncmp(factor, "opt.", 4) != 0;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

struct chosen_factors {
    const ys_json *framework;
};
static const struct ys_field factors_fields[] = {
    YS_FIELD(struct chosen_factors, framework, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "where it varies"),
};
static const struct ys_record factors_record = YS_RECORD("factors", struct chosen_factors, factors_fields);

static const ys_json *framework_of(const struct ys_trial_record *trial)
{
    struct chosen_factors factors;
    ys_record_glance(&factors_record, trial->factors, &factors);
    return factors.framework;
}

bool ys_pair_is_of_one_section(const struct ys_trial_record *a, const struct ys_trial_record *b)
{
    return strcmp(or_empty(a->section), or_empty(b->section)) == 0;
}

/* The factors in which two differ, with commas between, into `names` (NULL: nowhere); returns how many, *last the last
 * of them. */
static size_t find_differing(const struct ys_trial_record *a, const struct ys_trial_record *b, struct ys_buf *names,
                             const char **last)
{
    const ys_json *sides[2] = {a->factors, b->factors};
    const bool frameworks = !ys_json_equal(framework_of(a), framework_of(b));
    size_t count = 0;
    for (int side = 0; side < 2; side++)
        for (void *it = ys_json_iter(sides[side]); it; it = ys_json_next(sides[side], it)) {
            const char *factor = ys_json_iter_key(it);
            const ys_json *other = ys_json_get(sides[1 - side], factor);
            if (!counts(factor, frameworks) || (other && (side == 1 || ys_json_equal(ys_json_iter_value(it), other))))
                continue;
            *last = factor;
            if (names)
                ys_buf_printf(names, "%s%s", count ? ", " : "", factor);
            count++;
        }
    return count;
}

const char *ys_pair_varies(const struct ys_trial_record *a, const struct ys_trial_record *b)
{
    const char *varies = NULL;
    return ys_pair_is_of_one_section(a, b) && find_differing(a, b, NULL, &varies) == 1 ? varies : NULL;
}

struct choosing {
    const struct ys_metric_view *view;
    bool all;
    struct ys_choice *choice;
};

/* Along `ranks` speed-up is told against it. */
static bool is_one_process(const struct ys_metric_view *view, const char *axis, size_t trial)
{
    return strcmp(axis, "ranks") == 0 && ys_settings_ranks(&view->trials[trial].record->keys) == 1;
}

static void add(struct ys_choice *choice, struct ys_chosen chosen)
{
    choice->pairs = ys_grown(choice->pairs, choice->count, &choice->capacity, sizeof *choice->pairs);
    choice->pairs[choice->count++] = chosen;
}

/* The two in the order in which they are compared. */
static struct ys_chosen pair_of(const struct ys_metric_view *view, const char *axis, size_t one, size_t other)
{
    const size_t later = one > other ? one : other, earlier = one > other ? other : one;
    const bool is_base = axis && is_one_process(view, axis, later);
    return (struct ys_chosen){.a = is_base ? earlier : later, .b = is_base ? later : earlier, .best = YS_NAME_NONE};
}

static void choose(struct choosing *choosing, const char *axis, size_t one, size_t other)
{
    struct ys_chosen chosen = pair_of(choosing->view, axis, one, other);
    const struct ys_metric_view_trial *trials = choosing->view->trials;
    const char *varies = ys_pair_varies(trials[chosen.a].record, trials[chosen.b].record);
    if (!varies || strcmp(varies, axis) != 0)
        return;
    chosen.along = true;
    chosen.varies = ys_strdup(varies);
    add(choosing->choice, chosen);
}

/* A trial and what it is apart from one factor: equal texts are a group. */
struct factor_member {
    char *rest;
    size_t trial;
};

static int by_rest(const void *a, const void *b)
{
    const struct factor_member *x = a, *y = b;
    int order = strcmp(x->rest, y->rest);
    return order ? order : (x->trial > y->trial) - (x->trial < y->trial);
}

/* The section and all factors but `axis`, as one text. */
static char *rest_of(const struct ys_trial_record *trial, const char *axis)
{
    bool frameworks = strcmp(axis, "framework") == 0;
    const ys_json *factors = trial->factors;
    ys_json *rest = ys_json_object();
    for (void *it = ys_json_iter(factors); it; it = ys_json_next(factors, it)) {
        const char *factor = ys_json_iter_key(it);
        if (strcmp(factor, axis) != 0 && counts(factor, frameworks))
            ys_put_ref(rest, factor, ys_json_iter_value(it));
    }
    ys_json_set_string(rest, "", or_empty(trial->section)); /* no factor has this name */
    char *text = ys_json_dump(rest, YS_JSON_SORTED);
    ys_json_free(rest);
    return text;
}

/* How much comparing with this trial can say: nothing, when it never ran. */
static int worth_of(const struct ys_metric_view_trial *trial)
{
    char reason[YS_TRIAL_FAULT_SIZE];
    if (trial->counted == 0)
        return 0;
    return 1 + 2 * !ys_trial_has_fault(trial, NULL, reason, sizeof reason) +
           !isnan(ys_trial_median(trial, "rate_per_s"));
}

/* The first of those that say most; along `ranks` that of one process, where it is one of them. */
static const struct factor_member *base_of(const struct ys_metric_view *view, const char *axis,
                                           const struct factor_member *group, size_t size)
{
    const struct factor_member *base = &group[0];
    int most = -1;
    for (size_t i = 0; i < size; i++) {
        const size_t trial = group[i].trial;
        const int worth = 2 * worth_of(&view->trials[trial]) + is_one_process(view, axis, trial);
        base = worth > most ? &group[i] : base;
        most = worth > most ? worth : most;
    }
    return base;
}

static void choose_in_group(struct choosing *choosing, const char *axis, const struct factor_member *group, size_t size)
{
    const struct factor_member *base = base_of(choosing->view, axis, group, size);
    for (size_t i = 0; i < size; i++) {
        for (size_t k = 0; choosing->all && k < i; k++)
            choose(choosing, axis, group[i].trial, group[k].trial);
        if (!choosing->all && &group[i] != base)
            choose(choosing, axis, group[i].trial, base->trial);
    }
}

static void choose_along(struct choosing *choosing, const char *axis)
{
    const struct ys_metric_view *view = choosing->view;
    struct factor_member *members = ys_alloc(view->trial_count, sizeof *members);
    const size_t count = view->trial_count;
    for (size_t i = 0; i < count; i++)
        members[i] = (struct factor_member){rest_of(view->trials[i].record, axis), i};
    qsort(members, count, sizeof *members, by_rest);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && strcmp(members[next].rest, members[first].rest) == 0; next++)
            ;
        choose_in_group(choosing, axis, &members[first], next - first);
    }
    for (size_t i = 0; i < count; i++)
        ys_free(members[i].rest);
    ys_free(members);
}

/* What two differ in; a new text. */
static char *all_that_varies(const struct ys_trial_record *a, const struct ys_trial_record *b)
{
    struct ys_buf text = {0};
    const char *last;
    if (!ys_pair_is_of_one_section(a, b))
        return ys_strdup("section");
    find_differing(a, b, &text, &last);
    return ys_buf_take(&text);
}

static void choose_with_best(struct choosing *choosing, const struct ys_work_group *group, size_t place)
{
    for (size_t i = 0; i < group->count; i++) {
        const size_t other = group->trials[i], best = group->best;
        const struct ys_metric_view_trial *trials = choosing->view->trials;
        if (other == best)
            continue;
        const char *factor = ys_pair_varies(trials[other].record, trials[best].record);
        struct ys_chosen chosen = pair_of(choosing->view, factor, other, best);
        chosen.best = chosen.a == best ? YS_BEST_A : YS_BEST_B;
        chosen.group = place;
        chosen.varies = factor ? ys_strdup(factor) : all_that_varies(trials[chosen.a].record, trials[chosen.b].record);
        add(choosing->choice, chosen);
    }
}

static int by_trials(const void *x, const void *y)
{
    const struct ys_chosen *one = x, *other = y;
    if (one->a != other->a)
        return one->a > other->a ? 1 : -1;
    return (one->b > other->b) - (one->b < other->b);
}

/* A pair that was chosen for both reasons is one. */
static void join_twins(struct ys_choice *choice)
{
    size_t kept = 0;
    qsort(choice->pairs, choice->count, sizeof *choice->pairs, by_trials);
    for (size_t i = 0; i < choice->count; i++) {
        struct ys_chosen *one = &choice->pairs[i], *last = kept ? &choice->pairs[kept - 1] : NULL;
        if (!last || by_trials(last, one) != 0) {
            choice->pairs[kept++] = *one;
            continue;
        }
        last->along |= one->along;
        if (one->best != YS_NAME_NONE) {
            last->best = one->best;
            last->group = one->group;
        }
        ys_free(one->varies);
    }
    choice->count = kept;
}

/* Frameworks first, then in the order of the job. */
static int by_place(const void *x, const void *y)
{
    const struct ys_chosen *one = x, *other = y;
    const int frameworks = (strcmp(other->varies, "framework") == 0) - (strcmp(one->varies, "framework") == 0);
    return frameworks ? frameworks : by_trials(x, y);
}

static void choose_pairs(struct choosing *choosing)
{
    const struct ys_metric_view *view = choosing->view;
    ys_json *axes = ys_json_object(); /* {name: true} */
    for (size_t i = 0; i < view->trial_count; i++) {
        const ys_json *factors = view->trials[i].record->factors;
        for (void *it = ys_json_iter(factors); it; it = ys_json_next(factors, it))
            ys_json_set_bool(axes, ys_json_iter_key(it), true);
    }
    for (void *it = ys_json_iter(axes); it; it = ys_json_next(axes, it))
        choose_along(choosing, ys_json_iter_key(it));
    ys_json_free(axes);
}

void ys_choice_make(const struct ys_metric_view *view, const struct ys_groups *groups, bool all,
                    struct ys_choice *choice)
{
    struct choosing choosing = {view, all, choice};
    *choice = (struct ys_choice){0};
    choose_pairs(&choosing);
    for (size_t i = 0; i < groups->count; i++)
        if (groups->items[i].best != YS_GROUP_NO_BEST)
            choose_with_best(&choosing, &groups->items[i], i);
    if (choice->count > 0) {
        join_twins(choice);
        qsort(choice->pairs, choice->count, sizeof *choice->pairs, by_place);
    }
}

void ys_choice_fini(struct ys_choice *choice)
{
    for (size_t i = 0; i < choice->count; i++)
        ys_free(choice->pairs[i].varies);
    ys_free(choice->pairs);
    *choice = (struct ys_choice){0};
}
