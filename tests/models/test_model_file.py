"""The model file: what comes back to the bit, what is refused, and that no file is ever half written."""

import base64
import copy
import functools
import io
import json
import math
import os
import pickle
import re
import signal
import stat
import subprocess
import sys
import threading
import zipfile
import zlib
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn_models import SKLEARN_MODELS, takes_no_sparse_rows

import isrht
from isrht import (
    ISRHT,
    BoostedISRHT,
    HadamardFourierFeatures,
    ISRHTClassifier,
    LeverageScoreSelection,
    LinearSVM,
    LinearSVMCV,
    SparseEmbedding,
)
from isrht.models import _archive as archive_module
from isrht.models import model_file as persistence
from isrht.models._archive import ModelFileError
from isrht.models.model_file import load, read_about, save

N_FEATURES = 37
NAMES = np.array(["ash", "birch", "cedar"])

MODELS = {
    "supervised": ISRHT(8, random_state=0),
    "uniform": ISRHT(8, selection="uniform", random_state=0),
    "importance": ISRHT(8, selection="importance", class_weight={0: 1.0, 1: 2.5, 2: 1}, random_state=0),
    "centred": ISRHT(0.5, selection="top", center=True, random_state=np.int64(3)),
    "sketched": ISRHT(8, sketch_size=300, random_state=0),
    "boosted": BoostedISRHT(12, diagonal="standard", random_state=0),
    "boosted z": BoostedISRHT(12, diagonal="z", rounds=2, random_state=0),
    "boosted signs": BoostedISRHT(12, diagonal="signs", random_state=0),
    "embedding": SparseEmbedding(300, random_state=0),
    "embedding of learned signs": SparseEmbedding(7, diagonal="signs", random_state=0),
    "embedding of z": SparseEmbedding(7, diagonal="z", random_state=0),
    "leverage": LeverageScoreSelection(5, random_state=0),
    "fourier": HadamardFourierFeatures(50, random_state=0),
    "fourier chosen": HadamardFourierFeatures(30, gamma=0.1, candidates=4, random_state=0, n_jobs=2),
    "svm": LinearSVM(),
    "svm without intercept": LinearSVM(fit_intercept=False, class_weight="balanced"),
    "svm cv": LinearSVMCV([0.1, 1.0], cv=3),
    "classifier": ISRHTClassifier(8, C=1.0, random_state=0),
    "classifier cv": ISRHTClassifier(8, Cs=np.array([0.1, 1.0]), cv=3, scale="maxabs", random_state=0),
    "classifier minmax": ISRHTClassifier(8, C=1, scale="minmax", center=True, random_state=0),
    "classifier sketched": ISRHTClassifier(8, C=np.float32(0.5), sketch_size=20, random_state=0),
    "classifier boosted": ISRHTClassifier(12, selection="boosted", random_state=0),
}
MODELS |= SKLEARN_MODELS

# What a file leaves out of a model.
LEFT_OUT = {"_seed", "_selected", "_settings", "_fit_svd_solver", "statistics_"}


@pytest.fixture
def data():
    return make_data()


def make_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, N_FEATURES)) * (rng.random((60, N_FEATURES)) < 0.5)
    return X, rng.integers(0, 3, 60)


@pytest.fixture(autouse=True)
def synced(monkeypatch):
    """What was synced to disk: noted instead of done, as it takes seconds on a busy disk."""
    done = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: done.append(stat.S_IFMT(os.fstat(descriptor).st_mode)))
    monkeypatch.setattr(os, "replace", lambda *paths, replace=os.replace: (replace(*paths), done.append("renamed")))
    return done


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.isrht"


@pytest.fixture(params=MODELS)
def fitted(request):
    return fitted_model(request.param)


def fitted_model(name):
    return copy.deepcopy(fitted_once(name))


@functools.cache
def fitted_once(name):
    return fit(name, *make_data())


def fit(name, X, y):
    return clone(MODELS[name]).fit(X, y)


@pytest.fixture
def small(path):
    """A small file, and the model in it."""
    model = fitted_model("svm")
    save(model, path)
    return path, model


def outputs(model, X):
    """All that a fitted model says of some rows, in every storage it takes."""
    kinds = [
        X,
        X.astype(np.float32),
        np.asfortranarray(X),
        sp.csr_array(X),
        sp.csr_matrix(X.astype(np.float32)),
    ]
    for rows in kinds[: 3 if takes_no_sparse_rows(model) else None]:
        for method in ("transform", "decision_function", "predict"):
            if hasattr(model, method):
                yield getattr(model, method)(rows)
    if hasattr(model, "inverse_transform") and not isinstance(model, LeverageScoreSelection):
        yield model.inverse_transform(model.transform(X))


def assert_same_bits(left, right):
    left, right = (values.toarray() if sp.issparse(values) else values for values in (left, right))
    assert left.dtype == right.dtype
    assert left.shape == right.shape
    assert left.tolist() == right.tolist() if left.dtype == object else left.tobytes() == right.tobytes()


def assert_same(loaded, model):
    """The same class, parameters and attributes, with their types."""
    assert type(loaded) is type(model)
    if isinstance(model, np.ndarray):
        assert_same_bits(loaded, model)
        order = [array.flags.f_contiguous and not array.flags.c_contiguous for array in (loaded, model)]
        assert order[0] == order[1]
    elif sp.issparse(model):
        for name in ("data", "indices", "indptr"):
            assert_same_bits(getattr(loaded, name), getattr(model, name))
    elif hasattr(model, "get_params"):
        assert vars(loaded).keys() | LEFT_OUT == vars(model).keys() | LEFT_OUT
        for name in vars(model).keys() - LEFT_OUT:
            assert_same(getattr(loaded, name), getattr(model, name))
    elif isinstance(model, dict):
        assert_same(list(loaded.items()), list(model.items()))
    elif isinstance(model, list | tuple):
        assert len(loaded) == len(model)
        for mine, theirs in zip(loaded, model, strict=True):
            assert_same(mine, theirs)
    else:
        assert loaded == model or (loaded != loaded and model != model)


