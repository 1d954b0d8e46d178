#include "probe/thread_count.h"
#include "base/json/record.h"
#include "machine.h"
#include <math.h>

static struct ys_threads_worked since(const char *root, const struct ys_thread_uses *before)
{
    struct ys_thread_uses after = {0};
    ys_threads_note(root, 7, &after);
    const struct ys_threads_worked worked = ys_threads_worked(root, before, &after);
    ys_threads_fini(&after);
    return worked;
}

static double count(const char *root)
{
    return since(root, &(struct ys_thread_uses){0}).shared;
}

/* The first thread began with 5 s, of loading say; then it worked for 2 s, a second one as long, and a third hardly. */
static void what_was_used_before_the_work_is_none_of_it(void)
{
    const char *root = machine_new();
    struct ys_thread_uses before = {0};
    machine_file("/proc/7/task/7/schedstat", "5000000000 12 4\n");
    machine_file("/proc/7/task/7/status", "Name:\tx\nCpus_allowed_list:\t1\n");
    ys_threads_note(root, 7, &before);
    machine_file("/proc/7/task/7/schedstat", "7000000000 12 4\n");
    machine_file("/proc/7/task/8/schedstat", "2000000000 12 4\n");
    machine_file("/proc/7/task/8/status", "Name:\tx\nCpus_allowed_list:\t1\n");
    machine_file("/proc/7/task/9/schedstat", "1000000 12 4\n");
    machine_file("/proc/7/task/9/status", "Name:\tx\nCpus_allowed_list:\t0-3\n");
    struct ys_threads_worked worked = since(root, &before);
    CHECK_NEAR(worked.shared, 2, 0.01);
    CHECK_INT(worked.cpus, 1);
    CHECK(ys_threads_alone(worked.shared, worked.cpus, 1));
    machine_file("/proc/7/task/8/status", "Name:\tx\nCpus_allowed_list:\t0-1\n");
    worked = since(root, &before);
    CHECK_INT(worked.cpus, 2);
    CHECK(!ys_threads_alone(worked.shared, worked.cpus, 1));
    ys_threads_fini(&before);
}

static void one_that_does_nine_tenths_of_the_work_is_alone(void)
{
    CHECK(ys_threads_alone(1 / (0.91 * 0.91 + 0.09 * 0.09), 2, 1));
    CHECK(!ys_threads_alone(1 / (0.89 * 0.89 + 0.11 * 0.11), 2, 1));
    CHECK(ys_threads_alone(2.2, 4, 2) && !ys_threads_alone(3.9, 4, 2));
    CHECK(!ys_threads_alone(0, 0, 1) && !ys_threads_alone(NAN, YS_FIELD_NONE, 1));
}

static void threads_that_work_alike_count_whole(void)
{
    const char *root = machine_new();
    machine_file("/proc/7/task/7/schedstat", "3000000000 12 4\n");
    machine_file("/proc/7/task/8/schedstat", "3000000000 12 4\n");
    machine_file("/proc/7/task/9/schedstat", "3000000000 12 4\n");
    CHECK(fabs(count(root) - 3) < 1e-12);
}

static void idle_threads_count_little(void)
{
    const char *root = machine_new();
    machine_file("/proc/7/task/7/schedstat", "10000000000 12 4\n");
    for (int thread = 8; thread < 40; thread++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/7/task/%d/schedstat", thread);
        machine_file(path, "1000000 12 4\n");
    }
    CHECK(count(root) > 1 && count(root) < 1.01); /* (10 + 32 * 0.001)^2 / (100 + 32e-6) = 1.0064 */
}

static void a_process_that_is_gone_adds_nothing(void)
{
    CHECK(count(machine_new()) == 0);
    CHECK_INT(ys_threads_running(machine_new(), 7), 0);
}

static void threads_that_a_signal_has_not_stopped_yet_are_counted(void)
{
    static const char states[] = {'T', 'R', 'S', 'Z'};
    const char *root = machine_new();
    for (size_t i = 0; i < sizeof states; i++) {
        char path[64], text[200];
        snprintf(path, sizeof path, "/proc/7/task/%zu/stat", 7 + i);
        snprintf(text, sizeof text, "7 (a (b) c) %c 1 7 7 0 -1 0 0 0 0 0 5 6 7 8 20 0 1 0 99 0 3\n", states[i]);
        machine_file(path, text);
    }
    CHECK_INT(ys_threads_running(root, 7), 2);
}

static void threads_that_unbound_themselves_are_counted(void)
{
    const char *root = machine_new();
    const int given[] = {0, 2, 3};
    machine_file("/proc/7/task/7/status", "Name:\tx\nCpus_allowed:\td\nCpus_allowed_list:\t0,2-3\nMems_allowed:\t1\n");
    machine_file("/proc/7/task/8/status", "Name:\tx\nCpus_allowed_list:\t2\n");
    CHECK_INT(ys_threads_astray(root, 7, given, 3), 0);
    machine_file("/proc/7/task/9/status", "Name:\tx\nCpus_allowed_list:\t0-3\n");
    CHECK_INT(ys_threads_astray(root, 7, given, 3), 1);
    CHECK_INT(ys_threads_astray(root, 8, given, 3), 0);
}

TAP_MAIN(TAP_CASE(threads_that_work_alike_count_whole), TAP_CASE(what_was_used_before_the_work_is_none_of_it),
         TAP_CASE(one_that_does_nine_tenths_of_the_work_is_alone),
         TAP_CASE(threads_that_unbound_themselves_are_counted), TAP_CASE(idle_threads_count_little),
         TAP_CASE(a_process_that_is_gone_adds_nothing), TAP_CASE(threads_that_a_signal_has_not_stopped_yet_are_counted))
