"""Saving and loading: what comes back to the bit, what is refused, and what is said about a model."""

import math
import os

import joblib
import numpy as np
import pandas as pd
import pytest
from forged_files import content_of, model_of
from kept_models import N_FEATURES, assert_same, assert_same_bits, fit, fitted_model, outputs
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from isrht import ISRHTClassifier, LinearSVM, load, save
from isrht.models import ModelFileError, _packing, model_file, read_about

NAMES = np.array(["ash", "birch", "cedar"])


@pytest.mark.parametrize("folded", [True, False])
def test_round_trip_is_bit_exact(fitted, data, folded):
    loaded = model_of(content_of(fitted, folded=folded))
    assert_same(loaded, fitted)
    for mine, theirs in zip(outputs(loaded, data[0]), outputs(fitted, data[0]), strict=True):
        assert_same_bits(mine, theirs)


def test_loaded_arrays_are_writable_and_aligned(fitted):
    for value in vars(model_of(content_of(fitted))).values():
        if isinstance(value, np.ndarray):
            assert value.flags.writeable
            assert value.flags.aligned
            assert value.dtype.isnative


@pytest.mark.parametrize(
    "labels",
    [
        NAMES,
        NAMES.astype(object),
        np.array(["ä\0", "ä", "日本"], dtype=object),
        np.array([-1, 5, 2**40]),
        np.array([0, 1, 255], dtype=np.uint8),
        np.array([0.0, 1.0, 3.0], dtype=np.float32),
        np.array([True, False, True]),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_keep_their_type(data, labels):
    X, y = data
    for model in (LinearSVM(), ISRHTClassifier(8, selection="supervised", C=1.0)):
        loaded = model_of(content_of(model.fit(X, labels[y])))
        assert_same_bits(loaded.predict(X), model.predict(X))
        assert_same(loaded, model)


@pytest.mark.parametrize("labels", [[1, "a"], [b"a", b"b"]])
def test_labels_that_no_file_can_hold_are_named(path, labels):
    model = LinearSVM().fit(np.eye(4), [0, 1, 0, 1])
    model.classes_ = np.array(labels, dtype=object)
    with pytest.raises(ModelFileError, match=r"cannot save .* classes_ .* not strings: (int|bytes)"):
        save(model, path)
    for dtype in ("datetime64[D]", np.dtypes.StringDType()):
        model.classes_ = np.array(["2020-01-01", "2020-01-02"], dtype=dtype)
        with pytest.raises(ModelFileError, match=r"classes_ is of type .*, which a model file cannot hold"):
            save(model, path)
    assert not path.exists()


@pytest.mark.parametrize("name", ["supervised", "svm", "classifier", "leverage", "embedding", "maxabs"])
def test_feature_names_come_back(data, name):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"größe {k}" for k in range(N_FEATURES)])
    model = fit(name, frame, y)
    loaded = model_of(content_of(model))
    assert_same(loaded, model)
    method = "transform" if hasattr(model, "transform") else "predict"
    assert_same_bits(getattr(loaded, method)(frame), getattr(model, method)(frame))
    with pytest.raises(ValueError, match="feature names"):
        getattr(loaded, method)(frame[frame.columns[::-1]])


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("supervised", {"center": True, "n_components": 3, "sketch_size": 10}),
        ("centred", {"center": False, "selection": "uniform"}),
        ("sketched", {"sketch_size": None, "center": True}),
        ("boosted z", {"diagonal": "signs", "n_components": 3, "scaled": False}),
        ("embedding", {"n_components": 2, "diagonal": "z", "dense_output": True}),
        ("embedding of z", {"n_components": "auto", "diagonal": "random"}),
        ("leverage", {"n_components": 1}),
        ("fourier", {"n_components": 3, "gamma": 7.0}),
        ("svm cv", {"Cs": [3.0], "refit": False}),
        ("classifier", {"scale": "minmax", "center": True, "C": "cv"}),
        ("classifier cv", {"scale": None, "C": 3.0}),
        ("classifier sketched", {"sketch_size": None, "selection": "boosted"}),
    ],
)
@pytest.mark.parametrize("folded", [True, False])
def test_parameters_that_were_changed_after_fit_change_nothing(data, name, changes, folded):
    """What comes back is what was fitted, and the parameters as they are."""
    before = list(outputs(fitted_model(name), data[0]))
    model = fitted_model(name).set_params(**changes)
    loaded = model_of(content_of(model, folded=folded))
    assert_same(loaded, model)
    after = list(outputs(loaded.set_params(**fitted_model(name).get_params(deep=False)), data[0]))
    for mine, theirs in zip(after, before, strict=True):
        assert_same_bits(mine, theirs)


