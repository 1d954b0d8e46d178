#include "cli/completion.h"

#include "cli/verb.h"
#include "data/dataset.h"
#include "graph/model.h"
#include "job/optimizer.h"
#include "job/option.h"
#include "job/schedule.h"
#include "job/value_form.h"
#include "metric/metric.h"

#include <string.h>

/* What stands after a flag or a key: models may be files too, data folders. */
enum after {
    AFTER_NOTHING,
    AFTER_TEXT,
    AFTER_FILE,
    AFTER_FOLDER,
    AFTER_FRAMEWORK,
    AFTER_MODEL,
    AFTER_DATA,
    AFTER_METRIC,
    AFTER_KEY,
    AFTER_OPTIMIZER,
    AFTER_SCHEDULE,
    AFTER_VERB,
    AFTER_WORDS
};

/* A flag of a verb, or a key that it takes as one. */
struct item {
    const char *name, *value, *help, *words; /* words: separated by blanks or bars; NULL */
    enum after after;
};

/* What stands behind the first word of a verb, and behind any other of it. */
static const struct follower {
    const char *verb, *word;
    enum after after;
} followers[] = {
    {"list", "frameworks", AFTER_FRAMEWORK},
    {"list", "models", AFTER_MODEL},
    {"list", "datasets", AFTER_DATA},
    {"list", "metrics", AFTER_METRIC},
    {"list", "keys", AFTER_KEY},
    {"list", "knobs", AFTER_FRAMEWORK},
    {"data", "fetch", AFTER_DATA},
    {"results", "import", AFTER_FILE},
    {"help", "", AFTER_VERB},
    {NULL},
};

#define MODEL_ENDINGS  ".json .onnx"
#define EXPORT_ENDINGS ".jsonl"

/* Files that a verb reads by their name alone; those of others are studies' names. */
static const struct file_reader {
    const char *verb, *endings;
} readers[] = {
    {"run", ".ys"},
    {"size", ".ys"},
    {"check", ".ys"},
    {"verify", ".ys"},
    {"bisect", ".ys"},
    {"tune", ".ys"},
    {"init", ".ys"},
    {"gate", EXPORT_ENDINGS " .ys"},
    {"compare", EXPORT_ENDINGS},
    {"import", ".onnx"},
    {NULL},
};

