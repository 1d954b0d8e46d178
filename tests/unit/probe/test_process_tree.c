#include "probe/process_tree.h"
#include "machine.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

static struct ys_tree *open_made(pid_t top)
{
    struct ys_tree_options options = {.root = machine_root, .top = top};
    return ys_tree_open(&options);
}

static struct ys_tree *open_own(void)
{
    struct ys_tree_options options = {.root = "", .top = getpid()};
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
        abort();
    return ys_tree_open(&options);
}

/** Process 100 with 200 (3 threads) and its child 201; 300 is a stranger. */
static void make_family(void)
{
    machine_new();
    machine_process(100, 1, 'S', "top", 1, 1, 0, 1, 100, 400);
    machine_process(200, 100, 'S', "adapter", 50, 10, 7, 3, 1000, 5000);
    machine_process(210, 200, 'R', "worker (a)", 20, 5, 0, 1, 500, 9000);
    machine_process(300, 1, 'R', "stranger", 900, 900, 0, 50, 90000, 999999);
}

static void a_tree_is_found_by_parents_where_there_are_no_children_files(void)
{
    make_family();
    struct ys_tree *tree = open_made(100);
    struct ys_tree_sample sample;
    uint64_t tick_ns = 1000000000U / (uint64_t)sysconf(_SC_CLK_TCK), page = (uint64_t)sysconf(_SC_PAGESIZE);
    CHECK_INT(ys_tree_look(tree, &sample), YS_OK);
    CHECK_INT(sample.processes, 2);
    CHECK_INT(sample.threads, 4);
    CHECK_INT(sample.rss_bytes, 1500 * page);
    CHECK_INT(sample.cpu_ns, (50 + 10 + 20 + 5 + 7) * tick_ns);
    CHECK_INT(sample.switches, 4 * 13);
    ys_tree_close(tree);
}

static void processes_that_a_signal_holds_are_counted(void)
{
    make_family();
    machine_process(210, 200, 'T', "worker (a)", 20, 5, 0, 1, 500, 9000);
    struct ys_tree *tree = open_made(100);
    struct ys_tree_sample sample;
    CHECK_INT(ys_tree_look(tree, &sample), YS_OK);
    CHECK_INT(sample.stopped, 1);
    machine_process(210, 200, 'S', "worker (a)", 20, 5, 0, 1, 500, 9000);
    CHECK_INT(ys_tree_look(tree, &sample), YS_OK);
    CHECK_INT(sample.stopped, 0);
    ys_tree_close(tree);
}

static void a_tree_is_found_by_children_files(void)
{
    machine_new();
    machine_process(100, 1, 'S', "top", 1, 1, 0, 2, 100, 400);
    machine_file("/proc/100/task/100/children", "");
    machine_file("/proc/100/task/101/children", "200 ");
    /* The parents contradict the children files here, so that it shows which were read. */
    machine_process(200, 1, 'S', "adapter", 50, 10, 0, 1, 1000, 400);
    machine_file("/proc/200/task/200/children", "210 220 \n");
    machine_process(210, 1, 'S', "a", 1, 1, 0, 1, 10, 400);
    machine_process(220, 1, 'S', "b", 1, 1, 0, 1, 10, 400);
    struct ys_tree *tree = open_made(100);
    struct ys_tree_sample sample;
    CHECK_INT(ys_tree_look(tree, &sample), YS_OK);
    CHECK_INT(sample.processes, 3);
    ys_tree_close(tree);
}

static void the_peak_is_at_least_the_largest_that_the_kernel_saw_of_one_process(void)
{
    make_family();
    struct ys_tree *tree = open_made(100);
    struct ys_tree_sample sample;
    CHECK_INT(ys_tree_look(tree, &sample), YS_OK);
    CHECK_INT(ys_tree_peak(tree)->process_bytes, 9000 * 1024);
    CHECK_INT(ys_tree_peak(tree)->rss_bytes, 9000 * 1024); /* the sum of both was 1500 pages, less on most machines */
    CHECK_INT(ys_tree_peak(tree)->threads, 4);
    CHECK_INT(ys_tree_peak(tree)->processes, 2);
    CHECK_INT(ys_tree_peak(tree)->samples, 1);
    ys_tree_close(tree);
}

