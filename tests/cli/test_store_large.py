"""A store of 100,000 runs, made by code: who reads it comes to an end, with the right answer. No time is asserted."""
import contextlib
import json
import os
import random
import shutil
import sqlite3
import tempfile

from harness import Case, other_backend, row_sum, tearDownModule  # noqa: F401

STUDIES, ROUNDS = 500, 100  # of two trials each
CHANGED = 300  # the first of those studies in which the fast trial is a tenth slower
FAST, REF = 200.0, 100.0
LIMIT_S = 300  # generous: the slowest takes a few seconds
SMALL = ["--framework=builtin", "--opt.builtin.backend=%s,ref" % other_backend(), "--model=mlp", "--data=digits", "--threads=1", "--batch=8",
         "--steps=4", "--block=2", "--repeat=1", "--audit=off", "--anchor=off", "--quiet"]
KEPT = ("rate_per_s", "step_s", "accuracy", "wall_s", "start_s", "cpu_s", "rss_peak_bytes", "metrics_version")


def rate(study, is_fast, round_, shift):
    """What a run was measured at: in the median over all rounds its trial's speed in that study."""
    speed = FAST * (0.9 if study >= CHANGED else 1) if is_fast else REF
    return speed * shift * (1 + 0.001 * (round_ % 11 - 5))


class Copies:
    """Writes studies like the one that a database holds, with other numbers."""

    def __init__(self, database):
        self.database = database
        self.names = {table: [row[1] for row in database.execute("pragma table_info(%s)" % table) if row[1] != "sum"]
                      for table in ("study", "host", "trial", "proof", "run", "metric")}
        self.forms = dict(database.execute("select id, doc from metric_form"))
        self.study, = self.read("study", "1")
        self.host, = self.read("host", "study_id = 1")
        self.trials = self.read("trial", "study_id = 1")
        self.proofs = {row["trial_id"]: row for row in self.read("proof", "1")}
        self.runs = {row["trial_id"]: row for row in self.read("run", "1")}
        self.metrics = {row["id"]: self.kept(row["id"]) for row in self.runs.values()}
        self.run_id = max(self.metrics)

    def read(self, table, where):
        rows = self.database.execute("select %s from %s where %s order by 1" % (", ".join(self.names[table]), table, where))
        return [dict(zip(self.names[table], row)) for row in rows.fetchall()]

    def kept(self, run_id):
        """The metrics of a run that readers of other studies look at; without what only its own study needs."""
        rows = [row for row in self.read("metric", "run_id = %d" % run_id) if row["name"] in KEPT]
        return [dict(row, windows=None) for row in rows]

    def write(self, table, rows):
        names = self.names[table]
        self.database.executemany("insert into %s (%s, sum) values (%s)" % (table, ", ".join(names), ", ".join("?" * (len(names) + 1))),
                                  ([row[name] for name in names] + [row_sum(table, *(self.forms[row[name]] if name == "form" else row[name] for name in names))]
                                   for row in rows))

    def add_study(self, number, shift):
        doc = json.loads(self.study["doc"])
        doc.update(name="long")
        doc["job"]["repeat"] = ROUNDS
        study_id = number + 2
        self.write("study", [dict(self.study, id=study_id, name="long", folder="%03d-long" % study_id, doc=json.dumps(doc),
                                  started_s=self.study["started_s"] + 3600 * (number + 1),
                                  ended_s=self.study["ended_s"] + 3600 * (number + 1))])
        self.write("host", [dict(self.host, study_id=study_id)])
        for place, trial in enumerate(self.trials):
            trial_id = 2 * study_id + place + 100
            trial_doc = json.loads(trial["doc"])
            if place == 0:  # of another framework: what the built-in engine does alike in both bounds the drift, and no rule is of it
                trial_doc["framework"].update(name="mine", closure="mine")
            self.write("trial", [dict(trial, id=trial_id, study_id=study_id, parts=ROUNDS + 1, doc=json.dumps(trial_doc))])
            self.write("proof", [dict(self.proofs[trial["id"]], trial_id=trial_id)])
            self.add_runs(self.runs[trial["id"]], trial_id, lambda round_: rate(number, place == 0, round_, shift))

    def add_runs(self, run, trial_id, rate_of):
        runs, metrics = [], []
        for round_ in range(ROUNDS):
            self.run_id += 1
            kept = self.metrics[run["id"]]
            runs.append(dict(run, id=self.run_id, trial_id=trial_id, round=round_, parts=len(kept)))
            for row in kept:
                row = dict(row, run_id=self.run_id)
                if row["name"] == "rate_per_s":
                    row["value"] = rate_of(round_)
                    row["left"] = 0.0
                metrics.append(row)
        self.write("run", runs)
        self.write("metric", metrics)


