#include "text.h"

#include "base/buf.h"
#include "tap.h"
#include <stdio.h>

struct change {
    const char *from, *to, *message; /* message: a part of what is said */
};

static void refuse(const struct change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ys_graph *graph = NULL;
        ys_status status = read_changed(changes[i].from, changes[i].to, &graph);
        tap_check(status == YS_EFORMAT && !graph, __LINE__, "%s: %d, %s", changes[i].to, (int)status, ys_error());
        CHECK_HAS(ys_error(), changes[i].message);
        CHECK_HAS(ys_error(), "t.json: ");
        ys_graph_free(graph);
    }
}

#define REFUSE(...)                                                                                                    \
    do {                                                                                                               \
        static const struct change changes_[] = {__VA_ARGS__};                                                         \
        refuse(changes_, sizeof changes_ / sizeof changes_[0]);                                                        \
    } while (0)

static void a_right_graph_is_read_with_every_field(void)
{
    struct ys_graph *g = NULL;
    REQUIRE(read_text(RIGHT, &g) == YS_OK);
    CHECK_TEXT(g->name, "tiny");
    CHECK_INT(g->node_count, 6);
    CHECK_INT(g->value_count, 7);
    CHECK_INT(g->param_count, 4);
    CHECK_INT(g->values[g->inputs[0]].dtype, YS_U8);
    CHECK(g->nodes[0].op == YS_OP_NORMALIZE && g->nodes[0].normalize.scale == 0.5);
    CHECK(g->nodes[0].normalize.mean[0] == 0.25 && g->nodes[0].normalize.std[0] == 2);
    const struct ys_window *w = &g->nodes[1].window;
    CHECK(w->kernel[0] == 3 && w->stride[1] == 1 && w->dilation[0] == 1 && w->pad[3] == 1 && w->group == 1);
    CHECK_INT(g->nodes[3].window.stride[0], 2);
    const struct ys_param *bias = &g->params[g->nodes[1].bias];
    CHECK_TEXT(bias->name, "c.b");
    CHECK(bias->lr_mult == 2 && bias->decay_mult == 0 && bias->init.kind == YS_INIT_CONSTANT);
    CHECK(g->params[0].lr_mult == 1 && g->params[0].decay_mult == 1);
    CHECK(g->params[0].init.kind == YS_INIT_UNIFORM && g->params[0].init.a == -0.1 && g->params[0].init.b == 0.1);
    CHECK(g->params[3].init.kind == YS_INIT_TRUNCATED_NORMAL && g->params[3].init.b == 0.5);
    CHECK_TEXT(g->values[g->output].name, "gv");
    ys_graph_free(g);
}

static void the_head_is_strict(void)
{
    REFUSE({"'yardstick-graph'", "'onnx'", "\"onnx\""}, {"'version':1", "'version':2", "version must be 1, is 2"},
           {"'version':1", "'version':'1'", "version"}, {"'format'", "'fromat'", "unknown member \"fromat\""},
           {"'name':'tiny'", "'name':''", "1 to 200 bytes"}, {"'name':'tiny'", "'name':7", "name must be a string"},
           {"softmax_cross_entropy", "hinge", "\"hinge\""}, {"'output':'gv'", "'output':'zz'", "no value \"zz\""},
           {"'output':'gv'", "'output':null", "output must be a string, is null"});
}

static void the_input_is_strict(void)
{
    REFUSE({"'inputs':[", "'inputs':[{'name':'z','shape':['N',1],'dtype':'U8'},", "value z is never used"},
           {"'inputs':[", "'inputs':[{'name':'x','shape':['N',1],'dtype':'U8'},", "value \"x\" exists already"},
           {"'name':'x'", "'name':'y'", "the name of inputs[0] must not be \"y\""},
           {"'name':'x'", "'name':'logits'", "must not be \"logits\""},
           {"'name':'x'", "'name':'a-name-of-more-than-sixty-three-bytes-which-no-array-of-a-data-file-has'",
            "must have at most 63 bytes"},
           {"'U8'", "'I64'", "\"I64\""}, {"'U8'", "8", "dtype"},
           {"['N',1,6,6]", "[8,1,6,6]", "must be the string \"N\""}, {"['N',1,6,6]", "['N']", "2 to 8 entries"},
           {"['N',1,6,6]", "['N',0,6,6]", "is 0"}, {"['N',1,6,6]", "['N',-1,6,6]", "is -1"},
           {"['N',1,6,6]", "['N',1.5,6,6]", "must be an integer"},
           {"['N',1,6,6]", "['N',1,2,2,2,2,2,2,2]", "2 to 8 entries"},
           {"['N',1,6,6]", "['N',1048576,1048576,2]", "more than 2^40"},
           {"['N',1,6,6]", "['N',9223372036854775807,9223372036854775807,9223372036854775807]", "more than 2^40"});
}

