/* Networks as files that a tool makes of them: made once, kept, and why there is none where it failed. */
#include "framework/converter.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "framework/framework.h"
#include "framework/network_file.h"
#include "tap.h"
#include "unit/framework/scratch.h"

#include <stdlib.h>
#include <unistd.h>

static char shell[] = "/bin/sh", spec[] = "tool@1.0";

/* A plan whose graph and weights say `graph` and w. */
static struct ys_plan make_plan(const char *graph, int64_t batch)
{
    struct ys_plan plan;
    ys_plan_init(&plan);
    plan.graph = ys_strdup(scratch_write("graph", graph));
    plan.weights = ys_strdup(scratch_write("weights", "w"));
    plan.model = ys_strdup("toy");
    plan.folder = ys_strdup(scratch_dir());
    plan.batch = batch;
    return plan;
}

/* A tool whose script is `text`. */
static struct ys_framework make_framework(struct ys_converter *converter, const char *text)
{
    static char script[512], environment[512];
    snprintf(script, sizeof script, "%s", scratch_write("convert.sh", text));
    snprintf(environment, sizeof environment, "%s/envs/tool@1.0", scratch_dir());
    if (ys_fs_make_dirs(environment) != YS_OK)
        abort();
    *converter =
        (struct ys_converter){.spec = spec, .script = script, .interpreter = shell, .environment = environment};
    ys_sha256_text(text, strlen(text), converter->closure);
    return (struct ys_framework){.spec = spec, .converter = converter};
}

static uint64_t calls(void)
{
    struct ys_buf text = {0};
    char *path = ys_path_join(scratch_dir(), "calls");
    if (ys_fs_read(path, 1000, &text) != YS_OK)
        text.size = 0;
    ys_free(path);
    const uint64_t count = text.size;
    ys_buf_free(&text);
    return count;
}

/* Converts a plan of `graph` and `batch`, and checks that its file says `content`. */
static void check_converted(const struct ys_framework *framework, const char *graph, int64_t batch, const char *content)
{
    struct ys_plan plan = make_plan(graph, batch);
    struct ys_buf found = {0};
    CHECK_TEXT(ys_framework_model_file(framework, &plan) == YS_OK ? "" : ys_error(), "");
    if (CHECK(plan.converted && plan.converted->path)) {
        CHECK_TEXT(plan.converted->by, "tool@1.0");
        CHECK(ys_fs_read(plan.converted->path, 1000, &found) == YS_OK);
        CHECK_TEXT(ys_buf_text(&found), content);
        ys_framework_model_file_remove(&plan);
        CHECK(!ys_fs_exists(plan.converted->path));
    }
    ys_buf_free(&found);
    ys_plan_fini(&plan);
}

static void a_network_is_converted_once_for_each_thing_that_it_depends_on(void)
{
    struct ys_converter converter;
    char text[1000];
    snprintf(text, sizeof text, "cat \"$1\" \"$2\" >\"$5\"\necho \" $3 $4\" >>\"$5\"\nprintf x >>%s/calls\n",
             scratch_dir());
    const struct ys_framework framework = make_framework(&converter, text);
    check_converted(&framework, "g", 4, "gw 4 {}\n");
    CHECK_INT(calls(), 1);
    check_converted(&framework, "g", 4, "gw 4 {}\n");
    CHECK_INT(calls(), 1);
    check_converted(&framework, "g", 5, "gw 5 {}\n");
    check_converted(&framework, "h", 5, "hw 5 {}\n");
    CHECK_INT(calls(), 3);
}

/* Quantises a plan that calibrates on what `order` says, and checks that its file says `content`. */
static void check_quantised(const struct ys_framework *framework, const char *order, const char *content)
{
    struct ys_plan plan = make_plan("g", 4);
    struct ys_buf found = {0};
    plan.quantise = ys_alloc(1, sizeof *plan.quantise);
    plan.quantise->rule = ys_json_object();
    ys_json_set_string(plan.quantise->rule, "kind", "static");
    plan.quantise->data = ys_strdup(scratch_write("data", "d"));
    plan.quantise->order = ys_strdup(scratch_write("order", order));
    CHECK_TEXT(ys_framework_model_file(framework, &plan) == YS_OK ? "" : ys_error(), "");
    if (CHECK(plan.converted && plan.converted->path)) {
        CHECK(ys_fs_read(plan.converted->path, 1000, &found) == YS_OK);
        CHECK_TEXT(ys_buf_text(&found), content);
        ys_framework_model_file_remove(&plan);
    }
    ys_buf_free(&found);
    ys_plan_fini(&plan);
}

