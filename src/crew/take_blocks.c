/* The messages of training and of requests: checked, then kept. */
#include "base/clock.h"
#include "crew/run_state.h"
#include "protocol/latency_message.h"
#include "session/checked_message.h"
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

static ys_status check_counts(const struct ys_run *run, int64_t first, int64_t count)
{
    int64_t left = run->to - run->next_step, due = left < run->request_block ? left : run->request_block;
    if (first != run->next_step)
        return ys_fail(YS_EPROTOCOL, "a block begins at step %" PRId64 " where step %" PRId64 " was due", first,
                       run->next_step);
    if (count != due)
        return ys_fail(YS_EPROTOCOL, "the block from step %" PRId64 " has %" PRId64 " steps where %" PRId64 " were due",
                       first, count, due);
    return YS_OK;
}

/** What was measured lies between question and answer, one after the other. Two processes of one machine share the
 * clock, so nothing is allowed for. */
static ys_status check_times(const struct ys_run *run, int64_t start_ns, int64_t end_ns)
{
    const char *message = run->mode->times_each ? "message" : "block", *step = run->mode->unit;
    char span[32];
    int64_t now_ns = (int64_t)ys_time_ns(), earliest_ns = (int64_t)run->last_end_ns;
    if (start_ns < earliest_ns)
        return ys_fail(YS_EPROTOCOL, "the %s from %s %" PRId64 " says that it began %s before %s", message, step,
                       run->next_step, ys_span_text((double)(earliest_ns - start_ns) * 1e-9, span, sizeof span),
                       run->last_end_ns == run->asked_ns ? "it was asked for" : "the one before it ended");
    if (end_ns < start_ns)
        return ys_fail(YS_EPROTOCOL, "the %s from %s %" PRId64 " says that it ended before it began", message, step,
                       run->next_step);
    if (end_ns > now_ns)
        return ys_fail(YS_EPROTOCOL,
                       "the %s from %s %" PRId64 " says that it ended %s after its message came; is its clock "
                       "CLOCK_MONOTONIC?",
                       message, step, run->next_step,
                       ys_span_text((double)(end_ns - now_ns) * 1e-9, span, sizeof span));
    return YS_OK;
}

static ys_status check_input(const struct ys_run *run, int64_t input_ns, int64_t span_ns)
{
    if (input_ns < 0 || input_ns > span_ns)
        return ys_fail(YS_EPROTOCOL,
                       "the block from step %" PRId64 " says that it waited %" PRId64 " ns for data in %" PRId64 " ns",
                       run->next_step, input_ns, span_ns);
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
        ys_series_add_real(run->series, "step_loss", loss);
        if (!isfinite(loss) && diverged_at < 0)
            diverged_at = run->next_step + (int64_t)i;
    }
    if (diverged_at < 0)
        return YS_OK;
    const char *text = ys_json_text(ys_json_at(losses, (size_t)(diverged_at - run->next_step)), "not finite");
    return ys_session_fail(run->session, YS_RUN_DIVERGED, "the loss of step %" PRId64 " is %s", diverged_at, text);
}

/* The times of each step, in their order. */
enum { BEGAN, READY, REDUCED, UPDATED, STAMPS };
static const struct {
    const char *name, *series;
} stamps[STAMPS] = {[BEGAN] = {"began_ns", "exchange_began_ns"},
                    [READY] = {"ready_ns", "exchange_ready_ns"},
                    [REDUCED] = {"reduced_ns", "exchange_reduced_ns"},
                    [UPDATED] = {"updated_ns", "exchange_updated_ns"}};

/** There is one for each step; `began_ns` and `updated_ns` may lack, both of them. */
static ys_status check_stamps(const struct ys_run *run, const ys_json *const *lists, int64_t count)
{
    for (size_t k = 0; k < STAMPS; k++)
        if (ys_json_size(lists[k]) != (size_t)count && (k == READY || k == REDUCED || lists[BEGAN] || lists[UPDATED]))
            return ys_fail(YS_EPROTOCOL,
                           "the block from step %" PRId64 " has %zu times \"%s\" for %" PRId64 " steps: "
                           "\"ready_ns\" and \"reduced_ns\" go together, and so do \"began_ns\" and \"updated_ns\"",
                           run->next_step, ys_json_size(lists[k]), stamps[k].name, count);
    return YS_OK;
}

