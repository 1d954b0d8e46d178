#include "job/ini.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_LIMIT_BYTES  ((size_t)1 << 20)
#define TOTAL_LIMIT_BYTES ((size_t)4 << 20)
#define LINE_LIMIT_BYTES  ((size_t)64 << 10)
#define DEPTH_LIMIT       16
#define SHOWN             60 /* bytes of a line or value that an error quotes */

/* A string that lives as long as the struct ys_ini. */
struct ys_ini_memory {
    struct ys_ini_memory *next;
    char text[];
};

struct frame {
    const char *name, *folder; /* folder NULL: no includes */
    const char *path;          /* to read; NULL: standard input */
    struct stat identity;      /* all zero when it is not a file */
    const struct frame *outer;
    int depth, line;
    const char *opened_by; /* an included file that opened a section, when no header of this file followed it */
};

struct ini_reader {
    struct ys_ini *ini;
    size_t section_capacity, entry_capacity, total_bytes;
    bool any; /* reads pipes too */
};

/* One line: `text` is not ended by 0. */
struct ini_line {
    const struct frame *frame;
    const char *text;
    size_t length;
};

ys_status ys_ini_fail(const struct ys_ini_place *place, const char *format, ...)
{
    char message[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (place->line == 0)
        return ys_fail(YS_EINVAL, "%s: %s", place->file, message);
    return ys_fail(YS_EINVAL, "%s:%d:%d: %s", place->file, place->line, place->column, message);
}

ys_status ys_ini_fail_in(const struct ys_ini_place *place, ys_status status)
{
    if (status != YS_EIO && status != YS_EINTERNAL && status != YS_EINTR)
        status = YS_EINVAL;
    if (place->line == 0)
        return ys_fail_in(status, "%s", place->file);
    return ys_fail_in(status, "%s:%d:%d", place->file, place->line, place->column);
}

static char *keep(struct ys_ini *ini, const char *text, size_t length)
{
    struct ys_ini_memory *memory = ys_alloc(1, sizeof *memory + length + 1);
    memcpy(memory->text, text, length);
    memory->next = ini->memory;
    ini->memory = memory;
    return memory->text;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
              c == '.'))
            return false;
    }
    return length > 0;
}

/* Narrows [*from, *to) to what is between blanks. */
static void trim(const char *text, size_t *from, size_t *to)
{
    while (*from < *to && is_blank(text[*from]))
        ++*from;
    while (*to > *from && is_blank(text[*to - 1]))
        --*to;
}

static int shown(size_t length)
{
    return (int)(length < SHOWN ? length : SHOWN);
}

static struct ys_ini_place place_at(const struct ini_line *line, size_t offset)
{
    int column = 1;
    for (size_t i = 0; i < offset; i++)
        column += ((unsigned char)line->text[i] & 0xC0) != 0x80; /* continuation bytes of UTF-8 are no characters */
    return (struct ys_ini_place){line->frame->name, line->frame->line, column};
}

/* The offset of the first byte that may not stand in a file; `length` when there is none. */
static size_t first_bad(const char *text, size_t length)
{
    size_t at = 0, size;
    while (at < length && (size = ys_utf8_length(text + at, length - at)) > 0) {
        unsigned char c = (unsigned char)text[at];
        if ((c < 0x20 && c != '\t') || c == 0x7F)
            break;
        at += size;
    }
    return at;
}

bool ys_ini_is_text(const char *text, size_t length)
{
    return first_bad(text, length) == length;
}

static ys_status check_characters(const struct ini_line *line)
{
    size_t bad = first_bad(line->text, line->length);
    if (bad == line->length)
        return YS_OK;
    struct ys_ini_place place = place_at(line, bad);
    unsigned char c = (unsigned char)line->text[bad];
    if (c < 0x80)
        return ys_ini_fail(&place, "control character 0x%02x: only text, blanks and tabs may stand here", c);
    return ys_ini_fail(&place, "byte 0x%02x is not UTF-8 text: save the file as UTF-8", c);
}

