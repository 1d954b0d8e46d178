/* The facts of a run to JSON and back: the one list of what is stored of them. */
#include "base/mem.h"
#include "crew/facts.h"
#include "probe/network_interfaces.h"
#include "session/session.h"

enum { OPTIONAL = YS_FIELD_NULL | YS_FIELD_LATER, LACKS = YS_FIELD_NULL | YS_FIELD_MAY_LACK };

#define TIME(member, flags, what) YS_FIELD(struct ys_facts_times, member, YS_FIELD_INT, "ns", flags, what)
static const struct ys_field times_fields[] = {
    TIME(exec_ns, OPTIONAL, "the adapter's program was executed"),
    TIME(hello_ns, OPTIONAL, "hello was answered"),
    TIME(open_ns, OPTIONAL, "open was asked"),
    TIME(opened_ns, OPTIONAL, "open was answered"),
    TIME(train_ns, LACKS, "the first step was asked"),
    TIME(trained_ns, LACKS, "the last step was done"),
    TIME(infer_ns, LACKS, "requests were asked"),
    TIME(inferred_ns, LACKS, "the last request was answered"),
    TIME(save_ns, OPTIONAL, "the final weights were asked"),
    TIME(saved_ns, OPTIONAL, "they were saved"),
    TIME(bye_ns, OPTIONAL, "bye was said"),
    TIME(end_ns, OPTIONAL, "the last process was waited for"),
    YS_FIELD(struct ys_facts_times, pauses, YS_FIELD_JSON, "ns", OPTIONAL, "[from, to] of each save between steps"),
};
static const struct ys_record times_record = YS_RECORD("times", struct ys_facts_times, times_fields);

#define USAGE(member, unit, flags, what) YS_FIELD(struct ys_facts_usage, member, YS_FIELD_INT, unit, flags, what)
static const struct ys_field usage_fields[] = {
    USAGE(user_ns, "ns", OPTIONAL, "processor time in user mode"),
    USAGE(system_ns, "ns", OPTIONAL, "processor time in the kernel"),
    USAGE(voluntary_switches, "1", OPTIONAL, "context switches to wait for something"),
    USAGE(involuntary_switches, "1", OPTIONAL, "context switches that others forced"),
    USAGE(minor_faults, "1", LACKS, "pages that were given without reading"),
    USAGE(major_faults, "1", LACKS, "pages that had to be read"),
    USAGE(unwaited_ns, "ns", OPTIONAL, "processor time that was sampled and nobody waited for"),
};
#define FED(member, unit, what) YS_FIELD(struct ys_facts_feeder, member, YS_FIELD_INT, unit, YS_FIELD_NULL, what)
static const struct ys_field feeder_fields[] = {
    FED(threads, "1", "that filled the ring"),
    FED(user_ns, "ns", "processor time in its own code"),
    FED(system_ns, "ns", "and in the kernel"),
    FED(peak_bytes, "B", "resident"),
};
static const struct ys_record feeder_record = YS_RECORD("feeder", struct ys_facts_feeder, feeder_fields);

static const struct ys_record usage_record = YS_RECORD("usage", struct ys_facts_usage, usage_fields);

#define SEEN(member, kind, unit, what) YS_FIELD(struct ys_facts_observed, member, kind, unit, OPTIONAL, what)
static const struct ys_field observed_fields[] = {
    SEEN(threads_peak, YS_FIELD_INT, "1", "most threads at once; null when not sampled"),
    SEEN(threads_busy, YS_FIELD_REAL, "1", "threads that shared the work; null when unknown"),
    YS_FIELD(struct ys_facts_observed, threads_cpus, YS_FIELD_INT, "1", LACKS, "CPUs on which these may run"),
    SEEN(processes_peak, YS_FIELD_INT, "1", "most processes at once; null when not sampled"),
    SEEN(rss_peak_bytes, YS_FIELD_INT, "B", "most memory that all processes held"),
    SEEN(process_peak_bytes, YS_FIELD_INT, "B", "most memory that one process held"),
    SEEN(libraries, YS_FIELD_TEXTS, NULL, "numerical libraries that were mapped"),
    SEEN(notes, YS_FIELD_TEXTS, NULL, "what is known to hide in them"),
};
static const struct ys_record observed_record = YS_RECORD("observed", struct ys_facts_observed, observed_fields);

