#include "data/sets/text_words.h"

#include "base/mem.h"
#include "data/sets/corpus.h"
#include <stdlib.h>
#include <string.h>

static const char end_of_line[] = "<eos>", unknown[] = "<unk>";

/** A word of the text, or one of the vocabulary. */
struct word {
    const char *text;
    size_t length, place; /* the first place of it */
    int64_t count;        /* in the part to train on */
    int32_t token;
};

static int by_text(const void *left, const void *right)
{
    const struct word *a = left, *b = right;
    const int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    if (order != 0 || a->length != b->length)
        return order != 0 ? order : a->length < b->length ? -1 : 1;
    return 0;
}

static int by_text_and_place(const void *left, const void *right)
{
    const struct word *a = left, *b = right;
    const int order = by_text(a, b);
    return order != 0 ? order : a->place < b->place ? -1 : 1;
}

/** The most frequent first, of equals that which comes first. */
static int by_count(const void *left, const void *right)
{
    const struct word *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

/** The words between spaces, tabs and ends of lines, each of which is one more; words NULL: counts them. */
static size_t find_words(const struct ys_buf *bytes, struct word *words)
{
    size_t count = 0;
    for (size_t at = 0; at < bytes->size;) {
        const char *text = bytes->data + at;
        const bool is_end = *text == '\n';
        size_t length = 0;
        while (at + length < bytes->size && !strchr(" \t\r\n\v\f", text[length]))
            length++;
        if ((length > 0 || is_end) && words)
            words[count] = is_end ? (struct word){end_of_line, sizeof end_of_line - 1, count, 0, 0}
                                  : (struct word){text, length, count, 0, 0};
        count += length > 0 || is_end;
        at += length > 0 ? length : 1;
    }
    return count;
}

/** Of `vocabulary`, sorted copies of words, one of each that is known, with how often it comes; gives how many. */
static size_t count_words(struct word *vocabulary, size_t count)
{
    size_t kept = 0;
    qsort(vocabulary, count, sizeof *vocabulary, by_text_and_place);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || by_text(&vocabulary[kept - 1], &vocabulary[i]) != 0)
            vocabulary[kept++] = vocabulary[i];
        vocabulary[kept - 1].count++;
    }
    for (size_t i = 0; i < kept; i++)
        if (vocabulary[i].length == sizeof unknown - 1 && memcmp(vocabulary[i].text, unknown, sizeof unknown - 1) == 0)
            vocabulary[i].count = 0; /* a text whose rare words are written so already: behind all others */
    qsort(vocabulary, kept, sizeof *vocabulary, by_count);
    kept = kept < YS_WORDS_VOCABULARY - 1 ? kept : YS_WORDS_VOCABULARY - 1;
    if (kept > 0 && vocabulary[kept - 1].count == 0)
        kept--;
    for (size_t i = 0; i < kept; i++)
        vocabulary[i].token = (int32_t)i + 1;
    qsort(vocabulary, kept, sizeof *vocabulary, by_text);
    return kept;
}

/** The words that rows to train on have as x. */
static size_t training_words(size_t count)
{
    const int64_t rows = count > 0 ? ((int64_t)count - 1) / YS_WORDS_ROW : 0;
    return rows > 1 ? (size_t)((rows - ys_corpus_tests(rows)) * YS_WORDS_ROW) : 0;
}

static void number_words(const struct word *words, size_t count, struct word *vocabulary, int32_t *tokens)
{
    const size_t trained = training_words(count);
    memcpy(vocabulary, words, trained * sizeof *words);
    const size_t known = count_words(vocabulary, trained);
    for (size_t i = 0; i < count; i++) {
        const struct word *found =
            known > 0 ? bsearch(&words[i], vocabulary, known, sizeof *vocabulary, by_text) : NULL;
        tokens[i] = found ? found->token : 0;
    }
}

static ys_status read_words(const char *path, bool unverified, struct ys_data_rows *train, struct ys_data_rows *test,
                            bool *verified)
{
    struct ys_buf bytes = {0};
    (void)unverified;
    YS_TRY(ys_corpus_read(path, &bytes));
    const size_t count = find_words(&bytes, NULL);
    struct word *words = ys_alloc(count, sizeof *words), *vocabulary = ys_alloc(count, sizeof *vocabulary);
    int32_t *tokens = ys_alloc(count, sizeof *tokens);
    (void)find_words(&bytes, words);
    number_words(words, count, vocabulary, tokens);
    ys_status status = ys_corpus_cut("words", path, "words", tokens, count, train, test);
    ys_free(tokens);
    ys_free(vocabulary);
    ys_free(words);
    ys_buf_free(&bytes);
    *verified |= status == YS_OK;
    return status;
}

const struct ys_data_published ys_words_published = {
    .mirrors = (const char *const[]){NULL},
    .files = (const char *const[]){NULL},
    .from_file = true,
    .read = read_words,
};
