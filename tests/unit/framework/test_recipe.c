#include "framework/recipe.h"
#include "framework/recipe_models.h"
#include "scratch.h"
#include "tap.h"

static ys_status read_text(const char *name, const char *text, struct ys_recipe **recipe)
{
    return ys_recipe_read(scratch_write(name, text), recipe);
}

static void a_recipe_that_names_an_executable_is_enough(void)
{
    struct ys_recipe *recipe = NULL;
    REQUIRE(read_text("mine.recipe", "name = mine\nprogram = ./adapter --fast\n", &recipe) == YS_OK);
    CHECK_TEXT(recipe->name, "mine");
    CHECK_TEXT(recipe->title, "mine");
    CHECK_TEXT(recipe->program, "./adapter --fast");
    CHECK(!recipe->has_double && !recipe->no_work);
    CHECK_TEXT(recipe->versions[0], "");
    CHECK(recipe->versions[1] == NULL);
    ys_recipe_free(recipe);
}

static void options_carry_type_choices_and_help(void)
{
    struct ys_recipe *recipe = NULL;
    REQUIRE(read_text("o.recipe",
                      "name = o\nprogram = x\nopt.fast = bool: go faster\nopt.mode = one of a bb: which one\nopt.rate "
                      "= number: rows\nopt.note = text: any\n",
                      &recipe) == YS_OK);
    const ys_json *mode = ys_json_get(recipe->options, "mode");
    CHECK_TEXT(ys_json_get_text(ys_json_get(recipe->options, "fast"), "type", ""), "bool");
    CHECK_TEXT(ys_json_get_text(ys_json_get(recipe->options, "fast"), "help", ""), "go faster");
    CHECK_TEXT(ys_json_get_text(mode, "type", ""), "choice");
    CHECK_INT(ys_json_size(ys_json_get(mode, "choices")), 2);
    CHECK_TEXT(ys_json_text(ys_json_at(ys_json_get(mode, "choices"), 1), ""), "bb");
    CHECK_TEXT(ys_json_get_text(ys_json_get(recipe->options, "rate"), "type", ""), "number");
    CHECK_TEXT(ys_json_get_text(ys_json_get(recipe->options, "note"), "type", ""), "text");
    ys_recipe_free(recipe);
}

static void sizes_versions_and_variables_are_read(void)
{
    struct ys_recipe *recipe = NULL;
    REQUIRE(read_text(
                "v.recipe",
                "name = v\nadapter = a.py\nversions = 2.1.0, 1.9.1\npython = 3.11 3.10\nrequirements = {version}.txt\n"
                "download = 190 MB\ndisk = 1.6 GB\nenv.A_B = 1=2\n",
                &recipe) == YS_OK);
    CHECK_INT(recipe->download_bytes, 190000000);
    CHECK_INT(recipe->disk_bytes, 1600000000);
    CHECK_TEXT(recipe->versions[0], "2.1.0");
    CHECK_TEXT(recipe->versions[1], "1.9.1");
    CHECK(recipe->versions[2] == NULL);
    CHECK_TEXT(recipe->env[0], "A_B=1=2");
    ys_recipe_free(recipe);
}

static void what_is_of_the_environment_that_is_used_is_refused(void)
{
    static const char *const theirs[] = {"versions = 1.0",    "python = 3.11",           "requirements = r.txt",
                                         "index = https://x", "unpinned = x=={version}", "get = build it"};
    struct ys_recipe *recipe = NULL;
    for (size_t i = 0; i < sizeof theirs / sizeof theirs[0]; i++) {
        char text[200], word[40];
        snprintf(text, sizeof text, "name = mine\nadapter = m.py\nuses = other\n%s\n", theirs[i]);
        snprintf(word, sizeof word, "leave %.*s away", (int)strcspn(theirs[i], " "), theirs[i]);
        CHECK(read_text("mine.recipe", text, &recipe) == YS_EFORMAT);
        CHECK_HAS(ys_error(), word);
        CHECK_HAS(ys_error(), "uses = other");
    }
    REQUIRE(read_text("mine.recipe", "name = mine\nadapter = m.py\nuses = other\ndouble = yes\n", &recipe) == YS_OK);
    ys_recipe_free(recipe);
}

