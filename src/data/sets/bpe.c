#include "data/sets/bpe.h"

#include "base/files/fs.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "data/sets/corpus.h"
#include "data/sets/text_pieces.h"
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)16 << 20) /* of the list of merges */

/** Bytes that stand for a token. */
struct known_token {
    char *bytes;
    size_t length;
    int32_t token;
};

/** Two tokens that become one, and when: the lower rank goes first. */
struct merge {
    int32_t left, right, made, rank;
};

struct ys_bpe {
    struct known_token *tokens; /* sorted by their bytes */
    size_t token_count;
    struct merge *merges; /* sorted by left and right */
    size_t merge_count;
    int32_t of_byte[256]; /* -1: it has none */
};

static int by_bytes(const void *left, const void *right)
{
    const struct known_token *a = left, *b = right;
    const int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
    return order != 0 ? order : a->length < b->length ? -1 : a->length > b->length;
}

static int by_parts(const void *left, const void *right)
{
    const struct merge *a = left, *b = right;
    if (a->left != b->left)
        return a->left < b->left ? -1 : 1;
    return a->right < b->right ? -1 : a->right > b->right;
}

/** Of the characters that stand for bytes the printable ones stand for themselves, the others follow from 256 on. */
static int byte_of(unsigned code)
{
    int next = 256;
    for (int byte = 0; byte < 256; byte++) {
        const bool is_printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
        if (code == (unsigned)(is_printable ? byte : next++))
            return byte;
    }
    return -1;
}

/** The bytes that `length` bytes of such characters, one or two bytes each, mean; in place. SIZE_MAX: some are none. */
static size_t to_bytes(char *text, size_t length)
{
    size_t made = 0;
    for (size_t i = 0; i < length;) {
        const unsigned char *b = (const unsigned char *)text + i;
        const size_t size = b[0] < 0x80 ? 1 : 2;
        if (size == 2 && (i + 1 == length || b[0] >> 5 != 6))
            return SIZE_MAX;
        const int byte = byte_of(size == 1 ? b[0] : (unsigned)(b[0] & 0x1f) << 6 | (b[1] & 0x3f));
        if (byte < 0)
            return SIZE_MAX;
        text[made++] = (char)byte;
        i += size;
    }
    return made;
}

static ys_status take_token(struct ys_bpe *bpe, const char *path, const char *text, const ys_json *value, bool *taken)
{
    struct known_token *known = &bpe->tokens[bpe->token_count];
    const int64_t token = ys_json_type_of(value) == YS_JSON_INT ? ys_json_integer(value, -1) : -1;
    if (token < 0 || token >= YS_BPE_VOCABULARY)
        return ys_fail(YS_EFORMAT, "%s: the number of token \"%.60s\" must be 0 to %d", path, text,
                       YS_BPE_VOCABULARY - 1);
    if (taken[token])
        return ys_fail(YS_EFORMAT, "%s: token \"%.60s\" has the number %lld, which another has too", path, text,
                       (long long)token);
    taken[token] = true;
    known->bytes = ys_strdup(text);
    known->length = to_bytes(known->bytes, strlen(text));
    known->token = (int32_t)token;
    if (known->length != SIZE_MAX)
        bpe->token_count++;
    else
        ys_free(known->bytes); /* a word that no text is encoded to, of a vocabulary of another make */
    if (known->length == 1)
        bpe->of_byte[(uint8_t)known->bytes[0]] = known->token;
    return YS_OK;
}

static ys_status take_tokens(struct ys_bpe *bpe, const char *path, const ys_json *json)
{
    const bool is_object = ys_json_type_of(json) == YS_JSON_OBJECT;
    const size_t count = is_object ? ys_json_size(json) : 0;
    if (count == 0)
        return ys_fail(YS_EFORMAT, "%s must be an object of tokens and their numbers", path);
    bool *taken = ys_alloc(YS_BPE_VOCABULARY, sizeof *taken);
    bpe->tokens = ys_alloc(count, sizeof *bpe->tokens);
    ys_status status = YS_OK;
    for (void *it = ys_json_iter(json); it && status == YS_OK; it = ys_json_next(json, it))
        status = take_token(bpe, path, ys_json_iter_key(it), ys_json_iter_value(it), taken);
    ys_free(taken);
    if (status == YS_OK)
        qsort(bpe->tokens, bpe->token_count, sizeof *bpe->tokens, by_bytes);
    return status;
}

