#include "prepare/hosts.h"

#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

enum { MOST_FILE_BYTES = 1 << 20 };

static const char BLANKS[] = " \t\r";

/** ssh would take a name that begins with - for an option of its own; what else is no letter of a name would be read by
 * nobody as a host. */
static ys_status check_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.@:%[]";
    return name[0] != '-' && strspn(name, letters) == strlen(name)
               ? YS_OK
               : ys_fail(YS_EINVAL, "hosts names \"%.80s\", which is no host", name);
}

static ys_status add(const char *name, const char *address, struct ys_hosts *hosts)
{
    struct in_addr any;
    YS_TRY(check_name(name));
    if (*address && inet_pton(AF_INET, address, &any) != 1)
        return ys_fail(YS_EINVAL, "hosts has \"%.40s\" behind %.80s: this is no IPv4 address, as 10.0.0.2", address,
                       name);
    struct ys_run_host *grown = ys_realloc(hosts->items, hosts->count + 1, sizeof *grown);
    hosts->items = grown;
    grown[hosts->count] = (struct ys_run_host){ys_strdup(name), *address ? ys_strdup(address) : NULL};
    hosts->count++;
    return YS_OK;
}

/** One of them: a name, and behind it an address or nothing. Nothing at all is passed over. */
static ys_status read_one(char *text, struct ys_hosts *hosts)
{
    char *rest = NULL;
    const char *name = strtok_r(text, BLANKS, &rest);
    const char *address = name ? strtok_r(NULL, BLANKS, &rest) : NULL,
               *more = address ? strtok_r(NULL, BLANKS, &rest) : NULL;
    if (more)
        return ys_fail(YS_EINVAL, "hosts has \"%.40s\" behind %.80s %.40s: between two hosts stands a comma", more,
                       name, address);
    return name ? add(name, address ? address : "", hosts) : YS_OK;
}

static ys_status read_list(char *text, struct ys_hosts *hosts)
{
    char *rest = NULL;
    for (char *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
        YS_TRY(read_one(one, hosts));
    return YS_OK;
}

/** Line by line: what stands behind a # may have commas too. */
static ys_status read_lines(char *text, struct ys_hosts *hosts)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        line[strcspn(line, "#")] = 0;
        YS_TRY(read_list(line, hosts));
    }
    return YS_OK;
}

static ys_status read_all(const char *named, struct ys_hosts *hosts)
{
    const bool is_file = strchr(named, '/') != NULL;
    struct ys_buf text = {0};
    ys_status status = YS_OK;
    if (is_file)
        status = ys_fs_read(named, MOST_FILE_BYTES, &text);
    else
        ys_buf_puts(&text, named);
    char *taken = status == YS_OK ? ys_buf_take(&text) : NULL;
    ys_buf_free(&text);
    if (status != YS_OK)
        return ys_fail_in(YS_EINVAL, "hosts");
    status = read_lines(taken, hosts);
    ys_free(taken);
    return status;
}

ys_status ys_hosts_read(const char *named, int64_t wanted, struct ys_hosts *hosts)
{
    *hosts = (struct ys_hosts){0};
    if (!named)
        return ys_fail(YS_EINVAL, "launch = ssh needs to know its hosts: write hosts = HOST, HOST or a file with one a "
                                  "line");
    YS_TRY(read_all(named, hosts));
    return (int64_t)hosts->count >= wanted
               ? YS_OK
               : ys_fail(YS_EINVAL, "hosts names %zu, and nodes = %" PRId64 " are more: name as many", hosts->count,
                         wanted);
}

void ys_hosts_fini(struct ys_hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++) {
        ys_free(hosts->items[i].name);
        ys_free(hosts->items[i].address);
    }
    ys_free(hosts->items);
    *hosts = (struct ys_hosts){0};
}
