/* The ONNX reader: networks in the forms of exporters against the logits that ONNX Runtime gets of them
 * (tests/fixtures/onnx/make.py), what is read as what, and what is refused. */
#include "unit/onnx/build_onnx.h"

#include "base/fs.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "graph/model.h"
#include "onnx/read.h"
#include "onnx/write.h"
#include "tap.h"
#include "unit/base/scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *fixture(const char *name, const char *ending)
{
    return ys_format("%s/tests/fixtures/onnx/%s.%s", getenv("YS_SOURCE_ROOT"), name, ending);
}

static size_t flatten(const ys_json *json, double *numbers, size_t at)
{
    for (size_t i = 0; i < ys_json_size(json); i++)
        if (ys_json_type_of(ys_json_at(json, i)) == YS_JSON_ARRAY)
            at = flatten(ys_json_at(json, i), numbers, at);
        else
            numbers[at++] = ys_json_number(ys_json_at(json, i), NAN);
    return at;
}

#define ROWS     3
#define ELEMENTS 8192

/* Logits of ROWS rows by the oracle, in double; the import's initial values. */
static bool evaluate(const struct ys_onnx_import *import, const unsigned char *x, double *logits)
{
    const int64_t labels[ROWS] = {0};
    const struct ys_engine_config config = {
        .batch = ROWS, .precision = YS_ENGINE_F64, .backend = "ref", .threads = 1, .training = false};
    struct ys_engine *engine = NULL;
    if (!CHECK(ys_engine_open_graph(import->graph, &config, &engine) == 0))
        return false;
    for (size_t i = 0; i < import->graph->param_count; i++)
        CHECK(ys_engine_param_set(engine, i, YS_ENGINE_F32, import->values[i]) == 0);
    bool done = CHECK(ys_engine_forward(engine, x, labels, YS_ENGINE_EVAL, NULL) == 0);
    if (done)
        memcpy(logits, ys_engine_logits(engine), ROWS * (size_t)ys_engine_classes(engine) * sizeof *logits);
    ys_engine_close(engine);
    return done;
}

/* ONNX Runtime computes in float: a sum of up to 840 products, whose errors of 2^-24 grow as the root of that
 * (2e-6 of the largest), in up to ten layers one behind the other. */
#define TOLERANCE 2e-5

static void check_logits(const char *name)
{
    static double expected[ELEMENTS], numbers[ELEMENTS], logits[ELEMENTS];
    static unsigned char x[ELEMENTS];
    char *onnx = fixture(name, "onnx"), *json = fixture(name, "json");
    struct ys_onnx_import *import = NULL;
    ys_json *known = NULL;
    if (CHECK(ys_onnx_read(onnx, NULL, &import) == YS_OK) && CHECK(ys_json_read(json, &known) == YS_OK)) {
        size_t elements = flatten(ys_json_get(known, "rows"), numbers, 0);
        size_t count = flatten(ys_json_get(known, "logits"), expected, 0);
        const struct ys_value *input = &import->graph->values[import->graph->inputs[0]];
        CHECK_INT(elements, ROWS * ys_value_row_elements(input));
        CHECK_INT(import->graph->values[import->graph->output].shape[1], count / ROWS);
        for (size_t i = 0; i < elements; i++)
            x[i] = (unsigned char)numbers[i];
        double largest = 0, worst = 0;
        if (evaluate(import, x, logits))
            for (size_t i = 0; i < count; i++) {
                largest = fmax(largest, fabs(expected[i]));
                worst = fmax(worst, fabs(logits[i] - expected[i]));
            }
        CHECK(largest > 0.01);
        if (!CHECK(worst <= TOLERANCE * fmax(1, largest)))
            printf("# %s: off by %g of %g\n", name, worst, largest);
    } else {
        printf("# %s\n", ys_error());
    }
    ys_onnx_import_free(import);
    ys_json_free(known);
    ys_free(onnx);
    ys_free(json);
}

static void exports_have_the_logits_of_onnx_runtime(void)
{
    check_logits("resnet");
    check_logits("mobilenet");
    check_logits("keras");
    check_logits("old");
}

