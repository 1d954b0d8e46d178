/* The message loop of an adapter written in C: it reads requests, checks them, counts steps, calls the adapter's own
 * functions and answers. docs/protocol.md has the messages. A program's main() is little more than
 *
 *     return ys_adapter_serve_environment(&my_ops, &my_self);
 */
#ifndef YS_PROTOCOL_ADAPTER_LOOP_H
#define YS_PROTOCOL_ADAPTER_LOOP_H

#include "base/json/json.h"
#include "base/status.h"
#include "protocol/block_message.h"
#include "protocol/plan.h"
#include "yardstick/protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What an adapter says of itself in `hello`; the lists end with NULL. Its features follow from its functions. */
struct ys_adapter_about {
    const char *adapter, *framework;
    const char *const *precisions, *const *ops, *const *optimizers;
    const char *const *forms; /* in which it saves and loads a whole model, its own first; NULL: in none */
    bool no_work;
    bool dist;  /* several processes train together: it reads the plan's `dist` */
    bool alone; /* and where its strategy says so they exchange nothing */
};

/** The logits of a request, where they lie: valid until the adapter is called again. */
struct ys_adapter_logits {
    const void *values; /* double where in_double, else float; NULL: it computes none */
    size_t count;
    bool in_double;
};

/** What an adapter can do. `self` is what was given to ys_adapter_serve(). A function that is NULL is answered by
 * `unsupported`. Those after `open` are called only between a successful `open` and `close`, and only as the plan's
 * mode allows: `backward`, `train` and `step` with a count above 0 in "train", `infer` in "infer" and "size". A
 * function that fails leaves its message in ys_error(); the status becomes the code of the error message (see
 * ys_adapter_error_code()). */
struct ys_adapter_ops {
    struct ys_adapter_about about;
    /** Gets ready for `plan` (borrowed until close; what ys_plan_read() says was checked) and adds parameters, threads,
     * libraries and deviations to `reply`. When an operator is lacking: YS_EUNSUPPORTED, with its name put into `reply`
     * as `op`. */
    ys_status (*open)(void *self, const struct ys_plan *plan, ys_json *reply);
    /** Weights, buffers and optimizer as they were after open. */
    ys_status (*reset)(void *self);
    /** Runs batch `batch` (0 to steps - 1) forward and writes x, y, logits and loss to the file `path`. May add
     * `multiply_adds` to `reply`. Changes no state. */
    ys_status (*forward)(void *self, int64_t batch, bool train_mode, const char *path, ys_json *reply);
    /** Writes loss and grad.* of a batch to the file `path`. Changes no state. */
    ys_status (*backward)(void *self, int64_t batch, bool train_mode, const char *path);
    /** Trains steps first to first + count - 1 (count may be 0), then writes every weight and buffer to the file
     * `path`. */
    ys_status (*step)(void *self, int64_t first, int64_t count, const char *path);
    /** Trains steps first to first + count - 1, count at least 1, as one measured block. */
    ys_status (*train)(void *self, int64_t first, int64_t count, struct ys_block *block);
    /** Answers one request: the rows of batch `batch`, from where they lie in memory to logits that the caller could
     * read, which it points to. It is timed from outside. */
    ys_status (*infer)(void *self, int64_t batch, struct ys_adapter_logits *logits);
    /** Where the plan has a prompt, in place of infer(): answers piece `piece` of the rows of batch `batch`, 0 the
     * prompt and i its i-th token, by what is kept of the pieces before it, which were asked for one after the other.
     * NULL: such a plan is YS_EUNSUPPORTED. `logits`: [batch, positions of the piece, classes]. */
    ys_status (*infer_piece)(void *self, int64_t batch, int64_t piece, struct ys_adapter_logits *logits);
    /** Reads a batch of the one input from the safetensors file `inputs` and writes `logits` to the file `path`,
     * computed as when evaluating; where there is a file `cotangent` (else NULL) also grad.NAME of that input, the
     * gradient of the sum of cotangent * logits by it; adds `computed_ns` to `reply`. Changes no state. */
    ys_status (*input_gradient)(void *self, const char *inputs, const char *cotangent, const char *path,
                                ys_json *reply);
    /** Writes every weight and buffer to the safetensors file `path`: as float32, or in_double, which is asked only in
     * a plan of precision f64. */
    ys_status (*save)(void *self, const char *path, bool in_double);
    /** The same with the optimizer's state beside them, under the names of docs/protocol.md ("save"); floats as the
     * plan's precision has them. */
    ys_status (*save_state)(void *self, const char *path);
    /** Writes the whole model to the file `path`, in one of `forms`, in a plan of mode "size"; `open` of a plan with
     * `stored` takes it from there. NULL where there are no forms. */
    ys_status (*save_form)(void *self, const char *form, const char *path);
    /** Called once for every successful open. */
    void (*close)(void *self);
};

/** Answers messages on the socket `fd` until `bye` or end of file.
 * @return the exit code of the program: 0, or 1 when the connection broke or carried rubbish (said on stderr). */
int ys_adapter_serve(const struct ys_adapter_ops *ops, void *self, int fd);
/** The same on the descriptor that the environment variable YARDSTICK_FD names; 2 when it names none (said on stderr).
 */
int ys_adapter_serve_environment(const struct ys_adapter_ops *ops, void *self);

/** What one of several says as `untimed` where they do not speak to each other. */
#define YS_ADAPTER_ALONE "its ranks exchange nothing"

/** Sets member `key` of `object` to an array of the strings in `names`, which ends with NULL. */
ys_status ys_adapter_set_names(ys_json *object, const char *key, const char *const *names);

/** The run status, as the protocol spells it, of a failure with `status` while message `stage` was being answered:
 * YS_EUNSUPPORTED unsupported, YS_ENOMEM oom_host, YS_EPROTOCOL protocol_error; YS_EINVAL build_failed in "open" and
 * protocol_error elsewhere; others load_failed in "open" and crashed elsewhere. */
const char *ys_adapter_error_code(ys_status status, const char *stage);

#endif
