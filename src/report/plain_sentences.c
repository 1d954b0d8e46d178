/* The result in plain sentences. */
#include "base/json/record.h"
#include "base/mem.h"
#include "report/answer.h"
#include "report/clean_text.h"
#include "report/report.h"
#include "report/shared_sentences.h"
#include "report/tables/agreement_tables.h"
#include "report/tables/observed_tables.h"
#include "report/view/view.h"

#include <ctype.h>
#include <string.h>

enum { FEW_NAMES = 3, FEW_KINDS = 4, MANY = 40 }; /* the rest is counted */

struct sentence_writer {
    const struct ys_view *view;
    ys_json *sentences;
    struct ys_buf text; /* the sentence in work */
    bool is_brief;
    size_t most_names, most_kinds; /* trials in one sentence, sentences of one sort */
};

static void finish(struct sentence_writer *w)
{
    if (w->text.size > 4 && strncmp(w->text.data, "the ", 4) == 0) /* a title such as "the built-in engine" */
        w->text.data[0] = 'T';
    if (w->text.size > 0)
        ys_json_append(w->sentences, ys_json_string(ys_buf_text(&w->text)));
    ys_buf_clear(&w->text);
}

static void say_state(struct sentence_writer *w)
{
    const int state = w->view->study->status;
    long long rounds = w->view->rounds, repeat = w->view->repeat;
    if (w->view->count == 0) {
        ys_buf_puts(&w->text, "The study has no trials.");
        finish(w);
        return;
    }
    const char *ended = state == YS_STUDY_INTERRUPTED  ? "was interrupted"
                        : state == YS_STUDY_TIME_LIMIT ? "reached its time limit"
                        : state == YS_STUDY_RUNNING    ? "is not finished"
                                                       : NULL;
    if (ended)
        ys_buf_printf(&w->text, "The study %s: %lld of %lld rounds %s complete", ended, rounds, repeat,
                      rounds == 1 ? "is" : "are");
    if (state == YS_STUDY_INTERRUPTED || state == YS_STUDY_RUNNING)
        ys_buf_printf(&w->text, "; %s`yardstick resume %lld` goes on",
                      state == YS_STUDY_RUNNING ? "where nothing measures it any more, " : "", (long long)w->view->id);
    if (ended)
        ys_buf_puts(&w->text, ".");
    else if (state == YS_STUDY_FAILED && rounds == 0)
        ys_buf_puts(&w->text, "Nothing of the study could run.");
    finish(w);
}

/** What trials that failed in the same way have in common, as one text. */
static void put_way(struct ys_buf *out, const struct ys_view_trial *trial)
{
    ys_buf_printf(out, "%s\n%lld\n%lld\n%s\n", ys_run_status_name(trial->status), (long long)trial->runs,
                  (long long)trial->failed, ys_view_or(ys_stage_name(trial->told->stage), ""));
    ys_buf_printf(out, "%s\n%s", ys_view_or(trial->told->reason, ""), ys_view_or(trial->told->command, ""));
}

/** {way: [places of its trials]}, in the order of the trials. */
static ys_json *find_ways(struct sentence_writer *w)
{
    ys_json *ways = ys_json_object();
    for (size_t i = 0; i < w->view->count; i++) {
        const struct ys_view_trial *trial = &w->view->trials[i];
        struct ys_buf way = {0};
        if (trial->status == YS_RUN_OK && trial->failed == 0)
            continue;
        put_way(&way, trial);
        ys_json *places = ys_json_get(ways, ys_buf_text(&way));
        if (!places) {
            places = ys_json_array();
            ys_json_set(ways, ys_buf_text(&way), places);
        }
        ys_json_append(places, ys_json_int((int64_t)i));
        ys_buf_free(&way);
    }
    return ways;
}

static const struct ys_view_trial *trial_at(const struct sentence_writer *w, const ys_json *places, size_t i)
{
    return &w->view->trials[ys_json_integer(ys_json_at(places, i), 0)];
}

