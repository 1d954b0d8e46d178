/* The orders of phases: tables that the one loop can go through. */
#include "crew/crew.h"
#include "crew/phase.h"
#include "session/session_internal.h"
#include "unit/run/run_fixture.h"

/* What is sent in which order, "" where nothing is. */
static void check_order(enum ys_mode mode, const char *const *requests, size_t count)
{
    const struct ys_order *order = ys_order_find(mode);
    CHECK(order->mode == mode && order->work == (ys_mode_of(mode)->answers ? YS_STAGE_INFER
                                                 : mode == YS_MODE_ATTACK  ? YS_STAGE_INPUT_GRADIENT
                                                                           : YS_STAGE_TRAIN));
    CHECK_INT(order->count, count);
    for (size_t i = 0; i < order->count && i < count; i++) {
        const struct ys_phase *phase = &order->phases[i];
        CHECK_TEXT(phase->request ? phase->request : "", requests[i]);
        CHECK(phase->request ? phase->fill != NULL : phase->after != NULL);
        CHECK(phase->back <= i && (!phase->back || phase->is_due));
        CHECK(!phase->times.answered || phase->times.asked);
        if (phase->request && phase->stage != YS_STAGE_SAVE)
            CHECK_TEXT(ys_stage_name(phase->stage), phase->request);
    }
}

static void each_mode_has_its_order(void)
{
    static const char *const training[] = {"open", "train", "save", "", "train", "", "", "save"};
    static const char *const inference[] = {"open", "infer", "", ""};
    check_order(YS_MODE_TRAIN, training, sizeof training / sizeof training[0]);
    static const char *const attack[] = {"open", "", "", ""};
    check_order(YS_MODE_INFER, inference, sizeof inference / sizeof inference[0]);
    check_order(YS_MODE_ATTACK, attack, sizeof attack / sizeof attack[0]);
    static const char *const loading[] = {"open", "infer", "", "", "", "forward"};
    check_order(YS_MODE_SIZE, loading, sizeof loading / sizeof loading[0]);
}

/* An order that no mode has: phases without a request alone, one of them gone through three times. */
static int looks, rounds;

static ys_status look(struct ys_run *run)
{
    (void)run;
    looks++;
    return YS_OK;
}

static ys_status go_round(struct ys_run *run)
{
    (void)run;
    rounds++;
    return YS_OK;
}

static bool is_early(const struct ys_run *run)
{
    (void)run;
    return rounds < 3;
}

static bool never(const struct ys_run *run)
{
    (void)run;
    return false;
}

static ys_status refuse(struct ys_run *run)
{
    (void)run;
    return ys_fail(YS_EIO, "no further");
}

static void the_loop_follows_any_table(void)
{
    static const struct ys_phase phases[] = {
        {.after = look}, {.after = go_round, .is_due = is_early, .back = 1}, {.after = refuse, .is_due = never}};
    static const struct ys_phase broken[] = {{.after = refuse}, {.after = look}};
    const struct ys_order order = {YS_MODE_TRAIN, YS_STAGE_TRAIN, phases, 3},
                          other = {YS_MODE_TRAIN, YS_STAGE_TRAIN, broken, 2};
    struct ys_run_spec spec = {0};
    struct ys_run run = {.spec = &spec, .mode = ys_mode_of(YS_MODE_TRAIN), .order = &order},
                  stopped = {.spec = &spec, .mode = ys_mode_of(YS_MODE_TRAIN), .order = &other};
    CHECK_INT(ys_order_take(&run), YS_OK);
    CHECK(ys_order_is_done(&run));
    CHECK(rounds == 3 && looks == 4);
    CHECK_INT(ys_order_take(&stopped), YS_EIO);
    CHECK(!ys_order_is_done(&stopped));
    CHECK_INT(looks, 4);
}

/* Nothing can be sent: the session has failed before. */
static int asked;

static void ask_nothing(struct ys_run *run, ys_json *message)
{
    (void)run;
    (void)message;
    asked++;
}

/* What one does meanwhile would fall into what is looked at of the next. */
static void no_rank_is_asked_before_all_were_looked_at(void)
{
    static const struct ys_phase phases[] = {{.after = look}, {.request = "train", .fill = ask_nothing}};
    static const struct ys_phase broken[] = {{.after = refuse}, {.request = "train", .fill = ask_nothing}};
    const struct ys_order order = {YS_MODE_TRAIN, YS_STAGE_TRAIN, phases, 2},
                          other = {YS_MODE_TRAIN, YS_STAGE_TRAIN, broken, 2};
    struct ys_run_spec spec = {0};
    struct ys_session session = {.has_failed = true, .failure = YS_EPROTOCOL};
    struct ys_run runs[3];
    struct ys_crew crew = {.count = 3, .runs = runs};
    bool is_done = true;
    for (size_t i = 0; i < 3; i++)
        runs[i] = (struct ys_run){
            .spec = &spec, .mode = ys_mode_of(YS_MODE_TRAIN), .order = &order, .has_hello = true, .session = &session};
    looks = 0;
    CHECK_INT(ys_crew_take(&crew, &is_done), YS_OK);
    CHECK(!is_done && looks == 3 && asked == 0);
    CHECK_INT(ys_crew_ask(&crew), YS_EPROTOCOL);
    CHECK(looks == 3 && asked == 1);
    /* One that fails then is no reason to ask the others. */
    for (size_t i = 0; i < 3; i++)
        runs[i] = (struct ys_run){
            .spec = &spec, .mode = ys_mode_of(YS_MODE_TRAIN), .order = i == 1 ? &other : &order, .has_hello = true};
    CHECK_INT(ys_crew_take(&crew, &is_done), YS_EIO);
    CHECK(looks == 4 && asked == 1);
}

TAP_MAIN(TAP_CASE(each_mode_has_its_order), TAP_CASE(the_loop_follows_any_table),
         TAP_CASE(no_rank_is_asked_before_all_were_looked_at))
