#include "helper.h"

static void version_comes_first_and_is_1(void)
{
    CHECK_REFUSED("",
                  "t.ys:1:1: the study has no keys: it must begin with version = 1 (yardstick init writes an example)");
    CHECK_REFUSED("; nothing\n",
                  "t.ys:1:1: the study has no keys: it must begin with version = 1 (yardstick init writes an example)");
    CHECK_REFUSED("name = x\nversion = 1\n",
                  "t.ys:1:1: a study must begin with version = 1, and this begins with name");
    CHECK_REFUSED("[a]\nmodel = lenet\n", "t.ys:1:1: a study must begin with version = 1, and this begins with [a]");
    CHECK_REFUSED("version = 2\n[a]\n", "t.ys:1:11: version = 2 is not known here: this program reads version 1");
}

static void study_keys_stand_before_sections_and_work_keys_in_them(void)
{
    CHECK_REFUSED(HEAD "repeat = 3\n", "t.ys:5:1: repeat is a key of the study: put it before the first section");
    CHECK_REFUSED("version = 1\nthreads = 2\n[a]\n",
                  "t.ys:2:1: threads is a key of sections: put it into [global] or another section");
    CHECK_REFUSED("version = 1\nexclude = threads=2\n[a]\n",
                  "t.ys:2:1: exclude is a key of sections: put it into [global] or another section");
}

static void unknown_keys_get_a_suggestion(void)
{
    CHECK_REFUSED(HEAD "thread = 2\n", "t.ys:5:1: there is no key thread; did you mean threads?");
    CHECK_REFUSED("version = 1\nrepeats = 2\n[a]\n", "t.ys:2:1: there is no key repeats; did you mean repeat?");
    CHECK_REFUSED(HEAD "  gradient_accumulation = 2\n",
                  "t.ys:5:3: there is no key gradient_accumulation: `yardstick list keys` names all");
}

static void duplicate_keys_are_refused_with_both_lines(void)
{
    CHECK_REFUSED(HEAD "threads = 2\nbatch = 8\nthreads = 4\n",
                  "t.ys:7:1: threads is given twice here, first in t.ys line 5: keep one of them");
    CHECK_REFUSED("version = 1\nversion = 1\n[a]\n",
                  "t.ys:2:1: version is given twice here, first in t.ys line 1: keep one of them");
}

static void bad_values_are_refused_at_their_column(void)
{
    CHECK_REFUSED(HEAD "threads = 5000\n",
                  "t.ys:5:11: threads = 5000: out of range: write a whole number, 1 to 4096, or all");
    CHECK_REFUSED(HEAD "batch={8, x}\n",
                  "t.ys:5:7: batch = x: this is no whole number: write a whole number, 1 to 1048576");
    CHECK_REFUSED(HEAD "threads = {1, 2, 1}\n", "t.ys:5:11: threads has the value 1 twice: remove one");
    CHECK_REFUSED(HEAD "lr = {0.1, 1e-1}\n", "t.ys:5:6: lr has the value 1e-1 twice: remove one");
    CHECK_REFUSED("version = 1\nseed = {1, 2}\n[a]\n",
                  "t.ys:2:8: seed = {1, 2}: seed takes one value, not an axis: remove the braces");
    CHECK_REFUSED("version = 1\n[a]\nmodel = lenet5\n",
                  "t.ys:3:9: model = lenet5: there is no such model; did you mean lenet?");
    CHECK_REFUSED(HEAD "device = {cpu, cuda}\n", "t.ys:5:10: device = cuda: there is no such choice: write cpu");
}

static void a_study_needs_a_section(void)
{
    CHECK_REFUSED("version = 1\n",
                  "t.ys: the study has no section, so there is nothing to run: add [NAME] and the work's keys");
    CHECK_REFUSED("version = 1\n[global]\nthreads = 2\n",
                  "t.ys:2:1: [global] holds for the sections after it, and none follows: add a section");
}

static void model_and_data_are_required(void)
{
    CHECK_REFUSED("version = 1\n[a]\ndata = digits\n",
                  "t.ys:2:1: section [a] has no model: write model = NAME there or in [global]");
    CHECK_REFUSED("version = 1\n[a]\nmodel = lenet\n",
                  "t.ys:2:1: section [a] has no data: write data = NAME there or in [global]");
}

static void section_names_are_unique(void)
{
    CHECK_REFUSED(HEAD "[a]\n", "t.ys:5:1: there are two sections [a], the first in t.ys line 2: rename one");
}

