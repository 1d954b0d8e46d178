/* yardstick-node: the agent of a host of a run that is on several. yardstick starts it. */
#include "base/mem.h"
#include "base/stop.h"
#include "run/agent.h"
#include "run/agent_reach.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "yardstick-node: has the ranks of one host, in a run on several\n"
    "\n"
    "  yardstick-node STUDY NODE [ADDRESS]  serves a study; yardstick starts it so, through ssh, mpirun or srun\n"
    "                                       for other hosts\n"
    "    STUDY    HOST:PORT, where it listens, its token in YARDSTICK_NODE_TOKEN; or - for what speaks to it\n"
    "             by its standard input and output\n"
    "    NODE     the number of this host in the run, from 0 on; or the variable in which mpirun or srun gives it\n"
    "    ADDRESS  of IPv4, at which other hosts reach this one, where it is not that at which the study does\n"
    "  yardstick-node --version | --help\n";

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    int64_t node;
    if (strcmp(word, "--help") == 0)
        return fputs(help, stdout) < 0;
    if (strcmp(word, "--version") == 0)
        return puts("yardstick-node " YS_VERSION) < 0;
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "yardstick-node: expects a study and the number of this host in its run\n\n%s", help);
        return 2;
    }
    ys_memory_must_suffice("yardstick-node");
    if (ys_node_number(argv[2], &node) != YS_OK) {
        fprintf(stderr, "yardstick-node: %s\n", ys_error());
        return 2;
    }
    if (ys_stop_install() != YS_OK)
        return 1;
    return ys_node_serve(word, node, argc == 4 ? argv[3] : NULL);
}
