"""The predictor: the model's answers, for one row and many, from one thread and many."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from malformed_rows import altered, malformed
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.svm import LinearSVC

from isrht import ISRHT, ISRHTClassifier, LinearSVM, LinearSVMCV, Predictor, kernels
from isrht.linear.classifier import FixedModel

MODELS = {
    "supervised": ISRHTClassifier(8, selection="supervised", C=1.0, scale="maxabs", random_state=0),
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
        assert hasattr(predictor, "predict_proba") == hasattr(model, "predict_proba")
        if hasattr(model, "predict_proba"):
            assert_array_equal(predictor.predict_proba(form), model.predict_proba(form))
            assert_array_equal(predictor.predict_proba_one(X[0]), model.predict_proba(X[:1])[0])


@pytest.mark.parametrize("model", [LinearSVM(), ISRHTClassifier(4, selection="supervised", C=1.0)])
def test_a_model_without_probabilities_says_how_to_have_them(model):
    predictor = Predictor(model.fit(*make_data(2)))
    with pytest.raises(AttributeError, match="has no attribute 'predict_proba_one'") as caught:
        predictor.predict_proba_one([0.0] * 21)
    message = str(caught.value.__cause__) + str(caught.value.__cause__.__cause__)
    assert "LinearSVMCV and ISRHTClassifier" in message or "probability=True" in message


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
        (np.zeros(20), ValueError, r"shape \(21,\) or \(1, 21\), got \(20,\)"),
        (np.zeros((21, 1)), ValueError, r"shape \(21,\) or \(1, 21\), got \(21, 1\)"),
        (np.zeros((2, 21)), ValueError, r"shape \(21,\) or \(1, 21\), got \(2, 21\)"),
        (np.zeros(21, dtype=complex), ValueError, "values must be real numbers, got complex128"),
        (3.0, ValueError, r"shape \(21,\) or \(1, 21\), got \(1,\)"),
        (sp.csr_array((2, 21)), ValueError, r"shape \(1, 21\), got \(2, 21\)"),
        (([0], [1.0], [2]), ValueError, r"a tuple must be \(indices, values\) or 21 numbers, got a tuple of 3"),
        (([0], 1.0), ValueError, r"a tuple must be \(indices, values\) or 21 numbers, got a tuple of 2"),
        ((1, 0), ValueError, r"a tuple must be \(indices, values\) or 21 numbers, got a tuple of 2"),
        (([0, 1], [1.0]), ValueError, "of one length"),
        (([0], [1j]), ValueError, "values must be real numbers, got complex128"),
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


def test_a_tuple_of_numbers_is_a_dense_row_and_a_pair_of_sequences_a_sparse_one(kernel):
    model = LinearSVM().fit([[-2.0, 1.0], [-1.0, 0.0], [1.0, 3.0], [2.0, 0.0]], [0, 0, 1, 1])
    predictor = Predictor(model)
    for row in [(1, 0), (0.0, 1.5), (np.float64(1), np.float32(0)), (np.array(1.0), np.array(0))]:
        assert predictor.decision_function_one(row) == model.decision_function([[float(row[0]), float(row[1])]])[0]
    for make in (list, tuple, np.array):
        assert predictor.decision_function_one((make([1]), make([3.0]))) == model.decision_function([[0, 3.0]])[0]
    assert predictor.decision_function_one((range(2), [3.0, 4.0])) == model.decision_function([[3.0, 4.0]])[0]
    wide = LinearSVM().fit(*make_data(3))
    row = tuple(range(21))
    assert_array_equal(Predictor(wide).decision_function_one(row), wide.decision_function([row])[0])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_pair_of_series_is_a_sparse_row(library):
    make = pytest.importorskip(library).Series  # polars has no wheels for a Python without its lock
    model = LinearSVM().fit([[-2.0, 1.0], [-1.0, 0.0], [1.0, 3.0], [2.0, 0.0]], [0, 0, 1, 1])
    assert Predictor(model).decision_function_one((make([1]), make([3.0]))) == model.decision_function([[0, 3.0]])[0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_row_may_have_two_dimensions(n_classes):
    X, y = make_data(n_classes)
    model = LinearSVM().fit(X, y)
    predictor = Predictor(model)
    expected = model.decision_function(X[:1])[0]
    frame = pd.DataFrame(X)
    for row in (X[:1], X[:1].tolist(), X[:1].astype(np.longdouble), np.asfortranarray(X)[:1], frame[:1], frame.iloc[0]):
        assert_array_equal(predictor.decision_function_one(row), expected)
        assert predictor.predict_one(row) == model.predict(X[:1])[0]
        assert isinstance(predictor.decision_function_one(row), float if n_classes == 2 else np.ndarray)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_of_one_row_are_compared_as_those_of_frames(library):
    make = pytest.importorskip(library).DataFrame
    X, y = make_data(2)
    names = [f"f{k}" for k in range(21)]
    frame = make({name: X[:, k] for k, name in enumerate(names)})
    model = LinearSVM().fit(frame, y)
    predictor = Predictor(model)
    assert predictor.decision_function_one(frame[:1]) == model.decision_function(frame[:1])[0]
    assert predictor.decision_function_one(X[0]) == model.decision_function(frame[:1])[0]
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        predictor.predict_one(frame[names[::-1]][:1])
    with pytest.raises(ValueError, match="Feature names unseen at fit time"):
        predictor.predict_one(make({f"{name}x": X[:1, k] for k, name in enumerate(names)}))
    with pytest.raises(ValueError, match=r"one row, got a frame of shape \(2, 21\)"):
        predictor.predict_one(frame[:2])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, object])
def test_names_of_a_series_are_compared_as_those_of_frames(dtype):
    X, y = make_data(2)
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(21)])
    predictor = Predictor(LinearSVM().fit(frame, y))
    row = frame.iloc[0].astype(dtype)
    values = row.to_numpy() if dtype is np.float32 else X[0]
    assert predictor.decision_function_one(row) == predictor.decision_function_one(values)
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        predictor.predict_one(row[::-1])
    with pytest.raises(ValueError, match="Feature names unseen at fit time"):
        predictor.predict_one(row.rename({"f3": "other"}))
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing"):
        predictor.predict_one(row[:-1])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        predictor.predict_one(row.reset_index(drop=True))
    with pytest.warns(UserWarning, match="X has feature names"):
        Predictor(LinearSVM().fit(X, y)).predict_one(row)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("n_rows", [1, 6])
@pytest.mark.parametrize("name", malformed(1))
def test_malformed_sparse_rows_are_errors(kernel, name, n_rows, n_jobs):
    predictor = Predictor(LinearSVM(n_jobs=n_jobs).fit(*make_data(3)))
    rows = malformed(n_rows)[name]
    if "pointer" not in name and "too few" not in name and "CSC" not in name:
        message = f"malformed: .*row {-(2**30) if name == 'COO rows' else n_rows - 1}"
    else:
        message = "malformed"
    methods = [predictor.predict, predictor.decision_function]
    for method in methods + [predictor.predict_one, predictor.decision_function_one] * (n_rows == 1):
        with pytest.raises(ValueError, match=message):
            method(rows)


def test_values_past_the_last_pointer_do_not_count(kernel):
    """SciPy lets the arrays of a matrix be longer than its rows need."""
    model = LinearSVM().fit(*make_data(2))
    row = sp.csr_array((np.array([1.0, 2.0]), np.array([3, 4]), np.array([0, 2])), shape=(1, 21))
    longer = altered(row, data=np.array([1.0, 2.0, 50.0]), indices=np.array([3, 4, 5], dtype=row.indices.dtype))
    expected = model.decision_function(row.toarray())[0]
    assert Predictor(model).decision_function_one(longer) == expected
    assert Predictor(model).decision_function(longer)[0] == expected


def test_the_name_of_a_predictor_says_what_it_serves():
    X, y = make_data(3)
    of_trees = Predictor(LinearSVM().fit(X, y))
    assert repr(of_trees) == "Predictor(LinearSVM, classes=['ash', 'birch', 'cedar'], 21 features)"
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(21)])
    assert repr(Predictor(LinearSVM().fit(frame, y == "ash"))) == (
        "Predictor(LinearSVM, classes=[False, True], 21 named features)"
    )
    many = FixedModel.of(np.arange(1000), np.ones((1000, 2)), np.zeros(1000))
    assert repr(Predictor(many)) == "Predictor(FixedModel, classes=[0, 1, 2, 3, 4, 5, ...] (1000), 2 features)"
    escape = FixedModel.of(np.array(["\x1b[31m", "x" * 1000]), np.ones((1, 2)), np.zeros(1))
    assert "\x1b" not in repr(Predictor(escape))
    assert len(repr(Predictor(escape))) < 150


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
    model = FixedModel.of(np.array([0, 1]), np.ones((1, 4000)), np.zeros(1))
    # On a busy machine the other thread may miss many turns; a kernel that held the GIL would never give it one.
    assert any(ticks_in_the_middle(lambda: model.predict(X)) for _ in range(300))
