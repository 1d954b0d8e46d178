/* Data sets: what there is, and one prepared file for each half of it, the same for every framework.
 *
 * Prepared files lie in the cache folder, data/NAME/VERSION/train.safetensors and test.safetensors. Each holds an array
 * for each input, under its name, and the targets, y, all with n rows: of images x, U8 [n, channels, height, width],
 * and y, I64 [n]. VERSION is a hash of their content, so that nothing is ever replaced; the file data/NAME/current says
 * which version is current. docs/data.md describes the sets. */
#ifndef YS_DATA_DATASET_H
#define YS_DATA_DATASET_H

#include "base/files/lock.h"
#include "base/files/working_folder.h"
#include "base/json/json.h"
#include "base/json/record.h"
#include "base/status.h"
#include "base/stored/row_form.h"
#include "base/stored/safetensors.h"
#include <stdbool.h>
#include <stdint.h>

struct ys_data_published;
struct ys_data_rows;

/** What is known of a data set before any file of it is here. */
struct ys_data_source {
    const char *name, *title;
    const struct ys_data_published *published; /* where it comes from; NULL when yardstick makes it itself */
    struct ys_rows rows; /* what a row is; input_count is 0 when it follows the model, as the counts are then */
    int64_t train_count, test_count; /* as published */
    int64_t max_bytes;               /* of the inputs to train on, where they follow the model */
    const char *edition;             /* prepared files of another edition are made again */
    const char *folder;              /* of the prepared files, in data/ of the cache; NULL: the name */

    /* For one that yardstick makes: how to fill `rows` of a half, "train" or "test"; and the sums it must give, where
     * they are written down. */
    void (*draw)(const struct ys_data_source *source, const char *half, struct ys_data_rows *rows);
    const char *train_hash, *test_hash;

    bool is_stream;     /* each row goes on where the one before it ends */
    bool hides_targets; /* of some rows more positions than of others */
    bool needs_images;  /* follows models alone that take images and tell classes apart */

    bool is_decoded; /* the images of a folder, which is its name */
    bool is_listed;  /* of which those to train on stay in their files */
    int64_t skipped; /* images of it that were left out */
};

/** All sets, ended by a NULL name. */
const struct ys_data_source *ys_data_sources(void);
/** Whether `text` is no name of a set but a folder or a list of images: it has a slash, or is there, seen from
 * `folder`. */
bool ys_data_is_path(const char *folder, const char *text);
/** NULL when there is none of that name. */
const struct ys_data_source *ys_data_find(const char *name);
/** The same by what a user wrote, which may differ in capitals, - and _. */
const struct ys_data_source *ys_data_named(const char *name);

/** The rows that are asked for; as in struct ys_dataset. */
struct ys_data_wanted {
    const char *train_hash, *test_hash; /* both NULL: the current ones */
    bool skips_bad;                     /* leave out images of a folder that cannot be decoded; otherwise a failure */
    bool lists;                         /* images of a folder to train on stay in their files (data/listed_images.h) */
};

/** A prepared set. All strings are owned. */
struct ys_dataset {
    char *name;
    char *folder;                       /* of the version; it stays as long as it is held */
    struct ys_lock lock;                /* which holds it */
    char *train_path, *test_path;       /* absolute */
    char train_hash[65], test_hash[65]; /* SHA-256 of the rows: docs/data.md */
    int64_t train_count, test_count;
    struct ys_rows rows; /* what a row is, and what it counts as */
    double scale;        /* of bytes, pixels: pixel * scale is in [0, 1] */
    bool verified;       /* equal to what was published, or generated */
    bool generated;      /* by yardstick: it can make it again */
    bool is_decoded;     /* from the folder that it is named by: there is nothing to verify it against */
    bool skips_bad;      /* as it was asked for */
    bool is_listed; /* the file to train on lists images that are decoded when they are wanted (data/listed_images.h) */
    int64_t skipped; /* images that were left out */
    char *left_out;  /* what else lies there (data/folders/folder.h); NULL: nothing */
    char *source;    /* where it came from, for people */
    char *form;      /* of one that follows the model: ys_data_form(); NULL */
};

/** "3x224x224", or "3x224x224 live" of images that stay in their files: which of several forms a set was prepared in
 * that follows the model. New string. */
char *ys_data_form(const struct ys_rows *rows, bool is_listed);

/** From the cache, or generated or decoded now. `name` is that of a set, or the absolute path of a folder or list of
 * images (data/folders/folder.h). Fast when prepared: the files' headers and labels are checked, the pixels are not
 * read (ys_data_check() does). `wanted` NULL is the current version; otherwise it is the one with these rows, and
 * YS_ENOTFOUND says what to do when that is gone. `form` is for the sets whose form follows the model, and for
 * folders (the others take no notice of it, and NULL): what the model wants of a row, of up to its max_bytes
 * and 2^31 classes. YS_EINVAL for an unknown name, a form that is missing or too large; YS_ENOTFOUND when the set must
 * be fetched first, with the command to do it; YS_EFORMAT when the prepared files are damaged and cannot be made again
 * here; YS_EIO. `dataset` is untouched on failure. */
ys_status ys_data_prepare(const char *name, const struct ys_rows *form, const struct ys_data_wanted *wanted,
                          struct ys_dataset *dataset) YS_MUST_CHECK;

/** Compares the prepared files with their sums: in full the first time in this process, then by size, inode and times
 * (base/stored/sealed.h). What is damaged is made again, with a warning, where yardstick makes it itself; otherwise
 * YS_EFORMAT says how to fetch it. Damage after something was measured with the files (ys_sealed_use() of the folder)
 * is YS_EIO.
 */
ys_status ys_data_check(const struct ys_dataset *dataset) YS_MUST_CHECK;
void ys_dataset_fini(struct ys_dataset *dataset); /* a zeroed one is fine */

/** Imports the published files from the folder or archive `from`, or downloads them when it is NULL, and makes them the
 * current version. The version before stays, so that studies that began with it go on; those before it are removed
 * unless they are held. Files that are not those published are refused (YS_EFORMAT) unless `unverified`; then whatever
 * is whole and of the right form is taken and marked. A generated set is only prepared. Several processes may do this
 * at once.
 */
ys_status ys_data_fetch(const char *name, const char *from, bool unverified) YS_MUST_CHECK;

enum ys_data_state {
    YS_DATA_READY,
    YS_DATA_MISSING,   /* `command` says how to get it */
    YS_DATA_GENERATED, /* made when first used */
};
extern const struct ys_names ys_data_states; /* "ready", "missing", "generated" */

/** A set as `list datasets` shows it; texts are owned. */
struct ys_data_entry {
    char *name, *title;
    int state;                    /* enum ys_data_state */
    char *unit;                   /* of a row; NULL where it follows the model */
    struct ys_list shape;         /* int64_t: of the first input, none where it follows the model */
    int64_t classes, train, test; /* YS_FIELD_NONE likewise */
    char *command;                /* NULL unless missing */
    int verified;                 /* whether it is the published one; it and the next are unknown unless ready */
    char *source, *train_hash;
};
extern const struct ys_record ys_data_entry_record;

/** All sets: a list of struct ys_data_entry, which is overwritten; ys_list_fini() frees it. YS_EIO. */
ys_status ys_data_list(struct ys_list *list) YS_MUST_CHECK;

/** Removes what killed processes left, and every version that is not current and that nobody holds. */
void ys_data_sweep(const struct ys_sweep *sweep);

#endif
