#include "study/job_listing.h"

#include "base/mem.h"
#include "graph/compose.h"
#include "graph/op.h"
#include "job/goal.h"
#include "job/schedule.h"

#include <math.h>
#include <string.h>

#define FIELD(member, kind, unit, flags, what) YS_FIELD(struct ys_listing_trial, member, kind, unit, flags, what)
#define COMMON                                                                                                         \
    FIELD(id, YS_FIELD_TEXT, NULL, 0, "name of the trial"),                                                            \
        FIELD(framework, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "as a job would name it"),                                \
        FIELD(title, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "its name for people"),                                       \
        FIELD(version, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "of the framework"),                                        \
        FIELD(threads, YS_FIELD_INT, NULL, 0, "that it may use"),                                                      \
        YS_FIELD_NAMED(struct ys_listing_trial, status, &ys_run_statuses, 0, "ok, or why it cannot run"),              \
        FIELD(reason, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "of that status"),                                           \
        FIELD(command, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "what would help"),                                         \
        FIELD(steps, YS_FIELD_INT, NULL, YS_FIELD_NULL, "of a training; null in mode infer"),                          \
        FIELD(requests, YS_FIELD_INT, NULL, YS_FIELD_NULL, "in mode infer; null of a training")

static const struct ys_field checked[] = {
    COMMON,
    FIELD(until, YS_FIELD_TEXT, NULL, YS_FIELD_NULL | YS_FIELD_MAY_LACK, "target of its runs; where there is one"),
    FIELD(kept_rows, YS_FIELD_INT, "rows", YS_FIELD_NULL | YS_FIELD_MAY_LACK,
          "training rows that are evaluated in the place of the test rows (tune.rows)"),
    FIELD(looks, YS_FIELD_INT, "1", YS_FIELD_NULL | YS_FIELD_MAY_LACK, "evaluations of such a run, at most"),
    FIELD(schedule, YS_FIELD_TEXT, NULL, YS_FIELD_NULL | YS_FIELD_MAY_LACK,
          "of such a run, laid over all its steps; absent where it is constant"),
    FIELD(known, YS_FIELD_TRUTH, NULL, YS_FIELD_NULL | YS_FIELD_MAY_LACK, "whether run_s was measured before"),
    FIELD(run_s, YS_FIELD_REAL, "s", YS_FIELD_NULL | YS_FIELD_MAY_LACK, "of one run, estimated; of one that can run"),
    FIELD(apart_times, YS_FIELD_REAL, "1", YS_FIELD_NULL | YS_FIELD_MAY_LACK,
          "speed over that of the whole runs, where they lay apart in the latest study that had one like it"),
    FIELD(apart_steps, YS_FIELD_REAL, "1", YS_FIELD_NULL | YS_FIELD_MAY_LACK,
          "of so many steps or requests its runs would have one speed"),
    YS_FIELD_OF(struct ys_listing_trial, due, YS_FIELD_LIST, &ys_due_record, YS_FIELD_MAY_LACK,
                "which checks of its runs are due, and which not"),
};
const struct ys_record ys_listing_check_record = YS_RECORD("trial", struct ys_listing_trial, checked);

static const struct ys_field verified[] = {
    COMMON,
    YS_FIELD_OF(struct ys_listing_trial, proof, YS_FIELD_OBJECT_OWNED, &ys_proof_record, YS_FIELD_NULL,
                "null where it cannot run"),
};
const struct ys_record ys_listing_verify_record = YS_RECORD("trial", struct ys_listing_trial, verified);

static const char *const role_words[] = {"weight", "constant", "buffer"};
const struct ys_names ys_listing_roles = YS_NAMES("role", role_words);

static const struct ys_field param_fields[] = {
    YS_FIELD(struct ys_listing_param, name, YS_FIELD_TEXT, NULL, 0, "in the graph"),
    YS_FIELD(struct ys_listing_param, shape, YS_FIELD_TEXT, NULL, 0, "its extents"),
    YS_FIELD_NAMED(struct ys_listing_param, role, &ys_listing_roles, 0,
                   "weight: trained; constant: not; buffer: kept by batch normalisation"),
    YS_FIELD(struct ys_listing_param, nodes, YS_FIELD_INT, NULL, 0, "that read it; above 1 it is tied"),
};
static const struct ys_record param_record = YS_RECORD("parameter", struct ys_listing_param, param_fields);

static const struct ys_field file_fields[] = {
    YS_FIELD(struct ys_listing_file, model, YS_FIELD_TEXT, NULL, 0, "path"),
    YS_FIELD(struct ys_listing_file, trial, YS_FIELD_TEXT, NULL, 0, "the first that has it so"),
    YS_FIELD_OF(struct ys_listing_file, params, YS_FIELD_LIST, &param_record, 0, "in the order of the graph"),
    YS_FIELD(struct ys_listing_file, notes, YS_FIELD_JSON, NULL, 0, "what was changed, left out and assumed"),
};
static const struct ys_record file_record = YS_RECORD("file", struct ys_listing_file, file_fields);

static const struct ys_field look_fields[] = {
    YS_FIELD(struct ys_listing_look, rounds, YS_FIELD_INT, "1", 0, "after which it looks"),
    YS_FIELD(struct ys_listing_look, runs, YS_FIELD_INT, "1", 0, "until then"),
    YS_FIELD(struct ys_listing_look, estimate_s, YS_FIELD_REAL, "s", 0, "of these"),
};
static const struct ys_record look_record = YS_RECORD("look", struct ys_listing_look, look_fields);

