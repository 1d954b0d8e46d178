"""Results that are damaged, newer or not to be read; a result that nobody takes; words that name nothing."""
import contextlib
import glob
import json
import os
import shutil
import sqlite3
import subprocess
import unittest

from harness import NULL, Case, load_version_2, make_version_1, seal, tearDownModule  # noqa: F401


class Stored(Case):
    def setUp(self):
        super().setUp()
        self.yardstick("run", *NULL, "--repeat=1", "--quiet")
        self.database = os.path.join(self.folder, "yardstick-results", "results.db")

    def damage(self, at, size):
        with open(self.database, "r+b") as file:
            file.seek(at)
            file.write(b"\xa5" * size)

    def refused_everywhere(self, *words):
        """Nothing writes into such results (7), nothing shows them (2), and a check needs none."""
        with open(self.database, "rb") as file:
            before = file.read()
        for verb in ("show", "report", "export"):
            self.refusal(verb, words=(self.database,) + words)
        self.refusal("run", *NULL, "--repeat=1", code=7, words=(self.database,) + words)
        self.refusal("resume", code=7, words=(self.database,) + words)
        _, err = self.yardstick("check", *NULL)
        self.assertIn(self.database, err)
        with open(self.database, "rb") as file:
            self.assertEqual(file.read(), before)

    def test_a_database_that_is_none(self):
        self.damage(0, 4096)
        self.refused_everywhere("damaged", "move it away")

    def test_a_database_with_a_damaged_page(self):
        with sqlite3.connect(self.database) as db:
            pages = {row[0]: row[1] for row in db.execute("select name, rootpage from sqlite_schema where type = 'table'")}
        for table in ("study", "run"):
            copy = shutil.copy(self.database, self.folder)
            self.damage(4096 * (pages[table] - 1), 4096)
            self.refusal("show", words=(self.database, "damaged"))
            self.refusal("run", *NULL, "--repeat=1", code=7, words=(self.database, "damaged"))
            shutil.copy(copy, self.database)

    def test_a_database_of_a_newer_version(self):
        with sqlite3.connect(self.database) as db:
            db.execute("pragma user_version = 99")
        db.close()
        self.refused_everywhere("newer yardstick", "99", "--results")

    def test_a_database_of_another_program(self):
        os.unlink(self.database)
        with sqlite3.connect(self.database) as db:
            db.execute("create table guests (name text)")
        db.close()
        self.refused_everywhere("no results of yardstick", "--results")

    def change(self, sql):
        with contextlib.closing(sqlite3.connect(self.database)) as db:
            db.executescript(sql)

    def test_a_damaged_run_is_left_out_and_said(self):
        self.yardstick("run", *NULL, "--repeat=3", "--quiet")
        self.change("update run set facts = replace(facts, 'ok', 'oj') where id = 3")
        for verb in ("show", "report", "export"):
            out, err = self.yardstick(verb, code=7)
            self.assertTrue(out)
            self.assertEqual(err.count("run 3 (round 2 of run) is damaged: left out"), 1, err)
        result, _ = self.result("show", code=7)
        trial = result["trials"][0]
        self.assertEqual((trial["runs"], trial["runs_lacking"]), (2, 1))
        self.yardstick("show", "1")  # another study is not damaged
        _, err = self.yardstick("resume")  # makes it again
        self.assertIn("is damaged", err)
        result, _ = self.result("show", code=7)
        self.assertEqual((result["trials"][0]["runs"], result["trials"][0]["runs_lacking"]), (3, 0))

    def test_a_damaged_trial_is_refused_by_name(self):
        self.change("update trial set doc = replace(doc, 'digits', 'digitz')")
        self.refusal("show", words=[self.database, "damaged", "row 1 of its table trial"])
        self.refusal("resume", code=7, words=[self.database, "damaged", "row 1 of its table trial"])

    def test_damaged_metrics_are_computed_again_from_the_facts(self):
        before, _ = self.result("show")
        self.change("update metric set reason = 'none', value = value + 1")
        after, err = self.result("show", code=7)
        self.assertEqual(before["trials"][0]["metrics"], after["trials"][0]["metrics"])
        self.assertIn("computed again", err)

    def test_a_series_of_another_type_ends_no_reader(self):
        change = "update series set is_real = 1, data = zeroblob(8 * count) where name in ('block_end_ns', 'sample_t_ns')"
        self.change(change)
        out, err = self.yardstick("report", code=7)
        self.assertIn("a series of run 1 is damaged", err)
        out, _ = self.yardstick("export", code=7)
        self.assertIsNone(json.loads(out.splitlines()[-2])["series"])
        self.yardstick("show")  # which needs no series
        self.change("delete from metric")
        result, err = self.result("show", code=7)  # and none of the run's numbers can be had
        self.assertEqual(result["trials"][0]["runs"], 0)

    def test_a_series_of_another_type_in_results_of_an_earlier_version(self):
        make_version_1(self.database)
        self.change("update series set is_real = 1, data = zeroblob(8 * count) where name = 'block_end_ns'")
        _, err = self.yardstick("report", code=7)
        self.assertIn("a series of run 1 is damaged", err)
        self.assertEqual(err.count("without checksums"), 1)

    def test_a_study_of_which_trials_are_missing_says_so(self):
        make_version_1(self.database)
        self.change("update study set doc = replace(doc, '\"trials_planned\":1', '\"trials_planned\":300')")
        _, err = self.yardstick("show")
        self.assertIn("study 1 holds 1 of its 300 trials", err)
        self.refusal("resume", code=7, words=["1 of its 300 trials"])

    def test_a_stored_proof_that_failed_is_the_exit_code_of_resume(self):
        self.yardstick("run", "--framework=builtin", *NULL[1:], "--repeat=1", "--quiet")
        make_version_1(self.database)
        self.change("update proof set verdict = 'fail', doc = replace(doc, '\"verdict\":\"pass\"', '\"verdict\":\"fail\"')")
        result, err = self.result("resume", code=5)
        self.assertIn("complete", err)
        self.assertEqual((result["study"]["status"], result["study"]["exit_code"]), ("done", 5))

    def test_verify_goes_through_every_row(self):
        out, _ = self.yardstick("show", "--verify")
        self.assertRegex(out, r"^\d+ rows, all as they were stored\nchain of \d+ links, head\s+([0-9a-f]{64})\n"
                              r"last link of this study: \d+,\s+\1\n$")
        found, _ = self.result("show", "--verify")
        self.assertEqual((found["unverified"], found["damaged"]), (0, []))
        self.change("update series set count = count + 1 where name = 'block_end_ns'; delete from host;")
        out, _ = self.yardstick("show", "--verify", code=7)
        self.assertIn("series 1 'block_end_ns' is not as it was stored", out)
        self.assertIn("study 1 lacks 1 of the rows that were stored of it", out)
        self.damage(0, 4096)
        self.refusal("show", "--verify", code=7, words=[self.database, "damaged"])

    def seal(self, table):
        """As somebody would who knows how rows are summed."""
        with sqlite3.connect(self.database) as db:
            seal(db, table)

    def test_rows_changed_with_their_sums_are_found_by_the_chain(self):
        for table, change, words in (
                ("run", "update run set facts = json_set(facts, '$.steps_done', 7)", "run 1 is not what link 1 was made of"),
                ("metric", "update metric set value = value * 2 where name = 'rate_per_s'", "run 1 is not what link 1 was made of"),
                ("trial", "update trial set doc = json_set(doc, '$.keys.batch', 512)", "run 1 is not what link 1 was made of"),
                ("study", "update study set timing = '{}'", "study 1, its machine, trials and proofs")):
            with self.subTest(table):
                kept = self.database + ".kept"
                shutil.copy(self.database, kept)
                self.change(change)
                self.seal(table)
                out, _ = self.yardstick("show", "--verify", code=7)
                self.assertIn(words, out)
                self.assertNotIn("as it was stored", out)  # the sums hold
                os.replace(kept, self.database)

    def test_links_that_are_changed_or_lost_are_found(self):
        for change, words in (("update link set content = chain where id = 1", "link 1 does not follow"),
                              ("delete from link where id = 1", "lacks what was linked before link 2"),
                              ("update link set study_id = 2 where id = 2", "link 2 does not follow")):
            with self.subTest(change):
                kept = self.database + ".kept"
                shutil.copy(self.database, kept)
                self.change(change)
                self.assertIn(words, self.yardstick("show", "--verify", code=7)[0])
                os.replace(kept, self.database)

    def test_a_report_names_the_link_that_verify_finds(self):
        chain = self.result("show", "--verify")[0]["chain"]
        self.assertEqual(chain["study"], {"link": chain["links"], "hash": chain["head"]})
        self.assertEqual(self.result("show")[0]["study"]["chain"], chain["study"])
        self.yardstick("report")
        with open(glob.glob(os.path.join(self.folder, "yardstick-results/*/report.html"))[0]) as file:
            page = file.read()
        self.assertIn("<code>%s</code>" % chain["head"], page)
        self.assertIn("<code>yardstick show 1 --verify</code>", page)

    def test_a_chain_goes_on_over_studies_and_holds_without_one_of_them(self):
        first = self.result("show", "--verify")[0]["chain"]
        self.yardstick("run", *NULL, "--repeat=2", "--quiet")
        second = self.result("show", "--verify")[0]["chain"]
        self.assertEqual((second["links"], second["unlinked"]), (first["links"] + 3, 0))
        with sqlite3.connect(self.database) as db:
            self.assertEqual(db.execute("select count(*) from link where chain = ?", (first["head"],)).fetchone(), (1,))
        self.change("pragma foreign_keys = on; delete from study where id = 1")
        found = self.result("show", "last", "--verify")[0]
        self.assertEqual((found["damaged"], found["chain"]), ([], second))

    def test_results_without_a_chain_are_read_and_say_so(self):
        self.change("drop table link")
        self.yardstick("show")
        out, _ = self.yardstick("show", "--verify")
        self.assertIn("is no part of a chain: stored by an earlier yardstick", out)
        self.assertIsNone(self.result("show", "1")[0]["study"]["chain"])
        self.yardstick("run", *NULL, "--repeat=1", "--quiet")
        self.assertIn("is no part of the chain", self.yardstick("show", "1", "--verify")[0])
        self.assertEqual(self.result("show", "2", "--verify")[0]["chain"]["unlinked"], 0)

    def test_verify_of_results_of_an_earlier_version(self):
        make_version_1(self.database)
        out, _ = self.yardstick("show", "--verify")
        self.assertIn("without a checksum", out)
        self.yardstick("run", *NULL, "--repeat=1", "--quiet")
        out, err = self.yardstick("show", "1", "--verify")
        self.assertIn("all as they were stored", out)

    def test_a_result_that_nobody_takes_is_exit_7_and_stays_stored(self):
        with open("/dev/full", "w") as full:
            _, err = self.yardstick("run", *NULL, "--repeat=1", code=7, stdout=full)
            self.assertIn("standard output", err)
            _, err = self.yardstick("show", "--format=json", code=7, stdout=full)
            self.assertIn("No space left", err)
        shown, _ = self.result("show")
        self.assertEqual((shown["study"]["id"], shown["trials"][0]["status"]), (2, "ok"))

    def test_a_closed_standard_output_is_exit_7_and_its_number_is_not_reused(self):
        closed = ["sh", "-c", 'exec "$@" >&-', "sh", os.path.join(os.environ["YARDSTICK_BIN"], "yardstick")]
        for arguments in (["show"], ["run"] + NULL + ["--repeat=1"]):
            done = subprocess.run(closed + arguments, cwd=self.folder, env=self.environment(), stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 7, done.stderr)
            self.assertIn("standard output", done.stderr)
        with sqlite3.connect(self.database) as db:
            self.assertEqual(db.execute("pragma integrity_check").fetchone()[0], "ok")
            self.assertEqual(db.execute("select count(*) from run").fetchone()[0], 2)
        db.close()

    def test_selectors_that_name_nothing(self):
        self.refusal("show", "nothing", words=["nothing", "001-run"])
        self.refusal("export", "last/9", words=["9", "run"])
        self.refusal("show", "last", "last", words=["one word too many"])
        self.refusal("show", "--results=elsewhere", words=["elsewhere", "yardstick run"])


