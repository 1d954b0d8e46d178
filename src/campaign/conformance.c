#include "campaign/conformance.h"

#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/files/working_folder.h"
#include "base/stop.h"
#include "framework/network_file.h"
#include "verify/operators/check_models.h"
#include "study/audit_answers.h"
#include "campaign/conformance_list.h"
#include "study/state.h"
#include "verify/conduct/conduct.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KEYS  (YS_CONFORMANCE_KEYS + 8)
#define SHOWN "answers that it shows are those of their requests"

static const char *const verdict_words[] = {"pass", "weak", "unsupported", "fail"};
const struct ys_names ys_conformance_verdicts = YS_NAMES("verdict", verdict_words);

#define CASE               struct ys_conformance_case
#define TEXT(member, what) YS_FIELD(CASE, member, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, what)
#define REAL(member, what) YS_FIELD(CASE, member, YS_FIELD_REAL, "1", YS_FIELD_NULL, what)
#define BEGIN              TEXT(name, "of the case"), YS_FIELD_NAMED(CASE, verdict, &ys_conformance_verdicts, 0, "how it went")
#define MEASURED                                                                                                       \
    REAL(error, "null: infinite, or nothing was compared"), REAL(bound, "of it"), TEXT(worst, "where it is largest")
#define END TEXT(part, "of the check"), YS_FIELD(CASE, cases, YS_FIELD_INT, "1", 0, "how many it stands for")
static const struct ys_field word_fields[] = {BEGIN, TEXT(message, "why"), END};
static const struct ys_field hello_fields[] = {
    BEGIN, TEXT(message, "why"), YS_FIELD(CASE, hello, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "what was said"), END};
static const struct ys_field proof_fields[] = {
    BEGIN,
    TEXT(check, "the one that failed, or came closest"),
    MEASURED,
    TEXT(message, "why; null of one that passed"),
    YS_FIELD(CASE, run, YS_FIELD_TEXT, NULL, YS_FIELD_NULL | YS_FIELD_MAY_LACK, "the command that repeats a failure"),
    END};
static const struct ys_field measure_fields[] = {BEGIN, MEASURED, END};

const struct ys_record *ys_conformance_case_record(enum ys_conformance_about about)
{
    static const struct ys_record records[] = {
        [YS_CASE_WORD] = YS_RECORD("case", CASE, word_fields),
        [YS_CASE_HELLO] = YS_RECORD("case", CASE, hello_fields),
        [YS_CASE_PROOF] = YS_RECORD("case", CASE, proof_fields),
        [YS_CASE_MEASURE] = YS_RECORD("case", CASE, measure_fields),
    };
    return &records[about];
}
#undef TEXT

#define REPORT              struct ys_conformance
#define TEXT(member, what)  YS_FIELD(REPORT, member, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, what)
#define COUNT(member, what) YS_FIELD(REPORT, member, YS_FIELD_INT, "1", 0, what)
static const struct ys_field report_fields[] = {
    TEXT(framework, "as a job names it"),
    YS_FIELD(REPORT, mode, YS_FIELD_TEXTS, NULL, 0, "the keys that it was checked with"),
    TEXT(title, "for people"),
    TEXT(version, "of the framework"),
    TEXT(state, "ready or missing"),
    TEXT(reason, "of that state"),
    TEXT(command, "what would help"),
    YS_FIELD(REPORT, hello, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "what the adapter says of itself"),
    YS_FIELD(REPORT, cases, YS_FIELD_JSON, NULL, 0, "each of them"),
    COUNT(passed, "cases"),
    COUNT(failed, "cases"),
    COUNT(unsupported, "cases"),
};
const struct ys_record ys_conformance_record = YS_RECORD("conformance", REPORT, report_fields);

struct checker {
    const struct ys_conformance_options *options;
    const struct ys_framework *framework;
    ys_json *env, *given;   /* the variables of the mode, {NAME: text}, and its options, {NAME: value} */
    struct ys_message said; /* its hello */
    bool has[YS_MODE_COUNT];
    const char *small, *small_nll; /* the networks for what is no operator */
    const char *part;
    struct ys_conformance *report;
};

/* One proof: the keys of its job, and what its line is called. */
struct proof_case {
    const char *name;
    const char *keys[KEYS]; /* ended by NULL */
    size_t count;
    bool meaning_only;
};

