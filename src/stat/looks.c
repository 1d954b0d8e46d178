#include "stat/looks.h"

static const size_t places[YS_LOOKS_MOST - 1] = {YS_LOOKS_FIRST, 12, 20, 50, 200};

#define FIRST_SHARE 0.016
#define LAST_SHARE  0.025

size_t ys_looks(size_t most, struct ys_look looks[YS_LOOKS_MOST])
{
    const double all = 1 - YS_STAT_LEVEL;
    size_t count = 0;
    while (count < YS_LOOKS_MOST - 1 && places[count] < most) {
        looks[count] = (struct ys_look){places[count], 1 - FIRST_SHARE};
        count++;
    }
    /* Of those between: their share. What they leave is the last one's. */
    const double between = count > 1 ? (all - FIRST_SHARE - LAST_SHARE) / (double)(count - 1) : 0;
    for (size_t i = 1; i < count; i++)
        looks[i].level = 1 - between;
    looks[count].rounds = most;
    looks[count].level = count == 0 ? YS_STAT_LEVEL : 1 - (count > 1 ? LAST_SHARE : all - FIRST_SHARE);
    return count + 1;
}
