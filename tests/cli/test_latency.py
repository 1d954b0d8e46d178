"""Wires of a known bandwidth and a known latency between hosts of this machine, and whether the parts of a step find them.
Skipped where no network namespaces or TAP devices can be made.

No time is held against another machine's: a wire is no faster than it is, so what is found is the least of many."""
import atexit
import json
import os
import statistics
import subprocess
import sys
import textwrap
import unittest

from harness import ROOT, Case, tearDownModule  # noqa: F401  (removes the cache that the cases share)

NAME = "ysl%d-" % os.getpid()
RATE_BPS, DELAY_S = 100e6, 0.004
WORDS = ["--rate", "%dmbit" % (RATE_BPS / 1e6), "--delay", "%gms" % (1e3 * DELAY_S)]
FRAME_BYTES, PAYLOAD_BYTES = 1514, 1448  # of TCP through Ethernet, with time stamps
NULL = ["--framework=null", "--model=mlp", "--data=digits", "--threads=1", "--batch=8", "--repeat=1", "--block=5", "--steps=41",
        "--opt.null.wire=" + NAME]


def hosts(*words):
    return subprocess.run([os.path.join(ROOT, "tools", "hosts"), *words], capture_output=True, text=True)


MADE = hosts("up", NAME, "3", *WORDS)
if MADE.returncode != 0:
    raise unittest.SkipTest("no wires with a latency here: " + MADE.stderr.strip())
atexit.register(hosts, "down", NAME, "3")


def tolerance(known):
    """How far what is found may lie from what is known."""
    return max(0.05 * known, 0.001)


def start(rank, program, *words):
    """A Python program in the network namespace of a host."""
    return subprocess.Popen(["ip", "netns", "exec", "%s%d" % (NAME, rank), sys.executable, "-c", textwrap.dedent(program), *map(str, words)],
                            stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)


PING = """
    import socket, struct, sys, time
    address, count, bytes_ = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    def checksum(data):
        total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
        while total >> 16:
            total = (total & 0xffff) + (total >> 16)
        return ~total & 0xffff
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    raw.settimeout(5)
    for i in range(count):
        header = struct.pack("!BBHHH", 8, 0, 0, 4711, i)
        header = struct.pack("!BBHHH", 8, 0, checksum(header + bytes(bytes_)), 4711, i)
        sent = time.monotonic()
        raw.sendto(header + bytes(bytes_), (address, 0))
        answer = b""
        while answer[:1] + answer[4:] != bytes(1) + struct.pack("!HH", 4711, i):
            answer = raw.recv(65536)[20:28]
        print(time.monotonic() - sent)
"""
RECEIVE = """
    import socket, sys, time
    listener = socket.create_server(("0.0.0.0", 7000))
    print("listening", flush=True)
    stream, _ = listener.accept()
    got, told = 0, []
    while True:
        more = len(stream.recv(1 << 20))
        if not more:
            break
        got += more
        told.append((time.monotonic(), got))
    begin = next(point for point in told if point[1] > 0.3 * got)  # the window has opened by then
    print(got, (got - begin[1]) / (told[-1][0] - begin[0]))
"""
SEND = """
    import socket, sys
    stream = socket.create_connection((sys.argv[1], 7000))
    stream.sendall(bytes(int(sys.argv[2])))
    stream.close()
"""
COUNT = """
    import socket, struct, sys
    inbox = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    inbox.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)  # SO_RCVBUFFORCE
    inbox.bind(("0.0.0.0", 7001))
    inbox.settimeout(5)
    print("listening", flush=True)
    for _ in range(int(sys.argv[1])):
        print(struct.unpack("!I", inbox.recv(2048)[:4])[0])
"""
SEND_NUMBERED = """
    import socket, struct, sys, time
    outbox = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    began = time.monotonic()
    for i in range(int(sys.argv[2])):
        time.sleep(max(0, began + i * float(sys.argv[3]) - time.monotonic()))
        outbox.sendto(struct.pack("!I", i) + bytes(1400), (sys.argv[1], 7001))
"""
FLOOD = """
    import itertools, socket, sys, time
    outbox = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    outbox.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    for i in itertools.count():
        if i == 200:  # what is sent waits 50 ms for the wire by now
            print("flooding", flush=True)
        for _ in range(12):  # half as much again as the wire takes in a millisecond
            outbox.sendto(bytes(1400), (sys.argv[1], 7001))
        outbox.sendto(bytes(10), ("10.97.0.255", 7001))
        time.sleep(0.001)
"""


