#include "base/stored/moved_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void ys_mover_init(struct ys_mover *mover, uint64_t seed, int twin, uint32_t unit)
{
    char name[32];
    snprintf(name, sizeof name, "twin/%d", twin);
    ys_rng_init(&mover->rng, seed, name);
    mover->unit = unit;
}

/* Neighbours in a format are neighbours as integers, so one unit more in the bits is the next number away from zero. */
float ys_move_float(struct ys_mover *mover, float value)
{
    uint32_t bits, way = ys_rng_below(&mover->rng, 3);
    memcpy(&bits, &value, sizeof bits);
    uint32_t size = bits & 0x7fffffffu, infinite = 0x7f800000u;
    if (way == 0 || size < mover->unit || size >= infinite - mover->unit)
        return value;
    bits += way == 1 ? mover->unit : -mover->unit;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

double ys_move_double(struct ys_mover *mover, double value)
{
    uint32_t way = ys_rng_below(&mover->rng, 3);
    if (way == 0 || value == 0)
        return value;
    return nextafter(value, way == 1 ? INFINITY : -INFINITY);
}
