#include "base/clock.h"
#include <math.h>
#include <stdio.h>
#include <time.h>

uint64_t ys_time_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int64_t ys_date_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec;
}

void ys_date_text(int64_t date_s, char *text, size_t size)
{
    time_t time = (time_t)date_s;
    struct tm parts;
    if (size > 0 && (!gmtime_r(&time, &parts) || strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0))
        text[0] = 0;
}

char *ys_span_text(double span_s, char *text, size_t size)
{
    static const struct {
        double below_s, unit_s;
        const char *unit;
    } scales[] = {{999.5e-9, 1e-9, "ns"}, {999.5e-6, 1e-6, "us"}, {999.5e-3, 1e-3, "ms"}, {59.95, 1, "s"}};
    double magnitude_s = fabs(span_s);
    const char *sign = span_s < 0 ? "-" : "";
    if (!isfinite(span_s)) {
        snprintf(text, size, "unknown");
        return text;
    }
    if (magnitude_s == 0) {
        snprintf(text, size, "0 s");
        return text;
    }
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++)
        if (magnitude_s < scales[i].below_s) {
            snprintf(text, size, "%s%.3g %s", sign, magnitude_s / scales[i].unit_s, scales[i].unit);
            return text;
        }
    double whole_s = round(magnitude_s);
    if (whole_s < 3600)
        snprintf(text, size, "%s%d min %02d s", sign, (int)(whole_s / 60), (int)fmod(whole_s, 60));
    else
        snprintf(text, size, "%s%.0f h %02d min", sign, floor(whole_s / 3600), (int)(fmod(whole_s, 3600) / 60));
    return text;
}
