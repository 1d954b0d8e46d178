/* Memory. Everything is allocated here so that tests can make the N-th allocation fail.
 *
 * Who answers others goes on without memory: the engine as a library and the adapters in C get NULL, or YS_ENOMEM, and
 * say so. Programs that measure call ys_memory_must_suffice() first: in them nothing that allocates, be it a buffer, a
 * JSON value or a list, comes back without memory, and the rooms that only they are made of ask nobody whether it did.
 * Sizes that a file or a message announces are bounded before memory is taken for them. */
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
void ys_set_text(char **place, const char *text); /* a copy, in the place of a text that is freed; NULL gives NULL */
char *ys_format(const char *format, ...) YS_PRINTF(1, 2); /* a new string, or NULL without memory */

/** The failure every caller of the above reports; it does not return where memory must suffice. */
ys_status ys_out_of_memory(void);
/** From here on the process ends where there is no memory, with one sentence on stderr and YS_EXIT_MEMORY. Nothing is
 * closed or flushed: as after SIGKILL what is stored stays whole, keepers (base/process/keeper_duties.h) end what was
 * started, and the next session sweeps temporary folders. `program` begins the sentence. */
void ys_memory_must_suffice(const char *program);
#define YS_EXIT_MEMORY 7

/** Test hook: the `n`-th allocation from now fails (1 is the next); 0 turns it off. */
void ys_mem_fail_at(long n);

#endif
