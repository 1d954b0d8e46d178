"""Several processes that train together: the same work as one, proven; and what becomes of a run when one of them fails."""
import ctypes
import glob
import json
import os
import signal
import time
import unittest

from harness import RECIPES, Case, tearDownModule  # noqa: F401  (removes the cache that the cases share)

# In double, so that what differs is the order of a few sums.
MLP = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--lr=0.05", "--weight-decay=0.001",
       "--precision=f64", "--steps=30", "--block=5"]
LONG = ["--framework=builtin", "--model=lenet", "--data=synthetic", "--batch=8", "--steps=100000", "--block=1", "--audit=off",
        "--repeat=1", "--ranks=4", "--precision=f32"]
PARTS = ("compute", "communication", "waiting", "optimizer", "framework", "input", "rest")  # of a step


class Ranks(Case):
    def exported(self, kind="run"):
        out, _ = self.yardstick("export")
        return [line for line in map(json.loads, out.splitlines()) if line["type"] == kind]

    def facts(self, code=0, **options):
        run, = self.exported()
        return run["facts"]

    def test_any_number_of_ranks_learns_what_one_does(self):
        out, _ = self.result("run", *MLP, "--momentum=0.9", "--global-batch=24", "--ranks=1,2,4", "--repeat=1")
        trials = out["trials"]
        self.assertEqual([trial["proof"]["verdict"] for trial in trials], ["pass"] * 3)
        self.assertEqual([trial["keys"]["batch"] for trial in trials], [24, 12, 6])
        losses = [trial["metrics"]["final_loss"]["value"] for trial in trials]
        for loss in losses[1:]:  # thirty steps in double, each of some thousand sums: 1e-16 grows to some 1e-13
            self.assertAlmostEqual(loss, losses[0], delta=1e-10 * losses[0])
        self.assertEqual(len({trial["metrics"]["accuracy"]["value"] for trial in trials}), 1)
        self.assertEqual([trial["proof"]["audit"]["verdict"] for trial in trials], ["pass"] * 3)

    def test_a_run_tells_of_each_of_its_ranks(self):
        self.yardstick("run", *MLP, "--batch=8", "--ranks=2", "--repeat=1", "--sample-hz=50")
        facts = self.facts()
        ranks = facts["ranks"]
        self.assertEqual([rank["rank"] for rank in ranks], [0, 1])
        self.assertEqual([rank["status"] for rank in ranks], ["ok", "ok"])
        self.assertEqual([rank["steps_done"] for rank in ranks], [30, 30])
        for rank in ranks:
            self.assertGreater(rank["rate_per_s"], 0)
            self.assertGreater(rank["rss_peak_bytes"], 1 << 20)
            self.assertEqual(len(rank["cpus"]), 1)
        used_s = (facts["usage"]["user_ns"] + facts["usage"]["system_ns"]) / 1e9
        self.assertAlmostEqual(sum(rank["cpu_s"] for rank in ranks), used_s, places=6)
        folder, = glob.glob(os.path.join(self.folder, "yardstick-results", "*", "runs", "*"))
        self.assertTrue(os.path.exists(os.path.join(folder, "rank-1", "adapter.log")))
        self.assertEqual(glob.glob(os.path.join(folder, "**", "*.safetensors"), recursive=True), [])
        self.assert_nothing_left()
        for rank in ranks:  # which count their exchange by themselves
            told = rank["collectives"]
            self.assertEqual([told["library"], told["reason"], told["calls"]], ["own", None, None])
            self.assertGreater(told["busy_s"], 0)
            self.assertLessEqual(told["hidden_s"], told["busy_s"])
        for rank in ranks:  # they add up to the time of a step, of which the whole took no longer than training did
            parts = [rank[name + "_s"] for name in PARTS]
            self.assertTrue(all(part >= 0 for part in parts), parts)
            self.assertGreater(min(rank[name + "_s"] for name in ("compute", "optimizer", "framework", "input")), 0)
            self.assertLessEqual(sum(parts) * 29e9, facts["times"]["trained_ns"] - facts["times"]["train_ns"])
        trial, = self.result("show", "last")[0]["trials"]
        self.assertEqual([rank["status"] for rank in trial["ranks"]], ["ok", "ok"])
        self.assertEqual([rank["compute_s"] for rank in trial["ranks"]], [rank["compute_s"] for rank in ranks])
        table, _ = self.yardstick("show", "last", "--details")
        self.assertIn("Ranks (medians of the runs", table)
        self.assertLessEqual(max(map(len, table.splitlines())), 80)

    def test_buckets_and_transports_do_the_same_work_and_send_as_much(self):
        out, _ = self.result("run", *MLP, "--batch=8", "--ranks=4", "--repeat=1", "--bucket=1kB,auto",
                             "--opt.builtin.transport=tcp,shared")
        trials = out["trials"]
        self.assertEqual([trial["proof"]["verdict"] for trial in trials], ["pass"] * 4)
        self.assertEqual([trial["keys"]["bucket"] for trial in trials], [1000, 1000, None, None])
        losses = [trial["metrics"]["final_loss"]["value"] for trial in trials]
        self.assertEqual(losses[0], losses[1])  # of one plan of buckets the bits are those of any transport
        self.assertEqual(losses[2], losses[3])
        for trial in trials:
            sent = [rank["sent_bytes"] for rank in trial["ranks"]]
            # Three of four shares of doubles, twice, and 16 bytes for each bucket; shares differ by one number, and rows
            # of parameters end on cache lines.
            least = 2 * 3 / 4 * 8 * out["work"][0]["parameters"]
            self.assertTrue(all(least <= bytes_ <= 1.01 * least + 1024 for bytes_ in sent), (sent, least))
        self.refusal("run", *MLP, "--batch=8", "--ranks=2", "--bucket=0", words=["bucket"])

    def test_batch_normalisation_is_by_the_rows_of_each_rank(self):
        out, _ = self.yardstick("verify", "--framework=builtin", "--model=check_BatchNormalization", "--data=synthetic",
                                "--batch=4", "--ranks=1,2", "--threads=1", "--format=json")
        self.assertEqual([trial["proof"]["verdict"] for trial in json.loads(out)], ["pass", "pass"])

    def test_the_first_loss_of_one_process_is_not_asked_of_ranks_that_normalise_by_themselves(self):
        out, _ = self.result("run", "--framework=builtin", "--model=check_BatchNormalization", "--data=synthetic", "--global-batch=8",
                             "--ranks=1,2", "--threads=1", "--steps=4", "--repeat=1", "--order=fixed", "--audit=off")
        self.assertEqual([trial["status"] for trial in out["trials"]], ["ok", "ok"])

    def test_batch_normalisation_by_the_rows_of_all_is_that_of_one_process(self):
        work = ["--model=check_BatchNormalization", "--data=synthetic", "--global-batch=16", "--threads=1", "--lr=0.05", "--momentum=0.9"]
        formats = self.formats()
        out, _ = self.yardstick("verify", "--framework=builtin", *work, "--ranks=1,2,4", "--bn=sync", "--format=json",
                                "--precision=" + ",".join(formats))
        proofs = [trial["proof"] for trial in json.loads(out)]
        self.assertEqual([proof["verdict"] for proof in proofs], ["pass"] * 3 * len(formats))
        # The same formulas in double, with sums in another order.
        errors = [check["error"] for proof in proofs for check in proof["checks"] if check["half"] == "meaning"]
        self.assertLess(max(error for error in errors if error is not None), 1e-9)
        out, _ = self.yardstick("verify", "--recipes=" + RECIPES, "--framework=ranked", *work, "--ranks=2", "--bn=sync",
                                "--env.RANKED_WRONG=local", "--format=json", code=5)
        proof = json.loads(out)[0]["proof"]
        self.assertEqual(proof["verdict"], "fail")
        self.assertEqual([check["name"] for check in proof["checks"] if not check["pass"]][0], "logits")

    def test_a_run_that_normalises_by_the_rows_of_all_has_the_same_bits_by_any_transport(self):
        out, _ = self.result("run", "--framework=builtin", "--model=check_BatchNormalization", "--data=synthetic", "--global-batch=16",
                             "--threads=1", "--steps=12", "--repeat=1", "--ranks=2", "--bn=sync",
                             "--opt.builtin.transport=tcp,shared", "--bucket=1kB,auto")
        self.assertEqual([trial["status"] for trial in out["trials"]], ["ok"] * 4)
        losses = [trial["metrics"]["final_loss"]["value"] for trial in out["trials"]]
        self.assertEqual(len(set(losses)), 1)

    def test_mpi_has_the_bits_of_tcp_or_says_what_to_install(self):
        try:
            ctypes.CDLL("libmpi.so.12")
        except OSError:
            self.yardstick("run", *MLP, "--global-batch=24", "--ranks=2", "--repeat=1", "--audit=off", "--opt.builtin.transport=mpi", code=5)
            facts = self.facts()
            self.assertEqual(facts["status"], "load_failed")
            self.assertRegex(facts["message"], "rank . of 2: the transport mpi loads libmpi.so.12, which is not there.*install MPICH.*transport tcp")
            return
        out, _ = self.result("run", *MLP, "--global-batch=24", "--ranks=3", "--repeat=1", "--bucket=1kB", "--opt.builtin.transport=tcp,mpi")
        self.assertEqual([(trial["status"], trial["proof"]["verdict"]) for trial in out["trials"]], [("ok", "pass")] * 2)
        self.assertEqual(len({trial["metrics"]["final_loss"]["value"] for trial in out["trials"]}), 1)

    def test_deliberate_mistakes_are_caught(self):
        for wrong, word in (("decay", "of rank 1 is not that of rank 0"), ("rows", "batch"), ("sum", "weights after 1 step"),
                            ("alone", "of rank 1 is not that of rank 0")):
            with self.subTest(wrong):
                out, _ = self.yardstick("verify", "--recipes=" + RECIPES, "--framework=ranked", *MLP[1:], "--batch=4",
                                        "--ranks=2", "--env.RANKED_WRONG=" + wrong, "--format=json", code=5)
                proof = json.loads(out)[0]["proof"]
                self.assertEqual(proof["verdict"], "fail")
                self.assertIn(word, proof["reason"] + json.dumps([c for c in proof["checks"] if not c["pass"]]))
        out, _ = self.yardstick("verify", "--recipes=" + RECIPES, "--framework=ranked", *MLP[1:], "--batch=4", "--ranks=2",
                                "--format=json")
        self.assertEqual(json.loads(out)[0]["proof"]["verdict"], "pass")

    def lines(self):
        """Rows of which most are short and some long, so that ranks have other numbers of targets; their work."""
        with open(os.path.join(self.folder, "lines.txt"), "w") as file:
            file.writelines(("a" * (i * i % 7 + 1) if i % 3 else "a longer line, number %d, of which all is seen" % i) + "\n" for i in range(400))
        self.yardstick("data", "fetch", "lines", "--from", "lines.txt")
        return ["--model=gru-char", "--data=lines", "--threads=1", "--lr=0.05", "--momentum=0.9", "--global-batch=8"]

    def test_a_rank_counts_by_the_targets_that_its_rows_show(self):
        work = self.lines()
        out, _ = self.yardstick("verify", "--framework=builtin", *work, "--ranks=1,2,4", "--precision=f64,f32", "--clip-norm=0.5",
                                "--opt.builtin.transport=shared", "--format=json")
        proofs = [trial["proof"] for trial in json.loads(out)]
        self.assertEqual([proof["verdict"] for proof in proofs], ["pass"] * 6)
        errors = [check["error"] for proof in proofs for check in proof["checks"] if check["half"] == "meaning"]
        self.assertLess(max(error for error in errors if error is not None), 1e-9)
        out, _ = self.yardstick("verify", "--recipes=" + RECIPES, "--framework=ranked", *work, "--ranks=2", "--format=json",
                                "--env.RANKED_WRONG=even", code=5)
        proof = json.loads(out)[0]["proof"]
        self.assertEqual([check["name"] for check in proof["checks"] if not check["pass"]][0], "gradients")

    def test_the_loss_of_ranks_is_that_of_one_process_where_targets_are_hidden(self):
        out, _ = self.result("run", "--framework=builtin", *self.lines(), "--precision=f64", "--steps=12", "--repeat=1", "--ranks=1,2,4")
        self.assertEqual([trial["status"] for trial in out["trials"]], ["ok"] * 3)
        losses = [trial["metrics"]["final_loss"]["value"] for trial in out["trials"]]
        for loss in losses[1:]:  # twelve steps in double
            self.assertAlmostEqual(loss, losses[0], delta=1e-10 * losses[0])

    def test_ranks_that_train_each_by_itself_are_caught_in_a_run_too(self):
        self.yardstick("run", "--recipes=" + RECIPES, "--framework=ranked", *MLP[1:], "--batch=4", "--ranks=2",
                       "--env.RANKED_WRONG=alone", "--repeat=1", "--audit=off", code=5)
        facts = self.facts()
        self.assertEqual(facts["status"], "wrong_output")
        self.assertIn("rank 1 of 2 saved other weights than rank 0", facts["message"])

    def test_who_does_not_know_of_ranks_is_unsupported_by_the_name_of_the_feature(self):
        self.yardstick("run", "--recipes=" + RECIPES, "--framework=ranked", *MLP[1:], "--batch=4", "--ranks=2",
                       "--env.RANKED_WRONG=mute", "--repeat=1", code=6)
        facts = self.facts()
        self.assertEqual(facts["status"], "unsupported")
        self.assertIn("feature dist", facts["message"])

    def test_the_built_in_engine_does_not_divide_the_network(self):
        self.yardstick("run", *MLP, "--batch=8", "--ranks=2", "--repeat=1", "--strategy=sharded", code=6)
        facts = self.facts()
        self.assertEqual(facts["status"], "unsupported")
        self.assertIn('strategy "sharded"', facts["message"])

    def test_shares_that_are_not_equal_are_refused(self):
        base = ["run", "--framework=builtin", "--model=mlp", "--data=digits", "--steps=2"]
        self.refusal(*base, "--global-batch=65", "--ranks=2", words=["global_batch = 65", "equal shares", "ranks = 2"])
        self.refusal(*base, "--global-batch=2", "--ranks=4", words=["global_batch = 2", "ranks = 4"])
        self.refusal(*base, "--batch=8", "--ranks=2", "--threads=3", words=["threads has 3", "ranks = 2"])
        self.refusal(*base, "--batch=8", "--global-batch=16", words=["cannot both be given"])
        self.refusal(*base, "--batch=8", "--ranks=2", "--perf=on", words=["perf = on"])
        self.refusal(*base, "--batch=4000", "--ranks=2", words=["8000 rows for 2 ranks", "larger than the data"])

    def rank_process(self, rank):
        """The adapter of that rank, by the folder it works in; None while there is none."""
        for pid in self.marked_processes():
            try:
                folder = os.readlink("/proc/%d/cwd" % pid)
                with open("/proc/%d/cmdline" % pid, "rb") as file:
                    is_adapter = b"yardstick-builtin" in file.read().split(b"\0")[0]
            except OSError:
                continue
            if is_adapter and folder.endswith("rank-%d" % rank) and "/runs/" in folder:
                return pid
        return None

    def disturbed(self, rank, disturb, *flags):
        """Facts of a run of four ranks of which `disturb` is done to one, once all are there."""
        process = self.start("run", *LONG, *flags)
        self.wait_until(lambda: self.rank_process(rank) and self.rank_process(3), process, 200)
        time.sleep(0.3)
        disturb(self.rank_process(rank))
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, err)
        self.assert_nothing_left()
        return self.facts()

    def test_a_rank_that_is_killed_ends_the_run_and_is_named(self):
        facts = self.disturbed(2, lambda pid: os.kill(pid, signal.SIGKILL))
        self.assertEqual(facts["status"], "killed")
        self.assertIn("rank 2 of 4", facts["message"])
        self.assertEqual(facts["ranks"][2]["status"], "killed")
        self.assertEqual(facts["ranks"][2]["signal"], 9)
        trial, = self.result("show", "last")[0]["trials"]
        self.assertEqual(trial["ranks"][2]["status"], "killed")
        self.assertIn("rank 2 of 4", trial["reason"])
        self.assertRegex(self.yardstick("show", "last", "--details")[0], r"(?s)rank 2 of 4.*Ranks \(.*killed")
        for rank in (0, 1, 3):  # each heard of it, or was ended because of it
            self.assertIn(facts["ranks"][rank]["status"], ("crashed", "cancelled"))

    def test_a_rank_that_is_stopped_stalls_the_run_and_is_named(self):
        facts = self.disturbed(1, lambda pid: os.kill(pid, signal.SIGSTOP), "--stall-limit=3s")
        self.assertEqual(facts["status"], "stalled")
        self.assertIn("rank 1 of 4", facts["message"])
        self.assertIn("is stopped", facts["message"])

    def test_speeds_of_several_ranks_are_told_as_speed_up_and_efficiency(self):
        for batch, kind, ranks in (("--batch=8", "weak", "1,2"), ("--global-batch=8", "strong", "2,1")):
            out, _ = self.result("run", "--framework=null", "--model=mlp", "--data=digits", "--threads=1", batch, "--ranks=" + ranks,
                                 "--steps=21", "--block=1", "--repeat=6", "--opt.null.rate=4000", "--on-disturbance=ignore")
            speeds = [c for c in out["comparisons"] if c["metric"] == "rate_per_s"]
            self.assertEqual([(c["varies"], c["scaling"]) for c in speeds], [("ranks", kind)])
            trials = {trial["id"]: trial["keys"]["ranks"] or 1 for trial in out["trials"]}
            self.assertEqual((trials[speeds[0]["a"]], trials[speeds[0]["b"]]), (2, 1))
            self.assertEqual(speeds[0]["efficiency"], speeds[0]["ratio"] / 2)
            self.assertEqual(speeds[0]["efficiency_ci"], [end / 2 for end in speeds[0]["ci"]])
            self.assertEqual({c["scaling"] for c in out["comparisons"] if c["metric"] != "rate_per_s"}, {None})
            self.assertIn(kind + " scaling, efficiency ", self.yardstick("show", "last", "--details")[0].replace("\n  ", " "))

    def test_ranks_that_exchange_nothing_are_labelled_and_tell_what_the_exchange_adds(self):
        out, _ = self.result("run", "--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--ranks=2", "--steps=21",
                             "--block=1", "--repeat=6", "--opt.null.rate=2000", "--opt.null.exchange=3000000", "--strategy=data,alone",
                             "--on-disturbance=ignore")
        found = [c for c in out["comparisons"] if c["exposed_s"] is not None]
        self.assertEqual([(c["metric"], c["varies"]) for c in found], [("rate_per_s", "strategy")])
        low, high = found[0]["exposed_s_ci"]
        self.assertTrue(0 < found[0]["exposed_s"] and low <= found[0]["exposed_s"] <= high, found)
        self.assertIn("exposed communication by difference: ", " ".join(self.yardstick("show", "last", "--details")[0].split()))

    def test_the_built_in_engine_that_exchanges_nothing_is_never_proven(self):
        out, _ = self.result("run", *MLP, "--batch=8", "--ranks=2", "--repeat=1", "--strategy=alone")
        trial, = out["trials"]
        self.assertEqual((trial["status"], trial["proof"]["verdict"]), ("ok", "none"))
        self.assertIn("strategy = alone", trial["proof"]["reason"])
        self.assertIn("gradients are not exchanged", trial["deviations"])
        self.assertEqual({(rank["communication_s"], rank["untimed"]) for rank in trial["ranks"]}, {(None, "its ranks exchange nothing")})
        self.refusal("run", *MLP, "--batch=8", "--ranks=2", "--strategy=alone", "--bn=sync", words=["strategy = alone", "bn = sync"])

    def test_a_rank_that_is_late_is_found_and_the_part_that_makes_it_so(self):
        work = ["--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--ranks=3", "--steps=11", "--block=2",
                "--repeat=6", "--opt.null.rate=2000", "--opt.null.exchange=1000", "--opt.null.late_ms=40"]
        for rank, which, part, word in ((1, "1", "compute", "computing"), (2, "2", "input", "waiting for data"),
                                        (0, None, "optimizer", "the optimizer"), (0, "0", "framework", "the framework")):
            which = ["--opt.null.late_rank=" + which] if which else []
            out, _ = self.result("run", *work, *which, "--opt.null.late_part=" + part)
            ranks = out["trials"][0]["ranks"]
            last = max(ranks, key=lambda told: told["late_s"])
            self.assertEqual((last["rank"], last["late_part"]), (rank, part))
            self.assertGreater(last["late_ci"][0], 0)
            self.assertEqual([told["rank"] for told in ranks if told["late_ci"][0] > 0.5 * last["late_s"]], [rank])
            # The others wait for it, and it for nobody.
            self.assertEqual(min(ranks, key=lambda told: told["waiting_s"])["rank"], rank)
            for told in ranks:
                for name in PARTS:
                    low, high = told[name + "_ci"]
                    self.assertTrue(low <= told[name + "_s"] <= high)
                self.assertAlmostEqual(told["level"], 1 - 2 / 2**6)
            self.assertIn("rank %d is the last: %s takes it" % (rank, word), self.yardstick("show", "last", "--details")[0].replace("\n    ", " "))

    def test_a_late_rank_that_there_is_not_is_named_with_those_that_there_are(self):
        self.yardstick("run", "--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--ranks=3", "--steps=2",
                       "--repeat=1", "--opt.null.late_ms=1", "--opt.null.late_rank=3", code=1)
        self.assertIn('option late_rank is "3"; it must be the number of a rank: whole, from 0 to 2', self.facts()["message"])

    def test_keys_take_each_others_place(self):
        path = self.study("repeat = 1", "audit = off", "[global]", "framework = builtin", "model = mlp", "data = digits",
                          "batch = 16", "ranks = 2", "steps = 4", "[a]", "[b]", "global_batch = 16")
        out, _ = self.result("run", path)
        self.assertEqual([(t["keys"]["batch"], t["keys"]["global_batch"], t["keys"]["ranks"]) for t in out["trials"]],
                         [(16, None, 2), (8, 16, 2)])


if __name__ == "__main__":
    unittest.main()
