"""Agents that ssh, mpirun and srun start. Small programs stand in for the three, and do here what these do elsewhere, so that no
other host is needed: what is tried is what yardstick asks of them, and what becomes of a run when they fail. test_hosts.py and
test_slurm.py have the real ones."""
import json
import os
import socket
import tempfile
import unittest
import unittest.mock

from harness import BIN, Case, tearDownModule  # noqa: F401  (removes the cache that the cases share)

AGENT = os.path.join(BIN, "yardstick-node")
# In double, so that the bits of two ranks tell of the order of each sum.
MLP = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--lr=0.05", "--precision=f64", "--global-batch=24", "--block=5",
       "--repeat=1", "--steps=30"]
SHORT = ["--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--block=5", "--repeat=1", "--steps=20", "--nodes=2",
         "--audit=off", "--opt.null.exchange=1000"]
# What salloc says to what it starts.
ALLOCATION = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_NODELIST": "h[0-1]"}

SSH = """#!/bin/sh
echo "$@" >> "$SAID"
while [ "$1" != -- ]; do shift; done
address=127.0.0.1
case $2 in
away) echo "ssh: connect to host away port 22: No route to host" >&2; exit 255 ;;
bare) exec sh -c "exec /nowhere/yardstick-node" ;;
loud) echo Welcome ;;
apart*) address=127.0.2.${2#apart} ;;
six) address=fd00::6 ;;
on*) bound="taskset -c ${2#on}" ;;
esac
SSH_CONNECTION="127.0.0.1 40000 $address 22" exec $bound sh -c "$3"
"""
# As many processes as are asked for, each with its number; and the end of the worst.
STARTER = """#!/bin/sh
[ "$1" = --version ] && { echo "$VERSION"; exit 0; }
echo "$@" >> "$SAID"
while [ "${1%%yardstick-node}" = "$1" ]; do shift; done
%s=0 "$@" & %s=1 "$@" & wait
"""

# The same, and something stands between the study and each, which changes what the second is told. It also says what is of none of the two.
CHANGER = """#!/bin/sh
while [ "${1%yardstick-node}" = "$1" ]; do shift; done
export NODE_PROGRAM=$1
SLURM_PROCID=0 NODE_WRONG="$3 nothing" "$BETWEEN" "$2" "$3" &
SLURM_PROCID=1 NODE_WRONG="$3 job" "$BETWEEN" "$2" "$3" &
echo "yardstick-node: node 11 on h11: what another says" >&2
wait
"""


