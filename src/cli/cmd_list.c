/* list, data, init. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/size.h"
#include "base/stop.h"
#include "cli/command.h"
#include "data/dataset.h"
#include "framework/framework.h"
#include "graph/model.h"
#include "job/option.h"
#include "metric/metric.h"

#include <stdio.h>
#include <string.h>

typedef void print_entry(const ys_json *entry, bool full, struct ys_buf *out);

/* Prints `list_taken`, whose entries have names, under `heading`, or the one that the command line names, in full. */
static int print_list(const struct ys_args *args, ys_json *list_taken, const char *heading, print_entry *print)
{
    const char *kind = args->words[0], *wanted = args->word_count > 1 ? args->words[1] : NULL;
    ys_json *all = ys_json_object(), *kept = ys_json_array();
    struct ys_buf out = {0};
    ys_buf_puts(&out, heading);
    for (size_t i = 0; i < ys_json_size(list_taken); i++) {
        ys_json *entry = ys_json_at(list_taken, i);
        if (wanted && strcmp(wanted, ys_json_get_text(entry, "name", "")) != 0 &&
            strcmp(wanted, ys_json_get_text(entry, "spec", "")) != 0)
            continue;
        print(entry, wanted != NULL, &out);
        ys_json_append(kept, ys_json_ref(entry));
    }
    bool found = !wanted || ys_json_size(kept) > 0;
    ys_json_free(list_taken);
    ys_json_set(all, kind, kept);
    if (found && args->format != YS_FORMAT_JSON) {
        ys_json_free(all);
        return ys_command_print(&out);
    }
    ys_buf_free(&out);
    if (found)
        return ys_command_print_json(all);
    ys_json_free(all);
    return ys_command_fail(
        ys_fail(YS_EINVAL, "there is no \"%s\" among the %s: `yardstick list %s` shows them", wanted, kind, kind));
}

static void print_model(const ys_json *entry, bool full, struct ys_buf *out)
{
    const ys_json *input = ys_json_get(entry, "input");
    char shape[32];
    (void)full;
    snprintf(shape, sizeof shape, "%lldx%lldx%lld", (long long)ys_json_integer(ys_json_at(input, 0), 0),
             (long long)ys_json_integer(ys_json_at(input, 1), 0), (long long)ys_json_integer(ys_json_at(input, 2), 0));
    ys_buf_printf(out, "%-14s %11lld %13lld  %-10s %s\n", ys_json_get_text(entry, "name", ""),
                  (long long)ys_json_get_int(entry, "parameters", 0),
                  (long long)ys_json_get_int(entry, "multiply_adds", 0), shape, ys_json_get_text(entry, "title", ""));
}

static ys_status describe_model(const struct ys_model *model, ys_json *entry)
{
    struct ys_graph *graph = NULL;
    ys_json *input = ys_json_array();
    for (size_t i = 0; i < 3; i++)
        ys_json_append(input, ys_json_int(model->usual.shape[i]));
    ys_json_set_string(entry, "name", model->name);
    ys_json_set_string(entry, "title", model->title);
    ys_json_set(entry, "input", input);
    ys_json_set_int(entry, "classes", model->usual.classes);
    YS_TRY(ys_model_build(model, &model->usual, &graph));
    ys_json_set_int(entry, "parameters", ys_graph_parameter_count(graph));
    ys_json_set_int(entry, "multiply_adds", ys_graph_multiply_adds(graph));
    ys_graph_free(graph);
    return YS_OK;
}

static ys_status describe_models(const struct ys_model *model, ys_json *models)
{
    for (; model->name; model++) {
        ys_json *entry = ys_json_object();
        ys_status status = describe_model(model, entry);
        ys_json_append(models, entry);
        YS_TRY(status);
    }
    return YS_OK;
}

static int list_models(const struct ys_args *args)
{
    ys_json *models = ys_json_array();
    ys_status status = describe_models(ys_models(), models);
    if (status == YS_OK)
        status = describe_models(ys_models_more(), models);
    if (status != YS_OK) {
        ys_json_free(models);
        return ys_command_fail(status);
    }
    return print_list(args, models, "model           parameters multiply-adds  input\n", print_model);
}

