#include "verify/audit.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/stored/safetensors.h"
#include "graph/graph.h"
#include "verify/audits/first_loss.h"
#include "verify/audits/replay.h"
#include "verify/oracle/twin.h"
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static const char *const verdict_names[] = {[YS_AUDIT_PASS] = "pass",
                                            [YS_AUDIT_WEAK] = "weak",
                                            [YS_AUDIT_NONE] = "none",
                                            [YS_AUDIT_MISSING] = "missing",
                                            [YS_AUDIT_FAIL] = "fail"};
const struct ys_names ys_audit_verdicts = YS_NAMES("verdict", verdict_names);

static const struct ys_field fields[] = {
    YS_FIELD_NAMED(struct ys_audit, verdict, &ys_audit_verdicts, 0, "what the audit comes to"),
    YS_FIELD(struct ys_audit, reason, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "why it is not pass"),
    YS_FIELD(struct ys_audit, place, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "loss or tensor closest to its bound"),
    YS_FIELD(struct ys_audit, error, YS_FIELD_REAL, "1", YS_FIELD_NULL, "there; null is infinite"),
    YS_FIELD(struct ys_audit, bound, YS_FIELD_REAL, "1", YS_FIELD_NULL, "there"),
    YS_FIELD(struct ys_audit, round, YS_FIELD_INT, NULL, YS_FIELD_NULL, "whose work it was"),
    YS_FIELD(struct ys_audit, step, YS_FIELD_INT, NULL, YS_FIELD_NULL, "the first that was gone through again"),
    YS_FIELD(struct ys_audit, steps, YS_FIELD_INT, NULL, YS_FIELD_NULL, "how many were"),
    YS_FIELD(struct ys_audit, tensors, YS_FIELD_INT, NULL, YS_FIELD_NULL,
             "weights and buffers whose ways were looked at"),
    YS_FIELD(struct ys_audit, small, YS_FIELD_INT, NULL, YS_FIELD_NULL, "of these, ways too small to be judged"),
    YS_FIELD(struct ys_audit, loose, YS_FIELD_INT, NULL, YS_FIELD_NULL, "of these, bounds above 0.2"),
    YS_FIELD(struct ys_audit, answers, YS_FIELD_INT, NULL, YS_FIELD_NULL | YS_FIELD_LATER,
             "of inference, answers that were judged"),
    YS_FIELD(struct ys_audit, compared, YS_FIELD_INT, NULL, YS_FIELD_NULL | YS_FIELD_LATER,
             "losses of the timed run that were compared with those of this one"),
    YS_FIELD(struct ys_audit, same, YS_FIELD_INT, NULL, YS_FIELD_NULL | YS_FIELD_LATER,
             "how many of them, from the first on, are the same to the bit"),
    YS_FIELD(struct ys_audit, tries, YS_FIELD_INT, "1", YS_FIELD_NULL | YS_FIELD_LATER,
             "runs that were gone through, of which the last counts"),
    YS_FIELD(struct ys_audit, run_s, YS_FIELD_REAL, "s", YS_FIELD_NULL | YS_FIELD_LATER, "what its run took"),
    YS_FIELD(struct ys_audit, judge_s, YS_FIELD_REAL, "s", YS_FIELD_NULL | YS_FIELD_LATER,
             "what going through its steps again took"),
};
const struct ys_record ys_audit_record = YS_RECORD("audit", struct ys_audit, fields);

void ys_audit_settle(struct ys_audit *audit, enum ys_audit_verdict verdict, const char *reason)
{
    char *kept = reason ? ys_strdup(reason) : NULL;
    ys_free(audit->reason);
    audit->verdict = verdict;
    audit->reason = kept;
}

void ys_audit_settle_broken(struct ys_audit *audit, ys_status broken)
{
    ys_audit_settle(audit, broken == YS_EUNSUPPORTED ? YS_AUDIT_NONE : YS_AUDIT_MISSING, ys_error());
}

/* 0 to `count` - 1, from the kernel: nobody can know it before. */
static ys_status draw(int64_t count, int64_t *drawn)
{
    uint64_t bits;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
        return ys_fail(YS_EIO, "the kernel gives no random numbers");
    *drawn = (int64_t)(bits % (uint64_t)count); /* of 2^64: no remainder that could matter */
    return YS_OK;
}

