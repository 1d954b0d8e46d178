#include "metric/compare/same_work.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct work_member {
    char *work; /* owned */
    bool no_work;
    size_t trial;
};

static int by_work(const void *a, const void *b)
{
    const struct work_member *x = a, *y = b;
    if (x->no_work != y->no_work)
        return x->no_work ? 1 : -1;
    return strcmp(x->work, y->work);
}

static int by_work_and_place(const void *a, const void *b)
{
    const struct work_member *x = a, *y = b;
    const int order = by_work(a, b);
    return order ? order : (x->trial > y->trial) - (x->trial < y->trial);
}

static int by_first(const void *a, const void *b)
{
    const struct ys_work_group *x = a, *y = b;
    return (x->trials[0] > y->trials[0]) - (x->trials[0] < y->trials[0]);
}

static size_t best_of(const struct ys_metric_view *view, const struct ys_work_group *group)
{
    size_t best = YS_GROUP_NO_BEST;
    double most = -INFINITY;
    for (size_t i = 0; i < group->count; i++) {
        const struct ys_metric_view_trial *trial = &view->trials[group->trials[i]];
        const double speed = ys_trial_median(trial, "rate_per_s");
        char reason[YS_TRIAL_FAULT_SIZE];
        if (!trial->software && !ys_trial_has_fault(trial, trial, reason, sizeof reason) && speed > most) {
            most = speed;
            best = group->trials[i];
        }
    }
    return best;
}

static void divide(const struct ys_metric_view *view, const struct work_member *members, struct ys_groups *groups)
{
    for (size_t i = 0; i < view->trial_count; i++) {
        if (i == 0 || by_work(&members[i - 1], &members[i]) != 0)
            groups->items[groups->count++] = (struct ys_work_group){.trials = &groups->trials[i]};
        struct ys_work_group *group = &groups->items[groups->count - 1];
        group->trials[group->count++] = members[i].trial;
    }
    for (size_t i = 0; i < groups->count; i++)
        groups->items[i].best = best_of(view, &groups->items[i]);
    qsort(groups->items, groups->count, sizeof *groups->items, by_first);
}

void ys_groups_find(const struct ys_metric_view *view, struct ys_groups *groups)
{
    struct work_member *members = ys_alloc(view->trial_count + 1, sizeof *members);
    *groups = (struct ys_groups){.items = ys_alloc(view->trial_count + 1, sizeof *groups->items),
                                 .trials = ys_alloc(view->trial_count + 1, sizeof *groups->trials)};
    const size_t count = view->trial_count;
    for (size_t i = 0; i < count; i++)
        members[i] = (struct work_member){ys_settings_work(&view->trials[i].record->keys), view->trials[i].no_work, i};
    if (count > 0) {
        qsort(members, count, sizeof *members, by_work_and_place);
        divide(view, members, groups);
    }
    for (size_t i = 0; i < count; i++)
        ys_free(members[i].work);
    ys_free(members);
}

void ys_groups_fini(struct ys_groups *groups)
{
    ys_free(groups->items);
    ys_free(groups->trials);
    *groups = (struct ys_groups){0};
}

struct ys_list ys_groups_list(const struct ys_metric_view *view, const struct ys_groups *groups)
{
    struct ys_list list = {0};
    for (size_t i = 0; i < groups->count; i++) {
        const struct ys_work_group *group = &groups->items[i];
        struct ys_result_group *told = ys_list_add(&ys_result_group_record, &list);
        for (size_t k = 0; k < group->count; k++)
            ys_list_add_text(&told->trials, view->trials[group->trials[k]].id);
        told->best = group->best == YS_GROUP_NO_BEST ? NULL : ys_strdup(view->trials[group->best].id);
    }
    return list;
}
