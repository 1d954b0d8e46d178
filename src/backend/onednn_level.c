#include "backend/level.h"
#include "backend/onednn.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

/* Each includes the bits of those below it. */
static const struct {
    dnnl_cpu_isa_t isa;
    const char *name;
} instructions[] = {
    {dnnl_cpu_isa_avx512_core_amx, "AVX512-BF16 and AMX"},
    {dnnl_cpu_isa_avx512_core_bf16, "AVX512-BF16"},
    {dnnl_cpu_isa_avx512_core_vnni, "AVX-512 with VNNI"},
    {dnnl_cpu_isa_avx512_core, "AVX-512"},
    {dnnl_cpu_isa_avx2_vnni, "AVX2 with VNNI"},
    {dnnl_cpu_isa_avx2, "AVX2"},
    {dnnl_cpu_isa_avx, "AVX"},
    {dnnl_cpu_isa_sse41, "SSE4.1"},
};

static bool has(dnnl_cpu_isa_t isa)
{
    return ((unsigned)dnnl_get_effective_cpu_isa() & (unsigned)isa) == (unsigned)isa;
}

const char *ys_level_name(void)
{
    for (size_t i = 0; i < sizeof instructions / sizeof instructions[0]; i++)
        if (has(instructions[i].isa))
            return instructions[i].name;
    return "the instructions of every CPU of its kind";
}

static int find_width(void)
{
#ifdef __x86_64__
    if (has(dnnl_cpu_isa_avx512_core) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return 4;
    if (has(dnnl_cpu_isa_avx2) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma"))
        return 3;
#endif
    return 1;
}

int ys_level_width(void)
{
    static atomic_int known; /* `ref` asks at every product */
    int width = atomic_load_explicit(&known, memory_order_relaxed);
    if (!width) {
        width = find_width();
        atomic_store_explicit(&known, width, memory_order_relaxed);
    }
    return width;
}

const char *ys_level_lacks_bf16(void)
{
    static _Thread_local char text[160];
    if (has(dnnl_cpu_isa_avx512_core_bf16))
        return NULL;
    snprintf(text, sizeof text,
             "bf16 needs a processor with AVX512-BF16, and this process computes with %s: take f32 or f64",
             ys_level_name());
    return text;
}