static void say_failure(struct sentence_writer *w, const ys_json *places)
{
    const struct ys_view_trial *trial = trial_at(w, places, 0);
    const size_t count = ys_json_size(places);
    bool is_of_one = true;
    for (size_t i = 1; i < count; i++)
        is_of_one = is_of_one && strcmp(trial_at(w, places, i)->framework, trial->framework) == 0;
    if (count == 1)
        ys_view_put_phrase(&w->text, w->view, trial, NULL);
    else if (is_of_one)
        ys_buf_printf(&w->text, "%s (%zu trials)", trial->title, count);
    else
        ys_buf_printf(&w->text, "%zu trials", count);
    ys_buf_puts(&w->text, is_of_one ? trial->measured ? " is" : " has" : trial->measured ? " are" : " have");
    ys_buf_puts(&w->text, trial->measured ? " measured in part: " : " no result: ");
    ys_view_put_failure(&w->text, trial);
    ys_buf_puts(&w->text, ".");
    finish(w);
}

static void say_failures(struct sentence_writer *w)
{
    ys_json *ways = find_ways(w);
    size_t said = 0, unsaid = 0;
    for (void *it = ys_json_iter(ways); it; it = ys_json_next(ways, it)) {
        const ys_json *places = ys_json_iter_value(it);
        if (said++ < MANY)
            say_failure(w, places);
        else
            unsaid += ys_json_size(places);
    }
    ys_json_free(ways);
    if (unsaid > 0)
        ys_buf_printf(&w->text, "%s failed as the table says.", ys_label_plural((int64_t)unsaid, "more trial").text);
    finish(w);
}

/** With the same weights: who answers otherwise than the built-in engine, or that nobody does. */
static void say_agreements(struct sentence_writer *w)
{
    size_t asked = 0, apart = 0;
    for (size_t i = 0; i < w->view->count; i++) {
        const struct ys_view_trial *trial = &w->view->trials[i];
        struct ys_agreement_row row;
        if (!ys_agreement_row(trial, &row) || row.reason)
            continue;
        asked++;
        if (row.disagreements == 0 || apart++ >= w->most_names)
            continue;
        ys_buf_printf(&w->text, "%s%s for %s rows",
                      apart == 1 ? "With the same weights another class than builtin's is answered by " : "; ",
                      trial->name, row.cells[0].text);
    }
    if (apart > w->most_names)
        ys_buf_printf(&w->text, "; and %zu more", apart - w->most_names);
    if (apart > 0)
        ys_buf_puts(&w->text, ".");
    else if (asked > 0)
        ys_buf_puts(&w->text, "With the same weights every trial gives the answers that builtin gives.");
    finish(w);
}

static void say_rounds(struct sentence_writer *w)
{
    bool measured = false;
    for (size_t i = 0; i < w->view->count; i++)
        measured |= w->view->trials[i].measured;
    if (measured && w->view->rounds < 6)
        ys_buf_printf(&w->text, "With %s there are no intervals and no firm verdicts: 6 are needed.",
                      ys_label_plural(w->view->rounds, "complete round").text);
    finish(w);
}

/* Names of the trials for which it is so, as many as a sentence has, and how many more; in brief, of too many, how
 * many; "All 4 trials" where it is so for all that were measured. Returns how many there are, 0 where it is all. */
static size_t put_those(struct sentence_writer *w, bool (*is_so)(const struct ys_view_trial *, const char *),
                        const char *text)
{
    size_t all = 0, said = 0, rest = 0;
    for (size_t i = 0; i < w->view->count; i++) {
        const struct ys_view_trial *trial = &w->view->trials[i];
        all += is_so(trial, text);
        rest += trial->measured && !trial->no_work && !is_so(trial, text);
    }
    if (all > 1 && rest == 0) {
        ys_buf_puts(&w->text, ys_label_all(all, "trials").text);
        return 0;
    }
    if (w->is_brief && all > w->most_names) {
        ys_buf_printf(&w->text, "%zu of %zu trials", all, all + rest);
        return all;
    }
    for (size_t i = 0; i < w->view->count && said < w->most_names; i++) {
        if (!is_so(&w->view->trials[i], text))
            continue;
        ys_buf_puts(&w->text, ys_label_join(said, all, "; "));
        ys_buf_puts(&w->text, w->view->trials[i].name);
        said++;
    }
    if (all > said)
        ys_buf_printf(&w->text, " and %zu more", all - said);
    return all;
}

/* ---- what of the work */

static bool has_proof(const struct ys_view_trial *trial, enum ys_proof_verdict verdict)
{
    return trial->measured && ys_view_verdict(trial) == verdict && (verdict == YS_PROOF_FAIL || !trial->no_work);
}

