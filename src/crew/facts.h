/* What is known of a run. Filled while it goes on (execute.c, facts_filled.c), completed by the study (what its weights
 * are worth), stored as JSON, and read by whatever makes numbers of it. Stored facts of every version are readable:
 * what a version did not know of is null.
 *
 * Times are nanoseconds of ys_time_ns(). What was not reached, or is not known, is YS_FIELD_NONE, NaN or NULL. */
#ifndef YS_CREW_FACTS_H
#define YS_CREW_FACTS_H

#include "base/json/record.h"
#include "base/status.h"
#include "protocol/run_status.h"
#include "robust/attack.h"
#include "probe/observed/observation.h"

/** When its phases began and ended. A run trains or infers; the times of the other are unknown. */
struct ys_facts_times {
    int64_t exec_ns;              /* the adapter's program was executed */
    int64_t hello_ns;             /* it had answered */
    int64_t open_ns, opened_ns;   /* asked, answered; so are the next ones */
    int64_t train_ns, trained_ns; /* `trained` only when all steps were done */
    int64_t infer_ns, inferred_ns;
    int64_t save_ns, saved_ns; /* of the final weights */
    int64_t bye_ns;            /* said */
    int64_t end_ns;            /* the last process had been waited for */
    ys_json *pauses;           /* [[from, to], ..]: saves between steps; NULL reads as none */
    int64_t paused_ns;         /* their sum */
};

/** What the kernel says of all processes that were waited for. */
struct ys_facts_usage {
    int64_t user_ns, system_ns, voluntary_switches, involuntary_switches, minor_faults, major_faults;
    int64_t unwaited_ns; /* seen in samples and missing above, for want of a process that waited */
};

/** What yardstick-feeder took, beside the adapter and in none of its figures. */
struct ys_facts_feeder {
    int64_t threads;
    int64_t user_ns, system_ns;
    int64_t peak_bytes; /* resident, with what of the prepared file it has mapped */
};

/** What was seen from outside. */
struct ys_facts_observed {
    int64_t threads_peak, processes_peak, rss_peak_bytes;
    int64_t process_peak_bytes; /* of the largest process */
    double threads_busy;        /* that shared the steps after the first, or the requests (probe/thread_count.h) */
    int64_t threads_cpus;       /* on which these may run, all together */
    struct ys_list libraries;   /* char *: numerical libraries that were mapped (probe/mapped_libraries.h) */
    struct ys_list notes;       /* char *: what hides in them */
};

/** Processor time of each phase, in seconds. */
struct ys_facts_phase_cpu {
    double start_s, open_s, first_step_s, steps_s, requests_s, save_s;
    double pauses_s; /* of saves between two steps; of an audited run, of those of the audit; NaN: there was none */
};

/** Processor time by what its code is of (probe/profile.h), in seconds. */
struct ys_facts_code {
    double kernel_s, interpreter_s, blas_s, openmp_s, primitives_s, framework_s, generated_s, system_s, unknown_s;
};

/** Where processor time went, of a run with `perf`. */
struct ys_facts_perf {
    int64_t runs;   /* that it is the mean of: 1 */
    char *reason;   /* why the rest is unknown; NULL */
    bool in_kernel; /* whether time in the kernel was sampled: else kernel_s is unknown */
    int64_t period_ns, samples, lost;
    struct ys_facts_code startup, steady, after; /* until the first step's end; until the last step's; then */
};

/** What yardstick itself took, and how well it kept time. */
struct ys_facts_harness {
    int64_t cpu_ns; /* its keeper's included */
    int64_t samples, lateness_max_ns;
    double stopped_s; /* it did not run for so long */
};

/** What weights are worth on the test rows, by the built-in engine. */
struct ys_facts_evaluation {
    int64_t correct, count;
    double accuracy, loss, seconds; /* seconds: that it took */
    char *weights_hash;
};

/** One value of the network on the first few test rows, against the oracle's. */
struct ys_facts_layer {
    char *value, *op; /* of the graph, and the operator that makes it */
    double error;     /* max|a - ref| / max|ref|; NaN: not finite */
};

/** Predictions with the same weights (prepare/agreement.h), against the built-in engine's. */
struct ys_facts_agreement {
    char *reference;
    int64_t weights_steps, rows;
    int64_t disagreements; /* YS_FIELD_NONE, as the next ones NaN: there are no predictions */
    double accuracy, reference_accuracy;
    int64_t only_here, only_reference; /* rows that it alone, and that the reference alone, got right */
    int64_t classes;
    double logits_error; /* as of a layer */
    char *reason;        /* why there are no predictions; NULL */
    int64_t layers_rows;
    struct ys_list layers;   /* struct ys_facts_layer; empty: */
    char *layers_reason;     /* why; NULL */
    struct ys_list in_float; /* char *: of common scales, the nodes without an integer form, each with its reason */
};

