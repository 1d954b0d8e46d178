/* How a page's clock relates to CLOCK_MONOTONIC. The page is asked for the time; of the answer that took least the
 * middle is compared, so that the error is at most half of what it took (Cristian, 1989), and a step of the page's
 * clock. What relates them stays as it is for the length of a question, so that no span is stretched or cut by it. */
#ifndef YS_BRIDGE_PAGE_CLOCK_H
#define YS_BRIDGE_PAGE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct ys_page_clock {
    bool is_known;
    int64_t offset_ns; /* the page's less ours */
    int64_t error_ns;  /* of that, at most */
    int64_t tick_ns;   /* a step of the page's clock; 0: not yet known */
    int64_t last_ns;   /* end of the latest span that was given out, by our clock */
};

/** One look is several answers. It begins as 0. */
struct ys_page_look {
    bool has_one;
    int64_t offset_ns, error_ns;
};
void ys_page_look_take(struct ys_page_look *look, uint64_t asked_ns, int64_t theirs_ns, uint64_t answered_ns);

/** Before a question: from now on the look's offset holds, and its error. */
void ys_page_clock_set(struct ys_page_clock *clock, const struct ys_page_look *look);
/** During one and behind it: the offset stays, and the error becomes as large as what the look contradicts it by. */
void ys_page_clock_check(struct ys_page_clock *clock, const struct ys_page_look *look);

/** A span of the page as one of ours: a tick longer at each end, so that it is never shorter than it was, behind the
 * spans before it, and where the offset's error would have it begin before `asked_ns` or end after `now_ns`, moved. */
void ys_page_clock_span(struct ys_page_clock *clock, int64_t asked_ns, int64_t now_ns, int64_t *start_ns,
                        int64_t *end_ns);
/** By how much a stamp may be wrong. */
int64_t ys_page_clock_error_ns(const struct ys_page_clock *clock);

#endif
