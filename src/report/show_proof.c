#include "base/stored/formats.h"
#include "base/json/shared_words.h"
#include "base/mem.h"
#include "report/clean_text.h"
#include "report/report.h"
#include "report/shared_sentences.h"
#include "report/sheet/sheet.h"
#include <math.h>
#include <string.h>

static const char *const titles[] = {
    [YS_PROOF_WORK] = "Work: the same network and data",
    [YS_PROOF_MEANING] = "Meaning: both in double precision",
    [YS_PROOF_NUMERICS] = "Numerics: in the trial's own format",
};

static void put_half(const struct ys_proof *proof, int half, int width, struct ys_buf *out)
{
    static const struct ys_sheet_column columns[] = {{YS_FORM_TEXT, YS_COLUMN_NAME, "check", NULL},
                                                     {YS_FORM_TEXT, YS_COLUMN_NUMBER, "error", NULL},
                                                     {YS_FORM_TEXT, YS_COLUMN_NUMBER, "bound", NULL},
                                                     {YS_FORM_TEXT, YS_COLUMN_VERDICT, "verdict", NULL},
                                                     {YS_FORM_TEXT, YS_COLUMN_WIDE, "worst", NULL}};
    const struct ys_medium medium = {.form = YS_FORM_TEXT, .width = width};
    struct ys_sheet sheet = ys_sheet_init(&medium);
    sheet.title = titles[half];
    ys_sheet_columns(&sheet, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < proof->checks.count; i++) {
        const struct ys_proof_check *check = ys_proof_check_at(proof, i);
        if (check->half != half)
            continue;
        ys_sheet_row(&sheet);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, check->name);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, ys_label_error(check->error).text);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, check->bound == 0 ? "equal" : ys_label_error(check->bound).text);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, check->pass ? "pass" : "FAIL");
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, check->worst);
    }
    ys_sheet_write(&sheet, out);
}

static void put_verdict(const struct ys_proof *proof, int width, struct ys_buf *out)
{
    static const char *const meanings[] = {
        [YS_PROOF_PASS] = "Proof: pass. The same work is done.",
        [YS_PROOF_WEAK] = "Proof: weak. Nothing differs, as far as it could be shown.",
        [YS_PROOF_FAIL] = "Proof: FAIL. This is other work than was asked for: comparisons with it are invalid.",
        [YS_PROOF_NONE] = "Proof: none. It is not shown that the same work is done.",
    };
    struct ys_buf text = {0};
    ys_buf_puts(&text, meanings[proof->verdict]);
    if (proof->reason && proof->reason[0]) {
        ys_buf_puts(&text, " Reason: ");
        ys_text_clean(&text, proof->reason, false);
    }
    ys_text_wrap(out, ys_buf_text(&text), 0, 2, width);
    ys_buf_free(&text);
}

/* "node conv2 (Conv), value conv2: error 1.2e-03, bound 1.0e-09." */
static void put_place(struct ys_buf *text, const struct ys_proof_place *place, const char *kind)
{
    ys_buf_printf(text, "node %s (%s), %s %s: error %s", place->node, place->op, kind, place->name,
                  isnan(place->error) ? "infinite" : ys_label_error(place->error).text);
    ys_buf_printf(text, ", bound %s.", ys_label_error(place->bound).text);
}

/* The largest share of its bound among the first `count` places, which hold. */
static const struct ys_proof_place *closest(const struct ys_proof_place *places, size_t count)
{
    const struct ys_proof_place *found = places;
    for (const struct ys_proof_place *place = places; place < places + count; place++)
        if (place->error / place->bound > found->error / found->bound)
            found = place;
    return found;
}

static void put_row(struct ys_buf *out, const char *title, const char *text, int width)
{
    ys_buf_printf(out, "  %-9s ", title);
    ys_text_wrap(out, text, 12, 12, width);
}

/* `kind`: what its places are; `before`: what lies before the first. */
static void put_pass(const struct ys_proof_pass *pass, const char *title, const char *kind, const char *before,
                     int width, struct ys_buf *out)
{
    const struct ys_proof_place *places = pass->places.items;
    const bool found = pass->first >= 0 && (size_t)pass->first < pass->places.count;
    const size_t held = found ? (size_t)pass->first : pass->places.count;
    struct ys_buf text = {0};
    if (pass->reason)
        ys_buf_printf(&text, "could not be traced: %s", pass->reason);
    if (found) {
        ys_buf_puts(&text, "first beyond its bound: ");
        put_place(&text, &places[held], kind);
        if (held > 0)
            ys_buf_printf(&text, " Of the %zu %s, the closest: ", held, before);
    } else if (!pass->reason) {
        ys_buf_printf(&text, "nothing is beyond its bound; of %zu, the closest: ", held);
    }
    if (held > 0)
        put_place(&text, closest(places, held), kind);
    put_row(out, title, ys_buf_text(&text), width);
    ys_buf_free(&text);
}

static bool is_clean(const struct ys_proof_pass *pass)
{
    return !pass || (pass->first == YS_FIELD_NONE && !pass->reason);
}

static void put_trace(const struct ys_proof *proof, int width, struct ys_buf *out)
{
    const struct ys_proof_trace *trace = proof->trace;
    if (!trace)
        return;
    ys_buf_printf(out, "\nTrace, in %s\n", ys_name_of(&ys_precisions, trace->precision));
    put_pass(&trace->forward, "forward", "value", "values before it", width, out);
    if (trace->forward.first != YS_FIELD_NONE)
        put_row(out, "backward", "says nothing where values differ: gradients do so from the loss on", width);
    else if (trace->backward)
        put_pass(trace->backward, "backward", "gradient of", "between it and the loss", width, out);
    if (proof->verdict == YS_PROOF_FAIL && is_clean(&trace->forward) && is_clean(trace->backward))
        put_row(out, "",
                "Both passes hold: the difference lies in the data, the optimizer's step or the running "
                "statistics, or is gone when every value is kept.",
                width);
}

void ys_report_proof_table(const struct ys_proof *proof, int width, struct ys_buf *out)
{
    put_verdict(proof, width, out);
    for (int half = 0; half < (int)ys_proof_halves.count; half++)
        put_half(proof, half, width, out);
    for (size_t i = 0; i < proof->diagnosis.count; i++) {
        ys_buf_puts(out, i == 0 ? "\nWhat it looks like:\n  * " : "  * ");
        ys_text_wrap(out, ((char *const *)proof->diagnosis.items)[i], 4, 4, width);
    }
    put_trace(proof, width, out);
}
