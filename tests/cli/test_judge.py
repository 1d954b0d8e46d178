"""Verdicts across studies: of stored ones, of one trial, of exported files whose numbers are known."""
import contextlib
import hashlib
import json
import os
import random
import sqlite3
from xml.etree import ElementTree

from harness import Case, other_backend, tearDownModule  # noqa: F401

SMALL = ["--framework=builtin", "--opt.builtin.backend=%s,ref" % other_backend(), "--model=mlp", "--data=digits", "--threads=1", "--batch=8",
         "--steps=4", "--block=2", "--interleave=runs", "--repeat=6"]


def sealed(lines):
    """The text of an export of these lines, with the last line that says that they are whole."""
    text, link = "", bytes(32)
    lines = [line for line in lines if line["type"] != "end"]
    for line in lines:
        one = json.dumps(line) + "\n"
        link = hashlib.sha256(link + one.encode()).digest()
        text += one
    return text + json.dumps({"type": "end", "lines": len(lines), "chain": link.hex()}) + "\n"


class Judged(Case):
    exported = None

    def setUp(self):
        super().setUp()
        self.need_other_backend()
        if not Judged.exported:
            self.yardstick("run", *SMALL, "--anchor=off", "--quiet", "--results=first")
            Judged.exported = self.yardstick("export", "--results=first")[0]

    def made(self, name, change=lambda trial, metrics: None, keep=lambda line: True):
        """An export whose metrics are all known: 100 and a little more with each round, and nothing left of warm-up; `change` changes them."""
        lines = [json.loads(line) for line in Judged.exported.splitlines()]
        for line in lines:
            if line["type"] == "run":
                for metric in line["metrics"].values():
                    if isinstance(metric.get("value"), float) and metric.get("unit") != "1":
                        metric["value"] = 100 + line["round"] / 10
                metrics = line["metrics"]
                metrics["rate_per_s"]["left"] = 0.0
                change(line["trial"], metrics)
        return self.write(name, sealed(line for line in lines if keep(line)))

    def slower(self, trial, metrics):
        if "ref" not in trial:
            metrics["rate_per_s"]["value"] *= 0.9

    def warming(self, left):
        """The same, of which so much may be what is left of warm-up; None: that cannot be told."""
        def change(trial, metrics):
            self.slower(trial, metrics)
            if "ref" not in trial:
                metrics["rate_per_s"]["left"] = left
        return change


class Import(Judged):
    def test_a_study_comes_in_as_it_was(self):
        path = self.made("made.jsonl")
        self.assertEqual(self.yardstick("results", "import", path)[0], "1\n")
        self.yardstick("show", "1", "--verify")
        lines = [json.loads(line) for line in self.yardstick("export", "1")[0].splitlines()]
        before = [json.loads(line) for line in open(path)]
        self.assertEqual(lines[0]["imported"], path)
        for member in ("started_s", "ended_s", "status", "exit_code", "timing", "job_text"):
            self.assertEqual(lines[0][member], before[0][member])
        runs = [[line for line in of if line["type"] == "run"] for of in (lines, before)]
        for one, other in zip(*runs):
            for member in ("round", "attempt", "status", "facts", "metrics", "trial"):
                self.assertEqual(one[member], other[member])
            self.assertEqual({k: v for k, v in one["series"].items() if v}, {k: v for k, v in other["series"].items() if v})
        self.assertEqual(len(runs[0]), len(runs[1]))
        shown = self.result("show", "1")[0]["trials"]
        self.assertEqual([trial["status"] for trial in shown], ["ok", "ok"])

    def test_bad_files_leave_nothing(self):
        self.refusal("results", "import", "nosuch", words=("nosuch", "no such file"))
        self.refusal("results", words=("yardstick results import FILE",))
        self.refusal("results", "import", self.write("bad.jsonl", Judged.exported[:-100]), words=("bad.jsonl", "cut short"))
        self.refusal("show", words=("no study",))

    def of_form(self, schema):
        lines = [json.loads(line) for line in Judged.exported.splitlines()]
        self.assertEqual(lines[0]["schema"], "yardstick/export/1")
        lines[0]["schema"] = schema
        return self.write("form.jsonl", sealed(lines))

    def test_a_baseline_of_another_form_is_refused_and_one_of_before_is_read(self):
        now = self.made("now.jsonl")
        then = self.of_form("yardstick/export/2")
        for verb in (("gate", then, now), ("compare", then, now), ("compare", now, then), ("results", "import", then)):
            self.refusal(*verb, words=("form.jsonl is a yardstick/export/2", "reads yardstick/export/1", "export the study again"))
        lines = [json.loads(line) for line in open(now)]
        del lines[0]["schema"]
        self.yardstick("compare", self.write("before.jsonl", sealed(lines)), now)
        # A document is no export, nor is a database.
        self.yardstick("results", "import", now)
        self.refusal("gate", self.write("shown.json", self.yardstick("show", "--format=json")[0]), now, words=("shown.json", "is no export"))
        self.refusal("gate", "yardstick-results/results.db", now, words=("results.db", "is no export"))

    def test_a_baseline_in_a_store_of_another_form_is_refused(self):
        now = self.made("now.jsonl")
        self.yardstick("results", "import", now)
        with contextlib.closing(sqlite3.connect(os.path.join(self.folder, "yardstick-results", "results.db"))) as database:
            database.execute("PRAGMA user_version = 99")
        for verb in (("gate", "1", now), ("compare", "1", now), ("history",), ("recommend", "--wish=fastest")):
            self.refusal(*verb, words=("results.db", "newer"))


