/* Every operator alone: x of shape (N, 6, 8, 9) through the nodes of a case to y, which a Flatten makes the output. */
#include "text.h"

#include "tap.h"

static ys_status read_case(const char *nodes, const char *params, struct ys_graph **graph)
{
    char *text =
        ys_format("{'format':'yardstick-graph','version':1,'name':'one','inputs':[{'name':'x','shape':['N',6,8,"
                  "9],'dtype':'F32'}],'nodes':[%s,{'op':'Flatten','name':'f','in':['y'],'out':['o']}],"
                  "'params':[%s],'output':'o','loss':'softmax_cross_entropy'}",
                  nodes, params);
    ys_status status = read_text(text, graph);
    ys_free(text);
    return status;
}

#define ONE(op, attrs) "{'op':'" op "','name':'n','in':['x'],'out':['y'],'attrs':{" attrs "}}"
#define PARAM(name, shape, role, value)                                                                                \
    "{'name':'" name "','shape':" shape ",'role':'" role "','init':{'dist':'constant','value':" value "}}"

struct fit {
    const char *nodes;
    int64_t row[4]; /* of y; ends at 0 */
};

static void check_fits(const struct fit *fits, size_t count, const char *params)
{
    for (size_t i = 0; i < count; i++) {
        struct ys_graph *graph = NULL;
        if (!tap_check(read_case(fits[i].nodes, params, &graph) == YS_OK, __LINE__, "%s: %s", fits[i].nodes,
                       ys_error()))
            continue;
        for (size_t v = 0; v < graph->value_count; v++) {
            const struct ys_value *value = &graph->values[v];
            if (strcmp(value->name, "y") != 0)
                continue;
            size_t rank = 1;
            for (size_t d = 0; d < 4 && fits[i].row[d]; d++, rank++)
                tap_check(value->shape[d + 1] == fits[i].row[d], __LINE__, "%s: dimension %zu is %lld, not %lld",
                          fits[i].nodes, d + 1, (long long)value->shape[d + 1], (long long)fits[i].row[d]);
            CHECK_INT(value->rank, rank);
        }
        ys_graph_free(graph);
    }
}

#define FITS(params, ...)                                                                                              \
    do {                                                                                                               \
        static const struct fit fits_[] = {__VA_ARGS__};                                                               \
        check_fits(fits_, sizeof fits_ / sizeof fits_[0], params);                                                     \
    } while (0)

struct refusal {
    const char *nodes, *message;
};

static void check_refusals(const struct refusal *refusals, size_t count, const char *params)
{
    for (size_t i = 0; i < count; i++) {
        struct ys_graph *graph = NULL;
        ys_status status = read_case(refusals[i].nodes, params, &graph);
        tap_check(status == YS_EFORMAT && !graph, __LINE__, "%s: %d", refusals[i].nodes, (int)status);
        CHECK_HAS(ys_error(), refusals[i].message);
        CHECK_HAS(ys_error(), "t.json: ");
        ys_graph_free(graph);
    }
}

#define REFUSED(params, ...)                                                                                           \
    do {                                                                                                               \
        static const struct refusal refusals_[] = {__VA_ARGS__};                                                       \
        check_refusals(refusals_, sizeof refusals_ / sizeof refusals_[0], params);                                     \
    } while (0)

static void operators_that_keep_the_shape(void)
{
    FITS("", {ONE("Tanh", ""), {6, 8, 9}}, {ONE("Sigmoid", ""), {6, 8, 9}},
         {ONE("LeakyRelu", "'alpha':0.01"), {6, 8, 9}}, {ONE("Clip", "'min':0,'max':6"), {6, 8, 9}},
         {ONE("Dropout", "'ratio':0"), {6, 8, 9}}, {ONE("Softmax", "'axis':3"), {6, 8, 9}},
         {ONE("LogSoftmax", "'axis':1"), {6, 8, 9}}, {ONE("HardSigmoid", "'alpha':0.2,'beta':0.5"), {6, 8, 9}},
         {ONE("Swish", ""), {6, 8, 9}}, {ONE("Gelu", ""), {6, 8, 9}}, {ONE("Gelu", "'approximate':'tanh'"), {6, 8, 9}},
         {ONE("Sqrt", ""), {6, 8, 9}}, {ONE("Pow", "'exponent':-0.5"), {6, 8, 9}},
         {ONE("LRN", "'size':5,'alpha':0.0001,'beta':0.75,'bias':1"), {6, 8, 9}});
}

