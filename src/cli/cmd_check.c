/* list frameworks --check. */
#include "base/buf.h"
#include "base/log.h"
#include "cli/command.h"
#include "framework/framework.h"
#include "report/label.h"
#include "report/text.h"
#include "study/conformance.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 120, NAME_WIDTH = 56 };

struct printer {
    struct ys_buf out;
    char part[24]; /* of the last line */
    bool broken;   /* standard output takes no more */
};

static void put_note(struct ys_buf *out, const char *label, const char *text)
{
    if (!text || !text[0])
        return;
    ys_buf_printf(out, "      %s", label);
    ys_text_wrap(out, text, 6 + ys_text_width(label), 8, WIDTH);
}

/* "Conv, 20 cases together                 pass         3.1e-15   1.0e-09  logits: conv_1x1_3.weight" */
static void put_case(struct ys_buf *out, const ys_json *line)
{
    const char *verdict = ys_json_get_text(line, "verdict", ""), *check = ys_json_get_text(line, "check", NULL);
    const char *worst = ys_json_get_text(line, "worst", NULL), *message = ys_json_get_text(line, "message", NULL);
    bool failed = strcmp(verdict, "fail") == 0;
    double bound = ys_json_get_number(line, "bound", NAN), error = ys_json_get_number(line, "error", INFINITY);
    struct ys_buf name = {0};
    ys_text_clean(&name, ys_json_get_text(line, "name", ""), false);
    ys_buf_printf(out, "  %-*s %-11s ", NAME_WIDTH, ys_buf_text(&name), failed ? "FAIL" : verdict);
    ys_buf_free(&name);
    if (!isnan(bound)) {
        ys_buf_printf(out, "%8s", isinf(error) ? "infinite" : ys_label_error(error).text);
        ys_buf_printf(out, " %8s", bound == 0 ? "equal" : ys_label_error(bound).text);
    }
    if (check || worst)
        ys_buf_printf(out, "  %s%s", check ? check : "", check && worst ? ": " : "");
    if (worst)
        ys_text_clean(out, worst, false);
    if (strcmp(verdict, "unsupported") == 0 && message)
        ys_text_wrap(out, message, NAME_WIDTH + 15, 8, WIDTH);
    else
        ys_buf_puts(out, "\n");
    if (failed)
        put_note(out, "", message);
    put_note(out, "run: ", ys_json_get_text(line, "run", NULL));
}

static void put_list(struct ys_buf *out, const ys_json *hello, const char *key)
{
    const ys_json *list = ys_json_get(hello, key);
    struct ys_buf words = {0};
    for (size_t i = 0; i < ys_json_size(list); i++)
        ys_buf_printf(&words, "%s%s", i ? ", " : "", ys_json_text(ys_json_at(list, i), ""));
    ys_buf_printf(out, "  %-11s ", key);
    ys_text_wrap(out, words.size ? ys_buf_text(&words) : "none", 14, 14, WIDTH);
    ys_buf_free(&words);
}

/* What the adapter says of itself. */
static void put_hello(struct ys_buf *out, const ys_json *hello)
{
    static const char *const lists[] = {"features", "precisions", "optimizers", "devices", "ops"};
    ys_buf_puts(out, "declares\n  framework   ");
    ys_text_clean(out, ys_json_get_text(hello, "framework", "?"), false);
    ys_buf_puts(out, " ");
    ys_text_clean(out, ys_json_get_text(hello, "version", "?"), false);
    ys_buf_puts(out, ", ");
    ys_text_clean(out, ys_json_get_text(hello, "runtime", "?"), false);
    ys_buf_puts(out, ys_json_get_bool(hello, "no_work", false) ? "; does no work\n" : "\n");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        put_list(out, hello, lists[i]);
}

/* What the first line says before the adapter does. */
static void put_mode(struct ys_buf *out, const struct ys_args *args)
{
    for (size_t i = 0; i < args->flags.count; i++)
        ys_buf_printf(out, "%s--%s=%s%s", i ? " " : "checked with ", args->flags.items[i].key,
                      args->flags.items[i].value, i + 1 < args->flags.count ? "" : "\n");
}

/* Lines come as they are known: a check takes minutes. */
static void flush(struct printer *printer)
{
    ys_progress_clear();
    if (printer->broken) /* which was said */
        ys_buf_free(&printer->out);
    else
        printer->broken = ys_command_print(&printer->out) != 0;
}

static void on_case(void *context, const ys_json *line)
{
    struct printer *printer = context;
    const char *part = ys_json_get_text(line, "part", "");
    const ys_json *hello = ys_json_get(line, "hello");
    if (ys_json_type_of(hello) == YS_JSON_OBJECT)
        put_hello(&printer->out, hello);
    if (strcmp(part, printer->part) != 0) {
        snprintf(printer->part, sizeof printer->part, "%s", part);
        ys_buf_printf(&printer->out, "%s\n", part);
    }
    put_case(&printer->out, line);
    flush(printer);
}

/* The last line, as the tests of this house end. */
static void put_counts(struct ys_buf *out, const ys_json *report)
{
    ys_buf_printf(out, "%lld passed, %lld failed, %lld unsupported\n", (long long)ys_json_get_int(report, "passed", 0),
                  (long long)ys_json_get_int(report, "failed", 0),
                  (long long)ys_json_get_int(report, "unsupported", 0));
}

static int say_missing(const ys_json *report)
{
    const char *command = ys_json_get_text(report, "command", NULL);
    ys_log_error("%s cannot be checked: %s%s%s", ys_json_get_text(report, "framework", ""),
                 ys_json_get_text(report, "reason", "it is not ready"), command ? "; run: " : "",
                 command ? command : "");
    return YS_EXIT_NOTHING_RAN;
}

static int print_end(struct printer *printer, const ys_json *report, int exit_code)
{
    put_counts(&printer->out, report);
    flush(printer);
    return printer->broken ? YS_EXIT_INTERNAL : exit_code;
}

int ys_command_check_framework(const struct ys_args *args)
{
    bool as_json = args->format == YS_FORMAT_JSON;
    struct printer printer = {0};
    if (!as_json)
        put_mode(&printer.out, args);
    const struct ys_conformance_options options = {.recipe_dirs = args->recipe_dirs,
                                                   .fresh = args->fresh,
                                                   .keys = args->flags.items,
                                                   .key_count = args->flags.count,
                                                   .on_case = as_json ? NULL : on_case,
                                                   .context = &printer};
    ys_json *report = NULL;
    int exit_code = 0;
    ys_status status = ys_conformance_check(args->check, &options, &report, &exit_code);
    if (status != YS_OK)
        return ys_command_fail(status);
    if (as_json) {
        int printed = ys_command_print_json(report);
        return printed ? printed : exit_code;
    }
    int code = exit_code == YS_EXIT_NOTHING_RAN ? say_missing(report) : print_end(&printer, report, exit_code);
    ys_json_free(report);
    return code;
}
