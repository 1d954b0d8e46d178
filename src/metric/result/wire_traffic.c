#include "metric/result/wire_traffic.h"

#include "probe/network_interfaces.h"
#include "protocol/plan.h"

#include <math.h>
#include <stdio.h>

/* Bounds of what was sent over what is needed. Of less than that no plain exchange makes do with, for headers come on
 * top. Headers and acknowledgements are at most 66 bytes each of 1448, so 1.1 times; what frameworks say beside
 * gradients, a step and rank, is within MORE_BYTES (docs/distributed.md has what each was found to send). */
static const double LESS = 0.9, MORE = 1.3, MORE_BYTES = 100e3;

static const char *const exchange_words[] = {[YS_EXCHANGE_RING] = "ring",
                                             [YS_EXCHANGE_MEAN] = "mean",
                                             [YS_EXCHANGE_SERVERS] = "servers",
                                             [YS_EXCHANGE_SHARDS] = "shards"};
const struct ys_names ys_exchanges = YS_NAMES("way to exchange gradients", exchange_words);

static const struct ys_facts_network *network_at(const struct ys_facts *facts, size_t network)
{
    return network < facts->networks.count ? (const struct ys_facts_network *)facts->networks.items + network : NULL;
}

static bool is_in(const struct ys_facts_network *network, int64_t rank)
{
    const int64_t *ranks = network->ranks.items;
    for (size_t i = 0; i < network->ranks.count; i++)
        if (ranks[i] == rank)
            return true;
    return false;
}

size_t ys_wire_find(const struct ys_facts *facts, int64_t rank)
{
    size_t network = 0;
    while (network < facts->networks.count && !is_in(network_at(facts, network), rank))
        network++;
    return network;
}

/** Of the gradients that a step takes the mean of. */
static double exchanged_bytes(const struct ys_facts *facts, int precision)
{
    if (facts->said.no_work)
        return facts->said.exchange_bytes > 0 ? (double)facts->said.exchange_bytes : NAN;
    if (!facts->work || facts->work->parameters <= 0)
        return NAN;
    return (double)facts->work->parameters * (double)ys_dtype_size(ys_format_of(precision)->dtype);
}

/** Ranks whose next one in the ring is elsewhere. */
static double ways_out(const struct ys_facts_network *network, int64_t world)
{
    const int64_t *ranks = network->ranks.items;
    double ways = 0;
    for (size_t i = 0; i < network->ranks.count; i++)
        ways += !is_in(network, (ranks[i] + 1) % world);
    return ways;
}

static double needed_bytes(const struct ys_facts *facts, int precision, const struct ys_facts_network *network)
{
    const double world = (double)facts->ranks.count, networks = (double)facts->networks.count,
                 bytes = exchanged_bytes(facts, precision), own = (double)network->ranks.count;
    if (networks < 2)
        return NAN;
    switch (ys_name_find(&ys_exchanges, facts->said.exchange)) {
    case YS_EXCHANGE_RING:
        return 2 * (world - 1) / world * bytes * ways_out(network, (int64_t)world);
    case YS_EXCHANGE_MEAN:
        return 2 * (networks - 1) / networks * bytes;
    case YS_EXCHANGE_SERVERS:
        return 2 * own * (world - own) / world * bytes;
    case YS_EXCHANGE_SHARDS:
        return 3 * (world - 1) / world * bytes * ways_out(network, (int64_t)world);
    default:
        return NAN;
    }
}

/** The most that such a way may send from there. A mean of few numbers is taken in the fewest turns, log2 of w, and
 * each passes all of them on; of shards gloo sums gradients whole, as a ring does that leaves all of them everywhere.
 */
static double most_bytes(const struct ys_facts *facts, int precision, const struct ys_facts_network *network)
{
    const double needed = needed_bytes(facts, precision, network);
    switch (ys_name_find(&ys_exchanges, facts->said.exchange)) {
    case YS_EXCHANGE_MEAN:
        return fmax(needed, ceil(log2((double)facts->ranks.count)) * (double)network->ranks.count *
                                exchanged_bytes(facts, precision));
    case YS_EXCHANGE_SHARDS:
        return needed * 4 / 3;
    default:
        return needed;
    }
}