static void pools_count_their_windows(void)
{
    FITS("", {ONE("GlobalAveragePool", ""), {6, 1, 1}}, {ONE("GlobalMaxPool", ""), {6, 1, 1}},
         {ONE("AveragePool", "'kernel_shape':[3,3],'strides':[2,2]"), {6, 3, 4}},
         {ONE("AveragePool", "'kernel_shape':[3,3],'strides':[2,2],'ceil_mode':1"), {6, 4, 4}},
         {ONE("MaxPool", "'kernel_shape':[3,3],'strides':[2,2],'ceil_mode':1,'pads':[0,0,1,1]"), {6, 4, 5}},
         /* Five windows would fit by rounding up, the fifth would begin at row 8, behind the image. */
         {ONE("MaxPool", "'kernel_shape':[1,1],'strides':[2,2],'ceil_mode':1"), {6, 4, 5}},
         /* As PyTorch and Caffe: rounding up lets a window begin that is larger than the image. */
         {ONE("MaxPool", "'kernel_shape':[9,9],'strides':[2,2],'ceil_mode':1"), {6, 1, 1}},
         {ONE("MaxPool", "'kernel_shape':[2,2],'strides':[5,5],'ceil_mode':1,'pads':[1,1,0,0]"), {6, 2, 2}},
         /* The last window begins at row 9 - 1 = 8 of 8: left out. */
         {ONE("MaxPool", "'kernel_shape':[2,2],'strides':[3,3],'ceil_mode':1,'pads':[1,1,1,1]"), {6, 3, 4}});
}

static void every_window_of_a_pool_sees_a_pixel(void)
{
    REFUSED(
        "", {ONE("MaxPool", "'kernel_shape':[2,2],'pads':[2,0,0,0]"), "padding 2 + 0 of the height leaves windows"},
        {ONE("MaxPool", "'kernel_shape':[2,2],'pads':[0,0,0,2]"), "padding 0 + 2 of the width leaves windows"},
        {ONE("AveragePool", "'kernel_shape':[3,3],'pads':[3,0,0,0],'count_include_pad':1"), "that hold no pixel"},
        {ONE("MaxPool", "'kernel_shape':[2,2],'dilations':[9,1],'pads':[1,0,1,0]"), "that hold no pixel"},
        {ONE("MaxPool", "'kernel_shape':[9,9]"), "a window of height 9 does not fit into input x of shape [N,6,8,9]"},
        {ONE("MaxPool", "'kernel_shape':[10,9],'strides':[2,2],'ceil_mode':1"), "a window of height 10 does not fit"});
    /* Rows 8 and 9 are padding, but windows begin at rows 0 and 5. */
    FITS("", {ONE("MaxPool", "'kernel_shape':[1,1],'strides':[5,1],'pads':[0,0,2,0]"), {6, 2, 9}});
}

static void attributes_are_checked_by_type_and_range(void)
{
    REFUSED(
        "", {ONE("LRN", "'size':0,'alpha':1,'beta':1,'bias':1"), "node n (LRN): attribute size is 0"},
        {ONE("LRN", "'size':5,'alpha':-1,'beta':1,'bias':1"), "alpha is -1: must be a number from 0 to 1e30"},
        {ONE("LRN", "'size':5,'alpha':1,'beta':'x','bias':1"), "beta must be a number from 0 to 1e30, is a string"},
        {ONE("LRN", "'size':5,'alpha':1,'beta':1,'bias':0"), "bias is 0: must be a number above 0"},
        {ONE("LRN", "'size':5,'alpha':1,'beta':1"), "attribute bias must be a number above 0, up to 1e30, is missing"},
        {ONE("LRN", "'size':5,'alpha':1e300,'beta':1,'bias':1"), "alpha is 1e+300"},
        {ONE("LRN", "'size':5,'alpha':1,'beta':1,'bias':1,'k':2"), "unknown member \"k\" of attrs"},
        {ONE("Clip", "'min':6,'max':0"), "node n (Clip): min 6 must be below max 0"},
        {ONE("Clip", "'min':0"), "attribute max must be a number from -1e30 to 1e30, is missing"},
        {ONE("LeakyRelu", ""), "attribute alpha must be a number from 0 to 1, is missing"},
        {ONE("LeakyRelu", "'alpha':2"), "alpha is 2: must be a number from 0 to 1"},
        {ONE("Dropout", "'ratio':1"), "node n (Dropout): attribute ratio is 1: must be a number from 0 to below 1"},
        {ONE("Dropout", "'ratio':-0.5"), "ratio is -0.5"}, {ONE("Dropout", "'ratio':null"), "ratio must be a number"},
        {ONE("Gelu", "'approximate':'sigmoid'"), "attribute approximate must be none or tanh, is \"sigmoid\""},
        {ONE("Gelu", "'approximate':1"), "attribute approximate must be none or tanh"},
        {ONE("Pow", "'exponent':0"), "node n (Pow): exponent 0: the result would be 1 whatever the input"},
        {ONE("Pow", ""), "attribute exponent must be a number from -1e30 to 1e30, is missing"},
        {ONE("HardSigmoid", "'alpha':0,'beta':0.5"), "alpha is 0: must be a number above 0"},
        {ONE("Softmax", ""), "axis must be an integer from 1 to 7, is missing"},
        {ONE("Softmax", "'axis':0"), "axis is 0"}, {ONE("Softmax", "'axis':-1"), "axis is -1"},
        {ONE("Softmax", "'axis':1.5"), "axis must be an integer from 1 to 7, is a number"},
        {ONE("LogSoftmax", "'axis':4"), "axis 4 of input x of shape [N,6,8,9]: must be 1 to 3"},
        {ONE("Tanh", "'alpha':1"), "unknown member \"alpha\""},
        {ONE("MaxPool", "'kernel_shape':[2,2],'count_include_pad':1"), "unknown member \"count_include_pad\""},
        {ONE("AveragePool", "'kernel_shape':[2,2],'count_include_pad':true"), "from 0 to 1, is a boolean"},
        {ONE("AveragePool", "'kernel_shape':[2,2],'ceil_mode':-1"), "ceil_mode is -1"},
        {ONE("Conv", "'kernel_shape':[2,2]"), "params.weight is missing"});
}