def temporaries(path):
    return [name for name in os.listdir(path.parent) if name.endswith(".tmp")]


# ------------------------------------------------------------ what comes back


@pytest.mark.parametrize("folded", [True, False])
def test_round_trip_is_bit_exact(fitted, data, path, folded):
    save(fitted, path, folded=folded)
    loaded = load(path)
    assert_same(loaded, fitted)
    for mine, theirs in zip(outputs(loaded, data[0]), outputs(fitted, data[0]), strict=True):
        assert_same_bits(mine, theirs)


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
def test_labels_keep_their_type(data, path, labels):
    X, y = data
    for model in (LinearSVM(), ISRHTClassifier(8, C=1.0)):
        model.fit(X, labels[y])
        save(model, path)
        assert_same_bits(load(path).predict(X), model.predict(X))
        assert_same(load(path), model)


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
def test_feature_names_come_back(data, path, name):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"größe {k}" for k in range(N_FEATURES)])
    model = fit(name, frame, y)
    save(model, path)
    loaded = load(path)
    assert_same(loaded, model)
    method = "transform" if hasattr(model, "transform") else "predict"
    assert_same_bits(getattr(loaded, method)(frame), getattr(model, method)(frame))
    with pytest.raises(ValueError, match="feature names"):
        getattr(loaded, method)(frame[frame.columns[::-1]])


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        2**63,
        -0.0,
        1e-300,
        float("inf"),
        float("nan"),
        "ü\ud800",
        [1, 2.0, None],
        (1, (2, 3)),
        {},
        {0: 1.0, "a": 2, 2.5: [3], np.int8(4): np.float32(0.1)},
        np.float64(0.1),
        np.bool_(True),
        np.str_("a"),
        2.0 ** np.arange(-5, 6),
        np.array([[1, 2], [3, 4]], dtype=np.uint16),
        np.array([np.nan, -np.inf], dtype=np.float16),
    ],
    ids=repr,
)
def test_parameters_keep_value_and_type(small, value):
    path, model = small
    model.set_params(class_weight=value)
    save(model, path)
    assert_same(load(path).class_weight, value)


def test_objects_as_parameters_are_not_stored_and_one_warning_names_them(data, path):
    def score(model, X, y):
        return model.score(X, y)

    search = LinearSVMCV(cv=StratifiedKFold(3), scoring=score, tol=1e-4).fit(*data)
    with pytest.warns(UserWarning, match=r"which load as defaults: cv, scoring$") as warned:
        save(search, path)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    loaded = load(path)
    assert (loaded.cv, loaded.scoring, loaded.tol) == (5, None, 1e-4)
    assert_same_bits(loaded.coef_, search.coef_)


@pytest.mark.parametrize(
    "value",
    [np.random.RandomState(0), 2**64, list(range(100_000)), 1j, {"a": {1}}],
    ids=lambda value: type(value),
)
def test_parameters_that_do_not_fit_are_not_stored(data, path, value):
    model = ISRHT(8, random_state=0).fit(*data).set_params(random_state=value)
    with pytest.warns(UserWarning, match="random_state$"):
        save(model, path)
    assert load(path).random_state is None
    assert path.stat().st_size < 4000


def test_a_parameter_that_contains_itself_is_not_stored(small):
    path, model = small
    loop = []
    loop.append(loop)
    with pytest.warns(UserWarning, match="class_weight$"):
        save(model.set_params(class_weight=loop), path)


def test_fields_that_are_no_plain_numbers_are_named(small):
    path, model = small
    model.n_iter_ = object()
    with pytest.raises(ModelFileError, match="cannot save this LinearSVM: a model file cannot hold <object"):
        save(model, path)


def test_a_partially_fitted_model_is_selected_and_saved(data, path):
    X, y = data
    model = ISRHT(8, random_state=0).partial_fit(X[:30], y[:30]).partial_fit(X[30:], y[30:])
    save(model, path)
    assert_same_bits(load(path).transform(X), ISRHT(8, random_state=0).fit(X, y).transform(X))


def test_a_loaded_projection_has_no_statistics_and_does_not_pretend_to(data, path):
    save(ISRHT(8, random_state=0).fit(*data), path)
    loaded = load(path)
    assert loaded.statistics_ is None
    assert loaded.column_scores_ is None
    assert loaded.selection_probabilities_ is None
    with pytest.raises(ValueError, match="partial_fit"):
        loaded.partial_fit(*data)
    assert_same_bits(loaded.fit(*data).transform(data[0]), ISRHT(8, random_state=0).fit_transform(*data))
    loaded.partial_fit(*data)


def test_loaded_arrays_are_writable_and_aligned(fitted, path):
    save(fitted, path)
    for value in vars(load(path)).values():
        if isinstance(value, np.ndarray):
            assert value.flags.writeable
            assert value.flags.aligned
            assert value.dtype.isnative


def test_size_is_a_bit_for_each_feature(path):
    n_features, r = 1_355_191, 256
    X = sp.random_array((20, n_features), density=1e-4, format="csr", random_state=0)
    model = ISRHTClassifier(r, selection="uniform", C=1.0, random_state=0).fit(X, np.arange(20) % 2)
    save(model.projection_, path)
    assert path.stat().st_size <= n_features / 8 + 32 * r
    save(model, path, folded=False)
    assert path.stat().st_size <= n_features / 8 + 64 * r
    assert_same_bits(load(path).coef_, model.coef_)
    save(model, path)
    assert path.stat().st_size <= n_features / 8 + 8 * n_features + 64 * r


