/* Databases with a changed byte, a lost row, or of an earlier version. */
#include "fixture.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/rng.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path_of(const struct fixture *f, const char *end)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/results.db%s", f->folder, end);
    return path;
}

static void sql(const struct fixture *f, const char *text)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    CHECK(sqlite3_open(path_of(f, ""), &db) == SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK) {
        printf("# %s\n", message);
        CHECK(false);
    }
    sqlite3_free(message);
    sqlite3_close(db);
}

static void put_metrics(struct ys_store *store, int64_t run_id)
{
    ys_json *metrics = make_json("{\"wall_s\":{\"value\":%d.5},\"rate_per_s\":{\"value\":null}}", (int)run_id);
    CHECK(ys_store_metric_put(store, run_id, metrics) == YS_OK);
    ys_json_free(metrics);
}

/* A closed database with two studies, of which the second has two trials, each with a proof and two runs. */
static void fill(struct fixture *f)
{
    fixture_open(f);
    begin_study(f->store, "older");
    int64_t study = begin_study(f->store, "first"), run_id = 0;
    ys_json *host = make_json("{\"cpus\":2}"), *proof = make_json("{\"verdict\":\"pass\",\"checks\":[]}");
    CHECK(ys_store_host_put(f->store, study, host) == YS_OK);
    for (int t = 0; t < 2; t++) {
        int64_t trial = put_trial(f->store, study, t ? "b" : "a", t);
        CHECK(ys_store_proof_put(f->store, trial, proof) == YS_OK);
        for (int round = 0; round < 2; round++) {
            CHECK(put_run(f->store, trial, round, 0, "ok") == YS_OK);
            put_metrics(f->store, ++run_id);
        }
    }
    ys_json_free(host);
    ys_json_free(proof);
    ys_store_close(f->store);
    f->store = NULL;
}

static void put_json(struct ys_buf *out, ys_json *value)
{
    char *text = ys_json_dump(value, YS_JSON_COMPACT);
    ys_buf_printf(out, "%s\n", text ? text : "?");
    ys_free(text);
    ys_json_free(value);
}

static ys_status put_runs(struct ys_store *store, int64_t trial_id, struct ys_buf *out)
{
    ys_json *runs = NULL;
    YS_TRY(ys_store_runs_get(store, trial_id, &runs));
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < ys_json_size(runs); i++) {
        struct ys_series_set series = {0};
        status = ys_store_series_get(store, ys_json_get_int(ys_json_at(runs, i), "run_id", 0), &series);
        for (size_t k = 0; k < series.count; k++) {
            const struct ys_series *item = &series.items[k];
            ys_buf_printf(out, "%s:", item->name);
            for (size_t n = 0; n < item->count; n++)
                ys_buf_printf(out, " %.17g", item->is_real ? item->reals[n] : (double)item->ints[n]);
        }
        ys_series_set_free(&series);
    }
    put_json(out, runs);
    return status;
}

/* What is said of the study as a whole. */
static ys_status put_study(struct ys_store *store, int64_t study_id, struct ys_buf *out)
{
    int64_t runs = 0;
    double wall_s = 0;
    ys_json *json = NULL;
    YS_TRY(ys_store_studies(store, &json));
    put_json(out, json);
    YS_TRY(ys_store_study_get(store, study_id, &json));
    put_json(out, json);
    YS_TRY(ys_store_host_get(store, study_id, &json));
    put_json(out, json);
    YS_TRY(read_rounds(store, study_id, &json));
    put_json(out, json);
    YS_TRY(ys_store_wall_s(store, study_id, &wall_s, &runs));
    return ys_buf_printf(out, "%g %lld\n", wall_s, (long long)runs);
}

/* Everything that readers get of the latest study. */
static ys_status read_all(struct ys_store *store, struct ys_buf *out)
{
    int64_t study_id = 0;
    ys_json *trials = NULL;
    YS_TRY(ys_store_select(store, "last", &study_id, NULL));
    YS_TRY(put_study(store, study_id, out));
    YS_TRY(ys_store_trials_get(store, study_id, &trials));
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < ys_json_size(trials); i++)
        status = put_runs(store, ys_json_get_int(ys_json_at(trials, i), "trial_id", 0), out);
    put_json(out, trials);
    return status;
}

