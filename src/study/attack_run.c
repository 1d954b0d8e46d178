#include "study/attack_run.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "prepare/common_weights.h"
#include "probe/host.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of an attack that hangs: C&W on thousands of images takes hours. */
static const double ATTACK_LIMIT_S = 24 * 3600.0;

#define TWIN_NAME "twin.json"
enum { TWIN_VERSION = 2 }; /* part of the key: raise it when the same twin would be attacked otherwise */

struct waiting {
    const char *id;
    uint64_t start_ns;
    double done_part; /* as the engine says; 0: it has not said yet */
    char what[64];    /* is under way */
};

static void on_wait(void *context)
{
    const struct waiting *waiting = context;
    const double took_s = (double)(ys_time_ns() - waiting->start_ns) * 1e-9;
    char left[40];
    if (waiting->done_part > 0)
        ys_progress("%s: its weights against %s: %.0f %%, about %s left", waiting->id, waiting->what,
                    100 * waiting->done_part, ys_span_text(took_s * (1 / waiting->done_part - 1), left, sizeof left));
    else
        ys_progress("%s: its weights are attacked: %.0f s", waiting->id, took_s);
}

/* What was said of the attack under way is as old as the last line of it. */
static void on_line(void *context, const char *line)
{
    struct waiting *waiting = context;
    double done_part;
    char what[sizeof waiting->what];
    if (sscanf(line, YS_ATTACK_DONE "%lf %63[^\n]", &done_part, what) != 2 || !(done_part > 0 && done_part <= 1))
        return;
    waiting->done_part = done_part;
    memcpy(waiting->what, what, sizeof what);
    on_wait(waiting);
}

static ys_status read_answer(const char *line, struct ys_robustness **found)
{
    static const char label[] = "the attacks' answer";
    ys_json *json = NULL;
    YS_TRY(ys_json_parse(line, strlen(line), label, &json));
    struct ys_robustness *made = ys_alloc(1, sizeof *made);
    const ys_status status = ys_record_read(&ys_robustness_record, json, label, made);
    ys_json_free(json);
    if (status == YS_OK)
        *found = made;
    else
        ys_free(made);
    return status;
}

/* What was finished before it ended with `status`, if anything was; the error stays what it is. Each line that begins
 * with a brace is what was found so far; others say how far it is. */
static void read_finished(ys_status status, char *text, struct ys_robustness **found)
{
    char *error = ys_strdup(ys_error()), *end = strrchr(text, '\n');
    const char *line;
    for (; end; end = strrchr(text, '\n')) { /* behind the last newline the next one is under way */
        *end = 0;
        line = strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text;
        if (*line == '{' && read_answer(line, found) == YS_OK)
            break;
    }
    ys_fail(status, "%s", error);
    ys_free(error);
}

static double limit_s(const struct ys_study *study)
{
    if (!study->deadline_ns)
        return ATTACK_LIMIT_S;
    return fmax(((double)study->deadline_ns - (double)ys_time_ns()) * 1e-9, 1);
}

struct kept {
    char *not_kept;
};
static const struct ys_field kept_fields[] = {
    YS_FIELD(struct kept, not_kept, YS_FIELD_TEXT, NULL, YS_FIELD_MAY_LACK, "why nothing was kept for other weights")};
static const struct ys_record kept_record = YS_RECORD("answer", struct kept, kept_fields);

/* Of an answer that was read. New, NULL: all was kept. */
static char *why_not_kept(const char *line)
{
    struct kept kept;
    return ys_record_parse(&kept_record, line, strlen(line), "the attacks' answer", &kept) == YS_OK ? kept.not_kept
                                                                                                    : NULL;
}

static ys_status ask(const struct ys_study *study, const struct ys_trial *trial, const char *const *argv,
                     struct ys_robustness **found, char **not_kept)
{
    struct waiting waiting = {.id = trial->record.id, .start_ns = ys_time_ns()};
    const struct ys_child_options options = {.is_own = true,
                                             .merge_stderr = true,
                                             .timeout_s = limit_s(study),
                                             .on_line = on_line,
                                             .on_wait = on_wait,
                                             .context = &waiting};
    struct ys_buf output = {0};
    int code = 0;
    ys_status status = ys_child_run(argv, &options, &output, &code);
    ys_progress_clear();
    char *text = ys_strdup(ys_buf_text(&output));
    if (status != YS_OK)
        read_finished(status, text, found);
    const char *line = ys_child_last_line(text);
    if (status == YS_OK)
        status = code == 0 ? read_answer(line, found)
                           : ys_fail(YS_EIO, "they ended with exit code %d: %s", code, *line ? line : "no message");
    if (status == YS_OK && not_kept)
        *not_kept = why_not_kept(line);
    ys_free(text);
    ys_buf_free(&output);
    return status;
}

