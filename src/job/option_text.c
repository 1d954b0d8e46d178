/* What the option table says to people and programs. */
#include "base/mem.h"
#include "job/loss.h"
#include "job/optimizer.h"
#include "job/option.h"
#include "job/quant.h"
#include "job/schedule.h"
#include "job/goal.h"
#include "robust/attack.h"

#include <stdio.h>
#include <string.h>

#define WIDTH       80
#define HELP_COLUMN 26

static const char *const group_names[] = {"study", "work", "machine", "observation"};
_Static_assert(sizeof group_names / sizeof group_names[0] == YS_OPTION_GROUP_COUNT, "a group lacks its name");

static const char *const group_titles[] = {"Study keys (before the first section)", "Work keys", "Machine keys",
                                           "Observation keys"};

static const char *const type_names[] = {"integer",     "real",     "share",     "bool",    "word",     "name",
                                         "path",        "duration", "size",      "cpus",    "schedule", "optimizer",
                                         "calibration", "loss",     "target",    "model",   "data",     "attack",
                                         "curve",       "hosts",    "framework", "exclude", "env",      "opt"};
_Static_assert(sizeof type_names / sizeof type_names[0] == YS_OPTION_TYPE_COUNT, "a type lacks its name");

static void print_range(const struct ys_option *option, const char *unit, double scale, struct ys_buf *out)
{
    double low = option->low * scale, high = option->high * scale;
    if (option->above_low)
        ys_buf_printf(out, ", above %.16g%s and at most %.16g%s", low, unit, high, unit);
    else
        ys_buf_printf(out, ", %.16g%s to %.16g%s", low, unit, high, unit);
}

/* "a, b or c" from "a|b|c". */
static void print_choices(const char *choices, struct ys_buf *out)
{
    for (const char *at = choices; *at;) {
        size_t length = strcspn(at, "|");
        const char *next = at[length] ? at + length + 1 : at + length;
        const char *before = at == choices ? "" : strchr(next, '|') || *next ? ", " : " or ";
        ys_buf_printf(out, "%s%.*s", before, (int)length, at);
        at = next;
    }
}

static void print_number(const struct ys_option *option, struct ys_buf *out)
{
    switch (option->type) {
    case YS_OPTION_INT:
        ys_buf_puts(out, "a whole number");
        if (option->low == option->high)
            ys_buf_printf(out, ", %.16g", option->low);
        else
            print_range(option, "", 1, out);
        break;
    case YS_OPTION_SHARE:
        ys_buf_puts(out, "a share as 2% or 0.02");
        print_range(option, "%", 100, out);
        break;
    case YS_OPTION_DURATION:
        ys_buf_puts(out, "a time with a unit as 30s or 2min");
        print_range(option, option->high < 3600 ? "s" : "h", option->high < 3600 ? 1 : 1.0 / 3600, out);
        break;
    case YS_OPTION_SIZE:
        ys_buf_puts(out, "a size with a unit as 512MiB or 2GiB");
        break;
    default:
        ys_buf_puts(out, "a number");
        print_range(option, "", 1, out);
        break;
    }
}

static void print_attacks(struct ys_buf *out)
{
    char *forms = ys_attack_forms();
    ys_buf_printf(out, "words apart by blanks: %s", forms);
    ys_free(forms);
}

