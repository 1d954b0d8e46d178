/* Text that came from elsewhere, made fit for a terminal or a page. Input is UTF-8; a bad byte counts as U+FFFD. */
#ifndef YS_REPORT_CLEAN_TEXT_H
#define YS_REPORT_CLEAN_TEXT_H

#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Reads the character at `text` (not at its end) and returns its length in bytes. */
size_t ys_text_decode(const char *text, uint32_t *character);

/** Terminal columns that `text` takes: 0 for combining marks, 2 for East Asian wide characters and emoji. */
int ys_text_width(const char *text);

/** Appends `text` without escape sequences, control and direction-changing characters. Tabs become blanks; line ends
 * (CR too) become LF when `keep_lines`, else blanks. */
void ys_text_clean(struct ys_buf *out, const char *text, bool keep_lines);

/** Appends `text`, or its beginning and an ellipsis, in at most `width` (at least 1) columns. `text` must be clean. */
void ys_text_clip(struct ys_buf *out, const char *text, int width);

/** Appends `text`, cleaned, to a line on which `used` columns are taken, broken between words so that no line is wider
 * than `width`; further lines begin with `indent` blanks. Words longer than a line are cut into lines, but not a
 * command between backquotes, which stays whole on a line of its own. Ends with LF. */
void ys_text_wrap(struct ys_buf *out, const char *text, int used, int indent, int width);

/** Ends the colour of the last line of `out`, which ends with LF, on that line; without `colour` nothing. */
void ys_text_end_colour(struct ys_buf *out, bool colour);

/** Appends `text`, cleaned and with & < > " ' escaped, for HTML text and quoted attributes. */
void ys_text_html(struct ys_buf *out, const char *text);

#endif
