/* What a session counts of all processes below it: processor time, memory, bytes; and the limits on that. */
#include "unit/run/session_fixture.h"

/* 0.2 s of processor time and 64 MiB in the adapter, 0.3 s and 128 MiB in a child of a child that is waited for. */
static bool burns_in_three(struct ys_series_set *series, struct ys_session_end *end)
{
    return opened("def burn(s, n):\n"
                  "    b = bytearray(n << 20)\n"
                  "    for i in range(0, len(b), 4096): b[i] = 1\n"
                  "    t = time.process_time() + s\n"
                  "    while time.process_time() < t: pass\n"
                  "def on(k, m):\n"
                  "    if k != 'open': return False\n"
                  "    if os.fork() == 0:\n"
                  "        if os.fork() == 0:\n"
                  "            burn(0.3, 128)\n"
                  "            os._exit(0)\n"
                  "        os.wait()\n"
                  "        os._exit(0)\n"
                  "    burn(0.2, 64)\n"
                  "    os.wait()\n"
                  "    return False\n"
                  "serve(on)",
                  (struct ys_launch){.sample_hz = 100, .samples = series}, YS_OK, end);
}

static void processor_time_and_memory_of_the_whole_tree_are_summed(void)
{
    struct ys_series_set series = {0};
    struct ys_session_end end;
    if (!burns_in_three(&series, &end))
        return;
    /* On a busy machine searches for new processes are rare, as they may take 0.5 % of a CPU: then it is done again. */
    for (int tries = 1; end.peak.processes < 3 && tries < 10; tries++) {
        ys_session_end_fini(&end);
        ys_series_set_free(&series);
        if (!burns_in_three(&series, &end))
            return;
    }
    CHECK_TEXT(ys_run_status_name(end.status), "ok");
    /* Each burns at least what it was told to; the rest is Python itself, well under two seconds on any machine. */
    CHECK(end.user_ns + end.system_ns >= 500000000);
    CHECK(end.user_ns + end.system_ns < 3000000000);
    CHECK(end.peak.process_bytes > (uint64_t)128 << 20);
    CHECK(end.peak.rss_bytes >= end.peak.process_bytes);
    CHECK(end.peak.processes >= 3); /* more where the command python3 is itself a script that asks others */
    CHECK(end.voluntary_switches > 0);
    CHECK_INT(end.unwaited_ns, 0);
    const struct ys_series *cpu = ys_series_find(&series, "sample_cpu_ns");
    REQUIRE(cpu && cpu->count > 5);
    for (size_t i = 1; i < cpu->count; i++)
        CHECK(cpu->ints[i] >= cpu->ints[i - 1]);
    CHECK((uint64_t)cpu->ints[cpu->count - 1] <=
          end.user_ns + end.system_ns + 20000000); /* ticks of 10 ms blur two terms */
    CHECK_INT(ys_series_find(&series, "sample_switches")->count, cpu->count);
    ys_session_end_fini(&end);
    ys_series_set_free(&series);
}

/* 0.6 s in a child whose parent ignores its end. */
#define UNWAITED                                                                                                       \
    "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"                                                                  \
    "def on(k, m):\n"                                                                                                  \
    "    if k != 'open': return False\n"                                                                               \
    "    if os.fork() == 0:\n"                                                                                         \
    "        t = time.process_time() + 0.6\n"                                                                          \
    "        while time.process_time() < t: pass\n"                                                                    \
    "        os._exit(0)\n"                                                                                            \
    "    try: os.wait()\n"                                                                                             \
    "    except ChildProcessError: pass\n"                                                                             \
    "    return False\n"                                                                                               \
    "serve(on)"

static void processor_time_that_nobody_waited_for_is_told(void)
{
    struct ys_session_end end;
    setenv("YARDSTICK_CGROUP", "off", 1);
    bool has_run = opened(UNWAITED, (struct ys_launch){.sample_hz = 50}, YS_OK, &end);
    /* On a busy machine samples are rare, and most of it may come after the last one: then it is done again. */
    for (int tries = 1; has_run && end.unwaited_ns <= 300000000 && tries < 10; tries++) {
        ys_session_end_fini(&end);
        has_run = opened(UNWAITED, (struct ys_launch){.sample_hz = 50}, YS_OK, &end);
    }
    unsetenv("YARDSTICK_CGROUP");
    if (!has_run)
        return;
    CHECK(!end.observed.grouped);
    CHECK_HAS(end.observed.group, "YARDSTICK_CGROUP");
    CHECK_TEXT(ys_run_status_name(end.status), "ok");
    CHECK(end.unwaited_ns > 300000000); /* of 0.6 s; what came after the last sample of the child is lost */
    CHECK_HAS(fixture_warning(end.warnings), "nobody waited for");
    ys_session_end_fini(&end);
}

