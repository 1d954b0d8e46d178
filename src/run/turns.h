/* Runs that take turns: all of them live, one works, the others wait. What the machine does beside them then hits all
 * of them alike, where of runs one after the other it hits some and not others.
 *
 * Members start one after another, each up to the end of its first step, and then go round in cycles. A turn is two
 * questions for training, as many steps for each member: one step to settle in, since caches and clocks are as another
 * member left them, and then the steps that count. The order of a cycle is drawn, and the next one is that backwards,
 * so that of two such cycles, a pair, each member stands in the middle of the same time. Saves between steps, and all
 * that comes behind the last step, a member does at the end of its turn.
 *
 * Those that wait are left alone while they keep still. One that was seen to use a processor meanwhile is kept from it
 * from then on (ys_session_pause()), before the next is asked; what it used counts as its own time all the same.
 *
 * A turn during which other programs used the machine costs all members its pair of cycles. Which these are is judged
 * by the processors alone, never by how long a member took. Where it would be more than three quarters of them, or
 * would leave too few blocks to tell warm-up by, all count: the runs were disturbed.
 *
 * In the series of a run (run/execute.h), a row for each question: request_cycle (from 0; -1 before the cycles),
 * request_settles (1: of a step to settle in), request_ahead_ns (processor time that the member used while others had
 * their turn, since its last question) and request_dropped (1: its pair of cycles does not count). */
#ifndef YS_RUN_TURNS_H
#define YS_RUN_TURNS_H

#include "crew/run_spec.h"

struct ys_turns {
    double turn_s;         /* that the slowest member's turn is to take, more or less */
    uint64_t seed;         /* of the orders of cycles */
    bool drops;            /* pairs of cycles that were disturbed */
    uint64_t deadline_ns;  /* a time at which all of them end, as of timeout_wall; 0: none */
    int64_t (*room)(void); /* bytes of memory that may still be had: ys_host_memory_room() */
};

enum { YS_TURNS_MOST = 8 }; /* members: each waits for all others, and all are in memory */

/** How many blocks of a run of so many steps count, at least, if it takes turns. */
int64_t ys_turns_least_blocks(int64_t steps, int64_t block);

/** Runs `specs`, which are of as many steps each, train, are on one host and say `by_turns`, in this order of starts;
 * at most YS_TURNS_MOST. Where memory has not twice the room that the largest of those started holds no more are:
 * *started is how many were, one at least. Each of these has its record, as of ys_run_execute(), whose results these
 * are: a member that fails has it in its facts, and the others go on. */
ys_status ys_turns_execute(const struct ys_run_spec *specs, size_t count, const struct ys_turns *turns,
                           struct ys_run_record *records, size_t *started) YS_MUST_CHECK;

#endif
