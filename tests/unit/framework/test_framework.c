#include "framework/environment.h"
#include "framework/framework.h"
#include "scratch.h"
#include "tap.h"

#include <sys/stat.h>

static char *recipes;

static const char *const *dirs(void)
{
    static const char *list[2];
    recipes = recipes ? recipes : ys_path_join(scratch_dir(), "recipes");
    list[0] = recipes;
    return list;
}

static void write_python_recipe(void)
{
    scratch_write("recipes/py.recipe", "name = py\ntitle = Py\nadapter = py.py\nversions = 2.0, 1.0\npython = 3.11\n"
                                       "requirements = {version}-{python}.txt\ndouble = yes\nenv.A = a\n"
                                       "env.B = {environment}/b:c\n");
    scratch_write("recipes/py.py", "print()\n");
    scratch_write("recipes/2.0-3.11.txt", "thing==2.0\n");
}

/* An environment as `install` leaves it. */
static void write_environment(void)
{
    char hash[YS_SHA256_TEXT], state[256];
    ys_sha256_text("thing==2.0\n", 11, hash);
    snprintf(state, sizeof state, "{\"python_version\": \"3.11\", \"requirements\": \"%s\", \"size_bytes\": 5}", hash);
    chmod(scratch_write("envs/py@2.0/env/bin/python", "#!/bin/sh\n"), 0755);
    scratch_write("envs/py@2.0/installed.json", state);
}

/* The value of the variable `name` that it starts with; NULL without. */
static const char *variable(const struct ys_framework *framework, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; framework->env[i]; i++)
        if (strncmp(framework->env[i], name, length) == 0 && framework->env[i][length] == '=')
            return framework->env[i] + length + 1;
    return NULL;
}

static void one_that_is_not_installed_is_missing_with_the_command(void)
{
    struct ys_framework *framework = NULL;
    write_python_recipe();
    REQUIRE(ys_framework_find("py", dirs(), &framework) == YS_OK);
    CHECK_INT(framework->state, YS_FRAMEWORK_MISSING);
    CHECK_TEXT(framework->version, "2.0");
    CHECK_TEXT(framework->reason, "it is not installed");
    CHECK_TEXT(framework->command, "yardstick install py");
    CHECK(framework->argv == NULL);
    ys_framework_free(framework);
    REQUIRE(ys_framework_find("py@1.0", dirs(), &framework) == YS_OK);
    CHECK_TEXT(framework->command, "yardstick install py@1.0");
    ys_framework_free(framework);
}

static void a_failed_attempt_is_the_reason(void)
{
    struct ys_framework *framework = NULL;
    write_python_recipe();
    scratch_write("envs/py@1.0/failed.json", "{\"reason\": \"no index could be reached\", \"unsupported\": false}");
    REQUIRE(ys_framework_find("py@1.0", dirs(), &framework) == YS_OK);
    CHECK_INT(framework->state, YS_FRAMEWORK_MISSING);
    CHECK_HAS(framework->reason, "no index could be reached");
    ys_framework_free(framework);
}

static void one_that_this_host_cannot_have_is_unsupported(void)
{
    struct ys_framework *framework = NULL;
    write_python_recipe();
    scratch_write("envs/py@1.0/failed.json", "{\"reason\": \"it needs Python 2.7\", \"unsupported\": true}");
    REQUIRE(ys_framework_find("py@1.0", dirs(), &framework) == YS_OK);
    CHECK_INT(framework->state, YS_FRAMEWORK_UNSUPPORTED);
    ys_framework_free(framework);
}

static void an_installed_one_is_ready_and_starts_in_its_own_environment(void)
{
    struct ys_framework *framework = NULL;
    write_python_recipe();
    write_environment();
    REQUIRE(ys_framework_find("py", dirs(), &framework) == YS_OK);
    REQUIRE(framework->state == YS_FRAMEWORK_READY);
    CHECK_HAS(framework->argv[0], "envs/py@2.0/env/bin/python");
    CHECK_HAS(framework->argv[1], "recipes/py.py");
    CHECK(framework->argv[2] == NULL);
    CHECK_TEXT(framework->env[0], "PYTHONNOUSERSITE=1");
    CHECK_TEXT(variable(framework, "PYTHONPATH"), "");
    CHECK_TEXT(variable(framework, "A"), "a");
    ys_framework_free(framework);
}

