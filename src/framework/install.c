/* Makes an environment: `uv` when it is there, else venv and pip; what they are set up with first, then the index of
 * the framework's makers. Requirement files are full closures, installed without resolving, so nothing unasked for
 * (such as GPU packages) can come along; versions that are not pinned are resolved, and what came is put on record. */
#include "framework/environment.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "base/size_text.h"
#include "base/stop.h"
#include "framework/env_files.h"
#include "framework/environment_lock.h"
#include "framework/run_installer.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t LOCK_LIMIT_BYTES = (size_t)16 << 20;

static bool answers_version(const char *python, const char *version)
{
    const char *argv[] = {python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])", NULL};
    struct ys_child_options options = {.env = ys_environment_variables, .timeout_s = 20, .merge_stderr = true};
    struct ys_buf output = {0};
    int code = 1;
    ys_status status = ys_child_run(argv, &options, &output, &code);
    size_t length = strlen(version);
    const char *text = ys_buf_text(&output);
    bool right =
        status == YS_OK && code == 0 && strncmp(text, version, length) == 0 && (text[length] == '\n' || !text[length]);
    ys_buf_free(&output);
    return right;
}

/* The interpreter of that version which pyenv has; its own programs on PATH refuse versions that are not switched on.
 * New string, NULL without one. */
static char *find_in_pyenv(const char *version)
{
    const char *root = getenv("PYENV_ROOT"), *home = getenv("HOME");
    char *versions = root ? ys_path_join(root, "versions") : ys_format("%s/.pyenv/versions", home ? home : "");
    size_t length = strlen(version);
    char *found = NULL;
    DIR *dir = versions ? opendir(versions) : NULL;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        if (strncmp(entry->d_name, version, length) != 0 || (entry->d_name[length] && entry->d_name[length] != '.'))
            continue;
        found = ys_format("%s/%s/bin/python%s", versions, entry->d_name, version);
        if (found && !answers_version(found, version)) {
            ys_free(found);
            found = NULL;
        }
    }
    if (dir)
        closedir(dir);
    ys_free(versions);
    return found;
}

/* A Python of that version; new string, NULL without one. */
static char *find_version(const char *version)
{
    char *exact = ys_format("python%s", version);
    const char *candidates[] = {exact, "python3", "python"};
    char *found = NULL;
    for (size_t i = 0; !found && i < sizeof candidates / sizeof candidates[0] && !ys_stop_signal(); i++)
        if (answers_version(candidates[i], version))
            found = ys_strdup(candidates[i]);
    ys_free(exact);
    return found || ys_stop_signal() ? found : find_in_pyenv(version);
}

/* The first of the recipe's Python versions that this machine has; new strings. */
static ys_status find_python(const struct ys_recipe *recipe, char **python, char **version)
{
    for (const char *at = recipe->python; *at;) {
        size_t length = strcspn(at, " ");
        *version = ys_strndup(at, length);
        *python = *version ? find_version(*version) : NULL;
        if (*python)
            return YS_OK;
        ys_free(*version);
        *version = NULL;
        if (ys_stop_signal())
            return ys_stopped();
        at += length + strspn(at + length, " ");
    }
    return ys_fail(YS_EUNSUPPORTED, "it needs Python %s, which is neither on PATH nor among pyenv's versions",
                   recipe->python);
}

static bool has_program(const char *program)
{
    const char *argv[] = {program, "--version", NULL};
    struct ys_child_options options = {.timeout_s = 20, .merge_stderr = true};
    struct ys_buf output = {0};
    int code = 1;
    bool there = ys_child_run(argv, &options, &output, &code) == YS_OK && code == 0;
    ys_buf_free(&output);
    return there;
}

uint64_t ys_environment_need_bytes(uint64_t download_bytes, uint64_t disk_bytes)
{
    return disk_bytes + 2 * download_bytes;
}

static ys_status make_env(const struct ys_recipe *recipe, const char *what, const char *folder, const char *python,
                          const char *env, bool uv)
{
    struct ys_installer_talk talk = {.what = what, .recipe = recipe};
    struct ys_installer attempts[] = {
        {.how = "uv venv", .argv = {"uv", "venv", "--quiet", "--python", python, env, NULL}},
        {.how = "python -m venv", .argv = {python, "-m", "venv", "--clear", env, NULL}},
    };
    return uv ? ys_installer_try(attempts, 2, folder, &talk) : ys_installer_try(attempts + 1, 1, folder, &talk);
}

