"""Frameworks that train in several processes, against the single process of the oracle; and mistakes made on purpose, which
the proof has to catch. Prints TAP; FRAMEWORKS names those to try, of which the others train alone."""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["YS_SOURCE_ROOT"], "tools"))
import prove_seeds  # noqa: E402
import tap  # noqa: E402

PROGRAM = os.path.join(os.environ["YARDSTICK_BIN"], "yardstick")
RECIPES = os.path.join(os.environ["YS_SOURCE_ROOT"], "tests", "frameworks")
RANKED = ("pytorch", "deepspeed", "jax", "tensorflow", "paddle", "chainer", "mxnet")
FRAMEWORKS = [name for name in os.environ.get("FRAMEWORKS", " ".join(RANKED)).split() if name in RANKED]
# A core for each rank, as far as there are two.
WORK = ["--global-batch=16", "--threads=%d" % min(2, len(os.sched_getaffinity(0))), "--lr=0.05", "--momentum=0.9", "--weight-decay=0.01", "--clip-norm=0.5"]
MLP = ["--model=mlp", "--data=digits", *WORK]
UNCLIPPED = [*MLP[:-1]]
NORMALISED = ["--model=check_BatchNormalization", "--data=synthetic", *WORK]
# Lines of text of their own lengths, behind whose end targets are hidden.
LINES = ["--model=gru-char", "--model.width=12", "--data=lines", *WORK]
# Who has batch normalisation by the rows of all ranks.
SYNC = ("pytorch", "deepspeed", "jax", "chainer")
# Who tells how long a step exchanges gradients, and what is asked of it for that.
TIMED = {"pytorch": [], "deepspeed": [], "paddle": ["--bucket=1GiB"], "chainer": []}
# Whose collectives are heard from outside, and which they are. PyTorch's ranks tell one another once how buckets are put together
# anew, in a few numbers.
HEARD = {"pytorch": "gloo", "deepspeed": "gloo", "paddle": "gloo", "chainer": "mpi"}
ONCE_BYTES = {"pytorch": 64}
# Who divides the network too.
SHARDED = ("pytorch",)
# Who exchanges what is double as float.
SINGLE = ("mxnet",)
# What is asked of whom that is not done in double, and with which words it says so.
WEAK = {"mxnet": (MLP, "sends float64 as float32"), "deepspeed": ([*MLP, "--opt.deepspeed.zero=1,2"], "float32 copies")}
# Who can exchange nothing.
ALONE = ("pytorch", "paddle", "chainer", "mxnet")
# Who exchanges gradients in buckets of the size that is asked for.
BUCKETS = ("pytorch", "paddle")
# The gradients of ranks whose rows show other numbers of targets, each counted for as many.
EVEN = {"nothing": None, "ranks_even": "gradients"}
# What is asked of the adapter that is made wrong, the mistake, and the first thing that differs: a check, or the reason where it
# came to none; None: nothing is wrong. One `verify` for all mistakes of one work, so that the oracle is asked once.
WRONG = {"pytorch": (
    (MLP, {"nothing": None, "ranks_summed": "gradients", "ranks_rows": "batches", "ranks_decay": "of rank 1 is not that of rank 0",
           "ranks_stale": "weights after 10 steps", "ranks_bucket": "of rank 1 is not that of rank 0", "ranks_half": "gradients"}),
    ([*MLP, "--strategy=sharded"], {"nothing": None, "ranks_decay": "weights after 1 step"}),
    ([*NORMALISED, "--bn=sync"], {"nothing": None, "ranks_local": "logits"}),
    (LINES, EVEN),
), "deepspeed": (
    (UNCLIPPED, {"nothing": None, "clipped": "weights after 1 step", "masters": "gradients", "summed": "gradients", "ranks_rows": "batches",
                 "ranks_decay": "of rank 1 is not that of rank 0", "ranks_stale": "weights after 10 steps",
                 "alone": "of rank 1 is not that of rank 0"}),
    (LINES, EVEN),
), "tensorflow": (
    (MLP, {"nothing": None, "summed": "gradients", "share": "gradients", "rows": "batches", "decay": "of rank 1 is not that of rank 0",
           "stale": "weights after 10 steps", "left_out": "of rank 1 is not that of rank 0", "alone": "of rank 1 is not that of rank 0"}),
    (LINES, {"nothing": None, "even": "gradients"}),
), "jax": (
    (MLP, {"nothing": None, "summed": "gradients", "rows": "batches", "decay": "of rank 1 is not that of rank 0",
           "stale": "weights after 10 steps", "left_out": "of rank 1 is not that of rank 0", "alone": "of rank 1 is not that of rank 0"}),
    ([*NORMALISED, "--bn=sync"], {"nothing": None, "local": "logits"}),
    (LINES, {"nothing": None, "even": "gradients"}),
), "paddle": (
    (MLP, {"nothing": None, "ranks_summed": "gradients", "ranks_rows": "batches", "ranks_decay": "of rank 1 is not that of rank 0",
           "ranks_stale": "weights after 10 steps", "ranks_bucket": "of rank 1 is not that of rank 0",
           "ranks_alone": "of rank 1 is not that of rank 0"}),
    (LINES, EVEN),
), "chainer": (
    (MLP, {"nothing": None, "ranks_summed": "gradients", "ranks_rows": "batches", "ranks_decay": "of rank 1 is not that of rank 0",
           "ranks_stale": "weights after 10 steps", "ranks_bucket": "of rank 1 is not that of rank 0",
           "ranks_alone": "of rank 1 is not that of rank 0", "ranks_broadcast": "weights after 1 step"}),
    ([*NORMALISED, "--bn=sync"], {"nothing": None, "ranks_local": "logits"}),
    (LINES, EVEN),
), "mxnet": (
    (MLP, {"nothing": None, "ranks_summed": "gradients", "ranks_rows": "batches", "ranks_bucket": "of rank 1 is not that of rank 0",
           "ranks_alone": "of rank 1 is not that of rank 0"}),
    (LINES, EVEN),
)}
# A proof in single precision alone does not train: the mistakes of whole steps are caught in a run, by what it says or its audit.
WRONG_RUNS = {"mxnet": {"nothing": None, "ranks_decay": "rank 1 of 2 saved other weights than rank 0", "ranks_stale": "audit"}}
BOUND = 1e-9  # of what is done in double, as of one process