static ys_status find_carried(const struct ys_plan *plan, bool *carried)
{
    struct ys_graph *graph = NULL;
    YS_TRY(ys_graph_read(plan->graph, &graph));
    *carried = graph->carries_state;
    ys_graph_free(graph);
    return YS_OK;
}

ys_status ys_audit_plan(const struct ys_plan *plan, struct ys_audit_manner *manner)
{
    const struct ys_plan_optimizer *optimizer = &plan->optimizer;
    const int64_t steps = plan->steps;
    const bool sgd = strcmp(optimizer->name, "sgd") == 0, momentum = optimizer->momentum != 0;
    *manner = (struct ys_audit_manner){0};
    if (!ys_mode_of(plan->mode)->trains)
        return ys_fail(YS_ENOTFOUND, "inference is not audited");
    if (steps < YS_AUDIT_LEAST_STEPS)
        return ys_fail(YS_ENOTFOUND, YS_AUDIT_TOO_SHORT);
    YS_TRY(ys_first_loss_is_random(plan, &manner->random));
    YS_TRY(find_carried(plan, &manner->carried));
    manner->ways = sgd && !(momentum && optimizer->nesterov);
    manner->run.steps = plan->block < YS_AUDIT_STEPS ? plan->block : YS_AUDIT_STEPS;
    manner->run.lead = manner->ways && momentum;
    manner->run.follow = !manner->ways;
    manner->run.state = !sgd || momentum || manner->carried;
    YS_TRY(draw(steps - 1 - manner->run.steps - 1, &manner->run.at));
    manner->run.at++;
    return YS_OK;
}

/* One stretch of steps that is gone through again. */
struct audited_steps {
    const char *start, *lead; /* files: the weights it begins with; those of one step before, NULL: no velocity is to be
                                 inferred from them */
    bool state, ways;         /* the optimizer's state is in `start` too; its end is saved, and ways are judged */
    int64_t first, steps;
};

struct audit_judge {
    const struct ys_audit_manner *manner;
    const struct ys_audit_evidence *evidence;
    struct ys_audit *audit;
    struct ys_graph *graph;
    bool state, ways;      /* the run saved its optimizer's state; ways of tensors can be judged */
    double closest;        /* error / bound of the place that is noted */
    int64_t values, shown; /* of all tensors; of those judged within a bound that shows something */
    bool failed, loss_failed;
    double way_beyond; /* the largest error of the ways that are beyond their bounds; 0: none is */
};

static void note(struct audit_judge *j, double error, double bound, const char *place)
{
    double share = bound > 0 ? error / bound : error > 0 ? INFINITY : 0;
    j->failed |= !(error <= bound);
    if (j->audit->place && !(share > j->closest) && !isnan(share))
        return;
    ys_free(j->audit->place);
    j->audit->place = ys_strdup(place);
    j->audit->error = isfinite(error) ? error : NAN;
    j->audit->bound = bound;
    j->closest = isnan(share) ? INFINITY : share;
}

/* The velocity that took `from` to `to` in step `step`, as a file: SGD goes r v in a step. */
static ys_status write_velocity(const struct audit_judge *j, const char *from, const char *to, double rate,
                                const char *path)
{
    const struct ys_graph *graph = j->graph;
    struct ys_safetensors *before = NULL, *after = NULL;
    struct ys_tensor *tensors = ys_alloc(graph->param_count, sizeof *tensors);
    size_t count = 0;
    ys_status status = ys_safetensors_open(from, &before);
    if (status == YS_OK)
        status = ys_safetensors_open(to, &after);
    for (size_t p = 0; status == YS_OK && p < graph->param_count; p++) {
        const struct ys_param *param = &graph->params[p];
        const struct ys_tensor *a = ys_safetensors_find(before, param->name),
                               *b = ys_safetensors_find(after, param->name);
        size_t n = (size_t)ys_param_elements(param);
        double r = rate * param->lr_mult;
        if (param->role != YS_ROLE_WEIGHT)
            continue;
        double *values = ys_alloc(n, sizeof *values);
        struct ys_tensor made = {.name = ys_format("state.velocity.%s", param->name),
                                 .dtype = YS_F64,
                                 .rank = param->rank,
                                 .data = values,
                                 .size_bytes = n * sizeof *values};
        memcpy(made.shape, param->shape, sizeof made.shape);
        tensors[count++] = made;
        if (!a || !b || ys_tensor_count(a) != n || ys_tensor_count(b) != n)
            status = ys_fail(YS_EFORMAT, "what it saved has no %s of %zu values", param->name, n);
        for (size_t i = 0; status == YS_OK && r != 0 && i < n; i++)
            values[i] = (ys_tensor_value(a, i) - ys_tensor_value(b, i)) / r;
    }
    if (status == YS_OK)
        status = ys_safetensors_pass(path, tensors, count);
    for (size_t i = 0; i < count; i++) {
        ys_free((void *)(uintptr_t)tensors[i].data);
        ys_free((void *)(uintptr_t)tensors[i].name);
    }
    ys_free(tensors);
    ys_safetensors_close(before);
    ys_safetensors_close(after);
    return status;
}