static void add_key(struct proof_case *p, const char *key)
{
    YS_ASSERT(p->count + 1 < KEYS);
    p->keys[p->count++] = key;
}

/* Hands a case on and counts it. */
static void tell(struct checker *c, const struct ys_conformance_case *found, int64_t cases)
{
    struct ys_conformance *report = c->report;
    struct ys_conformance_case told = *found;
    told.part = c->part;
    told.cases = cases;
    *(told.verdict == YS_CASE_FAIL          ? &report->failed
      : told.verdict == YS_CASE_UNSUPPORTED ? &report->unsupported
                                            : &report->passed) += cases;
    if (c->options->on_case)
        c->options->on_case(c->options->context, &told);
    ys_json_append(report->cases, ys_record_json(ys_conformance_case_record(told.about), &told));
}

static void tell_simply(struct checker *c, const char *name, enum ys_conformance_verdict verdict, const char *message)
{
    const struct ys_conformance_case told = {
        .about = YS_CASE_WORD, .name = name, .verdict = verdict, .message = message, .error = NAN, .bound = NAN};
    tell(c, &told, 1);
}

static ys_status take_flag(struct ys_job_flags *flags, char *flag_taken)
{
    int at = 0;
    bool taken = false;
    ys_status status = ys_job_flags_take(flags, 1, &flag_taken, &at, &taken);
    if (status == YS_OK && !taken)
        status = ys_fail(YS_EINTERNAL, "%s is no key of a job", flag_taken);
    ys_free(flag_taken);
    return status;
}

static enum ys_mode mode_of(const char *const *keys, size_t count)
{
    int mode = YS_NAME_NONE;
    for (size_t i = 0; i < count && keys[i]; i++)
        if (strncmp(keys[i], "mode=", 5) == 0)
            mode = ys_name_find(&ys_modes, keys[i] + 5);
    return ys_mode_of(mode)->mode;
}

/* The key that says how long a case is, or, where a mode has none, how long the weights are trained that it has. */
static const char *length_key(const struct proof_case *p)
{
    const struct ys_mode_facts *facts = ys_mode_of(mode_of(p->keys, p->count));
    return facts->lengths[0] ? facts->units : "steps";
}

/* "--" and a key, for each; --framework and what all have in common come first, the mode last. */
static ys_status make_flags(const struct checker *c, const struct proof_case *p, struct ys_job_flags *flags)
{
    char *framework = ys_format("framework=%s", c->framework->spec);
    char *length = ys_format("%s=10", length_key(p));
    const char *common[] = {framework, "data=synthetic", "threads=1", "batch=8", length};
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < 5 + p->count; i++)
        status = take_flag(flags, ys_format("--%s", i < 5 ? common[i] : p->keys[i - 5]));
    char *const *mode = c->report->mode.items;
    for (size_t i = 0; status == YS_OK && i < c->report->mode.count; i++)
        status = take_flag(flags, ys_strdup(mode[i]));
    ys_free(framework);
    ys_free(length);
    return status;
}

/* The command that proves it again, with its trace. */
static char *command_of(const struct checker *c, const struct proof_case *p)
{
    struct ys_buf text = {0};
    ys_buf_printf(&text, "yardstick verify --trace --framework=%s --data=synthetic --threads=1 --batch=8 --%s=10",
                  c->framework->spec, length_key(p));
    for (size_t i = 0; i < p->count; i++) {
        ys_buf_puts(&text, " ");
        char *flag = ys_format("--%s", p->keys[i]);
        ys_buf_put_word(&text, flag);
        ys_free(flag);
    }
    char *const *mode = c->report->mode.items;
    for (size_t i = 0; i < c->report->mode.count; i++) {
        ys_buf_puts(&text, " ");
        ys_buf_put_word(&text, mode[i]);
    }
    return ys_buf_take(&text);
}

typedef ys_status on_trial(struct checker *c, struct ys_study *study, struct ys_trial *trial, void *context);

