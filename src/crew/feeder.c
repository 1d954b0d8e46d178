#include "crew/feeder.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "data/row_order.h"
#include "protocol/batch_ring.h"
#include "protocol/request.h"
#include "session/launch_note.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define PROGRAM "yardstick-feeder"

_Static_assert((int)YS_FEED_CHANNEL_FD == (int)YS_LAUNCH_PASSED_FD &&
                   (int)YS_FEED_MEMORY_FD == (int)YS_LAUNCH_PASSED_FD + 1,
               "descriptors are passed on in this order");

static bool is_fed(const struct ys_plan *plan)
{
    return plan->input.kind && strcmp(plan->input.kind, YS_FEED_KIND) == 0;
}

static void close_both(int fds[2])
{
    for (int i = 0; i < 2; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
}

static ys_status find_program(char **program)
{
    *program = ys_find_support(PROGRAM);
    return *program ? YS_OK
                    : ys_fail(YS_ENOTFOUND, "the program %s is missing: build or install yardstick again", PROGRAM);
}

/* Both ends of the socket and the ring, which has no size yet. */
static ys_status open_ends(int own[2], int adapters[2])
{
    int ends[2] = {-1, -1};
    const int memory = memfd_create("yardstick-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
        own[0] = ends[0];
        adapters[0] = ends[1];
        own[1] = memory;
        adapters[1] = dup(memory);
        if (adapters[1] >= 0)
            return YS_OK;
    }
    const int error = errno;
    close_both(ends);
    if (memory >= 0)
        close(memory);
    own[0] = own[1] = adapters[0] = adapters[1] = -1;
    return ys_fail(YS_EIO, "cannot make a ring of batches: %s", strerror(error));
}

static ys_status start(const struct ys_plan *plan, const struct ys_launch *adapter, const char *program,
                       const char *folder, const int own[2], struct ys_session **session)
{
    const char *const argv[] = {program, "serve", NULL};
    int *cpus = ys_launch_cpus(&plan->input.cpus);
    const struct ys_launch launch = {.argv = argv,
                                     .program = YS_PROGRAM_OWN,
                                     .folder = folder,
                                     .cpus = cpus,
                                     .cpu_count = plan->input.cpus.count,
                                     .stall_limit_s = adapter->stall_limit_s,
                                     .run_time_limit_s = adapter->run_time_limit_s,
                                     .stop_grace_s = adapter->stop_grace_s,
                                     .on_turn = adapter->on_turn,
                                     .turn_context = adapter->turn_context,
                                     .passed = own,
                                     .passed_count = YS_FEEDER_PASSED};
    ys_json *reply = NULL;
    ys_status status = ys_fs_make_dirs(folder);
    if (status == YS_OK)
        status = ys_session_open(&launch, session);
    ys_free(cpus);
    if (status == YS_OK)
        status = ys_session_request(*session, ys_request_open(plan), NULL, NULL, &reply);
    ys_json_free(reply);
    return status;
}

ys_status ys_feeder_start(const struct ys_plan *plan, const struct ys_launch *adapter, struct ys_feeder *feeder)
{
    int own[2] = {-1, -1};
    char *program = NULL, *folder = NULL;
    *feeder = YS_FEEDER_NONE;
    if (!is_fed(plan))
        return YS_OK;
    ys_status status = find_program(&program);
    if (status == YS_OK)
        folder = ys_path_join(adapter->folder, "feeder");
    if (status == YS_OK)
        status = open_ends(own, feeder->passed);
    if (status == YS_OK)
        status = start(plan, adapter, program, folder, own, &feeder->session);
    close_both(own);
    ys_free(program);
    ys_free(folder);
    return status;
}

void ys_feeder_pass(const struct ys_feeder *feeder, struct ys_launch *launch)
{
    launch->passed = feeder->passed;
    launch->passed_count = feeder->session ? YS_FEEDER_PASSED : 0;
}

void ys_feeder_passed(struct ys_feeder *feeder)
{
    close_both(feeder->passed);
}

/* It failed first: what the adapter said of that is only how it noticed. */
static void blame(const struct ys_session_end *own_end, struct ys_session_end *end)
{
    char *said = ys_session_end_text(own_end, NULL);
    char *message = said ? ys_format("the feeder: %s", said) : NULL;
    ys_free(said);
    ys_free(end->message);
    end->status = own_end->status;
    end->message = message;
    end->is_told = true;
}

/* It lives, and its last words are what the framework waits for, if it does. */
static void explain(const struct ys_session_end *own_end, struct ys_session_end *end)
{
    char line[160] = "";
    ys_session_last_line(own_end->log_tail, line, sizeof line);
    char *message = line[0] && end->message ? ys_format("%s; %s", end->message, line) : NULL;
    if (!message)
        return;
    ys_free(end->message);
    end->message = message;
}

void ys_feeder_end(struct ys_feeder *feeder, struct ys_session_end *end, struct ys_session_end *own_end)
{
    ys_json *reply = NULL;
    *own_end = (struct ys_session_end){.exit_code = -1};
    ys_feeder_passed(feeder);
    if (!feeder->session)
        return;
    if (ys_session_request(feeder->session, ys_request("reset"), NULL, NULL, &reply) == YS_OK)
        ys_json_free(reply);
    ys_session_close(feeder->session, own_end);
    feeder->session = NULL;
    /* Who was only slow to leave had just answered. */
    const bool lingered = own_end->status == YS_RUN_STALLED && own_end->stage == YS_STAGE_STOP;
    const bool has_failed = own_end->status != YS_RUN_OK && own_end->status != YS_RUN_CANCELLED && !lingered;
    const bool lacks = !end->exec_ns || (end->status != YS_RUN_OK && end->status != YS_RUN_CANCELLED);
    if (has_failed && lacks)
        blame(own_end, end);
    else if (!has_failed && (end->status == YS_RUN_STALLED || end->status == YS_RUN_TIMEOUT_WALL))
        explain(own_end, end);
}

ys_status ys_feeder_write_batches(const struct ys_plan_input *input, const char *path)
{
    char seed[32], crop[32], *program = NULL;
    struct ys_buf said = {0};
    int exit_code = 0;
    const struct ys_child_options options = {.is_own = true, .merge_stderr = true};
    YS_TRY(find_program(&program));
    snprintf(seed, sizeof seed, "%" PRIu64, (uint64_t)input->seed);
    snprintf(crop, sizeof crop, "%" PRId64, input->crop == YS_FIELD_NONE ? 0 : input->crop);
    const char *argv[32] = {program, "batches", "--data", input->path, "--out", path, "--seed", seed, "--crop", crop};
    size_t count = 10;
    const struct {
        const char *flag, *value;
    } more[] = {{"--augment", input->augment},
                {"--decode", input->decode},
                {"--dtype", input->dtype},
                {"--order", input->order},
                {"--half", input->order ? NULL : "test"}};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        if (more[i].value) {
            argv[count++] = more[i].flag;
            argv[count++] = more[i].value;
        }
    ys_status status = ys_child_run(argv, &options, &said, &exit_code);
    if (status == YS_OK && exit_code != 0)
        status = ys_fail(YS_EIO, "%s ended with exit code %d: %s", PROGRAM, exit_code, ys_buf_text(&said));
    ys_buf_free(&said);
    ys_free(program);
    return status;
}

/* Row after row, with the rates that there were. */
static ys_status write_order(const struct ys_plan *plan, const char *path)
{
    struct ys_safetensors *file = NULL;
    const struct ys_tensor *lr;
    const int64_t count = plan->steps * plan->batch;
    YS_TRY(ys_safetensors_open(plan->input.order, &file));
    uint32_t *rows = ys_alloc((size_t)count, sizeof *rows);
    ys_status status = ys_safetensors_need(file, "lr", YS_F64, 1, &plan->steps, &lr);
    for (int64_t i = 0; status == YS_OK && i < count; i++)
        rows[i] = (uint32_t)i;
    if (status == YS_OK)
        status = ys_order_save(path, rows, ys_order_epochs(file, plan->steps), plan->batch, plan->steps, lr->data);
    ys_free(rows);
    ys_safetensors_close(file);
    return status;
}

ys_status ys_feeder_settle(struct ys_plan *plan, const char *folder)
{
    if (!is_fed(plan))
        return YS_OK;
    char *rows = ys_path_join(folder, "fed-rows.safetensors");
    char *order = ys_path_join(folder, "fed-order.safetensors");
    ys_status status = ys_feeder_write_batches(&plan->input, rows);
    if (status == YS_OK)
        status = write_order(plan, order);
    if (status == YS_OK) {
        ys_set_text(&plan->input.kind, "file");
        ys_set_text(&plan->input.path, rows);
        ys_set_text(&plan->input.order, order);
    }
    ys_free(rows);
    ys_free(order);
    return status;
}