# ------------------------------------------------------------ what is not saved


def test_only_fitted_models_of_this_package_are_saved(path):
    class Mine(LinearSVM):
        pass

    with pytest.raises(NotFittedError):
        save(LinearSVM(), path)
    with pytest.raises(TypeError, match=r"cannot save .*Mine: a model file holds ISRHT, "):
        save(Mine().fit(np.eye(2), [0, 1]), path)
    with pytest.raises(TypeError, match="cannot save dict"):
        save({}, path)
    assert not path.exists()


def test_a_model_that_could_not_be_loaded_is_not_saved(path):
    model = fitted_model("svm")
    model.coef_ = np.full_like(model.coef_, np.nan)
    with pytest.raises(ModelFileError, match="cannot save this LinearSVM: coef_ is not finite"):
        save(model, path)
    assert not path.exists()


@pytest.mark.parametrize("existing", [True, False])
def test_an_error_leaves_the_old_file_and_nothing_else(small, monkeypatch, existing):
    path, model = small
    before = path.read_bytes()
    if not existing:
        path.unlink()

    def interrupted(*args, archive=model_file.archive):
        chunks = list(archive(*args))
        yield from chunks[: len(chunks) // 2]
        raise KeyboardInterrupt

    monkeypatch.setattr(model_file, "archive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(model.set_params(C=2.0), path)
    assert os.listdir(path.parent) == ([path.name] if existing else [])
    assert not existing or path.read_bytes() == before


def test_only_errors_of_the_file_become_errors_of_the_file(small, monkeypatch):
    """A fault of this package, or no memory, is no damage of the file."""
    path, _ = small

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(_packing, "codec_named", fail)
    with pytest.raises(MemoryError):
        load(path)


# ------------------------------------------------------------ what is said about a model


def test_what_is_to_be_known_of_a_model_travels_with_it(path):
    model = LinearSVM().fit([[-1.0], [1.0]], [0, 1])
    save(model, path, about={"index_base": 1, "classes": ["nein", "ja"]})
    found = read_about(path)
    assert found["index_base"] == 1
    assert found["classes"] == ["nein", "ja"]
    assert found["class"] == "LinearSVM"
    assert found["bytes"] == path.stat().st_size
    save(model, path)
    assert set(read_about(path)) == {"class", "isrht_version", "bytes"}
    with pytest.raises(ModelFileError, match="cannot read"):
        read_about(path.with_name("nowhere"))


@pytest.mark.parametrize(
    ("about", "error"),
    [
        ({"X": np.ones(2)}, TypeError),
        ({"x": math.nan}, TypeError),
        ("text", TypeError),
        ({"x": "y" * 70_000}, ValueError),
    ],
)
def test_only_a_little_json_can_be_told_about_a_model(about, error, path):
    with pytest.raises(error, match="about"):
        save(LinearSVM().fit([[-1.0], [1.0]], [0, 1]), path, about=about)
    assert not path.exists()


# ------------------------------------------------------------ other libraries' files


def test_joblib_and_skops_keep_everything(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = ISRHTClassifier(3, selection="supervised", random_state=0).fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    copies = [joblib.load(tmp_path / "model.joblib")]
    try:
        import skops.io
    except ImportError:
        pass  # an extra that nothing else needs
    else:
        data = skops.io.dumps(model)
        untrusted = skops.io.get_untrusted_types(data=data)
        assert all(name.startswith("isrht.") for name in untrusted)
        copies.append(skops.io.loads(data, trusted=untrusted))
    for twin in copies:
        assert_array_equal(twin.decision_function(X), model.decision_function(X))
        assert_array_equal(twin.projection_.column_scores_, model.projection_.column_scores_)