static bool is_other_work(const struct ys_view_trial *trial, const char *text)
{
    (void)text;
    return has_proof(trial, YS_PROOF_FAIL);
}

static bool is_weak(const struct ys_view_trial *trial, const char *text)
{
    (void)text;
    return has_proof(trial, YS_PROOF_WEAK);
}

static bool is_unproven(const struct ys_view_trial *trial, const char *text)
{
    (void)text;
    return has_proof(trial, YS_PROOF_NONE);
}

static void say_proofs(struct sentence_writer *w)
{
    static const struct {
        bool (*is_so)(const struct ys_view_trial *, const char *);
        const char *lead, *one, *several;
    } kinds[] = {
        {is_other_work, "!", "does other work than was asked for, as its proof shows, and is not compared",
         "do other work than was asked for, as their proofs show, and are not compared"},
        {is_unproven, "?", "is not proven to do the work, and is not compared",
         "are not proven to do the work, and are not compared"},
        {is_weak, "*", "does the same work as far as it could be shown",
         "do the same work as far as it could be shown"},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if (w->is_brief)
            ys_buf_printf(&w->text, "%s ", kinds[k].lead);
        const size_t before = w->text.size, count = put_those(w, kinds[k].is_so, NULL);
        if (w->text.size > before)
            ys_buf_printf(&w->text, " %s.", count == 1 ? kinds[k].one : kinds[k].several);
        else
            ys_buf_clear(&w->text);
        finish(w);
    }
}

static void say_data(struct sentence_writer *w)
{
    for (size_t i = 0; i < w->view->work_count; i++)
        if (strcmp(ys_view_or(w->view->works[i].data, ""), "synthetic") == 0 && ys_view_is_known(w->view, "accuracy") &&
            w->text.size == 0)
            ys_buf_puts(&w->text, "synthetic is random data: accuracy means nothing.");
    finish(w);
}

static bool is_idle(const struct ys_view_trial *trial)
{
    return trial->no_work && trial->measured && trial->member == 0;
}

/* By frameworks. */
static void say_no_work(struct sentence_writer *w)
{
    const struct ys_view *view = w->view;
    size_t idle = 0, said = 0;
    for (size_t i = 0; i < view->count; i++)
        idle += is_idle(&view->trials[i]);
    for (size_t i = 0; i < view->count; i++)
        if (is_idle(&view->trials[i])) {
            ys_buf_puts(&w->text, ys_label_join(said, idle, ", "));
            ys_buf_puts(&w->text, view->trials[i].title);
            said++;
        }
    if (idle > 0)
        ys_buf_printf(&w->text, " %s no work: %s numbers show what measuring costs.", idle == 1 ? "does" : "do",
                      idle == 1 ? "its" : "their");
    finish(w);
}

/* A text without its numbers: what two runs or trials say alike. */
static char *masked(const char *text)
{
    struct ys_buf mask = {0};
    for (; *text; text++)
        if (!isdigit((unsigned char)*text) && *text != '.')
            ys_buf_append(&mask, text, 1);
    char *made = ys_strdup(ys_buf_text(&mask));
    ys_buf_free(&mask);
    return made;
}

static bool has_doubt(const struct ys_view_trial *trial, const char *text)
{
    return ys_json_lists(trial->told->doubts, text);
}

/* A doubt that differs from this one in its numbers alone. */
static bool has_kind_of_doubt(const struct ys_view_trial *trial, const char *text)
{
    char *mask = masked(text);
    bool found = false;
    for (size_t k = 0; k < ys_json_size(trial->told->doubts) && !found; k++) {
        char *own = masked(ys_json_text(ys_json_at(trial->told->doubts, k), ""));
        found = strcmp(own, mask) == 0;
        ys_free(own);
    }
    ys_free(mask);
    return found;
}

static bool departs(const struct ys_view_trial *trial, const char *text)
{
    return trial->measured && ys_json_lists(trial->told->deviations, text);
}

static bool are_same_trials(const struct ys_view *view, bool (*a)(const struct ys_view_trial *, const char *),
                            const char *text, bool (*b)(const struct ys_view_trial *, const char *), const char *other)
{
    for (size_t i = 0; i < view->count; i++)
        if (a(&view->trials[i], text) != b(&view->trials[i], other))
            return false;
    return true;
}