/* The offset at which the line's content ends and its comment begins. */
static ys_status content_end(const struct ini_line *line, size_t from, size_t *end)
{
    size_t quote = SIZE_MAX; /* where the open quote is */
    for (size_t i = from; i < line->length; i++) {
        char c = line->text[i];
        if (c == '"')
            quote = quote == SIZE_MAX ? i : SIZE_MAX;
        else if (c == '\\' && quote != SIZE_MAX)
            i++;
        else if (quote == SIZE_MAX && (c == ';' || c == '#') && i > 0 && is_blank(line->text[i - 1])) {
            *end = i;
            return YS_OK;
        }
    }
    if (quote != SIZE_MAX) {
        struct ys_ini_place place = place_at(line, quote);
        return ys_ini_fail(&place, "this quote is never closed: add a \" at the end of the text");
    }
    *end = line->length;
    return YS_OK;
}

ys_status ys_ini_unquote(const char *text, size_t length, char **value)
{
    struct ys_buf out = {0};
    size_t i = 1;
    ys_buf_append(&out, "", 0);
    for (; i < length && text[i] != '"'; i++) {
        if (text[i] == '\\' && i + 1 < length && (text[i + 1] == '"' || text[i + 1] == '\\'))
            i++;
        ys_buf_append(&out, text + i, 1);
    }
    ys_status status = YS_OK;
    if (i >= length)
        status = ys_fail(YS_EINVAL, "%.*s has no closing quote", shown(length), text);
    else if (i + 1 < length)
        status = ys_fail(YS_EINVAL, "\"%.*s\" follows the closing quote: put all of the text inside the quotes",
                         shown(length - i - 1), text + i + 1);
    if (status == YS_OK)
        *value = ys_strdup(ys_buf_text(&out));
    ys_buf_free(&out);
    return status;
}

/* Quotes anywhere open one, a comment begins after a blank, braces make an axis, and blanks at the ends are lost. */
static bool needs_quotes(const char *text)
{
    const size_t length = strlen(text);
    bool comment = false;
    for (size_t i = 1; i < length; i++)
        comment |= (text[i] == ';' || text[i] == '#') && is_blank(text[i - 1]);
    return length == 0 || comment || is_blank(text[0]) || is_blank(text[length - 1]) || strchr("{;#", text[0]) ||
           strchr(text, '"') || strncmp(text, "zip(", 4) == 0;
}

void ys_ini_put_quoted(struct ys_buf *out, const char *text)
{
    ys_buf_puts(out, "\"");
    for (; *text; text++)
        ys_buf_printf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    ys_buf_puts(out, "\"");
}

void ys_ini_put_value(struct ys_buf *out, const char *text)
{
    if (!needs_quotes(text)) {
        ys_buf_puts(out, text);
        return;
    }
    ys_ini_put_quoted(out, text);
}

static void add_section(struct ini_reader *reader, struct ys_ini_section section)
{
    struct ys_ini *ini = reader->ini;
    ini->sections = ys_grown(ini->sections, ini->section_count, &reader->section_capacity, sizeof section);
    ini->sections[ini->section_count++] = section;
}

static void add_entry(struct ini_reader *reader, struct ys_ini_entry entry)
{
    struct ys_ini *ini = reader->ini;
    ini->entries = ys_grown(ini->entries, ini->entry_count, &reader->entry_capacity, sizeof entry);
    ini->entries[ini->entry_count++] = entry;
}

static ys_status read_header(struct ini_reader *reader, struct frame *frame, const struct ini_line *line, size_t from,
                             size_t to)
{
    const char *text = line->text;
    struct ys_ini_section section = {.place = place_at(line, from)};
    if (text[to - 1] != ']')
        return ys_ini_fail(&section.place, "\"%.*s\" has no closing bracket: write [name] or [name : parent]",
                           shown(to - from), text + from);
    size_t name_from = from + 1, name_to = to - 1;
    const char *colon = memchr(text + name_from, ':', name_to - name_from);
    if (colon) {
        size_t parent_from = (size_t)(colon - text) + 1, parent_to = name_to;
        name_to = (size_t)(colon - text);
        trim(text, &parent_from, &parent_to);
        section.parent_place = place_at(line, parent_from);
        if (!is_name(text + parent_from, parent_to - parent_from))
            return ys_ini_fail(&section.parent_place, "\"%.*s\" is no section name: use letters, digits, _ - and .",
                               shown(parent_to - parent_from), text + parent_from);
        section.parent = keep(reader->ini, text + parent_from, parent_to - parent_from);
    }
    trim(text, &name_from, &name_to);
    if (!is_name(text + name_from, name_to - name_from))
        return ys_ini_fail(&section.place, "\"%.*s\" is no section name: use letters, digits, _ - and .",
                           shown(name_to - name_from), text + name_from);
    section.name = keep(reader->ini, text + name_from, name_to - name_from);
    frame->opened_by = NULL;
    add_section(reader, section);
    return YS_OK;
}

