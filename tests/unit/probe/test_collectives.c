/* What is heard of programs that call gloo and MPI: exactly what they call, however they end, and of the first process
 * that calls alone. The libraries that they call are made for this test (collectives_fake.c). */
#include "base/files/fs.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "probe/collectives.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GLOO_CALLS = 4, GLOO_BYTES = 16000, MPI_CALLS = 7 };
static const int64_t MPI_BYTES = 40 + INT64_C(48000000000) + 56 + 48 + 32 + 48 + 16;

static char folder[] = "/tmp/ys-collectives-XXXXXX";
static char *notes, *preload, *variable, *linked, *loader, *module;

/** LD_PRELOAD of the library, by a path without blanks, wherever the programs are. */
static char *preload_of(const char *programs)
{
    char *library = ys_format("%s/" YS_COLLECTIVES_LIBRARY, programs ? programs : "src");
    char *path = ys_path_absolute(library), *listed = ys_path_join(folder, YS_COLLECTIVES_LIBRARY);
    char *text = path && listed && symlink(path, listed) == 0 ? ys_format("LD_PRELOAD=%s", listed) : NULL;
    ys_free(listed);
    ys_free(path);
    ys_free(library);
    return text;
}

static bool begin(void)
{
    const char *programs = getenv("YARDSTICK_BIN");
    if (!notes) {
        notes = mkdtemp(folder) ? ys_path_join(folder, "notes") : NULL;
        preload = preload_of(programs);
        variable = ys_format(YS_COLLECTIVES_VARIABLE "=%s", notes);
        linked = ys_format("%s/unit/probe/collectives_linked", ys_exe_dir());
        loader = ys_format("%s/unit/probe/collectives_loader", ys_exe_dir());
        module = ys_format("%s/unit/probe/collectives_module.so", ys_exe_dir());
    }
    return CHECK(notes && preload && ys_collectives_make(notes) == YS_OK);
}

/** Runs the linked or the loaded framework with these words; its exit code, -1 where it did not run. */
static int run(bool is_loaded, const char *const *words)
{
    const char *argv[12] = {is_loaded ? loader : linked, is_loaded ? module : NULL}, *env[] = {preload, variable, NULL};
    const struct ys_child_options options = {.env = env, .timeout_s = 60};
    struct ys_buf output = {0};
    int code = -1;
    for (size_t i = 0; words[i]; i++)
        argv[i + 1 + is_loaded] = words[i];
    CHECK_INT(ys_child_run(argv, &options, &output, &code), YS_OK);
    CHECK_TEXT(ys_buf_text(&output), "");
    ys_buf_free(&output);
    return code;
}

static void check_heard(bool is_loaded, const char *const *words, int64_t calls, int64_t bytes, size_t noted)
{
    struct ys_collectives heard;
    if (!begin())
        return;
    CHECK_INT(run(is_loaded, words), 0);
    REQUIRE(ys_collectives_read(notes, &heard) == YS_OK);
    CHECK_INT(heard.calls, calls);
    CHECK_INT(heard.bytes, bytes);
    CHECK_INT(heard.count, noted);
    CHECK(heard.is_whole);
    for (size_t i = 0; i < heard.count; i++)
        CHECK(heard.items[i].begin_ns > 0 && heard.items[i].end_ns != UINT64_MAX &&
              (i == 0 || heard.items[i].begin_ns >= heard.items[i - 1].begin_ns));
    ys_collectives_fini(&heard);
}

static void calls_and_bytes_are_those_of_the_program(void)
{
    for (int is_loaded = 0; is_loaded < 2; is_loaded++) {
        check_heard(is_loaded, (const char *[]){"gloo", NULL}, GLOO_CALLS, GLOO_BYTES, GLOO_CALLS);
        check_heard(is_loaded, (const char *[]){"mpi", NULL}, MPI_CALLS, MPI_BYTES, MPI_CALLS + 1);
        check_heard(is_loaded, (const char *[]){"gloo", "mpi", "gloo", NULL}, 2 * GLOO_CALLS + MPI_CALLS,
                    2 * GLOO_BYTES + MPI_BYTES, 2 * GLOO_CALLS + MPI_CALLS + 1);
        check_heard(is_loaded, (const char *[]){"threads", NULL}, 400 * GLOO_CALLS, 400 * GLOO_BYTES, 400 * GLOO_CALLS);
        check_heard(is_loaded, (const char *[]){"none", NULL}, 0, 0, 0);
    }
}

