/* One `key = value`, and one `exclude` line. */
#include "job/job_section.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/modes.h"

#include <string.h>

#define SHOWN 60

static ys_status fail_unknown_key(const char *key)
{
    const char *nearest = ys_option_nearest(key);
    if (nearest)
        return ys_fail(YS_EINVAL, "there is no key %.*s; did you mean %s?", SHOWN, key, nearest);
    return ys_fail(YS_EINVAL, "there is no key %.*s: `yardstick list keys` names all", SHOWN, key);
}

/* env.NAME and opt.FRAMEWORK.NAME: whether the names are there and good. */
static ys_status check_pattern(const struct ys_option *option, const char *key)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const char *name = key + 4; /* after "env." or "opt." */
    if (strcmp(key, option->name) == 0)
        return ys_fail(YS_EINVAL, "%s is a pattern: put a name in the place of the capital letters", key);
    if (option->type == YS_OPTION_OPT) {
        const char *dot = strchr(name, '.');
        if (!dot || dot == name || !dot[1])
            return ys_fail(YS_EINVAL, "%s names no option: write opt.FRAMEWORK.NAME", key);
    }
    if (option->type == YS_OPTION_ENV) {
        if (!*name || name[strspn(name, letters)] || (*name >= '0' && *name <= '9'))
            return ys_fail(YS_EINVAL, "%s names no environment variable: write env.NAME, NAME in letters, digits and _",
                           key);
        if (strncmp(name, "YARDSTICK_", 10) == 0)
            return ys_fail(YS_EINVAL, "%s: variables that begin with YARDSTICK_ are yardstick's own: remove it", key);
    }
    return YS_OK;
}

static ys_status find_option(const char *key, const struct ys_option **option)
{
    *option = ys_option_find(key);
    if (!*option)
        return fail_unknown_key(key);
    if ((*option)->type == YS_OPTION_ENV || (*option)->type == YS_OPTION_OPT)
        return check_pattern(*option, key);
    return YS_OK;
}

/* Paths in a file start where the file lies, those of a flag where yardstick runs. */
static ys_status type_value(const struct ys_option *option, const char *key, const char *text,
                            const struct ys_ini_place *place, ys_json **value)
{
    if (option->type != YS_OPTION_ENV) {
        char *folder = place->line > 0 ? ys_path_dir(place->file) : ys_strdup(".");
        ys_status status = ys_option_parse_in(folder, option, key, text, value);
        ys_free(folder);
        return status;
    }
    *value = ys_json_string(text);
    return YS_OK;
}

/* The name by which `text` calls a framework, new. */
static ys_status name_framework(const struct ys_resolver *resolver, const char *text, char **name)
{
    const struct ys_job_hooks *hooks = resolver->hooks;
    if (hooks && hooks->name_framework)
        return hooks->name_framework(hooks->context, text, name);
    *name = ys_strdup(text);
    return YS_OK;
}

/* opt.FRAMEWORK.NAME by the name that the framework's recipe has, new. */
static ys_status name_key(const struct ys_resolver *resolver, const char *key, char **named)
{
    const char *from = key + strlen("opt."), *dot = from + strcspn(from, ".");
    char *framework = ys_strndup(from, (size_t)(dot - from)), *name = NULL;
    ys_status status = name_framework(resolver, framework, &name);
    *named = name ? ys_format("opt.%s%s", name, dot) : NULL;
    ys_free(framework);
    ys_free(name);
    return status;
}

/* The value of a framework by the name that its recipe has; *text, new, becomes that name too. */
static ys_status type_framework(const struct ys_resolver *resolver, const char *key, char **text, ys_json **value)
{
    const struct ys_job_hooks *hooks = resolver->hooks;
    char *name = NULL;
    YS_TRY(name_framework(resolver, *text, &name));
    ys_json *named = ys_json_string(name);
    ys_status status = hooks && hooks->check_framework ? hooks->check_framework(hooks->context, name) : YS_OK;
    if (status != YS_OK)
        status = ys_fail_in(status, "%s = %.*s", key, SHOWN, *text);
    ys_free(*text);
    *text = name;
    ys_json_free(*value);
    *value = named;
    return status;
}

/* A choice, model or data set has one spelling, whatever capitals it was written with. */
static void spell(const struct ys_option *option, const ys_json *value, char **text)
{
    const bool is_name = option->type == YS_OPTION_MODEL || option->type == YS_OPTION_DATA;
    const char *spelled = ys_json_text(value, NULL);
    if (spelled && (is_name || option->type == YS_OPTION_WORD) && !strchr(spelled, '/'))
        ys_set_text(text, spelled);
}