static ys_status read_text(struct ini_reader *reader, struct frame *frame, const char *text, size_t size);

/* "a.ys -> b.ys -> c.ys", outermost first. */
static void print_chain(const struct frame *frame, struct ys_buf *out)
{
    if (frame->outer)
        print_chain(frame->outer, out);
    ys_buf_printf(out, "%s -> ", frame->name);
}

static ys_status fail_chain(const struct frame *outer, const struct ys_ini_place *place, const char *path,
                            const char *what)
{
    struct ys_buf chain = {0};
    print_chain(outer, &chain);
    ys_buf_puts(&chain, path);
    ys_status status = ys_ini_fail(place, "%s: %s", what, ys_buf_text(&chain));
    ys_buf_free(&chain);
    return status;
}

static ys_status read_file(struct ini_reader *reader, struct frame *frame)
{
    struct ys_buf text = {0};
    bool is_regular = true;
    ys_status status = reader->any ? ys_fs_read_any(frame->path, FILE_LIMIT_BYTES, &text, &is_regular)
                                   : ys_fs_read(frame->path, FILE_LIMIT_BYTES, &text);
    if (status == YS_OK && (!frame->path || stat(frame->path, &frame->identity) != 0))
        memset(&frame->identity, 0, sizeof frame->identity); /* gone since: then it cannot be part of a loop */
    if (!is_regular)
        frame->folder = "."; /* that of a pipe says nothing */
    reader->ini->is_stream |= !is_regular && !frame->outer;
    if (status == YS_OK)
        status = read_text(reader, frame, ys_buf_text(&text), text.size);
    ys_buf_free(&text);
    return status;
}

static const char *include_path(struct ini_reader *reader, const struct frame *outer, const char *value)
{
    if (value[0] == '/' || strcmp(outer->folder, ".") == 0)
        return keep(reader->ini, value, strlen(value));
    char *joined = ys_path_join(outer->folder, value);
    const char *path = keep(reader->ini, joined, strlen(joined));
    ys_free(joined);
    return path;
}

static ys_status read_include(struct ini_reader *reader, struct frame *outer, const struct ys_ini_entry *entry)
{
    if (!outer->folder)
        return ys_ini_fail(&entry->place, "include = %s: files cannot be included here", entry->value);
    struct frame frame = {.outer = outer, .depth = outer->depth + 1, .opened_by = outer->opened_by};
    frame.path = frame.name = include_path(reader, outer, entry->value);
    struct stat identity;
    for (const struct frame *above = outer; above && stat(frame.name, &identity) == 0; above = above->outer)
        if (above->identity.st_ino == identity.st_ino && above->identity.st_dev == identity.st_dev)
            return fail_chain(outer, &entry->value_place, frame.name, "files include each other in a circle");
    if (frame.depth > DEPTH_LIMIT)
        return fail_chain(outer, &entry->value_place, frame.name, "files are included more than 16 deep");
    size_t sections = reader->ini->section_count;
    char *folder = ys_path_dir(frame.name);
    frame.folder = folder;
    ys_buf_printf(&reader->ini->text, "; begin of %s\n", frame.name);
    ys_status status = read_file(reader, &frame);
    ys_buf_printf(&reader->ini->text, "; end of %s\n", frame.name);
    ys_free(folder);
    if (status != YS_OK && frame.line == 0) /* it could not be read at all: say who wanted it */
        return ys_ini_fail_in(&entry->value_place, status);
    if (reader->ini->section_count > sections)
        outer->opened_by = frame.name;
    return status;
}

