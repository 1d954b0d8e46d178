#include "crew/gradient_question.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "protocol/request.h"
#include "session/checked_message.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NAME = 128 };

size_t ys_gradient_pixels(const struct ys_gradient_form *form)
{
    size_t pixels = 1;
    for (size_t i = 1; i < form->rank; i++)
        pixels *= (size_t)form->shape[i];
    return pixels;
}

void ys_gradient_asker_open(struct ys_session *session, const struct ys_gradient_form *form, const char *folder,
                            bool in_double, struct ys_gradient_asker *asker)
{
    const size_t rows = (size_t)form->shape[0];
    *asker = (struct ys_gradient_asker){.session = session, .form = form, .folder = folder, .in_double = in_double};
    asker->images_path = ys_path_join(folder, "attacked-images.safetensors");
    asker->cotangent_path = ys_path_join(folder, "attacked-cotangent.safetensors");
    asker->images = ys_alloc(rows * ys_gradient_pixels(form), sizeof *asker->images);
    asker->cotangent = ys_alloc(rows * (size_t)form->classes, sizeof(double));
}

void ys_gradient_asker_close(struct ys_gradient_asker *asker)
{
    if (asker->images_path)
        (void)unlink(asker->images_path);
    if (asker->cotangent_path)
        (void)unlink(asker->cotangent_path);
    ys_free(asker->images_path);
    ys_free(asker->cotangent_path);
    ys_free(asker->images);
    ys_free(asker->cotangent);
    *asker = (struct ys_gradient_asker){0};
}

static ys_status write_images(struct ys_gradient_asker *asker, const float *images, size_t count)
{
    const struct ys_gradient_form *form = asker->form;
    const size_t pixels = ys_gradient_pixels(form), rows = (size_t)form->shape[0];
    const float unit = (float)form->unit;
    for (size_t i = 0; i < count * pixels; i++)
        asker->images[i] = images[i] * unit;
    for (size_t r = count; r < rows; r++)
        memcpy(asker->images + r * pixels, asker->images, pixels * sizeof *images);
    struct ys_tensor tensor = {.name = form->input,
                               .dtype = YS_F32,
                               .rank = form->rank,
                               .data = asker->images,
                               .size_bytes = rows * pixels * sizeof *images};
    memcpy(tensor.shape, form->shape, sizeof tensor.shape);
    return ys_safetensors_pass(asker->images_path, &tensor, 1);
}

/* Rows that only fill the batch up have zeros. */
static ys_status write_cotangent(struct ys_gradient_asker *asker, const float *cotangent, size_t count)
{
    const size_t classes = (size_t)asker->form->classes, rows = (size_t)asker->form->shape[0];
    const enum ys_dtype dtype = asker->in_double ? YS_F64 : YS_F32;
    const struct ys_tensor tensor = {.name = "cotangent",
                                     .dtype = dtype,
                                     .rank = 2,
                                     .shape = {(int64_t)rows, (int64_t)classes},
                                     .data = asker->cotangent,
                                     .size_bytes = rows * classes * ys_dtype_size(dtype)};
    for (size_t i = 0; i < rows * classes; i++) {
        const float value = i < count * classes ? cotangent[i] : 0;
        if (asker->in_double)
            ((double *)asker->cotangent)[i] = value;
        else
            ((float *)asker->cotangent)[i] = value;
    }
    return ys_safetensors_pass(asker->cotangent_path, &tensor, 1);
}

/* A tensor of the answer, whose rows have `width` numbers. */
static ys_status find(struct ys_gradient_asker *asker, const struct ys_safetensors *file, const char *name,
                      size_t width, const struct ys_tensor **found)
{
    const struct ys_tensor *tensor = ys_safetensors_find(file, name);
    const bool is_float = tensor && (tensor->dtype == YS_F32 || tensor->dtype == YS_F64);
    *found = tensor;
    if (is_float && tensor->rank >= 1 && tensor->shape[0] == asker->form->shape[0] &&
        ys_tensor_count(tensor) == (size_t)tensor->shape[0] * width)
        return YS_OK;
    return ys_session_fail(asker->session, YS_RUN_WRONG_OUTPUT,
                           "its answer to \"input_gradient\" has no %s of %zu numbers for each of the %lld rows", name,
                           width, (long long)asker->form->shape[0]);
}

static ys_status take(struct ys_gradient_asker *asker, const struct ys_safetensors *file, size_t count, double *logits,
                      float *gradient)
{
    const size_t classes = (size_t)asker->form->classes, pixels = ys_gradient_pixels(asker->form);
    const struct ys_tensor *tensor;
    char name[MOST_NAME];
    YS_TRY(find(asker, file, "logits", classes, &tensor));
    for (size_t i = 0; logits && i < count * classes; i++)
        logits[i] = ys_tensor_value(tensor, i);
    if (!gradient)
        return YS_OK;
    snprintf(name, sizeof name, "grad.%s", asker->form->input);
    YS_TRY(find(asker, file, name, pixels, &tensor));
    for (size_t i = 0; i < count * pixels; i++)
        gradient[i] = (float)(ys_tensor_value(tensor, i) * asker->form->unit);
    return YS_OK;
}

/* The file that it names is its own, and gone before the next is asked for. */
static ys_status open_answer(struct ys_gradient_asker *asker, const ys_json *reply, int64_t *computed_ns,
                             struct ys_safetensors **file)
{
    struct ys_message said;
    ys_message_read(reply, &said);
    *computed_ns = said.tensors.computed_ns;
    char *real = ys_path_real_below(said.tensors.path, asker->folder);
    if (!real)
        return ys_session_fail(asker->session, YS_RUN_PROTOCOL_ERROR,
                               "it named the file of tensors %s, which is not there, or not in its folder",
                               said.tensors.path);
    ys_status status = ys_safetensors_load(real, file);
    (void)unlink(real);
    ys_free(real);
    return status == YS_OK ? YS_OK : ys_session_fail(asker->session, YS_RUN_WRONG_OUTPUT, "%s", ys_error());
}

static void note_times(struct ys_gradient_times *times, uint64_t start_ns, int64_t computed_ns)
{
    times->questions++;
    times->asked_ns += (int64_t)(ys_time_ns() - start_ns);
    times->computed_ns = times->computed_ns < 0 || computed_ns < 0 ? -1 : times->computed_ns + computed_ns;
}

ys_status ys_gradient_ask(struct ys_gradient_asker *asker, const float *images, const float *cotangent, size_t count,
                          double *logits, float *gradient)
{
    ys_json *reply = NULL;
    struct ys_safetensors *file = NULL;
    int64_t computed_ns;
    const uint64_t start_ns = ys_time_ns();
    YS_ASSERT(count >= 1 && (int64_t)count <= asker->form->shape[0]);
    YS_TRY(write_images(asker, images, count));
    if (cotangent)
        YS_TRY(write_cotangent(asker, cotangent, count));
    ys_json *request = ys_request_input_gradient(asker->images_path, cotangent ? asker->cotangent_path : NULL);
    asker->sent_ns = ys_time_ns();
    YS_TRY(ys_session_request(asker->session, request, NULL, NULL, &reply));
    asker->answered_ns = ys_time_ns();
    ys_status status = open_answer(asker, reply, &computed_ns, &file);
    ys_json_free(reply);
    if (status == YS_OK)
        status = take(asker, file, count, logits, cotangent ? gradient : NULL);
    ys_safetensors_close(file);
    if (cotangent)
        note_times(&asker->times, start_ns, computed_ns);
    return status;
}
