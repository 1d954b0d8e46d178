/* How GPT-2 cuts text before it joins bytes:
 *   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
#ifndef YS_DATA_SETS_TEXT_PIECES_H
#define YS_DATA_SETS_TEXT_PIECES_H

#include <stddef.h>

/** Bytes of the piece that `text`, of `size` bytes, at least 1, begins with: at least 1. */
size_t ys_piece_length(const char *text, size_t size);

#endif
