#include "probe/host.h"
#include "base/clock.h"
#include "base/json/record.h"
#include "base/mem.h"
#include "base/process/steering.h"
#include "probe/cgroup.h"
#include "probe/cpus.h"
#include "probe/guest.h"
#include "probe/host_block.h"
#include "probe/procfs.h"
#include <dirent.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

extern char **environ;

void ys_host_unknown(struct ys_host_block *block, const char *key, const char *reason)
{
    char name[80];
    snprintf(name, sizeof name, "%s.%s", block->name, key);
    ys_json_set(block->object, key, ys_json_null());
    ys_json_set_string(block->reasons, name, reason);
}

void ys_host_put_text(struct ys_host_block *block, const char *key, const char *text, const char *reason)
{
    if (text)
        ys_json_set_string(block->object, key, text);
    else
        ys_host_unknown(block, key, reason);
}

void ys_host_put_line(struct ys_host_block *block, const char *key, const char *path, const char *reason)
{
    char line[512];
    ys_host_put_text(block, key, ys_procfs_line(block->root, path, line, sizeof line) ? line : NULL, reason);
}

int ys_host_cpus_allowed(void)
{
    struct ys_cpus cpus;
    if (ys_cpus_read(ys_procfs_root(), &cpus) != YS_OK) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        return online > 0 ? (int)online : 1;
    }
    int count = (int)cpus.count;
    ys_cpus_fini(&cpus);
    return count;
}

bool ys_host_cpu_is_allowed(int cpu)
{
    struct ys_cpus cpus;
    bool is_allowed = false;
    if (ys_cpus_read(ys_procfs_root(), &cpus) != YS_OK)
        return cpu >= 0 && cpu < ys_host_cpus_allowed();
    for (size_t i = 0; i < cpus.count; i++)
        is_allowed |= cpus.items[i].number == cpu;
    ys_cpus_fini(&cpus);
    return is_allowed;
}

ys_status ys_host_cpu_pick(int threads, int *cpus)
{
    struct ys_cpus machine;
    YS_TRY(ys_cpus_read(ys_procfs_root(), &machine));
    ys_status status = YS_OK;
    if (threads < 1 || (size_t)threads > machine.count)
        status = ys_fail(YS_EINVAL, "threads = %d: yardstick may use %zu CPU%s of this machine", threads, machine.count,
                         machine.count == 1 ? "" : "s");
    else if (ys_cpus_pick(&machine, (size_t)threads, cpus) < (size_t)threads)
        status = ys_out_of_memory();
    ys_cpus_fini(&machine);
    return status;
}

/* The bytes, INT64_MAX where they are not known. */
static int64_t put_kib(struct ys_host_block *block, const char *text, const char *field, const char *key)
{
    int64_t kib;
    if (ys_procfs_field(text, field, &kib)) {
        ys_json_set_int(block->object, key, kib * 1024);
        return kib * 1024;
    }
    ys_host_unknown(block, key, "/proc/meminfo does not say");
    return INT64_MAX;
}

int64_t ys_host_memory_room(void)
{
    char text[16384];
    int64_t kib;
    struct ys_cgroup cgroup;
    const char *root = ys_procfs_root();
    if (ys_procfs_read(root, "/proc/meminfo", text, sizeof text) < 0 || !ys_procfs_field(text, "MemAvailable", &kib))
        return 0;
    ys_cgroup_read(root, &cgroup);
    const int64_t limit = cgroup.has_memory_limit ? cgroup.memory_limit_bytes : INT64_MAX;
    return kib * 1024 < limit ? kib * 1024 : limit;
}

