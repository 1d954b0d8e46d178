/* MNIST and Fashion-MNIST as published: four IDX files each.
 *
 * LeCun, Cortes, Burges, "The MNIST database of handwritten digits", 1998. Xiao, Rasul, Vollgraf, "Fashion-MNIST: a
 * novel image dataset for benchmarking machine learning algorithms", 2017,
 * https://github.com/zalandoresearch/fashion-mnist.
 *
 * Accepted names: train-images-idx3-ubyte, train-images.idx3-ubyte, each with or without .gz, and so on. The sums of
 * MNIST are of the uncompressed bytes; those of Fashion-MNIST are of the compressed files, so that only these can be
 * verified. */
#ifndef YS_DATA_SETS_MNIST_H
#define YS_DATA_SETS_MNIST_H

#include "data/published.h"

extern const struct ys_data_published ys_mnist_published, ys_fashion_mnist_published;

#endif