static void ended_processes_count_in_time_alone(void)
{
    make_family();
    machine_process(220, 200, 'Z', "ended", 30, 0, 0, 1, 777, 10);
    struct ys_tree *tree = open_made(100);
    struct ys_tree_sample sample;
    const struct ys_tree_member *members;
    size_t count;
    uint64_t tick_ns = 1000000000U / (uint64_t)sysconf(_SC_CLK_TCK);
    CHECK_INT(ys_tree_look(tree, &sample), YS_OK);
    CHECK_INT(sample.processes, 2);
    CHECK_INT(sample.threads, 4);
    CHECK_INT(sample.cpu_ns, (92 + 30) * tick_ns);
    CHECK_INT(ys_tree_list(tree, &members, &count), YS_OK);
    CHECK_INT(count, 3); /* to be waited for, so listed */
    ys_tree_close(tree);
}

static void a_machine_without_processes_has_an_empty_tree(void)
{
    machine_new();
    machine_file("/proc/version", "x");
    struct ys_tree *tree = open_made(100);
    struct ys_tree_sample sample;
    CHECK_INT(ys_tree_look(tree, &sample), YS_OK);
    CHECK_INT(sample.processes, 0);
    CHECK_INT(sample.rss_bytes, 0);
    ys_tree_close(tree);
}

static void a_machine_without_proc_is_told(void)
{
    machine_new();
    struct ys_tree *tree = open_made(100);
    struct ys_tree_sample sample;
    CHECK_INT(ys_tree_look(tree, &sample), YS_EIO);
    CHECK_HAS(ys_error(), "/proc");
    ys_tree_close(tree);
}

static void pause_ms(long ms)
{
    struct timespec span = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&span, NULL);
}

static void burn_ms(long ms)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
}

static void a_child_is_seen_with_its_time_and_memory(void)
{
    struct ys_tree *tree = open_own();
    struct ys_tree_sample sample;
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        size_t size = (size_t)64 << 20;
        char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(memory, 1, size);
        munmap(memory, size); /* a peak that no sample can see any more */
        burn_ms(100);
        ssize_t written = write(ready[1], "", 1);
        (void)written;
        pause();
        _exit(0);
    }
    char byte;
    CHECK_INT(read(ready[0], &byte, 1), 1);
    CHECK_INT(ys_tree_look(tree, &sample), YS_OK);
    CHECK_INT(sample.processes, 1);
    CHECK_INT(sample.threads, 1);
    CHECK(sample.cpu_ns >= 100000000 && sample.cpu_ns < 10000000000);
    CHECK(sample.rss_bytes < (uint64_t)64 << 20);
    CHECK(ys_tree_peak(tree)->process_bytes >= (uint64_t)64 << 20);
    CHECK(ys_tree_peak(tree)->rss_bytes >= (uint64_t)64 << 20);
    uint64_t before_ns = sample.cpu_ns;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    CHECK_INT(ys_tree_look(tree, &sample), YS_OK);
    CHECK_INT(sample.processes, 0);
    CHECK(sample.cpu_ns >= before_ns); /* what it had used is not forgotten */
    close(ready[0]);
    close(ready[1]);
    ys_tree_close(tree);
}

