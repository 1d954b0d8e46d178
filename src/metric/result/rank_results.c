#include "metric/result/rank_results.h"

#include "base/mem.h"
#include "metric/json_builder.h"
#include "metric/result/wire_traffic.h"
#include "stat/summary.h"

#include <math.h>

#define OF_RANK(member, kind, unit, flags, what) YS_FIELD(struct ys_result_rank, member, kind, unit, flags, what)
#define REAL(member, unit, what)                 OF_RANK(member, YS_FIELD_REAL, unit, YS_FIELD_NULL, what)
#define ENDS(member, what)                       OF_RANK(member, YS_FIELD_JSON, "s", YS_FIELD_NULL, what)
#define WIRE(member, what)                       OF_RANK(member, YS_FIELD_REAL, "B", YS_FIELD_LATER | YS_FIELD_NULL, what)
#define HEARD(member, kind, unit, what)          OF_RANK(member, kind, unit, YS_FIELD_LATER | YS_FIELD_NULL, what)
static const char *const part_words[] = {[YS_RANK_COMPUTE] = "compute",
                                         [YS_RANK_OPTIMIZER] = "optimizer",
                                         [YS_RANK_FRAMEWORK] = "framework",
                                         [YS_RANK_INPUT] = "input",
                                         [YS_RANK_REST] = "rest"};
const struct ys_names ys_rank_parts = YS_NAMES("part of a step", part_words);

static const struct ys_field rank_fields[] = {
    OF_RANK(rank, YS_FIELD_INT, "1", 0, "counted from 0"),
    OF_RANK(host, YS_FIELD_TEXT, NULL, YS_FIELD_LATER | YS_FIELD_NULL, "that it was on; null: all were on one"),
    OF_RANK(clock_error_s, YS_FIELD_REAL, "s", YS_FIELD_LATER | YS_FIELD_NULL, "of its host's clock, the largest"),
    YS_FIELD_NAMED(struct ys_result_rank, status, &ys_run_statuses, YS_FIELD_NULL,
                   "how it ended in the failure that the trial tells of; ok without any"),
    OF_RANK(runs, YS_FIELD_INT, "1", 0, "that are ok, which the rest is of"),
    REAL(rate_per_s, "1/s", "rows of its own, median"),
    REAL(cpu_s, "s", "processor time, median"),
    REAL(cpu_wait_s, "s", "threads were ready and had no CPU, summed; median"),
    REAL(rss_peak_bytes, "B", "median"),
    REAL(threads_peak, "1", "median"),
    REAL(compute_s, "s", "of a step, median"),
    REAL(communication_s, "s", "of a step, median"),
    REAL(waiting_s, "s", "of a step, median"),
    OF_RANK(optimizer_s, YS_FIELD_REAL, "s", YS_FIELD_LATER | YS_FIELD_NULL, "of a step, median"),
    OF_RANK(framework_s, YS_FIELD_REAL, "s", YS_FIELD_LATER | YS_FIELD_NULL, "of a step, median"),
    REAL(input_s, "s", "of a step, median"),
    REAL(rest_s, "s", "of a step, median"),
    ENDS(compute_ci, "of that median"),
    ENDS(communication_ci, "of that median"),
    ENDS(waiting_ci, "of that median"),
    OF_RANK(optimizer_ci, YS_FIELD_JSON, "s", YS_FIELD_LATER | YS_FIELD_NULL, "of that median"),
    OF_RANK(framework_ci, YS_FIELD_JSON, "s", YS_FIELD_LATER | YS_FIELD_NULL, "of that median"),
    ENDS(input_ci, "of that median"),
    ENDS(rest_ci, "of that median"),
    REAL(level, "1", "true level of these intervals"),
    YS_FIELD_NAMED(struct ys_result_rank, late_part, &ys_rank_parts, YS_FIELD_NULL,
                   "what of its own takes longer than that of others by most"),
    REAL(late_s, "s", "by how much for a step, median"),
    ENDS(late_ci, "of that median"),
    REAL(sent_bytes, "B", "to other ranks for a step, median"),
    OF_RANK(untimed, YS_FIELD_TEXT, NULL, YS_FIELD_LATER | YS_FIELD_NULL, "why the parts of its step are null"),
    OF_RANK(interface, YS_FIELD_TEXT, NULL, YS_FIELD_LATER | YS_FIELD_NULL, "of its host, which the next ones are of"),
    WIRE(wire_sent_bytes, "that went out for a step, median"),
    WIRE(wire_received_bytes, "that came in for a step, median"),
    WIRE(wire_needed_bytes,
         "that the way named has to send from there for a step; of mean and servers the mean over hosts"),
    HEARD(collective_library, YS_FIELD_TEXT, NULL, "whose collectives; null: nothing is known of them"),
    HEARD(collective_reason, YS_FIELD_TEXT, NULL, "why something is not known of them"),
    HEARD(collective_calls, YS_FIELD_REAL, "1", "of a step, median"),
    HEARD(collective_bytes, YS_FIELD_REAL, "B", "handed to them for a step, median"),
    HEARD(collective_s, YS_FIELD_REAL, "s", "of a step: at least one was under way; median"),
    HEARD(hidden_s, YS_FIELD_REAL, "s", "of that, while it did not wait for its gradients; median"),
};
const struct ys_record ys_result_rank_record = YS_RECORD("rank", struct ys_result_rank, rank_fields);

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

static ys_json *ends_of(const struct ys_interval *interval)
{
    return interval->known ? ys_interval_ends(interval, false) : NULL;
}

static void tell_figures(const struct telling *telling, struct ys_result_rank *told)
{
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        const struct ys_summary summary = summarize(telling, (size_t)told->rank, figures[i].value, false);
        *(double *)((char *)told + figures[i].value) = summary.median;
        if (figures[i].ci == NO_CI)
            continue;
        *(ys_json **)((char *)told + figures[i].ci) = ends_of(&summary.interval);
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
    told->late_ci = ends_of(&interval);
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
    ys_record_init(&ys_result_rank_record, told);
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

ys_json *ys_ranks_block(const struct ys_metric_view_trial *trial)
{
    size_t count = 0;
    for (size_t i = 0; i < trial->run_count; i++)
        if (trial->runs[i].counted && trial->runs[i].facts.ranks.count > count)
            count = trial->runs[i].facts.ranks.count;
    if (count == 0)
        return NULL;
    struct telling telling = {.trial = trial,
                              .ranks = count,
                              .values = ys_alloc(trial->run_count, sizeof(double)),
                              .others = ys_alloc(count, sizeof(double)),
                              .scratch = ys_alloc(count, sizeof(double))};
    ys_json *array = ys_json_array();
    for (size_t r = 0; r < count; r++) {
        struct ys_result_rank told;
        tell_rank(&telling, r, &told);
        ys_json_append(array, ys_record_json(&ys_result_rank_record, &told));
        ys_record_fini(&ys_result_rank_record, &told);
    }
    ys_free(telling.values);
    ys_free(telling.others);
    ys_free(telling.scratch);
    return array;
}
