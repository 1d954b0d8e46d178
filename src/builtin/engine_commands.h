/* What the commands of yardstick-builtin share. */
#ifndef YS_BUILTIN_ENGINE_COMMANDS_H
#define YS_BUILTIN_ENGINE_COMMANDS_H

#include "base/buf.h"
#include "base/json/record.h"
#include "yardstick/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** `--name VALUE` or `--name=VALUE`. */
struct ys_builtin_flag {
    const char *name;  /* without dashes */
    const char **text; /* where the value goes, borrowed from argv */
    int64_t *number;   /* or, where text is NULL, where it goes as a whole number of at least 1 */
};
/** `argv` are the arguments after `word`, the command that they belong to, which argv[-1] is. YS_EINVAL names an
 * argument that is none of them or has no such value. */
ys_status ys_builtin_flags(int argc, char **argv, const char *word, const struct ys_builtin_flag *flags,
                           size_t count) YS_MUST_CHECK;
/** "table" or "json" */
ys_status ys_builtin_format(const char *name, bool *is_json) YS_MUST_CHECK;

/** Keeps this thread, and those that it starts from here on, on the CPUs that a run of so many threads gets. */
ys_status ys_builtin_use_cpus(int64_t threads) YS_MUST_CHECK;
/** The processor, as ys_host_describe() has it. */
struct ys_builtin_cpu {
    char *model;        /* NULL: unknown */
    ys_json *isa;       /* array of texts; NULL: unknown */
    char *instructions; /* those that the library of the engine computes with */
};
extern const struct ys_record ys_builtin_cpu_record;
/** ys_record_fini() frees what `cpu` then holds. */
ys_status ys_builtin_cpu(struct ys_builtin_cpu *cpu) YS_MUST_CHECK;

/** Writes to where answers go, stdout where a person asks; takes what it writes. */
ys_status ys_builtin_print_json(ys_json *object) YS_MUST_CHECK; /* one line */
ys_status ys_builtin_print(struct ys_buf *text) YS_MUST_CHECK;
/** The exit code, 0 or 2; a failure says so on stderr. */
int ys_builtin_end(ys_status status);

#endif
