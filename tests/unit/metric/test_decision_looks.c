#include "fixture.h"

#include "stat/looks.h"
#include "tap.h"

/* Three trials that are compared with the first: far slower, about as fast, and of blocks too few to tell. */
static const struct fake_trial *others(double rate_per_s, double noise)
{
    static struct fake_trial trials[2];
    trials[0] = trials[1] = fake_trials[0];
    trials[1].framework = trials[1].title = "pytorch";
    trials[1].rate_per_s = rate_per_s;
    trials[0].noise = trials[1].noise = noise;
    return trials;
}

struct study {
    char *folder;
    struct ys_store *store;
    int64_t id;
    ys_json *result;
};

static void begin(struct study *study, const struct fake_trial *trials, int rounds, int failing)
{
    *study = (struct study){.folder = fake_folder()};
    fake_decides = true;
    ys_status status = ys_store_open(study->folder, YS_STORE_WRITE, &study->store);
    if (status == YS_OK)
        status = fake_study(study->store, trials, 2, rounds, failing, &study->id);
    if (status == YS_OK)
        status = result_document(study->store, study->id, 0, &study->result);
    tap_check(status == YS_OK, __LINE__, "%s", status == YS_OK ? "" : ys_error());
    fake_decides = false;
}

static void end(struct study *study)
{
    ys_json_free(study->result);
    ys_store_close(study->store);
    CHECK(ys_fs_remove_tree(study->folder) == YS_OK);
}

static const ys_json *comparison_of(const struct study *study, const char *metric)
{
    const ys_json *all = ys_json_get(study->result, "comparisons");
    for (size_t i = 0; i < ys_json_size(all); i++)
        if (strcmp(ys_json_get_text(ys_json_at(all, i), "metric", ""), metric) == 0)
            return ys_json_at(all, i);
    return NULL;
}

static const char *word(const ys_json *comparison, const char *member)
{
    return ys_json_get_text(comparison, member, "-");
}

static void what_is_decided_stays_as_it_was_at_that_look(void)
{
    struct study at_first, later;
    const struct fake_trial *trials = others(2600, 0.012);
    begin(&at_first, trials, 7, -1);
    begin(&later, trials, 12, -1);
    const ys_json *then = comparison_of(&at_first, "rate_per_s"), *now = comparison_of(&later, "rate_per_s");
    CHECK_TEXT(word(then, "decision"), "decided");
    CHECK_TEXT(word(now, "decision"), "decided");
    CHECK_TEXT(word(now, "verdict"), "worse");
    CHECK_INT(ys_json_get_int(now, "look_rounds", 0), 7);
    CHECK_INT(ys_json_get_int(now, "n", 0), 7);
    CHECK(ys_json_equal(ys_json_get(then, "ci"), ys_json_get(now, "ci")));
    CHECK(ys_json_get_number(now, "level", 0) >= 0.984);
    /* Nothing is decided by the others: they are as of the last look. */
    const ys_json *memory = comparison_of(&later, "rss_peak_bytes");
    CHECK_TEXT(word(memory, "decision"), "-");
    CHECK_INT(ys_json_get_int(memory, "look_rounds", 0), 12);
    CHECK_INT(ys_json_get_int(memory, "n", 0), 12);
    CHECK(ys_json_get_number(memory, "level", 0) >= 0.991);
    end(&at_first);
    end(&later);
}

static void what_is_open_is_as_of_the_last_look(void)
{
    struct study study;
    begin(&study, others(5200, 0.1), 12, -1);
    const ys_json *speed = comparison_of(&study, "rate_per_s");
    CHECK_TEXT(word(speed, "decision"), "open");
    CHECK_TEXT(word(speed, "verdict"), "unclear");
    CHECK_INT(ys_json_get_int(speed, "look_rounds", 0), 12);
    CHECK_INT(ys_json_get_int(speed, "n", 0), 12);
    end(&study);
}

/* As where the time limit ends it: nobody looks at ten rounds otherwise. */
static void rounds_behind_the_last_look_count_at_the_level_of_the_next(void)
{
    struct study study;
    begin(&study, others(5200, 0.1), 10, -1);
    const ys_json *speed = comparison_of(&study, "rate_per_s");
    CHECK_INT(ys_json_get_int(speed, "look_rounds", 0), 10);
    CHECK_INT(ys_json_get_int(speed, "n", 0), 10);
    CHECK(ys_json_get_number(speed, "level", 0) >= 0.991);
    end(&study);
}

static void before_the_first_look_there_is_nothing_to_decide_by(void)
{
    struct study study;
    begin(&study, others(2600, 0.012), 6, -1);
    const ys_json *speed = comparison_of(&study, "rate_per_s");
    CHECK_TEXT(word(speed, "decision"), "open");
    CHECK(ys_json_type_of(ys_json_get(speed, "ci")) == YS_JSON_NULL); /* six rounds reach 96.9 % and no more */
    end(&study);
}

static void what_did_other_work_is_never_decided(void)
{
    struct study study;
    struct fake_trial trials[2];
    memcpy(trials, others(2600, 0.012), sizeof trials);
    trials[1].verdict = "fail";
    begin(&study, trials, 7, -1);
    CHECK_TEXT(word(comparison_of(&study, "rate_per_s"), "decision"), "never");
    end(&study);
}

static void the_document_says_when_it_is_looked(void)
{
    struct study study;
    struct ys_look looks[YS_LOOKS_MOST];
    begin(&study, others(2600, 0.012), 7, -1);
    const ys_json *decide = ys_json_get(ys_json_get(study.result, "study"), "decide"),
                  *told = ys_json_get(decide, "looks");
    CHECK_INT(ys_json_size(told), ys_looks(20, looks));
    for (size_t i = 0; i < ys_json_size(told); i++) {
        CHECK_INT(ys_json_get_int(ys_json_at(told, i), "rounds", 0), looks[i].rounds);
        CHECK(ys_json_get_number(ys_json_at(told, i), "level", 0) == looks[i].level);
    }
    end(&study);
}

TAP_MAIN(TAP_CASE(what_is_decided_stays_as_it_was_at_that_look), TAP_CASE(what_is_open_is_as_of_the_last_look),
         TAP_CASE(rounds_behind_the_last_look_count_at_the_level_of_the_next),
         TAP_CASE(before_the_first_look_there_is_nothing_to_decide_by), TAP_CASE(what_did_other_work_is_never_decided),
         TAP_CASE(the_document_says_when_it_is_looked))
