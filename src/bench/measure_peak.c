#include "backend/level.h"
#include "backend/product_peak.h"
#include "base/json/record.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "bench/machine_peaks.h"
#include "builtin/engine_commands.h"
#include "engine/backend.h"
#include "probe/host.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* Squares, and what convolutions become: many positions, few channels. */
static const struct ys_peak_product products[] = {
    {512, 512, 512},    {768, 768, 768}, {1024, 1024, 1024}, {1536, 1536, 1536}, {2048, 2048, 2048},
    {3072, 3072, 3072}, {50176, 64, 64}, {12544, 128, 1152}, {3136, 256, 2304},  {784, 512, 4608},
};
enum {
    PRODUCTS = sizeof products / sizeof products[0],
    FORMATS = 2,
    THREADS_MAX = 24, /* columns: powers of two, and all */
    MEMORY_REPEATS = 7,
    HANDOVER_SAMPLES = 40
};
static const enum ys_engine_precision formats[FORMATS] = {YS_ENGINE_F32, YS_ENGINE_BF16};

struct peak_measurement {
    int threads[THREADS_MAX];
    size_t threads_count, format_count;
    double flops_per_s[FORMATS][PRODUCTS][THREADS_MAX];
    size_t buffer_bytes;
    struct ys_peak_memory memory[THREADS_MAX];
    struct ys_peak_handover handover; /* without samples on one thread */
};

struct peak_request {
    const char *format;
    int64_t threads, repeat;
};

/** Why no product is measured: what back ends of our own make of it is no measure of the machine. NULL: they are. */
static const char *lacks_products(void)
{
    return ys_backend_left_out("onednn");
}

/** Powers of two up to `most`, and `most`. */
static void choose_threads(struct peak_measurement *p, int most)
{
    for (int threads = 1; threads < most; threads *= 2)
        p->threads[p->threads_count++] = threads;
    p->threads[p->threads_count++] = most;
}

/** Four times the largest cache, at least 256 MiB, and three of them in half of the free memory. */
static ys_status choose_buffer(size_t *buffer_bytes)
{
    ys_json *host;
    YS_TRY(ys_host_describe(&host));
    struct ys_host_known known;
    ys_host_read(host, &known);
    double bytes = fmax(256 << 20, 4 * known.largest_cache_bytes);
    double free_bytes = fmin(known.memory.available_bytes, known.memory.effective_bytes);
    ys_json_free(host);
    *buffer_bytes = (size_t)fmin(bytes, free_bytes / 6) / 4096 * 4096; /* what is unknown limits nothing */
    return *buffer_bytes ? YS_OK : ys_fail(YS_ENOMEM, "the machine has no free memory to measure with");
}

static void show_progress(const char *what, int threads)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%s, %d thread%s \033[K", what, threads, threads == 1 ? "" : "s");
}

static ys_status measure_products(struct peak_measurement *p, size_t column, int repeat)
{
    for (size_t f = 0; f < p->format_count; f++)
        for (size_t i = 0; i < PRODUCTS; i++) {
            const struct ys_peak_product *s = &products[i];
            double seconds;
            show_progress(ys_engine_precision_name(formats[f]), p->threads[column]);
            YS_TRY(ys_peak_product(s, formats[f], p->threads[column], repeat, &seconds));
            p->flops_per_s[f][i][column] = 2.0 * (double)s->rows * (double)s->columns * (double)s->depth / seconds;
        }
    return YS_OK;
}

static ys_status measure_handover(struct peak_measurement *p, int repeat)
{
    int cpus[2];
    if (p->threads_count == 1)
        return YS_OK;
    show_progress("a cache line's way", 2);
    YS_TRY(ys_host_cpu_pick(2, cpus));
    return ys_peak_handover(cpus, repeat ? repeat : HANDOVER_SAMPLES, &p->handover);
}

static ys_status measure(struct peak_measurement *p, int repeat)
{
    YS_TRY(choose_buffer(&p->buffer_bytes));
    YS_TRY(measure_handover(p, repeat));
    for (size_t column = p->threads_count; column-- > 0;) { /* CPUs once given up do not come back */
        YS_TRY(ys_builtin_use_cpus(p->threads[column]));
        YS_TRY(measure_products(p, column, repeat));
        show_progress("memory", p->threads[column]);
        YS_TRY(
            ys_peak_memory(p->buffer_bytes, p->threads[column], repeat ? repeat : MEMORY_REPEATS, &p->memory[column]));
    }
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    return YS_OK;
}

