"""mode = size and `yardstick size`: what a stored model takes, and that it loads again. With the built-in engine alone."""
import os

from harness import BIN, ROOT, Case, tearDownModule  # noqa: F401

PLAIN = os.path.join(ROOT, "tests", "adapters", "plain.py")
WORDS = ["--framework=builtin", "--model=mlp", "--data=digits", "--threads=1", "--steps=20", "--rows=40", "--batch=8", "--repeat=1"]


class Size(Case):
    def test_each_form_is_saved_and_loaded_by_another_process(self):
        result, err = self.result("size", *WORDS)
        self.assertEqual([(trial["id"], trial["status"]) for trial in result["trials"]], [("run:form=safetensors", "ok"), ("run:form=onnx", "ok")], err)
        for trial in result["trials"]:
            values = {name: metric["value"] for name, metric in trial["metrics"].items()}
            self.assertEqual(values["stored_parameter_bytes"], 4 * values["parameters"])
            self.assertEqual(values["stored_bytes"], values["stored_parameter_bytes"] + values["stored_rest_bytes"])
            self.assertGreater(values["stored_rest_bytes"], 0)
            self.assertGreater(values["first_answer_s"], values["load_s"])
            self.assertLess(values["stored_zstd_bytes"], values["stored_bytes"])
            self.assertGreater(values["runtime_bytes"], 0)
            self.assertGreater(trial["stored"]["libc_bytes"], 0)
            self.assertLessEqual(trial["stored"]["logits_error"], trial["stored"]["logits_bound"])
            alone = [text for text in trial["deviations"] if text.startswith("weights alone are stored")]
            self.assertEqual(len(alone), 1 if trial["keys"]["form"] == "safetensors" else 0, trial["deviations"])
        with open(self.yardstick("report", "last")[0].strip()) as file:
            self.assertIn('<section id="size">', file.read())
        self.assertIn("| Size | Parameters as | Stored |", self.yardstick("show", "last", "--format=md")[0])
        for trial in result["trials"]:
            self.assertEqual({due["check"]: due["state"] for due in trial["proof"]["due"]}, {"stored model": "pass"})
        left = [name for _, _, names in os.walk(self.folder) for name in names if name.startswith("model") or name.endswith(".safetensors")]
        self.assertEqual(left, [])

    def test_without_a_file_there_are_three_rounds(self):
        result, _ = self.result("size", *WORDS[:-1], "--form=onnx")
        self.assertEqual((result["study"]["repeat"], result["trials"][0]["runs"]), (3, 3))

    def test_a_form_that_a_framework_lacks_is_a_row_and_the_study_goes_on(self):
        result, _ = self.result("size", *WORDS, "--form=pt,onnx")
        self.assertEqual([trial["status"] for trial in result["trials"]], ["unsupported", "ok"])
        self.assertEqual(result["trials"][0]["reason"], "form = pt: builtin has safetensors, onnx")

    def test_an_adapter_with_other_forms_than_its_recipe_is_a_row_that_names_both(self):
        os.mkdir(os.path.join(self.folder, "mine"))
        with open(os.path.join(self.folder, "mine", "turned.recipe"), "w") as file:
            file.write("name = turned\nprogram = %s\nforms = onnx safetensors\n" % os.path.join(BIN, "yardstick-builtin"))
        words = ["--framework=turned" if word.startswith("--framework") else word for word in WORDS]
        result, _ = self.result("size", *words, "--form=own", "--recipes=mine", code=1)
        trial, = result["trials"]
        self.assertEqual(trial["status"], "protocol_error")
        self.assertIn("its recipe says forms = onnx safetensors, and its hello tells safetensors onnx", trial["reason"])

    def test_what_is_no_stored_model_of_these_weights_is_a_row_that_says_why(self):
        os.mkdir(os.path.join(self.folder, "mine"))
        with open(os.path.join(self.folder, "mine", "plain.recipe"), "w") as file:
            file.write("name = plain\nprogram = python3 %s\nforms = npz\ndouble = yes\n" % PLAIN)
        words = ["--framework=plain" if word.startswith("--framework") else word for word in WORDS]
        result, _ = self.result("size", *words, "--recipes=mine", "--env.PLAIN_FORM=right,link,elsewhere,less,rubbish", code=1)
        trials = {trial["factors"]["env.PLAIN_FORM"]: trial for trial in result["trials"]}
        right = trials["right"]
        self.assertEqual(right["status"], "ok", right["reason"])
        self.assertEqual(right["metrics"]["stored_parameter_bytes"]["value"], 4 * right["metrics"]["parameters"]["value"])
        for form, status, words in [("link", "protocol_error", "which is a link"), ("elsewhere", "protocol_error", "not below the run's folder"),
                                    ("less", "wrong_output", "rounding allows"), ("rubbish", "build_failed", "pickled")]:
            with self.subTest(form):
                self.assertEqual(trials[form]["status"], status, trials[form]["reason"])
                self.assertIn(words, trials[form]["reason"])
