#include "doctor/self_test.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/files/working_folder.h"
#include "base/log.h"
#include "base/mem.h"
#include "crew/facts.h"
#include "doctor/self_test_phase.h"
#include "prepare/machine_notes.h"
#include "protocol/request.h"
#include "session/observe.h"
#include "session/session.h"
#include "stat/series.h"
#include "stat/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

enum { PAGE_BYTES = 4096, MOST_TIMES = 1000, MOST_SHARED_BYTES = 4000000 };

static const char *const verdict_words[] = {"true", "wrong", "unknown"};
const struct ys_names ys_self_test_verdicts = YS_NAMES("verdict", verdict_words);

#define ROW                struct ys_self_test_row
#define TEXT(member, what) YS_FIELD(ROW, member, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, what)
#define REAL(member, what) YS_FIELD(ROW, member, YS_FIELD_REAL, NULL, YS_FIELD_NULL, what)
static const struct ys_field row_fields[] = {
    TEXT(what, "was done"),
    TEXT(unit, "of the numbers"),
    REAL(truth, "as the program that did it says"),
    REAL(observed, "from outside"),
    REAL(error, "between the two"),
    REAL(bound, "of it"),
    YS_FIELD_NAMED(ROW, verdict, &ys_self_test_verdicts, 0, "whether what is observed is true"),
    TEXT(reason, "why that is unknown"),
};
static const struct ys_record row_record = YS_RECORD("row", ROW, row_fields);
#undef TEXT
#define TABLE              struct ys_self_test
#define TEXT(member, what) YS_FIELD(TABLE, member, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, what)
static const struct ys_field table_fields[] = {
    TEXT(date, "when"),
    TEXT(host, "on which machine"),
    TEXT(kernel, "its version"),
    YS_FIELD(TABLE, times, YS_FIELD_INT, "1", 0, "how often each was done"),
    YS_FIELD_OF(TABLE, rows, YS_FIELD_LIST, &row_record, 0, "what was done"),
};
const struct ys_record ys_self_test_record = YS_RECORD("self_test", TABLE, table_fields);

/* Which of what is observed a thing is judged by. */
enum judged_kind { CPU, MEMORY, MAPPED, PHASE, WRITTEN, READ, AROUND, SWITCHES };

static const struct act {
    const char *act, *what;
    enum judged_kind kind;
} ACTS[] = {
    {"cpu-thread", "CPU time of a thread", CPU},
    {"cpu-eight-threads", "CPU time of eight threads", CPU},
    {"cpu-child", "CPU time of a child", CPU},
    {"cpu-500-children", "CPU time of 500 short-lived children", CPU},
    {"cpu-unwaited", "CPU time of children that nobody waits for", CPU},
    {"cpu-double-fork", "CPU time of a process forked twice", CPU},
    {"cpu-ignored", "CPU time with SIGCHLD ignored", CPU},
    {"memory-80-ms", "memory held for 80 ms", MEMORY},
    {"memory-child", "memory held by a child for 80 ms", MEMORY},
    {"memory-shared", "memory shared between five", MEMORY},
    {"memory-file", "memory beside a mapped file", MAPPED},
    {"memory-memfd", "memory in a memfd", MEMORY},
    {"bytes-written", "bytes written", WRITTEN},
    {"bytes-around-cache", "bytes written around the page cache", AROUND},
    {"bytes-read", "bytes read", READ},
    {"switches", "context switches", SWITCHES},
};

/* What a run of sleeps shows; all of it is done in each. */
static const struct act PHASES[YS_KNOWN_PHASES] = {
    [YS_KNOWN_START] = {"phases", "length of the start", PHASE},
    [YS_KNOWN_OPEN] = {"phases", "length of open", PHASE},
    [YS_KNOWN_TRAIN] = {"phases", "length of the training", PHASE},
    [YS_KNOWN_GAP] = {"phases", "length of blocks that follow a gap", PHASE},
    [YS_KNOWN_SAVE] = {"phases", "length of a save", PHASE},
    [YS_KNOWN_STOP] = {"phases", "length of the stop", PHASE},
};

/* What one performance showed. NAN: unknown. */
struct performance_shown {
    double truth, observed;
    char reason[200];
};

