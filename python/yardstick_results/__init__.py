"""Reads what `yardstick export` writes: studies as rows, and with pandas as frames.

    import yardstick_results
    study = yardstick_results.read("study.jsonl")
    study.runs()            # a dict a run: trial, round, status, every metric
    study.frame()           # the same as a pandas.DataFrame
    study.series("step_loss")   # a dict a value: trial, round, index, value

Reading needs the standard library alone; frame() and series_frame() need pandas.
"""
from __future__ import annotations

import hashlib
import json
from typing import Any, Iterable

__all__ = ["Study", "read"]


class Study:
    """One exported study: `document`, `host`, and the lines of its trials and runs as they were written."""

    def __init__(self, document: dict[str, Any], host: dict[str, Any], trials: list[dict[str, Any]], runs: list[dict[str, Any]]):
        self.document = document
        self.host = host
        self.trials = trials
        self.raw_runs = runs

    def runs(self) -> list[dict[str, Any]]:
        """A row a run: trial, framework, version, the factors that vary, round, attempt, status, and each metric's value
        (None where the run has none)."""
        of_trial = {trial["id"]: trial for trial in self.trials}
        names = sorted({name for run in self.raw_runs for name, metric in run["metrics"].items() if "unit" in metric or "reason" in metric})
        rows = []
        for run in self.raw_runs:
            trial = of_trial.get(run["trial"], {})
            framework = trial.get("framework") or {}
            row = {"trial": run["trial"], "framework": framework.get("name"), "version": framework.get("version")}
            row.update({"key." + name: value for name, value in (trial.get("factors") or {}).items()})
            row.update({name: run[name] for name in ("round", "attempt", "status")})
            row.update({name: (run["metrics"].get(name) or {}).get("value") for name in names})
            rows.append(row)
        return rows

    def series(self, name: str) -> list[dict[str, Any]]:
        """A row a value of that series, of all runs that have it: trial, round, attempt, index, value."""
        return [{"trial": run["trial"], "round": run["round"], "attempt": run["attempt"], "index": index, "value": _number(value)}
                for run in self.raw_runs for index, value in enumerate((run.get("series") or {}).get(name) or [])]

    def frame(self) -> Any:
        """runs() as a pandas.DataFrame."""
        return _frame(self.runs())

    def series_frame(self, name: str) -> Any:
        """series() as a pandas.DataFrame."""
        return _frame(self.series(name))


def _number(value: Any) -> Any:
    """Numbers that JSON has no token for stand as words."""
    return float(value) if isinstance(value, str) else value


def _frame(rows: Iterable[dict[str, Any]]) -> Any:
    import pandas

    return pandas.DataFrame(list(rows))


def read(path: str) -> Study:
    """The study in a file that `yardstick export` wrote. ValueError where it is none, cut short or changed: its last line
    holds the number of lines before it, and a chain of hashes over them."""
    parts: dict[str, list[dict[str, Any]]] = {"study": [], "host": [], "trial": [], "run": []}
    link, count, end = bytes(32), 0, None
    with open(path, "rb") as file:
        for line in file:
            try:
                entry = json.loads(line)
                kind = entry.pop("type")
            except (ValueError, KeyError, AttributeError, TypeError):
                raise ValueError("%s, line %d: no export of yardstick" % (path, count + 1)) from None
            if end is not None:
                raise ValueError("%s goes on behind its end" % path)
            if kind == "end":
                end = entry
                continue
            link = hashlib.sha256(link + line).digest()
            count += 1
            parts.setdefault(kind, []).append(entry)
    if end is None:
        raise ValueError("%s is cut short: it has no line that ends it" % path)
    if end.get("lines") != count or end.get("chain") != link.hex():
        raise ValueError("%s was changed since it was written" % path)
    if len(parts["study"]) != 1:
        raise ValueError("%s holds %d studies, not one" % (path, len(parts["study"])))
    return Study(parts["study"][0], (parts["host"] or [{}])[0], parts["trial"], parts["run"])
