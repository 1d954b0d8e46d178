"""What lies in the cache is what it was: damage is found and mended, imports replace nothing in use, nothing is left over."""
import glob
import json
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import time
import unittest

from harness import PROGRAM, Case, tearDownModule  # noqa: F401

MLP = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--batch=64", "--steps=60", "--lr=0.05", "--momentum=0.9",
       "--repeat=1"]
# Paced, so that there is time to change something under it: 20 steps of 8 rows at 1600 rows a second take 0.1 s.
PACED = ["--framework=null", "--model=mlp", "--data=mnist", "--threads=1", "--batch=8", "--steps=20", "--block=5", "--opt.null.rate=1600",
         "--repeat=12"]
SEED = int(os.environ.get("YS_TEST_SEED", "7"))


class Cache(Case):
    def setUp(self):
        super().setUp()
        self.cache = os.path.join(self.folder, "cache")

    def environment(self, **extra):
        return dict(super().environment(**extra), YARDSTICK_CACHE=self.cache)

    def find(self, pattern):
        found = sorted(glob.glob(os.path.join(self.cache, pattern)))
        self.assertTrue(found, pattern)
        return found

    def overwrite(self, path, at=0.5, size=4000):
        """Zeros over part of a file, whose size and modification time stay."""
        before = os.stat(path)
        with open(path, "r+b") as file:
            file.seek(int(before.st_size * at))
            file.write(bytes(min(size, before.st_size - int(before.st_size * at))))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def leftovers(self):
        return [path for path in glob.glob(os.path.join(self.cache, "**"), recursive=True)
                if os.path.basename(path).startswith("working-") or path.endswith(".tmp")]

    def write_mnist(self, name, test_rows=16):
        """Files of MNIST's form; every number of test rows is another data set."""
        numbers = random.Random(test_rows)
        os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        for half, rows in (("train", 64), ("t10k", test_rows)):
            images = struct.pack(">4I", 0x803, rows, 28, 28) + numbers.randbytes(rows * 784)
            labels = struct.pack(">2I", 0x801, rows) + bytes(numbers.randrange(10) for _ in range(rows))
            self.write("%s/%s-images-idx3-ubyte" % (name, half), images)
            self.write("%s/%s-labels-idx1-ubyte" % (name, half), labels)

    def fetch(self, test_rows=16):
        self.write_mnist("rows%d" % test_rows, test_rows)
        return ["data", "fetch", "mnist", "--unverified", "--from=rows%d" % test_rows]

    def import_mnist(self, test_rows=16):
        self.yardstick(*self.fetch(test_rows))

    def version(self):
        with open(os.path.join(self.cache, "data", "mnist", "current")) as file:
            return os.path.join("data", "mnist", file.read().strip())


class Mended(Cache):
    """Files of the cache that are damaged; what each sort of them does alone is in test_damage.py."""
    FILES = ("work/*/order.safetensors", "work/*/weights.safetensors", "work/*/graph.json", "data/digits/*/test.safetensors",
             "data/digits/*/train.safetensors")

    def accuracy(self):
        result, err = self.result("run", *MLP)
        trial, = result["trials"]
        self.assertEqual((trial["proof"]["verdict"], trial["status"]), ("pass", "ok"))
        return trial["metrics"]["accuracy"]["value"], err

class Damage(Mended):
    def test_what_was_overwritten_is_made_again_and_named(self):
        right, _ = self.accuracy()
        for pattern in self.FILES:
            for path in self.find(pattern):
                self.overwrite(path)
        again, err = self.accuracy()
        self.assertEqual(again, right)
        for name in ("graph.json", "weights.safetensors", "test.safetensors"):  # of each folder the first that is found
            self.assertIn("the prepared %s " % name, err)

    def test_taught_weights_and_what_is_compared_with_them(self):
        flags = ["--framework=builtin", "--compare=same-weights", "--model=mlp", "--data=digits", "--threads=1", "--batch=32", "--lr=0.1",
                 "--steps=20", "--rows=20", "--repeat=1"]
        first, _ = self.result("run", *flags)
        right = first["trials"][0]["agreement"]
        folder, = {os.path.dirname(path) for path in self.find("work/*/logits.safetensors")}
        self.overwrite(os.path.join(folder, "logits.safetensors"), at=0.6)
        for path in self.find("work/*/weights.safetensors"):
            self.overwrite(path, at=0.1)
        second, err = self.result("run", *flags)
        found = second["trials"][0]["agreement"]
        self.assertIn("the prepared logits.safetensors", err)
        self.assertIn("the prepared weights.safetensors", err)
        self.assertEqual((found["disagreements"], found["rows"]), (right["disagreements"], right["rows"]))
        self.assertLess(found["logits_error"], 1e-4)

    def test_a_forged_proof_is_not_believed(self):
        flags = MLP[:-1]

        def prove():
            out, err = self.yardstick("verify", *flags, "--format=json")
            return json.loads(out)[0]["proof"], err
        self.assertFalse(prove()[0]["cached"])
        path, = self.find("proofs/*.json")
        with open(path) as file:
            proof = json.load(file)
        other = dict(proof, seed=99)  # with the sum that it had
        for text in ('{"verdict":"pass"}', json.dumps({"verdict": "pass", "checks": []}), "", json.dumps(other)):
            with open(path, "w") as file:
                file.write(text)
            found, err = prove()
            self.assertFalse(found["cached"], text)
            self.assertIn("proven anew", err)
            self.assertEqual([check["name"] for check in found["checks"]], [check["name"] for check in proof["checks"]])
        self.assertTrue(prove()[0]["cached"])
        self.assertNotIn("sha256", prove()[0])
        self.yardstick("verify", *flags, "--seed=2")
        second, = [other for other in self.find("proofs/*.json") if other != path]
        shutil.copy(second, path)
        found, err = prove()
        self.assertFalse(found["cached"])
        self.assertIn("something else", err)