/* What the attacks made, kept so that it can be shown to other weights. */
struct keeping {
    char *folder;   /* NULL: nobody asks */
    char *not_kept; /* why there is nothing in it; NULL */
};

/* The verb and its flags, each with a value. After a failure *found may be what was finished. */
static ys_status attack(const struct ys_study *study, const struct ys_trial *trial, const struct ys_work *work,
                        int64_t round, const char *weights, struct keeping *keeping, struct ys_robustness **found)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    char rows[24], restarts[24], threads[24], seed[24];
    snprintf(rows, sizeof rows, "%" PRId64, keys->attack_rows);
    snprintf(restarts, sizeof restarts, "%" PRId64, keys->attack_restarts);
    snprintf(threads, sizeof threads, "%d", ys_host_cpus_allowed());
    snprintf(seed, sizeof seed, "%" PRIu64, study->seed + (uint64_t)round);
    const char *argv[] = {study->oracle->argv[0],
                          "attack",
                          "--graph",
                          work->graph_path,
                          "--weights",
                          weights,
                          "--data",
                          work->test_path,
                          "--rows",
                          rows,
                          "--threads",
                          threads,
                          "--attack",
                          keys->attack,
                          "--restarts",
                          restarts,
                          "--seed",
                          seed,
                          "--tell",
                          "yes",
                          NULL,
                          NULL,
                          NULL,
                          NULL,
                          NULL};
    const char **more = &argv[sizeof argv / sizeof argv[0] - 5];
    if (keys->attack_curve) {
        *more++ = "--curve";
        *more++ = keys->attack_curve;
    }
    if (keeping->folder) {
        *more++ = "--keep";
        *more++ = keeping->folder;
    }
    return ask(study, trial, argv, found, &keeping->not_kept);
}

/* What went wrong is told of the run, which is made again where somebody stopped it; until then it has what was
 * finished. */
static ys_status settle(const struct ys_trial *trial, ys_status status, struct ys_facts *facts)
{
    if (status == YS_OK)
        return YS_OK;
    ys_set_text(&facts->robustness->reason, ys_error());
    if (status != YS_EINTR) {
        ys_log_warn("%s: the attacks on its weights: %s", trial->record.id, ys_error());
        return YS_OK;
    }
    facts->status = YS_RUN_CANCELLED;
    ys_set_text(&facts->message, "the attacks on its weights were interrupted");
    return status;
}

/* One twin's training and the attacks on it, which are the same for every trial of the same work. */
struct twin_wanted {
    struct ys_study *study;
    const struct ys_trial *trial;
    const struct ys_work *work;
    int64_t round;
    const struct ys_common_weights *taught;
};

static ys_status fill_twin(void *context, const char *folder)
{
    const struct twin_wanted *wanted = context;
    struct ys_robustness *found = NULL;
    struct keeping nothing = {0};
    ys_status status = attack(wanted->study, wanted->trial, wanted->work, wanted->round, wanted->taught->weights_path,
                              &nothing, &found);
    ys_free(nothing.not_kept);
    if (status == YS_OK) {
        char *path = ys_path_join(folder, TWIN_NAME);
        ys_json *json = ys_record_json(&ys_robustness_record, found);
        status = ys_json_write(path, json);
        ys_json_free(json);
        ys_free(path);
    }
    ys_record_free(&ys_robustness_record, found);
    return status;
}

static void twin_key(const struct twin_wanted *wanted, char key[YS_SHA256_TEXT])
{
    const struct ys_trial_settings *keys = &wanted->trial->record.keys;
    char *all = ys_format("attacked twin %d|%s|%s|%s|%s|%" PRId64 "|%" PRId64 "|%" PRIu64 "|%s", TWIN_VERSION,
                          wanted->taught->key, wanted->trial->data->test_hash, keys->attack,
                          keys->attack_curve ? keys->attack_curve : "", keys->attack_restarts, keys->attack_rows,
                          wanted->study->seed + (uint64_t)wanted->round, wanted->study->oracle->closure);
    ys_sha256_text(all, strlen(all), key);
    ys_free(all);
}

