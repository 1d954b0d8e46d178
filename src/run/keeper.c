#include "run/keeper.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* It answers in microseconds. One that was stopped, or waits for a file system, is given up after this. */
enum { ANSWER_PATIENCE_MS = 20000 };

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

static void add(struct ys_launch_account *account, const struct ys_launch_account *more)
{
    account->user_ns += more->user_ns;
    account->system_ns += more->system_ns;
    account->voluntary_switches += more->voluntary_switches;
    account->involuntary_switches += more->involuntary_switches;
    account->minor_faults += more->minor_faults;
    account->major_faults += more->major_faults;
    if (more->peak_bytes > account->peak_bytes)
        account->peak_bytes = more->peak_bytes;
    account->keeper_ns = more->keeper_ns;
}

bool ys_keeper_reap(struct ys_started *started, bool is_deadly, struct ys_launch_account *account)
{
    struct ys_launch_order order = {.kind = is_deadly ? YS_LAUNCH_KILL : YS_LAUNCH_REAP};
    if (started->is_lost || started->keeper <= 1) /* kill() takes numbers below that for "everybody" */
        return true;
    (void)!send(started->note_fd, &order, sizeof order, MSG_NOSIGNAL); /* a keeper that has gone shows below */
    for (;;) {
        struct ys_launch_note note;
        struct pollfd source = {.fd = started->note_fd, .events = POLLIN};
        int ready = poll(&source, 1, ANSWER_PATIENCE_MS);
        if (ready == 0) {
            kill(started->keeper, SIGKILL);
            lose(started);
        }
        if (ready > 0 && ys_keeper_take(started, &note) && note.kind == YS_LAUNCH_REAPED) {
            add(account, &note.account);
            return note.value == 0;
        }
        if (started->is_lost)
            return true;
    }
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
