/* Proofs of networks over long rows: what of graph, weights and rows they take. */
#include "graph/model.h"
#include "plans.h"
#include "tap.h"
#include "verify/oracle/reference.h"

enum { LONG = 200, ROWS = 12, BATCH = 4, WORDS = 7 };

static int32_t token(int64_t row, int64_t position)
{
    return (int32_t)((row * 3 + position) % WORDS);
}

static uint32_t row_of(int64_t step, int64_t place)
{
    return (uint32_t)((step * BATCH + place * 5) % ROWS);
}

static bool write_weights(const struct ys_graph *graph)
{
    struct ys_tensor *tensors = calloc(graph->param_count, sizeof *tensors);
    float **values = calloc(graph->param_count, sizeof *values);
    for (size_t p = 0; p < graph->param_count; p++) {
        const struct ys_param *param = &graph->params[p];
        const int64_t elements = ys_param_elements(param);
        values[p] = malloc((size_t)elements * sizeof **values);
        for (int64_t i = 0; i < elements; i++)
            values[p][i] = (float)i;
        tensors[p] = (struct ys_tensor){.name = param->name,
                                        .dtype = YS_F32,
                                        .rank = param->rank,
                                        .data = values[p],
                                        .size_bytes = (size_t)elements * sizeof **values};
        memcpy(tensors[p].shape, param->shape, sizeof param->shape);
    }
    const bool written = ys_safetensors_write(files_path("weights"), tensors, graph->param_count, NULL) == YS_OK;
    for (size_t p = 0; p < graph->param_count; p++)
        free(values[p]);
    free(values);
    free(tensors);
    return written;
}

static void write_rows(int64_t positions, bool of_positions)
{
    int32_t *x = malloc((size_t)(ROWS * positions) * sizeof *x);
    int64_t *y = malloc((size_t)(ROWS * positions) * sizeof *y);
    uint32_t order[PLAN_STEPS * BATCH];
    double lr[PLAN_STEPS];
    for (int64_t r = 0; r < ROWS; r++)
        for (int64_t t = 0; t < positions; t++) {
            x[r * positions + t] = token(r, t);
            y[r * positions + t] = token(r, t + 1);
        }
    for (int64_t s = 0; s < PLAN_STEPS; s++) {
        lr[s] = (double)(s + 1);
        for (int64_t place = 0; place < BATCH; place++)
            order[s * BATCH + place] = row_of(s, place);
    }
    const size_t count = (size_t)(ROWS * (of_positions ? positions : 1));
    const struct ys_tensor data[] = {
        {"x", YS_I32, 2, {ROWS, positions}, x, (size_t)(ROWS * positions) * sizeof *x},
        {"y", YS_I64, of_positions ? 2 : 1, {ROWS, positions}, y, count * sizeof *y},
    };
    const struct ys_tensor orders[] = {{"order", YS_U32, 2, {PLAN_STEPS, BATCH}, order, sizeof order},
                                       vector64("lr", lr, PLAN_STEPS)};
    ys_safetensors_close(files_make("data", data, 2));
    ys_safetensors_close(files_make("orders", orders, 2));
    free(x);
    free(y);
}

/** A plan of the named model over so many positions, with its files. */
static struct ys_plan plan_of(const char *name, int64_t positions)
{
    const struct ys_model_input input = {
        .shape = {positions},
        .dtype = YS_I32,
        .classes = WORDS,
        .vocabulary = WORDS,
        .sizes = {
            [YS_MODEL_WIDTH] = 8, [YS_MODEL_LAYERS] = 1, [YS_MODEL_HEADS] = strncmp(name, "lstm", 4) == 0 ? 0 : 2}};
    struct ys_graph *graph = NULL;
    if (ys_model_build(ys_model_find(name), &input, &graph) != YS_OK)
        abort();
    ys_json *json = ys_graph_to_json(graph);
    CHECK(json && ys_json_write(files_path("graph"), json) == YS_OK && write_weights(graph));
    write_rows(positions, graph->target == YS_TARGET_CLASSES);
    ys_json_free(json);
    ys_graph_free(graph);
    return plan_of_files(BATCH);
}

static bool open_reference(const struct ys_plan *plan, struct ys_reference *reference)
{
    char *folder = ys_path_dir(files_path("x"));
    const ys_status status = ys_reference_open(plan, folder, false, reference);
    if (status != YS_OK)
        printf("# %s\n", ys_error());
    ys_free(folder);
    return status == YS_OK;
}

static void check_weights(const struct ys_reference *reference)
{
    for (size_t p = 0; p < reference->graph->param_count; p++) {
        const struct ys_param *param = &reference->graph->params[p];
        const struct ys_tensor *weight;
        REQUIRE(ys_safetensors_need(reference->weights, param->name, YS_F32, param->rank, param->shape, &weight) ==
                YS_OK);
        const size_t last = ys_tensor_count(weight) - 1;
        CHECK_NEAR(ys_tensor_value(weight, last), (double)last, 0); /* they were numbered */
    }
}

