"""What tools/mutants.py spoils, and what tries it: the programs of tests, the sources of kernels with the objects that are made of
them, and which cases a function has."""
import collections
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

OPERATORS = "tests/test_backend_operator"
ROWS = "tests/test_backend_rows"  # what operators do with shared parameters, broadcasts and targets of other forms
SEQUENCE = "tests/test_backend_sequence"
LINE = "tests/test_backend_line"
RECURRENT = "tests/test_backend_recurrent"
PRODUCT = "tests/test_backend_product"
SIMD = "tests/test_backend_simd"
DROPOUT = "tests/test_backend_dropout"
HIDDEN = "tests/test_backend_hidden"  # losses of targets that do not count
TAIL = "tests/test_backend_tail"
WINDOW = "tests/test_backend_window"
CACHED = "tests/test_backend_cached"  # rows a few positions at a time
MODE = "tests/test_engine_mode"  # what only a step of training shows, and only an evaluation
INTEGERS = "tests/test_backend_integers"
OF_QUANT = tuple("tests/test_quant_" + name for name in ("quant_plan", "calibrate", "layer_network")) + (INTEGERS,)
KEEP = "tests/test_engine_keep"  # values that are made again in the backward pass
OPTIMIZER = "tests/test_engine_optimizer_step"
NETWORK = "tests/test_engine_network"  # operators behind each other, where one does another's work
OF_TAILS = (OPERATORS, tuple(op + "_*_onednn*" for op in ("add", "batchnorm", "clip", "relu")))
CALLS = ("tests/test_engine_calls", ("products_are_marked_onednn",))  # which calls are products
REFUSED = "tests/test_backend_refused"  # what oneDNN has not
FAMILY = ("tests/test_engine_family", ("onednn_agrees_*", "bf16_*", "both_readers_*_onednn", "inference_*_onednn", "inference_*_bf16"))
FAMILY_SIMD = (FAMILY[0], ("simd_agrees_*",))
OF_CLASSES = (SEQUENCE, ("the_gradient_of_many_classes_and_lines",))
OF_WEIGHTS = (FAMILY[0], ("bf16_gradients_are_in_single_precision",))

BACKEND = os.path.join(ROOT, "src/backend")
QUANT = os.path.join(ROOT, "src/quant")  # what becomes integers, and by which rule: without it no kernel is right


def place_of(name):
    """Where below src/backend a file of that name lies."""
    return next(os.path.relpath(os.path.join(folder, name), BACKEND) for folder, _, names in os.walk(BACKEND) if name in names)


def object_of_backend(name):
    return "src/libys_backend.a.p/backend_%s.o" % place_of(name).replace("/", "_")