static void a_quantiser_is_told_the_rule_and_made_anew_for_other_rows(void)
{
    struct ys_converter tool;
    char text[1000];
    snprintf(text, sizeof text,
             "echo \"$4\" | grep -o '\"kind\":\"static\"' >\"$5\"\n"
             "cat \"$(echo \"$4\" | sed 's/.*\"order\":\"\\([^\"]*\\)\".*/\\1/')\" >>\"$5\"\nprintf x >>%s/calls\n",
             scratch_dir());
    struct ys_framework framework = make_framework(&tool, text);
    framework.quantiser = framework.converter; /* a plan without `quantise` would be converted by it */
    const uint64_t before = calls();
    check_quantised(&framework, "rows", "\"kind\":\"static\"\nrows");
    check_quantised(&framework, "rows", "\"kind\":\"static\"\nrows");
    CHECK_INT(calls() - before, 1);
    check_quantised(&framework, "others", "\"kind\":\"static\"\nothers");
    CHECK_INT(calls() - before, 2);
}

/* Twice, in which a script that ends so is called `times`. Each says it otherwise than the others: a failure that is
 * kept is its own. */
static void check_failure(const char *ending, uint64_t times, const char *code, const char *message)
{
    struct ys_converter converter;
    char text[1000];
    snprintf(text, sizeof text, "printf x >>%s/calls\n%s", scratch_dir(), ending);
    const struct ys_framework framework = make_framework(&converter, text);
    const uint64_t before = calls();
    for (int again = 0; again < 2; again++) {
        struct ys_plan plan = make_plan("g", 1);
        CHECK(ys_framework_model_file(&framework, &plan) == YS_OK);
        REQUIRE(plan.converted);
        CHECK(!plan.converted->path);
        CHECK_TEXT(plan.converted->code, code);
        CHECK_TEXT(plan.converted->message, message);
        ys_framework_model_file_remove(&plan);
        ys_plan_fini(&plan);
    }
    CHECK_INT(calls() - before, times);
}

static void a_failure_is_told_by_its_last_line_and_a_refusal_is_kept(void)
{
    check_failure("echo first\necho no operator Foo\nexit 3\n", 1, "unsupported", "no operator Foo");
    check_failure("exit 3\n", 1, "unsupported", "it ended without a word");
    check_failure("echo out\necho too large >&2\nexit 1\n", 2, "build_failed", "too large");
    check_failure("echo done\n", 2, "build_failed", "done"); /* and no file */
    check_failure("exit 1\n", 2, "build_failed", "it ended without a word");
}

static void a_plan_that_loads_what_was_stored_is_not_converted(void)
{
    struct ys_converter converter;
    const struct ys_framework framework = make_framework(&converter, "exit 1\n");
    struct ys_plan plan = make_plan("g", 1);
    plan.stored = ys_alloc(1, sizeof *plan.stored);
    CHECK(ys_framework_model_file(&framework, &plan) == YS_OK);
    CHECK(!plan.converted);
    ys_plan_fini(&plan);
}

#define ADAPTER "name = runs\nadapter = a.py\nversions = 1\npython = 3.11\nrequirements = r.txt\nforms = x\n"

static void a_framework_without_its_tool_is_missing(void)
{
    struct ys_framework *framework = NULL;
    const char *const folders[] = {scratch_dir(), NULL};
    scratch_write("a.py", "");
    scratch_write("c.py", "");
    scratch_write("tool.recipe", "name = tool\nkind = tool\nversions = 2.0\npython = 3.11\nrequirements = r.txt\n");
    scratch_write("runs.recipe", ADAPTER "converter = tool\nconvert = c.py\n");
    REQUIRE(ys_framework_find("runs", folders, &framework) == YS_OK);
    CHECK(framework->state == YS_FRAMEWORK_MISSING);
    CHECK_TEXT(framework->command, "yardstick install runs");
    REQUIRE(framework->converter);
    CHECK_TEXT(framework->converter->spec, "tool@2.0");
    CHECK(framework->converter->reason != NULL);
    char before[YS_SHA256_TEXT];
    memcpy(before, framework->closure, sizeof before);
    ys_framework_free(framework);
    scratch_write("c.py", "print(1)\n");
    REQUIRE(ys_framework_find("runs", folders, &framework) == YS_OK);
    CHECK(strcmp(before, framework->closure) != 0); /* a proof holds for that converter alone */
    ys_framework_free(framework);
    scratch_write("runs.recipe", ADAPTER "converter = nothing\nconvert = c.py\n");
    CHECK(ys_framework_find("runs", folders, &framework) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "converter = nothing");
    scratch_write("runs.recipe", ADAPTER "converter = runs\nconvert = c.py\n");
    CHECK(ys_framework_find("runs", folders, &framework) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "no recipe of kind tool");
    scratch_write("runs.recipe", ADAPTER "converter = tool\n");
    CHECK(ys_framework_find("runs", folders, &framework) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "belong together");
}

TAP_MAIN(TAP_CASE(a_network_is_converted_once_for_each_thing_that_it_depends_on),
         TAP_CASE(a_quantiser_is_told_the_rule_and_made_anew_for_other_rows),
         TAP_CASE(a_failure_is_told_by_its_last_line_and_a_refusal_is_kept),
         TAP_CASE(a_plan_that_loads_what_was_stored_is_not_converted),
         TAP_CASE(a_framework_without_its_tool_is_missing))