/* How many packages a requirement file names: its lines that are neither empty nor comments nor options. */
static int count_packages(const char *requirements)
{
    struct ys_buf text = {0};
    int count = 0;
    if (ys_fs_read(requirements, 1 << 20, &text) == YS_OK)
        for (const char *line = ys_buf_text(&text); *line; line += strcspn(line, "\n"), line += *line == '\n')
            count += !strchr("\n#- ", *line);
    ys_buf_free(&text);
    return count;
}

/* What fill_env() puts in. */
struct packages {
    const char *file;        /* a requirement file */
    bool resolve;            /* what it names needs others; otherwise it names all */
    const char *from_makers; /* requirement file of what only the recipe's index may give; NULL: nothing */
};

static void add_words(struct ys_installer *attempt, const char *const *words)
{
    size_t count = 0;
    while (attempt->argv[count])
        count++;
    for (size_t i = 0; words[i] && count + 1 < YS_INSTALLER_ARGUMENTS; i++)
        attempt->argv[count++] = words[i];
}

/* Where the installer looks beside the indexes that the user's settings name. */
enum indexes { USUAL, ALSO, ONLY };

/* `index` is used where `which` says so. A `target` or `prefix` in the user's own settings of pip would put
 * the packages elsewhere. */
static struct ys_installer ask(bool uv, const char *python, const char *env, const struct packages *packages,
                               enum indexes which, const char *index)
{
    const char *const by_uv[] = {"uv", "pip", "install", "--python", python, NULL};
    const char *const by_pip[] = {python,
                                  "-m",
                                  "pip",
                                  "install",
                                  "--disable-pip-version-check",
                                  "--no-input",
                                  "--progress-bar",
                                  "off",
                                  "--retries",
                                  "2",
                                  "--target",
                                  "",
                                  "--prefix",
                                  env,
                                  NULL};
    const char *const what[] = {"-r", packages->file, NULL}, *const alone[] = {"--no-deps", NULL};
    const char *const best[] = {"--index-strategy", "unsafe-best-match", NULL};
    const char *const more[] = {which == ONLY ? "--index-url" : "--extra-index-url", index, NULL};
    struct ys_installer attempt = {.how = uv ? "uv pip" : "pip"};
    add_words(&attempt, uv ? by_uv : by_pip);
    if (!packages->resolve)
        add_words(&attempt, alone);
    add_words(&attempt, what);
    if (which == ALSO && uv)
        add_words(&attempt, best);
    if (which != USUAL)
        add_words(&attempt, more);
    return attempt;
}

/* What is pinned is the same wherever it comes from, so what the machine is set up with is asked first. Of what is
 * resolved the makers' index has the builds for CPUs, which count as newer than others of that version. */
static ys_status fill_from(const struct ys_recipe *recipe, const char *what, const char *folder, const char *python,
                           const char *env, const struct packages *packages, bool uv)
{
    struct ys_installer_talk talk = {
        .what = what, .recipe = recipe, .packages = packages->resolve ? 0 : count_packages(packages->file)};
    const char *index = recipe->index;
    const enum indexes first = packages->resolve && index ? ALSO : USUAL;
    const struct ys_installer attempts[] = {ask(uv, python, env, packages, first, index),
                                            ask(uv, python, env, packages, first == ALSO ? USUAL : ALSO, index)};
    return ys_installer_try(attempts, index ? 2 : 1, folder, &talk);
}

/* An installer takes an index that it cannot reach for an empty one, so what others have for GPUs would come instead.
 */
static ys_status fill_from_makers(const struct ys_recipe *recipe, const char *what, const char *folder,
                                  const char *python, const char *env, const char *file, bool uv)
{
    struct ys_installer_talk talk = {.what = what, .recipe = recipe, .packages = 1};
    const struct packages first = {.file = file};
    const struct ys_installer attempt = ask(uv, python, env, &first, ONLY, recipe->index);
    ys_status status = ys_installer_try(&attempt, 1, folder, &talk);
    if (status != YS_EIO || talk.full)
        return status;
    return ys_fail(YS_EIO,
                   "%s, the index of its makers, gave none of this version (%s); from elsewhere it comes with %s: "
                   "`yardstick install --any-index` takes it so",
                   recipe->index, ys_error(), recipe->elsewhere);
}