def yardstick(*arguments, env=None):
    """Its exit code, and the document it prints, None where it prints none."""
    done = subprocess.run([PROGRAM, *arguments, "--format=json"], capture_output=True, text=True, env=dict(os.environ, **(env or {})))
    try:
        return done.returncode, json.loads(done.stdout), done.stderr
    except ValueError:
        return done.returncode, None, done.stderr


def worst_meaning(proof):
    """The largest error of what was compared in double."""
    return max((check["error"] for check in proof["checks"] if check["half"] == "meaning" and check["error"] is not None),
               default=None)


def proven(framework, count, *asked, env=None):
    """Whether so many trials are proven to do the same in double, and what they showed."""
    code, trials, err = yardstick("verify", "--framework=" + framework, *asked, env=env)
    proofs = [trial["proof"] for trial in trials or []]
    told = [(proof["verdict"], worst_meaning(proof), proof["reason"]) for proof in proofs]
    good = code == 0 and len(told) == count and all(verdict == "pass" and error is not None and error <= BOUND
                                                    for verdict, error, _ in told)
    return good, "%s %s" % (told, "" if good else err)


def weak(framework, asked, words, env=None):
    """Of who does not train in double: ranks in single precision alone, and why."""
    _, trials, err = yardstick("verify", "--framework=" + framework, *asked, "--ranks=2,4", env=env)
    proofs = [trial["proof"] for trial in trials or []]
    _, doubles, more = yardstick("verify", "--framework=" + framework, *asked, "--ranks=2", "--precision=f64", env=env)
    reasons = [trial["proof"]["reason"] for trial in doubles or [] if trial["proof"]["verdict"] == "none"]
    good = proofs and all(proof["verdict"] == "weak" and "in double" in proof["reason"] for proof in proofs)
    good = good and doubles and len(reasons) == len(doubles) and all(words in reason for reason in reasons)
    return bool(good), "%s %s %s" % ([(proof["verdict"], proof["reason"]) for proof in proofs], err, json.dumps(doubles) + more)


