#include "data/folders/folder_scan.h"
#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "base/stop.h"
#include "data/folders/folder_halves.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define DEPTH_LIMIT 16 /* folders below a class: links may lead in circles */

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

void ys_found_add(struct ys_image_search *found, char *path_taken, const char *class, size_t class_length, bool tests,
                  const struct stat *file)
{
    found->items = ys_grown(found->items, found->count, &found->capacity, sizeof *found->items);
    found->items[found->count++] =
        (struct ys_found_image){.path = path_taken,
                                .class = ys_strndup(class, class_length),
                                .tests = tests,
                                .size_bytes = file->st_size,
                                .time_ns = (int64_t)file->st_mtim.tv_sec * 1000000000 + file->st_mtim.tv_nsec};
}

void ys_found_leave(struct ys_image_search *found, size_t count, const char *what)
{
    for (size_t i = 0; i < found->left_count; i++)
        if (strcmp(found->left[i].what, what) == 0) {
            found->left[i].count += count;
            return;
        }
    found->left = ys_grown(found->left, found->left_count, &found->left_capacity, sizeof *found->left);
    found->left[found->left_count++] = (struct ys_found_left){count, ys_strdup(what)};
}

void ys_found_fini(struct ys_image_search *found)
{
    for (size_t i = 0; i < found->count; i++) {
        ys_free(found->items[i].path);
        ys_free(found->items[i].class);
    }
    for (size_t i = 0; i < found->left_count; i++)
        ys_free(found->left[i].what);
    ys_free(found->items);
    ys_free(found->left);
    ys_free(found->lists[0]);
    ys_free(found->lists[1]);
    *found = (struct ys_image_search){0};
}

bool ys_found_is_service(const char *name)
{
    static const char *const names[] = {"@eaDir",     "@Recycle",
                                        "@tmp",       "#recycle",
                                        "#snapshot",  "$RECYCLE.BIN",
                                        "__MACOSX",   "System Volume Information",
                                        "lost+found", "@Recently-Snapshot",
                                        "RECYCLER",   "Network Trash Folder",
                                        "_gsdata_",   NULL};
    bool is = false;
    for (size_t i = 0; names[i]; i++)
        is = is || strcmp(names[i], name) == 0;
    return is;
}

/* A file that is no image by its name: how many there are of its ending. */
static void leave_file(struct ys_image_search *found, const char *name)
{
    const char *ending = strrchr(name, '.');
    char what[80];
    if (ending && strlen(ending) < 12) {
        snprintf(what, sizeof what, "%s (images are .jpg, .jpeg and .png)", ending);
        for (char *c = what; *c; c++)
            *c = (char)tolower((unsigned char)*c);
    } else
        snprintf(what, sizeof what, "without an ending");
    ys_found_leave(found, 1, what);
}

/** Where the search is: `class` NULL in the folder of the classes themselves. */
struct search_place {
    const char *class;
    bool tests;
    int depth;
};

static ys_status search(const char *folder, const struct search_place *place, struct ys_image_search *found);

static ys_status search_class(const char *folder, const char *class, bool tests, struct ys_image_search *found)
{
    const size_t before = found->count;
    YS_TRY(ys_halves_check_class(folder));
    YS_TRY(search(folder, &(struct search_place){.class = class, .tests = tests}, found));
    return found->count > before
               ? YS_OK
               : ys_fail(YS_EFORMAT, "%s is a class without images: fill or remove the folder", folder);
}

/* Takes `path`, of what is no folder. A link that leads nowhere is an image as one that cannot be read is. */
static ys_status look_at_file(char *path_taken, const char *name, const struct search_place *place,
                              const struct stat *file, bool is_there, struct ys_image_search *found)
{
    ys_status status = YS_OK;
    if (!is_image(name) && !is_there)
        status = ys_fail(YS_EFORMAT, "cannot look at %s: %s; is it a link to a folder that is gone?", path_taken,
                         strerror(errno));
    else if (!is_image(name))
        leave_file(found, name);
    else if (!place->class)
        status = ys_fail(YS_EFORMAT, "%s lies in no class: each class is a folder with its images", path_taken);
    else {
        ys_found_add(found, path_taken, place->class, strlen(place->class), place->tests, file);
        return YS_OK;
    }
    ys_free(path_taken);
    return status;
}

static ys_status look_at(const char *folder, const char *name, const struct search_place *place,
                         struct ys_image_search *found)
{
    struct stat file = {0};
    char *path = ys_path_join(folder, name);
    const bool is_there = stat(path, &file) == 0;
    if (!is_there || !S_ISDIR(file.st_mode))
        return look_at_file(path, name, place, &file, is_there, found);
    const struct search_place below = {.class = place->class, .tests = place->tests, .depth = place->depth + 1};
    ys_status status = YS_OK;
    if (ys_found_is_service(name))
        ys_found_leave(found, 1, "folder of a system or file server");
    else
        status = place->class ? search(path, &below, found) : search_class(path, name, place->tests, found);
    ys_free(path);
    return status;
}

static ys_status search(const char *folder, const struct search_place *place, struct ys_image_search *found)
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
            status = look_at(folder, entry->d_name, place, found);
        else if (is_image(entry->d_name + 1))
            ys_found_leave(found, 1, "hidden: its name begins with a dot");
        if (status == YS_OK && ys_stop_signal())
            status = ys_stopped();
    }
    closedir(entries);
    return status;
}

ys_status ys_found_classes(const char *folder, bool tests, struct ys_image_search *found)
{
    return search(folder, &(struct search_place){.tests = tests}, found);
}