def test_changed_weights_are_not_saved_unfolded(data, path):
    model = ISRHTClassifier(8, C=1.0).fit(*data)
    model.coef_ = model.coef_ + 1
    with pytest.raises(ModelFileError, match=r"coef_ is not what its parts give; save it with folded=True"):
        save(model, path, folded=False)
    save(model, path)
    assert_same_bits(load(path).coef_, model.coef_)


@pytest.mark.parametrize(
    "name", [name for name in MODELS if name != "leverage"]
)  # a randomized SVD may round differently
def test_equal_models_give_equal_bytes(data, path, name):
    save(fitted_model(name), path)
    first = path.read_bytes()
    save(fit(name, *data), path)
    assert path.read_bytes() == first
    save(load(path), path)
    assert path.read_bytes() == first


def test_numpy_and_zip_tools_read_the_file(fitted, path):
    save(fitted, path)
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        assert file.namelist()[0] == "manifest.json"
        manifest = json.loads(file.read("manifest.json"))
    assert manifest["model"]["class"] == type(fitted).__name__
    arrays = np.load(path, allow_pickle=False)
    for name, spec in manifest["members"].items():
        assert list(arrays[name].shape) == spec["shape"]
        assert arrays[name].dtype.str == spec["dtype"]
        assert_same_bits(arrays[name], np.load(io.BytesIO(zipfile.ZipFile(path).read(f"{name}.npy"))))


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


@pytest.mark.parametrize(
    ("name", "attribute", "value", "message"),
    [
        ("svm", "coef_", np.full((3, N_FEATURES), np.nan), "coef_ is not finite"),
        ("svm", "coef_", np.ones((3, 5)), "coef_ has shape"),
        ("supervised", "signs_", np.zeros(N_FEATURES), "signs_ are not all"),
        ("supervised", "_mean", np.ones(3), "mean_ has shape"),
        ("embedding", "n_components_", 2, "components_ are out of range"),
        ("classifier", "scaler_", StandardScaler().fit(np.eye(N_FEATURES)), "scaler_/ is of class StandardScaler, not"),
        ("fourier", "phases_", np.ones(65), "phases_ are not those of whole blocks"),
        ("fourier", "selected_columns_", np.arange(500), "selected_columns_ are out of range"),
    ],
)
def test_a_model_that_was_spoilt_is_not_saved(path, name, attribute, value, message):
    model = fitted_model(name)
    setattr(model, attribute, value)
    with pytest.raises((ModelFileError, AttributeError), match=message):
        save(model, path)
    assert not path.exists()


# ------------------------------------------------------------ what is refused


