#include "doctor/examine.h"

#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "base/process/steering.h"
#include "base/size_text.h"
#include "prepare/machine_notes.h"
#include "probe/host.h"
#include "probe/own_cgroup.h"
#include "probe/procfs.h"
#include "session/guard.h"
#include "study/anchor_times.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Other work above this share of the CPUs shows in what is measured; steal likewise. */
static const double QUIET_LOAD = 0.05, QUIET_STEAL = 0.005;
static const double LOOK_S = 0.5;
static const double BUILTIN_S = 60; /* for a program that says three words */
/* A framework, its data and its weights want about this much beside what others hold. */
static const double ROOMY_BYTES = 2e9;

static const char *const state_words[] = {"good", "poor", "unknown"};
const struct ys_names ys_doctor_states = YS_NAMES("state", state_words);

#define LINE               struct ys_doctor_line
#define TEXT(member, what) YS_FIELD(LINE, member, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, what)
static const struct ys_field fields[] = {
    TEXT(name, "what was looked at"),
    YS_FIELD_NAMED(LINE, state, &ys_doctor_states, 0, "how it is"),
    TEXT(found, "there"),
    TEXT(consequence, "for what is measured; null where all is well"),
    TEXT(remedy, "null likewise, or where there is none"),
};
const struct ys_record ys_doctor_line_record = YS_RECORD("line", LINE, fields);

struct doctor {
    const char *root;
    struct ys_host_known host;
    struct ys_list *lines;
};

static void say(struct doctor *doctor, const char *name, enum ys_doctor_state state, const char *found,
                const char *consequence, const char *remedy)
{
    struct ys_doctor_line *line = ys_list_add(&ys_doctor_line_record, doctor->lines);
    *line = (struct ys_doctor_line){.name = ys_strdup(name),
                                    .state = state,
                                    .found = ys_strdup(found),
                                    .consequence = ys_strdup(consequence),
                                    .remedy = ys_strdup(remedy)};
}

static void say_good(struct doctor *doctor, const char *name, const char *found)
{
    say(doctor, name, YS_DOCTOR_GOOD, found, NULL, NULL);
}

/* Why the host's description lacks it. */
static const char *reason_of(const struct doctor *doctor, const char *name)
{
    return ys_json_get_text(doctor->host.reasons, name, "not known");
}

static void look_at_group(struct doctor *doctor)
{
    static const char *const remedy = "run as root, or in a delegated group: `systemd-run --user --scope -p "
                                      "Delegate=yes yardstick ...`";
    struct ys_group *group;
    struct ys_group_usage usage;
    const char *wish = getenv("YARDSTICK_CGROUP");
    ys_status status = wish && strcmp(wish, "off") == 0 ? ys_fail(YS_ENOTFOUND, "YARDSTICK_CGROUP is off")
                                                        : ys_group_open(doctor->root, 0, &group);
    if (status != YS_OK) {
        char reason[300];
        snprintf(reason, sizeof reason, "no control group: %s", ys_error());
        say(doctor, "processor time", YS_DOCTOR_POOR, reason,
            "processor time of processes that nobody waits for is missed or only estimated", remedy);
        say(doctor, "memory of a run", YS_DOCTOR_POOR, "no control group",
            "peaks are sampled, with mapped files; where processes share pages they are null; memory_limit is watched, "
            "not kept",
            remedy);
        say(doctor, "killing a run", YS_DOCTOR_POOR, "no control group: by descent from its keeper",
            "a process that leaves while yardstick and its keeper are both killed would live on", remedy);
        return;
    }
    ys_group_read(group, &usage);
    say_good(doctor, "processor time", "exact, from a control group for each run");
    if (usage.has_memory)
        say_good(doctor, "memory of a run",
                 "the kernel's own peak, from a control group; limits are kept by the kernel");
    else
        say(doctor, "memory of a run", YS_DOCTOR_POOR, "the control group does not count memory",
            "peaks are sampled; where processes share pages they are null", remedy);
    if (ys_group_can_kill(group))
        say_good(doctor, "killing a run", "as a whole, by its control group");
    else
        say(doctor, "killing a run", YS_DOCTOR_POOR, "the control group can neither be frozen nor killed",
            "a run is ended by descent from its keeper", "Linux 5.14 or newer, or the freezer controller");
    ys_group_close(group);
}