#define PHASE(member, what) YS_FIELD(struct ys_facts_phase_cpu, member, YS_FIELD_REAL, "s", OPTIONAL, what)
static const struct ys_field phase_cpu_fields[] = {
    PHASE(start_s, "processor time from exec to hello"),
    PHASE(open_s, "of open"),
    PHASE(first_step_s, "of the first step"),
    PHASE(steps_s, "of the steps after it, saves between them included"),
    PHASE(requests_s, "of all requests"),
    PHASE(save_s, "of the last save"),
    YS_FIELD(struct ys_facts_phase_cpu, pauses_s, YS_FIELD_REAL, "s", LACKS, "of saves between two steps"),
};
static const struct ys_record phase_cpu_record = YS_RECORD("phase_cpu", struct ys_facts_phase_cpu, phase_cpu_fields);

#define CODE(member, what) YS_FIELD(struct ys_facts_code, member, YS_FIELD_REAL, "s", OPTIONAL, what)
static const struct ys_field code_fields[] = {
    CODE(kernel_s, "null where it was not to be seen"),
    CODE(interpreter_s, "Python, Lua and their own modules"),
    CODE(blas_s, "linear algebra, where it has a file of its own"),
    CODE(openmp_s, "runtimes of threads"),
    CODE(primitives_s, "oneDNN and the like, likewise"),
    CODE(framework_s, "its libraries, or an adapter that is a program"),
    CODE(generated_s, "code without a file"),
    CODE(system_s, "C library, mathematics, loader"),
    CODE(unknown_s, "any other file, or none known"),
};
static const struct ys_record code_record = YS_RECORD("code", struct ys_facts_code, code_fields);

#define PERF(member, kind, unit, what) YS_FIELD(struct ys_facts_perf, member, kind, unit, OPTIONAL, what)
#define PERF_PHASE(member, what)                                                                                       \
    YS_FIELD_OF(struct ys_facts_perf, member, YS_FIELD_OBJECT, &code_record, OPTIONAL, what)
static const struct ys_field perf_fields[] = {
    PERF(runs, YS_FIELD_INT, "1", "that it is the mean of"),
    PERF(reason, YS_FIELD_TEXT, NULL, "why nothing is known"),
    YS_FIELD(struct ys_facts_perf, in_kernel, YS_FIELD_FLAG, NULL, YS_FIELD_LATER, "time in the kernel was sampled"),
    PERF(period_ns, YS_FIELD_INT, "ns", "of processor time between two samples"),
    PERF(samples, YS_FIELD_INT, "1", "taken"),
    PERF(lost, YS_FIELD_INT, "1", "for which the kernel had no room"),
    PERF_PHASE(startup, "until the end of the first step; of inference, until requests begin"),
    PERF_PHASE(steady, "from there to the end of the last step or request"),
    PERF_PHASE(after, "from there to the end"),
};
const struct ys_record ys_facts_perf_record = YS_RECORD("perf", struct ys_facts_perf, perf_fields);

static const struct ys_field harness_fields[] = {
    YS_FIELD(struct ys_facts_harness, cpu_ns, YS_FIELD_INT, "ns", OPTIONAL, "processor time of yardstick itself"),
    YS_FIELD(struct ys_facts_harness, samples, YS_FIELD_INT, "1", OPTIONAL, "how often it looked"),
    YS_FIELD(struct ys_facts_harness, lateness_max_ns, YS_FIELD_INT, "ns", OPTIONAL, "the latest sample's lateness"),
    YS_FIELD(struct ys_facts_harness, stopped_s, YS_FIELD_REAL, "s", OPTIONAL, "for so long it did not run"),
};
static const struct ys_record harness_record = YS_RECORD("harness", struct ys_facts_harness, harness_fields);

#define WORTH(member, kind, unit, what) YS_FIELD(struct ys_facts_evaluation, member, kind, unit, LACKS, what)
static const struct ys_field evaluation_fields[] = {
    WORTH(correct, YS_FIELD_INT, "1", "test rows whose class was found"),
    WORTH(count, YS_FIELD_INT, "1", "test rows"),
    WORTH(accuracy, YS_FIELD_REAL, "1", "the share of them"),
    YS_FIELD(struct ys_facts_evaluation, loss, YS_FIELD_REAL, "1", OPTIONAL, "mean loss; null when it is not finite"),
    WORTH(weights_hash, YS_FIELD_TEXT, NULL, "of the weights"),
    WORTH(seconds, YS_FIELD_REAL, "s", "that evaluating took"),
};
const struct ys_record ys_facts_evaluation_record =
    YS_RECORD("evaluation", struct ys_facts_evaluation, evaluation_fields);

#define OF_LAYER(member, kind, what) YS_FIELD(struct ys_facts_layer, member, kind, NULL, OPTIONAL, what)
static const struct ys_field layer_fields[] = {
    OF_LAYER(value, YS_FIELD_TEXT, "of the graph"),
    OF_LAYER(op, YS_FIELD_TEXT, "that makes it"),
    OF_LAYER(error, YS_FIELD_REAL, "largest difference over largest value; null: not finite"),
};
const struct ys_record ys_facts_layer_record = YS_RECORD("layer", struct ys_facts_layer, layer_fields);

