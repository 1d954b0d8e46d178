/* Shared by the files of a run; nobody else includes it. */
#ifndef YS_CREW_RUN_STATE_H
#define YS_CREW_RUN_STATE_H

#include "probe/host.h"
#include "probe/network_interfaces.h"
#include "protocol/plan.h"
#include "crew/feeder.h"
#include "crew/run_spec.h"
#include "session/session.h"
#include <stdbool.h>

struct ys_order;

/* At the counters of network interfaces. */
struct ys_run_look {
    struct ys_interfaces seen;
    int64_t step; /* that came next; 0: nobody looked */
};

/* The question that a run by turns is asked next (run/turns.h). */
struct ys_run_turn {
    int64_t steps;    /* at most; 0: as many as of any run */
    int64_t cycle;    /* -1: not yet in its turns */
    bool settles;     /* it does not count */
    int64_t ahead_ns; /* processor time that was used while others had their turn, before it */
};

/* What there was when a run began to stand still: what others do meanwhile is nothing that happened beside it. */
struct ys_run_still {
    struct ys_host_counters machine;
    struct ys_host_cpu_counters cpus;
    double cpu_s; /* of its tree */
};

struct ys_run {
    const struct ys_run_spec *spec;
    struct ys_run_turn turn;
    struct ys_run_record *record;
    struct ys_series_set *series;
    struct ys_answers *answers; /* of the record */
    struct ys_session *session;
    struct ys_feeder feeder;      /* of its rows; none where they lie in a file */
    const struct ys_order *order; /* of phases (crew/phase.h), and which of them it is at */
    size_t phase;
    bool is_asking;     /* that phase has been sent, and not yet answered */
    bool is_judged;     /* a checkpoint's weights are, and nothing is asked until ys_order_judged() */
    int judged_fd;      /* of the first process, while they are: readable once there is an answer */
    char *folder;       /* absolute */
    bool saves_state;   /* feature `state` */
    bool shows_answers; /* feature `answers` or `answers_later` */
    bool shows_later;   /* the latter */
    bool has_hello;     /* it is exchanged */
    bool no_work;
    const struct ys_mode_facts *mode; /* of the plan; a step is one of its units */
    enum ys_stage work;               /* of the order */
    int64_t steps, block, eval_every; /* eval_every 0: never */
    int64_t batch;
    /* The `train` or `infer` question in progress. */
    int64_t to, request_block, next_step;
    uint64_t asked_ns, last_end_ns;
    uint64_t shown_ns;           /* when progress was last told */
    struct ys_facts *facts;      /* of the record: phases put their times there */
    char *save_name, *save_path; /* of the save in progress, or the last one */
    uint64_t pause_ns;           /* when a save between steps was asked */
    ys_json *libraries, *opened;
    /* Processor time of the tree when a phase ended, in seconds; 0 where it was not looked at. */
    double hello_cpu_s, opened_cpu_s, first_cpu_s, worked_cpu_s, saved_cpu_s;
    double save_from_cpu_s; /* when a save was asked */
    double pauses_cpu_s;    /* of all saves between two steps; of an audited run, of those of the audit */
    size_t astray;          /* threads that may run on CPUs that the run was not given, after the work */
    struct ys_threads_worked worked;
    uint64_t own_cpu_ns; /* of yardstick, when the run began */
    bool tells_own;      /* what it takes from then on falls to this process, so that the sum of all counts it once */
    struct ys_host_counters before;
    /* Of the CPUs that it may use: as it began, and around the steps after the first, or the requests. */
    struct ys_host_cpu_counters cpus_before, work_before, work_after;
    struct ys_run_still still;                        /* while it is judged */
    struct ys_run_look traffic_before, traffic_after; /* crew/traffic.h */
};

/** User and system time of yardstick itself so far. */
uint64_t ys_run_own_cpu_ns(void);

/** Checks one `block` message and adds it to the series. A loss that is no finite number ends the run as diverged;
 * whatever contradicts itself, the request or the clock is YS_EPROTOCOL. `context` is a struct ys_run. */
ys_status ys_run_take_block(void *context, const ys_json *message);
/** The same for a `latencies` message, whose requests together take no longer than the time it says passed. */
ys_status ys_run_take_latencies(void *context, const ys_json *message);

/** Adds a question of an attack to the series, which was answered. */
void ys_run_note_gradient(struct ys_run *run, uint64_t sent_ns, uint64_t answered_ns);

/** Adds a warning to `end` where the framework says that it uses another number of threads than the plan's, or worked
 * with many more. */
void ys_run_check_threads(const struct ys_run *run, struct ys_session_end *end);
/** The same where some of its threads may run on CPUs that it was not given. */
void ys_run_check_cpus(const struct ys_run *run, struct ys_session_end *end);

/** Counts what the CPUs did that it may use: of several ranks all of this host, since each waits for the others. */
void ys_run_count_cpus(const struct ys_run *run, struct ys_host_cpu_counters *counters);

/** Tells of progress, where somebody wants to hear of it. */
void ys_run_tell(const struct ys_run *run, enum ys_stage stage, double fraction);

/** Adds to `facts`, which has the times of the phases already, all that is known at the run's end; `fed` is that of
 * the feeder. */
void ys_run_facts(const struct ys_run *run, const struct ys_session_end *end, const struct ys_session_end *fed,
                  struct ys_facts *facts);

#endif
