/* Models that are files, and what stands for either kind. */
#include "graph/model.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "graph/foreign_format.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FILE_LIMIT ((size_t)16 << 20)

enum { FORM_TEXT = 96 };

static ys_model_reader *read_onnx;

void ys_model_read_onnx(ys_model_reader *read)
{
    read_onnx = read;
}

static bool ends_in(const char *text, const char *ending)
{
    const char *dot = strrchr(text, '.');
    return dot && dot > text && strcasecmp(dot, ending) == 0;
}

bool ys_model_is_onnx(const char *text)
{
    return read_onnx && ends_in(text, ".onnx");
}

bool ys_model_is_file(const char *text)
{
    static const char *const endings[] = {".json", ".pt",  ".pth",  ".h5",          ".keras", ".tflite",
                                          ".pb",   ".pkl", ".ckpt", ".safetensors", ".ort"};
    bool is = strchr(text, '/') || ys_model_is_onnx(text);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0];
         i++) /* of the most nothing can be read but what they are */
        is = is || ends_in(text, endings[i]);
    return is;
}

/* "1x28x28, 10 classes, U8" */
static void put_form(const struct ys_model_input *input, char text[FORM_TEXT])
{
    snprintf(text, FORM_TEXT, "%lldx%lldx%lld, %lld classes, %s", (long long)input->shape[0],
             (long long)input->shape[1], (long long)input->shape[2], (long long)input->classes,
             ys_dtype_name(input->dtype));
}

static bool is_same_form(const struct ys_model_input *a, const struct ys_model_input *b)
{
    return memcmp(a->shape, b->shape, sizeof a->shape) == 0 && a->classes == b->classes && a->dtype == b->dtype;
}

/* Whether a row is what a data set may have in another form: channels of a grid, and a class. */
static bool has_form(const struct ys_rows *rows)
{
    return rows->input_count == 1 && rows->inputs[0].rank == 3 && rows->inputs[0].dtype != YS_I32 &&
           rows->kind == YS_TARGET_CLASS;
}

/* What a graph reads and tells apart. */
static void set_form(const struct ys_graph *graph, struct ys_model_choice *choice)
{
    struct ys_rows *rows = &choice->rows;
    *rows = ys_graph_rows(graph);
    if (!has_form(rows))
        return;
    choice->usual = (struct ys_model_input){.dtype = rows->inputs[0].dtype, .classes = rows->classes};
    memcpy(choice->usual.shape, rows->inputs[0].shape, sizeof choice->usual.shape);
}

/* Why a file is no graph; what there is to know of it may show in its first bytes. */
static ys_status no_graph(const char *path, ys_status status)
{
    char begin[512];
    FILE *file = fopen(path, "rbe");
    const size_t size = file ? fread(begin, 1, sizeof begin, file) : 0;
    if (file)
        fclose(file);
    return size > 0 && ys_model_foreign(begin, size, false) != YS_OK ? ys_fail_in(YS_EFORMAT, "%s is no graph", path)
                                                                     : status;
}

static ys_status read_json(struct ys_model_choice *choice)
{
    struct ys_buf bytes = {0};
    ys_status status = ys_fs_read(choice->path, FILE_LIMIT, &bytes);
    if (status == YS_OK) {
        ys_sha256_text(ys_buf_text(&bytes), bytes.size, choice->hash);
        status = ys_json_parse(ys_buf_text(&bytes), bytes.size, choice->path, &choice->json);
    }
    ys_buf_free(&bytes);
    return status == YS_EFORMAT ? no_graph(choice->path, status) : status;
}

/* Everything that is wrong with a file is a mistake of who named it. */
static ys_status as_mistake(ys_status status)
{
    return status == YS_EFORMAT || status == YS_ENOTFOUND || status == YS_EIO || status == YS_EUNSUPPORTED
               ? ys_fail_in(YS_EINVAL, "the model's file")
               : status;
}

static ys_status read_file(const struct ys_model_feed *feed, struct ys_model_choice *choice)
{
    struct ys_graph *graph = NULL;
    ys_status status;
    if (ys_model_is_onnx(choice->path))
        status = read_onnx(choice->path, feed, &choice->json, choice->hash);
    else
        status = read_json(choice);
    if (status == YS_OK)
        status = ys_graph_from_json(choice->json, choice->path, &graph);
    if (status == YS_OK)
        set_form(graph, choice);
    ys_graph_free(graph);
    return as_mistake(status);
}

