/* Sets that others published: where their files are fetched and how they are read. */
#ifndef YS_DATA_PUBLISHED_H
#define YS_DATA_PUBLISHED_H

#include "data/prepared.h"

#define YS_DATA_MAX_FILE_BYTES ((size_t)256 << 20) /* of a published file, and of what it expands to */

struct ys_data_published {
    const char *const *mirrors; /* addresses of folders, each with its / at the end; ended by NULL */
    const char *const *files;   /* what is fetched from there; ended by NULL */
    bool from_file;             /* --from may name a file; otherwise a folder only */
    bool passed_on;             /* the publisher gives no sums: those that are known were passed on by others */

    /** Reads both halves from `path`. *verified: everything has the published sums; when it has not and `unverified` is
     * false, that is YS_EFORMAT. YS_ENOTFOUND names what is missing. Nothing is set on failure. */
    ys_status (*read)(const char *path, bool unverified, struct ys_data_rows *train, struct ys_data_rows *test,
                      bool *verified);

    /** In the place of `read`, where images have to be decoded: the same, and makes both halves a version of `source`;
     * `origin` is for people. */
    ys_status (*import)(const struct ys_data_source *source, const char *path, const char *origin, bool unverified,
                        bool *verified);
};

/** Downloads all files of `mirror`, one of published->mirrors, with the program curl into `folder`, which exists. */
ys_status ys_published_download(const struct ys_data_published *published, const char *mirror,
                                const char *folder) YS_MUST_CHECK;

#endif