/** What an attack made on the weights of one trial, shown to those of another (robust/transfer.h). */
struct ys_facts_transfer {
    int64_t from, to; /* indices of the trials */
    char *attack;
    int64_t both_right, broken, also_wrong; /* rows */
};
extern const struct ys_record ys_facts_transfer_record;

/** What attacks did to the network as it was trained, or to one whose framework answered them. */
struct ys_facts_robustness {
    char *reason;    /* why nothing, or not all, is known; NULL */
    double attack_s; /* wall time, of no part of the run */
    /* In mode attack, of a question for a gradient, mean: with files and messages, and what of that the adapter says it
     * computed; else NaN. */
    double question_s, computed_s;
    struct ys_robustness *found; /* owned; with a reason only the attacks that were finished; NULL: none were */
    struct ys_list twins;        /* struct ys_robustness: the same of trainings that rounding alone sets apart */
    struct ys_list transfers;    /* struct ys_facts_transfer, with each trial before it in its round, both ways */
};

/** The type in which a stored model has its parameters. */
enum ys_stored_type { YS_STORED_F32, YS_STORED_F16, YS_STORED_BF16 };
extern const struct ys_names ys_stored_types; /* "f32", "f16", "bf16" */

/** What a framework saved in mode size, and another session of it loaded (prepare/stored_run.h). Bytes; YS_FIELD_NONE
 * where they are not known. */
struct ys_facts_stored {
    char *form;
    int type;       /* enum ys_stored_type: that most parameters were found in; F32 where none were */
    bool has_graph; /* false: weights alone */
    int64_t bytes, files;
    int64_t elements;        /* of the network's parameters, running statistics included */
    int64_t parameter_bytes; /* of all copies of them */
    bool is_said;            /* that is the adapter's word: some could not be found in the files */
    double found;            /* share of the elements that were found */
    double copies;           /* how often they are there, on average over those */
    int64_t zstd_bytes;      /* of all files, one behind the other, compressed */
    char *zstd_version;      /* of libzstd, which compressed it */
    /* Of the files that the process which loaded had mapped, or says that it runs: each once. */
    int64_t runtime_bytes, interpreter_bytes, libc_bytes;
    double logits_error; /* of the loaded model, against the oracle with weights of that type; relative */
    double logits_bound;
};

/** Weights that were saved between steps. */
struct ys_facts_checkpoint {
    int64_t step; /* that came next */
    char *path;   /* in the run's folder */
    int64_t weights_bytes;
    struct ys_facts_evaluation *evaluation; /* owned; NULL: none */
};

/** Of a training that was to end at a target (key `until`): what its checkpoints, of which the final weights are the
 * last, were worth on the test rows. All were evaluated while the run stood still, but for the final weights. */
struct ys_facts_target {
    char *until;       /* as the job has it: "accuracy >= 0.98" */
    int64_t step;      /* that the weights which met it had been trained for; YS_FIELD_NONE: none did */
    int64_t before;    /* likewise the checkpoint before them, which did not; 0: there is none */
    double best;       /* NaN: nothing could be evaluated */
    int64_t best_step; /* of that; YS_FIELD_NONE */
};

/** What one of several ranks did in collectives, as they were heard from outside (probe/collectives.h), or, of an
 * adapter that counts by itself, as it says. Numbers of a step are means over those behind the first. */
struct ys_facts_collectives {
    char *library;        /* "gloo", "mpi", "gloo, mpi", or "own": the adapter's own count; NULL: nothing is known */
    char *reason;         /* why something is not known that else would be; NULL */
    int64_t calls, bytes; /* in its whole life; bytes: that it handed over */
    double step_calls, step_bytes;
    double busy_s;   /* of a step: at least one was under way */
    double hidden_s; /* of that, while the rank did not wait for its gradients; NaN also where it has no stamps */
};

/** One of the processes of a run that was of several, as docs/results.md has it. The run's own facts are then of all:
 * `status`, `stage`, `exit_code`, `signal`, `message` and `log_tail` those of the rank that was to blame, phases from
 * the first rank's beginning to the last one's end, processor time, memory and threads the sums (peaks of ranks need
 * not have been at one time), hello, opened and weights those of rank 0. */
