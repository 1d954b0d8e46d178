/* Graphs in files as models: what is taken, and every refusal. */
#include "graph/model.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "tap.h"
#include "unit/base/scratch.h"
#include <sys/stat.h>

static const char *write_model(const char *name, const struct ys_model_input *input)
{
    struct ys_graph *graph = NULL;
    const char *path = scratch(name);
    if (!CHECK(ys_model_build(ys_model_find("lenet"), input, &graph) == YS_OK))
        return path;
    ys_json *json = ys_graph_to_json(graph);
    CHECK(ys_json_write(path, json) == YS_OK);
    ys_json_free(json);
    ys_graph_free(graph);
    return path;
}

static void names_and_files_are_told_apart(void)
{
    CHECK(!ys_model_is_file("lenet") && !ys_model_is_file("a.b") && !ys_model_is_file(".json"));
    CHECK(ys_model_is_file("n.json") && ys_model_is_file("./n") && ys_model_is_file("a/b.onnx"));
}

static void a_name_is_chosen(void)
{
    struct ys_model_choice choice;
    REQUIRE(ys_model_choose("lenet", &choice) == YS_OK);
    CHECK(choice.named == ys_model_find("lenet") && !choice.path && !*choice.hash);
    CHECK(choice.usual.shape[1] == 28);
    ys_model_choice_fini(&choice);
    CHECK(ys_model_choose("lenett", &choice) == YS_EINVAL);
    CHECK_HAS(ys_error(), "there is no model \"lenett\"");
}

static void a_file_is_the_same_network_as_its_model(void)
{
    const struct ys_model_input *usual = &ys_model_find("lenet")->usual;
    const char *path = write_model("m.json", usual);
    struct ys_model_choice choice;
    struct ys_graph *graph = NULL;
    char hash[YS_SHA256_TEXT];
    REQUIRE(ys_model_choose(path, &choice) == YS_OK);
    CHECK(!choice.named && ys_sha256_file(path, hash) == YS_OK);
    CHECK_TEXT(choice.hash, hash);
    CHECK(memcmp(choice.usual.shape, usual->shape, sizeof usual->shape) == 0 && choice.usual.classes == 10);
    CHECK(ys_model_choice_build(&choice, usual, &graph) == YS_OK);
    CHECK_INT(ys_graph_parameter_count(graph), 3274634);
    ys_graph_free(graph);
    ys_model_choice_fini(&choice);
}

static void other_data_are_refused(void)
{
    const char *path = write_model("m.json", &ys_model_find("lenet")->usual);
    struct ys_model_choice choice;
    REQUIRE(ys_model_choose(path, &choice) == YS_OK);
    static const struct ys_model_input others[] = {
        {.shape = {3, 32, 32}, .dtype = YS_U8, .scale = 1.0 / 255, .classes = 10},
        {.shape = {1, 28, 28}, .dtype = YS_U8, .scale = 1.0 / 255, .classes = 100},
        {.shape = {1, 28, 28}, .dtype = YS_F32, .scale = 1, .classes = 10},
    };
    static const char *const words[] = {"and the data are 3x32x32, 10 classes, U8",
                                        "and the data are 1x28x28, 100 classes, U8",
                                        "and the data are 1x28x28, 10 classes, F32"};
    for (size_t i = 0; i < 3; i++) {
        struct ys_graph *graph = NULL;
        CHECK(ys_model_choice_build(&choice, &others[i], &graph) == YS_EINVAL && !graph);
        CHECK_HAS(ys_error(), "m.json is a network for 1x28x28, 10 classes, U8");
        CHECK_HAS(ys_error(), words[i]);
    }
    ys_model_choice_fini(&choice);
}

static void refused(const char *path, const char *words)
{
    struct ys_model_choice choice;
    CHECK(ys_model_choose(path, &choice) == YS_EINVAL);
    CHECK(!choice.path && !choice.json);
    CHECK_HAS(ys_error(), ys_path_base(path));
    CHECK_HAS(ys_error(), words);
}

static void what_is_no_graph_is_refused(void)
{
    scratch("made");
    refused("./there/is/none.json", "No such file");
    refused(scratch_folder, "is a folder, not a file");
    const char *path = scratch("fifo.json");
    CHECK(mkfifo(path, 0600) == 0);
    refused(path, "not a regular file");
    path = scratch("large.json");
    CHECK(ys_fs_write(path, "", 0) == YS_OK && truncate(path, ((off_t)16 << 20) + 1) == 0);
    refused(path, "16777216");
    path = scratch("damaged.json");
    CHECK(ys_fs_write(path, "{\"format\": ", 11) == YS_OK);
    refused(path, "damaged.json");
    CHECK(ys_fs_write(path, "{}", 2) == YS_OK);
    refused(path, "format must be \"yardstick-graph\"");
}

TAP_MAIN(TAP_CASE(names_and_files_are_told_apart), TAP_CASE(a_name_is_chosen),
         TAP_CASE(a_file_is_the_same_network_as_its_model), TAP_CASE(other_data_are_refused),
         TAP_CASE(what_is_no_graph_is_refused))
