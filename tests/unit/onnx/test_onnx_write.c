/* The ONNX writer, read back by a small reader of the wire format: each node as one line of text. */
#include "unit/graph/text.h"

#include "base/buf.h"
#include "base/files/fs.h"
#include "graph/model.h"
#include "onnx/write/onnx_write.h"
#include "tap.h"
#include "unit/base/scratch.h"

struct span {
    const unsigned char *data;
    size_t size;
};

struct field {
    int number;
    uint64_t integer; /* of a varint, or the bits of a float */
    struct span span; /* of text, bytes or a message */
};

static uint64_t take_varint(struct span *from)
{
    uint64_t value = 0;
    for (int shift = 0; from->size > 0 && shift < 64; shift += 7) {
        unsigned char byte = *from->data++;
        from->size--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    CHECK(!"a varint that ends");
    from->size = 0;
    return 0;
}

/* The next field; false at the end, and for what is not the wire format. */
static bool take(struct span *from, struct field *field)
{
    if (from->size == 0)
        return false;
    uint64_t tag = take_varint(from);
    *field = (struct field){.number = (int)(tag >> 3)};
    size_t size = 0;
    switch (tag & 7) {
    case 0:
        field->integer = take_varint(from);
        return true;
    case 2:
        size = (size_t)take_varint(from);
        break;
    case 5:
        size = 4;
        break;
    default:
        CHECK(!"a known wire type");
        return false;
    }
    if (!CHECK(size <= from->size))
        return false;
    field->span = (struct span){from->data, size};
    if ((tag & 7) == 5)
        memcpy(&field->integer, from->data, 4);
    from->data += size;
    from->size -= size;
    return true;
}

/* The `skip`th field of that number; its number is 0 when there is none. */
static struct field find(struct span message, int number, size_t skip)
{
    struct field field;
    while (take(&message, &field))
        if (field.number == number && skip-- == 0)
            return field;
    return (struct field){0};
}

static bool is_text(struct field field, const char *text)
{
    return field.span.size == strlen(text) && memcmp(field.span.data, text, field.span.size) == 0;
}

struct file {
    struct ys_buf bytes;
    struct span model, graph;
};

enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9, FLOAT = 1, INT64 = 7, DOUBLE = 11 };

static struct span initializer(const struct file *file, struct field name)
{
    for (size_t i = 0;; i++) {
        struct field tensor = find(file->graph, GRAPH_INITIALIZER, i), own = find(tensor.span, TENSOR_NAME, 0);
        if (!tensor.number)
            return (struct span){0};
        if (own.span.size == name.span.size && memcmp(own.span.data, name.span.data, own.span.size) == 0)
            return tensor.span;
    }
}

static double element(struct span tensor, size_t i)
{
    struct span raw = find(tensor, TENSOR_RAW, 0).span;
    double wide;
    float narrow;
    int64_t whole;
    switch (find(tensor, TENSOR_TYPE, 0).integer) {
    case FLOAT:
        memcpy(&narrow, raw.data + 4 * i, 4);
        return (double)narrow;
    case DOUBLE:
        memcpy(&wide, raw.data + 8 * i, 8);
        return wide;
    case INT64:
        memcpy(&whole, raw.data + 8 * i, 8);
        return (double)whole;
    }
    CHECK(!"a known type");
    return 0;
}

static size_t element_count(struct span tensor)
{
    return find(tensor, TENSOR_RAW, 0).span.size / (find(tensor, TENSOR_TYPE, 0).integer == FLOAT ? 4 : 8);
}

/* A constant as its values, everything else by its name. */
static void print_input(const struct file *file, struct field name, struct ys_buf *out)
{
    struct span tensor = initializer(file, name);
    bool is_constant = tensor.size && memchr(name.span.data, '/', name.span.size);
    if (!is_constant) {
        ys_buf_printf(out, "%.*s", (int)name.span.size, (const char *)name.span.data);
        return;
    }
    for (size_t i = 0; i < element_count(tensor); i++)
        ys_buf_printf(out, "%s%g", i ? "," : "{", element(tensor, i));
    ys_buf_puts(out, "}");
}

