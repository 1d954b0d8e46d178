#include "metric/result/attack_results.h"

#include "base/mem.h"
#include "metric/run/withstood.h"
#include "stat/summary.h"

#include <math.h>
#include <string.h>

/* The runs that count, ended well and were attacked; or, where there are none, those of which some attacks were
 * finished. */
struct attacked_runs {
    const struct ys_robustness **items; /* owned; what it says is borrowed */
    size_t count;
    double *values, *scratch; /* of one figure of each of them; owned */
};

static const struct ys_facts_robustness *find(const struct ys_metric_view_run *run)
{
    return run->counted && run->ok ? run->facts.robustness : NULL;
}

static bool has_finished(const struct ys_facts_robustness *of_run)
{
    return of_run && of_run->found && of_run->found->rows > 0;
}

/* Infinities are ordered as numbers; one that comes out is no number of JSON. */
static double median(const struct attacked_runs *runs, size_t count)
{
    const double found = ys_stat_median(runs->values, count, runs->scratch);
    return isfinite(found) ? found : (double)NAN;
}

static double number(int64_t count)
{
    return count == YS_FIELD_NONE ? (double)NAN : (double)count;
}

/* A quartile that is null although rows were right before is infinite. */
static double change(const struct ys_attack_result *result, double quartile)
{
    return isnan(quartile) && result->clean > 0 ? (double)INFINITY : quartile;
}

enum { CLEAN, BROKEN, REACHED, CHANGE_P25, CHANGE_P50, CHANGE_P75, GRADIENTS, QUERIES, SECONDS, FIGURES };
static double figure_of(const struct ys_attack_result *result, int figure)
{
    const double figures[FIGURES] = {
        [CLEAN] = number(result->clean),
        [BROKEN] = number(result->broken),
        [REACHED] = number(result->target_reached),
        [CHANGE_P25] = change(result, result->change_p25),
        [CHANGE_P50] = change(result, result->change_p50),
        [CHANGE_P75] = change(result, result->change_p75),
        [GRADIENTS] = number(result->gradients),
        [QUERIES] = number(result->queries),
        [SECONDS] = result->attack_s,
    };
    return figures[figure];
}

/* All runs of a trial were attacked as its keys say, so that the k-th attack of one is that of the others. */
static double attack_median(const struct attacked_runs *runs, size_t k, int figure)
{
    size_t count = 0;
    for (size_t r = 0; r < runs->count; r++) {
        const struct ys_attack_result *results = runs->items[r]->attacks.items;
        const double value = k < runs->items[r]->attacks.count ? figure_of(&results[k], figure) : (double)NAN;
        if (!isnan(value))
            runs->values[count++] = value;
    }
    return median(runs, count);
}

static void add_attacks(const struct attacked_runs *runs, struct ys_robustness_block *block)
{
    const struct ys_attack_result *first = runs->items[0]->attacks.items;
    for (size_t k = 0; k < runs->items[0]->attacks.count; k++) {
        struct ys_attack_block *one = ys_list_add(&ys_attack_block_record, &block->attacks);
        ys_set_text(&one->attack, first[k].attack);
        one->clean = attack_median(runs, k, CLEAN);
        one->broken = attack_median(runs, k, BROKEN);
        one->target_reached = attack_median(runs, k, REACHED);
        one->change_p25 = attack_median(runs, k, CHANGE_P25);
        one->change_p50 = attack_median(runs, k, CHANGE_P50);
        one->change_p75 = attack_median(runs, k, CHANGE_P75);
        one->gradients = attack_median(runs, k, GRADIENTS);
        one->queries = attack_median(runs, k, QUERIES);
        one->attack_s = attack_median(runs, k, SECONDS);
    }
}

/* `curve`: of the curve, else of the EPS that were asked for. */
static const struct ys_list *standings(const struct ys_robustness *found, bool curve)
{
    return curve ? &found->curve : &found->robust;
}

static void add_standings(const struct attacked_runs *runs, bool curve, struct ys_list *list)
{
    const struct ys_list *first = standings(runs->items[0], curve);
    for (size_t k = 0; k < first->count; k++) {
        struct ys_standing_block *one = ys_list_add(&ys_standing_block_record, list);
        size_t count = 0;
        for (size_t r = 0; r < runs->count; r++) {
            const struct ys_list *of_run = standings(runs->items[r], curve);
            const struct ys_eps_standing *items = of_run->items;
            if (k < of_run->count)
                runs->values[count++] = (double)items[k].standing / (double)runs->items[r]->rows;
        }
        one->eps = ((const struct ys_eps_standing *)first->items)[k].eps;
        one->accuracy = median(runs, count);
    }
}

