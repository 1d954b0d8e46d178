#include "builtin/timetable.h"

#include "base/json/json.h"

#include <stdbool.h>
#include <string.h>

#define OF_RANK(member, what) YS_FIELD(struct ys_timetable_rank, member, YS_FIELD_INTS, "ns", 0, what)
static const struct ys_field rank_fields[] = {
    OF_RANK(before_ns, "of each step, until its own gradients were there"),
    OF_RANK(after_ns, "of each step, from when they were those of all"),
};
static const struct ys_record rank_record = YS_RECORD("rank", struct ys_timetable_rank, rank_fields);

static const struct ys_field fields[] = {
    YS_FIELD(struct ys_timetable, format, YS_FIELD_TEXT, NULL, 0, YS_TIMETABLE_FORMAT),
    YS_FIELD(struct ys_timetable, of, YS_FIELD_TEXT, NULL, 0, "what was measured"),
    YS_FIELD(struct ys_timetable, numbers, YS_FIELD_INT, "1", 0, "floats that ranks exchange in each step"),
    YS_FIELD_OF(struct ys_timetable, ranks, YS_FIELD_LIST, &rank_record, 0, "that were measured"),
};
static const struct ys_record record = YS_RECORD("timetable", struct ys_timetable, fields);

/* A day: sums of times stay far below 64 bits. */
static const int64_t MOST_NS = INT64_C(86400000000000);

static bool are_times(const struct ys_list *list)
{
    const int64_t *times_ns = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (times_ns[i] < 0 || times_ns[i] > MOST_NS)
            return false;
    return true;
}

static ys_status check(const char *path, const struct ys_timetable *table)
{
    const int64_t most_numbers = 1000000000;
    const struct ys_timetable_rank *ranks = table->ranks.items;
    if (strcmp(table->format, YS_TIMETABLE_FORMAT) != 0)
        return ys_fail(YS_EFORMAT, "%s: its format is \"%s\"; it must be \"%s\", as tools/timetable.py writes it", path,
                       table->format, YS_TIMETABLE_FORMAT);
    if (table->numbers < 1 || table->numbers > most_numbers)
        return ys_fail(YS_EFORMAT, "%s: %lld numbers to exchange; there must be 1 to %lld", path,
                       (long long)table->numbers, (long long)most_numbers);
    if (table->ranks.count == 0)
        return ys_fail(YS_EFORMAT, "%s: it has no ranks; there must be at least one", path);
    for (size_t r = 0; r < table->ranks.count; r++) {
        const size_t steps = ranks[0].before_ns.count;
        if (steps == 0 || ranks[r].before_ns.count != steps || ranks[r].after_ns.count != steps)
            return ys_fail(YS_EFORMAT,
                           "%s: rank %zu has %zu times before_ns and %zu after_ns; all ranks must have as many, "
                           "at least one",
                           path, r, ranks[r].before_ns.count, ranks[r].after_ns.count);
        if (!are_times(&ranks[r].before_ns) || !are_times(&ranks[r].after_ns))
            return ys_fail(YS_EFORMAT, "%s: a time of rank %zu is below 0 or longer than a day", path, r);
    }
    return YS_OK;
}

ys_status ys_timetable_read(const char *path, struct ys_timetable *table)
{
    ys_json *json = NULL;
    ys_record_init(&record, table);
    ys_status status = ys_json_read(path, &json);
    if (status == YS_OK)
        status = ys_record_read(&record, json, path, table);
    if (status == YS_OK)
        status = check(path, table);
    ys_json_free(json);
    if (status != YS_OK)
        ys_record_fini(&record, table);
    return status;
}

void ys_timetable_fini(struct ys_timetable *table)
{
    ys_record_fini(&record, table);
}

struct ys_timetable_step ys_timetable_at(const struct ys_timetable *table, int64_t rank, int64_t world, int64_t step)
{
    const int64_t tables = (int64_t)table->ranks.count, turns = (world + tables - 1) / tables;
    const struct ys_timetable_rank *own = (const struct ys_timetable_rank *)table->ranks.items + rank % tables;
    const int64_t steps = (int64_t)own->before_ns.count, from = rank / tables * steps / turns;
    const int64_t at = (from + step) % steps;
    return (struct ys_timetable_step){((const int64_t *)own->before_ns.items)[at],
                                      ((const int64_t *)own->after_ns.items)[at]};
}
