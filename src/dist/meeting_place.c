#include "dist/meeting_place.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

ys_status ys_dist_place_find(struct in_addr *address)
{
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0)
        return ys_fail(YS_EIO, "no list of this host's addresses is to be had: %s", strerror(errno));
    const struct ifaddrs *one = all;
    while (one && (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET || !(one->ifa_flags & IFF_UP) ||
                   (one->ifa_flags & IFF_LOOPBACK)))
        one = one->ifa_next;
    if (one)
        *address = ((const struct sockaddr_in *)(const void *)one->ifa_addr)->sin_addr;
    freeifaddrs(all);
    return one ? YS_OK : ys_fail(YS_ENOTFOUND, "no interface that is up has an address");
}

bool ys_dist_place_interface(const char *address, char name[IF_NAMESIZE])
{
    struct in_addr wanted;
    struct ifaddrs *all;
    if (!address || inet_pton(AF_INET, address, &wanted) != 1 || getifaddrs(&all) != 0)
        return false;
    const struct ifaddrs *one = all;
    while (one && (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET ||
                   ((const struct sockaddr_in *)(const void *)one->ifa_addr)->sin_addr.s_addr != wanted.s_addr))
        one = one->ifa_next;
    const bool is_found = one && !(one->ifa_flags & IFF_LOOPBACK);
    if (is_found)
        snprintf(name, IF_NAMESIZE, "%s", one->ifa_name);
    freeifaddrs(all);
    return is_found;
}

bool ys_dist_place_read(const char *text, struct in_addr *address, uint16_t *port)
{
    const char *colon = text ? strrchr(text, ':') : NULL;
    char host[INET_ADDRSTRLEN] = "", *end = NULL;
    const long number = colon ? strtol(colon + 1, &end, 10) : 0;
    if (colon && (size_t)(colon - text) < sizeof host)
        memcpy(host, text, (size_t)(colon - text));
    if (!end || *end || number < 1 || number > 65535 || inet_pton(AF_INET, host, address) != 1)
        return false;
    *port = (uint16_t)number;
    return true;
}

ys_status ys_dist_place_take(const char *address, struct ys_dist_place *place)
{
    struct sockaddr_in any = {.sin_family = AF_INET};
    socklen_t size = sizeof any;
    const int on = 1;
    *place = YS_DIST_NO_PLACE;
    if (inet_pton(AF_INET, address, &any.sin_addr) != 1)
        return ys_fail(YS_EINVAL, "\"%s\" is no IPv4 address, at which the ranks could meet", address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&any, sizeof any) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        getsockname(fd, (struct sockaddr *)&any, &size) == 0) {
        place->fd = fd;
        snprintf(place->text, sizeof place->text, "%s:%d", address, ntohs(any.sin_port));
        return YS_OK;
    }
    ys_status status = ys_fail(YS_EIO, "no port of %s where the ranks could meet: %s", address, strerror(errno));
    if (fd >= 0)
        close(fd);
    return status;
}

void ys_dist_place_give_back(struct ys_dist_place *place)
{
    if (place->fd >= 0)
        close(place->fd);
    *place = YS_DIST_NO_PLACE;
}
