#include "base/buf.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "tap.h"
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

static void new_memory_is_zeroed(void)
{
    unsigned char *bytes = ys_alloc(1000, 3);
    REQUIRE(bytes);
    unsigned sum = 0;
    for (size_t i = 0; i < 3000; i++)
        sum += bytes[i];
    CHECK_INT(sum, 0);
    ys_free(bytes);
}

static void an_overflowing_product_gives_nothing(void)
{
    volatile size_t huge = SIZE_MAX / 2; /* volatile: compilers warn of sizes that they can see */
    CHECK(!ys_alloc(huge, 3));
    void *block = ys_alloc(1, 1);
    CHECK(!ys_realloc(block, huge, 4));
    ys_free(block);
}

static void a_zero_product_gives_a_valid_pointer(void)
{
    void *first = ys_alloc(0, 8), *second = ys_alloc(8, 0), *third = ys_realloc(NULL, 0, 8);
    CHECK(first && second && third);
    ys_free(first);
    ys_free(second);
    ys_free(third);
    ys_free(NULL);
}

static void growing_keeps_the_contents(void)
{
    uint32_t *values = ys_alloc(4, sizeof *values);
    REQUIRE(values);
    values[3] = 77;
    values = ys_realloc(values, 100000, sizeof *values);
    REQUIRE(values);
    CHECK_INT(values[3], 77);
    ys_free(values);
}

static void an_array_grows_where_it_is_full(void)
{
    int *values = NULL;
    size_t capacity = 0, grown = 0;
    for (size_t count = 0; count < 1000; count++) {
        const size_t before = capacity;
        ys_mem_fail_at(1); /* where it must grow, it first cannot */
        int *tried = ys_grown(values, count, &capacity, sizeof *values);
        ys_mem_fail_at(0);
        CHECK((tried == NULL) == (count == capacity) && capacity == before);
        values = ys_grown(values, count, &capacity, sizeof *values);
        REQUIRE(values && capacity > count);
        grown += capacity != before;
        values[count] = (int)count;
    }
    for (int i = 0; i < 1000; i++)
        CHECK_INT(values[i], i);
    CHECK(grown < 10);
    ys_free(values);
}

static void strings_are_copied(void)
{
    char *copy = ys_strdup("abc"), *part = ys_strndup("abcdef", 2), *whole = ys_strndup("ab", 10);
    CHECK_TEXT(copy, "abc");
    CHECK_TEXT(part, "ab");
    CHECK_TEXT(whole, "ab");
    CHECK(!ys_strdup(NULL));
    ys_set_text(&copy, copy + 1);
    CHECK_TEXT(copy, "bc");
    ys_set_text(&copy, NULL);
    CHECK(!copy);
    ys_free(part);
    ys_free(whole);
}

static void format_makes_a_string_of_any_length(void)
{
    char *text = ys_format("%0*d|%s", 5000, 7, "end");
    REQUIRE(text);
    CHECK_INT(strlen(text), 5004);
    CHECK_TEXT(text + 4999, "7|end");
    ys_free(text);
}

static void the_planned_allocation_fails_and_only_that(void)
{
    ys_mem_fail_at(3);
    void *blocks[4];
    for (int i = 0; i < 4; i++)
        blocks[i] = ys_alloc(1, 8);
    CHECK(blocks[0] && blocks[1] && !blocks[2] && blocks[3]);
    for (int i = 0; i < 4; i++)
        ys_free(blocks[i]);
    ys_mem_fail_at(1);
    CHECK(!ys_strdup("x"));
    ys_mem_fail_at(1);
    CHECK(!ys_format("%d", 1));
    ys_mem_fail_at(1);
    ys_mem_fail_at(0);
    char *text = ys_strdup("x");
    CHECK_TEXT(text, "x");
    ys_free(text);
}

static void a_failed_growth_leaves_the_old_block(void)
{
    char *block = ys_strdup("kept");
    ys_mem_fail_at(1);
    CHECK(!ys_realloc(block, 1000, 1));
    CHECK_TEXT(block, "kept");
    ys_free(block);
}

static void out_of_memory_is_reported_as_such(void)
{
    CHECK_INT(ys_out_of_memory(), YS_ENOMEM);
    CHECK_TEXT(ys_error(), "out of memory");
}

/* What `use` ends with in a process of its own, whose first allocation fails; what it says on stderr goes to `said`. */
static int end_without_memory(void (*use)(void), char said[200])
{
    int ends[2], state = 0;
    if (pipe(ends) != 0)
        return -1;
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        ys_memory_must_suffice("yardstick-test");
        ys_mem_fail_at(1);
        use();
        _exit(0);
    }
    close(ends[1]);
    const ssize_t size = read(ends[0], said, 199);
    said[size > 0 ? size : 0] = 0;
    close(ends[0]);
    return pid > 0 && waitpid(pid, &state, 0) == pid && WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

static void grow_block(void)
{
    ys_realloc(NULL, 8, 1);
}

static void copy_text(void)
{
    ys_strdup("x");
}

static void ask_too_much(void)
{
    volatile size_t huge = SIZE_MAX / 2;
    ys_mem_fail_at(0);
    ys_alloc(huge, 3);
}

static void grow_buffer(void)
{
    struct ys_buf buf = {0};
    ys_buf_puts(&buf, "x");
}

static void make_json(void)
{
    ys_json_object();
}

static void pass_it_on(void)
{
    ys_out_of_memory();
}

static void use_nothing(void)
{
}

static void where_memory_must_suffice_the_process_ends(void)
{
    void (*const uses[])(void) = {grow_block, copy_text, ask_too_much, grow_buffer, make_json, pass_it_on};
    char said[200];
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        CHECK_INT(end_without_memory(uses[i], said), YS_EXIT_MEMORY);
        CHECK_TEXT(said, "yardstick-test: error: out of memory: give it more, or measure less at once; what was stored "
                         "is kept\n");
    }
    CHECK_INT(end_without_memory(use_nothing, said), 0);
    CHECK_TEXT(said, "");
}

TAP_MAIN(TAP_CASE(new_memory_is_zeroed), TAP_CASE(an_overflowing_product_gives_nothing),
         TAP_CASE(a_zero_product_gives_a_valid_pointer), TAP_CASE(growing_keeps_the_contents),
         TAP_CASE(an_array_grows_where_it_is_full), TAP_CASE(strings_are_copied),
         TAP_CASE(format_makes_a_string_of_any_length), TAP_CASE(the_planned_allocation_fails_and_only_that),
         TAP_CASE(a_failed_growth_leaves_the_old_block), TAP_CASE(out_of_memory_is_reported_as_such),
         TAP_CASE(where_memory_must_suffice_the_process_ends))