static void print_attribute(struct span attribute, struct ys_buf *out)
{
    struct field name = find(attribute, 1, 0);
    float real;
    uint32_t bits = (uint32_t)find(attribute, 2, 0).integer;
    ys_buf_printf(out, " %.*s=", (int)name.span.size, (const char *)name.span.data);
    switch (find(attribute, 20, 0).integer) {
    case 1:
        memcpy(&real, &bits, sizeof real);
        ys_buf_printf(out, "%g", (double)real);
        return;
    case 2:
        ys_buf_printf(out, "%lld", (long long)find(attribute, 3, 0).integer);
        return;
    case 3:
        ys_buf_printf(out, "%.*s", (int)find(attribute, 4, 0).span.size, (const char *)find(attribute, 4, 0).span.data);
        return;
    case 7:
        for (size_t i = 0; find(attribute, 8, i).number; i++)
            ys_buf_printf(out, "%s%lld", i ? "," : "", (long long)find(attribute, 8, i).integer);
        return;
    }
    CHECK(!"a known type of attribute");
}

/* "Conv(nv c.w c.b) -> cv kernel_shape=3,3 ...\n" */
static void print_node(const struct file *file, struct span node, struct ys_buf *out)
{
    struct field op = find(node, 4, 0), name;
    ys_buf_printf(out, "%.*s(", (int)op.span.size, (const char *)op.span.data);
    for (size_t i = 0; (name = find(node, 1, i)).number; i++) {
        ys_buf_puts(out, i ? " " : "");
        print_input(file, name, out);
    }
    ys_buf_puts(out, ") ->");
    for (size_t i = 0; (name = find(node, 2, i)).number; i++)
        ys_buf_printf(out, " %.*s", (int)name.span.size, (const char *)name.span.data);
    for (size_t i = 0; (name = find(node, 5, i)).number; i++)
        print_attribute(name.span, out);
    ys_buf_puts(out, "\n");
}

static bool read_file(const char *path, struct file *file)
{
    *file = (struct file){{0}};
    if (!CHECK(ys_fs_read(path, 1 << 26, &file->bytes) == YS_OK))
        return false;
    file->model = (struct span){(const unsigned char *)file->bytes.data, file->bytes.size};
    file->graph = find(file->model, 7, 0).span;
    return CHECK(file->graph.size > 0);
}

static ys_status write_graph(const struct ys_graph *graph, enum ys_dtype dtype, const char *path)
{
    struct ys_safetensors *weights = NULL;
    char hash[65];
    const char *values = scratch("onnx.safetensors");
    YS_TRY(ys_graph_write_weights(graph, 1, values, hash));
    YS_TRY(ys_safetensors_open(values, &weights));
    ys_status status = ys_onnx_write(graph, weights, dtype, path);
    ys_safetensors_close(weights);
    return status;
}

/* RIGHT with its Relu, which reads cv of shape (N, 2, 6, 6) and makes rv, replaced: the nodes that stand in its place.
 * Borrowed until the next call. */
static const char *instead_of_relu(const char *nodes, enum ys_dtype dtype)
{
    static char text[1024];
    struct ys_graph *graph = NULL;
    struct file file;
    struct ys_buf out = {0};
    snprintf(text, sizeof text, "error: ");
    const char *path = scratch("instead.onnx");
    if (read_changed("{'op':'Relu','name':'r','in':['cv'],'out':['rv']}", nodes, &graph) != YS_OK ||
        write_graph(graph, dtype, path) != YS_OK) {
        snprintf(text, sizeof text, "error: %s", ys_error());
        ys_graph_free(graph);
        return text;
    }
    if (read_file(path, &file)) {
        struct field node;
        bool inside = false;
        for (size_t i = 0; (node = find(file.graph, GRAPH_NODE, i)).number; i++) {
            bool is_next = is_text(find(node.span, 3, 0), "p");
            if (inside && !is_next)
                print_node(&file, node.span, &out);
            inside = !is_next && (inside || is_text(find(node.span, 3, 0), "c"));
        }
        snprintf(text, sizeof text, "%s", ys_buf_text(&out));
    }
    ys_buf_free(&out);
    ys_buf_free(&file.bytes);
    ys_graph_free(graph);
    return text;
}

