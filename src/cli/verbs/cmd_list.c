/* list, data, init. */
#include "base/buf.h"
#include "base/files/fs.h"
#include "base/json/shared_words.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/size_text.h"
#include "base/stop.h"
#include "cli/command.h"
#include "data/dataset.h"
#include "framework/framework_list.h"
#include "framework/knobs.h"
#include "framework/recipe.h"
#include "graph/model.h"
#include "job/option.h"
#include "metric/metric.h"
#include "report/clean_text.h"

#include <stdio.h>
#include <string.h>

/* Widths of columns, and where the last begins. */
enum { FRAMEWORK_NAME = 17, FRAMEWORK_CAN = 60, MODEL_NAME = 15, MODEL_TITLE = 53 };

/* One of the lists: what its entries are, and how they are shown. */
struct list_kind {
    const char *heading;
    const struct ys_record *record;
    void (*print)(const void *entry, bool full, struct ys_buf *out);
    const struct ys_record *(*record_of)(const void *entry); /* of those that are told otherwise; NULL: none is */
};

static bool is(const char *text, const char *name)
{
    return text && strcmp(text, name) == 0;
}

/* Whether that is its name, or how a job writes it. */
static bool is_called(const struct ys_record *record, const void *entry, const char *name)
{
    for (size_t i = 0; i < record->count; i++) {
        const struct ys_field *field = &record->fields[i];
        if ((is(field->name, "name") || is(field->name, "spec")) &&
            ys_is_spelled(name, strlen(name), *(char *const *)((const char *)entry + field->offset)))
            return true;
    }
    return false;
}

/* All entries under the heading, or those that the command line names, in full. */
static void print_entries(const struct list_kind *listing, const struct ys_list *list, const char *wanted,
                          struct ys_buf *out, ys_json *kept)
{
    if (listing->heading[0])
        ys_command_line(out, 4, "%s", listing->heading);
    for (size_t i = 0; i < list->count; i++) {
        const void *entry = (const char *)list->items + i * listing->record->size;
        if (wanted && !is_called(listing->record, entry, wanted))
            continue;
        listing->print(entry, wanted != NULL, out);
        const struct ys_record *told = listing->record_of ? listing->record_of(entry) : listing->record;
        ys_json_append(kept, ys_record_json(told, entry));
    }
}

