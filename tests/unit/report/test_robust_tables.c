/* How every form of the report tells what trials withstand. */
#include "made.h"

static struct ys_buf out;

#define TWINS                                                                                                          \
    "'twins':[{'robust_accuracy':0.52,'perturbation_p50':null},{'robust_accuracy':0.49,'perturbation_p50':null},"      \
    "{'robust_accuracy':null,'perturbation_p50':null}]"

/* builtin was attacked, of pytorch gradients may be masked, of keras the attacks broke off, jax was not attacked. */
static ys_json *made_attacked(void)
{
    static const char *const frameworks[] = {"builtin", "pytorch", "keras", "jax"};
    static const char *const withstood[] = {
        "{'runs':7,'rows':500,'accuracy':0.98,'is_masked':false,'reason':null,'attacks':["
        "{'attack':'pgd(0.1, 40, 0.01)','clean':490,'broken':240,'target_reached':null,'change_p25':0.1,"
        "'change_p50':0.1,'change_p75':null,'gradients':20000,'queries':20000,'attack_s':2},"
        "{'attack':'jsma(1, 0.1)','clean':490,'broken':450,'target_reached':400,'change_p25':8,"
        "'change_p50':12,'change_p75':20,'gradients':9000,'queries':0,'attack_s':2}],"
        "'robust':[{'eps':0.1,'accuracy':0.5}],'curve':[{'eps':0.05,'accuracy':0.8}],'alarms':[]," TWINS "}",
        "{'runs':7,'rows':500,'accuracy':0.98,'is_masked':true,'reason':null,'attacks':["
        "{'attack':'pgd(0.1, 40, 0.01)','clean':490,'broken':10,'target_reached':null,'change_p25':null,"
        "'change_p50':null,'change_p75':null,'gradients':20000,'queries':20000,'attack_s':2}],"
        "'robust':[{'eps':0.1,'accuracy':0.96}],'curve':[],"
        "'alarms':[{'attack':'pgd(0.1, 40, 0.01)','alarm':'gradients are "
        "<zero>','value':0.3,'threshold':0.1,'runs':2}]," TWINS "}",
        "{'runs':0,'rows':null,'accuracy':null,'is_masked':false,'reason':'they ended with exit code 2','robust':[]}"};
    ys_json *result = made_result(frameworks, 4, 7, NULL);
    for (size_t i = 0; i < 3; i++) {
        ys_json *trial = ys_json_at(ys_json_get(result, "trials"), i);
        (void)!ys_json_set(trial, "robustness", made_json(withstood[i]));
        (void)!ys_json_set(ys_json_get(trial, "metrics"), "robust_accuracy",
                           made_json(i == 0 ? "{'value':0.5,'unit':'1','kind':'share'}"
                                            : "{'value':null,'reason':'gradients may be masked'}"));
    }
    return result;
}

/* The line of `text` that begins with `begin` and has `word`, "" without one. */
static const char *line_with(const char *text, const char *begin, const char *word)
{
    static char line[300];
    for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        if (strncmp(line, begin, strlen(begin)) == 0 && strstr(line, word))
            return line;
    }
    return "";
}

static void the_table_has_a_row_for_each_attack(void)
{
    ys_json *result = made_attacked();
    ys_buf_clear(&out);
    made_table(result, 100, false, &out);
    const char *text = ys_buf_text(&out);
    CHECK_HAS(line_with(text, "builtin", "pgd(0.1, 40"), "98.00 %");
    CHECK_HAS(line_with(text, "builtin", "pgd(0.1, 40"), "50.00 %"); /* 490 less 240 of 500 */
    CHECK_HAS(line_with(text, "builtin", "pgd(0.1, 40"), "40.0");    /* gradients a row */
    CHECK_HAS(line_with(text, "builtin", "jsma"), "12.0");
    CHECK_HAS(line_with(text, "pytorch", "pgd(0.1, 40"), "none");
    CHECK_HAS(line_with(text, "pytorch", "all"), "at most 96.00 %");
    CHECK_HAS(line_with(text, "keras", "they ended"), "exit code 2");
    CHECK_HAS(text, "pytorch: gradients may be masked: gradients are <zero>");
    ys_json_free(result);
}

