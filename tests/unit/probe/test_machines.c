/* What the probes say of the machines of tests/fixtures/machines. The expectations were written by hand, from reading
 * the files and what is known of the machines. */
#include "base/buf.h"
#include "machine.h"
#include "probe/cgroup.h"
#include "probe/cpus.h"
#include "probe/host.h"
#include "probe/process_tree.h"
#include "probe/procfs.h"

/** Writes `text` with every '@' as `number` (none where it is negative). */
static void write_numbered(const char *path, const char *text, int number)
{
    struct ys_buf made = {0};
    for (; *text; text++) {
        bool is_mark = *text == '@' && number >= 0;
        if ((is_mark ? ys_buf_printf(&made, "%d", number) : ys_buf_append(&made, text, 1)) != YS_OK)
            abort();
    }
    machine_file(path, ys_buf_text(&made));
    ys_buf_free(&made);
}

/** One entry of a fixture: a file, or one for each number of the list in braces. */
static void write_entry(const char *path, const char *content)
{
    const char *open = strchr(path, '{'), *close = strchr(path, '}');
    int numbers[256], only = -1;
    if (!open || !close) {
        (void)sscanf(path, "/sys/devices/system/cpu/cpu%d/", &only);
        write_numbered(path, content, only);
        return;
    }
    char *list = ys_strndup(open + 1, (size_t)(close - open - 1));
    int count = ys_procfs_list(list, numbers, 256);
    for (int i = 0; i < count; i++) {
        char *whole = ys_format("%.*s%d%s", (int)(open - path), path, numbers[i], close + 1);
        write_numbered(whole, content, numbers[i]);
        ys_free(whole);
    }
    ys_free(list);
    CHECK(count > 0);
}

/** Makes the machine of that name the one that machine_root names. */
static bool load(const char *name)
{
    char *path = ys_format("%s/tests/fixtures/machines/%s.machine", getenv("YS_SOURCE_ROOT"), name), *line = NULL;
    struct ys_buf content = {0};
    char *entry = NULL;
    size_t size = 0;
    machine_new();
    FILE *file = fopen(path, "r");
    while (file && getline(&line, &size, file) > 0) {
        if (line[0] == '\t' && ys_buf_puts(&content, line + 1) != YS_OK)
            abort();
        if (line[0] != '/')
            continue;
        if (entry)
            write_entry(entry, ys_buf_text(&content));
        ys_free(entry);
        entry = ys_strndup(line, strcspn(line, "\n"));
        ys_buf_clear(&content);
    }
    if (entry)
        write_entry(entry, ys_buf_text(&content));
    bool is_loaded = CHECK(entry != NULL);
    if (file)
        fclose(file);
    free(line);
    ys_free(entry);
    ys_free(path);
    ys_buf_free(&content);
    return is_loaded;
}

/** 0, -1 and NULL stand for what the machine does not say. */
struct expected {
    const char *name, *model, *vendor, *kernel;
    int online, allowed, cores, packages, threads_per_core, kinds;
    const char *picked; /* for as many threads as are named here: the CPUs, in the order of preference */
    double quota_cores, effective_cores;
    int64_t total_kib, limit_bytes, oom_kills;
    const char *huge_pages, *hypervisor, *container;
    const char *isa; /* one that it has */
    int caches;
    int warnings;
};

