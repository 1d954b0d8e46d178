/* yardstick-browser: the adapter of a framework that runs in a page.
 *
 *     yardstick-browser ADAPTER.js
 *
 * YARDSTICK_FD is the socket to yardstick, as of every adapter; YARDSTICK_NPM the folder of the packages that the page
 * imports; YARDSTICK_BROWSER the browser's program, "" or absent: the first on PATH; YARDSTICK_GRAPHICS the back end
 * that was asked for: with webgl or webgpu the browser is started with graphics. The browser's profile lies in TMPDIR.
 */
#include "base/files/fs.h"
#include "base/mem.h"
#include "bridge/relay.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whatever is asked first gets the reason why there is no page. */
static void refuse(struct ys_channel *channel, ys_status status)
{
    ys_json *question = NULL, *error = ys_json_object();
    char *words = ys_strdup(ys_error());
    fprintf(stderr, "yardstick-browser: %s\n", words);
    if (ys_channel_receive(channel, UINT64_MAX, &question) == YS_OK &&
        ys_json_set_string(error, "type", "error") == YS_OK &&
        ys_json_set_string(error, "code", status == YS_EUNSUPPORTED ? "unsupported" : "load_failed") == YS_OK &&
        ys_json_set_string(error, "stage", ys_json_get_text(question, "type", "hello")) == YS_OK &&
        ys_json_set_string(error, "message", words) == YS_OK && ys_channel_send(channel, error) != YS_OK)
        fprintf(stderr, "yardstick-browser: %s\n", ys_error());
    ys_free(words);
    ys_json_free(question);
    ys_json_free(error);
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int serve(const char *adapter, int fd)
{
    struct ys_relay relay = {.files = {.adapter = adapter, .packages = variable("YARDSTICK_NPM")}};
    const char *temporary = variable("TMPDIR"), *back_end = variable("YARDSTICK_GRAPHICS");
    const bool graphics = back_end && (strcmp(back_end, "webgl") == 0 || strcmp(back_end, "webgpu") == 0);
    char *profile = ys_format("%s/yardstick-browser-%d", temporary ? temporary : "/tmp", (int)getpid());
    ys_status status = ys_channel_open(fd, &relay.channel);
    if (status == YS_OK)
        status = ys_chromium_start(variable("YARDSTICK_BROWSER"), profile, graphics, &relay.browser);
    if (status == YS_OK)
        status = ys_relay_load(&relay);
    if (status != YS_OK && relay.channel)
        refuse(relay.channel, status);
    else if (status == YS_OK)
        status = ys_relay_serve(&relay);
    ys_relay_fini(&relay);
    ys_channel_close(relay.channel);
    if (ys_fs_remove_tree(profile) != YS_OK)
        fprintf(stderr, "yardstick-browser: %s\n", ys_error());
    ys_free(profile);
    return status == YS_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *fd = variable("YARDSTICK_FD");
    if (argc != 2 || !fd) {
        fprintf(stderr, "usage: YARDSTICK_FD=N yardstick-browser ADAPTER.js\n"
                        "It is an adapter: yardstick starts it and names a socket in YARDSTICK_FD.\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    return serve(argv[1], atoi(fd));
}
