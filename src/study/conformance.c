#include "study/conformance.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/working.h"
#include "base/stop.h"
#include "framework/model_file.h"
#include "verify/check_models.h"
#include "study/conformance_list.h"
#include "study/state.h"
#include "verify/conduct.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KEYS (YS_CONFORMANCE_KEYS + 8)

struct checker {
    const struct ys_conformance_options *options;
    const struct ys_framework *framework;
    ys_json *env, *given; /* the variables of the mode, {NAME: text}, and its options, {NAME: value} */
    const ys_json *hello;
    bool trains, infers;
    const char *small, *small_nll; /* the networks for what is no operator */
    const char *part;
    ys_json *report;
    int64_t passed, failed, unsupported;
};

/* One proof: the keys of its job, and what its line is called. */
struct proving {
    const char *name;
    const char *keys[KEYS]; /* ended by NULL */
    size_t count;
    bool meaning_only;
};

static void add_key(struct proving *p, const char *key)
{
    YS_ASSERT(p->count + 1 < KEYS);
    p->keys[p->count++] = key;
}

/* Hands a line on and counts it. */
static ys_status tell(struct checker *c, ys_json *line_taken, int64_t cases)
{
    const char *verdict = ys_json_get_text(line_taken, "verdict", "fail");
    int64_t *counter = strcmp(verdict, "fail") == 0          ? &c->failed
                       : strcmp(verdict, "unsupported") == 0 ? &c->unsupported
                                                             : &c->passed;
    *counter += cases;
    ys_json_set_string(line_taken, "part", c->part);
    ys_json_set_int(line_taken, "cases", cases);
    if (c->options->on_case)
        c->options->on_case(c->options->context, line_taken);
    return ys_json_append(ys_json_get(c->report, "cases"), line_taken);
}

static ys_status tell_simply(struct checker *c, const char *name, const char *verdict, const char *message)
{
    ys_json *line = ys_json_object();
    ys_json_set_string(line, "name", name);
    ys_json_set_string(line, "verdict", verdict);
    ys_json_set_string(line, "message", message);
    return tell(c, line, 1);
}

static ys_status take_flag(struct ys_job_flags *flags, char *flag_taken)
{
    int at = 0;
    bool taken = false;
    ys_status status = flag_taken ? ys_job_flags_take(flags, 1, &flag_taken, &at, &taken) : ys_out_of_memory();
    if (status == YS_OK && !taken)
        status = ys_fail(YS_EINTERNAL, "%s is no key of a job", flag_taken);
    ys_free(flag_taken);
    return status;
}

/* "--" and a key, for each; --framework and what all have in common come first, the mode last. */
static ys_status make_flags(const struct checker *c, const struct proving *p, bool infers, struct ys_job_flags *flags)
{
    char *framework = ys_format("framework=%s", c->framework->spec);
    const char *common[] = {framework, "data=synthetic", "threads=1", "batch=8", infers ? "requests=10" : "steps=10"};
    ys_status status = framework ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < 5 + p->count; i++)
        status = take_flag(flags, ys_format("--%s", i < 5 ? common[i] : p->keys[i - 5]));
    const ys_json *mode = ys_json_get(c->report, "mode");
    if (status == YS_OK && ys_json_size(mode) != c->options->key_count)
        status = ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < ys_json_size(mode); i++)
        status = take_flag(flags, ys_strdup(ys_json_text(ys_json_at(mode, i), "")));
    ys_free(framework);
    return status;
}

static bool is_inference(const struct proving *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->keys[i], "mode=infer") == 0)
            return true;
    return false;
}

/* The command that proves it again, with its trace. */
static char *command_of(const struct checker *c, const struct proving *p)
{
    struct ys_buf text = {0};
    ys_buf_printf(&text, "yardstick verify --trace --framework=%s --data=synthetic --threads=1 --batch=8 --%s",
                  c->framework->spec, is_inference(p) ? "requests=10" : "steps=10");
    for (size_t i = 0; i < p->count; i++) {
        ys_buf_puts(&text, " ");
        char *flag = ys_format("--%s", p->keys[i]);
        ys_buf_put_word(&text, flag ? flag : "");
        ys_free(flag);
    }
    const ys_json *mode = ys_json_get(c->report, "mode");
    for (size_t i = 0; i < ys_json_size(mode); i++) {
        ys_buf_puts(&text, " ");
        ys_buf_put_word(&text, ys_json_text(ys_json_at(mode, i), ""));
    }
    return ys_buf_take(&text);
}

