"""BoostedISRHT: scikit-learn's contract, its parameters, and bad input."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from boosting_data import fifths
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from isrht import BoostedISRHT


@parametrize_with_checks([BoostedISRHT(2, cv=3), BoostedISRHT(2, rounds=2, diagonal="signs", n_jobs=2)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_cv_decides_what_is_held_out(data):
    X, y = data
    for cv in (3, StratifiedKFold(3)):
        assert BoostedISRHT(3, cv=cv).fit(X, y).fold_scores_.shape == (3,)
    assert len(fifths(np.repeat([0, 1], 10_000), 0)) == 1
    assert len(fifths(np.repeat([0, 1], 2000), 0)) == 4
    train, test = fifths(np.repeat([0, 1], [50, 10]), 0)[0]
    assert (len(train), (test < 50).sum(), (test >= 50).sum()) == (48, 10, 2)
    with pytest.raises(ValueError, match=r"cv holds nothing out: \[\] gives no split"):
        BoostedISRHT(3, cv=[]).fit(X, y)


def test_parameters_that_are_given_are_not_chosen(data):
    X, y = data
    model = BoostedISRHT(10, rounds=5, threshold=1.0, diagonal="z", random_state=0).fit(X, y)
    assert (model.rounds_, model.threshold_, model.diagonal_) == (5, 1.0, "z")
    assert model.n_learned_ == 5
    assert model.n_components_ == 10


def test_too_few_rows_to_hold_any_out():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1])
    model = BoostedISRHT(2).fit(X, y)
    assert np.isnan(model.held_out_score_)
    assert np.isfinite(model.transform(X)).all()


def test_names_and_frames(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(19)])
    model = BoostedISRHT(3, random_state=0).fit(frame, y)
    assert_array_equal(model.get_feature_names_out(), ["boostedisrht0", "boostedisrht1", "boostedisrht2"])
    assert isinstance(model.set_output(transform="pandas").transform(frame), pd.DataFrame)
    assert isinstance(model.set_output(transform="polars").transform(frame), pl.DataFrame)


def test_pickle_clone_and_pipeline(data):
    X, y = data
    model = BoostedISRHT(3, random_state=0).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))
    assert not hasattr(clone(model), "mixing_")
    assert make_pipeline(BoostedISRHT(3), LinearSVC(dual=False)).fit(X, y).score(X, y) > 0.8


def test_input_is_never_written_to(data):
    X, y = data
    X.flags.writeable = False
    sparse = sp.csr_array(X)
    for array in (sparse.data, sparse.indices, sparse.indptr):
        array.flags.writeable = False
    for given in (X, sparse):
        BoostedISRHT(3, rounds=2).fit(given, y).transform(given)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components must be at least 1, got 0"),
        ({"n_components": 0.5}, TypeError, "n_components must be an integer, got 0.5"),
        ({"rounds": 0}, ValueError, "rounds must be at least 1, got 0"),
        ({"rounds": "many"}, TypeError, "rounds must be an integer, got 'many'"),
        ({"threshold": -1}, ValueError, "threshold must be finite and not negative, got -1"),
        ({"threshold": "high"}, TypeError, "threshold must be 'auto' or a number, got 'high'"),
        ({"scaled": "no"}, TypeError, "scaled must be True or False, got 'no'"),
        ({"diagonal": "random"}, ValueError, "diagonal must be one of.*'random'"),
        ({"diagonal": "signs", "threshold": 1.0}, ValueError, "diagonal='signs' has no threshold"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(data, options, error, message):
    with pytest.raises(error, match=message):
        BoostedISRHT(**options).fit(*data)


def test_bad_data_is_named(data):
    X, y = data
    with pytest.raises(ValueError, match=r"two classes.*one class"):
        BoostedISRHT(2).fit(X, np.zeros(120))
    with pytest.raises(ValueError, match="too large"):
        BoostedISRHT(2).fit(X * 1e200, y)
    with pytest.raises(NotFittedError):
        BoostedISRHT(2).transform(X)
