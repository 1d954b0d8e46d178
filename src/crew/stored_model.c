#include "crew/stored_model.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/stored/safetensors.h"
#include "session/checked_message.h"

#include <dirent.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST = 32 }; /* folders within each other */

/* "pt torchscript", new. */
static char *told_forms(const ys_json *forms)
{
    struct ys_buf text = {0};
    for (size_t i = 0; i < ys_json_size(forms); i++)
        ys_buf_printf(&text, "%s%s", i ? " " : "", ys_json_text(ys_json_at(forms, i), "?"));
    char *copy = ys_strdup(text.size ? ys_buf_text(&text) : "none");
    ys_buf_free(&text);
    return copy;
}

ys_status ys_run_check_forms(struct ys_run *run, const ys_json *hello)
{
    const struct ys_run_stored *stored = run->spec->stored;
    struct ys_message message;
    struct ys_buf wanted = {0};
    ys_message_read(hello, &message);
    for (size_t i = 0; stored->forms && stored->forms[i]; i++)
        ys_buf_printf(&wanted, "%s%s", i ? " " : "", stored->forms[i]);
    char *told = told_forms(message.hello.forms);
    ys_status status = YS_OK;
    if (strcmp(told, ys_buf_text(&wanted)) != 0)
        status = ys_session_fail(run->session, YS_RUN_PROTOCOL_ERROR,
                                 "its recipe says forms = %s, and its hello tells %s: both must be the same list",
                                 ys_buf_text(&wanted), told);
    ys_free(told);
    ys_buf_free(&wanted);
    return status;
}

/* The first path that is neither file nor folder, new; NULL: there is none. */
static char *find_link(const char *path, int depth)
{
    struct stat file;
    if (lstat(path, &file) != 0 || depth > DEEPEST || (!S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode)))
        return ys_strdup(path);
    if (S_ISREG(file.st_mode))
        return file.st_nlink > 1 ? ys_strdup(path) : NULL;
    DIR *entries = opendir(path);
    char *found = entries ? NULL : ys_strdup(path);
    for (struct dirent *entry = entries ? readdir(entries) : NULL; entry && !found; entry = readdir(entries)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *inner = ys_path_join(path, entry->d_name);
        found = find_link(inner, depth + 1);
        ys_free(inner);
    }
    if (entries)
        closedir(entries);
    return found;
}

ys_status ys_run_take_model(struct ys_run *run, const ys_json *reply)
{
    struct ys_run_stored *stored = run->spec->stored;
    struct ys_message said;
    ys_message_read(reply, &said);
    char *real = ys_path_real_below(said.saved.path, run->folder);
    if (!real || !ys_fs_exists(real)) {
        ys_free(real);
        return ys_session_fail(run->session, YS_RUN_PROTOCOL_ERROR,
                               "it says that it saved %s, which is not there, or not below the run's folder",
                               said.saved.path);
    }
    char *link = find_link(said.saved.path, 0);
    ys_status status = YS_OK;
    if (link)
        status = ys_session_fail(run->session, YS_RUN_PROTOCOL_ERROR,
                                 "what it saved has %s, which is a link, or neither file nor folder", link);
    ys_set_text(&stored->path, status == YS_OK ? real : NULL);
    stored->as_said = said.saved.parameters_as_said >= 0 ? said.saved.parameters_as_said : YS_FIELD_NONE;
    ys_free(link);
    ys_free(real);
    return status;
}

/* Read into memory, and gone from the disk. */
static ys_status open_answer(struct ys_run *run, const char *path, struct ys_safetensors **file)
{
    char *real = ys_path_real_below(path, run->folder);
    if (!real)
        return ys_session_fail(run->session, YS_RUN_PROTOCOL_ERROR,
                               "it named the file of tensors %s, which is not there, or not in its folder", path);
    ys_status status = ys_safetensors_load(real, file);
    (void)unlink(real);
    ys_free(real);
    return status == YS_OK ? YS_OK : ys_session_fail(run->session, YS_RUN_WRONG_OUTPUT, "%s", ys_error());
}

ys_status ys_run_take_logits(struct ys_run *run, const ys_json *reply)
{
    struct ys_run_stored *stored = run->spec->stored;
    struct ys_safetensors *file = NULL;
    struct ys_message said;
    ys_message_read(reply, &said);
    YS_TRY(open_answer(run, said.tensors.path, &file));
    const struct ys_tensor *logits = ys_safetensors_find(file, "logits");
    ys_status status = YS_OK;
    if (!logits || (logits->dtype != YS_F32 && logits->dtype != YS_F64) ||
        ys_tensor_count(logits) != (size_t)(run->batch * stored->width))
        status = ys_session_fail(run->session, YS_RUN_WRONG_OUTPUT,
                                 "its answer to \"forward\" has no logits of %" PRId64 " numbers for %" PRId64 " rows",
                                 stored->width, run->batch);
    const int64_t left = stored->rows - stored->got, rows = left < run->batch ? left : run->batch;
    for (int64_t i = 0; status == YS_OK && i < rows * stored->width; i++)
        stored->logits[stored->got * stored->width + i] = ys_tensor_value(logits, (size_t)i);
    stored->got += status == YS_OK ? rows : 0;
    ys_safetensors_close(file);
    return status;
}

ys_status ys_run_count_runtime(struct ys_run *run)
{
    const struct ys_plan *plan = run->spec->plan;
    struct ys_run_stored *stored = run->spec->stored;
    const char *const texts[] = {plan->graph, plan->input.path, plan->input.order, plan->stored->path};
    const char *others[sizeof texts / sizeof texts[0] + 1] = {NULL};
    struct ys_mapped_files files = {0};
    struct ys_message said;
    for (size_t i = 0, count = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i])
            others[count++] = texts[i];
    ys_status status = ys_session_mapped(run->session, run->folder, others, &files);
    ys_message_read(run->opened, &said);
    for (size_t i = 0; i < ys_json_size(said.opened.files); i++)
        ys_mapped_files_add_path(&files, ys_json_text(ys_json_at(said.opened.files, i), ""));
    ys_json_set(run->opened, "files", ys_json_null());
    stored->runtime_bytes = files.other_bytes;
    stored->interpreter_bytes = files.interpreter_bytes;
    stored->libc_bytes = files.libc_bytes;
    ys_mapped_files_fini(&files);
    return status;
}
