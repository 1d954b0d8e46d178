#include "data/folders/folder.h"
#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "data/folders/folder_halves.h"
#include <stdlib.h>
#include <string.h>

void ys_folder_fini(struct ys_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        ys_free(folder->rows[i].path);
    ys_free(folder->rows);
    ys_free(folder->left_out);
    *folder = (struct ys_folder){0};
}

static int compare_classes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/** The words that the rows have for their classes. */
struct class_words {
    const char **items; /* sorted, each once; borrowed from what was found */
    size_t count;
    bool numbers; /* all are whole numbers, which are the classes then */
};

/* One below 0 too, which is out of range and no name. */
static bool is_number(const char *word)
{
    word += *word == '-';
    return *word && strspn(word, "0123456789") == strlen(word);
}

static void sort_words(const struct ys_image_search *found, struct class_words *words)
{
    *words =
        (struct class_words){.items = ys_alloc(found->count, sizeof *words->items), .numbers = found->lists[0] != NULL};
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++) {
        words->numbers = words->numbers && is_number(found->items[i].class);
        if (!found->items[i].tests)
            words->items[count++] = found->items[i].class;
    }
    qsort(words->items, count, sizeof *words->items, compare_classes);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(words->items[i], words->items[words->count - 1]) != 0)
            words->items[words->count++] = words->items[i];
}

static ys_status label_of(const struct ys_image_search *found, const struct class_words *words,
                          const struct ys_found_image *image, int64_t *label)
{
    if (words->numbers) {
        const long long number = strlen(image->class) < 10 ? atoll(image->class) : YS_FOLDER_MAX_CLASSES;
        *label = number;
        return number >= 0 && number < YS_FOLDER_MAX_CLASSES
                   ? YS_OK
                   : ys_fail(YS_EFORMAT, "%s, line %zu: %s: its class %s is out of range: classes are 0 to %d",
                             found->lists[image->tests], image->line, image->path, image->class,
                             YS_FOLDER_MAX_CLASSES - 1);
    }
    const char **word = bsearch(&image->class, words->items, words->count, sizeof *words->items, compare_classes);
    if (!word) { /* names that look alike may differ by a blank */
        struct ys_buf shown = {0};
        ys_buf_put_name(&shown, image->class, strlen(image->class));
        ys_status status =
            ys_fail(YS_EFORMAT, "%s: no image to train on is of its class %s", image->path, ys_buf_text(&shown));
        ys_buf_free(&shown);
        return status;
    }
    *label = word - words->items;
    return YS_OK;
}

static int compare_rows(const void *a, const void *b)
{
    const struct ys_folder_row *one = a, *other = b;
    if (one->tests != other->tests)
        return one->tests ? 1 : -1;
    if (one->label != other->label)
        return one->label < other->label ? -1 : 1;
    return strcmp(one->path, other->path);
}

/* Every tenth of a class, in the order of paths; of a class with fewer the last one, if there are two. */
static void split_rows(struct ys_folder *folder)
{
    for (size_t first = 0, next; first < folder->count; first = next) {
        for (next = first; next < folder->count && folder->rows[next].label == folder->rows[first].label; next++)
            folder->rows[next].tests = (next - first) % YS_FOLDER_TEST_OF == YS_FOLDER_TEST_OF - 1;
        if (next - first >= 2 && next - first < YS_FOLDER_TEST_OF)
            folder->rows[next - 1].tests = true;
    }
}

static ys_status check_classes(const char *path, bool split, const struct ys_folder *folder)
{
    int64_t wanted = 0; /* the rows to train on come by class */
    for (size_t i = 0; i < folder->train_count; i++) {
        if (folder->rows[i].label > wanted)
            return ys_fail(YS_EFORMAT, "%s: no image to train on is of class %lld, and some are of class %lld", path,
                           (long long)wanted, (long long)folder->rows[i].label);
        if (i + 1 == folder->train_count || folder->rows[i + 1].label != folder->rows[i].label)
            wanted++;
    }
    for (size_t i = folder->train_count; i < folder->count; i++)
        if (folder->rows[i].label >= folder->classes)
            return ys_fail(YS_EFORMAT, "%s: its class %lld is out of range: images to train on have 0 to %lld",
                           folder->rows[i].path, (long long)folder->rows[i].label, (long long)folder->classes - 1);
    if (folder->classes < 2 || folder->classes > YS_FOLDER_MAX_CLASSES)
        return ys_fail(YS_EFORMAT, "%s has images of %lld class%s: there must be 2 to %d", path,
                       (long long)folder->classes, folder->classes == 1 ? "" : "es", YS_FOLDER_MAX_CLASSES);
    if (folder->train_count == folder->count)
        return ys_fail(YS_EFORMAT, "%s has no image to test on: %s", path,
                       split ? "put some into its half of those" : "no class has two of them, so bring more");
    return YS_OK;
}

