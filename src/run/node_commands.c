/* The ways in which agents are started: the command of each, and where they find the study. */
#include "base/files/fs.h"
#include "base/mem.h"
#include "dist/meeting_place.h"
#include "run/nodes_state.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What the shell makes of the channel that every program gets as descriptor 3 (session/launch.h): ssh's input and
 * output, which are the agent's. It asks nobody anything, and ends when the network has been gone for half a minute. */
static const char *const ssh[] = {"/bin/sh",
                                  "-c",
                                  "exec \"$@\" <&3 >&3 3>&-",
                                  "sh",
                                  "ssh",
                                  "-T",
                                  "-o",
                                  "BatchMode=yes",
                                  "-o",
                                  "ConnectTimeout=20",
                                  "-o",
                                  "ServerAliveInterval=10",
                                  "-o",
                                  "ServerAliveCountMax=3",
                                  "--"};

/* Open MPI passes no variables on unless it is told to, and binds to one core; MPICH passes all. Both end all agents
 * once one is killed unless they are told not to, and the others could not tell what they saw. Behind all else comes
 * the variable that has the number of each agent. */
static const char *const mpirun[] = {
    "/bin/sh", "-c",
    "case $(mpirun --version 2>&1) in\n"
    "*'Open MPI'*) exec mpirun --map-by ppr:1:node --bind-to none --enable-recovery -x " YS_NODE_TOKEN_VARIABLE
    " -n \"$@\" OMPI_COMM_WORLD_RANK ;;\n"
    "*HYDRA*) exec mpirun -ppn 1 -disable-auto-cleanup -n \"$@\" PMI_RANK ;;\n"
    "*) exec mpirun -ppn 1 -n \"$@\" PMI_RANK ;;\n"
    "esac",
    "sh"};

/* The last two: as for mpirun, whatever the cluster has set. */
static const char *const srun[] = {"srun",         "--ntasks-per-node=1",  "--cpu-bind=none", "--mpi=none",
                                   "--export=ALL", "--kill-on-bad-exit=0", "--wait=0"};

#define ADD(command, words) add((command), (words), sizeof(words) / sizeof *(words))

static void add(struct ys_node_command *command, const char *const *words, size_t count)
{
    size_t at = 0;
    while (command->words[at])
        at++;
    memcpy(command->words + at, words, count * sizeof *words);
}

/** Through a shell, which splits it into words. */
static void add_ssh(const struct ys_run_host *host, int64_t node, struct ys_node_command *command)
{
    char *quoted = ys_replace(command->program, "'", "'\\''");
    command->remote = ys_format("exec '%s' - %" PRId64 "%s%s", quoted, node, host->address ? " " : "",
                                host->address ? host->address : "");
    ys_free(quoted);
    const char *const rest[] = {host->name, command->remote};
    ADD(command, ssh);
    ADD(command, rest);
}

static void add_options(const char *const *formats, size_t count, size_t nodes, struct ys_node_command *command)
{
    for (size_t i = 0; i < count; i++) {
        command->options[i] = ys_format("%s%zu", formats[i], nodes);
        add(command, (const char *const *)&command->options[i], 1);
    }
}

/** All runs of a study are to be on the same hosts, so that they have to be allocated, and as many as are asked for. */
static ys_status check_allocation(size_t nodes)
{
    const char *job = getenv("SLURM_JOB_ID"), *list = getenv("SLURM_JOB_NODELIST");
    const char *text = getenv("SLURM_JOB_NUM_NODES");
    const unsigned long count = text ? strtoul(text, NULL, 10) : 0;
    if (!job)
        return ys_fail(YS_ENOTFOUND,
                       "srun has no allocation here (SLURM_JOB_ID is not set), and each run could be on other hosts: "
                       "start yardstick by salloc -N %zu, or by sbatch",
                       nodes);
    return count == 0 || count >= nodes
               ? YS_OK
               : ys_fail(YS_ENOTFOUND, "allocation %.40s has %lu of %zu nodes (%.200s): ask for more, by salloc -N %zu",
                         job, count, nodes, list ? list : "not named", nodes);
}

ys_status ys_node_command_make(const struct ys_nodes *nodes, const struct ys_run_node *node, const char *address,
                               struct ys_node_command *command)
{
    static const char *const bare[] = {""}, *const of_srun[] = {"--nodes=", "--ntasks="};
    *command = (struct ys_node_command){.program = ys_find_support(YS_NODE_AGENT)};
    if (!command->program)
        return ys_fail(YS_EIO, "the program " YS_NODE_AGENT
                               " is not found beside yardstick; build or install it again, or name its "
                               "folder in YARDSTICK_BIN");
    const char *const here[] = {command->program, address}, *const of_slurm[] = {"SLURM_PROCID"};
    switch ((enum ys_launcher)nodes->spec->launcher) {
    case YS_LAUNCHER_SSH:
        add_ssh(&nodes->spec->hosts[node->number], node->number, command);
        return YS_OK;
    case YS_LAUNCHER_MPI:
        ADD(command, mpirun);
        add_options(bare, 1, nodes->count, command);
        ADD(command, here);
        return YS_OK;
    case YS_LAUNCHER_SLURM:
        YS_TRY(check_allocation(nodes->count));
        ADD(command, srun);
        add_options(of_srun, 2, nodes->count, command);
        ADD(command, here);
        ADD(command, of_slurm);
        return YS_OK;
    case YS_LAUNCHER_LOCAL:
        break;
    }
    ADD(command, here);
    add_options(bare, 1, (size_t)node->number, command);
    return YS_OK;
}

void ys_node_command_fini(struct ys_node_command *command)
{
    for (size_t i = 0; i < sizeof command->options / sizeof command->options[0]; i++)
        ys_free(command->options[i]);
    ys_free(command->remote);
    ys_free(command->program);
    *command = (struct ys_node_command){0};
}

bool ys_nodes_have_lines(const struct ys_nodes *nodes)
{
    return nodes->spec->launcher == YS_LAUNCHER_SSH;
}

bool ys_nodes_have_one_starter(const struct ys_nodes *nodes)
{
    return nodes->spec->launcher == YS_LAUNCHER_MPI || nodes->spec->launcher == YS_LAUNCHER_SLURM;
}

static bool is_loopback(struct in_addr address)
{
    return ntohl(address.s_addr) >> 24 == 127;
}

static bool find_named(struct in_addr *found)
{
    const struct addrinfo wanted = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *all = NULL;
    char name[256] = "";
    bool is_found = false;
    if (gethostname(name, sizeof name - 1) != 0 || getaddrinfo(name, NULL, &wanted, &all) != 0)
        return false;
    for (const struct addrinfo *one = all; one && !is_found; one = one->ai_next) {
        *found = ((const struct sockaddr_in *)(const void *)one->ai_addr)->sin_addr;
        is_found = !is_loopback(*found);
    }
    freeaddrinfo(all);
    return is_found;
}

struct in_addr ys_nodes_address(const struct ys_nodes *nodes)
{
    struct in_addr found;
    if (nodes->spec->launcher != YS_LAUNCHER_LOCAL && (find_named(&found) || ys_dist_place_find(&found) == YS_OK))
        return found;
    return (struct in_addr){htonl(INADDR_LOOPBACK)};
}