/* The job of `p`, resolved to its one trial. */
static ys_status with_trial(struct checker *c, const struct proof_case *p, on_trial *act, void *context)
{
    struct ys_job_flags flags = {0};
    struct ys_job job = {0};
    struct ys_study study = {0};
    struct ys_job_hooks hooks = ys_study_job_hooks(c->options->recipe_dirs);
    const struct ys_study_options options = {
        .recipe_dirs = c->options->recipe_dirs, .fresh_proofs = c->options->fresh, .meaning_only = p->meaning_only};
    ys_status status = make_flags(c, p, &flags);
    if (status == YS_OK)
        status = ys_job_load(NULL, flags.items, flags.count, &hooks, &job);
    if (status == YS_OK)
        status = ys_study_open(job.study, job.trials, &options, NULL, &study);
    if (status == YS_OK)
        status = ys_study_hold(&study);
    if (status == YS_OK)
        status = act(c, &study, &study.set.items[0], context);
    ys_study_close(&study);
    ys_job_fini(&job);
    ys_job_flags_fini(&flags);
    return status;
}

static ys_status prove_trial(struct checker *c, struct ys_study *study, struct ys_trial *trial, void *context)
{
    (void)c;
    if (!ys_trial_can_run(trial))
        return ys_fail(YS_EINTERNAL, "%s", trial->record.reason ? trial->record.reason : "it cannot run");
    return ys_study_prove_one(study, trial, context);
}

/* The check that says most: the first that failed, else that which comes closest to its bound. */
static const struct ys_proof_check *telling_check(const struct ys_proof *proof)
{
    const struct ys_proof_check *closest = NULL;
    double most = -1;
    for (size_t i = 0; i < proof->checks.count; i++) {
        const struct ys_proof_check *check = ys_proof_check_at(proof, i);
        if (!check->pass)
            return check;
        if (check->bound > 0 && check->error / check->bound > most) {
            most = check->error / check->bound;
            closest = check;
        }
    }
    return closest;
}

static enum ys_conformance_verdict verdict_of(const struct ys_proof *proof)
{
    switch ((enum ys_proof_verdict)proof->verdict) {
    case YS_PROOF_PASS:
        return YS_CASE_PASS;
    case YS_PROOF_WEAK:
        return YS_CASE_WEAK;
    case YS_PROOF_FAIL:
        return YS_CASE_FAIL;
    case YS_PROOF_NONE:
        break;
    }
    return proof->ended == YS_RUN_UNSUPPORTED ? YS_CASE_UNSUPPORTED : YS_CASE_FAIL;
}

/* How proving one thing went, and what the case borrows from. */
struct proof_outcome {
    struct ys_conformance_case told;
    struct ys_proof proof;
    char *command;
    char text[96];
};

static void free_outcome(struct proof_outcome *outcome)
{
    ys_proof_fini(&outcome->proof);
    ys_free(outcome->command);
}

static void describe(const struct checker *c, const struct proof_case *p, struct proof_outcome *outcome)
{
    const struct ys_proof *proof = &outcome->proof;
    const struct ys_proof_check *check = telling_check(proof);
    struct ys_conformance_case *told = &outcome->told;
    *told = (struct ys_conformance_case){.about = YS_CASE_PROOF,
                                         .name = p->name,
                                         .verdict = verdict_of(proof),
                                         .check = check ? check->name : NULL,
                                         .error = check ? check->error : (double)NAN,
                                         .bound = check ? check->bound : (double)NAN,
                                         .worst = check ? check->worst : NULL,
                                         .message = proof->verdict == YS_PROOF_PASS ? NULL : proof->reason};
    if (told->verdict == YS_CASE_FAIL)
        told->run = outcome->command = command_of(c, p);
}

/* Proves `p`; *outcome, to be freed where this is YS_OK, says how it went. */
static ys_status prove(struct checker *c, const struct proof_case *p, struct proof_outcome *outcome)
{
    *outcome = (struct proof_outcome){.command = NULL};
    ys_progress("%s: %s", c->framework->spec, p->name);
    YS_TRY(with_trial(c, p, prove_trial, &outcome->proof));
    describe(c, p, outcome);
    return YS_OK;
}

/* The first operator of a model that the adapter does not declare; NULL without. What would be refused is not worth the
 * oracle's time. */
static ys_status find_undeclared(const struct checker *c, const char *model_name, const char **op)
{
    const struct ys_model *model = ys_model_find(model_name);
    struct ys_graph *graph = NULL;
    *op = NULL;
    if (!model)
        return ys_fail(YS_EINTERNAL, "there is no model %s", model_name);
    YS_TRY(ys_model_build(model, &model->usual, &graph));
    for (size_t n = 0; n < graph->node_count && !*op; n++)
        if (!ys_json_lists(c->said.hello.ops, ys_op_name(graph->nodes[n].op)))
            *op = ys_op_name(graph->nodes[n].op);
    ys_graph_free(graph);
    return YS_OK;
}