static int list_keys(const struct ys_args *args)
{
    struct ys_buf out = {0};
    ys_json *keys = NULL;
    if (args->format == YS_FORMAT_JSON) {
        ys_status status = ys_options_json(&keys);
        return status == YS_OK ? ys_command_print_json(keys) : ys_command_fail(status);
    }
    if (args->word_count == 1) {
        ys_job_keys_text(&out);
        return ys_command_print(&out);
    }
    for (size_t i = 1; i < args->word_count; i++) {
        ys_status status = ys_option_help_text(args->words[i], &out);
        if (status != YS_OK) {
            ys_buf_free(&out);
            return ys_command_fail(status);
        }
    }
    return ys_command_print(&out);
}

#define FRAMEWORK_HEADING "framework         version     state          disk  python    can\n"

/* "train, infer, double; options: a, b" */
static void print_abilities(const ys_json *entry, struct ys_buf *out)
{
    const ys_json *modes = ys_json_get(entry, "modes"), *options = ys_json_get(entry, "options");
    for (size_t i = 0; i < ys_json_size(modes); i++)
        ys_buf_printf(out, "%s%s", i ? ", " : "", ys_json_text(ys_json_at(modes, i), ""));
    if (ys_json_get_bool(entry, "double", false))
        ys_buf_puts(out, ", double");
    if (ys_json_get_bool(entry, "no_work", false))
        ys_buf_puts(out, ", does no work");
    const char *before = "; options: ";
    for (void *it = ys_json_iter(options); it; it = ys_json_next(options, it), before = ", ")
        ys_buf_printf(out, "%s%s", before, ys_json_iter_key(it));
}

/* Why it is not ready, what it would take, and the command. */
static void print_remedy(const ys_json *entry, struct ys_buf *out)
{
    int64_t download_bytes = ys_json_get_int(entry, "download_bytes", 0);
    int64_t disk_bytes = ys_json_get_int(entry, "disk_bytes", 0);
    char download[YS_SIZE_TEXT], disk[YS_SIZE_TEXT];
    const char *reason = ys_json_get_text(entry, "reason", NULL), *command = ys_json_get_text(entry, "command", NULL);
    if (reason)
        ys_buf_printf(out, "    %s\n", reason);
    if (command)
        ys_buf_printf(out, "    run: %s", command);
    if (command && download_bytes > 0 && disk_bytes > 0)
        ys_buf_printf(out, "   (about %s to download, %s on disk)", ys_size_text((uint64_t)download_bytes, download),
                      ys_size_text((uint64_t)disk_bytes, disk));
    if (command)
        ys_buf_puts(out, "\n");
}

static void print_option(const char *framework, const char *name, const ys_json *option, struct ys_buf *out)
{
    const ys_json *choices = ys_json_get(option, "choices");
    const char *type = ys_json_get_text(option, "type", "");
    ys_buf_printf(out, "    opt.%s.%s = ", framework, name);
    for (size_t i = 0; i < ys_json_size(choices); i++)
        ys_buf_printf(out, "%s%s", i ? "|" : "", ys_json_text(ys_json_at(choices, i), ""));
    if (!ys_json_size(choices))
        ys_buf_puts(out, strcmp(type, "bool") == 0 ? "on|off" : strcmp(type, "number") == 0 ? "NUMBER" : "TEXT");
    ys_buf_printf(out, "\n        %s\n", ys_json_get_text(option, "help", ""));
}

static void print_framework(const ys_json *entry, bool full, struct ys_buf *out)
{
    const ys_json *options = ys_json_get(entry, "options");
    int64_t size = ys_json_get_int(entry, "size_bytes", 0);
    char disk[YS_SIZE_TEXT] = "-";
    if (size > 0)
        ys_size_text((uint64_t)size, disk);
    ys_buf_printf(out, "%-17s %-11s %-11s %7s  %-8s  ", ys_json_get_text(entry, "spec", ""),
                  ys_json_get_text(entry, "version", ""), ys_json_get_text(entry, "state", ""), disk,
                  ys_json_get_text(entry, "python", "-"));
    print_abilities(entry, out);
    ys_buf_puts(out, "\n");
    print_remedy(entry, out);
    if (!full)
        return;
    for (void *it = ys_json_iter(options); it; it = ys_json_next(options, it))
        print_option(ys_json_get_text(entry, "name", ""), ys_json_iter_key(it), ys_json_iter_value(it), out);
    if (ys_json_get_text(entry, "limits", NULL))
        ys_buf_printf(out, "    limits: %s\n", ys_json_get_text(entry, "limits", ""));
    ys_buf_printf(out, "    recipe: %s\n", ys_json_get_text(entry, "recipe", ""));
}