/* "option channels_last = true" where names say "channels_last on"; "back end simd" where they say "backend simd". */
static bool is_in_names(const struct ys_view *view, const char *text)
{
    const char *set = strncmp(text, "option ", 7) == 0     ? text + 7
                      : strncmp(text, "back end ", 9) == 0 ? "backend = "
                                                           : "";
    for (size_t i = 0; set[0] && i < ys_view_axes(view); i++) {
        const char *axis = ys_view_short_axis(ys_view_axis(view, i));
        const size_t length = strlen(axis);
        if (strncmp(set, axis, length) == 0 && strncmp(set + length, " = ", 3) == 0)
            return true;
    }
    return false;
}

/* The text at `from`, and in brief what else the same trials depart in, variables under one verb. */
static void put_departures(struct sentence_writer *w, const ys_json *texts, size_t from, ys_json *seen)
{
    static const char set[] = " is set in the environment";
    struct ys_buf names = {0};
    size_t said = 0, variables = 0;
    const char *first = ys_json_text(ys_json_at(texts, from), "");
    for (size_t k = from; k < ys_json_size(texts) && (k == from || w->is_brief); k++) {
        const char *text = ys_json_text(ys_json_at(texts, k), ""), *verb = strstr(text, set);
        const bool is_variable = verb && strcmp(verb, set) == 0;
        if (k > from && (ys_json_get(seen, text) || !are_same_trials(w->view, departs, first, departs, text)))
            continue;
        ys_json_set_bool(seen, text, true);
        if (k > from && w->is_brief && is_in_names(w->view, text))
            continue;
        if (is_variable) {
            ys_buf_puts(&names, variables++ ? ", " : "");
            ys_buf_append(&names, text, (size_t)(verb - text));
        } else {
            ys_buf_puts(&w->text, said++ ? "; " : "");
            ys_text_clean(&w->text, text, false);
        }
    }
    if (variables > 0) {
        ys_buf_puts(&w->text, said ? "; " : "");
        ys_text_clean(&w->text, ys_buf_text(&names), false);
        ys_buf_puts(&w->text, variables == 1 ? set : " are set in the environment");
    }
    ys_buf_free(&names);
}

static void say_more_kinds(struct sentence_writer *w, size_t kinds, const char *one, const char *several)
{
    if (kinds > w->most_kinds)
        ys_buf_printf(&w->text, "%zu more %s.", kinds - w->most_kinds, kinds - w->most_kinds == 1 ? one : several);
    finish(w);
}

/* What trials depart in, each once with those that do; beyond four sentences they are counted. */
static void say_deviations(struct sentence_writer *w)
{
    const struct ys_view *view = w->view;
    ys_json *seen = ys_json_object();
    size_t kinds = 0;
    for (size_t i = 0; i < view->count; i++) {
        const ys_json *texts = view->trials[i].told->deviations;
        for (size_t k = 0; k < ys_json_size(texts); k++) {
            const char *text = ys_json_text(ys_json_at(texts, k), "");
            if (!departs(&view->trials[i], text) || ys_json_get(seen, text) || (w->is_brief && is_in_names(view, text)))
                continue;
            const size_t those = put_those(w, departs, text);
            ys_buf_puts(&w->text, those == 0   ? ": "
                                  : those == 1 ? " departs from the common work: "
                                               : " depart from the common work: ");
            put_departures(w, texts, k, seen);
            ys_buf_puts(&w->text, ".");
            if (++kinds > w->most_kinds)
                ys_buf_clear(&w->text);
            finish(w);
        }
    }
    say_more_kinds(w, kinds, "departure from the common work", "departures from the common work");
    ys_json_free(seen);
}

