/* Results on disk: a folder with `results.db` (SQLite) and one folder a study. docs/store.md has the tables.
 *
 * A run is committed, and synced, before the call that stores it returns; killed at any moment, a writer loses at most
 * the run it had not yet handed over. One writer at a time, held off by a lock file; any number of readers beside it.
 * Facts are JSON text, series are blobs (stat/series.h); everything else is computed from them.
 *
 * Every row carries a checksum, and every read compares it. A damaged study or trial is YS_EFORMAT, naming the row; a
 * damaged run, proof or description of the machine is warned of once and left out, and ys_store_damaged() counts it, so
 * that what is undamaged stays within reach and no changed number passes for a measured one.
 *
 * Every function may also answer YS_EIO (the disk refused; the message names the folder and the remedy),
 * YS_EFORMAT (the database is damaged) and YS_EBUSY (another program keeps the database locked). Ids are above 0. JSON
 * that is handed out is the caller's. */
#ifndef YS_STORE_STORE_H
#define YS_STORE_STORE_H

#include "base/files/working_folder.h"
#include "base/json/json.h"
#include "base/status.h"
#include "stat/series.h"
#include "store/stored_study.h"
#include "store/stored_trial.h"
#include <stdint.h>

#define YS_STORE_VERSION 3 /* of the tables: PRAGMA user_version */

enum ys_store_mode { YS_STORE_WRITE, YS_STORE_READ };
struct ys_store;

/** WRITE makes folder and database where they are absent, takes the lock, and writes once into both to see that it can;
 * tables of an earlier version become this one, in one transaction; what runs left behind that were killed is removed.
 *   YS_EBUSY    another process writes here (named)
 *   YS_EIO      the folder or the database cannot be written
 *   YS_EFORMAT  results.db is of a newer yardstick, no results of yardstick at all, of an earlier version and
 *               damaged, or, to be read, went from beside folders of studies
 * READ changes nothing and needs no lock; YS_ENOTFOUND when there are no results in `folder`. Tables of an earlier
 * version are read as they are; of those without checksums one line says that they cannot be verified. Where the folder
 * cannot be written and a journal lies in it that is not part of the database yet, both are read from a copy below
 * TMPDIR. */
ys_status ys_store_open(const char *folder, enum ys_store_mode mode, struct ys_store **store) YS_MUST_CHECK;
/** NULL is fine. After it the database is one ordinary file. */
void ys_store_close(struct ys_store *store);
const char *ys_store_folder(const struct ys_store *store); /* absolute; borrowed until close */
/** Whether a process writes into these results now. */
bool ys_store_is_written(const struct ys_store *store);
/** How many rows were met so far that are damaged or lost, and left out with a warning. */
size_t ys_store_damaged(const struct ys_store *store);

/* Writing. Each function is one transaction, synced before it returns; between these two many are one: */

/** Begins a transaction. Whatever it returns YS_OK for must be ended. Inside another one both only count: the outermost
 * decides for all. */
ys_status ys_store_begin(struct ys_store *store) YS_MUST_CHECK;
/** Ends it: commits when `status` is YS_OK and nothing in it failed, otherwise leaves everything as it was before.
 * Returns `status`, or why it could not be committed. */
ys_status ys_store_end(struct ys_store *store, ys_status status) YS_MUST_CHECK;

/** Begins a study with status "running". `study_doc` holds at least `name`. Without a member `folder` one is chosen,
 * "NNN-name", NNN one more than the highest so far; the folder is made below the results folder either way, and removed
 * again if the transaction fails. A folder that belongs to no study and is empty is used again. YS_EINVAL: the folder
 * belongs to another study. */
ys_status ys_store_study_begin(struct ys_store *store, const ys_json *study_doc, int64_t *study_id) YS_MUST_CHECK;
/** `timing`: {prepare_s, prove_s, attack_s, audit_s, measure_s} or NULL.
 * YS_ENOTFOUND: no such study. */
ys_status ys_store_study_end(struct ys_store *store, int64_t study_id, enum ys_study_state state, int exit_code,
                             const ys_json *timing) YS_MUST_CHECK;
/** The same of a study that was measured elsewhere, and ended at `ended_s`, in seconds since 1970. */
ys_status ys_store_study_end_at(struct ys_store *store, int64_t study_id, enum ys_study_state state, int exit_code,
                                const ys_json *timing, int64_t ended_s) YS_MUST_CHECK;
