/* Frozen, as anchor_kernels.h says. */
#include "bench/anchor_kernels.h"

double ys_anchor_arithmetic(void)
{
    double x[8] = {0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1};
    const volatile double factor = 0.999999, term = 1e-6;
    const double a = factor, b = term;
    for (int i = 0; i < YS_ANCHOR_OPERATIONS / 16; i++)
        for (int k = 0; k < 8; k++)
            x[k] = x[k] * a + b;
    return x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7];
}

uint64_t ys_anchor_memory(const uint64_t *words)
{
    uint64_t sum[4] = {0};
    for (size_t i = 0; i < YS_ANCHOR_BYTES / sizeof *words; i += 4)
        for (size_t k = 0; k < 4; k++)
            sum[k] += words[i + k];
    return sum[0] + sum[1] + sum[2] + sum[3];
}

uint64_t ys_anchor_branches(uint64_t seed)
{
    uint64_t state = seed, a = 1, b = 2;
    for (int i = 0; i < YS_ANCHOR_BRANCHES; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U; /* Knuth, MMIX */
        switch (state >> 61) {
        case 0:
            a += b;
            break;
        case 1:
            b ^= a << 7;
            break;
        case 2:
            a = a * 3 + 1;
            break;
        case 3:
            b = (b >> 5) | (b << 59);
            break;
        case 4:
            a ^= b;
            break;
        case 5:
            b -= a;
            break;
        case 6:
            a = (a << 11) | (a >> 53);
            break;
        default:
            b += state;
        }
    }
    return a + b;
}
