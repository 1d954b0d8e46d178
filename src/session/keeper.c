#include "session/keeper.h"
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void lose(struct ys_started *started)
{
    started->is_lost = true;
    if (started->has_ended || started->pid <= 1)
        return;
    /* The adapter leads a group of its own. Numbers are given in turn, so that this one cannot be another's so soon. */
    kill(-started->pid, SIGKILL);
    started->has_ended = true;
    started->ended_code = CLD_KILLED;
    started->ended_value = SIGKILL;
}

bool ys_keeper_take(struct ys_started *started, struct ys_launch_note *note)
{
    ssize_t got;
    while ((got = recv(started->note_fd, note, sizeof *note, MSG_DONTWAIT)) < 0 && errno == EINTR)
        continue;
    if (got < 0 && errno == EAGAIN)
        return false;
    if (got != sizeof *note) {
        lose(started);
        return false;
    }
    if (note->kind == YS_LAUNCH_ENDED) {
        started->has_ended = true;
        started->ended_code = note->code;
        started->ended_value = note->value;
    }
    return true;
}

void ys_keeper_listen(struct ys_started *started)
{
    struct ys_launch_note note;
    while (!started->is_lost && ys_keeper_take(started, &note))
        continue;
}

void ys_keeper_order(struct ys_started *started, bool is_deadly)
{
    struct ys_launch_order order = {.kind = is_deadly ? YS_LAUNCH_KILL : YS_LAUNCH_REAP};
    (void)!send(started->note_fd, &order, sizeof order, MSG_NOSIGNAL); /* a keeper that has gone shows in its notes */
}

void ys_keeper_give_up(struct ys_started *started)
{
    if (started->keeper > 1) /* kill() takes numbers below that for "everybody" */
        kill(started->keeper, SIGKILL);
    lose(started);
}

static void close_if_open(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void ys_keeper_dismiss(struct ys_started *started, bool is_empty)
{
    close_if_open(&started->channel_fd);
    close_if_open(&started->log_fd);
    close_if_open(&started->note_fd);
    while (is_empty && started->keeper > 0 && waitpid(started->keeper, NULL, 0) < 0 && errno == EINTR)
        continue;
    started->keeper = -1;
}
