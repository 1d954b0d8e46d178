/* What is to be known before numbers are believed: a line for each kind, with how many runs or trials it hit. */
#include "report/summary.h"

#include "base/mem.h"
#include "report/observed.h"
#include "report/section.h"
#include "report/text.h"

#include <ctype.h>
#include <string.h>

enum { MOST_NAMES = 3, MOST_KINDS = 4 };

struct notes {
    const struct ys_view *view;
    ys_json *lines;
    struct ys_buf text; /* the line in work */
    ys_status status;
};

static void finish(struct notes *notes)
{
    if (notes->status == YS_OK && notes->text.failed)
        notes->status = ys_out_of_memory();
    if (notes->status == YS_OK && notes->text.size > 0)
        notes->status = ys_json_append(notes->lines, ys_json_string(ys_buf_text(&notes->text)));
    ys_buf_clear(&notes->text);
}

/* Names of the trials for which it is so: three of them, and how many more. Returns how many there are. */
static size_t put_those(struct notes *notes, bool (*is_so)(const struct ys_view_trial *, const char *),
                        const char *text)
{
    size_t all = 0, said = 0, working = 0;
    for (size_t i = 0; i < notes->view->count; i++) {
        all += is_so(&notes->view->trials[i], text);
        working += notes->view->trials[i].measured && !notes->view->trials[i].no_work;
    }
    if (all > MOST_NAMES && all == working) {
        ys_buf_printf(&notes->text, "all %zu trials", all);
        return all;
    }
    for (size_t i = 0; i < notes->view->count && said < MOST_NAMES; i++) {
        if (!is_so(&notes->view->trials[i], text))
            continue;
        ys_buf_puts(&notes->text, ys_label_join(said, all, "; "));
        ys_buf_puts(&notes->text, notes->view->trials[i].name);
        said++;
    }
    if (all > said)
        ys_buf_printf(&notes->text, " and %zu more", all - said);
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

static void note_proofs(struct notes *notes)
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
        ys_buf_printf(&notes->text, "%s ", kinds[k].lead);
        const size_t before = notes->text.size, count = put_those(notes, kinds[k].is_so, NULL);
        if (notes->text.size > before)
            ys_buf_printf(&notes->text, " %s.", count == 1 ? kinds[k].one : kinds[k].several);
        else
            ys_buf_clear(&notes->text);
        finish(notes);
    }
}

static void note_data(struct notes *notes)
{
    for (size_t i = 0; i < notes->view->work_count; i++)
        if (strcmp(ys_view_or(notes->view->works[i].data, ""), "synthetic") == 0 &&
            ys_view_is_known(notes->view, "accuracy") && notes->text.size == 0)
            ys_buf_puts(&notes->text, "synthetic is random data: accuracy means nothing.");
    finish(notes);
}

static bool is_idle(const struct ys_view_trial *trial)
{
    return trial->no_work && trial->measured && trial->member == 0;
}

/* By frameworks. */
static void note_no_work(struct notes *notes)
{
    const struct ys_view *view = notes->view;
    size_t idle = 0, said = 0;
    for (size_t i = 0; i < view->count; i++)
        idle += is_idle(&view->trials[i]);
    for (size_t i = 0; i < view->count; i++)
        if (is_idle(&view->trials[i])) {
            ys_buf_puts(&notes->text, ys_label_join(said, idle, ", "));
            ys_buf_puts(&notes->text, view->trials[i].title);
            said++;
        }
    if (idle > 0)
        ys_buf_printf(&notes->text, " %s no work: %s numbers show what measuring costs.", idle == 1 ? "does" : "do",
                      idle == 1 ? "its" : "their");
    finish(notes);
}

static bool has_doubt(const struct ys_view_trial *trial, const char *text)
{
    return ys_json_lists(trial->told.doubts, text);
}

static bool departs(const struct ys_view_trial *trial, const char *text)
{
    return ys_json_lists(trial->told.deviations, text);
}

