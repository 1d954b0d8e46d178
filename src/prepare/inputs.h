/* What one run reads from the cache: data, graph, order of batches, weights, and of same weights what they are compared
 * with. It must be what it was while the run measures, and whatever was measured with it before. */
#ifndef YS_PREPARE_INPUTS_H
#define YS_PREPARE_INPUTS_H

#include "prepare/work.h"

struct ys_agreement;

struct ys_inputs {
    const struct ys_trial *trial;
    const struct ys_work *work;
    const struct ys_agreement *agreement; /* NULL where nothing is predicted with common weights */
};

/** Before a run: compares the files with what they were, and notes that they are used, so that nothing makes them again
 * in silence from now on. Data larger than memory_limit are let go of, so that the run reads them itself. YS_EIO:
 * something changed them after an earlier run, or just now. */
ys_status ys_inputs_use(const struct ys_inputs *inputs) YS_MUST_CHECK;

/** After it: whether they are so still. YS_EIO names the file. */
ys_status ys_inputs_check(const struct ys_inputs *inputs) YS_MUST_CHECK;

/** After a run that was not kept from writing them (session/guard.h): the same, by their bytes. YS_EFORMAT names the
 * file; the folder that it lies in can be made again then, which the next preparation does. */
ys_status ys_inputs_check_bytes(const struct ys_inputs *inputs) YS_MUST_CHECK;

/** Makes damaged data again, where yardstick makes them itself; otherwise YS_EIO says how to fetch them. */
ys_status ys_inputs_mend_data(const struct ys_inputs *inputs) YS_MUST_CHECK;

#endif
