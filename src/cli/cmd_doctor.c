/* doctor: is this machine fit to measure, and is what is observed on it true. */
#include "base/log.h"
#include "cli/command.h"
#include "job/value.h"
#include "study/doctor.h"
#include "study/found.h"
#include "study/noise.h"
#include "study/peak.h"
#include "study/perturbation.h"
#include "study/self_test.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 20 };

/* `before`: the one above; its remedy is not said twice. */
static void put_line(struct ys_buf *out, const struct ys_doctor_line *line, const struct ys_doctor_line *before)
{
    const bool same = before && before->remedy && line->remedy && strcmp(line->remedy, before->remedy) == 0;
    ys_buf_printf(out, "%-8s %-18s %s\n", ys_name_of(&ys_doctor_states, line->state), line->name,
                  line->found ? line->found : "");
    if (line->consequence && line->remedy) /* on one line: the worst machine fits a screen too */
        ys_buf_printf(out, "         so %s; remedy%s%s\n", line->consequence, same ? " as above" : ": ",
                      same ? "" : line->remedy);
}

static int look(const struct ys_args *args)
{
    struct ys_list lines;
    struct ys_buf out = {0};
    int code;
    ys_status status = ys_doctor_look(&lines);
    if (status != YS_OK)
        return ys_command_fail(status);
    if (args->format == YS_FORMAT_JSON) {
        code = ys_command_print_json(ys_list_json(&ys_doctor_line_record, &lines));
    } else {
        const struct ys_doctor_line *all = lines.items;
        for (size_t i = 0; i < lines.count; i++)
            put_line(&out, &all[i], i ? &all[i - 1] : NULL);
        code = ys_command_print(&out);
    }
    ys_list_fini(&ys_doctor_line_record, &lines);
    return code;
}

/* "0.1 s", "134217728 B": as long as it is exact enough to be compared. */
static void put_value(char text[32], double value, const char *unit)
{
    if (isnan(value))
        snprintf(text, 32, "-");
    else if (strcmp(unit, "s") == 0)
        snprintf(text, 32, "%.4f s", value);
    else
        snprintf(text, 32, "%.0f%s", value, strcmp(unit, "B") == 0 ? " B" : "");
}

static void put_row(struct ys_buf *out, const struct ys_self_test_row *row)
{
    const double numbers[] = {row->truth, row->observed, row->error, row->bound};
    char values[4][32];
    for (size_t i = 0; i < 4; i++)
        put_value(values[i], numbers[i], row->unit);
    ys_buf_printf(out, "%-43s %13s %13s %12s %12s  %s\n", row->what, values[0], values[1], values[2], values[3],
                  ys_name_of(&ys_self_test_verdicts, row->verdict));
    if (row->reason)
        ys_buf_printf(out, "    %s\n", row->reason);
}

static ys_status read_times(const struct ys_args *args, int otherwise, int *times)
{
    char *end = NULL;
    long value = args->times ? strtol(args->times, &end, 10) : otherwise;
    if (args->times && (end == args->times || *end || value < 1 || value > 1000))
        return ys_fail(YS_EINVAL, "--times=%s: a whole number from 1 to 1000", args->times);
    *times = (int)value;
    return YS_OK;
}

static void put_table(struct ys_buf *out, const struct ys_self_test *table, bool has_wrong)
{
    const struct ys_self_test_row *rows = table->rows.items;
    ys_buf_printf(out, "%-43s %13s %13s %12s %12s\n", "medians", "truth", "observed", "error", "bound");
    for (size_t i = 0; i < table->rows.count; i++)
        put_row(out, &rows[i]);
    ys_buf_printf(out, "%s on %s, %lld times each: %s\n", table->date, table->host, (long long)table->times,
                  has_wrong ? "what is wrong is not to be believed here" : "nothing wrong");
}

static int self_test(const struct ys_args *args)
{
    int times = TIMES;
    struct ys_self_test table;
    struct ys_buf out = {0};
    ys_status status = read_times(args, TIMES, &times);
    if (status != YS_OK)
        return ys_command_fail(status);
    status = ys_self_test(times, &table);
    if (status == YS_OK)
        status = ys_found_keep("self-test", &ys_self_test_record, &table);
    bool has_wrong = false;
    for (size_t i = 0; i < table.rows.count; i++)
        has_wrong |= ((const struct ys_self_test_row *)table.rows.items)[i].verdict == YS_SELF_TEST_WRONG;
    int printed;
    if (status != YS_OK) {
        printed = ys_command_fail(status);
    } else if (args->format == YS_FORMAT_JSON) {
        printed = ys_command_print_json(ys_record_json(&ys_self_test_record, &table));
    } else {
        put_table(&out, &table, has_wrong);
        printed = ys_command_print(&out);
    }
    ys_record_fini(&ys_self_test_record, &table);
    return printed ? printed : has_wrong ? YS_EXIT_RUN_FAILED : 0;
}

