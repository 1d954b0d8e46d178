/* IDX files, in which MNIST and its relatives are published, gzip-compressed or not.
 *
 *   byte 0, 1   0
 *   byte 2      element type: 0x08 unsigned byte, the only one read here
 *   byte 3      rank
 *   then        one big-endian uint32 a dimension, then the elements in C order
 *
 * Source: http://yann.lecun.com/exdb/mnist/, "the IDX file format". */
#ifndef YS_DATA_ARCHIVES_IDX_H
#define YS_DATA_ARCHIVES_IDX_H

#include "base/hash.h"
#include "base/status.h"
#include <stdint.h>

#define YS_IDX_MAX_RANK  4
#define YS_IDX_MAX_BYTES ((size_t)256 << 20) /* of a file, and of its content: MNIST's largest has 47 MB */

struct ys_idx {
    size_t rank; /* 1 to YS_IDX_MAX_RANK */
    int64_t shape[YS_IDX_MAX_RANK];
    const uint8_t *data;        /* into `content` */
    uint8_t *content;           /* the uncompressed file; owned */
    char md5[YS_MD5_TEXT];      /* of the uncompressed file */
    char file_md5[YS_MD5_TEXT]; /* of the file as it lies, compressed or not */
};

/** From memory. Cut short, longer than the header says, too large, of another type: YS_EFORMAT, `name` in front. */
ys_status ys_idx_parse(const void *bytes, size_t size, const char *name, struct ys_idx *idx) YS_MUST_CHECK;
ys_status ys_idx_read(const char *path, struct ys_idx *idx) YS_MUST_CHECK;
void ys_idx_fini(struct ys_idx *idx);

#endif
