#include "probe/process_tree.h"
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
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_MEMBERS = 16384,     /* a tree that grows past this is no longer followed in full */
    STATUS_BYTES = 8192,      /* /proc/PID/status has some 1500, more where many CPUs are listed */
    STATUS_PERIOD = 5,        /* samples between two readings of /proc/PID/status, which costs more than all else */
    SEARCH_COST_FACTOR = 200, /* a search of length t is not repeated within this many t: at most 0.5 % of a CPU */
};
enum { LONGEST_READ_NS = 300000, MOST_LOOKS = 3 };    /* of sixteen members; how often they are read at most */
static const uint64_t LONGEST_BELIEF_NS = 1000000000; /* a search is due after this time even if no process seems new */

struct thread {
    pid_t id;
    int switches_fd, children_fd; /* kept open; -1 beyond the budget of descriptors */
    bool found;
    uint64_t switches, wait_ns;
};

struct watched_process {
    struct ys_tree_member member;
    int fd; /* of its stat file: it never comes to mean a later process of the same number */
    int status_fd;
    clockid_t clock;
    uint64_t own_ns, waited_ns, rss_bytes, swap_bytes, shared_bytes;
    uint32_t thread_total;
    int status_in; /* so many samples until its status file is read */
    struct thread *threads;
    size_t thread_count, thread_capacity;
};

struct ys_tree {
    char *root;
    bool is_this_machine, has_children_files, has_schedstat;
    pid_t top;
    struct watched_process *items;
    size_t count, capacity;
    struct ys_tree_member *list;
    size_t list_capacity;
    int loadavg_fd;
    int64_t newest; /* number of the newest process at the last search */
    uint64_t searched_ns, next_search_ns;
    size_t descriptors, most_descriptors;
    uint64_t tick_ns, page_bytes;
    uint64_t gone_own_ns, gone_switches, gone_wait_ns;
    uint64_t cpu_ns, switches, wait_ns; /* as last reported */
    struct ys_tree_peak peak;
};

static size_t descriptor_budget(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 128;
    return limit.rlim_cur / 2 < 4096 ? (size_t)limit.rlim_cur / 2 : 4096;
}

struct ys_tree *ys_tree_open(const struct ys_tree_options *options)
{
    struct ys_tree *made = ys_alloc(1, sizeof *made);
    *made = (struct ys_tree){
        .root = ys_strdup(options->root ? options->root : ys_procfs_root()),
        .top = options->top,
        .loadavg_fd = -1,
        .newest = -1,
        .most_descriptors = descriptor_budget(),
        .tick_ns = 1000000000U / (uint64_t)sysconf(_SC_CLK_TCK),
        .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
    };
    made->is_this_machine = !made->root[0];
    char path[YS_PROCFS_PATH], text[16];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", made->top, made->top);
    made->has_children_files = ys_procfs_read(made->root, path, text, sizeof text) >= 0;
    snprintf(path, sizeof path, "/proc/%d/schedstat", made->top);
    made->has_schedstat = ys_procfs_read(made->root, path, text, sizeof text) > 0;
    if (made->is_this_machine)
        made->loadavg_fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    return made;
}

void ys_tree_set_top(struct ys_tree *tree, pid_t top)
{
    tree->top = top;
}

static void close_kept(struct ys_tree *tree, int *fd)
{
    if (*fd < 0)
        return;
    close(*fd);
    *fd = -1;
    tree->descriptors--;
}

/** Opens a file of a member that will be read again and again; -1 beyond the budget or when it has gone. */
static int open_kept(struct ys_tree *tree, const char *path)
{
    char whole[4096];
    if (tree->descriptors >= tree->most_descriptors)
        return -1;
    snprintf(whole, sizeof whole, "%s%s", tree->root, path);
    int fd = open(whole, O_RDONLY | O_CLOEXEC);
    tree->descriptors += fd >= 0;
    return fd;
}

/** Reads a file of a member: by the descriptor when it is kept, else by its path. */
static ssize_t read_kept(const struct ys_tree *tree, int fd, const char *path, char *text, size_t size)
{
    return fd >= 0 ? ys_procfs_reread(fd, text, size) : ys_procfs_read(tree->root, path, text, size);
}

