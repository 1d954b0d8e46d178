/* A results folder for one test, and short ways to fill it. */
#ifndef YS_TESTS_STORE_FIXTURE_H
#define YS_TESTS_STORE_FIXTURE_H

#include "base/files/fs.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "recorded.h"
#include "store/store.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    char folder[200];
    struct ys_store *store; /* open for writing */
};

__attribute__((format(printf, 1, 2), unused)) static ys_json *make_json(const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ys_json *value = NULL;
    if (ys_json_parse(text, strlen(text), "fixture", &value) != YS_OK)
        abort();
    return value;
}

static void fixture_open(struct fixture *fixture)
{
    const char *base = getenv("TMPDIR");
    snprintf(fixture->folder, sizeof fixture->folder, "%s/ys-store-XXXXXX", base ? base : "/tmp");
    fixture->store = NULL;
    if (!mkdtemp(fixture->folder) || ys_store_open(fixture->folder, YS_STORE_WRITE, &fixture->store) != YS_OK)
        abort();
}

static void fixture_close(struct fixture *fixture)
{
    ys_store_close(fixture->store);
    if (ys_fs_remove_tree(fixture->folder) != YS_OK)
        printf("# %s\n", ys_error());
}

static int64_t begin_study(struct ys_store *store, const char *name)
{
    ys_json *doc = make_json("{\"name\":\"%s\",\"seed\":1,\"started_s\":1795233482}", name);
    int64_t id = 0;
    if (ys_store_study_begin(store, doc, &id) != YS_OK)
        printf("# %s\n", ys_error());
    ys_json_free(doc);
    return id;
}

/* A trial as JSON; a faulty one is no trial without an id. */
__attribute__((unused)) static ys_status put_trial_json(struct ys_store *store, int64_t study_id, const ys_json *json,
                                                        int64_t *trial_id)
{
    struct ys_trial_record trial;
    YS_TRY(ys_record_read(&ys_trial_record, json, "fixture", &trial));
    ys_status status = ys_store_trial_put(store, study_id, &trial, trial_id);
    ys_record_fini(&ys_trial_record, &trial);
    return status;
}

__attribute__((unused)) static int64_t put_trial(struct ys_store *store, int64_t study_id, const char *name, int index)
{
    ys_json *trial = make_json("{\"id\":\"%s\",\"index\":%d,\"section\":\"s\",\"factors\":{}}", name, index);
    int64_t id = 0;
    if (put_trial_json(store, study_id, trial, &id) != YS_OK)
        printf("# %s\n", ys_error());
    ys_json_free(trial);
    return id;
}

/* Those of a recorded run that ended well, or of one that crashed, with another word for how: the caller's until the
 * next call. */
__attribute__((unused)) static ys_json *make_facts(const char *status)
{
    static struct recorded runs[2];
    struct recorded *run = &runs[strcmp(status, "ok") == 0];
    if (!run->doc)
        *run = recorded_open(run == &runs[1] ? "null" : "crashed");
    if (ys_json_set_string(run->facts, "status", status) != YS_OK)
        abort();
    return run->facts;
}

__attribute__((unused)) static ys_status put_run(struct ys_store *store, int64_t trial_id, int64_t round, int attempt,
                                                 const char *status)
{
    struct ys_series_set series = {0};
    for (int i = 0; i < 100; i++) {
        ys_series_add_int(&series, "block_end_ns", 7200000000000 + i * 1000003);
        ys_series_add_real(&series, "step_loss", 2.0 / (i + 1));
    }
    int64_t run_id = 0;
    ys_status put = ys_store_run_put(store, trial_id, round, attempt, make_facts(status), &series, &run_id);
    ys_series_set_free(&series);
    return put;
}

/* The rounds of a study as JSON. */
__attribute__((unused)) static ys_status read_rounds(struct ys_store *store, int64_t study_id, ys_json **json)
{
    struct ys_store_rounds rounds;
    YS_TRY(ys_store_rounds(store, study_id, &rounds));
    *json = ys_json_array();
    for (size_t i = 0; i < rounds.count; i++) {
        const struct ys_store_round *round = &rounds.items[i];
        (void)!ys_json_append(*json,
                              make_json("{\"round\":%lld,\"attempt\":%lld,\"expected\":%lld,"
                                        "\"present\":%lld,\"complete\":%s}",
                                        (long long)round->round, (long long)round->attempt, (long long)round->expected,
                                        (long long)round->present, round->complete ? "true" : "false"));
    }
    ys_free(rounds.items);
    return YS_OK;
}

/* Rows of `trial_id`; -1 when they cannot be read. */
__attribute__((unused)) static int count_runs(struct ys_store *store, int64_t trial_id)
{
    ys_json *runs = NULL;
    if (ys_store_runs_get(store, trial_id, &runs) != YS_OK)
        return -1;
    int count = (int)ys_json_size(runs);
    ys_json_free(runs);
    return count;
}

#endif
