/* Lists of images: lines of IMAGE,CLASS as people and programs write them. */
#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "data/folders/folder_scan.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

#define LIST_LIMIT_BYTES ((size_t)1 << 30)

struct list_line {
    const char *path; /* of the list */
    size_t number;    /* from 1 */
    bool is_first;    /* of those that say something */
    bool tests;       /* the half that the list is of */
    const char *text;
    size_t length; /* without blanks around it */
};

#define FAIL_LINE(line, status, format, ...)                                                                           \
    ys_fail(status, "%s, line %zu: " format, (line)->path, (line)->number, __VA_ARGS__)

/* Who reads one. */
typedef ys_status (*on_line)(const struct list_line *line, struct ys_image_search *found);

/* An image whose path begins at the folder of the list, of the class `word`. */
static ys_status add_named(const struct list_line *line, char *name_taken, const char *word, size_t word_length,
                           bool tests, struct ys_image_search *found)
{
    char *folder = ys_path_dir(line->path), *image = ys_path_join(folder, name_taken);
    struct stat file;
    ys_status status = YS_OK;
    if (stat(image, &file) == 0 && S_ISREG(file.st_mode)) {
        ys_found_add(found, image, word, word_length, tests, &file);
        found->items[found->count - 1].line = line->number;
    } else {
        status = FAIL_LINE(line, YS_ENOTFOUND, "there is no file %s", image);
        ys_free(image);
    }
    ys_free(folder);
    ys_free(name_taken);
    return status;
}

static ys_status add_annotation(const struct list_line *line, struct ys_image_search *found)
{
    const char *text = line->text, *name_end = memchr(text, '\t', line->length);
    const size_t left = name_end ? line->length - (size_t)(name_end + 1 - text) : 0;
    const char *word = name_end ? name_end + 1 : text, *word_end = left ? memchr(word, '\t', left) : NULL;
    if (!word_end || name_end == text || word_end == word || memchr(text, '/', (size_t)(name_end - text)))
        return FAIL_LINE(line, YS_EFORMAT, "is no annotation: %s", "IMAGE, CLASS and four numbers, apart by tabs");
    return add_named(line, ys_format("images/%.*s", (int)(name_end - text), text), word, (size_t)(word_end - word),
                     true, found);
}

/* Bytes of the blank that begins or ends a text, of which a no-break space (U+00A0) looks like the others; 0: none. */
static size_t blank_of(const char *text, size_t length, bool at_end)
{
    const char *one = at_end && length > 0 ? text + length - 1 : text, *two = at_end ? one - 1 : one;
    return length > 0 && *one && strchr(" \t\r", *one) ? 1 : length > 1 && memcmp(two, "\xC2\xA0", 2) == 0 ? 2 : 0;
}

static void trim(const char **text, size_t *length)
{
    for (size_t blank; (blank = blank_of(*text, *length, false)) > 0; *length -= blank)
        *text += blank;
    for (size_t blank; (blank = blank_of(*text, *length, true)) > 0;)
        *length -= blank;
}

/* To what is no blank, or parts two fields. */
static const char *skip_blanks(const char *at, const char *end)
{
    for (size_t blank; at < end && *at != '\t' && (blank = blank_of(at, (size_t)(end - at), false)) > 0;)
        at += blank;
    return at;
}

/* Where a quoted field ends, behind its closing quote; NULL: nowhere. Two quotes are one of its text. */
static const char *quoted_end(const char *at, const char *end)
{
    for (at++; at < end; at++)
        if (*at == '"' && (at + 1 == end || at[1] != '"'))
            return at + 1;
        else if (*at == '"')
            at++;
    return NULL;
}

/* A field without the quotes around it: new string. */
static char *unquoted(const char *text, size_t length)
{
    trim(&text, &length);
    char *copy = ys_strndup(text, length);
    if (length < 2 || *text != '"')
        return copy;
    size_t kept = 0;
    for (size_t i = 1; i + 1 < length; i++) {
        copy[kept++] = text[i];
        i += text[i] == '"';
    }
    copy[kept] = '\0';
    return copy;
}

static bool is_separator(char c)
{
    return c == ',' || c == '\t';
}

/* The field that begins at `*at`, which then lies behind the separator that ends it: false for a quote that stays open,
 * or has text behind it. */
static bool next_field(const char **at, const char *end, const char **field, size_t *length)
{
    const char *c = skip_blanks(*at, end);
    *field = c;
    if (c < end && *c == '"') {
        c = quoted_end(c, end);
        *length = c ? (size_t)(c - *field) : 0;
        c = c ? skip_blanks(c, end) : NULL;
        if (!c || (c < end && !is_separator(*c)))
            return false;
    } else {
        while (c < end && !is_separator(*c))
            c++;
        *length = (size_t)(c - *field);
    }
    *at = c < end ? c + 1 : NULL;
    return true;
}

