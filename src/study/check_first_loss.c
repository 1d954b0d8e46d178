#include "study/check_first_loss.h"

#include "base/files/fs.h"
#include "base/json/record.h"
#include "base/log.h"
#include "base/mem.h"
#include "study/make_checks.h"
#include "verify/audits/first_loss.h"

#include <stdio.h>
#include <string.h>

#define NAME  "first-loss.json"
#define FIRST "its first step"

static const struct ys_field fields[] = {
    YS_FIELD(struct ys_first_loss, bound, YS_FIELD_REAL, "1", 0, "how far another's loss may lie from it"),
    YS_FIELD(struct ys_first_loss, loss, YS_FIELD_REAL, "1", 0, "of the first batch, by the oracle"),
};
static const struct ys_record first_loss_record = YS_RECORD("first loss", struct ys_first_loss, fields);

/* What the oracle is asked for. */
struct loss_question {
    const struct ys_study *study;
    const struct ys_work *work;
    const struct ys_plan *plan;
    bool with_twins;
};

static ys_status fill(void *context, const char *folder)
{
    const struct loss_question *asking = context;
    struct ys_first_loss first;
    YS_TRY(ys_first_loss_ask(asking->study->oracle, asking->plan, asking->with_twins, &first));
    ys_json *json = ys_record_json(&first_loss_record, &first);
    char *path = ys_path_join(folder, NAME);
    ys_status status = ys_json_write(path, json);
    ys_json_free(json);
    ys_free(path);
    return status;
}

static void key_of(const struct loss_question *asking, char key[YS_SHA256_TEXT])
{
    char *all =
        ys_format("first loss %d|%s|%s|%s|%s|%s|%s", YS_FIRST_LOSS_VERSION, asking->work->key, asking->work->values_key,
                  ys_name_of(&ys_precisions, asking->plan->precision), asking->study->oracle->closure,
                  asking->study->oracle->fingerprint, asking->with_twins ? "with twins" : "");
    ys_sha256_text(all, strlen(all), key);
    ys_free(all);
}

static ys_status look_up(const struct loss_question *asking, struct ys_first_loss *first)
{
    struct ys_shelf_item item = {0};
    char key[YS_SHA256_TEXT];
    key_of(asking, key);
    YS_TRY(ys_work_shelve(key, fill, (void *)(uintptr_t)asking, &item));
    ys_status status = ys_shelf_read_record(item.folder, NAME, &first_loss_record, first);
    ys_shelf_release(&item);
    return status;
}

/* Twins cost eight times as much, for each round: they are asked where a loss is farther off than any rounding needs.
 */
static ys_status first_loss_of(struct loss_question *asking, double said, struct ys_first_loss *first)
{
    YS_TRY(look_up(asking, first));
    if (ys_first_loss_holds(first, said))
        return YS_OK;
    asking->with_twins = true;
    return look_up(asking, first);
}

/* `whose` names the step and the weights it began with. */
static void judge(struct ys_trial *trial, const struct ys_first_loss *first, double loss, const char *whose,
                  struct ys_facts *facts)
{
    if (ys_first_loss_holds(first, loss)) {
        ys_due_note(trial, YS_DUE_FIRST_LOSS, YS_DUE_PASS, NULL);
        return;
    }
    char *message =
        ys_format("the loss of %s is %.9g; with %s weights and rows it is %.9g, give or take %.1e of it: it "
                  "trains something else than the plan says",
                  whose, loss, strcmp(whose, FIRST) == 0 ? "the plan's" : "those", first->loss, first->bound);
    facts->status = YS_RUN_WRONG_OUTPUT;
    facts->stage = YS_STAGE_TRAIN;
    ys_set_text(&facts->message, message);
    ys_due_note(trial, YS_DUE_FIRST_LOSS, YS_DUE_FAIL, message);
    ys_free(message);
}

/* What breaks off is asked again once, and then is missing; what the engine lacks nobody can do for it. */
static bool has_broken_off(ys_status status)
{
    return status == YS_EPROTOCOL || status == YS_EUNSUPPORTED;
}