static void which_library_is_told(void)
{
    struct ys_collectives heard;
    const char *const words[][3] = {{"gloo", NULL}, {"mpi", NULL}, {"gloo", "mpi", NULL}};
    for (int i = 0; i < 3 && begin(); i++) {
        CHECK_INT(run(false, words[i]), 0);
        REQUIRE(ys_collectives_read(notes, &heard) == YS_OK);
        CHECK(heard.gloo == (i != 1) && heard.mpi == (i != 0));
        ys_collectives_fini(&heard);
    }
}

/* The options are passed on as they are, and bytes are not made up. */
static void options_of_another_layout_have_no_bytes(void)
{
    check_heard(true, (const char *[]){"gloo", "odd", NULL}, GLOO_CALLS + 2, -1, GLOO_CALLS + 2);
}

static void children_are_not_counted(void)
{
    check_heard(false, (const char *[]){"gloo", "fork", "gloo", NULL}, 2 * GLOO_CALLS, 2 * GLOO_BYTES, 2 * GLOO_CALLS);
    check_heard(true, (const char *[]){"gloo", "fork", "exit", NULL}, GLOO_CALLS, GLOO_BYTES, GLOO_CALLS);
    if (!begin())
        return;
    struct ys_collectives heard;
    char *script =
        ys_format("'%s' none; '%s' gloo; '%s' gloo", linked, linked, linked); /* the first that calls is it */
    const char *argv[] = {"sh", "-c", script, NULL}, *env[] = {preload, variable, NULL};
    const struct ys_child_options options = {.env = env, .timeout_s = 60};
    int code = -1;
    CHECK_INT(ys_child_run(argv, &options, NULL, &code), YS_OK);
    CHECK_INT(code, 0);
    REQUIRE(ys_collectives_read(notes, &heard) == YS_OK);
    CHECK_INT(heard.calls, GLOO_CALLS);
    ys_collectives_fini(&heard);
    ys_free(script);
}

/* A process that is killed inside its fifth call. */
static void what_was_counted_survives_a_kill(void)
{
    struct ys_collectives heard;
    int output[2], status = 0;
    char said[16] = "";
    if (!begin())
        return;
    REQUIRE(pipe(output) == 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(output[1], STDOUT_FILENO);
        putenv(preload);
        putenv(variable);
        execl(loader, loader, module, "gloo", "block", (char *)NULL);
        _exit(99);
    }
    close(output[1]);
    CHECK(read(output[0], said, sizeof said - 1) > 0); /* "inside", or it has ended */
    CHECK_HAS(said, "inside");
    kill(child, SIGKILL);
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    close(output[0]);
    REQUIRE(ys_collectives_read(notes, &heard) == YS_OK);
    CHECK_INT(heard.calls, GLOO_CALLS + 1);
    CHECK_INT(heard.bytes, GLOO_BYTES + 8000);
    REQUIRE(heard.count == GLOO_CALLS + 1);
    CHECK(heard.items[GLOO_CALLS - 1].end_ns != UINT64_MAX && heard.items[GLOO_CALLS].end_ns == UINT64_MAX);
    const uint64_t from_ns = heard.items[GLOO_CALLS].begin_ns;
    CHECK_INT(ys_collectives_busy_ns(&heard, from_ns, from_ns + 1000), 1000);
    ys_collectives_fini(&heard);
}

static void a_program_without_the_library_or_its_notes_goes_on(void)
{
    const char *argv[] = {linked, "gloo", "mpi", NULL};
    const char *const envs[][3] = {{"LD_PRELOAD=/nowhere/" YS_COLLECTIVES_LIBRARY, variable, NULL},
                                   {preload, YS_COLLECTIVES_VARIABLE "=/nowhere/notes", NULL},
                                   {preload, YS_COLLECTIVES_VARIABLE "=/dev/null", NULL},
                                   {preload, NULL}};
    for (size_t i = 0; i < sizeof envs / sizeof envs[0] && begin(); i++) {
        struct ys_buf output = {0};
        const struct ys_child_options options = {.env = envs[i], .timeout_s = 60, .merge_stderr = true};
        int code = -1;
        CHECK_INT(ys_child_run(argv, &options, &output, &code), YS_OK);
        CHECK_INT(code, 0);
        ys_buf_free(&output);
    }
}

