/* Result documents for the tests of the report: small ones made by hand, random ones that nobody would write. */
#ifndef YS_TESTS_REPORT_MADE_H
#define YS_TESTS_REPORT_MADE_H

#include "base/buf.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "metric/metric.h"
#include "metric/result_document.h"
#include "report/clean_text.h"
#include "report/report.h"
#include "report/shared_sentences.h"
#include "report/view/view.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>

/** Parses JSON in which ' stands for ". */
__attribute__((unused)) static ys_json *made_json(const char *text)
{
    ys_json *value = NULL;
    char *copy = ys_strdup(text);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    CHECK(ys_json_parse(copy, strlen(copy), "made", &value) == YS_OK);
    ys_free(copy);
    return value;
}

/** What of `object` is there and of its kind, by the table; the rest is nothing. Owned, as by ys_record_read(). */
static void made_read(const struct ys_record *record, const ys_json *object, void *item)
{
    ys_record_init(record, item);
    for (size_t i = 0; i < record->count; i++) {
        const struct ys_field *field = &record->fields[i];
        ys_json *value = ys_json_get(object, field->name);
        void *place = (char *)item + field->offset;
        if (field->kind == YS_FIELD_OBJECT)
            made_read(field->record, value, place);
        else if (field->kind == YS_FIELD_OBJECT_OWNED && ys_json_type_of(value) == YS_JSON_OBJECT)
            made_read(field->record, value, *(void **)place = ys_alloc(1, field->record->size));
        else if (field->kind == YS_FIELD_LIST)
            for (size_t k = 0; k < ys_json_size(value); k++)
                made_read(field->record, ys_json_at(value, k), ys_list_add(field->record, place));
        else if (value && field->kind != YS_FIELD_OBJECT_OWNED)
            (void)!ys_record_read_field(field, value, place);
    }
}

static struct ys_interval made_interval(const ys_json *ends, double level)
{
    const bool known = ys_json_size(ends) == 2;
    return (struct ys_interval){known, ys_json_number(ys_json_at(ends, 0), NAN),
                                ys_json_number(ys_json_at(ends, 1), NAN), known ? level : NAN};
}

/** One of a document. Its `told` is owned, and freed by its record. */
__attribute__((unused)) static struct ys_result_comparison made_compared(const ys_json *json)
{
    struct ys_result_comparison made;
    made_read(&ys_comparison_record, json, &made.told);
    made.interval = made_interval(ys_json_get(json, "ci"), made.told.level);
    made.single = made_interval(NULL, NAN);
    made.settled = made_interval(ys_json_get(json, "settled_ci"), NAN);
    made.efficiency = made_interval(ys_json_get(json, "efficiency_ci"), NAN);
    made.exposed = made_interval(ys_json_get(json, "exposed_s_ci"), NAN);
    return made;
}

static struct ys_trial_metric *made_metrics(const ys_json *json)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    struct ys_trial_metric *made = ys_alloc(count, sizeof *made);
    for (size_t i = 0; i < count; i++) {
        const ys_json *metric = ys_json_get(json, infos[i].name), *values = ys_json_get(metric, "values");
        const double value = ys_json_get_number(metric, "value", NAN);
        made[i].summary.median = value;
        made[i].summary.interval = made_interval(ys_json_get(metric, "ci"), ys_json_get_number(metric, "level", NAN));
        made[i].reason = ys_strdup(ys_json_get_text(metric, "reason", NULL));
        if (isnan(value))
            continue;
        made[i].n = (size_t)ys_json_get_int(metric, "n", 1);
        made[i].rounds = ys_json_size(values);
        made[i].by_round = ys_alloc(made[i].rounds + 1, sizeof(double));
        for (size_t k = 0; k < made[i].rounds; k++)
            made[i].by_round[k] = ys_json_number(ys_json_at(values, k), NAN);
    }
    return made;
}

static struct ys_list made_list(const struct ys_record *record, const ys_json *json)
{
    struct ys_list list = {0};
    for (size_t i = 0; i < ys_json_size(json); i++)
        made_read(record, ys_json_at(json, i), ys_list_add(record, &list));
    return list;
}

