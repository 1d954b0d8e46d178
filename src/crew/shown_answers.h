/* What an adapter answered, read from the ring (protocol/answer_ring.h) while it answers, at moments that nobody can
 * know before: so that what it shows is there when it says that it is.
 *
 * The first looks come some 0.2 ms apart; the span between two doubles after every 16, and each look comes within twice
 * the span after the one before, at a moment drawn by getrandom(). So a run of any length is looked at some dozens of
 * times, as often in its last half as in all the time before that. */
#ifndef YS_CREW_SHOWN_ANSWERS_H
#define YS_CREW_SHOWN_ANSWERS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YS_ANSWERS_MOST 32 /* that are kept: where more are read, one of two at random goes */

/** The newest answer at one look, and at those that followed and found the same. */
struct ys_answer_seen {
    int64_t request, batch;     /* request -1: none was there */
    uint64_t read_ns, still_ns; /* it had been read; a look that found it the newest still began */
    size_t count;
    float *values; /* owned */
};

/** Zeroed: nothing was asked for, or the adapter does not show its answers. */
struct ys_answers {
    bool is_shown; /* there is a ring */
    bool
        is_later; /* it shows an answer with the message that tells of it, and is looked at then and at no other time */
    size_t count;
    struct ys_answer_seen items[YS_ANSWERS_MOST];
    size_t met;   /* requests that looks met while it answered, those that were not kept included */
    char *damage; /* what it did to the ring; NULL */
    /* The rest is for ys_answers_*() alone. */
    int fd;
    size_t looks;
    uint64_t next_ns, span_ns;
};

/** Makes the ring `path`, which is not there. YS_EIO. */
ys_status ys_answers_begin(struct ys_answers *answers, const char *path) YS_MUST_CHECK;
/** The same of an adapter that cannot show an answer while it answers (feature `answers_later`): it keeps those of a
 * message, and who speaks for it (bridge/relay.h) draws one of them when the message has come. */
ys_status ys_answers_begin_later(struct ys_answers *answers, const char *path) YS_MUST_CHECK;
/** Such a message has come. */
void ys_answers_look_later(struct ys_answers *answers);
/** When the next look is due; UINT64_MAX: none is. */
uint64_t ys_answers_due(const struct ys_answers *answers);
/** Looks, if that is due. */
void ys_answers_look(struct ys_answers *answers);
/** The last look, once all requests are answered, and the end of looking. */
void ys_answers_end(struct ys_answers *answers);
void ys_answers_free(struct ys_answers *answers); /* it is then zeroed; a zeroed one is fine */

#endif