/* Those that the user built have no environment of ours: they keep theirs where they always do. */
static void what_it_keeps_lies_in_its_environment(void)
{
    struct ys_framework *framework = NULL;
    char expected[128];
    write_python_recipe();
    write_environment();
    REQUIRE(ys_framework_find("py", dirs(), &framework) == YS_OK);
    snprintf(expected, sizeof expected, "%s/envs/py@2.0/env/cache", scratch_dir());
    CHECK_TEXT(variable(framework, "XDG_CACHE_HOME"), expected);
    snprintf(expected, sizeof expected, "%s/envs/py@2.0/env/b:c", scratch_dir());
    CHECK_TEXT(variable(framework, "B"), expected);
    ys_framework_free(framework);
    scratch_write("recipes/own.recipe", "name = own\nadapter = py.py\nversions = 1.0\nget = build it\n");
    REQUIRE(ys_framework_find("own", dirs(), &framework) == YS_OK);
    CHECK(variable(framework, "XDG_CACHE_HOME") == NULL);
    CHECK_TEXT(variable(framework, "PYTHONPATH"), "");
    ys_framework_free(framework);
}

static void changed_requirements_make_it_missing(void)
{
    struct ys_framework *framework = NULL;
    write_python_recipe();
    write_environment();
    scratch_write("recipes/2.0-3.11.txt", "thing==2.0.1\n");
    REQUIRE(ys_framework_find("py", dirs(), &framework) == YS_OK);
    CHECK_INT(framework->state, YS_FRAMEWORK_MISSING);
    CHECK_HAS(framework->reason, "requirements changed");
    ys_framework_free(framework);
}

static void an_interrupted_installation_is_noticed(void)
{
    struct ys_framework *framework = NULL;
    write_python_recipe();
    scratch_write("recipes/half.recipe",
                  "name = half\nadapter = py.py\nversions = 1\npython = 3.11\nrequirements = x.txt\n");
    scratch_write("envs/half@1/env/bin/python", "");
    REQUIRE(ys_framework_find("half", dirs(), &framework) == YS_OK);
    CHECK_INT(framework->state, YS_FRAMEWORK_MISSING);
    CHECK_HAS(framework->reason, "interrupted");
    ys_framework_free(framework);
}

static void the_closure_changes_with_the_adapter(void)
{
    struct ys_framework *before = NULL, *after = NULL;
    write_python_recipe();
    REQUIRE(ys_framework_find("py", dirs(), &before) == YS_OK);
    scratch_write("recipes/py.py", "print(1)\n");
    REQUIRE(ys_framework_find("py", dirs(), &after) == YS_OK);
    CHECK(strcmp(before->closure, after->closure) != 0);
    ys_framework_free(before);
    ys_framework_free(after);
}

static void a_version_that_the_recipe_lacks_is_not_found(void)
{
    struct ys_framework *framework = NULL;
    write_python_recipe();
    CHECK(ys_framework_find("py@3.0", dirs(), &framework) == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "has no version \"3.0\" (it has: 2.0, 1.0)");
}

static void a_program_beside_its_recipe_is_found_with_its_arguments(void)
{
    struct ys_framework *framework = NULL;
    scratch_write("recipes/own.recipe", "name = own\nprogram = ./own-adapter data.txt --flag\n");
    chmod(scratch_write("recipes/own-adapter", "#!/bin/sh\n"), 0755);
    scratch_write("recipes/data.txt", "");
    REQUIRE(ys_framework_find("own", dirs(), &framework) == YS_OK);
    CHECK_INT(framework->state, YS_FRAMEWORK_READY);
    CHECK_HAS(framework->argv[0], "recipes/./own-adapter");
    CHECK_HAS(framework->argv[1], "recipes/data.txt");
    CHECK_TEXT(framework->argv[2], "--flag");
    ys_framework_free(framework);
}