class Wires(unittest.TestCase):
    def ask(self, program, *words):
        out, _ = start(0, program, *words).communicate(timeout=120)
        return out.split()

    def between(self, receive, words, send, *more):
        """What the program that listens on the second host prints, once the first host has sent."""
        receiver = start(1, receive, *words)
        self.assertEqual(receiver.stdout.readline(), "listening\n")
        self.ask(send, "10.97.0.2", *more)
        out, _ = receiver.communicate(timeout=120)
        self.assertEqual(receiver.returncode, 0)
        return out.split()

    def test_a_round_trip_takes_twice_the_delay(self):
        times = list(map(float, self.ask(PING, "10.97.0.2", 20, 56)))
        self.assertEqual(len(times), 20)
        self.assertGreaterEqual(min(times), 2 * DELAY_S)
        self.assertAlmostEqual(min(times), 2 * DELAY_S, delta=tolerance(2 * DELAY_S))

    def test_a_long_frame_takes_its_time_on_the_wire_twice(self):
        """There, and back: 1442 bytes each way."""
        least = min(map(float, self.ask(PING, "10.97.0.2", 10, 1400)))
        self.assertGreaterEqual(least, 2 * (DELAY_S + 8 * 1442 / RATE_BPS))

    def test_a_stream_is_as_fast_as_the_wire_and_no_faster(self):
        rates_bps = []
        for _ in range(3):
            got, bytes_per_s = self.between(RECEIVE, [], SEND, 4000000)
            self.assertEqual(int(got), 4000000)
            rates_bps.append(8 * float(bytes_per_s) * FRAME_BYTES / PAYLOAD_BYTES)
        self.assertAlmostEqual(max(rates_bps), RATE_BPS, delta=0.05 * RATE_BPS)

    def test_below_its_rate_nothing_is_lost_or_overtaken(self):
        numbers = self.between(COUNT, [2000], SEND_NUMBERED, 2000, 2 * 8 * 1446 / RATE_BPS)
        self.assertEqual(list(map(int, numbers)), list(range(2000)))
        told = subprocess.run(["ip", "-n", NAME + "0", "-s", "-j", "link", "show", "eth0"], capture_output=True, check=True)
        self.assertEqual(json.loads(told.stdout)[0]["stats64"]["tx"]["dropped"], 0)

    def test_a_frame_that_has_not_left_yet_keeps_no_other_waiting(self):
        """What one host sends to all waits behind all that it sends to another; meanwhile others reach the rest as they did."""
        flood = start(2, FLOOD, "10.97.0.1")
        self.addCleanup(flood.communicate)
        self.addCleanup(flood.kill)
        self.assertEqual(flood.stdout.readline(), "flooding\n")
        out, _ = start(1, PING, "10.97.0.1", 20, 56).communicate(timeout=120)
        times = list(map(float, out.split()))
        self.assertEqual(len(times), 20)
        self.assertAlmostEqual(min(times), 2 * DELAY_S, delta=tolerance(2 * DELAY_S))

    def test_what_is_no_delay_is_refused(self):
        told = hosts("up", NAME + "x", "2", "--delay", "fast")
        self.assertEqual(told.returncode, 2)
        self.assertIn("--delay is 'fast': a number with us, ms or s", told.stderr)