static ys_status rate_of(const struct ys_plan *plan, int64_t step, double *rate)
{
    struct ys_safetensors *order = NULL;
    const struct ys_tensor *lr;
    YS_TRY(ys_safetensors_open(plan->input.order, &order));
    ys_status status = ys_safetensors_need(order, "lr", YS_F64, 1, NULL, &lr);
    if (status == YS_OK)
        *rate = ys_tensor_value(lr, (size_t)step);
    ys_safetensors_close(order);
    return status;
}

/* Files of a twin's start, in the run's folder. */
struct files {
    char *start, *from, *to, *velocity;
};

static void free_files(struct files *f)
{
    ys_free(f->start);
    ys_free(f->from);
    ys_free(f->to);
    ys_free(f->velocity);
}

/* The velocity is inferred from weights that are saved as float32: it moves by a unit of that in any format. */
static ys_status move_start(const struct audit_judge *j, const struct audited_steps *s, int twin, int units,
                            const struct files *f)
{
    const struct ys_plan *plan = j->evidence->plan;
    const enum ys_precision precision = (enum ys_precision)plan->precision;
    const enum ys_precision saved = ys_format_of(plan->precision)->kept;
    const int64_t seed = plan->seed;
    double rate = 0;
    YS_TRY(ys_twin_write_weights(seed, twin, units, precision, s->start, f->start));
    if (!s->lead)
        return YS_OK;
    YS_TRY(rate_of(plan, s->first - 1, &rate));
    YS_TRY(ys_twin_write_weights(seed, twin + YS_VERIFY_TWINS, 1, saved, s->lead, f->from));
    YS_TRY(ys_twin_write_weights(seed, twin + 2 * YS_VERIFY_TWINS, 1, saved, s->start, f->to));
    return write_velocity(j, f->from, f->to, rate, f->velocity);
}

/* Goes through the stretch: `twin` -1 from where the run was, else from there moved by `units`. */
static ys_status go_through(const struct audit_judge *j, const struct audited_steps *s, int twin, int units,
                            const struct files *f, double *losses, struct ys_safetensors **after)
{
    const struct ys_plan *plan = j->evidence->plan;
    struct ys_replay replay = {.engine = j->evidence->engine,
                               .plan = plan,
                               .precision = (enum ys_precision)plan->precision,
                               .backend = j->evidence->is_builtin && twin < 0 ? "ref" : NULL,
                               .weights = twin < 0 ? s->start : f->start,
                               .state = s->lead     ? f->velocity
                                        : !s->state ? NULL
                                        : twin < 0  ? s->start
                                                    : f->start,
                               .first = s->first,
                               .steps = s->steps,
                               .seed = j->manner->random ? twin + 1 : 0,
                               .folder = j->evidence->folder};
    double rate = 0;
    if (replay.backend)
        replay.precision = ys_format_of(plan->precision)->kept; /* what it rounds less than asked the twins show */
    if (twin >= 0) {
        YS_TRY(move_start(j, s, twin, units, f));
    } else if (s->lead) {
        YS_TRY(rate_of(plan, s->first - 1, &rate));
        YS_TRY(write_velocity(j, s->lead, s->start, rate, f->velocity));
    }
    return ys_replay_run(&replay, losses, after);
}