static void a_blank_behind_a_backslash_is_part_of_a_path(void)
{
    struct ys_framework *framework = NULL;
    scratch_write("recipes/own.recipe", "name = own\nprogram = ./my\\ own/a\\dapter  my\\ own/data --flag=\\ \\ x\n");
    chmod(scratch_write("recipes/my own/a\\dapter", "#!/bin/sh\n"), 0755);
    scratch_write("recipes/my own/data", "");
    REQUIRE(ys_framework_find("own", dirs(), &framework) == YS_OK);
    CHECK_INT(framework->state, YS_FRAMEWORK_READY);
    CHECK_HAS(framework->argv[0], "recipes/./my own/a\\dapter");
    CHECK_HAS(framework->argv[1], "recipes/my own/data");
    CHECK_TEXT(framework->argv[2], "--flag=  x");
    CHECK(!framework->argv[3]);
    ys_framework_free(framework);
}

/* A python3 beside an installed yardstick is not the one of the user's PATH, which may be that of an environment. */
static void a_program_of_the_path_is_not_one_beside_yardstick(void)
{
    struct ys_framework *framework = NULL;
    char *path = ys_strdup(getenv("PATH")), *home = ys_strdup(getenv("YARDSTICK_HOME"));
    scratch_write("recipes/script.recipe", "name = script\nprogram = python-of-mine\n");
    chmod(scratch_write("yardstick/python-of-mine", "#!/bin/sh\n"), 0755);
    char *wanted = ys_strdup(scratch_write("environment/python-of-mine", "#!/bin/sh\n"));
    chmod(wanted, 0755);
    char *beside = ys_path_join(scratch_dir(), "yardstick"), *of_path = ys_path_join(scratch_dir(), "environment");
    setenv("YARDSTICK_HOME", beside, 1);
    setenv("PATH", of_path, 1);
    ys_status status = ys_framework_find("script", dirs(), &framework);
    setenv("YARDSTICK_HOME", home, 1);
    setenv("PATH", path, 1);
    REQUIRE(status == YS_OK);
    CHECK_TEXT(framework->argv[0], wanted);
    ys_framework_free(framework);
    ys_free(of_path);
    ys_free(beside);
    ys_free(wanted);
    ys_free(home);
    ys_free(path);
}

static void a_program_that_is_not_there_is_missing(void)
{
    struct ys_framework *framework = NULL;
    scratch_write("recipes/gone.recipe", "name = gone\nprogram = ./nothing-here\n");
    REQUIRE(ys_framework_find("gone", dirs(), &framework) == YS_OK);
    CHECK_INT(framework->state, YS_FRAMEWORK_MISSING);
    CHECK_HAS(framework->reason, "nothing-here");
    CHECK(framework->command == NULL);
    ys_framework_free(framework);
}

static void a_program_is_missing_without_what_make_makes_for_it(void)
{
    struct ys_framework *before = NULL, *after = NULL, *changed = NULL;
    scratch_write("recipes/page.recipe", "name = page\nprogram = /bin/sh\nmake = web page.wasm\n");
    REQUIRE(ys_framework_find("page", dirs(), &before) == YS_OK);
    CHECK_INT(before->state, YS_FRAMEWORK_MISSING);
    CHECK_HAS(before->reason, "what `make web` makes");
    CHECK_TEXT(before->command, "yardstick install page");
    scratch_write("recipes/page.wasm", "1");
    REQUIRE(ys_framework_find("page", dirs(), &after) == YS_OK);
    CHECK_INT(after->state, YS_FRAMEWORK_READY);
    scratch_write("recipes/page.wasm", "2");
    REQUIRE(ys_framework_find("page", dirs(), &changed) == YS_OK);
    CHECK(strcmp(after->closure, changed->closure) != 0);
    ys_framework_free(before);
    ys_framework_free(after);
    ys_framework_free(changed);
}

