/* A rank whose collectives are heard (probe/collectives.h): what it gets before it starts, and what was heard of it
 * afterwards. Of this room alone. */
#ifndef YS_CREW_HEARD_COLLECTIVES_H
#define YS_CREW_HEARD_COLLECTIVES_H

#include "base/files/working_folder.h"
#include "crew/facts.h"
#include "session/launch.h"

/** What was put in a rank's way. All 0: nobody listens, for no reason that could be told. */
struct ys_listening {
    char *path;       /* owned: the file of notes; NULL: nobody listens */
    char *reason;     /* owned: then, why; NULL: the adapter is a program of yardstick's own, which tells by itself */
    char *texts[2];   /* owned: variables */
    const char **env; /* owned: those of the launch, with these two */
    struct ys_working linked; /* has a link to the library, where LD_PRELOAD cannot have its path */
};

/** Makes the file of notes in the folder of `launch`, and has the library loaded into the adapter by what launch->env
 * points to from then on, behind what the user has put into LD_PRELOAD. What keeps it from that is a reason and no
 * failure. To be ended whatever comes of it. */
void ys_listening_begin(bool is_asked, struct ys_launch *launch, struct ys_listening *listening);

/** What was heard of a rank that has ended, whose blocks are in `series`: *facts is new, and the file gone. NULL of a
 * program of yardstick's own that counts no exchange. */
void ys_listening_end(struct ys_listening *listening, const struct ys_series_set *series,
                      struct ys_facts_collectives **facts);

#endif
