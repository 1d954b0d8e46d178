#include "framework/env_files.h"

#include "base/files/fs.h"
#include "base/json/json.h"
#include "base/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LIST_BYTES ((size_t)1 << 30)
#define MAX_DEPTH      64

/* The files of an environment, as they are found. */
struct file_walk {
    char **lines;
    size_t count, capacity;
};

static void free_lines(struct file_walk *walk)
{
    for (size_t i = 0; i < walk->count; i++)
        ys_free(walk->lines[i]);
    ys_free(walk->lines);
}

static void take_line(struct file_walk *walk, char *line_taken)
{
    for (char *c = line_taken; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = '?'; /* a line each */
    walk->lines = ys_grown(walk->lines, walk->count, &walk->capacity, sizeof *walk->lines);
    walk->lines[walk->count++] = line_taken;
}

/* Blanks in the target would make the path begin elsewhere. */
static void take_link(struct file_walk *walk, int folder_fd, const char *name, const char *path)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(folder_fd, name, target, sizeof target - 1);
    if (length < 0)
        return;
    target[length] = 0;
    for (char *c = target; *c; c++)
        if (*c == ' ')
            *c = '?';
    take_line(walk, ys_format("-> %s %s", target, path));
}

static void walk_folder(struct file_walk *walk, int folder_fd, const char *prefix, int depth);

