"""Runs on several hosts: agents do what one host does, to the bit, and tell of it; and what becomes of a run when an agent is not
what it should be, or goes."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import unittest.mock

import harness
from harness import BIN, Case, tearDownModule  # noqa: F401  (removes the cache that the cases share)
from node_between import UNSHARE

# In double, so that the bits of four ranks tell of the order of each sum.
MLP = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--lr=0.05", "--momentum=0.9", "--precision=f64", "--global-batch=24",
       "--block=5", "--repeat=1"]
LONG = ["--framework=builtin", "--model=lenet", "--data=synthetic", "--batch=8", "--steps=100000", "--block=1", "--audit=off", "--repeat=1",
        "--nodes=2", "--ranks-per-node=2"]
SHORT = ["--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--block=5", "--repeat=1", "--nodes=2"]


class Nodes(Case):
    def facts(self):
        out, _ = self.yardstick("export")
        run, = [line for line in map(json.loads, out.splitlines()) if line["type"] == "run"]
        return run["facts"]

    def between(self, wrong, program=os.path.join(BIN, "yardstick-node")):
        """Variables with which node_between.py does `wrong`, as a copy of yardstick starts it where it starts agents: programs are
        first looked for beside the one that runs."""
        folder = tempfile.mkdtemp(dir=self.folder)
        for name in ("builtin", "null", "launch", "feeder"):
            os.symlink(os.path.join(BIN, "yardstick-" + name), os.path.join(folder, "yardstick-" + name))
        os.symlink(os.path.join(os.path.dirname(os.path.abspath(__file__)), "node_between.py"), os.path.join(folder, "yardstick-node"))
        copy = shutil.copy(harness.PROGRAM, folder)
        patch = unittest.mock.patch.object(harness, "PROGRAM", copy)
        patch.start()
        self.addCleanup(patch.stop)
        self.pipe = os.path.join(folder, "pipe")
        return {"NODE_PROGRAM": program, "NODE_WRONG": wrong, "NODE_PIPE": self.pipe}.items()

    def test_hosts_do_what_one_does_to_the_bit(self):
        for ranks, nodes in (("2", ["--nodes=2", "--ranks-per-node=1"]), ("4", ["--nodes=2", "--ranks-per-node=2"]), ("4", ["--nodes=4"])):
            with self.subTest(nodes):
                one, _ = self.result("run", *MLP, "--steps=30", "--ranks=" + ranks)
                several, _ = self.result("run", *MLP, "--steps=30", *nodes)
                one, several = one["trials"][0], several["trials"][0]
                self.assertEqual(several["status"], "ok")
                self.assertEqual((several["keys"]["ranks"], one["keys"]["nodes"]), (int(ranks), None))
                for name in ("final_loss", "accuracy"):
                    self.assertEqual(several["metrics"][name]["value"], one["metrics"][name]["value"])
                self.assertEqual(several["proof"]["verdict"], "pass")
                self.assertEqual(several["proof"]["audit"]["verdict"], "pass")
        self.assert_nothing_left()

    def test_a_row_tells_of_each_host_and_of_each_rank(self):
        self.yardstick("run", *SHORT, "--steps=20", "--ranks-per-node=2", "--opt.null.exchange=1000", "--sample-hz=50")
        facts = self.facts()
        name = socket.gethostname()
        self.assertEqual([(node["node"], node["host"]) for node in facts["nodes"]], [(0, name), (1, name)])
        self.assertEqual([(rank["rank"], rank["node"], rank["host"]) for rank in facts["ranks"]],
                         [(0, 0, name), (1, 0, name), (2, 1, name), (3, 1, name)])
        for node in facts["nodes"]:  # one clock: there is nothing to relate
            self.assertEqual([node["clock_" + what] for what in ("offset_ns", "error_ns", "drift", "looks")], [0, 0, 0, 0])
            self.assertEqual(node["kernel"], os.uname().release)
            self.assertGreater(node["cpus"], 0)
        for rank in facts["ranks"]:
            self.assertEqual((rank["status"], rank["steps_done"]), ("ok", 20))
            self.assertGreater(rank["rss_peak_bytes"], 1 << 20)
            self.assertGreater(rank["cpu_s"], 0)
            self.assertGreaterEqual(rank["waiting_s"], 0)
        self.assertGreater(facts["harness"]["cpu_ns"], 0)
        trial, = self.result("show", "last")[0]["trials"]
        self.assertEqual([(rank["status"], rank["host"], rank["clock_error_s"]) for rank in trial["ranks"]], [("ok", name, 0)] * 4)
        self.assertRegex(self.yardstick("show", "last", "--details")[0], r"(?m)\b3 %s +ok\b" % re.escape(name[:30]))
        self.assert_nothing_left()

    def test_ranks_nodes_and_ranks_per_node_say_the_same(self):
        path = self.study("repeat = 1", "audit = off", "[global]", "framework = null", "model = mlp", "data = digits", "batch = 8",
                          "threads = 1", "steps = 4", "block = 2", "[a]", "nodes = {1, 2}", "ranks_per_node = {1, 2}", "[b]", "ranks = 4", "nodes = 2",
                          "ranks_per_node = 2")
        out, _ = self.result("run", path)
        self.assertEqual([tuple(t["keys"][key] for key in ("ranks", "nodes", "ranks_per_node", "launch")) for t in out["trials"]],
                         [(None, None, None, None), (2, None, None, None), (2, 2, 1, "local"), (4, 2, 2, "local"), (4, 2, 2, "local")])
        base = ["run", "--framework=builtin", "--model=mlp", "--data=digits", "--steps=2", "--batch=8"]
        self.refusal(*base, "--ranks=2", "--nodes=2", "--ranks-per-node=2", words=["ranks = 2", "nodes = 2", "ranks_per_node = 2"])
        self.refusal(*base, "--ranks=3", "--nodes=2", words=["ranks = 3", "no equal shares", "nodes = 2"])
        self.refusal(*base, "--nodes=16", "--ranks-per-node=8", words=["128 ranks", "64"])
        self.refusal(*base, "--nodes=2", "--launch=pbs", words=["launch", "pbs", "slurm"])

    def failed(self, wrong, code=1, work=()):
        """Facts of a run of which NODE_WRONG is `wrong`, and what yardstick said."""
        _, err = self.yardstick("run", *SHORT, *work, "--steps=20", "--audit=off", env=self.between(wrong), code=code)
        self.assert_nothing_left()
        return self.facts(), err

    def test_an_agent_with_another_token_is_sent_away(self):
        facts, err = self.failed("1 token")
        self.assertEqual(facts["status"], "load_failed")
        self.assertIn("rank 1 of 2 (node 1, ", facts["message"])
        self.assertIn("its token is not that of this study", facts["message"])
        self.assertIn("was sent away", err)
        self.assertEqual([rank["status"] for rank in facts["ranks"]], ["cancelled", "load_failed"])

    def test_an_agent_of_another_version_is_refused(self):
        facts, _ = self.failed("0 version")
        self.assertEqual(facts["status"], "load_failed")
        self.assertIn("rank 0 of 2 (node 0, ", facts["message"])
        self.assertIn("yardstick 0.0.1", facts["message"])

    def test_two_agents_of_one_number_are_refused(self):
        # Of node 1 the second one comes while the study waits for node 0, which is started through a shell that sleeps.
        slow = self.write("slow", '#!/bin/sh\n[ "$2" = 0 ] && sleep 3\nexec "%s" "$@"\n' % os.path.join(BIN, "yardstick-node"))
        os.chmod(slow, 0o755)
        self.yardstick("run", *SHORT, "--steps=20", "--audit=off", env=self.between("1 twice", slow), code=1)
        facts = self.facts()
        self.assertEqual(facts["status"], "load_failed")
        self.assertIn("node 1 is there already: agents of %s and of %s" % ((socket.gethostname(),) * 2), facts["message"])
        self.assert_nothing_left()

    def test_a_host_that_reads_other_bytes_is_refused_and_the_file_named(self):
        facts, _ = self.failed("1 bytes")
        self.assertEqual(facts["status"], "load_failed")
        self.assertIn("rank 1 of 2 (node 1, ", facts["message"])
        self.assertRegex(facts["message"], "%s reads other bytes than the study in /.*graph" % socket.gethostname())

    def test_an_agent_lives_while_it_reads_a_file(self):
        self.yardstick("run", *SHORT, "--steps=20", "--audit=off", env=self.between("1 slow"))
        self.assertEqual(self.facts()["status"], "ok")  # which it is only where the agent was heard of meanwhile
        self.assert_nothing_left()

    def begin_to_read(self, wrong):
        process = self.start("run", *SHORT, "--steps=20", "--audit=off", env=self.between(wrong))
        self.wait_until(lambda: os.path.exists(self.pipe), process)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        return process

    def test_a_study_that_is_asked_to_stop_waits_for_no_file(self):
        process = self.begin_to_read("1 endless")
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, err)
        self.assert_nothing_left()

    def test_a_study_that_is_asked_again_to_stop_gives_up_an_agent_that_hangs(self):
        process = self.begin_to_read("1 hang")
        time.sleep(1.2)
        self.assertIsNone(process.poll())  # one that tells what it saw would be waited for
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, err)
        self.assert_nothing_left()

    def failed_by_a_file_of_an_option(self, wrong):
        table = {"format": "yardstick/timetable/1", "of": "a millisecond a step", "numbers": 1000, "ranks": [{"before_ns": [1000000], "after_ns": [0]}]}
        path = self.write("steps.timetable", json.dumps(table))
        facts, _ = self.failed(wrong, work=["--opt.null.timetable=" + path])
        self.assertEqual(facts["status"], "load_failed")
        self.assertIn("rank 1 of 2 (node 1, ", facts["message"])
        return facts["message"]

    def test_a_file_of_an_option_is_compared_too(self):
        self.assertRegex(self.failed_by_a_file_of_an_option("1 table"),
                         "%s reads other bytes than the study in /.*/steps.timetable" % socket.gethostname())

    def test_a_file_of_an_option_that_a_host_does_not_see_is_named(self):
        self.assertRegex(self.failed_by_a_file_of_an_option("1 lost"),
                         "%s does not see what the study sees: .*files that options name.*: .*/nowhere/steps.timetable" % socket.gethostname())

    def test_a_clock_that_cannot_be_related_is_named_with_its_host(self):
        facts, _ = self.failed("1 mute")
        self.assertEqual(facts["status"], "stalled")
        self.assertIn("rank 1 of 2 (node 1, {0}): the clock of node 1 ({0}) cannot be related: its agent did not say the time in 2 s"
                      .format(socket.gethostname()), facts["message"])
        self.assertEqual(facts["ranks"][0]["status"], "cancelled")

    def test_an_agent_that_breaks_the_rules_is_a_protocol_error(self):
        for wrong, word in (("1 rubbish", "not a JSON object with a text member"), ("1 rank", "it told of rank 2, which it does not have")):
            with self.subTest(wrong):
                facts, _ = self.failed(wrong)
                self.assertEqual(facts["status"], "protocol_error")
                self.assertIn("rank 1 of 2 (node 1, ", facts["message"])
                self.assertIn(word, facts["message"])

    def test_an_agent_that_gives_up_is_told_by_its_own_words(self):
        facts, _ = self.failed("1 job")
        self.assertEqual(facts["status"], "killed")
        self.assertRegex(facts["message"], r"rank 1 of 2 \(node 1, {0}\): the agent of node 1 \({0}\) ended, and its ranks with it: the study's job.*argv"
                         .format(re.escape(socket.gethostname())))

    def agents(self):
        """The agents that run, by the number of their node."""
        found = {}
        for pid in self.marked_processes():
            try:
                with open("/proc/%d/cmdline" % pid, "rb") as file:
                    words = file.read().split(b"\0")
                parent = os.path.basename(words[0])
            except OSError:
                continue
            if parent == b"yardstick-node" and len(words) >= 3:
                found[int(words[2])] = pid
        return found

    def ranks(self, program=b"yardstick-builtin"):
        """The adapters that run."""
        found = []
        for pid in self.marked_processes():
            try:
                with open("/proc/%d/cmdline" % pid, "rb") as file:
                    is_adapter = os.path.basename(file.read().split(b"\0")[0]) == program
                if is_adapter and "/runs/" in os.readlink("/proc/%d/cwd" % pid):
                    found.append(pid)
            except OSError:
                continue
        return found

    def begin(self):
        process = self.start("run", *LONG)
        self.wait_until(lambda: len(self.agents()) == 2 and len(self.ranks()) == 4, process, 200)
        time.sleep(0.3)
        return process

    def test_an_agent_that_is_killed_ends_the_run_and_is_named(self):
        for node, first in ((1, 2), (0, 0)):
            with self.subTest(node):
                process = self.begin()
                os.kill(self.agents()[node], signal.SIGKILL)
                _, err = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 1, err)
                self.assert_nothing_left()
                facts = self.facts()
                self.assertEqual(facts["status"], "killed")
                self.assertIn("rank %d of 4 (node %d, %s): the agent of node %d" % (first, node, socket.gethostname(), node), facts["message"])
                for rank in facts["ranks"]:  # the others heard of it, or were ended because of it
                    self.assertIn(rank["status"], ("killed",) if rank["node"] == node else ("crashed", "cancelled"))

    def test_an_agent_that_is_stopped_is_ended_and_one_that_goes_on_in_time_is_not(self):
        process = self.start("run", *SHORT, "--steps=100000", "--opt.null.rate=400", "--opt.null.exchange=1000", "--audit=off")
        self.wait_until(lambda: len(self.agents()) == 2, process, 60)
        time.sleep(1)
        agent = self.agents()[0]
        os.kill(agent, signal.SIGSTOP)
        time.sleep(3)
        os.kill(agent, signal.SIGCONT)
        time.sleep(2)
        self.assertIsNone(process.poll())
        os.kill(self.agents()[1], signal.SIGSTOP)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, err)
        self.assert_nothing_left()
        facts = self.facts()
        self.assertEqual(facts["status"], "stalled")
        self.assertIn("rank 1 of 2 (node 1, %s): nothing was heard of the agent of node 1" % socket.gethostname(), facts["message"])

    def test_a_rank_that_is_killed_is_named_with_its_host(self):
        process = self.begin()
        victim, = [pid for pid in self.ranks() if os.readlink("/proc/%d/cwd" % pid).endswith("rank-3")]
        os.kill(victim, signal.SIGKILL)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, err)
        self.assert_nothing_left()
        facts = self.facts()
        self.assertEqual(facts["status"], "killed")
        self.assertIn("rank 3 of 4 (node 1, %s)" % socket.gethostname(), facts["message"])
        self.assertEqual(facts["ranks"][3]["signal"], 9)

    def test_a_rank_that_is_stopped_and_goes_on_is_told_with_its_host_and_nothing_is_lost(self):
        process = self.start("run", *SHORT, "--steps=300", "--opt.null.rate=800", "--opt.null.exchange=1000", "--audit=off")
        self.wait_until(lambda: len(self.ranks(b"yardstick-null")) == 2, process, 60)
        time.sleep(0.5)
        victim, = [pid for pid in self.ranks(b"yardstick-null") if os.readlink("/proc/%d/cwd" % pid).endswith("rank-1")]
        os.kill(victim, signal.SIGSTOP)
        time.sleep(1.5)
        os.kill(victim, signal.SIGCONT)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        facts = self.facts()
        self.assertEqual([(rank["status"], rank["steps_done"]) for rank in facts["ranks"]], [("ok", 300)] * 2)
        warning, = [text for text in facts["warnings"] if "was stopped" in text]
        said = re.fullmatch(r"rank 1 \(node 1, (.*)\): a process of yardstick-null was stopped \(SIGSTOP\) for ([0-9.]+) s during this run: "
                            "what was measured contains that time", warning)
        self.assertEqual(said[1], socket.gethostname())
        self.assertTrue(1 < float(said[2]) < 30, warning)
        self.assertIn(warning, self.result("show", "last")[0]["trials"][0]["warnings"])

    def test_a_disk_that_is_full_on_one_host_ends_the_study_and_resume_goes_on(self):
        tried = subprocess.run(UNSHARE + ["mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, text=True, check=False)
        if tried.returncode:
            self.skipTest("no disk can be mounted here: " + tried.stderr.strip())
        work = ["run", "--framework=null,builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--block=5", "--steps=20", "--repeat=1",
                "--nodes=2", "--audit=off", "--order=fixed"]
        _, err = self.yardstick(*work, env=self.between("1 full"), code=7)
        self.assertRegex(err, r"no space left for rank 1 of 2 \(node 1, %s\): .*No space left on device.*: free some, then `yardstick resume`; the run "
                              "of .* is not stored" % re.escape(socket.gethostname()))
        self.assert_nothing_left()
        self.assertEqual(self.facts()["status"], "ok")  # the run before it is kept
        self.yardstick("resume", "last", env=self.between(""))
        trials = self.result("show", "last")[0]["trials"]
        self.assertEqual([(trial["status"], trial["runs"]) for trial in trials], [("ok", 1)] * 2)

    def test_nothing_outlives_a_study_that_is_killed_and_resume_finishes_it(self):
        process = self.start("run", *MLP, "--nodes=2", "--steps=4000", "--audit=off")
        self.wait_until(lambda: len(self.agents()) == 2 and len(self.ranks()) == 2, process, 200)
        agents = list(self.agents().values())
        process.kill()
        process.communicate()
        until = time.monotonic() + 60
        while self.marked_processes() and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual([pid for pid in agents if os.path.exists("/proc/%d" % pid)], [])
        self.assert_nothing_left()
        self.yardstick("resume", "last", timeout=300)
        trial, = self.result("show", "last")[0]["trials"]
        self.assertEqual((trial["status"], trial["keys"]["nodes"]), ("ok", 2))

    def test_a_study_that_is_asked_to_stop_ends_its_hosts(self):
        process = self.begin()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, err)
        self.assert_nothing_left()

    def test_another_clock_is_related_and_its_times_are_those_of_the_study(self):
        tried = subprocess.run(["unshare", "-T", "--monotonic", "1000", "true"], capture_output=True, text=True, check=False)
        if tried.returncode:
            self.skipTest("no time namespace is to be had here: " + tried.stderr.strip())
        before_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.yardstick("run", *SHORT, "--opt.null.exchange=1000", "--opt.null.rate=400", "--steps=400", env=self.between("1 clock"))
        after_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        facts = self.facts()
        same, other = facts["nodes"]
        self.assertEqual((same["clock_offset_ns"], same["clock_error_ns"]), (0, 0))
        self.assertGreater(other["clock_error_ns"], 0)
        self.assertGreaterEqual(other["clock_looks"], 3)  # of 8 s, in which it was looked at each 5 s
        self.assertIn("clocks of its hosts are related to within", " ".join(self.yardstick("show", "last", "--details")[0].split()))
        self.assertLessEqual(abs(other["clock_offset_ns"] - 1000 * 10**9), other["clock_error_ns"])
        # In truth there is no drift: what is found is no more than both errors allow.
        span_ns = facts["times"]["end_ns"] - facts["times"]["exec_ns"]
        self.assertLessEqual(abs(other["clock_drift"]) * span_ns, 2 * other["clock_error_ns"])
        for name in ("exec_ns", "train_ns", "trained_ns", "end_ns"):
            self.assertTrue(before_ns < facts["times"][name] < after_ns, name)
        for rank in facts["ranks"]:  # 20 ms of sleep a step: nobody waits for another clock's thousand seconds
            self.assertTrue(0 <= rank["waiting_s"] < 10, rank)


if __name__ == "__main__":
    unittest.main()
