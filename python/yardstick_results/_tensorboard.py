"""TensorBoard's event files, written without it: records of TensorFlow (tensorflow/core/lib/io/record_writer.h), each an
Event (tensorflow/core/util/event.proto) with scalars in the encoding of protocol buffers."""
from __future__ import annotations

import math
import os
import re
import struct
from typing import TYPE_CHECKING, Iterable, List, Tuple

if TYPE_CHECKING:
    from ._study import Row, Study

Scalar = Tuple[float, int, str, float]  # wall time in seconds since 1970, step, tag, value


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC = _crc_table()


def crc32c(data: bytes) -> int:
    """Castagnoli's, as RFC 3720 has it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _masked(data: bytes) -> bytes:
    """Turned and added to, so that a checksum of data that hold checksums is none of theirs."""
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + _masked(length) + data + _masked(data)


def _varint(value: int) -> bytes:
    value &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _bytes_field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _event(wall_s: float, step: int, body: bytes) -> bytes:
    return b"\x09" + struct.pack("<d", wall_s) + b"\x10" + _varint(step) + body  # fields 1 (double) and 2 (int64)


def _scalar(tag: str, value: float) -> bytes:
    """Event.summary (5) of one Summary.Value (1): tag (1) and simple_value (2, float)."""
    return _bytes_field(5, _bytes_field(1, _bytes_field(1, tag.encode()) + b"\x15" + struct.pack("<f", value)))


def _float(value: float) -> float:
    """What a float of 32 bits can hold: what is too large for it is infinite there."""
    try:
        struct.pack("<f", value)
        return value
    except OverflowError:
        return math.copysign(math.inf, value)


def write_events(folder: str, started_s: float, scalars: Iterable[Scalar]) -> str:
    """One event file; its name has no random part, so the same study gives the same files."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "events.out.tfevents.%010d.yardstick" % int(started_s))
    with open(path, "wb") as file:
        file.write(_record(_event(started_s, 0, _bytes_field(3, b"brain.Event:2"))))
        for wall_s, step, tag, value in scalars:
            file.write(_record(_event(wall_s, step, _scalar(tag, _float(value)))))
    return path


def _blocks(run: Row, started_s: float, series: dict[str, list[float]]) -> list[Scalar]:
    """Seconds a step of each block, at its last step."""
    starts, ends, counts = (series.get("block_%s" % name) or [] for name in ("start_ns", "end_ns", "count"))
    firsts = series.get("block_first") or []
    return [(started_s + (end - ends[0]) * 1e-9, int(first + count - 1), "step_s", (end - start) * 1e-9 / max(count, 1))
            for start, end, count, first in zip(starts, ends, counts, firsts)]


def _of_run(run: Row, started_s: float) -> list[Scalar]:
    from ._study import number

    series = {name: [number(value) for value in values] for name, values in (run.get("series") or {}).items()}
    scalars = [(started_s, step, "loss", value) for step, value in enumerate(series.get("step_loss") or [])]
    return scalars + _blocks(run, started_s, series)


def _name(text: str) -> str:
    """A folder's name of a trial's, which may hold what no folder's name does."""
    return re.sub(r"[^A-Za-z0-9._=,@+-]", "_", text).strip(".") or "_"


def write_tensorboard(study: Study, folder: str) -> list[str]:
    started_s = float(study.document.get("started_s") or 0)
    paths: List[str] = []
    taken: set[str] = set()
    for trial in study.trials:
        called = _name(trial["id"])
        while called in taken:
            called += "_"
        taken.add(called)
        runs = [run for run in study.raw_runs if run["trial"] == trial["id"]]
        place = os.path.join(folder, called)
        told: list[Scalar] = [(started_s, run["round"], name, float(metric["value"])) for run in runs for name, metric in sorted(run["metrics"].items())
                              if isinstance(metric.get("value"), (int, float)) and "unit" in metric]
        if told:
            paths.append(write_events(place, started_s, told))
        for run in runs:
            scalars = _of_run(run, started_s)
            if scalars:
                name = "round-%d" % run["round"] + (".%d" % run["attempt"] if run["attempt"] else "")
                paths.append(write_events(os.path.join(place, name), started_s, scalars))
    return paths
