"""What goes wrong on a cluster: blocks that cannot be read, workers that die, clients that are closed."""

import os
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse as sp
from dask_data import dask, delayed_blocks, distributed, slices
from dask_models import assert_same
from sklearn.base import clone

from isrht import ISRHT, ISRHTClassifier
from isrht.rows.dask import _layout, _stranded
from isrht.rows.dask import rows as dask_rows
from isrht.rows.dask.rows import DaskRows

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows SIGTERM leaves a process no time, either


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


def test_a_file_that_vanishes_between_passes_is_named(client, data, tmp_path, monkeypatch):
    X, y = data
    for i, rows in enumerate(slices()):
        np.save(tmp_path / f"{i}.npy", X[rows])
    blocks = [dask.delayed(np.load)(tmp_path / f"{i}.npy") for i in range(len(slices()))]
    monkeypatch.setattr(dask_rows, "HELD_BYTES", 0)
    rows = DaskRows(blocks)
    assert rows.shape == X.shape
    os.remove(tmp_path / "2.npy")
    with pytest.raises(OSError, match="block 2: FileNotFoundError"):
        ISRHT(8, random_state=0).fit(rows, y)


def slow_block(rows, folder, seconds):
    (folder / f"{time.monotonic_ns()}").touch()
    time.sleep(seconds)
    return np.random.default_rng(rows).standard_normal((200, 40))


@pytest.mark.parametrize(
    ("model", "reads", "held"),
    [
        (ISRHTClassifier(8, selection="supervised", random_state=0, Cs=[0.1, 1], cv=2), 14, 0),
        (ISRHTClassifier(1, selection="boosted", random_state=0), 28, 0),
        (ISRHTClassifier(1, selection="boosted", random_state=0), 16, 2**26),
    ],
    ids=["supervised", "boosted", "held in memory"],
)
def test_a_killed_worker_does_not_change_the_model(model, reads, held, client, tmp_path, monkeypatch):
    """SIGKILL, in the middle of a pass: Dask computes what was lost again on the others."""
    monkeypatch.setattr(_layout, "BLOCK_BYTES", 1)
    monkeypatch.setattr(dask_rows, "HELD_BYTES", held)
    blocks, X, y = slow_rows(tmp_path)
    pids = list(client.run(os.getpid).values())
    with killed_after(reads, tmp_path, pids[:1]):
        got = clone(model).fit(blocks, y)
    client.wait_for_workers(2, timeout=60)
    assert set(client.run(os.getpid).values()) != set(pids)
    assert_same(got, clone(model).fit(X, y), X, blocks)


@contextmanager
def killed_after(reads, folder, pids):
    """Processes are killed when slow blocks have been read so many times."""
    killed = []

    def kill():
        deadline = time.monotonic() + 60
        while len(list(folder.iterdir())) < reads and time.monotonic() < deadline:
            time.sleep(0.005)
        for pid in pids:
            os.kill(pid, KILL)
            killed.append(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    yield
    assert killed == pids
    killer.join()


def slow_rows(folder):
    """Rows that take a while to be read, and their labels."""
    blocks = [dask.delayed(slow_block, pure=True)(i, folder, 0.02) for i in range(8)]
    X = np.concatenate([np.random.default_rng(i).standard_normal((200, 40)) for i in range(8)])
    return blocks, X, (X[:, 0] > 0).astype(int)


def test_what_comes_in_place_of_a_lone_worker_goes_on(lone_worker, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_rows, "HELD_BYTES", 0)
    blocks, X, y = slow_rows(tmp_path)
    model = ISRHTClassifier(8, selection="supervised", random_state=0, Cs=[0.1, 1], cv=2)
    with killed_after(12, tmp_path, list(lone_worker.run(os.getpid).values())):
        got = clone(model).fit(blocks, y)
    assert_same(got, clone(model).fit(X, y), X, blocks)


def test_a_cluster_that_loses_all_workers_at_once_says_so(client, tmp_path, monkeypatch):
    """Dask would wait for ever for workers of the same addresses."""
    monkeypatch.setattr(_stranded, "INTERVAL", 0.5)
    monkeypatch.setattr(_layout, "BLOCK_BYTES", 1)
    monkeypatch.setattr(dask_rows, "HELD_BYTES", 0)
    blocks, _, y = slow_rows(tmp_path)
    with (
        killed_after(14, tmp_path, list(client.run(os.getpid).values())),
        pytest.raises(ConnectionError, match="all workers of the Dask cluster were lost at the same time"),
    ):
        ISRHTClassifier(8, selection="supervised", random_state=0, C=1.0).fit(blocks, y)
    client.wait_for_workers(2, timeout=60)


def die(rows):
    os.kill(os.getpid(), KILL)


def test_a_block_that_kills_every_worker_is_named(client):
    client.sync(_allow_no_failures, client)
    deadly = dask.delayed(die)(5, dask_key_name="deadly")  # alone: Dask suspects all tasks of a worker that dies
    with pytest.raises(MemoryError, match="block 0: workers died again and again at deadly: does it need more memory"):
        ISRHT(8, random_state=0).fit([deadly], np.arange(10) % 2)
    client.wait_for_workers(2, timeout=60)


async def _allow_no_failures(client):
    await client._run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))


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