/** The product that is fastest in this format on that many threads. */
static size_t best_of(const struct peak_measurement *p, size_t format, size_t column)
{
    size_t best = 0;
    for (size_t i = 1; i < PRODUCTS; i++)
        if (p->flops_per_s[format][i][column] > p->flops_per_s[format][best][column])
            best = i;
    return best;
}

/* ---- for people */

static void write_products(const struct peak_measurement *p, size_t format, struct ys_buf *out)
{
    char shape[40];
    for (size_t i = 0; i < PRODUCTS; i++) {
        const struct ys_peak_product *s = &products[i];
        snprintf(shape, sizeof shape, "%s %lld x %lld x %lld", ys_engine_precision_name(formats[format]),
                 (long long)s->rows, (long long)s->columns, (long long)s->depth);
        ys_buf_printf(out, "%-26s", shape);
        for (size_t column = 0; column < p->threads_count; column++)
            ys_buf_printf(out, " %8.1f", p->flops_per_s[format][i][column] * 1e-9);
        ys_buf_puts(out, "\n");
    }
    snprintf(shape, sizeof shape, "%s peak", ys_engine_precision_name(formats[format]));
    ys_buf_printf(out, "%-26s", shape);
    for (size_t column = 0; column < p->threads_count; column++)
        ys_buf_printf(out, " %8.1f", p->flops_per_s[format][best_of(p, format, column)][column] * 1e-9);
    ys_buf_puts(out, "\n\n");
}

static void write_memory(const struct peak_measurement *p, struct ys_buf *out)
{
    static const char *const titles[] = {"read", "copy", "triad"};
    ys_buf_printf(out, "memory, GB/s, over buffers of %zu MiB\n", p->buffer_bytes >> 20);
    for (int row = 0; row < 3; row++) {
        ys_buf_printf(out, "%-26s", titles[row]);
        for (size_t column = 0; column < p->threads_count; column++) {
            const struct ys_peak_memory *m = &p->memory[column];
            ys_buf_printf(out, " %8.1f", (row == 0 ? m->read : row == 1 ? m->copy : m->triad) * 1e-9);
        }
        ys_buf_puts(out, "\n");
    }
}

static void write_handover(const struct ys_peak_handover *h, struct ys_buf *out)
{
    if (h->samples)
        ys_buf_printf(out, "\na cache line from one CPU to another and back, ns\n%-26s %8.0f %8.0f %8.0f\n",
                      "fastest, median, slowest", h->fastest_ns, h->median_ns, h->slowest_ns);
}

static ys_status print_table(const struct peak_measurement *p, const struct ys_builtin_cpu *cpu)
{
    const bool is_lacking = lacks_products() != NULL;
    struct ys_buf out = {0};
    ys_buf_printf(&out, "%s\n", cpu->model ? cpu->model : "a CPU without a name");
    for (size_t i = 0; i < ys_json_size(cpu->isa); i++)
        ys_buf_printf(&out, "%s%s", i % 10 ? " " : i ? "\n" : "", ys_json_text(ys_json_at(cpu->isa, i), ""));
    ys_buf_printf(&out, "\nthe engine computes with %s\n\n%-26s", cpu->instructions, "threads");
    for (size_t column = 0; column < p->threads_count; column++)
        ys_buf_printf(&out, " %8d", p->threads[column]);
    ys_buf_puts(&out, is_lacking
                          ? "\nno matrix products: those of oneDNN, which is not built in (--backends says more)\n\n"
                          : "\nmatrix products, GFLOP/s, rows x columns x depth\n");
    for (size_t f = 0; f < p->format_count; f++)
        write_products(p, f, &out);
    if (p->format_count < FORMATS && !is_lacking)
        ys_buf_printf(&out, "%s\n\n", ys_level_lacks(YS_ENGINE_BF16));
    write_memory(p, &out);
    write_handover(&p->handover, &out);
    return ys_builtin_print(&out);
}

/* ---- for programs */

static ys_json *product_json(const struct peak_measurement *p, size_t format, size_t i, size_t column)
{
    ys_json *object = ys_json_object();
    ys_json_set_string(object, "format", ys_engine_precision_name(formats[format]));
    ys_json_set_int(object, "threads", p->threads[column]);
    ys_json_set_int(object, "rows", products[i].rows);
    ys_json_set_int(object, "columns", products[i].columns);
    ys_json_set_int(object, "depth", products[i].depth);
    ys_json_set_real(object, "flops_per_s", p->flops_per_s[format][i][column]);
    return object;
}

