/* From sections to trials: the product of the axes, less what is excluded. */
#include "base/mem.h"
#include "base/modes.h"
#include "graph/model.h"
#include "job/job_section.h"
#include "job/optimizer.h"
#include "job/quant.h"

#include <string.h>

/* One setting, and the value of it at the current point. */
struct dimension {
    const struct ys_setting *setting;
    ys_json **values; /* borrowed from the setting, or of `typed` */
    ys_json **typed;  /* of an option, and of key form: values for the current framework, owned */
    size_t count, index;
};

/* The points of one section that have one framework. */
struct grid {
    const struct ys_section *section;
    const char *framework;               /* "pytorch@2.13.0" */
    size_t framework_index;              /* in the section's setting of framework */
    const struct ys_setting *frameworks; /* NULL when the default holds */
    struct dimension dimensions[YS_JOB_KEY_LIMIT];
    size_t count;
};

struct expansion {
    struct ys_resolver *resolver;
    ys_json *standards; /* {key: default} of every resolved option */
    ys_json *trials;    /* NULL while points are only counted */
    int64_t points, kept;
};

/* Whether `framework`, as "pytorch@2.13.0", is of the family `name`, as "pytorch". */
static bool is_of_framework(const char *framework, const char *name, size_t length)
{
    return strncmp(framework, name, length) == 0 && (framework[length] == 0 || framework[length] == '@');
}

/* The FRAMEWORK part of opt.FRAMEWORK.NAME. */
static const char *opt_framework(const char *key, size_t *length)
{
    *length = strcspn(key + 4, ".");
    return key + 4;
}

static const char *opt_name(const char *key)
{
    return key + 4 + strcspn(key + 4, ".") + 1;
}

/* The type of an option that no recipe describes. */
static ys_json *guess(const char *text)
{
    static const struct ys_option integer = {.name = "", .type = YS_OPTION_INT, .low = -9e15, .high = 9e15};
    static const struct ys_option real = {.name = "", .type = YS_OPTION_REAL, .low = -1e308, .high = 1e308};
    ys_json *value = NULL;
    if (strcmp(text, "on") == 0 || strcmp(text, "true") == 0)
        return ys_json_bool(true);
    if (strcmp(text, "off") == 0 || strcmp(text, "false") == 0)
        return ys_json_bool(false);
    if (ys_option_parse(&integer, "", text, &value) == YS_OK || ys_option_parse(&real, "", text, &value) == YS_OK)
        return value;
    return ys_json_string(text);
}

/* Two spellings of one value, which only the framework's recipe tells: "800" and "8e2". */
static ys_status check_typed(const struct dimension *dimension)
{
    const struct ys_setting *setting = dimension->setting;
    for (size_t i = 1; i < setting->axis.count; i++)
        for (size_t j = 0; j < i; j++)
            if (ys_json_equal(dimension->typed[i], dimension->typed[j]))
                return ys_ini_fail(&setting->value_place, "%s has the value %s twice, as %s and as %s: remove one",
                                   setting->key, setting->axis.texts[j], setting->axis.texts[j],
                                   setting->axis.texts[i]);
    return YS_OK;
}

static ys_status type_opts(const struct expansion *expansion, const struct grid *grid, struct dimension *dimension)
{
    const struct ys_setting *setting = dimension->setting;
    const struct ys_job_hooks *hooks = expansion->resolver->hooks;
    dimension->typed = ys_alloc(setting->axis.count, sizeof *dimension->typed);
    dimension->values = dimension->typed;
    for (size_t i = 0; i < setting->axis.count; i++) {
        const char *text = setting->axis.texts[i];
        if (!hooks || !hooks->check_option) {
            dimension->typed[i] = guess(text);
            continue;
        }
        ys_status status =
            hooks->check_option(hooks->context, grid->framework, opt_name(setting->key), text, &dimension->typed[i]);
        if (status != YS_OK)
            return ys_ini_fail_in(&setting->value_place, status);
    }
    return check_typed(dimension);
}