/* `wanted`: the one to print, NULL for all. */
static int print_list(const struct ys_args *args, const struct list_kind *listing, const struct ys_list *list,
                      const char *wanted)
{
    const char *kind = args->words[0];
    ys_json *all = ys_json_object(), *kept = ys_json_array();
    struct ys_buf out = {0};
    print_entries(listing, list, wanted, &out, kept);
    bool found = !wanted || ys_json_size(kept) > 0;
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

/* What stands behind `list KIND`; NULL. */
static const char *wanted_of(const struct ys_args *args)
{
    return args->word_count > 1 ? args->words[1] : NULL;
}

static const char *text_or(const char *text, const char *fallback)
{
    return text ? text : fallback;
}

/* "1x28x28" */
static void put_shape(struct ys_buf *out, const struct ys_list *shape)
{
    const int64_t *sizes = shape->items;
    for (size_t i = 0; i < shape->count; i++)
        ys_buf_printf(out, "%s%lld", i ? "x" : "", (long long)sizes[i]);
}

struct key_entry {
    char *name, *meaning, *values;
    double standard;
};
static const struct ys_field key_fields[] = {
    YS_FIELD(struct key_entry, name, YS_FIELD_TEXT, NULL, 0, "as a job writes it"),
    {"default", YS_FIELD_REAL, offsetof(struct key_entry, standard), NULL, 0, "as it was published", NULL, NULL},
    YS_FIELD(struct key_entry, meaning, YS_FIELD_TEXT, NULL, 0, "what it changes"),
    YS_FIELD(struct key_entry, values, YS_FIELD_TEXT, NULL, 0, "what it may be"),
};
static const struct ys_record key_record = YS_RECORD("key", struct key_entry, key_fields);

struct model_entry {
    const char *name, *title;
    struct ys_list input; /* int64_t */
    int64_t classes, parameters, multiply_adds;
    struct ys_list keys; /* struct key_entry, owned: what a job may choose besides the classes */
    bool takes_classes;
};
static const struct ys_field model_fields[] = {
    YS_FIELD(struct model_entry, name, YS_FIELD_TEXT, NULL, 0, "as a job writes it"),
    YS_FIELD(struct model_entry, title, YS_FIELD_TEXT, NULL, 0, "for people"),
    YS_FIELD(struct model_entry, input, YS_FIELD_INTS, "1", 0, "shape of a row"),
    YS_FIELD(struct model_entry, classes, YS_FIELD_INT, "1", 0, "that it tells apart"),
    YS_FIELD_OF(struct model_entry, keys, YS_FIELD_LIST, &key_record, 0, "what a job may choose besides the classes"),
    YS_FIELD(struct model_entry, parameters, YS_FIELD_INT, "1", 0, "that are trained"),
    YS_FIELD(struct model_entry, multiply_adds, YS_FIELD_INT, "1", 0, "forward, of a row"),
};
static const struct ys_record model_record = YS_RECORD("model", struct model_entry, model_fields);

static void print_keys(const struct model_entry *model, struct ys_buf *out)
{
    const struct key_entry *keys = model->keys.items;
    for (size_t i = 0; i < model->keys.count; i++)
        ys_command_wrap(out, 4, 8, "%s = %g: %s; %s", keys[i].name, keys[i].standard, keys[i].meaning, keys[i].values);
    if (model->takes_classes)
        ys_command_wrap(out, 4, 8, "model.classes: those of the data, or more");
}

static void print_model(const void *entry, bool full, struct ys_buf *out)
{
    const struct model_entry *model = entry;
    struct ys_buf shape = {0};
    put_shape(&shape, &model->input);
    if (ys_command_is_narrow()) {
        ys_command_wrap(out, 0, 4, "%s %lld %lld %s %s", model->name, (long long)model->parameters,
                        (long long)model->multiply_adds, ys_buf_text(&shape), model->title);
    } else {
        ys_command_name(out, 0, MODEL_NAME, model->name);
        ys_buf_printf(out, "%11lld %13lld  %-10s ", (long long)model->parameters, (long long)model->multiply_adds,
                      ys_buf_text(&shape));
        ys_text_wrap(out, model->title, MODEL_TITLE, MODEL_TITLE, ys_command_width());
    }
    ys_buf_free(&shape);
    if (full)
        print_keys(model, out);
}

static void describe_keys(const struct ys_model *model, struct ys_list *keys)
{
    for (int size = 0; model->keys && size < YS_MODEL_SIZE_COUNT; size++) {
        const struct ys_model_key *key = &model->keys[size];
        struct ys_buf values = {0};
        if (!key->meaning)
            continue;
        struct key_entry *entry = ys_list_add(&key_record, keys);
        ys_model_key_range(key, &values);
        *entry = (struct key_entry){ys_format("model.%s", ys_model_size_name((enum ys_model_size)size)),
                                    ys_strdup(key->meaning), ys_buf_take(&values), key->standard};
    }
}

/* Borrows from the model, all but the keys. */
static ys_status describe_model(const struct ys_model *model, struct model_entry *entry)
{
    struct ys_graph *graph = NULL;
    *entry =
        (struct model_entry){.name = model->name,
                             .title = model->title,
                             .input = {(void *)(uintptr_t)model->usual.shape, model->usual.dtype == YS_I32 ? 1 : 3},
                             .classes = model->usual.classes,
                             .takes_classes = model->build != NULL};
    describe_keys(model, &entry->keys);
    YS_TRY(ys_model_build(model, &model->usual, &graph));
    entry->parameters = ys_graph_parameter_count(graph);
    entry->multiply_adds = ys_graph_multiply_adds(graph);
    ys_graph_free(graph);
    return YS_OK;
}

static ys_status describe_models(const struct ys_model *model, struct ys_list *models)
{
    for (; model->name; model++) {
        struct model_entry *entry = ys_list_add(&model_record, models);
        YS_TRY(describe_model(model, entry));
    }
    return YS_OK;
}

static int list_models(const struct ys_args *args)
{
    static const struct list_kind listing = {"model           parameters multiply-adds  input", &model_record,
                                             print_model};
    struct ys_list models = {0};
    ys_status status = describe_models(ys_models(), &models);
    if (status == YS_OK)
        status = describe_models(ys_models_more(), &models);
    int code = status == YS_OK ? print_list(args, &listing, &models, wanted_of(args)) : ys_command_fail(status);
    struct model_entry *entries = models.items;
    for (size_t i = 0; i < models.count; i++)
        ys_list_fini(&key_record, &entries[i].keys);
    ys_free(models.items);
    return code;
}

static int list_keys(const struct ys_args *args)
{
    struct ys_buf out = {0};
    if (args->format == YS_FORMAT_JSON)
        return ys_command_print_json(ys_options_json());
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

/* "train, infer, double" */
static void put_abilities(const struct ys_framework_entry *entry, struct ys_buf *can)
{
    char *const *modes = entry->modes.items;
    for (size_t i = 0; i < entry->modes.count; i++)
        ys_buf_printf(can, "%s%s", i ? ", " : "", modes[i]);
    if (entry->has_double)
        ys_buf_puts(can, ", double");
    if (entry->no_work)
        ys_buf_puts(can, ", does no work");
}

/* "pytorch           2.14.1     installed    1.2 GB  3.11.2    train, infer" */
static void print_row(const struct ys_framework_entry *entry, struct ys_buf *out)
{
    char disk[YS_SIZE_TEXT] = "-";
    struct ys_buf can = {0};
    if (entry->size_bytes > 0)
        ys_size_text(entry->size_bytes, disk);
    put_abilities(entry, &can);
    const char *version = text_or(entry->version, ""), *state = ys_name_of(&ys_entry_states, entry->state),
               *python = text_or(entry->python, "-");
    if (ys_command_is_narrow()) {
        ys_command_wrap(out, 0, 4, "%s %s %s %s %s %s", entry->spec, version, state, disk, python, ys_buf_text(&can));
    } else {
        ys_command_name(out, 0, FRAMEWORK_NAME, entry->spec);
        ys_buf_printf(out, " %-10s %-11s %7s  %-8s  ", version, state, disk, python);
        ys_text_wrap(out, ys_buf_text(&can), FRAMEWORK_CAN, FRAMEWORK_CAN, ys_command_width());
    }
    ys_buf_free(&can);
}

/* "    options: a, b" */
static void print_options(const struct ys_framework_entry *entry, struct ys_buf *out)
{
    struct ys_buf names = {0};
    for (void *it = ys_json_iter(entry->options); it; it = ys_json_next(entry->options, it))
        ys_buf_printf(&names, "%s%s", names.size ? ", " : "", ys_json_iter_key(it));
    if (names.size)
        ys_command_wrap(out, 4, 8, "options: %s", ys_buf_text(&names));
    ys_buf_free(&names);
}

/* Why it is not ready, what it would take, and the command. */
static void print_remedy(const struct ys_framework_entry *entry, struct ys_buf *out)
{
    char download[YS_SIZE_TEXT], disk[YS_SIZE_TEXT];
    if (entry->reason)
        ys_command_wrap(out, 4, 4, "%s", entry->reason);
    if (!entry->command)
        return;
    ys_buf_printf(out, "    run: %s\n", entry->command);
    if (entry->download_bytes > 0 && entry->disk_bytes > 0)
        ys_command_wrap(out, 9, 9, "(about %s to download, %s on disk)", ys_size_text(entry->download_bytes, download),
                        ys_size_text(entry->disk_bytes, disk));
}

struct option {
    const char *type, *help;
    const ys_json *choices;
};
static const struct ys_field option_fields[] = {
    YS_FIELD(struct option, type, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "bool, number, text or choice"),
    YS_FIELD(struct option, choices, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "of a choice"),
    YS_FIELD(struct option, help, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "what it does"),
};
static const struct ys_record option_record = YS_RECORD("option", struct option, option_fields);

static void print_option(const char *framework, const char *name, const ys_json *json, struct ys_buf *out)
{
    struct option option;
    ys_record_glance(&option_record, json, &option);
    ys_buf_printf(out, "    opt.%s.%s = ", framework, name);
    for (size_t i = 0; i < ys_json_size(option.choices); i++)
        ys_buf_printf(out, "%s%s", i ? "|" : "", ys_json_text(ys_json_at(option.choices, i), ""));
    if (!ys_json_size(option.choices))
        ys_buf_puts(out, is(option.type, "bool") ? "on|off" : is(option.type, "number") ? "NUMBER" : "TEXT");
    ys_buf_puts(out, "\n");
    ys_command_wrap(out, 8, 8, "%s", text_or(option.help, ""));
}

static void print_framework(const void *item, bool full, struct ys_buf *out)
{
    const struct ys_framework_entry *entry = item;
    print_row(entry, out);
    print_remedy(entry, out);
    if (!full) {
        print_options(entry, out);
        return;
    }
    for (void *it = ys_json_iter(entry->options); it; it = ys_json_next(entry->options, it))
        print_option(entry->name, ys_json_iter_key(it), ys_json_iter_value(it), out);
    if (entry->limits)
        ys_command_wrap(out, 4, 8, "limits: %s", entry->limits);
    ys_buf_printf(out, "    recipe: %s\n", text_or(entry->recipe, ""));
}

static const struct ys_record *record_of_framework(const void *entry)
{
    return ys_framework_entry_told(entry);
}

static int list_frameworks(const struct ys_args *args)
{
    static const struct list_kind listing = {"framework         version    state          disk  python    can",
                                             &ys_framework_entry_record, print_framework, record_of_framework};
    struct ys_list list;
    if (args->check)
        return ys_command_check_framework(args);
    char *wanted = wanted_of(args) ? ys_recipe_named(wanted_of(args), args->recipe_dirs) : NULL;
    ys_framework_list(args->recipe_dirs, &list);
    const int code = print_list(args, &listing, &list, wanted);
    ys_list_fini(&ys_framework_entry_record, &list);
    ys_free(wanted);
    return code;
}

/* "1x28x28   10 classes   60000 + 10000 rows" */
static void put_form(const struct ys_data_entry *entry, struct ys_buf *out)
{
    struct ys_buf shape = {0};
    if (entry->shape.count == 0) {
        ys_buf_printf(out, "%-43s", "of the model's usual shape and classes");
        return;
    }
    put_shape(&shape, &entry->shape);
    ys_buf_printf(out, "%-9s %3lld classes  ", ys_buf_text(&shape), (long long)entry->classes);
    if (entry->train == YS_FIELD_NONE)
        ys_buf_printf(out, "%-21s", "as many as it has");
    else
        ys_buf_printf(out, "%6lld + %5lld rows  ", (long long)entry->train, (long long)entry->test);
    ys_buf_free(&shape);
}

static void print_dataset(const void *item, bool full, struct ys_buf *out)
{
    const struct ys_data_entry *entry = item;
    bool is_ready = entry->state == YS_DATA_READY;
    struct ys_buf form = {0};
    put_form(entry, &form);
    ys_command_line(out, 4, "%-13s %s%s%s", entry->name, ys_buf_text(&form),
                    entry->state == YS_DATA_GENERATED ? "made when used" : ys_name_of(&ys_data_states, entry->state),
                    !is_ready              ? ""
                    : entry->verified == 1 ? ", verified"
                                           : ", NOT verified");
    ys_buf_free(&form);
    if (entry->command)
        ys_buf_printf(out, "    run: %s\n", entry->command);
    if (full)
        ys_command_wrap(out, 4, 4, "%s", entry->title);
    if (full && is_ready) {
        ys_buf_printf(out, "    from: %s\n", text_or(entry->source, ""));
        ys_command_wrap(out, 4, 8, "SHA-256 of the rows to train on: %s", text_or(entry->train_hash, ""));
    }
}

static int list_datasets(const struct ys_args *args)
{
    static const struct list_kind listing = {"", &ys_data_entry_record, print_dataset};
    struct ys_list list;
    ys_status status = ys_data_list(&list);
    if (status != YS_OK)
        return ys_command_fail(status);
    int code = print_list(args, &listing, &list, wanted_of(args));
    ys_list_fini(&ys_data_entry_record, &list);
    return code;
}

static void print_metric(const void *entry, bool full, struct ys_buf *out)
{
    const struct ys_metric_info *info = entry;
    ys_buf_printf(out, "%-18s %-5s %s\n", info->name, info->unit, ys_name_of(&ys_betters, (int)info->better));
    if (!full)
        return;
    ys_command_wrap(out, 4, 8, "formula: %s", info->formula);
    ys_command_wrap(out, 4, 8, "source: %s", info->source);
    ys_command_wrap(out, 4, 8, "limits: %s", info->limits);
}

static int list_metrics(const struct ys_args *args)
{
    static const struct list_kind listing = {"", &ys_metric_listed_record, print_metric};
    struct ys_list list = {0};
    list.items = (void *)(uintptr_t)ys_metric_infos(&list.count);
    return print_list(args, &listing, &list, wanted_of(args));
}

/* "wait: why", and below it each value with what it sets. */
static void print_knob(const struct ys_knob *knob, struct ys_buf *out)
{
    const struct ys_knob_value *values = knob->values.items;
    ys_command_wrap(out, 0, 4, "%s: %s", knob->name, knob->why);
    for (size_t v = 0; v < knob->values.count; v++) {
        char *const *keys = values[v].keys.items;
        const bool is_named = !is(values[v].name, keys[0]);
        ys_buf_printf(out, "    %s%s", is_named ? values[v].name : "", is_named ? ":" : "");
        for (size_t i = 0; i < values[v].keys.count; i++)
            ys_buf_printf(out, "%s%s", is_named || i ? " " : "", keys[i]);
        ys_buf_puts(out, "\n");
    }
}

/* What `tune` looks among: of a framework, or what is common to all. */
static int list_knobs(const struct ys_args *args)
{
    struct ys_list knobs;
    struct ys_buf out = {0};
    char *spec = wanted_of(args) ? ys_recipe_named(wanted_of(args), args->recipe_dirs) : NULL;
    const ys_status status = ys_knobs_of(spec, args->recipe_dirs, &knobs);
    ys_free(spec);
    if (status != YS_OK)
        return ys_command_fail(status);
    ys_json *all = ys_json_object();
    const struct ys_knob *items = knobs.items;
    ys_json_set(all, "knobs", ys_list_json(&ys_knob_record, &knobs));
    for (size_t i = 0; i < knobs.count; i++)
        print_knob(&items[i], &out);
    ys_list_fini(&ys_knob_record, &knobs);
    if (args->format != YS_FORMAT_JSON) {
        ys_json_free(all);
        return ys_command_print(&out);
    }
    ys_buf_free(&out);
    return ys_command_print_json(all);
}

/* Those of `list` that read recipes. */
static bool reads_recipes(const char *what)
{
    return is(what, "frameworks") || is(what, "knobs");
}

int ys_command_list(const struct ys_args *args)
{
    const char *what = args->word_count ? args->words[0] : "";
    if (args->check && strcmp(what, "frameworks") != 0)
        return ys_command_fail(ys_fail(YS_EINVAL, "--check=%s: write list frameworks --check=NAME", args->check));
    if (args->recipe_dirs[0] && !reads_recipes(what))
        return ys_command_fail(
            ys_fail(YS_EINVAL, "--recipes=%s: only list frameworks and knobs read recipes", args->recipe_dirs[0]));
    if ((args->fresh || args->quick) && !args->check)
        return ys_command_fail(ys_fail(YS_EINVAL, "--%s says how a framework is checked: name it, --check=NAME",
                                       args->fresh ? "fresh" : "quick"));
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
    if (strcmp(what, "knobs") == 0)
        return list_knobs(args);
    if (!*what)
        return ys_command_fail(
            ys_fail(YS_EINVAL, "list what? Write frameworks, models, datasets, metrics, keys or knobs"));
    return ys_command_fail(
        ys_fail(YS_EINVAL, "list \"%s\": write frameworks, models, datasets, metrics, keys or knobs", what));
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
