/* The program yardstick-null: an adapter that does no work at a stated rate. It shows what the harness itself costs,
 * and serves as a framework of known speed: with the option `rate` (rows a second) its blocks take batch * steps / rate
 * seconds, and its requests batch / rate seconds, slept and not computed; without it they take no time. With the option
 * `burn` each row costs so many operations, which are computed: time that others take from it then shows. It has no
 * losses and saves nothing, and says so (`no_work`). One of several ranks takes as long as its share of the batch, and
 * waits for no other, unless the option `exchange` has them take a mean of so many numbers after each step, over the
 * ring of the built-in engine (`transport`: tcp, shared or mpi); with `late_ms` the rank `late_rank` takes so much
 * longer for each step, for its own work or, as `late_part` says, waiting for rows, in its optimizer or in what lies
 * around that (framework). With the key `bucket` the numbers are exchanged in as many equal buckets as it takes that
 * none holds more, begun evenly over the last two thirds of the time that a step computes: a backward pass takes about
 * twice as long as what comes before it. With `timetable` its steps take as long as those of a measured run did, one by
 * one, and what ranks exchange is what that run would have; they stand for processes on hosts of their own, so they go
 * before all others where that is allowed. */
#include "builtin/builtin.h"

#include "base/clock.h"
#include "base/json/record.h"
#include "base/json/shared_words.h"
#include "base/mem.h"
#include "builtin/rank_exchange.h"
#include "builtin/timetable.h"
#include "dist/dist.h"
#include "protocol/adapter_loop.h"
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

enum late_part { COMPUTE, INPUT, OPTIMIZER, FRAMEWORK, LATE_PARTS };

struct null_adapter {
    double part_ns[LATE_PARTS];   /* of a step; 0, all of them: as fast as possible */
    double operations;            /* of a step, which are computed */
    uint64_t computed;            /* what came out of them, which keeps them from being left out */
    double late_ns[LATE_PARTS];   /* what earlier sleeps for it took too long; later ones are shortened by it, so that
                                     each part, and so the rate, holds on average */
    struct ys_dist *dist;         /* NULL: this is the only one, or nothing is exchanged */
    float *numbers;               /* that are */
    struct ys_dist_part *buckets; /* of them */
    size_t bucket_count;
    bool has_timetable;
    struct ys_timetable timetable;
    int64_t rank, world;
};

struct null_options {
    const ys_json *rate, *burn, *exchange, *late_ms, *late_rank;
    const char *wire, *timetable, *software;
    int transport; /* enum ys_dist_transport */
    int late_part; /* enum late_part */
};
static const char *const late_words[LATE_PARTS] = {
    [COMPUTE] = "compute", [INPUT] = "input", [OPTIMIZER] = "optimizer", [FRAMEWORK] = "framework"};
static const struct ys_names late_parts = YS_NAMES("part of a step", late_words);
static const struct ys_field options_fields[] = {
    YS_FIELD(struct null_options, rate, YS_FIELD_JSON, "1/s", YS_FIELD_NULL, "rows; as fast as possible without"),
    YS_FIELD(struct null_options, burn, YS_FIELD_JSON, "1", YS_FIELD_NULL, "operations of a row"),
    YS_FIELD(struct null_options, exchange, YS_FIELD_JSON, "1", YS_FIELD_NULL,
             "floats of which ranks take a mean each step"),
    YS_FIELD(struct null_options, late_ms, YS_FIELD_JSON, "ms", YS_FIELD_NULL, "that one rank takes longer for a step"),
    YS_FIELD(struct null_options, late_rank, YS_FIELD_JSON, "1", YS_FIELD_NULL, "which; 0 without"),
    YS_FIELD_NAMED(struct null_options, late_part, &late_parts, YS_FIELD_NULL,
                   "what it takes longer for; null: compute"),
    YS_FIELD(struct null_options, timetable, YS_FIELD_TEXT, NULL, YS_FIELD_NULL,
             "path of what tools/timetable.py wrote"),
    YS_FIELD(struct null_options, software, YS_FIELD_TEXT, NULL, YS_FIELD_NULL,
             "what it says stands for a graphics processor"),
    YS_FIELD(struct null_options, wire, YS_FIELD_TEXT, NULL, YS_FIELD_NULL,
             "of that mean; null: the loopback interface"),
    YS_FIELD_NAMED(struct null_options, transport, &ys_dist_transports, YS_FIELD_NULL, "of that mean; null: tcp"),
};
static const struct ys_record options_record = YS_RECORD("options", struct null_options, options_fields);

