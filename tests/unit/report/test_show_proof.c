#include "made.h"
#include "report/clean_text.h"

static struct ys_buf out;

static const char *table(const char *proof_text)
{
    ys_json *json = made_json(proof_text);
    struct ys_proof proof;
    ys_buf_clear(&out);
    CHECK_INT(ys_proof_read(json, "the test", &proof), YS_OK);
    ys_report_proof_table(&proof, 80, &out);
    ys_proof_fini(&proof);
    ys_json_free(json);
    return ys_buf_text(&out);
}

static void checks_are_rows_under_their_half(void)
{
    CHECK_TEXT(
        table(
            "{'verdict':'pass','reason':null,'checks':["
            "{'half':'work','name':'parameters','error':0,'bound':0,'pass':true,'worst':null},"
            "{'half':'meaning','name':'logits','error':1.1e-15,'bound':1e-9,'pass':true,'worst':null},"
            "{'half':'meaning','name':'gradients','error':3.14e-14,'bound':1e-9,'pass':true,'worst':'conv1.weight'}]}"),
        "Proof: pass. The same work is done.\n"
        "\n"
        "Work: the same network and data\n"
        "check       error  bound  verdict  worst\n"
        "parameters      0  equal  pass\n"
        "\n"
        "Meaning: both in double precision\n"
        "check        error    bound  verdict  worst\n"
        "logits     1.1e-15  1.0e-09  pass\n"
        "gradients  3.1e-14  1.0e-09  pass     conv1.weight\n");
}

static void a_failed_check_names_the_worst_tensor_and_the_diagnosis(void)
{
    const char *text =
        table("{'verdict':'fail','checks':[{'half':'meaning','name':'logits','error':9e-6,'bound':1e-9,'pass':false,"
              "'worst':'bn1.weight'}],'diagnosis':['the epsilon of batch norm differs']}");
    CHECK_HAS(text, "Proof: FAIL.");
    CHECK_HAS(text, "9.0e-06");
    CHECK_HAS(text, "FAIL     bn1.weight\n");
    CHECK_HAS(text, "What it looks like:\n  * the epsilon of batch norm differs\n");
}

static void a_trace_names_the_first_node_and_what_held_before_it(void)
{
    const char *text =
        table("{'verdict':'fail','checks':[],'trace':{'precision':'f64','forward':{'reason':null,'first':2,'nodes':["
              "{'node':'n','op':'normalize','name':'nv','error':0,'bound':1e-9,'pass':true},"
              "{'node':'c','op':'Conv','name':'cv','error':2e-16,'bound':1e-9,'pass':true},"
              "{'node':'b','op':'BatchNormalization','name':'bv','error':4.5e-6,'bound':1e-9,'pass':false},"
              "{'node':'r','op':'Relu','name':'rv','error':null,'bound':1e-9,'pass':false}]},"
              "'backward':{'reason':null,'first':0,'nodes':["
              "{'node':'g','op':'Gemm','name':'g.bias','error':1,'bound':1e-9,'pass':false}]}}}");
    CHECK_HAS(text, "Trace, in f64\n");
    CHECK_HAS(text, "node b (BatchNormalization), value bv");
    CHECK_HAS(text, "4.5e-06");
    CHECK_HAS(text, "Of the 2 values before it, the closest: node");
    CHECK_HAS(text, "(Conv), value cv: error 2.0e-16, bound 1.0e-09.");
    CHECK(!strstr(text, "g.bias")); /* follows from the values */
    text =
        table("{'verdict':'fail','checks':[],'trace':{'precision':'f32','forward':{'reason':null,'first':null,'nodes':["
              "{'node':'c','op':'Conv','name':'cv','error':2e-7,'bound':1e-6,'pass':true}]},'backward':null}}");
    CHECK_HAS(text, "nothing is beyond its bound");
    CHECK_HAS(text, "Both passes hold");
    CHECK(!strstr(text, "backward"));
    text = table("{'verdict':'fail','checks':[],'trace':{'precision':'f64','forward':{'reason':'the adapter ended as "
                 "crashed','first':null,'nodes':[]},'backward':{'reason':null,'first':1,'nodes':["
                 "{'node':'g','op':'Gemm','name':'g.bias','error':0,'bound':1e-9,'pass':true},"
                 "{'node':'c','op':'Conv','name':'c.bias','error':1,'bound':1e-9,'pass':false}]}}}");
    CHECK_HAS(text, "could not be traced: the adapter ended as crashed");
    CHECK_HAS(text, "node c (Conv), gradient of c.bias");
    CHECK_HAS(text, "Of the 1 between it and the loss");
}

static void none_gives_the_reason(void)
{
    CHECK_TEXT(table("{'verdict':'none','reason':'this framework does no work','checks':[]}"),
               "Proof: none. It is not shown that the same work is done. Reason: this framework\n  does no work\n");
    CHECK_HAS(table("{'verdict':'none'}"), "Proof: none.");
}

static void long_names_still_fit(void)
{
    const char *text = table(
        "{'verdict':'weak','checks':[{'half':'work','name':'a name that is far too long for the first column of the "
        "table','error':null,'bound':1e-9,'pass':false,"
        "'worst':'layer4.block2.downsample.batch_norm.running_variance.of.a.long.name'}]}");
    CHECK_HAS(text, "FAIL");
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        char *copy = ys_strndup(line, strcspn(line, "\n"));
        CHECK(ys_text_width(copy) <= 80);
        ys_free(copy);
    }
}

TAP_MAIN(TAP_CASE(checks_are_rows_under_their_half), TAP_CASE(a_failed_check_names_the_worst_tensor_and_the_diagnosis),
         TAP_CASE(a_trace_names_the_first_node_and_what_held_before_it), TAP_CASE(none_gives_the_reason),
         TAP_CASE(long_names_still_fit))