/* Without what ONNX has no word for. */
static ys_json *bare(const struct ys_graph *graph)
{
    ys_json *json = ys_graph_to_json(graph);
    for (size_t i = 0; i < ys_json_size(ys_json_get(json, "params")); i++) {
        ys_json *param = ys_json_at(ys_json_get(json, "params"), i);
        ys_json_remove(param, "init");
        ys_json_remove(param, "lr_mult");
        ys_json_remove(param, "decay_mult");
    }
    return json;
}

static void check_round_trip(const char *folder, const char *name, enum ys_dtype dtype)
{
    char *onnx = ys_path_join(folder, "x.onnx"), *values = ys_path_join(folder, "x.safetensors");
    char *again = ys_path_join(folder, "again.safetensors");
    char hash[65], hash_again[65];
    const struct ys_model *model = ys_model_find(name);
    struct ys_graph *graph = NULL;
    struct ys_onnx_import *import = NULL;
    CHECK(model->build(&model->usual, &graph) == YS_OK);
    CHECK(ys_graph_write_weights(graph, 1, values, hash) == YS_OK);
    struct ys_safetensors *weights = NULL;
    CHECK(ys_safetensors_open(values, &weights) == YS_OK);
    CHECK(ys_onnx_write(graph, weights, dtype, onnx) == YS_OK);
    if (CHECK(ys_onnx_read(onnx, NULL, &import) == YS_OK)) {
        ys_json *before = bare(graph), *after = bare(import->graph);
        if (!CHECK(ys_json_equal(before, after)))
            printf("# %s comes back as another graph\n", name);
        CHECK(ys_onnx_write_values(import, again, hash_again) == YS_OK);
        CHECK_TEXT(hash_again, hash);
        ys_json_free(before);
        ys_json_free(after);
    }
    ys_onnx_import_free(import);
    ys_safetensors_close(weights);
    ys_graph_free(graph);
    ys_free(onnx);
    ys_free(values);
    ys_free(again);
}

static void an_export_comes_back_as_the_same_graph_and_values(void)
{
    char *folder = ys_strdup(scratch("trip"));
    CHECK(mkdir(folder, 0700) == 0);
    const char *const names[] = {"mlp", "lenet", "resnet20", "fcn5"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        check_round_trip(folder, names[i], YS_F32);
        check_round_trip(folder, names[i], YS_F64);
    }
    ys_free(folder);
}

/* Reads the file that `m` is, of which the message must have each of `words`, separated by |; "" must be read. */
static void check_read(struct made *m, const char *output, int64_t opset, const char *words)
{
    struct ys_buf file = {0};
    struct ys_onnx_import *import = NULL;
    made_file(m, output, opset, &file);
    ys_status status = ys_onnx_read_bytes("net.onnx", file.data, file.size, NULL, &import);
    if (!*words && !CHECK(status == YS_OK))
        printf("# %s\n", ys_error());
    if (*words && !CHECK(status == YS_EUNSUPPORTED || status == YS_EFORMAT || status == YS_ENOTFOUND))
        printf("# was read, not refused with %s\n", words);
    for (const char *at = words; *at; at += strspn(at, "|")) {
        size_t size = strcspn(at, "|");
        char *word = ys_strndup(at, size);
        if (!CHECK(strstr(ys_error(), word) != NULL))
            printf("# \"%s\" is not in: %s\n", word, ys_error());
        ys_free(word);
        at += size;
    }
    if (status == YS_OK)
        ys_onnx_import_free(import);
    ys_buf_free(&file);
    *m = (struct made){0};
}

/* A dense layer behind `from`, flattened to `features`: what every network here ends in. */
static void end_in_dense(struct made *m, const char *from, int64_t features)
{
    made_node(m, "Flatten", from, "flat");
    made_node(m, "Gemm", "flat w", "y");
    made_weight(m, "w", features, 3, 0, 0);
}

static void every_operator_that_is_not_read_is_named_at_once(void)
{
    struct made m = {0};
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "Resize", "x", "a");
    made_node(&m, "Relu", "a", "b");
    made_node(&m, "Erf", "b", "c");
    made_node(&m, "If", "c", "d");
    end_in_dense(&m, "d", 32);
    check_read(&m, "y", 17, "net.onnx|node a (Resize)|node c (Erf)|node d (If)|no such operator");
}