/* A number, or a number written as text, as command lines give it; NAN: it is none. */
static double number_of(const ys_json *option)
{
    const char *text = ys_json_text(option, NULL);
    if (!text)
        return ys_json_number(option, NAN);
    char *rest;
    const double number = strtod(text, &rest);
    return *text && !*rest ? number : NAN;
}

/* Absent is 0. */
static ys_status read_number(const char *name, const ys_json *option, const char *what, double most, double *number)
{
    *number = 0;
    if (ys_json_type_of(option) == YS_JSON_NULL)
        return YS_OK;
    *number = number_of(option);
    if (!isfinite(*number) || *number <= 0 || *number > most)
        return ys_fail(YS_EINVAL, "option %s is \"%s\"; it must be %s above 0", name,
                       ys_json_text(option, "not a positive number"), what);
    return YS_OK;
}

/* Absent is 0. */
static ys_status read_rank(const ys_json *option, int64_t world, int64_t *rank)
{
    *rank = 0;
    if (ys_json_type_of(option) == YS_JSON_NULL)
        return YS_OK;
    const double number = number_of(option);
    if (!(number >= 0 && number < (double)world) || number != floor(number))
        return ys_fail(YS_EINVAL, "option late_rank is \"%s\"; it must be the number of a rank: whole, from 0 to %lld",
                       ys_json_text(option, "none of them"), (long long)world - 1);
    *rank = (int64_t)number;
    return YS_OK;
}

/* Cuts the numbers into buckets of `bucket_bytes` at most; they differ by one number. */
static ys_status fill_buckets(struct null_adapter *null, size_t count, int64_t bucket_bytes)
{
    const size_t most = bucket_bytes == YS_FIELD_NONE ? count : (size_t)bucket_bytes / sizeof(float);
    const size_t buckets = most > 0 ? (count + most - 1) / most : count;
    null->numbers = ys_alloc(count, sizeof *null->numbers);
    null->buckets = ys_alloc(buckets, sizeof *null->buckets);
    if (!null->numbers || !null->buckets)
        return ys_out_of_memory();
    null->bucket_count = buckets;
    size_t begin = 0;
    for (size_t i = 0; i < buckets; i++) {
        const size_t length = count / buckets + (i < count % buckets);
        null->buckets[i] = (struct ys_dist_part){null->numbers + begin, length};
        begin += length;
    }
    return YS_OK;
}

/* As far as several ranks are asked for, and exchange something. */
static ys_status meet(struct null_adapter *null, const struct ys_plan *plan, double numbers,
                      const struct null_options *said)
{
    const struct ys_dist_config config = {.rank = (int)plan->dist.rank,
                                          .world = (int)plan->dist.world,
                                          .rendezvous = plan->dist.rendezvous,
                                          .address = plan->dist.address,
                                          .wire = said->wire,
                                          .transport = ys_builtin_transport(said->transport)};
    if (plan->dist.world == 1 || plan->dist.strategy == YS_STRATEGY_ALONE || numbers < 1)
        return YS_OK;
    YS_TRY(fill_buckets(null, (size_t)numbers, plan->dist.bucket_bytes));
    return ys_dist_open(&config, &null->dist);
}

static void close_plan(void *self)
{
    struct null_adapter *null = self;
    ys_dist_close(null->dist);
    ys_free(null->buckets);
    ys_free(null->numbers);
    if (null->has_timetable)
        ys_timetable_fini(&null->timetable);
    *null = (struct null_adapter){0};
}

/* As far as there is one; *numbers is then what its ranks exchange. */
static ys_status read_timetable(struct null_adapter *null, const struct ys_plan *plan, const struct null_options *said,
                                double *numbers)
{
    if (!said->timetable)
        return YS_OK;
    if (said->timetable[0] != '/')
        return ys_fail(YS_EINVAL, "option timetable is \"%s\"; it must be a path that begins with a /",
                       said->timetable);
    if (said->rate || said->exchange)
        return ys_fail(YS_EINVAL, "option timetable says how long steps take and what is exchanged: leave %s out",
                       said->rate ? "rate" : "exchange");
    if (!ys_mode_of(plan->mode)->trains)
        return ys_fail(YS_EUNSUPPORTED, "a timetable is of training: leave option timetable out");
    YS_TRY(ys_timetable_read(said->timetable, &null->timetable));
    null->has_timetable = true;
    null->rank = plan->dist.rank;
    null->world = plan->dist.world;
    *numbers = (double)null->timetable.numbers;
    return YS_OK;
}

