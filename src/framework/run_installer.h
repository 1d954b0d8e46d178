/* Runs an installer of packages, uv, pip or npm, follows what it says, for the line of progress, and finds the reason
 * of a failure in it. */
#ifndef YS_FRAMEWORK_RUN_INSTALLER_H
#define YS_FRAMEWORK_RUN_INSTALLER_H

#include "base/status.h"
#include "framework/recipe.h"

#define YS_INSTALLER_ARGUMENTS 24

/* A way to do it. */
struct ys_installer {
    const char *how;                          /* for messages */
    const char *argv[YS_INSTALLER_ARGUMENTS]; /* ended by NULL */
};

/* What is heard of it; the first three are the caller's, the others begin as 0. */
struct ys_installer_talk {
    const char *what;               /* is being installed */
    const struct ys_recipe *recipe; /* of it */
    int packages;                   /* that there are; 0: nobody knows */
    const char *tmp;                /* the installer's temporary files: what it has downloaded so far */
    uint64_t start_ns;              /* of this attempt */
    char doing[80];                 /* the package that it collects, or what else it does */
    bool collecting;
    int begun;
    char error[512];
    bool unreachable; /* an index did not answer: "no such package" then only means "nobody to ask" */
    bool full;        /* the disk */
    bool lacks_pip;   /* the interpreter has no ensurepip */
    char remedy[160]; /* the command that it names for that */
};

/** Tries each way in turn, in the folder of the environment, until one works. YS_EIO: none does, with the complaint of
 * the first, which is the one about how this machine is set up; YS_EINTR. */
ys_status ys_installer_try(const struct ys_installer *ways, size_t count, const char *folder,
                           struct ys_installer_talk *talk) YS_MUST_CHECK;

#endif
