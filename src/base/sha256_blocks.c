#include "base/sha256_blocks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

/* FIPS 180-4, section 4.2.2. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* The instructions want the state as the words A B E F and C D G H, the first in the highest place. */
__attribute__((target("sha,sse4.1"))) static void move_on(uint32_t state[8], const uint8_t *data, size_t count)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i dcba = _mm_loadu_si128((const __m128i *)&state[0]), hgfe = _mm_loadu_si128((const __m128i *)&state[4]);
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; count > 0; count--, data += 64) {
        __m128i before_abef = abef, before_cdgh = cdgh, words[4];
        for (int i = 0; i < 4; i++)
            words[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(data + 16 * i)), swap);
#if !defined(__clang__) /* which does so by itself */
#pragma GCC unroll 16
#endif
        for (int i = 0; i < 16; i++) {
            __m128i *word = &words[i & 3], last = words[(i + 3) & 3];
            if (i >= 4) {
                __m128i sum = _mm_sha256msg1_epu32(*word, words[(i + 1) & 3]);
                sum = _mm_add_epi32(sum, _mm_alignr_epi8(last, words[(i + 2) & 3], 4));
                *word = _mm_sha256msg2_epu32(sum, last);
            }
            __m128i mixed = _mm_add_epi32(*word, _mm_loadu_si128((const __m128i *)&constants[4 * i]));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, mixed);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(mixed, 0x0e));
        }
        abef = _mm_add_epi32(abef, before_abef);
        cdgh = _mm_add_epi32(cdgh, before_cdgh);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)&state[0], _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)&state[4], _mm_alignr_epi8(dchg, feba, 8));
}

static bool has_instructions(void)
{
    static int known = -1; /* asking takes longer than a block, in a virtual machine a hundred times as long */
    unsigned a, b = 0, c, d;
    if (known < 0)
        known = __builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) != 0;
    return known;
}

bool ys_sha256_blocks(uint32_t state[8], const uint8_t *data, size_t count)
{
    if (!has_instructions())
        return false;
    move_on(state, data, count);
    return true;
}
#else
bool ys_sha256_blocks(uint32_t state[8], const uint8_t *data, size_t count)
{
    (void)state, (void)data, (void)count;
    return false;
}
#endif
