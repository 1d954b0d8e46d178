#include "crew/heard_collectives.h"

#include "base/files/fs.h"
#include "base/files/temporary.h"
#include "base/mem.h"
#include "probe/collectives.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_S  1e9
#define PRELOAD   "LD_PRELOAD="
#define NOT_HEARD "no call of gloo or MPI was heard: the framework exports none, or made none"
#define MANY_CALLS                                                                                                     \
    "it made more calls than are noted one by one before its first block after the first step was over: take shorter " \
    "blocks"
#define NO_SIZES   "some calls do not show how many bytes they were handed"
#define NO_STEP    "it did no step after the first"
#define NO_LIBRARY YS_COLLECTIVES_LIBRARY " is not found beside the programs: build or install it again"

/** A program that lies where this one does tells of its exchange by itself. */
static bool is_own(const struct ys_launch *launch)
{
    const char *folder = ys_exe_dir(), *program = launch->argv[0], *name = strrchr(program, '/');
    const size_t length = strlen(folder);
    return name && (size_t)(name - program) == length && strncmp(program, folder, length) == 0;
}

/** What LD_PRELOAD is without this: of the launch, or of yardstick itself. */
static const char *given_preload(const struct ys_launch *launch)
{
    const char *given = getenv("LD_PRELOAD");
    for (size_t i = 0; launch->env && launch->env[i]; i++)
        if (strncmp(launch->env[i], PRELOAD, sizeof PRELOAD - 1) == 0)
            given = launch->env[i] + sizeof PRELOAD - 1;
    return given && given[0] ? given : NULL;
}

static void put_variables(const char *library, struct ys_launch *launch, struct ys_listening *listening)
{
    const char *given = given_preload(launch);
    size_t count = 0;
    while (launch->env && launch->env[count])
        count++;
    listening->texts[0] = ys_format(PRELOAD "%s%s%s", given ? given : "", given ? ":" : "", library);
    listening->texts[1] = ys_format(YS_COLLECTIVES_VARIABLE "=%s", listening->path);
    listening->env = ys_alloc(count + 3, sizeof *listening->env);
    for (size_t i = 0; i < count; i++)
        listening->env[i] = launch->env[i];
    listening->env[count] = listening->texts[0]; /* the last of a name is what counts */
    listening->env[count + 1] = listening->texts[1];
    launch->env = listening->env;
}

static void do_without(struct ys_listening *listening, const char *reason)
{
    ys_free(listening->path);
    listening->path = NULL;
    listening->reason = ys_strdup(reason);
}

/** Where `library` can be had in LD_PRELOAD, new: by a link, where its own path has one of the separators. Not as a
 * descriptor of this process: programs that a rank starts close what they do not know. */
static char *listable(const char *library, struct ys_working *linked)
{
    if (!strpbrk(library, YS_TEMPORARY_SEPARATORS))
        return ys_strdup(library);
    if (ys_temporary_make_listable(linked) != YS_OK)
        return NULL;
    char *link = ys_path_join(linked->path, YS_COLLECTIVES_LIBRARY);
    if (symlink(library, link) != 0) {
        ys_fail(YS_EIO, "cannot make a link %s: %s", link, strerror(errno));
        ys_free(link);
        return NULL;
    }
    return link;
}

void ys_listening_begin(bool is_asked, struct ys_launch *launch, struct ys_listening *listening)
{
    *listening = (struct ys_listening){.linked.lock = YS_LOCK_NONE};
    if (is_own(launch))
        return;
    if (!is_asked) {
        do_without(listening, "listen = off");
        return;
    }
    char *library = ys_find_support(YS_COLLECTIVES_LIBRARY);
    if (!library) {
        do_without(listening, NO_LIBRARY);
        return;
    }
    char *listed = listable(library, &listening->linked);
    if (!listed) {
        do_without(listening, ys_error());
    } else {
        listening->path = ys_path_join(launch->folder, YS_COLLECTIVES_FILE);
        if (ys_collectives_make(listening->path) != YS_OK) {
            unlink(listening->path);
            do_without(listening, ys_error());
        } else {
            put_variables(listed, launch, listening);
        }
    }
    ys_free(listed);
    ys_free(library);
}

/* Blocks behind the first, as those of which the parts of a step are. */
struct listened_blocks {
    size_t count;
    const int64_t *steps, *start_ns, *end_ns;
    size_t stamps; /* of single steps; 0: it does not tell */
    const int64_t *ready_ns, *reduced_ns;
    const int64_t *busy_ns; /* its own count; NULL: it has none */
};

static struct listened_blocks read_blocks(const struct ys_series_set *set)
{
    struct listened_blocks read = {.count = SIZE_MAX, .stamps = SIZE_MAX};
    read.steps = ys_series_column(set, "block_count", &read.count);
    read.start_ns = ys_series_column(set, "block_start_ns", &read.count);
    read.end_ns = ys_series_column(set, "block_end_ns", &read.count);
    read.ready_ns = ys_series_column(set, "exchange_ready_ns", &read.stamps);
    read.reduced_ns = ys_series_column(set, "exchange_reduced_ns", &read.stamps);
    size_t counted = SIZE_MAX;
    read.busy_ns = ys_series_column(set, "block_exchange_ns", &counted);
    if (counted < read.count)
        read.busy_ns = NULL;
    return read;
}

/* Sums over those blocks. */
struct sums {
    int64_t steps, calls, bytes;
    uint64_t busy_ns, exposed_ns; /* exposed: of that, while the rank waited for it */
    bool is_sized, has_stamps;
};