static const struct known_token *find_token(const struct ys_bpe *bpe, char *bytes, size_t length)
{
    const struct known_token wanted = {bytes, length, 0};
    return bsearch(&wanted, bpe->tokens, bpe->token_count, sizeof wanted, by_bytes);
}

/** A line "LEFT RIGHT", which is overwritten. */
static ys_status take_merge(struct ys_bpe *bpe, const char *path, size_t number, char *line, size_t length)
{
    char *space = memchr(line, ' ', length);
    const size_t left = space ? to_bytes(line, (size_t)(space - line)) : SIZE_MAX;
    const size_t right = space ? to_bytes(space + 1, length - (size_t)(space - line) - 1) : SIZE_MAX;
    if (left == SIZE_MAX || right == SIZE_MAX || left == 0 || right == 0)
        return ys_fail(YS_EFORMAT, "%s: line %zu is no pair of tokens apart by a space", path, number);
    const struct known_token *a = find_token(bpe, line, left), *b = find_token(bpe, space + 1, right);
    memmove(line + left, space + 1, right);
    const struct known_token *made = find_token(bpe, line, left + right);
    if (!a || !b || !made)
        return ys_fail(YS_EFORMAT, "%s: line %zu: the vocabulary lacks %s of the pair", path, number,
                       made ? "a part" : "the sum");
    bpe->merges[bpe->merge_count] = (struct merge){a->token, b->token, made->token, (int32_t)bpe->merge_count};
    bpe->merge_count++;
    return YS_OK;
}

static ys_status take_merges(struct ys_bpe *bpe, const char *path, struct ys_buf *text)
{
    static const char version[] = "#version";
    size_t lines = 1, number = 0;
    for (size_t i = 0; i < text->size; i++)
        lines += text->data[i] == '\n';
    bpe->merges = ys_alloc(lines, sizeof *bpe->merges);
    ys_status status = YS_OK;
    for (size_t at = 0; status == YS_OK && at < text->size; number++) {
        char *line = text->data + at;
        const char *end = memchr(line, '\n', text->size - at);
        size_t length = end ? (size_t)(end - line) : text->size - at;
        at += length + 1;
        length -= length > 0 && line[length - 1] == '\r';
        const bool is_version =
            number == 0 && length >= sizeof version - 1 && memcmp(line, version, sizeof version - 1) == 0;
        if (length > 0 && !is_version)
            status = take_merge(bpe, path, number + 1, line, length);
    }
    YS_TRY(status);
    qsort(bpe->merges, bpe->merge_count, sizeof *bpe->merges, by_parts);
    for (size_t i = 1; i < bpe->merge_count; i++)
        if (by_parts(&bpe->merges[i - 1], &bpe->merges[i]) == 0)
            return ys_fail(YS_EFORMAT, "%s: of its %zu pairs, number %d and number %d are the same", path,
                           bpe->merge_count, bpe->merges[i - 1].rank + 1, bpe->merges[i].rank + 1);
    return YS_OK;
}

static ys_status open_files(struct ys_bpe *bpe, const char *vocabulary, const char *merges)
{
    ys_json *json = NULL;
    struct ys_buf text = {0};
    memset(bpe->of_byte, -1, sizeof bpe->of_byte);
    YS_TRY(ys_json_read(vocabulary, &json));
    ys_status status = take_tokens(bpe, vocabulary, json);
    ys_json_free(json);
    YS_TRY(status);
    status = ys_fs_read(merges, MAX_FILE_BYTES, &text);
    if (status == YS_OK)
        status = take_merges(bpe, merges, &text);
    ys_buf_free(&text);
    return status;
}

