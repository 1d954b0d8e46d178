#include "verify/audits/first_loss.h"

#include "base/files/fs.h"
#include "base/files/working_folder.h"
#include "base/mem.h"
#include "graph/graph.h"
#include "verify/audits/replay.h"
#include "verify/oracle/proof_plan.h"
#include "verify/oracle/twin.h"
#include "verify/verify.h"

#include <math.h>

/* A step costs a whole proof of the batch about half: this many multiply-adds of a batch in double, for each round. */
static const int64_t DOUBLE_LIMIT = YS_VERIFY_WHOLE_LIMIT / 4;

ys_status ys_first_loss_is_random(const struct ys_plan *plan, bool *is_random)
{
    struct ys_graph *graph = NULL;
    YS_TRY(ys_graph_read(plan->graph, &graph));
    *is_random = ys_proof_drop_dropout(graph);
    ys_graph_free(graph);
    return YS_OK;
}

ys_status ys_first_loss_is_known(const struct ys_plan *plan, bool is_behind_checkpoint, bool *is_known)
{
    struct ys_graph *graph = NULL;
    YS_TRY(ys_graph_read(plan->graph, &graph));
    *is_known = !ys_plan_is_apart(plan, ys_graph_has(graph, YS_OP_BATCHNORM)) &&
                !(is_behind_checkpoint && (graph->carries_state || plan->dist.strategy == YS_STRATEGY_ALONE)) &&
                !ys_proof_drop_dropout(graph);
    ys_graph_free(graph);
    return YS_OK;
}

static ys_status is_affordable(const struct ys_plan *plan, bool *affordable)
{
    struct ys_graph *graph = NULL;
    YS_TRY(ys_graph_read(plan->graph, &graph));
    *affordable = ys_graph_multiply_adds(graph) <= DOUBLE_LIMIT / plan->batch;
    ys_graph_free(graph);
    return YS_OK;
}

static ys_status ask_twins(struct ys_replay *replay, const char *initial, const char *moved,
                           struct ys_first_loss *first)
{
    double worst = 0, loss;
    for (int twin = 0; twin < YS_VERIFY_TWINS; twin++) {
        YS_TRY(ys_twin_write_weights(replay->plan->seed, twin, 1, replay->precision, initial, moved));
        YS_TRY(ys_replay_run(replay, &loss, NULL));
        worst = fmax(worst, fabs(loss - first->loss));
    }
    double relative = first->loss != 0 ? worst / fabs(first->loss) : worst;
    first->bound = fmax(YS_VERIFY_TWIN_FACTOR * relative, YS_FIRST_LOSS_LEAST);
    return YS_OK;
}

bool ys_first_loss_holds(const struct ys_first_loss *first, double loss)
{
    return fabs(loss - first->loss) <= first->bound * (first->loss != 0 ? fabs(first->loss) : 1);
}

/* Twins are asked where `said` holds not without them; NULL: never. */
static ys_status ask(const struct ys_framework *oracle, const struct ys_plan *plan, const char *weights, int64_t step,
                     const double *said, struct ys_first_loss *first)
{
    struct ys_working work = {0};
    bool in_double = false;
    YS_TRY(is_affordable(plan, &in_double));
    YS_TRY(ys_working_in_cache("proofs", &work));
    char *moved = ys_path_join(work.path, "moved.safetensors");
    struct ys_replay replay = {.engine = oracle,
                               .plan = plan,
                               .precision = in_double ? YS_PRECISION_F64 : YS_PRECISION_F32,
                               .backend = in_double ? "ref" : NULL,
                               .weights = weights,
                               .first = step,
                               .steps = 1,
                               .folder = work.path};
    ys_status status = ys_replay_run(&replay, &first->loss, NULL);
    replay.precision = (enum ys_precision)plan->precision;
    replay.backend = NULL;
    replay.weights = moved;
    first->bound = YS_FIRST_LOSS_LEAST;
    if (status == YS_OK && said && !ys_first_loss_holds(first, *said))
        status = ask_twins(&replay, weights, moved, first);
    ys_free(moved);
    ys_working_remove(&work);
    return status;
}

ys_status ys_first_loss_ask(const struct ys_framework *oracle, const struct ys_plan *plan, bool with_twins,
                            struct ys_first_loss *first)
{
    static const double nothing = NAN;
    return ask(oracle, plan, plan->weights, 0, with_twins ? &nothing : NULL, first);
}

ys_status ys_first_loss_after(const struct ys_framework *oracle, const struct ys_plan *plan, const char *weights,
                              int64_t step, double said, struct ys_first_loss *first)
{
    return ask(oracle, plan, weights, step, &said, first);
}
