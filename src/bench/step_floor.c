#include "bench/step_floor.h"

#include "base/mem.h"
#include "bench/bench.h"
#include "builtin/engine_commands.h"
#include "builtin/plan_engine.h"
#include "probe/host.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct floor_request {
    const char *model, *precision, *backend, *format;
    int64_t batch, threads, repeat;
};

/* A step in parts that add up to it: the products alone, what they take more in a step, every other kind of call, and
 * what lies between the calls. */
struct step_parts {
    double alone_s, in_step_s, flops; /* of all products */
    double kind_s[YS_CALL_KIND_COUNT];
    double between_s;
};

static const struct {
    const char *key, *title;
} kinds[YS_CALL_KIND_COUNT] = {
    [YS_CALL_PRODUCT] = {"product", "product"},
    [YS_CALL_WEIGHTS] = {"weights", "product by the weights"},
    [YS_CALL_LAYOUT] = {"layout", "changes of layout"},
    [YS_CALL_POINTWISE] = {"pointwise", "batch norm, pointwise"},
    [YS_CALL_POOL] = {"pool", "pools"},
    [YS_CALL_LOSS] = {"loss", "loss"},
    [YS_CALL_UPDATE] = {"update", "update"},
};

/* The passes of a convolution or product. */
enum product_pass { PASS_FORWARD, PASS_DATA, PASS_WEIGHTS, PASS_COUNT };
static const char *const passes[PASS_COUNT] = {"forward", "data", "weights"};
static const char *const segments[YS_SEGMENT_COUNT] = {"forward", "backward", "update"};

struct product_row {
    const struct ys_node *node;
    enum product_pass pass;
    double flops, alone_s, in_step_s;
};

static enum product_pass pass_of(const struct ys_call *call)
{
    if (call->segment == YS_SEGMENT_FORWARD)
        return PASS_FORWARD;
    return call->kind == YS_CALL_WEIGHTS ? PASS_WEIGHTS : PASS_DATA;
}

/** What the calls of one node do in one pass; false without any. */
static bool find_row(const struct ys_floor *f, const struct ys_node *node, enum product_pass pass, int64_t batch,
                     struct product_row *row)
{
    bool found = false;
    *row = (struct product_row){
        .node = node, .pass = pass, .flops = 2.0 * (double)ys_node_multiply_adds(f->graph, node) * (double)batch};
    for (size_t i = 0; i < f->program->call_count; i++) {
        const struct ys_call *call = &f->program->calls[i];
        if (!ys_floor_is_product(call) || pass_of(call) != pass || strcmp(call->name, node->name) != 0)
            continue;
        row->alone_s += f->alone_s[i];
        row->in_step_s += f->in_step_s[i];
        found = true;
    }
    return found;
}

/** Node by node in the order of the graph, each with its passes; new (ys_free). */
static struct product_row *find_rows(const struct ys_floor *f, int64_t batch, size_t *count)
{
    struct product_row *rows = ys_alloc(f->graph->node_count * PASS_COUNT, sizeof *rows);
    *count = 0;
    for (size_t i = 0; i < f->graph->node_count; i++)
        for (int pass = 0; pass < PASS_COUNT; pass++)
            *count += find_row(f, &f->graph->nodes[i], (enum product_pass)pass, batch, rows + *count);
    return rows;
}

static struct step_parts find_parts(const struct ys_floor *f, const struct product_row *rows, size_t count)
{
    struct step_parts p = {0};
    for (size_t i = 0; i < count; i++) {
        p.alone_s += rows[i].alone_s;
        p.in_step_s += rows[i].in_step_s;
        p.flops += rows[i].flops;
    }
    p.between_s = f->step_s - p.in_step_s;
    for (size_t i = 0; i < f->program->call_count; i++) {
        if (ys_floor_is_product(&f->program->calls[i]))
            continue;
        p.kind_s[f->program->calls[i].kind] += f->in_step_s[i];
        p.between_s -= f->in_step_s[i];
    }
    return p;
}

/* ---- for people */

static void write_head(const struct ys_floor *f, const struct floor_request *r, const struct ys_builtin_cpu *cpu,
                       struct ys_buf *out)
{
    const char *library = ys_engine_library(f->engine);
    ys_buf_printf(out, "%s, batch %lld, %s, %d thread%s\n", r->model, (long long)r->batch, r->precision,
                  ys_engine_threads(f->engine), ys_engine_threads(f->engine) == 1 ? "" : "s");
    ys_buf_printf(out, "%s%s%s on %s with %s", ys_engine_backend(f->engine), *library ? ", " : "", library,
                  cpu->model ? cpu->model : "a CPU without a name", cpu->instructions);
    ys_buf_printf(out, "\nmilliseconds, medians of %zu round%s; alone: again and again at its turn\n\n", f->rounds,
                  f->rounds == 1 ? "" : "s");
}