static const char *endings_of(const struct ys_verb *verb)
{
    for (const struct file_reader *reader = readers; reader->verb; reader++)
        if (strcmp(reader->verb, verb->name) == 0)
            return reader->endings;
    return "";
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

static struct item item_of_flag(const struct ys_verb *verb, const struct ys_flag *flag)
{
    struct item item = {flag->name, flag->value, flag->help, NULL, AFTER_TEXT};
    if (flag->kind == YS_FLAG_SWITCH)
        item.after = AFTER_NOTHING;
    else if (flag->kind == YS_FLAG_FORMAT)
        item = (struct item){flag->name, "FORMAT", flag->help, verb->formats, AFTER_WORDS};
    else if (flag->kind == YS_FLAG_WORD)
        item = (struct item){flag->name, flag->value, flag->help, flag->value, AFTER_WORDS};
    else if (flag->kind == YS_FLAG_DIRS || strcmp(flag->value, "DIR") == 0)
        item.after = AFTER_FOLDER;
    else if (strcmp(flag->value, "FILE") == 0 || strcmp(flag->value, "PLACE") == 0 ||
             strcmp(flag->value, "PROGRAM") == 0)
        item.after = AFTER_FILE;
    else if (ends_with(flag->value, "@VERSION") || strcmp(flag->name, "check") == 0)
        item.after = AFTER_FRAMEWORK;
    else if (strcmp(flag->name, "model") == 0)
        item.after = AFTER_MODEL;
    else if (strcmp(flag->name, "data") == 0)
        item.after = AFTER_DATA;
    else if (strcmp(flag->name, "metric") == 0)
        item.after = AFTER_METRIC;
    return item;
}

static struct item item_of_key(const struct ys_option *option)
{
    struct item item = {option->name, "VALUE", option->help, NULL, AFTER_TEXT};
    if (option->type == YS_OPTION_WORD && option->choices)
        item = (struct item){option->name, "VALUE", option->help, option->choices, AFTER_WORDS};
    else if (option->type == YS_OPTION_BOOL)
        item = (struct item){option->name, "VALUE", option->help, "on|off", AFTER_WORDS};
    else if (option->type == YS_OPTION_FRAMEWORK)
        item.after = AFTER_FRAMEWORK;
    else if (option->type == YS_OPTION_MODEL)
        item.after = AFTER_MODEL;
    else if (option->type == YS_OPTION_DATA)
        item.after = AFTER_DATA;
    else if (option->type == YS_OPTION_OPTIMIZER)
        item.after = AFTER_OPTIMIZER;
    else if (option->type == YS_OPTION_SCHEDULE)
        item.after = AFTER_SCHEDULE;
    else if (strcmp(option->name, "results") == 0)
        item.after = AFTER_FOLDER;
    else if (option->type == YS_OPTION_HOSTS)
        item.after = AFTER_FILE;
    return item;
}

/* Patterns such as env.NAME are no names that could be completed. */
static bool is_flag_key(const struct ys_option *option)
{
    return !option->file_only && option->type != YS_OPTION_ENV && option->type != YS_OPTION_OPT;
}

/* Calls `put` for everything that may follow the verb with two dashes. */
static void each_item(const struct ys_verb *verb, struct ys_buf *out,
                      void (*put)(struct ys_buf *out, const struct ys_verb *verb, const struct item *item))
{
    for (const struct ys_flag *flag = ys_flags(); flag->name; flag++) {
        const struct item item = item_of_flag(verb, flag);
        if (ys_verb_flag(verb, flag->name, strlen(flag->name)) == flag)
            put(out, verb, &item);
    }
    for (const struct ys_option *option = ys_options(); verb->keys == YS_VERB_ALL_KEYS && option->name; option++) {
        const struct item item = item_of_key(option);
        if (is_flag_key(option) && !ys_verb_flag(verb, option->name, strlen(option->name)))
            put(out, verb, &item);
    }
}

static bool takes_framework(const struct ys_verb *verb)
{
    return strncmp(verb->usage, "NAME[@VERSION]", 14) == 0;
}

static bool takes_selector(const struct ys_verb *verb)
{
    return strstr(verb->usage, "SELECTOR") || strstr(verb->usage, "BASE");
}

/* Words that stand in the usage themselves, as "frameworks|models|datasets" does. */
static void put_own_words(struct ys_buf *out, const struct ys_verb *verb)
{
    const size_t length = strspn(verb->usage, "abcdefghijklmnopqrstuvwxyz|-");
    for (size_t i = 0; i < length; i++)
        ys_buf_printf(out, "%c", verb->usage[i] == '|' ? ' ' : verb->usage[i]);
}

/* Words with blanks between. */
static void put_words(struct ys_buf *out, const char *words)
{
    for (const char *at = words; *at; at++)
        ys_buf_printf(out, "%c", *at == '|' ? ' ' : *at);
}

/* The kinds of names, each a function of the shells: _yardstick_models prints or offers models. */
static const char *const kinds[] = {
    [AFTER_FRAMEWORK] = "frameworks", [AFTER_MODEL] = "models", [AFTER_DATA] = "datasets",
    [AFTER_METRIC] = "metrics",       [AFTER_KEY] = "keys",     [AFTER_OPTIMIZER] = "optimizers",
    [AFTER_SCHEDULE] = "schedules",   [AFTER_VERB] = "verbs"};

/* The names of a kind with blanks between; frameworks, which a recipe adds, are asked for when they are wanted. */
static void put_names(struct ys_buf *out, enum after after)
{
    const struct ys_model *const models[] = {ys_models(), ys_models_more()};
    size_t count = 0;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    for (size_t i = 0; after == AFTER_MODEL && i < sizeof models / sizeof models[0]; i++)
        for (const struct ys_model *model = models[i]; model->name; model++)
            ys_buf_printf(out, " %s", model->name);
    for (const struct ys_data_source *source = ys_data_sources(); after == AFTER_DATA && source->name; source++)
        ys_buf_printf(out, " %s", source->name);
    for (size_t i = 0; after == AFTER_METRIC && i < count; i++)
        ys_buf_printf(out, " %s", infos[i].name);
    const struct ys_form *form = after == AFTER_OPTIMIZER  ? ys_job_optimizers()
                                 : after == AFTER_SCHEDULE ? ys_schedules()
                                                           : NULL;
    for (; form && form->name; form++)
        if (form->count == 0) /* brackets mean something to a shell */
            ys_buf_printf(out, " %s", form->name);
    for (const struct ys_option *option = ys_options(); after == AFTER_KEY && option->name; option++)
        ys_buf_printf(out, " %s", option->name);
    for (const struct ys_verb *verb = ys_verbs(); after == AFTER_VERB && verb->name; verb++)
        ys_buf_printf(out, " %s", verb->name);
}

/* A function of a shell for each kind whose names are known here: what stands before its name, and around the names. */
static void put_name_functions(struct ys_buf *out, const char *head, const char *begin, const char *end)
{
    for (enum after after = AFTER_MODEL; after < AFTER_WORDS; after++) {
        ys_buf_printf(out, "%s%s%s", head, kinds[after], begin);
        put_names(out, after);
        ys_buf_puts(out, end);
    }
}

/* Nothing that a shell would read as its own: compgen expands what it is given. */
#define LIST_FRAMEWORKS                                                                                                \
    "yardstick list frameworks --format=json 2>/dev/null | sed -n 's/.*\"spec\": \"\\([A-Za-z0-9._@+-]*\\)\".*/\\1/p'"
#define LIST_STUDIES "ls yardstick-results 2>/dev/null | sed -n 's/^\\([0-9][0-9]*-[A-Za-z0-9._+-]*\\)$/\\1/p'"

/* ---- bash */

static void put_bash_flag(struct ys_buf *out, const struct ys_verb *verb, const struct item *item)
{
    (void)verb;
    ys_buf_printf(out, " --%s%s", item->name, item->after == AFTER_NOTHING ? "" : "=");
}

/* What sets `values`, `kind` and `endings`, by which names and files are offered. */
static void put_bash_kind(struct ys_buf *out, enum after after, const char *words)
{
    if (after == AFTER_WORDS) {
        ys_buf_puts(out, "values='");
        put_words(out, words);
        ys_buf_puts(out, "'");
    } else if (kinds[after]) {
        ys_buf_printf(out, "values=$(_yardstick_%s)", kinds[after]);
    }
    ys_buf_puts(out, after == AFTER_FILE                            ? "kind=-f"
                     : after == AFTER_MODEL                         ? " endings='" MODEL_ENDINGS "'"
                     : after == AFTER_FOLDER || after == AFTER_DATA ? " kind=-d"
                                                                    : "");
    ys_buf_puts(out, " ;;\n");
}

static void put_bash_value(struct ys_buf *out, const struct ys_verb *verb, const struct item *item)
{
    if (item->after == AFTER_NOTHING || item->after == AFTER_TEXT)
        return;
    ys_buf_printf(out, "    %s--%s) ", verb->name, item->name);
    put_bash_kind(out, item->after, item->words);
}

static void put_bash_verb(struct ys_buf *out, const struct ys_verb *verb)
{
    ys_buf_printf(out, "    %s)\n      flags='", verb->name);
    each_item(verb, out, put_bash_flag);
    ys_buf_puts(out, "'\n      values=\"");
    put_own_words(out, verb);
    ys_buf_puts(out, takes_framework(verb)  ? " all $(_yardstick_frameworks)"
                     : takes_selector(verb) ? " last $(_yardstick_studies)"
                                            : "");
    ys_buf_printf(out, "\" endings='%s' ;;\n", endings_of(verb));
}

static void put_bash_functions(struct ys_buf *out)
{
    ys_buf_puts(out, "# bash completion of yardstick, made by `yardstick completion bash`\n\n"
                     "_yardstick_frameworks() { " LIST_FRAMEWORKS "; }\n"
                     "_yardstick_studies() { " LIST_STUDIES "; }\n");
    put_name_functions(out, "_yardstick_", "() { echo", "; }\n");
    ys_buf_puts(out, "\n# What begins as $1 does: of a list its last word, by the words $2; files by the kind $3 or "
                     "the endings $4.\n"
                     "_yardstick_offer() {\n"
                     "  local last=\"${1##*[,\\{]}\" ending\n"
                     "  COMPREPLY=($(compgen -P \"${1%\"$last\"}\" -W \"$2\" -- \"$last\"))\n"
                     "  [ -n \"$3\" ] && COMPREPLY+=($(compgen $3 -- \"$1\"))\n"
                     "  for ending in $4; do\n"
                     "    COMPREPLY+=($(compgen -f -X \"!*$ending\" -- \"$1\"))\n"
                     "  done\n"
                     "  [ -n \"$4\" ] && COMPREPLY+=($(compgen -d -- \"$1\"))\n"
                     "  [ -n \"$3$4\" ] && [ \"$1\" = \"$last\" ] && compopt -o filenames\n"
                     "}\n");
}

void ys_completion_bash(struct ys_buf *out)
{
    put_bash_functions(out);
    ys_buf_puts(out, "\n_yardstick() {\n"
                     "  local line=\"${COMP_LINE:0:COMP_POINT}\" verb= first= word flags= values= kind= endings=\n"
                     "  local current=\"${line##*[[:space:]]}\"\n"
                     "  for word in ${line%\"$current\"}; do\n"
                     "    case $word in\n"
                     "    *yardstick | -*) ;;\n"
                     "    *) if [ -n \"$verb\" ]; then first=${first:-$word}; else\n"
                     "      case $word in *.ys | */*) verb=run ;; *) verb=$word ;; esac; fi ;;\n"
                     "    esac\n"
                     "  done\n"
                     "  if [ -z \"$verb\" ]; then\n"
                     "    _yardstick_offer \"$current\" \"$(_yardstick_verbs) --help --version\" \"\" .ys\n"
                     "    return\n"
                     "  fi\n"
                     "  case $current in\n"
                     "  --*=*)\n"
                     "    case $verb${current%%=*} in\n");
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++)
        each_item(verb, out, put_bash_value);
    ys_buf_puts(out, "    esac\n"
                     "    _yardstick_offer \"${current#*=}\" \"$values\" \"$kind\" \"$endings\"\n"
                     "    return ;;\n"
                     "  esac\n"
                     "  case $verb in\n");
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++)
        put_bash_verb(out, verb);
    ys_buf_puts(out, "  esac\n"
                     "  case $verb/$first in\n");
    for (const struct follower *follower = followers; follower->verb; follower++) {
        ys_buf_printf(out, "    %s/%s) values=", follower->verb, follower->word);
        if (kinds[follower->after])
            ys_buf_printf(out, "$(_yardstick_%s) ;;\n", kinds[follower->after]);
        else
            ys_buf_puts(out, " endings='" EXPORT_ENDINGS "' ;;\n");
    }
    ys_buf_puts(out, "  esac\n"
                     "  case $current in\n"
                     "  -*)\n"
                     "    COMPREPLY=($(compgen -W \"$flags\" -- \"$current\"))\n"
                     "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace ;;\n"
                     "  *) _yardstick_offer \"$current\" \"$values\" \"\" \"$endings\" ;;\n"
                     "  esac\n"
                     "}\n\n"
                     "complete -F _yardstick yardstick\n");
}