static void unknown_operators_and_attributes_are_refused_by_name(void)
{
    REFUSE({"'Relu'", "'Nonesuch'", "unknown op \"Nonesuch\""},
           {"'op':'Relu'", "'op':3", "op must be a string, is an integer"},
           {"'op':'Relu','name':'r'", "'op':'Relu','name':'r','attrs':{'alpha':1}",
            "node r (Relu): unknown member \"alpha\""},
           {"'strides':[2,2]", "'strides':[2,2],'auto_pad':'VALID'", "node p (MaxPool): unknown member \"auto_pad\""},
           {"'strides':[2,2]", "'strides':[2,2],'ceil_mode':2",
            "attribute ceil_mode is 2: must be an integer from 0 to 1"},
           {"'strides':[2,2]", "'strides':[2,2],'group':1", "\"group\""},
           {"'op':'Gemm','name':'g'", "'op':'Gemm','name':'g','attrs':{'transB':0}", "transB must be 1"},
           {"'op':'Gemm','name':'g'", "'op':'Gemm','name':'g','attrs':{'alpha':0.5}", "alpha must be 1"},
           {"'op':'Flatten','name':'f'", "'op':'Flatten','name':'f','attrs':{'axis':2}", "axis must be 1"},
           {"'op':'Relu','name':'r'", "'op':'Relu','name':'r','domain':'x'", "unknown member \"domain\" of a node"},
           {"'op':'Relu','name':'r'", "'op':'Relu','name':'r','params':{'weight':'c.w'}",
            "unknown member \"weight\" of params"});
}

static void attribute_values_are_checked(void)
{
    REFUSE(
        {"'kernel_shape':[3,3]", "'kernel_shape':[3]", "kernel_shape must have 2 to 2 entries, has 1"},
        {"'kernel_shape':[3,3]", "'kernel_shape':[3,0]", "kernel_shape[1]"},
        {"'kernel_shape':[3,3],", "", "kernel_shape must be an array, is missing"},
        {"'pads':[1,1,1,1]", "'pads':[1,1]", "pads must have 4"}, {"'pads':[1,1,1,1]", "'pads':[1,1,1,-1]", "pads[3]"},
        {"'pads':[1,1,1,1]", "'pads':[1,1,1,4611686018427387904]", "pads[3]"},
        {"'strides':[2,2]", "'strides':[0,2]", "strides[0]"}, {"'strides':[2,2]", "'strides':[2.5,2]", "strides[0]"},
        {"'pads':[1,1,1,1]", "'group':0", "group is 0"}, {"'scale':0.5", "'scale':'x'", "scale must be a number"},
        {"'scale':0.5", "'scale':0", "scale is 0: must be a number above 0"}, {"'std':[2]", "'std':[0]", "std[0] is 0"},
        {"'std':[2]", "'std':[2,2]", "as many entries"}, {"'mean':[0.25]", "'mean':[true]", "mean[0] must be a number"},
        {"'mean':[0.25],'std':[2]", "'mean':[0,0],'std':[2,2]", "2 means for the 1 channels"});
}

static void names_are_unique_and_resolve(void)
{
    REFUSE({"'out':['rv']", "'out':['cv']", "node r (Relu): value \"cv\" exists already"},
           {"'out':['rv']", "'out':['x']", "value \"x\" exists already"},
           {"'name':'r'", "'name':'c'", "node \"c\" exists already"},
           {"'name':'c.b'", "'name':'c.w'", "parameter \"c.w\" exists already"},
           {"'in':['cv']", "'in':['nowhere']", "node r (Relu): in[0]: there is no value \"nowhere\""},
           {"'in':['cv']", "'in':[]", "in must have 1 to 1 entries, has 0"},
           {"'in':['cv']", "'in':['cv','nv']", "has 2"}, {"'in':['cv'],", "", "in must be an array, is missing"},
           {"'bias':'c.b'", "'bias':'zz'", "params.bias: there is no parameter \"zz\""},
           {"'weight':'c.w',", "", "params.weight is missing"},
           {"'name':'c.b'", "'name':'__metadata__'", "__metadata__"},
           {"'name':'r'", "'name':'\\u0001'", "control character"});
}

