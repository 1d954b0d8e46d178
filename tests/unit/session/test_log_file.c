#include "session/log_file.h"
#include "unit/run/run_fixture.h"
#include <errno.h>
#include <fcntl.h>

struct setup {
    struct ys_log_file log;
    int write_fd;
    char path[128];
};

static bool begin(struct setup *setup, size_t limit)
{
    int ends[2];
    snprintf(setup->path, sizeof setup->path, "%s/log", fixture_open());
    if (!CHECK(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0))
        return false;
    setup->write_fd = ends[1];
    return CHECK(ys_log_file_open(&setup->log, ends[0], setup->path, limit) == YS_OK);
}

static void print(struct setup *setup, const char *text, size_t size)
{
    CHECK_INT(write(setup->write_fd, text, size), size);
    ys_log_file_drain(&setup->log);
}

static void finish(struct setup *setup, struct ys_buf *kept)
{
    close(setup->write_fd);
    ys_log_file_drain(&setup->log);
    CHECK_INT(setup->log.pipe_fd, -1);
    ys_log_file_close(&setup->log);
    CHECK(ys_fs_read(setup->path, 1 << 20, kept) == YS_OK);
}

static void what_is_printed_is_kept(void)
{
    struct setup setup;
    struct ys_buf kept = {0};
    REQUIRE(begin(&setup, 1000));
    print(&setup, "one\n", 4);
    print(&setup, "two\n", 4);
    char *tail = ys_log_file_tail(&setup.log);
    CHECK_TEXT(tail, "one\ntwo\n");
    finish(&setup, &kept);
    CHECK_TEXT(ys_buf_text(&kept), "one\ntwo\n");
    ys_free(tail);
    ys_buf_free(&kept);
}

static void a_log_past_its_limit_is_cut_and_says_so(void)
{
    struct setup setup;
    struct ys_buf kept = {0};
    REQUIRE(begin(&setup, 10));
    print(&setup, "0123456", 7);
    print(&setup, "789abcdef", 9);
    print(&setup, "last", 4);
    CHECK_INT(setup.log.dropped, 10);
    char *tail = ys_log_file_tail(&setup.log);
    CHECK_HAS(tail, "last");
    finish(&setup, &kept);
    CHECK_HAS(ys_buf_text(&kept), "0123456789\n[yardstick: 10 more bytes");
    ys_free(tail);
    ys_buf_free(&kept);
}

static void a_log_that_cannot_be_written_says_why_and_keeps_its_tail(void)
{
    struct ys_log_file log;
    int ends[2];
    REQUIRE(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
    REQUIRE(ys_log_file_open(&log, ends[0], "/dev/full", 1000) == YS_OK);
    CHECK_INT(write(ends[1], "one\ntwo\n", 8), 8);
    ys_log_file_drain(&log);
    CHECK_INT(log.failure, ENOSPC);
    CHECK_INT(log.dropped, 8);
    char *tail = ys_log_file_tail(&log);
    CHECK_TEXT(tail, "one\ntwo\n");
    ys_free(tail);
    close(ends[1]);
    ys_log_file_close(&log);
}

static void the_tail_is_the_last_twenty_lines(void)
{
    struct setup setup;
    struct ys_buf kept = {0};
    char line[40];
    REQUIRE(begin(&setup, 1 << 20));
    for (int i = 0; i < 1000; i++)
        print(&setup, line, (size_t)snprintf(line, sizeof line, "line %d\n", i));
    char *tail = ys_log_file_tail(&setup.log);
    CHECK(strncmp(tail, "line 980\n", 9) == 0);
    CHECK_HAS(tail, "line 999\n");
    finish(&setup, &kept);
    ys_free(tail);
    ys_buf_free(&kept);
}

static void a_tail_of_one_long_line_is_bounded_and_has_no_zero_byte(void)
{
    struct setup setup;
    struct ys_buf kept = {0};
    static char block[20000];
    memset(block, 'x', sizeof block);
    block[sizeof block - 3] = 0;
    REQUIRE(begin(&setup, 1 << 20));
    print(&setup, block, sizeof block);
    char *tail = ys_log_file_tail(&setup.log);
    CHECK_INT(strlen(tail), YS_LOG_TAIL_BYTES);
    CHECK_HAS(tail, "x?xx");
    finish(&setup, &kept);
    ys_free(tail);
    ys_buf_free(&kept);
}

static void a_folder_that_does_not_exist_is_named(void)
{
    struct ys_log_file log;
    CHECK_INT(ys_log_file_open(&log, -1, "/nowhere/at/all.log", 10), YS_EIO);
    CHECK_HAS(ys_error(), "/nowhere/at/all.log");
}

TAP_MAIN(TAP_CASE(what_is_printed_is_kept), TAP_CASE(a_log_past_its_limit_is_cut_and_says_so),
         TAP_CASE(a_log_that_cannot_be_written_says_why_and_keeps_its_tail),
         TAP_CASE(the_tail_is_the_last_twenty_lines), TAP_CASE(a_tail_of_one_long_line_is_bounded_and_has_no_zero_byte),
         TAP_CASE(a_folder_that_does_not_exist_is_named))