/** Sets an ended study back to "running"; its start stays what it was. YS_ENOTFOUND. */
ys_status ys_store_study_resume(struct ys_store *store, int64_t study_id) YS_MUST_CHECK;
/** The machine, as {…}; replaces what was there. */
ys_status ys_store_host_put(struct ys_store *store, int64_t study_id, const ys_json *host) YS_MUST_CHECK;
/** A trial of that name is replaced, keeping its runs: *trial_id stays the same. Number and proof of `trial` are not
 * looked at. */
ys_status ys_store_trial_put(struct ys_store *store, int64_t study_id, const struct ys_trial_record *trial,
                             int64_t *trial_id) YS_MUST_CHECK;
/** Notes in the trial, as `given_up` {round, reason}, that it is not tried again after `round`. */
ys_status ys_store_trial_give_up(struct ys_store *store, int64_t trial_id, int64_t round,
                                 const char *reason) YS_MUST_CHECK;
/** Replaces the trial's proof. */
ys_status ys_store_proof_put(struct ys_store *store, int64_t trial_id, const ys_json *proof) YS_MUST_CHECK;
/** One transaction, synced: facts and all series, or nothing. YS_EINVAL: this round and attempt of the trial are stored
 * already. */
ys_status ys_store_run_put(struct ys_store *store, int64_t trial_id, int64_t round, int attempt, const ys_json *facts,
                           const struct ys_series_set *series, int64_t *run_id) YS_MUST_CHECK;
/** Replaces all metrics of the run by `metrics`, {name: {value, …}}. */
ys_status ys_store_metric_put(struct ys_store *store, int64_t run_id, const ys_json *metrics) YS_MUST_CHECK;

/** Adds the run, with all that was stored of it, to the chain of hashes that ys_store_verify() goes through. Once all
 * of it is stored: what is stored of it later shows as a change. YS_ENOTFOUND. */
ys_status ys_store_run_link(struct ys_store *store, int64_t run_id) YS_MUST_CHECK;

/* Reading. YS_ENOTFOUND when the id does not exist. */

/** Whether the first `size` bytes of `word` are a date as yardstick writes it, "2026-11-26T03:17:33Z", or its beginning
 * from the day on. */
bool ys_store_is_date(const char *word, size_t size);
/** Finds what `selector` names: `last`, the id, the name (its latest study), the folder of a study or a date (the
 * latest that began then, see ys_store_is_date()); after a `/` the id or the index of one of its trials. *trial_id is 0
 * when no trial is named; `trial_id` may be NULL when none may be. YS_ENOTFOUND lists what there is. */
ys_status ys_store_select(struct ys_store *store, const char *selector, int64_t *study_id,
                          int64_t *trial_id) YS_MUST_CHECK;

/** All studies, oldest first: [{id, name, folder, status, started_s, ended_s, trials, runs}]. */
ys_status ys_store_studies(struct ys_store *store, ys_json **studies) YS_MUST_CHECK;
/** The study_doc with id, folder, started_s, ended_s (null while running), status, exit_code, timing. */
ys_status ys_store_study_get(struct ys_store *store, int64_t study_id, ys_json **study) YS_MUST_CHECK;
/** The last link of the study in the chain of hashes, {link, hash}: what ys_store_verify() compares with its rows. null
 * where there is none, or it cannot be read. */