static ys_status attack_twin(struct twin_wanted *wanted, int twin, struct ys_list *twins)
{
    const struct ys_teacher teacher = {wanted->study->oracle,
                                       ys_study_run_limit_s(wanted->study, &wanted->trial->record.keys)};
    struct ys_common_weights taught;
    struct ys_shelf_item item = {0};
    char key[YS_SHA256_TEXT];
    YS_TRY(ys_twin_weights_open(&teacher, wanted->trial, wanted->study->seed + (uint64_t)wanted->round, twin, &taught));
    ys_status status = YS_OK;
    if (taught.failure)
        status = ys_fail(YS_EIO, "%s", taught.failure->message);
    if (status == YS_OK) {
        wanted->taught = &taught;
        twin_key(wanted, key);
        status = ys_work_shelve(key, fill_twin, wanted, &item);
    }
    if (status == YS_OK) {
        struct ys_robustness found;
        status = ys_shelf_read_record(item.folder, TWIN_NAME, &ys_robustness_record, &found);
        if (status == YS_OK)
            *(struct ys_robustness *)ys_list_add(&ys_robustness_record, twins) = found;
    }
    ys_shelf_release(&item);
    ys_common_weights_fini(&taught);
    return status;
}

/* In the first round alone. A twin that breaks off is a warning of the run, and those before it say what they say. */
static ys_status attack_twins(struct ys_study *study, const struct ys_trial *trial, const struct ys_work *work,
                              int64_t round, struct ys_facts *facts)
{
    struct twin_wanted wanted = {.study = study, .trial = trial, .work = work, .round = round};
    const int64_t asked = round == 0 ? trial->record.keys.attack_twins : 0; /* none is below 0 */
    for (int64_t twin = 1; twin <= asked; twin++) {
        const ys_status status = attack_twin(&wanted, (int)twin, &facts->robustness->twins);
        if (status == YS_EINTR)
            return status;
        if (status != YS_OK) {
            char *text = ys_format("of %" PRId64 " twins of the built-in engine, %" PRId64 " were attacked: %s", asked,
                                   twin - 1, ys_error());
            ys_list_add_text(&facts->warnings, text);
            ys_free(text);
            break;
        }
    }
    return YS_OK;
}

static void on_wait_for_others(void *context)
{
    const struct waiting *waiting = context;
    ys_progress("%s: attacks that carry over: %.0f s", waiting->id, (double)(ys_time_ns() - waiting->start_ns) * 1e-9);
}

/* Takes the folder over. What cannot be shown is a warning of the run, whose own figures stay. */
static ys_status show_others(struct ys_study *study, const struct ys_trial *trial, struct keeping *keeping,
                             struct ys_facts *facts)
{
    struct waiting waiting = {.id = trial->record.id, .start_ns = ys_time_ns()};
    const struct ys_shower shower = {study->oracle, limit_s(study), on_wait_for_others, &waiting};
    ys_status status = YS_OK;
    char *folder = keeping->folder;
    keeping->folder = NULL;
    if (!keeping->not_kept)
        status = ys_kept_round_show(&study->kept, &shower, trial, folder, &facts->robustness->transfers);
    else
        ys_free(folder);
    if (status == YS_OK && !keeping->not_kept)
        return YS_OK;
    if (status == YS_EINTR)
        return status;
    char *text = ys_format("what attacks made on its weights was not shown to all others (%s): free some space and run "
                           "the study again, or write attack.transfer = off",
                           keeping->not_kept ? keeping->not_kept : ys_error());
    ys_list_add_text(&facts->warnings, text);
    ys_free(text);
    return YS_OK;
}

ys_status ys_weights_attack(struct ys_study *study, const struct ys_trial *trial, const struct ys_work *work,
                            int64_t round, const char *folder, struct ys_facts *facts)
{
    if (!trial->record.keys.attack || !facts->weights)
        return YS_OK;
    const uint64_t start_ns = ys_time_ns();
    struct ys_facts_robustness *robustness = facts->robustness = ys_alloc(1, sizeof *robustness);
    ys_record_init(&ys_facts_robustness_record, robustness);
    char *weights = ys_path_join(folder, facts->weights);
    struct keeping keeping = {0};
    ys_status status = YS_OK;
    if (ys_transfer_is_asked(trial) &&
        ys_kept_round_place(&study->kept, study->folder, trial, &keeping.folder) != YS_OK)
        keeping.not_kept = ys_strdup(ys_error());
    status = attack(study, trial, work, round, weights, &keeping, &robustness->found);
    ys_free(weights);
    robustness->attack_s = (double)(ys_time_ns() - start_ns) * 1e-9;
    if (status == YS_OK && ys_transfer_is_asked(trial))
        status = show_others(study, trial, &keeping, facts);
    ys_free(keeping.folder);
    ys_free(keeping.not_kept);
    if (status == YS_OK)
        status = attack_twins(study, trial, work, round, facts);
    const double all_s = (double)(ys_time_ns() - start_ns) * 1e-9;
    study->attack_s += all_s;
    study->attack_in_rounds_s += all_s;
    return settle(trial, status, facts);
}