static const struct expected machines[] = {
    {.name = "guest-of-kvm",
     .model = "AMD EPYC",
     .vendor = "AuthenticAMD",
     .kernel = "Linux 6.18.44",
     .online = 2,
     .allowed = 2,
     .cores = 2,
     .packages = 1,
     .threads_per_core = 1,
     .kinds = 1,
     .picked = "0 1",
     .effective_cores = 2,
     .total_kib = 24684096,
     .huge_pages = "madvise",
     .hypervisor = "KVM",
     .isa = "avx512_bf16",
     .caches = 4,
     .warnings = 0},
    {.name = "container-v1-one-cpu",
     .model = "QEMU TCG CPU version 2.5+",
     .vendor = "AuthenticAMD",
     .kernel = "Linux 6.1.0-56-amd64",
     .online = 1,
     .allowed = 1,
     .cores = 1,
     .packages = 1,
     .threads_per_core = 1,
     .kinds = 1,
     .picked = "0",
     .quota_cores = 0.5,
     .effective_cores = 0.5,
     .total_kib = 466396,
     .limit_bytes = 128 << 20,
     .huge_pages = "never",
     .hypervisor = "QEMU",
     .container = "docker",
     .isa = "avx2",
     .caches = 4,
     .warnings = 1},
    {.name = "container-v2-many-cpus",
     .model = "Intel Xeon Processor (Skylake)",
     .vendor = "GenuineIntel",
     .kernel = "Linux 6.1.0-56-amd64",
     .online = 32,
     .allowed = 32,
     .cores = 16,
     .packages = 1,
     .threads_per_core = 2,
     .kinds = 1,
     .picked = "0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 1 3 5",
     .quota_cores = 1.5,
     .effective_cores = 1.5,
     .total_kib = 974892,
     .limit_bytes = 256 << 20,
     .huge_pages = "always",
     .hypervisor = "QEMU",
     .container = "podman",
     .isa = "avx2",
     .caches = 4,
     .warnings = 1},
    {.name = "two-sockets",
     .model = "Intel Xeon Processor (Skylake)",
     .vendor = "GenuineIntel",
     .kernel = "Linux 6.1.0-56-amd64",
     .online = 16,
     .allowed = 12,
     .cores = 6,
     .packages = 2,
     .threads_per_core = 2,
     .kinds = 1,
     .picked = "2 4 6 8 10 12 3 5 7 9 11 13",
     .quota_cores = 3.5,
     .effective_cores = 3.5,
     .total_kib = 2013572,
     .limit_bytes = 384 << 20,
     .huge_pages = "always",
     .hypervisor = "QEMU",
     .isa = "fma",
     .caches = 4,
     .warnings = 1},
    {.name = "arm-two-sockets",
     .model = "Arm Neoverse-N1",
     .vendor = "Arm",
     .kernel = "Linux 6.1.0-56-arm64",
     .online = 8,
     .allowed = 8,
     .cores = 8,
     .packages = 2,
     .threads_per_core = 1,
     .kinds = 1,
     .picked = "0 1 2 3 4 5 6 7",
     .quota_cores = 3.5,
     .effective_cores = 3.5,
     .total_kib = 1000084,
     .limit_bytes = 384 << 20,
     .huge_pages = "always",
     .isa = "asimddp",
     .warnings = 1},
    {.name = "laptop-two-kinds",
     .model = "13th Gen Intel(R) Core(TM) i7-1370P",
     .vendor = "GenuineIntel",
     .kernel = "Linux 6.1.0-13-amd64",
     .online = 20,
     .allowed = 20,
     .cores = 14,
     .packages = 1,
     .threads_per_core = 2,
     .kinds = 2,
     .picked = "0 2 4 6 8 10 12 13 14 15 16 17 18 19 1 3 5 7 9 11",
     .effective_cores = 20,
     .total_kib = 32489496,
     .oom_kills = -1,
     .isa = "avx_vnni",
     .warnings = 2},
    {.name = "arm-two-kinds",
     .model = "Arm Cortex-A725",
     .vendor = "Arm",
     .kernel = "Linux 6.17.0-1014-nvidia",
     .online = 20,
     .allowed = 20,
     .cores = 20,
     .packages = 1,
     .threads_per_core = 1,
     .kinds = 2,
     .picked = "5 6 7 8 9 15 16 17 18 19 0 1 2 3 4 10 11 12 13 14",
     .effective_cores = 20,
     .total_kib = 125508468,
     .oom_kills = -1,
     .isa = "sve2",
     .warnings = 1},
    {.name = "arm-server",
     .model = "HiSilicon Kunpeng-920",
     .vendor = "HiSilicon",
     .kernel = "Linux 5.15.0-rc1-00005-g4c1b4a4d90b6-dirty",
     .online = 128,
     .allowed = 128,
     .cores = 128,
     .packages = 2,
     .threads_per_core = 1,
     .kinds = 1,
     .picked = "0 1 2 3",
     .effective_cores = 128,
     .total_kib = 527031224,
     .oom_kills = -1,
     .isa = "asimddp",
     .caches = 4},
    {.name = "old-kernel",
     .model = "Intel(R) Xeon(TM) CPU 2.60GHz",
     .vendor = "GenuineIntel",
     .allowed = 16,
     .cores = 8,
     .packages = 4,
     .threads_per_core = 2,
     .kinds = 1,
     .picked = "0 4 1 5 2 6 3 7 8 12 9 13 10 14 11 15",
     .effective_cores = 16,
     .oom_kills = -1},
    {.name = "bare",
     .model = "unknown",
     .vendor = "GenuineIntel",
     .allowed = 4,
     .kinds = 1,
     .picked = "0 1 2 3",
     .effective_cores = 4,
     .oom_kills = -1,
     .hypervisor = "yes (kind not shown)",
     .isa = "avx2"},
};

static void check_text(const ys_json *host, const char *block, const char *key, const char *expected)
{
    const ys_json *value = ys_json_get(ys_json_get(host, block), key);
    char name[64];
    snprintf(name, sizeof name, "%s.%s", block, key);
    const char *text = ys_json_text(value, NULL);
    tap_check(expected ? text && strcmp(text, expected) == 0 : value && ys_json_type_of(value) == YS_JSON_NULL,
              __LINE__, "%s is %s, not %s", name, text ? text : "null", expected ? expected : "null");
    if (!expected)
        tap_check(ys_json_get_text(ys_json_get(host, "reasons"), name, NULL) != NULL, __LINE__, "%s has a reason",
                  name);
}

/** `expected` 0: null. */
static void check_number(const ys_json *host, const char *block, const char *key, double expected)
{
    double value = ys_json_get_number(ys_json_get(host, block), key, 0);
    tap_check(value == expected, __LINE__, "%s.%s is %g, not %g", block, key, value, expected);
}

