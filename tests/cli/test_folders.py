"""data = FOLDER: images of one's own, decoded once and the same for every framework."""
import hashlib
import json
import os
import resource
import shlex
import shutil
import struct
import subprocess
import zlib

from harness import CACHE, PROGRAM, ROOT, Case, tearDownModule  # noqa: F401

SHORT = ["--model=lenet", "--batch=8", "--steps=5", "--block=5", "--threads=1", "--repeat=1"]


def png(width, height, pixel):
    """A PNG of red, green and blue: pixel(x, y) gives the three."""
    rows = b"".join(b"\0" + bytes(v for x in range(width) for v in pixel(x, y)) for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Folders(Case):
    def photos(self, name="photos", count=12):
        """Two classes that any network can tell apart."""
        for label, grey in (("dark", 10), ("light", 240)):
            for i in range(count):
                self.put("%s/%s/%02d.png" % (name, label, i), png(20 + i, 24, lambda x, y: (grey + i % 3,) * 3))
        return os.path.realpath(os.path.join(self.folder, name))

    def put(self, name, data):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def work(self, *arguments):
        document, _ = self.result("run", *SHORT, *arguments)
        return document, document["work"][0]

    def test_a_folder_is_a_data_set_that_is_proven_and_trained_on(self):
        path = self.photos()
        document, work = self.work("--data=photos", "--framework=builtin")
        self.assertEqual((work["data"], work["train_count"], work["test_count"]), (path, 22, 2))
        self.assertEqual((work["verified"], work["skipped"], work["source"]), (None, 0, path))
        # The rows of one grey are bytes of that grey, whatever their size was; those of each class in the order of names.
        rows = [bytes([grey + i % 3]) * 784 for grey in (10, 240) for i in range(12) if i != 9]
        labels = struct.pack("<22q", *[0] * 11 + [1] * 11)
        self.assertEqual(work["train_hash"], hashlib.sha256(b"".join(rows) + labels).hexdigest())
        trial = document["trials"][0]
        self.assertEqual((trial["proof"]["verdict"], trial["status"]), ("pass", "ok"))

    def test_it_is_decoded_once_and_again_when_it_changes(self):
        path = self.photos()
        message = self.yardstick("check", *SHORT, "--data=photos")[1]
        self.assertIn("decoding 24 images of %s to 1x28x28, once" % path, message)
        self.assertNotIn("decoding", self.yardstick("check", *SHORT, "--data=%s" % path)[1])
        self.put("photos/dark/99.png", png(9, 9, lambda x, y: (5, 5, 5)))
        self.assertIn("decoding 25 images", self.yardstick("check", *SHORT, "--data=photos")[1])
        self.assertFalse([name for name in os.listdir(os.path.join(CACHE, "data")) if name.startswith("working")])

    def test_what_a_folder_was_taken_for_is_said(self):
        for half in ("Training", "Testing", "Valid"):
            self.photos("photos/" + half, 4)
        self.put("photos/Training/dark/3.jfif", b"")
        self.put("photos/Training/dark/@eaDir/1.png/SYNOPHOTO_THUMB_M.jpg", b"")
        said = ["2 classes", "8 images to train on and 8 to test on", "left out: 1 .jfif", "1 folder of a system or file server",
                "8 of Valid (Testing is there to test on)"]
        _, message = self.yardstick("check", *SHORT, "--data=photos", "--framework=null")
        _, work = self.work("--data=photos", "--framework=null")
        self.assertEqual((work["classes"], work["train_count"], work["test_count"]), (2, 8, 8))
        table = " ".join(self.yardstick("show", "--details")[0].split())
        for words in said:
            self.assertIn(words, message)
            self.assertIn(words, table)
        self.assertIn(work["left_out"], message)
        os.makedirs(os.path.join(self.folder, "photos", "Train"))
        self.refusal("check", *SHORT, "--data=photos", words=["may be the same half"])

    def test_the_path_starts_at_the_study_and_a_list_is_one_too(self):
        path = self.photos("below/photos")
        names = ["photos/%s/%02d.png,%s" % (label, i, label) for label in ("dark", "light") for i in range(12)]
        self.write("below/list.csv", "\n".join(names))
        lines = ["framework = null", "model = lenet", "batch = 8", "steps = 5", "block = 5"]
        self.study("[a]", "data = {photos, list.csv}", *lines, name="below/study.ys", head="version = 1\nname = t\nrepeat = 1\n")
        document, _ = self.result("run", "below/study.ys")
        self.assertEqual(sorted(work["data"] for work in document["work"]), [os.path.join(os.path.dirname(path), "list.csv"), path])
        self.assertEqual(len({work["train_hash"] for work in document["work"]}), 1)

    def test_a_bad_image_is_refused_or_left_out_and_counted(self):
        self.photos()
        good = png(30, 30, lambda x, y: (x, y, 9))
        torn = self.put("photos/dark/50.png", good[:len(good) // 2])
        self.put("photos/dark/51.jpg", b"no image at all")
        message = self.refusal("run", *SHORT, "--data=photos", words=[os.path.realpath(torn), "a damaged PNG file: it ends early"])
        self.assertIn("(2 of 26 images are bad; on_bad_row = skip leaves them out)", message)
        _, work = self.work("--data=photos", "--framework=null", "--on-bad-row=skip")
        self.assertEqual((work["skipped"], work["train_count"], work["test_count"]), (2, 22, 2))
        for i in range(12):
            self.put("photos/light/%02d.png" % i, b"no image at all")
        os.rename(torn, os.path.join(self.folder, os.fsdecode(b"photos/dark/50\xff.png")))
        self.refusal("check", *SHORT, "--data=photos", words=[r"photos/dark/50\xff.png"])
        self.refusal("check", *SHORT, "--data=photos", "--framework=null", "--on-bad-row=skip",
                     words=["light/", "no image to train on of its class is good: bring some, or remove the class"])

    def test_what_is_no_data_set_is_refused(self):
        self.photos()
        self.refusal("check", *SHORT, "--data=photographs", words=["data = photographs: there is no such data set"])
        self.refusal("check", *SHORT, "--data=./photographs", words=["data = ./photographs: there is no such folder of images"])
        self.refusal("check", *SHORT, "--data=photos/dark", words=["photos/dark/", "lies in no class"])
        os.makedirs(os.path.join(self.folder, "photos", "none"))
        self.refusal("check", *SHORT, "--data=photos", words=["photos/none is a class without images"])

    def test_what_cannot_be_read_is_one_sentence_with_its_path(self):
        self.photos()
        bad = os.path.join(self.folder, "photos", "dark", "90")
        huge = bytearray(png(1, 1, lambda x, y: (1, 2, 3)))
        huge[16:24] = struct.pack(">II", 60000, 60000)
        huge[29:33] = struct.pack(">I", zlib.crc32(bytes(huge[12:29])))
        os.symlink("nowhere", bad + ".jpg")
        self.refusal("run", *SHORT, "--data=photos", words=["dark/90.jpg", "No such file", "(1 of 25 images are bad"])
        _, work = self.work("--data=photos", "--framework=null", "--on-bad-row=skip")
        self.assertEqual((work["skipped"], work["train_count"]), (1, 22))
        os.remove(bad + ".jpg")
        os.mkfifo(bad + ".png")  # nobody writes into it: whoever opened it would wait for ever
        self.refusal("run", *SHORT, "--data=photos", words=["dark/90.png is not a regular file (1 of 25 images are bad"])
        os.remove(bad + ".png")
        for name, data, words in (("photos/dark/90.png", bytes(huge), ["60000x60000", "pixels"]),
                                  ("photos/dark/90.jpg", b"", ["90.jpg"]),
                                  ("photos/dark/90.jpg", b"\xff\xd8\xff\xe0", ["90.jpg", "JPEG"])):
            path = self.put(name, data)
            self.refusal("run", *SHORT, "--data=photos", words=[os.path.realpath(path), "(1 of 25 images are bad", *words])
            os.remove(path)
        for label in ("70000", "-1"):
            self.write("list.csv", "photos/dark/00.png,0\nphotos/light/00.png,%s\n" % label)
            self.refusal("run", *SHORT, "--data=list.csv",
                         words=["list.csv, line 2: ", "light/00.png: its class %s is out of range: classes are 0 to 65535" % label])

    def with_feeder(self, script):
        """A copy of the program beside a feeder that a shell script stands before; REAL is its path there."""
        programs = os.path.join(self.folder, "programs")
        os.makedirs(programs)
        shutil.copy(PROGRAM, programs)
        feeder = os.path.join(programs, "yardstick-feeder")
        with open(feeder, "w") as file:
            file.write("#!/bin/sh\nREAL=%s\n%s\n" % (shlex.quote(os.path.join(os.path.dirname(PROGRAM), "yardstick-feeder")), script))
        os.chmod(feeder, 0o755)
        return os.path.join(programs, "yardstick")

    def test_a_folder_that_changes_while_it_is_read_is_refused(self):
        path = self.photos()
        program = self.with_feeder("touch -d 2001-01-01 %s\nexec \"$REAL\" \"$@\"" % shlex.quote(path + "/dark/05.png"))
        ended = subprocess.run([program, "check", *SHORT, "--framework=null", "--data=photos"], cwd=self.folder,
                               env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn("%s changed while its images were read: run it again when nobody writes there" % path, ended.stderr)

    def test_more_rows_than_memory_may_hold_pass_through_it(self):
        """211 MB of rows are trained on by who may hold 52 MB: they are mapped, and pages go again."""
        if self.doctor("memory of a run")["state"] != "good":
            self.skipTest("no control group keeps memory_limit here")
        self.photos(count=5)
        lines = "".join("photos/%s/%02d.png,%s\n" % (label, i % 5, label) for label in ("dark", "light") for i in range(780))
        self.write("many.csv", lines)
        with open(os.path.join(ROOT, "studies", "loading-flat.json")) as file:
            graph = json.load(file)
        for param in graph["params"]:
            param["shape"][0] = 2  # classes
        model = self.write("flat.json", json.dumps(graph))
        arguments = ["--framework=builtin", "--model=" + model, "--data=many.csv", "--batch=32", "--epochs=1", "--block=4", "--threads=1",
                     "--repeat=1", "--memory-limit=50MiB", "--lr=0.01"]
        document, err = self.result("run", *arguments)
        trial, = document["trials"]
        self.assertEqual(trial["status"], "ok", trial["reason"])
        self.assertGreater(document["work"][0]["train_count"] * 150528, 4 * (50 << 20))
        if subprocess.run(["stat", "-f", "-c", "%T", CACHE], capture_output=True, text=True).stdout.strip() != "tmpfs":  # of memory itself
            held = trial["metrics"]["memory_peak_bytes"]["value"]  # the rows are among it: it reads them itself
            self.assertTrue(45 << 20 <= held <= 50 << 20, held)

    def test_a_feeder_that_is_killed_and_a_disk_without_room_are_one_sentence(self):
        path = self.photos("kept")
        program = self.with_feeder("kill -9 $$")
        check = ["check", *SHORT, "--framework=null", "--data=kept"]
        ended = subprocess.run([program, *check], cwd=self.folder, env=self.environment(),
                               stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(ended.returncode, 7, ended.stderr)
        self.assertIn("yardstick-feeder was ended by signal 9 while it decoded the images of %s" % path, ended.stderr)

        def small_files():  # 24 rows of 28x28 are 18816 bytes
            resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))
        message = self.refusal(*check, code=7, words=["images of %s were not decoded" % path], preexec_fn=small_files)
        self.assertIn("no room for 18816 bytes of pixels in", message)
        self.assertIn("decoding 24 images", self.yardstick(*check)[1])

    def test_the_feeder_gives_rows_by_their_numbers(self):
        self.photos(count=3)
        names = ["photos/%s/%02d.png" % (label, i) for label in ("dark", "light") for i in range(3)]
        self.write("list", "".join(name + "\0" for name in names))
        feeder = [os.path.join(os.path.dirname(PROGRAM), "yardstick-feeder"), "rows", "--list", "list", "--size", "3x16x16"]

        def rows(*more, code=0):
            ended = subprocess.run([*feeder, "--out", "rows", *more], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(ended.returncode, code, ended.stderr)
            with open(os.path.join(self.folder, "rows"), "rb") as file:
                return file.read() if code == 0 else ended.stderr
        whole = rows("--augment", "cifar", "--seed", "1", "--epoch", "3")
        self.assertEqual(len(whole), 6 * 3 * 16 * 16 * 4)
        self.assertEqual(rows("--augment", "cifar", "--seed", "1", "--epoch", "3", "--first", "2", "--count", "3"), whole[2 * 3072:5 * 3072])
        self.assertEqual(struct.unpack("<768f", rows("--augment", "place", "--half", "test", "--count", "1")), (10.0,) * 768)
        for words, said in ((("--augment", "other"), "write centre, flip, crop+flip, place, area, area+colour or cifar"), ((), "rows needs --augment"),
                            (("--augment", "area", "--first", "7"), "the list has 6 rows"),
                            (("--augment", "area", "--seed", "-1"), "--seed -1: write a whole number")):
            self.assertIn(said, rows(*words, code=2))

    def test_resume_wants_the_images_that_the_study_began_with(self):
        self.photos()
        lines = ["framework = null", "data = photos", "model = lenet", "batch = 8", "steps = 5", "block = 5"]
        study = self.study("[a]", *lines, head="version = 1\nname = t\nrepeat = 3\n")
        self.yardstick("run", study, "--time-limit=1ms", code=124)
        self.put("photos/dark/99.png", png(9, 9, lambda x, y: (5, 5, 5)))
        message = self.refusal("resume", words=["are not those that this study began with"])
        self.assertIn("bring them back, or begin a new study", message)
        os.remove(os.path.join(self.folder, "photos/dark/99.png"))
        self.assertNotIn("not those", self.yardstick("resume", code=124)[1])
