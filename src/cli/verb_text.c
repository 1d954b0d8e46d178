/* What is said of verbs and flags: help, and the errors that name whose a flag is. */
#include "cli/verb.h"

#include "base/nearest_name.h"
#include "job/option.h"
#include "report/clean_text.h"
#include "report/label.h"

#include <string.h>

enum { WIDTH = 80, HELP_INDENT = 4, FLAG_COLUMN = 24, FLAG_LIMIT = 64, VERB_LIMIT = 64 };

/* "--results=DIR", "--format=table|json" */
static void put_flag(const struct ys_verb *verb, const struct ys_flag *flag, struct ys_buf *out)
{
    const char *formats = flag->kind == YS_FLAG_FORMAT ? verb->formats : NULL;
    ys_buf_printf(out, "--%s", flag->name);
    if (formats || flag->value)
        ys_buf_puts(out, "=");
    for (; formats && *formats; formats++)
        ys_buf_append(out, *formats == ' ' ? "|" : formats, 1);
    if (flag->value)
        ys_buf_puts(out, flag->value);
    if (flag->letter)
        ys_buf_printf(out, ", -%c", flag->letter);
}

/* A flag, which is freed, and what is said of it. */
static void put_line(struct ys_buf *flag, const char *says, struct ys_buf *out)
{
    ys_buf_printf(out, "  %-*s", FLAG_COLUMN - 2, ys_buf_text(flag));
    if (flag->size >= FLAG_COLUMN - 2)
        ys_buf_printf(out, "\n%*s", FLAG_COLUMN, "");
    ys_text_wrap(out, says, FLAG_COLUMN, FLAG_COLUMN, WIDTH);
    ys_buf_free(flag);
}

/* Those that every verb has are named together: they are the ones with a letter. */
static void put_flags(const struct ys_verb *verb, struct ys_buf *out)
{
    bool own = false;
    for (const struct ys_flag *flag = ys_flags(); flag->name; flag++) {
        struct ys_buf left = {0};
        if (flag->letter || ys_verb_flag(verb, flag->name, strlen(flag->name)) != flag)
            continue;
        ys_buf_puts(out, own ? "" : "\nFlags:\n");
        own = true;
        put_flag(verb, flag, &left);
        put_line(&left, flag->help, out);
    }
    ys_buf_puts(out, "\nEvery verb has");
    for (const struct ys_flag *flag = ys_flags(); flag->name; flag++)
        if (flag->letter)
            ys_buf_printf(out, " --%s (-%c)%s", flag->name, flag->letter, flag[1].name ? "," : ".\n");
}

/* The keys that most studies give, each with what it may be. */
static void put_keys(struct ys_buf *out)
{
    static const char *const most[] = {"framework", "model", "data", "mode",      "threads", "batch",
                                       "epochs",    "steps", "lr",   "precision", "repeat"};
    ys_buf_puts(out, "\n");
    ys_text_wrap(out,
                 "Every key of a study is a flag too, and a comma makes an axis. `yardstick list keys` lists them, "
                 "`yardstick list keys threads` says more of one. Used most:",
                 0, 0, WIDTH);
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        const struct ys_option *option = ys_option_find(most[i]);
        struct ys_buf key = {0}, values = {0};
        ys_buf_printf(&key, "--%s", option->name);
        ys_option_print_values(option, &values);
        if (option->standard)
            ys_buf_printf(&values, " [%s]", option->standard);
        put_line(&key, ys_buf_text(&values), out);
        ys_buf_free(&values);
    }
}

static void put_examples(const struct ys_verb *verb, struct ys_buf *out)
{
    ys_buf_puts(out, "\nExamples:\n");
    for (size_t i = 0; i < sizeof verb->examples / sizeof verb->examples[0]; i++) {
        struct ys_buf line = {0};
        ys_buf_printf(&line, "yardstick %s", verb->examples[i]);
        ys_buf_puts(out, "  ");
        ys_text_wrap(out, ys_buf_text(&line), 2, 2 + HELP_INDENT, WIDTH);
        ys_buf_free(&line);
    }
}

