#include "base/mem.h"
#include "report/grid.h"
#include "report/report.h"
#include "report/section.h"
#include "report/text.h"
#include <math.h>
#include <string.h>

#define WIDTH 80

static const struct {
    const char *half, *title;
} halves[] = {
    {"work", "Work: the same network and data"},
    {"meaning", "Meaning: both in double precision"},
    {"numerics", "Numerics: in the trial's own format"},
};

static bool is_known(const char *half)
{
    for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++)
        if (strcmp(halves[i].half, half) == 0)
            return true;
    return false;
}

/** The checks of one half, or (half NULL) those of halves that have no title here. */
static ys_status put_half(const ys_json *proof, const char *half, const char *title, struct ys_buf *out)
{
    const ys_json *checks = ys_json_get(proof, "checks");
    struct ys_grid grid;
    ys_grid_init(&grid, 1);
    ys_grid_column(&grid, "check", false);
    ys_grid_column(&grid, "error", true);
    ys_grid_column(&grid, "bound", true);
    ys_grid_column(&grid, "verdict", false);
    ys_grid_column(&grid, "worst", false);
    for (size_t i = 0; i < ys_json_size(checks); i++) {
        const ys_json *check = ys_json_at(checks, i);
        const char *of = ys_json_get_text(check, "half", "");
        if (half ? strcmp(of, half) != 0 : is_known(of))
            continue;
        enum ys_json_type pass = ys_json_type_of(ys_json_get(check, "pass"));
        bool passed = ys_json_get_bool(check, "pass", false);
        double bound = ys_json_get_number(check, "bound", NAN);
        ys_grid_row(&grid);
        ys_grid_cell(&grid, 0, YS_GRID_PLAIN, ys_json_get_text(check, "name", "unnamed"));
        ys_grid_cell(&grid, 1, YS_GRID_PLAIN, ys_label_error(ys_json_get_number(check, "error", NAN)).text);
        ys_grid_cell(&grid, 2, YS_GRID_PLAIN, bound == 0 ? "equal" : ys_label_error(bound).text);
        ys_grid_cell(&grid, 3, YS_GRID_PLAIN, pass != YS_JSON_BOOL ? "not judged" : passed ? "pass" : "FAIL");
        ys_grid_cell(&grid, 4, YS_GRID_PLAIN, ys_json_get_text(check, "worst", ""));
    }
    if (grid.count > 0)
        ys_buf_printf(out, "\n%s\n", title);
    ys_status status = ys_grid_print(&grid, 0, WIDTH, false, out);
    ys_grid_fini(&grid);
    return status;
}

static void put_verdict(const ys_json *proof, struct ys_buf *out)
{
    static const struct {
        const char *verdict, *text;
    } meanings[] = {
        {"pass", "Proof: pass. The same work is done."},
        {"weak",
         "Proof: weak. Nothing differs that the trial's own numeric format can show; the framework cannot compute in "
         "double precision, so small differences of meaning stay hidden."},
        {"fail", "Proof: FAIL. This is other work than was asked for: comparisons with it are invalid."},
        {"none", "Proof: none. It is not shown that the same work is done."},
    };
    const char *verdict = ys_json_get_text(proof, "verdict", "none"), *reason = ys_json_get_text(proof, "reason", "");
    struct ys_buf text = {0};
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (strcmp(meanings[i].verdict, verdict) == 0)
            ys_buf_puts(&text, meanings[i].text);
    if (text.size == 0) {
        ys_buf_puts(&text, "Proof: ");
        ys_text_clean(&text, verdict, false);
    }
    if (reason[0]) {
        ys_buf_puts(&text, " Reason: ");
        ys_text_clean(&text, reason, false);
    }
    ys_text_wrap(out, ys_buf_text(&text), 0, 2, WIDTH);
    out->failed |= text.failed;
    ys_buf_free(&text);
}

/* "node conv2 (Conv), value conv2: error 1.2e-03, bound 1.0e-09." */
static void put_place(struct ys_buf *text, const ys_json *place, const char *kind)
{
    double error = ys_json_get_number(place, "error", INFINITY);
    ys_buf_printf(text, "node %s (%s), %s %s: error %s", ys_json_get_text(place, "node", "?"),
                  ys_json_get_text(place, "op", "?"), kind, ys_json_get_text(place, "name", "?"),
                  isinf(error) ? "infinite" : ys_label_error(error).text);
    ys_buf_printf(text, ", bound %s.", ys_label_error(ys_json_get_number(place, "bound", NAN)).text);
}

