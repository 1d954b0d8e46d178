/* What of the data feeds which input of a file: names, layouts, extents. */
#include "base/json/shared_words.h"
#include "base/mem.h"
#include "onnx/read/reader_state.h"

#include <stdio.h>
#include <string.h>

#define SEPARATORS   " ,\t"
#define MOST_COLOURS 4 /* channels of an image that are known for such by their number */

/* The next ARRAY=INPUT of a list, kept with the file; *array is NULL at the end. */
static ys_status next_pair(struct ys_onnx_reading *r, const char **list, char **array, char **input)
{
    *list += strspn(*list, SEPARATORS);
    const size_t length = strcspn(*list, SEPARATORS);
    char *pair = ys_onnx_file_keep(r->file, length + 1, 1), *equal;
    *array = NULL;
    memcpy(pair, *list, length);
    *list += length;
    equal = strchr(pair, '=');
    if (length == 0)
        return YS_OK;
    if (!equal || equal == pair || !equal[1])
        return ys_fail(YS_EINVAL, "model.input = %s: \"%.100s\" must be ARRAY=INPUT, an array of the data and an input",
                       r->feed.inputs, pair);
    *equal = '\0';
    *array = pair;
    *input = equal + 1;
    return YS_OK;
}

/* Lets the input that the pattern names be fed by the array. */
static ys_status feed_one(struct ys_onnx_reading *r, const struct ys_onnx_value_in *const *inputs, size_t count,
                          const char *array, const char *pattern, bool *is_fed, const char **names)
{
    size_t found = count;
    for (size_t i = 0; i < count; i++) {
        if (!ys_is_meant(pattern, inputs[i]->name))
            continue;
        if (found < count)
            return ys_fail(YS_EINVAL, "model.input = %s: both %.100s and %.100s are called \"%.100s\"", r->feed.inputs,
                           inputs[found]->name, inputs[i]->name, pattern);
        found = i;
    }
    if (found == count)
        return ys_fail(YS_EINVAL, "model.input = %s: no input is called \"%.100s\"; it has %.100s%s", r->feed.inputs,
                       pattern, inputs[0]->name, count > 1 ? " and others" : "");
    if (is_fed[found])
        return ys_fail(YS_EINVAL, "model.input = %s: names two arrays for the input %.100s", r->feed.inputs,
                       inputs[found]->name);
    is_fed[found] = true;
    names[found] = array;
    return YS_OK;
}

static ys_status check_names(const struct ys_onnx_reading *r, const struct ys_onnx_value_in *const *inputs,
                             size_t count, const char *const *names)
{
    for (size_t i = 0; i < count; i++) {
        const bool is_taken =
            strcmp(names[i], YS_TARGET_NAME) == 0 || strcmp(names[i], "logits") == 0 || strcmp(names[i], "loss") == 0;
        if (is_taken || strlen(names[i]) > YS_ROWS_MAX_NAME)
            return ys_fail(r->feed.inputs ? YS_EINVAL : YS_EUNSUPPORTED,
                           "its input %.100s cannot be fed by an array of the name %.100s: y, logits and loss are "
                           "taken, and %d bytes the most; give it another, model.input = ARRAY=%.100s",
                           inputs[i]->name, names[i], YS_ROWS_MAX_NAME, inputs[i]->name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(names[i], names[k]) == 0)
                return r->feed.inputs
                           ? ys_fail(YS_EINVAL, "model.input = %s: the array %s feeds both %.100s and %.100s",
                                     r->feed.inputs, names[i], inputs[k]->name, inputs[i]->name)
                           : ys_fail(YS_EFORMAT, "two of its inputs are called %.100s", names[i]);
    }
    return YS_OK;
}

ys_status ys_onnx_feed(struct ys_onnx_reading *r, const struct ys_onnx_value_in *const *inputs, size_t count,
                       const char **names)
{
    const char *list = r->feed.inputs ? r->feed.inputs : "";
    bool is_fed[YS_ROWS_MAX_INPUTS] = {false};
    char *array, *input = NULL;
    for (size_t i = 0; i < count; i++)
        names[i] = count == 1 ? "x" : inputs[i]->name;
    for (;;) {
        YS_TRY(next_pair(r, &list, &array, &input));
        if (!array)
            break;
        YS_TRY(feed_one(r, inputs, count, array, input, is_fed, names));
    }
    return check_names(r, inputs, count, names);
}

