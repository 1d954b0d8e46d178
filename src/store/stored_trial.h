/* What is stored of a trial. Made by the study, kept by the store, read by whatever shows it. Its number inside the
 * study is `index`, what code goes by; `id` is its name, for people. */
#ifndef YS_STORE_STORED_TRIAL_H
#define YS_STORE_STORED_TRIAL_H

#include "base/json/record.h"
#include "job/settings.h"
#include "protocol/run_status.h"

/** What a proof came to. */
enum ys_proof_verdict { YS_PROOF_PASS, YS_PROOF_WEAK, YS_PROOF_FAIL, YS_PROOF_NONE };
extern const struct ys_names ys_proof_verdicts; /* "pass", "weak", "fail", "none" */

/** Who does the work: as it was found when the study began. */
struct ys_trial_framework {
    char *name, *version, *title;
    bool no_work;      /* by declaration */
    bool emulated;     /* likewise: under an emulator */
    char *closure;     /* SHA-256 over recipe, adapter and pinned requirements */
    char *recipe;      /* its path, where it is none of yardstick's own; NULL */
    char *fingerprint; /* over the files of its environment; NULL where it has none */
    char *changes;     /* a sentence, where these are not as they were installed; NULL */
    char *unpinned;    /* a sentence, where its packages are not pinned but resolved when it was installed; NULL */
};
extern const struct ys_record ys_trial_framework_record;

/** Why and when a trial got no more runs. */
struct ys_trial_given_up {
    int64_t round; /* the last that it has a run of */
    char *reason;  /* words that follow "it" */
};

struct ys_trial_record {
    char *id;
    int64_t index; /* place in the job, from 0 */
    char *section;
    ys_json *factors; /* {key: value} of the keys that vary in the section; NULL: none */
    struct ys_trial_settings keys;
    ys_json *options, *env; /* {name: value}: of the framework's recipe; environment variables. NULL: none */
    char *unsupported;      /* why the job itself knows that it cannot run; NULL */
    struct ys_trial_framework *framework; /* owned; NULL before it was looked for */
    int status;                           /* enum ys_run_status: why it cannot run; YS_NAME_NONE: it can */
    char *reason, *command;               /* of that status, and what would help; NULL */
    struct ys_trial_given_up *given_up;   /* owned; NULL */
    int64_t trial_id;                     /* in the store, above 0; YS_FIELD_NONE before it is there */
    ys_json *proof;                       /* docs/results.md; NULL where none was made, or is left */
};
/** The fields, in the order of JSON, as ys_store_trials_get() gives it: stored trials of every version are readable. */
extern const struct ys_record ys_trial_record;

/** JSON as the job has it, without what resolving and storing added. */
ys_json *ys_trial_record_job_json(const struct ys_trial_record *trial);

bool ys_trial_record_can_run(const struct ys_trial_record *trial);
/** Of a stored proof; none where there is no proof (NULL), or one of no known word. */
enum ys_proof_verdict ys_stored_verdict(const ys_json *proof);
/** What an audit found, as it stands in a stored proof (NULL: no proof): an object, borrowed, or NULL where there is
 * none. */
const ys_json *ys_stored_audit(const ys_json *proof);

struct ys_trial_records {
    struct ys_trial_record *items; /* owned, by index */
    size_t count;
};
/** Of an array of trials. */
ys_status ys_trial_records_read(const ys_json *array, const char *label, struct ys_trial_records *trials) YS_MUST_CHECK;
void ys_trial_records_fini(struct ys_trial_records *trials); /* a zeroed one is fine */

#endif
