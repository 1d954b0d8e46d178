#include "base/log.h"
#include "tap.h"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char seen[8192];

/** Runs `body` with stderr going to `write_fd` and puts into `seen` what arrived at `read_fd`, which must not block. */
static void capture(void (*body)(void), int write_fd, int read_fd)
{
    fflush(stderr);
    int saved = dup(STDERR_FILENO);
    dup2(write_fd, STDERR_FILENO);
    body();
    ys_progress_clear();
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    fcntl(read_fd, F_SETFL, O_NONBLOCK);
    size_t used = 0;
    ssize_t got;
    while (used < sizeof seen - 1 && (got = read(read_fd, seen + used, sizeof seen - 1 - used)) > 0)
        used += (size_t)got;
    seen[used] = 0;
}

static void capture_pipe(void (*body)(void))
{
    int ends[2];
    seen[0] = 0;
    if (pipe(ends) != 0)
        return;
    capture(body, ends[1], ends[0]);
    close(ends[0]);
    close(ends[1]);
}

/** False when this machine gives no terminal. */
static bool capture_terminal(void (*body)(void))
{
    seen[0] = 0;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    const char *name = master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0 ? ptsname(master) : NULL;
    int terminal = name ? open(name, O_RDWR | O_NOCTTY) : -1;
    if (terminal >= 0)
        capture(body, terminal, master);
    close(master);
    close(terminal);
    return terminal >= 0;
}

static void say_everything(void)
{
    ys_log_error("e%d", 1);
    ys_log_warn("w%d", 2);
    ys_log_info("i%d", 3);
    ys_log_debug("d%d", 4);
}

static void messages_above_the_level_are_dropped(void)
{
    capture_pipe(say_everything);
    CHECK_TEXT(seen, "yardstick: error: e1\nyardstick: warning: w2\ni3\n");
    ys_log_set_level(YS_LOG_WARN);
    capture_pipe(say_everything);
    CHECK_TEXT(seen, "yardstick: error: e1\nyardstick: warning: w2\n");
    ys_log_set_level(YS_LOG_DEBUG);
    capture_pipe(say_everything);
    CHECK_HAS(seen, "yardstick: debug: d4\n");
    ys_log_set_level(YS_LOG_INFO);
}

static void make_progress(void)
{
    ys_progress("step %d", 1);
    ys_progress("step %d", 2);
    ys_log_info("message");
}

static void progress_is_not_shown_in_a_file(void)
{
    capture_pipe(make_progress);
    CHECK_TEXT(seen, "message\n");
}

static void progress_is_rewritten_and_cleared_on_a_terminal(void)
{
    if (!capture_terminal(make_progress)) {
        tap_skip("this machine gives no terminal");
        return;
    }
    CHECK_TEXT(seen, "\r\033[Kstep 1\r\033[Kstep 2\r\033[Kmessage\r\n");
    ys_log_set_level(YS_LOG_WARN);
    capture_terminal(make_progress);
    CHECK_TEXT(seen, "");
    ys_log_set_level(YS_LOG_INFO);
}

static void make_progress_below_lines(void)
{
    ys_progress_above("one 1/7\ntwo 0/7\n");
    ys_progress("step 1");
    ys_progress("step 2");
    ys_log_info("message");
    ys_progress("step 3");
    ys_progress_above("one 2/7\n");
    ys_progress("step 4");
    ys_progress_above("");
}

/* Lines are written once, and taken away with the progress line before anything else is said. */
static void lines_stand_above_the_progress_line(void)
{
    if (!capture_terminal(make_progress_below_lines)) {
        tap_skip("this machine gives no terminal");
        return;
    }
#define GONE "\r\033[K\033[A\033[K\033[A\033[K"
    CHECK_TEXT(seen, "one 1/7\r\ntwo 0/7\r\n\r\033[Kstep 1\r\033[Kstep 2" GONE "message\r\n"
                     "one 1/7\r\ntwo 0/7\r\n\r\033[Kstep 3" GONE "one 2/7\r\n\r\033[Kstep 4\r\033[K\033[A\033[K");
    capture_pipe(make_progress_below_lines);
    CHECK_TEXT(seen, "message\n");
    CHECK_INT(ys_progress_room(), 0);
}

/* Every so many seconds; with none between them, every time. */
static void progress_is_said_now_and_then_where_there_is_no_terminal(void)
{
    ys_progress_every(0);
    capture_pipe(make_progress);
    CHECK_TEXT(seen, "step 1\nstep 2\nmessage\n");
    ys_log_set_level(YS_LOG_WARN);
    capture_pipe(make_progress);
    CHECK_TEXT(seen, "");
    ys_log_set_level(YS_LOG_INFO);
    ys_progress_every(1e9);
    capture_pipe(make_progress);
    CHECK_TEXT(seen, "message\n");
    ys_progress_every(30);
}

static void make_long_progress(void)
{
    ys_progress("%0200d", 7);
    ys_progress("two\nlines");
    ys_progress(NULL);
}

static void progress_fits_one_line(void)
{
    if (!capture_terminal(make_long_progress)) {
        tap_skip("this machine gives no terminal");
        return;
    }
    const char *second = strstr(seen, "two");
    REQUIRE(second);
    CHECK(second - seen <= 80 + 2 * 4); /* 80 columns unless the terminal knows better, and two clearings */
    CHECK_TEXT(second, "two\r\033[K");
}

static void colours_are_for_terminals_that_want_them(void)
{
    unsetenv("NO_COLOR");
    if (!capture_terminal(say_everything)) {
        tap_skip("this machine gives no terminal");
        return;
    }
    CHECK_HAS(seen, "\033[31myardstick: error: \033[0me1");
    setenv("NO_COLOR", "1", 1);
    capture_terminal(say_everything);
    CHECK(!strchr(seen, '\033'));
    CHECK_HAS(seen, "yardstick: error: e1");
    unsetenv("NO_COLOR");
}

static void say_what_others_wrote(void)
{
    ys_log_warn("%s", "one\n\033[31mtwo\r\a\x7f");
    ys_log_warn("%s", "gr\xC3\xBC\xC3\x9F"
                      "e\xFF\x9B");
}

static void messages_stay_on_one_line_and_give_no_orders(void)
{
    capture_pipe(say_what_others_wrote);
    CHECK_TEXT(seen, "yardstick: warning: one  [31mtwo   \n"
                     "yardstick: warning: gr\xC3\xBC\xC3\x9F"
                     "e\\xff\\x9b\n");
}

TAP_MAIN(TAP_CASE(messages_above_the_level_are_dropped), TAP_CASE(progress_is_not_shown_in_a_file),

         TAP_CASE(progress_is_rewritten_and_cleared_on_a_terminal), TAP_CASE(progress_fits_one_line),
         TAP_CASE(lines_stand_above_the_progress_line),
         TAP_CASE(progress_is_said_now_and_then_where_there_is_no_terminal),
         TAP_CASE(colours_are_for_terminals_that_want_them), TAP_CASE(messages_stay_on_one_line_and_give_no_orders))