/* norm(way of a - way of b), way and size of b; false where a tensor is missing or not finite. */
static bool compare_ways(const char *name, const struct ys_safetensors *files[4], double *apart, double *way,
                         double *size)
{
    const struct ys_tensor *t[4];
    double differences = 0, ways = 0, squares = 0;
    for (int i = 0; i < 4; i++)
        t[i] = ys_safetensors_find(files[i], name);
    for (int i = 0; i < 4; i++)
        if (!t[i] || ys_tensor_count(t[i]) != ys_tensor_count(t[3]))
            return false;
    for (size_t i = 0; i < ys_tensor_count(t[3]); i++) {
        double start = ys_tensor_value(t[2], i), b = ys_tensor_value(t[3], i) - start;
        double a = ys_tensor_value(t[1], i) - ys_tensor_value(t[0], i);
        differences += (a - b) * (a - b);
        ways += b * b;
        squares += start * start;
    }
    *apart = sqrt(differences);
    *way = sqrt(ways);
    *size = sqrt(squares);
    return isfinite(differences);
}

/* What twins have shown of one stretch. */
struct shown {
    double *ref, *losses, *loss_bound; /* [steps]: the engine's; of the twin under way; how far twins were from it */
    double *flipped_loss;    /* [steps]: the same of the wide ones, 0 where they were not asked and of the first step */
    double *bound, *flipped; /* [parameters]: the worst of the twins; of the wide ones, 0 where they were not asked */
    struct ys_safetensors *start, *after, *said; /* the last: what the run saved behind the stretch */
    bool sums;                                   /* a way may also be as far off as sums in bfloat16 make it */
};

static ys_status add_ways(struct audit_judge *j, const struct files *f, const struct ys_safetensors *after,
                          const struct shown *shown, double *worst)
{
    struct ys_safetensors *start = NULL;
    YS_TRY(ys_safetensors_open(f->start, &start));
    for (size_t p = 0; p < j->graph->param_count; p++) {
        const struct ys_safetensors *files[4] = {start, after, shown->start, shown->after};
        double apart = INFINITY, way = 0, size = 0;
        bool whole = compare_ways(j->graph->params[p].name, files, &apart, &way, &size);
        worst[p] = fmax(worst[p], whole && way > 0 ? apart / way : INFINITY);
    }
    ys_safetensors_close(start);
    return YS_OK;
}

static ys_status ask_twins(struct audit_judge *j, const struct audited_steps *s, const struct files *f,
                           struct shown *shown)
{
    const int twins = j->manner->random ? YS_AUDIT_TWINS_RANDOM : YS_VERIFY_TWINS;
    const bool ways = s->ways;
    for (int twin = 0; twin < twins; twin++) {
        struct ys_safetensors *after = NULL;
        YS_TRY(go_through(j, s, twin, 1, f, shown->losses, ways ? &after : NULL));
        for (int64_t i = 0; i < s->steps; i++)
            shown->loss_bound[i] = fmax(shown->loss_bound[i], fabs(shown->losses[i] - shown->ref[i]));
        ys_status status = ways ? add_ways(j, f, after, shown, shown->bound) : YS_OK;
        ys_safetensors_close(after);
        YS_TRY(status);
    }
    return YS_OK;
}

/* Moved so far, the weights flip ReLUs that rounding alone flips in one run of many: what a flip moves a way by. */
static ys_status ask_wide_twins(struct audit_judge *j, const struct audited_steps *s, const struct files *f,
                                struct shown *shown)
{
    for (int twin = 0; twin < YS_VERIFY_TWINS; twin++) {
        struct ys_safetensors *after = NULL;
        YS_TRY(go_through(j, s, twin + 3 * YS_VERIFY_TWINS, YS_AUDIT_WIDE, f, shown->losses, s->ways ? &after : NULL));
        for (int64_t i = 1; i < s->steps; i++) /* before the first no gradient has moved anything */
            shown->flipped_loss[i] = fmax(shown->flipped_loss[i], fabs(shown->losses[i] - shown->ref[i]));
        ys_status status = s->ways ? add_ways(j, f, after, shown, shown->flipped) : YS_OK;
        ys_safetensors_close(after);
        YS_TRY(status);
    }
    return YS_OK;
}

/* What a ReLU that rounding flips, which no twin may have met, moves a way by. */
static double flip(const struct audit_judge *j)
{
    return fmax(YS_AUDIT_FLIP / (double)j->evidence->plan->batch, YS_AUDIT_WAY_LEAST);
}

