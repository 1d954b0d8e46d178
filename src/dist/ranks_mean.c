#include "dist/dist.h"

#include "base/clock.h"
#include "base/mem.h"
#include "dist/meeting_place.h"
#include "dist/transport.h"

#include <net/if.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *const transport_words[] = {
    [YS_DIST_TCP] = "tcp", [YS_DIST_SHARED] = "shared", [YS_DIST_MPI] = "mpi"};
const struct ys_names ys_dist_transports = YS_NAMES("transport", transport_words);

/* A mean that was begun. */
struct job {
    const struct ys_dist_part *parts;
    size_t count;
    bool is_double;
};

struct ys_dist {
    struct ys_dist_link link;
    uint64_t busy_ns;
    ys_status failed; /* of the first mean that did; YS_OK: none */
    char failure[160];
    /* The thread that takes the means, from the first one that is begun on. What follows is under `lock`; the members
     * above belong to whoever takes a mean, and there is one at a time. */
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t begun, taken;
    struct job *jobs;
    size_t job_count, job_capacity, next_job;
    bool is_closing;
};

static const struct ys_dist_link_ops *const links[] = {
    [YS_DIST_TCP] = &ys_dist_link_tcp, [YS_DIST_SHARED] = &ys_dist_link_shared, [YS_DIST_MPI] = &ys_dist_link_mpi};

/** The ring, and what the transport has beside it. */
static ys_status connect_ring(const struct ys_dist_config *config, struct ys_dist_link *link)
{
    char interface[IF_NAMESIZE];
    YS_TRY(ys_dist_meet(config, &link->ring));
    return link->ops->open
               ? link->ops->open(link, ys_dist_place_interface(config->address, interface) ? interface : "lo")
               : YS_OK;
}

ys_status ys_dist_open(const struct ys_dist_config *config, struct ys_dist **dist)
{
    if (config->world < 1 || config->world > YS_DIST_RANKS_MOST || config->rank < 0 || config->rank >= config->world)
        return ys_fail(YS_EINVAL, "rank %d of %d is none: ranks count from 0, and there are at most %d", config->rank,
                       config->world, YS_DIST_RANKS_MOST);
    struct ys_dist *made = ys_alloc(1, sizeof *made);
    if (!made)
        return ys_out_of_memory();
    *made = (struct ys_dist){
        .link = {.ops = links[config->transport], .rank = config->rank, .world = config->world, .ring = {-1, -1}},
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .begun = PTHREAD_COND_INITIALIZER,
        .taken = PTHREAD_COND_INITIALIZER};
    ys_status status = config->world > 1 ? connect_ring(config, &made->link) : YS_OK;
    if (status == YS_OK)
        *dist = made;
    else
        ys_dist_close(made);
    return status;
}

/** A mean that waits for others sleeps in the sockets: they wake it. */
static void end_thread(struct ys_dist *dist)
{
    pthread_mutex_lock(&dist->lock);
    dist->is_closing = true;
    if (dist->next_job < dist->job_count) {
        shutdown(dist->link.ring.next_fd, SHUT_RDWR);
        shutdown(dist->link.ring.before_fd, SHUT_RDWR);
    }
    pthread_cond_signal(&dist->begun);
    pthread_mutex_unlock(&dist->lock);
    pthread_join(dist->thread, NULL);
}

void ys_dist_close(struct ys_dist *dist)
{
    if (!dist)
        return;
    if (dist->has_thread)
        end_thread(dist);
    dist->link.ops->fini(&dist->link);
    if (dist->link.ring.next_fd >= 0)
        close(dist->link.ring.next_fd);
    if (dist->link.ring.before_fd >= 0)
        close(dist->link.ring.before_fd);
    pthread_mutex_destroy(&dist->lock);
    pthread_cond_destroy(&dist->begun);
    pthread_cond_destroy(&dist->taken);
    ys_free(dist->jobs);
    ys_free(dist);
}

