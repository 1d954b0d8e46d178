/* yardstick-known: an adapter that does one known thing while it is opened, or sleeps in each phase, and says what its
 * own clocks and counters made of it. `yardstick doctor --self-test` compares that with what was observed from outside.
 * The thing is named by the plan's option `act`; docs/measuring.md lists them. */
#include "builtin/builtin.h"

#include "base/clock.h"
#include "base/json/record.h"
#include "base/mem.h"
#include "protocol/adapter_loop.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    BURN_NS = 100000000,
    SLEEP_NS = 50000000,
    BLOCK_NS = 10000000,
    HELD_BYTES = 128 << 20,
    FILE_BYTES = 8 << 20,
    CHUNK_BYTES = 64 << 10,
    CHILDREN = 500
};

/* What children tell, in memory that they share. */
static struct child_figures {
    _Atomic uint64_t cpu_ns;
    _Atomic uint64_t done;
} * told;

/* By its own clock, in the act "phases". A pause before a block and the block are in gap_ns, other blocks in
 * train_ns. */
struct slept_phases {
    bool sleeps;
    double start_ns, open_ns, train_ns, gap_ns, save_ns, stop_ns;
};

struct known {
    uint64_t cpu_ns;   /* of processes that this one cannot wait for */
    uint64_t held;     /* bytes that were held at once */
    uint64_t switches; /* that it brought about */
};

static uint64_t cpu_ns(clockid_t clock)
{
    struct timespec used;
    clock_gettime(clock, &used);
    return (uint64_t)used.tv_sec * 1000000000U + (uint64_t)used.tv_nsec;
}

static void burn(uint64_t span_ns)
{
    uint64_t until_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID) + span_ns;
    while (cpu_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
        continue;
}

static void sleep_ns(uint64_t span_ns)
{
    struct timespec left = {.tv_sec = (time_t)(span_ns / 1000000000U), .tv_nsec = (long)(span_ns % 1000000000U)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

/* How long that really took. */
static double pass(uint64_t span_ns)
{
    uint64_t start_ns = ys_time_ns();
    sleep_ns(span_ns);
    return (double)(ys_time_ns() - start_ns);
}

static void *burn_in_thread(void *unused)
{
    burn(BURN_NS);
    return unused;
}

static ys_status burn_threads(int count)
{
    pthread_t threads[8];
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, burn_in_thread, NULL) != 0)
            return ys_fail(YS_EIO, "no thread can be made");
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return YS_OK;
}

/** In a child: works, tells and ends. */
static _Noreturn void end_child(uint64_t span_ns)
{
    burn(span_ns);
    told->cpu_ns += cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    told->done++;
    _exit(0);
}

static ys_status burn_children(int count, uint64_t span_ns, bool waits)
{
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0)
            end_child(span_ns);
        if (child < 0)
            return ys_fail(YS_EIO, "no process can be made");
        if (waits)
            waitpid(child, NULL, 0);
    }
    return YS_OK;
}

static void await(uint64_t done)
{
    for (int i = 0; told->done < done && i < 5000; i++)
        sleep_ns(1000000);
    sleep_ns(20000000); /* the last of them is still ending */
}

static ys_status burn_unwaited(struct known *known)
{
    YS_TRY(burn_children(2, BURN_NS, false));
    await(2);
    known->cpu_ns = told->cpu_ns;
    return YS_OK;
}

static ys_status burn_double(struct known *known)
{
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0)
            end_child(2 * (uint64_t)BURN_NS);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    await(1);
    known->cpu_ns = told->cpu_ns;
    return YS_OK;
}

static ys_status burn_ignored(struct known *known)
{
    signal(SIGCHLD, SIG_IGN);
    ys_status status = burn_unwaited(known);
    signal(SIGCHLD, SIG_DFL);
    return status;
}

static void *map(int flags, int fd)
{
    void *held = mmap(NULL, HELD_BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);
    return held == MAP_FAILED ? NULL : held;
}

static ys_status hold_brief(struct known *known)
{
    char *held = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (!held)
        return ys_out_of_memory();
    memset(held, 1, HELD_BYTES);
    sleep_ns(80000000);
    munmap(held, HELD_BYTES);
    known->held = HELD_BYTES;
    return YS_OK;
}

static ys_status hold_child(struct known *known)
{
    struct known unused;
    pid_t child = fork();
    if (child == 0)
        _exit(hold_brief(&unused) == YS_OK ? 0 : 1);
    waitpid(child, NULL, 0);
    known->held = HELD_BYTES;
    return YS_OK;
}