#define AGREES(member, kind, unit, what) YS_FIELD(struct ys_facts_agreement, member, kind, unit, OPTIONAL, what)
static const struct ys_field agreement_fields[] = {
    AGREES(reference, YS_FIELD_TEXT, NULL, "who is right"),
    AGREES(weights_steps, YS_FIELD_INT, "steps", "that the weights were trained"),
    AGREES(rows, YS_FIELD_INT, "rows", "that were predicted"),
    AGREES(disagreements, YS_FIELD_INT, "rows", "of which the answer is another; null: there are no predictions"),
    AGREES(accuracy, YS_FIELD_REAL, "1", "of the framework"),
    AGREES(reference_accuracy, YS_FIELD_REAL, "1", "of the reference"),
    AGREES(only_here, YS_FIELD_INT, "rows", "that the framework got right and the reference did not"),
    AGREES(only_reference, YS_FIELD_INT, "rows", "that the reference got right and the framework did not"),
    AGREES(classes, YS_FIELD_INT, "1", "of an answer"),
    AGREES(logits_error, YS_FIELD_REAL, "1", "largest difference over largest value; null: not finite"),
    AGREES(reason, YS_FIELD_TEXT, NULL, "why there are no predictions"),
    AGREES(layers_rows, YS_FIELD_INT, "rows", "that values inside the network were compared on"),
    YS_FIELD_OF(struct ys_facts_agreement, layers, YS_FIELD_LIST, &ys_facts_layer_record, OPTIONAL | YS_FIELD_EMPTY,
                "each value that a node makes"),
    AGREES(layers_reason, YS_FIELD_TEXT, NULL, "why they were not"),
    YS_FIELD_OF(struct ys_facts_agreement, in_float, YS_FIELD_TEXTS, NULL, OPTIONAL | YS_FIELD_EMPTY,
                "of a quantised network: nodes that are computed in float, and why"),
};
const struct ys_record ys_facts_agreement_record = YS_RECORD("agreement", struct ys_facts_agreement, agreement_fields);

#define CARRIED(member, kind, unit, what) YS_FIELD(struct ys_facts_transfer, member, kind, unit, 0, what)
static const struct ys_field transfer_fields[] = {
    CARRIED(from, YS_FIELD_INT, NULL, "index of the trial on whose weights it was made"),
    CARRIED(to, YS_FIELD_INT, NULL, "index of the trial to whose weights it was shown"),
    CARRIED(attack, YS_FIELD_TEXT, NULL, "with all its numbers"),
    CARRIED(both_right, YS_FIELD_INT, "rows", "that both had right before"),
    CARRIED(broken, YS_FIELD_INT, "rows", "of those, that it broke where it was made"),
    CARRIED(also_wrong, YS_FIELD_INT, "rows", "of those, that are wrong there too"),
};
const struct ys_record ys_facts_transfer_record = YS_RECORD("transfer", struct ys_facts_transfer, transfer_fields);

#define ATTACKED(member, kind, unit, what) YS_FIELD(struct ys_facts_robustness, member, kind, unit, OPTIONAL, what)
static const struct ys_field robustness_fields[] = {
    ATTACKED(reason, YS_FIELD_TEXT, NULL, "why nothing, or not all, is known"),
    ATTACKED(attack_s, YS_FIELD_REAL, "s", "that attacking took, of no part of the run"),
    YS_FIELD(struct ys_facts_robustness, question_s, YS_FIELD_REAL, "s", LACKS,
             "of a question for a gradient in mode attack, files and messages included, mean"),
    YS_FIELD(struct ys_facts_robustness, computed_s, YS_FIELD_REAL, "s", LACKS,
             "of that, what the adapter says it computed"),
    YS_FIELD_OF(struct ys_facts_robustness, found, YS_FIELD_OBJECT_OWNED, &ys_robustness_record, OPTIONAL,
                "what attacks did, those that were finished; null: nothing is known"),
    YS_FIELD_OF(struct ys_facts_robustness, twins, YS_FIELD_LIST, &ys_robustness_record, YS_FIELD_MAY_LACK,
                "the same of the built-in engine's trainings from initial weights that are moved by rounding alone"),
    YS_FIELD_OF(struct ys_facts_robustness, transfers, YS_FIELD_LIST, &ys_facts_transfer_record, YS_FIELD_MAY_LACK,
                "what was made on the weights of trials before it in its round, and on its own, shown to the other"),
};
const struct ys_record ys_facts_robustness_record =
    YS_RECORD("robustness", struct ys_facts_robustness, robustness_fields);

