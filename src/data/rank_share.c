#include "data/rank_share.h"

#include "base/mem.h"
#include "base/stored/row_form.h"
#include "base/stored/safetensors.h"

struct ys_shares {
    struct ys_safetensors *file; /* of the order */
    const uint32_t *order;       /* [steps, ranks * rows] */
    int64_t steps, rows;         /* of a rank in a batch */
    uint32_t *seen;              /* of each row of the data: targets that are not hidden */
};

/** Counts them; NULL with *hides false where none is hidden. */
static uint32_t *count_seen(const struct ys_tensor *y, bool *hides)
{
    const size_t rows = (size_t)y->shape[0], positions = rows ? ys_tensor_count(y) / rows : 0;
    const int64_t *labels = y->data;
    uint32_t *seen = ys_alloc(rows, sizeof *seen);
    *hides = false;
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < positions; i++)
            seen[row] += labels[row * positions + i] >= 0;
        *hides = *hides || seen[row] < positions;
    }
    return seen;
}

static bool fits(const struct ys_tensor *order, const struct ys_tensor *y, int64_t ranks)
{
    if (order->rank != 2 || order->shape[1] % ranks != 0 || y->rank < 2)
        return false;
    const uint32_t *rows = order->data;
    for (size_t i = 0; i < ys_tensor_count(order); i++)
        if (rows[i] >= y->shape[0])
            return false;
    return true;
}

static ys_status open_data(const char *data, const struct ys_tensor *order, int64_t ranks, uint32_t **seen, bool *hides)
{
    struct ys_safetensors *file;
    if (ys_safetensors_open(data, &file) != YS_OK)
        return YS_OK;
    const struct ys_tensor *y = ys_safetensors_find(file, YS_TARGET_NAME);
    ys_status status = YS_OK;
    if (y && y->dtype == YS_I64 && fits(order, y, ranks)) {
        *seen = count_seen(y, hides);
        status = *seen ? YS_OK : ys_out_of_memory();
    }
    ys_safetensors_close(file);
    return status;
}

ys_status ys_shares_open(const char *data, const char *order, int64_t ranks, struct ys_shares **shares)
{
    struct ys_safetensors *file;
    uint32_t *seen = NULL;
    bool hides = false;
    *shares = NULL;
    if (!data || !order || ranks < 2 || ys_safetensors_open(order, &file) != YS_OK)
        return YS_OK;
    const struct ys_tensor *rows = ys_safetensors_find(file, "order");
    ys_status status = rows && rows->dtype == YS_U32 ? open_data(data, rows, ranks, &seen, &hides) : YS_OK;
    struct ys_shares *made = status == YS_OK && hides ? ys_alloc(1, sizeof *made) : NULL;
    if (status == YS_OK && hides && !made)
        status = ys_out_of_memory();
    if (!made) {
        ys_free(seen);
        ys_safetensors_close(file);
        return status;
    }
    *made = (struct ys_shares){
        .file = file, .order = rows->data, .steps = rows->shape[0], .rows = rows->shape[1] / ranks, .seen = seen};
    *shares = made;
    return YS_OK;
}

void ys_shares_close(struct ys_shares *shares)
{
    if (!shares)
        return;
    ys_safetensors_close(shares->file);
    ys_free(shares->seen);
    ys_free(shares);
}

double ys_share_of(const struct ys_shares *shares, int64_t ranks, int64_t step, int64_t rank)
{
    double own = 0, all = 0;
    if (!shares || step < 0 || step >= shares->steps)
        return 1 / (double)ranks;
    for (int64_t i = 0; i < ranks * shares->rows; i++) {
        const uint32_t seen = shares->seen[shares->order[step * ranks * shares->rows + i]];
        all += seen;
        own += i / shares->rows == rank ? seen : 0;
    }
    return all > 0 ? own / all : 0;
}
