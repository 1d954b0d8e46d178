/* The order of a run as data: for each mode a table of phases, and one place that goes through any of them. */
#ifndef YS_CREW_PHASE_H
#define YS_CREW_PHASE_H

#include "crew/run_state.h"

/** Where a phase's times go: offsets into struct ys_facts_times; 0 for none (there is exec_ns, which is no phase's). */
struct ys_phase_times {
    size_t asked, answered;
};

struct ys_phase {
    enum ys_stage stage;
    const char *request; /* the type of what is sent; NULL: nothing is, and only `after` is called */
    /** Whether it is to be gone through now. NULL: always, once. */
    bool (*is_due)(const struct ys_run *run);
    /** Adds the request's members beside its type. */
    void (*fill)(struct ys_run *run, ys_json *message);
    /** Takes each message before the answer (`context` is the struct ys_run); NULL: none is expected. */
    ys_session_on_message take;
    /** Judges the answer, which it may keep (ys_json_ref). NULL: any will do. */
    ys_status (*check)(struct ys_run *run, ys_json *reply);
    /** What else is done at its end, outside of what is timed; NULL: nothing. */
    ys_status (*after)(struct ys_run *run);
    struct ys_phase_times times;               /* `asked` of its first request; `answered` once it `is_done` */
    bool (*is_done)(const struct ys_run *run); /* NULL: after each request */
    bool tells;                                /* a progress line when it is asked */
    double progress;                           /* the fraction that this line says */
    bool takes_turns; /* of a run by turns it is asked when its turn has come, and for no more than that (run->turn) */
    size_t back; /* after it, by so many phases; 0: to the next one. A phase that leads back must be `is_due` at times
                    and at times not */
};

/** The phases between hello, which every session exchanges, and bye. */
struct ys_order {
    enum ys_mode mode;  /* of the plan */
    enum ys_stage work; /* in which it does what is measured */
    const struct ys_phase *phases;
    size_t count;
};

const struct ys_order *ys_order_find(enum ys_mode mode);

/** The order of a training under audit (struct ys_run_audit). */
const struct ys_order *ys_order_audited(void);

/** The order of a session of mode "size" that saves a model, which a second one then loads in the order of the mode. */
const struct ys_order *ys_order_saving(void);

/** Goes on with run->order, at run->phase, as far as it can without asking anything, or having its weights judged:
 * takes the answer, if one has come, does what belongs to the phase's end, and is then where something is to be asked,
 * or at the order's end. Failures are those of ys_session_request(). */
ys_status ys_order_take(struct ys_run *run) YS_MUST_CHECK;
/** Asks it, unless the order is at its end. The session is then busy: ys_order_take() comes next, when it no longer is.
 * Failures as before. */
ys_status ys_order_ask(struct ys_run *run) YS_MUST_CHECK;
bool ys_order_is_done(const struct ys_run *run);
/** The weights of the last checkpoint were judged: the run goes on, or with `is_met` it has come to its last step. */
void ys_order_judged(struct ys_run *run, bool is_met);
/** Whether what is to be asked next is what runs take turns in. */
bool ys_order_takes_turns(const struct ys_run *run);

#endif
