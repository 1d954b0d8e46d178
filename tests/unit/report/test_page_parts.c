#include "made.h"
#include "report/page_parts.h"
#include "report/view/view.h"
#include <stdlib.h>

static struct ys_buf out;
static char problem[256];

static const char *page(ys_json *result)
{
    ys_buf_clear(&out);
    made_html(result, &out);
    ys_json_free(result);
    return ys_buf_text(&out);
}

/** Whether an attribute's value is what it must be: numbers are finite, paths are made of points, nothing loads or
 * runs. */
static bool is_attribute_sound(const char *name, size_t length, const char *value, size_t size)
{
    static const char *const numbers[] = {"x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height"};
    if (length >= 2 && strncmp(name, "on", 2) == 0)
        return false;
    if (length == 3 && strncmp(name, "src", 3) == 0)
        return false;
    if (length == 4 && strncmp(name, "href", 4) == 0)
        return size > 1 && value[0] == '#'; /* a place of this page */
    if (length == 1 && *name == 'd')
        return strspn(value, "ML0123456789.- ") >= size;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strlen(numbers[i]) == length && strncmp(name, numbers[i], length) == 0) {
            char *end;
            double number = strtod(value, &end);
            return end == value + size && isfinite(number);
        }
    return true;
}

/** Reads one tag at `c` ('<'); NULL when it is malformed. `closed`: ends itself. */
static const char *read_tag(const char *c, char *name, size_t size, bool *closed)
{
    size_t length = strcspn(c + 1, " />\n") + (c[1] == '/' ? 1 + strcspn(c + 2, " />\n") : 0);
    if (length == 0 || length >= size)
        return NULL;
    memcpy(name, c + 1, length);
    name[length] = 0;
    *closed = false;
    for (c += 1 + length; *c && *c != '>';) {
        c += strspn(c, " \n");
        if (*c == '/') {
            *closed = true;
            c++;
            continue;
        }
        size_t attribute = strcspn(c, "= />\n");
        if (c[attribute] != '=') { /* without a value: "open" */
            c += attribute;
            if (attribute == 0)
                return *c == '>' ? c : NULL;
            continue;
        }
        const char *value = c + attribute + 2, *end = c[attribute + 1] == '"' ? strchr(value, '"') : NULL;
        if (!end || memchr(value, '<', (size_t)(end - value)) ||
            !is_attribute_sound(c, attribute, value, (size_t)(end - value)))
            return NULL;
        c = end + 1;
    }
    return *c == '>' ? c : NULL;
}

/** Checks that tags are balanced and attributes sound; says what is wrong in `problem`. */
static bool is_sound(const char *text)
{
    char stack[64][24];
    int depth = 0;
    problem[0] = 0;
    for (const char *c = strchr(text, '>') + 1; (c = strpbrk(c, "<&"));) {
        char name[24];
        bool closed;
        if (*c == '&') {
            if (strncmp(c, "&amp;", 5) && strncmp(c, "&lt;", 4) && strncmp(c, "&gt;", 4) && strncmp(c, "&quot;", 6) &&
                strncmp(c, "&#39;", 5)) {
                snprintf(problem, sizeof problem, "bare &: %.40s", c);
                return false;
            }
            c++;
            continue;
        }
        const char *end = read_tag(c, name, sizeof name, &closed);
        if (!end) {
            snprintf(problem, sizeof problem, "bad tag: %.60s", c);
            return false;
        }
        bool empty = closed || strcmp(name, "meta") == 0;
        const bool own =
            strncmp(c, "<script>\n", 9) == 0 && strncmp(c + 9, ys_html_script, strlen(ys_html_script)) == 0;
        if ((strcmp(name, "script") == 0 && !own) || depth >= 63) {
            snprintf(problem, sizeof problem, "%s at depth %d", name, depth);
            return false;
        }
        if (name[0] == '/' && (depth == 0 || strcmp(stack[--depth], name + 1) != 0)) {
            snprintf(problem, sizeof problem, "<%.23s> does not close <%.23s>: %.40s", name, stack[depth], c);
            return false;
        }
        if (name[0] != '/' && !empty)
            snprintf(stack[depth++], sizeof stack[0], "%s", name);
        c = end;
    }
    if (depth > 0)
        snprintf(problem, sizeof problem, "<%s> stays open", stack[depth - 1]);
    return depth == 0;
}

