/* The rows of the tables: what of each its checksum covers, and what is done about one that is not as it was stored.
 *
 * Column `sum` of every row is row_sum(table, columns...): a checksum of its name and of every other column of it, so
 * that a changed byte shows. Column `parts` of a study, a trial and a run is the number of rows that belong to it, so
 * that a lost one shows. Of this room alone. */
#ifndef YS_STORE_STORED_ROWS_H
#define YS_STORE_STORED_ROWS_H

#include "base/buf.h"
#include "store/database.h"

enum ys_row_table {
    YS_ROW_STUDY,
    YS_ROW_HOST,
    YS_ROW_TRIAL,
    YS_ROW_PROOF,
    YS_ROW_RUN,
    YS_ROW_SERIES,
    YS_ROW_METRIC,
    YS_ROW_TABLES
};

/* What `sum` has to be, as SQL over the row. */
#define YS_SUM_OF_STUDY                                                                                                \
    "row_sum('study', study.id, study.name, study.folder, study.started_s, study.ended_s, study.status,"               \
    " study.exit_code, study.timing, study.doc, study.parts)"
#define YS_SUM_OF_HOST  "row_sum('host', host.study_id, host.doc)"
#define YS_SUM_OF_TRIAL "row_sum('trial', trial.id, trial.study_id, trial.position, trial.name, trial.doc, trial.parts)"
#define YS_SUM_OF_PROOF "row_sum('proof', proof.trial_id, proof.verdict, proof.doc)"
#define YS_SUM_OF_RUN                                                                                                  \
    "row_sum('run', run.id, run.trial_id, run.round, run.attempt, run.status, run.stored_s, run.facts, run.parts)"
#define YS_SUM_OF_SERIES                                                                                               \
    "row_sum('series', series.run_id, series.position, series.name, series.is_real, series.count, series.data)"
/* As store/stored_metric.h lists them, and the form's text, which stands for its number. */
#define YS_METRIC_COLUMNS                                                                                              \
    "metric.value, metric.reason, metric.note, metric.cpu_s, metric.steady, metric.steady_from, metric.\"left\","      \
    " metric.windows, (SELECT metric_form.doc FROM metric_form WHERE metric_form.id = metric.form)"
enum { YS_METRIC_COLUMN_COUNT = 9 };
#define YS_SUM_OF_METRIC "row_sum('metric', metric.run_id, metric.position, metric.name, " YS_METRIC_COLUMNS ")"

/* 1 for a row that is as it was stored. */
#define YS_STUDY_INTACT  "study.sum IS " YS_SUM_OF_STUDY
#define YS_HOST_INTACT   "host.sum IS " YS_SUM_OF_HOST
#define YS_TRIAL_INTACT  "trial.sum IS " YS_SUM_OF_TRIAL
#define YS_PROOF_INTACT  "proof.sum IS " YS_SUM_OF_PROOF
#define YS_SERIES_INTACT "series.sum IS " YS_SUM_OF_SERIES
#define YS_METRIC_INTACT "metric.sum IS " YS_SUM_OF_METRIC

/* How many of the rows that belong to it are there. */
#define YS_PARTS_OF_STUDY                                                                                              \
    "(SELECT count(*) FROM trial WHERE trial.study_id = study.id) +"                                                   \
    " (SELECT count(*) FROM host WHERE host.study_id = study.id)"
#define YS_PARTS_OF_TRIAL                                                                                              \
    "(SELECT count(*) FROM run WHERE run.trial_id = trial.id) +"                                                       \
    " (SELECT count(*) FROM proof WHERE proof.trial_id = trial.id)"
#define YS_PARTS_OF_RUN                                                                                                \
    "(SELECT count(*) FROM series WHERE series.run_id = run.id) +"                                                     \
    " (SELECT count(*) FROM metric WHERE metric.run_id = run.id)"

/* A run is one thing with its series and metrics. */
#define YS_RUN_INTACT "(run.sum IS " YS_SUM_OF_RUN " AND coalesce(run.parts - (" YS_PARTS_OF_RUN "), 0) = 0)"

struct ys_row_info {
    const char *table;
    const char *sum;      /* YS_SUM_OF_... */
    const char *parts;    /* YS_PARTS_OF_..., or NULL */
    const char *key;      /* what names a row of it to a reader */
    const char *of_study; /* the condition that it belongs to study ?1 */
};
extern const struct ys_row_info ys_row_infos[YS_ROW_TABLES];

/** Appends a value so that no two values, and no two rows of values, are the same bytes. */
void ys_row_put_value(struct ys_buf *bytes, sqlite3_value *value);

/** Makes row_sum() and metric_doc() known to the open database. Of tables without checksums (version 1) the former is
 * null, as theirs are; the latter is of YS_METRIC_COLUMNS the text of the metric's object. */
ys_status ys_row_functions_register(struct ys_store *store) YS_MUST_CHECK;
void ys_row_metric_doc(sqlite3_context *context, int count, sqlite3_value **columns);

/** Puts a metric, an object, into the row of its own, with its checksum; the run is not sealed. */
ys_status ys_row_put_metric(struct ys_store *store, int64_t run_id, int64_t position, const char *name,
                            const ys_json *metric) YS_MUST_CHECK;

/** YS_ENOTFOUND: there is no row `id` of the table (study, trial or run); YS_EFORMAT: it is damaged. */
ys_status ys_row_require(struct ys_store *store, enum ys_row_table table, int64_t id) YS_MUST_CHECK;
/** Sets the checksum of row `id` (of study, trial or run) after it was written; its `parts` grow by `more` before. */
ys_status ys_row_seal(struct ys_store *store, enum ys_row_table table, int64_t id, int64_t more) YS_MUST_CHECK;

/** The failure of a command that cannot do without row `id`, which is damaged. */
ys_status ys_row_fail(struct ys_store *store, enum ys_row_table table, int64_t id);
/** Counts a row that is done without; warns of it, once, with the words of `format` and where it lies. */
void ys_row_note(struct ys_store *store, enum ys_row_table table, int64_t id, const char *format, ...) YS_PRINTF(4, 5);
/** The same of run `id` of round `round` (from 0) of the trial of that name, which may be NULL. */
void ys_row_note_run(struct ys_store *store, int64_t id, int64_t round, const char *trial);
/** Warns of `lost` rows that belong to row `id` and are not there; none is fine. */
void ys_row_note_lost(struct ys_store *store, enum ys_row_table table, int64_t id, int64_t lost);

#endif
