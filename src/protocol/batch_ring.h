/* The ring of batches: shared memory that yardstick-feeder fills and an adapter maps, and a socket on which they agree
 * (docs/protocol.md, "The ring of batches"). Both are made by yardstick and passed on as descriptors whose numbers the
 * plan says.
 *
 * The memory begins with a head; slot i follows at start + i * slot_bytes and holds one batch: each array of the head
 * at its offset, by the names that the prepared file has. Who may touch a slot is said on the socket
 * alone, one message a datagram: the adapter says from which batch on it wants to be fed and when it is done with the
 * oldest slot that it holds, the feeder which batch lies in which slot. */
#ifndef YS_PROTOCOL_BATCH_RING_H
#define YS_PROTOCOL_BATCH_RING_H

#include "base/status.h"
#include "base/stored/safetensors.h"

#include <stdint.h>

#define YS_FEED_KIND "ring" /* of the plan's input */

enum {
    YS_FEED_CHANNEL_FD = 6, /* in the adapter and in the feeder: a socket (AF_UNIX, SOCK_SEQPACKET) */
    YS_FEED_MEMORY_FD = 7,
    YS_FEED_SLOTS = 4,
    YS_FEED_ARRAYS = 16, /* at most */
    YS_FEED_START = 4096 /* where slots begin */
};

/** One array of a slot. Numbers are little-endian. */
struct ys_feed_array {
    char name[64]; /* ended by a zero, as the next */
    char dtype[8];
    uint32_t rank, reserved;
    uint64_t shape[YS_MAX_RANK]; /* the batch first */
    uint64_t offset;             /* in the slot, a multiple of 64 */
    uint64_t size_bytes;
};

struct ys_feed_head {
    char magic[8]; /* YS_FEED_MAGIC */
    uint32_t slots, arrays;
    uint64_t slot_bytes, start;
    uint64_t round; /* batches after which the first one comes again; 0: none follows the last */
    char reserved[24];
    struct ys_feed_array array[YS_FEED_ARRAYS];
};
#define YS_FEED_MAGIC "YSFEED1"

/** From the adapter. */
struct ys_feed_wish {
    uint64_t what; /* enum ys_feed_what */
    uint64_t turn; /* counts the wishes to begin, from 1 */
    uint64_t batch;
};
enum ys_feed_what {
    YS_FEED_BEGIN = 1, /* with `batch`; all slots are free, and what was said of an earlier turn is void */
    YS_FEED_FREE = 2   /* the oldest slot of this turn that is not yet free */
};

/** From the feeder: a batch of that turn lies in that slot. They come in the order of batches, without a gap. */
struct ys_feed_ready {
    uint64_t turn, batch, slot;
};

/* An adapter's side. */

struct ys_feed;

/** Takes the descriptors `channel` and `memory` over and maps the ring. YS_EIO, YS_EFORMAT, YS_ENOMEM. */
ys_status ys_feed_open(int channel, int memory, struct ys_feed **feed) YS_MUST_CHECK;
/** The array of that name in the slot that was taken last, [batch, ...]; before, its data is NULL. NULL: there is none.
 * Borrowed until close. */
const struct ys_tensor *ys_feed_array(const struct ys_feed *feed, const char *name);
/** Waits until batch `batch` lies in a slot; the arrays point to it until ys_feed_free(), which must come before the
 * next one is taken. YS_EIO: the feeder is gone. */
ys_status ys_feed_take(struct ys_feed *feed, int64_t batch) YS_MUST_CHECK;
ys_status ys_feed_free(struct ys_feed *feed) YS_MUST_CHECK;
void ys_feed_close(struct ys_feed *feed); /* NULL is fine */

#endif
