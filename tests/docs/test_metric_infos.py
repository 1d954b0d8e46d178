"""tools/metric_infos.py: what a file of metrics/ must be, and what is made of it."""
import importlib.util
import os
import re
import shutil
import tempfile
import unittest

ROOT = os.environ["YS_SOURCE_ROOT"]
SPEC = importlib.util.spec_from_file_location("metric_infos", os.path.join(ROOT, "tools", "metric_infos.py"))
metric_infos = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(metric_infos)


class MetricInfos(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "metrics")
        shutil.copytree(os.path.join(ROOT, "metrics"), self.folder)

    def put(self, name, *changes, of="step_s"):
        """A file like that of the metric `of`, with its text changed."""
        with open(os.path.join(self.folder, of + ".metric")) as file:
            text = file.read()
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        with open(os.path.join(self.folder, name + ".metric"), "w") as file:
            file.write(text)

    def test_a_file_more_is_a_metric_more_at_its_place(self):
        self.put("joules", ("name: step_s", "name: joules"), ("place: 140", "place: 145"), ("unit: s\nkind: span", "unit: 1\nkind: number"),
                 ("title: time of a step", 'title: a "quoted" text'),
                 ("compared: 20 work 2\n", ""), ("column: 10\n", ""))
        source, paths = metric_infos.table(self.folder)
        names = re.findall(r"^    \{\.name = \"(\w+)\"", source, flags=re.M)
        self.assertEqual(len(names), len(os.listdir(self.folder)))
        self.assertEqual(names.index("joules"), names.index("step_s") + 1)
        self.assertIn('.title = "a \\"quoted\\" text"', source)
        self.assertIn(os.path.join(self.folder, "joules.metric"), paths)

    def test_what_is_wrong_is_said_with_its_file(self):
        for changes, words in ((("unit: s", "unit: kg"), "unit is kg: it must be one of s, 1/s, B, 1"), (("kind: span", "kind: rate"), "has not the unit s"),
                               (("better: lower\n", ""), "it lacks `better`"), (("name: step_s", "name: other"), "its name is other"),
                               (("unit: s", "unit: s\nunit: s"), "comes twice"), (("unit: s", "colour: red"), "`colour: red` is not"),
                               (("place: 140", "place: first"), "place is first"), (("mode: train", "mode: sleep"), "mode is sleep"),
                               (("compared: 20 work 2", "compared: 20 work"), "compared is 20 work"), (("column: 10", "column: first"), "column is first")):
            with self.subTest(words):
                self.setUp()
                self.put("step_s", changes)
                with self.assertRaises(metric_infos.Wrong) as raised:
                    metric_infos.table(self.folder)
                self.assertIn("step_s.metric: ", str(raised.exception))
                self.assertIn(words, str(raised.exception))


    def test_lists_are_in_the_order_of_their_keys(self):
        self.put("joules", ("name: step_s", "name: joules"), ("place: 140", "place: 145"), ("compared: 20 work 2", "compared: 15 run 3"),
                 ("column: 10", "column: 85 known"))
        source, _ = metric_infos.table(self.folder)
        self.assertRegex(source, r'ys_compared\[YS_COMPARED\] = \{"rate_per_s", "joules", "step_s", ')
        self.assertRegex(source, r'ys_disturbed_parts\[YS_COMPARED\] = \{\{YS_PART_OF_WORK, 1\}, \{YS_PART_OF_RUN, 3\}, ')
        self.assertRegex(source, r'ys_metric_columns\[YS_METRIC_COLUMNS\] = \{\{"step_s", false\}, .*, \{"joules", true\}\};')
        for key in ("compared: 20 work 2", "column: 10"):
            with self.subTest(key), self.assertRaises(metric_infos.Wrong) as raised:
                self.setUp()
                self.put("joules", ("name: step_s", "name: joules"), ("place: 140", "place: 145"), *[
                    (other, "") for other in ("compared: 20 work 2\n", "column: 10\n") if other.strip() != key])
                metric_infos.table(self.folder)
            self.assertIn("joules.metric: %s, as in step_s.metric" % key.replace(":", " is"), str(raised.exception))

    def test_two_of_one_place_are_refused(self):
        self.put("joules", ("name: step_s", "name: joules"))
        with self.assertRaises(metric_infos.Wrong) as raised:
            metric_infos.table(self.folder)
        self.assertIn("step_s.metric: place is 140, as in joules.metric", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
