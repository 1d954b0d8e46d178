#include "cli/completion.h"

#include "cli/verb.h"
#include "job/option.h"

#include <string.h>

/* What stands after a flag or a key. */
enum after { AFTER_NOTHING, AFTER_TEXT, AFTER_FILE, AFTER_FOLDER, AFTER_FRAMEWORK, AFTER_WORDS };

/* A flag of a verb, or a key that it takes as one. */
struct item {
    const char *name, *value, *help, *words; /* words: separated by blanks or bars; NULL */
    enum after after;
};

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
    else if (option->type == YS_OPTION_PATH || option->type == YS_OPTION_MODEL || option->type == YS_OPTION_DATA ||
             option->type == YS_OPTION_HOSTS)
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

static bool takes_study(const struct ys_verb *verb)
{
    return strncmp(verb->usage, "[STUDY.ys", 9) == 0 || strncmp(verb->usage, "FILE", 4) == 0;
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

static void put_bash_value(struct ys_buf *out, const struct ys_verb *verb, const struct item *item)
{
    if (item->after == AFTER_NOTHING || item->after == AFTER_TEXT)
        return;
    ys_buf_printf(out, "    %s--%s) ", verb->name, item->name);
    if (item->after == AFTER_WORDS) {
        ys_buf_puts(out, "values='");
        put_words(out, item->words);
        ys_buf_puts(out, "'");
    } else {
        ys_buf_puts(out, item->after == AFTER_FRAMEWORK ? "values=$(_yardstick_frameworks)"
                         : item->after == AFTER_FOLDER  ? "kind=-d"
                                                        : "kind=-f");
    }
    ys_buf_puts(out, " ;;\n");
}

static void put_bash_verb(struct ys_buf *out, const struct ys_verb *verb)
{
    ys_buf_printf(out, "    %s)\n      flags='", verb->name);
    each_item(verb, out, put_bash_flag);
    ys_buf_puts(out, "'\n      words=\"");
    put_own_words(out, verb);
    ys_buf_puts(out, takes_framework(verb)  ? " all $(_yardstick_frameworks)"
                     : takes_selector(verb) ? " last $(_yardstick_studies)"
                                            : "");
    ys_buf_puts(out, "\" ;;\n");
}

void ys_completion_bash(struct ys_buf *out)
{
    ys_buf_puts(
        out, "# bash completion of yardstick, made by `yardstick completion bash`\n\n"
             "_yardstick_frameworks() { " LIST_FRAMEWORKS "; }\n"
             "_yardstick_studies() { " LIST_STUDIES "; }\n\n"
             "_yardstick() {\n"
             "  local line=\"${COMP_LINE:0:COMP_POINT}\" verb= word flags= words= values= kind=\n"
             "  local current=\"${line##*[[:space:]]}\"\n"
             "  for word in ${line%\"$current\"}; do\n"
             "    case $word in *yardstick | -*) ;; *.ys | */*) verb=${verb:-run} ;; *) verb=${verb:-$word} ;; esac\n"
             "  done\n"
             "  if [ -z \"$verb\" ]; then\n"
             "    COMPREPLY=($(compgen -W '");
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++)
        ys_buf_printf(out, "%s ", verb->name);
    ys_buf_puts(out, "--help --version' -- \"$current\") $(compgen -f -X '!*.ys' -- \"$current\"))\n"
                     "    return\n"
                     "  fi\n"
                     "  case $current in\n"
                     "  --*=*)\n"
                     "    case $verb${current%%=*} in\n");
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++)
        each_item(verb, out, put_bash_value);
    ys_buf_puts(out, "    esac\n"
                     "    current=${current#*=}\n"
                     "    COMPREPLY=($(compgen ${kind:--W \"$values\"} -- \"${current##*[,\\{]}\"))\n"
                     "    return ;;\n"
                     "  esac\n"
                     "  case $verb in\n");
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++)
        put_bash_verb(out, verb);
    ys_buf_puts(out, "  esac\n"
                     "  case $current in\n"
                     "  -*)\n"
                     "    COMPREPLY=($(compgen -W \"$flags\" -- \"$current\"))\n"
                     "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace ;;\n"
                     "  *) COMPREPLY=($(compgen -W \"$words\" -- \"$current\") $(compgen -f -- \"$current\")) ;;\n"
                     "  esac\n"
                     "}\n\n"
                     "complete -o filenames -F _yardstick yardstick\n");
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
        ys_buf_puts(out, item->after == AFTER_FILE        ? ":_files"
                         : item->after == AFTER_FOLDER    ? ":_files -/"
                         : item->after == AFTER_FRAMEWORK ? ":_yardstick_frameworks"
                         : item->after == AFTER_WORDS     ? ":("
                                                          : ":");
        if (item->after == AFTER_WORDS) {
            put_words(out, item->words);
            ys_buf_puts(out, ")");
        }
    }
    ys_buf_puts(out, "'");
}