static const char *const stored_type_words[] = {
    [YS_STORED_F32] = "f32", [YS_STORED_F16] = "f16", [YS_STORED_BF16] = "bf16"};
const struct ys_names ys_stored_types = YS_NAMES("stored type", stored_type_words);

#define STORED(member, kind, unit, flags, what) YS_FIELD(struct ys_facts_stored, member, kind, unit, flags, what)
static const struct ys_field stored_fields[] = {
    STORED(form, YS_FIELD_TEXT, NULL, 0, "that it was stored in"),
    YS_FIELD_NAMED(struct ys_facts_stored, type, &ys_stored_types, 0, "that most parameters were found in"),
    STORED(has_graph, YS_FIELD_FLAG, NULL, 0, "false: weights alone"),
    STORED(bytes, YS_FIELD_INT, "B", YS_FIELD_NULL, "of all its files"),
    STORED(files, YS_FIELD_INT, "1", YS_FIELD_NULL, "that it consists of"),
    STORED(elements, YS_FIELD_INT, "1", YS_FIELD_NULL, "of the network's parameters, running statistics included"),
    STORED(parameter_bytes, YS_FIELD_INT, "B", YS_FIELD_NULL, "of all copies of them; null: they hide"),
    STORED(is_said, YS_FIELD_FLAG, NULL, 0, "whether that is the adapter's word"),
    STORED(found, YS_FIELD_REAL, "1", YS_FIELD_NULL, "share of the elements that were found in the files"),
    STORED(copies, YS_FIELD_REAL, "1", YS_FIELD_NULL, "how often these are there, on average"),
    STORED(zstd_bytes, YS_FIELD_INT, "B", YS_FIELD_NULL, "of all files one behind the other, by zstd at level 19"),
    STORED(zstd_version, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "of libzstd"),
    STORED(runtime_bytes, YS_FIELD_INT, "B", YS_FIELD_NULL, "of the files that the process which loaded it runs"),
    STORED(interpreter_bytes, YS_FIELD_INT, "B", YS_FIELD_NULL, "of its interpreter, which is not in them"),
    STORED(libc_bytes, YS_FIELD_INT, "B", YS_FIELD_NULL, "of the C library, likewise"),
    STORED(logits_error, YS_FIELD_REAL, "1", YS_FIELD_NULL,
           "of the loaded model, against the oracle with weights of that type; relative"),
    STORED(logits_bound, YS_FIELD_REAL, "1", YS_FIELD_NULL, "how far rounding may move them"),
};
const struct ys_record ys_facts_stored_record = YS_RECORD("stored", struct ys_facts_stored, stored_fields);

#define EVALUATION(type)                                                                                               \
    YS_FIELD(type, weights_bytes, YS_FIELD_INT, "B", LACKS, "size of the file of weights"),                            \
        YS_FIELD_OF(type, evaluation, YS_FIELD_OBJECT_OWNED, &ys_facts_evaluation_record, LACKS,                       \
                    "what the weights are worth; absent when nothing was evaluated")
static const struct ys_field checkpoint_fields[] = {
    YS_FIELD(struct ys_facts_checkpoint, step, YS_FIELD_INT, "1", 0, "that came next"),
    YS_FIELD(struct ys_facts_checkpoint, path, YS_FIELD_TEXT, NULL, OPTIONAL, "file in the run's folder"),
    EVALUATION(struct ys_facts_checkpoint),
};
static const struct ys_record checkpoint_record =
    YS_RECORD("checkpoint", struct ys_facts_checkpoint, checkpoint_fields);

#define OF_TARGET(member, kind, unit, flags, what) YS_FIELD(struct ys_facts_target, member, kind, unit, flags, what)
static const struct ys_field target_fields[] = {
    OF_TARGET(until, YS_FIELD_TEXT, NULL, 0, "as the job has it"),
    OF_TARGET(step, YS_FIELD_INT, "steps", YS_FIELD_NULL, "that the weights which met it had been trained for"),
    OF_TARGET(before, YS_FIELD_INT, "steps", 0, "likewise those before them, which did not meet it; 0: there are none"),
    OF_TARGET(best, YS_FIELD_REAL, NULL, YS_FIELD_NULL, "value of all of them"),
    OF_TARGET(best_step, YS_FIELD_INT, "steps", YS_FIELD_NULL, "of that"),
};
const struct ys_record ys_facts_target_record = YS_RECORD("target", struct ys_facts_target, target_fields);

