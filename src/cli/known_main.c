/* yardstick-known: an adapter that does known things. */
#include "builtin/builtin.h"

#include <string.h>

int main(int argc, char **argv)
{
    return ys_known_serve(argc > 1 && strcmp(argv[1], "sleep") == 0);
}