/* What a reader of its row has to know beside that it does no work. */
static ys_status tell_deviations(const struct null_adapter *null, ys_json *reply)
{
    const char *deviations[] = {NULL, NULL};
    char *told = NULL;
    if (null->has_timetable) {
        told = ys_format("sleeps a timetable in the place of computing: %s", null->timetable.of);
        if (!told)
            return ys_out_of_memory();
        deviations[0] = told;
    }
    ys_status status = ys_adapter_set_names(reply, "deviations", deviations);
    ys_free(told);
    return status;
}

/** A host of one's own keeps nobody waiting for a core. Without the right to it ranks wait as any process does. */
static void go_before_others(void)
{
    const struct sched_param first = {.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_RR, &first) != 0)
        (void)setpriority(PRIO_PROCESS, 0, -20);
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
}

static ys_status open_plan(void *self, const struct ys_plan *plan, ys_json *reply)
{
    struct null_adapter *null = self;
    struct null_options said;
    double rate_per_s, burn, numbers, late_ms;
    int64_t late_rank;
    ys_record_glance(&options_record, plan->options, &said);
    YS_TRY(read_number("rate", said.rate, "a number of rows a second", INFINITY, &rate_per_s));
    YS_TRY(read_number("burn", said.burn, "a number of operations a row, at most 1e12,", 1e12, &burn));
    YS_TRY(read_number("exchange", said.exchange, "a count of numbers, at most 1e9,", 1e9, &numbers));
    YS_TRY(read_number("late_ms", said.late_ms, "a number of milliseconds", 1e9, &late_ms));
    YS_TRY(read_rank(said.late_rank, plan->dist.world, &late_rank));
    *null = (struct null_adapter){0};
    const double rows = (double)(plan->batch / plan->dist.world);
    null->operations = burn * rows;
    if (rate_per_s > 0)
        null->part_ns[COMPUTE] = 1e9 * rows / rate_per_s;
    if (plan->dist.rank == late_rank)
        null->part_ns[said.late_part == YS_NAME_NONE ? COMPUTE : said.late_part] += 1e6 * late_ms;
    ys_status status = read_timetable(null, plan, &said, &numbers);
    if (status == YS_OK)
        status = meet(null, plan, numbers, &said);
    if (status != YS_OK)
        close_plan(null);
    YS_TRY(status);
    if (null->has_timetable)
        go_before_others();
    static const char *const none[] = {NULL};
    if (plan->dist.world > 1 && !null->dist)
        YS_TRY(ys_json_set_string(reply, "untimed", YS_ADAPTER_ALONE));
    if (null->dist) {
        YS_TRY(ys_builtin_tell_exchange(&plan->dist, said.wire, reply));
        YS_TRY(ys_json_set_int(reply, "exchange_bytes", (int64_t)((size_t)numbers * sizeof(float))));
    }
    if (said.software)
        YS_TRY(ys_json_set_string(reply, "software", said.software));
    YS_TRY(ys_json_set_int(reply, "parameters", 0));
    YS_TRY(ys_json_set_int(reply, "threads", 1));
    YS_TRY(ys_adapter_set_names(reply, "libraries", none));
    return tell_deviations(null, reply);
}

static ys_status reset(void *self)
{
    struct null_adapter *null = self;
    memset(null->late_ns, 0, sizeof null->late_ns);
    return YS_OK;
}

