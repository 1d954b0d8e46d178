/* The tree holds to tools/floors.txt, and the check of that finds what it should. */
#include "base/files/fs.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "tap.h"
#include <stdlib.h>

static void run_check(const char *argument)
{
    const char *root = getenv("YS_SOURCE_ROOT");
    char *script = ys_path_join(root ? root : ".", "tools/check_floors.py");
    const char *const argv[] = {"python3", script, argument, NULL};
    const struct ys_child_options options = {.merge_stderr = true};
    struct ys_buf output = {0};
    int exit_code = -1;
    ys_status status = ys_child_run(argv, &options, &output, &exit_code);
    if (status == YS_ENOTFOUND)
        tap_skip("there is no python3");
    else
        tap_check(status == YS_OK && exit_code == 0, __LINE__, "exit code %d: %s", exit_code, ys_buf_text(&output));
    ys_buf_free(&output);
    ys_free(script);
}

static void every_file_includes_only_what_its_floor_allows(void)
{
    run_check(NULL);
}

static void the_check_finds_what_it_should(void)
{
    run_check("--self-test");
}

TAP_MAIN(TAP_CASE(every_file_includes_only_what_its_floor_allows), TAP_CASE(the_check_finds_what_it_should))
