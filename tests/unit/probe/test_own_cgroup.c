/* The control group of a run, on machines made by hand: their folders exist already, as files of text. */
#include "probe/own_cgroup.h"
#include "machine.h"
#include <fcntl.h>
#include <sys/wait.h>

#define MOUNT_1(controller, options)                                                                                   \
    "30 25 0:26 / /sys/fs/cgroup/" controller " rw shared:9 - cgroup cgroup rw," options "\n"
#define MOUNT_2(where) "31 25 0:27 / " where " rw shared:10 - cgroup2 cgroup2 rw\n"

/** A path, valid until the next call. */
__attribute__((format(printf, 1, 2))) static const char *at(const char *format, ...)
{
    static char path[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    return path;
}

static void version_1_files(const char *controller, const char *own)
{
    machine_file(at("/sys/fs/cgroup/%s%s/yardstick-run/cgroup.procs", controller, own), "");
}

static void memory_of_version_1(const char *own)
{
    version_1_files("memory", own);
    machine_file(at("/sys/fs/cgroup/memory%s/yardstick-run/memory.usage_in_bytes", own), "1\n");
    machine_file(at("/sys/fs/cgroup/memory%s/yardstick-run/memory.max_usage_in_bytes", own), "9000\n");
    machine_file(at("/sys/fs/cgroup/memory%s/yardstick-run/memory.limit_in_bytes", own), "1\n");
    machine_file(at("/sys/fs/cgroup/memory%s/yardstick-run/memory.oom_control", own),
                 "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    machine_file(at("/sys/fs/cgroup/memory%s/yardstick-run/memory.stat", own),
                 "cache 1\nrss 1\ntotal_cache 700\ntotal_rss 500\ntotal_shmem 200\ntotal_swap 40\n");
}

static void hybrid_machine(void)
{
    machine_new();
    machine_file("/proc/self/cgroup", "4:memory:/a/b\n2:cpu,cpuacct:/\n0::/user\n");
    machine_file("/proc/self/mountinfo",
                 MOUNT_1("memory", "memory") MOUNT_1("cpu", "cpu,cpuacct") MOUNT_2("/sys/fs/cgroup/unified"));
    memory_of_version_1("/a/b");
    version_1_files("cpu", "");
    machine_file("/sys/fs/cgroup/cpu/yardstick-run/cpuacct.usage", "600000000\n");
    machine_file("/sys/fs/cgroup/cpu/yardstick-run/cpuacct.usage_user", "400000000\n");
    machine_file("/sys/fs/cgroup/cpu/yardstick-run/cpuacct.usage_sys", "200000000\n");
    machine_file("/sys/fs/cgroup/unified/user/yardstick-run/cgroup.procs", "");
    machine_file("/sys/fs/cgroup/unified/user/yardstick-run/cgroup.kill", "");
    machine_file("/sys/fs/cgroup/unified/user/yardstick-run/cpu.stat", "usage_usec 7\nuser_usec 3\nsystem_usec 4\n");
}

static void each_controller_is_taken_from_where_it_is(void)
{
    struct ys_group *group;
    struct ys_group_usage usage;
    hybrid_machine();
    REQUIRE(ys_group_open(machine_root, 123456, &group) == YS_OK);
    ys_group_read(group, &usage);
    CHECK(usage.has_cpu && usage.has_memory && !usage.has_tasks);
    CHECK_INT(usage.cpu_ns, 600000000); /* of version 1, in nanoseconds */
    CHECK_INT(usage.user_ns, 400000000);
    CHECK_INT(usage.system_ns, 200000000);
    CHECK_INT(usage.held_bytes, 700); /* anonymous and shared memory */
    CHECK_INT(usage.cache_bytes, 500);
    CHECK_INT(usage.peak_bytes, 9000);
    CHECK_INT(usage.swap_bytes, 40);
    CHECK_INT(usage.oom_kills, 3);
    CHECK(ys_group_limits_memory(group) && ys_group_can_kill(group));
    CHECK_TEXT(ys_group_text(group), "version 1: processor time, memory; version 2: freezing");
    int joins[YS_GROUP_MOST_JOINS];
    CHECK_INT(ys_group_joins(group, joins), 3);
    ys_group_close(group);
    char *path = ys_format("%s/sys/fs/cgroup/memory/a/b/yardstick-run/memory.limit_in_bytes", machine_root);
    struct ys_buf text = {0};
    CHECK(ys_fs_read(path, 100, &text) == YS_OK);
    CHECK_HAS(ys_buf_text(&text), "123456");
    ys_buf_free(&text);
    ys_free(path);
}

static void version_2_freezes_and_thaws_by_a_word(void)
{
    struct ys_group *group;
    static const char path[] = "/sys/fs/cgroup/unified/user/yardstick-run/cgroup.freeze";
    const char *word = NULL;
    hybrid_machine();
    machine_file(path, "");
    machine_file("/sys/fs/cgroup/unified/user/yardstick-run/cgroup.events", "populated 1\nfrozen 1\n");
    REQUIRE(ys_group_open(machine_root, 0, &group) == YS_OK);
    CHECK(ys_group_end_fd(group, &word) >= 0);
    CHECK_TEXT(word, "1"); /* what is frozen can be killed there: nothing has to thaw it first */
    for (int is_frozen = 1; is_frozen >= 0; is_frozen--) {
        struct ys_buf text = {0};
        char *whole = ys_format("%s%s", machine_root, path);
        CHECK(ys_group_freeze(group, is_frozen));
        CHECK(ys_fs_read(whole, 100, &text) == YS_OK);
        CHECK_TEXT(ys_buf_text(&text), is_frozen ? "1" : "0");
        ys_buf_free(&text);
        ys_free(whole);
    }
    ys_group_close(group);
}

static void version_2_alone_is_enough(void)
{
    struct ys_group *group;
    struct ys_group_usage usage;
    machine_new();
    machine_file("/proc/self/cgroup", "0::/app.scope\n");
    machine_file("/proc/self/mountinfo", MOUNT_2("/sys/fs/cgroup"));
    machine_file("/sys/fs/cgroup/app.scope/yardstick-run/cgroup.procs", "");
    machine_file("/sys/fs/cgroup/app.scope/yardstick-run/cpu.stat", "usage_usec 70\nuser_usec 30\nsystem_usec 40\n");
    machine_file("/sys/fs/cgroup/app.scope/yardstick-run/memory.current", "400\n");
    machine_file("/sys/fs/cgroup/app.scope/yardstick-run/memory.peak", "5000\n");
    machine_file("/sys/fs/cgroup/app.scope/yardstick-run/memory.stat", "anon 300\nfile 90\nshmem 20\n");
    machine_file("/sys/fs/cgroup/app.scope/yardstick-run/memory.events", "low 0\noom 0\noom_kill 0\n");
    machine_file("/sys/fs/cgroup/app.scope/yardstick-run/pids.current", "1\n");
    machine_file("/sys/fs/cgroup/app.scope/yardstick-run/pids.peak", "17\n");
    REQUIRE(ys_group_open(machine_root, 0, &group) == YS_OK);
    ys_group_read(group, &usage);
    CHECK_INT(usage.cpu_ns, 70000);
    CHECK_INT(usage.held_bytes, 320);
    CHECK_INT(usage.cache_bytes, 70);
    CHECK_INT(usage.other_bytes, 80);
    CHECK_INT(usage.peak_bytes, 5000);
    CHECK_INT(usage.tasks_peak, 17);
    CHECK_INT(usage.oom_kills, 0);
    CHECK(!ys_group_limits_memory(group) && !ys_group_can_kill(group)); /* no limit was asked for; no cgroup.kill */
    /* A sample sees what changes, and leaves alone what the kernel keeps until the end. */
    machine_file("/sys/fs/cgroup/app.scope/yardstick-run/cpu.stat", "usage_usec 90\nuser_usec 45\nsystem_usec 45\n");
    machine_file("/sys/fs/cgroup/app.scope/yardstick-run/memory.stat", "anon 400\nfile 95\nshmem 20\n");
    machine_file("/sys/fs/cgroup/app.scope/yardstick-run/memory.events", "low 0\noom 1\noom_kill 1\n");
    machine_file("/sys/fs/cgroup/app.scope/yardstick-run/memory.peak", "6000\n");
    ys_group_sample(group, &usage);
    CHECK_INT(usage.cpu_ns, 90000);
    CHECK_INT(usage.held_bytes, 420);
    CHECK_INT(usage.cache_bytes, 75);
    CHECK_INT(usage.oom_kills, 1);
    CHECK_INT(usage.peak_bytes, 6000);
    CHECK_INT(usage.tasks_peak, 17);
    ys_group_close(group);
}

/* A group above one that limits memory would escape that limit: what is there is not taken. */
static void a_limit_is_never_escaped(void)
{
    struct ys_group *group;
    struct ys_group_usage usage;
    hybrid_machine();
    CHECK(ys_fs_remove_tree(at("%s/sys/fs/cgroup/memory/a/b/yardstick-run", machine_root)) == YS_OK);
    memory_of_version_1("");
    machine_file("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "4000000000\n");
    REQUIRE(ys_group_open(machine_root, 123456, &group) == YS_OK);
    ys_group_read(group, &usage);
    CHECK(usage.has_cpu && !usage.has_memory && !ys_group_limits_memory(group));
    ys_group_close(group);
    machine_file("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
    REQUIRE(ys_group_open(machine_root, 123456, &group) == YS_OK);
    ys_group_read(group, &usage);
    CHECK(usage.has_memory);
    ys_group_close(group);
}

static void where_none_can_be_made_the_reason_is_said(void)
{
    struct ys_group *group;
    machine_new();
    CHECK(ys_group_open(machine_root, 0, &group) == YS_ENOTFOUND && !group);
    CHECK_HAS(ys_error(), "not mounted");
    machine_file("/proc/self/cgroup", "0::/app.scope\n");
    machine_file("/proc/self/mountinfo", MOUNT_2("/sys/fs/cgroup"));
    machine_file("/sys/fs/cgroup/cgroup.procs", "");
    CHECK(ys_group_open(machine_root, 0, &group) == YS_ENOTFOUND && !group);
    CHECK_HAS(ys_error(), "systemd-run --user --scope -p Delegate=yes");
}

/* Of an ordinary user each run is such a failure: what the number 0 names by then may be another run's channel. */
static void one_that_could_not_be_made_closes_what_is_its_own(void)
{
    struct ys_group *group;
    int ends[2];
    machine_new();
    REQUIRE(pipe(ends) == 0);
    const int input = dup(STDIN_FILENO);
    CHECK_INT(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    CHECK(ys_group_open(machine_root, 0, &group) == YS_ENOTFOUND);
    CHECK_INT(fcntl(STDIN_FILENO, F_GETFD), 0);
    if (input >= 0) {
        CHECK_INT(dup2(input, STDIN_FILENO), STDIN_FILENO);
        close(input);
    }
    close(ends[0]);
    close(ends[1]);
}

/* Of this machine, where groups can be made: nobody has joined it yet, so that only its lock keeps it there. */
static void a_sweep_spares_what_is_held(void)
{
    struct ys_group *group;
    if (ys_group_open("", 0, &group) != YS_OK) {
        tap_skip("no control group can be made here");
        return;
    }
    ys_group_sweep("");
    pid_t child = fork();
    if (child == 0) {
        int fds[YS_GROUP_MOST_JOINS];
        size_t count = ys_group_joins(group, fds), joined = 0;
        for (size_t i = 0; i < count; i++)
            joined += write(fds[i], "0", 1) == 1;
        _exit(count > 0 && joined == count ? 0 : 1);
    }
    int ended = -1;
    CHECK(child > 0 && waitpid(child, &ended, 0) == child && ended == 0);
    ys_group_close(group);
}

TAP_MAIN(TAP_CASE(a_sweep_spares_what_is_held), TAP_CASE(each_controller_is_taken_from_where_it_is),
         TAP_CASE(version_2_freezes_and_thaws_by_a_word), TAP_CASE(version_2_alone_is_enough),
         TAP_CASE(a_limit_is_never_escaped), TAP_CASE(where_none_can_be_made_the_reason_is_said),
         TAP_CASE(one_that_could_not_be_made_closes_what_is_its_own))
