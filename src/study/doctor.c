#include "study/doctor.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/size.h"
#include "probe/group.h"
#include "probe/host.h"
#include "probe/procfs.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Other work above this share of the CPUs shows in what is measured; steal likewise. */
static const double QUIET_LOAD = 0.05, QUIET_STEAL = 0.005;
static const double LOOK_S = 0.5;
/* A framework, its data and its weights want about this much beside what others hold. */
static const double ROOMY_BYTES = 2e9;

struct doctor {
    const char *root;
    const ys_json *host;
    ys_json *lines;
    ys_status status;
};

static void say(struct doctor *doctor, const char *name, const char *state, const char *found, const char *consequence,
                const char *remedy)
{
    ys_json *line = ys_json_object();
    ys_json_set_string(line, "name", name);
    ys_json_set_string(line, "state", state);
    ys_json_set_string(line, "found", found);
    ys_json_set_string(line, "consequence", consequence);
    if (ys_json_set_string(line, "remedy", remedy) != YS_OK)
        doctor->status = YS_ENOMEM;
    if (ys_json_append(doctor->lines, line) != YS_OK)
        doctor->status = YS_ENOMEM;
}

static void say_good(struct doctor *doctor, const char *name, const char *found)
{
    say(doctor, name, "good", found, NULL, NULL);
}

/* Why the host's description lacks it. */
static const char *reason_of(const struct doctor *doctor, const char *name)
{
    return ys_json_get_text(ys_json_get(doctor->host, "reasons"), name, "not known");
}

static void look_at_group(struct doctor *doctor)
{
    static const char *const remedy = "run as root, or in a delegated group: systemd-run --user --scope -p "
                                      "Delegate=yes yardstick ...";
    struct ys_group *group;
    struct ys_group_usage usage;
    const char *wish = getenv("YARDSTICK_CGROUP");
    ys_status status = wish && strcmp(wish, "off") == 0 ? ys_fail(YS_ENOTFOUND, "YARDSTICK_CGROUP is off")
                                                        : ys_group_open(doctor->root, 0, &group);
    if (status == YS_ENOMEM) {
        doctor->status = status;
        return;
    }
    if (status != YS_OK) {
        char reason[300];
        snprintf(reason, sizeof reason, "no control group: %s", ys_error());
        say(doctor, "processor time", "poor", reason,
            "processor time of processes that nobody waits for is missed or only estimated", remedy);
        say(doctor, "memory of a run", "poor", "no control group",
            "peaks are sampled, with mapped files; where processes share pages they are null; memory_limit is watched, "
            "not kept",
            remedy);
        say(doctor, "killing a run", "poor", "no control group: by descent from its keeper",
            "a process that leaves while yardstick and its keeper are both killed would live on", remedy);
        return;
    }
    ys_group_read(group, &usage);
    say_good(doctor, "processor time", "exact, from a control group for each run");
    if (usage.has_memory)
        say_good(doctor, "memory of a run",
                 "the kernel's own peak, from a control group; limits are kept by the kernel");
    else
        say(doctor, "memory of a run", "poor", "the control group does not count memory",
            "peaks are sampled; where processes share pages they are null", remedy);
    if (ys_group_can_kill(group))
        say_good(doctor, "killing a run", "as a whole, by its control group");
    else
        say(doctor, "killing a run", "poor", "the control group can neither be frozen nor killed",
            "a run is ended by descent from its keeper", "Linux 5.14 or newer, or the freezer controller");
    ys_group_close(group);
}

static bool can_read(const struct doctor *doctor, const char *path)
{
    char text[64];
    return ys_procfs_read(doctor->root, path, text, sizeof text) > 0;
}

