#include "metric/compare/comparison_family.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One attempt at a round: what runs are paired by. */
struct round_slot {
    int64_t round;
    int attempt;
};

static int by_slot(const void *a, const void *b)
{
    const struct round_slot *x = a, *y = b;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    return (x->attempt > y->attempt) - (x->attempt < y->attempt);
}

/* The trials of a family, and the attempts at rounds that they have. */
struct family_rounds {
    const struct ys_metric_view *view;
    const struct ys_moment *moment;
    size_t *place; /* of each trial of the view: 1 + its place in the family, 0 when it is not in it */
    struct round_slot *slots;
    size_t trials, slot_count;
    struct ys_family_pair *pairs; /* by places in the family */
};

static void join_trial(struct family_rounds *all, size_t trial)
{
    if (!all->place[trial])
        all->place[trial] = ++all->trials;
}

static void find_slots(struct family_rounds *all)
{
    size_t most = 0, kept = 0;
    for (size_t t = 0; t < all->view->trial_count; t++)
        most += all->place[t] ? all->view->trials[t].run_count : 0;
    all->slots = ys_alloc(most, sizeof *all->slots);
    for (size_t t = 0; t < all->view->trial_count; t++) {
        const struct ys_metric_view_trial *trial = &all->view->trials[t];
        for (size_t i = 0; all->place[t] && i < trial->run_count; i++)
            if (trial->runs[i].round < all->moment->rounds)
                all->slots[all->slot_count++] = (struct round_slot){trial->runs[i].round, trial->runs[i].attempt};
    }
    if (all->slot_count > 0)
        qsort(all->slots, all->slot_count, sizeof *all->slots, by_slot);
    for (size_t i = 0; i < all->slot_count; i++) {
        if (i == 0 || by_slot(&all->slots[i - 1], &all->slots[i]) != 0)
            all->slots[kept++] = all->slots[i];
    }
    all->slot_count = kept;
}

static void gather(struct family_rounds *all, const struct ys_family_pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        join_trial(all, pairs[i].a);
        join_trial(all, pairs[i].b);
        all->pairs[i] = (struct ys_family_pair){all->place[pairs[i].a] - 1, all->place[pairs[i].b] - 1};
    }
    find_slots(all);
}

static void fill(const struct family_rounds *all, int metric, bool by_ratio, double *values)
{
    for (size_t i = 0; i < all->trials * all->slot_count; i++)
        values[i] = NAN;
    for (size_t t = 0; t < all->view->trial_count; t++) {
        const struct ys_metric_view_trial *trial = &all->view->trials[t];
        for (size_t i = 0; all->place[t] && i < trial->run_count; i++) {
            const struct ys_metric_view_run *run = &trial->runs[i];
            if (run->round >= all->moment->rounds)
                continue;
            const struct round_slot key = {run->round, run->attempt};
            const struct round_slot *slot = bsearch(&key, all->slots, all->slot_count, sizeof key, by_slot);
            const bool is_lost = isinf(run->compared[metric]) && ys_compared_of_target(metric);
            const double own = is_lost ? run->target_limit[metric - YS_TARGET_TIME] : run->compared[metric];
            double value = by_ratio ? log(own) : own;
            if ((run->ok || is_lost) && isfinite(value) && !(by_ratio && isnan(run->taken.work_s)))
                values[(all->place[t] - 1) * all->slot_count + (size_t)(slot - all->slots)] = value;
        }
    }
}

double ys_together_stretch(const struct ys_metric_view *view, const struct ys_moment *moment,
                           const struct ys_family_pair *pairs, size_t count, int metric, bool by_ratio)
{
    struct family_rounds all = {.view = view, .moment = moment};
    if (count < 2)
        return 1;
    all.place = ys_alloc(view->trial_count, sizeof *all.place);
    all.pairs = ys_alloc(count, sizeof *all.pairs);
    gather(&all, pairs, count);
    double *values = ys_alloc(all.trials * all.slot_count, sizeof *values);
    fill(&all, metric, by_ratio, values);
    const double factor =
        ys_family_stretch(&(struct ys_family){all.trials, all.slot_count, values, all.pairs, count, moment->level});
    ys_free(values);
    ys_free(all.place);
    ys_free(all.pairs);
    ys_free(all.slots);
    return factor;
}