#define HEARD(member, kind, unit, what) YS_FIELD(struct ys_facts_collectives, member, kind, unit, OPTIONAL, what)
static const struct ys_field collectives_fields[] = {
    HEARD(library, YS_FIELD_TEXT, NULL, "whose they are; null: nothing is known"),
    HEARD(reason, YS_FIELD_TEXT, NULL, "why something is not known"),
    HEARD(calls, YS_FIELD_INT, "1", "in its whole life"),
    HEARD(bytes, YS_FIELD_INT, "B", "that it handed over, likewise"),
    HEARD(step_calls, YS_FIELD_REAL, "1", "of a step"),
    HEARD(step_bytes, YS_FIELD_REAL, "B", "of a step"),
    HEARD(busy_s, YS_FIELD_REAL, "s", "of a step: at least one was under way"),
    HEARD(hidden_s, YS_FIELD_REAL, "s", "of that, while the rank did not wait for its gradients"),
};
const struct ys_record ys_facts_collectives_record =
    YS_RECORD("collectives", struct ys_facts_collectives, collectives_fields);

#define OF_RANK(member, kind, unit, what) YS_FIELD(struct ys_facts_rank, member, kind, unit, OPTIONAL, what)
static const struct ys_field rank_fields[] = {
    YS_FIELD(struct ys_facts_rank, rank, YS_FIELD_INT, "1", 0, "counted from 0"),
    YS_FIELD(struct ys_facts_rank, node, YS_FIELD_INT, "1", LACKS, "host of the run; absent where there is one"),
    YS_FIELD(struct ys_facts_rank, host, YS_FIELD_TEXT, NULL, LACKS, "its name"),
    YS_FIELD_NAMED(struct ys_facts_rank, status, &ys_run_statuses, 0, "how it ended"),
    YS_FIELD_NAMED(struct ys_facts_rank, stage, &ys_stages, OPTIONAL | YS_FIELD_OTHER, "where it was then"),
    OF_RANK(exit_code, YS_FIELD_INT, NULL, "of the adapter; null when a signal ended it"),
    OF_RANK(signal, YS_FIELD_INT, NULL, "that signal"),
    OF_RANK(message, YS_FIELD_TEXT, NULL, "why it is not ok"),
    OF_RANK(log_tail, YS_FIELD_TEXT, NULL, "the last lines that it printed"),
    OF_RANK(steps_done, YS_FIELD_INT, "1", "steps"),
    OF_RANK(rate_per_s, YS_FIELD_REAL, "1/s", "rows of its own, after the first step; null: none were"),
    OF_RANK(cpu_s, YS_FIELD_REAL, "s", "processor time"),
    OF_RANK(cpu_wait_s, YS_FIELD_REAL, "s", "threads were ready and had no CPU, summed"),
    OF_RANK(rss_peak_bytes, YS_FIELD_INT, "B", "most memory that its processes held"),
    OF_RANK(threads_peak, YS_FIELD_INT, "1", "most threads at once"),
    OF_RANK(compute_s, YS_FIELD_REAL, "s", "of a step: forward and backward, and the next two where they are null"),
    OF_RANK(communication_s, YS_FIELD_REAL, "s", "of a step: all had their gradients, and not yet their mean"),
    OF_RANK(waiting_s, YS_FIELD_REAL, "s", "of a step: for the gradients of the slowest rank"),
    OF_RANK(optimizer_s, YS_FIELD_REAL, "s", "of a step: clipping and the update"),
    OF_RANK(framework_s, YS_FIELD_REAL, "s", "of a step: between the update and the next forward pass"),
    OF_RANK(input_s, YS_FIELD_REAL, "s", "of a step: for its rows"),
    OF_RANK(rest_s, YS_FIELD_REAL, "s", "of a step: between blocks"),
    OF_RANK(sent_bytes, YS_FIELD_REAL, "B", "of a step: to other ranks"),
    YS_FIELD_OF(struct ys_facts_rank, collectives, YS_FIELD_OBJECT_OWNED, &ys_facts_collectives_record, LACKS,
                "what it did in collectives"),
    OF_RANK(cpus, YS_FIELD_INTS, NULL, "CPUs that it was bound to"),
};
const struct ys_record ys_facts_rank_record = YS_RECORD("rank", struct ys_facts_rank, rank_fields);