typedef ys_status on_trial(struct checker *c, struct ys_study *study, struct ys_trial *trial, void *context);

/* The job of `p`, resolved to its one trial. */
static ys_status with_trial(struct checker *c, const struct proving *p, on_trial *act, void *context)
{
    struct ys_job_flags flags = {0};
    struct ys_job job = {0};
    struct ys_study study = {0};
    struct ys_job_hooks hooks = ys_study_job_hooks(c->options->recipe_dirs);
    const struct ys_study_options options = {
        .recipe_dirs = c->options->recipe_dirs, .fresh_proofs = c->options->fresh, .meaning_only = p->meaning_only};
    ys_status status = make_flags(c, p, is_inference(p), &flags);
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
    if (trial->status)
        return ys_fail(YS_EINTERNAL, "%s", ys_json_get_text(trial->json, "reason", trial->status));
    return ys_study_prove_one(study, trial, context);
}

/* The check that says most: the first that failed, else that which comes closest to its bound. */
static const ys_json *telling_check(const ys_json *proof)
{
    const ys_json *checks = ys_json_get(proof, "checks"), *closest = NULL;
    double most = -1;
    for (size_t i = 0; i < ys_json_size(checks); i++) {
        const ys_json *check = ys_json_at(checks, i);
        double bound = ys_json_get_number(check, "bound", 0), error = ys_json_get_number(check, "error", INFINITY);
        if (!ys_json_get_bool(check, "pass", true))
            return check;
        if (bound > 0 && error / bound > most) {
            most = error / bound;
            closest = check;
        }
    }
    return closest;
}

static const char *verdict_of(const ys_json *proof)
{
    const char *verdict = ys_json_get_text(proof, "verdict", "none");
    bool lacks = strcmp(ys_json_get_text(proof, "ended", ""), "unsupported") == 0;
    return strcmp(verdict, "none") != 0 ? verdict : lacks ? "unsupported" : "fail";
}

static void copy_member(ys_json *line, const ys_json *check, const char *key)
{
    const ys_json *value = ys_json_get(check, key);
    ys_json_set(line, key, value ? ys_json_copy(value) : ys_json_null());
}

static ys_json *describe(const struct checker *c, const struct proving *p, const ys_json *proof)
{
    const ys_json *check = telling_check(proof);
    const char *verdict = verdict_of(proof);
    ys_json *line = ys_json_object();
    ys_json_set_string(line, "name", p->name);
    ys_json_set_string(line, "verdict", verdict);
    ys_json_set_string(line, "check", ys_json_get_text(check, "name", NULL));
    copy_member(line, check, "error");
    copy_member(line, check, "bound");
    copy_member(line, check, "worst");
    ys_json_set_string(line, "message", strcmp(verdict, "pass") == 0 ? NULL : ys_json_get_text(proof, "reason", NULL));
    if (strcmp(verdict, "fail") == 0) {
        char *command = command_of(c, p);
        ys_json_set_string(line, "run", command);
        ys_free(command);
    }
    return line;
}

/* Proves `p`; *line says how it went. */
static ys_status prove(struct checker *c, const struct proving *p, ys_json **line)
{
    ys_json *proof = NULL;
    ys_progress("%s: %s", c->framework->spec, p->name);
    YS_TRY(with_trial(c, p, prove_trial, &proof));
    *line = describe(c, p, proof);
    ys_json_free(proof);
    return *line ? YS_OK : ys_out_of_memory();
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
        if (!ys_hello_has(c->hello, "ops", ys_op_name(graph->nodes[n].op)))
            *op = ys_op_name(graph->nodes[n].op);
    ys_graph_free(graph);
    return YS_OK;
}