static void a_new_grandchild_is_found_and_an_orphan_stays(void)
{
    struct ys_tree *tree = open_own();
    struct ys_tree_sample sample;
    int ready[2], go[2];
    REQUIRE(pipe(ready) == 0 && pipe(go) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        ssize_t got = write(ready[1], "", 1);
        got = read(go[0], &byte, 1);
        if (fork() == 0) {
            setsid();
            got = write(ready[1], "", 1);
            pause();
        }
        got = read(go[0], &byte, 1);
        (void)got;
        _exit(0);
    }
    char byte;
    CHECK_INT(read(ready[0], &byte, 1), 1);
    CHECK_INT(ys_tree_look(tree, &sample), YS_OK);
    CHECK_INT(sample.processes, 1);
    CHECK_INT(write(go[1], "", 1), 1);
    CHECK_INT(read(ready[0], &byte, 1), 1);
    for (int tries = 0; tries < 50; tries++) { /* a search may be put off for its cost, on a busy machine for longer */
        pause_ms(100);
        CHECK_INT(ys_tree_look(tree, &sample), YS_OK);
        if (sample.processes == 2)
            break;
    }
    CHECK_INT(sample.processes, 2);
    CHECK_INT(write(go[1], "", 1), 1);
    CHECK_INT(waitpid(child, NULL, 0), child);
    const struct ys_tree_member *members;
    size_t count = 0;
    CHECK_INT(ys_tree_list(tree, &members, &count), YS_OK);
    CHECK_INT(count, 1);
    if (count == 1) {
        CHECK_INT(members[0].parent, getpid());
        pid_t orphan = members[0].pid;
        kill(orphan, SIGKILL);
        CHECK_INT(waitpid(orphan, NULL, 0), orphan);
    }
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(go[i]);
    }
    ys_tree_close(tree);
}

static void *idle_thread(void *context)
{
    (void)context;
    pause();
    return NULL;
}

static void threads_and_their_switches_are_counted(void)
{
    struct ys_tree *tree = open_own();
    struct ys_tree_sample first, second;
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        for (int i = 0; i < 5; i++)
            if (pthread_create(&thread, NULL, idle_thread, NULL) != 0)
                _exit(1);
        ssize_t written = write(ready[1], "", 1);
        (void)written;
        for (;;)
            pause_ms(1); /* a voluntary switch each */
    }
    char byte;
    CHECK_INT(read(ready[0], &byte, 1), 1);
    CHECK_INT(ys_tree_look(tree, &first), YS_OK);
    CHECK_INT(first.threads, 6);
    pause_ms(200);
    CHECK_INT(ys_tree_look(tree, &second), YS_OK);
    CHECK(second.switches > first.switches);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
    ys_tree_close(tree);
}

static void descriptors_are_given_back(void)
{
    int before = dup(0);
    close(before);
    struct ys_tree *tree = open_own();
    struct ys_tree_sample sample;
    for (int i = 0; i < 5; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            pause();
            _exit(0);
        }
        CHECK_INT(ys_tree_look(tree, &sample), YS_OK);
        pause_ms(20);
        CHECK_INT(ys_tree_look(tree, &sample), YS_OK);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        CHECK_INT(ys_tree_look(tree, &sample), YS_OK);
        CHECK_INT(sample.processes, 0);
    }
    ys_tree_close(tree);
    int after = dup(0);
    close(after);
    CHECK_INT(after, before);
}

TAP_MAIN(TAP_CASE(a_tree_is_found_by_parents_where_there_are_no_children_files),
         TAP_CASE(processes_that_a_signal_holds_are_counted), TAP_CASE(a_tree_is_found_by_children_files),
         TAP_CASE(the_peak_is_at_least_the_largest_that_the_kernel_saw_of_one_process),
         TAP_CASE(ended_processes_count_in_time_alone), TAP_CASE(a_machine_without_processes_has_an_empty_tree),
         TAP_CASE(a_machine_without_proc_is_told), TAP_CASE(a_child_is_seen_with_its_time_and_memory),
         TAP_CASE(a_new_grandchild_is_found_and_an_orphan_stays), TAP_CASE(threads_and_their_switches_are_counted),
         TAP_CASE(descriptors_are_given_back))
