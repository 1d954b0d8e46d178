#include "probe/procfs.h"
#include "machine.h"

static void a_list_of_ranges_is_expanded(void)
{
    int values[16];
    CHECK_INT(ys_procfs_list("0-3,8,10-11\n", values, 16), 7);
    static const int expected[] = {0, 1, 2, 3, 8, 10, 11};
    for (int i = 0; i < 7; i++)
        CHECK_INT(values[i], expected[i]);
    CHECK_INT(ys_procfs_list("", values, 16), 0);
    CHECK_INT(ys_procfs_list("\t5\n", values, 16), 1);
    CHECK_INT(values[0], 5);
}

static void a_list_longer_than_the_room_is_counted_whole(void)
{
    int values[2] = {-1, -1};
    CHECK_INT(ys_procfs_list("4-400", values, 2), 397);
    CHECK_INT(values[1], 5);
}

static void what_is_no_list_is_refused(void)
{
    int values[4];
    CHECK_INT(ys_procfs_list("0-", values, 4), -1);
    CHECK_INT(ys_procfs_list("3-1", values, 4), -1);
    CHECK_INT(ys_procfs_list("a", values, 4), -1);
    CHECK_INT(ys_procfs_list("1;2", values, 4), -1);
    CHECK_INT(ys_procfs_list("0-99999999", values, 4), -1);
}

static void a_stat_line_is_read_whatever_the_name(void)
{
    struct ys_proc_stat stat;
    CHECK(ys_procfs_stat("42 (odd) name (x)) R 7 42 42 0 -1 0 1 2 3 4 50 60 70 80 20 0 9 0 1234 99999 321 0", &stat));
    CHECK_INT(stat.state, 'R');
    CHECK_INT(stat.parent, 7);
    CHECK_INT(stat.user, 50);
    CHECK_INT(stat.system, 60);
    CHECK_INT(stat.waited_user, 70);
    CHECK_INT(stat.waited_system, 80);
    CHECK_INT(stat.threads, 9);
    CHECK_INT(stat.start, 1234);
    CHECK_INT(stat.resident_pages, 321);
}

static void a_negative_size_counts_as_none(void)
{
    struct ys_proc_stat stat;
    CHECK(ys_procfs_stat("42 (x) R 7 42 42 0 -1 0 1 2 3 4 50 60 70 80 20 0 9 0 1234 99999 -5 0", &stat));
    CHECK_INT(stat.resident_pages, 0);
}

static void half_a_stat_line_is_refused(void)
{
    struct ys_proc_stat stat;
    CHECK(!ys_procfs_stat("", &stat));
    CHECK(!ys_procfs_stat("42 (x", &stat));
    CHECK(!ys_procfs_stat("42 (x) R 7 42", &stat));
}

static void our_own_stat_line_is_read(void)
{
    char text[1024];
    struct ys_proc_stat stat;
    REQUIRE(ys_procfs_read("", "/proc/self/stat", text, sizeof text) > 0);
    CHECK(ys_procfs_stat(text, &stat));
    CHECK_INT(stat.parent, getppid());
    CHECK_INT(stat.state, 'R');
    CHECK(stat.resident_pages > 50);
}

static void fields_begin_at_the_start_of_a_line(void)
{
    int64_t number = -1;
    const char *text = "nonvoluntary_ctxt_switches:\t7\nvoluntary_ctxt_switches:\t5\noom_kill 3\nVmHWM:\t   12 kB\n";
    CHECK(ys_procfs_field(text, "voluntary_ctxt_switches", &number));
    CHECK_INT(number, 5);
    CHECK(ys_procfs_field(text, "oom_kill", &number));
    CHECK_INT(number, 3);
    CHECK(ys_procfs_field(text, "VmHWM", &number));
    CHECK_INT(number, 12);
    CHECK(!ys_procfs_field(text, "Vm", &number));
    CHECK(!ys_procfs_field(text, "VmRSS", &number));
}

static void a_line_is_read_without_blanks_and_a_missing_file_is_told(void)
{
    char text[64];
    int64_t number;
    const char *root = machine_new();
    machine_file("/sys/x", "  some text \nmore\n");
    machine_file("/sys/n", "-17\n");
    machine_file("/sys/empty", "");
    CHECK(ys_procfs_line(root, "/sys/x", text, sizeof text));
    CHECK_TEXT(text, "some text");
    CHECK(ys_procfs_number(root, "/sys/n", &number));
    CHECK_INT(number, -17);
    CHECK(!ys_procfs_number(root, "/sys/x", &number));
    CHECK(!ys_procfs_line(root, "/sys/empty", text, sizeof text));
    CHECK(!ys_procfs_line(root, "/sys/absent", text, sizeof text));
}

static void masks_are_read_from_their_end(void)
{
    int values[4];
    CHECK_INT(ys_procfs_mask("00000000,00000101", values, 4), 2);
    CHECK_INT(values[0], 0);
    CHECK_INT(values[1], 8);
    CHECK_INT(ys_procfs_mask("1,00000000\n", values, 4), 1);
    CHECK_INT(values[0], 32);
    CHECK_INT(ys_procfs_mask(" F", values, 2), 4); /* more than there is room for */
    CHECK_INT(ys_procfs_mask("0-3", values, 4), -1);
}

TAP_MAIN(TAP_CASE(masks_are_read_from_their_end), TAP_CASE(a_list_of_ranges_is_expanded),
         TAP_CASE(a_list_longer_than_the_room_is_counted_whole), TAP_CASE(what_is_no_list_is_refused),
         TAP_CASE(a_stat_line_is_read_whatever_the_name), TAP_CASE(a_negative_size_counts_as_none),
         TAP_CASE(half_a_stat_line_is_refused), TAP_CASE(our_own_stat_line_is_read),
         TAP_CASE(fields_begin_at_the_start_of_a_line),
         TAP_CASE(a_line_is_read_without_blanks_and_a_missing_file_is_told))
