#include "metric/result/rank_results.h"

#include "base/mem.h"
#include "metric/result/wire_traffic.h"
#include "stat/summary.h"

#include <math.h>

static double number(int64_t count)
{
    return count == YS_FIELD_NONE ? (double)NAN : (double)count;
}

/* What one run says of a rank, as the trial says it. */
static struct ys_result_rank read_rank(const struct ys_facts *facts, int precision, const struct ys_facts_rank *rank)
{
    const struct ys_wire wire = ys_wire_of(facts, precision, ys_wire_find(facts, rank->rank));
    const struct ys_facts_collectives *heard = rank->collectives;
    return (struct ys_result_rank){.rate_per_s = rank->rate_per_s,
                                   .cpu_s = rank->cpu_s,
                                   .cpu_wait_s = rank->cpu_wait_s,
                                   .rss_peak_bytes = number(rank->rss_peak_bytes),
                                   .threads_peak = number(rank->threads_peak),
                                   .compute_s = rank->compute_s,
                                   .communication_s = rank->communication_s,
                                   .waiting_s = rank->waiting_s,
                                   .optimizer_s = rank->optimizer_s,
                                   .framework_s = rank->framework_s,
                                   .input_s = rank->input_s,
                                   .rest_s = rank->rest_s,
                                   .sent_bytes = rank->sent_bytes,
                                   .wire_sent_bytes = wire.sent_bytes,
                                   .wire_received_bytes = wire.received_bytes,
                                   .wire_needed_bytes = wire.needed_bytes,
                                   .collective_calls = heard ? heard->step_calls : NAN,
                                   .collective_bytes = heard ? heard->step_bytes : NAN,
                                   .collective_s = heard ? heard->busy_s : NAN,
                                   .hidden_s = heard ? heard->hidden_s : NAN};
}

static const struct ys_facts_rank *rank_of(const struct ys_facts *facts, size_t rank)
{
    return facts && rank < facts->ranks.count ? (const struct ys_facts_rank *)facts->ranks.items + rank : NULL;
}

#define AT(member) offsetof(struct ys_result_rank, member)
/* Every member of struct ys_result_rank that is a median over runs of what each says of the rank, and where its
 * interval is told: parts of a step have one, nothing else. */
enum { NO_CI = 0 }; /* the rank's number lies there */
static const struct {
    size_t value, ci;
} figures[] = {{AT(rate_per_s), NO_CI},
               {AT(cpu_s), NO_CI},
               {AT(cpu_wait_s), NO_CI},
               {AT(rss_peak_bytes), NO_CI},
               {AT(threads_peak), NO_CI},
               {AT(compute_s), AT(compute_ci)},
               {AT(communication_s), AT(communication_ci)},
               {AT(waiting_s), AT(waiting_ci)},
               {AT(optimizer_s), AT(optimizer_ci)},
               {AT(framework_s), AT(framework_ci)},
               {AT(input_s), AT(input_ci)},
               {AT(rest_s), AT(rest_ci)},
               {AT(sent_bytes), NO_CI},
               {AT(wire_sent_bytes), NO_CI},
               {AT(wire_received_bytes), NO_CI},
               {AT(wire_needed_bytes), NO_CI},
               {AT(collective_calls), NO_CI},
               {AT(collective_bytes), NO_CI},
               {AT(collective_s), NO_CI},
               {AT(hidden_s), NO_CI}};

/* Those that make a rank late. */
static const size_t late_parts[] = {[YS_RANK_COMPUTE] = AT(compute_s),
                                    [YS_RANK_OPTIMIZER] = AT(optimizer_s),
                                    [YS_RANK_FRAMEWORK] = AT(framework_s),
                                    [YS_RANK_INPUT] = AT(input_s),
                                    [YS_RANK_REST] = AT(rest_s)};

/* Where the ranks of a trial are told. */
struct telling {
    const struct ys_metric_view_trial *trial;
    size_t ranks;
    double *values, *others, *scratch; /* room for one of each run, for one of each rank, and for either */
};

static double figure_of(const struct telling *telling, const struct ys_metric_view_run *run, size_t rank, size_t figure)
{
    const struct ys_facts_rank *told = rank_of(&run->facts, rank);
    if (!run->counted || !run->ok || !told)
        return NAN;
    const struct ys_result_rank one = read_rank(&run->facts, telling->trial->record->keys.precision, told);
    return *(const double *)((const char *)&one + figure);
}

/** By how much it exceeds the median of the other ranks in this run; NaN where it or one of them is not known. */
static double excess_of(const struct telling *telling, const struct ys_metric_view_run *run, size_t rank, size_t figure)
{
    size_t count = 0;
    for (size_t r = 0; r < telling->ranks; r++) {
        const double value = figure_of(telling, run, r, figure);
        if (isnan(value))
            return NAN;
        if (r != rank)
            telling->others[count++] = value;
    }
    return figure_of(telling, run, rank, figure) - ys_stat_median(telling->others, count, telling->scratch);
}

/** Over the runs of which it is known. */
static struct ys_summary summarize(const struct telling *telling, size_t rank, size_t figure, bool excess)
{
    size_t count = 0;
    for (size_t i = 0; i < telling->trial->run_count; i++) {
        const struct ys_metric_view_run *run = &telling->trial->runs[i];
        const double value = excess ? excess_of(telling, run, rank, figure) : figure_of(telling, run, rank, figure);
        if (!isnan(value))
            telling->values[count++] = value;
    }
    return ys_stat_summarize(telling->values, count);
}

