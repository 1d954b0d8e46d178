/* MNIST as published: four IDX files. LeCun, Cortes, Burges, "The MNIST database of handwritten digits", 1998. */
#ifndef YS_DATA_MNIST_H
#define YS_DATA_MNIST_H

#include "data/prepared.h"

/** Reads the four files from `folder`. Accepted names: train-images-idx3-ubyte, train-images.idx3-ubyte, each with or
 * without .gz, and so on. *verified: all four have the published sums; when they do not and `unverified` is false, that
 * is YS_EFORMAT. YS_ENOTFOUND names the file that is missing. */
ys_status ys_mnist_read(const char *folder, bool unverified, struct ys_data_rows *train, struct ys_data_rows *test,
                        bool *verified) YS_MUST_CHECK;

/** Downloads the four files with curl into `folder`, which exists, from the mirror of that number, counted from 0. */
ys_status ys_mnist_download(size_t mirror, const char *folder) YS_MUST_CHECK;
/** The address of a mirror, NULL when there is none of that number. */
const char *ys_mnist_mirror(size_t mirror);

#endif
