#!/usr/bin/env python3
"""Timetables: when ranks computed, for yardstick-null to sleep where there are fewer cores than ranks.

    yardstick export last | tools/timetable.py take --trial NAME > FILE
    tools/timetable.py predict FILE --ranks 4 --rate 1gbit --delay 0.5ms --bucket 4MiB --handling 0.8ms

`take` reads a stored study and writes what the steps of one of its trials took, all rounds one after the other: of ranks that tell
(docs/distributed.md) until a step's own gradients were there, and from when they were those of all until the weights had
changed, where that is told; of one process the whole step. Of a round that was tried several times the last attempt counts. The first step of a run is left out, as it is where the parts of a step are told. What the backward pass hides of an
exchange no run tells, so take runs of one bucket. The file goes with --opt.null.timetable=/PATH/OF/FILE.

`predict` says how long a step takes on a wire of that bandwidth and latency, once each rank has computed as the file says: the
mean over the steps (as many as the file has, or as --steps says a run has, the first left out). It follows what has to wait for
what. In a mean of n bytes between w ranks each sends 2 (w - 1) pieces of n / w bytes, one behind the other (Patarasuk and Yuan,
2009), on a wire that takes n / B + L for n bytes (Hockney, 1994). The ring of the built-in engine passes on what comes in while it
comes, so a piece begins when the one before has left, and the first frame of what it is made of is here: the later of the two. Where
all ranks begin at once, and pieces take longer than a frame and the latency, that is

    2 (w - 1) n / (w B) + L

and what ranks that are early have sent before the last one begins shortens it for that one. B counts the headers of TCP and
Ethernet, 66 bytes for each 1448, and a frame is what network cards cut and join, of 45 such segments at most. What is behind the computing of the slowest rank counts as exchanging. --handling comes on top,
copying, summing and waking up: what a step on a fast wire takes longer than is said without it.

With --bucket the numbers go in equal buckets of so many bytes at most, as yardstick-null has them with the key `bucket`: the last is
ready when a step has computed, the others evenly before, over the last two thirds of it. A rank begins a bucket when it is ready and
it has the mean of the one before.
"""
import argparse
import collections
import json
import math
import re
import sys

FORMAT = "yardstick/timetable/1"
FRAME_BYTES, PAYLOAD_BYTES, SEGMENTS = 1514, 1448, 45
RATES_BPS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
TIMES_S = {"us": 1e-6, "ms": 1e-3, "s": 1}
SIZES_BYTES = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
DAY_NS = 86400 * 10**9  # a step's longest


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


def read_export(lines):
    """(trials by their id, runs)"""
    trials, runs, count = {}, [], 0
    try:
        for line in lines:
            count += 1
            line = json.loads(line)
            if line["type"] == "trial":
                trials[line["id"]] = line
            elif line["type"] == "run":
                runs.append(line)
    except (ValueError, KeyError, TypeError):
        raise Failed("line %d of stdin is none of an export: `yardstick export last | tools/timetable.py take`" % max(count, 1))
    if not trials:
        raise Failed("stdin has %d lines and no trial: `yardstick export last | tools/timetable.py take`" % count)
    return trials, runs


def those_that_count(runs):
    """Of each round the last attempt that was not cancelled, where it ended well."""
    last = {}
    for run in sorted(runs, key=lambda run: (run["round"], run["attempt"])):
        if run["facts"]["status"] != "cancelled":
            last[run["round"]] = run
    return [run for run in last.values() if run["facts"]["status"] == "ok"]


def take(lines, trial_name):
    trials, runs = read_export(lines)
    if trial_name is None and len(trials) == 1:
        trial_name, = trials
    if trial_name not in trials:
        raise Failed("--trial %s; the study has: %s" % ("is " + trial_name if trial_name else "is not given", ", ".join(trials)))
    runs = those_that_count(run for run in runs if run["trial"] == trial_name)
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