static ys_status check_distinct(const struct ys_setting *setting)
{
    for (size_t i = 1; i < setting->axis.count; i++)
        for (size_t j = 0; j < i; j++) {
            bool equal = setting->values ? ys_json_equal(setting->values[i], setting->values[j])
                                         : strcmp(setting->axis.texts[i], setting->axis.texts[j]) == 0;
            if (equal)
                return ys_fail(YS_EINVAL, "%s has the value %.*s twice: remove one", setting->key, SHOWN,
                               setting->axis.texts[i]);
        }
    return YS_OK;
}

static ys_status type_values(struct ys_resolver *resolver, struct ys_setting *setting)
{
    const struct ys_option *option = setting->option;
    if (option->type == YS_OPTION_OPT)
        return check_distinct(setting);
    setting->values = ys_alloc(setting->axis.count, sizeof *setting->values);
    for (size_t i = 0; i < setting->axis.count; i++) {
        char **text = &setting->axis.texts[i];
        ys_json **value = &setting->values[i];
        YS_TRY(type_value(option, setting->key, *text, &setting->value_place, value));
        const bool is_framework = option->type == YS_OPTION_FRAMEWORK || strcmp(option->name, "own_of") == 0;
        if (is_framework)
            YS_TRY(type_framework(resolver, setting->key, text, value));
        else
            spell(option, *value, text);
    }
    return check_distinct(setting);
}

/* Whether a flag's value is two whole numbers with a comma between: an axis, or one number by the habit of another
 * language, which has a comma before the fraction or between thousands. */
static bool has_comma(const struct ys_setting *setting, const char *text)
{
    const enum ys_option_type type = setting->option->type;
    const size_t whole = strspn(text, "0123456789");
    const char *rest = text + whole + 1;
    return setting->flag && (type == YS_OPTION_REAL || type == YS_OPTION_INT) && whole && text[whole] == ',' && *rest &&
           !rest[strspn(rest, "0123456789")];
}

static ys_status fail_comma(const struct ys_setting *setting, const char *text)
{
    const int whole = (int)strcspn(text, ",");
    const char *rest = text + whole + 1;
    return ys_fail(YS_EINVAL, "%s = %.*s: a comma makes an axis, here of %.*s and %s: one number is written %.*s%s%s",
                   setting->key, SHOWN, text, whole, text, rest, whole, text,
                   setting->option->type == YS_OPTION_REAL ? "." : "", rest);
}

/* The axis and its values. Nobody writes a second value as 02 or 000. */
static ys_status parse_values(struct ys_resolver *resolver, const char *text, enum ys_axis_form form,
                              struct ys_setting *setting)
{
    const bool comma = has_comma(setting, text);
    const char *second = comma ? strchr(text, ',') + 1 : "";
    const bool is_fraction = setting->option->type == YS_OPTION_REAL;
    if (second[0] == '0' && (is_fraction ? second[1] != 0 : strlen(second) == 3))
        return fail_comma(setting, text);
    YS_TRY(ys_axis_parse(setting->option, setting->key, text, form, &setting->axis));
    resolver->value_count += setting->axis.count;
    if (resolver->value_count > YS_JOB_VALUE_LIMIT)
        return ys_fail(YS_EINVAL, "with %s the study has more than %d values: that is too many", setting->key,
                       YS_JOB_VALUE_LIMIT);
    ys_status status = type_values(resolver, setting);
    return status == YS_EINVAL && comma && setting->option->type == YS_OPTION_REAL ? fail_comma(setting, text) : status;
}

ys_status ys_setting_parse(struct ys_resolver *resolver, const char *key, const char *text, enum ys_axis_form form,
                           const struct ys_ini_place *place, const struct ys_ini_place *value_place,
                           struct ys_setting *setting)
{
    *setting =
        (struct ys_setting){.key = key, .place = *place, .value_place = *value_place, .flag = form == YS_AXIS_FLAG};
    ys_status status = find_option(key, &setting->option);
    if (status != YS_OK)
        return ys_ini_fail_in(place, status);
    if (setting->option->type == YS_OPTION_OPT)
        YS_TRY(name_key(resolver, key, &setting->named));
    if (setting->named)
        setting->key = setting->named;
    status = parse_values(resolver, text, form, setting);
    if (status == YS_OK)
        return YS_OK;
    ys_setting_fini(setting);
    return ys_ini_fail_in(value_place, status);
}

