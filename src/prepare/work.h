/* The files that say what a run has to do: graph, initial weights, order of batches. Made once, kept in the cache under
 * the hash of everything they depend on, up to 4 GiB of them. */
#ifndef YS_PREPARE_WORK_H
#define YS_PREPARE_WORK_H

#include "base/hash.h"
#include "graph/graph.h"
#include "base/stored/shelf.h"
#include "prepare/trial.h"
#include "protocol/plan.h"

#define YS_WORK_SHELF "work" /* in the cache; taught weights and agreement references stand there too */

struct ys_work {
    char key[YS_SHA256_TEXT];        /* equal for equal work */
    char values_key[YS_SHA256_TEXT]; /* equal for equal initial weights */
    char *graph_path, *weights_path, *order_path;
    char *test_path;   /* the rows to test on, in the form of those that are trained on */
    enum ys_loss loss; /* the job's, or the model's own */
    double label_smoothing;
    bool is_random;                     /* it drops activations: no two frameworks compute the same */
    struct ys_shelf_item files, values; /* graph and order; weights. The files stay until ys_work_fini() */
    struct ys_shelf_item tests;         /* rows to test on, where those of the data set have another form */
};

/** Builds the network of `trial` for its data, sets the trial's parameters and multiply_adds, and its key loss to what
 * auto stands for. Writes no file. YS_EINVAL: model, data and loss do not go together. */
ys_status ys_work_resolve(struct ys_trial *trial) YS_MUST_CHECK;

/** The network of a trial that can be built, as the job's keys change it. YS_EINVAL as above. */
ys_status ys_work_graph(const struct ys_trial *trial, struct ys_graph **graph) YS_MUST_CHECK;

/** The work of `trial` in round `round`: its seed is the study's seed plus the round. The order holds the trial's
 * steps, or `least_steps` where that is more: a proof needs ten. */
ys_status ys_work_prepare(const struct ys_trial *trial, uint64_t seed, int64_t least_steps,
                          struct ys_work *work) YS_MUST_CHECK;
void ys_work_fini(struct ys_work *work);

/** Holds the folder `key` on the shelf of works; see ys_shelf_take(). */
ys_status ys_work_shelve(const char *key, ys_shelf_fill fill, void *context, struct ys_shelf_item *item) YS_MUST_CHECK;

/** The plan of one run. `plan` owns nothing after a failure. */
ys_status ys_work_plan(const struct ys_work *work, const struct ys_trial *trial, uint64_t seed, const char *folder,
                       struct ys_plan *plan) YS_MUST_CHECK;
/** Makes the plan of a trial one for this host, which proves and audits by itself what runs on others: of their CPUs
 * it keeps those that yardstick may use here. Where there is none of them its ranks are bound to none. */
void ys_work_plan_here(const struct ys_trial *trial, struct ys_plan *plan);

#endif
