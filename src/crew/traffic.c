#include "crew/traffic.h"

#include "base/mem.h"
#include "probe/procfs.h"
#include "session/checked_message.h"

#include <stdio.h>
#include <string.h>

static void look(struct ys_run *run, struct ys_run_look *look)
{
    struct ys_message said;
    if (run->spec->plan->dist.world <= 1)
        return;
    ys_interfaces_fini(&look->seen);
    ys_message_read(run->opened, &said);
    if (said.opened.network)
        ys_interfaces_in(said.opened.network, &look->seen);
    else
        ys_session_interfaces(run->session, &look->seen);
    look->step = run->next_step;
}

void ys_traffic_begin(struct ys_run *run)
{
    look(run, &run->traffic_before);
}

void ys_traffic_end(struct ys_run *run)
{
    look(run, &run->traffic_after);
}

void ys_traffic_fini(struct ys_run *run)
{
    ys_interfaces_fini(&run->traffic_before.seen);
    ys_interfaces_fini(&run->traffic_after.seen);
}

static void add_rank(struct ys_list *ranks, int64_t rank)
{
    int64_t *items = ys_realloc(ranks->items, ranks->count + 1, sizeof *items);
    items[ranks->count++] = rank;
    ranks->items = items;
}

void ys_traffic_fill(const struct ys_run *run, struct ys_facts *facts)
{
    const struct ys_run_look *before = &run->traffic_before, *after = &run->traffic_after;
    const char *reason = before->seen.reason[0] ? before->seen.reason : after->seen.reason;
    if (after->step == 0) /* it did not come so far */
        return;
    struct ys_facts_network *told = ys_list_add(&ys_facts_network_record, &facts->networks);
    if (after->step == before->step)
        reason = "it had no step after the first";
    else if (strcmp(before->seen.space, after->seen.space) != 0)
        reason = "it went to another network namespace meanwhile";
    ys_set_text(&told->space, after->seen.space[0] ? after->seen.space : NULL);
    ys_set_text(&told->reason, reason[0] ? reason : NULL);
    told->steps = after->step - before->step;
    add_rank(&told->ranks, run->spec->plan->dist.rank);
    if (!reason[0])
        ys_interfaces_passed(&before->seen, &after->seen, &told->interfaces);
}

static struct ys_facts_network *find(struct ys_list *networks, const char *space)
{
    struct ys_facts_network *all = networks->items;
    for (size_t i = 0; space && i < networks->count; i++)
        if (all[i].space && strcmp(all[i].space, space) == 0)
            return &all[i];
    return NULL;
}

void ys_traffic_join(struct ys_run_record *const *own, size_t count, const struct ys_facts_rank *ranks,
                     struct ys_list *networks)
{
    for (size_t r = 0; r < count; r++) {
        struct ys_list *of_rank = &own[r]->facts.networks;
        struct ys_facts_network *from = of_rank->items, *known = from ? find(networks, from->space) : NULL;
        if (!from)
            continue;
        if (known) {
            add_rank(&known->ranks, (int64_t)r);
        } else {
            struct ys_facts_network *made = ys_list_add(&ys_facts_network_record, networks);
            *made = *from;
            ys_record_init(&ys_facts_network_record, from);
            made->node = ranks[r].node;
            ys_set_text(&made->host, ranks[r].host);
        }
        ys_list_fini(&ys_facts_network_record, of_rank);
    }
}
