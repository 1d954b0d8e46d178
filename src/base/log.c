#include "base/log.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static enum ys_log_level max_level = YS_LOG_INFO;
static bool progress_shown, progress_is_off;
static char *above;           /* lines above the progress line; NULL: none */
static size_t above_shown;    /* how many of them stand on the terminal */
static double every_s = 30;   /* between two progress lines where there is no terminal */
static uint64_t last_line_ns; /* when the last of them was said, or would have been; 0: nothing is under way yet */

void ys_log_set_level(enum ys_log_level level)
{
    pthread_mutex_lock(&lock);
    max_level = level;
    pthread_mutex_unlock(&lock);
}

bool ys_log_is_terminal(int fd)
{
    const char *kind = getenv("TERM");
    return isatty(fd) == 1 && kind && *kind && strcmp(kind, "dumb") != 0;
}

static bool on_terminal(void)
{
    return ys_log_is_terminal(STDERR_FILENO);
}

static bool in_colour(void)
{
    const char *no_color = getenv("NO_COLOR");
    return on_terminal() && (!no_color || !no_color[0]);
}

static void clear_progress(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    for (; above_shown > 0; above_shown--)
        fputs("\033[A\033[K", stderr);
    progress_shown = false;
}

/** What others wrote (an adapter, an installer) may be in a message: it stays on one line and gives the terminal no
 * orders. */
static void tame(char *text)
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
}

static void print(enum ys_log_level level, const char *format, va_list arguments) YS_PRINTF(2, 0);
static void print(enum ys_log_level level, const char *format, va_list arguments)
{
    static const char *const labels[] = {"yardstick: error: ", "yardstick: warning: ", "", "yardstick: debug: "};
    static const char *const colours[] = {"\033[31m", "\033[33m", "", "\033[2m"};
    char text[4096]; /* twice the longest ys_error() */
    char shown[4 * sizeof text];
    size_t used = 0;
    vsnprintf(text, sizeof text, format, arguments);
    tame(text);
    shown[0] = 0;
    for (const char *c = text; *c; used += strlen(shown + used))
        c += ys_utf8_show(c, shown + used);
    pthread_mutex_lock(&lock);
    if (level <= max_level) {
        clear_progress();
        bool coloured = colours[level][0] && in_colour();
        fprintf(stderr, "%s%s%s", coloured ? colours[level] : "", labels[level], coloured ? "\033[0m" : "");
        fprintf(stderr, "%s\n", shown);
        fflush(stderr);
    }
    pthread_mutex_unlock(&lock);
}

#define PRINT_AT(level)                                                                                                \
    va_list arguments;                                                                                                 \
    va_start(arguments, format);                                                                                       \
    print(level, format, arguments);                                                                                   \
    va_end(arguments)

void ys_log_error(const char *format, ...)
{
    PRINT_AT(YS_LOG_ERROR);
}

void ys_log_warn(const char *format, ...)
{
    PRINT_AT(YS_LOG_WARN);
}

void ys_log_info(const char *format, ...)
{
    PRINT_AT(YS_LOG_INFO);
}

void ys_log_debug(const char *format, ...)
{
    PRINT_AT(YS_LOG_DEBUG);
}

static struct winsize terminal_size(void)
{
    struct winsize window = {0};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col <= 1)
        window.ws_col = 80;
    if (window.ws_row <= 1)
        window.ws_row = 24;
    return window;
}

/** Cuts `text` (UTF-8) to what fits on one line of the terminal, so that rewriting it in place works. */
static void fit_line(char *text)
{
    size_t columns = terminal_size().ws_col, used = 0;
    text[strcspn(text, "\n")] = 0;
    tame(text);
    for (char *c = text; *c; c++) {
        if ((*c & 0xC0) != 0x80 && ++used >= columns) {
            *c = 0;
            return;
        }
    }
}

void ys_progress_off(void)
{
    pthread_mutex_lock(&lock);
    progress_shown = false; /* the line is another's */
    progress_is_off = true;
    pthread_mutex_unlock(&lock);
}

/* The lines above, where they do not stand there already. */
static void show_above(void)
{
    const size_t rows = terminal_size().ws_row;
    for (const char *line = above && above_shown == 0 ? above : ""; *line && above_shown + 2 < rows;) {
        char text[1024];
        const size_t length = strcspn(line, "\n");
        snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1), line);
        fit_line(text);
        fprintf(stderr, "%s\n", text);
        above_shown++;
        line += length + (line[length] != 0);
    }
}

void ys_progress_above(const char *lines)
{
    pthread_mutex_lock(&lock);
    clear_progress();
    ys_free(above);
    above = lines[0] && max_level >= YS_LOG_INFO ? ys_strdup(lines) : NULL; /* without memory they are not shown */
    pthread_mutex_unlock(&lock);
}

size_t ys_progress_room(void)
{
    pthread_mutex_lock(&lock);
    const bool shown = max_level >= YS_LOG_INFO && on_terminal();
    pthread_mutex_unlock(&lock);
    return shown ? (size_t)terminal_size().ws_row - 2 : 0;
}

void ys_progress_every(double seconds)
{
    pthread_mutex_lock(&lock);
    every_s = seconds;
    pthread_mutex_unlock(&lock);
}

/* Whether it is time for a line where there is no terminal. */
static bool is_due(void)
{
    const uint64_t now_ns = ys_time_ns();
    if (last_line_ns == 0)
        last_line_ns = now_ns;
    if ((double)(now_ns - last_line_ns) * 1e-9 < every_s)
        return false;
    last_line_ns = now_ns;
    return true;
}

void ys_progress(const char *format, ...)
{
    if (!format) {
        ys_progress_clear();
        return;
    }
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&lock);
    if (max_level < YS_LOG_INFO || progress_is_off) {
        /* nobody wants to see it */
    } else if (on_terminal()) {
        fit_line(line);
        if (above && above_shown == 0 && progress_shown)
            fputs("\r\033[K", stderr);
        show_above();
        fprintf(stderr, "\r\033[K%s", line);
        fflush(stderr);
        progress_shown = true;
    } else if (is_due()) {
        line[strcspn(line, "\n")] = 0;
        tame(line);
        fprintf(stderr, "%s\n", line);
        fflush(stderr);
    }
    pthread_mutex_unlock(&lock);
}

void ys_progress_clear(void)
{
    pthread_mutex_lock(&lock);
    clear_progress();
    fflush(stderr);
    pthread_mutex_unlock(&lock);
}
