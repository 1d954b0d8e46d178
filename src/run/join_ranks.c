#include "run/join_ranks.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/stored/safetensors.h"
#include "crew/ranks.h"
#include "crew/traffic.h"
#include "data/rank_share.h"
#include "graph/graph.h"
#include "run/rank_machines.h"
#include "run/step_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_S 1e9

static int64_t earlier(int64_t a, int64_t b)
{
    return a == YS_FIELD_NONE || (b != YS_FIELD_NONE && b < a) ? b : a;
}

static int64_t later(int64_t a, int64_t b)
{
    return a == YS_FIELD_NONE || (b != YS_FIELD_NONE && b > a) ? b : a;
}

/** What one of them did not reach, not all of them did. */
static int64_t last_of_all(int64_t a, int64_t b)
{
    return a == YS_FIELD_NONE || b == YS_FIELD_NONE ? YS_FIELD_NONE : later(a, b);
}

static int64_t sum(int64_t a, int64_t b)
{
    return a == YS_FIELD_NONE ? b : b == YS_FIELD_NONE ? a : a + b;
}

static double sum_reals(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

static void join_times(struct ys_facts_times *all, const struct ys_facts_times *more)
{
    all->exec_ns = earlier(all->exec_ns, more->exec_ns);
    all->hello_ns = last_of_all(all->hello_ns, more->hello_ns);
    all->open_ns = earlier(all->open_ns, more->open_ns);
    all->opened_ns = last_of_all(all->opened_ns, more->opened_ns);
    all->train_ns = earlier(all->train_ns, more->train_ns);
    all->trained_ns = last_of_all(all->trained_ns, more->trained_ns);
    all->save_ns = earlier(all->save_ns, more->save_ns);
    all->saved_ns = last_of_all(all->saved_ns, more->saved_ns);
    all->bye_ns = earlier(all->bye_ns, more->bye_ns);
    all->end_ns = later(all->end_ns, more->end_ns);
}

static void join_usage(struct ys_facts *all, struct ys_facts *more)
{
    struct ys_facts_usage *to = all->usage, *from = more->usage;
    if (!to || !from) {
        all->usage = to ? to : from;
        more->usage = to ? from : NULL;
        return;
    }
    int64_t *const sums[] = {&to->user_ns,      &to->system_ns,    &to->voluntary_switches, &to->involuntary_switches,
                             &to->minor_faults, &to->major_faults, &to->unwaited_ns};
    const int64_t shares[] = {
        from->user_ns,      from->system_ns,    from->voluntary_switches, from->involuntary_switches,
        from->minor_faults, from->major_faults, from->unwaited_ns};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        *sums[i] = sum(*sums[i], shares[i]);
}

static void join_observed(struct ys_facts_observed *all, const struct ys_facts_observed *more)
{
    all->threads_peak = sum(all->threads_peak, more->threads_peak);
    all->processes_peak = sum(all->processes_peak, more->processes_peak);
    all->rss_peak_bytes = sum(all->rss_peak_bytes, more->rss_peak_bytes);
    all->process_peak_bytes = later(all->process_peak_bytes, more->process_peak_bytes);
    all->threads_busy = sum_reals(all->threads_busy, more->threads_busy);
    all->threads_cpus = sum(all->threads_cpus, more->threads_cpus);
}

static void join_observation(struct ys_facts *all, struct ys_facts *more)
{
    struct ys_observation *to = all->observation, *from = more->observation;
    if (!to || !from) {
        all->observation = to ? to : from;
        more->observation = to ? from : NULL;
        return;
    }
    to->guarded = to->guarded && from->guarded;
    to->grouped = to->grouped && from->grouped;
    to->killed_as_a_whole = to->killed_as_a_whole && from->killed_as_a_whole;
    for (size_t i = 0; i < ys_observation_record.count; i++) { /* all that is counted is a sum */
        const struct ys_field *field = &ys_observation_record.fields[i];
        int64_t *const count = (void *)((char *)to + field->offset);
        if (field->kind == YS_FIELD_INT)
            *count = sum(*count, *(const int64_t *)(const void *)((const char *)from + field->offset));
    }
}

static void join_phases(struct ys_facts_phase_cpu *all, const struct ys_facts_phase_cpu *more)
{
    if (!all || !more)
        return;
    all->start_s = sum_reals(all->start_s, more->start_s);
    all->open_s = sum_reals(all->open_s, more->open_s);
    all->first_step_s = sum_reals(all->first_step_s, more->first_step_s);
    all->steps_s = sum_reals(all->steps_s, more->steps_s);
    all->requests_s = sum_reals(all->requests_s, more->requests_s);
    all->save_s = sum_reals(all->save_s, more->save_s);
    all->pauses_s = sum_reals(all->pauses_s, more->pauses_s);
}

static void join_turns(struct ys_facts_turns *all, const struct ys_facts_turns *more)
{
    if (all && more)
        all->ahead_ns = sum(all->ahead_ns, more->ahead_ns);
}

static void join_harness(struct ys_facts_harness *all, const struct ys_facts_harness *more)
{
    all->cpu_ns = sum(all->cpu_ns, more->cpu_ns);
    all->samples = sum(all->samples, more->samples);
    all->lateness_max_ns = later(all->lateness_max_ns, more->lateness_max_ns);
    all->stopped_s = fmax(all->stopped_s, more->stopped_s);
}

/** Rows of its own a second, over its blocks after the first, each from its start to its end. */
static double rate_of(const struct ys_series_set *series, double rows)
{
    const struct ys_series *count = ys_series_find(series, "block_count"),
                           *start = ys_series_find(series, "block_start_ns"),
                           *end = ys_series_find(series, "block_end_ns");
    double steps = 0, worked_ns = 0;
    for (size_t i = 1; count && start && end && i < end->count; i++) {
        steps += (double)count->ints[i];
        worked_ns += (double)(end->ints[i] - start->ints[i]);
    }
    return worked_ns > 0 ? steps * rows / (worked_ns / NS_PER_S) : NAN;
}

/** Bytes that went to other ranks for a step; NaN: some block does not tell. */
static double sent_of(const struct ys_series_set *series)
{
    const struct ys_series *count = ys_series_find(series, "block_count"),
                           *sent = ys_series_find(series, "block_sent_bytes");
    double steps = 0, bytes = 0;
    if (!count || !sent || sent->count != count->count)
        return NAN;
    for (size_t i = 0; i < sent->count; i++) {
        steps += (double)count->ints[i];
        bytes += (double)sent->ints[i];
    }
    return bytes / steps;
}

/** The host of rank `rank`; NULL where there is one. */
static const struct ys_facts_node *host_of(const struct ys_list *hosts, int64_t rank, int64_t world)
{
    const struct ys_facts_node *items = hosts->items;
    return hosts->count > 0 ? &items[rank * (int64_t)hosts->count / world] : NULL;
}

static void tell_rank(const struct ys_plan *plan, struct ys_run_record *own, int64_t rank, const struct ys_plan *its,
                      const struct ys_facts_node *host, const struct ys_step_parts *parts, struct ys_list *ranks)
{
    const struct ys_facts *facts = &own->facts;
    struct ys_facts_rank *told = ys_list_add(&ys_facts_rank_record, ranks);
    told->rank = rank;
    told->node = host ? host->node : YS_FIELD_NONE;
    ys_set_text(&told->host, host ? host->host : NULL);
    told->status = facts->status;
    told->exit_code = facts->exit_code;
    told->signal = facts->signal;
    told->steps_done = facts->steps_done;
    told->rate_per_s = rate_of(&own->series, (double)(plan->batch / plan->dist.world));
    if (facts->usage)
        told->cpu_s = (double)(facts->usage->user_ns + facts->usage->system_ns) / NS_PER_S;
    if (facts->observation && facts->observation->cpu_wait_ns != YS_FIELD_NONE)
        told->cpu_wait_s = (double)facts->observation->cpu_wait_ns / NS_PER_S;
    told->compute_s = parts->compute_s;
    told->communication_s = parts->communication_s;
    told->waiting_s = parts->waiting_s;
    told->optimizer_s = parts->optimizer_s;
    told->framework_s = parts->framework_s;
    told->input_s = parts->input_s;
    told->rest_s = parts->rest_s;
    told->sent_bytes = sent_of(&own->series);
    told->rss_peak_bytes = facts->observed.rss_peak_bytes;
    told->threads_peak = facts->observed.threads_peak;
    told->stage = facts->stage;
    told->collectives = facts->collectives; /* which are the rank's from here on */
    own->facts.collectives = NULL;
    ys_set_text(&told->message, facts->message);
    ys_set_text(&told->log_tail, facts->log_tail);
    ys_list_copy_ints(&its->cpus, &told->cpus);
}

static bool lists_text(const struct ys_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(((char *const *)list->items)[i], text) == 0)
            return true;
    return false;
}

