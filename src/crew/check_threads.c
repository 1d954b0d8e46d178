/* Does a framework keep to the threads it was told to use? The CPUs that it is bound to hold it to them in any case. */
#include "base/buf.h"
#include "base/mem.h"
#include "crew/run_state.h"
#include "session/checked_message.h"
#include <inttypes.h>
#include <stdio.h>

/* Beside the pool that the plan names there is the thread that feeds it, and frameworks with two pools (one between
 * operators) have two of that size. */
static bool are_many(double busy, int64_t asked)
{
    return busy > 2.0 * (double)asked + 1;
}

/* Who divides work among threads that lie on one CPU, or hands hardly any of it out, computes as with one thread. */
static void warn_of_one(const struct ys_run *run, int64_t asked, struct ys_session_end *end)
{
    char text[200];
    if (asked < 2 || !end->warnings || !ys_threads_alone(run->worked.shared, run->worked.cpus, 1))
        return;
    if (run->worked.cpus == 1)
        snprintf(text, sizeof text,
                 "it was told to use %" PRId64 " threads, and those that did the work may run on one CPU alone", asked);
    else
        snprintf(text, sizeof text,
                 "it was told to use %" PRId64 " threads, and one of them did nine tenths of the work or more", asked);
    ys_json_append(end->warnings, ys_json_string(text));
}

void ys_run_check_threads(const struct ys_run *run, struct ys_session_end *end)
{
    struct ys_message opened;
    ys_message_read(run->opened, &opened);
    int64_t asked = run->spec->plan->threads, said = opened.opened.threads < 0 ? asked : opened.opened.threads;
    size_t cpus = run->spec->launch.cpu_count;
    struct ys_buf text = {0};
    if (!run->no_work)
        warn_of_one(run, asked, end);
    if (run->no_work || asked <= 0 || (said == asked && !are_many(run->worked.shared, asked)))
        return;
    ys_buf_printf(&text, "it was told to use %" PRId64 " thread%s", asked, asked == 1 ? "" : "s");
    if (said != asked)
        ys_buf_printf(&text, ", says it uses %" PRId64, said);
    ys_buf_printf(&text, ", had up to %" PRIu32, end->peak.threads);
    if (run->worked.shared > 0)
        ys_buf_printf(&text, ", and about %.0f shared the work", run->worked.shared);
    if (cpus)
        ys_buf_printf(&text, "; it was bound to %zu CPU%s", cpus, cpus == 1 ? "" : "s");
    if (end->warnings)
        ys_json_append(end->warnings, ys_json_string(ys_buf_text(&text)));
    ys_buf_free(&text);
}

void ys_run_check_cpus(const struct ys_run *run, struct ys_session_end *end)
{
    size_t cpus = run->spec->launch.cpu_count;
    if (run->astray == 0 || !end->warnings)
        return;
    struct ys_buf text = {0};
    ys_buf_printf(
        &text,
        "it was bound to %zu CPU%s, and %zu of its threads had unbound themselves when its work was done: its "
        "speed may be that of more CPUs",
        cpus, cpus == 1 ? "" : "s", run->astray);
    ys_json_append(end->warnings, ys_json_string(ys_buf_text(&text)));
    ys_buf_free(&text);
}