def exchanges_nothing(framework, folder):
    """A run that is labelled, and never proven."""
    code, result, err = yardstick("run", "--results=" + folder, "--framework=" + framework, *MLP, "--ranks=2", "--steps=20", "--repeat=1",
                                  "--strategy=alone")
    trial = (result or {}).get("trials", [{}])[0]
    good = code == 0 and trial["status"] == "ok" and trial["proof"]["verdict"] == "none" and "gradients are not exchanged" in trial["deviations"]
    return good, json.dumps(trial)[:2000] + err


def refuses_sync(framework):
    _, trials, err = yardstick("verify", "--framework=" + framework, "--ranks=2", *NORMALISED, "--bn=sync")
    text = json.dumps(trials) + err
    verdicts = [trial["proof"]["verdict"] for trial in trials or []]
    return verdicts == ["none"] and "batch normalisation in several processes" in text, text


def refuses_sharded(framework):
    _, trials, err = yardstick("verify", "--framework=" + framework, "--ranks=2", *MLP, "--strategy=sharded")
    text = json.dumps(trials) + err
    return [trial["proof"]["verdict"] for trial in trials or []] == ["none"] and "strategy" in text, text


def refuses_buckets(framework):
    _, trials, err = yardstick("verify", "--framework=" + framework, "--ranks=2", *MLP, "--bucket=1MiB")
    text = json.dumps(trials) + err
    return [trial["proof"]["verdict"] for trial in trials or []] == ["none"] and "bucket = 1048576 bytes" in text, text


def hears(framework, rank, gradient):
    """Of the steps after the first, whose gradient has so many bytes, each rank hands it over once, and nothing else."""
    told = [rank["collective_library"], rank["collective_reason"], rank["collective_bytes"], rank["collective_s"], rank["hidden_s"]]
    if framework not in HEARD:
        return told[0] is None and "no call of gloo or MPI was heard" in told[1] and told[2:] == [None] * 3
    once = 29 * (told[2] - gradient)
    return (told[:2] == [HEARD[framework], None] and -0.5 < once <= ONCE_BYTES.get(framework, 0.5) and rank["collective_calls"] >= 1 and
            0 < told[3] and 0 <= told[4] <= told[3])


def trains(framework, folder):
    """A whole run, in which ranks' weights are compared to the bit, and which tells where a step's time goes."""
    code, result, err = yardstick("run", "--results=" + folder, "--framework=" + framework, *MLP, "--ranks=1,2", "--steps=30",
                                  "--block=5", "--repeat=1", "--audit=all", *TIMED.get(framework, ()))
    trials = (result or {}).get("trials", [])
    good = code == 0 and [trial["status"] for trial in trials] == ["ok", "ok"]
    if good:
        one, two = trials
        good = two["proof"]["audit"]["verdict"] == "pass" and "ranks" not in one and len(two["ranks"]) == 2
        parts = [rank[name] for rank in two["ranks"] for name in ("communication_s", "optimizer_s", "framework_s")]
        good = good and all((part is not None) == (framework in TIMED) for part in parts)
        good = good and all((rank["untimed"] is None) == (framework in TIMED) for rank in two["ranks"])
        good = good and all(hears(framework, rank, 4 * result["work"][0]["parameters"]) for rank in two["ranks"])
        loss = [trial["metrics"]["final_loss"]["value"] for trial in trials]
        good = good and abs(loss[0] - loss[1]) < 1e-3 * loss[0]  # thirty steps in float
    return good, json.dumps([trial.get("ranks") for trial in trials]) + err


def hosts(*words):
    return subprocess.run([os.path.join(os.environ["YS_SOURCE_ROOT"], "tools", "hosts"), *words], capture_output=True, text=True)


def sent_bytes(host):
    told = subprocess.run(["ip", "-n", host, "-s", "-j", "link", "show", "eth0"], capture_output=True, check=True)
    return json.loads(told.stdout)[0]["stats64"]["tx"]["bytes"]


