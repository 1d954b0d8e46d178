/* The memory plan: which buffers may share bytes, and where they lie. */
#include "base/rng.h"
#include "engine/program.h"
#include "tap.h"
#include <string.h>

enum { COUNT = 200 };

static size_t rounded(size_t size)
{
    return (size + YS_ALIGNMENT - 1) / YS_ALIGNMENT * YS_ALIGNMENT;
}

/** Random sizes and lives over 100 calls; every seventh persistent, every eleventh never used. */
static void random_buffers(struct ys_buffer *buffers, const char *name)
{
    struct ys_rng rng;
    ys_rng_init(&rng, 7, name);
    for (int i = 0; i < COUNT; i++) {
        int first = (int)ys_rng_below(&rng, 100), length = (int)ys_rng_below(&rng, 20);
        buffers[i] = (struct ys_buffer){.size_bytes = 1 + ys_rng_below(&rng, i % 5 ? 3000 : 100000),
                                        .persistent = i % 7 == 0,
                                        .first = i % 11 == 10 ? -1 : first,
                                        .last = i % 11 == 10 ? -1 : first + length};
    }
}

static bool share_bytes(const struct ys_buffer *a, const struct ys_buffer *b, size_t gap)
{
    return a->offset_bytes < b->offset_bytes + b->size_bytes + gap &&
           b->offset_bytes < a->offset_bytes + a->size_bytes + gap;
}

/** The conflict rule, written again from its definition: two buffers are needed at one moment. */
static bool needed_at_once(const struct ys_buffer *a, const struct ys_buffer *b)
{
    for (int t = 0; t < 130; t++)
        if ((a->persistent || (a->first >= 0 && a->first <= t && t <= a->last)) &&
            (b->persistent || (b->first >= 0 && b->first <= t && t <= b->last)))
            return true;
    return false;
}

static void buffers_that_live_at_once_never_overlap(void)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        static struct ys_buffer b[COUNT];
        size_t arena = 0, sum = 0, largest_moment = 0;
        random_buffers(b, names[k]);
        REQUIRE(ys_plan_memory(b, COUNT, true, 0, &arena) == YS_OK);
        for (int i = 0; i < COUNT; i++) {
            sum += rounded(b[i].size_bytes);
            for (int j = 0; j < i; j++)
                tap_check(!needed_at_once(&b[i], &b[j]) || !share_bytes(&b[i], &b[j], 0), __LINE__,
                          "set %s: buffers %d and %d overlap", names[k], i, j);
        }
        for (int t = 0; t < 130; t++) {
            size_t moment = 0;
            for (int i = 0; i < COUNT; i++)
                moment += b[i].persistent || (b[i].first >= 0 && b[i].first <= t && t <= b[i].last)
                              ? rounded(b[i].size_bytes)
                              : 0;
            largest_moment = moment > largest_moment ? moment : largest_moment;
        }
        CHECK(arena >= largest_moment);
        CHECK(arena < sum);
    }
}

static void every_offset_is_aligned_and_inside_the_arena(void)
{
    static struct ys_buffer b[COUNT];
    size_t arena = 0;
    random_buffers(b, "aligned");
    REQUIRE(ys_plan_memory(b, COUNT, true, 0, &arena) == YS_OK);
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(b[i].offset_bytes % YS_ALIGNMENT, 0);
        CHECK(b[i].first < 0 || b[i].offset_bytes + b[i].size_bytes <= arena);
    }
}

static void without_sharing_all_stand_apart_with_their_gaps(void)
{
    static struct ys_buffer b[COUNT];
    size_t arena = 0;
    random_buffers(b, "apart");
    REQUIRE(ys_plan_memory(b, COUNT, false, 64, &arena) == YS_OK);
    for (int i = 0; i < COUNT; i++) {
        CHECK(b[i].first < 0 || (b[i].offset_bytes >= 64 && b[i].offset_bytes + b[i].size_bytes + 64 <= arena));
        for (int j = 0; j < i; j++)
            CHECK(b[i].first < 0 || b[j].first < 0 || !share_bytes(&b[i], &b[j], 64));
    }
}

