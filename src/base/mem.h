/* Memory. Everything is allocated here so that tests can make the N-th allocation fail. */
#ifndef YS_BASE_MEM_H
#define YS_BASE_MEM_H

#include "base/status.h"
#include <stddef.h>

/** `count * size` zeroed bytes; overflow checked; NULL when there is no memory (no message is recorded). Free with
 * ys_free(). A zero product gives a valid pointer. */
void *ys_alloc(size_t count, size_t size);
/** As realloc over `count * size`; the old block stays valid when NULL is returned. New bytes are not zeroed. */
void *ys_realloc(void *block, size_t count, size_t size);
/** Room for one more in `array`, which has `count` entries of `size` bytes and room for `*capacity`: the array itself,
 * or one of twice the room in its place. NULL: no memory, and array and capacity are what they were. */
void *ys_grown(void *array, size_t count, size_t *capacity, size_t size);
void ys_free(void *block); /* NULL is fine */

char *ys_strdup(const char *text); /* NULL text gives NULL */
char *ys_strndup(const char *text, size_t length);
char *ys_format(const char *format, ...) YS_PRINTF(1, 2); /* a new string, or NULL without memory */

/** The failure every caller of the above reports. */
ys_status ys_out_of_memory(void);

/** Test hook: the `n`-th allocation from now fails (1 is the next); 0 turns it off. */
void ys_mem_fail_at(long n);

#endif
