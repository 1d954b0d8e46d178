/* What of a section's keys says nothing, or does not go together, whatever its points are. */
#include "base/modes.h"
#include "graph/model.h"
#include "job/job_section.h"
#include "job/quant.h"

#include <string.h>

struct checking {
    const struct ys_resolver *resolver;
    const ys_json *standards; /* {key: default} of every resolved option */
};

bool ys_mode_needs_same(const char *mode)
{
    return strcmp(mode, "attack") == 0 || strcmp(mode, "size") == 0;
}

const char *ys_mode_of_keys(const char *mode)
{
    return ys_mode_needs_same(mode) ? "train" : mode;
}

/* The text of a key that is no axis, its default where the section does not give it. */
static const char *section_text(const struct checking *checking, const struct ys_section *section, const char *key)
{
    const struct ys_setting *given = ys_layer_find(&section->all, key);
    return given ? ys_json_text(given->values[0], "") : ys_json_get_text(checking->standards, key, "");
}

/* Whether every model of the section is an ONNX file: what it reads such a file says itself, so that data may be drawn
 * for it. */
static bool has_files_alone(const struct ys_section *section)
{
    const struct ys_setting *models = ys_layer_find(&section->all, "model");
    for (size_t i = 0; models && i < models->axis.count; i++)
        if (!ys_model_is_onnx(ys_json_text(models->values[i], "")))
            return false;
    return models != NULL;
}

static ys_status check_required(const struct checking *checking, const struct ys_section *section)
{
    const struct ys_resolver *resolver = checking->resolver;
    const bool own = strcmp(section_text(checking, section, "compare"), "own") == 0;
    for (const struct ys_option *option = ys_options(); option->name; option++) {
        if (!option->required || ys_layer_find(&section->all, option->name))
            continue;
        if (own && option->type == YS_OPTION_MODEL)
            continue; /* the network is one of the framework's defaults */
        if (option->type == YS_OPTION_DATA && !own && has_files_alone(section))
            continue; /* rows are drawn: see fill_trial() */
        if (resolver->has_file)
            return ys_ini_fail(&section->place, "section [%s] has no %s: write %s = NAME there or in [global]",
                               section->name, option->name, option->name);
        return ys_ini_fail(&section->place, "no %s is given: add --%s=NAME, or name a study's file", option->name,
                           option->name);
    }
    return YS_OK;
}

static bool is_none(const struct ys_setting *setting)
{
    return setting->option->none && strcmp(setting->axis.texts[0], setting->option->none) == 0;
}

/* Refuses what says nothing in the section's mode: how long a run of the other mode is, axes, whose values would all
 * give the same trial, and what changes how requests are answered, which nobody could share with a section of training
 * by accident. */
static ys_status check_mode(const struct checking *checking, const struct ys_section *section)
{
    const char *mode = ys_mode_of_keys(section_text(checking, section, "mode"));
    const char *const *lengths = ys_mode_of(ys_name_find(&ys_modes, mode))->lengths;
    for (size_t i = 0; i < section->all.count; i++) {
        const struct ys_setting *setting = section->all.items[i];
        const char *key = setting->key, *only = setting->option->mode;
        if (!only || strcmp(only, mode) == 0)
            continue;
        if (ys_mode_of_length(key) != YS_NAME_NONE)
            return ys_ini_fail(
                &setting->place,
                "%s is for mode = %s, and section [%s] has mode = %s: write %s%s%s instead, or mode = %s", key, only,
                section->name, mode, lengths[0], lengths[1] ? " or " : "", lengths[1] ? lengths[1] : "", only);
        if (setting->axis.count > 1)
            return ys_ini_fail(&setting->place,
                               "%s is for mode = %s, and section [%s] has mode = %s, where its values would all give "
                               "the same trial: remove it",
                               key, only, section->name, mode);
        if (strcmp(only, "infer") == 0 && !is_none(setting))
            return ys_ini_fail(&setting->place,
                               "%s is for mode = %s, and section [%s] has mode = %s: remove it, or write mode = %s",
                               key, only, section->name, mode, only);
    }
    return YS_OK;
}

