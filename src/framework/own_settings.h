/* The network and the settings that a framework came with for a data set: recipe keys own.DATA.KEY. */
#ifndef YS_FRAMEWORK_OWN_SETTINGS_H
#define YS_FRAMEWORK_OWN_SETTINGS_H

#include "base/json/json.h"
#include "base/status.h"
#include "job/ini.h"

/** Takes one entry own.DATA.KEY = VALUE of a recipe into `own`: {DATA: {KEY: typed value}}. KEY is model, batch, epochs
 * or steps, or a key of the optimizer or the loss, with the values of job files (docs/job-file.md). YS_EINVAL with the
 * entry's place. */
ys_status ys_own_set(ys_json *own, const struct ys_ini_entry *entry) YS_MUST_CHECK;

/** What the recipe of framework `name` says for the data set `data`: *own is a new object {KEY: typed value}; NULL with
 * *reason, new, which names those that say something, where it says nothing. Errors as ys_framework_find(). */
ys_status ys_framework_own(const char *name, const char *data, const char *const *recipe_dirs, ys_json **own,
                           char **reason) YS_MUST_CHECK;

#endif
