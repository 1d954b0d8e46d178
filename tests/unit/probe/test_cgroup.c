#include "probe/cgroup.h"
#include "machine.h"

static void version_2_in_a_container(void)
{
    struct ys_cgroup cgroup;
    const char *root = machine_new();
    machine_file("/proc/self/cgroup", "0::/\n");
    machine_file("/proc/self/mountinfo", "25 20 0:22 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n");
    machine_file("/sys/fs/cgroup/cpu.max", "150000 100000\n");
    machine_file("/sys/fs/cgroup/memory.max", "2147483648\n");
    machine_file("/sys/fs/cgroup/memory.events", "low 0\nhigh 0\nmax 4\noom 2\noom_kill 2\noom_group_kill 0\n");
    ys_cgroup_read(root, &cgroup);
    CHECK(cgroup.has_cpu_quota);
    CHECK_NEAR(cgroup.quota_cores, 1.5, 0); /* both numbers are exact */
    CHECK(cgroup.has_memory_limit);
    CHECK_INT(cgroup.memory_limit_bytes, (int64_t)2 << 30);
    CHECK_INT(cgroup.oom_kills, 2);
}

static void the_tightest_limit_on_the_way_up_holds(void)
{
    struct ys_cgroup cgroup;
    const char *root = machine_new();
    machine_file("/proc/self/cgroup", "0::/user.slice/session\n");
    machine_file("/proc/self/mountinfo", "25 20 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    machine_file("/sys/fs/cgroup/user.slice/session/cpu.max", "max 100000\n");
    machine_file("/sys/fs/cgroup/user.slice/cpu.max", "400000 100000\n");
    machine_file("/sys/fs/cgroup/user.slice/session/memory.max", "max\n");
    machine_file("/sys/fs/cgroup/user.slice/memory.max", "1073741824\n");
    ys_cgroup_read(root, &cgroup);
    CHECK_NEAR(cgroup.quota_cores, 4, 0);
    CHECK_INT(cgroup.memory_limit_bytes, 1 << 30);
    CHECK_INT(cgroup.oom_kills, -1);
}

static void version_1_with_controllers_side_by_side(void)
{
    struct ys_cgroup cgroup;
    const char *root = machine_new();
    machine_file("/proc/self/cgroup", "5:memory:/box\n3:cpu,cpuacct:/box/in\n0::/\n");
    machine_file("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
                                         "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
                                         "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
                                         "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n");
    machine_file("/sys/fs/cgroup/cpu/box/in/cpu.cfs_quota_us", "-1\n");
    machine_file("/sys/fs/cgroup/cpu/box/in/cpu.cfs_period_us", "100000\n");
    machine_file("/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "50000\n");
    machine_file("/sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
    machine_file("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n"); /* "no limit" */
    machine_file("/sys/fs/cgroup/memory/box/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n");
    ys_cgroup_read(root, &cgroup);
    CHECK(cgroup.has_cpu_quota);
    CHECK_NEAR(cgroup.quota_cores, 0.5, 0);
    CHECK(!cgroup.has_memory_limit);
    CHECK_INT(cgroup.oom_kills, 7);
    machine_file("/sys/fs/cgroup/cpu/box/in/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 1500000000\n");
    ys_cgroup_count(root, &cgroup); /* what is counted, and no limit */
    CHECK(!cgroup.has_cpu_quota && !cgroup.has_memory_limit);
    CHECK_INT(cgroup.oom_kills, 7);
    CHECK_NEAR(cgroup.throttled_s, 1.5, 1e-12);
}

static void a_mount_that_shows_a_part_of_the_hierarchy(void)
{
    struct ys_cgroup cgroup;
    const char *root = machine_new();
    machine_file("/proc/self/cgroup", "4:memory:/docker/abc\n");
    machine_file("/proc/self/mountinfo", "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    machine_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000\n");
    ys_cgroup_read(root, &cgroup);
    CHECK_INT(cgroup.memory_limit_bytes, 1000000);
}

static void a_machine_without_groups_has_no_limits(void)
{
    struct ys_cgroup cgroup;
    ys_cgroup_read(machine_new(), &cgroup);
    CHECK(!cgroup.has_cpu_quota);
    CHECK(!cgroup.has_memory_limit);
    CHECK_INT(cgroup.oom_kills, -1);
}

static void damaged_files_are_no_limits(void)
{
    struct ys_cgroup cgroup;
    const char *root = machine_new();
    machine_file("/proc/self/cgroup", "rubbish\n\n0:\n");
    machine_file("/proc/self/mountinfo", "x\n - \n1 2 3 - cgroup2\n");
    ys_cgroup_read(root, &cgroup);
    CHECK(!cgroup.has_cpu_quota && !cgroup.has_memory_limit);
}

TAP_MAIN(TAP_CASE(version_2_in_a_container), TAP_CASE(the_tightest_limit_on_the_way_up_holds),
         TAP_CASE(version_1_with_controllers_side_by_side), TAP_CASE(a_mount_that_shows_a_part_of_the_hierarchy),
         TAP_CASE(a_machine_without_groups_has_no_limits), TAP_CASE(damaged_files_are_no_limits))
