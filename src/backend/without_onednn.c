/* What stands in the place of oneDNN's files where the library is not built in. */
#include "backend/level.h"
#include "backend/product_peak.h"
#include "engine/backend.h"

#include <stdlib.h>
#include <strings.h>

/** Of the levels that kernels of ours know; nothing here computes with what the others add. */
static bool processor_has(enum ys_level level)
{
#ifdef __x86_64__
    switch (level) {
    case YS_LEVEL_SSE41:
        return __builtin_cpu_supports("sse4.1");
    case YS_LEVEL_AVX:
        return __builtin_cpu_supports("avx");
    case YS_LEVEL_AVX2:
        return __builtin_cpu_supports("avx2");
    case YS_LEVEL_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    case YS_LEVEL_AVX2_VNNI:
    case YS_LEVEL_AVX512_VNNI:
    case YS_LEVEL_AVX512_BF16:
    case YS_LEVEL_AMX:
    case YS_LEVEL_COUNT:
        break;
    }
#else
    (void)level;
#endif
    return false;
}

/** As the library reads it: the second variable where the first is not set, and a word that is none limits nothing. */
static enum ys_level limit(void)
{
    static const char *const words[YS_LEVEL_COUNT] = {
        [YS_LEVEL_SSE41] = "SSE41",
        [YS_LEVEL_AVX] = "AVX",
        [YS_LEVEL_AVX2] = "AVX2",
        [YS_LEVEL_AVX2_VNNI] = "AVX2_VNNI",
        [YS_LEVEL_AVX512] = "AVX512_CORE",
        [YS_LEVEL_AVX512_VNNI] = "AVX512_CORE_VNNI",
        [YS_LEVEL_AVX512_BF16] = "AVX512_CORE_BF16",
        [YS_LEVEL_AMX] = "AVX512_CORE_AMX",
    };
    const char *word = getenv("ONEDNN_MAX_CPU_ISA");
    if (!word || !*word)
        word = getenv("DNNL_MAX_CPU_ISA");
    for (int level = 0; word && level < YS_LEVEL_COUNT; level++)
        if (strcasecmp(word, words[level]) == 0)
            return (enum ys_level)level;
    return YS_LEVEL_COUNT;
}

bool ys_level_has(enum ys_level level)
{
    return level <= limit() && processor_has(level);
}

ys_status ys_peak_product(const struct ys_peak_product *product, enum ys_engine_precision precision, int threads,
                          int repeats, double *seconds)
{
    (void)product, (void)precision, (void)threads, (void)repeats, (void)seconds;
    return ys_fail(YS_EUNSUPPORTED, "%s", ys_backend_left_out("onednn"));
}
