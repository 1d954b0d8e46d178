#include "probe/cpus.h"
#include "machine.h"

static void make_cpu(int cpu, int package, const char *siblings)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    machine_file_f(path, "%d\n", package);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    machine_file_f(path, "%s\n", siblings);
}

/** Two packages of two cores of two threads, siblings four apart, as usual on servers. */
static void make_server(const char *allowed)
{
    static const char *const siblings[] = {"0,4", "1,5", "2,6", "3,7"};
    machine_new();
    for (int cpu = 0; cpu < 8; cpu++)
        make_cpu(cpu, cpu % 4 / 2, siblings[cpu % 4]);
    machine_file("/sys/devices/system/cpu/online", "0-7\n");
    machine_file_f("/proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\nMems_allowed_list:\t0\n",
                   allowed);
}

static void check_pick(size_t threads, const int *expected, size_t count)
{
    struct ys_cpus cpus;
    int picked[16];
    REQUIRE(ys_cpus_read(machine_root, &cpus) == YS_OK);
    CHECK_INT(ys_cpus_pick(&cpus, threads, picked), count);
    for (size_t i = 0; i < count; i++)
        CHECK_INT(picked[i], expected[i]);
    ys_cpus_fini(&cpus);
}

static void cores_are_counted(void)
{
    struct ys_cpus cpus;
    make_server("0-7");
    REQUIRE(ys_cpus_read(machine_root, &cpus) == YS_OK);
    CHECK_INT(cpus.count, 8);
    CHECK_INT(cpus.online, 8);
    CHECK_INT(cpus.cores, 4);
    CHECK_INT(cpus.packages, 2);
    CHECK_INT(cpus.items[6].sibling, 1);
    ys_cpus_fini(&cpus);
}

static void cores_come_before_siblings(void)
{
    make_server("0-7");
    check_pick(1, (const int[]){0}, 1);
    check_pick(3, (const int[]){0, 1, 2}, 3);
    check_pick(4, (const int[]){0, 1, 2, 3}, 4);
    check_pick(6, (const int[]){0, 1, 2, 3, 4, 5}, 6);
}

static void siblings_side_by_side_are_kept_apart(void)
{
    machine_new();
    for (int cpu = 0; cpu < 4; cpu++)
        make_cpu(cpu, 0, cpu < 2 ? "0-1" : "2-3");
    machine_file("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-3\n");
    check_pick(2, (const int[]){0, 2}, 2);
    check_pick(3, (const int[]){0, 2, 1}, 3);
}

static void only_allowed_cpus_are_picked(void)
{
    make_server("2,5-7");
    check_pick(2, (const int[]){5, 2}, 2); /* package 0 first: CPU 5 is the only one of core 1 that is allowed */
    check_pick(9, (const int[]){5, 2, 7, 6}, 4);
}

static void a_machine_that_shows_no_topology_is_usable(void)
{
    struct ys_cpus cpus;
    machine_new();
    machine_file("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-1\n");
    REQUIRE(ys_cpus_read(machine_root, &cpus) == YS_OK);
    CHECK_INT(cpus.cores, 0);
    CHECK_INT(cpus.online, 0);
    ys_cpus_fini(&cpus);
    check_pick(2, (const int[]){0, 1}, 2);
}

static void a_process_of_unknown_affinity_is_told(void)
{
    struct ys_cpus cpus;
    CHECK_INT(ys_cpus_read(machine_new(), &cpus), YS_ENOTFOUND);
}

TAP_MAIN(TAP_CASE(cores_are_counted), TAP_CASE(cores_come_before_siblings),
         TAP_CASE(siblings_side_by_side_are_kept_apart), TAP_CASE(only_allowed_cpus_are_picked),
         TAP_CASE(a_machine_that_shows_no_topology_is_usable), TAP_CASE(a_process_of_unknown_affinity_is_told))
