/* SHA-256 by the processor's own instructions, about ten times as fast as without: prepared files are hashed whole. */
#ifndef YS_BASE_SHA256_BLOCKS_H
#define YS_BASE_SHA256_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Moves `state` on by `count` blocks of 64 bytes. False, and nothing done, where the processor has no such
 * instructions. */
bool ys_sha256_blocks(uint32_t state[8], const uint8_t *data, size_t count);

#endif
