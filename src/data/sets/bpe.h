/* Byte-pair encoding as GPT-2 has it (Sennrich, Haddow, Birch, "Neural machine translation of rare words with subword
 * units", 2016; Radford and others, 2019): text is cut into pieces, and the bytes of each are joined pair by pair, the
 * pair that stands first in the list of merges before all others. The set `bpe` is text of one's own encoded so. */
#ifndef YS_DATA_SETS_BPE_H
#define YS_DATA_SETS_BPE_H

#include "data/published.h"

#define YS_BPE_ROW        128   /* positions */
#define YS_BPE_VOCABULARY 50257 /* that of GPT-2, and the most */

extern const struct ys_data_published ys_bpe_published;

struct ys_bpe;

/** From the files of GPT-2's form: `vocabulary` is a JSON object of tokens and their numbers, `merges` has a pair a
 * line, apart by a space, the first line may begin with "#version". In both bytes are written as characters, as GPT-2
 * does. YS_EFORMAT names what does not fit: a number that is negative, taken twice or YS_BPE_VOCABULARY and more; a
 * pair whose parts or sum are no tokens. */
ys_status ys_bpe_open(const char *vocabulary, const char *merges, struct ys_bpe **bpe) YS_MUST_CHECK;
void ys_bpe_close(struct ys_bpe *bpe); /* NULL is fine */

/** `text` as tokens; *tokens is the caller's to ys_free(). No token is special. Bytes that are no UTF-8 count as signs.
 * YS_EFORMAT: a byte has no token; `name` begins the message. */
ys_status ys_bpe_encode(const struct ys_bpe *bpe, const char *name, const char *text, size_t size, int32_t **tokens,
                        size_t *count) YS_MUST_CHECK;

#endif
