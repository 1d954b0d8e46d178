#include "metric/metric.h"

#include "base/files/fs.h"
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
        CHECK_TEXT(ys_json_get_text(told, "better", ""), ys_name_of(&ys_betters, (int)infos[i].better));
        const char *formula = ys_json_get_text(told, "formula", ""), *limits = ys_json_get_text(told, "limits", "");
        tap_check(strlen(formula) > 5, __LINE__, "%s: formula is \"%s\"", infos[i].name, formula);
        tap_check(strlen(limits) > 20 && !strstr(limits, "\n"), __LINE__, "%s: limits is \"%s\"", infos[i].name,
                  limits);
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
        const char *unit = infos[i].unit, *name = infos[i].name;
        const char *end = strcmp(unit, "s") == 0     ? "_s"
                          : strcmp(unit, "B") == 0   ? "_bytes"
                          : strcmp(unit, "1/s") == 0 ? "_per_s"
                                                     : "";
        const size_t length = strlen(name), tail = strlen(end);
        tap_check(length > tail && strcmp(name + length - tail, end) == 0, __LINE__,
                  "%s is in %s: its name ends with %s", name, unit, end);
    }
}

static void each_mode_names_metrics_and_no_others_has_its_work(void)
{
    for (int m = 0; m < YS_MODE_COUNT; m++) {
        const struct ys_mode_facts *mode = ys_mode_of(m);
        const struct ys_metric_info *work = ys_metric_find(mode->work_metric);
        CHECK((int)mode->mode == m);
        CHECK(!mode->lengths[0] || (ys_mode_of_length(mode->units) == m && ys_mode_of_length(mode->lengths[0]) == m));
        CHECK(work && work->mode == m);
        CHECK_TEXT(ys_compared[ys_compared_place(mode->unit_metric)], mode->unit_metric);
        CHECK_TEXT(ys_compared[ys_compared_place(mode->speed_metric)], mode->speed_metric);
    }
    CHECK(ys_mode_of(YS_NAME_NONE)->mode == YS_MODE_TRAIN && ys_mode_of_length("batch") == YS_NAME_NONE);
}

TAP_MAIN(TAP_CASE(every_metric_has_a_text_that_agrees_with_it), TAP_CASE(metrics_are_found_by_name),
         TAP_CASE(names_are_unique_and_say_their_unit), TAP_CASE(each_mode_names_metrics_and_no_others_has_its_work))
