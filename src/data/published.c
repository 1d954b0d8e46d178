#include "data/published.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/child.h"
#include <stdio.h>
#include <string.h>

static ys_status download_file(const char *url, const char *path)
{
    char limit[32];
    /* Some have no other address than one that is not encrypted; what comes from there is compared with sums. */
    const char *schemes = strncmp(url, "http:", 5) == 0 ? "=http,https" : "=https";
    snprintf(limit, sizeof limit, "%zu", YS_DATA_MAX_FILE_BYTES);
    const char *const argv[] = {
        "curl", "--fail",  "--location", "--silent",       "--show-error", "--proto",  schemes, "--connect-timeout",
        "20",   "--retry", "2",          "--max-filesize", limit,          "--output", path,    url,
        NULL};
    const struct ys_child_options options = {.timeout_s = 1800};
    int exit_code = 0;
    ys_log_info("downloading %s", url);
    ys_status status = ys_child_run(argv, &options, NULL, &exit_code);
    if (status == YS_ENOTFOUND)
        return ys_fail(status, "downloading needs the program curl, which is not installed");
    if (status == YS_OK && exit_code != 0)
        return ys_fail(YS_EIO, "cannot download %s: curl ended with exit code %d", url, exit_code);
    return status;
}

ys_status ys_published_download(const struct ys_data_published *published, const char *mirror, const char *folder)
{
    ys_status status = YS_OK;
    for (size_t i = 0; published->files[i] && status == YS_OK; i++) {
        char *url = ys_format("%s%s", mirror, published->files[i]);
        char *path = ys_format("%s/%s", folder, published->files[i]);
        status = download_file(url, path);
        ys_free(url);
        ys_free(path);
    }
    return status;
}
