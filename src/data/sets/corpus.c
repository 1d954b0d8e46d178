#include "data/sets/corpus.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int is_text(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".txt") == 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Behind what `bytes` has. */
static ys_status read_file(const char *path, struct ys_buf *bytes)
{
    static const char pointer[] = "version https://git-lfs";
    const size_t before = bytes->size;
    YS_TRY(ys_fs_read(path, YS_CORPUS_MAX_BYTES - before, bytes));
    return strncmp(ys_buf_text(bytes) + before, pointer, sizeof pointer - 1) != 0
               ? YS_OK
               : ys_fail(YS_EFORMAT,
                         "%s is a pointer of Git LFS, without the text that it stands for: `git lfs pull` fetches it",
                         path);
}

static ys_status read_folder(const char *folder, struct ys_buf *bytes)
{
    struct dirent **names = NULL;
    const int count = scandir(folder, &names, is_text, by_bytes);
    if (count < 0)
        return ys_fail(YS_EIO, "%s cannot be read: %s", folder, strerror(errno));
    ys_status status =
        count > 0 ? YS_OK
                  : ys_fail(YS_ENOTFOUND, "%s has no file whose name ends in .txt: those are read as text", folder);
    for (int i = 0; i < count; i++) {
        char *path = ys_path_join(folder, names[i]->d_name);
        if (status == YS_OK)
            status = read_file(path, bytes);
        ys_free(path);
        free(names[i]);
    }
    free(names);
    return status;
}

ys_status ys_corpus_read(const char *path, struct ys_buf *bytes)
{
    ys_status status = ys_fs_is_dir(path) ? read_folder(path, bytes) : read_file(path, bytes);
    if (status != YS_OK)
        ys_buf_free(bytes);
    return status;
}

int64_t ys_corpus_tests(int64_t count)
{
    const int64_t share = 10;
    return count >= share ? count / share : 1;
}

void ys_corpus_room(const char *set, int64_t count, struct ys_data_rows *train, struct ys_data_rows *test)
{
    const struct ys_rows *form = &ys_data_find(set)->rows;
    ys_data_rows_init(train, form, count - ys_corpus_tests(count));
    ys_data_rows_init(test, form, ys_corpus_tests(count));
}

static void fill(const int32_t *tokens, int64_t row, struct ys_data_rows *rows)
{
    int32_t *x = rows->array[0];
    int64_t *y = ys_data_labels(rows);
    for (int64_t i = 0; i < rows->count * row; i++) {
        x[i] = tokens[i];
        y[i] = tokens[i + 1];
    }
}

ys_status ys_corpus_cut(const char *set, const char *path, const char *unit, const int32_t *tokens, size_t count,
                        struct ys_data_rows *train, struct ys_data_rows *test)
{
    const int64_t row = ys_data_find(set)->rows.inputs[0].shape[0];
    const int64_t rows = count > 0 ? ((int64_t)count - 1) / row : 0;
    if (rows < 2)
        return ys_fail(YS_EFORMAT, "%s has %zu %s: a row to train on and one to test on take %lld", path, count, unit,
                       (long long)(2 * row + 1));
    ys_corpus_room(set, rows, train, test);
    fill(tokens, row, train);
    fill(tokens + train->count * row, row, test);
    return YS_OK;
}