struct ys_wire ys_wire_of(const struct ys_facts *facts, int precision, size_t at)
{
    struct ys_wire wire = {.interface = NULL, .sent_bytes = NAN, .received_bytes = NAN, .needed_bytes = NAN};
    const struct ys_facts_network *network = network_at(facts, at);
    if (!network || network->reason || network->steps <= 0)
        return wire;
    const struct ys_interface *found = facts->networks.count > 1 ? ys_interfaces_busiest(&network->interfaces)
                                                                 : ys_interfaces_loopback(&network->interfaces);
    wire.interface = found ? found->name : NULL;
    wire.sent_bytes = found ? (double)found->sent_bytes / (double)network->steps : 0;
    wire.received_bytes = found ? (double)found->received_bytes / (double)network->steps : 0;
    wire.needed_bytes = needed_bytes(facts, precision, network);
    return wire;
}

static enum ys_wire_fault fault_of(double sent_bytes, double needed_bytes, double most_bytes)
{
    if (sent_bytes < LESS * needed_bytes)
        return YS_WIRE_LESS;
    return sent_bytes > MORE * most_bytes + MORE_BYTES ? YS_WIRE_MORE : YS_WIRE_NONE; /* NaN is no fault */
}

/** `who` sent so much. */
static void say(const struct ys_facts *facts, enum ys_wire_fault fault, const char *who, double sent_bytes,
                double needed_bytes, char *text, size_t size)
{
    static const struct {
        const char *way, *verb;
    } ways[] = {[YS_EXCHANGE_RING] = {"a ring of", "needs"},
                [YS_EXCHANGE_MEAN] = {"a mean over", "needs"},
                [YS_EXCHANGE_SERVERS] = {"servers beside", "need"},
                [YS_EXCHANGE_SHARDS] = {"a network divided between", "needs"}};
    static const char *const reasons[] = {
        [YS_WIRE_NONE] = "",
        [YS_WIRE_LESS] = "what was exchanged is compressed, or went another way",
        [YS_WIRE_MORE] = "other programs use it too, much was sent again, or gradients are exchanged in another way"};
    const double mb = 1e6;
    const int named = ys_name_find(&ys_exchanges, facts->said.exchange);
    snprintf(text, size, "%s sent %.3g MB a step, where %s %zu ranks %s %.3g MB: %s", who, sent_bytes / mb,
             ways[named].way, facts->ranks.count, ways[named].verb, needed_bytes / mb, reasons[fault]);
}

static void name_network(const struct ys_facts_network *network, const struct ys_wire *wire, char *text, size_t size)
{
    const char *interface = wire->interface ? wire->interface : "no interface";
    if (network->host)
        snprintf(text, size, "%.20s of host %.70s", interface, network->host);
    else
        snprintf(text, size, "%.20s of rank %lld", interface, (long long)((const int64_t *)network->ranks.items)[0]);
}

/** Each network of them has to send as much. */
static enum ys_wire_fault judge_each(const struct ys_facts *facts, int precision, char *text, size_t size)
{
    char who[128];
    for (size_t i = 0; i < facts->networks.count; i++) {
        const struct ys_facts_network *network = network_at(facts, i);
        const struct ys_wire wire = ys_wire_of(facts, precision, i);
        const enum ys_wire_fault fault =
            fault_of(wire.sent_bytes, wire.needed_bytes, most_bytes(facts, precision, network));
        if (fault == YS_WIRE_NONE)
            continue;
        name_network(network, &wire, who, sizeof who);
        say(facts, fault, who, wire.sent_bytes, wire.needed_bytes, text, size);
        return fault;
    }
    return YS_WIRE_NONE;
}

/** All together have to. */
static enum ys_wire_fault judge_all(const struct ys_facts *facts, int precision, char *text, size_t size)
{
    double sent_bytes = 0, needed = 0, most = 0;
    for (size_t i = 0; i < facts->networks.count; i++) {
        const struct ys_wire wire = ys_wire_of(facts, precision, i);
        sent_bytes += wire.sent_bytes;
        needed += wire.needed_bytes;
        most += most_bytes(facts, precision, network_at(facts, i));
    }
    const enum ys_wire_fault fault = fault_of(sent_bytes, needed, most);
    if (fault != YS_WIRE_NONE)
        say(facts, fault, "the interfaces of all hosts", sent_bytes, needed, text, size);
    return fault;
}

enum ys_wire_fault ys_wire_judge(const struct ys_facts *facts, int precision, char *text, size_t size)
{
    switch (ys_name_find(&ys_exchanges, facts->said.exchange)) {
    case YS_EXCHANGE_RING:
    case YS_EXCHANGE_SHARDS:
        return judge_each(facts, precision, text, size);
    case YS_EXCHANGE_MEAN:
    case YS_EXCHANGE_SERVERS: /* who has which share is theirs */
        return judge_all(facts, precision, text, size);
    default:
        return YS_WIRE_NONE;
    }
}
