/* What a plan (protocol/plan.h) asks of the engine. */
#ifndef YS_BUILTIN_PLAN_ENGINE_H
#define YS_BUILTIN_PLAN_ENGINE_H

#include "base/status.h"
#include "protocol/plan.h"
#include "yardstick/engine.h"

/** What the protocol calls the engine's optimizers, ended by NULL. */
extern const char *const ys_builtin_optimizers[];

/** From a word of ys_precisions. */
ys_status ys_builtin_precision(const char *name, enum ys_engine_precision *precision) YS_MUST_CHECK;
/** All but the back end, for all rows of the plan's batch and its seed as it stands. YS_EUNSUPPORTED: another device
 * than "cpu", a precision or an optimizer that the engine has not. */
ys_status ys_builtin_plan_config(const struct ys_plan *plan, struct ys_engine_config *config) YS_MUST_CHECK;

#endif