/* A number, or the value of a metric. */
static double made_number_of(const ys_json *json)
{
    return ys_json_type_of(json) == YS_JSON_OBJECT ? ys_json_get_number(json, "value", NAN) : ys_json_number(json, NAN);
}

/** What a document says, as a result, which borrows its host and work; made_close() ends it. */
static void made_open(const ys_json *document, struct ys_result *result)
{
    const ys_json *trials = ys_json_get(document, "trials"), *comparisons = ys_json_get(document, "comparisons");
    *result = (struct ys_result){
        .work = ys_json_get(document, "work"),
        .host = ys_json_get(document, "host"),
        .trials = ys_alloc(ys_json_size(trials) + 1, sizeof *result->trials),
        .comparisons = ys_alloc(ys_json_size(comparisons) + 1, sizeof *result->comparisons),
        .groups = made_list(&ys_result_group_record, ys_json_get(document, "groups")),
        .differences = made_list(&ys_difference_record, ys_json_get(document, "environment_differences")),
        .transfers = made_list(&ys_result_transfer_record, ys_json_get(document, "transfers"))};
    const ys_json *harness = ys_json_get(document, "harness");
    made_read(&ys_result_study_record, ys_json_get(document, "study"), &result->study);
    result->harness = (struct ys_result_harness){made_number_of(ys_json_get(harness, "cpu_share")),
                                                 made_number_of(ys_json_get(harness, "lateness_max_s")),
                                                 made_number_of(ys_json_get(harness, "overhead_s")), 1};
    for (; result->trial_count < ys_json_size(trials); result->trial_count++) {
        const ys_json *trial = ys_json_at(trials, result->trial_count);
        made_read(&ys_result_trial_record, trial, &result->trials[result->trial_count]);
        result->trials[result->trial_count].values = made_metrics(ys_json_get(trial, "metrics"));
    }
    for (; result->comparison_count < ys_json_size(comparisons); result->comparison_count++)
        result->comparisons[result->comparison_count] =
            made_compared(ys_json_at(comparisons, result->comparison_count));
}

static void made_close(struct ys_result *result)
{
    for (size_t i = 0; i < result->trial_count; i++) {
        ys_trial_metrics_free(result->trials[i].values);
        ys_record_fini(&ys_result_trial_record, &result->trials[i]);
    }
    for (size_t i = 0; i < result->comparison_count; i++)
        ys_record_fini(&ys_comparison_record, &result->comparisons[i].told);
    ys_free(result->trials);
    ys_free(result->comparisons);
    ys_list_fini(&ys_result_group_record, &result->groups);
    ys_list_fini(&ys_difference_record, &result->differences);
    ys_list_fini(&ys_result_transfer_record, &result->transfers);
    ys_record_fini(&ys_result_study_record, &result->study);
}

/* The forms of what a document says. */
#define MADE_FORM(name, parameters, call)                                                                              \
    __attribute__((unused)) static void name parameters                                                                \
    {                                                                                                                  \
        struct ys_result result;                                                                                       \
        made_open(document, &result);                                                                                  \
        call;                                                                                                          \
        made_close(&result);                                                                                           \
    }
MADE_FORM(made_html, (const ys_json *document, struct ys_buf *out), ys_report_html(&result, NULL, NULL, out))
MADE_FORM(made_csv, (const ys_json *document, struct ys_buf *out), ys_report_csv(&result, out))
MADE_FORM(made_markdown, (const ys_json *document, struct ys_buf *out), ys_report_markdown(&result, out))
MADE_FORM(made_table, (const ys_json *document, int width, bool colour, struct ys_buf *out),
          ys_report_table(&result, width, colour, out))
MADE_FORM(made_summary, (const ys_json *document, const char *more, int width, bool colour, struct ys_buf *out),
          ys_report_summary(&result, more, width, colour, out))

__attribute__((unused)) static ys_json *made_words(const ys_json *document)
{
    struct ys_result result;
    struct ys_view view;
    made_open(document, &result);
    ys_view_init(&view, &result);
    ys_json *sentences = ys_words(&view, YS_WORDS_ALL);
    ys_view_fini(&view);
    made_close(&result);
    return sentences;
}