static void broadcasts_are_read_shared_matrices_and_constants_refused(void)
{
    struct made m = {0};
    made_input(&m, -1, 4, 0, 0);
    made_node(&m, "Gemm", "x s", "a");
    made_node(&m, "Gemm", "a s", "y");
    made_weight(&m, "s", 4, 4, 0, 0);
    check_read(&m, "y", 17, "node y (Gemm)|weight s|shared");
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "GlobalAveragePool", "x", "a");
    made_node(&m, "Mul", "x a", "b");
    end_in_dense(&m, "b", 32);
    check_read(&m, "y", 17, "");
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "Relu", "x", "a");
    made_node(&m, "Add", "a c", "b");
    made_weight(&m, "c", 2, 1, 1, 0);
    end_in_dense(&m, "b", 32);
    check_read(&m, "y", 17, "node b (Add)|constant beside a value");
}

static void rows_stay_apart(void)
{
    const int64_t all[] = {1, 0, 2, 3}, mixed[] = {8, -1}, whole[] = {2}, kept[] = {1, 32};
    struct made m = {0};
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "Transpose", "x", "a");
    made_integers(&m, "perm", all, 4);
    end_in_dense(&m, "a", 32);
    check_read(&m, "y", 17, "node a (Transpose)|perm|batch");
    made_input(&m, 1, 2, 4, 4);
    made_tensor(&m, "s", 7, whole, 1, mixed, sizeof mixed);
    made_node(&m, "Reshape", "x s", "a");
    end_in_dense(&m, "a", 4);
    check_read(&m, "y", 17, "node a (Reshape)|batch");
    made_input(&m, 1, 2, 4, 4); /* a fixed batch of 1 is any batch */
    made_tensor(&m, "s", 7, whole, 1, kept, sizeof kept);
    made_node(&m, "Reshape", "x s", "a");
    end_in_dense(&m, "a", 32);
    check_read(&m, "y", 17, "");
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "Concat", "x x", "a");
    made_integer(&m, "axis", 0);
    end_in_dense(&m, "a", 32);
    check_read(&m, "y", 17, "node a (Concat)|axis 0");
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "ReduceMean", "x", "a");
    end_in_dense(&m, "a", 1);
    check_read(&m, "y", 17, "node a (ReduceMean)|axes");
}

static void shapes_are_computed_before_there_are_data(void)
{
    const int64_t one[] = {1}, none[] = {0}, minus[] = {-1}, two[] = {2};
    struct made m = {0};
    made_input(&m, -1, 4, 2, 2); /* [N * 4 / 2, ...] is refused, [N, 4 * 2 * 2] is not */
    made_tensor(&m, "0", 7, one, 1, none, sizeof none);
    made_tensor(&m, "open", 7, one, 1, minus, sizeof minus);
    made_node(&m, "Shape", "x", "s");
    made_node(&m, "Gather", "s 0", "n");
    made_node(&m, "Concat", "n open", "t");
    made_integer(&m, "axis", 0);
    made_node(&m, "Reshape", "x t", "a");
    end_in_dense(&m, "a", 16);
    check_read(&m, "y", 17, "");
    made_input(&m, -1, 4, 2, 2);
    made_tensor(&m, "0", 7, one, 1, none, sizeof none);
    made_tensor(&m, "2", 7, one, 1, two, sizeof two);
    made_tensor(&m, "open", 7, one, 1, minus, sizeof minus);
    made_node(&m, "Shape", "x", "s");
    made_node(&m, "Gather", "s 0", "n");
    made_node(&m, "Mul", "n 2", "k");
    made_node(&m, "Concat", "k open", "t");
    made_integer(&m, "axis", 0);
    made_node(&m, "Reshape", "x t", "a");
    end_in_dense(&m, "a", 8);
    check_read(&m, "y", 17, "node a (Reshape)|2 times the batch");
}

