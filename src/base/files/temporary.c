#include "base/files/temporary.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

#define PREFIX "yardstick-run-"
static const char USUAL[] = "/tmp";

static char *named_parent(void)
{
    const char *set = getenv("TMPDIR");
    return ys_path_absolute(set && *set ? set : USUAL);
}

static bool is_listable(const char *path)
{
    return !strpbrk(path, YS_TEMPORARY_SEPARATORS);
}

void ys_temporary_sweep(const struct ys_sweep *sweep)
{
    char *parent = named_parent();
    if (parent)
        ys_working_sweep(parent, PREFIX, sweep);
    if (parent && !is_listable(parent))
        ys_working_sweep(USUAL, PREFIX, sweep);
    ys_free(parent);
}

static ys_status make(const char *parent, struct ys_working *folder)
{
    static bool has_swept;
    if (!has_swept)
        ys_temporary_sweep(NULL);
    has_swept = true;
    ys_status status = ys_working_make(parent, PREFIX, folder);
    if (status != YS_OK && status != YS_EINTR)
        status = ys_fail_in(status, "no place for temporary files (name another in TMPDIR)");
    return status;
}

ys_status ys_temporary_make(struct ys_working *folder)
{
    char *parent = named_parent();
    ys_status status = make(parent, folder);
    ys_free(parent);
    return status;
}

ys_status ys_temporary_make_listable(struct ys_working *folder)
{
    char *parent = named_parent();
    ys_status status = make(is_listable(parent) ? parent : USUAL, folder);
    ys_free(parent);
    return status;
}
