#include "backend/list.h"

const struct ys_backend *const *ys_backends(void)
{
    static const struct ys_backend *const list[] = {&ys_backend_onednn, &ys_backend_simd, &ys_backend_ref, NULL};
    return list;
}
