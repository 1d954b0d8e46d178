/* How text is cut into pieces, and pieces joined from bytes. */
#include "data/sets/bpe.h"

#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "data/sets/text_pieces.h"
#include "tap.h"
#include "unit/base/scratch.h"

#include <stdlib.h>
#include <string.h>

static void text_is_cut_as_gpt2_cuts_it(void)
{
    static const struct {
        const char *text, *pieces; /* apart by | */
    } cases[] = {
        {"Hello world", "Hello| world"},
        {"it's they'll 'tis", "it|'s| they|'ll| '|tis"},
        {"a  b", "a| | b"},
        {"a \n b  ", "a| \n| b|  "},
        {"x=12.5%", "x|=|12|.|5|%"},
        {"\n\nA", "\n|\n|A"},
        {" \t", " \t"},
        {"na\xc3\xafve 3\xc2\xbd \xe2\x82\xac\xe2\x82\xac", "na\xc3\xafve| 3\xc2\xbd| \xe2\x82\xac\xe2\x82\xac"},
        {"a\xff\xc3", "a|\xff\xc3"},
        {"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x80\x80x", "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e|\xe3\x80\x80|x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_buf found = {0};
        const size_t size = strlen(cases[i].text);
        for (size_t at = 0, length; at < size; at += length) {
            length = ys_piece_length(cases[i].text + at, size - at);
            CHECK(ys_buf_puts(&found, at ? "|" : "") == YS_OK);
            CHECK(ys_buf_append(&found, cases[i].text + at, length) == YS_OK);
        }
        CHECK_TEXT(ys_buf_text(&found), cases[i].pieces);
        ys_buf_free(&found);
    }
}

/** A vocabulary of the letters l, o, w, e, r, n, s, t, the space, and what `merges` make of them. */
static const char vocabulary[] = "{\"l\":0,\"o\":1,\"w\":2,\"e\":3,\"r\":4,\"n\":5,\"s\":6,\"t\":7,\"\\u0120\":8,"
                                 "\"es\":9,\"est\":10,\"lo\":11,\"low\":12,\"\\u0120n\":13,\"\\u0120ne\":14,\"er\":15}";
static const char merges[] = "#version: 0.2\ne s\nes t\nl o\nlo w\n\xc4\xa0 n\n\xc4\xa0n e\ne r\n";

static ys_status open_texts(const char *words, const char *pairs, struct ys_bpe **bpe)
{
    const char *vocabulary_path = scratch("vocab.json"), *merges_path = scratch("merges.txt");
    CHECK(ys_fs_write(vocabulary_path, words, strlen(words)) == YS_OK);
    CHECK(ys_fs_write(merges_path, pairs, strlen(pairs)) == YS_OK);
    return ys_bpe_open(vocabulary_path, merges_path, bpe);
}

static void check_tokens(const struct ys_bpe *bpe, const char *text, const int32_t *wanted, size_t wanted_count)
{
    int32_t *tokens = NULL;
    size_t count = 0;
    REQUIRE(ys_bpe_encode(bpe, "the text", text, strlen(text), &tokens, &count) == YS_OK);
    CHECK_INT(count, wanted_count);
    for (size_t i = 0; i < count && i < wanted_count; i++)
        CHECK_INT(tokens[i], wanted[i]);
    ys_free(tokens);
}

static void bytes_are_joined_in_the_order_of_the_merges(void)
{
    struct ys_bpe *bpe = NULL;
    REQUIRE(open_texts(vocabulary, merges, &bpe) == YS_OK);
    check_tokens(bpe, "low lowest", (const int32_t[]){12, 8, 12, 10}, 4);
    check_tokens(bpe, "newer newest", (const int32_t[]){5, 3, 2, 15, 14, 2, 10}, 7);
    check_tokens(bpe, "eses", (const int32_t[]){9, 9}, 2);
    check_tokens(bpe, "ese", (const int32_t[]){9, 3}, 2);
    check_tokens(bpe, "", NULL, 0);
    ys_bpe_close(bpe);
}

#define MADE_UP 40

/** A vocabulary of a, b, c and of what merges make of them at random; text of each token, and of each merge its parts.
 */
struct made_up {
    char text[MADE_UP + 3][64];
    int left[MADE_UP], right[MADE_UP];
    int count;
};

static void make_up(struct made_up *made, struct ys_buf *words, struct ys_buf *pairs)
{
    for (int i = 0; i < 3; i++)
        made->text[i][0] = (char)('a' + i);
    for (int tries = 0; tries < 4 * MADE_UP && made->count < MADE_UP; tries++) {
        const int known = made->count + 3, left = rand() % known, right = rand() % known;
        char *sum = made->text[known];
        const size_t size = strlen(made->text[left]), more = strlen(made->text[right]);
        bool is_new = size + more < sizeof made->text[0];
        if (is_new) {
            memcpy(sum, made->text[left], size);
            memcpy(sum + size, made->text[right], more + 1);
        }
        for (int i = 0; is_new && i < known; i++)
            is_new = strcmp(made->text[i], sum) != 0;
        if (!is_new)
            continue;
        made->left[made->count] = left;
        made->right[made->count++] = right;
        CHECK(ys_buf_printf(pairs, "%s %s\n", made->text[left], made->text[right]) == YS_OK);
    }
    for (int i = 0; i < made->count + 3; i++)
        CHECK(ys_buf_printf(words, "%s\"%s\":%d", i ? "," : "{", made->text[i], i) == YS_OK);
    CHECK(ys_buf_puts(words, "}") == YS_OK);
}

/** As GPT-2's own code has it: the first merge of which there is a pair takes all of them, from left to right. */
static size_t join_plainly(const struct made_up *made, int32_t *tokens, size_t count)
{
    for (int merge = 0; merge < made->count; merge++) {
        size_t kept = 0;
        for (size_t i = 0; i < count; kept++) {
            const bool is_pair = i + 1 < count && tokens[i] == made->left[merge] && tokens[i + 1] == made->right[merge];
            tokens[kept] = is_pair ? merge + 3 : tokens[i];
            i += is_pair ? 2 : 1;
        }
        merge = kept < count ? -1 : merge; /* what was made may be a part of an earlier pair */
        count = kept;
    }
    return count;
}

static void joining_is_what_the_plain_way_gives(void)
{
    srand(20261126);
    for (int round = 0; round < 60; round++) {
        struct made_up made = {0};
        struct ys_buf words = {0}, pairs = {0};
        struct ys_bpe *bpe = NULL;
        make_up(&made, &words, &pairs);
        REQUIRE(open_texts(ys_buf_text(&words), ys_buf_text(&pairs), &bpe) == YS_OK);
        for (int length = 1; length < 200; length += 1 + rand() % 20) {
            char text[200] = {0};
            int32_t tokens[200];
            for (int i = 0; i < length; i++) {
                tokens[i] = rand() % 3;
                text[i] = (char)('a' + tokens[i]);
            }
            check_tokens(bpe, text, tokens, join_plainly(&made, tokens, (size_t)length));
        }
        ys_bpe_close(bpe);
        ys_buf_free(&words);
        ys_buf_free(&pairs);
    }
}

static void what_has_no_token_is_named(void)
{
    struct ys_bpe *bpe = NULL;
    int32_t *tokens = NULL;
    size_t count = 0;
    REQUIRE(open_texts(vocabulary, merges, &bpe) == YS_OK);
    CHECK(ys_bpe_encode(bpe, "the text", "low zone", 8, &tokens, &count) == YS_EFORMAT);
    CHECK_TEXT(ys_error(), "the text: byte 4, 0x7a, has no token in the vocabulary");
    CHECK(!tokens);
    ys_bpe_close(bpe);
}

static void files_that_do_not_fit_are_refused(void)
{
    static const struct {
        const char *words, *pairs, *message;
    } cases[] = {
        {"[]", "", "must be an object of tokens and their numbers"},
        {"{\"a\":-1}", "", "the number of token \"a\" must be 0 to 50256"},
        {"{\"a\":50257}", "", "the number of token \"a\" must be 0 to 50256"},
        {"{\"a\":1,\"b\":1}", "", "token \"b\" has the number 1, which another has too"},
        {"{\"a\":1,\"b\":2}", "a b\n", "line 1: the vocabulary lacks the sum of the pair"},
        {"{\"a\":1,\"ab\":2}", "#version\na b\n", "line 2: the vocabulary lacks a part of the pair"},
        {"{\"a\":1,\"b\":2}", "ab\n", "line 1 is no pair of tokens apart by a space"},
        {"{\"a\":1,\"b\":2,\"ab\":3,\"ba\":4}", "#version\na b\nb a\na b\n", "number 1 and number 3 are the same"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_bpe *bpe = NULL;
        CHECK(open_texts(cases[i].words, cases[i].pairs, &bpe) == YS_EFORMAT);
        CHECK_HAS(ys_error(), cases[i].message);
        CHECK(!bpe);
    }
}

static void a_folder_becomes_rows(void)
{
    struct ys_data_rows train = {0}, test = {0};
    struct ys_bpe *bpe = NULL;
    struct ys_buf text = {0};
    bool verified = false;
    char *folder = ys_path_dir(scratch("vocab.json"));
    REQUIRE(folder && open_texts(vocabulary, merges, &bpe) == YS_OK);
    ys_bpe_close(bpe);
    for (int i = 0; i < 3 * YS_BPE_ROW; i++)
        CHECK(ys_buf_puts(&text, i % 2 ? " ne" : "low") == YS_OK);
    CHECK(ys_fs_write(scratch("text"), text.data, text.size) == YS_OK);
    REQUIRE(ys_bpe_published.read(folder, false, &train, &test, &verified) == YS_OK);
    CHECK(verified && train.count == 1 && test.count == 1);
    const int32_t *x = train.array[0];
    for (int i = 0; i < YS_BPE_ROW; i++)
        CHECK_INT(x[i], i % 4 == 0 ? 12 : x[i]);
    ys_data_rows_fini(&train);
    ys_data_rows_fini(&test);
    ys_buf_free(&text);
    ys_free(folder);
}

TAP_MAIN(TAP_CASE(text_is_cut_as_gpt2_cuts_it), TAP_CASE(bytes_are_joined_in_the_order_of_the_merges),
         TAP_CASE(joining_is_what_the_plain_way_gives), TAP_CASE(what_has_no_token_is_named),
         TAP_CASE(files_that_do_not_fit_are_refused), TAP_CASE(a_folder_becomes_rows))
