/* Studies from strings, for the tests of job files. */
#ifndef YS_TESTS_JOB_HELPER_H
#define YS_TESTS_JOB_HELPER_H

#include "base/buf.h"
#include "base/mem.h"
#include "job/job.h"
#include "tap.h"

#include <string.h>

/* What most cases begin with, so that a case shows only what it is about. Lines of the case follow from line 5 on. */
#define HEAD "version = 1\n[a]\nmodel = lenet\ndata = digits\n"

struct helper_study {
    ys_status status;
    struct ys_job job;
    char error[2048];
};

__attribute__((unused)) static struct helper_study study_with(const char *text, const struct ys_job_flag *flags,
                                                              size_t count, const struct ys_job_hooks *hooks)
{
    struct helper_study study = {.status = YS_OK};
    study.status = ys_job_parse("t.ys", text, strlen(text), flags, count, hooks, &study.job);
    if (study.status != YS_OK)
        snprintf(study.error, sizeof study.error, "%s", ys_error());
    return study;
}

__attribute__((unused)) static struct helper_study study_of(const char *text)
{
    return study_with(text, NULL, 0, NULL);
}

/* The text must be refused with exactly this message. */
#define CHECK_REFUSED(text, message)                                                                                   \
    do {                                                                                                               \
        struct helper_study refused_ = study_of(text);                                                                 \
        CHECK_INT(refused_.status, YS_EINVAL);                                                                         \
        CHECK_TEXT(refused_.error, message);                                                                           \
        ys_job_fini(&refused_.job);                                                                                    \
    } while (0)

#define CHECK_REFUSED_FLAG(text, flag_key, flag_value, message)                                                        \
    do {                                                                                                               \
        char key_[] = flag_key, value_[] = flag_value;                                                                 \
        struct ys_job_flag flag_ = {key_, value_};                                                                     \
        struct helper_study refused_ = study_with(text, &flag_, 1, NULL);                                              \
        CHECK_INT(refused_.status, YS_EINVAL);                                                                         \
        CHECK_TEXT(refused_.error, message);                                                                           \
        ys_job_fini(&refused_.job);                                                                                    \
    } while (0)

__attribute__((unused)) static const ys_json *trial_at(const struct helper_study *study, size_t index)
{
    return ys_json_at(study->job.trials, index);
}

__attribute__((unused)) static const ys_json *key_of(const struct helper_study *study, size_t trial, const char *key)
{
    return ys_json_get(ys_json_get(trial_at(study, trial), "keys"), key);
}

__attribute__((unused)) static const char *id_of(const struct helper_study *study, size_t trial)
{
    return ys_json_get_text(trial_at(study, trial), "id", "(none)");
}

#endif
