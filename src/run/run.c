#include "run/run.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "run/run_internal.h"
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { MOST_RESERVED = 1 << 20 }; /* latencies; more take memory as they come */

uint64_t ys_run_own_cpu_ns(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000U +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000U;
}

void ys_run_record_fini(struct ys_run_record *record)
{
    ys_json_free(record->facts);
    ys_series_set_free(&record->series);
    *record = (struct ys_run_record){0};
}

static ys_json *request(const char *type)
{
    ys_json *message = ys_json_object();
    ys_json_set_string(message, "type", type);
    return message;
}

static void tell(const struct ys_run *run, const char *stage, double fraction)
{
    if (run->spec->on_progress)
        run->spec->on_progress(run->spec->context, stage, fraction);
}

static ys_status open_plan(struct ys_run *run)
{
    ys_json *message = request("open");
    ys_json *plan = ys_json_ref((ys_json *)(uintptr_t)run->spec->plan); /* shared for reading: it may be large */
    if (ys_json_set(message, "plan", plan) != YS_OK) {
        ys_json_free(message);
        return ys_out_of_memory();
    }
    tell(run, "open", 0);
    run->open_ns = ys_time_ns();
    YS_TRY(ys_session_request(run->session, message, NULL, NULL, &run->opened));
    run->opened_ns = ys_time_ns();
    run->opened_cpu_s = ys_session_cpu_s(run->session);
    ys_session_phase(run->session);
    return YS_OK;
}

/** The span of each question by our own clock: speed counts all of it. */
static ys_status begin_question(struct ys_run *run)
{
    YS_TRY(ys_series_add_int(run->series, "request_first", run->next_step));
    run->asked_ns = run->last_end_ns = ys_time_ns();
    return ys_series_add_int(run->series, "request_sent_ns", (int64_t)run->asked_ns);
}

static ys_status end_question(struct ys_run *run)
{
    run->worked_ns = ys_time_ns();
    return ys_series_add_int(run->series, "request_done_ns", (int64_t)run->worked_ns);
}

/** Steps from the next one up to `to`, exclusive. */
static ys_status train(struct ys_run *run, int64_t to, int64_t block)
{
    ys_json *message = request("train"), *reply = NULL;
    run->to = to;
    run->request_block = block;
    ys_json_set_int(message, "from", run->next_step);
    ys_json_set_int(message, "to", to);
    if (ys_json_set_int(message, "block", block) != YS_OK) {
        ys_json_free(message);
        return ys_out_of_memory();
    }
    YS_TRY(begin_question(run));
    if (!run->work_ns)
        run->work_ns = run->asked_ns;
    YS_TRY(ys_session_request(run->session, message, ys_run_take_block, run, &reply));
    ys_json_free(reply);
    if (run->next_step != to)
        return ys_session_fail(run->session, "protocol_error", "\"done\" came after step %" PRId64 " of %" PRId64,
                               run->next_step, to);
    return end_question(run);
}

/** That `saved` tells of the file that was asked for, which is the adapter's own: no link to another's. */
static ys_status check_saved(struct ys_run *run, const ys_json *saved, const char *name, const char *path)
{
    struct stat file;
    int64_t size = ys_json_get_int(saved, "bytes", -1);
    const char *said = ys_json_get_text(saved, "path", "");
    if (strcmp(said, path) != 0)
        return ys_session_fail(run->session, "protocol_error", "it was asked to save %s and says that it saved %s",
                               path, said);
    if (lstat(path, &file) != 0 || !S_ISREG(file.st_mode))
        return ys_session_fail(run->session, "protocol_error", "it said \"saved\" and there is no file %s", name);
    if (size != (int64_t)file.st_size)
        return ys_session_fail(run->session, "protocol_error", "it said that %s has %" PRId64 " bytes; it has %" PRId64,
                               name, size, (int64_t)file.st_size);
    return YS_OK;
}