static ys_status fill_env(const struct ys_recipe *recipe, const char *what, const char *folder, const char *env,
                          const struct packages *packages, bool uv)
{
    char *python = ys_path_join(env, "bin/python");
    ys_status status = YS_OK;
    if (packages->from_makers)
        status = fill_from_makers(recipe, what, folder, python, env, packages->from_makers, uv);
    if (status == YS_OK)
        status = fill_from(recipe, what, folder, python, env, packages, uv);
    ys_free(python);
    return status;
}

/* What a version that is not pinned is made from: the recipe's packages, apart by blanks. New string. */
static char *wanted_of(const struct ys_recipe *recipe, const char *version)
{
    return ys_replace(recipe->unpinned, "{version}", version);
}

/* A requirement file of them, and one of the first of them alone. */
static ys_status write_wanted(const struct ys_recipe *recipe, const char *version, const char *path, const char *first)
{
    char *words = wanted_of(recipe, version);
    for (char *at = words; at && *at; at++)
        if (*at == ' ')
            *at = '\n';
    ys_status status = ys_fs_write(path, words, strlen(words));
    if (status == YS_OK)
        status = ys_fs_write(first, words, strcspn(words, "\n"));
    ys_free(words);
    return status;
}

/* Every package that there is now, one a line: what the closure of a version that is not pinned came to. */
static ys_status write_resolved(const char *env, const char *path)
{
    char *python = ys_path_join(env, "bin/python");
    const char *argv[] = {
        python, "-c",
        "import importlib.metadata as m\n"
        "print(*sorted({d.metadata['Name'] + '==' + d.version for d in m.distributions()}), sep='\\n')",
        NULL};
    const struct ys_child_options options = {.env = ys_environment_variables, .timeout_s = 60};
    struct ys_buf list = {0};
    int code = 1;
    ys_status status = ys_child_run(argv, &options, &list, &code);
    if (status == YS_OK && code != 0)
        status = ys_fail(YS_EIO, "%s cannot list its packages (exit code %d)", python, code);
    if (status == YS_OK)
        status = ys_fs_write(path, ys_buf_text(&list), list.size);
    ys_buf_free(&list);
    ys_free(python);
    return status;
}

/* Writes installed.json: `state`, taken, with the date. */
static ys_status write_note(const char *folder, ys_json *state_taken)
{
    char date[32], *path = ys_path_join(folder, "installed.json");
    ys_date_text(ys_date_s(), date, sizeof date);
    ys_json_set_string(state_taken, "date", date);
    ys_status status = ys_json_write(path, state_taken);
    ys_json_free(state_taken);
    ys_free(path);
    return status;
}

/* `state`, taken, says what the packages were installed with. */
static ys_status note_packages(const char *folder, const char *requirements, ys_json *state)
{
    char hash[YS_SHA256_TEXT], fingerprint[YS_SHA256_TEXT];
    uint64_t size = 0;
    ys_status status = ys_sha256_file(requirements, hash);
    if (status == YS_OK)
        status = ys_fs_tree_size(folder, &size);
    if (status == YS_OK)
        status = ys_env_files_note(folder, fingerprint);
    if (status != YS_OK) {
        ys_json_free(state);
        return status;
    }
    ys_json_set_string(state, "requirements", hash);
    ys_json_set_string(state, "fingerprint", fingerprint);
    ys_json_set_int(state, "size_bytes", (int64_t)size);
    return write_note(folder, state);
}

static ys_status note_installed(const char *folder, const char *python, const char *version, const char *requirements)
{
    char path[PATH_MAX], *interpreter = ys_path_join(folder, "env/bin/python");
    const bool there = realpath(interpreter, path) != NULL;
    ys_status status = there ? YS_OK : ys_fail(YS_EIO, "%s is not there although it was made: %m", interpreter);
    ys_free(interpreter);
    YS_TRY(status);
    ys_json *state = ys_json_object();
    ys_json_set_string(state, "python", python);
    ys_json_set_string(state, "python_version", version);
    ys_json_set_string(state, "python_path", path);
    return note_packages(folder, requirements, state);
}

