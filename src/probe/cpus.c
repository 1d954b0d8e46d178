#include "probe/cpus.h"
#include "base/mem.h"
#include "probe/procfs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CPUS = 8192, STATUS_BYTES = 65536 };

static int package_of(const char *root, int cpu)
{
    char path[YS_PROCFS_PATH];
    int64_t number;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    return ys_procfs_number(root, path, &number) ? (int)number : -1;
}

/** A number that all CPUs of one core share and no other core has: that of the core's first CPU; -1 when unknown. Old
 * kernels give a mask where later ones give a list too. */
static int core_of(const char *root, int cpu)
{
    char path[YS_PROCFS_PATH], line[4096];
    int first = -1;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    if (ys_procfs_line(root, path, line, sizeof line))
        return ys_procfs_list(line, &first, 1) < 1 ? -1 : first;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings", cpu);
    if (ys_procfs_line(root, path, line, sizeof line))
        return ys_procfs_mask(line, &first, 1) < 1 ? -1 : first;
    return -1;
}

/** How fast a core is in relation to the others of its machine, on whatever scale the kernel has; 0 when unknown. */
static int64_t speed_of(const char *root, int cpu)
{
    static const char *const names[] = {"cpu_capacity", "cpufreq/cpuinfo_max_freq"};
    char path[YS_PROCFS_PATH];
    int64_t speed;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, names[i]);
        if (ys_procfs_number(root, path, &speed) && speed > 0)
            return speed;
    }
    return 0;
}

/** Cores within a tenth of the fastest of a kind are of that kind: some cores of one make are clocked a little higher.
 */
static void sort_into_kinds(struct ys_cpus *cpus, const char *root)
{
    int64_t *speed = ys_alloc(cpus->count, sizeof *speed), limit = INT64_MAX;
    bool is_known = speed != NULL;
    cpus->kinds = 1;
    for (size_t i = 0; is_known && i < cpus->count; i++)
        is_known = (speed[i] = speed_of(root, cpus->items[i].number)) > 0;
    for (int kind = 0; is_known; kind++) {
        int64_t top = 0;
        for (size_t i = 0; i < cpus->count; i++)
            top = speed[i] < limit && speed[i] > top ? speed[i] : top;
        if (top == 0)
            break;
        limit = top - top / 10;
        for (size_t i = 0; i < cpus->count; i++)
            if (speed[i] <= top)
                cpus->items[i].kind = kind;
        cpus->kinds = kind + 1;
    }
    ys_free(speed);
}

/** The CPUs that /proc/self/status says this process may use, control groups applied. */
static int allowed_list(const char *root, int *numbers)
{
    static const struct {
        const char *field;
        int (*parse)(const char *text, int *values, int capacity);
    } forms[] = {{"\nCpus_allowed_list:", ys_procfs_list}, {"\nCpus_allowed:", ys_procfs_mask}};
    char *text = ys_alloc(STATUS_BYTES, 1);
    int count = -1;
    bool is_read = text && ys_procfs_read(root, "/proc/self/status", text, STATUS_BYTES) > 0;
    for (size_t i = 0; is_read && count < 0 && i < sizeof forms / sizeof forms[0]; i++) {
        const char *field = strstr(text, forms[i].field);
        char line[STATUS_BYTES / 8];
        if (!field)
            continue;
        field += strlen(forms[i].field);
        snprintf(line, sizeof line, "%.*s", (int)strcspn(field, "\n"), field);
        count = forms[i].parse(line, numbers, MOST_CPUS);
    }
    ys_free(text);
    return count > MOST_CPUS ? MOST_CPUS : count;
}

static void count_cores(struct ys_cpus *cpus)
{
    int packages = 0, cores = 0;
    for (size_t i = 0; i < cpus->count; i++) {
        struct ys_cpu *cpu = &cpus->items[i];
        bool is_new_package = true;
        for (size_t j = 0; j < i; j++) {
            const struct ys_cpu *other = &cpus->items[j];
            cpu->sibling += cpu->core >= 0 && other->core == cpu->core;
            is_new_package &= other->package != cpu->package;
        }
        cores += cpu->sibling == 0;
        packages += is_new_package;
        if (cpu->core < 0) { /* one that says nothing spoils the count */
            cpus->cores = cpus->packages = 0;
            return;
        }
    }
    cpus->cores = cores;
    cpus->packages = packages;
}

ys_status ys_cpus_read(const char *root, struct ys_cpus *cpus)
{
    *cpus = (struct ys_cpus){0};
    int *numbers = ys_alloc(MOST_CPUS, sizeof *numbers);
    if (!numbers)
        return ys_out_of_memory();
    int count = allowed_list(root, numbers);
    if (count <= 0) {
        ys_free(numbers);
        return ys_fail(YS_ENOTFOUND, "%s/proc/self/status does not say which CPUs may be used", root);
    }
    cpus->items = ys_alloc((size_t)count, sizeof *cpus->items);
    if (!cpus->items) {
        ys_free(numbers);
        return ys_out_of_memory();
    }
    cpus->count = (size_t)count;
    for (size_t i = 0; i < cpus->count; i++)
        cpus->items[i] = (struct ys_cpu){
            .number = numbers[i], .package = package_of(root, numbers[i]), .core = core_of(root, numbers[i])};
    ys_free(numbers);
    count_cores(cpus);
    sort_into_kinds(cpus, root);
    char line[4096];
    int online =
        ys_procfs_line(root, "/sys/devices/system/cpu/online", line, sizeof line) ? ys_procfs_list(line, NULL, 0) : 0;
    cpus->online = online > 0 ? online : 0;
    return YS_OK;
}

void ys_cpus_fini(struct ys_cpus *cpus)
{
    ys_free(cpus->items);
    *cpus = (struct ys_cpus){0};
}

static int by_preference(const void *a, const void *b)
{
    const struct ys_cpu *x = a, *y = b;
    if (x->sibling != y->sibling)
        return x->sibling < y->sibling ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->package != y->package)
        return x->package < y->package ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

size_t ys_cpus_pick(const struct ys_cpus *cpus, size_t threads, int *picked)
{
    size_t count = threads < cpus->count ? threads : cpus->count;
    struct ys_cpu *order = ys_alloc(cpus->count, sizeof *order);
    if (!order)
        return 0;
    memcpy(order, cpus->items, cpus->count * sizeof *order);
    qsort(order, cpus->count, sizeof *order, by_preference);
    for (size_t i = 0; i < count; i++)
        picked[i] = order[i].number;
    ys_free(order);
    return count;
}