/** False, and a skipped case, where yardstick may not make control groups. */
static bool has_groups(const struct ys_session_end *end)
{
    if (!end->observed.grouped || end->observed.cache_peak_bytes == YS_FIELD_NONE)
        tap_skip("no control group with memory can be made here: %s", end->observed.group);
    return end->observed.grouped && end->observed.cache_peak_bytes != YS_FIELD_NONE;
}

static void a_control_group_counts_what_nobody_waited_for(void)
{
    struct ys_session_end end;
    if (!opened(UNWAITED, (struct ys_launch){0}, YS_OK, &end))
        return;
    CHECK_TEXT(ys_run_status_name(end.status), "ok");
    if (has_groups(&end)) {
        CHECK(end.user_ns + end.system_ns > 600000000 && end.user_ns + end.system_ns < 3000000000);
        CHECK_INT(end.unwaited_ns, 0);
        CHECK(!fixture_warning(end.warnings));
    }
    ys_session_end_fini(&end);
}

static void a_control_group_keeps_the_limit_on_memory(void)
{
    struct ys_session_end end;
    if (!opened("def on(k, m):\n"
                "    if k != 'open': return False\n"
                "    hold = []\n"
                "    while len(hold) < 4096: hold.append(bytearray(1 << 20))\n"
                "    return False\n"
                "serve(on)",
                (struct ys_launch){.memory_limit_bytes = 200000000}, YS_EIO, &end))
        return;
    CHECK_TEXT(ys_run_status_name(end.status), "oom_host");
    if (has_groups(&end)) {
        CHECK_HAS(end.message, "200 MB of memory_limit");
        CHECK(end.observed.memory_peak_bytes <= 200000000);
    }
    ys_session_end_fini(&end);
}

/* Two children that hold 40 MB each, and 50 MB of a file, all gone before anybody looks: no sample saw it, the kernel
 * did. */
static void what_no_sample_saw_lies_between_bounds(void)
{
    struct ys_session_end end;
    if (!opened("def on(k, m):\n"
                "    if k != 'open': return False\n"
                "    with open('bytes', 'wb') as f: f.write(bytes(50000000))\n"
                "    for i in range(2):\n"
                "        if os.fork() == 0:\n"
                "            hold = bytearray(b'x') * 40000000\n"
                "            os._exit(0)\n"
                "        os.wait()\n"
                "    os.remove('bytes')\n"
                "    return False\n"
                "serve(on)",
                (struct ys_launch){0}, YS_OK, &end))
        return;
    if (has_groups(&end) && end.observed.memory_peak_bytes != YS_FIELD_NONE) {
        CHECK(end.observed.memory_own_least_bytes < 60000000); /* Python alone */
        CHECK(end.observed.memory_own_most_bytes > 80000000 &&
              end.observed.memory_own_most_bytes <= end.observed.memory_peak_bytes);
        CHECK(end.observed.memory_own_peak_bytes >= end.observed.memory_own_least_bytes);
        CHECK(end.observed.memory_own_peak_bytes <= end.observed.memory_own_most_bytes);
    }
    ys_session_end_fini(&end);
}

static void processor_time_has_a_limit(void)
{
    struct ys_session_end end;
    if (!opened("def on(k, m):\n"
                "    while k == 'open': pass\n"
                "    return False\n"
                "serve(on)",
                (struct ys_launch){.cpu_time_limit_s = 0.3}, YS_ETIMEOUT, &end))
        return;
    CHECK_TEXT(ys_run_status_name(end.status), "timeout_cpu");
    CHECK_HAS(end.message, "cpu_time_limit");
    ys_session_end_fini(&end);
}

static void bytes_that_were_written_and_read_are_counted(void)
{
    struct ys_session_end end;
    if (!opened("def on(k, m):\n"
                "    if k != 'open': return False\n"
                "    if os.fork() == 0:\n"
                "        with open('bytes', 'wb') as f: f.write(bytes(5000000))\n"
                "        os._exit(0)\n"
                "    os.wait()\n"
                "    with open('bytes', 'rb') as f: f.read()\n"
                "    return False\n"
                "serve(on)",
                (struct ys_launch){0}, YS_OK, &end))
        return;
    if (end.observed.read_bytes == YS_FIELD_NONE) {
        tap_skip("the kernel counts no bytes");
    } else {
        CHECK(end.observed.written_bytes >= 5000000 && end.observed.written_bytes < 5100000);
        CHECK(end.observed.read_bytes >= 5000000);
        CHECK(end.minor_faults > 100);
    }
    ys_session_end_fini(&end);
}

TAP_MAIN(TAP_CASE(processor_time_and_memory_of_the_whole_tree_are_summed),
         TAP_CASE(processor_time_that_nobody_waited_for_is_told),
         TAP_CASE(a_control_group_counts_what_nobody_waited_for), TAP_CASE(a_control_group_keeps_the_limit_on_memory),
         TAP_CASE(what_no_sample_saw_lies_between_bounds), TAP_CASE(processor_time_has_a_limit),
         TAP_CASE(bytes_that_were_written_and_read_are_counted))
