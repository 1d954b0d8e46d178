#include "framework/recipe_models.h"

#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"

#include <glob.h>
#include <string.h>

/* Kept until the process ends: who found a model may keep it. */
static struct ys_model *models;

/* Whether the file is of a model's usual data: NAME.json, with no other dot. */
static bool is_usual(const char *path)
{
    const char *base = ys_path_base(path);
    return strchr(base, '.') == strrchr(base, '.');
}

static ys_status read_model(const char *path, struct ys_model *model)
{
    struct ys_model_choice choice;
    YS_TRY(ys_model_choose(path, &choice));
    *model = (struct ys_model){.name = ys_strdup(ys_json_get_text(choice.json, "name", "")),
                               .title = ys_strdup(ys_json_get_text(choice.json, "title", "")),
                               .usual = choice.usual,
                               .path = ys_strdup(path)};
    model->usual.scale = 1.0 / 255; /* what all data sets have; the graphs are made for it */
    ys_model_choice_fini(&choice);
    return YS_OK;
}

static void read_all(void)
{
    glob_t found = {0};
    char *folder = ys_find_support("frameworks"), *pattern = folder ? ys_path_join(folder, "*/models/*.json") : NULL;
    size_t count = pattern && glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0, used = 0;
    models = ys_alloc(count + 1, sizeof *models);
    for (size_t i = 0; i < count; i++) {
        if (!is_usual(found.gl_pathv[i]))
            continue;
        if (read_model(found.gl_pathv[i], &models[used]) == YS_OK)
            used++;
        else
            ys_log_warn("a network of a framework is left out: %s", ys_error());
    }
    globfree(&found);
    ys_free(pattern);
    ys_free(folder);
}

const struct ys_model *ys_framework_models(void)
{
    static const struct ys_model none = {0};
    if (!models)
        read_all();
    return models ? models : &none;
}
