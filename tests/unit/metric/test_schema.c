/* The schema, which the tables of fields print, and the pages about it, held against a document that was really made.
 */
#include "fixture.h"

#include "tap.h"

static ys_json *schema, *result;
static const char *const page_names[] = {"results", "judging", "ci", "job-file", "tuning"};
enum { PAGES = sizeof page_names / sizeof page_names[0] };
static struct ys_buf pages[PAGES];

/* The schema, the page and a document; false (and a failed check) when one of them is not there. */
static bool load(void)
{
    char path[512];
    const char *root = getenv("YS_SOURCE_ROOT"), *built = getenv("YARDSTICK_BIN");
    if (result)
        return true;
    snprintf(path, sizeof path, "%s/result.schema.json", built ? built : "build/src");
    if (!CHECK(ys_json_read(path, &schema) == YS_OK))
        return false;
    for (size_t i = 0; i < PAGES; i++) {
        snprintf(path, sizeof path, "%s/docs/%s.md", root ? root : ".", page_names[i]);
        if (!CHECK(ys_fs_read(path, 1 << 20, &pages[i]) == YS_OK))
            return false;
    }
    char *folder = fake_folder();
    struct ys_store *store = NULL;
    int64_t id = 0;
    ys_json *missing = fake_missing_json(FAKE_TRIALS);
    CHECK(ys_store_open(folder, YS_STORE_WRITE, &store) == YS_OK &&
          fake_study(store, fake_trials, FAKE_TRIALS, 6, 3, &id) == YS_OK);
    int64_t trial_id;
    CHECK(fake_put_trial(store, id, missing, &trial_id) == YS_OK);
    CHECK(fake_infer_trial(store, id, FAKE_TRIALS + 1, "builtin", 100, 2) == YS_OK);
    CHECK(result_document(store, id, YS_RESULT_RUNS, &result) == YS_OK);
    ys_json_free(missing);
    ys_store_close(store);
    return CHECK(ys_fs_remove_tree(folder) == YS_OK) && result;
}

static bool type_fits(const char *word, const ys_json *value)
{
    static const char *const words[] = {"null", "boolean", "integer", "number", "string", "array", "object"};
    enum ys_json_type type = ys_json_type_of(value);
    if (type == YS_JSON_INT && strcmp(word, "number") == 0)
        return true;
    return strcmp(words[type], word) == 0;
}

static bool has_type(const ys_json *types, const ys_json *value)
{
    if (!types || ys_json_type_of(types) == YS_JSON_STRING)
        return !types || type_fits(ys_json_text(types, ""), value);
    for (size_t i = 0; i < ys_json_size(types); i++) {
        if (type_fits(ys_json_text(ys_json_at(types, i), ""), value))
            return true;
    }
    return false;
}

static bool is_among(const ys_json *values, const ys_json *value)
{
    for (size_t i = 0; i < ys_json_size(values); i++) {
        if (ys_json_equal(ys_json_at(values, i), value))
            return true;
    }
    return !values;
}

static int faults(const ys_json *rule, const ys_json *value, const char *where, bool say);

static int member_faults(const ys_json *rule, const ys_json *value, const char *where, bool say)
{
    int count = 0;
    const ys_json *required = ys_json_get(rule, "required"), *properties = ys_json_get(rule, "properties");
    const ys_json *others = ys_json_get(rule, "additionalProperties");
    for (size_t i = 0; i < ys_json_size(required); i++) {
        const char *name = ys_json_text(ys_json_at(required, i), "");
        if (!ys_json_get(value, name)) {
            count++;
            if (say)
                printf("#   %s lacks %s\n", where, name);
        }
    }
    for (void *it = ys_json_iter(value); it; it = ys_json_next(value, it)) {
        char path[300];
        snprintf(path, sizeof path, "%s.%s", where, ys_json_iter_key(it));
        const ys_json *member = ys_json_get(properties, ys_json_iter_key(it));
        if (member || others)
            count += faults(member ? member : others, ys_json_iter_value(it), path, say);
        /* Readers accept it; a program that writes it has to say what it is. */
        if (properties && !member && !others && ys_json_get(rule, "type")) {
            count++;
            if (say)
                printf("#   %s is not documented\n", path);
        }
    }
    return count;
}