static void check_picks(const struct expected *m)
{
    struct ys_cpus cpus;
    int expected[64], picked[64], count = 0, used;
    REQUIRE(ys_cpus_read(machine_root, &cpus) == YS_OK);
    for (const char *at = m->picked; sscanf(at, "%d%n", &expected[count], &used) == 1; at += used)
        count++;
    CHECK_INT(cpus.kinds, m->kinds);
    for (int threads = 1; threads <= count; threads++) {
        CHECK_INT(ys_cpus_pick(&cpus, (size_t)threads, picked), threads);
        for (int i = 0; i < threads; i++)
            tap_check(picked[i] == expected[i], __LINE__, "CPU %d of %d threads is %d, not %d", i, threads, picked[i],
                      expected[i]);
    }
    CHECK(count == m->allowed || (size_t)count < cpus.count);
    ys_cpus_fini(&cpus);
}

static void check_machine(const struct expected *m)
{
    ys_json *host = NULL;
    struct ys_cgroup cgroup;
    printf("# %s\n", m->name);
    REQUIRE(load(m->name));
    setenv("YS_ROOT", machine_root, 1);
    CHECK_INT(ys_host_describe(&host), YS_OK);
    unsetenv("YS_ROOT");
    REQUIRE(host);
    check_text(host, "cpu", "model", m->model);
    check_text(host, "cpu", "vendor", m->vendor);
    check_text(host, "system", "kernel", m->kernel);
    check_number(host, "cpu", "online", m->online);
    check_number(host, "cpu", "allowed", m->allowed);
    check_number(host, "cpu", "cores", m->cores);
    check_number(host, "cpu", "packages", m->packages);
    check_number(host, "cpu", "threads_per_core", m->threads_per_core);
    check_number(host, "cpu", "quota_cores", m->quota_cores);
    check_number(host, "cpu", "effective_cores", m->effective_cores);
    check_number(host, "memory", "total_bytes", (double)m->total_kib * 1024);
    check_number(host, "memory", "limit_bytes", (double)m->limit_bytes);
    check_number(host, "memory", "effective_bytes",
                 m->limit_bytes ? (double)m->limit_bytes : (double)m->total_kib * 1024);
    check_text(host, "memory", "huge_pages", m->huge_pages);
    check_text(host, "system", "hypervisor", m->hypervisor);
    check_text(host, "system", "container", m->container);
    CHECK_INT(ys_json_size(ys_json_get(ys_json_get(host, "cpu"), "caches")), m->caches);
    CHECK_INT(ys_json_size(ys_json_get(host, "warnings")), m->warnings);
    char *isa = ys_json_dump(ys_json_get(ys_json_get(host, "cpu"), "isa"), YS_JSON_COMPACT);
    if (m->isa)
        CHECK_HAS(isa, m->isa);
    ys_free(isa);
    ys_json_free(host);
    ys_cgroup_read(machine_root, &cgroup);
    CHECK_INT(cgroup.oom_kills, m->oom_kills);
    CHECK(cgroup.has_cpu_quota == (m->quota_cores > 0));
    CHECK(cgroup.has_memory_limit == (m->limit_bytes > 0));
    check_picks(m);
}

static void every_machine_is_described_as_it_is(void)
{
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        check_machine(&machines[i]);
}

static void cores_of_several_kinds_are_warned_of(void)
{
    ys_json *host = NULL;
    REQUIRE(load("laptop-two-kinds"));
    setenv("YS_ROOT", machine_root, 1);
    CHECK_INT(ys_host_describe(&host), YS_OK);
    unsetenv("YS_ROOT");
    char *warnings = ys_json_dump(ys_json_get(host, "warnings"), YS_JSON_COMPACT);
    CHECK_HAS(warnings, "only 6 of the 14 cores");
    ys_free(warnings);
    ys_json_free(host);
}

/** Two shells, three sleepers and a Python of four threads, below process 17722. */
static void a_recorded_process_tree_adds_up(void)
{
    struct ys_tree_sample sample;
    struct ys_tree_options options = {.root = machine_root, .top = 17722};
    REQUIRE(load("guest-of-kvm"));
    struct ys_tree *tree = ys_tree_open(&options);
    CHECK_INT(ys_tree_look(tree, &sample), YS_OK);
    CHECK_INT(sample.processes, 5);
    CHECK_INT(sample.threads, 4 + 4);
    CHECK_INT(sample.rss_bytes, (414 + 357 + 391 + 417 + 16122) * sysconf(_SC_PAGESIZE));
    /* Python's own 1 + 5 ticks, and 2 + 2 of children that it waited for; the others used less than one. */
    CHECK_INT(sample.cpu_ns, 10 * (1000000000 / sysconf(_SC_CLK_TCK)));
    CHECK_INT(sample.switches, 1 + 3 + 1 + 2 + (85 + 4 + 4 + 4));
    CHECK_INT(ys_tree_peak(tree)->process_bytes, 64768 * 1024);
    ys_tree_close(tree);
}

TAP_MAIN(TAP_CASE(every_machine_is_described_as_it_is), TAP_CASE(cores_of_several_kinds_are_warned_of),
         TAP_CASE(a_recorded_process_tree_adds_up))
