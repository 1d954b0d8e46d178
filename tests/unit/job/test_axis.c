#include "job/axis.h"

#include "base/buf.h"
#include "tap.h"

/* "a|b|c", or the error. */
static const char *values_of(const char *key, const char *text, enum ys_axis_form form)
{
    static struct ys_buf out;
    struct ys_axis axis;
    ys_buf_free(&out);
    if (ys_axis_parse(ys_option_find(key), key, text, form, &axis) != YS_OK)
        return ys_error();
    for (size_t i = 0; i < axis.count; i++)
        ys_buf_printf(&out, "%s%s", i ? "|" : axis.is_axis ? "axis " : "", axis.texts[i]);
    ys_axis_fini(&axis);
    static char text_out[4096]; /* the buffer is freed so that leaks show */
    snprintf(text_out, sizeof text_out, "%s", ys_buf_text(&out));
    ys_buf_free(&out);
    return text_out;
}

static const char *in_file(const char *key, const char *text)
{
    return values_of(key, text, YS_AXIS_FILE);
}

static void braces_list_values(void)
{
    CHECK_TEXT(in_file("threads", "{1, 2,4}"), "axis 1|2|4");
    CHECK_TEXT(in_file("threads", "{ 3 }"), "axis 3");
    CHECK_TEXT(in_file("framework", "{builtin, pytorch@2.1}"), "axis builtin|pytorch@2.1");
    CHECK_TEXT(in_file("env.X", "{\"a, b\", \"}\\\"\", c}"), "axis a, b|}\"|c");
    CHECK_TEXT(in_file("schedule", "{constant, step(30, 0.1)}"), "axis constant|step(30, 0.1)");
    CHECK_TEXT(in_file("schedule", "{warmup(5) cosine, inv(0.1)}"), "axis warmup(5) cosine|inv(0.1)");
    CHECK_TEXT(in_file("optimizer", "{sgd, adam(0.9, 0.99, 1e-8), rmsprop}"), "axis sgd|adam(0.9, 0.99, 1e-8)|rmsprop");
}

static void without_braces_a_value_is_one(void)
{
    CHECK_TEXT(in_file("cpus", "0-3,5"), "0-3,5");
    CHECK_TEXT(in_file("env.X", "a,b,{c}"), "a,b,{c}");
    CHECK_TEXT(values_of("env.X", "{a, b}", YS_AXIS_QUOTED), "{a, b}");
}

static void whole_ranges_count_step_and_multiply(void)
{
    CHECK_TEXT(in_file("threads", "{1..8}"), "axis 1|2|3|4|5|6|7|8");
    CHECK_TEXT(in_file("batch", "{1..64 *2}"), "axis 1|2|4|8|16|32|64");
    CHECK_TEXT(in_file("batch", "{1..10*3}"), "axis 1|3|9");
    CHECK_TEXT(in_file("batch", "{1..10 +4}"), "axis 1|5|9");
    CHECK_TEXT(in_file("batch", "{1, 4..6, 100}"), "axis 1|4|5|6|100");
    CHECK_TEXT(in_file("batch", "{5..5}"), "axis 5");
}

static void ranges_of_numbers_reach_their_end_despite_rounding(void)
{
    CHECK_TEXT(in_file("lr", "{0.1..0.3 +0.1}"), "axis 0.1|0.2|0.3");
    CHECK_TEXT(in_file("sample_hz", "{0..10 +2.5}"), "axis 0|2.5|5|7.5|10");
    CHECK_TEXT(in_file("lr", "{0.001..1 *10}"), "axis 0.001|0.01|0.1|1");
}

static void logarithmic_ranges_have_equal_ratios(void)
{
    CHECK_TEXT(in_file("lr", "{log 1e-4..1e-1 x 7}"), "axis 0.0001|0.000316228|0.001|0.00316228|0.01|0.0316228|0.1");
    CHECK_TEXT(in_file("lr", "{log 1..4 x 2, 8}"), "axis 1|4|8");
}

static void bad_axes_are_refused_with_a_remedy(void)
{
    CHECK_TEXT(in_file("threads", "{}"), "threads = {}: this axis has no values: write {a, b, c}");
    CHECK_TEXT(in_file("threads", "{1, 2"), "threads = {1, 2: the closing brace is missing: write {a, b, c}");
    CHECK_TEXT(in_file("threads", "{1,,2}"), "threads = {1,,2}: a value is missing between the commas");
    CHECK_TEXT(in_file("threads", "{1,{2}}"), "threads = {1,{2}}: braces stand once, around all values: {a, b, c}");
    CHECK_TEXT(in_file("seed", "{1, 2}"), "seed = {1, 2}: seed takes one value, not an axis: remove the braces");
}

