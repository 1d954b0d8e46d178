/* yardstick-node: the agent of a host of a run that is on several. yardstick starts it. */
#include "base/stop.h"
#include "run/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "yardstick-node: has the ranks of one host, in a run on several\n"
    "\n"
    "  yardstick-node HOST:PORT NODE        serves the study that listens there; yardstick starts it so,\n"
    "                                       with the study's token in YARDSTICK_NODE_TOKEN\n"
    "  yardstick-node --version | --help\n";

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    char *end = NULL;
    if (strcmp(word, "--help") == 0)
        return fputs(help, stdout) < 0;
    if (strcmp(word, "--version") == 0)
        return puts("yardstick-node " YS_VERSION) < 0;
    const long node = argc == 3 ? strtol(argv[2], &end, 10) : -1;
    if (node < 0 || !end || *end || end == argv[2]) {
        fprintf(stderr, "yardstick-node: expects HOST:PORT and the number of the node\n\n%s", help);
        return 2;
    }
    if (ys_stop_install() != YS_OK)
        return 1;
    return ys_node_serve(word, node);
}