/* What is doubted of trials, each once with those of which it is; in brief a kind once, with the numbers of one. */
static void say_doubts(struct sentence_writer *w)
{
    bool (*const has)(const struct ys_view_trial *, const char *) = w->is_brief ? has_kind_of_doubt : has_doubt;
    const struct ys_view *view = w->view;
    ys_json *seen = ys_json_object();
    for (size_t i = 0; i < view->count; i++) {
        const ys_json *texts = view->trials[i].told->doubts;
        for (size_t k = 0; k < ys_json_size(texts); k++) {
            const char *text = ys_json_text(ys_json_at(texts, k), "");
            char *kind = w->is_brief ? masked(text) : ys_strdup(text);
            if (!ys_json_get(seen, kind)) {
                ys_json_set_bool(seen, kind, true);
                ys_buf_puts(&w->text, w->is_brief ? "~ " : "");
                put_those(w, has, text);
                ys_buf_puts(&w->text, ": ");
                ys_text_clean(&w->text, text, false);
                if (!are_same_trials(view, has, text, has_doubt, text))
                    ys_buf_printf(&w->text, " (numbers of %s)", view->trials[i].name);
                ys_buf_puts(&w->text, ".");
            }
            ys_free(kind);
            if (ys_json_size(seen) > w->most_kinds)
                ys_buf_clear(&w->text);
            finish(w);
        }
    }
    say_more_kinds(w, ys_json_size(seen), "kind of doubt", "kinds of doubt");
    ys_json_free(seen);
}

/* ---- what of the runs */

/* Runs of all trials with a warning of that kind. */
static int64_t count_runs(const struct ys_view *view, enum ys_warned kind, int64_t *of)
{
    int64_t runs = 0;
    *of = 0;
    for (size_t i = 0; i < view->count; i++) {
        const struct ys_list *warned = &view->trials[i].told->warned;
        const struct ys_result_warned *ones = warned->items;
        *of += view->trials[i].runs;
        for (size_t k = 0; k < warned->count; k++)
            runs += ones[k].kind == (int)kind ? ones[k].runs : 0;
    }
    return runs;
}

static void say_warned(struct sentence_writer *w)
{
    static const struct {
        enum ys_warned kind;
        const char *one, *several, *words;
    } kinds[] = {
        {YS_WARNED_UNSTEADY, "did", "did", "not settle to a steady speed: the last half counts"},
        {YS_WARNED_SHORT, "is", "are", "too short to see warm-up end, with fewer than 30 blocks: the last half counts"},
        {YS_WARNED_LACKING, "is", "are", "missing, where other trials have one"},
    };
    int64_t of;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const int64_t runs = count_runs(w->view, kinds[k].kind, &of);
        const char *verb = runs == 1 ? kinds[k].one : kinds[k].several;
        if (runs > 0 && kinds[k].kind != YS_WARNED_LACKING)
            ys_buf_printf(&w->text, "%lld of ", (long long)runs);
        if (runs > 0)
            ys_buf_printf(&w->text, "%s %s %s.",
                          ys_label_plural(kinds[k].kind == YS_WARNED_LACKING ? runs : of, "run").text, verb,
                          kinds[k].words);
        finish(w);
    }
}

struct warning_text {
    const char *text; /* of the first run that says so */
    const struct ys_view_trial *trial;
    int64_t runs, trials;
};

static struct warning_text count_said(const struct sentence_writer *w, const char *mask)
{
    struct warning_text said = {0};
    for (size_t i = 0; i < w->view->count; i++) {
        const struct ys_list *warned = &w->view->trials[i].told->warned;
        bool is_first = true;
        for (size_t k = 0; k < warned->count; k++) {
            const struct ys_result_warned one = ((const struct ys_result_warned *)warned->items)[k];
            char *own = one.kind == YS_WARNED_SAID && one.text ? masked(one.text) : NULL;
            if (own && strcmp(own, mask) == 0) {
                said.trials += is_first;
                is_first = false;
                said.runs += one.runs;
                said.text = said.text ? said.text : one.text;
                said.trial = &w->view->trials[i];
            }
            ys_free(own);
        }
    }
    return said;
}

/* What runs said themselves. */
static void say_said(struct sentence_writer *w)
{
    ys_json *seen = ys_json_object();
    for (size_t i = 0; i < w->view->count; i++) {
        const struct ys_list *warned = &w->view->trials[i].told->warned;
        for (size_t k = 0; k < warned->count; k++) {
            const struct ys_result_warned one = ((const struct ys_result_warned *)warned->items)[k];
            char *mask = one.kind == YS_WARNED_SAID && one.text ? masked(one.text) : NULL;
            if (mask && !ys_json_get(seen, mask)) {
                ys_json_set_bool(seen, mask, true);
                const struct warning_text said = count_said(w, mask);
                if (said.trials == 1)
                    ys_buf_printf(&w->text, "%s, ", said.trial->name);
                ys_buf_printf(&w->text, "%s: ", ys_label_plural(said.runs, "run").text);
                ys_text_clean(&w->text, said.text, false);
                ys_buf_puts(&w->text, ".");
            }
            ys_free(mask);
            if (ys_json_size(seen) > w->most_kinds)
                ys_buf_clear(&w->text);
            finish(w);
        }
    }
    say_more_kinds(w, ys_json_size(seen), "kind of warning", "kinds of warning");
    ys_json_free(seen);
}