static void set_ends(struct ys_list *ends, const struct ys_interval *interval)
{
    if (!interval->known)
        return;
    double *items = ys_alloc(2, sizeof *items);
    items[0] = interval->lo;
    items[1] = interval->hi;
    *ends = (struct ys_list){items, 2};
}

static void tell_figures(const struct telling *telling, struct ys_result_rank *told)
{
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        const struct ys_summary summary = summarize(telling, (size_t)told->rank, figures[i].value, false);
        *(double *)((char *)told + figures[i].value) = summary.median;
        if (figures[i].ci == NO_CI)
            continue;
        set_ends((struct ys_list *)((char *)told + figures[i].ci), &summary.interval);
        told->level = summary.interval.level;
    }
}

static void tell_late(const struct telling *telling, struct ys_result_rank *told)
{
    struct ys_interval interval = {.known = false};
    for (size_t k = 0; telling->ranks > 1 && !isnan(told->compute_s) && k < sizeof late_parts / sizeof late_parts[0];
         k++) {
        const struct ys_summary summary = summarize(telling, (size_t)told->rank, late_parts[k], true);
        if (isnan(summary.median) || summary.median <= told->late_s)
            continue;
        told->late_part = (int)k;
        told->late_s = summary.median;
        interval = summary.interval;
    }
    set_ends(&told->late_ci, &interval);
}

/** As the adapter says it, where it does. */
static void tell_untimed(const struct ys_metric_view_trial *trial, struct ys_result_rank *told)
{
    if (!isnan(told->compute_s) || told->runs == 0)
        return;
    ys_set_text(&told->untimed, "its adapter does not say when gradients were there and when they were those of "
                                "all");
    for (size_t i = 0; i < trial->run_count; i++)
        if (trial->runs[i].counted && trial->runs[i].ok && trial->runs[i].facts.said.untimed)
            ys_set_text(&told->untimed, trial->runs[i].facts.said.untimed);
}

static const struct ys_facts_node *node_of(const struct ys_facts *facts, int64_t node)
{
    return node >= 0 && (size_t)node < facts->nodes.count ? (const struct ys_facts_node *)facts->nodes.items + node
                                                          : NULL;
}

/** As the runs have it; where one was on another host than that before it, the last one's. */
static void tell_host(const struct ys_metric_view_trial *trial, struct ys_result_rank *told)
{
    for (size_t i = 0; i < trial->run_count; i++) {
        const struct ys_metric_view_run *run = &trial->runs[i];
        const struct ys_facts_rank *rank = run->counted ? rank_of(&run->facts, (size_t)told->rank) : NULL;
        const struct ys_facts_node *node = rank ? node_of(&run->facts, rank->node) : NULL;
        if (!node)
            continue;
        ys_set_text(&told->host, node->host);
        if (node->clock_error_ns != YS_FIELD_NONE)
            told->clock_error_s = fmax(told->clock_error_s, (double)node->clock_error_ns * 1e-9); /* passes NaN over */
    }
}

static void tell_interface(const struct ys_metric_view_trial *trial, struct ys_result_rank *told)
{
    for (size_t i = 0; i < trial->run_count && !told->interface; i++) {
        const struct ys_metric_view_run *run = &trial->runs[i];
        const size_t network = ys_wire_find(&run->facts, told->rank);
        if (run->counted && run->ok)
            ys_set_text(&told->interface, ys_wire_of(&run->facts, trial->record->keys.precision, network).interface);
    }
}

/** As the last run has it. */
static void tell_library(const struct ys_metric_view_trial *trial, struct ys_result_rank *told)
{
    for (size_t i = 0; i < trial->run_count; i++) {
        const struct ys_metric_view_run *run = &trial->runs[i];
        const struct ys_facts_rank *rank = run->counted && run->ok ? rank_of(&run->facts, (size_t)told->rank) : NULL;
        if (!rank || !rank->collectives)
            continue;
        ys_set_text(&told->collective_library, rank->collectives->library);
        ys_set_text(&told->collective_reason, rank->collectives->reason);
    }
}

static void tell_rank(const struct telling *telling, size_t rank, struct ys_result_rank *told)
{
    const struct ys_metric_view_trial *trial = telling->trial;
    const struct ys_facts_rank *failed = rank_of(trial->failure ? &trial->failure->facts : NULL, rank);
    told->rank = (int64_t)rank;
    tell_host(trial, told);
    tell_interface(trial, told);
    tell_library(trial, told);
    told->status = failed ? failed->status : trial->failure ? YS_NAME_NONE : (int)YS_RUN_OK;
    for (size_t i = 0; i < trial->run_count; i++)
        told->runs += trial->runs[i].counted && trial->runs[i].ok;
    tell_figures(telling, told);
    tell_untimed(trial, told);
    tell_late(telling, told);
}

struct ys_list ys_ranks_list(const struct ys_metric_view_trial *trial)
{
    struct ys_list ranks = {0};
    size_t count = 0;
    for (size_t i = 0; i < trial->run_count; i++)
        if (trial->runs[i].counted && trial->runs[i].facts.ranks.count > count)
            count = trial->runs[i].facts.ranks.count;
    if (count == 0)
        return ranks;
    struct telling telling = {.trial = trial,
                              .ranks = count,
                              .values = ys_alloc(trial->run_count, sizeof(double)),
                              .others = ys_alloc(count, sizeof(double)),
                              .scratch = ys_alloc(count, sizeof(double))};
    for (size_t r = 0; r < count; r++)
        tell_rank(&telling, r, ys_list_add(&ys_result_rank_record, &ranks));
    ys_free(telling.values);
    ys_free(telling.others);
    ys_free(telling.scratch);
    return ranks;
}