/* Once: pytorch trains the same. */
static void what_rounding_does_stands_beside(void)
{
    static void (*const makes[])(const ys_json *, struct ys_buf *) = {made_html, made_markdown};
    static const char begin[] = "in 3 twins of the built-in engine that train what builtin trains",
                      range[] = "accuracy 49.00 % to 52.00 %";
    ys_json *result = made_attacked();
    for (size_t i = 0; i < 2; i++) {
        ys_buf_clear(&out);
        makes[i](result, &out);
        CHECK_HAS(ys_buf_text(&out), begin);
        CHECK_HAS(ys_buf_text(&out), range);
        CHECK(!strstr(ys_buf_text(&out), "that train what pytorch"));
        CHECK(!strstr(ys_buf_text(&out), "52.00 %; "));
    }
    ys_buf_clear(&out);
    made_table(result, 400, false, &out);
    CHECK_HAS(ys_buf_text(&out), range);
    ys_json_free(result);
}

static void the_page_has_a_section_with_the_answer(void)
{
    ys_json *result = made_attacked();
    ys_buf_clear(&out);
    made_html(result, &out);
    const char *text = ys_buf_text(&out);
    CHECK_HAS(text, "<a href=\"#robust\">Robustness</a>");
    CHECK_HAS(text,
              "<section id=\"robust\">\n<h2>What does it withstand?</h2>\n<p class=\"answer\">Of the rows that were "
              "attacked 50.00 % (builtin) stay right where no pixel of [0, 1] changes by more than 0.100. "
              "Gradients may be masked in 1 trial");
    CHECK_HAS(text, "Accuracy against the change");
    CHECK_HAS(text, "gradients are &lt;zero&gt;");
    CHECK(strstr(text, "<section id=\"accuracy\">") < strstr(text, "<section id=\"robust\">"));
    ys_json_free(result);
}

static void markdown_has_the_quartiles_too(void)
{
    ys_json *result = made_attacked();
    ys_buf_clear(&out);
    made_markdown(result, &out);
    CHECK_HAS(line_with(ys_buf_text(&out), "| builtin", "jsma"), "| 12.0 | 8.00 to 20.0 | 80.00 % |");
    CHECK_HAS(line_with(ys_buf_text(&out), "| builtin", "pgd(0.1, 40"), "| 0.100 to none |");
    CHECK_HAS(line_with(ys_buf_text(&out), "| builtin", "| pgd |"), "80.00 %");
    ys_json_free(result);
}

static void the_answer_tells_each_eps_apart(void)
{
    ys_json *result = made_attacked(), *jax = ys_json_at(ys_json_get(result, "trials"), 3);
    (void)!ys_json_set(jax, "robustness",
                       made_json("{'runs':7,'rows':500,'accuracy':0.98,'is_masked':false,'reason':null,'attacks':[],"
                                 "'robust':[{'eps':0.2,'accuracy':0.3}],'curve':[],'alarms':[]}"));
    (void)!ys_json_set(ys_json_get(jax, "metrics"), "robust_accuracy",
                       made_json("{'value':0.3,'unit':'1','kind':'share'}"));
    ys_buf_clear(&out);
    made_html(result, &out);
    CHECK_HAS(ys_buf_text(&out),
              "attacked 50.00 % (builtin) stay right where no pixel of [0, 1] changes by more than "
              "0.100; 30.00 % (jax) stay right where no pixel of [0, 1] changes by more than 0.200. ");
    ys_json_free(result);
}

/* A trial of which nothing else was asked has no row that it was not attacked. */
static void corruptions_have_a_table_with_the_mean_of_each_severity(void)
{
    static const char *const frameworks[] = {"builtin"};
    ys_json *result = made_result(frameworks, 1, 7, NULL), *trial = ys_json_at(ys_json_get(result, "trials"), 0);
    (void)!ys_json_set(
        trial, "robustness",
        made_json("{'runs':7,'rows':500,'accuracy':0.98,'is_masked':false,'reason':null,'attacks':[],'robust':[],"
                  "'curve':[],'alarms':[],'corruptions':[{'kind':'fog','severity':1,'accuracy':0.75},"
                  "{'kind':'snow','severity':1,'accuracy':0.25},{'kind':'fog','severity':4,'accuracy':0.125}],"
                  "'twins':[{'robust_accuracy':null,'perturbation_p50':null,'corrupted_accuracy':0.31},"
                  "{'robust_accuracy':null,'perturbation_p50':null,'corrupted_accuracy':0.29}]}"));
    (void)!ys_json_set(ys_json_get(trial, "metrics"), "corrupted_accuracy",
                       made_json("{'value':0.3,'unit':'1','kind':'share'}"));
    ys_buf_clear(&out);
    made_table(result, 100, false, &out);
    CHECK_HAS(line_with(ys_buf_text(&out), "snow", "1"), "25.00 %");
    CHECK_HAS(line_with(ys_buf_text(&out), "mean", " 1 "), "50.00 %");
    CHECK_HAS(line_with(ys_buf_text(&out), "fog", " 4 "), "12.50 %");
    CHECK_HAS(line_with(ys_buf_text(&out), "mean", " 4 "), "12.50 %");
    CHECK(!strstr(ys_buf_text(&out), "not attacked"));
    ys_buf_clear(&out);
    made_markdown(result, &out);
    CHECK_HAS(ys_buf_text(&out), "| fog | 4 | 12.50 % |");
    CHECK_HAS(ys_buf_text(&out), "| Right after | Severity | builtin |");
    CHECK_HAS(ys_buf_text(&out), "accuracy 29.00 % to 31.00 %");
    ys_buf_clear(&out);
    made_html(result, &out);
    CHECK_HAS(ys_buf_text(&out), "the same pictures for every framework");
    CHECK_HAS(ys_buf_text(&out),
              "Accuracy on rows that noise, blur, weather and the like have changed: 30.00 % (builtin).");
    CHECK(!strstr(ys_buf_text(&out), "Of no trial it is known what it withstands"));
    ys_json_free(result);
}

