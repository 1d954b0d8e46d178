/* What is stored of a study beside its trials and runs: the document that ys_store_study_get() gives. */
#ifndef YS_STORE_STORED_STUDY_H
#define YS_STORE_STORED_STUDY_H

#include "base/json/record.h"

/** How a study stands. */
enum ys_study_state {
    YS_STUDY_RUNNING,
    YS_STUDY_DONE,
    YS_STUDY_INTERRUPTED,
    YS_STUDY_TIME_LIMIT,
    YS_STUDY_FAILED,
};
extern const struct ys_names ys_study_states; /* "running", "done", "interrupted", "time_limit", "failed" */

/** A network on a data set, as trials had it. */
struct ys_study_work {
    const char *model, *model_hash; /* hash: of a file; NULL for a name */
    int64_t parameters, multiply_adds;
    const char *data, *unit, *train_hash, *test_hash;
    int64_t train_count, test_count;
    int64_t classes;      /* of its rows; YS_FIELD_NONE where it was not stored */
    int verified;         /* 0 or 1; YS_NAME_NONE of a folder of images */
    int64_t skipped;      /* images of a folder; YS_FIELD_NONE of other data */
    const char *left_out; /* of a folder of images, what lies there and is none of its rows; NULL: nothing */
    const char *source;
    const char
        *form; /* of data that follow the model, as ys_data_form() has it; NULL of others, and not stored earlier */
};
extern const struct ys_record ys_study_work_record;
/** That line of `works`, an array of them, in *work, borrowed; false where there is none (*work is then as after
 * ys_record_init()). */
bool ys_study_work_find(const ys_json *works, const char *model, const char *data, struct ys_study_work *work);
/** The same, but of that form where the line says one; `form` NULL: any. */
bool ys_study_work_find_form(const ys_json *works, const char *model, const char *data, const char *form,
                             struct ys_study_work *work);

/** What the sessions of a study took so far; NaN where that is not known. */
struct ys_study_timing {
    double prepare_s, prove_s, attack_s, audit_s, measure_s;
};

/** Everything is borrowed. What a study that has just begun does not have yet, or an earlier yardstick did not store,
 * is NULL, NaN or YS_FIELD_NONE. */
struct ys_study_record {
    const char *name, *job_text, *job_hash;
    const ys_json *job; /* its study keys */
    int64_t trials_planned, started_s, seed;
    const char *command, *version;
    const ys_json *model_info; /* array of works */
    /* Put there by the store. */
    const char *folder;
    int status; /* enum ys_study_state; YS_NAME_NONE where it is not told */
    int64_t id, ended_s, exit_code;
    const ys_json *timing;
    const char *imported; /* the file that it came from */
};
extern const struct ys_record ys_study_record;
/** Of a stored document. */
void ys_study_record_read(const ys_json *document, struct ys_study_record *study, struct ys_study_timing *timing);

#endif
