#include "metric/run/target_reached.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Of the blocks from step `from` on: a checkpoint lies between two of them. */
static double span_from(const struct ys_series *first, const int64_t *spans, size_t blocks, int64_t from)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < blocks; i++)
        sum_ns += first->ints[i] >= from ? spans[i] : 0;
    return (double)sum_ns;
}

void ys_target_find(const struct ys_facts *facts, const struct ys_series *first, const int64_t *spans, size_t blocks,
                    struct ys_target_reached *found)
{
    const struct ys_facts_target *target = facts->target;
    const bool is_over = facts->status == YS_RUN_OK || facts->status == YS_RUN_NOT_CONVERGED;
    const bool is_met = target && target->step != YS_FIELD_NONE;
    *found = (struct ys_target_reached){NAN, NAN, NAN, NAN, "", "", ""};
    const char *why = !target    ? "no target was asked for (until)"
                      : !is_over ? "the run broke off"
                      : !blocks  ? "no step was timed"
                                 : NULL;
    snprintf(found->reason, sizeof found->reason, "%s", why ? why : facts->message ? facts->message : "");
    snprintf(found->no_limit, sizeof found->no_limit, "%s", why ? why : "the target was met");
    if (why)
        return;
    const double all_ns = span_from(first, spans, blocks, 0);
    if (!is_met) {
        found->limit_ns = all_ns;
        return;
    }
    found->reason[0] = 0;
    found->time_ns = all_ns;
    found->steps = (double)target->step;
    found->grain_ns = span_from(first, spans, blocks, target->before);
    snprintf(found->note, sizeof found->note,
             "met after more than %" PRId64 " and at most %" PRId64 " steps: nobody looked between", target->before,
             target->step);
}