static void close_thread(struct ys_tree *tree, struct thread *thread)
{
    tree->gone_switches += thread->switches;
    tree->gone_wait_ns += thread->wait_ns;
    close_kept(tree, &thread->switches_fd);
    close_kept(tree, &thread->children_fd);
}

/** Takes item `index` out of the members and books what it had used; the others keep their order. */
static void retire(struct ys_tree *tree, size_t index)
{
    struct watched_process *process = &tree->items[index];
    for (size_t i = 0; i < process->thread_count; i++)
        close_thread(tree, &process->threads[i]);
    ys_free(process->threads);
    close_kept(tree, &process->status_fd);
    close(process->fd);
    tree->gone_own_ns += process->own_ns;
    tree->count--;
    memmove(process, process + 1, (tree->count - index) * sizeof *process);
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
    ys_free(tree->root);
    ys_free(tree);
}

/** Reads state, times and size; false when the process is gone. */
static bool read_process(const struct ys_tree *tree, struct watched_process *process)
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

/** Makes `pid` a member unless it is one already or has gone. */
static void add_process(struct ys_tree *tree, pid_t pid)
{
    if (pid <= 0 || pid == tree->top || tree->count >= MOST_MEMBERS)
        return;
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->items[i].member.pid != pid)
            continue;
        if (read_process(tree, &tree->items[i]))
            return;
        retire(tree, i); /* the number has been given to another process */
        break;
    }
    tree->items = ys_grown(tree->items, tree->count, &tree->capacity, sizeof *tree->items);
    char path[4096];
    snprintf(path, sizeof path, "%s/proc/%d/stat", tree->root, pid);
    struct watched_process process = {.member.pid = pid, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (process.fd < 0)
        return;
    if (clock_getcpuclockid(pid, &process.clock) != 0)
        process.clock = -1; /* no clock has this number: read_process falls back to ticks */
    if (!read_process(tree, &process)) {
        close(process.fd);
        return;
    }
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    process.status_fd = open_kept(tree, path);
    tree->items[tree->count++] = process;
}

/** The file that counts the switches of a thread: schedstat takes a tenth of the time that status takes. */
static void switches_path(const struct ys_tree *tree, pid_t pid, pid_t thread, char path[YS_PROCFS_PATH])
{
    snprintf(path, YS_PROCFS_PATH, "/proc/%d/task/%d/%s", pid, thread, tree->has_schedstat ? "schedstat" : "status");
}

static void children_path(pid_t pid, pid_t thread, char path[YS_PROCFS_PATH])
{
    snprintf(path, YS_PROCFS_PATH, "/proc/%d/task/%d/children", pid, thread);
}

static void add_thread(struct ys_tree *tree, struct watched_process *process, pid_t id)
{
    for (size_t i = 0; i < process->thread_count; i++) {
        if (process->threads[i].id == id) {
            process->threads[i].found = true;
            return;
        }
    }
    process->threads =
        ys_grown(process->threads, process->thread_count, &process->thread_capacity, sizeof *process->threads);
    struct thread thread = {.id = id, .found = true, .children_fd = -1};
    char path[YS_PROCFS_PATH];
    switches_path(tree, process->member.pid, id, path);
    thread.switches_fd = open_kept(tree, path);
    children_path(process->member.pid, id, path);
    if (tree->has_children_files)
        thread.children_fd = open_kept(tree, path);
    process->threads[process->thread_count++] = thread;
}

/** Adds the children that the text of a children file names. */
static void add_named(struct ys_tree *tree, const char *text)
{
    for (;;) {
        char *end;
        long child = strtol(text, &end, 10);
        if (end == text)
            return;
        add_process(tree, (pid_t)child);
        text = end;
    }
}

