"""Reads what yardstick measured: `results.db`, or what `yardstick export` writes, as rows and as pandas frames.

    import yardstick_results
    study = yardstick_results.read("yardstick-results/results.db")   # the last study; or "study.jsonl"
    study.runs()                # a dict a run: trial, round, status, every metric
    study.frame()               # the same as a pandas.DataFrame
    study.series("step_loss")   # a dict a value: trial, round, attempt, index, value
    study.write_parquet("out")  # trials, runs, metrics and series as files
    study.write_tensorboard("logs")

Reading and write_tensorboard() need the standard library alone, frames need pandas, and write_parquet() pyarrow as well.
"""
from __future__ import annotations

import os

from ._database import read_database, studies
from ._export import read_export
from ._study import Study

__all__ = ["Study", "read", "studies"]

_DATABASE = b"SQLite format 3\x00"


def read(path: str | os.PathLike[str], study: str | int = "last") -> Study:
    """The study in a file that `yardstick export` wrote, or one of a results.db (or of the folder that holds it): `study` is
    "last", its number, its name or its folder, as on the command line.

    ValueError: the file is neither, was cut short or changed (an export has a chain of hashes over its lines, each row of the
    database a checksum). KeyError: there is no such study."""
    name = os.fspath(path)
    if os.path.isdir(name):
        name = os.path.join(name, "results.db")
    with open(name, "rb") as file:
        is_database = file.read(len(_DATABASE)) == _DATABASE
    return read_database(name, study) if is_database else read_export(name)
