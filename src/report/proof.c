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
    ys_grid_column(&grid, title, false);
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
        ys_buf_puts(out, "\n");
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
    return out->failed ? ys_out_of_memory() : YS_OK;
}
