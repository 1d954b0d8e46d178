/* A prepared file of images that are decoded when they are wanted: in the place of their pixels it has the files that
 * they lie in. Who makes it (data/sets/decoded_images.c) has looked at each of them once; who reads it
 * (feeder/listed_files.h) refuses one that has changed since. The metadata `rows` says what they are decoded to:
 * "3x224x224". */
#ifndef YS_DATA_LISTED_IMAGES_H
#define YS_DATA_LISTED_IMAGES_H

/* Its arrays, beside the target: */
#define YS_LISTED_PATHS  "path"  /* U8 [bytes]: the paths, absolute, each ended by a 0 */
#define YS_LISTED_STARTS "start" /* I64 [n]: where each of them begins there */
#define YS_LISTED_SIZES  "size"  /* I64 [n]: bytes of the file */
#define YS_LISTED_TIMES  "time"  /* I64 [n]: of its last change, ns since 1970 */
#define YS_LISTED_SUMS   "sum"   /* U8 [n, 32]: SHA-256 of the file */
#define YS_LISTED_ROWS   "rows"  /* metadata */

enum { YS_LISTED_SUM_BYTES = 32 };

#endif
