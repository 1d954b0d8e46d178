#include "prepare/inputs.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/stored/sealed.h"
#include "prepare/agreement.h"
#include "session/guard.h"

#include <sys/stat.h>

enum { MOST_FOLDERS = 7 };

/* The sealed folders of `inputs`; how many. */
static size_t list(const struct ys_inputs *inputs, const char *folders[MOST_FOLDERS])
{
    const struct ys_agreement *agreement = inputs->agreement;
    const char *all[MOST_FOLDERS] = {inputs->trial->data->folder,
                                     inputs->work->files.folder,
                                     inputs->work->values.folder,
                                     inputs->work->tests.folder,
                                     agreement ? agreement->taught.files.folder : NULL,
                                     agreement ? agreement->scales.files.folder : NULL,
                                     agreement ? agreement->files.folder : NULL};
    size_t count = 0;
    for (size_t i = 0; i < MOST_FOLDERS; i++)
        if (all[i])
            folders[count++] = all[i];
    return count;
}

ys_status ys_inputs_check(const struct ys_inputs *inputs)
{
    const char *folders[MOST_FOLDERS];
    size_t count = list(inputs, folders);
    for (size_t i = 0; i < count; i++)
        if (ys_sealed_check(folders[i]) == YS_EFORMAT)
            return ys_fail(YS_EIO,
                           "%s while it was in use: what was measured before is kept; %s `yardstick resume` (or the "
                           "same command again) goes on",
                           ys_error(),
                           i == 0 && !inputs->trial->data->generated ? "once the data set was fetched again," : "now");
    return YS_OK;
}

ys_status ys_inputs_check_bytes(const struct ys_inputs *inputs)
{
    const char *folders[MOST_FOLDERS];
    size_t count = list(inputs, folders);
    char *found = NULL;
    ys_status status = YS_OK;
    for (size_t i = 0; i < count && status == YS_OK; i++) {
        ys_sealed_doubt(folders[i]);
        status = ys_sealed_check(folders[i]);
        if (status != YS_EFORMAT)
            continue;
        if (!found)
            found = ys_strdup(ys_error());
        status = ys_sealed_discard(folders[i]);
    }
    if (status == YS_OK && found)
        status = ys_fail(YS_EFORMAT, "%s", found);
    ys_free(found);
    return status;
}

ys_status ys_inputs_mend_data(const struct ys_inputs *inputs)
{
    ys_status status = ys_data_check(inputs->trial->data);
    return status == YS_EFORMAT ? YS_EIO : status;
}

/* The kernel counts pages of a file with whoever read them first. Data larger than a run may hold are to be read by the
 * run itself, lest it look at what yardstick or a run before it has in memory. */
static void forget_large_data(const struct ys_trial *trial)
{
    const int64_t limit = trial->record.keys.memory_limit;
    struct stat file;
    if (limit != YS_FIELD_NONE && stat(trial->data->train_path, &file) == 0 && file.st_size > limit)
        ys_fs_forget(trial->data->train_path);
}

ys_status ys_inputs_use(const struct ys_inputs *inputs)
{
    const char *folders[MOST_FOLDERS];
    size_t count = list(inputs, folders);
    for (size_t i = 0; i < count; i++) {
        if (ys_guard_version(NULL) == 0 && !ys_sealed_is_used(folders[i]))
            ys_sealed_doubt(folders[i]); /* the proof ran the framework beside them */
        ys_sealed_use(folders[i]);
    }
    YS_TRY(ys_inputs_check(inputs));
    forget_large_data(inputs->trial);
    return YS_OK;
}
