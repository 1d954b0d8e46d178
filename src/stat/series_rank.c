/* Tables of series whose rows are of several processes. */
#include "base/mem.h"
#include "stat/series.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What begins with one of these is a column of that table, whose rows "block_rank" and so on tell apart. */
static const char *const tables[] = {"block", "request", "sample", "exchange"};
enum { TABLES = sizeof tables / sizeof tables[0], NAME = sizeof((struct ys_series *)0)->name };

static bool is_column(const struct ys_series *series, const char *table)
{
    const size_t length = strlen(table);
    return strncmp(series->name, table, length) == 0 && series->name[length] == '_' && !series->is_real &&
           strcmp(series->name + length, "_rank") != 0;
}

static void name_ranks(const char *table, char name[NAME])
{
    snprintf(name, NAME, "%s_rank", table);
}

/** The rows of the longest column. */
static size_t rows_of(const struct ys_series_set *set, const char *table)
{
    size_t rows = 0;
    for (size_t i = 0; i < set->count; i++)
        if (is_column(&set->items[i], table) && set->items[i].count > rows)
            rows = set->items[i].count;
    return rows;
}

/** Columns that a run broke off in the middle of are made as long as the others. */
static void fill_up(struct ys_series_set *set, const char *name, size_t rows)
{
    struct ys_series *series = ys_series_get(set, name, 0);
    while (series->count < rows)
        ys_series_add_int(set, name, 0);
}

static void add_table(struct ys_series_set *set, const struct ys_series_set *more, const char *table, int64_t rank)
{
    const size_t before = rows_of(set, table), rows = rows_of(more, table);
    char ranks[NAME];
    name_ranks(table, ranks);
    for (size_t i = 0; i < more->count; i++) {
        const struct ys_series *column = &more->items[i];
        if (!is_column(column, table))
            continue;
        fill_up(set, column->name, before);
        ys_series_add_numbers(set, column->name, 0, column->ints, column->count);
        fill_up(set, column->name, before + rows);
    }
    for (size_t row = before; row < before + rows; row++)
        ys_series_add_rank(set, ranks, row, rank);
}

void ys_series_add_process(struct ys_series_set *set, const struct ys_series_set *more, int64_t rank)
{
    for (int i = 0; i < TABLES; i++)
        add_table(set, more, tables[i], rank);
}

static const char *table_of(const struct ys_series *series)
{
    for (int i = 0; i < TABLES; i++)
        if (is_column(series, tables[i]))
            return tables[i];
    return NULL;
}

static bool is_of_ranks(const struct ys_series *series)
{
    const size_t length = strlen(series->name);
    return length > 5 && strcmp(series->name + length - 5, "_rank") == 0;
}

static void take(const struct ys_series_set *set, const struct ys_series *series, int64_t rank,
                 struct ys_series_set *of_rank)
{
    const char *table = table_of(series);
    char name[NAME] = "";
    if (table)
        name_ranks(table, name);
    const struct ys_series *ranks = ys_series_find(set, name);
    for (size_t row = 0; row < series->count; row++) {
        if (table && ys_series_rank(ranks, row) != rank)
            continue;
        ys_series_add_numbers(of_rank, series->name, series->is_real, ys_series_numbers(series, row), 1);
    }
}

void ys_series_take_process(const struct ys_series_set *set, int64_t rank, struct ys_series_set *of_rank)
{
    *of_rank = (struct ys_series_set){0};
    for (size_t i = 0; i < set->count; i++) {
        if (!is_of_ranks(&set->items[i]))
            take(set, &set->items[i], rank, of_rank);
    }
}

int64_t ys_series_processes(const struct ys_series_set *set)
{
    const struct ys_series *ranks = ys_series_find(set, "block_rank");
    int64_t last = 0;
    for (size_t row = 0; ranks && row < ranks->count; row++)
        last = ranks->ints[row] > last ? ranks->ints[row] : last;
    return last + 1;
}