/* The two fields of a line. Where nothing is quoted the last separator counts: names of files may have some. */
static ys_status split(const struct list_line *line, const char *fields[2], size_t lengths[2])
{
    const char *at = line->text, *end = at + line->length;
    bool quotes = false;
    size_t count = 0;
    for (const char *field; at; count++) {
        size_t length;
        if (!next_field(&at, end, &field, &length))
            return FAIL_LINE(line, YS_EFORMAT, "%s", "a quote is not closed in the line, or has text behind it");
        quotes = quotes || (length > 0 && *field == '"');
        if (count < 2) {
            fields[count] = field;
            lengths[count] = length;
        }
    }
    if (!quotes && count > 2) {
        const char *last = end;
        while (!is_separator(last[-1]))
            last--;
        fields[0] = line->text;
        lengths[0] = (size_t)(last - 1 - line->text);
        fields[1] = last;
        lengths[1] = (size_t)(end - last);
        count = 2;
    }
    for (size_t i = 0; i < 2 && i < count; i++)
        trim(&fields[i], &lengths[i]);
    return count == 2 && lengths[0] > 0 && lengths[1] > 0
               ? YS_OK
               : FAIL_LINE(line, YS_EFORMAT, "write IMAGE,CLASS, such as %s", "cats/1.jpg,cat");
}

static bool is_among(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcasecmp(word, *words) == 0)
            return true;
    return false;
}

/* What columns are called. */
static bool is_header(const struct list_line *line, const char *image, const char *class)
{
    static const char *const images[] = {"image", "images", "image_path", "image_name", "image_id", "img",
                                         "file",  "files",  "filename",   "file_name",  "filepath", "file_path",
                                         "path",  "name",   "id",         NULL};
    static const char *const classes[] = {"class",    "classes",  "class_name", "class_id", "label", "labels",
                                          "label_id", "category", "target",     "y",        NULL};
    return line->is_first && is_among(image, images) && is_among(class, classes);
}

static ys_status add_line(const struct list_line *line, struct ys_image_search *found)
{
    const char *fields[2];
    size_t lengths[2];
    YS_TRY(split(line, fields, lengths));
    char *image = unquoted(fields[0], lengths[0]), *class = unquoted(fields[1], lengths[1]);
    ys_status status = YS_OK;
    if (!*image || !*class)
        status = FAIL_LINE(line, YS_EFORMAT, "%s", "an image or class without a name");
    else if (!is_header(line, image, class)) {
        status = add_named(line, image, class, strlen(class), line->tests, found);
        image = NULL;
    }
    ys_free(image);
    ys_free(class);
    return status;
}

/* Marks in front of text say how it is written. */
static ys_status check_text(const char *path, const char **text, const char *end)
{
    const size_t size = (size_t)(end - *text);
    const bool is_wide = size >= 2 && (memcmp(*text, "\xFF\xFE", 2) == 0 || memcmp(*text, "\xFE\xFF", 2) == 0);
    if (size >= 3 && memcmp(*text, "\xEF\xBB\xBF", 3) == 0)
        *text += 3;
    const char *zero = memchr(*text, '\0', (size_t)(end - *text));
    size_t number = 1;
    for (const char *c = *text; zero && c < zero; c++)
        number += *c == '\n';
    return !is_wide && !zero
               ? YS_OK
               : ys_fail(YS_EFORMAT, "%s, line %zu: is no text of bytes, but of UTF-16 as it seems: save it as UTF-8",
                         path, number);
}

static ys_status read_lines(const char *path, bool tests, on_line read_line, struct ys_image_search *found)
{
    struct ys_buf text = {0};
    struct list_line line = {.path = path, .is_first = true, .tests = tests};
    ys_status status = ys_fs_read(path, LIST_LIMIT_BYTES, &text);
    const char *at = ys_buf_text(&text), *end = at + text.size;
    if (status == YS_OK)
        status = check_text(path, &at, end);
    const char ends = status == YS_OK && !memchr(at, '\n', (size_t)(end - at)) ? '\r' : '\n';
    while (at < end && status == YS_OK) {
        const char *stop = memchr(at, ends, (size_t)(end - at));
        line.number++;
        line.text = at;
        line.length = (size_t)((stop ? stop : end) - at);
        at += line.length + 1;
        trim(&line.text, &line.length);
        if (line.length == 0 || *line.text == '#')
            continue;
        status = read_line(&line, found);
        line.is_first = false;
    }
    ys_buf_free(&text);
    return status;
}

ys_status ys_found_list(const char *path, bool tests, struct ys_image_search *found)
{
    char **list = &found->lists[tests];
    YS_ASSERT(!*list);
    *list = ys_strdup(path);
    return read_lines(path, tests, add_line, found);
}

ys_status ys_found_annotations(const char *path, struct ys_image_search *found)
{
    return read_lines(path, true, add_annotation, found);
}
