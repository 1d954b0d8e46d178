/* Small archives that look like CIFAR-10, made here. */
#ifndef YS_TESTS_DATA_CIFAR_FILES_H
#define YS_TESTS_DATA_CIFAR_FILES_H

#include "data/sets/cifar.h"
#include "idx_files.h"
#include <stdio.h>

#define FAKE_ROWS    2
#define RECORD_BYTES (1 + YS_CIFAR_IMAGE_BYTES)

static const char *const fake_batches[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                           "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};

/** A member with a sound header, padded. */
__attribute__((unused)) static void put_member(struct ys_buf *tar, const char *name, char type, const void *data,
                                               size_t size)
{
    unsigned char header[512] = {0};
    snprintf((char *)header, 100, "%s", name);
    snprintf((char *)header + 124, 12, "%011zo", size);
    header[156] = (unsigned char)type;
    memset(header + 148, ' ', 8);
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof header; i++)
        sum += header[i];
    snprintf((char *)header + 148, 8, "%06o", sum);
    ys_buf_append(tar, header, sizeof header);
    ys_buf_append(tar, data, size);
    static const char zeros[512];
    ys_buf_append(tar, zeros, (512 - size % 512) % 512);
}

/** The records of a batch: record i of batch b has the label (3 b + i) mod 10, its pixels count up from its label. */
__attribute__((unused)) static void fill_batch(size_t batch, unsigned char records[FAKE_ROWS * RECORD_BYTES])
{
    for (size_t i = 0; i < FAKE_ROWS; i++) {
        unsigned char *record = records + i * RECORD_BYTES;
        record[0] = (unsigned char)((3 * batch + i) % 10);
        for (size_t k = 0; k < YS_CIFAR_IMAGE_BYTES; k++)
            record[1 + k] = (unsigned char)(record[0] + k);
    }
}

/** The archive with a folder and a page beside the six batches, and the two blocks of zeros at its end; `left_out`: a
 * batch that it lacks, or 6. */
__attribute__((unused)) static void put_archive(struct ys_buf *tar, size_t left_out)
{
    unsigned char records[FAKE_ROWS * RECORD_BYTES];
    static const char zeros[1024];
    put_member(tar, "cifar-10-batches-bin/", '5', NULL, 0);
    put_member(tar, "cifar-10-batches-bin/readme.html", '0', "<html>", 6);
    for (size_t batch = 0; batch < 6; batch++) {
        char name[64];
        snprintf(name, sizeof name, "cifar-10-batches-bin/%s", fake_batches[batch]);
        fill_batch(batch, records);
        if (batch != left_out)
            put_member(tar, name, '0', records, sizeof records);
    }
    ys_buf_append(tar, zeros, sizeof zeros);
}

#endif