/* Who made it before it had a plugin lacks that alone. */
static void all_that_make_makes_for_a_program_is_there_before_it_is_ready(void)
{
    struct ys_framework *before = NULL, *after = NULL;
    scratch_write("recipes/other.recipe", "name = other\nprogram = /bin/sh -plugin ../made-plugin ../made-program\n"
                                          "make = all ../made-program\n");
    scratch_write("made-program", "1");
    REQUIRE(ys_framework_find("other", dirs(), &before) == YS_OK);
    CHECK_INT(before->state, YS_FRAMEWORK_MISSING);
    CHECK_HAS(before->reason, "what `make all` makes");
    CHECK_HAS(before->reason, "recipes/../made-plugin, is not there");
    CHECK_TEXT(before->command, "yardstick install other");
    scratch_write("made-plugin", "1");
    REQUIRE(ys_framework_find("other", dirs(), &after) == YS_OK);
    CHECK_INT(after->state, YS_FRAMEWORK_READY);
    CHECK_HAS(after->argv[2], "recipes/../made-plugin");
    ys_framework_free(before);
    ys_framework_free(after);
}

static void an_adapter_may_use_the_environment_of_another_recipe(void)
{
    struct ys_framework *framework = NULL;
    write_python_recipe();
    write_environment();
    scratch_write("recipes/mine.recipe", "name = mine\nadapter = mine.py\nuses = py\n");
    scratch_write("recipes/mine.py", "print(2)\n");
    REQUIRE(ys_framework_find("mine", dirs(), &framework) == YS_OK);
    REQUIRE(framework->state == YS_FRAMEWORK_READY);
    CHECK_HAS(framework->argv[0], "envs/py@2.0/env/bin/python");
    CHECK_HAS(framework->argv[1], "recipes/mine.py");
    ys_framework_free(framework);
}

static const char BUILD[] = "name = made\nadapter = made.py\nversions = 1.0\nget = build it from its source\n";

static void one_that_the_user_builds_is_missing_until_its_program_is_named(void)
{
    struct ys_framework *framework = NULL;
    scratch_write("recipes/made.recipe", BUILD);
    scratch_write("recipes/made.py", "print()\n");
    REQUIRE(ys_framework_find("made", dirs(), &framework) == YS_OK);
    CHECK_INT(framework->state, YS_FRAMEWORK_MISSING);
    CHECK_TEXT(framework->reason, "it is in no package index: build it from its source");
    CHECK_TEXT(framework->command, "yardstick install made --from=PROGRAM");
    ys_framework_free(framework);
    CHECK(ys_framework_install("made", dirs()) == YS_EUNSUPPORTED);
    CHECK_HAS(ys_error(), "--from=PROGRAM");
}

static void one_that_the_user_builds_runs_by_the_program_he_named(void)
{
    struct ys_framework *framework = NULL, *after = NULL;
    scratch_write("recipes/made.recipe", BUILD);
    scratch_write("recipes/made.py", "print()\n");
    char *program = ys_strdup(scratch_write("made/run", "#!/bin/sh\n"));
    CHECK(ys_framework_try("made", dirs(), program, &framework) == YS_EINVAL); /* may not be executed */
    chmod(program, 0755);
    REQUIRE(ys_framework_try("made", dirs(), program, &framework) == YS_OK);
    CHECK_TEXT(framework->argv[0], program);
    ys_framework_free(framework);
    REQUIRE(ys_framework_register("made", dirs(), program) == YS_OK);
    REQUIRE(ys_framework_find("made", dirs(), &framework) == YS_OK);
    REQUIRE(framework->state == YS_FRAMEWORK_READY);
    CHECK_TEXT(framework->argv[0], program);
    CHECK_HAS(framework->argv[1], "recipes/made.py");
    scratch_write("made/run", "#!/bin/sh\nexec other\n");
    REQUIRE(ys_framework_find("made", dirs(), &after) == YS_OK);
    CHECK(strcmp(framework->closure, after->closure) != 0);
    ys_framework_free(framework);
    ys_framework_free(after);
    unlink(program);
    REQUIRE(ys_framework_find("made", dirs(), &framework) == YS_OK);
    CHECK_INT(framework->state, YS_FRAMEWORK_MISSING);
    CHECK_HAS(framework->reason, program);
    ys_framework_free(framework);
    CHECK(ys_framework_uninstall("made", dirs()) == YS_OK);
    ys_free(program);
}