/** tests/fixtures/result/NAME; NULL (and a failed check) when it cannot be read. */
__attribute__((unused)) static ys_json *made_fixture(const char *name)
{
    ys_json *value = NULL;
    const char *root = getenv("YS_SOURCE_ROOT");
    char *path = ys_format("%s/tests/fixtures/result/%s", root ? root : ".", name);
    CHECK(ys_json_read(path, &value) == YS_OK);
    ys_free(path);
    return value;
}

/** A result of `count` trials of framework/threads pairs, all alike: rate 100 with `n` runs, no detail. */
__attribute__((unused)) static ys_json *made_result(const char *const *frameworks, size_t count, int n,
                                                    const char *verdict)
{
    ys_json *result = made_json("{'study':{'name':'made','status':'done','margin':0.02},'trials':[],'comparisons':[]}");
    ys_json *study = ys_json_get(result, "study"), *trials = ys_json_get(result, "trials");
    (void)!ys_json_set(result, "metrics", ys_metric_texts());
    (void)!ys_json_set_int(study, "rounds", n);
    (void)!ys_json_set_int(study, "repeat", n);
    for (size_t i = 0; i < count; i++) {
        char *text = ys_format(
            "{'id':'t%zu','section':'s','factors':{'framework':'%s'},'framework':{'name':'%s','version':'1'},"
            "'status':'ok','runs':%d,'failed':0,'proof':{'verdict':'pass'},'keys':{'model':'lenet','threads':2},"
            "'metrics':{'rate_per_s':{'value':100,'unit':'1/"
            "s','kind':'rate','n':%d%s},'accuracy':{'value':0.97,'unit':'1','kind':'share'}}}",
            i, frameworks[i], frameworks[i], n, n, n >= 6 ? ",'ci':[98,103],'level':0.969" : "");
        (void)!ys_json_append(trials, made_json(text));
        ys_free(text);
    }
    if (verdict) {
        char *text = ys_format("[{'metric':'rate_per_s','a':'t0','b':'t1','varies':'framework','ratio':1.93,%s'n':%d,"
                               "'margin':0.02,"
                               "'verdict':'%s','resolution':0.05,'reason':null,'a_value':193,'b_value':100}]",
                               n >= 6 ? "'ci':[1.85,2.01]," : "", n, verdict);
        (void)!ys_json_set(result, "comparisons", made_json(text));
        ys_free(text);
    }
    return result;
}

/** The one comparison of made_result(). */
__attribute__((unused)) static ys_json *made_comparison(const ys_json *result)
{
    return ys_json_at(ys_json_get(result, "comparisons"), 0);
}

/** A text that should be trusted by nobody. */
static const char *made_text(struct ys_rng *rng)
{
    static const char *const texts[] = {
        "builtin",
        "pytorch",
        "",
        "<script>alert(1)</script>",
        "a&b\"c'd",
        "\x1B[31mred\x1B[0m",
        "line\nbreak\ttab\r",
        "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x81\xAE\xE6\x9E\xA0\xE7\xB5\x84\xE3\x81\xBF",
        "a_name_that_is_much_longer_than_any_column_of_any_table_that_fits_a_terminal_of_eighty_columns_could_ever_be",
        "=1+1",
        "e\xCC\x81\xCC\x81\xCC\x81",
        "\xF0\x9F\x94\xA5 hot",
        "%s%n",
        "]]></svg>",
        "with, comma",
        "nan"};
    return texts[ys_rng_below(rng, sizeof texts / sizeof texts[0])];
}

/** A number, or what stands where one is not known. */
static ys_json *made_number(struct ys_rng *rng)
{
    switch (ys_rng_below(rng, 9)) {
    case 0:
        return ys_json_null();
    case 1:
        return ys_json_string("nan");
    case 2:
        return ys_json_int(0);
    case 3:
        return ys_json_real(-1e300);
    case 4:
        return ys_json_real(1e300);
    case 5:
        return ys_json_real(1e-300);
    case 6:
        return ys_json_real(-ys_rng_uniform(rng));
    default:
        return ys_json_real(1e4 * ys_rng_uniform(rng));
    }
}

static ys_json *made_numbers(struct ys_rng *rng, uint32_t most)
{
    ys_json *array = ys_json_array();
    for (uint32_t i = 0, n = ys_rng_below(rng, most + 1); i < n; i++)
        (void)!ys_json_append(array, made_number(rng));
    return array;
}