/** `held` is touched by four children as well, all at once, for as long as two samples. */
static ys_status share(char *held)
{
    volatile char seen = 0;
    memset(held, 1, HELD_BYTES);
    for (int i = 0; i < 4; i++) {
        if (fork() != 0)
            continue;
        for (size_t at = 0; at < HELD_BYTES; at += 4096)
            seen = (char)(seen + held[at]);
        told->done++;
        sleep_ns(150000000);
        _exit(0);
    }
    while (wait(NULL) > 0)
        continue;
    munmap(held, HELD_BYTES);
    return YS_OK;
}

static ys_status hold_shared(struct known *known)
{
    char *held = map(MAP_SHARED | MAP_ANONYMOUS, -1);
    known->held = HELD_BYTES;
    return held ? share(held) : ys_out_of_memory();
}

static ys_status hold_memfd(struct known *known)
{
    int fd = memfd_create("yardstick-known", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, HELD_BYTES) != 0)
        return ys_fail(YS_EIO, "no memfd: %s", strerror(errno));
    char *held = map(MAP_SHARED, fd);
    if (!held)
        return ys_out_of_memory();
    memset(held, 1, HELD_BYTES);
    sleep_ns(80000000);
    munmap(held, HELD_BYTES);
    close(fd);
    known->held = HELD_BYTES;
    return YS_OK;
}

/** Writes FILE_BYTES to the file "known" in the folder in which it was started. `flags`: O_DIRECT or 0. */
static ys_status write_file(int flags)
{
    char *chunk = NULL;
    int fd = open("known", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | flags, 0600);
    if (fd < 0 || posix_memalign((void **)&chunk, 4096, CHUNK_BYTES) != 0)
        return ys_fail(YS_EUNSUPPORTED, "cannot open a file%s: %s", flags ? " around the page cache" : "",
                       strerror(errno));
    memset(chunk, 1, CHUNK_BYTES);
    for (int at = 0; at < FILE_BYTES; at += CHUNK_BYTES)
        if (write(fd, chunk, CHUNK_BYTES) != CHUNK_BYTES)
            return ys_fail(YS_EIO, "cannot write: %s", strerror(errno));
    free(chunk);
    close(fd);
    return YS_OK;
}

static ys_status read_file(void)
{
    static char chunk[CHUNK_BYTES];
    int fd = open("known", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && read(fd, chunk, sizeof chunk) > 0)
        continue;
    if (fd >= 0)
        close(fd);
    unlink("known");
    return YS_OK;
}

/** A file that is mapped and read whole is page cache, not memory that this process holds. */
static ys_status hold_file(struct known *known)
{
    volatile char seen = 0;
    int fd = open("known", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    unlink("known");
    if (fd < 0 || ftruncate(fd, HELD_BYTES) != 0)
        return ys_fail(YS_EIO, "no file: %s", strerror(errno));
    char *held = map(MAP_SHARED, fd);
    for (size_t at = 0; held && at < HELD_BYTES; at += 4096)
        seen = (char)(seen + held[at]);
    sleep_ns(80000000);
    known->held = 0;
    return held ? YS_OK : ys_out_of_memory();
}

static ys_status switch_often(struct known *known)
{
    for (int i = 0; i < 1000; i++)
        sleep_ns(50000);
    known->switches = 1000;
    return YS_OK;
}

static ys_status sleep_in_phases(struct slept_phases *slept)
{
    slept->sleeps = true;
    slept->open_ns = pass(SLEEP_NS);
    return YS_OK;
}

static ys_status act_on(const char *act, struct known *known, struct slept_phases *slept)
{
    if (strcmp(act, "cpu-thread") == 0)
        return burn_threads(1);
    if (strcmp(act, "cpu-eight-threads") == 0)
        return burn_threads(8);
    if (strcmp(act, "cpu-child") == 0)
        return burn_children(1, BURN_NS, true);
    if (strcmp(act, "cpu-500-children") == 0)
        return burn_children(CHILDREN, 200000, true);
    if (strcmp(act, "cpu-unwaited") == 0)
        return burn_unwaited(known);
    if (strcmp(act, "cpu-double-fork") == 0)
        return burn_double(known);
    if (strcmp(act, "cpu-ignored") == 0)
        return burn_ignored(known);
    if (strcmp(act, "memory-80-ms") == 0)
        return hold_brief(known);
    if (strcmp(act, "memory-child") == 0)
        return hold_child(known);
    if (strcmp(act, "memory-shared") == 0)
        return hold_shared(known);
    if (strcmp(act, "memory-file") == 0)
        return hold_file(known);
    if (strcmp(act, "memory-memfd") == 0)
        return hold_memfd(known);
    if (strcmp(act, "bytes-written") == 0)
        return write_file(0);
    if (strcmp(act, "bytes-around-cache") == 0)
        return write_file(O_DIRECT);
    if (strcmp(act, "bytes-read") == 0) {
        YS_TRY(write_file(0));
        return read_file();
    }
    if (strcmp(act, "switches") == 0)
        return switch_often(known);
    if (strcmp(act, "phases") == 0)
        return sleep_in_phases(slept);
    return strcmp(act, "nothing") == 0 ? YS_OK : ys_fail(YS_EINVAL, "there is no act \"%s\"", act);
}

struct known_options {
    const char *act;
};
static const struct ys_field options_fields[] = {
    YS_FIELD(struct known_options, act, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "what to do while the plan is opened"),
};
static const struct ys_record options_record = YS_RECORD("options", struct known_options, options_fields);

/** The account of this process and all that it waited for, and what it knows of the others. */
static ys_status tell(const struct known *known, ys_json *reply)
{
    struct rusage own, waited;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &waited);
    uint64_t waited_ns = (uint64_t)(waited.ru_utime.tv_sec + waited.ru_stime.tv_sec) * 1000000000U +
                         (uint64_t)(waited.ru_utime.tv_usec + waited.ru_stime.tv_usec) * 1000U;
    ys_json *made = ys_json_object();
    ys_json_set_int(made, "cpu_ns", (int64_t)(cpu_ns(CLOCK_PROCESS_CPUTIME_ID) + waited_ns + known->cpu_ns));
    ys_json_set_int(made, "held_bytes", (int64_t)known->held);
    ys_json_set_int(made, "switches", own.ru_nvcsw + own.ru_nivcsw + waited.ru_nvcsw + waited.ru_nivcsw);
    ys_json_set_int(made, "written_bytes", FILE_BYTES);
    return ys_json_set(reply, "known", made);
}

