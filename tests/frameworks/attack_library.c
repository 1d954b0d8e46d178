/* The attacks as a library that a test in Python calls (attack_libraries.py). */
#include "robust/attack.h"

#define SHOWN __attribute__((visibility("default")))

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

SHOWN void attack_end(struct ys_robustness *found);
void attack_end(struct ys_robustness *found)
{
    ys_robustness_fini(found);
}
