"""ONNX files written field by field, for what no library would write."""
import struct

FLOAT, INT8, INT64, FLOAT16, BFLOAT16 = 1, 3, 7, 10, 16


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, value):
    """Of an integer, a float, or bytes and text; negative integers are of 64 bits."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value & (1 << 64) - 1)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name, shape, values=None, type_=FLOAT, external=None):
    """`values`: a list of numbers, or bytes as they are; `external`: what says where they lie."""
    out = b"".join(field(1, extent) for extent in shape) + field(2, type_) + field(8, name)
    if external:
        return out + b"".join(field(13, field(1, key) + field(2, text)) for key, text in external.items()) + field(14, 1)
    if not isinstance(values, bytes):
        values = struct.pack("<%d%s" % (len(values), {INT64: "q", FLOAT: "f"}[type_]), *values)
    return out + field(9, values)


def attribute(name, value):
    if isinstance(value, float):
        return field(1, name) + field(2, value) + field(20, 1)
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    if isinstance(value, str):
        return field(1, name) + field(4, value) + field(20, 3)
    if isinstance(value, bytes):  # a graph
        return field(1, name) + field(6, value) + field(20, 5)
    return field(1, name) + b"".join(field(8, number) for number in value) + field(20, 7)


def node(op, inputs, outputs, domain="", **attributes):
    out = b"".join(field(1, name) for name in inputs.split()) + b"".join(field(2, name) for name in outputs.split())
    out += field(3, outputs.split()[0]) + field(4, op)
    out += b"".join(field(5, attribute(name, value)) for name, value in attributes.items())
    return out + (field(7, domain) if domain else b"")


def value(name, shape, type_=FLOAT):
    dims = b"".join(field(1, field(2, "n") if extent is None else field(1, extent)) for extent in shape)
    return field(1, name) + field(2, field(1, field(1, type_) + field(2, dims)))


def model(nodes, tensors, inputs=(("x", (None, 4)),), outputs=("y",), opset=17, input_type=FLOAT):
    graph = b"".join(field(1, one) for one in nodes) + field(2, "g") + b"".join(field(5, one) for one in tensors)
    graph += b"".join(field(11, value(name, shape, input_type)) for name, shape in inputs)
    graph += b"".join(field(12, value(name, ())) for name in outputs)
    return field(1, 8) + field(7, graph) + field(8, field(2, opset))