class Bomb:
    """Leaves a mark where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def foreign_files(mark="mark"):
    image = b"\x89PNG\r\n\x1a\n" + bytes(100)
    arrays, bomb, whole = io.BytesIO(), io.BytesIO(), io.BytesIO()
    np.savez(arrays, coef_=np.ones(3))
    np.save(whole, np.ones(3))
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("manifest.json", b" " * 10_000_000)
    return {
        "empty": (b"", "it is empty"),
        "text": (b"hello, world\n" * 20, "it is a text file"),
        "short text": (b"hi", "it is a text file"),
        "image": (image, "it is a PNG image"),
        "noise": (bytes(range(256)), "it is a foreign file"),
        "npy": (whole.getvalue(), "it is a single NumPy array"),
        "npz": (arrays.getvalue(), "it is a zip archive .an npz, perhaps., but not a model file"),
        "pickle": (pickle.dumps(Bomb(mark)), "it is a pickle, which this package never loads"),
        "zip bomb": (bomb.getvalue(), "it is damaged, or packed by another program"),
    }


@pytest.mark.parametrize("kind", foreign_files())
def test_foreign_files_are_refused_by_name(path, kind):
    mark = path.parent / "mark"
    content, message = foreign_files(mark)[kind]
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=rf"cannot load '.*model\.isrht': {message}"):
        load(path)
    assert not mark.exists()


def test_what_is_no_file_is_refused(path, tmp_path):
    with pytest.raises(ModelFileError, match="there is no such file"):
        load(path)
    with pytest.raises(ModelFileError, match="it is a directory"):
        load(str(tmp_path))
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
        with pytest.raises(ModelFileError, match="it is not a regular file"):
            load(path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_refused(small):
    path, _ = small
    path.chmod(0)
    with pytest.raises(ModelFileError, match=r"it cannot be read \(Permission denied"):
        load(path)


def test_a_flipped_bit_is_noticed_wherever_it_is(small):
    """Also in those bytes of the archive that no zip tool looks at."""
    path, _ = small
    content = bytearray(path.read_bytes())
    for position in range(0, len(content), 5):
        content[position] ^= 1 << position % 8
        path.write_bytes(content)
        with pytest.raises(ModelFileError):
            load(path)
        content[position] ^= 1 << position % 8
    path.write_bytes(content)
    load(path)


def test_every_truncation_and_extension_is_noticed(small):
    path, _ = small
    content = path.read_bytes()
    for length in [1, 2, 3, 5, *range(7, len(content), 13), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match="truncated"):
            load(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(ModelFileError, match="1 bytes longer"):
        load(path)


def test_a_file_packed_anew_is_refused(small):
    path, _ = small
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    with pytest.raises(ModelFileError, match="packed by another program"):
        load(path)


def test_files_larger_than_allowed_are_refused_unread(small):
    path, _ = small
    size = path.stat().st_size
    load(path, max_bytes=size)
    with pytest.raises(ModelFileError, match=f"it has {size} bytes, more than max_bytes={size - 1}"):
        load(path, max_bytes=size - 1)
    with open(path, "r+b") as file:
        file.truncate(2**42)
    with pytest.raises(ModelFileError, match=f"it has {2**42} bytes, more than max_bytes"):
        load(path)


def test_a_manifest_larger_than_allowed_is_refused(small):
    path, _ = small
    content = path.read_bytes()
    head = archive_module.local_header("manifest.json", 2**40, 0)
    path.write_bytes(head + content[len(head) :])
    with pytest.raises(ModelFileError, match=f"declares {2**40} bytes"):
        load(path)


def read(path):
    raw = np.fromfile(path, dtype=np.uint8)
    manifest = archive_module.read_manifest(raw)
    return manifest, archive_module.read_members(raw, manifest)


def forge(path, *, node=None, arrays=None, manifest=None):
    """Rewrite a file with other contents and the right checksum, as a stranger could."""
    found, found_arrays = read(path)
    arrays = found_arrays if arrays is None else arrays
    raw, members = archive_module.describe(node or found["model"], arrays, found["about"])
    forged = json.loads(raw) | (manifest or {})
    del forged["sha256"]
    forged["sha256"] = archive_module.checksum(forged, [data for *_, data in members])
    path.write_bytes(b"".join(map(bytes, archive_module.archive(archive_module.to_json(forged), members))))


def test_a_forged_file_that_is_right_loads(small):
    path, model = small
    forge(path, manifest={"isrht_version": "0.0.7"})
    assert_same(load(path), model)


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ({"format": "other"}, "format is not 'isrht-model'"),
        (
            {"format_version": 2, "isrht_version": "7.1"},
            r"format version 2, .* isrht 7\.1, .* up to format version 1",
        ),
        ({"format_version": 0}, "format version 0 is unknown"),
        ({"format_version": "1"}, "format version '1' is unknown"),
        ({"format_version": True}, "format version True is unknown"),
        ({"more": 1}, "other entries"),
        ({"model": []}, "describes no model"),
        ({"about": "nothing"}, "says about the model is no table"),
        ({"model": {"class": "LinearSVM"}}, "describes no model"),
        ({"members": []}, "lists no members"),
        ({"members": {"../up": {"strings": 3}}}, "no member is called"),
        (
            {"members": {"coef_": {"dtype": "|O", "shape": [3], "fortran_order": False}}},
            "no member is declared",
        ),
        (
            {"members": {"coef_": {"dtype": "<f8", "shape": [-3], "fortran_order": False}}},
            "no member is declared",
        ),
        (
            {"members": {"coef_": {"dtype": "<f8", "shape": [], "fortran_order": False}}},
            "no member is declared",
        ),
        (
            {"members": {"coef_": {"dtype": "<f8", "shape": [2**45], "fortran_order": False}}},
            "truncated: its arrays need",
        ),
        (
            {"members": {"coef_": {"dtype": "<U999999", "shape": [2**47, 2**47], "fortran_order": True}}},
            "truncated",
        ),
        ({"members": {"coef_": {"strings": 2**47}}}, "truncated"),
        ({"members": {}}, "bytes longer"),
    ],
    ids=str,
)
def test_forged_manifests_are_refused(small, manifest, message):
    path, _ = small
    forge(path, manifest=manifest)
    with pytest.raises(ModelFileError, match=message):
        load(path)


def test_a_manifest_written_otherwise_is_refused(small):
    """No second way to write the same: no spaces, no repeated keys."""
    path, _ = small
    manifest, _ = read(path)
    for text in (json.dumps(manifest).encode(), b"[" * 100_000, b"1" * 5000, b"NaN", b"\xff"):
        path.write_bytes(b"".join(archive_module.archive(text, [])))
        with pytest.raises(ModelFileError, match=r"its manifest is (damaged|nested|not that of a model)"):
            load(path)
    deep = {"format": "isrht-model", "format_version": 1}
    for key in archive_module.MANIFEST_KEYS[2:]:
        deep[key] = {}
    text = json.dumps(deep).replace('"model": {}', f'"model": {"[" * 900}{"]" * 900}')
    path.write_bytes(b"".join(archive_module.archive(text.encode(), [])))
    with pytest.raises(ModelFileError):
        load(path)


def test_a_wrong_checksum_is_named(small):
    path, _ = small
    manifest, arrays = read(path)
    _, members = archive_module.describe(manifest["model"], arrays, manifest["about"])
    manifest["sha256"] = "0" * 64
    path.write_bytes(b"".join(map(bytes, archive_module.archive(archive_module.to_json(manifest), members))))
    with pytest.raises(ModelFileError, match="its checksum is wrong"):
        load(path)


@pytest.mark.parametrize("name", ["os.system", "FeatureUnion", "LinearSVC", "_LinearClassifier", "__class__"])
def test_unknown_classes_are_refused(small, name):
    path, _ = small
    manifest, _ = read(path)
    forge(path, node=manifest["model"] | {"class": name})
    with pytest.raises(ModelFileError, match=f"its class '{name}' is unknown; known are ISRHT, "):
        load(path)


def test_parts_of_another_class_are_refused(data, path):
    save(ISRHTClassifier(8, C=1.0).fit(*data), path)
    node = read(path)[0]["model"]
    node["parts"]["projection_"]["class"] = "SparseEmbedding"
    forge(path, node=node)
    with pytest.raises(ModelFileError, match=r"projection_/ is of class SparseEmbedding, not ISRHT"):
        load(path)


def test_unknown_parameters_fields_and_arrays_are_refused(small):
    path, _ = small
    content = path.read_bytes()
    manifest, arrays = read(path)
    for key, addition, message in [
        ("params", {"evil": 1}, "LinearSVM has no parameter 'evil'"),
        ("values", {"evil": 1}, "LinearSVM holds unknown fields: evil"),
        ("parts", {"evil": {}}, "LinearSVM holds unknown fields: evil"),
    ]:
        path.write_bytes(content)
        forge(path, node=manifest["model"] | {key: manifest["model"][key] | addition})
        with pytest.raises(ModelFileError, match=message):
            load(path)
    path.write_bytes(content)
    forge(path, node=manifest["model"] | {"not_stored": ["evil"]})
    with pytest.raises(ModelFileError, match="no parameter 'evil'"):
        load(path)
    path.write_bytes(content)
    forge(path, arrays=arrays | {"evil": np.ones(3)})
    with pytest.raises(ModelFileError, match="unknown arrays: evil"):
        load(path)


def spoilt(array):
    """Arrays that are like this one, but cannot take its place."""
    if array.dtype != object:
        yield array.astype("<f4" if array.dtype.kind != "f" else "<i8")
        yield array[None] if array.ndim == 1 else array[0]
    if array.ndim == 1:
        yield np.append(array, array[-1:])
        yield np.append(array, array[-1:])[None]
    if array.dtype.kind == "f":
        yield np.where(np.arange(array.size).reshape(array.shape) == 0, np.nan, array)


def test_arrays_that_do_not_fit_are_refused(fitted, path):
    save(fitted, path)
    content = path.read_bytes()
    _, arrays = read(path)
    for name, array in arrays.items():
        for other in spoilt(array):
            may_be_nan = "scores_" in name and (np.isnan(other.astype(float)).any() or "fold" in name)
            if may_be_nan or ("classes_" in name and other.shape == array.shape):
                continue
            path.write_bytes(content)
            forge(path, arrays=arrays | {name: other})
            with pytest.raises(ModelFileError, match=r"has shape|is of type|is not finite|are not|are out of"):
                load(path)
        if name.rpartition("/")[2] in OPTIONAL:
            continue
        path.write_bytes(content)
        forge(path, arrays={key: value for key, value in arrays.items() if key != name})
        with pytest.raises(ModelFileError):
            load(path)


# A model without them is another model, but one there can be.
OPTIONAL = {"mean_", "magnitudes_"}


@pytest.mark.parametrize(
    ("model", "array", "change", "message"),
    [
        ("supervised", "selected_columns_", lambda a: a + 64, "selected_columns_ are out of range"),
        ("supervised", "selected_columns_", lambda a: a - 64, "selected_columns_ are out of range"),
        ("supervised", "selected_columns_", lambda a: a[::-1].copy(), "columns_ are not in increasing order"),
        ("supervised", "column_scales_", lambda a: 0 * a, "column_scales_ are not positive"),
        ("supervised", "column_scales_", lambda a: np.inf * a, "column_scales_ is not finite"),
        ("supervised", "signs_", lambda a: a | 1, "signs_ are for another number of features"),
        ("supervised", "signs_", lambda a: a[:-1], "signs_ has shape"),
        ("boosted", "selected_columns_", lambda a: a + 64, "selected_columns_ are out of range"),
        ("boosted", "column_rounds_", lambda a: a + 64, "column_rounds_ are out of range"),
        ("boosted", "selected_columns_", lambda a: 0 * a + 1, "the learned columns do not come first"),
        ("boosted z", "norms", lambda a: -a, "norms of the diagonals are not positive"),
        ("embedding", "components_", lambda a: a + np.uint16(300), "components_ are out of range"),
        ("leverage", "kept", lambda a: a + N_FEATURES, "kept features are out of range"),
        ("svm", "classes_", lambda a: a[::-1].copy(), "classes_ are not different labels in order"),
        ("svm", "classes_", lambda a: a * 0, "classes_ are not different labels in order"),
        ("svm", "classes_", lambda a: a[:1], "classes_ are not two or more labels"),
        ("svm", "classes_", lambda a: np.array([0, 1, np.nan]), "classes_ are not finite"),
        ("svm", "classes_", lambda a: a[:2], "coef_ has shape"),
        ("classifier", "svm_/classes_", lambda a: a + 1, "svm_ is for other classes"),
        ("classifier cv", "scaler_/scale_", lambda a: -a, "scale_ is not positive"),
    ],
)
def test_values_out_of_range_are_refused(path, model, array, change, message):
    save(fitted_model(model), path)
    _, arrays = read(path)
    forge(path, arrays=arrays | {array: change(arrays[array])})
    with pytest.raises(ModelFileError, match=message):
        load(path)


def test_parts_for_other_numbers_of_features_are_refused(data, path, tmp_path):
    X, y = data
    other = tmp_path / "other"
    for name, part in {
        "classifier cv": "scaler_",
        "classifier": "projection_",
        "sketched": "embedding_",
    }.items():
        save(fit(name, X, y), path)
        save(getattr(fit(name, X[:, 1:], y), part), other)
        (manifest, arrays), (part_manifest, part_arrays) = read(path), read(other)
        manifest["model"]["parts"][part] = part_manifest["model"]
        arrays |= {f"{part}/{key}": value for key, value in part_arrays.items()}
        forge(path, node=manifest["model"], arrays=arrays)
        with pytest.raises(ModelFileError, match="for another number of features"):
            load(path)


def test_lists_of_strings_that_are_none_are_refused(data, path):
    model = LinearSVM().fit(data[0], NAMES.astype(object)[data[1]])
    save(model, path)
    manifest, arrays = read(path)
    good = json.dumps(arrays["classes_"].tolist())
    for bad in ("[1, 2, 3]", '{"a": 1}', "[1", "é", '["a", ["b"]]'):
        raw, members = archive_module.describe(manifest["model"], arrays, manifest["about"])
        bad = bad.encode("latin-1").ljust(len(good))
        members[0] = ("classes_.json", b"", np.frombuffer(bad, dtype=np.uint8))
        forged = json.loads(raw)
        del forged["sha256"]
        forged["sha256"] = archive_module.checksum(forged, [data for *_, data in members])
        path.write_bytes(b"".join(map(bytes, archive_module.archive(archive_module.to_json(forged), members))))
        with pytest.raises(ModelFileError, match=r"classes_ is (damaged|not a list of strings)"):
            load(path)


def leaves(node, way=()):
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield (*way, key)
        yield from leaves(value, (*way, key))


JUNK = [
    None,
    True,
    -1,
    0,
    2**70,
    1e308,
    float("nan"),
    "x",
    [],
    {},
    [[1]],
    {"float": "1"},
    {"tuple": 1},
    {"dict": [[[], 1]]},
    {"dict": [1]},
    {"numpy": ["|O", [], [1]]},
    {"numpy": ["<U999999", [10_000], ["x"] * 10_000]},
    {"numpy": ["<i8", [2], [1]]},
    {"numpy": ["|u1", [1], [1000]]},
    {"evil": 1},
]


@pytest.mark.parametrize(
    "name",
    [
        *("classifier cv", "sketched", "boosted signs", "svm cv", "fourier", "achlioptas", "gaussian", "pca"),
        *("quantile", "power", "standard", "tfidf", "variance", "pipeline of a classifier", "pipeline of nothing"),
    ],
)
def test_junk_anywhere_in_a_manifest_is_refused_or_harmless(path, name):
    """Every entry of the manifest in turn becomes something else, as after a forger has signed it."""
    save(fitted_model(name), path)
    manifest, arrays = read(path)
    text = json.dumps(manifest["model"])
    refused = 0
    for *way, last in leaves(manifest["model"]):
        for junk in JUNK:
            node = place = json.loads(text)
            for key in way:
                place = place[key]
            place[last] = junk
            try:
                assert type(persistence.unpack(node, arrays)) is type(MODELS[name])
            except ModelFileError:
                refused += 1
            else:
                assert HARMLESS & {*way, last}
    assert refused > 50


# What may be missing, and what may be another number.
HARMLESS = {"params", "not_stored", "parts", "n_iter_", "C_", "n_samples_seen_"}
HARMLESS |= {"threshold_", "has_signal_", "held_out_score_", "rounds_", "row_scale", "weight_unit_"}
HARMLESS |= {"dense_output", "gamma_", "density_", "is_array", "noise_variance_", "n_samples_", "names"}


# ISRHT(2, selection="top", center=True, random_state=0), fitted to the iris data frame, saved by isrht 0.1.0
# in format version 1. Later versions must read it.
FIRST_FORMAT = """
c-p;H&rj4q6z<9oWfKkY=aOhro9IGZHna=7g=pkJ42EC`=)oYVv+XQfXs1nQ7DVL0AD|(4^TffU2QPT@$jOtM_z!sVgwdF2OmL>1?ryim
Krqf>XZy{2-@Nb5doxoLZSDO+FfI%4cCJ0$<Kv`oR<HpwD-e_X0(MYJ=oYry0@H9_O^Z^+@oYe(5m7R+S0(+nV?ayF)mOA7=wZ`A)Iw&c
Z`A}!19>?=;5!7aBO;|0CEWrTv-R6E)8lv9x+uB812*OsqErSJKssd1`GK4d=@1d<QG|Fk$RS3gEkkp@%ECl7%L*2draQLlAnL+6l@MKU
%DBZ4>y8IC3~bke(KQbs!?86?0AYdfFg)m5z>lmE2Zk2Z2^UQqSK{y@BzjfD=3~f-DZJ*(MGm3FbZ3LE%+C4P60mBpkpiSuARsjlV$DPv
g$L{2G+Dl`)wQ&bNH(;~H0@!6xub@FUH1-1G4V_^&kR+iPKV8Tgc~*nS#epw(vzATDyae=nq^<2%zo#B6<P^|CQ5TW!#|t~urO>e`-y=D
Jr1j8CvI}xR1-H*4!lXgO%D>#6HMBna?~Ac2+$#j2M<EbPmX#jLq*0mtg41lQVg}E=!Jq&DjBe#4;gY%E)EZ=YN=dO6;LS@hf9T$49ml^
s#6@oLAhY)1*IsZ*QO#pKYr=PgRtk%)1Hr2MZNi_xlcIH(t~q>C0Y>8ld9OO+kH|_<lwStG+{0zal-&?GMtM>w*C3cuQ0MSjVvg@JaSi9
H0#_hoS)yhH#v1bB`gW6Sp#C-%Z`XyTASINn2n^D;<s3ODefN#{qB`>eK~PWJi<snj0V5?`^}Xw_;W1y)*26WY;c#2zv-ame;^&o(RHMF
9Q=kCqO!=RSBs&n(^OWps}85B^4~NCQS9Cf=cuNSGh@4<rY`pCu|5u^Y;m)#e<5Y?=u$xL=gy{fVRWqLZU18J#OUj<A12G)r$%3Fk6e8;
@Qq4K9qVt~?@7NXgyZEpLs}mAOzeRd>QxY>jouoqwENv5nb;ljy)BtP+WW2i%{M_Nb`v~nPv(raWQ;SpK{K&pp6E!XkG4iDeNv;uxuwoz
?r4d|PO(w2nOMR8s8e=!<~Y`%7KF~0x#w6gzdv60^Z$M63cgc5*5RA)H4Q=d102G!dH
"""


def test_files_of_the_first_format_can_be_read(path):
    path.write_bytes(zlib.decompress(base64.b85decode(FIRST_FORMAT.replace("\n", ""))))
    iris = load_iris(as_frame=True).data
    loaded = load(path)
    assert_array_equal(loaded.feature_names_in_, iris.columns)
    assert_allclose(loaded.transform(iris), clone(loaded).fit_transform(iris))
    assert_allclose(loaded.mean_, iris.mean())


OLD_FILES = Path(__file__).parent / "files"


@pytest.mark.parametrize("old", sorted(OLD_FILES.iterdir()), ids=lambda old: old.name)
def test_files_of_former_versions_say_what_they_said(old, path):
    """isrht 0.1.0 wrote them, before it took sizes from what was fitted; ``about`` holds what the models said then."""
    said = read_about(old)
    method = {"transform", "decision_function"} & said.keys()
    loaded = load(old)
    rows = load_iris().data[:1]
    assert_allclose(getattr(loaded, *method)(rows), said[min(method)], rtol=1e-12)
    save(loaded, path)
    assert_same(load(path), loaded)


# Fields that were added to the files of classes that had been kept before.
ADDED = {"n_components_", "dense_output", "weight_unit_", "transform_output"}


@pytest.mark.parametrize(
    "name", ["sketched", "embedding", "embedding of z", "boosted", "svm cv", "classifier cv", "classifier boosted"]
)
def test_fields_that_were_added_may_be_missing(data, path, name):
    model = fitted_model(name)
    save(model, path)
    node = read(path)[0]["model"]
    for *way, last in list(leaves(node)):
        if last in ADDED:
            place = functools.reduce(lambda place, key: place[key], way, node)
            del place[last]
    forge(path, node=node)
    assert_same(load(path), model)


# ------------------------------------------------------------ what there is to keep


def test_every_public_estimator_can_be_kept():
    public = [getattr(isrht, name) for name in isrht.__all__]
    estimators = {kind.__name__ for kind in public if isinstance(kind, type) and issubclass(kind, BaseEstimator)}
    assert len(estimators) >= 8
    assert estimators <= persistence.ENTRIES.keys()
    assert {type(model).__name__ for model in MODELS.values()} == persistence.ENTRIES.keys()


def test_the_documentation_lists_what_can_be_kept():
    text = (Path(__file__).parents[1] / "docs" / "model-files.md").read_text(encoding="utf-8")
    section = text.partition("## What can be kept\n")[2].partition("\n## ")[0]
    first_cells = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("|")]
    listed = [name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(listed) == sorted(persistence.ENTRIES)


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
def test_parameters_that_were_changed_after_fit_change_nothing(data, path, name, changes, folded):
    """What comes back is what was fitted, and the parameters as they are."""
    before = list(outputs(fitted_model(name), data[0]))
    model = fitted_model(name).set_params(**changes)
    save(model, path, folded=folded)
    loaded = load(path)
    assert_same(loaded, model)
    after = list(outputs(loaded.set_params(**fitted_model(name).get_params(deep=False)), data[0]))
    for mine, theirs in zip(after, before, strict=True):
        assert_same_bits(mine, theirs)


# ------------------------------------------------------------ file objects


@pytest.mark.parametrize("name", ["svm", "classifier cv", "pipeline"])
def test_a_file_object_holds_what_a_file_would(path, name):
    model, buffer = fitted_model(name), io.BytesIO()
    save(model, path, about={"a": 1})
    save(model, buffer, about={"a": 1})
    assert buffer.getvalue() == path.read_bytes()
    buffer.seek(0)
    assert_same(load(buffer), model)
    buffer.seek(0)
    assert read_about(buffer) == read_about(path)
    assert not buffer.closed


@pytest.mark.parametrize("buffering", [0, -1])
def test_open_files_are_written_and_read_from_where_they_stand(path, buffering):
    model = fitted_model("svm")
    with open(path, "wb", buffering=buffering) as file:
        file.write(b"header")
        save(model, file)
        assert not file.closed
    with open(path, "rb", buffering=buffering) as file:
        assert file.read(6) == b"header"
        assert_same(load(file), model)


class Drips(io.RawIOBase):
    """Takes and gives few bytes at a time, as sockets and pipes may."""

    def __init__(self, content=b""):
        self.content = bytearray(content)

    def writable(self):
        return True

    def readable(self):
        return True

    def write(self, data):
        self.content += bytes(data[:100])
        return min(len(data), 100)

    def readinto(self, buffer):
        count = min(len(buffer), 7, len(self.content))
        buffer[:count] = self.content[:count]
        del self.content[:count]
        return count


def test_a_file_object_may_take_and_give_few_bytes_at_once(small):
    path, model = small
    drips = Drips()
    save(model, drips)
    assert drips.content == path.read_bytes()
    assert_same(load(drips), model)
    assert not drips.closed


def test_text_files_are_no_place_for_a_model(small):
    _, model = small
    with pytest.raises(TypeError, match="open in binary mode, this one takes text"):
        save(model, io.StringIO())
    with pytest.raises(TypeError, match="open in binary mode, this one gives text"):
        load(io.StringIO("text"))


def test_what_is_wrong_with_a_file_object_is_said(small):
    path, _ = small
    content = path.read_bytes()
    for bad, message in [
        (b"", r"it is empty, or stands at its end: seek\(0\)"),
        (b"hi", "it is a text file"),
        (content[:-1], "truncated"),
        (content + b"\0", "1 bytes longer"),
        (pickle.dumps([1]), "it is a pickle"),
    ]:
        with pytest.raises(ModelFileError, match=f"cannot load this BytesIO: .*{message}"):
            load(io.BytesIO(bad))
    with pytest.raises(ModelFileError, match="cannot read this BytesIO: it is empty"):
        read_about(io.BytesIO())
    load(io.BytesIO(content), max_bytes=len(content))
    with pytest.raises(ModelFileError, match=f"it has more than max_bytes={len(content) - 1} bytes"):
        load(io.BytesIO(content), max_bytes=len(content) - 1)


def test_an_endless_stream_is_not_read_to_its_end():
    class Endless(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            buffer[:] = bytes(len(buffer))
            return len(buffer)

    with pytest.raises(ModelFileError, match="it is a foreign file"):
        load(Endless())


# ------------------------------------------------------------ never half a file


def interrupted(chunks):
    """Writes the first half of a file."""
    chunks = list(chunks)
    yield from chunks[: len(chunks) // 2]
    raise KeyboardInterrupt


def test_the_file_is_on_disk_before_it_is_renamed_and_the_name_after(small, synced):
    assert synced == [stat.S_IFREG, "renamed", *([stat.S_IFDIR] if os.name == "posix" else [])]


@pytest.mark.parametrize("existing", [True, False])
@pytest.mark.parametrize("where", ["archive", "fsync", "replace"])
def test_an_error_leaves_the_old_file_and_nothing_else(small, monkeypatch, where, existing):
    path, model = small
    before = path.read_bytes()
    if not existing:
        path.unlink()

    def fail(*_):
        raise OSError("no space left")

    if where == "archive":
        archive = persistence.archive
        monkeypatch.setattr(persistence, "archive", lambda *args: interrupted(archive(*args)))
    else:
        monkeypatch.setattr(os, where, fail)
    with pytest.raises((OSError, KeyboardInterrupt)):
        save(model.set_params(C=2.0), path)
    assert path.exists() == existing
    assert not existing or path.read_bytes() == before
    assert temporaries(path) == []


KILLED = """
import os, signal, sys
from isrht import persistence

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def first_half(chunks):
    chunks = list(chunks)
    yield from chunks[: len(chunks) // 2]
    die()

path, where = sys.argv[1:]
model = persistence.load(path).set_params(C=2.0)
archive = persistence.archive
if where == "archive":
    persistence.archive = lambda *args: first_half(archive(*args))
else:
    setattr(os, where, die)
persistence.save(model, path)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("where", ["archive", "replace"])
def test_a_killed_save_leaves_the_old_file(small, where):
    path, model = small
    process = subprocess.run([sys.executable, "-c", KILLED, str(path), where], check=False)
    assert process.returncode == -signal.SIGKILL
    assert len(temporaries(path)) == 1
    assert_same(load(path), model)


def test_concurrent_saves_end_with_one_whole_file(small):
    path, model = small
    contents = {}
    for C in (1.0, 2.0, 3.0):
        save(model.set_params(C=C), path)
        contents[C] = path.read_bytes()
    errors = []

    def work(C):
        try:
            own = copy.deepcopy(model).set_params(C=C)
            for _ in range(30):
                save(own, path)
                assert load(path).C in contents
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(C,)) for C in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert path.read_bytes() in contents.values()
    assert temporaries(path) == []


def test_a_link_stays_a_link_and_permissions_stay(small, tmp_path):
    path, model = small
    path.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(path)
    save(model.set_params(C=3.0), link)
    assert link.is_symlink()
    assert load(path).C == 3.0
    assert path.stat().st_mode & 0o777 == 0o640


def test_folders_are_no_place_for_a_file(small, tmp_path):
    _, model = small
    with pytest.raises(OSError, match="there is no folder"):
        save(model, tmp_path / "missing" / "model")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        save(model, tmp_path / "folder")
    assert sorted(os.listdir(tmp_path)) == ["folder", "model.isrht"]


def test_any_kind_of_path_is_taken(small, monkeypatch):
    path, model = small
    monkeypatch.chdir(path.parent)
    for place in ("relative", b"bytes", path.parent / "path"):
        save(model, place)
        assert_array_equal(load(place).coef_, model.coef_)


# ------------------------------------------------------------ other libraries' files


def test_joblib_and_skops_keep_everything(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = ISRHTClassifier(3, random_state=0).fit(X, y)
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


def test_the_histogram_of_the_scores_comes_back(data, tmp_path):
    model = ISRHT(8, random_state=0).fit(*data)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    save(loaded, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    for name in ("edges", "counts", "kept"):
        assert_array_equal(getattr(loaded.score_histogram_, name), getattr(model.score_histogram_, name))
    assert loaded.column_scores_ is None


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda h: h.edges.__setitem__(1, h.edges[0]), "score_edges are not in increasing order"),
        (lambda h: h.counts.__setitem__(0, h.counts[0] + 1), "score_counts are not those of columns"),
        (lambda h: h.kept.__setitem__(slice(0, 2), [-1, 1]), "score_counts are not those of columns"),
    ],
)
def test_a_histogram_that_cannot_be_is_refused(data, tmp_path, damage, message):
    save(ISRHT(8, random_state=0).fit(*data), tmp_path / "model")
    loaded = load(tmp_path / "model")
    damage(loaded.score_histogram_)
    with pytest.raises(ModelFileError, match=message):
        save(loaded, tmp_path / "again")
