#include "data/folders/folder_halves.h"
#include "base/files/fs.h"
#include "base/hash.h"
#include "base/mem.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum folder_half { NO_HALF, TRAIN, TEST, VALID, HALVES };

enum { MOST_NAME = 64, MOST_WORD = 24, MOST_WORDS = 6 };

/* The words of docs/data.md, behind which there may be one of the endings below. */
static const char *const words[][MOST_WORDS] = {[TRAIN] = {"train", "training", "trn"},
                                                [TEST] = {"test", "testing", "tst"},
                                                [VALID] = {"val", "valid", "validation", "dev", "eval", "evaluation"}};
static const char *const endings[] = {"", "set", "data", "images", "split"};

static bool is_of(const char *word, size_t length, const char *known)
{
    return strlen(known) == length && strncasecmp(word, known, length) == 0;
}

/* Of one word of a name: "train", "trainset"; NO_HALF: none. */
static enum folder_half half_of_word(const char *word, size_t length)
{
    for (enum folder_half half = TRAIN; half < HALVES; half++)
        for (size_t w = 0; w < MOST_WORDS && words[half][w]; w++)
            for (size_t e = 0; e < sizeof endings / sizeof endings[0]; e++) {
                char wanted[MOST_WORD];
                snprintf(wanted, sizeof wanted, "%s%s", words[half][w], endings[e]);
                if (is_of(word, length, wanted))
                    return half;
            }
    return NO_HALF;
}

/* Of a name that begins as those of halves do: "trainA", "testB". */
static enum folder_half half_of_begin(const char *name)
{
    for (enum folder_half half = TRAIN; half < HALVES; half++)
        if (strncasecmp(name, words[half][0], strlen(words[half][0])) == 0)
            return half;
    return NO_HALF;
}

static bool is_ending(const char *word, size_t length)
{
    for (size_t e = 1; e < sizeof endings / sizeof endings[0]; e++)
        if (is_of(word, length, endings[e]))
            return true;
    return false;
}

/* Which half a name is of by one of its words, which blanks and the like or digits part, and what stands beside that
 * word: "seg_train" is of TRAIN beside "seg", "Train Images" beside nothing. NO_HALF: by none, or by two. */
static enum folder_half half_of(const char *name, char rest[MOST_NAME])
{
    static const char parting[] = "-_ .()0123456789\xC2\xA0"; /* the last two are a no-break space */
    enum folder_half half = NO_HALF;
    size_t count = 0, length;
    rest[0] = '\0';
    for (; *name; name += length) {
        length = strcspn(name, parting);
        const enum folder_half of = half_of_word(name, length);
        count += of != NO_HALF;
        half = of != NO_HALF ? of : half;
        if (length && of == NO_HALF && !is_ending(name, length))
            snprintf(rest + strlen(rest), MOST_NAME - strlen(rest), "%.*s ", (int)length, name);
        length += length == 0;
    }
    return count == 1 ? half : NO_HALF;
}

/** What lies in a folder: names of halves, and others; those that begin with a dot do not matter. */
struct level {
    char *names[HALVES];                   /* owned; of the others the first */
    size_t counts[HALVES], begins[HALVES]; /* by their names, and by how these begin */
    char *second;                          /* owned: another name for one half; NULL */
    bool has_files;
    /* What stands beside the words in names of folders: in all the same, as in seg_train and seg_test, or else only
     * the names beside whose words there is nothing are of halves. */
    char rest[MOST_NAME];
    bool has_rest, has_plain, are_unlike;
    uint8_t sum[32]; /* of all names, in whatever order */
};

static void level_fini(struct level *level)
{
    for (size_t i = 0; i < HALVES; i++)
        ys_free(level->names[i]);
    ys_free(level->second);
}

static void note(struct level *level, enum folder_half half, const char *name)
{
    char **place = !level->names[half]                 ? &level->names[half]
                   : half != NO_HALF && !level->second ? &level->second
                                                       : NULL;
    uint8_t sum[32];
    ys_sha256(name, strlen(name), sum);
    for (size_t i = 0; i < sizeof sum; i++)
        level->sum[i] ^= sum[i];
    level->counts[half]++;
    level->begins[half_of_begin(name)]++;
    if (place)
        *place = ys_strdup(name);
}

static void compare_rests(struct level *level, const char *name)
{
    char rest[MOST_NAME];
    if (half_of(name, rest) == NO_HALF)
        return;
    level->has_plain = level->has_plain || !rest[0];
    level->are_unlike = level->are_unlike || (level->has_rest && strcasecmp(rest, level->rest) != 0);
    level->has_rest = true;
    snprintf(level->rest, sizeof level->rest, "%s", rest);
}

static enum folder_half half_in(const struct level *level, const char *name, bool lists)
{
    char rest[MOST_NAME];
    const enum folder_half half = half_of(name, rest);
    return rest[0] && (lists || level->has_plain || level->are_unlike) ? NO_HALF : half;
}

