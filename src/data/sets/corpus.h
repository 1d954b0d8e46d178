/* Text of one's own, as the sets `text`, `lines`, `words` and `bpe` read it: a file, or the .txt files of a folder; and
 * how tokens are cut into rows. */
#ifndef YS_DATA_SETS_CORPUS_H
#define YS_DATA_SETS_CORPUS_H

#include "base/buf.h"
#include "data/prepared.h"

#define YS_CORPUS_MAX_BYTES ((size_t)32 << 20) /* of all files together */

/** The bytes of the file `path`, or of all files NAME.txt right below that folder, in the order of their names' bytes,
 * one behind the other. `bytes` is empty before. YS_ENOTFOUND: a folder without such files; YS_EFORMAT: too large. */
ys_status ys_corpus_read(const char *path, struct ys_buf *bytes) YS_MUST_CHECK;

/** Of `count` rows those to test on, the last ones: a tenth, rounded down, at least one. */
int64_t ys_corpus_tests(int64_t count);

/** Rows of `row` tokens and, for each, of what follows it, one behind the other; tokens behind the last whole row are
 * left out. Both halves in the form of the set `set`; the last ones are to test on. YS_EFORMAT: fewer than two rows,
 * with `path` and `unit` ("bytes") for the message. Nothing is set on failure. */
ys_status ys_corpus_cut(const char *set, const char *path, const char *unit, const int32_t *tokens, size_t count,
                        struct ys_data_rows *train, struct ys_data_rows *test) YS_MUST_CHECK;

/** Room for both halves of `count` rows of that set. */
void ys_corpus_room(const char *set, int64_t count, struct ys_data_rows *train, struct ys_data_rows *test);

#endif
