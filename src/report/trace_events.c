#include "report/trace_events.h"

#include "base/json/json.h"
#include "base/mem.h"

#include <stdio.h>

/* The work of rank r is that of the thread WORK_THREAD + r. */
enum { PHASES_THREAD = 1, WORK_THREAD = 2 };

void ys_report_trace_head(struct ys_buf *out)
{
    ys_buf_puts(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
}

void ys_report_trace_tail(struct ys_buf *out)
{
    ys_buf_puts(out, "\n]}\n");
}

/* The common beginning of an event, up to its own members. */
static void put_event(struct ys_report_trace *trace, const char *kind, int64_t run, int thread, struct ys_buf *out)
{
    ys_buf_printf(out, "%s{\"ph\":\"%s\",\"pid\":%lld,\"tid\":%d", trace->begun ? ",\n" : "", kind, (long long)run,
                  thread);
    trace->begun = true;
}

/* A name that comes from a study: as a string of JSON. */
static void put_string(const char *text, struct ys_buf *out)
{
    ys_json *value = ys_json_string(text);
    char *dumped = ys_json_dump(value, YS_JSON_COMPACT);
    ys_buf_puts(out, dumped);
    ys_free(dumped);
    ys_json_free(value);
}

static void put_name(struct ys_report_trace *trace, const char *kind, int64_t run, int thread, const char *name,
                     struct ys_buf *out)
{
    put_event(trace, "M", run, thread, out);
    ys_buf_printf(out, ",\"name\":\"%s\",\"args\":{\"name\":", kind);
    put_string(name, out);
    ys_buf_puts(out, "}}");
}

static double in_us(int64_t t_ns)
{
    return (double)t_ns / 1000;
}

static void put_phase(struct ys_report_trace *trace, int64_t run, const char *name, int64_t from_ns, int64_t to_ns,
                      struct ys_buf *out)
{
    if (from_ns <= 0 || to_ns < from_ns)
        return; /* never reached */
    put_event(trace, "X", run, PHASES_THREAD, out);
    ys_buf_printf(out, ",\"name\":\"%s\",\"cat\":\"phase\",\"ts\":%.3f,\"dur\":%.3f}", name, in_us(from_ns),
                  in_us(to_ns - from_ns));
}

static void put_phases(struct ys_report_trace *trace, int64_t run, const struct ys_facts_times *times,
                       struct ys_buf *out)
{
    put_phase(trace, run, "start", times->exec_ns, times->hello_ns, out);
    put_phase(trace, run, "open", times->open_ns, times->opened_ns, out);
    put_phase(trace, run, "train", times->train_ns, times->trained_ns, out);
    put_phase(trace, run, "infer", times->infer_ns, times->inferred_ns, out);
    put_phase(trace, run, "save", times->save_ns, times->saved_ns, out);
    put_phase(trace, run, "stop", times->bye_ns, times->end_ns, out);
}

/* Integers alone are stored of times and counts. */
static const int64_t *numbers(const struct ys_series_set *series, const char *name, size_t count)
{
    const struct ys_series *found = ys_series_find(series, name);
    return found && !found->is_real && found->count == count ? found->ints : NULL;
}

static size_t length_of(const struct ys_series_set *series, const char *name)
{
    const struct ys_series *found = ys_series_find(series, name);
    return found && !found->is_real ? found->count : 0;
}

/* One of the processes of a run, and its own series. */
struct traced_process {
    struct ys_report_trace *trace;
    int64_t run, rank;
    bool is_one_of_several;
    struct ys_series_set series;
};

static void put_slice(const struct traced_process *process, const char *name, int64_t from_ns, int64_t to_ns,
                      struct ys_buf *out)
{
    put_event(process->trace, "X", process->run, WORK_THREAD + (int)process->rank, out);
    ys_buf_printf(out, ",\"name\":\"%s\",\"cat\":\"work\",\"ts\":%.3f,\"dur\":%.3f", name, in_us(from_ns),
                  in_us(to_ns - from_ns));
}

static void put_blocks(const struct traced_process *process, struct ys_buf *out)
{
    const struct ys_series_set *series = &process->series;
    const size_t count = length_of(series, "block_start_ns");
    const int64_t *from = numbers(series, "block_start_ns", count), *to = numbers(series, "block_end_ns", count),
                  *first = numbers(series, "block_first", count), *steps = numbers(series, "block_count", count);
    for (size_t i = 0; from && to && first && steps && i < count; i++) {
        put_slice(process, "block", from[i], to[i], out);
        ys_buf_printf(out, ",\"args\":{\"first_step\":%lld,\"steps\":%lld}}", (long long)first[i], (long long)steps[i]);
    }
}

static void put_requests(const struct traced_process *process, struct ys_buf *out)
{
    const struct ys_series_set *series = &process->series;
    const size_t count = length_of(series, "request_sent_ns");
    const int64_t *from = numbers(series, "request_sent_ns", count), *to = numbers(series, "request_done_ns", count),
                  *first = numbers(series, "request_first", count);
    for (size_t i = 0; from && to && first && i < count; i++) {
        put_slice(process, "asked", from[i], to[i], out);
        ys_buf_printf(out, ",\"args\":{\"first\":%lld}}", (long long)first[i]);
    }
}

/* The parts of each step, as far as they are told: of an exchange the waiting for other ranks is a part. */
static void put_steps(const struct traced_process *process, struct ys_buf *out)
{
    const struct ys_series_set *series = &process->series;
    const size_t count = length_of(series, "exchange_step");
    const int64_t *times[] = {numbers(series, "exchange_began_ns", count), numbers(series, "exchange_ready_ns", count),
                              numbers(series, "exchange_reduced_ns", count),
                              numbers(series, "exchange_updated_ns", count)};
    static const char *const names[] = {"computing", "exchange", "optimizer"};
    const int64_t *step = numbers(series, "exchange_step", count);
    for (size_t i = 0; step && i < count; i++)
        for (size_t k = 0; k + 1 < sizeof times / sizeof times[0]; k++) {
            if (!times[k] || !times[k + 1])
                continue;
            put_slice(process, names[k], times[k][i], times[k + 1][i], out);
            ys_buf_printf(out, ",\"args\":{\"step\":%lld}}", (long long)step[i]);
        }
}

static void put_counter(const struct traced_process *process, const char *name, const char *unit, int64_t t_ns,
                        double value, struct ys_buf *out)
{
    put_event(process->trace, "C", process->run, 0, out);
    ys_buf_printf(out, ",\"name\":\"%s", name);
    if (process->is_one_of_several)
        ys_buf_printf(out, ", rank %lld", (long long)process->rank);
    ys_buf_printf(out, "\",\"ts\":%.3f,\"args\":{\"%s\":%.15g}}", in_us(t_ns), unit, value);
}

static void put_samples(const struct traced_process *process, struct ys_buf *out)
{
    const struct ys_series_set *series = &process->series;
    const size_t count = length_of(series, "sample_t_ns");
    const int64_t *t = numbers(series, "sample_t_ns", count), *cpu = numbers(series, "sample_cpu_ns", count),
                  *rss = numbers(series, "sample_rss_bytes", count),
                  *threads = numbers(series, "sample_threads", count);
    for (size_t i = 0; t && i < count; i++) {
        if (rss)
            put_counter(process, "memory", "bytes", t[i], (double)rss[i], out);
        if (threads)
            put_counter(process, "threads", "threads", t[i], (double)threads[i], out);
        if (cpu && i > 0 && t[i] > t[i - 1])
            put_counter(process, "processors", "busy", t[i - 1],
                        (double)(cpu[i] - cpu[i - 1]) / (double)(t[i] - t[i - 1]), out);
    }
}

static void put_process(const struct traced_process *process, struct ys_buf *out)
{
    char name[32] = "work";
    if (process->is_one_of_several)
        snprintf(name, sizeof name, "rank %lld", (long long)process->rank);
    put_name(process->trace, "thread_name", process->run, WORK_THREAD + (int)process->rank, name, out);
    put_blocks(process, out);
    put_requests(process, out);
    put_steps(process, out);
    put_samples(process, out);
}

void ys_report_trace_run(struct ys_report_trace *trace, int64_t run, const char *trial, const struct ys_facts *facts,
                         const struct ys_series_set *series, struct ys_buf *out)
{
    const int64_t processes = ys_series_processes(series);
    struct ys_buf name = {0};
    ys_buf_printf(&name, "%s, round %lld", trial, (long long)facts->round);
    put_name(trace, "process_name", run, 0, ys_buf_text(&name), out);
    ys_buf_free(&name);
    put_name(trace, "thread_name", run, PHASES_THREAD, "phases", out);
    put_phases(trace, run, &facts->times, out);
    for (int64_t rank = 0; rank < processes; rank++) {
        struct traced_process process = {.trace = trace, .run = run, .rank = rank, .is_one_of_several = processes > 1};
        ys_series_take_process(series, rank, &process.series);
        put_process(&process, out);
        ys_series_set_free(&process.series);
    }
}