/** Adds the children that a thread has started. `fd` is -1 where the file is not kept open. */
static ys_status add_children(struct ys_tree *tree, pid_t pid, pid_t thread, int fd)
{
    char path[YS_PROCFS_PATH], text[1024];
    children_path(pid, thread, path);
    ssize_t got = read_kept(tree, fd, path, text, sizeof text);
    if (got <= 0) /* none, or the thread has gone */
        return YS_OK;
    if ((size_t)got < sizeof text - 1) {
        add_named(tree, text);
        return YS_OK;
    }
    struct ys_buf all = {0}; /* a hundred children and more */
    ys_status status = ys_procfs_read_all(tree->root, path, &all);
    if (status == YS_OK)
        add_named(tree, ys_buf_text(&all));
    ys_buf_free(&all);
    return status == YS_ENOTFOUND ? YS_OK : status;
}

static pid_t numeric_name(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);
    return end != name && !*end && number > 0 && number <= INT32_MAX ? (pid_t)number : 0;
}

/** Brings the list of a member's threads up to date. */
static void list_threads(struct ys_tree *tree, struct watched_process *process)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/proc/%d/task", tree->root, process->member.pid);
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (size_t i = 0; i < process->thread_count; i++)
        process->threads[i].found = false;
    for (struct dirent *entry; (entry = readdir(folder));) {
        pid_t thread = numeric_name(entry->d_name);
        if (thread)
            add_thread(tree, process, thread);
    }
    closedir(folder);
    for (size_t i = process->thread_count; i-- > 0;) {
        if (process->threads[i].found)
            continue;
        close_thread(tree, &process->threads[i]);
        process->threads[i] = process->threads[--process->thread_count];
    }
}

/** Adds the children of all threads of the top, which is not a member itself. */
static ys_status expand_top(struct ys_tree *tree)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/proc/%d/task", tree->root, tree->top);
    DIR *folder = opendir(path);
    ys_status status = YS_OK;
    for (struct dirent *entry; folder && status == YS_OK && (entry = readdir(folder));) {
        pid_t thread = numeric_name(entry->d_name);
        if (thread)
            status = add_children(tree, tree->top, thread, -1);
    }
    if (folder)
        closedir(folder);
    return status;
}

