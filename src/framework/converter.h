/* Networks as files that a framework's own converter or quantiser makes of them: where that takes packages which the
 * framework itself does without, a recipe of kind tool has them, and a program of yardstick's runs among them, once for
 * each network. */
#ifndef YS_FRAMEWORK_CONVERTER_H
#define YS_FRAMEWORK_CONVERTER_H

#include "base/hash.h"
#include "framework/recipe.h"
#include "protocol/plan.h"

#define YS_CONVERTED_SHELF "converted" /* in the cache */

struct ys_converter {
    char *spec;                   /* "litert-converter@0.10.0": the tool and its version */
    char *script, *interpreter;   /* what is run, by what */
    char *environment;            /* envs/NAME@VERSION */
    char *reason;                 /* why it cannot be run; NULL when it can */
    char closure[YS_SHA256_TEXT]; /* over the script and what it imports, the tool's recipe and packages */
};

/** What `recipe` names by its key "converter" or "quantiser", installed or not. YS_EFORMAT: that is no recipe of kind
 * tool. */
ys_status ys_converter_find(const struct ys_recipe *recipe, const char *key, const char *const *recipe_dirs,
                            struct ys_converter **converter) YS_MUST_CHECK;
void ys_converter_free(struct ys_converter *converter); /* NULL is fine */

/** Sets the plan's member `converted`: the file made of its graph and weights, for its batch and with its options, in
 * its folder. It is made once and kept in the cache, by the hash of all that it depends on. The program is called
 * `SCRIPT GRAPH WEIGHTS BATCH OPTIONS OUT`, OPTIONS as JSON, for a plan with a member `quantise` with that and the path
 * of the network as `onnx`, where there is one, and writes the file OUT; exit code 3 says that the network
 * cannot be had in that form (`unsupported`, which is kept too), another that it failed (`build_failed`), and its last
 * line why: that is YS_OK, and what the adapter answers with. YS_EBUSY: the environment is being made or removed.
 * YS_EINTR, YS_EIO. */
ys_status ys_converter_convert(const struct ys_converter *converter, struct ys_plan *plan) YS_MUST_CHECK;

#endif
