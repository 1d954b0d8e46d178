/* Environments that are in use, changed, damaged or half made. */
#include "framework/env_files.h"
#include "framework/environment.h"
#include "framework/environment_lock.h"
#include "framework/framework.h"
#include "scratch.h"
#include "tap.h"

#include <sys/stat.h>

static const char *const *dirs(void)
{
    static char *recipes;
    static const char *list[2];
    recipes = recipes ? recipes : ys_path_join(scratch_dir(), "recipes");
    list[0] = recipes;
    return list;
}

static char *path_of(const char *name)
{
    return ys_path_join(scratch_dir(), name);
}

static void write_at(const char *folder, const char *name, const char *text)
{
    char *path = ys_format("%s/%s", folder, name);
    scratch_write(path, text);
    ys_free(path);
}

/* The environment of "py", as `install` leaves it; without a fingerprint as it did before there were any. */
static void write_environment(bool with_fingerprint)
{
    char hash[YS_SHA256_TEXT], fingerprint[YS_SHA256_TEXT], *folder = path_of("envs/py@2.0");
    CHECK(ys_fs_remove_tree(folder) == YS_OK);
    scratch_write("recipes/py.recipe", "name = py\nadapter = py.py\nversions = 2.0\npython = 3.11\n"
                                       "requirements = r.txt\n");
    scratch_write("recipes/py.py", "print()\n");
    scratch_write("recipes/r.txt", "thing==2.0\n");
    chmod(scratch_write("envs/py@2.0/env/bin/python", "#!/bin/sh\n"), 0755);
    scratch_write("envs/py@2.0/env/lib/a.py", "a\n");
    scratch_write("envs/py@2.0/env/lib/b.py", "b\n");
    char *link = path_of("envs/py@2.0/env/lib64");
    CHECK(symlink("lib", link) == 0);
    ys_sha256_text("thing==2.0\n", 11, hash);
    ys_json *state = ys_json_object();
    ys_json_set_string(state, "python_version", "3.11");
    ys_json_set_string(state, "requirements", hash);
    if (with_fingerprint && CHECK(ys_env_files_note(folder, fingerprint) == YS_OK))
        ys_json_set_string(state, "fingerprint", fingerprint);
    char *note = ys_path_join(folder, "installed.json");
    CHECK(ys_json_write(note, state) == YS_OK);
    ys_json_free(state);
    ys_free(note);
    ys_free(link);
    ys_free(folder);
}

/* "py", held, or NULL. */
static struct ys_framework *held(void)
{
    struct ys_framework *framework = NULL;
    if (CHECK(ys_framework_find("py", dirs(), &framework) == YS_OK) && CHECK(ys_framework_hold(framework) == YS_OK))
        return framework;
    ys_framework_free(framework);
    return NULL;
}

static void one_in_use_is_neither_removed_nor_made_anew(void)
{
    write_environment(true);
    struct ys_framework *framework = held();
    REQUIRE(framework);
    CHECK(framework->state == YS_FRAMEWORK_READY);
    CHECK(ys_framework_uninstall("py", dirs()) == YS_EBUSY);
    CHECK_TEXT(ys_error(), "py@2.0 is in use by a study: wait for its end, then try again");
    scratch_write("envs/py@2.0/env/lib/a.py", "another\n");
    CHECK(ys_framework_repair("py", dirs()) == YS_EBUSY);
    CHECK_HAS(ys_error(), "in use by a study");
    bool failed = false;
    CHECK(ys_framework_uninstall_all(&failed) == YS_OK && failed);
    CHECK(ys_fs_is_executable(framework->argv[0]));
    ys_framework_free(framework);
    CHECK(ys_framework_uninstall("py", dirs()) == YS_OK);
    char *folder = path_of("envs/py@2.0");
    CHECK(!ys_fs_exists(folder));
    ys_free(folder);
}

static void many_trials_of_one_framework_hold_it_once(void)
{
    enum { MANY = 400 };
    struct ys_framework *all[MANY];
    int fds[8];
    write_environment(true);
    for (size_t i = 0; i < MANY; i++)
        all[i] = held();
    CHECK_INT(ys_lock_held(fds, 8), 1);
    for (size_t i = 1; i < MANY; i++)
        ys_framework_free(all[i]);
    CHECK(ys_framework_uninstall("py", dirs()) == YS_EBUSY);
    ys_framework_free(all[0]);
    CHECK_INT(ys_lock_held(fds, 8), 0);
    CHECK(ys_framework_uninstall("py", dirs()) == YS_OK);
}

