/* The hosts that a study names. */
#include "prepare/hosts.h"

#include "base/files/fs.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

static void a_list_and_a_file_name_the_same(void)
{
    static const char text[] = "# of the second rack, and of no other\ngpu1 # alone, for now\n\n"
                               "  me@gpu2\t10.0.0.2  # its second interface, not gpu3\r\n";
    char path[] = "/tmp/ys-hosts-XXXXXX";
    const int fd = mkstemp(path);
    REQUIRE(fd >= 0 && ys_fs_write(path, text, sizeof text - 1) == YS_OK);
    const char *const named[] = {"gpu1, me@gpu2 10.0.0.2", path};
    for (size_t i = 0; i < 2; i++) {
        struct ys_hosts hosts;
        if (CHECK(ys_hosts_read(named[i], 2, &hosts) == YS_OK) && CHECK(hosts.count == 2)) {
            CHECK_TEXT(hosts.items[0].name, "gpu1");
            CHECK(!hosts.items[0].address);
            CHECK_TEXT(hosts.items[1].name, "me@gpu2");
            CHECK_TEXT(hosts.items[1].address, "10.0.0.2");
        }
        ys_hosts_fini(&hosts);
    }
    close(fd);
    unlink(path);
}

static void what_is_no_host_is_refused(void)
{
    static const struct {
        const char *named, *said;
    } wrong[] = {
        {NULL, "launch = ssh needs to know its hosts"},
        {"gpu1", "hosts names 1, and nodes = 2 are more"},
        {"gpu1, -oProxyCommand=sh", "\"-oProxyCommand=sh\", which is no host"},
        {"gpu1, gpu2;reboot", "\"gpu2;reboot\", which is no host"},
        {"gpu1 gpu2", "\"gpu2\" behind gpu1: this is no IPv4 address"},
        {"gpu1 10.0.0.1 gpu2", "between two hosts stands a comma"},
        {"/nowhere/hosts", "/nowhere/hosts"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ys_hosts hosts;
        CHECK_INT(ys_hosts_read(wrong[i].named, 2, &hosts), YS_EINVAL);
        CHECK_HAS(ys_error(), wrong[i].said);
        ys_hosts_fini(&hosts);
    }
}

TAP_MAIN(TAP_CASE(a_list_and_a_file_name_the_same), TAP_CASE(what_is_no_host_is_refused))
