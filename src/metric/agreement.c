#include "metric/agreement.h"

#include "metric/build.h"

#include <math.h>

/* What the rounds come to: sums over those that have numbers. */
struct total {
    int64_t rounds, disagreements;
    double accuracy, reference_accuracy, logits_error;
    bool unknown_error; /* of some round it is not a finite number */
};

static const ys_json *of_run(const struct ys_metric_view_run *run)
{
    return run->counted && run->ok ? run->facts.agreement : NULL;
}

static ys_json *put_round(ys_status *status, const struct ys_metric_view_run *run, struct total *total)
{
    static const char *const copied[] = {"disagreements", "accuracy", "reference_accuracy", "logits_error", "reason"};
    const ys_json *found = of_run(run);
    ys_json *round = ys_json_object();
    ys_put_int(status, round, "round", run->round);
    for (size_t i = 0; i < sizeof copied / sizeof copied[0]; i++)
        ys_put_ref(status, round, copied[i], ys_json_get(found, copied[i]));
    if (ys_json_type_of(ys_json_get(found, "disagreements")) != YS_JSON_INT)
        return round;
    double error = ys_json_get_number(found, "logits_error", NAN);
    total->rounds++;
    total->disagreements += ys_json_get_int(found, "disagreements", 0);
    total->accuracy += ys_json_get_number(found, "accuracy", NAN);
    total->reference_accuracy += ys_json_get_number(found, "reference_accuracy", NAN);
    total->logits_error = fmax(total->logits_error, error);
    total->unknown_error |= isnan(error);
    return round;
}

/* Raises the errors in `layers` to those of one more run; an error that is not finite stays so. */
static void raise_layers(ys_status *status, ys_json *layers, const ys_json *more)
{
    for (size_t i = 0; i < ys_json_size(more); i++) {
        ys_json *layer = ys_json_at(layers, i);
        double known = ys_json_get_number(layer, "error", NAN),
               error = ys_json_get_number(ys_json_at(more, i), "error", NAN);
        ys_put_real(status, layer, "error", isnan(known) || isnan(error) ? NAN : fmax(known, error));
    }
}

/* The largest error of each value over the rounds; null, with the reason of the last round, where no round has any. */
static void put_layers(ys_status *status, const struct ys_metric_view_trial *trial, ys_json *block)
{
    ys_json *layers = NULL;
    const ys_json *last = NULL;
    for (size_t r = 0; r < trial->run_count; r++) {
        const ys_json *found = of_run(&trial->runs[r]), *here = ys_json_get(found, "layers");
        last = found ? found : last;
        if (ys_json_size(here) == 0)
            continue;
        if (!layers)
            layers = ys_json_copy(here);
        else
            raise_layers(status, layers, here);
    }
    ys_put_ref(status, block, "layers_rows", ys_json_get(last, "layers_rows"));
    ys_put_ref(status, block, "layers_reason", layers ? NULL : ys_json_get(last, "layers_reason"));
    ys_put(status, block, "layers", layers ? layers : ys_json_null());
}

ys_json *ys_agreement_block(ys_status *status, const struct ys_metric_view_trial *trial)
{
    static const char *const copied[] = {"reference", "weights_steps", "rows"};
    struct total total = {0};
    const ys_json *found = NULL;
    ys_json *rounds = ys_json_array();
    for (size_t r = 0; r < trial->run_count; r++) {
        if (!of_run(&trial->runs[r]))
            continue;
        found = of_run(&trial->runs[r]);
        ys_add(status, rounds, put_round(status, &trial->runs[r], &total));
    }
    if (!found) {
        ys_json_free(rounds);
        return ys_json_null();
    }
    ys_json *block = ys_json_object();
    const double n = (double)total.rounds;
    for (size_t i = 0; i < sizeof copied / sizeof copied[0]; i++)
        ys_put_ref(status, block, copied[i], ys_json_get(found, copied[i]));
    ys_put_int(status, block, "predictions", total.rounds * ys_json_get_int(found, "rows", 0));
    ys_put(status, block, "disagreements", n > 0 ? ys_json_int(total.disagreements) : ys_json_null());
    ys_put_real(status, block, "accuracy", total.accuracy / n);
    ys_put_real(status, block, "reference_accuracy", total.reference_accuracy / n);
    ys_put_real(status, block, "logits_error", n > 0 && !total.unknown_error ? total.logits_error : NAN);
    put_layers(status, trial, block);
    ys_put(status, block, "rounds", rounds);
    return block;
}