/* ---- zsh */

/* In single quotes, where brackets and colons mean something. */
static void put_zsh_text(struct ys_buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            ys_buf_puts(out, "'\\''");
        else
            ys_buf_printf(out, strchr("[]:\\", *text) ? "\\%c" : "%c", *text);
    }
}

/* Files of these endings: "*.(jsonl|ys)". */
static void put_zsh_files(struct ys_buf *out, const char *endings)
{
    ys_buf_puts(out, "_files -g \"*.(");
    for (const char *at = endings; *at; at++)
        ys_buf_printf(out, "%s", *at == ' ' ? "|" : *at == '.' ? "" : (const char[]){*at, 0});
    ys_buf_puts(out, ")(-.)\"");
}

/* The action that completes a word. */
static void put_zsh_kind(struct ys_buf *out, enum after after, const char *words)
{
    if (after == AFTER_WORDS) {
        ys_buf_puts(out, "(");
        put_words(out, words);
        ys_buf_puts(out, ")");
    } else if (after == AFTER_MODEL) {
        ys_buf_printf(out, "{_yardstick_%s; ", kinds[after]);
        put_zsh_files(out, MODEL_ENDINGS);
        ys_buf_puts(out, "}");
    } else if (after == AFTER_DATA) {
        ys_buf_printf(out, "{_yardstick_%s; _files -/}", kinds[after]);
    } else if (kinds[after]) {
        ys_buf_printf(out, "_yardstick_%s", kinds[after]);
    } else {
        ys_buf_puts(out, after == AFTER_FILE ? "_files" : after == AFTER_FOLDER ? "_files -/" : "");
    }
}