static ys_status describe_memory(struct ys_host_block *block)
{
    char text[16384];
    if (ys_procfs_read(block->root, "/proc/meminfo", text, sizeof text) < 0)
        text[0] = 0;
    const int64_t total = put_kib(block, text, "MemTotal", "total_bytes");
    put_kib(block, text, "MemAvailable", "available_bytes");
    put_kib(block, text, "SwapTotal", "swap_bytes");
    const struct ys_cgroup *cgroup = &block->cgroup;
    bool is_limited = cgroup->has_memory_limit && cgroup->memory_limit_bytes < total;
    if (is_limited)
        ys_json_set_int(block->object, "limit_bytes", cgroup->memory_limit_bytes);
    else
        ys_host_unknown(block, "limit_bytes", "no control group limits memory");
    if (is_limited || total != INT64_MAX)
        ys_json_set_int(block->object, "effective_bytes", is_limited ? cgroup->memory_limit_bytes : total);
    else
        ys_host_unknown(block, "effective_bytes", "/proc/meminfo does not say");
    char line[128];
    char *chosen = NULL; /* "always [madvise] never" */
    if (ys_procfs_line(block->root, "/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line) &&
        (chosen = strchr(line, '[')))
        chosen[strcspn(chosen, "]")] = 0;
    ys_host_put_text(block, "huge_pages", chosen ? chosen + 1 : NULL, "the kernel has no transparent huge pages");
    return YS_OK;
}

/** PRETTY_NAME of /etc/os-release, without its quotes. */
static bool distribution(const char *root, char *name, size_t size)
{
    char text[8192];
    static const char key[] = "PRETTY_NAME=";
    if (ys_procfs_read(root, "/etc/os-release", text, sizeof text) <= 0 &&
        ys_procfs_read(root, "/usr/lib/os-release", text, sizeof text) <= 0)
        return false;
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line ? 1 : 0) {
        if (strncmp(line, key, sizeof key - 1) != 0)
            continue;
        const char *value = line + sizeof key - 1;
        value += *value == '"' || *value == '\'';
        snprintf(name, size, "%.*s", (int)strcspn(value, "\"'\n"), value);
        return name[0] != 0;
    }
    return false;
}

/* What the kernel does against each weakness of this processor: it costs time, and is switched at boot. Those that the
 * processor does not have are left out. */
static ys_status put_mitigations(struct ys_host_block *block)
{
    static const char path[] = "/sys/devices/system/cpu/vulnerabilities";
    char *folder = ys_format("%s%s", block->root, path);
    ys_json *found = ys_json_object();
    DIR *dir = folder ? opendir(folder) : NULL;
    ys_status status = folder && found ? YS_OK : ys_out_of_memory();
    for (struct dirent *entry; status == YS_OK && dir && (entry = readdir(dir));) {
        char file[sizeof path + NAME_MAX + 2], text[256];
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.' && ys_procfs_line(block->root, file, text, sizeof text) &&
            strcmp(text, "Not affected") != 0)
            status = ys_json_set_string(found, entry->d_name, text);
    }
    if (status == YS_OK && dir)
        status = ys_json_set(block->object, "mitigations", ys_json_ref(found));
    else if (status == YS_OK)
        ys_host_unknown(block, "mitigations", "the kernel does not say which weaknesses of the processor it guards");
    if (dir)
        closedir(dir);
    ys_json_free(found);
    ys_free(folder);
    return status;
}

static ys_status describe_system(struct ys_host_block *block)
{
    char text[512], release[300];
    struct utsname names;
    bool is_known = ys_procfs_line(block->root, "/proc/sys/kernel/osrelease", release, sizeof release);
    snprintf(text, sizeof text, "Linux %s", is_known ? release : "");
    ys_host_put_text(block, "kernel", is_known ? text : NULL, "/proc/sys/kernel/osrelease is not readable");
    ys_host_put_text(block, "machine", uname(&names) == 0 ? names.machine : NULL, "uname failed");
    ys_host_put_text(block, "distribution", distribution(block->root, text, sizeof text) ? text : NULL,
                     "there is no /etc/os-release");
    snprintf(text, sizeof text, "glibc %s", gnu_get_libc_version());
    ys_host_put_text(block, "libc", text, NULL);
    ys_host_put_text(block, "hypervisor", ys_guest_hypervisor(block->root, text, sizeof text),
                     "nothing says that this machine is virtual");
    ys_host_put_line(block, "product", "/sys/class/dmi/id/product_name", "the firmware's tables are not readable");
    ys_host_put_text(block, "container", ys_guest_container(block->root, text, sizeof text),
                     "no trace of a container was found");
    return put_mitigations(block);
}

