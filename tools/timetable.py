#!/usr/bin/env python3
"""Timetables: when ranks computed, for yardstick-null to sleep where there are fewer cores than ranks.

    yardstick export last | tools/timetable.py take --trial NAME > FILE
    tools/timetable.py predict FILE --ranks 4 --rate 1gbit --delay 0.5ms --bucket 4MiB --handling 0.8ms

`take` reads a stored study and writes what the steps of one of its trials took, all rounds one after the other: of ranks that tell
(docs/distributed.md) until a step's own gradients were there, and from when they were those of all until the weights had
changed, where that is told; of one process the whole step. The first step of a run is left out, as it is where the parts of a step are told. What the backward pass hides of an
exchange no run tells, so take runs of one bucket. The file goes with --opt.null.timetable=/PATH/OF/FILE.

`predict` says how long a step takes on a wire of that bandwidth and latency, once each rank has computed as the file says: the
mean over the steps (as many as the file has, or as --steps says a run has, the first left out) of the slowest rank's time, and of
an exchange of n bytes between w ranks

    (2 w - 3) max(n / (w B), L) + n / (w B) + L

of a ring, in which each rank sends 2 (w - 1) pieces of n / w bytes (Patarasuk and Yuan, 2009), on wires that take n / B + L (Hockney,
1994). The ring of the built-in engine passes on what comes in while it comes, so the next piece begins as soon as the one before
has left, and the first byte of what it is made of is here: the later of the two. B counts the headers of TCP and Ethernet, 66 bytes
for each 1448.
--handling is what comes on top, copying, summing and waking up: what a step on a fast wire takes longer than is said without it.

With --bucket the numbers go in equal buckets of so many bytes at most, as yardstick-null has them with the key `bucket`: the last is
ready when a step has computed, the others evenly before, over the last two thirds of it. A bucket begins when it is ready in all
ranks and the one before is exchanged, and the step ends with the last: what of that is behind the computing counts as exchanging.
"""
import argparse
import collections
import json
import math
import sys

FORMAT = "yardstick/timetable/1"
FRAME_BYTES, PAYLOAD_BYTES = 1514, 1448
UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9, "us": 1e-6, "ms": 1e-3, "s": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10,
         "MiB": 2**20, "GiB": 2**30}


Wire = collections.namedtuple("Wire", "rate_bps delay_s handling_s")


class Failed(Exception):
    pass


def of_rank(series, name, rank):
    """The columns of one rank of the series `name`_...: a dict."""
    columns = {key[len(name) + 1:]: values for key, values in series.items() if key.startswith(name + "_")}
    ranks = columns.get("rank") or [0] * max(map(len, columns.values()), default=0)
    return {key: [value for value, whose in zip(values, ranks) if whose == rank] for key, values in columns.items() if len(values) == len(ranks)}


def blocks_of(series, rank):
    """(first step, steps, start, end) of each block."""
    block = of_rank(series, "block", rank)
    return list(zip(block["first"], block["count"], block["start_ns"], block["end_ns"]))


