#include "cli/command.h"

int ys_command_clean(const struct ys_args *args)
{
    return ys_command_fail(ys_fail(YS_EUNSUPPORTED, "%s is not yet available", args->verb));
}
