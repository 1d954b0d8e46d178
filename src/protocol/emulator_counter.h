/* In a program that an emulator runs: the count of its instructions, which a plugin of the emulator's keeps
 * (tools/count_instructions.c). */
#ifndef YS_PROTOCOL_EMULATOR_COUNTER_H
#define YS_PROTOCOL_EMULATOR_COUNTER_H

#include <stdint.h>

/** Instructions of this process so far, of all its threads; exact while one of them works. NULL: nobody counts. Stays
 * valid until the process ends. */
const volatile uint64_t *ys_emulator_counter(void);

#endif
