/* A table made once and written in every form: on a terminal, in the page, in Markdown and as CSV. Whoever makes one
 * names its columns, gives each row's cells in the order of the columns, and need not know which form it will have:
 * columns that a form lacks drop their cells. What a table says in sentences, its items, stands below it as a list; a
 * sheet without columns is that list alone. Memory that runs out is remembered, and told of by ys_sheet_write(). */
#ifndef YS_REPORT_SHEET_SHEET_H
#define YS_REPORT_SHEET_SHEET_H

#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits, so that a column can have several. */
enum ys_sheet_form {
    YS_FORM_TEXT = 1,
    YS_FORM_PAGE = 2, /* HTML */
    YS_FORM_MARKDOWN = 4,
    YS_FORM_CSV = 8,
    YS_FORM_ALL = 15,
};

/** Where a sheet goes to. */
struct ys_medium {
    enum ys_sheet_form form;
    int width, indent; /* of text */
    bool colour;       /* likewise */
};

enum ys_column_kind {
    YS_COLUMN_NAME,
    YS_COLUMN_TEXT,
    YS_COLUMN_WIDE,    /* sentences */
    YS_COLUMN_WHOLE,   /* text that is not broken */
    YS_COLUMN_NUMBER,  /* set right, as the next one */
    YS_COLUMN_MEASURE, /* with an interval in brackets, which Markdown would take for a link */
    YS_COLUMN_VERDICT, /* a word in bold */
    YS_COLUMN_FLAG,    /* likewise, where its cell has a mood */
};

enum ys_mood {
    YS_MOOD_PLAIN,
    YS_MOOD_GOOD,
    YS_MOOD_BAD,
    YS_MOOD_SOFT,
    YS_MOOD_FAINT, /* soft on a terminal, plain elsewhere */
};

struct ys_sheet_column {
    unsigned forms; /* of enum ys_sheet_form */
    enum ys_column_kind kind;
    const char *head;
    const char *narrow; /* the head in text: "top\nbottom"; NULL: the same */
};

struct ys_view;
struct ys_sheet_shown {
    enum ys_column_kind kind;
    size_t head;
};
struct ys_sheet_cell {
    size_t text;
    double value; /* NaN */
    enum ys_mood mood;
};
struct ys_sheet_row {
    size_t cells;      /* where they begin */
    size_t note, more; /* in place of its cells; of the row above it */
    enum ys_mood mood; /* of the latter */
};

struct ys_sheet {
    struct ys_medium medium;
    const char *title;          /* above it all, borrowed; NULL */
    const char *remark;         /* above a table of the page, borrowed; NULL */
    size_t naming;              /* leading columns that name a row, at first 1: text that goes on below repeats them */
    bool is_plain;              /* no column of the page is to be sorted */
    bool is_numbered;           /* in text trials are named by numbers (tables.h) */
    bool keeps_heads;           /* the page has them even without rows */
    const struct ys_view *view; /* of what it is made; NULL */
    const char *things; /* "trials": what there are `total` of, of which a page has the first YS_SHEET_MOST; NULL */
    size_t total;
    /* What was made of it; texts are places in `texts`, 0 is none. */
    struct ys_buf texts;
    struct ys_sheet_shown *columns; /* of this form */
    struct ys_sheet_row *rows;
    struct ys_sheet_cell *cells;
    size_t *items;
    size_t column_count, row_count, cell_count, item_count;
    size_t room[4];      /* of the four */
    struct ys_buf added; /* a byte a column that was added: 1 where this form has it */
    size_t next, at;     /* the next cell's place among those, and among `columns` */
};

enum { YS_SHEET_MOST = 100 }; /* rows and items of a page */

struct ys_sheet ys_sheet_init(const struct ys_medium *medium);

/** Adds a column, whose texts are copied. */
void ys_sheet_column(struct ys_sheet *sheet, unsigned forms, enum ys_column_kind kind, const char *head,
                     const char *narrow);
void ys_sheet_columns(struct ys_sheet *sheet, const struct ys_sheet_column *columns, size_t count);

/** A new row, whose cells come next, one for each column that was added, whatever the form. */
void ys_sheet_row(struct ys_sheet *sheet);
void ys_sheet_put(struct ys_sheet *sheet, enum ys_mood mood, const char *text);
void ys_sheet_printf(struct ys_sheet *sheet, enum ys_mood mood, const char *format, ...) YS_PRINTF(3, 4);
/** Leaves cells empty. */
void ys_sheet_skip(struct ys_sheet *sheet, size_t count);
/** A cell that says `text` and is sorted by `value`; NaN: by its text. */
void ys_sheet_number(struct ys_sheet *sheet, double value, const char *text);
/** Lets `text` take the place of the cells behind those that name the row. */
void ys_sheet_note(struct ys_sheet *sheet, const char *text);
/** A row that says more of the one above it: in bad mood beside its name, else below all of it. Not in Markdown. */
void ys_sheet_more(struct ys_sheet *sheet, enum ys_mood mood, const char *text);
/** A sentence below the table. */
void ys_sheet_item(struct ys_sheet *sheet, const char *text);
size_t ys_sheet_rows(const struct ys_sheet *sheet);

/** Writes it in its form, which is nothing where it has neither rows nor items, and ends it. */
void ys_sheet_write(struct ys_sheet *sheet, struct ys_buf *out);

/* What the forms read. */
const char *ys_sheet_text(const struct ys_sheet *sheet, size_t text);
const struct ys_sheet_cell *ys_sheet_cell(const struct ys_sheet *sheet, size_t row, size_t column);
/** Whether a column is set right. */
bool ys_sheet_is_right(const struct ys_sheet *sheet, size_t column);

/** Text of others in Markdown: clean, with all escaped that Markdown or HTML in it would read. */
void ys_sheet_escape(struct ys_buf *out, const char *text);

#endif