/* As PyTorch writes the bias that a layer has not when it is told to optimize nothing. */
static void a_bias_of_zeros_is_computed_from_the_shape_of_its_weight(void)
{
    const int64_t zero = 0;
    struct made m = {0};
    made_input(&m, -1, 4, 0, 0);
    made_tensor(&m, "0", 7, NULL, 0, &zero, sizeof zero);
    made_weight(&m, "w", 3, 4, 0, 0);
    made_node(&m, "Shape", "w", "s");
    made_integer(&m, "start", -2);
    made_integer(&m, "end", 1);
    made_node(&m, "CastLike", "0 x", "z");
    made_node(&m, "Expand", "z s", "b");
    made_node(&m, "Gemm", "x w b", "y");
    made_integer(&m, "transB", 1);
    check_read(&m, "y", 17, "");
}

static void files_that_are_not_right_are_refused(void)
{
    const int64_t shape[] = {4, 3}, huge[] = {(int64_t)1 << 30, (int64_t)1 << 30};
    struct made m = {0};
    made_input(&m, -1, 4, 0, 0); /* a cycle */
    made_node(&m, "Add", "x b", "a");
    made_node(&m, "Relu", "a", "b");
    check_read(&m, "b", 17, "node a (Add)|reads b|cycle");
    made_input(&m, -1, 4, 0, 0); /* fewer bytes than the shape asks for */
    made_tensor(&m, "w", 1, shape, 2, shape, sizeof shape);
    made_node(&m, "Gemm", "x w", "y");
    check_read(&m, "y", 17, "tensor w|fewer");
    made_input(&m, -1, 4, 0, 0);
    made_tensor(&m, "w", 1, huge, 2, huge, sizeof huge);
    made_node(&m, "Gemm", "x w", "y");
    check_read(&m, "y", 17, "tensor w|2^40");
    made_input(&m, -1, 4, 0, 0); /* quantised */
    made_tensor(&m, "w", 3, shape, 2, shape, 12);
    made_node(&m, "Gemm", "x w", "y");
    check_read(&m, "y", 17, "tensor w|INT8|quantised");
    made_input(&m, -1, 4, 0, 0);
    made_node(&m, "Relu", "x", "y");
    check_read(&m, "y", 17, "no weight");
    made_input(&m, -1, 4, 0, 0);
    made_value(&m, 12, "x", 1, NULL, 0);
    made_node(&m, "Relu", "x", "y");
    check_read(&m, "y", 17, "2 outputs");
    made_input(&m, -1, 4, 0, 0);
    made_node(&m, "Gemm", "x w", "y");
    made_weight(&m, "w", 4, 3, 0, 0);
    check_read(&m, "y", 5, "operator set 5");
    made_input(&m, -1, 4, 0, 0);
    made_node(&m, "Gemm", "x w", "y");
    made_integer(&m, "transA", 1);
    made_weight(&m, "w", 4, 3, 0, 0);
    check_read(&m, "y", 17, "transA");
}

/* A dense layer whose weight, 12 floats, lies at `offset` of the file `location`. */
static ys_status read_external(const char *folder, const char *location, const char *offset, const char *length)
{
    const int64_t shape[] = {4, 3};
    const char *const keys[] = {"location", "offset", "length"}, *const values[] = {location, offset, length};
    struct made m = {0};
    struct ys_buf file = {0}, entry = {0};
    struct ys_onnx_import *import = NULL;
    made_input(&m, -1, 4, 0, 0);
    made_tensor_head(&m, "w", 1, shape, 2);
    for (size_t i = 0; i < 3; i++) {
        ys_wire_text(&entry, 1, keys[i]);
        ys_wire_text(&entry, 2, values[i]);
        ys_wire_message(&m.part, 13, &entry);
    }
    ys_wire_integer(&m.part, 14, 1);
    ys_wire_message(&m.graph, 5, &m.part);
    made_node(&m, "Gemm", "x w", "y");
    made_file(&m, "y", 17, &file);
    char *path = ys_path_join(folder, "net.onnx");
    CHECK(ys_fs_write(path, file.data, file.size) == YS_OK);
    ys_status status = ys_onnx_read(path, NULL, &import);
    if (status == YS_OK) {
        CHECK(import->values[0][0] == 7 && import->values[0][1] == 10); /* (out, in): transposed */
        ys_onnx_import_free(import);
    }
    ys_free(path);
    ys_buf_free(&file);
    ys_buf_free(&entry);
    return status;
}

