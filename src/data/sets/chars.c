#include "data/sets/chars.h"
#include "base/rng.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SEED 0x59534348u /* never changes: the rows are the same on every machine */

enum {
    KEY = 4,
    DEPTH = 3, /* brackets that may be open */
    WORDS = 32,
    LENGTH = 6,
    LETTERS = 26,
    CAPITALS = LETTERS, /* tokens: small letters, capitals, opening brackets, closing ones, '#', the space */
    OPENING = 2 * LETTERS,
    CLOSING = OPENING + 3,
    RECALL = CLOSING + 3,
    SPACE = RECALL + 1,
    /* How often, in parts of those that are possible. */
    OF_WORDS = 12,
    OF_OPENING = 3, /* of all three kinds */
    OF_CLOSING = 3,
    OF_RECALLS = 2
};

/** Words that are drawn while so many brackets are open; a word ends with the space. */
struct lexicon {
    int length[WORDS], letter[WORDS][LENGTH + 1];
    uint32_t weight[WORDS], total;
};

struct grammar {
    struct lexicon lexicon[DEPTH + 1];
};

/** What was written so far, as far as it matters. */
struct state {
    int written;            /* characters of the key that are there, and the space behind it */
    int key[KEY], recalled; /* characters of the key that were repeated; -1 outside a '#' */
    int depth, open[DEPTH];
    int prefix[LENGTH + 1], length; /* of the word under way; 0 at the begin of an item */
    bool is_closed;                 /* an item ended, and the space is to come */
};

/** Consonants and vowels in turn; frequent words are short. */
static void draw_lexicon(struct lexicon *l, int depth)
{
    static const int vowels[] = {0, 4, 8, 14, 20};
    struct ys_rng rng;
    char name[32];
    snprintf(name, sizeof name, "chars/lexicon/%d", depth);
    ys_rng_init(&rng, SEED, name);
    for (int i = 0; i < WORDS; i++) {
        l->length[i] = 2 + (int)ys_rng_below(&rng, 2 + (uint32_t)i / 10);
        const uint32_t first = ys_rng_below(&rng, 2);
        for (int k = 0; k < l->length[i]; k++)
            l->letter[i][k] =
                ((uint32_t)k + first) % 2 ? vowels[ys_rng_below(&rng, 5)] : (int)ys_rng_below(&rng, LETTERS);
        l->letter[i][l->length[i]] = SPACE;
        l->weight[i] = 1 + 60 / ((uint32_t)i + 1);
        l->total += l->weight[i];
    }
}

/** Adds the weights of what may go on a word to `parts`, in `scale` parts all together of the lexicon's total. */
static void add_words(const struct lexicon *l, const struct state *s, uint32_t scale, uint32_t parts[SPACE + 1])
{
    for (int i = 0; i < WORDS; i++)
        if (s->length <= l->length[i] && memcmp(l->letter[i], s->prefix, (size_t)s->length * sizeof s->prefix[0]) == 0)
            parts[l->letter[i][s->length]] += scale * l->weight[i];
}

/** How probable each character is, as parts of their sum. */
static void weigh(const struct grammar *g, const struct state *s, uint32_t parts[SPACE + 1])
{
    const struct lexicon *l = &g->lexicon[s->depth];
    memset(parts, 0, (SPACE + 1) * sizeof *parts);
    if (s->written < KEY) {
        for (int k = 0; k < LETTERS; k++)
            parts[CAPITALS + k] = 1;
    } else if (s->written == KEY || s->is_closed) {
        parts[SPACE] = 1;
    } else if (s->recalled >= 0) {
        parts[s->key[s->recalled]] = 1;
    } else if (s->length > 0) {
        add_words(l, s, 1, parts);
    } else {
        add_words(l, s, OF_WORDS, parts);
        for (int k = 0; k < 3 && s->depth < DEPTH; k++)
            parts[OPENING + k] = OF_OPENING * l->total / 3;
        if (s->depth > 0)
            parts[CLOSING + s->open[s->depth - 1]] = OF_CLOSING * l->total;
        parts[RECALL] = OF_RECALLS * l->total;
    }
}

/** The state behind a space: of the key's, an item's, a word's. */
static void end_item(struct state *s)
{
    s->written += s->written == KEY;
    s->is_closed = false;
    s->length = 0;
}

static void go_on(struct state *s, int token)
{
    if (token == SPACE) {
        end_item(s);
    } else if (s->written < KEY) {
        s->key[s->written++] = token;
    } else if (s->recalled >= 0) {
        s->is_closed = ++s->recalled == KEY;
        s->recalled = s->is_closed ? -1 : s->recalled;
    } else if (token == RECALL) {
        s->recalled = 0;
    } else if (token >= CLOSING) {
        s->depth--;
        s->is_closed = true;
    } else if (token >= OPENING) {
        s->open[s->depth++] = token - OPENING;
        s->is_closed = true;
    } else {
        s->prefix[s->length++] = token;
    }
}

/** One more character; *bits grows by -log2 of its probability. */
static int draw_next(const struct grammar *g, struct state *s, struct ys_rng *rng, double *bits)
{
    uint32_t parts[SPACE + 1], total = 0;
    weigh(g, s, parts);
    for (int k = 0; k <= SPACE; k++)
        total += parts[k];
    uint32_t at = ys_rng_below(rng, total);
    int token = 0;
    for (; at >= parts[token]; token++)
        at -= parts[token];
    *bits += log2((double)total / parts[token]);
    go_on(s, token);
    return token;
}

double ys_chars_draw(const char *split, int64_t count, int32_t *x, int64_t *y)
{
    struct grammar grammar = {0};
    double bits = 0, first = 0;
    for (int depth = 0; depth <= DEPTH; depth++)
        draw_lexicon(&grammar.lexicon[depth], depth);
    for (int64_t row = 0; row < count; row++) {
        struct state state = {.recalled = -1};
        struct ys_rng rng;
        char name[64];
        snprintf(name, sizeof name, "chars/%s/%lld", split, (long long)row);
        ys_rng_init(&rng, SEED, name);
        int token = draw_next(&grammar, &state, &rng, &first);
        for (int t = 0; t < YS_CHARS_ROW; t++) {
            x[row * YS_CHARS_ROW + t] = token;
            token = draw_next(&grammar, &state, &rng, &bits);
            y[row * YS_CHARS_ROW + t] = token;
        }
    }
    return bits / (double)(count * YS_CHARS_ROW);
}
