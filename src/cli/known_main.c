/* yardstick-known: an adapter that does known things. */
#include "builtin/builtin.h"

int main(void)
{
    return ys_known_serve();
}