/* The name by which an entry counts: of a folder its own, or with `lists` that of a file before .csv. NULL where it
 * does not count; else new. */
static char *name_entry(struct level *level, const char *folder, const char *name, bool lists)
{
    struct stat file;
    char *path = ys_path_join(folder, name);
    const size_t length = strlen(name);
    const bool is_there = stat(path, &file) == 0, is_folder = is_there && S_ISDIR(file.st_mode);
    ys_free(path);
    level->has_files = level->has_files || (!lists && !is_folder);
    if (lists ? is_folder || length < 5 || strcasecmp(name + length - 4, ".csv") != 0
              : !is_folder || ys_found_is_service(name))
        return NULL;
    return ys_strndup(name, lists ? length - 4 : length);
}

/* Twice: what stands beside the words in names is to be known before one is judged. */
static ys_status read_level(const char *folder, bool lists, struct level *level)
{
    *level = (struct level){0};
    DIR *entries = opendir(folder);
    if (!entries)
        return ys_fail(YS_EIO, "cannot read the folder %s: %s", folder, strerror(errno));
    for (int pass = 0; pass < 2; pass++, rewinddir(entries))
        for (struct dirent *entry; (entry = readdir(entries));) {
            char *counted = entry->d_name[0] != '.' ? name_entry(level, folder, entry->d_name, lists) : NULL;
            if (counted && pass == 0)
                compare_rests(level, counted);
            else if (counted)
                note(level, half_in(level, counted, lists), entry->d_name);
            ys_free(counted);
        }
    closedir(entries);
    return YS_OK;
}

/* Folders in it and no file: what a half looks like, and a class hardly. */
static ys_status holds_folders_alone(const char *folder, const char *name, bool *does)
{
    struct level below;
    char *path = ys_path_join(folder, name);
    ys_status status = read_level(path, false, &below);
    ys_free(path);
    YS_TRY(status);
    size_t folders = 0;
    for (size_t i = 0; i < HALVES; i++)
        folders += below.counts[i];
    *does = folders > 0 && !below.has_files;
    level_fini(&below);
    return YS_OK;
}

/* A few folders that hold the same folders, and nothing else, are halves whatever they are called, or views of
 * classes. */
static ys_status check_alike(const char *folder, const struct level *level)
{
    enum { MOST_ALIKE = 4 };
    struct level first = {0}, below;
    size_t alike = 0;
    DIR *entries = level->counts[NO_HALF] >= 2 && level->counts[NO_HALF] <= MOST_ALIKE ? opendir(folder) : NULL;
    ys_status status = YS_OK;
    for (struct dirent *entry; status == YS_OK && entries && (entry = readdir(entries));) {
        char *path = ys_path_join(folder, entry->d_name);
        const bool counts = entry->d_name[0] != '.' && ys_fs_is_dir(path) && !ys_found_is_service(entry->d_name);
        status = counts ? read_level(path, false, &below) : YS_OK;
        ys_free(path);
        if (status != YS_OK || !counts)
            continue;
        const size_t folders = below.counts[NO_HALF];
        if (alike == 0 && folders >= 2 && !below.has_files)
            memcpy(first.sum, below.sum, sizeof first.sum);
        alike += folders >= 2 && !below.has_files && memcmp(first.sum, below.sum, sizeof first.sum) == 0;
        level_fini(&below);
    }
    if (entries)
        closedir(entries);
    if (status != YS_OK || alike < level->counts[NO_HALF] || alike < 2)
        return status;
    return ys_fail(YS_EFORMAT,
                   "%s has %zu folders that hold the same folders (one is %s): call them train and test if they are "
                   "halves, or give a list of images and classes, photos.csv, if they are classes",
                   folder, alike, level->names[NO_HALF]);
}

/* Whether the level is cut into halves. It is where all of its folders are called so, and one of them is to train on.
 */
static ys_status find_halves(const char *folder, const struct level *level, bool *are_halves)
{
    const bool named = level->counts[TRAIN] + level->counts[TEST] + level->counts[VALID] > 0;
    *are_halves = named && level->counts[NO_HALF] == 0;
    if (*are_halves && level->second)
        return ys_fail(
            YS_EFORMAT,
            "%s has %s beside others, which may be the same half: keep one name for the rows to train on, one "
            "for those to test on, or write lists, train.csv and test.csv",
            folder, level->second);
    if (*are_halves && !level->names[TRAIN])
        return ys_fail(YS_EFORMAT, "%s has %s, and no folder of rows to train on: call one train", folder,
                       level->names[TEST] ? level->names[TEST] : level->names[VALID]);
    if (level->counts[NO_HALF] && !level->begins[NO_HALF] && level->begins[TRAIN] &&
        level->begins[TEST] + level->begins[VALID])
        return ys_fail(YS_EFORMAT,
                       "%s has folders alone whose names begin as those of halves do (one is %s): put classes into "
                       "halves, as train/CLASS/..., or give a list of images and classes, photos.csv",
                       folder, level->names[NO_HALF]);
    if (!named)
        return check_alike(folder, level);
    for (enum folder_half half = TRAIN; half < HALVES && level->counts[NO_HALF] > 0; half++) {
        bool is_half = false;
        if (level->names[half])
            YS_TRY(holds_folders_alone(folder, level->names[half], &is_half));
        if (is_half)
            return ys_fail(
                YS_EFORMAT,
                "%s has %s, a name for rows to train or to test on, and %s, which is none: move what is no half "
                "elsewhere, or give %s another name if it is a class",
                folder, level->names[half], level->names[NO_HALF], level->names[half]);
    }
    return YS_OK;
}