def object_of_kernels(kind):
    """Of the kernels of a kind, those that backend/kernels/kernels_choose.c chooses on this machine."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        has = set(next((line for line in file if line.startswith("flags")), "").split())
    width = "_v4" if has >= {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} else "_v3" if has >= {"avx2", "bmi2", "fma"} else ""
    return "src/libys_kernels_%s%s.a.p/backend_%s.o" % (kind, width, place_of("kernels_%s.c" % kind).replace("/", "_"))


# What is spoiled: a source of src/backend, the object that is made of it, and what tries it: the cases of OPERATORS whose names
# end so, with ROWS, and then these programs, or (program, patterns). An object of a program of tests takes the place of that.
Tried = collections.namedtuple("Tried", "object endings programs", defaults=((), ()))
REF = Tried(object_of_backend("ref_f64.c"), ("_ref",))
OF_PRODUCT = Tried(PRODUCT + ".p/unit_backend_test_product.c.o", (), (PRODUCT,))


def simd(name, *programs):
    return Tried(object_of_backend(name), ("_simd",), programs)


def onednn(name, *programs):
    return Tried(object_of_backend(name), ("_onednn", "_onednn_bf16"), programs)


SOURCES = {
    "ref_kernels.inc": REF, "ref_pointwise.inc": REF, "ref_norm.inc": REF, "ref_pool.inc": REF, "ref_shape.inc": REF,
    "ref_loss.inc": REF, "ref_conv.inc": REF, "ref_places.inc": REF._replace(programs=(CACHED,)),
    "ref_sequence.inc": Tried(REF.object, (), (SEQUENCE, CACHED)), "ref_recurrent.inc": Tried(REF.object, (), (RECURRENT,)),
    "ref_sequence.c": Tried(object_of_backend("ref_sequence.c"), (), (SEQUENCE, CACHED)),
    "ref_product.inc": OF_PRODUCT, "ref_tile.inc": OF_PRODUCT,
    **{name: onednn(name) for name in ("onednn_ops.c", "onednn_line.c", "onednn_padding.c", "onednn_pair.c")},
    **{name: onednn(name, REFUSED, NETWORK, FAMILY) for name in ("onednn_pool.c", "onednn_shape.c")},
    "onednn_dense.c": onednn("onednn_dense.c", REFUSED, NETWORK, CALLS, FAMILY, (WINDOW, ("kernels_*",)), OF_CLASSES),
    "onednn_misc.c": onednn("onednn_misc.c", REFUSED, NETWORK, DROPOUT),
    "onednn_places.c": onednn("onednn_places.c", CACHED),
    "onednn_recurrent.c": Tried(object_of_backend("onednn_recurrent.c"), (), (RECURRENT,)),
    "recurrent.c": Tried(object_of_backend("recurrent.c"), (), (RECURRENT,)),
    "attention.c": Tried(object_of_backend("attention.c"), (), (SEQUENCE, CACHED)),
    "line.c": onednn("line.c", LINE),
    "simd_lower.c": simd("simd_lower.c", SEQUENCE, RECURRENT, CACHED, OPTIMIZER), "ref_rows.c": simd("ref_rows.c", SEQUENCE, ROWS, FAMILY_SIMD),
    **dict.fromkeys(("simd_product.inc", "kernels_tile.h"), Tried(SIMD + ".p/unit_backend_test_simd.c.o", (), (SIMD,))), "product.inc": OF_PRODUCT,
    "kernels_curves.c": Tried(object_of_kernels("curves"), ("_simd",)),
    "onednn_sequence.c": Tried(object_of_backend("onednn_sequence.c"), (), (SEQUENCE, CACHED)),
    "onednn_tail.c": Tried(object_of_backend("onednn_tail.c"), (), (NETWORK, OF_TAILS, MODE, ROWS, KEEP, FAMILY, TAIL)),
    "onednn_transposed.c": onednn("onednn_transposed.c", REFUSED, OF_WEIGHTS),
    "kernels.inc": Tried(object_of_kernels("f32"), (), (TAIL,)),
    "kernels_window.inc": Tried(object_of_kernels("f32"), (), (WINDOW,)),
    "kernels_softmax.c": Tried(object_of_kernels("softmax"), (), (SEQUENCE,)),
    "kernels_attention.c": Tried(object_of_kernels("attention"), (), (SEQUENCE, CACHED)),
    "kernels_line.c": Tried(object_of_kernels("line"), (), (LINE,)),
    "kernels_recurrent.c": Tried(object_of_kernels("recurrent"), (), (RECURRENT,)),
    "kernels_curve.h": Tried(object_of_kernels("recurrent"), (), (RECURRENT,)),
    "update.inc": Tried(REF.object, (), (OPTIMIZER,)),
    "kernels_choose.c": Tried(object_of_backend("kernels_choose.c"), (), (TAIL, MODE, (OPERATORS, ("batchnorm_*_onednn",)))),
    "kernels_tail.h": Tried(object_of_kernels("f32"), (), (TAIL,)),
    "dropout.c": Tried(object_of_backend("dropout.c"), (), (DROPOUT, (OPERATORS, ("dropout_*",)))),
    "broadcast.c": Tried(object_of_backend("broadcast.c"), (), ((OPERATORS, ("add_*", "sub_*", "mul_*", "div_*")), ROWS)),
    "broadcast.h": REF._replace(programs=(ROWS,)), "padding.h": REF,
    "padding.c": Tried(object_of_backend("padding.c"), (), ((OPERATORS, ("pad_*",)),)),
    "matrices.h": Tried(object_of_backend("onednn_sequence.c"), (), (SEQUENCE,)),
    **{name: Tried(object_of_backend(name), (), (INTEGERS,)) for name in ("integer_weights.c", "onednn_integer.c")},
    "kernels_integer.c": Tried(object_of_kernels("integer"), (), (INTEGERS,)),
    "layer_verdict.c": Tried("src/libys_quant.a.p/quant_layer_verdict.c.o", (), OF_QUANT),
    "rounding.h": Tried("src/libys_quant.a.p/quant_exact_operator.c.o", (), OF_QUANT),
}
# What lies behind a line's end is not 0 for the kernels of softmax alone; those of LSTM and GRU add up no lanes.
OBJECTS = {("kernels_curve.h", "load_filled"): object_of_kernels("softmax"), ("kernels_curve.h", "total"): object_of_kernels("line"),
           ("kernels_tail.h", "tail_total"): object_of_backend("kernels_choose.c")}
# Kernels of long vectors take a minute of tests without any optimisation.
LEVELS = {made: "-O1" for made in {tried.object for tried in SOURCES.values()} if made.startswith("src/libys_kernels_")}
# Functions that no entry of an operator names: the cases that need them, without their ends.
CASES = {
    "copy_run": ["flatten_*", "add_*"], "accumulate_run": ["add_*", "mul_*", "concat_*", "reads_*"], "zero_run": ["split_*"],
    "input_run": ["normalize_*", "relu_*"],
    "count_targets": ["loss_*"], "cross_entropy_run": ["loss_label_*", "gemm_*"], "nll_run": ["loss_nll*"], "squared_error_run": ["loss_squared_*"],
    "cross_entropy": ["loss_label_*", "gemm_*"], "negative_log": ["loss_nll*"], "squared_error": ["loss_squared_*"],
    "ys_onednn_loss_run": ["loss_*"],
}
LOSSES = {name for name, cases in CASES.items() if cases[0].startswith("loss_")}  # HIDDEN tries them too
# Operators with no case in OPERATORS: of what others share with them, the others' cases show enough.
ELSEWHERE = {"attention", "last", "lstm", "gru"}
# What other programs try than those of the file: of what only a step of training shows, and of what a tail does not use.
PROGRAMS = {
    ("ref_norm.inc", "running_run"): (MODE, ["*"]),
    ("kernels_curve.h", "load_filled"): (SEQUENCE, ["*"]),
    ("kernels_curve.h", "total"): (LINE, ["*"]),
    ("onednn_dense.c", "wants_plain_weight"): (OF_CLASSES[0], list(OF_CLASSES[1])),
    ("onednn_misc.c", "ys_onednn_update"): (OPTIMIZER, ["*_onednn"]),
    **{("kernels.inc", name): (OPERATORS, ["add_*_onednn"]) for name in ("add_part", "add")},
    **{("kernels.inc", name): (OPERATORS, ["mul_*_onednn"]) for name in ("multiply_part", "multiply")},
}