static void the_checker_finds_mistakes(void)
{
    CHECK(is_sound("<!DOCTYPE html><p class=\"a\">x &lt; y</p>"));
    CHECK(!is_sound("<!DOCTYPE html><p>x"));
    CHECK(!is_sound("<!DOCTYPE html><p><b>x</p></b>"));
    CHECK(!is_sound("<!DOCTYPE html><p>a & b</p>"));
    CHECK(!is_sound("<!DOCTYPE html><rect x=\"nan\"/>"));
    CHECK(!is_sound("<!DOCTYPE html><img src=\"x\"/>"));
    CHECK(!is_sound("<!DOCTYPE html><script>x</script>"));
}

static void the_small_study_has_all_its_parts(void)
{
    ys_json *result = made_fixture("small.json");
    REQUIRE(result != NULL);
    const char *text = page(result);
    static const char *const parts[] = {"<h1>yardstick&#39;s own engine, PyTorch and JAX train lenet on digits</h1>",
                                        "The same in all trials:",
                                        "The environments differ",
                                        "<div id=\"comparisons\">",
                                        "id=\"rate-title\"",
                                        "id=\"ratio-title\"",
                                        "id=\"time-title\"",
                                        "id=\"loss-title\"",
                                        "id=\"accuracy-title\"",
                                        "id=\"memory-title\"",
                                        "id=\"cpu-title\"",
                                        "Is it the same work?",
                                        "conv1.weight",
                                        "<div id=\"warnings\">",
                                        "<h3>What did not run</h3>",
                                        "Segmentation fault",
                                        "The host",
                                        "steps = 301",
                                        "<pre>yardstick run studies/first.ys</pre>",
                                        "All metrics"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        tap_check(strstr(text, parts[i]) != NULL, __LINE__, "lacks %s", parts[i]);
    tap_check(is_sound(text), __LINE__, "%s", problem);
}

static void the_page_stands_alone(void)
{
    ys_json *result = made_fixture("small.json");
    REQUIRE(result != NULL);
    const char *text = page(result);
    static const char *const links[] = {"http:",  "https:",  "src=",    "href=\"h",  "@import",   "url(h", "<link",
                                        "fetch(", "import(", "XMLHttp", "WebSocket", "innerHTML", "eval("};
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        tap_check(!strstr(text, links[i]), __LINE__, "has %s", links[i]);
    /* One script, which is the page's own, and has nothing that markup would have to escape. */
    const char *script = strstr(text, "<script>\n");
    REQUIRE(script != NULL);
    CHECK(strncmp(script + strlen("<script>\n"), ys_html_script, strlen(ys_html_script)) == 0);
    CHECK(!strstr(script + 1, "<script"));
    CHECK(!strpbrk(ys_html_script, "<&"));
}

/** How many folds are open around `at`. */
static int folds_around(const char *text, const char *at)
{
    int depth = 0;
    for (const char *c = text; (c = strstr(c, "details>")) && c < at; c++)
        depth += c[-1] == '/' ? -1 : c[-1] == '<' ? 1 : 0;
    return depth;
}

/* The questions stand in the order in which people ask them, each with its answer. */
static void sections_answer_in_order(void)
{
    static const struct {
        const char *id, *title, *answer;
    } sections[] = {
        {"speed", NULL, "yardstick&#39;s own engine on 2 threads is the fastest: 8950 images per second, 1.31"},
        {"accuracy", "At what accuracy?",
         "Verified accuracy reaches from 96.39 % (builtin, 1 thread) to 96.41 % (pytorch, 1 thread)"},
        {"resources", "How much memory and processor?", "Memory at its peak: "},
        {"time", "Where does the time go?", "Of the "},
        {"trust", "Was it the same work, and was the machine quiet?", "Of 4 measured trials "},
        {"settings", "What should I set?", "For speed alone: builtin, 2 threads"},
        {"repeat", "How do I repeat it?", "With the command below"},
    };
    ys_json *result = made_fixture("small.json");
    REQUIRE(result != NULL);
    const char *at = page(result);
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        char *link = ys_format("<a href=\"#%s\">", sections[i].id);
        char *begin = ys_format("<section id=\"%s\">\n%s%s%s<p class=\"answer\">%s", sections[i].id,
                                sections[i].title ? "<h2>" : "", sections[i].title ? sections[i].title : "",
                                sections[i].title ? "</h2>\n" : "", sections[i].answer);
        tap_check(i == 0 || strstr(ys_buf_text(&out), link) != NULL, __LINE__, "no link to %s", sections[i].id);
        const char *here = strstr(at, begin);
        tap_check(here != NULL, __LINE__, "%s does not follow", begin);
        at = here ? here : at;
        ys_free(link);
        ys_free(begin);
    }
}

