/* Small safetensors files for the tests of this room. */
#ifndef YS_TESTS_VERIFY_FILES_H
#define YS_TESTS_VERIFY_FILES_H

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/stored/safetensors.h"
#include "graph/graph.h"

#include <stdio.h>
#include <stdlib.h>

static char files_folder[64];

static void files_remove(void)
{
    if (ys_fs_remove_tree(files_folder) != YS_OK)
        fprintf(stderr, "%s\n", ys_error());
}

/* A path in this program's own folder; valid until the next call but three. */
__attribute__((unused)) static const char *files_path(const char *name)
{
    static char paths[4][256];
    static int next;
    if (!files_folder[0]) {
        snprintf(files_folder, sizeof files_folder, "/tmp/ys-verify-XXXXXX");
        if (!mkdtemp(files_folder))
            abort();
        atexit(files_remove);
    }
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", files_folder, name);
    return path;
}

__attribute__((unused)) static struct ys_tensor vector64(const char *name, const double *values, int64_t n)
{
    return (struct ys_tensor){.name = name,
                              .dtype = YS_F64,
                              .rank = 1,
                              .shape = {n},
                              .data = values,
                              .size_bytes = (size_t)n * sizeof *values};
}

__attribute__((unused)) static struct ys_tensor scalar64(const char *name, const double *value)
{
    return (struct ys_tensor){.name = name, .dtype = YS_F64, .rank = 0, .data = value, .size_bytes = sizeof *value};
}

/* Writes the tensors and opens the file again. */
__attribute__((unused)) static struct ys_safetensors *files_make(const char *name, const struct ys_tensor *tensors,
                                                                 size_t count)
{
    struct ys_safetensors *file = NULL;
    const char *path = files_path(name);
    if (ys_safetensors_write(path, tensors, count, NULL) != YS_OK || ys_safetensors_open(path, &file) != YS_OK) {
        fprintf(stderr, "%s\n", ys_error());
        abort();
    }
    return file;
}

#endif