static void made_set_texts(ys_json *object, struct ys_rng *rng, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ys_rng_below(rng, 4) > 0)
            (void)!ys_json_set_string(object, names[i], made_text(rng));
}

static ys_json *made_run(struct ys_rng *rng)
{
    static const char *const names[] = {"stage", "message", "log_tail"}, *const series[] = {"t_s", "cpu_cores",
                                                                                            "rss_bytes"};
    static const char *const states[] = {"ok", "crashed", "oom_host"};
    ys_json *run = ys_json_object(), *samples = ys_json_object();
    made_set_texts(run, rng, names, 3);
    (void)!ys_json_set_string(run, "status", states[ys_rng_below(rng, 3)]);
    (void)!ys_json_set(run, "round", made_number(rng));
    (void)!ys_json_set(run, "loss", made_numbers(rng, ys_rng_below(rng, 4) ? 12 : 700));
    for (size_t i = 0; i < 3; i++)
        (void)!ys_json_set(samples, series[i], made_numbers(rng, 20));
    (void)!ys_json_set(run, "samples", samples);
    ys_json *latency = ys_json_object();
    (void)!ys_json_set(latency, "share", made_numbers(rng, 20));
    (void)!ys_json_set(latency, "latency_s", made_numbers(rng, 20));
    (void)!ys_json_set(run, "latency", latency);
    return run;
}

static ys_json *made_trial(struct ys_rng *rng, uint32_t index)
{
    static const char *const metrics[] = {"rate_per_s", "step_s", "accuracy",      "rss_peak_bytes", "wall_s",
                                          "start_s",    "rest_s", "latency_p50_s", "infer_s",        "x<y"};
    static const char *const states[] = {"ok", "ok", "ok", "missing", "crashed", "unsupported", "diverged"};
    static const char *const proofs[] = {"pass", "weak", "fail", "none"}, *const names[] = {"section", "stage",
                                                                                            "reason", "command"};
    ys_json *trial = ys_json_object(), *factors = ys_json_object(), *values = ys_json_object(),
            *proof = ys_json_object();
    ys_json *framework = ys_json_object(), *details = ys_json_array(), *remarks = ys_json_array();
    char id[32];
    snprintf(id, sizeof id, "t%u", index);
    made_set_texts(trial, rng, names, 4);
    (void)!ys_json_set_string(trial, "id", id);
    (void)!ys_json_set_string(trial, "status", states[ys_rng_below(rng, 7)]);
    (void)!ys_json_set_int(trial, "runs", ys_rng_below(rng, 8));
    (void)!ys_json_set_int(trial, "failed", ys_rng_below(rng, 3));
    (void)!ys_json_set_string(factors, "framework", made_text(rng));
    (void)!ys_json_set_int(factors, "threads", ys_rng_below(rng, 3));
    for (uint32_t i = 0, n = ys_rng_below(rng, 4); i < n; i++)
        (void)!ys_json_set_string(factors, made_text(rng), made_text(rng));
    static const char *const about[] = {"name", "version", "title"};
    made_set_texts(framework, rng, about, 3);
    for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
        ys_json *metric = ys_json_object();
        (void)!ys_json_set(metric, "value", made_number(rng));
        (void)!ys_json_set(metric, "ci", made_numbers(rng, 3));
        (void)!ys_json_set(metric, "values", made_numbers(rng, 9));
        (void)!ys_json_set_string(metric, "reason", made_text(rng));
        (void)!ys_json_set(values, metrics[i], metric);
    }
    (void)!ys_json_set_string(proof, "verdict", proofs[ys_rng_below(rng, 4)]);
    (void)!ys_json_set(proof, "checks",
                       made_json("[{'half':'meaning','name':'a<b','error':1e-3,'bound':1e-9,'pass':false}]"));
    for (uint32_t i = 0, n = ys_rng_below(rng, 4); i < n; i++)
        (void)!ys_json_append(details, made_run(rng));
    for (uint32_t i = 0, n = ys_rng_below(rng, 3); i < n; i++)
        (void)!ys_json_append(remarks, ys_json_string(made_text(rng)));
    ys_json *keys = ys_json_object();
    (void)!ys_json_set_string(keys, "mode", ys_rng_below(rng, 2) ? "infer" : "train");
    (void)!ys_json_set(trial, "keys", keys);
    (void)!ys_json_set(trial, "factors", factors);
    (void)!ys_json_set(trial, "framework", framework);
    (void)!ys_json_set(trial, "metrics", values);
    (void)!ys_json_set(trial, "proof", proof);
    (void)!ys_json_set(trial, "runs_detail", details);
    (void)!ys_json_set(trial, "warnings", ys_json_copy(remarks));
    (void)!ys_json_set(trial, "deviations", remarks);
    return trial;
}

