/* The machine's own speed at a moment: what `yardstick-builtin --anchor` says (bench/anchor_kernels.h). It costs about
 * a quarter of a second of one CPU. It sees one CPU at work alone: not how threads share caches and memory, and not the
 * wide instructions that matrix products take. */
#ifndef YS_PROBE_ANCHOR_H
#define YS_PROBE_ANCHOR_H

#include "base/json/record.h"

enum { YS_ANCHOR_KERNELS = 3 };

struct ys_anchor {
    int64_t version;   /* of the kernels */
    char *compiler;    /* that they were compiled by: one of another is not comparable */
    int64_t started_s; /* since 1970 */
    double seconds;    /* that it took */
    int64_t rounds;    /* of the study that were behind it; YS_FIELD_NONE outside of a study */
    double arithmetic_per_s, memory_bytes_per_s, branches_per_s;
};
extern const struct ys_record ys_anchor_record;

/** What those of a study say together: of each kernel the slowest and the fastest. */
struct ys_anchor_range {
    size_t count;
    int64_t version;
    const char *compiler; /* borrowed from the anchors */
    double low[YS_ANCHOR_KERNELS], high[YS_ANCHOR_KERNELS];
};
/** Of an array of anchors as JSON, which may be NULL; those of another version or compiler than the first are passed
 * over. */
void ys_anchor_range(const ys_json *anchors, struct ys_anchor_range *range);

/** By what ratio the machine of `candidate` may be faster than that of `base`: from the least that any kernel says to
 * the most, and 1 with them. False where they cannot be compared. */
bool ys_anchor_compare(const struct ys_anchor_range *base, const struct ys_anchor_range *candidate, double ends[2]);

#endif
