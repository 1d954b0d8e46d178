#include "verify/audits/judge_answers.h"

#include "base/files/fs.h"
#include "base/files/working_folder.h"
#include "base/mem.h"
#include "data/row_order.h"
#include "graph/graph.h"
#include "protocol/answer_ring.h"
#include "session/checked_message.h"
#include "verify/oracle/evidence.h"
#include "verify/oracle/proof_plan.h"
#include "verify/oracle/tensor_error.h"
#include "verify/oracle/twin.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* Of an answer, the rows that are computed again. */
struct pick {
    const struct ys_answer_seen *seen;
    int64_t start; /* the first of them, within the batch */
};

struct answer_judge {
    const struct ys_answers_evidence *evidence;
    struct ys_audit *audit;
    const struct ys_plan *plan;   /* of the run */
    int64_t multiply_adds, width; /* of a row; its logits */
    int64_t columns;              /* of these, as many as a ring has room for */
    int64_t hidden; /* logits of a row before those that are shown: with a prompt the last position's are */
    int64_t rows;   /* of each pick */
    bool in_double;
    struct pick picks[YS_ANSWERS_MOST];
    size_t count;
    double *reference, *twin; /* [count, rows, columns] */
    double bound;
    double apart; /* the reference's answers to different requests, at most */
};

/* When it answered. */

struct answer_times {
    const struct ys_series *first, *count, *start_ns, *end_ns, *latency_ns;
};

static ys_status find_blocks(const struct ys_series_set *series, struct answer_times *blocks)
{
    *blocks = (struct answer_times){ys_series_find(series, "block_first"), ys_series_find(series, "block_count"),
                                    ys_series_find(series, "block_start_ns"), ys_series_find(series, "block_end_ns"),
                                    ys_series_find(series, "latency_ns")};
    if (!blocks->first || !blocks->count || !blocks->start_ns || !blocks->end_ns || !blocks->latency_ns)
        return ys_fail(YS_EINTERNAL, "a run of requests has no latencies");
    return YS_OK;
}

/* How many requests must have been answered at `t_ns`, by the latest times that the messages allow. */
static int64_t answered_by(const struct answer_times *blocks, int64_t t_ns)
{
    for (size_t b = 0; b < blocks->first->count; b++) {
        const int64_t first = blocks->first->ints[b];
        int64_t end_ns = blocks->end_ns->ints[b], k = first + blocks->count->ints[b];
        if (end_ns <= t_ns)
            continue;
        while (k > first && end_ns > t_ns)
            end_ns -= blocks->latency_ns->ints[--k];
        return k;
    }
    return (int64_t)blocks->latency_ns->count;
}

/* When a request began, at the earliest that its message allows; INT64_MAX: there was none of that number. */
static int64_t earliest_begin(const struct answer_times *blocks, int64_t request)
{
    for (size_t b = 0; b < blocks->first->count; b++) {
        int64_t k = blocks->first->ints[b], begin_ns = blocks->start_ns->ints[b];
        if (request < k || request >= k + blocks->count->ints[b])
            continue;
        for (; k < request; k++)
            begin_ns += blocks->latency_ns->ints[k];
        return begin_ns;
    }
    return INT64_MAX;
}

static ys_status check_share(const struct answer_times *blocks)
{
    const size_t count = blocks->first->count;
    double latencies_s = 0,
           span_s = count ? (double)(blocks->end_ns->ints[count - 1] - blocks->start_ns->ints[0]) * 1e-9 : 0;
    for (size_t i = 0; i < blocks->latency_ns->count; i++)
        latencies_s += (double)blocks->latency_ns->ints[i] * 1e-9;
    if (span_s < YS_ANSWERS_SPAN_S || latencies_s >= YS_ANSWERS_SHARE * span_s)
        return YS_OK;
    return ys_fail(YS_EFORMAT, "its latencies are together %.3g s of the %.3g s in which it answered", latencies_s,
                   span_s);
}

