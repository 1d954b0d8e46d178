#include "prepare/noted_peak.h"

#include "base/files/fs.h"
#include "base/json/shared_words.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "prepare/machine_notes.h"

#include <math.h>
#include <stdio.h>

static const double LIMIT_S = 3600;

struct measured_product {
    int format; /* enum ys_precision */
    int64_t threads;
    double flops_per_s;
};
struct stored_peak {
    struct ys_list peaks;  /* struct measured_product: the best of each format and number of threads */
    char *products_reason; /* why there are none; NULL: there are */
};
static const struct ys_field product_fields[] = {
    YS_FIELD_NAMED(struct measured_product, format, &ys_precisions, 0, "f32 or bf16"),
    YS_FIELD(struct measured_product, threads, YS_FIELD_INT, "1", 0, "that shared it"),
    YS_FIELD(struct measured_product, flops_per_s, YS_FIELD_REAL, "1/s", 0, "operations of all of them"),
};
static const struct ys_record product_record = YS_RECORD("product", struct measured_product, product_fields);
static const struct ys_field fields[] = {
    YS_FIELD_OF(struct stored_peak, peaks, YS_FIELD_LIST, &product_record, 0, "best products"),
    YS_FIELD(struct stored_peak, products_reason, YS_FIELD_TEXT, NULL, YS_FIELD_NULL | YS_FIELD_LATER,
             "why there are none"),
};
static const struct ys_record record = YS_RECORD("peak", struct stored_peak, fields);

static ys_status ask(const char *program, int repeat, ys_json **peak)
{
    char times[16];
    snprintf(times, sizeof times, "%d", repeat);
    const char *const argv[] = {program, "--peak", "--format=json", "--repeat", times, NULL};
    const struct ys_child_options options = {.is_own = true, .timeout_s = LIMIT_S};
    struct ys_buf output = {0};
    int code = 0;
    ys_status status = ys_child_run(argv, &options, &output, &code);
    if (status == YS_OK && code != 0)
        status = ys_fail(YS_EIO, "yardstick-builtin --peak ended with exit code %d", code);
    if (status == YS_OK)
        status = ys_json_parse(ys_buf_text(&output), output.size, "what yardstick-builtin --peak says", peak);
    ys_buf_free(&output);
    return status;
}

/* What holds no product would be no limit, and is not kept. */
static ys_status need_products(const ys_json *made)
{
    struct stored_peak peak;
    YS_TRY(ys_record_read(&record, made, "what yardstick-builtin --peak says", &peak));
    ys_status status =
        peak.products_reason ? ys_fail(YS_EUNSUPPORTED, "no products were measured: %s", peak.products_reason) : YS_OK;
    ys_record_fini(&record, &peak);
    return status;
}

ys_status ys_peak_measure(int repeat, ys_json **peak)
{
    char *program = ys_find_support("yardstick-builtin"), *date = ys_machine_note_date(),
         *host = ys_machine_note_host();
    ys_json *made = NULL;
    ys_status status = program ? ask(program, repeat, &made)
                               : ys_fail(YS_ENOTFOUND, "the program yardstick-builtin is not found beside yardstick; "
                                                       "build or install it again");
    if (status == YS_OK)
        status = need_products(made);
    if (status == YS_OK)
        ys_json_set_string(made, "date", date);
    if (status == YS_OK)
        ys_json_set_string(made, "host", host);
    if (status == YS_OK)
        status = ys_machine_note_write("peak", made);
    ys_free(program);
    ys_free(date);
    ys_free(host);
    if (status == YS_OK)
        *peak = made;
    else
        ys_json_free(made);
    return status;
}

static void raise_to(double *best, double value)
{
    if (value > 0 && (isnan(*best) || value > *best))
        *best = value;
}

void ys_peak_read(struct ys_peak_measured *measured)
{
    ys_json *json = NULL;
    struct stored_peak peak;
    for (int p = 0; p < YS_PRECISION_COUNT; p++)
        measured->per_s[p] = NAN;
    ys_status status = ys_machine_note_read("peak", &json);
    if (status == YS_OK)
        status = ys_record_read(&record, json, "the peak that doctor kept", &peak);
    ys_json_free(json);
    if (status != YS_OK)
        return;
    const struct measured_product *products = peak.peaks.items;
    for (size_t i = 0; i < peak.peaks.count; i++) {
        if (products[i].threads > 0)
            raise_to(&measured->per_s[products[i].format], products[i].flops_per_s / (double)products[i].threads);
    }
    ys_record_fini(&record, &peak);
}
