#include "cli/args.h"

#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "cli/verb.h"

#include <getopt.h>
#include <string.h>

enum { FLAG_LIMIT = 64 };

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

/* A split under way. `argv[0]` is the word before the first that is left. */
struct split {
    struct ys_args *args;
    const struct ys_verb *verb;
    int argc;
    char **argv;
};

static ys_status set_format(const struct split *split, const char *text)
{
    static const char *const names[] = {"table", "json", "csv", "md", "junit", "trace"};
    if (!ys_verb_has_word(split->verb->formats, text))
        return ys_verb_unknown_format(split->verb, text);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(text, names[i]) == 0)
            split->args->format = (enum ys_format)i;
    split->args->format_given = true;
    return YS_OK;
}

static ys_status given_twice(const struct ys_flag *flag)
{
    return ys_fail(YS_EINVAL, "--%s is given twice: keep one of them", flag->name);
}

static void add_text(const char **texts, const char *text)
{
    while (*texts)
        texts++;
    *texts = text;
}

static ys_status add_dir(const struct ys_flag *flag, const char **dirs, const char *path)
{
    if (!ys_fs_is_dir(path))
        return ys_fail(YS_EINVAL, "--%s=%s: there is no such folder", flag->name, path);
    char *absolute = ys_path_absolute(path);
    ys_status status = ys_path_check_text(absolute);
    ys_free(absolute);
    if (status != YS_OK)
        return ys_fail_in(status, "--%s", flag->name);
    add_text(dirs, path);
    return YS_OK;
}

/* Whether `words` ("f32|f64") has `word`. */
static bool is_among(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; *at; at += strspn(at, "|")) {
        size_t size = strcspn(at, "|");
        if (size == length && memcmp(at, word, size) == 0)
            return true;
        at += size;
    }
    return false;
}

/* `value` is NULL for a switch, else not empty. */
static ys_status set_flag(const struct split *split, const struct ys_flag *flag, const char *value)
{
    void *field = (char *)split->args + flag->field;
    const char **text = field;
    switch (flag->kind) {
    case YS_FLAG_SWITCH:
        *(bool *)field = true;
        return YS_OK;
    case YS_FLAG_TEXTS:
        add_text(*(const char ***)field, value);
        return YS_OK;
    case YS_FLAG_DIRS:
        return add_dir(flag, *(const char ***)field, value);
    case YS_FLAG_FORMAT:
        return split->args->format_given ? given_twice(flag) : set_format(split, value);
    case YS_FLAG_WORD:
    case YS_FLAG_TEXT:
        if (flag->kind == YS_FLAG_WORD && !is_among(flag->value, value))
            return ys_fail(YS_EINVAL, "--%s=%s: write --%s=%s", flag->name, value, flag->name, flag->value);
        if (*text)
            return given_twice(flag);
        *text = value;
    }
    return YS_OK;
}

static size_t name_length(const char *argument)
{
    return strcspn(argument + 2, "=");
}

/* An argument that begins with two dashes and names no flag of the verb: it may be a key of a job, which getopt_long()
 * cannot list, for names of options and variables are open. */
static ys_status take_key(const struct split *split, int at)
{
    const char *argument = split->argv[at];
    const bool is_option = strncmp(argument, "--opt.", 6) == 0 || strncmp(argument, "--env.", 6) == 0;
    bool taken = false;
    if (split->verb->keys == YS_VERB_ALL_KEYS || (split->verb->keys == YS_VERB_OPTIONS && is_option))
        YS_TRY(ys_job_flags_take(&split->args->flags, split->argc, split->argv, &at, &taken));
    if (taken) {
        optind = at + 1;
        return YS_OK;
    }
    char *name = ys_strndup(argument + 2, name_length(argument));
    ys_status status = ys_verb_unknown_flag(split->verb, name);
    ys_free(name);
    return status;
}

/* What getopt_long() `found` of the argument at `at`, which begins with two dashes. It takes beginnings of names too,
 * which would come to mean something else with the next flag: here a name stands in full. */
static ys_status take_long(const struct split *split, int at, int found)
{
    const char *argument = split->argv[at];
    const struct ys_flag *flag = ys_verb_flag(split->verb, argument + 2, name_length(argument));
    if (!flag)
        return take_key(split, at);
    if (flag->kind == YS_FLAG_SWITCH)
        return found == 0 ? set_flag(split, flag, NULL) : ys_fail(YS_EINVAL, "--%s takes no value", flag->name);
    const bool is_next = argument[2 + name_length(argument)] == 0;
    if (found != 0 || !*optarg || (is_next && strncmp(optarg, "--", 2) == 0))
        return ys_fail(YS_EINVAL, "--%s needs a value: write --%s=%s", flag->name, flag->name,
                       flag->value ? flag->value : "FORMAT");
    return set_flag(split, flag, optarg);
}