static void a_tool_is_an_environment_of_packages_alone(void)
{
    static const char packages[] = "name = t\nkind = tool\nversions = 1.0\npython = 3.11\nrequirements = t.txt\n";
    static const char *const others[] = {"program = x",
                                         "adapter = t.py",
                                         "uses = other",
                                         "get = build it",
                                         "converter = other\nconvert = c.py",
                                         "quantiser = other\nquantise = q.py"};
    struct ys_recipe *recipe = NULL;
    REQUIRE(read_text("t.recipe", packages, &recipe) == YS_OK);
    CHECK(recipe->is_tool && !recipe->adapter && !recipe->program);
    ys_recipe_free(recipe);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s%s\n", packages, others[i]);
        CHECK(read_text("t.recipe", text, &recipe) == YS_EFORMAT);
        CHECK_HAS(ys_error(), "with kind = tool it needs versions, python and requirements");
    }
    CHECK(read_text("t.recipe", "name = t\nkind = tool\nversions = 1.0\n", &recipe) == YS_EFORMAT);
}

static void modes_are_both_unless_the_recipe_names_them(void)
{
    struct ys_recipe *recipe = NULL;
    REQUIRE(read_text("m.recipe", "name = m\nprogram = x\n", &recipe) == YS_OK);
    CHECK(recipe->has_mode[YS_MODE_TRAIN] && recipe->has_mode[YS_MODE_INFER]);
    ys_recipe_free(recipe);
    REQUIRE(read_text("m.recipe", "name = m\nprogram = x\nmodes = infer\n", &recipe) == YS_OK);
    CHECK(!recipe->has_mode[YS_MODE_TRAIN] && recipe->has_mode[YS_MODE_INFER]);
    ys_recipe_free(recipe);
}

static void refused_as(const char *file, const char *text, const char *why)
{
    struct ys_recipe *recipe = NULL;
    ys_status status = read_text(file, text, &recipe);
    tap_check(status == YS_EFORMAT, __LINE__, "\"%s\" gave %d", text, (int)status);
    CHECK_HAS(ys_error(), why);
    if (status == YS_OK)
        ys_recipe_free(recipe);
}

static void refused(const char *text, const char *why)
{
    refused_as("bad.recipe", text, why);
}

static void damaged_recipes_are_refused_with_the_place(void)
{
    refused("name = bad\nprogram = x\nprogramm = y\n",
            "bad.recipe:3:1: a recipe has no key \"programm\"; did you mean \"program\"?");
    refused("name = bad\nname = bad\nprogram = x\n", "name");
    refused("name = bad\n", "needs program = EXECUTABLE or adapter = FILE.py");
    refused("name = bad\nprogram = x\nadapter = y.py\n", "not both");
    refused("name = other\nprogram = x\n", "must be called other.recipe");
    refused("program = x\n", "needs name = NAME");
    refused("name = bad\nkind = framework\nprogram = x\n", "kind = framework: write tool");
    refused("name = bad\nadapter = y.py\n", "needs versions, python and requirements");
    refused("name = bad\nprogram = x\ndouble = maybe\n", "write yes or no");
    refused("name = bad\nprogram = x\nmodel_format = pb\n", "model_format = pb: write onnx");
    refused("name = bad\nprogram = x\ndownload = 12 parsecs\n", "190 MB");
    refused("name = bad\nprogram = x\nopt.a = flag: help\n", "\"flag\" is no type");
    refused("name = bad\nprogram = x\n[section]\n", "a recipe has no sections");
    refused("name = bad\nprogram = x\nmodes = guess\n", "write train, infer or both");
    refused("name = bad\nadapter = y.py\nversions = 1\npython = 3.11\nrequirements = r\nget = build it\n",
            "versions and get");
    refused("name = bad\nadapter = y.py\nget = build it\n", "versions and get");
    refused("name = bad\nprogram = x\nconverter = t\nconvert = c.py\n", "belong together");
    refused("name = bad\nprogram = x\nquantiser = t\nquantise = c.py\n", "belong together");
    refused("name = bad\nadapter = a.py\nuses = other\nquantiser = t\n", "belong together");
    refused("name = bad\nprogram = x\nmake = web\n", "make = web: write TARGET FILE");
    refused("name = bad\nuses = other\nadapter = y.py\nmake = web a.wasm\n", "goes with program");
}

static void the_name_of_a_file_for_one_version_holds(void)
{
    refused_as("some@2.recipe", "name = some\nprogram = x\nversions = 3\n", "needs name = some and versions = 2");
    refused_as("some@2.recipe", "name = some\nprogram = x\nversions = 2, 1\n", "needs name = some and versions = 2");
    refused_as("some@2.recipe", "name = some\nprogram = x\n", "needs name = some and versions = 2");
    refused_as("some@2.recipe", "name = other\nprogram = x\nversions = 2\n", "needs name = some and versions = 2");
    refused_as("some@2.recipe", "name = some@2\nprogram = x\nversions = 2\n", "needs name = some and versions = 2");
}

