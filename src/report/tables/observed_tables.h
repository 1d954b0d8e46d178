/* What the document says of how things were observed: trials with and without their disturbed runs, where processor
 * time went, and whether what is observed on that machine is true. Each appends nothing where there is nothing. */
#ifndef YS_REPORT_TABLES_OBSERVED_TABLES_H
#define YS_REPORT_TABLES_OBSERVED_TABLES_H

#include "report/tables/tables.h"

/** A sentence on disturbed runs, where there are some: how many, and by how much a trial's speed is another without. */
void ys_observed_put_disturbed(struct ys_buf *out, const struct ys_view *view);

/** Stacked bars: processor time by library, start-up apart from the steady part. */
void ys_observed_perf_charts(struct ys_buf *out, const struct ys_view *view);
/** The same of the steady part, a sentence each. */
ys_table ys_observed_perf;

/** The table of `doctor --self-test` of the machine, in HTML or Markdown. */
void ys_observed_self_test_html(struct ys_buf *out, const struct ys_view *view);
void ys_observed_self_test_markdown(struct ys_buf *out, const struct ys_view *view);

#endif