static void write_times(struct ys_buf *out, double flops, double alone_s, double in_step_s)
{
    ys_buf_printf(out, " %9.3f %10.4f %10.4f %9.1f\n", flops * 1e-9, alone_s * 1e3, in_step_s * 1e3,
                  flops / alone_s * 1e-9);
}

static void write_rows(const struct product_row *rows, size_t count, const struct step_parts *p, struct ys_buf *out)
{
    ys_buf_printf(out, "%-30s %-8s %9s %10s %10s %9s\n", "convolution or product", "pass", "GFLOP", "alone", "in step",
                  "GFLOP/s");
    for (size_t i = 0; i < count; i++) {
        bool is_first = !i || rows[i].node != rows[i - 1].node;
        ys_buf_printf(out, "%-30s %-8s", is_first ? rows[i].node->name : "", passes[rows[i].pass]);
        write_times(out, rows[i].flops, rows[i].alone_s, rows[i].in_step_s);
    }
    ys_buf_printf(out, "%-39s", "sum");
    write_times(out, p->flops, p->alone_s, p->in_step_s);
}

static void write_part(struct ys_buf *out, const char *title, double seconds, double step_s)
{
    ys_buf_printf(out, "%-30s %10.4f %6.1f %%\n", title, seconds * 1e3, 100 * seconds / step_s);
}

static void write_parts(const struct ys_floor *f, const struct step_parts *p, struct ys_buf *out)
{
    ys_buf_puts(out, "\nwhere a step goes\n");
    write_part(out, "products alone", p->alone_s, f->step_s);
    write_part(out, "more in a step than alone", p->in_step_s - p->alone_s, f->step_s);
    for (int kind = 0; kind < YS_CALL_KIND_COUNT; kind++)
        if (p->kind_s[kind] > 0)
            write_part(out, kinds[kind].title, p->kind_s[kind], f->step_s);
    write_part(out, "between the calls", p->between_s, f->step_s);
    write_part(out, "the whole step", f->step_s, f->step_s);
}

struct cost {
    size_t call;
    double seconds;
};

static int compare_costs(const void *a, const void *b)
{
    const struct cost *left = a, *right = b;
    return (left->seconds < right->seconds) - (left->seconds > right->seconds);
}

static void write_longest(const struct ys_floor *f, struct ys_buf *out)
{
    enum { SHOWN = 10 };
    size_t count = 0;
    struct cost *costs = ys_alloc(f->program->call_count, sizeof *costs);
    for (size_t i = 0; i < f->program->call_count; i++)
        if (!ys_floor_is_product(&f->program->calls[i]))
            costs[count++] = (struct cost){i, f->in_step_s[i]};
    qsort(costs, count, sizeof *costs, compare_costs);
    ys_buf_puts(out, "\nthe longest calls beside the products\n");
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        const struct ys_call *call = &f->program->calls[costs[i].call];
        ys_buf_printf(out, "%-30s %10.4f  %-8s  %s\n", call->name, costs[i].seconds * 1e3, segments[call->segment],
                      kinds[call->kind].title);
    }
    ys_free(costs);
}

static ys_status print_table(const struct ys_floor *f, const struct floor_request *r, const struct ys_builtin_cpu *cpu,
                             const struct product_row *rows, size_t count)
{
    struct ys_buf out = {0};
    struct step_parts p = find_parts(f, rows, count);
    write_head(f, r, cpu, &out);
    write_rows(rows, count, &p, &out);
    write_parts(f, &p, &out);
    write_longest(f, &out);
    ys_buf_printf(&out, "\nstep / sum = %.3f", f->step_s / p.alone_s);
    if (f->ratio.known)
        ys_buf_printf(&out, ", round by round %.3f to %.3f (%.1f %%)", f->ratio.lo, f->ratio.hi, 100 * f->ratio.level);
    ys_buf_puts(&out, "\n");
    return ys_builtin_print(&out);
}

/* ---- for programs */

static ys_json *rows_json(const struct product_row *rows, size_t count)
{
    ys_json *array = ys_json_array();
    for (size_t i = 0; i < count; i++) {
        ys_json *row = ys_json_object();
        ys_json_set_string(row, "node", rows[i].node->name);
        ys_json_set_string(row, "op", ys_op_name(rows[i].node->op));
        ys_json_set_string(row, "pass", passes[rows[i].pass]);
        ys_json_set_real(row, "flops", rows[i].flops);
        ys_json_set_real(row, "alone_s", rows[i].alone_s);
        ys_json_set_real(row, "in_step_s", rows[i].in_step_s);
        ys_json_set_real(row, "flops_per_s", rows[i].flops / rows[i].alone_s);
        ys_json_append(array, row);
    }
    return array;
}

static ys_json *rest_json(const struct step_parts *p)
{
    ys_json *rest = ys_json_object();
    ys_json_set_real(rest, "product", p->in_step_s - p->alone_s);
    for (int kind = YS_CALL_WEIGHTS + 1; kind < YS_CALL_KIND_COUNT; kind++)
        ys_json_set_real(rest, kinds[kind].key, p->kind_s[kind]);
    ys_json_set_real(rest, "between", p->between_s);
    return rest;
}