static void a_network_becomes_nodes_in_its_order(void)
{
    struct ys_graph *graph = NULL;
    struct file file;
    struct ys_buf out = {0};
    struct field node;
    const char *path = scratch("tiny.onnx");
    REQUIRE(read_text(RIGHT, &graph) == YS_OK);
    REQUIRE(write_graph(graph, YS_F32, path) == YS_OK);
    REQUIRE(read_file(path, &file));
    for (size_t i = 0; (node = find(file.graph, GRAPH_NODE, i)).number; i++)
        print_node(&file, node.span, &out);
    CHECK_TEXT(ys_buf_text(&out),
               "Cast(x) -> x/cast to=1\n"
               "Mul(x/cast {0.5}) -> n/scaled\n"
               "Sub(n/scaled {0.25}) -> n/centred\n"
               "Div(n/centred {2}) -> nv\n"
               "Conv(nv c.w c.b) -> cv kernel_shape=3,3 strides=1,1 dilations=1,1 pads=1,1,1,1 group=1\n"
               "Relu(cv) -> rv\n"
               "MaxPool(rv) -> pv kernel_shape=2,2 strides=2,2 dilations=1,1 pads=0,0,0,0\n"
               "Flatten(pv) -> fv axis=1\n"
               "Gemm(fv g.w g.b) -> gv transB=1\n");
    ys_buf_free(&out);
    ys_buf_free(&file.bytes);
    ys_graph_free(graph);
}

/* "x:2 N 1 6 6" */
static void check_value(struct span value, const char *expected)
{
    struct ys_buf out = {0};
    struct field name = find(value, 1, 0), dim;
    struct span tensor = find(find(value, 2, 0).span, 1, 0).span, shape = find(tensor, 2, 0).span;
    ys_buf_printf(&out, "%.*s:%d", (int)name.span.size, (const char *)name.span.data, (int)find(tensor, 1, 0).integer);
    for (size_t i = 0; (dim = find(shape, 1, i)).number; i++) {
        struct field symbol = find(dim.span, 2, 0);
        if (symbol.number)
            ys_buf_printf(&out, " %.*s", (int)symbol.span.size, (const char *)symbol.span.data);
        else
            ys_buf_printf(&out, " %d", (int)find(dim.span, 1, 0).integer);
    }
    CHECK_TEXT(ys_buf_text(&out), expected);
    ys_buf_free(&out);
}

static void the_file_says_version_input_and_output(void)
{
    struct ys_graph *graph = NULL;
    struct file file;
    REQUIRE(read_text(RIGHT, &graph) == YS_OK);
    for (int pass = 0; pass < 2; pass++) {
        const char *path = scratch("head.onnx");
        REQUIRE(write_graph(graph, pass ? YS_F64 : YS_F32, path) == YS_OK);
        REQUIRE(read_file(path, &file));
        CHECK_INT(find(file.model, 1, 0).integer, 9);
        CHECK(is_text(find(file.model, 2, 0), "yardstick"));
        struct span opset = find(file.model, 8, 0).span;
        CHECK_INT(find(opset, 2, 0).integer, 19);
        CHECK(is_text(find(opset, 1, 0), ""));
        CHECK(is_text(find(file.graph, GRAPH_NAME, 0), "tiny"));
        check_value(find(file.graph, GRAPH_INPUT, 0).span, "x:2 N 1 6 6");
        check_value(find(file.graph, GRAPH_OUTPUT, 0).span, pass ? "gv:11 N 3" : "gv:1 N 3");
        ys_buf_free(&file.bytes);
    }
    ys_graph_free(graph);
}

static void parameters_are_those_of_the_weights_file(void)
{
    struct ys_graph *graph = NULL;
    struct ys_safetensors *weights = NULL;
    struct file file;
    REQUIRE(read_text(RIGHT, &graph) == YS_OK);
    for (int pass = 0; pass < 2; pass++) {
        const char *path = scratch("weights.onnx");
        REQUIRE(write_graph(graph, pass ? YS_F64 : YS_F32, path) == YS_OK);
        REQUIRE(ys_safetensors_open(scratch("onnx.safetensors"), &weights) == YS_OK);
        REQUIRE(read_file(path, &file));
        for (size_t p = 0; p < graph->param_count; p++) {
            const struct ys_param *param = &graph->params[p];
            const struct ys_tensor *values = ys_safetensors_find(weights, param->name);
            struct field name = {.span = {(const unsigned char *)param->name, strlen(param->name)}};
            struct span tensor = initializer(&file, name);
            REQUIRE(tensor.size > 0);
            CHECK_INT(find(tensor, TENSOR_TYPE, 0).integer, pass ? DOUBLE : FLOAT);
            CHECK_INT(element_count(tensor), ys_tensor_count(values));
            for (size_t i = 0; i < param->rank; i++)
                CHECK_INT(find(tensor, TENSOR_DIMS, i).integer, param->shape[i]);
            CHECK(!find(tensor, TENSOR_DIMS, param->rank).number);
            for (size_t i = 0; i < ys_tensor_count(values); i++)
                CHECK(element(tensor, i) == ys_tensor_value(values, i));
        }
        ys_buf_free(&file.bytes);
        ys_safetensors_close(weights);
    }
    ys_graph_free(graph);
}

