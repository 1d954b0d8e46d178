#include "store/stored_study.h"

#include <string.h>

static const char *const state_words[] = {[YS_STUDY_RUNNING] = "running",
                                          [YS_STUDY_DONE] = "done",
                                          [YS_STUDY_INTERRUPTED] = "interrupted",
                                          [YS_STUDY_TIME_LIMIT] = "time_limit",
                                          [YS_STUDY_FAILED] = "failed"};
const struct ys_names ys_study_states = YS_NAMES("state of a study", state_words);

#define WORK                      struct ys_study_work
#define TEXT(type, member, what)  YS_FIELD(type, member, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, what)
#define COUNT(type, member, what) YS_FIELD(type, member, YS_FIELD_INT, "1", 0, what)
static const struct ys_field work_fields[] = {
    TEXT(WORK, model, "name or file"),
    TEXT(WORK, model_hash, "SHA-256 of the file; null for a name"),
    COUNT(WORK, parameters, "of the network"),
    COUNT(WORK, multiply_adds, "of a row, forward"),
    TEXT(WORK, data, "data set"),
    TEXT(WORK, unit, "of a row"),
    TEXT(WORK, train_hash, "SHA-256 of the rows to train on"),
    TEXT(WORK, test_hash, "likewise to test on"),
    COUNT(WORK, train_count, "rows"),
    COUNT(WORK, test_count, "rows"),
    YS_FIELD(WORK, verified, YS_FIELD_TRUTH, NULL, YS_FIELD_NULL, "the published one; null of a folder of images"),
    YS_FIELD(WORK, skipped, YS_FIELD_INT, "rows", YS_FIELD_LATER | YS_FIELD_NULL,
             "images of a folder that were left out; null of other data"),
    YS_FIELD(WORK, classes, YS_FIELD_INT, "1", YS_FIELD_LATER | YS_FIELD_NULL, "of a row; null where it has none"),
    YS_FIELD(WORK, left_out, YS_FIELD_TEXT, NULL, YS_FIELD_LATER | YS_FIELD_NULL,
             "what else lies in a folder of images; null of nothing and of other data"),
    TEXT(WORK, source, "where the data came from"),
    YS_FIELD(WORK, form, YS_FIELD_TEXT, NULL, YS_FIELD_LATER | YS_FIELD_NULL,
             "in which data that follow the model were prepared; null of others"),
};
const struct ys_record ys_study_work_record = YS_RECORD("work", WORK, work_fields);

bool ys_study_work_find(const ys_json *works, const char *model, const char *data, struct ys_study_work *work)
{
    return ys_study_work_find_form(works, model, data, NULL, work);
}

bool ys_study_work_find_form(const ys_json *works, const char *model, const char *data, const char *form,
                             struct ys_study_work *work)
{
    for (size_t i = 0; model && data && i < ys_json_size(works); i++) {
        ys_record_glance(&ys_study_work_record, ys_json_at(works, i), work);
        const bool fits = !form || !work->form || strcmp(work->form, form) == 0;
        if (fits && work->model && work->data && strcmp(work->model, model) == 0 && strcmp(work->data, data) == 0)
            return true;
    }
    ys_record_init(&ys_study_work_record, work);
    return false;
}

#define STUDY struct ys_study_record
#define LATER (YS_FIELD_NULL | YS_FIELD_MAY_LACK)
static const struct ys_field study_fields[] = {
    TEXT(STUDY, name, "of the study"),
    TEXT(STUDY, job_text, "as it was given; null of flags alone"),
    TEXT(STUDY, job_hash, "SHA-256 of its trials"),
    YS_FIELD(STUDY, job, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "its study keys"),
    YS_FIELD(STUDY, trials_planned, YS_FIELD_INT, "1", YS_FIELD_NULL, "trials of the job"),
    YS_FIELD(STUDY, started_s, YS_FIELD_INT, "s", YS_FIELD_NULL, "since 1970"),
    YS_FIELD(STUDY, seed, YS_FIELD_INT, NULL, YS_FIELD_NULL, "of round 0"),
    TEXT(STUDY, command, "that began it"),
    TEXT(STUDY, version, "of yardstick"),
    YS_FIELD(STUDY, model_info, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "works"),
    YS_FIELD(STUDY, folder, YS_FIELD_TEXT, NULL, LATER, "below the results folder"),
    YS_FIELD_NAMED(STUDY, status, &ys_study_states, LATER, "running, or how it ended"),
    YS_FIELD(STUDY, id, YS_FIELD_INT, NULL, LATER, "in the store"),
    YS_FIELD(STUDY, ended_s, YS_FIELD_INT, "s", LATER, "since 1970"),
    YS_FIELD(STUDY, exit_code, YS_FIELD_INT, NULL, LATER, "of its last session"),
    YS_FIELD(STUDY, timing, YS_FIELD_JSON, NULL, LATER, "what its sessions took"),
    YS_FIELD(STUDY, imported, YS_FIELD_TEXT, NULL, LATER, "the file that it came from"),
};
const struct ys_record ys_study_record = YS_RECORD("study", STUDY, study_fields);

#define TIMING             struct ys_study_timing
#define SPAN(member, what) YS_FIELD(TIMING, member, YS_FIELD_REAL, "s", YS_FIELD_NULL, what)
static const struct ys_field timing_fields[] = {
    SPAN(prepare_s, "preparing"), SPAN(prove_s, "proving"),
    YS_FIELD(TIMING, attack_s, YS_FIELD_REAL, "s", YS_FIELD_NULL | YS_FIELD_LATER, "attacks on trained weights"),
    YS_FIELD(TIMING, audit_s, YS_FIELD_REAL, "s", YS_FIELD_NULL | YS_FIELD_LATER, "audits after the last round"),
    SPAN(measure_s, "from the first run to the last")};
static const struct ys_record timing_record = YS_RECORD("timing", TIMING, timing_fields);

void ys_study_record_read(const ys_json *document, struct ys_study_record *study, struct ys_study_timing *timing)
{
    ys_record_glance(&ys_study_record, document, study);
    ys_record_glance(&timing_record, study->timing, timing);
}