static void a_program_cannot_stand_for_packages(void)
{
    struct ys_framework *framework = NULL;
    write_python_recipe();
    CHECK(ys_framework_try("py", dirs(), "/bin/sh", &framework) == YS_EINVAL);
    CHECK_HAS(ys_error(), "comes from packages");
}

static void a_recipe_of_one_version_leaves_the_newest_alone(void)
{
    struct ys_framework *framework = NULL;
    write_python_recipe();
    scratch_write("recipes/py@0.9.recipe", "name = py\nadapter = old.py\nversions = 0.9\npython = 3.7\n"
                                           "requirements = {version}-{python}.txt\n");
    scratch_write("recipes/old.py", "print()\n");
    REQUIRE(ys_framework_find("py", dirs(), &framework) == YS_OK);
    CHECK_TEXT(framework->version, "2.0");
    ys_framework_free(framework);
    REQUIRE(ys_framework_find("py@0.9", dirs(), &framework) == YS_OK);
    CHECK_TEXT(framework->version, "0.9");
    CHECK_TEXT(framework->name, "py");
    CHECK_TEXT(framework->command, "yardstick install py@0.9");
    ys_framework_free(framework);
    scratch_write("recipes/mine.recipe", "name = mine\nadapter = mine.py\nuses = py\n");
    scratch_write("recipes/mine.py", "print(2)\n");
    REQUIRE(ys_framework_find("mine@0.9", dirs(), &framework) == YS_OK);
    CHECK_TEXT(framework->command, "yardstick install py@0.9");
    ys_framework_free(framework);
    char *path = ys_path_join(scratch_dir(), "recipes/py@0.9.recipe");
    unlink(path);
    ys_free(path);
}

static void an_environment_whose_python_became_another_is_missing(void)
{
    struct ys_framework *framework = NULL;
    char hash[YS_SHA256_TEXT], state[512];
    write_python_recipe();
    write_environment();
    ys_sha256_text("thing==2.0\n", 11, hash);
    snprintf(state, sizeof state,
             "{\"python_version\": \"3.11\", \"python_path\": \"/usr/bin/python3.11\", \"requirements\": \"%s\"}",
             hash);
    scratch_write("envs/py@2.0/installed.json", state);
    REQUIRE(ys_framework_find("py", dirs(), &framework) == YS_OK);
    CHECK_INT(framework->state, YS_FRAMEWORK_MISSING);
    CHECK_HAS(framework->reason, "in place of /usr/bin/python3.11");
    CHECK_TEXT(framework->command, "yardstick install py");
    ys_framework_free(framework);
}

static void the_closure_changes_with_a_file_that_the_adapter_speaks_of(void)
{
    struct ys_framework *before = NULL, *other = NULL, *after = NULL;
    write_python_recipe();
    scratch_write("recipes/py.py", "import shared_part\n");
    scratch_write("recipes/shared_part.py", "a = 1\n");
    REQUIRE(ys_framework_find("py", dirs(), &before) == YS_OK);
    scratch_write("recipes/stranger.py", "a = 1\n");
    REQUIRE(ys_framework_find("py", dirs(), &other) == YS_OK);
    CHECK_TEXT(other->closure, before->closure);
    scratch_write("recipes/shared_part.py", "a = 2\n");
    REQUIRE(ys_framework_find("py", dirs(), &after) == YS_OK);
    CHECK(strcmp(before->closure, after->closure) != 0);
    ys_framework_free(before);
    ys_framework_free(other);
    ys_framework_free(after);
}

/* Whether the closure of "py" is another one after `name` was written with `text`. */
static bool changes_closure(const char *name, const char *text)
{
    struct ys_framework *before = NULL, *after = NULL;
    if (!CHECK(ys_framework_find("py", dirs(), &before) == YS_OK))
        return false;
    scratch_write(name, text);
    CHECK(ys_framework_find("py", dirs(), &after) == YS_OK);
    bool changed = after && strcmp(before->closure, after->closure) != 0;
    ys_framework_free(before);
    ys_framework_free(after);
    return changed;
}