static ys_status describe_load(struct ys_host_block *block)
{
    struct ys_host_counters now;
    ys_host_count(&now);
    if (now.load_1min >= 0)
        ys_json_set_real(block->object, "average_1min", now.load_1min);
    else
        ys_host_unknown(block, "average_1min", "/proc/loadavg is not readable");
    if (now.steal_s >= 0)
        ys_json_set_real(block->object, "steal_s", now.steal_s);
    else
        ys_host_unknown(block, "steal_s", "/proc/stat is not readable");
    return YS_OK;
}

static ys_status describe_environment(struct ys_host_block *block)
{
    for (char **variable = environ; variable && *variable; variable++) {
        const char *equals = strchr(*variable, '=');
        if (!equals || !ys_steering_of(*variable))
            continue;
        char *name = ys_strndup(*variable, (size_t)(equals - *variable));
        if (!name)
            return ys_out_of_memory();
        ys_json_set_string(block->object, name, equals + 1);
        ys_free(name);
    }
    return YS_OK;
}

static ys_status warn(ys_json *warnings, char *text_taken)
{
    if (!text_taken)
        return ys_out_of_memory();
    ys_status status = ys_json_append(warnings, ys_json_string(text_taken));
    ys_free(text_taken);
    return status;
}

/** Cores of several kinds: threads beyond the fast ones are slower, whatever the framework. */
static ys_status warn_of_kinds(ys_json *warnings)
{
    struct ys_cpus cpus;
    if (ys_cpus_read(ys_procfs_root(), &cpus) != YS_OK)
        return YS_OK; /* the counts are null and say why */
    int cores = 0, fast = 0, kinds = cpus.kinds;
    for (size_t i = 0; i < cpus.count; i++) {
        cores += cpus.items[i].sibling == 0;
        fast += cpus.items[i].sibling == 0 && cpus.items[i].kind == 0;
    }
    ys_cpus_fini(&cpus);
    if (kinds == 1)
        return YS_OK;
    return warn(warnings, ys_format("only %d of the %d cores that may be used are of the fastest kind: runs with more "
                                    "threads than that use slower ones too",
                                    fast, cores));
}

#define REAL(type, member, unit) YS_FIELD(type, member, YS_FIELD_REAL, unit, YS_FIELD_NULL, "")
#define CPU                      struct ys_host_known_cpu
static const struct ys_field cpu_fields[] = {
    YS_FIELD(CPU, model, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, ""),
    YS_FIELD(CPU, governor, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, ""),
    YS_FIELD(CPU, turbo, YS_FIELD_TRUTH, NULL, YS_FIELD_NULL, ""),
    REAL(CPU, allowed, "1"),
    REAL(CPU, threads_per_core, "1"),
    REAL(CPU, quota_cores, "1"),
    YS_FIELD(CPU, caches, YS_FIELD_JSON, NULL, YS_FIELD_NULL, ""),
    YS_FIELD(CPU, isa, YS_FIELD_JSON, NULL, YS_FIELD_NULL, ""),
};
static const struct ys_record cpu_record = YS_RECORD("cpu", CPU, cpu_fields);
#define MEMORY struct ys_host_known_memory
static const struct ys_field memory_fields[] = {REAL(MEMORY, available_bytes, "B"), REAL(MEMORY, effective_bytes, "B"),
                                                REAL(MEMORY, swap_bytes, "B")};
