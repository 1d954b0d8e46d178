#include "data/folder_scan.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/stop.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define DEPTH_LIMIT      16 /* folders below a class: links may lead in circles */
#define LIST_LIMIT_BYTES ((size_t)1 << 30)

/* Also those that are not read: to leave them out without a word would be a smaller data set than was meant. */
static const char *const endings[] = {".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff", NULL};

static bool is_image(const char *name)
{
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending && endings[i]; i++)
        if (strcasecmp(ending, endings[i]) == 0)
            return true;
    return false;
}

/* Takes `path`. */
static ys_status add(struct ys_found *found, char *path_taken, const char *class, size_t class_length, bool tests,
                     const struct stat *file)
{
    struct ys_found_image *grown = ys_grown(found->items, found->count, &found->capacity, sizeof *grown);
    char *word = ys_strndup(class, class_length);
    if (grown)
        found->items = grown;
    if (!grown || !word || !path_taken) {
        ys_free(word);
        ys_free(path_taken);
        return ys_out_of_memory();
    }
    found->items[found->count++] =
        (struct ys_found_image){.path = path_taken,
                                .class = word,
                                .tests = tests,
                                .size_bytes = file->st_size,
                                .time_ns = (int64_t)file->st_mtim.tv_sec * 1000000000 + file->st_mtim.tv_nsec};
    return YS_OK;
}

/** Where the search is: `class` NULL in the folder of the classes themselves. */
struct place {
    const char *class;
    bool tests;
    int depth;
};

static ys_status search(const char *folder, const struct place *place, struct ys_found *found);

static ys_status search_class(const char *folder, const char *class, bool tests, struct ys_found *found)
{
    const size_t before = found->count;
    YS_TRY(search(folder, &(struct place){.class = class, .tests = tests}, found));
    return found->count > before
               ? YS_OK
               : ys_fail(YS_EFORMAT, "%s is a class without images: fill or remove the folder", folder);
}

/* Takes `path`. What is neither a folder nor named like an image does not matter. */
static ys_status look_at(char *path_taken, const char *name, const struct place *place, struct ys_found *found)
{
    struct stat file;
    ys_status status = YS_OK;
    if (!path_taken)
        return ys_out_of_memory();
    const bool is_there = stat(path_taken, &file) == 0;
    if (is_there && S_ISDIR(file.st_mode)) {
        const struct place below = {.class = place->class, .tests = place->tests, .depth = place->depth + 1};
        status = place->class ? search(path_taken, &below, found) : search_class(path_taken, name, place->tests, found);
    } else if (is_image(name) && !is_there) {
        status = ys_fail(YS_EIO, "cannot look at %s: %s", path_taken, strerror(errno));
    } else if (is_image(name) && !place->class) {
        status = ys_fail(YS_EFORMAT, "%s lies in no class: each class is a folder with its images", path_taken);
    } else if (is_image(name)) {
        return add(found, path_taken, place->class, strlen(place->class), place->tests, &file);
    }
    ys_free(path_taken);
    return status;
}

static ys_status search(const char *folder, const struct place *place, struct ys_found *found)
{
    if (place->depth > DEPTH_LIMIT)
        return ys_fail(YS_EFORMAT, "%s: more than %d folders below a class: does a link lead in a circle?", folder,
                       DEPTH_LIMIT);
    DIR *entries = opendir(folder);
    if (!entries)
        return ys_fail(YS_EIO, "cannot read the folder %s: %s", folder, strerror(errno));
    ys_status status = YS_OK;
    for (struct dirent *entry; status == YS_OK && (entry = readdir(entries));) {
        if (entry->d_name[0] != '.')
            status = look_at(ys_path_join(folder, entry->d_name), entry->d_name, place, found);
        if (status == YS_OK && ys_stop_signal())
            status = ys_stopped();
    }
    closedir(entries);
    return status;
}

ys_status ys_found_classes(const char *folder, bool tests, struct ys_found *found)
{
    return search(folder, &(struct place){.tests = tests}, found);
}

/* Who reads one line of a list: `tests` says to which half it belongs. */
typedef ys_status (*on_line)(const char *path, size_t number, const char *line, size_t length, bool tests,
                             struct ys_found *found);

/* An image whose path begins at the folder of the list, of the class `word`. */
static ys_status add_named(const char *path, size_t number, char *name_taken, const char *word, size_t word_length,
                           bool tests, struct ys_found *found)
{
    char *folder = ys_path_dir(path), *image = folder && name_taken ? ys_path_join(folder, name_taken) : NULL;
    struct stat file;
    ys_status status = image ? YS_OK : ys_out_of_memory();
    if (image && (stat(image, &file) != 0 || !S_ISREG(file.st_mode)))
        status = ys_fail(YS_ENOTFOUND, "%s, line %zu: there is no file %s", path, number, image);
    if (status == YS_OK)
        status = add(found, image, word, word_length, tests, &file);
    else
        ys_free(image);
    if (status == YS_OK)
        found->items[found->count - 1].line = number;
    ys_free(folder);
    ys_free(name_taken);
    return status;
}

static ys_status add_annotation(const char *path, size_t number, const char *line, size_t length, bool tests,
                                struct ys_found *found)
{
    const char *name_end = memchr(line, '\t', length);
    const size_t left = name_end ? length - (size_t)(name_end + 1 - line) : 0;
    const char *word = name_end ? name_end + 1 : line, *word_end = left ? memchr(word, '\t', left) : NULL;
    if (!word_end || name_end == line || word_end == word || memchr(line, '/', (size_t)(name_end - line)))
        return ys_fail(YS_EFORMAT, "%s, line %zu: is no annotation: IMAGE, CLASS and four numbers, apart by tabs", path,
                       number);
    return add_named(path, number, ys_format("images/%.*s", (int)(name_end - line), line), word,
                     (size_t)(word_end - word), tests, found);
}

static ys_status add_line(const char *path, size_t number, const char *line, size_t length, bool tests,
                          struct ys_found *found)
{
    size_t comma = length;
    while (comma > 0 && line[comma - 1] != ',' && line[comma - 1] != '\t')
        comma--;
    if (comma < 2 || comma == length)
        return ys_fail(YS_EFORMAT, "%s, line %zu: write IMAGE,CLASS, such as cats/1.jpg,cat", path, number);
    return add_named(path, number, ys_strndup(line, comma - 1), line + comma, length - comma, tests, found);
}

static ys_status read_lines(const char *path, bool tests, on_line read_line, struct ys_found *found)
{
    struct ys_buf text = {0};
    size_t number = 0;
    ys_status status = ys_fs_read(path, LIST_LIMIT_BYTES, &text);
    for (const char *line = ys_buf_text(&text), *end = line + text.size; line < end && status == YS_OK;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((stop ? stop : end) - line);
        const char *next = line + length + 1;
        number++;
        while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == ' '))
            length--;
        if (length > 0 && *line != '#')
            status = read_line(path, number, line, length, tests, found);
        line = next;
    }
    ys_buf_free(&text);
    return status;
}

ys_status ys_found_list(const char *path, bool tests, struct ys_found *found)
{
    char **list = &found->lists[tests];
    YS_ASSERT(!*list);
    *list = ys_strdup(path);
    if (!*list)
        return ys_out_of_memory();
    return read_lines(path, tests, add_line, found);
}

ys_status ys_found_annotations(const char *path, struct ys_found *found)
{
    return read_lines(path, true, add_annotation, found);
}
