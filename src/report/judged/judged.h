/* Judgements across studies (judge/), for people. Texts from studies are taken for hostile, as everywhere here.
 * Everything appends to `out`. */
#ifndef YS_REPORT_JUDGED_JUDGED_H
#define YS_REPORT_JUDGED_JUDGED_H

#include "base/buf.h"
#include "campaign/bisect.h"
#include "campaign/tune_document.h"
#include "judge/gate.h"
#include "judge/history.h"
#include "judge/recommend.h"
#include "judge/study_pair.h"
#include "report/sheet/sheet.h"
#include <stdbool.h>

/** What differs, whether it was the same work, then a line a metric: at most `width` (40 or more) columns. */
void ys_report_judged(const struct ys_judged *judged, int width, bool colour, struct ys_buf *out);

/** The sentence, then a line a check; as Markdown for a comment; as JUnit XML, a check a case. */
void ys_report_gate(const struct ys_gate *gate, int width, bool colour, struct ys_buf *out);
void ys_report_gate_markdown(const struct ys_gate *gate, struct ys_buf *out);
void ys_report_gate_junit(const struct ys_gate *gate, struct ys_buf *out);

/** What came out, then a line a study with its value as a bar. */
void ys_report_history(const struct ys_history *history, int width, bool colour, struct ys_buf *out);

/** The answer, its evidence, a line a trial, what would change the answer, and lines to paste. */
void ys_report_recommended(const struct ys_recommended *told, int width, bool colour, struct ys_buf *out);

/** The sentence, then a line a question. */
void ys_report_bisected(const struct ys_bisected *told, int width, bool colour, struct ys_buf *out);

/** A sentence and a line a trial, then what was tried, lines to paste, and what the budget was spent for. */
void ys_report_tuned(const struct ys_tuned *told, int width, bool colour, struct ys_buf *out);
/** The answers as a study: a section a trial. */
void ys_report_tuned_study(const struct ys_tuned *told, struct ys_buf *out);

/* Sections of the page of a result (report.h). */
void ys_html_judged(struct ys_buf *out, const struct ys_judged *judged);
void ys_html_history(struct ys_buf *out, const struct ys_history *history);

/** "rate_per_s of a in 20 stored studies: 1 change, of a kind that chance shows in 1 of 100 histories: with study 12 of
 * 2026-10-30T03:17:33Z (version 2.1.0 after 2.0.1) from 301 to 264.": the medians before and after it. */
void ys_report_put_history(struct ys_buf *out, const struct ys_history *history);
/** Metrics of one trial (struct ys_judged_metric) against another; the points of a history: as tables. */
void ys_judged_table(const struct ys_list *list, const struct ys_medium *medium, struct ys_buf *out);
void ys_history_table(const struct ys_history *history, const struct ys_medium *medium, struct ys_buf *out);

#endif
