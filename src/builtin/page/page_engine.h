/* The engine as a script calls it that has it as a WebAssembly module (adapters/web/builtin-web.js): one engine at a
 * time, numbers and addresses alone, on one thread. Functions that return int give 0 or a status of base/status.h, with
 * the sentence in ys_page_error(). Addresses hold until the next ys_page_open(). */
#ifndef YS_BUILTIN_PAGE_ENGINE_H
#define YS_BUILTIN_PAGE_ENGINE_H

#include <stdint.h>

const char *ys_page_error(void);
const char *ys_page_version(void);
/** Operator `index`, from 0, of those that some back end has in single precision; NULL behind the last. */
const char *ys_page_op(int index);
/** Opens an engine, in place of the one before, for `plan`, the text of a plan (docs/protocol.md), whose graph lies in
 * the file `graph` of the module's own file system. `backend`: "ref" or "simd"; "" the first that has all of it.
 * Parameters begin as zeros. YS_EUNSUPPORTED: more than one thread, a quantised network, a target that is not one class
 * a row, or what the engine has not. */
int ys_page_open(const char *plan, const char *graph, const char *backend);
/** "ref" or "simd"; what vectors it computes with. */
const char *ys_page_backend(void);
const char *ys_page_level(void);
/** Where the rows of a batch are to be written, in the type of the data. */
void *ys_page_input(void);
/** Where their classes are to be written. */
int64_t *ys_page_target(void);
/** Logits of the rows that were written. */
int ys_page_infer(void);
/** The same and the loss; gradients too; a step at that rate: of an engine that trains. `trains`: 1 for the statistics
 * of the batch, 0 for the running ones. */
int ys_page_forward(int trains);
int ys_page_backward(int trains);
int ys_page_step(double lr);
double ys_page_loss(void); /* of the last of these */
/** The optimizer and its counter as they were at first; parameters are set anew by whoever asks. */
void ys_page_reset(void);
/** Of the last forward pass: [batch, classes], double in f64, else float. */
const void *ys_page_logits(void);
int ys_page_classes(void);
int ys_page_real_bytes(void); /* of a logit: 8 or 4 */
/** Where parameter `param`, by its index in the graph, is written before ys_page_set(), and what it then holds. NULL:
 * there is no memory, or no such parameter. `real_bytes`: 4 for float, 8 for double. */
void *ys_page_place(int param, int real_bytes);
int ys_page_set(int param, int real_bytes);
/** The parameter as it then stands at ys_page_place(). */
int ys_page_get(int param, int real_bytes);
/** Likewise its gradient of the last backward pass. */
int ys_page_gradient(int param, int real_bytes);

#endif
