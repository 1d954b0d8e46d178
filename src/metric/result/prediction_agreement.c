#include "metric/result/prediction_agreement.h"

#include "base/mem.h"
#include "stat/mcnemar.h"
#include "stat/summary.h"

#include <math.h>

/* What the rounds come to: sums over those that have numbers. */
struct total {
    int64_t rounds, disagreements;
    double accuracy, reference_accuracy, logits_error;
    bool unknown_error; /* of some round it is not a finite number */
};

/* What a run that counts found; NULL where it is none, or found nothing. */
static const struct ys_facts_agreement *find(const struct ys_metric_view_run *run)
{
    return run->counted && run->ok ? run->facts.agreement : NULL;
}

static struct ys_agreement_round round_of(const struct ys_metric_view_run *run, const struct ys_facts_agreement *found)
{
    return (struct ys_agreement_round){.round = run->round,
                                       .disagreements = found->disagreements,
                                       .accuracy = found->accuracy,
                                       .reference_accuracy = found->reference_accuracy,
                                       .only_here = found->only_here,
                                       .only_reference = found->only_reference,
                                       .logits_error = found->logits_error,
                                       .reason = ys_strdup(found->reason)};
}

static void add_round(const struct ys_agreement_round *round, struct total *total)
{
    if (round->disagreements == YS_FIELD_NONE)
        return;
    total->rounds++;
    total->disagreements += round->disagreements;
    total->accuracy += round->accuracy;
    total->reference_accuracy += round->reference_accuracy;
    total->logits_error = fmax(total->logits_error, round->logits_error);
    total->unknown_error |= isnan(round->logits_error);
}

/* What became of the accuracy. The rounds have the same rows: so that they narrow no interval over rows, counts of it
 * are their means. */
static void tell_change(const struct ys_agreement_round *rounds, size_t count, struct ys_agreement_block *block)
{
    double *changes = ys_alloc(count, sizeof *changes), here = 0, there = 0, p = 0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        if (rounds[i].only_here == YS_FIELD_NONE || rounds[i].only_reference == YS_FIELD_NONE)
            continue;
        here += (double)rounds[i].only_here;
        there += (double)rounds[i].only_reference;
        p = fmax(p, ys_mcnemar_p((size_t)rounds[i].only_here, (size_t)rounds[i].only_reference));
        changes[known++] = rounds[i].accuracy - rounds[i].reference_accuracy;
    }
    const struct ys_summary over_rounds = ys_stat_summarize(changes, known);
    ys_free(changes);
    block->change = block->change_lo = block->change_hi = block->change_p = NAN;
    block->rounds_lo = over_rounds.interval.lo;
    block->rounds_hi = over_rounds.interval.hi;
    if (known == 0 || block->rows == YS_FIELD_NONE)
        return;
    const double n = (double)known, rows = (double)block->rows;
    block->change = (here - there) / n / rows;
    block->change_p = p;
    ys_tango_interval(here / n, there / n, rows, &block->change_lo, &block->change_hi);
}

/* Raises the errors in `layers` to those of one more run; an error that is not finite stays so. */
static void raise_layers(const struct ys_list *more, struct ys_list *layers)
{
    const struct ys_facts_layer *from = more->items;
    struct ys_agreement_layer *items = layers->items;
    for (size_t i = 0; items && i < more->count && i < layers->count; i++)
        items[i].error =
            isnan(items[i].error) || isnan(from[i].error) ? (double)NAN : fmax(items[i].error, from[i].error);
    if (items || more->count == 0)
        return;
    *layers = (struct ys_list){items = ys_alloc(more->count, sizeof *items), more->count};
    for (size_t i = 0; i < more->count; i++)
        items[i] = (struct ys_agreement_layer){ys_strdup(from[i].value), ys_strdup(from[i].op), from[i].error};
}

struct ys_agreement_block *ys_agreement_block(const struct ys_metric_view_trial *trial)
{
    struct total total = {0};
    const struct ys_facts_agreement *last = NULL;
    struct ys_agreement_round *rounds = ys_alloc(trial->run_count, sizeof *rounds);
    struct ys_list layers = {0};
    size_t count = 0;
    for (size_t r = 0; r < trial->run_count; r++) {
        const struct ys_facts_agreement *found = find(&trial->runs[r]);
        if (!found)
            continue;
        last = found;
        rounds[count] = round_of(&trial->runs[r], found);
        add_round(&rounds[count++], &total);
        raise_layers(&found->layers, &layers);
    }
    if (!last) {
        ys_free(rounds);
        return NULL;
    }
    struct ys_agreement_block *block = ys_alloc(1, sizeof *block);
    const double n = (double)total.rounds;
    *block = (struct ys_agreement_block){
        .reference = ys_strdup(last->reference),
        .weights_steps = last->weights_steps,
        .rows = last->rows,
        .predictions = total.rounds * (last->rows == YS_FIELD_NONE ? 0 : last->rows),
        .disagreements = total.rounds > 0 ? total.disagreements : YS_FIELD_NONE,
        .accuracy = total.accuracy / n,
        .reference_accuracy = total.reference_accuracy / n,
        .logits_error = n > 0 && !total.unknown_error ? total.logits_error : (double)NAN,
        .classes = last->classes,
        .layers_rows = last->layers_rows,
        .layers_reason = layers.items ? NULL : ys_strdup(last->layers_reason),
        .layers = layers,
        .rounds = {rounds, count},
    };
    char *const *in_float = last->in_float.items;
    for (size_t i = 0; i < last->in_float.count; i++)
        ys_list_add_text(&block->in_float, in_float[i]);
    tell_change(rounds, count, block);
    return block;
}
