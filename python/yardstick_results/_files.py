"""Parquet files."""
from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

    from ._study import Row, Study


def _flat(value: Any) -> Any:
    return json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else value


def _of_one_type(rows: list[Row]) -> list[Row]:
    """A column has one type: one of several (a factor that is now a number, now a word) becomes text."""
    rows = [{name: _flat(value) for name, value in row.items()} for row in rows]
    for name in {name for row in rows for name in row}:
        kinds = {bool if isinstance(row.get(name), bool) else float if isinstance(row.get(name), (int, float)) else str
                 for row in rows if row.get(name) is not None}
        if len(kinds) > 1:
            for row in rows:
                if row.get(name) is not None:
                    row[name] = str(row[name])
    return rows


def write_parquet(study: Study, folder: str) -> list[str]:
    import pandas

    os.makedirs(folder, exist_ok=True)
    tables: dict[str, list[Row]] = {"trials": study.trial_rows(), "runs": study.runs(), "metrics": study.metrics()}
    tables.update({"series-" + name: study.series(name) for name in study.series_names()})
    paths = []
    for name, rows in tables.items():
        if rows:
            frame: pandas.DataFrame = pandas.DataFrame(_of_one_type(rows))
            paths.append(os.path.join(folder, name + ".parquet"))
            frame.to_parquet(paths[-1], engine="pyarrow", index=False)
    return paths
