#include "verify/oracle/rank_files.h"

#include "base/files/fs.h"
#include "base/mem.h"

#include <string.h>
#include <unistd.h>

static bool is_buffer(const struct ys_graph *graph, const char *name)
{
    for (size_t p = 0; p < graph->param_count; p++)
        if (graph->params[p].role == YS_ROLE_BUFFER && strcmp(graph->params[p].name, name) == 0)
            return true;
    return false;
}

/* The tensor of that name in the file of `rank`, of the same form as the first rank's. */
static ys_status find(const struct ys_join_request *request, size_t rank, const struct ys_tensor *first,
                      const struct ys_tensor **found)
{
    *found = ys_safetensors_find(request->files[rank], first->name);
    if (*found && (*found)->dtype == first->dtype && (*found)->size_bytes == first->size_bytes)
        return YS_OK;
    return ys_fail(YS_EPROTOCOL, "rank %zu shows no %s of the form of rank 0's", rank, first->name);
}

static ys_status join_loss(const struct ys_join_request *request, struct ys_tensor *tensor, double *loss)
{
    double sum = 0;
    for (size_t r = 0; r < request->count; r++) {
        const struct ys_tensor *own;
        YS_TRY(find(request, r, tensor, &own));
        if (ys_tensor_count(own) != 1)
            return ys_fail(YS_EPROTOCOL, "the loss of rank %zu is no single number", r);
        sum += request->shares[r] * ys_tensor_value(own, 0);
    }
    *loss = sum;
    tensor->dtype = YS_F64;
    tensor->data = loss;
    tensor->size_bytes = sizeof *loss;
    return YS_OK;
}

/* `*rows` is new. */
static ys_status join_rows(const struct ys_join_request *request, struct ys_tensor *tensor, char **rows)
{
    const struct ys_tensor first = *tensor;
    *rows = ys_alloc(request->count, first.size_bytes);
    for (size_t r = 0; r < request->count; r++) {
        const struct ys_tensor *own;
        YS_TRY(find(request, r, &first, &own));
        memcpy(*rows + r * first.size_bytes, own->data, first.size_bytes);
    }
    tensor->shape[0] *= (int64_t)request->count;
    tensor->size_bytes *= request->count;
    tensor->data = *rows;
    return YS_OK;
}

static ys_status check_equal(const struct ys_join_request *request, const struct ys_tensor *tensor)
{
    for (size_t r = 1; r < request->count && !is_buffer(request->graph, tensor->name); r++) {
        const struct ys_tensor *own;
        YS_TRY(find(request, r, tensor, &own));
        if (memcmp(own->data, tensor->data, tensor->size_bytes) != 0)
            return ys_fail(YS_EPROTOCOL, "%s of rank %zu is not that of rank 0: ranks hold the same, to the bit",
                           tensor->name, r);
    }
    return YS_OK;
}

static ys_status join_all(const struct ys_join_request *request, struct ys_tensor *tensors, char **rows, double *loss)
{
    const size_t count = ys_safetensors_count(request->files[0]);
    for (size_t i = 0; i < count; i++) {
        tensors[i] = *ys_safetensors_at(request->files[0], i);
        if (strcmp(tensors[i].name, "loss") == 0)
            YS_TRY(join_loss(request, &tensors[i], loss));
        else if (request->has_rows && tensors[i].rank > 0)
            YS_TRY(join_rows(request, &tensors[i], &rows[i]));
        else
            YS_TRY(check_equal(request, &tensors[i]));
    }
    return YS_OK;
}

static ys_status pass(const char *folder, const struct ys_tensor *tensors, size_t count, struct ys_safetensors **joined)
{
    char *path = ys_path_join(folder, "joined.safetensors");
    ys_status status = ys_safetensors_write(path, tensors, count, NULL);
    if (status == YS_OK)
        status = ys_safetensors_load(path, joined);
    unlink(path);
    ys_free(path);
    return status;
}

ys_status ys_ranks_join_files(const struct ys_join_request *request, struct ys_safetensors **joined)
{
    const size_t count = ys_safetensors_count(request->files[0]);
    struct ys_tensor *tensors = ys_alloc(count + 1, sizeof *tensors);
    char **rows = ys_alloc(count + 1, sizeof *rows);
    double loss = 0;
    ys_status status = join_all(request, tensors, rows, &loss);
    if (status == YS_OK)
        status = pass(request->folder, tensors, count, joined);
    for (size_t i = 0; i < count; i++)
        ys_free(rows[i]);
    ys_free(rows);
    ys_free(tensors);
    return status;
}
