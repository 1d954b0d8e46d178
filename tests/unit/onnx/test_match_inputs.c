/* What of the data feeds which input: names, layouts and extents that the job says, or the data have. */
#include "unit/onnx/eval_onnx.h"

/* y = the dense layer of a + b, images [c, h, w] of floats or bytes. */
static void made_sum(struct made *m, int type, const char *a, const char *b, const int64_t shape[4])
{
    made_value(m, 11, a, type, shape, 4);
    made_value(m, 11, b, type, shape, 4);
    char both[64];
    snprintf(both, sizeof both, "%s %s", a, b);
    made_node(m, "Add", both, "sum");
    end_in_dense(m, "sum", shape[1] * shape[2] * shape[3]);
}

/* y = the dense layer of an image of 30 elements. */
static void made_image(struct made *m, const int64_t shape[4])
{
    made_value(m, 11, "pic", 1, shape, 4);
    made_node(m, "Relu", "pic", "r");
    end_in_dense(m, "r", 30);
}

/* What reading it for `feed` makes; NULL where it is refused as `expected` with all of the words. */
static struct ys_onnx_import *read_fed(struct made *m, const struct ys_model_feed *feed, ys_status expected,
                                       const char *words)
{
    struct ys_buf file = {0};
    struct ys_onnx_import *import = NULL;
    made_file(m, "y", 17, &file);
    const ys_status status = ys_onnx_read_bytes("net.onnx", file.data, file.size, feed, &import);
    if (!CHECK(status == expected) || (status != YS_OK && !CHECK(strstr(ys_error(), words) != NULL)))
        printf("# %s\n", status == YS_OK ? "read" : ys_error());
    ys_buf_free(&file);
    *m = (struct made){0};
    return import;
}

static void check_input(const struct ys_onnx_import *import, size_t i, const char *name, const int64_t shape[3],
                        enum ys_dtype dtype)
{
    if (!CHECK(import && i < import->graph->input_count))
        return;
    const struct ys_value *value = &import->graph->values[import->graph->inputs[i]];
    CHECK_TEXT(value->name, name);
    CHECK_INT(value->dtype, dtype);
    for (size_t d = 0; d < 3; d++)
        CHECK_INT(value->shape[1 + d], shape[d]);
}

static void inputs_are_fed_by_the_arrays_that_the_job_names(void)
{
    const int64_t shape[4] = {-1, 2, 3, 5}, chw[3] = {2, 3, 5};
    const struct ys_model_feed feed = {.inputs = "left=a::1 right=b*"}, one = {.inputs = "pixels=p?c"};
    struct made m = {0};
    made_sum(&m, 1, "a::1", "b", shape);
    struct ys_onnx_import *import = read_fed(&m, &feed, YS_OK, "");
    check_input(import, 0, "left", chw, YS_F32);
    check_input(import, 1, "right", chw, YS_F32);
    ys_onnx_import_free(import);
    made_sum(&m, 1, "a::1", "b", shape);
    import = read_fed(&m, NULL, YS_OK, "");
    check_input(import, 0, "a::1", chw, YS_F32);
    ys_onnx_import_free(import);
    made_image(&m, shape);
    import = read_fed(&m, &one, YS_OK, "");
    check_input(import, 0, "pixels", chw, YS_U8);
    ys_onnx_import_free(import);
}

static void what_no_array_can_feed_is_refused(void)
{
    static const struct {
        const char *inputs, *words;
    } wrong[] = {
        {"left", "\"left\" must be ARRAY=INPUT"},
        {"=b", "must be ARRAY=INPUT"},
        {"left=", "must be ARRAY=INPUT"},
        {"left=c", "no input is called \"c\"; it has a::1 and others"},
        {"left=*", "both a::1 and b are called \"*\""},
        {"left=b right=b", "names two arrays for the input b"},
        {"left=a* left=b", "the array left feeds both a::1 and b"},
        {"b=a*", "the array b feeds both a::1 and b"},
        {"y=b", "by an array of the name y"},
        {"logits=b", "by an array of the name logits"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=b", "63 bytes the most"},
    };
    const int64_t shape[4] = {-1, 2, 3, 5};
    struct made m = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const struct ys_model_feed feed = {.inputs = wrong[i].inputs};
        made_sum(&m, 1, "a::1", "b", shape);
        CHECK(!read_fed(&m, &feed, YS_EINVAL, wrong[i].words));
    }
    made_sum(&m, 1, "loss", "b", shape);
    CHECK(!read_fed(&m, NULL, YS_EUNSUPPORTED, "model.input = ARRAY=loss"));
    const struct ys_model_feed bound = {.inputs = "l=loss"};
    made_sum(&m, 1, "loss", "b", shape);
    ys_onnx_import_free(read_fed(&m, &bound, YS_OK, ""));
}

