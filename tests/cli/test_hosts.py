"""Runs on hosts of their own that a real ssh, mpirun and srun reach: network namespaces with an sshd in each, which tools/hosts
makes. Skipped where none can be made: it takes root, and an sshd."""
import atexit
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from harness import PROGRAM, ROOT, Case, tearDownModule  # noqa: F401  (removes the cache that the cases share)

NAME = "ysh%d-" % os.getpid()
HOSTS = [NAME + "0", NAME + "1"]
KEYS = tempfile.mkdtemp(prefix="ys-hosts-")
NULL = ["--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--repeat=1", "--block=5", "--audit=off", "--nodes=2",
        "--ranks-per-node=2", "--opt.null.exchange=100000"]
LONG = NULL + ["--steps=100000", "--opt.null.rate=400", "--launch=ssh", "--hosts=" + ",".join(HOSTS)]


def hosts(*words):
    return subprocess.run([os.path.join(ROOT, "tools", "hosts"), *words], capture_output=True, text=True)


MADE = hosts("up", NAME, "2", "--ssh", os.path.join(KEYS, "keys"))
atexit.register(shutil.rmtree, KEYS, True)
if MADE.returncode != 0:
    raise unittest.SkipTest("no hosts of their own here: " + MADE.stderr.strip())
atexit.register(hosts, "down", NAME, "2")


class Hosts(Case):
    def setUp(self):
        super().setUp()
        self.env = {"PATH": os.path.join(KEYS, "keys") + ":" + os.environ["PATH"]}

    def facts(self):
        out, _ = self.yardstick("export")
        run, = [line for line in map(json.loads, out.splitlines()) if line["type"] == "run"]
        return run["facts"]

    def programs(self, host):
        """Of a host, by process; its sshd are left out."""
        found = {}
        for pid in subprocess.run(["ip", "netns", "pids", host], capture_output=True, text=True, check=True).stdout.split():
            try:
                with open("/proc/%s/comm" % pid, encoding="utf-8") as file:
                    name = file.read().strip()
            except OSError:
                continue
            if name != "sshd":
                found[int(pid)] = name
        return found

    def assert_hosts_are_empty(self, patience_s=20):
        until = time.monotonic() + patience_s
        while any(map(self.programs, HOSTS)) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual([self.programs(host) for host in HOSTS], [{}, {}])

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

    def test_the_bits_are_those_of_one_host(self):
        work = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--global-batch=24", "--steps=12", "--repeat=1", "--lr=0.05",
                "--precision=f64", "--bucket=1kB"]
        losses = []
        for way in (["--ranks=2"], ["--nodes=2", "--launch=ssh", "--hosts=" + ",".join(HOSTS)]):
            trial, = self.result("run", *work, *way, env=self.env.items())[0]["trials"]
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
        process = self.start("run", *LONG, env=self.env.items())
        self.wait_until(lambda: all(list(self.programs(host).values()).count("yardstick-null") == 2 for host in HOSTS), process, 60)
        time.sleep(0.5)
        return process

    def test_an_agent_that_is_killed_ends_the_run_and_is_named(self):
        process = self.begin()
        agent, = [pid for pid, name in self.programs(HOSTS[1]).items() if name == "yardstick-node"]
        os.kill(agent, signal.SIGKILL)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1)
        facts = self.facts()
        self.assertEqual(facts["status"], "killed")
        self.assertIn("rank 2 of 4 (node 1, %s)" % HOSTS[1], facts["message"])
        self.assert_hosts_are_empty()
        self.assert_nothing_left()

    def test_a_rank_that_is_killed_is_named_with_its_host(self):
        process = self.begin()
        victim = min(pid for pid, name in self.programs(HOSTS[1]).items() if name == "yardstick-null" and
                     os.readlink("/proc/%d/cwd" % pid).endswith("rank-3"))
        os.kill(victim, signal.SIGKILL)
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

    def test_mpirun_starts_the_agents_too(self):
        if not shutil.which("mpirun"):
            self.skipTest("there is no mpirun")
        # mpirun has to be where its daemons find it: in the namespace of the switch. It starts them by ssh.
        env = {"PATH": os.path.join(KEYS, "keys") + ":" + os.environ["PATH"], "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_plm_rsh_agent": "ssh", "OMPI_MCA_orte_default_hostfile": self.write("rack", "\n".join(HOSTS) + "\n"),
               "OMPI_MCA_oob_tcp_if_include": "10.97.0.0/24"}
        done = subprocess.run(["ip", "netns", "exec", NAME + "s", PROGRAM, "run", *NULL, "--steps=21", "--launch=mpi"], cwd=self.folder,
                              env=dict(self.environment(), **env), capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        facts = self.facts()
        self.assertEqual(sorted(node["host"] for node in facts["nodes"]), HOSTS)
        self.assertEqual([rank["status"] for rank in facts["ranks"]], ["ok"] * 4)
        self.assert_hosts_are_empty()


if __name__ == "__main__":
    unittest.main()
