"""Arrays in files of the format safetensors, for the Python adapters."""

import contextlib
import json
import os

import numpy as np

DTYPES = {"F64": "<f8", "F32": "<f4", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "U32": "<u4", "U8": "u1"}
_NAMES = {np.dtype(code): name for name, code in DTYPES.items() if name != "BF16"}


def widen_bfloat16(bits):
    """The float32 values of bfloat16 numbers that are given as uint16: their upper halves."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def read_safetensors(path):
    """The tensors of a file, by name: read-only arrays over a mapping of the file; BF16 is widened to float32."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    start = 8 + int(data[:8].view("<u8")[0])
    if start > data.size:
        raise ValueError("%s: the header is longer than the file" % path)
    header = json.loads(data[8:start].tobytes().decode("utf-8"))
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        dtype = np.dtype(DTYPES[entry["dtype"]])
        values = data[start + begin:start + end].view(np.ndarray).view(dtype)
        tensors[name] = (widen_bfloat16(values) if entry["dtype"] == "BF16" else values).reshape(entry["shape"])
    return tensors


def write_safetensors(path, tensors, dtype=None):
    """Writes arrays by name, as `dtype` if one is given. The file appears whole or not at all. Arrays of another type or
    order are converted one at a time, as they are written."""
    # Wide types first, so that every tensor lies at a multiple of its own size.
    arrays = sorted(((name, np.asarray(value)) for name, value in tensors.items()),
                    key=lambda item: -item[1].dtype.itemsize)
    header, end = {}, 0
    for name, array in arrays:
        kind = np.dtype(dtype or array.dtype)
        offsets = [end, end + array.size * kind.itemsize]
        header[name] = {"dtype": _NAMES[kind], "shape": list(array.shape), "data_offsets": offsets}
        end = offsets[1]
    text = json.dumps(header, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    temporary = path + ".part"  # nobody else writes where one adapter was told to save
    try:
        with open(temporary, "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for _, array in arrays:
                file.write(np.asarray(array, dtype, order="C").data)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