static void the_closure_changes_with_what_an_imported_file_imports(void)
{
    write_python_recipe();
    scratch_write("recipes/py.py", "from one import a  # and deeper it goes\n# import stranger\n");
    scratch_write("recipes/one.py", "import two\n");
    scratch_write("recipes/two.py", "exec(open(\"three.py\").read())\nctypes.CDLL(HERE + '/libfour.so')\n");
    scratch_write("recipes/three.py", "");
    scratch_write("recipes/libfour.so", "");
    CHECK(changes_closure("recipes/two.py", "exec(open(\"three.py\").read())\nctypes.CDLL(HERE + '/libfour.so')\n\n"));
    CHECK(changes_closure("recipes/three.py", "a = 2\n"));
    CHECK(changes_closure("recipes/libfour.so", "another"));
    CHECK(!changes_closure("recipes/stranger.py", "a = 3\n"));
    CHECK(!changes_closure("recipes/one.log", "this is no code\n"));
}

static void the_closure_changes_with_a_package_in_a_folder(void)
{
    write_python_recipe();
    scratch_write("recipes/parts/deep/inner.py", "");
    scratch_write("recipes/py.py", "import parts\n");
    CHECK(changes_closure("recipes/parts/deep/inner.py", "a = 1\n"));
    CHECK(changes_closure("recipes/parts/added.py", "a = 1\n"));
    CHECK(!changes_closure("recipes/parts/__pycache__/inner.cpython-311.py", "a = 1\n"));
    CHECK(!changes_closure("recipes/others/inner.py", "a = 1\n"));
    scratch_write("recipes/py.py", "sys.path.insert(0, os.path.join(HERE, 'others'))\nimport inner\n");
    CHECK(changes_closure("recipes/others/inner.py", "a = 2\n"));
}

/* What an adapter of the user's shares with yardstick's own: common.py, wherever yardstick lies. */
static void the_closure_changes_with_yardsticks_own_common_file(void)
{
    char *home = ys_strdup(getenv("YARDSTICK_HOME"));
    write_python_recipe();
    scratch_write("recipes/py.py", "sys.path.insert(0, ADAPTERS)\nimport common\n");
    scratch_write("adapters/common.py", "a = 1\n");
    setenv("YARDSTICK_HOME", scratch_dir(), 1);
    CHECK(changes_closure("adapters/common.py", "a = 2\n"));
    CHECK(!changes_closure("adapters/strange.py", "a = 2\n"));
    setenv("YARDSTICK_HOME", home, 1);
    ys_free(home);
}

static void the_closure_of_a_program_changes_with_what_its_script_imports(void)
{
    struct ys_framework *before = NULL, *after = NULL;
    scratch_write("recipes/script.recipe", "name = script\nprogram = sh script.py\n");
    scratch_write("recipes/script.py", "import script_part\n");
    scratch_write("recipes/script_part.py", "");
    REQUIRE(ys_framework_find("script", dirs(), &before) == YS_OK);
    scratch_write("recipes/script_part.py", "a = 1\n");
    REQUIRE(ys_framework_find("script", dirs(), &after) == YS_OK);
    CHECK(strcmp(before->closure, after->closure) != 0);
    ys_framework_free(before);
    ys_framework_free(after);
}

/* The user's configuration lies in the scratch folder (scratch.h). */
static void the_oracle_is_yardsticks_own_whatever_the_user_has_of_that_name(void)
{
    struct ys_framework *theirs = NULL, *own = NULL;
    chmod(scratch_write("yardstick/recipes/impostor", "#!/bin/sh\n"), 0755);
    char *path = ys_strdup(scratch_write("yardstick/recipes/builtin.recipe", "name = builtin\nprogram = ./impostor\n"));
    CHECK(ys_framework_find("builtin", NULL, &theirs) == YS_OK);
    CHECK(ys_framework_find_own("builtin", &own) == YS_OK);
    CHECK_TEXT(theirs ? theirs->foreign : NULL, path);
    CHECK_HAS(theirs ? theirs->argv[0] : "", "impostor");
    CHECK(own && !own->foreign && own->state == YS_FRAMEWORK_READY);
    CHECK_TEXT(own ? ys_path_base(own->argv[0]) : "", "yardstick-builtin");
    unlink(path);
    ys_free(path);
    ys_framework_free(theirs);
    ys_framework_free(own);
    CHECK(ys_framework_find_own("no-such", &own) == YS_ENOTFOUND);
}

