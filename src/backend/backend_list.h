/* The back ends that are compiled in. */
#ifndef YS_BACKEND_BACKEND_LIST_H
#define YS_BACKEND_BACKEND_LIST_H

#include "engine/backend.h"

extern const struct ys_backend ys_backend_ref, ys_backend_simd;
extern const struct ys_backend ys_backend_onednn;

#endif