class Versions(Cache):
    def stored(self, where="1"):
        with sqlite3.connect("file:%s/yardstick-results/results.db?mode=ro" % self.folder, uri=True) as db:
            return db.execute("select id, status, facts from run where %s order by id" % where).fetchall()

    def count_stored(self):
        try:
            return len(self.stored())
        except sqlite3.Error:
            return 0

    def started(self):
        process = self.start("run", *PACED)
        self.wait_until(lambda: self.count_stored() >= 2, process)
        return process

    def ended(self, process, code):
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, err)
        return [line for line in err.splitlines() if "error: " in line], err

    def complete(self, rows):
        """Resumes the study, which ends well, on the data that it began with."""
        result, _ = self.result("resume", "last")
        self.assertEqual((result["study"]["status"], result["trials"][0]["status"]), ("done", "ok"))
        document = self.stored_document()
        self.assertEqual(document["model_info"][0]["test_count"], rows)
        return result

    def stored_document(self):
        with sqlite3.connect("file:%s/yardstick-results/results.db?mode=ro" % self.folder, uri=True) as db:
            return json.loads(db.execute("select doc from study").fetchone()[0])

    def test_an_import_does_not_change_what_a_running_study_reads(self):
        self.import_mnist(16)
        first = self.version()
        process = self.started()
        self.import_mnist(20)
        self.import_mnist(24)
        self.assertNotEqual(self.version(), first)
        self.find(first + "/test.safetensors")
        self.ended(process, 0)
        self.assertEqual({status for _, status, _ in self.stored()}, {"ok"})

    def test_resume_goes_on_with_the_version_that_the_study_began_with(self):
        self.import_mnist(16)
        first = self.version()
        process = self.started()
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.import_mnist(20)
        before = self.stored("status = 'ok'")
        self.complete(rows=16)
        self.find(first)
        self.assertEqual(self.stored("status = 'ok'")[:len(before)], before)

    def test_resume_without_that_version_says_what_to_do(self):
        self.import_mnist(16)
        process = self.started()
        process.send_signal(signal.SIGINT)
        self.ended(process, 130)
        before = self.stored()
        for rows in (20, 24, 28):
            self.import_mnist(rows)
        self.refusal("resume", words=["mnist", "not in the cache any more", "yardstick data fetch mnist --from DIR"])
        self.assertEqual(self.stored(), before)
        self.import_mnist(16)
        self.complete(rows=16)

    def test_data_changed_under_a_study_stop_it_and_nothing_is_lost(self):
        self.need_landlock()
        self.import_mnist(16)
        process = self.started()
        before = self.stored("status = 'ok'")
        self.overwrite(self.find(self.version() + "/test.safetensors")[0])
        errors, err = self.ended(process, 7)
        self.assertEqual(len(errors), 1, err)
        for word in ("test.safetensors", self.version(), "SHA-256 differs", "resume"):
            self.assertIn(word, errors[0])
        after = self.stored()
        self.assertEqual(after[:len(before)], before)
        self.assertLessEqual(len(self.stored("status = 'cancelled'")), 1)
        self.refusal("resume", words=["mnist", "damaged", "yardstick data fetch mnist"])
        self.refusal("run", *PACED, words=["mnist", "damaged", "yardstick data fetch mnist"])
        self.assertEqual(self.stored(), after)
        self.import_mnist(16)
        self.complete(rows=16)
        self.assertEqual(self.stored()[:len(after)], after)

    def spoil_weights(self, manner, runs, rounds):
        """Weights that are overwritten once so many runs are stored; by turns what a round reads is in use before one is."""
        self.need_landlock()
        self.import_mnist(16)
        process = self.start("run", *PACED[:-1], "--repeat=%d" % rounds, "--lr=0.1,0.2", "--interleave=" + manner)
        begun = os.path.join(self.folder, "yardstick-results/*/runs/*")
        self.wait_until(lambda: glob.glob(begun) and self.count_stored() >= runs, process)
        for path in self.find("work/*/weights.safetensors"):
            self.overwrite(path)
        errors, err = self.ended(process, 7)
        self.assertEqual(len(errors), 1, err)
        self.assertIn("the prepared weights.safetensors", errors[0])
        self.complete(rows=16)

    def test_an_order_changed_under_a_study_stops_it_too(self):
        self.spoil_weights("runs", 1, rounds=3)

    def test_an_order_changed_under_a_study_by_turns_stops_it_too(self):
        self.spoil_weights("blocks", 0, rounds=12)  # the study goes on while this process does not

    def test_damaged_data_are_exit_2_before_anything_is_run(self):
        self.import_mnist(16)
        self.overwrite(self.find(self.version() + "/train.safetensors")[0])
        for verb in ("run", "verify"):
            self.refusal(verb, *[flag for flag in PACED if verb == "run" or "repeat" not in flag],
                         words=["mnist", "damaged", "yardstick data fetch mnist", "--from DIR"])
        self.assertFalse(self.stored())
        os.unlink(self.find(self.version() + "/train.safetensors")[0])
        self.refusal("run", *PACED, words=["mnist", "yardstick data fetch mnist", "--from DIR"])
        self.import_mnist(16)
        self.result("run", *PACED[:-1], "--repeat=1")


