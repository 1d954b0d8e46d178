/* The metrics there are. The table is made from metrics/ by tools/metric_infos.py. */
#include "metric/metric.h"

#include "base/mem.h"
#include "base/nearest_name.h"
#include "metric/json_builder.h"

#include <string.h>

extern const struct ys_metric_info ys_metric_table[];
extern const size_t ys_metric_table_size;

const struct ys_metric_info *ys_metric_infos(size_t *count)
{
    *count = ys_metric_table_size;
    return ys_metric_table;
}

const struct ys_metric_info *ys_metric_find(const char *name)
{
    for (size_t i = 0; i < ys_metric_table_size; i++)
        if (strcmp(ys_metric_table[i].name, name) == 0)
            return &ys_metric_table[i];
    return NULL;
}

ys_status ys_metric_named(const char *name, const struct ys_metric_info **info)
{
    *info = ys_metric_find(name);
    if (*info)
        return YS_OK;
    const char **names = ys_alloc(ys_metric_table_size + 1, sizeof *names);
    for (size_t i = 0; i < ys_metric_table_size; i++)
        names[i] = ys_metric_table[i].name;
    const char *near = ys_nearest(name, names);
    ys_free(names);
    return ys_fail(YS_EINVAL, "there is no metric \"%s\"%s%s%s (`yardstick list metrics`)", name,
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

#define INFO               struct ys_metric_info
#define TEXT(member, what) YS_FIELD(INFO, member, YS_FIELD_TEXT, NULL, 0, what)
static const struct ys_field listed[] = {
    TEXT(name, "of the metric"),
    TEXT(title, "for people"),
    TEXT(unit, "SI"),
    YS_FIELD_NAMED(INFO, better, &ys_betters, 0, "which direction is"),
    TEXT(formula, "how it is computed"),
    TEXT(source, "where the numbers come from"),
    TEXT(limits, "what it cannot tell"),
};
const struct ys_record ys_metric_listed_record = YS_RECORD("metric", INFO, listed);

ys_json *ys_metric_texts(void)
{
    ys_json *all = ys_json_object();
    for (size_t i = 0; i < ys_metric_table_size; i++) {
        const struct ys_metric_info *info = &ys_metric_table[i];
        ys_json *object = ys_json_object();
        ys_json_set_string(object, "title", info->title);
        ys_json_set_string(object, "ratio", info->ratio);
        ys_json_set_string(object, "unit", info->unit);
        ys_json_set_string(object, "kind", ys_name_of(&ys_kinds, (int)info->kind));
        ys_json_set_string(object, "better", ys_name_of(&ys_betters, (int)info->better));
        ys_json_set(all, info->name, object);
    }
    return all;
}

ys_json *ys_metric_in_order(const ys_json *metrics)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    ys_json *object = ys_json_object();
    for (size_t i = 0; i < count; i++) {
        const ys_json *metric = ys_json_get(metrics, infos[i].name);
        if (!metric)
            ys_assert_failed("each metric that has a file in metrics/ is computed: this one", infos[i].name, 0);
        ys_put_ref(object, infos[i].name, metric);
    }
    return object;
}
