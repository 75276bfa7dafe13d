"""Talking to a cluster: sums in a tree, and schedulers that do not answer."""

import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from dask_data import dask, distributed, uneven
from numpy.testing import assert_array_equal

from isrht import ISRHT
from isrht.rows.dask import cluster
from isrht.rows.workers.tree import TreeSum


@pytest.mark.parametrize("count", [1, 2, 8, 9, 100])
def test_a_tree_adds_up_the_sums_of_all_pieces(count):
    def piece(number):
        total = TreeSum()
        total.add(number, (np.array([number, 1]), float(number)))
        return total

    whole = cluster.tree_sum([dask.delayed(piece)(i) for i in range(count)]).compute(scheduler="sync")
    totals, number = whole.result()
    assert_array_equal(totals, [sum(range(count)), count])
    assert number == sum(range(count))


def test_a_function_is_sent_as_data_and_not_called():
    sent = cluster.sent(lambda: 1 / 0)
    (found,) = dask.compute(sent, scheduler="sync")
    with pytest.raises(ZeroDivisionError):
        found.function()


@pytest.mark.parametrize(("size", "times", "inside"), [(10, 4, True), (10, 10**6, False), (2**18, 1, False)])
def test_small_functions_go_with_every_task_and_large_ones_to_each_worker_once(size, times, inside, client):
    values = np.arange(size)
    sent = cluster.sent(lambda: values.sum(), times)
    assert dask.is_dask_collection(sent) != inside
    called = dask.delayed(lambda sent: sent.function())(sent)
    assert client.compute(called).result() == values.sum()


def test_names_of_tasks_have_the_piece_and_are_never_the_same():
    names = [cluster.named("sum", 3) for _ in range(2)]
    assert all(name.startswith("isrht-sum-piece-3-") for name in names)
    assert names[0] != names[1]
    assert cluster.piece_of(names[0]) == 3
    assert cluster.piece_of("load-3") is None


def test_the_dashboard_shows_what_a_task_does():
    assert distributed.utils.key_split(cluster.named("project", 12)) == "isrht-project-piece"


# Dask itself warns where a test before this one has left a client open.
@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")
def test_without_a_client_there_is_no_scheduler_to_wait_for():
    with dask.config.set(scheduler="threads"):
        cluster.check_scheduler()


def test_a_scheduler_that_answers_gets_a_client(client):
    with cluster.connect(client.scheduler.address, timeout=10) as another:
        assert another is not client
        assert another.submit(sum, [1, 2]).result(timeout=10) == 3


def test_where_distributed_was_never_imported_there_is_no_client(client, monkeypatch):
    with client.as_current():
        assert cluster.current() is client
        monkeypatch.delitem(sys.modules, "distributed")
        assert cluster.current() is None


def test_a_scheduler_that_never_answers_is_given_up():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(TimeoutError, match=f"no Dask scheduler answered at {address} within 1 s"):
            cluster.connect(address, timeout=1)


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
            monkeypatch.setattr(cluster, "PATIENCE", 1)
            scheduler.send_signal(signal.SIGSTOP)
            with pytest.raises(TimeoutError, match="the Dask scheduler at tcp.* did not answer within 1 s"):
                ISRHT(8).fit(uneven(X), y)
            scheduler.send_signal(signal.SIGCONT)
            client.close()
    finally:
        scheduler.kill()
        scheduler.wait()