static void note_broken(struct ys_trial *trial, const char *what, ys_status status)
{
    ys_log_warn("%s of %s could not be compared: %s", what, trial->record.id, ys_error());
    ys_due_note(trial, YS_DUE_FIRST_LOSS, status == YS_EUNSUPPORTED ? YS_DUE_NOT : YS_DUE_MISSING, ys_error());
}

/* The losses of the run, where any can be judged; else NULL. */
static ys_status find_losses(const struct ys_trial *trial, const struct ys_plan *plan,
                             const struct ys_run_record *record, bool is_behind_checkpoint,
                             const struct ys_series **losses)
{
    const struct ys_series *found = ys_series_find(&record->series, "step_loss");
    bool is_known = false;
    *losses = NULL;
    if (!record->has_facts || record->facts.status != YS_RUN_OK || trial->framework->no_work || !found ||
        found->count == 0)
        return YS_OK;
    YS_TRY(ys_first_loss_is_known(plan, is_behind_checkpoint, &is_known));
    *losses = is_known ? found : NULL;
    return YS_OK;
}

static ys_status check_checkpoint(const struct ys_study *study, struct ys_trial *trial, const struct ys_plan *plan,
                                  const char *folder, const struct ys_facts_checkpoint *checkpoint, double loss,
                                  struct ys_facts *facts)
{
    struct ys_first_loss first;
    char whose[80], *weights = ys_path_join(folder, checkpoint->path);
    snprintf(whose, sizeof whose, "the step behind the checkpoint of step %lld", (long long)checkpoint->step);
    ys_status status = ys_first_loss_after(study->oracle, plan, weights, checkpoint->step, loss, &first);
    if (status == YS_EPROTOCOL)
        status = ys_first_loss_after(study->oracle, plan, weights, checkpoint->step, loss, &first);
    ys_free(weights);
    if (status != YS_OK)
        return status;
    judge(trial, &first, loss, whose, facts);
    return YS_OK;
}

ys_status ys_losses_check_checkpoints(struct ys_study *study, struct ys_trial *trial, const struct ys_plan *plan,
                                      const char *folder, struct ys_run_record *record)
{
    const struct ys_series *losses;
    struct ys_facts *facts = &record->facts;
    const struct ys_facts_checkpoint *checkpoints = facts->checkpoints.items;
    YS_TRY(find_losses(trial, plan, record, true, &losses));
    for (size_t i = 0; losses && facts->status == YS_RUN_OK && i < facts->checkpoints.count; i++) {
        const size_t step = (size_t)checkpoints[i].step;
        if (!checkpoints[i].path || step >= losses->count)
            continue;
        YS_TRY(ys_study_find_oracle(study));
        ys_status status = check_checkpoint(study, trial, plan, folder, &checkpoints[i], losses->reals[step], facts);
        if (has_broken_off(status)) {
            note_broken(trial, "the checkpoints of a run", status);
            return YS_OK;
        }
        YS_TRY(status);
    }
    return YS_OK;
}

ys_status ys_losses_check(struct ys_study *study, struct ys_trial *trial, const struct ys_work *work,
                          const struct ys_plan *plan, struct ys_run_record *record)
{
    struct loss_question asking = {.study = study, .work = work, .plan = plan};
    const struct ys_series *losses;
    struct ys_first_loss first;
    YS_TRY(find_losses(trial, plan, record, false, &losses));
    if (!losses)
        return YS_OK;
    YS_TRY(ys_study_find_oracle(study));
    ys_status status = first_loss_of(&asking, losses->reals[0], &first);
    if (status == YS_EPROTOCOL)
        status = first_loss_of(&asking, losses->reals[0], &first);
    if (has_broken_off(status)) {
        note_broken(trial, "the first loss of a run", status);
        return YS_OK;
    }
    if (status != YS_OK)
        return status;
    judge(trial, &first, losses->reals[0], FIRST, &record->facts);
    return YS_OK;
}
