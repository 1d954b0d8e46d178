"""Networks as the exporters of PyTorch write them: what test_onnx_import.py and tests/frameworks/test_exports.py read. Needs torch,
torchvision and onnxscript.

    exports_torch.py NETWORK WAY FILE.onnx

Values look trained, so that no exporter merges or leaves out what happens to be 0, 1 or equal."""

import contextlib
import io
import subprocess
import sys
import warnings

import torch

# What of a torchvision that was built for another torch does not load: detectors have it, classifiers do not. Without a
# declaration the package cannot be imported beside a torch without CUDA; declared twice, the process ends, so another one tries.
if subprocess.run([sys.executable, "-c", "import torchvision"], capture_output=True).returncode:
    DETECTORS = torch.library.Library("torchvision", "FRAGMENT")
    for operator in ("nms", "qnms"):
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


class RepVGG(nn.Module):
    """Blocks of three branches as they are trained: 3x3, 1x1 and nothing, each with its batch normalisation."""

    class Block(nn.Module):
        def __init__(self, ins, outs, stride):
            super().__init__()
            self.wide = nn.Sequential(nn.Conv2d(ins, outs, 3, stride, 1, bias=False), nn.BatchNorm2d(outs))
            self.narrow = nn.Sequential(nn.Conv2d(ins, outs, 1, stride, bias=False), nn.BatchNorm2d(outs))
            self.same = nn.BatchNorm2d(ins) if ins == outs and stride == 1 else None

        def forward(self, x):
            y = self.wide(x) + self.narrow(x)
            return torch.relu(y if self.same is None else y + self.same(x))

    def __init__(self, classes=CLASSES):
        super().__init__()
        self.blocks = nn.Sequential(*(self.Block(*sizes) for sizes in ((3, 16, 2), (16, 16, 1), (16, 32, 2), (32, 32, 1))))
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        return self.head(nn.functional.adaptive_avg_pool2d(self.blocks(x), 1).flatten(1))


class Grouped(nn.Module):
    """Reflected borders, group normalisation, squeeze and excitation by dense layers, a head that sees places."""

    def __init__(self, classes=CLASSES):
        super().__init__()
        self.stem = nn.Sequential(nn.ReflectionPad2d(2), nn.Conv2d(3, 24, 5, 2, bias=False), nn.GroupNorm(4, 24), nn.SiLU())
        self.body = nn.Sequential(nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(24, 24, 3, 2, groups=4), nn.GroupNorm(1, 24), nn.Hardswish())
        self.squeeze, self.excite = nn.Linear(24, 6), nn.Linear(6, 24)
        self.head = nn.Linear(24 * 4, classes)

    def forward(self, x):
        x = self.body(self.stem(x))  # of 16x16 pixels
        share = torch.nn.functional.hardsigmoid(self.excite(torch.relu(self.squeeze(x.mean((2, 3))))))
        x = x * share[:, :, None, None]
        return self.head(nn.functional.avg_pool2d(x, 8).flatten(1))


