/* Words that jobs, plans and results share, each with the only list of them. */
#ifndef YS_BASE_JSON_SHARED_WORDS_H
#define YS_BASE_JSON_SHARED_WORDS_H

#include "base/json/record.h"

/** Whose rows batch normalisation of several ranks is by: each rank's own, or those of all. */
enum ys_statistics { YS_STATISTICS_LOCAL, YS_STATISTICS_SYNC };
extern const struct ys_names ys_statistics; /* "local", "sync" */

/** What several ranks divide: the rows of a batch alone, or also the network, of which each keeps a part of every
 * parameter, of its gradient and of what the optimizer keeps for it. Alone: the rows, and they exchange nothing, which
 * is other work, to see what exchanging takes. */
enum ys_strategy { YS_STRATEGY_DATA, YS_STRATEGY_SHARDED, YS_STRATEGY_ALONE };
extern const struct ys_names ys_strategies; /* "data", "sharded", "alone" */

/** How the agents of several hosts are started: by yardstick on its own host, through ssh, or by a program that knows
 * the hosts of an allocation. */
enum ys_launcher { YS_LAUNCHER_LOCAL, YS_LAUNCHER_SSH, YS_LAUNCHER_MPI, YS_LAUNCHER_SLURM };
extern const struct ys_names ys_launchers; /* "local", "ssh", "mpi", "slurm" */

/** What a number is of, and so how it is printed. */
enum ys_kind {
    YS_KIND_NUMBER,
    YS_KIND_COUNT, /* whole things: k, M, G */
    YS_KIND_RATE,  /* per second */
    YS_KIND_SPAN,  /* seconds */
    YS_KIND_BYTES, /* decimal multiples */
    YS_KIND_SHARE, /* in [0, 1], shown in percent with two decimals */
};
extern const struct ys_names ys_kinds; /* "number", "count", "rate", "span", "bytes", "share" */

/** What a user may write for a name: whether the first `length` bytes of `text` are `name`, but for capitals, - and _.
 */
bool ys_is_spelled(const char *text, size_t length, const char *name);

/** Whether a user's `pattern`, which may have * and ?, means `name`, which may have such signs itself. */
bool ys_is_meant(const char *pattern, const char *name);

#endif