static const char *found_in(const char *spec, const char *const *dirs)
{
    static char base[64];
    struct ys_recipe *recipe = NULL;
    snprintf(base, sizeof base, "nothing");
    if (ys_recipe_find(spec, dirs, &recipe) == YS_OK)
        snprintf(base, sizeof base, "%s", ys_path_base(recipe->path));
    ys_recipe_free(recipe);
    return base;
}

static void a_recipe_of_one_version_is_found_by_that_version_alone(void)
{
    scratch_write("one/some.recipe", "name = some\nprogram = x\nversions = 3, 1\n");
    scratch_write("two/some@2.recipe", "name = some\nprogram = x\nversions = 2\n");
    char *one = ys_path_join(scratch_dir(), "one"), *two = ys_path_join(scratch_dir(), "two");
    const char *const dirs[] = {one, two, NULL};
    CHECK_TEXT(found_in("some", dirs), "some.recipe");
    CHECK_TEXT(found_in("some@1", dirs), "some.recipe");
    CHECK_TEXT(found_in("some@2", dirs), "some@2.recipe");
    CHECK_TEXT(found_in("some@2", dirs + 1), "some@2.recipe");
    CHECK_TEXT(found_in("some", dirs + 1), "nothing");
    ys_json *specs = ys_recipe_specs(dirs);
    int rows = 0;
    for (size_t i = 0; i < ys_json_size(specs); i++)
        rows += strncmp(ys_json_text(ys_json_at(specs, i), ""), "some", 4) == 0;
    CHECK_INT(rows, 2);
    ys_json_free(specs);
    ys_free(one);
    ys_free(two);
}

static void an_unknown_framework_names_the_nearest_and_all_others(void)
{
    struct ys_recipe *recipe = NULL;
    scratch_write("dirs/alpha.recipe", "name = alpha\nprogram = x\n");
    char *dir = ys_path_join(scratch_dir(), "dirs");
    const char *const dirs[] = {dir, NULL};
    CHECK(ys_recipe_find("alhpa", dirs, &recipe) == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "no recipe for a framework \"alhpa\"");
    CHECK_HAS(ys_error(), "did you mean \"alpha\"?");
    CHECK_HAS(ys_error(), "builtin");
    CHECK(ys_recipe_find("../alpha", dirs, &recipe) == YS_ENOTFOUND);
    ys_free(dir);
}

static void the_first_folder_that_has_a_name_wins(void)
{
    struct ys_recipe *recipe = NULL;
    scratch_write("first/null.recipe", "name = null\nprogram = mine\n");
    char *dir = ys_path_join(scratch_dir(), "first");
    const char *const dirs[] = {dir, NULL};
    REQUIRE(ys_recipe_find("null", dirs, &recipe) == YS_OK);
    CHECK_TEXT(recipe->program, "mine");
    ys_recipe_free(recipe);
    REQUIRE(ys_recipe_find("null", NULL, &recipe) == YS_OK);
    CHECK_TEXT(recipe->program, "yardstick-null");
    ys_recipe_free(recipe);
    ys_free(dir);
}

static void every_shipped_recipe_reads(void)
{
    ys_models_also(ys_framework_models);
    ys_json *names = ys_recipe_specs(NULL);
    CHECK(ys_json_size(names) >= 3);
    for (size_t i = 0; i < ys_json_size(names); i++) {
        struct ys_recipe *recipe = NULL;
        ys_status status = ys_recipe_find(ys_json_text(ys_json_at(names, i), ""), NULL, &recipe);
        tap_check(status == YS_OK, __LINE__, "%s: %s", ys_json_text(ys_json_at(names, i), ""),
                  status ? ys_error() : "");
        ys_recipe_free(recipe);
    }
    ys_json_free(names);
}

TAP_MAIN(TAP_CASE(a_recipe_that_names_an_executable_is_enough), TAP_CASE(options_carry_type_choices_and_help),
         TAP_CASE(sizes_versions_and_variables_are_read), TAP_CASE(what_is_of_the_environment_that_is_used_is_refused),
         TAP_CASE(a_tool_is_an_environment_of_packages_alone), TAP_CASE(modes_are_both_unless_the_recipe_names_them),
         TAP_CASE(the_name_of_a_file_for_one_version_holds),
         TAP_CASE(a_recipe_of_one_version_is_found_by_that_version_alone),
         TAP_CASE(damaged_recipes_are_refused_with_the_place),
         TAP_CASE(an_unknown_framework_names_the_nearest_and_all_others),
         TAP_CASE(the_first_folder_that_has_a_name_wins), TAP_CASE(every_shipped_recipe_reads))