static void describe_undeclared(const char *name, const char *op, struct proof_outcome *outcome)
{
    *outcome = (struct proof_outcome){.command = NULL};
    ys_proof_init(&outcome->proof);
    snprintf(outcome->text, sizeof outcome->text, "the adapter does not declare %s", op);
    outcome->told = (struct ys_conformance_case){.about = YS_CASE_WORD,
                                                 .name = name,
                                                 .verdict = YS_CASE_UNSUPPORTED,
                                                 .message = outcome->text,
                                                 .error = NAN,
                                                 .bound = NAN};
}

static void tell_outcome(struct checker *c, struct proof_outcome *outcome_taken, int64_t cases)
{
    tell(c, &outcome_taken->told, cases);
    free_outcome(outcome_taken);
}

static void tell_undeclared(struct checker *c, const char *name, const char *op)
{
    struct proof_outcome outcome;
    describe_undeclared(name, op, &outcome);
    tell_outcome(c, &outcome, 1);
}

static struct proof_case model_proof(const struct checker *c, const char *name, char *model_key)
{
    struct proof_case p = {.name = name, .meaning_only = true};
    add_key(&p, model_key);
    add_key(&p, c->has[YS_MODE_TRAIN] ? "lr=0.05" : "mode=infer");
    if (c->has[YS_MODE_TRAIN]) {
        add_key(&p, "momentum=0.9");
        add_key(&p, "weight_decay=0.05");
    }
    return p;
}

static ys_status prove_model(struct checker *c, const char *name, const char *model, struct proof_outcome *outcome)
{
    const char *lacking;
    YS_TRY(find_undeclared(c, model, &lacking));
    if (lacking) {
        describe_undeclared(name, lacking, outcome);
        return YS_OK;
    }
    char *key = ys_format("model=%s", model);
    const struct proof_case p = model_proof(c, name, key);
    ys_status status = prove(c, &p, outcome);
    ys_free(key);
    return status;
}

/* Together they could not be proven: each by itself. *whole_taken is told where no one of them failed. */
static ys_status prove_cases(struct checker *c, const struct ys_check_group *group, struct proof_outcome *whole_taken)
{
    int64_t failed = c->report->failed;
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < group->count; i++) {
        struct proof_outcome outcome;
        const char *model = group->cases[i].name;
        status = ys_stop_signal() ? ys_stopped() : prove_model(c, model + strlen(YS_CHECK_PREFIX), model, &outcome);
        if (status == YS_OK)
            tell_outcome(c, &outcome, 1);
    }
    if (status == YS_OK && whole_taken->told.verdict == YS_CASE_FAIL && c->report->failed == failed) {
        tell_outcome(c, whole_taken, 1);
        return YS_OK;
    }
    free_outcome(whole_taken);
    return status;
}

/* All cases of an operator in one network, which is one start of the framework and one compilation. */
static ys_status check_operator(struct checker *c, const struct ys_check_group *group)
{
    char name[96];
    const char *op = ys_op_name(group->op);
    if (!ys_json_lists(c->said.hello.ops, op)) {
        tell_undeclared(c, op, op);
        return YS_OK;
    }
    snprintf(name, sizeof name, "%s, %zu cases together", op, group->count);
    struct proof_outcome outcome;
    YS_TRY(prove_model(c, name, group->whole.name, &outcome));
    if (outcome.told.verdict == YS_CASE_PASS || outcome.told.verdict == YS_CASE_WEAK) {
        tell_outcome(c, &outcome, (int64_t)group->count);
        return YS_OK;
    }
    return prove_cases(c, group, &outcome);
}

/* One case of an operator. */
static ys_status check_first(struct checker *c, const struct ys_check_group *group)
{
    const char *op = ys_op_name(group->op);
    struct proof_outcome outcome;
    if (!ys_json_lists(c->said.hello.ops, op)) {
        tell_undeclared(c, op, op);
        return YS_OK;
    }
    YS_TRY(prove_model(c, group->cases->name + strlen(YS_CHECK_PREFIX), group->cases->name, &outcome));
    tell_outcome(c, &outcome, 1);
    return YS_OK;
}