class Branches(nn.Module):
    """Four branches with uneven windows, a shuffle of channels, slopes by channel, a pool whose last windows are cut."""

    def __init__(self, classes=CLASSES):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2), nn.PReLU(16), nn.MaxPool2d(3, 2, ceil_mode=True))
        self.flat, self.tall = nn.Conv2d(16, 8, (1, 7), padding=(0, 3)), nn.Conv2d(16, 8, (7, 1), padding=(3, 0))
        self.holes = nn.Conv2d(16, 8, 3, padding=2, dilation=2)
        self.pooled = nn.Sequential(nn.AvgPool2d(3, 1, 1, count_include_pad=False), nn.Conv2d(16, 8, 1), nn.LeakyReLU(0.2))
        self.head = nn.Sequential(nn.BatchNorm2d(32, affine=False), nn.Tanh(), nn.Conv2d(32, classes, 1))

    def forward(self, x):
        x = self.stem(x)
        x = torch.cat([self.flat(x), self.tall(x), self.holes(x), self.pooled(x)], 1)
        n, c, h, w = x.shape
        x = x.view(n, 4, c // 4, h, w).transpose(1, 2).reshape(n, c, h, w)
        return self.head(x).mean(3).mean(2)


class ResMLP(nn.Module):
    """Tokens first, as recurrent networks have them: (tokens, N, width); factors and shifts in place of norms."""

    class Block(nn.Module):
        def __init__(self, tokens, width):
            super().__init__()
            self.scale, self.shift = nn.Parameter(torch.rand(width) + 0.5), nn.Parameter(torch.rand(width) - 0.5)
            self.tokens, self.share = nn.Linear(tokens, tokens), nn.Parameter(torch.rand(width))
            self.channels = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU("tanh"), nn.Linear(2 * width, width))

        def forward(self, x):  # (tokens, N, width)
            y = self.tokens((x * self.scale + self.shift).permute(1, 2, 0)).permute(2, 0, 1)
            x = x + self.share * y
            tokens, n, width = x.shape
            return x + self.channels(x.reshape(tokens * n, width)).reshape(tokens, n, width)

    def __init__(self, classes=CLASSES, pixels=64, patch=16, width=32):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.places = nn.Parameter(torch.randn((pixels // patch) ** 2, 1, width) * 0.02)
        self.blocks = nn.Sequential(*(self.Block((pixels // patch) ** 2, width) for _ in range(2)))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).permute(2, 0, 1) + self.places
        return self.head(self.blocks(x).mean(0))


class Gates(nn.Module):
    """Gates over pixels and channels, a norm of whole images, halves that multiply each other."""

    def __init__(self, classes=CLASSES, width=16):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 2 * width, 4, 4), nn.BatchNorm2d(width)
        self.where = nn.Conv2d(1, 1, 7, padding=3, bias=False)
        self.gamma, self.beta = nn.Parameter(torch.rand(1, width, 1, 1)), nn.Parameter(torch.rand(1, width, 1, 1))
        self.lift, self.head = nn.ConvTranspose2d(width, width, 3, 2, 1, 1, groups=4), nn.Conv2d(width, classes, 1)

    def forward(self, x):
        a, b = self.stem(x).chunk(2, 1)
        x = self.norm(a * torch.sigmoid(b))
        x = x * torch.sigmoid(self.where(x.mean(1, keepdim=True)))
        size = (x * x).sum((2, 3), keepdim=True).sqrt()
        x = self.gamma * (x * (size / (size.mean(1, keepdim=True) + 1e-6))) + self.beta + x
        return self.head(torch.nn.functional.relu6(self.lift(x))).flatten(2).mean(2)


class Llama(nn.Module):
    """Patches as tokens: PyTorch's RMSNorm, its attention, a gated dense layer; no biases."""

    def __init__(self, classes=CLASSES, width=32, heads=4):
        super().__init__()
        self.heads, self.patches = heads, nn.Conv2d(3, width, 16, 16)
        self.before, self.behind = nn.RMSNorm(width, eps=1e-6), nn.RMSNorm(width, eps=1e-6)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.gate, self.up, self.down = (nn.Linear(*sizes, bias=False) for sizes in ((width, 64), (width, 64), (64, width)))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        n, tokens, width = x.shape
        y = self.before(x)
        parts = [layer(y).view(n, tokens, self.heads, -1).transpose(1, 2) for layer in (self.query, self.key, self.value)]
        x = x + self.out(nn.functional.scaled_dot_product_attention(*parts).transpose(1, 2).reshape(n, tokens, width))
        y = self.behind(x)
        return self.head((x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))).mean(1))


class Windows(nn.Module):
    """Windows of a rolled image, as Swin has them, behind pixels that become channels."""

    def __init__(self, classes=CLASSES, width=16):
        super().__init__()
        self.patches, self.norm = nn.Conv2d(12, width, 4, 4), nn.LayerNorm(width)
        self.mix, self.head = nn.Linear(width, width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(nn.functional.pixel_unshuffle(x, 2)).permute(0, 2, 3, 1)
        y = torch.roll(self.norm(x), (-2, -2), (1, 2))
        n, h, w, c = y.shape
        y = y.view(n, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(n, -1, 16, c)
        y = torch.relu(self.mix(y)).view(n, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
        return self.head((x + torch.roll(y, (2, 2), (1, 2))).mean((1, 2)))


class Halves(nn.Module):
    """Channels halved by chunk, split, glu and indices, one half by the same indices twice; lengths of pixels."""

    def __init__(self, classes=CLASSES):
        super().__init__()
        self.first, self.second, self.third = nn.Conv2d(3, 16, 4, 4), nn.Conv2d(8, 16, 3, padding=1, groups=8), nn.Conv2d(8, 16, 1)
        self.norm, self.head = nn.GroupNorm(2, 8), nn.Linear(8, classes)

    def forward(self, x):
        a, b = self.first(x).chunk(2, 1)
        y = self.second(a * torch.sigmoid(b))
        y = y[:, :8] * torch.tanh(y[:, 8:]) + y[:, :8]
        c, d = torch.split(self.third(self.norm(y)), [8, 8], 1)
        y = nn.functional.glu(torch.cat([c, d], 1), 1) + y
        return self.head((y / (torch.linalg.vector_norm(y, dim=1, keepdim=True) + 1e-6)).mean((2, 3)))


def vision_transformer():
    return torchvision.models.VisionTransformer(image_size=64, patch_size=16, num_layers=2, num_heads=2, hidden_dim=32, mlp_dim=64,
                                                num_classes=CLASSES)


def classifier(name, **options):
    return lambda: getattr(torchvision.models, name)(num_classes=CLASSES, **options)


MADE = {"unet": UNet, "mixer": Mixer, "siamese": Siamese, "vit": vision_transformer, "repvgg": RepVGG, "grouped": Grouped,
        "branches": Branches, "resmlp": ResMLP, "gates": Gates, "llama": Llama, "windows": Windows, "halves": Halves,
        "googlenet": classifier("googlenet", aux_logits=False, init_weights=False),
        "inception_v3": classifier("inception_v3", aux_logits=False, init_weights=False)}
# What their pools divide; of ConvNeXt, whose norms are of each pixel, no more than its stages do.
PIXELS = {"inception_v3": 96, "vgg11_bn": 224, "convnext_tiny": 32}


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
