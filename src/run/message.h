/* What an adapter says: the members that docs/protocol.md gives, and their types. */
#ifndef YS_RUN_MESSAGE_H
#define YS_RUN_MESSAGE_H

#include "base/json.h"
#include "base/status.h"
#include <stdbool.h>

/** YS_EPROTOCOL: a member of `message` is of another type, or one is missing that the work cannot go on without.
 * Members and messages that docs/protocol.md does not know are fine. */
ys_status ys_message_check(const ys_json *message) YS_MUST_CHECK;

/** A message, borrowed from its JSON. Of its members only those of its own type are there. What it lacks, or has of
 * another type, is NULL, -1 or false; numbers are never below 0. */
struct ys_message {
    const char *type; /* "" where it has none */
    struct {
        int64_t protocol;
        const char *adapter, *framework, *version, *runtime;
        const ys_json *devices, *precisions, *ops, *optimizers, *features; /* arrays of texts */
        bool no_work;
    } hello;
    struct {
        int64_t parameters, threads;
        const ys_json *libraries, *deviations; /* arrays of texts */
        const char *untimed;
        const char *exchange;   /* how gradients are exchanged */
        int64_t exchange_bytes; /* of how many a step takes the mean */
        const char *network;    /* file of the network namespace of its connections */
    } opened;
    struct {
        const char *path;
        int64_t multiply_adds;
    } tensors;
    struct {
        int64_t first, count, t_start_ns, t_end_ns, input_ns;
        const ys_json *loss; /* array of numbers, or of the words for those that are not finite */
        const ys_json *began_ns, *ready_ns, *reduced_ns,
            *updated_ns;                 /* arrays, of one of several ranks that can tell */
        int64_t sent_bytes, exchange_ns; /* likewise */
    } block;
    struct {
        int64_t first, count, t_start_ns, t_end_ns;
        const ys_json *latency_ns;           /* array */
        const ys_json *prompt_ns, *token_ns; /* arrays, of rows that are answered piece by piece */
    } latencies;
    struct {
        const char *path;
        int64_t bytes;
    } saved;
    struct {
        const char *code, *stage, *op, *message;
    } error;
};
/** Reads `message`, which may be NULL: none came. */
void ys_message_read(const ys_json *message, struct ys_message *read);
/** Its type alone, "" where it has none. */
const char *ys_message_type(const ys_json *message);

/** Whether `list`, an array of texts or NULL, has `word`. */
bool ys_message_lists(const ys_json *list, const char *word);
/** Whether an adapter's `hello` lists the feature. */
bool ys_message_has_feature(const ys_json *hello, const char *feature);

#endif
