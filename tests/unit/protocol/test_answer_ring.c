/* The ring of answers: what one side writes the other reads, and nothing that is done to the file harms the reader. */
#include "protocol/answer_ring.h"
#include "base/clock.h"
#include "base/mem.h"
#include "tap.h"
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct setup {
    char folder[32], path[64];
    int fd; /* of the reader */
    struct ys_ring *ring;
    struct ys_ring_answer *answer;
};

static bool begin(struct setup *s)
{
    *s = (struct setup){.folder = "/tmp/ys-test-ring-XXXXXX"};
    if (!mkdtemp(s->folder))
        abort();
    snprintf(s->path, sizeof s->path, "%s/ring", s->folder);
    s->answer = ys_alloc(1, sizeof *s->answer);
    return s->answer && ys_ring_make(s->path, &s->fd) == YS_OK && ys_ring_open(s->path, &s->ring) == YS_OK;
}

static void finish(struct setup *s)
{
    ys_ring_close(s->ring);
    close(s->fd);
    unlink(s->path);
    rmdir(s->folder);
    ys_free(s->answer);
}

static void write_bytes(const struct setup *s, off_t at, const void *bytes, size_t size)
{
    int fd = open(s->path, O_WRONLY);
    if (fd < 0 || pwrite(fd, bytes, size, at) != (ssize_t)size)
        abort();
    close(fd);
}

static off_t slot_at(int64_t request)
{
    return YS_RING_HEAD + request % YS_RING_SLOTS * YS_RING_SLOT_BYTES;
}

static void show(struct setup *s, int64_t request, float value)
{
    const float values[] = {value, -value};
    ys_ring_write(s->ring, request, request % 5, values, 2, false);
}

static void the_newest_answer_is_read(void)
{
    struct setup s;
    REQUIRE(begin(&s));
    CHECK_INT(ys_ring_newest(s.fd, s.answer), YS_ENOTFOUND);
    for (int64_t k = 0; k < 3 * YS_RING_SLOTS + 2; k++) {
        show(&s, k, (float)k + 0.5f);
        REQUIRE(ys_ring_newest(s.fd, s.answer) == YS_OK);
        CHECK_INT(s.answer->request, k);
        CHECK_INT(s.answer->batch, k % 5);
        CHECK_INT(s.answer->count, 2);
        CHECK(s.answer->values[0] == (float)k + 0.5f && s.answer->values[1] == -(float)k - 0.5f);
    }
    finish(&s);
}

static void doubles_are_rounded_and_long_answers_are_cut(void)
{
    struct setup s;
    REQUIRE(begin(&s));
    double *values = ys_alloc(YS_RING_FLOATS + 100, sizeof *values);
    REQUIRE(values);
    for (size_t i = 0; i < YS_RING_FLOATS + 100; i++)
        values[i] = 0.1 * (double)i;
    ys_ring_write(s.ring, 3, 3, values, YS_RING_FLOATS + 100, true);
    CHECK_INT(ys_ring_newest(s.fd, s.answer), YS_OK);
    CHECK_INT(s.answer->count, YS_RING_FLOATS);
    CHECK(s.answer->values[YS_RING_FLOATS - 1] == (float)values[YS_RING_FLOATS - 1]);
    ys_free(values);
    finish(&s);
}

static void one_that_is_being_written_is_passed_over(void)
{
    struct setup s;
    const uint64_t sequence = 8;
    REQUIRE(begin(&s));
    show(&s, 6, 1);
    write_bytes(&s, slot_at(7), &sequence, sizeof sequence); /* begun, and no more */
    CHECK_INT(ys_ring_newest(s.fd, s.answer), YS_OK);
    CHECK_INT(s.answer->request, 6);
    show(&s, 7, 2);
    const uint64_t later = 16; /* its slot is taken for request 15 */
    write_bytes(&s, slot_at(15), &later, sizeof later);
    CHECK_INT(ys_ring_newest(s.fd, s.answer), YS_OK);
    CHECK_INT(s.answer->request, 6);
    finish(&s);
}

