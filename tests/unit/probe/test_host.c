#include "probe/host.h"
#include "machine.h"

static ys_json *describe_made(void)
{
    ys_json *host = NULL;
    setenv("YS_ROOT", machine_root, 1);
    CHECK_INT(ys_host_describe(&host), YS_OK);
    unsetenv("YS_ROOT");
    return host;
}

static const ys_json *member(const ys_json *host, const char *block, const char *key)
{
    return ys_json_get(ys_json_get(host, block), key);
}

static void check_unknown(const ys_json *host, const char *block, const char *key)
{
    char path[80];
    snprintf(path, sizeof path, "%s.%s", block, key);
    const ys_json *value = member(host, block, key);
    tap_check(value && ys_json_type_of(value) == YS_JSON_NULL, __LINE__, "%s is null", path);
    tap_check(ys_json_get_text(ys_json_get(host, "reasons"), path, NULL) != NULL, __LINE__, "%s has a reason", path);
}

static void make_laptop(void)
{
    machine_new();
    machine_file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Some CPU @ 2.00GHz\n"
                                  "flags\t\t: fpu sse4_2 avx2 fma avx512f avx512_bf16 amx_tile\n\nprocessor\t: 1\n");
    machine_file("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-1\n");
    machine_file("/sys/devices/system/cpu/online", "0-3\n");
    for (int cpu = 0; cpu < 2; cpu++) {
        char path[128];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
        machine_file(path, "0\n");
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        machine_file(path, "0-1\n");
    }
    machine_file("/sys/devices/system/cpu/cpu0/cache/index0/level", "2\n");
    machine_file("/sys/devices/system/cpu/cpu0/cache/index0/type", "Unified\n");
    machine_file("/sys/devices/system/cpu/cpu0/cache/index0/size", "1024K\n");
    machine_file("/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0-1\n");
    machine_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    machine_file("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3900000\n");
    machine_file("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    machine_file("/proc/meminfo",
                 "MemTotal:       16000000 kB\nMemAvailable:    8000000 kB\nSwapTotal:             0 kB\n");
    machine_file("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    machine_file("/sys/devices/system/cpu/vulnerabilities/spectre_v1", "Mitigation: barriers\n");
    machine_file("/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n");
    machine_file("/proc/sys/kernel/osrelease", "6.1.0-test\n");
    machine_file("/etc/os-release", "NAME=\"Some\"\nPRETTY_NAME=\"Some Linux 12\"\n");
    machine_file("/sys/class/dmi/id/product_name", "Lap Top 9\n");
    machine_file("/proc/loadavg", "1.50 0.40 0.30 1/100 1234\n");
    machine_file("/proc/stat", "cpu  100 0 100 5000 0 0 0 50 0 0\ncpu0 1 2 3\n");
    machine_file("/proc/self/cgroup", "0::/\n");
    machine_file("/proc/self/mountinfo", "25 20 0:22 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    machine_file("/sys/fs/cgroup/cpu.max", "150000 100000\n");
    machine_file("/sys/fs/cgroup/memory.max", "4096000000\n");
}

static void a_machine_is_described(void)
{
    make_laptop();
    ys_json *host = describe_made();
    REQUIRE(host);
    CHECK_TEXT(ys_json_text(member(host, "cpu", "model"), NULL), "Some CPU @ 2.00GHz");
    CHECK_TEXT(ys_json_text(member(host, "cpu", "vendor"), NULL), "GenuineIntel");
    CHECK_INT(ys_json_integer(member(host, "cpu", "online"), -1), 4);
    CHECK_INT(ys_json_integer(member(host, "cpu", "allowed"), -1), 2);
    CHECK_INT(ys_json_integer(member(host, "cpu", "cores"), -1), 1);
    CHECK_INT(ys_json_integer(member(host, "cpu", "threads_per_core"), -1), 2);
    CHECK_NEAR(ys_json_number(member(host, "cpu", "effective_cores"), -1), 1.5, 0); /* the quota, exact */
    CHECK_INT(ys_json_size(member(host, "cpu", "isa")), 6);
    CHECK_TEXT(ys_json_text(member(host, "cpu", "governor"), NULL), "powersave");
    CHECK(!ys_json_truth(member(host, "cpu", "turbo"), true));
    CHECK_NEAR(ys_json_number(member(host, "cpu", "mhz_max"), -1), 3900, 0);
    const ys_json *cache = ys_json_at(member(host, "cpu", "caches"), 0);
    CHECK_INT(ys_json_get_int(cache, "size_bytes", -1), 1 << 20);
    CHECK_INT(ys_json_get_int(cache, "shared_by", -1), 2);
    CHECK_INT(ys_json_integer(member(host, "memory", "total_bytes"), -1), 16000000LL * 1024);
    CHECK_INT(ys_json_integer(member(host, "memory", "effective_bytes"), -1), 4096000000LL);
    CHECK_TEXT(ys_json_text(member(host, "memory", "huge_pages"), NULL), "madvise");
    CHECK_TEXT(ys_json_text(member(host, "system", "kernel"), NULL), "Linux 6.1.0-test");
    CHECK_TEXT(ys_json_text(member(host, "system", "distribution"), NULL), "Some Linux 12");
    CHECK_TEXT(ys_json_text(member(host, "system", "product"), NULL), "Lap Top 9");
    CHECK_INT(ys_json_size(member(host, "system", "mitigations")), 1);
    CHECK_TEXT(ys_json_get_text(member(host, "system", "mitigations"), "spectre_v1", NULL), "Mitigation: barriers");
    check_unknown(host, "system", "hypervisor");
    check_unknown(host, "system", "container");
    ys_json_free(host);
}

static void what_makes_it_a_poor_one_is_warned_of(void)
{
    make_laptop();
    ys_json *host = describe_made();
    char *warnings = ys_json_dump(ys_json_get(host, "warnings"), YS_JSON_COMPACT);
    CHECK_INT(ys_json_size(ys_json_get(host, "warnings")),
              2); /* a load average is none: runs are marked by what went on during them */
    CHECK_HAS(warnings, "1.5 cores");
    CHECK_HAS(warnings, "powersave");
    ys_free(warnings);
    ys_json_free(host);
}

static void a_machine_that_shows_nothing_has_reasons(void)
{
    machine_new();
    ys_json *host = describe_made();
    REQUIRE(host);
    static const char *const cpu[] = {"model", "vendor", "online",   "allowed", "cores",
                                      "isa",   "caches", "governor", "turbo",   "quota_cores"};
    for (size_t i = 0; i < sizeof cpu / sizeof cpu[0]; i++)
        check_unknown(host, "cpu", cpu[i]);
    check_unknown(host, "memory", "total_bytes");
    check_unknown(host, "memory", "effective_bytes");
    check_unknown(host, "system", "kernel");
    check_unknown(host, "system", "distribution");
    check_unknown(host, "load", "steal_s");
    ys_json_free(host);
}

static void variables_that_steer_libraries_are_kept_and_no_others(void)
{
    static const char *const kept[] = {
        "OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_ENABLE_ONEDNN_OPTS", "TF_CPP_MIN_LOG_LEVEL",
        "PYTHONPATH",      "PYTHONMALLOC",           "PYTHONSTARTUP"};
    static const char *const foreign[] = {"SECRET_TOKEN",    "LD_PRELOAD_NOT", "TF_CLI_CONFIG_FILE", "TF_TOKEN_a_b",
                                          "TF_VAR_password", "PYTHON_SHA256",  "CUDA_VERSION"};
    const size_t kept_count = sizeof kept / sizeof kept[0], foreign_count = sizeof foreign / sizeof foreign[0];
    make_laptop();
    for (size_t i = 0; i < kept_count; i++)
        setenv(kept[i], "3", 1);
    for (size_t i = 0; i < foreign_count; i++)
        setenv(foreign[i], "x", 1);
    ys_json *host = describe_made();
    const ys_json *environment = ys_json_get(host, "environment");
    for (size_t i = 0; i < kept_count; i++)
        CHECK_TEXT(ys_json_get_text(environment, kept[i], NULL), "3");
    for (size_t i = 0; i < foreign_count; i++)
        tap_check(ys_json_get(environment, foreign[i]) == NULL, __LINE__, "%s is left out", foreign[i]);
    ys_json_free(host);
    for (size_t i = 0; i < kept_count; i++)
        unsetenv(kept[i]);
    for (size_t i = 0; i < foreign_count; i++)
        unsetenv(foreign[i]);
}

static void a_guest_says_so(void)
{
    make_laptop();
    machine_file("/proc/cpuinfo", "model name\t: x\nflags\t\t: sse4_2 hypervisor avx2\n");
    machine_file("/sys/class/dmi/id/sys_vendor", "QEMU\n");
    machine_file("/.dockerenv", "");
    ys_json *host = describe_made();
    CHECK_HAS(ys_json_text(member(host, "system", "hypervisor"), NULL), "QEMU");
    CHECK_TEXT(ys_json_text(member(host, "system", "container"), NULL), "docker");
    ys_json_free(host);
}

static void guests_are_told_by_clocks_and_makers(void)
{
    static const struct {
        const char *clocks, *maker, *flags, *expected;
    } cases[] = {
        {"tsc kvm-clock", "Amazon EC2", "hypervisor", "KVM (Amazon EC2)"},
        {"tsc hpet", "Amazon EC2", "sse4_2", NULL}, /* a machine of its own */
        {"hyperv_clocksource_tsc_page", "Microsoft Corporation", "hypervisor", "Hyper-V (Microsoft Corporation)"},
        {"tsc", "VMware, Inc.", "hypervisor", "VMware"},
        {"tsc", "innotek GmbH", "sse4_2", "VirtualBox (innotek GmbH)"},
        {"tsc", "Somebody", "hypervisor", "yes (Somebody)"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        machine_new();
        machine_file_f("/proc/cpuinfo", "model name\t: x\nflags\t\t: fpu %s\n", cases[i].flags);
        machine_file_f("/sys/class/dmi/id/sys_vendor", "%s\n", cases[i].maker);
        machine_file_f("/sys/devices/system/clocksource/clocksource0/available_clocksource", "%s \n", cases[i].clocks);
        ys_json *host = describe_made();
        if (cases[i].expected)
            CHECK_TEXT(ys_json_text(member(host, "system", "hypervisor"), NULL), cases[i].expected);
        else
            check_unknown(host, "system", "hypervisor");
        ys_json_free(host);
    }
}

static void a_container_is_told_by_what_its_root_is(void)
{
    static const struct {
        const char *mount, *expected;
    } cases[] = {{"27 1 254:0 / / rw - ext4 /dev/vda rw\n", NULL}, /* a virtual machine with the image as its disk */
                 {"27 1 0:30 / / rw - overlay overlay rw,lowerdir=/a\n", "docker"},
                 {"27 1 253:4 / / rw - ext4 /dev/mapper/docker-8:1-1-abc rw\n", "docker"},
                 {"27 1 8:1 /var/lib/docker/vfs/dir/abc / rw - ext4 /dev/sda1 rw\n", "docker"},
                 {"", "docker"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        machine_new();
        machine_file("/.dockerenv", "");
        machine_file("/proc/self/mountinfo", cases[i].mount);
        ys_json *host = describe_made();
        if (cases[i].expected)
            CHECK_TEXT(ys_json_text(member(host, "system", "container"), NULL), cases[i].expected);
        else
            check_unknown(host, "system", "container");
        ys_json_free(host);
    }
}

static void steal_between_two_moments_is_a_share(void)
{
    struct ys_host_counters before, after;
    double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    make_laptop();
    setenv("YS_ROOT", machine_root, 1);
    ys_host_count(&before);
    machine_file("/proc/stat", "cpu  150 0 100 5000 0 0 0 80 0 0\n");
    machine_file("/proc/vmstat", "pgfault 5\noom_kill 4\n");
    ys_host_count(&after);
    unsetenv("YS_ROOT");
    CHECK_NEAR(before.steal_s, 50 * tick_s, 1e-12); /* one product and its rounding */
    CHECK_INT(before.oom_kills, -1);
    CHECK_INT(after.oom_kills, 4);
    after.t_ns = before.t_ns + 2000000000;
    ys_json *disturbance = ys_host_disturbance(&before, &after);
    CHECK_NEAR(ys_json_get_number(disturbance, "steal_s", -1), 30 * tick_s, 1e-9); /* a difference of two such */
    CHECK_NEAR(ys_json_get_number(disturbance, "busy_s", -1), 50 * tick_s, 1e-9);
    CHECK_NEAR(ys_json_get_number(disturbance, "seconds", -1), 2, 1e-9);
    CHECK(ys_json_get_number(disturbance, "steal_share", -1) > 0);
    CHECK_NEAR(ys_json_get_number(disturbance, "load_before", -1), 1.5, 0);
    ys_json_free(disturbance);
}

/* Of CPU 1 alone, and of both: what another one lost is not its own. */
static void what_was_taken_is_of_the_cpus_that_are_named(void)
{
    static const int64_t second[] = {1};
    struct ys_host_cpu_counters before, after, both;
    const double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    make_laptop();
    setenv("YS_ROOT", machine_root, 1);
    machine_file("/proc/stat", "cpu  9 0 9 9 0 0 0 9 0 0\ncpu0 10 0 5 100 0 0 0 3 0 0\ncpu1 20 1 5 100 0 2 1 7 0 0\n");
    ys_host_count_cpus(second, 1, &before);
    machine_file("/proc/stat", "cpu  9 0 9 9 0 0 0 9 0 0\ncpu0 90 0 5 100 0 0 0 50 0 0\ncpu1 30 1 5 100 0 2 1 9 0 0\n");
    ys_host_count_cpus(second, 1, &after);
    const int64_t pair[] = {0, 1};
    ys_host_count_cpus(pair, 2, &both);
    unsetenv("YS_ROOT");
    CHECK_NEAR(before.busy_s, 29 * tick_s, 1e-12);
    CHECK_INT(before.cpus, 1);
    CHECK_INT(both.cpus, 2);
    CHECK_NEAR(both.steal_s, 59 * tick_s, 1e-12);
    CHECK_NEAR(both.tick_s, 2 * tick_s, 1e-12);
    after.t_ns = before.t_ns + 2000000000;
    ys_json *between = ys_host_cpus_between(&before, &after);
    CHECK_NEAR(ys_json_get_number(between, "steal_s", -1), 2 * tick_s, 1e-9);
    CHECK_NEAR(ys_json_get_number(between, "busy_s", -1), 10 * tick_s, 1e-9);
    CHECK_NEAR(ys_json_get_number(between, "seconds", -1), 2, 1e-9);
    CHECK_NEAR(ys_json_get_number(between, "tick_s", -1), tick_s, 1e-12);
    ys_json_free(between);
}

static void unknown_counters_give_nulls(void)
{
    struct ys_host_counters before, after;
    machine_new();
    setenv("YS_ROOT", machine_root, 1);
    ys_host_count(&before);
    ys_host_count(&after);
    unsetenv("YS_ROOT");
    ys_json *disturbance = ys_host_disturbance(&before, &after);
    CHECK_INT(ys_json_type_of(ys_json_get(disturbance, "steal_s")), YS_JSON_NULL);
    CHECK_INT(ys_json_type_of(ys_json_get(disturbance, "load_after")), YS_JSON_NULL);
    ys_json_free(disturbance);
}

static void cpus_are_picked_among_the_allowed(void)
{
    make_laptop();
    setenv("YS_ROOT", machine_root, 1);
    int cpus[3];
    CHECK_INT(ys_host_cpus_allowed(), 2);
    CHECK(ys_host_cpu_is_allowed(1));
    CHECK(!ys_host_cpu_is_allowed(2));
    CHECK_INT(ys_host_cpu_pick(2, cpus), YS_OK);
    CHECK_INT(cpus[0], 0);
    CHECK_INT(cpus[1], 1);
    CHECK_INT(ys_host_cpu_pick(3, cpus), YS_EINVAL);
    CHECK_HAS(ys_error(), "threads = 3");
    unsetenv("YS_ROOT");
}

static void this_machine_is_described(void)
{
    ys_json *host = NULL;
    CHECK_INT(ys_host_describe(&host), YS_OK);
    REQUIRE(host);
    CHECK(ys_json_integer(member(host, "cpu", "allowed"), 0) >= 1);
    CHECK(ys_json_integer(member(host, "memory", "total_bytes"), 0) > 1 << 20);
    CHECK_HAS(ys_json_text(member(host, "system", "kernel"), NULL), "Linux ");
    CHECK(ys_host_cpus_allowed() == ys_json_integer(member(host, "cpu", "allowed"), 0));
    char *text = ys_json_dump(host, YS_JSON_COMPACT);
    CHECK(text != NULL);
    ys_free(text);
    ys_json_free(host);
}

TAP_MAIN(TAP_CASE(a_machine_is_described), TAP_CASE(what_makes_it_a_poor_one_is_warned_of),
         TAP_CASE(a_machine_that_shows_nothing_has_reasons),
         TAP_CASE(variables_that_steer_libraries_are_kept_and_no_others), TAP_CASE(a_guest_says_so),
         TAP_CASE(guests_are_told_by_clocks_and_makers), TAP_CASE(a_container_is_told_by_what_its_root_is),
         TAP_CASE(steal_between_two_moments_is_a_share), TAP_CASE(what_was_taken_is_of_the_cpus_that_are_named),
         TAP_CASE(unknown_counters_give_nulls), TAP_CASE(cpus_are_picked_among_the_allowed),
         TAP_CASE(this_machine_is_described))