ys_status ys_answers_check_times(const struct ys_answers *answers, const struct ys_series_set *series)
{
    const int64_t slack_ns = (int64_t)(YS_ANSWERS_SLACK_S * 1e9);
    struct answer_times blocks;
    YS_TRY(find_blocks(series, &blocks));
    for (size_t i = 0; i < answers->count; i++) {
        const struct ys_answer_seen *seen = &answers->items[i];
        const int64_t due = answered_by(&blocks, (int64_t)seen->still_ns - slack_ns);
        if (seen->request + 1 < due && seen->request < 0)
            return ys_fail(YS_EFORMAT,
                           "it says that it had answered %" PRId64 " requests at a moment when none was shown", due);
        if (seen->request + 1 < due)
            return ys_fail(YS_EFORMAT,
                           "it says that it had answered %" PRId64 " requests at a moment when the answer to request "
                           "%" PRId64 " was the last that was shown",
                           due, seen->request);
        if (seen->request >= 0 && earliest_begin(&blocks, seen->request) > (int64_t)seen->read_ns + slack_ns)
            return ys_fail(YS_EFORMAT,
                           "the answer to request %" PRId64 " was shown before the time at which it says that the "
                           "request began",
                           seen->request);
    }
    return check_share(&blocks);
}

/* What is computed again. */