/* Reads everything; 0 when all is said to be as it was stored. */
static size_t read_folder(const char *folder, struct ys_buf *out)
{
    struct ys_store *store = NULL;
    ys_status status = ys_store_open(folder, YS_STORE_READ, &store);
    if (status == YS_OK)
        status = read_all(store, out);
    size_t damaged = status == YS_OK ? ys_store_damaged(store) : 1;
    ys_store_close(store);
    return damaged;
}

struct flipping {
    const struct fixture *f;
    struct ys_buf right;
    int fd;
    bool verified;
    int noticed, harmless, silent;
};

static void flip(struct flipping *state, off_t at, unsigned char by)
{
    unsigned char was, now;
    struct ys_buf out = {0};
    CHECK(pread(state->fd, &was, 1, at) == 1);
    now = (unsigned char)(was ^ by);
    CHECK(pwrite(state->fd, &now, 1, at) == 1);
    bool said = read_folder(state->f->folder, &out) > 0;
    bool same = strcmp(ys_buf_text(&out), ys_buf_text(&state->right)) == 0;
    state->noticed += said;
    state->harmless += !said && same;
    state->silent += !said && !same;
    if (state->verified && !said && !same)
        printf("# byte %lld ^ 0x%02x changes what is read without a word\n", (long long)at, by);
    CHECK(pwrite(state->fd, &was, 1, at) == 1);
    unlink(path_of(state->f, "-wal"));
    unlink(path_of(state->f, "-shm"));
    ys_buf_free(&out);
}

/* Every byte of the file's head, the first bytes of every page, and some of all others. */
static void flip_many(struct flipping *state, off_t size, off_t page, uint64_t seed, int others)
{
    struct ys_rng rng;
    ys_rng_init(&rng, seed, "flips");
    printf("# seed %llu, %lld bytes\n", (unsigned long long)seed, (long long)size);
    for (off_t at = 0; at < size; at++)
        if (at < 100 || at % page < 12)
            flip(state, at, (unsigned char)(1u << ys_rng_below(&rng, 8)));
    for (int i = 0; i < others; i++)
        flip(state, (off_t)ys_rng_below(&rng, (uint32_t)size), (unsigned char)(1 + ys_rng_below(&rng, 255)));
}

static void flip_bytes(struct fixture *f, bool verified)
{
    struct flipping state = {.f = f, .verified = verified};
    struct stat file;
    ys_log_set_level(YS_LOG_ERROR);
    CHECK_INT(read_folder(f->folder, &state.right), 0);
    state.fd = open(path_of(f, ""), O_RDWR);
    REQUIRE(state.fd >= 0 && fstat(state.fd, &file) == 0);
    flip_many(&state, file.st_size, 512, 20261122, 700);
    printf("# %d noticed, %d harmless, %d changed in silence\n", state.noticed, state.harmless, state.silent);
    CHECK(state.noticed > 100 && state.harmless > 0);
    if (verified)
        CHECK_INT(state.silent, 0);
    close(state.fd);
    ys_buf_free(&state.right);
    ys_log_set_level(YS_LOG_INFO);
}

static void no_changed_byte_changes_what_is_read_without_a_word(void)
{
    struct fixture f;
    fill(&f);
    sql(&f, "PRAGMA page_size = 512; VACUUM");
    flip_bytes(&f, true);
    fixture_close(&f);
}

static void make_version_1(const struct fixture *f)
{
    static const char *const tables[] = {"host", "proof", "series", "study", "trial", "run"};
    char text[200];
    for (int i = 0; i < 6; i++) {
        snprintf(text, sizeof text, "ALTER TABLE %s DROP COLUMN sum", tables[i]);
        sql(f, text);
        snprintf(text, sizeof text, "ALTER TABLE %s DROP COLUMN parts", tables[i]);
        if (i >= 3)
            sql(f, text);
    }
    sql(f, "CREATE TABLE earlier (run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, position INTEGER NOT "
           "NULL, name TEXT NOT NULL, value REAL, doc TEXT NOT NULL, PRIMARY KEY (run_id, name)) STRICT;"
           "INSERT INTO earlier SELECT run_id, position, name, value, json_object('value', value) FROM metric;"
           "DROP TABLE metric; DROP TABLE metric_form; ALTER TABLE earlier RENAME TO metric;"
           "PRAGMA user_version = 1");
}

