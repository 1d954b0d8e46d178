"""input = ring: batches that yardstick-feeder makes while a framework works, and what happens when it cannot."""
import json
import os
import resource
import signal
import time

from harness import Case, tearDownModule  # noqa: F401

MLP = ["--framework=builtin", "--model=mlp", "--data=digits", "--batch=16", "--steps=30", "--lr=0.05", "--threads=1", "--repeat=1"]
RING = [*MLP, "--input=ring"]
# Long enough that something can be done to the feeder meanwhile, and never waited for.
LONG = ["--framework=builtin", "--model=lenet", "--data=digits", "--batch=64", "--steps=100000", "--threads=1", "--repeat=1",
        "--input=ring", "--audit=off", "--format=json"]


class Fed:
    """What cases of runs with a feeder need."""

    def run_of(self, *arguments):
        document, _ = self.result("run", *arguments)
        return document["trials"][0]

    @staticmethod
    def of(trial, metric):
        return trial["metrics"][metric]["value"]

    def feeder(self):
        """The process that feeds; None where there is none."""
        for pid in self.marked_processes():
            try:
                with open("/proc/%d/cmdline" % pid, "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:  # it has ended since it was listed
                continue
            if words[0].endswith(b"yardstick-feeder") and b"serve" in words:
                return pid
        return None

    def busy(self, process):
        """The feeder of a run that trains: the proof's have gone."""
        def holds():
            folders = [path for path, _, names in os.walk(self.folder) if path.endswith("/feeder")]
            return self.feeder() is not None and any("/yardstick-results/" in path for path in folders)
        self.wait_until(holds, process)
        return self.feeder()

    def broken(self, process, code=1):
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, err)
        return err


