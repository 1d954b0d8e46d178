/* A framework, for test_collectives.c: calls what collectives_fake.c has. As a program ("collectives_linked") or as a
 * module that another program loads ("collectives_module.so", as Python does).
 *
 *     WORD...: gloo, mpi, odd (options that are laid out otherwise), fork (a child that calls gloo), threads, block
 *     (stays inside a call), exit (at once, without cleaning up) */
#include "collectives_fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern void call_allreduce(void *options) __asm__(FAKE_ALLREDUCE);
extern void call_broadcast(void *options) __asm__(FAKE_BROADCAST);
extern void call_scatter(void *options) __asm__(FAKE_SCATTER);
extern void call_barrier(void *options) __asm__(FAKE_BARRIER);
extern int MPI_Allreduce(const void *in, void *out, int count, HANDLE type, HANDLE op, HANDLE comm);
extern int MPI_Allreduce_c(const void *in, void *out, int64_t count, HANDLE type, HANDLE op, HANDLE comm);
extern int MPI_Iallreduce(const void *in, void *out, int count, HANDLE type, HANDLE op, HANDLE comm, HANDLE *request);
extern int MPI_Wait(HANDLE *request, void *status);
extern int MPI_Reduce_scatter(const void *in, void *out, const int *counts, HANDLE type, HANDLE op, HANDLE comm);
extern int MPI_Allgather(const void *in, int in_count, HANDLE in_type, void *out, int out_count, HANDLE out_type,
                         HANDLE comm);
extern int MPI_Sendrecv(const void *in, int in_count, HANDLE in_type, int to, int in_tag, void *out, int out_count,
                        HANDLE out_type, int from, int out_tag, HANDLE comm, void *status);
extern int MPI_Gatherv(const void *in, int in_count, HANDLE in_type, void *out, const int *counts, const int *places,
                       HANDLE out_type, int root, HANDLE comm);
__attribute__((visibility("default"))) extern int act(int count, char *const *words);

struct buffer {
    void *functions, *data;
    size_t size;
};

static void call_gloo(void)
{
    struct buffer first = {NULL, &first, 4000}, second = {NULL, &second, 4000}, *both[] = {&first, &second};
    struct {
        intptr_t context[2];
        int64_t timeout_ms;
        int algorithm;
        struct buffer **in[3], **out[3];
        size_t elements, element_size;
    } reduced = {{FAKE_CONTEXT, 0}, 30000, 0, {NULL, NULL, NULL}, {both, both + 2, both + 2}, 1000, 4};
    struct {
        intptr_t context[2];
        struct buffer *in, *out;
        size_t elements, element_size;
    } sent = {{FAKE_CONTEXT, 0}, NULL, &first, 500, 8};
    struct {
        intptr_t context[2];
        struct buffer **in[3], *out;
        size_t element_size;
    } scattered = {{FAKE_CONTEXT, 0}, {NULL, NULL, NULL}, &second, 4};
    intptr_t waited[2] = {FAKE_CONTEXT, 0};
    call_allreduce(&reduced); /* 8000 bytes */
    call_broadcast(&sent);    /* 4000, as the next */
    call_scatter(&scattered);
    call_barrier(waited);
}

/* An allreduce whose elements are not those of its buffers, and a broadcast whose buffer is nowhere. */
static void call_odd(void)
{
    intptr_t options[16] = {FAKE_CONTEXT, 0, 30000, 0x10, 0x20, 0x30, 0x40, 0x50, 0x58, 0x60, 3, 4};
    call_allreduce(options);
    call_broadcast(options);
}

static int call_mpi(void)
{
    char in[8] = {0}, out[8] = {0};
    const int counts[] = {1, 2, 3};
    HANDLE request;
    int wrong = MPI_Allreduce(in, out, 5, FAKE_TYPE, FAKE_OP, FAKE_COMM) != 17;                      /* 40 bytes */
    wrong += MPI_Allreduce_c(in, out, FAKE_MANY, FAKE_TYPE, FAKE_OP, FAKE_COMM) != 0;                /* 48e9 */
    wrong += MPI_Iallreduce(in, out, 7, FAKE_TYPE, FAKE_OP, FAKE_COMM, &request) != 0;               /* 56 */
    wrong += MPI_Wait(&request, NULL) != 0;                                                          /* no call */
    wrong += MPI_Reduce_scatter(in, out, counts, FAKE_TYPE, FAKE_OP, FAKE_COMM) != 0;                /* 48 */
    wrong += MPI_Allgather(FAKE_IN_PLACE, -9, FAKE_TYPE, out, 4, FAKE_TYPE, FAKE_COMM);              /* 32 */
    wrong += MPI_Sendrecv(in, 6, FAKE_TYPE, 2, -5, out, 9, FAKE_TYPE, 0, 77, FAKE_COMM, NULL);       /* 48 */
    wrong += MPI_Gatherv(FAKE_IN_PLACE, 0, FAKE_TYPE, out, counts, counts, FAKE_TYPE, 1, FAKE_COMM); /* 16: rank 1 */
    return wrong;
}

static void *call_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++)
        call_gloo();
    return NULL;
}

static void call_in_threads(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, call_often, NULL) != 0)
            abort();
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

int act(int count, char *const *words)
{
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        const char *word = words[i];
        if (strcmp(word, "gloo") == 0)
            call_gloo();
        else if (strcmp(word, "odd") == 0)
            call_odd();
        else if (strcmp(word, "mpi") == 0)
            wrong += call_mpi();
        else if (strcmp(word, "threads") == 0)
            call_in_threads();
        else if (strcmp(word, "block") == 0) {
            setenv("FAKE_BLOCKS", "1", 1);
            call_gloo();
        } else if (strcmp(word, "fork") == 0) {
            int status = 1;
            const pid_t child = fork();
            if (child == 0) {
                call_gloo();
                _exit(0);
            }
            wrong += child < 0 || waitpid(child, &status, 0) != child || status != 0;
        } else if (strcmp(word, "exit") == 0)
            _exit(wrong);
    }
    return wrong;
}

#ifdef LINKED
int main(int count, char **words)
{
    return act(count - 1, words + 1);
}
#endif