ys_status ys_bpe_open(const char *vocabulary, const char *merges, struct ys_bpe **bpe)
{
    struct ys_bpe *made = ys_alloc(1, sizeof *made);
    ys_status status = open_files(made, vocabulary, merges);
    if (status == YS_OK)
        *bpe = made;
    else
        ys_bpe_close(made);
    return status;
}

void ys_bpe_close(struct ys_bpe *bpe)
{
    if (!bpe)
        return;
    for (size_t i = 0; i < bpe->token_count; i++)
        ys_free(bpe->tokens[i].bytes);
    ys_free(bpe->tokens);
    ys_free(bpe->merges);
    ys_free(bpe);
}

static const struct merge *find_merge(const struct ys_bpe *bpe, int32_t left, int32_t right)
{
    const struct merge wanted = {left, right, 0, 0};
    return bsearch(&wanted, bpe->merges, bpe->merge_count, sizeof wanted, by_parts);
}

/** What joining the tokens of a piece needs. Pairs of neighbours are numbers: the rank of the merge, and below it the
 * place of the left one. */
struct joining {
    size_t room;
    int32_t *next, *before; /* of a token its neighbours' places; -1: there is none */
    uint64_t *heap, *found; /* pairs to look at, the least first; pairs that came up since */
    size_t heap_count, found_count;
};

static void end_joining(struct joining *j)
{
    ys_free(j->next);
    ys_free(j->before);
    ys_free(j->heap);
    ys_free(j->found);
    *j = (struct joining){0};
}

/** Each join takes one token away and brings two pairs at most. */
static void make_room(struct joining *j, size_t count)
{
    if (count <= j->room)
        return;
    end_joining(j);
    j->next = ys_alloc(count, sizeof *j->next);
    j->before = ys_alloc(count, sizeof *j->before);
    j->heap = ys_alloc(3 * count, sizeof *j->heap);
    j->found = ys_alloc(count, sizeof *j->found);
    j->room = count;
}

static void push(struct joining *j, uint64_t pair)
{
    size_t at = j->heap_count++;
    for (; at > 0 && j->heap[(at - 1) / 2] > pair; at = (at - 1) / 2)
        j->heap[at] = j->heap[(at - 1) / 2];
    j->heap[at] = pair;
}

static uint64_t pop(struct joining *j)
{
    const uint64_t least = j->heap[0], last = j->heap[--j->heap_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < j->heap_count; at = child) {
        child += child + 1 < j->heap_count && j->heap[child + 1] < j->heap[child];
        if (last <= j->heap[child])
            break;
        j->heap[at] = j->heap[child];
    }
    j->heap[at] = last;
    return least;
}

static const struct merge *merge_at(const struct ys_bpe *bpe, const struct joining *j, const int32_t *tokens,
                                    int32_t place)
{
    const int32_t right = place >= 0 && tokens[place] >= 0 ? j->next[place] : -1;
    return right >= 0 ? find_merge(bpe, tokens[place], tokens[right]) : NULL;
}

static void note(const struct ys_bpe *bpe, struct joining *j, const int32_t *tokens, int32_t place)
{
    const struct merge *merge = merge_at(bpe, j, tokens, place);
    if (merge)
        j->found[j->found_count++] = (uint64_t)merge->rank << 32 | (uint32_t)place;
}

/** Joins a pair, unless another took a part of it. */
static void join_pair(const struct ys_bpe *bpe, struct joining *j, int32_t *tokens, uint64_t pair)
{
    const int32_t place = (int32_t)(uint32_t)pair;
    const struct merge *merge = merge_at(bpe, j, tokens, place);
    if (!merge || (uint64_t)merge->rank != pair >> 32)
        return;
    const int32_t right = j->next[place], behind = j->next[right];
    tokens[place] = merge->made;
    tokens[right] = -1;
    j->next[place] = behind;
    if (behind >= 0)
        j->before[behind] = place;
    note(bpe, j, tokens, j->before[place]);
    note(bpe, j, tokens, place);
}