#define OF_NODE(member, kind, unit, what) YS_FIELD(struct ys_facts_node, member, kind, unit, OPTIONAL, what)
static const struct ys_field node_fields[] = {
    OF_NODE(node, YS_FIELD_INT, NULL, "which host, counted from 0"),
    OF_NODE(host, YS_FIELD_TEXT, NULL, "its name"),
    OF_NODE(cpu, YS_FIELD_TEXT, NULL, "model of its processor"),
    OF_NODE(kernel, YS_FIELD_TEXT, NULL, "release of its kernel"),
    OF_NODE(cpus, YS_FIELD_INT, "1", "that it may use"),
    OF_NODE(memory_bytes, YS_FIELD_INT, "B", "that it may use"),
    OF_NODE(clock_offset_ns, YS_FIELD_INT, "ns", "its clock less that of the study's host, before the run"),
    OF_NODE(clock_error_ns, YS_FIELD_INT, "ns", "error of that, at most"),
    OF_NODE(clock_drift, YS_FIELD_REAL, "1", "what its clock gained, as a part of the time that passed"),
    OF_NODE(clock_looks, YS_FIELD_INT, "1", "at its clock, before, during and after the run; 0 of one clock"),
    OF_NODE(machine, YS_FIELD_INT, NULL, "the first node that has the same kernel"),
};
const struct ys_record ys_facts_node_record = YS_RECORD("node", struct ys_facts_node, node_fields);

#define OF_NETWORK(member, kind, unit, flags, what) YS_FIELD(struct ys_facts_network, member, kind, unit, flags, what)
static const struct ys_field network_fields[] = {
    OF_NETWORK(space, YS_FIELD_TEXT, NULL, OPTIONAL, "kernel and network namespace: equal texts are one"),
    OF_NETWORK(ranks, YS_FIELD_INTS, NULL, 0, "that have their connections there"),
    OF_NETWORK(node, YS_FIELD_INT, NULL, LACKS, "host of the run; absent where there is one"),
    OF_NETWORK(host, YS_FIELD_TEXT, NULL, LACKS, "its name"),
    OF_NETWORK(steps, YS_FIELD_INT, "steps", 0, "after the first, which all that follows is of"),
    YS_FIELD_OF(struct ys_facts_network, interfaces, YS_FIELD_LIST, &ys_interface_record, 0, "what passed"),
    OF_NETWORK(reason, YS_FIELD_TEXT, NULL, OPTIONAL, "why nothing is known of them"),
};
const struct ys_record ys_facts_network_record = YS_RECORD("network", struct ys_facts_network, network_fields);

#define OF_MACHINE(member, kind, unit, what) YS_FIELD(struct ys_facts_machine, member, kind, unit, OPTIONAL, what)
static const struct ys_field machine_fields[] = {
    OF_MACHINE(node, YS_FIELD_INT, NULL, "the first of its hosts"),
    OF_MACHINE(host, YS_FIELD_TEXT, NULL, "the name of that"),
    OF_MACHINE(used_s, YS_FIELD_REAL, "s", "processor time of its ranks"),
    OF_MACHINE(harness_s, YS_FIELD_REAL, "s", "of yardstick's processes beside them"),
    OF_MACHINE(cpu_wait_s, YS_FIELD_REAL, "s", "the ranks' threads were ready and had no CPU"),
    OF_MACHINE(threads_busy, YS_FIELD_REAL, "threads", "of its ranks, that did most of the work"),
    OF_MACHINE(disturbance, YS_FIELD_JSON, NULL, "what else went on there"),
};
const struct ys_record ys_facts_machine_record = YS_RECORD("machine", struct ys_facts_machine, machine_fields);

#define OF_TAKEN(member, kind, unit, what) YS_FIELD(struct ys_facts_taken, member, kind, unit, OPTIONAL, what)
static const struct ys_field taken_fields[] = {
    OF_TAKEN(run_s, YS_FIELD_REAL, "s", "from the run, at most; null: nobody knows"),
    OF_TAKEN(work_s, YS_FIELD_REAL, "s", "from its steps after the first, or its requests; null: nobody knows"),
    OF_TAKEN(share, YS_FIELD_REAL, "1", "of the time of its CPUs while it worked; null: nobody knows"),
    YS_FIELD(struct ys_facts_taken, by_host, YS_FIELD_FLAG, NULL, 0, "by nothing but the hypervisor"),
};
const struct ys_record ys_facts_taken_record = YS_RECORD("taken", struct ys_facts_taken, taken_fields);

#define OF_TURNS(member, unit, what) YS_FIELD(struct ys_facts_turns, member, YS_FIELD_INT, unit, OPTIONAL, what)
static const struct ys_field turns_fields[] = {
    OF_TURNS(members, "1", "that took turns"),
    OF_TURNS(place, NULL, "in the order in which they were started, from 0"),
    OF_TURNS(pairs, "1", "of cycles, in each of which every member has a turn"),
    OF_TURNS(disturbed, "1", "of these, during which others used the machine"),
    OF_TURNS(dropped, "1", "of these, that do not count: all, or none where they are more than half of the pairs"),
    YS_FIELD(struct ys_facts_turns, block_cut, YS_FIELD_FLAG, NULL, 0, "turns had fewer steps than the job's block"),
    OF_TURNS(settled, "1", "steps to settle in, of the cycles that count"),
    OF_TURNS(settled_ns, "ns", "that these took"),
    OF_TURNS(waited_ns, "ns", "while others had their turn"),
    OF_TURNS(ahead_ns, "ns", "processor time that it used meanwhile"),
    YS_FIELD_NAMED(struct ys_facts_turns, hold, &ys_holds, OPTIONAL, "how it was kept from working meanwhile, at last"),
};
const struct ys_record ys_facts_turns_record = YS_RECORD("turns", struct ys_facts_turns, turns_fields);

