/* What an attack asks of a session whose plan is open: the question `input_gradient` of docs/protocol.md, with its
 * files. A session answers batches of the plan's size: fewer images are filled up with the first of them. */
#ifndef YS_CREW_GRADIENT_QUESTION_H
#define YS_CREW_GRADIENT_QUESTION_H

#include "base/stored/safetensors.h"
#include "session/session.h"

/** What images and logits of a network are. */
struct ys_gradient_form {
    const char *input; /* the name of its one input */
    size_t rank;
    int64_t shape[YS_MAX_RANK]; /* of a batch of it; rows first */
    int64_t classes;
    double unit; /* stored pixels are those of an attack times this: 255 */
};

/** How long questions took that asked for a gradient, all together: with their files and messages, and what of that the
 * adapter says it computed. */
struct ys_gradient_times {
    int64_t questions, asked_ns;
    int64_t computed_ns; /* -1: it did not say of each */
};

struct ys_gradient_asker {
    struct ys_session *session;
    const struct ys_gradient_form *form; /* borrowed, as the next */
    const char *folder;                  /* that the adapter writes to; what it is asked lies there too */
    bool in_double;                      /* the plan is of f64 */
    uint64_t sent_ns, answered_ns;       /* of the last question */
    struct ys_gradient_times times;      /* of all that asked for a gradient */
    /* Owned: */
    char *images_path, *cotangent_path;
    float *images;   /* [batch, pixels] */
    void *cotangent; /* [batch, classes], double or float */
};

void ys_gradient_asker_open(struct ys_session *session, const struct ys_gradient_form *form, const char *folder,
                            bool in_double, struct ys_gradient_asker *asker);
void ys_gradient_asker_close(struct ys_gradient_asker *asker); /* a zeroed one is fine */

size_t ys_gradient_pixels(const struct ys_gradient_form *form); /* of an image */

/** Asks of at most a batch of images, [count, pixels] in [0, 1]. logits [out]: [count, classes], may be NULL; with a
 * cotangent, [count, classes], gradient [out]: [count, pixels], by pixels of [0, 1]. Failures are those of
 * ys_session_request(), which include answers of another form. */
ys_status ys_gradient_ask(struct ys_gradient_asker *asker, const float *images, const float *cotangent, size_t count,
                          double *logits, float *gradient) YS_MUST_CHECK;

#endif