ys_status ys_halves_check_class(const char *folder)
{
    struct level level;
    YS_TRY(read_level(folder, false, &level));
    const bool is_cut = level.names[TRAIN] && (level.names[TEST] || level.names[VALID]) && !level.counts[NO_HALF];
    ys_status status =
        is_cut
            ? ys_fail(YS_EFORMAT,
                      "%s has %s and %s within a class: put classes into halves, as %s/CLASS/..., or give this folder "
                      "as the data if it is the whole",
                      folder, level.names[TRAIN], level.names[TEST] ? level.names[TEST] : level.names[VALID],
                      level.names[TRAIN])
            : YS_OK;
    level_fini(&level);
    return status;
}

/* What a third part has: its images are in no half. */
static ys_status leave_third(const char *path, const struct level *level, bool lists, struct ys_image_search *found)
{
    struct ys_image_search third = {0};
    char *part = ys_path_join(path, level->names[VALID]);
    char *what = ys_format("of %s (%s is there to test on)", level->names[VALID], level->names[TEST]);
    ys_status status = lists ? ys_found_list(part, true, &third) : ys_found_classes(part, true, &third);
    if (status != YS_EINTR) /* what is wrong with it does not matter */
        ys_found_leave(found, third.count, what);
    ys_found_fini(&third);
    ys_free(part);
    ys_free(what);
    return status == YS_EINTR ? status : YS_OK;
}

/* Tiny ImageNet has val/images and val/val_annotations.txt in the place of classes, and a folder `test` of images whose
 * classes were never published. New string, NULL where there is none. */
static char *find_annotations(const char *path)
{
    char *list = ys_format("%s/val/val_annotations.txt", path);
    if (ys_fs_exists(list))
        return list;
    ys_free(list);
    return NULL;
}

static ys_status read_half(const char *path, const char *name, bool lists, bool tests, struct ys_image_search *found)
{
    char *half = ys_path_join(path, name);
    ys_status status = lists ? ys_found_list(half, tests, found) : ys_found_classes(half, tests, found);
    ys_free(half);
    return status;
}

static ys_status read_halves(const char *path, const struct level *level, bool lists, struct ys_image_search *found,
                             bool *split)
{
    const char *test = level->names[TEST] ? level->names[TEST] : level->names[VALID];
    YS_TRY(read_half(path, level->names[TRAIN], lists, false, found));
    char *annotations = lists ? NULL : find_annotations(path);
    *split = annotations || test;
    if (annotations) {
        ys_status status = ys_found_annotations(annotations, found);
        ys_free(annotations);
        return status;
    }
    if (test)
        YS_TRY(read_half(path, test, lists, true, found));
    return level->names[TEST] && level->names[VALID] ? leave_third(path, level, lists, found) : YS_OK;
}

/* *found_any: there are lists, or with folders halves. */
static ys_status read_if_halves(const char *path, bool lists, struct ys_image_search *found, bool *split,
                                bool *are_halves)
{
    struct level level;
    YS_TRY(read_level(path, lists, &level));
    *are_halves = false;
    if (lists) { /* others than of halves do not matter, and neither do these where there is none to train on */
        level.counts[NO_HALF] = 0;
        ys_free(level.names[NO_HALF]);
        level.names[NO_HALF] = NULL;
    }
    ys_status status = YS_OK;
    if (!lists || level.names[TRAIN])
        status = find_halves(path, &level, are_halves);
    if (status == YS_OK && *are_halves)
        status = read_halves(path, &level, lists, found, split);
    level_fini(&level);
    return status;
}

ys_status ys_found_images(const char *path, struct ys_image_search *found, bool *split)
{
    bool are_halves = false;
    *split = false;
    if (!ys_fs_exists(path))
        return ys_fail(YS_ENOTFOUND, "there is no %s", path);
    if (!ys_fs_is_dir(path))
        return ys_found_list(path, false, found);
    YS_TRY(read_if_halves(path, true, found, split, &are_halves));
    if (!are_halves)
        YS_TRY(read_if_halves(path, false, found, split, &are_halves));
    return are_halves ? YS_OK : ys_found_classes(path, false, found);
}
