#include "base/json/shared_words.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

static const char *const statistics_words[] = {[YS_STATISTICS_LOCAL] = "local", [YS_STATISTICS_SYNC] = "sync"};
const struct ys_names ys_statistics = YS_NAMES("batch normalisation", statistics_words);

static const char *const strategy_words[] = {
    [YS_STRATEGY_DATA] = "data", [YS_STRATEGY_SHARDED] = "sharded", [YS_STRATEGY_ALONE] = "alone"};
const struct ys_names ys_strategies = YS_NAMES("strategy", strategy_words);

static const char *const launcher_words[] = {
    [YS_LAUNCHER_LOCAL] = "local", [YS_LAUNCHER_SSH] = "ssh", [YS_LAUNCHER_MPI] = "mpi", [YS_LAUNCHER_SLURM] = "slurm"};
const struct ys_names ys_launchers = YS_NAMES("way to start agents", launcher_words);

static const char *const kind_words[] = {
    [YS_KIND_NUMBER] = "number", [YS_KIND_COUNT] = "count", [YS_KIND_RATE] = "rate",
    [YS_KIND_SPAN] = "span",     [YS_KIND_BYTES] = "bytes", [YS_KIND_SHARE] = "share",
};
const struct ys_names ys_kinds = YS_NAMES("kind of a number", kind_words);

bool ys_is_spelled(const char *text, size_t length, const char *name)
{
    for (const char *end = text + length;; text++, name++) {
        while (text < end && strchr("-_", *text))
            text++;
        name += strspn(name, "-_");
        if (text == end || !*name)
            return text == end && !*name;
        if (tolower((unsigned char)*text) != tolower((unsigned char)*name))
            return false;
    }
}

bool ys_is_meant(const char *pattern, const char *name)
{
    return strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
}
