"""The header, compiled with all warnings as errors and run."""

import shutil
import subprocess

import numpy as np
import pytest
from exported_models import LABELS, MODELS, fitted
from numpy.testing import assert_allclose, assert_array_equal

from isrht.export import ExportError, export_model
from isrht.export._c_header import identifier
from isrht.linear.classifier import FixedModel

CC = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(CC is None, reason="there is no C compiler")

# The program reads rows from standard input and prints the class and scores of each, as a dense and as a sparse row.
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include "model.h"
static void print(int c, const double *scores) {
    int p;
    printf("%d", c);
    for (p = 0; p < model_n_scores; ++p) printf(" %.17g", scores[p]);
    PROBABILITIES
    printf("\\n");
}
int main(void) {
    double *x = malloc(sizeof(double) * model_n_features), *values = malloc(sizeof(double) * model_n_features);
    size_t *indices = malloc(sizeof(size_t) * model_n_features), out_of_range = model_n_features;
    double scores[model_n_scores], one = 1;
    if (model_class_sparse(&out_of_range, &one, 1) != -1) return 2;
    while (fread(x, sizeof(double), model_n_features, stdin) == model_n_features) {
        size_t k, count = 0;
        model_scores_dense(x, scores);
        print(model_class_dense(x), scores);
        for (k = model_n_features; k-- > 0;)
            if (x[k] != 0) { indices[count] = k; values[count++] = x[k]; }
        model_scores_sparse(indices, values, count, scores);
        print(model_class_sparse(indices, values, count), scores);
    }
    for (int c = 0; c < model_n_classes; ++c) printf(LABEL "\\n", model_labels[c]);
    return 0;
}
"""
# What a model that has probabilities prints behind its scores.
PROBABILITIES = """double q[model_n_classes];
    model_probabilities(scores, q);
    for (p = 0; p < model_n_classes; ++p) printf(" %.17g", q[p]);"""
FORMATS = {"i": "%lld", "b": "%lld", "f": "%lld", "U": "%s", "O": "%s"}


def run(model, X, folder):
    """Return classes and scores of the dense rows and of the sparse ones, and the labels as they are printed."""
    export_model(model, folder / "model.h", "c")
    source = PROGRAM.replace("LABEL", f'"{FORMATS[model.classes_.dtype.kind]}"')
    has_probabilities = getattr(model, "calibration_", None) is not None
    (folder / "program.c").write_text(source.replace("PROBABILITIES", PROBABILITIES if has_probabilities else ""))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]
    subprocess.run([CC, *flags, "program.c", "-o", "program", "-lm"], cwd=folder, check=True)
    rows = np.ascontiguousarray(X).tobytes()
    done = subprocess.run([folder / "program"], input=rows, capture_output=True, check=True)
    lines = done.stdout.decode().splitlines()
    table = np.array([line.split() for line in lines[: 2 * len(X)]], dtype=float)
    return table[::2], table[1::2], lines[2 * len(X) :]


@needs_compiler
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_c_decides_as_the_model_does(name, n_classes, tmp_path):
    model, X = fitted(name, n_classes)
    *answers, labels = run(model, X, tmp_path)
    expected = model.decision_function(X).reshape(len(X), -1)
    if hasattr(model, "predict_proba"):
        expected = np.hstack([expected, model.predict_proba(X)])
    for answer in answers:
        assert_array_equal(model.classes_[answer[:, 0].astype(int)], model.predict(X))
        assert_allclose(answer[:, 1:], expected, rtol=1e-9, atol=1e-12)
    assert labels == [str(label) for label in model.classes_]


@needs_compiler
@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_all_types(labels, tmp_path):
    model, X = fitted("svm", min(3, len(LABELS[labels])), labels)
    printed = run(model, X, tmp_path)[2]
    expected = model.classes_.astype(int) if labels in ("booleans", "floats") else model.classes_
    assert printed == [str(label) for label in expected.tolist()]


@needs_compiler
def test_the_smallest_and_the_largest_label(tmp_path):
    ends = np.array([-(2**63), 2**63 - 1])
    model = FixedModel.of(ends, np.ones((1, 2)), np.zeros(1))
    assert run(model, np.ones((1, 2)), tmp_path)[2] == list(map(str, ends.tolist()))


@needs_compiler
@pytest.mark.parametrize("n_problems", [1, 3])
@pytest.mark.parametrize("n_kept", [0, 1, 50])
def test_only_weights_that_are_not_zero_are_written_where_they_are_few(n_problems, n_kept, tmp_path, rng):
    coef = np.zeros((n_problems, 20_000))
    kept = np.sort(rng.choice(20_000, n_kept, replace=False))
    coef[:, kept] = rng.standard_normal((n_problems, n_kept))
    model = FixedModel.of(np.arange(max(2, n_problems)), coef, rng.standard_normal(n_problems))
    X = rng.standard_normal((5, 20_000)) * (rng.random((5, 20_000)) < 0.5)
    *answers, _ = run(model, X, tmp_path)
    for answer in answers:
        assert_allclose(answer[:, 1:], model.decision_function(X).reshape(5, -1), rtol=1e-9, atol=1e-12)
    assert (tmp_path / "model.h").stat().st_size < 20_000


@needs_compiler
def test_many_features(tmp_path, rng):
    model = FixedModel.of(np.arange(2), rng.standard_normal((1, 200_000)), np.zeros(1))
    X = rng.standard_normal((2, 200_000))
    dense, _, _ = run(model, X, tmp_path)
    assert_allclose(dense[:, 1], model.decision_function(X), rtol=1e-9)


@needs_compiler
def test_a_value_that_is_not_a_number_has_no_class(tmp_path):
    model, X = fitted("svm")
    X[0, 3] = np.nan
    dense, sparse, _ = run(model, X[:1], tmp_path)
    assert dense[0, 0] == sparse[0, 0] == -1


@pytest.mark.parametrize(
    ("label", "problem"),
    [("a\0b", "strings of C end at a NUL, which is within the label 'a.x00b'"), ("a\ud800", "no text"), (7, "int")],
)
def test_labels_that_c_cannot_have(label, problem, tmp_path):
    model = FixedModel.of(np.array([label, "z"], dtype=object), np.ones((1, 2)), np.zeros(1))
    with pytest.raises(ExportError, match=problem):
        export_model(model, tmp_path / "model.h", "c")
    assert list(tmp_path.iterdir()) == []


def test_prefixes():
    assert identifier("spam") == "spam"
    assert identifier("spam filter-2") == "spam_filter_2"
    assert identifier("7up") == "model_7up"
    assert identifier("ü") == "model"
