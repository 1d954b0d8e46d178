/* Scales of a quantised network as JSON, there and back, and what of them is refused. */
#include "base/json/json.h"
#include "base/mem.h"
#include "graph/scales.h"
#include "tap.h"
#include <math.h>

static const char right[] =
    "{\"rule\": {\"kind\": \"static\", \"scheme\": \"per-channel\", \"range\": \"reduced\","
    " \"calibration\": \"percentile\", \"percentile\": 99.9, \"rows\": 512},"
    " \"activations\": [{\"value\": \"x\", \"scale\": 0.25, \"zero_point\": 7},"
    " {\"value\": \"y\", \"scale\": 1, \"zero_point\": 0, \"constant\": true}],"
    " \"weights\": [{\"param\": \"conv.weight\", \"scales\": [0.5, 0.125]}, {\"param\": \"fc\", \"scales\": [2]}]}";

static ys_status read_text(const char *text, struct ys_scales *scales)
{
    ys_json *json;
    ys_scales_init(scales);
    YS_TRY(ys_json_parse(text, strlen(text), "scales", &json));
    ys_status status = ys_scales_from_json(json, "scales", scales);
    ys_json_free(json);
    return status;
}

static void check_right(const struct ys_scales *scales)
{
    CHECK_INT(scales->rule.kind, YS_QUANT_STATIC);
    CHECK_INT(scales->rule.scheme, YS_QUANT_PER_CHANNEL);
    CHECK_INT(scales->rule.range, YS_QUANT_REDUCED);
    CHECK_INT(scales->rule.calibration, YS_QUANT_PERCENTILE);
    CHECK(scales->rule.percentile == 99.9);
    CHECK_INT(scales->rule.rows, 512);
    const struct ys_activation_scale *x = ys_scales_of_value(scales, "x"), *y = ys_scales_of_value(scales, "y");
    const struct ys_weight_scale *conv = ys_scales_of_param(scales, "conv.weight"),
                                 *fc = ys_scales_of_param(scales, "fc");
    REQUIRE(x && y && conv && fc);
    CHECK(x->scale == 0.25 && x->zero_point == 7 && !x->constant);
    CHECK(y->scale == 1 && y->zero_point == 0 && y->constant);
    CHECK(ys_weight_scale_at(conv, 1) == 0.125);
    CHECK(ys_weight_scale_at(fc, 5) == 2);
    CHECK(!ys_scales_of_value(scales, "conv.weight"));
    CHECK(!ys_scales_of_param(scales, "x"));
}

static void what_is_written_is_read_back(void)
{
    struct ys_scales scales, again;
    REQUIRE(read_text(right, &scales) == YS_OK);
    check_right(&scales);
    ys_json *json = ys_record_json(&ys_scales_record, &scales);
    REQUIRE(ys_scales_from_json(json, "again", &again) == YS_OK);
    check_right(&again);
    ys_json_free(json);
    ys_scales_fini(&scales);
    ys_scales_fini(&again);
}

/** `right` with `with` in place of `from`. */
static ys_status read_changed(const char *from, const char *with)
{
    char text[sizeof right + 64];
    const char *at = strstr(right, from);
    struct ys_scales scales;
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - right), right, with, at + strlen(from));
    const ys_status status = read_text(text, &scales);
    ys_scales_fini(&scales);
    return status;
}

static void what_is_no_scale_is_named(void)
{
    static const struct {
        const char *from, *with, *says;
    } cases[] = {
        {"0.25", "0", "value x: scale 0"},
        {"0.25", "-0.25", "value x: scale -0.25"},
        {"0.25", "0.1", "no positive float32"},
        {"0.25", "1e-42", "value x"},
        {"\"zero_point\": 7", "\"zero_point\": 256", "zero point 256 is no byte"},
        {"\"value\": \"y\"", "\"value\": \"x\"", "value x has scales twice"},
        {"\"param\": \"fc\"", "\"param\": \"conv.weight\"", "weight conv.weight has scales twice"},
        {"[0.5, 0.125]", "[]", "weight conv.weight has no scale"},
        {"[0.5, 0.125]", "[0.5, null]", "conv.weight"},
        {"99.9", "50", "percentile(50)"},
        {", \"percentile\": 99.9", "", "has a percentile"},
        {"\"static\"", "\"dynamic\"", "calibrates nothing"},
        {"\"static\"", "\"half\"", "half"},
        {"512", "0", "at least one row"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_INT(read_changed(cases[i].from, cases[i].with), YS_EFORMAT);
        CHECK_HAS(ys_error(), cases[i].says);
    }
}

TAP_MAIN(TAP_CASE(what_is_written_is_read_back), TAP_CASE(what_is_no_scale_is_named))