static void reshaping_keeps_the_batch_and_the_elements(void)
{
    FITS("", {ONE("Reshape", "'shape':['N',432]"), {432}}, {ONE("Reshape", "'shape':['N',2,3,72]"), {2, 3, 72}},
         {ONE("Transpose", "'perm':[0,2,3,1]"), {8, 9, 6}}, {ONE("Transpose", "'perm':[0,1,2,3]"), {6, 8, 9}},
         {ONE("ReduceMean", "'axes':[2,3],'keepdims':0"), {6}},
         {ONE("ReduceMean", "'axes':[2,3],'keepdims':1"), {6, 1, 1}},
         {ONE("ReduceMean", "'axes':[1,2,3],'keepdims':1"), {1, 1, 1}},
         {ONE("ReduceMean", "'axes':[1],'keepdims':0"), {8, 9}});
    REFUSED("",
            {ONE("Reshape", "'shape':['N',431]"),
             "input x of shape [N,6,8,9] has another number of elements than shape [N,431]"},
            {ONE("Reshape", "'shape':[432]"), "shape must have 2 to 8 entries"},
            {ONE("Reshape", "'shape':[1,432]"), "shape[0] must be the string \"N\""},
            {ONE("Reshape", "'shape':['N',-1]"), "shape[1] is -1"},
            {ONE("Reshape", "'shape':['N',4294967296,4294967296,4294967296]"), "more than 2^40 elements"},
            {ONE("Reshape", ""), "attribute shape must be an array, is missing"},
            {ONE("Transpose", "'perm':[1,0,2,3]"), "0 (the batch) first"},
            {ONE("Transpose", "'perm':[0,1,1,2]"), "each of 0 to 3 once"},
            {ONE("Transpose", "'perm':[0,2,1]"), "each axis of input x of shape [N,6,8,9] once"},
            {ONE("Transpose", "'perm':[0,1,2,3,4]"), "each axis of input x of shape [N,6,8,9] once"},
            {ONE("Transpose", "'perm':[0,1,2,9]"), "perm[3] is 9"},
            {ONE("ReduceMean", "'axes':[0],'keepdims':1"), "axes[0] is 0"},
            {ONE("ReduceMean", "'axes':[4],'keepdims':1"), "axis 4 of input x of shape [N,6,8,9]: must be 1 to 3"},
            {ONE("ReduceMean", "'axes':[3,2],'keepdims':1"), "ascending order"},
            {ONE("ReduceMean", "'axes':[2,2],'keepdims':1"), "ascending order"},
            {ONE("ReduceMean", "'axes':[],'keepdims':1"), "axes must have 1 to 7 entries"},
            {ONE("ReduceMean", "'axes':[1,2,3],'keepdims':0"), "nothing but the batch would be left"});
}

