/* The machine's own speed beside a study: probe/anchor.h, at its start, between its rounds and at its end. */
#ifndef YS_STUDY_ANCHOR_TIMES_H
#define YS_STUDY_ANCHOR_TIMES_H

#include "probe/anchor.h"
#include "study/state.h"

enum ys_anchor_moment { YS_ANCHOR_START, YS_ANCHOR_BETWEEN, YS_ANCHOR_END };

/** Runs yardstick-builtin --anchor. `anchor` is overwritten. YS_ENOTFOUND, YS_EIO, YS_EINTR. */
ys_status ys_anchor_measure(struct ys_anchor *anchor) YS_MUST_CHECK;

/** Measures one into the study's `anchors`, `rounds` of which are behind it, as the key `anchor` says: `auto` where all
 * of them together stay below 2 % of the study's time so far, `on` also at start and end whatever they cost, `off`
 * never. What keeps an anchor from being measured is said once and is no failure of the study, but for YS_EINTR. */
ys_status ys_study_anchor(struct ys_study *study, enum ys_anchor_moment moment, int64_t rounds) YS_MUST_CHECK;
/** Takes over what earlier sessions measured. */
void ys_study_keep_anchors(struct ys_study *study, const ys_json *timing);

#endif