static void cycles_are_found(void)
{
    REFUSE({"'in':['cv']", "'in':['pv']", "part of a cycle"},
           {"'in':['cv']", "'in':['rv']", "part of a cycle, through node r"});
}

static void dead_ends_and_shared_parameters_are_refused(void)
{
    REFUSE({"'in':['rv']", "'in':['cv']", "value rv is never used"}, {"'in':['x']", "'in':['fv']", "cycle"},
           {"'params':{'weight':'g.w','bias':'g.b'}", "'params':{'weight':'g.w'}", "parameter g.b is used by no node"},
           {"'shape':[3,18],'role':'weight'", "'shape':[3,18],'role':'buffer'", "parameter g.w has role buffer"});
    /* Two Gemm of 18 to 18 may share one; then nothing else is wrong but what they leave unread. */
    REFUSE({"{'op':'Gemm','name':'g','in':['fv'],'out':['gv'],'params':{'weight':'g.w','bias':'g.b'}}],'params':["
            "{'name':'c.w','shape':[2,1,3,3],'role':'weight','init':{'dist':'uniform','low':-0.1,'high':0.1}},",
            "{'op':'Gemm','name':'g0','in':['fv'],'out':['hv'],'params':{'weight':'q'}},"
            "{'op':'Gemm','name':'g','in':['hv'],'out':['gv'],'params':{'weight':'q'}}],'params':["
            "{'name':'q','shape':[18,18],'role':'weight','init':{'dist':'constant','value':0}},"
            "{'name':'c.w','shape':[2,1,3,3],'role':'weight','init':{'dist':'uniform','low':-0.1,'high':0.1}},",
            "parameter g.w is used by no node"});
}

/** A graph of sequences: two inputs, one layer twice, a sum of unlike shapes, a class for each of six positions. */
static const char positions[] =
    "{'format':'yardstick-graph','version':1,'name':'p','inputs':[{'name':'words','shape':['N',4,6,1],'dtype':'F32'},"
    "{'name':'all','shape':['N',4,1,1],'dtype':'I32'}],'nodes':["
    "{'op':'normalize','name':'n','in':['all'],'out':['nv'],'attrs':{'scale':1,'mean':[0],'std':[1]}},"
    "{'op':'Conv','name':'a','in':['words'],'out':['av'],'attrs':{'kernel_shape':[1,1]},'params':{'weight':'w'}},"
    "{'op':'Conv','name':'b','in':['nv'],'out':['bv'],'attrs':{'kernel_shape':[1,1]},'params':{'weight':'w'}},"
    "{'op':'Add','name':'s','in':['bv','av'],'out':['sv']},"
    "{'op':'Reshape','name':'r','in':['sv'],'out':['rv'],'attrs':{'shape':['N',3,6]}},"
    "{'op':'Transpose','name':'t','in':['rv'],'out':['tv'],'attrs':{'perm':[0,2,1]}}],"
    "'params':[{'name':'w','shape':[3,4,1,1],'role':'weight','init':{'dist':'constant','value':0}}],"
    "'output':'tv','loss':'softmax_cross_entropy','target':{'kind':'classes','shape':['N',6]}}";

static ys_status read_positions(const char *from, const char *to, struct ys_graph **graph)
{
    char text[sizeof positions + 200];
    const char *found = strstr(positions, from);
    if (!found)
        return ys_fail(YS_EINTERNAL, "the text has no %s", from);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(found - positions), positions, to, found + strlen(from));
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    ys_json *json = NULL;
    YS_TRY(ys_json_parse(text, strlen(text), "t.json", &json));
    ys_status status = ys_graph_from_json(json, "t.json", graph);
    ys_json_free(json);
    return status;
}

static void rows_may_be_other_than_images(void)
{
    struct ys_graph *g = NULL, *again = NULL;
    REQUIRE(read_positions("'p'", "'p'", &g) == YS_OK);
    CHECK(g->input_count == 2 && g->values[g->inputs[1]].dtype == YS_I32 && ys_graph_input_of(g, g->output) == -1);
    CHECK(g->target == YS_TARGET_CLASSES && ys_graph_positions(g) == 6 && ys_param_readers(g, 0) == 2);
    CHECK_INT(ys_graph_parameter_count(g), 12);
    CHECK_INT(ys_graph_multiply_adds(g), 12 * 6 + 12);
    struct ys_rows rows = ys_graph_rows(g);
    CHECK(rows.classes == 3 && rows.target.rank == 1 && rows.target.shape[0] == 6 && rows.target.dtype == YS_I64);
    CHECK_TEXT(rows.inputs[0].name, "words");
    ys_json *json = ys_graph_to_json(g);
    CHECK_INT(ys_json_get_int(ys_json_get(ys_json_at(ys_json_get(json, "nodes"), 3), "attrs"), "broadcast", 0), 1);
    REQUIRE(ys_graph_from_json(json, "again.json", &again) == YS_OK);
    ys_json *twice = ys_graph_to_json(again);
    CHECK(ys_json_equal(json, twice));
    ys_json_free(json);
    ys_json_free(twice);
    ys_graph_free(g);
    ys_graph_free(again);
}

