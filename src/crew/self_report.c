#include "crew/self_report.h"

#include "base/buf.h"
#include "base/mem.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const verdict_words[] = {
    [YS_SAID_AGREES] = "agrees", [YS_SAID_DIFFERS] = "differs", [YS_SAID_UNKNOWN] = "cannot be told"};
const struct ys_names ys_said_verdicts = YS_NAMES("verdict", verdict_words);

static const struct ys_field fields[] = {
    YS_FIELD(struct ys_self_report, what, YS_FIELD_TEXT, NULL, 0, "what its word is of"),
    YS_FIELD(struct ys_self_report, said, YS_FIELD_TEXT, NULL, 0, "its word"),
    YS_FIELD(struct ys_self_report, known, YS_FIELD_TEXT, NULL, YS_FIELD_NULL,
             "what is so, as far as that was observed"),
    YS_FIELD(struct ys_self_report, source, YS_FIELD_TEXT, NULL, 0, "where that is from"),
    YS_FIELD_NAMED(struct ys_self_report, verdict, &ys_said_verdicts, 0, "of the two"),
};
const struct ys_record ys_said_record = YS_RECORD("said", struct ys_self_report, fields);

/* Names of one library as adapters write them, and as files are called. NULL ends each list. */
static const struct {
    const char *said[4], *files[4];
} LIBRARIES[] = {
    {{"onednn", "mkl-dnn", "mkldnn", NULL}, {"dnnl", "mkldnn", "onednn", NULL}},
    {{"openblas", NULL}, {"openblas", NULL}},
    {{"blis", NULL}, {"blis", NULL}},
    {{"atlas", NULL}, {"atlas", NULL}},
};

static void warn(struct ys_facts *facts, const char *text)
{
    ys_list_add_text(&facts->warnings, text);
}

static bool begins(const char *text, const char *start)
{
    size_t length = strlen(start);
    return strncmp(text, start, length) == 0 && !isdigit((unsigned char)text[length]);
}

/* "2.13.0+cpu" is 2.13.0, and so is "2.13". */
static enum ys_self_report_verdict judge_version(const char *said, const char *known)
{
    if (!said || !known || !known[0])
        return YS_SAID_UNKNOWN;
    return begins(said, known) || begins(known, said) ? YS_SAID_AGREES : YS_SAID_DIFFERS;
}

static void check_version(const char *known, struct ys_facts *facts)
{
    const char *said = facts->said.version;
    char text[300];
    if (judge_version(said, known) != YS_SAID_DIFFERS)
        return;
    snprintf(text, sizeof text, "its adapter says that it is version %.80s; its recipe is that of %.80s", said, known);
    warn(facts, text);
}

static enum ys_self_report_verdict judge_parameters(const struct ys_facts *facts)
{
    int64_t said = facts->said.parameters;
    if (facts->said.no_work || said == YS_FIELD_NONE || !facts->work)
        return YS_SAID_UNKNOWN;
    return said == facts->work->parameters ? YS_SAID_AGREES : YS_SAID_DIFFERS;
}

static void check_parameters(struct ys_facts *facts)
{
    int64_t said = facts->said.parameters;
    char text[200];
    if (judge_parameters(facts) != YS_SAID_DIFFERS)
        return;
    snprintf(text, sizeof text, "its adapter says that it trains %" PRId64 " parameters; the network has %" PRId64,
             said, facts->work->parameters);
    warn(facts, text);
}

static bool is_mapped(const struct ys_facts *facts, const char *const *files)
{
    char *const *mapped = facts->observed.libraries.items;
    for (size_t i = 0; i < facts->observed.libraries.count; i++)
        for (size_t k = 0; files[k]; k++)
            if (strcasestr(mapped[i], files[k]))
                return true;
    return false;
}

static void list_mapped(const struct ys_facts *facts, struct ys_buf *text)
{
    char *const *mapped = facts->observed.libraries.items;
    for (size_t i = 0; i < facts->observed.libraries.count; i++)
        ys_buf_printf(text, "%s%s", i ? ", " : "", mapped[i]);
}

/* What hides in others cannot be told, and what was not looked at neither. */
static bool can_tell_libraries(const struct ys_facts *facts)
{
    return facts->observed.libraries.count > 0 && facts->observed.notes.count == 0;
}