def trains_on_hosts(framework, names, env, folder):
    """A run of two ranks on one host, and on two of their own: the same loss, and gradients that went over their wire."""
    losses, sent = [], [sent_bytes(name) for name in names]
    for way in (["--ranks=2"], ["--nodes=2", "--launch=ssh", "--hosts=" + ",".join(names)]):
        code, result, err = yardstick("run", "--results=" + folder, "--framework=" + framework, *MLP, *way, "--steps=30", "--block=5", "--repeat=1",
                                      "--audit=off", env=env)
        trial = (result or {}).get("trials", [{}])[0]
        if code != 0 or trial["status"] != "ok":
            return False, json.dumps(trial) + err
        losses.append(trial["metrics"]["final_loss"]["value"])
    sent = [sent_bytes(name) - before for name, before in zip(names, sent)]
    gradient = 4 * 40000  # bytes; the network has more parameters
    good = abs(losses[0] - losses[1]) <= 1e-5 * losses[0] and min(sent) > 30 * gradient / 2
    # By yardstick's own account, which leaves out the first of 30 steps, what was exchanged before, and the end.
    wires = [(rank["interface"], rank["wire_sent_bytes"], rank["wire_needed_bytes"]) for rank in trial["ranks"]]
    good = good and all(name == "eth0" and needed > gradient / 2 and 29 * passed <= all_of_it
                        for (name, passed, needed), all_of_it in zip(wires, sent))
    return good and not about_wire(trial), "%s %s %s %s" % (losses, sent, wires, about_wire(trial))


def about_wire(trial):
    """Sentences about fewer bytes, or more, than the way to exchange needs."""
    return [said for said in trial["deviations"] + trial["warnings"] if "MB a step, where" in said]


def compressed_on_hosts(names, env, folder):
    """PyTorch that exchanges halves: its wire tells, beside the proof."""
    code, result, err = yardstick("run", "--results=" + folder, "--recipes=" + RECIPES, "--framework=wrong-pytorch", *MLP, "--nodes=2",
                                  "--launch=ssh", "--hosts=" + ",".join(names), "--steps=30", "--block=5", "--repeat=1", "--audit=off",
                                  "--opt.wrong-pytorch.wrong=nothing,ranks_half", env=env)
    told = [(trial["status"], trial["proof"]["verdict"], about_wire(trial)) for trial in (result or {}).get("trials", [])]
    good = code == 5 and [one[:2] for one in told] == [("ok", "pass"), ("ok", "fail")]
    good = good and not told[0][2] and len(told[1][2]) == 1 and "compressed" in told[1][2][0]
    return good, "%s %s" % (told, err)


def on_hosts(ready, folder):
    """Network namespaces with an sshd in each stand for hosts."""
    name, keys = "ysf%d-" % os.getpid(), os.path.join(folder, "keys")
    made = hosts("up", name, "2", "--ssh", keys)
    if made.returncode != 0:
        yield "on hosts of their own # SKIP " + made.stderr.strip(), True, ""
        return
    try:
        for framework in ready:
            yield (framework + ": on hosts of their own", *trains_on_hosts(
                framework, [name + "0", name + "1"], {"PATH": keys + ":" + os.environ["PATH"]}, folder))
        if "pytorch" in ready:
            yield ("pytorch made wrong: ranks_half, by the bytes of its hosts", *compressed_on_hosts(
                [name + "0", name + "1"], {"PATH": keys + ":" + os.environ["PATH"]}, folder))
    finally:
        hosts("down", name, "2")


def judge_wrong(framework, asked, mistakes, env):
    """(mistake, whether it is caught by what it should be caught by, what was found) of each."""
    asked = [*asked, "--opt.wrong-%s.wrong=%s" % (framework, ",".join(mistakes))]
    code, trials, err = yardstick("verify", "--recipes=" + RECIPES, "--framework=wrong-" + framework, "--ranks=2", *asked, env=env)
    found = {trial["id"].split("=")[-1]: trial["proof"] for trial in trials or []}
    for mistake, word in mistakes.items():
        proof = found.get(mistake) or {"verdict": None, "reason": err, "checks": []}
        failed = [check["name"] for check in proof["checks"] if not check["pass"]]
        first = failed[0] if failed else proof["reason"] or ""
        good = code == 5 and (proof["verdict"] == ("weak" if framework in SINGLE else "pass") if word is None else proof["verdict"] == "fail" and word in first)
        yield mistake, good, "%s: %s %s" % (proof["verdict"], proof["reason"], failed)


