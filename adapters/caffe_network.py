"""The prototxt of a graph: Caffe's layers, exactly the graph's operators or an answer that they cannot be."""

import os

import common
import common_graph
import numpy as np

os.environ.setdefault("GLOG_minloglevel", "2")  # it writes every layer it makes into the log
with common.importing("Caffe"):
    import caffe
    from caffe.proto import caffe_pb2
    from google.protobuf import text_format

FLOOR = getattr(caffe_pb2.PoolingParameter, "FLOOR", None)  # Caffe 1.0 of 2017 can only round up
LABEL, LOSS = "(label)", "(loss)"  # names that no graph has
FROZEN = {"lr_mult": 0, "decay_mult": 0}
# Their backward pass does not read what they made, so its only reader may work in place, as in Caffe's own models.
FORGETFUL = ("Conv", "Gemm", "BatchNormalization", "Add", "MaxPool", "AveragePool")
ACTIVATIONS = {
    "Relu": lambda attrs: ("ReLU", {}),
    "LeakyRelu": lambda attrs: ("ReLU", {"relu_param": {"negative_slope": attrs["alpha"]}}),
    "Tanh": lambda attrs: ("TanH", {}),
    "Sigmoid": lambda attrs: ("Sigmoid", {}),
    "Softmax": lambda attrs: ("Softmax", {"softmax_param": {"axis": attrs["axis"]}}),
    "Dropout": lambda attrs: ("Dropout", {"dropout_param": {"dropout_ratio": attrs["ratio"]}}),
    "GlobalAveragePool": lambda attrs: ("Pooling", {"pooling_param": {"pool": "AVE", "global_pooling": True}}),
    "GlobalMaxPool": lambda attrs: ("Pooling", {"pooling_param": {"pool": "MAX", "global_pooling": True}}),
    # Not Caffe's Flatten: behind a Reshape it leaves the layers before without gradients (they share memory otherwise).
    "Flatten": lambda attrs: ("Reshape", {"reshape_param": {"shape": {"dim": [0, -1]}}}),
    "Reshape": lambda attrs: ("Reshape", {"reshape_param": {"shape": {"dim": [0] + attrs["shape"][1:]}}}),
    "Add": lambda attrs: ("Eltwise", {"eltwise_param": {"operation": "SUM"}}),
    "Mul": lambda attrs: ("Eltwise", {"eltwise_param": {"operation": "PROD"}}),
    "Concat": lambda attrs: ("Concat", {"concat_param": {"axis": attrs["axis"]}}),
}


