/* The metrics there are. The table is made from metrics/ by tools/metric_infos.py. */
#include "metric/metric.h"

#include "base/mem.h"
#include "metric/build.h"

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

ys_status ys_metric_list(ys_json **list)
{
    ys_json *all = ys_json_array();
    ys_status status = all ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < ys_metric_table_size; i++) {
        const struct ys_metric_info *info = &ys_metric_table[i];
        ys_json *object = ys_json_object();
        ys_put_text(&status, object, "name", info->name);
        ys_put_text(&status, object, "title", info->title);
        ys_put_text(&status, object, "unit", info->unit);
        ys_put_text(&status, object, "better", ys_better_name(info->better));
        ys_put_text(&status, object, "formula", info->formula);
        ys_put_text(&status, object, "source", info->source);
        ys_put_text(&status, object, "limits", info->limits);
        if (status == YS_OK)
            status = ys_json_append(all, object);
        else
            ys_json_free(object);
    }
    return ys_built(status, all, list);
}

ys_status ys_metric_texts(ys_json **texts)
{
    ys_json *all = ys_json_object();
    ys_status status = all ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < ys_metric_table_size; i++) {
        const struct ys_metric_info *info = &ys_metric_table[i];
        ys_json *object = ys_json_object();
        ys_put_text(&status, object, "title", info->title);
        ys_put_text(&status, object, "ratio", info->ratio);
        ys_put_text(&status, object, "unit", info->unit);
        ys_put_text(&status, object, "kind", info->kind);
        ys_put_text(&status, object, "better", ys_better_name(info->better));
        ys_put(&status, all, info->name, object);
    }
    return ys_built(status, all, texts);
}