class Together(Cache):
    """Several processes with one cache."""

    def race(self, prefix):
        command = prefix + [PROGRAM, "verify", *MLP[:-1], "--format=json"]
        processes = [subprocess.Popen(command, cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True) for _ in range(4)]
        for process in processes:
            self.addCleanup(self.end, process)
        for process in processes:
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, err)
            self.assertEqual(json.loads(out)[0]["proof"]["verdict"], "pass")
        self.assertEqual(self.leftovers(), [])
        self.assertEqual(len(self.find("work/*/manifest.json")), 2)
        self.assertEqual({oct(os.stat(os.path.dirname(path)).st_mode & 0o777) for path in self.find("work/*/manifest.json")},
                         {oct(os.stat(self.folder + "/cache").st_mode & 0o777)})

    def test_at_once(self):
        self.race([])

    def test_at_once_with_the_same_process_numbers(self):
        for prefix in (["unshare", "--pid", "--fork", "--mount-proc"], ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]):
            if shutil.which("unshare") and subprocess.run(prefix + ["true"], capture_output=True).returncode == 0:
                return self.race(prefix)
        self.skipTest("this user may not make a process-id namespace")


class Killed(Cache):
    """Killed at random moments; how long the command takes is measured first."""

    def kill_often(self, command, kills):
        numbers = random.Random(SEED)
        for kill in range(kills):
            process = self.start(*command[0])
            time.sleep(numbers.uniform(0.001, command[1]))
            process.kill()
            process.communicate()

    def timed(self, *command):
        start = time.monotonic()
        self.yardstick(*command)
        return command, time.monotonic() - start

    def test_an_import(self):
        print("# YS_TEST_SEED=%d" % SEED, flush=True)
        self.write_mnist("rows2000", 2000)
        self.import_mnist(16)
        command = self.timed("data", "fetch", "mnist", "--unverified", "--from=rows2000")
        self.import_mnist(16)
        self.kill_often(command, kills=8)
        out, _ = self.yardstick("list", "datasets", "--format=json")
        mnist, = [entry for entry in json.loads(out)["datasets"] if entry["name"] == "mnist"]
        self.assertIn((mnist["state"], mnist["test"]), (("ready", 16), ("ready", 2000)))
        self.result("run", *PACED[:-1], "--repeat=1")
        self.assertEqual(self.leftovers(), [])
        self.yardstick(*command[0])
        self.import_mnist(20)
        self.assertEqual(self.leftovers(), [])
        self.assertLessEqual(len(self.find("data/mnist/*/manifest.json")), 2)

    def test_preparing_and_proving(self):
        print("# YS_TEST_SEED=%d" % SEED, flush=True)
        command = self.timed("verify", *MLP[:-1], "--fresh")
        for _ in range(2):
            shutil.rmtree(self.cache)
            self.kill_often(command, kills=4)
        result, err = self.result("run", *MLP)
        self.assertEqual(result["trials"][0]["proof"]["verdict"], "pass")
        self.assertNotIn("made again", err)
        self.assertEqual(self.leftovers(), [])


if __name__ == "__main__":
    unittest.main()
