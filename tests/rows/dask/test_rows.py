"""Rows on a cluster, which give the models that the same rows give in memory, and do not travel."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from dask_data import CUTS, N, da, dask, dd, delayed_blocks, distributed, frame, slices, uneven
from dask_models import assert_same
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from isrht import ISRHT, BoostedISRHT, ISRHTClassifier, LinearSVM, LinearSVMCV
from isrht.rows.dask import cluster
from isrht.rows.workers import _tasks

# Old Dask wonders why threads serve while a client is there.
pytestmark = pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler:UserWarning")


@pytest.mark.parametrize(
    "model",
    [
        ISRHTClassifier(8, selection="supervised", random_state=0, Cs=[0.1, 1], cv=2),
        ISRHTClassifier(8, selection="top", scale="maxabs", class_weight="balanced", random_state=0, Cs=[0.1, 1], cv=3),
        ISRHTClassifier(
            8,
            selection="supervised",
            scale="minmax",
            center=True,
            n_score_samples=300,
            scoring="f1",
            random_state=0,
            Cs=[1],
            cv=2,
        ),
        ISRHTClassifier(2, selection="boosted", random_state=0),
        LinearSVMCV([0.1, 1], cv=3),
    ],
    ids=["supervised", "top", "scored", "boosted", "svm"],
)
def test_a_cluster_gives_the_model_of_one_process(model, client, data):
    X, y = data
    expected = clone(model).fit(X, y)
    got = clone(model).fit(uneven(X), uneven(y))
    assert_same(got, expected, X, uneven(X))


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "neg_log_loss", "neg_brier_score"])
@pytest.mark.parametrize("model", [BoostedISRHT(1, cv=2), LinearSVMCV([0.1, 1], cv=2)], ids=["boosted", "svm"])
def test_scores_that_are_sums_choose_as_in_memory(model, scoring, data):
    X, y = data[0][:150, :8], data[1][:150]
    model = clone(model).set_params(scoring=scoring)
    expected = clone(model).fit(X, y)
    with dask.config.set(scheduler="sync"):
        got = clone(model).fit(da.from_array(X, chunks=(60, 8)), da.from_array(y, chunks=60))
    name = "fold_scores_" if isinstance(model, BoostedISRHT) else "scores_"
    assert_allclose(getattr(got, name), getattr(expected, name), rtol=1e-6)
    assert got.C_ == expected.C_


def test_the_client_shows_how_far_a_fit_is(client, data, capfd):
    X, y = data
    ISRHTClassifier(4, selection="supervised", Cs=[0.1, 1], cv=2, random_state=0, verbose=1).fit(uneven(X), uneven(y))
    assert "ISRHTClassifier: fold and C 4 of 4" in capfd.readouterr().err
    names = set(map(distributed.utils.key_split, client.run_on_scheduler(_task_names)))
    assert {"isrht-sum-piece", "isrht-check-piece", "isrht-project-piece", "isrht-spread-piece"} <= names
    assert not names & {"list", "Function", "dict", "tuple"}


def _task_names(dask_scheduler):
    return [str(key) for key in dask_scheduler.task_prefixes]


@pytest.mark.parametrize("selection", ["uniform", "importance", "top", "supervised"])
def test_projection_of_delayed_sparse_blocks(selection, client, rng):
    X = sp.random_array((N, 300), density=0.05, format="csr", random_state=rng)
    y = np.array(["no", "yes"])[(X @ rng.standard_normal(300) > 0).astype(int)]
    expected = ISRHT(16, selection=selection, random_state=0).fit(X, y)
    got = ISRHT(16, selection=selection, random_state=0).fit(delayed_blocks(X), delayed_blocks(y))
    assert_array_equal(got.selected_columns_, expected.selected_columns_)
    projected = got.transform(delayed_blocks(X))
    assert dask.is_dask_collection(projected)
    assert_allclose(projected.compute(), expected.transform(X), rtol=1e-12, atol=1e-12)


def test_sparse_blocks_and_weights(client, rng):
    X = sp.random_array((N, 300), density=0.05, format="csr", random_state=rng)
    y = (X @ rng.standard_normal(300) > 0).astype(int)
    weights = rng.random(N) * (rng.random(N) < 0.9)
    expected = ISRHTClassifier(16, selection="supervised", C=1.0, sketch_size=64, random_state=0).fit(X, y, weights)
    got = ISRHTClassifier(16, selection="supervised", C=1.0, sketch_size=64, random_state=0).fit(
        delayed_blocks(X), y, weights
    )
    assert_same(got, expected, X, delayed_blocks(X))


def test_data_frames_keep_their_names(client, data):
    X, y = data
    names = [f"f{i}" for i in range(X.shape[1])]
    expected = ISRHTClassifier(8, selection="supervised", C=1.0, random_state=0).fit(pd.DataFrame(X, columns=names), y)
    labels = dd.concat([dd.from_pandas(pd.Series(y[rows]), npartitions=1) for rows in slices()])
    got = ISRHTClassifier(8, selection="supervised", C=1.0, random_state=0).fit(frame(X), labels)
    assert_array_equal(got.feature_names_in_, names)
    assert_same(got, expected, pd.DataFrame(X, columns=names), frame(X))
    scores = got.decision_function(frame(X))
    assert_allclose(scores.compute(), expected.decision_function(pd.DataFrame(X, columns=names)))
    assert got.transform(frame(X)).compute().shape == (N, 8)


def test_float32_stays_and_empty_partitions_do_not_matter(client, data):
    X, y = data
    X = X.astype(np.float32)
    blocks = [dask.delayed(X[:0]), *delayed_blocks(X), dask.delayed(X[:0])]
    labels = [dask.delayed(y[:0]), *delayed_blocks(y), dask.delayed(y[:0])]
    expected, got = LinearSVM().fit(X, y), LinearSVM().fit(blocks, labels)
    assert_same(got, expected, X, blocks)
    boosted = BoostedISRHT(2, rounds=2, random_state=0)
    expected, got = clone(boosted).fit(X, y), clone(boosted).fit(blocks, y)
    projected = got.transform(blocks).compute()
    assert projected.dtype == np.float32
    assert_allclose(projected, expected.transform(X), rtol=1e-4, atol=1e-5)


def test_without_a_cluster_threads_serve(data):
    X, y = data
    model = ISRHTClassifier(8, selection="supervised", random_state=0, Cs=[0.1, 1], cv=2)
    with dask.config.set(scheduler="threads"):
        assert_same(clone(model).fit(uneven(X), uneven(y)), clone(model).fit(X, y), X, uneven(X))


def test_labels_and_weights_in_parts_of_their_own(data, rng):
    X, y = data
    y, weights = np.array(["yes", "no"])[y], rng.random(N) * (rng.random(N) < 0.9)
    model = ISRHTClassifier(8, selection="supervised", class_weight="balanced", random_state=0, Cs=[0.1, 1], cv=2)
    expected = clone(model).fit(X, y, weights)
    with dask.config.set(scheduler="threads"):
        got = clone(model).fit(uneven(X), da.from_array(y, chunks=350), da.from_array(weights, chunks=1000))
        assert_same(got, expected, X, uneven(X))
        series = dd.from_pandas(pd.Series(y), npartitions=3)
        got = clone(model).fit(frame(X), series, delayed_blocks(weights))
        assert_allclose(got.coef_, expected.coef_, rtol=0, atol=1e-8 * np.abs(expected.coef_).max())


@pytest.mark.parametrize(
    ("y", "weights", "message"),
    [
        (np.where(np.arange(N) == 703, 0.5, np.arange(N) % 2), None, "block 3: Unknown label type"),
        (np.where(np.arange(N) == 703, np.nan, 0.0), None, "block 3: Input y contains NaN"),
        (np.zeros(N - 1), None, "inconsistent numbers of samples: X has 1200, y has 1199"),
        (np.arange(N) % 2, np.where(np.arange(N) == 700, -1.0, 1.0), "block 2: sample_weight must not be negative"),
        (np.arange(N) % 2, np.zeros(N), "sample_weight must be positive for some row"),
        (np.arange(N) % 2, np.ones(N + 1), "X has 1200, sample_weight has 1201"),
        (np.zeros(N), None, "needs at least two classes, but y holds one class: 0.0"),
    ],
)
def test_bad_labels_and_weights_are_found_where_they_are(y, weights, message, data):
    X, _ = data
    with dask.config.set(scheduler="threads"), pytest.raises(ValueError, match=message):
        LinearSVM().fit(uneven(X), in_slices(y), None if weights is None else in_slices(weights))


def in_slices(values):
    """Delayed parts as long as those of X, but for the last."""
    return [dask.delayed(values[first:last]) for first, last in itertools.pairwise([*CUTS[:-1], len(values)])]


def test_rows_have_two_dimensions():
    with pytest.raises(ValueError, match="Expected 2D array, got a Dask array of 1 dimensions"):
        ISRHT(2).fit(da.ones(8, chunks=4), np.arange(8) % 2)


def test_features_in_chunks_are_joined_with_a_warning(data):
    X, y = data
    with dask.config.set(scheduler="threads"):
        with pytest.warns(UserWarning, match="3 chunks along the features; it is rechunked"):
            got = ISRHT(8, random_state=0).fit(da.from_array(X, chunks=(500, 20)), y)
        assert_array_equal(got.selected_columns_, ISRHT(8, random_state=0).fit(X, y).selected_columns_)


@pytest.mark.parametrize(
    ("model", "numbers"),
    [
        (
            ISRHTClassifier(8, selection="supervised", random_state=0, Cs=[0.1, 1], cv=2),
            2 * 2 * (60 + 64),
        ),  # folds K (d + padded d)
        (ISRHTClassifier(2, selection="boosted", random_state=0), 2 * 4 * 3 * 60),  # folds, candidates, moments, d
    ],
    ids=["supervised", "boosted"],
)
def test_rows_do_not_travel(model, numbers, client, data, monkeypatch):
    """What comes to the client is as small as sums are, and so is all that goes to the workers."""
    X, y = data
    sizes, sent, sides = [], [], []
    compute, send, compact = cluster.compute, cluster.sent, _tasks.compact

    def watched(what):
        result = compute(what)
        sizes.append(len(distributed.protocol.pickle.dumps(result)))
        return result

    def watched_send(function, times):
        sent.append(len(distributed.protocol.pickle.dumps(function)))
        return send(function, times)

    monkeypatch.setattr(cluster, "compute", watched)
    monkeypatch.setattr(cluster, "sent", watched_send)
    monkeypatch.setattr(_tasks, "compact", lambda values: sides.append(values.size) or compact(values))
    X, y = np.tile(X, (8, 1)), np.tile(y, 8)
    lazy = da.from_array(X, chunks=(2000, -1))
    weights = np.full(len(y), 2.0)
    clone(model).fit(lazy, da.from_array(y, chunks=2000), sample_weight=da.from_array(weights, chunks=3000))
    assert len(sizes) > 10
    assert max(sizes) < numbers * 8 + 2000  # and their wrapping, not 9600 rows
    assert max(sent) < 10_000
    assert sides == []


def test_what_the_client_has_goes_out_once(data, monkeypatch):
    X, y = data
    sides, compact = [], _tasks.compact
    monkeypatch.setattr(_tasks, "compact", lambda values: sides.append(values.size) or compact(values))
    with dask.config.set(scheduler="threads"):
        LinearSVMCV([0.1, 1], cv=2).fit(uneven(X), y, sample_weight=np.full(N, 2.0))
    assert sum(sides) == 2 * N
