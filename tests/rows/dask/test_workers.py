"""How many tasks a pass is, and where they run."""

import numpy as np
import pytest
from dask_data import da, dask, distributed
from dask_models import assert_same
from numpy.testing import assert_array_equal
from sklearn.base import clone

from isrht import ISRHTClassifier, LinearSVM
from isrht.rows.dask import _layout, cluster
from isrht.rows.dask import rows as dask_rows
from isrht.rows.dask.rows import DaskRows
from isrht.rows.dask.workers import DaskWorkers

BOOSTED = ISRHTClassifier(2, selection="boosted", random_state=0)
small_partitions = pytest.mark.filterwarnings("ignore:X has .* partitions of .* MB on average:UserWarning")


@pytest.fixture
def tasks(monkeypatch):
    """The number of tasks of every graph that is computed or persisted; what workers have already is none."""
    counts = []

    def counted(function):
        def count(*what, **options):
            collections = [one for some in what for one in (some if isinstance(some, list) else [some])]
            nodes = {key: node for one in collections for key, node in dict(one.__dask_graph__()).items()}
            counts.append(sum(not isinstance(node, distributed.Future) for node in nodes.values()))
            return function(*what, **options)

        return count

    monkeypatch.setattr(dask, "compute", counted(dask.compute))
    monkeypatch.setattr(dask, "persist", counted(dask.persist))
    return counts


@small_partitions
@pytest.mark.parametrize("held", [0, 2**26], ids=["read again", "held in memory"])
def test_a_pass_is_at_most_four_tasks_for_each_thread(held, tasks, client, data, monkeypatch):
    X, y = data
    monkeypatch.setattr(_layout, "BLOCK_BYTES", 2**16)
    monkeypatch.setattr(dask_rows, "HELD_BYTES", held)
    expected, lazy = clone(BOOSTED).fit(X, y), da.from_array(X, chunks=(12, -1))
    got = clone(BOOSTED).fit(lazy, da.from_array(y, chunks=12))
    assert len(tasks) > 50
    assert max(tasks) <= 4 * 2  # threads
    assert_same(got, expected, X, lazy)


# A client of other tests in this file may be there; these ask for threads all the same.
with_threads = pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")


@with_threads
def test_many_small_partitions_are_worth_a_warning(data):
    X, y = data
    with dask.config.set(scheduler="threads"):
        with pytest.warns(UserWarning, match=r"X has 100 partitions of 0.0058 MB on average, .* a fit in memory"):
            LinearSVM().fit(da.from_array(X, chunks=(12, -1)), y)
        LinearSVM().fit(da.from_array(X, chunks=(120, -1)), y)  # ten are not too many


@with_threads
@small_partitions
def test_the_number_of_threads_changes_no_bit(data, monkeypatch):
    X, y = data
    monkeypatch.setattr(_layout, "BLOCK_BYTES", 2**15)
    models = []
    for count in (1, 3, 8):
        with dask.config.set(scheduler="threads", num_workers=count):
            models.append(clone(BOOSTED).fit(da.from_array(X, chunks=(50, -1)), y))
    for model in models[1:]:
        assert_array_equal(model.coef_, models[0].coef_)


@pytest.mark.parametrize("held", [0, 2**26], ids=["where they are", "held"])
def test_persisted_rows_are_worked_on_where_they_are(held, client, data, monkeypatch):
    X, y = data
    monkeypatch.setattr(_layout, "BLOCK_BYTES", 1)
    monkeypatch.setattr(dask_rows, "HELD_BYTES", held)
    lazy = client.persist(da.from_array(X, chunks=(200, -1)))
    distributed.wait(lazy)
    rows = DaskRows(lazy)
    assert rows.shape == X.shape
    futures = [dict(part.__dask_graph__())[part.key] for part in rows._parts]
    assert len({future.key for future in futures}) == 6
    where = [client.who_has([future])[future.key] for future in futures]
    if not held:
        for piece, home in zip(rows.workers.pieces, rows.workers._layout.homes, strict=True):
            assert all(home in where[number] for number in piece)
    model = ISRHTClassifier(8, selection="supervised", C=1.0, random_state=0)
    assert_same(clone(model).fit(lazy, y), clone(model).fit(X, y), X, lazy)


def test_rows_that_share_work_are_loaded_by_dask(client, data):
    X, y = data
    whole = dask.delayed(np.asarray)(X)
    blocks = [whole[:500], whole[500:]]
    model = ISRHTClassifier(8, selection="supervised", C=1.0, random_state=0)
    assert_same(clone(model).fit(blocks, y), clone(model).fit(X, y), X, blocks)


def test_a_cluster_without_workers_gets_enough_pieces_to_grow_for(monkeypatch):
    class Empty:
        def nthreads(self):
            return {}

    monkeypatch.setattr(cluster, "current", Empty)
    assert cluster.threads() == [None] * cluster.WITHOUT_WORKERS


def shared_blocks(fail):
    """Rows, and more rows by a function, in two partitions that only Dask can load because they share it."""
    more = dask.delayed(fail, pure=True)()
    return [dask.delayed(np.ones((4, 3))), more[:2], more[2:]]


@with_threads
@pytest.mark.parametrize(
    ("fault", "kind", "message"),
    [
        (OSError("on fire"), OSError, "^block 1: OSError: on fire"),
        (KeyError("gone"), ValueError, "^block 1: KeyError: 'gone'"),
    ],
)
def test_a_fault_in_what_dask_loads_is_found_by_loading_again(fault, kind, message):
    def fail():
        raise fault

    with dask.config.set(scheduler="threads"), pytest.raises(kind, match=message):
        DaskRows(shared_blocks(fail)).shape  # noqa: B018 -- the first pass is made here


@with_threads
def test_another_fault_when_blocks_are_loaded_again_is_told_as_it_is():
    faults = [OSError("on fire"), RuntimeError("the disk is gone")]

    def fail():
        raise faults.pop(0)

    with dask.config.set(scheduler="threads"), pytest.raises(RuntimeError, match="^the disk is gone"):
        DaskRows(shared_blocks(fail)).shape  # noqa: B018 -- the first pass is made here
    assert not faults


@pytest.mark.parametrize(
    ("task", "blocks"),
    [
        (cluster.named("sum", 0), "one of the blocks 0 to 1"),
        (cluster.named("sum", 1), "block 2"),
        ("load", "block 1"),
        ("of somebody else", "some block"),
    ],
    ids=["piece of two", "piece of one", "partition", "unknown"],
)
def test_a_task_that_kills_workers_is_told_by_its_blocks(task, blocks):
    parts = [dask.delayed(np.ones)(3, dask_key_name=key) for key in ("first", "load", "last")]
    workers = DaskWorkers(_layout.Layout([[0], [1], [2]], [[0, 1], [2]], [None, None]), parts)
    killed = distributed.scheduler.KilledWorker(task, None, 3)
    with pytest.raises(MemoryError, match=f"^{blocks}: workers died again and again at {task}"):
        workers._find_fault(killed)