static const struct ys_record memory_record = YS_RECORD("memory", MEMORY, memory_fields);
#define KNOWN struct ys_host_known
static const struct ys_field known_fields[] = {
    YS_FIELD_OF(KNOWN, cpu, YS_FIELD_OBJECT, &cpu_record, 0, ""),
    YS_FIELD_OF(KNOWN, memory, YS_FIELD_OBJECT, &memory_record, 0, ""),
    YS_FIELD(KNOWN, environment, YS_FIELD_JSON, NULL, YS_FIELD_NULL, ""),
    YS_FIELD(KNOWN, reasons, YS_FIELD_JSON, NULL, YS_FIELD_NULL, ""),
};
static const struct ys_record known_record = YS_RECORD("host", KNOWN, known_fields);
struct cache {
    double size_bytes;
};
static const struct ys_field cache_fields[] = {REAL(struct cache, size_bytes, "B")};
static const struct ys_record cache_record = YS_RECORD("cache", struct cache, cache_fields);

void ys_host_read(const ys_json *host, struct ys_host_known *known)
{
    ys_record_glance(&known_record, host, known);
    known->largest_cache_bytes = NAN;
    for (size_t i = 0; i < ys_json_size(known->cpu.caches); i++) {
        struct cache cache;
        ys_record_glance(&cache_record, ys_json_at(known->cpu.caches, i), &cache);
        known->largest_cache_bytes = fmax(known->largest_cache_bytes, cache.size_bytes);
    }
}

/** What of all this makes measurements on this machine less sure: sentences. */
static ys_status put_warnings(ys_json *host)
{
    ys_json *warnings = ys_json_array();
    if (!warnings || ys_json_set(host, "warnings", warnings) != YS_OK)
        return ys_out_of_memory();
    struct ys_host_known known;
    ys_host_read(host, &known);
    const double quota = known.cpu.quota_cores, allowed = known.cpu.allowed;
    if (quota > 0 && quota < allowed)
        YS_TRY(
            warn(warnings,
                 ys_format("a control group grants the CPU time of %g cores while %g CPUs may be used: runs with more "
                           "threads than that are stopped again and again",
                           quota, allowed)));
    YS_TRY(warn_of_kinds(warnings));
    const char *governor = known.cpu.governor;
    if (governor && strcmp(governor, "performance") != 0)
        YS_TRY(warn(
            warnings,
            ys_format("the CPU frequency governor is \"%s\", so clocks follow the load; \"performance\" is steadier",
                      governor)));
    return YS_OK;
}

ys_status ys_host_describe(ys_json **host)
{
    static const struct {
        const char *name;
        ys_status (*describe)(struct ys_host_block *block);
    } blocks[] = {
        {"cpu", ys_host_describe_cpu}, {"memory", describe_memory},           {"system", describe_system},
        {"load", describe_load},       {"environment", describe_environment},
    };
    struct ys_host_block block = {.root = ys_procfs_root(), .reasons = ys_json_object()};
    ys_json *made = ys_json_object();
    ys_status status = made && block.reasons ? YS_OK : ys_out_of_memory();
    ys_cgroup_read(block.root, &block.cgroup);
    for (size_t i = 0; status == YS_OK && i < sizeof blocks / sizeof blocks[0]; i++) {
        block.name = blocks[i].name;
        block.object = ys_json_object();
        status = block.object ? blocks[i].describe(&block) : ys_out_of_memory();
        if (block.object && ys_json_set(made, block.name, block.object) != YS_OK)
            status = ys_out_of_memory();
    }
    if (status == YS_OK)
        status = put_warnings(made);
    if (!made)
        ys_json_free(block.reasons);
    else if (ys_json_set(made, "reasons", block.reasons) != YS_OK)
        status = ys_out_of_memory();
    if (status != YS_OK) {
        ys_json_free(made);
        return status;
    }
    *host = made;
    return YS_OK;
}