static ys_json *undeclared_line(const char *name, const char *op)
{
    char text[96];
    snprintf(text, sizeof text, "the adapter does not declare %s", op);
    ys_json *line = ys_json_object();
    ys_json_set_string(line, "name", name);
    ys_json_set_string(line, "verdict", "unsupported");
    ys_json_set_string(line, "message", text);
    return line;
}

static struct proving model_proof(const struct checker *c, const char *name, char *model_key)
{
    struct proving p = {.name = name, .meaning_only = true};
    add_key(&p, model_key);
    add_key(&p, c->trains ? "lr=0.05" : "mode=infer");
    if (c->trains) {
        add_key(&p, "momentum=0.9");
        add_key(&p, "weight_decay=0.05");
    }
    return p;
}

static ys_status prove_model(struct checker *c, const char *name, const char *model, ys_json **line)
{
    const char *lacking;
    YS_TRY(find_undeclared(c, model, &lacking));
    if (lacking) {
        *line = undeclared_line(name, lacking);
        return *line ? YS_OK : ys_out_of_memory();
    }
    char *key = ys_format("model=%s", model);
    if (!key)
        return ys_out_of_memory();
    const struct proving p = model_proof(c, name, key);
    ys_status status = prove(c, &p, line);
    ys_free(key);
    return status;
}

static bool is_verdict(const ys_json *line, const char *verdict)
{
    return strcmp(ys_json_get_text(line, "verdict", ""), verdict) == 0;
}

/* Together they could not be proven: each by itself. *whole_taken is told where no one of them failed. */
static ys_status prove_cases(struct checker *c, const struct ys_check_group *group, ys_json *whole_taken)
{
    int64_t failed = c->failed;
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < group->count; i++) {
        ys_json *line = NULL;
        const char *model = group->cases[i].name;
        status = ys_stop_signal() ? ys_stopped() : prove_model(c, model + strlen(YS_CHECK_PREFIX), model, &line);
        if (status == YS_OK)
            status = tell(c, line, 1);
    }
    if (status == YS_OK && is_verdict(whole_taken, "fail") && c->failed == failed)
        return tell(c, whole_taken, 1);
    ys_json_free(whole_taken);
    return status;
}

/* All cases of an operator in one network, which is one start of the framework and one compilation. */
static ys_status check_operator(struct checker *c, const struct ys_check_group *group)
{
    char name[96];
    const char *op = ys_op_name(group->op);
    if (!ys_hello_has(c->hello, "ops", op))
        return tell(c, undeclared_line(op, op), 1);
    snprintf(name, sizeof name, "%s, %zu cases together", op, group->count);
    ys_json *line = NULL;
    YS_TRY(prove_model(c, name, group->whole.name, &line));
    if (is_verdict(line, "pass") || is_verdict(line, "weak"))
        return tell(c, line, (int64_t)group->count);
    return prove_cases(c, group, line);
}

static ys_status check_operators(struct checker *c)
{
    const struct ys_check_group *groups = ys_check_groups();
    c->part = "operators";
    for (size_t op = 0; op < YS_OP_COUNT; op++)
        YS_TRY(ys_stop_signal() ? ys_stopped() : check_operator(c, &groups[op]));
    return YS_OK;
}

static bool declares(const struct checker *c, const char *word)
{
    return !word || ys_hello_has(c->hello, "optimizers", word) || ys_hello_has(c->hello, "precisions", word) ||
           ys_hello_has(c->hello, "features", word);
}

/* Of what only answers requests, only the network is left. */
static ys_status check_item(struct checker *c, const struct ys_conformance_item *item)
{
    struct proving p = {.name = item->name, .meaning_only = item->small && !item->whole};
    ys_json *line = NULL;
    if (!declares(c, item->needs))
        return tell_simply(c, item->name, "unsupported", "the adapter does not declare it");
    const char *model = item->small ? (item->nll ? c->small_nll : c->small) : item->keys[0] + strlen("model=");
    const char *lacking;
    YS_TRY(find_undeclared(c, model, &lacking));
    if (lacking)
        return tell(c, undeclared_line(item->name, lacking), 1);
    char *small = ys_format("model=%s", model);
    if (!small)
        return ys_out_of_memory();
    if (item->small)
        add_key(&p, small);
    for (size_t i = 0; item->keys[i] && (c->trains || item->small || i == 0); i++)
        add_key(&p, item->keys[i]);
    if (!c->trains && !item->small)
        add_key(&p, "mode=infer");
    ys_status status = prove(c, &p, &line);
    ys_free(small);
    return status == YS_OK ? tell(c, line, 1) : status;
}

