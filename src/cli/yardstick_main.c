/* yardstick: wiring only. */
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "cli/command.h"
#include "graph/model.h"
#include "job/nearest.h"
#include "job/option.h"
#include "verify/check_models.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct verb {
    const char *name, *usage, *help;
    int (*run)(const struct ys_args *args); /* NULL: not yet available */
} verbs[] = {
    {"run", "run [STUDY.ys] [--KEY=VALUE ...]", "run a study (implied when the first word is a file)", ys_command_run},
    {"check", "check [STUDY.ys] [--KEY=VALUE ...]", "what would run, how long, what is missing", ys_command_check},
    {"verify", "verify [STUDY.ys] [--trace] [--KEY=VALUE ...]",
     "are these frameworks doing the same work? --trace: where one first parts from it", ys_command_verify},
    {"resume", "resume [SELECTOR]", "go on with an interrupted study", ys_command_resume},
    {"show", "show [SELECTOR]", "the table of a stored study", ys_command_show},
    {"report", "report [SELECTOR]", "write its report.html again, say where", ys_command_report},
    {"export", "export [SELECTOR] | export --model=NAME --out=FILE.onnx",
     "everything stored of a study, raw, as JSON Lines; or a network as a file\n"
     "      (--data=NAME --weights=FILE --seed=N --precision=f64)",
     ys_command_export},
    {"list", "list frameworks|models|datasets|metrics|keys [NAME]",
     "what there is; `list frameworks --check NAME [--opt.NAME.OPTION=VALUE]` checks an\n"
     "      adapter",
     ys_command_list},
    {"install", "install NAME[@VERSION] ... | all | NAME --from=PROGRAM", "make a framework's environment",
     ys_command_install},
    {"uninstall", "uninstall NAME[@VERSION] ... | all", "remove it", ys_command_uninstall},
    {"data", "data fetch NAME [--from DIR]", "download or import a data set", ys_command_data},
    {"init", "init [STUDY.ys]", "write a commented example study", ys_command_init},
    {"compare", "compare", "two stored results", NULL},
    {"doctor", "doctor", "is this machine fit to measure?", NULL},
    {"gate", "gate", "fail on a regression", NULL},
    {"serve", "serve", "results over HTTP", NULL},
};
static const size_t verb_count = sizeof verbs / sizeof verbs[0];

int ys_command_fail(ys_status status)
{
    ys_progress_clear();
    ys_log_error("%s", ys_error());
    switch (status) {
    case YS_EINVAL:
    case YS_EFORMAT:
    case YS_ENOTFOUND:
    case YS_EBUSY:
    case YS_EUNSUPPORTED:
        return 2;
    case YS_EINTR:
        return 128 + ys_stop_signal();
    default:
        return 7;
    }
}

int ys_command_print(struct ys_buf *buf)
{
    size_t size = buf->size;
    bool written = !buf->failed && fwrite(ys_buf_text(buf), 1, size, stdout) == size && fflush(stdout) == 0;
    ys_buf_free(buf);
    return written ? 0 : ys_command_fail(ys_fail(YS_EIO, "the result could not be written to standard output: %m"));
}

int ys_command_print_json(ys_json *value)
{
    struct ys_buf out = {0};
    char *text = ys_json_dump(value, YS_JSON_INDENT);
    ys_json_free(value);
    if (!text)
        return ys_command_fail(ys_out_of_memory());
    ys_buf_printf(&out, "%s\n", text);
    ys_free(text);
    return ys_command_print(&out);
}

const char *ys_command_results(const struct ys_args *args)
{
    return args->results ? args->results : "yardstick-results";
}

static int print_help(const struct verb *verb)
{
    struct ys_buf out = {0};
    if (verb)
        ys_buf_printf(&out, "usage: yardstick %s\n%s\n", verb->usage, verb->help);
    else
        ys_buf_puts(
            &out,
            "yardstick measures deep-learning frameworks: the same work for each, proven,\ntimed from outside.\n\n");
    for (size_t i = 0; !verb && i < verb_count; i++)
        if (verbs[i].run)
            ys_buf_printf(&out, "  yardstick %s\n      %s\n", verbs[i].usage, verbs[i].help);
    ys_buf_puts(&out, "\nFlags: --results=DIR --recipes=DIR --format=table|json|csv|md --fresh (prove\n"
                      "again) --quiet --debug --help --version. SELECTOR: last (the default), a study's\n"
                      "name, number or folder, and /TRIAL after it.\n");
    if (!verb || verb->run == ys_command_run || verb->run == ys_command_check || verb->run == ys_command_verify) {
        ys_buf_puts(&out, "\nKeys of a study, in its file or as flags (a comma makes an axis):\n");
        ys_job_keys_text(&out);
    }
    if (!verb)
        ys_buf_puts(&out, "\nExit codes: 0 all done, 1 a run failed, 2 usage or job error, 5 a proof failed,\n"
                          "6 nothing could run, 7 internal error or results could not be written, 124 time\n"
                          "limit, 130/143 interrupted.\n");
    return ys_command_print(&out);
}

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < verb_count; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

static int unknown_verb(const char *name)
{
    const char *names[sizeof verbs / sizeof verbs[0] + 1] = {0};
    for (size_t i = 0; i < verb_count; i++)
        names[i] = verbs[i].name;
    const char *near = ys_nearest(name, names);
    if (!*name)
        return ys_command_fail(ys_fail(YS_EINVAL, "say what to do: yardstick run STUDY.ys, or yardstick --help"));
    return ys_command_fail(ys_fail(YS_EINVAL, "\"%s\" is no verb%s%s%s (yardstick --help lists all)", name,
                                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : ""));
}

static int dispatch(const struct ys_args *args)
{
    const struct verb *verb = find_verb(args->verb);
    if (args->quiet)
        ys_log_set_level(YS_LOG_WARN);
    if (args->debug)
        ys_log_set_level(YS_LOG_DEBUG);
    if (args->version) {
        struct ys_buf out = {0};
        ys_buf_puts(&out, "yardstick " YS_VERSION "\n");
        return ys_command_print(&out);
    }
    if (args->help || strcmp(args->verb, "help") == 0)
        return print_help(verb);
    if (!verb)
        return unknown_verb(args->verb);
    if (!verb->run)
        return ys_command_fail(ys_fail(YS_EINVAL, "%s is not yet available", verb->name));
    return verb->run(args);
}

/* A descriptor of the standard three that the caller closed would become the first file opened, and the result would be
 * written into that. What stands in its place refuses to be written to, so that a lost result is noticed. */
static void fill_standard_descriptors(void)
{
    int fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/dev/null", O_RDONLY);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    struct ys_args args;
    fill_standard_descriptors();
    if (ys_stop_install() != YS_OK)
        return ys_command_fail(YS_EINTERNAL);
    ys_model_find_also(ys_check_find);
    ys_status status = ys_args_parse(argc, argv, &args);
    int code = status == YS_OK ? dispatch(&args) : ys_command_fail(status);
    ys_args_fini(&args);
    return code;
}