static ys_status copy_file(const char *from, const char *folder)
{
    struct ys_buf text = {0};
    char *to = ys_path_join(folder, ys_path_base(from));
    ys_status status = ys_fs_read(from, LOCK_LIMIT_BYTES, &text);
    if (status == YS_OK)
        status = ys_fs_write(to, ys_buf_text(&text), text.size);
    ys_buf_free(&text);
    ys_free(to);
    return status;
}

/* The packages of the lock, whose hashes npm checks; nothing of theirs is run. `what`: for messages. */
static ys_status fill_from_npm(const struct ys_recipe *recipe, const char *what, const char *env, const char *lock)
{
    struct ys_installer_talk talk = {.what = what, .recipe = recipe};
    const struct ys_installer attempt = {
        .how = "npm", .argv = {"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", env, NULL}};
    char *dir = ys_path_dir(lock), *package = ys_path_join(dir, "package.json");
    ys_status status = ys_fs_make_dirs(env);
    if (status == YS_OK)
        status = copy_file(lock, env);
    if (status == YS_OK)
        status = copy_file(package, env);
    if (status == YS_OK)
        status = ys_installer_try(&attempt, 1, env, &talk);
    ys_free(package);
    ys_free(dir);
    return status;
}

/* What an installation makes beside its notes. */
static const char *const parts[] = {"env", "tmp", "installed.files", "resolved.txt"};

/* Removes folder/name; what cannot be removed is a warning. */
static void remove_part(const char *folder, const char *name)
{
    char *path = ys_path_join(folder, name);
    if (ys_fs_remove_tree(path) != YS_OK)
        ys_log_warn("%s", ys_error());
    ys_free(path);
}

/* What was made is of no use to anybody, and on a full disk there is no room for the note before it is gone. */
static void note_failed(const char *folder, bool unsupported)
{
    char *reason = ys_strdup(ys_error()), *path = ys_path_join(folder, "failed.json"), date[32];
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        remove_part(folder, parts[i]);
    ys_json *state = ys_json_object();
    ys_date_text(ys_date_s(), date, sizeof date);
    ys_json_set_string(state, "reason", reason);
    ys_json_set_bool(state, "unsupported", unsupported);
    ys_json_set_string(state, "date", date);
    if (ys_json_write(path, state) != YS_OK)
        ys_log_warn("%s", ys_error());
    ys_fail(YS_EIO, "%s", reason);
    ys_json_free(state);
    ys_free(path);
    ys_free(reason);
}

/* Makes the virtual environment and fills it, by uv or by venv and pip. */
static ys_status make_filled(const struct ys_recipe *recipe, const char *folder, const char *python,
                             const struct packages *packages, const char *version)
{
    char *env = ys_path_join(folder, "env"), *what = ys_format("%s %s", recipe->title, version);
    const bool uv = has_program("uv");
    ys_status status = make_env(recipe, what, folder, python, env, uv);
    if (status == YS_OK) {
        status = fill_env(recipe, what, folder, env, packages, uv);
        if (status != YS_OK && status != YS_EINTR && uv) {
            /* uv is set up apart from pip: what it cannot find, pip may. */
            status = make_env(recipe, what, folder, python, env, false);
            if (status == YS_OK)
                status = fill_env(recipe, what, folder, env, packages, false);
        }
    }
    ys_free(what);
    ys_free(env);
    return status;
}

/* A version that is not pinned: resolved now, and `resolved` becomes what it came to. */
static ys_status make_resolved(const struct ys_recipe *recipe, const char *folder, const char *python,
                               const char *resolved, const char *version)
{
    char *wanted = ys_path_join(folder, "tmp/wanted.txt"), *first = ys_path_join(folder, "tmp/first.txt"),
         *env = ys_path_join(folder, "env");
    const bool makers_only = recipe->index && recipe->elsewhere && !recipe->anywhere;
    const struct packages packages = {wanted, .resolve = true, .from_makers = makers_only ? first : NULL};
    ys_status status = write_wanted(recipe, version, wanted, first);
    if (status == YS_OK)
        status = make_filled(recipe, folder, python, &packages, version);
    if (status == YS_OK)
        status = write_resolved(env, resolved);
    ys_free(wanted);
    ys_free(first);
    ys_free(env);
    return status;
}

