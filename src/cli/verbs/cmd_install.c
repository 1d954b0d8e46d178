/* install, uninstall. */
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/command.h"
#include "framework/framework.h"
#include "framework/start_env.h"
#include "session/checked_message.h"
#include "session/session.h"

#include <string.h>

/* A framework that was built by hand may take its time to start from a slow disk. */
static const double HELLO_PATIENCE_S = 120;

/* What an installation could not do is a failure (1), not a mistake in the command (2) or of yardstick (7). */
static int fail_one(ys_status status, const char *spec)
{
    if (status == YS_EINTR)
        return ys_command_fail(status);
    if (status == YS_EIO || status == YS_EUNSUPPORTED)
        ys_fail_in(status, "%s", spec); /* the other messages name the framework themselves */
    int code = ys_command_fail(status);
    return code == 7 || status == YS_EUNSUPPORTED ? 1 : code;
}

/* Every word in turn; one that fails does not keep the others from being tried. */
static int for_each_word(const struct ys_args *args, ys_status (*act)(const char *, const char *const *))
{
    int code = 0;
    if (!args->word_count)
        return ys_command_fail(
            ys_fail(YS_EINVAL, "%s needs the name of a framework: see yardstick list frameworks", args->verb));
    for (size_t i = 0; i < args->word_count; i++) {
        ys_status status = act(args->words[i], args->recipe_dirs);
        int failed = status == YS_OK ? 0 : fail_one(status, args->words[i]);
        if (status == YS_EINTR)
            return failed;
        code = failed > code ? failed : code;
    }
    return code;
}

static bool means_all(const struct ys_args *args)
{
    return args->word_count == 1 && strcmp(args->words[0], "all") == 0;
}

static int finish_all(ys_status status, bool failed)
{
    return status != YS_OK ? ys_command_fail(status) : failed;
}

/* The adapter did not say hello: why. */
static ys_status no_hello(const char *interpreter, const struct ys_session_end *end, const char *said)
{
    char *text = ys_session_end_text(end, said);
    ys_status status = ys_fail(YS_EIO, "%s does not run its adapter: %s", interpreter, text ? text : said);
    ys_free(text);
    return status;
}

/* Starts the adapter in `folder` and waits for its hello. */
static ys_status hear_hello(const struct ys_framework *framework, const char *folder)
{
    char **env = NULL;
    struct ys_session *session = NULL;
    struct ys_session_end end;
    ys_start_env(framework, 1, NULL, NULL, &env);
    struct ys_launch launch = {.argv = (const char *const *)framework->argv,
                               .env = (const char *const *)env,
                               .folder = folder,
                               .stall_limit_s = HELLO_PATIENCE_S,
                               .stop_grace_s = 1};
    ys_status status = ys_session_open(&launch, &session);
    bool began = session != NULL;
    char *said = ys_strdup(status == YS_OK ? "" : ys_error());
    if (status == YS_OK) {
        struct ys_message hello;
        ys_message_read(ys_session_hello(session), &hello);
        ys_log_info("%s runs %s %s", framework->argv[0],
                    hello.hello.framework ? hello.hello.framework : framework->title,
                    hello.hello.version ? hello.hello.version : "");
    }
    ys_session_close(session, &end);
    if (status != YS_OK && status != YS_EINTR && began)
        status = no_hello(framework->argv[0], &end, said ? said : "");
    ys_session_end_fini(&end);
    ys_free(said);
    ys_start_env_free(env);
    return status;
}

/* install NAME --from=PROGRAM: a framework that the user built is known by the program that runs its adapter. */
static ys_status install_from(const char *spec, const char *const *recipe_dirs, const char *from)
{
    struct ys_framework *framework = NULL;
    char *interpreter = ys_path_absolute(from), *folder = NULL;
    ys_status status = ys_framework_try(spec, recipe_dirs, interpreter, &framework);
    if (status == YS_OK && framework->state != YS_FRAMEWORK_READY)
        status = ys_fail(YS_EIO, "%s", framework->reason);
    if (status == YS_OK)
        status = ys_cache_path("hello", &folder);
    if (status == YS_OK)
        status = hear_hello(framework, folder);
    if (folder && ys_fs_remove_tree(folder) != YS_OK)
        ys_log_warn("%s", ys_error());
    if (status == YS_OK)
        status = ys_framework_register(spec, recipe_dirs, interpreter);
    ys_free(folder);
    ys_free(interpreter);
    ys_framework_free(framework);
    return status;
}

int ys_command_install(const struct ys_args *args)
{
    bool failed = false;
    if (args->from && (args->word_count != 1 || means_all(args)))
        return ys_command_fail(ys_fail(YS_EINVAL, "write: yardstick install NAME --from=PROGRAM, of one framework"));
    if (args->from && args->repair)
        return ys_command_fail(ys_fail(YS_EINVAL, "--repair makes packages anew: leave it or --from away"));
    if (args->any_index && (args->from || args->repair || means_all(args)))
        return ys_command_fail(ys_fail(YS_EINVAL,
                                       "write: yardstick install NAME@VERSION --any-index, of a version that "
                                       "is not installed yet"));
    if (args->from) {
        ys_status status = install_from(args->words[0], args->recipe_dirs, args->from);
        return status == YS_OK ? 0 : fail_one(status, args->words[0]);
    }
    if (!means_all(args))
        return for_each_word(args, args->repair      ? ys_framework_repair
                                   : args->any_index ? ys_framework_install_anywhere
                                                     : ys_framework_install);
    ys_status status = args->repair ? ys_framework_repair_all(args->recipe_dirs, &failed)
                                    : ys_framework_install_all(args->recipe_dirs, &failed);
    return finish_all(status, failed);
}

int ys_command_uninstall(const struct ys_args *args)
{
    bool failed = false;
    if (!means_all(args))
        return for_each_word(args, ys_framework_uninstall);
    ys_status status = ys_framework_uninstall_all(&failed);
    return finish_all(status, failed);
}
