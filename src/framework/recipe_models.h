/* The networks that a framework came with: graphs in files beside its recipe, frameworks/FRAMEWORK/models/NAME.json. A
 * file NAME.CHANNELSxHEIGHTxWIDTH.json is the same network for other data (graph/model.h). */
#ifndef YS_FRAMEWORK_RECIPE_MODELS_H
#define YS_FRAMEWORK_RECIPE_MODELS_H

#include "graph/model.h"

/** For ys_models_also(). All of them by name, ended by a NULL name; read when they are first asked for. A file that
 * cannot be read is left out with a warning. */
const struct ys_model *ys_framework_models(void);

#endif
