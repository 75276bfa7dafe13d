"""What all targets have in common; every target also has a test file of its own."""

import copy

import numpy as np
import pytest
from exported_models import MODELS, PROJECTED, fitted
from sklearn.exceptions import NotFittedError

from isrht import ISRHT, BoostedISRHT, LinearSVM
from isrht.export import TARGETS, ExportError, default_path, export_model


@pytest.mark.parametrize("to", TARGETS)
def test_only_fitted_classifiers_are_exported(to, tmp_path):
    if to == "onnx":
        pytest.importorskip("onnx")
    X, y = np.eye(4), [0, 1, 0, 1]
    for other in (ISRHT(2).fit(X, y), BoostedISRHT(2).fit(np.tile(X, (3, 1)), y * 3)):
        with pytest.raises(TypeError, match="only classifiers can be exported"):
            export_model(other, tmp_path / "model", to)
    with pytest.raises(NotFittedError):
        export_model(LinearSVM(), tmp_path / "model", to)
    assert list(tmp_path.iterdir()) == []


def test_unknown_targets_and_what_only_onnx_can(tmp_path):
    model, _ = fitted("supervised")
    with pytest.raises(ValueError, match="unknown target 'pmml': choose one of liblinear, onnx, sklearn, c"):
        export_model(model, tmp_path / "model", "pmml")
    for to in set(TARGETS) - {"onnx"}:
        with pytest.raises(ExportError, match="only onnx can hold the steps"):
            export_model(model, tmp_path / "model", to, unfolded=True)


@pytest.mark.parametrize("to", TARGETS)
def test_an_export_that_fails_leaves_the_old_file(to, tmp_path, monkeypatch):
    if to == "onnx":
        pytest.importorskip("onnx")
    model, _ = fitted("svm")
    path = tmp_path / "model"
    path.write_text("old")

    def fails(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fails)
    with pytest.raises(OSError, match="disk full"):
        export_model(model, path, to)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_names_of_files():
    assert default_path("folder/spam.isrht", "c").endswith("spam.h")
    assert default_path("spam", "sklearn") == "spam.trusted-only.pkl"


@pytest.mark.parametrize("to", sorted(set(TARGETS) - {"onnx"}))
@pytest.mark.parametrize("name", MODELS)
def test_equal_models_give_equal_files(to, name, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        export_model(fitted(name)[0], tmp_path / folder / "model", to)
    assert (tmp_path / "a" / "model").read_bytes() == (tmp_path / "b" / "model").read_bytes()


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("name", PROJECTED)
def test_parameters_that_were_changed_after_fit_change_nothing(to, name, tmp_path):
    if to == "onnx":
        pytest.importorskip("onnx")
    model, _ = fitted(name)
    export_model(model, tmp_path / "before", to, unfolded=to == "onnx")
    model = copy.deepcopy(model)
    model.set_params(scale=None if model.scale == "minmax" else "minmax", center=not model.center, sketch_size=3)
    if name != "boosted":
        model.projection_.set_params(center=not model.projection_.center, sketch_size=3, n_components=2)
    if getattr(model.projection_, "embedding_", None) is not None:
        model.projection_.embedding_.set_params(n_components=3)
    (tmp_path / "other").mkdir()
    export_model(model, tmp_path / "other" / "before", to, unfolded=to == "onnx")
    assert (tmp_path / "other" / "before").read_bytes() == (tmp_path / "before").read_bytes()
