/* How yardstick says that something failed.
 *
 * A function that can fail returns ys_status: YS_OK (0) or one of the negative codes below. The place that first knows
 * what went wrong writes the message, once, naming the thing, the value and the remedy:
 *
 *     return ys_fail(YS_EIO, "cannot read %s: %s", path, strerror(errno));
 *
 * Callers pass the code on, or put their context in front of it with ys_fail_in(). The message is kept per thread until
 * the next ys_fail(). Outputs are untouched on failure unless a header says otherwise. */
#ifndef YS_BASE_STATUS_H
#define YS_BASE_STATUS_H

#include <stdnoreturn.h>

typedef enum ys_status {
    YS_OK = 0,
    YS_ENOMEM = -1,       /* out of memory */
    YS_EIO = -2,          /* the operating system refused: file, socket, process */
    YS_EINVAL = -3,       /* bad input of the user's: a key, a value, a flag */
    YS_EFORMAT = -4,      /* a file or message is damaged or of another format */
    YS_ENOTFOUND = -5,    /* the named thing does not exist */
    YS_EUNSUPPORTED = -6, /* the thing exists and cannot do this */
    YS_EPROTOCOL = -7,    /* the other side broke the protocol */
    YS_ETIMEOUT = -8,     /* a limit passed */
    YS_EBUSY = -9,        /* another process holds it */
    YS_EINTR = -10,       /* the user asked to stop */
    YS_EINTERNAL = -11,   /* a mistake of yardstick's own */
} ys_status;

#define YS_MUST_CHECK                  __attribute__((warn_unused_result))
#define YS_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))

/** Records the message of a failure and returns `status`, which must not be YS_OK. */
ys_status ys_fail(ys_status status, const char *format, ...) YS_PRINTF(2, 3);

/** Puts "context: " before the message already recorded and returns `status`. */
ys_status ys_fail_in(ys_status status, const char *format, ...) YS_PRINTF(2, 3);

/** The last message of this thread; "" when nothing failed yet. Borrowed until the thread's next ys_fail(). */
const char *ys_error(void);

/** A mistake of yardstick's own: prints file, line and expression to stderr and aborts. Kept in release builds. */
#define YS_ASSERT(expression) ((expression) ? (void)0 : ys_assert_failed(#expression, __FILE__, __LINE__))
noreturn void ys_assert_failed(const char *expression, const char *file, int line);

#define YS_TRY(call)                                                                                                   \
    do {                                                                                                               \
        ys_status ys_try_status_ = (call);                                                                             \
        if (ys_try_status_ != YS_OK)                                                                                   \
            return ys_try_status_;                                                                                     \
    } while (0)

#endif