static ys_status take(struct ys_dist_link *link, const struct job *job)
{
    struct ys_dist_numbers numbers = {.parts = job->parts,
                                      .part_count = job->count,
                                      .size = job->is_double ? sizeof(double) : sizeof(float),
                                      .world = link->world};
    for (size_t i = 0; i < job->count; i++)
        numbers.count += job->parts[i].count;
    return ys_dist_ring_mean(link, &numbers);
}

static ys_status fail_again(const struct ys_dist *dist)
{
    return dist->failed == YS_OK ? YS_OK : ys_fail(dist->failed, "%s", dist->failure);
}

static ys_status take_or_fail(struct ys_dist *dist, const struct job *job)
{
    YS_TRY(fail_again(dist));
    const uint64_t begin_ns = ys_time_ns();
    ys_status status = take(&dist->link, job);
    dist->busy_ns += ys_time_ns() - begin_ns;
    if (status == YS_OK)
        return YS_OK;
    dist->failed = status;
    const char *said = ys_error();
    size_t length = strlen(said) < sizeof dist->failure - 1 ? strlen(said) : sizeof dist->failure - 1;
    memcpy(dist->failure, said, length); /* the rest of the array is zero */
    return status;
}

static void *take_begun(void *argument)
{
    struct ys_dist *dist = argument;
    pthread_mutex_lock(&dist->lock);
    for (;;) {
        while (dist->next_job == dist->job_count && !dist->is_closing)
            pthread_cond_wait(&dist->begun, &dist->lock);
        if (dist->is_closing)
            break;
        const struct job job = dist->jobs[dist->next_job];
        pthread_mutex_unlock(&dist->lock);
        (void)take_or_fail(dist, &job); /* ys_dist_wait() says it */
        pthread_mutex_lock(&dist->lock);
        if (++dist->next_job == dist->job_count)
            pthread_cond_signal(&dist->taken);
    }
    pthread_mutex_unlock(&dist->lock);
    return NULL;
}

static ys_status start_thread(struct ys_dist *dist)
{
    if (dist->has_thread)
        return YS_OK;
    int error = pthread_create(&dist->thread, NULL, take_begun, dist);
    if (error != 0)
        return ys_fail(YS_EIO, "no thread that exchanges gradients: %s", strerror(error));
    dist->has_thread = true;
    return YS_OK;
}

ys_status ys_dist_begin(struct ys_dist *dist, const struct ys_dist_part *parts, size_t count, bool is_double)
{
    if (dist->link.world == 1)
        return YS_OK;
    YS_TRY(start_thread(dist));
    pthread_mutex_lock(&dist->lock);
    struct job *grown = ys_grown(dist->jobs, dist->job_count, &dist->job_capacity, sizeof *grown);
    if (grown) {
        dist->jobs = grown;
        dist->jobs[dist->job_count++] = (struct job){parts, count, is_double};
        pthread_cond_signal(&dist->begun);
    }
    pthread_mutex_unlock(&dist->lock);
    return grown ? YS_OK : ys_out_of_memory();
}

ys_status ys_dist_wait(struct ys_dist *dist)
{
    if (!dist->has_thread)
        return YS_OK;
    pthread_mutex_lock(&dist->lock);
    while (dist->next_job < dist->job_count)
        pthread_cond_wait(&dist->taken, &dist->lock);
    dist->next_job = dist->job_count = 0;
    pthread_mutex_unlock(&dist->lock);
    return fail_again(dist);
}

ys_status ys_dist_mean(struct ys_dist *dist, const struct ys_dist_part *parts, size_t count, bool is_double)
{
    const struct job job = {parts, count, is_double};
    if (dist->link.world == 1)
        return YS_OK;
    YS_TRY(ys_dist_wait(dist));
    return take_or_fail(dist, &job);
}

struct ys_dist_counters ys_dist_counters(const struct ys_dist *dist)
{
    return (struct ys_dist_counters){.sent_bytes = dist->link.sent_bytes, .busy_ns = dist->busy_ns};
}
