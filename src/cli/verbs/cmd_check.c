/* list frameworks --check. */
#include "base/buf.h"
#include "base/log.h"
#include "campaign/conformance.h"
#include "cli/command.h"
#include "framework/framework.h"
#include "report/clean_text.h"
#include "report/label.h"
#include "session/checked_message.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAME = 56, AFTER_NAME = 32 }; /* columns of a case's name, and of what stands around it */

struct printer {
    struct ys_buf out;
    char part[24]; /* of the last line */
    bool broken;   /* standard output takes no more */
};

static void put_note(struct ys_buf *out, const char *text)
{
    if (text && text[0])
        ys_command_wrap(out, 6, 8, "%s", text);
}

static int name_width(void)
{
    const int room = ys_command_width() - AFTER_NAME;
    return room < MOST_NAME ? room : MOST_NAME;
}

/* "  logits: conv_1x1_3.weight", below the line that is `taken` columns long where it does not fit on it. */
static void put_worst(struct ys_buf *out, const char *check, const char *worst, int taken)
{
    struct ys_buf text = {0};
    if (check)
        ys_buf_printf(&text, "%s%s", check, worst ? ": " : "");
    if (worst)
        ys_text_clean(&text, worst, false);
    const bool fits = taken + 2 + ys_text_width(ys_buf_text(&text)) <= ys_command_width();
    if (text.size)
        ys_buf_printf(out, "%s%s", fits ? "  " : "\n        ", ys_buf_text(&text));
    ys_buf_free(&text);
}

/* "Conv, 20 cases together                 pass         3.1e-15  1.0e-09  logits: conv_1x1_3.weight" */
static void put_case(struct ys_buf *out, const struct ys_conformance_case *told)
{
    const bool failed = told->verdict == YS_CASE_FAIL;
    const int width = name_width();
    ys_command_name(out, 2, width, told->name);
    ys_buf_printf(out, " %-11s ", failed ? "FAIL" : ys_name_of(&ys_conformance_verdicts, told->verdict));
    if (isfinite(told->bound)) {
        ys_buf_printf(out, "%8s", isfinite(told->error) ? ys_label_error(told->error).text : "infinite");
        ys_buf_printf(out, " %8s", told->bound == 0 ? "equal" : ys_label_error(told->bound).text);
    }
    put_worst(out, told->check, told->worst, width + AFTER_NAME);
    const bool lacks = told->verdict == YS_CASE_UNSUPPORTED && told->message;
    if (lacks && width + 15 + ys_text_width(told->message) <= ys_command_width()) {
        ys_text_wrap(out, told->message, width + 15, 8, ys_command_width());
    } else {
        ys_buf_puts(out, "\n");
        if (failed || lacks)
            put_note(out, told->message);
    }
    if (told->run && told->run[0]) /* whole: it is pasted */
        ys_buf_printf(out, "      run: %s\n", told->run);
}

static void put_list(struct ys_buf *out, const char *title, const ys_json *list)
{
    struct ys_buf words = {0};
    for (size_t i = 0; i < ys_json_size(list); i++)
        ys_buf_printf(&words, "%s%s", i ? ", " : "", ys_json_text(ys_json_at(list, i), ""));
    ys_buf_printf(out, "  %-11s ", title);
    ys_text_wrap(out, words.size ? ys_buf_text(&words) : "none", 14, 14, ys_command_width());
    ys_buf_free(&words);
}

static void put_said(struct ys_buf *out, const char *text, const char *after)
{
    ys_text_clean(out, text ? text : "?", false);
    ys_buf_puts(out, after);
}

/* What the adapter says of itself. */
static void put_hello(struct ys_buf *out, const ys_json *hello)
{
    struct ys_message said;
    ys_message_read(hello, &said);
    ys_buf_puts(out, "declares\n  framework   ");
    put_said(out, said.hello.framework, " ");
    put_said(out, said.hello.version, ", ");
    put_said(out, said.hello.runtime, said.hello.no_work ? "; does no work\n" : "\n");
    put_list(out, "features", said.hello.features);
    put_list(out, "precisions", said.hello.precisions);
    put_list(out, "optimizers", said.hello.optimizers);
    put_list(out, "devices", said.hello.devices);
    put_list(out, "ops", said.hello.ops);
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

static void on_case(void *context, const struct ys_conformance_case *told)
{
    struct printer *printer = context;
    if (told->hello)
        put_hello(&printer->out, told->hello);
    if (strcmp(told->part, printer->part) != 0) {
        snprintf(printer->part, sizeof printer->part, "%s", told->part);
        ys_buf_printf(&printer->out, "%s\n", told->part);
    }
    put_case(&printer->out, told);
    flush(printer);
}

static int say_missing(const struct ys_conformance *report)
{
    ys_log_error("%s cannot be checked: %s%s%s", report->framework, report->reason ? report->reason : "it is not ready",
                 report->command ? "; run: " : "", report->command ? report->command : "");
    return YS_EXIT_NOTHING_RAN;
}

/* The last line is as the tests of this house end. */
static int print_end(struct printer *printer, const struct ys_conformance *report, int exit_code)
{
    ys_buf_printf(&printer->out, "%lld passed, %lld failed, %lld unsupported\n", (long long)report->passed,
                  (long long)report->failed, (long long)report->unsupported);
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
                                                   .quick = args->quick,
                                                   .keys = args->flags.items,
                                                   .key_count = args->flags.count,
                                                   .on_case = as_json ? NULL : on_case,
                                                   .context = &printer};
    struct ys_conformance report;
    int exit_code = 0;
    ys_status status = ys_conformance_check(args->check, &options, &report, &exit_code);
    if (status != YS_OK)
        return ys_command_fail(status);
    int code;
    if (as_json) {
        code = ys_command_print_json(ys_record_json(&ys_conformance_record, &report));
        code = code ? code : exit_code;
    } else {
        code = exit_code == YS_EXIT_NOTHING_RAN ? say_missing(&report) : print_end(&printer, &report, exit_code);
    }
    ys_record_fini(&ys_conformance_record, &report);
    return code;
}
