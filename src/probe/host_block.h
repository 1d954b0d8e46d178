/* The parts of the host's description. Internal to this room. */
#ifndef YS_PROBE_HOST_BLOCK_H
#define YS_PROBE_HOST_BLOCK_H

#include "base/json/json.h"
#include "probe/cgroup.h"

struct ys_host_block {
    const char *root;
    const char *name; /* "cpu" */
    ys_json *object;  /* where members go */
    ys_json *reasons; /* where the reasons of those that are null go, as "cpu.model" */
    struct ys_cgroup cgroup;
};

/** Sets member `key` to null and says why. */
void ys_host_unknown(struct ys_host_block *block, const char *key, const char *reason);
/** Sets it to `text`, or to null with the reason when `text` is NULL. */
void ys_host_put_text(struct ys_host_block *block, const char *key, const char *text, const char *reason);
/** The first line of a file. */
void ys_host_put_line(struct ys_host_block *block, const char *key, const char *path, const char *reason);

/** Fills the block "cpu". */
ys_status ys_host_describe_cpu(struct ys_host_block *block) YS_MUST_CHECK;

#endif
