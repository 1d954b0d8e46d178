"""A study, wherever it was read from."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, Iterable

if TYPE_CHECKING:
    import pandas

Row = Dict[str, Any]


class Study:
    """One study: `document`, `host`, its trials and its runs as they were stored."""

    def __init__(self, document: Row, host: Row, trials: list[Row], runs: list[Row]):
        self.document = document
        self.host = host
        self.trials = trials
        self.raw_runs = runs

    def __repr__(self) -> str:
        return "<Study %s: %d trials, %d runs>" % (self.document.get("name"), len(self.trials), len(self.raw_runs))

    def metric_names(self) -> list[str]:
        """Of the metrics that any run has, or says why it has not."""
        return sorted({name for run in self.raw_runs for name, metric in run["metrics"].items() if "unit" in metric or "reason" in metric})

    def trial_rows(self) -> list[Row]:
        """A row a trial: trial, index, framework, version, status, verdict of its proof, and its settings as `key.NAME`,
        `opt.NAME` and `env.NAME`."""
        rows = []
        for trial in self.trials:
            framework = trial.get("framework") or {}
            row: Row = {"trial": trial["id"], "index": trial.get("index"), "framework": framework.get("name"),
                        "version": framework.get("version"), "status": trial.get("status", "ok"),
                        "proof": (trial.get("proof") or {}).get("verdict")}
            for prefix, member in (("key.", "keys"), ("opt.", "options"), ("env.", "env")):
                row.update({prefix + name: value for name, value in (trial.get(member) or {}).items()})
            rows.append(row)
        return rows

    def runs(self) -> list[Row]:
        """A row a run: trial, framework, version, the factors that vary, round, attempt, status, and each metric's value
        (None where the run has none)."""
        of_trial = {trial["id"]: trial for trial in self.trials}
        names = self.metric_names()
        rows = []
        for run in self.raw_runs:
            trial = of_trial.get(run["trial"], {})
            framework = trial.get("framework") or {}
            row: Row = {"trial": run["trial"], "framework": framework.get("name"), "version": framework.get("version")}
            row.update({"key." + name: value for name, value in (trial.get("factors") or {}).items()})
            row.update({name: run[name] for name in ("round", "attempt", "status")})
            row.update({name: (run["metrics"].get(name) or {}).get("value") for name in names})
            rows.append(row)
        return rows

    def metrics(self) -> list[Row]:
        """A row a metric of a run: trial, round, attempt, metric, value, unit, method, scope, reason."""
        return [dict({"trial": run["trial"], "round": run["round"], "attempt": run["attempt"], "metric": name},
                     **{member: (run["metrics"].get(name) or {}).get(member) for member in ("value", "unit", "method", "scope", "reason")})
                for run in self.raw_runs for name in self.metric_names()]

    def series_names(self) -> list[str]:
        return sorted({name for run in self.raw_runs for name in run.get("series") or {}})

    def series(self, name: str) -> list[Row]:
        """A row a value of that series, of all runs that have it: trial, round, attempt, index, value."""
        return [{"trial": run["trial"], "round": run["round"], "attempt": run["attempt"], "index": index, "value": number(value)}
                for run in self.raw_runs for index, value in enumerate((run.get("series") or {}).get(name) or [])]

    def frame(self) -> pandas.DataFrame:
        """runs() as a pandas.DataFrame."""
        return _frame(self.runs())

    def trial_frame(self) -> pandas.DataFrame:
        """trial_rows() as a pandas.DataFrame."""
        return _frame(self.trial_rows())

    def metric_frame(self) -> pandas.DataFrame:
        """metrics() as a pandas.DataFrame."""
        return _frame(self.metrics())

    def series_frame(self, name: str) -> pandas.DataFrame:
        """series() as a pandas.DataFrame."""
        return _frame(self.series(name))

    def write_parquet(self, folder: str | os.PathLike[str]) -> list[str]:
        """trials.parquet, runs.parquet, metrics.parquet and, of each series that there is, series-NAME.parquet. Gives their
        paths. Needs pandas and pyarrow. Settings that are lists or objects stand as their JSON text."""
        from ._files import write_parquet

        return write_parquet(self, os.fspath(folder))

    def write_tensorboard(self, folder: str | os.PathLike[str]) -> list[str]:
        """Event files with scalars, which TensorBoard shows: a folder a trial with its metrics (step: the round), and in it
        a folder a round with the training loss by step and the time of a step by the last step of its block. Gives their
        paths. Needs nothing but the standard library."""
        from ._tensorboard import write_tensorboard

        return write_tensorboard(self, os.fspath(folder))


def number(value: Any) -> Any:
    """Numbers that JSON has no token for stand as words."""
    return float(value) if isinstance(value, str) else value


def _frame(rows: Iterable[Row]) -> pandas.DataFrame:
    import pandas

    return pandas.DataFrame(list(rows))
