/* Files of a fuzz corpus, each with what is to be said of it. */
#ifndef YS_TESTS_DATA_CORPUS_H
#define YS_TESTS_DATA_CORPUS_H

#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "tap.h"
#include <stdlib.h>

struct refused {
    const char *name, *message;
};

/** The bytes of tests/fuzz/`corpus`/`name`, into an empty buffer. */
static void read_corpus(const char *corpus, const char *name, struct ys_buf *bytes)
{
    char *path = ys_format("%s/tests/fuzz/%s/%s", getenv("YS_SOURCE_ROOT"), corpus, name);
    REQUIRE(ys_fs_read(path, (size_t)1 << 20, bytes) == YS_OK);
    ys_free(path);
}

#endif
