#include "crew/shown_answers.h"

#include "base/clock.h"
#include "base/mem.h"
#include "protocol/answer_ring.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static const uint64_t FIRST_SPAN_NS = 200000, LONGEST_SPAN_NS = 3600000000000;
enum { LOOKS_OF_A_SPAN = 16 };

static uint64_t draw(void)
{
    uint64_t drawn = 0;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
        drawn = ys_time_ns(); /* of 8 bytes the kernel refuses none once it has begun to give any */
    return drawn;
}

static void plan_next(struct ys_answers *answers)
{
    answers->next_ns = ys_time_ns() + draw() % (2 * answers->span_ns);
    if (++answers->looks % LOOKS_OF_A_SPAN == 0 && answers->span_ns < LONGEST_SPAN_NS)
        answers->span_ns *= 2;
}

ys_status ys_answers_begin(struct ys_answers *answers, const char *path)
{
    *answers = (struct ys_answers){.span_ns = FIRST_SPAN_NS};
    YS_TRY(ys_ring_make(path, &answers->fd));
    answers->is_shown = true;
    plan_next(answers);
    return YS_OK;
}

ys_status ys_answers_begin_later(struct ys_answers *answers, const char *path)
{
    YS_TRY(ys_answers_begin(answers, path));
    answers->is_later = true;
    return YS_OK;
}

uint64_t ys_answers_due(const struct ys_answers *answers)
{
    return answers->next_ns && !answers->is_later ? answers->next_ns : UINT64_MAX;
}

/* Of each two that follow one another, one stays. */
static void thin(struct ys_answers *answers)
{
    const uint64_t drawn = draw();
    const size_t half = answers->count / 2;
    for (size_t i = 0; i < half; i++) {
        const size_t stays = 2 * i + (drawn >> i & 1);
        ys_free(answers->items[4 * i + 1 - stays].values);
        answers->items[i] = answers->items[stays];
    }
    answers->count = half;
}

static void keep(struct ys_answers *answers, const struct ys_ring_answer *answer, uint64_t asked_ns, uint64_t read_ns)
{
    struct ys_answer_seen *last = answers->count ? &answers->items[answers->count - 1] : NULL;
    if (last && last->request == answer->request) {
        last->still_ns = asked_ns;
        return;
    }
    float *values = ys_alloc(answer->count, sizeof *values);
    memcpy(values, answer->values, answer->count * sizeof *values);
    if (answers->count == YS_ANSWERS_MOST)
        thin(answers);
    answers->items[answers->count++] = (struct ys_answer_seen){.request = answer->request,
                                                               .batch = answer->batch,
                                                               .read_ns = read_ns,
                                                               .still_ns = asked_ns,
                                                               .count = answer->count,
                                                               .values = values};
    answers->met += answer->request >= 0;
}

static void look(struct ys_answers *answers)
{
    struct ys_ring_answer *answer = ys_alloc(1, sizeof *answer);
    const uint64_t asked_ns = answers->is_later ? 0 : ys_time_ns(); /* nothing is due of one that is shown later */
    const ys_status status = ys_ring_newest(answers->fd, answer);
    const uint64_t read_ns = ys_time_ns();
    if (status == YS_ENOTFOUND) {
        answer->request = -1;
        answer->count = 0;
    }
    if (status == YS_OK || status == YS_ENOTFOUND) {
        keep(answers, answer, asked_ns, read_ns);
    } else {
        answers->damage = ys_strdup(ys_error());
        answers->next_ns = 0;
    }
    ys_free(answer);
}

void ys_answers_look(struct ys_answers *answers)
{
    if (ys_time_ns() < ys_answers_due(answers))
        return;
    plan_next(answers);
    look(answers);
}

void ys_answers_look_later(struct ys_answers *answers)
{
    if (answers->next_ns && answers->is_later)
        look(answers);
}

void ys_answers_end(struct ys_answers *answers)
{
    if (!answers->next_ns) /* never begun, or damaged */
        return;
    if (answers->is_later) { /* the last message was looked at */
        answers->next_ns = 0;
        return;
    }
    const size_t met = answers->met;
    answers->next_ns = 0;
    look(answers);
    answers->met = met; /* that moment was no secret */
}

void ys_answers_free(struct ys_answers *answers)
{
    for (size_t i = 0; i < answers->count; i++)
        ys_free(answers->items[i].values);
    if (answers->is_shown)
        close(answers->fd);
    ys_free(answers->damage);
    *answers = (struct ys_answers){0};
}
