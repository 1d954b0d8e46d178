#include "run/rank_machines.h"

#include "base/mem.h"
#include <math.h>

/** The first node of the machine on which a rank was. */
static int64_t machine_of(const struct ys_facts_rank *rank, const struct ys_list *hosts)
{
    const struct ys_facts_node *nodes = hosts->items;
    for (size_t i = 0; i < hosts->count; i++)
        if (nodes[i].node == rank->node)
            return nodes[i].machine;
    return rank->node;
}

static double seconds_of(int64_t span_ns)
{
    return span_ns == YS_FIELD_NONE ? NAN : (double)span_ns * 1e-9;
}

/** Processor time of it, and of what fed it. */
static double used_s(const struct ys_facts *facts)
{
    const struct ys_facts_usage *own = facts->usage;
    const struct ys_facts_feeder *feeder = facts->feeder;
    if (!own)
        return NAN;
    const double own_s = seconds_of(own->user_ns) + seconds_of(own->system_ns) + seconds_of(own->unwaited_ns);
    return feeder ? own_s + seconds_of(feeder->user_ns) + seconds_of(feeder->system_ns) : own_s;
}

void ys_machine_add(struct ys_facts_machine *machine, const struct ys_facts *facts)
{
    machine->used_s += used_s(facts);
    machine->harness_s += seconds_of(facts->harness.cpu_ns);
    machine->cpu_wait_s += facts->observation ? seconds_of(facts->observation->cpu_wait_ns) : NAN;
    machine->threads_busy += facts->observed.threads_busy;
}

static void begin(const struct ys_facts_rank *rank, int64_t node, const struct ys_facts *facts,
                  struct ys_list *machines)
{
    struct ys_facts_machine *machine = ys_list_add(&ys_facts_machine_record, machines);
    machine->node = node;
    machine->used_s = machine->harness_s = machine->cpu_wait_s = machine->threads_busy = 0;
    ys_set_text(&machine->host, rank->host);
    if (facts->disturbance)
        machine->disturbance = ys_json_copy(facts->disturbance);
}

void ys_machines_join(struct ys_run_record *const *own, const struct ys_list *ranks, const struct ys_list *hosts,
                      struct ys_list *machines)
{
    const struct ys_facts_rank *items = ranks->items;
    bool are_several = false;
    for (size_t r = 1; r < ranks->count; r++)
        are_several |= machine_of(&items[r], hosts) != machine_of(&items[0], hosts);
    for (size_t r = 0; are_several && r < ranks->count; r++) {
        const int64_t node = machine_of(&items[r], hosts);
        size_t at = 0;
        while (at < machines->count && ((struct ys_facts_machine *)machines->items)[at].node != node)
            at++;
        if (at == machines->count)
            begin(&items[r], node, &own[r]->facts, machines);
        ys_machine_add(&((struct ys_facts_machine *)machines->items)[at], &own[r]->facts);
    }
}
