/* A folder of its own for each test program, with cache and recipes inside. */
#ifndef YS_TESTS_FRAMEWORK_SCRATCH_H
#define YS_TESTS_FRAMEWORK_SCRATCH_H

#include "base/files/fs.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch[64];

/* Makes the folder at the first call; everything in it goes at exit. */
static const char *scratch_dir(void);

static void scratch_remove(void)
{
    if (ys_fs_remove_tree(scratch) != YS_OK)
        fprintf(stderr, "%s\n", ys_error());
}

static const char *scratch_dir(void)
{
    if (!scratch[0]) {
        snprintf(scratch, sizeof scratch, "/tmp/ys-framework-XXXXXX");
        if (!mkdtemp(scratch))
            abort();
        setenv("YARDSTICK_CACHE", scratch, 1);
        setenv("XDG_CONFIG_HOME", scratch, 1);
        atexit(scratch_remove);
    }
    return scratch;
}

/* Writes `text` to scratch/name; the path is valid until the next call. */
__attribute__((unused)) static const char *scratch_write(const char *name, const char *text)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", scratch_dir(), name);
    char *folder = ys_path_dir(path);
    if (ys_fs_make_dirs(folder) != YS_OK || ys_fs_write(path, text, strlen(text)) != YS_OK)
        abort();
    ys_free(folder);
    return path;
}

#endif
