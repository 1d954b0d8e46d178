#include "bridge/chromium.h"

#include "base/files/fs.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BROWSER_IN = 3, BROWSER_OUT = 4, FLAGS_MOST = 32, EXIT_NOT_EXECUTED = 127 };
static const double START_LIMIT_S = 60;

struct pipes {
    int command[2], answer[2]; /* of pipe(): [0] to read */
};

static void close_pipes(struct pipes *pipes)
{
    for (int i = 0; i < 2; i++) {
        if (pipes->command[i] >= 0)
            close(pipes->command[i]);
        if (pipes->answer[i] >= 0)
            close(pipes->answer[i]);
    }
}

/* The child's side: the pipes become its descriptors 3 and 4, which may be theirs already. */
static _Noreturn void become(char *const argv[], const struct pipes *pipes)
{
    const int in = fcntl(pipes->command[0], F_DUPFD, 10), out = fcntl(pipes->answer[1], F_DUPFD, 10);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (in < 0 || out < 0 || dup2(in, BROWSER_IN) < 0 || dup2(out, BROWSER_OUT) < 0)
        _exit(EXIT_NOT_EXECUTED);
    close(in);
    close(out);
    unsetenv("YARDSTICK_FD");
    execv(argv[0], argv);
    _exit(EXIT_NOT_EXECUTED);
}

static ys_status fork_browser(char *const argv[], struct ys_chromium *browser)
{
    struct pipes pipes = {{-1, -1}, {-1, -1}};
    if (pipe2(pipes.command, O_CLOEXEC) != 0 || pipe2(pipes.answer, O_CLOEXEC) != 0) {
        ys_status status = ys_fail(YS_EIO, "cannot make a pipe: %s", strerror(errno));
        close_pipes(&pipes);
        return status;
    }
    browser->pid = fork();
    if (browser->pid == 0)
        become(argv, &pipes);
    const int error = errno;
    close(pipes.command[0]);
    close(pipes.answer[1]);
    ys_status status = ys_devtools_open(pipes.answer[0], pipes.command[1], &browser->pipe);
    return browser->pid < 0 ? ys_fail(YS_EIO, "cannot start a process: %s", strerror(error)) : status;
}

static ys_status run_program(const char *path, const char *profile, bool graphics, struct ys_chromium *browser)
{
    static const char *const usual[] = {"--headless=new",
                                        "--remote-debugging-pipe",
                                        "--no-first-run",
                                        "--no-default-browser-check",
                                        "--disable-background-networking",
                                        "--disable-component-update",
                                        "--disable-default-apps",
                                        "--disable-extensions",
                                        "--disable-sync",
                                        "--disable-breakpad",
                                        "--disable-renderer-backgrounding",
                                        "--disable-background-timer-throttling",
                                        "--disable-backgrounding-occluded-windows",
                                        "--disable-dev-shm-usage",
                                        "--metrics-recording-only",
                                        "--log-level=3",
                                        "--mute-audio"};
    char *argv[FLAGS_MOST], *folder = ys_format("--user-data-dir=%s", profile);
    size_t count = 0;
    argv[count++] = (char *)(uintptr_t)path;
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        argv[count++] = (char *)(uintptr_t)usual[i];
    if (graphics) { /* in software where no processor is found, which the adapter says */
        argv[count++] = (char *)(uintptr_t) "--enable-unsafe-swiftshader";
        argv[count++] = (char *)(uintptr_t) "--enable-unsafe-webgpu";
    } else
        argv[count++] = (char *)(uintptr_t) "--disable-gpu";
    if (!browser->sandboxed)
        argv[count++] = (char *)(uintptr_t) "--no-sandbox";
    argv[count++] = folder;
    argv[count++] = (char *)(uintptr_t) "about:blank";
    argv[count] = NULL;
    ys_status status = fork_browser(argv, browser);
    ys_free(folder);
    return status;
}

/* How it ended that has gone before it said anything. */
static ys_status explain_end(const struct ys_chromium *browser, const char *path)
{
    int how = 0;
    const bool ended = waitpid(browser->pid, &how, WNOHANG) == browser->pid;
    if (ended && WIFEXITED(how) && WEXITSTATUS(how) == EXIT_NOT_EXECUTED)
        return ys_fail(YS_EUNSUPPORTED, "%s cannot be executed", path);
    if (browser->sandboxed)
        return ys_fail(YS_EUNSUPPORTED,
                       "%s ended at once: its sandbox needs user namespaces; allow them (sysctl -w "
                       "kernel.unprivileged_userns_clone=1) or install its package chromium-sandbox",
                       path);
    return ys_fail(YS_EIO, "%s ended at once; its own words are in the log", path);
}

static ys_status ask_version(struct ys_chromium *browser, const char *path)
{
    ys_json *version = NULL;
    ys_status status = ys_devtools_ask(browser->pipe, "Browser.getVersion", NULL, START_LIMIT_S, &version);
    if (status == YS_EIO)
        return explain_end(browser, path);
    if (status != YS_OK)
        return status;
    browser->product = ys_strdup(ys_json_get_text(version, "product", "unknown"));
    ys_json_free(version);
    const char *number = strchr(browser->product, '/');
    browser->major = number ? atoi(number + 1) : 0;
    if (browser->major < YS_CHROMIUM_OLDEST)
        return ys_fail(YS_EUNSUPPORTED, "%s is %s: version %d or newer is wanted, as in the package chromium", path,
                       browser->product, YS_CHROMIUM_OLDEST);
    return YS_OK;
}

ys_status ys_chromium_start(const char *path, const char *profile, bool graphics, struct ys_chromium *browser)
{
    *browser = (struct ys_chromium){.sandboxed = geteuid() != 0};
    char *program = path ? ys_strdup(path) : ys_find_browser();
    if (!program)
        return ys_fail(YS_EUNSUPPORTED, "no browser is on PATH: install the package chromium");
    ys_status status = ys_fs_is_executable(program)
                           ? ys_fs_make_dirs(profile)
                           : ys_fail(YS_EUNSUPPORTED, "%s is no program: install the package chromium", program);
    if (status == YS_OK)
        status = run_program(program, profile, graphics, browser);
    if (status == YS_OK)
        status = ask_version(browser, program);
    ys_free(program);
    if (status != YS_OK)
        ys_chromium_end(browser);
    return status;
}

void ys_chromium_end(struct ys_chromium *browser)
{
    ys_devtools_close(browser->pipe);
    if (browser->pid > 0) {
        kill(browser->pid, SIGKILL);
        while (waitpid(browser->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    ys_free(browser->product);
    *browser = (struct ys_chromium){0};
}