static void parents_stand_above(void)
{
    CHECK_REFUSED(HEAD "[child : b]\n",
                  "t.ys:5:10: there is no section [b] above: a parent stands before its children");
    CHECK_REFUSED("version = 1\n[small]\nmodel = lenet\ndata = digits\n[big : smal]\n",
                  "t.ys:5:8: there is no section [smal] above; did you mean [small]?");
    CHECK_REFUSED(HEAD "[b : b]\n", "t.ys:5:6: there is no section [b] above: a parent stands before its children");
    CHECK_REFUSED(HEAD "[b : global]\n", "t.ys:5:6: [global] holds for every section after it anyway: write [b]");
    CHECK_REFUSED("version = 1\n[global : a]\n", "t.ys:2:11: [global] inherits from nothing: write [global]");
}

static void a_section_takes_global_then_parents_then_its_own(void)
{
    struct helper_study study =
        study_of("version = 1\n[global]\nmodel = lenet\ndata = digits\nbatch = 8\nlr = 0.1\nmomentum = 0.5\n"
                 "[a]\nlr = 0.2\nthreads = 2\n[b : a]\nthreads = 3\n[c : b]\nbatch = 16\n");
    REQUIRE(study.status == YS_OK);
    CHECK_INT(ys_json_size(study.job.trials), 3);
    CHECK(ys_json_number(key_of(&study, 2, "lr"), 0) == 0.2);
    CHECK_INT(ys_json_integer(key_of(&study, 2, "threads"), 0), 3);
    CHECK_INT(ys_json_integer(key_of(&study, 2, "batch"), 0), 16);
    CHECK_INT(ys_json_integer(key_of(&study, 1, "batch"), 0), 8);
    CHECK_INT(ys_json_integer(key_of(&study, 0, "threads"), 0), 2);
    CHECK(ys_json_number(key_of(&study, 1, "momentum"), 0) == 0.5);
    ys_job_fini(&study.job);
}

static void global_holds_for_the_sections_after_it(void)
{
    struct helper_study study = study_of(
        "version = 1\n[global]\nmodel = lenet\ndata = digits\nthreads = 1\n[a]\n[global]\nthreads = 2\n[b]\n[c : a]\n");
    REQUIRE(study.status == YS_OK);
    CHECK_INT(ys_json_integer(key_of(&study, 0, "threads"), 0), 1);
    CHECK_INT(ys_json_integer(key_of(&study, 1, "threads"), 0), 2);
    CHECK_INT(ys_json_integer(key_of(&study, 2, "threads"), 0), 2); /* a itself says nothing of threads */
    ys_job_fini(&study.job);
}

static void an_axis_that_no_section_uses_is_refused(void)
{
    CHECK_REFUSED("version = 1\n[global]\nmodel = lenet\ndata = digits\nthreads = {1, 2}\n[a]\nthreads = "
                  "1\n[b]\nthreads = {2, 4}\n",
                  "t.ys:5:1: no section uses this axis of threads: each gives threads another value; remove it");
    struct helper_study study =
        study_of("version = 1\n[global]\nmodel = lenet\ndata = digits\nthreads = {1, 2}\n[a]\nthreads = 1\n[b]\n");
    CHECK_INT(study.status, YS_OK);
    CHECK_INT(ys_json_size(study.job.trials), 3);
    ys_job_fini(&study.job);
}

static void epochs_and_steps_exclude_each_other(void)
{
    CHECK_REFUSED(HEAD "epochs = 2\nbatch = 4\nsteps = 3\n",
                  "t.ys:7:1: steps and epochs (line 5) both say how long a run is: keep one of them");
    struct helper_study study = study_of("version = 1\n[global]\nmodel = lenet\ndata = digits\nepochs = 5\n[a]\nsteps "
                                         "= 100\n[b]\n[c : a]\nepochs = 2\n");
    REQUIRE(study.status == YS_OK);
    CHECK_INT(ys_json_integer(key_of(&study, 0, "steps"), 0), 100);
    CHECK(ys_json_type_of(key_of(&study, 0, "epochs")) == YS_JSON_NULL);
    CHECK_INT(ys_json_integer(key_of(&study, 1, "epochs"), 0), 5);
    CHECK(ys_json_type_of(key_of(&study, 1, "steps")) == YS_JSON_NULL);
    CHECK_INT(ys_json_integer(key_of(&study, 2, "epochs"), 0), 2);
    CHECK(ys_json_type_of(key_of(&study, 2, "steps")) == YS_JSON_NULL);
    ys_job_fini(&study.job);
}

