#!/usr/bin/env python3
"""How many images a loader makes in a second, and in a second of processor time: yardstick-feeder by its ring, beside the loaders
of frameworks, of the same JPEG files, to the same size by the same interpolation.

usage: bench_loaders.py ring [--shape 3x224x224] [--batch 64]     batches of a mapped file, each read by this program
       bench_loaders.py feeder FOLDER [--augment area|place|none] [--size 224] [--threads N]
       bench_loaders.py torch FOLDER ...                          in an interpreter with PyTorch and Pillow; 0 threads: no worker
       bench_loaders.py tensorflow FOLDER ...                     in one with TensorFlow
       bench_loaders.py dali FOLDER ...                           in one with nvidia.dali, which needs no device
       bench_loaders.py rounds FOLDER --python torch=/some/python --python tensorflow=... [--rounds 3] [--seconds 3]
                                                                  all of them in turn, by lot in each round: a table, and how many
                                                                  times the others at their best the feeder makes at its best

FOLDER has halves and classes (docs/data.md); `yardstick-feeder draw` makes one. `area` is a box by lot and `none` the middle, both
resampled to SIZE; `place` is a square of SIZE pixels by lot, as they are, out of images of 500x375. All but `rounds` print one line.
Programs are looked for in YARDSTICK_BIN, otherwise beside this folder."""

import argparse
import glob
import itertools
import json
import math
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.environ.get("YARDSTICK_BIN", os.path.dirname(HERE))
WARM_UP = 8
ROWS = (375, 500)  # height and width of the rows that the feeder cuts a place out of


def cpu_s(pid=None):
    """Of this process and of all that it started, those that still run included."""
    pid = pid or os.getpid()
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    spent = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    for path in glob.glob("/proc/%d/task/*/children" % pid):
        with open(path) as file:
            spent += sum(map(cpu_s, map(int, file.read().split())))
    return spent


class Ring:
    """yardstick-feeder as yardstick starts it."""

    def __init__(self, input_, batch):
        import common_feed
        own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        near, far = socket.socketpair()
        memory = os.memfd_create("ring", os.MFD_ALLOW_SEALING)
        fds = {"channel": its.fileno(), "memory": memory}
        self.process = subprocess.Popen([os.path.join(BIN, "yardstick-feeder"), "serve"], stdin=subprocess.DEVNULL,
                                        pass_fds=[far.fileno(), *fds.values()], env=dict(os.environ, YARDSTICK_FD=str(far.fileno())))
        far.close()
        its.close()
        with near.makefile("rwb", buffering=0) as lines:
            plan = {"format": "yardstick-plan", "version": 1, "mode": "infer", "batch": batch, "steps": 1, "folder": "/tmp", "precision": "f32",
                    "input": dict(input_, kind="ring", **fds)}
            for message in ({"type": "hello", "protocol": 1}, {"type": "open", "plan": plan}):
                lines.write(json.dumps(message).encode() + b"\n")
                answer = json.loads(lines.readline())
                if answer["type"] == "error":
                    sys.exit(answer["message"])
        self.near = near
        self.feed = common_feed.Feed(own.detach(), memory)

    def batches(self, order):
        """Of `order` steps again and again, of which every byte is read."""
        import numpy as np
        for step in itertools.cycle(range(order)):
            x = self.feed.take(step)["x"]
            np.bitwise_xor.reduce(x.reshape(-1).view(np.uint64))
            yield x
            self.feed.release()

    def end(self):
        self.feed = None
        self.near.close()
        self.process.wait()


def write_order(folder, rows, batch, steps):
    import common
    import numpy as np
    path = os.path.join(folder, "order.safetensors")
    picked = np.array([[random.randrange(rows) for _ in range(batch)] for _ in range(steps)], np.uint32)
    common.write_safetensors(path, {"order": picked, "epoch": np.zeros(steps, np.uint32), "lr": np.zeros(steps)})
    return path


