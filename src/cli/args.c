#include "cli/args.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "job/nearest.h"
#include "job/option.h"

#include <string.h>

static bool one_of(const char *word, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

static char *command_line(int argc, char **argv)
{
    struct ys_buf line = {0};
    ys_buf_puts(&line, "yardstick");
    for (int i = 1; i < argc; i++) {
        ys_buf_puts(&line, " ");
        ys_buf_put_word(&line, argv[i]);
    }
    return ys_buf_take(&line);
}

static ys_status parse_format(struct ys_args *args, const char *text)
{
    static const char *const names[] = {"table", "json", "csv", "md"};
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(text, names[i]) == 0) {
            args->format = (enum ys_format)i;
            args->format_given = true;
            return YS_OK;
        }
    }
    return ys_fail(YS_EINVAL, "--format=%s: write table, json, csv or md", text);
}

static bool set_switch(struct ys_args *args, const char *name)
{
    const struct {
        const char *name;
        bool *field;
    } switches[] = {
        {"quiet", &args->quiet},     {"debug", &args->debug},           {"help", &args->help},
        {"version", &args->version}, {"unverified", &args->unverified}, {"fresh", &args->fresh},
        {"trace", &args->trace},     {"verify", &args->verify},
    };
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        if (strcmp(name, switches[i].name) == 0) {
            *switches[i].field = true;
            return true;
        }
    }
    return false;
}

static ys_status unknown_flag(const char *name)
{
    static const char *const flags[] = {"quiet",  "debug",   "help",    "version", "unverified", "fresh",
                                        "format", "results", "recipes", "from",    "check",      "weights",
                                        "out",    "trace",   "verify",  NULL};
    const char *near = ys_nearest(name, flags);
    if (!near)
        near = ys_option_nearest(name);
    return ys_fail(YS_EINVAL, "there is no flag --%s%s%s%s", name, near ? "; did you mean --" : "", near ? near : "",
                   near ? "?" : "");
}

/* A flag of the program's own that has a value; false when `name` is none. */
static bool set_value(struct ys_args *args, const char *name, const char *value, ys_status *status)
{
    const struct {
        const char *name, **field, *verb; /* of one verb alone */
    } texts[] = {
        {"from", &args->from, NULL},
        {"check", &args->check, NULL},
        {"results", &args->results, NULL},
        {"model", &args->model, "export"},
        {"data", &args->data, "export"},
        {"seed", &args->seed, "export"},
        {"precision", &args->precision, "export"},
        {"weights", &args->weights, "export"},
        {"out", &args->out, "export"},
    };
    size_t count = 0;
    *status = YS_OK;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(name, texts[i].name) == 0 && (!texts[i].verb || strcmp(args->verb, texts[i].verb) == 0)) {
            *texts[i].field = value;
            return true;
        }
    }
    if (strcmp(name, "format") == 0) {
        *status = parse_format(args, value);
    } else if (strcmp(name, "recipes") == 0) {
        if (!ys_fs_is_dir(value))
            *status = ys_fail(YS_EINVAL, "--recipes=%s: there is no such folder", value);
        while (args->recipe_dirs[count])
            count++;
        args->recipe_dirs[count] = value;
    } else {
        return false;
    }
    return true;
}

/* The keys that say in which mode `list frameworks --check` checks an adapter. */
static bool is_mode_key(const struct ys_args *args, const char *flag)
{
    return strcmp(args->verb, "list") == 0 && (strncmp(flag, "--opt.", 6) == 0 || strncmp(flag, "--env.", 6) == 0);
}

/* `argv[*at]` is "--name=value", "--name value" or "--switch". */
static ys_status parse_own_flag(struct ys_args *args, char **argv, int argc, int *at)
{
    char *name = argv[*at] + 2, *equals = strchr(name, '=');
    ys_status status = YS_OK;
    if (equals)
        *equals = 0;
    if (set_switch(args, name))
        return equals ? ys_fail(YS_EINVAL, "--%s takes no value", name) : YS_OK;
    const char *value = equals ? equals + 1 : *at + 1 < argc ? argv[*at + 1] : NULL;
    if (!set_value(args, name, value ? value : "", &status))
        return unknown_flag(name);
    if (!value)
        return ys_fail(YS_EINVAL, "--%s needs a value", name);
    *at += !equals;
    return status;
}

static ys_status parse_flag(struct ys_args *args, char **argv, int argc, int *at)
{
    static const char *const job_verbs[] = {"run", "check", "verify", NULL};
    bool taken = false;
    if (one_of(args->verb, job_verbs) || is_mode_key(args, argv[*at]))
        YS_TRY(ys_job_flags_take(&args->flags, argc, argv, at, &taken));
    return taken ? YS_OK : parse_own_flag(args, argv, argc, at);
}

ys_status ys_args_parse(int argc, char **argv, struct ys_args *args)
{
    *args = (struct ys_args){
        .verb = "",
        .words = ys_alloc((size_t)argc + 1, sizeof *args->words),
        .recipe_dirs = ys_alloc((size_t)argc + 1, sizeof *args->recipe_dirs),
        .command = command_line(argc, argv),
    };
    if (!args->words || !args->recipe_dirs || !args->command)
        return ys_out_of_memory();
    int at = 1;
    if (at < argc && argv[at][0] != '-') {
        const char *dot = strrchr(argv[at], '.');
        bool file = (dot && strcmp(dot, ".ys") == 0) || strchr(argv[at], '/') != NULL;
        args->verb = file ? "run" : argv[at++];
    }
    for (; at < argc; at++) {
        if (strcmp(argv[at], "-h") == 0)
            args->help = true;
        else if (strncmp(argv[at], "--", 2) == 0 && argv[at][2])
            YS_TRY(parse_flag(args, argv, argc, &at));
        else if (argv[at][0] == '-' && argv[at][1])
            return ys_fail(YS_EINVAL, "%s: flags begin with two dashes", argv[at]);
        else
            args->words[args->word_count++] = argv[at];
    }
    return YS_OK;
}

void ys_args_fini(struct ys_args *args)
{
    ys_free(args->words);
    ys_job_flags_fini(&args->flags);
    ys_free(args->recipe_dirs);
    ys_free(args->command);
    *args = (struct ys_args){0};
}
