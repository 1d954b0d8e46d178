/* What trials predicted with the same weights, as the table, the page and the Markdown show it. */
#ifndef YS_REPORT_TABLES_AGREEMENT_TABLES_H
#define YS_REPORT_TABLES_AGREEMENT_TABLES_H

#include "report/view/view.h"

enum { YS_AGREEMENT_COLUMNS = 6 };

struct ys_agreement_row {
    struct ys_label cells[YS_AGREEMENT_COLUMNS];
    int64_t disagreements;
    const char *reason; /* why there are no predictions; NULL. Not cleaned */
};

/** False: the trial is not of same weights, or none of its runs was ok. */
bool ys_agreement_row(const struct ys_view_trial *trial, struct ys_agreement_row *row);

#endif
