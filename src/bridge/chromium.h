/* A browser of its own: Chromium without a window, spoken to over two pipes, its profile in a folder that is thrown
 * away. It ends with the program that started it. */
#ifndef YS_BRIDGE_CHROMIUM_H
#define YS_BRIDGE_CHROMIUM_H

#include "bridge/devtools.h"

#include <sys/types.h>

#define YS_CHROMIUM_OLDEST 120 /* whose --headless=new is that of a window */

struct ys_chromium {
    pid_t pid;
    struct ys_devtools *pipe;
    char *product; /* "HeadlessChrome/156.0.8078.108"; owned */
    int major;     /* 156 */
    bool sandboxed;
};

/** Starts the program `path` (NULL: the first of chromium, chromium-browser, google-chrome on PATH), with the folder
 * `profile`, which is made; with graphics, in software where it finds no processor for them. As root it runs without
 * its sandbox, else never. YS_EUNSUPPORTED: there is none, it is too old, or the user may have no sandbox; the message
 * names the remedy. YS_EIO. */
ys_status ys_chromium_start(const char *path, const char *profile, bool graphics,
                            struct ys_chromium *browser) YS_MUST_CHECK;
void ys_chromium_end(struct ys_chromium *browser); /* kills and waits; a zeroed one is fine */

#endif
