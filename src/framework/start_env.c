#include "framework/start_env.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/process/steering.h"

#include <string.h>

/* Every pool that reads its size from the environment. A pool that is left alone takes all CPUs it can see, and
 * two pools of different sizes in one process is how "one thread" comes to use two cores. */
static const char *const POOLS[] = {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
                                    "NUMEXPR_NUM_THREADS"};
#define POOL_COUNT (sizeof POOLS / sizeof POOLS[0])

void ys_start_env_free(char **env)
{
    for (size_t i = 0; env && env[i]; i++)
        ys_free(env[i]);
    ys_free(env);
}

/* Puts `pair` ("NAME=value", taken) into the list, in place of an earlier value of the same name. */
static void put(char **env, size_t *count, char *pair)
{
    size_t name = strcspn(pair, "=") + 1;
    for (size_t i = 0; i < *count; i++) {
        if (strncmp(env[i], pair, name) == 0) {
            ys_free(env[i]);
            env[i] = pair;
            return;
        }
    }
    env[(*count)++] = pair;
}

/* `variable` of a recipe with every {opt.NAME} filled in. New string. */
static char *fill_in(const struct ys_framework *framework, const char *variable, const ys_json *options)
{
    char *text = ys_strdup(variable);
    for (void *it = ys_json_iter(framework->options); it; it = ys_json_next(framework->options, it)) {
        const char *name = ys_json_iter_key(it);
        const ys_json *value = ys_json_get(options, name);
        char *word = ys_format("{opt.%s}", name);
        char *given = ys_json_type_of(value) == YS_JSON_STRING ? ys_strdup(ys_json_text(value, ""))
                      : value                                  ? ys_json_dump(value, YS_JSON_COMPACT)
                                                               : ys_strdup("");
        char *filled = given ? ys_replace(text, word, given) : NULL;
        ys_free(word);
        ys_free(given);
        ys_free(text);
        text = filled;
    }
    return text;
}

static bool is_for(const struct ys_framework *framework, const char *variable)
{
    const struct ys_steering *row = ys_steering_of(variable);
    return !framework->is_own || (row && row->rule == YS_STEERING_EVERYWHERE);
}

void ys_start_env(const struct ys_framework *framework, int threads, const ys_json *options, const ys_json *extra,
                  char ***env)
{
    size_t own = 0, count = 0;
    while (framework->env[own])
        own++;
    char **list = ys_alloc(POOL_COUNT + own + ys_json_size(extra) + 1, sizeof *list);
    for (size_t i = 0; i < POOL_COUNT; i++)
        put(list, &count, ys_format("%s=%d", POOLS[i], threads));
    for (size_t i = 0; i < own; i++)
        put(list, &count, fill_in(framework, framework->env[i], options));
    for (void *it = ys_json_iter(extra); it; it = ys_json_next(extra, it))
        if (is_for(framework, ys_json_iter_key(it)))
            put(list, &count, ys_format("%s=%s", ys_json_iter_key(it), ys_json_text(ys_json_iter_value(it), "")));
    *env = list;
}
