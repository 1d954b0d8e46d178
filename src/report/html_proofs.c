/* Whether it was the same work: each trial's proof, and the audit of its runs. */
#include "base/record.h"
#include "report/html.h"
#include "report/text.h"
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

const char *ys_html_proof_css(enum ys_proof_verdict verdict)
{
    return verdict == YS_PROOF_PASS ? "v good" : verdict == YS_PROOF_FAIL ? "v bad" : "v";
}

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
    out->failed |= text.failed;
    ys_buf_free(&text);
    ys_record_fini(&ys_audit_record, &audit);
}

static void put_proof(struct ys_buf *out, const struct ys_view_trial *trial)
{
    static const char *const heads[] = {"Part", "What was compared", "#Error", "#Bound", "Verdict", "Worst tensor"};
    const ys_json *checks = trial->told.proof.checks, *diagnosis = trial->told.proof.diagnosis;
    const enum ys_proof_verdict verdict = ys_view_verdict(trial);
    const char *reason = ys_view_or(trial->told.proof.reason, "");
    ys_buf_puts(out, verdict == YS_PROOF_FAIL ? "<details open>\n<summary>" : "<details>\n<summary>");
    ys_text_html(out, trial->name);
    ys_buf_puts(out, ": ");
    ys_buf_printf(out, "<strong class=\"%s\">%s", ys_html_proof_css(verdict),
                  ys_name_of(&ys_proof_verdicts, (int)verdict));
    ys_buf_puts(out, reason[0] ? "</strong>, " : "</strong>");
    ys_text_html(out, reason);
    ys_buf_puts(out, "</summary>\n");
    if (ys_json_size(checks) > 0)
        ys_html_heads(out, NULL, heads, sizeof heads / sizeof heads[0]);
    for (size_t i = 0; i < ys_json_size(checks); i++) {
        struct check check;
        ys_record_glance(&check_record, ys_json_at(checks, i), &check);
        ys_buf_puts(out, "<tr>\n");
        ys_html_put(out, "td", NULL, ys_view_or(check.half, ""));
        ys_html_put(out, "td", "name", ys_view_or(check.name, ""));
        ys_html_put(out, "td", "n", ys_label_error(check.error).text);
        ys_html_put(out, "td", "n", check.bound == 0 ? "equal" : ys_label_error(check.bound).text);
        ys_html_put(out, "td",
                    check.pass == YS_NAME_NONE ? "v"
                    : check.pass               ? "v good"
                                               : "v bad",
                    check.pass == YS_NAME_NONE ? "not judged"
                    : check.pass               ? "pass"
                                               : "FAIL");
        ys_html_put(out, "td", "wide", ys_view_or(check.worst, ""));
        ys_buf_puts(out, "</tr>\n");
    }
    if (ys_json_size(checks) > 0)
        ys_html_table_end(out);
    for (size_t i = 0; i < ys_json_size(diagnosis); i++)
        ys_html_put(out, "p", NULL, ys_json_text(ys_json_at(diagnosis, i), ""));
    put_audit(out, trial->told.proof.audit);
    ys_buf_puts(out, "</details>\n");
}

ys_status ys_html_proofs(struct ys_buf *out, const struct ys_view *view)
{
    ys_html_put(out, "p", NULL,
                "Every trial is compared with a reference implementation in double precision, on the trial's own "
                "network, initial weights and batches. Pass: the same work. Weak: nothing differs, as far as it "
                "could be shown. Fail: other work, so that comparisons with it are invalid.");
    for (size_t i = 0; i < (view->count < YS_HTML_MOST ? view->count : YS_HTML_MOST); i++)
        put_proof(out, &view->trials[i]);
    ys_html_say_cut(out, view, YS_HTML_MOST, view->count, "trials");
    return YS_OK;
}
