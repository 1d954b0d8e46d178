#include "bridge/page_clock.h"

void ys_page_look_take(struct ys_page_look *look, uint64_t asked_ns, int64_t theirs_ns, uint64_t answered_ns)
{
    const int64_t error_ns = (int64_t)(answered_ns - asked_ns + 1) / 2;
    if (look->has_one && look->error_ns <= error_ns)
        return;
    *look = (struct ys_page_look){true, theirs_ns - (int64_t)(asked_ns + (answered_ns - asked_ns) / 2), error_ns};
}

void ys_page_clock_set(struct ys_page_clock *clock, const struct ys_page_look *look)
{
    if (!look->has_one)
        return;
    clock->is_known = true;
    clock->offset_ns = look->offset_ns;
    clock->error_ns = look->error_ns;
}

void ys_page_clock_check(struct ys_page_clock *clock, const struct ys_page_look *look)
{
    const int64_t apart_ns = look->offset_ns - clock->offset_ns, size_ns = apart_ns < 0 ? -apart_ns : apart_ns;
    const int64_t least_ns = size_ns - look->error_ns - clock->tick_ns; /* that the offset is wrong by */
    if (look->has_one && clock->is_known && least_ns > clock->error_ns)
        clock->error_ns = least_ns;
}

int64_t ys_page_clock_error_ns(const struct ys_page_clock *clock)
{
    return clock->error_ns + clock->tick_ns;
}

void ys_page_clock_span(struct ys_page_clock *clock, int64_t asked_ns, int64_t now_ns, int64_t *start_ns,
                        int64_t *end_ns)
{
    const int64_t least_ns = asked_ns > clock->last_ns ? asked_ns : clock->last_ns;
    *start_ns -= clock->offset_ns + clock->tick_ns;
    *end_ns -= clock->offset_ns - clock->tick_ns;
    const int64_t late_ns = *end_ns > now_ns ? *end_ns - now_ns : 0;
    *start_ns -= late_ns;
    *end_ns -= late_ns;
    const int64_t early_ns = *start_ns < least_ns ? least_ns - *start_ns : 0;
    *start_ns += early_ns;
    *end_ns += early_ns;
    clock->last_ns = *end_ns;
}
