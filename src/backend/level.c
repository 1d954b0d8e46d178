#include "backend/level.h"
#include "engine/backend.h"

#include <stdatomic.h>
#include <stdio.h>

static const char *const names[YS_LEVEL_COUNT] = {
    [YS_LEVEL_SSE41] = "SSE4.1",
    [YS_LEVEL_AVX] = "AVX",
    [YS_LEVEL_AVX2] = "AVX2",
    [YS_LEVEL_AVX2_VNNI] = "AVX2 with VNNI",
    [YS_LEVEL_AVX512] = "AVX-512",
    [YS_LEVEL_AVX512_VNNI] = "AVX-512 with VNNI",
    [YS_LEVEL_AVX512_BF16] = "AVX512-BF16",
    [YS_LEVEL_AMX] = "AVX512-BF16 and AMX",
};

const char *ys_level_name(void)
{
    for (int level = YS_LEVEL_COUNT; level-- > 0;)
        if (ys_level_has((enum ys_level)level))
            return names[level];
#ifdef __aarch64__
    return "NEON";
#elif defined __wasm_simd128__
    return "WebAssembly SIMD";
#else
    return "the instructions of every CPU of its kind";
#endif
}

static int find_width(void)
{
#ifdef __x86_64__
    if (ys_level_has(YS_LEVEL_AVX512) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return 4;
    if (ys_level_has(YS_LEVEL_AVX2) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
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

/* Formats that not every processor multiplies; all but plain C's need the library. */
static const struct {
    bool is_needed;
    enum ys_level level;
} needs[] = {[YS_ENGINE_BF16] = {true, YS_LEVEL_AVX512_BF16}};

const char *ys_level_lacks(enum ys_engine_precision precision)
{
    static _Thread_local char text[160];
    const char *format = ys_engine_precision_name(precision);
    if (!needs[precision].is_needed || ys_level_has(needs[precision].level))
        return NULL;
    if (ys_backend_left_out("onednn"))
        snprintf(text, sizeof text, "%s needs the back end onednn, which is not built in: take f32 or f64", format);
    else
        snprintf(text, sizeof text, "%s needs a processor with %s, and this process computes with %s: take f32 or f64",
                 format, names[needs[precision].level], ys_level_name());
    return text;
}
