#include "verify/first_loss.h"

#include "base/fs.h"
#include "base/mem.h"
#include "base/working.h"
#include "graph/graph.h"
#include "verify/plan.h"
#include "verify/replay.h"
#include "verify/twin.h"
#include "verify/verify.h"

#include <math.h>

/* A step costs a whole proof of the batch about half: this many multiply-adds of a batch in double, for each round. */
static const int64_t DOUBLE_LIMIT = YS_VERIFY_WHOLE_LIMIT / 4;

ys_status ys_first_loss_is_random(const ys_json *plan, bool *is_random)
{
    struct ys_graph *graph = NULL;
    YS_TRY(ys_graph_read(ys_json_get_text(plan, "graph", ""), &graph));
    *is_random = ys_proof_drop_dropout(graph);
    ys_graph_free(graph);
    return YS_OK;
}

static ys_status is_affordable(const ys_json *plan, bool *affordable)
{
    struct ys_graph *graph = NULL;
    YS_TRY(ys_graph_read(ys_json_get_text(plan, "graph", ""), &graph));
    *affordable = ys_graph_multiply_adds(graph) <= DOUBLE_LIMIT / ys_json_get_int(plan, "batch", 1);
    ys_graph_free(graph);
    return YS_OK;
}

static ys_status ask_twins(struct ys_replay *replay, const char *moved, struct ys_first_loss *first)
{
    const char *initial = ys_json_get_text(replay->plan, "weights", "");
    const char *precision = ys_json_get_text(replay->plan, "precision", "f32");
    double worst = 0, loss;
    for (int twin = 0; twin < YS_VERIFY_TWINS; twin++) {
        YS_TRY(ys_twin_write_weights(ys_json_get_int(replay->plan, "seed", 0), twin, precision, initial, moved));
        YS_TRY(ys_replay_run(replay, &loss, NULL));
        worst = fmax(worst, fabs(loss - first->loss));
    }
    double relative = first->loss != 0 ? worst / fabs(first->loss) : worst;
    first->bound = fmax(YS_VERIFY_TWIN_FACTOR * relative, YS_FIRST_LOSS_LEAST);
    return YS_OK;
}

ys_status ys_first_loss_ask(const struct ys_framework *oracle, const ys_json *plan, struct ys_first_loss *first)
{
    struct ys_working work = {0};
    bool in_double = false;
    YS_TRY(is_affordable(plan, &in_double));
    YS_TRY(ys_working_in_cache("proofs", &work));
    char *moved = ys_path_join(work.path, "moved.safetensors");
    struct ys_replay replay = {.engine = oracle,
                               .plan = plan,
                               .precision = in_double ? "f64" : "f32",
                               .backend = in_double ? "ref" : NULL,
                               .steps = 1,
                               .folder = work.path};
    ys_status status = moved ? ys_replay_run(&replay, &first->loss, NULL) : ys_out_of_memory();
    replay.precision = replay.backend = NULL;
    replay.weights = moved;
    if (status == YS_OK)
        status = ask_twins(&replay, moved, first);
    ys_free(moved);
    ys_working_remove(&work);
    return status;
}
