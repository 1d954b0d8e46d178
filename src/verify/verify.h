/* The proof that a trial does the work that was asked for.
 *
 * Each framework is compared with the oracle (the built-in engine's `ref` back end in double) on the trial's own graph,
 * initial weights and batches: the first 8 rows of the first ten batches. Three groups of checks:
 *
 * Work: parameter count, multiply-adds, initial weights and the rows of all ten batches, each exactly equal.
 *
 * Meaning: both sides in double; logits, loss, every gradient, every weight after 1 and after 10 steps of the trial's
 * own optimizer, the learning rate cut to a tenth after five: all within YS_VERIFY_MEANING_BOUND.
 *
 * Numerics: the framework in the trial's own format against the oracle; the worse of logits and loss, and the worst of
 * the gradients, of the first batch, each within YS_VERIFY_TWIN_FACTOR times that of the worst of eight twins, which
 * are the built-in engine in that format with every weight and pixel moved by one unit in the last place at random.
 *
 * Errors are max|d| / max|ref| for logits, |d| / |ref| for the loss, norm(d) / norm(ref) for gradients and
 * norm(w - ref) / norm(ref - w0) for weights. A tensor whose norm lies below 1e-6 of the largest of its kind is judged
 * against that largest. See docs/proof.md for where the bounds come from. */
#ifndef YS_VERIFY_VERIFY_H
#define YS_VERIFY_VERIFY_H

#include "base/json.h"
#include "framework/framework.h"

#define YS_VERIFY_VERSION       2 /* part of the cache key: raise it when the meaning of a proof changes */
#define YS_VERIFY_ROWS          8
#define YS_VERIFY_BATCHES       10
#define YS_VERIFY_TWINS         8
#define YS_VERIFY_MEANING_BOUND 1e-9
#define YS_VERIFY_TWIN_FACTOR   8.0

struct ys_verifier;

/** `oracle` is the built-in engine, ready; borrowed until close. What the oracle said is kept for the trials that
 * follow. */
ys_status ys_verifier_open(const struct ys_framework *oracle, struct ys_verifier **verifier) YS_MUST_CHECK;
void ys_verifier_close(struct ys_verifier *verifier); /* removes what lay on disk; NULL is fine */

struct ys_verify_request {
    const struct ys_framework *framework; /* ready */
    const ys_json *plan;                  /* of the trial's first round; its order file holds at least ten steps */
    const ys_json *env;                   /* the trial's own variables, {NAME: text}; NULL for none */
    const char *work;     /* names the work: equal for trials that differ in framework, options, threads alone */
    double stall_limit_s; /* of the trial's runs; 0: none. A proof allows ten times as long for an answer */
    bool fresh;           /* prove again although the cache knows */
    void (*on_progress)(void *context, const char *what); /* may be NULL */
    void *context;
};

/** Proves, or takes the proof from the cache. The proof is an object of
 *
 *  verdict "pass", "weak", "fail" or "none"; reason (null, or a sentence); key, cached, framework, version, seed, rows,
 *  batches, seconds, date; checks, an array of {half, name, error, bound, pass, worst}; twins {count, forward,
 * gradients}.
 *
 * Verdict "none": the adapter does no work, or could not do this work at all (the reason says which). A proof that
 * fails is YS_OK; errors are YS_EINTR, YS_EIO, YS_ENOMEM. */
ys_status ys_verify_prove(struct ys_verifier *verifier, const struct ys_verify_request *request,
                          ys_json **proof) YS_MUST_CHECK;

#endif
