/* The sets `text` and `lines`: text of one's own, byte after byte. Tokens are bytes; the class of each position is the
 * byte that follows. docs/data.md says how they are cut. */
#ifndef YS_DATA_SETS_TEXT_BYTES_H
#define YS_DATA_SETS_TEXT_BYTES_H

#include "data/published.h"

#define YS_TEXT_ROW        64 /* positions: bytes of x, and of y, which is one further on */
#define YS_TEXT_VOCABULARY 256

/** Nobody published it: it has no mirror, and comes of a file or folder alone. So do the other sets of text. */
extern const struct ys_data_published ys_text_published, ys_lines_published;

#endif