static enum ys_self_report_verdict judge_library(const struct ys_facts *facts, const char *said)
{
    enum ys_self_report_verdict verdict = YS_SAID_UNKNOWN;
    for (size_t i = 0; can_tell_libraries(facts) && i < sizeof LIBRARIES / sizeof LIBRARIES[0]; i++) {
        bool is_named = false;
        for (size_t k = 0; LIBRARIES[i].said[k]; k++)
            is_named |= strcasestr(said, LIBRARIES[i].said[k]) != NULL;
        if (is_named && !is_mapped(facts, LIBRARIES[i].files))
            return YS_SAID_DIFFERS;
        if (is_named)
            verdict = YS_SAID_AGREES;
    }
    return verdict;
}

static void check_library(struct ys_facts *facts, const char *said)
{
    struct ys_buf text = {0};
    if (judge_library(facts, said) != YS_SAID_DIFFERS)
        return;
    ys_buf_printf(&text, "its adapter says that it computes with %.100s; mapped in its processes were ", said);
    list_mapped(facts, &text);
    warn(facts, ys_buf_text(&text));
    ys_buf_free(&text);
}

void ys_said_check(const char *recipe_version, struct ys_facts *facts)
{
    check_version(recipe_version, facts);
    check_parameters(facts);
    for (size_t i = 0; i < ys_json_size(facts->said.libraries); i++)
        check_library(facts, ys_json_text(ys_json_at(facts->said.libraries, i), ""));
}

enum { MOST_LIBRARIES = 20, MOST_ROWS = 4 + MOST_LIBRARIES };

static void add(struct ys_list *list, const char *what, const char *said, const char *known, const char *source,
                enum ys_self_report_verdict verdict)
{
    struct ys_self_report *row = (struct ys_self_report *)list->items + list->count++; /* there is room for all */
    *row = (struct ys_self_report){.what = ys_strdup(what),
                                   .said = ys_strdup(said),
                                   .known = ys_strdup(known),
                                   .source = ys_strdup(source),
                                   .verdict = (int)verdict};
}

static void add_parameters(const struct ys_facts *facts, struct ys_list *list)
{
    char said[32], known[32];
    if (facts->said.parameters == YS_FIELD_NONE || facts->said.no_work)
        return;
    snprintf(said, sizeof said, "%" PRId64, facts->said.parameters);
    snprintf(known, sizeof known, "%" PRId64, facts->work ? facts->work->parameters : 0);
    add(list, "parameters", said, facts->work ? known : NULL, "the network's graph", judge_parameters(facts));
}

/* The same thresholds as those of crew/check_threads.c, which warns: another number than it was told. */
static void add_threads(const struct ys_facts *facts, int64_t threads, struct ys_list *list)
{
    struct ys_buf known = {0};
    char said[32];
    if (facts->said.threads == YS_FIELD_NONE || facts->said.no_work)
        return;
    snprintf(said, sizeof said, "%" PRId64, facts->said.threads);
    ys_buf_printf(&known, "told to use %" PRId64, threads);
    if (facts->observed.threads_peak != YS_FIELD_NONE)
        ys_buf_printf(&known, "; up to %" PRId64 " were there", facts->observed.threads_peak);
    if (isfinite(facts->observed.threads_busy))
        ys_buf_printf(&known, ", about %.1f shared the work", facts->observed.threads_busy);
    add(list, "threads", said, ys_buf_text(&known), "the job, and its processes",
        facts->said.threads == threads ? YS_SAID_AGREES : YS_SAID_DIFFERS);
    ys_buf_free(&known);
}

static void add_libraries(const struct ys_facts *facts, struct ys_list *list)
{
    struct ys_buf known = {0};
    list_mapped(facts, &known);
    for (size_t i = 0; i < facts->observed.notes.count; i++)
        ys_buf_printf(&known, "; %s", ((char *const *)facts->observed.notes.items)[i]);
    for (size_t i = 0; i < ys_json_size(facts->said.libraries) && i < MOST_LIBRARIES; i++) {
        const char *said = ys_json_text(ys_json_at(facts->said.libraries, i), "");
        add(list, "computes with", said, known.size ? ys_buf_text(&known) : NULL, "files mapped in its processes",
            judge_library(facts, said));
    }
    ys_buf_free(&known);
}

void ys_said_list(const struct ys_facts *facts, const char *recipe_version, int64_t threads, struct ys_list *list)
{
    const char *version = facts->said.version, *runtime = facts->said.runtime;
    *list = (struct ys_list){.items = ys_alloc(MOST_ROWS, sizeof(struct ys_self_report))};
    if (version && version[0])
        add(list, "version", version, recipe_version && recipe_version[0] ? recipe_version : NULL, "its recipe",
            judge_version(version, recipe_version));
    if (runtime && runtime[0])
        add(list, "runs in", runtime, NULL, "not observed", YS_SAID_UNKNOWN);
    add_parameters(facts, list);
    add_threads(facts, threads, list);
    add_libraries(facts, list);
}
