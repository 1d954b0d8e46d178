#include "backend/backend_list.h"

#include <string.h>

const struct ys_backend *const *ys_backends(void)
{
    static const struct ys_backend *const list[] = {
#if YS_HAS_ONEDNN
        &ys_backend_onednn,
#endif
        &ys_backend_simd,
        &ys_backend_ref,
        NULL
    };
    return list;
}

const char *ys_backend_left_out(const char *name)
{
    return YS_HAS_ONEDNN || strcmp(name, "onednn") != 0
               ? NULL
               : "the back end onednn is not built in: install version 2 of the oneDNN library (on Debian libdnnl-dev) "
                 "and build yardstick anew, or take another of `yardstick-builtin --backends`";
}
