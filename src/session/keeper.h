/* yardstick's side of the keeper of a session (launch_main.c), which is a child of yardstick and the parent of all that
 * the adapter starts. yardstick waits for no other process and counts or kills none but those below it. */
#ifndef YS_SESSION_KEEPER_H
#define YS_SESSION_KEEPER_H

#include "session/launch.h"
#include "session/launch_note.h"

/** Takes one note, without waiting; false when there is none. What it says of the adapter's end, and that the keeper
 * has gone (is_lost, below), is noted in `started`. */
bool ys_keeper_take(struct ys_started *started, struct ys_launch_note *note);
/** Takes all that the keeper has said unasked, without waiting: sets has_ended and how, and is_lost where the keeper
 * itself has ended before its time; then the adapter has got SIGKILL, and how it ended is taken to be that. Not while
 * the answer to an order is due, which it would drop. */
void ys_keeper_listen(struct ys_started *started);

/** Orders the keeper to wait for every child of its own that has ended, after SIGKILL for each one when `is_deadly`. It
 * answers by a note YS_LAUNCH_REAPED, in microseconds: value is 0 when no process is left below it. */
void ys_keeper_order(struct ys_started *started, bool is_deadly);
/** A keeper that does not answer, as one that was stopped or waits for a file system, gets SIGKILL, and is lost. */
void ys_keeper_give_up(struct ys_started *started);

/** Closes what is open and waits for the keeper, unless there are processes below it that could not be killed
 * (`is_empty` false): it stays with them, and with the locks that it holds. */
void ys_keeper_dismiss(struct ys_started *started, bool is_empty);

#endif
