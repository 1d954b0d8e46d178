/* Changes of pictures that no adversary makes: noise, blur, weather, geometry, marks and compression, by severity.
 *
 * Grey pictures have the 15 kinds of MNIST-C, colour ones the 14 of CIFAR-10-C but for frost, which is photographs:
 * from formulas, with the published parameters. What is drawn by lot hangs on seed, kind and row alone, so that
 * everybody sees the same pictures, and a picture changes further with the severity rather than otherwise. The
 * published generators set no seed, and what is theirs of other libraries' is not repeated bit by bit:
 * docs/robustness.md says each difference.
 *
 *     MNIST-C     Mu and Gilmer, "MNIST-C: a robustness benchmark for computer vision", arXiv 1906.02337
 *     CIFAR-10-C  Hendrycks and Dietterich, "Benchmarking neural network robustness to common corruptions and
 *                 perturbations", ICLR 2019
 *
 * Memory must suffice (base/mem.h). */
#ifndef YS_ROBUST_CORRUPT_CORRUPTION_H
#define YS_ROBUST_CORRUPT_CORRUPTION_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { YS_SEVERITIES = 5, YS_CORRUPTIONS_MOST = 15, YS_CORRUPTED_SIDE_LEAST = 8 };

/** [channels, height, width] of a picture, as everywhere here. */
struct ys_picture_shape {
    int64_t channels, height, width;
};

/** YS_EINVAL: such a picture cannot be corrupted: it has other than one or three channels, or fewer than
 * YS_CORRUPTED_SIDE_LEAST pixels a side. */
ys_status ys_corruption_check(const struct ys_picture_shape *shape) YS_MUST_CHECK;
/** How many kinds there are for pictures of so many channels; 0: none. */
size_t ys_corruption_count(int64_t channels);
/** The name of one of them, as the published sets have it: "shot_noise". */
const char *ys_corruption_name(int64_t channels, size_t kind);

struct ys_corruption {
    struct ys_picture_shape shape; /* that ys_corruption_check() takes */
    size_t kind;                   /* below ys_corruption_count() */
    int severity;                  /* 1 to YS_SEVERITIES */
    uint64_t seed, row;            /* of its lots */
};

/** picture and corrupted [out]: of that shape, in [0, 1]. They may not overlap. Equal arguments give equal bits on one
 * machine; elsewhere the last digits may hang on its sin, exp and log. */
void ys_corrupt(const struct ys_corruption *corruption, const float *picture, float *corrupted);

#endif
