#include "backend/level.h"
#include "backend/onednn/onednn.h"

bool ys_level_has(enum ys_level level)
{
    /* Each includes the bits of those below it. */
    static const dnnl_cpu_isa_t instructions[YS_LEVEL_COUNT] = {
        [YS_LEVEL_SSE41] = dnnl_cpu_isa_sse41,
        [YS_LEVEL_AVX] = dnnl_cpu_isa_avx,
        [YS_LEVEL_AVX2] = dnnl_cpu_isa_avx2,
        [YS_LEVEL_AVX2_VNNI] = dnnl_cpu_isa_avx2_vnni,
        [YS_LEVEL_AVX512] = dnnl_cpu_isa_avx512_core,
        [YS_LEVEL_AVX512_VNNI] = dnnl_cpu_isa_avx512_core_vnni,
        [YS_LEVEL_AVX512_BF16] = dnnl_cpu_isa_avx512_core_bf16,
        [YS_LEVEL_AMX] = dnnl_cpu_isa_avx512_core_amx,
    };
    return ((unsigned)dnnl_get_effective_cpu_isa() & (unsigned)instructions[level]) == (unsigned)instructions[level];
}