/* The first screen: title, answer, results with the relative column and the verdict, picture; nothing before them, and
 * only what is meant to be is open. */
static void the_answer_is_above_and_the_rest_folded(void)
{
    static const char *const above[] = {
        "<h1>", "<p class=\"answer\">", ">Relative</th>", ">Against the best</th>", "<svg class=\"wide\"", "<details>",
        "<nav>"};
    static const char *const open[] = {"id=\"loss-title\"", "id=\"memory-title\"", "id=\"time-title\"",
                                       "<h3>What did not run</h3>", "<pre>yardstick run studies/first.ys</pre>"};
    static const char *const folded[] = {
        "id=\"comparisons\"", "id=\"ratio-title\"", "id=\"rounds-title\"", "id=\"proofs\"",  "id=\"warnings\"",
        "id=\"differences\"", "id=\"fronts\"",      "id=\"lines\"",        "id=\"same\"",    "id=\"host\"",
        "id=\"job\"",         "id=\"checks\"",      "id=\"metrics\"",      "id=\"learned\"", "id=\"times\""};
    ys_json *result = made_fixture("small.json");
    REQUIRE(result != NULL);
    const char *text = page(result), *at = text;
    for (size_t i = 0; i < sizeof above / sizeof above[0]; i++) {
        const char *here = strstr(at, above[i]);
        tap_check(here != NULL, __LINE__, "%s does not follow", above[i]);
        at = here ? here : at;
    }
    CHECK(!strstr(text, "<details open>")); /* no proof failed */
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++) {
        const char *here = strstr(text, open[i]);
        tap_check(here && folds_around(text, here) == 0, __LINE__, "%s is not open", open[i]);
    }
    /* What a link leads to is in the fold and not the fold itself, else browsers would not unfold it. */
    for (size_t i = 0; i < sizeof folded / sizeof folded[0]; i++) {
        const char *here = strstr(text, folded[i]);
        tap_check(here && folds_around(text, here) > 0, __LINE__, "%s is not folded", folded[i]);
    }
}

/* Each trial stands beside the fastest, whichever of the two a comparison names first. */
static void results_stand_beside_the_best(void)
{
    for (int first = 0; first <= 1; first++) {
        ys_json *result = made_result((const char *[]){"alpha", "beta"}, 2, 6, first ? "better" : "worse");
        ys_json *slower = ys_json_at(ys_json_get(result, "trials"), first ? 1 : 0);
        (void)!ys_json_set_real(ys_json_get(ys_json_get(slower, "metrics"), "rate_per_s"), "value", 59);
        (void)!ys_json_set_real(made_comparison(result), "ratio", first ? 1 / 0.59 : 0.59);
        const char *text = page(result);
        CHECK_HAS(text, ">0.59x</td>\n<td class=\"v\">slower</td>");
        CHECK_HAS(text, "data-v=\"1\">1.00</td>\n<td class=\"v good\">best</td>");
    }
}

static void curves_that_coincide_are_said_to(void)
{
    static const char *const details[] = {"[{'status':'ok','loss':[3,2,1]}]", "[{'status':'ok','loss':[3,2.001,1]}]",
                                          "[{'status':'ok','loss':[3,2.1,1]}]"};
    for (size_t other = 1; other <= 2; other++) {
        ys_json *result = made_result((const char *[]){"alpha", "beta", "gamma"}, 3, 6, NULL),
                *trials = ys_json_get(result, "trials");
        for (size_t i = 0; i < 3; i++)
            (void)!ys_json_set(ys_json_at(trials, i), "runs_detail", made_json(details[i == 2 ? other : i]));
        const char *text = page(result);
        CHECK_INT(strstr(text, "All 3 lie on one line.") != NULL, other == 1);
        CHECK_INT(strstr(text, "On one line lie alpha and beta.") != NULL, other == 2);
    }
}