static void add_corruptions(const struct attacked_runs *runs, struct ys_list *list)
{
    const struct ys_corruption_result *first = runs->items[0]->corruptions.items;
    for (size_t k = 0; k < runs->items[0]->corruptions.count; k++) {
        struct ys_corruption_block *one = ys_list_add(&ys_corruption_block_record, list);
        size_t count = 0;
        for (size_t r = 0; r < runs->count; r++) {
            const struct ys_corruption_result *items = runs->items[r]->corruptions.items;
            if (k < runs->items[r]->corruptions.count)
                runs->values[count++] = (double)items[k].right / (double)runs->items[r]->rows;
        }
        ys_set_text(&one->kind, first[k].kind);
        one->severity = first[k].severity;
        one->accuracy = median(runs, count);
    }
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Each once, with how many runs it is of, as the first of them has it. */
static void add_alarms(const struct ys_robustness *found, struct ys_list *list)
{
    const struct ys_attack_alarm *alarms = found->alarms.items;
    for (size_t i = 0; i < found->alarms.count; i++) {
        struct ys_alarm_block *items = list->items, *one = NULL;
        for (size_t k = 0; !one && k < list->count; k++)
            if (is_same(items[k].attack, alarms[i].attack) && is_same(items[k].alarm, alarms[i].alarm))
                one = &items[k];
        if (!one) {
            one = ys_list_add(&ys_alarm_block_record, list);
            ys_set_text(&one->attack, alarms[i].attack);
            ys_set_text(&one->alarm, alarms[i].alarm);
            one->value = alarms[i].value;
            one->threshold = alarms[i].threshold;
        }
        one->runs++;
    }
}

/* Whatever became of the run that they were attacked with. */
static void add_twins(const struct ys_metric_view_trial *trial, struct ys_list *list)
{
    for (size_t r = 0; r < trial->run_count && list->count == 0; r++) {
        const struct ys_facts_robustness *of_run = trial->runs[r].facts.robustness;
        struct ys_robustness *twins = of_run ? of_run->twins.items : NULL;
        for (size_t t = 0; of_run && t < of_run->twins.count; t++) {
            const struct ys_facts_robustness of_twin = {.found = &twins[t]}; /* borrows */
            struct ys_twin_block *one = ys_list_add(&ys_twin_block_record, list);
            one->robust_accuracy = ys_withstood_accuracy(&of_twin).value;
            one->perturbation_p50 = ys_withstood_change(&of_twin).value;
            one->corrupted_accuracy = ys_withstood_corruptions(&of_twin).value;
        }
    }
}

static void fill(const struct attacked_runs *runs, struct ys_robustness_block *block)
{
    for (size_t r = 0; r < runs->count; r++) {
        runs->values[r] = (double)runs->items[r]->clean / (double)runs->items[r]->rows;
        block->is_masked |= runs->items[r]->is_masked;
        add_alarms(runs->items[r], &block->alarms);
    }
    block->runs = (int64_t)runs->count;
    block->rows = runs->items[0]->rows;
    block->accuracy = median(runs, runs->count);
    add_attacks(runs, block);
    add_standings(runs, false, &block->robust);
    add_standings(runs, true, &block->curve);
    add_corruptions(runs, &block->corruptions);
}

static struct ys_robustness_block *make_block(void)
{
    struct ys_robustness_block *block = ys_alloc(1, sizeof *block);
    ys_record_init(&ys_robustness_block_record, block);
    return block;
}

/* Of the runs whose framework was asked; `computed`: of what it says it computed. */
static double question_median(const struct ys_metric_view_trial *trial, struct attacked_runs *runs, bool computed)
{
    size_t count = 0;
    for (size_t r = 0; r < trial->run_count; r++) {
        const struct ys_facts_robustness *found = find(&trial->runs[r]);
        const double value = !found ? (double)NAN : computed ? found->computed_s : found->question_s;
        if (!isnan(value))
            runs->values[count++] = value;
    }
    return count > 0 ? median(runs, count) : (double)NAN;
}

struct ys_robustness_block *ys_robustness_block(const struct ys_metric_view_trial *trial)
{
    struct attacked_runs runs = {.items = ys_alloc(trial->run_count, sizeof *runs.items),
                                 .values = ys_alloc(trial->run_count, sizeof(double)),
                                 .scratch = ys_alloc(trial->run_count, sizeof(double))};
    struct ys_robustness_block *block = NULL;
    for (size_t r = 0; r < trial->run_count; r++) {
        const struct ys_facts_robustness *found = find(&trial->runs[r]);
        if (!found)
            continue;
        if (!block)
            block = make_block();
        if (has_finished(found) && !found->reason)
            runs.items[runs.count++] = found->found;
        else
            ys_set_text(&block->reason, found->reason);
    }
    const bool is_any_whole = runs.count > 0;
    for (size_t r = 0; !is_any_whole && r < trial->run_count; r++) {
        const struct ys_facts_robustness *found = trial->runs[r].facts.robustness;
        if (!has_finished(found))
            continue;
        if (!block)
            block = make_block();
        runs.items[runs.count++] = found->found;
        ys_set_text(&block->reason, found->reason);
    }
    if (runs.count > 0)
        fill(&runs, block);
    if (block) {
        add_twins(trial, &block->twins);
        block->question_s = question_median(trial, &runs, false);
        block->computed_s = question_median(trial, &runs, true);
    }
    ys_free(runs.items);
    ys_free(runs.values);
    ys_free(runs.scratch);
    return block;
}

/* The trial of that index; NULL: it is not in the view, or its run of that round does not count. */
static const struct ys_metric_view_trial *find_counted(const struct ys_metric_view *view, int64_t index,
                                                       const struct ys_transfer_told *told)
{
    for (size_t t = 0; t < view->trial_count; t++) {
        const struct ys_metric_view_trial *trial = &view->trials[t];
        for (size_t r = 0; trial->record->index == index && r < trial->run_count; r++)
            if (trial->runs[r].round == told->round && trial->runs[r].attempt == told->attempt && trial->runs[r].ok &&
                trial->runs[r].counted)
                return trial;
    }
    return NULL;
}

static struct ys_result_transfer *find_transfer(struct ys_list *list, const char *attack,
                                                const struct ys_trial_record *from, const struct ys_trial_record *to)
{
    struct ys_result_transfer *items = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (is_same(items[i].attack, attack) && is_same(items[i].from, from->id) && is_same(items[i].to, to->id))
            return &items[i];
    struct ys_result_transfer *one = ys_list_add(&ys_result_transfer_record, list);
    ys_set_text(&one->section, from->section);
    ys_set_text(&one->attack, attack);
    ys_set_text(&one->from, from->id);
    ys_set_text(&one->to, to->id);
    return one;
}

void ys_transfers_add(const struct ys_metric_view_trial *trial, struct ys_transfers *transfers)
{
    for (size_t r = 0; r < trial->run_count; r++) {
        const struct ys_facts_robustness *found = find(&trial->runs[r]);
        const struct ys_facts_transfer *told = found ? found->transfers.items : NULL;
        for (size_t i = 0; found && i < found->transfers.count; i++) {
            transfers->items =
                ys_grown(transfers->items, transfers->count, &transfers->capacity, sizeof *transfers->items);
            struct ys_transfer_told *one = &transfers->items[transfers->count++];
            *one = (struct ys_transfer_told){
                .told = told[i], .round = trial->runs[r].round, .attempt = trial->runs[r].attempt};
            one->told.attack = ys_strdup(told[i].attack);
        }
    }
}

void ys_transfers_sum(const struct ys_metric_view *view, struct ys_transfers *transfers, struct ys_list *list)
{
    for (size_t i = 0; i < transfers->count; i++) {
        struct ys_transfer_told *one = &transfers->items[i];
        const struct ys_metric_view_trial *from = find_counted(view, one->told.from, one),
                                          *to = find_counted(view, one->told.to, one);
        if (from && to) {
            struct ys_result_transfer *sum = find_transfer(list, one->told.attack, from->record, to->record);
            sum->rounds++;
            sum->both_right += one->told.both_right;
            sum->broken += one->told.broken;
            sum->also_wrong += one->told.also_wrong;
        }
        ys_free(one->told.attack);
    }
    ys_free(transfers->items);
    *transfers = (struct ys_transfers){0};
}
