#include "probe/anchor.h"

#include <math.h>
#include <string.h>

#define ANCHOR                            struct ys_anchor
#define SPEED(member, unit, what)         YS_FIELD(ANCHOR, member, YS_FIELD_REAL, unit, 0, what)
#define NUMBER(member, unit, flags, what) YS_FIELD(ANCHOR, member, YS_FIELD_INT, unit, flags, what)
static const struct ys_field fields[] = {
    NUMBER(version, NULL, 0, "of the kernels"),
    YS_FIELD(ANCHOR, compiler, YS_FIELD_TEXT, NULL, 0, "that they were compiled by"),
    NUMBER(started_s, "s", 0, "since 1970"),
    YS_FIELD(ANCHOR, seconds, YS_FIELD_REAL, "s", 0, "that it took"),
    NUMBER(rounds, "1", YS_FIELD_NULL, "of the study that were behind it"),
    SPEED(arithmetic_per_s, "1/s", "multiplications and additions in double"),
    SPEED(memory_bytes_per_s, "B/s", "read from memory"),
    SPEED(branches_per_s, "1/s", "jumps that no predictor knows"),
};
const struct ys_record ys_anchor_record = YS_RECORD("anchor", ANCHOR, fields);

static double speed_of(const struct ys_anchor *anchor, int at)
{
    return at == 0 ? anchor->arithmetic_per_s : at == 1 ? anchor->memory_bytes_per_s : anchor->branches_per_s;
}

static bool counts(const struct ys_anchor *anchor)
{
    for (int k = 0; k < YS_ANCHOR_KERNELS; k++)
        if (!(speed_of(anchor, k) > 0))
            return false;
    return anchor->compiler != NULL;
}

void ys_anchor_range(const ys_json *anchors, struct ys_anchor_range *range)
{
    *range = (struct ys_anchor_range){0};
    for (size_t i = 0; i < ys_json_size(anchors); i++) {
        struct ys_anchor anchor;
        ys_record_glance(&ys_anchor_record, ys_json_at(anchors, i), &anchor);
        if (!counts(&anchor))
            continue;
        if (range->count == 0) {
            range->version = anchor.version;
            range->compiler = anchor.compiler;
        }
        if (anchor.version != range->version || strcmp(anchor.compiler, range->compiler) != 0)
            continue;
        for (int k = 0; k < YS_ANCHOR_KERNELS; k++) {
            const double speed = speed_of(&anchor, k);
            range->low[k] = range->count ? fmin(range->low[k], speed) : speed;
            range->high[k] = range->count ? fmax(range->high[k], speed) : speed;
        }
        range->count++;
    }
}

bool ys_anchor_compare(const struct ys_anchor_range *base, const struct ys_anchor_range *candidate, double ends[2])
{
    ends[0] = ends[1] = 1;
    if (!base->count || !candidate->count || base->version != candidate->version ||
        strcmp(base->compiler, candidate->compiler) != 0)
        return false;
    for (int k = 0; k < YS_ANCHOR_KERNELS; k++) {
        ends[0] = fmin(ends[0], candidate->low[k] / base->high[k]);
        ends[1] = fmax(ends[1], candidate->high[k] / base->low[k]);
    }
    return true;
}