/* Refuses keys of another way to compare. */
static ys_status check_compare(const struct checking *checking, const struct ys_section *section)
{
    const char *compare = section_text(checking, section, "compare");
    for (size_t i = 0; i < section->all.count; i++) {
        const struct ys_setting *setting = section->all.items[i];
        const char *only = setting->option->compare;
        if (only && strcmp(only, compare) != 0)
            return ys_ini_fail(&setting->place, "%s is for compare = %s, and section [%s] has compare = %s: remove it",
                               setting->key, only, section->name, compare);
    }
    const struct ys_setting *mode = ys_layer_find(&section->all, "mode");
    const bool same = strcmp(compare, "same-weights") == 0;
    const char *word = section_text(checking, section, "mode");
    if (same && strcmp(word, "infer") == 0)
        return ys_ini_fail(&mode->place,
                           "section [%s] has compare = same-weights, which trains the weights first and then answers "
                           "requests: leave mode = infer out",
                           section->name);
    const struct ys_setting *form = ys_layer_find(&section->all, "form");
    if (!same && strcmp(word, "size") == 0)
        return ys_ini_fail(&mode->place,
                           "mode = size stores the same weights by every framework, and section [%s] has compare = %s: "
                           "write compare = same-weights",
                           section->name, compare);
    if (form && strcmp(word, "size") != 0)
        return ys_ini_fail(&form->place,
                           "form is for mode = size, and section [%s] has mode = %s: remove it, or write mode = size",
                           section->name, word);
    if (!same && strcmp(word, "attack") == 0)
        return ys_ini_fail(&mode->place,
                           "mode = attack asks every framework for the gradients of the same weights, and section [%s] "
                           "has compare = %s: write compare = same-weights, or attack = WORDS without a mode",
                           section->name, compare);
    if (strcmp(word, "attack") == 0 && !ys_layer_find(&section->all, "attack"))
        return ys_ini_fail(&mode->place, "section [%s] has mode = attack and says no attack: write attack = pgd(0.1)",
                           section->name);
    return YS_OK;
}

/* Refuses attacks on weights that are not there, and a word on attacks without one. */
static ys_status check_attack(const struct checking *checking, const struct ys_section *section)
{
    const struct ys_setting *attack = ys_layer_find(&section->all, "attack");
    const bool attacks = attack && !is_none(attack);
    if (attacks && strcmp(section_text(checking, section, "mode"), "infer") == 0)
        return ys_ini_fail(&attack->place,
                           "attack is of trained weights, and section [%s] has mode = infer, which trains none: remove "
                           "it, or write attack = none",
                           section->name);
    if (attacks && strcmp(section_text(checking, section, "compare"), "same-weights") == 0 &&
        strcmp(section_text(checking, section, "mode"), "attack") != 0)
        return ys_ini_fail(&attack->place,
                           "attack is of the weights that each framework has trained, and section [%s] has compare = "
                           "same-weights, where all have the same: remove it, or write attack = none",
                           section->name);
    const bool is_same = strcmp(section_text(checking, section, "compare"), "same-weights") == 0;
    const struct ys_setting *transfer = ys_layer_find(&section->all, "attack.transfer");
    if (attacks && transfer && is_same && strcmp(ys_json_text(transfer->values[0], ""), "on") == 0)
        return ys_ini_fail(&transfer->place,
                           "attack.transfer shows what was made on one trial's weights to another's, and section [%s] "
                           "has compare = same-weights, where all have the same: remove it, or write attack.transfer = "
                           "off",
                           section->name);
    const struct ys_setting *twins = ys_layer_find(&section->all, "attack.twins");
    if (attacks && twins && is_same && ys_json_integer(twins->values[0], 0) > 0)
        return ys_ini_fail(&twins->place,
                           "attack.twins is of trainings that rounding sets apart, and section [%s] has compare = "
                           "same-weights, where all have the same: remove it, or write attack.twins = 0",
                           section->name);
    for (size_t i = 0; !attack && i < section->all.count; i++)
        if (strncmp(section->all.items[i]->key, "attack.", strlen("attack.")) == 0)
            return ys_ini_fail(&section->all.items[i]->place,
                               "%s is of attacks, and section [%s] has none: remove it, or write attack = pgd(0.1)",
                               section->all.items[i]->key, section->name);
    return YS_OK;
}

