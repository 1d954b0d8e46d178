/* What the verbs share, and `help`. */
#include "cli/command.h"

#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "cli/verb.h"
#include "report/clean_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH = 80, LEAST_WIDTH = 40, MOST_WIDTH = 160, NARROW = 72 };

int ys_command_fail(ys_status status)
{
    ys_progress_clear();
    ys_log_error("%s", ys_error());
    switch (status) {
    case YS_EINVAL:
    case YS_EFORMAT:
    case YS_ENOTFOUND:
    case YS_EBUSY:
    case YS_EUNSUPPORTED:
        return 2;
    case YS_EINTR:
        return 128 + ys_stop_signal();
    default:
        return 7;
    }
}

int ys_command_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return WIDTH;
    return size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col > MOST_WIDTH ? MOST_WIDTH : size.ws_col;
}

bool ys_command_is_narrow(void)
{
    return ys_command_width() < NARROW;
}

void ys_command_wrap(struct ys_buf *out, int indent, int hang, const char *format, ...)
{
    struct ys_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    ys_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    ys_buf_printf(out, "%*s", indent, "");
    ys_text_wrap(out, ys_buf_text(&text), indent, hang, ys_command_width());
    ys_buf_free(&text);
}

void ys_command_line(struct ys_buf *out, int hang, const char *format, ...)
{
    struct ys_buf text = {0}, clean = {0};
    va_list arguments;
    va_start(arguments, format);
    ys_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    ys_text_clean(&clean, ys_buf_text(&text), false);
    while (clean.size > 0 && clean.data[clean.size - 1] == ' ')
        clean.data[--clean.size] = 0;
    if (ys_text_width(ys_buf_text(&clean)) <= ys_command_width())
        ys_buf_printf(out, "%s\n", ys_buf_text(&clean));
    else
        ys_text_wrap(out, ys_buf_text(&clean), 0, hang, ys_command_width());
    ys_buf_free(&text);
    ys_buf_free(&clean);
}

void ys_command_name(struct ys_buf *out, int indent, int width, const char *name)
{
    struct ys_buf clean = {0};
    ys_text_clean(&clean, name, false);
    const int taken = ys_text_width(ys_buf_text(&clean));
    ys_buf_printf(out, "%*s%s", indent, "", ys_buf_text(&clean));
    if (taken > width)
        ys_buf_printf(out, "\n%*s", indent + width, "");
    else
        ys_buf_printf(out, "%*s", width - taken, "");
    ys_buf_free(&clean);
}

bool ys_command_colour(void)
{
    const char *no_color = getenv("NO_COLOR");
    return ys_log_is_terminal(STDOUT_FILENO) && !(no_color && *no_color);
}

ys_status ys_command_write(struct ys_buf *buf, bool *left)
{
    size_t size = buf->size;
    bool written = fwrite(ys_buf_text(buf), 1, size, stdout) == size && fflush(stdout) == 0;
    *left = !written && errno == EPIPE;
    ys_status status =
        written || *left ? YS_OK : ys_fail(YS_EIO, "the result could not be written to standard output: %m");
    ys_buf_clear(buf);
    return status;
}

int ys_command_print(struct ys_buf *buf)
{
    bool left;
    ys_status status = ys_command_write(buf, &left);
    ys_buf_free(buf);
    return status == YS_OK ? 0 : ys_command_fail(status);
}

int ys_command_print_json(ys_json *value)
{
    struct ys_buf out = {0};
    char *text = ys_json_dump(value, YS_JSON_INDENT);
    ys_json_free(value);
    ys_buf_printf(&out, "%s\n", text);
    ys_free(text);
    return ys_command_print(&out);
}

const char *ys_command_results(const struct ys_args *args)
{
    return args->results ? args->results : YS_RESULTS_FOLDER;
}

ys_status ys_command_open_store(const struct ys_args *args, struct ys_store **store)
{
    const char *results = ys_command_results(args);
    for (size_t i = 0; i < args->flags.count; i++)
        if (strcmp(args->flags.items[i].key, "results") == 0)
            results = args->flags.items[i].value;
    return ys_store_open(results, YS_STORE_WRITE, store);
}

ys_status ys_command_need_study(const struct ys_args *args, bool on_stdin)
{
    const char *path = args->word_count ? args->words[0] : NULL;
    if (!path && args->flags.count == 0)
        return ys_fail(YS_EINVAL, "%s needs a study file or flags; `yardstick init` writes an example", args->verb);
    if (path && !(on_stdin && strcmp(path, "-") == 0) && !ys_fs_exists(path))
        return ys_fail(YS_EINVAL, "there is no study file %s; `yardstick init %s` writes an example", path, path);
    return YS_OK;
}

int ys_command_help(const struct ys_args *args)
{
    struct ys_buf out = {0};
    const struct ys_verb *verb = args->word_count ? ys_verb_find(args->words[0]) : NULL;
    if (args->word_count && !verb)
        return ys_command_fail(ys_verb_unknown(args->words[0]));
    ys_verb_help(verb, &out);
    return ys_command_print(&out);
}
