#include "probe/profile.h"

#include "base/mem.h"
#include "probe/mapped_libraries.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One thing that happened; records begin with a struct perf_event_header. */
struct event {
    uint64_t t_ns, order; /* order: in which it came, where times are equal */
    uint32_t type, pid, parent;
    uint64_t address, size; /* of a mapping; address: of a sample */
    enum ys_code code;      /* of a mapping; of a sample YS_CODE_KERNEL or YS_CODE_UNKNOWN */
};

struct mapping {
    uint32_t pid;
    uint64_t begin, end;
    enum ys_code code;
};

struct ys_profile {
    struct event *events;
    size_t event_count, event_room;
    struct mapping *mappings; /* later ones lie over earlier ones */
    size_t mapping_count, mapping_room;
    uint64_t added;
    uint64_t begins_ns[YS_PROFILE_PHASES];
    struct ys_profile_counts counts;
};

static bool begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static enum ys_code code_of_kind(const char *kind)
{
    static const struct {
        const char *kind;
        enum ys_code code;
    } kinds[] = {{"blas", YS_CODE_BLAS},
                 {"openmp", YS_CODE_OPENMP},
                 {"threads", YS_CODE_OPENMP},
                 {"primitives", YS_CODE_PRIMITIVES},
                 {"framework", YS_CODE_FRAMEWORK},
                 {"device", YS_CODE_FRAMEWORK},
                 {"communication", YS_CODE_FRAMEWORK},
                 {"allocator", YS_CODE_SYSTEM}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].kind, kind) == 0)
            return kinds[i].code;
    return YS_CODE_UNKNOWN;
}

static bool has_word(const char *path, const char *const *words)
{
    for (; *words; words++)
        if (strstr(path, *words))
            return true;
    return false;
}

enum ys_code ys_code_of(const char *path)
{
    static const char *const of_frameworks[] = {"/torch/",  "/jaxlib/",      "/tensorflow/", "/mxnet/",
                                                "/paddle/", "/onnxruntime/", "/yardstick-",  NULL};
    static const char *const of_interpreters[] = {"/lib-dynload/", NULL};
    static const char *const interpreters[] = {"python", "libpython", "lua",      "libluajit",
                                               "node",   "julia",     "libjulia", NULL};
    static const char *const of_system[] = {"libc.",      "libc-",     "libm.",    "libm-",  "ld-linux", "ld-",
                                            "libpthread", "libstdc++", "libgcc_s", "libdl.", "librt.",   NULL};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (path[0] == '[')
        return begins(path, "[heap]") || begins(path, "[stack") || begins(path, "[anon") ? YS_CODE_GENERATED
                                                                                         : YS_CODE_SYSTEM;
    if (begins(path, "//anon") || begins(path, "/memfd:") || begins(path, "/dev/zero") || begins(path, "anon_inode:"))
        return YS_CODE_GENERATED;
    if (path[0] != '/')
        return YS_CODE_UNKNOWN;
    const char *kind = ys_maps_kind(name);
    if (kind)
        return code_of_kind(kind);
    for (const char *const *word = interpreters; *word; word++)
        if (begins(name, *word))
            return YS_CODE_INTERPRETER;
    for (const char *const *word = of_system; *word; word++)
        if (begins(name, *word))
            return YS_CODE_SYSTEM;
    if (has_word(path, of_interpreters))
        return YS_CODE_INTERPRETER;
    return has_word(path, of_frameworks) ? YS_CODE_FRAMEWORK : YS_CODE_UNKNOWN;
}

struct ys_profile *ys_profile_new(void)
{
    struct ys_profile *profile = ys_alloc(1, sizeof *profile);
    profile->begins_ns[YS_PROFILE_STEADY] = profile->begins_ns[YS_PROFILE_AFTER] = UINT64_MAX;
    return profile;
}

void ys_profile_free(struct ys_profile *profile)
{
    if (!profile)
        return;
    ys_free(profile->events);
    ys_free(profile->mappings);
    ys_free(profile);
}

