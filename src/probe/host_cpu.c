#include "base/buf.h"
#include "probe/cpus.h"
#include "probe/host_block.h"
#include "probe/procfs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Flags of /proc/cpuinfo that numerical libraries choose their kernels by (x86 and Arm names). */
static const char *const FLAGS[] = {
    "sse4_2",         "avx",           "fma",      "f16c",     "avx2",        "avx_vnni",
    "avx512f",        "avx512dq",      "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16",
    "avx512_fp16",    "amx_tile",      "amx_int8", "amx_bf16", "amx_fp16",    "avx_ifma",
    "avx_ne_convert", "avx_vnni_int8", "asimd",    "asimdhp",  "asimddp",     "sve",
    "sve2",           "bf16",          "i8mm",     "svebf16",  "sme",
};

/** The value after "key : " of /proc/cpuinfo, up to the end of its line. */
static bool cpuinfo_field(const char *text, const char *key, char *value, size_t size)
{
    size_t length = strlen(key);
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line ? 1 : 0) {
        if (strncmp(line, key, length) != 0)
            continue;
        const char *colon = line + length + strspn(line + length, " \t");
        if (*colon != ':')
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(value, size, "%.*s", (int)strcspn(colon, "\n"), colon);
        return value[0] != 0;
    }
    return false;
}

/** Arm kernels give numbers in the place of names (the architecture's MIDR register; Linux, asm/cputype.h). */
static const struct {
    unsigned implementer;
    unsigned part; /* 0: the maker itself */
    const char *name;
} ARM[] = {{0x41, 0, "Arm"},
           {0x41, 0xd03, "Cortex-A53"},
           {0x41, 0xd05, "Cortex-A55"},
           {0x41, 0xd07, "Cortex-A57"},
           {0x41, 0xd08, "Cortex-A72"},
           {0x41, 0xd0b, "Cortex-A76"},
           {0x41, 0xd0c, "Neoverse-N1"},
           {0x41, 0xd40, "Neoverse-V1"},
           {0x41, 0xd49, "Neoverse-N2"},
           {0x41, 0xd4f, "Neoverse-V2"},
           {0x41, 0xd85, "Cortex-X925"},
           {0x41, 0xd87, "Cortex-A725"},
           {0x42, 0, "Broadcom"},
           {0x43, 0, "Cavium"},
           {0x43, 0x0af, "ThunderX2"},
           {0x46, 0, "Fujitsu"},
           {0x46, 0x001, "A64FX"},
           {0x48, 0, "HiSilicon"},
           {0x48, 0xd01, "Kunpeng-920"},
           {0x4e, 0, "NVIDIA"},
           {0x51, 0, "Qualcomm"},
           {0x61, 0, "Apple"},
           {0xc0, 0, "Ampere"},
           {0xc0, 0xac3, "Ampere-1"}};

/** The name of a part, or of its maker where `part` is 0; NULL when there is none. */
static const char *arm_name(unsigned long implementer, unsigned long part)
{
    for (size_t i = 0; i < sizeof ARM / sizeof ARM[0]; i++)
        if (ARM[i].implementer == implementer && ARM[i].part == part)
            return ARM[i].name;
    return NULL;
}