/* Of JSON Schema what ours uses, but minimum, maximum and if. */
static int faults(const ys_json *rule, const ys_json *value, const char *where, bool say)
{
    const char *reference = ys_json_get_text(rule, "$ref", NULL);
    if (reference)
        return faults(ys_json_get(ys_json_get(schema, "$defs"), strrchr(reference, '/') + 1), value, where, say);
    const ys_json *choices = ys_json_get(rule, "oneOf"), *constant = ys_json_get(rule, "const");
    int count = 0;
    bool fits = has_type(ys_json_get(rule, "type"), value) && is_among(ys_json_get(rule, "enum"), value) &&
                (!constant || ys_json_equal(constant, value));
    for (size_t i = 0, matching = 0; i < ys_json_size(choices); i++) {
        matching += faults(ys_json_at(choices, i), value, where, false) == 0;
        if (i + 1 == ys_json_size(choices))
            fits = fits && matching == 1;
    }
    if (!fits && say)
        printf("#   %s does not fit\n", where);
    count += !fits;
    if (ys_json_type_of(value) == YS_JSON_OBJECT)
        count += member_faults(rule, value, where, say);
    for (size_t i = 0; ys_json_get(rule, "items") && i < ys_json_size(value); i++) {
        char path[300];
        snprintf(path, sizeof path, "%s[%zu]", where, i);
        count += faults(ys_json_get(rule, "items"), ys_json_at(value, i), path, say);
    }
    return count;
}

static void a_document_fits_its_schema(void)
{
    REQUIRE(load());
    CHECK_INT(faults(schema, result, "result", true), 0);
}

static void a_document_that_was_spoilt_does_not_fit(void)
{
    static const char *const spoils[] = {
        "{\"schema\":\"yardstick/result/2\"}",         "{\"trials\":{}}",  "{\"harness\":{}}",
        "{\"comparisons\":[{\"metric\":\"wall_s\"}]}", "{\"study\":null}", "{\"undocumented\":1}"};
    REQUIRE(load());
    for (size_t i = 0; i < sizeof spoils / sizeof spoils[0]; i++) {
        ys_json *spoilt = ys_json_copy(result), *change = fake_json(spoils[i]);
        CHECK(ys_json_merge(spoilt, change) == YS_OK);
        CHECK(faults(schema, spoilt, "result", false) > 0);
        ys_json_free(spoilt);
        ys_json_free(change);
    }
}

/* Every member of `object` is a word in code quotes on the page. */
static void check_described(const ys_json *object, const char *what)
{
    tap_check(ys_json_size(object) > 0, __LINE__, "%s is empty", what);
    for (void *it = ys_json_iter(object); it; it = ys_json_next(object, it)) {
        char word[100];
        snprintf(word, sizeof word, "`%s`", ys_json_iter_key(it));
        tap_check(strstr(ys_buf_text(&pages[0]), word), __LINE__, "docs/results.md does not describe %s of %s", word,
                  what);
    }
}

static void the_page_describes_every_member(void)
{
    REQUIRE(load());
    const ys_json *trial = ys_json_at(ys_json_get(result, "trials"), 0),
                  *run = ys_json_at(ys_json_get(trial, "runs_detail"), 0),
                  *agreement = ys_json_get(ys_json_at(ys_json_get(result, "trials"), FAKE_TRIALS + 1), "agreement");
    check_described(result, "result");
    check_described(ys_json_get(result, "study"), "study");
    check_described(ys_json_at(ys_json_get(result, "work"), 0), "work");
    check_described(ys_json_get(result, "harness"), "harness");
    check_described(trial, "trials");
    check_described(ys_json_get(ys_json_get(trial, "metrics"), "rate_per_s"), "metrics");
    check_described(run, "runs_detail");
    check_described(agreement, "agreement");
    check_described(ys_json_at(ys_json_get(agreement, "layers"), 0), "layers");
    check_described(ys_json_at(ys_json_get(agreement, "rounds"), 0), "rounds");
    check_described(ys_json_get(run, "blocks"), "blocks");
    check_described(ys_json_get(run, "samples"), "samples");
    check_described(ys_json_at(ys_json_get(result, "comparisons"), 0), "comparisons");
    check_described(ys_json_at(ys_json_get(result, "environment_differences"), 0), "environment_differences");
    ys_json_free(schema);
    ys_json_free(result);
    for (size_t i = 0; i < PAGES; i++)
        ys_buf_free(&pages[i]);
}

