#include "metric/ranks.h"

#include "base/mem.h"
#include "metric/build.h"
#include "stat/summary.h"

#include <math.h>

#define OF_RANK(member, kind, unit, flags, what) YS_FIELD(struct ys_result_rank, member, kind, unit, flags, what)
#define REAL(member, unit, what)                 OF_RANK(member, YS_FIELD_REAL, unit, YS_FIELD_NULL, what)
static const struct ys_field rank_fields[] = {
    OF_RANK(rank, YS_FIELD_INT, "1", 0, "counted from 0"),
    YS_FIELD_NAMED(struct ys_result_rank, status, &ys_run_statuses, YS_FIELD_NULL,
                   "how it ended in the failure that the trial tells of; ok without any"),
    OF_RANK(runs, YS_FIELD_INT, "1", 0, "that are ok, which the rest is of"),
    REAL(rate_per_s, "1/s", "rows of its own, median"),
    REAL(cpu_s, "s", "processor time, median"),
    REAL(cpu_wait_s, "s", "threads were ready and had no CPU, summed; median"),
    REAL(rss_peak_bytes, "B", "median"),
    REAL(threads_peak, "1", "median"),
    REAL(compute_s, "s", "of a step, mean"),
    REAL(communication_s, "s", "of a step, mean"),
    REAL(waiting_s, "s", "of a step, mean"),
    REAL(input_s, "s", "of a step, mean"),
    REAL(rest_s, "s", "of a step, mean"),
    REAL(sent_bytes, "B", "to other ranks for a step, median"),
};
const struct ys_record ys_result_rank_record = YS_RECORD("rank", struct ys_result_rank, rank_fields);

static double number(int64_t count)
{
    return count == YS_FIELD_NONE ? (double)NAN : (double)count;
}

/* What one run says of a rank, as the trial says it. */
static struct ys_result_rank read_rank(const struct ys_facts_rank *rank)
{
    return (struct ys_result_rank){.rate_per_s = rank->rate_per_s,
                                   .cpu_s = rank->cpu_s,
                                   .cpu_wait_s = rank->cpu_wait_s,
                                   .rss_peak_bytes = number(rank->rss_peak_bytes),
                                   .threads_peak = number(rank->threads_peak),
                                   .compute_s = rank->compute_s,
                                   .communication_s = rank->communication_s,
                                   .waiting_s = rank->waiting_s,
                                   .input_s = rank->input_s,
                                   .rest_s = rank->rest_s,
                                   .sent_bytes = rank->sent_bytes};
}

static const struct ys_facts_rank *rank_of(const struct ys_facts *facts, size_t rank)
{
    return facts && rank < facts->ranks.count ? (const struct ys_facts_rank *)facts->ranks.items + rank : NULL;
}

/* Numbers of runs, of which those that are known count. */
struct numbers {
    double *values, *scratch; /* room for one of each run */
    size_t count;
};

static double middle(const struct numbers *numbers)
{
    return ys_stat_median(numbers->values, numbers->count, numbers->scratch);
}

static double mean(const struct numbers *numbers)
{
    double sum = 0;
    for (size_t i = 0; i < numbers->count; i++)
        sum += numbers->values[i];
    return numbers->count ? sum / (double)numbers->count : (double)NAN;
}

/* Every member of struct ys_result_rank that is a double, with what is made of those of the runs. */
static const struct {
    size_t offset;
    double (*summary)(const struct numbers *numbers);
} figures[] = {
    {offsetof(struct ys_result_rank, rate_per_s), middle},    {offsetof(struct ys_result_rank, cpu_s), middle},
    {offsetof(struct ys_result_rank, cpu_wait_s), middle},    {offsetof(struct ys_result_rank, rss_peak_bytes), middle},
    {offsetof(struct ys_result_rank, threads_peak), middle},  {offsetof(struct ys_result_rank, compute_s), mean},
    {offsetof(struct ys_result_rank, communication_s), mean}, {offsetof(struct ys_result_rank, waiting_s), mean},
    {offsetof(struct ys_result_rank, input_s), mean},         {offsetof(struct ys_result_rank, rest_s), mean},
    {offsetof(struct ys_result_rank, sent_bytes), middle},
};

static double figure_of(const struct ys_metric_view_trial *trial, size_t rank, size_t figure, struct numbers *numbers)
{
    numbers->count = 0;
    for (size_t i = 0; i < trial->run_count; i++) {
        const struct ys_metric_view_run *run = &trial->runs[i];
        const struct ys_facts_rank *told = rank_of(&run->facts, rank);
        if (!run->counted || !run->ok || !told)
            continue;
        const struct ys_result_rank one = read_rank(told);
        const double value = *(const double *)((const char *)&one + figures[figure].offset);
        if (!isnan(value))
            numbers->values[numbers->count++] = value;
    }
    return figures[figure].summary(numbers);
}

static struct ys_result_rank tell_rank(const struct ys_metric_view_trial *trial, size_t rank, struct numbers *numbers)
{
    const struct ys_facts_rank *failed = rank_of(trial->failure ? &trial->failure->facts : NULL, rank);
    struct ys_result_rank told = {.rank = (int64_t)rank,
                                  .status = failed           ? failed->status
                                            : trial->failure ? YS_NAME_NONE
                                                             : (int)YS_RUN_OK};
    for (size_t i = 0; i < trial->run_count; i++)
        told.runs += trial->runs[i].counted && trial->runs[i].ok;
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        *(double *)((char *)&told + figures[i].offset) = figure_of(trial, rank, i, numbers);
    return told;
}

ys_json *ys_ranks_block(ys_status *status, const struct ys_metric_view_trial *trial)
{
    size_t count = 0;
    for (size_t i = 0; i < trial->run_count; i++)
        if (trial->runs[i].counted && trial->runs[i].facts.ranks.count > count)
            count = trial->runs[i].facts.ranks.count;
    if (*status != YS_OK || count == 0)
        return NULL;
    struct numbers numbers = {.values = ys_alloc(trial->run_count, sizeof(double)),
                              .scratch = ys_alloc(trial->run_count, sizeof(double))};
    ys_json *array = ys_json_array();
    if (!numbers.values || !numbers.scratch)
        *status = ys_out_of_memory();
    for (size_t r = 0; r < count && *status == YS_OK; r++) {
        const struct ys_result_rank told = tell_rank(trial, r, &numbers);
        ys_add(status, array, ys_record_json(&ys_result_rank_record, &told));
    }
    ys_free(numbers.values);
    ys_free(numbers.scratch);
    return array;
}