static void what_rows_cannot_be_is_refused(void)
{
    static const struct {
        const char *from, *to, *message;
    } wrong[] = {
        {"'kind':'classes'", "'kind':'class'", "softmax_cross_entropy needs (N, classes) with a target of kind class"},
        {"'kind':'classes'", "'kind':'vector'", "a target of numbers has mean_squared_error alone"},
        {"'kind':'classes'", "'kind':'labels'", "must be class, classes or vector, is \"labels\""},
        {"'shape':['N',6]}}", "'shape':['N',3]}}", "the shape of the target must be [N,6]"},
        {"'shape':['N',6]}}", "'shape':[6]}}", "the shape of the target must be [N,6]"},
        {"'in':['nv'],'out':['bv']", "'in':['all'],'out':['bv']", "input all is I32: put a normalize before it"},
        {"['N',4,1,1]", "['N',4,2,1]", "inputs bv of shape [N,3,2,1] and av of shape [N,3,6,1] do not fit together"},
        {"'params':{'weight':'w'}},{'op':'Add'", "'params':{'weight':'w','bias':'w'}},{'op':'Add'", "bias w has shape"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ys_graph *g = NULL;
        tap_check(read_positions(wrong[i].from, wrong[i].to, &g) == YS_EFORMAT, __LINE__, "%s is read", wrong[i].to);
        CHECK_HAS(ys_error(), wrong[i].message);
        ys_graph_free(g);
    }
}

static void parameters_are_checked(void)
{
    REFUSE({"'shape':[2]", "'shape':[]", "parameter c.b: shape must have 1 to 8 entries"},
           {"'shape':[2]", "'shape':[0]", "shape[0] is 0"},
           {"'shape':[2]", "'shape':[1099511627777]", "more than 2^40"},
           {"'shape':[2,1,3,3]", "'shape':[3037000500,3037000500,3037000500,2]", "more than 2^40"},
           {"'shape':[2],'role':'weight'", "'shape':[2],'role':'state'", "\"state\""},
           {"'dist':'constant','value':0", "'dist':'zeros'", "not \"zeros\""},
           {"'dist':'constant','value':0", "'dist':'constant'", "init constant needs the number value"},
           {"'dist':'constant','value':0", "'dist':'constant','value':0,'gain':1", "unknown member \"gain\" of init"},
           {"'dist':'constant','value':0", "'dist':'constant','value':1e300", "beyond 1e30"},
           {"'low':-0.1,'high':0.1", "'low':0.1,'high':-0.1", "low 0.1 is above high -0.1"},
           {"'mean':0,'std':0.1", "'mean':0,'std':-1", "std -1 is negative"},
           {"'lr_mult':2", "'lr_mult':-2", "lr_mult must be a number from 0"},
           {"'lr_mult':2", "'lr_mult':'2'", "lr_mult"}, {"'decay_mult':0", "'decay':0", "unknown member \"decay\""});
}

static void nodes_may_stand_in_any_order(void)
{
    static const char relu[] = "{'op':'Relu','name':'r','in':['cv'],'out':['rv']},";
    const char *at = strstr(RIGHT, relu), *end = strstr(RIGHT, "],'params':[");
    struct ys_graph *graph = NULL;
    REQUIRE(at && end);
    const char *after = at + strlen(relu);
    char *moved = ys_format("%.*s%.*s,%.*s%s", (int)(at - RIGHT), RIGHT, (int)(end - after), after,
                            (int)(strlen(relu) - 1), relu, end);
    ys_status status = read_text(moved, &graph);
    ys_free(moved);
    REQUIRE(status == YS_OK);
    for (size_t i = 0; i < graph->node_count; i++) {
        CHECK(graph->values[graph->nodes[i].in[0]].producer < (int)i);
        CHECK_INT(graph->values[graph->nodes[i].out[0]].producer, i);
    }
    CHECK_INT(graph->values[graph->output].shape[1], 3);
    ys_graph_free(graph);
}

static void a_very_long_chain_written_backwards_is_sorted_without_recursion(void)
{
    enum { LENGTH = 20000 };
    struct ys_buf text = {0};
    ys_buf_puts(&text, "{\"format\":\"yardstick-graph\",\"version\":1,\"name\":\"long\",\"inputs\":[{\"name\":\"x\","
                       "\"shape\":[\"N\",4],\"dtype\":\"F32\"}],\"nodes\":[");
    for (int i = LENGTH - 1; i >= 0; i--) {
        char from[32];
        snprintf(from, sizeof from, i ? "v%d" : "x", i - 1);
        ys_buf_printf(&text, "{\"op\":\"Relu\",\"name\":\"r%d\",\"in\":[\"%s\"],\"out\":[\"v%d\"]}%s", i, from, i,
                      i ? "," : "");
    }
    ys_buf_printf(&text, "],\"params\":[],\"output\":\"v%d\",\"loss\":\"softmax_cross_entropy\"}", LENGTH - 1);
    ys_json *json = NULL;
    struct ys_graph *graph = NULL;
    REQUIRE(ys_json_parse(ys_buf_text(&text), text.size, "long", &json) == YS_OK);
    CHECK(ys_graph_from_json(json, "long", &graph) == YS_OK);
    REQUIRE(graph);
    CHECK_INT(graph->node_count, LENGTH);
    CHECK_TEXT(graph->nodes[0].name, "r0");
    CHECK_TEXT(graph->nodes[LENGTH - 1].name, "r19999");
    ys_graph_free(graph);
    ys_json_free(json);
    ys_buf_free(&text);
}

static void rubbish_instead_of_an_object_is_refused(void)
{
    static const char *const texts[] = {"null", "[]", "3", "\"graph\"", "{}", "[[[[[[[[]]]]]]]]"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ys_json *json = NULL;
        struct ys_graph *graph = NULL;
        CHECK(ys_json_parse(texts[i], strlen(texts[i]), "t.json", &json) == YS_OK);
        CHECK(ys_graph_from_json(json, "t.json", &graph) == YS_EFORMAT);
        ys_json_free(json);
    }
    REFUSE({"'nodes':[", "'nodes':{},'x':[", "unknown member \"x\""},
           {"{'op':'Relu','name':'r','in':['cv'],'out':['rv']}", "7", "nodes[2]"});
}

static void the_path_of_a_missing_file_is_in_the_message(void)
{
    struct ys_graph *graph = NULL;
    CHECK(ys_graph_read("/nonexistent/graph.json", &graph) != YS_OK);
    CHECK_HAS(ys_error(), "/nonexistent/graph.json");
}

static void every_failing_allocation_is_reported_and_leaks_nothing(void)
{
    char *text = quoted(RIGHT);
    ys_json *json = NULL;
    REQUIRE(ys_json_parse(text, strlen(text), "t.json", &json) == YS_OK);
    long n = 1;
    for (; n < 1000; n++) {
        struct ys_graph *graph = NULL;
        ys_mem_fail_at(n);
        ys_status status = ys_graph_from_json(json, "t.json", &graph);
        ys_mem_fail_at(0);
        ys_graph_free(graph);
        if (status == YS_OK)
            break;
        CHECK(status == YS_ENOMEM);
    }
    CHECK(n > 20 && n < 1000);
    ys_json_free(json);
    ys_free(text);
}

TAP_MAIN(TAP_CASE(a_right_graph_is_read_with_every_field), TAP_CASE(the_head_is_strict), TAP_CASE(the_input_is_strict),
         TAP_CASE(unknown_operators_and_attributes_are_refused_by_name), TAP_CASE(attribute_values_are_checked),
         TAP_CASE(names_are_unique_and_resolve), TAP_CASE(cycles_are_found),
         TAP_CASE(dead_ends_and_shared_parameters_are_refused), TAP_CASE(parameters_are_checked),
         TAP_CASE(rows_may_be_other_than_images), TAP_CASE(what_rows_cannot_be_is_refused),
         TAP_CASE(nodes_may_stand_in_any_order),
         TAP_CASE(a_very_long_chain_written_backwards_is_sorted_without_recursion),
         TAP_CASE(rubbish_instead_of_an_object_is_refused), TAP_CASE(the_path_of_a_missing_file_is_in_the_message),
         TAP_CASE(every_failing_allocation_is_reported_and_leaks_nothing))
