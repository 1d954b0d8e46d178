/* What each machine of a run did beside it: runs of four ranks that were made up. */
#include "run/rank_machines.h"
#include "base/mem.h"
#include "tap.h"

#include <math.h>
#include <string.h>

enum { RANKS = 4 };

struct run {
    struct ys_run_record records[RANKS], *own[RANKS];
    struct ys_list ranks, hosts, machines;
};

/* Rank r used r + 1 seconds of a processor, waited 0.1 s for one, and was on the host with that number, which is on the
 * machine whose first host is that. */
static void make(struct run *run, const int64_t hosts[RANKS], const int64_t machines[RANKS])
{
    *run = (struct run){0};
    for (int64_t r = 0; r < RANKS; r++) {
        struct ys_facts *facts = &run->records[r].facts;
        char text[64];
        ys_facts_init(facts);
        facts->usage = ys_alloc(1, sizeof *facts->usage);
        facts->observation = ys_alloc(1, sizeof *facts->observation);
        *facts->usage = (struct ys_facts_usage){.user_ns = (r + 1) * 900000000, .system_ns = (r + 1) * 100000000};
        *facts->observation = (struct ys_observation){.cpu_wait_ns = 100000000};
        facts->observed.threads_busy = 1;
        facts->harness.cpu_ns = 1000000;
        snprintf(text, sizeof text, "{\"seconds\":10,\"busy_s\":%d}", (int)(10 + r));
        CHECK(ys_json_parse(text, strlen(text), "a test", &facts->disturbance) == YS_OK);
        run->own[r] = &run->records[r];
        struct ys_facts_rank *rank = ys_list_add(&ys_facts_rank_record, &run->ranks);
        rank->node = hosts[r];
        ys_set_text(&rank->host, hosts[r] == 0 ? "h0" : hosts[r] == 1 ? "h1" : "h2");
        if (r == 0 || hosts[r] != hosts[r - 1]) {
            struct ys_facts_node *node = ys_list_add(&ys_facts_node_record, &run->hosts);
            node->node = hosts[r];
            node->machine = machines[r];
        }
    }
    ys_machines_join(run->own, &run->ranks, &run->hosts, &run->machines);
}

static void drop(struct run *run)
{
    for (int r = 0; r < RANKS; r++)
        ys_facts_fini(&run->records[r].facts);
    ys_list_fini(&ys_facts_rank_record, &run->ranks);
    ys_list_fini(&ys_facts_node_record, &run->hosts);
    ys_list_fini(&ys_facts_machine_record, &run->machines);
}

static const struct ys_facts_machine *at(const struct run *run, size_t i)
{
    static const struct ys_facts_machine none = {.node = -1};
    return CHECK(i < run->machines.count) ? (const struct ys_facts_machine *)run->machines.items + i : &none;
}

static double busy_s(const struct ys_facts_machine *machine)
{
    return machine->disturbance ? ys_json_number(ys_json_get(machine->disturbance, "busy_s"), NAN) : NAN;
}

static void each_machine_has_its_own_ranks(void)
{
    struct run run;
    make(&run, (const int64_t[]){0, 0, 1, 2}, (const int64_t[]){0, 0, 1, 1});
    CHECK_INT(run.machines.count, 2);
    CHECK_TEXT(at(&run, 0)->host, "h0");
    CHECK_TEXT(at(&run, 1)->host, "h1");
    CHECK_INT(at(&run, 1)->node, 1);
    CHECK_NEAR(at(&run, 0)->used_s, 1 + 2, 1e-9);
    CHECK_NEAR(at(&run, 1)->used_s, 3 + 4, 1e-9);
    CHECK_NEAR(at(&run, 1)->cpu_wait_s, 0.2, 1e-9);
    CHECK_NEAR(at(&run, 1)->harness_s, 0.002, 1e-9);
    CHECK_NEAR(at(&run, 1)->threads_busy, 2, 0);
    CHECK_NEAR(busy_s(at(&run, 0)), 10, 0); /* as its first rank saw it */
    CHECK_NEAR(busy_s(at(&run, 1)), 12, 0);
    drop(&run);
}

static void one_machine_is_not_told_of(void)
{
    struct run run;
    make(&run, (const int64_t[]){0, 0, 1, 2}, (const int64_t[]){0, 0, 0, 0});
    CHECK_INT(run.machines.count, 0);
    drop(&run);
}

TAP_MAIN(TAP_CASE(each_machine_has_its_own_ranks), TAP_CASE(one_machine_is_not_told_of))
