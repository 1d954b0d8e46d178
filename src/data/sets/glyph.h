/* How the ten digits are written: several ways each, as strokes in a box of 100 by 100, x to the right, y down. */
#ifndef YS_DATA_SETS_GLYPH_H
#define YS_DATA_SETS_GLYPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YS_GLYPH_MAX_POINTS  13
#define YS_GLYPH_MAX_STROKES 3
#define YS_GLYPH_MAX_WAYS    3

struct ys_stroke {
    uint8_t point_count; /* 2 to YS_GLYPH_MAX_POINTS; 0 ends a glyph that has fewer strokes */
    bool is_smooth;      /* a Catmull-Rom curve through the points; otherwise straight lines */
    uint8_t points[YS_GLYPH_MAX_POINTS][2];
};

struct ys_glyph {
    struct ys_stroke strokes[YS_GLYPH_MAX_STROKES];
};

/** The ways to write `digit` (0 to 9), *count of them. */
const struct ys_glyph *ys_glyphs(int digit, uint32_t *count);

#endif
