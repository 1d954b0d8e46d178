#include "campaign/search_space.h"

#include "base/mem.h"
#include "base/nearest_name.h"
#include "job/ini.h"

#include <string.h>

static const char *const searched[YS_GRID_KEYS + 1] = {"optimizer", "lr",        "momentum", "weight_decay",
                                                       "schedule",  "clip_norm", "batch",    NULL};

static ys_status find_key(const struct ys_grid *grid, const char *name, const char **key)
{
    const char *near = ys_nearest(name, searched);
    *key = NULL;
    for (size_t i = 0; searched[i]; i++)
        if (strcmp(searched[i], name) == 0)
            *key = searched[i];
    if (!*key)
        return ys_fail(YS_EINVAL,
                       "--over: \"%s\" is no key of training that is searched%s%s%s: optimizer, lr, momentum, "
                       "weight_decay, schedule, clip_norm and batch are",
                       name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    for (size_t i = 0; i < grid->count; i++)
        if (grid->keys[i].name == *key)
            return ys_fail(YS_EINVAL, "--over: %s stands twice: write all its values in one pair of braces", name);
    return YS_OK;
}

static ys_status read_values(const char *name, const char *text, struct ys_axis *axis)
{
    const struct ys_option *option = ys_option_find(name);
    ys_status status = ys_axis_parse(option, name, text, YS_AXIS_FILE, axis);
    for (size_t i = 0; status == YS_OK && i < axis->count; i++) {
        ys_json *value = NULL;
        status = ys_option_parse(option, name, axis->texts[i], &value);
        ys_json_free(value);
    }
    return status == YS_OK ? YS_OK : ys_fail_in(YS_EINVAL, "--over");
}

/* One KEY={...} at `*at`, which goes behind it. */
static ys_status read_key(const char **at, struct ys_grid *grid)
{
    const size_t length = strcspn(*at, "= \t");
    const char *values = *at + length + 1, *key;
    char *name = ys_strndup(*at, length);
    ys_status status = find_key(grid, name, &key);
    ys_free(name);
    YS_TRY(status);
    const bool is_braced = (*at)[length] == '=' && *values == '{';
    const size_t size = is_braced ? strcspn(values, "}") : 0;
    if (!is_braced || values[size] != '}')
        return ys_fail(YS_EINVAL, "--over: %s needs its values in braces: %s={log 1e-4..1e-1 x 13}, momentum={0, 0.9}",
                       key, strcmp(key, "lr") == 0 ? key : "lr");
    struct ys_grid_key *added = &grid->keys[grid->count++];
    char *text = ys_strndup(values, size + 1);
    added->name = key;
    status = read_values(key, text, &added->axis);
    ys_free(text);
    *at = values + size + 1;
    return status;
}

static ys_status read_all(const char *text, struct ys_grid *grid)
{
    for (text += strspn(text, " \t"); *text; text += strspn(text, " \t"))
        YS_TRY(read_key(&text, grid));
    grid->points = 1;
    for (size_t k = 0; k < grid->count; k++) {
        grid->points *= grid->keys[k].axis.count;
        if (grid->points > YS_GRID_POINTS)
            return ys_fail(YS_EINVAL, "--over: more than %d points: give fewer values", YS_GRID_POINTS);
    }
    if (grid->points == 1)
        return ys_fail(
            YS_EINVAL,
            "--over: a single point, and there is nothing to choose: run the study with it, or give more values");
    return YS_OK;
}

ys_status ys_grid_read(const char *text, struct ys_grid *grid)
{
    *grid = (struct ys_grid){0};
    ys_status status = read_all(text, grid);
    if (status != YS_OK)
        ys_grid_fini(grid);
    return status;
}

void ys_grid_fini(struct ys_grid *grid)
{
    for (size_t k = 0; k < grid->count; k++)
        ys_axis_fini(&grid->keys[k].axis);
    *grid = (struct ys_grid){0};
}

size_t ys_grid_value(const struct ys_grid *grid, size_t place, size_t k)
{
    for (size_t i = grid->count - 1; i > k; i--)
        place /= grid->keys[i].axis.count;
    return place % grid->keys[k].axis.count;
}

void ys_grid_put_lines(const struct ys_grid *grid, size_t place, struct ys_buf *lines)
{
    for (size_t k = 0; k < grid->count; k++) {
        ys_buf_printf(lines, "%s = ", grid->keys[k].name);
        ys_ini_put_value(lines, grid->keys[k].axis.texts[ys_grid_value(grid, place, k)]);
        ys_buf_puts(lines, "\n");
    }
}

char *ys_grid_name(const struct ys_grid *grid, size_t place)
{
    struct ys_buf name = {0};
    for (size_t k = 0; k < grid->count; k++)
        ys_buf_printf(&name, "%s%s=%s", k ? " " : "", grid->keys[k].name,
                      grid->keys[k].axis.texts[ys_grid_value(grid, place, k)]);
    char *text = ys_strdup(ys_buf_text(&name));
    ys_buf_free(&name);
    return text;
}