#undef FIELD
#define FIELD(member, kind, unit, what) YS_FIELD(struct ys_listing, member, kind, unit, 0, what)
static const struct ys_field fields[] = {
    FIELD(study, YS_FIELD_JSON, NULL, "the study's own keys"),
    YS_FIELD_OF(struct ys_listing, trials, YS_FIELD_LIST, &ys_listing_check_record, 0, "in the order of the job"),
    YS_FIELD_OF(struct ys_listing, files, YS_FIELD_LIST, &file_record, 0, "ONNX files that are models"),
    FIELD(runs, YS_FIELD_INT, NULL, "of all trials"),
    FIELD(estimate_s, YS_FIELD_REAL, "s", "of all runs"),
    YS_FIELD_OF(struct ys_listing, looks, YS_FIELD_LIST, &look_record, 0,
                "of a study that goes on until it is decided"),
    YS_FIELD(struct ys_listing, noise, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "what so many runs can tell apart here"),
};
const struct ys_record ys_listing_record = YS_RECORD("check", struct ys_listing, fields);

void ys_listing_fini(struct ys_listing *listing)
{
    struct ys_listing_trial *lines = listing->trials.items;
    for (size_t i = 0; i < listing->trials.count; i++) {
        if (lines[i].proof)
            ys_proof_fini(lines[i].proof);
        ys_free(lines[i].proof);
        lines[i].proof = NULL;
    }
    ys_record_fini(&ys_listing_record, listing);
}

static int64_t count_readers(const struct ys_graph *graph, size_t param)
{
    int64_t count = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        for (int which = 0; which < YS_NODE_PARAM_COUNT; which++)
            count += ys_node_param(&graph->nodes[i], (enum ys_node_param)which) == (int)param;
    return count;
}

static void add_param(const struct ys_graph *graph, size_t index, struct ys_list *list)
{
    char shape[YS_SHAPE_TEXT];
    const struct ys_param *param = &graph->params[index];
    struct ys_listing_param *line = ys_list_add(&param_record, list);
    line->name = ys_strdup(param->name);
    line->shape = ys_strdup(ys_shape_text(param->shape, param->rank, shape));
    line->role = param->role == YS_ROLE_BUFFER ? YS_LISTING_BUFFER
                 : ys_param_is_trained(param)  ? YS_LISTING_WEIGHT
                                               : YS_LISTING_CONSTANT;
    line->nodes = count_readers(graph, index);
}

void ys_listing_add_file(struct ys_listing *listing, const struct ys_trial *trial, const struct ys_graph *graph,
                         const ys_json *notes)
{
    struct ys_listing_file *file = ys_list_add(&file_record, &listing->files);
    file->model = ys_strdup(trial->record.keys.model);
    file->trial = ys_strdup(trial->record.id);
    file->notes = ys_json_copy(notes);
    for (size_t i = 0; i < graph->param_count; i++)
        add_param(graph, i, &file->params);
}

static char *copy_of(const char *text)
{
    return text ? ys_strdup(text) : NULL;
}

static void add_target(const struct ys_trial_settings *keys, struct ys_listing_trial *line)
{
    struct ys_goal goal;
    char text[YS_GOAL_TEXT];
    if (!keys->until || ys_goal_parse(keys->until, &goal) != YS_OK)
        return;
    ys_goal_text(&goal, text);
    line->until = ys_strdup(text);
    if (keys->schedule && strcmp(keys->schedule, "constant") != 0)
        line->schedule = ys_strdup(keys->schedule);
}

static int64_t kept_rows(const struct ys_trial *trial)
{
    const int64_t kept = trial->data ? ys_job_kept_rows(&trial->record.keys, trial->data->train_count) : 0;
    return kept ? kept : YS_FIELD_NONE;
}

void ys_listing_add(struct ys_listing *listing, const struct ys_trial *trial, struct ys_listing_trial **line)
{
    const int64_t requests = ys_trial_requests(trial);
    struct ys_listing_trial *lines =
        ys_realloc(listing->trials.items, listing->trials.count + 1, sizeof(struct ys_listing_trial));
    listing->trials.items = lines;
    *line = &lines[listing->trials.count++];
    **line = (struct ys_listing_trial){
        .id = copy_of(trial->record.id),
        .framework = copy_of(trial->framework->spec),
        .title = copy_of(trial->framework->title),
        .version = copy_of(trial->framework->version),
        .mode = trial->record.keys.mode,
        .threads = trial->threads,
        .status = ys_trial_can_run(trial) ? (int)YS_RUN_OK : trial->record.status,
        .reason = copy_of(trial->record.reason),
        .command = copy_of(trial->record.command),
        .steps = requests ? YS_FIELD_NONE : trial->steps,
        .requests = requests ? requests : YS_FIELD_NONE,
        .kept_rows = kept_rows(trial),
        .looks = ys_trial_looks(trial),
        .known = YS_NAME_NONE,
        .run_s = NAN,
        .apart_times = NAN,
        .apart_steps = NAN,
    };
    add_target(&trial->record.keys, *line);
}
