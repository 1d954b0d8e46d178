"""Studies that come from standard input and from pipes."""
import json
import os
import signal
import subprocess
import threading
import unittest

from harness import Case, tearDownModule  # noqa: F401

WORK = "[a]\nframework = null\nmodel = mlp\ndata = digits\nsteps = 2\nbatch = 8\nthreads = 1\n"
STUDY = "version = 1\nrepeat = 2\n" + WORK


class Pipes(Case):
    def pipe(self, text):
        """The descriptor of a pipe into which `text` is written."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        with os.fdopen(writer, "w") as file:
            file.write(text)
        return reader

    def test_every_verb_of_a_job_reads_standard_input(self):
        out, _ = self.yardstick("check", "-", text=STUDY)
        self.assertIn("1 trial, 2 runs", out)
        self.assertEqual(json.loads(self.yardstick("verify", "-", "--format=json", text=STUDY)[0])[0]["status"], "ok")
        result, _ = self.result("run", "-", text=STUDY)
        self.assertEqual((result["study"]["name"], result["trials"][0]["runs"]), ("run", 2))
        result, _ = self.result("run", "-", "--repeat=1", text=STUDY)
        self.assertEqual(result["trials"][0]["runs"], 1)

    def test_a_file_on_standard_input_is_one_too(self):
        with open(self.write("a.txt", STUDY)) as file:
            self.yardstick("check", "-", stdin=file)

    def test_messages_call_it_standard_input(self):
        self.refusal("check", "-", text=STUDY + "treads = 2\n", words=["standard input:10:1:", "threads"])
        self.refusal("run", "-", text="", words=["standard input:1:1:", "version = 1"])
        self.refusal("run", "-", words=["standard input"])
        self.refusal("run", "-", text="; " + "x" * 60 + "\n" * (1 << 20), words=["standard input is larger than the 1048576 bytes"])
        folder = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        self.refusal("run", "-", stdin=folder, words=["standard input is a folder"])

    def test_closed_standard_input_is_empty(self):
        self.refusal("check", "-", preexec_fn=lambda: os.close(0), words=["standard input"])

    def test_includes_start_at_the_current_folder(self):
        os.mkdir(os.path.join(self.folder, "parts"))
        self.write("parts/work.ys", "include = more.ys\n")
        self.write("parts/more.ys", WORK)
        text = "version = 1\nrepeat = 3\ninclude = parts/work.ys\n"
        self.assertIn(" 3 runs", self.yardstick("check", "-", text=text)[0])
        reader = self.pipe(text)
        self.assertIn(" 3 runs", self.yardstick("check", "/dev/fd/%d" % reader, pass_fds=[reader])[0])

    def test_process_substitution(self):
        reader = self.pipe(STUDY)
        result, _ = self.result("run", "/dev/fd/%d" % reader, pass_fds=[reader])
        self.assertEqual((result["study"]["name"], result["trials"][0]["runs"]), ("run", 2))

    def test_a_named_pipe_is_waited_for_and_may_be_included(self):
        for name in ("job.ys", "part.ys"):
            os.mkfifo(os.path.join(self.folder, name))

        def write():
            self.write("job.ys", "version = 1\nrepeat = 4\ninclude = part.ys\n")
            self.write("part.ys", WORK)
        writer = threading.Thread(target=write, daemon=True)
        threading.Timer(0.2, writer.start).start()
        self.assertIn(" 4 runs", self.yardstick("check", "job.ys")[0])
        writer.join(10)

    def test_waiting_for_a_pipe_ends_when_asked_to(self):
        os.mkfifo(os.path.join(self.folder, "job.ys"))
        process = self.start("check", "job.ys")

        def waits():
            with open("/proc/%d/syscall" % process.pid) as file:
                return file.read().split()[0] in ("7", "271", "73")  # poll, ppoll on x86-64 and arm64
        self.wait_until(waits, process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130)

    def test_what_a_recipe_is_is_not_waited_for(self):
        os.mkfifo(os.path.join(self.folder, "a.recipe"))
        out, _ = self.yardstick("list", "frameworks", "--recipes=.", timeout=30)
        self.assertIn("a.recipe", out)

    def test_resume_goes_on_with_such_a_study(self):
        text = STUDY.replace("repeat = 2", "repeat = 6") + "opt.null.rate = 40\n"  # 0.4 s a run
        process = self.start("run", "-", stdin=subprocess.PIPE)
        process.stdin.write(text)
        process.stdin.close()
        process.stdin = None
        folder = os.path.join(self.folder, "yardstick-results", "001-run")
        self.wait_until(lambda: os.path.exists(os.path.join(folder, "job.json")), process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 143)
        with open(os.path.join(folder, "job.ys")) as file:
            self.assertEqual(file.read(), text)
        result, _ = self.result("resume")
        self.assertEqual((result["study"]["status"], result["trials"][0]["runs"]), ("done", 6))


if __name__ == "__main__":
    unittest.main()
