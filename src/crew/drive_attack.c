#include "crew/drive_attack.h"

#include "base/mem.h"

/* One of a run's questions after the other. */
struct driven {
    struct ys_run *run;
    struct ys_gradient_asker asker;
    double *logits; /* [batch, classes] */
};

static ys_status ask(struct driven *driven, const float *images, const float *cotangent, size_t count, float *logits,
                     float *gradient)
{
    const size_t numbers = count * (size_t)driven->asker.form->classes;
    YS_TRY(ys_gradient_ask(&driven->asker, images, cotangent, count, logits ? driven->logits : NULL, gradient));
    ys_run_note_gradient(driven->run, driven->asker.sent_ns, driven->asker.answered_ns);
    for (size_t i = 0; logits && i < numbers; i++)
        logits[i] = (float)driven->logits[i];
    return YS_OK;
}

static ys_status ask_logits(void *of, const float *images, size_t count, float *logits)
{
    return ask(of, images, NULL, count, logits, NULL);
}

static ys_status ask_gradient(void *of, const float *images, const float *cotangent, size_t count, float *logits,
                              float *gradient)
{
    return ask(of, images, cotangent, count, logits, gradient);
}

/* An attack that failed, with a session that did not: its answers were none to go on with. */
static ys_status note_failure(struct ys_run *run, ys_status status)
{
    if (status == YS_OK || ys_session_has_failed(run->session) || status == YS_EINTR || status == YS_EINTERNAL)
        return status;
    char *message = ys_strdup(ys_error());
    status = ys_session_fail(run->session, YS_RUN_WRONG_OUTPUT, "%s", message);
    ys_free(message);
    return status;
}

ys_status ys_run_drive_attack(struct ys_run *run)
{
    const struct ys_run_attack *attack = run->spec->attack;
    const struct ys_gradient_form *form = &attack->form;
    struct driven driven = {.run = run,
                            .logits = ys_alloc((size_t)(form->shape[0] * form->classes), sizeof *driven.logits)};
    const struct ys_attacked model = {.of = &driven,
                                      .logits = ask_logits,
                                      .gradient = ask_gradient,
                                      .pixels = ys_gradient_pixels(form),
                                      .classes = (size_t)form->classes,
                                      .batch = (size_t)form->shape[0],
                                      .channels = form->shape[1],
                                      .height = form->shape[2],
                                      .width = form->shape[3]};
    ys_gradient_asker_open(run->session, form, run->folder, run->spec->plan->precision == YS_PRECISION_F64,
                           &driven.asker);
    const ys_status status = note_failure(run, attack->drive(attack->of, &model));
    *attack->times = driven.asker.times;
    ys_gradient_asker_close(&driven.asker);
    ys_free(driven.logits);
    return status;
}
