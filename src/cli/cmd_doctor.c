/* doctor: is this machine fit to measure, and is what is observed on it true. */
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/command.h"
#include "study/doctor.h"
#include "study/self_test.h"
#include "study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 20 };

static void put_line(struct ys_buf *out, const ys_json *line)
{
    const char *consequence = ys_json_get_text(line, "consequence", NULL),
               *remedy = ys_json_get_text(line, "remedy", NULL);
    ys_buf_printf(out, "%-8s %-18s %s\n", ys_json_get_text(line, "state", ""), ys_json_get_text(line, "name", ""),
                  ys_json_get_text(line, "found", ""));
    if (consequence)
        ys_buf_printf(out, "         %-18s so: %s\n", "", consequence);
    if (remedy)
        ys_buf_printf(out, "         %-18s remedy: %s\n", "", remedy);
}

static int look(const struct ys_args *args)
{
    ys_json *lines = NULL;
    struct ys_buf out = {0};
    ys_status status = ys_doctor_look(&lines);
    if (status != YS_OK)
        return ys_command_fail(status);
    if (args->format == YS_FORMAT_JSON)
        return ys_command_print_json(lines);
    for (size_t i = 0; i < ys_json_size(lines); i++)
        put_line(&out, ys_json_at(lines, i));
    ys_json_free(lines);
    return ys_command_print(&out);
}

/* "0.1", "134 MB": as long as it is exact enough to be compared. */
static void put_value(char text[32], const ys_json *row, const char *key)
{
    double value = ys_json_get_number(row, key, 0);
    if (ys_json_type_of(ys_json_get(row, key)) == YS_JSON_NULL)
        snprintf(text, 32, "-");
    else if (strcmp(ys_json_get_text(row, "unit", ""), "s") == 0)
        snprintf(text, 32, "%.4f s", value);
    else
        snprintf(text, 32, "%.0f%s", value, strcmp(ys_json_get_text(row, "unit", ""), "B") == 0 ? " B" : "");
}

static void put_row(struct ys_buf *out, const ys_json *row)
{
    static const char *const keys[] = {"truth", "observed", "error", "bound"};
    char values[4][32];
    for (size_t i = 0; i < 4; i++)
        put_value(values[i], row, keys[i]);
    ys_buf_printf(out, "%-43s %13s %13s %12s %12s  %s\n", ys_json_get_text(row, "what", ""), values[0], values[1],
                  values[2], values[3], ys_json_get_text(row, "verdict", ""));
    if (ys_json_get_text(row, "reason", NULL))
        ys_buf_printf(out, "    %s\n", ys_json_get_text(row, "reason", ""));
}

/* The table is kept, with its date and host. */
static ys_status keep(const ys_json *table)
{
    char *folder = NULL;
    YS_TRY(ys_cache_path("doctor", &folder));
    char *path = ys_path_join(folder, "self-test.json");
    ys_status status = path ? ys_json_write(path, table) : ys_out_of_memory();
    ys_free(path);
    ys_free(folder);
    return status;
}

static int self_test(const struct ys_args *args)
{
    char *end = NULL;
    long times = args->times ? strtol(args->times, &end, 10) : TIMES;
    ys_json *table = NULL;
    struct ys_buf out = {0};
    if (args->times && (*end || times < 1 || times > 1000))
        return ys_command_fail(ys_fail(YS_EINVAL, "--times=%s: a whole number from 1 to 1000", args->times));
    ys_status status = ys_self_test((int)times, &table);
    if (status == YS_OK)
        status = keep(table);
    if (status != YS_OK) {
        ys_json_free(table);
        return ys_command_fail(status);
    }
    const ys_json *rows = ys_json_get(table, "rows");
    size_t wrong = 0;
    for (size_t i = 0; i < ys_json_size(rows); i++)
        wrong += strcmp(ys_json_get_text(ys_json_at(rows, i), "verdict", ""), "wrong") == 0;
    int code = wrong ? YS_EXIT_RUN_FAILED : 0, printed;
    if (args->format == YS_FORMAT_JSON) {
        printed = ys_command_print_json(table);
        return printed ? printed : code;
    }
    ys_buf_printf(&out, "%-43s %13s %13s %12s %12s\n", "medians", "truth", "observed", "error", "bound");
    for (size_t i = 0; i < ys_json_size(rows); i++)
        put_row(&out, ys_json_at(rows, i));
    ys_buf_printf(&out, "%s on %s, %ld times each: %s\n", ys_json_get_text(table, "date", ""),
                  ys_json_get_text(table, "host", ""), times,
                  wrong ? "what is wrong is not to be believed here" : "nothing wrong");
    ys_json_free(table);
    printed = ys_command_print(&out);
    return printed ? printed : code;
}

int ys_command_doctor(const struct ys_args *args)
{
    if (args->times && !args->self_test)
        return ys_command_fail(ys_fail(YS_EINVAL, "--times belongs to --self-test"));
    return args->self_test ? self_test(args) : look(args);
}
