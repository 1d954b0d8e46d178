/* Small files of /proc and /sys. A root other than "/" stands for another machine, seen through a copy of its files:
 * tests name one by the variable YS_ROOT. */
#ifndef YS_PROBE_PROCFS_H
#define YS_PROBE_PROCFS_H

#include "base/buf.h"
#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { YS_PROCFS_PATH = 512 };

/** "" for this machine, else the value of YS_ROOT. Borrowed. */
const char *ys_procfs_root(void);

/** Reads at most `size` - 1 bytes of root + path and ends them with a 0. The number of bytes, or -1 with errno set. */
ssize_t ys_procfs_read(const char *root, const char *path, char *text, size_t size);
/** The same for an open descriptor, from its start. */
ssize_t ys_procfs_reread(int fd, char *text, size_t size);
/** Reads a whole file of any length, appended to `buf`. YS_ENOTFOUND when it cannot be opened. */
ys_status ys_procfs_read_all(const char *root, const char *path, struct ys_buf *buf) YS_MUST_CHECK;
/** The first line of a file, without its newline and the blanks around it; false when unreadable or empty. */
bool ys_procfs_line(const char *root, const char *path, char *text, size_t size);
/** A file that holds one decimal number. */
bool ys_procfs_number(const char *root, const char *path, int64_t *number);
/** The number after "key" and blanks or a colon at the start of a line of `text`, as in /proc/meminfo or
 * /proc/PID/status. */
bool ys_procfs_field(const char *text, const char *key, int64_t *number);

/** A list such as "0-3,8,10-11" into `values`, at most `capacity` of them; the number of entries in the list, which may
 * be larger; -1 when the text is no such list. */
int ys_procfs_list(const char *text, int *values, int capacity);

/** The same for a mask such as "00000000,00000101": hexadecimal words of 32 bits, the highest first. */
int ys_procfs_mask(const char *text, int *values, int capacity);

/** What is used of /proc/PID/stat (proc(5)). Times are clock ticks. */
struct ys_proc_stat {
    char state; /* 'R', 'S', 'D', 'Z' (ended, not yet waited for), ... */
    pid_t parent;
    uint64_t user, system;               /* of the process itself, ended threads included */
    uint64_t waited_user, waited_system; /* of ended children that it waited for, and theirs */
    uint64_t start;                      /* since boot */
    uint32_t threads;
    uint64_t resident_pages;
};
/** False when `text` is not such a line. The command name may hold blanks and parentheses. */
bool ys_procfs_stat(const char *text, struct ys_proc_stat *stat);

#endif
