"""Runs on hosts of their own that a real ssh and mpirun reach: network namespaces with an sshd in each, which tools/hosts
makes. Skipped where none can be made: it takes root, and an sshd. test_slurm.py has a real Slurm."""
import json
import os
import shutil
import signal
import subprocess
import unittest

from harness import PROGRAM, RECIPES, tearDownModule  # noqa: F401  (removes the cache that the cases share)
from made_hosts import FOLDER, HOSTS, LONG, MLP, NAME, NULL, HostsCase, make

KEYS = os.path.join(FOLDER, "keys")
make("--ssh", KEYS)


class Hosts(HostsCase):
    def setUp(self):
        super().setUp()
        self.env = {"PATH": KEYS + ":" + os.environ["PATH"]}

    def sent_bytes(self, host):
        told = subprocess.run(["ip", "-n", host, "-s", "-j", "link", "show", "eth0"], capture_output=True, check=True)
        return json.loads(told.stdout)[0]["stats64"]["tx"]["bytes"]

    def test_ranks_of_two_hosts_meet_at_the_first_ones_address(self):
        before = [self.sent_bytes(host) for host in HOSTS]
        self.yardstick("run", *NULL, "--steps=21", "--launch=ssh", "--hosts=" + ",".join(HOSTS), env=self.env.items())
        facts = self.facts()
        self.assertEqual([node["host"] for node in facts["nodes"]], HOSTS)
        self.assertEqual([(rank["status"], rank["host"]) for rank in facts["ranks"]], [("ok", HOSTS[0])] * 2 + [("ok", HOSTS[1])] * 2)
        # Of four ranks in a ring two have their next one on the other host.
        for place, rank in ((0, 1), (1, 3)):
            self.assertGreater(self.sent_bytes(HOSTS[place]) - before[place], 21 * facts["ranks"][rank]["sent_bytes"])
        self.assert_hosts_are_empty()
        self.assert_nothing_left()

    def about_wire(self, *work, code=0):
        trial, = self.result("run", "--recipes=" + RECIPES, "--framework=ranked", *MLP[1:], "--nodes=2", "--launch=ssh", "--hosts=" + ",".join(HOSTS),
                             "--env.RANKED_BIN=" + os.path.dirname(PROGRAM), *work, env=self.env.items(), code=code)[0]["trials"]
        self.assertEqual(trial["status"], "ok")
        self.assert_hosts_are_empty()
        return trial, [said for said in trial["deviations"] + trial["warnings"] if "MB a step, where" in said]

    def test_a_bypassed_network_is_found_by_its_bytes(self):
        trial, said = self.about_wire()
        self.assertEqual(said, [])
        for rank in trial["ranks"]:
            self.assertEqual(rank["interface"], "eth0")
            self.assertGreater(rank["wire_sent_bytes"], 0.98 * rank["wire_needed_bytes"])
        home = NAME + "home"
        subprocess.run(["ip", "netns", "attach", home, str(os.getpid())], check=True)
        try:
            trial, said = self.about_wire("--env.RANKED_WRONG=bypass", "--env.RANKED_HOME=/run/netns/" + home)
        finally:
            subprocess.run(["ip", "netns", "delete", home], check=True)
        self.assertEqual((trial["proof"]["verdict"], len(said)), ("pass", 1))  # the work is the same: nothing else tells
        self.assertIn("eth0 of host %s sent" % HOSTS[0], said[0])
        self.assertIn("a ring of 2 ranks needs 4.29 MB: what was exchanged is compressed, or went another way", said[0])
        self.assertIn(said[0], trial["deviations"])

    def test_the_bits_are_those_of_one_host(self):
        losses = []
        for way in (["--ranks=2"], ["--nodes=2", "--launch=ssh", "--hosts=" + ",".join(HOSTS)]):
            trial, = self.result("run", *MLP, *way, env=self.env.items())[0]["trials"]
            self.assertEqual((trial["status"], trial["proof"]["verdict"]), ("ok", "pass"))
            losses.append(trial["metrics"]["final_loss"]["value"])
        self.assertEqual(losses[0], losses[1])
        self.assert_hosts_are_empty()

    def test_a_host_that_is_not_there_is_named(self):
        self.yardstick("run", *NULL, "--steps=21", "--launch=ssh", "--hosts=%s,nobody.invalid" % HOSTS[0], env=self.env.items(), code=1)
        facts = self.facts()
        self.assertEqual(facts["status"], "load_failed")
        self.assertRegex(facts["message"], r"the agent of node 1 \(nobody.invalid\) ended before it had come: ssh: ")
        self.assert_hosts_are_empty()

    def begin(self):
        return self.wait_for_ranks(self.start("run", *LONG, "--launch=ssh", "--hosts=" + ",".join(HOSTS), env=self.env.items()))

    def test_an_agent_that_is_killed_ends_the_run_and_is_named(self):
        process = self.begin()
        os.kill(self.program(HOSTS[1], "yardstick-node"), signal.SIGKILL)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1)
        facts = self.facts()
        self.assertEqual(facts["status"], "killed")
        self.assertIn("rank 2 of 4 (node 1, %s)" % HOSTS[1], facts["message"])
        self.assert_hosts_are_empty()
        self.assert_nothing_left()

    def test_a_rank_that_is_killed_is_named_with_its_host(self):
        process = self.begin()
        os.kill(self.program(HOSTS[1], "yardstick-null", "rank-3"), signal.SIGKILL)
        process.communicate(timeout=120)
        facts = self.facts()
        self.assertEqual(facts["status"], "killed")
        self.assertIn("rank 3 of 4 (node 1, %s)" % HOSTS[1], facts["message"])
        self.assert_hosts_are_empty()

    def test_nothing_outlives_a_study_that_is_killed(self):
        process = self.begin()
        process.kill()
        process.communicate()
        self.assert_hosts_are_empty(60)
        self.assert_nothing_left()

    def by_mpirun(self, *work):
        if not shutil.which("mpirun"):
            self.skipTest("there is no mpirun")
        # mpirun has to be where its daemons find it: in the namespace of the switch. It starts them by ssh.
        env = dict(self.env, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_plm_rsh_agent="ssh",
                   OMPI_MCA_orte_default_hostfile=self.write("rack", "\n".join(HOSTS) + "\n"), OMPI_MCA_oob_tcp_if_include="10.97.0.0/24")
        return self.start("netns", "exec", NAME + "s", PROGRAM, "run", *work, "--launch=mpi", program="ip", env=env.items())

    def test_mpirun_starts_the_agents_too(self):
        process = self.by_mpirun(*NULL, "--steps=21")
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, out + err)
        facts = self.facts()
        self.assertEqual(sorted(node["host"] for node in facts["nodes"]), HOSTS)
        self.assertEqual([rank["status"] for rank in facts["ranks"]], ["ok"] * 4)
        self.assert_hosts_are_empty()

    def test_an_agent_of_mpirun_that_is_killed_leaves_the_others_time_to_tell(self):
        process = self.wait_for_ranks(self.by_mpirun(*LONG))
        self.kill_one_agent_while_the_other_is_slow()
        process.communicate(timeout=120)
        self.assert_the_first_host_has_told(self.facts())
        self.assert_hosts_are_empty()
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