/** Of step `step`, the `place`-th of its block: one after the other, from *last_ns on. */
static ys_status take_step(struct ys_run *run, const ys_json *const *lists, int64_t place, int64_t start_ns,
                           int64_t span_ns, int64_t *last_ns)
{
    for (size_t k = 0; k < STAMPS; k++) {
        if (!lists[k])
            continue;
        const int64_t t_ns = ys_json_integer(ys_json_at(lists[k], (size_t)place), -1);
        if (t_ns < *last_ns || t_ns > span_ns)
            return ys_fail(YS_EPROTOCOL,
                           "step %" PRId64 " has as \"%s\" %" PRId64 " ns behind another time of %" PRId64
                           " ns, in a block of %" PRId64
                           " ns: these are not times one after the other inside the block",
                           run->next_step + place, stamps[k].name, t_ns, *last_ns, span_ns);
        ys_series_add_int(run->series, stamps[k].series, start_ns + t_ns);
        *last_ns = t_ns;
    }
    ys_series_add_int(run->series, "exchange_step", run->next_step + place);
    return YS_OK;
}

/** When each step began, its own gradients were there, they were those of all ranks, and the weights had changed. Data
 * are waited for between that and the next step. */
static ys_status take_stamps(struct ys_run *run, const struct ys_message *message)
{
    const ys_json *const lists[STAMPS] = {message->block.began_ns, message->block.ready_ns, message->block.reduced_ns,
                                          message->block.updated_ns};
    const int64_t count = message->block.count, start_ns = message->block.t_start_ns,
                  span_ns = message->block.t_end_ns - start_ns;
    int64_t last_ns = 0, between_ns = span_ns;
    if (!lists[BEGAN] && !lists[READY] && !lists[REDUCED] && !lists[UPDATED])
        return YS_OK;
    YS_TRY(check_stamps(run, lists, count));
    for (int64_t i = 0; i < count; i++) {
        YS_TRY(take_step(run, lists, i, start_ns, span_ns, &last_ns));
        if (lists[BEGAN])
            between_ns -= ys_json_integer(ys_json_at(lists[UPDATED], (size_t)i), 0) -
                          ys_json_integer(ys_json_at(lists[BEGAN], (size_t)i), 0);
    }
    if (message->block.input_ns > between_ns)
        return ys_fail(YS_EPROTOCOL,
                       "the block from step %" PRId64 " says that it waited %" PRId64 " ns for data, and %" PRId64
                       " ns passed between its steps",
                       run->next_step, message->block.input_ns, between_ns);
    return YS_OK;
}

/** For how long an exchange was under way; below 0 where the adapter does not tell. */
static ys_status take_exchange(struct ys_run *run, int64_t exchange_ns, int64_t span_ns)
{
    if (exchange_ns < 0)
        return YS_OK;
    if (exchange_ns > span_ns)
        return ys_fail(YS_EPROTOCOL,
                       "the block from step %" PRId64 " says that it exchanged gradients for %" PRId64 " ns of %" PRId64
                       " ns",
                       run->next_step, exchange_ns, span_ns);
    ys_series_add_int(run->series, "block_exchange_ns", exchange_ns);
    return YS_OK;
}

static void tell(struct ys_run *run)
{
    static const uint64_t between_ns = 100000000;
    uint64_t now_ns = ys_time_ns();
    if (!run->spec->on_progress || now_ns < run->shown_ns + between_ns)
        return;
    run->shown_ns = now_ns;
    ys_run_tell(run, run->work, (double)run->next_step / (double)run->steps);
}

/** Where the measured steps lie, and that they are done. */
static void keep_span(struct ys_run *run, int64_t count, int64_t start_ns, int64_t end_ns)
{
    ys_series_add_int(run->series, "block_first", run->next_step);
    ys_series_add_int(run->series, "block_count", count);
    ys_series_add_int(run->series, "block_start_ns", start_ns);
    ys_series_add_int(run->series, "block_end_ns", end_ns);
    const struct ys_series *rows = ys_series_find(run->series, "block_end_ns");
    ys_series_add_rank(run->series, "block_rank", rows->count - 1, run->spec->launch.rank);
}

static void go_on(struct ys_run *run, int64_t count, int64_t end_ns)
{
    run->next_step += count;
    run->last_end_ns = (uint64_t)end_ns;
    tell(run);
}

