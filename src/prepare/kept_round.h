/* attack.transfer: the weights of a round's trials, with the images that attacks made on them, are kept until its last
 * trial is done. Each trial is shown those of the trials before it, and these its own, so that whoever has all runs of
 * a round has every pair. */
#ifndef YS_PREPARE_KEPT_ROUND_H
#define YS_PREPARE_KEPT_ROUND_H

#include "crew/facts.h"
#include "prepare/trial.h"

struct ys_kept_trial {
    const struct ys_trial *trial; /* borrowed */
    char *folder;                 /* as `yardstick-builtin attack --keep` made it; owned */
    bool has_others;              /* it was shown to one, or one to it */
};

/** A zeroed one keeps nothing. */
struct ys_kept_round {
    char *folder; /* owned; NULL: nothing was kept yet */
    struct ys_kept_trial *items;
    size_t count;
    bool said_alone; /* once a study */
};

/** Whether its images are to be shown to others. */
bool ys_transfer_is_asked(const struct ys_trial *trial);
/** The folder that `trial` is to be kept in, below that of the study: new, not there yet, in one that is. Whatever an
 * earlier session left is removed first. */
ys_status ys_kept_round_place(struct ys_kept_round *round, const char *study_folder, const struct ys_trial *trial,
                              char **folder) YS_MUST_CHECK;

/** Who shows: the built-in engine, and what is called for each second that it takes. */
struct ys_shower {
    const struct ys_framework *engine; /* borrowed */
    double limit_s;
    void (*on_wait)(void *context);
    void *context;
};
/** `folder`, which is taken over, was filled for `trial`: shows both ways between it and each trial of its section that
 * was attacked likewise on the same rows before, into `transfers` of struct ys_facts_transfer. YS_EINTR; other failures
 * leave those that were done. */
ys_status ys_kept_round_show(struct ys_kept_round *round, const struct ys_shower *shower, const struct ys_trial *trial,
                             char *folder, struct ys_list *transfers) YS_MUST_CHECK;
/** Its last trial is done, or it was interrupted: removes all that was kept, and says where one had no other. */
void ys_kept_round_end(struct ys_kept_round *round, bool is_whole);

#endif
