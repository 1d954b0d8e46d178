/* The instructions that this process computes with: those that the processor has, as far as ONEDNN_MAX_CPU_ISA lets
 * them be used. Where oneDNN is built in it reads that variable, when it is first asked, and our kernels and `ref`
 * follow it, so that it alone makes the whole of an older machine; without the library we read it ourselves. */
#ifndef YS_BACKEND_LEVEL_H
#define YS_BACKEND_LEVEL_H

#include "yardstick/engine.h"
#include <stdbool.h>
#include <stddef.h>

/** For people, the widest of them: "AVX512-BF16"; "NEON" on aarch64. */
const char *ys_level_name(void);
/** The level of x86-64 whose instructions all are among them: 4, 3 or 1. */
int ys_level_width(void);
/** Why the format is not here, and what to do: without instructions that multiply such numbers nothing computes in it.
 * NULL where it is. */
const char *ys_level_lacks(enum ys_engine_precision precision);

/* What ONEDNN_MAX_CPU_ISA can name. */
enum ys_level {
    YS_LEVEL_SSE41,
    YS_LEVEL_AVX,
    YS_LEVEL_AVX2,
    YS_LEVEL_AVX2_VNNI,
    YS_LEVEL_AVX512,
    YS_LEVEL_AVX512_VNNI,
    YS_LEVEL_AVX512_BF16,
    YS_LEVEL_AMX,
    YS_LEVEL_COUNT
};
/** Whether something here computes with these instructions. onednn_level.c asks the library, without_onednn.c the
 * variable and the processor; both are for level.c. */
bool ys_level_has(enum ys_level level);

/* What is compiled for every level of x86-64 (src/meson.build): its declarations, and the one for this processor. */
#ifdef __x86_64__
#define YS_FORMS(type, name) extern type name, name##_v3, name##_v4
#define YS_FORM(name)        (ys_level_width() == 4 ? &name##_v4 : ys_level_width() == 3 ? &name##_v3 : &name)
#else
#define YS_FORMS(type, name) extern type name
#define YS_FORM(name)        (&name)
#endif

#endif