def count(batches, seconds):
    """(images a second, images a second of processor time). The first batches are not counted: with them threads begin and what is
    made ahead is filled, which is as full at the end."""
    for _ in range(WARM_UP):
        next(batches)
    done, start, spent = 0, time.monotonic(), cpu_s()
    while time.monotonic() - start < seconds:
        done += len(next(batches))
    return done / (time.monotonic() - start), done / (cpu_s() - spent)


def bench_ring(args):
    import common
    import numpy as np
    shape = tuple(map(int, args.shape.split("x")))
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data.safetensors")
        x = np.random.default_rng(args.seed).integers(0, 256, (4 * args.batch, *shape), np.uint8)
        common.write_safetensors(data, {"x": x, "y": np.zeros(len(x), np.int64)})
        ring = Ring({"path": data, "order": write_order(folder, len(x), args.batch, 16), "threads": args.threads}, args.batch)
        rate = count(ring.batches(16), args.seconds)[0] / args.batch
        ring.end()
    print("ring, %d x %s: %.0f batches/s, %.1f GB/s written and read" %
          (args.batch, args.shape, rate, rate * args.batch * math.prod(shape) / 1e9))


def rows_of(augment, size):
    """Height and width of the rows that the feeder has."""
    return ROWS if augment == "place" else (size, size)