static ys_status check_key(const struct ini_line *line, const struct ys_ini_place *place, size_t from, size_t to,
                           size_t key_to, bool has_equals)
{
    const char *text = line->text;
    if (!has_equals)
        return ys_ini_fail(place, "\"%.*s\" is neither [section] nor key = value", shown(to - from), text + from);
    if (!is_name(text + from, key_to - from))
        return ys_ini_fail(place, "\"%.*s\" is no key: write key = value, the key in letters, digits, _ - and .",
                           shown(key_to - from), text + from);
    return YS_OK;
}

static ys_status read_value(struct ini_reader *reader, const struct ini_line *line, size_t from, size_t to,
                            struct ys_ini_entry *entry)
{
    entry->value_place = place_at(line, from);
    if (from == to)
        return ys_ini_fail(&entry->place, "%s has no value: write %s = value, or \"\" for empty text", entry->key,
                           entry->key);
    entry->quoted = line->text[from] == '"';
    char *unquoted = NULL;
    if (entry->quoted) {
        ys_status status = ys_ini_unquote(line->text + from, to - from, &unquoted);
        if (status != YS_OK)
            return ys_ini_fail_in(&entry->value_place, status);
    }
    entry->value =
        unquoted ? keep(reader->ini, unquoted, strlen(unquoted)) : keep(reader->ini, line->text + from, to - from);
    ys_free(unquoted);
    return YS_OK;
}

static ys_status read_entry(struct ini_reader *reader, struct frame *frame, const struct ini_line *line, size_t from,
                            size_t to)
{
    const char *equals = memchr(line->text + from, '=', to - from);
    size_t value_from = equals ? (size_t)(equals - line->text) + 1 : to, value_to = to;
    size_t key_from = from, key_to = equals ? value_from - 1 : to;
    trim(line->text, &key_from, &key_to);
    trim(line->text, &value_from, &value_to);
    struct ys_ini_entry entry = {.place = place_at(line, from), .section = reader->ini->section_count - 1};
    YS_TRY(check_key(line, &entry.place, from, to, key_to, equals));
    entry.key = keep(reader->ini, line->text + from, key_to - from);
    YS_TRY(read_value(reader, line, value_from, value_to, &entry));
    if (strcmp(entry.key, "include") == 0)
        return read_include(reader, frame, &entry);
    if (frame->opened_by)
        return ys_ini_fail(
            &entry.place,
            "%s would belong to [%s] of %s: put it before the include, or under a section header of its own", entry.key,
            reader->ini->sections[entry.section].name, frame->opened_by);
    ys_buf_append(&reader->ini->text, line->text, line->length);
    ys_buf_puts(&reader->ini->text, "\n");
    add_entry(reader, entry);
    return YS_OK;
}

static ys_status read_line(struct ini_reader *reader, struct frame *frame, const struct ini_line *line)
{
    YS_TRY(check_characters(line));
    size_t from = 0, to = line->length;
    trim(line->text, &from, &to);
    char first = from < to ? line->text[from] : ';';
    if (first != ';' && first != '#') {
        YS_TRY(content_end(line, from, &to));
        trim(line->text, &from, &to);
        if (first != '[')
            return read_entry(reader, frame, line, from, to);
        YS_TRY(read_header(reader, frame, line, from, to));
    }
    ys_buf_append(&reader->ini->text, line->text, line->length);
    ys_buf_puts(&reader->ini->text, "\n");
    return YS_OK;
}