#define HALVES         "{'op':'Split','name':'s','in':['x'],'out':['a','b'],'attrs':{'axis':1,'split':[2,4]}}"
#define TWO(op, attrs) "{'op':'" op "','name':'n','in':['a','b'],'out':['y'],'attrs':{" attrs "}}"

#define TEN_X "'x','x','x','x','x','x','x','x','x','x'"
#define MANY_X                                                                                                         \
    TEN_X "," TEN_X "," TEN_X "," TEN_X "," TEN_X "," TEN_X "," TEN_X "," TEN_X "," TEN_X "," TEN_X "," TEN_X          \
          "," TEN_X "," TEN_X

#define WITH_WEIGHT(op, in) "{'op':'" op "','name':'n','in':[" in "],'out':['y'],'params':{'weight':'w'}}"

static void a_parameter_may_be_the_second_operand(void)
{
    FITS(PARAM("w", "[6,1,1]", "weight", "1"), {WITH_WEIGHT("Mul", "'x'"), {6, 8, 9}},
         {WITH_WEIGHT("Div", "'x'"), {6, 8, 9}},
         {"{'op':'ReduceMean','name':'m','in':['x'],'out':['k'],'attrs':{'axes':[1],'keepdims':1}}," WITH_WEIGHT("Sub",
                                                                                                                 "'k'"),
          {6, 8, 9}});
    FITS(PARAM("w", "[9]", "weight", "1"), {WITH_WEIGHT("Add", "'x'"), {6, 8, 9}});
    struct ys_graph *graph = NULL;
    REQUIRE(read_case(WITH_WEIGHT("Add", "'x'"), PARAM("w", "[6,8,9]", "weight", "1"), &graph) == YS_OK);
    CHECK_INT(ys_graph_parameter_count(graph), 6 * 8 * 9);
    CHECK_INT(ys_graph_multiply_adds(graph), 0);
    CHECK(!graph->nodes[0].broadcast);
    ys_graph_free(graph);
    REFUSED(PARAM("w", "[6]", "weight", "1"),
            {WITH_WEIGHT("Add", "'x'"), "input x of shape [N,6,8,9] and weight w of shape [6] do not fit together"},
            {WITH_WEIGHT("Add", "'x','x'"), "has 2 inputs and a weight: must be two inputs, or one and a weight"},
            {WITH_WEIGHT("Relu", "'x'"), "unknown member \"weight\""});
    REFUSED(PARAM("w", "[1,6,8,9]", "weight", "1"), {WITH_WEIGHT("Add", "'x'"), "do not fit together"});
    REFUSED(PARAM("w", "[9]", "buffer", "1"), {WITH_WEIGHT("Add", "'x'"), "parameter w has role buffer, not weight"});
}

static void values_part_and_meet(void)
{
    FITS("", {HALVES "," TWO("Concat", "'axis':1"), {6, 8, 9}},
         {HALVES ",{'op':'Relu','name':'n','in':['b'],'out':['y']}", {4, 8, 9}},
         {"{'op':'Add','name':'n','in':['x','x'],'out':['y']}", {6, 8, 9}},
         {"{'op':'Relu','name':'r','in':['x'],'out':['a']},{'op':'Mul','name':'n','in':['a','x'],'out':['y']}",
          {6, 8, 9}},
         {"{'op':'Concat','name':'n','in':['x','x','x','x','x','x','x','x'],'out':['y'],'attrs':{'axis':3}}",
          {6, 8, 72}},
         {"{'op':'Split','name':'s','in':['x'],'out':['a','b','c','d'],'attrs':{'axis':2,'split':[1,1,1,5]}},"
          "{'op':'Concat','name':'n','in':['d','c','b','a'],'out':['y'],'attrs':{'axis':2}}",
          {6, 8, 9}});
    REFUSED("", {HALVES "," TWO("Add", ""), "inputs a of shape [N,2,8,9] and b of shape [N,4,8,9] do not fit together"},
            {HALVES "," TWO("Concat", "'axis':2"),
             "inputs a of shape [N,2,8,9] and b of shape [N,4,8,9] do not fit together"},
            {HALVES "," TWO("Concat", "'axis':0"), "axis is 0"},
            {HALVES "," TWO("Concat", "'axis':4"), "axis 4 of input a"},
            {HALVES ",{'op':'Relu','name':'n','in':['x'],'out':['y']}", "value a is never used"},
            {"{'op':'Add','name':'n','in':['x'],'out':['y']}",
             "has 1 inputs and no weight: must be two inputs, or one and a weight"},
            {"{'op':'Add','name':'n','in':['x','x','x'],'out':['y']}", "in must have 1 to 2 entries, has 3"},
            {"{'op':'Concat','name':'n','in':['x'],'out':['y'],'attrs':{'axis':1}}",
             "in must have 2 to 128 entries, has 1"},
            {"{'op':'Concat','name':'n','in':[" MANY_X "],'out':['y'],'attrs':{'axis':1}}",
             "in must have 2 to 128 entries, has 130"},
            {"{'op':'Split','name':'n','in':['x'],'out':['y'],'attrs':{'axis':1,'split':[6]}}",
             "out must have 2 to 4 entries"},
            {"{'op':'Split','name':'s','in':['x'],'out':['a','b'],'attrs':{'axis':1,'split':[2,5]}}," TWO("Concat",
                                                                                                          "'axis':1"),
             "the parts add up to 7, axis 1 of input x of shape [N,6,8,9] has another extent"},
            {"{'op':'Split','name':'s','in':['x'],'out':['a','b'],'attrs':{'axis':1,'split':[6]}}," TWO("Concat",
                                                                                                        "'axis':1"),
             "split must have 2 to 2 entries, has 1"},
            {"{'op':'Split','name':'s','in':['x'],'out':['a','b'],'attrs':{'axis':1,'split':[6,0]}}," TWO("Concat",
                                                                                                          "'axis':1"),
             "split[1] is 0"},
            {"{'op':'Split','name':'s','in':['x'],'out':['y','y'],'attrs':{'axis':1,'split':[3,3]}}",
             "value \"y\" exists already"},
            {"{'op':'Add','name':'n','in':['x','z'],'out':['y']},{'op':'Relu','name':'r','in':['y'],'out':['z']}",
             "part of a cycle"},
            {"{'op':'Add','name':'n','in':['y','y'],'out':['y']}", "part of a cycle, through node n"});
}