static ys_status add_word(const struct split *split, const char *word)
{
    const struct ys_verb *verb = split->verb;
    if (!*word)
        return ys_fail(YS_EINVAL, "a word is empty; write: yardstick %s %s", verb->name, verb->usage);
    if (verb->most_words >= 0 && split->args->word_count == (size_t)verb->most_words)
        return ys_fail(YS_EINVAL, "\"%s\" is one word too many; write: yardstick %s %s", word, verb->name, verb->usage);
    split->args->words[split->args->word_count++] = word;
    return YS_OK;
}

static void list_flags(const struct ys_verb *verb, struct option *list)
{
    size_t count = 0;
    for (const struct ys_flag *flag = ys_flags(); flag->name && count < FLAG_LIMIT; flag++)
        if (ys_verb_flag(verb, flag->name, strlen(flag->name)) == flag)
            list[count++] = (struct option){.name = flag->name,
                                            .has_arg = flag->kind == YS_FLAG_SWITCH ? no_argument : required_argument};
}

/* The switches that have a letter are those that every verb has. */
static bool take_letter(struct ys_args *args, int letter)
{
    for (const struct ys_flag *flag = ys_flags(); flag->name; flag++)
        if (flag->letter && flag->letter == letter)
            return *(bool *)((char *)args + flag->field) = true;
    return false;
}

/* They may stand before the verb too. */
static bool take_early(struct ys_args *args, const char *argument)
{
    if (argument[0] == '-' && argument[1] && !argument[2])
        return take_letter(args, argument[1]);
    for (const struct ys_flag *flag = ys_flags(); flag->name; flag++)
        if (flag->letter && strncmp(argument, "--", 2) == 0 && strcmp(argument + 2, flag->name) == 0)
            return take_letter(args, flag->letter);
    return false;
}

static ys_status split_rest(const struct split *split)
{
    struct option list[FLAG_LIMIT + 1] = {{0}};
    int at, found;
    list_flags(split->verb, list);
    opterr = 0;
    optind = 0; /* begins anew */
    /* '-': words in the order in which they come; ':': a missing value is told from an unknown flag. */
    while (at = optind ? optind : 1, (found = getopt_long(split->argc, split->argv, "-:hqvV", list, NULL)) != -1) {
        if (found == 1)
            YS_TRY(add_word(split, optarg));
        else if (strncmp(split->argv[at], "--", 2) == 0)
            YS_TRY(take_long(split, at, found));
        else if (!take_letter(split->args, found))
            return ys_fail(YS_EINVAL, "%s: flags begin with two dashes, but for -q, -v, -h and -V", split->argv[at]);
    }
    for (at = optind; at < split->argc; at++)
        YS_TRY(add_word(split, split->argv[at]));
    return YS_OK;
}

static bool is_file(const char *word)
{
    const char *dot = strrchr(word, '.');
    return (dot && strcmp(dot, ".ys") == 0) || strchr(word, '/') != NULL;
}

static ys_status split_all(int argc, char **argv, struct ys_args *args)
{
    int at = 1;
    while (at < argc && take_early(args, argv[at]))
        at++;
    if (at == argc)
        return YS_OK;
    if (argv[at][0] == '-')
        return ys_fail(YS_EINVAL, "say what to do before %s: yardstick run STUDY.ys, or yardstick --help", argv[at]);
    const bool implied = is_file(argv[at]);
    args->verb = implied ? "run" : argv[at];
    const struct ys_verb *verb = ys_verb_find(args->verb);
    if (!verb)
        return ys_verb_unknown(args->verb);
    at -= implied;
    return split_rest(&(struct split){args, verb, argc - at, argv + at});
}

ys_status ys_args_parse(int argc, char **argv, struct ys_args *args)
{
    *args = (struct ys_args){
        .verb = "",
        .words = ys_alloc((size_t)argc + 1, sizeof *args->words),
        .recipe_dirs = ys_alloc((size_t)argc + 1, sizeof *args->recipe_dirs),
        .rules = ys_alloc((size_t)argc + 1, sizeof *args->rules),
        .command = command_line(argc, argv),
    };
    return split_all(argc, argv, args);
}

void ys_args_fini(struct ys_args *args)
{
    ys_free(args->words);
    ys_job_flags_fini(&args->flags);
    ys_free(args->recipe_dirs);
    ys_free(args->rules);
    ys_free(args->command);
    *args = (struct ys_args){0};
}