static void put_zsh_item(struct ys_buf *out, const struct ys_verb *verb, const struct item *item)
{
    (void)verb;
    ys_buf_printf(out, " \\\n      '%s--%s%s[", item->after == AFTER_NOTHING ? "" : "*", item->name,
                  item->after == AFTER_NOTHING ? "" : "=");
    put_zsh_text(out, item->help);
    ys_buf_puts(out, "]");
    if (item->after != AFTER_NOTHING) {
        ys_buf_puts(out, ":");
        put_zsh_text(out, item->value ? item->value : "VALUE");
        ys_buf_puts(out, ":");
        put_zsh_kind(out, item->after, item->words);
    }
    ys_buf_puts(out, "'");
}

static bool has_followers(const struct ys_verb *verb)
{
    for (const struct follower *follower = followers; follower->verb; follower++)
        if (strcmp(follower->verb, verb->name) == 0)
            return true;
    return false;
}

static void put_zsh_verb(struct ys_buf *out, const struct ys_verb *verb)
{
    const char *endings = endings_of(verb);
    ys_buf_printf(out, "  %s)\n    _arguments", verb->name);
    each_item(verb, out, put_zsh_item);
    if (has_followers(verb)) {
        ys_buf_puts(out, " $rest ;;\n");
        return;
    }
    ys_buf_puts(out, " \\\n      '*:word:");
    if (takes_framework(verb)) {
        ys_buf_puts(out, "{compadd all; _yardstick_frameworks}");
    } else if (takes_selector(verb) || *endings) {
        ys_buf_printf(out, "{%s", takes_selector(verb) ? "_yardstick_studies; " : "");
        if (*endings)
            put_zsh_files(out, endings);
        ys_buf_puts(out, "}");
    } else {
        ys_buf_puts(out, "(");
        put_own_words(out, verb);
        ys_buf_puts(out, ")");
    }
    ys_buf_puts(out, "' ;;\n");
}