/* Texts that trials have in common, each once with the trials that have it; beyond four they are counted. */
static void note_texts(struct notes *notes, bool (*has)(const struct ys_view_trial *, const char *), bool doubts,
                       const char *more)
{
    const struct ys_view *view = notes->view;
    ys_json *seen = ys_json_object();
    for (size_t i = 0; i < view->count && notes->status == YS_OK; i++) {
        const struct ys_view_told *told = &view->trials[i].told;
        const ys_json *texts = doubts ? told->doubts : told->deviations;
        for (size_t k = 0; k < ys_json_size(texts) && notes->status == YS_OK; k++) {
            const char *text = ys_json_text(ys_json_at(texts, k), "");
            if (ys_json_get(seen, text))
                continue;
            notes->status = ys_json_set_bool(seen, text, true);
            if (ys_json_size(seen) > MOST_KINDS)
                continue;
            if (doubts)
                ys_buf_puts(&notes->text, "~ ");
            const size_t those = put_those(notes, has, text);
            ys_buf_puts(&notes->text, doubts       ? ": "
                                      : those == 1 ? " departs from the common work: "
                                                   : " depart from the common work: ");
            ys_text_clean(&notes->text, text, false);
            ys_buf_puts(&notes->text, ".");
            finish(notes);
        }
    }
    if (ys_json_size(seen) > MOST_KINDS)
        ys_buf_printf(&notes->text, "%zu more %s.", ys_json_size(seen) - MOST_KINDS, more);
    finish(notes);
    ys_json_free(seen);
}

/* ---- what of the runs */

/* Runs of all trials with a warning of that kind. */
static int64_t count_runs(const struct ys_view *view, enum ys_warned kind, int64_t *of)
{
    int64_t runs = 0;
    *of = 0;
    for (size_t i = 0; i < view->count; i++) {
        const ys_json *warned = view->trials[i].told.warned;
        *of += view->trials[i].runs;
        for (size_t k = 0; k < ys_json_size(warned); k++) {
            struct ys_result_warned one;
            ys_record_glance(&ys_result_warned_record, ys_json_at(warned, k), &one);
            runs += one.kind == (int)kind ? one.runs : 0;
        }
    }
    return runs;
}

static void note_runs(struct notes *notes)
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
    ys_observed_put_disturbed(&notes->text, notes->view);
    finish(notes);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const int64_t runs = count_runs(notes->view, kinds[k].kind, &of);
        const char *verb = runs == 1 ? kinds[k].one : kinds[k].several;
        if (runs > 0 && kinds[k].kind != YS_WARNED_LACKING)
            ys_buf_printf(&notes->text, "%lld of ", (long long)runs);
        if (runs > 0)
            ys_buf_printf(&notes->text, "%s %s %s.",
                          ys_label_plural(kinds[k].kind == YS_WARNED_LACKING ? runs : of, "run").text, verb,
                          kinds[k].words);
        finish(notes);
    }
}

/* A text without its numbers: what two runs say alike. */
static char *masked(const char *text)
{
    struct ys_buf mask = {0};
    for (; *text; text++)
        if (!isdigit((unsigned char)*text) && *text != '.')
            ys_buf_append(&mask, text, 1);
    char *made = mask.failed ? NULL : ys_strdup(ys_buf_text(&mask));
    ys_buf_free(&mask);
    return made;
}

struct said {
    const char *text; /* of the first run that says so */
    const struct ys_view_trial *trial;
    int64_t runs, trials;
};

static struct said count_said(const struct notes *notes, const char *mask)
{
    struct said said = {0};
    for (size_t i = 0; i < notes->view->count; i++) {
        const ys_json *warned = notes->view->trials[i].told.warned;
        bool is_first = true;
        for (size_t k = 0; k < ys_json_size(warned); k++) {
            struct ys_result_warned one;
            ys_record_glance(&ys_result_warned_record, ys_json_at(warned, k), &one);
            char *own = one.kind == YS_WARNED_SAID && one.text ? masked(one.text) : NULL;
            if (own && strcmp(own, mask) == 0) {
                said.trials += is_first;
                is_first = false;
                said.runs += one.runs;
                said.text = said.text ? said.text : one.text;
                said.trial = &notes->view->trials[i];
            }
            ys_free(own);
        }
    }
    return said;
}

