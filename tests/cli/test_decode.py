"""input.decode = live: images of a folder that yardstick-feeder decodes while a framework works, and what is done to them."""
import os
import subprocess

from harness import BIN, Case, tearDownModule  # noqa: F401
from test_feeder import Fed
from test_folders import png

SHORT = ["--framework=builtin", "--model=lenet", "--batch=8", "--steps=30", "--lr=0.05", "--threads=1", "--repeat=1"]
LIVE = [*SHORT, "--data=photos", "--input=ring", "--input.decode=live"]


class Live(Fed, Case):
    def photos(self, count=12):
        """Two classes, by their shade; no two images have one size."""
        for label, grey in (("dark", 20), ("light", 200)):
            for i in range(count):
                self.put("photos/%s/%02d.png" % (label, i), png(40 + i, 50, lambda x, y: (grey + x // 2, grey + y // 2, grey + i)))
        return os.path.realpath(os.path.join(self.folder, "photos"))

    def put(self, name, data):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def proven(self, trial):
        """An audit takes steps by lot. Where they move a tensor hardly more than rounding does, as some of a network that is taught
        noise do, it says "weak" of rows that are the right ones; of wrong ones it says "fail"."""
        self.assertEqual((trial["status"], trial["proof"]["verdict"]), ("ok", "pass"))
        self.assertIn(trial["proof"]["audit"]["verdict"], ("pass", "weak"), trial["proof"]["audit"])

    def test_the_same_rows_as_of_a_prepared_file(self):
        self.photos()
        once, live = self.run_of(*SHORT, "--data=photos"), self.run_of(*LIVE)
        self.proven(live)
        for metric in ("final_loss", "test_loss", "accuracy"):
            self.assertEqual(self.of(live, metric), self.of(once, metric))
        again = self.run_of(*LIVE, "--input.threads=3")
        self.assertEqual(self.of(again, "final_loss"), self.of(live, "final_loss"))

    def test_boxes_by_lot_of_the_files_are_proven(self):
        self.photos()
        area = self.run_of(*LIVE, "--augment=area")
        self.proven(area)
        self.assertNotEqual(self.of(area, "final_loss"), self.of(self.run_of(*LIVE), "final_loss"))
        colour = self.run_of(*LIVE, "--augment=area+colour")
        self.proven(colour)
        self.assertNotEqual(self.of(colour, "final_loss"), self.of(area, "final_loss"))

    def test_rows_are_cut_and_standardised_to_train_and_to_test(self):
        self.photos()
        trial = self.run_of(*LIVE, "--augment=cifar", "--input.crop=24", "--input.size=32")
        self.proven(trial)
        self.assertIsNotNone(self.of(trial, "accuracy"))
        work = [*SHORT, "--data=digits", "--input=ring", "--input.crop=20"]
        plain, numbers = self.run_of(*work), self.run_of(*work, "--input.dtype=float32")
        self.proven(plain)
        self.proven(numbers)
        self.assertEqual(self.of(numbers, "final_loss"), self.of(plain, "final_loss"))
        self.assertEqual(self.of(numbers, "test_loss"), self.of(plain, "test_loss"))
        self.assertNotEqual(self.of(plain, "final_loss"), self.of(self.run_of(*SHORT, "--data=digits"), "final_loss"))

    def test_places_of_rectangles_are_the_pixels_of_the_files(self):
        """Of rows that are what the files hold, and of larger ones, decoded once or no more than is cut out."""
        for label, grey in (("dark", 20), ("light", 200)):
            for i in range(12):
                self.put("photos/%s/%02d.png" % (label, i), png(40, 50, lambda x, y: (grey + x // 2, grey + y // 2, grey + i)))
        for size in (["--input.size=40", "--input.width=50"], ["--input.size=64", "--input.width=70"]):
            words = [*SHORT, "--data=photos", "--input=ring", "--augment=place", "--input.crop=28", *size]
            document, _ = self.result("run", *words, "--input.decode=live")
            live = document["trials"][0]
            self.proven(live)
            self.assertEqual(document["work"][0]["form"], "1x%sx%s live" % (size[0][-2:], size[1][-2:]))
            once = self.run_of(*words)
            self.proven(once)
            for metric in ("final_loss", "test_loss"):
                self.assertEqual(self.of(live, metric), self.of(once, metric))

    def test_what_is_kept_of_live_rows_is_not_taken_for_reduced_ones(self):
        subprocess.run([os.path.join(BIN, "yardstick-feeder"), "draw", "--out", "drawn", "--size", "3x64x64", "--count", "40"],
                       cwd=self.folder, check=True)
        words = [*SHORT, "--data=drawn", "--input=ring"]
        live, reduced = self.run_of(*words, "--input.decode=live"), self.run_of(*words, "--input.decode=reduced")
        self.proven(live)
        self.proven(reduced)
        self.assertNotEqual(self.of(reduced, "final_loss"), self.of(live, "final_loss"))

    def test_bad_images_are_found_before_and_counted(self):
        self.photos()
        torn = self.put("photos/dark/50.png", png(30, 30, lambda x, y: (x, y, 9))[:200])
        message = self.refusal("run", *LIVE, words=[os.path.realpath(torn), "a damaged PNG file"])
        self.assertIn("(1 of 25 images are bad; on_bad_row = skip leaves them out)", message)
        document, _ = self.result("run", *LIVE, "--on-bad-row=skip")
        work = document["work"][0]
        self.assertEqual((work["skipped"], work["train_count"], work["form"]), (1, 22, "1x28x28 live"))
        self.proven(document["trials"][0])

    def test_a_file_that_changes_meanwhile_ends_the_run_with_its_name(self):
        path = self.photos()
        words = [word for word in LIVE if not word.startswith("--steps")]
        process = self.start("run", *words, "--steps=1000000", "--audit=off")
        self.busy(process)
        changed = os.path.join(path, "light/03.png")
        os.utime(changed, (1, 1))
        message = self.broken(process)
        self.assertRegex(message, "crashed in (start|open|train): the feeder: .*%s changed since this study began" % changed)
        self.assert_nothing_left()

    def test_resume_finds_the_rows_of_each_form(self):
        self.photos()
        lines = ["framework = null", "data = photos", "model = lenet", "batch = 8", "steps = 5", "block = 5", "input = ring"]
        study = self.study("[a]", *lines, "input.decode = {once, live}", "[b]", *lines, "input.size = 20",
                           head="version = 1\nname = t\nrepeat = 3\n")
        self.yardstick("run", study, "--time-limit=1ms", code=124)
        document, _ = self.result("resume", code=124)
        self.assertEqual(sorted(work["form"] for work in document["work"]), ["1x20x20", "1x28x28", "1x28x28 live"])
        self.assertEqual(len({work["train_hash"] for work in document["work"]}), 3)

    def test_what_does_not_go_together_is_refused(self):
        self.photos()
        ring, folder = [*SHORT, "--input=ring"], [*SHORT, "--data=photos"]
        for words, said in (
                ([*folder, "--input.decode=live"], "input.decode = live: only yardstick-feeder decodes while a framework works"),
                ([*folder, "--input.crop=20"], "input.crop = 20: rows of a file have their size: write input = ring"),
                ([*folder, "--input.dtype=float32"], "input.dtype = float32: the pixels of a file are bytes"),
                ([*ring, "--data=digits", "--input.decode=reduced"], "the rows of digits are no files of images"),
                ([*ring, "--data=digits", "--input.size=32"], "the rows of digits have a size of their own: write auto"),
                ([*ring, "--data=digits", "--input.width=32"], "input.width = 32: the rows of digits have a size of their own"),
                ([*ring, "--data=photos", "--input.crop=29"], "have 28x28 pixels: write at most 28, or a larger input.size"),
                (["--mode=infer", "--model=lenet", "--data=digits", "--input=own"], "input = own: a loader of batches is for training")):
            self.assertIn(said, self.refusal("run", *words))