static void no_changed_byte_of_an_earlier_version_ends_the_program(void)
{
    struct fixture f;
    fill(&f);
    make_version_1(&f);
    sql(&f, "PRAGMA page_size = 512; VACUUM");
    flip_bytes(&f, false);
    fixture_close(&f);
}

static void an_earlier_version_is_read_as_it_is_and_migrated_when_it_is_written(void)
{
    struct fixture f;
    struct ys_buf before = {0}, old = {0};
    struct ys_store *store = NULL;
    ys_json *found = NULL;
    fill(&f);
    CHECK_INT(read_folder(f.folder, &before), 0);
    make_version_1(&f);
    CHECK_INT(read_folder(f.folder, &old), 0);
    CHECK_TEXT(ys_buf_text(&old), ys_buf_text(&before));
    REQUIRE(ys_store_open(f.folder, YS_STORE_READ, &store) == YS_OK);
    REQUIRE(ys_store_verify(store, 2, &found) == YS_OK);
    CHECK_INT(ys_json_get_int(found, "unverified", -1), ys_json_get_int(found, "rows", 0));
    ys_json_free(found);
    ys_store_close(store);

    REQUIRE(ys_store_open(f.folder, YS_STORE_WRITE, &f.store) == YS_OK);
    CHECK(put_run(f.store, 1, 2, 0, "ok") == YS_OK);
    ys_store_close(f.store);
    f.store = NULL;
    sql(&f, "DELETE FROM series WHERE run_id = 5; DELETE FROM run WHERE id = 5;"); /* is noticed from now on */
    REQUIRE(ys_store_open(f.folder, YS_STORE_READ, &store) == YS_OK);
    REQUIRE(ys_store_verify(store, 2, &found) == YS_OK);
    CHECK_INT(ys_json_get_int(found, "unverified", -1), 0);
    REQUIRE(ys_json_size(ys_json_get(found, "damaged")) == 1);
    CHECK_TEXT(ys_json_text(ys_json_at(ys_json_get(found, "damaged"), 0), ""),
               "trial 1 lacks 1 of the rows that were stored of it");
    ys_json_free(found);
    ys_store_close(store);
    ys_buf_free(&before);
    ys_buf_free(&old);
    fixture_close(&f);
}

/* Results of two studies, written by the last yardstick whose tables were of version 2. */
static void load_version_2(struct fixture *f)
{
    struct ys_buf text = {0};
    const char *root = getenv("YS_SOURCE_ROOT");
    char *path = ys_format("%s/tests/fixtures/store/version-2.sql", root ? root : ".");
    fixture_open(f);
    ys_store_close(f->store);
    f->store = NULL;
    REQUIRE(unlink(path_of(f, "")) == 0 && ys_fs_read(path, 1 << 20, &text) == YS_OK);
    sql(f, ys_buf_text(&text));
    ys_buf_free(&text);
    ys_free(path);
}