/* What a process that does nothing known uses anyway. */
struct base {
    double held_bytes, read_bytes, written_bytes;
};

/* What the program says that it did. NaN: it did no such thing. */
struct program_figures {
    double cpu_ns, held_bytes, written_bytes, switches;
};
#define SAID(member, unit)                                                                                             \
    YS_FIELD(struct program_figures, member, YS_FIELD_REAL, unit, YS_FIELD_NULL, "by its own clock or counter")
static const struct ys_field said_fields[] = {SAID(cpu_ns, "ns"), SAID(held_bytes, "B"), SAID(written_bytes, "B"),
                                              SAID(switches, "1")};
static const struct ys_record said_record = YS_RECORD("known", struct program_figures, said_fields);
struct opened {
    struct program_figures known;
};
static const struct ys_field opened_fields[] = {
    YS_FIELD_OF(struct opened, known, YS_FIELD_OBJECT, &said_record, 0, "what it did")};
static const struct ys_record opened_record = YS_RECORD("opened", struct opened, opened_fields);

static double value_of(int64_t fact)
{
    return fact == YS_FIELD_NONE ? NAN : (double)fact;
}

static void judge_cpu(const struct ys_session_end *end, const struct program_figures *said,
                      struct performance_shown *look)
{
    look->truth = said->cpu_ns * 1e-9;
    look->observed = (double)(end->user_ns + end->system_ns) * 1e-9;
    if (end->observed.grouped || end->unwaited_ns == 0)
        return;
    look->observed = NAN;
    snprintf(look->reason, sizeof look->reason, "without a control group what nobody waited for is only estimated");
}

static void judge_memory(const struct act *act, const struct ys_session_end *end, const struct ys_observation *facts,
                         const struct program_figures *said, const struct base *base, struct performance_shown *look)
{
    look->truth = said->held_bytes + base->held_bytes;
    look->observed = value_of(facts->memory_own_peak_bytes);
    if (!isnan(look->observed))
        return;
    look->observed =
        act->kind == MAPPED || end->peak.shared_bytes > MOST_SHARED_BYTES ? NAN : (double)end->peak.rss_bytes;
    if (isnan(look->observed))
        snprintf(look->reason, sizeof look->reason,
                 "without a control group shared and mapped pages cannot be told apart");
}

static void judge(const struct act *act, const struct ys_session_end *end, const struct program_figures *said,
                  const struct base *base, struct performance_shown *look)
{
    const struct ys_observation *facts = &end->observed;
    *look = (struct performance_shown){.truth = said->written_bytes, .observed = NAN};
    snprintf(look->reason, sizeof look->reason, "the kernel keeps no count of it");
    switch (act->kind) {
    case CPU:
        judge_cpu(end, said, look);
        break;
    case MEMORY:
    case MAPPED:
        judge_memory(act, end, facts, said, base, look);
        break;
    case WRITTEN:
        look->observed = value_of(facts->written_bytes) - base->written_bytes;
        break;
    case READ:
        look->observed = value_of(facts->read_bytes) - base->read_bytes;
        break;
    case AROUND:
        look->observed = value_of(facts->disk_written_bytes);
        break;
    case SWITCHES:
        look->truth = said->switches;
        look->observed = (double)(end->voluntary_switches + end->involuntary_switches);
        break;
    case PHASE: /* runs have phases: judge_phases() */
        break;
    }
}

/* A plan without work, with the one option. */
static ys_json *open_message(const char *act, const char *folder)
{
    struct ys_plan plan;
    ys_plan_init(&plan);
    plan.mode = YS_MODE_TRAIN;
    plan.batch = plan.steps = plan.block = plan.threads = 1;
    plan.options = ys_json_object();
    ys_json_set_string(plan.options, "act", act);
    ys_set_text(&plan.folder, folder);
    ys_json *message = ys_request_open(&plan);
    ys_plan_fini(&plan);
    return message;
}