/* A flip in one step shows in the loss of the next: by that share of what training did to it, of which the difference
 * to the first loss tells something, as long as no other rows hide it; and as wide twins show. */
static double loss_bound(const struct audit_judge *j, const struct shown *shown, int64_t i, double scale)
{
    double bound = fmax(YS_VERIFY_TWIN_FACTOR * shown->loss_bound[i] / scale, YS_AUDIT_LOSS_LEAST);
    bound = fmax(bound, flip(j) * fabs(shown->ref[i] - shown->ref[0]) / scale);
    return fmax(bound, YS_AUDIT_FLIP_FACTOR * shown->flipped_loss[i] / scale);
}

/* What moves ways by YS_AUDIT_FLIP_MOST, as far as a flip is thought to, moves losses in proportion. */
static double loss_most(const struct audit_judge *j, const struct shown *shown, int64_t i, double scale)
{
    double widest = 0;
    for (size_t p = 0; p < j->graph->param_count; p++)
        widest = fmax(widest, YS_AUDIT_FLIP_FACTOR * shown->flipped[p]);
    return widest > 0 ? YS_AUDIT_FLIP_MOST / widest * YS_AUDIT_FLIP_FACTOR * shown->flipped_loss[i] / scale : 0;
}

/* How far the loss of step `i` of the stretch is from the engine's, and how far it may be. */
static double look_at_loss(const struct audit_judge *j, const struct audited_steps *s, const struct shown *shown,
                           int64_t i, const double *losses, size_t count, double *bound)
{
    const size_t step = (size_t)(s->first + i);
    const double scale = shown->ref[i] != 0 ? fabs(shown->ref[i]) : 1;
    *bound = loss_bound(j, shown, i, scale);
    return fabs((step < count ? losses[step] : NAN) - shown->ref[i]) / scale;
}

static void judge_losses(struct audit_judge *j, const struct audited_steps *s, const struct shown *shown,
                         const double *losses, size_t count, const char *whose)
{
    for (int64_t i = 0; i < s->steps; i++) {
        char place[64];
        double bound, error = look_at_loss(j, s, shown, i, losses, count, &bound);
        const double scale = shown->ref[i] != 0 ? fabs(shown->ref[i]) : 1;
        snprintf(place, sizeof place, "loss of step %lld%s", (long long)(s->first + i), whose);
        note(j, error, bound, place);
        j->loss_failed |= !(error <= fmax(bound, loss_most(j, shown, i, scale)));
    }
}

/* Which step of the stretch is the first whose loss is beyond its bound; their number: none is. */
static int64_t first_beyond(const struct audit_judge *j, const struct audited_steps *s, const struct shown *shown,
                            const double *losses, size_t count)
{
    int64_t i = 0;
    for (double bound, error; i < s->steps; i++) {
        error = look_at_loss(j, s, shown, i, losses, count, &bound);
        if (!(error <= bound))
            break;
    }
    return i;
}

/* The same of the run, and of the timed one where the stretch is where both began. */
static int64_t first_beyond_of_both(const struct audit_judge *j, const struct audited_steps *s,
                                    const struct shown *shown)
{
    const struct ys_audit_evidence *e = j->evidence;
    const int64_t own = first_beyond(j, s, shown, e->losses, e->loss_count);
    const int64_t timed = s->first == 0 ? first_beyond(j, s, shown, e->timed, e->timed_count) : s->steps;
    return own < timed ? own : timed;
}

/* Norm of what rounding alone may add to a tensor of that norm: each side rounds a weight once a step, and saving
 * twice. Twins do not show it: moved by a whole unit, they are rounded alike. */
static double roundings(const struct audit_judge *j, const struct ys_safetensors *saved, double size)
{
    const struct ys_tensor *any = ys_safetensors_find(saved, j->graph->params[0].name);
    double unit = any && any->dtype == YS_F64 ? 0x1p-53 : 0x1p-24;
    return (double)(2 * j->manner->run.steps + 2) * unit * size;
}

/* What rounding does to the gradient of a vector, which a framework may add up in bfloat16 over rows and positions
 * where the engine adds in float32: each of n partial sums of a sum that grows evenly is rounded by up to 2^-8 of
 * itself, evenly spread, so the errors' root mean square is 2^-8 sqrt(n) / 3 of the whole. 0 of what is no vector. */