/** Lists the threads of member `index` and adds their children. */
static ys_status expand(struct ys_tree *tree, size_t index)
{
    list_threads(tree, &tree->items[index]);
    for (size_t i = 0; tree->has_children_files && i < tree->items[index].thread_count; i++) {
        const struct thread *thread = &tree->items[index].threads[i]; /* adding may move the items */
        YS_TRY(add_children(tree, tree->items[index].member.pid, thread->id, thread->children_fd));
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
        *all = ys_grown(*all, *count, &capacity, sizeof **all);
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
        for (size_t i = 0; i < count; i++)
            if ((all[i].parent == tree->top || is_member(tree, all[i].parent)) && !is_member(tree, all[i].pid))
                add_process(tree, all[i].pid);
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
        YS_TRY(expand_top(tree));
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

/** Reads how often a thread was given a CPU; false when it has gone. */
static bool read_thread(struct ys_tree *tree, const struct watched_process *process, struct thread *thread)
{
    char text[STATUS_BYTES], path[YS_PROCFS_PATH];
    switches_path(tree, process->member.pid, thread->id, path);
    ssize_t got = read_kept(tree, thread->switches_fd, path, text, sizeof text);
    if (got <= 0)
        return false;
    if (tree->has_schedstat) { /* time on a CPU, time of waiting for one, how often it was given one */
        char *end = text + strcspn(text, " "), *last;
        thread->wait_ns = strtoull(end, &end, 10);
        last = end;
        thread->switches = strtoull(last, &end, 10);
        return end != last;
    }
    int64_t voluntary = 0, involuntary = 0;
    ys_procfs_field(text, "voluntary_ctxt_switches", &voluntary);
    ys_procfs_field(text, "nonvoluntary_ctxt_switches", &involuntary);
    thread->switches = (uint64_t)(voluntary + involuntary);
    return true;
}

static void read_peak(struct ys_tree *tree, struct watched_process *process)
{
    char text[STATUS_BYTES], path[YS_PROCFS_PATH];
    int64_t peak_kb = 0, swap_kb = 0, file_kb, shared_kb;
    snprintf(path, sizeof path, "/proc/%d/status", process->member.pid);
    process->swap_bytes = process->shared_bytes = 0;
    if (read_kept(tree, process->status_fd, path, text, sizeof text) <= 0)
        return;
    if (ys_procfs_field(text, "VmHWM", &peak_kb) && (uint64_t)peak_kb * 1024 > tree->peak.process_bytes)
        tree->peak.process_bytes = (uint64_t)peak_kb * 1024;
    if (ys_procfs_field(text, "RssFile", &file_kb) && ys_procfs_field(text, "RssShmem", &shared_kb))
        process->shared_bytes = (uint64_t)(file_kb + shared_kb) * 1024;
    if (ys_procfs_field(text, "VmSwap", &swap_kb))
        process->swap_bytes = (uint64_t)swap_kb * 1024;
}

static void read_threads(struct ys_tree *tree, struct watched_process *process)
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
    peak->has_wait = tree->has_schedstat;
    peak->wait_ns = sample->wait_ns;
    if (sample->swap_bytes > peak->swap_bytes)
        peak->swap_bytes = sample->swap_bytes;
    if (sample->processes > peak->processes)
        peak->processes = sample->processes;
}

/** Reads all members, and when that was: a look that was itself kept from running has read some long before the others,
 * so it is made again. Parents come first, as they were found: of a child that ends meanwhile its parent's times would
 * have again what was already read of it. */
static uint64_t read_members(struct ys_tree *tree)
{
    uint64_t begun_ns, ended_ns;
    int looks = 0;
    do {
        begun_ns = ys_time_ns();
        for (size_t i = 0; i < tree->count;)
            if (read_process(tree, &tree->items[i]))
                i++;
            else
                retire(tree, i);
        ended_ns = ys_time_ns();
    } while (ended_ns - begun_ns > LONGEST_READ_NS * (1 + tree->count / 16) && ++looks < MOST_LOOKS);
    return begun_ns + (ended_ns - begun_ns) / 2;
}

ys_status ys_tree_look(struct ys_tree *tree, struct ys_tree_sample *sample)
{
    YS_TRY(search_if_due(tree));
    uint64_t own_ns = 0, waited_ns = 0, switches = 0, wait_ns = 0, shared_bytes = 0, most_bytes = 0;
    *sample = (struct ys_tree_sample){.t_ns = read_members(tree)};
    for (size_t i = tree->count; i-- > 0;) {
        struct watched_process *process = &tree->items[i];
        read_threads(tree, process);
        if (process->status_in-- <= 0) {
            read_peak(tree, process);
            process->status_in = STATUS_PERIOD - 1;
        }
        own_ns += process->own_ns;
        waited_ns += process->waited_ns;
        sample->rss_bytes += process->rss_bytes;
        sample->threads += process->thread_total;
        sample->processes += process->thread_total > 0;
        sample->stopped += process->member.state == 'T';
        sample->swap_bytes += process->swap_bytes;
        shared_bytes += process->shared_bytes;
        most_bytes = process->shared_bytes > most_bytes ? process->shared_bytes : most_bytes;
        for (size_t t = 0; t < process->thread_count; t++) {
            switches += process->threads[t].switches;
            wait_ns += process->threads[t].wait_ns;
        }
    }
    /* Of the ended members two things are known: what they had used when last seen, and what their parents were told
     * when they waited for them. Each can miss some; neither invents any. */
    uint64_t cpu_ns = own_ns + (tree->gone_own_ns > waited_ns ? tree->gone_own_ns : waited_ns);
    switches += tree->gone_switches;
    wait_ns += tree->gone_wait_ns;
    tree->cpu_ns = cpu_ns > tree->cpu_ns ? cpu_ns : tree->cpu_ns;
    tree->switches = switches > tree->switches ? switches : tree->switches;
    tree->wait_ns = wait_ns > tree->wait_ns ? wait_ns : tree->wait_ns;
    sample->wait_ns = tree->wait_ns;
    sample->cpu_ns = tree->cpu_ns;
    sample->switches = tree->switches;
    raise_peak(tree, sample);
    if (shared_bytes - most_bytes > tree->peak.shared_bytes)
        tree->peak.shared_bytes = shared_bytes - most_bytes;
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
        tree->list = ys_realloc(tree->list, tree->count, sizeof *tree->list);
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
