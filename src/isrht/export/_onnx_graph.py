"""An ONNX graph of standard operators, in float32.

As weights of features, a classifier is one ``MatMul``, one ``Add``, and the label of the best score. Unfolded, it is
the steps of the paper one by one: scale, sketch, flip signs, pad, rotate, keep columns, scale them, SVM. The
Walsh-Hadamard matrix of length 2^k is a Kronecker product of small ones, so rows are rotated by reshaping them and
multiplying the last axis by each factor in turn; after the last factor all axes are back in their places. Boosted
columns have one diagonal per round: rows are copied once per round, and all copies are rotated together.

The input is ``X`` (n, n_features). The outputs are ``label`` (n,) and ``scores``, which is (n,) for two classes and
else (n, n_classes); a model that has probabilities also has ``probabilities`` (n, n_classes), and an unfolded graph
``components`` (n, n_components).
"""

from __future__ import annotations

import json

import numpy as np
from scipy.linalg import block_diag, hadamard
from sklearn.preprocessing import MaxAbsScaler

import isrht
from isrht.boosting.estimator import BoostedISRHT
from isrht.export._errors import ExportError
from isrht.export._feature_weights import feature_weights

# These are the operators of 2021, which every maintained runtime knows.
OPSET, IR_VERSION = 17, 8
# The factors of a rotation have at most 2 to this power rows.
MOST_FACTOR_BITS = 6
# A protocol buffer cannot be larger than 2 GB.
MOST_BYTES = 2**31 - 2**20


def chunks(model, path, unfolded=False):
    """Yield the bytes of the graph, in one piece."""
    onnx = import_onnx()
    weights = feature_weights(model)
    graph = Graph(onnx)
    if unfolded:
        if not hasattr(model, "projection_"):
            raise ExportError(f"{type(model).__name__} has no projection to unfold: export it without --unfolded")
        if getattr(model, "all_features_svm_", None) is not None:
            raise ExportError("a blend with an SVM on all features cannot be unfolded: export it without --unfolded")
        components = add_steps(graph, model)
        graph.add("Identity", components, output="components")
        scores = add_linear(graph, components, model.svm_.coef_, model.svm_.intercept_)
    else:
        scores = add_linear(graph, "X", weights.coef, weights.intercept)
    add_decision(graph, scores, weights)
    if weights.calibration is not None:
        add_probabilities(graph, scores, weights.calibration)
    size = graph.nbytes()
    if size > MOST_BYTES:
        raise ExportError(f"an ONNX file holds 2 GB, but these weights need {size / 2**30:.1f} GB")
    yield finished(onnx, graph, model, weights).SerializeToString()


def import_onnx():
    try:
        import onnx
    except ImportError as error:
        raise ModuleNotFoundError("onnx is missing: pip install 'isrht[onnx]'", name="onnx") from error
    return onnx


class Graph:
    """The nodes and constants of a graph while it is built; their names end in numbers."""

    def __init__(self, onnx):
        self.onnx, self.nodes, self.constants = onnx, [], []

    def constant(self, value, name):
        name = f"{name}_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def floats(self, value, name):
        with np.errstate(over="ignore"):
            single = np.asarray(value, dtype=np.float32)
        if not np.isfinite(single).all():
            raise ExportError(f"{name} of this model are too large for float32, which ONNX graphs compute in")
        return self.constant(single, name)

    def integers(self, value, name):
        return self.constant(np.asarray(value, dtype=np.int64), name)

    def add(self, operator, *inputs, output=None, **attributes):
        output = output or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [output], **attributes))
        return output

    def nbytes(self):
        return sum(tensor.ByteSize() for tensor in self.constants)


def add_linear(graph, x, coef, intercept):
    product = graph.add("MatMul", x, graph.floats(np.asarray(coef).T, "weights"))
    return graph.add("Add", product, graph.floats(intercept, "intercept"))


def add_decision(graph, scores, weights):
    if weights.n_problems == 1:
        flat = graph.add("Reshape", scores, graph.integers([-1], "shape"), output="scores")
        positive = graph.add("Greater", flat, graph.floats(0.0, "zero"))
        code = graph.add("Cast", positive, to=graph.onnx.TensorProto.INT64)
    else:
        graph.add("Identity", scores, output="scores")
        code = graph.add("ArgMax", scores, axis=1, keepdims=0)
    graph.add("Gather", graph.constant(label_values(weights.classes), "classes"), code, output="label", axis=0)


def add_probabilities(graph, scores, calibration):
    steep = graph.add("Mul", scores, graph.floats(calibration.slope, "calibration_slope"))
    raw = graph.add("Add", steep, graph.floats(calibration.offsets, "calibration_offsets"))
    if len(calibration.offsets) == 1:
        graph.add("Sigmoid", graph.add("Concat", graph.add("Neg", raw), raw, axis=1), output="probabilities")
    else:
        graph.add("Softmax", raw, output="probabilities", axis=1)


def label_values(classes):
    """Return the labels in one of the types that runtimes can choose from: integers, floats or strings."""
    if classes.dtype.kind in "biu":
        return classes.astype(np.int64)
    return classes.astype(np.float64) if classes.dtype.kind == "f" else classes.astype(object)