#define BATCHNORM(attrs)                                                                                               \
    "{'op':'BatchNormalization','name':'n','in':['x'],'out':['y'],'attrs':{" attrs "},'params':{'weight':'w','bias':"  \
    "'b','running_mean':'m','running_var':'v'}}"
#define NORM "'epsilon':1e-5,'momentum':0.1"
#define FOUR(channels, role_m, role_w, var)                                                                            \
    PARAM("w", "[" channels "]", role_w, "1")                                                                          \
    "," PARAM("b", "[6]", "weight", "0") "," PARAM("m", "[6]", role_m, "0") "," PARAM("v", "[6]", "buffer", var)

static void batch_normalisation_has_two_weights_and_two_buffers(void)
{
    static const char right[] = FOUR("6", "buffer", "weight", "1");
    struct ys_graph *graph = NULL;
    REQUIRE(read_case(BATCHNORM(NORM), right, &graph) == YS_OK);
    const struct ys_node *node = &graph->nodes[0];
    CHECK(node->batchnorm.epsilon == 1e-5 && node->batchnorm.momentum == 0.1);
    CHECK_TEXT(graph->params[node->running_mean].name, "m");
    CHECK_TEXT(graph->params[node->running_var].name, "v");
    CHECK_INT(graph->params[node->running_var].role, YS_ROLE_BUFFER);
    CHECK_INT(ys_graph_parameter_count(graph), 12); /* buffers are not trained */
    CHECK_INT(ys_graph_multiply_adds(graph), 0);
    ys_graph_free(graph);
    FITS(right, {BATCHNORM("'epsilon':1e-5,'momentum':0"), {6, 8, 9}});
    REFUSED(
        right, {BATCHNORM("'epsilon':0,'momentum':0.1"), "epsilon is 0: must be a number above 0"},
        {BATCHNORM("'epsilon':1e-5,'momentum':1.5"), "momentum is 1.5: must be a number from 0 to 1"},
        {BATCHNORM("'epsilon':1e-5"), "momentum must be a number from 0 to 1, is missing"},
        {"{'op':'BatchNormalization','name':'n','in':['x'],'out':['y'],'attrs':{" NORM "},'params':{'weight':'w',"
         "'bias':'b','running_mean':'m'}}",
         "node n (BatchNormalization): params.running_var is missing"},
        {"{'op':'BatchNormalization','name':'n','in':['x'],'out':['y'],'attrs':{" NORM "},'params':{'weight':'w',"
         "'bias':'b','running_mean':'m','running_var':'m'}}",
         "must start at the constant 1"},
        {"{'op':'BatchNormalization','name':'n','in':['x'],'out':['y'],'attrs':{" NORM "},'params':{'weight':'w',"
         "'bias':'w','running_mean':'m','running_var':'v'}}",
         "reads parameter w in two places"},
        {"{'op':'GlobalMaxPool','name':'g','in':['x'],'out':['z']},{'op':'Reshape','name':'r','in':['z'],'out':['t'],"
         "'attrs':{'shape':['N',6,1]}},{'op':'BatchNormalization','name':'n','in':['t'],'out':['y'],'attrs':{" NORM
         "},'params':{'weight':'w','bias':'b','running_mean':'m','running_var':'v'}}",
         "input t has shape [N,6,1], not (N, channels) or (N, channels, height, width)"});
    REFUSED(FOUR("5", "buffer", "weight", "1"), {BATCHNORM(NORM), "weight w has shape [5], not [6]"});
    REFUSED(FOUR("6", "weight", "weight", "1"), {BATCHNORM(NORM), "parameter m has role weight, not buffer"});
    REFUSED(FOUR("6", "buffer", "buffer", "1"), {BATCHNORM(NORM), "parameter w has role buffer, not weight"});
    REFUSED(FOUR("6", "buffer", "weight", "0"), {BATCHNORM(NORM), "running_var v must start at the constant 1"});
}