static bool is_of_inference(const struct ys_conformance_item *item)
{
    return strcmp(item->keys[0], "mode=infer") == 0;
}

static ys_status check_items(struct checker *c, const char *part, const struct ys_conformance_item *items)
{
    c->part = part;
    for (; items->name; items++) {
        bool skipped = items->small && (is_of_inference(items) ? !c->infers : !c->trains);
        if (!skipped)
            YS_TRY(ys_stop_signal() ? ys_stopped() : check_item(c, items));
    }
    return YS_OK;
}

static ys_status take_conduct(void *context, ys_json *taken)
{
    return tell(context, taken, 1);
}

/* Errors and weights, on the work of the trial, in the folder that is the context. */
static ys_status converse(struct checker *c, struct ys_study *study, struct ys_trial *trial, void *context)
{
    const char *folder = context;
    struct ys_work work;
    YS_TRY(ys_study_prepare(study, trial, 0, YS_VERIFY_STEPS, &work));
    ys_json *plan = ys_work_plan(&work, trial, study->seed, folder);
    const struct ys_conduct conduct = {.framework = c->framework,
                                       .plan = plan,
                                       .env = c->env,
                                       .folder = folder,
                                       .on_case = take_conduct,
                                       .context = c};
    ys_status status = plan ? ys_framework_model_file(c->framework, plan) : ys_out_of_memory();
    c->part = "protocol";
    if (status == YS_OK)
        status = ys_conduct_errors(&conduct, c->hello);
    c->part = "weights";
    if (status == YS_OK)
        status = ys_conduct_weights(&conduct, c->hello);
    ys_json_free(plan);
    ys_work_fini(&work);
    return status;
}

/* One mode at a time: a comma would make an axis, of which only the first place were proven. */
static ys_status take_mode(struct checker *c, struct ys_study *study, struct ys_trial *trial, void *context)
{
    (void)context;
    if (study->set.count > 1)
        return ys_fail(YS_EINVAL, "%s is checked in one mode at a time: give each key one value", c->framework->spec);
    const ys_json *given = ys_json_get(trial->json, "options");
    c->env = ys_json_copy(ys_json_get(trial->json, "env"));
    c->given = given ? ys_json_copy(given) : ys_json_object();
    return c->env && c->given ? YS_OK : ys_out_of_memory();
}

/* Says hello alone: no work is needed for that. */
static ys_status greet(struct checker *c, const char *folder, ys_json **hello, char **message)
{
    ys_json *plan = ys_json_object();
    ys_json_set_int(plan, "threads", 1);
    ys_json_set(plan, "options", ys_json_ref(c->given));
    ys_status status = ys_json_set_string(plan, "folder", folder);
    const struct ys_conduct conduct = {.framework = c->framework, .plan = plan, .env = c->env, .folder = folder};
    if (status == YS_OK)
        status = ys_conduct_hello(&conduct, hello, message);
    ys_json_free(plan);
    return status;
}

static ys_status check_conduct(struct checker *c, char *folder)
{
    char *model = ys_format("model=%s", c->small);
    if (!model)
        return ys_out_of_memory();
    const struct proving p = model_proof(c, "protocol", model);
    ys_status status = with_trial(c, &p, converse, folder);
    ys_free(model);
    return status;
}

/* Without convolutions, or batch normalisation, dense layers have to do. */
static void choose_small(struct checker *c)
{
    static const char *const needed[] = {"Conv", "BatchNormalization", "MaxPool"};
    const struct ys_model *networks = ys_check_networks();
    bool images = true;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        images &= ys_hello_has(c->hello, "ops", needed[i]);
    c->small = networks[images ? 0 : 2].name;
    c->small_nll = networks[images ? 1 : 3].name;
}