static ys_json *calls_json(const struct ys_floor *f)
{
    ys_json *array = ys_json_array();
    for (size_t i = 0; i < f->program->call_count; i++) {
        const struct ys_call *call = &f->program->calls[i];
        ys_json *object = ys_json_object();
        ys_json_set_string(object, "name", call->name);
        ys_json_set_string(object, "kind", kinds[call->kind].key);
        ys_json_set_string(object, "segment", segments[call->segment]);
        ys_json_set_real(object, "in_step_s", f->in_step_s[i]);
        ys_json_append(array, object);
    }
    return array;
}

static ys_status print_json(const struct ys_floor *f, const struct floor_request *r, const struct ys_builtin_cpu *cpu,
                            const struct product_row *rows, size_t count)
{
    struct step_parts p = find_parts(f, rows, count);
    ys_json *all = ys_json_object(), *interval = f->ratio.known ? ys_json_array() : ys_json_null();
    if (f->ratio.known) {
        ys_json_append(interval, ys_json_real(f->ratio.lo));
        ys_json_append(interval, ys_json_real(f->ratio.hi));
    }
    ys_json_set_string(all, "model", r->model);
    ys_json_set_int(all, "batch", r->batch);
    ys_json_set_string(all, "precision", r->precision);
    ys_json_set_int(all, "threads", ys_engine_threads(f->engine));
    ys_json_set_string(all, "backend", ys_engine_backend(f->engine));
    ys_json_set_string(all, "library", ys_engine_library(f->engine));
    ys_json_set(all, "cpu", ys_record_json(&ys_builtin_cpu_record, cpu));
    ys_json_set_int(all, "rounds", (int64_t)f->rounds);
    ys_json_set(all, "products", rows_json(rows, count));
    ys_json_set_real(all, "sum_s", p.alone_s);
    ys_json_set_real(all, "step_s", f->step_s);
    ys_json_set_real(all, "ratio", f->step_s / p.alone_s);
    ys_json_set(all, "ratio_interval", interval);
    ys_json_set(all, "rest_s", rest_json(&p));
    ys_json_set(all, "calls", calls_json(f));
    return ys_builtin_print_json(all);
}

/* ---- the command */

static ys_status parse(int argc, char **argv, struct floor_request *r)
{
    const struct ys_builtin_flag flags[] = {{"batch", .number = &r->batch},   {"threads", .number = &r->threads},
                                            {"repeat", .number = &r->repeat}, {"precision", .text = &r->precision},
                                            {"backend", .text = &r->backend}, {"format", .text = &r->format}};
    if (argc < 1 || argv[0][0] == '-')
        return ys_fail(YS_EINVAL,
                       "--floor needs the name of a model, or a graph's FILE.json: `yardstick list models` shows them");
    r->model = argv[0];
    return ys_builtin_flags(argc - 1, argv + 1, "--floor", flags, sizeof flags / sizeof flags[0]);
}

/** As the studies take them: 64 rows, 16 where an image is large. */
static int64_t usual_batch(const struct ys_model_choice *model)
{
    return model->usual.shape[1] * model->usual.shape[2] > 64 * 64 ? 16 : 64;
}

static ys_status print(const struct ys_floor *f, const struct floor_request *r, bool is_json)
{
    struct ys_builtin_cpu cpu;
    size_t count;
    YS_TRY(ys_builtin_cpu(&cpu));
    struct product_row *rows = find_rows(f, r->batch, &count);
    ys_status status = is_json ? print_json(f, r, &cpu, rows, count) : print_table(f, r, &cpu, rows, count);
    ys_free(rows);
    ys_record_fini(&ys_builtin_cpu_record, &cpu);
    return status;
}

static ys_status floor_of(struct floor_request *r, const struct ys_model_choice *model)
{
    struct ys_floor f;
    struct ys_engine_config config = {
        .backend = r->backend, .training = true, .optimizer = {.momentum = 0.9, .weight_decay = 5e-4}};
    bool is_json;
    YS_TRY(ys_builtin_format(r->format, &is_json));
    YS_TRY(ys_builtin_precision(r->precision, &config.precision));
    YS_TRY(ys_builtin_use_cpus(r->threads));
    r->batch = r->batch ? r->batch : usual_batch(model);
    config.batch = r->batch;
    config.threads = (int)r->threads;
    ys_status status = ys_floor_measure(model, &config, r->repeat, &f);
    if (status == YS_OK)
        status = print(&f, r, is_json);
    ys_floor_fini(&f);
    return status;
}

int ys_builtin_floor(int argc, char **argv)
{
    struct floor_request request = {.precision = "f32", .format = "table", .threads = ys_host_cpus_allowed()};
    struct ys_model_choice model = {0};
    ys_status status = parse(argc, argv, &request);
    if (status == YS_OK)
        status = ys_model_choose(request.model, &model);
    if (status == YS_OK)
        status = floor_of(&request, &model);
    ys_model_choice_fini(&model);
    return ys_builtin_end(status);
}
