/* A library with some of the functions of gloo and of MPI, for test_collectives.c: they do nothing but hold what they
 * are given against what a caller has to give. HANDLE is what handles of MPI are: int as in MPICH, or a pointer as in
 * Open MPI. */
#include "collectives_fake.h"

#include <stdio.h>
#include <stdlib.h>

#define SHOWN __attribute__((visibility("default")))

static void must(int holds, const char *what)
{
    if (holds)
        return;
    printf("%s\n", what);
    fflush(stdout);
    abort();
}

#define GLOO(name, symbol)                                                                                             \
    SHOWN void fake_##name(void *options) __asm__(symbol);                                                             \
    void fake_##name(void *options)                                                                                    \
    {                                                                                                                  \
        must(*(const int *)options == FAKE_CONTEXT, #name " got other options");                                       \
        fake_wait();                                                                                                   \
    }
static void fake_wait(void)
{
    const char *blocks = getenv("FAKE_BLOCKS");
    if (!blocks)
        return;
    puts("inside");
    fflush(stdout);
    for (;;)
        getc(stdin);
}
GLOO(allreduce, FAKE_ALLREDUCE)
GLOO(broadcast, FAKE_BROADCAST)
GLOO(scatter, FAKE_SCATTER)
GLOO(barrier, FAKE_BARRIER)

SHOWN int PMPI_Type_size(HANDLE type, int *size);
SHOWN int PMPI_Comm_size(HANDLE comm, int *size);
SHOWN int PMPI_Comm_rank(HANDLE comm, int *rank);
int PMPI_Type_size(HANDLE type, int *size)
{
    must(type == FAKE_TYPE, "Type_size");
    *size = 8;
    return 0;
}
int PMPI_Comm_size(HANDLE comm, int *size)
{
    must(comm == FAKE_COMM, "Comm_size");
    *size = 3;
    return 0;
}
int PMPI_Comm_rank(HANDLE comm, int *rank)
{
    must(comm == FAKE_COMM, "Comm_rank");
    *rank = 1;
    return 0;
}

SHOWN int MPI_Allreduce(const void *in, void *out, int count, HANDLE type, HANDLE op, HANDLE comm);
SHOWN int MPI_Allreduce_c(const void *in, void *out, int64_t count, HANDLE type, HANDLE op, HANDLE comm);
SHOWN int MPI_Iallreduce(const void *in, void *out, int count, HANDLE type, HANDLE op, HANDLE comm, HANDLE *request);
SHOWN int MPI_Wait(HANDLE *request, void *status);
SHOWN int MPI_Reduce_scatter(const void *in, void *out, const int *counts, HANDLE type, HANDLE op, HANDLE comm);
SHOWN int MPI_Allgather(const void *in, int in_count, HANDLE in_type, void *out, int out_count, HANDLE out_type,
                        HANDLE comm);
SHOWN int MPI_Sendrecv(const void *in, int in_count, HANDLE in_type, int to, int in_tag, void *out, int out_count,
                       HANDLE out_type, int from, int out_tag, HANDLE comm, void *status);
SHOWN int MPI_Gatherv(const void *in, int in_count, HANDLE in_type, void *out, const int *counts, const int *places,
                      HANDLE out_type, int root, HANDLE comm);
int MPI_Allreduce(const void *in, void *out, int count, HANDLE type, HANDLE op, HANDLE comm)
{
    must(in && out && count == 5 && type == FAKE_TYPE && op == FAKE_OP && comm == FAKE_COMM, "Allreduce");
    return 17;
}
int MPI_Allreduce_c(const void *in, void *out, int64_t count, HANDLE type, HANDLE op, HANDLE comm)
{
    must(in && out && count == FAKE_MANY && type == FAKE_TYPE && op == FAKE_OP && comm == FAKE_COMM, "Allreduce_c");
    return 0;
}
int MPI_Iallreduce(const void *in, void *out, int count, HANDLE type, HANDLE op, HANDLE comm, HANDLE *request)
{
    must(in && out && count == 7 && type == FAKE_TYPE && op == FAKE_OP && comm == FAKE_COMM, "Iallreduce");
    *request = FAKE_OP;
    return 0;
}
int MPI_Wait(HANDLE *request, void *status)
{
    must(*request == FAKE_OP && !status, "Wait");
    return 0;
}
int MPI_Reduce_scatter(const void *in, void *out, const int *counts, HANDLE type, HANDLE op, HANDLE comm)
{
    must(in && out && counts[2] == 3 && type == FAKE_TYPE && op == FAKE_OP && comm == FAKE_COMM, "Reduce_scatter");
    return 0;
}
int MPI_Allgather(const void *in, int in_count, HANDLE in_type, void *out, int out_count, HANDLE out_type, HANDLE comm)
{
    must(in == FAKE_IN_PLACE && in_count == -9 && in_type == FAKE_TYPE && out && out_count == 4 &&
             out_type == FAKE_TYPE && comm == FAKE_COMM,
         "Allgather");
    return 0;
}
int MPI_Sendrecv(const void *in, int in_count, HANDLE in_type, int to, int in_tag, void *out, int out_count,
                 HANDLE out_type, int from, int out_tag, HANDLE comm, void *status)
{
    must(in && in_count == 6 && in_type == FAKE_TYPE && to == 2 && in_tag == -5 && out && out_count == 9 &&
             out_type == FAKE_TYPE && from == 0 && out_tag == 77 && comm == FAKE_COMM && !status,
         "Sendrecv");
    return 0;
}
int MPI_Gatherv(const void *in, int in_count, HANDLE in_type, void *out, const int *counts, const int *places,
                HANDLE out_type, int root, HANDLE comm)
{
    must(in == FAKE_IN_PLACE && in_count == 0 && in_type == FAKE_TYPE && out && counts && places &&
             out_type == FAKE_TYPE && root == 1 && comm == FAKE_COMM,
         "Gatherv");
    return 0;
}
