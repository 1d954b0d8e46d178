/* What yardstick-launch tells yardstick on its note descriptor: a few fixed-size records, then end of file once the
 * adapter's program has taken over. Both are built together; this is no public format. */
#ifndef YS_RUN_LAUNCH_NOTE_H
#define YS_RUN_LAUNCH_NOTE_H

#include <stdint.h>

enum ys_launch_note_kind {
    YS_LAUNCH_STARTED = 1, /* value: the adapter's process number */
    YS_LAUNCH_NO_PROCESS,  /* value: errno; no process could be made */
    YS_LAUNCH_NO_CPUS,     /* value: errno; the CPU set was refused */
    YS_LAUNCH_NO_FOLDER,   /* value: errno; the folder could not be entered */
    YS_LAUNCH_NO_EXEC,     /* value: errno; the program could not be executed */
    YS_LAUNCH_BAD_USE,     /* its own command line was not understood */
    YS_LAUNCH_ORPHANED,    /* yardstick had ended before the adapter began */
};

struct ys_launch_note {
    int32_t kind, value;
};

/* Descriptors of the launcher and, for the first four, of the adapter. */
enum { YS_LAUNCH_CHANNEL_FD = 3, YS_LAUNCH_NOTE_FD = 4 };

#endif
