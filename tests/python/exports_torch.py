"""Networks as the exporters of PyTorch write them: what test_onnx_import.py and tests/frameworks/test_exports.py read. Needs torch,
torchvision and onnxscript.

    exports_torch.py NETWORK WAY FILE.onnx

Values look trained, so that no exporter merges or leaves out what happens to be 0, 1 or equal."""

import contextlib
import io
import sys
import warnings

import torch

# What of a torchvision that was built for another torch does not load: detectors have it, classifiers do not. Without a
# declaration the package cannot be imported beside a torch without CUDA.
DETECTORS = torch.library.Library("torchvision", "FRAGMENT")
for operator in ("nms", "qnms"):
    with contextlib.suppress(RuntimeError):  # declared by the package itself
        DETECTORS.define(operator + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
import torchvision  # noqa: E402
from torch import nn  # noqa: E402

CLASSES = 10


class UNet(nn.Module):
    """Two levels down and up again, with transposed convolutions and skips; its classes are means over the pixels."""

    def __init__(self, classes=CLASSES):
        super().__init__()
        def block(ins, outs):
            return nn.Sequential(nn.Conv2d(ins, outs, 3, padding=1, bias=False), nn.BatchNorm2d(outs), nn.ReLU(),
                                 nn.Conv2d(outs, outs, 3, padding=1, bias=False), nn.BatchNorm2d(outs), nn.ReLU())
        self.down1, self.down2, self.bottom = block(3, 16), block(16, 32), block(32, 64)
        self.rise2, self.up2 = nn.ConvTranspose2d(64, 32, 2, 2), block(64, 32)
        self.rise1, self.up1 = nn.ConvTranspose2d(32, 16, 2, 2), block(32, 16)
        self.head, self.pool = nn.Conv2d(16, classes, 1), nn.MaxPool2d(2)

    def forward(self, x):
        one = self.down1(x)
        two = self.down2(self.pool(one))
        y = self.rise2(self.bottom(self.pool(two)))
        y = self.rise1(self.up2(torch.cat([y, two], 1)))
        return self.head(self.up1(torch.cat([y, one], 1))).mean((2, 3))


class Mixer(nn.Module):
    """MLP-Mixer: tokens and channels are mixed by dense layers, in turn."""

    class Block(nn.Module):
        def __init__(self, tokens, width):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.tokens = nn.Sequential(nn.Linear(tokens, 32), nn.GELU(), nn.Linear(32, tokens))
            self.channels = nn.Sequential(nn.Linear(width, 128), nn.GELU(), nn.Linear(128, width))

        def forward(self, x):
            x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
            return x + self.channels(self.norm2(x))

    def __init__(self, classes=CLASSES, pixels=64, patch=8, width=64):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.blocks = nn.Sequential(*(self.Block((pixels // patch) ** 2, width) for _ in range(2)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.blocks(self.patches(x).flatten(2).transpose(1, 2))
        return self.head(self.norm(x).mean(1))


class Siamese(nn.Module):
    """One convolution at two places, and a head that is its transpose: a matrix that is shared."""

    def __init__(self, classes=CLASSES):
        super().__init__()
        self.stem, self.same = nn.Conv2d(3, 16, 4, 4), nn.Conv2d(16, 16, 3, padding=1)
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = torch.relu(self.same(x)) + x
        return self.head((torch.relu(self.same(x)) + x).mean((2, 3)))


def vision_transformer():
    return torchvision.models.VisionTransformer(image_size=64, patch_size=16, num_layers=2, num_heads=2, hidden_dim=32, mlp_dim=64,
                                                num_classes=CLASSES)


def classifier(name, **options):
    return lambda: getattr(torchvision.models, name)(num_classes=CLASSES, **options)


MADE = {"unet": UNet, "mixer": Mixer, "siamese": Siamese, "vit": vision_transformer,
        "googlenet": classifier("googlenet", aux_logits=False, init_weights=False),
        "inception_v3": classifier("inception_v3", aux_logits=False, init_weights=False)}
PIXELS = {"inception_v3": 96, "vgg11_bn": 224}  # what their pools divide


def pixels_of(name):
    """Height and width."""
    return PIXELS.get(name, 64)


def make(name, seed=1):
    """A network of torchvision or of MADE, for inference."""
    torch.manual_seed(seed)
    network = MADE.get(name, classifier(name))().eval()
    with torch.no_grad():
        for key, value in list(network.named_parameters()) + list(network.named_buffers()):
            if key.endswith(("running_var", "layer_scale")):
                value.uniform_(0.5, 1.5)
            elif value.dim() == 1:
                value.add_(torch.randn_like(value) * 0.1)
    return network


def export(network, way, path, pixels=64):
    """Writes the network; in the way "legacy kept" torch moves its running statistics while it does so. Stochastic depth, which
    is drawn in training mode alone and is no operator of ONNX, is turned off for it."""
    x, dynamo = torch.rand(3, 3, pixels, pixels), way.startswith("dynamo")
    options = {"dynamo": dynamo, "input_names": ["x"]}
    if dynamo:
        options["dynamic_shapes"] = ({0: torch.export.Dim("n")},)
        options["optimize"] = not way.endswith("kept")
    else:
        options["dynamic_axes"] = {"x": {0: "n"}}
        if way.endswith("kept"):
            for module in network.modules():
                if isinstance(module, torchvision.ops.StochasticDepth):
                    module.p = 0.0
            options.update(training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(network, (x,), path, **options)
    network.eval()


if __name__ == "__main__":
    export(make(sys.argv[1]), sys.argv[2], sys.argv[3], pixels_of(sys.argv[1]))
