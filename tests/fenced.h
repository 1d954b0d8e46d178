/* Memory that ends at a page without access: who reads or writes behind its last byte ends the test program. So does
 * who goes before its pages, by as many bytes as they have at most. */
#ifndef YS_TESTS_FENCED_H
#define YS_TESTS_FENCED_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __wasm__ /* whose memory can all be read and written: no fence */
static inline void *fenced_new(size_t bytes)
{
    void *memory = malloc(bytes + 1);
    if (!memory)
        abort();
    return memset(memory, 0xff, bytes);
}

static inline void fenced_free(void *memory, size_t bytes)
{
    (void)bytes;
    free(memory);
}
#else
static inline size_t fenced_pages_bytes(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/** `bytes`, all bits of them set, which is a NaN in every format; to be freed with the same number. It is aligned as
 * `bytes` is, up to a page. */
static inline void *fenced_new(size_t bytes)
{
    const size_t own = fenced_pages_bytes(bytes), page = (size_t)sysconf(_SC_PAGESIZE);
    char *all = mmap(NULL, own + own + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + own, own, PROT_READ | PROT_WRITE) != 0)
        abort();
    memset(all + own, 0xff, own);
    return all + own + own - bytes;
}

static inline void fenced_free(void *memory, size_t bytes)
{
    const size_t own = fenced_pages_bytes(bytes), page = (size_t)sysconf(_SC_PAGESIZE);
    munmap((char *)memory + bytes - own - own, own + own + page);
}

#endif

#endif