/* *held: one case of each operator, all that read images in one network, was told to hold. */
static ys_status check_each(struct checker *c, bool *held)
{
    struct proof_outcome outcome;
    YS_TRY(prove_model(c, "each operator of images once, all together", YS_CHECK_PREFIX "each", &outcome));
    *held = outcome.told.verdict == YS_CASE_PASS || outcome.told.verdict == YS_CASE_WEAK;
    int64_t count = 0;
    for (size_t op = 0; op < YS_OP_COUNT; op++)
        count += !ys_check_groups()[op].cases->rows;
    if (*held) {
        tell_outcome(c, &outcome, count);
        return YS_OK;
    }
    free_outcome(&outcome);
    return YS_OK;
}

static ys_status check_operators(struct checker *c)
{
    const struct ys_check_group *groups = ys_check_groups();
    bool held = false;
    c->part = "operators";
    if (c->options->quick)
        YS_TRY(check_each(c, &held));
    for (size_t op = 0; op < YS_OP_COUNT; op++) {
        if (held && !groups[op].cases->rows)
            continue;
        YS_TRY(ys_stop_signal()    ? ys_stopped()
               : c->options->quick ? check_first(c, &groups[op])
                                   : check_operator(c, &groups[op]));
    }
    return YS_OK;
}

static bool declares(const struct checker *c, const char *word)
{
    return !word || ys_json_lists(c->said.hello.optimizers, word) || ys_json_lists(c->said.hello.precisions, word) ||
           ys_json_lists(c->said.hello.features, word);
}

static enum ys_mode mode_of_item(const struct ys_conformance_item *item)
{
    return mode_of(item->keys, sizeof item->keys / sizeof item->keys[0]);
}

/* Of what only answers requests, only the network is left. */
static ys_status check_item(struct checker *c, const struct ys_conformance_item *item)
{
    struct proof_case p = {.name = item->name, .meaning_only = item->small && !item->whole};
    struct proof_outcome outcome;
    if (!declares(c, item->needs)) {
        tell_simply(c, item->name, YS_CASE_UNSUPPORTED, "the adapter does not declare it");
        return YS_OK;
    }
    const char *model = item->small ? (item->nll ? c->small_nll : c->small) : item->keys[0] + strlen("model=");
    const char *lacking;
    YS_TRY(find_undeclared(c, model, &lacking));
    if (lacking) {
        tell_undeclared(c, item->name, lacking);
        return YS_OK;
    }
    char *small = ys_format("model=%s", model);
    if (item->small)
        add_key(&p, small);
    const bool all_keys = c->has[YS_MODE_TRAIN] || item->small || mode_of_item(item) != YS_MODE_TRAIN;
    for (size_t i = 0; item->keys[i] && (all_keys || i == 0); i++)
        add_key(&p, item->keys[i]);
    if (!all_keys)
        add_key(&p, "mode=infer");
    ys_status status = prove(c, &p, &outcome);
    if (status == YS_OK)
        tell_outcome(c, &outcome, 1);
    ys_free(small);
    return status;
}

static ys_status check_items(struct checker *c, const char *part, const struct ys_conformance_item *items)
{
    c->part = part;
    for (; items->name; items++) {
        bool skipped = (items->small && !c->has[mode_of_item(items)]) || (c->options->quick && !items->quick);
        if (!skipped)
            YS_TRY(ys_stop_signal() ? ys_stopped() : check_item(c, items));
    }
    return YS_OK;
}

static enum ys_conformance_verdict verdict_of_conduct(enum ys_conduct_verdict verdict)
{
    switch (verdict) {
    case YS_CONDUCT_PASS:
        return YS_CASE_PASS;
    case YS_CONDUCT_UNSUPPORTED:
        return YS_CASE_UNSUPPORTED;
    case YS_CONDUCT_FAIL:
        break;
    }
    return YS_CASE_FAIL;
}

static ys_status take_conduct(void *context, const struct ys_conduct_case *found)
{
    const struct ys_conformance_case told = {.about = isnan(found->bound) ? YS_CASE_WORD : YS_CASE_MEASURE,
                                             .name = found->name,
                                             .verdict = verdict_of_conduct(found->verdict),
                                             .error = found->error,
                                             .bound = found->bound,
                                             .worst = found->worst,
                                             .message = found->message};
    tell(context, &told, 1);
    return YS_OK;
}

