/* The data sets `fire-small` and `fire-big`: drawn scenes with a fire, with smoke, or with neither but things of their
 * colours. In the place of the images of Lerat, Mahmoudi and Mahmoudi, "Single node deep learning frameworks", 2021,
 * which were not published, and neither were their numbers: small and big are 1 to 10 here. The bytes are the same on
 * every machine; docs/data.md says how each is drawn. */
#ifndef YS_DATA_SETS_FIRE_H
#define YS_DATA_SETS_FIRE_H

#include <stdint.h>

#define YS_FIRE_SIDE        224
#define YS_FIRE_CLASSES     3 /* fire, smoke, neither */
#define YS_FIRE_SMALL_TRAIN 300
#define YS_FIRE_SMALL_TEST  60
#define YS_FIRE_BIG_TRAIN   3000
#define YS_FIRE_BIG_TEST    600
#define YS_FIRE_EDITION     "1" /* raise it when other bytes would be drawn */

/** Draws the first `count` images of a half, "train" or "test": those of the small set are the first of the big one.
 * @param x  [out] [count, 3, YS_FIRE_SIDE, YS_FIRE_SIDE]
 * @param y  [out] [count]: row modulo YS_FIRE_CLASSES */
void ys_fire_draw(const char *half, int64_t count, uint8_t *x, int64_t *y);

#endif