/** Has the weights written to `name` in the run's folder. */
static ys_status save(struct ys_run *run, const char *name)
{
    ys_json *message = request("save"), *reply = NULL;
    char *path = ys_path_join(run->folder, name);
    ys_json_set_string(message, "format", "safetensors");
    if (!path || ys_json_set_string(message, "path", path) != YS_OK) {
        ys_json_free(message);
        ys_free(path);
        return ys_out_of_memory();
    }
    ys_status status = ys_session_request(run->session, message, NULL, NULL, &reply);
    if (status == YS_OK)
        status = check_saved(run, reply, name, path);
    ys_json_free(reply);
    ys_free(path);
    return status;
}

/** A save between two steps: a pause that is not training. */
static ys_status save_checkpoint(struct ys_run *run)
{
    char *name = ys_format("step-%" PRId64 ".safetensors", run->next_step);
    if (!name)
        return ys_out_of_memory();
    uint64_t from_ns = ys_time_ns();
    ys_status status = save(run, name);
    if (status == YS_OK) {
        ys_json *pause = ys_json_array(), *checkpoint = ys_json_object();
        ys_json_append(pause, ys_json_int((int64_t)from_ns));
        ys_json_append(pause, ys_json_int((int64_t)ys_time_ns()));
        ys_json_set_int(checkpoint, "step", run->next_step);
        ys_json_set_string(checkpoint, "path", name);
        if (ys_json_append(run->pauses, pause) != YS_OK || ys_json_append(run->checkpoints, checkpoint) != YS_OK)
            status = ys_out_of_memory();
    }
    ys_free(name);
    return status;
}

static ys_status train_all(struct ys_run *run)
{
    YS_TRY(train(run, 1, 1));
    run->first_cpu_s = ys_session_cpu_s(run->session);
    for (;;) {
        bool is_due = run->eval_every > 0 && run->next_step % run->eval_every == 0 && run->next_step < run->steps;
        if (is_due && !run->no_work)
            YS_TRY(save_checkpoint(run));
        if (run->next_step >= run->steps)
            return YS_OK;
        int64_t to = run->steps;
        if (run->eval_every > 0 && !run->no_work && (run->next_step / run->eval_every + 1) * run->eval_every < to)
            to = (run->next_step / run->eval_every + 1) * run->eval_every;
        YS_TRY(train(run, to, run->block));
    }
}

static ys_status infer(struct ys_run *run)
{
    ys_json *message = request("infer"), *reply = NULL;
    run->to = run->steps;
    ys_json_set_int(message, "requests", run->steps);
    if (ys_json_set_int(message, "batch", run->batch) != YS_OK) {
        ys_json_free(message);
        return ys_out_of_memory();
    }
    tell(run, "infer", 0);
    YS_TRY(begin_question(run));
    run->work_ns = run->asked_ns;
    YS_TRY(ys_session_request(run->session, message, ys_run_take_latencies, run, &reply));
    ys_json_free(reply);
    if (run->next_step != run->steps)
        return ys_session_fail(run->session, "protocol_error", "\"done\" came after request %" PRId64 " of %" PRId64,
                               run->next_step, run->steps);
    return end_question(run);
}

static ys_status save_weights(struct ys_run *run)
{
    if (run->no_work || run->infers)
        return YS_OK;
    tell(run, "save", 1);
    run->save_ns = ys_time_ns();
    YS_TRY(save(run, YS_RUN_WEIGHTS_NAME));
    run->saved_ns = ys_time_ns();
    run->has_weights = true;
    return YS_OK;
}

/** All that the work will need, before it begins. */
static ys_status reserve(struct ys_run *run)
{
    static const char *const names[] = {"block_first", "block_count", "block_start_ns", "block_end_ns",
                                        "block_input_ns"};
    if (run->infers)
        return ys_series_reserve(run->series, "latency_ns", 0,
                                 run->steps < MOST_RESERVED ? (size_t)run->steps : MOST_RESERVED);
    size_t saves = run->eval_every > 0 ? (size_t)(run->steps / run->eval_every) : 0;
    size_t blocks = (size_t)(run->steps / run->block) + saves + 2;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        YS_TRY(ys_series_reserve(run->series, names[i], 0, blocks));
    return ys_series_reserve(run->series, "step_loss", 1, (size_t)run->steps);
}

