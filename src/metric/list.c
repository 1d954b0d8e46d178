/* metrics/NAME.metric: `key: text` a line; a line that begins with a space goes on with the text before it. */
#include "metric/metric.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "metric/build.h"

#include <string.h>

#define MAX_BYTES 65536

static const char *const keys[] = {"name", "unit", "better", "formula", "source", "limits"};
enum { KEYS = sizeof keys / sizeof keys[0] };

static ys_status put_text(ys_json *object, const char *path, const char *key, struct ys_buf *text)
{
    bool known = false;
    for (int i = 0; i < KEYS; i++)
        known = known || strcmp(keys[i], key) == 0;
    if (!known || ys_json_get(object, key))
        return ys_fail(YS_EFORMAT, "%s: the key `%s` is unknown or comes twice", path, key);
    return ys_json_set_string(object, key, ys_buf_text(text));
}

static ys_status parse(const char *path, char *text, ys_json *object)
{
    char *rest = text, *line;
    char key[32] = "";
    struct ys_buf value = {0};
    ys_status status = YS_OK;
    while (status == YS_OK && (line = strsep(&rest, "\n"))) {
        char *colon = strchr(line, ':');
        if (*line == ' ') {
            ys_buf_printf(&value, " %s", line + strspn(line, " "));
            continue;
        }
        if (*key)
            status = put_text(object, path, key, &value);
        *key = 0;
        ys_buf_clear(&value);
        if (!*line || status != YS_OK)
            continue;
        if (!colon || colon - line >= (ptrdiff_t)sizeof key) {
            status = ys_fail(YS_EFORMAT, "%s: `%s` is not `key: text`", path, line);
        } else {
            memcpy(key, line, (size_t)(colon - line));
            key[colon - line] = 0;
            ys_buf_puts(&value, colon + 1 + strspn(colon + 1, " "));
        }
    }
    if (status == YS_OK && *key)
        status = put_text(object, path, key, &value);
    ys_buf_free(&value);
    return status;
}

static ys_status check(const char *path, const struct ys_metric_info *info, const ys_json *object)
{
    for (int i = 0; i < KEYS; i++) {
        if (!*ys_json_get_text(object, keys[i], ""))
            return ys_fail(YS_EFORMAT, "%s lacks `%s`", path, keys[i]);
    }
    if (strcmp(ys_json_get_text(object, "name", ""), info->name) != 0 ||
        strcmp(ys_json_get_text(object, "unit", ""), info->unit) != 0 ||
        strcmp(ys_json_get_text(object, "better", ""), ys_better_name(info->better)) != 0)
        return ys_fail(YS_EFORMAT, "%s: name, unit and better must be %s, %s and %s", path, info->name, info->unit,
                       ys_better_name(info->better));
    return YS_OK;
}

static ys_status read_one(const char *folder, const struct ys_metric_info *info, ys_json *list)
{
    char *path = ys_format("%s/%s.metric", folder, info->name);
    ys_json *object = ys_json_object();
    struct ys_buf text = {0};
    ys_status status = path && object ? ys_fs_read(path, MAX_BYTES, &text) : ys_out_of_memory();
    if (status == YS_OK)
        status = parse(path, text.data ? text.data : (char[]){""}, object);
    if (status == YS_OK)
        status = check(path, info, object);
    if (status == YS_OK)
        status = ys_json_append(list, ys_json_ref(object));
    ys_json_free(object);
    ys_buf_free(&text);
    ys_free(path);
    return status;
}

ys_status ys_metric_list(ys_json **list)
{
    char *folder = ys_find_support("metrics");
    if (!folder)
        return ys_fail(
            YS_ENOTFOUND,
            "the folder metrics/ is nowhere beside the program: set YARDSTICK_HOME to yardstick's own folder");
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    ys_json *array = ys_json_array();
    ys_status status = array ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < count; i++)
        status = read_one(folder, &infos[i], array);
    ys_free(folder);
    return ys_built(status, array, list);
}
