/* The messages of the adapter protocol (docs/protocol.md).
 * Made by tools/protocol.py from tools/protocol_messages.txt: change that. */
#ifndef YS_PROTOCOL_MESSAGES_H
#define YS_PROTOCOL_MESSAGES_H

#include "base/json/json.h"
#include <stdbool.h>
#include <stdint.h>

/* clang-format off */

/** Each question that needs an open plan: in capitals, its type, the type of the answer that ends it, of what may come
 * before that or NULL, and the mode that the plan must have: ANY, TRAIN or INFER. */
#define YS_QUESTIONS_OF_PLANS(Q) \
    Q(RESET, reset, "done", NULL, ANY) \
    Q(FORWARD, forward, "tensors", NULL, ANY) \
    Q(BACKWARD, backward, "tensors", NULL, TRAIN) \
    Q(STEP, step, "tensors", NULL, ANY) \
    Q(TRAIN, train, "done", "block", TRAIN) \
    Q(INFER, infer, "done", "latencies", INFER) \
    Q(INPUT_GRADIENT, input_gradient, "tensors", NULL, ANY) \
    Q(SAVE, save, "saved", NULL, ANY)

/** All that have an answer. */
#define YS_QUESTIONS(Q) \
    Q(HELLO, hello, "hello", NULL, ANY) \
    Q(OPEN, open, "opened", NULL, ANY) \
    YS_QUESTIONS_OF_PLANS(Q)

/** Each member of an answer: the message, the member, what it is, whether the work cannot go on without it. */
#define YS_MEMBERS(M) \
    M(hello, protocol, WHOLE, 1) \
    M(hello, adapter, TEXT, 0) \
    M(hello, framework, TEXT, 0) \
    M(hello, version, TEXT, 0) \
    M(hello, runtime, TEXT, 0) \
    M(hello, devices, TEXTS, 0) \
    M(hello, precisions, TEXTS, 0) \
    M(hello, ops, TEXTS, 0) \
    M(hello, optimizers, TEXTS, 0) \
    M(hello, features, TEXTS, 0) \
    M(hello, forms, TEXTS, 0) \
    M(hello, no_work, TRUTH, 0) \
    M(opened, parameters, WHOLE, 0) \
    M(opened, threads, WHOLE, 0) \
    M(opened, libraries, TEXTS, 0) \
    M(opened, deviations, TEXTS, 0) \
    M(opened, scales, TEXTS, 0) \
    M(opened, untimed, TEXT, 0) \
    M(opened, exchange, TEXT, 0) \
    M(opened, network, PATH, 0) \
    M(opened, exchange_bytes, WHOLE, 0) \
    M(opened, graph_from_file, TRUTH, 0) \
    M(opened, files, TEXTS, 0) \
    M(opened, clock_tick_ns, WHOLE, 0) \
    M(opened, clock_error_ns, WHOLE, 0) \
    M(opened, download_code_bytes, WHOLE, 0) \
    M(opened, download_model_bytes, WHOLE, 0) \
    M(opened, software, TEXT, 0) \
    M(tensors, path, PATH, 1) \
    M(tensors, multiply_adds, WHOLE, 0) \
    M(tensors, computed_ns, WHOLE, 0) \
    M(block, first, WHOLE, 1) \
    M(block, count, WHOLE, 1) \
    M(block, t_start_ns, WHOLE, 1) \
    M(block, t_end_ns, WHOLE, 1) \
    M(block, input_ns, WHOLE, 1) \
    M(block, loss, ARRAY, 1) \
    M(block, began_ns, ARRAY, 0) \
    M(block, ready_ns, ARRAY, 0) \
    M(block, reduced_ns, ARRAY, 0) \
    M(block, updated_ns, ARRAY, 0) \
    M(block, sent_bytes, WHOLE, 0) \
    M(block, exchange_ns, WHOLE, 0) \
    M(latencies, first, WHOLE, 1) \
    M(latencies, count, WHOLE, 1) \
    M(latencies, t_start_ns, WHOLE, 1) \
    M(latencies, t_end_ns, WHOLE, 1) \
    M(latencies, latency_ns, ARRAY, 1) \
    M(latencies, group, WHOLE, 0) \
    M(latencies, instructions, ARRAY, 0) \
    M(latencies, prompt_ns, ARRAY, 0) \
    M(latencies, token_ns, ARRAY, 0) \
    M(saved, path, PATH, 1) \
    M(saved, bytes, WHOLE, 0) \
    M(saved, parameters_as_said, WHOLE, 0) \
    M(error, code, TEXT, 1) \
    M(error, stage, TEXT, 0) \
    M(error, op, TEXT, 0) \
    M(error, message, TEXT, 0)

/** An answer, borrowed from its JSON. Of its members only those of its own type are there. What it lacks, or has of
 * another type, is NULL, -1 or false; numbers are never below 0; lists are JSON arrays. */
struct ys_message {
    const char *type; /* "" where it has none */
    struct {
        int64_t protocol;
        const char *adapter;
        const char *framework;
        const char *version;
        const char *runtime;
        const ys_json *devices;
        const ys_json *precisions;
        const ys_json *ops;
        const ys_json *optimizers;
        const ys_json *features;
        const ys_json *forms;
        bool no_work;
    } hello;
    struct {
        int64_t parameters;
        int64_t threads;
        const ys_json *libraries;
        const ys_json *deviations;
        const ys_json *scales;
        const char *untimed;
        const char *exchange;
        const char *network;
        int64_t exchange_bytes;
        bool graph_from_file;
        const ys_json *files;
        int64_t clock_tick_ns;
        int64_t clock_error_ns;
        int64_t download_code_bytes;
        int64_t download_model_bytes;
        const char *software;
    } opened;
    struct {
        const char *path;
        int64_t multiply_adds;
        int64_t computed_ns;
    } tensors;
    struct {
        int64_t first;
        int64_t count;
        int64_t t_start_ns;
        int64_t t_end_ns;
        int64_t input_ns;
        const ys_json *loss;
        const ys_json *began_ns;
        const ys_json *ready_ns;
        const ys_json *reduced_ns;
        const ys_json *updated_ns;
        int64_t sent_bytes;
        int64_t exchange_ns;
    } block;
    struct {
        int64_t first;
        int64_t count;
        int64_t t_start_ns;
        int64_t t_end_ns;
        const ys_json *latency_ns;
        int64_t group;
        const ys_json *instructions;
        const ys_json *prompt_ns;
        const ys_json *token_ns;
    } latencies;
    struct {
        const char *path;
        int64_t bytes;
        int64_t parameters_as_said;
    } saved;
    struct {
        const char *code;
        const char *stage;
        const char *op;
        const char *message;
    } error;
};

/* clang-format on */

#endif
