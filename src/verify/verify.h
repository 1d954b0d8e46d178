/* The proof that a trial does the work that was asked for.
 *
 * Each framework is compared with the oracle (the built-in engine's `ref` back end in double) on the trial's own graph
 * (dropout off), initial weights and batches: the first 8 rows of the first ten batches, of a large network the first 2
 * of the first three. Three groups of checks:
 *
 * Work: parameter count, multiply-adds, initial weights and the rows of all these batches, each exactly equal.
 *
 * Meaning: both sides in double; logits, loss, every gradient, every weight after one step and after all, every
 * batch-norm buffer at both times; the trial's own optimizer, the learning rate cut to a tenth on the way: all within
 * YS_VERIFY_MEANING_BOUND; of an adapter that has it also `input_gradient`, by the first weights. Where an
 * error lies above that and below YS_VERIFY_MEANING_LIMIT, two twins of the oracle, each weight moved by one unit in
 * the last place of a double, say what rounding alone does to this work: the bound is then YS_VERIFY_DOUBLE_FACTOR
 * times their figure.
 *
 * Numerics: the framework in the trial's own format against the oracle; the worse of logits and loss, and the worst of
 * the gradients, of the first batch, each within YS_VERIFY_TWIN_FACTOR times that of the worst of eight twins, which
 * are the built-in engine in that format with every weight and pixel moved by one unit in its last place at random. A
 * figure of the twins below YS_VERIFY_TWIN_LEAST counts as that. No bound lies above what double says (ceiling.h).
 * Where nothing fails but these gradients, the other batches are tried in turn: a ReLU that rounding flips in one fails
 * no other.
 *
 * The whole batch: where a trial's batch has more rows, one whole batch is looked at as well, forward, backward and one
 * step, in double as above; where the framework has no double, or the batch more than YS_VERIFY_WHOLE_LIMIT
 * multiply-adds, its loss and gradients in the trial's own format against eight twins (beyond the limit the reference
 * is the built-in engine in single precision). The first step of either session in double goes through `train` and
 * `save`, as those of a run do.
 *
 * A trial of inference or attacks is asked in mode eval, and nothing of gradients of weights and steps. One of attacks,
 * whose gradients by the input are the framework's own, is asked for these in its own format too, against twins, and
 * for those of equal values in the network's pools of maxima (oracle/ties.h).
 *
 * Of rows of more than YS_VERIFY_POSITIONS positions the first so many are proven, where no position learns of those
 * behind it.
 *
 * Errors are max|d| / max|ref| for logits and gradients by the input, |d| / |ref| for the loss, norm(d) / norm(ref) for
 * gradients and buffers and norm(w - ref) / norm(ref - w0) for weights. A tensor whose norm lies below 1e-6 of the
 * largest of its kind is judged against that largest. See docs/proof.md for where the bounds come from, and for the
 * members of a proof. */
#ifndef YS_VERIFY_VERIFY_H
#define YS_VERIFY_VERIFY_H

#include "base/json/json.h"
#include "framework/framework.h"
#include "protocol/plan.h"
#include "verify/proof.h"