static void a_flag_replaces_the_key_in_every_section(void)
{
    char threads[] = "threads", two[] = "2", repeat[] = "repeat", nine[] = "9", steps[] = "steps";
    struct ys_job_flag flags[] = {{threads, two}, {repeat, nine}, {steps, two}};
    struct helper_study study =
        study_with("version = 1\nrepeat = 3\n[global]\nmodel = lenet\ndata = digits\nthreads = {1, 2}\n"
                   "exclude = threads=1\n[a]\nepochs = 3\n[b]\nthreads = 4\n",
                   flags, 3, NULL);
    REQUIRE(study.status == YS_OK);
    CHECK_INT(ys_json_size(study.job.trials), 2);
    CHECK_INT(ys_json_get_int(study.job.study, "repeat", 0), 9);
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(ys_json_integer(key_of(&study, i, "threads"), 0), 2);
        CHECK_INT(ys_json_integer(key_of(&study, i, "steps"), 0), 2);
        CHECK(ys_json_type_of(key_of(&study, i, "epochs")) == YS_JSON_NULL);
        CHECK_TEXT(id_of(&study, i), i ? "b" : "a");
    }
    ys_job_fini(&study.job);
}

static void bad_flags_are_refused_by_name(void)
{
    CHECK_REFUSED_FLAG(HEAD, "threads", "0",
                       "command line: threads = 0: out of range: write a whole number, 1 to 4096, or all");
    CHECK_REFUSED_FLAG(HEAD, "version", "1", "command line: --version=1: version stands in files only");
    CHECK_REFUSED_FLAG(
        HEAD, "opt.jax.x", "1",
        "command line: no trial that opt.jax.x holds for is of framework jax: remove it, or add the framework");
    CHECK_REFUSED_FLAG(HEAD, "exclude", "threads=3",
                       "command line: --exclude removes no point: no trial has all of its values");
    CHECK_REFUSED_FLAG(HEAD, "results", "a\nb",
                       "command line: --results has a value that is no UTF-8 text without control characters");
    char epochs[] = "epochs", steps[] = "steps", three[] = "3";
    struct ys_job_flag flags[] = {{epochs, three}, {steps, three}};
    struct helper_study study = study_with(HEAD, flags, 2, NULL);
    CHECK_INT(study.status, YS_EINVAL);
    CHECK_TEXT(study.error, "command line: --epochs and --steps cannot both be given: keep one of them");
}

static void sizes_of_studies_are_limited(void)
{
    struct ys_buf text = {0};
    ys_buf_puts(&text, HEAD);
    for (int i = 0; i < 201; i++)
        ys_buf_printf(&text, "env.X%d = 1\n", i);
    CHECK_REFUSED(ys_buf_text(&text), "t.ys:203:1: with env.X198 more than 200 keys hold in one section");
    ys_buf_clear(&text);
    ys_buf_puts(&text, "version = 1\n");
    for (int i = 0; i < 1001; i++)
        ys_buf_printf(&text, "[s%d]\n", i);
    CHECK_REFUSED(ys_buf_text(&text), "t.ys:1002:1: more than 1000 sections");
    ys_buf_clear(&text);
    ys_buf_puts(&text, "version = 1\n");
    for (int i = 0; i < 20000; i++)
        ys_buf_printf(&text, "[s%d]\nlr = 1\n", i);
    CHECK_REFUSED(ys_buf_text(&text), "t.ys:40001:1: more than 20000 keys: that is no study");
    ys_buf_free(&text);
}

TAP_MAIN(TAP_CASE(version_comes_first_and_is_1), TAP_CASE(study_keys_stand_before_sections_and_work_keys_in_them),
         TAP_CASE(unknown_keys_get_a_suggestion), TAP_CASE(duplicate_keys_are_refused_with_both_lines),
         TAP_CASE(bad_values_are_refused_at_their_column), TAP_CASE(a_study_needs_a_section),
         TAP_CASE(model_and_data_are_required), TAP_CASE(section_names_are_unique), TAP_CASE(parents_stand_above),
         TAP_CASE(a_section_takes_global_then_parents_then_its_own), TAP_CASE(global_holds_for_the_sections_after_it),
         TAP_CASE(an_axis_that_no_section_uses_is_refused), TAP_CASE(epochs_and_steps_exclude_each_other),
         TAP_CASE(a_flag_replaces_the_key_in_every_section), TAP_CASE(bad_flags_are_refused_by_name),
         TAP_CASE(sizes_of_studies_are_limited))