/** Until when all calls are known one by one. */
static uint64_t known_until(const struct ys_collectives *heard)
{
    return heard->is_whole || heard->count == 0 ? UINT64_MAX : heard->items[heard->count - 1].begin_ns;
}

static void add_calls(const struct ys_collectives *heard, uint64_t start_ns, uint64_t end_ns, size_t *next,
                      struct sums *sums)
{
    for (; *next < heard->count && heard->items[*next].begin_ns < end_ns; ++*next) {
        const struct ys_collective_call *call = &heard->items[*next];
        if (call->begin_ns < start_ns || call->is_wait)
            continue;
        sums->calls++;
        if (call->bytes < 0 || __builtin_add_overflow(sums->bytes, call->bytes, &sums->bytes))
            sums->is_sized = false;
    }
}

/** Of the calls that were heard; of an adapter that counts by itself, its own times. */
static struct sums sum_up(const struct listened_blocks *blocks, const struct ys_collectives *heard)
{
    struct sums sums = {.is_sized = true, .has_stamps = blocks->stamps > 0};
    const uint64_t until_ns = heard ? known_until(heard) : UINT64_MAX;
    size_t step = blocks->count > 0 ? (size_t)blocks->steps[0] : 0, next = 0;
    for (size_t b = 1; b < blocks->count && (uint64_t)blocks->end_ns[b] <= until_ns; b++) {
        const uint64_t start_ns = (uint64_t)blocks->start_ns[b], end_ns = (uint64_t)blocks->end_ns[b];
        sums.steps += blocks->steps[b];
        if (heard) {
            add_calls(heard, start_ns, end_ns, &next, &sums);
            sums.busy_ns += ys_collectives_busy_ns(heard, start_ns, end_ns);
        } else
            sums.busy_ns += (uint64_t)blocks->busy_ns[b];
        for (int64_t i = 0; i < blocks->steps[b]; i++, step++) {
            if (step >= blocks->stamps) {
                sums.has_stamps = false;
                continue;
            }
            const uint64_t ready_ns = (uint64_t)blocks->ready_ns[step], reduced_ns = (uint64_t)blocks->reduced_ns[step];
            sums.exposed_ns += heard ? ys_collectives_busy_ns(heard, ready_ns, reduced_ns) : reduced_ns - ready_ns;
        }
    }
    return sums;
}

static void tell_steps(const struct sums *sums, bool is_heard, struct ys_facts_collectives *told)
{
    const double steps = (double)sums->steps;
    if (sums->steps == 0)
        return;
    told->busy_s = (double)sums->busy_ns / NS_PER_S / steps;
    if (sums->has_stamps) /* an own count may be shorter than the wait for it: threads have to wake up */
        told->hidden_s =
            sums->busy_ns > sums->exposed_ns ? (double)(sums->busy_ns - sums->exposed_ns) / NS_PER_S / steps : 0.0;
    if (!is_heard)
        return;
    told->step_calls = (double)sums->calls / steps;
    if (sums->is_sized)
        told->step_bytes = (double)sums->bytes / steps;
}

static void tell_heard(const struct ys_collectives *heard, const struct listened_blocks *blocks,
                       struct ys_facts_collectives *told)
{
    const struct sums sums = sum_up(blocks, heard);
    ys_set_text(&told->library, heard->gloo && heard->mpi ? "gloo, mpi" : heard->gloo ? "gloo" : "mpi");
    told->calls = heard->calls;
    told->bytes = heard->bytes >= 0 ? heard->bytes : YS_FIELD_NONE;
    tell_steps(&sums, true, told);
    if (sums.steps == 0)
        ys_set_text(&told->reason, blocks->count > 1 ? MANY_CALLS : NO_STEP);
    else if (!sums.is_sized || heard->bytes < 0)
        ys_set_text(&told->reason, NO_SIZES);
}

static void tell(const struct ys_listening *listening, const struct ys_series_set *series,
                 struct ys_facts_collectives *told)
{
    const struct listened_blocks blocks = read_blocks(series);
    struct ys_collectives heard = {0};
    if (blocks.busy_ns) {
        const struct sums sums = sum_up(&blocks, NULL);
        ys_set_text(&told->library, "own");
        tell_steps(&sums, false, told);
    } else if (!listening->path)
        ys_set_text(&told->reason, listening->reason);
    else if (ys_collectives_read(listening->path, &heard) != YS_OK)
        ys_set_text(&told->reason, ys_error());
    else if (heard.calls == 0)
        ys_set_text(&told->reason, NOT_HEARD);
    else
        tell_heard(&heard, &blocks, told);
    ys_collectives_fini(&heard);
}

void ys_listening_end(struct ys_listening *listening, const struct ys_series_set *series,
                      struct ys_facts_collectives **facts)
{
    *facts = NULL;
    if (listening->path || listening->reason || ys_series_find(series, "block_exchange_ns")) {
        *facts = ys_alloc(1, sizeof **facts);
        ys_record_init(&ys_facts_collectives_record, *facts);
        tell(listening, series, *facts);
    }
    if (listening->path)
        unlink(listening->path);
    ys_working_remove(&listening->linked);
    ys_free(listening->path);
    ys_free(listening->reason);
    ys_free(listening->texts[0]);
    ys_free(listening->texts[1]);
    ys_free(listening->env);
    *listening = (struct ys_listening){0};
}
