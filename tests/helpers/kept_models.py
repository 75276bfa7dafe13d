"""Models of every class that a model file holds, fitted to the same rows, and what it means that one came back."""

import copy
import functools

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn_models import SKLEARN_MODELS, takes_no_sparse_rows

from isrht import (
    ISRHT,
    BoostedISRHT,
    HadamardFourierFeatures,
    HadamardRotation,
    ISRHTClassifier,
    LeverageScoreSelection,
    LinearSVM,
    LinearSVMCV,
    SparseEmbedding,
)
from isrht.linear.calibration import Calibration

N_FEATURES = 37

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
    "rotation": HadamardRotation(random_state=0),
    "rotation of one round": HadamardRotation(1, random_state=2**32 - 1),
    "svm": LinearSVM(),
    "svm without intercept": LinearSVM(fit_intercept=False, class_weight="balanced"),
    "svm cv": LinearSVMCV([0.1, 1.0], cv=3),
    "classifier": ISRHTClassifier(8, selection="supervised", C=1.0, random_state=0),
    "classifier cv": ISRHTClassifier(
        8, selection="supervised", Cs=np.array([0.1, 1.0]), cv=3, scale="maxabs", random_state=0
    ),
    "classifier minmax": ISRHTClassifier(8, selection="supervised", C=1, scale="minmax", center=True, random_state=0),
    "classifier sketched": ISRHTClassifier(
        8, selection="supervised", C=np.float32(0.5), sketch_size=20, random_state=0
    ),
    "classifier boosted": ISRHTClassifier(12, selection="boosted", random_state=0),
}
MODELS |= SKLEARN_MODELS

# What a file leaves out of a model.
LEFT_OUT = {"_seed", "_selected", "_settings", "_fit_svd_solver", "statistics_"}


def make_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, N_FEATURES)) * (rng.random((60, N_FEATURES)) < 0.5)
    return X, rng.integers(0, 3, 60)


def fit(name, X, y):
    """Return the model of this name, fitted to other rows."""
    return clone(MODELS[name]).fit(X, y)


def fitted_model(name):
    """Return the model of this name, fitted to the rows that all tests share. It may be changed."""
    return copy.deepcopy(_fitted_once(name))


@functools.cache
def _fitted_once(name):
    return fit(name, *make_data())


def outputs(model, X):
    """Yield all that a fitted model says of some rows, in every storage it takes."""
    kinds = [
        X,
        X.astype(np.float32),
        np.asfortranarray(X),
        sp.csr_array(X),
        sp.csr_matrix(X.astype(np.float32)),
    ]
    for rows in kinds[: 3 if takes_no_sparse_rows(model) else None]:
        for method in ("transform", "decision_function", "predict", "predict_proba"):
            if hasattr(model, method):
                yield getattr(model, method)(rows)
    if hasattr(model, "inverse_transform") and not isinstance(model, LeverageScoreSelection):
        yield model.inverse_transform(model.transform(X))


def assert_same_bits(left, right):
    """Demand that two arrays, dense or sparse, are of the same type and shape and equal to the bit."""
    left, right = (values.toarray() if sp.issparse(values) else values for values in (left, right))
    assert left.dtype == right.dtype
    assert left.shape == right.shape
    assert left.tolist() == right.tolist() if left.dtype == object else left.tobytes() == right.tobytes()


def assert_same(loaded, model):
    """Demand the same class, parameters and attributes, with their types."""
    assert type(loaded) is type(model)
    if isinstance(model, np.ndarray):
        assert_same_bits(loaded, model)
        order = [array.flags.f_contiguous and not array.flags.c_contiguous for array in (loaded, model)]
        assert order[0] == order[1]
    elif sp.issparse(model):
        for name in ("data", "indices", "indptr"):
            assert_same_bits(getattr(loaded, name), getattr(model, name))
    elif hasattr(model, "get_params") or isinstance(model, Calibration):
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