static void the_same_document_gives_the_same_page(void)
{
    ys_json *result = made_fixture("small.json");
    REQUIRE(result != NULL);
    struct ys_buf again = {0};
    made_html(result, &again);
    CHECK_TEXT(page(result), ys_buf_text(&again));
    ys_buf_free(&again);
}

static void hostile_texts_stay_texts(void)
{
    ys_json *result = made_result((const char *[]){"<img onerror=x>"}, 1, 6, NULL),
            *trial = ys_json_at(ys_json_get(result, "trials"), 0);
    (void)!ys_json_set_string(trial, "status", "crashed");
    (void)!ys_json_set_int(trial, "failed", 6);
    (void)!ys_json_set(
        trial, "runs_detail",
        made_json("[{'round':0,'status':'crashed','message':'</summary>','log_tail':'\\u001b[31m</pre><b>'}]"));
    (void)!ys_json_set_string(ys_json_get(result, "study"), "job_text", "</pre><script>x</script>");
    const char *text = page(result);
    tap_check(is_sound(text), __LINE__, "%s", problem);
    CHECK_HAS(text, "&lt;img onerror=x&gt;");
    CHECK_HAS(text, "<pre>&lt;/pre&gt;&lt;b&gt;</pre>");
    CHECK(!strchr(text, 0x1B));
}

static void losses_that_are_no_numbers_break_the_curve(void)
{
    ys_json *result = made_result((const char *[]){"alpha"}, 1, 6, NULL);
    (void)!ys_json_set(
        ys_json_at(ys_json_get(result, "trials"), 0), "runs_detail",
        made_json(
            "[{'status':'ok','loss':[2,1,null,'nan','-inf',1,0.5],'samples':{'t_s':[0,1],'rss_bytes':[null,5]}}]"));
    const char *text = page(result);
    CHECK_HAS(text, "id=\"loss-title\"");
    const char *path = strstr(text, "<path d=\"M");
    REQUIRE(path != NULL);
    CHECK(strchr(path + 10, 'M') < strchr(path, '>'));
    tap_check(is_sound(text), __LINE__, "%s", problem);
}

static void losses_that_are_all_missing_give_no_chart(void)
{
    ys_json *result = made_result((const char *[]){"alpha"}, 1, 6, NULL);
    (void)!ys_json_set(ys_json_at(ys_json_get(result, "trials"), 0), "runs_detail",
                       made_json("[{'status':'ok','loss':[null,'nan']}]"));
    CHECK(!strstr(page(result), "loss-title"));
}

/* Two frameworks over threads and batch. */
static ys_json *grid_result(void)
{
    static const char *const names[] = {"alpha", "alpha", "alpha", "alpha", "alpha", "alpha",
                                        "beta",  "beta",  "beta",  "beta",  "beta",  "beta"};
    ys_json *result = made_result(names, 12, 6, NULL), *trials = ys_json_get(result, "trials");
    for (int i = 0; i < 12; i++) {
        char *factors =
            ys_format("{'framework':'%s','threads':%d,'batch':%d}", names[i], 1 << i % 3, i % 6 < 3 ? 8 : 64);
        char *rate = ys_format("{'value':%d,'unit':'1/s','kind':'rate','n':6,'ci':[%d,%d],'level':0.97}", 100 + 10 * i,
                               99 + 10 * i, 101 + 10 * i);
        CHECK(ys_json_set(ys_json_at(trials, (size_t)i), "factors", made_json(factors)) == YS_OK);
        CHECK(ys_json_set(ys_json_get(ys_json_at(trials, (size_t)i), "metrics"), "rate_per_s", made_json(rate)) ==
              YS_OK);
        ys_free(factors);
        ys_free(rate);
    }
    return result;
}

