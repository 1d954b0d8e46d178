#include "run/agent_reach.h"

#include "dist/meeting_place.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static ys_status dial(const char *study, struct ys_node_reached *reached)
{
    struct sockaddr_in place = {.sin_family = AF_INET}, here = {0};
    socklen_t size = sizeof here;
    uint16_t port;
    const int on = 1;
    if (!ys_dist_place_read(study, &place.sin_addr, &port))
        return ys_fail(YS_EINVAL, "the study's address is \"%s\"; it is HOST:PORT, with an IPv4 address, or -", study);
    place.sin_port = htons(port);
    reached->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (reached->fd < 0 || connect(reached->fd, (const struct sockaddr *)&place, sizeof place) != 0 ||
        setsockopt(reached->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
        getsockname(reached->fd, (struct sockaddr *)&here, &size) != 0)
        return ys_fail(YS_EIO, "cannot reach the study at %s: %s", study, strerror(errno));
    (void)!inet_ntop(AF_INET, &here.sin_addr, reached->address, sizeof reached->address);
    return ys_channel_open(reached->fd, &reached->channel);
}

static void take_address(const char *text, struct ys_node_reached *reached)
{
    snprintf(reached->address, sizeof reached->address, "%s", text);
}

/** "CLIENT PORT SERVER PORT": the third word is this host as ssh reached it. */
static ys_status find_ssh_address(struct ys_node_reached *reached)
{
    const char *said = getenv("SSH_CONNECTION");
    char server[64] = "";
    struct in_addr any;
    if (!said || sscanf(said, "%*s %*s %63s", server) != 1 || inet_pton(AF_INET, server, &any) != 1)
        return ys_fail(
            YS_EINVAL,
            "ssh came to \"%s\", which is no IPv4 address at which ranks of other hosts could reach this one: "
            "write such a one behind its name in hosts",
            server);
    take_address(server, reached);
    return YS_OK;
}

/** What comes and goes must not block: ranks are watched meanwhile. */
static ys_status take_own_ends(struct ys_node_reached *reached)
{
    const int ends[] = {STDIN_FILENO, STDOUT_FILENO};
    for (size_t i = 0; i < 2; i++) {
        const int flags = fcntl(ends[i], F_GETFL);
        if (flags < 0 || fcntl(ends[i], F_SETFL, flags | O_NONBLOCK) != 0)
            return ys_fail(YS_EIO, "cannot speak by standard input and output: %s", strerror(errno));
    }
    return ys_channel_open_pair(STDIN_FILENO, STDOUT_FILENO, &reached->channel);
}

ys_status ys_node_reach(const char *study, const char *own, struct ys_node_reached *reached)
{
    struct in_addr any;
    *reached = (struct ys_node_reached){.fd = -1};
    if (own && inet_pton(AF_INET, own, &any) != 1)
        return ys_fail(YS_EINVAL, "the address of this host is \"%s\"; it is one of IPv4", own);
    if (strcmp(study, "-") != 0)
        YS_TRY(dial(study, reached));
    else
        YS_TRY(take_own_ends(reached));
    if (own)
        take_address(own, reached);
    return reached->address[0] ? YS_OK : find_ssh_address(reached);
}

void ys_node_leave(struct ys_node_reached *reached)
{
    ys_channel_close(reached->channel);
    if (reached->fd >= 0)
        close(reached->fd);
    *reached = (struct ys_node_reached){.fd = -1};
}

static bool is_number(const char *text, int64_t *number)
{
    char *end;
    *number = strtol(text, &end, 10);
    return *text && !*end && *number >= 0;
}

ys_status ys_node_number(const char *word, int64_t *number)
{
    if (is_number(word, number))
        return YS_OK;
    const char *text = getenv(word);
    return text && is_number(text, number)
               ? YS_OK
               : ys_fail(YS_EINVAL,
                         "\"%s\" is no number of a host, and no variable that has one: what starts agents elsewhere "
                         "has to set it for each (%s is %s)",
                         word, word, text ? text : "not set");
}
