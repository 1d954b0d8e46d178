/* The variables that an adapter starts with, over those of yardstick itself. */
#ifndef YS_FRAMEWORK_START_ENV_H
#define YS_FRAMEWORK_START_ENV_H

#include "framework/framework.h"

/** The thread pools' variables for `threads`, then the recipe's own, where {opt.NAME} becomes what `options`
 * ({NAME: value}, may be NULL) has for it, nothing without, then `extra` ({NAME: "value"}, may be NULL), of
 * which yardstick's own engine gets the level of instructions alone: a later one replaces an earlier one. New list
 * ended by NULL in *env; free with ys_start_env_free(). */
void ys_start_env(const struct ys_framework *framework, int threads, const ys_json *options, const ys_json *extra,
                  char ***env);
void ys_start_env_free(char **env);

#endif
