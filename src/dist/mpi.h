/* An MPI library that is loaded where it is there: what of it the transport needs. Of this room alone.
 *
 * It is one of the ABI that MPICH, Intel MPI and MVAPICH share (the MPICH ABI Compatibility Initiative, 2013), in which
 * handles are numbers that never change; so nothing of MPI is needed to build. */
#ifndef YS_DIST_MPI_H
#define YS_DIST_MPI_H

#include "base/status.h"

/* Constants of that ABI, by their names in mpi.h. */
enum {
    YS_MPI_SUCCESS = 0,
    YS_MPI_THREAD_SERIALIZED = 2,
    YS_MPI_COMM_NULL = 0x04000000,
    YS_MPI_COMM_WORLD = 0x44000000,
    YS_MPI_COMM_SELF = 0x44000001,
    YS_MPI_INFO_NULL = 0x1c000000,
    YS_MPI_BYTE = 0x4c00010d,
    YS_MPI_ERRORS_RETURN = 0x54000001,
    YS_MPI_REQUEST_NULL = 0x2c000000,
    YS_MPI_MAX_PORT_NAME = 256,
    YS_MPI_MAX_ERROR_STRING = 512,
};
#define YS_MPI_STATUSES_IGNORE ((void *)1)

/** Functions of the library, by their names without MPI_. */
struct ys_dist_mpi {
    int (*init_thread)(int *argc, char ***argv, int required, int *provided);
    int (*finalize)(void);
    int (*error_string)(int error, char *text, int *length);
    int (*comm_set_errhandler)(int comm, int handler);
    int (*open_port)(int info, char *name);
    int (*close_port)(const char *name);
    int (*comm_accept)(const char *port, int info, int root, int comm, int *made);
    int (*comm_connect)(const char *port, int info, int root, int comm, int *made);
    int (*intercomm_merge)(int between, int is_high, int *merged);
    int (*comm_free)(int *comm);
    int (*comm_disconnect)(int *comm);
    int (*isend)(const void *data, int count, int type, int to, int tag, int comm, int *request);
    int (*irecv)(void *data, int count, int type, int from, int tag, int comm, int *request);
    int (*testall)(int count, int *requests, int *is_done, void *statuses);
};

/** Loads it, once in a process, and starts MPI as of a process of its own: variables by which an mpiexec that started
 * its parents would speak to it are taken out of its environment. `interface`: the network interface to use, by TCP,
 * unless variables of the library's network layer say something else. YS_ENOTFOUND: it is not there, or cannot do this;
 * the message says what to install. */
ys_status ys_dist_mpi_load(const char *interface, const struct ys_dist_mpi **mpi) YS_MUST_CHECK;
/** YS_EIO, with what MPI says of `error`. */
ys_status ys_dist_mpi_fail(const struct ys_dist_mpi *mpi, int error, const char *what);

#endif
