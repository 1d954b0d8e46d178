#include "metric/outside_speed.h"

#include "base/json/record.h"
#include "base/mem.h"
#include "metric/study_view.h"
#include "stat/summary.h"

#include <math.h>
#include <stdio.h>

/* What a proof took, as it is stored with a trial. */
struct took {
    double open_s, open_cpu_s, first_s, first_cpu_s;
};
#define TOOK(member, what) YS_FIELD(struct took, member, YS_FIELD_REAL, "s", YS_FIELD_NULL, what)
static const struct ys_field took_fields[] = {
    TOOK(open_s, "that `open` took"),
    TOOK(open_cpu_s, "its processor time"),
    TOOK(first_s, "that a first question and a first step took"),
    TOOK(first_cpu_s, "their processor time"),
};
static const struct ys_record took_record = YS_RECORD("proof", struct took, took_fields);

/* Two openings of one program, one after the other, part by a tenth on a machine that is not quite quiet. */
static const double OPENING = 1.1;
/* Verdicts hold for both ends whatever lies between them; from here on a reader is told. */
static const double TOLD = 1.2;

/* The steady part of a run, and how much work all of it was. */
struct steady {
    double step_s, cpu_s; /* the means of a step or request, and of its processor time; NaN: not known */
    double warm_cpu_s;    /* of the steps between the first and it, at most; NaN: not known */
    double span_s;        /* that it took */
    double steps, all;
};

static struct steady steady_of(const struct ys_metric_view_run *run, const struct ys_trial_record *trial)
{
    const double rate_per_s = ys_metric_view_value(run, "rate_per_s");
    const struct ys_facts_phase_cpu *cpu = run->facts.phase_cpu;
    struct steady found = {
        .step_s = (double)ys_settings_rows(&trial->keys) / rate_per_s, .cpu_s = NAN, .span_s = run->steady_s};
    found.steps = found.span_s / found.step_s;
    found.all = run->facts.steps_done == YS_FIELD_NONE ? (double)NAN : (double)run->facts.steps_done;
    const struct ys_run_metric *warmup = ys_metric_view_metric(run, "warmup_s");
    found.warm_cpu_s = cpu && warmup ? warmup->cpu_s : (double)NAN;
    if (cpu && isfinite(found.warm_cpu_s))
        found.cpu_s = fmax(cpu->steps_s - found.warm_cpu_s, 0) / found.steps;
    else if (cpu)
        found.cpu_s = isnan(cpu->requests_s) ? cpu->steps_s / (found.all - 1) : cpu->requests_s / found.all;
    return found;
}

/* What a phase took in all, and in its processors. */
struct took_in {
    double span_s, cpu_s; /* NaN: not known */
};

/* Of a phase what is more than is explained, by its span and by its processor time, where that is known: who waits, or
 * is kept from his processor by others, does no work. */
static double excess(struct took_in took, struct took_in explained)
{
    const double more_s = took.span_s - explained.span_s, more_cpu_s = took.cpu_s - explained.cpu_s;
    return more_s > 0 ? fmax(fmin(more_s, more_cpu_s), 0) : 0; /* fmin passes over NaN */
}

/* Of a run by turns the steps that settle in, and what they took. */
static struct took_in settled_in(const struct ys_metric_view_run *run, double *steps)
{
    const struct ys_facts_turns *turns = run->facts.turns;
    const bool is_known = turns && turns->settled != YS_FIELD_NONE && turns->settled_ns != YS_FIELD_NONE;
    *steps = is_known ? (double)turns->settled : 0;
    return (struct took_in){is_known ? (double)turns->settled_ns * 1e-9 : 0, NAN};
}

/* What they took more than as many others. They lie among those, so that a machine that is slow hits both alike. */
static double settling_s(const struct ys_metric_view_run *run, const struct steady *steady)
{
    double steps;
    const struct took_in took = settled_in(run, &steps);
    return excess(took, (struct took_in){steps * steady->step_s, NAN});
}

static double ahead_s(const struct ys_metric_view_run *run, const struct ys_trial_record *trial,
                      const struct steady *steady)
{
    const struct ys_facts_phase_cpu *cpu = run->facts.phase_cpu;
    double settled_steps;
    const struct took_in settled = settled_in(run, &settled_steps);
    const double warm_steps = fmax(steady->all - 1 - steady->steps - settled_steps, 0);
    struct took took;
    ys_record_glance(&took_record, trial->proof, &took);
    const struct took_in open = {ys_metric_view_value(run, "build_s"), cpu ? cpu->open_s : (double)NAN};
    const struct took_in first = {ys_metric_view_value(run, "first_step_s"), cpu ? cpu->first_step_s : (double)NAN};
    const struct took_in warm = {ys_metric_view_value(run, "warmup_s") - settled.span_s, steady->warm_cpu_s};
    const double pauses = (double)run->facts.checkpoints.count;
    const double paused_s = cpu ? cpu->pauses_s - pauses * cpu->save_s : (double)NAN;
    return excess(open, (struct took_in){OPENING * took.open_s, OPENING * took.open_cpu_s}) +
           excess(first, (struct took_in){took.first_s + steady->step_s, took.first_cpu_s + steady->cpu_s}) +
           excess(warm, (struct took_in){warm_steps * steady->step_s, warm_steps * steady->cpu_s}) + fmax(0, paused_s);
}

/* A median hides what single blocks took; the mean holds all of it. */
static double median_hides(double median_s, double mean_s)
{
    return mean_s > median_s * (1 + YS_OUTSIDE_SMALL) ? mean_s / median_s : 1;
}