/** A whole document of random shape; the same for the same seed. */
__attribute__((unused)) static ys_json *made_random(uint64_t seed)
{
    static const char *const verdicts[] = {"better", "worse", "same", "unclear", "invalid", "odd"};
    static const char *const metrics[] = {"rate_per_s", "accuracy", "rss_peak_bytes", "odd"};
    static const char *const factors[] = {"framework", "threads", "nothing"};
    struct ys_rng rng;
    ys_rng_init(&rng, seed, "report");
    ys_json *result = made_json("{'study':{'job_text':'a < b'},'work':[{'model':'m&m','parameters':12}],"
                                "'host':{'cpu':'<i>','deep':{'er':[1,{'x':null}]}},'harness':{}}");
    ys_json *trials = ys_json_array(), *comparisons = ys_json_array(), *study = ys_json_get(result, "study");
    static const char *const names[] = {"name", "status", "command", "started"};
    made_set_texts(study, &rng, names, 4);
    (void)!ys_json_set(study, "margin", made_number(&rng));
    uint32_t count = ys_rng_below(&rng, 9);
    for (uint32_t i = 0; i < count; i++)
        (void)!ys_json_append(trials, made_trial(&rng, i));
    for (uint32_t i = 0, n = ys_rng_below(&rng, 12); i < n; i++) {
        ys_json *comparison = made_json("{'reason':null}");
        char a[32], b[32];
        snprintf(a, sizeof a, "t%u", ys_rng_below(&rng, count + 1));
        snprintf(b, sizeof b, "t%u", ys_rng_below(&rng, count + 1));
        (void)!ys_json_set_string(comparison, "a", a);
        (void)!ys_json_set_string(comparison, "b", b);
        (void)!ys_json_set_string(comparison, "metric", metrics[ys_rng_below(&rng, 4)]);
        (void)!ys_json_set_string(comparison, "varies", factors[ys_rng_below(&rng, 3)]);
        (void)!ys_json_set_string(comparison, "verdict", verdicts[ys_rng_below(&rng, 6)]);
        (void)!ys_json_set_string(comparison, "scale", ys_rng_below(&rng, 2) ? "ratio" : "difference");
        (void)!ys_json_set(comparison, "ratio", made_number(&rng));
        (void)!ys_json_set(comparison, "difference", made_number(&rng));
        (void)!ys_json_set(comparison, "ci", made_numbers(&rng, 3));
        (void)!ys_json_set(comparison, "resolution", made_number(&rng));
        (void)!ys_json_append(comparisons, comparison);
    }
    (void)!ys_json_set(result, "trials", trials);
    (void)!ys_json_set(result, "comparisons", comparisons);
    return result;
}

/** The widest line in columns, escape sequences not counted; no control characters may be left. A command between
 * backquotes stays whole, so a line that begins with one counts for nothing. */
__attribute__((unused)) static int made_widest(const char *text, bool *clean)
{
    int most = 0;
    *clean = true;
    while (*text) {
        size_t length = strcspn(text, "\n");
        char *line = ys_strndup(text, length);
        struct ys_buf plain = {0};
        ys_text_clean(&plain, line, false);
        const char *first = ys_buf_text(&plain) + strspn(ys_buf_text(&plain), " ");
        int width = *first == '`' ? 0 : ys_text_width(first) + (int)(first - ys_buf_text(&plain));
        most = width > most ? width : most;
        for (size_t i = 0; i < length; i++)
            *clean &= (unsigned char)line[i] >= 0x20 && line[i] != 0x7F;
        ys_buf_free(&plain);
        ys_free(line);
        text += length + (text[length] == '\n');
    }
    return most;
}

#endif