static uint64_t read_u64(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint32_t read_u32(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* The members of each record after its header. Every one but a sample ends with pid, tid and time of its own. */
enum {
    TRAILER = 16,
    LEAST_MAPPING = 8 + 24 + 1 + TRAILER,
    LEAST_FORK = 24 + TRAILER,
    LEAST_COMM = 8 + 1 + TRAILER,
    LEAST_SAMPLE = 24,
    LEAST_LOST = 16
};

static void read_sample(const struct perf_event_header *header, const unsigned char *body, struct event *event)
{
    unsigned mode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    event->address = read_u64(body);
    event->pid = read_u32(body + 8);
    event->t_ns = read_u64(body + 16);
    event->code = mode == PERF_RECORD_MISC_USER ? YS_CODE_UNKNOWN : YS_CODE_KERNEL;
}

static void read_mapping(const unsigned char *body, size_t size, struct event *event)
{
    char path[4096];
    size_t room = size - 32 - TRAILER;
    room = room < sizeof path ? room : sizeof path - 1;
    memcpy(path, body + 32, room);
    path[room] = 0;
    event->pid = read_u32(body);
    event->address = read_u64(body + 8);
    event->size = read_u64(body + 16);
    event->code = ys_code_of(path);
}

/* False for one that says nothing here. */
static bool read_record(const struct perf_event_header *header, const unsigned char *body, size_t size,
                        struct event *event)
{
    event->type = header->type;
    if (header->type == PERF_RECORD_SAMPLE) {
        if (size < LEAST_SAMPLE)
            return false;
        read_sample(header, body, event);
        return true;
    }
    if (size < TRAILER)
        return false;
    event->t_ns = read_u64(body + size - 8);
    event->pid = read_u32(body);
    switch (header->type) {
    case PERF_RECORD_MMAP:
        if (size < LEAST_MAPPING)
            return false;
        read_mapping(body, size, event);
        return true;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        if (size < LEAST_FORK)
            return false;
        event->parent = read_u32(body + 4);
        /* A thread that begins or ends changes no mapping: pid and ppid are one, or its own number is not its pid. */
        return header->type == PERF_RECORD_FORK ? event->pid != event->parent : event->pid == read_u32(body + 8);
    case PERF_RECORD_COMM:
        return size >= LEAST_COMM && (header->misc & PERF_RECORD_MISC_COMM_EXEC);
    default:
        return false;
    }
}

void ys_profile_add(struct ys_profile *profile, const void *record, size_t size)
{
    struct perf_event_header header;
    struct event event = {.order = profile->added++};
    if (size < sizeof header)
        return;
    memcpy(&header, record, sizeof header);
    const unsigned char *body = (const unsigned char *)record + sizeof header;
    size_t body_size = size - sizeof header;
    if (header.type == PERF_RECORD_LOST && body_size >= LEAST_LOST)
        profile->counts.lost += read_u64(body + 8);
    if (!read_record(&header, body, body_size, &event))
        return;
    profile->events = ys_grown(profile->events, profile->event_count, &profile->event_room, sizeof event);
    profile->events[profile->event_count++] = event;
}

void ys_profile_begin(struct ys_profile *profile, enum ys_profile_phase phase, uint64_t t_ns)
{
    profile->begins_ns[phase] = t_ns;
}

/* Drops the mappings of a process, or those of them that lie within another. */
static void forget(struct ys_profile *profile, uint32_t pid, uint64_t begin, uint64_t end)
{
    size_t kept = 0;
    for (size_t i = 0; i < profile->mapping_count; i++) {
        const struct mapping *mapping = &profile->mappings[i];
        if (mapping->pid != pid || mapping->begin < begin || mapping->end > end)
            profile->mappings[kept++] = *mapping;
    }
    profile->mapping_count = kept;
}

static void add_mapping(struct ys_profile *profile, struct mapping mapping)
{
    profile->mappings = ys_grown(profile->mappings, profile->mapping_count, &profile->mapping_room, sizeof mapping);
    profile->mappings[profile->mapping_count++] = mapping;
}

static void inherit(struct ys_profile *profile, uint32_t pid, uint32_t parent)
{
    size_t count = profile->mapping_count;
    for (size_t i = 0; i < count; i++) {
        struct mapping mapping = profile->mappings[i];
        if (mapping.pid != parent)
            continue;
        mapping.pid = pid;
        add_mapping(profile, mapping);
    }
}

static enum ys_code find(const struct ys_profile *profile, uint32_t pid, uint64_t address)
{
    for (size_t i = profile->mapping_count; i-- > 0;) {
        const struct mapping *mapping = &profile->mappings[i];
        if (mapping->pid == pid && address >= mapping->begin && address < mapping->end)
            return mapping->code;
    }
    return YS_CODE_UNKNOWN;
}

static void count(struct ys_profile *profile, const struct event *event)
{
    enum ys_profile_phase phase = YS_PROFILE_STARTUP;
    for (int later = YS_PROFILE_STEADY; later < YS_PROFILE_PHASES; later++)
        phase = event->t_ns >= profile->begins_ns[later] ? (enum ys_profile_phase)later : phase;
    enum ys_code code = event->code == YS_CODE_KERNEL ? YS_CODE_KERNEL : find(profile, event->pid, event->address);
    profile->counts.samples[phase][code]++;
}

static void follow(struct ys_profile *profile, const struct event *event)
{
    switch (event->type) {
    case PERF_RECORD_SAMPLE:
        count(profile, event);
        break;
    case PERF_RECORD_MMAP:
        forget(profile, event->pid, event->address, event->address + event->size);
        add_mapping(profile, (struct mapping){event->pid, event->address, event->address + event->size, event->code});
        break;
    case PERF_RECORD_FORK:
        inherit(profile, event->pid, event->parent);
        break;
    default: /* it ended, or became another program */
        forget(profile, event->pid, 0, UINT64_MAX);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    int order = (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

void ys_profile_settle(struct ys_profile *profile, uint64_t t_ns)
{
    size_t done = 0;
    if (profile->event_count)
        qsort(profile->events, profile->event_count, sizeof *profile->events, by_time);
    for (; done < profile->event_count && profile->events[done].t_ns <= t_ns; done++)
        follow(profile, &profile->events[done]);
    profile->event_count -= done;
    if (done && profile->event_count)
        memmove(profile->events, profile->events + done, profile->event_count * sizeof *profile->events);
}

struct ys_profile_counts ys_profile_counts(const struct ys_profile *profile)
{
    return profile->counts;
}
