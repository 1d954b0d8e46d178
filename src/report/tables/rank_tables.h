/* The processes of trials that are of several, as the table, the page and the Markdown show them. */
#ifndef YS_REPORT_TABLES_RANK_TABLES_H
#define YS_REPORT_TABLES_RANK_TABLES_H

#include "base/buf.h"
#include "metric/result_document.h"
#include "report/view/view.h"

/* Columns, those of the parts of a step among them, in a row. */
enum { YS_RANKS_COLUMNS = 17, YS_RANKS_FIRST_PART = 6, YS_RANKS_PARTS = 7 };
/** How a column is headed: in the text table, where it is narrow ("top\nbottom"), and elsewhere. The first is the
 * rank's number, with its host where there are several. */
struct ys_label ys_ranks_head(size_t column, bool narrow);

/** Cells of a rank; "-" for what is not known. */
struct ys_ranks_row {
    struct ys_label cells[YS_RANKS_COLUMNS];
    bool failed; /* it did not end well, in the failure that the trial tells of */
};

/** Sentences about a trial: which of its ranks is the last, and by what, or why nothing is known of its steps; where
 * more than 2 % of one lies between blocks; where clocks of several hosts had to be related, within what; and what its
 * hosts sent. */
void ys_ranks_put_last(struct ys_buf *out, const struct ys_view_trial *trial);

/** The parts of a step of it, in the order of their columns, in s; NaN: not known. Returns the sum of those that are;
 * NaN where computing is not. */
double ys_ranks_parts(const struct ys_result_rank *rank, double parts_s[YS_RANKS_PARTS]);
struct ys_ranks_row ys_ranks_row(const struct ys_result_rank *rank);

#endif
