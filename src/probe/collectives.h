/* The collectives of a rank, heard from outside: a small library of our own (collectives_library.c), which the dynamic
 * linker puts before the rank's own (LD_PRELOAD), stands between the framework and gloo or MPI, and notes of each call
 * when it began and ended and how many bytes it was handed. It takes what is exported and called through the linker:
 * gloo of PyTorch and of Paddle, and MPI by its names, whichever library has them. What a framework has linked into
 * itself (TensorFlow, JAX) is not heard.
 *
 * Notes lie in a file that the process maps and this one reads when the rank has ended, however it ended. They are of
 * one process: the first of the rank's that calls a collective. Its children inherit the library and are not noted.
 *
 * It costs two looks at the clock and a few atomic additions a call, and of gloo one or two system calls
 * (process_vm_readv): no layout of a C++ class is believed, so one that is another than is known here gives no bytes,
 * and nothing breaks.
 *
 * It cannot see what lies between a non-blocking call of MPI's and the wait for it: of these the time that the caller
 * spends in either is noted. A call that ends by an exception never ends here. */
#ifndef YS_PROBE_COLLECTIVES_H
#define YS_PROBE_COLLECTIVES_H

#include "base/status.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YS_COLLECTIVES_LIBRARY  "yardstick-collectives.so" /* lies beside the programs */
#define YS_COLLECTIVES_VARIABLE "YARDSTICK_COLLECTIVES"    /* the path of the file of notes */
#define YS_COLLECTIVES_FILE     "collectives.notes"        /* in the rank's folder */

enum { YS_COLLECTIVES_MOST = 131072 }; /* calls that are noted one by one; those behind them are counted only */

/** What is called. Waits of MPI's belong to calls that were noted before, and are none themselves. */
enum ys_collective { YS_COLLECTIVE_GLOO = 1, YS_COLLECTIVE_MPI, YS_COLLECTIVE_MPI_WAIT };

/* The file. Times are nanoseconds of ys_time_ns(). */
struct ys_collective_note {
    _Atomic uint64_t begin_ns, end_ns; /* 0: not yet */
    int64_t bytes;                     /* below 0: its size is not known */
    uint64_t what;                     /* enum ys_collective */
};
struct ys_collectives_head {
    char version[16];
    _Atomic int64_t owner;                         /* the process that they are of; 0: no collective was called */
    _Atomic uint64_t begun, calls, bytes, unsized; /* begun: with waits; unsized: calls whose bytes are not known */
};
struct ys_collectives_notes {
    struct ys_collectives_head head;
    struct ys_collective_note items[YS_COLLECTIVES_MOST];
};
#define YS_COLLECTIVES_VERSION "ys-collective-1" /* with the 0 at its end all of `version` */

/** A call that was noted, or a wait. */
struct ys_collective_call {
    uint64_t begin_ns, end_ns; /* of one that did not end UINT64_MAX */
    int64_t bytes;             /* below 0: not known */
    bool is_wait;
};

struct ys_collective_span {
    uint64_t begin_ns, end_ns;
};

/** What was heard of a rank. */
struct ys_collectives {
    bool gloo, mpi;       /* which libraries were called */
    int64_t calls, bytes; /* all of them, without waits; bytes: below 0 where that of some call is not known */
    bool is_whole;        /* all calls are in `items`, and not only the first ones */
    size_t count, span_count;
    struct ys_collective_call *items; /* owned, as the next; in the order of their beginning */
    struct ys_collective_span *spans; /* at least one call or wait was under way */
};

/** Makes the file at `path`, all of its place on the disk taken, so that a disk that fills up later cannot end the
 * process that writes into it. YS_EIO. */
ys_status ys_collectives_make(const char *path) YS_MUST_CHECK;
/** Reads it; the process that wrote may be there still. Without a call all is 0. YS_EFORMAT: it is none; YS_EIO,
 * YS_ENOTFOUND. After a failure `heard` owns nothing. */
ys_status ys_collectives_read(const char *path, struct ys_collectives *heard) YS_MUST_CHECK;
void ys_collectives_fini(struct ys_collectives *heard);

/** For how long at least one call or wait was under way between `from_ns` and `to_ns`. */
uint64_t ys_collectives_busy_ns(const struct ys_collectives *heard, uint64_t from_ns, uint64_t to_ns);

#endif