/* ---- what of the surroundings */

/* Two frameworks have two runtimes and other libraries: that is what is compared. */
static bool is_expected(int what)
{
    return what == YS_DIFFERENCE_RUNTIME || what == YS_DIFFERENCE_LIBRARIES;
}

/* A sentence that begins with a trial's id begins with its name. */
static void put_by_name(struct sentence_writer *w, const char *text)
{
    for (size_t i = 0; i < w->view->count; i++) {
        const struct ys_view_trial *trial = &w->view->trials[i];
        const size_t length = strlen(trial->id);
        if (length == 0 || strncmp(text, trial->id, length) != 0 || text[length] != ' ')
            continue;
        ys_buf_puts(&w->text, trial->name);
        text += length;
        break;
    }
    ys_text_clean(&w->text, text, false);
}

static void say_environment(struct sentence_writer *w)
{
    const struct ys_difference *all = w->view->differences->items;
    const ys_json *host = w->view->host_warnings;
    size_t more = 0;
    bool is_said = false;
    for (size_t i = 0; i < w->view->differences->count; i++) {
        if (is_expected(all[i].what))
            continue;
        more += is_said;
        if (!is_said)
            put_by_name(w, all[i].text);
        is_said = true;
    }
    if (more > 0)
        ys_buf_printf(&w->text, "; and %s", ys_label_plural((long long)more, "more difference").text);
    if (w->text.size > 0)
        ys_buf_puts(&w->text, ".");
    finish(w);
    if (ys_json_size(host) > 0)
        ys_text_clean(&w->text, ys_json_text(ys_json_at(host, 0), ""), false);
    if (ys_json_size(host) > 1)
        ys_buf_printf(&w->text, "; and %zu more of this machine", ys_json_size(host) - 1);
    if (w->text.size > 0 && w->text.data[w->text.size - 1] != '.')
        ys_buf_puts(&w->text, ".");
    finish(w);
}

static void say_answer(struct sentence_writer *w)
{
    struct ys_buf lines = {0};
    ys_answer(&lines, w->view);
    for (char *line = lines.size ? lines.data : NULL, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        ys_buf_append(&w->text, line, (size_t)(end - line));
        finish(w);
    }
    finish(w);
    ys_buf_free(&lines);
}

static void say_disturbed(struct sentence_writer *w)
{
    ys_observed_put_disturbed(&w->text, w->view);
    finish(w);
}

ys_json *ys_words(const struct ys_view *view, unsigned parts)
{
    static const struct {
        unsigned part;
        void (*say)(struct sentence_writer *);
    } sayings[] = {
        {YS_WORDS_STATE, say_state},         {YS_WORDS_SPEED, say_answer},        {YS_WORDS_FAILED, say_failures},
        {YS_WORDS_ANSWERS, say_agreements},  {YS_WORDS_PROOFS, say_proofs},       {YS_WORDS_IDLE, say_no_work},
        {YS_WORDS_IDLE, say_data},           {YS_WORDS_DOUBTS, say_doubts},       {YS_WORDS_REMARKS, say_deviations},
        {YS_WORDS_DISTURBED, say_disturbed}, {YS_WORDS_ROUNDS, say_rounds},       {YS_WORDS_REMARKS, say_warned},
        {YS_WORDS_REMARKS, say_said},        {YS_WORDS_REMARKS, say_environment},
    };
    const bool is_brief = parts & YS_WORDS_FEW;
    struct sentence_writer w = {.view = view,
                                .sentences = ys_json_array(),
                                .is_brief = is_brief,
                                .most_names = is_brief ? FEW_NAMES : MANY,
                                .most_kinds = is_brief ? FEW_KINDS : MANY};
    for (size_t i = 0; i < sizeof sayings / sizeof sayings[0]; i++)
        if (parts & sayings[i].part)
            sayings[i].say(&w);
    ys_buf_free(&w.text);
    return w.sentences;
}
