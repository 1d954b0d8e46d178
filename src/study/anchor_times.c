#include "study/anchor_times.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/child.h"

#include <math.h>

/* A share of the study's time that is not seen in what it takes. */
static const double SHARE = 0.02;
/* What one takes, with the start of its program, before one was measured. */
static const double USUAL_S = 0.4;
static const double LIMIT_S = 60;

static ys_status ask(const char *program, struct ys_anchor *anchor)
{
    const char *const argv[] = {program, "--anchor", "--format=json", NULL};
    const struct ys_child_options options = {.is_own = true, .timeout_s = LIMIT_S};
    struct ys_buf output = {0};
    ys_json *json = NULL;
    int code = 0;
    ys_status status = ys_child_run(argv, &options, &output, &code);
    if (status == YS_OK && code != 0)
        status = ys_fail(YS_EIO, "yardstick-builtin --anchor ended with exit code %d", code);
    if (status == YS_OK)
        status = ys_json_parse(ys_buf_text(&output), output.size, "what yardstick-builtin --anchor says", &json);
    if (status == YS_OK)
        status = ys_record_read(&ys_anchor_record, json, "what yardstick-builtin --anchor says", anchor);
    ys_json_free(json);
    ys_buf_free(&output);
    return status;
}

ys_status ys_anchor_measure(struct ys_anchor *anchor)
{
    char *program = ys_find_support("yardstick-builtin");
    ys_record_init(&ys_anchor_record, anchor);
    ys_status status = program ? ask(program, anchor)
                               : ys_fail(YS_ENOTFOUND, "the program yardstick-builtin is not found beside yardstick; "
                                                       "build or install it again");
    ys_free(program);
    return status;
}

/* Between rounds there has to be room left for the one at the end. */
static bool has_room(const struct ys_study *study, enum ys_anchor_moment moment)
{
    const double passed_s = (double)(ys_time_ns() - study->opened_ns) * 1e-9;
    const double one_s = study->anchor_s > 0 ? study->anchor_s / (double)study->anchors_made : USUAL_S;
    const double wanted_s = study->anchor_s + one_s * (moment == YS_ANCHOR_BETWEEN ? 2 : 1);
    if (study->keys.anchor == YS_ANCHORS_ON && moment != YS_ANCHOR_BETWEEN)
        return true;
    return study->keys.anchor != YS_ANCHORS_OFF && wanted_s <= SHARE * passed_s;
}

ys_status ys_study_anchor(struct ys_study *study, enum ys_anchor_moment moment, int64_t rounds)
{
    struct ys_anchor anchor;
    if (!has_room(study, moment) || study->anchor_failed)
        return YS_OK;
    const uint64_t begin_ns = ys_time_ns();
    ys_progress("measuring the machine's own speed");
    ys_status status = ys_anchor_measure(&anchor);
    study->anchor_s += (double)(ys_time_ns() - begin_ns) * 1e-9;
    study->anchors_made++;
    if (status == YS_EINTR)
        return status;
    if (status != YS_OK) {
        study->anchor_failed = true;
        ys_log_warn("the machine's own speed is not measured: %s", ys_error());
        return YS_OK;
    }
    struct ys_anchor *kept = ys_list_add(&ys_anchor_record, &study->anchors);
    anchor.rounds = rounds;
    *kept = anchor;
    return YS_OK;
}

struct stored_anchors {
    const ys_json *anchors;
};
static const struct ys_field kept_fields[] = {
    YS_FIELD(struct stored_anchors, anchors, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "of earlier sessions")};
static const struct ys_record kept_record = YS_RECORD("timing", struct stored_anchors, kept_fields);

void ys_study_keep_anchors(struct ys_study *study, const ys_json *timing)
{
    struct stored_anchors kept;
    ys_record_glance(&kept_record, timing, &kept);
    for (size_t i = 0; i < ys_json_size(kept.anchors); i++) {
        struct ys_anchor *anchor = ys_list_add(&ys_anchor_record, &study->anchors);
        if (ys_record_read(&ys_anchor_record, ys_json_at(kept.anchors, i), "a stored anchor", anchor) != YS_OK)
            study->anchors.count--; /* it is as after ys_record_init(): nothing is lost with it */
    }
}
