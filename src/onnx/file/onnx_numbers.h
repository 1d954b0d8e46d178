/* The numbers by which onnx.proto calls its fields and types: of the writer and of the reader. Source: onnx.proto at
 * onnx.ai. Of this room alone. */
#ifndef YS_ONNX_FILE_ONNX_NUMBERS_H
#define YS_ONNX_FILE_ONNX_NUMBERS_H

enum { /* ModelProto */
       YS_PROTO_MODEL_IR_VERSION = 1,
       YS_PROTO_MODEL_PRODUCER_NAME = 2,
       YS_PROTO_MODEL_PRODUCER_VERSION = 3,
       YS_PROTO_MODEL_GRAPH = 7,
       YS_PROTO_MODEL_OPSET = 8,
       YS_PROTO_MODEL_FUNCTION = 25
};
enum { YS_PROTO_OPSET_DOMAIN = 1, YS_PROTO_OPSET_VERSION = 2 }; /* OperatorSetIdProto */
enum {                                                          /* GraphProto */
       YS_PROTO_GRAPH_NODE = 1,
       YS_PROTO_GRAPH_NAME = 2,
       YS_PROTO_GRAPH_INITIALIZER = 5,
       YS_PROTO_GRAPH_INPUT = 11,
       YS_PROTO_GRAPH_OUTPUT = 12,
       YS_PROTO_GRAPH_SPARSE = 15
};
enum { /* NodeProto */
       YS_PROTO_NODE_INPUT = 1,
       YS_PROTO_NODE_OUTPUT = 2,
       YS_PROTO_NODE_NAME = 3,
       YS_PROTO_NODE_OP_TYPE = 4,
       YS_PROTO_NODE_ATTRIBUTE = 5,
       YS_PROTO_NODE_DOMAIN = 7
};
enum { /* AttributeProto */
       YS_PROTO_ATTRIBUTE_NAME = 1,
       YS_PROTO_ATTRIBUTE_F = 2,
       YS_PROTO_ATTRIBUTE_I = 3,
       YS_PROTO_ATTRIBUTE_S = 4,
       YS_PROTO_ATTRIBUTE_T = 5,
       YS_PROTO_ATTRIBUTE_G = 6,
       YS_PROTO_ATTRIBUTE_FLOATS = 7,
       YS_PROTO_ATTRIBUTE_INTS = 8,
       YS_PROTO_ATTRIBUTE_TYPE = 20
};
enum {
    YS_PROTO_IS_FLOAT = 1,
    YS_PROTO_IS_INT = 2,
    YS_PROTO_IS_STRING = 3,
    YS_PROTO_IS_INTS = 7
};     /* AttributeProto.AttributeType */
enum { /* TensorProto */
       YS_PROTO_TENSOR_DIMS = 1,
       YS_PROTO_TENSOR_TYPE = 2,
       YS_PROTO_TENSOR_SEGMENT = 3,
       YS_PROTO_TENSOR_FLOAT_DATA = 4,
       YS_PROTO_TENSOR_INT32_DATA = 5,
       YS_PROTO_TENSOR_INT64_DATA = 7,
       YS_PROTO_TENSOR_NAME = 8,
       YS_PROTO_TENSOR_RAW = 9,
       YS_PROTO_TENSOR_DOUBLE_DATA = 10,
       YS_PROTO_TENSOR_EXTERNAL = 13,
       YS_PROTO_TENSOR_LOCATION = 14
};
enum { YS_PROTO_ENTRY_KEY = 1, YS_PROTO_ENTRY_VALUE = 2 };    /* StringStringEntryProto */
enum { YS_PROTO_VALUE_NAME = 1, YS_PROTO_VALUE_TYPE = 2 };    /* ValueInfoProto */
enum { YS_PROTO_TYPE_TENSOR = 1 };                            /* TypeProto */
enum { YS_PROTO_TENSOR_ELEM = 1, YS_PROTO_TENSOR_SHAPE = 2 }; /* TypeProto.Tensor */
enum { YS_PROTO_SHAPE_DIM = 1 };                              /* TensorShapeProto */
enum { YS_PROTO_DIM_VALUE = 1, YS_PROTO_DIM_PARAM = 2 };      /* TensorShapeProto.Dimension */

enum ys_onnx_dtype { /* TensorProto.DataType */
                     YS_ONNX_FLOAT = 1,
                     YS_ONNX_UINT8 = 2,
                     YS_ONNX_INT8 = 3,
                     YS_ONNX_INT32 = 6,
                     YS_ONNX_INT64 = 7,
                     YS_ONNX_BOOL = 9,
                     YS_ONNX_FLOAT16 = 10,
                     YS_ONNX_DOUBLE = 11,
                     YS_ONNX_UINT32 = 12,
                     YS_ONNX_BFLOAT16 = 16
};

#endif