def read(flag, text, units, may_be_0):
    """What "0.5ms" says, of a flag whose units these are."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]+)", text)
    if not found or found.group(2) not in units or not may_be_0 and float(found.group(1)) == 0:
        raise Failed("%s is %s: write a number%s with one of %s" % (flag, text, "" if may_be_0 else " above 0", ", ".join(units)))
    return float(found.group(1)) * units[found.group(2)]


def are_times(times_ns, steps):
    return len(times_ns) == steps > 0 and all(isinstance(time, int) and 0 <= time <= DAY_NS for time in times_ns)


def read_table(path):
    """A timetable, as yardstick-null reads it too (src/builtin/timetable.c)."""
    try:
        with open(path, encoding="utf-8") as file:
            table = json.load(file)
        steps = len(table["ranks"][0]["before_ns"])
        good = table["format"] == FORMAT and isinstance(table["numbers"], int) and table["numbers"] > 0
        good = good and all(are_times(rank[name], steps) for rank in table["ranks"] for name in ("before_ns", "after_ns"))
    except (ValueError, LookupError, TypeError):
        good = False
    if not good:
        raise Failed("%s is no timetable: `yardstick export last | tools/timetable.py take` writes one" % path)
    return table


def at(table, rank, world, step):
    """(before, after) in s, as yardstick-null takes them (src/builtin/timetable.h)."""
    tables = table["ranks"]
    own, turns = tables[rank % len(tables)], (world + len(tables) - 1) // len(tables)
    steps = len(own["before_ns"])
    place = (rank // len(tables) * steps // turns + step) % steps
    return own["before_ns"][place] / 1e9, own["after_ns"][place] / 1e9


def pass_round(ready_s, free_s, piece_s, wire):
    """When each rank has the mean, and when its wire is free; from when its numbers are ready, and its wire was free."""
    world = len(ready_s)
    first_s = min(piece_s, 8 * SEGMENTS * FRAME_BYTES / wire.rate_bps) + wire.delay_s
    begins_s = [max(times) for times in zip(ready_s, free_s)]
    for _ in range(2 * world - 3):
        begins_s = [max(begins_s[rank] + piece_s, begins_s[rank - 1] + first_s) for rank in range(world)]
    return [max(ready_s[rank], begins_s[rank - 1] + piece_s + wire.delay_s) for rank in range(world)], [begin + piece_s for begin in begins_s]


def ends(table, world, wire, buckets, steps):
    """Of each step, when the last rank has the mean of its last bucket, in s."""
    piece_s = 8 * 4 * table["numbers"] / buckets / world * FRAME_BYTES / PAYLOAD_BYTES / wire.rate_bps
    goes_on_s, free_s = [0] * world, [0] * world
    for step in range(steps):
        begun_s, has_s = goes_on_s, [0] * world
        for bucket in range(1, buckets + 1):
            part = 1 / 3 + 2 / 3 * bucket / buckets
            ready_s = [max(has_s[rank], begun_s[rank] + part * at(table, rank, world, step)[0]) for rank in range(world)]
            has_s, free_s = pass_round(ready_s, free_s, piece_s, wire) if world > 1 else (ready_s, free_s)
        has_s = [end + wire.handling_s * (world > 1) for end in has_s]
        goes_on_s = [has_s[rank] + at(table, rank, world, step)[1] for rank in range(world)]
        yield max(has_s)


def predict(table, world, wire, most_bytes, steps):
    """(computing of the slowest, what a step takes beyond it) in s, of 2 steps or more."""
    buckets = math.ceil(4 * table["numbers"] / most_bytes) if most_bytes else 1
    slowest_s = [max(at(table, rank, world, step - 1)[1] + at(table, rank, world, step)[0] for rank in range(world)) for step in range(1, steps)]
    end_s = list(ends(table, world, wire, buckets, steps))
    return sum(slowest_s) / (steps - 1), (end_s[-1] - end_s[0] - sum(slowest_s)) / (steps - 1)


def tell(asked):
    wire = Wire(read("--rate", asked.rate, RATES_BPS, False), read("--delay", asked.delay, TIMES_S, True),
                read("--handling", asked.handling, TIMES_S, True))
    most_bytes = read("--bucket", asked.bucket, SIZES_BYTES, False) if asked.bucket is not None else None
    if asked.ranks < 1:
        raise Failed("--ranks is %d: write a number above 0" % asked.ranks)
    if asked.steps is not None and asked.steps < 2:
        raise Failed("--steps is %d: write 2 or more, for the first is left out" % asked.steps)
    table = read_table(asked.file)
    steps = asked.steps or len(table["ranks"][0]["before_ns"])
    if steps < 2:
        raise Failed("%s has one step, and the first is left out: say with --steps how many the run has, which has it again and again" % asked.file)
    compute_s, exchange_s = predict(table, asked.ranks, wire, most_bytes, steps)
    print("computing %.3f ms, exchanging %.3f ms, a step %.3f ms" % (1e3 * compute_s, 1e3 * exchange_s, 1e3 * (compute_s + exchange_s)))


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
    teller.add_argument("--steps", type=int, help="of the run that is predicted, 2 or more; as many as the file has without")
    asked = parser.parse_args()
    try:
        if asked.verb == "take":
            json.dump(take(sys.stdin, asked.trial), sys.stdout)
            print()
        else:
            tell(asked)
    except (Failed, OSError) as failed:
        print("timetable: %s" % failed, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
