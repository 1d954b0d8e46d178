/* Optuna asked for the next point of a search (search = tpe): a program of its own, in an environment of its own
 * (frameworks/optuna.recipe), so that nothing of it is linked. It is told all that was judged each time, and keeps
 * nothing. adapters/optuna_ask.py */
#ifndef YS_CAMPAIGN_ASK_OPTUNA_H
#define YS_CAMPAIGN_ASK_OPTUNA_H

#include "campaign/search.h"
#include "campaign/search_space.h"

struct ys_optuna {
    char *interpreter, *script;
};

/** `optuna` is overwritten. YS_EUNSUPPORTED: it is not installed. */
ys_status ys_optuna_find(const char *const *recipe_dirs, struct ys_optuna *optuna) YS_MUST_CHECK;
void ys_optuna_fini(struct ys_optuna *optuna);
/** The point that it would try. YS_EIO: it failed, or named none of the grid. */
ys_status ys_optuna_ask(const struct ys_optuna *optuna, const struct ys_grid *grid, uint64_t seed,
                        const struct ys_search *search, size_t *place) YS_MUST_CHECK;

#endif
