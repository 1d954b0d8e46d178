/* doctor: is this machine fit to measure, and is what is observed on it true. */
#include "base/log.h"
#include "base/number_text.h"
#include "campaign/measure_noise.h"
#include "campaign/perturbation.h"
#include "cli/command.h"
#include "doctor/examine.h"
#include "doctor/self_test.h"
#include "prepare/machine_notes.h"
#include "prepare/noted_peak.h"
#include "report/clean_text.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 20 };
enum { INDENT = 9, FOUND = 28 };  /* columns at which remedies, and what was found, begin */
enum { WHAT = 43, NUMBERS = 63 }; /* columns of a row of the self-test */

/* `before`: the one above; its remedy is not said twice. */
static void put_line(struct ys_buf *out, const struct ys_doctor_line *line, const struct ys_doctor_line *before)
{
    const bool same = before && before->remedy && line->remedy && strcmp(line->remedy, before->remedy) == 0;
    const bool narrow = ys_command_is_narrow();
    ys_buf_printf(out, "%-8s %-18s ", ys_name_of(&ys_doctor_states, line->state), line->name);
    ys_text_wrap(out, line->found ? line->found : "", FOUND, narrow ? INDENT : FOUND, ys_command_width());
    if (line->consequence && line->remedy)
        ys_command_wrap(out, INDENT, INDENT, "so %s; remedy%s%s", line->consequence, same ? " as above" : ": ",
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

/* Numbers beside what they are of where there is room, else below it. */
static void put_what(struct ys_buf *out, const char *what)
{
    if (ys_command_width() >= WHAT + NUMBERS)
        ys_buf_printf(out, "%-*s ", WHAT, what);
    else
        ys_buf_printf(out, "%s\n    ", what);
}

static void put_row(struct ys_buf *out, const struct ys_self_test_row *row)
{
    const double numbers[] = {row->truth, row->observed, row->error, row->bound};
    char values[4][32];
    for (size_t i = 0; i < 4; i++)
        put_value(values[i], numbers[i], row->unit);
    const char *verdict = ys_name_of(&ys_self_test_verdicts, row->verdict);
    if (ys_command_is_narrow()) {
        ys_command_wrap(out, 0, 4, "%s: truth %s, observed %s, error %s, bound %s: %s", row->what, values[0], values[1],
                        values[2], values[3], verdict);
    } else {
        put_what(out, row->what);
        ys_buf_printf(out, "%13s %13s %12s %12s  %s\n", values[0], values[1], values[2], values[3], verdict);
    }
    if (row->reason)
        ys_command_wrap(out, 4, 4, "%s", row->reason);
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
    if (ys_command_is_narrow()) {
        ys_buf_puts(out, "medians\n");
    } else {
        put_what(out, "medians");
        ys_buf_printf(out, "%13s %13s %12s %12s\n", "truth", "observed", "error", "bound");
    }
    for (size_t i = 0; i < table->rows.count; i++)
        put_row(out, &rows[i]);
    ys_command_wrap(out, 0, 4, "%s on %s, %lld times each: %s", table->date, table->host, (long long)table->times,
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
        status = ys_machine_note_keep("self-test", &ys_self_test_record, &table);
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
    ys_command_wrap(out, 0, 4, "%s, against itself, %s: %lld pairs of runs, %lld runs disturbed", noise->trial,
                    strcmp(noise->interleave, "blocks") == 0 ? "by turns" : "one run after the other",
                    (long long)noise->pairs, (long long)noise->disturbed);
    if (noise->reason) {
        ys_command_wrap(out, 0, 4, "nothing can be told: %s", noise->reason);
        return;
    }
    ys_command_line(out, 4, "ratio of its speeds %.4f (%.4f to %.4f)", noise->ratio, ends[0], ends[1]);
    ys_buf_puts(out, "\n");
    ys_command_line(out, 4, "beside the margin, found nine times of ten");
    for (size_t i = 0; i < noise->tells_apart.count; i++)
        ys_command_line(out, 4, "  with %3lld runs a difference of %.2g %%", (long long)apart[i].runs,
                        100 * apart[i].difference);
    for (size_t i = 0; i < noise->needed.count; i++) {
        if (needed[i].runs == YS_FIELD_NONE)
            ys_command_wrap(out, 2, 4,
                            "a difference of %2.0f %% needs more runs than are worth while: quiet the machine, or "
                            "take longer runs",
                            100 * needed[i].difference);
        else
            ys_command_line(out, 4, "  a difference of %2.0f %% needs %lld runs", 100 * needed[i].difference,
                            (long long)needed[i].runs);
    }
    if (noise->biases.count == 0)
        ys_command_wrap(out, 2, 4,
                        "but its runs have fewer than 30 blocks: studies of such runs have no verdict on speed");
    ys_command_wrap(out, 0, 4, "%s on %s, %.0f s", noise->date, noise->host, noise->seconds);
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
        printed = ys_command_print_json(ys_record_json(&ys_noise_record, &noise));
    } else {
        printed = ys_command_print(&out);
    }
    ys_record_fini(&ys_noise_record, &noise);
    return printed ? printed : code;
}

static void put_perturbed(struct ys_buf *out, const struct ys_perturbed *one)
{
    const double *ends = one->ci.items;
    char found[64] = "";
    if (!one->ci.count) {
        ys_command_wrap(out, 0, 4, "%s, %s: no interval: %s", one->trial, one->what, one->reason ? one->reason : "");
        return;
    }
    if (isfinite(one->resolution))
        snprintf(found, sizeof found, "; %.2g %% would be found nine times of ten", 100 * one->resolution);
    ys_command_wrap(out, 0, 4, "%s, %s: %.4f times as fast as without", one->trial, one->what, one->ratio);
    ys_command_wrap(out, 4, 5, "(%.4f to %.4f at %.1f %%, %lld pairs, %lld runs disturbed%s)", ends[0], ends[1],
                    100 * one->level, (long long)one->pairs, (long long)one->disturbed, found);
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
        printed = ys_command_print_json(ys_record_json(&ys_perturbation_record, &perturbation));
    } else {
        const struct ys_perturbed *found = perturbation.found.items;
        for (size_t i = 0; i < perturbation.found.count; i++)
            put_perturbed(&out, &found[i]);
        ys_command_wrap(&out, 0, 4, "%s on %s, %.0f s", perturbation.date, perturbation.host, perturbation.seconds);
        printed = ys_command_print(&out);
    }
    ys_record_fini(&ys_perturbation_record, &perturbation);
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
        ys_peak_read(&measured);
    if (status != YS_OK)
        return ys_command_fail(status);
    struct ys_buf others = {0};
    for (int p = YS_PRECISION_F32 + 1; p < YS_PRECISION_COUNT; p++)
        if (measured.per_s[p] > 0)
            ys_buf_printf(&others, ", %.3g in %s", measured.per_s[p], ys_name_of(&ys_precisions, p));
    ys_command_wrap(&out, 0, 4,
                    "a thread does %.3g operations a second in f32%s; `yardstick-builtin --peak` has the table",
                    measured.per_s[YS_PRECISION_F32], ys_buf_text(&others));
    ys_buf_free(&others);
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
