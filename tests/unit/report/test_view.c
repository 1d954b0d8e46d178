#include "made.h"
#include "report/view/view.h"

static void names_hold_what_varies_and_nothing_else(void)
{
    struct ys_view view;
    struct ys_result made;
    ys_json *result =
        made_json("{'trials':[{'id':'a','factors':{'framework':'x','threads':1,'batch':64,'opt.x.fast':true}},"
                  "{'id':'b','factors':{'framework':'x','threads':2,'batch':64,'opt.x.fast':true}},"
                  "{'id':'c','factors':{'framework':'y','threads':2,'batch':64}}]}");
    made_open(result, &made);
    ys_view_init(&view, &made);
    CHECK_TEXT(view.trials[0].name, "x, 1 thread, fast on");
    CHECK_TEXT(view.trials[1].name, "x, 2 threads, fast on");
    CHECK_TEXT(view.trials[2].name, "y, 2 threads");
    CHECK_INT(view.trials[1].group, 0);
    CHECK_INT(view.trials[1].member, 1);
    CHECK_INT(view.trials[2].group, 1);
    CHECK_INT(view.trials[1].hue, 0);
    CHECK_INT(view.trials[1].dashes, 1);
    CHECK_INT(view.trials[2].hue, 1);
    CHECK(ys_view_find(&view, "b") == &view.trials[1]);
    CHECK(ys_view_find(&view, "z") == NULL);
    ys_view_fini(&view);
    made_close(&made);
    ys_json_free(result);
}

static void equal_names_are_numbered_and_jobs_named(void)
{
    struct ys_view view;
    struct ys_result made;
    ys_json *result = made_json(
        "{'trials':[{'id':'a','section':'one','framework':{'name':'x'}},"
        "{'id':'b','section':'two','framework':{'name':'x'}},{'id':'c','section':'two','framework':{'name':'x'}}]}");
    made_open(result, &made);
    ys_view_init(&view, &made);
    CHECK_TEXT(view.trials[0].name, "x (one)");
    CHECK_TEXT(view.trials[1].name, "x (two)");
    CHECK_TEXT(view.trials[2].name, "x (two) #3");
    for (int i = 0; i < 3; i++) {
        CHECK_INT(view.trials[i].hue, i);
        CHECK_INT(view.trials[i].dashes, 0);
    }
    ys_view_fini(&view);
    made_close(&made);
    ys_json_free(result);
}

static void only_runs_that_were_ok_count_as_measured(void)
{
    struct ys_view view;
    struct ys_result made;
    ys_json *result =
        made_json("{'trials':[{'status':'ok','runs':6},{'status':'crashed','runs':6,'failed':6},"
                  "{'status':'crashed','runs':6,'failed':1},{'status':'missing'},{'status':'ok','runs':0},{}]}");
    static const bool expected[] = {true, false, true, false, false, false};
    made_open(result, &made);
    ys_view_init(&view, &made);
    for (int i = 0; i < 6; i++)
        CHECK_INT(view.trials[i].measured, expected[i]);
    ys_view_fini(&view);
    made_close(&made);
    ys_json_free(result);
}

static void documents_of_the_wrong_shape_are_survived(void)
{
    static const char *const documents[] = {
        "{}",
        "[]",
        "null",
        "{'trials':{'a':1}}",
        "{'trials':[1,null,'x',[]]}",
        ("{'trials':[{'factors':[],'framework':3,'metrics':[],'keys':'x','runs':'m'}"
         "],'comparisons':{},'work':3,'host':[]}")};
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        ys_json *result = made_json(documents[i]);
        struct ys_buf out = {0};
        made_table(result, 80, false, &out);
        made_html(result, &out);
        made_csv(result, &out);
        made_markdown(result, &out);
        ys_buf_free(&out);
        ys_json_free(result);
    }
}

static void put_pair(struct ys_buf *out, const struct ys_view *view, const ys_json *json)
{
    struct ys_result_comparison comparison = made_compared(json);
    ys_view_put_pair(out, view, &comparison);
    ys_record_fini(&ys_comparison_record, &comparison.told);
}

static void pairs_name_what_differs_first(void)
{
    struct ys_view view;
    struct ys_result made;
    struct ys_buf out = {0};
    ys_json *result =
        made_json("{'trials':[{'id':'a','factors':{'framework':'x','threads':1}},{'id':'b','factors':{'framework':'x',"
                  "'threads':2}},{'id':'c','factors':{'framework':'y','threads':2}}]}");
    ys_json *threads = made_json("{'a':'b','b':'a','varies':'threads'}"),
            *frameworks = made_json("{'a':'b','b':'c','varies':'framework'}");
    ys_json *strange = made_json("{'a':'b','b':'gone','varies':'framework'}");
    made_open(result, &made);
    ys_view_init(&view, &made);
    put_pair(&out, &view, threads);
    CHECK_TEXT(ys_buf_text(&out), "2 threads vs 1 thread, x");
    ys_buf_clear(&out);
    put_pair(&out, &view, frameworks);
    CHECK_TEXT(ys_buf_text(&out), "x vs y, 2 threads");
    ys_buf_clear(&out);
    put_pair(&out, &view, strange);
    CHECK_TEXT(ys_buf_text(&out), "x, 2 threads vs gone");
    ys_buf_free(&out);
    ys_view_fini(&view);
    made_close(&made);
    ys_json_free(threads);
    ys_json_free(frameworks);
    ys_json_free(strange);
    ys_json_free(result);
}

static void common_keys_exclude_what_varies_and_what_is_unset(void)
{
    struct ys_view view;
    struct ys_result made;
    ys_json *common, *result = made_json("{'trials':[{'keys':{'epochs':3,'batch':64,'lr':0.1,'memory_limit':null}},"
                                         "{'keys':{'epochs':3,'batch':64,'lr':0.2,'memory_limit':null}}]}");
    made_open(result, &made);
    ys_view_init(&view, &made);
    common = ys_view_common(&view);
    CHECK_INT(ys_json_get_int(common, "batch", 0), 64);
    CHECK_INT(ys_json_get_int(common, "epochs", 0), 3);
    CHECK(!ys_json_get(common, "lr") && !ys_json_get(common, "memory_limit"));
    ys_json_free(common);
    ys_view_fini(&view);
    made_close(&made);
    ys_json_free(result);
}

static void a_metric_is_called_what_its_file_says(void)
{
    CHECK_TEXT(ys_view_metric_title("rss_peak_bytes"), "peak memory");
    CHECK_TEXT(ys_view_ratio_words("rss_peak_bytes"), "the memory");
    CHECK_INT(ys_view_kind("rss_peak_bytes"), YS_KIND_BYTES);
    CHECK_TEXT(ys_view_metric_title("cold"), "cold");
    CHECK_TEXT(ys_view_ratio_words("cold"), "its value");
}

TAP_MAIN(TAP_CASE(a_metric_is_called_what_its_file_says), TAP_CASE(names_hold_what_varies_and_nothing_else),
         TAP_CASE(equal_names_are_numbered_and_jobs_named), TAP_CASE(only_runs_that_were_ok_count_as_measured),
         TAP_CASE(documents_of_the_wrong_shape_are_survived), TAP_CASE(pairs_name_what_differs_first),
         TAP_CASE(common_keys_exclude_what_varies_and_what_is_unset))