/* Losses of twelve trials of two frameworks are two pictures on one scale; of twelve of one framework it is one. */
static void many_curves_of_several_frameworks_are_panels(void)
{
    for (int alone = 0; alone <= 1; alone++) {
        ys_json *result = grid_result(), *trials = ys_json_get(result, "trials");
        for (size_t i = 0; i < 12; i++) {
            char *detail = ys_format("[{'status':'ok','loss':[%zu,1]}]", i + 2);
            (void)!ys_json_set(ys_json_at(trials, i), "runs_detail", made_json(detail));
            if (alone)
                (void)!ys_json_set_string(ys_json_get(ys_json_at(trials, i), "framework"), "name", "alpha");
            ys_free(detail);
        }
        const char *text = page(result);
        tap_check(is_sound(text), __LINE__, "%s", problem);
        CHECK_INT(strstr(text, "id=\"loss-title\"") != NULL, alone);
        CHECK_INT(strstr(text, "id=\"loss-0-title\"") != NULL && strstr(text, "id=\"loss-1-title\"") != NULL, !alone);
        CHECK_INT(strstr(text, "others thinly. One scale for all.") != NULL, !alone);
    }
}

static void pictures_are_those_that_the_data_ask_for(void)
{
    const char *text = page(grid_result());
    tap_check(is_sound(text), __LINE__, "%s", problem);
    static const char *const drawn[] = {"Speed along threads", "Speed along batch",  "Speed over two settings",
                                        "id=\"heat0-title\"",  "id=\"heat1-title\"", "Speed against accuracy"};
    for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++)
        tap_check(strstr(text, drawn[i]) != NULL, __LINE__, "lacks %s", drawn[i]);
    CHECK_HAS(text, "<title>64, 4: 150</title>"); /* alpha, batch 64, 4 threads */
    /* What no other beats is a trial of beta: alpha's colour has its name in the legend all the same. */
    const char *front = strstr(text, "id=\"front-accuracy-title\"");
    REQUIRE(front != NULL);
    const char *end = strstr(front, "</svg>"), *named = strstr(front, ">alpha</text>");
    CHECK(named && named < end);
    CHECK(!strstr(front, ">beta</text>") || strstr(front, ">beta</text>") > end);
    CHECK_HAS(text, "120 [119, 121]");
    CHECK(!strstr(text, "How long steps take") && !strstr(text, "From round to round"));
    ys_json *small = made_fixture("small.json");
    REQUIRE(small != NULL);
    text = page(small);
    static const char *const others[] = {"Speed along threads", "Accuracy against time", "Speed against memory",
                                         "From round to round"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        tap_check(strstr(text, others[i]) != NULL, __LINE__, "lacks %s", others[i]);
    CHECK(!strstr(text, "Speed over two settings"));
    const char *fold = strstr(text, "id=\"along\""); /* of two values the first picture shows as much */
    CHECK(fold && fold < strstr(text, "Speed along threads"));
    CHECK_HAS(text, "measured trials 3 are proven to do the same work, 1 as far as it could be shown.");
}

static void slow_steps_make_a_tail(void)
{
    ys_json *result = made_result((const char *[]){"alpha"}, 1, 6, NULL);
    struct ys_buf steps = {0};
    for (int i = 0; i < 200; i++)
        ys_buf_printf(&steps, "%s%g", i ? "," : "", i == 150 ? 0.5 : 0.01 + 1e-6 * i);
    char *detail = ys_format("[{'status':'ok','blocks':{'step_s':[%s],'steady_from':20}}]", ys_buf_text(&steps));
    (void)!ys_json_set(ys_json_at(ys_json_get(result, "trials"), 0), "runs_detail", made_json(detail));
    const char *text = page(result);
    CHECK_HAS(text, "How long steps take");
    tap_check(is_sound(text), __LINE__, "%s", problem);
    ys_free(detail);
    ys_buf_free(&steps);
}

static void empty_and_failed_studies_make_a_page(void)
{
    static const char *const documents[] = {
        "{}", "{'trials':[]}", "{'trials':[{'framework':{'name':'x'},'status':'missing','reason':'not installed'}]}",
        "{'study':{'name':'n'},'trials':[{'status':'ok','runs':1,'metrics':{'rate_per_s':{'value':5}}}]}"};
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        const char *text = page(made_json(documents[i]));
        tap_check(is_sound(text), __LINE__, "%s", problem);
        CHECK_HAS(text, "</html>\n");
    }
    CHECK_HAS(page(made_json(documents[2])), "missing: not installed");
}

