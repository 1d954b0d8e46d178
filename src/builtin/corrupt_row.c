/* `corrupt`: one row of a data file as it is, and after each kind of corruption at each severity, as one picture. */
#include "builtin/builtin.h"
#include "builtin/engine_commands.h"

#include "base/mem.h"
#include "base/number_text.h"
#include "base/stored/safetensors.h"
#include "robust/corrupt/corruption.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 1 + YS_SEVERITIES, GAP = 2, WHITE = 255 };

struct corrupt_request {
    const char *data, *row, *seed;
    int64_t row_number, seed_number;
};

/** Kinds below each other, severities side by side, GAP white pixels between them. */
struct sheet {
    struct ys_picture_shape shape;
    size_t kinds, width, height; /* of the sheet, in pixels */
    uint8_t *bytes;              /* [height, width, channels] */
};

static ys_status parse(int argc, char **argv, struct corrupt_request *r)
{
    const struct ys_builtin_flag flags[] = {
        {"data", .text = &r->data}, {"row", .text = &r->row}, {"seed", .text = &r->seed}};
    YS_TRY(ys_builtin_flags(argc, argv, "corrupt", flags, sizeof flags / sizeof flags[0]));
    if (!r->data)
        return ys_fail(YS_EINVAL, "corrupt needs --data");
    if (r->row && (!ys_value_int(r->row, &r->row_number) || r->row_number < 0))
        return ys_fail(YS_EINVAL, "--row is \"%s\"; it is a whole number of at least 0", r->row);
    if (r->seed && (!ys_value_int(r->seed, &r->seed_number) || r->seed_number < 0))
        return ys_fail(YS_EINVAL, "--seed is \"%s\"; it is a whole number of at least 0", r->seed);
    return YS_OK;
}

static void place(const struct sheet *sheet, size_t kind, size_t column, const float *picture)
{
    const size_t channels = (size_t)sheet->shape.channels, height = (size_t)sheet->shape.height,
                 width = (size_t)sheet->shape.width;
    const size_t top = kind * (height + GAP), left = column * (width + GAP);
    for (size_t p = 0; p < channels * height * width; p++) {
        const size_t c = p / (height * width), y = p / width % height, x = p % width;
        sheet->bytes[((top + y) * sheet->width + left + x) * channels + c] = (uint8_t)lrintf(255 * picture[p]);
    }
}

static void fill(const struct corrupt_request *r, const uint8_t *bytes, const struct sheet *sheet)
{
    const size_t pixels = (size_t)(sheet->shape.channels * sheet->shape.height * sheet->shape.width);
    float *picture = ys_alloc(pixels, sizeof *picture), *corrupted = ys_alloc(pixels, sizeof *corrupted);
    struct ys_corruption corruption = {
        .shape = sheet->shape, .seed = (uint64_t)r->seed_number, .row = (uint64_t)r->row_number};
    for (size_t p = 0; p < pixels; p++)
        picture[p] = (float)(bytes[p] / 255.0);
    for (corruption.kind = 0; corruption.kind < sheet->kinds; corruption.kind++) {
        place(sheet, corruption.kind, 0, picture);
        for (corruption.severity = 1; corruption.severity <= YS_SEVERITIES; corruption.severity++) {
            ys_corrupt(&corruption, picture, corrupted);
            place(sheet, corruption.kind, (size_t)corruption.severity, corrupted);
        }
    }
    ys_free(picture);
    ys_free(corrupted);
}

/** A picture as Netpbm has it in plain text, the name of each kind a comment. */
static ys_status answer(const struct corrupt_request *r, const struct ys_tensor *x)
{
    struct sheet sheet = {.shape = {x->shape[1], x->shape[2], x->shape[3]}};
    struct ys_buf text = {0};
    YS_TRY(ys_corruption_check(&sheet.shape));
    if (r->row_number >= x->shape[0])
        return ys_fail(YS_EINVAL, "--row is %lld, and %s has the rows 0 to %lld", (long long)r->row_number, r->data,
                       (long long)x->shape[0] - 1);
    sheet.kinds = ys_corruption_count(sheet.shape.channels);
    sheet.height = sheet.kinds * (size_t)(sheet.shape.height + GAP) - GAP;
    sheet.width = COLUMNS * (size_t)(sheet.shape.width + GAP) - GAP;
    const size_t size = sheet.height * sheet.width * (size_t)sheet.shape.channels,
                 row = (size_t)(sheet.shape.channels * sheet.shape.height * sheet.shape.width);
    sheet.bytes = ys_alloc(size, 1);
    memset(sheet.bytes, WHITE, size);
    fill(r, (const uint8_t *)x->data + (size_t)r->row_number * row, &sheet);
    ys_buf_puts(&text, sheet.shape.channels == 1 ? "P2\n" : "P3\n");
    for (size_t kind = 0; kind < sheet.kinds; kind++)
        ys_buf_printf(&text, "# %s\n", ys_corruption_name(sheet.shape.channels, kind));
    ys_buf_printf(&text, "%zu %zu\n255\n", sheet.width, sheet.height);
    for (size_t p = 0; p < size; p++)
        ys_buf_printf(&text, "%d\n", sheet.bytes[p]);
    ys_free(sheet.bytes);
    return ys_builtin_print(&text);
}

int ys_builtin_corrupt(int argc, char **argv)
{
    struct corrupt_request request = {0};
    struct ys_safetensors *file = NULL;
    const struct ys_tensor *x;
    ys_status status = parse(argc, argv, &request);
    if (status == YS_OK)
        status = ys_safetensors_open(request.data, &file);
    if (status == YS_OK)
        status = ys_safetensors_need(file, "x", YS_U8, 4, NULL, &x);
    if (status == YS_OK)
        status = answer(&request, x);
    ys_safetensors_close(file);
    return ys_builtin_end(status);
}
