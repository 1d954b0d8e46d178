/* How numbers go round the ring: the transports. Of this room alone. */
#ifndef YS_DIST_TRANSPORT_H
#define YS_DIST_TRANSPORT_H

#include "dist/meet.h"

struct ys_dist_link {
    const struct ys_dist_link_ops *ops;
    int rank, world;
    struct ys_dist_ring ring;
    char *numbers; /* place of the numbers of a mean, which reserve() made */
    size_t numbers_bytes;
    char *came; /* the numbers of the rank before, where it has them; TCP: what came in and is not added yet */
    size_t came_bytes;
    uint64_t sent_bytes;
    void *own; /* what the transport keeps beside that */
};

/* The numbers of one mean, where they lie; pieces of them, as many as there are ranks, go round. */
struct ys_dist_numbers {
    const struct ys_dist_part *parts;
    size_t part_count;
    size_t count, size; /* of numbers in all parts, and of one in bytes: that of a double, or of a float */
    int world;
};
/** Where piece `piece` begins among the numbers, which is where the one before ends. They differ in length by one at
 * most; that of number `world` begins at the end. */
size_t ys_dist_piece_begin(const struct ys_dist_numbers *numbers, int piece);
/** Piece `piece` counted round the ring, which may be below 0. */
int ys_dist_around(int world, int piece);

/* A piece out, and another in. */
struct ys_dist_passing {
    size_t out_at, out_bytes; /* of the numbers */
    size_t in_at, in_bytes;   /* likewise, of those of the rank before */
    char *into;               /* where it is wanted; NULL: anywhere */
};

struct ys_dist_link_ops {
    /** After the ranks have met; fini() is called also where it fails. `interface`: of the network between them.
     * NULL: there is nothing to do. */
    ys_status (*open)(struct ys_dist_link *link, const char *interface);
    /** Room for numbers of so many bytes, in pieces of at most `piece_bytes`; what was there is lost. All ranks ask for
     * the same sizes in the same order. */
    ys_status (*reserve)(struct ys_dist_link *link, size_t bytes, size_t piece_bytes);
    /** The next rank gets a piece, and the rank before gives one: *came is where it lies until the next call. */
    ys_status (*pass)(struct ys_dist_link *link, const struct ys_dist_passing *passing, const char **came);
    /** Returns when the next rank needs these numbers no more. */
    ys_status (*finish)(struct ys_dist_link *link);
    /** The connections of the ring are still there. */
    void (*fini)(struct ys_dist_link *link);
    /** The whole mean, of a transport that need not wait for the end of a piece to pass on its beginning: it has none
     * of the above but fini. NULL: it goes by pieces. The order of every sum is the same. */
    ys_status (*mean)(struct ys_dist_link *link, const struct ys_dist_numbers *numbers);
};
extern const struct ys_dist_link_ops ys_dist_link_tcp, ys_dist_link_shared, ys_dist_link_mpi;

/** Replaces the numbers by their mean, whichever the transport. */
ys_status ys_dist_ring_mean(struct ys_dist_link *link, const struct ys_dist_numbers *numbers) YS_MUST_CHECK;

/* What a rank tells the next one before it sends numbers: ranks that sum different things would hang, or mix numbers
 * up. */
struct ys_dist_notice {
    uint64_t count, size;
};
/** YS_EPROTOCOL: the rank before told something else than what these numbers are. */
ys_status ys_dist_agree(const struct ys_dist_link *link, const struct ys_dist_numbers *numbers,
                        struct ys_dist_notice theirs) YS_MUST_CHECK;

/* values[i] = came[i] + values[i], and where `divisor` is not 1 that over it. */
void ys_dist_add(void *values, const void *came, size_t count, size_t size, int divisor);

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
/** YS_EIO, with a message that says so. */
ys_status ys_dist_fail_gone(int rank, const char *why);

#endif