static int list_frameworks(const struct ys_args *args)
{
    ys_json *list = NULL;
    if (args->check)
        return ys_command_check_framework(args);
    ys_status status = ys_framework_list(args->recipe_dirs, &list);
    return status == YS_OK ? print_list(args, list, FRAMEWORK_HEADING, print_framework) : ys_command_fail(status);
}

/* "1x28x28   10 classes   60000 + 10000 rows" */
static void print_form(const ys_json *entry, struct ys_buf *out)
{
    const ys_json *shape = ys_json_get(entry, "shape");
    char text[64];
    if (ys_json_size(shape) != 3) {
        ys_buf_printf(out, "%-43s", "of the model's usual shape and classes");
        return;
    }
    snprintf(text, sizeof text, "%lldx%lldx%lld", (long long)ys_json_integer(ys_json_at(shape, 0), 0),
             (long long)ys_json_integer(ys_json_at(shape, 1), 0), (long long)ys_json_integer(ys_json_at(shape, 2), 0));
    ys_buf_printf(out, "%-9s %3lld classes  %6lld + %5lld rows  ", text,
                  (long long)ys_json_get_int(entry, "classes", 0), (long long)ys_json_get_int(entry, "train", 0),
                  (long long)ys_json_get_int(entry, "test", 0));
}

static void print_dataset(const ys_json *entry, bool full, struct ys_buf *out)
{
    const char *state = ys_json_get_text(entry, "state", ""), *command = ys_json_get_text(entry, "command", NULL);
    bool is_ready = strcmp(state, "ready") == 0;
    ys_buf_printf(out, "%-13s ", ys_json_get_text(entry, "name", ""));
    print_form(entry, out);
    ys_buf_puts(out, strcmp(state, "generated") == 0 ? "made when used" : state);
    if (is_ready)
        ys_buf_puts(out, ys_json_get_bool(entry, "verified", false) ? ", verified" : ", NOT verified");
    ys_buf_puts(out, "\n");
    if (command)
        ys_buf_printf(out, "    run: %s\n", command);
    if (full)
        ys_buf_printf(out, "    %s\n", ys_json_get_text(entry, "title", ""));
    if (full && is_ready)
        ys_buf_printf(out, "    from: %s\n    SHA-256 of the rows to train on: %s\n",
                      ys_json_get_text(entry, "source", ""), ys_json_get_text(entry, "train_hash", ""));
}

static int list_datasets(const struct ys_args *args)
{
    ys_json *list = NULL;
    ys_status status = ys_data_list(&list);
    return status == YS_OK ? print_list(args, list, "", print_dataset) : ys_command_fail(status);
}

static void print_metric(const ys_json *entry, bool full, struct ys_buf *out)
{
    static const char *const texts[] = {"formula", "source", "limits"};
    ys_buf_printf(out, "%-18s %-5s %s\n", ys_json_get_text(entry, "name", ""), ys_json_get_text(entry, "unit", ""),
                  ys_json_get_text(entry, "better", ""));
    for (size_t i = 0; full && i < sizeof texts / sizeof texts[0]; i++)
        ys_buf_printf(out, "    %s: %s\n", texts[i], ys_json_get_text(entry, texts[i], ""));
}

static int list_metrics(const struct ys_args *args)
{
    ys_json *list = NULL;
    ys_status status = ys_metric_list(&list);
    return status == YS_OK ? print_list(args, list, "", print_metric) : ys_command_fail(status);
}

