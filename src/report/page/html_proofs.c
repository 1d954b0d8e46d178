/* Whether it was the same work: each trial's proof, and the audit of its runs. */
#include "base/json/record.h"
#include "report/page_parts.h"
#include "report/view/view.h"
#include "report/tables/tables.h"
#include "report/clean_text.h"
#include "verify/audit.h"

#include <math.h>

#define TEXT(type, member) YS_FIELD(type, member, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "")
#define REAL(type, member) YS_FIELD(type, member, YS_FIELD_REAL, NULL, YS_FIELD_NULL, "")

/** A check of a proof, in a document. */
struct check {
    const char *half, *name, *worst;
    double error, bound;
    int pass; /* YS_NAME_NONE: it was not judged */
};
static const struct ys_field check_fields[] = {
    TEXT(struct check, half),
    TEXT(struct check, name),
    REAL(struct check, error),
    REAL(struct check, bound),
    YS_FIELD(struct check, pass, YS_FIELD_TRUTH, NULL, YS_FIELD_NULL, ""),
    TEXT(struct check, worst),
};
static const struct ys_record check_record = YS_RECORD("check", struct check, check_fields);

/** What came of going through a stretch of a run again; nothing where no audit was made. */
static void put_audit(struct ys_buf *out, const ys_json *said)
{
    struct ys_buf text = {0};
    struct ys_audit audit;
    if (!said || ys_record_read(&ys_audit_record, said, "audit", &audit) != YS_OK)
        return;
    ys_buf_printf(&text, "Audit of its runs: %s", ys_name_of(&ys_audit_verdicts, audit.verdict));
    if (audit.reason)
        ys_buf_printf(&text, " (%s)", audit.reason);
    if (audit.place && audit.answers != YS_FIELD_NONE)
        ys_buf_printf(&text, "; %lld answers of its runs; closest to its bound: %s of round %lld, error %s, bound %s",
                      (long long)audit.answers, audit.place, (long long)audit.round + 1,
                      ys_label_error(isnan(audit.error) ? INFINITY : audit.error).text,
                      ys_label_error(audit.bound).text);
    else if (audit.place)
        ys_buf_printf(
            &text, "; %lld steps from step %lld of a run like round %lld; closest to its bound: %s, error %s, bound %s",
            (long long)audit.steps, (long long)audit.step, (long long)audit.round + 1, audit.place,
            ys_label_error(isnan(audit.error) ? INFINITY : audit.error).text, ys_label_error(audit.bound).text);
    if (audit.compared > 0)
        ys_buf_printf(
            &text,
            "; of %lld losses that the timed run of that round has as well, the first %lld are the same to the bit",
            (long long)audit.compared, (long long)audit.same);
    if (isfinite(audit.run_s) && isfinite(audit.judge_s))
        ys_buf_printf(&text, "; its run took %.3g s, to go through these steps again %.3g s", audit.run_s,
                      audit.judge_s);
    ys_html_put(out, "p", NULL, ys_buf_text(&text));
    ys_buf_free(&text);
    ys_record_fini(&ys_audit_record, &audit);
}

static void put_checks(struct ys_buf *out, const ys_json *checks)
{
    static const struct ys_sheet_column columns[] = {
        {YS_FORM_PAGE, YS_COLUMN_TEXT, "Part", NULL},       {YS_FORM_PAGE, YS_COLUMN_NAME, "What was compared", NULL},
        {YS_FORM_PAGE, YS_COLUMN_NUMBER, "Error", NULL},    {YS_FORM_PAGE, YS_COLUMN_NUMBER, "Bound", NULL},
        {YS_FORM_PAGE, YS_COLUMN_VERDICT, "Verdict", NULL}, {YS_FORM_PAGE, YS_COLUMN_WIDE, "Worst tensor", NULL}};
    struct ys_sheet sheet = ys_sheet_init(&ys_page_medium);
    ys_sheet_columns(&sheet, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < ys_json_size(checks); i++) {
        struct check check;
        ys_record_glance(&check_record, ys_json_at(checks, i), &check);
        ys_sheet_row(&sheet);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, check.half);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, check.name);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, ys_label_error(check.error).text);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, check.bound == 0 ? "equal" : ys_label_error(check.bound).text);
        if (check.pass == YS_NAME_NONE)
            ys_sheet_put(&sheet, YS_MOOD_PLAIN, "not judged");
        else
            ys_sheet_put(&sheet, check.pass ? YS_MOOD_GOOD : YS_MOOD_BAD, check.pass ? "pass" : "FAIL");
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, check.worst);
    }
    ys_sheet_write(&sheet, out);
}

static void put_proof(struct ys_buf *out, const struct ys_view_trial *trial)
{
    const ys_json *diagnosis = trial->proof.diagnosis;
    const enum ys_proof_verdict verdict = ys_view_verdict(trial);
    const char *reason = ys_view_or(trial->proof.reason, "");
    ys_buf_puts(out, verdict == YS_PROOF_FAIL ? "<details open>\n<summary>" : "<details>\n<summary>");
    ys_text_html(out, trial->name);
    ys_buf_printf(out, ": <strong class=\"%s\">%s",
                  verdict == YS_PROOF_PASS   ? "v good"
                  : verdict == YS_PROOF_FAIL ? "v bad"
                                             : "v",
                  ys_name_of(&ys_proof_verdicts, (int)verdict));
    ys_buf_puts(out, reason[0] ? "</strong>, " : "</strong>");
    ys_text_html(out, reason);
    ys_buf_puts(out, "</summary>\n");
    put_checks(out, trial->proof.checks);
    for (size_t i = 0; i < ys_json_size(diagnosis); i++)
        ys_html_put(out, "p", NULL, ys_json_text(ys_json_at(diagnosis, i), ""));
    put_audit(out, trial->proof.audit);
    ys_buf_puts(out, "</details>\n");
}

void ys_html_proofs(struct ys_buf *out, const struct ys_view *view)
{
    ys_html_put(out, "p", NULL,
                "Every trial is compared with a reference implementation in double precision, on the trial's own "
                "network, initial weights and batches. Pass: the same work. Weak: nothing differs, as far as it "
                "could be shown. Fail: other work, so that comparisons with it are invalid.");
    for (size_t i = 0; i < (view->count < YS_HTML_MOST ? view->count : YS_HTML_MOST); i++)
        put_proof(out, &view->trials[i]);
    ys_html_say_cut(out, view, YS_HTML_MOST, view->count, "trials");
}