/* After `lead`, below which further lines begin. */
static void put_usage(const struct ys_verb *verb, const char *lead, struct ys_buf *out)
{
    struct ys_buf usage = {0};
    const int column = (int)strlen(lead);
    ys_buf_printf(&usage, "yardstick %s %s", verb->name, verb->usage);
    ys_buf_puts(out, lead);
    ys_text_wrap(out, ys_buf_text(&usage), column, column + HELP_INDENT, WIDTH);
    ys_buf_free(&usage);
}

static void help_of_program(struct ys_buf *out)
{
    ys_buf_puts(
        out, "yardstick measures deep-learning frameworks: the same work for each, proven,\ntimed from outside.\n\n");
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++) {
        put_usage(verb, "  ", out);
        ys_buf_printf(out, "  %*s", HELP_INDENT, "");
        ys_text_wrap(out, verb->help, 2 + HELP_INDENT, 2 + HELP_INDENT, WIDTH);
    }
    ys_buf_puts(out, "\n`yardstick help VERB` lists the flags of a verb; every verb has --quiet (-q),\n"
                     "--debug (-v), --help (-h) and --version (-V).\n");
    ys_buf_puts(out, "`yardstick list keys` lists the keys of a study: in its file, or flags of `run`.\n");
    ys_buf_puts(out, "\nExit codes: 0 all done, 1 a run failed, 2 usage or job error, 3 `gate`: a\n"
                     "rule is broken, 4 one is open, 5 a proof failed, 6 nothing could run, 7 internal\n"
                     "error or results could not be written, 124 time limit, 130/143 interrupted.\n");
}

void ys_verb_help(const struct ys_verb *verb, struct ys_buf *out)
{
    if (!verb) {
        help_of_program(out);
        return;
    }
    put_usage(verb, "usage: ", out);
    ys_text_wrap(out, verb->help, 0, 0, WIDTH);
    if (strstr(verb->usage, "SELECTOR"))
        ys_text_wrap(out,
                     "SELECTOR: last (the default), a study's name, number, folder or date (2026-11-26, "
                     "2026-11-26T03:17); export, compare, gate and history: and /TRIAL after it.",
                     0, 0, WIDTH);
    put_flags(verb, out);
    if (verb->keys == YS_VERB_ALL_KEYS)
        put_keys(out);
    put_examples(verb, out);
}

void ys_verb_first_steps(struct ys_buf *out)
{
    ys_buf_puts(out, "yardstick measures deep-learning frameworks: the same work for each, proven,\n"
                     "timed from outside. To begin with:\n\n"
                     "  yardstick doctor              is this machine fit to measure?\n"
                     "  yardstick init                write an example study, study.ys\n"
                     "  yardstick check study.ys      what would run, how long, what is missing\n"
                     "  yardstick run study.ys        measure; print a table, write a report\n"
                     "  yardstick list frameworks     what there is (also models, datasets, keys)\n"
                     "  yardstick help                all that it can do; `yardstick help VERB` one\n"
                     "                                verb, its flags and two examples\n");
}

ys_status ys_verb_unknown(const char *name)
{
    const char *names[VERB_LIMIT + 1] = {NULL};
    for (size_t i = 0; i < VERB_LIMIT && ys_verbs()[i].name; i++)
        names[i] = ys_verbs()[i].name;
    const char *near = ys_nearest(name, names);
    if (!*name)
        return ys_fail(YS_EINVAL, "say what to do: yardstick run STUDY.ys, or yardstick help");
    return ys_fail(YS_EINVAL, "\"%s\" is no verb%s%s%s (yardstick --help lists all)", name,
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* Appends the names of the verbs for which `has` holds: "`data` and `install`"; how many they are. */
static size_t put_verbs(bool (*has)(const struct ys_verb *verb, const void *what), const void *what, struct ys_buf *out)
{
    size_t count = 0, put = 0;
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++)
        count += has(verb, what);
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++) {
        if (!has(verb, what))
            continue;
        ys_buf_printf(out, "%s`%s`", ys_label_join(put, count, ", "), verb->name);
        put++;
    }
    return count;
}