ys_status ys_model_check(const char *text)
{
    struct ys_model_choice choice;
    if (ys_model_is_onnx(text))
        return as_mistake(read_onnx(text, NULL, NULL, NULL));
    YS_TRY(ys_model_choose(text, &choice));
    ys_model_choice_fini(&choice);
    return YS_OK;
}

ys_status ys_model_choose(const char *text, struct ys_model_choice *choice)
{
    return ys_model_choose_fed(text, NULL, choice);
}

static ys_status check_feed(const char *text, const struct ys_model_feed *feed)
{
    if (!feed || ys_model_is_onnx(text) || (!feed->inputs && !feed->output && feed->layout == YS_LAYOUT_AUTO))
        return YS_OK;
    if (feed->output)
        return ys_fail(YS_EINVAL, "model.output = %s: the model %s is no ONNX file, which may have several",
                       feed->output, text);
    return feed->inputs ? ys_fail(YS_EINVAL, "model.input = %s: the model %s is no ONNX file, whose inputs have names",
                                  feed->inputs, text)
                        : ys_fail(YS_EINVAL, "model.layout: the model %s is no ONNX file: write auto", text);
}

ys_status ys_model_choose_fed(const char *text, const struct ys_model_feed *feed, struct ys_model_choice *choice)
{
    *choice = (struct ys_model_choice){0};
    YS_TRY(check_feed(text, feed));
    if (!ys_model_is_file(text)) {
        choice->named = ys_model_find(text);
        if (!choice->named)
            return ys_fail(YS_EINVAL, "there is no model \"%s\": `yardstick list models` names them", text);
        choice->usual = choice->named->usual;
        choice->rows = ys_model_rows(choice->named);
        return YS_OK;
    }
    choice->path = ys_strdup(text);
    ys_status status = choice->path ? read_file(feed, choice) : ys_out_of_memory();
    if (status != YS_OK)
        ys_model_choice_fini(choice);
    return status;
}

void ys_model_choice_fini(struct ys_model_choice *choice)
{
    ys_free(choice->path);
    ys_json_free(choice->json);
    *choice = (struct ys_model_choice){0};
}

static ys_status build_from_files(const struct ys_model *model, const struct ys_model_input *input,
                                  struct ys_graph **graph)
{
    const int stem = (int)(strlen(model->path) - strlen(".json"));
    char wanted[FORM_TEXT];
    struct ys_model_choice file;
    char *path = is_same_form(input, &model->usual)
                     ? ys_strdup(model->path)
                     : ys_format("%.*s.%lldx%lldx%lld.json", stem, model->path, (long long)input->shape[0],
                                 (long long)input->shape[1], (long long)input->shape[2]);
    ys_status status = path ? YS_OK : ys_out_of_memory();
    put_form(input, wanted);
    if (status == YS_OK && !ys_fs_exists(path))
        status = ys_fail(YS_EINVAL, "model %s is not there for data of %s: for these it needs %s", model->name, wanted,
                         ys_path_base(path));
    if (status == YS_OK && (status = ys_model_choose(path, &file)) == YS_OK) {
        status = ys_model_choice_build(&file, input, graph);
        ys_model_choice_fini(&file);
    }
    ys_free(path);
    return status;
}

ys_status ys_model_build(const struct ys_model *model, const struct ys_model_input *input, struct ys_graph **graph)
{
    YS_TRY(ys_model_check_sizes(model, input));
    return model->build ? model->build(input, graph) : build_from_files(model, input, graph);
}

ys_status ys_model_choice_build(const struct ys_model_choice *choice, const struct ys_model_input *input,
                                struct ys_graph **graph)
{
    if (choice->named)
        return ys_model_build(choice->named, input, graph);
    const struct ys_model file = {.name = choice->path};
    char has[FORM_TEXT], wanted[FORM_TEXT];
    YS_TRY(ys_model_check_sizes(&file, input));
    put_form(&choice->usual, has);
    put_form(input, wanted);
    if (has_form(&choice->rows) && !is_same_form(&choice->usual, input))
        return ys_fail(YS_EINVAL,
                       "model %s is a network for %s, and the data are %s: take other data, or a file made "
                       "for these",
                       choice->path, has, wanted);
    return ys_graph_from_json(choice->json, choice->path, graph);
}
