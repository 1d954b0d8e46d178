/* What a study found, for people and for other programs. Everything here reads one result, most of it as its document
 * (the object that `--format=json` prints, docs/report.md), or one proof, and nothing else: no store, no files, no
 * clock, so the same document always gives the same bytes. Members that a document lacks are shown as unknown, unknown
 * members are ignored, and all of its texts (names, messages, logs) are taken for hostile: control characters and
 * escape sequences never reach the output.
 *
 * Every function appends to `out`, or fills `sentences`, and can fail only with YS_ENOMEM; `out` then holds a part. */
#ifndef YS_REPORT_REPORT_H
#define YS_REPORT_REPORT_H

#include "base/buf.h"
#include "base/json/json.h"
#include "verify/proof.h"
#include <stdbool.h>

struct ys_result;
/** The result on one screen, for people who have never read a manual of statistics: what was done, the answer, a line a
 * trial with its speed over that of the fastest of its group, a line for each kind of warning, and `more` (NULL: none),
 * where the rest is. `width` and `colour` as below. */
ys_status ys_report_summary(const ys_json *result, const char *more, int width, bool colour,
                            struct ys_buf *out) YS_MUST_CHECK;
/** The same of a result that no document was made of (metric/result_document.h), as thousands of trials are shown. */
ys_status ys_report_summary_of(const struct ys_result *result, const char *more, int width, bool colour,
                               struct ys_buf *out) YS_MUST_CHECK;

/** The result in detail, as plain text: trials, where the time goes, comparisons with verdicts, what the measuring
 * cost, a summary. No line is wider than `width` columns, which is at least 40 (smaller counts as 40). `colour`: ANSI
 * colours.
 */
ys_status ys_report_table(const ys_json *result, int width, bool colour, struct ys_buf *out) YS_MUST_CHECK;

/** The same of a result that no document was made of. */
ys_status ys_report_table_of(const struct ys_result *result, int width, bool colour, struct ys_buf *out) YS_MUST_CHECK;

/** The result in plain sentences: a new array of strings, each a whole sentence, the most important first. */
ys_status ys_report_words(const ys_json *result, ys_json **sentences) YS_MUST_CHECK;

/** One self-contained HTML file: nothing fetched, one script of its own (page_parts.h). Wants a result with
 * `runs_detail` for its curves and dots; without it those charts are left out. */
ys_status ys_report_html(const ys_json *result, struct ys_buf *out) YS_MUST_CHECK;

/** One line a trial after a line of names, comma-separated (RFC 4180, LF), numbers with all their digits, an unknown
 * one empty. For each metric M that any trial has: M, M_lo, M_hi, M_n. */
ys_status ys_report_csv(const ys_json *result, struct ys_buf *out) YS_MUST_CHECK;

/** The trials, the verdicts and the summary in Markdown (tables as GitHub reads them). */
ys_status ys_report_markdown(const ys_json *result, struct ys_buf *out) YS_MUST_CHECK;

/** One proof as a table of at most `width` columns: a row for each check, with its error, its bound and its worst
 * tensor. */
ys_status ys_report_proof_table(const struct ys_proof *proof, int width, struct ys_buf *out) YS_MUST_CHECK;

#endif
