/* The verbs and their flags, once: parsing, help and errors all read these two tables (verb_table.c).
 *
 * To add a flag, add its field to struct ys_args and its line to the table. */
#ifndef YS_CLI_VERB_H
#define YS_CLI_VERB_H

#include "base/buf.h"
#include "cli/args.h"

/* Which keys of a job a verb takes as flags. */
enum ys_verb_keys {
    YS_VERB_NO_KEYS,
    YS_VERB_OPTIONS, /* opt.* and env.* */
    YS_VERB_ALL_KEYS,
};

struct ys_verb {
    const char *name, *usage; /* `usage`: the words after the name */
    const char *help;
    int most_words;      /* -1: any number */
    const char *formats; /* what it can print: "table json"; NULL: it has no --format */
    enum ys_verb_keys keys;
    int (*run)(const struct ys_args *args);
    const char *examples[2]; /* what may follow "yardstick" */
};

enum ys_flag_kind {
    YS_FLAG_SWITCH, /* its field is a bool */
    YS_FLAG_TEXT,   /* a const char *, never empty */
    YS_FLAG_WORD,   /* the same, one of the words of its `value`: "f32|f64" */
    YS_FLAG_TEXTS,  /* a const char ** ended by NULL, none empty; may be given several times */
    YS_FLAG_DIRS,   /* a const char ** ended by NULL, each a folder; may be given several times */
    YS_FLAG_FORMAT, /* one of the verb's formats; a flag of the verbs that have some */
};

struct ys_flag {
    const char *name;  /* without dashes */
    const char *value; /* what stands for the value in the help: "DIR"; NULL: a switch takes none */
    const char *verbs; /* those that have it: "show report"; NULL: all. A name may have a line for each meaning */
    const char *help;
    enum ys_flag_kind kind;
    size_t field; /* offset in struct ys_args */
    char letter;  /* of a switch that all verbs have: -q; 0 */
};

/** Ended by a NULL name. */
const struct ys_verb *ys_verbs(void);
const struct ys_flag *ys_flags(void);

/** NULL when there is none. */
const struct ys_verb *ys_verb_find(const char *name);
/** The flag `name` (`length` bytes) of the verb, NULL when it has none. */
const struct ys_flag *ys_verb_flag(const struct ys_verb *verb, const char *name, size_t length);
/** Whether `words` ("show report") has `word`. */
bool ys_verb_has_word(const char *words, const char *word);

/** The help of one verb, or with NULL that of the program. Appended. */
void ys_verb_help(const struct ys_verb *verb, struct ys_buf *out);
/** What to begin with, ten lines. Appended. */
void ys_verb_first_steps(struct ys_buf *out);
/** YS_EINVAL that names the verb nearest to `name`. */
ys_status ys_verb_unknown(const char *name);
/** YS_EINVAL for a flag `name` that the verb does not have: whose it is, or the nearest that the verb has. */
ys_status ys_verb_unknown_flag(const struct ys_verb *verb, const char *name);
/** YS_EINVAL for a format that the verb cannot print: those that it can, and who prints this one. */
ys_status ys_verb_unknown_format(const struct ys_verb *verb, const char *format);

#endif
