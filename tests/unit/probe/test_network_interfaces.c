/* Counters of network interfaces: of machines made up, and of this one. */
#include "probe/network_interfaces.h"
#include "base/mem.h"
#include "machine.h"

#include <string.h>
#include <unistd.h>

#define HEAD                                                                                                           \
    "Inter-|   Receive                                                |  Transmit\n"                                   \
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier " \
    "compressed\n"

/** One without a name where there are not so many. */
static const struct ys_interface *at(const struct ys_list *list, size_t i)
{
    static const struct ys_interface none = {.received_bytes = -1, .sent_bytes = -1};
    return CHECK(i < list->count) ? (const struct ys_interface *)list->items + i : &none;
}

static void look(const char *root, const char *table, struct ys_interfaces *seen)
{
    machine_file("/proc/7/net/dev", table);
    ys_interfaces_of(root, 7, seen);
    CHECK_TEXT(seen->reason, "");
}

static void each_interface_is_read_by_its_name(void)
{
    struct ys_interfaces seen;
    look(
        machine_new(),
        HEAD
        "    lo: 46152     364    0    0    0     0          0         0    46153     364    0    0    0     0       0 "
        "         0\n"
        "  eth0:5179869184 9 1 2 3 4 5 6 8589934592 10 0 0 0 0 0 0\n" /* no blank, and more than 32 bits */
        "enp0s31f6: 1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0\n",
        &seen);
    CHECK_INT(seen.items.count, 3);
    CHECK_TEXT(at(&seen.items, 0)->name, "lo");
    CHECK_INT(at(&seen.items, 0)->received_bytes, 46152);
    CHECK_INT(at(&seen.items, 0)->sent_bytes, 46153);
    CHECK_TEXT(at(&seen.items, 1)->name, "eth0");
    CHECK_INT(at(&seen.items, 1)->received_bytes, 5179869184);
    CHECK_INT(at(&seen.items, 1)->sent_bytes, 8589934592);
    CHECK_TEXT(at(&seen.items, 2)->name, "enp0s31f6");
    CHECK_INT(at(&seen.items, 2)->sent_bytes, 2);
    ys_interfaces_fini(&seen);
}

static void lines_that_are_none_are_passed_over(void)
{
    struct ys_interfaces seen;
    look(machine_new(),
         HEAD "eth0: 1 2 3\n: 1 2 3 4 5 6 7 8 9 10\neth1: 1 2 3 4 5 6 7 -8 9 10\neth2: x\n\nwlan0: 1 2 3 4 5 6 7 8 9",
         &seen);
    CHECK_INT(seen.items.count, 1);
    CHECK_TEXT(at(&seen.items, 0)->name, "wlan0"); /* its line has no end, and what comes after the 9 is not needed */
    CHECK_INT(at(&seen.items, 0)->sent_bytes, 9);
    ys_interfaces_fini(&seen);
}

static void a_machine_without_the_table_says_so(void)
{
    struct ys_interfaces seen;
    ys_interfaces_of(machine_new(), 7, &seen);
    CHECK_INT(seen.items.count, 0);
    CHECK(strstr(seen.reason, "/proc/7/net/dev") && strstr(seen.reason, "No such file"));
    CHECK_TEXT(seen.space, "");
    ys_interfaces_fini(&seen);
    machine_file("/proc/7/net/dev", "");
    ys_interfaces_of(machine_new(), 7, &seen);
    CHECK(seen.reason[0]);
    ys_interfaces_fini(&seen);
}

static void what_passed_is_told_of_those_that_stayed(void)
{
    struct ys_interfaces before, after;
    struct ys_list passed = {0};
    const char *root = machine_new();
    look(root,
         HEAD "lo: 10 0 0 0 0 0 0 0 10 0\neth0: 100 0 0 0 0 0 0 0 200 0\neth1: 50 0 0 0 0 0 0 0 50 0\neth2: 5 0 0 0 0 "
              "0 0 0 5 0\n",
         &before);
    /* eth1 was made anew, eth2 has gone, eth3 has come */
    look(root,
         HEAD "lo: 910 0 0 0 0 0 0 0 910 0\neth3: 1 0 0 0 0 0 0 0 1 0\neth1: 1 0 0 0 0 0 0 0 51 0\neth0: 101 0 0 0 0 0 "
              "0 0 250 0\n",
         &after);
    ys_interfaces_passed(&before, &after, &passed);
    CHECK_INT(passed.count, 2);
    CHECK_INT(at(&passed, 0)->sent_bytes, 900);
    CHECK_TEXT(at(&passed, 1)->name, "eth0");
    CHECK_INT(at(&passed, 1)->received_bytes, 1);
    CHECK_INT(at(&passed, 1)->sent_bytes, 50);
    CHECK(ys_interfaces_busiest(&passed) == at(&passed, 1)); /* though more went through lo */
    CHECK(ys_interfaces_loopback(&passed) == at(&passed, 0));
    ys_list_fini(&ys_interface_record, &passed);
    CHECK(!ys_interfaces_busiest(&passed) && !ys_interfaces_loopback(&passed));
    ys_interfaces_fini(&before);
    ys_interfaces_fini(&after);
}

static void the_own_namespace_is_one_by_either_way(void)
{
    struct ys_interfaces by_process, by_file;
    ys_interfaces_of("", getpid(), &by_process);
    if (by_process.reason[0]) {
        tap_skip("no counters here");
        return;
    }
    CHECK(by_process.space[0] && ys_interfaces_loopback(&by_process.items));
    ys_interfaces_in("/proc/self/ns/net", &by_file);
    CHECK_TEXT(by_file.space, by_process.space);
    if (geteuid() == 0) /* else it may not be entered, which is said */
        CHECK(by_file.reason[0] || by_file.items.count == by_process.items.count);
    else
        CHECK(strstr(by_file.reason, "takes root"));
    ys_interfaces_fini(&by_process);
    ys_interfaces_fini(&by_file);
}

static void what_is_no_namespace_is_said(void)
{
    struct ys_interfaces seen;
    ys_interfaces_in("/nonexistent/h0", &seen);
    CHECK(strstr(seen.reason, "/nonexistent/h0") && strstr(seen.reason, "opened"));
    ys_interfaces_fini(&seen);
    ys_interfaces_in("/proc/self/stat", &seen);
    CHECK(strstr(seen.reason, "entered"));
    CHECK_INT(seen.items.count, 0);
    ys_interfaces_fini(&seen);
}

TAP_MAIN(TAP_CASE(each_interface_is_read_by_its_name), TAP_CASE(lines_that_are_none_are_passed_over),
         TAP_CASE(a_machine_without_the_table_says_so), TAP_CASE(what_passed_is_told_of_those_that_stayed),
         TAP_CASE(the_own_namespace_is_one_by_either_way), TAP_CASE(what_is_no_namespace_is_said))
