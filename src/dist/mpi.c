#include "dist/mpi.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libmpi.so.12"
#define REMEDY  "install MPICH (Debian and Ubuntu: libmpich12), or take the transport tcp"

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define FUNCTION(name, member)                                                                                         \
    {                                                                                                                  \
        "MPI_" name, offsetof(struct ys_dist_mpi, member)                                                              \
    }
    FUNCTION("Init_thread", init_thread),
    FUNCTION("Finalize", finalize),
    FUNCTION("Error_string", error_string),
    FUNCTION("Comm_set_errhandler", comm_set_errhandler),
    FUNCTION("Open_port", open_port),
    FUNCTION("Close_port", close_port),
    FUNCTION("Comm_accept", comm_accept),
    FUNCTION("Comm_connect", comm_connect),
    FUNCTION("Intercomm_merge", intercomm_merge),
    FUNCTION("Comm_free", comm_free),
    FUNCTION("Comm_disconnect", comm_disconnect),
    FUNCTION("Isend", isend),
    FUNCTION("Irecv", irecv),
    FUNCTION("Testall", testall),
#undef FUNCTION
};

/** Open MPI's handles are addresses, and its processes meet others only through a daemon of an mpirun. */
static ys_status fail_absent(const char *why)
{
    void *open_mpi = dlopen("libmpi.so.40", RTLD_LAZY | RTLD_LOCAL);
    if (!open_mpi)
        return ys_fail(YS_ENOTFOUND, "the transport mpi loads " LIBRARY ", which is not there (%.150s): " REMEDY, why);
    dlclose(open_mpi);
    return ys_fail(YS_ENOTFOUND, "the transport mpi loads " LIBRARY ", which is not there, and Open MPI, which is, "
                                 "joins no processes that its mpirun has not started: " REMEDY);
}

static ys_status find_functions(void *library, struct ys_dist_mpi *mpi)
{
    if (dlsym(library, "ompi_mpi_comm_world")) /* its versions 1.7 to 1.10 had that name too */
        return ys_fail(YS_ENOTFOUND, LIBRARY " is Open MPI's, whose handles are others: " REMEDY);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found)
            return ys_fail(YS_ENOTFOUND, LIBRARY " has no %s: " REMEDY, functions[i].name);
        memcpy((char *)mpi + functions[i].offset, &found, sizeof found);
    }
    return YS_OK;
}

/** What mpiexec and srun tell processes that they start; this one is theirs no more. */
static void forget_parents(void)
{
    static const char *const beginnings[] = {"PMI_", "PMIX_", "OMPI_", "PRTE_", "HYDI_", "HYDRA_", "MPI_LOCAL"};
    extern char **environ;
    for (char **at = environ; at && *at;) {
        char name[128];
        bool is_theirs = false;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*at, "="), *at);
        for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
            is_theirs = is_theirs || strncmp(name, beginnings[i], strlen(beginnings[i])) == 0;
        if (is_theirs && unsetenv(name) == 0)
            at = environ; /* the list has moved */
        else
            at++;
    }
}

/** Of UCX and of libfabric, by which such libraries reach others; what the user has set stays. By TCP, also where they
 * are of one machine: that goes on by itself while this process sleeps, where shared memory has to be looked after; and
 * with all that UCX can do its address is longer than the name of a port may be. */
static void choose_interface(const char *interface)
{
    setenv("UCX_TLS", "tcp,self", 0);
    setenv("UCX_NET_DEVICES", interface, 0);
    setenv("FI_PROVIDER", "tcp", 0);
    setenv("FI_TCP_IFACE", interface, 0);
}

ys_status ys_dist_mpi_fail(const struct ys_dist_mpi *mpi, int error, const char *what)
{
    char said[YS_MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (mpi->error_string(error, said, &length) != YS_MPI_SUCCESS)
        said[0] = 0;
    for (char *at = said; (at = strchr(at, '\n')) != NULL;) /* a stack: what happened comes last */
        *at = at[1] ? ';' : 0;
    return ys_fail(YS_EIO, "MPI: %s: %s", what, said);
}

static ys_status start(const struct ys_dist_mpi *mpi, const char *interface)
{
    int provided = 0;
    forget_parents();
    choose_interface(interface);
    const int error = mpi->init_thread(NULL, NULL, YS_MPI_THREAD_SERIALIZED, &provided);
    if (error != YS_MPI_SUCCESS)
        return ys_fail(YS_EIO, "MPI does not start: error %d", error);
    if (provided < YS_MPI_THREAD_SERIALIZED)
        return ys_fail(YS_ENOTFOUND, LIBRARY " cannot be called by one thread after another: " REMEDY);
    mpi->comm_set_errhandler(YS_MPI_COMM_WORLD, YS_MPI_ERRORS_RETURN);
    mpi->comm_set_errhandler(YS_MPI_COMM_SELF, YS_MPI_ERRORS_RETURN);
    return YS_OK;
}

ys_status ys_dist_mpi_load(const char *interface, const struct ys_dist_mpi **mpi)
{
    static struct ys_dist_mpi loaded;
    static bool was_started;
    if (was_started)
        return ys_fail(YS_EINVAL, "MPI starts once in a process");
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL); /* for good: what it loads itself looks for it */
    const char *why = library ? NULL : dlerror();
    if (!library)
        return fail_absent(why ? why : "no reason is known");
    YS_TRY(find_functions(library, &loaded));
    was_started = true;
    *mpi = &loaded;
    return start(&loaded, interface);
}
