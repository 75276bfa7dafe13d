import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from isrht import ISRHT, BoostedISRHT, ISRHTClassifier, LinearSVM, LinearSVMCV, RowSource

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

from isrht.rows.dask import cluster as dask_cluster
from isrht.rows.dask import rows as dask_rows  # noqa: E402 -- it needs Dask

# Old Dask wonders why threads serve while a client is there.
pytestmark = pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler:UserWarning")

N, CUTS = 1200, [0, 10, 700, 701, 1200]


@pytest.fixture(scope="module")
def client():
    """Two worker processes of one thread each."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def data(rng):
    X = rng.standard_normal((N, 60)) + 0.3
    return X, (X[:, :5].sum(axis=1) + rng.standard_normal(N) > 0).astype(int)


def slices():
    return [slice(first, last) for first, last in itertools.pairwise(CUTS)]


def uneven(values):
    """A Dask array of uneven chunks of rows."""
    parts = [values[rows] for rows in slices()]
    return da.concatenate([da.from_array(part, chunks=part.shape) for part in parts])


def delayed_blocks(values):
    return [dask.delayed(values[rows]) for rows in slices()]


def frame(X):
    whole = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    return dd.concat([dd.from_pandas(whole[rows], npartitions=1) for rows in slices()])


def assert_same(got, expected, X, X_dask):
    if hasattr(expected, "C_"):
        assert got.C_ == expected.C_
    if hasattr(expected, "projection_"):
        assert_array_equal(got.projection_.selected_columns_, expected.projection_.selected_columns_)
    assert_allclose(got.coef_, expected.coef_, rtol=0, atol=1e-8 * np.abs(expected.coef_).max())
    assert_allclose(got.intercept_, expected.intercept_, rtol=0, atol=1e-8)
    lazy = got.predict(X_dask)
    assert dask.is_dask_collection(lazy)
    assert_array_equal(lazy.compute(), expected.predict(X))


@pytest.mark.parametrize(
    "model",
    [
        ISRHTClassifier(8, random_state=0, Cs=[0.1, 1], cv=2),
        ISRHTClassifier(8, selection="top", scale="maxabs", class_weight="balanced", random_state=0, Cs=[0.1, 1], cv=3),
        ISRHTClassifier(
            8, scale="minmax", center=True, n_score_samples=300, scoring="f1", random_state=0, Cs=[1], cv=2
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
    expected = ISRHTClassifier(16, C=1.0, sketch_size=64, random_state=0).fit(X, y, weights)
    got = ISRHTClassifier(16, C=1.0, sketch_size=64, random_state=0).fit(delayed_blocks(X), y, weights)
    assert_same(got, expected, X, delayed_blocks(X))


def test_data_frames_keep_their_names(client, data):
    X, y = data
    names = [f"f{i}" for i in range(X.shape[1])]
    expected = ISRHTClassifier(8, C=1.0, random_state=0).fit(pd.DataFrame(X, columns=names), y)
    labels = dd.concat([dd.from_pandas(pd.Series(y[rows]), npartitions=1) for rows in slices()])
    got = ISRHTClassifier(8, C=1.0, random_state=0).fit(frame(X), labels)
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
    model = ISRHTClassifier(8, random_state=0, Cs=[0.1, 1], cv=2)
    with dask.config.set(scheduler="threads"):
        assert_same(clone(model).fit(uneven(X), uneven(y)), clone(model).fit(X, y), X, uneven(X))


def test_labels_and_weights_in_parts_of_their_own(data, rng):
    X, y = data
    y, weights = np.array(["yes", "no"])[y], rng.random(N) * (rng.random(N) < 0.9)
    model = ISRHTClassifier(8, class_weight="balanced", random_state=0, Cs=[0.1, 1], cv=2)
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


def test_labels_in_dask_need_rows_in_dask(data):
    X, y = data
    with pytest.raises(TypeError, match="y is in Dask, but the rows are not"):
        LinearSVM().fit(RowSource(X), uneven(y))


def in_slices(values):
    """Delayed parts as long as those of X, but for the last."""
    return [dask.delayed(values[first:last]) for first, last in itertools.pairwise([*CUTS[:-1], len(values)])]


@pytest.mark.parametrize(
    ("model", "numbers"),
    [
        (ISRHTClassifier(8, random_state=0, Cs=[0.1, 1], cv=2), 2 * 2 * (60 + 64)),  # folds K (d + padded d)
        (ISRHTClassifier(2, selection="boosted", random_state=0), 2 * 4 * 3 * 60),  # folds, candidates, moments, d
    ],
    ids=["supervised", "boosted"],
)
def test_rows_do_not_travel(model, numbers, client, data, monkeypatch):
    """What comes to the client is as small as sums are, and so is all that goes to the workers."""
    X, y = data
    sizes, sent, sides = [], [], []
    compute, send, compact = dask_cluster.compute, dask_cluster.sent, dask_rows._compact

    def watched(what):
        result = compute(what)
        sizes.append(len(distributed.protocol.pickle.dumps(result)))
        return result

    def watched_send(function):
        sent.append(len(distributed.protocol.pickle.dumps(function)))
        return send(function)

    monkeypatch.setattr(dask_cluster, "compute", watched)
    monkeypatch.setattr(dask_cluster, "sent", watched_send)
    monkeypatch.setattr(dask_rows, "_compact", lambda values: sides.append(values.size) or compact(values))
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
    sides, compact = [], dask_rows._compact
    monkeypatch.setattr(dask_rows, "_compact", lambda values: sides.append(values.size) or compact(values))
    with dask.config.set(scheduler="threads"):
        LinearSVMCV([0.1, 1], cv=2).fit(uneven(X), y, sample_weight=np.full(N, 2.0))
    assert sum(sides) == 2 * N


def test_features_in_chunks_are_joined_with_a_warning(data):
    X, y = data
    with dask.config.set(scheduler="threads"):
        with pytest.warns(UserWarning, match="3 chunks along the features; it is rechunked"):
            got = ISRHT(8, random_state=0).fit(da.from_array(X, chunks=(500, 20)), y)
        assert_array_equal(got.selected_columns_, ISRHT(8, random_state=0).fit(X, y).selected_columns_)


def read_block(rows, fault=None):
    if fault is not None:
        raise fault
    return np.random.default_rng(rows).standard_normal((rows, 20))


@pytest.mark.parametrize(
    ("block", "error", "message"),
    [
        (lambda X: dask.delayed(read_block)(5, OSError("disk on fire")), OSError, "block 2: OSError: disk on fire"),
        (lambda X: dask.delayed(read_block)(5, KeyError("gone")), ValueError, "block 2: KeyError: 'gone'"),
        (lambda X: dask.delayed(np.load)("no such file.npy"), OSError, "block 2: FileNotFoundError: .*no such file"),
        (lambda X: dask.delayed(np.where(X[:9] > 0, np.nan, 1)), ValueError, "block 2: Input .*contains NaN"),
        (lambda X: dask.delayed(X[:9, :7]), ValueError, "block 2: it has 7 features, but the blocks before have 60"),
        (lambda X: dask.delayed(sp.csr_array(X[:9])), ValueError, "block 2: some blocks are sparse, and some are not"),
    ],
)
def test_a_bad_block_is_named(block, error, message, client, data):
    X, y = data
    blocks = delayed_blocks(X)
    blocks[2] = block(X)
    with pytest.raises(error, match=message):
        ISRHT(8, random_state=0).fit(blocks, y)


def test_a_file_that_vanishes_between_passes_is_named(client, data, tmp_path):
    X, y = data
    for i, rows in enumerate(slices()):
        np.save(tmp_path / f"{i}.npy", X[rows])
    blocks = [dask.delayed(np.load)(tmp_path / f"{i}.npy") for i in range(len(slices()))]
    rows = dask_rows.DaskRows(blocks)
    assert rows.shape == X.shape
    os.remove(tmp_path / "2.npy")
    with pytest.raises(OSError, match="block 2: FileNotFoundError"):
        ISRHT(8, random_state=0).fit(rows, y)


def slow_block(rows, folder, seconds):
    (folder / f"{time.monotonic_ns()}").touch()
    time.sleep(seconds)
    return np.random.default_rng(rows).standard_normal((200, 40))


@pytest.mark.parametrize(
    ("model", "reads"),
    [
        (ISRHTClassifier(8, random_state=0, Cs=[0.1, 1], cv=2), 14),
        (ISRHTClassifier(1, selection="boosted", random_state=0), 28),
    ],
    ids=["supervised", "boosted"],
)
def test_a_killed_worker_does_not_change_the_model(model, reads, client, tmp_path):
    """SIGKILL, in the middle of a pass: Dask computes what was lost again on the others."""
    blocks = [dask.delayed(slow_block, pure=True)(i, tmp_path, 0.02) for i in range(8)]
    X = np.concatenate([np.random.default_rng(i).standard_normal((200, 40)) for i in range(8)])
    y = (X[:, 0] > 0).astype(int)
    pids = list(client.run(os.getpid).values())
    killed = []

    def kill_one():
        deadline = time.monotonic() + 60
        while len(list(tmp_path.iterdir())) < reads and time.monotonic() < deadline:
            time.sleep(0.005)
        os.kill(pids[0], signal.SIGKILL)
        killed.append(pids[0])

    killer = threading.Thread(target=kill_one)
    killer.start()
    got = clone(model).fit(blocks, y)
    assert killed
    killer.join()
    client.wait_for_workers(2, timeout=60)
    assert set(client.run(os.getpid).values()) != set(pids)
    assert_same(got, clone(model).fit(X, y), X, blocks)


def die(rows):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_block_that_kills_every_worker_is_named(client):
    client.sync(_allow_no_failures, client)
    deadly = dask.delayed(die)(5, dask_key_name="deadly")  # alone: Dask suspects all tasks of a worker that dies
    with pytest.raises(MemoryError, match="block 0: workers died again and again at deadly: does it need more memory"):
        ISRHT(8, random_state=0).fit([deadly], np.arange(10) % 2)
    client.wait_for_workers(2, timeout=60)


def test_a_client_that_is_closed_says_so(client, tmp_path):
    blocks = [dask.delayed(slow_block)(i, tmp_path, 0.3) for i in range(8)]
    another = distributed.Client(client.cluster, set_as_default=True)
    closer = threading.Timer(0.8, another.close)
    closer.start()
    try:
        with another.as_current(), pytest.raises(ConnectionError, match="client was closed, or lost its scheduler"):
            ISRHT(8, random_state=0).fit(blocks, np.arange(1600) % 2)
    finally:
        closer.join()
        client.as_current()


async def _allow_no_failures(client):
    await client._run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))


def test_a_scheduler_that_never_answers_is_given_up():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(TimeoutError, match=f"no Dask scheduler answered at {address} within 1 s"):
            dask_cluster.connect(address, timeout=1)


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs signals")
def test_a_scheduler_that_falls_silent_is_given_up(data, monkeypatch, tmp_path):
    X, y = data
    file = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    scheduler = subprocess.Popen([*command, "--scheduler-file", str(file)], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        with distributed.Client(scheduler_file=str(file), set_as_default=True) as client:
            monkeypatch.setattr(dask_cluster, "PATIENCE", 1)
            scheduler.send_signal(signal.SIGSTOP)
            with pytest.raises(TimeoutError, match="the Dask scheduler at tcp.* did not answer within 1 s"):
                ISRHT(8).fit(uneven(X), y)
            scheduler.send_signal(signal.SIGCONT)
            client.close()
    finally:
        scheduler.kill()
        scheduler.wait()


def test_importing_isrht_imports_no_dask():
    code = "import isrht, sys; isrht.ISRHTClassifier, isrht.RowSource; assert 'dask' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
