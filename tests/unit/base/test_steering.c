/* Which variables of its own yardstick hands on, and to whom. */
#include "base/process/steering.h"
#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static bool passes(const char *name, enum ys_steered_program program)
{
    return ys_steering_passes(name, program);
}

static void each_kind_of_program_gets_what_the_rule_says(void)
{
    static const struct {
        const char *name;
        bool is_known, measured, own;
    } cases[] = {
        {"PATH", false, true, true},
        {"SECRET_TOKEN", false, true, true},
        {"TF_TOKEN_a_b", false, true, true},
        {"TF_VAR_password", false, true, true},
        {"TF_FUNCTION_JIT_COMPILE_DEFAULT=1", true, true, false},
        {"TF_OVERRIDE_GLOBAL_THREADPOOL", true, false, false},
        {"TF_FP16_MATMUL_USE_FP32_COMPUTE", true, false, false},
        {"NPY_DISABLE_CPU_FEATURES=AVX2", true, true, false},
        {"THEANORC=/x", true, true, false},
        {"PYTHON_SHA256", false, true, true},
        {"LD_PRELOAD_NOT", false, true, true},
        {"ONEDNN_MAX_CPU_ISA", true, true, true},
        {"OMP_WAIT_POLICY=passive", true, true, true},
        {"LD_PRELOAD=/x.so", true, true, false},
        {"ONEDNN_VERBOSE=1", true, true, false},
        {"MALLOC_PERTURB_=165", true, true, false},
        {"MKL_DEBUG_CPU_TYPE=5", true, true, false},
        {"KMP_BLOCKTIME", true, true, false},
        {"OMP_THREAD_LIMIT=1", true, false, false},
        {"OMP_DYNAMIC", true, false, false},
        {"OMP_STACKSIZE=64k", true, false, false},
        {"GOMP_STACKSIZE=64", true, false, false},
        {"OMP_NUM_THREADS", true, false, false},
        {"GOMP_CPU_AFFINITY=0", true, false, false},
        {"KMP_ALL_THREADS", true, false, false},
        {"KMP_DYNAMIC_MODE", true, false, false},
        {"DNNL_DEFAULT_FPMATH_MODE=BF16", true, false, false},
        {"NVIDIA_TF32_OVERRIDE", true, false, false},
        {"TF_ENABLE_AUTO_MIXED_PRECISION", true, false, false},
        {"PYTHONPATH", true, false, false},
        {"PYTHONSTARTUP", true, false, false},
        {"KERAS_BACKEND=jax", true, false, false},
        {"LUA_PATH_5_3", true, false, false},
        {"RAYON_NUM_THREADS", true, false, false},
        {"NCCL_ALGO", true, true, false},
        {"LC_NUMERIC=de_DE.UTF-8", true, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *name = cases[i].name;
        tap_check((ys_steering_of(name) != NULL) == cases[i].is_known, __LINE__, "%s is known or not", name);
        tap_check(passes(name, YS_PROGRAM_MEASURED) == cases[i].measured, __LINE__, "%s in a trial", name);
        tap_check(passes(name, YS_PROGRAM_OWN) == cases[i].own, __LINE__, "%s in an own program", name);
        CHECK(passes(name, YS_PROGRAM_OTHER));
    }
}

/* A row that another hides before it would never be asked. */
static void no_row_hides_behind_another(void)
{
    for (const struct ys_steering *row = ys_steerings; row->names; row++) {
        char name[128];
        size_t length = 0;
        for (const char *at = row->names; *at; at++) {
            name[length++] = *at == '*' || *at == '[' ? 'X' : *at;
            if (*at == '[')
                at = strchr(at, ']');
        }
        name[length] = 0;
        tap_check(ys_steering_of(name) == row, __LINE__, "%s finds the row %s", name,
                  ys_steering_of(name) ? ys_steering_of(name)->names : "none");
    }
}

static const char *find(const char *const *list, const char *name)
{
    const char *found = NULL;
    int times = 0;
    for (size_t i = 0; list[i]; i++)
        if (strncmp(list[i], name, strlen(name)) == 0 && list[i][strlen(name)] == '=') {
            found = list[i] + strlen(name) + 1;
            times++;
        }
    CHECK(times < 2);
    return found;
}

static void later_lists_hold_whatever_the_rule_says(void)
{
    static const char *const first[] = {"OMP_THREAD_LIMIT=7", "YS_TEST_A=1", NULL}, *const second[] = {"YS_TEST_A=2",
                                                                                                       NULL};
    setenv("OMP_THREAD_LIMIT", "1", 1);
    setenv("YS_TEST_KEPT", "kept", 1);
    for (int program = YS_PROGRAM_MEASURED; program <= YS_PROGRAM_OTHER; program++) {
        const char **list =
            ys_surroundings((enum ys_steered_program)program, (const char *const *const[]){first, second, NULL});
        REQUIRE(list);
        CHECK_TEXT(find(list, "OMP_THREAD_LIMIT"), "7");
        CHECK_TEXT(find(list, "YS_TEST_A"), "2");
        CHECK_TEXT(find(list, "YS_TEST_KEPT"), "kept");
        ys_free(list);
        list = ys_surroundings((enum ys_steered_program)program, (const char *const *const[]){second, NULL});
        REQUIRE(list);
        CHECK((find(list, "OMP_THREAD_LIMIT") != NULL) == (program == YS_PROGRAM_OTHER));
        ys_free(list);
    }
    unsetenv("OMP_THREAD_LIMIT");
    unsetenv("YS_TEST_KEPT");
}

#define BEGIN "<!-- Made from src/base/process/steering.c: its test says how to renew it. -->\n\n"
#define END   "\n<!-- -->\n"

static void put_table(struct ys_buf *out)
{
    static const char *const ways[] = {
        [YS_STEERING_KEPT] = "kept", [YS_STEERING_RESET] = "reset", [YS_STEERING_EVERYWHERE] = "kept everywhere"};
    bool is_new = true;
    ys_buf_puts(out, "| variable | in a trial | steers |\n| --- | --- | --- |\n");
    for (const struct ys_steering *row = ys_steerings; row->names; row++) {
        const struct ys_steering *next = row + 1;
        ys_buf_printf(out, "%s`%s`", is_new ? "| " : ", ", row->names);
        is_new = !next->names || next->rule != row->rule || strcmp(next->what, row->what) != 0;
        if (is_new)
            ys_buf_printf(out, " | %s | %s |\n", ways[row->rule], row->what);
    }
}

/* To renew the page after a change of the table: YS_RENEW_DOCS=1 tests/test_base_steering, with YS_SOURCE_ROOT at the
 * source. */
static void the_page_has_the_table(void)
{
    const char *root = getenv("YS_SOURCE_ROOT");
    struct ys_buf page = {0}, whole = {0};
    char path[4096];
    if (!root) {
        tap_skip("YS_SOURCE_ROOT is not set");
        return;
    }
    snprintf(path, sizeof path, "%s/docs/measuring.md", root);
    REQUIRE(ys_fs_read(path, (size_t)1 << 20, &page) == YS_OK);
    const char *text = ys_buf_text(&page), *begin = strstr(text, BEGIN), *end = begin ? strstr(begin, END) : NULL;
    REQUIRE(end);
    ys_buf_append(&whole, text, (size_t)(begin + strlen(BEGIN) - text));
    put_table(&whole);
    ys_buf_puts(&whole, end);
    if (getenv("YS_RENEW_DOCS"))
        CHECK(ys_fs_write(path, whole.data, whole.size) == YS_OK);
    else if (!CHECK(strcmp(text, ys_buf_text(&whole)) == 0))
        printf("#   renew it: YS_RENEW_DOCS=1 YS_SOURCE_ROOT=<source> tests/test_base_steering\n");
    ys_buf_free(&whole);
    ys_buf_free(&page);
}

TAP_MAIN(TAP_CASE(each_kind_of_program_gets_what_the_rule_says), TAP_CASE(no_row_hides_behind_another),
         TAP_CASE(later_lists_hold_whatever_the_rule_says), TAP_CASE(the_page_has_the_table))