class Writer:
    """The prototxt of a plan. blobs: value -> the blob that holds it. owned: parameter -> layer, number of its blob
    there. constants: layer -> values of its blobs, of layers that learn nothing. source, logits: the blobs of the input
    and of the logits. ends_in_log: the latter are yet to go through LogSoftmax. logits_layer: the last layer before the
    loss."""

    def __init__(self, plan):
        self.plan, self.graph = plan, plan.graph
        self.net = caffe_pb2.NetParameter(name=str(plan.graph.get("name", "graph")))
        self.blobs, self.owned, self.constants = {}, {}, {}
        self.specs = {param["name"]: {"lr_mult": plan.multiplier(param, "lr_mult"),
                                      "decay_mult": plan.multiplier(param, "decay_mult")} for param in plan.params}
        readers = [name for node in self.graph["nodes"] for name in node["in"]] + [self.graph["output"]]
        makers = {name: node["op"] for node in self.graph["nodes"] for name in node["out"]}
        self.spare = {name for name, op in makers.items() if op in FORGETFUL and readers.count(name) == 1}
        first = self.graph["inputs"][0]
        self.source, self.ends_in_log = first["name"], self.graph["nodes"][-1]["op"] == "LogSoftmax"
        self.input(self.source, [plan.batch_size] + first["shape"][1:])
        for node in self.graph["nodes"]:
            self.node(node["op"], node.get("attrs", {}), node)
        self.logits = self.blobs[self.graph["output"]]
        self.logits_layer = self.net.layer[-1].name
        self.loss()

    def input(self, name, shape):
        self.blobs[name] = name
        self.net.layer.add(name=name, type="Input", top=[name], input_param={"shape": [{"dim": shape}]})

    def layer(self, kind, name, bottoms, tops=None, **params):
        """Adds a layer that writes the blobs `tops`, or one named as itself; gives their first."""
        tops = [name] if tops is None else tops
        self.net.layer.add(name=name, type=kind, bottom=bottoms, top=tops, **params)
        return tops[0] if tops else None

    def node(self, op, attrs, node):
        name, bottoms, out = node["name"], [self.blobs[value] for value in node["in"]], node["out"]
        self.at = node
        if op == "Dropout" and attrs["ratio"] == 0:
            self.blobs[out[0]] = bottoms[0]
        elif op == "Split":
            points = np.cumsum(attrs["split"][:-1]).tolist()
            self.layer("Slice", name, bottoms, out, slice_param={"axis": attrs["axis"], "slice_point": points})
            self.blobs.update((value, value) for value in out)
        elif op == "Relu" and node["in"][0] in self.spare:
            self.blobs[out[0]] = self.layer("ReLU", name, bottoms, bottoms)
        elif op in ACTIVATIONS:
            kind, params = ACTIVATIONS[op](attrs)
            self.blobs[out[0]] = self.layer(kind, name, bottoms, out, **params)
        else:
            self.blobs[out[0]] = getattr(self, "on_" + op)(name, bottoms[0], attrs, node.get("params", {}))

    def unsupported(self, what):
        raise common.Unsupported("Caffe has no %s (node %s)" % (what, self.at["name"]), self.at["op"])

    def own(self, layer, *names):
        """Notes that the layer's blobs are these parameters; gives their factors, for its `param`."""
        for number, name in enumerate(names):
            if self.specs[name]["lr_mult"] == 0:
                self.unsupported("gradient of a parameter that does not learn, like %s" % name)
            self.owned[name] = layer, number
        return [self.specs[name] for name in names]

    def on_normalize(self, name, bottom, attrs, _names):
        mean, std, scale = np.array(attrs["mean"]), np.array(attrs["std"]), attrs["scale"]
        factor, shift = scale / std, -mean / std
        if factor.size == shift.size == 1:
            return self.layer("Power", name, [bottom], power_param={"scale": factor[0], "shift": shift[0]})
        channels = self.graph["inputs"][0]["shape"][1]
        self.constants[name] = [np.broadcast_to(values, (channels,)) for values in (factor, shift)]
        return self.layer("Scale", name, [bottom], scale_param={"bias_term": True}, param=[FROZEN, FROZEN])

    def on_Conv(self, name, bottom, attrs, names):
        filters = self.plan.weights[names["weight"]].shape[0]
        kernel, strides, pads = attrs["kernel_shape"], attrs["strides"], attrs["pads"]
        param = self.own(name, *(names[role] for role in ("weight", "bias") if role in names))
        # Caffe pads evenly: more than is asked for, so that the windows still lie as they should; others are cut off.
        even, cuts = [], []
        for axis in range(2):
            before, after = pads[axis], pads[axis + 2]
            pad = next(pad for pad in range(before, before + after + strides[axis], strides[axis]) if pad >= after)
            even.append(pad)
            if before != after:
                size = self.shape(bottom)[axis + 2]
                window = common_graph.Window(attrs, axis, size)
                reach = attrs["dilations"][axis] * (kernel[axis] - 1) + 1
                made = (size + 2 * pad - reach) // strides[axis] + 1
                cuts.append((axis + 2, (pad - before) // strides[axis], window.windows, made))
        blob = self.layer("Convolution", name, [bottom], param=param, convolution_param={
            "num_output": filters, "kernel_h": kernel[0], "kernel_w": kernel[1], "stride_h": strides[0],
            "stride_w": strides[1], "pad_h": even[0], "pad_w": even[1], "dilation": attrs["dilations"],
            "group": attrs["group"], "bias_term": "bias" in names})
        return self.cut(blob, cuts)

    def shape(self, blob):
        """What Caffe says of a blob of the network so far."""
        return caffe.Net(write(self.plan, "shape", self.net), caffe.TEST).blobs[blob].data.shape

    def cut(self, blob, cuts):
        """Leaves `length` of `size` along an axis, from `first` on, for each (axis, first, length, size)."""
        for axis, first, length, size in cuts:
            points = [first, first + length]
            tops = ["%s_%d_%d" % (blob, axis, part) for part in range(3)]
            kept = [part for part, extent in enumerate((first, length, size - first - length)) if extent]
            if kept == [1]:
                continue
            self.layer("Slice", tops[1] + "_slice", [blob], [tops[part] for part in kept], slice_param={
                "axis": axis, "slice_point": [point for point in points if 0 < point < size]})
            self.layer("Silence", tops[1] + "_rest", [tops[part] for part in kept if part != 1], [])
            blob = tops[1]
        return blob

    def pool(self, kind, name, bottom, attrs):
        kernel, strides, pads = attrs["kernel_shape"], attrs["strides"], attrs["pads"]
        if attrs["dilations"] != [1, 1]:
            self.unsupported("pool with dilation")
        params = {"pool": kind, "kernel_h": kernel[0], "kernel_w": kernel[1], "stride_h": strides[0],
                  "stride_w": strides[1]}
        cuts, even = [], pads[:2]
        whole = all(strides[axis] <= kernel[axis] for axis in range(2))  # or a window might begin behind the image
        if pads[:2] == pads[2:] and (attrs["ceil_mode"] and (whole or any(pads))):
            pass
        elif pads[:2] == pads[2:] and not attrs["ceil_mode"] and FLOOR is not None:
            params["round_mode"] = FLOOR
        else:
            if kind == "AVE" and any(pads) or not whole:
                self.unsupported("pool with these windows: pads %s, strides %s, ceil_mode %s"
                                 % (pads, strides, attrs["ceil_mode"]))
            even, cuts = self.uneven(attrs, self.shape(bottom))
        if any(even):  # without any it refuses a window that is larger than the image
            params.update(pad_h=even[0], pad_w=even[1])
        return self.cut(self.layer("Pooling", name, [bottom], pooling_param=params), cuts)

    def uneven(self, attrs, shape):
        """As for convolutions. Caffe rounds up, and cuts at the image's end what reaches beyond its padding."""
        even, cuts = [], []
        for axis in range(2):
            kernel, stride = attrs["kernel_shape"][axis], attrs["strides"][axis]
            window, size = common_graph.Window(attrs, axis, shape[axis + 2]), shape[axis + 2]
            for pad in range(window.before, kernel, stride):
                made = min(-(-(size + 2 * pad - kernel) // stride), (size + pad - 1) // stride) + 1
                first = (pad - window.before) // stride
                if made >= first + window.windows:
                    even.append(pad)
                    cuts.append((axis + 2, first, window.windows, made))
                    break
            else:
                self.unsupported("pool with pads %s" % attrs["pads"])
        return even, cuts

    def on_MaxPool(self, name, bottom, attrs, _names):
        return self.pool("MAX", name, bottom, attrs)

    def on_AveragePool(self, name, bottom, attrs, _names):
        if any(attrs["pads"]) and not attrs["count_include_pad"]:
            self.unsupported("average pool whose padding does not count")
        return self.pool("AVE", name, bottom, attrs)

    def on_Gemm(self, name, bottom, _attrs, names):
        param = self.own(name, *(names[role] for role in ("weight", "bias") if role in names))
        filters = self.plan.weights[names["weight"]].shape[0]
        return self.layer("InnerProduct", name, [bottom], param=param,
                          inner_product_param={"num_output": filters, "bias_term": "bias" in names})

    def on_BatchNormalization(self, name, bottom, attrs, names):
        if not 0 < attrs["momentum"] < 1:
            self.unsupported("batch norm of momentum %s" % attrs["momentum"])
        self.owned.update({names["running_mean"]: (name, 0), names["running_var"]: (name, 1)})
        # Its statistics are sums that fade, over the count of what they hold, blob 2: see Caffe.load.
        self.constants[name] = [None, None, np.array([1 / attrs["momentum"]])]
        blob = self.layer("BatchNorm", name, [bottom], param=[FROZEN] * 3, batch_norm_param={
            "eps": attrs["epsilon"], "moving_average_fraction": 1 - attrs["momentum"]})
        scale = name + "_scale"
        return self.layer("Scale", scale, [blob], [blob], scale_param={"bias_term": True},
                          param=self.own(scale, names["weight"], names["bias"]))

    def on_LRN(self, name, bottom, attrs, _names):
        if attrs["size"] % 2 == 0:
            self.unsupported("local response normalisation of even size")
        return self.layer("LRN", name, [bottom], lrn_param={
            "local_size": attrs["size"], "alpha": attrs["alpha"], "beta": attrs["beta"], "k": attrs["bias"]})

    def on_Clip(self, name, bottom, attrs, _names):
        # Caffe's gradient at the bounds themselves is 1, the graph's 0. Below, ReLU makes it 0; above, the largest
        # number that is less than the bound takes its place.
        if attrs["min"] != 0 or "Clip" not in caffe.layer_type_list():
            self.unsupported("Clip from %s" % attrs["min"])
        top = float(np.nextafter(np.float32(attrs["max"]), np.float32(0)))
        blob = self.layer("ReLU", name + "_relu", [bottom])
        return self.layer("Clip", name, [blob], clip_param={"min": -1, "max": top})

    def on_ReduceMean(self, name, bottom, attrs, _names):
        shape, axes = self.shape(bottom), attrs["axes"]
        if axes != list(range(axes[0], len(shape))):
            self.unsupported("mean over other axes than the last ones")
        blob = self.layer("Reduction", name, [bottom], reduction_param={"operation": "MEAN", "axis": axes[0]})
        if not attrs["keepdims"]:
            return blob
        dims = [0] * axes[0] + [1] * len(axes)
        return self.layer("Reshape", name + "_shape", [blob], reshape_param={"shape": {"dim": dims}})

    def on_LogSoftmax(self, _name, bottom, attrs, _names):
        if self.at["out"][0] != self.graph["output"] or attrs["axis"] != 1:
            self.unsupported("LogSoftmax but at the end of a network")
        return bottom  # SoftmaxWithLoss has it; for the logits it is taken of what the last layer gives

    def loss(self):
        rows = self.plan.batch_size
        if self.plan.loss == "mean_squared_error" and not self.ends_in_log:
            classes = self.shape(self.logits)[1]
            self.input(LABEL, [rows, classes])
            self.layer("EuclideanLoss", LOSS, [self.logits, LABEL], loss_weight=[2.0 / classes])
        elif self.plan.loss == "softmax_cross_entropy" or self.plan.loss == "nll" and self.ends_in_log:
            self.input(LABEL, [rows])
            self.layer("SoftmaxWithLoss", LOSS, [self.logits, LABEL])
        else:
            raise common.Unsupported("loss %s: Caffe has it for the softmax of the last layer only" % self.plan.loss)


def write(plan, name, message):
    path = os.path.join(plan.folder, name + ".prototxt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text_format.MessageToString(message))
    return path