void ys_setting_fini(struct ys_setting *setting)
{
    for (size_t i = 0; setting->values && i < setting->axis.count; i++)
        ys_json_free(setting->values[i]);
    ys_free(setting->values);
    setting->values = NULL;
    ys_free(setting->named);
    setting->named = NULL;
    ys_axis_fini(&setting->axis);
}

static bool is_length(const struct ys_setting *setting)
{
    return ys_mode_of_length(setting->key) != YS_NAME_NONE;
}

static bool is_batch(const struct ys_setting *setting)
{
    return strcmp(setting->key, "batch") == 0 || strcmp(setting->key, "global_batch") == 0;
}

bool ys_setting_replaces(const struct ys_setting *a, const struct ys_setting *b)
{
    return a->option == b->option ? strcmp(a->key, b->key) == 0
                                  : (is_length(a) && is_length(b)) || (is_batch(a) && is_batch(b));
}

struct ys_setting *ys_layer_find(const struct ys_layer *layer, const char *key)
{
    for (size_t i = 0; i < layer->count; i++)
        if (strcmp(layer->items[i]->key, key) == 0)
            return layer->items[i];
    return NULL;
}

/* The end of the term at `at`: the first blank outside of quotes and parentheses. */
static const char *term_end(const char *at)
{
    bool quoted = false;
    int depth = 0;
    for (; *at && (quoted || depth > 0 || (*at != ' ' && *at != '\t')); at++) {
        if (quoted && *at == '\\' && at[1])
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted)
            depth += (*at == '(') - (*at == ')');
    }
    return at;
}

/* A key or a framework that was called by another name than its recipe's gets that. */
static ys_status name_term(const struct ys_resolver *resolver, struct ys_exclude_term *term)
{
    const bool is_option = term->option->type == YS_OPTION_OPT;
    char **text = is_option ? &term->key : &term->text, *named = NULL;
    if (!is_option && term->option->type != YS_OPTION_FRAMEWORK)
        return YS_OK;
    YS_TRY(is_option ? name_key(resolver, *text, &named) : name_framework(resolver, *text, &named));
    ys_free(*text);
    *text = named;
    return YS_OK;
}

static ys_status parse_term(const struct ys_resolver *resolver, const char *from, const char *to,
                            const struct ys_ini_place *place, struct ys_exclude_term *term)
{
    const char *equals = memchr(from, '=', (size_t)(to - from));
    if (!equals || equals == from || equals + 1 == to)
        return ys_fail(YS_EINVAL, "\"%.*s\" is not key=value: write exclude = framework=jax threads=1",
                       (int)(to - from < SHOWN ? to - from : SHOWN), from);
    term->key = ys_strndup(from, (size_t)(equals - from));
    if (equals[1] == '"')
        YS_TRY(ys_ini_unquote(equals + 1, (size_t)(to - equals - 1), &term->text));
    else
        term->text = ys_strndup(equals + 1, (size_t)(to - equals - 1));
    YS_TRY(find_option(term->key, &term->option));
    YS_TRY(name_term(resolver, term));
    enum ys_option_type type = term->option->type;
    if (type == YS_OPTION_OPT)
        return YS_OK;
    if (type != YS_OPTION_ENV && !ys_option_is_resolved(term->option))
        return ys_fail(YS_EINVAL,
                       "%s does not tell points of a section apart: exclude by work, machine and observation keys",
                       term->key);
    return type_value(term->option, term->key, term->text, place, &term->value);
}

ys_status ys_exclude_parse(const struct ys_resolver *resolver, const char *text, struct ys_exclude *exclude)
{
    for (const char *at = text;;) {
        at += strspn(at, " \t");
        if (!*at)
            break;
        if (exclude->term_count == YS_JOB_TERM_LIMIT)
            return ys_fail(YS_EINVAL, "exclude has more than %d terms", YS_JOB_TERM_LIMIT);
        const char *end = term_end(at);
        YS_TRY(parse_term(resolver, at, end, &exclude->value_place, &exclude->terms[exclude->term_count++]));
        at = end;
    }
    if (exclude->term_count == 0)
        return ys_fail(YS_EINVAL, "exclude names no point: write exclude = framework=jax threads=1");
    return YS_OK;
}

void ys_exclude_fini(struct ys_exclude *exclude)
{
    for (size_t i = 0; i < exclude->term_count; i++) {
        ys_free(exclude->terms[i].key);
        ys_free(exclude->terms[i].text);
        ys_json_free(exclude->terms[i].value);
    }
    exclude->term_count = 0;
}
