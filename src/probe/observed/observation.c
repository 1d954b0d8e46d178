#include "probe/observed/observation.h"

const struct ys_probe *const ys_probes[YS_PROBE_COUNT] = {&ys_group_figures_probe, &ys_process_io_probe,
                                                          &ys_shared_pages_probe};

#define STATE(member, kind, flags, what)                                                                               \
    YS_FIELD(struct ys_observation, member, kind, NULL, YS_FIELD_LATER | (flags), what)
#define FIGURE(member, unit, flags, what)                                                                              \
    YS_FIELD(struct ys_observation, member, YS_FIELD_INT, unit, YS_FIELD_NULL | (flags), what),
static const struct ys_field fields[] = {STATE(guarded, YS_FIELD_FLAG, 0, "it could not write the cache"),
                                         STATE(guard, YS_FIELD_TEXT, YS_FIELD_NULL, "what kept it, or why nothing did"),
                                         STATE(grouped, YS_FIELD_FLAG, 0, "it had a control group"),
                                         STATE(group, YS_FIELD_TEXT, YS_FIELD_NULL, "which controllers, or why none"),
                                         STATE(killed_as_a_whole, YS_FIELD_FLAG, 0, "it could be"),
                                         YS_OBSERVED_FIGURES(FIGURE)};
const struct ys_record ys_observation_record = YS_RECORD("observation", struct ys_observation, fields);