/* Where a page's packages lie: made by npm, which is not needed to run them. */
static ys_status make_page(const struct ys_recipe *recipe, const char *version, const char *folder)
{
    char *what = ys_format("%s %s", recipe->title, version), *env = ys_path_join(folder, "env");
    char *lock = ys_recipe_requirements(recipe, version, "");
    ys_status status = has_program("npm") ? fill_from_npm(recipe, what, env, lock)
                                          : ys_fail(YS_EIO, "npm is not there: install the packages nodejs and npm");
    if (status == YS_OK) {
        remove_part(folder, "tmp");
        status = note_packages(folder, lock, ys_json_object());
    }
    ys_free(lock);
    ys_free(what);
    ys_free(env);
    return status;
}

static ys_status make(const struct ys_recipe *recipe, const char *version, const char *folder)
{
    char *python = NULL, *python_version = NULL;
    if (recipe->is_npm)
        return make_page(recipe, version, folder);
    YS_TRY(find_python(recipe, &python, &python_version));
    char *requirements = ys_recipe_requirements(recipe, version, python_version);
    const struct packages packages = {requirements, .resolve = false};
    ys_status status;
    if (ys_recipe_is_unpinned(recipe, version))
        status = make_resolved(recipe, folder, python, requirements, version);
    else if (!ys_fs_exists(requirements))
        status = ys_fail(YS_EUNSUPPORTED, "its requirements are not pinned for Python %s (%s is not there)",
                         python_version, requirements);
    else
        status = make_filled(recipe, folder, python, &packages, version);
    if (status == YS_OK)
        remove_part(folder, "tmp");
    if (status == YS_OK)
        status = note_installed(folder, python, python_version, requirements);
    ys_free(requirements);
    ys_free(python);
    ys_free(python_version);
    return status;
}

/* The note that it is complete goes first: a removal that is cut short leaves nothing that looks whole. */
static ys_status clear(const char *folder)
{
    char *note = ys_path_join(folder, "installed.json");
    unlink(note);
    ys_free(note);
    return ys_fs_remove_tree(folder);
}

static void say_installed(const struct ys_recipe *recipe, const char *version, uint64_t start_ns)
{
    struct ys_environment made = {0};
    char size[YS_SIZE_TEXT], span[32];
    ys_environment_read(recipe, version, &made);
    ys_log_info("installed %s %s with %s%s: %s, in %s", recipe->title, version, recipe->is_npm ? "npm" : "Python ",
                made.python, ys_size_text(made.size_bytes, size),
                ys_span_text((double)(ys_time_ns() - start_ns) * 1e-9, span, sizeof span));
    ys_environment_fini(&made);
}

static void say_installing(const struct ys_recipe *recipe, const char *version, const char *folder)
{
    char download[YS_SIZE_TEXT], disk[YS_SIZE_TEXT];
    char *wanted = ys_recipe_is_unpinned(recipe, version) ? wanted_of(recipe, version) : NULL;
    if (wanted)
        ys_log_info("installing %s %s, which the recipe does not pin: %s, and what that needs today, into %s",
                    recipe->title, version, wanted, folder);
    else if (recipe->download_bytes && recipe->disk_bytes)
        ys_log_info("installing %s %s: about %s to download, %s on disk, into %s", recipe->title, version,
                    ys_size_text(recipe->download_bytes, download), ys_size_text(recipe->disk_bytes, disk), folder);
    else
        ys_log_info("installing %s %s into %s", recipe->title, version, folder);
    ys_free(wanted);
}

static ys_status make_afresh(const struct ys_recipe *recipe, const char *version, const char *folder)
{
    uint64_t start_ns = ys_time_ns();
    say_installing(recipe, version, folder);
    YS_TRY(clear(folder));
    char *tmp = ys_path_join(folder, "tmp");
    ys_status status = ys_fs_make_dirs(tmp);
    ys_free(tmp);
    YS_TRY(status);
    status = make(recipe, version, folder);
    if (status != YS_OK && status != YS_EINTR)
        note_failed(folder, status == YS_EUNSUPPORTED);
    if (status == YS_OK)
        say_installed(recipe, version, start_ns);
    return status;
}

