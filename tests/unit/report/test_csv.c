#include "made.h"

static struct ys_buf out;

static const char *csv(ys_json *result)
{
    ys_buf_clear(&out);
    made_csv(result, &out);
    ys_json_free(result);
    return ys_buf_text(&out);
}

static void one_line_a_trial_with_all_digits(void)
{
    ys_json *result = made_result((const char *[]){"alpha"}, 1, 6, NULL);
    (void)!ys_json_set_real(
        ys_json_get(ys_json_get(ys_json_at(ys_json_get(result, "trials"), 0), "metrics"), "rate_per_s"), "value",
        1.0 / 3);
    const char *text = csv(result);
    CHECK_HAS(text, "trial,section,framework,version,status,stage,reason,proof,runs,failed,deviations,wall_s,wall_s_lo,"
                    "wall_s_hi,wall_s_n,");
    CHECK_HAS(text, "\nt0,s,alpha,1,ok,,,pass,6,0,,,,,");
    CHECK_HAS(text, ",,0.3333333333333333,98.0,103.0,6,,");
    CHECK_HAS(text, ",,0.97,,,1,,");
}

static void texts_are_quoted_and_formulas_disarmed(void)
{
    CHECK_HAS(
        csv(made_json("{'trials':[{'id':'=1+1','section':'a,b','framework':{'name':'say \\\"x\\\"'},'status':'missing',"
                      "'reason':'two\\nlines','deviations':['p','q']}]}")),
        "\n\"'=1+1\",\"a,b\",\"say \"\"x\"\"\",,missing,,two lines,none,0,0,p; q,,,");
}

static void a_trial_that_failed_has_empty_numbers(void)
{
    ys_json *result = made_result((const char *[]){"alpha"}, 1, 6, NULL),
            *trial = ys_json_at(ys_json_get(result, "trials"), 0);
    (void)!ys_json_set_string(trial, "status", "crashed");
    (void)!ys_json_set_int(trial, "failed", 6);
    const char *text = csv(result), *row = strstr(text, "\nt0,s,alpha,1,crashed,,,pass,6,6,,");
    REQUIRE(row != NULL);
    row += strlen("\nt0,s,alpha,1,crashed,,,pass,6,6,");
    CHECK_INT(strspn(row, ","), strlen(row) - 1); /* and the end of the line */
}

static void every_line_has_the_same_number_of_fields(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        int fields = 0, first = 0, quoted = 0;
        for (const char *c = csv(made_random(seed)); *c; c++) {
            quoted ^= *c == '"';
            fields += *c == ',' && !quoted;
            if (*c != '\n' || quoted)
                continue;
            first = first ? first : fields;
            tap_check(fields == first, __LINE__, "seed %llu: %d commas, not %d", (unsigned long long)seed, fields,
                      first);
            fields = 0;
        }
        CHECK_INT(quoted, 0);
    }
}

TAP_MAIN(TAP_CASE(one_line_a_trial_with_all_digits), TAP_CASE(texts_are_quoted_and_formulas_disarmed),
         TAP_CASE(a_trial_that_failed_has_empty_numbers), TAP_CASE(every_line_has_the_same_number_of_fields))
