#include "probe/tree.h"
#include "base/clock.h"
#include "base/mem.h"
#include "probe/procfs.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_MEMBERS = 16384,      /* a tree that grows past this is no longer followed in full */
    STATUS_BYTES = 8192,       /* /proc/PID/status has some 1500, more where many CPUs are listed */
    SEARCH_COST_FACTOR = 200,  /* a search of length t is not repeated within this many t: at most 0.5 % of a CPU */
};
static const uint64_t LONGEST_BELIEF_NS = 1000000000; /* a search is due after this time even if no process seems new */

struct thread {
    pid_t id;
    int fd; /* of its status file; -1 beyond the budget of descriptors */
    bool found;
    uint64_t switches;
};

struct process {
    struct ys_tree_member member;
    int fd; /* of its stat file: it never comes to mean a later process of the same number */
    clockid_t clock;
    uint64_t own_ns, waited_ns, rss_bytes;
    uint32_t thread_total;
    struct thread *threads;
    size_t thread_count, thread_capacity;
};

struct ys_tree {
    char *root;
    bool is_this_machine, has_children_files;
    pid_t top;
    pid_t *ignore;
    size_t ignore_count;
    struct process *items;
    size_t count, capacity;
    struct ys_tree_member *list;
    size_t list_capacity;
    int loadavg_fd;
    int64_t newest; /* number of the newest process at the last search */
    uint64_t searched_ns, next_search_ns;
    size_t descriptors, most_descriptors;
    uint64_t tick_ns, page_bytes;
    uint64_t gone_own_ns, gone_switches;
    uint64_t cpu_ns, switches; /* as last reported */
    struct ys_tree_peak peak;
};

ys_status ys_tree_adopt(void)
{
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
        return ys_fail(YS_EIO, "cannot become the parent of orphaned processes: %s", strerror(errno));
    return YS_OK;
}

static size_t descriptor_budget(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 128;
    return limit.rlim_cur / 2 < 4096 ? (size_t)limit.rlim_cur / 2 : 4096;
}

ys_status ys_tree_open(const struct ys_tree_options *options, struct ys_tree **tree)
{
    struct ys_tree *made = ys_alloc(1, sizeof *made);
    if (!made)
        return ys_out_of_memory();
    *made = (struct ys_tree){
        .root = ys_strdup(options->root ? options->root : ys_procfs_root()),
        .top = options->top,
        .ignore = ys_alloc(options->ignore_count, sizeof *made->ignore),
        .ignore_count = options->ignore_count,
        .loadavg_fd = -1,
        .newest = -1,
        .most_descriptors = descriptor_budget(),
        .tick_ns = 1000000000U / (uint64_t)sysconf(_SC_CLK_TCK),
        .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
    };
    if (!made->root || !made->ignore) {
        ys_tree_close(made);
        return ys_out_of_memory();
    }
    if (options->ignore_count)
        memcpy(made->ignore, options->ignore, options->ignore_count * sizeof *made->ignore);
    made->is_this_machine = !made->root[0];
    char path[YS_PROCFS_PATH], text[16];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", made->top, made->top);
    made->has_children_files = ys_procfs_read(made->root, path, text, sizeof text) >= 0;
    if (made->is_this_machine)
        made->loadavg_fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    *tree = made;
    return YS_OK;
}

static void close_thread(struct ys_tree *tree, struct thread *thread)
{
    tree->gone_switches += thread->switches;
    if (thread->fd < 0)
        return;
    close(thread->fd);
    tree->descriptors--;
}

/** Takes item `index` out of the members and books what it had used. The last item takes its place. */
static void retire(struct ys_tree *tree, size_t index)
{
    struct process *process = &tree->items[index];
    for (size_t i = 0; i < process->thread_count; i++)
        close_thread(tree, &process->threads[i]);
    ys_free(process->threads);
    close(process->fd);
    tree->gone_own_ns += process->own_ns;
    *process = tree->items[--tree->count];
}

void ys_tree_close(struct ys_tree *tree)
{
    if (!tree)
        return;
    while (tree->count)
        retire(tree, tree->count - 1);
    if (tree->loadavg_fd >= 0)
        close(tree->loadavg_fd);
    ys_free(tree->items);
    ys_free(tree->list);
    ys_free(tree->ignore);
    ys_free(tree->root);
    ys_free(tree);
}