class Earlier(Case):
    def setUp(self):
        super().setUp()
        self.database = load_version_2(self.folder)

    def query(self, sql):
        with contextlib.closing(sqlite3.connect(self.database)) as db:
            return db.execute(sql).fetchall()

    def documents(self):
        words = [("show",), ("show", "--format=json"), ("show", "--format=csv"), ("show", "--format=md"), ("export",), ("export", "--format=csv")]
        return {(verb[0], study) + verb[1:]: self.yardstick(verb[0], study, *verb[1:])[0] for verb in words for study in ("1", "2")}

    def test_documents_are_the_same_to_the_byte_once_it_is_carried_over(self):
        docs = self.query("select run_id, name, doc from metric")
        before = self.documents()
        verified = self.result("show", "2", "--verify")[0]
        self.assertEqual((verified["damaged"], verified["unverified"], verified["chain"]["unlinked"]), ([], 0, 0))
        lines = {json.loads(line).get("run_id"): line for study in ("1", "2") for line in before["export", study].splitlines()}
        self.assertGreater(len(docs), 200)
        for run_id, name, doc in docs:
            self.assertIn('"%s":%s' % (name, doc), lines[run_id])
        self.assertEqual(self.query("pragma user_version"), [(2,)])
        _, err = self.yardstick("run", *NULL, "--repeat=1")
        self.assertIn("metrics get columns of their own", err)
        self.assertEqual(self.query("pragma user_version"), [(3,)])
        self.assertEqual(self.documents(), before)
        after = self.result("show", "2", "--verify")[0]
        self.assertEqual((after["rows"], after["damaged"], after["chain"]["study"]), (verified["rows"], [], verified["chain"]["study"]))
        self.assertEqual(self.query("select count(*) from link where chain = '%s'" % verified["chain"]["head"]), [(1,)])
        self.assertNotIn("earlier", self.yardstick("run", *NULL, "--repeat=1")[1])

    def test_metrics_changed_with_their_sums_are_found_by_the_chain_and_not_carried_over(self):
        with contextlib.closing(sqlite3.connect(self.database)) as db:
            db.execute("update metric set value = 2 * value, doc = json_set(doc, '$.value', 2 * value) where name = 'rate_per_s' and run_id = 1")
            seal(db, "metric")
            db.commit()
        words = "run 1 is not what link 1 was made of"
        self.assertIn(words, self.yardstick("show", "1", "--verify", code=7)[0])
        before = self.query("select * from metric")
        self.refusal("run", *NULL, "--repeat=1", code=7, words=[self.database, words, "restore a copy", "--results"])
        self.refusal("resume", code=7, words=[words])
        self.assertEqual((self.query("pragma user_version"), self.query("select * from metric")), ([(2,)], before))
        self.yardstick("run", *NULL, "--repeat=1", "--quiet", "--results=elsewhere")

    def test_a_damaged_metric_is_computed_again_and_not_carried_over(self):
        whole = self.result("show", "1")[0]
        with contextlib.closing(sqlite3.connect(self.database)) as db:
            db.executescript("update metric set value = 2 * value where name = 'rate_per_s' and run_id = 1")
        shown, err = self.result("show", "1", code=7)
        self.assertEqual(shown["trials"], whole["trials"])
        self.assertIn("a metric of run 1 is damaged: all of them are computed again", err)
        self.refusal("run", *NULL, "--repeat=1", code=7, words=[self.database, "damaged"])


