/* Frameworks: what their recipes say, whether they are installed here, and how their adapter is started.
 *
 * A recipe is a flat file NAME.recipe, or NAME@VERSION.recipe for one version alone, in the dialect of job files;
 * docs/frameworks.md has every key. Recipes are looked
 * for in the folders the user names (--recipes), then in ${XDG_CONFIG_HOME:-~/.config}/yardstick/recipes, then in
 * frameworks/ of yardstick itself; the first that has the name wins. Nothing here imports a framework or starts an
 * adapter: finding one takes well under a millisecond. */
#ifndef YS_FRAMEWORK_FRAMEWORK_H
#define YS_FRAMEWORK_FRAMEWORK_H

#include "base/files/working_folder.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/status.h"
#include <stdbool.h>

enum ys_framework_state {
    YS_FRAMEWORK_READY,
    YS_FRAMEWORK_MISSING,     /* can be installed; `command` does it */
    YS_FRAMEWORK_UNSUPPORTED, /* cannot be installed on this host; `reason` says why */
};

struct ys_framework {
    char *spec;    /* as asked for: "pytorch" or "pytorch@2.13.0" */
    char *name;    /* "pytorch" */
    char *version; /* "2.13.0"; "" for a program whose recipe gives none */
    char *title;   /* "PyTorch" */
    char *recipe_path;
    bool no_work;                   /* its adapter does no work: nothing to prove, nothing learnt */
    bool emulated;                  /* under an emulator: its times and memory are none of a machine's */
    bool has_double;                /* its adapter runs in f64, so meaning can be proven */
    bool is_own;                    /* yardstick's own engine, as oracle and evaluator: ys_framework_find_own() */
    bool reads_onnx;                /* its plans name the network as an ONNX file: framework/network_file.h */
    struct ys_converter *converter; /* what makes files of networks for it: framework/converter.h; NULL: nothing does */
    struct ys_converter *quantiser; /* what calls its makers' quantiser; likewise, and it may not be installed */
    enum ys_framework_state state;
    char *reason;                        /* one sentence; NULL when ready */
    uint64_t download_bytes, disk_bytes; /* what installing it takes, as the recipe says; 0 where it does not */
    char *command;                       /* the command that would make it ready; NULL when there is none */
    char *environment;                /* the folder envs/NAME@VERSION it runs in, there or not; NULL: it needs none */
    char *cache;                      /* what of that folder its adapter may write, there or not; NULL likewise */
    char *foreign;                    /* its recipe, or the one whose environment it uses, where that is none of
                                         yardstick's own frameworks/: the path; else NULL */
    char *changes;                    /* "3 files of toy@1.0 are not as they were installed (...)", set by
                                         ys_framework_hold(); NULL: as they were, or nobody knows */
    char *unpinned;                   /* "pytorch@2.5.1 is not pinned: ..."; NULL: it is, or has no packages */
    struct ys_held *held;             /* what ys_framework_hold() took */
    char **argv;                      /* what to execute, ended by NULL; NULL unless ready */
    char **env;                       /* "NAME=value" over the parent's environment, ended by NULL; never NULL */
    char closure[YS_SHA256_TEXT];     /* over the recipe, the adapter's files, the pinned requirements, the program */
    char fingerprint[YS_SHA256_TEXT]; /* over the files of its environment, set by ys_framework_hold(); "" where it has
                                         none of its own */
    ys_json *forms;                   /* in which its adapter stores a model, its own first: texts; empty: none */
    ys_json *options;                 /* {NAME: {type: "bool"|"number"|"text"|"choice", choices: [...], help: ...}} */
};

/** Finds `spec`. `recipe_dirs` may be NULL or is ended by NULL. YS_ENOTFOUND: no such recipe, or it does not have that
 * version (the message lists what there is); YS_EFORMAT: the recipe is damaged. Free with ys_framework_free(). */
