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

/** A number that all CPUs of one core share and no other core has: that of the core's first CPU; -1 when unknown. */
static int core_of(const char *root, int cpu)
{
    char path[YS_PROCFS_PATH], line[256];
    int first = -1;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    if (!ys_procfs_line(root, path, line, sizeof line) || ys_procfs_list(line, &first, 1) < 1)
        return -1;
    return first;
}

/** The list after "Cpus_allowed_list:" of /proc/self/status: the affinity of this process, control groups applied. */
static int allowed_list(const char *root, int *numbers)
{
    char *text = ys_alloc(STATUS_BYTES, 1);
    int count = -1;
    if (text && ys_procfs_read(root, "/proc/self/status", text, STATUS_BYTES) > 0) {
        const char *field = strstr(text, "\nCpus_allowed_list:");
        char line[STATUS_BYTES / 8];
        if (field) {
            field += strlen("\nCpus_allowed_list:");
            snprintf(line, sizeof line, "%.*s", (int)strcspn(field, "\n"), field);
            count = ys_procfs_list(line, numbers, MOST_CPUS);
        }
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