static void put_noise(struct ys_buf *out, const struct ys_noise *noise)
{
    const double *ends = noise->ci.items;
    const struct ys_noise_step *apart = noise->tells_apart.items, *needed = noise->needed.items;
    ys_buf_printf(out, "%s, against itself: %lld pairs of runs, %lld runs disturbed\n", noise->trial,
                  (long long)noise->pairs, (long long)noise->disturbed);
    if (noise->reason) {
        ys_buf_printf(out, "nothing can be told: %s\n", noise->reason);
        return;
    }
    ys_buf_printf(out, "ratio of its speeds %.4f (%.4f to %.4f)\n\n", noise->ratio, ends[0], ends[1]);
    ys_buf_puts(out, "beside the margin, found nine times of ten\n");
    for (size_t i = 0; i < noise->tells_apart.count; i++)
        ys_buf_printf(out, "  with %3lld runs a difference of %.2g %%\n", (long long)apart[i].runs,
                      100 * apart[i].difference);
    for (size_t i = 0; i < noise->needed.count; i++) {
        ys_buf_printf(out, "  a difference of %2.0f %% needs ", 100 * needed[i].difference);
        if (needed[i].runs == YS_FIELD_NONE)
            ys_buf_puts(out, "more runs than are worth while: quiet the machine, or take longer runs\n");
        else
            ys_buf_printf(out, "%lld runs\n", (long long)needed[i].runs);
    }
    if (noise->biases.count == 0)
        ys_buf_puts(out, "  but its runs have fewer than 30 blocks: studies of such runs have no verdict on speed\n");
    ys_buf_printf(out, "%s on %s, %.0f s\n", noise->date, noise->host, noise->seconds);
}

static int measure_noise(const struct ys_args *args)
{
    struct ys_noise noise;
    struct ys_buf out = {0};
    double seconds;
    if (!ys_value_duration(args->noise, &seconds) || !(seconds >= 1) || seconds > 24 * 3600)
        return ys_command_fail(ys_fail(YS_EINVAL, "--noise=%s: a time with a unit as 60s, 1s to 24h", args->noise));
    ys_status status = ys_noise_measure(args->flags.items, args->flags.count, args->recipe_dirs, seconds, &noise);
    if (status != YS_OK)
        return ys_command_fail(status);
    int code = noise.reason ? YS_EXIT_RUN_FAILED : 0, printed;
    put_noise(&out, &noise);
    if (args->format == YS_FORMAT_JSON) {
        ys_buf_free(&out);
        printed = ys_command_print_json(ys_noise_json(&noise));
    } else {
        printed = ys_command_print(&out);
    }
    ys_noise_fini(&noise);
    return printed ? printed : code;
}

static void put_perturbed(struct ys_buf *out, const struct ys_perturbed *one)
{
    const double *ends = one->ci.items;
    ys_buf_printf(out, "%s, %s: ", one->trial, one->what);
    if (one->ci.count) {
        ys_buf_printf(out,
                      "%.4f times as fast as without\n    (%.4f to %.4f at %.1f %%, %lld pairs, %lld runs disturbed",
                      one->ratio, ends[0], ends[1], 100 * one->level, (long long)one->pairs, (long long)one->disturbed);
        if (isfinite(one->resolution))
            ys_buf_printf(out, "; %.2g %% would be found nine times of ten", 100 * one->resolution);
        ys_buf_puts(out, ")\n");
    } else
        ys_buf_printf(out, "no interval: %s\n", one->reason ? one->reason : "");
}

static int measure_perturbation(const struct ys_args *args)
{
    struct ys_perturbation perturbation;
    struct ys_buf out = {0};
    int times = 0;
    ys_status status = read_times(args, YS_PERTURBATION_PAIRS, &times);
    if (status == YS_OK)
        status = ys_perturbation_measure(args->flags.items, args->flags.count, args->recipe_dirs, times, &perturbation);
    if (status != YS_OK)
        return ys_command_fail(status);
    int printed;
    if (args->format == YS_FORMAT_JSON) {
        printed = ys_command_print_json(ys_perturbation_json(&perturbation));
    } else {
        const struct ys_perturbed *found = perturbation.found.items;
        for (size_t i = 0; i < perturbation.found.count; i++)
            put_perturbed(&out, &found[i]);
        ys_buf_printf(&out, "%s on %s, %.0f s\n", perturbation.date, perturbation.host, perturbation.seconds);
        printed = ys_command_print(&out);
    }
    ys_perturbation_fini(&perturbation);
    return printed;
}

static int measure_peak(const struct ys_args *args)
{
    struct ys_buf out = {0};
    struct ys_peak_measured measured;
    ys_json *peak = NULL;
    int times = TIMES;
    ys_status status = read_times(args, TIMES, &times);
    if (status == YS_OK)
        status = ys_peak_measure(times, &peak);
    if (status == YS_OK && args->format == YS_FORMAT_JSON)
        return ys_command_print_json(peak);
    ys_json_free(peak);
    if (status == YS_OK)
        status = ys_peak_read(&measured);
    if (status != YS_OK)
        return ys_command_fail(status);
    ys_buf_printf(&out, "a thread does %.3g operations a second in f32", measured.f32_per_s);
    if (measured.bf16_per_s > 0)
        ys_buf_printf(&out, ", %.3g in bf16", measured.bf16_per_s);
    ys_buf_puts(&out, "; `yardstick-builtin --peak` has the table\n");
    return ys_command_print(&out);
}

int ys_command_doctor(const struct ys_args *args)
{
    bool measures = args->noise || args->perturbation;
    if ((args->noise != NULL) + args->perturbation + args->peak + args->self_test > 1)
        return ys_command_fail(ys_fail(YS_EINVAL, "write one of --self-test, --noise, --perturbation and --peak"));
    if (args->times && !args->self_test && !args->perturbation && !args->peak)
        return ys_command_fail(ys_fail(YS_EINVAL, "--times belongs to --self-test, --perturbation and --peak"));
    if (args->flags.count && !measures)
        return ys_command_fail(
            ys_fail(YS_EINVAL, "--%s belongs to --noise and --perturbation", args->flags.items[0].key));
    if (args->noise)
        return measure_noise(args);
    if (args->perturbation)
        return measure_perturbation(args);
    if (args->peak)
        return measure_peak(args);
    return args->self_test ? self_test(args) : look(args);
}