#define CONV(attrs)                                                                                                    \
    "{'op':'Conv','name':'n','in':['x'],'out':['y'],'attrs':{'kernel_shape':[3,3]" attrs "},'params':{'weight':'w'}}"

static void padding_is_of_every_axis_but_the_batch(void)
{
    FITS("", {ONE("Pad", "'pads':[0,1,0,2,0,0,3,0]"), {7, 11, 11}},
         {ONE("Pad", "'mode':'reflect','pads':[0,5,7,8,0,5,7,8]"), {16, 22, 25}},
         {ONE("Pad", "'mode':'edge','pads':[0,0,0,20,0,0,0,0],'value':0"), {6, 8, 29}},
         {ONE("Pad", "'pads':[0,0,0,0,0,0,0,0],'value':-1.5"), {6, 8, 9}});
    REFUSED(
        "", {ONE("Pad", "'mode':'reflect'"), "attribute pads must be an array, is missing"},
        {ONE("Pad", "'mode':'wrap','pads':[0,0,0,0,0,0,0,0]"), "mode must be constant, reflect or edge, is \"wrap\""},
        {ONE("Pad", "'pads':[0,0,0,0,0,0]"), "has 6 pads; with input x of shape [N,6,8,9] it must have 8"},
        {ONE("Pad", "'pads':[0,0,0,0,0,0,0]"), "pads has 7 entries: must have two for each axis"},
        {ONE("Pad", "'pads':[1,0,0,0,0,0,0,0]"), "pads the batch by 1 and 0"},
        {ONE("Pad", "'pads':[0,0,0,0,2,0,0,0]"), "pads the batch by 0 and 2"},
        {ONE("Pad", "'pads':[0,-1,0,0,0,0,0,0]"), "pads[1] is -1"},
        {ONE("Pad", "'mode':'reflect','pads':[0,6,0,0,0,0,0,0]"), "reflects 6 and 0 of axis 1"},
        {ONE("Pad", "'mode':'reflect','pads':[0,0,0,0,0,0,8,0]"), "reflects 0 and 8 of axis 2"});
}

#define TRANSPOSED(attrs)                                                                                              \
    "{'op':'ConvTranspose','name':'n','in':['x'],'out':['y'],'attrs':{'kernel_shape':[3,3]" attrs                      \
    "},'params':{'weight':'w','bias':'b'}}"

static void transposed_convolutions_turn_the_weight_round(void)
{
    static const char right[] = PARAM("w", "[6,4,3,3]", "weight", "0") "," PARAM("b", "[4]", "weight", "0"),
                      grouped[] = PARAM("w", "[6,2,3,3]", "weight", "0") "," PARAM("b", "[6]", "weight", "0");
    struct ys_graph *graph = NULL;
    FITS(right, {TRANSPOSED(""), {4, 10, 11}}, {TRANSPOSED(",'strides':[2,3],'output_padding':[1,2]"), {4, 18, 29}},
         {TRANSPOSED(",'dilations':[2,1],'pads':[1,0,2,3]"), {4, 9, 8}});
    REQUIRE(read_case(TRANSPOSED(",'group':3"), grouped, &graph) == YS_OK);
    CHECK_INT(ys_graph_multiply_adds(graph), 6 * 8 * 9 * 2 * 9);
    CHECK_INT(ys_graph_parameter_count(graph), 6 * 2 * 9 + 6);
    ys_graph_free(graph);
    REFUSED(right, {TRANSPOSED(",'group':4"), "group 4 does not divide the 6 channels"},
            {TRANSPOSED(",'group':2"), "bias b has shape [4], not [8]"},
            {TRANSPOSED(",'strides':[2,2],'output_padding':[0,2]"),
             "output_padding 2: must be from 0 to below the stride, 2"},
            {TRANSPOSED(",'pads':[5,0,5,0]"), "padding 5 + 5 takes away all of the height"},
            {TRANSPOSED(",'connections':[[0]]"), "unknown member \"connections\""});
    REFUSED(PARAM("w", "[4,6,3,3]", "weight", "0") "," PARAM("b", "[4]", "weight", "0"),
            {TRANSPOSED(""),
             "weight w has shape [4,6,3,3]; with input [N,6,8,9] it must be (6, out channels / group, 3, 3)"});
}

