#include "fixture.h"

#include "tap.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a child, so that limits, locks and sudden death stay there. The child's exit code: 0 where all it checked held. */
static int in_child(int (*child)(const char *folder), const char *folder)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(child(folder));
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void sql(const char *folder, const char *text)
{
    char path[256];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/results.db", folder);
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
}

static void opening_makes_folder_and_database(void)
{
    struct fixture f;
    fixture_open(&f);
    char path[256], deep[256];
    snprintf(path, sizeof path, "%s/results.db", f.folder);
    CHECK(ys_fs_exists(path));
    CHECK_TEXT(ys_store_folder(f.store), f.folder);
    snprintf(deep, sizeof deep, "%s/a/b", f.folder);
    struct ys_store *other = NULL;
    CHECK(ys_store_open(deep, YS_STORE_WRITE, &other) == YS_OK);
    ys_store_close(other);
    fixture_close(&f);
}

static void reading_where_nothing_is_says_so(void)
{
    struct ys_store *store = NULL;
    CHECK(ys_store_open("/nonexistent/results", YS_STORE_READ, &store) == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "/nonexistent/results");
    CHECK_HAS(ys_error(), "yardstick run");
    CHECK(!store);
}

static void an_empty_database_holds_no_results(void)
{
    struct fixture f;
    fixture_open(&f);
    ys_store_close(f.store);
    f.store = NULL;
    char path[256];
    snprintf(path, sizeof path, "%s/results.db", f.folder);
    unlink(path);
    sql(f.folder, "VACUUM");
    CHECK(ys_store_open(f.folder, YS_STORE_READ, &f.store) == YS_ENOTFOUND);
    fixture_close(&f);
}

static int take_lock(const char *folder)
{
    struct ys_store *store = NULL;
    char holder[80];
    snprintf(holder, sizeof holder, "in use by process %ld", (long)getppid());
    if (ys_store_open(folder, YS_STORE_WRITE, &store) != YS_EBUSY)
        return 1;
    return strstr(ys_error(), holder) && strstr(ys_error(), folder) ? 0 : 2;
}

static void a_second_writer_is_told_who_writes(void)
{
    struct fixture f;
    fixture_open(&f);
    CHECK_INT(in_child(take_lock, f.folder), 0);
    ys_store_close(f.store);
    f.store = NULL;
    CHECK(ys_store_open(f.folder, YS_STORE_WRITE, &f.store) == YS_OK);
    fixture_close(&f);
}

static int read_beside(const char *folder)
{
    struct ys_store *store = NULL;
    int64_t study = 0;
    if (ys_store_open(folder, YS_STORE_READ, &store) != YS_OK || ys_store_select(store, "last", &study, NULL) != YS_OK)
        return 1;
    ys_store_close(store);
    return study == 1 ? 0 : 2;
}

static void readers_need_no_lock_and_see_what_is_stored(void)
{
    struct fixture f;
    fixture_open(&f);
    CHECK_INT(begin_study(f.store, "first"), 1);
    CHECK_INT(in_child(read_beside, f.folder), 0);
    fixture_close(&f);
}

static void a_reader_that_stays_does_not_hold_up_the_writer(void)
{
    struct fixture f;
    fixture_open(&f);
    struct ys_store *reader = NULL;
    ys_json *runs = NULL;
    int64_t study = begin_study(f.store, "first"), trial = put_trial(f.store, study, "t", 0);
    REQUIRE(ys_store_open(f.folder, YS_STORE_READ, &reader) == YS_OK);
    CHECK_INT(count_runs(reader, trial), 0);
    CHECK(put_run(f.store, trial, 0, 0, "ok") == YS_OK);
    CHECK_INT(count_runs(reader, trial), 1);
    CHECK(ys_store_runs_get(reader, trial, &runs) == YS_OK);
    ys_json_free(runs);
    ys_store_close(reader);
    fixture_close(&f);
}

static void a_reader_cannot_write(void)
{
    struct fixture f;
    fixture_open(&f);
    struct ys_store *reader = NULL;
    int64_t study = 0;
    REQUIRE(ys_store_open(f.folder, YS_STORE_READ, &reader) == YS_OK);
    ys_json *doc = make_json("{\"name\":\"x\"}");
    CHECK(ys_store_study_begin(reader, doc, &study) == YS_EIO);
    ys_json_free(doc);
    ys_store_close(reader);
    fixture_close(&f);
}

