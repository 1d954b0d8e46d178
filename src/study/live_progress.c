#include "study/live_progress.h"

#include "base/json/record.h"
#include "base/mem.h"
#include "stat/summary.h"

#include <math.h>
#include <stdio.h>

enum { NAME_WIDTH = 44 };

void ys_live_init(struct ys_live *live, size_t trials)
{
    *live = (struct ys_live){.trials = ys_alloc(trials + 1, sizeof *live->trials), .count = trials};
}

void ys_live_fini(struct ys_live *live)
{
    for (size_t i = 0; live->trials && i < live->count; i++)
        ys_free(live->trials[i].rates);
    ys_free(live->trials);
    ys_free(live->known);
    *live = (struct ys_live){0};
}

/* What of a run's metrics is looked at. */
struct run_rate {
    struct figure {
        double value;
    } rate_per_s;
};
static const struct ys_field figure_fields[] = {
    YS_FIELD(struct figure, value, YS_FIELD_REAL, NULL, YS_FIELD_NULL, "of a metric"),
};
static const struct ys_record figure_record = YS_RECORD("metric", struct figure, figure_fields);
static const struct ys_field told_fields[] = {
    YS_FIELD_OF(struct run_rate, rate_per_s, YS_FIELD_OBJECT, &figure_record, 0, "its speed"),
};
static const struct ys_record told_record = YS_RECORD("metrics", struct run_rate, told_fields);

void ys_live_add(struct ys_live_trial *trial, const ys_json *metrics)
{
    struct run_rate told;
    ys_record_glance(&told_record, metrics, &told);
    if (!isfinite(told.rate_per_s.value))
        return;
    void *grown = ys_grown(trial->rates, trial->count, &trial->capacity, sizeof *trial->rates);
    trial->rates = grown;
    trial->rates[trial->count++] = told.rate_per_s.value;
}

double ys_live_left_s(const struct ys_live *live, const struct ys_live_trial *current, double current_s, double whole_s)
{
    const bool tells = current && isfinite(whole_s);
    double spent_s = tells ? whole_s : 0, left_s = 0;
    int64_t runs = tells;
    for (size_t i = 0; i < live->count; i++) {
        spent_s += live->trials[i].spent_s;
        runs += live->trials[i].spent_on;
    }
    for (size_t i = 0; i < live->count; i++) {
        const struct ys_live_trial *trial = &live->trials[i];
        const bool counts = tells && trial == current;
        const int64_t known = trial->spent_on + counts;
        const double each_s =
            known ? (trial->spent_s + (counts ? whole_s : 0)) / (double)known : spent_s / (double)runs; /* 0 / 0: NaN */
        int64_t lacking = trial->over || trial->planned < trial->done ? 0 : trial->planned - trial->done;
        if (trial == current) {
            left_s += fmax((counts ? whole_s : each_s) - current_s, 0) + (lacking > 0 ? live->pause_s : 0);
            lacking -= lacking > 0;
        }
        if (lacking > 0)
            left_s += (double)lacking * (each_s + live->pause_s);
    }
    return left_s;
}

/* At most `columns` characters of `text`, and as many columns; what is no plain text is left out. */
static void put_name(struct ys_buf *out, const char *text, int columns)
{
    int used = 0;
    for (const char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        const bool begins = (byte & 0xC0) != 0x80;
        if (byte < 0x20 || byte == 0x7f)
            continue;
        if (begins && used == columns)
            break;
        used += begins;
        ys_buf_append(out, c, 1);
    }
    ys_buf_printf(out, "%*s", columns - used, "");
}

static void put_speed(struct ys_buf *out, const struct ys_live_trial *trial)
{
    double *scratch = trial->count ? ys_alloc(trial->count, sizeof *scratch) : NULL;
    if (scratch)
        ys_buf_printf(out, "%10.5g/s", ys_stat_median(trial->rates, trial->count, scratch));
    else
        ys_buf_printf(out, "%10s  ", "-");
    ys_free(scratch);
}

void ys_live_print(const struct ys_live *live, size_t most, struct ys_buf *out)
{
    most -= live->known != NULL;
    const size_t shown = live->count <= most ? live->count : most - 1;
    for (size_t i = 0; i < shown; i++) {
        const struct ys_live_trial *trial = &live->trials[i];
        char runs[24];
        snprintf(runs, sizeof runs, "%lld/%lld", (long long)trial->done, (long long)trial->planned);
        put_name(out, trial->id ? trial->id : "", NAME_WIDTH);
        ys_buf_printf(out, " %9.9s ", runs);
        put_speed(out, trial);
        if (trial->failed)
            ys_buf_printf(out, " %d failed", trial->failed < 999 ? trial->failed : 999);
        else if (trial->over && trial->done < trial->planned)
            ys_buf_puts(out, " left out");
        ys_buf_puts(out, "\n");
    }
    if (shown < live->count)
        ys_buf_printf(out, "... and %zu trials more\n", live->count - shown);
    if (live->known) {
        put_name(out, live->known, YS_LIVE_WIDTH);
        ys_buf_puts(out, "\n");
    }
}