static void replace_texts(struct ys_list *list, struct ys_list with)
{
    for (size_t i = 0; i < list->count; i++)
        ys_free(((char **)list->items)[i]);
    ys_free(list->items);
    *list = with;
}

static void add_warning(const struct ys_facts_rank *rank, const char *text, struct ys_list *all)
{
    char *said = rank->node == YS_FIELD_NONE ? ys_format("rank %" PRId64 ": %s", rank->rank, text)
                                             : ys_format("rank %" PRId64 " (node %" PRId64 ", %s): %s", rank->rank,
                                                         rank->node, rank->host ? rank->host : "no host", text);
    ys_list_add_text(all, said);
    ys_free(said);
}

/** What all ranks say is said once; else with the name of the rank that does. */
static void join_warnings(struct ys_run_record *const *own, size_t count, const struct ys_facts_rank *ranks,
                          struct ys_list *all)
{
    for (size_t r = 0; r < count; r++) {
        const struct ys_list *warnings = &own[r]->facts.warnings;
        for (size_t i = 0; i < warnings->count; i++) {
            const char *text = ((char *const *)warnings->items)[i];
            size_t sayers = 0;
            for (size_t other = 0; other < count; other++)
                sayers += lists_text(&own[other]->facts.warnings, text);
            if (sayers < count)
                add_warning(&ranks[r], text, all);
            else if (r == 0)
                ys_list_add_text(all, text);
        }
    }
}