static void bad_ranges_are_refused_with_a_remedy(void)
{
    const char *no_range = ": this is no range: write {1..8}, {0..10 +2} or {1..64 *2}";
    const char *bad[] = {"{1..}",       "{..8}",    "{1..8 -1}",    "{1..8 * }",
                         "{1..8 *1.5}", "{1.5..8}", "{1..8 +2 +3}", "{a..b}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_HAS(in_file("threads", bad[i]), no_range);
    CHECK_TEXT(in_file("threads", "{8..1}"), "threads = {8..1}: the range falls: write the smaller end first");
    CHECK_TEXT(in_file("threads", "{1..8 +0}"), "threads = {1..8 +0}: the step must be above 0");
    CHECK_TEXT(in_file("threads", "{1..8 *1}"),
               "threads = {1..8 *1}: the factor must be above 1, and the first end above 0");
    CHECK_TEXT(in_file("threads", "{0..8 *2}"),
               "threads = {0..8 *2}: the factor must be above 1, and the first end above 0");
    CHECK_TEXT(in_file("lr", "{1..2}"),
               "lr = {1..2}: a range of numbers needs a step: write {1..2 +STEP} or {1..2 *FACTOR}");
    CHECK_TEXT(in_file("batch", "{1..1000000}"), "batch = {1..1000000}: more than 1000 values on one axis");
    CHECK_TEXT(in_file("lr", "{log 1e-4..1e-1}"),
               "lr = {log 1e-4..1e-1}: this is no logarithmic range: write {log 1e-4..1e-1 x 7}");
    CHECK_TEXT(in_file("lr", "{log 0..1 x 3}"),
               "lr = {log 0..1 x 3}: a logarithmic range rises from a number above 0, in 2 to 1000 values");
    CHECK_TEXT(in_file("batch", "{log 1..64 x 7}"),
               "batch = {log 1..64 x 7}: log makes numbers with fractions, which batch cannot be: write {1..64 *2}");
}

static void on_the_command_line_a_comma_makes_an_axis(void)
{
    CHECK_TEXT(values_of("threads", "1,2,4", YS_AXIS_FLAG), "axis 1|2|4");
    CHECK_TEXT(values_of("threads", "{1..4 *2}", YS_AXIS_FLAG), "axis 1|2|4");
    CHECK_TEXT(values_of("threads", "2", YS_AXIS_FLAG), "2");
    CHECK_TEXT(values_of("schedule", "step(30, 0.1)", YS_AXIS_FLAG), "step(30, 0.1)");
    CHECK_TEXT(values_of("schedule", "constant,step(30,0.1)", YS_AXIS_FLAG), "axis constant|step(30,0.1)");
    CHECK_TEXT(values_of("optimizer", "adam(0.9,0.99,1e-8)", YS_AXIS_FLAG), "adam(0.9,0.99,1e-8)");
    CHECK_TEXT(values_of("optimizer", "sgd,adam(0.9,0.99,1e-8)", YS_AXIS_FLAG), "axis sgd|adam(0.9,0.99,1e-8)");
    CHECK_TEXT(values_of("env.X", "\"a,b\"", YS_AXIS_FLAG), "a,b");
    CHECK_TEXT(values_of("cpus", "0-3,5", YS_AXIS_FLAG), "0-3,5");
    CHECK_TEXT(values_of("cpus", "{0-3,\"0,2\"}", YS_AXIS_FLAG), "axis 0-3|0,2");
    CHECK_TEXT(values_of("results", "a,b", YS_AXIS_FLAG), "a,b");
}

TAP_MAIN(TAP_CASE(braces_list_values), TAP_CASE(without_braces_a_value_is_one),
         TAP_CASE(whole_ranges_count_step_and_multiply), TAP_CASE(ranges_of_numbers_reach_their_end_despite_rounding),
         TAP_CASE(logarithmic_ranges_have_equal_ratios), TAP_CASE(bad_axes_are_refused_with_a_remedy),
         TAP_CASE(bad_ranges_are_refused_with_a_remedy), TAP_CASE(on_the_command_line_a_comma_makes_an_axis))