/* One session in which `act` is done. */
static ys_status perform(const char *program, const char *folder, const struct act *act, const struct base *base,
                         struct performance_shown *look)
{
    const char *argv[] = {program, NULL};
    struct ys_launch launch = {.argv = argv,
                               .program = YS_PROGRAM_OWN,
                               .folder = folder,
                               .stall_limit_s = 30,
                               .run_time_limit_s = 60,
                               .sample_hz = 10};
    struct ys_session *session = NULL;
    struct ys_session_end end;
    ys_json *opened = NULL, *message = open_message(act->act, folder);
    ys_status status = ys_session_open(&launch, &session);
    if (status == YS_OK)
        status = ys_session_request(session, message, NULL, NULL, &opened);
    else
        ys_json_free(message);
    ys_session_close(session, &end);
    if (status == YS_OK) {
        struct opened told;
        ys_record_glance(&opened_record, opened, &told);
        judge(act, &end, &told.known, base, look);
    } else if (status != YS_EINTR && end.message) {
        *look = (struct performance_shown){.truth = NAN, .observed = NAN}; /* this machine has no such thing */
        snprintf(look->reason, sizeof look->reason, "%s", end.message);
        status = YS_OK;
    }
    ys_json_free(opened);
    ys_session_end_fini(&end);
    return status;
}

static double bound_of(enum judged_kind kind, double truth)
{
    switch (kind) {
    case CPU:
        return fmax(0.01 * truth, 0.01);
    case MEMORY:
    case MAPPED:
        return fmax(0.02 * truth, 4e6);
    case PHASE:
        return 0.002;
    case SWITCHES:
        return fmax(0.01 * truth, 10);
    case WRITTEN:
    case READ:
    case AROUND:
        break;
    }
    return PAGE_BYTES;
}

static const char *unit_of(enum judged_kind kind)
{
    return kind == CPU || kind == PHASE ? "s" : kind == SWITCHES ? "1" : "B";
}

static double median(double *values, size_t count)
{
    ys_stat_sort(values, count);
    return ys_stat_quantile(values, count, 0.5);
}

static void fill_row(const struct act *act, const struct performance_shown *looks, size_t times,
                     struct ys_self_test_row *row)
{
    static double truth[MOST_TIMES], observed[MOST_TIMES], error[MOST_TIMES];
    const char *reason = NULL;
    for (size_t i = 0; i < times; i++) {
        truth[i] = looks[i].truth;
        observed[i] = looks[i].observed;
        error[i] = fabs(looks[i].observed - looks[i].truth);
        if (isnan(looks[i].observed) || isnan(looks[i].truth))
            reason = looks[i].reason;
    }
    *row = (struct ys_self_test_row){.what = ys_strdup(act->what),
                                     .unit = ys_strdup(unit_of(act->kind)),
                                     .truth = NAN,
                                     .observed = NAN,
                                     .error = NAN,
                                     .bound = NAN,
                                     .verdict = YS_SELF_TEST_UNKNOWN,
                                     .reason = ys_strdup(reason)};
    if (!reason) {
        row->truth = median(truth, times);
        row->observed = median(observed, times);
        row->error = median(error, times);
        row->bound = bound_of(act->kind, row->truth);
        row->verdict = row->error <= row->bound ? YS_SELF_TEST_TRUE : YS_SELF_TEST_WRONG;
    }
}

static ys_status measure_base(const char *program, const char *folder, struct base *base)
{
    static const struct act nothing = {"nothing", "", MEMORY}, reads = {"nothing", "", READ},
                            writes = {"nothing", "", WRITTEN};
    struct performance_shown look;
    *base = (struct base){0};
    YS_TRY(perform(program, folder, &nothing, base, &look));
    double held_bytes = look.observed;
    YS_TRY(perform(program, folder, &reads, base, &look));
    double read_bytes = look.observed;
    YS_TRY(perform(program, folder, &writes, base, &look));
    *base = (struct base){.held_bytes = held_bytes, .read_bytes = read_bytes, .written_bytes = look.observed};
    return YS_OK;
}

static ys_status test_all(const char *program, const char *folder, int times, struct ys_list *rows)
{
    struct base base;
    struct performance_shown *looks = ys_alloc((size_t)times, sizeof *looks);
    ys_status status = measure_base(program, folder, &base);
    for (size_t a = 0; status == YS_OK && a < sizeof ACTS / sizeof ACTS[0]; a++) {
        ys_progress("%s", ACTS[a].what);
        for (int i = 0; status == YS_OK && i < times; i++)
            status = perform(program, folder, &ACTS[a], &base, &looks[i]);
        if (status == YS_OK)
            fill_row(&ACTS[a], looks, (size_t)times, ys_list_add(&row_record, rows));
    }
    ys_progress_clear();
    ys_free(looks);
    return status;
}