/** The run ended as that rank did, and says which. */
static void blame(struct ys_facts *all, const struct ys_facts_rank *rank, size_t count)
{
    all->status = rank->status;
    if (rank->status == YS_RUN_OK)
        return;
    all->exit_code = rank->exit_code;
    all->signal = rank->signal;
    all->stage = rank->stage;
    ys_set_text(&all->log_tail, rank->log_tail);
    ys_free(all->message);
    const char *message = rank->message ? rank->message : "no message";
    all->message = rank->node == YS_FIELD_NONE
                       ? ys_format("rank %" PRId64 " of %zu: %s", rank->rank, count, message)
                       : ys_format("rank %" PRId64 " of %zu (node %" PRId64 ", %s): %s", rank->rank, count, rank->node,
                                   rank->host ? rank->host : "no host", message);
}

/** The loss of the whole batch: the mean of those of the ranks, each by what it counts for. Summed in the order of
 * ranks. */
static ys_status join_losses(const struct ys_plan *plan, struct ys_run_record *const *own, size_t count,
                             struct ys_series_set *set)
{
    const int64_t world = (int64_t)count;
    struct ys_series *all = ys_series_get(set, "step_loss", 1);
    struct ys_shares *shares;
    YS_TRY(ys_shares_open(plan->input.path, plan->input.order, world, &shares));
    for (size_t i = 0; i < all->count; i++)
        all->reals[i] *= ys_share_of(shares, world, (int64_t)i, 0);
    for (size_t r = 1; r < count; r++) {
        const struct ys_series *more = ys_series_find(&own[r]->series, "step_loss");
        const size_t known = more ? more->count : 0;
        all->count = all->count < known ? all->count : known;
        for (size_t i = 0; i < all->count; i++)
            all->reals[i] += ys_share_of(shares, world, (int64_t)i, (int64_t)r) * more->reals[i];
    }
    ys_shares_close(shares);
    return YS_OK;
}

/** Weights and checkpoints of rank `rank` against those of rank 0, where they exchange gradients; its own are removed.
 * *differs: a new sentence, or NULL. */