ys_status ys_run_take_block(void *context, const ys_json *json)
{
    struct ys_run *run = context;
    struct ys_message message;
    ys_message_read(json, &message);
    const int64_t count = message.block.count, start_ns = message.block.t_start_ns, end_ns = message.block.t_end_ns;
    YS_TRY(check_counts(run, message.block.first, count));
    YS_TRY(check_times(run, start_ns, end_ns));
    YS_TRY(check_input(run, message.block.input_ns, end_ns - start_ns));
    keep_span(run, count, start_ns, end_ns);
    ys_series_add_int(run->series, "block_input_ns", message.block.input_ns);
    YS_TRY(take_stamps(run, &message));
    if (message.block.sent_bytes >= 0)
        ys_series_add_int(run->series, "block_sent_bytes", message.block.sent_bytes);
    YS_TRY(take_exchange(run, message.block.exchange_ns, end_ns - start_ns));
    YS_TRY(take_losses(run, message.block.loss, count));
    go_on(run, count, end_ns);
    return YS_OK;
}

static ys_status check_requests(const struct ys_run *run, int64_t first, int64_t count, const ys_json *latencies)
{
    int64_t left = run->to - run->next_step;
    if (first != run->next_step)
        return ys_fail(YS_EPROTOCOL, "latencies begin at request %" PRId64 " where request %" PRId64 " was due", first,
                       run->next_step);
    if (count < 1 || count > left || count > YS_LATENCIES_LIMIT)
        return ys_fail(YS_EPROTOCOL,
                       "the message from request %" PRId64 " tells of %" PRId64 " requests; 1 to %" PRId64 " were due",
                       first, count, left < YS_LATENCIES_LIMIT ? left : YS_LATENCIES_LIMIT);
    if (ys_json_type_of(latencies) != YS_JSON_ARRAY || ys_json_size(latencies) != (size_t)count)
        return ys_fail(YS_EPROTOCOL, "the message from request %" PRId64 " has %zu latencies for %" PRId64 " requests",
                       first, ys_json_size(latencies), count);
    return YS_OK;
}

/** Requests come one after the other, so their latencies add up to no more than the time that passed. */
static ys_status check_latencies(const struct ys_run *run, const ys_json *latencies, int64_t span_ns)
{
    int64_t left_ns = span_ns;
    for (size_t i = 0; i < ys_json_size(latencies); i++) {
        const ys_json *value = ys_json_at(latencies, i);
        int64_t latency_ns = ys_json_integer(value, -1);
        if (ys_json_type_of(value) != YS_JSON_INT || latency_ns < 0)
            return ys_fail(YS_EPROTOCOL, "the latency of request %" PRId64 " is not a number of nanoseconds",
                           run->next_step + (int64_t)i);
        if (latency_ns > left_ns)
            return ys_fail(YS_EPROTOCOL,
                           "the latencies from request %" PRId64 " to request %" PRId64
                           " are together longer than the %" PRId64 " ns that their message says passed",
                           run->next_step, run->next_step + (int64_t)i, span_ns);
        left_ns -= latency_ns;
    }
    return YS_OK;
}

/** How many requests were timed together. The pieces of such a request would be nobody's. */
static ys_status check_group(const struct ys_run *run, const struct ys_message *message)
{
    const int64_t group = message->latencies.group;
    const int64_t most = ys_plan_has_prompt(run->spec->plan) ? 1 : message->latencies.count;
    if (group < 0 || (group >= 1 && group <= most))
        return YS_OK;
    return ys_fail(YS_EPROTOCOL,
                   "the message from request %" PRId64 " has requests that were timed %" PRId64
                   " together; 1 to %" PRId64 " can be",
                   run->next_step, group, most);
}

/** Whether `list` has `count` numbers of nanoseconds, or of instructions. */
static bool are_spans(const ys_json *list, int64_t count)
{
    bool fits = ys_json_type_of(list) == YS_JSON_ARRAY && ys_json_size(list) == (size_t)count;
    for (size_t i = 0; fits && i < (size_t)count; i++)
        fits = ys_json_type_of(ys_json_at(list, i)) == YS_JSON_INT && ys_json_integer(ys_json_at(list, i), -1) >= 0;
    return fits;
}

static int64_t span_at(const ys_json *list, int64_t place)
{
    return ys_json_integer(ys_json_at(list, (size_t)place), 0);
}