class Feeder(Fed, Case):
    def test_a_ring_gives_what_a_file_gives(self):
        file, ring = self.run_of(*MLP), self.run_of(*RING)
        self.assertEqual((ring["proof"]["verdict"], ring["proof"]["audit"]["verdict"]), ("pass", "pass"))
        self.assertEqual(self.of(ring, "final_loss"), self.of(file, "final_loss"))
        self.assertEqual(self.of(ring, "test_loss"), self.of(file, "test_loss"))
        self.assertIsNone(self.of(file, "feeder_cpu_s"))
        self.assertGreater(self.of(ring, "feeder_cpu_s"), 0)
        self.assertGreater(self.of(ring, "feeder_rss_bytes"), 1 << 20)

    def test_images_are_changed_by_lot_and_proven_so(self):
        plain, changed = self.run_of(*RING), self.run_of(*RING, "--augment=crop+flip")
        self.assertEqual((changed["proof"]["verdict"], changed["proof"]["audit"]["verdict"]), ("pass", "pass"))
        self.assertNotEqual(self.of(changed, "final_loss"), self.of(plain, "final_loss"))
        again = self.run_of(*RING, "--augment=crop+flip", "--input.threads=3")
        self.assertEqual(self.of(again, "final_loss"), self.of(changed, "final_loss"))

    def test_requests_come_by_ring_too(self):
        trial = self.run_of("--mode=infer", "--requests=50", "--framework=builtin", "--model=mlp", "--data=digits", "--batch=4",
                            "--input=ring", "--threads=1", "--repeat=1")
        self.assertEqual((trial["status"], trial["proof"]["verdict"]), ("ok", "pass"))

    def test_the_report_shows_what_it_took_beside_the_run(self):
        out, _ = self.yardstick("run", *RING, "--details")
        said = r"Fed by yardstick-feeder, which is in none of the figures above:?\W+(- |<ul>\s<li>)?.*: [0-9.]+ m?s of CPU time, [0-9.]+ MB"
        self.assertRegex(out, said)
        self.assertRegex(self.yardstick("show", "last", "--format=md")[0], said)
        pages = [os.path.join(path, name) for path, _, names in os.walk(self.folder) for name in names if name == "report.html"]
        with open(pages[0], encoding="utf-8") as file:
            self.assertRegex(file.read(), "<h3>Fed by yardstick-feeder, which is in none of the figures above</h3>\n<ul>\n<li>[^<]+: "
                                          "[0-9.]+ m?s of CPU time")

    def test_it_has_cpus_of_its_own(self):
        last = max(os.sched_getaffinity(0))
        process = self.start("run", *LONG, "--input.cpus=%d" % last)
        self.assertEqual(os.sched_getaffinity(self.busy(process)), {last})
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        self.assert_nothing_left()

    def test_what_does_not_go_together_is_refused(self):
        self.refusal("run", *MLP, "--augment=flip", words=["augment = flip", "write input = ring"])
        self.refusal("run", *MLP, "--input.cpus=0", words=["input.cpus: there is no yardstick-feeder to bind: write input = ring"])
        self.refusal("run", "--mode=infer", "--model=mlp", "--data=digits", "--input=ring", "--augment=flip",
                     words=["augment = flip", "where requests are answered"])
        self.refusal("run", "--model=gpt-nano", "--data=chars", "--batch=4", "--input=ring", "--augment=flip",
                     words=["the rows of chars are no images"])

    def test_a_feeder_that_is_killed_ends_the_run_with_its_own_status(self):
        process = self.start("run", *LONG)
        os.kill(self.busy(process), signal.SIGKILL)
        message = self.broken(process)
        self.assertRegex(message, "killed in (start|open|train): the feeder: yardstick-feeder was killed \\(signal 9\\) by something "
                                  "else than yardstick")
        self.assert_nothing_left()

    def test_a_feeder_that_is_slow_is_waited_for(self):
        """As on a disk that is: it stands still again and again, and the run goes on with it."""
        words = [word for word in RING if not word.startswith("--steps")]
        process = self.start("run", *words, "--steps=2000", "--audit=off", "--anchor=off", "--format=json")
        feeder = self.busy(process)
        try:
            for _ in range(8):
                os.kill(feeder, signal.SIGSTOP)
                time.sleep(0.1)
                os.kill(feeder, signal.SIGCONT)
                time.sleep(0.01)
        except ProcessLookupError:  # the run was done before
            pass
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(json.loads(out)["trials"][0]["status"], "ok")

    def test_a_feeder_that_stands_still_stalls_the_run(self):
        process = self.start("run", *LONG, "--stall-limit=2s")
        os.kill(self.busy(process), signal.SIGSTOP)
        message = self.broken(process)
        self.assertRegex(message, "stalled in (start|open|train): the feeder: nothing was heard of yardstick-feeder for 2 s "
                                  "\\(stall_limit\\)")
        self.assert_nothing_left()

    def test_an_oracle_that_may_not_write_says_so(self):
        def limit():  # of files: less than the gradients in double, more than the weights
            resource.setrlimit(resource.RLIMIT_FSIZE, (3400 << 10, 3400 << 10))
        document, err = self.result("run", *RING, "--seed=19", "--audit=off", preexec_fn=limit, code=5)  # of which nothing is kept
        self.assertEqual(document["trials"][0]["status"], "ok")
        self.assertRegex(err, "is not proven: the oracle ended as crashed: cannot write /.*: File too large; so there was nothing")

    def test_shared_memory_that_is_full_is_one_sentence(self):
        def limit():  # of files and of shared memory: less than the ring's 12.2 MB, more than a run that is proven writes
            resource.setrlimit(resource.RLIMIT_FSIZE, (11 << 20, 11 << 20))
        big = ["--framework=builtin", "--model=mlp", "--data=digits", "--batch=3840", "--steps=1", "--threads=1", "--repeat=1",
               "--input=ring", "--audit=off"]
        self.yardstick("run", *big)
        alone = self.broken(self.start("run", *big, "--seed=2", preexec_fn=limit), code=5)  # whose proof lacks it as well
        self.assertEqual(alone.count("no shared memory"), 1, alone)
        process = self.start("run", *big, preexec_fn=limit)
        message = self.broken(process)
        self.assertIn("oom_host", message)
        self.assertRegex(message, "the feeder: no shared memory for a ring of 4 batches, 121[0-9]{5} bytes: File too large; take a "
                                  "smaller batch")