static void take_entry(struct file_walk *walk, int folder_fd, const char *name, const char *path, int depth)
{
    struct stat info;
    if (fstatat(folder_fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (S_ISLNK(info.st_mode))
        take_link(walk, folder_fd, name, path);
    if (S_ISREG(info.st_mode))
        take_line(walk, ys_format("%lld %lld%09ld %s", (long long)info.st_size, (long long)info.st_mtim.tv_sec,
                                  info.st_mtim.tv_nsec, path));
    if (!S_ISDIR(info.st_mode) || strcmp(name, "__pycache__") == 0 || strcmp(path, "cache") == 0 || depth >= MAX_DEPTH)
        return;
    int fd = openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char *prefix = ys_format("%s/", path);
    walk_folder(walk, fd, prefix, depth + 1);
    ys_free(prefix);
}

/* Takes over the descriptor; a folder that cannot be read has no files. */
static void walk_folder(struct file_walk *walk, int folder_fd, const char *prefix, int depth)
{
    DIR *dir = folder_fd >= 0 ? fdopendir(folder_fd) : NULL;
    if (!dir && folder_fd >= 0)
        close(folder_fd);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *path = ys_format("%s%s", prefix, entry->d_name);
        take_entry(walk, folder_fd, entry->d_name, path, depth);
        ys_free(path);
    }
    if (dir)
        closedir(dir);
}

/* What follows the second blank. */
static const char *path_of(const char *line)
{
    const char *blank = strchr(line, ' ');
    blank = blank ? strchr(blank + 1, ' ') : NULL;
    return blank ? blank + 1 : line;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(path_of(*(char *const *)a), path_of(*(char *const *)b));
}

/* The text of installed.files for what lies in `folder` now. */
static void list_files(const char *folder, struct ys_buf *text)
{
    struct file_walk walk = {0};
    char *env = ys_path_join(folder, "env");
    int fd = open(env, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    walk_folder(&walk, fd, "", 0);
    if (walk.count)
        qsort(walk.lines, walk.count, sizeof *walk.lines, by_path);
    for (size_t i = 0; i < walk.count; i++)
        ys_buf_printf(text, "%s\n", walk.lines[i]);
    free_lines(&walk);
    ys_free(env);
}

ys_status ys_env_files_note(const char *folder, char fingerprint[YS_SHA256_TEXT])
{
    struct ys_buf text = {0};
    char *path = ys_path_join(folder, "installed.files");
    list_files(folder, &text);
    ys_status status = ys_fs_write(path, ys_buf_text(&text), text.size);
    if (status == YS_OK)
        ys_sha256_text(ys_buf_text(&text), text.size, fingerprint);
    ys_buf_free(&text);
    ys_free(path);
    return status;
}

/* The lines of a list: `text` is cut into them. */
static void split(struct ys_buf *text, char ***lines, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < text->size; i++)
        *count += text->data[i] == '\n';
    *lines = ys_alloc(*count + 1, sizeof **lines);
    char *at = text->data;
    for (size_t i = 0; i < *count; i++) {
        char *end = strchr(at, '\n');
        *end = 0;
        (*lines)[i] = at;
        at = end + 1;
    }
}

/* Two sorted lists side by side. */
static void compare(char **then, size_t then_count, char **now, size_t now_count, struct ys_env_files *files)
{
    const char *missing = NULL, *changed = NULL, *added = NULL; /* the first lines of each kind */
    for (size_t t = 0, n = 0; t < then_count || n < now_count;) {
        int order = t == then_count ? 1 : n == now_count ? -1 : by_path(&then[t], &now[n]);
        if (order < 0 && files->missing++ == 0)
            missing = then[t];
        else if (order > 0 && files->added++ == 0)
            added = now[n];
        else if (order == 0 && strcmp(then[t], now[n]) != 0 && files->changed++ == 0)
            changed = now[n];
        t += order <= 0;
        n += order >= 0;
    }
    const char *first = missing ? missing : changed ? changed : added;
    files->how = missing ? "is missing" : changed ? "changed" : "is new";
    files->first = first ? ys_strdup(path_of(first)) : NULL;
}

/* The list of the installation says which files differ. Without it, or with one that was changed itself, that is all
 * that is known. */
static void find_differences(const char *folder, const char *then_fingerprint, struct ys_buf *now,
                             struct ys_env_files *files)
{
    struct ys_buf then = {0};
    char hash[YS_SHA256_TEXT] = "", **then_lines = NULL, **now_lines = NULL,
         *path = ys_path_join(folder, "installed.files");
    size_t then_count, now_count;
    if (ys_fs_read(path, MAX_LIST_BYTES, &then) == YS_OK)
        ys_sha256_text(ys_buf_text(&then), then.size, hash);
    if (strcmp(hash, then_fingerprint) != 0) {
        files->changed = 1;
        files->how = "changed";
        files->first = ys_strdup("../installed.files");
    } else {
        split(&then, &then_lines, &then_count);
        split(now, &now_lines, &now_count);
        compare(then_lines, then_count, now_lines, now_count, files);
    }
    ys_free(then_lines);
    ys_free(now_lines);
    ys_free(path);
    ys_buf_free(&then);
}

/* What runs the adapter of a framework that the user built. */
static void look_at_program(const char *program, struct ys_env_files *files)
{
    struct stat info = {0};
    char hash[YS_SHA256_TEXT] = "";
    if (stat(program, &info) != 0 || ys_sha256_file(program, hash) != YS_OK)
        return;
    char *text = ys_format("%lld %lld%09ld %s %s", (long long)info.st_size, (long long)info.st_mtim.tv_sec,
                           info.st_mtim.tv_nsec, hash, program);
    ys_sha256_text(text, strlen(text), files->fingerprint);
    ys_free(text);
}

static void look_at_files(const char *folder, const char *then, struct ys_env_files *files)
{
    struct ys_buf now = {0};
    list_files(folder, &now);
    ys_sha256_text(ys_buf_text(&now), now.size, files->fingerprint);
    files->known = then != NULL;
    if (then && strcmp(then, files->fingerprint) != 0)
        find_differences(folder, then, &now, files);
    ys_buf_free(&now);
}

ys_status ys_env_files_look(const char *folder, struct ys_env_files *files)
{
    ys_json *installed = NULL;
    char *path = ys_path_join(folder, "installed.json");
    *files = (struct ys_env_files){0};
    ys_status status = ys_json_read(path, &installed);
    const char *program = ys_json_get_text(installed, "interpreter", NULL);
    if (status == YS_OK && program)
        look_at_program(program, files);
    else if (status == YS_OK)
        look_at_files(folder, ys_json_get_text(installed, "fingerprint", NULL), files);
    ys_json_free(installed);
    ys_free(path);
    return status;
}

void ys_env_files_fini(struct ys_env_files *files)
{
    ys_free(files->first);
    *files = (struct ys_env_files){0};
}

size_t ys_env_files_count(const struct ys_env_files *files)
{
    return files->changed + files->missing + files->added;
}

char *ys_env_files_text(const struct ys_env_files *files, const char *folder)
{
    size_t count = ys_env_files_count(files);
    return ys_format("%zu file%s of %s %s not as %s installed (%s %s)", count, count == 1 ? "" : "s",
                     ys_path_base(folder), count == 1 ? "is" : "are", count == 1 ? "it was" : "they were",
                     files->first ? files->first : "?", files->how ? files->how : "changed");
}
