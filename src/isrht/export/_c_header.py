"""A C header with the weights and the functions that use them; it needs nothing but the C99 standard library.

Weights are written as the shortest decimals that are read as the same doubles. If most features have no weight at all
(boosted columns may leave many out), only the others are written, with their numbers, and looked up by bisection. All
names begin with the stem of the file's name, so that a program can include several models. Where the model has
probabilities the header has a function for them, which needs the library of mathematics.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import isrht
from isrht.export._errors import ExportError
from isrht.export._feature_weights import feature_weights, integer_labels

# If fewer than this share of the features have a weight, only these are written.
SPARSE_SHARE = 0.25
PER_LINE = 6


def chunks(model, path):
    """Yield the bytes of a C header, piece by piece."""
    weights = feature_weights(model)
    name = identifier(Path(path).stem)
    kept = np.flatnonzero(weights.coef.any(axis=0))
    is_sparse = len(kept) < SPARSE_SHARE * weights.n_features
    label_type, labels = c_labels(weights.classes)
    yield fill(
        HEAD,
        name,
        version=isrht.__version__,
        model=type(model).__name__,
        guard=f"{name.upper()}_H",
        n_features=weights.n_features,
        n_classes=len(weights.classes),
        n_scores=weights.n_problems,
        probabilities=PROBABILITIES_HELP if weights.calibration is not None else "",
        math="" if weights.calibration is None else "#include <math.h>\n",
    )
    yield from array(f"static const {label_type}{name}_labels[]", labels)
    yield from array(f"static const double {name}_intercept[]", map(repr, weights.intercept.tolist()))
    if is_sparse:
        kept = kept if len(kept) else np.zeros(1, dtype=int)  # C has no empty arrays
        yield from array(f"static const unsigned long {name}_kept[]", (f"{k}UL" for k in kept.tolist()))
    table = (weights.coef[:, kept] if is_sparse else weights.coef).T
    yield from array(f"static const double {name}_weights[]", map(repr, table.ravel().tolist()))
    yield fill(SPARSE_LOOKUP if is_sparse else DENSE_LOOKUP, name, n_kept=len(kept))
    yield fill(FUNCTIONS, name, label=label_type)
    if weights.calibration is not None:
        offsets = map(repr, weights.calibration.offsets.tolist())
        yield from array(f"static const double {name}_calibration_offsets[]", offsets)
        yield fill(PROBABILITIES, name, slope=repr(weights.calibration.slope))
    yield b"\n#endif\n"


def identifier(stem):
    """Make the beginning of C names of the stem of a file's name."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", stem).strip("_")
    return name if name[:1].isalpha() else f"model_{name}".rstrip("_")


def c_labels(classes):
    """Return the type that the labels have in C, and each label as C writes it."""
    if classes.dtype.kind == "b":
        classes = classes.astype(np.int64)
    integers = integer_labels(classes)
    if integers is not None and integers.max() < 2**63:
        return "long long ", [c_integer(label) for label in integers.tolist()]
    if classes.dtype.kind in "UO":
        return "char *const ", [c_string(label) for label in classes.tolist()]
    raise ExportError(f"C has no labels of type {classes.dtype}")


def c_integer(value):
    """Return an integer as C writes it.

    The least one is written as a difference, because to C its digits without the sign are too large a number.
    """
    return f"{value}LL" if value > -(2**63) else f"({value + 1}LL - 1)"


def c_string(text):
    """Return a string as a literal of ASCII letters and octal escapes, which no encoding or trigraph can change."""
    if not isinstance(text, str):
        raise ExportError(f"C has no labels of type {type(text).__name__}, as {text!r} is")
    if "\0" in text:
        raise ExportError(f"strings of C end at a NUL, which is within the label {text!r}: train on other labels")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ExportError(f"the label {text!r} is no text: it has half of a surrogate pair")
    plain = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,:;/+()")
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode()) + '"'


def array(declaration, values):
    """Yield the definition of an array in lines of a few values."""
    yield f"{declaration} = {{\n".encode()
    line = []
    for value in values:
        line.append(value)
        if len(line) == PER_LINE:
            yield (" " + ", ".join(line) + ",\n").encode()
            line = []
    yield (" " + ", ".join(line) + "\n};\n").encode()


def fill(template, name, **values):
    """Return a template with its places filled; because C is full of braces, a place is written @so@.

    A single @ stands for the prefix of all names.
    """
    for key, value in values.items():
        template = template.replace(f"@{key}@", str(value))
    return template.replace("@", name).encode()


