#include "probe/network_interfaces.h"

#include "base/mem.h"
#include "probe/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct ys_field fields[] = {
    YS_FIELD(struct ys_interface, name, YS_FIELD_TEXT, NULL, 0, "of the interface"),
    YS_FIELD(struct ys_interface, received_bytes, YS_FIELD_INT, "B", 0, "that came in, headers among them"),
    YS_FIELD(struct ys_interface, sent_bytes, YS_FIELD_INT, "B", 0, "that went out, headers among them"),
};
const struct ys_record ys_interface_record = YS_RECORD("interface", struct ys_interface, fields);

#define LOOPBACK "lo"

enum { BEFORE_SENT = 8 }; /* counts of a line before that of bytes that were sent */

/** One line: "  eth0: 123 4 0 0 0 0 0 0 567 8 0 0 0 0 0 0". False: it is none. */
static bool read_line(char *line, const char **name, int64_t *received_bytes, int64_t *sent_bytes)
{
    char *colon = strchr(line, ':'), *rest = colon ? colon + 1 : NULL;
    if (!colon)
        return false;
    *colon = 0;
    *name = line + strspn(line, " ");
    for (int i = 0; i <= BEFORE_SENT; i++) {
        char *end;
        errno = 0;
        const long long count = strtoll(rest, &end, 10);
        if (end == rest || count < 0 || errno)
            return false;
        if (i == 0)
            *received_bytes = count;
        *sent_bytes = count;
        rest = end;
    }
    return **name != 0;
}

static void add(struct ys_list *items, const char *name, int64_t received_bytes, int64_t sent_bytes)
{
    struct ys_interface *made = ys_list_add(&ys_interface_record, items);
    *made = (struct ys_interface){ys_strdup(name), received_bytes, sent_bytes};
}

void ys_interfaces_parse(char *text, struct ys_list *items)
{
    for (char *line = text, *next; *line; line = next) {
        const char *name;
        int64_t received_bytes, sent_bytes;
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        if (read_line(line, &name, &received_bytes, &sent_bytes))
            add(items, name, received_bytes, sent_bytes);
    }
}

/** The table at `path`, of `of`. */
static void read_table(const char *root, const char *path, const char *of, struct ys_interfaces *seen)
{
    struct ys_buf text = {0};
    ys_status status = ys_procfs_read_all(root, path, &text);
    if (status == YS_OK && text.size == 0)
        status = ys_fail(YS_ENOTFOUND, "%s is empty", path);
    if (status == YS_OK)
        ys_interfaces_parse(text.data, &seen->items);
    else
        snprintf(seen->reason, sizeof seen->reason, "the counters of %.100s cannot be read: %.150s", of, ys_error());
    ys_buf_free(&text);
}

/** `space` is what the namespace is called within its kernel. */
static void name_space(const char *root, const char *space, struct ys_interfaces *seen)
{
    char boot[64];
    if (!ys_procfs_line(root, "/proc/sys/kernel/random/boot_id", boot, sizeof boot))
        boot[0] = 0;
    snprintf(seen->space, sizeof seen->space, "%.40s %.60s", boot, space);
}

void ys_interfaces_of(const char *root, pid_t pid, struct ys_interfaces *seen)
{
    char path[YS_PROCFS_PATH], space[64];
    *seen = (struct ys_interfaces){.space = ""};
    snprintf(path, sizeof path, "%s/proc/%d/ns/net", root, pid);
    const ssize_t length = readlink(path, space, sizeof space - 1);
    space[length > 0 ? length : 0] = 0;
    if (length > 0)
        name_space(root, space, seen);
    snprintf(path, sizeof path, "/proc/%d/net/dev", pid);
    read_table(root, path, "its interfaces", seen);
}

/* What a thread that enters a namespace is told, and where it puts what it saw. */
struct visit {
    int fd;
    const char *path;
    struct ys_interfaces *seen;
};

static void *visit(void *context)
{
    const struct visit *there = context;
    if (setns(there->fd, CLONE_NEWNET) == 0)
        read_table("", "/proc/thread-self/net/dev", there->path, there->seen);
    else
        snprintf(there->seen->reason, sizeof there->seen->reason,
                 "the network namespace %.150s cannot be entered: %s (entering one takes root)", there->path,
                 strerror(errno));
    return NULL;
}

/** Signals stay with the threads that are there. */
static int run_apart(struct visit *there)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread, NULL, visit, there);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_join(thread, NULL);
    return error;
}

void ys_interfaces_in(const char *path, struct ys_interfaces *seen)
{
    char space[64];
    struct stat file;
    struct visit there = {.path = path, .seen = seen};
    *seen = (struct ys_interfaces){.space = ""};
    there.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int error = there.fd < 0 || fstat(there.fd, &file) != 0 ? errno : 0;
    if (!error) {
        snprintf(space, sizeof space, "net:[%llu]", (unsigned long long)file.st_ino);
        name_space("", space, seen);
        error = run_apart(&there);
    }
    if (error)
        snprintf(seen->reason, sizeof seen->reason, "the network namespace %.150s cannot be opened: %s", path,
                 strerror(error));
    if (there.fd >= 0)
        close(there.fd);
}

void ys_interfaces_fini(struct ys_interfaces *seen)
{
    ys_list_fini(&ys_interface_record, &seen->items);
    *seen = (struct ys_interfaces){.space = ""};
}

static const struct ys_interface *find(const struct ys_list *items, const char *name)
{
    const struct ys_interface *all = items->items;
    for (size_t i = 0; i < items->count; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    return NULL;
}

void ys_interfaces_passed(const struct ys_interfaces *before, const struct ys_interfaces *after, struct ys_list *passed)
{
    const struct ys_interface *now = after->items.items;
    for (size_t i = 0; i < after->items.count; i++) {
        const struct ys_interface *then = find(&before->items, now[i].name);
        /* One that counts less than before was made anew meanwhile. */
        if (then && now[i].sent_bytes >= then->sent_bytes && now[i].received_bytes >= then->received_bytes)
            add(passed, now[i].name, now[i].received_bytes - then->received_bytes,
                now[i].sent_bytes - then->sent_bytes);
    }
}

const struct ys_interface *ys_interfaces_busiest(const struct ys_list *passed)
{
    const struct ys_interface *all = passed->items, *busiest = NULL;
    for (size_t i = 0; i < passed->count; i++)
        if (strcmp(all[i].name, LOOPBACK) != 0 && (!busiest || all[i].sent_bytes > busiest->sent_bytes))
            busiest = &all[i];
    return busiest;
}

const struct ys_interface *ys_interfaces_loopback(const struct ys_list *passed)
{
    return find(passed, LOOPBACK);
}
