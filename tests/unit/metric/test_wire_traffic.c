/* What hosts sent, held against what their ranks had to: of runs that were made up. */
#include "metric/result/wire_traffic.h"
#include "base/mem.h"
#include "probe/network_interfaces.h"
#include "protocol/plan.h"
#include "tap.h"

#include <math.h>

enum { RANKS_MOST = 8, STEPS = 10, PARAMETERS = 1000000 };
static char lo[] = "lo", eth0[] = "eth0", eth1[] = "eth1", h0[] = "h0", h1[] = "h1", no_table[] = "no table";
static const double N = 4.0 * PARAMETERS; /* bytes of the gradients */

struct made {
    struct ys_facts facts;
    struct ys_facts_work work;
    struct ys_facts_rank ranks[RANKS_MOST];
    struct ys_facts_network networks[RANKS_MOST];
    int64_t numbers[RANKS_MOST];
    struct ys_interface interfaces[RANKS_MOST][3];
};

/* `hosts` hosts with `each` ranks, each of which sends `sent` bytes a step by eth0, a little by another interface, and
 * much by lo. */
static struct ys_facts *make(struct made *made, const char *exchange, int hosts, int each, double sent)
{
    *made = (struct made){.work = {.parameters = PARAMETERS}};
    made->facts.work = &made->work;
    made->facts.said.exchange = exchange;
    made->facts.ranks = (struct ys_list){made->ranks, (size_t)(hosts * each)};
    made->facts.networks = (struct ys_list){made->networks, (size_t)hosts};
    for (int r = 0; r < hosts * each; r++)
        made->numbers[r] = made->ranks[r].rank = r;
    for (int h = 0; h < hosts; h++) {
        struct ys_interface *interfaces = made->interfaces[h];
        interfaces[0] = (struct ys_interface){lo, 1000000000, 1000000000};
        interfaces[1] = (struct ys_interface){eth1, 5, 5};
        interfaces[2] = (struct ys_interface){eth0, 7 * STEPS, (int64_t)(sent * STEPS)};
        made->networks[h] = (struct ys_facts_network){.ranks = {&made->numbers[h * each], (size_t)each},
                                                      .host = h ? h1 : h0,
                                                      .steps = STEPS,
                                                      .interfaces = {interfaces, 3}};
    }
    return &made->facts;
}

static double needed(const char *exchange, int hosts, int each, int precision)
{
    struct made made;
    return ys_wire_of(make(&made, exchange, hosts, each, 0), precision, (size_t)hosts - 1).needed_bytes;
}

static void a_ring_needs_what_passes_from_host_to_host(void)
{
    CHECK_NEAR(needed("ring", 2, 1, YS_PRECISION_F32), N, 0); /* 2 (w - 1) / w n, Patarasuk and Yuan */
    CHECK_NEAR(needed("ring", 4, 1, YS_PRECISION_F32), 1.5 * N, 0);
    CHECK_NEAR(needed("ring", 2, 2, YS_PRECISION_F32), 1.5 * N,
               0); /* of two ranks one has its next on the other host */
    CHECK_NEAR(needed("ring", 4, 1, YS_PRECISION_F64), 3 * N, 0);
    CHECK_NEAR(needed("ring", 4, 1, YS_PRECISION_BF16), 1.5 * N, 0); /* gradients are float */
    CHECK(isnan(needed("ring", 1, 4, YS_PRECISION_F32)));            /* nothing has to leave */
}

static void other_ways_need_other_sums(void)
{
    CHECK_NEAR(needed("servers", 4, 1, YS_PRECISION_F32), 1.5 * N, 0);
    CHECK_NEAR(needed("servers", 2, 2, YS_PRECISION_F32), 2 * N, 0); /* each rank sends to both servers elsewhere */
    CHECK_NEAR(needed("mean", 4, 1, YS_PRECISION_F32), 1.5 * N, 0);
    CHECK_NEAR(needed("mean", 2, 2, YS_PRECISION_F32), N, 0); /* sums may be taken within hosts first */
    CHECK_NEAR(needed("shards", 2, 1, YS_PRECISION_F32), 1.5 * N, 0);
    CHECK(isnan(needed("gossip", 2, 1, YS_PRECISION_F32)));
    CHECK(isnan(needed(NULL, 2, 1, YS_PRECISION_F32)));
}

static void who_does_no_work_says_how_much_it_exchanges(void)
{
    struct made made;
    struct ys_facts *facts = make(&made, "ring", 2, 1, 0);
    facts->said.no_work = true;
    facts->said.exchange_bytes = 100;
    CHECK_NEAR(ys_wire_of(facts, YS_PRECISION_F32, 0).needed_bytes, 100, 0);
    facts->said.exchange_bytes = YS_FIELD_NONE;
    CHECK(isnan(ys_wire_of(facts, YS_PRECISION_F32, 0).needed_bytes));
}