def list_of(folder, height, width, cache):
    """The list of images that yardstick prepares."""
    env = dict(os.environ, YARDSTICK_CACHE=cache)
    subprocess.run([os.path.join(BIN, "yardstick"), "check", "--framework=null", "--model=squeezenet", "--data=" + os.path.abspath(folder),
                    "--input=ring", "--input.decode=live", "--input.size=%d" % height, "--input.width=%d" % width, "--steps=1",
                    "--batch=1"], env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return glob.glob(os.path.join(cache, "data", "folder-*", "*", "train.safetensors"))[0]


def bench_feeder(args):
    import common
    with tempfile.TemporaryDirectory() as cache:
        data = args.list or list_of(args.folder, *rows_of(args.augment, args.size), cache)
        rows = len(common.read_safetensors(data)["y"])
        input_ = {"path": data, "order": write_order(cache, rows, args.batch, 1000), "threads": args.threads, "seed": args.seed}
        if args.augment != "none":
            input_["augment"] = args.augment
        if args.augment == "place":
            input_["crop"] = args.size
        if args.reduced:
            input_["decode"] = "reduced"
        ring = Ring(input_, args.batch)
        say("yardstick-feeder, %d threads", args, count(ring.batches(1000), args.seconds))
        ring.end()


def say(what, args, found):
    if args.json:
        print(json.dumps(found))
        return
    print("%s, %s to %d%s: %.0f images/s, %.0f a second of processor time" %
          (what % args.threads, args.augment, args.size, ", reduced" if args.reduced else "", *found))


def draw_box(args, height, width):
    """left, top, right, bottom, as docs/data.md has them: by lot, or the largest square in the middle."""
    if args.augment == "place":
        left, top = random.randint(0, width - args.size), random.randint(0, height - args.size)
        return left, top, left + args.size, top + args.size
    for _ in range(10 if args.augment == "area" else 0):
        area, ratio = height * width * random.uniform(0.08, 1), random.uniform(1, 4 / 3) ** random.choice((-1, 1))
        wide, high = math.sqrt(area * ratio), math.sqrt(area / ratio)
        if wide <= width and high <= height:
            left, top = random.uniform(0, width - wide), random.uniform(0, height - high)
            return left, top, left + wide, top + high
    side = min(height, width)
    return (width - side) / 2, (height - side) / 2, (width + side) / 2, (height + side) / 2


def paths_of(folder):
    return sorted(glob.glob(os.path.join(folder, "train", "*", "*.jpg")))


def bench_torch(args):
    import numpy as np
    import torch
    from PIL import Image
    torch.set_num_threads(1)

    class Photos(torch.utils.data.Dataset):
        paths = paths_of(args.folder)

        def __len__(self):
            return 1 << 30

        def __getitem__(self, row):
            with Image.open(self.paths[row % len(self.paths)]) as image:
                box = draw_box(args, image.height, image.width)
                if args.augment == "place":
                    made = image.crop(box).convert("RGB")
                else:
                    made = image.convert("RGB").resize((args.size, args.size), Image.BILINEAR, box)
            return torch.from_numpy(np.array(made)).permute(2, 0, 1).contiguous()

    batches = torch.utils.data.DataLoader(Photos(), batch_size=args.batch, num_workers=args.threads)
    say("torch DataLoader, %d workers", args, count(iter(batches), args.seconds))


def bench_tensorflow(args):
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)

    def choose(height, width):
        """Of the image that has so many pixels: first row and column, rows, columns."""
        if args.augment == "place":
            return tf.stack([tf.random.uniform([], 0, height - args.size + 1, tf.int32),
                             tf.random.uniform([], 0, width - args.size + 1, tf.int32), args.size, args.size])
        if args.augment == "none":
            side = tf.minimum(height, width)
            return tf.stack([(height - side) // 2, (width - side) // 2, side, side])
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.stack([height, width, 3]), tf.zeros([1, 0, 4]), aspect_ratio_range=(3 / 4, 4 / 3), area_range=(0.08, 1), max_attempts=10,
            use_image_if_no_bounding_boxes=True)
        return tf.stack([begin[0], begin[1], size[0], size[1]])

    def load(path):
        data = tf.io.read_file(path)
        box = choose(*tf.unstack(tf.io.extract_jpeg_shape(data)[:2]))
        image = tf.io.decode_and_crop_jpeg(data, box, channels=3, dct_method="INTEGER_ACCURATE")
        if args.augment != "place":
            image = tf.cast(tf.round(tf.image.resize(image, (args.size, args.size), antialias=True)), tf.uint8)
        return tf.transpose(image, (2, 0, 1))

    files = tf.data.Dataset.from_tensor_slices(paths_of(args.folder)).repeat().shuffle(1000, seed=args.seed)
    options = tf.data.Options()
    options.threading.private_threadpool_size = args.threads
    batches = files.map(load, num_parallel_calls=args.threads).batch(args.batch).prefetch(2).with_options(options)
    say("tf.data, %d threads", args, count(iter(batches), args.seconds))


def bench_dali(args):
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=args.batch, num_threads=args.threads, device_id=None, seed=args.seed)
    def photos():
        data, _ = fn.readers.file(files=paths_of(args.folder), random_shuffle=True)
        if args.augment == "place":
            image = fn.decoders.image_crop(data, crop=[args.size, args.size], crop_pos_x=fn.random.uniform(range=[0.0, 1.0]),
                                           crop_pos_y=fn.random.uniform(range=[0.0, 1.0]))
        elif args.augment == "area":
            image = fn.decoders.image_random_crop(data, random_area=[0.08, 1], random_aspect_ratio=[3 / 4, 4 / 3])
            image = fn.resize(image, size=[args.size, args.size], interp_type=types.INTERP_LINEAR, antialias=True)
        else:
            image = fn.resize(fn.decoders.image(data), size=[args.size, args.size], mode="not_smaller",
                              interp_type=types.INTERP_LINEAR, antialias=True)
            image = fn.crop(image, crop=[args.size, args.size])
        return fn.transpose(image, perm=[2, 0, 1])

    def batches(pipe):
        while True:
            yield pipe.run()[0].as_array()

    pipe = photos()
    pipe.build()
    say("DALI, %d threads", args, count(batches(pipe), args.seconds))


NAMES = {"feeder": "yardstick-feeder", "torch": "torch.utils.data.DataLoader with Pillow", "tensorflow": "tf.data", "dali": "DALI"}
SIZES = {"area": 224, "place": 256, "none": 256}
WORDS = {"area": "`area` to 224", "place": "`place`, 256 of its pixels", "none": "the middle to 256"}
THREADS = [("area", 1), ("area", 2), ("place", 1), ("place", 2), ("none", 1)]


