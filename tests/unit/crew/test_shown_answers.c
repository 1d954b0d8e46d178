/* Looks at answers: when they come, which are kept, and what is noted of each. */
#include "base/clock.h"
#include "base/mem.h"
#include "crew/shown_answers.h"
#include "protocol/answer_ring.h"
#include "tap.h"
#include <stdlib.h>
#include <unistd.h>

struct setup {
    char folder[40], path[64];
    struct ys_answers answers;
    struct ys_ring *ring;
};

static bool begin(struct setup *s)
{
    *s = (struct setup){.folder = "/tmp/ys-test-answers-XXXXXX"};
    if (!mkdtemp(s->folder))
        abort();
    snprintf(s->path, sizeof s->path, "%s/ring", s->folder);
    return ys_answers_begin(&s->answers, s->path) == YS_OK && ys_ring_open(s->path, &s->ring) == YS_OK;
}

static void finish(struct setup *s)
{
    ys_ring_close(s->ring);
    ys_answers_free(&s->answers);
    unlink(s->path);
    rmdir(s->folder);
}

static void show(struct setup *s, int64_t request)
{
    const float value = (float)request;
    ys_ring_write(s->ring, request, request, &value, 1, false);
}

/* The next look without waiting for its moment. */
static void look_now(struct setup *s)
{
    s->answers.next_ns = 1;
    ys_answers_look(&s->answers);
}

static void looks_come_within_twice_a_span_that_doubles(void)
{
    struct setup s;
    uint64_t span_ns = 200000;
    REQUIRE(begin(&s));
    for (int look = 1; look < 60; look++) {
        const uint64_t before_ns = ys_time_ns();
        look_now(&s);
        const uint64_t due_ns = ys_answers_due(&s.answers);
        CHECK(due_ns >= before_ns && due_ns <= ys_time_ns() + 2 * span_ns);
        if ((look + 1) % 16 == 0)
            span_ns *= 2;
    }
    CHECK_INT(s.answers.span_ns, span_ns);
    finish(&s);
}

static void nothing_is_read_before_it_is_due(void)
{
    struct setup s;
    REQUIRE(begin(&s));
    show(&s, 0);
    s.answers.next_ns = UINT64_MAX;
    ys_answers_look(&s.answers);
    CHECK_INT(s.answers.count, 0);
    finish(&s);
}

static void the_same_answer_is_kept_once_with_both_times(void)
{
    struct setup s;
    REQUIRE(begin(&s));
    look_now(&s);
    CHECK_INT(s.answers.items[0].request, -1);
    show(&s, 4);
    look_now(&s);
    const uint64_t between_ns = ys_time_ns();
    look_now(&s);
    REQUIRE(s.answers.count == 2);
    CHECK_INT(s.answers.items[1].request, 4);
    CHECK_INT(s.answers.items[1].count, 1);
    CHECK(s.answers.items[1].values[0] == 4.0f);
    CHECK(s.answers.items[1].read_ns <= between_ns && s.answers.items[1].still_ns >= between_ns);
    CHECK_INT(s.answers.met, 1);
    finish(&s);
}

static void what_is_kept_is_bounded_and_in_order(void)
{
    struct setup s;
    REQUIRE(begin(&s));
    for (int64_t k = 0; k < 1000; k++) {
        show(&s, k);
        look_now(&s);
        CHECK(s.answers.count <= YS_ANSWERS_MOST);
        CHECK_INT(s.answers.items[s.answers.count - 1].request, k);
    }
    CHECK(s.answers.count > YS_ANSWERS_MOST / 2);
    CHECK_INT(s.answers.met, 1000);
    for (size_t i = 0; i < s.answers.count; i++) {
        const struct ys_answer_seen *seen = &s.answers.items[i];
        CHECK(i == 0 || seen->request > s.answers.items[i - 1].request);
        CHECK(seen->values[0] == (float)seen->request);
    }
    finish(&s);
}

static void the_last_look_is_no_secret(void)
{
    struct setup s;
    REQUIRE(begin(&s));
    show(&s, 0);
    look_now(&s);
    show(&s, 1);
    ys_answers_end(&s.answers);
    CHECK_INT(s.answers.count, 2);
    CHECK_INT(s.answers.items[1].request, 1);
    CHECK_INT(s.answers.met, 1);
    CHECK(ys_answers_due(&s.answers) == UINT64_MAX);
    ys_answers_end(&s.answers);
    CHECK_INT(s.answers.count, 2);
    finish(&s);
}

static void damage_ends_the_looking(void)
{
    struct setup s;
    REQUIRE(begin(&s));
    show(&s, 0);
    REQUIRE(truncate(s.path, 100) == 0);
    look_now(&s);
    CHECK_HAS(s.answers.damage ? s.answers.damage : "none", "cut the ring");
    CHECK(ys_answers_due(&s.answers) == UINT64_MAX);
    ys_answers_end(&s.answers);
    finish(&s);
}

static void without_a_ring_there_is_nothing_to_do(void)
{
    struct ys_answers answers = {0};
    CHECK(ys_answers_due(&answers) == UINT64_MAX);
    ys_answers_look(&answers);
    ys_answers_end(&answers);
    ys_answers_free(&answers);
    CHECK_INT(ys_answers_begin(&answers, "/nowhere/ring"), YS_EIO);
    CHECK(!answers.is_shown);
    ys_answers_free(&answers);
}

TAP_MAIN(TAP_CASE(looks_come_within_twice_a_span_that_doubles), TAP_CASE(nothing_is_read_before_it_is_due),
         TAP_CASE(the_same_answer_is_kept_once_with_both_times), TAP_CASE(what_is_kept_is_bounded_and_in_order),
         TAP_CASE(the_last_look_is_no_secret), TAP_CASE(damage_ends_the_looking),
         TAP_CASE(without_a_ring_there_is_nothing_to_do))
