/* A session that an adapter's conduct is watched in: what conduct_errors.c and conduct_weights.c share. */
#ifndef YS_VERIFY_CONDUCT_CONDUCT_SESSION_H
#define YS_VERIFY_CONDUCT_CONDUCT_SESSION_H

#include "session/session.h"
#include "verify/conduct/conduct.h"

/* Steps of a block, wherever one is trained here. */
enum { YS_MANNERS_BLOCK = 2 };

struct ys_manners {
    const struct ys_conduct *conduct;
    struct ys_session *session; /* NULL: none is there */
    bool is_open;               /* the plan is */
    char *trouble;              /* how the adapter failed, where it did: owned; nothing can be asked then */
};

/** Starts the adapter and says hello. An adapter that fails is YS_OK with `trouble`, here and below. */
ys_status ys_manners_start(struct ys_manners *m) YS_MUST_CHECK;
/** Sends a message of any type and gives what comes first, an error too. */
ys_status ys_manners_ask(struct ys_manners *m, ys_json *message_taken, ys_json **reply) YS_MUST_CHECK;
/** Sends a message whose answer must be the one that is due, blocks before it passed over: anything else is trouble.
 * Where there is trouble already, nothing is asked. `reply` may be NULL; else it is NULL where there is trouble. */
ys_status ys_manners_need(struct ys_manners *m, ys_json *message_taken, ys_json **reply) YS_MUST_CHECK;
/** Says bye and waits; how it ends is the case `name` (NULL: no case, but trouble). */
ys_status ys_manners_end(struct ys_manners *m, const char *name) YS_MUST_CHECK;
/** Ends what is left; forgets trouble. A zeroed one is fine. */
void ys_manners_fini(struct ys_manners *m);

/** Hands over a case of which nothing was measured. */
ys_status ys_manners_say(const struct ys_manners *m, const char *name, enum ys_conduct_verdict verdict,
                         const char *message) YS_MUST_CHECK;

#endif
