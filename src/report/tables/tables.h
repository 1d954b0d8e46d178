/* The tables and lists of a result, each made once for every form (sheet.h). A maker fills a sheet that is new. */
#ifndef YS_REPORT_TABLES_TABLES_H
#define YS_REPORT_TABLES_TABLES_H

#include "report/answer.h"
#include "report/sheet/sheet.h"
#include "report/view/view.h"

extern const struct ys_medium ys_page_medium, ys_markdown_medium;

typedef void ys_table(struct ys_sheet *sheet, const struct ys_view *view);

/** Makes one and writes it. */
void ys_table_write(ys_table *make, const struct ys_view *view, const struct ys_medium *medium, struct ys_buf *out);

/** The columns that name trials; in Markdown their head says what the table is of. In text they are one for each
 * factor, or of long names a number and the name's beginning. */
void ys_table_trials(struct ys_sheet *sheet, const struct ys_view *view, const char *head);
/** A row named as trial `index`. */
void ys_table_trial(struct ys_sheet *sheet, const struct ys_view *view, size_t index);
/** A column for each of `count` trials at `places` of the view, headed by its name. */
void ys_table_trial_heads(struct ys_sheet *sheet, const struct ys_view *view, const size_t *places, size_t count);
/** How many trials it goes through: of a page the first. The sheet says so. */
size_t ys_table_count(struct ys_sheet *sheet, const struct ys_view *view);
/** Whether numbers stand for trials in text of that width. */
bool ys_table_is_numbered(const struct ys_view *view, int width);
/** A cell that says how the trial's speed stands to the best. */
void ys_table_relation(struct ys_sheet *sheet, const struct ys_relation *relation);
/** A cell of value and interval. */
void ys_table_measure(struct ys_sheet *sheet, struct ys_view_metric metric);
/** What is in the buffer as an item, where that is anything; frees it. */
void ys_table_item(struct ys_sheet *sheet, struct ys_buf *text);

ys_table ys_table_results;
ys_table ys_table_all_results; /* of the page, where the first screen has not all */
ys_table ys_table_latencies;
ys_table ys_table_times;
ys_table ys_table_ranks;
ys_table ys_table_lasts; /* a sentence for each trial of several ranks */
ys_table ys_table_agreements;
ys_table ys_table_scales;      /* that frameworks' own quantisers chose */
ys_table ys_table_formats;     /* what the number format changes, with the same weights */
ys_table ys_table_attacks;     /* what each of them did to each trial */
ys_table ys_table_standings;   /* what accuracy is left at each EPS */
ys_table ys_table_corruptions; /* and after each kind of corruption, a column a trial */
ys_table ys_table_sizes;       /* of stored models */
ys_table ys_table_targets;     /* what it took to meet a target, of trials that were to */
ys_table ys_table_feeders;
ys_table ys_table_deviations;
ys_table ys_table_host_warnings;
ys_table ys_table_warnings;    /* of trials */
ys_table ys_table_differences; /* of environment */
ys_table ys_table_words;       /* the result in sentences */
ys_table ys_table_learned;
ys_table ys_table_used;

/** Attacks that carry over, a matrix for each; on the page drawn as well. And the trials that are in none. */
void ys_table_transfers(const struct ys_view *view, const struct ys_medium *medium, struct ys_buf *out);

#endif