/** Reads state, times and size; false when the process is gone. */
static bool read_process(const struct ys_tree *tree, struct process *process)
{
    char text[1024];
    struct ys_proc_stat stat;
    if (ys_procfs_reread(process->fd, text, sizeof text) <= 0 || !ys_procfs_stat(text, &stat))
        return false;
    bool has_ended = stat.state == 'Z' || stat.state == 'X';
    struct timespec used;
    uint64_t own_ns = (stat.user + stat.system) * tree->tick_ns;
    if (tree->is_this_machine && !has_ended && clock_gettime(process->clock, &used) == 0)
        own_ns = (uint64_t)used.tv_sec * 1000000000U + (uint64_t)used.tv_nsec;
    if (own_ns > process->own_ns) /* a tick count read after the finer clock may be lower */
        process->own_ns = own_ns;
    process->waited_ns = (stat.waited_user + stat.waited_system) * tree->tick_ns;
    process->member.state = stat.state;
    process->member.parent = stat.parent;
    process->thread_total = has_ended ? 0 : stat.threads;
    process->rss_bytes = has_ended ? 0 : stat.resident_pages * tree->page_bytes;
    return true;
}

static bool is_ignored(const struct ys_tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->ignore_count; i++)
        if (tree->ignore[i] == pid)
            return true;
    return false;
}

/** Makes `pid` a member unless it is one already, is ignored, or has gone. */
static ys_status add_process(struct ys_tree *tree, pid_t pid)
{
    if (pid <= 0 || pid == tree->top || is_ignored(tree, pid) || tree->count >= MOST_MEMBERS)
        return YS_OK;
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->items[i].member.pid != pid)
            continue;
        if (read_process(tree, &tree->items[i]))
            return YS_OK;
        retire(tree, i); /* the number has been given to another process */
        break;
    }
    if (tree->count == tree->capacity) {
        size_t capacity = tree->capacity ? 2 * tree->capacity : 16;
        struct process *items = ys_realloc(tree->items, capacity, sizeof *items);
        if (!items)
            return ys_out_of_memory();
        tree->items = items;
        tree->capacity = capacity;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/proc/%d/stat", tree->root, pid);
    struct process process = {.member.pid = pid, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (process.fd < 0)
        return YS_OK;
    if (clock_getcpuclockid(pid, &process.clock) != 0)
        process.clock = -1; /* no clock has this number: read_process falls back to ticks */
    if (!read_process(tree, &process)) {
        close(process.fd);
        return YS_OK;
    }
    tree->items[tree->count++] = process;
    return YS_OK;
}

static ys_status add_thread(struct ys_tree *tree, struct process *process, pid_t id)
{
    for (size_t i = 0; i < process->thread_count; i++) {
        if (process->threads[i].id == id) {
            process->threads[i].found = true;
            return YS_OK;
        }
    }
    if (process->thread_count == process->thread_capacity) {
        size_t capacity = process->thread_capacity ? 2 * process->thread_capacity : 32;
        struct thread *threads = ys_realloc(process->threads, capacity, sizeof *threads);
        if (!threads)
            return ys_out_of_memory();
        process->threads = threads;
        process->thread_capacity = capacity;
    }
    struct thread thread = {.id = id, .fd = -1, .found = true};
    if (tree->descriptors < tree->most_descriptors) {
        char path[4096];
        snprintf(path, sizeof path, "%s/proc/%d/task/%d/status", tree->root, process->member.pid, id);
        thread.fd = open(path, O_RDONLY | O_CLOEXEC);
        tree->descriptors += thread.fd >= 0;
    }
    process->threads[process->thread_count++] = thread;
    return YS_OK;
}

static ys_status add_children(struct ys_tree *tree, pid_t pid, pid_t thread)
{
    char path[YS_PROCFS_PATH];
    struct ys_buf text = {0};
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, thread);
    ys_status status = ys_procfs_read_all(tree->root, path, &text);
    if (status == YS_ENOTFOUND) /* the thread has gone */
        status = YS_OK;
    char *cursor = NULL, *end = text.data;
    while (status == YS_OK && end && (cursor = end, cursor += strspn(cursor, " \n"), *cursor)) {
        pid_t child = (pid_t)strtol(cursor, &end, 10);
        if (end == cursor)
            break;
        status = add_process(tree, child);
    }
    ys_buf_free(&text);
    return status;
}

static pid_t numeric_name(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);
    return end != name && !*end && number > 0 && number <= INT32_MAX ? (pid_t)number : 0;
}