static void one_that_another_uses_is_held_too(void)
{
    struct ys_framework *mine = NULL;
    write_environment(true);
    scratch_write("recipes/mine.recipe", "name = mine\nadapter = py.py\nuses = py\n");
    REQUIRE(ys_framework_find("mine", dirs(), &mine) == YS_OK && ys_framework_hold(mine) == YS_OK);
    CHECK_INT(strlen(mine->fingerprint), YS_SHA256_TEXT - 1);
    CHECK(ys_framework_uninstall("py", dirs()) == YS_EBUSY);
    ys_framework_free(mine);
}

static void one_that_is_made_meanwhile_is_missing(void)
{
    struct ys_framework *framework = NULL;
    struct ys_lock lock;
    char *path = path_of("envs/py@2.0.lock"), *note = path_of("envs/py@2.0/installed.json");
    write_environment(true);
    REQUIRE(ys_framework_find("py", dirs(), &framework) == YS_OK && framework->state == YS_FRAMEWORK_READY);
    REQUIRE(ys_lock_take(path, YS_LOCK_ALONE, 1, &lock) == YS_OK);
    CHECK(ys_framework_hold(framework) == YS_OK);
    CHECK_INT(framework->state, YS_FRAMEWORK_MISSING);
    CHECK_HAS(framework->reason, "is being installed");
    ys_framework_free(framework);
    unlink(note);
    REQUIRE(ys_framework_find("py", dirs(), &framework) == YS_OK);
    CHECK_HAS(framework->reason, "it is being installed by process");
    ys_framework_free(framework);
    ys_lock_release(&lock);
    REQUIRE(ys_framework_find("py", dirs(), &framework) == YS_OK);
    CHECK_TEXT(framework->reason, "its installation was interrupted");
    ys_framework_free(framework);
    ys_free(path);
    ys_free(note);
}

/* The fingerprint of "py" now. */
static const char *fingerprint(void)
{
    static char text[YS_SHA256_TEXT];
    struct ys_framework *framework = held();
    snprintf(text, sizeof text, "%s", framework ? framework->fingerprint : "?");
    ys_framework_free(framework);
    return text;
}

static void what_a_run_leaves_does_not_change_it(void)
{
    char before[YS_SHA256_TEXT];
    write_environment(true);
    snprintf(before, sizeof before, "%s", fingerprint());
    CHECK_INT(strlen(before), YS_SHA256_TEXT - 1);
    scratch_write("envs/py@2.0/env/lib/__pycache__/a.cpython-311.pyc", "compiled");
    scratch_write("envs/py@2.0/env/cache/kernels/k.o", "compiled");
    CHECK_TEXT(fingerprint(), before);
    scratch_write("envs/py@2.0/env/lib/cache/c.py", "no such folder of ours");
    CHECK(strcmp(fingerprint(), before) != 0);
}

static void changed_files_are_named_and_it_still_runs(void)
{
    static const struct {
        const char *name, *text, *expected;
    } cases[] = {
        {"env/lib/a.py", "longer\n", "1 file of py@2.0 is not as it was installed (lib/a.py changed)"},
        {"env/lib/b.py", "b\n", "2 files of py@2.0 are not as they were installed (lib/a.py changed)"}, /* its time */
        {"env/lib/c.py", "", "3 files of py@2.0 are not as they were installed (lib/a.py changed)"},
    };
    write_environment(true);
    struct ys_framework *framework = held();
    CHECK(framework && !framework->changes);
    ys_framework_free(framework);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_at("envs/py@2.0", cases[i].name, cases[i].text);
        framework = held();
        REQUIRE(framework);
        CHECK_INT(framework->state, YS_FRAMEWORK_READY);
        CHECK_TEXT(framework->changes, cases[i].expected);
        ys_framework_free(framework);
    }
}

static void a_link_that_leads_elsewhere_is_a_change(void)
{
    char *link = path_of("envs/py@2.0/env/lib64");
    write_environment(true);
    CHECK(unlink(link) == 0 && symlink("elsewhere", link) == 0);
    struct ys_framework *framework = held();
    CHECK_HAS(framework ? framework->changes : "", "(lib64 changed)");
    ys_framework_free(framework);
    ys_free(link);
}

static void one_with_missing_files_is_missing(void)
{
    char *gone = path_of("envs/py@2.0/env/lib/b.py");
    write_environment(true);
    scratch_write("envs/py@2.0/env/lib/a.py", "another\n");
    unlink(gone);
    struct ys_framework *framework = held();
    REQUIRE(framework);
    CHECK_INT(framework->state, YS_FRAMEWORK_MISSING);
    CHECK_TEXT(framework->reason, "2 files of py@2.0 are not as they were installed (lib/b.py is missing)");
    CHECK_TEXT(framework->command, "yardstick install --repair py@2.0");
    CHECK(ys_framework_uninstall("py", dirs()) == YS_OK); /* nobody holds it */
    ys_framework_free(framework);
    ys_free(gone);
}

