#include "base/size_text.h"

#include <stdio.h>
#include <string.h>

static char *print(uint64_t size_bytes, int digits, char *text)
{
    static const struct {
        double below, unit; /* in bytes; what rounds to 1000 belongs to the next unit */
        const char *name;
    } scales[] = {{999.5e3, 1e3, "kB"}, {999.5e6, 1e6, "MB"}, {999.5e9, 1e9, "GB"}, {1e30, 1e12, "TB"}};
    size_t i = 0;
    if (size_bytes < 1000) {
        snprintf(text, YS_SIZE_TEXT, "%u B", (unsigned)size_bytes);
        return text;
    }
    while ((double)size_bytes >= scales[i].below)
        i++;
    const double scaled = (double)size_bytes / scales[i].unit;
    snprintf(text, YS_SIZE_TEXT, "%.*g %s", scaled >= 999.5 && digits < 8 ? 8 : digits, scaled, scales[i].name);
    return text;
}

char *ys_size_text(uint64_t size_bytes, char *text)
{
    return print(size_bytes, 3, text);
}

void ys_size_texts(uint64_t a_bytes, uint64_t b_bytes, char *a_text, char *b_text)
{
    for (int digits = 3; digits <= 17; digits++) {
        print(a_bytes, digits, a_text);
        print(b_bytes, digits, b_text);
        if (a_bytes == b_bytes || strcmp(a_text, b_text) != 0)
            return;
    }
}
