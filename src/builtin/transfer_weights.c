#include "builtin/attacked_engine.h"
#include "builtin/builtin.h"
#include "builtin/engine_commands.h"
#include "builtin/kept_images.h"

#include "base/files/fs.h"
#include "base/mem.h"

struct transfer_request {
    const char *from, *to;
    int64_t threads;
};

static ys_status parse(int argc, char **argv, struct transfer_request *r)
{
    const struct ys_builtin_flag flags[] = {
        {"from", .text = &r->from}, {"to", .text = &r->to}, {"threads", .number = &r->threads}};
    YS_TRY(ys_builtin_flags(argc, argv, "transfer", flags, sizeof flags / sizeof flags[0]));
    if (!r->from || !r->to || r->threads < 1)
        return ys_fail(YS_EINVAL, "transfer needs --from, --to and --threads");
    return YS_OK;
}

/** Against the weights of the folder `to`. */
static ys_status show(const struct transfer_request *r, struct ys_transfer *transfer)
{
    struct ys_attacked_engine engine;
    char *graph = ys_path_join(r->to, YS_KEPT_GRAPH), *weights = ys_path_join(r->to, YS_KEPT_WEIGHTS);
    ys_status status = ys_transfer_begin(transfer);
    if (status == YS_OK) /* in passes of the size in which they were judged before */
        status = ys_attacked_engine_open(graph, weights, (int)r->threads, (size_t)transfer->to->rows, 0, &engine);
    if (status == YS_OK) {
        transfer->pixels = engine.model.pixels;
        transfer->classes = engine.model.classes;
        transfer->judge = ys_attacked_engine_judge;
        transfer->judge_of = &engine;
        status = ys_kept_images_show(r->from, transfer);
        ys_attacked_engine_close(&engine);
    }
    ys_free(graph);
    ys_free(weights);
    return status;
}

static ys_status answer(const struct transfer_request *r, ys_json *object)
{
    struct ys_robustness from, to;
    YS_TRY(ys_kept_images_found(r->from, &from));
    ys_status status = ys_kept_images_found(r->to, &to);
    if (status == YS_OK) {
        struct ys_transfer transfer = {.from = &from, .to = &to};
        status = show(r, &transfer);
        if (status == YS_OK)
            status = ys_json_set(object, "attacks", ys_list_json(&ys_transfer_result_record, &transfer.results));
        ys_transfer_fini(&transfer);
        ys_robustness_fini(&to);
    }
    ys_robustness_fini(&from);
    return status;
}

int ys_builtin_transfer(int argc, char **argv)
{
    struct transfer_request request = {0};
    ys_json *object = ys_json_object();
    ys_status status = ys_json_set_string(object, "schema", "yardstick/transfer/1");
    if (status == YS_OK)
        status = parse(argc, argv, &request);
    if (status == YS_OK)
        status = answer(&request, object);
    if (status == YS_OK)
        status = ys_builtin_print_json(object); /* which takes it */
    else
        ys_json_free(object);
    return ys_builtin_end(status);
}
