#!/usr/bin/env python3
"""How many images a loader makes in a second, and in a second of processor time: yardstick-feeder by its ring, beside the loaders
of frameworks, of the same JPEG files, to the same size by the same interpolation.

usage: bench_loaders.py ring [--shape 3x224x224] [--batch 64]     batches of a mapped file, each read by this program
       bench_loaders.py feeder FOLDER [--augment area|none] [--size 224] [--threads N]
       bench_loaders.py torch FOLDER ...                          in an interpreter with PyTorch and Pillow
       bench_loaders.py tensorflow FOLDER ...                     in one with TensorFlow
       bench_loaders.py dali FOLDER ...                           in one with nvidia.dali, which needs no device

FOLDER has halves and classes (docs/data.md); `yardstick-feeder draw` makes one. Prints one line. Programs are looked for in
YARDSTICK_BIN, otherwise beside this folder."""

import argparse
import glob
import json
import math
import os
import random
import resource
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.environ.get("YARDSTICK_BIN", os.path.dirname(HERE))


def cpu_s():
    """Of this process, and of its children that have ended."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


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
            plan = {"format": "yardstick-plan", "version": 1, "mode": "infer", "batch": batch, "steps": 1, "folder": "/tmp", "precision": "f32", "input": dict(input_, kind="ring", **fds)}
            for message in ({"type": "hello", "protocol": 1}, {"type": "open", "plan": plan}):
                lines.write(json.dumps(message).encode() + b"\n")
                answer = json.loads(lines.readline())
                if answer["type"] == "error":
                    sys.exit(answer["message"])
        self.near = near
        self.feed = common_feed.Feed(own.detach(), memory)

    def batches(self, count, order):
        for step in range(count):
            yield self.feed.take(step % order)["x"]
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


def count_batches(ring, seconds, order, batch):
    """(images, seconds, sum of what was read). The first ones fill the ring."""
    import numpy as np
    for _ in ring.batches(4, order):
        pass
    done, read, start = 0, 0, time.monotonic()
    while time.monotonic() - start < seconds:
        for x in ring.batches(order, order):
            read ^= int(np.bitwise_xor.reduce(x.reshape(-1).view(np.uint64)))  # every byte of it is read
            done += batch
            if time.monotonic() - start >= seconds:
                break
    return done, time.monotonic() - start, read


def bench_ring(args):
    import common
    import numpy as np
    shape = tuple(map(int, args.shape.split("x")))
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data.safetensors")
        x = np.random.default_rng(args.seed).integers(0, 256, (4 * args.batch, *shape), np.uint8)
        common.write_safetensors(data, {"x": x, "y": np.zeros(len(x), np.int64)})
        ring = Ring({"path": data, "order": write_order(folder, len(x), args.batch, 16), "threads": args.threads}, args.batch)
        done, seconds, _ = count_batches(ring, args.seconds, 16, args.batch)
        ring.end()
    size = args.batch * math.prod(shape)
    print("ring, %d x %s: %.0f batches/s, %.1f GB/s written and read" % (args.batch, args.shape, done / args.batch / seconds,
                                                                    done / args.batch / seconds * size / 1e9))


def list_of(folder, size, cache):
    """The list of images that yardstick prepares."""
    env = dict(os.environ, YARDSTICK_CACHE=cache)
    subprocess.run([os.path.join(BIN, "yardstick"), "check", "--framework=null", "--model=squeezenet", "--data=" + os.path.abspath(folder),
                    "--input=ring", "--input.decode=live", "--input.size=%d" % size, "--steps=1", "--batch=1"],
                   env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return glob.glob(os.path.join(cache, "data", "folder-*", "*", "train.safetensors"))[0]


def bench_feeder(args):
    import common
    with tempfile.TemporaryDirectory() as cache:
        data = list_of(args.folder, args.size, cache)
        rows = len(common.read_safetensors(data)["y"])
        input_ = {"path": data, "order": write_order(cache, rows, args.batch, 1000), "threads": args.threads, "seed": args.seed}
        before = cpu_s()
        if args.augment != "none":
            input_["augment"] = args.augment
        if args.reduced:
            input_["decode"] = "reduced"
        ring = Ring(input_, args.batch)
        done, seconds, _ = count_batches(ring, args.seconds, 1000, args.batch)
        ring.end()
        done += 8 * args.batch  # made, and not counted
        say("yardstick-feeder, %d threads" % args.threads, args, done, seconds, cpu_s() - before)


def say(what, args, done, seconds, spent):
    print("%s, %s to %d%s: %.0f images/s, %.0f a second of processor time" %
          (what, args.augment, args.size, ", reduced" if args.reduced else "", done / seconds, done / spent))


def draw_box(args, height, width):
    """left, top, right, bottom, as docs/data.md has them: by lot, or the largest square in the middle."""
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


def count_loader(batches, args):
    """Until time is up; what was made ahead is not counted, which is a few batches of many."""
    done, start = 0, time.monotonic()
    for x in batches:
        done += len(x)
        if time.monotonic() - start >= args.seconds:
            break
    return done, time.monotonic() - start


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
                made = image.convert("RGB").resize((args.size, args.size), Image.BILINEAR, box)
            return torch.from_numpy(np.array(made)).permute(2, 0, 1).contiguous()

    before = cpu_s()
    batches = iter(torch.utils.data.DataLoader(Photos(), batch_size=args.batch, num_workers=args.threads))
    done, seconds = count_loader(batches, args)
    del batches  # its workers end, so that their time is known
    say("torch DataLoader, %d workers" % args.threads, args, done, seconds, cpu_s() - before)


def bench_tensorflow(args):
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)

    def load(path):
        data = tf.io.read_file(path)
        height, width = tf.unstack(tf.io.extract_jpeg_shape(data)[:2])
        left, top, right, bottom = tf.numpy_function(
            lambda h, w: tuple(map(int, draw_box(args, int(h), int(w)))), [height, width], [tf.int64] * 4)
        box = tf.cast(tf.stack([top, left, bottom - top, right - left]), tf.int32)
        image = tf.io.decode_and_crop_jpeg(data, box, channels=3, dct_method="INTEGER_ACCURATE")
        image = tf.image.resize(image, (args.size, args.size), antialias=True)
        return tf.transpose(tf.cast(tf.round(image), tf.uint8), (2, 0, 1))

    files = tf.data.Dataset.from_tensor_slices(paths_of(args.folder)).repeat().shuffle(1000, seed=args.seed)
    options = tf.data.Options()
    options.threading.private_threadpool_size = args.threads
    batches = files.map(load, num_parallel_calls=args.threads).batch(args.batch).prefetch(2).with_options(options)
    before = cpu_s()
    done, seconds = count_loader(batches, args)
    say("tf.data, %d threads" % args.threads, args, done, seconds, cpu_s() - before)


def bench_dali(args):
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=args.batch, num_threads=args.threads, device_id=None, seed=args.seed)
    def photos():
        data, _ = fn.readers.file(files=paths_of(args.folder), random_shuffle=True)
        if args.augment == "area":
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
    before = cpu_s()
    done, seconds = count_loader(batches(pipe), args)
    say("DALI, %d threads" % args.threads, args, done, seconds, cpu_s() - before)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("ring", "feeder", "torch", "tensorflow", "dali"))
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--shape", default="3x224x224")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--augment", choices=("none", "area"), default="area")
    parser.add_argument("--reduced", action="store_true", help="of the feeder: input.decode = reduced")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.what != "ring" and not args.folder:
        parser.error("which folder of images?")
    random.seed(args.seed)
    if args.what in ("ring", "feeder"):
        sys.path.append(os.path.join(os.path.dirname(HERE), "adapters"))  # some are called like the frameworks
    {"ring": bench_ring, "feeder": bench_feeder, "torch": bench_torch, "tensorflow": bench_tensorflow, "dali": bench_dali}[args.what](args)


if __name__ == "__main__":
    main()
