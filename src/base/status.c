#include "base/status.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_SIZE 2048

static _Thread_local char last_message[MESSAGE_SIZE];

ys_status ys_fail(ys_status status, const char *format, ...)
{
    YS_ASSERT(status != YS_OK);
    char message[MESSAGE_SIZE]; /* the arguments may borrow from last_message */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    memcpy(last_message, message, sizeof message);
    return status;
}

ys_status ys_fail_in(ys_status status, const char *format, ...)
{
    YS_ASSERT(status != YS_OK);
    char message[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length < 0 || length > MESSAGE_SIZE - 3)
        length = MESSAGE_SIZE - 3; /* a context that long leaves no room for the cause */
    size_t kept = strnlen(last_message, (size_t)(MESSAGE_SIZE - 3 - length));
    memmove(last_message + length + 2, last_message, kept);
    memcpy(last_message, message, (size_t)length);
    memcpy(last_message + length, ": ", 2);
    last_message[(size_t)length + 2 + kept] = 0;
    return status;
}

const char *ys_error(void)
{
    return last_message;
}

noreturn void ys_assert_failed(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: yardstick made a mistake: %s does not hold\n", file, line, expression);
    fflush(stderr);
    abort();
}