class History(Judged):
    def test_points_are_studies_by_date(self):
        self.yardstick("run", *SMALL[:1], *SMALL[2:-1], "--repeat=1", "--quiet")
        self.yardstick("run", *SMALL[:1], *SMALL[2:-1], "--repeat=1", "--quiet")
        found = json.loads(self.yardstick("history", "--format=json")[0])
        self.assertEqual([(point["study"], point["n"], point["change"]) for point in found["points"]], [(1, 1, False), (2, 1, False)])
        self.assertEqual((found["metric"], found["unit"]), ("rate_per_s", "1/s"))
        other = json.loads(self.yardstick("history", "1/0", "--metric=rss_peak_bytes", "--format=json")[0])
        self.assertTrue(all(point["value"] > 1e6 for point in other["points"]))
        out, _ = self.yardstick("history")
        self.assertIn("too few to tell a change, 8 are needed", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        self.refusal("history", "--metric=nosuch", words=("--metric=nosuch", "list metrics"))
        self.refusal("history", "--metric=rate_per_sec", words=("--metric=rate_per_sec", 'did you mean "rate_per_s"'))
        self.refusal("history", "nosuch", words=("nosuch",))


class TwentyStudies(Judged):
    def test_a_planted_change_is_found_where_it_is(self):
        noise = random.Random(20261124)
        for number in range(20):
            shift = noise.uniform(-1, 1)  # of the whole study, in per cent: a tenth of the change
            def change(trial, metrics):
                metrics["rate_per_s"]["value"] *= (1 + shift / 100) * (0.9 if number >= 12 else 1)
            lines = [json.loads(line) for line in open(self.made("study.jsonl", change))]
            lines[0]["started_s"] += 3600 * number
            for line in lines:
                if line["type"] == "trial":
                    line["framework"]["version"] = "2.1" if number >= 12 else "2.0"
            self.yardstick("results", "import", self.write("study.jsonl", sealed(lines)))
        points = json.loads(self.yardstick("history", "--format=json")[0])["points"]
        self.assertEqual([i for i, point in enumerate(points) if point["change"]], [12])
        self.assertEqual(len(points), 20)
        # Each is named by the hour at which it began, all by the day of the first as long as that lasts.
        began = points[5]["started"]
        self.assertEqual(self.result("show", began)[0]["study"]["id"], 6)
        self.assertEqual(self.result("show", began[:13])[0]["study"]["id"], 6)
        self.assertEqual(self.result("show", points[19]["started"][:10])[0]["study"]["id"], 20)
        self.yardstick("gate", began[:13], "7", "--rule=rss_peak_bytes <= 900 %")
        day = max((point["started"][:10] for point in points), key=[point["started"][:10] for point in points].count)
        self.refusal("gate", day, words=("`%s` is the date of " % day, "by its folder or its number"))
        out = " ".join(self.yardstick("history")[0].split())
        self.assertRegex(out, r"1 change, of a kind that chance shows in 1 of 100 histories: with study 13 of \S+Z \(version 2\.1 after 2\.0\) from (99|1\d\d) to (8|9)\d(\.\d)?\.")
        with open(self.yardstick("report", "--history")[0].strip()) as file:
            page = file.read()
        page = page[page.index('<section id="history">'):]
        for words in ("(version 2.1 after 2.0) from ", ">2.0</text>", ">2.1</text>", ">behind a change</text>"):
            self.assertIn(words, page)
        # What did not change shows none.
        points = json.loads(self.yardstick("history", "--metric=rss_peak_bytes", "--format=json")[0])["points"]
        self.assertFalse([point for point in points if point["change"]])


class Page(Judged):
    def page(self, *arguments):
        with open(self.yardstick("report", *arguments)[0].strip()) as file:
            return file.read()

    def test_a_page_among_other_studies(self):
        base = self.made("base.jsonl")
        first = self.yardstick("results", "import", base)[0].strip()
        second = self.yardstick("results", "import", self.made("slow.jsonl", self.slower))[0].strip()
        page = self.page(second, "--compare=" + first, "--history")
        for words in ('<a href="#compare">', '<section id="compare">', "Against run, study %s, " % first, ": of the speeds of 2 trials ", "; of all ", 'id="against-title"',
                      '<a href="#history">', '<section id="history">', 'id="over-studies-title"', " stored studies: too few to tell a change, 8 are needed."):
            self.assertIn(words, page)
        self.assertRegex(page, r">0\.(89|90)\dx \[")  # a tenth slower
        self.assertRegex(page, r">0\.(89|90)\d*x (worse|unclear)<")  # in the picture
        self.assertLess(page.index('<section id="repeat">'), page.index('<section id="compare">'))
        # The sentence, then the picture, then the numbers.
        for name in ("compare", "history"):
            section = page[page.index('<section id="%s">' % name):]
            places = [section.index(part) for part in ('<p class="answer">', "<svg", "<table")]
            self.assertEqual(places, sorted(places), name)
        self.assertIn('<section id="compare">', self.page(second, "--compare=" + base))
        fewer = self.made("fewer.jsonl", keep=lambda line: line["type"] not in ("trial", "run") or "ref" not in line.get("trial", line.get("id")))
        page = self.page(second, "--compare=" + fewer)
        self.assertRegex(page, "<p>Only here: [^<]*ref[^<]*</p>")
        self.assertNotIn("Only in the base", page)
        alone = self.page(second)
        self.assertNotIn('id="compare"', alone)
        self.assertNotIn('id="history"', alone)
        self.refusal("report", second, "--compare=nosuch", words=("nosuch",))


class Anchor(Judged):
    FAST = {"version": 1, "compiler": "c", "started_s": 1, "seconds": 0.3, "rounds": 0, "arithmetic_per_s": 1e10,
            "memory_bytes_per_s": 3e10, "branches_per_s": 1e8}

    def anchored(self, name, anchors, change=lambda trial, metrics: None):
        """Without the trial that bounds the drift; its anchors are these."""
        alone = lambda line: "ref" not in line.get("trial", line.get("id", "") if line["type"] == "trial" else "")
        with open(self.made(name, change, alone)) as file:
            lines = [json.loads(line) for line in file]
        for line in lines:
            if line["type"] == "study":
                line["timing"]["anchors"] = anchors
            if line["type"] == "trial":
                line["framework"].update(name="mine", closure=name)
        return self.write(name, sealed(lines))

    def test_a_study_measures_them_as_its_key_says(self):
        few = SMALL[:1] + SMALL[2:-1] + ["--repeat=2"]
        made = self.result("run", *few, "--anchor=on")[0]["study"]["timing"]["anchors"]
        self.assertEqual([anchor["rounds"] for anchor in made], [0, 2])
        for anchor in made:
            self.assertEqual(anchor["version"], 1)
            self.assertTrue(min(anchor[name] for name in self.FAST if name.endswith("_per_s")) > 1e6)
        self.assertEqual(self.result("run", *few, "--anchor=off")[0]["study"]["timing"]["anchors"], [])
        points = json.loads(self.yardstick("history", "--format=json")[0])["points"]
        self.assertEqual([point["anchor"] is None for point in points[:2]], [False, True])
        self.assertLessEqual(points[0]["anchor"][0], 1)
        self.assertIn(" to ", self.yardstick("history")[0])

    def rate(self, base, candidate):
        found = json.loads(self.yardstick("compare", base, candidate, "--format=json")[0])
        pair, = found["pairs"]
        return found, pair, [metric for metric in pair["metrics"] if metric["metric"] == "rate_per_s"][0]

    def test_they_bound_the_drift_and_widen_to_its_side(self):
        slow = dict(self.FAST, arithmetic_per_s=0.99e10)
        base = self.anchored("base", [self.FAST])
        found, pair, rate = self.rate(base, self.anchored("same", [self.FAST], self.slower))
        self.assertEqual((found["anchors"], rate["drift"], rate["verdict"]), ([1, 1], [1, 1], "worse"))
        self.assertIn("by the anchors alone", pair["drift"])
        narrow = rate["ci"]
        found, _, rate = self.rate(base, self.anchored("slow", [slow, self.FAST], self.slower))
        self.assertEqual(rate["verdict"], "worse")
        self.assertAlmostEqual(found["anchors"][0], 0.99, 9)
        self.assertEqual(rate["ci"][0], narrow[0])
        self.assertAlmostEqual(rate["ci"][1], narrow[1] / 0.99, 9)
        half = dict(self.FAST, memory_bytes_per_s=1.5e10)
        self.assertEqual(self.rate(base, self.anchored("half", [half], self.slower))[2]["verdict"], "unclear")

    def test_others_do_not_bound_it(self):
        base = self.anchored("base", [self.FAST])
        for other, said in (([], "anchor = on"), ([dict(self.FAST, version=2)], "two versions or compilers"),
                            ([dict(self.FAST, compiler="d")], "two versions or compilers")):
            found, pair, rate = self.rate(base, self.anchored("other", other, self.slower))
            self.assertEqual((found["anchors"], rate["verdict"]), (None, "unclear"))
            self.assertIn(said, pair["drift"])
        with open(self.anchored("foreign", [self.FAST])) as file:
            lines = [json.loads(line) for line in file]
        for line in lines:
            if line["type"] == "host":
                line["cpu"]["model"] = "Other CPU 9000"
        found, pair, rate = self.rate(base, self.write("foreign", sealed(lines)))
        self.assertEqual((found["anchors"], rate["verdict"]), (None, "unclear"))
        self.assertIn("two models of processor", pair["drift"])
        self.assertNotIn("anchor = on", pair["drift"])


class Gate(Judged):
    def gate(self, *arguments, code=0):
        return json.loads(self.yardstick("gate", *arguments, "--format=json", code=code)[0])

    def foreign(self, name, change=lambda trial, metrics: None, **more):
        """The trial that is not `ref` becomes one of another framework: a closure of its own."""
        path = self.made(name, change, **more)
        with open(path) as file:
            lines = [json.loads(line) for line in file]
        for line in lines:
            if line["type"] == "trial" and "ref" not in line["id"]:
                line["framework"]["name"] = "mine"
                line["framework"]["closure"] = name
        return self.write(name, sealed(lines))

    def test_a_study_file_is_run_first(self):
        work = "[work]\nframework = builtin\nmodel = mlp\ndata = digits\nthreads = 1\nbatch = %d\nsteps = 4\nblock = 2\n"
        head = "version = 1\nname = work\nrepeat = 6\naudit = off\nanchor = off\n\n"
        self.write("work.ys", head + work % 8)
        self.write("other.ys", head + work % 16)
        rule = "--rule=rss_peak_bytes <= 900 %"
        # What is wrong with the baseline, the rules or the file is said before anything is measured.
        self.refusal("gate", "last", "work.ys", rule, words=("no results",))
        self.yardstick("run", "work.ys", "--quiet")
        self.refusal("gate", "last", "nosuch.ys", rule, words=("nosuch.ys", "yardstick init"))
        self.refusal("gate", "last", self.write("bad.ys", "nonsense"), rule, words=("bad.ys:1:1",))
        self.refusal("gate", "last", "work.ys", "--rule=nonsense", words=("nonsense",))
        self.assertEqual(len(json.loads(self.yardstick("history", "--format=json")[0])["points"]), 1)
        found = self.gate("last", "work.ys", rule)
        self.assertEqual((found["outcome"], found["base"]["id"], found["candidate"]["id"]), ("holds", 1, 2))
        self.assertEqual(found["candidate"]["selector"], "work.ys")
        self.assertEqual(self.gate("1", "2", rule)["checks"], found["checks"])
        self.refusal("gate", "1", "other.ys", rule, words=("other work",))

    def test_holds_broken_and_open_are_exit_codes(self):
        base, same, slow = self.foreign("base"), self.foreign("same"), self.foreign("slow", self.slower)
        rule = "--rule=rate_per_s >= -3 %"
        found = self.gate(base, same, rule)
        self.assertEqual((found["outcome"], len(found["checks"])), ("holds", 1))  # the other trial is the reference
        found = self.gate(base, slow, rule, code=3)
        self.assertEqual(found["checks"][0]["outcome"], "broken")
        self.assertAlmostEqual(found["checks"][0]["ratio"], 0.9, 9)
        self.gate(base, slow, "--rule=rate_per_s >= -15 %")
        self.gate(base, slow, "--rule=rate_per_s <= 0 %", "--rule=wall_s <= 3 %")
        self.assertEqual(self.gate(base, slow, "--rule=rate_per_s >= -10 %", code=4)["outcome"], "open")
        self.write("rules", "# speed\nrate_per_s >= -3%  # of the baseline\n\nrss_peak_bytes <= +1 %\n")
        self.assertEqual(len(self.gate(base, slow, "--rules=rules", code=3)["checks"]), 3)

    def test_a_rule_is_kept_or_broken_with_what_is_left_of_warm_up_and_without(self):
        base, rule = self.foreign("base"), "--rule=rate_per_s >= -3 %"
        found, = self.gate(base, self.foreign("warm", self.warming(0.1)), rule, code=4)["checks"]
        self.assertLess(found["ci"][1], 0.97)
        self.assertGreater(found["settled_ci"][0], 0.97)
        self.assertIn("warming up", found["reason"])
        found, = self.gate(base, self.foreign("settled", self.warming(0.01)), rule, code=3)["checks"]
        self.assertLess(found["settled_ci"][1], 0.97)
        found, = self.gate(base, self.foreign("short", self.warming(None)), rule, code=4)["checks"]
        self.assertIn("fewer than 30 blocks", found["reason"])
        self.assertIsNone(found["settled_ci"])
        # What is no speed is not asked for.
        self.gate(base, self.foreign("short", self.warming(None)), "--rule=wall_s <= 3 %")

    def test_what_is_missing_failed_or_unproven_never_holds(self):
        alone = lambda line: line["type"] in ("study", "host", "end") or "ref" in line.get("trial", line["id"] if "id" in line else "")
        base, lost, other = self.foreign("base"), self.made("lost", keep=alone), self.foreign("other")
        found = self.gate(base, lost, code=3)
        self.assertIn("the candidate has it not", found["checks"][0]["reason"])
        for change in ({"proof": {"verdict": "fail", "checks": []}}, {"proof": None}):
            lines = [json.loads(line) for line in open(other)]
            for line in lines:
                if line["type"] == "trial" and "ref" not in line["id"]:
                    line.update(change)
            unproven = self.write("unproven", sealed(lines))
            self.assertEqual(self.gate(base, unproven, code=3)["checks"][0]["outcome"], "broken")
            self.assertEqual(self.gate(unproven, base, code=4)["checks"][0]["outcome"], "open")
        self.gate(base, other, "--rule=latency_p99_s <= 1 %", code=4)  # nothing was checked

    def test_forms_for_machines(self):
        base, slow = self.foreign("base"), self.foreign("slow", self.slower)
        speed = ["--rule=rate_per_s >= -3 %", "--rule=wall_s <= 3 %"]
        junit = ElementTree.fromstring(self.yardstick("gate", base, slow, *speed, "--format=junit", code=3)[0].encode())
        suite, = junit
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")), ("2", "1", "0"))
        self.assertEqual(len(suite), 2)
        self.assertEqual(suite.find("testcase/failure").get("type"), "broken")
        out, _ = self.yardstick("gate", base, slow, *speed, "--format=md", code=3)
        self.assertIn("**yardstick: broken.**", out)
        self.assertIn("| broken | rate\\_per\\_s", out)
        out, _ = self.yardstick("gate", base, slow, *speed, code=3)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_bad_rules_and_baselines(self):
        base = self.foreign("base")
        for rule, words in (("rate_per_s", "cannot be read"), ("rate_per_s > 3 %", "cannot be read"), ("rate_per_s >= 3", "per cent"),
                            (">= 3 %", "cannot be read"), ("rate_per_s >= nan %", "cannot be read"),
                            ("rate_per_s >= -101 %", "cannot be read"), ("rate_per_sec >= 1 %", "did you mean \"rate_per_s\"")):
            self.refusal("gate", base, base, "--rule=" + rule, words=(rule, words))
        self.write("rules", "rate_per_s >= 1 %\nnonsense\n")
        self.refusal("gate", base, base, "--rules=rules", words=("rules, line 2", "nonsense"))
        self.write("rules", "# none\n")
        self.refusal("gate", base, base, "--rules=rules", words=("no rule",))
        self.refusal("gate", base, base, "--rules=nosuch", words=("nosuch",))
        self.refusal("gate", words=("yardstick gate BASELINE",))
        self.refusal("gate", "nosuch", words=("no results",))
        for path in (base, self.made("again.jsonl")):
            self.yardstick("results", "import", path)
        self.refusal("gate", "run", words=("`run` is the name of 2 studies (001-run, 002-run)", "by its folder or its number"))
        self.yardstick("gate", "001-run", "2", "--rule=rate_per_s >= -3 %")
        lines = [json.loads(line) for line in open(base)]
        for line in lines:
            if line["type"] == "trial":
                line["keys"]["batch"] = 99
        self.write("other", sealed(lines))
        self.refusal("gate", base, "other", words=("other work", "batch is 8 there and 99 here"))
        self.refusal("gate", "other", base, words=("other work", "batch is 99 there and 8 here"))

    def test_a_damaged_baseline(self):
        base = self.foreign("base")
        text = open(base).read()
        for name, damaged, words in (("cut", text[:-5], "cut short"), ("empty", "", "without a trial"), ("noise", "\0\1\2\n", "is no export"),
                                     ("changed", text.replace('"round": 1', '"round": 9', 1), "was changed")):
            self.refusal("gate", self.write(name, damaged), base, words=(name, words))
            self.refusal("gate", base, name, words=(name, words))
        self.write("carried", text.replace("\n", "\r\n"))  # by git, which changed nothing of the study
        self.yardstick("compare", "carried", base)
        self.refusal("gate", self.write("torn", text.replace("\n", "\r\n")[:-5]), base, words=("torn", "cut short"))
        self.refusal("gate", "nosuch.jsonl", base, words=("there is no file nosuch.jsonl", "yardstick export"))
        self.yardstick("results", "import", base)
        self.refusal("gate", "nosuch.jsonl", base, words=("nosuch.jsonl",))


class Compare(Judged):
    def verdicts(self, *arguments):
        document = json.loads(self.yardstick("compare", *arguments, "--format=json")[0])
        return document, [{m["metric"]: m["verdict"] for m in pair["metrics"]} for pair in document["pairs"]]

    def test_a_planted_change_is_found_and_what_did_not_change_is_the_same(self):
        base, candidate = self.made("base.jsonl"), self.made("candidate.jsonl", self.slower)
        document, (one, other) = self.verdicts(base, candidate)
        self.assertEqual(one["rate_per_s"], "worse")
        self.assertEqual(one["wall_s"], "same")
        self.assertEqual(other["wall_s"], "same")
        rate, = [m for m in document["pairs"][0]["metrics"] if m["metric"] == "rate_per_s"]
        self.assertAlmostEqual(rate["ratio"], 0.9, 9)
        self.assertIn("ref", document["pairs"][0]["drift"])
        self.assertEqual((document["differences"], document["pairs"][0]["other"]), ([], []))
        self.assertEqual(self.verdicts(candidate, base)[1][0]["rate_per_s"], "better")
        self.assertEqual(self.verdicts(base, base)[1][0]["rate_per_s"], "same")
        self.assertEqual(self.verdicts(base, candidate, "--margin=0.2")[1][0]["rate_per_s"], "same")
        out, _ = self.yardstick("compare", base, candidate, base)
        self.assertIn("worse", out)
        self.assertEqual(sum(line.startswith("candidate ") for line in out.splitlines()), 2)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_a_bound_of_bias_above_the_margin_makes_a_verdict_unclear(self):
        base = self.made("base.jsonl")
        rate = lambda of, with_: [m for m in self.verdicts(of, with_)[0]["pairs"][0]["metrics"] if m["metric"] == "rate_per_s"][0]
        # A tenth slower, of which a tenth may be left of warm-up.
        found = rate(base, self.made("warm.jsonl", self.warming(0.1)))
        self.assertLess(found["ci"][1], 1 / 1.02)
        self.assertGreater(found["settled_ci"][1], 1 / 1.02)
        self.assertEqual(found["verdict"], "unclear")
        self.assertIn("warming up", found["reason"])
        self.assertEqual(rate("warm.jsonl", base)["verdict"], "unclear")
        # What is left on the side that is faster takes nothing from that: without it, it would be faster still.
        found = rate(base, self.made("warm.jsonl", self.warming(-0.1)))
        self.assertEqual((found["verdict"], found["settled_ci"][1] < found["ci"][0]), ("worse", True))
        found = rate(base, self.made("short.jsonl", self.warming(None)))
        self.assertEqual((found["verdict"], found["settled_ci"]), ("unclear", None))
        self.assertIn("fewer than 30 blocks", found["reason"])
        self.assertIn("30 blocks", " ".join(self.yardstick("compare", base, "short.jsonl")[0].split()))

    def test_without_a_trial_in_common_times_are_unclear(self):
        alone = lambda line: "ref" not in line.get("trial", line.get("id", "") if line["type"] == "trial" else "")
        base, candidate = self.made("base.jsonl", keep=alone), self.made("candidate.jsonl", self.slower, alone)
        document, (only,) = self.verdicts(base, candidate)
        self.assertEqual((only["rate_per_s"], only["rss_peak_bytes"]), ("unclear", "same"))
        self.assertIn("same engine in both", document["pairs"][0]["drift"])

    def test_other_machines_and_other_work_are_said(self):
        other = [json.loads(line) for line in open(self.made("candidate.jsonl"))]
        for line in other:
            if line["type"] == "host":
                line["cpu"]["model"] = "Other CPU 9000"
            if line["type"] == "trial" and "ref" not in line["id"]:
                line["keys"]["batch"] = 16
        self.write("candidate.jsonl", sealed(other))
        document, (one, two) = self.verdicts(self.made("base.jsonl"), "candidate.jsonl")
        self.assertIn("cpu.model", [difference["what"] for difference in document["differences"]])
        self.assertEqual(set(one.values()), {"invalid"})
        self.assertIn("not the same work: batch is 8 there and 16 here", document["pairs"][0]["invalid"])
        self.assertNotIn("invalid", two.values())
        self.assertIn("Other CPU 9000", self.yardstick("compare", "base.jsonl", "candidate.jsonl")[0])

    def test_everything_that_another_host_has_differently_is_said(self):
        """One study, exported on two hosts: each thing that the second has differently, where it stands and what it is."""
        lines = [json.loads(line) for line in open(self.made("there.jsonl"))]
        for line in lines:
            if line["type"] == "study":
                line["model_info"][0]["train_hash"] = "f" * 64
            if line["type"] == "host":
                line["cpu"]["model"] = "Other CPU 9000"
                line["system"].update(kernel="Linux 9.0", libc="glibc 9.9", mitigations={"spectre_v2": "Mitigation: Enhanced IBRS"})
                line["environment"]["OMP_NUM_THREADS"] = "7"
                line["cpu"]["isa"] = ["avx", "fma"]
                line["cpu"]["caches"] = [{"level": 1, "type": "Data"}, {"level": 2, "type": "Unified"}]
                line["memory"]["total_bytes"] = 3054256128
            if line["type"] == "trial":
                line["framework"]["closure"] = "a" * 64
                line["keys"]["threads"] = 2
            if line["type"] == "run":
                line["facts"]["observed"]["libraries"] = ["libother.so.9"]
        self.write("there.jsonl", sealed(lines))
        document, _ = self.verdicts(self.made("here.jsonl"), "there.jsonl")
        machines = {one["what"]: one["candidate"] for one in document["differences"]}
        for what, value in (("cpu.model", "Other CPU 9000"), ("system.kernel", "Linux 9.0"), ("system.libc", "glibc 9.9"),
                            ("environment.OMP_NUM_THREADS", "7"), ("cpu.isa", "avx, fma"), ("memory.total_bytes", "3054256128 (3.05 GB)"),
                            ("cpu.caches", "level 1, type Data; level 2, type Unified"), ("system.mitigations.spectre_v2", "Mitigation: Enhanced IBRS")):
            self.assertEqual(machines.get(what), value, what)
        for pair in document["pairs"]:
            around = {one["what"]: one["candidate"] for one in pair["differences"]}
            self.assertEqual(around["framework.closure"], "a" * 64)
            self.assertEqual(around["threads"], "2")
            self.assertIn("libother.so.9", around["observed.libraries"])
            self.assertIn("training data is", pair["invalid"])
            self.assertEqual({metric["verdict"] for metric in pair["metrics"]}, {"invalid"})
        text = self.yardstick("compare", "here.jsonl", "there.jsonl")[0]
        for words in ("Other CPU 9000", "Linux 9.0", "OMP_NUM_THREADS", "spectre_v2", "libother.so.9", "training data"):
            self.assertIn(words, text)

    def test_stored_studies_and_trials_of_one_study(self):
        self.yardstick("run", *SMALL, "--quiet")
        document, (one,) = self.verdicts("last/0", "last/1")
        self.assertIn("of one study", document["pairs"][0]["drift"])
        self.assertEqual(document["base"]["id"], 1)
        self.write("export.jsonl", self.yardstick("export")[0])
        document, _ = self.verdicts("last", "export.jsonl")
        self.assertIsNone(document["candidate"]["id"])
        for pair in document["pairs"]:
            for metric in pair["metrics"]:
                self.assertEqual(metric["base_value"], metric["candidate_value"], metric["metric"])

    def test_bad_input(self):
        good = self.made("good.jsonl")
        self.refusal("compare", good, words=("two studies", "yardstick compare BASE CANDIDATE"))
        self.refusal("compare", good, "nosuch", words=("no results",))
        self.refusal("compare", good, good, "--margin=-1", words=("--margin=-1", "0.02"))
        with open(good) as file:
            text = file.read()
        cases = [("", "without a trial"), ("{}\n", "not a study"), ("nonsense\n", "no export"), (text[:-5], "cut short"),
                 (text.splitlines()[0] + "\n", "without a trial"), (text + text, "ended before"), (text.rsplit("\n", 2)[0] + "\n", "cut short"),
                 (text.replace('"round": 1', '"round": 9', 1), "was changed"),
                 ("\n".join(text.splitlines()[:3] + text.splitlines()[4:]) + "\n", "")]
        for bad, words in cases:
            self.write("bad.jsonl", bad)
            self.refusal("compare", good, "bad.jsonl", words=("bad.jsonl", words))
        self.assertEqual(os.listdir(os.path.join(self.environment()["YARDSTICK_CACHE"], "judge")), [])
