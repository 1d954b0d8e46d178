#include "metric/result/processor_profile.h"

#include "base/mem.h"

#include <stdlib.h>

/* All of its members are doubles. */
enum { CODES = sizeof(struct ys_facts_code) / sizeof(double) };

static void add(struct ys_facts_code *sum, const struct ys_facts_code *code)
{
    double *to = (double *)sum;
    const double *from = (const double *)code;
    for (size_t i = 0; i < CODES; i++)
        to[i] += from[i];
}

static void divide(struct ys_facts_code *sum, int64_t runs)
{
    double *to = (double *)sum;
    for (size_t i = 0; i < CODES; i++)
        to[i] /= (double)runs;
}

static void add_run(struct ys_facts_perf *mean, const struct ys_facts_perf *perf)
{
    mean->in_kernel = perf->in_kernel && (mean->runs == 0 || mean->in_kernel);
    mean->period_ns = perf->period_ns;
    mean->samples += perf->samples;
    mean->lost += perf->lost;
    mean->runs++;
    add(&mean->startup, &perf->startup);
    add(&mean->steady, &perf->steady);
    add(&mean->after, &perf->after);
}

struct ys_facts_perf *ys_perf_mean(const struct ys_metric_view_trial *trial)
{
    const char *reason = "no run of it was ok";
    bool is_asked = false;
    struct ys_facts_perf *mean = ys_alloc(1, sizeof *mean);
    for (size_t i = 0; i < trial->run_count; i++) {
        const struct ys_metric_view_run *run = &trial->runs[i];
        const struct ys_facts_perf *of_run = run->facts.perf;
        is_asked |= of_run != NULL;
        if (!run->counted || !run->ok || !of_run)
            continue;
        if (of_run->reason)
            reason = of_run->reason;
        else
            add_run(mean, of_run);
    }
    if (!is_asked) {
        ys_free(mean);
        return NULL;
    }
    if (mean->runs) {
        divide(&mean->startup, mean->runs);
        divide(&mean->steady, mean->runs);
        divide(&mean->after, mean->runs);
    } else {
        ys_record_init(&ys_facts_perf_record, mean);
        mean->runs = 0;
        mean->reason = ys_strdup(reason);
    }
    return mean;
}