def steps_of_one(series):
    """Of one process: the whole step comes before there are gradients that nobody else has."""
    steps = [(end - start) // count for first, count, start, end in blocks_of(series, 0) if first > 0 for _ in range(count)]
    return {"before_ns": steps, "after_ns": [0] * len(steps)}


def steps_of_rank(series, rank):
    told = of_rank(series, "exchange", rank)
    reduced_ns = told.get("reduced_ns", [])
    at = {step: times for step, *times in zip(told.get("step", []), told.get("ready_ns", []), reduced_ns, told.get("updated_ns", reduced_ns))}
    before_ns, after_ns = [], []
    for first, count, start, end in blocks_of(series, rank):
        for step in range(first, first + count):
            if step not in at:
                raise Failed("rank %d does not tell when its gradients were there: take a run of one process with as many rows" % rank)
            ready, reduced, updated = at[step]
            before_ns.append(ready - start)
            start = end if step == first + count - 1 else updated
            after_ns.append(start - reduced)
    return {"before_ns": before_ns[1:], "after_ns": after_ns[1:]}


def take(lines, trial_name):
    trials, runs = {}, []
    for line in map(json.loads, lines):
        if line["type"] == "trial":
            trials[line["id"]] = line
        elif line["type"] == "run" and line["facts"]["status"] == "ok":
            runs.append(line)
    if trial_name is None and len(trials) == 1:
        trial_name, = trials
    if trial_name not in trials:
        raise Failed("--trial is %s; the study has: %s" % (trial_name, ", ".join(trials) or "none"))
    runs = [run for run in runs if run["trial"] == trial_name]
    if not runs:
        raise Failed("trial %s has no run that ended well" % trial_name)
    count = len(runs[0]["facts"].get("ranks") or [None])
    ranks = [{"before_ns": [], "after_ns": []} for _ in range(count)]
    for run in runs:
        for rank, table in enumerate(ranks):
            more = steps_of_one(run["series"]) if count == 1 else steps_of_rank(run["series"], rank)
            for name in table:
                table[name] += more[name]
    steps = min(len(table["before_ns"]) for table in ranks)
    if steps == 0:
        raise Failed("trial %s has no step after the first" % trial_name)
    trial = trials[trial_name]
    keys, framework = trial["keys"], trial["framework"]
    of = "%s %s, %s, %s of %d rows, %d steps" % (framework["name"], framework["version"], keys["model"],
                                                 "%d ranks" % count if count > 1 else "one process", keys["batch"], steps)
    return {"format": FORMAT, "of": of, "numbers": runs[0]["facts"]["work"]["parameters"], "ranks": ranks}


def read(text):
    at = next((i for i, letter in enumerate(text) if letter.isalpha()), len(text))
    try:
        return float(text[:at]) * UNITS[text[at:]]
    except (ValueError, KeyError):
        raise Failed("%s is no bandwidth, time or size: write 1gbit, 0.5ms or 25MiB" % text)


def at(table, rank, world, step):
    """(before, after) in s, as yardstick-null takes them (src/builtin/timetable.h)."""
    tables = table["ranks"]
    own, turns = tables[rank % len(tables)], (world + len(tables) - 1) // len(tables)
    steps = len(own["before_ns"])
    place = (rank // len(tables) * steps // turns + step) % steps
    return own["before_ns"][place] / 1e9, own["after_ns"][place] / 1e9


def mean_s(count, world, wire):
    """Of that many numbers."""
    piece_s = 8 * 4 * count / world * FRAME_BYTES / PAYLOAD_BYTES / wire.rate_bps
    return (2 * world - 3) * max(piece_s, wire.delay_s) + piece_s + wire.delay_s if world > 1 else 0


def step_s(times, buckets, bucket_s):
    """From the start of a step to its last mean; `times` of each rank: (from when it goes on, how long it then computes)."""
    free_s = 0
    for bucket in range(1, buckets + 1):
        part = 1 / 3 + 2 / 3 * bucket / buckets
        free_s = max(free_s, *(start + part * compute for start, compute in times)) + bucket_s
    return free_s


def predict(table, world, wire, most_bytes, steps):
    """(computing of the slowest, exchange behind it) of a step, in s."""
    buckets = math.ceil(4 * table["numbers"] / most_bytes) if most_bytes else 1
    bucket_s = mean_s(table["numbers"] / buckets, world, wire)
    computing, all_s = [], []
    for step in range(1, steps):
        times = [(at(table, rank, world, step - 1)[1], at(table, rank, world, step)[0]) for rank in range(world)]
        computing.append(max(map(sum, times)))
        all_s.append(step_s(times, buckets, bucket_s))
    count = max(1, len(computing))
    return sum(computing) / count, sum(all_s) / count - sum(computing) / count + (wire.handling_s if world > 1 else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    taker = verbs.add_parser("take", help="a timetable out of an export on stdin")
    taker.add_argument("--trial", help="its name, as `yardstick show` has it; not needed of a study of one")
    teller = verbs.add_parser("predict", help="how long a step takes on a wire")
    teller.add_argument("file")
    teller.add_argument("--ranks", type=int, required=True)
    teller.add_argument("--rate", required=True, help="1gbit")
    teller.add_argument("--delay", default="0ms", help="one way: 0.5ms; 0 without")
    teller.add_argument("--bucket", help="the most that one holds: 4MiB; without, all is exchanged after the computing")
    teller.add_argument("--handling", default="0ms", help="that an exchange takes more than on its wire: 0.8ms; 0 without")
    teller.add_argument("--steps", type=int, help="of the run that is predicted; as many as the file has without")
    asked = parser.parse_args()
    try:
        if asked.verb == "take":
            json.dump(take(sys.stdin, asked.trial), sys.stdout)
            print()
        else:
            with open(asked.file, encoding="utf-8") as file:
                table = json.load(file)
            steps = asked.steps or len(table["ranks"][0]["before_ns"])
            wire = Wire(read(asked.rate), read(asked.delay), read(asked.handling))
            compute_s, exchange_s = predict(table, asked.ranks, wire, read(asked.bucket) if asked.bucket else None, steps)
            print("computing %.3f ms, exchanging %.3f ms, a step %.3f ms" % (1e3 * compute_s, 1e3 * exchange_s, 1e3 * (compute_s + exchange_s)))
    except (Failed, OSError) as failed:
        print("timetable: %s" % failed, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
