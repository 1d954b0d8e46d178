/* What an export cannot have kept. */
#include "onnx/read/reader_state.h"

#include <string.h>

static void note_norms(struct ys_onnx_reading *r, bool is_pytorch)
{
    size_t norms = 0, convolutions = 0; /* with a bias or without: one that is still 0 is left out by exporters */
    for (size_t i = 0; i < r->graph->node_count; i++) {
        norms += r->graph->nodes[i].op == YS_OP_BATCHNORM;
        convolutions += r->graph->nodes[i].op == YS_OP_CONV;
    }
    if (norms > 0) {
        ys_onnx_note(r,
                     "%zu batch normalisations train with the statistics of the batch, whatever the file was "
                     "exported for",
                     norms);
        return;
    }
    if (convolutions < 2 || !is_pytorch)
        return;
    ys_onnx_note(r, "no batch normalisation: if the network has any, the export folded it into the convolutions; "
                    "torch.onnx.export keeps it with dynamo=True, optimize=False, or with dynamo=False, "
                    "training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False");
}

const char *ys_onnx_remedy(const char *op)
{
    static const char *const drawn[] = {"RandomUniformLike", "RandomUniform", "RandomNormalLike", "RandomNormal",
                                        "Bernoulli"};
    if (strcmp(op, "Einsum") == 0)
        return "write its product as torch.matmul, with what moves axes before and behind it";
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
        if (strcmp(op, drawn[i]) == 0)
            return "it draws in each pass, as stochastic depth and dropout of channels do; export the network without "
                   "(torchvision: p = 0 of each StochasticDepth, timm: drop_path_rate=0) or for inference";
    return NULL;
}

void ys_onnx_note_lost(struct ys_onnx_reading *r)
{
    const bool is_pytorch = strncmp(r->file->producer, "pytorch", 7) == 0;
    note_norms(r, is_pytorch);
    if (r->narrowed)
        ys_onnx_note(r, "%zu nodes make values of 16 bits: a run's format is the job's precision", r->narrowed);
    if (!is_pytorch || ys_graph_has(r->graph, YS_OP_DROPOUT))
        return;
    ys_onnx_note(r, "no dropout: if the network has any, the export dropped it; torch.onnx.export keeps it with "
                    "dynamo=True, optimize=False behind network.train(), or with dynamo=False, "
                    "training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False");
}
