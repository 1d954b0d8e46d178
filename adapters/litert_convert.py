"""A graph as LiteRT's file: PyTorch's module of it through litert-torch."""

import common
import convert_network
import litert_torch

LACKS = "Lowering not found: "  # then PyTorch's name of the operator


def convert(module, example, _options, path):
    try:
        made = litert_torch.convert(module, (example,))
    except RuntimeError as error:
        if str(error).startswith(LACKS):
            raise common.Unsupported("litert-torch has no operator %s" % str(error)[len(LACKS):])
        raise
    made.export(path)


if __name__ == "__main__":
    convert_network.serve(convert)