static ys_json *memory_json(const struct peak_measurement *p, size_t column)
{
    ys_json *object = ys_json_object();
    ys_json_set_int(object, "threads", p->threads[column]);
    ys_json_set_int(object, "buffer_bytes", (int64_t)p->buffer_bytes);
    ys_json_set_real(object, "read_bytes_per_s", p->memory[column].read);
    ys_json_set_real(object, "copy_bytes_per_s", p->memory[column].copy);
    ys_json_set_real(object, "triad_bytes_per_s", p->memory[column].triad);
    return object;
}

static ys_json *handover_json(const struct ys_peak_handover *h)
{
    if (!h->samples)
        return ys_json_null();
    ys_json *object = ys_json_object();
    ys_json_set_int(object, "samples", h->samples);
    ys_json_set_real(object, "fastest_ns", h->fastest_ns);
    ys_json_set_real(object, "median_ns", h->median_ns);
    ys_json_set_real(object, "slowest_ns", h->slowest_ns);
    return object;
}

static ys_status print_json(const struct peak_measurement *p, const struct ys_builtin_cpu *cpu)
{
    const char *lacking = lacks_products();
    ys_json *all = ys_json_object(), *each = ys_json_array(), *best = ys_json_array(), *memory = ys_json_array();
    for (size_t column = 0; column < p->threads_count; column++) {
        for (size_t f = 0; f < p->format_count; f++) {
            for (size_t i = 0; i < PRODUCTS; i++)
                ys_json_append(each, product_json(p, f, i, column));
            ys_json_append(best, product_json(p, f, best_of(p, f, column), column));
        }
        ys_json_append(memory, memory_json(p, column));
    }
    ys_json_set(all, "cpu", ys_record_json(&ys_builtin_cpu_record, cpu));
    ys_json_set_bool(all, "has_bf16", p->format_count == FORMATS);
    ys_json_set(all, "products", each);
    ys_json_set(all, "products_reason", lacking ? ys_json_string(lacking) : ys_json_null());
    ys_json_set(all, "peaks", best);
    ys_json_set(all, "memory", memory);
    ys_json_set(all, "handover", handover_json(&p->handover));
    return ys_builtin_print_json(all);
}

/* ---- the command */

static ys_status peak_of(const struct peak_request *r)
{
    struct peak_measurement p = {.format_count = lacks_products() ? 0 : ys_level_lacks(YS_ENGINE_BF16) ? 1 : FORMATS};
    struct ys_builtin_cpu cpu;
    bool is_json;
    YS_TRY(ys_builtin_format(r->format, &is_json));
    YS_TRY(ys_builtin_use_cpus(r->threads));
    choose_threads(&p, (int)r->threads);
    YS_TRY(measure(&p, (int)r->repeat));
    YS_TRY(ys_builtin_cpu(&cpu));
    ys_status status = is_json ? print_json(&p, &cpu) : print_table(&p, &cpu);
    ys_record_fini(&ys_builtin_cpu_record, &cpu);
    return status;
}

/** What there is, and on a second line what is lacking, where something is. */
static int print_what_is_there(int argc, char **argv, const char *there, const char *lacking)
{
    struct ys_buf out = {0};
    ys_status status = ys_builtin_flags(argc, argv, argv[-1], NULL, 0);
    ys_buf_printf(&out, lacking ? "%s\n%s\n" : "%s\n", there, lacking);
    if (status == YS_OK)
        return ys_builtin_end(ys_builtin_print(&out));
    ys_buf_free(&out);
    return ys_builtin_end(status);
}

int ys_builtin_instructions(int argc, char **argv)
{
    return print_what_is_there(argc, argv, ys_level_name(), ys_level_lacks(YS_ENGINE_BF16));
}

int ys_builtin_backends(int argc, char **argv)
{
    struct ys_buf list = {0};
    for (const struct ys_backend *const *b = ys_backends(); *b; b++) {
        ys_buf_printf(&list, "%s%s", list.size ? ", " : "", (*b)->name);
        if ((*b)->library)
            ys_buf_printf(&list, " (%s)", (*b)->library());
    }
    int code = print_what_is_there(argc, argv, ys_buf_text(&list), ys_backend_left_out("onednn"));
    ys_buf_free(&list);
    return code;
}

int ys_builtin_peak(int argc, char **argv)
{
    struct peak_request r = {.format = "table", .threads = ys_host_cpus_allowed()};
    const struct ys_builtin_flag flags[] = {
        {"threads", .number = &r.threads}, {"repeat", .number = &r.repeat}, {"format", .text = &r.format}};
    ys_status status = ys_builtin_flags(argc, argv, "--peak", flags, sizeof flags / sizeof flags[0]);
    return ys_builtin_end(status == YS_OK ? peak_of(&r) : status);
}
