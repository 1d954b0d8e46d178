#include "builtin/engine_commands.h"

#include "backend/level.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "probe/host.h"
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLAG_LIMIT = 16 };

static ys_status parse_number(const char *flag, const char *text, int64_t *number)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || value < 1 || value > 1 << 20)
        return ys_fail(YS_EINVAL, "--%s is \"%s\"; it is a whole number of at least 1", flag, text);
    *number = value;
    return YS_OK;
}

/* getopt_long() takes beginnings of names too; here a name stands in full. */
static bool is_whole(const char *argument, const char *name)
{
    return strncmp(argument, "--", 2) == 0 && strlen(name) == strcspn(argument + 2, "=") &&
           strncmp(argument + 2, name, strlen(name)) == 0;
}

ys_status ys_builtin_flags(int argc, char **argv, const char *word, const struct ys_builtin_flag *flags, size_t count)
{
    struct option list[FLAG_LIMIT + 1] = {{0}};
    int at, index, found;
    YS_ASSERT(count <= FLAG_LIMIT);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct option){.name = flags[i].name, .has_arg = required_argument};
    opterr = 0;
    optind = 0; /* begins anew */
    /* '+': a word ends it; ':': a missing value is told from an unknown flag. */
    while (at = optind ? optind : 1, (found = getopt_long(argc + 1, argv - 1, "+:", list, &index)) != -1) {
        if (found == ':')
            return ys_fail(YS_EINVAL, "%s needs a value", argv[at - 1]);
        if (found != 0 || !is_whole(argv[at - 1], list[index].name))
            return ys_fail(YS_EINVAL, "unknown argument \"%s\" of %s", argv[at - 1], word);
        if (flags[index].text)
            *flags[index].text = optarg;
        else
            YS_TRY(parse_number(flags[index].name, optarg, flags[index].number));
    }
    if (optind <= argc)
        return ys_fail(YS_EINVAL, "unknown argument \"%s\" of %s", argv[optind - 1], word);
    return YS_OK;
}

ys_status ys_builtin_format(const char *name, bool *is_json)
{
    *is_json = strcmp(name, "json") == 0;
    return *is_json || strcmp(name, "table") == 0 ? YS_OK
                                                  : ys_fail(YS_EINVAL, "--format is \"%s\"; take table or json", name);
}

ys_status ys_builtin_use_cpus(int64_t threads)
{
    int *cpus = ys_alloc((size_t)threads, sizeof *cpus);
    if (!cpus)
        return ys_out_of_memory();
    ys_status status = ys_host_cpu_pick((int)threads, cpus);
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int64_t i = 0; status == YS_OK && i < threads; i++)
        CPU_SET(cpus[i], &set);
    if (status == YS_OK && sched_setaffinity(0, sizeof set, &set) != 0)
        status =
            ys_fail(YS_EIO, "the kernel does not let yardstick-builtin keep to %lld of its CPUs", (long long)threads);
    ys_free(cpus);
    return status;
}

static const struct ys_field cpu_fields[] = {
    YS_FIELD(struct ys_builtin_cpu, model, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "its name"),
    YS_FIELD(struct ys_builtin_cpu, isa, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "instruction sets that it has"),
    YS_FIELD(struct ys_builtin_cpu, instructions, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "that the engine computes with"),
};
const struct ys_record ys_builtin_cpu_record = YS_RECORD("cpu", struct ys_builtin_cpu, cpu_fields);

ys_status ys_builtin_cpu(struct ys_builtin_cpu *cpu)
{
    struct ys_host_known known;
    ys_json *host;
    ys_record_init(&ys_builtin_cpu_record, cpu);
    YS_TRY(ys_host_describe(&host));
    ys_host_read(host, &known);
    cpu->model = known.cpu.model ? ys_strdup(known.cpu.model) : NULL;
    cpu->isa = known.cpu.isa ? ys_json_ref(known.cpu.isa) : NULL;
    cpu->instructions = ys_strdup(ys_level_name());
    bool whole = cpu->instructions && (cpu->model || !known.cpu.model);
    ys_json_free(host);
    if (whole)
        return YS_OK;
    ys_record_fini(&ys_builtin_cpu_record, cpu);
    return ys_out_of_memory();
}

static ys_status put(const char *text)
{
    FILE *answers = ys_child_answers();
    return fputs(text, answers) >= 0 && fflush(answers) == 0 ? YS_OK
                                                             : ys_fail(YS_EIO, "cannot write what was asked for");
}

ys_status ys_builtin_print(struct ys_buf *text)
{
    ys_status status = text->failed ? ys_out_of_memory() : put(ys_buf_text(text));
    ys_buf_free(text);
    return status;
}

ys_status ys_builtin_print_json(ys_json *object)
{
    char *text = ys_json_dump(object, YS_JSON_COMPACT);
    struct ys_buf line = {0};
    ys_json_free(object);
    if (!text)
        return ys_out_of_memory();
    ys_buf_printf(&line, "%s\n", text);
    ys_free(text);
    return ys_builtin_print(&line);
}

int ys_builtin_end(ys_status status)
{
    if (status == YS_OK)
        return 0;
    fprintf(stderr, "yardstick-builtin: %s\n", ys_error());
    return 2;
}