static void look_at_landlock(struct doctor *doctor)
{
    const char *reason = NULL;
    char text[200];
    int version = ys_guard_version(&reason);
    if (version > 0)
        snprintf(text, sizeof text, "by Landlock, version %d: cache, results and other runs' folders", version);
    else
        snprintf(text, sizeof text, "no Landlock: %s", reason);
    if (version > 0)
        say_good(doctor, "guarded files", text);
    else
        say(doctor, "guarded files", YS_DOCTOR_POOR, text,
            "an adapter can write the cache and the results: its own inputs are compared byte by byte after each run, "
            "which ends as wrong_output when they changed; the store and works that the run does not use are not "
            "looked "
            "at",
            "Linux 6.2 or newer, with landlock among the security modules (lsm= at boot)");
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
            say(doctor, files[i].name, YS_DOCTOR_POOR, "the kernel does not show it", files[i].lost, files[i].remedy);
    }
}

static void look_at_clocks(struct doctor *doctor)
{
    const struct ys_host_known_cpu *cpu = &doctor->host.cpu;
    const char *governor = cpu->governor;
    static const char *const drift = "compare only runs of one study, which take turns; `yardstick doctor --noise "
                                     "60s` says what difference they can show";
    char text[128];
    if (!governor)
        say(doctor, "governor", YS_DOCTOR_UNKNOWN, reason_of(doctor, "cpu.governor"),
            "whether clocks follow the load is not known: a virtual machine's host decides", drift);
    else if (strcmp(governor, "performance") == 0)
        say_good(doctor, "governor", governor);
    else
        say(doctor, "governor", YS_DOCTOR_POOR, governor, "clocks follow the load: equal work takes unequal time",
            "`cpupower frequency-set -g performance`");
    if (cpu->turbo == YS_NAME_NONE)
        say(doctor, "frequency", YS_DOCTOR_UNKNOWN, reason_of(doctor, "cpu.turbo"),
            "whether clocks rise with fewer busy cores is not known", drift);
    else if (cpu->turbo)
        say(doctor, "frequency", YS_DOCTOR_POOR, "turbo is on", "clocks fall when more cores work, and with heat",
            "`echo 0 >/sys/devices/system/cpu/cpufreq/boost` (or 1 into intel_pstate/no_turbo)");
    else
        say_good(doctor, "frequency", "turbo is off");
    if (!ys_procfs_line(doctor->root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", text,
                        sizeof text))
        say(doctor, "clock", YS_DOCTOR_UNKNOWN, "the kernel does not name its clock",
            "whether reading the time is cheap is not known", "`yardstick doctor --self-test` measures a phase");
    else if (strcmp(text, "tsc") == 0 || strcmp(text, "arch_sys_counter") == 0 || strcmp(text, "kvm-clock") == 0)
        say_good(doctor, "clock", text);
    else
        say(doctor, "clock", YS_DOCTOR_POOR, text,
            "reading the time is a call into the kernel or the host, and takes a microsecond or more",
            "boot with clocksource=tsc where the processor's is steady");
}

static void look_at_cpus(struct doctor *doctor)
{
    const struct ys_host_known_cpu *cpu = &doctor->host.cpu;
    const double siblings = cpu->threads_per_core, quota = cpu->quota_cores, allowed = cpu->allowed;
    char text[128];
    if (!(siblings > 0))
        say(doctor, "siblings (SMT)", YS_DOCTOR_UNKNOWN, reason_of(doctor, "cpu.threads_per_core"),
            "CPUs may share cores, and then slow each other", "ask for half as many threads as there are CPUs");
    else if (siblings > 1)
        say(doctor, "siblings (SMT)", YS_DOCTOR_POOR, "CPUs share cores in pairs or more",
            "more threads than cores slow each other; other work slows a core without using its CPU",
            "ask for no more threads than cores, or `echo off >/sys/devices/system/cpu/smt/control`");
    else
        say_good(doctor, "siblings (SMT)", "each CPU is a core of its own, as far as the kernel knows");
    if (!(quota > 0 && quota < allowed)) {
        say_good(doctor, "quota", "none");
        return;
    }
    snprintf(text, sizeof text, "the time of %g cores for %g CPUs", quota, allowed);
    say(doctor, "quota", YS_DOCTOR_POOR, text, "runs with more threads than that are stopped again and again",
        "ask for fewer threads, or raise the control group's quota");
}