/* Errors and weights, on the work of the trial, in the folder that is the context. */
static ys_status converse(struct checker *c, struct ys_study *study, struct ys_trial *trial, void *context)
{
    const char *folder = context;
    struct ys_work work;
    YS_TRY(ys_study_prepare(study, trial, 0, YS_VERIFY_STEPS, &work));
    struct ys_plan plan;
    ys_status status = ys_work_plan(&work, trial, study->seed, folder, &plan);
    const struct ys_conduct conduct = {.framework = c->framework,
                                       .plan = &plan,
                                       .env = c->env,
                                       .folder = folder,
                                       .on_case = take_conduct,
                                       .context = c};
    if (status == YS_OK)
        status = ys_framework_model_file(c->framework, &plan);
    c->part = "protocol";
    if (status == YS_OK)
        status = ys_conduct_errors(&conduct, &c->said);
    c->part = "weights";
    if (status == YS_OK)
        status = ys_conduct_weights(&conduct, &c->said);
    ys_plan_fini(&plan);
    ys_work_fini(&work);
    return status;
}

/* One mode at a time: a comma would make an axis, of which only the first place were proven. */
static ys_status take_mode(struct checker *c, struct ys_study *study, struct ys_trial *trial, void *context)
{
    (void)context;
    if (study->set.count > 1)
        return ys_fail(YS_EINVAL, "%s is checked in one mode at a time: give each key one value", c->framework->spec);
    const ys_json *given = trial->record.options, *env = trial->record.env;
    c->env = env ? ys_json_copy(env) : ys_json_object();
    c->given = given ? ys_json_copy(given) : ys_json_object();
    return YS_OK;
}

/* Says hello alone: no work is needed for that. */
static ys_status greet(struct checker *c, const char *folder, ys_json **hello, char **message)
{
    struct ys_plan plan;
    ys_plan_init(&plan);
    plan.threads = 1;
    plan.options = ys_json_ref(c->given);
    ys_set_text(&plan.folder, folder);
    const struct ys_conduct conduct = {.framework = c->framework, .plan = &plan, .env = c->env, .folder = folder};
    ys_status status = ys_conduct_hello(&conduct, hello, message);
    ys_plan_fini(&plan);
    return status;
}

static ys_status check_conduct(struct checker *c, char *folder)
{
    char *model = ys_format("model=%s", c->small);
    const struct proof_case p = model_proof(c, "protocol", model);
    ys_status status = with_trial(c, &p, converse, folder);
    ys_free(model);
    return status;
}

/* What it shows while it answers requests; a run so short is met too seldom to be more than weak, which is no fault of
 * the adapter. */
static ys_status try_answers(struct checker *c, struct ys_study *study, struct ys_trial *trial, void *context)
{
    const char *folder = context;
    struct ys_audit audit;
    ys_record_init(&ys_audit_record, &audit);
    ys_status status = ys_answers_try(study, trial, folder, &audit);
    bool right = audit.verdict == YS_AUDIT_PASS || audit.verdict == YS_AUDIT_WEAK;
    const struct ys_conformance_case told = {.about = isnan(audit.bound) ? YS_CASE_WORD : YS_CASE_MEASURE,
                                             .name = SHOWN,
                                             .verdict = right ? YS_CASE_PASS : YS_CASE_FAIL,
                                             .error = audit.error,
                                             .bound = audit.bound,
                                             .worst = audit.place,
                                             .message = right ? NULL : audit.reason};
    if (status == YS_OK)
        tell(c, &told, 1);
    ys_record_fini(&ys_audit_record, &audit);
    return status;
}

static ys_status check_answers(struct checker *c, char *folder)
{
    if (!c->has[YS_MODE_INFER])
        return YS_OK;
    c->part = "protocol";
    if (!ys_json_lists(c->said.hello.features, "answers") && !ys_json_lists(c->said.hello.features, "answers_later")) {
        tell_simply(c, SHOWN, YS_CASE_UNSUPPORTED, "it does not show its answers (the feature `answers`)");
        return YS_OK;
    }
    char *model = ys_format("model=%s", c->small), *own = ys_path_join(folder, "answers");
    struct proof_case p = {.name = SHOWN};
    ys_status status = ys_fs_make_dirs(own);
    if (status == YS_OK) {
        add_key(&p, model);
        add_key(&p, "mode=infer");
        status = with_trial(c, &p, try_answers, own);
    }
    ys_free(model);
    ys_free(own);
    return status;
}

