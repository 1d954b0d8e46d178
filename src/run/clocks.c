#include "run/clocks.h"

#include "base/mem.h"

#include <math.h>

void ys_clock_take(struct ys_clock_look *look, uint64_t asked_ns, int64_t theirs_ns, uint64_t answered_ns)
{
    const int64_t error_ns = (int64_t)(answered_ns - asked_ns + 1) / 2;
    if (look->is_known && look->error_ns <= error_ns)
        return;
    *look = (struct ys_clock_look){
        .is_known = true, .at_ns = asked_ns + (answered_ns - asked_ns) / 2, .error_ns = error_ns};
    look->offset_ns = theirs_ns - (int64_t)look->at_ns;
}

double ys_clock_drift(const struct ys_clock_pair *pair)
{
    const struct ys_clock_look *before = &pair->before, *after = &pair->after;
    if (pair->is_one)
        return 0;
    if (!before->is_known || !after->is_known || after->at_ns <= before->at_ns)
        return NAN;
    return (double)(after->offset_ns - before->offset_ns) / (double)(after->at_ns - before->at_ns);
}

int64_t ys_clock_ours(const struct ys_clock_pair *pair, int64_t theirs_ns)
{
    const double drift = ys_clock_drift(pair);
    if (pair->is_one || !pair->before.is_known)
        return theirs_ns;
    const int64_t ours_ns = theirs_ns - pair->before.offset_ns;
    if (isnan(drift))
        return ours_ns;
    const double passed_ns = (double)(ours_ns - (int64_t)pair->before.at_ns) / (1 + drift);
    return ours_ns - (int64_t)llround(drift * passed_ns);
}

void ys_clock_take_during(struct ys_clock_pair *pair, uint64_t asked_ns, int64_t theirs_ns, uint64_t answered_ns)
{
    pair->during = ys_grown(pair->during, pair->count, &pair->capacity, sizeof *pair->during);
    pair->during[pair->count] = (struct ys_clock_look){0};
    ys_clock_take(&pair->during[pair->count++], asked_ns, theirs_ns, answered_ns);
}

void ys_clock_free(struct ys_clock_pair *pair)
{
    ys_free(pair->during);
    *pair = (struct ys_clock_pair){0};
}

/** By how much the look lies outside of its own error of what is made of its time. */
static int64_t excess_ns(const struct ys_clock_pair *pair, const struct ys_clock_look *look)
{
    const int64_t off_ns = ys_clock_ours(pair, (int64_t)look->at_ns + look->offset_ns) - (int64_t)look->at_ns;
    return (off_ns < 0 ? -off_ns : off_ns) - look->error_ns;
}

int64_t ys_clock_error_ns(const struct ys_clock_pair *pair)
{
    const int64_t before_ns = pair->before.error_ns, after_ns = pair->after.error_ns;
    int64_t bent_ns = 0;
    if (pair->is_one)
        return 0;
    for (size_t i = 0; i < pair->count; i++)
        bent_ns = excess_ns(pair, &pair->during[i]) > bent_ns ? excess_ns(pair, &pair->during[i]) : bent_ns;
    return (before_ns > after_ns ? before_ns : after_ns) + bent_ns;
}

static void shift(const struct ys_clock_pair *pair, int64_t *time_ns)
{
    if (*time_ns != YS_FIELD_NONE)
        *time_ns = ys_clock_ours(pair, *time_ns);
}

static void shift_pauses(const struct ys_clock_pair *pair, struct ys_facts_times *times)
{
    ys_json *shifted = ys_json_array();
    for (size_t i = 0; i < ys_json_size(times->pauses); i++) {
        const ys_json *pause = ys_json_at(times->pauses, i);
        ys_json *pairs = ys_json_array();
        for (size_t k = 0; k < 2; k++)
            ys_json_append(pairs, ys_json_int(ys_clock_ours(pair, ys_json_integer(ys_json_at(pause, k), 0))));
        ys_json_append(shifted, pairs);
    }
    ys_json_free(times->pauses);
    times->pauses = shifted;
}

void ys_clock_record(const struct ys_clock_pair *pair, struct ys_run_record *record)
{
    static const char *const names[] = {"block_start_ns",    "block_end_ns",        "request_sent_ns",
                                        "request_done_ns",   "sample_t_ns",         "exchange_began_ns",
                                        "exchange_ready_ns", "exchange_reduced_ns", "exchange_updated_ns"};
    struct ys_facts_times *times = &record->facts.times;
    int64_t *const places[] = {&times->exec_ns,  &times->hello_ns,   &times->open_ns,  &times->opened_ns,
                               &times->train_ns, &times->trained_ns, &times->infer_ns, &times->inferred_ns,
                               &times->save_ns,  &times->saved_ns,   &times->bye_ns,   &times->end_ns};
    if (pair->is_one)
        return;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        shift(pair, places[i]);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct ys_series *found = ys_series_find(&record->series, names[i]);
        for (size_t k = 0; found && k < found->count; k++)
            shift(pair, &found->ints[k]);
    }
    shift_pauses(pair, times);
}