static void look_at_files(struct doctor *doctor)
{
    static const struct {
        const char *name, *path, *good, *lost, *remedy;
    } files[] = {
        {"disk bytes", "/proc/self/io", "read and written, for each run", "bytes read and written are null",
         "a kernel with CONFIG_TASK_IO_ACCOUNTING"},
        {"waiting for a CPU", "/proc/self/schedstat", "of each thread",
         "cpu_wait_s is null, and disturbance harder to see", "a kernel with CONFIG_SCHED_INFO"},
        {"shared pages", "/proc/self/smaps_rollup", "seen at the ends of phases",
         "memory that processes share counts once for each", "Linux 4.14 or newer"},
        {"pressure", "/proc/pressure/cpu", "kept by the kernel", "stalls for CPU, memory and disk are not seen",
         "boot the kernel with psi=1"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (can_read(doctor, files[i].path))
            say_good(doctor, files[i].name, files[i].good);
        else
            say(doctor, files[i].name, "poor", "the kernel does not show it", files[i].lost, files[i].remedy);
    }
}

static void look_at_clocks(struct doctor *doctor)
{
    const ys_json *cpu = ys_json_get(doctor->host, "cpu");
    const char *governor = ys_json_get_text(cpu, "governor", NULL);
    char text[128];
    if (!governor)
        say(doctor, "governor", "unknown", reason_of(doctor, "cpu.governor"),
            "whether clocks follow the load is not known: a virtual machine's host decides", NULL);
    else if (strcmp(governor, "performance") == 0)
        say_good(doctor, "governor", governor);
    else
        say(doctor, "governor", "poor", governor, "clocks follow the load: equal work takes unequal time",
            "cpupower frequency-set -g performance");
    const ys_json *turbo = ys_json_get(cpu, "turbo");
    if (ys_json_type_of(turbo) == YS_JSON_NULL)
        say(doctor, "frequency", "unknown", reason_of(doctor, "cpu.turbo"),
            "whether clocks rise with fewer busy cores is not known", NULL);
    else if (ys_json_get_bool(cpu, "turbo", false))
        say(doctor, "frequency", "poor", "turbo is on", "clocks fall when more cores work, and with heat",
            "echo 0 >/sys/devices/system/cpu/cpufreq/boost (or 1 into intel_pstate/no_turbo)");
    else
        say_good(doctor, "frequency", "turbo is off");
    if (!ys_procfs_line(doctor->root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", text,
                        sizeof text))
        say(doctor, "clock", "unknown", "the kernel does not name its clock", NULL, NULL);
    else if (strcmp(text, "tsc") == 0 || strcmp(text, "arch_sys_counter") == 0 || strcmp(text, "kvm-clock") == 0)
        say_good(doctor, "clock", text);
    else
        say(doctor, "clock", "poor", text,
            "reading the time is a call into the kernel or the host, and takes a microsecond or more",
            "boot with clocksource=tsc where the processor's is steady");
}

static void look_at_cpus(struct doctor *doctor)
{
    const ys_json *cpu = ys_json_get(doctor->host, "cpu");
    double siblings = ys_json_get_number(cpu, "threads_per_core", 0), quota = ys_json_get_number(cpu, "quota_cores", 0);
    double allowed = ys_json_get_number(cpu, "allowed", 0);
    char text[128];
    if (siblings <= 0)
        say(doctor, "siblings (SMT)", "unknown", reason_of(doctor, "cpu.threads_per_core"), NULL, NULL);
    else if (siblings > 1)
        say(doctor, "siblings (SMT)", "poor", "CPUs share cores in pairs or more",
            "more threads than cores slow each other; other work slows a core without using its CPU",
            "ask for no more threads than cores, or echo off >/sys/devices/system/cpu/smt/control");
    else
        say_good(doctor, "siblings (SMT)", "each CPU is a core of its own, as far as the kernel knows");
    if (quota <= 0 || quota >= allowed) {
        say_good(doctor, "quota", "none");
        return;
    }
    snprintf(text, sizeof text, "the time of %g cores for %g CPUs", quota, allowed);
    say(doctor, "quota", "poor", text, "runs with more threads than that are stopped again and again",
        "ask for fewer threads, or raise the control group's quota");
}

static void look_at_load(struct doctor *doctor)
{
    struct ys_host_counters before, after;
    struct timespec pause = {.tv_nsec = (long)(LOOK_S * 1e9)};
    char text[128];
    ys_host_count(&before);
    if (!doctor->root[0])
        nanosleep(&pause, NULL);
    ys_host_count(&after);
    double seconds = (double)(after.t_ns - before.t_ns) * 1e-9, cpus = ys_host_cpus_allowed();
    if (before.busy_s < 0 || after.busy_s < 0) {
        say(doctor, "other load", "unknown", "/proc/stat is not readable", "foreign work is not seen", NULL);
        return;
    }
    double load = (after.busy_s - before.busy_s) / seconds / cpus,
           steal = (after.steal_s - before.steal_s) / seconds / cpus;
    snprintf(text, sizeof text, "%.0f %% of %g CPUs are in use", 100 * load, cpus);
    if (load > QUIET_LOAD)
        say(doctor, "other load", "poor", text, "runs wait for it, and are marked as disturbed",
            "end it, or measure later");
    else
        say_good(doctor, "other load", text);
    snprintf(text, sizeof text, "%.1f %% now, %.0f s since boot", 100 * steal, after.steal_s);
    if (steal > QUIET_STEAL)
        say(doctor, "steal", "poor", text, "the hypervisor gives this machine's CPUs to others",
            "a host of its own, or CPUs that are not shared");
    else
        say_good(doctor, "steal", text);
}

static void look_at_memory(struct doctor *doctor)
{
    const ys_json *memory = ys_json_get(doctor->host, "memory");
    double available = ys_json_get_number(memory, "available_bytes", -1),
           swap = ys_json_get_number(memory, "swap_bytes", 0);
    double limit = ys_json_get_number(memory, "effective_bytes", available);
    char text[128], size[YS_SIZE_TEXT];
    available = limit >= 0 && limit < available ? limit : available;
    if (available < 0) {
        say(doctor, "memory", "unknown", reason_of(doctor, "memory.available_bytes"), NULL, NULL);
    } else {
        snprintf(text, sizeof text, "%s can be had", ys_size_text((uint64_t)available, size));
        if (available < ROOMY_BYTES)
            say(doctor, "memory", "poor", text, "large frameworks may end as oom_host, or be slowed by reclaim",
                "end what holds it, or take smaller batches");
        else
            say_good(doctor, "memory", text);
    }
    if (swap > 0)
        say(doctor, "swap", "poor", "there is some", "what others use may push a run's pages out",
            "swapoff -a while measuring");
    else
        say_good(doctor, "swap", "none");
}

static int open_perf(uint32_t type, uint64_t config)
{
    struct perf_event_attr attr = {.type = type, .size = sizeof attr, .config = config, .exclude_kernel = 1};
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0 ? 0 : errno;
}

static void look_at_perf(struct doctor *doctor)
{
    int clock = open_perf(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
    int cycles = open_perf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
    char text[160];
    if (clock)
        snprintf(text, sizeof text, "refused: %s", strerror(clock));
    else
        snprintf(text, sizeof text, "the software clock can be sampled; hardware counters: %s",
                 cycles ? strerror(cycles) : "yes");
    if (clock)
        say(doctor, "perf", "poor", text, "time by library cannot be had", "sysctl kernel.perf_event_paranoid=1");
    else
        say_good(doctor, "perf", text);
}

ys_status ys_doctor_look(ys_json **lines)
{
    ys_json *host = NULL;
    YS_TRY(ys_host_describe(&host));
    struct doctor doctor = {.root = ys_procfs_root(), .host = host, .lines = ys_json_array(), .status = YS_OK};
    if (!doctor.lines) {
        ys_json_free(host);
        return ys_out_of_memory();
    }
    look_at_load(&doctor);
    look_at_group(&doctor);
    look_at_files(&doctor);
    look_at_clocks(&doctor);
    look_at_cpus(&doctor);
    look_at_memory(&doctor);
    look_at_perf(&doctor);
    ys_json_free(host);
    if (doctor.status != YS_OK) {
        ys_json_free(doctor.lines);
        return ys_out_of_memory();
    }
    *lines = doctor.lines;
    return YS_OK;
}
