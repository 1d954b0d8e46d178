/* --anchor: the three kernels of the anchor on one CPU, for about a quarter of a second. */
#include "base/clock.h"
#include "base/mem.h"
#include "bench/anchor_kernels.h"
#include "bench/bench.h"
#include "builtin/engine_commands.h"
#include "probe/anchor.h"

#include <stdlib.h>
#include <string.h>

enum { SLICES_MOST = 4096, KERNELS = 3, LEAST_SLICES = 3 };
static const uint64_t KERNEL_NS = 80 * 1000 * 1000; /* of each kernel */

static volatile uint64_t sink;

struct anchor {
    uint64_t *words; /* YS_ANCHOR_BYTES of them */
    uint64_t *took;  /* of each slice */
};

static void slice(const struct anchor *anchor, int kernel, uint64_t number)
{
    if (kernel == 0)
        sink += (uint64_t)(ys_anchor_arithmetic() * 1e6);
    else if (kernel == 1)
        sink += ys_anchor_memory(anchor->words);
    else
        sink += ys_anchor_branches(number + 1);
}

static int by_size(const void *a, const void *b)
{
    const uint64_t *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

/* What a second holds of `amount` a slice, by the median slice; the first is warm-up. */
static double rate_of(const struct anchor *anchor, int kernel, double amount)
{
    const uint64_t begin_ns = ys_time_ns();
    size_t count = 0;
    slice(anchor, kernel, 0);
    while (count < SLICES_MOST && (count < LEAST_SLICES || ys_time_ns() - begin_ns < KERNEL_NS)) {
        const uint64_t from_ns = ys_time_ns();
        slice(anchor, kernel, count + 1);
        anchor->took[count++] = ys_time_ns() - from_ns;
    }
    qsort(anchor->took, count, sizeof *anchor->took, by_size);
    const uint64_t median_ns = anchor->took[count / 2];
    return amount / ((double)(median_ns ? median_ns : 1) * 1e-9);
}

static void measure(struct ys_anchor *found)
{
    struct anchor anchor = {ys_alloc(YS_ANCHOR_BYTES, 1), ys_alloc(SLICES_MOST, sizeof(uint64_t))};
    const uint64_t begin_ns = ys_time_ns();
    memset(anchor.words, 1, YS_ANCHOR_BYTES); /* pages that are there */
    found->arithmetic_per_s = rate_of(&anchor, 0, YS_ANCHOR_OPERATIONS);
    found->memory_bytes_per_s = rate_of(&anchor, 1, YS_ANCHOR_BYTES);
    found->branches_per_s = rate_of(&anchor, 2, YS_ANCHOR_BRANCHES);
    found->version = YS_ANCHOR_VERSION;
    found->compiler = ys_strdup(__VERSION__);
    found->started_s = ys_date_s();
    found->seconds = (double)(ys_time_ns() - begin_ns) * 1e-9;
    ys_free(anchor.words);
    ys_free(anchor.took);
}

static ys_status print_anchor(const struct ys_anchor *found, bool is_json)
{
    struct ys_buf out = {0};
    if (is_json)
        return ys_builtin_print_json(ys_record_json(&ys_anchor_record, found));
    ys_buf_printf(&out,
                  "anchor %lld, compiled by %s, on one CPU\narithmetic %8.3f G/s\nmemory     %8.3f GB/s\nbranches   "
                  "%8.3f G/s\n",
                  (long long)found->version, found->compiler, found->arithmetic_per_s * 1e-9,
                  found->memory_bytes_per_s * 1e-9, found->branches_per_s * 1e-9);
    return ys_builtin_print(&out);
}

static ys_status anchor_of(const char *format)
{
    struct ys_anchor found;
    bool is_json;
    YS_TRY(ys_builtin_format(format, &is_json));
    YS_TRY(ys_builtin_use_cpus(1));
    ys_record_init(&ys_anchor_record, &found);
    measure(&found);
    ys_status status = print_anchor(&found, is_json);
    ys_record_fini(&ys_anchor_record, &found);
    return status;
}

int ys_builtin_anchor(int argc, char **argv)
{
    const char *format = "table";
    const struct ys_builtin_flag flags[] = {{"format", .text = &format}};
    ys_status status = ys_builtin_flags(argc, argv, "--anchor", flags, 1);
    return ys_builtin_end(status == YS_OK ? anchor_of(format) : status);
}