/* Whether all that is done with the input is a transposition of (N, height, width, channels) to NCHW. */
static bool is_transposed(const struct ys_onnx_reading *r, const char *name)
{
    static const int64_t wanted[4] = {0, 3, 1, 2};
    int64_t perm[4];
    size_t readers = 0, transposing = 0;
    for (size_t i = 0; i < r->file->node_count; i++)
        for (size_t k = 0; k < r->file->nodes[i].in_count; k++) {
            size_t count = 0;
            if (strcmp(r->file->nodes[i].in[k], name) != 0)
                continue;
            readers++;
            if (strcmp(r->file->nodes[i].op, "Transpose") == 0 &&
                ys_onnx_integers(&r->file->nodes[i], "perm", perm, 4, &count) == YS_OK && count == 4)
                transposing += memcmp(perm, wanted, sizeof perm) == 0;
        }
    return readers > 0 && readers == transposing;
}

/* Which axis of the input has the channels (0), the height (1), the width (2). */
static size_t axis_of(size_t i, bool channels_last)
{
    return 1 + (channels_last ? (i + 2) % 3 : i);
}

/* Whether extents fit the data's, or unknown ones. */
static bool fits(const struct ys_onnx_value_in *input, const int64_t shape[3], bool channels_last)
{
    for (size_t i = 0; i < 3; i++) {
        int64_t extent = input->shape[axis_of(i, channels_last)];
        if (shape[i] && extent != -1 && extent != shape[i])
            return false;
    }
    return true;
}

static ys_status does_not_fit(const struct ys_onnx_reading *r, const struct ys_onnx_value_in *input)
{
    static const char *const seen[] = {"", ", read as nchw", ", read as nhwc"};
    const int64_t *data = r->feed.shape;
    return ys_fail(YS_EUNSUPPORTED,
                   "its input %.100s is [%lld,%lld,%lld,%lld] (-1: any)%s, the data are %lld x %lld x %lld: take data "
                   "of that shape, or export it for these",
                   input->name, (long long)input->shape[0], (long long)input->shape[1], (long long)input->shape[2],
                   (long long)input->shape[3], seen[r->feed.layout], (long long)(data[0] ? data[0] : -1),
                   (long long)data[1], (long long)data[2]);
}

ys_status ys_onnx_find_image(const struct ys_onnx_reading *r, const struct ys_onnx_value_in *input, int64_t image[3],
                             bool *channels_last)
{
    static const int64_t unknown[3] = {0};
    const enum ys_layout layout = r->feed.layout;
    const int64_t *data = r->feed.shape;
    bool first = layout != YS_LAYOUT_NHWC && fits(input, data, false);
    bool last = layout != YS_LAYOUT_NCHW && fits(input, data, true);
    if (!first && !last) {
        bool is_open = false;
        for (size_t i = 1; i < 4; i++)
            is_open = is_open || input->shape[i] == -1;
        if (r->feed.is_strict || is_open)
            return does_not_fit(r, input);
        data = unknown;
        first = layout != YS_LAYOUT_NHWC;
        last = layout != YS_LAYOUT_NCHW;
    }
    const bool few = input->shape[3] >= 1 && input->shape[3] <= MOST_COLOURS &&
                     !(input->shape[1] >= 1 && input->shape[1] <= MOST_COLOURS);
    *channels_last = last && (!first || is_transposed(r, input->name) || few);
    for (size_t i = 0; i < 3; i++) {
        const int64_t extent = input->shape[axis_of(i, *channels_last)];
        image[i] = extent == -1 ? data[i] : extent;
        if (image[i] < 1)
            return ys_fail(YS_EUNSUPPORTED,
                           "its input %.100s has an open height, width or number of channels: say which data "
                           "(--data=NAME) have them, or in a job input.size",
                           input->name);
    }
    return YS_OK;
}
