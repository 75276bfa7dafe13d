"""The predictor: the model's answers, for one row and many, from one thread and many."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.svm import LinearSVC

from isrht import ISRHT, ISRHTClassifier, LinearSVM, LinearSVMCV, Predictor, kernels
from isrht.linear.svm import linear_model

MODELS = {
    "supervised": ISRHTClassifier(8, C=1.0, scale="maxabs", random_state=0),
    "boosted": ISRHTClassifier(8, selection="boosted", random_state=0),
    "svm": LinearSVM(),
    "svm cv": LinearSVMCV([0.1, 1.0], cv=3, n_jobs=2),
}


def make_data(n_classes):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 21)) * (rng.random((80, 21)) < 0.4)
    return X, np.array(["ash", "birch", "cedar"])[np.arange(80) % n_classes]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_the_answers_are_those_of_the_model(kernel, name, n_classes):
    X, y = make_data(n_classes)
    model = MODELS[name].fit(X, y)
    predictor = Predictor(model)
    assert_array_equal(predictor.classes_, model.classes_)
    for form in (X, X.astype(np.float32), sp.csr_array(X), sp.csr_matrix(X), sp.csc_array(X), X.tolist(), X[:1]):
        assert_array_equal(predictor.decision_function(form), model.decision_function(form))
        assert_array_equal(predictor.predict(form), model.predict(form))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_row(kernel, n_classes):
    X, y = make_data(n_classes)
    model = LinearSVM().fit(X, y)
    predictor = Predictor(model)
    for row in X[:20]:
        indices = np.flatnonzero(row)
        sparse = sp.csr_array(row[None])
        for dtype in (np.int32, np.int64, np.uint16):
            pair = indices.astype(dtype), row[indices]
            assert predictor.predict_one(pair) == model.predict(sparse)[0]
            assert_array_equal(predictor.decision_function_one(pair), model.decision_function(sparse)[0])
        assert predictor.predict_one((indices.tolist(), row[indices].tolist())) == model.predict(sparse)[0]
        assert predictor.predict_one(row) == predictor.predict_one(row.tolist()) == model.predict(row[None])[0]
        for kind in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array):
            assert predictor.predict_one(kind(row[None])) == model.predict(sparse)[0]
        assert_array_equal(predictor.decision_function_one(row), model.decision_function(row[None])[0])
        single = predictor.decision_function_one(row.astype(np.float32))
        assert_array_equal(single, model.decision_function(row[None].astype(np.float32))[0])
    assert isinstance(predictor.decision_function_one(X[0]), float if n_classes == 2 else np.ndarray)
    empty = predictor.decision_function_one(([], []))
    assert_array_equal(empty, model.intercept_[0] if n_classes == 2 else model.intercept_)


@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        (np.zeros(20), ValueError, r"shape \(21,\), got \(20,\)"),
        (np.zeros((1, 21)), ValueError, r"shape \(21,\), got \(1, 21\)"),
        (sp.csr_array((2, 21)), ValueError, r"shape \(1, 21\), got \(2, 21\)"),
        (([0], [1.0], [2]), ValueError, "a tuple of 3"),
        (([0, 1], [1.0]), ValueError, "of one length"),
        (([[0]], [[1.0]]), ValueError, "1-D"),
        (([0.5], [1.0]), TypeError, "indices must be integers"),
        (([21], [1.0]), ValueError, "feature 21 is out of range: the model has n_features_in_=21"),
        (([3, -1], [1.0, 1.0]), ValueError, "feature -1 is out of range"),
        (([3, 4], [1.0, np.nan]), ValueError, "nan at position 1"),
        (np.r_[np.zeros(5), np.inf, np.zeros(15)], ValueError, "inf at position 5"),
    ],
)
def test_bad_rows_are_errors(kernel, row, error, message):
    predictor = Predictor(LinearSVM().fit(*make_data(2)))
    with pytest.raises(error, match=message):
        predictor.predict_one(row)
    with pytest.raises(error, match=message):
        predictor.decision_function_one(row)


def test_bad_batches_get_the_errors_of_scikit_learn():
    X, y = make_data(2)
    predictor = Predictor(LinearSVM().fit(X, y))
    with pytest.raises(ValueError, match="X has 20 features, but LinearSVM is expecting 21"):
        predictor.predict(X[:, :20])
    X[3, 4] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        predictor.predict(X)
    with pytest.raises(ValueError, match="contains NaN"):
        predictor.predict(sp.csr_array(X))


def test_names_are_compared_with_those_of_frames_only():
    X, y = make_data(2)
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(21)])
    model = LinearSVM().fit(frame, y)
    predictor = Predictor(model)
    assert_array_equal(predictor.predict(X), model.predict(frame))
    assert_array_equal(predictor.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        predictor.predict(frame.rename(columns={"f0": "other"}))


def test_training_the_model_again_leaves_a_predictor_as_it_was():
    X, y = make_data(2)
    model = LinearSVM().fit(X, y)
    predictor = Predictor(model)
    before = predictor.decision_function(X)
    model.coef_ *= -1
    model.fit(X[:, :5], y)
    assert_array_equal(predictor.decision_function(X), before)
    assert_array_equal(predictor.decision_function(X.tolist()), before)


def test_only_fitted_classifiers_of_this_package_are_served():
    with pytest.raises(NotFittedError):
        Predictor(LinearSVM())
    for other in (LinearSVC(), ISRHT()):
        with pytest.raises(TypeError, match="serves ISRHTClassifier, LinearSVM and LinearSVMCV, not"):
            Predictor(other)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_threads_get_the_right_answers_from_one_model(n_classes):
    X, y = make_data(n_classes)
    X = np.tile(X, (70, 1))
    model = LinearSVM(n_jobs=2).fit(X, np.tile(y, 70))
    forms = [X, sp.csr_array(X), X.astype(np.float32), X.tolist()[:50]]
    expected = [model.decision_function(form) for form in forms]
    predictor = Predictor(model)  # its weights by feature are made by whichever thread comes first

    def ask(k):
        answer = (predictor if k % 8 < 4 else model).decision_function(forms[k % 4])
        return np.array_equal(answer, expected[k % 4])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(64)))


def ticks_in_the_middle(act):
    """How often another thread got its turn in the middle third of ``act``: never, if that holds the GIL."""
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        start = time.perf_counter()
        act()
        third = (time.perf_counter() - start) / 3
    finally:
        stop.set()
        thread.join()
    return sum(start + third < at < start + 2 * third for at in ticks)


@pytest.mark.skipif(kernels.active() == "numpy", reason="only the compiled kernels release the GIL")
@pytest.mark.parametrize("make", [sp.csr_array, np.asarray])
def test_a_large_batch_does_not_hold_the_gil(make):
    X = make(np.ones((6000, 4000)))
    model = linear_model(np.array([0, 1]), np.ones((1, 4000)), np.zeros(1))
    assert max(ticks_in_the_middle(lambda: model.predict(X)) for _ in range(3)) > 0
