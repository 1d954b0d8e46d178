/* A folder that looks like MNIST, small. */
#ifndef YS_TESTS_DATA_MNIST_FILES_H
#define YS_TESTS_DATA_MNIST_FILES_H

#include "idx_files.h"
#include "tap.h"
#include "unit/base/scratch.h"

#define FAKE_TRAIN 20
#define FAKE_TEST  10

__attribute__((unused)) static void write_file(const char *folder, const char *name, const void *data, size_t size)
{
    char *path = ys_path_join(scratch(folder), name);
    CHECK(ys_fs_write(path, data, size) == YS_OK);
    ys_free(path);
}

/** An IDX file with `count` images of `side` pixels a side, or labels when it is 0. */
__attribute__((unused)) static void write_idx(const char *folder, const char *name, uint32_t count, uint32_t side,
                                              bool compressed)
{
    struct ys_buf plain = {0}, packed = {0};
    put_head(&plain, side ? 3 : 1, (const uint32_t[]){count, side, side});
    put_bytes(&plain, side ? (size_t)count * side * side : count, side ? 251 : 10);
    if (compressed)
        put_gzip(&packed, plain.data, plain.size);
    write_file(folder, name, compressed ? packed.data : plain.data, compressed ? packed.size : plain.size);
    ys_buf_free(&plain);
    ys_buf_free(&packed);
}

/** Four files that fit together; compressed ones end in .gz. */
__attribute__((unused)) static void write_mnist(const char *folder, bool compressed)
{
    const char *end = compressed ? ".gz" : "";
    char names[4][64];
    snprintf(names[0], sizeof names[0], "train-images-idx3-ubyte%s", end);
    snprintf(names[1], sizeof names[1], "train-labels-idx1-ubyte%s", end);
    snprintf(names[2], sizeof names[2], "t10k-images-idx3-ubyte%s", end);
    snprintf(names[3], sizeof names[3], "t10k-labels-idx1-ubyte%s", end);
    CHECK(ys_fs_make_dirs(scratch(folder)) == YS_OK);
    write_idx(folder, names[0], FAKE_TRAIN, 28, compressed);
    write_idx(folder, names[1], FAKE_TRAIN, 0, compressed);
    write_idx(folder, names[2], FAKE_TEST, 28, compressed);
    write_idx(folder, names[3], FAKE_TEST, 0, compressed);
}

/** The published files, where this machine has them: YS_DATA_DIR/mnist, or beside the source tree. NULL otherwise. To
 * be freed. */
__attribute__((unused)) static char *find_real_mnist(void)
{
    const char *folder = getenv("YS_DATA_DIR"), *root = getenv("YS_SOURCE_ROOT");
    char *path = folder ? ys_format("%s/mnist", folder) : ys_format("%s/../shared/data/mnist", root ? root : ".");
    if (ys_fs_is_dir(path))
        return path;
    ys_free(path);
    return NULL;
}

#endif
