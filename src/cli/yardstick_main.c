/* yardstick: wiring only. */
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "cli/command.h"
#include "cli/verb.h"
#include "framework/recipe_models.h"
#include "graph/model.h"
#include "onnx/read/onnx_read.h"
#include "verify/operators/check_models.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Without a current folder every relative path would mean another place, without /proc neither yardstick's own files
 * are found nor anything is seen of what runs, and that is started with /dev/null; the verbs that only say something
 * need neither. */
static ys_status check_surroundings(const struct ys_verb *verb)
{
    char folder[PATH_MAX];
    const bool runs = ys_verb_flag(verb, "recipes", strlen("recipes")) != NULL;
    if (strcmp(verb->name, "help") == 0 || strcmp(verb->name, "completion") == 0)
        return YS_OK;
    if (!getcwd(folder, sizeof folder))
        return ys_fail(YS_EINVAL, "the current folder %s: go to another, as with cd",
                       errno == ENOENT                            ? "was removed"
                       : errno == ERANGE || errno == ENAMETOOLONG ? "has too long a path"
                                                                  : "cannot be told");
    if (runs && strcmp(verb->name, "doctor") != 0 && access("/proc/self/stat", R_OK) != 0)
        return ys_fail(YS_EUNSUPPORTED,
                       "/proc is not readable, by which %s sees what it runs: mount -t proc proc /proc", verb->name);
    if (runs && access("/dev/null", R_OK | W_OK) != 0)
        return ys_fail(YS_EUNSUPPORTED,
                       "there is no /dev/null, with which %s starts programs: mount -t devtmpfs dev /dev", verb->name);
    return YS_OK;
}

static int dispatch(const struct ys_args *args)
{
    const struct ys_verb *verb = ys_verb_find(args->verb);
    struct ys_buf out = {0};
    if (args->quiet)
        ys_log_set_level(YS_LOG_WARN);
    if (args->debug)
        ys_log_set_level(YS_LOG_DEBUG);
    if (args->version) {
        ys_buf_puts(&out, "yardstick " YS_VERSION "\n");
        return ys_command_print(&out);
    }
    if (args->help) {
        ys_verb_help(verb, &out);
        return ys_command_print(&out);
    }
    if (!*args->verb) {
        ys_verb_first_steps(&out);
        const int code = ys_command_print(&out);
        return code ? code : 2; /* nothing was asked for */
    }
    ys_status status = verb ? check_surroundings(verb) : ys_verb_unknown(args->verb);
    return status == YS_OK ? verb->run(args) : ys_command_fail(status);
}

/* A descriptor of the standard three that the caller closed would become the first file opened, and the result would be
 * written into that. What stands in its place refuses to be written to, so that a lost result is noticed. */
static void fill_standard_descriptors(void)
{
    int fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/dev/null", O_RDONLY);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    struct ys_args args;
    fill_standard_descriptors();
    ys_memory_must_suffice("yardstick");
    if (ys_stop_install() != YS_OK)
        return ys_command_fail(YS_EINTERNAL);
    ys_models_also(ys_framework_models);
    ys_model_find_also(ys_check_find);
    ys_model_read_onnx(ys_onnx_read_graph);
    ys_status status = ys_args_parse(argc, argv, &args);
    int code = status == YS_OK ? dispatch(&args) : ys_command_fail(status);
    ys_args_fini(&args);
    return code;
}