static ys_status open_plan(void *self, const struct ys_plan *plan, ys_json *reply)
{
    static const char *const none[] = {NULL};
    struct known known = {0};
    struct known_options options;
    ys_record_glance(&options_record, plan->options, &options);
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told == MAP_FAILED)
        return ys_out_of_memory();
    YS_TRY(act_on(options.act ? options.act : "", &known, self));
    YS_TRY(ys_json_set_int(reply, "parameters", 0));
    YS_TRY(ys_json_set_int(reply, "threads", 1));
    YS_TRY(ys_adapter_set_names(reply, "libraries", none));
    YS_TRY(ys_adapter_set_names(reply, "deviations", none));
    return tell(&known, reply);
}

/* It does no work, so that its losses mean nothing, but must be there for one that saves. */
static ys_status train(void *self, int64_t first, int64_t count, struct ys_block *block)
{
    struct slept_phases *slept = self;
    bool pauses = slept->sleeps && (first == 2 || first == 4);
    double gap_ns = pauses ? pass(SLEEP_NS) : 0;
    block->t_start_ns = ys_time_ns();
    double work_ns = slept->sleeps ? pass(BLOCK_NS) : 0;
    block->t_end_ns = ys_time_ns();
    *(pauses ? &slept->gap_ns : &slept->train_ns) += gap_ns + work_ns;
    for (int64_t i = 0; i < count; i++)
        block->loss[i] = 0;
    block->loss_count = (size_t)count;
    return YS_OK;
}

/* What is saved is empty. */
static ys_status save(void *self, const char *path, bool in_double)
{
    struct slept_phases *slept = self;
    (void)in_double;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return ys_fail(YS_EIO, "cannot write %s: %s", path, strerror(errno));
    close(fd);
    slept->save_ns = slept->sleeps ? pass(SLEEP_NS) : 0;
    return YS_OK;
}

/* Nothing is answered after bye, so the account is a file. */
static void leave(void *self)
{
    struct slept_phases *slept = self;
    if (!slept->sleeps)
        return;
    slept->stop_ns = pass(SLEEP_NS);
    const struct {
        const char *name;
        double ns;
    } said[] = {{"start_ns", slept->start_ns}, {"open_ns", slept->open_ns}, {"train_ns", slept->train_ns},
                {"gap_ns", slept->gap_ns},     {"save_ns", slept->save_ns}, {"stop_ns", slept->stop_ns}};
    ys_json *account = ys_json_object();
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        ys_json_set_real(account, said[i].name, said[i].ns);
    if (ys_json_write("known-sleeps.json", account) != YS_OK)
        fprintf(stderr, "%s\n", ys_error());
    ys_json_free(account);
}

int ys_known_serve(bool sleeps)
{
    static const char *const precisions[] = {"f32", NULL}, *const none[] = {NULL};
    static const struct ys_adapter_ops ops = {
        .about = {.adapter = "known", .framework = "known", .precisions = precisions, .ops = none, .optimizers = none},
        .open = open_plan,
        .train = train,
        .save = save,
        .close = leave};
    struct slept_phases slept = {.start_ns = sleeps ? pass(SLEEP_NS) : 0};
    return ys_adapter_serve_environment(&ops, &slept);
}