/* The largest share of its bound among the first `count` places. */
static const ys_json *closest(const ys_json *places, size_t count)
{
    const ys_json *found = NULL;
    double most = -1;
    for (size_t i = 0; i < count; i++) {
        const ys_json *place = ys_json_at(places, i);
        double share = ys_json_get_number(place, "error", INFINITY) / ys_json_get_number(place, "bound", 1);
        if (share > most) {
            most = share;
            found = place;
        }
    }
    return found;
}

/* One half of a trace. `kind`: what its places are; `before`: what lies before the first. */
static void put_trace_half(const ys_json *half, const char *title, const char *kind, const char *before,
                           struct ys_buf *out)
{
    const ys_json *places = ys_json_get(half, "nodes"), *first = ys_json_get(half, "first");
    const char *reason = ys_json_get_text(half, "reason", NULL);
    bool found = ys_json_type_of(first) == YS_JSON_INT;
    size_t held = ys_json_size(places);
    if (found && ys_json_integer(first, 0) >= 0 && (size_t)ys_json_integer(first, 0) < held)
        held = (size_t)ys_json_integer(first, 0);
    struct ys_buf text = {0};
    if (reason)
        ys_buf_printf(&text, "could not be traced: %s", reason);
    if (found) {
        ys_buf_puts(&text, "first beyond its bound: ");
        put_place(&text, ys_json_at(places, held), kind);
        if (held > 0)
            ys_buf_printf(&text, " Of the %zu %s, the closest: ", held, before);
    } else if (!reason) {
        ys_buf_printf(&text, "nothing is beyond its bound; of %zu, the closest: ", held);
    }
    if (held > 0)
        put_place(&text, closest(places, held), kind);
    ys_buf_printf(out, "  %-9s ", title);
    ys_text_wrap(out, ys_buf_text(&text), 12, 12, WIDTH);
    out->failed |= text.failed;
    ys_buf_free(&text);
}

static bool is_clean(const ys_json *half)
{
    return ys_json_type_of(half) != YS_JSON_OBJECT ||
           (ys_json_type_of(ys_json_get(half, "first")) == YS_JSON_NULL && !ys_json_get_text(half, "reason", NULL));
}

static void put_trace(const ys_json *proof, struct ys_buf *out)
{
    const ys_json *trace = ys_json_get(proof, "trace");
    const ys_json *forward = ys_json_get(trace, "forward"), *backward = ys_json_get(trace, "backward");
    if (ys_json_type_of(trace) != YS_JSON_OBJECT)
        return;
    ys_buf_puts(out, "\nTrace, in ");
    ys_text_clean(out, ys_json_get_text(trace, "precision", "?"), false);
    ys_buf_puts(out, "\n");
    put_trace_half(forward, "forward", "value", "values before it", out);
    if (ys_json_type_of(ys_json_get(forward, "first")) == YS_JSON_INT)
        ys_buf_puts(out, "  backward  says nothing where values differ: gradients do so from the loss on\n");
    else if (ys_json_type_of(backward) == YS_JSON_OBJECT)
        put_trace_half(backward, "backward", "gradient of", "between it and the loss", out);
    if (strcmp(ys_json_get_text(proof, "verdict", ""), "fail") == 0 && is_clean(forward) && is_clean(backward))
        ys_buf_puts(out, "  Both passes hold: the difference lies in the data, the optimizer's step or the\n"
                         "  running statistics, or is gone when every value is kept.\n");
}

ys_status ys_report_proof_table(const ys_json *proof, struct ys_buf *out)
{
    put_verdict(proof, out);
    for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++)
        YS_TRY(put_half(proof, halves[i].half, halves[i].title, out));
    YS_TRY(put_half(proof, NULL, "Other checks", out));
    const ys_json *diagnosis = ys_json_get(proof, "diagnosis");
    for (size_t i = 0; i < ys_json_size(diagnosis); i++) {
        ys_buf_puts(out, i == 0 ? "\nWhat it looks like:\n  * " : "  * ");
        ys_text_wrap(out, ys_json_text(ys_json_at(diagnosis, i), ""), 4, 4, WIDTH);
    }
    put_trace(proof, out);
    return out->failed ? ys_out_of_memory() : YS_OK;
}
