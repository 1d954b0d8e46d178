"""Ranks on hosts of their own: network namespaces with a wire of a known bandwidth between them. Skipped where none can be made."""
import atexit
import json
import os
import subprocess
import unittest

from harness import RECIPES, Case, tearDownModule  # noqa: F401  (removes the cache that the cases share)

ROOT = os.environ.get("YS_SOURCE_ROOT", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
NAME = "yst%d-" % os.getpid()
RATE_BPS, STEPS, NUMBERS = 50e6, 21, 100000
NULL = ["--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--repeat=1", "--block=5"]


def hosts(*words):
    return subprocess.run([os.path.join(ROOT, "tools", "hosts"), *words], capture_output=True, text=True)


MADE = hosts("up", NAME, "3", "--rate", "%dmbit" % (RATE_BPS / 1e6))
if MADE.returncode != 0:
    raise unittest.SkipTest("no network namespaces here: " + MADE.stderr.strip())
atexit.register(hosts, "down", NAME, "3")


class Wires(Case):
    def sent_bytes(self, rank):
        """By the counters of that host's interface, since it was made."""
        told = subprocess.run(["ip", "-n", "%s%d" % (NAME, rank), "-s", "-j", "link", "show", "eth0"], capture_output=True, check=True)
        return json.loads(told.stdout)[0]["stats64"]["tx"]["bytes"]

    def networks(self):
        out, _ = self.yardstick("export")
        facts, = [line["facts"] for line in map(json.loads, out.splitlines()) if line["type"] == "run"]
        return facts["networks"]

    def test_gradients_go_over_the_wire_and_no_faster_than_it_is(self):
        before = [self.sent_bytes(rank) for rank in range(3)]
        out, _ = self.result("run", *NULL, "--ranks=3", "--steps=%d" % STEPS, "--opt.null.exchange=%d" % NUMBERS, "--opt.null.wire=" + NAME)
        trial, = out["trials"]
        self.assertEqual(trial["status"], "ok")
        for rank in trial["ranks"]:
            wire = self.sent_bytes(rank["rank"]) - before[rank["rank"]]
            self.assertAlmostEqual(rank["sent_bytes"], 2 * 2 / 3 * 4 * NUMBERS, delta=16 + 8)
            # Beside them headers, of 66 bytes for each 1448 at most, and acknowledgements of as many packets that come in.
            self.assertGreater(wire, STEPS * rank["sent_bytes"])
            self.assertLess(wire, 1.12 * STEPS * rank["sent_bytes"] + 1e5)
            # yardstick's own account leaves out the first step, the last acknowledgements and the end.
            self.assertEqual((rank["interface"], rank["wire_needed_bytes"]), ("eth0", 2 * 2 / 3 * 4 * NUMBERS))
            self.assertGreater(rank["wire_sent_bytes"], 0.98 * rank["sent_bytes"])
            self.assertLessEqual((STEPS - 1) * rank["wire_sent_bytes"], wire)
            # What the token bucket lets out at once at the beginning of a step is a small part of it.
            self.assertLess(8 * rank["sent_bytes"] / (rank["communication_s"] + rank["waiting_s"]), 1.3 * RATE_BPS)
        self.assertEqual([said for said in trial["deviations"] + trial["warnings"] if "MB a step, where" in said], [])
        networks = self.networks()
        self.assertEqual([(network["ranks"], network["steps"], network["reason"]) for network in networks],
                         [([rank], STEPS - 1, None) for rank in range(3)])
        self.assertEqual(len({network["space"] for network in networks}), 3)

    def test_the_bits_are_those_of_any_transport(self):
        work = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--global-batch=24", "--ranks=3", "--steps=12",
                "--repeat=1", "--lr=0.05", "--bucket=1kB"]
        losses = []
        for wire in ([], ["--opt.builtin.wire=" + NAME]):
            out, _ = self.result("run", *work, *wire)
            trial, = out["trials"]
            self.assertEqual((trial["status"], trial["proof"]["verdict"]), ("ok", "pass"))
            losses.append(trial["metrics"]["final_loss"]["value"])
        self.assertEqual(losses[0], losses[1])
        self.assertIn("gradients go through network namespaces", trial["deviations"])

    def test_a_host_that_is_not_there_is_named(self):
        self.yardstick("run", *NULL, "--ranks=4", "--steps=4", "--opt.null.exchange=10", "--opt.null.wire=" + NAME, code=1)
        out, _ = self.yardstick("export")
        facts, = [line["facts"] for line in map(json.loads, out.splitlines()) if line["type"] == "run"]
        self.assertIn("rank 3 of 4", facts["message"])
        self.assertIn("network namespace %s3" % NAME, facts["message"])
        self.assertIn("tools/hosts makes it", facts["message"])

    def test_shared_memory_has_no_wire(self):
        self.yardstick("run", *NULL, "--ranks=2", "--steps=4", "--opt.null.exchange=10", "--opt.null.wire=" + NAME,
                       "--opt.null.transport=shared", code=1)
        self.assertIn("take the transport tcp", self.yardstick("show", "last")[0].replace("\n", " "))

    def test_hosts_that_are_there_stay_as_they_are(self):
        process = subprocess.Popen(["ip", "netns", "exec", NAME + "1", "sleep", "1000"])
        try:
            for count in ("2", "4"):  # each has hosts of these
                again = hosts("up", NAME, count)
                self.assertEqual((again.returncode, again.stdout, again.stderr), (
                    1, "", "hosts: %s0 is there already: tools/hosts down %s %s, or another name\n" % (NAME, NAME, count)))
            self.assertEqual(process.poll(), None)
            self.sent_bytes(1)  # raises where its interface is gone
        finally:
            process.kill()
            process.wait()

    def test_a_namespace_that_cannot_be_looked_at_is_a_reason(self):
        self.yardstick("run", "--recipes=" + RECIPES, "--framework=ranked", *NULL[1:], "--ranks=2", "--steps=10", "--env.RANKED_WRONG=nowhere")
        networks = self.networks()
        self.assertEqual([network["ranks"] for network in networks], [[0], [1]])
        for network in networks:
            self.assertEqual(network["interfaces"], [])
            self.assertIn("the network namespace /run/netns/nowhere cannot be opened: No such file", network["reason"])
        trial, = self.result("show", "last")[0]["trials"]
        self.assertEqual([(rank["wire_sent_bytes"], rank["interface"]) for rank in trial["ranks"]], [(None, None)] * 2)


if __name__ == "__main__":
    unittest.main()
