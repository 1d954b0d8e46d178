#include "study/plausible_time.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What one CPU can do in a second at the very most: 5 GHz, two fused operations on 16 numbers a cycle, and four times
 * that, because convolutions can be had for fewer multiplications (Winograd's are 2.25 to 4 times fewer). Some
 * formats have more (struct ys_format_facts). No CPU for which yardstick is built comes near; made-up steps pass it
 * many times over.
 */
static const double MOST_PER_S = 5e9 * 2 * 32 * 4;
/* What was measured was matrix products, on a machine that may have been busy or hot: four times that for convolutions
 * in fewer multiplications, as above, and twice for a better day. */
static const double MOST_OF_MEASURED = 4 * 2;
/* Importing a large framework takes some seconds of processor time, compiling a network too: what is above both this
 * and the processor time of all steps is not explained by them. */
static const double MOST_BESIDE_S = 10;
/* Linux tells the processor time of a process in hundredths of a second: by so much two readings may lie off. */
static const double READINGS_S = 0.02;

/* Operations of the steps after the first, or of all requests. */
static double operations(double batch, const struct ys_facts *facts, const struct ys_mode_facts *mode)
{
    double steps = (double)facts->steps_done - (mode->times_each ? 0 : 1);
    double multiply_adds = facts->work && facts->work->multiply_adds > 0 ? (double)facts->work->multiply_adds : 0;
    return steps * batch * multiply_adds * 2 * mode->least_passes;
}

struct limit {
    double per_s; /* operations of a CPU */
    const char *basis;
};

static struct limit limit_of(int precision, const struct ys_peak_measured *measured)
{
    const struct ys_format_facts *format = ys_format_of(precision);
    struct limit any = {MOST_PER_S * format->most_times, "by what any CPU can do"};
    struct limit this = {measured->per_s[format->peak] * MOST_OF_MEASURED, "by the measured peak of this machine"};
    return this.per_s < any.per_s ? this : any;
}

static void refuse(struct ys_facts *facts, double used_s, double needed_s, const char *basis,
                   const struct ys_mode_facts *mode)
{
    char text[300];
    snprintf(
        text, sizeof text,
        "its %s used %.3g s of processor time; what was asked for takes a CPU %.3g s at the very least, %s: the work "
        "was not done there",
        mode->units, used_s, needed_s, basis);
    facts->status = YS_RUN_WRONG_OUTPUT;
    ys_set_text(&facts->message, text);
}

static void warn_of(struct ys_facts *facts, double used_s, const char *place, double steps_s)
{
    char text[300];
    if (isnan(used_s) || used_s <= MOST_BESIDE_S || used_s <= steps_s)
        return;
    snprintf(
        text, sizeof text,
        "it used %.3g s of processor time %s, more than its %.3g s in all steps after the first: work that is done "
        "there is not in its speed",
        used_s, place, steps_s);
    ys_list_add_text(&facts->warnings, text);
}

void ys_plausible(const struct ys_trial_settings *keys, const struct ys_peak_measured *measured, struct ys_facts *facts)
{
    const struct ys_facts_phase_cpu *phases = facts->phase_cpu;
    const struct ys_mode_facts *mode = ys_mode_of(keys->mode);
    double used_s = !phases ? NAN : mode->times_each ? phases->requests_s : phases->steps_s;
    if (facts->status != YS_RUN_OK || isnan(used_s) || facts->said.no_work)
        return;
    const struct limit limit = limit_of(keys->precision, measured);
    double needed_s = operations((double)ys_settings_rows(keys), facts, mode) / limit.per_s;
    if (used_s + READINGS_S < needed_s) {
        refuse(facts, used_s, needed_s, limit.basis, mode);
        return;
    }
    warn_of(facts, phases->start_s, "before hello", used_s);
    warn_of(facts, phases->open_s, "in open", used_s);
    warn_of(facts, phases->first_step_s, "in the first step", used_s);
    warn_of(facts, phases->save_s, "in saving the weights", used_s);
}