class Launch(Case):
    def setUp(self):
        super().setUp()
        self.said = os.path.join(self.folder, "said")

    def stand_in(self, name, text):
        """Variables with which yardstick finds `text` as the program `name`."""
        os.chmod(self.write(name, text), 0o755)
        return {"PATH": self.folder + ":" + os.environ["PATH"], "SAID": self.said}

    def facts(self):
        out, _ = self.yardstick("export")
        run, = [line for line in map(json.loads, out.splitlines()) if line["type"] == "run"]
        return run["facts"]

    def lines(self):
        with open(self.said, encoding="utf-8") as file:
            return file.read().splitlines()

    def test_ssh_has_the_bits_of_one_host(self):
        env = self.stand_in("ssh", SSH)
        one, _ = self.result("run", *MLP, "--ranks=2")
        several, _ = self.result("run", *MLP, "--nodes=2", "--launch=ssh", "--hosts=n0, me@n1 127.0.0.1", env=env.items(), timeout=300)
        one, several = one["trials"][0], several["trials"][0]
        self.assertEqual((several["status"], several["proof"]["verdict"], several["proof"]["audit"]["verdict"]), ("ok", "pass", "pass"))
        self.assertEqual((several["keys"]["launch"], several["keys"]["hosts"]), ("ssh", "n0, me@n1 127.0.0.1"))
        self.assertEqual(several["metrics"]["final_loss"]["value"], one["metrics"]["final_loss"]["value"])
        self.assertEqual(sorted(line.partition(" -- ")[2] for line in self.lines()),
                         ["me@n1 exec '%s' - 1 127.0.0.1" % AGENT, "n0 exec '%s' - 0" % AGENT])
        self.assertIn("-o BatchMode=yes", self.lines()[0])
        self.assert_nothing_left()

    def test_a_file_names_hosts_too(self):
        self.write("rack", "# two of them\nn0\nn1 127.0.0.1\nn2\n")
        self.yardstick("run", *SHORT, "--launch=ssh", "--hosts=./rack", env=self.stand_in("ssh", SSH).items())
        facts = self.facts()
        self.assertEqual([(rank["status"], rank["node"]) for rank in facts["ranks"]], [("ok", 0), ("ok", 1)])
        self.assertEqual(facts["nodes"][0]["host"], socket.gethostname())
        self.assert_nothing_left()

    def test_threads_and_cpus_are_of_each_host(self):
        cpus = sorted(os.sched_getaffinity(0))
        work = SHORT[:3] + ["--threads=%d" % min(2, len(cpus))] + SHORT[4:]
        self.yardstick("run", *work, "--launch=ssh", "--hosts=n0,n1", env=self.stand_in("ssh", SSH).items())
        for rank in self.facts()["ranks"]:
            self.assertEqual(len(rank["cpus"]), min(2, len(cpus)))

    def two_cpus(self):
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("there is one CPU")
        return cpus[:2]

    def cpus_of_ranks(self, hosts, *more, **options):
        self.yardstick("run", *SHORT, *more, "--launch=ssh", "--hosts=" + hosts, env=self.stand_in("ssh", SSH).items(), **options)
        return [rank["cpus"] for rank in self.facts()["ranks"]]

    def test_hosts_have_cpus_of_their_own(self):
        first, second = self.two_cpus()
        self.assertEqual(self.cpus_of_ranks("on%d,on%d" % (second, first)), [[second], [first]])
        self.assertEqual(self.cpus_of_ranks("on%d,on%d" % (second, second)), [[second], [second]])
        # Two that are one machine do not take the same one while there is another.
        self.assertEqual(len({cpu for cpus in self.cpus_of_ranks("n0,n1") for cpu in cpus}), 2)
        self.assertEqual(self.cpus_of_ranks("n0,n1", "--cpus=%d" % second), [[second], [second]])

    def test_hosts_may_have_more_cpus_than_the_study(self):
        first, second = self.two_cpus()
        work = [word for word in SHORT if not word.startswith("--threads")] + ["--threads=2"]
        self.yardstick("run", *work, "--launch=ssh", "--hosts=on%d-%d,on%d-%d" % (first, second, first, second),
                       env=self.stand_in("ssh", SSH).items(), preexec_fn=lambda: os.sched_setaffinity(0, {first}))
        self.assertEqual([sorted(rank["cpus"]) for rank in self.facts()["ranks"]], [[first, second]] * 2)

    def test_cpus_may_be_named_that_the_study_does_not_have(self):
        first, second = self.two_cpus()
        hosts = "on%d-%d" % (first, second)
        for cpus in ([first, second], [second]):  # of which the study's host has one, and none: there it is proven
            with self.subTest(cpus):
                trial, = self.result("run", *MLP, "--fresh", "--cpus=" + ",".join(map(str, cpus)), "--nodes=2", "--launch=ssh", "--hosts=%s,%s" % (hosts, hosts),
                                     env=self.stand_in("ssh", SSH).items(), preexec_fn=lambda: os.sched_setaffinity(0, {first}),
                                     timeout=300)[0]["trials"]
                self.assertEqual((trial["status"], trial["proof"]["verdict"], trial["proof"]["audit"]["verdict"]), ("ok", "pass", "pass"))
                self.assertEqual([rank["cpus"] for rank in self.facts()["ranks"]], [cpus] * 2)

    def test_a_host_with_too_few_cpus_is_named(self):
        first, second = self.two_cpus()
        hosts = "n0,on%d" % first
        self.assertRegex(self.failed(hosts, more=["--threads=2"]), r"threads = 2: node 1 \(.*\) may use 1 CPU; write fewer, or give it more")
        self.assertRegex(self.failed(hosts, more=["--cpus=%d" % second]),
                         r"cpus names CPU %d, which node 1 \(.*\) may not use \(it may use 1\): name others, or leave cpus out" % second)

    def failed(self, hosts, env=None, more=()):
        own = {word.partition("=")[0] for word in more}
        words = [word for word in SHORT if word.partition("=")[0] not in own]
        self.yardstick("run", *words, *more, "--launch=ssh", "--hosts=" + hosts, env=(env or self.stand_in("ssh", SSH)).items(), code=1)
        self.assert_nothing_left()
        facts = self.facts()
        self.assertEqual(facts["status"], "load_failed")
        return facts["message"]

    def test_a_host_that_is_not_reached_is_named(self):
        self.assertRegex(self.failed("n0,away"), r"rank 1 of 2 \(node 1.*\): the agent of node 1 \(away\) ended before it had come: ssh: connect to "
                                                 "host away port 22: No route to host; ssh has to get there without asking anything")

    def test_a_host_without_yardstick_is_named(self):
        message = self.failed("bare,n1")
        self.assertIn("node 0 (bare) ended before it had come: ", message)
        self.assertIn("yardstick has to be at the same path on all hosts", message)

    def test_a_shell_that_speaks_is_named(self):
        self.assertRegex(self.failed("n0,loud"), r"node 1 \(loud\) is not the first to speak there: .*\"Welcome\"; a shell that is no terminal's "
                                                 "has to be silent")

    def test_addresses_that_mean_another_host_to_each_are_refused(self):
        self.assertRegex(self.failed("apart1,apart2"), r"node 0 \(.*\) is reached at 127.0.2.1, where ranks of other hosts do not find it: write its "
                                                       "address behind its name in hosts")
        self.assertIn("ssh came to \"fd00::6\", which is no IPv4 address", self.failed("n0,six"))
        self.assertIn("no port of 192.0.2.77 where the ranks could meet", self.failed("n0,n1 192.0.2.77"))

    def test_an_ssh_that_is_missing_is_said(self):
        self.assertIn("ssh: not found", self.failed("n0,n1", {"PATH": self.folder}))

    def test_hosts_that_are_no_hosts_are_refused(self):
        base = ["run", *SHORT, "--launch=ssh"]
        self.refusal(*base, words=["launch = ssh needs to know its hosts"])
        self.refusal(*base, "--hosts=n0", words=["hosts names 1", "nodes = 2"])
        self.refusal(*base, "--hosts=n0,-oProxyCommand=x", words=["-oProxyCommand=x", "no host"])
        self.refusal(*base, "--hosts=./rack", words=["hosts", "rack"])

    def started(self, launch, variable, program, version, **more):
        """The words that a starter got before the agent's own, of a run that went well."""
        # Others are set as well, where yardstick itself was started by one of them: each would say that all agents are one.
        started = dict.fromkeys(("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"), "0")
        env = dict(started, **self.stand_in(program, STARTER % (variable, variable)), VERSION=version, **more)
        self.yardstick("run", *SHORT, "--launch=" + launch, env=env.items())
        facts = self.facts()
        self.assertEqual([(rank["status"], rank["node"]) for rank in facts["ranks"]], [("ok", 0), ("ok", 1)])
        self.assert_nothing_left()
        line, = self.lines()
        before, _, after = line.partition(" " + AGENT + " ")
        self.assertRegex(after, r"^[0-9.]+:[0-9]+ %s$" % variable)
        return before

    def test_mpirun_of_open_mpi_starts_an_agent_a_host(self):
        self.assertEqual(self.started("mpi", "OMPI_COMM_WORLD_RANK", "mpirun", "mpirun (Open MPI) 4.1.4"),
                         "--map-by ppr:1:node --bind-to none --enable-recovery -x YARDSTICK_NODE_TOKEN -n 2")

    def test_mpirun_of_mpich_starts_an_agent_a_host(self):
        self.assertEqual(self.started("mpi", "PMI_RANK", "mpirun", "HYDRA build details:"), "-ppn 1 -disable-auto-cleanup -n 2")

    def test_mpirun_of_others_is_asked_for_less(self):
        self.assertEqual(self.started("mpi", "PMI_RANK", "mpirun", "A library of messages"), "-ppn 1 -n 2")

    def test_srun_starts_an_agent_a_host(self):
        self.assertEqual(self.started("slurm", "SLURM_PROCID", "srun", "", **ALLOCATION),
                         "--ntasks-per-node=1 --cpu-bind=none --mpi=none --export=ALL --kill-on-bad-exit=0 --wait=0 --nodes=2 --ntasks=2")

    def test_an_agent_that_gives_up_is_told_by_its_own_words_and_not_by_anothers(self):
        env = dict(self.stand_in("srun", CHANGER), BETWEEN=os.path.join(os.path.dirname(os.path.abspath(__file__)), "node_between.py"), **ALLOCATION)
        self.yardstick("run", *SHORT, "--launch=slurm", env=env.items(), code=1)
        self.assert_nothing_left()
        self.assertRegex(self.facts()["message"], r"the agent of node 1 \(.*\) ended, and its ranks with it: the study's job")

    def test_an_agent_that_ends_before_it_came_is_not_waited_for_while_others_stay(self):
        env = self.stand_in("srun", '#!/bin/sh\necho "yardstick-node: node 1 on h1: cannot reach the study" >&2\nexec sleep 1000\n')
        self.assertRegex(self.not_started("slurm", env), r"the agent of node 1 ended before it had come: .* cannot reach the study$")

    def test_a_starter_that_ends_early_or_is_missing_is_said(self):
        said = "#!/bin/sh\necho 'srun: error: Unable to create step: Job credential expired' >&2\n%s\nexit 1\n"
        end = "echo 'srun: error: h1: task 1: Exited with exit code 2' >&2"
        for then in (":", end, "echo ------ >&2; " + end):
            with self.subTest(then):
                self.assertIn("the agent of node 0 ended before it had come: srun: error: Unable to create step: Job credential expired; srun has to "
                              "start a program on each node of the allocation", self.not_started("slurm", self.stand_in("srun", said % then)))
        agents = "echo yardstick-node: node 1 on h1: cannot reach the study at 10.0.0.1:99: No route to host >&2"
        self.assertRegex(self.not_started("slurm", self.stand_in("srun", said % (agents + "; " + end))), "No route to host$")
        self.assertIn("There are not enough slots; mpirun has to know a host for each node",
                      self.not_started("mpi", self.stand_in("mpirun", "#!/bin/sh\nprintf '%s\\n' ---- 'There are not enough slots' ---- >&2\nexit 1\n")))
        os.remove(os.path.join(self.folder, "srun"))
        self.assertIn("the agent of node 0 cannot be started: cannot execute srun", self.not_started("slurm", {"PATH": self.folder}))

    def not_started(self, launch, env):
        """Why none of the agents came, of a run in an allocation."""
        results = tempfile.mkdtemp(dir=self.folder)
        self.yardstick("run", *SHORT, "--launch=" + launch, "--results=" + results, env=dict(env, **ALLOCATION).items(), code=1)
        self.assert_nothing_left()
        out, _ = self.yardstick("export", "--results=" + results)
        facts, = [line["facts"] for line in map(json.loads, out.splitlines()) if line["type"] == "run"]
        self.assertEqual(facts["status"], "load_failed")
        return facts["message"]

    def test_an_allocation_that_is_not_there_or_too_small_is_said_before_srun_is_asked(self):
        env = self.stand_in("srun", "#!/bin/sh\ntouch \"$SAID\"\n")
        with unittest.mock.patch.dict(ALLOCATION, SLURM_JOB_NUM_NODES="1", SLURM_JOB_NODELIST="h0"):
            self.assertIn("allocation 7 has 1 of 2 nodes (h0): ask for more, by salloc -N 2", self.not_started("slurm", env))
        with unittest.mock.patch.dict(ALLOCATION, clear=True):
            self.assertRegex(self.not_started("slurm", env), "srun has no allocation here .*: start yardstick by salloc -N 2, or by sbatch")
        self.assertFalse(os.path.exists(self.said))


if __name__ == "__main__":
    unittest.main()
