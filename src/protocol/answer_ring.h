/* The ring of answers: a file in which an adapter shows what it answers, while it does (docs/protocol.md, "The ring of
 * answers"). yardstick makes it and reads it with pread(), so that nothing that an adapter does to it can harm it; the
 * adapter maps it.
 *
 * All numbers are little-endian. The file begins with a head of 64 bytes: "YSRING1" and a zero, then U32: slots, bytes
 * of a slot, floats that a slot has room for. Slot i follows at 64 + i * bytes: U64 sequence, U64 request, U32 row of
 * the order, U32 count; at 64 the floats; in its last 8 bytes the sequence again. The answer to request k, counted from
 * 0, goes to slot k mod slots and has sequence k + 1; 0 is no answer. */
#ifndef YS_PROTOCOL_ANSWER_RING_H
#define YS_PROTOCOL_ANSWER_RING_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YS_RING_HEAD       64 /* bytes, of the file and of a slot */
#define YS_RING_SLOTS      8
#define YS_RING_FLOATS     16384 /* 64 KiB */
#define YS_RING_SLOT_BYTES (YS_RING_HEAD + 4 * YS_RING_FLOATS + YS_RING_HEAD)

/* An adapter's side. */

struct ys_ring;

/** Maps the ring `path` for writing. YS_EIO, YS_EFORMAT. */
ys_status ys_ring_open(const char *path, struct ys_ring **ring) YS_MUST_CHECK;
/** Shows the answer to `request`, whose rows are row `batch` of the order: the first of `count` values, as many as the
 * slot has room for, which are double where `in_double`, else float. */
void ys_ring_write(struct ys_ring *ring, int64_t request, int64_t batch, const void *values, size_t count,
                   bool in_double);
void ys_ring_close(struct ys_ring *ring); /* NULL is fine */

/* yardstick's side. */

/** Makes the file `path`, which is not there yet, with all its space taken and no answer in it. *fd: for reading it,
 * close-on-exec; the caller closes it. YS_EIO. */
ys_status ys_ring_make(const char *path, int *fd) YS_MUST_CHECK;

struct ys_ring_answer {
    int64_t request, batch; /* as the slot says; batch is not checked */
    size_t count;           /* of values, at most YS_RING_FLOATS */
    float values[YS_RING_FLOATS];
};

/** The answer to the last request that lies in the ring whole: one that was written over while it was read, or whose
 * words contradict one another, is none; where all were written over while they were read it is read again.
 * YS_ENOTFOUND: there is none. YS_EFORMAT: the head is not what ys_ring_make() wrote, or the file was cut. */
ys_status ys_ring_newest(int fd, struct ys_ring_answer *answer) YS_MUST_CHECK;

#endif
