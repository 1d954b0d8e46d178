#include "campaign/conformance_list.h"

#include <stddef.h>

#define DECAY "weight_decay=0.0005"

/* Every schedule occurs, here or below: rates come as numbers, but one that changes at every step finds what one that
 * never changes hides. */
static const struct ys_conformance_item networks[] = {
    {"mlp, momentum, decay", {"model=mlp", "lr=0.02", "momentum=0.9", DECAY}, .quick = true},
    {"lenet, momentum, decay, inv",
     {"model=lenet", "lr=0.02", "momentum=0.9", DECAY, "schedule=inv(0.1,0.75)"},
     .quick = true},
    {"resnet20, Nesterov, decay, cosine",
     {"model=resnet20", "lr=0.02", "optimizer=nesterov", "momentum=0.9", DECAY, "schedule=cosine(20)"}},
    {"mobilenet-v2, SGD, warm-up", {"model=mobilenet-v2", "lr=0.01", "schedule=warmup(3) constant"}},
    {"caffe-cifar10, momentum, decay, step",
     {"model=caffe-cifar10", "lr=0.001", "momentum=0.9", "weight_decay=0.004", "schedule=step(2,0.5)"}},
    {"tf-cifar10, Adam, decay", {"model=tf-cifar10", "lr=0.001", "optimizer=adam", DECAY}},
    {"layers at two places", {"model=check_shared", "lr=0.05", "momentum=0.9", DECAY}},
    {"a depthwise convolution in single precision", {"model=check_conv_depthwise_stride_2", "lr=0.05"}},
    {"sequences, a class for each position", {"model=check_rows", "lr=0.05", "momentum=0.9", DECAY}},
    {"tokens that end before their row", {"model=check_padded", "lr=0.05", "momentum=0.9", DECAY}},
    {"a prompt, then its tokens one by one", {"model=check_pieces", "mode=infer", "prompt=3"}, .needs = "infer"},
    {"a state of LSTM that goes from batch to batch",
     {"model=lstm-char", "model.width=8", "carry_state=on", "lr=0.05", "momentum=0.9", DECAY}},
    {"a state of GRU that goes from batch to batch",
     {"model=gru-char", "model.width=8", "carry_state=on", "lr=0.05", "momentum=0.9", DECAY}},
    {"gradients by the pixels, of equal values too",
     {"model=lenet", "mode=attack", "compare=same-weights", "attack=fgsm(0.1)"},
     .needs = "input_gradient",
     .quick = true},
    {"integers in, numbers out", {"model=check_numbers", "lr=0.05", "momentum=0.9", DECAY}},
    {NULL},
};

/* Epsilons are large, because small ones do not show. */
static const struct ys_conformance_item training[] = {
    {"SGD", {"lr=0.05"}, .small = true, .needs = "sgd"},
    {"SGD, decay", {"lr=0.05", "weight_decay=0.05"}, .small = true, .needs = "sgd"},
    {"momentum", {"lr=0.05", "momentum=0.9"}, .small = true, .needs = "sgd"},
    {"momentum, decay, inv(DECAY)",
     {"lr=0.05", "momentum=0.9", "weight_decay=0.05", "schedule=inv(0.2)"},
     .small = true,
     .needs = "sgd",
     .quick = true},
    {"Nesterov, cosine to the end",
     {"lr=0.05", "optimizer=nesterov", "momentum=0.9", "schedule=cosine"},
     .small = true,
     .needs = "sgd"},
    {"Nesterov, decay, warm-up and step",
     {"lr=0.05", "optimizer=nesterov", "momentum=0.9", "weight_decay=0.05", "schedule=warmup(3) step(2,0.5)"},
     .small = true,
     .needs = "sgd"},
    {"clip_norm, momentum, decay",
     {"lr=0.05", "momentum=0.9", "weight_decay=0.05", "clip_norm=0.1"},
     .small = true,
     .needs = "sgd"},
    {"Adam", {"lr=0.01", "optimizer=adam"}, .small = true, .needs = "adam"},
    {"Adam, numbers of its own, decay, inv(GAMMA, POWER)",
     {"lr=0.01", "optimizer=adam(0.8,0.95,0.01)", "weight_decay=0.05", "schedule=inv(0.1,0.75)"},
     .small = true,
     .needs = "adam"},
    {"AdamW, decay", {"lr=0.01", "optimizer=adamw", "weight_decay=0.1"}, .small = true, .needs = "adamw"},
    {"AdamW, numbers of its own, decay, clip_norm",
     {"lr=0.01", "optimizer=adamw(0.8,0.95,0.01)", "weight_decay=0.1", "clip_norm=0.1", "schedule=cosine(8)"},
     .small = true,
     .needs = "adamw"},
    {"RMSprop", {"lr=0.001", "optimizer=rmsprop"}, .small = true, .needs = "rmsprop"},
    {"RMSprop, numbers of its own, momentum, decay",
     {"lr=0.005", "optimizer=rmsprop(0.9,0.01)", "momentum=0.5", "weight_decay=0.05", "schedule=step(3,0.5)"},
     .small = true,
     .needs = "rmsprop"},
    {"loss: label smoothing", {"lr=0.05", "loss=softmax_cross_entropy(0.1)"}, .small = true, .needs = "train"},
    {"loss: mean squared error", {"lr=0.05", "loss=mse"}, .small = true, .needs = "train"},
    {"loss: nll behind LogSoftmax", {"lr=0.05"}, .small = true, .nll = true, .needs = "train"},
    {"training in single precision", {"lr=0.05", "momentum=0.9"}, .small = true, .needs = "train", .whole = true},
    {"training in bf16", {"lr=0.05", "momentum=0.9", "precision=bf16"}, .small = true, .needs = "bf16", .whole = true},
    {"inference", {"mode=infer"}, .small = true, .needs = "infer", .whole = true, .quick = true},
    {"inference in bf16", {"mode=infer", "precision=bf16"}, .small = true, .needs = "bf16", .whole = true},
    {NULL},
};

const struct ys_conformance_item *ys_conformance_networks(void)
{
    return networks;
}

const struct ys_conformance_item *ys_conformance_training(void)
{
    return training;
}
