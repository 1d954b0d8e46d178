/* The manual pages, as roff with the man macros (man 7 groff_man). */
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/verb.h"
#include "job/option.h"

#include <string.h>

/* Text as it stands: hyphens that are minus signs, backslashes, and no line that begins as a request. */
static void put_text(struct ys_buf *out, const char *text)
{
    bool begins = true;
    for (; *text; text++) {
        if (begins && (*text == '.' || *text == '\''))
            ys_buf_puts(out, "\\&");
        begins = *text == '\n';
        if (*text == '\\')
            ys_buf_puts(out, "\\e");
        else if (*text == '-')
            ys_buf_puts(out, "\\-");
        else if (*text == '~')
            ys_buf_puts(out, "\\(ti");
        else if (*text == '^')
            ys_buf_puts(out, "\\(ha");
        else if (*text == '`')
            ys_buf_puts(out, "\\(ga");
        else
            ys_buf_append(out, text, 1);
    }
}

static void put_head(struct ys_buf *out, const char *name, const char *section, const char *what)
{
    ys_buf_printf(out, ".TH %s %s \"\" \"yardstick " YS_VERSION "\" \"yardstick\"\n.SH NAME\n%s \\- %s\n", name,
                  section, name, what);
}

static void put_formats(struct ys_buf *out, const char *formats)
{
    for (; *formats; formats++)
        ys_buf_append(out, *formats == ' ' ? "|" : formats, 1);
}

static void put_flag(struct ys_buf *out, const struct ys_verb *verb, const struct ys_flag *flag)
{
    ys_buf_puts(out, ".TP\n.B \\-\\-");
    put_text(out, flag->name);
    if (flag->kind == YS_FLAG_FORMAT) {
        ys_buf_puts(out, "=");
        put_formats(out, verb->formats);
    } else if (flag->value) {
        ys_buf_puts(out, "=");
        put_text(out, flag->value);
    }
    if (flag->letter)
        ys_buf_printf(out, "\n.TQ\n.B \\-%c", flag->letter);
    ys_buf_puts(out, "\n");
    put_text(out, flag->help);
    ys_buf_puts(out, "\n");
}

static void put_verb(struct ys_buf *out, const struct ys_verb *verb)
{
    ys_buf_puts(out, ".SS \"yardstick ");
    put_text(out, verb->name);
    ys_buf_puts(out, "\"\n.B yardstick ");
    put_text(out, verb->name);
    ys_buf_puts(out, " ");
    put_text(out, verb->usage);
    ys_buf_puts(out, "\n.PP\n");
    put_text(out, verb->help);
    ys_buf_puts(out, "\n");
    for (const struct ys_flag *flag = ys_flags(); flag->name; flag++)
        if (ys_verb_flag(verb, flag->name, strlen(flag->name)) == flag)
            put_flag(out, verb, flag);
    if (verb->keys == YS_VERB_ALL_KEYS)
        ys_buf_puts(
            out,
            ".PP\nEvery key of\n.BR yardstick\\-study (5)\nthat is no key of files alone is a flag too; a comma makes "
            "an axis.\n");
}

static void put_examples(struct ys_buf *out)
{
    ys_buf_puts(out, ".SH EXAMPLES\n.nf\n");
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++)
        for (size_t i = 0; i < sizeof verb->examples / sizeof verb->examples[0]; i++) {
            ys_buf_puts(out, "yardstick ");
            put_text(out, verb->examples[i]);
            ys_buf_puts(out, "\n");
        }
    ys_buf_puts(out, ".fi\n");
}

void ys_manual_program(struct ys_buf *out)
{
    put_head(out, "yardstick", "1", "measures deep\\-learning frameworks");
    ys_buf_puts(out, ".SH SYNOPSIS\n.B yardstick\n.I VERB\n[WORD ...] [\\-\\-FLAG=VALUE ...]\n.br\n.B yardstick\n.I "
                     "STUDY.ys\n.SH DESCRIPTION\nThe same work for each framework, proven, timed from outside. A "
                     "SELECTOR is\n.B last\n(the default), a study's name, number or folder; where single trials are "
                     "meant, with /TRIAL after it.\n.SH VERBS\n");
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++)
        put_verb(out, verb);
    put_examples(out);
    ys_buf_puts(out,
                ".SH EXIT STATUS\n"
                ".TP\n.B 0\nall done; a gate holds\n.TP\n.B 1\na run failed\n.TP\n.B 2\nusage or job error\n"
                ".TP\n.B 3\na rule of a gate is broken; no trial meets a wish\n.TP\n.B 4\na rule of a gate is "
                "open; a bisection decided nothing; no setting was confirmed\n.TP\n.B 5\na proof failed\n.TP\n.B "
                "6\nnothing could run\n.TP\n"
                ".B 7\ninternal error, or results could not be written or are damaged\n.TP\n.B 124\nthe study's "
                "time limit\n.TP\n.B 130, 143\ninterrupted\n"
                ".SH ENVIRONMENT\n.TP\n.B YARDSTICK_CACHE\nenvironments, data and prepared work\n.TP\n.B NO_COLOR\n"
                "no colour on a terminal\n"
                ".SH FILES\n.TP\n.I yardstick\\-results\nresults of studies, in the current folder\n"
                ".SH SEE ALSO\n.BR yardstick\\-study (5)\n");
}

static void put_key(struct ys_buf *out, const struct ys_option *option)
{
    struct ys_buf values = {0};
    ys_buf_puts(out, ".TP\n.B ");
    put_text(out, option->name);
    ys_buf_puts(out, "\n");
    put_text(out, option->help);
    ys_buf_puts(out, ".\n.br\nValues: ");
    ys_option_print_values(option, &values);
    put_text(out, ys_buf_text(&values));
    ys_buf_free(&values);
    ys_buf_puts(out, ".\n");
    if (option->standard) {
        ys_buf_puts(out, "Default: ");
        put_text(out, option->standard);
        ys_buf_puts(out, ".\n");
    }
    if (option->file_only)
        ys_buf_puts(out, "In files alone.\n");
    if (option->axis)
        ys_buf_puts(out, "May take several values.\n");
}

void ys_manual_study(struct ys_buf *out)
{
    static const char *const titles[] = {[YS_OPTION_STUDY] = "KEYS OF THE STUDY",
                                         [YS_OPTION_WORK] = "KEYS OF THE WORK",
                                         [YS_OPTION_MACHINE] = "KEYS OF THE MACHINE",
                                         [YS_OPTION_OBSERVATION] = "KEYS OF THE OBSERVATION"};
    put_head(out, "yardstick\\-study", "5", "what a study of yardstick measures");
    ys_buf_puts(out,
                ".SH DESCRIPTION\nA study is a text of lines\n.IR \"KEY = VALUE\" .\nThose before the first\n.I "
                "[SECTION]\nare of the study, the others of the section's trials. A key with several values, as\n.IR "
                "\"threads = {1, 2}\" ,\nmakes a trial of each. What follows a semicolon is a comment.\n");
    for (int group = 0; group < YS_OPTION_GROUP_COUNT; group++) {
        ys_buf_printf(out, ".SH %s\n", titles[group]);
        for (const struct ys_option *option = ys_options(); option->name; option++)
            if ((int)option->group == group)
                put_key(out, option);
    }
    ys_buf_puts(out, ".SH EXAMPLES\n.nf\n");
    put_text(out, ys_example_study);
    ys_buf_puts(out, ".fi\n.SH SEE ALSO\n.BR yardstick (1)\n");
}
