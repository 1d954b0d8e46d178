/* What an adapter says of itself and is not so is a warning with both. */
#include "crew/self_report.h"
#include "base/mem.h"
#include "tap.h"
#include <stdio.h>
#include <string.h>

/* The warnings of a run in which `hello` and `opened` were said, `mapped` (NULL: nothing) being its one library. */
static const char *warnings(const char *version, const char *hello, const char *opened, const char *mapped,
                            const char *hidden)
{
    static char text[1000];
    struct ys_facts facts;
    struct ys_facts_work *work = ys_alloc(1, sizeof *work);
    ys_facts_init(&facts);
    *work = (struct ys_facts_work){.parameters = 100, .multiply_adds = 100};
    facts.work = work;
    CHECK(ys_json_parse(hello, strlen(hello), "hello", &facts.hello) == YS_OK);
    CHECK(ys_json_parse(opened, strlen(opened), "opened", &facts.opened) == YS_OK);
    if (mapped)
        CHECK(ys_list_add_text(&facts.observed.libraries, mapped) == YS_OK);
    if (hidden)
        CHECK(ys_list_add_text(&facts.observed.notes, hidden) == YS_OK);
    ys_facts_derive(&facts);
    ys_said_check(version, &facts);
    char *const *said = facts.warnings.items;
    text[0] = 0;
    for (size_t i = 0; i < facts.warnings.count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", said[i]);
    ys_facts_fini(&facts);
    return text;
}

static void a_version_is_the_recipes_or_is_told(void)
{
    static const char *const alike[][2] = {
        {"2.13.0", "2.13.0"}, {"2.13.0", "2.13.0+cpu"}, {"2.13.0", "2.13"}, {"", "7"}, {"1.9.1", "1.9.1.post1"}};
    char hello[100];
    for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++) {
        snprintf(hello, sizeof hello, "{\"version\":\"%s\"}", alike[i][1]);
        CHECK_TEXT(warnings(alike[i][0], hello, "{}", NULL, NULL), "");
    }
    CHECK_TEXT(warnings("2.1", "{\"version\":\"2.13\"}", "{}", NULL, NULL),
               "its adapter says that it is version 2.13; its recipe is that of 2.1\n");
}

static void parameters_are_the_graphs_or_told(void)
{
    CHECK_TEXT(warnings("", "{}", "{\"parameters\":100}", NULL, NULL), "");
    CHECK_TEXT(warnings("", "{}", "{\"parameters\":7}", NULL, NULL),
               "its adapter says that it trains 7 parameters; the network has 100\n");
    CHECK_TEXT(warnings("", "{\"no_work\":true}", "{\"parameters\":0}", NULL, NULL), "");
}

static void a_library_is_mapped_or_told(void)
{
    static const char opened[] = "{\"libraries\":[\"Intel(R) MKL-DNN v3.12\"]}";
    CHECK_TEXT(warnings("", "{}", opened, "libdnnl.so.3", NULL), "");
    CHECK_TEXT(warnings("", "{}", opened, NULL, NULL), "");                                     /* nobody looked */
    CHECK_TEXT(warnings("", "{}", opened, "libtorch_cpu.so", "libtorch_cpu holds oneDNN"), ""); /* cannot be told */
    CHECK_TEXT(warnings("", "{}", opened, "libopenblas.so.0", NULL),
               "its adapter says that it computes with Intel(R) MKL-DNN v3.12; mapped in its processes were "
               "libopenblas.so.0\n");
}

static void a_list_has_both_and_a_verdict(void)
{
    static const char hello[] = "{\"version\":\"2.13.0+cpu\",\"runtime\":\"CPython 3.11\"}";
    static const char opened[] = "{\"parameters\":7,\"threads\":2,\"libraries\":[\"OpenBLAS 0.3\",\"something\"]}";
    static const struct {
        const char *what, *said, *known;
        enum ys_self_report_verdict verdict;
    } expected[] = {{"version", "2.13.0+cpu", "2.13.0", YS_SAID_AGREES},
                    {"runs in", "CPython 3.11", NULL, YS_SAID_UNKNOWN},
                    {"parameters", "7", "100", YS_SAID_DIFFERS},
                    {"threads", "2", "told to use 2; up to 5 were there, about 1.9 shared the work", YS_SAID_AGREES},
                    {"computes with", "OpenBLAS 0.3", "libopenblas.so.0", YS_SAID_AGREES},
                    {"computes with", "something", "libopenblas.so.0", YS_SAID_UNKNOWN}};
    struct ys_facts facts;
    struct ys_list list;
    ys_facts_init(&facts);
    facts.work = ys_alloc(1, sizeof *facts.work);
    *facts.work = (struct ys_facts_work){.parameters = 100, .multiply_adds = 100};
    CHECK(ys_json_parse(hello, strlen(hello), "hello", &facts.hello) == YS_OK);
    CHECK(ys_json_parse(opened, strlen(opened), "opened", &facts.opened) == YS_OK);
    CHECK(ys_list_add_text(&facts.observed.libraries, "libopenblas.so.0") == YS_OK);
    facts.observed.threads_peak = 5;
    facts.observed.threads_busy = 1.9;
    ys_facts_derive(&facts);
    ys_said_list(&facts, "2.13.0", 2, &list);
    CHECK_INT(list.count, sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < list.count && i < sizeof expected / sizeof expected[0]; i++) {
        const struct ys_self_report *row = (const struct ys_self_report *)list.items + i;
        CHECK_TEXT(row->what, expected[i].what);
        CHECK_TEXT(row->said, expected[i].said);
        CHECK(!row->known == !expected[i].known);
        if (expected[i].known)
            CHECK_TEXT(row->known, expected[i].known);
        CHECK_INT(row->verdict, (int)expected[i].verdict);
    }
    ys_list_fini(&ys_said_record, &list);
    ys_facts_fini(&facts);
}

TAP_MAIN(TAP_CASE(a_version_is_the_recipes_or_is_told), TAP_CASE(parameters_are_the_graphs_or_told),
         TAP_CASE(a_library_is_mapped_or_told), TAP_CASE(a_list_has_both_and_a_verdict))
