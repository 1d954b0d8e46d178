#include "text.h"

#include "tap.h"

static void check_shape(const struct ys_graph *graph, const char *value, size_t rank, const int64_t *row)
{
    for (size_t i = 0; i < graph->value_count; i++) {
        const struct ys_value *v = &graph->values[i];
        if (strcmp(v->name, value) != 0)
            continue;
        CHECK_INT(v->rank, rank);
        CHECK_INT(v->shape[0], YS_BATCH);
        for (size_t d = 1; d < v->rank && d < rank; d++)
            tap_check(v->shape[d] == row[d - 1], __LINE__, "%s: dimension %zu is %lld, not %lld", value, d,
                      (long long)v->shape[d], (long long)row[d - 1]);
        return;
    }
    CHECK(!"the value exists");
}

static void shapes_follow_from_the_input(void)
{
    struct ys_graph *graph = NULL;
    REQUIRE(read_text(RIGHT, &graph) == YS_OK);
    check_shape(graph, "nv", 4, (const int64_t[]){1, 6, 6});
    check_shape(graph, "cv", 4, (const int64_t[]){2, 6, 6});
    check_shape(graph, "pv", 4, (const int64_t[]){2, 3, 3});
    check_shape(graph, "fv", 2, (const int64_t[]){18});
    check_shape(graph, "gv", 2, (const int64_t[]){3});
    for (size_t i = 0; i < graph->value_count; i++)
        CHECK_INT(graph->values[i].uses, 1);
    ys_graph_free(graph);
}

static void windows_are_counted_as_onnx_counts_them(void)
{
    /* floor((6 + 1 + 0 - ((3 - 1) * 2 + 1)) / 1) + 1 = 3 high; floor((6 + 0 + 2 - 3) / 2) + 1 = 3 wide: pads are top,
     * left, bottom, right. Pooling by 2 leaves 1 by 1; so 2 features. */
    static const char attrs[] = "'kernel_shape':[3,3],'dilations':[2,1],'strides':[1,2],'pads':[1,0,0,2]";
    struct ys_graph *graph = NULL;
    CHECK(read_changed("'kernel_shape':[3,3],'pads':[1,1,1,1]", attrs, &graph) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "node g (Gemm): weight g.w has shape [3,18]; with 2 input features it must be (out, 2)");
}

static void multiply_adds_are_outputs_times_window(void)
{
    struct ys_graph *graph = NULL;
    REQUIRE(read_text(RIGHT, &graph) == YS_OK);
    CHECK_INT(ys_node_multiply_adds(graph, &graph->nodes[1]), 2 * 6 * 6 * 9);
    CHECK_INT(ys_node_multiply_adds(graph, &graph->nodes[2]), 0);
    CHECK_INT(ys_node_multiply_adds(graph, &graph->nodes[5]), 3 * 18);
    CHECK_INT(ys_graph_multiply_adds(graph), 648 + 54);
    CHECK_INT(ys_graph_parameter_count(graph), 18 + 2 + 54 + 3);
    ys_graph_free(graph);
}

static void groups_divide_the_channels(void)
{
    struct ys_graph *graph = NULL;
    CHECK(read_changed("'pads':[1,1,1,1]", "'pads':[1,1,1,1],'group':2", &graph) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "node c (Conv): group 2 does not divide the 1 channels of input nv");
}

static void shapes_that_do_not_fit_name_node_and_shapes(void)
{
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"[2,1,3,3]", "[2,3,3,3]", "node c (Conv): weight c.w has shape [2,3,3,3]; with input [N,1,6,6]"},
        {"[2,1,3,3]", "[2,1,5,5]", "(out channels, 1, 3, 3)"},
        {"[2,1,3,3]", "[18]", "weight c.w has shape [18]"},
        {"'shape':[2]", "'shape':[4]", "node c (Conv): bias c.b has shape [4], not [2]"},
        {"'shape':[3],", "'shape':[3,1],", "node g (Gemm): bias g.b has shape [3,1], not [3]"},
        {"'kernel_shape':[2,2],'strides'", "'kernel_shape':[7,2],'strides'",
         "node p (MaxPool): a window of height 7 does not fit"},
        {"'kernel_shape':[2,2],'strides'", "'kernel_shape':[2,2],'pads':[0,0,0,2],'strides'",
         "leaves windows that hold no pixel"},
        {"'in':['fv']", "'in':['pv']",
         "node g (Gemm): weight g.w has shape [3,18]; with 3 input features it must be (out, 3)"},
        {"'in':['nv']", "'in':['x']", "node c (Conv): input x is U8"},
        {"'in':['rv']", "'in':['fv']", "cycle"},
        {"['N',1,6,6]", "['N',1,6]", "not (N, channels, height, width)"},
        {"'output':'gv'", "'output':'pv'", "value gv is never used"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_graph *graph = NULL;
        CHECK(read_changed(cases[i].from, cases[i].to, &graph) == YS_EFORMAT);
        CHECK_HAS(ys_error(), cases[i].message);
        ys_graph_free(graph);
    }
}

static void an_output_that_is_an_image_does_not_fit_the_loss(void)
{
    static const char tail[] =
        "{'op':'Flatten','name':'f','in':['pv'],'out':['fv']},"
        "{'op':'Gemm','name':'g','in':['fv'],'out':['gv'],'params':{'weight':'g.w','bias':'g.b'}}],";
    struct ys_graph *graph = NULL;
    CHECK(read_changed(tail, "{'op':'Relu','name':'f','in':['pv'],'out':['gv']}],", &graph) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "output gv has shape [N,2,3,3], type F32; softmax_cross_entropy needs (N, classes)");
}

static void padding_that_makes_a_giant_is_refused(void)
{
    struct ys_graph *graph = NULL;
    static const char pads[] = "'pads':[1048576,1048576,1048576,1048576]";
    CHECK(read_changed("'pads':[1,1,1,1]", pads, &graph) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "cv has shape [N,2,2097156,2097156]: more than 2^40 elements");
}

static void multiply_adds_beyond_63_bits_are_refused(void)
{
    /* 2^39 outputs, each over a window of 2^26: 2^65, though every size alone is below 2^40. */
    static const char text[] =
        "{'format':'yardstick-graph','version':1,'name':'big',"
        "'inputs':[{'name':'x','shape':['N',1,1048576,524288],'dtype':'F32'}],'nodes':["
        "{'op':'Conv','name':'c','in':['x'],'out':['cv'],"
        "'attrs':{'kernel_shape':[8192,8192],'pads':[4096,4096,4095,4095]},'params':{'weight':'w'}},"
        "{'op':'Flatten','name':'f','in':['cv'],'out':['fv']}],'params':["
        "{'name':'w','shape':[1,1,8192,8192],'role':'weight','init':{'dist':'constant','value':0}}],"
        "'output':'fv','loss':'softmax_cross_entropy'}";
    struct ys_graph *graph = NULL;
    CHECK(read_text(text, &graph) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "node c (Conv): more than 2^63 multiply-adds");
}

TAP_MAIN(TAP_CASE(shapes_follow_from_the_input), TAP_CASE(windows_are_counted_as_onnx_counts_them),
         TAP_CASE(multiply_adds_are_outputs_times_window), TAP_CASE(groups_divide_the_channels),
         TAP_CASE(shapes_that_do_not_fit_name_node_and_shapes),
         TAP_CASE(an_output_that_is_an_image_does_not_fit_the_loss), TAP_CASE(padding_that_makes_a_giant_is_refused),
         TAP_CASE(multiply_adds_beyond_63_bits_are_refused))
