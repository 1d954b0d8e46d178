#include "store/readable_copy.h"

#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "yardstick-read-"

static ys_status copy_file(const char *from, const char *to)
{
    ys_status status = ys_fs_copy(from, to);
    if (status == YS_EIO)
        return ys_fail_in(status,
                          "%s must be copied to be read, as its folder cannot be written, and cannot be; give "
                          "TMPDIR a folder with room, or make that one writable",
                          from);
    return status;
}

/* What changes when a file is written. */
struct file_mark {
    off_t size_bytes;
    struct timespec changed;
};

static struct file_mark mark_of(const char *path)
{
    struct stat file;
    if (stat(path, &file) != 0)
        return (struct file_mark){.size_bytes = -1};
    return (struct file_mark){.size_bytes = file.st_size, .changed = file.st_mtim};
}

static bool has_changed(const char *path, const struct file_mark *before)
{
    struct file_mark now = mark_of(path);
    return now.size_bytes != before->size_bytes || now.changed.tv_sec != before->changed.tv_sec ||
           now.changed.tv_nsec != before->changed.tv_nsec;
}

static ys_status copy_both(const char *path, const char *journal, const char *copy)
{
    struct file_mark database_was = mark_of(path), journal_was = mark_of(journal);
    char *copied_journal = ys_format("%s-wal", copy);
    ys_status status = copy_file(path, copy);
    if (status == YS_OK)
        status = copy_file(journal, copied_journal);
    ys_free(copied_journal);
    if (status == YS_OK && (has_changed(path, &database_was) || has_changed(journal, &journal_was)))
        return ys_fail(YS_EBUSY, "%s was written while it was being read: try again", path);
    return status;
}

ys_status ys_store_copy(const char *path, struct ys_working *working, char **copy)
{
    const char *named = getenv("TMPDIR"), *parent = named && *named ? named : "/tmp";
    ys_working_sweep(parent, PREFIX, NULL);
    YS_TRY(ys_working_make(parent, PREFIX, working));
    char *made = ys_path_join(working->path, "results.db"), *journal = ys_format("%s-wal", path);
    ys_status status = copy_both(path, journal, made);
    ys_free(journal);
    if (status == YS_OK) {
        *copy = made;
        return YS_OK;
    }
    ys_free(made);
    ys_working_remove(working);
    return status;
}
