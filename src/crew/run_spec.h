/* What a run is to do, and what it leaves behind. */
#ifndef YS_CREW_RUN_SPEC_H
#define YS_CREW_RUN_SPEC_H

#include "base/status.h"
#include "crew/facts.h"
#include "crew/gradient_question.h"
#include "crew/shown_answers.h"
#include "protocol/plan.h"
#include "robust/attack.h"
#include "session/launch.h"
#include "stat/series.h"
#include <stdbool.h>
#include <stdint.h>

/** A run that ends behind an audited stretch (study/audit.h): steps 0 to `at` - 1 are those of any run; then come a
 * save, with `lead` one step and a save, then `steps` steps as one block and a save, with `follow` one step more, and
 * the end. The saves are YS_RUN_AUDIT_BEFORE, _LEAD and _AFTER in the run's folder, in double in a plan of f64. */
struct ys_run_audit {
    int64_t at, steps;
    bool lead, follow;
    bool state; /* an adapter that saves its optimizer's state does so, and then there is neither lead nor follow */
};
#define YS_RUN_AUDIT_BEFORE "audit-before.safetensors"
#define YS_RUN_AUDIT_LEAD   "audit-lead.safetensors"
#define YS_RUN_AUDIT_AFTER  "audit-after.safetensors"

/** Who asks a run of mode "attack", and of what network. */
struct ys_run_attack {
    struct ys_gradient_form form; /* of images: four axes */
    /** Asks the model as it likes, and returns why it cannot go on, or what the model did. */
    ys_status (*drive)(void *of, const struct ys_attacked *model);
    void *of;
    struct ys_gradient_times *times; /* that the run's questions took, out */
};

/** Who says at each checkpoint of a training whether it goes on (key `until`). Meanwhile the run stands still: nothing
 * is asked of it, and its session's loop goes on. */
struct ys_run_until {
    /** Begins to judge the weights in the file `path`, which step `step` would come after. *fd: borrowed, readable once
     * there is an answer. YS_EINTERNAL: it cannot. */
    ys_status (*begin)(void *of, int64_t step, const char *path, int *fd);
    /** Takes the answer, whether the target is met. Weights that could not be judged do not meet it, which is no
     * failure. YS_EINTR. */
    ys_status (*end)(void *of, bool *is_met);
    void *of;
};

/** A run of mode "size": a session that saves a model, or one that loads it again, whose plan has `stored`. */
struct ys_run_stored {
    const char *form;         /* borrowed */
    const char *const *forms; /* of the recipe, which `hello` must tell too; borrowed, ended by NULL */
    char *path;               /* of one that saves, out, owned by whoever made the spec: what it saved, real */
    int64_t as_said;          /* likewise: bytes of parameters as the adapter says; YS_FIELD_NONE */
    double *logits;           /* of one that loads, out: [rows, width], of whoever made the spec */
    int64_t rows, width, got; /* `got` rows, out */
    /* Of one that loads, out: of the files that it runs; YS_FIELD_NONE before. */
    int64_t runtime_bytes, interpreter_bytes, libc_bytes;
};
#define YS_RUN_MODEL_NAME "model" /* that a model is to be saved as, in the folder of its session */

/** A host as it was named. */
struct ys_run_host {
    char *name;    /* that ssh knows, USER@ before it or not */
    char *address; /* of IPv4, at which ranks of other hosts reach it; NULL: that at which ssh does */
};

struct ys_run_spec {
    const struct ys_plan *plan; /* in mode infer a step is a request, and plan->steps is not looked at */
    int64_t requests;           /* in mode infer, of a plan that does not say */
    struct ys_launch launch;    /* `samples` is set by the run */
    int64_t nodes; /* hosts that the plan's ranks are on, each with as many, by agents (run/nodes.h); 0 or 1: all of
                      them are processes of this one, and no agent is started */
    int launcher;  /* enum ys_launcher: how agents are started */
    const struct ys_run_host *hosts; /* of YS_LAUNCHER_SSH: one for each node, borrowed */
    bool names_cpus;                 /* the job says which CPUs of each host, and not only how many threads */
    bool listens;                    /* to the collectives of several ranks (probe/collectives.h) */
    int64_t round;
    const struct ys_run_audit *audit;   /* NULL: an ordinary run */
    const struct ys_run_attack *attack; /* in mode "attack"; else NULL */
    struct ys_run_stored *stored;       /* in mode "size"; else NULL */
    const struct ys_run_until *until;   /* of a training on this host, not by turns; NULL: it does all of its steps */
    bool looks_at_answers;              /* in mode "infer": an adapter with the feature `answers` shows them */
    bool by_turns;                      /* it shares its time with others (run/turns.h) */
    /** For a progress line: `fraction` 0 to 1 of the run's steps. At most ten times a second; may be NULL. */
    void (*on_progress)(void *context, enum ys_stage stage, double fraction);
    void *context;
};

#define YS_RUN_WEIGHTS_NAME "weights.safetensors" /* the final weights, in the run's folder */
#define YS_RUN_ANSWERS_NAME "answers.ring"        /* there too: where answers are shown */

/** What a run leaves behind.
 *
 * series: block_first block_count block_start_ns block_end_ns, block_input_ns and step_loss (real) of training,
 * latency_ns of requests (whose blocks are messages; latency_group of each message whose requests were timed together,
 * so many at most) and of an attack's questions (of which each is a block, and has its latency from question to
 * answer), instructions of each request where an emulator counts them, request_first request_sent_ns request_done_ns of
 * questions (what was asked for, from its first step on, and when by yardstick's clock; of a run by turns also
 * request_cycle, request_settles, request_ahead_ns and request_dropped, see run/turns.h), sample_t_ns sample_cpu_ns
 * sample_rss_bytes sample_threads sample_processes sample_switches; of several ranks that can tell block_sent_bytes (to
 * other ranks), block_exchange_ns (for how long an exchange was under way), exchange_step exchange_ready_ns
 * exchange_reduced_ns (a row a step: the rank's own gradients were there, and then those of all), and perhaps
 * exchange_began_ns exchange_updated_ns (its forward pass began, and the weights had changed); block_rank, sample_rank
 * and so on where a rank is not 0 (ys_series_rank()). Adapters that do no work send no losses and save nothing. */
struct ys_run_record {
    struct ys_facts facts;
    bool has_facts;
    struct ys_series_set series;
    struct ys_answers answers; /* as they were shown; `is_shown` is false where none were */
};
void ys_run_record_fini(struct ys_run_record *record);

#endif
