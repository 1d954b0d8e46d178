#include "framework/start_env.h"
#include "scratch.h"
#include "tap.h"

static const char *find(char **env, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; env[i]; i++)
        if (strncmp(env[i], name, length) == 0 && env[i][length] == '=')
            return env[i] + length + 1;
    return NULL;
}

static void every_pool_gets_the_threads_and_later_values_replace_earlier_ones(void)
{
    struct ys_framework *framework = NULL;
    ys_json *extra = ys_json_object();
    char **env = NULL;
    REQUIRE(ys_framework_find("null", NULL, &framework) == YS_OK);
    ys_json_set_string(extra, "MKL_NUM_THREADS", "7");
    ys_json_set_string(extra, "OMP_WAIT_POLICY", "PASSIVE");
    ys_start_env(framework, 3, NULL, extra, &env);
    CHECK_TEXT(find(env, "OMP_NUM_THREADS"), "3");
    CHECK_TEXT(find(env, "OPENBLAS_NUM_THREADS"), "3");
    CHECK_TEXT(find(env, "MKL_NUM_THREADS"), "7");
    CHECK_TEXT(find(env, "OMP_WAIT_POLICY"), "PASSIVE");
    int mkl = 0;
    for (size_t i = 0; env[i]; i++)
        mkl += strncmp(env[i], "MKL_NUM_THREADS=", 16) == 0;
    CHECK_INT(mkl, 1);
    ys_start_env_free(env);
    ys_json_free(extra);
    ys_framework_free(framework);
}

static void a_recipe_hands_options_on(void)
{
    const char *const dirs[] = {scratch_dir(), NULL};
    struct ys_framework *framework = NULL;
    ys_json *options = ys_json_object();
    char **env = NULL;
    scratch_write("handed.recipe",
                  "name = handed\nprogram = /bin/true\nopt.engine = one of a b: which\n"
                  "opt.fast = bool: whether\nenv.ENGINE = {opt.engine}\nenv.BOTH = {opt.fast}/{opt.engine}\n");
    REQUIRE(ys_framework_find("handed", dirs, &framework) == YS_OK);
    ys_json_set_string(options, "engine", "b");
    ys_json_set(options, "fast", ys_json_bool(true));
    ys_start_env(framework, 1, options, NULL, &env);
    CHECK_TEXT(find(env, "ENGINE"), "b");
    CHECK_TEXT(find(env, "BOTH"), "true/b");
    ys_start_env_free(env);
    ys_start_env(framework, 1, NULL, NULL, &env);
    CHECK_TEXT(find(env, "ENGINE"), "");
    CHECK_TEXT(find(env, "BOTH"), "/");
    ys_start_env_free(env);
    ys_json_free(options);
    ys_framework_free(framework);
    scratch_write("handed.recipe", "name = handed\nprogram = /bin/true\nenv.ENGINE = {opt.engine}\n");
    CHECK_INT(ys_framework_find("handed", dirs, &framework), YS_EFORMAT);
    CHECK_HAS(ys_error(), "no option opt.engine");
}

TAP_MAIN(TAP_CASE(a_recipe_hands_options_on),
         TAP_CASE(every_pool_gets_the_threads_and_later_values_replace_earlier_ones))
