"""Bad input, tried as a new user would: job files and flags."""
import json
import os
import unittest

from harness import NULL, RECIPES, Case, tearDownModule  # noqa: F401


class BadJobs(Case):
    def refused(self, text, *words, code=2, name="study.ys"):
        """`run` ends with `code` and one sentence on stderr that has every word; nothing was run."""
        self.write(name, text)
        self.refusal("run", name, code=code, words=words)
        self.refusal("show", words=["yardstick run"])

    HEAD = "version = 1\nname = test\n[a]\nframework = null\nmodel = mlp\ndata = digits\nsteps = 2\nbatch = 8\n"

    def test_an_empty_job_file(self):
        self.refused("", "study.ys", "version")

    def test_a_binary_job_file(self):
        self.refused(bytes(range(256)) * 4, "study.ys:1:")

    def test_an_include_loop(self):
        self.write("other.ys", "include = study.ys\n")
        self.refused("version = 1\ninclude = other.ys\n", "include", "other.ys")

    def test_an_unknown_key_names_the_nearest(self):
        self.refused(self.HEAD + "treads = 2\n", "study.ys:9:1", "treads", "threads")

    def test_a_repeated_key_names_both_lines(self):
        self.refused(self.HEAD + "steps = 3\n", "study.ys:9:1", "steps", "7")

    def test_no_threads(self):
        self.refused(self.HEAD + "threads = 0\n", "study.ys:9:", "threads", "1", "4096")

    def test_a_block_that_adapters_refuse(self):
        self.refused(self.HEAD + "block = 300000\n", "study.ys:9:", "block = 300000", "1 to 262144")
        self.refusal("check", *NULL[:-1], "--block=262145", words=["1 to 262144"])
        self.yardstick("run", *NULL[:-2], "--steps=262145", "--block=262144", "--repeat=1")

    def test_ten_thousand_threads(self):
        self.refused(self.HEAD + "threads = 10000\n", "study.ys:9:", "threads", "4096")

    def test_a_batch_larger_than_the_data(self):
        self.refused(self.HEAD.replace("batch = 8", "batch = 100000"), "batch", "100000", "3840")

    def test_a_framework_without_a_recipe(self):
        self.refused(self.HEAD.replace("= null", "= pytroch"), "study.ys:4:", "pytroch", "pytorch")

    def test_a_model_that_does_not_exist(self):
        self.refused(self.HEAD.replace("= mlp", "= lenett"), "study.ys:5:", "lenett", "lenet")

    def test_a_data_set_that_does_not_exist(self):
        self.refused(self.HEAD.replace("= digits", "= digitz"), "study.ys:6:", "digitz", "digits")

    def test_data_that_must_be_fetched_first(self):
        self.refused(self.HEAD.replace("= digits", "= mnist"), "yardstick data fetch mnist")

    def test_hidden_targets_are_no_work_of_rings(self):
        self.write("lines.txt", "a line\nanother line, which is longer\n" * 100)
        self.yardstick("data", "fetch", "lines", "--from", "lines.txt")
        job = self.HEAD.replace("= digits", "= lines").replace("= mlp", "= gru-char")
        self.refused(job + "input = ring\n", "input = ring", "lines", "write input = file")

    def test_padding_that_hides_all_that_is_seen_is_said(self):
        self.yardstick("export", "--model=check_padded", "--out=net.json")
        with open(os.path.join(self.folder, "net.json")) as file:
            net = json.load(file)
        for param in net["params"]:  # of rows of bytes, each the class of the one before it
            if param["name"] == "embed.weight" or param["name"].startswith("logits."):
                param["shape"][0] = 256
        net["inputs"][0]["shape"] = net["target"]["shape"] = ["N", 64]
        self.write("net.json", json.dumps(net))
        self.write("text.txt", bytes(64 * 64))  # every byte is the padding
        self.yardstick("data", "fetch", "text", "--from", "text.txt")
        flags = ["--framework=builtin", "--model=net.json", "--data=text", "--batch=4", "--steps=2", "--threads=1", "--repeat=1"]
        self.refusal("run", *flags, words=["text", "row 0", "attend_all (Attention)", "padding"])

    def test_a_row_without_a_last_token_is_said(self):
        shapes = {"table": [256, 2], "weight": [64 * 256, 2]}  # a class of each position, of the last one's token
        params = [{"name": name, "shape": shape, "role": "weight", "init": {"dist": "constant", "value": 0}} for name, shape in shapes.items()]
        nodes = [
            {"op": "Embedding", "name": "embed", "in": ["x"], "out": ["e"], "attrs": {}, "params": {"weight": "table"}},
            {"op": "last", "name": "ends", "in": ["e", "x"], "out": ["l"], "attrs": {}},
            {"op": "Gemm", "name": "head", "in": ["l"], "out": ["h"], "attrs": {}, "params": {"weight": "weight"}},
            {"op": "Reshape", "name": "positions", "in": ["h"], "out": ["y"], "attrs": {"shape": ["N", 64, 256]}},
        ]
        self.write("net.json", json.dumps({
            "format": "yardstick-graph", "version": 1, "name": "net", "inputs": [{"name": "x", "shape": ["N", 64], "dtype": "I32"}],
            "nodes": nodes, "params": params, "output": "y", "target": {"kind": "classes", "shape": ["N", 64]}, "loss": "softmax_cross_entropy"}))
        self.write("text.txt", b"a" * 64 + bytes(64 * 63))
        self.yardstick("data", "fetch", "text", "--from", "text.txt")
        flags = ["--framework=builtin", "--model=net.json", "--data=text", "--batch=4", "--steps=2", "--threads=1", "--repeat=1"]
        self.refusal("run", *flags, words=["text", "no token but the padding, 0, in row 1", "node ends (last)"])

    def test_what_does_not_fit_a_network_of_tokens(self):
        self.write("short.txt", "a" * 128)
        self.refusal("data", "fetch", "text", "--from", "short.txt", words=["short.txt has 128 bytes", "take 129"])
        self.write("text.txt", bytes(range(256)) * 10)
        self.yardstick("data", "fetch", "text", "--from", "text.txt")
        self.yardstick("export", "--model=gpt-nano", "--data=chars", "--out=net.json")
        with open(os.path.join(self.folder, "net.json")) as file:
            net = json.load(file)
        net["inputs"][0]["shape"][1] = net["target"]["shape"][1] = 100
        for param in net["params"]:
            if "position" in param["name"]:
                param["shape"][0] = 100
        self.write("long.json", json.dumps(net))
        run = ["--framework=builtin", "--steps=2", "--threads=1", "--repeat=1"]
        for flags, words in (
            (["--model=net.json", "--data=text", "--batch=2"], ["tokens up to 255", "a vocabulary of"]),
            (["--model=long.json", "--data=chars", "--batch=2"], ["rows of 64 positions", "takes 100"]),
            (["--model=gpt-nano", "--data=text", "--batch=64"], ["batch = 64 is larger than the data set text", "36 training rows"]),
            (["--model=gpt-nano", "--model.heads=5", "--data=chars", "--batch=2"], ["model.heads = 5 does not divide model.width = 48"]),
        ):
            with self.subTest(" ".join(flags)):
                self.refusal("run", *flags, *run, words=words)

    def test_a_carried_state_that_is_no_number_diverges(self):
        result, _ = self.result("run", "--framework=builtin", "--model=lstm-char", "--model.width=8", "--data=synthetic", "--batch=2", "--steps=40",
                                "--threads=1", "--repeat=1", "--carry-state=on", "--loss=mse", "--lr=1000", code=1)
        self.assertEqual(result["trials"][0]["status"], "diverged")

    def test_a_device_that_there_is_not(self):
        self.refused(self.HEAD + "device = cuda\n", "device = cuda", "write cpu")

    def test_a_file_that_is_not_there(self):
        _, err = self.yardstick("run", "nothing.ys", code=2)
        self.assertIn("nothing.ys", err)

    def test_a_flag_that_does_not_exist(self):
        _, err = self.yardstick("run", "--treads=2", code=2)
        self.assertIn("--threads", err)

    def test_a_verb_that_does_not_exist(self):
        _, err = self.yardstick("rum", "x.ys", code=2)
        self.assertIn("run", err)

    def test_more_threads_than_cpus_is_a_skipped_row(self):
        result, _ = self.result("run", *[f for f in NULL if "threads" not in f], "--threads=1,4096", "--repeat=1")
        self.assertEqual(sorted(t["status"] for t in result["trials"]), ["ok", "skipped"])

    def test_only_skipped_trials_is_exit_6(self):
        result, _ = self.result("run", *[f for f in NULL if "threads" not in f], "--threads=4096", "--repeat=1", code=6)
        self.assertEqual(result["trials"][0]["status"], "skipped")
        self.assertIn("4096", result["trials"][0]["reason"])

    def test_a_limit_of_kilobytes_is_said_in_kilobytes(self):
        result, err = self.result("run", *NULL, "--memory-limit=100kB", "--opt.null.rate=400", "--repeat=1", code=1)
        self.assertEqual(result["trials"][0]["status"], "oom_host")
        self.assertRegex(err, "its processes (held [0-9.]+ [kM]B,|needed) more than the 100 kB of memory_limit")

    def never_installed(self):
        self.write("never.recipe", "name = never\nadapter = never.py\nversions = 1.0\npython = 3.11\nrequirements = r.txt\n")
        self.write("never.py", "")
        return "--recipes=" + self.folder

    def test_what_is_not_installed_is_missing_with_the_command(self):
        recipes = self.never_installed()
        flags = ["--framework=null,never"] + NULL[1:]
        result, _ = self.result("run", recipes, *flags, "--repeat=1")
        row = [t for t in result["trials"] if t["status"] == "missing"][0]
        self.assertEqual(row["command"], "yardstick install never")
        self.assertEqual(row["runs"], 0)

    def test_what_is_missing_is_said_and_ends_with_6_where_nothing_else_could_run(self):
        recipes = self.never_installed()
        for frameworks, code in (("null,never", 0), ("never", 6)):
            flags = ["--framework=" + frameworks, "--repeat=1"] + NULL[1:]
            for verb, ends in (("check", 0), ("verify", code), ("run", code)):
                out, _ = self.yardstick(verb, recipes, *flags, code=ends)
                self.assertIn("yardstick install never", out, verb)

    def test_a_damaged_recipe_is_listed_as_damaged(self):
        self.write("bad.recipe", "name = bad\n")
        out, _ = self.yardstick("list", "frameworks", "--recipes=" + self.folder)
        self.assertIn("damaged", out)

    def test_too_many_runs_must_be_allowed_by_hand(self):
        self.refused(self.HEAD.replace("version = 1\n", "version = 1\nrepeat = 10000\n"), "max_runs")

    def test_keys_of_the_other_mode(self):
        self.refused(self.HEAD + "mode = infer\n", "study.ys:7:1:", "steps", "requests")
        self.refused(self.HEAD + "requests = 3\n", "study.ys:9:1:", "requests", "steps")
        self.refused(self.HEAD.replace("steps = 2\n", "") + "mode = infer\nlr = {1, 2}\n", "study.ys:9:1:", "lr", "infer")

    def test_requests_of_an_inferring_trial_are_told(self):
        flags = [f for f in NULL if "steps" not in f]
        out, _ = self.yardstick("check", *flags, "--mode=infer", "--requests=2500")
        self.assertIn(" 2500 requests,", out)

    def test_wrong_values_of_the_work_keys(self):
        for line, *words in [
                ("optimizer = adm", "optimizer = adm", "adam(BETA1, BETA2, EPSILON)"),
                ("optimizer = adam(0.9, 1, 1e-8)", "BETA2", "below 1"),
                ("optimizer = adagrad", "optimizer = adagrad", "sgd"),
                ("optimizer = nesterov", "momentum = 0", "above 0"),
                ("schedule = linear", "inv(GAMMA, POWER)"),
                ("schedule = cosine(0)", "STEPS", "1 to"),
                ("schedule = warmup(5)", "warmup(STEPS) constant"),
                ("loss = softmax_cross_entropy(1)", "SMOOTHING", "below 1"),
                ("loss = hinge", "mean_squared_error"),
                ("clip_norm = 0", "above 0", "none"),
                ("precision = f16", "no such choice", "f32")]:
            with self.subTest(line):
                self.refused(self.HEAD + line + "\n", "study.ys:9:", *words)
        self.refused(self.HEAD + "optimizer = adam\nmomentum = 0.9\n", "study.ys:10:12:", "BETA1")

    def test_a_loss_that_does_not_fit_the_model(self):
        self.refused(self.HEAD + "loss = nll\n", "loss = nll", "LogSoftmax", "softmax_cross_entropy")

    def test_a_number_among_options_is_checked_before_anything_runs(self):
        self.refused(self.HEAD + "opt.null.rate = fast\n", "study.ys:9:17:", "opt.null.rate = fast", "number above 0")

    def test_a_wrong_option_says_what_is_allowed(self):
        _, err = self.yardstick("run", "--recipes=" + RECIPES, "--framework=builtin", *NULL[1:], "--opt.builtin.backend=cuda", code=2)
        self.assertIn("onednn", err)


if __name__ == "__main__":
    unittest.main()
