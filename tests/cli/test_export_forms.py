"""Runs for others: a line each, and as trace events by the rules of their published description."""
import csv
import io
import json

from harness import NULL, Case, tearDownModule  # noqa: F401


class Forms(Case):
    def setUp(self):
        super().setUp()
        self.yardstick("run", *NULL, "--opt.null.rate=4000", "--repeat=3", "--quiet")

    def test_csv_has_a_line_a_run(self):
        result = self.result("show")[0]
        trial, = result["trials"]
        rows = list(csv.DictReader(io.StringIO(self.yardstick("export", "--format=csv")[0])))
        self.assertEqual([(row["trial"], row["round"]) for row in rows], [(trial["id"], str(r)) for r in range(3)])
        for name, metric in trial["metrics"].items():
            for row, value in zip(rows, metric.get("values") or [None] * 3):
                self.assertEqual(float(row[name]) if row[name] else None, value, name)
        self.assertEqual(len(self.yardstick("export", "last/0", "--format=csv")[0].splitlines()), 4)

    # "Trace Event Format": what each kind has to have.
    NEEDED = {"X": {"name", "ph", "ts", "dur", "pid", "tid"}, "C": {"name", "ph", "ts", "pid", "args"},
              "M": {"name", "ph", "pid", "args"}}

    def test_trace_keeps_the_published_rules(self):
        trace = json.loads(self.yardstick("export", "--format=trace")[0])
        events = trace["traceEvents"]
        self.assertEqual(trace["displayTimeUnit"], "ms")
        runs = {event["pid"] for event in events}
        self.assertEqual(len(runs), 3)
        for event in events:
            self.assertLessEqual(self.NEEDED[event["ph"]], set(event), event)
            self.assertIsInstance(event["pid"], int)
            if event["ph"] == "M":
                self.assertIn(event["name"], ("process_name", "thread_name"))
                self.assertIsInstance(event["args"]["name"], str)
            if event["ph"] == "C":
                self.assertTrue(all(isinstance(value, (int, float)) for value in event["args"].values()))
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)
        # Slices of one thread lie beside each other or inside each other, never across.
        for run in runs:
            for thread in (1, 2):
                ends = []
                for event in sorted((e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == (run, thread)),
                                    key=lambda e: (e["ts"], -e["dur"])):
                    while ends and ends[-1] <= event["ts"] + 0.001:
                        ends.pop()
                    end = event["ts"] + event["dur"]
                    self.assertTrue(not ends or end <= ends[-1] + 0.001, event)
                    ends.append(end)
            slices = [e for e in events if e["ph"] == "X" and e["pid"] == run]
            self.assertEqual([e["name"] for e in slices if e["tid"] == 1], ["start", "open", "train", "stop"])
            blocks = [e for e in slices if e["name"] == "block"]
            self.assertEqual([e["args"] for e in blocks], [{"first_step": first, "steps": count} for first, count in
                                                            ((0, 1), (1, 5), (6, 5), (11, 5), (16, 4))])
            train, = [e for e in slices if e["name"] == "train"]
            for block in blocks:
                self.assertGreaterEqual(block["ts"], train["ts"] - 0.001)
                self.assertLessEqual(block["ts"] + block["dur"], train["ts"] + train["dur"] + 0.001)

    def test_each_rank_has_its_slices_and_its_counters(self):
        self.yardstick("run", "--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--ranks=2", "--steps=6",
                       "--block=5", "--repeat=1", "--opt.null.rate=800", "--opt.null.exchange=100", "--results=ranked", "--quiet")
        events = json.loads(self.yardstick("export", "--format=trace", "--results=ranked")[0])["traceEvents"]
        threads = {event["args"]["name"]: event["tid"] for event in events if event["name"] == "thread_name"}
        self.assertEqual(set(threads), {"phases", "rank 0", "rank 1"})
        for rank in ("rank 0", "rank 1"):
            slices = [e for e in events if e["ph"] == "X" and e["tid"] == threads[rank]]
            blocks = [e for e in slices if e["name"] == "block"]
            self.assertEqual([e["args"]["first_step"] for e in blocks], [0, 1])
            for part in ("computing", "exchange", "optimizer"):
                self.assertEqual([e["args"]["step"] for e in slices if e["name"] == part], list(range(6)))
            for event in slices:  # inside the block of its step
                if "step" in event["args"]:
                    block = blocks[event["args"]["step"] > 0]
                    self.assertGreaterEqual(event["ts"], block["ts"] - 0.001)
                    self.assertLessEqual(event["ts"] + event["dur"], block["ts"] + block["dur"] + 0.001)
            self.assertTrue(any(e["ph"] == "C" and e["name"] == "memory, " + rank for e in events))

    def test_requests_and_names_that_need_care(self):
        self.study("[quote]", "framework = null", "model = mlp", "data = digits", "threads = 1", "mode = infer",
                   "batch = 8", "requests = 6", "opt.null.rate = 4000", "env.QUOTED = {\"a'b\", c}", head="version = 1\nname = test\nrepeat = 1\n")
        self.yardstick("run", "study.ys", "--quiet")
        events = json.loads(self.yardstick("export", "--format=trace")[0])["traceEvents"]
        self.assertEqual({event["args"]["first"] for event in events if event["name"] == "asked"}, {0})
        names = {e["args"]["name"] for e in events if e["name"] == "process_name"}
        self.assertEqual(len(names), 2)
        self.assertEqual(len(list(csv.DictReader(io.StringIO(self.yardstick("export", "--format=csv")[0])))), 2)

    def test_a_study_is_followed_to_its_end(self):
        study = [word for word in NULL if not word.startswith("--steps")] + ["--steps=20", "--opt.null.rate=400", "--repeat=6",
                                                                              "--results=followed"]
        running = self.start("run", *study, "--quiet")
        self.wait_until(lambda: self.start("show", "--results=followed").wait() == 0, running)
        out, _ = self.yardstick("show", "--follow", "--results=followed")
        self.assertEqual(running.wait(), 0)
        self.assertEqual(out, self.yardstick("show", "--results=followed")[0])
        self.assertEqual(self.result("show", "--results=followed")[0]["study"]["status"], "done")

    def test_what_was_killed_is_not_followed_for_ever(self):
        running = self.start("run", *NULL, "--opt.null.rate=100", "--repeat=50", "--results=killed", "--quiet")
        self.wait_until(lambda: self.start("show", "--results=killed").wait() == 0, running)
        running.kill()
        running.wait()
        self.yardstick("show", "--follow", "--results=killed")

    def test_bad_input(self):
        self.refusal("export", "--format=table", words=("json, csv, trace",))
        self.refusal("export", "nosuch", "--format=trace", words=("nosuch",))