static void twenty_trials_with_long_names_make_a_page(void)
{
    char names[20][160];
    const char *pointers[20];
    for (int i = 0; i < 20; i++) {
        memset(names[i], 'n', sizeof names[i]);
        snprintf(names[i] + 140, 20, "%d", i);
        pointers[i] = names[i];
    }
    const char *text = page(made_result(pointers, 20, 6, "better"));
    tap_check(is_sound(text), __LINE__, "%s", problem);
    CHECK_HAS(text, "nnn\xE2\x80\xA6<title>nnn");
}

/* 400 trials with every metric and a proof, and as many comparisons of each of seven metrics. */
static ys_json *large_result(void)
{
    enum { TRIALS = 400 };
    static const char *const compared[] = {"rate_per_s", "step_s", "accuracy",      "wall_s",
                                           "start_s",    "cpu_s",  "rss_peak_bytes"};
    const char *names[TRIALS];
    for (int i = 0; i < TRIALS; i++)
        names[i] = i % 2 ? "builtin" : "pytorch";
    ys_json *result = made_result(names, TRIALS, 6, "better"), *small = made_fixture("small.json");
    ys_json *trials = ys_json_get(result, "trials"), *all = ys_json_get(result, "comparisons");
    const ys_json *full = ys_json_at(ys_json_get(small, "trials"), 0);
    for (size_t t = 0; t < TRIALS; t++) {
        static const char *const shared[] = {"metrics", "proof", "runs_detail"};
        for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
            CHECK(ys_json_set(ys_json_at(trials, t), shared[i], ys_json_ref(ys_json_get(full, shared[i]))) == YS_OK);
        for (size_t m = 0; t > 0 && m < sizeof compared / sizeof compared[0]; m++) {
            ys_json *one = ys_json_copy(made_comparison(result));
            char *id = ys_format("t%zu", t);
            CHECK(ys_json_set_string(one, "metric", compared[m]) == YS_OK && ys_json_set_string(one, "b", id) == YS_OK);
            CHECK(ys_json_append(all, one) == YS_OK);
            ys_free(id);
        }
    }
    ys_json_free(small);
    return result;
}

static void a_page_of_many_trials_is_cut_and_says_so(void)
{
    const char *text = page(large_result());
    tap_check(is_sound(text), __LINE__, "%s", problem);
    tap_check(strlen(text) < 2 << 20, __LINE__, "%zu bytes", strlen(text));
    CHECK_HAS(text, "The first 100 of 400 trials: <code>yardstick show 1 --format=json</code> has all.");
    CHECK_HAS(text, "The first 100 of 400 comparisons: ");
    CHECK_HAS(text,
              "Drawn are the first 24 of 400 trials, and of each the first 4 runs: <code>yardstick export 1</code>");
}

static void any_result_gives_a_sound_page(void)
{
    for (uint64_t seed = 1; seed <= 150; seed++)
        tap_check(is_sound(page(made_random(seed))), __LINE__, "seed %llu: %s", (unsigned long long)seed, problem);
}

TAP_MAIN(TAP_CASE(the_checker_finds_mistakes), TAP_CASE(the_small_study_has_all_its_parts),
         TAP_CASE(the_page_stands_alone), TAP_CASE(sections_answer_in_order),
         TAP_CASE(the_answer_is_above_and_the_rest_folded), TAP_CASE(results_stand_beside_the_best),
         TAP_CASE(curves_that_coincide_are_said_to), TAP_CASE(the_same_document_gives_the_same_page),
         TAP_CASE(hostile_texts_stay_texts), TAP_CASE(losses_that_are_no_numbers_break_the_curve),
         TAP_CASE(losses_that_are_all_missing_give_no_chart), TAP_CASE(many_curves_of_several_frameworks_are_panels),
         TAP_CASE(pictures_are_those_that_the_data_ask_for), TAP_CASE(slow_steps_make_a_tail),
         TAP_CASE(empty_and_failed_studies_make_a_page), TAP_CASE(twenty_trials_with_long_names_make_a_page),
         TAP_CASE(a_page_of_many_trials_is_cut_and_says_so), TAP_CASE(any_result_gives_a_sound_page))