static uint64_t draw(void)
{
    uint64_t drawn = 0;
    return getrandom(&drawn, sizeof drawn, 0) == sizeof drawn ? drawn : 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* That each answer has the form and stands for the rows that its request had. */
static ys_status check_forms(const struct answer_judge *j)
{
    const struct ys_answers *answers = &j->evidence->record->answers;
    const int64_t wanted = least(j->plan->batch * j->width, YS_RING_FLOATS);
    for (size_t i = 0; i < answers->count; i++) {
        const struct ys_answer_seen *seen = &answers->items[i];
        if (seen->request < 0)
            continue;
        if (seen->batch != seen->request % j->plan->steps)
            return ys_fail(YS_EFORMAT,
                           "the answer to request %" PRId64 " says that it is of row %" PRId64
                           " of the order, where row %" PRId64 " was asked for",
                           seen->request, seen->batch, seen->request % j->plan->steps);
        if ((int64_t)seen->count != wanted)
            return ys_fail(YS_EFORMAT, "the answer to request %" PRId64 " has %zu values where %" PRId64 " were due",
                           seen->request, seen->count, wanted);
    }
    return YS_OK;
}

/* As many as may be afforded, spread over the run; no adapter knows which rows of them. */
static void pick(struct answer_judge *j)
{
    const struct ys_answers *answers = &j->evidence->record->answers;
    const int64_t each = j->multiply_adds > 0 ? j->multiply_adds : 1;
    j->in_double = each <= YS_ANSWERS_DOUBLE / 4;
    const int64_t afforded = (j->in_double ? YS_ANSWERS_DOUBLE : YS_ANSWERS_SINGLE) / each;
    const int64_t shown = j->columns < j->width ? 1 : least(j->plan->batch, YS_RING_FLOATS / j->width);
    size_t there = 0;
    for (size_t i = 0; i < answers->count; i++)
        there += answers->items[i].request >= 0;
    j->count = (size_t)least((int64_t)there, afforded > 1 ? afforded : 1);
    j->rows = j->count ? least(least(shown, YS_ANSWERS_ROWS), afforded / (int64_t)j->count) : 0;
    j->rows = j->rows > 1 ? j->rows : 1;
    size_t number = 0, picked = 0;
    for (size_t i = 0; i < answers->count && picked < j->count; i++) {
        if (answers->items[i].request < 0 || number++ != picked * there / j->count)
            continue;
        j->picks[picked++] =
            (struct pick){.seen = &answers->items[i], .start = (int64_t)(draw() % (uint64_t)(shown - j->rows + 1))};
    }
}

static ys_status write_order(const struct answer_judge *j, const char *path)
{
    const int64_t count = (int64_t)j->count;
    uint32_t *rows = ys_alloc((size_t)(count * j->rows), sizeof *rows);
    double *rates = ys_alloc(j->count, sizeof *rates);
    struct ys_safetensors *file = NULL;
    const struct ys_tensor *order;
    ys_status status = ys_safetensors_open(j->plan->input.order, &file);
    if (status == YS_OK)
        status = ys_safetensors_need(file, "order", YS_U32, 2, (int64_t[]){j->plan->steps, j->plan->batch}, &order);
    for (int64_t i = 0; status == YS_OK && i < count; i++) {
        const int64_t at = j->picks[i].seen->request % j->plan->steps * j->plan->batch + j->picks[i].start;
        memcpy(rows + i * j->rows, (const uint32_t *)order->data + at, (size_t)j->rows * sizeof *rows);
    }
    if (status == YS_OK)
        status = ys_order_save(path, rows, NULL, j->rows, count, rates);
    ys_safetensors_close(file);
    ys_free(rows);
    ys_free(rates);
    return status;
}

/* Logits of one session, as they come. */
struct logits_taker {
    const struct answer_judge *judge;
    double *values;
};

static ys_status take(void *context, enum ys_answer answer, int64_t batch, struct ys_safetensors **file)
{
    struct logits_taker *taker = context;
    const struct answer_judge *j = taker->judge;
    const struct ys_tensor *logits = ys_safetensors_find(*file, "logits");
    (void)answer;
    const int64_t all = j->hidden + j->width;
    if (!logits || (int64_t)ys_tensor_count(logits) != j->rows * all)
        return ys_fail(YS_EPROTOCOL, "the built-in engine's logits have another shape than the graph says");
    for (int64_t r = 0; r < j->rows; r++)
        for (int64_t c = 0; c < j->columns; c++)
            taker->values[(batch * j->rows + r) * j->columns + c] =
                ys_tensor_value(logits, (size_t)(r * all + j->hidden + c));
    return YS_OK;
}

/* YS_EUNSUPPORTED: this back end lacks something. */
static ys_status ask(const struct answer_judge *j, const struct ys_plan *plan, double *values)
{
    struct logits_taker taker = {.judge = j, .values = values};
    const struct ys_questions questions = {.evaluation = true, .batches = (int64_t)j->count, .mapped = true};
    struct ys_evidence said = {0};
    ys_status status =
        ys_evidence_collect(j->evidence->engine, plan, NULL, YS_EVIDENCE_PATIENCE_S, &questions, take, &taker, &said);
    if (status == YS_OK && said.status)
        status = ys_fail(said.status == YS_RUN_UNSUPPORTED ? YS_EUNSUPPORTED : YS_EPROTOCOL,
                         "the built-in engine ended as %s: %s", ys_run_status_name(said.status),
                         said.message ? said.message : "no message");
    ys_evidence_fini(&said);
    return status;
}

/* The plan of the run, made that of what is computed again. */
static ys_status make_plan(const struct answer_judge *j, const char *backend, int precision, const char *order,
                           const char *folder, struct ys_plan *made)
{
    YS_TRY(ys_proof_plan_builtin(j->plan, backend, folder, made));
    made->precision = precision;
    made->batch = j->rows;
    made->steps = (int64_t)j->count;
    ys_set_text(&made->input.order, order);
    return YS_OK;
}

/* What the default back end lacks plain C has, and rounds alike. */
static ys_status ask_as(const struct answer_judge *j, int twin, const char *backend, int precision, const char *order,
                        const char *folder, double *values)
{
    struct ys_plan plan;
    YS_TRY(make_plan(j, backend, precision, order, folder, &plan));
    ys_status status = twin < 0 ? YS_OK : ys_twin_write_all(&plan, twin, (int64_t)j->count, folder);
    if (status == YS_OK)
        status = ask(j, &plan, values);
    ys_plan_fini(&plan);
    if (status != YS_EUNSUPPORTED)
        return status;
    return backend ? ys_fail_in(YS_EPROTOCOL, "an audit") : ask_as(j, twin, "ref", precision, order, folder, values);
}

/* How far they lie apart. */

static struct ys_tensor vector(const struct answer_judge *j, enum ys_dtype dtype, const void *data)
{
    const size_t count = (size_t)(j->rows * j->columns);
    return (struct ys_tensor){.name = "logits",
                              .dtype = dtype,
                              .rank = 1,
                              .shape = {(int64_t)count},
                              .data = data,
                              .size_bytes = count * ys_dtype_size(dtype)};
}

static double apart(const struct answer_judge *j, const double *a, size_t ref)
{
    const struct ys_tensor one = vector(j, YS_F64, a),
                           other = vector(j, YS_F64, j->reference + (int64_t)ref * j->rows * j->columns);
    return ys_error_max(&one, &other);
}

/* Of what was shown. */
static double error_of(const struct answer_judge *j, size_t i)
{
    const struct ys_tensor said = vector(j, YS_F32, j->picks[i].seen->values + j->picks[i].start * j->width),
                           right = vector(j, YS_F64, j->reference + (int64_t)i * j->rows * j->columns);
    return ys_error_max(&said, &right);
}

static double worst_of(const struct answer_judge *j, size_t *place)
{
    double worst = -1;
    for (size_t i = 0; i < j->count; i++) {
        const double error = error_of(j, i);
        if (!(error <= worst)) {
            worst = error;
            *place = i;
        }
    }
    return worst;
}

static ys_status ask_twins(struct answer_judge *j, const char *order, const char *folder)
{
    double worst = YS_VERIFY_TWIN_LEAST;
    for (int twin = 0; twin < YS_VERIFY_TWINS; twin++) {
        YS_TRY(ask_as(j, twin, NULL, j->plan->precision, order, folder, j->twin));
        for (size_t i = 0; i < j->count; i++)
            worst = fmax(worst, apart(j, j->twin + (int64_t)i * j->rows * j->columns, i));
    }
    j->bound = YS_VERIFY_TWIN_FACTOR * worst;
    return YS_OK;
}

static bool is_finite(const struct answer_judge *j)
{
    for (size_t i = 0; i < j->count * (size_t)(j->rows * j->columns); i++)
        if (!isfinite(j->reference[i]))
            return false;
    return true;
}

static ys_status compute(struct answer_judge *j, const char *order, const char *folder)
{
    size_t place = 0;
    YS_TRY(write_order(j, order));
    YS_TRY(j->in_double ? ask_as(j, -1, "ref", YS_PRECISION_F64, order, folder, j->reference)
                        : ask_as(j, -1, NULL, YS_PRECISION_F32, order, folder, j->reference));
    if (!is_finite(j))
        return ys_fail(YS_EPROTOCOL, "the built-in engine's own answers are no finite numbers");
    j->bound = YS_VERIFY_TWIN_FACTOR * YS_VERIFY_TWIN_LEAST;
    if (worst_of(j, &place) > j->bound)
        YS_TRY(ask_twins(j, order, folder));
    for (size_t i = 1; i < j->count; i++)
        j->apart = fmax(j->apart, apart(j, j->reference + (int64_t)(i - 1) * j->rows * j->columns, i));
    j->audit->error = worst_of(j, &place);
    if (!isfinite(j->audit->error))
        j->audit->error = NAN;
    j->audit->bound = j->bound;
    j->audit->answers = (int64_t)j->count;
    j->audit->place = ys_format("the answer to request %" PRId64, j->picks[place].seen->request);
    return YS_OK;
}

static ys_status compute_all(struct answer_judge *j)
{
    struct ys_working work = {0};
    const size_t count = j->count * (size_t)(j->rows * j->columns);
    YS_TRY(ys_working_in_cache("proofs", &work));
    char *order = ys_path_join(work.path, "order.safetensors");
    j->reference = ys_alloc(count, sizeof *j->reference);
    j->twin = ys_alloc(count, sizeof *j->twin);
    ys_status status = compute(j, order, work.path);
    ys_free(j->reference);
    ys_free(j->twin);
    ys_free(order);
    ys_working_remove(&work);
    return status;
}

/* The verdict. */

static void settle(struct ys_audit *audit, enum ys_audit_verdict verdict, char *reason_taken)
{
    ys_audit_settle(audit, verdict, reason_taken);
    ys_free(reason_taken);
}

static void conclude(const struct answer_judge *j)
{
    const struct ys_answers *answers = &j->evidence->record->answers;
    struct ys_audit *audit = j->audit;
    if (!(audit->error <= audit->bound))
        ys_audit_settle(audit, YS_AUDIT_FAIL, "answers that it gave while it was timed are not those of their rows");
    else if (j->evidence->requests > j->plan->steps)
        settle(audit, YS_AUDIT_WEAK,
               ys_format("the data have rows for %" PRId64 " of its %" PRId64 " requests and then come again, so "
                         "that it keeps answers and gives them again cannot be excluded",
                         j->plan->steps, j->evidence->requests));
    else if (answers->met < YS_ANSWERS_LEAST)
        settle(audit, YS_AUDIT_WEAK,
               ys_format("it was over so soon that %zu of its answers were met while it gave them", answers->met));
    else if (audit->bound > YS_AUDIT_LOOSE)
        ys_audit_settle(audit, YS_AUDIT_WEAK, "rounding alone moves its answers by much");
    else if (j->count > 1 && j->apart <= audit->bound)
        ys_audit_settle(audit, YS_AUDIT_WEAK, "its answers are the same whatever the rows are");
    else
        ys_audit_settle(audit, YS_AUDIT_PASS, NULL);
}

static ys_status judge_shown(struct answer_judge *j)
{
    const struct ys_run_record *record = j->evidence->record;
    if (record->answers.damage) {
        ys_audit_settle(j->audit, YS_AUDIT_FAIL, record->answers.damage);
        return YS_OK;
    }
    ys_status status = ys_answers_check_times(&record->answers, &record->series);
    if (status == YS_OK)
        status = check_forms(j);
    if (status == YS_EFORMAT) {
        ys_audit_settle(j->audit, YS_AUDIT_FAIL, ys_error());
        return YS_OK;
    }
    YS_TRY(status);
    pick(j);
    if (j->count == 0) {
        ys_audit_settle(j->audit, YS_AUDIT_MISSING, "none of its answers could be read whole");
        return YS_OK;
    }
    YS_TRY(compute_all(j));
    conclude(j);
    return YS_OK;
}

static ys_status read_graph(struct answer_judge *j)
{
    struct ys_graph *graph = NULL;
    YS_TRY(ys_graph_read(j->plan->graph ? j->plan->graph : "", &graph));
    j->multiply_adds = ys_graph_multiply_adds(graph);
    j->width = ys_value_row_elements(&graph->values[graph->output]);
    if (ys_plan_has_prompt(j->plan))
        j->hidden = j->width - j->width / ys_graph_positions(graph);
    j->width -= j->hidden;
    j->columns = least(j->width, YS_RING_FLOATS);
    ys_graph_free(graph);
    return YS_OK;
}

ys_status ys_answers_judge(const struct ys_answers_evidence *evidence, struct ys_audit *audit)
{
    struct answer_judge j = {.evidence = evidence, .audit = audit, .plan = evidence->plan};
    if (!evidence->record->answers.is_shown) {
        if (ys_message_has_feature(evidence->record->facts.hello, "answers") ||
            ys_message_has_feature(evidence->record->facts.hello, "answers_later"))
            ys_audit_settle(audit, YS_AUDIT_MISSING, "there was no room for the ring in which its answers are shown");
        else
            ys_audit_settle(audit, YS_AUDIT_NONE,
                            "its adapter does not show its answers (it lacks the feature `answers`)");
        return YS_OK;
    }
    YS_TRY(read_graph(&j));
    return judge_shown(&j);
}
