/* The forms in which the built-in engine stores a whole model: `safetensors`, of weights alone, and `onnx`. */
#ifndef YS_BUILTIN_STORED_FORMS_H
#define YS_BUILTIN_STORED_FORMS_H

#include "engine/engine.h"
#include "onnx/read/onnx_read.h"
#include "protocol/plan.h"

extern const char *const ys_builtin_forms[]; /* ended by NULL, its own first */

/** Writes the engine's weights, with `graph` where the form has one, to the file `path`. YS_EUNSUPPORTED: what ONNX
 * does not hold. */
ys_status ys_builtin_form_save(struct ys_engine *engine, const struct ys_graph *graph, const char *form,
                               const char *path) YS_MUST_CHECK;

/** The plan's network, new, and where its weights are: a file (*weights, borrowed from the plan), or *import (new). Of
 * its own files, or of what is stored. YS_EINVAL: the plan names neither. */
ys_status ys_builtin_form_open(const struct ys_plan *plan, struct ys_graph **graph, struct ys_onnx_import **import,
                               const char **weights) YS_MUST_CHECK;
/** Whether a stored model is weights alone, so that the plan's graph was taken. */
bool ys_builtin_form_lacks_graph(const struct ys_plan *plan);
/** Gives the engine of an imported graph its values. */
ys_status ys_builtin_form_load(const struct ys_onnx_import *import, struct ys_engine *engine) YS_MUST_CHECK;

#endif
