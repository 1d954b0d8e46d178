#include "protocol/emulator_counter.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_DESCRIPTORS = 64 }; /* the emulator's come first */

static const char COUNTER[] = "/memfd:yardstick-instructions"; /* as the kernel shows it, then " (deleted)" */

const volatile uint64_t *ys_emulator_counter(void)
{
    char link[32], target[sizeof COUNTER];
    for (int fd = 3; fd < MOST_DESCRIPTORS; fd++) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t size = readlink(link, target, sizeof target - 1);
        if (size != (ssize_t)sizeof target - 1 || memcmp(target, COUNTER, (size_t)size) != 0)
            continue;
        void *mapped = mmap(NULL, sizeof(uint64_t), PROT_READ, MAP_SHARED, fd, 0);
        return mapped == MAP_FAILED ? NULL : mapped;
    }
    return NULL;
}