static void refused_external(const char *folder, const char *location, const char *offset, const char *length,
                             const char *word)
{
    CHECK(read_external(folder, location, offset, length) != YS_OK);
    if (!CHECK(strstr(ys_error(), word) != NULL))
        printf("# \"%s\" is not in: %s\n", word, ys_error());
}

static void external_data_lie_beside_the_file_and_nowhere_else(void)
{
    char *folder = ys_strdup(scratch("external")), *below = ys_path_join(folder, "sub");
    char *data = ys_path_join(folder, "w.bin"), *inner = ys_path_join(below, "w.bin"),
         *out = ys_path_join(below, "out");
    char *pipe = ys_path_join(below, "pipe");
    float values[16];
    for (int i = 0; i < 16; i++)
        values[i] = (float)(i + 3);
    CHECK(mkdir(folder, 0700) == 0 && mkdir(below, 0700) == 0);
    CHECK(ys_fs_write(data, values, sizeof values) == YS_OK && ys_fs_write(inner, values, sizeof values) == YS_OK);
    CHECK(symlink("../w.bin", out) == 0);
    CHECK(mkfifo(pipe, 0600) == 0);
    CHECK(read_external(below, "w.bin", "16", "48") == YS_OK);
    CHECK(read_external(folder, "sub/w.bin", "16", "48") == YS_OK);
    refused_external(below, "../w.bin", "16", "48", "outside");
    refused_external(below, data, "16", "48", "outside");
    refused_external(below, "out", "16", "48", "outside");
    refused_external(below, "pipe", "16", "48", "regular");
    refused_external(below, "none.bin", "16", "48", "none.bin");
    refused_external(below, "w.bin", "17", "48", "beyond the end");
    refused_external(below, "w.bin", "18446744073709551615", "48", "offset");
    refused_external(below, "w.bin", "16", "40", "40 bytes");
    ys_free(below);
    ys_free(data);
    ys_free(inner);
    ys_free(out);
    ys_free(pipe);
    ys_free(folder);
}

static void half_precision_is_widened(void)
{
    const uint16_t halves[] = {0x3c00, 0xc000, 0x3555, 0x0001}, brains[] = {0x3f80, 0xc000, 0x3eab, 0x0080};
    const int64_t shape[] = {2, 2};
    for (int brain = 0; brain < 2; brain++) {
        struct made m = {0};
        struct ys_buf file = {0};
        struct ys_onnx_import *import = NULL;
        made_input(&m, -1, 2, 0, 0);
        made_tensor(&m, "w", brain ? 16 : 10, shape, 2, brain ? brains : halves, sizeof halves);
        made_node(&m, "Gemm", "x w", "y");
        made_integer(&m, "transB", 1);
        made_file(&m, "y", 17, &file);
        if (CHECK(ys_onnx_read_bytes("net.onnx", file.data, file.size, NULL, &import) == YS_OK)) {
            const float *w = import->values[0];
            CHECK(w[0] == 1 && w[1] == -2);
            CHECK(w[2] == (brain ? 0x1.56p-2F : 0x1.554p-2F) && w[3] == (brain ? 0x1p-126F : 0x1p-24F));
            ys_onnx_import_free(import);
        }
        ys_buf_free(&file);
    }
}

TAP_MAIN(TAP_CASE(exports_have_the_logits_of_onnx_runtime), TAP_CASE(an_export_comes_back_as_the_same_graph_and_values),
         TAP_CASE(every_operator_that_is_not_read_is_named_at_once),
         TAP_CASE(broadcasts_are_read_shared_matrices_and_constants_refused), TAP_CASE(rows_stay_apart),
         TAP_CASE(shapes_are_computed_before_there_are_data),
         TAP_CASE(a_bias_of_zeros_is_computed_from_the_shape_of_its_weight),
         TAP_CASE(files_that_are_not_right_are_refused), TAP_CASE(external_data_lie_beside_the_file_and_nowhere_else),
         TAP_CASE(half_precision_is_widened))