static void sleep_until(uint64_t t_ns)
{
    struct timespec until = {.tv_sec = (time_t)(t_ns / 1000000000U), .tv_nsec = (long)(t_ns % 1000000000U)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
}

static void pass_time(struct null_adapter *null, enum late_part part, double duration_ns)
{
    uint64_t start_ns = ys_time_ns();
    double wait_ns = duration_ns - null->late_ns[part];
    if (duration_ns > 0 && wait_ns > 0)
        sleep_until(start_ns + (uint64_t)fmin(wait_ns, 1e18)); /* a rate near 0 must not pass 64 bits */
    null->late_ns[part] += (double)(ys_time_ns() - start_ns) - duration_ns;
}

/* Sleeps as long as rows of `steps` steps are waited for. */
static void pass_input(struct null_adapter *null, int64_t steps, struct ys_block *block)
{
    const uint64_t before_ns = ys_time_ns();
    if (null->part_ns[INPUT] == 0)
        return;
    pass_time(null, INPUT, null->part_ns[INPUT] * (double)steps);
    block->input_ns += ys_time_ns() - before_ns;
}

/* Each operation, a multiplication and an addition of whole numbers, needs what the one before it gave. */
static void burn(struct null_adapter *null, int64_t steps)
{
    uint64_t value = null->computed;
    for (uint64_t left = (uint64_t)(null->operations * (double)steps); left > 0; left--)
        value = value * 6364136223846793005U + 1442695040888963407U;
    null->computed = value;
}

/* Computes and sleeps as long as `steps` steps take that exchange nothing. */
static void pass_steps(struct null_adapter *null, int64_t steps, struct ys_block *block)
{
    pass_input(null, steps, block);
    burn(null, steps);
    pass_time(null, COMPUTE,
              (null->part_ns[COMPUTE] + null->part_ns[OPTIMIZER] + null->part_ns[FRAMEWORK]) * (double)steps);
}

/* Sleeps as long as a step computes until its gradients are there, and begins each bucket when its are. */
static ys_status compute(struct null_adapter *null, double compute_ns)
{
    if (!null->dist || null->bucket_count == 1) {
        pass_time(null, COMPUTE, compute_ns);
        return YS_OK;
    }
    pass_time(null, COMPUTE, compute_ns / 3);
    for (size_t i = 0; i < null->bucket_count; i++) {
        pass_time(null, COMPUTE, compute_ns * 2 / 3 / (double)null->bucket_count);
        YS_TRY(ys_dist_begin(null->dist, &null->buckets[i], 1, false));
    }
    return YS_OK;
}

/* Nothing is hidden of one bucket, which no other thread has to take then. */
static ys_status end_exchange(struct null_adapter *null)
{
    return null->bucket_count == 1 ? ys_dist_mean(null->dist, null->buckets, 1, false) : ys_dist_wait(null->dist);
}

/* One step after another, each part of it by itself. */
static ys_status pass_step(struct null_adapter *null, int64_t step, struct ys_block *block)
{
    struct ys_timetable_step of_table = {0, 0};
    const size_t place = block->stamp_count;
    if (null->has_timetable)
        of_table = ys_timetable_at(&null->timetable, null->rank, null->world, step);
    pass_input(null, 1, block);
    block->began_ns[place] = ys_time_ns();
    burn(null, 1);
    YS_TRY(compute(null, null->part_ns[COMPUTE] + (double)of_table.before_ns));
    block->ready_ns[place] = ys_time_ns();
    if (null->dist)
        YS_TRY(end_exchange(null));
    block->reduced_ns[place] = ys_time_ns();
    pass_time(null, OPTIMIZER, null->part_ns[OPTIMIZER] + (double)of_table.after_ns);
    block->updated_ns[place] = ys_time_ns();
    pass_time(null, FRAMEWORK, null->part_ns[FRAMEWORK]);
    block->stamp_count += null->dist != NULL;
    return YS_OK;
}

static ys_status train(void *self, int64_t first, int64_t count, struct ys_block *block)
{
    struct null_adapter *null = self;
    const bool is_one_by_one = null->dist || null->has_timetable;
    const struct ys_dist_counters before = null->dist ? ys_dist_counters(null->dist) : (struct ys_dist_counters){0, 0};
    block->t_start_ns = ys_time_ns();
    for (int64_t i = 0; is_one_by_one && i < count; i++)
        YS_TRY(pass_step(null, first + i, block));
    if (null->dist)
        ys_builtin_count_exchange(null->dist, &before, block);
    if (!is_one_by_one)
        pass_steps(null, count, block);
    block->t_end_ns = ys_time_ns();
    return YS_OK;
}

static ys_status infer(void *self, int64_t batch, struct ys_adapter_logits *logits)
{
    (void)batch;
    (void)logits;
    struct null_adapter *null = self;
    burn(null, 1);
    pass_time(null, COMPUTE, null->part_ns[COMPUTE]);
    return YS_OK;
}

int ys_null_serve(void)
{
    static const char *precisions[YS_PRECISION_COUNT + 1], *const none[] = {NULL};
    static const char *const optimizers[] = {"sgd", "adam", "adamw", "rmsprop", NULL};
    memcpy(precisions, ys_precisions.names, YS_PRECISION_COUNT * sizeof *precisions);
    static const struct ys_adapter_ops ops = {.about = {.adapter = "null",
                                                        .framework = "null",
                                                        .precisions = precisions,
                                                        .ops = none,
                                                        .optimizers = optimizers,
                                                        .no_work = true,
                                                        .dist = true,
                                                        .alone = true},
                                              .open = open_plan,
                                              .reset = reset,
                                              .train = train,
                                              .infer = infer,
                                              .close = close_plan};
    struct null_adapter null = {0};
    return ys_adapter_serve_environment(&ops, &null);
}