HEAD = """\
/* A linear classifier (@model@), exported by isrht @version@.
 *
 *   int c = @_class_dense(x);                       the class of one row, x[0] ... x[@n_features@ - 1]
 *   int c = @_class_sparse(indices, values, count); of one row given by its nonzeros, numbered from 0 in any order
 *   @_labels[c]                                     its label
 *   @_scores_dense(x, scores), @_scores_sparse(indices, values, count, scores): @n_scores@ score(s)
@probabilities@ *
 * A class is -1 where an index is out of range or a score is not a number. With two classes there is one score,
 * positive for the second. All functions are reentrant.
 */
#ifndef @guard@
#define @guard@

@math@#include <stddef.h>

enum { @_n_features = @n_features@, @_n_classes = @n_classes@, @_n_scores = @n_scores@ };

"""

DENSE_LOOKUP = """
static inline const double *@_weights_of(size_t feature) { return @_weights + feature * @_n_scores; }

static inline void @_scores_dense(const double *x, double *scores) {
    size_t k;
    int p;
    for (p = 0; p < @_n_scores; ++p) scores[p] = 0;
    for (k = 0; k < @_n_features; ++k)
        for (p = 0; p < @_n_scores; ++p) scores[p] += x[k] * @_weights_of(k)[p];
    for (p = 0; p < @_n_scores; ++p) scores[p] += @_intercept[p];
}
"""

SPARSE_LOOKUP = """
enum { @_n_kept = @n_kept@ };

/* The weights of a feature, or NULL if it has none. */
static inline const double *@_weights_of(size_t feature) {
    size_t low = 0, high = @_n_kept;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (@_kept[middle] < feature) low = middle + 1;
        else high = middle;
    }
    return low < @_n_kept && @_kept[low] == feature ? @_weights + low * @_n_scores : NULL;
}

static inline void @_scores_dense(const double *x, double *scores) {
    size_t k;
    int p;
    for (p = 0; p < @_n_scores; ++p) scores[p] = 0;
    for (k = 0; k < @_n_kept; ++k)
        for (p = 0; p < @_n_scores; ++p) scores[p] += x[@_kept[k]] * @_weights[k * @_n_scores + p];
    for (p = 0; p < @_n_scores; ++p) scores[p] += @_intercept[p];
}
"""

FUNCTIONS = """
/* 0, or -1 if an index is out of range. */
static inline int @_scores_sparse(const size_t *indices, const double *values, size_t count, double *scores) {
    size_t e;
    int p;
    for (p = 0; p < @_n_scores; ++p) scores[p] = 0;
    for (e = 0; e < count; ++e) {
        const double *weights;
        if (indices[e] >= @_n_features) return -1;
        weights = @_weights_of(indices[e]);
        if (weights != NULL)
            for (p = 0; p < @_n_scores; ++p) scores[p] += values[e] * weights[p];
    }
    for (p = 0; p < @_n_scores; ++p) scores[p] += @_intercept[p];
    return 0;
}

static inline int @_class_of(const double *scores) {
    int p, best = 0;
    for (p = 0; p < @_n_scores; ++p)
        if (scores[p] != scores[p]) return -1;
    if (@_n_scores == 1) return scores[0] > 0;
    for (p = 1; p < @_n_scores; ++p)
        if (scores[p] > scores[best]) best = p;
    return best;
}

static inline int @_class_dense(const double *x) {
    double scores[@_n_scores];
    @_scores_dense(x, scores);
    return @_class_of(scores);
}

static inline int @_class_sparse(const size_t *indices, const double *values, size_t count) {
    double scores[@_n_scores];
    return @_scores_sparse(indices, values, count, scores) == 0 ? @_class_of(scores) : -1;
}
"""

PROBABILITIES_HELP = """\
 *   @_probabilities(scores, p): from scores the probability of each class, p[0] ... p[@_n_classes - 1] (link with -lm)
"""

PROBABILITIES = """
static inline void @_probabilities(const double *scores, double *probabilities) {
    double largest = 0, sum = 0;
    int k;
    for (k = 0; k < @_n_scores; ++k) probabilities[k] = @slope@ * scores[k] + @_calibration_offsets[k];
    if (@_n_scores == 1) {
        probabilities[1] = probabilities[0];
        probabilities[0] = 0;
    }
    for (k = 0; k < @_n_classes; ++k)
        if (k == 0 || probabilities[k] > largest) largest = probabilities[k];
    for (k = 0; k < @_n_classes; ++k) sum += probabilities[k] = exp(probabilities[k] - largest);
    for (k = 0; k < @_n_classes; ++k) probabilities[k] /= sum;
}
"""