static void options_are_typed_and_wrong_values_say_what_is_allowed(void)
{
    struct ys_framework *framework = NULL;
    ys_json *value = NULL;
    REQUIRE(ys_framework_find("builtin", NULL, &framework) == YS_OK);
    REQUIRE(ys_framework_option(framework, "backend", "ref", &value) == YS_OK);
    CHECK_TEXT(ys_json_text(value, ""), "ref");
    ys_json_free(value);
    CHECK(ys_framework_option(framework, "backend", "cuda", &value) == YS_EINVAL);
    CHECK_TEXT(ys_error(), "opt.builtin.backend = cuda: write one of onednn, simd, ref");
    CHECK(ys_framework_option(framework, "bakend", "ref", &value) == YS_EINVAL);
    CHECK_HAS(ys_error(), "builtin has no option \"bakend\"");
    ys_framework_free(framework);
    REQUIRE(ys_framework_find("pytorch", NULL, &framework) == YS_OK);
    REQUIRE(ys_framework_option(framework, "channels_last", "on", &value) == YS_OK);
    CHECK(ys_json_truth(value, false));
    ys_json_free(value);
    CHECK(ys_framework_option(framework, "channels_last", "yes", &value) == YS_EINVAL);
    ys_framework_free(framework);
    REQUIRE(ys_framework_find("null", NULL, &framework) == YS_OK);
    REQUIRE(ys_framework_option(framework, "rate", "1e3", &value) == YS_OK);
    CHECK(ys_json_number(value, 0) == 1000);
    ys_json_free(value);
    static const char *const bad[] = {"fast", "0", "-1", "", "1e999", "nan"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(ys_framework_option(framework, "rate", bad[i], &value) == YS_EINVAL);
        CHECK_HAS(ys_error(), ": write a number above 0");
    }
    ys_framework_free(framework);
}

TAP_MAIN(TAP_CASE(one_that_is_not_installed_is_missing_with_the_command), TAP_CASE(a_failed_attempt_is_the_reason),
         TAP_CASE(one_that_this_host_cannot_have_is_unsupported),
         TAP_CASE(an_installed_one_is_ready_and_starts_in_its_own_environment),
         TAP_CASE(what_it_keeps_lies_in_its_environment), TAP_CASE(changed_requirements_make_it_missing),
         TAP_CASE(an_interrupted_installation_is_noticed), TAP_CASE(the_closure_changes_with_the_adapter),
         TAP_CASE(a_version_that_the_recipe_lacks_is_not_found),
         TAP_CASE(a_program_beside_its_recipe_is_found_with_its_arguments),
         TAP_CASE(a_blank_behind_a_backslash_is_part_of_a_path),
         TAP_CASE(a_program_of_the_path_is_not_one_beside_yardstick), TAP_CASE(a_program_that_is_not_there_is_missing),
         TAP_CASE(a_program_is_missing_without_what_make_makes_for_it),
         TAP_CASE(all_that_make_makes_for_a_program_is_there_before_it_is_ready),
         TAP_CASE(an_adapter_may_use_the_environment_of_another_recipe),
         TAP_CASE(one_that_the_user_builds_is_missing_until_its_program_is_named),
         TAP_CASE(one_that_the_user_builds_runs_by_the_program_he_named), TAP_CASE(a_program_cannot_stand_for_packages),
         TAP_CASE(a_recipe_of_one_version_leaves_the_newest_alone),
         TAP_CASE(an_environment_whose_python_became_another_is_missing),
         TAP_CASE(the_closure_changes_with_a_file_that_the_adapter_speaks_of),
         TAP_CASE(the_closure_changes_with_what_an_imported_file_imports),
         TAP_CASE(the_closure_changes_with_a_package_in_a_folder),
         TAP_CASE(the_closure_changes_with_yardsticks_own_common_file),
         TAP_CASE(the_closure_of_a_program_changes_with_what_its_script_imports),
         TAP_CASE(the_oracle_is_yardsticks_own_whatever_the_user_has_of_that_name),
         TAP_CASE(options_are_typed_and_wrong_values_say_what_is_allowed))
