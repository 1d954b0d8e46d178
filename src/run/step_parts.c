#include "run/step_parts.h"

#include "session/session.h"

#include <math.h>

#define NS_PER_S 1e9

/* What one rank left behind; `steps` is 0 where something is missing. */
struct rank_blocks {
    const int64_t *first, *count, *start_ns, *end_ns, *input_ns; /* of blocks */
    size_t blocks;
    const int64_t *ready_ns, *reduced_ns; /* of steps */
    const int64_t *began_ns, *updated_ns; /* of steps; NULL, both: not told of all */
    int64_t steps;
    const struct ys_series *asked; /* first steps of questions */
};

static struct rank_blocks read_series(const struct ys_series_set *set)
{
    struct rank_blocks told = {.blocks = SIZE_MAX, .asked = ys_series_find(set, "request_first")};
    size_t steps = SIZE_MAX;
    told.first = ys_series_column(set, "block_first", &told.blocks);
    told.count = ys_series_column(set, "block_count", &told.blocks);
    told.start_ns = ys_series_column(set, "block_start_ns", &told.blocks);
    told.end_ns = ys_series_column(set, "block_end_ns", &told.blocks);
    told.input_ns = ys_series_column(set, "block_input_ns", &told.blocks);
    const int64_t *step = ys_series_column(set, "exchange_step", &steps);
    told.ready_ns = ys_series_column(set, "exchange_ready_ns", &steps);
    told.reduced_ns = ys_series_column(set, "exchange_reduced_ns", &steps);
    told.steps = (int64_t)steps;
    for (int64_t i = 0; i < told.steps; i++)
        if (step[i] != i) /* some block did not tell */
            told.steps = 0;
    size_t whole = (size_t)told.steps;
    told.began_ns = ys_series_column(set, "exchange_began_ns", &whole);
    told.updated_ns = ys_series_column(set, "exchange_updated_ns", &whole);
    if (whole < (size_t)told.steps)
        told.began_ns = told.updated_ns = NULL;
    return told;
}

static bool begins_question(const struct rank_blocks *told, int64_t step)
{
    for (size_t i = 0; told->asked && i < told->asked->count; i++)
        if (told->asked->ints[i] == step)
            return true;
    return false;
}

static int64_t slowest_ns(const struct rank_blocks *ranks, size_t count, int64_t step)
{
    int64_t last_ns = ranks[0].ready_ns[step];
    for (size_t r = 1; r < count; r++)
        last_ns = ranks[r].ready_ns[step] > last_ns ? ranks[r].ready_ns[step] : last_ns;
    return last_ns;
}

/* Of block `b` what needs no times of steps. */
static void add_blocks_own(const struct rank_blocks *own, size_t b, struct ys_step_parts *sum)
{
    sum->input_s += (double)own->input_ns[b] / NS_PER_S;
    if (!begins_question(own, own->first[b]))
        sum->rest_s += (double)(own->start_ns[b] - own->end_ns[b - 1]) / NS_PER_S;
}

/* Adds block `b` of rank `rank`; false: not all ranks have told of its steps. */
static bool add_block(const struct rank_blocks *ranks, size_t count, size_t rank, size_t b, struct ys_step_parts *sum)
{
    const struct rank_blocks *own = &ranks[rank];
    const int64_t begin = own->first[b], end = begin + own->count[b];
    int64_t from_ns = own->start_ns[b], around_ns = -own->input_ns[b];
    for (size_t r = 0; r < count; r++)
        if (begin < 0 || end > ranks[r].steps)
            return false;
    for (int64_t step = begin; step < end; step++) {
        const int64_t ready_ns = own->ready_ns[step], reduced_ns = own->reduced_ns[step],
                      began_ns = own->began_ns ? own->began_ns[step] : ready_ns,
                      updated_ns = own->updated_ns ? own->updated_ns[step] : reduced_ns;
        int64_t all_ns = slowest_ns(ranks, count, step);
        all_ns = all_ns > reduced_ns ? reduced_ns : all_ns; /* nobody has the mean before all have given theirs */
        around_ns += began_ns - from_ns;
        sum->compute_s += (double)(ready_ns - began_ns) / NS_PER_S;
        sum->waiting_s += (double)(all_ns - ready_ns) / NS_PER_S;
        sum->communication_s += (double)(reduced_ns - all_ns) / NS_PER_S;
        sum->optimizer_s += (double)(updated_ns - reduced_ns) / NS_PER_S;
        from_ns = updated_ns;
    }
    around_ns += own->end_ns[b] - from_ns;
    *(own->began_ns ? &sum->framework_s : &sum->compute_s) += (double)around_ns / NS_PER_S;
    add_blocks_own(own, b, sum);
    return true;
}

/* What blocks alone say. */
static struct ys_step_parts untimed_parts_of(const struct rank_blocks *own)
{
    struct ys_step_parts sum = {0};
    int64_t steps = 0;
    for (size_t b = 1; b < own->blocks; b++) {
        add_blocks_own(own, b, &sum);
        steps += own->count[b];
    }
    const double n = steps > 0 ? (double)steps : NAN;
    return (struct ys_step_parts){.compute_s = NAN,
                                  .optimizer_s = NAN,
                                  .framework_s = NAN,
                                  .communication_s = NAN,
                                  .waiting_s = NAN,
                                  .input_s = sum.input_s / n,
                                  .rest_s = sum.rest_s / n};
}

static struct ys_step_parts parts_of(const struct rank_blocks *ranks, size_t count, size_t rank)
{
    struct ys_step_parts sum = {0};
    int64_t steps = 0;
    for (size_t b = 1; b < ranks[rank].blocks; b++)
        if (add_block(ranks, count, rank, b, &sum))
            steps += ranks[rank].count[b];
    if (steps == 0)
        return untimed_parts_of(&ranks[rank]);
    const double n = (double)steps, n_apart = ranks[rank].began_ns ? n : NAN;
    return (struct ys_step_parts){.compute_s = sum.compute_s / n,
                                  .optimizer_s = sum.optimizer_s / n_apart,
                                  .framework_s = sum.framework_s / n_apart,
                                  .communication_s = sum.communication_s / n,
                                  .waiting_s = sum.waiting_s / n,
                                  .input_s = sum.input_s / n,
                                  .rest_s = sum.rest_s / n};
}

void ys_step_parts_find(struct ys_run_record *const *own, size_t count, struct ys_step_parts *parts)
{
    struct rank_blocks ranks[YS_SESSIONS_MOST];
    for (size_t r = 0; r < count; r++)
        ranks[r] = read_series(&own[r]->series);
    for (size_t r = 0; r < count; r++)
        parts[r] = parts_of(ranks, count, r);
}
