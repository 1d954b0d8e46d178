#include "probe/procfs.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *ys_procfs_root(void)
{
    const char *root = getenv("YS_ROOT");
    return root ? root : "";
}

static int open_below(const char *root, const char *path)
{
    char whole[4096];
    if ((size_t)snprintf(whole, sizeof whole, "%s%s", root, path) >= sizeof whole) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(whole, O_RDONLY | O_CLOEXEC);
}

ssize_t ys_procfs_reread(int fd, char *text, size_t size)
{
    ssize_t got = pread(fd, text, size - 1, 0);
    if (got >= 0)
        text[got] = 0;
    return got;
}

ssize_t ys_procfs_read(const char *root, const char *path, char *text, size_t size)
{
    int fd = open_below(root, path);
    if (fd < 0)
        return -1;
    ssize_t got = ys_procfs_reread(fd, text, size);
    int error = errno;
    close(fd);
    errno = error;
    return got;
}

ys_status ys_procfs_read_all(const char *root, const char *path, struct ys_buf *buf)
{
    int fd = open_below(root, path);
    if (fd < 0)
        return ys_fail(YS_ENOTFOUND, "cannot open %s%s: %s", root, path, strerror(errno));
    char block[8192];
    ssize_t got;
    ys_status status = YS_OK;
    while (status == YS_OK && (got = read(fd, block, sizeof block)) != 0) {
        if (got > 0)
            status = ys_buf_append(buf, block, (size_t)got);
        else if (errno != EINTR)
            status = ys_fail(YS_ENOTFOUND, "cannot read %s%s: %s", root, path, strerror(errno));
    }
    close(fd);
    return status;
}

bool ys_procfs_line(const char *root, const char *path, char *text, size_t size)
{
    if (ys_procfs_read(root, path, text, size) <= 0)
        return false;
    text[strcspn(text, "\n")] = 0;
    size_t length = strlen(text), blanks = strspn(text, " \t");
    while (length > blanks && isspace((unsigned char)text[length - 1]))
        length--;
    memmove(text, text + blanks, length - blanks);
    text[length - blanks] = 0;
    return text[0] != 0;
}

bool ys_procfs_number(const char *root, const char *path, int64_t *number)
{
    char text[64], *end;
    if (!ys_procfs_line(root, path, text, sizeof text))
        return false;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (*end || errno)
        return false;
    *number = value;
    return true;
}

bool ys_procfs_field(const char *text, const char *key, int64_t *number)
{
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) != 0 || !strchr(": \t", line[length]) || !line[length])
            continue;
        const char *value = line + length + strspn(line + length, ": \t");
        char *end;
        long long parsed = strtoll(value, &end, 10);
        if (end == value)
            return false;
        *number = parsed;
        return true;
    }
    return false;
}

int ys_procfs_list(const char *text, int *values, int capacity)
{
    int count = 0;
    while (isspace((unsigned char)*text))
        text++;
    while (*text) {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (end == text || first < 0)
            return -1;
        if (*end == '-') {
            text = end + 1;
            last = strtol(text, &end, 10);
            if (end == text || last < first)
                return -1;
        }
        if (last > 1 << 20)
            return -1;
        for (long value = first; value <= last; value++, count++)
            if (count < capacity)
                values[count] = (int)value;
        text = end;
        if (*text == ',')
            text++;
        else if (*text && !isspace((unsigned char)*text))
            return -1;
        while (isspace((unsigned char)*text))
            text++;
    }
    return count;
}

int ys_procfs_mask(const char *text, int *values, int capacity)
{
    size_t length = strcspn(text, "\n");
    int bit = 0, count = 0;
    while (length > 0) {
        int digit = (unsigned char)text[--length];
        if (digit == ',' || isspace(digit))
            continue;
        if (!isxdigit(digit))
            return -1;
        digit = isdigit(digit) ? digit - '0' : tolower(digit) - 'a' + 10;
        for (int i = 0; i < 4; i++, bit++) {
            if (!(digit >> i & 1))
                continue;
            if (count < capacity)
                values[count] = bit;
            count++;
        }
    }
    return count;
}

bool ys_procfs_stat(const char *text, struct ys_proc_stat *stat)
{
    const char *name_end = strrchr(text, ')');
    if (!name_end || name_end[1] != ' ' || !name_end[2])
        return false;
    enum { PARENT = 4, USER = 14, SYSTEM, WAITED_USER, WAITED_SYSTEM, THREADS = 20, START = 22, RESIDENT = 24 };
    long long fields[RESIDENT + 1]; /* by their numbers in proc(5); 3 is the state */
    const char *at = name_end + 3;
    stat->state = name_end[2];
    for (int i = PARENT; i <= RESIDENT; i++) { /* no scanf(), which takes half as long as the kernel does */
        char *end;
        fields[i] = strtoll(at, &end, 10);
        if (end == at)
            return false;
        at = end;
    }
    stat->parent = (pid_t)fields[PARENT];
    stat->user = (uint64_t)fields[USER];
    stat->system = (uint64_t)fields[SYSTEM];
    stat->waited_user = (uint64_t)fields[WAITED_USER];
    stat->waited_system = (uint64_t)fields[WAITED_SYSTEM];
    stat->threads = (uint32_t)fields[THREADS];
    stat->start = (uint64_t)fields[START];
    /* The kernel's approximate counters can dip below 0. */
    stat->resident_pages = fields[RESIDENT] > 0 ? (uint64_t)fields[RESIDENT] : 0;
    return true;
}