static void tables_of_a_newer_version_are_refused(void)
{
    struct fixture f;
    fixture_open(&f);
    ys_store_close(f.store);
    f.store = NULL;
    sql(f.folder, "PRAGMA user_version = 4");
    CHECK(ys_store_open(f.folder, YS_STORE_WRITE, &f.store) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "newer yardstick");
    CHECK(ys_store_open(f.folder, YS_STORE_READ, &f.store) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "version 4");
    fixture_close(&f);
}

static void a_foreign_database_is_refused_and_left_alone(void)
{
    struct fixture f;
    fixture_open(&f);
    ys_store_close(f.store);
    f.store = NULL;
    char path[256];
    snprintf(path, sizeof path, "%s/results.db", f.folder);
    unlink(path);
    sql(f.folder, "CREATE TABLE recipes (name TEXT)");
    CHECK(ys_store_open(f.folder, YS_STORE_WRITE, &f.store) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "no results of yardstick");
    sql(f.folder, "SELECT name FROM recipes");
    fixture_close(&f);
}

static void a_file_that_is_no_database_is_refused(void)
{
    struct fixture f;
    fixture_open(&f);
    ys_store_close(f.store);
    f.store = NULL;
    char path[256];
    snprintf(path, sizeof path, "%s/results.db", f.folder);
    CHECK(ys_fs_write(path, "these are not the bytes that you are looking for", 48) == YS_OK);
    CHECK(ys_store_open(f.folder, YS_STORE_WRITE, &f.store) == YS_EFORMAT);
    CHECK(ys_store_open(f.folder, YS_STORE_READ, &f.store) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "results.db");
    fixture_close(&f);
}

static int open_as_nobody(const char *folder)
{
    if (geteuid() == 0 && setuid(65534) != 0)
        return 77;
    struct ys_store *store = NULL;
    ys_status status = ys_store_open(folder, YS_STORE_WRITE, &store);
    ys_store_close(store);
    return status == YS_EIO && strstr(ys_error(), folder) ? 0 : 1;
}

/* Closes the store, and does that as another user, who may only read. */
static void check_as_nobody(struct fixture *f, int (*act)(const char *folder))
{
    CHECK(chmod(f->folder, 0555) == 0);
    ys_store_close(f->store);
    f->store = NULL;
    int code = in_child(act, f->folder);
    if (code == 77)
        tap_skip("cannot become another user");
    else
        CHECK_INT(code, 0);
    chmod(f->folder, 0755);
    fixture_close(f);
}

static void a_folder_that_cannot_be_written_is_refused(void)
{
    struct fixture f;
    char inside[256];
    fixture_open(&f);
    snprintf(inside, sizeof inside, "%s/results.lock", f.folder);
    CHECK(chmod(inside, 0444) == 0);
    check_as_nobody(&f, open_as_nobody);
}

static int read_as_nobody(const char *folder)
{
    if (geteuid() == 0 && setuid(65534) != 0)
        return 77;
    return read_beside(folder);
}

static void results_in_a_folder_that_cannot_be_written_can_be_read(void)
{
    struct fixture f;
    const mode_t usual = umask(022); /* others may read */
    fixture_open(&f);
    begin_study(f.store, "first");
    check_as_nobody(&f, read_as_nobody);
    umask(usual);
}

static int fill_until_the_limit(const char *folder)
{
    struct ys_store *store = NULL;
    struct rlimit limit = {256 << 10, 256 << 10};
    signal(SIGXFSZ, SIG_IGN);
    if (ys_store_open(folder, YS_STORE_WRITE, &store) != YS_OK)
        return 1;
    int64_t study = begin_study(store, "full"), trial = put_trial(store, study, "t", 0);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 77;
    ys_status status = YS_OK;
    int stored = 0;
    while (status == YS_OK && stored < 10000)
        status = put_run(store, trial, stored++, 0, "ok");
    if (status != YS_EIO || !strstr(ys_error(), folder) || !strstr(ys_error(), "--results DIR"))
        return 2;
    int kept = count_runs(store, trial);
    ys_store_close(store);
    return kept == stored - 1 ? 0 : 3;
}

static void a_full_disk_ends_with_a_remedy_and_keeps_what_was_stored(void)
{
    struct fixture f;
    fixture_open(&f);
    ys_store_close(f.store);
    f.store = NULL;
    int code = in_child(fill_until_the_limit, f.folder);
    if (code == 77) {
        tap_skip("cannot limit the size of files");
    } else {
        CHECK_INT(code, 0);
        REQUIRE(ys_store_open(f.folder, YS_STORE_WRITE, &f.store) == YS_OK);
        CHECK(count_runs(f.store, 1) >= 5);
        CHECK(put_run(f.store, 1, 100000, 0, "ok") == YS_OK);
    }
    fixture_close(&f);
}

