/* What a row is: the form in which a data set has its rows and a network wants them. A row is one example: it gives
 * every input of the network an array, and has a target that the loss compares the network's output with. */
#ifndef YS_BASE_STORED_ROW_FORM_H
#define YS_BASE_STORED_ROW_FORM_H

#include "base/rng.h"
#include "base/stored/safetensors.h"

#define YS_ROWS_MAX_INPUTS 8
#define YS_ROWS_MAX_NAME   63   /* bytes of an input's name */
#define YS_ROWS_HIDDEN     (-1) /* in the place of a position's class: it has none, and no loss */
#define YS_ROWS_PADDING    0    /* the token that fills a row up where a network hides it from its attention */
#define YS_TARGET_NAME     "y"  /* of the target in a data file; no input has it */

enum ys_target_kind {
    YS_TARGET_CLASS,   /* I64 []: one class a row */
    YS_TARGET_CLASSES, /* I64 [positions...]: a class for each position */
    YS_TARGET_VECTOR,  /* F32 [...]: numbers, of the output's shape */
    YS_TARGET_KIND_COUNT
};
const char *ys_target_kind_name(enum ys_target_kind kind); /* "class", "classes", "vector" */

/** One array of a row. */
struct ys_row_array {
    char name[YS_ROWS_MAX_NAME + 1];
    enum ys_dtype dtype;        /* inputs: U8, I32, F32; targets: I64, F32 */
    size_t rank;                /* without the batch: 3 for an image, 0 for a class */
    int64_t shape[YS_MAX_RANK]; /* channels, height, width of an image */
    int64_t below;              /* tokens are from 0 to below it: the vocabulary; 0 of what is none */
    bool padded;                /* tokens end before the row does: what is behind them is YS_ROWS_PADDING */
};

struct ys_rows {
    const char *unit; /* what one row counts as, in the plural: "images"; static text */
    size_t input_count;
    struct ys_row_array inputs[YS_ROWS_MAX_INPUTS];
    enum ys_target_kind kind;
    struct ys_row_array target;
    int64_t classes; /* of the targets: 0 to classes - 1; 0 of a vector */
};

/** Rows of one input "x", U8 [channels, height, width], with a class each: an initializer. */
#define YS_ROWS_OF_IMAGES(channels, height, width, count)                                                              \
    {                                                                                                                  \
        .unit = "images", .input_count = 1,                                                                            \
        .inputs = {{.name = "x", .dtype = YS_U8, .rank = 3, .shape = {channels, height, width}}},                      \
        .kind = YS_TARGET_CLASS, .target = {.name = YS_TARGET_NAME, .dtype = YS_I64}, .classes = count                 \
    }
/** Elements, and bytes, of one row of the array. */
int64_t ys_row_elements(const struct ys_row_array *array);
size_t ys_row_bytes(const struct ys_row_array *array);
/** Whether rows of one form are rows of the other: unit and vocabularies apart. */
bool ys_rows_equal(const struct ys_rows *a, const struct ys_rows *b);
/** Fills `count` rows of the array at random: bytes uniform, the lowest of each word first; numbers uniform in -1 to 1;
 * integers uniform in 0 to classes - 1, where `classes` is 0 to below the array's own vocabulary, or to 255. A padded
 * row of one axis keeps the first 1 to all of its tokens, of which none is then the padding; how many is uniform too.
 */
void ys_rows_draw(const struct ys_row_array *array, int64_t classes, struct ys_rng *rng, int64_t count, void *values);
/** Array `index` of a row: the inputs, then the target. */
const struct ys_row_array *ys_rows_array(const struct ys_rows *rows, size_t index);

#endif
