#include "data/sets/tiny_imagenet.h"
#include "base/files/fs.h"
#include "base/files/working_folder.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "data/archives/zip.h"
#include "data/sets/decoded_images.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char INNER[] = "tiny-imagenet-200";

/* Its publishers give no sum; this one is passed on by others since. */
static const char MD5[] = "90528d7ca1a48142e341f4ef8d21d0de";

enum { MAX_FILE_BYTES = 16 << 20, MAX_FILES = 200000 };
static const size_t MAX_ALL_BYTES = (size_t)1 << 30;

/** What is unpacked so far. */
struct unpacking {
    struct ys_zip zip;
    const char *folder;
    char *made; /* the folder that was made last; owned */
    uint8_t *room;
    size_t files, bytes;
};

/* Of a relative path: no empty part, and none that begins with a dot. */
static bool stays_below(const char *path)
{
    for (const char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        if (*part == '.' || *part == '/' || *part == '\0')
            return false;
    return true;
}

/* "train/..." or "val/..." of a file that is wanted; NULL of any other member. */
static const char *wanted_path(const char *name)
{
    const size_t inner = sizeof INNER - 1;
    if (strncmp(name, INNER, inner) != 0 || name[inner] != '/' || name[strlen(name) - 1] == '/')
        return NULL;
    const char *path = name + inner + 1;
    return strncmp(path, "train/", 6) == 0 || strncmp(path, "val/", 4) == 0 ? path : NULL;
}

static ys_status write_new(const char *path, const uint8_t *bytes, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno == EEXIST ? ys_fail(YS_EFORMAT, "the archive holds %s twice", path)
                               : ys_fail(YS_EIO, "cannot write %s: %s", path, strerror(errno));
    ssize_t wrote = 0;
    while (size > 0 && (wrote = write(fd, bytes, size)) > 0) {
        bytes += wrote;
        size -= (size_t)wrote;
    }
    const int error = size > 0 ? errno : 0;
    if (close(fd) != 0 || error)
        return ys_fail(YS_EIO, "cannot write %s: %s", path, strerror(error ? error : errno));
    return YS_OK;
}

/* Members of a folder come one after the other, so that it is made once. */
static ys_status make_folder_of(struct unpacking *u, const char *path)
{
    char *folder = ys_path_dir(path);
    const bool is_made = u->made && strcmp(u->made, folder) == 0;
    const ys_status status = is_made ? YS_OK : ys_fs_make_dirs(folder);
    ys_free(u->made);
    u->made = folder;
    return status;
}

static ys_status check_room(struct unpacking *u, const struct ys_zip_member *member)
{
    if (member->size > MAX_FILE_BYTES)
        return ys_fail(YS_EFORMAT, "%s: %s has %zu bytes: at most %d are read", u->zip.name, member->name, member->size,
                       MAX_FILE_BYTES);
    u->bytes += member->size;
    if (++u->files > MAX_FILES || u->bytes > MAX_ALL_BYTES)
        return ys_fail(YS_EFORMAT, "%s holds more than %d files or %zu bytes: that is no Tiny ImageNet", u->zip.name,
                       MAX_FILES, MAX_ALL_BYTES);
    return YS_OK;
}

static ys_status unpack_one(struct unpacking *u, const struct ys_zip_member *member)
{
    const char *below = wanted_path(member->name);
    if (!below)
        return YS_OK;
    if (!stays_below(below))
        return ys_fail(YS_EFORMAT, "%s: the name %s leads out of its folder", u->zip.name, member->name);
    YS_TRY(check_room(u, member));
    YS_TRY(ys_zip_read(&u->zip, member, u->room));
    char *path = ys_path_join(u->folder, below);
    ys_status status = make_folder_of(u, path);
    if (status == YS_OK)
        status = write_new(path, u->room, member->size);
    ys_free(path);
    return status;
}

ys_status ys_tiny_unpack(const uint8_t *bytes, size_t size, const char *name, const char *folder)
{
    struct unpacking u = {.folder = folder};
    struct ys_zip_member member;
    bool ended = false;
    YS_TRY(ys_zip_open(bytes, size, name, &u.zip));
    u.room = ys_alloc(MAX_FILE_BYTES, 1);
    ys_status status = YS_OK;
    while (status == YS_OK && !ended) {
        status = ys_stop_signal() ? ys_stopped() : ys_zip_next(&u.zip, &member, &ended);
        if (status == YS_OK && !ended)
            status = unpack_one(&u, &member);
    }
    if (status == YS_OK && u.files == 0)
        status = ys_fail(YS_EFORMAT, "%s holds no %s/train", name, INNER);
    ys_free(u.made);
    ys_free(u.room);
    return status;
}

static ys_status unpack_archive(const char *path, bool unverified, const char *folder, bool *verified)
{
    struct ys_buf bytes = {0};
    char md5[YS_MD5_TEXT] = "";
    ys_status status = ys_fs_read(path, YS_DATA_MAX_FILE_BYTES, &bytes);
    if (status == YS_OK)
        ys_md5_text(ys_buf_text(&bytes), bytes.size, md5);
    *verified = strcmp(md5, MD5) == 0;
    if (status == YS_OK && !*verified && !unverified)
        status = ys_fail(YS_EFORMAT,
                         "%s is not the archive that is known: its MD5 is %s, not %s (--unverified takes it, and marks "
                         "it)",
                         path, md5, MD5);
    if (status == YS_OK)
        ys_log_info("unpacking %s", path);
    if (status == YS_OK)
        status = ys_tiny_unpack((const uint8_t *)ys_buf_text(&bytes), bytes.size, path, folder);
    ys_buf_free(&bytes);
    return status;
}

static ys_status import_archive(const struct ys_data_source *source, const char *path, const char *origin,
                                bool unverified, bool *verified)
{
    struct ys_working working;
    YS_TRY(ys_working_in_cache("data", &working));
    ys_status status = unpack_archive(path, unverified, working.path, verified);
    if (status == YS_OK)
        status = ys_decoded_import(source, working.path, origin, *verified);
    ys_working_remove(&working);
    return status;
}

static ys_status import_folder(const struct ys_data_source *source, const char *folder, const char *origin,
                               bool unverified, bool *verified)
{
    *verified = false;
    if (!unverified)
        return ys_fail(YS_EFORMAT,
                       "%s holds unpacked images, of which no sums are known: give the archive %s (MD5 %s), or take "
                       "them with --unverified, which marks them",
                       folder, YS_TINY_ARCHIVE, MD5);
    return ys_decoded_import(source, folder, origin, false);
}

static ys_status import_tiny(const struct ys_data_source *source, const char *path, const char *origin, bool unverified,
                             bool *verified)
{
    if (!ys_fs_is_dir(path))
        return import_archive(source, path, origin, unverified, verified);
    char *archive = ys_path_join(path, YS_TINY_ARCHIVE), *inner = ys_path_join(path, INNER);
    char *train = ys_path_join(path, "train");
    ys_status status;
    if (ys_fs_exists(archive))
        status = import_archive(source, archive, origin, unverified, verified);
    else if (ys_fs_is_dir(inner) || ys_fs_is_dir(train))
        status = import_folder(source, ys_fs_is_dir(inner) ? inner : path, origin, unverified, verified);
    else
        status = ys_fail(YS_ENOTFOUND, "%s has neither %s nor a folder train", path, YS_TINY_ARCHIVE);
    ys_free(archive);
    ys_free(inner);
    ys_free(train);
    return status;
}

const struct ys_data_published ys_tiny_published = {
    .mirrors = (const char *const[]){"http://cs231n.stanford.edu/", NULL},
    .files = (const char *const[]){YS_TINY_ARCHIVE, NULL},
    .from_file = true,
    .passed_on = true,
    .import = import_tiny,
};