/** Of the whole machine, from /proc/vmstat; -1 unknown. `swapped_bytes` likewise. */
static void count_virtual_memory(const char *root, int64_t *oom_kills, int64_t *swapped_bytes)
{
    struct ys_buf text = {0};
    int64_t in_pages, out_pages;
    *oom_kills = *swapped_bytes = -1;
    if (ys_procfs_read_all(root, "/proc/vmstat", &text) == YS_OK) {
        const char *all = ys_buf_text(&text);
        (void)ys_procfs_field(all, "oom_kill", oom_kills);
        if (ys_procfs_field(all, "pswpin", &in_pages) && ys_procfs_field(all, "pswpout", &out_pages))
            *swapped_bytes = (in_pages + out_pages) * (int64_t)sysconf(_SC_PAGESIZE);
    }
    ys_buf_free(&text);
}

int64_t ys_host_oom_kills(void)
{
    const char *root = ys_procfs_root();
    struct ys_cgroup cgroup;
    int64_t swapped_bytes;
    ys_cgroup_count(root, &cgroup);
    if (cgroup.oom_kills < 0)
        count_virtual_memory(root, &cgroup.oom_kills, &swapped_bytes);
    return cgroup.oom_kills;
}

void ys_host_count(struct ys_host_counters *counters)
{
    const char *root = ys_procfs_root();
    char text[512];
    *counters = (struct ys_host_counters){.t_ns = ys_time_ns(),
                                          .busy_s = -1,
                                          .steal_s = -1,
                                          .load_1min = -1,
                                          .memory_stalled_s = -1,
                                          .throttled_s = -1,
                                          .swapped_bytes = -1,
                                          .oom_kills = -1};
    double user, nice, system, idle, wait, interrupt, soft, steal, tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    if (ys_procfs_line(root, "/proc/stat", text, sizeof text) &&
        sscanf(text, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &wait, &interrupt, &soft,
               &steal) == 8) {
        counters->busy_s = (user + nice + system + interrupt + soft) * tick_s;
        counters->steal_s = steal * tick_s;
    }
    if (ys_procfs_line(root, "/proc/loadavg", text, sizeof text) && sscanf(text, "%lf", &counters->load_1min) != 1)
        counters->load_1min = -1;
    struct ys_cgroup cgroup;
    ys_cgroup_count(root, &cgroup);
    count_virtual_memory(root, &counters->oom_kills, &counters->swapped_bytes);
    if (cgroup.oom_kills >= 0)
        counters->oom_kills = cgroup.oom_kills;
    counters->throttled_s = cgroup.throttled_s;
    char pressure[256];
    const char *full = NULL, *total;
    if (ys_procfs_read(root, "/proc/pressure/memory", pressure, sizeof pressure) > 0)
        full = strstr(pressure, "full");
    if (full && (total = strstr(full, "total=")))
        counters->memory_stalled_s = strtod(total + 6, NULL) * 1e-6;
}

/* Whether a list of CPUs, or of those that we may use, has that one. */
static bool has_cpu(const int64_t *cpus, size_t count, int cpu)
{
    for (size_t i = 0; i < count; i++)
        if (cpus[i] == cpu)
            return true;
    return count == 0 && ys_host_cpu_is_allowed(cpu);
}

void ys_host_count_cpus(const int64_t *cpus, size_t count, struct ys_host_cpu_counters *counters)
{
    const double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    struct ys_buf text = {0};
    *counters = (struct ys_host_cpu_counters){.t_ns = ys_time_ns()};
    const ys_status status = ys_procfs_read_all(ys_procfs_root(), "/proc/stat", &text);
    for (const char *line = status == YS_OK ? ys_buf_text(&text) : NULL; line; line = strchr(line, '\n')) {
        double user, nice, system, idle, wait, interrupt, soft, steal;
        int cpu;
        line += *line == '\n';
        if (sscanf(line, "cpu%d %lf %lf %lf %lf %lf %lf %lf %lf", &cpu, &user, &nice, &system, &idle, &wait, &interrupt,
                   &soft, &steal) != 9 ||
            !has_cpu(cpus, count, cpu))
            continue;
        counters->busy_s += (user + nice + system + interrupt + soft) * tick_s;
        counters->steal_s += steal * tick_s;
        counters->tick_s += tick_s;
        counters->cpus++;
    }
    ys_buf_free(&text);
    struct ys_cgroup cgroup;
    ys_cgroup_count(ys_procfs_root(), &cgroup);
    counters->throttled_s = cgroup.throttled_s;
    if (counters->cpus == 0)
        counters->busy_s = counters->steal_s = -1;
}

