/* What a job changes of a network: model.freeze, model.train, model.tie, model.untie. Pixels: tests/cli/test_import.py.
 */
#include "graph/change.h"
#include "text.h"

#include "tap.h"

/* Three layers of 4 features; the last has another shape. */
static const char LAYERS[] =
    "{'format':'yardstick-graph','version':1,'name':'layers','inputs':[{'name':'x','shape':['N',4],'dtype':'F32'}],'"
    "nodes':["
    "{'op':'Gemm','name':'a','in':['x'],'out':['av'],'params':{'weight':'a.w','bias':'a.b'}},"
    "{'op':'Gemm','name':'b','in':['av'],'out':['bv'],'params':{'weight':'b.w','bias':'b.b'}},"
    "{'op':'Gemm','name':'c','in':['bv'],'out':['cv'],'params':{'weight':'c.w','bias':'c.b'}},"
    "{'op':'Gemm','name':'d','in':['cv'],'out':['dv'],'params':{'weight':'d.w','bias':'d.b'}}],'params':["
    "{'name':'a.w','shape':[4,4],'role':'weight','init':{'dist':'normal','mean':0,'std':0.1}},"
    "{'name':'a.b','shape':[4],'role':'weight','init':{'dist':'constant','value':0},'lr_mult':2,'decay_mult':0},"
    "{'name':'b.w','shape':[4,4],'role':'weight','init':{'dist':'normal','mean':0,'std':0.1}},"
    "{'name':'b.b','shape':[4],'role':'weight','init':{'dist':'constant','value':0}},"
    "{'name':'c.w','shape':[4,4],'role':'weight','init':{'dist':'normal','mean':0,'std':0.1}},"
    "{'name':'c.b','shape':[4],'role':'weight','init':{'dist':'constant','value':0}},"
    "{'name':'d.w','shape':[3,4],'role':'weight','init':{'dist':'normal','mean':0,'std':0.1}},"
    "{'name':'d.b','shape':[3],'role':'weight','init':{'dist':'constant','value':0}}],"
    "'output':'dv','loss':'softmax_cross_entropy'}";

enum { ALL = 3 * 16 + 3 * 4 + 12 + 3 };

/* The names of weight and bias of each node, apart by blanks; to be freed. */
static char *names(const struct ys_graph *graph)
{
    char *all = ys_strdup("");
    for (size_t i = 0; i < graph->node_count; i++) {
        char *more = ys_format("%s%s%s %s", all, i ? " " : "", graph->params[graph->nodes[i].weight].name,
                               graph->params[graph->nodes[i].bias].name);
        ys_free(all);
        all = more;
    }
    return all;
}

/* After `changes` the nodes have those parameters, `count` elements in all; the graph is one that files may hold. */
static void check_changed(const struct ys_graph_changes *changes, const char *wanted, int64_t count)
{
    struct ys_graph *graph = NULL, *again = NULL;
    REQUIRE(read_text(LAYERS, &graph) == YS_OK);
    if (CHECK(ys_graph_change(graph, changes) == YS_OK)) {
        char *found = names(graph);
        CHECK_TEXT(found, wanted);
        CHECK_INT(ys_graph_parameter_count(graph), count);
        ys_free(found);
        ys_json *json = ys_graph_to_json(graph);
        CHECK(ys_graph_from_json(json, "again", &again) == YS_OK);
        ys_graph_free(again);
        ys_json_free(json);
    } else {
        printf("# %s\n", ys_error());
    }
    ys_graph_free(graph);
}

static void check_refused(const struct ys_graph_changes *changes, const char *word)
{
    struct ys_graph *graph = NULL;
    REQUIRE(read_text(LAYERS, &graph) == YS_OK);
    CHECK(ys_graph_change(graph, changes) == YS_EINVAL);
    if (!CHECK(strstr(ys_error(), word) != NULL))
        printf("# \"%s\" is not in: %s\n", word, ys_error());
    ys_graph_free(graph);
}

static void patterns_tie_all_that_they_name_to_the_first(void)
{
    check_changed(&(struct ys_graph_changes){.tie = "[abc].w"}, "a.w a.b a.w b.b a.w c.b d.w d.b", ALL - 2 * 16);
    check_changed(&(struct ys_graph_changes){.tie = " c.w   b.[w]"}, "a.w a.b b.w b.b b.w c.b d.w d.b", ALL - 16);
    check_changed(&(struct ys_graph_changes){.tie = "b.b,c.b"}, "a.w a.b b.w b.b c.w b.b d.w d.b", ALL - 4);
    check_refused(&(struct ys_graph_changes){.tie = "*.w"}, "a.w and d.w have different shapes");
    check_refused(&(struct ys_graph_changes){.tie = "a.w nobody*"}, "no parameter of layers is called \"nobody*\"");
    check_refused(&(struct ys_graph_changes){.tie = "a.w"}, "names one parameter");
}

static void what_is_tied_comes_apart_again_with_a_name_for_each_node(void)
{
    check_changed(&(struct ys_graph_changes){.tie = "[abc].w", .untie = "a.*w"},
                  "a.w a.b a.w.copy2 b.b a.w.copy3 c.b d.w d.b", ALL);
    check_refused(&(struct ys_graph_changes){.tie = "[abc].w", .untie = "a.?"}, "a.b belongs to one node alone");
    check_refused(&(struct ys_graph_changes){.tie = "[abc].w", .untie = "b.w"}, "\"b.w\"");
    CHECK_INT(ys_graph_untied_length("a.w.copy12"), 3);
    CHECK_INT(ys_graph_untied_length("a.w.copy"), 8);
    CHECK_INT(ys_graph_untied_length(".copy2"), 6);
}

static void frozen_parameters_keep_their_place_and_count_no_more(void)
{
    const char *same = "a.w a.b b.w b.b c.w c.b d.w d.b";
    check_changed(&(struct ys_graph_changes){.freeze = "[ab].*"}, same, ALL - 2 * 20);
    check_changed(&(struct ys_graph_changes){.freeze = "*", .train = "d.*"}, same, 15);
    check_changed(&(struct ys_graph_changes){.freeze = "a.w", .tie = "a.w b.w"}, "a.w a.b a.w b.b c.w c.b d.w d.b",
                  ALL - 32);
    check_refused(&(struct ys_graph_changes){.freeze = "*"}, "nothing to train");
    struct ys_graph *graph = NULL;
    REQUIRE(read_text(LAYERS, &graph) == YS_OK);
    CHECK(ys_graph_change(graph, &(struct ys_graph_changes){.freeze = "a.?", .train = "a.b"}) == YS_OK);
    CHECK(graph->params[0].lr_mult == 0 && graph->params[0].decay_mult == 0);
    CHECK(graph->params[1].lr_mult == 1 && graph->params[1].decay_mult == 1);
    CHECK(graph->params[2].lr_mult == 1);
    ys_graph_free(graph);
}

TAP_MAIN(TAP_CASE(patterns_tie_all_that_they_name_to_the_first),
         TAP_CASE(what_is_tied_comes_apart_again_with_a_name_for_each_node),
         TAP_CASE(frozen_parameters_keep_their_place_and_count_no_more))