struct ys_facts_rank {
    int64_t rank;
    int64_t node; /* host of the run that it was on, whose name is the next; none where the run was on one */
    char *host;
    int status; /* enum ys_run_status; cancelled: ended because of another rank */
    int stage;  /* enum ys_stage */
    int64_t exit_code, signal;
    char *message, *log_tail;
    int64_t steps_done;
    double rate_per_s; /* rows of its own, over its blocks after the first step; NaN: there are none */
    double cpu_s;      /* processor time */
    double cpu_wait_s; /* its threads were ready and had no CPU, summed */
    int64_t rss_peak_bytes, threads_peak;
    /* of a step, the mean (run/step_parts.h); NaN, but for the last two: the adapters do not tell */
    double compute_s, communication_s, waiting_s, optimizer_s, framework_s, input_s, rest_s;
    double sent_bytes; /* of a step, to other ranks; NaN: the adapter does not tell */
    /* Owned; NULL: of a version that did not listen. */
    struct ys_facts_collectives *collectives;
    struct ys_list cpus; /* int64_t: that it was bound to */
};

/** One of the hosts of a run that was on several. What is not known, as of one that did not come, is none. */
struct ys_facts_node {
    int64_t node;               /* counted from 0 */
    char *host, *cpu, *kernel;  /* its name, the model of its processor, the release of its kernel */
    int64_t cpus, memory_bytes; /* that it may use */
    int64_t clock_offset_ns;    /* of its clock against that of the study's host, before the run */
    int64_t clock_error_ns;     /* of that, at most */
    double clock_drift;         /* what its clock gained, as a part of the time that passed */
    int64_t clock_looks;        /* at its clock, before, during and after the run; 0 of one clock */
    int64_t machine;            /* the first of the run's nodes that has the same kernel: itself, or one before it */
};

/** One of the machines of a run that was on several, and what else went on there meanwhile. */
struct ys_facts_machine {
    int64_t node;         /* its first */
    char *host;           /* of that */
    double used_s;        /* processor time of its ranks; NaN, as the next ones: not known */
    double harness_s;     /* of yardstick's processes beside them */
    double cpu_wait_s;    /* the ranks' threads were ready and had no CPU, summed */
    double threads_busy;  /* as in struct ys_facts_observed, of its ranks together */
    ys_json *disturbance; /* of the whole machine (probe/host.h), while its first rank ran; owned */
};

/** What a disturbed run lost. A run that nothing had disturbed would have taken between so much less and as long. */
struct ys_facts_taken {
    double run_s, work_s; /* at most, of all of it and of the steps after the first, or the requests; NaN: nobody knows
                             how much, as where another program used caches and memory */
    double share;         /* of the time of its CPUs while it worked; NaN likewise */
    bool by_host;         /* by nothing but the hypervisor */
};

/** A network namespace that ranks of a run had their connections in: of a host, or of several on one machine. */
struct ys_facts_network {
    char *space;          /* which kernel and namespace (probe/network_interfaces.h); NULL: not known */
    struct ys_list ranks; /* int64_t: those in it */
    int64_t node;         /* as of struct ys_facts_rank */
    char *host;
    int64_t steps;             /* those after the first, during which all that follows passed */
    struct ys_list interfaces; /* struct ys_interface: by whichever program */
    char *reason;              /* why nothing is known of them; NULL */
};

/** How much work one row was, and how many parameters the network has. */
struct ys_facts_work {
    int64_t parameters, multiply_adds; /* forward, of one row */
    int64_t positions;                 /* of a row, each with a class; YS_FIELD_NONE: a row has one target */
};

/** Taken from hello and opened, whose other members nothing but people reads. Texts are borrowed from there. */
struct ys_facts_self_report {
    const char *framework, *version, *runtime;
    bool no_work;
    int64_t parameters, threads;
    const ys_json *libraries, *deviations; /* arrays of texts */
    const ys_json *scales;                 /* likewise, of a framework's own quantiser; NULL */
    const char *untimed;                   /* why it cannot tell the times of its steps; NULL: it did not say */
    const char *exchange;                  /* how its ranks exchange gradients, a word of docs/protocol.md */
    int64_t exchange_bytes;
    int64_t download_code_bytes, download_model_bytes; /* that a page had fetched */
    const char *software; /* what stands for its graphics processor; NULL: it has one, or wants none */
    bool has_graph;       /* what it loaded is no weights alone */
};

/** Of a run that shared its time with others (run/turns.h). */
struct ys_facts_turns {
    int64_t members, place; /* that took turns; which of them it was in the order of starts, from 0 */
    int64_t pairs;          /* of cycles */
    int64_t disturbed;      /* of these, and how many of them do not count: all, or none where they are most of them */
    int64_t dropped;
    bool block_cut;  /* a turn had fewer steps than the job's block */
    int64_t settled; /* steps to settle in, of the cycles that count, and what these took */
    int64_t settled_ns;
    int64_t waited_ns; /* while others had their turn */
    int64_t ahead_ns;  /* processor time that it used meanwhile */
    int hold;          /* enum ys_hold */
};

