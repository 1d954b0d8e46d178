/* What yardstick and the keeper of a session, yardstick-launch, say to one another: records of a fixed size over a
 * socket that keeps them apart (SOCK_SEQPACKET). Both are built together; this is no public format.
 *
 * The end of file on the keeper's side means that yardstick has gone: everything below the keeper is then killed. On
 * yardstick's side it means that the keeper has gone. */
#ifndef YS_SESSION_LAUNCH_NOTE_H
#define YS_SESSION_LAUNCH_NOTE_H

#include <stdint.h>

enum ys_launch_note_kind {
    YS_LAUNCH_STARTED = 1, /* value: the adapter's process number */
    YS_LAUNCH_NO_PROCESS,  /* value: errno; no process could be made */
    YS_LAUNCH_NO_CPUS,     /* value: errno; the CPU set was refused */
    YS_LAUNCH_NO_FOLDER,   /* value: errno; the folder could not be entered */
    YS_LAUNCH_NO_EXEC,     /* value: errno; the program could not be executed */
    YS_LAUNCH_BAD_USE,     /* its own command line was not understood */
    YS_LAUNCH_ENDED,    /* the adapter's own process has; code, value: of waitid, CLD_EXITED and the exit code, ... */
    YS_LAUNCH_NO_GROUP, /* value: errno; the control group could not be joined, and the adapter begins without */
    YS_LAUNCH_NO_GUARD, /* value: errno; the rules of what it may write were refused, and it begins without */
    YS_LAUNCH_REAPED,   /* the answer to an order. value: 1 while there are processes left, else 0 */
};

enum ys_launch_order_kind {
    YS_LAUNCH_REAP = 1, /* wait for every child that has ended */
    YS_LAUNCH_KILL,     /* the same, after SIGKILL for every child */
};

struct ys_launch_order {
    int32_t kind;
};

/** What the kernel says of the processes that were waited for, those included that these had waited for. */
struct ys_launch_account {
    uint64_t user_ns, system_ns, voluntary_switches, involuntary_switches;
    uint64_t minor_faults, major_faults;
    uint64_t peak_bytes; /* resident, of the largest process */
    uint64_t keeper_ns;  /* processor time of the keeper itself, all its life */
};

struct ys_launch_note {
    int32_t kind, value, code;
    struct ys_launch_account account; /* of YS_LAUNCH_REAPED: since the last one, keeper_ns apart */
};

/* Descriptors of the keeper; locks come after them. The first four are the adapter's too. YS_LAUNCH_TAKEN_FD is a pipe
 * that gets the time, 8 bytes of CLOCK_MONOTONIC in nanoseconds, at which the adapter's program is about to be
 * executed; its end of file says that this has happened, or could not: then there is a note as well. */
enum { YS_LAUNCH_CHANNEL_FD = 3, YS_LAUNCH_NOTE_FD = 4, YS_LAUNCH_TAKEN_FD = 5 };

/* The first of those that are passed on to the adapter beside the channel, and that the keeper does not keep. */
enum { YS_LAUNCH_PASSED_FD = 6, YS_LAUNCH_MOST_PASSED = 8 };

#endif