static bool has_flag(const struct ys_verb *verb, const void *name)
{
    return ys_verb_flag(verb, name, strlen(name)) != NULL;
}

static bool has_keys(const struct ys_verb *verb, const void *unused)
{
    (void)unused;
    return verb->keys == YS_VERB_ALL_KEYS;
}

static bool has_format(const struct ys_verb *verb, const void *format)
{
    return ys_verb_has_word(verb->formats, format);
}

/* The nearest flag of the verb, keys of a job among them where it takes those. */
static const char *nearest_flag(const struct ys_verb *verb, const char *name, const char *key)
{
    const char *names[FLAG_LIMIT + 1] = {NULL};
    size_t count = 0;
    for (const struct ys_flag *flag = ys_flags(); flag->name && count < FLAG_LIMIT; flag++)
        if (ys_verb_flag(verb, flag->name, strlen(flag->name)) == flag)
            names[count++] = flag->name;
    const char *near = ys_nearest(name, names);
    if (!near && verb->keys == YS_VERB_ALL_KEYS)
        near = ys_option_nearest(key);
    return near && strcmp(near, name) != 0 ? near : NULL;
}

ys_status ys_verb_unknown_flag(const struct ys_verb *verb, const char *name)
{
    struct ys_buf key = {0}, message = {0};
    const bool is_pattern = strncmp(name, "opt.", 4) == 0 || strncmp(name, "env.", 4) == 0;
    for (const char *at = name; *at; at++)
        ys_buf_append(&key, *at == '-' && !is_pattern ? "_" : at, 1);
    const struct ys_option *option = ys_option_find(ys_buf_text(&key));
    const char *near = nearest_flag(verb, name, ys_buf_text(&key));
    struct ys_buf others = {0};
    if (put_verbs(has_flag, name, &others) > 0)
        ys_buf_printf(&message, ": --%s is a flag of %s", name, ys_buf_text(&others));
    if (option && option->file_only && message.size == 0) {
        ys_buf_printf(&message, ": %s is a key that stands in job files only", option->name);
    } else if (option && !option->file_only && verb->keys != YS_VERB_ALL_KEYS) {
        ys_buf_printf(&message, "%s %s is a key of a job: ", message.size ? ";" : ":", ys_buf_text(&key));
        put_verbs(has_keys, NULL, &message);
        ys_buf_puts(&message, " take it");
    }
    if (message.size == 0 && near)
        ys_buf_printf(&message, "; did you mean --%s?", near);
    else if (message.size == 0)
        ys_buf_printf(&message, ": `yardstick %s --help` lists those it has", verb->name);
    ys_status status = ys_fail(YS_EINVAL, "%s has no flag --%s%s", verb->name, name, ys_buf_text(&message));
    ys_buf_free(&others);
    ys_buf_free(&message);
    ys_buf_free(&key);
    return status;
}

ys_status ys_verb_unknown_format(const struct ys_verb *verb, const char *format)
{
    struct ys_buf can = {0}, others = {0};
    for (const char *at = verb->formats; *at; at++)
        ys_buf_puts(&can, *at == ' ' ? ", " : (const char[]){*at, 0});
    const char *by = put_verbs(has_format, format, &others) ? "; it is printed by " : "";
    ys_status status = ys_fail(YS_EINVAL, "--format=%s: %s can print %s%s%s", format, verb->name, ys_buf_text(&can), by,
                               ys_buf_text(&others));
    ys_buf_free(&can);
    ys_buf_free(&others);
    return status;
}