/** Fills what is still "" of maker and model, by name where it is known and by number where it is not. */
static void name_arm(const char *info, char vendor[64], char model[256])
{
    char implementer[32], part[32];
    if (!cpuinfo_field(info, "CPU implementer", implementer, sizeof implementer) ||
        !cpuinfo_field(info, "CPU part", part, sizeof part))
        return;
    unsigned long maker = strtoul(implementer, NULL, 16), number = strtoul(part, NULL, 16);
    const char *maker_name = arm_name(maker, 0), *part_name = number ? arm_name(maker, number) : NULL;
    if (!vendor[0])
        snprintf(vendor, 64, "%s", maker_name ? maker_name : implementer);
    if (!model[0])
        snprintf(model, 256, "%s %s%s", maker_name ? maker_name : implementer, part_name ? "" : "part ",
                 part_name ? part_name : part);
}

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if ((at == text || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static ys_status put_cpuinfo(struct ys_host_block *block)
{
    struct ys_buf text = {0};
    static const char *const no_file = "/proc/cpuinfo does not say";
    char value[8192];
    ys_status status = ys_procfs_read_all(block->root, "/proc/cpuinfo", &text);
    if (status == YS_ENOMEM)
        return status;
    const char *info = ys_buf_text(&text);
    char vendor[64] = "", model[256] = "";
    if (!cpuinfo_field(info, "model name", model, sizeof model))
        (void)cpuinfo_field(info, "Model", model, sizeof model);
    (void)cpuinfo_field(info, "vendor_id", vendor, sizeof vendor);
    name_arm(info, vendor, model);
    ys_host_put_text(block, "model", model[0] ? model : NULL, no_file);
    ys_host_put_text(block, "vendor", vendor[0] ? vendor : NULL, no_file);
    ys_json *isa = ys_json_array();
    bool is_named =
        cpuinfo_field(info, "flags", value, sizeof value) || cpuinfo_field(info, "Features", value, sizeof value);
    for (size_t i = 0; is_named && i < sizeof FLAGS / sizeof FLAGS[0]; i++)
        if (has_word(value, FLAGS[i]))
            ys_json_append(isa, ys_json_string(FLAGS[i]));
    ys_buf_free(&text);
    if (is_named)
        return ys_json_set(block->object, "isa", isa);
    ys_json_free(isa);
    ys_host_unknown(block, "isa", no_file);
    return YS_OK;
}

static ys_status put_counts(struct ys_host_block *block)
{
    struct ys_cpus cpus;
    ys_status status = ys_cpus_read(block->root, &cpus);
    if (status == YS_ENOMEM)
        return status;
    static const char *const keys[] = {"online", "allowed", "cores", "packages", "threads_per_core"};
    int values[] = {cpus.online, (int)cpus.count, cpus.cores, cpus.packages, 0};
    for (size_t i = 0; i < cpus.count; i++)
        if (cpus.cores > 0 && cpus.items[i].sibling >= values[4])
            values[4] = cpus.items[i].sibling + 1;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (values[i] > 0)
            ys_json_set_int(block->object, keys[i], values[i]);
        else
            ys_host_unknown(block, keys[i], "the kernel shows no topology");
    }
    ys_json *list = ys_json_array();
    for (size_t i = 0; i < cpus.count; i++)
        ys_json_append(list, ys_json_int(cpus.items[i].number));
    double effective = (double)cpus.count;
    if (block->cgroup.has_cpu_quota && block->cgroup.quota_cores < effective)
        effective = block->cgroup.quota_cores;
    if (block->cgroup.has_cpu_quota)
        ys_json_set_real(block->object, "quota_cores", block->cgroup.quota_cores);
    else
        ys_host_unknown(block, "quota_cores", "no control group limits CPU time");
    ys_json_set_real(block->object, "effective_cores", effective);
    ys_cpus_fini(&cpus);
    return ys_json_set(block->object, "allowed_list", list);
}

static bool cache_line(const struct ys_host_block *block, int index, const char *name, char *line, size_t size)
{
    char path[YS_PROCFS_PATH];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
    return ys_procfs_line(block->root, path, line, size);
}

/** The caches that CPU 0 sees: one of each level and type. */
static ys_status put_caches(struct ys_host_block *block)
{
    ys_json *caches = ys_json_array();
    char level[32], type[32], bytes[32], shared[1024];
    for (int i = 0; i < 16 && cache_line(block, i, "level", level, sizeof level); i++) {
        unsigned long long size = 0, number = 0;
        char unit = 0;
        if (!cache_line(block, i, "type", type, sizeof type) || !cache_line(block, i, "size", bytes, sizeof bytes) ||
            sscanf(bytes, "%llu%c", &size, &unit) < 1 || sscanf(level, "%llu", &number) != 1)
            continue;
        size *= unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1;
        ys_json *cache = ys_json_object();
        ys_json_set_int(cache, "level", (int64_t)number);
        ys_json_set_string(cache, "type", type);
        ys_json_set_int(cache, "size_bytes", (int64_t)size);
        bool is_listed = cache_line(block, i, "shared_cpu_list", shared, sizeof shared);
        int sharers = is_listed ? ys_procfs_list(shared, NULL, 0) : -1;
        ys_json_set(cache, "shared_by", sharers > 0 ? ys_json_int(sharers) : ys_json_null());
        ys_json_append(caches, cache);
    }
    if (ys_json_size(caches) > 0)
        return ys_json_set(block->object, "caches", caches);
    ys_json_free(caches);
    ys_host_unknown(block, "caches", "the kernel shows no caches");
    return YS_OK;
}

static void put_frequency(struct ys_host_block *block)
{
    int64_t number = 0;
    ys_host_put_line(block, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                     "no frequency control is visible (usual in virtual machines)");
    if (ys_procfs_number(block->root, "/sys/devices/system/cpu/intel_pstate/no_turbo", &number))
        ys_json_set_bool(block->object, "turbo", number == 0);
    else if (ys_procfs_number(block->root, "/sys/devices/system/cpu/cpufreq/boost", &number))
        ys_json_set_bool(block->object, "turbo", number != 0);
    else
        ys_host_unknown(block, "turbo", "no switch for it is visible");
    if (ys_procfs_number(block->root, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", &number))
        ys_json_set_real(block->object, "mhz_max", (double)number / 1000);
    else
        ys_host_unknown(block, "mhz_max", "no frequency control is visible (usual in virtual machines)");
}

ys_status ys_host_describe_cpu(struct ys_host_block *block)
{
    YS_TRY(put_cpuinfo(block));
    YS_TRY(put_counts(block));
    YS_TRY(put_caches(block));
    put_frequency(block);
    return YS_OK;
}
