"""Which networks are exported by PyTorch's exporters and read (tests/python/test_onnx_import.py) and trained under proof
(tests/frameworks/test_exports.py). Needs no package."""

# Of torchvision.
NETWORKS = ("resnet18", "densenet121", "shufflenet_v2_x0_5", "efficientnet_b0", "mobilenet_v3_small", "convnext_tiny")
# Of exports_torch.py: what few networks have, trained too.
UNUSUAL = ("repvgg", "grouped", "branches", "resmlp", "gates")
# Four ways to export: batch normalisation is folded into convolutions unless it is "kept".
WAYS = ("dynamo", "dynamo kept", "legacy", "legacy kept")
# Of exports_torch.py: what networks of today are written with, in the ways in which torch exports it.
IDIOMS = {"llama": ("dynamo", "dynamo kept"), "windows": WAYS, "halves": WAYS}
# Of exports_sequences.py, and its ways: PyTorch's exporter for operator set 20 and 23, and its older one.
SEQUENCES = ("gpt", "lstm", "padded", "gru", "encoder", "vit_plain", "vit", "rotary")
SEQUENCE_WAYS = {name: ("dynamo", "dynamo 23", "legacy") for name in SEQUENCES}
SEQUENCE_WAYS["padded"] = ("legacy",)  # packed rows are no tensors, which the newer one refuses
SEQUENCE_WAYS["rotary"] = ("dynamo 23",)  # an operator of its own, which that set has first