/* What a phase takes without sleeps is added to what the program says that it slept: to start, to end and to write a
 * file take it some milliseconds. `idle_s`: one value a run, [phase * times + time]. Where it scatters by more than the
 * bound, nobody can tell on this machine now whether what is seen of one with sleeps is true. */
static void add_idle(double *idle_s, int times, struct performance_shown *looks)
{
    for (int p = 0; p < YS_KNOWN_PHASES; p++) {
        size_t count = (size_t)times;
        double *of_phase = &idle_s[p * times], added_s = median(of_phase, count),
               spread_s = ys_stat_quantile(of_phase, count, 0.75) - ys_stat_quantile(of_phase, count, 0.25);
        for (int i = 0; i < times; i++) {
            struct performance_shown *look = &looks[p * times + i];
            look->truth += added_s;
            if (!(spread_s > bound_of(PHASE, look->truth)))
                continue;
            look->truth = NAN;
            snprintf(look->reason, sizeof look->reason,
                     "without sleeps it scatters by %.1f ms, beside other work: on a quieter machine it can be told",
                     1e3 * spread_s);
        }
    }
}

/* `looks`, and `idle_s`: [phase * times + time]. Runs with sleeps and without take turns, in whatever the machine does.
 */
static ys_status look_at_phases(const char *program, const char *folder, int times, double *idle_s,
                                struct performance_shown *looks)
{
    for (int i = 0; i < times; i++) {
        struct ys_known_times idle, seen;
        YS_TRY(ys_known_run(program, folder, false, &idle));
        YS_TRY(ys_known_run(program, folder, true, &seen));
        for (int p = 0; p < YS_KNOWN_PHASES; p++) {
            struct performance_shown *look = &looks[p * times + i];
            idle_s[p * times + i] = idle.observed_s[p];
            *look = (struct performance_shown){seen.slept_s[p], seen.reason[0] ? NAN : seen.observed_s[p], ""};
            snprintf(look->reason, sizeof look->reason, "%s", seen.reason[0] ? seen.reason : "it was not reached");
        }
    }
    add_idle(idle_s, times, looks);
    return YS_OK;
}

static ys_status test_phases(const char *program, const char *folder, int times, struct ys_list *rows)
{
    struct performance_shown *looks = ys_alloc((size_t)times * YS_KNOWN_PHASES, sizeof *looks);
    double *idle_s = ys_alloc((size_t)times * YS_KNOWN_PHASES, sizeof *idle_s);
    ys_progress("length of phases");
    ys_status status = look_at_phases(program, folder, times, idle_s, looks);
    for (int p = 0; status == YS_OK && p < YS_KNOWN_PHASES; p++)
        fill_row(&PHASES[p], &looks[p * times], (size_t)times, ys_list_add(&row_record, rows));
    ys_progress_clear();
    ys_free(idle_s);
    ys_free(looks);
    return status;
}

static void fill_place(struct ys_self_test *table, int times)
{
    struct utsname names;
    table->date = ys_machine_note_date();
    table->host = ys_machine_note_host();
    table->kernel = ys_strdup(uname(&names) == 0 ? names.release : "?");
    table->times = times;
}

ys_status ys_self_test(int times, struct ys_self_test *table)
{
    char *program = ys_find_support("yardstick-known");
    struct ys_working working;
    times = times < 1 ? 1 : times < MOST_TIMES ? times : MOST_TIMES;
    ys_record_init(&ys_self_test_record, table);
    if (!program)
        return ys_fail(YS_ENOTFOUND,
                       "the program yardstick-known is not found beside yardstick; build or install it again");
    fill_place(table, times);
    ys_status status = ys_working_in_cache("doctor", &working);
    if (status == YS_OK) {
        status = test_all(program, working.path, times, &table->rows);
        if (status == YS_OK)
            status = test_phases(program, working.path, times, &table->rows);
        ys_working_remove(&working);
    }
    ys_free(program);
    if (status != YS_OK)
        ys_record_fini(&ys_self_test_record, table);
    return status;
}