/* Between builtin and pytorch; keras asked for it and has no other. */
static void what_carries_over_is_a_matrix_in_every_form(void)
{
    static void (*const makes[])(const ys_json *, struct ys_buf *) = {made_html, made_markdown};
    ys_json *result = made_attacked(), *trials = ys_json_get(result, "trials");
    for (size_t i = 0; i < 3; i++)
        (void)!ys_json_set_string(ys_json_get(ys_json_at(trials, i), "keys"), "attack.transfer", "on");
    const char *first = ys_json_get_text(ys_json_at(trials, 0), "id", ""),
               *second = ys_json_get_text(ys_json_at(trials, 1), "id", "");
    ys_json *transfers = ys_json_array();
    for (size_t i = 0; i < 2; i++) {
        ys_json *one = made_json("{'section':'s','attack':'pgd(0.1, 40, 0.01)','rounds':2,'both_right':90,"
                                 "'broken':80}");
        (void)!ys_json_set_string(one, "from", i == 0 ? first : second);
        (void)!ys_json_set_string(one, "to", i == 0 ? second : first);
        (void)!ys_json_set_int(one, "also_wrong", i == 0 ? 20 : 60);
        (void)!ys_json_append(transfers, one);
    }
    (void)!ys_json_set(result, "transfers", transfers);
    ys_buf_clear(&out);
    made_table(result, 100, false, &out);
    const char *text = strstr(ys_buf_text(&out), "Attacks that carry over, pgd(0.1, 40, 0.01)\n");
    REQUIRE(text);
    CHECK_HAS(line_with(text, "builtin", "-"), "20 of 80");
    CHECK_HAS(line_with(text, "pytorch", "-"), "60 of 80");
    CHECK_HAS(text, "keras: attacks on it were shown to no other trial");
    CHECK(!strstr(text, "builtin: attacks on it were"));
    for (size_t i = 0; i < 2; i++) {
        ys_buf_clear(&out);
        makes[i](result, &out);
        CHECK_HAS(ys_buf_text(&out), "Attacks that carry over, pgd(0.1, 40, 0.01)");
        CHECK_HAS(ys_buf_text(&out), "60 of 80");
        CHECK_HAS(ys_buf_text(&out), "keras: attacks on it were shown to no other trial");
        CHECK((strstr(ys_buf_text(&out), "pytorch, builtin: 75.00 %") != NULL) == (i == 0)); /* drawn */
    }
    ys_json_free(result);
}

static void without_attacks_there_is_no_word_of_them(void)
{
    static const char *const frameworks[] = {"builtin"};
    ys_json *result = made_result(frameworks, 1, 1, NULL);
    ys_buf_clear(&out);
    made_html(result, &out);
    made_table(result, 80, false, &out);
    made_markdown(result, &out);
    CHECK(!strstr(ys_buf_text(&out), "ithstand") && !strstr(ys_buf_text(&out), "#robust"));
    ys_json_free(result);
}

static void free_all(void)
{
    ys_buf_free(&out);
}

TAP_MAIN(TAP_CASE(the_table_has_a_row_for_each_attack), TAP_CASE(what_rounding_does_stands_beside),
         TAP_CASE(the_page_has_a_section_with_the_answer), TAP_CASE(markdown_has_the_quartiles_too),
         TAP_CASE(the_answer_tells_each_eps_apart), TAP_CASE(what_carries_over_is_a_matrix_in_every_form),
         TAP_CASE(corruptions_have_a_table_with_the_mean_of_each_severity),
         TAP_CASE(without_attacks_there_is_no_word_of_them), TAP_CASE(free_all))