static void the_interface_between_hosts_counts_and_of_one_host_lo(void)
{
    struct made made;
    struct ys_wire wire = ys_wire_of(make(&made, "ring", 2, 1, 3e6), YS_PRECISION_F32, 1);
    CHECK_TEXT(wire.interface, "eth0");
    CHECK_NEAR(wire.sent_bytes, 3e6, 0);
    CHECK_NEAR(wire.received_bytes, 7, 0);
    wire = ys_wire_of(make(&made, "ring", 1, 2, 3e6), YS_PRECISION_F32, 0);
    CHECK_TEXT(wire.interface, "lo");
    CHECK_NEAR(wire.sent_bytes, 1e9 / STEPS, 0);
    made.networks[0].reason = no_table;
    wire = ys_wire_of(&made.facts, YS_PRECISION_F32, 0);
    CHECK(!wire.interface && isnan(wire.sent_bytes));
    CHECK(isnan(ys_wire_of(&made.facts, YS_PRECISION_F32, 1).sent_bytes)); /* there is none */
}

static enum ys_wire_fault judge(const char *exchange, int hosts, double share, char text[400])
{
    struct made made;
    struct ys_facts *facts = make(&made, exchange, hosts, 1, 0);
    made.interfaces[hosts - 1][2].sent_bytes = 0;
    for (int h = 0; h < hosts; h++) {
        const double needed_bytes = ys_wire_of(facts, YS_PRECISION_F32, (size_t)h).needed_bytes; /* NaN: not known */
        made.interfaces[h][2].sent_bytes = isnan(needed_bytes) ? 0 : (int64_t)(share * STEPS * needed_bytes);
    }
    return ys_wire_judge(facts, YS_PRECISION_F32, text, 400);
}

static void less_and_more_than_is_needed_are_found(void)
{
    char text[400];
    CHECK_INT(judge("ring", 2, 1.05, text), YS_WIRE_NONE); /* headers */
    CHECK_INT(judge("ring", 2, 0.52, text), YS_WIRE_LESS);
    CHECK_TEXT(text, "eth0 of host h0 sent 2.08 MB a step, where a ring of 2 ranks needs 4 MB: what was exchanged is "
                     "compressed, or went another way");
    CHECK_INT(judge("ring", 2, 2, text), YS_WIRE_MORE);
    CHECK_HAS(text, "sent 8 MB a step, where a ring of 2 ranks needs 4 MB: other programs use it too");
    CHECK_INT(judge("servers", 3, 0.5, text), YS_WIRE_LESS);
    CHECK_HAS(text, "the interfaces of all hosts sent 8 MB a step, where servers beside 3 ranks need 16 MB");
    CHECK_INT(judge("mean", 4, 1.34, text), YS_WIRE_NONE); /* log2(4) n are 1.33 times the least */
    CHECK_INT(judge("mean", 4, 2, text), YS_WIRE_MORE);
    CHECK_INT(judge("shards", 2, 1.34, text), YS_WIRE_NONE); /* four turns in place of three */
    CHECK_INT(judge("shards", 2, 2, text), YS_WIRE_MORE);
    CHECK_INT(judge("gossip", 2, 0.1, text), YS_WIRE_NONE);
}

static void one_host_of_several_is_found(void)
{
    char text[400];
    struct made made;
    struct ys_facts *facts = make(&made, "ring", 4, 1, 1.55 * N);
    CHECK_INT(ys_wire_judge(facts, YS_PRECISION_F32, text, sizeof text), YS_WIRE_NONE);
    made.interfaces[3][2].sent_bytes /= 2;
    CHECK_INT(ys_wire_judge(facts, YS_PRECISION_F32, text, sizeof text), YS_WIRE_LESS);
    facts->said.exchange = "servers"; /* one server may have more than its share */
    made.interfaces[2][2].sent_bytes += made.interfaces[3][2].sent_bytes;
    CHECK_INT(ys_wire_judge(facts, YS_PRECISION_F32, text, sizeof text), YS_WIRE_NONE);
}

static void what_is_not_known_is_no_fault(void)
{
    char text[400];
    struct made made;
    struct ys_facts *facts = make(&made, "ring", 2, 1, 0);
    CHECK_INT(ys_wire_judge(facts, YS_PRECISION_F32, text, sizeof text), YS_WIRE_LESS);
    made.networks[0].reason = made.networks[1].reason = no_table;
    CHECK_INT(ys_wire_judge(facts, YS_PRECISION_F32, text, sizeof text), YS_WIRE_NONE);
    facts = make(&made, "ring", 2, 1, 0);
    facts->work = NULL;
    CHECK_INT(ys_wire_judge(facts, YS_PRECISION_F32, text, sizeof text), YS_WIRE_NONE);
    facts = make(&made, "ring", 1, 4, 0);
    CHECK_INT(ys_wire_judge(facts, YS_PRECISION_F32, text, sizeof text), YS_WIRE_NONE);
}

TAP_MAIN(TAP_CASE(a_ring_needs_what_passes_from_host_to_host), TAP_CASE(other_ways_need_other_sums),
         TAP_CASE(who_does_no_work_says_how_much_it_exchanges),
         TAP_CASE(the_interface_between_hosts_counts_and_of_one_host_lo),
         TAP_CASE(less_and_more_than_is_needed_are_found), TAP_CASE(one_host_of_several_is_found),
         TAP_CASE(what_is_not_known_is_no_fault))
