#include "store/stored_trial.h"

#include "base/mem.h"

#include <string.h>

static const char *const verdict_words[] = {
    [YS_PROOF_PASS] = "pass", [YS_PROOF_WEAK] = "weak", [YS_PROOF_FAIL] = "fail", [YS_PROOF_NONE] = "none"};
const struct ys_names ys_proof_verdicts = YS_NAMES("verdict of a proof", verdict_words);

enum { MAY_LACK = YS_FIELD_NULL | YS_FIELD_MAY_LACK, LATER = YS_FIELD_NULL | YS_FIELD_LATER };

#define OF_FRAMEWORK(member, kind, flags, what) YS_FIELD(struct ys_trial_framework, member, kind, NULL, flags, what)
static const struct ys_field framework_fields[] = {
    OF_FRAMEWORK(name, YS_FIELD_TEXT, 0, "of its recipe"),
    OF_FRAMEWORK(version, YS_FIELD_TEXT, LATER, "of the framework"),
    OF_FRAMEWORK(title, YS_FIELD_TEXT, LATER, "its name for people"),
    OF_FRAMEWORK(no_work, YS_FIELD_FLAG, YS_FIELD_LATER, "whether it does nothing, by declaration"),
    OF_FRAMEWORK(emulated, YS_FIELD_FLAG, YS_FIELD_LATER, "whether it runs under an emulator, by declaration"),
    OF_FRAMEWORK(closure, YS_FIELD_TEXT, MAY_LACK, "SHA-256 over recipe, adapter and pinned requirements"),
    OF_FRAMEWORK(recipe, YS_FIELD_TEXT, MAY_LACK, "its path, where it is none of yardstick's own"),
    OF_FRAMEWORK(fingerprint, YS_FIELD_TEXT, MAY_LACK, "over the files of its environment, where it has one"),
    OF_FRAMEWORK(changes, YS_FIELD_TEXT, MAY_LACK, "a sentence, where these are not as they were installed"),
    OF_FRAMEWORK(unpinned, YS_FIELD_TEXT, MAY_LACK, "a sentence, where its packages were resolved, not pinned"),
};
const struct ys_record ys_trial_framework_record = YS_RECORD("framework", struct ys_trial_framework, framework_fields);

static const struct ys_field given_up_fields[] = {
    YS_FIELD(struct ys_trial_given_up, round, YS_FIELD_INT, NULL, 0, "the last that it has a run of"),
    YS_FIELD(struct ys_trial_given_up, reason, YS_FIELD_TEXT, NULL, MAY_LACK, "words that follow \"it\""),
};
static const struct ys_record given_up_record = YS_RECORD("given_up", struct ys_trial_given_up, given_up_fields);

#define OF_TRIAL(member, kind, flags, what)     YS_FIELD(struct ys_trial_record, member, kind, NULL, flags, what)
#define PART(member, kind, record, flags, what) YS_FIELD_OF(struct ys_trial_record, member, kind, record, flags, what)
static const struct ys_field fields[] = {
    OF_TRIAL(id, YS_FIELD_TEXT, 0, "its name, for people"),
    OF_TRIAL(index, YS_FIELD_INT, YS_FIELD_LATER, "its number inside the study: place in the job, from 0"),
    OF_TRIAL(section, YS_FIELD_TEXT, LATER, "of the job"),
    OF_TRIAL(factors, YS_FIELD_JSON, LATER, "the keys that vary in that section, with this trial's values"),
    PART(keys, YS_FIELD_OBJECT, &ys_trial_settings_record, YS_FIELD_LATER, "the settings, resolved"),
    OF_TRIAL(options, YS_FIELD_JSON, LATER, "of the framework's recipe, by name"),
    OF_TRIAL(env, YS_FIELD_JSON, LATER, "environment variables that the job set"),
    OF_TRIAL(unsupported, YS_FIELD_TEXT, MAY_LACK, "why the job itself knows that it cannot run"),
    PART(framework, YS_FIELD_OBJECT_OWNED, &ys_trial_framework_record, MAY_LACK, "null before it was looked for"),
    YS_FIELD_NAMED(struct ys_trial_record, status, &ys_run_statuses, MAY_LACK, "why it cannot run; absent: it can"),
    OF_TRIAL(reason, YS_FIELD_TEXT, MAY_LACK, "of that status"),
    OF_TRIAL(command, YS_FIELD_TEXT, MAY_LACK, "that would help"),
    PART(given_up, YS_FIELD_OBJECT_OWNED, &given_up_record, MAY_LACK, "why and when it got no more runs"),
    OF_TRIAL(trial_id, YS_FIELD_INT, MAY_LACK, "its number in the store"),
    OF_TRIAL(proof, YS_FIELD_JSON, MAY_LACK, "null where none was made, or is left"),
};
const struct ys_record ys_trial_record = YS_RECORD("trial", struct ys_trial_record, fields);

ys_json *ys_trial_record_job_json(const struct ys_trial_record *trial)
{
    struct ys_trial_record plain = *trial; /* borrows */
    plain.framework = NULL;
    plain.status = YS_NAME_NONE;
    plain.reason = plain.command = NULL;
    plain.given_up = NULL;
    plain.trial_id = YS_FIELD_NONE;
    plain.proof = NULL;
    return ys_record_json(&ys_trial_record, &plain);
}

bool ys_trial_record_can_run(const struct ys_trial_record *trial)
{
    return trial->status == YS_NAME_NONE || trial->status == YS_RUN_OK;
}

enum ys_proof_verdict ys_stored_verdict(const ys_json *proof)
{
    int found = ys_name_find(&ys_proof_verdicts, ys_json_get_text(proof, "verdict", NULL));
    return found == YS_NAME_NONE ? YS_PROOF_NONE : (enum ys_proof_verdict)found;
}

const ys_json *ys_stored_audit(const ys_json *proof)
{
    const ys_json *said = ys_json_get(proof, "audit");
    return ys_json_type_of(said) == YS_JSON_OBJECT ? said : NULL;
}

ys_status ys_trial_records_read(const ys_json *array, const char *label, struct ys_trial_records *trials)
{
    *trials = (struct ys_trial_records){.items = ys_alloc(ys_json_size(array), sizeof *trials->items)};
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < ys_json_size(array); i++) {
        status = ys_record_read(&ys_trial_record, ys_json_at(array, i), label, &trials->items[i]);
        trials->count += status == YS_OK;
    }
    if (status != YS_OK)
        ys_trial_records_fini(trials);
    return status;
}

void ys_trial_records_fini(struct ys_trial_records *trials)
{
    for (size_t i = 0; i < trials->count; i++)
        ys_record_fini(&ys_trial_record, &trials->items[i]);
    ys_free(trials->items);
    *trials = (struct ys_trial_records){0};
}