static ys_status go_through(struct ys_run *run)
{
    tell(run, "start", 0);
    ys_status status = ys_session_open(&run->spec->launch, &run->session);
    if (status != YS_OK)
        return status;
    run->hello_cpu_s = ys_session_cpu_s(run->session);
    run->no_work = ys_json_get_bool(ys_session_hello(run->session), "no_work", false);
    YS_TRY(open_plan(run));
    YS_TRY(run->infers ? infer(run) : train_all(run));
    run->worked_cpu_s = ys_session_cpu_s(run->session);
    ys_session_phase(run->session);
    run->busy_threads = ys_session_threads(run->session);
    YS_TRY(save_weights(run));
    run->saved_cpu_s = ys_session_cpu_s(run->session);
    return ys_session_libraries(run->session, run->libraries);
}

static ys_status prepare(struct ys_run *run)
{
    const ys_json *plan = run->spec->plan, *keys = ys_json_get(run->spec->trial, "keys");
    const char *mode = ys_json_get_text(plan, "mode", "train");
    run->infers = strcmp(mode, "infer") == 0;
    run->steps = run->infers ? ys_json_get_int(plan, "requests", ys_json_get_int(keys, "requests", 0))
                             : ys_json_get_int(plan, "steps", 0);
    run->batch = ys_json_get_int(plan, "batch", 1);
    run->block = ys_json_get_int(plan, "block", 1);
    run->eval_every = ys_json_get_int(plan, "eval_every", ys_json_get_int(keys, "eval_every", 0));
    if (!run->infers && strcmp(mode, "train") != 0)
        return ys_fail(YS_EINTERNAL, "a run of mode \"%s\" is not yet available", mode);
    if (run->steps < 1 || run->block < 1 || run->eval_every < 0)
        return ys_fail(YS_EINTERNAL,
                       "a plan of %" PRId64 " %s in blocks of %" PRId64 ", saved every %" PRId64 ", cannot be run",
                       run->steps, run->infers ? "requests" : "steps", run->block, run->eval_every);
    if (!run->folder || !run->pauses || !run->checkpoints || !run->libraries)
        return ys_out_of_memory();
    return reserve(run);
}

/** Failures that are yardstick's or the user's, not the adapter's. */
static bool is_ours(ys_status status, const struct ys_session *session)
{
    return status == YS_EINTR || status == YS_ENOMEM || status == YS_EINTERNAL || (status != YS_OK && !session);
}

ys_status ys_run_execute(const struct ys_run_spec *spec, struct ys_run_record *record)
{
    struct ys_run_spec own = *spec;
    struct ys_run run = {.spec = &own,
                         .series = &record->series,
                         .folder = ys_path_absolute(spec->launch.folder),
                         .pauses = ys_json_array(),
                         .checkpoints = ys_json_array(),
                         .libraries = ys_json_array()};
    struct ys_session_end end;
    *record = (struct ys_run_record){0};
    own.launch.samples = run.series;
    own.launch.folder = run.folder;
    run.own_cpu_ns = ys_run_own_cpu_ns();
    ys_host_count(&run.before);
    ys_status status = prepare(&run);
    if (status == YS_OK)
        status = go_through(&run);
    char *message = status != YS_OK ? ys_strdup(ys_error()) : NULL;
    bool is_own_failure = is_ours(status, run.session);
    ys_session_close(run.session, &end);
    if (is_own_failure && (!end.status || strcmp(end.status, "ok") == 0)) {
        end.status = "cancelled";
        ys_free(end.message);
        end.message = ys_strdup(message ? message : "out of memory");
    }
    ys_run_check_threads(&run, &end);
    record->facts = ys_run_facts(&run, &end);
    ys_session_end_fini(&end);
    ys_json_free(run.pauses);
    ys_json_free(run.checkpoints);
    ys_json_free(run.libraries);
    ys_json_free(run.opened);
    ys_free(run.folder);
    if (!record->facts)
        status = ys_out_of_memory();
    else if (is_own_failure)
        ys_fail(status, "%s", message ? message : "out of memory");
    else
        status = YS_OK;
    ys_free(message);
    return status;
}