static void one_of_an_earlier_yardstick_is_not_complained_of(void)
{
    write_environment(false);
    struct ys_framework *framework = held();
    REQUIRE(framework);
    CHECK_INT(framework->state, YS_FRAMEWORK_READY);
    CHECK(!framework->changes);
    CHECK_INT(strlen(framework->fingerprint), YS_SHA256_TEXT - 1);
    ys_framework_free(framework);
}

static void the_fingerprint_of_one_that_the_user_built_is_of_its_program(void)
{
    char before[YS_SHA256_TEXT];
    struct ys_framework *framework = NULL;
    scratch_write("recipes/made.recipe", "name = made\nadapter = py.py\nversions = 1.0\nget = build it\n");
    char *program = ys_strdup(scratch_write("made/run", "#!/bin/sh\n"));
    chmod(program, 0755);
    REQUIRE(ys_framework_register("made", dirs(), program) == YS_OK);
    for (int round = 0; round < 2; round++) {
        REQUIRE(ys_framework_find("made", dirs(), &framework) == YS_OK && ys_framework_hold(framework) == YS_OK);
        CHECK_INT(strlen(framework->fingerprint), YS_SHA256_TEXT - 1);
        CHECK(round == 0 || strcmp(before, framework->fingerprint) != 0);
        snprintf(before, sizeof before, "%s", framework->fingerprint);
        ys_framework_free(framework);
        chmod(scratch_write("made/run", "#!/bin/sh\n"), 0755); /* the same text, at another time */
    }
    ys_free(program);
}

static void take_leftover(void *context, const char *path, uint64_t size_bytes)
{
    struct ys_buf *out = context;
    ys_buf_printf(out, "%s %llu\n", path + strlen(scratch_dir()) + strlen("/envs/"), (unsigned long long)size_bytes);
}

static void half_made_ones_are_swept_where_nobody_is_at_work(void)
{
    struct ys_buf said = {0};
    struct ys_sweep sweep = {.dry = true, .on_leftover = take_leftover, .context = &said};
    char *half = path_of("envs/half@1"), *held_one = path_of("envs/made@2"), *lock = path_of("envs/made@2.lock"),
         *failed = path_of("envs/failed@3/env"), *why = path_of("envs/failed@3/failed.json"), *all = path_of("envs");
    struct ys_lock maker;
    CHECK(ys_fs_remove_tree(all) == YS_OK);
    write_environment(true);
    scratch_write("envs/half@1/env/x", "12345");
    scratch_write("envs/made@2/env/x", "12345");
    scratch_write("envs/failed@3/env/x", "123");
    scratch_write("envs/failed@3/failed.json", "{}");
    REQUIRE(ys_lock_take(lock, YS_LOCK_ALONE, 1, &maker) == YS_OK);
    ys_environments_sweep(&sweep);
    CHECK_HAS(ys_buf_text(&said), "half@1 5\n");
    CHECK_HAS(ys_buf_text(&said), "failed@3/env 3\n");
    CHECK_INT(said.size, strlen("half@1 5\nfailed@3/env 3\n"));
    CHECK(ys_fs_exists(half));
    ys_environments_sweep(NULL);
    CHECK(!ys_fs_exists(half) && !ys_fs_exists(failed) && ys_fs_exists(why) && ys_fs_exists(held_one));
    ys_lock_release(&maker);
    ys_environments_sweep(NULL);
    CHECK(!ys_fs_exists(held_one));
    struct ys_framework *whole = held();
    CHECK(whole && whole->state == YS_FRAMEWORK_READY && !whole->changes);
    ys_framework_free(whole);
    ys_buf_free(&said);
    char *paths[] = {half, held_one, lock, failed, why, all};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        ys_free(paths[i]);
}

TAP_MAIN(TAP_CASE(one_in_use_is_neither_removed_nor_made_anew), TAP_CASE(many_trials_of_one_framework_hold_it_once),
         TAP_CASE(one_that_another_uses_is_held_too), TAP_CASE(one_that_is_made_meanwhile_is_missing),
         TAP_CASE(what_a_run_leaves_does_not_change_it), TAP_CASE(changed_files_are_named_and_it_still_runs),
         TAP_CASE(a_link_that_leads_elsewhere_is_a_change), TAP_CASE(one_with_missing_files_is_missing),
         TAP_CASE(one_of_an_earlier_yardstick_is_not_complained_of),
         TAP_CASE(the_fingerprint_of_one_that_the_user_built_is_of_its_program),
         TAP_CASE(half_made_ones_are_swept_where_nobody_is_at_work), )
