/* The settings of a trial, against the table of the job's keys. */
#include "job/option.h"
#include "job/settings.h"

#include "helper.h"
#include "job/quant.h"
#include "tap.h"

#include <math.h>

static const struct ys_field *field_of(const char *name)
{
    for (size_t i = 0; i < ys_trial_settings_record.count; i++)
        if (strcmp(ys_trial_settings_record.fields[i].name, name) == 0)
            return &ys_trial_settings_record.fields[i];
    return NULL;
}

/* What every trial has a value of. */
static void every_key_of_a_trial_is_a_field_and_words_are_the_same(void)
{
    for (const struct ys_option *option = ys_options(); option->name; option++) {
        if (!ys_option_is_resolved(option))
            continue;
        const struct ys_field *field = field_of(option->name);
        tap_check(field != NULL, __LINE__, "the settings of a trial lack %s", option->name);
        if (!field || field->kind != YS_FIELD_ENUM)
            continue;
        char words[200] = "";
        for (size_t i = 0; i < field->names->count; i++)
            snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", i ? "|" : "", field->names->names[i]);
        if (strcmp(option->name, "precision") == 0) /* that of a resolved trial is f32 */
            snprintf(words + strlen(words), sizeof words - strlen(words), "|%s", YS_QUANT_PRECISION);
        CHECK_TEXT(words, option->choices);
    }
}

static void a_resolved_trial_is_read_and_written_back_whole(void)
{
    struct helper_study study = study_of("version = 1\n[a]\nmodel = lenet\ndata = digits\nbatch = 8\nlr = 0.5\n"
                                         "precision = bf16\ncpus = 1,3\nthreads = 2\nmemory_limit = 1GB\n"
                                         "run_time_limit = none\nkeep_log = off\n");
    CHECK_TEXT(study.error, "");
    ys_json *given = ys_json_get(ys_json_at(study.job.trials, 0), "keys");
    struct ys_trial_settings keys;
    REQUIRE(ys_record_read(&ys_trial_settings_record, given, "test", &keys) == YS_OK);
    CHECK(keys.mode == YS_MODE_TRAIN && keys.precision == YS_PRECISION_BF16 && keys.compare == YS_COMPARE_CONTROLLED);
    CHECK(keys.batch == 8 && keys.lr == 0.5 && keys.memory_limit == 1000000000 && isnan(keys.run_time_limit));
    CHECK(keys.epochs == 1 && keys.steps == YS_FIELD_NONE && keys.requests == YS_FIELD_NONE && !keys.keep_log);
    CHECK(keys.cpus.count == 2 && ((int64_t *)keys.cpus.items)[1] == 3);
    ys_json *back = ys_record_json(&ys_trial_settings_record, &keys);
    for (void *it = ys_json_iter(given); it; it = ys_json_next(given, it)) {
        const char *name = ys_json_iter_key(it);
        bool equal = ys_json_equal(ys_json_iter_value(it), ys_json_get(back, name));
        tap_check(equal, __LINE__, "%s came back changed", name);
    }
    ys_json_free(back);
    ys_record_fini(&ys_trial_settings_record, &keys);
    ys_job_fini(&study.job);
}

static void settings_that_were_stored_before_a_key_was_there_are_read(void)
{
    struct ys_trial_settings keys;
    ys_json *old = ys_json_object(), *odd = ys_json_object();
    CHECK(ys_json_set_string(old, "mode", "infer") == YS_OK && ys_json_set_string(odd, "mode", "dream") == YS_OK);
    CHECK(ys_record_read(&ys_trial_settings_record, old, "test", &keys) == YS_OK);
    CHECK(keys.mode == YS_MODE_INFER && keys.batch == 0 && isnan(keys.lr) && !keys.model && keys.cpus.count == 0);
    ys_record_fini(&ys_trial_settings_record, &keys);
    CHECK_INT(ys_record_read(&ys_trial_settings_record, odd, "results.db", &keys), YS_EFORMAT);
    CHECK_TEXT(ys_error(), "results.db: keys.mode is \"dream\": no mode of this version");
    ys_json_free(old);
    ys_json_free(odd);
}

TAP_MAIN(TAP_CASE(every_key_of_a_trial_is_a_field_and_words_are_the_same),
         TAP_CASE(a_resolved_trial_is_read_and_written_back_whole),
         TAP_CASE(settings_that_were_stored_before_a_key_was_there_are_read))