int ys_command_list(const struct ys_args *args)
{
    const char *what = args->word_count ? args->words[0] : "";
    if (args->check && strcmp(what, "frameworks") != 0)
        return ys_command_fail(ys_fail(YS_EINVAL, "--check=%s: write list frameworks --check=NAME", args->check));
    if (args->recipe_dirs[0] && strcmp(what, "frameworks") != 0)
        return ys_command_fail(
            ys_fail(YS_EINVAL, "--recipes=%s: only list frameworks reads recipes", args->recipe_dirs[0]));
    if (args->fresh && !args->check)
        return ys_command_fail(ys_fail(YS_EINVAL, "--fresh says how a framework is checked: name it, --check=NAME"));
    if (args->word_count > 2 && strcmp(what, "keys") != 0)
        return ys_command_fail(ys_fail(YS_EINVAL, "list %s: give one name, not %zu", what, args->word_count - 1));
    if (args->check && args->word_count > 1)
        return ys_command_fail(
            ys_fail(YS_EINVAL, "list frameworks: either %s or --check=%s", args->words[1], args->check));
    if (args->flags.count && !args->check)
        return ys_command_fail(ys_fail(YS_EINVAL,
                                       "--%s says in which mode a framework is checked: name it, --check=NAME",
                                       args->flags.items[0].key));
    if (!args->check)
        ys_stop_release(0);
    if (strcmp(what, "models") == 0)
        return list_models(args);
    if (strcmp(what, "keys") == 0)
        return list_keys(args);
    if (strcmp(what, "frameworks") == 0)
        return list_frameworks(args);
    if (strcmp(what, "datasets") == 0)
        return list_datasets(args);
    if (strcmp(what, "metrics") == 0)
        return list_metrics(args);
    if (!*what)
        return ys_command_fail(ys_fail(YS_EINVAL, "list what? Write frameworks, models, datasets, metrics or keys"));
    return ys_command_fail(
        ys_fail(YS_EINVAL, "list \"%s\": write frameworks, models, datasets, metrics or keys", what));
}

int ys_command_data(const struct ys_args *args)
{
    if (args->word_count != 2 || strcmp(args->words[0], "fetch") != 0)
        return ys_command_fail(ys_fail(YS_EINVAL, "write: yardstick data fetch NAME [--from DIR|FILE] [--unverified]"));
    ys_status status = ys_data_fetch(args->words[1], args->from, args->unverified);
    if (status == YS_OK)
        return 0;
    int code = ys_command_fail(status);
    return code == 7 ? 1 : code;
}

static const char EXAMPLE[] =
    "; An example study. `yardstick check study.ys` says what would run, `yardstick run study.ys` runs it.\n"
    "; Every key: yardstick list keys; one of them: yardstick list keys threads\n"
    "version = 1\n"
    "name = example\n"
    "repeat = 7              ; rounds; six or more give an interval of at least 95 %\n"
    "seed = 1                ; round r trains with seed + r in every trial\n"
    "margin = 2%             ; differences below this count as the same\n"
    "\n"
    "[global]                ; holds for every section below\n"
    "model = lenet\n"
    "data = digits\n"
    "batch = 64\n"
    "steps = 60\n"
    "block = 5               ; steps between two synchronisations, the unit of timing\n"
    "lr = 0.02\n"
    "momentum = 0.9\n"
    "\n"
    "[lenet]                 ; a job: braces make an axis, the product of the axes gives the trials\n"
    "framework = {builtin, pytorch}\n"
    "threads = {1, 2}\n"
    "; opt.pytorch.channels_last = {off, on}\n"
    "; exclude = framework=pytorch threads=1\n";

int ys_command_init(const struct ys_args *args)
{
    const char *path = args->word_count ? args->words[0] : "study.ys";
    if (ys_fs_exists(path))
        return ys_command_fail(
            ys_fail(YS_EINVAL, "%s exists already: give another name, yardstick init NAME.ys", path));
    ys_status status = ys_fs_write(path, EXAMPLE, sizeof EXAMPLE - 1);
    if (status != YS_OK)
        return ys_command_fail(status);
    ys_log_info("wrote %s; try: yardstick check %s", path, path);
    return 0;
}