/* `rest`: what stands behind the flags of verbs whose words follow one another. */
static void put_zsh_followers(struct ys_buf *out)
{
    ys_buf_puts(out, "  local -a rest\n  case $verb/$words[3] in\n");
    for (const struct follower *follower = followers; follower->verb; follower++) {
        ys_buf_printf(out, "  %s/%s) rest=('*:word:", follower->verb, *follower->word ? follower->word : "*");
        if (kinds[follower->after])
            ys_buf_printf(out, "_yardstick_%s", kinds[follower->after]);
        else
            put_zsh_files(out, EXPORT_ENDINGS);
        ys_buf_puts(out, "') ;;\n");
    }
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++) {
        if (!has_followers(verb))
            continue;
        ys_buf_printf(out, "  %s/*) rest=('*:word:(", verb->name);
        put_own_words(out, verb);
        ys_buf_puts(out, ")') ;;\n");
    }
    ys_buf_puts(out, "  esac\n");
}

void ys_completion_zsh(struct ys_buf *out)
{
    ys_buf_puts(out, "#compdef yardstick\n# zsh completion of yardstick, made by `yardstick completion zsh`\n\n"
                     "_yardstick_frameworks() { local -a names; names=(${(f)\"$(" LIST_FRAMEWORKS
                     ")\"}); compset -P '*[,{]'; compadd -a names }\n"
                     "_yardstick_studies() { local -a names; names=(last ${(f)\"$(" LIST_STUDIES
                     ")\"}); compadd -a names }\n");
    put_name_functions(out, "_yardstick_", "() { compset -P '*[,{]'; compadd --", " }\n");
    ys_buf_puts(out, "\n_yardstick() {\n"
                     "  local -a verbs\n"
                     "  verbs=(");
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++) {
        ys_buf_printf(out, "\n    '%s:", verb->name);
        put_zsh_text(out, verb->help);
        ys_buf_puts(out, "'");
    }
    ys_buf_puts(out, ")\n"
                     "  if (( CURRENT == 2 )); then\n"
                     "    _describe verb verbs\n"
                     "    _files -g '*.ys'\n"
                     "    return\n"
                     "  fi\n"
                     "  local verb=$words[2]\n"
                     "  [[ $verb == *.ys || $verb == */* ]] && verb=run\n");
    put_zsh_followers(out);
    ys_buf_puts(out, "  case $verb in\n");
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++)
        put_zsh_verb(out, verb);
    ys_buf_puts(out, "  esac\n}\n\n_yardstick \"$@\"\n");
}