static ys_status add_dimension(const struct expansion *expansion, struct grid *grid, struct ys_setting *setting)
{
    struct dimension *dimension = &grid->dimensions[grid->count++];
    *dimension = (struct dimension){.setting = setting, .values = setting->values, .count = setting->axis.count};
    if (strcmp(setting->option->name, "form") == 0) {
        ys_status status =
            ys_forms_expand(expansion->resolver->hooks, grid->framework, setting, &dimension->typed, &dimension->count);
        dimension->values = dimension->typed;
        return status == YS_OK ? YS_OK : ys_ini_fail_in(&setting->value_place, status);
    }
    if (setting->option->type != YS_OPTION_OPT)
        return YS_OK;
    setting->matched = true;
    return type_opts(expansion, grid, dimension);
}

/* Dimensions stand in the order of the option table, variables and options after the keys, the framework before all. */
static ys_status lay_out(const struct expansion *expansion, struct grid *grid)
{
    const struct ys_layer *all = &grid->section->all;
    for (const struct ys_option *option = ys_options(); option->name; option++)
        for (size_t i = 0; ys_option_is_resolved(option) && i < all->count; i++)
            if (all->items[i]->option == option && option->type != YS_OPTION_FRAMEWORK)
                YS_TRY(add_dimension(expansion, grid, all->items[i]));
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i]->option->type == YS_OPTION_ENV)
            YS_TRY(add_dimension(expansion, grid, all->items[i]));
    for (size_t i = 0; i < all->count; i++) {
        size_t length;
        if (all->items[i]->option->type == YS_OPTION_OPT) {
            const char *name = opt_framework(all->items[i]->key, &length);
            if (is_of_framework(grid->framework, name, length))
                YS_TRY(add_dimension(expansion, grid, all->items[i]));
        }
    }
    return YS_OK;
}

static void clear_grid(struct grid *grid)
{
    for (size_t d = 0; d < grid->count; d++) {
        struct dimension *dimension = &grid->dimensions[d];
        for (size_t i = 0; dimension->typed && i < dimension->count; i++)
            ys_json_free(dimension->typed[i]);
        ys_free(dimension->typed);
    }
    grid->count = 0;
}

/* Moves to the next point, the last dimension fastest; false after the last point. */
static bool advance(struct grid *grid)
{
    for (size_t d = grid->count; d-- > 0;) {
        if (++grid->dimensions[d].index < grid->dimensions[d].count)
            return true;
        grid->dimensions[d].index = 0;
    }
    return false;
}

static const struct dimension *find_dimension(const struct grid *grid, const char *key)
{
    for (size_t d = 0; d < grid->count; d++)
        if (strcmp(grid->dimensions[d].setting->key, key) == 0)
            return &grid->dimensions[d];
    return NULL;
}

static bool is_standard_length_replaced(const struct grid *grid, const char *key)
{
    if (strcmp(key, "epochs") != 0)
        return false;
    for (size_t d = 0; d < grid->count; d++) {
        const char *other = grid->dimensions[d].setting->key;
        if (strcmp(other, key) != 0 && ys_mode_of_length(other) != YS_NAME_NONE)
            return true;
    }
    return false;
}

/* Whether the current point has the term's value. */
static bool holds(const struct expansion *expansion, const struct grid *grid, const struct ys_exclude_term *term)
{
    if (term->option->type == YS_OPTION_FRAMEWORK)
        return strcmp(grid->framework, term->text) == 0 ||
               is_of_framework(grid->framework, term->text, strlen(term->text));
    const struct dimension *dimension = find_dimension(grid, term->key);
    if (dimension && term->option->type == YS_OPTION_OPT)
        return strcmp(dimension->setting->axis.texts[dimension->index], term->text) == 0;
    if (dimension)
        return ys_json_equal(dimension->values[dimension->index], term->value);
    const ys_json *standard = ys_json_get(expansion->standards, term->key);
    return standard && !is_standard_length_replaced(grid, term->key) && ys_json_equal(standard, term->value);
}

static bool is_excluded(const struct expansion *expansion, const struct grid *grid)
{
    bool excluded = false;
    for (size_t i = 0; i < grid->section->excludes.count; i++) {
        struct ys_exclude *exclude = grid->section->excludes.items[i];
        bool all_hold = true;
        for (size_t t = 0; t < exclude->term_count && all_hold; t++)
            all_hold = holds(expansion, grid, &exclude->terms[t]);
        exclude->matched |= all_hold;
        excluded |= all_hold;
    }
    return excluded;
}