/* Windows of time over calls that overlap, touch, lie in one another, and leave gaps. */
static void time_under_way_is_that_of_the_union(void)
{
    static const struct {
        uint64_t begin_ns, end_ns;
    } made[] = {{100, 200}, {150, 250}, {250, 300}, {260, 270}, {400, 500}};
    static const struct {
        uint64_t from_ns, to_ns, busy_ns;
    } windows[] = {{0, 1000, 300}, {0, 100, 0},    {100, 300, 200}, {120, 130, 10}, {299, 401, 2},
                   {300, 400, 0},  {450, 600, 50}, {500, 600, 0},   {200, 200, 0}};
    struct ys_collectives heard;
    REQUIRE(begin());
    int fd = open(notes, O_RDWR);
    struct ys_collectives_head head = {.version = YS_COLLECTIVES_VERSION, .owner = 1, .begun = 5, .calls = 5};
    REQUIRE(fd >= 0 && pwrite(fd, &head, sizeof head, 0) == (ssize_t)sizeof head);
    for (size_t i = 0; i < 5; i++) {
        const struct ys_collective_note note = {made[4 - i].begin_ns, made[4 - i].end_ns, 1, YS_COLLECTIVE_GLOO};
        CHECK(pwrite(fd, &note, sizeof note, (off_t)(offsetof(struct ys_collectives_notes, items) + i * sizeof note)) ==
              (ssize_t)sizeof note);
    }
    close(fd);
    REQUIRE(ys_collectives_read(notes, &heard) == YS_OK);
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++)
        CHECK_INT(ys_collectives_busy_ns(&heard, windows[i].from_ns, windows[i].to_ns), windows[i].busy_ns);
    ys_collectives_fini(&heard);
}

/* Whoever was listened to may have written anything. */
static void notes_that_are_none_are_refused(void)
{
    struct ys_collectives heard;
    REQUIRE(begin());
    CHECK_INT(truncate(notes, 100), 0);
    struct ys_collectives_head head = {.version = YS_COLLECTIVES_VERSION, .owner = 1, .begun = UINT64_MAX};
    int fd = open(notes, O_RDWR);
    CHECK(pwrite(fd, &head, sizeof head, 0) == (ssize_t)sizeof head);
    CHECK_INT(ys_collectives_read(notes, &heard), YS_EFORMAT);
    CHECK(pwrite(fd, "x", 1, 0) == 1);
    CHECK_INT(ys_collectives_read(notes, &heard), YS_EFORMAT);
    close(fd);
    unlink(notes);
    CHECK_INT(ys_collectives_read(notes, &heard), YS_ENOTFOUND);
    CHECK_INT(mkfifo(notes, 0600), 0); /* nobody will ever write into it */
    CHECK_INT(ys_collectives_read(notes, &heard), YS_EFORMAT);
    unlink(notes);
    CHECK_INT(symlink("/dev/zero", notes), 0);
    CHECK_INT(ys_collectives_read(notes, &heard), YS_EIO);
    unlink(notes);
    CHECK_INT(ys_collectives_make("/nowhere/notes"), YS_EIO);
    CHECK_HAS(ys_error(), "/nowhere/notes");
}

static void remove_all(void)
{
    char *const all[] = {notes, preload, variable, linked, loader, module};
    unlink(notes);
    if (preload)
        unlink(preload + strlen("LD_PRELOAD="));
    rmdir(folder);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        ys_free(all[i]);
}

TAP_MAIN(TAP_CASE(calls_and_bytes_are_those_of_the_program), TAP_CASE(which_library_is_told),
         TAP_CASE(options_of_another_layout_have_no_bytes), TAP_CASE(children_are_not_counted),
         TAP_CASE(what_was_counted_survives_a_kill), TAP_CASE(a_program_without_the_library_or_its_notes_goes_on),
         TAP_CASE(time_under_way_is_that_of_the_union), TAP_CASE(notes_that_are_none_are_refused), TAP_CASE(remove_all))