/* ---- fish */

/* In single quotes. */
static void put_fish_text(struct ys_buf *out, const char *text)
{
    ys_buf_puts(out, "'");
    for (; *text; text++)
        ys_buf_printf(out, strchr("'\\", *text) ? "\\%c" : "%c", *text);
    ys_buf_puts(out, "'");
}

static void put_fish_endings(struct ys_buf *out, const char *endings)
{
    ys_buf_printf(out, " (__yardstick_files %s)", endings);
}

/* A substitution of a kind's names, and the files that it may name as well. */
static void put_fish_kind(struct ys_buf *out, enum after after, const char *words)
{
    if (after == AFTER_WORDS)
        put_words(out, words);
    else if (kinds[after])
        ys_buf_printf(out, "(__yardstick_list (__yardstick_%s))", kinds[after]);
    if (after == AFTER_FOLDER || after == AFTER_DATA)
        ys_buf_puts(out, " (__yardstick_files)");
    else if (after == AFTER_MODEL)
        put_fish_endings(out, MODEL_ENDINGS);
}

static void put_fish_item(struct ys_buf *out, const struct ys_verb *verb, const struct item *item)
{
    ys_buf_printf(out, "complete -c yardstick -n '__yardstick_verb %s' -l %s", verb->name, item->name);
    ys_buf_puts(out, item->after == AFTER_NOTHING ? "" : item->after == AFTER_FILE ? " -rF" : " -x");
    if (item->after != AFTER_NOTHING && item->after != AFTER_TEXT && item->after != AFTER_FILE) {
        ys_buf_puts(out, " -a '");
        put_fish_kind(out, item->after, item->words);
        ys_buf_puts(out, "'");
    }
    ys_buf_puts(out, " -d ");
    put_fish_text(out, item->help);
    ys_buf_puts(out, "\n");
}

