/* How every form of the report tells of predictions with the same weights. */
#include "made.h"

static struct ys_buf out;

/* builtin agrees with itself, pytorch parts from it, keras could not predict, jax has nothing to do with it. */
static ys_json *made_agreements(void)
{
    static const char *const frameworks[] = {"builtin", "pytorch", "keras", "jax"};
    static const char *const agreements[] = {
        "{'predictions':2000,'disagreements':0,'accuracy':0.98,'reference_accuracy':0.98,'logits_error':0,'layers':["
        "{'value':'conv1','op':'Conv','error':1e-7},{'value':'fc','op':'Gemm','error':2e-7}],'rounds':[]}",
        "{'predictions':2000,'disagreements':3,'accuracy':0.9785,'reference_accuracy':0.98,'logits_error':2.5e-6,"
        "'layers':[{'value':'conv1','op':'Conv','error':0},{'value':'fc','op':'Gemm','error':4e-6}],'rounds':[]}",
        "{'predictions':0,'disagreements':null,'accuracy':null,'reference_accuracy':null,'logits_error':null,"
        "'layers':null,'rounds':[{'round':0,'reason':'crashed: <signal> 11'}]}",
        "null"};
    ys_json *result = made_result(frameworks, 4, 1, NULL);
    for (size_t i = 0; i < 4; i++) {
        ys_json *trial = ys_json_at(ys_json_get(result, "trials"), i);
        (void)!ys_json_set_string(ys_json_get(trial, "keys"), "mode", "infer");
        (void)!ys_json_set(trial, "agreement", made_json(agreements[i]));
    }
    return result;
}

/* The line of `text` that begins with `begin` behind the first `heading`, "" without one. */
static const char *line_of(const char *text, const char *heading, const char *begin)
{
    static char line[200];
    const char *at = strstr(text, heading);
    for (at = at ? strchr(at, '\n') : NULL; at && strncmp(at + 1, begin, strlen(begin)) != 0;)
        at = strchr(at + 1, '\n');
    snprintf(line, sizeof line, "%.*s", at ? (int)strcspn(at + 1, "\n") : 0, at ? at + 1 : "");
    return line;
}

static void the_table_counts_other_answers_and_names_the_worst_layer(void)
{
    ys_json *result = made_agreements();
    ys_buf_clear(&out);
    made_table(result, 80, false, &out);
    const char *heading = "Predictions with the same weights, against builtin", *text = ys_buf_text(&out);
    CHECK_HAS(line_of(text, heading, "builtin"), "0 of 2000");
    CHECK_HAS(line_of(text, heading, "pytorch"), "3 of 2000");
    CHECK_HAS(line_of(text, heading, "pytorch"), "97.85 %");
    CHECK_HAS(line_of(text, heading, "pytorch"), "2.5e-06");
    CHECK_HAS(line_of(text, heading, "pytorch"), "4.0e-06");
    CHECK_HAS(line_of(text, heading, "pytorch"), "fc");
    CHECK_HAS(line_of(text, heading, "keras"), "crashed: <signal> 11");
    ys_json_free(result);
}

static void the_page_draws_the_errors_along_the_network(void)
{
    ys_json *result = made_agreements();
    ys_buf_clear(&out);
    made_html(result, &out);
    const char *text = ys_buf_text(&out);
    CHECK_HAS(text, "Predictions with the same weights");
    CHECK_HAS(text, "crashed: &lt;signal&gt; 11");
    CHECK_HAS(text, "Error layer by layer");
    CHECK_HAS(text, ">1e-06<"); /* a tick of the logarithmic axis */
    ys_json_free(result);
}

static void markdown_has_a_row_for_each(void)
{
    ys_json *result = made_agreements();
    ys_buf_clear(&out);
    made_markdown(result, &out);
    CHECK_HAS(line_of(ys_buf_text(&out), "| Same weights |", "| pytorch"), "3 of 2000 | 97.85 % | 98.00 % |");
    CHECK_HAS(line_of(ys_buf_text(&out), "| Same weights |", "| keras"), "crashed");
    ys_json_free(result);
}

/* The sentence about same weights, "" without one. */
static const char *sentence(const ys_json *sentences)
{
    for (size_t i = 0; i < ys_json_size(sentences); i++)
        if (strstr(ys_json_text(ys_json_at(sentences, i), ""), "same weights"))
            return ys_json_text(ys_json_at(sentences, i), "");
    return "";
}