static const struct ys_field work_fields[] = {
    YS_FIELD(struct ys_facts_work, parameters, YS_FIELD_INT, "1", OPTIONAL, "of the network"),
    YS_FIELD(struct ys_facts_work, multiply_adds, YS_FIELD_INT, "1", OPTIONAL, "forward, of one row"),
    YS_FIELD(struct ys_facts_work, positions, YS_FIELD_INT, "1", LACKS, "of a row, each with a class"),
};
static const struct ys_record work_record = YS_RECORD("work", struct ys_facts_work, work_fields);

#define FACT(member, kind, unit, flags, what)   YS_FIELD(struct ys_facts, member, kind, unit, flags, what)
#define PART(member, kind, record, flags, what) YS_FIELD_OF(struct ys_facts, member, kind, record, flags, what)
static const struct ys_field facts_fields[] = {
    YS_FIELD_NAMED(struct ys_facts, status, &ys_run_statuses, 0, "how it ended"),
    YS_FIELD_NAMED(struct ys_facts, stage, &ys_stages, OPTIONAL | YS_FIELD_OTHER, "where it was then"),
    FACT(exit_code, YS_FIELD_INT, NULL, OPTIONAL, "of the adapter; null when a signal ended it"),
    FACT(signal, YS_FIELD_INT, NULL, OPTIONAL, "that signal"),
    FACT(message, YS_FIELD_TEXT, NULL, OPTIONAL, "why it is not ok"),
    FACT(log_tail, YS_FIELD_TEXT, NULL, OPTIONAL, "the last lines that the adapter printed"),
    FACT(warnings, YS_FIELD_TEXTS, NULL, OPTIONAL, "sentences"),
    FACT(round, YS_FIELD_INT, NULL, OPTIONAL, "counted from 0"),
    PART(times, YS_FIELD_OBJECT, &times_record, OPTIONAL, "when phases began and ended, by the monotonic clock"),
    FACT(hello, YS_FIELD_JSON, NULL, OPTIONAL, "what the adapter said of itself"),
    FACT(opened, YS_FIELD_JSON, NULL, OPTIONAL, "what it said of the plan"),
    PART(usage, YS_FIELD_OBJECT_OWNED, &usage_record, OPTIONAL, "the kernel's account; null when nothing was started"),
    PART(feeder, YS_FIELD_OBJECT_OWNED, &feeder_record, LACKS, "what fed it; null where rows lie in a file"),
    PART(observed, YS_FIELD_OBJECT, &observed_record, OPTIONAL, "what was seen from outside"),
    PART(observation, YS_FIELD_OBJECT_OWNED, &ys_observation_record, LACKS, "what the control group and the like say"),
    PART(phase_cpu, YS_FIELD_OBJECT_OWNED, &phase_cpu_record, LACKS, "processor time of each phase"),
    PART(perf, YS_FIELD_OBJECT_OWNED, &ys_facts_perf_record, LACKS, "processor time by what its code is of"),
    FACT(steps_done, YS_FIELD_INT, "1", OPTIONAL, "steps, or requests"),
    FACT(weights, YS_FIELD_TEXT, NULL, OPTIONAL, "file of the final weights; null when none were saved"),
    PART(checkpoints, YS_FIELD_LIST, &checkpoint_record, OPTIONAL, "weights saved between steps"),
    PART(target, YS_FIELD_OBJECT_OWNED, &ys_facts_target_record, LACKS, "that it was to end at; absent of other runs"),
    PART(harness, YS_FIELD_OBJECT, &harness_record, OPTIONAL, "what yardstick itself took"),
    FACT(disturbed, YS_FIELD_TEXTS, NULL, LACKS, "what of that passed its share"),
    PART(taken, YS_FIELD_OBJECT_OWNED, &ys_facts_taken_record, LACKS, "from a disturbed run; absent of a quiet one"),
    PART(turns, YS_FIELD_OBJECT_OWNED, &ys_facts_turns_record, LACKS, "of a run by turns"),
    FACT(disturbance, YS_FIELD_JSON, NULL, OPTIONAL, "what else went on on the machine"),
    PART(ranks, YS_FIELD_LIST, &ys_facts_rank_record, LACKS, "of several processes; absent of one"),
    PART(nodes, YS_FIELD_LIST, &ys_facts_node_record, LACKS, "of several hosts; absent of one"),
    PART(networks, YS_FIELD_LIST, &ys_facts_network_record, LACKS, "what passed by interface; absent of one process"),
    PART(machines, YS_FIELD_LIST, &ys_facts_machine_record, LACKS, "what else they did; absent of one machine"),
    PART(collectives, YS_FIELD_OBJECT_OWNED, &ys_facts_collectives_record, LACKS, "of a rank by itself; see ranks"),
    PART(work, YS_FIELD_OBJECT_OWNED, &work_record, LACKS, "what it was asked to do"),
    EVALUATION(struct ys_facts),
    PART(agreement, YS_FIELD_OBJECT_OWNED, &ys_facts_agreement_record, LACKS,
         "of same weights: predictions against the built-in engine's"),
    PART(robustness, YS_FIELD_OBJECT_OWNED, &ys_facts_robustness_record, LACKS, "what attacks did to it"),
    PART(stored, YS_FIELD_OBJECT_OWNED, &ys_facts_stored_record, LACKS, "what it saved and loaded again, in mode size"),
};
const struct ys_record ys_facts_record = YS_RECORD("facts", struct ys_facts, facts_fields);