static void check_rows(const struct ys_reference *reference)
{
    static const int64_t shape[] = {YS_VERIFY_STEPS * BATCH, YS_VERIFY_POSITIONS};
    const struct ys_tensor *x, *y, *order, *lr;
    REQUIRE(ys_safetensors_need(reference->data, "x", YS_I32, 2, shape, &x) == YS_OK);
    REQUIRE(ys_safetensors_need(reference->data, "y", YS_I64, 2, shape, &y) == YS_OK);
    REQUIRE(ys_safetensors_need(reference->order, "order", YS_U32, 2, (int64_t[]){YS_VERIFY_STEPS, BATCH}, &order) ==
            YS_OK);
    REQUIRE(ys_safetensors_need(reference->order, "lr", YS_F64, 1, NULL, &lr) == YS_OK);
    for (int64_t s = 0; s < YS_VERIFY_STEPS; s++) {
        CHECK_NEAR(ys_tensor_value(lr, (size_t)s), (double)(s + 1) * (s < 5 ? 1 : 0.1), 1e-12);
        for (int64_t place = 0; place < BATCH; place++) {
            const size_t row = (size_t)(s * BATCH + place);
            CHECK_INT(((const uint32_t *)order->data)[row], row);
            for (int64_t t = 0; t < YS_VERIFY_POSITIONS; t++) {
                const size_t at = row * YS_VERIFY_POSITIONS + (size_t)t;
                const bool same = ((const int32_t *)x->data)[at] == token(row_of(s, place), t) &&
                                  ((const int64_t *)y->data)[at] == token(row_of(s, place), t + 1);
                if (!same)
                    tap_check(false, __LINE__, "step %lld, row %lld, position %lld", (long long)s, (long long)place,
                              (long long)t);
            }
        }
    }
}

static void long_rows_are_proven_by_their_first_positions(void)
{
    static const char *const names[] = {"gpt-nano", "lstm-char"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct ys_plan plan = plan_of(names[i], LONG), made;
        struct ys_reference reference;
        struct ys_graph *written = NULL;
        REQUIRE(open_reference(&plan, &reference));
        CHECK_INT(reference.row_positions, LONG);
        REQUIRE(ys_graph_read(reference.graph_path, &written) == YS_OK);
        CHECK_INT(ys_graph_positions(written), YS_VERIFY_POSITIONS);
        check_weights(&reference);
        check_rows(&reference);
        REQUIRE(ys_reference_plan(&reference, &plan, YS_PRECISION_F64, "/tmp", &made) == YS_OK);
        CHECK_TEXT(made.weights, reference.weights_path);
        CHECK_TEXT(made.input.path, reference.data_path);
        CHECK_TEXT(made.input.order, reference.order_path);
        CHECK_TEXT(made.graph, reference.graph_path);
        ys_plan_fini(&made);
        ys_graph_free(written);
        ys_reference_close(&reference);
        ys_plan_fini(&plan);
    }
}

static void other_rows_are_proven_whole(void)
{
    static const struct {
        const char *name;
        int64_t positions;
    } wholes[] = {{"gpt-nano", YS_VERIFY_POSITIONS}, {"bert-mini", LONG}, {"lstm-classifier", LONG}};
    for (size_t i = 0; i < sizeof wholes / sizeof wholes[0]; i++) {
        struct ys_plan plan = plan_of(wholes[i].name, wholes[i].positions), made;
        struct ys_reference reference;
        REQUIRE(open_reference(&plan, &reference));
        CHECK_INT(reference.row_positions, 0);
        REQUIRE(ys_reference_plan(&reference, &plan, YS_PRECISION_F64, "/tmp", &made) == YS_OK);
        CHECK_TEXT(made.weights, plan.weights);
        CHECK_TEXT(made.input.path, plan.input.path);
        ys_plan_fini(&made);
        ys_reference_close(&reference);
        ys_plan_fini(&plan);
    }
}

static void a_prompt_keeps_its_part_of_a_row(void)
{
    static const int64_t prompts[][2] = {{150, 96}, {LONG - 1, 127}, {1, 1}};
    for (size_t i = 0; i < sizeof prompts / sizeof prompts[0]; i++) {
        struct ys_plan plan = plan_of("gpt-nano", LONG), made;
        struct ys_reference reference;
        plan.mode = YS_MODE_INFER;
        plan.prompt = prompts[i][0];
        plan.tokens = LONG - plan.prompt;
        REQUIRE(open_reference(&plan, &reference));
        REQUIRE(ys_reference_plan(&reference, &plan, YS_PRECISION_F64, "/tmp", &made) == YS_OK);
        CHECK_INT(made.prompt, prompts[i][1]);
        CHECK_INT(made.prompt + made.tokens, YS_VERIFY_POSITIONS);
        ys_plan_fini(&made);
        ys_reference_close(&reference);
        ys_plan_fini(&plan);
    }
}

static void rows_of_another_length_are_other_work(void)
{
    struct ys_reference references[2];
    for (int i = 0; i < 2; i++) {
        struct ys_plan plan = plan_of("lstm-char", LONG + i);
        REQUIRE(open_reference(&plan, &references[i]));
        ys_plan_fini(&plan);
    }
    CHECK(strcmp(references[0].identity, references[1].identity) != 0);
    for (int i = 0; i < 2; i++)
        ys_reference_close(&references[i]);
}

static void a_row_that_the_data_do_not_have_is_refused(void)
{
    struct ys_plan plan = plan_of("gpt-nano", LONG);
    struct ys_reference reference;
    static uint32_t order[PLAN_STEPS * BATCH] = {[3] = ROWS};
    static double lr[PLAN_STEPS];
    const struct ys_tensor orders[] = {{"order", YS_U32, 2, {PLAN_STEPS, BATCH}, order, sizeof order},
                                       vector64("lr", lr, PLAN_STEPS)};
    ys_safetensors_close(files_make("orders", orders, 2));
    CHECK(!open_reference(&plan, &reference));
    CHECK_HAS(ys_error(), "row 12 of 12");
    ys_plan_fini(&plan);
}

TAP_MAIN(TAP_CASE(long_rows_are_proven_by_their_first_positions), TAP_CASE(other_rows_are_proven_whole),
         TAP_CASE(a_prompt_keeps_its_part_of_a_row), TAP_CASE(rows_of_another_length_are_other_work),
         TAP_CASE(a_row_that_the_data_do_not_have_is_refused))
