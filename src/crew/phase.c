#include "crew/phase.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "crew/drive_attack.h"
#include "crew/stored_model.h"
#include "crew/traffic.h"
#include "session/checked_message.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

/* What is sent. */

static void fill_open(struct ys_run *run, ys_json *message)
{
    ys_json_set(message, "plan", ys_record_json(&ys_plan_record, run->spec->plan));
}

static void fill_steps(struct ys_run *run, ys_json *message, int64_t to, int64_t block)
{
    run->to = to;
    run->request_block = block;
    ys_json_set_int(message, "from", run->next_step);
    ys_json_set_int(message, "to", to);
    ys_json_set_int(message, "block", block);
}

static void fill_first_step(struct ys_run *run, ys_json *message)
{
    fill_steps(run, message, 1, 1);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/** Up to `to`, the next save, or the end of the turn, which are the same steps for all that take turns. */
static void fill_up_to(struct ys_run *run, ys_json *message, int64_t to)
{
    const int64_t turn = run->turn.steps;
    if (run->eval_every > 0 && (!run->no_work || turn > 0))
        to = least(to, (run->next_step / run->eval_every + 1) * run->eval_every);
    if (turn > 0)
        to = least(to, run->next_step + turn);
    fill_steps(run, message, to, turn > 0 ? least(turn, run->block) : run->block);
}

static void fill_train(struct ys_run *run, ys_json *message)
{
    fill_up_to(run, message, run->steps);
}

/** Before the audited stretch. */
static void fill_train_to_audit(struct ys_run *run, ys_json *message)
{
    fill_up_to(run, message, run->spec->audit->at);
}

static void fill_one_step(struct ys_run *run, ys_json *message)
{
    fill_steps(run, message, run->next_step + 1, run->block);
}

static void fill_audited_steps(struct ys_run *run, ys_json *message)
{
    fill_steps(run, message, run->next_step + run->spec->audit->steps, run->block);
}

/** A ring that cannot be made (a full disk, a file system without mappings) is a run without one. */
static void fill_ring(struct ys_run *run, ys_json *message)
{
    char *path = ys_path_join(run->folder, YS_RUN_ANSWERS_NAME);
    if ((run->shows_later ? ys_answers_begin_later : ys_answers_begin)(run->answers, path) == YS_OK)
        ys_json_set_string(message, "answers", path);
    else
        ys_log_warn("no answers are looked at: %s", ys_error());
    ys_free(path);
}

static void fill_infer(struct ys_run *run, ys_json *message)
{
    run->to = run->steps;
    ys_json_set_int(message, "requests", run->steps);
    ys_json_set_int(message, "batch", run->batch);
    if (run->spec->looks_at_answers && run->shows_answers)
        fill_ring(run, message);
}

/** The file is `name_taken` in the run's folder. */
static void fill_save(struct ys_run *run, ys_json *message, char *name_taken)
{
    ys_free(run->save_name);
    ys_free(run->save_path);
    run->save_name = name_taken;
    run->save_path = ys_path_join(run->folder, name_taken);
    run->save_from_cpu_s = ys_session_cpu_s(run->session);
    ys_json_set_string(message, "format", "safetensors");
    ys_json_set_string(message, "path", run->save_path);
}

static void fill_checkpoint(struct ys_run *run, ys_json *message)
{
    fill_save(run, message, ys_format("step-%" PRId64 ".safetensors", run->next_step));
    run->pause_ns = ys_time_ns();
}

static void fill_weights(struct ys_run *run, ys_json *message)
{
    fill_save(run, message, ys_strdup(YS_RUN_WEIGHTS_NAME));
}

static void fill_audit_save(struct ys_run *run, ys_json *message, const char *name)
{
    const enum ys_precision kept = ys_format_of(run->spec->plan->precision)->kept;
    if (kept != YS_PRECISION_F32)
        ys_json_set_string(message, "dtype", ys_name_of(&ys_precisions, (int)kept));
    if (run->spec->audit->state && run->saves_state)
        ys_json_set_bool(message, "state", true);
    fill_save(run, message, ys_strdup(name));
}

static void fill_before(struct ys_run *run, ys_json *message)
{
    run->pauses_cpu_s = 0;
    fill_audit_save(run, message, YS_RUN_AUDIT_BEFORE);
}

static void fill_lead(struct ys_run *run, ys_json *message)
{
    fill_audit_save(run, message, YS_RUN_AUDIT_LEAD);
}

static void fill_after(struct ys_run *run, ys_json *message)
{
    fill_audit_save(run, message, YS_RUN_AUDIT_AFTER);
}

static void fill_model(struct ys_run *run, ys_json *message)
{
    char *path = ys_path_join(run->folder, YS_RUN_MODEL_NAME);
    ys_json_set_string(message, "form", run->spec->stored->form);
    ys_json_set_string(message, "path", path);
    ys_free(path);
}

static void fill_forward(struct ys_run *run, ys_json *message)
{
    ys_json_set_int(message, "batch", run->spec->stored->got / run->batch);
    ys_json_set_string(message, "mode", "eval");
}

/* What is answered. */

static ys_status check_opened(struct ys_run *run, ys_json *reply)
{
    run->opened = ys_json_ref(reply);
    return YS_OK;
}

static ys_status check_steps(struct ys_run *run, ys_json *reply)
{
    (void)reply;
    if (run->next_step == run->to)
        return YS_OK;
    return ys_session_fail(run->session, YS_RUN_PROTOCOL_ERROR, "\"done\" came after %s %" PRId64 " of %" PRId64,
                           run->mode->unit, run->next_step, run->to);
}

/** That `saved` tells of the file that was asked for, which is the adapter's own: no link to another's. */
static ys_status check_saved(struct ys_run *run, ys_json *reply)
{
    struct stat file;
    struct ys_message said;
    ys_message_read(reply, &said);
    if (strcmp(said.saved.path, run->save_path) != 0)
        return ys_session_fail(run->session, YS_RUN_PROTOCOL_ERROR, "it was asked to save %s and says that it saved %s",
                               run->save_path, said.saved.path);
    if (lstat(run->save_path, &file) != 0 || !S_ISREG(file.st_mode))
        return ys_session_fail(run->session, YS_RUN_PROTOCOL_ERROR, "it said \"saved\" and there is no file %s",
                               run->save_name);
    if (said.saved.bytes < 0)
        return ys_session_fail(run->session, YS_RUN_PROTOCOL_ERROR,
                               "\"bytes\" of the message \"saved\" is missing: a checkpoint's are told");
    if (said.saved.bytes != (int64_t)file.st_size)
        return ys_session_fail(run->session, YS_RUN_PROTOCOL_ERROR,
                               "it said that %s has %" PRId64 " bytes; it has %" PRId64, run->save_name,
                               said.saved.bytes, (int64_t)file.st_size);
    return YS_OK;
}

static ys_status take_model(struct ys_run *run, ys_json *reply)
{
    return ys_run_take_model(run, reply);
}

static ys_status take_logits(struct ys_run *run, ys_json *reply)
{
    return ys_run_take_logits(run, reply);
}

/* What is done at a phase's end. */

static ys_status look_at_opened(struct ys_run *run)
{
    run->opened_cpu_s = ys_session_cpu_s(run->session);
    if (run->mode->times_each)
        ys_session_profile(run->session, YS_PROFILE_STEADY);
    ys_session_phase(run->session);
    ys_run_count_cpus(run, &run->work_before);
    ys_session_mark_threads(run->session);
    return YS_OK;
}

static ys_status look_at_last_answer(struct ys_run *run)
{
    ys_answers_end(run->answers);
    return YS_OK;
}

static ys_status attack(struct ys_run *run)
{
    ys_run_tell(run, YS_STAGE_INPUT_GRADIENT, 0);
    run->facts->times.infer_ns = (int64_t)ys_time_ns();
    YS_TRY(ys_run_drive_attack(run));
    run->facts->times.inferred_ns = (int64_t)ys_time_ns();
    return YS_OK;
}

static ys_status look_at_first_step(struct ys_run *run)
{
    run->first_cpu_s = ys_session_cpu_s(run->session);
    ys_traffic_begin(run);
    ys_session_profile(run->session, YS_PROFILE_STEADY);
    ys_run_count_cpus(run, &run->work_before);
    ys_session_mark_threads(run->session);
    return YS_OK;
}

static ys_status look_at_threads(struct ys_run *run)
{
    ys_run_count_cpus(run, &run->work_after);
    ys_traffic_end(run);
    run->worked_cpu_s = ys_session_cpu_s(run->session);
    ys_session_profile(run->session, YS_PROFILE_AFTER);
    ys_session_phase(run->session);
    run->worked = ys_session_threads(run->session);
    run->astray = ys_session_astray(run->session);
    return YS_OK;
}

static ys_status look_at_libraries(struct ys_run *run)
{
    return ys_session_libraries(run->session, run->libraries);
}

static ys_status note_save(struct ys_run *run)
{
    run->pauses_cpu_s += ys_session_cpu_s(run->session) - run->save_from_cpu_s;
    return YS_OK;
}

/** A save between two steps, and what is made of it before the next one is asked for, is a pause that is not training.
 */
static void end_pause(struct ys_run *run)
{
    ys_json *pause = ys_json_array();
    ys_json_append(pause, ys_json_int((int64_t)run->pause_ns));
    ys_json_append(pause, ys_json_int((int64_t)ys_time_ns()));
    ys_json_append(run->facts->times.pauses, pause);
}

static ys_status note_checkpoint(struct ys_run *run)
{
    ys_facts_add_checkpoint(run->facts, run->next_step, run->save_name);
    if (!run->spec->until)
        end_pause(run);
    return note_save(run);
}

/** Of several ranks all stand still while the weights of the first are judged: they have the same. */
static ys_status begin_judging(struct ys_run *run)
{
    const struct ys_run_until *until = run->spec->until;
    run->is_judged = true;
    ys_host_count(&run->still.machine);
    ys_run_count_cpus(run, &run->still.cpus);
    run->still.cpu_s = ys_session_cpu_s(run->session);
    return run->spec->plan->dist.rank == 0 ? until->begin(until->of, run->next_step, run->save_path, &run->judged_fd)
                                           : YS_OK;
}

/** When the answer to the last question for steps came. */
static int64_t last_trained_ns(const struct ys_run *run)
{
    const struct ys_series *done = ys_series_find(run->series, "request_done_ns");
    return done && done->count ? done->ints[done->count - 1] : YS_FIELD_NONE;
}

void ys_order_judged(struct ys_run *run, bool is_met)
{
    struct ys_host_counters machine;
    struct ys_host_cpu_counters cpus;
    ys_host_count(&machine);
    ys_run_count_cpus(run, &cpus);
    ys_host_leave_out(&run->before, &run->still.machine, &machine);
    ys_host_leave_out_cpus(&run->cpus_before, &run->still.cpus, &cpus);
    ys_host_leave_out_cpus(&run->work_before, &run->still.cpus, &cpus);
    run->pauses_cpu_s += ys_session_cpu_s(run->session) - run->still.cpu_s;
    end_pause(run);
    run->is_judged = false;
    if (!is_met)
        return;
    run->steps = run->next_step;
    run->facts->times.trained_ns = last_trained_ns(run);
}

static ys_status note_weights(struct ys_run *run)
{
    run->saved_cpu_s = ys_session_cpu_s(run->session);
    ys_set_text(&run->facts->weights, YS_RUN_WEIGHTS_NAME);
    return YS_OK;
}

/* When. */

static bool is_checkpoint_due(const struct ys_run *run)
{
    return run->eval_every > 0 && run->next_step % run->eval_every == 0 && run->next_step < run->steps && !run->no_work;
}

static bool is_judging_due(const struct ys_run *run)
{
    return run->spec->until && is_checkpoint_due(run);
}

static bool has_steps_left(const struct ys_run *run)
{
    return run->next_step < run->steps;
}

static bool has_no_steps_left(const struct ys_run *run)
{
    return !has_steps_left(run);
}

static bool has_no_logits(const struct ys_run *run)
{
    return run->spec->stored->got == 0;
}

static bool has_rows_left(const struct ys_run *run)
{
    return run->spec->stored->got < run->spec->stored->rows;
}

static bool does_work(const struct ys_run *run)
{
    return !run->no_work;
}

static bool is_before_audit(const struct ys_run *run)
{
    return run->next_step < run->spec->audit->at;
}

static bool is_audit_led(const struct ys_run *run)
{
    return run->spec->audit->lead && !(run->spec->audit->state && run->saves_state);
}

static bool is_audit_followed(const struct ys_run *run)
{
    return run->spec->audit->follow && !(run->spec->audit->state && run->saves_state);
}

#define AT(from, to)                                                                                                   \
    {                                                                                                                  \
        offsetof(struct ys_facts_times, from), offsetof(struct ys_facts_times, to)                                     \
    }
#define OPEN_PLAN                                                                                                      \
    {                                                                                                                  \
        .stage = YS_STAGE_OPEN, .request = "open", .fill = fill_open, .check = check_opened, .after = look_at_opened,  \
        .times = AT(open_ns, opened_ns), .tells = true                                                                 \
    }
#define LOOK_AT_THREADS                                                                                                \
    {                                                                                                                  \
        .after = look_at_threads                                                                                       \
    }
#define LOOK_AT_LIBRARIES                                                                                              \
    {                                                                                                                  \
        .after = look_at_libraries                                                                                     \
    }

#define FIRST_STEP                                                                                                     \
    {                                                                                                                  \
        .stage = YS_STAGE_TRAIN, .request = "train", .fill = fill_first_step, .take = ys_run_take_block,               \
        .check = check_steps, .after = look_at_first_step, .times = AT(train_ns, trained_ns),                          \
        .is_done = has_no_steps_left                                                                                   \
    }
#define CHECKPOINT                                                                                                     \
    {                                                                                                                  \
        .stage = YS_STAGE_SAVE, .request = "save", .is_due = is_checkpoint_due, .fill = fill_checkpoint,               \
        .check = check_saved, .after = note_checkpoint                                                                 \
    }

static const struct ys_phase training[] = {
    OPEN_PLAN,
    FIRST_STEP,
    CHECKPOINT,
    {.stage = YS_STAGE_SAVE, .is_due = is_judging_due, .after = begin_judging},
    {.stage = YS_STAGE_TRAIN,
     .request = "train",
     .is_due = has_steps_left,
     .fill = fill_train,
     .take = ys_run_take_block,
     .check = check_steps,
     .times = AT(train_ns, trained_ns),
     .is_done = has_no_steps_left,
     .takes_turns = true,
     .back = 2},
    LOOK_AT_THREADS,
    LOOK_AT_LIBRARIES,
    {.stage = YS_STAGE_SAVE,
     .request = "save",
     .is_due = does_work,
     .fill = fill_weights,
     .check = check_saved,
     .after = note_weights,
     .times = AT(save_ns, saved_ns),
     .tells = true,
     .progress = 1},
};

#define INFERENCE                                                                                                      \
    {                                                                                                                  \
        .stage = YS_STAGE_INFER, .request = "infer", .fill = fill_infer, .take = ys_run_take_latencies,                \
        .check = check_steps, .after = look_at_last_answer, .times = AT(infer_ns, inferred_ns), .tells = true          \
    }

static const struct ys_phase inference[] = {
    OPEN_PLAN,
    INFERENCE,
    LOOK_AT_THREADS,
    LOOK_AT_LIBRARIES,
};

/** Its questions follow from the answers: they are asked where the phase ends, by who drives the attack. */
static const struct ys_phase attacks[] = {
    OPEN_PLAN,
    {.stage = YS_STAGE_INPUT_GRADIENT, .after = attack},
    LOOK_AT_THREADS,
    LOOK_AT_LIBRARIES,
};

/** Of a session that loads: its requests are timed, then it tells the logits of all rows. */
static const struct ys_phase loading[] = {
    OPEN_PLAN,
    INFERENCE,
    LOOK_AT_THREADS,
    LOOK_AT_LIBRARIES,
    {.is_due = has_no_logits, .after = ys_run_count_runtime},
    {.stage = YS_STAGE_FORWARD,
     .request = "forward",
     .is_due = has_rows_left,
     .fill = fill_forward,
     .check = take_logits,
     .back = 1},
};

static const struct ys_phase saving[] = {
    OPEN_PLAN,
    {.stage = YS_STAGE_SAVE, .request = "save", .fill = fill_model, .check = take_model, .tells = true},
};

#define AUDIT_TRAIN .stage = YS_STAGE_TRAIN, .request = "train", .take = ys_run_take_block, .check = check_steps
#define AUDIT_SAVE  .stage = YS_STAGE_SAVE, .request = "save", .check = check_saved, .after = note_save

static const struct ys_phase audited[] = {
    OPEN_PLAN,
    FIRST_STEP,
    CHECKPOINT,
    {AUDIT_TRAIN, .is_due = is_before_audit, .fill = fill_train_to_audit, .back = 1},
    {AUDIT_SAVE, .fill = fill_before},
    {AUDIT_TRAIN, .is_due = is_audit_led, .fill = fill_one_step},
    {AUDIT_SAVE, .is_due = is_audit_led, .fill = fill_lead},
    {AUDIT_TRAIN, .fill = fill_audited_steps},
    {AUDIT_SAVE, .fill = fill_after},
    {AUDIT_TRAIN, .is_due = is_audit_followed, .fill = fill_one_step},
};

const struct ys_order *ys_order_find(enum ys_mode mode)
{
    static const struct ys_order orders[] = {
        [YS_MODE_TRAIN] = {YS_MODE_TRAIN, YS_STAGE_TRAIN, training, sizeof training / sizeof training[0]},
        [YS_MODE_INFER] = {YS_MODE_INFER, YS_STAGE_INFER, inference, sizeof inference / sizeof inference[0]},
        [YS_MODE_ATTACK] = {YS_MODE_ATTACK, YS_STAGE_INPUT_GRADIENT, attacks, sizeof attacks / sizeof attacks[0]},
        [YS_MODE_SIZE] = {YS_MODE_SIZE, YS_STAGE_INFER, loading, sizeof loading / sizeof loading[0]},
    };
    _Static_assert(sizeof orders / sizeof orders[0] == YS_MODE_COUNT, "one order a mode");
    return &orders[mode];
}

const struct ys_order *ys_order_audited(void)
{
    static const struct ys_order order = {YS_MODE_TRAIN, YS_STAGE_TRAIN, audited, sizeof audited / sizeof audited[0]};
    return &order;
}

const struct ys_order *ys_order_saving(void)
{
    static const struct ys_order order = {YS_MODE_SIZE, YS_STAGE_SAVE, saving, sizeof saving / sizeof saving[0]};
    return &order;
}

static int64_t *time_at(struct ys_run *run, size_t offset)
{
    return (int64_t *)((char *)&run->facts->times + offset);
}

/** The span of each question for work by our own clock: speed counts all of it. */
static void note_question(struct ys_run *run)
{
    ys_series_add_int(run->series, "request_first", run->next_step);
    if (run->spec->by_turns) {
        ys_series_add_int(run->series, "request_cycle", run->turn.cycle);
        ys_series_add_int(run->series, "request_settles", run->turn.settles);
        ys_series_add_int(run->series, "request_ahead_ns", run->turn.ahead_ns);
    }
    ys_series_add_int(run->series, "request_sent_ns", (int64_t)run->asked_ns);
}

static ys_status ask(struct ys_run *run, const struct ys_phase *phase)
{
    ys_json *message = ys_json_object();
    ys_json_set_string(message, "type", phase->request);
    phase->fill(run, message);
    run->asked_ns = run->last_end_ns = ys_time_ns();
    if (phase->take)
        note_question(run);
    if (phase->times.asked && *time_at(run, phase->times.asked) == YS_FIELD_NONE)
        *time_at(run, phase->times.asked) = (int64_t)run->asked_ns;
    run->is_asking = true;
    return ys_session_send(run->session, message, phase->take, run);
}

static ys_status take_answer(struct ys_run *run, const struct ys_phase *phase)
{
    ys_json *reply;
    uint64_t answered_ns;
    run->is_asking = false;
    YS_TRY(ys_session_answer(run->session, &reply, &answered_ns));
    ys_status status = phase->check ? phase->check(run, reply) : YS_OK;
    if (status == YS_OK && phase->take)
        ys_series_add_int(run->series, "request_done_ns", (int64_t)answered_ns);
    ys_json_free(reply);
    if (status == YS_OK && phase->times.answered && (!phase->is_done || phase->is_done(run)))
        *time_at(run, phase->times.answered) = (int64_t)answered_ns;
    return status;
}

bool ys_order_is_done(const struct ys_run *run)
{
    return run->phase == run->order->count;
}

bool ys_order_takes_turns(const struct ys_run *run)
{
    return !ys_order_is_done(run) && !run->is_asking && run->order->phases[run->phase].takes_turns;
}

ys_status ys_order_take(struct ys_run *run)
{
    while (!ys_order_is_done(run) && !run->is_judged) {
        const struct ys_phase *phase = &run->order->phases[run->phase];
        if (run->is_asking) {
            YS_TRY(take_answer(run, phase));
        } else if (phase->is_due && !phase->is_due(run)) {
            run->phase++;
            continue;
        } else if (phase->request) {
            return YS_OK;
        }
        if (phase->after)
            YS_TRY(phase->after(run));
        run->phase = phase->back ? run->phase - phase->back : run->phase + 1;
    }
    return YS_OK;
}

ys_status ys_order_ask(struct ys_run *run)
{
    if (ys_order_is_done(run) || run->is_judged)
        return YS_OK;
    const struct ys_phase *phase = &run->order->phases[run->phase];
    if (phase->tells)
        ys_run_tell(run, phase->stage, phase->progress);
    return ask(run, phase);
}