void ys_facts_add_deviation(struct ys_facts *facts, const char *text)
{
    ys_json *deviations = facts->said.deviations ? ys_json_copy(facts->said.deviations) : ys_json_array();
    ys_json_append(deviations, ys_json_string(text));
    if (!facts->opened)
        facts->opened = ys_json_object();
    ys_json_set(facts->opened, "deviations", deviations);
    ys_facts_derive(facts);
}

void ys_facts_derive(struct ys_facts *facts)
{
    const ys_json *hello = facts->hello, *opened = facts->opened, *pauses = facts->times.pauses;
    facts->said = (struct ys_facts_self_report){
        .framework = ys_json_get_text(hello, "framework", NULL),
        .version = ys_json_get_text(hello, "version", NULL),
        .runtime = ys_json_get_text(hello, "runtime", NULL),
        .no_work = ys_json_get_bool(hello, "no_work", false),
        .has_graph = ys_json_get_bool(opened, "graph_from_file", true),
        .parameters = ys_json_get_int(opened, "parameters", YS_FIELD_NONE),
        .threads = ys_json_get_int(opened, "threads", YS_FIELD_NONE),
        .libraries = ys_json_get(opened, "libraries"),
        .deviations = ys_json_get(opened, "deviations"),
        .scales = ys_json_get(opened, "scales"),
        .untimed = ys_json_get_text(opened, "untimed", NULL),
        .exchange = ys_json_get_text(opened, "exchange", NULL),
        .exchange_bytes = ys_json_get_int(opened, "exchange_bytes", YS_FIELD_NONE),
        .download_code_bytes = ys_json_get_int(opened, "download_code_bytes", YS_FIELD_NONE),
        .software = ys_json_get_text(opened, "software", NULL),
        .download_model_bytes = ys_json_get_int(opened, "download_model_bytes", YS_FIELD_NONE),
    };
    facts->times.paused_ns = 0;
    for (size_t i = 0; i < ys_json_size(pauses); i++) {
        const ys_json *pause = ys_json_at(pauses, i);
        facts->times.paused_ns += ys_json_integer(ys_json_at(pause, 1), 0) - ys_json_integer(ys_json_at(pause, 0), 0);
    }
}

void ys_facts_init(struct ys_facts *facts)
{
    ys_record_init(&ys_facts_record, facts);
    ys_facts_derive(facts);
}

void ys_facts_fini(struct ys_facts *facts)
{
    ys_record_fini(&ys_facts_record, facts);
}

ys_status ys_facts_read(const ys_json *json, const char *label, struct ys_facts *facts)
{
    ys_status status = ys_record_read(&ys_facts_record, json, label, facts);
    ys_facts_derive(facts);
    return status;
}

ys_status ys_facts_parse(const char *text, size_t size, const char *label, struct ys_facts *facts)
{
    ys_status status = ys_record_parse(&ys_facts_record, text, size, label, facts);
    ys_facts_derive(facts);
    return status;
}

ys_status ys_facts_copy(const struct ys_facts *facts, struct ys_facts *copy)
{
    ys_status status = ys_record_copy(&ys_facts_record, facts, copy);
    ys_facts_derive(copy);
    return status;
}

void ys_facts_add_checkpoint(struct ys_facts *facts, int64_t step, const char *path)
{
    struct ys_facts_checkpoint *made = ys_list_add(&checkpoint_record, &facts->checkpoints);
    made->step = step;
    made->path = ys_strdup(path);
}