static void words_that_contradict_one_another_are_no_answer(void)
{
    const uint64_t wrong_sequences[] = {1, 4, 3 + YS_RING_SLOTS, UINT64_MAX, (uint64_t)INT64_MAX + 1};
    struct setup s;
    REQUIRE(begin(&s));
    for (size_t i = 0; i < sizeof wrong_sequences / sizeof wrong_sequences[0]; i++) {
        show(&s, 2, 1);
        write_bytes(&s, slot_at(2), &wrong_sequences[i], sizeof(uint64_t));
        CHECK_INT(ys_ring_newest(s.fd, s.answer), YS_ENOTFOUND);
    }
    const uint64_t other_request = 10;
    show(&s, 2, 1);
    write_bytes(&s, slot_at(2) + 8, &other_request, sizeof other_request);
    CHECK_INT(ys_ring_newest(s.fd, s.answer), YS_ENOTFOUND);
    show(&s, 2, 1);
    const uint64_t other_tail = 11;
    write_bytes(&s, slot_at(2) + YS_RING_SLOT_BYTES - 8, &other_tail, sizeof other_tail);
    CHECK_INT(ys_ring_newest(s.fd, s.answer), YS_ENOTFOUND);
    finish(&s);
}

static void counts_beyond_the_slot_are_no_answer(void)
{
    const uint32_t counts[] = {YS_RING_FLOATS + 1, 1u << 31, UINT32_MAX};
    struct setup s;
    REQUIRE(begin(&s));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        show(&s, 0, 1);
        write_bytes(&s, slot_at(0) + 20, &counts[i], sizeof counts[i]);
        CHECK_INT(ys_ring_newest(s.fd, s.answer), YS_ENOTFOUND);
    }
    finish(&s);
}

static void a_damaged_head_and_a_cut_file_are_told(void)
{
    static const off_t places[] = {0, 7, 8, 12, 16};
    struct setup s;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        REQUIRE(begin(&s));
        show(&s, 0, 1);
        write_bytes(&s, places[i], "\x7f", 1);
        CHECK_INT(ys_ring_newest(s.fd, s.answer), YS_EFORMAT);
        CHECK_HAS(ys_error(), "changed the ring's head");
        finish(&s);
    }
    static const off_t sizes[] = {0, 10, YS_RING_HEAD, YS_RING_HEAD + 3 * YS_RING_SLOT_BYTES};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        REQUIRE(begin(&s));
        REQUIRE(truncate(s.path, sizes[i]) == 0);
        CHECK_INT(ys_ring_newest(s.fd, s.answer), YS_EFORMAT);
        CHECK_HAS(ys_error(), "cut the ring");
        finish(&s);
    }
}

static void spin(uint64_t time_ns)
{
    const uint64_t end_ns = ys_time_ns() + time_ns;
    while (ys_time_ns() < end_ns)
        continue;
}

/* On one CPU, so that the reader is put aside in the middle of a look while all slots are written over. */
static void a_reader_who_is_overtaken_reads_again(void)
{
    enum { ANSWERS = 50000 };
    struct setup s;
    cpu_set_t before, one;
    int cpu = 0, ended = -1, missed = 0;
    REQUIRE(begin(&s) && sched_getaffinity(0, sizeof before, &before) == 0);
    while (!CPU_ISSET(cpu, &before))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    show(&s, 0, 1);
    const pid_t writer = fork();
    if (writer == 0) {
        for (int64_t k = 1; k < ANSWERS; k++) {
            show(&s, k, 1);
            spin(1000);
        }
        _exit(0);
    }
    while (waitpid(writer, &ended, WNOHANG) == 0)
        missed += ys_ring_newest(s.fd, s.answer) != YS_OK;
    CHECK_INT(ended, 0);
    CHECK_INT(missed, 0);
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
    finish(&s);
}

static void what_is_no_ring_is_not_mapped(void)
{
    struct setup s;
    struct ys_ring *ring = NULL;
    int fd;
    REQUIRE(begin(&s));
    CHECK_INT(ys_ring_make(s.path, &fd), YS_EIO); /* it is there */
    REQUIRE(truncate(s.path, YS_RING_HEAD + 100) == 0);
    CHECK_INT(ys_ring_open(s.path, &ring), YS_EFORMAT);
    write_bytes(&s, 0, "other", 5);
    CHECK_INT(ys_ring_open(s.path, &ring), YS_EFORMAT);
    CHECK_INT(ys_ring_open("/nowhere/ring", &ring), YS_EIO);
    finish(&s);
}

TAP_MAIN(TAP_CASE(the_newest_answer_is_read), TAP_CASE(doubles_are_rounded_and_long_answers_are_cut),
         TAP_CASE(one_that_is_being_written_is_passed_over), TAP_CASE(a_reader_who_is_overtaken_reads_again),
         TAP_CASE(words_that_contradict_one_another_are_no_answer), TAP_CASE(counts_beyond_the_slot_are_no_answer),
         TAP_CASE(a_damaged_head_and_a_cut_file_are_told), TAP_CASE(what_is_no_ring_is_not_mapped))