void ys_option_print_values(const struct ys_option *option, struct ys_buf *out)
{
    static const char *const texts[YS_OPTION_TYPE_COUNT] = {
        [YS_OPTION_BOOL] = "on or off",
        [YS_OPTION_NAME] = "a name of at most 64 letters, digits, _ - and .",
        [YS_OPTION_PATH] = "a path",
        [YS_OPTION_CPUS] = "a list of CPUs as 0-3,5 (each once, 0 to 4095)",
        [YS_OPTION_GOAL] = ys_goal_forms,
        [YS_OPTION_MODEL] = "the name of a model, FILE.json or FILE.onnx",
        [YS_OPTION_DATA] = "the name of a data set, FOLDER or FILE.csv of images",
        [YS_OPTION_CURVE] = "numbers of 0 to 1 apart by blanks, as 0.05 8/255",
        [YS_OPTION_HOSTS] = "\"HOST, HOST ADDRESS\" or ./FILE",
        [YS_OPTION_FRAMEWORK] = "NAME or NAME@VERSION",
        [YS_OPTION_EXCLUDE] = "key=value key=value",
        [YS_OPTION_ENV] = "any text",
        [YS_OPTION_OPT] = "what the framework's recipe allows",
    };
    const struct ys_form *forms = option->type == YS_OPTION_SCHEDULE      ? ys_schedules()
                                  : option->type == YS_OPTION_OPTIMIZER   ? ys_job_optimizers()
                                  : option->type == YS_OPTION_CALIBRATION ? ys_job_calibrations()
                                  : option->type == YS_OPTION_LOSS        ? ys_job_losses()
                                                                          : NULL;
    if (option->type == YS_OPTION_WORD)
        print_choices(option->choices, out);
    else if (option->says)
        ys_buf_puts(out, option->says);
    else if (forms)
        ys_form_print_all(forms, out);
    else if (option->type == YS_OPTION_ATTACK)
        print_attacks(out);
    else
        texts[option->type] ? ys_buf_puts(out, texts[option->type]) : print_number(option, out);
    if (option->type == YS_OPTION_SCHEDULE)
        ys_buf_puts(out, "; with warmup(STEPS) before it or without");
    if (option->none)
        ys_buf_printf(out, ", or %s", option->none);
}

/* The default as a reader wants to see it. */
static const char *standard_text(const struct ys_option *option)
{
    return option->standard ? option->standard : option->none;
}

/* `text` folded at blanks between `indent` and WIDTH, ended by a newline; the cursor stands at `indent`. */
static void print_folded(const char *text, int indent, struct ys_buf *out)
{
    size_t room = (size_t)(WIDTH - indent);
    while (strlen(text) > room) {
        size_t length = room;
        while (length > 0 && text[length] != ' ')
            length--;
        if (length == 0) /* a word wider than the room stands alone */
            length = strcspn(text, " ");
        ys_buf_printf(out, "%.*s\n%*s", (int)length, text, indent, "");
        text += length + (text[length] == ' ');
    }
    ys_buf_printf(out, "%s\n", text);
}

ys_status ys_option_help_text(const char *key, struct ys_buf *out)
{
    const struct ys_option *option = ys_option_find(key);
    if (!option) {
        const char *nearest = ys_option_nearest(key);
        if (nearest)
            return ys_fail(YS_ENOTFOUND, "there is no key %s; did you mean %s?", key, nearest);
        return ys_fail(YS_ENOTFOUND, "there is no key %s: `yardstick list keys` names all", key);
    }
    struct ys_buf values = {0};
    ys_option_print_values(option, &values);
    ys_buf_printf(out, "%s (%s key)\n  ", option->name, group_names[option->group]);
    print_folded(option->help, 2, out);
    ys_buf_puts(out, "  value:    ");
    print_folded(ys_buf_text(&values), 12, out);
    ys_buf_free(&values);
    const char *standard = standard_text(option);
    ys_buf_printf(out, "  default:  %s\n", standard ? standard : option->required ? "none, must be given" : "none");
    if (option->mode)
        ys_buf_printf(out, "  mode:     %s only\n", option->mode);
    if (option->compare)
        ys_buf_printf(out, "  compare:  %s only\n", option->compare);
    ys_buf_printf(out, "  axis:     %s\n", option->axis ? "yes, {a, b, c} makes a trial of each" : "no");
    if (!option->file_only)
        ys_buf_printf(out, "  flag:     --%s=VALUE\n", option->name);
    return YS_OK;
}