def judge_wrong_runs(framework, mistakes, folder):
    """The same of runs."""
    code, result, err = yardstick("run", "--results=" + folder, "--recipes=" + RECIPES, "--framework=wrong-" + framework, *MLP, "--ranks=2",
                                  "--steps=40", "--block=4", "--repeat=1", "--audit=all", "--opt.wrong-%s.wrong=%s" % (framework, ",".join(mistakes)))
    found = {trial["id"].split("=")[-1]: trial for trial in (result or {}).get("trials", [])}
    for mistake, word in mistakes.items():
        trial = found.get(mistake) or {"status": None, "reason": err, "proof": {}}
        audit = trial["proof"].get("audit") or {"verdict": None}
        if word == "audit":
            good = trial["status"] == "ok" and audit["verdict"] == "fail"
        elif word is None:
            good = trial["status"] == "ok" and audit["verdict"] == "pass"
        else:
            good = trial["status"] == "wrong_output" and word in (trial["reason"] or "")
        yield mistake, code == 5 and good, "%s: %s %s" % (trial["status"], trial["reason"], json.dumps(audit))


def hidden(framework, lines):
    """Ranks whose rows show other numbers of targets."""
    name = framework + ": ranks count by the targets that their rows show"
    if framework in SINGLE:
        return (name, *weak(framework, LINES, WEAK[framework][1], env=lines))
    return (name, *proven(framework, 3, *LINES, "--ranks=1,2,4", env=lines))


def cases(ready, folder, lines):
    """(name, whether it is so, what was found) of each. lines: the variables with which there is a data set of that name."""
    for framework in ready:
        if framework in WEAK:
            yield framework + ": what is not proven in double, and why", *weak(framework, *WEAK[framework])
        if framework not in SINGLE:
            yield framework + ": 1, 2 and 4 ranks do what one process does", *proven(framework, 3, *MLP, "--ranks=1,2,4")
        if framework in SYNC:
            yield (framework + ": batch normalisation by each rank's own rows, and by those of all",
                   *proven(framework, 2, *NORMALISED, "--ranks=2", "--bn=local,sync"))
        else:
            if framework not in SINGLE:
                yield framework + ": batch normalisation by each rank's own rows", *proven(framework, 1, *NORMALISED, "--ranks=2")
            yield framework + ": says that it has none by the rows of all", *refuses_sync(framework)
        if framework in BUCKETS:
            yield framework + ": buckets of a size of one's own", *proven(framework, 2, *MLP, "--ranks=2", "--bucket=1kB,1MiB")
        else:
            yield framework + ": says that it has no such buckets", *refuses_buckets(framework)
        if framework in SHARDED:
            yield framework + ": ranks that divide the network too", *proven(
                framework, 2, *MLP, "--ranks=2,4", "--strategy=sharded")
        else:
            yield framework + ": says that it cannot divide the network", *refuses_sharded(framework)
        yield hidden(framework, lines)
        yield framework + ": a run", *trains(framework, folder)
        if framework in ALONE:
            yield framework + ": ranks that exchange nothing", *exchanges_nothing(framework, folder)
        for asked, mistakes in WRONG.get(framework, ()):
            for mistake, good, found in judge_wrong(framework, asked, mistakes, lines if asked is LINES else None):
                yield "%s made wrong: %s" % (framework, mistake), good, found
        if framework in WRONG_RUNS:
            for mistake, good, found in judge_wrong_runs(framework, WRONG_RUNS[framework], folder):
                yield "%s made wrong, a run: %s" % (framework, mistake), good, found
    yield from on_hosts(ready, folder)


def main():
    ready = tap.ready(FRAMEWORKS)
    if not ready:
        print("1..0 # SKIP none of %s is installed: yardstick install pytorch" % ", ".join(RANKED))
        return 0
    with tempfile.TemporaryDirectory() as folder, prove_seeds.with_lines(PROGRAM) as lines:
        return tap.tell(((good, name, found[:3000]) for name, good, found in cases(ready, folder, lines)), always=True)


if __name__ == "__main__":
    sys.exit(main())