class Words(Case):
    def test_a_study_file_that_is_a_folder(self):
        os.mkdir(os.path.join(self.folder, "studies"))
        for verb in ("run", "check", "verify"):
            self.refusal(verb, "studies", words=["studies", "folder"])
        self.refusal("./studies", words=["studies", "folder"])

    def test_a_recipes_folder_that_is_not_there(self):
        self.refusal("run", *NULL, "--recipes=nowhere", words=["--recipes", "nowhere", "no such folder"])
        self.refusal("list", "frameworks", "--recipes=nowhere", words=["nowhere"])

    def test_data_sets_that_cannot_be_fetched(self):
        os.mkdir(os.path.join(self.folder, "empty"))
        self.refusal("data", "fetch", "mnits", words=["mnits", "yardstick list datasets"])
        self.refusal("data", "fetch", "mnist", "--from=nowhere", words=["nowhere"])
        message = self.refusal("data", "fetch", "mnist", "--from=empty", words=["empty", "train-images"])
        self.assertNotIn(self.folder, message)
        self.refusal("data", "fetch", words=["yardstick data fetch NAME"])

    def test_models_are_listed_with_their_counts(self):
        text, _ = self.yardstick("list", "models")
        self.assertIn("vgg16            138357544   15470264320  3x224x224", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        text, _ = self.yardstick("list", "models", "resnet20", "--format=json")
        self.assertEqual(json.loads(text)["models"], [
            {"name": "resnet20", "title": "1x1 projections", "input": [3, 32, 32], "classes": 10,
             "keys": [{"name": "model.depth", "default": 20.0, "meaning": "layers with weights, 6 n + 2",
                       "values": "8, 14, 20 ... 1202"}],
             "parameters": 272474, "multiply_adds": 40813184}])

    def test_names_that_are_not_in_a_list(self):
        for kind in ("frameworks", "models", "datasets", "metrics", "keys"):
            self.refusal("list", kind, "nothing", words=["nothing", "yardstick list " + kind])
        self.refusal("list", "cats", words=["cats", "frameworks"])
        self.refusal("list", words=["frameworks"])

    def test_command_lines_that_make_no_sense(self):
        self.refusal("run", words=["yardstick init"])
        self.refusal("run", "a.ys", "b.ys", words=["one word too many"])
        self.refusal("run", "--format", words=["--format"])
        self.refusal("run", "-x", words=["-x", "two dashes"])
        self.refusal("show", "--format=xml", words=["xml", "json"])


if __name__ == "__main__":
    unittest.main()
