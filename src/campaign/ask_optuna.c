#include "campaign/ask_optuna.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/number_text.h"
#include "base/process/child.h"
#include "framework/environment.h"
#include "framework/recipe.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LIMIT_S = 120;

ys_status ys_optuna_find(const char *const *recipe_dirs, struct ys_optuna *optuna)
{
    struct ys_recipe *recipe = NULL;
    struct ys_environment environment;
    ys_status status = YS_OK;
    *optuna = (struct ys_optuna){0};
    YS_TRY(ys_recipe_find("optuna", recipe_dirs, &recipe));
    ys_environment_read(recipe, recipe->versions[0], &environment);
    if (!environment.complete)
        status = ys_fail(YS_EUNSUPPORTED, "--search=tpe asks Optuna: %s; `yardstick install optuna` installs it",
                         environment.reason);
    else {
        optuna->interpreter = ys_strdup(environment.interpreter);
        optuna->script = ys_recipe_find_code(recipe, "optuna_ask.py");
    }
    ys_environment_fini(&environment);
    ys_recipe_free(recipe);
    return status;
}

void ys_optuna_fini(struct ys_optuna *optuna)
{
    ys_free(optuna->interpreter);
    ys_free(optuna->script);
    *optuna = (struct ys_optuna){0};
}

static void put_values(const struct ys_grid *grid, size_t place, struct ys_buf *text)
{
    for (size_t k = 0; k < grid->count; k++)
        ys_buf_printf(text, "%s%zu", k ? "," : "", ys_grid_value(grid, place, k));
}

static ys_status read_place(const struct ys_grid *grid, const char *said, size_t *place)
{
    size_t found = 0;
    const char *at = said;
    for (size_t k = 0; k < grid->count; k++) {
        char *end;
        const long value = strtol(at, &end, 10);
        if (end == at || value < 0 || (size_t)value >= grid->keys[k].axis.count ||
            *end != (k + 1 < grid->count ? ',' : 0))
            return ys_fail(YS_EIO, "Optuna was asked for a point and said \"%.80s\"; --search=halving does without it",
                           said);
        found = found * grid->keys[k].axis.count + (size_t)value;
        at = end + 1;
    }
    *place = found;
    return YS_OK;
}

/* "PLACE=WORTH" of each that was judged, "PLACE=refused" of the others. */
static char **words_of(const struct ys_grid *grid, uint64_t seed, const struct ys_search *search)
{
    char **words = ys_alloc(search->count + search->skipped + 3, sizeof *words);
    struct ys_buf counts = {0};
    for (size_t k = 0; k < grid->count; k++)
        ys_buf_printf(&counts, "%s%zu", k ? "," : "", grid->keys[k].axis.count);
    words[0] = ys_format("%" PRIu64, seed);
    words[1] = ys_buf_take(&counts);
    for (size_t i = 0; i < search->count; i++) {
        struct ys_buf word = {0};
        const double worth = ys_search_worth(&search->points[i]);
        put_values(grid, search->points[i].place, &word);
        ys_buf_puts(&word, "=");
        if (isfinite(worth))
            ys_buf_put_real(&word, worth);
        else
            ys_buf_puts(&word, "inf");
        words[2 + i] = ys_buf_take(&word);
    }
    for (size_t i = 0; i < search->skipped; i++) {
        struct ys_buf word = {0};
        put_values(grid, search->refused[i], &word);
        ys_buf_puts(&word, "=refused");
        words[2 + search->count + i] = ys_buf_take(&word);
    }
    return words;
}

ys_status ys_optuna_ask(const struct ys_optuna *optuna, const struct ys_grid *grid, uint64_t seed,
                        const struct ys_search *search, size_t *place)
{
    const struct ys_child_options options = {.env = ys_environment_variables, .timeout_s = LIMIT_S};
    char **words = words_of(grid, seed, search);
    const char **argv = ys_alloc(search->count + search->skipped + 5, sizeof *argv);
    struct ys_buf said = {0};
    int code = 0;
    argv[0] = optuna->interpreter;
    argv[1] = optuna->script;
    for (size_t i = 0; words[i]; i++)
        argv[2 + i] = words[i];
    ys_status status = ys_child_run(argv, &options, &said, &code);
    if (status == YS_OK && code != 0)
        status = ys_fail(
            YS_EIO, "Optuna was asked for a point and ended with exit code %d; --search=halving does without it", code);
    if (status == YS_OK) {
        char *text = ys_strdup(ys_buf_text(&said));
        status = read_place(grid, ys_child_last_line(text), place);
        ys_free(text);
    }
    for (size_t i = 0; words[i]; i++)
        ys_free(words[i]);
    ys_free(words);
    ys_free(argv);
    ys_buf_free(&said);
    return status;
}