/* Whether the files are known to be those that were installed; says so where not. */
static ys_status is_whole(const struct ys_environment *environment, bool *whole)
{
    struct ys_env_files files;
    *whole = false;
    if (!environment->complete)
        return YS_OK;
    YS_TRY(ys_env_files_look(environment->folder, &files));
    *whole = files.known && !ys_env_files_count(&files);
    char *text = files.known ? ys_env_files_text(&files, environment->folder)
                             : ys_format("%s was installed before its files were put on record",
                                         ys_path_base(environment->folder));
    if (!*whole)
        ys_log_info("%s: it is made anew", text ? text : "");
    ys_free(text);
    ys_env_files_fini(&files);
    return YS_OK;
}

ys_status ys_environment_make(const struct ys_recipe *recipe, const char *version, bool repair)
{
    struct ys_environment before, environment = {0};
    struct ys_lock lock = YS_LOCK_NONE;
    bool whole = false;
    ys_environment_read(recipe, version, &before);
    ys_status status = ys_environment_take(before.folder, &lock);
    if (status == YS_OK)
        ys_environment_read(recipe, version, &environment);
    if (status == YS_OK && repair)
        status = is_whole(&environment, &whole);
    if (status == YS_OK && !(repair ? whole : environment.complete))
        status = make_afresh(recipe, version, environment.folder);
    ys_lock_release(&lock);
    ys_environment_fini(&environment);
    ys_environment_fini(&before);
    return status;
}

ys_status ys_environment_register(const struct ys_environment *environment, const char *interpreter)
{
    struct ys_lock lock = YS_LOCK_NONE;
    ys_json *state = ys_json_object();
    ys_json_set_string(state, "interpreter", interpreter);
    ys_status status = ys_environment_take(environment->folder, &lock);
    if (status == YS_OK)
        status = clear(environment->folder);
    if (status == YS_OK)
        status = ys_fs_make_dirs(environment->folder);
    if (status == YS_OK)
        status = write_note(environment->folder, state);
    else
        ys_json_free(state);
    ys_lock_release(&lock);
    return status;
}

ys_status ys_environment_remove(const char *folder)
{
    struct ys_lock lock = YS_LOCK_NONE;
    YS_TRY(ys_environment_take(folder, &lock));
    ys_status status = clear(folder);
    ys_lock_release(&lock);
    return status;
}

static void sweep_path(const char *path, const struct ys_sweep *sweep)
{
    uint64_t size_bytes = 0;
    if (!ys_fs_exists(path))
        return;
    if (sweep && sweep->on_leftover && ys_fs_tree_size(path, &size_bytes) == YS_OK)
        sweep->on_leftover(sweep->context, path, size_bytes);
    if ((!sweep || !sweep->dry) && ys_fs_remove_tree(path) != YS_OK)
        ys_log_warn("%s", ys_error());
}

static bool is_installed(const char *folder)
{
    char *note = ys_path_join(folder, "installed.json");
    bool installed = !note || ys_fs_exists(note);
    ys_free(note);
    return installed;
}

/* Of one that failed its note stays: it is the reason that its row gives. */
static void sweep_held(const char *folder, const struct ys_sweep *sweep)
{
    char *note = ys_path_join(folder, "failed.json");
    bool failed = ys_fs_exists(note);
    if (!failed)
        sweep_path(folder, sweep);
    for (size_t i = 0; failed && i < sizeof parts / sizeof parts[0]; i++) {
        char *part = ys_path_join(folder, parts[i]);
        sweep_path(part, sweep);
        ys_free(part);
    }
    ys_free(note);
}

void ys_environment_sweep(const char *folder, const struct ys_sweep *sweep)
{
    struct stat info;
    struct ys_lock lock = YS_LOCK_NONE;
    if (lstat(folder, &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid())
        return;
    if (is_installed(folder) || ys_environment_is_used(folder))
        return;
    if (!(sweep && sweep->dry) &&
        ys_environment_take(folder, &lock) != YS_OK) /* to take it would make the lock's file */
        return;
    if (!is_installed(folder)) /* asked again: it may have been made before the lock was had */
        sweep_held(folder, sweep);
    ys_lock_release(&lock);
}
