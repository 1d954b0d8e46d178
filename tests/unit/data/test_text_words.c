/* `words` and `lines`: how text becomes tokens and rows. */
#include "data/sets/text_bytes.h"
#include "data/sets/text_words.h"

#include "base/buf.h"
#include "base/files/fs.h"
#include "tap.h"
#include "unit/base/scratch.h"

#include <string.h>

static struct ys_data_rows train, test;

static ys_status read_set(const struct ys_data_published *set, const char *path)
{
    bool verified = false;
    ys_data_rows_fini(&train);
    ys_data_rows_fini(&test);
    train = test = (struct ys_data_rows){0};
    ys_status status = set->read(path, false, &train, &test, &verified);
    CHECK(verified == (status == YS_OK));
    return status;
}

static const char *write_text(const char *name, const char *text)
{
    const char *path = scratch(name);
    CHECK(ys_fs_write(path, text, strlen(text)) == YS_OK);
    return path;
}

static const int32_t *tokens_of(const struct ys_data_rows *rows)
{
    return rows->array[0];
}

/** 22 words a time: twice "b", once each other, in the order of their first place; a line has its end. */
static void frequent_words_have_the_first_numbers(void)
{
    struct ys_buf text = {0};
    for (int i = 0; i < 6; i++)
        CHECK(ys_buf_printf(&text, "a b\tc  d e f g h i j\nk l m n o p q r b%s\n", i == 5 ? " new" : "") == YS_OK);
    REQUIRE(read_set(&ys_words_published, write_text("words.txt", ys_buf_text(&text))) == YS_OK);
    /* 21 words a time, with the ends of two lines */
    CHECK_INT(train.count, 5);
    CHECK_INT(test.count, 1);
    const int32_t *x = tokens_of(&train);
    CHECK_INT(x[1], 1);  /* b comes twice a time, like the end of a line, but before it */
    CHECK_INT(x[10], 2); /* the end of the first line */
    CHECK_INT(x[0], 3);  /* a */
    CHECK_INT(x[2], 4);  /* c */
    CHECK_INT(x[19], 1);
    CHECK_INT(ys_data_labels(&train)[19], 2);
    CHECK_INT(tokens_of(&train)[YS_WORDS_ROW], 2);
    ys_buf_free(&text);
}

static void a_word_of_the_test_rows_alone_is_unknown(void)
{
    struct ys_buf text = {0};
    for (int i = 0; i < 3 * YS_WORDS_ROW; i++)
        CHECK(ys_buf_puts(&text, i < 2 * YS_WORDS_ROW - 1 ? "known "
                                 : i < 2 * YS_WORDS_ROW   ? "<unk> "
                                                          : "other ") == YS_OK);
    CHECK(ys_buf_puts(&text, "known") == YS_OK);
    REQUIRE(read_set(&ys_words_published, write_text("words.txt", ys_buf_text(&text))) == YS_OK);
    CHECK(train.count == 2 && test.count == 1);
    for (int i = 0; i < 2 * YS_WORDS_ROW; i++)
        CHECK_INT(tokens_of(&train)[i], i < 2 * YS_WORDS_ROW - 1);
    for (int i = 0; i < YS_WORDS_ROW; i++)
        CHECK_INT(tokens_of(&test)[i], 0);
    CHECK_INT(ys_data_labels(&test)[YS_WORDS_ROW - 1], 1);
    ys_buf_free(&text);
}

static void few_words_are_refused(void)
{
    CHECK(read_set(&ys_words_published, write_text("words.txt", "some words\n")) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "words.txt has 3 words: a row to train on and one to test on take 41");
    CHECK(read_set(&ys_words_published, write_text("words.txt", "")) == YS_EFORMAT);
}

static void lines_are_filled_up_with_what_is_hidden(void)
{
    REQUIRE(read_set(&ys_lines_published, write_text("lines.txt", "ab\n\n\nc\nde")) == YS_OK);
    CHECK(train.count == 2 && test.count == 1);
    const int32_t *x = tokens_of(&train);
    const int64_t *y = ys_data_labels(&train);
    CHECK(x[0] == 'a' && x[1] == 'b' && x[2] == 0 && x[YS_TEXT_ROW] == 'c');
    CHECK(y[0] == 'b' && y[1] == '\n' && y[2] == YS_ROWS_HIDDEN && y[YS_TEXT_ROW - 1] == YS_ROWS_HIDDEN);
    CHECK(y[YS_TEXT_ROW] == '\n' && y[YS_TEXT_ROW + 1] == YS_ROWS_HIDDEN);
    CHECK(tokens_of(&test)[0] == 'd' && ys_data_labels(&test)[0] == 'e' && ys_data_labels(&test)[1] == '\n');
}

static void long_lines_are_cut(void)
{
    char line[3 * YS_TEXT_ROW + 1] = {0};
    memset(line, 'z', sizeof line - 1);
    line[YS_TEXT_ROW + 8] = '\n';
    REQUIRE(read_set(&ys_lines_published, write_text("lines.txt", line)) == YS_OK);
    CHECK(train.count == 1 && test.count == 1);
    for (int i = 0; i < YS_TEXT_ROW; i++)
        CHECK(tokens_of(&train)[i] == 'z' && ys_data_labels(&train)[i] == 'z');
    CHECK(read_set(&ys_lines_published, write_text("lines.txt", "\none\n\n")) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "has 1 lines that are not empty");
}

static void a_folder_is_its_texts_in_the_order_of_their_names(void)
{
    char *folder = ys_path_join(scratch("."), "folder"), *file = NULL;
    static const char *const files[][2] = {{"b.txt", "two\n"}, {"a.txt", "one\n"}, {"c.md", "none\n"}};
    REQUIRE(folder && ys_fs_make_dirs(folder) == YS_OK);
    CHECK(read_set(&ys_lines_published, folder) == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "has no file whose name ends in .txt");
    for (size_t i = 0; i < 3; i++) {
        file = ys_path_join(folder, files[i][0]);
        REQUIRE(file && ys_fs_write(file, files[i][1], strlen(files[i][1])) == YS_OK);
        ys_free(file);
    }
    REQUIRE(read_set(&ys_lines_published, folder) == YS_OK);
    CHECK(train.count == 1 && test.count == 1 && tokens_of(&train)[0] == 'o' && tokens_of(&test)[0] == 't');
    ys_data_rows_fini(&train);
    ys_data_rows_fini(&test);
    ys_free(folder);
}

TAP_MAIN(TAP_CASE(frequent_words_have_the_first_numbers), TAP_CASE(a_word_of_the_test_rows_alone_is_unknown),
         TAP_CASE(few_words_are_refused), TAP_CASE(lines_are_filled_up_with_what_is_hidden),
         TAP_CASE(long_lines_are_cut), TAP_CASE(a_folder_is_its_texts_in_the_order_of_their_names))