static ys_status read_text(struct ini_reader *reader, struct frame *frame, const char *text, size_t size)
{
    struct ys_ini_place start = {frame->name, 1, 1};
    frame->line = 1;
    reader->total_bytes += size;
    if (size == 0 && frame->outer) /* what an empty file that stands alone lacks is its reader's to say */
        return ys_ini_fail(&start, "the file is empty");
    if (reader->total_bytes > TOTAL_LIMIT_BYTES)
        return ys_ini_fail(&start, "with this file more than 4 MiB are included: that is no study");
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* byte order mark */
        text += 3;
        size -= 3;
    }
    for (size_t from = 0; from < size; frame->line++) {
        const char *newline = memchr(text + from, '\n', size - from);
        size_t next = newline ? (size_t)(newline - text) + 1 : size;
        struct ini_line line = {frame, text + from, (newline ? next - 1 : next) - from};
        if (line.length > 0 && line.text[line.length - 1] == '\r')
            line.length--;
        struct ys_ini_place place = {frame->name, frame->line, 1};
        if (line.length > LINE_LIMIT_BYTES)
            return ys_ini_fail(&place, "the line is %zu bytes long: at most %zu are allowed", line.length,
                               LINE_LIMIT_BYTES);
        YS_TRY(read_line(reader, frame, &line));
        from = next;
    }
    return YS_OK;
}

/* `text` NULL: what frame->path names. */
static ys_status read_all(struct ys_ini *ini, struct frame *frame, bool any, const char *text, size_t size)
{
    struct ini_reader reader = {.ini = ini, .any = any};
    memset(ini, 0, sizeof *ini);
    frame->name = keep(ini, frame->name, strlen(frame->name));
    add_section(&reader, (struct ys_ini_section){.name = "", .place = {frame->name, 1, 1}});
    ys_status status = text ? read_text(&reader, frame, text, size) : read_file(&reader, frame);
    if (status != YS_OK)
        ys_ini_fini(ini);
    return status;
}

static ys_status read_path(const char *path, bool any, struct ys_ini *ini)
{
    char *folder = ys_path_dir(path ? path : "");
    struct frame frame = {.name = path ? path : "standard input", .path = path, .folder = folder, .depth = 1};
    ys_status status = read_all(ini, &frame, any, NULL, 0);
    ys_free(folder);
    return status;
}

ys_status ys_ini_read(const char *path, struct ys_ini *ini)
{
    return read_path(path, false, ini);
}

ys_status ys_ini_read_any(const char *path, struct ys_ini *ini)
{
    return read_path(path, true, ini);
}

ys_status ys_ini_parse(const char *name, const char *text, size_t size, const char *folder, struct ys_ini *ini)
{
    struct frame frame = {.name = name, .folder = folder, .depth = 1};
    return read_all(ini, &frame, false, text, size);
}

void ys_ini_fini(struct ys_ini *ini)
{
    while (ini->memory) {
        struct ys_ini_memory *next = ini->memory->next;
        ys_free(ini->memory);
        ini->memory = next;
    }
    ys_free(ini->sections);
    ys_free(ini->entries);
    ys_buf_free(&ini->text);
    memset(ini, 0, sizeof *ini);
}

static int compare_entries(const void *left, const void *right)
{
    const struct ys_ini_entry *a = *(const struct ys_ini_entry *const *)left,
                              *b = *(const struct ys_ini_entry *const *)right;
    if (a->section != b->section)
        return a->section < b->section ? -1 : 1;
    int order = strcmp(a->key, b->key);
    return order ? order : (a > b) - (a < b);
}

ys_status ys_ini_check_unique(const struct ys_ini *ini, const char *repeatable)
{
    const struct ys_ini_entry **sorted = ys_alloc(ini->entry_count, sizeof *sorted), *first = NULL, *second = NULL;
    for (size_t i = 0; i < ini->entry_count; i++)
        sorted[i] = &ini->entries[i];
    qsort(sorted, ini->entry_count, sizeof *sorted, compare_entries);
    for (size_t i = 1; i < ini->entry_count; i++) {
        const struct ys_ini_entry *a = sorted[i - 1], *b = sorted[i];
        if (a->section == b->section && strcmp(a->key, b->key) == 0 &&
            (!repeatable || strcmp(a->key, repeatable) != 0) &&
            (!second || b < second)) { /* the first in the file is the one to report */
            first = a;
            second = b;
        }
    }
    ys_free(sorted);
    if (!second)
        return YS_OK;
    return ys_ini_fail(&second->place, "%s is given twice here, first in %s line %d: keep one of them", second->key,
                       first->place.file, first->place.line);
}