static ys_status compare_file(const struct ys_plan *plan, const struct ys_graph *graph, int64_t rank, const char *name,
                              char **differs)
{
    struct ys_safetensors *first = NULL, *other = NULL;
    char *folder = NULL, *at_first = ys_path_join(plan->folder, name), *at_other = NULL;
    const bool holds_same = plan->dist.strategy != YS_STRATEGY_ALONE;
    ys_status status = ys_rank_folder(plan->folder, rank, &folder);
    if (status == YS_OK) {
        at_other = ys_path_join(folder, name);
        status = ys_safetensors_open(at_first, &first);
    }
    if (status == YS_OK)
        status = ys_safetensors_open(at_other, &other);
    if (status == YS_EFORMAT || status == YS_EIO || status == YS_ENOTFOUND) {
        *differs = ys_strdup(ys_error());
        status = YS_OK;
    }
    for (size_t p = 0; status == YS_OK && first && other && !*differs && p < graph->param_count; p++) {
        const struct ys_tensor *a = ys_safetensors_find(first, graph->params[p].name),
                               *b = ys_safetensors_find(other, graph->params[p].name);
        if (holds_same && graph->params[p].role == YS_ROLE_WEIGHT &&
            (!a || !b || a->size_bytes != b->size_bytes || memcmp(a->data, b->data, a->size_bytes) != 0))
            *differs = ys_format("rank %" PRId64 " of %" PRId64
                                 " saved other weights than rank 0 in %s: %s differs; ranks that train together hold "
                                 "the same to the bit",
                                 rank, plan->dist.world, name, graph->params[p].name);
    }
    if (at_other)
        unlink(at_other);
    ys_safetensors_close(first);
    ys_safetensors_close(other);
    ys_free(folder);
    ys_free(at_first);
    ys_free(at_other);
    return status;
}

static ys_status compare_saved(const struct ys_plan *plan, size_t count, struct ys_facts *all)
{
    const struct ys_facts_checkpoint *checkpoints = all->checkpoints.items;
    struct ys_graph *graph = NULL;
    char *differs = NULL;
    if (all->status != YS_RUN_OK || !all->weights)
        return YS_OK;
    ys_status status = ys_graph_read(plan->graph, &graph);
    for (size_t r = 1; status == YS_OK && r < count && !differs; r++) {
        for (size_t i = 0; status == YS_OK && i < all->checkpoints.count && !differs; i++)
            status = compare_file(plan, graph, (int64_t)r, checkpoints[i].path, &differs);
        if (status == YS_OK && !differs)
            status = compare_file(plan, graph, (int64_t)r, all->weights, &differs);
    }
    ys_graph_free(graph);
    if (status == YS_OK && differs) {
        all->status = YS_RUN_WRONG_OUTPUT;
        all->stage = YS_STAGE_SAVE;
        ys_set_text(&all->message, differs);
    }
    ys_free(differs);
    return status;
}

static void join_facts(struct ys_facts *all, struct ys_facts *more)
{
    join_times(&all->times, &more->times);
    join_usage(all, more);
    join_observed(&all->observed, &more->observed);
    join_observation(all, more);
    join_phases(all->phase_cpu, more->phase_cpu);
    join_harness(&all->harness, &more->harness);
    join_turns(all->turns, more->turns);
    if (more->steps_done < all->steps_done)
        all->steps_done = more->steps_done;
}

ys_status ys_run_join(const struct ys_plan *plan, const struct ys_plan *plans, struct ys_run_record *const *own,
                      size_t count, size_t culprit, struct ys_list *hosts, struct ys_run_record *record)
{
    struct ys_list ranks = {0}, warnings = {0}, networks = {0}, machines = {0};
    struct ys_step_parts parts[YS_SESSIONS_MOST];
    ys_step_parts_find(own, count, parts);
    for (size_t r = 0; r < count; r++)
        tell_rank(plan, own[r], (int64_t)r, &plans[r], host_of(hosts, (int64_t)r, (int64_t)count), &parts[r], &ranks);
    join_warnings(own, count, ranks.items, &warnings);
    ys_traffic_join(own, count, ranks.items, &networks);
    ys_machines_join(own, &ranks, hosts, &machines);
    *record = *own[0];
    *own[0] = (struct ys_run_record){0};
    struct ys_facts *all = &record->facts;
    all->ranks = ranks;
    all->nodes = *hosts;
    all->networks = networks;
    all->machines = machines;
    replace_texts(&all->warnings, warnings);
    *hosts = (struct ys_list){0};
    ys_status status = join_losses(plan, own, count, &record->series);
    for (size_t r = 1; status == YS_OK && r < count; r++)
        join_facts(all, &own[r]->facts);
    for (size_t r = 1; status == YS_OK && r < count; r++)
        ys_series_add_process(&record->series, &own[r]->series, (int64_t)r);
    if (status == YS_OK) {
        blame(all, &((const struct ys_facts_rank *)ranks.items)[culprit], count);
        status = compare_saved(plan, count, all);
    }
    ys_facts_derive(all);
    return status;
}