static int64_t version_of(const struct fixture *f)
{
    int64_t version = -1;
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    CHECK(sqlite3_open(path_of(f, ""), &db) == SQLITE_OK);
    if (sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
        version = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return version;
}

/* What readers get of the latest study, and what is verified of both. */
static void read_verified(const struct fixture *f, struct ys_buf *out)
{
    struct ys_store *store = NULL;
    CHECK_INT(read_folder(f->folder, out), 0);
    REQUIRE(ys_store_open(f->folder, YS_STORE_READ, &store) == YS_OK);
    for (int64_t study = 1; study <= 2; study++) {
        ys_json *found = NULL;
        REQUIRE(ys_store_verify(store, study, &found) == YS_OK);
        CHECK_INT(ys_json_get_int(found, "unverified", -1), 0);
        CHECK_INT(ys_json_size(ys_json_get(found, "damaged")), 0);
        CHECK_INT(ys_json_get_int(ys_json_get(found, "chain"), "unlinked", -1), 0);
        put_json(out, found);
    }
    ys_store_close(store);
}

static void version_2_is_carried_over_the_same_and_its_chain_holds(void)
{
    struct fixture f;
    struct ys_buf before = {0}, after = {0};
    load_version_2(&f);
    read_verified(&f, &before);
    CHECK_INT(version_of(&f), 2); /* a reader changes nothing */
    CHECK_HAS(ys_buf_text(&before), "\"windows\":{\"blocks\":");
    CHECK_HAS(ys_buf_text(&before), "\"metrics_version\":{\"value\":");
    REQUIRE(ys_store_open(f.folder, YS_STORE_WRITE, &f.store) == YS_OK);
    ys_store_close(f.store);
    f.store = NULL;
    CHECK_INT(version_of(&f), 3);
    read_verified(&f, &after);
    CHECK_TEXT(ys_buf_text(&after), ys_buf_text(&before));
    ys_buf_free(&before);
    ys_buf_free(&after);
    fixture_close(&f);
}

/* Opens results for writing in a process of its own, whose n-th allocation fails: its exit code. */
static int carry_over_until(const char *folder, int n)
{
    int state = 0;
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        struct ys_store *store = NULL;
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        ys_memory_must_suffice("yardstick");
        ys_mem_fail_at(n);
        _exit(ys_store_open(folder, YS_STORE_WRITE, &store) == YS_OK ? 0 : 1);
    }
    return pid > 0 && waitpid(pid, &state, 0) == pid && WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

static void version_2_is_carried_over_whole_or_not_at_all(void)
{
    struct fixture f;
    struct ys_buf before = {0};
    int ended = 0, code = YS_EXIT_MEMORY;
    load_version_2(&f);
    read_verified(&f, &before);
    for (int n = 1; code == YS_EXIT_MEMORY && n < 10000000; n += 1 + n / 4) {
        struct ys_buf after = {0};
        code = carry_over_until(f.folder, n);
        ended += code == YS_EXIT_MEMORY;
        CHECK_INT(version_of(&f), code == 0 ? 3 : 2);
        read_verified(&f, &after);
        CHECK_TEXT(ys_buf_text(&after), ys_buf_text(&before));
        ys_buf_free(&after);
    }
    printf("# %d ended on the way\n", ended);
    CHECK(code == 0 && ended > 20);
    ys_buf_free(&before);
    fixture_close(&f);
}

static void version_2_that_is_damaged_is_not_carried_over(void)
{
    struct fixture f;
    struct ys_buf before = {0}, after = {0};
    load_version_2(&f);
    sql(&f, "UPDATE metric SET doc = replace(doc, 'lower', 'power') WHERE run_id = 3 AND name = 'wall_s'");
    CHECK_INT(read_folder(f.folder, &before), 1);
    CHECK(ys_store_open(f.folder, YS_STORE_WRITE, &f.store) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "run 3 is not what link 4 was made of");
    CHECK_HAS(ys_error(), "--results DIR");
    CHECK_INT(version_of(&f), 2);
    CHECK_INT(read_folder(f.folder, &after), 1);
    CHECK_TEXT(ys_buf_text(&after), ys_buf_text(&before));
    sql(&f, "DROP TABLE link"); /* what no chain tells the checksums do */
    CHECK(ys_store_open(f.folder, YS_STORE_WRITE, &f.store) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "metrics are not as they were stored");
    ys_buf_free(&before);
    ys_buf_free(&after);
    fixture_close(&f);
}

static int migrate_with_no_room(const char *folder)
{
    struct ys_store *store = NULL;
    struct rlimit limit = {66000, 66000}; /* the probe of the folder fits, the database does not */
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(77);
        ys_status status = ys_store_open(folder, YS_STORE_WRITE, &store);
        _exit(status == YS_EIO && strstr(ys_error(), "no space left") ? 0 : 1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void a_migration_that_does_not_fit_changes_nothing(void)
{
    struct fixture f;
    struct ys_buf before = {0}, after = {0};
    fill(&f);
    REQUIRE(ys_store_open(f.folder, YS_STORE_WRITE, &f.store) == YS_OK);
    for (int round = 2; round < 100; round++)
        CHECK(put_run(f.store, 1, round, 0, "ok") == YS_OK);
    ys_store_close(f.store);
    make_version_1(&f);
    CHECK_INT(read_folder(f.folder, &before), 0);
    int code = migrate_with_no_room(f.folder);
    if (code == 77)
        tap_skip("cannot limit the size of files");
    else
        CHECK_INT(code, 0);
    CHECK_INT(read_folder(f.folder, &after), 0);
    CHECK_TEXT(ys_buf_text(&after), ys_buf_text(&before));
    REQUIRE(ys_store_open(f.folder, YS_STORE_WRITE, &f.store) == YS_OK); /* with room it is done */
    CHECK(put_run(f.store, 1, 100, 0, "ok") == YS_OK);
    ys_buf_free(&before);
    ys_buf_free(&after);
    fixture_close(&f);
}

static void a_damaged_study_or_trial_is_refused_by_name(void)
{
    struct fixture f;
    fill(&f);
    ys_json *out = NULL;
    sql(&f, "UPDATE trial SET name = 'c' WHERE id = 2");
    REQUIRE(ys_store_open(f.folder, YS_STORE_WRITE, &f.store) == YS_OK);
    CHECK(ys_store_trials_get(f.store, 2, &out) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "row 2 of its table trial");
    CHECK_HAS(ys_error(), "results.db");
    CHECK(put_run(f.store, 2, 7, 0, "ok") == YS_EFORMAT); /* writing does not make it whole */
    CHECK(ys_store_trials_get(f.store, 2, &out) == YS_EFORMAT);
    sql(&f, "UPDATE study SET started_s = started_s + 1 WHERE id = 2");
    CHECK(ys_store_study_get(f.store, 2, &out) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "row 2 of its table study");
    CHECK(ys_store_study_end(f.store, 2, YS_STUDY_DONE, 0, NULL) == YS_EFORMAT);
    CHECK(ys_store_study_get(f.store, 1, &out) == YS_OK); /* what is whole is within reach */
    ys_json_free(out);
    fixture_close(&f);
}

static void a_damaged_run_is_left_out_with_a_warning(void)
{
    struct fixture f;
    fill(&f);
    ys_json *tries = NULL;
    sql(&f, "UPDATE run SET facts = replace(facts, 'stop', 'stqp') WHERE id = 1;"
            "DELETE FROM series WHERE run_id = 3 AND name = 'step_loss';");
    REQUIRE(ys_store_open(f.folder, YS_STORE_READ, &f.store) == YS_OK);
    CHECK_INT(count_runs(f.store, 1), 1);
    CHECK_INT(ys_store_damaged(f.store), 1);
    CHECK_INT(count_runs(f.store, 2), 1);
    CHECK_INT(ys_store_damaged(f.store), 2);
    REQUIRE(ys_store_tries(f.store, 2, &tries) == YS_OK);
    REQUIRE(ys_json_size(tries) == 4);
    CHECK(ys_json_type_of(ys_json_get(ys_json_at(tries, 0), "status")) == YS_JSON_NULL);
    CHECK_TEXT(ys_json_get_text(ys_json_at(tries, 2), "status", ""), "ok");
    ys_json_free(tries);
    fixture_close(&f);
}

static void damaged_metrics_are_none_and_a_damaged_series_is_refused(void)
{
    struct fixture f;
    struct ys_series_set series = {0};
    ys_json *runs = NULL;
    fill(&f);
    sql(&f, "UPDATE metric SET value = 2 WHERE run_id = 1 AND name = 'wall_s';"
            "UPDATE series SET data = x'ffff' WHERE run_id = 2 AND name = 'block_end_ns'");
    REQUIRE(ys_store_open(f.folder, YS_STORE_READ, &f.store) == YS_OK);
    REQUIRE(ys_store_runs_get(f.store, 1, &runs) == YS_OK);
    REQUIRE(ys_json_size(runs) == 2);
    CHECK_INT(ys_json_size(ys_json_get(ys_json_at(runs, 0), "metrics")), 0);
    CHECK_INT(ys_json_size(ys_json_get(ys_json_at(runs, 1), "metrics")), 2);
    CHECK(ys_store_series_get(f.store, 2, &series) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "block_end_ns of run 2");
    CHECK_INT(series.count, 0);
    CHECK_INT(ys_store_damaged(f.store), 2);
    ys_json_free(runs);
    fixture_close(&f);
}

static void a_series_of_another_type_is_refused_also_without_a_checksum(void)
{
    struct fixture f;
    struct ys_series_set series = {0};
    fill(&f);
    make_version_1(&f);
    sql(&f, "UPDATE series SET is_real = 1, data = zeroblob(8 * count) WHERE run_id = 1 AND name = 'block_end_ns'");
    REQUIRE(ys_store_open(f.folder, YS_STORE_READ, &f.store) == YS_OK);
    CHECK(ys_store_series_get(f.store, 1, &series) == YS_EFORMAT);
    CHECK(ys_store_series_get(f.store, 2, &series) == YS_OK);
    ys_series_set_free(&series);
    fixture_close(&f);
}

static void a_lost_study_is_missed(void)
{
    struct fixture f;
    int64_t study = 0;
    fill(&f);
    sql(&f, "DELETE FROM study WHERE id = 2");
    REQUIRE(ys_store_open(f.folder, YS_STORE_READ, &f.store) == YS_OK);
    CHECK(ys_store_select(f.store, "last", &study, NULL) == YS_OK);
    CHECK_INT(study, 1);
    CHECK_INT(ys_store_damaged(f.store), 1);
    fixture_close(&f);
}

static void verifying_counts_all_rows_and_names_the_damaged(void)
{
    struct fixture f;
    ys_json *found = NULL;
    fill(&f);
    REQUIRE(ys_store_open(f.folder, YS_STORE_READ, &f.store) == YS_OK);
    REQUIRE(ys_store_verify(f.store, 2, &found) == YS_OK);
    CHECK_INT(ys_json_get_int(found, "rows", 0), 1 + 1 + 2 * (1 + 1 + 2 * (1 + 2 + 2)));
    CHECK_INT(ys_json_size(ys_json_get(found, "damaged")), 0);
    ys_json_free(found);
    sql(&f, "UPDATE metric SET form = 2 WHERE run_id = 3 AND name = 'wall_s'; UPDATE proof SET verdict = 'fail'");
    REQUIRE(ys_store_verify(f.store, 2, &found) == YS_OK);
    const ys_json *damaged = ys_json_get(found, "damaged");
    REQUIRE(ys_json_size(damaged) == 3);
    CHECK_TEXT(ys_json_text(ys_json_at(damaged, 0), ""), "proof 1 is not as it was stored");
    CHECK_TEXT(ys_json_text(ys_json_at(damaged, 2), ""), "metric 3 'wall_s' is not as it was stored");
    ys_json_free(found);
    fixture_close(&f);
}

TAP_MAIN(TAP_CASE(no_changed_byte_changes_what_is_read_without_a_word),
         TAP_CASE(no_changed_byte_of_an_earlier_version_ends_the_program),
         TAP_CASE(an_earlier_version_is_read_as_it_is_and_migrated_when_it_is_written),
         TAP_CASE(version_2_is_carried_over_the_same_and_its_chain_holds),
         TAP_CASE(version_2_is_carried_over_whole_or_not_at_all),
         TAP_CASE(version_2_that_is_damaged_is_not_carried_over),
         TAP_CASE(a_migration_that_does_not_fit_changes_nothing), TAP_CASE(a_damaged_study_or_trial_is_refused_by_name),
         TAP_CASE(a_damaged_run_is_left_out_with_a_warning),
         TAP_CASE(damaged_metrics_are_none_and_a_damaged_series_is_refused),
         TAP_CASE(a_series_of_another_type_is_refused_also_without_a_checksum), TAP_CASE(a_lost_study_is_missed),
         TAP_CASE(verifying_counts_all_rows_and_names_the_damaged))
