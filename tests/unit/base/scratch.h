/* A folder of the test's own, removed when the program ends. */
#ifndef YS_TESTS_BASE_SCRATCH_H
#define YS_TESTS_BASE_SCRATCH_H

#include "base/files/fs.h"
#include "base/mem.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char scratch_folder[PATH_MAX];

static void scratch_remove(void)
{
    if (ys_fs_remove_tree(scratch_folder) != YS_OK)
        fprintf(stderr, "%s\n", ys_error());
}

/** The path of `name` in the folder; borrowed until the eighth call from now. */
__attribute__((unused)) static const char *scratch(const char *name)
{
    static char paths[8][PATH_MAX + 256];
    static unsigned next;
    if (!scratch_folder[0]) {
        const char *temporary = getenv("TMPDIR");
        snprintf(scratch_folder, sizeof scratch_folder, "%s/ys-test-XXXXXX", temporary ? temporary : "/tmp");
        if (!mkdtemp(scratch_folder)) {
            perror(scratch_folder);
            exit(1);
        }
        atexit(scratch_remove);
    }
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
    return path;
}

/** Writes a text file and returns its path. */
__attribute__((unused)) static const char *scratch_text(const char *name, const char *text)
{
    const char *path = scratch(name);
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    return path;
}

#endif
