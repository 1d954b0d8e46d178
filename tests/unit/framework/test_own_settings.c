/* The defaults that frameworks came with: how recipes write them, and who has them. */
#include "framework/own_settings.h"

#include "framework/recipe.h"
#include "framework/recipe_models.h"
#include "scratch.h"
#include "tap.h"

static ys_status read_text(const char *text, struct ys_recipe **recipe)
{
    char *all = ys_format("name = o\nprogram = x\n%s", text);
    ys_status status = ys_recipe_read(scratch_write("o.recipe", all), recipe);
    ys_free(all);
    return status;
}

static void defaults_are_typed_by_data_set_and_key(void)
{
    ys_models_also(ys_framework_models);
    struct ys_recipe *recipe = NULL;
    REQUIRE(read_text("own.mnist.model = caffe-mnist\nown.mnist.lr = 0.01\nown.mnist.schedule = inv(1e-4, 0.75)\n"
                      "own.mnist.steps = 10000\nown.cifar10.batch = 100\n",
                      &recipe) == YS_OK);
    const ys_json *mnist = ys_json_get(recipe->own, "mnist"), *cifar10 = ys_json_get(recipe->own, "cifar10");
    CHECK_INT(ys_json_size(mnist), 4);
    CHECK_TEXT(ys_json_get_text(mnist, "model", ""), "caffe-mnist");
    CHECK(ys_json_get_number(mnist, "lr", 0) == 0.01);
    CHECK_TEXT(ys_json_get_text(mnist, "schedule", ""), "inv(0.0001,0.75)");
    CHECK_INT(ys_json_get_int(mnist, "steps", 0), 10000);
    CHECK_INT(ys_json_get_int(cifar10, "batch", 0), 100);
    ys_recipe_free(recipe);
}

static void a_recipe_without_defaults_has_none(void)
{
    struct ys_recipe *recipe = NULL;
    REQUIRE(read_text("", &recipe) == YS_OK);
    CHECK_INT(ys_json_size(recipe->own), 0);
    ys_recipe_free(recipe);
}

static void bad_defaults_are_refused_with_their_place(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"own.mnist.lrr = 1\n", "o.recipe:3:1: own.mnist.lrr: lrr is no key that a framework has defaults for; did "
                                "you mean lr?"},
        {"own.mnist.threads = 1\n", "threads is no key that a framework has defaults for"},
        {"own.mist.lr = 1\n", "own.mist.lr: there is no data set mist: see `yardstick list datasets`"},
        {"own.mnist = 1\n", "own.mnist: write own.DATA.KEY, such as own.mnist.lr"},
        {"own.mnist.lr = fast\n",
         "o.recipe:3:16: lr = fast: this is no number: write a number, above 0 and at most 1000"},
        {"own.mnist.model = caffe\n", "model = caffe"},
        {"own.mnist.steps = 5\nown.mnist.epochs = 1\n",
         "o.recipe:4:1: own.mnist.epochs: epochs and steps both say how long a run is: remove one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_recipe *recipe = NULL;
        CHECK_INT(read_text(cases[i].text, &recipe), YS_EFORMAT);
        CHECK_HAS(ys_error(), cases[i].message);
    }
}

static void who_has_none_is_told_who_has(void)
{
    const char *dirs[] = {scratch_dir(), NULL};
    ys_json *own = NULL;
    char *reason = NULL;
    scratch_write("first.recipe", "name = first\nprogram = x\nown.digits.model = mlp\n");
    scratch_write("second.recipe", "name = second\nprogram = x\nown.digits.model = lenet\nown.synthetic.lr = 1\n");
    scratch_write("third.recipe", "name = third\nprogram = x\n");
    REQUIRE(ys_framework_own("second", "digits", dirs, &own, &reason) == YS_OK);
    CHECK_TEXT(ys_json_get_text(own, "model", ""), "lenet");
    CHECK(!reason);
    ys_json_free(own);
    REQUIRE(ys_framework_own("third", "digits", dirs, &own, &reason) == YS_OK);
    CHECK(!own);
    CHECK_TEXT(reason, "the recipe of third has no defaults for digits: own_of can be first, second");
    ys_free(reason);
    REQUIRE(ys_framework_own("third", "fashion-mnist", dirs, &own, &reason) == YS_OK);
    CHECK_TEXT(reason, "the recipe of third has no defaults for fashion-mnist, nor has any other: give model and "
                       "settings, without compare = own");
    ys_free(reason);
    CHECK_INT(ys_framework_own("nobody", "digits", dirs, &own, &reason), YS_ENOTFOUND);
    CHECK(!own && !reason);
}

TAP_MAIN(TAP_CASE(defaults_are_typed_by_data_set_and_key), TAP_CASE(a_recipe_without_defaults_has_none),
         TAP_CASE(bad_defaults_are_refused_with_their_place), TAP_CASE(who_has_none_is_told_who_has))
