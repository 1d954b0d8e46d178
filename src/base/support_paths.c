/* Where yardstick's own files are, and where it may keep things. */
#include "base/files/fs.h"
#include "base/mem.h"
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char exe_dir[PATH_MAX] = ".";
static pthread_once_t exe_dir_once = PTHREAD_ONCE_INIT;

static void find_exe_dir(void)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return;
    path[length] = 0;
    char *slash = strrchr(path, '/');
    if (slash) {
        slash[slash == path ? 1 : 0] = 0;
        memcpy(exe_dir, path, strlen(path) + 1);
    }
}

const char *ys_exe_dir(void)
{
    pthread_once(&exe_dir_once, find_exe_dir);
    return exe_dir;
}

/** `root`/`between`/`relative` as an absolute path when it exists, otherwise NULL. */
static char *existing(const char *root, const char *between, const char *relative)
{
    char *path = ys_format("%s/%s/%s", root, between, relative);
    char *absolute = path && ys_fs_exists(path) ? ys_path_absolute(path) : NULL;
    ys_free(path);
    return absolute;
}

static bool climbs(const char *relative)
{
    for (const char *part = relative; *part;) {
        size_t length = strcspn(part, "/");
        if (length == 2 && part[0] == '.' && part[1] == '.')
            return true;
        part += length + (part[length] == '/');
    }
    return false;
}

/** Below the prefix of `make install`: programs lie in PREFIX/bin and PREFIX/libexec/yardstick, the rest in
 * PREFIX/share/yardstick. The prefix is taken from where the running program lies, so that a moved tree still works. */
static char *find_installed(const char *relative)
{
    static const char *const folders[] = {"share/yardstick", "bin", "libexec/yardstick"};
    char *parent = ys_path_dir(ys_exe_dir());
    char *grandparent = parent ? ys_path_dir(parent) : NULL;
    const char *const prefixes[] = {parent, grandparent};
    bool is_plain_name = !strchr(relative, '/');
    char *found = NULL;
    for (size_t p = 0; p < 2; p++)
        for (size_t f = 0; f < (is_plain_name ? 3 : 1); f++)
            if (!found && prefixes[p])
                found = existing(prefixes[p], folders[f], relative);
    ys_free(grandparent);
    ys_free(parent);
    return found;
}

static char *find_in_variable(const char *variable, const char *relative)
{
    const char *folder = getenv(variable);
    return folder && folder[0] ? existing(folder, ".", relative) : NULL;
}

char *ys_find_support(const char *relative)
{
    if (!relative[0] || relative[0] == '/' || climbs(relative))
        return NULL;
    char *found = existing(ys_exe_dir(), ".", relative);
    if (!found)
        found = find_installed(relative);
    if (!found && !strchr(relative, '/')) /* programs of a build folder, run from elsewhere */
        found = find_in_variable("YARDSTICK_BIN", relative);
    if (!found)
        found = find_in_variable("YARDSTICK_HOME", relative);
    return found;
}

/** The home folder into `text`; "/" when the user has none. */
static void find_home(char *text, size_t size)
{
    const char *home = getenv("HOME");
    struct passwd entry, *found = NULL;
    char strings[4096];
    if ((!home || home[0] != '/') && getpwuid_r(getuid(), &entry, strings, sizeof strings, &found) == 0 && found)
        home = found->pw_dir;
    snprintf(text, size, "%s", home && home[0] == '/' ? home : "/");
}

char *ys_cache_dir(void)
{
    const char *own = getenv("YARDSTICK_CACHE");
    if (own && own[0])
        return ys_path_absolute(own);
    const char *xdg = getenv("XDG_CACHE_HOME");
    if (xdg && xdg[0] == '/') /* the XDG specification: a relative path is to be ignored */
        return ys_path_join(xdg, "yardstick");
    char home[PATH_MAX];
    find_home(home, sizeof home);
    return ys_path_join(home, ".cache/yardstick");
}

ys_status ys_cache_path(const char *sub, char **path)
{
    char *folder = ys_cache_dir(), *whole = ys_path_join(folder, sub);
    ys_free(folder);
    ys_status status = ys_path_check_text(whole);
    if (status == YS_OK)
        status = ys_fs_make_dirs(whole);
    if (status != YS_OK) {
        ys_free(whole);
        return ys_fail_in(status, "the cache is not usable (YARDSTICK_CACHE names another folder)");
    }
    *path = whole;
    return YS_OK;
}

char *ys_find_on_path(const char *name)
{
    for (const char *at = getenv("PATH"); at && *at;) {
        const size_t length = strcspn(at, ":");
        char *path = ys_format("%.*s/%s", (int)length, at, name);
        if (ys_fs_is_executable(path))
            return path;
        ys_free(path);
        at += length + (at[length] == ':');
    }
    return NULL;
}

char *ys_find_browser(void)
{
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome"};
    char *browser = NULL;
    for (size_t i = 0; !browser && i < sizeof names / sizeof names[0]; i++)
        browser = ys_find_on_path(names[i]);
    return browser;
}
