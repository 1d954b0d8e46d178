/* yardstick-null: an adapter that does no work. */
#include "builtin/builtin.h"

int main(void)
{
    return ys_null_serve();
}