static ys_json *known(double value, bool is_known)
{
    return is_known ? ys_json_real(value) : ys_json_null();
}

ys_json *ys_host_disturbance(const struct ys_host_counters *before, const struct ys_host_counters *after)
{
    double seconds = (double)(after->t_ns - before->t_ns) * 1e-9, online = (double)sysconf(_SC_NPROCESSORS_ONLN);
    bool has_times = before->steal_s >= 0 && after->steal_s >= 0;
    double steal_s = after->steal_s - before->steal_s;
    ys_json *made = ys_json_object();
    ys_json_set_real(made, "seconds", seconds);
    ys_json_set(made, "steal_s", known(steal_s, has_times));
    ys_json_set(made, "steal_share", known(steal_s / (seconds * online), has_times && seconds > 0));
    ys_json_set(made, "busy_s", known(after->busy_s - before->busy_s, has_times));
    ys_json_set(made, "memory_stalled_s",
                known(after->memory_stalled_s - before->memory_stalled_s, before->memory_stalled_s >= 0));
    ys_json_set(made, "throttled_s", known(after->throttled_s - before->throttled_s, before->throttled_s >= 0));
    ys_json_set(made, "swapped_bytes",
                known((double)(after->swapped_bytes - before->swapped_bytes), before->swapped_bytes >= 0));
    ys_json_set(made, "load_before", known(before->load_1min, before->load_1min >= 0));
    if (made && ys_json_set(made, "load_after", known(after->load_1min, after->load_1min >= 0)) != YS_OK) {
        ys_json_free(made);
        return NULL;
    }
    return made;
}

ys_json *ys_host_cpus_between(const struct ys_host_cpu_counters *before, const struct ys_host_cpu_counters *after)
{
    const bool has_times = before->cpus > 0 && before->cpus == after->cpus;
    ys_json *made = ys_json_object();
    ys_json_set_real(made, "seconds", (double)(after->t_ns - before->t_ns) * 1e-9);
    ys_json_set_int(made, "cpus", after->cpus);
    ys_json_set(made, "busy_s", known(after->busy_s - before->busy_s, has_times));
    ys_json_set(made, "steal_s", known(after->steal_s - before->steal_s, has_times));
    ys_json_set(made, "throttled_s", known(after->throttled_s - before->throttled_s, before->throttled_s >= 0));
    if (made && ys_json_set_real(made, "tick_s", after->tick_s) != YS_OK) {
        ys_json_free(made);
        return NULL;
    }
    return made;
}

/* What is unknown stays so. */
static void move(double *before, double from, double to)
{
    if (*before >= 0 && to > from)
        *before += to - from;
}

void ys_host_leave_out(struct ys_host_counters *before, const struct ys_host_counters *from,
                       const struct ys_host_counters *to)
{
    before->t_ns += to->t_ns - from->t_ns;
    move(&before->busy_s, from->busy_s, to->busy_s);
    move(&before->steal_s, from->steal_s, to->steal_s);
    move(&before->memory_stalled_s, from->memory_stalled_s, to->memory_stalled_s);
    move(&before->throttled_s, from->throttled_s, to->throttled_s);
    if (before->swapped_bytes >= 0 && to->swapped_bytes > from->swapped_bytes)
        before->swapped_bytes += to->swapped_bytes - from->swapped_bytes;
}

void ys_host_leave_out_cpus(struct ys_host_cpu_counters *before, const struct ys_host_cpu_counters *from,
                            const struct ys_host_cpu_counters *to)
{
    before->t_ns += to->t_ns - from->t_ns;
    move(&before->busy_s, from->busy_s, to->busy_s);
    move(&before->steal_s, from->steal_s, to->steal_s);
    move(&before->throttled_s, from->throttled_s, to->throttled_s);
}