static void put_fish_verb(struct ys_buf *out, const struct ys_verb *verb)
{
    ys_buf_printf(out, "\ncomplete -c yardstick -n '__yardstick_verb' -a %s -d ", verb->name);
    put_fish_text(out, verb->help);
    ys_buf_puts(out, "\n");
    each_item(verb, out, put_fish_item);
    ys_buf_printf(out, "complete -c yardstick -n '__yardstick_verb %s%s' -a '", verb->name,
                  has_followers(verb) ? " \"\"" : "");
    put_own_words(out, verb);
    ys_buf_puts(out, takes_framework(verb)  ? "all (__yardstick_frameworks)"
                     : takes_selector(verb) ? "last (__yardstick_studies)"
                                            : "");
    if (*endings_of(verb))
        put_fish_endings(out, endings_of(verb));
    ys_buf_puts(out, "'\n");
}

static void put_fish_followers(struct ys_buf *out)
{
    for (const struct follower *follower = followers; follower->verb; follower++) {
        ys_buf_printf(out, "complete -c yardstick -n '__yardstick_verb %s \"%s\"'", follower->verb, follower->word);
        ys_buf_puts(out, " -a '");
        if (kinds[follower->after])
            ys_buf_printf(out, "(__yardstick_%s)", kinds[follower->after]);
        else
            put_fish_endings(out, EXPORT_ENDINGS);
        ys_buf_puts(out, "'\n");
    }
}

void ys_completion_fish(struct ys_buf *out)
{
    ys_buf_puts(out,
                "# fish completion of yardstick, made by `yardstick completion fish`\n\n"
                "function __yardstick_frameworks\n    " LIST_FRAMEWORKS "\nend\n\n"
                "function __yardstick_studies\n    " LIST_STUDIES "\nend\n\n"
                "# Whether the line has that verb, a file being one of `run`, and that first word behind it;\n"
                "# without a word, none yet.\n"
                "function __yardstick_verb\n"
                "    set -l words (commandline -opc)\n"
                "    set -l verb $words[2]\n"
                "    string match -qr '\\.ys$|/' -- \"$verb\"; and set verb run\n"
                "    test \"$verb\" = \"$argv[1]\"; or return 1\n"
                "    test (count $argv) -lt 2; or test \"$words[3]\" = \"$argv[2]\"\n"
                "end\n\n"
                "# The names, each behind what a list has before its last comma.\n"
                "function __yardstick_list\n"
                "    set -l before (string replace -r '^--[^=]*=' '' -- (commandline -ct) | string match -r '^.*,')\n"
                "    printf \"$before%s\\n\" $argv\n"
                "end\n\n"
                "# Files of these endings, and folders.\n"
                "function __yardstick_files\n"
                "    set -l begun (string replace -r '^--[^=]*=' '' -- (commandline -ct))\n"
                "    for ending in $argv\n"
                "        for file in $begun*$ending\n"
                "            printf '%s\\n' $file\n"
                "        end\n"
                "    end\n"
                "    for folder in $begun*/\n"
                "        printf '%s\\n' $folder\n"
                "    end\n"
                "end\n");
    put_name_functions(out, "\nfunction __yardstick_", "\n    printf '%s\\n'", "\nend\n");
    ys_buf_puts(out, "\ncomplete -c yardstick -f\n"
                     "complete -c yardstick -n '__yardstick_verb' -a '(__yardstick_files .ys)'\n");
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++)
        put_fish_verb(out, verb);
    put_fish_followers(out);
}
