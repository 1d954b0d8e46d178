/* The hosts of launch = ssh, as the key `hosts` names them: "gpu1, user@gpu2 10.0.0.2", or the path of a file with one
 * a line, in which what stands behind a # is for the reader. */
#ifndef YS_PREPARE_HOSTS_H
#define YS_PREPARE_HOSTS_H

#include "crew/run_spec.h"

struct ys_hosts {
    size_t count;
    struct ys_run_host *items;
};

/** Reads `named` (NULL: nothing is named), of which there must be `wanted` at least: hosts begin as empty. YS_EINVAL:
 * it names too few, or what is no host, or the file cannot be read. What was read is to be freed after a
 * failure too. */
ys_status ys_hosts_read(const char *named, int64_t wanted, struct ys_hosts *hosts) YS_MUST_CHECK;
void ys_hosts_fini(struct ys_hosts *hosts);

#endif
