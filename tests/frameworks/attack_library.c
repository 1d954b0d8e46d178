/* The attacks as a library that a test in Python calls (attack_libraries.py). */
#include "base/rng.h"
#include "robust/attack.h"

#define SHOWN __attribute__((visibility("default")))

/** Of the structs that the test has as its own. */
SHOWN extern const size_t attack_sizes[4];
const size_t attack_sizes[4] = {sizeof(struct ys_attacked), sizeof(struct ys_attack_spec), sizeof(struct ys_robustness),
                                sizeof(struct ys_attack_result)};

/** Attacks by one word; NULL, or why not. */
SHOWN const char *attack_by_word(const char *word, const struct ys_attacked *model, struct ys_attack_spec *spec,
                                 struct ys_robustness *found);
const char *attack_by_word(const char *word, const struct ys_attacked *model, struct ys_attack_spec *spec,
                           struct ys_robustness *found)
{
    ys_status status = ys_attacks_read(word, &spec->attacks);
    if (status == YS_OK)
        status = ys_attack_model(model, spec, found);
    return status == YS_OK ? NULL : ys_error();
}

/** What attacks draw by lot: values [out, count] of (0, 1). */
SHOWN void attack_uniforms(uint64_t seed, const char *name, size_t count, double *values);
void attack_uniforms(uint64_t seed, const char *name, size_t count, double *values)
{
    struct ys_rng rng;
    ys_rng_init(&rng, seed, name);
    for (size_t i = 0; i < count; i++)
        values[i] = ys_rng_uniform(&rng);
}

SHOWN void attack_end(struct ys_robustness *found);
void attack_end(struct ys_robustness *found)
{
    ys_robustness_fini(found);
}
