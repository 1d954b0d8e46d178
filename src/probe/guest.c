#include "probe/guest.h"
#include "base/buf.h"
#include "probe/procfs.h"
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

/** A piece of text by which something shows itself, and its name. */
struct trace {
    const char *sign, *name;
};

static const char *name_of(const struct trace *traces, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(text, traces[i].sign))
            return traces[i].name;
    return NULL;
}

/** By the leaf of CPUID that is kept for hypervisors: twelve letters. */
static const char *of_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    static const struct trace signs[] = {
        {"KVMKVMKVM", "KVM"},     {"Microsoft Hv", "Hyper-V"}, {"VMwareVMware", "VMware"},    {"XenVMMXenVMM", "Xen"},
        {"TCGTCGTCGTCG", "QEMU"}, {"bhyve bhyve ", "bhyve"},   {"VBoxVBoxVBox", "VirtualBox"}};
    unsigned leaf, letters[4] = {0};
    if (!__get_cpuid(1, &leaf, &letters[0], &letters[1], &letters[2]) || !(letters[1] >> 31))
        return NULL;
    __cpuid(0x40000000, leaf, letters[0], letters[1], letters[2]);
    letters[3] = 0;
    return name_of(signs, sizeof signs / sizeof signs[0], (const char *)letters);
#else
    return NULL;
#endif
}

/** By the clocks that a guest is offered. */
static const char *of_clocks(const char *root)
{
    static const struct trace clocks[] = {{"kvm-clock", "KVM"}, {"hyperv_clocksource", "Hyper-V"}, {"xen", "Xen"}};
    char text[512];
    if (!ys_procfs_line(root, "/sys/devices/system/clocksource/clocksource0/available_clocksource", text, sizeof text))
        return NULL;
    return name_of(clocks, sizeof clocks / sizeof clocks[0], text);
}

/** By the maker that the firmware names. Clouds have machines without a hypervisor too, and are no sign of one. */
static const char *of_maker(const char *maker)
{
    static const struct trace makers[] = {
        {"QEMU", "QEMU"}, {"VMware", "VMware"}, {"innotek", "VirtualBox"}, {"Xen", "Xen"}, {"Parallels", "Parallels"}};
    return name_of(makers, sizeof makers / sizeof makers[0], maker);
}

const char *ys_guest_hypervisor(const char *root, char *text, size_t size)
{
    char maker[128] = "";
    if (ys_procfs_line(root, "/sys/hypervisor/type", text, size))
        return text;
    (void)ys_procfs_line(root, "/sys/class/dmi/id/sys_vendor", maker, sizeof maker);
    const char *kind = root[0] ? NULL : of_cpu();
    kind = kind ? kind : of_clocks(root);
    kind = kind ? kind : of_maker(maker);
    struct ys_buf info = {0};
    bool is_marked =
        ys_procfs_read_all(root, "/proc/cpuinfo", &info) == YS_OK && strstr(ys_buf_text(&info), " hypervisor");
    ys_buf_free(&info);
    if (!kind && !is_marked)
        return NULL;
    if (kind && (!maker[0] || strstr(maker, kind)))
        snprintf(text, size, "%s", kind);
    else
        snprintf(text, size, "%s (%s)", kind ? kind : "yes", maker[0] ? maker : "kind not shown");
    return text;
}

/** Whether the root folder is a whole file system on a disk, as a machine of its own has it: a container's is an
 * overlay, a folder of another file system, or a volume that its runtime made. */
static bool has_own_root(const char *root)
{
    char mounts[65536], shown[YS_PROCFS_PATH], place[YS_PROCFS_PATH], source[256];
    bool is_own = false;
    if (ys_procfs_read(root, "/proc/self/mountinfo", mounts, sizeof mounts) <= 0)
        return false;
    for (const char *line = mounts; line && *line; line = strchr(line, '\n'), line += line ? 1 : 0) {
        if (sscanf(line, "%*s %*s %*s %511s %511s", shown, place) != 2 || strcmp(place, "/") != 0)
            continue;
        const char *tail = strstr(line, " - ");
        bool is_read = tail && sscanf(tail, " - %*s %255s", source) == 1;
        is_own = is_read && strcmp(shown, "/") == 0 && strncmp(source, "/dev/", 5) == 0 && !strstr(source, "docker");
    }
    return is_own;
}

static const char *container_of(const char *root, char *text, size_t size)
{
    static const struct trace paths[] = {{"kubepods", "kubernetes"},
                                         {"/docker/", "docker"},
                                         {"/docker-", "docker"},
                                         {"/libpod-", "podman"},
                                         {"/lxc/", "lxc"}};
    char groups[16384];
    if (ys_procfs_read(root, "/proc/self/cgroup", groups, sizeof groups) > 0) {
        const char *name = name_of(paths, sizeof paths / sizeof paths[0], groups);
        if (name)
            return name;
    }
    if (ys_procfs_line(root, "/run/systemd/container", text, size))
        return text;
    if (has_own_root(root))
        return NULL;
    if (ys_procfs_read(root, "/.dockerenv", text, size) >= 0)
        return "docker";
    return ys_procfs_read(root, "/run/.containerenv", text, size) >= 0 ? "podman" : NULL;
}

const char *ys_guest_container(const char *root, char *text, size_t size)
{
    const char *kind = container_of(root, text, size);
    if (kind && kind != text)
        snprintf(text, size, "%s", kind);
    return kind ? text : NULL;
}