static double sum_in_bf16(const struct audit_judge *j, size_t p)
{
    const struct ys_graph *graph = j->graph;
    const int index = (int)p;
    double most = 0;
    if (graph->params[p].rank != 1)
        return 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct ys_node *node = &graph->nodes[i];
        if (node->bias != index && node->weight != index && node->recurrent_bias != index)
            continue;
        const double values = (double)ys_value_row_elements(&graph->values[node->out[0]]);
        most = fmax(most, values * (double)j->evidence->plan->batch / (double)ys_param_elements(&graph->params[p]));
    }
    return 0x1p-8 * sqrt(most) / 3;
}

/* How far a tensor went otherwise than the engine's, and how far it may. */
struct tensor_distance {
    bool is_short, is_none; /* too short to be judged; no way at all */
    double error, bound;
};

static struct tensor_distance look_at_way(const struct audit_judge *j, const struct shown *shown,
                                          const struct ys_safetensors *said, size_t p)
{
    const struct ys_safetensors *files[4] = {shown->start, said, shown->start, shown->after};
    double apart = INFINITY, length = 0, size = 0;
    bool whole = compare_ways(j->graph->params[p].name, files, &apart, &length, &size);
    struct tensor_distance way = {.is_short = whole && length < YS_AUDIT_ROUNDINGS * 0x1p-24 * size,
                                  .is_none = whole && length == 0,
                                  .error = whole ? apart / length : INFINITY,
                                  .bound = fmax(YS_VERIFY_TWIN_FACTOR * shown->bound[p], flip(j))};
    way.bound = fmax(way.bound, YS_AUDIT_FLIP_FACTOR * shown->flipped[p]);
    if (shown->sums)
        way.bound = fmax(way.bound, YS_VERIFY_TWIN_FACTOR * sum_in_bf16(j, p));
    if (whole && length > 0)
        way.bound = fmax(way.bound, roundings(j, said, size) / length);
    return way;
}

static bool is_any_beyond(const struct audit_judge *j, const struct shown *shown)
{
    for (size_t p = 0; p < j->graph->param_count; p++) {
        struct tensor_distance way = look_at_way(j, shown, shown->said, p);
        if (!way.is_short && !way.is_none && !(way.error <= way.bound))
            return true;
    }
    return false;
}

static void note_ways(struct audit_judge *j, const struct shown *shown, const struct ys_safetensors *said)
{
    j->audit->tensors = (int64_t)j->graph->param_count;
    j->audit->small = j->audit->loose = 0;
    for (size_t p = 0; p < j->graph->param_count; p++) {
        const int64_t values = ys_param_elements(&j->graph->params[p]);
        struct tensor_distance way = look_at_way(j, shown, said, p);
        j->values += values;
        j->audit->small += way.is_short || way.is_none;
        if (way.is_short)
            continue;
        j->audit->loose += !(way.bound <= YS_AUDIT_LOOSE);
        j->shown += way.bound <= YS_AUDIT_LOOSE ? values : 0;
        if (!way.is_none && !(way.error <= way.bound))
            j->way_beyond = isnan(way.error) ? INFINITY : fmax(j->way_beyond, way.error);
        if (!way.is_none)
            note(j, way.error, way.bound, j->graph->params[p].name);
    }
}

/* A flip moves ways, and losses behind the step in which it happened, never the first of a stretch. In bf16 twins move
 * far enough as it is; what doubles round flips nothing. */
static bool may_be_flip(const struct audit_judge *j, const struct audited_steps *s, const struct shown *shown)
{
    const int64_t beyond = first_beyond_of_both(j, s, shown);
    if (j->failed || j->manner->random || !ys_format_of(j->evidence->plan->precision)->may_flip || beyond == 0)
        return false;
    return beyond < s->steps || (s->ways && is_any_beyond(j, shown));
}

/* In bf16, where the losses hold and a way does not, how a framework adds up may be why. */
static void judge_ways(struct audit_judge *j, struct shown *shown)
{
    shown->sums = !j->failed && ys_format_of(j->evidence->plan->precision)->adds_up && is_any_beyond(j, shown);
    note_ways(j, shown, shown->said);
}

