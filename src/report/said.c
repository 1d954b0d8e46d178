/* Whose word a number rests on: how runs were observed, and what adapters say of themselves. */
#include "base/record.h"
#include "report/html.h"
#include "report/text.h"
#include "run/said.h"

#include <string.h>

/* How a run was observed, as the document has it. */
struct observed {
    bool grouped, guarded;
    char *group, *guard;
    struct ys_list libraries, notes; /* char * */
};
static const struct ys_field observed_fields[] = {
    YS_FIELD(struct observed, grouped, YS_FIELD_FLAG, NULL, YS_FIELD_LATER, "it had a control group"),
    YS_FIELD(struct observed, group, YS_FIELD_TEXT, NULL, YS_FIELD_NULL | YS_FIELD_LATER, "which, or why not"),
    YS_FIELD(struct observed, guarded, YS_FIELD_FLAG, NULL, YS_FIELD_LATER, "it could not write what is not its own"),
    YS_FIELD(struct observed, guard, YS_FIELD_TEXT, NULL, YS_FIELD_NULL | YS_FIELD_LATER, "by what, or why not"),
    YS_FIELD(struct observed, libraries, YS_FIELD_TEXTS, NULL, YS_FIELD_LATER, "mapped"),
    YS_FIELD(struct observed, notes, YS_FIELD_TEXTS, NULL, YS_FIELD_LATER, "what hides in them"),
};
static const struct ys_record observed_record = YS_RECORD("observed", struct observed, observed_fields);

static void begin_table(struct ys_buf *out, const char *const *heads, size_t count)
{
    ys_buf_puts(out, "<div class=\"scroll\">\n<table>\n<tr>\n");
    for (size_t i = 0; i < count; i++)
        ys_html_put(out, "th", NULL, heads[i]);
    ys_buf_puts(out, "</tr>\n");
}

static void end_table(struct ys_buf *out)
{
    ys_buf_puts(out, "</table>\n</div>\n");
}

static void put_texts(struct ys_buf *out, const struct ys_list *texts, const struct ys_list *more)
{
    struct ys_buf text = {0};
    for (size_t i = 0; i < texts->count; i++)
        ys_buf_printf(&text, "%s%s", i ? ", " : "", ((char *const *)texts->items)[i]);
    for (size_t i = 0; i < more->count; i++)
        ys_buf_printf(&text, "%s%s", text.size ? "; " : "", ((char *const *)more->items)[i]);
    ys_html_put(out, "td", NULL, text.size ? ys_buf_text(&text) : "-");
    out->failed |= text.failed;
    ys_buf_free(&text);
}

static void put_yes_no(struct ys_buf *out, bool is_so, const char *how)
{
    struct ys_buf text = {0};
    ys_buf_printf(&text, "%s%s%s", is_so ? "yes" : "no", how && how[0] ? ": " : "", how ? how : "");
    ys_html_put(out, "td", NULL, ys_buf_text(&text));
    out->failed |= text.failed;
    ys_buf_free(&text);
}

/* What is damaged says nothing. */
static ys_status read_or_pass(const struct ys_record *record, const ys_json *object, void *item, bool *is_read)
{
    ys_status status =
        ys_json_type_of(object) == YS_JSON_OBJECT ? ys_record_read(record, object, "the result", item) : YS_EFORMAT;
    *is_read = status == YS_OK;
    return status == YS_ENOMEM ? status : YS_OK;
}

static ys_status put_observed(struct ys_buf *out, const struct ys_view_trial *trial)
{
    struct observed observed;
    bool is_read;
    YS_TRY(read_or_pass(&observed_record, trial->told.observed, &observed, &is_read));
    if (!is_read)
        return YS_OK;
    ys_buf_puts(out, "<tr>\n");
    ys_html_put(out, "td", "name", trial->name);
    put_yes_no(out, observed.grouped, observed.group);
    put_yes_no(out, observed.guarded, observed.guard);
    put_texts(out, &observed.libraries, &observed.notes);
    ys_buf_puts(out, "</tr>\n");
    ys_record_fini(&observed_record, &observed);
    return YS_OK;
}

static void put_row(struct ys_buf *out, const char *name, const struct ys_said *row)
{
    const char *verdict = ys_name_of(&ys_said_verdicts, row->verdict);
    ys_buf_puts(out, "<tr>\n");
    ys_html_put(out, "td", "name", name);
    ys_html_put(out, "td", NULL, row->what);
    ys_html_put(out, "td", NULL, row->said);
    ys_html_put(out, "td", NULL, row->known ? row->known : "-");
    ys_html_put(out, "td", NULL, row->source);
    ys_html_put(out, "td", row->verdict == YS_SAID_DIFFERS ? "v bad" : NULL, verdict ? verdict : "-");
    ys_buf_puts(out, "</tr>\n");
}

static ys_status put_said(struct ys_buf *out, const struct ys_view_trial *trial, size_t *rows)
{
    for (size_t i = 0; i < ys_json_size(trial->told.said); i++) {
        struct ys_said row;
        bool is_read;
        YS_TRY(read_or_pass(&ys_said_record, ys_json_at(trial->told.said, i), &row, &is_read));
        if (!is_read)
            continue;
        if ((*rows)++ < YS_HTML_MOST)
            put_row(out, trial->name, &row);
        ys_record_fini(&ys_said_record, &row);
    }
    return YS_OK;
}