static void layer_normalisation_is_along_the_last_axis(void)
{
#define LAYERS(axis)                                                                                                   \
    "{'op':'LayerNormalization','name':'n','in':['x'],'out':['y'],'attrs':{'axis':" axis                               \
    ",'epsilon':0.001},'params':{'weight':'w','bias':'b'}}"
    FITS(PARAM("w", "[9]", "weight", "1") "," PARAM("b", "[9]", "weight", "0"), {LAYERS("3"), {6, 8, 9}});
    REFUSED(PARAM("w", "[9]", "weight", "1") "," PARAM("b", "[9]", "weight", "0"),
            {LAYERS("1"), "axis 1 of input x of shape [N,6,8,9]: must be the last, 3"},
            {LAYERS("4"), "axis 4 of input x of shape [N,6,8,9]: must be the last, 3"});
    REFUSED(PARAM("w", "[6]", "weight", "1") "," PARAM("b", "[9]", "weight", "0"),
            {LAYERS("3"), "weight w has shape [6], not [9]"});
    REFUSED(PARAM("w", "[9]", "weight", "1") "," PARAM("b", "[1]", "weight", "0"),
            {LAYERS("3"), "bias b has shape [1], not [9]"});
}

static void connections_leave_weights_out(void)
{
    static const char three[] = PARAM("w", "[3,6,3,3]", "weight", "0"),
                      grouped[] = PARAM("w", "[4,3,3,3]", "weight", "0");
    struct ys_graph *graph = NULL;
    REQUIRE(read_case(CONV(",'connections':[[0,5],[1],[0,1,2,3,4,5]]"), three, &graph) == YS_OK);
    CHECK_INT(graph->nodes[0].connected[0 * 6 + 5], 1);
    CHECK_INT(graph->nodes[0].connected[1 * 6 + 5], 0);
    CHECK_INT(ys_graph_parameter_count(graph), (2 + 1 + 6) * 9);
    CHECK_INT(ys_graph_multiply_adds(graph), (2 + 1 + 6) * 9 * 6 * 7);
    CHECK_INT(ys_param_elements(&graph->params[0]), 3 * 6 * 9); /* the array is whole */
    ys_graph_free(graph);
    graph = NULL;
    /* Two groups of two: channel numbers count inside the group. */
    REQUIRE(read_case(CONV(",'group':2,'connections':[[0],[1],[2],[0,2]]"), grouped, &graph) == YS_OK);
    CHECK_INT(ys_graph_parameter_count(graph), 5 * 9);
    CHECK_INT(ys_node_multiply_adds(graph, &graph->nodes[0]), 5 * 9 * 6 * 7);
    ys_graph_free(graph);
    REFUSED(three, {CONV(",'connections':[[0,5],[1]]"), "connections must have 3 to 3 entries, has 2"},
            {CONV(",'connections':[[0],[1],[6]]"), "connections[2] is 6: must be an integer from 0 to 5"},
            {CONV(",'connections':[[0],[1],[-1]]"), "connections[2] is -1"},
            {CONV(",'connections':[[0],[1],[]]"), "connections[2] must have 1 to 6 entries, has 0"},
            {CONV(",'connections':[[0],[1],[3,2]]"), "connections[2] must be in ascending order, each channel once"},
            {CONV(",'connections':[[0],[1],[2,2]]"), "connections[2] must be in ascending order, each channel once"},
            {CONV(",'connections':[[0],[1],2]"), "connections[2] must be an array, is an integer"},
            {CONV(",'connections':{}"), "connections must be an array, is an object"});
    REFUSED(PARAM("w", "[1,1048577,3,3]", "weight", "0"), {CONV(",'connections':[[0]]"), "at most 1048576 pairs"});
    REFUSED(PARAM("w", "[54]", "weight", "0"), {CONV(",'connections':[[0]]"), "weight w must have the shape"});
    REFUSED("", {ONE("MaxPool", "'kernel_shape':[3,3],'connections':[[0]]"), "unknown member \"connections\""});
}

