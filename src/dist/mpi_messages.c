/* Pieces as messages of MPI. No mpiexec starts the ranks: they have met before, as those of TCP do, and come one after
 * the other to those that are there already, at a port of rank 0's. The connections by which they met stay: through
 * them they agree on what is summed, and they tell of a rank that has gone, for which MPI itself would wait forever.
 *
 * MPI has no descriptor to sleep by, and its own waiting spins: so it is asked, and between two questions slept. */
#include "dist/transport.h"

#include "base/mem.h"
#include "dist/mpi.h"

#include <poll.h>
#include <string.h>

enum { TAG = 1, MESSAGE_BYTES = 1 << 30 }; /* a count of MPI's is an int */
static const long FIRST_SLEEP_NS = 20000, LONGEST_SLEEP_NS = 200000;

/* What the transport keeps. */
struct passed {
    const struct ys_dist_mpi *mpi;
    int comm; /* of all ranks, in their order */
    bool has_failed;
};

static ys_status fail(struct passed *p, int error, const char *what)
{
    p->has_failed = true;
    return ys_dist_mpi_fail(p->mpi, error, what);
}

/** From rank 0 to all others, round the ring. */
static ys_status hand_round(const struct ys_dist_link *link, char *data, size_t size)
{
    struct ys_dist_transfer in = ys_dist_along(link), out = in;
    in.in = data;
    in.in_size = link->rank > 0 ? size : 0;
    out.out = data;
    out.out_size = link->rank < link->world - 1 ? size : 0;
    YS_TRY(ys_dist_transfer(in));
    return ys_dist_transfer(out);
}

/** `newcomer` comes to those that are in p->comm, which are the ranks before it; it is one of them, or it itself. */
static ys_status merge(struct passed *p, const struct ys_dist_link *link, const char *port, int newcomer)
{
    const struct ys_dist_mpi *mpi = p->mpi;
    const bool is_new = link->rank == newcomer;
    int between = YS_MPI_COMM_NULL, merged = YS_MPI_COMM_NULL;
    int error = is_new ? mpi->comm_connect(port, YS_MPI_INFO_NULL, 0, YS_MPI_COMM_SELF, &between)
                       : mpi->comm_accept(port, YS_MPI_INFO_NULL, 0, p->comm, &between);
    if (error != YS_MPI_SUCCESS)
        return fail(p, error, is_new ? "rank 0 is not reached" : "a rank is not accepted");
    mpi->comm_set_errhandler(between, YS_MPI_ERRORS_RETURN);
    error = mpi->intercomm_merge(between, is_new, &merged);
    if (error != YS_MPI_SUCCESS)
        return fail(p, error, "ranks are not joined");
    mpi->comm_set_errhandler(merged, YS_MPI_ERRORS_RETURN);
    p->comm = merged;
    return YS_OK;
}

static ys_status join(struct passed *p, const struct ys_dist_link *link, char (*ports)[YS_MPI_MAX_PORT_NAME])
{
    const int newcomers = link->world - 1;
    for (int i = 0; link->rank == 0 && i < newcomers; i++) {
        const int error = p->mpi->open_port(YS_MPI_INFO_NULL, ports[i]);
        if (error != YS_MPI_SUCCESS)
            return fail(p, error, "no port where ranks could come together");
    }
    YS_TRY(hand_round(link, ports[0], (size_t)newcomers * sizeof ports[0]));
    for (int i = 0; i < newcomers; i++)
        if (link->rank <= i + 1)
            YS_TRY(merge(p, link, ports[i], i + 1));
    for (int i = 0; link->rank == 0 && i < newcomers; i++)
        p->mpi->close_port(ports[i]);
    return YS_OK;
}

static ys_status open_link(struct ys_dist_link *link, const char *interface)
{
    char(*ports)[YS_MPI_MAX_PORT_NAME] = ys_alloc((size_t)link->world, sizeof *ports);
    struct passed *p = link->own = ys_alloc(1, sizeof *p);
    if (!ports || !p) {
        ys_free(ports);
        return ys_out_of_memory();
    }
    *p = (struct passed){.comm = YS_MPI_COMM_SELF, .has_failed = true};
    ys_status status = ys_dist_mpi_load(interface, &p->mpi);
    if (status == YS_OK) {
        p->has_failed = false;
        status = join(p, link, ports);
    }
    p->has_failed = p->has_failed || status != YS_OK;
    ys_free(ports);
    return status;
}

