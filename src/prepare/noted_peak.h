/* How fast one CPU of this machine computes at best, as measured here by `yardstick doctor --peak`. */
#ifndef YS_PREPARE_NOTED_PEAK_H
#define YS_PREPARE_NOTED_PEAK_H

#include "base/stored/formats.h"
#include "base/json/json.h"
#include "base/status.h"

/* Operations that one thread did in a second of matrix products; NaN: not measured. */
struct ys_peak_measured {
    double per_s[YS_PRECISION_COUNT];
};

/** Runs yardstick-builtin --peak, `repeat` times each product, and keeps what it says with date and host. *peak is new:
 * its object, with these two members. YS_ENOTFOUND, YS_EINTR, YS_EIO; YS_EUNSUPPORTED without the library whose
 * products they are. */
ys_status ys_peak_measure(int repeat, ys_json **peak) YS_MUST_CHECK;
/** What was kept of this machine. */
void ys_peak_read(struct ys_peak_measured *measured);

#endif