/* Two trials, of which one never ran, or ran and ended, with `word`. */
static ys_json *result_with_status(const char *word, bool ran)
{
    char *folder = fake_folder();
    struct ys_store *store = NULL;
    int64_t id = 0, trial_id = 0;
    ys_json *made = NULL, *trial = fake_trial_json(&fake_trials[1], 1);
    CHECK(ys_store_open(folder, YS_STORE_WRITE, &store) == YS_OK &&
          fake_study(store, fake_trials, 1, 1, -1, &id) == YS_OK);
    if (!ran)
        ys_json_set_string(trial, "status", word);
    CHECK(fake_put_trial(store, id, trial, &trial_id) == YS_OK);
    struct fake_run run = {0, 0, word};
    CHECK(!ran || fake_put_run(store, &fake_trials[1], trial, trial_id, &run) == YS_OK);
    CHECK(result_document(store, id, YS_RESULT_RUNS, &made) == YS_OK);
    const ys_json *told = ys_json_at(ys_json_get(made, "trials"), 1);
    CHECK_TEXT(ys_json_get_text(told, "status", ""), !ran && strcmp(word, "ok") == 0 ? "cancelled" : word);
    ys_json_free(trial);
    ys_store_close(store);
    CHECK(ys_fs_remove_tree(folder) == YS_OK);
    return made;
}

static void documents_of_every_status_fit(void)
{
    REQUIRE(load());
    const ys_json *run = ys_json_get(ys_json_get(schema, "$defs"), "run");
    const ys_json *words = ys_json_get(ys_json_get(ys_json_get(run, "properties"), "status"), "enum");
    CHECK_INT(ys_json_size(words), 18); /* the closed list */
    for (size_t i = 0; i < ys_json_size(words); i++) {
        for (int ran = 0; ran < 2; ran++) {
            ys_json *made = result_with_status(ys_json_text(ys_json_at(words, i), ""), ran);
            CHECK_INT(faults(schema, made, ys_json_text(ys_json_at(words, i), ""), true), 0);
            ys_json_free(made);
        }
    }
}

static void a_studys_disturbance_is_described(void)
{
    REQUIRE(load());
    ys_json *timed = ys_json_copy(result),
            *change = fake_json(
                "{\"prepare_s\":1.5,\"prove_s\":null,\"measure_s\":2.0,\"disturbance\":{\"seconds\":2.0,"
                "\"steal_s\":0.0,\"steal_share\":0.0,\"busy_s\":1.0,\"load_before\":0.1,\"load_after\":null}}");
    CHECK(ys_json_set(ys_json_get(timed, "study"), "timing", change) == YS_OK);
    CHECK_INT(faults(schema, timed, "timed", true), 0);
    CHECK(strstr(ys_buf_text(&pages[0]), "`disturbance`}, or null") != NULL);
    ys_json_free(timed);
}

static bool is_on_a_page(const char *name)
{
    char quoted[100];
    snprintf(quoted, sizeof quoted, "`%s`", name);
    for (size_t i = 0; i < PAGES; i++)
        if (strstr(ys_buf_text(&pages[i]), quoted))
            return true;
    return false;
}

