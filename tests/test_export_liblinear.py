"""The exported file, as LIBLINEAR itself reads and uses it."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from exported_models import MODELS, fitted, make_data
from isrht import LinearSVM
from isrht.export import ExportError, export_model

liblinear = pytest.importorskip("liblinear.liblinearutil", reason="liblinear-official is not installed")


def answers(path, X, y):
    model = liblinear.load_model(str(path))
    labels, _, scores = liblinear.predict(y, X, model, "-q")
    return np.array(labels), np.array(scores)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_liblinear_decides_as_the_model_does(name, n_classes, tmp_path):
    model, X = fitted(name, n_classes)
    export_model(model, tmp_path / "model", "liblinear")
    for rows in (X, sp.csr_matrix(X)):
        labels, scores = answers(tmp_path / "model", rows, [])
        assert_array_equal(labels, model.predict(X))
        expected = model.decision_function(X)
        assert_allclose(scores[:, 0] if n_classes == 2 else scores, expected, rtol=1e-9, atol=1e-12)
    assert len(np.unique(labels)) == n_classes


def test_the_intercept_is_the_weight_of_a_bias(tmp_path):
    for name, bias in (("svm", "bias 1"), ("without intercept", "bias -1")):
        model, _ = fitted(name)
        export_model(model, tmp_path / "model", "liblinear")
        lines = (tmp_path / "model").read_text().splitlines()
        assert lines[:6] == [
            "solver_type L2R_L2LOSS_SVC", "nr_class 2", "label 7 -3", "nr_feature 37", bias, "w",
        ]  # fmt: skip
        assert len(lines) == 6 + 37 + (bias == "bias 1")


def test_ties_go_to_the_same_class(tmp_path):
    for n_classes in (2, 3):
        model, X = fitted("without intercept", n_classes)
        export_model(model, tmp_path / "model", "liblinear")
        labels, _ = answers(tmp_path / "model", np.zeros((1, X.shape[1])), [])
        assert_array_equal(labels, model.predict(np.zeros((1, X.shape[1]))))


@pytest.mark.parametrize("labels", ["strings", "objects", "booleans"])
def test_labels_must_be_integers(labels, tmp_path):
    X, y = make_data(2, labels)
    with pytest.raises(ExportError, match="labels are 32-bit integers, but this model's are .* train it on numbers"):
        export_model(LinearSVM().fit(X, y), tmp_path / "model", "liblinear")
    with pytest.raises(ExportError, match="32-bit"):
        export_model(LinearSVM().fit(X, np.arange(90) % 2 * 2**40), tmp_path / "model", "liblinear")
    assert list(tmp_path.iterdir()) == []


def test_whole_numbers_may_be_floats(tmp_path):
    X, y = make_data(2)
    for dtype in (np.float64, np.float16):
        export_model(LinearSVM().fit(X, y.astype(dtype)), tmp_path / "model", "liblinear")
        assert set(answers(tmp_path / "model", X, [])[0]) == {-3, 7}
