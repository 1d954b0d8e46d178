"""results.db, whose tables docs/store.md describes. It is opened for reading alone."""
from __future__ import annotations

import hashlib
import json
import pathlib
import sqlite3
import struct
from typing import Any, Iterator

from ._study import Row, Study

APPLICATION_ID = 1498633291
VERSION = 3

_COLUMNS = {
    "study": ("id", "name", "folder", "started_s", "ended_s", "status", "exit_code", "timing", "doc", "parts"),
    "host": ("study_id", "doc"),
    "trial": ("id", "study_id", "position", "name", "doc", "parts"),
    "proof": ("trial_id", "verdict", "doc"),
    "run": ("id", "trial_id", "round", "attempt", "status", "stored_s", "facts", "parts"),
    "series": ("run_id", "position", "name", "is_real", "count", "data"),
    "metric": ("run_id", "position", "name", "value", "reason", "note", "cpu_s", "steady", "steady_from", "left", "windows", "form"),
}
_EARLIER = {"metric": ("run_id", "position", "name", "value", "doc")}  # version 1 and 2
_TEXT_OF = {"form": "(SELECT doc FROM metric_form WHERE id = form)"}


def _sum_of(table: str, values: list[Any]) -> int:
    """The checksum of a row: of its table's name and of each value with its type."""
    told = hashlib.sha256()
    for value in [table] + values:
        if value is None:
            told.update(b"n" + bytes(8))
        elif isinstance(value, int):
            told.update(b"i" + struct.pack("<q", value))
        elif isinstance(value, float):
            told.update(b"r" + struct.pack("<d", value + 0.0))
        else:
            data = value.encode() if isinstance(value, str) else value
            told.update((b"t" if isinstance(value, str) else b"b") + struct.pack("<q", len(data)) + data)
    return int(struct.unpack("<q", told.digest()[:8])[0])


class _Database:
    def __init__(self, path: str):
        self.path = path
        self.link = sqlite3.connect(pathlib.Path(path).absolute().as_uri() + "?mode=ro", uri=True)
        try:
            application, = self.link.execute("PRAGMA application_id").fetchone()
            self.version, = self.link.execute("PRAGMA user_version").fetchone()
        except sqlite3.DatabaseError as error:
            raise ValueError("%s is damaged: %s" % (path, error)) from None
        if application != APPLICATION_ID:
            raise ValueError("%s is a database, but holds no results of yardstick" % path)
        if self.version > VERSION:
            raise ValueError("%s was written by a newer yardstick (tables of version %d, this reader knows %d)" % (path, self.version, VERSION))

    def rows(self, table: str, where: str, value: int, order: str) -> Iterator[Row]:
        """Rows of a table that are as they were stored; ValueError names one that is not. Tables of version 1 have no
        checksums."""
        columns = _EARLIER.get(table, _COLUMNS[table]) if self.version < 3 else _COLUMNS[table]
        if self.version < 2:
            columns = tuple(column for column in columns if column != "parts")
        told = ", ".join([_TEXT_OF.get(column, column) for column in columns] + ["sum" if self.version >= 2 else "NULL"])
        try:
            for found in self.link.execute("SELECT %s FROM %s WHERE %s = ? ORDER BY %s" % (told, table, where, order), (value,)):
                values = list(found[:-1])
                if self.version >= 2 and found[-1] != _sum_of(table, values):
                    raise ValueError("%s: a row of %s (%s %s) is damaged: it is not as it was stored" % (self.path, table, columns[0], values[0]))
                yield dict(zip(columns, values))
        except sqlite3.DatabaseError as error:
            raise ValueError("%s is damaged: %s" % (self.path, error)) from None

    def close(self) -> None:
        self.link.close()


def _decode(row: Row) -> list[Any]:
    """Doubles, or integers as differences of their differences, zigzag-coded, seven bits a byte."""
    data: bytes = row["data"]
    if row["is_real"]:
        return list(struct.unpack("<%dd" % row["count"], data))
    values, last, difference, code, shift = [], 0, 0, 0, 0
    for byte in data:
        code |= (byte & 0x7F) << shift
        shift += 7
        if byte & 0x80:
            continue
        difference = (difference + ((code >> 1) ^ -(code & 1))) & 0xFFFFFFFFFFFFFFFF
        last = (last + difference) & 0xFFFFFFFFFFFFFFFF
        values.append(last - (1 << 64) if last >> 63 else last)
        code = shift = 0
    if len(values) != row["count"] or shift:
        raise ValueError("the series %s is damaged: it has %d numbers, not %d" % (row["name"], len(values), row["count"]))
    return values


def _metric(row: Row) -> Row:
    """Its object: the form, in which the columns take the place of blanks; of earlier versions the text of it."""
    if "doc" in row:
        return dict(json.loads(row["doc"]))
    told = dict(json.loads(row["form"]))
    for name in _COLUMNS["metric"][3:-1]:
        value, blank = row[name], told.get(name)
        if isinstance(value, float):
            told[name] = int(value) if isinstance(blank, int) else value or blank
        elif value is not None:
            told[name] = bool(value) if name == "steady" else json.loads(value) if name == "windows" else value
    return told


def _run(database: _Database, name: str, row: Row) -> Row:
    metrics = {metric["name"]: _metric(metric) for metric in database.rows("metric", "run_id", row["id"], "position")}
    series = {one["name"]: _decode(one) for one in database.rows("series", "run_id", row["id"], "position")}
    return {"run_id": row["id"], "round": row["round"], "attempt": row["attempt"], "status": row["status"],
            "facts": json.loads(row["facts"]), "metrics": metrics, "trial": name, "series": series}


def _find(database: _Database, study: str | int) -> int:
    """The number of the study that is meant."""
    rows = database.link.execute("SELECT id, name, folder FROM study ORDER BY id").fetchall()
    for number, name, folder in reversed(rows):
        if study == "last" or str(study) in (str(number), name, folder):
            return int(number)
    raise KeyError("%s: there is no study %s" % (database.path, study))


def studies(path: str) -> list[Row]:
    """What a results.db holds: a row a study with id, name, folder, started_s and status."""
    database = _Database(path)
    try:
        found = database.link.execute("SELECT id, name, folder, started_s, status FROM study ORDER BY id").fetchall()
        return [dict(zip(("id", "name", "folder", "started_s", "status"), row)) for row in found]
    finally:
        database.close()


def read_database(path: str, study: str | int) -> Study:
    database = _Database(path)
    try:
        number = _find(database, study)
        row = next(database.rows("study", "id", number, "id"))
        document = json.loads(row["doc"])
        document.update({name: row[name] for name in ("id", "name", "folder", "started_s", "ended_s", "status", "exit_code")})
        document["timing"] = json.loads(row["timing"]) if row["timing"] else None
        host: Row = {}
        for found in database.rows("host", "study_id", number, "study_id"):
            host = json.loads(found["doc"])
        trials: list[Row] = []
        runs: list[Row] = []
        for found in database.rows("trial", "study_id", number, "position"):
            proof = [json.loads(one["doc"]) for one in database.rows("proof", "trial_id", found["id"], "trial_id")]
            trials.append(dict(json.loads(found["doc"]), id=found["name"], index=found["position"], trial_id=found["id"],
                               proof=proof[0] if proof else None))
            runs.extend(_run(database, found["name"], one) for one in database.rows("run", "trial_id", found["id"], "round, attempt"))
        return Study(document, host, trials, runs)
    finally:
        database.close()