static void operators_become_their_counterparts(void)
{
    static const struct {
        const char *nodes, *expected;
    } cases[] = {
        {"{'op':'LRN','name':'r','in':['cv'],'out':['rv'],'attrs':{'size':3,'alpha':0.5,'beta':0.75,'bias':2}}",
         "LRN(cv) -> rv alpha=0.5 beta=0.75 bias=2 size=3\n"},
        {"{'op':'Clip','name':'r','in':['cv'],'out':['rv'],'attrs':{'min':0,'max':6}}", "Clip(cv {0} {6}) -> rv\n"},
        {"{'op':'LeakyRelu','name':'r','in':['cv'],'out':['rv'],'attrs':{'alpha':0.25}}",
         "LeakyRelu(cv) -> rv alpha=0.25\n"},
        {"{'op':'Tanh','name':'r','in':['cv'],'out':['rv']}", "Tanh(cv) -> rv\n"},
        {"{'op':'Sigmoid','name':'r','in':['cv'],'out':['rv']}", "Sigmoid(cv) -> rv\n"},
        {"{'op':'Dropout','name':'r','in':['cv'],'out':['rv'],'attrs':{'ratio':0.5}}", "Dropout(cv {0.5}) -> rv\n"},
        {"{'op':'Softmax','name':'r','in':['cv'],'out':['rv'],'attrs':{'axis':1}}", "Softmax(cv) -> rv axis=1\n"},
        {"{'op':'LogSoftmax','name':'r','in':['cv'],'out':['rv'],'attrs':{'axis':3}}", "LogSoftmax(cv) -> rv axis=3\n"},
        {"{'op':'Add','name':'r','in':['cv','cv'],'out':['rv']}", "Add(cv cv) -> rv\n"},
        {"{'op':'Mul','name':'r','in':['cv','cv'],'out':['rv']}", "Mul(cv cv) -> rv\n"},
        {"{'op':'Sub','name':'r','in':['cv','cv'],'out':['rv']}", "Sub(cv cv) -> rv\n"},
        {"{'op':'Div','name':'r','in':['cv','cv'],'out':['rv']}", "Div(cv cv) -> rv\n"},
        {"{'op':'Transpose','name':'t','in':['cv'],'out':['tv'],'attrs':{'perm':[0,2,3,1]}},"
         "{'op':'Mul','name':'m','in':['tv'],'out':['mv'],'params':{'weight':'c.b'}},"
         "{'op':'Transpose','name':'r','in':['mv'],'out':['rv'],'attrs':{'perm':[0,3,1,2]}}",
         "Transpose(cv) -> tv perm=0,2,3,1\nMul(tv c.b) -> mv\nTranspose(mv) -> rv perm=0,3,1,2\n"},
        {"{'op':'Pad','name':'a','in':['cv'],'out':['av'],'attrs':{'pads':[0,0,1,0,0,0,0,0],'value':0.5}},"
         "{'op':'Pad','name':'b','in':['av'],'out':['bv'],'attrs':{'mode':'edge','pads':[0,0,0,0,0,0,0,1]}},"
         "{'op':'MaxPool','name':'r','in':['bv'],'out':['rv'],'attrs':{'kernel_shape':[2,2]}}",
         "Pad(cv {0,0,1,0,0,0,0,0} {0.5}) -> av mode=constant\nPad(av {0,0,0,0,0,0,0,1}) -> bv mode=edge\n"
         "MaxPool(bv) -> rv kernel_shape=2,2 strides=1,1 dilations=1,1 pads=0,0,0,0\n"},
        {"{'op':'HardSigmoid','name':'r','in':['cv'],'out':['rv'],'attrs':{'alpha':0.25,'beta':0.5}}",
         "HardSigmoid(cv) -> rv alpha=0.25 beta=0.5\n"},
        {"{'op':'Sqrt','name':'r','in':['cv'],'out':['rv']}", "Sqrt(cv) -> rv\n"},
        {"{'op':'Transpose','name':'t','in':['cv'],'out':['tv'],'attrs':{'perm':[0,2,3,1]}},"
         "{'op':'LayerNormalization','name':'l','in':['tv'],'out':['lv'],'attrs':{'axis':3,'epsilon':0.25},"
         "'params':{'weight':'c.b'}},"
         "{'op':'Transpose','name':'r','in':['lv'],'out':['rv'],'attrs':{'perm':[0,3,1,2]}}",
         "Transpose(cv) -> tv perm=0,2,3,1\nLayerNormalization(tv c.b) -> lv axis=3 epsilon=0.25\n"
         "Transpose(lv) -> rv perm=0,3,1,2\n"},
        {"{'op':'Pow','name':'r','in':['cv'],'out':['rv'],'attrs':{'exponent':1.5}}", "Pow(cv {1.5}) -> rv\n"},
        {"{'op':'Swish','name':'r','in':['cv'],'out':['rv']}", "Sigmoid(cv) -> r/sigmoid\nMul(cv r/sigmoid) -> rv\n"},
        {"{'op':'Gelu','name':'r','in':['cv'],'out':['rv']}",
         "Div(cv {1.41421}) -> r/inner\nErf(r/inner) -> r/curve\nAdd(r/curve {1}) -> r/lifted\n"
         "Mul(cv {0.5}) -> r/product\nMul(r/product r/lifted) -> rv\n"},
        {"{'op':'Gelu','name':'r','in':['cv'],'out':['rv'],'attrs':{'approximate':'tanh'}}",
         "Pow(cv {3}) -> r/cube\nMul(r/cube {0.044715}) -> r/part\nAdd(cv r/part) -> r/sum\n"
         "Mul(r/sum {0.797885}) -> r/inner\nTanh(r/inner) -> r/curve\nAdd(r/curve {1}) -> r/lifted\n"
         "Mul(cv {0.5}) -> r/product\nMul(r/product r/lifted) -> rv\n"},
        {"{'op':'Transpose','name':'r','in':['cv'],'out':['rv'],'attrs':{'perm':[0,1,3,2]}}",
         "Transpose(cv) -> rv perm=0,1,3,2\n"},
        {"{'op':'Reshape','name':'r','in':['cv'],'out':['rv'],'attrs':{'shape':['N',2,6,6]}}",
         "Reshape(cv {0,2,6,6}) -> rv\n"},
        {"{'op':'Split','name':'s','in':['cv'],'out':['a','b'],'attrs':{'axis':2,'split':[2,4]}},"
         "{'op':'Concat','name':'r','in':['b','a'],'out':['rv'],'attrs':{'axis':2}}",
         "Split(cv {2,4}) -> a b axis=2\nConcat(b a) -> rv axis=2\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_TEXT(instead_of_relu(cases[i].nodes, YS_F32), cases[i].expected);
}

static void means_name_their_axes_in_an_input(void)
{
    CHECK_TEXT(instead_of_relu("{'op':'ReduceMean','name':'m','in':['cv'],'out':['mv'],'attrs':{'axes':[2,3],"
                               "'keepdims':1}},"
                               "{'op':'GlobalAveragePool','name':'ga','in':['cv'],'out':['gav']},"
                               "{'op':'GlobalMaxPool','name':'gm','in':['cv'],'out':['gmv']},"
                               "{'op':'Add','name':'s','in':['gav','gmv'],'out':['sv']},"
                               "{'op':'Add','name':'t','in':['sv','mv'],'out':['tv']},"
                               "{'op':'ReduceMean','name':'k','in':['tv'],'out':['kv'],'attrs':{'axes':[2],'keepdims':"
                               "0}},"
                               "{'op':'Reshape','name':'u','in':['kv'],'out':['uv'],'attrs':{'shape':['N',2,1,1]}},"
                               "{'op':'Concat','name':'v','in':['uv','uv','uv','uv','uv','uv'],'out':['vv'],'attrs':{"
                               "'axis':2}},"
                               "{'op':'Concat','name':'r','in':['vv','vv','vv','vv','vv','vv'],'out':['rv'],'attrs':{"
                               "'axis':3}}",
                               YS_F32),
               "ReduceMean(cv {2,3}) -> mv keepdims=1\n"
               "GlobalAveragePool(cv) -> gav\n"
               "GlobalMaxPool(cv) -> gmv\n"
               "Add(gav gmv) -> sv\n"
               "Add(sv mv) -> tv\n"
               "ReduceMean(tv {2}) -> kv keepdims=0\n"
               "Reshape(kv {0,2,1,1}) -> uv\n"
               "Concat(uv uv uv uv uv uv) -> vv axis=2\n"
               "Concat(vv vv vv vv vv vv) -> rv axis=3\n");
}

/* A pool of cv, 6 rows and columns, that keeps 2 or more of both. */
static const char *pool(const char *op, const char *attrs)
{
    char text[512];
    snprintf(text, sizeof text, "{'op':'%s','name':'r','in':['cv'],'out':['rv'],'attrs':{%s}}", op, attrs);
    const char *nodes = instead_of_relu(text, YS_F32);
    return nodes;
}

static void pools_get_their_windows_by_padding_alone(void)
{
    /* The Gemm of RIGHT wants 3x3 behind the MaxPool, so these make 6x6 or 7x7. */
    CHECK_TEXT(pool("MaxPool", "'kernel_shape':[3,3],'pads':[1,1,1,1]"),
               "MaxPool(cv) -> rv kernel_shape=3,3 strides=1,1 dilations=1,1 pads=1,1,1,1\n");
    /* ceil: (6 + 2 - 3) / 1 needs no rounding, so nothing is added; what no window sees is left out. */
    CHECK_TEXT(pool("MaxPool", "'kernel_shape':[3,3],'pads':[1,1,1,1],'ceil_mode':1"),
               "MaxPool(cv) -> rv kernel_shape=3,3 strides=1,1 dilations=1,1 pads=1,1,1,1\n");
    /* Windows of reach 3 that begin at -2 to 3: padding 2 is more than a kernel of 2 lets runtimes take. */
    CHECK_TEXT(pool("MaxPool", "'kernel_shape':[2,2],'dilations':[2,2],'pads':[2,2,0,0]"),
               "Pad(cv {0,0,2,2,0,0,0,0} {-inf}) -> r/padded\n"
               "MaxPool(r/padded) -> rv kernel_shape=2,2 strides=1,1 dilations=2,2 pads=0,0,0,0\n");
    CHECK_TEXT(pool("AveragePool", "'kernel_shape':[3,3],'pads':[1,1,1,1],'count_include_pad':1"),
               "AveragePool(cv) -> rv kernel_shape=3,3 strides=1,1 dilations=1,1 pads=1,1,1,1 count_include_pad=1\n");
    CHECK_TEXT(pool("AveragePool", "'kernel_shape':[1,1],'count_include_pad':1"),
               "AveragePool(cv) -> rv kernel_shape=1,1 strides=1,1 dilations=1,1 pads=0,0,0,0 count_include_pad=0\n");
}

/* The MaxPool of RIGHT, which reads rv of 6x6 and makes pv of 3x3, replaced by a pool with `attrs`. */
static const char *last_pool(const char *op, const char *attrs)
{
    static char text[512];
    char change[512];
    struct ys_graph *graph = NULL;
    struct file file = {{0}};
    struct ys_buf out = {0};
    struct field node;
    const char *path = scratch("pool.onnx");
    snprintf(change, sizeof change, "'op':'%s','name':'p','in':['rv'],'out':['pv'],'attrs':{%s}", op, attrs);
    ys_status status = read_changed("'op':'MaxPool','name':'p','in':['rv'],'out':['pv'],'attrs':{'kernel_shape':[2,2],"
                                    "'strides':[2,2]}",
                                    change, &graph);
    if (status == YS_OK)
        status = write_graph(graph, YS_F32, path);
    snprintf(text, sizeof text, "error: %s", ys_error());
    if (status == YS_OK && read_file(path, &file)) {
        for (size_t i = 0; (node = find(file.graph, GRAPH_NODE, i)).number; i++)
            if (is_text(find(node.span, 3, 0), "p") || is_text(find(node.span, 3, 0), "p/padded"))
                print_node(&file, node.span, &out);
        snprintf(text, sizeof text, "%s", ys_buf_text(&out));
    }
    ys_buf_free(&out);
    ys_buf_free(&file.bytes);
    ys_graph_free(graph);
    return text;
}

static void what_ceil_mode_adds_is_padding_that_never_counts(void)
{
    /* Windows of 3 at 0, 2, 4 of 6 pixels: the last reaches one pixel beyond. */
    CHECK_TEXT(last_pool("MaxPool", "'kernel_shape':[3,3],'strides':[2,2],'ceil_mode':1"),
               "MaxPool(rv) -> pv kernel_shape=3,3 strides=2,2 dilations=1,1 pads=0,0,1,1\n");
    CHECK_TEXT(last_pool("AveragePool", "'kernel_shape':[3,3],'strides':[2,2],'ceil_mode':1,'count_include_pad':1"),
               "AveragePool(rv) -> pv kernel_shape=3,3 strides=2,2 dilations=1,1 pads=0,0,1,1 count_include_pad=0\n");
    /* Of 4 at -1, 2, 5 -> 8 columns; the last begins at 5 and reaches 9: two beyond 6 and one of padding. */
    CHECK_TEXT(last_pool("AveragePool",
                         "'kernel_shape':[4,4],'strides':[3,3],'pads':[1,1,1,1],'ceil_mode':1,'count_include_pad':1"),
               "Pad(rv {0,0,1,1,0,0,1,1} {0}) -> p/padded\n"
               "AveragePool(p/padded) -> pv kernel_shape=4,4 strides=3,3 dilations=1,1 pads=0,0,2,2 "
               "count_include_pad=0\n");
    /* The same without counting: padding is padding. */
    CHECK_TEXT(last_pool("AveragePool", "'kernel_shape':[4,4],'strides':[3,3],'pads':[1,1,1,1],'ceil_mode':1"),
               "AveragePool(rv) -> pv kernel_shape=4,4 strides=3,3 dilations=1,1 pads=1,1,3,3 count_include_pad=0\n");
}

static void batch_norm_keeps_the_share_of_the_old(void)
{
    static const char text[] =
        "{'format':'yardstick-graph','version':1,'name':'bn','inputs':[{'name':'x','shape':['N',2],'dtype':'F32'}],"
        "'nodes':[{'op':'BatchNormalization','name':'b','in':['x'],'out':['v'],'attrs':{'epsilon':0.5,'momentum':0.25},"
        "'params':{'weight':'w','bias':'s','running_mean':'m','running_var':'q'}}],'params':["
        "{'name':'q','shape':[2],'role':'buffer','init':{'dist':'constant','value':1}},"
        "{'name':'w','shape':[2],'role':'weight','init':{'dist':'constant','value':1}},"
        "{'name':'s','shape':[2],'role':'weight','init':{'dist':'constant','value':0}},"
        "{'name':'m','shape':[2],'role':'buffer','init':{'dist':'constant','value':0}}],"
        "'output':'v','loss':'softmax_cross_entropy'}";
    static const char *const expected[] = {"BatchNormalization(x w s m q) -> v epsilon=0.5 momentum=0.75\n",
                                           "Cast(x) -> x/cast to=11\n"
                                           "BatchNormalization(x/cast w s m q) -> v epsilon=0.5 momentum=0.75\n"};
    struct ys_graph *graph = NULL;
    REQUIRE(read_text(text, &graph) == YS_OK);
    for (int pass = 0; pass < 2; pass++) {
        struct file file;
        struct ys_buf out = {0};
        struct field node;
        const char *path = scratch("bn.onnx");
        REQUIRE(write_graph(graph, pass ? YS_F64 : YS_F32, path) == YS_OK);
        REQUIRE(read_file(path, &file));
        for (size_t i = 0; (node = find(file.graph, GRAPH_NODE, i)).number; i++)
            print_node(&file, node.span, &out);
        CHECK_TEXT(ys_buf_text(&out), expected[pass]);
        ys_buf_free(&out);
        ys_buf_free(&file.bytes);
    }
    ys_graph_free(graph);
}

/* Two channels, each seen by one of two. */
static const char CONNECTED[] =
    "{'format':'yardstick-graph','version':1,'name':'two','inputs':[{'name':'x','shape':['N',2,1,1],'dtype':'F32'}],"
    "'nodes':[{'op':'Conv','name':'c','in':['x'],'out':['cv'],'attrs':{'kernel_shape':[1,1],'connections':[[0],[1]]},"
    "'params':{'weight':'w'}},{'op':'Flatten','name':'f','in':['cv'],'out':['fv']}],'params':["
    "{'name':'w','shape':[2,2,1,1],'role':'weight','init':{'dist':'constant','value':3}}],"
    "'output':'fv','loss':'softmax_cross_entropy'}";

static void absent_connections_are_zero_whatever_the_weights_say(void)
{
    static const float ones[4] = {1, 1, 1, 1};
    const struct ys_tensor tensor = {
        .name = "w", .dtype = YS_F32, .rank = 4, .shape = {2, 2, 1, 1}, .data = ones, .size_bytes = sizeof ones};
    struct ys_graph *graph = NULL;
    struct ys_safetensors *weights = NULL;
    struct file file;
    const char *path = scratch("two.onnx"), *values = scratch("two.safetensors");
    REQUIRE(read_text(CONNECTED, &graph) == YS_OK);
    REQUIRE(ys_safetensors_write(values, &tensor, 1, NULL) == YS_OK);
    REQUIRE(ys_safetensors_open(values, &weights) == YS_OK);
    REQUIRE(ys_onnx_write(graph, weights, YS_F32, path) == YS_OK);
    REQUIRE(read_file(path, &file));
    struct span found = find(file.graph, GRAPH_INITIALIZER, 0).span;
    CHECK_INT(element_count(found), 4);
    for (size_t i = 0; i < 4; i++)
        CHECK(element(found, i) == (i == 0 || i == 3));
    ys_buf_free(&file.bytes);
    ys_safetensors_close(weights);
    ys_graph_free(graph);
}

static void weights_that_do_not_fit_are_refused_and_leave_no_file(void)
{
    struct ys_graph *graph = NULL, *other = NULL;
    struct ys_safetensors *weights = NULL;
    char hash[65];
    const char *values = scratch("other.safetensors"), *path = scratch("other.onnx");
    REQUIRE(read_text(RIGHT, &graph) == YS_OK);
    REQUIRE(read_text(CONNECTED, &other) == YS_OK);
    REQUIRE(ys_graph_write_weights(other, 1, values, hash) == YS_OK);
    REQUIRE(ys_safetensors_open(values, &weights) == YS_OK);
    CHECK(ys_onnx_write(graph, weights, YS_F32, path) != YS_OK);
    CHECK_HAS(ys_error(), "c.w");
    CHECK(!ys_fs_exists(path));
    CHECK(ys_onnx_write(other, weights, YS_F32, scratch("no/such/folder/x.onnx")) == YS_EIO);
    CHECK_HAS(ys_error(), "no/such/folder");
    CHECK(ys_onnx_convert(scratch("missing.json"), values, YS_F32, path) != YS_OK);
    CHECK_HAS(ys_error(), "missing.json");
    ys_safetensors_close(weights);
    ys_graph_free(graph);
    ys_graph_free(other);
}

static void a_name_that_stands_for_two_things_is_refused(void)
{
    CHECK_HAS(instead_of_relu("{'op':'Relu','name':'u','in':['cv'],'out':['n/scaled']},"
                              "{'op':'Relu','name':'r','in':['n/scaled'],'out':['rv']}",
                              YS_F32),
              "\"n/scaled\" is the name of two things");
    CHECK_HAS(instead_of_relu("{'op':'Relu','name':'u','in':['cv'],'out':['g.w']},"
                              "{'op':'Relu','name':'r','in':['g.w'],'out':['rv']}",
                              YS_F32),
              "\"g.w\" is the name of two things");
}

static void a_network_of_two_gib_is_refused_before_its_weights_are_read(void)
{
    static const char text[] =
        "{'format':'yardstick-graph','version':1,'name':'huge','inputs':[{'name':'x','shape':['N',67108864],"
        "'dtype':'F32'}],'nodes':[{'op':'Gemm','name':'g','in':['x'],'out':['v'],'params':{'weight':'w'}}],'params':["
        "{'name':'w','shape':[8,67108864],'role':'weight','init':{'dist':'constant','value':0}}],"
        "'output':'v','loss':'softmax_cross_entropy'}";
    struct ys_graph *graph = NULL;
    REQUIRE(read_text(text, &graph) == YS_OK);
    CHECK(ys_onnx_write(graph, NULL, YS_F32, scratch("huge.onnx")) == YS_EUNSUPPORTED);
    CHECK_HAS(ys_error(), "huge has 2.00 GiB");
    CHECK(!ys_fs_exists(scratch("huge.onnx")));
    ys_graph_free(graph);
}

TAP_MAIN(TAP_CASE(a_network_becomes_nodes_in_its_order), TAP_CASE(the_file_says_version_input_and_output),
         TAP_CASE(parameters_are_those_of_the_weights_file), TAP_CASE(operators_become_their_counterparts),
         TAP_CASE(means_name_their_axes_in_an_input), TAP_CASE(pools_get_their_windows_by_padding_alone),
         TAP_CASE(what_ceil_mode_adds_is_padding_that_never_counts), TAP_CASE(batch_norm_keeps_the_share_of_the_old),
         TAP_CASE(absent_connections_are_zero_whatever_the_weights_say),
         TAP_CASE(weights_that_do_not_fit_are_refused_and_leave_no_file),
         TAP_CASE(a_name_that_stands_for_two_things_is_refused),
         TAP_CASE(a_network_of_two_gib_is_refused_before_its_weights_are_read))
