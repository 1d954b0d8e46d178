/* The forms of a sheet (sheet.h), one file each. */
#ifndef YS_REPORT_SHEET_SHEET_FORMS_H
#define YS_REPORT_SHEET_SHEET_FORMS_H

#include "report/sheet/sheet.h"

void ys_sheet_as_text(const struct ys_sheet *sheet, struct ys_buf *out);
void ys_sheet_as_page(const struct ys_sheet *sheet, struct ys_buf *out);
void ys_sheet_as_markdown(const struct ys_sheet *sheet, struct ys_buf *out);
void ys_sheet_as_csv(const struct ys_sheet *sheet, struct ys_buf *out);

#endif