/* Without convolutions, or batch normalisation, dense layers have to do. */
static void choose_small(struct checker *c)
{
    static const char *const needed[] = {"Conv", "BatchNormalization", "MaxPool"};
    const struct ys_model *networks = ys_check_networks();
    bool images = true;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        images &= ys_json_lists(c->said.hello.ops, needed[i]);
    c->small = networks[images ? 0 : 2].name;
    c->small_nll = networks[images ? 1 : 3].name;
}

static ys_status check_declared(struct checker *c, char *folder)
{
    for (int mode = 0; mode < YS_MODE_COUNT; mode++)
        c->has[mode] = ys_json_lists(c->said.hello.features, ys_name_of(&ys_modes, mode));
    choose_small(c);
    YS_TRY(check_operators(c));
    YS_TRY(check_items(c, "training", ys_conformance_training()));
    YS_TRY(check_conduct(c, folder));
    YS_TRY(check_answers(c, folder));
    return check_items(c, "networks", ys_conformance_networks());
}

/* The first case also has what was said. */
static void tell_hello(struct checker *c, const char *message)
{
    const struct ys_conformance_case told = {.about = YS_CASE_HELLO,
                                             .name = "hello, and an end after bye",
                                             .verdict = message ? YS_CASE_FAIL : YS_CASE_PASS,
                                             .message = message,
                                             .error = NAN,
                                             .bound = NAN,
                                             .hello = c->report->hello};
    tell(c, &told, 1);
}

static ys_status check_all(struct checker *c, int *exit_code)
{
    ys_json *hello = NULL;
    char *message = NULL;
    struct ys_working work;
    const struct proof_case plain = {.keys = {"model=mlp"}, .count = 1};
    YS_TRY(with_trial(c, &plain, take_mode, NULL));
    YS_TRY(ys_working_in_cache("checks", &work));
    ys_status status = greet(c, work.path, &hello, &message);
    c->part = "hello";
    ys_message_read(hello, &c->said);
    if (status == YS_OK) {
        c->report->hello = hello ? ys_json_ref(hello) : NULL;
        tell_hello(c, message);
    }
    *exit_code = hello ? YS_EXIT_OK : YS_EXIT_RUN_FAILED;
    if (status == YS_OK && hello && !c->framework->no_work)
        status = check_declared(c, work.path);
    if (*exit_code == YS_EXIT_OK && c->report->failed)
        *exit_code = YS_EXIT_PROOF_FAILED;
    ys_progress_clear();
    char *said = status == YS_OK ? NULL : ys_strdup(ys_error());
    ys_working_remove(&work);
    if (said)
        ys_fail(status, "%s", said);
    ys_free(said);
    ys_json_free(hello);
    ys_free(message);
    return status;
}

static void begin_report(const struct ys_framework *framework, const struct ys_conformance_options *options,
                         struct ys_conformance *report)
{
    for (size_t i = 0; i < options->key_count; i++) {
        char *flag = ys_format("--%s=%s", options->keys[i].key, options->keys[i].value);
        ys_list_add_text(&report->mode, flag);
        ys_free(flag);
    }
    report->framework = ys_strdup(framework->spec);
    report->title = ys_strdup(framework->title);
    report->version = ys_strdup(framework->version);
    report->state = ys_strdup(framework->state == YS_FRAMEWORK_READY ? "ready" : "missing");
    report->reason = ys_strdup(framework->reason);
    report->command = ys_strdup(framework->command);
    report->cases = ys_json_array();
}

ys_status ys_conformance_check(const char *spec, const struct ys_conformance_options *options,
                               struct ys_conformance *report, int *exit_code)
{
    struct ys_framework *framework = NULL;
    ys_record_init(&ys_conformance_record, report);
    YS_TRY(ys_framework_find(spec, options->recipe_dirs, &framework));
    ys_status status = ys_framework_hold(framework);
    struct checker checker = {.options = options, .framework = framework, .report = report};
    *exit_code = YS_EXIT_NOTHING_RAN;
    if (status == YS_OK)
        begin_report(framework, options, report);
    if (status == YS_OK && framework->state == YS_FRAMEWORK_READY)
        status = check_all(&checker, exit_code);
    ys_json_free(checker.env);
    ys_json_free(checker.given);
    ys_framework_free(framework);
    if (status != YS_OK)
        ys_record_fini(&ys_conformance_record, report);
    return status;
}
