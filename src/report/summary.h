/* Lines of the summary (report.h, ys_report_summary()). Of this room alone. */
#ifndef YS_REPORT_SUMMARY_H
#define YS_REPORT_SUMMARY_H

#include "report/view.h"

/** What is to be known before the numbers are believed, a line a kind: an array of clean texts, to which it adds. */
ys_status ys_summary_notes(const struct ys_view *view, ys_json *notes) YS_MUST_CHECK;

#endif