/* What steers libraries, and what becomes of it. */
static void look_at_variables(struct doctor *doctor)
{
    const ys_json *set = doctor->host.environment;
    struct ys_buf text = {0};
    size_t kept = 0, reset = 0;
    for (void *it = ys_json_iter(set); it; it = ys_json_next(set, it)) {
        const char *name = ys_json_iter_key(it);
        if (ys_steering_passes(name, YS_PROGRAM_MEASURED))
            ys_buf_printf(&text, "%s%s", kept++ ? ", " : "", name);
        else
            reset++;
    }
    if (kept)
        ys_buf_printf(&text, ": in all trials; %zu others: in none", reset);
    else
        ys_buf_printf(&text, "%zu that steer libraries, in no trial", reset);
    if (kept)
        say(doctor, "variables", YS_DOCTOR_POOR, ys_buf_text(&text), "what is measured is so here and not elsewhere",
            "unset them, or say them in the study: env.NAME");
    else
        say_good(doctor, "variables", ys_buf_text(&text));
    ys_buf_free(&text);
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
        say(doctor, "other load", YS_DOCTOR_UNKNOWN, "/proc/stat is not readable",
            "foreign work is not seen, and no run is marked as disturbed by it", "mount /proc, or measure elsewhere");
        return;
    }
    double load = (after.busy_s - before.busy_s) / seconds / cpus,
           steal = (after.steal_s - before.steal_s) / seconds / cpus;
    snprintf(text, sizeof text, "%.0f %% of %g CPUs are in use", 100 * load, cpus);
    if (load > QUIET_LOAD)
        say(doctor, "other load", YS_DOCTOR_POOR, text, "runs wait for it, and are marked as disturbed",
            "end it, or measure later");
    else
        say_good(doctor, "other load", text);
    snprintf(text, sizeof text, "%.1f %% now, %.0f s since boot", 100 * steal, after.steal_s);
    if (steal > QUIET_STEAL)
        say(doctor, "steal", YS_DOCTOR_POOR, text, "the hypervisor gives this machine's CPUs to others",
            "a host of its own, or CPUs that are not shared");
    else
        say_good(doctor, "steal", text);
}

static void look_at_memory(struct doctor *doctor)
{
    const struct ys_host_known_memory *memory = &doctor->host.memory;
    const double available =
        isnan(memory->available_bytes) ? NAN : fmin(memory->available_bytes, memory->effective_bytes);
    char text[128], size[YS_SIZE_TEXT];
    if (isnan(available)) {
        say(doctor, "memory", YS_DOCTOR_UNKNOWN, reason_of(doctor, "memory.available_bytes"),
            "whether frameworks have room is not known", "watch for runs that end as oom_host");
    } else {
        snprintf(text, sizeof text, "%s can be had", ys_size_text((uint64_t)available, size));
        if (available < ROOMY_BYTES)
            say(doctor, "memory", YS_DOCTOR_POOR, text, "large frameworks may end as oom_host, or be slowed by reclaim",
                "end what holds it, or take smaller batches");
        else
            say_good(doctor, "memory", text);
    }
    if (memory->swap_bytes > 0)
        say(doctor, "swap", YS_DOCTOR_POOR, "there is some", "what others use may push a run's pages out",
            "`swapoff -a` while measuring");
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
        say(doctor, "perf", YS_DOCTOR_POOR, text, "time by library cannot be had",
            "`sysctl kernel.perf_event_paranoid=1`");
    else
        say_good(doctor, "perf", text);
}

/* What yardstick-builtin prints with this argument; in `text` afterwards too. */
static ys_status ask_builtin(const char *argument, struct ys_buf *text)
{
    char *program = ys_find_support("yardstick-builtin");
    const char *const argv[] = {program, argument, NULL};
    const struct ys_child_options options = {.is_own = true, .timeout_s = BUILTIN_S};
    int code = 0;
    ys_status status = program ? ys_child_run(argv, &options, text, &code)
                               : ys_fail(YS_ENOTFOUND, "the program yardstick-builtin is not found beside yardstick; "
                                                       "build or install it again");
    ys_free(program);
    if (status == YS_OK && (code != 0 || text->size == 0))
        status = ys_fail(YS_EIO, "yardstick-builtin %s ended with exit code %d", argument, code);
    return status;
}