static bool has_any(const struct ys_view *view, bool observed)
{
    for (size_t i = 0; i < view->count; i++)
        if (ys_json_size(observed ? view->trials[i].told.observed : view->trials[i].told.said) > 0)
            return true;
    return false;
}

static ys_status put_all_said(struct ys_buf *out, const struct ys_view *view)
{
    static const char *const heads[] = {"Trial", "What", "Its word", "What was observed", "From", "Verdict"};
    size_t rows = 0;
    ys_html_put(
        out, "p", NULL,
        "What adapters say of themselves counts for nothing in any number but that of the parameters; where it is "
        "not so, a warning names both.");
    begin_table(out, heads, sizeof heads / sizeof heads[0]);
    for (size_t i = 0; i < view->count; i++)
        YS_TRY(put_said(out, &view->trials[i], &rows));
    end_table(out);
    ys_html_say_cut(out, view, YS_HTML_MOST, rows, "rows");
    return YS_OK;
}

ys_status ys_html_said(struct ys_buf *out, const struct ys_view *view)
{
    static const char *const heads[] = {"Trial", "Control group of its own", "Kept from writing elsewhere",
                                        "Numerical libraries mapped"};
    const size_t shown = view->count < YS_HTML_MOST ? view->count : YS_HTML_MOST;
    const bool observed = has_any(view, true), said = has_any(view, false);
    if (!observed && !said)
        return YS_OK;
    if (observed) {
        ys_html_put(out, "p", NULL,
                    "From outside, as processes, by one program for all: times by its own clock, processor time and "
                    "memory as the kernel counts them, exactly for a run with a control group of its own, else by what "
                    "it waited for and by samples. How each number came about stands beside it in All metrics.");
        begin_table(out, heads, sizeof heads / sizeof heads[0]);
        for (size_t i = 0; i < shown; i++)
            YS_TRY(put_observed(out, &view->trials[i]));
        end_table(out);
        ys_html_say_cut(out, view, shown, view->count, "trials");
    }
    return said ? put_all_said(out, view) : YS_OK;
}

static bool begins_as(const char *word, const char *const *beginnings)
{
    while (*beginnings && strncmp(word, *beginnings, strlen(*beginnings)) != 0)
        beginnings++;
    return *beginnings != NULL;
}

/* Behind the verb `run`, which may be left out where a file comes first; NULL: a command of another kind. */
static const char *behind_run(const char *command)
{
    static const char self[] = "yardstick ", run[] = "run ";
    if (strncmp(command, self, sizeof self - 1) != 0)
        return NULL;
    const char *at = command + sizeof self - 1;
    if (strncmp(at, run, sizeof run - 1) == 0)
        return at + sizeof run - 1;
    return strcspn(at, "./") < strcspn(at, " ") ? at : NULL;
}

/* What the study's own command says behind its verb, without the words that another command has of its own. */
static void put_job(struct ys_buf *out, const char *command)
{
    static const char *const own[] = {"--audit=", "--format=", "--fresh", "--quiet", NULL};
    const char *at = behind_run(command), *space = "";
    if (!at)
        ys_buf_puts(out, "JOB.ys");
    while (at && *at) {
        const size_t length = strcspn(at, " ");
        if (!begins_as(at, own)) {
            ys_buf_printf(out, "%s%.*s", space, (int)length, at);
            space = " ";
        }
        at += length + (at[length] == ' ');
    }
}

/* Each question of a reader who distrusts a number, and the command that answers it. */
void ys_html_checks(struct ys_buf *out, const struct ys_view *view)
{
    static const struct {
        const char *question, *command;
        enum { NOTHING, STUDY, JOB } middle; /* what stands between the two halves of the command */
        const char *rest;
    } checks[] = {
        {"Is what is stored what was measured?", "yardstick show ", STUDY, " --verify"},
        {"What does a number mean, and what can it not tell?", "yardstick list metrics NAME", NOTHING, ""},
        {"Of which values is it made?", "yardstick show ", STUDY, " --format=json"},
        {"Of which time stamps, samples and losses are they?", "yardstick export ", STUDY, ""},
        {"Is it the same work?", "yardstick verify ", JOB, " --fresh"},
        {"Did the runs that were timed do that work?", "yardstick run ", JOB, " --audit=all"},
        {"Does this machine show what is so?", "yardstick doctor --self-test", NOTHING, ""},
        {"Does observing change it?", "yardstick doctor --perturbation", NOTHING, ""},
        {"What difference can this machine show?", "yardstick doctor --noise 60s", NOTHING, ""},
    };
    struct ys_buf command = {0};
    ys_buf_puts(out, "<div class=\"scroll\">\n<table>\n");
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        ys_buf_clear(&command);
        ys_buf_puts(&command, checks[i].command);
        if (checks[i].middle == STUDY)
            ys_buf_printf(&command, "%lld", (long long)view->study.id);
        if (checks[i].middle == JOB)
            put_job(&command, ys_view_or(view->study.command, ""));
        ys_buf_puts(&command, checks[i].rest);
        ys_buf_puts(out, "<tr>\n");
        ys_html_put(out, "td", NULL, checks[i].question);
        ys_buf_puts(out, "<td><code>");
        ys_text_html(out, ys_buf_text(&command));
        ys_buf_puts(out, "</code></td>\n</tr>\n");
    }
    end_table(out);
    ys_buf_free(&command);
}