class Parts(Case):
    def steps(self, ranks, numbers, *more):
        """What is told of the ranks, and when each of them began its steps after the first, was ready, had the mean, and had updated,
        in s."""
        self.yardstick("run", *NULL, "--ranks=%d" % ranks, "--opt.null.exchange=%d" % numbers, *more)
        out, _ = self.yardstick("export")
        run, = [line for line in map(json.loads, out.splitlines()) if line["type"] == "run"]
        self.assertEqual(run["facts"]["status"], "ok")
        series = run["series"]
        columns = [series["exchange_%s_ns" % name] for name in ("began", "ready", "reduced", "updated")]
        of_rank = len(columns[0]) // ranks
        self.assertEqual(series["exchange_step"], list(range(of_rank)) * ranks)
        return (run["facts"]["ranks"],
                *([[time / 1e9 for time in column[r * of_rank + 1:(r + 1) * of_rank]] for r in range(ranks)] for column in columns))

    def exchange_s(self, ranks, numbers):
        """The least, over steps, of what passes from when all have their gradients until all have the mean."""
        _, _, ready, reduced, _ = self.steps(ranks, numbers)
        return min(max(ends) - max(begins) for ends, begins in zip(zip(*reduced), zip(*ready)))

    def test_a_known_latency_and_a_known_bandwidth_are_found(self):
        """In a mean of n bytes over w ranks each sends 2 (w - 1) pieces of n / w bytes (Patarasuk and Yuan, 2009), on a wire that takes
        n / B + L for n bytes (Hockney, 1994). Of few bytes each piece waits for the one that it is made of, of many none does: they
        leave one behind the other, and the last takes L to arrive."""
        for ranks in (2, 3):
            with self.subTest(ranks):
                few, many = 6, 300000
                short_s, long_s = self.exchange_s(ranks, few), self.exchange_s(ranks, many)
                passes = 2 * (ranks - 1)
                found_s = short_s / passes
                self.assertAlmostEqual(found_s, DELAY_S, delta=tolerance(DELAY_S))
                piece_bits = 8 * 4 * many / ranks * FRAME_BYTES / PAYLOAD_BYTES
                self.assertAlmostEqual(passes * piece_bits / (long_s - found_s), RATE_BPS, delta=0.05 * RATE_BPS)
                expected_s = passes * piece_bits / RATE_BPS + DELAY_S
                self.assertAlmostEqual(long_s, expected_s, delta=tolerance(expected_s))

    def test_a_known_delay_of_one_rank_is_found_beside_them(self):
        known_s = 0.03
        told, _, ready, reduced, _ = self.steps(2, 60000, "--opt.null.rate=800", "--opt.null.late_ms=%d" % (1e3 * known_s), "--opt.null.late_rank=1")
        # Each from the end of its own step before: that of the other is earlier or later. What rank 0 sends is there before rank 1
        # has computed, so rank 1 has the mean as soon as its own piece has gone and come back summed, rank 0 one piece later.
        piece_s = 8 * 120000 * FRAME_BYTES / PAYLOAD_BYTES / RATE_BPS
        computed_s = [statistics.median(end - begin for begin, end in zip(ends, begins[1:])) for begins, ends in zip(ready, reduced)]
        self.assertAlmostEqual(computed_s[1] - computed_s[0], known_s, delta=tolerance(known_s))
        self.assertAlmostEqual(told[1]["compute_s"] - told[0]["compute_s"], known_s, delta=2 * tolerance(known_s))
        self.assertGreater(told[0]["waiting_s"], known_s - piece_s - tolerance(known_s))
        # The wire is as long as it was: 60000 floats, in two pieces of half of them, one behind the other.
        expected_s = 2 * piece_s + DELAY_S
        least_s = min(max(ends) - max(begins) for ends, begins in zip(zip(*reduced), zip(*ready)))
        self.assertAlmostEqual(least_s, expected_s, delta=tolerance(expected_s))

    def test_a_known_delay_is_found_in_the_part_of_the_step_where_it_is(self):
        known_s = 0.03
        for late in ("compute", "optimizer", "framework", "input"):
            with self.subTest(late):
                told, *times = self.steps(2, 1000, "--opt.null.rate=800", "--opt.null.late_ms=%d" % (1e3 * known_s), "--opt.null.late_rank=1",
                                          "--opt.null.late_part=" + late)
                found_s = [self.parts(*(column[rank] for column in times), told[rank]["input_s"]) for rank in range(2)]
                for part, of_first_s in found_s[0].items():
                    expected_s = known_s if part == late else 0
                    self.assertAlmostEqual(found_s[1][part] - of_first_s, expected_s, delta=tolerance(expected_s), msg=part)

    def parts(self, began, ready, reduced, updated, input_s):
        """Of a rank, in the middle of its steps; what lies between two blocks is one of five that lie between two steps."""
        between_s = statistics.median(begin - end for end, begin in zip(updated, began[1:]))
        return {"compute": statistics.median(end - begin for begin, end in zip(began, ready)),
                "optimizer": statistics.median(end - begin for begin, end in zip(reduced, updated)),
                "input": input_s, "framework": between_s - input_s}


if __name__ == "__main__":
    unittest.main()
