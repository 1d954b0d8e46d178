/* How pieces of numbers go round the ring: the transports. Of this room alone. */
#ifndef YS_DIST_LINK_H
#define YS_DIST_LINK_H

#include "dist/meet.h"

struct ys_dist_link {
    const struct ys_dist_link_ops *ops;
    int rank, world;
    struct ys_dist_ring ring;
    char *numbers; /* place of the numbers of a mean, which reserve() made */
    size_t numbers_bytes;
    char *came; /* TCP: a piece on its way in; shared: the numbers of the rank before, where it has them */
    size_t came_bytes;
    uint64_t sent_bytes;
};

/* A piece out, and another in. */
struct ys_dist_passing {
    size_t out_at, out_bytes; /* of the numbers */
    size_t in_at, in_bytes;   /* likewise, of those of the rank before */
    char *into;               /* where it is wanted; NULL: anywhere */
};

struct ys_dist_link_ops {
    /** Room for numbers of so many bytes, in pieces of at most `piece_bytes`; what was there is lost. All ranks ask for
     * the same sizes in the same order. */
    ys_status (*reserve)(struct ys_dist_link *link, size_t bytes, size_t piece_bytes);
    /** The next rank gets a piece, and the rank before gives one: *came is where it lies until the next call. */
    ys_status (*pass)(struct ys_dist_link *link, const struct ys_dist_passing *passing, const char **came);
    /** Returns when the next rank needs these numbers no more. */
    ys_status (*finish)(struct ys_dist_link *link);
    void (*fini)(struct ys_dist_link *link);
};
extern const struct ys_dist_link_ops ys_dist_link_tcp, ys_dist_link_shared;

/** The mean of numbers that lie in link->numbers. */
ys_status ys_dist_ring_mean(struct ys_dist_link *link, size_t count, bool is_double) YS_MUST_CHECK;
/** Ranks that sum different things would hang, or mix numbers up: each tells the next one what it is about to send. */
ys_status ys_dist_ring_agree(struct ys_dist_link *link, size_t count, size_t size) YS_MUST_CHECK;

/* What goes out through one socket and comes in through another, both at once: were each rank to send all before it
 * receives, all would wait for all. */
struct ys_dist_transfer {
    int out_fd, in_fd;
    int out_rank, in_rank; /* who is there */
    const char *out;
    size_t out_size;
    char *in;
    size_t in_size;
};
/** YS_EIO: one of them has gone; the message says which. */
ys_status ys_dist_transfer(struct ys_dist_transfer t) YS_MUST_CHECK;
/** From the rank before to the next one. */
struct ys_dist_transfer ys_dist_along(const struct ys_dist_link *link);

#endif
