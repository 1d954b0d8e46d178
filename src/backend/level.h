/* The instructions that this process computes with: those that the processor has, as far as ONEDNN_MAX_CPU_ISA lets
 * them be used. oneDNN reads that variable, when it is first asked; our kernels and `ref` follow it, so that it alone
 * makes the whole of an older machine. */
#ifndef YS_BACKEND_LEVEL_H
#define YS_BACKEND_LEVEL_H

#include <stddef.h>

/** For people, the widest of them: "AVX512-BF16". */
const char *ys_level_name(void);
/** The level of x86-64 whose instructions all are among them: 4, 3 or 1. */
int ys_level_width(void);
/** Why there is no bf16, and what to do: without instructions that multiply such numbers nothing computes in it. NULL
 * where there are. */
const char *ys_level_lacks_bf16(void);

#endif