/* Whether `text`, followed by other factors of an id, could be read as more than one of them: with a comma and a key in
 * it, or the quote that says that it is quoted. */
static bool needs_quotes(const char *text)
{
    if (*text == '"')
        return true;
    for (const char *at = text; (at = strchr(at, ',')); at++) {
        size_t length = strcspn(at + 1, ",=");
        char *key = at[1 + length] == '=' ? ys_strndup(at + 1, length) : NULL;
        const bool is_key = key && ys_option_find(key);
        ys_free(key);
        if (is_key)
            return true;
    }
    return false;
}

/* Different values of a factor, whatever is in them, must not make one id. */
static void put_id_value(const char *text, struct ys_buf *id)
{
    if (!needs_quotes(text)) {
        ys_buf_puts(id, text);
        return;
    }
    ys_buf_puts(id, "\"");
    for (; *text; text++)
        ys_buf_printf(id, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    ys_buf_puts(id, "\"");
}

/* Adds "key=text" to the id and the value to the factors. */
static void add_factor(const char *key, const char *text, const ys_json *value, struct ys_buf *id, ys_json *factors)
{
    ys_buf_puts(id, ys_json_size(factors) == 0 ? ":" : ",");
    ys_buf_printf(id, "%s=", key);
    put_id_value(ys_json_text(value, text), id);
    ys_json_set(factors, key, ys_json_copy(value));
}

/* What two of ranks, nodes and ranks_per_node say of the third. What does not go together stays as it is given, and is
 * seen by who looks at the trial (prepare/resolve_trials.c), as an axis may have such a point among others. */
static ys_status find_ranks(ys_json *keys, bool has_ranks)
{
    const int64_t nodes = ys_json_get_int(keys, "nodes", 1), each = ys_json_get_int(keys, "ranks_per_node", 0);
    if (!has_ranks)
        ys_json_set_int(keys, "ranks", nodes * (each > 0 ? each : 1));
    const int64_t ranks = ys_json_get_int(keys, "ranks", 1);
    if (each > 0 && ranks != nodes * each)
        return YS_OK;
    if (nodes > 1 && strcmp(ys_json_get_text(keys, "launch", ""), "ssh") != 0)
        ys_json_set(keys, "hosts", ys_json_null());
    if (nodes > 1)
        return ranks % nodes == 0 ? ys_json_set_int(keys, "ranks_per_node", ranks / nodes) : YS_OK;
    static const char *const of_several[] = {"nodes", "ranks_per_node", "launch", "hosts"};
    for (size_t i = 0; i < sizeof of_several / sizeof of_several[0]; i++)
        ys_json_set(keys, of_several[i], ys_json_null());
    return YS_OK;
}

/* `batch` is of each rank: where all together were given, it follows. Shares that are not equal are seen by who looks
 * at the trial, likewise. Of one process there is nothing to say, as in trials that were stored before there were
 * ranks. */
static ys_status finish_ranks(ys_json *keys, bool has_ranks)
{
    static const char *const of_several[] = {"ranks", "strategy", "bn", "bucket", "listen"};
    YS_TRY(find_ranks(keys, has_ranks));
    const int64_t all = ys_json_get_int(keys, "global_batch", 0), ranks = ys_json_get_int(keys, "ranks", 1);
    if (all > 0)
        ys_json_set_int(keys, "batch", all >= ranks ? all / ranks : 1);
    for (size_t i = 0; ranks <= 1 && i < sizeof of_several / sizeof of_several[0]; i++)
        ys_json_set(keys, of_several[i], ys_json_null());
    return YS_OK;
}

/* Where nothing attacks there is nothing to say of how. */
static void finish_attack(ys_json *keys)
{
    static const char *const of_attacks[] = {"attack.rows", "attack.restarts", "attack.curve", "attack.twins",
                                             "attack.transfer"};
    const bool attacks = ys_json_get_text(keys, "attack", NULL) != NULL;
    if (strcmp(ys_json_get_text(keys, "compare", ""), "same-weights") == 0) {
        ys_json_set(keys, "attack.twins", ys_json_null());
        ys_json_set(keys, "attack.transfer", ys_json_null());
    }
    for (size_t i = 0; !attacks && i < sizeof of_attacks / sizeof of_attacks[0]; i++)
        ys_json_set(keys, of_attacks[i], ys_json_null());
}

/* Makes null what says nothing in the trial's mode, or in its way to compare, and says the optimizer's numbers. A trial
 * of same weights answers requests, or an attack's questions, and its keys of training say how the weights come about.
 * `has_ranks`: they are given, and not usual. */
static ys_status finish_keys(ys_json *keys, bool has_ranks)
{
    const char *compare = ys_json_get_text(keys, "compare", "");
    const int asked = ys_name_find(&ys_modes, ys_json_get_text(keys, "mode", ""));
    const char *said = ys_name_of(&ys_modes, asked), *mode = ys_mode_of_keys(said);
    struct ys_job_optimizer optimizer;
    for (const struct ys_option *option = ys_options(); option->name; option++)
        if ((option->mode && strcmp(option->mode, mode) != 0) ||
            (option->compare && strcmp(option->compare, compare) != 0))
            ys_json_set(keys, option->name, ys_json_null());
    if (strcmp(compare, "same-weights") == 0) {
        ys_json_set(keys, "eval_every", ys_json_null());
        ys_json_set(keys, "until", ys_json_null());
        ys_json_set_string(keys, "mode", ys_mode_needs_same(said) ? said : "infer");
    }
    finish_attack(keys);
    ys_quant_finish(keys);
    YS_TRY(finish_ranks(keys, has_ranks));
    YS_TRY(ys_job_optimizer_parse(ys_json_get_text(keys, "optimizer", "sgd"), &optimizer));
    ys_job_optimizer_put(&optimizer, keys);
    return YS_OK;
}

/* The text of a key at the current point, NULL where it is not given. */
static const char *point_text(const struct grid *grid, const char *key)
{
    const struct dimension *dimension = find_dimension(grid, key);
    return dimension ? ys_json_text(dimension->values[dimension->index], NULL) : NULL;
}

static void forget_lengths(ys_json *keys)
{
    ys_json_set(keys, "epochs", ys_json_null());
    ys_json_set(keys, "steps", ys_json_null());
}

static ys_status ask_own(const struct expansion *expansion, const struct grid *grid, const char *of, const char *data,
                         ys_json **own, char **reason)
{
    const struct ys_job_hooks *hooks = expansion->resolver->hooks;
    if (!hooks || !hooks->own_settings) {
        *reason = ys_strdup("no defaults of frameworks are known here");
        return YS_OK;
    }
    ys_status status = hooks->own_settings(hooks->context, of, data, own, reason);
    const struct dimension *given = find_dimension(grid, "own_of");
    if (status == YS_OK || !given)
        return status;
    return ys_ini_fail_in(&given->setting->value_place, ys_fail_in(status, "own_of = %s", of));
}

/* compare = own: a framework's defaults for a data set, over the standards and below all that the section says. */
static ys_status fill_own(const struct expansion *expansion, const struct grid *grid, ys_json *trial, ys_json *keys)
{
    const char *compare = point_text(grid, "compare"), *given = point_text(grid, "own_of");
    const char *data = point_text(grid, "own_data") ? point_text(grid, "own_data") : point_text(grid, "data");
    ys_json *own = NULL;
    char *reason = NULL;
    if (!compare || strcmp(compare, "own") != 0)
        return YS_OK;
    char *of = given ? ys_strdup(given) : ys_strndup(grid->framework, strcspn(grid->framework, "@"));
    ys_status status = ask_own(expansion, grid, of, data, &own, &reason);
    if (status == YS_OK && (ys_json_get(own, "epochs") || ys_json_get(own, "steps")))
        forget_lengths(keys);
    if (status == YS_OK && own)
        ys_json_merge(keys, own);
    if (status == YS_OK)
        ys_json_set_string(keys, "own_of", of);
    if (status == YS_OK)
        ys_json_set_string(keys, "own_data", data);
    if (status == YS_OK && !own)
        ys_json_set_string(trial, "unsupported", reason);
    ys_free(of);
    ys_free(reason);
    ys_json_free(own);
    return status;
}

/* Whether a key says anything at the current point: those of a quantisation do where there is one. */
static bool says_something(const struct grid *grid, const struct ys_setting *setting)
{
    return ys_quant_key_says(setting->key, point_text(grid, "precision"), point_text(grid, "quant"));
}

/* Whether the point is another one again, of which a key says nothing. */
static bool is_repeated(const struct grid *grid)
{
    for (size_t d = 0; d < grid->count; d++)
        if (grid->dimensions[d].index > 0 && !says_something(grid, grid->dimensions[d].setting))
            return true;
    return false;
}

/* Of key form, whose one value may be several for a framework. */
static bool names_several(const struct ys_setting *setting)
{
    return strcmp(setting->key, "form") == 0 && strcmp(setting->axis.texts[0], "all") == 0;
}

static ys_status finish_form(const struct expansion *expansion, const struct grid *grid, ys_json *trial, ys_json *keys)
{
    char *reason = NULL;
    ys_status status = ys_forms_finish(expansion->resolver->hooks, grid->framework, keys, &reason);
    if (reason)
        ys_json_set_string(trial, "unsupported", reason);
    ys_free(reason);
    return status;
}

static ys_status fill_trial(const struct expansion *expansion, const struct grid *grid, struct ys_buf *id,
                            ys_json *trial, ys_json *factors, ys_json *keys, ys_json *options, ys_json *env)
{
    ys_json_merge(keys, expansion->standards);
    ys_json_set_string(keys, "framework", grid->framework);
    YS_TRY(fill_own(expansion, grid, trial, keys));
    if (find_dimension(grid, "epochs") || is_standard_length_replaced(grid, "epochs"))
        forget_lengths(keys);
    ys_buf_puts(id, grid->section->name);
    if (grid->frameworks && grid->frameworks->axis.count > 1)
        add_factor("framework", grid->framework, grid->frameworks->values[grid->framework_index], id, factors);
    for (size_t d = 0; d < grid->count; d++) {
        const struct dimension *dimension = &grid->dimensions[d];
        const struct ys_setting *setting = dimension->setting;
        const ys_json *value = dimension->values[dimension->index];
        enum ys_option_type type = setting->option->type;
        ys_json *into = type == YS_OPTION_ENV ? env : type == YS_OPTION_OPT ? options : keys;
        const char *name = type == YS_OPTION_ENV   ? setting->key + 4
                           : type == YS_OPTION_OPT ? opt_name(setting->key)
                                                   : setting->key;
        ys_json_set(into, name, ys_json_copy(value));
        if ((setting->axis.count > 1 && says_something(grid, setting)) || names_several(setting))
            add_factor(setting->key,
                       dimension->index < setting->axis.count ? setting->axis.texts[dimension->index] : "", value, id,
                       factors);
    }
    if (!ys_json_get_text(keys, "data", NULL))
        ys_json_set_string(keys, "data", "synthetic");
    YS_TRY(finish_form(expansion, grid, trial, keys));
    return finish_keys(keys, find_dimension(grid, "ranks") != NULL);
}

/* A target is looked at in checkpoints that lie on this host. */
static ys_status check_until(const struct grid *grid, const ys_json *keys)
{
    const char *until = ys_json_get_text(keys, "until", NULL), *section = grid->section->name;
    const struct dimension *given = find_dimension(grid, "until");
    if (!until || !given)
        return YS_OK;
    const struct ys_ini_place *place = &given->setting->value_place;
    if (ys_json_type_of(ys_json_get(keys, "eval_every")) == YS_JSON_NULL)
        return ys_ini_fail(place,
                           "until = %s looks at checkpoints, and section [%s] has none: write eval_every = STEPS, from "
                           "one to the next",
                           until, section);
    if (ys_json_type_of(ys_json_get(keys, "nodes")) != YS_JSON_NULL)
        return ys_ini_fail(place,
                           "until = %s looks at checkpoints while a run stands still, and those of several hosts lie "
                           "on others: remove nodes from section [%s], or write until = none",
                           until, section);
    return YS_OK;
}

/* What only two keys together can have wrong. */
static ys_status check_point(const struct grid *grid, const ys_json *keys)
{
    const char *text = ys_json_get_text(keys, "optimizer", NULL);
    const struct dimension *steps = find_dimension(grid, "steps");
    struct ys_job_optimizer optimizer;
    if (steps && ys_json_get_int(keys, "steps", 1) == 0 &&
        strcmp(ys_json_get_text(keys, "compare", ""), "same-weights") != 0)
        return ys_ini_fail(&steps->setting->value_place,
                           "steps = 0 trains nothing, which only compare = same-weights can do: write 1 or more");
    if (!text)
        return YS_OK; /* the trial does not train */
    YS_TRY(check_until(grid, keys));
    YS_TRY(ys_job_optimizer_parse(text, &optimizer));
    double momentum = ys_json_get_number(keys, "momentum", 0);
    ys_status status = ys_job_optimizer_check(&optimizer, momentum);
    if (status == YS_OK)
        return YS_OK;
    status =
        ys_fail_in(status, "optimizer = %s with momentum = %g in section [%s]", text, momentum, grid->section->name);
    /* The key that is not a default is to blame. */
    const struct dimension *given = find_dimension(grid, momentum > 0 ? "momentum" : "optimizer");
    return ys_ini_fail_in(given ? &given->setting->value_place : &grid->section->place, status);
}

static ys_status add_trial(struct expansion *expansion, const struct grid *grid)
{
    struct ys_buf id = {0};
    ys_json *trial = ys_json_object(), *factors = ys_json_object(), *keys = ys_json_object(),
            *options = ys_json_object(), *env = ys_json_object();
    ys_status status = fill_trial(expansion, grid, &id, trial, factors, keys, options, env);
    if (status == YS_OK)
        status = check_point(grid, keys);
    ys_json_set_string(trial, "id", ys_buf_text(&id));
    ys_json_set_int(trial, "index", (int64_t)ys_json_size(expansion->trials));
    ys_json_set_string(trial, "section", grid->section->name);
    ys_json *parts[] = {factors, keys, options, env};
    static const char *const names[] = {"factors", "keys", "options", "env"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        ys_json_set(trial, names[i], parts[i]);
    ys_buf_free(&id);
    if (status == YS_OK) {
        ys_json_append(expansion->trials, trial);
        return YS_OK;
    }
    ys_json_free(trial);
    return status;
}

static ys_status expand_grid(struct expansion *expansion, struct grid *grid)
{
    double points = 1;
    for (size_t d = 0; d < grid->count; d++)
        points *= (double)grid->dimensions[d].count;
    if ((double)expansion->points + points > YS_JOB_POINT_LIMIT)
        return ys_ini_fail(&grid->section->place,
                           "with section [%s] the study has more than %d points: shorten its axes", grid->section->name,
                           YS_JOB_POINT_LIMIT);
    expansion->points += (int64_t)points;
    do {
        if (is_excluded(expansion, grid) || is_repeated(grid))
            continue;
        expansion->kept++;
        if (expansion->trials)
            YS_TRY(add_trial(expansion, grid));
    } while (advance(grid));
    return YS_OK;
}

static ys_status expand_section(struct expansion *expansion, const struct ys_section *section)
{
    YS_TRY(ys_section_check(expansion->resolver, expansion->standards, section));
    const struct ys_setting *frameworks = ys_layer_find(&section->all, "framework");
    int64_t kept_before = expansion->kept;
    struct grid *grid = ys_alloc(1, sizeof *grid);
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < (frameworks ? frameworks->axis.count : 1); i++) {
        *grid = (struct grid){.section = section, .frameworks = frameworks, .framework_index = i};
        grid->framework =
            frameworks ? frameworks->axis.texts[i] : ys_json_get_text(expansion->standards, "framework", "");
        status = lay_out(expansion, grid);
        if (status == YS_OK)
            status = expand_grid(expansion, grid);
        clear_grid(grid);
    }
    ys_free(grid);
    if (status == YS_OK && expansion->kept == kept_before)
        return ys_ini_fail(&section->place,
                           "every point of section [%s] is excluded: remove the section or an exclude line",
                           section->name);
    return status;
}

static ys_status expand_all(struct expansion *expansion)
{
    expansion->points = expansion->kept = 0;
    for (size_t i = 0; i < expansion->resolver->section_count; i++)
        YS_TRY(expand_section(expansion, expansion->resolver->sections[i]));
    return YS_OK;
}

static bool is_given_as_flag(const struct ys_resolver *resolver, const char *key)
{
    for (size_t i = 0; i < resolver->flag_count; i++)
        if (strcmp(resolver->flags[i].key, key) == 0)
            return true;
    return false;
}

static ys_status check_excludes(const struct ys_resolver *resolver)
{
    if (is_given_as_flag(resolver, "exclude")) { /* then those of the file hold nowhere, and the flags stand first */
        for (size_t i = 0; i < resolver->exclude_count; i++)
            if (resolver->excludes[i].place.line == 0 && !resolver->excludes[i].matched)
                return ys_ini_fail(&resolver->excludes[i].value_place,
                                   "--exclude removes no point: no trial has all of its values");
        return YS_OK;
    }
    for (size_t i = 0; i < resolver->exclude_count; i++) {
        const struct ys_exclude *exclude = &resolver->excludes[i];
        bool flagged = false; /* a flag has taken an axis away */
        for (size_t t = 0; t < exclude->term_count; t++)
            flagged |= is_given_as_flag(resolver, exclude->terms[t].key);
        if (!exclude->matched && !flagged)
            return ys_ini_fail(&exclude->value_place, "this exclude removes no point: no trial has all of its values");
    }
    return YS_OK;
}

/* Whether a flag stands in the place of `setting`. */
static bool is_replaced(const struct ys_resolver *resolver, const struct ys_setting *setting)
{
    for (size_t i = 0; i < resolver->setting_count; i++)
        if (resolver->settings[i].flag && ys_setting_replaces(&resolver->settings[i], setting))
            return true;
    return false;
}

/* Everything that was given and says nothing is a mistake: an axis that no section has, an option of an absent
 * framework. */
static ys_status check_used(const struct ys_resolver *resolver)
{
    for (size_t i = 0; i < resolver->setting_count; i++) {
        const struct ys_setting *setting = &resolver->settings[i];
        size_t length;
        if (setting->option->group == YS_OPTION_STUDY)
            continue;
        if (setting->axis.is_axis && !setting->chosen && !is_replaced(resolver, setting))
            return ys_ini_fail(&setting->place,
                               "no section uses this axis of %s: each gives %s another value; remove it", setting->key,
                               setting->key);
        if (setting->option->type != YS_OPTION_OPT || !setting->chosen || setting->matched)
            continue;
        const char *framework = opt_framework(setting->key, &length);
        return ys_ini_fail(&setting->place,
                           "no trial that %s holds for is of framework %.*s: remove it, or add the framework",
                           setting->key, (int)length, framework);
    }
    return YS_OK;
}

static ys_status check_count(const struct expansion *expansion, int64_t repeat, int64_t max_runs)
{
    if (expansion->kept * repeat <= max_runs)
        return YS_OK;
    struct ys_ini_place place = {expansion->resolver->path, 0, 0};
    return ys_ini_fail(
        &place,
        "%lld trials, each run %lld times, make %lld runs, more than max_runs = %lld: shorten the axes, lower "
        "repeat, or raise max_runs",
        (long long)expansion->kept, (long long)repeat, (long long)(expansion->kept * repeat), (long long)max_runs);
}

static ys_status find_standards(ys_json *standards)
{
    for (const struct ys_option *option = ys_options(); option->name; option++) {
        ys_json *value;
        if (!ys_option_is_resolved(option))
            continue;
        YS_TRY(ys_option_standard(option, &value));
        ys_json_set(standards, option->name, value);
    }
    return YS_OK;
}

ys_status ys_resolver_expand(struct ys_resolver *resolver, int64_t repeat, int64_t max_runs, ys_json *trials)
{
    struct expansion expansion = {.resolver = resolver, .standards = ys_json_object()};
    ys_status status = find_standards(expansion.standards);
    if (status == YS_OK)
        status = expand_all(&expansion); /* counts: too large a study must not fill the memory first */
    if (status == YS_OK)
        status = check_used(resolver);
    if (status == YS_OK)
        status = check_excludes(resolver);
    if (status == YS_OK)
        status = check_count(&expansion, repeat, max_runs);
    expansion.trials = trials;
    if (status == YS_OK)
        status = expand_all(&expansion);
    ys_json_free(expansion.standards);
    return status;
}
