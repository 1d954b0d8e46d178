#include "quant/layer_network.h"
#include "quant/rounding.h"

#include <math.h>

/* So far from an integer a number that stands for one may lie: float32 holds 255 steps to 2^-16. */
static const double GRID = 0.01;
/* Two products of 255 * 127 that saturate are 0.506 of what they are. */
static const double SATURATED = 0.75;

/* Whether a step more or less may be rounding. */
static bool is_in_band(const struct ys_shown_layer *layer, int64_t at, double got)
{
    const double exact = layer->exact[at], to_half = fabs(exact - floor(exact) - 0.5);
    return !layer->no_band && to_half <= YS_LAYER_BAND * (layer->size[at] + UINT8_MAX) &&
           (got == floor(exact) + layer->zero_point || got == ceil(exact) + layer->zero_point);
}

/* Wrong elements of one layer; those that a band allows are counted. */
static int64_t judge_one(const struct ys_layer_network *network, const struct ys_shown_layer *layer,
                         const double *logits, struct ys_layer_verdict *verdict)
{
    int64_t wrong = 0;
    for (int64_t row = 0; row < network->rows; row++)
        for (int64_t i = 0; i < layer->length; i++) {
            const int64_t at = row * layer->length + i;
            const double steps = logits[row * network->columns + layer->offset + i] / layer->scale;
            const double got = ys_quant_round(steps) + layer->zero_point;
            const double right = ys_quant_steps(layer->exact[at], layer->zero_point, layer->low, layer->high);
            if (fabs(steps - ys_quant_round(steps)) <= GRID && got == right)
                continue;
            if (fabs(steps - ys_quant_round(steps)) <= GRID && is_in_band(layer, at, got)) {
                verdict->in_band++;
                continue;
            }
            if (wrong++ == 0 && !verdict->first && layer->kind != YS_LAYER_LONG_SUMS) {
                verdict->first = layer;
                verdict->exact = layer->exact[at] + layer->zero_point;
                verdict->got = steps + layer->zero_point;
            }
            if (layer->kind == YS_LAYER_PAIRS && steps < SATURATED * layer->exact[at])
                verdict->saturates = true;
        }
    return wrong;
}

void ys_layer_judge(const struct ys_layer_network *network, const double *logits, struct ys_layer_verdict *verdict)
{
    *verdict = (struct ys_layer_verdict){0};
    for (size_t i = 0; i < network->count; i++) {
        const struct ys_shown_layer *layer = &network->items[i];
        const int64_t wrong = judge_one(network, layer, logits, verdict);
        if (layer->kind == YS_LAYER_LONG_SUMS) {
            verdict->is_float |= wrong > 0;
            continue;
        }
        verdict->elements += network->rows * layer->length;
        verdict->wrong += wrong;
        verdict->operators += layer->kind == YS_LAYER_OPERATOR;
    }
}