struct ys_facts {
    int status; /* enum ys_run_status */
    int stage;  /* enum ys_stage; YS_NAME_NONE also where an older version stored an adapter's own word */
    int64_t exit_code, signal;
    char *message;           /* why it is not "ok" */
    char *log_tail;          /* the last lines that the adapter printed */
    struct ys_list warnings; /* char *: sentences */
    int64_t round;
    struct ys_facts_times times;
    ys_json *hello, *opened;        /* the adapter's own words */
    struct ys_facts_usage *usage;   /* owned; NULL: nothing was waited for */
    struct ys_facts_feeder *feeder; /* owned; NULL: rows lie in a file */
    struct ys_facts_observed observed;
    struct ys_observation *observation;   /* owned; NULL: nothing was started */
    struct ys_facts_phase_cpu *phase_cpu; /* likewise */
    struct ys_facts_perf *perf;           /* owned; NULL: not asked for */
    int64_t steps_done;
    char *weights;                  /* file in the run's folder */
    struct ys_list checkpoints;     /* struct ys_facts_checkpoint */
    struct ys_facts_target *target; /* owned; NULL: it was to do all of its steps */
    struct ys_facts_harness harness;
    struct ys_list disturbed;     /* char *: what of that passed its share (study/disturbed.h) */
    struct ys_facts_turns *turns; /* owned; NULL: it had the machine for itself */
    struct ys_facts_taken *taken; /* owned; NULL: nothing did, or a version stored it that did not say how much */
    ys_json *disturbance;         /* of the whole machine meanwhile (probe/host.h) */
    struct ys_list ranks;         /* struct ys_facts_rank; empty of one process */
    struct ys_list nodes;         /* struct ys_facts_node; empty of one host */
    struct ys_list networks;      /* struct ys_facts_network; empty of one process */
    struct ys_list machines;      /* struct ys_facts_machine; empty of one machine */
    /* Owned; of one of several ranks by itself, until it stands in `ranks`. */
    struct ys_facts_collectives *collectives;
    struct ys_facts_work *work; /* owned; NULL, as the next ones: not noted */
    int64_t weights_bytes;
    struct ys_facts_evaluation *evaluation;
    struct ys_facts_agreement *agreement;   /* of same weights */
    struct ys_facts_robustness *robustness; /* owned; NULL: nothing was to attack it */
    struct ys_facts_stored *stored;         /* owned; NULL: not of mode size, or nothing was loaded */
    struct ys_facts_self_report said;       /* no member of its own in JSON */
};

/** The fields of struct ys_facts, with unit and meaning, in the order of JSON. */
extern const struct ys_record ys_facts_record;
extern const struct ys_record ys_facts_rank_record;
extern const struct ys_record ys_facts_node_record;
extern const struct ys_record ys_facts_network_record;
extern const struct ys_record ys_facts_machine_record;
extern const struct ys_record ys_facts_collectives_record;
extern const struct ys_record ys_facts_evaluation_record;
extern const struct ys_record ys_facts_agreement_record;
extern const struct ys_record ys_facts_layer_record;
extern const struct ys_record ys_facts_robustness_record;
extern const struct ys_record ys_facts_stored_record;
extern const struct ys_record ys_facts_target_record;
extern const struct ys_record ys_facts_perf_record;
extern const struct ys_record ys_facts_taken_record;
extern const struct ys_record ys_facts_turns_record;

/** All unknown; YS_RUN_OK. */
void ys_facts_init(struct ys_facts *facts);
void ys_facts_fini(struct ys_facts *facts);
/** `label` begins the error's text, as for ys_record_read(). YS_EFORMAT; `facts` is then as after ys_facts_init(). */
ys_status ys_facts_read(const ys_json *json, const char *label, struct ys_facts *facts) YS_MUST_CHECK;
/** The same of the text of that JSON. */
ys_status ys_facts_parse(const char *text, size_t size, const char *label, struct ys_facts *facts) YS_MUST_CHECK;
/** Fills `said` and `times.paused_ns` from the JSON that they are taken from. */
void ys_facts_derive(struct ys_facts *facts);
/** A copy with owners of its own. */
ys_status ys_facts_copy(const struct ys_facts *facts, struct ys_facts *copy) YS_MUST_CHECK;

/** Adds weights that were saved between steps. */
void ys_facts_add_checkpoint(struct ys_facts *facts, int64_t step, const char *path);

/** Adds what was found, not told, in which a run differs from what is usual. */
void ys_facts_add_deviation(struct ys_facts *facts, const char *text);

#endif