ys_status ys_framework_find(const char *spec, const char *const *recipe_dirs,
                            struct ys_framework **framework) YS_MUST_CHECK;
void ys_framework_free(struct ys_framework *framework); /* NULL is fine */

/** The same among yardstick's own recipes alone, and its own program, whatever the user has of that name: for the
 * oracle and the evaluator. */
ys_status ys_framework_find_own(const char *name, struct ys_framework **framework) YS_MUST_CHECK;

/** Holds the environment of a framework that is ready for as long as the struct lives, so that nobody removes it or
 * makes it anew, and sets its fingerprint and `changes`, with a warning where there are some. To be called before it
 * is started, not by who only looks: it goes over all files of the environment, once however often it is held at the
 * same time. Where the environment is being made or removed, or files of it are missing, the framework becomes MISSING
 * with reason and command; that is YS_OK too. Nothing is done for one that is not ready or has no environment. */
ys_status ys_framework_hold(struct ys_framework *framework) YS_MUST_CHECK;

/** The value of option `option` written as `text`, typed. YS_EINVAL names the option, the value and what is allowed. */
ys_status ys_framework_option(const struct ys_framework *framework, const char *option, const char *text,
                              ys_json **value) YS_MUST_CHECK;

/** ys_framework_find() of one that is in no package index (key `get`), as if `interpreter`, an absolute path, had been
 * registered: what a first hello is asked of. YS_EINVAL: the program is not there, or the framework is not of that
 * kind. */
ys_status ys_framework_try(const char *spec, const char *const *recipe_dirs, const char *interpreter,
                           struct ys_framework **framework) YS_MUST_CHECK;

/** Makes the framework's own environment from its pinned requirements: exit at once when it is there. Safe to interrupt
 * and to repeat. The reason of a failure is kept beside the environment, so that the framework's row can say it later.
 * YS_EUNSUPPORTED: this host cannot have it, or it is in no package index. YS_EBUSY: it is in use, or another process
 * is at it. YS_EIO: it failed, or files of the one that is there are missing. */
ys_status ys_framework_install(const char *spec, const char *const *recipe_dirs) YS_MUST_CHECK;
/** The same, but the packages of a version that is not pinned may come from any index, whatever they bring. */
ys_status ys_framework_install_anywhere(const char *spec, const char *const *recipe_dirs) YS_MUST_CHECK;
/** ys_framework_install(), but an environment whose files are not as they were installed, or nobody knows how they
 * were, is made anew. */
ys_status ys_framework_repair(const char *spec, const char *const *recipe_dirs) YS_MUST_CHECK;
/** Every recipe in turn, the smallest first. What does not fit the disk and what this host cannot have is skipped, with
 * a line that says why; after a failure (*failed) it goes on with the next. */
ys_status ys_framework_install_all(const char *const *recipe_dirs, bool *failed) YS_MUST_CHECK;
/** Repairs every environment that is there; what is not installed stays so. */
ys_status ys_framework_repair_all(const char *const *recipe_dirs, bool *failed) YS_MUST_CHECK;
/** Keeps `interpreter` as the program that runs the adapter of `spec`, which ys_framework_try() has found. */
ys_status ys_framework_register(const char *spec, const char *const *recipe_dirs,
                                const char *interpreter) YS_MUST_CHECK;
/** Removes an environment, whole or half made. YS_EBUSY: it is in use, or another process is at it. */
ys_status ys_framework_uninstall(const char *spec, const char *const *recipe_dirs) YS_MUST_CHECK;
/** Removes every environment, those without a recipe too; *failed: one of them was in use or could not be removed. */
ys_status ys_framework_uninstall_all(bool *failed) YS_MUST_CHECK;

/** Removes what installations left that were interrupted or failed, of which nobody is at work: folders without an
 * installed.json, with or without a recipe. The reason of a failure is kept. `sweep` NULL: quietly. */
void ys_environments_sweep(const struct ys_sweep *sweep);

#endif