ys_status ys_store_chain_get(struct ys_store *store, int64_t study_id, ys_json **chain) YS_MUST_CHECK;
/** null when none was stored. */
ys_status ys_store_host_get(struct ys_store *store, int64_t study_id, ys_json **host) YS_MUST_CHECK;
/** In job order, as they are stored, with `trial_id` and `proof` (null without one). */
ys_status ys_store_trials_get(struct ys_store *store, int64_t study_id, ys_json **trials) YS_MUST_CHECK;
/** The same as structs. */
ys_status ys_store_trials_load(struct ys_store *store, int64_t study_id, struct ys_trial_records *trials) YS_MUST_CHECK;
/** By round, then attempt: [{run_id, round, attempt, status, facts, metrics}]; metrics is {} when none were stored. */
ys_status ys_store_runs_get(struct ys_store *store, int64_t trial_id, ys_json **runs) YS_MUST_CHECK;
/** The last run of the trial in that round that ended well. YS_ENOTFOUND: there is none. */
ys_status ys_store_run_find(struct ys_store *store, int64_t trial_id, int64_t round, int64_t *run_id) YS_MUST_CHECK;
/** A stored run; texts are borrowed until the reader returns. */
struct ys_run_row {
    int64_t run_id, round, attempt;
    const char *status;
    const char *facts; /* the text of an object */
    size_t facts_size;
};
/** A metric of it, likewise. */
struct ys_metric_row {
    int64_t position; /* among those of the run, from 0 */
    const char *name;
    double value;                 /* NaN: none */
    const struct ys_store *store; /* for these two: */
    struct sqlite3_stmt *row;
};
struct ys_run_metric;
/** What is stored of it (store/stored_metric.h), into *metric, which is overwritten. YS_EFORMAT. */
ys_status ys_metric_row_read(const struct ys_metric_row *row, struct ys_run_metric *metric) YS_MUST_CHECK;
/** Its object, as it was put. YS_EFORMAT. */
ys_status ys_metric_row_json(const struct ys_metric_row *row, ys_json **metric) YS_MUST_CHECK;
/** Who is told of stored runs. What a function answers other than YS_OK ends the reading and is its answer. */
struct ys_run_reader {
    void *context;
    const char *names[2]; /* of the metrics that are wanted; NULL first: all. Others are not looked at, not even whether
                             they are damaged */
    ys_status (*run)(void *context, const struct ys_run_row *row);
    /* Of that run, in no order; no function: none are wanted. NULL: those so far are to be forgotten, for one is
     * damaged. */
    ys_status (*metric)(void *context, const struct ys_metric_row *metric);
};
/** The runs of a trial by round, then attempt, as ys_store_runs_get() finds them and warns of them. */
ys_status ys_store_runs_each(struct ys_store *store, int64_t trial_id,
                             const struct ys_run_reader *reader) YS_MUST_CHECK;
/** Adds the run's series to `series`, which is empty. On failure it is emptied again. */
ys_status ys_store_series_get(struct ys_store *store, int64_t run_id, struct ys_series_set *series) YS_MUST_CHECK;

/** Every run of the study, by round, attempt and time: [{trial_id, round, attempt, status}]; `status` is null for one
 * that is damaged. */
ys_status ys_store_tries(struct ys_store *store, int64_t study_id, ys_json **tries) YS_MUST_CHECK;
/** A round of which anything is stored. A trial is expected in it unless it cannot run at all (its JSON has a `status`
 * other than "ok"), was given up in an earlier round, or the study is done. */
struct ys_store_round {
    int64_t round, attempt;    /* the highest attempt */
    int64_t expected, present; /* trials; present: with a run of that attempt that was not cancelled */
    bool complete;
};
struct ys_store_rounds {
    struct ys_store_round *items; /* owned (ys_free), ascending; NULL when `count` is 0 */
    size_t count;
};
ys_status ys_store_rounds(struct ys_store *store, int64_t study_id, struct ys_store_rounds *rounds) YS_MUST_CHECK;
/** Sum of the metric wall_s of the study's runs, and how many have it (may be NULL). */
ys_status ys_store_wall_s(struct ys_store *store, int64_t study_id, double *seconds, int64_t *runs) YS_MUST_CHECK;

/** Compares every row of the study with its checksum and with the chain of hashes, goes through the whole chain, and
 * has SQLite check the whole file: {rows, unverified: rows without a checksum, damaged: [texts], chain: {links, head:
 * the last hash or null, unlinked: runs of the study that are no part of it, study: its last link, as of
 * ys_store_chain_get()}}. */
ys_status ys_store_verify(struct ys_store *store, int64_t study_id, ys_json **found) YS_MUST_CHECK;

/* What runs leave in the results folder that ended badly: weights, checkpoints, files half written. */

/** Removes it from the folder of one run, which nobody is running. `sweep` as for ys_working_sweep(); NULL: quietly. */
void ys_store_sweep_run(const char *folder, const struct ys_sweep *sweep);
/** Removes it from the whole results folder; one that is none is fine. YS_EBUSY: somebody writes there. */
ys_status ys_store_sweep(const char *folder, const struct ys_sweep *sweep) YS_MUST_CHECK;

#endif