/* The same bytes, read as what the job says: element (c, h, w) of the data is element (h, w, c) of the file. */
static void a_layout_says_which_axis_the_channels_are(void)
{
    const int64_t shape[4] = {-1, 2, 3, 5}, chw[3] = {2, 3, 5}, seen[3] = {5, 2, 3};
    const struct ys_model_feed nhwc = {.layout = YS_LAYOUT_NHWC}, nchw = {.layout = YS_LAYOUT_NCHW};
    unsigned char x[30], turned[30];
    double plain[3], other[3];
    struct made m = {0};
    for (int h = 0; h < 2; h++)
        for (int w = 0; w < 3; w++)
            for (int c = 0; c < 5; c++) {
                const int i = (h * 3 + w) * 5 + c;
                x[i] = (unsigned char)(i * 37 % 251);
                turned[(c * 2 + h) * 3 + w] = x[i];
            }
    made_image(&m, shape);
    struct ys_onnx_import *import = read_fed(&m, &nchw, YS_OK, "");
    check_input(import, 0, "x", chw, YS_U8);
    CHECK(import && made_evaluate(import, x, 1, plain));
    ys_onnx_import_free(import);
    made_image(&m, shape);
    import = read_fed(&m, &nhwc, YS_OK, "");
    check_input(import, 0, "x", seen, YS_U8);
    if (CHECK(import && made_evaluate(import, turned, 1, other)))
        for (int c = 0; c < 3; c++)
            CHECK_NEAR(other[c], plain[c], 1e-12); /* the same 30 products of at most 9, in double */
    ys_onnx_import_free(import);
    made_sum(&m, 2, "a", "b", shape);
    import = read_fed(&m, &nhwc, YS_OK, "");
    check_input(import, 1, "b", seen, YS_U8);
    ys_onnx_import_free(import);
}

static void a_layout_of_what_is_no_image_is_refused(void)
{
    const int64_t shape[2] = {-1, 30};
    const struct ys_model_feed nhwc = {.layout = YS_LAYOUT_NHWC};
    struct made m = {0};
    made_value(&m, 11, "x", 1, shape, 2);
    end_in_dense(&m, "x", 30);
    CHECK(!read_fed(&m, &nhwc, YS_EINVAL, "its input x has 2 dimensions, and no image has"));
}

/* Data of a job fill what the file leaves open, and are no reason to refuse it; those of `import` are. */
static void open_extents_are_those_of_the_data(void)
{
    const int64_t open[4] = {-1, 2, -1, -1}, shape[4] = {-1, 2, 3, 5}, chw[3] = {2, 3, 5}, flat[2] = {-1, 30};
    const struct ys_model_feed fits = {.shape = {2, 3, 5}, .dtype = YS_U8, .scale = 1.0 / 255},
                               other = {.shape = {1, 28, 28}, .dtype = YS_U8, .scale = 1.0 / 255};
    struct ys_model_feed strict = other;
    struct made m = {0};
    made_image(&m, open);
    struct ys_onnx_import *import = read_fed(&m, &fits, YS_OK, "");
    check_input(import, 0, "x", chw, YS_U8);
    ys_onnx_import_free(import);
    made_image(&m, open);
    CHECK(!read_fed(&m, NULL, YS_EUNSUPPORTED, "an open height, width or number of channels"));
    made_image(&m, open);
    CHECK(!read_fed(&m, &other, YS_EUNSUPPORTED, "the data are 1 x 28 x 28"));
    made_image(&m, shape);
    import = read_fed(&m, &other, YS_OK, "");
    check_input(import, 0, "x", chw, YS_U8);
    ys_onnx_import_free(import);
    strict.is_strict = true;
    made_image(&m, shape);
    CHECK(!read_fed(&m, &strict, YS_EUNSUPPORTED, "the data are 1 x 28 x 28"));
    made_value(&m, 11, "rows", 1, flat, 2); /* pixels in a row: a dense layer of images */
    end_in_dense(&m, "rows", 30);
    import = read_fed(&m, &fits, YS_OK, "");
    check_input(import, 0, "x", chw, YS_U8);
    ys_onnx_import_free(import);
}

TAP_MAIN(TAP_CASE(inputs_are_fed_by_the_arrays_that_the_job_names), TAP_CASE(what_no_array_can_feed_is_refused),
         TAP_CASE(a_layout_says_which_axis_the_channels_are), TAP_CASE(a_layout_of_what_is_no_image_is_refused),
         TAP_CASE(open_extents_are_those_of_the_data))
