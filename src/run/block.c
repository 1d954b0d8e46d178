/* The messages of training: checked, then kept. */
#include "base/clock.h"
#include "run/run_internal.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/** A loss is a number, or the text of one that JSON cannot hold. */
static bool loss_value(const ys_json *value, double *loss)
{
    static const struct {
        const char *text;
        double value;
    } words[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    enum ys_json_type type = ys_json_type_of(value);
    if (type == YS_JSON_INT || type == YS_JSON_REAL) {
        *loss = ys_json_number(value, 0);
        return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(ys_json_text(value, ""), words[i].text) == 0) {
            *loss = words[i].value;
            return true;
        }
    }
    return false;
}

static ys_status check_counts(const struct ys_run *run, const ys_json *message, int64_t *count)
{
    int64_t first = ys_json_get_int(message, "first", -1);
    *count = ys_json_get_int(message, "count", -1);
    int64_t left = run->to - run->next_step, due = left < run->request_block ? left : run->request_block;
    if (first != run->next_step)
        return ys_fail(YS_EPROTOCOL, "a block begins at step %" PRId64 " where step %" PRId64 " was due", first,
                       run->next_step);
    if (*count != due)
        return ys_fail(YS_EPROTOCOL, "the block from step %" PRId64 " has %" PRId64 " steps where %" PRId64 " were due",
                       first, *count, due);
    return YS_OK;
}

/** Blocks lie between question and answer, one after the other. Two processes of one machine share the clock, so
 * nothing is allowed for. */
static ys_status check_times(const struct ys_run *run, int64_t start_ns, int64_t end_ns, int64_t input_ns)
{
    int64_t now_ns = (int64_t)ys_time_ns(), earliest_ns = (int64_t)run->last_end_ns;
    if (start_ns < earliest_ns)
        return ys_fail(YS_EPROTOCOL, "the block from step %" PRId64 " says that it began %.6f s before %s",
                       run->next_step, (double)(earliest_ns - start_ns) * 1e-9,
                       run->last_end_ns == run->asked_ns ? "it was asked for" : "the block before it ended");
    if (end_ns < start_ns)
        return ys_fail(YS_EPROTOCOL, "the block from step %" PRId64 " says that it ended before it began",
                       run->next_step);
    if (end_ns > now_ns)
        return ys_fail(YS_EPROTOCOL,
                       "the block from step %" PRId64 " says that it ended %.6f s after its message came; is its clock "
                       "CLOCK_MONOTONIC?",
                       run->next_step, (double)(end_ns - now_ns) * 1e-9);
    if (input_ns < 0 || input_ns > end_ns - start_ns)
        return ys_fail(YS_EPROTOCOL,
                       "the block from step %" PRId64 " says that it waited %" PRId64 " ns for data in %" PRId64 " ns",
                       run->next_step, input_ns, end_ns - start_ns);
    return YS_OK;
}

static ys_status take_losses(struct ys_run *run, const ys_json *losses, int64_t count)
{
    int64_t diverged_at = -1;
    size_t size = ys_json_size(losses);
    if (ys_json_type_of(losses) != YS_JSON_ARRAY || (size != (size_t)count && !(run->no_work && size == 0)))
        return ys_fail(YS_EPROTOCOL, "the block from step %" PRId64 " has %zu losses for %" PRId64 " steps",
                       run->next_step, size, count);
    for (size_t i = 0; i < size; i++) {
        double loss;
        if (!loss_value(ys_json_at(losses, i), &loss))
            return ys_fail(YS_EPROTOCOL, "the loss of step %" PRId64 " is not a number", run->next_step + (int64_t)i);
        YS_TRY(ys_series_add_real(run->series, "step_loss", loss));
        if (!isfinite(loss) && diverged_at < 0)
            diverged_at = run->next_step + (int64_t)i;
    }
    if (diverged_at < 0)
        return YS_OK;
    const char *text = ys_json_text(ys_json_at(losses, (size_t)(diverged_at - run->next_step)), "not finite");
    return ys_session_fail(run->session, "diverged", "the loss of step %" PRId64 " is %s", diverged_at, text);
}

static void tell(struct ys_run *run)
{
    static const uint64_t between_ns = 100000000;
    uint64_t now_ns = ys_time_ns();
    if (!run->spec->on_progress || now_ns < run->shown_ns + between_ns)
        return;
    run->shown_ns = now_ns;
    run->spec->on_progress(run->spec->context, "train", (double)run->next_step / (double)run->steps);
}

ys_status ys_run_take_block(void *context, const ys_json *message)
{
    struct ys_run *run = context;
    int64_t count, start_ns = ys_json_get_int(message, "t_start_ns", -1),
                   end_ns = ys_json_get_int(message, "t_end_ns", -1);
    int64_t input_ns = ys_json_get_int(message, "input_ns", -1);
    YS_TRY(check_counts(run, message, &count));
    YS_TRY(check_times(run, start_ns, end_ns, input_ns));
    YS_TRY(ys_series_add_int(run->series, "block_first", run->next_step));
    YS_TRY(ys_series_add_int(run->series, "block_count", count));
    YS_TRY(ys_series_add_int(run->series, "block_start_ns", start_ns));
    YS_TRY(ys_series_add_int(run->series, "block_end_ns", end_ns));
    YS_TRY(ys_series_add_int(run->series, "block_input_ns", input_ns));
    YS_TRY(take_losses(run, ys_json_get(message, "loss"), count));
    run->next_step += count;
    run->last_end_ns = (uint64_t)end_ns;
    tell(run);
    return YS_OK;
}
