/* What passed by interface: the networks of ranks that were made up, as those of their run. */
#include "crew/traffic.h"
#include "base/mem.h"
#include "unit/run/run_fixture.h"

enum { RANKS = 4 };

static void look(struct ys_run_look *look, int64_t step, const char *space, int64_t sent_bytes)
{
    char table[100];
    snprintf(table, sizeof table, "eth0: 5 0 0 0 0 0 0 0 %lld 0\n", (long long)sent_bytes);
    *look = (struct ys_run_look){.step = step};
    snprintf(look->seen.space, sizeof look->seen.space, "%s", space);
    ys_interfaces_parse(table, &look->seen.items);
}

/* A rank that looked after step 1 and after step `last`. */
static void fill(struct ys_run_record *record, int64_t rank, const char *space, int64_t last, int64_t sent_bytes)
{
    struct ys_plan plan = {.dist = {.rank = rank, .world = RANKS}};
    const struct ys_run_spec spec = {.plan = &plan};
    struct ys_run run = {.spec = &spec};
    *record = (struct ys_run_record){0};
    ys_facts_init(&record->facts);
    look(&run.traffic_before, 1, space, 1000);
    look(&run.traffic_after, last, space, 1000 + sent_bytes);
    ys_traffic_fill(&run, &record->facts);
    ys_traffic_fini(&run);
}

static const struct ys_facts_network *at(const struct ys_list *networks, size_t i)
{
    static const struct ys_facts_network none = {.steps = -1};
    return CHECK(i < networks->count) ? (const struct ys_facts_network *)networks->items + i : &none;
}

static void ranks_of_one_network_are_told_of_once(void)
{
    static const char *const spaces[RANKS] = {"boot a", "boot a", "boot b", "boot a"};
    struct ys_run_record records[RANKS], *own[RANKS];
    static char host[] = "h1";
    const struct ys_facts_rank ranks[RANKS] = {
        {.node = 0, .host = host}, {.node = 0}, {.node = 1, .host = host}, {.node = 1}};
    struct ys_list networks = {0};
    for (int r = 0; r < RANKS; r++) {
        fill(&records[r], r, spaces[r], 11, 500 + r);
        own[r] = &records[r];
    }
    ys_traffic_join(own, RANKS, ranks, &networks);
    CHECK_INT(networks.count, 2);
    const struct ys_facts_network *first = at(&networks, 0), *second = at(&networks, 1);
    CHECK_INT(first->ranks.count, 3);
    CHECK_INT(((const int64_t *)first->ranks.items)[2], 3);
    CHECK_INT(first->steps, 10);
    CHECK_INT(((const struct ys_interface *)first->interfaces.items)->sent_bytes,
              500); /* as the first of them saw it */
    CHECK_INT(second->ranks.count, 1);
    CHECK_INT(second->node, 1);
    CHECK_TEXT(second->host, "h1");
    for (int r = 0; r < RANKS; r++) {
        CHECK_INT(records[r].facts.networks.count, 0);
        ys_facts_fini(&records[r].facts);
    }
    ys_list_fini(&ys_facts_network_record, &networks);
}

static void what_was_not_seen_twice_has_a_reason(void)
{
    struct ys_run_record record;
    fill(&record, 0, "boot a", 1, 0);
    CHECK_HAS(at(&record.facts.networks, 0)->reason, "no step after the first");
    CHECK_INT(at(&record.facts.networks, 0)->interfaces.count, 0);
    ys_facts_fini(&record.facts);
    fill(&record, 0, "boot a", 0, 0); /* it never came to its last step */
    CHECK_INT(record.facts.networks.count, 0);
    ys_facts_fini(&record.facts);
}

TAP_MAIN(TAP_CASE(ranks_of_one_network_are_told_of_once), TAP_CASE(what_was_not_seen_twice_has_a_reason))