/* Every member of `rule` and of what is inside it. */
static void check_on_pages(const ys_json *rule, const char *where)
{
    const ys_json *properties = ys_json_get(rule, "properties");
    for (void *it = ys_json_iter(properties); it; it = ys_json_next(properties, it)) {
        char path[300];
        snprintf(path, sizeof path, "%s.%s", where, ys_json_iter_key(it));
        tap_check(is_on_a_page(ys_json_iter_key(it)), __LINE__, "no page describes %s", path);
        check_on_pages(ys_json_iter_value(it), path);
    }
    if (ys_json_get(rule, "items"))
        check_on_pages(ys_json_get(rule, "items"), where);
    if (ys_json_type_of(ys_json_get(rule, "additionalProperties")) == YS_JSON_OBJECT)
        check_on_pages(ys_json_get(rule, "additionalProperties"), where);
}

static void the_pages_describe_every_member_of_the_schema(void)
{
    REQUIRE(load());
    const ys_json *defs = ys_json_get(schema, "$defs");
    CHECK(ys_json_size(defs) > 10);
    check_on_pages(schema, "result");
    for (void *it = ys_json_iter(defs); it; it = ys_json_next(defs, it))
        check_on_pages(ys_json_iter_value(it), ys_json_iter_key(it));
}

/* The rule behind a reference. */
static const ys_json *resolved(const ys_json *rule)
{
    const char *reference = ys_json_get_text(rule, "$ref", NULL);
    return reference ? ys_json_get(ys_json_get(schema, "$defs"), strrchr(reference, '/') + 1) : rule;
}

/* What has no table is made, and checked against the schema, member by member; this is the other way round. */
static void check_made(const ys_json *rule, const ys_json *made, const ys_json *other, const char *what)
{
    const ys_json *properties = ys_json_get(resolved(rule), "properties");
    tap_check(ys_json_size(properties) > 0, __LINE__, "the schema has no members of %s", what);
    for (void *it = ys_json_iter(properties); it; it = ys_json_next(properties, it))
        tap_check(ys_json_get(made, ys_json_iter_key(it)) || ys_json_get(other, ys_json_iter_key(it)), __LINE__,
                  "%s has %s in the schema alone", what, ys_json_iter_key(it));
}

static void the_schema_has_no_member_that_is_never_made(void)
{
    REQUIRE(load());
    const ys_json *trials = ys_json_get(result, "trials"),
                  *run = ys_json_at(ys_json_get(ys_json_at(trials, 0), "runs_detail"), 0),
                  *answers = ys_json_at(ys_json_get(ys_json_at(trials, FAKE_TRIALS + 1), "runs_detail"), 0),
                  *rule = ys_json_get(ys_json_get(schema, "$defs"), "run");
    /* No run here has several processes, or hosts, or took turns. */
    ys_json *several = ys_json_copy(answers);
    CHECK(ys_json_set(several, "ranks", ys_json_array()) == YS_OK);
    CHECK(ys_json_set(several, "nodes", ys_json_array()) == YS_OK);
    CHECK(ys_json_set(several, "networks", ys_json_array()) == YS_OK);
    CHECK(ys_json_set(several, "machines", ys_json_array()) == YS_OK);
    CHECK(ys_json_set(several, "turns", ys_json_object()) == YS_OK);
    check_made(ys_json_get(ys_json_get(schema, "properties"), "study"), ys_json_get(result, "study"), NULL, "study");
    check_made(ys_json_get(ys_json_get(schema, "properties"), "harness"), ys_json_get(result, "harness"), NULL,
               "harness");
    check_made(rule, run, several, "a run");
    ys_json_free(several);
}

TAP_MAIN(TAP_CASE(the_pages_describe_every_member_of_the_schema), TAP_CASE(the_schema_has_no_member_that_is_never_made),
         TAP_CASE(documents_of_every_status_fit), TAP_CASE(a_studys_disturbance_is_described),
         TAP_CASE(a_document_fits_its_schema), TAP_CASE(a_document_that_was_spoilt_does_not_fit),
         TAP_CASE(the_page_describes_every_member))
