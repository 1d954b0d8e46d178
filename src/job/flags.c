/* Keys as command-line flags. */
#include "base/mem.h"
#include "job/job.h"
#include "job/option.h"

#include <string.h>

/* "run-time-limit" as "run_time_limit"; what follows "env." or "opt." stays as it is. */
static char *key_of(const char *text, size_t length)
{
    char *key = ys_strndup(text, length);
    bool is_pattern = key && (strncmp(key, "env.", 4) == 0 || strncmp(key, "opt.", 4) == 0);
    for (char *at = key; at && *at && !is_pattern; at++)
        if (*at == '-')
            *at = '_';
    return key;
}

static void add(struct ys_job_flags *flags, char *key_taken, const char *value)
{
    flags->items = ys_realloc(flags->items, flags->count + 1, sizeof *flags->items);
    char *copy = ys_strdup(value);
    flags->items[flags->count++] = (struct ys_job_flag){.key = key_taken, .value = copy};
}

void ys_job_flags_add(struct ys_job_flags *flags, const char *key, const char *value)
{
    add(flags, ys_strdup(key), value);
}

/* Whether argv[at] is the flag of `key`, "--key" or "--key=value". */
static bool is_flag(char *const *argv, int at, const char *key)
{
    const size_t length = strlen(key);
    if (strncmp(argv[at], "--", 2) != 0)
        return false;
    char *name = key_of(argv[at] + 2, strcspn(argv[at] + 2, "="));
    const bool is = name && strlen(name) == length && strcmp(name, key) == 0;
    ys_free(name);
    return is;
}

static bool is_number(const char *text)
{
    return *text && !text[strspn(text, "0123456789.")];
}

/* A shell makes "--key=1 --key=2" of --key={1,2}, and "--key 1 2" of --key {1,2}: the values as one flag has them. */
static ys_status fail_several(const char *key, int argc, char *const *argv)
{
    struct ys_buf values = {0};
    for (int at = 1; at < argc; at++) {
        if (!is_flag(argv, at, key))
            continue;
        const char *equals = strchr(argv[at], '=');
        if (equals)
            ys_buf_printf(&values, "%s%s", values.size ? "," : "", equals + 1);
        for (int next = at + 1; !equals && next < argc && (next == at + 1 || is_number(argv[next])); next++)
            ys_buf_printf(&values, "%s%s", values.size ? "," : "", argv[next]);
    }
    ys_status status =
        ys_fail(YS_EINVAL,
                "--%s is given several times, which a shell makes of braces too: write --%s=%s, or put the "
                "braces in quotes",
                key, key, ys_buf_text(&values));
    ys_buf_free(&values);
    return status;
}

ys_status ys_job_flags_take(struct ys_job_flags *flags, int argc, char *const *argv, int *at, bool *taken)
{
    const char *argument = argv[*at];
    *taken = false;
    if (strncmp(argument, "--", 2) != 0 || argument[2] == 0)
        return YS_OK;
    size_t length = strcspn(argument + 2, "=");
    char *key = key_of(argument + 2, length);
    const struct ys_option *option = ys_option_find(key);
    if (!option || option->file_only) {
        ys_free(key);
        return YS_OK;
    }
    const char *value = argument[2 + length] ? argument + 2 + length + 1 : NULL;
    bool next = !value && *at + 1 < argc && strncmp(argv[*at + 1], "--", 2) != 0;
    if (next)
        value = argv[*at + 1];
    ys_status status = YS_OK;
    if (!value || !*value)
        status = ys_fail(YS_EINVAL, "--%s has no value: write --%s=VALUE", key, key);
    for (size_t i = 0; status == YS_OK && option->type != YS_OPTION_EXCLUDE && i < flags->count; i++)
        if (strcmp(flags->items[i].key, key) == 0)
            status = option->axis ? fail_several(key, argc, argv)
                                  : ys_fail(YS_EINVAL, "--%s is given twice: keep one of them", key);
    if (status == YS_OK && next && option->axis && *at + 2 < argc && is_number(value) && is_number(argv[*at + 2]))
        status = fail_several(key, argc, argv);
    if (status != YS_OK) {
        ys_free(key);
        return status;
    }
    add(flags, key, value);
    *at += next;
    *taken = true;
    return YS_OK;
}

void ys_job_flags_fini(struct ys_job_flags *flags)
{
    for (size_t i = 0; i < flags->count; i++) {
        ys_free(flags->items[i].key);
        ys_free(flags->items[i].value);
    }
    ys_free(flags->items);
    *flags = (struct ys_job_flags){0};
}