/* Refuses a target of a run that has no checkpoints. */
static ys_status check_target(const struct checking *checking, const struct ys_section *section)
{
    const struct ys_setting *until = ys_layer_find(&section->all, "until");
    if (!until || (until->axis.count == 1 && is_none(until)))
        return YS_OK;
    const char *mode = section_text(checking, section, "mode"), *compare = section_text(checking, section, "compare");
    if (strcmp(mode, "train") != 0 && strcmp(compare, "same-weights") != 0)
        return ys_ini_fail(&until->place,
                           "until ends a training, and section [%s] has mode = %s, which trains nothing: remove it, or "
                           "write until = none",
                           section->name, mode);
    if (strcmp(compare, "same-weights") == 0)
        return ys_ini_fail(&until->place,
                           "until ends the training of a framework, and section [%s] has compare = same-weights, where "
                           "none trains: remove it, or write until = none",
                           section->name);
    return YS_OK;
}

/* Whether a value of the axis is it. */
static bool has_value(const struct ys_setting *setting, const char *value)
{
    for (size_t i = 0; setting && i < setting->axis.count; i++)
        if (strcmp(ys_json_text(setting->values[i], ""), value) == 0)
            return true;
    return false;
}

/* Integers where nothing is answered with the same weights, and a word on quantisation without one. */
static ys_status check_quant(const struct checking *checking, const struct ys_section *section)
{
    const struct ys_setting *precision = ys_layer_find(&section->all, "precision");
    const struct ys_setting *kind = ys_layer_find(&section->all, "quant");
    const char *mode = section_text(checking, section, "mode");
    const bool is_int8 = has_value(precision, YS_QUANT_PRECISION), is_static = !kind || has_value(kind, "static");
    if (is_int8 && strcmp(section_text(checking, section, "compare"), "same-weights") != 0)
        return ys_ini_fail(&precision->place,
                           "precision = int8 is of inference with the same weights, and section [%s] has compare = %s: "
                           "write compare = same-weights",
                           section->name, section_text(checking, section, "compare"));
    if (is_int8 && (strcmp(mode, "attack") == 0 || strcmp(mode, "size") == 0))
        return ys_ini_fail(&precision->place,
                           "precision = int8 is of trials that answer requests, and section [%s] has mode = %s: remove "
                           "one of them",
                           section->name, mode);
    for (size_t i = 0; i < section->all.count; i++) {
        const struct ys_setting *setting = section->all.items[i];
        if (!ys_quant_key(setting->key))
            continue;
        if (!is_int8)
            return ys_ini_fail(&setting->place,
                               "%s is of precision = int8, and section [%s] has none: remove it, or write precision = "
                               "int8",
                               setting->key, section->name);
        if (!is_static && !ys_quant_key_says(setting->key, YS_QUANT_PRECISION, ""))
            return ys_ini_fail(&setting->place,
                               "%s is of quant = static, which calibrates, and section [%s] has none: remove it, or "
                               "write quant = static",
                               setting->key, section->name);
    }
    return YS_OK;
}

ys_status ys_section_check(const struct ys_resolver *resolver, const ys_json *standards,
                           const struct ys_section *section)
{
    const struct checking checking = {resolver, standards};
    YS_TRY(check_required(&checking, section));
    YS_TRY(check_compare(&checking, section));
    YS_TRY(check_mode(&checking, section));
    YS_TRY(check_attack(&checking, section));
    YS_TRY(check_quant(&checking, section));
    return check_target(&checking, section);
}
