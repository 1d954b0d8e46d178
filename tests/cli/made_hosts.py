"""Hosts of their own for a test program: network namespaces that tools/hosts makes, for as long as the program runs."""
import atexit
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from harness import ROOT, Case

NAME = "ysh%d-" % os.getpid()
HOSTS = [NAME + "0", NAME + "1"]
FOLDER = tempfile.mkdtemp(prefix="ys-hosts-")
DAEMONS = ("sshd", "slurmd", "slurmstepd")
NULL = ["--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--repeat=1", "--block=5", "--audit=off", "--nodes=2",
        "--ranks-per-node=2", "--opt.null.exchange=100000"]
LONG = NULL + ["--steps=100000", "--opt.null.rate=400"]
# In double, so that the bits of two ranks tell of the order of each sum.
MLP = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--global-batch=24", "--steps=12", "--repeat=1", "--lr=0.05",
       "--precision=f64", "--bucket=1kB"]


def hosts(*words):
    return subprocess.run([os.path.join(ROOT, "tools", "hosts"), *words], capture_output=True, text=True)


def make(*words):
    """Skips the whole program where none can be made."""
    atexit.register(shutil.rmtree, FOLDER, True)
    made = hosts("up", NAME, "2", *words)
    if made.returncode != 0:
        raise unittest.SkipTest("no hosts of their own here: " + made.stderr.strip())
    atexit.register(hosts, "down", NAME, "2")


class HostsCase(Case):
    def facts(self):
        out, _ = self.yardstick("export")
        run, = [line for line in map(json.loads, out.splitlines()) if line["type"] == "run"]
        return run["facts"]

    def programs(self, host):
        """Of a host, by process; its daemons are left out."""
        found = {}
        for pid in subprocess.run(["ip", "netns", "pids", host], capture_output=True, text=True, check=True).stdout.split():
            try:
                with open("/proc/%s/comm" % pid, encoding="utf-8") as file:
                    name = file.read().strip()
            except OSError:
                continue
            if name not in DAEMONS:
                found[int(pid)] = name
        return found

    def program(self, host, name, folder=""):
        """The process of that name which works in such a folder."""
        return min(pid for pid, found in self.programs(host).items() if found == name and os.readlink("/proc/%d/cwd" % pid).endswith(folder))

    def kill_one_agent_while_the_other_is_slow(self):
        """That of the second host. The first one's is stopped meanwhile: whatever is done to it, it has no time to tell before."""
        slow = self.program(HOSTS[0], "yardstick-node")
        os.kill(slow, signal.SIGSTOP)
        os.kill(self.program(HOSTS[1], "yardstick-node"), signal.SIGKILL)
        time.sleep(5)
        os.kill(slow, signal.SIGCONT)

    def assert_the_first_host_has_told(self, facts):
        self.assertEqual(facts["status"], "killed")
        node = [told["host"] for told in facts["nodes"]].index(HOSTS[1])
        self.assertIn("rank %d of 4 (node %d, %s): the agent of node %d" % (2 * node, node, HOSTS[1], node), facts["message"])
        others = [told for told in facts["ranks"] if told["node"] != node]
        self.assertTrue(all(told["steps_done"] > 0 and told["cpu_s"] is not None for told in others), others)

    def assert_hosts_are_empty(self, patience_s=20):
        until = time.monotonic() + patience_s
        while any(map(self.programs, HOSTS)) and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual([self.programs(host) for host in HOSTS], [{}, {}])

    def wait_for_ranks(self, process):
        self.wait_until(lambda: all(list(self.programs(host).values()).count("yardstick-null") == 2 for host in HOSTS), process, 60)
        time.sleep(0.5)
        return process
