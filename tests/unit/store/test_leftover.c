/* What writers leave that were killed: a journal that is not part of the database yet, files of their runs. */
#include "fixture.h"

#include "tap.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child's exit code. */
static int ended_of(pid_t pid)
{
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* In a child that ends without closing, so that what it stored lies in the journal. */
static int store_and_die(const char *folder)
{
    struct ys_store *store = NULL;
    fflush(stdout);
    pid_t pid = fork();
    if (pid != 0)
        return ended_of(pid);
    if (ys_store_open(folder, YS_STORE_WRITE, &store) != YS_OK)
        _exit(1);
    int64_t trial = put_trial(store, begin_study(store, "killed"), "t", 0);
    for (int round = 0; round < 10; round++)
        if (put_run(store, trial, round, 0, "ok") != YS_OK)
            _exit(2);
    _exit(0);
}

static int read_ten_as_nobody(const char *folder)
{
    struct ys_store *store = NULL;
    fflush(stdout);
    pid_t pid = fork();
    if (pid != 0)
        return ended_of(pid);
    if (geteuid() == 0 && setuid(65534) != 0)
        _exit(77);
    if (ys_store_open(folder, YS_STORE_READ, &store) != YS_OK)
        _exit(1);
    int runs = count_runs(store, 1);
    ys_store_close(store);
    _exit(runs == 10 ? 0 : 2);
}

static void a_journal_in_a_folder_that_cannot_be_written_is_read_too(void)
{
    struct fixture f;
    struct stat file;
    char journal[300], index[300];
    const mode_t usual = umask(022); /* others may read */
    fixture_open(&f);
    ys_store_close(f.store);
    f.store = NULL;
    CHECK_INT(store_and_die(f.folder), 0);
    umask(usual);
    snprintf(journal, sizeof journal, "%s/results.db-wal", f.folder);
    snprintf(index, sizeof index, "%s/results.db-shm", f.folder);
    REQUIRE(stat(journal, &file) == 0 && file.st_size > 0);
    CHECK(unlink(index) == 0);
    CHECK(chmod(f.folder, 0555) == 0);
    int code = read_ten_as_nobody(f.folder);
    if (code == 77)
        tap_skip("cannot become another user");
    else
        CHECK_INT(code, 0);
    CHECK(!ys_fs_exists(index));
    chmod(f.folder, 0755);
    fixture_close(&f);
}

static void put_file(const struct fixture *f, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    char *folder = ys_path_dir(path);
    CHECK(ys_fs_make_dirs(folder) == YS_OK && ys_fs_write(path, "bytes", 5) == YS_OK);
    ys_free(folder);
}

static bool has_file(const struct fixture *f, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    return ys_fs_exists(path);
}

static void count_leftover(void *context, const char *path, uint64_t size_bytes)
{
    (void)path;
    CHECK(size_bytes > 0);
    ++*(int *)context;
}

static const char *const left[] = {"001-a/runs/r0-t0-a0/weights.safetensors",
                                   "001-a/runs/r0-t0-a0/step-5.safetensors",
                                   "001-a/runs/r0-t0-a0/model.onnx",
                                   "001-a/runs/r0-t0-a0/weights.Ab3dEf.tmp",
                                   "001-a/runs/r0-t0-a0/agreement/logits.safetensors",
                                   "001-a/report.html.Ab3dEf.tmp",
                                   "results.Ab3dEf.tmp"};
static const char *const kept[] = {"001-a/runs/r0-t0-a0/adapter.log", "001-a/runs/r0-t0-a0/agreement/adapter.log",
                                   "001-a/report.html", "mine/weights.safetensors", "001-a/mine/weights.safetensors"};

static void put_leftovers(const struct fixture *f)
{
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        put_file(f, left[i]);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        put_file(f, kept[i]);
}

static void check_swept(const struct fixture *f)
{
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        CHECK(!has_file(f, left[i]));
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK(has_file(f, kept[i]));
}

static void what_a_killed_study_left_is_swept_by_the_next_writer(void)
{
    struct fixture f;
    fixture_open(&f);
    begin_study(f.store, "a");
    ys_store_close(f.store);
    put_leftovers(&f);
    REQUIRE(ys_store_open(f.folder, YS_STORE_WRITE, &f.store) == YS_OK);
    check_swept(&f);
    fixture_close(&f);
}

static void sweeping_by_hand_takes_all_studies_and_no_folder_in_use(void)
{
    struct fixture f;
    int count = 0;
    struct ys_sweep dry = {.dry = true, .on_leftover = count_leftover, .context = &count};
    fixture_open(&f);
    CHECK(ys_store_study_end(f.store, begin_study(f.store, "a"), YS_STUDY_DONE, 0, NULL) == YS_OK);
    put_leftovers(&f);
    CHECK(ys_store_sweep(f.folder, &dry) == YS_EBUSY);
    ys_store_close(f.store);
    f.store = NULL;
    CHECK(ys_store_sweep(f.folder, &dry) == YS_OK);
    CHECK_INT(count, sizeof left / sizeof left[0]);
    CHECK(has_file(&f, left[0]));
    CHECK(ys_store_sweep(f.folder, NULL) == YS_OK);
    check_swept(&f);
    CHECK(ys_store_sweep("/nonexistent", NULL) == YS_OK);
    fixture_close(&f);
}

TAP_MAIN(TAP_CASE(a_journal_in_a_folder_that_cannot_be_written_is_read_too),
         TAP_CASE(what_a_killed_study_left_is_swept_by_the_next_writer),
         TAP_CASE(sweeping_by_hand_takes_all_studies_and_no_folder_in_use))
