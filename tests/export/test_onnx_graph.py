"""The graphs, run by onnxruntime."""

import builtins
import json

import numpy as np
import pandas as pd
import pytest
from exported_models import LABELS, MODELS, PROJECTED, fitted, make_data
from numpy.testing import assert_allclose, assert_array_equal
from svm_data import noisy

from isrht import ISRHTClassifier, LinearSVM
from isrht.export import ExportError, export_model
from isrht.linear.classifier import FixedModel

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def run(model, X, folder, unfolded=False):
    path = folder / "model.onnx"
    export_model(model, path, "onnx", unfolded=unfolded)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X.astype(np.float32)}), strict=True))


def assert_same_decisions(answers, model, X):
    X = X.astype(np.float32)
    expected = model.decision_function(X)
    assert answers["scores"].shape == expected.shape
    size = np.abs(expected).max()
    assert_allclose(answers["scores"], expected, rtol=1e-5, atol=1e-5 * size)
    clear = np.abs(expected) if expected.ndim == 1 else np.diff(np.sort(expected)[:, -2:], axis=1)[:, 0]
    sure = clear > 1e-4 * size
    assert sure.mean() > 0.9
    assert_array_equal(answers["label"][sure], model.predict(X)[sure])
    assert ("probabilities" in answers) == hasattr(model, "predict_proba")
    if "probabilities" in answers:
        assert_allclose(answers["probabilities"], model.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_folded(name, n_classes, tmp_path):
    model, X = fitted(name, n_classes)
    answers = run(model, X, tmp_path)
    assert_same_decisions(answers, model, X)
    operators = [node.op_type for node in onnx.load(tmp_path / "model.onnx").graph.node]
    assert operators.count("MatMul") == 1
    assert operators.count("Add") == 1 + hasattr(model, "predict_proba")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", PROJECTED)
def test_unfolded(name, n_classes, tmp_path):
    model, X = fitted(name, n_classes)
    answers = run(model, X, tmp_path, unfolded=True)
    assert_same_decisions(answers, model, X)
    components = model.transform(X)
    assert_allclose(answers["components"], components, rtol=1e-5, atol=1e-5 * np.abs(components).max())


@pytest.mark.parametrize("diagonal", ["standard", "z", "signs"])
def test_all_kinds_of_boosted_diagonals_unfold(diagonal, tmp_path, monkeypatch):
    X, y = make_data(3)
    monkeypatch.setattr("isrht.boosting._plan.KINDS", {"auto": (diagonal,)})
    model = ISRHTClassifier(12, selection="boosted", random_state=0).fit(X, y)
    assert model.projection_.diagonal_ == diagonal
    assert_same_decisions(run(model, X, tmp_path, unfolded=True), model, X)


@pytest.mark.parametrize("n_features", [1, 2, 3, 64, 100, 5000])
def test_every_length_is_a_product_of_factors(n_features, tmp_path, rng):
    X = rng.standard_normal((40, n_features)) + np.arange(40)[:, None] % 2
    model = ISRHTClassifier(min(8, n_features), selection="supervised", C=1.0, random_state=0).fit(X, np.arange(40) % 2)
    assert_same_decisions(run(model, X, tmp_path, unfolded=True), model, X)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_all_types(labels, n_classes, tmp_path):
    model, X = fitted("svm", min(n_classes, len(LABELS[labels])), labels)
    answers = run(model, X[:1], tmp_path)
    assert answers["label"].tolist() == model.predict(X[:1]).tolist()
    assert_same_decisions(run(model, X, tmp_path), model, X)


def test_names_of_features_are_in_the_file(tmp_path):
    X, y = make_data()
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])])
    export_model(LinearSVM().fit(frame, y), tmp_path / "model.onnx", "onnx")
    about = {entry.key: entry.value for entry in onnx.load(tmp_path / "model.onnx").metadata_props}
    assert json.loads(about["feature_names"]) == frame.columns.tolist()


def test_what_cannot_be_exported(tmp_path, monkeypatch):
    with pytest.raises(ExportError, match="LinearSVM has no projection to unfold"):
        export_model(fitted("svm")[0], tmp_path / "model.onnx", "onnx", unfolded=True)
    huge = FixedModel.of(np.arange(2), np.array([[1e300]]), np.zeros(1))
    with pytest.raises(ExportError, match="too large for float32"):
        export_model(huge, tmp_path / "model.onnx", "onnx")
    monkeypatch.setattr("isrht.export._onnx_graph.MOST_BYTES", 10)
    with pytest.raises(ExportError, match="holds 2 GB"):
        export_model(fitted("svm")[0], tmp_path / "model.onnx", "onnx")
    assert list(tmp_path.iterdir()) == []


def test_a_blend_is_exported_folded_only(tmp_path):
    X, y = noisy(300, 12, noise=1.0)
    model = ISRHTClassifier(6, blend=True, random_state=0).fit(X, y)
    assert model.all_features_svm_ is not None
    with pytest.raises(ExportError, match="a blend with an SVM on all features cannot be unfolded"):
        export_model(model, tmp_path / "model.onnx", "onnx", unfolded=True)
    assert list(tmp_path.iterdir()) == []
    assert_same_decisions(run(model, X, tmp_path), model, X)


def test_without_onnx_the_error_says_what_to_install(tmp_path, monkeypatch):
    real = builtins.__import__

    def without_onnx(name, *rest):
        if name == "onnx":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_onnx)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'isrht\[onnx\]'"):
        export_model(fitted("svm")[0], tmp_path / "model.onnx", "onnx")