static ys_status take_rows(struct ys_image_search *found, struct ys_folder *folder)
{
    struct class_words words;
    ys_status status = YS_OK;
    sort_words(found, &words);
    folder->rows = ys_alloc(found->count, sizeof *folder->rows);
    for (; folder->count < found->count && status == YS_OK; folder->count++) {
        struct ys_found_image *image = &found->items[folder->count];
        struct ys_folder_row *row = &folder->rows[folder->count];
        status = label_of(found, &words, image, &row->label);
        row->tests = image->tests;
        row->size_bytes = image->size_bytes;
        row->time_ns = image->time_ns;
        row->path = image->path;
        image->path = NULL;
    }
    ys_free(words.items);
    return status;
}

static void count_rows(struct ys_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++) {
        if (folder->rows[i].tests)
            continue;
        folder->train_count++;
        if (folder->rows[i].label >= folder->classes)
            folder->classes = folder->rows[i].label + 1;
    }
}

/* What was found is in the order of the disk: that of the rows is needed for equal sums. */
static int compare_found(const void *a, const void *b)
{
    const struct ys_found_image *one = a, *other = b;
    return strcmp(one->path, other->path);
}

static void hash_found(const char *path, const struct ys_image_search *found, bool split, char hash[YS_SHA256_TEXT])
{
    struct ys_buf text = {0};
    const size_t length = strlen(path);
    qsort(found->items, found->count, sizeof *found->items, compare_found);
    for (size_t i = 0; i < found->count; i++) {
        const struct ys_found_image *image = &found->items[i];
        const char *below = strncmp(image->path, path, length) == 0 ? image->path + length : image->path;
        ys_buf_printf(&text, "%s|%s|%d|%d|%lld|%lld\n", below, image->class, image->tests, split,
                      (long long)image->size_bytes, (long long)image->time_ns);
    }
    ys_sha256_text(ys_buf_text(&text), text.size, hash);
    ys_buf_free(&text);
}

/* An image of two classes, or one that is trained on and tested on; lists alone can say so. They are in the order of
 * paths. */
static ys_status check_twice(const struct ys_image_search *found)
{
    for (size_t i = 1; i < found->count; i++) {
        const struct ys_found_image *one = &found->items[i - 1], *other = &found->items[i];
        if (strcmp(one->path, other->path) != 0)
            continue;
        if (strcmp(one->class, other->class) != 0)
            return ys_fail(YS_EFORMAT, "%s, line %zu: %s is of class %s there, and of %s in line %zu of %s: remove one",
                           found->lists[other->tests], other->line, other->path, other->class, one->class, one->line,
                           found->lists[one->tests]);
        if (one->tests != other->tests)
            return ys_fail(YS_EFORMAT, "%s, line %zu: %s is in line %zu of %s too: test on others than are trained on",
                           found->lists[other->tests], other->line, other->path, one->line, found->lists[one->tests]);
    }
    return YS_OK;
}

static int compare_left(const void *a, const void *b)
{
    const struct ys_found_left *one = a, *other = b;
    return strcmp(one->what, other->what);
}

/* New string; NULL: nothing was left out. */
static char *say_left(struct ys_image_search *found)
{
    struct ys_buf text = {0};
    if (found->left_count == 0)
        return NULL;
    qsort(found->left, found->left_count, sizeof *found->left, compare_left);
    for (size_t i = 0; i < found->left_count; i++)
        ys_buf_printf(&text, "%s%zu %s", i ? ", " : "", found->left[i].count, found->left[i].what);
    return ys_buf_take(&text);
}

ys_status ys_folder_read(const char *path, struct ys_folder *folder)
{
    struct ys_image_search found = {0};
    struct ys_folder made = {0};
    bool split;
    ys_status status = ys_found_images(path, &found, &split);
    if (status == YS_OK && found.count == 0)
        status = ys_fail(YS_EFORMAT, "%s has no images (.jpg, .jpeg, .png) in folders named by their classes", path);
    if (status == YS_OK)
        hash_found(path, &found, split, made.hash);
    if (status == YS_OK && found.lists[0] && (found.lists[1] || !split))
        status = check_twice(&found);
    if (status == YS_OK)
        made.left_out = say_left(&found);
    if (status == YS_OK)
        status = take_rows(&found, &made);
    if (status == YS_OK) {
        qsort(made.rows, made.count, sizeof *made.rows, compare_rows);
        if (!split)
            split_rows(&made);
        qsort(made.rows, made.count, sizeof *made.rows, compare_rows);
        count_rows(&made);
        status = check_classes(path, split, &made);
    }
    ys_found_fini(&found);
    if (status == YS_OK)
        *folder = made;
    else
        ys_folder_fini(&made);
    return status;
}
