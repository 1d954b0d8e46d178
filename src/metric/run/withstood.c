#include "metric/run/withstood.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static struct ys_withstood nothing(const char *format, ...) __attribute__((format(printf, 1, 2)));
static struct ys_withstood nothing(const char *format, ...)
{
    struct ys_withstood found = {.value = NAN};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(found.reason, sizeof found.reason, format, arguments);
    va_end(arguments);
    return found;
}

/* Whether all that was to be done was done; else *why_not says why it was not. */
static bool is_finished(const struct ys_facts_robustness *robustness, struct ys_withstood *why_not)
{
    if (!robustness)
        *why_not = nothing("nothing was to attack the weights");
    else if (!robustness->found || robustness->reason)
        *why_not = nothing("%s is known of attacks: %s", robustness->found ? "not all" : "nothing",
                           robustness->reason ? robustness->reason : "not recorded");
    else
        return true;
    return false;
}

/* Whether there is something to make a number of; else *why_not says why there is not. */
static bool is_attacked(const struct ys_facts_robustness *robustness, struct ys_withstood *why_not)
{
    if (!is_finished(robustness, why_not))
        return false;
    if (robustness->found->clean > 0)
        return true;
    *why_not = nothing("no row was right before the attacks, so there was nothing to attack");
    return false;
}

struct ys_withstood ys_withstood_accuracy(const struct ys_facts_robustness *robustness)
{
    struct ys_withstood found;
    if (!is_attacked(robustness, &found))
        return found;
    const struct ys_eps_standing *smallest = robustness->found->robust.items;
    if (robustness->found->robust.count == 0)
        return nothing("no attack that is bounded by EPS was asked for");
    const double share = (double)smallest->standing / (double)robustness->found->rows;
    if (robustness->found->is_masked)
        return nothing("gradients may be masked: it is at most %.4g %%", 100 * share);
    return (struct ys_withstood){.value = share};
}

static bool is_of_l2(const char *text)
{
    struct ys_attacks attacks;
    return text && ys_attacks_read(text, &attacks) == YS_OK && attacks.count > 0 &&
           ys_attack_norm(attacks.items[0].kind) == YS_CHANGE_L2;
}

struct ys_withstood ys_withstood_change(const struct ys_facts_robustness *robustness)
{
    struct ys_withstood found;
    bool is_looked_for = false;
    if (!is_attacked(robustness, &found))
        return found;
    const struct ys_attack_result *attacks = robustness->found->attacks.items;
    for (size_t i = 0; i < robustness->found->attacks.count; i++)
        is_looked_for |= is_of_l2(attacks[i].attack);
    if (!is_looked_for)
        return nothing("no attack that looks for the smallest change was asked for");
    if (isnan(robustness->found->perturbation_p50))
        return nothing("at least half of the rows were not fooled, so the median is infinite");
    return (struct ys_withstood){.value = robustness->found->perturbation_p50};
}

struct ys_withstood ys_withstood_corruptions(const struct ys_facts_robustness *robustness)
{
    struct ys_withstood found;
    if (!is_finished(robustness, &found))
        return found;
    const struct ys_list *list = &robustness->found->corruptions;
    const struct ys_corruption_result *kinds = list->items;
    int64_t right = 0;
    if (list->count == 0)
        return nothing("no corruptions were asked for");
    for (size_t i = 0; i < list->count; i++)
        right += kinds[i].right;
    return (struct ys_withstood){.value = (double)right / (double)robustness->found->rows / (double)list->count};
}