/** Lists the threads of a member (index; SIZE_MAX is the top, whose threads are of no interest) and adds their children. */
static ys_status expand(struct ys_tree *tree, size_t index)
{
    char path[4096];
    pid_t pid = index == SIZE_MAX ? tree->top : tree->items[index].member.pid;
    snprintf(path, sizeof path, "%s/proc/%d/task", tree->root, pid);
    DIR *folder = opendir(path);
    if (!folder)
        return YS_OK;
    for (size_t i = 0; index != SIZE_MAX && i < tree->items[index].thread_count; i++)
        tree->items[index].threads[i].found = false;
    ys_status status = YS_OK;
    for (struct dirent *entry; status == YS_OK && (entry = readdir(folder));) {
        pid_t thread = numeric_name(entry->d_name);
        if (!thread)
            continue;
        if (index != SIZE_MAX)
            status = add_thread(tree, &tree->items[index], thread);
        if (status == YS_OK && tree->has_children_files)
            status = add_children(tree, pid, thread);
    }
    closedir(folder);
    if (index == SIZE_MAX || status != YS_OK)
        return status;
    struct process *process = &tree->items[index];
    for (size_t i = process->thread_count; i-- > 0;) {
        if (process->threads[i].found)
            continue;
        close_thread(tree, &process->threads[i]);
        process->threads[i] = process->threads[--process->thread_count];
    }
    return YS_OK;
}

struct relation {
    pid_t pid, parent;
};

static ys_status list_all(const struct ys_tree *tree, struct relation **all, size_t *count)
{
    char path[4096], text[1024];
    snprintf(path, sizeof path, "%s/proc", tree->root);
    DIR *folder = opendir(path);
    if (!folder)
        return ys_fail(YS_EIO, "cannot list %s: %s (is /proc mounted?)", path, strerror(errno));
    size_t capacity = 0;
    struct ys_proc_stat stat;
    for (struct dirent *entry; (entry = readdir(folder));) {
        pid_t pid = numeric_name(entry->d_name);
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        if (!pid || ys_procfs_read(tree->root, path, text, sizeof text) <= 0 || !ys_procfs_stat(text, &stat))
            continue;
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            struct relation *larger = ys_realloc(*all, capacity, sizeof *larger);
            if (!larger) {
                closedir(folder);
                return ys_out_of_memory();
            }
            *all = larger;
        }
        (*all)[(*count)++] = (struct relation){.pid = pid, .parent = stat.parent};
    }
    closedir(folder);
    return YS_OK;
}

static bool is_member(const struct ys_tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->items[i].member.pid == pid)
            return true;
    return false;
}

/** For kernels without the children files: from the parent of every process of the machine. */
static ys_status search_all(struct ys_tree *tree)
{
    struct relation *all = NULL;
    size_t count = 0;
    ys_status status = list_all(tree, &all, &count);
    for (bool is_grown = true; status == YS_OK && is_grown;) {
        size_t before = tree->count;
        for (size_t i = 0; status == YS_OK && i < count; i++)
            if ((all[i].parent == tree->top || is_member(tree, all[i].parent)) && !is_member(tree, all[i].pid))
                status = add_process(tree, all[i].pid);
        is_grown = tree->count > before;
    }
    ys_free(all);
    return status;
}

/** The number of the newest process or thread of the machine; -1 when the kernel does not say. */
static int64_t newest_process(const struct ys_tree *tree)
{
    char text[128];
    if (tree->loadavg_fd < 0 || ys_procfs_reread(tree->loadavg_fd, text, sizeof text) <= 0)
        return -1;
    const char *last = strrchr(text, ' ');
    int64_t number = last ? strtoll(last + 1, NULL, 10) : 0;
    return number > 0 ? number : -1;
}

static ys_status search(struct ys_tree *tree)
{
    int64_t newest = newest_process(tree); /* read first: what starts during the search is found by the next one */
    uint64_t start_ns = ys_time_ns();
    if (!tree->has_children_files)
        YS_TRY(search_all(tree));
    else
        YS_TRY(expand(tree, SIZE_MAX));
    for (size_t i = 0; i < tree->count; i++) /* the list grows meanwhile */
        YS_TRY(expand(tree, i));
    tree->newest = newest;
    tree->searched_ns = ys_time_ns();
    tree->next_search_ns = tree->searched_ns + SEARCH_COST_FACTOR * (tree->searched_ns - start_ns);
    return YS_OK;
}

static ys_status search_if_due(struct ys_tree *tree)
{
    uint64_t now_ns = ys_time_ns();
    if (now_ns < tree->next_search_ns)
        return YS_OK;
    int64_t newest = newest_process(tree);
    if (newest >= 0 && newest == tree->newest && now_ns < tree->searched_ns + LONGEST_BELIEF_NS)
        return YS_OK;
    return search(tree);
}