/* What runs said themselves. */
static void note_said(struct notes *notes)
{
    ys_json *seen = ys_json_object();
    for (size_t i = 0; i < notes->view->count && notes->status == YS_OK; i++) {
        const ys_json *warned = notes->view->trials[i].told.warned;
        for (size_t k = 0; k < ys_json_size(warned) && notes->status == YS_OK; k++) {
            struct ys_result_warned one;
            ys_record_glance(&ys_result_warned_record, ys_json_at(warned, k), &one);
            char *mask = one.kind == YS_WARNED_SAID && one.text ? masked(one.text) : NULL;
            if (mask && !ys_json_get(seen, mask)) {
                notes->status = ys_json_set_bool(seen, mask, true);
                const struct said said = count_said(notes, mask);
                if (said.trials == 1)
                    ys_buf_printf(&notes->text, "%s, ", said.trial->name);
                ys_buf_printf(&notes->text, "%s: ", ys_label_plural(said.runs, "run").text);
                ys_text_clean(&notes->text, said.text, false);
                ys_buf_puts(&notes->text, ".");
            }
            ys_free(mask);
            if (ys_json_size(seen) > MOST_KINDS)
                ys_buf_clear(&notes->text);
            finish(notes);
        }
    }
    if (ys_json_size(seen) > MOST_KINDS)
        ys_buf_printf(&notes->text, "%s more.",
                      ys_label_plural((long long)ys_json_size(seen) - MOST_KINDS, "kind of warning").text);
    finish(notes);
    ys_json_free(seen);
}

/* ---- what of the surroundings */

/* Two frameworks have two runtimes and other libraries: that is what is compared. */
static bool is_expected(const char *what)
{
    return what && (strcmp(what, "runtime") == 0 || strcmp(what, "libraries") == 0);
}

/* A sentence that begins with a trial's id begins with its name. */
static void put_by_name(struct notes *notes, const char *text)
{
    for (size_t i = 0; i < notes->view->count; i++) {
        const struct ys_view_trial *trial = &notes->view->trials[i];
        const size_t length = strlen(trial->id);
        if (length == 0 || strncmp(text, trial->id, length) != 0 || text[length] != ' ')
            continue;
        ys_buf_puts(&notes->text, trial->name);
        text += length;
        break;
    }
    ys_text_clean(&notes->text, text, false);
}

static void note_environment(struct notes *notes)
{
    const ys_json *all = notes->view->environment_differences, *host = notes->view->host_warnings;
    size_t more = 0;
    bool is_said = false;
    for (size_t i = 0; i < ys_json_size(all); i++) {
        const struct ys_view_difference one = ys_view_read_difference(ys_json_at(all, i));
        if (is_expected(one.what))
            continue;
        more += is_said;
        if (!is_said)
            put_by_name(notes, ys_view_or(one.text, ys_view_or(one.what, "the surroundings differ")));
        is_said = true;
    }
    if (more > 0)
        ys_buf_printf(&notes->text, "; and %s", ys_label_plural((long long)more, "more difference").text);
    if (notes->text.size > 0)
        ys_buf_puts(&notes->text, ".");
    finish(notes);
    if (ys_json_size(host) > 0)
        ys_text_clean(&notes->text, ys_json_text(ys_json_at(host, 0), ""), false);
    if (ys_json_size(host) > 1)
        ys_buf_printf(&notes->text, "; and %zu more of this machine", ys_json_size(host) - 1);
    if (notes->text.size > 0 && notes->text.data[notes->text.size - 1] != '.')
        ys_buf_puts(&notes->text, ".");
    finish(notes);
}

ys_status ys_summary_notes(const struct ys_view *view, ys_json *lines)
{
    struct notes notes = {.view = view, .lines = lines, .status = YS_OK};
    note_proofs(&notes);
    note_no_work(&notes);
    note_data(&notes);
    note_texts(&notes, has_doubt, true, "kinds of doubt");
    note_texts(&notes, departs, false, "departures from the common work");
    note_runs(&notes);
    note_said(&notes);
    note_environment(&notes);
    ys_buf_free(&notes.text);
    return notes.status;
}
