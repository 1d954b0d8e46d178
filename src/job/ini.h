/* The INI dialect of job files and recipes: what a line is. Which keys exist and what they mean is the reader's
 * business.
 *
 *     [name]            a section; [name : parent] names the section it inherits from
 *     key = value       blanks around both are dropped; a value is never empty
 *     key = "value"     taken as it stands, may be empty; \" and \\ stand for " and \
 *     ; text, # text    a comment: a whole line, or the rest of a line after a blank, but not inside "..."
 *     include = file    the lines of that file stand here; a relative path starts at the including file's folder
 *
 * Names of keys and sections are made of letters, digits, '_', '-' and '.'. UTF-8 without control characters; a byte
 * order mark and CR LF are accepted. After an include whose file opens a section, a key needs a section header of its
 * own first, so that no key lands in a section which its own file does not show.
 *
 * Limits: 1 MiB a file, 64 KiB a line, files 16 deep, 4 MiB in all. Every error is YS_EINVAL and begins with
 * "file:line:column: " (columns count characters from 1), except for a file that cannot be opened. */
#ifndef YS_JOB_INI_H
#define YS_JOB_INI_H

#include "base/buf.h"
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

struct ys_ini_place {
    const char *file; /* as it was named: the path given, or the folder of the including file joined with the include */
    int line, column; /* from 1; line 0: not a file (a flag, whose name `file` then is) */
};

struct ys_ini_section {
    const char *name;   /* "" for the lines before the first header */
    const char *parent; /* NULL when none is named */
    struct ys_ini_place place, parent_place;
};

struct ys_ini_entry {
    const char *key, *value;
    struct ys_ini_place place, value_place;
    size_t section; /* index into `sections` */
    bool quoted;    /* the whole value stood in quotes, and `value` is what was inside */
};

/* Everything is borrowed from here until ys_ini_fini(). */
struct ys_ini {
    struct ys_ini_section *sections; /* in order of their headers; [0] is the part before the first, even when empty */
    size_t section_count;
    struct ys_ini_entry *entries; /* in order */
    size_t entry_count;
    struct ys_buf
        text; /* the lines read, each include replaced by the lines of its file (between comments that name it) */
    struct ys_ini_memory *memory;
    bool is_stream; /* read from standard input or a pipe */
};

/** Reads a file with all it includes. YS_ENOTFOUND, YS_EIO: it cannot be opened. `ini` needs no initial value, and is
 * empty on failure. */
ys_status ys_ini_read(const char *path, struct ys_ini *ini) YS_MUST_CHECK;
/** The same for whatever can be read: pipes, and with NULL standard input, from which relative includes start at the
 * current folder. Files that are included may be pipes as well. */
ys_status ys_ini_read_any(const char *path, struct ys_ini *ini) YS_MUST_CHECK;
/** The same for `size` bytes of text, which errors call `name`. `folder` is where includes start; NULL refuses them. */
ys_status ys_ini_parse(const char *name, const char *text, size_t size, const char *folder,
                       struct ys_ini *ini) YS_MUST_CHECK;
void ys_ini_fini(struct ys_ini *ini);

/** Refuses a key that stands twice in one section, naming both lines. `repeatable` (NULL: none) is the key that may. */
ys_status ys_ini_check_unique(const struct ys_ini *ini, const char *repeatable) YS_MUST_CHECK;

/** Fails with YS_EINVAL and "file:line:column: " before the message. */
ys_status ys_ini_fail(const struct ys_ini_place *place, const char *format, ...) YS_PRINTF(2, 3);
/** Puts "file:line:column: " before the message already recorded; YS_EIO and YS_EINTERNAL stay what they
 * are, anything else becomes YS_EINVAL. */
ys_status ys_ini_fail_in(const struct ys_ini_place *place, ys_status status);

/** Whether `text` is UTF-8 without control characters other than tabs. */
bool ys_ini_is_text(const char *text, size_t length);

/** What stands between the quotes of `text`, which is `length` bytes and begins with '"', as a new string in *value.
 * YS_EINVAL when the closing quote is missing or something follows it. */
ys_status ys_ini_unquote(const char *text, size_t length, char **value) YS_MUST_CHECK;
/** Appends `text` in quotes. */
void ys_ini_put_quoted(struct ys_buf *out, const char *text);
/** Appends `text`, without control characters, as the value of a key has to be written so that reading gives it back
 * and no axis: in quotes where it needs them. */
void ys_ini_put_value(struct ys_buf *out, const char *text);

#endif
