#include "base/nearest_name.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LONGEST 63

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t ys_edit_distance(const char *a, const char *b)
{
    size_t m = strlen(a), n = strlen(b);
    if (m > LONGEST || n > LONGEST)
        return SIZE_MAX;
    uint8_t d[LONGEST + 1][LONGEST + 1]; /* d[i][j]: first i letters of a into first j of b */
    for (size_t i = 0; i <= m; i++)
        d[i][0] = (uint8_t)i;
    for (size_t j = 0; j <= n; j++)
        d[0][j] = (uint8_t)j;
    for (size_t i = 1; i <= m; i++)
        for (size_t j = 1; j <= n; j++) {
            size_t best = least(least(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, d[i - 2][j - 2] + 1u);
            d[i][j] = (uint8_t)best;
        }
    return d[m][n];
}

const char *ys_nearest(const char *name, const char *const *candidates)
{
    const char *nearest = NULL;
    size_t nearest_distance = SIZE_MAX;
    for (; *candidates; candidates++) {
        size_t distance = ys_edit_distance(name, *candidates);
        const bool is_as_long = strlen(*candidates) == strlen(name);
        if (distance < nearest_distance ||
            (nearest && distance == nearest_distance && is_as_long && strlen(nearest) != strlen(name))) {
            nearest = *candidates;
            nearest_distance = distance;
        }
    }
    if (!nearest)
        return NULL;
    size_t longer = strlen(name) > strlen(nearest) ? strlen(name) : strlen(nearest);
    size_t allowed = longer >= 3 ? longer / 3 : longer - 1;
    return nearest_distance <= allowed ? nearest : NULL;
}