# ------------------------------------------------------------ the steps one by one


def add_steps(graph, model):
    """Add the steps from X to the components that the SVM was trained on."""
    projection = model.projection_
    x = add_scaling(graph, model)
    if isinstance(projection, BoostedISRHT):
        diagonals, rounds = projection.diagonals_, projection.column_rounds_
    else:
        x = add_sketch(graph, x, projection.embedding_)
        diagonals, rounds = projection.signs_[None], np.zeros(projection.n_components_, dtype=np.int64)
    length = projection.n_features_padded_
    rotated = add_rotation(graph, x, diagonals, length)
    columns = graph.integers(rounds * length + projection.selected_columns_, "columns")
    kept = graph.add("Gather", rotated, columns, axis=1)
    return add_column_scales(graph, kept, projection)


def add_scaling(graph, model):
    if model.scaler_ is None:
        return "X"
    if isinstance(model.scaler_, MaxAbsScaler):
        return graph.add("Div", "X", graph.floats(model.scaler_.scale_, "scale"))
    scaled = graph.add("Mul", "X", graph.floats(model.scaler_.scale_, "scale"))
    return graph.add("Add", scaled, graph.floats(model.scaler_.min_, "minimum"))


def add_sketch(graph, x, embedding):
    """Add a count sketch: every feature, with its sign, is added to its component."""
    if embedding is None:
        return x
    signed = graph.add("Mul", x, graph.floats(embedding.signs_, "sketch_signs"))
    shape = graph.add("Shape", x)
    rows = graph.add("Gather", shape, graph.integers([0], "first"), axis=0)
    size = graph.add("Concat", rows, graph.integers([embedding.n_components_], "size"), axis=0)
    zeros = graph.add("Expand", graph.floats([[0.0]], "zero"), size)
    places = graph.add("Expand", graph.integers(embedding.components_[None], "sketch_components"), shape)
    return graph.add("ScatterElements", zeros, places, signed, axis=1, reduction="add")


def add_rotation(graph, x, diagonals, length):
    """Add the rotation of rows by every diagonal, not normalised: (n, n_rotated) to (n, n_diagonals * length)."""
    copies = graph.add("Unsqueeze", x, graph.integers([1], "axis"))
    x = graph.add("Mul", copies, graph.floats(diagonals, "diagonals"))
    if length > diagonals.shape[1]:
        x = graph.add("Pad", x, graph.integers([0, 0, 0, 0, 0, length - diagonals.shape[1]], "padding"))
    bits = length.bit_length() - 1
    n_factors = -(-bits // MOST_FACTOR_BITS)
    for factor in range(n_factors):
        size = 2 ** (bits // n_factors + (factor < bits % n_factors))
        x = graph.add("Reshape", x, graph.integers([-1, length // size, size], "shape"))
        x = graph.add("MatMul", x, graph.floats(hadamard(size), "hadamard"))
        x = graph.add("Transpose", x, perm=[0, 2, 1])
    return graph.add("Reshape", x, graph.integers([-1, len(diagonals) * length], "shape"))


def add_column_scales(graph, kept, projection):
    scales = projection.column_scales_
    if isinstance(projection, BoostedISRHT):
        contrasts = np.eye(projection.n_components_ - projection.n_learned_)
        kept = graph.add("MatMul", kept, graph.floats(block_diag(projection.mixing_.T, contrasts), "mixing"))
    else:
        scales = scales / np.sqrt(projection.n_features_padded_)
    scaled = graph.add("Mul", kept, graph.floats(scales, "column_scales"))
    if projection.mean_ is None:
        return scaled
    return graph.add("Sub", scaled, graph.floats(projection.offsets_, "offsets"))


# ------------------------------------------------------------ the file


def finished(onnx, graph, model, weights):
    """Return the graph with its inputs and outputs as a checked ONNX model."""
    helper, types = onnx.helper, onnx.TensorProto
    label_type = helper.np_dtype_to_tensor_dtype(label_values(weights.classes).dtype)
    outputs = [
        helper.make_tensor_value_info("label", label_type, ["n"]),
        helper.make_tensor_value_info("scores", types.FLOAT, ["n"] + [weights.n_problems] * (weights.n_problems > 1)),
    ]
    if weights.calibration is not None:
        outputs.append(helper.make_tensor_value_info("probabilities", types.FLOAT, ["n", len(weights.classes)]))
    if "components" in {name for node in graph.nodes for name in node.output}:
        n_components = model.projection_.n_components_
        outputs.append(helper.make_tensor_value_info("components", types.FLOAT, ["n", n_components]))
    inputs = [helper.make_tensor_value_info("X", types.FLOAT, ["n", weights.n_features])]
    made = helper.make_model(
        helper.make_graph(graph.nodes, "isrht", inputs, outputs, graph.constants),
        producer_name="isrht",
        producer_version=isrht.__version__,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    about = {"model": type(model).__name__}
    if weights.feature_names is not None:
        about["feature_names"] = json.dumps(weights.feature_names.tolist())
    helper.set_model_props(made, about)
    onnx.checker.check_model(made, full_check=True)
    return made