/** Reads the context switches of a thread and, from the first of a process, its peak size; false when the thread has gone. */
static bool read_thread(struct ys_tree *tree, const struct process *process, struct thread *thread)
{
    char text[STATUS_BYTES], path[YS_PROCFS_PATH];
    ssize_t got;
    if (thread->fd >= 0) {
        got = ys_procfs_reread(thread->fd, text, sizeof text);
    } else {
        snprintf(path, sizeof path, "/proc/%d/task/%d/status", process->member.pid, thread->id);
        got = ys_procfs_read(tree->root, path, text, sizeof text);
    }
    if (got <= 0)
        return false;
    /* The two counts are the last lines: looking from the end saves half the time. */
    const char *tail = got > 256 ? text + got - 256 : text;
    int64_t voluntary = 0, involuntary = 0, peak_kb = 0;
    ys_procfs_field(tail, "voluntary_ctxt_switches", &voluntary);
    ys_procfs_field(tail, "nonvoluntary_ctxt_switches", &involuntary);
    thread->switches = (uint64_t)(voluntary + involuntary);
    if (thread->id == process->member.pid && ys_procfs_field(text, "VmHWM", &peak_kb) &&
        (uint64_t)peak_kb * 1024 > tree->peak.process_bytes)
        tree->peak.process_bytes = (uint64_t)peak_kb * 1024;
    return true;
}

static void read_threads(struct ys_tree *tree, struct process *process)
{
    for (size_t i = process->thread_count; i-- > 0;) {
        if (read_thread(tree, process, &process->threads[i]))
            continue;
        close_thread(tree, &process->threads[i]);
        process->threads[i] = process->threads[--process->thread_count];
    }
}

static void raise_peak(struct ys_tree *tree, const struct ys_tree_sample *sample)
{
    struct ys_tree_peak *peak = &tree->peak;
    peak->samples++;
    if (sample->rss_bytes > peak->rss_bytes)
        peak->rss_bytes = sample->rss_bytes;
    if (peak->process_bytes > peak->rss_bytes)
        peak->rss_bytes = peak->process_bytes;
    if (sample->threads > peak->threads)
        peak->threads = sample->threads;
    if (sample->processes > peak->processes)
        peak->processes = sample->processes;
}

ys_status ys_tree_look(struct ys_tree *tree, struct ys_tree_sample *sample)
{
    YS_TRY(search_if_due(tree));
    uint64_t own_ns = 0, waited_ns = 0, switches = 0;
    *sample = (struct ys_tree_sample){0};
    for (size_t i = tree->count; i-- > 0;) {
        struct process *process = &tree->items[i];
        if (!read_process(tree, process)) {
            retire(tree, i);
            continue;
        }
        read_threads(tree, process);
        own_ns += process->own_ns;
        waited_ns += process->waited_ns;
        sample->rss_bytes += process->rss_bytes;
        sample->threads += process->thread_total;
        sample->processes += process->thread_total > 0;
        for (size_t t = 0; t < process->thread_count; t++)
            switches += process->threads[t].switches;
    }
    sample->t_ns = ys_time_ns();
    /* Of the ended members two things are known: what they had used when last seen, and what their parents were told when
     * they waited for them. Each can miss some; neither invents any. */
    uint64_t cpu_ns = own_ns + (tree->gone_own_ns > waited_ns ? tree->gone_own_ns : waited_ns);
    switches += tree->gone_switches;
    tree->cpu_ns = cpu_ns > tree->cpu_ns ? cpu_ns : tree->cpu_ns;
    tree->switches = switches > tree->switches ? switches : tree->switches;
    sample->cpu_ns = tree->cpu_ns;
    sample->switches = tree->switches;
    raise_peak(tree, sample);
    return YS_OK;
}

const struct ys_tree_peak *ys_tree_peak(const struct ys_tree *tree)
{
    return &tree->peak;
}

ys_status ys_tree_list(struct ys_tree *tree, const struct ys_tree_member **members, size_t *count)
{
    YS_TRY(search(tree));
    if (tree->list_capacity < tree->count) {
        struct ys_tree_member *list = ys_realloc(tree->list, tree->count, sizeof *list);
        if (!list)
            return ys_out_of_memory();
        tree->list = list;
        tree->list_capacity = tree->count;
    }
    for (size_t i = tree->count; i-- > 0;)
        if (!read_process(tree, &tree->items[i]))
            retire(tree, i);
    for (size_t i = 0; i < tree->count; i++)
        tree->list[i] = tree->items[i].member;
    *members = tree->list;
    *count = tree->count;
    return YS_OK;
}