def cases_of(whats):
    """(what, augment, threads) that are measured in each round: DataLoader without a worker too, which is its best at times."""
    cases = [(what, augment, threads) for augment, threads in THREADS for what in whats]
    return cases + [("torch", augment, 0) for augment in SIZES if "torch" in whats]


def measure_case(case, pythons, lists, args):
    what, augment, threads = case
    words = [pythons[what], os.path.abspath(__file__), what, args.folder, "--json", "--augment", augment, "--size", str(SIZES[augment]),
             "--threads", str(threads), "--batch", str(args.batch), "--seconds", str(args.seconds), "--seed", str(args.seed),
             "--list", lists[augment]]
    ended = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if ended.returncode != 0:
        sys.exit("%s:\n%s" % (" ".join(words), ended.stderr))
    return json.loads(ended.stdout)


def spread(values, form="%.0f"):
    return "%s (%s to %s)" % tuple(form % value for value in (statistics.median(values), min(values), max(values)))


def print_rounds(cases, found):
    """`found` has for each case a list of (images a second, images a second of processor time), one of each round."""
    print("| what | images a second | a second of processor time |\n| --- | --- | --- |")
    for case in sorted(cases, key=lambda case: (list(SIZES).index(case[1]), list(NAMES).index(case[0]), case[2])):
        what, augment, threads = case
        unit = "worker" if what == "torch" else "thread"
        print("| %s, %s, %d %s%s | %s | %s |" % (NAMES[what], WORDS[augment], threads, unit, "" if threads == 1 else "s",
                                                *(spread(values) for values in zip(*found[case]))))
    for augment in SIZES:
        best = {what: [max(spent) for spent in zip(*([pair[1] for pair in found[case]] for case in cases if case[:2] == (what, augment)))]
                for what in {case[0] for case in cases}}
        for what in (what for what in NAMES if what in best and what != "feeder"):
            ratios = [own / other for own, other in zip(best["feeder"], best[what])]
            print("%s: a second of processor time of the feeder makes %s times what one of %s makes, each at its best setting" %
                  (WORDS[augment], spread(ratios, "%.2f"), NAMES[what]))


def bench_rounds(args):
    pythons = {"feeder": sys.executable, **dict(pair.split("=", 1) for pair in args.python)}
    cases = cases_of([what for what in NAMES if what in pythons])
    found = {case: [] for case in cases}
    with tempfile.TemporaryDirectory() as cache:
        lists = {augment: list_of(args.folder, *rows_of(augment, size), os.path.join(cache, augment)) for augment, size in SIZES.items()}
        for _ in range(args.rounds):
            for case in random.sample(cases, len(cases)):
                found[case].append(measure_case(case, pythons, lists, args))
    print_rounds(cases, found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("ring", "rounds", *NAMES))
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--shape", default="3x224x224")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--augment", choices=("none", "place", "area"), default="area")
    parser.add_argument("--reduced", action="store_true", help="of the feeder: input.decode = reduced")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", help="of the feeder: the list of images that yardstick prepared, not made again")
    parser.add_argument("--json", action="store_true", help="print images a second and images a second of processor time, as JSON")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", action="append", default=[], metavar="LOADER=PROGRAM", help="of rounds: the interpreter that has it")
    args = parser.parse_args()
    if args.what != "ring" and not args.folder:
        parser.error("which folder of images?")
    random.seed(args.seed)
    if args.what in ("ring", "feeder"):
        sys.path.append(os.path.join(os.path.dirname(HERE), "adapters"))  # some are called like the frameworks
    benches = {"ring": bench_ring, "rounds": bench_rounds, "feeder": bench_feeder, "torch": bench_torch, "tensorflow": bench_tensorflow,
               "dali": bench_dali}
    benches[args.what](args)


if __name__ == "__main__":
    main()