/** The pair that is joined first, everywhere from left to right, until no two neighbours are a pair; gives how many
 * tokens are left. */
static size_t join(const struct ys_bpe *bpe, struct joining *j, int32_t *tokens, size_t count)
{
    size_t kept = 0;
    j->heap_count = j->found_count = 0;
    for (size_t i = 0; i < count; i++) {
        j->next[i] = i + 1 < count ? (int32_t)i + 1 : -1;
        j->before[i] = (int32_t)i - 1;
    }
    for (size_t i = 0; i < count; i++)
        note(bpe, j, tokens, (int32_t)i);
    while (j->heap_count + j->found_count > 0) {
        while (j->found_count > 0)
            push(j, j->found[--j->found_count]);
        for (const uint64_t rank = j->heap[0] >> 32; j->heap_count > 0 && j->heap[0] >> 32 == rank;)
            join_pair(bpe, j, tokens, pop(j));
    }
    for (size_t i = 0; i < count; i++)
        if (tokens[i] >= 0)
            tokens[kept++] = tokens[i];
    return kept;
}

ys_status ys_bpe_encode(const struct ys_bpe *bpe, const char *name, const char *text, size_t size, int32_t **tokens,
                        size_t *count)
{
    struct joining joining = {0};
    int32_t *made = ys_alloc(size, sizeof *made);
    size_t used = 0;
    ys_status status = YS_OK;
    for (size_t at = 0, length; status == YS_OK && at < size; at += length) {
        length = ys_piece_length(text + at, size - at);
        make_room(&joining, length);
        for (size_t i = 0; status == YS_OK && i < length; i++) {
            const uint8_t byte = (uint8_t)text[at + i];
            made[used + i] = bpe->of_byte[byte];
            if (made[used + i] < 0)
                status =
                    ys_fail(YS_EFORMAT, "%s: byte %zu, 0x%02x, has no token in the vocabulary", name, at + i, byte);
        }
        if (status == YS_OK)
            used += join(bpe, &joining, made + used, length);
    }
    end_joining(&joining);
    if (status != YS_OK) {
        ys_free(made);
        return status;
    }
    *tokens = made;
    *count = used;
    return YS_OK;
}

static ys_status encode_folder(const char *path, const struct ys_bpe *bpe, struct ys_data_rows *train,
                               struct ys_data_rows *test)
{
    struct ys_buf bytes = {0};
    int32_t *tokens = NULL;
    size_t count = 0;
    YS_TRY(ys_corpus_read(path, &bytes));
    ys_status status = ys_bpe_encode(bpe, path, bytes.data ? bytes.data : "", bytes.size, &tokens, &count);
    ys_buf_free(&bytes);
    if (status == YS_OK)
        status = ys_corpus_cut("bpe", path, "tokens", tokens, count, train, test);
    ys_free(tokens);
    return status;
}

static ys_status read_bpe(const char *path, bool unverified, struct ys_data_rows *train, struct ys_data_rows *test,
                          bool *verified)
{
    struct ys_bpe *bpe = NULL;
    (void)unverified;
    char *vocabulary = ys_path_join(path, "vocab.json"), *merges = ys_path_join(path, "merges.txt");
    char *text = ys_path_join(path, "text");
    ys_status status = ys_bpe_open(vocabulary, merges, &bpe);
    if (status == YS_OK)
        status = encode_folder(text, bpe, train, test);
    ys_bpe_close(bpe);
    ys_free(text);
    ys_free(merges);
    ys_free(vocabulary);
    *verified |= status == YS_OK;
    return status;
}

const struct ys_data_published ys_bpe_published = {
    .mirrors = (const char *const[]){NULL},
    .files = (const char *const[]){NULL},
    .read = read_bpe,
};
