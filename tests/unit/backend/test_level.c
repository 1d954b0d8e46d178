/* One variable makes an older processor of any, for the library and for our kernels. Each case asks a process of its
 * own, since the library reads the variable once. */
#include "backend/kernels/kernels.h"
#include "backend/level.h"
#include "engine/backend.h"
#include "engine/engine.h"
#include "graph/builder.h"
#include "tap.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern const struct ys_kernels ys_kernels_f32;
#ifdef __x86_64__
extern const struct ys_kernels ys_kernels_f32_v3, ys_kernels_f32_v4;
#endif

struct said {
    int width;       /* of the level */
    int kernels;     /* that of the kernels that were chosen */
    bool lacks_bf16; /* and says why, here and where an engine is opened */
    char name[64], reason[200], opened[200];
};

static int width_of(const struct ys_kernels *kernels)
{
#ifdef __x86_64__
    if (kernels == &ys_kernels_f32_v4)
        return 4;
    if (kernels == &ys_kernels_f32_v3)
        return 3;
#endif
    return kernels == &ys_kernels_f32 ? 1 : 0;
}

static void open_in_bf16(struct said *said)
{
    struct ys_build *b = NULL;
    struct ys_graph *graph = NULL;
    struct ys_engine *e = NULL;
    const struct ys_engine_config config = {.batch = 2, .precision = YS_ENGINE_BF16, .threads = 1, .training = true};
    if (ys_build_new("level", (const int64_t[]){5}, 1, YS_F32, &b) != YS_OK ||
        ys_build_finish(b, ys_build_gemm(b, ys_build_input(b), 3, "fc"), &graph) != YS_OK)
        return;
    if (ys_engine_open_graph(graph, &config, &e) == YS_EUNSUPPORTED)
        snprintf(said->opened, sizeof said->opened, "%s", ys_engine_error());
    ys_engine_close(e);
    ys_graph_free(graph);
}

static void look(struct said *said)
{
    const char *reason = ys_level_lacks(YS_ENGINE_BF16);
    *said = (struct said){
        .width = ys_level_width(), .kernels = width_of(ys_kernels(false, YS_LANES)), .lacks_bf16 = reason != NULL};
    snprintf(said->name, sizeof said->name, "%s", ys_level_name());
    snprintf(said->reason, sizeof said->reason, "%s", reason ? reason : "");
    open_in_bf16(said);
}

/** What a process finds with the variable set so; NULL: not set. */
static struct said ask(const char *variable, const char *value)
{
    struct said said = {0};
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        unsetenv("ONEDNN_MAX_CPU_ISA");
        unsetenv("DNNL_MAX_CPU_ISA");
        if (value)
            setenv(variable, value, 1);
        look(&said);
        _exit(write(ends[1], &said, sizeof said) != sizeof said);
    }
    close(ends[1]);
    CHECK_INT(read(ends[0], &said, sizeof said), sizeof said);
    close(ends[0]);
    waitpid(pid, NULL, 0);
    return said;
}

static struct said of_machine(void)
{
    return ask(NULL, NULL);
}

static void kernels_follow_the_variable(void)
{
    static const struct {
        const char *value;
        int width;
    } limits[] = {{"SSE41", 1}, {"AVX", 1}, {"AVX2", 3}, {"avx2", 3}, {"AVX512_CORE", 4}, {"ALL", 4}, {"none such", 4}};
    const struct said whole = of_machine();
    CHECK_INT(whole.kernels, whole.width);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const int expected = limits[i].width < whole.width ? limits[i].width : whole.width;
        const struct said said = ask("ONEDNN_MAX_CPU_ISA", limits[i].value);
        CHECK_INT(said.width, expected);
        CHECK_INT(said.kernels, expected);
        CHECK_INT(ask("DNNL_MAX_CPU_ISA", limits[i].value).kernels, expected);
    }
}

static void a_level_has_a_name(void)
{
    const struct said whole = of_machine();
    if (whole.width < 3)
        tap_skip("this processor has no AVX2");
    else
        CHECK_TEXT(ask("ONEDNN_MAX_CPU_ISA", "AVX2").name, "AVX2");
}

/** By instructions alone: what the library can do without them, for some operations, is no bf16. */
static void bf16_is_refused_by_one_sentence(void)
{
    static const char *const limits[] = {"SSE41", "AVX2", "AVX512_CORE", "AVX512_CORE_VNNI", "ALL"};
    const struct said whole = of_machine();
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const struct said said = ask("ONEDNN_MAX_CPU_ISA", limits[i]);
        const bool is_whole = strcmp(limits[i], "ALL") == 0;
        CHECK_INT(said.lacks_bf16, is_whole ? whole.lacks_bf16 : true);
        CHECK_TEXT(said.opened, said.reason);
        if (said.lacks_bf16)
            CHECK_HAS(said.reason, ys_backend_left_out("onednn") ? "onednn" : said.name);
    }
}

TAP_MAIN(TAP_CASE(kernels_follow_the_variable), TAP_CASE(a_level_has_a_name), TAP_CASE(bf16_is_refused_by_one_sentence))