static void lives_that_follow_each_other_share_one_place(void)
{
    struct ys_buffer b[4];
    size_t arena = 0;
    for (int i = 0; i < 4; i++)
        b[i] = (struct ys_buffer){.size_bytes = 1000, .first = 2 * i, .last = 2 * i + 1};
    REQUIRE(ys_plan_memory(b, 4, true, 0, &arena) == YS_OK);
    CHECK_INT(arena, 1024);
}

static void a_buffer_that_ends_where_another_begins_does_not_share(void)
{
    struct ys_buffer b[2] = {{.size_bytes = 64, .first = 0, .last = 3}, {.size_bytes = 64, .first = 3, .last = 5}};
    size_t arena = 0;
    CHECK(ys_plan_conflict(&b[0], &b[1]));
    REQUIRE(ys_plan_memory(b, 2, true, 0, &arena) == YS_OK);
    CHECK_INT(arena, 128);
}

/* Calls that add one to each element of their second operand's bytes, from the first. */
static ys_status copy_plus_one(void *context, void *const *operand)
{
    size_t size = *(const size_t *)context;
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)operand[1])[i] = (unsigned char)(((const unsigned char *)operand[0])[i] + 1);
    return YS_OK;
}

/* AddressSanitizer, which knows the guards too, lets this one write beside. */
__attribute__((no_sanitize("address"))) static ys_status overrun(void *context, void *const *operand)
{
    (void)context;
    ((unsigned char *)operand[0])[100] = 1; /* the buffer has 100 bytes */
    return YS_OK;
}

static void a_program_runs_its_calls_in_order_over_shared_memory(void)
{
    struct ys_program p = {0};
    static size_t size = 1000;
    int buffers[6];
    for (int i = 0; i < 6; i++)
        REQUIRE(ys_program_buffer(&p, size, i == 0 || i == 5, &buffers[i]) == YS_OK);
    for (int i = 0; i < 5; i++) {
        struct ys_call call = {.name = "copy",
                               .run = copy_plus_one,
                               .context = &size,
                               .operand_count = 2,
                               .operands = {{buffers[i], 0}, {buffers[i + 1], 0}},
                               .segment = i < 3 ? YS_SEGMENT_FORWARD : YS_SEGMENT_BACKWARD};
        REQUIRE(ys_program_call(&p, &call) == YS_OK);
    }
    REQUIRE(ys_program_plan(&p, false) == YS_OK);
    CHECK(p.arena_bytes < 6 * size);
    memset(ys_program_at(&p, buffers[0]), 7, size);
    CHECK(ys_program_run(&p, YS_SEGMENT_FORWARD) == YS_OK);
    CHECK_INT(((const unsigned char *)ys_program_at(&p, buffers[5]))[999], 0);
    CHECK(ys_program_run(&p, YS_SEGMENT_UPDATE) == YS_OK);
    for (size_t i = 0; i < size; i += 333)
        CHECK_INT(((const unsigned char *)ys_program_at(&p, buffers[5]))[i], 12);
    ys_program_fini(&p);
}

static void guards_notice_a_write_past_the_end(void)
{
    struct ys_program p = {0};
    int buffer, other;
    REQUIRE(ys_program_buffer(&p, 100, false, &buffer) == YS_OK && ys_program_buffer(&p, 100, true, &other) == YS_OK);
    struct ys_call call = {.name = "overrun", .run = overrun, .operand_count = 1, .operands = {{buffer, 0}}};
    REQUIRE(ys_program_call(&p, &call) == YS_OK);
    REQUIRE(ys_program_plan(&p, true) == YS_OK);
    CHECK(ys_program_check_guards(&p) == YS_OK);
    CHECK(ys_program_run(&p, YS_SEGMENT_UPDATE) == YS_OK);
    CHECK(ys_program_check_guards(&p) == YS_EINTERNAL);
    ys_program_fini(&p);
}

TAP_MAIN(TAP_CASE(buffers_that_live_at_once_never_overlap), TAP_CASE(every_offset_is_aligned_and_inside_the_arena),
         TAP_CASE(without_sharing_all_stand_apart_with_their_gaps),
         TAP_CASE(lives_that_follow_each_other_share_one_place),
         TAP_CASE(a_buffer_that_ends_where_another_begins_does_not_share),
         TAP_CASE(a_program_runs_its_calls_in_order_over_shared_memory), TAP_CASE(guards_notice_a_write_past_the_end))
