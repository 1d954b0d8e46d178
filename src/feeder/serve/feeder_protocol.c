#include "feeder/serve/feeder_protocol.h"

#include "feeder/serve/fill_ring.h"
#include "protocol/adapter_loop.h"
#include "protocol/batch_ring.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A wait that is worth a word. */
#define AWAITED_S 1.0

struct serving {
    struct ys_stream *stream; /* NULL before a plan is open */
};

static ys_status open_plan(void *self, const struct ys_plan *plan, ys_json *reply)
{
    struct serving *serving = self;
    static const char *const none[] = {NULL};
    const struct ys_plan_input *input = &plan->input;
    struct ys_stream_asked asked = {.channel = (int)input->channel,
                                    .memory = (int)input->memory,
                                    .threads = (int)input->threads,
                                    .wraps = !ys_mode_of(plan->mode)->trains};
    if (!input->kind || strcmp(input->kind, YS_FEED_KIND) != 0)
        return ys_fail(YS_EINVAL, "input.kind is %s: yardstick-feeder feeds a ring", input->kind ? input->kind : "?");
    YS_TRY(ys_plan_need(input->path, "input.path"));
    YS_TRY(ys_plan_need(input->order, "input.order"));
    if (input->channel < 3 || input->memory < 3 || input->threads < 1)
        return ys_fail(YS_EINVAL, "the plan's input lacks channel, memory or threads");
    const struct ys_batches_asked wanted = {.data = input->path,
                                            .order = input->order,
                                            .augment = input->augment,
                                            .seed = (uint64_t)input->seed,
                                            .crop = input->crop == YS_FIELD_NONE ? 0 : input->crop,
                                            .floats = input->dtype && strcmp(input->dtype, "float32") == 0,
                                            .reduces = input->decode && strcmp(input->decode, "reduced") == 0};
    YS_TRY(ys_batches_open(&wanted, &asked.batches));
    YS_TRY(ys_stream_begin(&asked, &serving->stream));
    ys_json_set_int(reply, "parameters", 0);
    ys_json_set_int(reply, "threads", input->threads);
    YS_TRY(ys_adapter_set_names(reply, "libraries", none));
    return ys_adapter_set_names(reply, "deviations", none);
}

/* It is asked so when the run has ended: what the framework waits for then is the last word of the log. */
static ys_status reset(void *self)
{
    const struct serving *serving = self;
    double since_s;
    const int64_t batch = ys_stream_awaited(serving->stream, &since_s);
    if (batch >= 0 && since_s >= AWAITED_S)
        fprintf(stderr,
                "yardstick-feeder has not made batch %" PRId64
                ", which was asked for %.1f s ago: is the disk slow that "
                "the rows lie on?\n",
                batch, since_s);
    return YS_OK;
}

/* It is there because a plan of mode "infer" is taken only by who has it. */
static ys_status infer(void *self, int64_t batch, struct ys_adapter_logits *logits)
{
    (void)self;
    (void)batch;
    (void)logits;
    return ys_fail(YS_EUNSUPPORTED, "yardstick-feeder answers no requests");
}

static void close_plan(void *self)
{
    (void)self; /* the threads end with the program */
}

int ys_feeder_serve(void)
{
    static const char *const none[] = {NULL};
    struct serving serving = {NULL};
    const struct ys_adapter_ops ops = {
        .about = {.adapter = "feeder",
                  .framework = "yardstick-feeder",
                  .precisions = none,
                  .ops = none,
                  .optimizers = none,
                  .no_work = true},
        .open = open_plan,
        .reset = reset,
        .infer = infer,
        .close = close_plan,
    };
    return ys_adapter_serve_environment(&ops, &serving);
}
