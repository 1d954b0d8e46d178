#include "metric/metric.h"

#include "base/fs.h"
#include "base/mem.h"
#include "tap.h"

#include <stdlib.h>

static void every_metric_has_a_text_that_agrees_with_it(void)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    CHECK(count > 20);
    for (size_t i = 0; i < count; i++) {
        ys_json *told = ys_record_json(&ys_metric_listed_record, &infos[i]);
        CHECK_TEXT(ys_json_get_text(told, "name", ""), infos[i].name);
        CHECK_TEXT(ys_json_get_text(told, "better", ""), ys_better_name(infos[i].better));
        CHECK(strlen(ys_json_get_text(told, "formula", "")) > 5);
        CHECK(strlen(ys_json_get_text(told, "limits", "")) > 20);
        CHECK(!strstr(ys_json_get_text(told, "limits", ""), "\n"));
        ys_json_free(told);
    }
}

static void metrics_are_found_by_name(void)
{
    CHECK(ys_metric_find("rate_per_s") && ys_metric_find("rate_per_s")->better == YS_BETTER_HIGHER);
    CHECK(!ys_metric_find("speed"));
}

static void names_are_unique_and_say_their_unit(void)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    for (size_t i = 0; i < count; i++) {
        CHECK(ys_metric_find(infos[i].name) == &infos[i]);
        size_t length = strlen(infos[i].name);
        if (strcmp(infos[i].unit, "s") == 0)
            CHECK(strcmp(infos[i].name + length - 2, "_s") == 0);
        if (strcmp(infos[i].unit, "B") == 0)
            CHECK(strcmp(infos[i].name + length - 6, "_bytes") == 0);
        if (strcmp(infos[i].unit, "1/s") == 0)
            CHECK(strcmp(infos[i].name + length - 6, "_per_s") == 0);
    }
}

static void every_shortage_of_memory_is_reported(void)
{
    int failed = 0;
    for (int n = 1; n < 20000; n++) {
        ys_json *texts = NULL;
        ys_mem_fail_at(n);
        ys_status status = ys_metric_texts(&texts);
        ys_mem_fail_at(0);
        CHECK((status == YS_OK) == (texts != NULL));
        bool whole = ys_json_size(texts) > 0;
        ys_json_free(texts);
        failed += status != YS_OK;
        if (whole && n > 100)
            break;
    }
    CHECK(failed > 100);
}

TAP_MAIN(TAP_CASE(every_metric_has_a_text_that_agrees_with_it), TAP_CASE(metrics_are_found_by_name),
         TAP_CASE(names_are_unique_and_say_their_unit), TAP_CASE(every_shortage_of_memory_is_reported))
