#include "probe/profile.h"

#include "probe/perf.h"
#include "tap.h"

#include <linux/perf_event.h>
#include <string.h>

static void code_is_known_by_its_file(void)
{
    static const struct {
        const char *path;
        enum ys_code code;
    } cases[] = {
        {"/usr/bin/python3.11", YS_CODE_INTERPRETER},
        {"/usr/lib/python3.11/lib-dynload/math.cpython-311-x86_64-linux-gnu.so", YS_CODE_INTERPRETER},
        {"/opt/env/lib/libpython3.12.so.1.0", YS_CODE_INTERPRETER},
        {"/env/site-packages/numpy.libs/libscipy_openblas64_-8fb3d286.so", YS_CODE_BLAS},
        {"/usr/lib/libmkl_core.so.2", YS_CODE_BLAS},
        {"/env/site-packages/torch/lib/libgomp-a34b3233.so.1", YS_CODE_OPENMP},
        {"/usr/lib/libdnnl.so.3", YS_CODE_PRIMITIVES},
        {"/env/site-packages/torch/lib/libtorch_cpu.so", YS_CODE_FRAMEWORK},
        {"/env/site-packages/torch/lib/libshm.so", YS_CODE_FRAMEWORK},
        {"/usr/bin/yardstick-builtin", YS_CODE_FRAMEWORK},
        {"/usr/lib/x86_64-linux-gnu/libc.so.6", YS_CODE_SYSTEM},
        {"/usr/lib/x86_64-linux-gnu/libm.so.6", YS_CODE_SYSTEM},
        {"/lib64/ld-linux-x86-64.so.2", YS_CODE_SYSTEM},
        {"[vdso]", YS_CODE_SYSTEM},
        {"//anon", YS_CODE_GENERATED},
        {"/memfd:xla_jit (deleted)", YS_CODE_GENERATED},
        {"/home/me/model.so", YS_CODE_UNKNOWN},
        {"", YS_CODE_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_INT(ys_code_of(cases[i].path), cases[i].code);
}

/* Records as the kernel writes them. */
struct bytes {
    unsigned char data[512];
    size_t size;
};

static void put(struct bytes *bytes, const void *data, size_t size)
{
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static void put_u32(struct bytes *bytes, uint32_t value)
{
    put(bytes, &value, sizeof value);
}

static void put_u64(struct bytes *bytes, uint64_t value)
{
    put(bytes, &value, sizeof value);
}

static void add(struct ys_profile *profile, struct bytes *bytes, uint32_t type, unsigned misc)
{
    struct perf_event_header header = {.type = type, .misc = (uint16_t)misc, .size = (uint16_t)bytes->size};
    memcpy(bytes->data, &header, sizeof header);
    ys_profile_add(profile, bytes->data, bytes->size);
}

static struct bytes begun(void)
{
    return (struct bytes){.size = sizeof(struct perf_event_header)};
}

static void trail(struct bytes *bytes, uint32_t pid, uint64_t t_ns)
{
    put_u32(bytes, pid);
    put_u32(bytes, pid);
    put_u64(bytes, t_ns);
}

static void map(struct ys_profile *profile, uint32_t pid, uint64_t t_ns, uint64_t address, uint64_t size,
                const char *path)
{
    struct bytes bytes = begun();
    char padded[256] = {0};
    snprintf(padded, sizeof padded, "%s", path);
    put_u32(&bytes, pid);
    put_u32(&bytes, pid);
    put_u64(&bytes, address);
    put_u64(&bytes, size);
    put_u64(&bytes, 0);
    put(&bytes, padded, (strlen(path) / 8 + 1) * 8);
    trail(&bytes, pid, t_ns);
    add(profile, &bytes, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
}

static void sample(struct ys_profile *profile, uint32_t pid, uint64_t t_ns, uint64_t address, unsigned mode)
{
    struct bytes bytes = begun();
    put_u64(&bytes, address);
    put_u32(&bytes, pid);
    put_u32(&bytes, pid + 1); /* a thread of it */
    put_u64(&bytes, t_ns);
    add(profile, &bytes, PERF_RECORD_SAMPLE, mode);
}

static void life(struct ys_profile *profile, uint32_t type, uint32_t pid, uint32_t parent, uint32_t tid, uint64_t t_ns)
{
    struct bytes bytes = begun();
    put_u32(&bytes, pid);
    put_u32(&bytes, parent);
    put_u32(&bytes, tid);
    put_u32(&bytes, parent);
    put_u64(&bytes, t_ns);
    trail(&bytes, pid, t_ns);
    add(profile, &bytes, type, 0);
}

static void become(struct ys_profile *profile, uint32_t pid, uint64_t t_ns)
{
    struct bytes bytes = begun();
    put_u32(&bytes, pid);
    put_u32(&bytes, pid);
    put(&bytes, "another", 8);
    trail(&bytes, pid, t_ns);
    add(profile, &bytes, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
}

static uint64_t of(const struct ys_profile *profile, enum ys_profile_phase phase, enum ys_code code)
{
    return ys_profile_counts(profile).samples[phase][code];
}

static void samples_go_to_the_file_and_the_phase_in_which_they_lie(void)
{
    struct ys_profile *profile = ys_profile_new();
    map(profile, 7, 10, 0x1000, 0x1000, "/usr/bin/python3.11");
    map(profile, 7, 11, 0x2000, 0x1000, "/usr/lib/libopenblas.so.0");
    map(profile, 7, 12, 0x3000, 0x1000, "//anon");
    sample(profile, 7, 20, 0x1234, PERF_RECORD_MISC_USER);
    sample(profile, 7, 30, 0x2000, PERF_RECORD_MISC_USER);
    sample(profile, 7, 31, 0x2fff, PERF_RECORD_MISC_USER);
    sample(profile, 7, 32, 0x3000, PERF_RECORD_MISC_USER);
    sample(profile, 7, 33, 0x9000, PERF_RECORD_MISC_USER);
    sample(profile, 7, 34, 0x1234, PERF_RECORD_MISC_KERNEL);
    sample(profile, 7, 50, 0x1fff, PERF_RECORD_MISC_USER);
    ys_profile_begin(profile, YS_PROFILE_STEADY, 30);
    ys_profile_begin(profile, YS_PROFILE_AFTER, 50);
    ys_profile_settle(profile, UINT64_MAX);
    CHECK_INT(of(profile, YS_PROFILE_STARTUP, YS_CODE_INTERPRETER), 1);
    CHECK_INT(of(profile, YS_PROFILE_STEADY, YS_CODE_BLAS), 2);
    CHECK_INT(of(profile, YS_PROFILE_STEADY, YS_CODE_GENERATED), 1);
    CHECK_INT(of(profile, YS_PROFILE_STEADY, YS_CODE_UNKNOWN), 1);
    CHECK_INT(of(profile, YS_PROFILE_STEADY, YS_CODE_KERNEL), 1);
    CHECK_INT(of(profile, YS_PROFILE_STEADY, YS_CODE_INTERPRETER), 0);
    CHECK_INT(of(profile, YS_PROFILE_AFTER, YS_CODE_INTERPRETER), 1);
    ys_profile_free(profile);
}

static void rings_of_several_cpus_are_put_in_order_of_time(void)
{
    struct ys_profile *profile = ys_profile_new();
    sample(profile, 7, 40, 0x1100, PERF_RECORD_MISC_USER); /* of another CPU's ring, read first */
    sample(profile, 7, 90, 0x1100, PERF_RECORD_MISC_USER);
    map(profile, 7, 10, 0x1000, 0x1000, "/usr/lib/libc.so.6");
    ys_profile_settle(profile, 50);
    CHECK_INT(of(profile, YS_PROFILE_STARTUP, YS_CODE_SYSTEM), 1);
    map(profile, 7, 60, 0x1000, 0x1000, "/usr/lib/libgomp.so.1"); /* in the place of the other */
    ys_profile_settle(profile, UINT64_MAX);
    CHECK_INT(of(profile, YS_PROFILE_STARTUP, YS_CODE_OPENMP), 1);
    CHECK_INT(of(profile, YS_PROFILE_STARTUP, YS_CODE_SYSTEM), 1);
    ys_profile_free(profile);
}

static void children_begin_with_their_parents_mappings_until_they_become_another_program(void)
{
    struct ys_profile *profile = ys_profile_new();
    map(profile, 7, 10, 0x1000, 0x1000, "/usr/bin/python3.11");
    life(profile, PERF_RECORD_FORK, 8, 7, 8, 20);
    life(profile, PERF_RECORD_FORK, 7, 7, 9, 21); /* a thread */
    life(profile, PERF_RECORD_EXIT, 7, 7, 9, 22);
    sample(profile, 8, 30, 0x1100, PERF_RECORD_MISC_USER);
    sample(profile, 7, 31, 0x1100, PERF_RECORD_MISC_USER);
    become(profile, 8, 40);
    sample(profile, 8, 41, 0x1100, PERF_RECORD_MISC_USER);
    life(profile, PERF_RECORD_EXIT, 7, 1, 7, 50);
    sample(profile, 7, 60, 0x1100, PERF_RECORD_MISC_USER); /* another one of that number */
    ys_profile_settle(profile, UINT64_MAX);
    CHECK_INT(of(profile, YS_PROFILE_STARTUP, YS_CODE_INTERPRETER), 2);
    CHECK_INT(of(profile, YS_PROFILE_STARTUP, YS_CODE_UNKNOWN), 2);
    ys_profile_free(profile);
}

static void what_is_lost_is_counted_and_what_is_damaged_passed_over(void)
{
    struct ys_profile *profile = ys_profile_new();
    struct bytes bytes = begun();
    put_u64(&bytes, 1);
    put_u64(&bytes, 12);
    trail(&bytes, 7, 5);
    add(profile, &bytes, PERF_RECORD_LOST, 0);
    for (uint32_t type = 0; type < 20; type++) {
        struct bytes cut = begun();
        put_u32(&cut, 7);
        add(profile, &cut, type, 0);
        struct bytes short_of_one = begun();
        put_u64(&short_of_one, 7);
        put_u64(&short_of_one, 7);
        if (type != PERF_RECORD_LOST)
            add(profile, &short_of_one, type, PERF_RECORD_MISC_COMM_EXEC);
    }
    ys_profile_add(profile, "x", 1);
    ys_profile_settle(profile, UINT64_MAX);
    CHECK_INT(ys_profile_counts(profile).lost, 12);
    for (int code = 0; code < YS_CODE_COUNT; code++)
        CHECK_INT(of(profile, YS_PROFILE_STARTUP, (enum ys_code)code), 0);
    ys_profile_free(profile);
}

static void a_kernel_that_does_not_sample_says_why(void)
{
    struct ys_perf *perf = NULL;
    struct ys_profile_counts counts;
    bool in_kernel;
    ys_status status = ys_perf_open(&perf);
    if (status != YS_OK) {
        CHECK_INT(status, YS_ENOTFOUND);
        CHECK(ys_error()[0]);
        return;
    }
    for (volatile uint64_t i = 0; i < 30000000; i++) /* its own time is none of it */
        ;
    ys_perf_read(perf, &counts, &in_kernel);
    for (int code = 0; code < YS_CODE_COUNT; code++)
        CHECK_INT(counts.samples[YS_PROFILE_STARTUP][code], 0);
    ys_perf_close(perf);
}

TAP_MAIN(TAP_CASE(code_is_known_by_its_file), TAP_CASE(samples_go_to_the_file_and_the_phase_in_which_they_lie),
         TAP_CASE(rings_of_several_cpus_are_put_in_order_of_time),
         TAP_CASE(children_begin_with_their_parents_mappings_until_they_become_another_program),
         TAP_CASE(what_is_lost_is_counted_and_what_is_damaged_passed_over),
         TAP_CASE(a_kernel_that_does_not_sample_says_why))
