/* Where processor time goes, by the files in which code lies: what the kernel samples (probe/perf.h), attributed. This
 * part reads records and nothing else, so that a test can make some up.
 *
 * Records are those of perf_event_open(2) with the sample type IP | TID | TIME and sample_id_all: each mapping of code,
 * each new, renewed and ended process, each sample, in any order within a batch. */
#ifndef YS_PROBE_PROFILE_H
#define YS_PROBE_PROFILE_H

#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

/* Of what a piece of code is. */
enum ys_code {
    YS_CODE_KERNEL,
    YS_CODE_INTERPRETER, /* Python, Lua and their modules of the standard library */
    YS_CODE_BLAS,
    YS_CODE_OPENMP,     /* and other pools of threads */
    YS_CODE_PRIMITIVES, /* oneDNN and the like, where it has a file of its own */
    YS_CODE_FRAMEWORK,  /* its libraries, and a program that is an adapter itself */
    YS_CODE_GENERATED,  /* no file: compiled while it ran */
    YS_CODE_SYSTEM,     /* the C library, its mathematics, the loader */
    YS_CODE_UNKNOWN,    /* any other file, or none known */
    YS_CODE_COUNT
};

/* When. */
enum ys_profile_phase { YS_PROFILE_STARTUP, YS_PROFILE_STEADY, YS_PROFILE_AFTER, YS_PROFILE_PHASES };

/** By the path as /proc/PID/maps and the kernel's records have it: "/usr/lib/libgomp.so.1", "//anon", "[vdso]". */
enum ys_code ys_code_of(const char *path);

struct ys_profile;

struct ys_profile *ys_profile_new(void);
void ys_profile_free(struct ys_profile *profile); /* NULL is fine */

/** Takes the `size` bytes of one record; what it does not know, or what is damaged, is passed over. */
void ys_profile_add(struct ys_profile *profile, const void *record, size_t size);
/** Samples from `t_ns` on are of `phase`. Before the first call: YS_PROFILE_STARTUP. Phases come in their order. */
void ys_profile_begin(struct ys_profile *profile, enum ys_profile_phase phase, uint64_t t_ns);
/** Attributes what happened until `t_ns`, after which nothing earlier may be added. */
void ys_profile_settle(struct ys_profile *profile, uint64_t t_ns);

struct ys_profile_counts {
    uint64_t samples[YS_PROFILE_PHASES][YS_CODE_COUNT];
    uint64_t lost; /* samples that the kernel had no room for */
};
/** Of what was settled. */
struct ys_profile_counts ys_profile_counts(const struct ys_profile *profile);

#endif