class Large(Case):
    results = None

    @classmethod
    def tearDownClass(cls):
        if cls.results:
            shutil.rmtree(cls.results, ignore_errors=True)

    def setUp(self):
        super().setUp()
        self.need_other_backend()
        if not Large.results:
            Large.results = tempfile.mkdtemp(prefix="ys-cli-large-")
            self.make()

    def make(self):
        self.yardstick("run", *SMALL, "--results=" + self.results)
        seed = 20261125
        print("# seed", seed)
        noise = random.Random(seed)
        with contextlib.closing(sqlite3.connect(os.path.join(self.results, "results.db"), isolation_level=None)) as database:
            database.execute("pragma synchronous = off")
            database.execute("begin")
            copies = Copies(database)
            self.assertIn(other_backend(), copies.trials[0]["name"])
            for number in range(STUDIES):
                copies.add_study(number, 1 + noise.uniform(-0.002, 0.002))
            database.execute("commit")
            self.assertEqual(database.execute("select count(*) from run").fetchone()[0], 2 * STUDIES * ROUNDS + 2)

    def read(self, *arguments, code=0):
        out, _ = self.yardstick(*arguments, "--results=" + self.results, "--format=json", code=code, timeout=LIMIT_S)
        return json.loads(out)

    def test_show(self):
        document = self.read("show")
        self.assertEqual((document["study"]["id"], document["study"]["rounds"]), (STUDIES + 1, ROUNDS))
        speeds = [trial["metrics"]["rate_per_s"] for trial in document["trials"]]
        self.assertEqual([speed["n"] for speed in speeds], [ROUNDS, ROUNDS])
        self.assertAlmostEqual(speeds[0]["value"] / speeds[1]["value"], 0.9 * FAST / REF, 9)
        self.assertEqual(self.read("show", str(CHANGED + 1))["study"]["id"], CHANGED + 1)

    def test_history(self):
        points = self.read("history")["points"]
        self.assertEqual([i for i, point in enumerate(points) if point["change"]], [CHANGED])
        self.assertEqual((len(points), {point["n"] for point in points}), (STUDIES, {ROUNDS}))
        for number in (0, CHANGED - 1, CHANGED, STUDIES - 1):
            speed = FAST * (0.9 if number >= CHANGED else 1)
            self.assertTrue(abs(points[number]["value"] / speed - 1) <= 0.0021, points[number])
        points = self.read("history", "last/1")["points"]
        self.assertEqual([point["study"] for point in points], list(range(2, STUDIES + 2)))
        self.assertFalse([point for point in points if point["change"]])

    def test_compare(self):
        pairs = self.read("compare", "2", "last")["pairs"]
        found = [metric for pair in pairs for metric in pair["metrics"] if metric["metric"] == "rate_per_s"]
        self.assertEqual([metric["base_n"] for metric in found], [ROUNDS, ROUNDS])
        self.assertEqual(found[0]["verdict"], "worse")
        self.assertTrue(abs(found[0]["ratio"] - 0.9) < 0.005, found[0])
        self.assertTrue(abs(found[1]["ratio"] - 1) < 0.005, found[1])

    def test_gate(self):
        rule = "--rule=rate_per_s >= -3 %"
        self.assertEqual(self.read("gate", "2", "last", rule, code=3)["outcome"], "broken")
        self.assertEqual(self.read("gate", str(STUDIES), "last", rule)["outcome"], "holds")
        # A name that 500 studies have is no baseline; the message is one sentence all the same.
        self.refusal("gate", "long", "last", rule, "--results=" + self.results, words=("the name of 500 studies",), timeout=LIMIT_S)

    def test_recommend(self):
        found = self.read("recommend", "--wish=fastest")
        self.assertIn(other_backend(), found["choice"])
        self.assertEqual((found["rounds"], found["alike"]), (ROUNDS, []))
        other, = [trial for trial in found["trials"] if trial["trial"] != found["choice"]]
        self.assertEqual(other["verdict"], "worse")
        self.assertAlmostEqual(other["ratio"], REF / (0.9 * FAST), 9)

    def test_export_of_one_study(self):
        out, _ = self.yardstick("export", "2", "--results=" + self.results, timeout=LIMIT_S)
        self.assertEqual(sum('"type":"run"' in line.replace(" ", "")[:200] for line in out.splitlines()), 2 * ROUNDS)