/* What the built-in engine has and computes with, and so what oracle and twins do; of a machine that is shown from
 * files nobody knows. */
static void look_at_builtin(struct doctor *doctor)
{
    static const struct {
        const char *name, *argument, *lost; /* where a second line says what is lacking, and what to do */
    } asked[] = {
        {"back ends", "--backends", "the built-in engine computes slower, proofs and evaluations with it"},
        {"instructions", "--instructions", "nothing runs in bf16 in the built-in engine, nor is anything proven in it"},
    };
    for (size_t i = 0; i < sizeof asked / sizeof asked[0] && !doctor->root[0]; i++) {
        struct ys_buf text = {0};
        if (ask_builtin(asked[i].argument, &text) != YS_OK) {
            say(doctor, asked[i].name, YS_DOCTOR_UNKNOWN, ys_error(), "the built-in engine may not run here",
                "`yardstick-builtin --help` says more");
        } else {
            char *found = text.data, *lacking = found + strcspn(found, "\n");
            if (*lacking)
                *lacking++ = 0;
            lacking[strcspn(lacking, "\n")] = 0;
            if (*lacking)
                say(doctor, asked[i].name, YS_DOCTOR_POOR, found, asked[i].lost, lacking);
            else
                say_good(doctor, asked[i].name, found);
        }
        ys_buf_free(&text);
    }
}

/* The machine's own speed now, which studies are compared by; of a machine that is shown from files there is none. */
static void look_at_anchor(struct doctor *doctor)
{
    struct ys_anchor anchor;
    char text[160];
    if (doctor->root[0])
        return;
    if (ys_anchor_measure(&anchor) != YS_OK) {
        say(doctor, "anchor", YS_DOCTOR_UNKNOWN, ys_error(),
            "studies of different days are compared by trials of the built-in engine alone",
            "`yardstick-builtin --anchor` says more");
        return;
    }
    snprintf(text, sizeof text, "version %lld: %.2f G operations, %.1f GB of memory, %.3f G branches a second",
             (long long)anchor.version, anchor.arithmetic_per_s * 1e-9, anchor.memory_bytes_per_s * 1e-9,
             anchor.branches_per_s * 1e-9);
    ys_record_fini(&ys_anchor_record, &anchor);
    say_good(doctor, "anchor", text);
}

/* What doctor found out before, and keeps. */
static void look_at_kept(struct doctor *doctor)
{
    static const struct {
        const char *name, *good, *lost, *remedy;
    } kept[] = {
        {"self-test", "whether what is observed here is true is on record, and in reports",
         "whether what is observed here is true is not known", "`yardstick doctor --self-test`"},
        {"noise", "what difference this machine can show is on record",
         "a study is not told what difference it can show", "`yardstick doctor --noise 60s`"},
        {"peak", "how fast this machine multiplies is on record",
         "runs that are too fast to be true are held against what any CPU can do", "`yardstick doctor --peak`"},
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        ys_json *value = NULL;
        ys_status status = ys_machine_note_read(kept[i].name, &value);
        ys_json_free(value);
        if (status == YS_OK)
            say_good(doctor, kept[i].name, kept[i].good);
        else
            say(doctor, kept[i].name, YS_DOCTOR_UNKNOWN, "never asked here", kept[i].lost, kept[i].remedy);
    }
}

ys_status ys_doctor_look(struct ys_list *lines)
{
    ys_json *host = NULL;
    *lines = (struct ys_list){0};
    YS_TRY(ys_host_describe(&host));
    struct doctor doctor = {.root = ys_procfs_root(), .lines = lines};
    ys_host_read(host, &doctor.host);
    look_at_load(&doctor);
    look_at_group(&doctor);
    look_at_landlock(&doctor);
    look_at_files(&doctor);
    look_at_clocks(&doctor);
    look_at_cpus(&doctor);
    look_at_memory(&doctor);
    look_at_variables(&doctor);
    look_at_perf(&doctor);
    look_at_builtin(&doctor);
    look_at_anchor(&doctor);
    look_at_kept(&doctor);
    ys_json_free(host);
    return YS_OK;
}