/* The timed run's first losses are the engine's too; and where it first parts from this one, rounding is the reason. */
static double look_at_parting(const struct audit_judge *j, const struct audited_steps *s, const struct shown *shown,
                              double *bound)
{
    const struct ys_audit_evidence *e = j->evidence;
    const int64_t at = j->audit->same;
    const double scale = fabs(e->losses[at]) > 0 ? fabs(e->losses[at]) : 1;
    *bound = flip(j);
    for (int64_t i = 0; i < s->steps; i++)
        *bound = fmax(*bound, loss_bound(j, shown, i, shown->ref[i] != 0 ? fabs(shown->ref[i]) : 1));
    return fabs(e->timed[at] - e->losses[at]) / scale;
}

static void judge_timed(struct audit_judge *j, const struct audited_steps *s, const struct shown *shown)
{
    char place[64];
    double bound, error = look_at_parting(j, s, shown, &bound);
    judge_losses(j, s, shown, j->evidence->timed, j->evidence->timed_count, " of the timed run");
    snprintf(place, sizeof place, "loss of step %lld of the timed run", (long long)j->audit->same);
    note(j, error, bound, place);
    j->loss_failed |= !(error <= bound);
}

/* Bounds only grow by what twins show. What lies within the least of them already needs none, and is the better shown;
 * with dropout nothing does. */
static bool needs_twins(const struct audit_judge *j, const struct audited_steps *s, const struct shown *shown)
{
    double bound;
    if (j->manner->random || first_beyond_of_both(j, s, shown) < s->steps)
        return true;
    if (s->first == 0 && !(look_at_parting(j, s, shown, &bound) <= bound))
        return true;
    return s->ways && is_any_beyond(j, shown);
}

static ys_status open_said(const struct audit_judge *j, struct shown *shown)
{
    char *path = ys_path_join(j->evidence->folder, YS_RUN_AUDIT_AFTER);
    ys_status status = ys_safetensors_open(path, &shown->said);
    ys_free(path);
    return status;
}

static ys_status judge_with(struct audit_judge *j, const struct audited_steps *s, const struct files *f,
                            struct shown *shown)
{
    YS_TRY(ys_safetensors_open(s->start, &shown->start));
    if (s->ways)
        YS_TRY(open_said(j, shown));
    YS_TRY(go_through(j, s, -1, 0, f, shown->ref, s->ways ? &shown->after : NULL));
    if (needs_twins(j, s, shown))
        YS_TRY(ask_twins(j, s, f, shown));
    if (may_be_flip(j, s, shown))
        YS_TRY(ask_wide_twins(j, s, f, shown));
    judge_losses(j, s, shown, j->evidence->losses, j->evidence->loss_count, "");
    if (s->first == 0)
        judge_timed(j, s, shown);
    if (s->ways)
        judge_ways(j, shown);
    return YS_OK;
}

static ys_status judge_stretch(struct audit_judge *j, const struct audited_steps *s)
{
    const char *folder = j->evidence->folder;
    struct files f = {.start = ys_path_join(folder, "twin-start.safetensors"),
                      .from = ys_path_join(folder, "twin-from.safetensors"),
                      .to = ys_path_join(folder, "twin-to.safetensors"),
                      .velocity = ys_path_join(folder, "twin-velocity.safetensors")};
    struct shown shown = {.ref = ys_alloc((size_t)s->steps, sizeof(double)),
                          .losses = ys_alloc((size_t)s->steps, sizeof(double)),
                          .loss_bound = ys_alloc((size_t)s->steps, sizeof(double)),
                          .flipped_loss = ys_alloc((size_t)s->steps, sizeof(double)),
                          .bound = ys_alloc(j->graph->param_count, sizeof(double)),
                          .flipped = ys_alloc(j->graph->param_count, sizeof(double))};
    ys_status status = judge_with(j, s, &f, &shown);
    ys_safetensors_close(shown.start);
    ys_safetensors_close(shown.after);
    ys_safetensors_close(shown.said);
    ys_free(shown.ref);
    ys_free(shown.losses);
    ys_free(shown.loss_bound);
    ys_free(shown.flipped_loss);
    ys_free(shown.bound);
    ys_free(shown.flipped);
    free_files(&f);
    return status;
}

static void compare_timed(struct audit_judge *j)
{
    const struct ys_audit_evidence *e = j->evidence;
    struct ys_audit *audit = j->audit;
    if (!e->timed)
        return;
    audit->compared = (int64_t)(e->loss_count < e->timed_count ? e->loss_count : e->timed_count);
    audit->same = 0;
    while (audit->same < audit->compared && e->losses[audit->same] == e->timed[audit->same])
        audit->same++;
}