#define YS_VERIFY_VERSION       11 /* part of the cache key: raise it when the meaning of a proof changes */
#define YS_VERIFY_ROWS          8
#define YS_VERIFY_STEPS         10
#define YS_VERIFY_POSITIONS     128       /* the first of a longer row, where they are a network by themselves */
#define YS_VERIFY_LARGE         200000000 /* multiply-adds of one row: a network above is large */
#define YS_VERIFY_LARGE_ROWS    2
#define YS_VERIFY_LARGE_STEPS   3
#define YS_VERIFY_WHOLE_STEPS   3          /* whole batches that may be looked at; one is trained */
#define YS_VERIFY_WHOLE_LIMIT   8000000000 /* multiply-adds of a whole batch that the oracle goes through in double */
#define YS_VERIFY_TRAIN_LOSS    1e-6       /* bound of the loss that `train` says: some give it in single precision */
#define YS_VERIFY_TWINS         8
#define YS_VERIFY_MEANING_BOUND 1e-9
#define YS_VERIFY_MEANING_LIMIT 1e-5 /* of the bound, where the work itself amplifies rounding */
#define YS_VERIFY_DOUBLE_TWINS  2
#define YS_VERIFY_DOUBLE_FACTOR 64.0 /* mistakes lie so far above rounding here that room costs nothing */
#define YS_VERIFY_TWIN_FACTOR   8.0
#define YS_VERIFY_MOVED         2   /* of them, whose moves the oracle goes through, for the ceiling */
#define YS_VERIFY_LUCK          4.0 /* the worst of eight draws against the worst of two of the same kind, at most */
#define YS_VERIFY_ROOM          4.0 /* for what the estimate of a ceiling leaves out, as sums that cancel */
#define YS_VERIFY_TWIN_LEAST    0x1p-23 /* what the twins' figure counts at least: a unit in float32's last place */
#define YS_VERIFY_FLIPPED       1       /* what ReLUs that rounding flips may move a gradient by, all of which is 1 */
/* How far gradients of vectors may lie off where a framework adds them up in bf16: a sum of some hundred values that
 * nearly cancel loses a fifth. One that is left out or counted twice is off by 1. */
#define YS_VERIFY_SUM_IN_BF16 0.5
/* Of equal values in pools, in the trial's own format: where another has the gradient, or several share it, it is off
 * by a half or more; what bf16 rounds in it is less than this. */
#define YS_VERIFY_TIES 0.0625

struct ys_verifier;

/** `oracle` is the built-in engine, ready; borrowed until close. What the oracle said is kept for the trials that
 * follow. */
ys_status ys_verifier_open(const struct ys_framework *oracle, struct ys_verifier **verifier) YS_MUST_CHECK;
void ys_verifier_close(struct ys_verifier *verifier); /* removes what lay on disk; NULL is fine */

/** In a copy of the process (base/process/forked_task.h): what the verifier writes from now on goes into a folder of
 * the copy's own, which its close removes. YS_EIO. */
ys_status ys_verifier_move(struct ys_verifier *verifier) YS_MUST_CHECK;

struct ys_verify_request {
    const struct ys_framework *framework; /* ready */
    const struct ys_plan *plan;           /* of the trial's first round; its order file holds YS_VERIFY_STEPS or more */
    const ys_json *env;                   /* the trial's own variables, {NAME: text}; NULL for none */
    double stall_limit_s; /* of the trial's runs; 0: none. A proof allows ten times as long for an answer */
    bool fresh;           /* prove again although the cache knows */
    bool all_steps;       /* a large network over YS_VERIFY_STEPS steps as well */
    bool meaning_only;    /* leave out the numerics half where the framework has double */
    void (*on_progress)(void *context, const char *what); /* may be NULL */
    ys_status (*check_inputs)(void *context);             /* whether the plan's files are what they were; may be NULL */
    void *context;
};

/** Proves, or takes the proof from the cache, into *proof, which is overwritten and belongs to the caller. Verdict
 * "none": the adapter does no work, or could not do this work at all, or its ranks are not to exchange anything, or the
 * work itself diverges, or the oracle broke off (the reason says which). A proof that fails is YS_OK; errors, after
 * which `proof` owns nothing, are YS_EINTR, YS_EIO. */
ys_status ys_verify_prove(struct ys_verifier *verifier, const struct ys_verify_request *request,
                          struct ys_proof *proof) YS_MUST_CHECK;

/** Where the trial, whose `proof` was made before, first parts from the oracle, into proof->trace, which was NULL: the
 * value of a node, and the gradient of a parameter. Nothing of it is cached. Errors are those of ys_verify_prove(). */
ys_status ys_verify_trace(struct ys_verifier *verifier, const struct ys_verify_request *request,
                          struct ys_proof *proof) YS_MUST_CHECK;

#endif
