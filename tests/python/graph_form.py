"""What a graph computes, whatever its values, nodes and parameters are called and in whatever order they stand: two files of one
form are one work, and a proof of the one is one of the other."""

import hashlib
import json
import struct

NAMES = ("format", "version", "name", "nodes", "params", "inputs", "output")


def read_tensors(path):
    """Name to bytes, of a safetensors file."""
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    return {name: data[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]]
            for name, entry in header.items() if name != "__metadata__"}


def in_order(graph):
    """The nodes as they are met from the output backwards, each behind what it reads."""
    makers = {name: node for node in graph["nodes"] for name in node["out"]}
    met, order, waiting = set(), [], [(makers.get(graph["output"]), False)]
    while waiting:
        node, is_ready = waiting.pop()
        if node is None or (not is_ready and node["name"] in met):
            continue
        if is_ready:
            order.append(node)
            continue
        met.add(node["name"])
        waiting.append((node, True))
        waiting += [(makers.get(name), False) for name in reversed(node["in"])]
    return order


def form_of(graph_path, weights_path):
    """A sum of the form: operators, attributes, who reads what, shapes and initial distributions of parameters, and the values of
    those that are not trained. Trained ones are drawn by the seed. Proofs leave dropout out, and so does the form."""
    with open(graph_path, encoding="utf-8") as file:
        graph = json.load(file)
    tensors, params = read_tensors(weights_path), {param["name"]: param for param in graph["params"]}
    values = {entry["name"]: place for place, entry in enumerate(graph["inputs"])}
    places, nodes, held = {}, [], []
    for node in in_order(graph):
        if node["op"] == "Dropout":
            values[node["out"][0]] = values[node["in"][0]]
            continue
        for name in node["out"]:
            values.setdefault(name, len(set(values.values())))
        for key in sorted(node["params"]):
            name = node["params"][key]
            if name not in places:
                places[name] = len(places)
                held.append({key: value for key, value in params[name].items() if key != "name"})
                if params[name]["role"] == "weight" and not params[name].get("lr_mult", 1):
                    held[-1]["values"] = hashlib.sha256(tensors[name]).hexdigest()
        nodes.append([node["op"], node["attrs"], [values[name] for name in node["in"]], [values[name] for name in node["out"]],
                      {key: places[name] for key, name in node["params"].items()}])
    rest = {key: value for key, value in graph.items() if key not in NAMES}
    inputs = [{key: value for key, value in entry.items() if key != "name"} for entry in graph["inputs"]]
    text = json.dumps([nodes, held, inputs, values[graph["output"]], rest], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