static ys_status reserve(struct ys_dist_link *link, size_t bytes, size_t piece_bytes)
{
    if (bytes > link->numbers_bytes) {
        ys_free(link->numbers);
        link->numbers = ys_alloc(bytes, 1);
        link->numbers_bytes = link->numbers ? bytes : 0;
    }
    if (piece_bytes > link->came_bytes) {
        ys_free(link->came);
        link->came = ys_alloc(piece_bytes, 1);
        link->came_bytes = link->came ? piece_bytes : 0;
    }
    return link->numbers && link->came ? YS_OK : ys_out_of_memory();
}

/** Sleeps so long, or until a neighbour goes, which is a failure. */
static ys_status sleep_beside(const struct ys_dist_link *link, long sleep_ns)
{
    const struct timespec span = {.tv_nsec = sleep_ns};
    const struct ys_dist_transfer along = ys_dist_along(link);
    struct pollfd sources[] = {{.fd = along.out_fd, .events = POLLRDHUP}, {.fd = along.in_fd, .events = POLLRDHUP}};
    if (ppoll(sources, 2, &span, NULL) <= 0)
        return YS_OK;
    return ys_dist_fail_gone(sources[0].revents ? along.out_rank : along.in_rank, "it closed its connection");
}

static ys_status wait_for_both(struct ys_dist_link *link, int requests[2])
{
    struct passed *p = link->own;
    long sleep_ns = FIRST_SLEEP_NS;
    for (;;) {
        int is_done = 0;
        const int error = p->mpi->testall(2, requests, &is_done, YS_MPI_STATUSES_IGNORE);
        if (error != YS_MPI_SUCCESS)
            return fail(p, error, "a piece did not arrive");
        if (is_done)
            return YS_OK;
        ys_status status = sleep_beside(link, sleep_ns);
        if (status != YS_OK) {
            p->has_failed = true;
            return status;
        }
        sleep_ns = 2 * sleep_ns < LONGEST_SLEEP_NS ? 2 * sleep_ns : LONGEST_SLEEP_NS;
    }
}

static int next_message(size_t left_bytes)
{
    return left_bytes < MESSAGE_BYTES ? (int)left_bytes : MESSAGE_BYTES;
}

static ys_status pass(struct ys_dist_link *link, const struct ys_dist_passing *passing, const char **came)
{
    struct passed *p = link->own;
    const struct ys_dist_transfer along = ys_dist_along(link);
    char *into = passing->into ? passing->into : link->came;
    size_t out = 0, in = 0;
    while (out < passing->out_bytes || in < passing->in_bytes) {
        const int out_bytes = next_message(passing->out_bytes - out), in_bytes = next_message(passing->in_bytes - in);
        int requests[2] = {YS_MPI_REQUEST_NULL, YS_MPI_REQUEST_NULL}, error = YS_MPI_SUCCESS;
        if (in_bytes > 0)
            error = p->mpi->irecv(into + in, in_bytes, YS_MPI_BYTE, along.in_rank, TAG, p->comm, &requests[0]);
        if (error == YS_MPI_SUCCESS && out_bytes > 0)
            error = p->mpi->isend(link->numbers + passing->out_at + out, out_bytes, YS_MPI_BYTE, along.out_rank, TAG,
                                  p->comm, &requests[1]);
        if (error != YS_MPI_SUCCESS)
            return fail(p, error, "a piece is not sent");
        YS_TRY(wait_for_both(link, requests));
        out += (size_t)out_bytes;
        in += (size_t)in_bytes;
    }
    link->sent_bytes += passing->out_bytes;
    *came = into;
    return YS_OK;
}

/** What was sent has left its place, as pass() waits for. */
static ys_status finish(struct ys_dist_link *link)
{
    (void)link;
    return YS_OK;
}

/** All ranks end MPI together, or none waits for one that has gone. */
static bool are_all_here(const struct ys_dist_link *link)
{
    char word = 1, heard;
    for (int turn = 0; turn < link->world; turn++) {
        struct ys_dist_transfer t = ys_dist_along(link);
        t.out = &word;
        t.in = &heard;
        t.out_size = t.in_size = 1;
        if (ys_dist_transfer(t) != YS_OK)
            return false;
    }
    return true;
}

static void fini(struct ys_dist_link *link)
{
    struct passed *p = link->own;
    if (p && !p->has_failed && are_all_here(link)) {
        p->mpi->comm_disconnect(&p->comm);
        p->mpi->finalize();
    }
    ys_free(p);
    if (!p || !p->has_failed) { /* else MPI may still write there */
        ys_free(link->numbers);
        ys_free(link->came);
    }
}

const struct ys_dist_link_ops ys_dist_link_mpi = {
    .open = open_link, .reserve = reserve, .pass = pass, .finish = finish, .fini = fini};