void ys_job_keys_text(struct ys_buf *out)
{
    for (int group = 0; group < YS_OPTION_GROUP_COUNT; group++) {
        ys_buf_printf(out, "%s%s:\n", group ? "\n" : "", group_titles[group]);
        for (const struct ys_option *option = ys_options(); option->name; option++) {
            if ((int)option->group != group)
                continue;
            const char *standard = standard_text(option);
            struct ys_buf help = {0};
            ys_buf_puts(&help, option->help);
            if (standard)
                ys_buf_printf(&help, " [%s]", standard);
            ys_buf_printf(out, "  %s%-*s", option->file_only ? "  " : "--", HELP_COLUMN - 4, option->name);
            print_folded(ys_buf_text(&help), HELP_COLUMN, out);
            ys_buf_free(&help);
        }
    }
}

/* '|' ends a table cell even between backquotes, so it is escaped. */
static void print_cell(const char *text, struct ys_buf *out)
{
    for (; *text; text++)
        ys_buf_printf(out, *text == '|' ? "\\%c" : "%c", *text);
}

void ys_options_markdown(struct ys_buf *out)
{
    for (int group = 0; group < YS_OPTION_GROUP_COUNT; group++) {
        ys_buf_printf(out, "%s### %s\n\n| key | value | default | axis | meaning |\n| --- | --- | --- | --- | --- |\n",
                      group ? "\n" : "", group_titles[group]);
        for (const struct ys_option *option = ys_options(); option->name; option++) {
            if ((int)option->group != group)
                continue;
            const char *standard = standard_text(option);
            ys_buf_printf(out, "| `%s` | ", option->name);
            ys_option_print_values(option, out);
            ys_buf_printf(out, " | %s | %s | ",
                          standard           ? standard
                          : option->required ? "required"
                                             : "",
                          option->axis ? "yes" : "");
            print_cell(option->help, out);
            ys_buf_puts(out, " |\n");
        }
    }
}

static ys_json *choices_json(const char *choices)
{
    ys_json *list = ys_json_array();
    for (const char *at = choices; at && *at;) {
        size_t length = strcspn(at, "|");
        char *word = ys_strndup(at, length);
        ys_json_append(list, word ? ys_json_string(word) : NULL);
        ys_free(word);
        at += length + (at[length] == '|');
    }
    return list;
}

static void option_json(const struct ys_option *option, ys_json *list)
{
    bool is_number = option->type == YS_OPTION_INT || option->type == YS_OPTION_REAL ||
                     option->type == YS_OPTION_SHARE || option->type == YS_OPTION_DURATION ||
                     option->type == YS_OPTION_SIZE;
    struct ys_buf values = {0};
    ys_option_print_values(option, &values);
    ys_json *item = ys_json_object(), *choices = choices_json(option->choices);
    ys_json_set_string(item, "name", option->name);
    ys_json_set_string(item, "group", group_names[option->group]);
    ys_json_set_string(item, "type", type_names[option->type]);
    ys_json_set_string(item, "values", ys_buf_text(&values));
    ys_json_set_string(item, "unit", option->unit);
    ys_json_set(item, "low", is_number ? ys_json_real(option->low) : ys_json_null());
    ys_json_set(item, "high", is_number ? ys_json_real(option->high) : ys_json_null());
    ys_json_set(item, "choices", choices);
    ys_json_set_string(item, "default", standard_text(option));
    ys_json_set_bool(item, "axis", option->axis);
    ys_json_set_string(item, "mode", option->mode);
    ys_json_set_string(item, "compare", option->compare);
    ys_json_set_bool(item, "flag", !option->file_only);
    ys_json_set_string(item, "help", option->help);
    ys_buf_free(&values);
    ys_json_append(list, item);
}

ys_json *ys_options_json(void)
{
    ys_json *list = ys_json_array();
    for (const struct ys_option *option = ys_options(); option->name; option++)
        option_json(option, list);
    return list;
}