static int open_with_no_room(const char *folder)
{
    struct ys_store *store = NULL;
    struct rlimit limit = {1024, 1024};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 77;
    ys_status status = ys_store_open(folder, YS_STORE_WRITE, &store);
    return status == YS_EIO && strstr(ys_error(), "no space left") && strstr(ys_error(), folder) ? 0 : 1;
}

static void a_disk_without_room_is_noticed_on_opening(void)
{
    struct fixture f;
    fixture_open(&f);
    ys_store_close(f.store);
    f.store = NULL;
    int code = in_child(open_with_no_room, f.folder);
    if (code == 77)
        tap_skip("cannot limit the size of files");
    else
        CHECK_INT(code, 0);
    char path[300];
    snprintf(path, sizeof path, "%s/.probe-1", f.folder);
    CHECK(!ys_fs_exists(path));
    fixture_close(&f);
}

/* Writes runs one after the other, saying so after each, until it is killed. */
static int write_for_ever(const char *folder, int pipe_fd)
{
    struct ys_store *store = NULL;
    if (ys_store_open(folder, YS_STORE_WRITE, &store) != YS_OK)
        return 1;
    int64_t study = begin_study(store, "killed"), trial = put_trial(store, study, "t", 0);
    for (int round = 0;; round++) {
        if (put_run(store, trial, round, 0, "ok") != YS_OK || write(pipe_fd, "r", 1) != 1)
            return 1;
    }
}

static void kill_minus_nine_loses_at_most_the_run_in_flight(void)
{
    struct fixture f;
    fixture_open(&f);
    ys_store_close(f.store);
    f.store = NULL;
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        _exit(write_for_ever(f.folder, ends[1]));
    }
    close(ends[1]);
    int said = 0, status = 0;
    char byte;
    while (read(ends[0], &byte, 1) == 1) {
        if (++said == 25)
            kill(pid, SIGKILL);
    }
    close(ends[0]);
    waitpid(pid, &status, 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    struct ys_store *reader = NULL;
    REQUIRE(ys_store_open(f.folder, YS_STORE_READ, &reader) == YS_OK);
    int kept = count_runs(reader, 1);
    CHECK(kept == said || kept == said + 1);
    ys_store_close(reader);
    REQUIRE(ys_store_open(f.folder, YS_STORE_WRITE, &f.store) == YS_OK); /* its lock died with it */
    CHECK_INT(count_runs(f.store, 1), kept);
    CHECK(put_run(f.store, 1, kept, 0, "ok") == YS_OK);
    fixture_close(&f);
}

static void a_closed_store_is_one_ordinary_file(void)
{
    struct fixture f;
    fixture_open(&f);
    begin_study(f.store, "first");
    ys_store_close(f.store);
    f.store = NULL;
    char path[256];
    static const char *const beside[] = {"wal", "shm", "journal"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/results.db-%s", f.folder, beside[i]);
        CHECK(!ys_fs_exists(path));
    }
    fixture_close(&f);
}

TAP_MAIN(TAP_CASE(opening_makes_folder_and_database), TAP_CASE(reading_where_nothing_is_says_so),
         TAP_CASE(an_empty_database_holds_no_results), TAP_CASE(a_second_writer_is_told_who_writes),
         TAP_CASE(readers_need_no_lock_and_see_what_is_stored),
         TAP_CASE(a_reader_that_stays_does_not_hold_up_the_writer), TAP_CASE(a_reader_cannot_write),
         TAP_CASE(tables_of_a_newer_version_are_refused), TAP_CASE(a_foreign_database_is_refused_and_left_alone),
         TAP_CASE(a_file_that_is_no_database_is_refused), TAP_CASE(a_folder_that_cannot_be_written_is_refused),
         TAP_CASE(results_in_a_folder_that_cannot_be_written_can_be_read),
         TAP_CASE(a_full_disk_ends_with_a_remedy_and_keeps_what_was_stored),
         TAP_CASE(a_disk_without_room_is_noticed_on_opening), TAP_CASE(kill_minus_nine_loses_at_most_the_run_in_flight),
         TAP_CASE(a_closed_store_is_one_ordinary_file))
