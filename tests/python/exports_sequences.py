"""Networks of sequences as the exporters of PyTorch write them: what test_onnx_import.py and tests/frameworks/test_exports.py read.
Needs torch and onnxscript.

    exports_sequences.py NETWORK WAY FILE.onnx

Values look trained, so that no exporter merges or leaves out what happens to be 0, 1 or equal."""

import contextlib
import io
import sys
import warnings

import torch
from torch import nn
from torch.nn import functional

CLASSES, VOCABULARY, POSITIONS = 10, 50, 16


class GPT(nn.Module):
    """A decoder as nanoGPT writes it: learned positions, one product for queries, keys and values, tied weights."""

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width))

        def forward(self, x):
            n, t, c = x.shape
            q, k, v = (part.view(n, t, self.heads, c // self.heads).transpose(1, 2) for part in self.qkv(self.norm1(x)).split(c, 2))
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(n, t, c))
            return x + self.mlp(self.norm2(x))

    def __init__(self, width=32, heads=4, layers=2):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, width), nn.Embedding(POSITIONS, width)
        self.blocks = nn.Sequential(*(self.Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, x):
        places = self.places(torch.arange(x.shape[1], device=x.device))
        return self.head(self.norm(self.blocks(self.tokens(x) + places)))


class LSTMClassifier(nn.Module):
    """Of the last position of two layers."""

    def __init__(self, width=24):
        super().__init__()
        self.tokens, self.lstm = nn.Embedding(VOCABULARY, width), nn.LSTM(width, width, 2, batch_first=True)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        y, _ = self.lstm(self.tokens(x))
        return self.head(y[:, -1])


class PaddedClassifier(LSTMClassifier):
    """Of each row's last token that is no padding, over packed rows, the longest of which come first."""

    def forward(self, x):
        packed = nn.utils.rnn.pack_padded_sequence(self.tokens(x), (x != 0).sum(1), batch_first=True)
        _, (h, _) = self.lstm(packed)
        return self.head(h[-1])


class GRUTagger(nn.Module):
    """A class for each position."""

    def __init__(self, width=24):
        super().__init__()
        self.tokens, self.gru = nn.Embedding(VOCABULARY, width), nn.GRU(width, width, 1, batch_first=True)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        y, _ = self.gru(self.tokens(x))
        return self.head(y)


class Encoder(nn.Module):
    """A classifier of PyTorch's own encoder layers: attention without a mask, norms behind each branch."""

    def __init__(self, width=32):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, width), nn.Parameter(torch.randn(POSITIONS, width) * 0.1)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 4, 64, dropout=0, activation="gelu", batch_first=True) for _ in range(2))
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        x = self.tokens(x) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))


class ViT(nn.Module):
    """Patches, a class token that is a parameter, learned positions; the class is told at the first position."""

    def __init__(self, width=32, pixels=32, patch=8):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token, self.places = nn.Parameter(torch.randn(1, 1, width)), nn.Parameter(torch.randn(1, (pixels // patch) ** 2 + 1, width))
        self.blocks = nn.Sequential(*(Plain(width) for _ in range(2)))
        self.norm, self.head = nn.LayerNorm(width, eps=1e-6), nn.Linear(width, CLASSES)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.head(self.norm(self.blocks(x))[:, 0])


class Plain(nn.Module):
    """An encoder's block whose attention is written out: products, a softmax, a product."""

    def __init__(self, width, heads=4):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        n, t, c = x.shape
        y = self.norm1(x)
        q, k, v = (part(y).view(n, t, self.heads, -1).transpose(1, 2) for part in (self.q, self.k, self.v))
        share = (q @ k.transpose(-2, -1) / (c // self.heads) ** 0.5).softmax(-1)
        x = x + self.out((share @ v).transpose(1, 2).reshape(n, t, c))
        return x + self.mlp(self.norm2(x))


class Rotary(nn.Module):
    """Queries and keys turned by ONNX's own operator: whole heads, in halves, by positions that are picked, then the first numbers
    of each head, in neighbours, by a table for each row."""

    class Block(nn.Module):
        def __init__(self, width, heads, turned):
            super().__init__()
            self.heads, self.turned, self.norm = heads, turned, nn.LayerNorm(width)
            self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
            angles = torch.arange(2 * POSITIONS)[:, None] * 500.0 ** (-torch.arange(0, turned or width // heads, 2) / (turned or width // heads))
            self.register_buffer("cosines", angles.cos())
            self.register_buffer("sines", angles.sin())

        def turn(self, x):
            n, _, t, _ = x.shape
            if not self.turned:
                return torch.onnx.ops.rotary_embedding(x, self.cosines, self.sines, torch.arange(t).expand(n, t))
            cosines, sines = (table[:t].expand(n, t, -1) for table in (self.cosines, self.sines))
            return torch.onnx.ops.rotary_embedding(x, cosines, sines, interleaved=True, rotary_embedding_dim=self.turned)

        def forward(self, x):
            n, t, c = x.shape
            y = self.norm(x)
            q, k, v = (part(y).view(n, t, self.heads, -1).transpose(1, 2) for part in (self.q, self.k, self.v))
            y = functional.scaled_dot_product_attention(self.turn(q), self.turn(k), v, is_causal=True)
            return x + self.out(y.transpose(1, 2).reshape(n, t, c))

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, width)
        self.blocks = nn.Sequential(self.Block(width, heads, 0), self.Block(width, heads, 4))
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, x):
        return self.head(self.blocks(self.tokens(x)))


def vision_transformer():
    import torchvision
    return torchvision.models.VisionTransformer(image_size=32, patch_size=8, num_layers=2, num_heads=2, hidden_dim=32, mlp_dim=64,
                                                num_classes=CLASSES)


MADE = {"gpt": GPT, "lstm": LSTMClassifier, "padded": PaddedClassifier, "gru": GRUTagger, "encoder": Encoder, "vit_plain": ViT, "vit": vision_transformer,
        "rotary": Rotary}


def make(name, seed=1):
    torch.manual_seed(seed)
    network = MADE[name]().eval()
    with torch.no_grad():
        for value in network.parameters():
            if value.dim() == 1:
                value.add_(torch.randn_like(value) * 0.1)
        for key, value in network.named_parameters():
            if "bias_hh" in key and not isinstance(network, GRUTagger):
                value.zero_()  # a second bias, trained, would make another step: one is what graphs have
    return network


def example(name, rows=3):
    generator = torch.Generator().manual_seed(7)
    if name.startswith("vit"):
        return torch.rand(rows, 3, 32, 32, generator=generator)
    tokens = torch.randint(int(name == "padded"), VOCABULARY, (rows, POSITIONS), generator=generator)
    if name == "padded":
        for row, behind in enumerate(tokens):
            behind[POSITIONS - 3 * row:] = 0
    return tokens


def export(network, name, way, path):
    """Writes the network: by PyTorch's exporter for operator set 20 or 23, or its older one."""
    x, dynamo = example(name), way.startswith("dynamo")
    options = {"dynamo": dynamo, "input_names": ["x"]}
    if dynamo:
        options["dynamic_shapes"] = ({0: torch.export.Dim("n")},)
        if way.endswith("23"):
            options["opset_version"] = 23
    else:
        options["dynamic_axes"] = {"x": {0: "n"}}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(network, (x,), path, **options)


if __name__ == "__main__":
    export(make(sys.argv[1]), sys.argv[1], sys.argv[2], sys.argv[3])
