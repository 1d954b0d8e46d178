/* What a study found, for people and for other programs. Everything here reads one result (metric/result_document.h),
 * or one proof, and nothing else: no store, no files, no clock, so the same result always gives the same bytes. All of
 * its texts (names, messages, logs) are taken for hostile: control characters and escape sequences never reach the
 * output.
 *
 * Every function appends to `out`. */
#ifndef YS_REPORT_REPORT_H
#define YS_REPORT_REPORT_H

#include "base/buf.h"
#include "base/json/json.h"
#include "verify/proof.h"
#include <stdbool.h>

struct ys_result;
struct ys_judged;
struct ys_history;

/** The result on one screen, for people who have never read a manual of statistics: what was done, the answer, a line a
 * trial with its speed over that of the fastest of its group, a line for each kind of warning, and `more` (NULL: none),
 * where the rest is. `width` and `colour` as below. */
void ys_report_summary(const struct ys_result *result, const char *more, int width, bool colour, struct ys_buf *out);

/** The result in detail, as plain text: trials, where the time goes, comparisons with verdicts, what the measuring
 * cost, a summary. No line is wider than `width` columns, which is at least 40 (smaller counts as 40). `colour`: ANSI
 * colours.
 */
void ys_report_table(const struct ys_result *result, int width, bool colour, struct ys_buf *out);

/** One self-contained HTML file: nothing fetched, one script of its own (page_parts.h). Wants a result with
 * `runs_detail` for its curves and dots; without it those charts are left out. `judged`: with what it is against
 * another study; `history`: over all of its name; NULL: without. */
void ys_report_html(const struct ys_result *result, const struct ys_judged *judged, const struct ys_history *history,
                    struct ys_buf *out);

/** One line a trial after a line of names, comma-separated (RFC 4180, LF), numbers with all their digits, an unknown
 * one empty. For each metric M: M, M_lo, M_hi, M_n. */
void ys_report_csv(const struct ys_result *result, struct ys_buf *out);

/** The trials, the verdicts and the summary in Markdown (tables as GitHub reads them). */
void ys_report_markdown(const struct ys_result *result, struct ys_buf *out);

/** One proof as a table of at most `width` columns: a row for each check, with its error, its bound and its worst
 * tensor. */
void ys_report_proof_table(const struct ys_proof *proof, int width, struct ys_buf *out);

#endif