static ys_status read_loss(const char *loss, struct ys_graph **graph)
{
    char *text = ys_format("'loss':%s}", loss);
    ys_status status = read_changed("'loss':'softmax_cross_entropy'}", text, graph);
    ys_free(text);
    return status;
}

static void a_softmax_that_was_left_to_the_loss_is_kept(void)
{
    struct ys_graph *graph = NULL;
    REQUIRE(read_loss("'softmax_cross_entropy','head':'Softmax'", &graph) == YS_OK);
    CHECK(graph->left_softmax);
    ys_json *json = ys_graph_to_json(graph);
    CHECK_TEXT(ys_json_get_text(json, "head", ""), "Softmax");
    ys_json_free(json);
    ys_graph_free(graph);
}

static void losses_are_read_by_name(void)
{
    static const struct {
        const char *text;
        enum ys_loss loss;
        double smoothing;
    } rights[] = {{"'softmax_cross_entropy'", YS_LOSS_SOFTMAX_CROSS_ENTROPY, 0},
                  {"'nll'", YS_LOSS_NLL, 0},
                  {"'mean_squared_error','label_smoothing':0", YS_LOSS_MEAN_SQUARED_ERROR, 0},
                  {"'softmax_cross_entropy','label_smoothing':0.125", YS_LOSS_SOFTMAX_CROSS_ENTROPY, 0.125}};
    static const struct refusal wrongs[] = {
        {"'softmax_cross_entropy','label_smoothing':1", "label_smoothing must be a number from 0 to below 1"},
        {"'softmax_cross_entropy','label_smoothing':-0.1", "label_smoothing must be a number"},
        {"'softmax_cross_entropy','label_smoothing':'x'", "label_smoothing must be a number"},
        {"'nll','label_smoothing':0.1", "label_smoothing 0.1: the loss nll has none"},
        {"'softmax_cross_entropy','head':'Sigmoid'", "head must be \"Softmax\""},
        {"'nll','head':'Softmax'", "head must be \"Softmax\", of the loss softmax_cross_entropy, which is nll"},
        {"'hinge'", "loss must be softmax_cross_entropy, nll or mean_squared_error, is \"hinge\""},
        {"3", "loss must be"}};
    for (size_t i = 0; i < sizeof rights / sizeof rights[0]; i++) {
        struct ys_graph *graph = NULL;
        REQUIRE(read_loss(rights[i].text, &graph) == YS_OK);
        CHECK(graph->loss == rights[i].loss && graph->label_smoothing == rights[i].smoothing);
        ys_json *json = ys_graph_to_json(graph);
        CHECK_TEXT(ys_json_get_text(json, "loss", ""), ys_loss_name(rights[i].loss));
        CHECK((ys_json_get(json, "label_smoothing") != NULL) == (rights[i].smoothing != 0));
        CHECK(ys_json_get_number(json, "label_smoothing", 0) == rights[i].smoothing);
        ys_json_free(json);
        ys_graph_free(graph);
    }
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct ys_graph *graph = NULL;
        CHECK(read_loss(wrongs[i].nodes, &graph) == YS_EFORMAT && !graph);
        CHECK_HAS(ys_error(), wrongs[i].message);
    }
}

TAP_MAIN(TAP_CASE(operators_that_keep_the_shape), TAP_CASE(pools_count_their_windows),
         TAP_CASE(every_window_of_a_pool_sees_a_pixel), TAP_CASE(attributes_are_checked_by_type_and_range),
         TAP_CASE(reshaping_keeps_the_batch_and_the_elements), TAP_CASE(values_part_and_meet),
         TAP_CASE(a_parameter_may_be_the_second_operand), TAP_CASE(padding_is_of_every_axis_but_the_batch),
         TAP_CASE(transposed_convolutions_turn_the_weight_round),
         TAP_CASE(batch_normalisation_has_two_weights_and_two_buffers),
         TAP_CASE(layer_normalisation_is_along_the_last_axis), TAP_CASE(connections_leave_weights_out),
         TAP_CASE(losses_are_read_by_name), TAP_CASE(a_softmax_that_was_left_to_the_loss_is_kept))