static ys_status check_declared(struct checker *c, char *folder)
{
    c->trains = ys_hello_has(c->hello, "features", "train");
    c->infers = ys_hello_has(c->hello, "features", "infer");
    choose_small(c);
    YS_TRY(check_operators(c));
    YS_TRY(check_items(c, "training", ys_conformance_training()));
    YS_TRY(check_conduct(c, folder));
    return check_items(c, "networks", ys_conformance_networks());
}

/* The first line also has what was said. */
static ys_status tell_hello(struct checker *c, const char *message)
{
    ys_json *line = ys_json_object(), *hello = ys_json_get(c->report, "hello");
    ys_json_set_string(line, "name", "hello, and an end after bye");
    ys_json_set_string(line, "verdict", message ? "fail" : "pass");
    ys_json_set_string(line, "message", message);
    ys_json_set(line, "hello", hello ? ys_json_ref(hello) : ys_json_null());
    return tell(c, line, 1);
}

static ys_status check_all(struct checker *c, int *exit_code)
{
    ys_json *hello = NULL;
    char *message = NULL;
    struct ys_working work;
    const struct proving plain = {.keys = {"model=mlp"}, .count = 1};
    YS_TRY(with_trial(c, &plain, take_mode, NULL));
    YS_TRY(ys_working_in_cache("checks", &work));
    ys_status status = greet(c, work.path, &hello, &message);
    c->part = "hello";
    c->hello = hello;
    if (status == YS_OK)
        ys_json_set(c->report, "hello", hello ? ys_json_ref(hello) : ys_json_null());
    if (status == YS_OK)
        status = tell_hello(c, message);
    *exit_code = hello ? YS_EXIT_OK : YS_EXIT_RUN_FAILED;
    if (status == YS_OK && hello && !c->framework->no_work)
        status = check_declared(c, work.path);
    if (*exit_code == YS_EXIT_OK && c->failed)
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

static ys_json *describe_mode(const struct ys_conformance_options *options)
{
    ys_json *mode = ys_json_array();
    for (size_t i = 0; i < options->key_count; i++) {
        char *flag = ys_format("--%s=%s", options->keys[i].key, options->keys[i].value);
        ys_json_append(mode, ys_json_string(flag));
        ys_free(flag);
    }
    return mode;
}

static ys_json *begin_report(const struct ys_framework *framework, const struct ys_conformance_options *options)
{
    bool ready = framework->state == YS_FRAMEWORK_READY;
    ys_json *report = ys_json_object();
    ys_json_set_string(report, "framework", framework->spec);
    ys_json_set(report, "mode", describe_mode(options));
    ys_json_set_string(report, "title", framework->title);
    ys_json_set_string(report, "version", framework->version);
    ys_json_set_string(report, "state", ready ? "ready" : "missing");
    ys_json_set_string(report, "reason", framework->reason);
    ys_json_set_string(report, "command", framework->command);
    ys_json_set(report, "hello", ys_json_null());
    ys_json_set(report, "cases", ys_json_array());
    return report;
}

ys_status ys_conformance_check(const char *spec, const struct ys_conformance_options *options, ys_json **report,
                               int *exit_code)
{
    struct ys_framework *framework = NULL;
    YS_TRY(ys_framework_find(spec, options->recipe_dirs, &framework));
    ys_status status = ys_framework_hold(framework);
    struct checker checker = {.options = options, .framework = framework, .report = begin_report(framework, options)};
    *exit_code = YS_EXIT_NOTHING_RAN;
    if (status == YS_OK && framework->state == YS_FRAMEWORK_READY)
        status = check_all(&checker, exit_code);
    ys_json_set_int(checker.report, "passed", checker.passed);
    ys_json_set_int(checker.report, "failed", checker.failed);
    ys_status counted = ys_json_set_int(checker.report, "unsupported", checker.unsupported);
    status = status == YS_OK ? counted : status;
    ys_json_free(checker.env);
    ys_json_free(checker.given);
    ys_framework_free(framework);
    if (status == YS_OK)
        *report = checker.report;
    else
        ys_json_free(checker.report);
    return status;
}
