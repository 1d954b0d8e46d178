#include "metric/result/prediction_agreement.h"

#include "base/mem.h"

#include <math.h>

#define TEXT(type, member, what)  YS_FIELD(type, member, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, what)
#define VALUE(type, member, what) YS_FIELD(type, member, YS_FIELD_JSON, NULL, YS_FIELD_NULL, what)
#define REAL(type, member, what)  YS_FIELD(type, member, YS_FIELD_REAL, "1", YS_FIELD_NULL, what)
#define COUNT(type, member, what) YS_FIELD(type, member, YS_FIELD_INT, "1", YS_FIELD_NULL, what)
#define ERRORS(type)                                                                                                   \
    COUNT(type, disagreements, "answers that differ from the reference's; null: there are none"),                      \
        REAL(type, accuracy, "of the framework"), REAL(type, reference_accuracy, "of the reference"),                  \
        REAL(type, logits_error, "largest difference over largest value; null: not finite")

#define LAYER struct ys_agreement_layer
static const struct ys_field layer_fields[] = {TEXT(LAYER, value, "of the graph"), TEXT(LAYER, op, "that makes it"),
                                               REAL(LAYER, error, "largest difference over largest value")};
const struct ys_record ys_agreement_layer_record = YS_RECORD("layer", LAYER, layer_fields);

#define ROUND struct ys_agreement_round
static const struct ys_field round_fields[] = {COUNT(ROUND, round, "from 0"), ERRORS(ROUND),
                                               TEXT(ROUND, reason, "why there are no predictions")};
const struct ys_record ys_agreement_round_record = YS_RECORD("round", ROUND, round_fields);

#define BLOCK struct ys_agreement_block
static const struct ys_field block_fields[] = {
    TEXT(BLOCK, reference, "who is right"),
    COUNT(BLOCK, weights_steps, "that the weights were trained"),
    COUNT(BLOCK, rows, "that were predicted"),
    COUNT(BLOCK, predictions, "rows of all rounds"),
    ERRORS(BLOCK),
    COUNT(BLOCK, layers_rows, "that values inside the network were compared on"),
    TEXT(BLOCK, layers_reason, "why they were not"),
    VALUE(BLOCK, layers, "the largest error of each over the rounds"),
    VALUE(BLOCK, rounds, "each of them"),
};
const struct ys_record ys_agreement_block_record = YS_RECORD("agreement", BLOCK, block_fields);

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
                                       .logits_error = found->logits_error,
                                       .reason = found->reason};
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

/* Raises the errors in `layers` to those of one more run; an error that is not finite stays so. */
static void raise_layers(const struct ys_list *more, struct ys_list *layers)
{
    const struct ys_facts_layer *from = more->items;
    bool is_first = !layers->items;
    if (more->count == 0)
        return;
    if (is_first)
        *layers = (struct ys_list){ys_alloc(more->count, sizeof(struct ys_agreement_layer)), more->count};
    struct ys_agreement_layer *items = layers->items;
    for (size_t i = 0; i < more->count && i < layers->count; i++) {
        if (is_first)
            items[i] = (struct ys_agreement_layer){from[i].value, from[i].op, from[i].error};
        else
            items[i].error =
                isnan(items[i].error) || isnan(from[i].error) ? (double)NAN : fmax(items[i].error, from[i].error);
    }
}

ys_json *ys_agreement_block(const struct ys_metric_view_trial *trial)
{
    struct total total = {0};
    struct ys_agreement_block block = {.reference = NULL};
    struct ys_list layers = {0};
    ys_json *rounds = ys_json_array();
    bool any = false;
    for (size_t r = 0; r < trial->run_count; r++) {
        const struct ys_facts_agreement *found = find(&trial->runs[r]);
        if (!found)
            continue;
        const struct ys_agreement_round round = round_of(&trial->runs[r], found);
        any = true;
        block = (struct ys_agreement_block){.reference = found->reference,
                                            .weights_steps = found->weights_steps,
                                            .rows = found->rows,
                                            .layers_rows = found->layers_rows,
                                            .layers_reason = found->layers_reason};
        add_round(&round, &total);
        ys_json_append(rounds, ys_record_json(&ys_agreement_round_record, &round));
        raise_layers(&found->layers, &layers);
    }
    const double n = (double)total.rounds;
    ys_json *made = layers.items ? ys_list_json(&ys_agreement_layer_record, &layers) : NULL;
    block.predictions = total.rounds * (block.rows == YS_FIELD_NONE ? 0 : block.rows);
    block.disagreements = total.rounds > 0 ? total.disagreements : YS_FIELD_NONE;
    block.accuracy = total.accuracy / n;
    block.reference_accuracy = total.reference_accuracy / n;
    block.logits_error = n > 0 && !total.unknown_error ? total.logits_error : (double)NAN;
    block.layers_reason = layers.items ? NULL : block.layers_reason;
    block.layers = made;
    block.rounds = rounds;
    ys_json *told = any ? ys_record_json(&ys_agreement_block_record, &block) : ys_json_null();
    ys_json_free(made);
    ys_json_free(rounds);
    ys_free(layers.items);
    return told;
}