static void put_zsh_verb(struct ys_buf *out, const struct ys_verb *verb)
{
    ys_buf_printf(out, "  %s)\n    _arguments", verb->name);
    each_item(verb, out, put_zsh_item);
    if (takes_selector(verb))
        ys_buf_puts(out, " \\\n      '*:study:_yardstick_studies' ;;\n");
    else if (takes_framework(verb))
        ys_buf_puts(out, " \\\n      '*:framework:_yardstick_frameworks' ;;\n");
    else if (takes_study(verb)) {
        ys_buf_puts(out, " \\\n      '*:study:_files' ;;\n");
    } else {
        ys_buf_puts(out, " \\\n      '*:word:(");
        put_own_words(out, verb);
        ys_buf_puts(out, ")' ;;\n");
    }
}

void ys_completion_zsh(struct ys_buf *out)
{
    ys_buf_puts(out, "#compdef yardstick\n# zsh completion of yardstick, made by `yardstick completion zsh`\n\n"
                     "_yardstick_frameworks() { local -a names; names=(all ${(f)\"$(" LIST_FRAMEWORKS
                     ")\"}); compadd -a names }\n"
                     "_yardstick_studies() { local -a names; names=(last ${(f)\"$(" LIST_STUDIES
                     ")\"}); compadd -a names; _files }\n\n"
                     "_yardstick() {\n"
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
                     "  [[ $verb == *.ys || $verb == */* ]] && verb=run\n"
                     "  case $verb in\n");
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

static void put_fish_item(struct ys_buf *out, const struct ys_verb *verb, const struct item *item)
{
    ys_buf_printf(out, "complete -c yardstick -n '__yardstick_verb %s' -l %s", verb->name, item->name);
    if (item->after == AFTER_WORDS) {
        ys_buf_puts(out, " -xa '");
        put_words(out, item->words);
        ys_buf_puts(out, "'");
    } else if (item->after == AFTER_FRAMEWORK) {
        ys_buf_puts(out, " -xa '(__yardstick_frameworks)'");
    } else if (item->after != AFTER_NOTHING) {
        ys_buf_puts(out, item->after == AFTER_TEXT ? " -x" : " -r");
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
    ys_buf_printf(out, "complete -c yardstick -n '__yardstick_verb %s' -a '", verb->name);
    put_own_words(out, verb);
    ys_buf_puts(out, takes_framework(verb)  ? "all (__yardstick_frameworks)"
                     : takes_selector(verb) ? "last (__yardstick_studies)"
                                            : "");
    ys_buf_puts(out, "'\n");
}

void ys_completion_fish(struct ys_buf *out)
{
    ys_buf_puts(out, "# fish completion of yardstick, made by `yardstick completion fish`\n\n"
                     "function __yardstick_frameworks\n    " LIST_FRAMEWORKS "\nend\n\n"
                     "function __yardstick_studies\n    " LIST_STUDIES "\nend\n\n"
                     "# Whether the line has that verb, a file being one of `run`; without a word, none yet.\n"
                     "function __yardstick_verb\n"
                     "    set -l words (commandline -opc)\n"
                     "    set -l verb $words[2]\n"
                     "    string match -qr '\\.ys$|/' -- \"$verb\"; and set verb run\n"
                     "    test \"$verb\" = \"$argv[1]\"\n"
                     "end\n");
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++)
        put_fish_verb(out, verb);
}
