/* Whose word a number rests on: how runs were observed, and what adapters say of themselves. */
#include "report/page_parts.h"
#include "report/view/view.h"
#include "report/tables/tables.h"
#include "report/clean_text.h"
#include "crew/self_report.h"

#include <string.h>

static void put_texts(struct ys_sheet *sheet, const struct ys_list *texts, const struct ys_list *more)
{
    struct ys_buf text = {0};
    for (size_t i = 0; i < texts->count; i++)
        ys_buf_printf(&text, "%s%s", i ? ", " : "", ((char *const *)texts->items)[i]);
    for (size_t i = 0; i < more->count; i++)
        ys_buf_printf(&text, "%s%s", text.size ? "; " : "", ((char *const *)more->items)[i]);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, text.size ? ys_buf_text(&text) : "-");
    ys_buf_free(&text);
}

static void put_yes_no(struct ys_sheet *sheet, bool is_so, const char *how)
{
    ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%s%s%s", is_so ? "yes" : "no", how && how[0] ? ": " : "", how ? how : "");
}

static void fill_observed(struct ys_sheet *sheet, const struct ys_view *view)
{
    static const char *const heads[] = {"Control group of its own", "Kept from writing elsewhere",
                                        "Numerical libraries mapped"};
    sheet->is_plain = sheet->keeps_heads = true;
    ys_table_trials(sheet, view, "Trial");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        ys_sheet_column(sheet, YS_FORM_PAGE, YS_COLUMN_TEXT, heads[i], NULL);
    const size_t count = ys_table_count(sheet, view);
    for (size_t i = 0; i < count; i++) {
        const struct ys_result_observed *observed = view->trials[i].told->observed;
        if (!observed)
            continue;
        ys_table_trial(sheet, view, i);
        put_yes_no(sheet, observed->grouped, observed->group);
        put_yes_no(sheet, observed->guarded, observed->guard);
        put_texts(sheet, &observed->libraries, &observed->notes);
    }
}

static void put_row(struct ys_sheet *sheet, const struct ys_self_report *row)
{
    const char *verdict = ys_name_of(&ys_said_verdicts, row->verdict);
    const char *const texts[] = {row->what, row->said, row->known ? row->known : "-", row->source};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
        ys_sheet_put(sheet, YS_MOOD_PLAIN, texts[k]);
    ys_sheet_put(sheet, row->verdict == YS_SAID_DIFFERS ? YS_MOOD_BAD : YS_MOOD_PLAIN, verdict ? verdict : "-");
}

static void fill_said(struct ys_sheet *sheet, const struct ys_view *view)
{
    static const char *const heads[] = {"What", "Its word", "What was observed", "From"};
    sheet->is_plain = sheet->keeps_heads = true;
    sheet->things = "rows";
    ys_table_trials(sheet, view, "Trial");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        ys_sheet_column(sheet, YS_FORM_PAGE, YS_COLUMN_TEXT, heads[i], NULL);
    ys_sheet_column(sheet, YS_FORM_PAGE, YS_COLUMN_FLAG, "Verdict", NULL);
    for (size_t i = 0; i < view->count; i++) {
        const struct ys_list *said = &view->trials[i].told->said;
        for (size_t k = 0; k < said->count; k++) {
            if (sheet->total++ >= YS_SHEET_MOST)
                continue;
            ys_table_trial(sheet, view, i);
            put_row(sheet, (const struct ys_self_report *)said->items + k);
        }
    }
}

static bool has_any(const struct ys_view *view, bool observed)
{
    for (size_t i = 0; i < view->count; i++)
        if (observed ? view->trials[i].told->observed != NULL : view->trials[i].told->said.count > 0)
            return true;
    return false;
}

void ys_html_said(struct ys_buf *out, const struct ys_view *view)
{
    if (has_any(view, true)) {
        ys_html_put(out, "p", NULL,
                    "From outside, as processes, by one program for all: times by its own clock, processor time and "
                    "memory as the kernel counts them, exactly for a run with a control group of its own, else by what "
                    "it waited for and by samples. How each number came about stands beside it in All metrics.");
        ys_table_write(fill_observed, view, &ys_page_medium, out);
    }
    if (!has_any(view, false))
        return;
    ys_html_put(
        out, "p", NULL,
        "What adapters say of themselves counts for nothing in any number but that of the parameters; where it is "
        "not so, a warning names both.");
    ys_table_write(fill_said, view, &ys_page_medium, out);
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
            ys_buf_printf(&command, "%lld", (long long)view->id);
        if (checks[i].middle == JOB)
            put_job(&command, ys_view_or(view->study->command, ""));
        ys_buf_puts(&command, checks[i].rest);
        ys_buf_puts(out, "<tr>\n");
        ys_html_put(out, "td", NULL, checks[i].question);
        ys_buf_puts(out, "<td><code>");
        ys_text_html(out, ys_buf_text(&command));
        ys_buf_puts(out, "</code></td>\n</tr>\n");
    }
    ys_buf_puts(out, "</table>\n</div>\n");
    ys_buf_free(&command);
}
