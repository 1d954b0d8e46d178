#include "data/sets/text_bytes.h"

#include "base/mem.h"
#include "data/sets/corpus.h"

/* There are no sums to compare with, so that nothing is unverified. */
static ys_status read_text(const char *path, bool unverified, struct ys_data_rows *train, struct ys_data_rows *test,
                           bool *verified)
{
    struct ys_buf bytes = {0};
    (void)unverified;
    YS_TRY(ys_corpus_read(path, &bytes));
    int32_t *tokens = ys_alloc(bytes.size, sizeof *tokens);
    for (size_t i = 0; i < bytes.size; i++)
        tokens[i] = (uint8_t)bytes.data[i];
    ys_status status = ys_corpus_cut("text", path, "bytes", tokens, bytes.size, train, test);
    ys_free(tokens);
    ys_buf_free(&bytes);
    *verified |= status == YS_OK;
    return status;
}

/** The next line that is not empty, from *at on, which moves behind it; its bytes without the end of the line. NULL:
 * there is none. */
static const char *next_line(const struct ys_buf *bytes, size_t *at, size_t *length)
{
    while (*at < bytes->size && bytes->data[*at] == '\n')
        ++*at;
    const size_t from = *at;
    while (*at < bytes->size && bytes->data[*at] != '\n')
        ++*at;
    *length = *at - from;
    return *length > 0 ? bytes->data + from : NULL;
}

/** A line and its end; what it does not fill is hidden. */
static void fill_line(const char *line, size_t length, int32_t *x, int64_t *y)
{
    for (size_t i = 0; i < YS_TEXT_ROW; i++) {
        x[i] = i < length ? (uint8_t)line[i] : 0;
        y[i] = i + 1 < length ? (uint8_t)line[i + 1] : i + 1 == length ? '\n' : YS_ROWS_HIDDEN;
    }
}

static void fill_lines(const struct ys_buf *bytes, size_t *at, struct ys_data_rows *rows)
{
    size_t length;
    for (int64_t row = 0; row < rows->count; row++) {
        const char *line = next_line(bytes, at, &length);
        fill_line(line, length, (int32_t *)rows->array[0] + row * YS_TEXT_ROW,
                  ys_data_labels(rows) + row * YS_TEXT_ROW);
    }
}

static ys_status cut_lines(const char *path, const struct ys_buf *bytes, struct ys_data_rows *train,
                           struct ys_data_rows *test)
{
    size_t at = 0, length;
    int64_t count = 0;
    while (next_line(bytes, &at, &length))
        count++;
    if (count < 2)
        return ys_fail(YS_EFORMAT, "%s has %lld lines that are not empty: it takes one to train on and one to test on",
                       path, (long long)count);
    ys_corpus_room("lines", count, train, test);
    at = 0;
    fill_lines(bytes, &at, train);
    fill_lines(bytes, &at, test);
    return YS_OK;
}

static ys_status read_lines(const char *path, bool unverified, struct ys_data_rows *train, struct ys_data_rows *test,
                            bool *verified)
{
    struct ys_buf bytes = {0};
    (void)unverified;
    YS_TRY(ys_corpus_read(path, &bytes));
    ys_status status = cut_lines(path, &bytes, train, test);
    ys_buf_free(&bytes);
    *verified |= status == YS_OK;
    return status;
}

#define OF_ONES_OWN(name, reads)                                                                                       \
    const struct ys_data_published name = {                                                                            \
        .mirrors = (const char *const[]){NULL},                                                                        \
        .files = (const char *const[]){NULL},                                                                          \
        .from_file = true,                                                                                             \
        .read = reads,                                                                                                 \
    }
OF_ONES_OWN(ys_text_published, read_text);
OF_ONES_OWN(ys_lines_published, read_lines);
