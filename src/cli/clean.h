/* What `yardstick clean` removes. Each kind of thing that a killed process leaves behind has a sweeper; the table of
 * them is in cmd_clean.c. */
#ifndef YS_CLI_CLEAN_H
#define YS_CLI_CLEAN_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct ys_clean {
    const char *results; /* a results folder with a results.db; NULL: there is none */
    bool dry_run;        /* report, remove nothing */
    /** Told of everything that is left over, once it is removed. `what` names its kind: "half-made data". */
    void (*report)(void *context, const char *path, uint64_t size_bytes, const char *what);
    void *context;
};

/** Finds what is left over of one kind, and removes it. What a running process may still use must stay. A failure ends
 * this sweep; the others go on. */
typedef ys_status ys_sweep(const struct ys_clean *clean);

ys_sweep ys_sweep_results;   /* half-written files in the results folder */
ys_sweep ys_sweep_runs;      /* weights and the like in the folders of runs */
ys_sweep ys_sweep_cache;     /* half-made and working folders in the cache */
ys_sweep ys_sweep_temporary; /* the adapters' temporary folders */

/** For sweepers: removes the file or folder `path`, unless it is a dry run, and reports it. Nothing there is fine. */
ys_status ys_clean_away(const struct ys_clean *clean, const char *path, const char *what) YS_MUST_CHECK;

/* Told of every entry below a folder; *taken: it is dealt with, what is below it need not be looked at. */
typedef ys_status ys_clean_visit(const struct ys_clean *clean, const char *path, const char *name, bool is_folder,
                                 bool *taken);
/** For sweepers: visits the entries of `folder` in the order of their names, and `depth` - 1 levels below it. Links are
 * not followed; a folder that is not there has no entries. */
ys_status ys_clean_walk(const struct ys_clean *clean, const char *folder, int depth,
                        ys_clean_visit *visit) YS_MUST_CHECK;

#endif