static void the_words_name_who_answers_otherwise(void)
{
    ys_json *result = made_agreements(), *sentences = NULL;
    sentences = made_words(result);
    CHECK_TEXT(sentence(sentences),
               "With the same weights another class than builtin's is answered by pytorch for 3 of 2000 rows.");
    ys_json_free(sentences);
    (void)!ys_json_set_int(ys_json_get(ys_json_at(ys_json_get(result, "trials"), 1), "agreement"), "disagreements", 0);
    sentences = made_words(result);
    CHECK_TEXT(sentence(sentences), "With the same weights every trial gives the answers that builtin gives.");
    ys_json_free(sentences);
    ys_json_free(result);
}

/* builtin in both formats; the second has lost 3 of 1000 and gained 1. */
static ys_json *made_formats(double accuracy)
{
    static const char *const frameworks[] = {"builtin", "builtin"};
    ys_json *result = made_result(frameworks, 2, 1, NULL);
    for (size_t i = 0; i < 2; i++) {
        ys_json *trial = ys_json_at(ys_json_get(result, "trials"), i);
        ys_json *agreement = made_json(
            "{'predictions':1000,'rows':1000,'disagreements':9,'classes':10,'change':-0.002,'change_lo':-0.0068,"
            "'change_hi':0.0021,'change_p':0.625,'rounds':[]}");
        (void)!ys_json_set_real(agreement, "reference_accuracy", accuracy);
        (void)!ys_json_set_string(ys_json_get(trial, "keys"), "mode", "infer");
        (void)!ys_json_set_string(ys_json_get(trial, "keys"), "precision", i ? "bf16" : "f32");
        (void)!ys_json_set(trial, "agreement", agreement);
    }
    return result;
}

static void another_format_has_what_it_changes(void)
{
    const char *heading = "What the number format changes";
    ys_json *result = made_formats(0.9);
    ys_buf_clear(&out);
    made_table(result, 100, false, &out);
    const char *at = strstr(ys_buf_text(&out), heading);
    CHECK_HAS(at ? at : "", "-0.20 % [-0.68, 0.21]");
    CHECK_HAS(at ? at : "", "9 of 1000");
    CHECK_HAS(at ? at : "", "0.62");
    CHECK(!strstr(ys_buf_text(&out), "shows nothing"));
    ys_buf_clear(&out);
    made_html(result, &out);
    CHECK_HAS(ys_buf_text(&out), heading);
    ys_json_free(result);
}

static void what_stays_in_float_is_named_once_with_its_reason(void)
{
    const char *said = "conv1 (Conv): it reads the network's input as it comes", *found = NULL;
    ys_json *result = made_formats(0.9);
    for (size_t i = 0; i < 2; i++) {
        ys_json *trial = ys_json_at(ys_json_get(result, "trials"), i), *texts = ys_json_array();
        (void)!ys_json_append(texts, ys_json_string(said));
        (void)!ys_json_set(ys_json_get(trial, "agreement"), "in_float", texts);
        (void)!ys_json_set_string(ys_json_get(trial, "keys"), "precision", i ? "bf16" : "f64");
    }
    ys_buf_clear(&out);
    made_markdown(result, &out);
    found = strstr(ys_buf_text(&out), "computed in float, though it is quantised: ");
    CHECK_HAS(found ? found : "", said);
    CHECK(found && !strstr(found + strlen(said), said));
    ys_json_free(result);
}

static void weights_that_have_not_learnt_show_nothing(void)
{
    ys_json *result = made_formats(0.54); /* of ten classes halfway from chance is 0.55 */
    ys_buf_clear(&out);
    made_markdown(result, &out);
    CHECK_HAS(ys_buf_text(&out), "its change of accuracy shows nothing");
    CHECK_HAS(ys_buf_text(&out), "halfway from chance to 1 is 55.00 %");
    ys_json_free(result);
}

static void without_same_weights_there_is_no_word_of_it(void)
{
    static const char *const frameworks[] = {"builtin"};
    ys_json *result = made_result(frameworks, 1, 1, NULL);
    ys_buf_clear(&out);
    made_html(result, &out);
    made_table(result, 80, false, &out);
    made_markdown(result, &out);
    CHECK(!strstr(ys_buf_text(&out), "ame weights"));
    ys_json_free(result);
}

static void free_all(void)
{
    ys_buf_free(&out);
}

TAP_MAIN(TAP_CASE(the_table_counts_other_answers_and_names_the_worst_layer),
         TAP_CASE(the_page_draws_the_errors_along_the_network), TAP_CASE(markdown_has_a_row_for_each),
         TAP_CASE(the_words_name_who_answers_otherwise), TAP_CASE(without_same_weights_there_is_no_word_of_it),
         TAP_CASE(another_format_has_what_it_changes), TAP_CASE(weights_that_have_not_learnt_show_nothing),
         TAP_CASE(what_stays_in_float_is_named_once_with_its_reason), TAP_CASE(free_all))