/** A request is its pieces, one after the other: they add up to no more than its latency. */
static ys_status check_pieces(const struct ys_run *run, const struct ys_message *message)
{
    const int64_t tokens = run->spec->plan->tokens, count = message->latencies.count;
    const ys_json *prompts = message->latencies.prompt_ns, *each = message->latencies.token_ns;
    if (!are_spans(prompts, count) || !are_spans(each, count * tokens))
        return ys_fail(YS_EPROTOCOL,
                       "the message from request %" PRId64 " must have %" PRId64 " prompt_ns and %" PRId64
                       " token_ns, each a number of nanoseconds",
                       run->next_step, count, count * tokens);
    for (int64_t i = 0; i < count; i++) {
        int64_t left_ns = span_at(message->latencies.latency_ns, i) - span_at(prompts, i);
        for (int64_t k = 0; k < tokens && left_ns >= 0; k++)
            left_ns -= span_at(each, i * tokens + k);
        if (left_ns < 0)
            return ys_fail(YS_EPROTOCOL, "prompt and tokens of request %" PRId64 " took together longer than it did",
                           run->next_step + i);
    }
    return YS_OK;
}

static ys_status take_pieces(struct ys_run *run, const struct ys_message *message)
{
    const ys_json *prompts = message->latencies.prompt_ns, *each = message->latencies.token_ns;
    YS_TRY(check_pieces(run, message));
    for (size_t i = 0; i < ys_json_size(prompts); i++)
        ys_series_add_int(run->series, "prompt_ns", span_at(prompts, (int64_t)i));
    for (size_t i = 0; i < ys_json_size(each); i++)
        ys_series_add_int(run->series, "token_ns", span_at(each, (int64_t)i));
    return YS_OK;
}

/** What an emulator counted of each request, where it does. */
static ys_status take_instructions(struct ys_run *run, const struct ys_message *message)
{
    const ys_json *counts = message->latencies.instructions;
    if (!counts)
        return YS_OK;
    if (!are_spans(counts, message->latencies.count))
        return ys_fail(YS_EPROTOCOL,
                       "the message from request %" PRId64 " must have %" PRId64 " instructions, each a number of them",
                       run->next_step, message->latencies.count);
    for (size_t i = 0; i < ys_json_size(counts); i++)
        ys_series_add_int(run->series, "instructions", span_at(counts, (int64_t)i));
    return YS_OK;
}

ys_status ys_run_take_latencies(void *context, const ys_json *json)
{
    struct ys_run *run = context;
    struct ys_message message;
    ys_message_read(json, &message);
    const ys_json *latencies = message.latencies.latency_ns;
    const int64_t count = message.latencies.count, start_ns = message.latencies.t_start_ns,
                  end_ns = message.latencies.t_end_ns;
    YS_TRY(check_requests(run, message.latencies.first, count, latencies));
    YS_TRY(check_times(run, start_ns, end_ns));
    YS_TRY(check_latencies(run, latencies, end_ns - start_ns));
    YS_TRY(check_group(run, &message));
    if (ys_plan_has_prompt(run->spec->plan))
        YS_TRY(take_pieces(run, &message));
    YS_TRY(take_instructions(run, &message));
    if (message.latencies.group > 1)
        ys_series_add_int(run->series, "latency_group", message.latencies.group);
    keep_span(run, count, start_ns, end_ns);
    for (size_t i = 0; i < (size_t)count; i++)
        ys_series_add_int(run->series, "latency_ns", ys_json_integer(ys_json_at(latencies, i), 0));
    go_on(run, count, end_ns);
    if (run->shows_later)
        ys_answers_look_later(run->answers);
    return YS_OK;
}

void ys_run_note_gradient(struct ys_run *run, uint64_t sent_ns, uint64_t answered_ns)
{
    const int64_t from_ns = (int64_t)sent_ns, to_ns = (int64_t)answered_ns;
    ys_series_add_int(run->series, "request_first", run->next_step);
    ys_series_add_int(run->series, "request_sent_ns", from_ns);
    ys_series_add_int(run->series, "request_done_ns", to_ns);
    keep_span(run, 1, from_ns, to_ns);
    ys_series_add_int(run->series, "latency_ns", to_ns - from_ns);
    run->next_step++;
    run->last_end_ns = answered_ns;
}
