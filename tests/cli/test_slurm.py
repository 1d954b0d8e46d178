"""Runs in allocations of a real Slurm, whose nodes are network namespaces that tools/hosts makes. Skipped where none can be made:
it takes root, slurmctld, slurmd and munged."""
import os
import signal
import subprocess
import time
import unittest

from harness import PROGRAM, tearDownModule  # noqa: F401  (removes the cache that the cases share)
from made_hosts import FOLDER, HOSTS, LONG, MLP, NULL, HostsCase, make

CLUSTER = os.path.join(FOLDER, "slurm")
make("--slurm", CLUSTER)


def slurm(command, *words):
    done = subprocess.run([os.path.join(CLUSTER, command), *words], capture_output=True, text=True, timeout=60)
    return done.stdout


class Slurm(HostsCase):
    def setUp(self):
        super().setUp()
        self.env = {"PATH": CLUSTER + ":" + os.environ["PATH"]}
        self.addCleanup(slurm, "scancel", "--user=root", "--signal=KILL")

    def allocated(self, nodes, *arguments):
        """Words and options that start yardstick in an allocation."""
        return ("--quiet", "--nodes=%d" % nodes, PROGRAM, *arguments), {"program": os.path.join(CLUSTER, "salloc"), "env": self.env.items()}

    def run_in(self, nodes, *arguments, code=0):
        words, options = self.allocated(nodes, "run", *arguments, "--launch=slurm")
        return self.yardstick(*words, code=code, **options)

    def begin(self):
        words, options = self.allocated(2, "run", *LONG, "--launch=slurm")
        return self.wait_for_ranks(self.start(*words, **options))

    def assert_nodes_are_idle(self, patience_s=60):
        """No job is left, and no step of one."""
        self.assert_hosts_are_empty(patience_s)
        until = time.monotonic() + patience_s
        while slurm("squeue", "--noheader") and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(slurm("squeue", "--noheader"), "")
        while "idle" not in slurm("sinfo", "--noheader", "--format=%T").split() and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(slurm("sinfo", "--noheader", "--format=%T").split(), ["idle"])
        self.assert_nothing_left()

    def test_ranks_of_an_allocation_tell_of_their_hosts(self):
        self.run_in(2, *NULL, "--steps=21")
        facts = self.facts()
        self.assertEqual([node["host"] for node in facts["nodes"]], HOSTS)
        self.assertEqual([(rank["status"], rank["host"]) for rank in facts["ranks"]], [("ok", HOSTS[0])] * 2 + [("ok", HOSTS[1])] * 2)
        self.assert_nodes_are_idle()

    def test_the_bits_are_those_of_one_host(self):
        words, options = self.allocated(2, "run", *MLP, "--nodes=2", "--launch=slurm")
        losses = []
        for trial in (self.result("run", *MLP, "--ranks=2")[0]["trials"] + self.result(*words, **options)[0]["trials"]):
            self.assertEqual((trial["status"], trial["proof"]["verdict"]), ("ok", "pass"))
            losses.append(trial["metrics"]["final_loss"]["value"])
        self.assertEqual(losses[0], losses[1])
        self.assert_nodes_are_idle()

    def test_an_allocation_of_too_few_nodes_is_named_with_its_hosts(self):
        self.run_in(1, *NULL, "--steps=21", code=1)
        facts = self.facts()
        self.assertEqual(facts["status"], "load_failed")
        self.assertRegex(facts["message"], r"allocation [0-9]+ has 1 of 2 nodes \(%s[01]\): ask for more, by salloc -N 2" % HOSTS[0][:-1])
        self.assert_nodes_are_idle()

    def failed(self, process, signal_sent, node, name, folder=""):
        """Facts of a run of which one process was killed."""
        os.kill(self.program(HOSTS[node], name, folder), signal_sent)
        process.communicate(timeout=180)
        self.assertEqual(process.returncode, 1)
        self.assert_nodes_are_idle()
        return self.facts()

    def test_an_agent_that_is_killed_ends_the_run_and_is_named(self):
        for node, rank in ((1, 2), (0, 0)):
            with self.subTest(node):
                facts = self.failed(self.begin(), signal.SIGKILL, node, "yardstick-node")
                self.assertEqual(facts["status"], "killed")
                self.assertIn("rank %d of 4 (node %d, %s): the agent of node %d" % (rank, node, HOSTS[node], node), facts["message"])
                # What the other host saw was taken all the same.
                others = [told for told in facts["ranks"] if told["node"] != node]
                self.assertTrue(all(told["steps_done"] > 0 and told["cpu_s"] is not None for told in others), others)
            self.forget()

    def test_an_agent_that_is_killed_leaves_the_others_time_to_tell(self):
        self.env.update(SLURM_KILL_BAD_EXIT="1", SLURM_WAIT="1")  # as a cluster may have it
        process = self.begin()
        self.kill_one_agent_while_the_other_is_slow()
        process.communicate(timeout=120)
        self.assert_the_first_host_has_told(self.facts())
        self.assert_nodes_are_idle()

    def forget(self):
        """What has been measured, so that the next run is the only one."""
        for name in os.listdir(self.folder):
            subprocess.run(["rm", "-r", os.path.join(self.folder, name)], check=True)

    def test_an_agent_that_is_stopped_is_ended_by_slurm(self):
        facts = self.failed(self.begin(), signal.SIGSTOP, 0, "yardstick-node")
        self.assertEqual(facts["status"], "stalled")
        self.assertIn("rank 0 of 4 (node 0, %s): nothing was heard of the agent of node 0" % HOSTS[0], facts["message"])

    def test_a_rank_that_is_killed_is_named_with_its_host(self):
        facts = self.failed(self.begin(), signal.SIGKILL, 1, "yardstick-null", "rank-3")
        self.assertEqual(facts["status"], "killed")
        self.assertIn("rank 3 of 4 (node 1, %s)" % HOSTS[1], facts["message"])

    def test_nothing_outlives_a_study_that_is_killed(self):
        process = self.begin()
        study, = [pid for pid in self.marked_processes() if os.path.realpath("/proc/%d/exe" % pid) == os.path.realpath(PROGRAM)]
        os.kill(study, signal.SIGKILL)
        process.communicate(timeout=120)
        self.assert_nodes_are_idle()

    def test_a_job_that_is_cancelled_ends_its_run_and_says_so(self):
        process = self.begin()
        slurm("scancel", "--user=root")
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1)
        facts = self.facts()
        self.assertEqual(facts["status"], "killed")
        self.assertRegex(facts["message"], r"rank [0-3] of 4 \(node ([01]), (.*)\): the agent of node \1 \(\2\) was asked by something else than "
                                           r"yardstick to end, and its ranks with it: .*signal 15")
        self.assert_nodes_are_idle()


if __name__ == "__main__":
    unittest.main()
