#include "study/plausible.h"

#include "base/buf.h"
#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What one CPU can do in a second at the very most: 5 GHz, two fused operations on 16 numbers a cycle, and four times
 * that, because convolutions can be had for fewer multiplications (Winograd's are 2.25 to 4 times fewer). Matrix units
 * do 16 times as many in bf16. No CPU for which yardstick is built comes near; made-up steps pass it many times over.
 */
static const double MOST_PER_S = 5e9 * 2 * 32 * 4, MOST_PER_S_BF16 = 5e9 * 2 * 32 * 4 * 16;
/* Of the three passes of a training step that a network may save (the first layer needs no gradient of its input). */
static const double LEAST_PASSES = 2;
/* Importing a large framework takes some seconds of processor time, compiling a network too: what is above both this
 * and the processor time of all steps is not explained by them. */
static const double MOST_BESIDE_S = 10;

/* Operations of the steps after the first, or of all requests. */
static double operations(const ys_json *keys, int64_t multiply_adds, const ys_json *facts, bool infers)
{
    double steps = ys_json_get_number(facts, "steps_done", 0) - (infers ? 0 : 1);
    double batch = ys_json_get_number(keys, "batch", 0);
    return steps * batch * (double)multiply_adds * 2 * (infers ? 1 : LEAST_PASSES);
}

static void refuse(ys_json *facts, double used_s, double needed_s, bool infers)
{
    char *text =
        ys_format("its %s used %.3g s of processor time; what was asked for takes a CPU %.3g s at the very least: "
                  "the work was not done there",
                  infers ? "requests" : "steps", used_s, needed_s);
    ys_json_set_string(facts, "status", "wrong_output");
    ys_json_set_string(facts, "message", text ? text : "too little processor time");
    ys_free(text);
}

static void warn_of(ys_json *facts, const char *key, const char *place, double steps_s)
{
    double used_s = ys_json_get_number(ys_json_get(facts, "phase_cpu"), key, 0);
    if (used_s <= MOST_BESIDE_S || used_s <= steps_s)
        return;
    char *text =
        ys_format("it used %.3g s of processor time %s, more than its %.3g s in all steps after the first: work that "
                  "is done there is not in its speed",
                  used_s, place, steps_s);
    if (text)
        ys_json_append(ys_json_get(facts, "warnings"), ys_json_string(text));
    ys_free(text);
}

void ys_plausible(const ys_json *keys, int64_t multiply_adds, ys_json *facts)
{
    const ys_json *phases = ys_json_get(facts, "phase_cpu");
    bool infers = strcmp(ys_json_get_text(keys, "mode", "train"), "infer") == 0;
    double used_s = ys_json_get_number(phases, infers ? "requests_s" : "steps_s", NAN);
    if (strcmp(ys_json_get_text(facts, "status", ""), "ok") != 0 || isnan(used_s) ||
        ys_json_get_bool(ys_json_get(facts, "hello"), "no_work", false))
        return;
    bool is_narrow = strcmp(ys_json_get_text(keys, "precision", "f32"), "bf16") == 0;
    double needed_s = operations(keys, multiply_adds, facts, infers) / (is_narrow ? MOST_PER_S_BF16 : MOST_PER_S);
    if (used_s < needed_s) {
        refuse(facts, used_s, needed_s, infers);
        return;
    }
    warn_of(facts, "start_s", "before hello", used_s);
    warn_of(facts, "open_s", "in open", used_s);
    warn_of(facts, "first_step_s", "in the first step", used_s);
    warn_of(facts, "save_s", "in saving the weights", used_s);
}
