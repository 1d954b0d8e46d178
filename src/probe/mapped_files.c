#include "probe/mapped_files.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "probe/procfs.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *const libc_names[] = {"libc.so", "libc-",  "ld-",        "libm.so",   "libm-",   "libmvec",
                                         "libdl",   "librt.", "libpthread", "libresolv", "libutil", NULL};
static const char *const interpreters[] = {"python", "libpython", "luajit", "libluajit", "lua", NULL};

static bool begins(const char *name, const char *const *with)
{
    for (size_t i = 0; with[i]; i++)
        if (strncmp(name, with[i], strlen(with[i])) == 0)
            return true;
    return false;
}

static bool is_new(struct ys_mapped_files *files, const struct stat *file)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->seen[i].inode == file->st_ino && files->seen[i].device == file->st_dev)
            return false;
    if (files->count == files->room) {
        files->room = 2 * files->room + 64;
        files->seen = ys_realloc(files->seen, files->room, sizeof *files->seen);
    }
    files->seen[files->count++] = (struct ys_mapped_file){file->st_dev, file->st_ino};
    return true;
}

void ys_mapped_files_add_path(struct ys_mapped_files *files, const char *path)
{
    struct stat file;
    const char *name = ys_path_base(path);
    if (stat(path, &file) != 0 || !S_ISREG(file.st_mode) || !is_new(files, &file))
        return;
    *(begins(name, libc_names)     ? &files->libc_bytes
      : begins(name, interpreters) ? &files->interpreter_bytes
                                   : &files->other_bytes) += file.st_size;
}

static bool is_left_out(const char *path, const char *but, const char *const *others)
{
    const size_t length = strlen(but);
    if (strncmp(path, but, length) == 0 && path[length] == '/')
        return true;
    for (size_t i = 0; others[i]; i++)
        if (strcmp(path, others[i]) == 0)
            return true;
    return strncmp(path, "/dev/", 5) == 0;
}

ys_status ys_mapped_files_add(struct ys_mapped_files *files, const char *root, pid_t pid, const char *but,
                              const char *const *others)
{
    char name[YS_PROCFS_PATH];
    struct ys_buf text = {0};
    const char *last = "";
    snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
    ys_status status = ys_procfs_read_all(root, name, &text);
    for (char *line = text.data, *next; status == YS_OK && line && *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        const char *path = strchr(line, '/');
        if (!path || strcmp(path, last) == 0 || is_left_out(path, but, others))
            continue;
        last = path; /* the parts of one file lie side by side */
        ys_mapped_files_add_path(files, path);
    }
    ys_buf_free(&text);
    return status;
}

void ys_mapped_files_fini(struct ys_mapped_files *files)
{
    ys_free(files->seen);
    *files = (struct ys_mapped_files){0};
}