static bool is_seen(const struct ys_metric_view_run *run, const struct steady *steady)
{
    return run->ok && !run->facts.said.no_work && steady->span_s > 0 && isfinite(steady->step_s);
}

/* What of `more_s` may matter, and the other ends. */
static struct ys_run_outside find(const struct ys_metric_view_run *run, const struct steady *steady, double more_s)
{
    struct ys_run_outside found = {.steps = NAN, .whole = {NAN, NAN, NAN, NAN}};
    if (!is_seen(run, steady))
        return found;
    const bool is_ahead = more_s > YS_OUTSIDE_SMALL * steady->span_s;
    const double slower = is_ahead ? 1 + more_s / (steady->all * steady->step_s) : 1;
    if (is_ahead) {
        found.ahead_s = more_s;
        found.steps = ceil(more_s / (YS_OUTSIDE_SMALL * steady->step_s) + steady->all - steady->steps);
        found.whole[0] = run->compared[0] / slower;
    }
    for (int m = 1; m < YS_WINDOW_METRICS; m++) {
        const double hidden = slower * (m < 3 ? median_hides(run->compared[m], steady->step_s) : 1);
        if (hidden > 1)
            found.whole[m] = run->compared[m] * hidden;
    }
    return found;
}

/* Finds them, and how much each run did ahead; at most that of a quarter of those that count is believed. */
static void find_all(struct ys_metric_view_trial *trial, struct steady *steady, double *ahead, double *sorted)
{
    size_t count = 0;
    for (size_t i = 0; i < trial->run_count; i++) {
        const struct ys_metric_view_run *run = &trial->runs[i];
        steady[i] = steady_of(run, trial->record);
        const bool tells = is_seen(run, &steady[i]) && isfinite(steady[i].all);
        ahead[i] = tells ? ahead_s(run, trial->record, &steady[i]) : 0;
        if (tells && run->counted)
            sorted[count++] = ahead[i];
    }
    ys_stat_sort(sorted, count);
    for (size_t i = 0; i < trial->run_count; i++) {
        const double settling = is_seen(&trial->runs[i], &steady[i]) ? settling_s(&trial->runs[i], &steady[i]) : 0;
        trial->runs[i].outside =
            find(&trial->runs[i], &steady[i], (count ? fmin(ahead[i], sorted[count / 4]) : ahead[i]) + settling);
    }
}

void ys_outside_find(struct ys_metric_view_trial *trial)
{
    double *ahead = ys_alloc(2 * trial->run_count + 1, sizeof *ahead);
    struct steady *steady = ys_alloc(trial->run_count + 1, sizeof *steady);
    find_all(trial, steady, ahead, ahead + trial->run_count);
    ys_free(steady);
    ys_free(ahead);
}

double ys_outside_reach(const struct ys_run_outside *outside, int m, double value)
{
    if (m >= YS_WINDOW_METRICS || isnan(outside->whole[m]))
        return 0;
    return fmax(m == 0 ? log(value / outside->whole[m]) : log(outside->whole[m] / value), 0);
}

/* The run in which metric `m` of ys_compared reaches farthest, and how far; NULL: in none. */
static const struct ys_metric_view_run *farthest(const struct ys_metric_view_trial *trial, int m, double *reach)
{
    const struct ys_metric_view_run *found = NULL;
    *reach = 0;
    for (size_t i = 0; i < trial->run_count; i++) {
        const struct ys_metric_view_run *run = &trial->runs[i];
        const double own = run->counted && run->ok ? ys_outside_reach(&run->outside, m, run->compared[m]) : 0;
        if (own <= *reach)
            continue;
        *reach = own;
        found = run;
    }
    return found;
}

ys_status ys_metric_apart_speeds(struct ys_store *store, int64_t study_id, const char *trial,
                                 struct ys_apart_speeds *apart)
{
    struct ys_metric_view view;
    double whole = 0;
    *apart = (struct ys_apart_speeds){NAN, NAN};
    YS_TRY(ys_metric_view_load(store, study_id, &view));
    ys_metric_view_keep(&view, trial);
    ys_status status = view.trial_count ? ys_metric_view_trial_load(store, &view, &view.trials[0]) : YS_OK;
    const struct ys_metric_view_run *run =
        status == YS_OK && view.trial_count ? farthest(&view.trials[0], 0, &whole) : NULL;
    if (run)
        *apart = (struct ys_apart_speeds){exp(whole), run->outside.steps};
    ys_metric_view_fini(&view);
    return status;
}

void ys_outside_say(const struct ys_metric_view_trial *trial, ys_json *texts)
{
    const struct ys_mode_facts *mode = ys_mode_of(trial->record->keys.mode);
    const int typical = ys_compared_place(mode->unit_metric);
    double whole, hidden;
    char text[400];
    const struct ys_metric_view_run *ahead = farthest(trial, 0, &whole);
    if (ahead) {
        snprintf(
            text, sizeof text,
            "its speed may be up to %.3g times too high: %.3g s before its steady part are not explained, in which %s "
            "may have been done ahead; %.0f %s or more would tell",
            exp(whole), ahead->outside.ahead_s, mode->units, ahead->outside.steps, mode->units);
        ys_json_append(texts, ys_json_string(text));
    }
    if (!farthest(trial, typical, &hidden) || hidden - whole <= log(TOLD))
        return;
    snprintf(text, sizeof text,
             "some %s took much longer than most: what is said of the time of a %s holds with and without them",
             mode->units, mode->unit);
    ys_json_append(texts, ys_json_string(text));
}
