/* Which networks can be attacked: one image a row, whose class is asked for. */
#ifndef YS_ROBUST_ATTACKABLE_H
#define YS_ROBUST_ATTACKABLE_H

#include "graph/graph.h"

/** Why numbers that are no bytes of pixels are not attacked, a clause. */
extern const char ys_attack_no_scale[];
/** What keeps attacks from `graph`, a clause such as "it reads tokens, and attacks change pixels"; NULL: nothing. Its
 * input has to be one of bytes, [N, channels, height, width], and its target a class of a row. */
const char *ys_attack_obstacle(const struct ys_graph *graph);

#endif
