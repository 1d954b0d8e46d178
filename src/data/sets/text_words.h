/* The set `words`: text of one's own as words, of the vocabulary of those most frequent in the part to train on. */
#ifndef YS_DATA_SETS_TEXT_WORDS_H
#define YS_DATA_SETS_TEXT_WORDS_H

#include "data/published.h"

#define YS_WORDS_ROW 20 /* positions */
#define YS_WORDS_VOCABULARY                                                                                            \
    10000 /* as the Penn Treebank is prepared by Mikolov (2010): token 0 stands for all others */

extern const struct ys_data_published ys_words_published;

#endif