static ys_status judge_all(struct audit_judge *j)
{
    const struct ys_run_audit *run = &j->manner->run;
    const char *folder = j->evidence->folder;
    char *before = ys_path_join(folder, YS_RUN_AUDIT_BEFORE), *lead = ys_path_join(folder, YS_RUN_AUDIT_LEAD);
    char *after = ys_path_join(folder, YS_RUN_AUDIT_AFTER);
    const bool led = run->lead && !j->state;
    const struct audited_steps whole = {.start = led ? lead : before,
                                        .lead = led ? before : NULL,
                                        .state = j->state,
                                        .ways = !j->manner->random,
                                        .first = run->at + led,
                                        .steps = run->steps};
    const struct audited_steps one = {.start = before, .first = run->at, .steps = 1};
    const struct audited_steps next = {.start = after, .first = run->at + run->steps, .steps = 1};
    const struct audited_steps begin = {.start = j->evidence->plan->weights,
                                        .steps = fmin(YS_AUDIT_STEPS, (double)(run->at + run->steps))};
    ys_status status = YS_OK;
    j->audit->step = whole.first;
    compare_timed(j);
    if (j->audit->same < j->audit->compared)
        status = judge_stretch(j, &begin);
    if (status == YS_OK)
        status = judge_stretch(j, j->ways ? &whole : &one);
    if (status == YS_OK && !j->ways)
        status = judge_stretch(j, &next);
    ys_free(before);
    ys_free(lead);
    ys_free(after);
    return status;
}

static void conclude(const struct audit_judge *j)
{
    if (j->failed)
        ys_audit_settle(j->audit, YS_AUDIT_FAIL,
                        "steps of a run are not those of its plan: something else is trained there than in its proof");
    else if (j->manner->random)
        ys_audit_settle(j->audit, YS_AUDIT_WEAK, "with dropout, whose masks nobody shares, losses alone are judged");
    else if (!j->ways)
        ys_audit_settle(j->audit, YS_AUDIT_WEAK,
                        "of this optimizer, whose state is not known, losses alone are judged");
    else if (j->audit->loose > 0)
        ys_audit_settle(j->audit, YS_AUDIT_WEAK,
                        "rounding alone may move the way of a tensor by a fifth of it and more");
    else if (2 * j->shown < j->values)
        ys_audit_settle(j->audit, YS_AUDIT_WEAK, "rounding alone hides what most of the weights did");
    else
        ys_audit_settle(j->audit, YS_AUDIT_PASS, NULL);
}

ys_status ys_audit_judge(const struct ys_audit_manner *manner, const struct ys_audit_evidence *evidence,
                         struct ys_audit *audit)
{
    struct audit_judge j = {.manner = manner, .evidence = evidence, .audit = audit, .closest = -1};
    j.state = manner->run.state && evidence->saves_state;
    j.ways = manner->ways || j.state;
    audit->steps = manner->run.steps;
    if (manner->carried && !j.state) {
        ys_audit_settle(audit, YS_AUDIT_NONE,
                        "the adapter does not save the state that batches carry, so its steps are not gone "
                        "through again");
        return YS_OK;
    }
    YS_TRY(ys_graph_read(evidence->plan->graph, &j.graph));
    ys_status status = judge_all(&j);
    if (status == YS_OK)
        conclude(&j);
    audit->may_be_flip = j.failed && !j.loss_failed && j.way_beyond <= YS_AUDIT_FLIP_MOST;
    ys_graph_free(j.graph);
    return status;
}

ys_status ys_audit_try_places(ys_audit_place *place, void *context, struct ys_audit *audit)
{
    double run_s = 0, judge_s = 0;
    for (int64_t tries = 1;; tries++) {
        ys_status status = place(context, audit);
        run_s += isnan(audit->run_s) ? 0 : audit->run_s;
        judge_s += isnan(audit->judge_s) ? 0 : audit->judge_s;
        audit->tries = tries;
        audit->run_s = run_s;
        audit->judge_s = judge_s;
        if (status != YS_OK || !audit->may_be_flip || tries == YS_AUDIT_TRIES || ys_stop_signal())
            return status;
        ys_record_fini(&ys_audit_record, audit);
    }
}
