#include "metric/metric.h"

#include "base/fs.h"
#include "base/mem.h"
#include "tap.h"

#include <stdlib.h>

static void every_metric_has_a_text_that_agrees_with_it(void)
{
    ys_json *list = NULL;
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    ys_status status = ys_metric_list(&list);
    if (status != YS_OK)
        printf("# %s\n", ys_error());
    REQUIRE(status == YS_OK);
    CHECK_INT(ys_json_size(list), count);
    for (size_t i = 0; i < count; i++) {
        const ys_json *text = ys_json_at(list, i);
        CHECK_TEXT(ys_json_get_text(text, "name", ""), infos[i].name);
        CHECK(strlen(ys_json_get_text(text, "formula", "")) > 5);
        CHECK(strlen(ys_json_get_text(text, "limits", "")) > 20);
        CHECK(!strstr(ys_json_get_text(text, "limits", ""), "\n"));
    }
    ys_json_free(list);
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
        ys_json *list = NULL;
        ys_mem_fail_at(n);
        ys_status status = ys_metric_list(&list);
        ys_mem_fail_at(0);
        CHECK((status == YS_OK) == (list != NULL));
        bool whole = ys_json_size(list) > 0;
        ys_json_free(list);
        failed += status != YS_OK;
        if (whole && n > 100)
            break;
    }
    CHECK(failed > 100);
}

TAP_MAIN(TAP_CASE(every_metric_has_a_text_that_agrees_with_it), TAP_CASE(metrics_are_found_by_name),
         TAP_CASE(names_are_unique_and_say_their_unit), TAP_CASE(every_shortage_of_memory_is_reported))
