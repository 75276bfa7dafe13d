"""A LIBLINEAR model file, for its ``predict`` and ``load_model``.

The file is a text: a header, then one line per feature with its weight in every two-class problem. The intercept is the
weight of one more feature that is always 1 (``bias 1``, ``-B 1``). To LIBLINEAR a positive score means the *first*
label, so the labels of two classes stand in the other order; among equal scores of several classes both programs take
the first.
"""

from __future__ import annotations

import numpy as np

from isrht.export._errors import ExportError
from isrht.export._feature_weights import feature_weights, integer_labels

# LIBLINEAR keeps labels as ints of C, which are not larger than this.
MOST = 2**31 - 1


def chunks(model, path):
    """Yield the bytes of a LIBLINEAR model file, line by line."""
    weights = feature_weights(model)
    labels = liblinear_labels(weights.classes)
    table, bias = weights.coef.T, -1
    if weights.intercept.any():
        table, bias = np.vstack([table, weights.intercept]), 1
    if weights.n_problems == 1:
        labels = labels[::-1]
    header = [
        "solver_type L2R_L2LOSS_SVC",
        f"nr_class {len(labels)}",
        f"label {' '.join(map(str, labels))}",
        f"nr_feature {weights.n_features}",
        f"bias {bias}",
        "w",
    ]
    yield "".join(f"{line}\n" for line in header).encode()
    for row in table:
        yield (" ".join(map(repr, row.tolist())) + " \n").encode()


def liblinear_labels(classes):
    """Return the labels as integers of 32 bits, or raise an error that says what to do about them."""
    integers = integer_labels(classes)
    if integers is None or np.any(np.abs(integers.astype(np.float64)) > MOST):
        raise ExportError(
            f"LIBLINEAR's labels are 32-bit integers, but this model's are {classes[:3].tolist()}...: train it on "
            "numbers (names, y = np.unique(labels, return_inverse=True)) and keep the names, or choose another target"
        )
    return integers.tolist()
